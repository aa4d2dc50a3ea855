"""Define the options that say how to call a model and where answers have their fields."""

import json
import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rubric_lint.cli.help import option

if TYPE_CHECKING:
    from collections.abc import Callable

    from rubric_lint.judge.answers import Fields

Function = TypeVar("Function", bound="Callable[..., Any]")

FORMATS = ("json_schema", "json_object", "text")
"""How JSON is requested; `call.py` says what each means."""

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OF_REQUESTS = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
"""The headers that the transfer of a request decides."""

_OWN_OPTIONS = {"temperature": "--temperature", "seed": "--seed", "response_format": "--response-format"}
_MAX_TOKENS = ("max_tokens", "max_completion_tokens")
_REFUSED = {
    "model": "--model names the model",
    "messages": "the prompt comes from the rubric and the answer",
    "stream": "replies are read whole",
    "stream_options": "replies are read whole",
    "n": "one reply is read; use --samples",
}


class Finite(click.FloatRange):
    """A range of finite numbers; it rejects `nan`, which compares with no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value!r} is not a finite number", param, ctx)


def read_extra_body(ctx: click.Context, param: click.Parameter, value: str | None) -> Mapping[str, Any]:
    """Read further fields of the body; refuse those that the run depends on."""
    from rubric_lint.outputs.reply import refuse_duplicates  # noqa: PLC0415

    if value is None:
        return {}
    try:
        body = json.loads(
            value, parse_constant=_refuse_constant, parse_float=_read_float, object_pairs_hook=refuse_duplicates
        )
    except (ValueError, RecursionError) as fault:
        raise click.BadParameter(f"is not JSON: {fault}", ctx, param) from None
    if not is_encodable(json.dumps(body, ensure_ascii=False)):
        raise click.BadParameter("has half of a surrogate pair, which cannot be sent", ctx, param)
    if not isinstance(body, dict):
        raise click.BadParameter("is not a JSON object; expected for example '{\"top_p\": 0.9}'", ctx, param)
    for name in body:
        if name in _REFUSED:
            raise click.BadParameter(f"cannot set `{name}`: {_REFUSED[name]}", ctx, param)
        if name in _OWN_OPTIONS:
            raise click.BadParameter(f"cannot set `{name}`; use {_OWN_OPTIONS[name]}", ctx, param)
    return body


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"the number {text[:20]} is too large")


def is_encodable(text: str) -> bool:
    """Return whether a text can be sent as UTF-8; arguments with other bytes have lone surrogates in their place."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_call(asking: Mapping[str, Any]) -> None:
    """Refuse two values for the most tokens of a reply.

    Raises:
        click.UsageError: if --extra-body sets what --max-tokens sets.
    """
    for name in _MAX_TOKENS:
        if asking.get("max_tokens") is not None and name in asking.get("extra_body", {}):
            raise click.UsageError(f"--extra-body sets `{name}`, and --max-tokens as well; give one of them")


def _read_pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...], form: str) -> dict[str, str]:
    """Read `NAME=REST` for headers. No error repeats what follows the =, which may be a key."""
    found: dict[str, str] = {}
    for given in values:
        name, equals, rest = given.partition("=")
        if not equals or not _HEADER.fullmatch(name):
            raise click.BadParameter(f"expected {form}, where NAME is the name of a header", ctx, param)
        if name.lower() in _OF_REQUESTS:
            raise click.BadParameter(f"the header `{name}` cannot be set", ctx, param)
        if name.lower() in {each.lower() for each in found}:
            raise click.BadParameter(f"the header `{name}` is given twice", ctx, param)
        found["Authorization" if name.lower() == "authorization" else name] = rest
    return found


def read_headers(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read headers with their values."""
    headers = _read_pairs(ctx, param, values, "NAME=VALUE")
    for name, value in headers.items():
        if not _is_sendable(value):
            raise click.BadParameter(
                f"the value of `{name}` is empty or has characters that headers cannot have", ctx, param
            )
    return headers


def read_header_variables(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Read headers with the values of environment variables."""
    headers = {}
    for name, variable in _read_pairs(ctx, param, values, "NAME=VARIABLE").items():
        value = os.environ.get(variable, "").strip()
        shown = variable if re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable) else "the environment variable"
        if not value:
            raise click.BadParameter(f"{shown} for the header `{name}` is not set", ctx, param)
        if not _is_sendable(value):
            raise click.BadParameter(f"{shown} has characters that headers cannot have", ctx, param)
        headers[name] = value
    return headers


def _is_sendable(value: str) -> bool:
    return bool(value.strip()) and value.isascii() and value.isprintable()


def _read_place(ctx: click.Context, param: click.Parameter, value: str) -> str:
    if not value or value == "/":
        raise click.BadParameter(
            "is empty; give the name of a field, or a JSON Pointer such as /response/text", ctx, param
        )
    return value


def field_options(function: Function) -> Function:
    """Add the options that say where answers have their fields; `read_fields` reads them."""
    told = {
        "id": "The answer's id.",
        "answer": "The answer: a string, or a list of chat messages.",
        "question": "The question.",
        "reference": "The reference answer.",
        "rubric": "The rubric's name.",
    }
    for name, text in reversed(told.items()):
        settings: dict[str, Any] = {"metavar": "FIELD", "default": name, "callback": _read_place}
        add = option("Fields", f"--{name}-field", f"{name}_field", **settings, help=f"{text}  [default: {name}]")
        function = add(function)
    return function


def read_fields(given: dict[str, Any]) -> "Fields":
    """Take the values of the field options out of the values of all options."""
    from rubric_lint.judge.answers import Fields  # noqa: PLC0415

    return Fields(*(given.pop(f"{name}_field") for name in Fields._fields))


def body_options(function: Function) -> Function:
    """Add the options that change the body of a request."""
    options = [
        option(
            "Model",
            "--seed",
            type=click.IntRange(0, 2**63 - 1),
            help="Seed of the sampling, if the endpoint takes one.",
        ),
        option(
            "Model", "--max-tokens", type=click.IntRange(1), help="Most tokens of a reply.  [default: the endpoint's]"
        ),
        option(
            "Model",
            "--extra-body",
            metavar="JSON",
            callback=read_extra_body,
            help="Further fields of the request's body, as a JSON object.",
        ),
    ]
    for add in reversed(options):
        function = add(function)
    return function


def header_options(function: Function) -> Function:
    """Add the options that set headers."""
    given: dict[str, Any] = {"multiple": True}
    literal = option(
        "Model",
        "--header",
        "headers",
        metavar="NAME=VALUE",
        callback=read_headers,
        **given,
        help="HTTP header for every request to the default endpoint. Can be repeated.",
    )
    secret = option(
        "Model",
        "--header-env",
        "secret_headers",
        metavar="NAME=VARIABLE",
        callback=read_header_variables,
        **given,
        help="The same with the value of an environment variable, for secrets.",
    )
    return literal(secret(function))
