"""Write requests as files for the batch APIs of providers, and answer them with the results."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO

from rubric_lint.judge.account import Account, Reservation
from rubric_lint.judge.asking import Request
from rubric_lint.judge.call import Call
from rubric_lint.judge.endpoint import Exchange, RequestId, UnansweredError
from rubric_lint.judge.prompt import Message
from rubric_lint.lint.project.opening import open_stream
from rubric_lint.lint.project.writing import open_whole
from rubric_lint.scoring.records.entries import LIMIT
from rubric_lint.scoring.records.reply import ReplyError, find_fault, read_reply_of, shorten_line

ANTHROPIC_URL = "https://api.anthropic.com/v1"
"""The endpoint of Anthropic's batches, if no other is named."""

_OF_PARAMS = frozenset({"system", "output_config"})
"""The parameters of Anthropic's messages that hold the rubric and its schema; `judge` itself refuses the others."""


class BatchError(Exception):
    """Requests that cannot be written as a batch, and why."""


class BatchFormat(NamedTuple):
    """The files of one provider: the most requests and bytes of a file, and the text around and between requests."""

    requests: int
    bytes: int
    before: str = ""
    between: str = "\n"
    after: str = "\n"


BATCH_FORMATS = {
    "openai": BatchFormat(50_000, 200_000_000),
    "anthropic": BatchFormat(100_000, 256_000_000, '{"requests": [\n', ",\n", "\n]}\n"),
}
"""The forms of batches, by the name of `--batch-format`."""


def write_batch(
    requests: Iterable[Request], path: Path, name: str, most: int | None = None, number: int = 1
) -> tuple[list[Path], int]:
    """Write requests to `path`, or if one file cannot hold them to further ones with a number: `batch.2.jsonl`.

    The first file is the one with this `number`; 1 is `path` itself. `name` is that of a format; `most` lowers the
    number of requests in a file. Each file is written whole or not at all. Return the files, and the number of
    requests.

    Raises:
        BatchError: if a file exists already, or a request is larger than a file may be.
        WriteError: if a file cannot be opened for writing.
        OSError: if writing fails later.
    """
    batch_format = BATCH_FORMATS[name]
    most = min(most or batch_format.requests, batch_format.requests)
    files: list[Path] = []
    stream: TextIO | None = None
    count = count_in_file = size_of_file = 0
    with ExitStack() as opened:
        for request in requests:
            line = _write_line(request, name)
            size = len(line.encode()) + len(batch_format.between)
            if stream is None or count_in_file == most or size_of_file + size > batch_format.bytes:
                if stream is not None:
                    stream.write(batch_format.after)
                    opened.close()
                count_in_file = 0
                size_of_file = len(batch_format.before) + len(batch_format.after)
                if size_of_file + size > batch_format.bytes:
                    raise BatchError(f"a request has {size:,} bytes, and a file may have {batch_format.bytes:,}")
                files.append(_name_file(path, number + len(files)))
                stream = opened.enter_context(open_whole(str(files[-1])))
            start = batch_format.between if count_in_file else batch_format.before
            stream.write(start + line)
            count += 1
            count_in_file += 1
            size_of_file += size
        if stream is not None:
            stream.write(batch_format.after)
    return files, count


def _write_line(request: Request, name: str) -> str:
    """Write a request as the JSON of a format, without a line end."""
    if name == "openai":
        fields = {"method": "POST", "url": "/v1/chat/completions", "body": request.body}
    else:
        fields = {"params": make_params(request)}
    return json.dumps({"custom_id": request.name, **fields}, ensure_ascii=True)


def _name_file(path: Path, number: int) -> Path:
    """Return the path of the file with a number, from 1; raise BatchError if it exists."""
    file = path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")
    if file.exists():
        raise BatchError(f"{file} exists already; remove it or name another file, so that no request is sent twice")
    return file


def check_batch_format(name: str, calls: Iterable[Call]) -> None:
    """Refuse settings that a format cannot express.

    Raises:
        BatchError: naming the option.
    """
    for call in calls:
        if call.headers:
            raise BatchError("a batch has no headers for its requests; remove --header")
        if name != "anthropic":
            continue
        if call.max_tokens is None:
            raise BatchError("Anthropic requires --max-tokens")
        if call.seed is not None:
            raise BatchError("Anthropic takes no --seed")
        if call.response_format == "json_object":
            raise BatchError("Anthropic has no --response-format json_object; use json_schema or text")
        for field in sorted(_OF_PARAMS & call.extra_body.keys()):
            raise BatchError(f"--extra-body cannot set `{field}` for Anthropic; the rubric and the options set it")


def make_params(request: Request) -> Mapping[str, Any]:
    """Return the parameters of Anthropic's Messages API for a request."""
    call = request.call
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    messages = [message._asdict() for message in request.messages if message.role != "system"]
    params: dict[str, Any] = {
        "model": call.model,
        "max_tokens": call.max_tokens,
        "system": system,
        "messages": messages,
    }
    if call.response_format == "json_schema":
        params["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    if call.temperature is not None:
        params["temperature"] = call.temperature
    return {**params, **call.extra_body}


class _BatchResult(NamedTuple):
    """The first result of a request: its file, its place there, why it holds no reply, and a hash of its reply."""

    file: int
    offset: int
    fault: str
    digest: bytes


class BatchResults(ExitStack):
    """The results in some files, by their `custom_id`; use it as a context manager.

    `unreadable` names each line that is not a result. `doubled` are the requests with several results of which the
    first counts, because all replies are the same; `contradicting` those whose replies differ, so that none counts.

    Raises:
        OSError: if a file cannot be read.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__()
        self.unreadable: list[str] = []
        self.doubled: set[str] = set()
        self.contradicting: set[str] = set()
        self._found: dict[str, _BatchResult] = {}
        self._used: set[str] = set()
        self._files: list[BinaryIO] = []
        try:
            for path in paths:
                self._files.append(self.enter_context(open_stream(path)))
                self._index(path, len(self._files) - 1)
        # Nobody calls `__exit__` of what could not be made.
        except BaseException:
            self.close()
            raise

    def has_reply(self, name: str) -> bool:
        """Return whether a request has a reply that counts."""
        found = self._found.get(name)
        return found is not None and not found.fault and name not in self.contradicting

    def take(self, name: str) -> Exchange:
        """Return the reply to a request.

        Raises:
            UnansweredError: if there is none that counts.
        """
        self._used.add(name)
        found = self._found.get(name)
        if found is None:
            raise UnansweredError("the batch has no result for it")
        if name in self.contradicting:
            raise UnansweredError("the batch has several results for it, which differ")
        if found.fault:
            raise UnansweredError(found.fault)
        file = self._files[found.file]
        file.seek(found.offset)
        try:
            return _read_exchange(json.loads(file.readline(LIMIT)))
        except ReplyError as fault:
            raise UnansweredError(f"the result of the batch: {shorten_line(str(fault))}") from None

    def list_foreign(self, requests: Iterable[Request]) -> list[str]:
        """Return the ids of results that belong to none of these requests, which are all that a run has."""
        left = self._found.keys() - self._used
        return sorted(left - {request.name for request in requests}) if left else []

    def _index(self, path: str, file: int) -> None:
        """Note where each result is; raise OSError if the file cannot be read a second time."""
        stream = self._files[file]
        if not stream.seekable():
            raise OSError(None, "is a pipe; results of a batch need a file that can be read again", path)
        offset = 0
        for number, line in enumerate(iter(partial(stream.readline, LIMIT + 1), b""), start=1):
            fault = self._add(line, file, offset) if line.strip() else ""
            if fault:
                self.unreadable.append(f"{path}: line {number}: {fault}")
            offset += len(line)

    def _add(self, line: bytes, file: int, offset: int) -> str:
        """Note one result; return why the line is none, else an empty string."""
        if len(line) > LIMIT:
            return f"more than {LIMIT / 1e6:.0f} MB, the limit for one result"
        try:
            result = json.loads(line)
        except (ValueError, RecursionError):
            return "not JSON; is the file cut off?"
        name = result.get("custom_id") if isinstance(result, dict) else None
        if not isinstance(name, str):
            return "not a result of a batch: no `custom_id`"
        if "response" not in result and "result" not in result and "error" not in result:
            is_request = not result.keys().isdisjoint({"body", "params"})
            given = " (a request; give the file that the provider returned)" if is_request else ""
            return f"not a result of a batch: neither `response` nor `result`{given}"
        fault = find_fault(result)
        digest = b"" if fault else _hash_reply(result)
        before = self._found.get(name)
        # Requests that failed are sent again in another batch: their reply counts, in whichever file it is.
        if before is None or (before.fault and not fault):
            self._found[name] = _BatchResult(file, offset, fault, digest)
        if before is not None and (fault or before.fault or before.digest == digest):
            self.doubled.add(name)
        elif before is not None:
            self.contradicting.add(name)
        return ""


class BatchReplies(AbstractAsyncContextManager[Any]):
    """A model whose replies are the results of a batch; use it as an asynchronous context manager."""

    def __init__(self, call: Call, results: BatchResults) -> None:
        self.call = call
        self.form, self.refusal = call.response_format, ""
        self.account = Account()
        self._results = results

    async def __aexit__(self, *_: object) -> None:
        pass

    @property
    def name(self) -> str:
        """The address of the endpoint that the batch was written for."""
        return self.call.endpoint

    async def complete(
        self,
        messages: Iterable[Message],
        schema: Mapping[str, Any],
        place: RequestId | None = None,
        _reserved: Reservation | None = None,
        /,
    ) -> Exchange:
        """Return the reply of the batch.

        Raises:
            UnansweredError: if there is none that counts.
        """
        exchange = self._results.take(Request(self.call, place or RequestId("", 1), tuple(messages), schema).name)
        self.account.add(self.call.model, exchange.reply)
        return exchange


def _read_exchange(result: Mapping[str, Any]) -> Exchange:
    """Return the reply of a result without a fault, and when it was written; raise ReplyError if it is not one."""
    # Anthropic's results have no time.
    body = None if "result" in result else result["response"].get("body")
    created = body.get("created") if isinstance(body, dict) else None
    # Up to the year 2514: much later ones are beyond what a date can have.
    sent = datetime.fromtimestamp(created, UTC) if type(created) is int and 0 < created < 1 << 34 else None
    return Exchange(read_reply_of(result), sent, None)


def _hash_reply(result: Mapping[str, Any]) -> bytes:
    try:
        reply = _read_exchange(result).reply
        # Not ids, times and token counts, which differ where a request was sent twice.
        compared = [reply.text, reply.fault]
    except ReplyError as fault:
        compared = ["", str(fault)]
    return hashlib.sha256(json.dumps(compared).encode()).digest()
