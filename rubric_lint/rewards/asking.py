"""Ask a judge, a function or an endpoint, for its outputs."""

import asyncio
import contextvars
import functools
import inspect
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from rubric_lint.judge.account import Account, LimitError, NoReplyError
from rubric_lint.judge.asking import converse
from rubric_lint.judge.call import Call
from rubric_lint.judge.prompt import JudgedCase, Message, output_schema, write_prompt
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.verdict import read_quotable
from rubric_lint.project.api_key import KEY, ApiKeyError, read_key
from rubric_lint.rewards.options import Options, RewardError
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric
from rubric_lint.scoring.output import parse_output, reader_of

if TYPE_CHECKING:
    from rubric_lint.judge.endpoint import Endpoint


Value = TypeVar("Value")


class PerLoop(Generic[Value]):
    """One value for each event loop, as long as the loop exists. Threads may share it, and its pickle has no values."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, Value] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return PerLoop, ()

    def find(self, make: Callable[[], Value]) -> Value:
        """Return the value of the running loop; `make` it if there is none yet.

        Raises:
            RuntimeError: if no loop runs in this thread.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._values[loop] = make()
            return self._values[loop]


Judge = Callable[..., str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]]
"""A judge: takes chat messages, and with a parameter `schema` the JSON Schema of its output; returns the output."""

Read = JudgeOutput | OutputError
"""A valid output, or the error of an invalid one."""


class Item(NamedTuple):
    """A completion to judge; completions of one prompt have the same `group`."""

    rubric: ScoringRubric
    case: JudgedCase
    group: str


class _FailedError(NoReplyError):
    """The judge itself raised, so that it is not asked again."""


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling a function, an object or a partial of these returns a coroutine."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def read_output(item: Item, output: Any) -> JudgeOutput:
    """Read an output: raw text, an object or a `JudgeOutput`.

    Raises:
        OutputError: if it is not valid.
    """
    if isinstance(output, JudgeOutput):
        reader_of(item.rubric).know(output)
        return output
    if isinstance(output, str | Mapping):
        return parse_output(item.rubric, output, answer=read_quotable(*item.case), extract="whole")
    found = "no output" if output is None else f"an output of the type {type(output).__name__}"
    raise OutputError(f"{found}; expected a string or an object")


class Asker:
    """Ask a judge until each output is valid; at most `concurrency` requests are made at once."""

    def __init__(self, judge: Judge, options: Options) -> None:
        if not callable(judge):
            raise TypeError(f"judge is a value of the type {type(judge).__name__}; expected a function")
        self.is_async = is_async(judge)
        self._judge = judge
        self._options = options
        try:
            self._takes_schema = "schema" in inspect.signature(judge).parameters
        except (TypeError, ValueError):  # some functions of C do not say
            self._takes_schema = False
        self._gates: PerLoop[asyncio.Semaphore] = PerLoop()
        self._pools: PerLoop[ThreadPoolExecutor] = PerLoop()

    def ask(self, items: Sequence[Item]) -> list[Read]:
        """Return the output for each item, with a judge that is not asynchronous, in threads.

        Raises:
            RewardError: if the judge raises it, or returns an awaitable.
        """
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            asked = [pool.submit(lambda item: _finish(self._talk(item, self._call_here)), item) for item in items]
            try:
                return [each.result() for each in asked]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    async def ask_async(self, items: Sequence[Item]) -> list[Read]:
        """Return the output for each item, with any judge.

        Raises:
            RewardError: if the judge raises it.
        """
        call = self._call_async if self.is_async else self._call_in_thread
        gate = self._gates.find(lambda: asyncio.Semaphore(self._options.concurrency))  # calls at the same time share it

        async def ask_one(item: Item) -> Read:
            async with gate:
                return await self._talk(item, call)

        asked = [asyncio.create_task(ask_one(item)) for item in items]
        try:
            return await asyncio.gather(*asked)
        except BaseException:
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            raise

    async def _talk(self, item: Item, call: Callable[[Sequence[Message], Item], Coroutine[Any, Any, Any]]) -> Read:
        """Ask until the output is valid; return it, or the error of the last one."""

        async def send(messages: Sequence[Message]) -> Any:
            try:
                return await call(messages, item)
            except OutputError as fault:  # of a reply that has no text
                return fault

        def read(output: Any) -> JudgeOutput:
            if isinstance(output, OutputError):
                raise output
            return read_output(item, output)

        found = await converse(write_prompt(item.rubric, item.case), send, read, _write, self._options.attempts)
        if found.output is not None:
            return found.output
        if found.fault and not found.lost:
            return found.fault
        fault = OutputError(found.reason)
        fault.__cause__ = found.lost and found.lost.__cause__
        return fault

    async def _call_here(self, messages: Sequence[Message], item: Item) -> Any:
        with _Catching():
            output = self._ask(messages, item)
            if inspect.isawaitable(output):
                if inspect.iscoroutine(output):
                    output.close()
                raise RewardError("the judge returned an awaitable; define it with `async def`")
            return output

    async def _call_in_thread(self, messages: Sequence[Message], item: Item) -> Any:
        # The threads of the loop itself are too few.
        pool = self._pools.find(lambda: ThreadPoolExecutor(self._options.concurrency))
        context = contextvars.copy_context()
        running = self._call_here(messages, item)
        return await asyncio.get_running_loop().run_in_executor(pool, context.run, _finish, running)

    async def _call_async(self, messages: Sequence[Message], item: Item) -> Any:
        with _Catching():
            return await self._ask(messages, item)

    def _ask(self, messages: Sequence[Message], item: Item) -> Any:
        written = [message._asdict() for message in messages]
        return self._judge(written, schema=output_schema(item.rubric)) if self._takes_schema else self._judge(written)


class _Catching:
    """Turn what a judge raises into an error of its output, except a `RewardError` or an `OutputError`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, fault: BaseException | None, _trace: object) -> None:
        if isinstance(fault, Exception) and not isinstance(fault, RewardError | OutputError):
            raise _FailedError(f"the judge raised {type(fault).__name__}: {fault}") from fault


def _finish(running: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits."""
    try:
        running.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("a coroutine that waits")


def _write(output: Any) -> str:
    """Return what the judge returned as text, to show it again; empty if it is neither text nor JSON."""
    if isinstance(output, str):
        return output
    try:
        return json.dumps(output, ensure_ascii=False) if isinstance(output, Mapping) else ""
    except (TypeError, ValueError):
        return ""


class EndpointJudge:
    """A judge that asks an endpoint; it can be pickled, and its pickle has no key.

    Each event loop has a client of its own, which is closed when no request is in flight: nobody else could close it
    before its loop ends.
    """

    def __init__(self, call: Call, key_variable: str | None, account: Account) -> None:
        self.call, self.account = call, account
        self._key_variable = key_variable
        self._read_key()  # a missing key is an error at once, not at the first completion
        self._lines: PerLoop[_Line] = PerLoop()

    def __repr__(self) -> str:
        return f"<EndpointJudge {self.call.model!r} at {self.call.endpoint}>"

    async def __call__(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
        """Return the text of the reply.

        Raises:
            OutputError: if the reply has no text that can be used, such as a refusal.
            RewardError: if no request would get a reply, for example because the key is wrong or a limit is reached.
            UnansweredError: if this one got none, after all retries.
        """
        from rubric_lint.judge.endpoint import UnansweredError  # noqa: PLC0415  (loads what requests need)

        said = [Message(each["role"], each["content"]) for each in messages]  # type: ignore[arg-type]
        try:
            async with self._connect() as endpoint:
                reply = (await endpoint.complete(said, schema)).reply
        except LimitError:
            limit = self.account.limit
            given = {"max_requests": limit.requests, "max_cost": limit.cost}
            reached = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
            why = self.account.fault or f"stopped at {reached}"
            raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {why}") from None
        except UnansweredError as fault:
            if fault.lasting:
                raise RewardError(f"`{self.call.model}` at {self.call.endpoint}: {fault}") from None
            raise
        if reply.fault:
            raise OutputError(reply.fault)
        return reply.text

    @asynccontextmanager
    async def _connect(self) -> "AsyncIterator[Endpoint]":
        """Return the client of this loop, which is closed when nobody uses it any more."""
        from rubric_lint.judge.endpoint import Endpoint  # noqa: PLC0415

        line = self._lines.find(_Line)
        line.users += 1
        try:
            line.endpoint = line.endpoint or Endpoint(self.call, self._read_key(), self.account)
            yield line.endpoint
        finally:
            line.users -= 1
            if not line.users and line.endpoint:
                endpoint, line.endpoint = line.endpoint, None
                await endpoint.__aexit__(None, None, None)

    def _read_key(self) -> str:
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


@dataclass(slots=True)
class _Line:
    """The client of one loop, as long as requests are in flight, and how many are."""

    endpoint: "Endpoint | None" = None
    users: int = 0
