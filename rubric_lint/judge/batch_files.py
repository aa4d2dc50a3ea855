"""Write requests as files for the batch APIs of providers."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from rubric_lint.judge.call import Call
from rubric_lint.judge.requests import Request
from rubric_lint.project.writing import open_whole

ANTHROPIC_URL = "https://api.anthropic.com/v1"
"""The endpoint of Anthropic's batches, if no other is named."""


_OF_PARAMS = frozenset({"system", "output_config"})
"""The parameters of Anthropic's messages that hold the rubric and its schema; `judge` itself refuses the others."""


class BatchError(Exception):
    """Requests that cannot be written as a batch, and why."""


class Form(NamedTuple):
    """The files of one provider: the most requests and bytes of each, and what stands around and between requests."""

    requests: int
    bytes: int
    before: str = ""
    between: str = "\n"
    after: str = "\n"


FORMS = {
    "openai": Form(50_000, 200_000_000),
    "anthropic": Form(100_000, 256_000_000, '{"requests": [\n', ",\n", "\n]}\n"),
}
"""The forms of batches, by the name of `--batch-format`."""


class Written(NamedTuple):
    """The files of a batch, and the number of requests in them."""

    files: tuple[Path, ...]
    requests: int


def write_batch(
    requests: Iterable[Request], path: Path, name: str, most: int | None = None, number: int = 1
) -> Written:
    """Write requests to `path`, or if one file cannot hold them to further ones with a number: `batch.2.jsonl`.

    The first file is the one with this `number`; 1 is `path` itself.

    `name` is that of a form; `most` lowers the number of requests in a file. Each file is written whole or not at all.

    Raises:
        BatchError: if a file exists already, or a request is larger than a file may be.
        WriteError: if a file cannot be opened for writing.
        OSError: if writing fails later.
    """
    form = FORMS[name]
    most = min(most or form.requests, form.requests)
    files: list[Path] = []
    count = 0
    for group in _split((_write_line(request, name) for request in requests), form, most):
        current = number + len(files)
        files.append(path if current == 1 else path.with_name(f"{path.stem}.{current}{path.suffix}"))
        with ExitStack() as opened:
            stream: TextIO | None = None
            for line in group:
                if stream is None:
                    _refuse_existing(files[-1])
                    stream = opened.enter_context(open_whole(str(files[-1])))
                    stream.write(form.before + line)
                else:
                    stream.write(form.between + line)
                count += 1
            if stream:
                stream.write(form.after)
    return Written(tuple(files), count)


def _split(lines: Iterable[str], form: Form, most: int) -> Iterator[Iterator[str]]:
    """Yield the lines of each file, to be read in this order."""
    source = iter(lines)
    first = next(source, None)

    def take() -> Iterator[str]:
        nonlocal first
        used, number = len(form.before) + len(form.after), 0
        while first is not None:
            size = len(first.encode()) + len(form.between)
            if used + size > form.bytes and not number:
                raise BatchError(f"a request has {size:,} bytes, and a file may have {form.bytes:,}")
            if number == most or used + size > form.bytes:
                return
            line, first = first, next(source, None)
            used, number = used + size, number + 1
            yield line

    while first is not None:
        yield take()


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise BatchError(f"{path} exists already; remove it or name another file, so that no request is sent twice")


def _write_line(request: Request, name: str) -> str:
    if name == "openai":
        fields = {"method": "POST", "url": "/v1/chat/completions", "body": request.body}
    else:
        fields = {"params": make_params(request.call, request)}
    return json.dumps({"custom_id": request.name, **fields}, ensure_ascii=True)


def check_form(name: str, calls: Iterable[Call]) -> None:
    """Refuse settings that a form cannot express.

    Raises:
        BatchError: naming the option.
    """
    for call in calls:
        if call.headers:
            raise BatchError("a batch has no headers for its requests; remove --header")
        if name == "anthropic" and call.max_tokens is None:
            raise BatchError("Anthropic requires --max-tokens")
        if name == "anthropic" and call.seed is not None:
            raise BatchError("Anthropic takes no --seed")
        if name == "anthropic" and call.response_format == "json_object":
            raise BatchError("Anthropic has no --response-format json_object; use json_schema or text")
        for field in sorted(_OF_PARAMS & call.extra_body.keys()) if name == "anthropic" else ():
            raise BatchError(f"--extra-body cannot set `{field}` for Anthropic; the rubric and the options set it")


def make_params(call: Call, request: Request) -> Mapping[str, Any]:
    """Return the parameters of Anthropic's Messages API for a request."""
    system = "\n\n".join(each.content for each in request.messages if each.role == "system")
    messages = [each._asdict() for each in request.messages if each.role != "system"]
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
