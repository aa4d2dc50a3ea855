"""Ask a judge, a function or an endpoint, for its outputs."""

import asyncio
import contextvars
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from rubric_lint.judge.account import Account, LimitError, NoReplyError
from rubric_lint.judge.asking import converse
from rubric_lint.judge.call import Call
from rubric_lint.judge.prompt import JudgedCase, Message, output_schema, write_prompt
from rubric_lint.judge.rewards.options import RewardError, RewardOptions
from rubric_lint.lint.project.api_key import KEY, ApiKeyError, read_key
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.output import RecordResult, parse_output, reader_of
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.quotes import read_quotable

if TYPE_CHECKING:
    from rubric_lint.judge.endpoint import Endpoint

Value = TypeVar("Value")

Judge = Callable[..., str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]]
"""A judge: takes chat messages, and with a parameter `schema` the JSON Schema of its output; returns the output."""


class PerLoop(Generic[Value]):
    """One value for each event loop that is not closed; threads may share it."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, Value] = {}

    def get(self) -> Value:
        """Return the value of the running loop."""
        for loop in list(self._values):
            if loop.is_closed():
                self._values.pop(loop, None)
        return self._values.setdefault(asyncio.get_running_loop(), self._make())


class Completion(NamedTuple):
    """A completion to judge, with its rubric; completions of one prompt have the same `group`."""

    rubric: ScoringRubric
    case: JudgedCase
    group: str


class _FailedError(NoReplyError):
    """The judge itself raised, so that it is not asked again."""


def is_async(judge: Judge) -> bool:
    """Return whether a function, or an object that can be called, is asynchronous."""
    return inspect.iscoroutinefunction(judge) or inspect.iscoroutinefunction(type(judge).__call__)


def run(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine in a thread, because a loop may run in this one, as in a notebook."""
    with closing(asyncio.new_event_loop()) as loop, ThreadPoolExecutor(1) as pool:
        task = loop.create_task(coroutine)
        running = pool.submit(loop.run_until_complete, task)
        try:
            return running.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise


def read_output(item: Completion, output: Any) -> RecordResult:
    """Read the output of a judge for a completion: raw text or an object, with nothing around it.

    Raises:
        OutputError: if it is not valid.
    """
    if not isinstance(output, str | Mapping):
        found = "no output" if output is None else f"an output of the type {type(output).__name__}"
        raise OutputError(f"{found}; expected a string or an object")
    parsed = parse_output(item.rubric, output, answer=read_quotable(*item.case), extract="whole")
    return reader_of(item.rubric).make_result(parsed)


class JudgeCaller:
    """Ask a judge until each output is valid; in an event loop, at most `concurrency` requests are made at once."""

    def __init__(self, judge: Judge, options: RewardOptions) -> None:
        if not callable(judge):
            raise TypeError(f"judge is a value of the type {type(judge).__name__}; expected a function")
        self._judge = judge
        self._options = options
        self._is_async = is_async(judge)
        self._takes_schema = "schema" in inspect.signature(judge).parameters
        # Calls of a reward function that run at the same time in one loop share its semaphore.
        self._semaphores = PerLoop(lambda: asyncio.Semaphore(options.concurrency))

    def __reduce__(self) -> tuple[Any, ...]:
        return JudgeCaller, (self._judge, self._options)

    async def ask(self, items: Sequence[Completion]) -> list[list[RecordResult]]:
        """Return `samples` results for each item; the result of an output that stays invalid has an `error`.

        Raises:
            RewardError: if the judge raises it.
        """
        samples = self._options.samples
        # A loop has too few threads by itself, and threads that are kept would be missing in a forked process.
        threads = ThreadPoolExecutor(self._options.concurrency)
        tasks = [asyncio.create_task(self._ask_one(item, threads)) for item in items for _ in range(samples)]
        try:
            results = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            threads.shutdown(wait=False)
        return [results[start : start + samples] for start in range(0, len(results), samples)]

    async def _ask_one(self, item: Completion, threads: ThreadPoolExecutor) -> RecordResult:
        async def send(messages: Sequence[Message]) -> Any:
            try:
                return await self._call(messages, item, threads)
            except OutputError as fault:  # of a reply that has no text
                return fault

        def read(output: Any) -> RecordResult:
            if isinstance(output, OutputError):
                raise output
            return read_output(item, output)

        async with self._semaphores.get():
            found = await converse(write_prompt(item.rubric, item.case), send, read, _write, self._options.attempts)
        if found.output is not None:
            return found.output
        fault = found.fault
        if fault is None or found.lost:
            fault = OutputError(found.reason)
            fault.__cause__ = found.lost.__cause__ if found.lost else None
        return RecordResult(rubric=item.rubric.name, error=fault)

    async def _call(self, messages: Sequence[Message], item: Completion, threads: ThreadPoolExecutor) -> Any:
        """Call the judge, in a thread if it is not asynchronous, and return its output."""
        written = [message._asdict() for message in messages]
        more = {"schema": output_schema(item.rubric)} if self._takes_schema else {}

        def ask() -> Any:
            with _catching():
                return self._judge(written, **more)

        if self._is_async:
            output = ask()
        else:
            context = contextvars.copy_context()
            output = await asyncio.get_running_loop().run_in_executor(threads, context.run, ask)
        if not inspect.isawaitable(output):
            return output
        with _catching():
            return await output


@contextmanager
def _catching() -> Iterator[None]:
    """Turn what a judge raises into an error of its output, except a `RewardError` or an `OutputError`."""
    try:
        yield
    except (RewardError, OutputError):
        raise
    except Exception as fault:
        raise _FailedError(f"the judge raised {type(fault).__name__}: {fault}") from fault


def _write(output: Any) -> str:
    """Write the output of the judge as text, to show it again; empty if it is neither text nor an object."""
    if isinstance(output, Mapping):
        return json.dumps(dict(output), ensure_ascii=False, skipkeys=True, default=str)
    return output if isinstance(output, str) else ""


@dataclass(slots=True)
class _Client:
    """The client of one loop, as long as requests are in flight, and how many are."""

    endpoint: "Endpoint | None" = None
    requests: int = 0


class EndpointJudge:
    """A judge that asks an endpoint; it can be pickled, and its pickle has no key.

    Each event loop has a client of its own, which is closed when no request is in flight: nobody else could close it
    before its loop ends.
    """

    def __init__(self, call: Call, key_variable: str | None, account: Account) -> None:
        self.call, self.account = call, account
        self._key_variable = key_variable
        self._clients = PerLoop(_Client)

    def __reduce__(self) -> tuple[Any, ...]:
        return EndpointJudge, (self.call, self._key_variable, self.account)

    def __repr__(self) -> str:
        return f"<EndpointJudge {self.call.model!r} at {self.call.endpoint}>"

    async def __call__(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
        """Return the text of the reply.

        Raises:
            OutputError: if the reply has no text that can be used, such as a refusal.
            RewardError: if no request would get a reply, for example because the key is wrong or a limit is reached.
            UnansweredError: if this one got none, after all retries.
        """
        from rubric_lint.judge.endpoint import Endpoint, UnansweredError  # noqa: PLC0415  (loads what requests need)

        prompt = [Message(message["role"], message["content"]) for message in messages]  # type: ignore[arg-type]
        client = self._clients.get()
        client.requests += 1
        try:
            client.endpoint = client.endpoint or Endpoint(self.call, self.read_key(), self.account)
            reply = (await client.endpoint.complete(prompt, schema)).reply
        except LimitError:
            limit = self.account.limit
            limits = {"max_requests": limit.requests, "max_cost": limit.cost}
            reached = ", ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
            why = self.account.fault or f"stopped at {reached}"
            raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {why}") from None
        except UnansweredError as fault:
            if fault.lasting:
                raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {fault}") from None
            raise
        finally:
            client.requests -= 1
            if not client.requests and client.endpoint:
                endpoint, client.endpoint = client.endpoint, None
                await endpoint.__aexit__(None, None, None)
        if reply.fault:
            raise OutputError(reply.fault)
        return reply.text

    def read_key(self) -> str:
        """Return the key, or a placeholder for an endpoint of one's own; raise RewardError if there is none to send."""
        from rubric_lint.judge.endpoint import NO_KEY  # noqa: PLC0415

        variable = self._key_variable
        if variable is None and self.call.base_url:
            return NO_KEY
        advice = "pass `api_key_env`, or pass `base_url`"
        try:
            return read_key(variable or KEY, is_needed=True, option="`api_key_env`", advice=advice)
        except ApiKeyError as fault:
            raise RewardError(str(fault)) from None
