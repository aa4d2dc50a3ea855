"""Define the options that say how to call a model and where answers have their fields."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

import click

from rubric_lint.cli.options import require_file_name
from rubric_lint.cli.output import JSON_LINES, choose_by_ending
from rubric_lint.lint.project.api_key import KEY, ApiKeyError, is_variable, read_key
from rubric_lint.lint.project.opening import STDIN, name_input, open_input
from rubric_lint.model.messages import UserError, join_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rubric_lint.judge.account import Account
    from rubric_lint.judge.answers import Answer
    from rubric_lint.judge.asking import JudgeOptions
    from rubric_lint.judge.call import Call
    from rubric_lint.judge.run import Panel
    from rubric_lint.lint.run.console import Progress
    from rubric_lint.scoring.grading import ScoringRubric


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OF_REQUESTS = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "accept-encoding"}
)
"""The headers that the transfer of a request decides."""

_OWN_OPTIONS = {"temperature": "--temperature", "seed": "--seed", "response_format": "--response-format"}
_REFUSED = {
    "model": "--model names the model",
    "messages": "the prompt comes from the rubric and the answer",
    "stream": "replies are read whole",
    "stream_options": "replies are read whole",
    "n": "one reply is read; use --samples",
}


def read_extra_body(value: str) -> Mapping[str, Any]:
    """Read further fields of the body; refuse those that the run depends on."""
    from rubric_lint.scoring.records.reply import refuse_duplicates

    try:
        body = json.loads(
            value, parse_constant=_refuse_constant, parse_float=_read_float, object_pairs_hook=refuse_duplicates
        )
    except (ValueError, RecursionError) as fault:
        raise click.BadParameter(f"is not JSON: {fault}") from None
    if not is_encodable(json.dumps(body, ensure_ascii=False)):
        raise click.BadParameter("has half of a surrogate pair, which cannot be sent")
    if not isinstance(body, dict):
        raise click.BadParameter("is not a JSON object; expected for example '{\"top_p\": 0.9}'")
    for name in body:
        if name in _REFUSED:
            raise click.BadParameter(f"cannot set `{name}`: {_REFUSED[name]}")
        if name in _OWN_OPTIONS:
            raise click.BadParameter(f"cannot set `{name}`; use {_OWN_OPTIONS[name]}")
    return body


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


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
    from rubric_lint.judge.call import MAX_TOKENS

    for name in MAX_TOKENS:
        if asking.get("max_tokens") is not None and name in (asking.get("extra_body") or ()):
            raise click.UsageError(f"--extra-body sets `{name}`, and --max-tokens as well; give one of them")


def _read_pairs(values: tuple[str, ...], form: str) -> dict[str, str]:
    """Read `NAME=REST` for headers. No error repeats what follows the =, which may be a key."""
    found: dict[str, str] = {}
    for given in values:
        name, equals, rest = given.partition("=")
        if not equals or not _HEADER.fullmatch(name):
            raise click.BadParameter(f"expected {form}, where NAME is the name of a header")
        if name.lower() in _OF_REQUESTS:
            raise click.BadParameter(f"the header `{name}` cannot be set")
        if name.lower() in {header.lower() for header in found}:
            raise click.BadParameter(f"the header `{name}` is given twice")
        # openai 2 has a header of its own so spelled, and would send one in another spelling besides.
        header = "Authorization" if name.lower() == "authorization" else name
        found[header] = rest
    return found


def read_headers(values: tuple[str, ...]) -> dict[str, str]:
    """Read headers with their values."""
    headers = _read_pairs(values, "NAME=VALUE")
    for name, value in headers.items():
        if not _is_sendable(value):
            raise click.BadParameter(f"the value of `{name}` is empty or has characters that headers cannot have")
    return headers


def read_header_variables(values: tuple[str, ...]) -> dict[str, str]:
    """Read headers with the values of environment variables."""
    headers = {}
    for name, variable in _read_pairs(values, "NAME=VARIABLE").items():
        value = os.environ.get(variable, "").strip()
        shown = variable if re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable) else "the environment variable"
        if not value:
            raise click.BadParameter(f"{shown} for the header `{name}` is not set")
        if not _is_sendable(value):
            raise click.BadParameter(f"{shown} has characters that headers cannot have")
        headers[name] = value
    return headers


def _is_sendable(value: str) -> bool:
    return bool(value.strip()) and value.isascii() and value.isprintable()


_WITH_URL = re.compile(r"(?P<name>.*?)@(?P<url>https?://.*)", re.DOTALL | re.IGNORECASE)
_WITHOUT_SCHEME = re.compile(
    r".+@(?:[\w.-]+:\d+(?:/.*)?|localhost(?:/.*)?|[\w-]+(?:\.[\w-]+)+/.*|[a-z][a-z+.-]*:/.*)", re.DOTALL | re.IGNORECASE
)
_ACCESS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
"""The headers that stand for an API key."""


class NamedModel(NamedTuple):
    """A model, and its own endpoint if it has one; `given` is how the command line names it."""

    given: str
    name: str
    url: str | None = None


def check_url(url: str) -> str | None:
    """Validate the base URL. The error never repeats it, because it may contain a key."""
    from rubric_lint.judge.call import is_url

    if url and not is_url(url):
        raise click.UsageError("--base-url must have the form http://HOST:PORT/PATH or https://HOST/PATH")
    return url or None


def holds_secret(url: str | None) -> bool:
    """Return whether a URL has a part that may be a key."""
    parts = urlsplit(url or "")
    return bool(parts.username or parts.password or parts.query)


def read_models(values: tuple[str, ...]) -> tuple[NamedModel, ...]:
    """Read each `NAME` or `NAME@URL`. An error never repeats a URL, because it may contain a key.

    Raises:
        click.BadParameter: for a blank name, which an unset shell variable leaves, or a URL that cannot be one.
    """
    from rubric_lint.judge.call import is_url

    models = []
    for value in values:
        found = _WITH_URL.fullmatch(value)
        name, url = (found["name"], found["url"]) if found else (value, None)
        if not is_encodable(name):
            raise click.BadParameter("has bytes in its name that are not UTF-8")
        if not name.strip():
            reason = "has no name before the @" if found else "is blank"
            raise click.BadParameter(reason)
        if url and not is_url(url):
            form = "NAME@http://HOST:PORT/PATH or NAME@https://HOST/PATH"
            raise click.BadParameter(f"the endpoint of `{name}` must have the form {form}")
        if value.endswith("@"):  # as an unset shell variable leaves it
            raise click.BadParameter(f"has no endpoint after the @ of `{value}`")
        if not url and _WITHOUT_SCHEME.fullmatch(value):
            name = value.partition("@")[0]
            raise click.BadParameter(f"the endpoint of `{name}` must begin with http:// or https://")
        models.append(NamedModel(value, name, url))
    return tuple(models)


def read_writer(value: str) -> tuple[NamedModel, ...]:
    """Read the one model that proposes."""
    return read_models((value,))


class ModelAccess(NamedTuple):
    """How to call each model of a panel, with its key.

    `are_default` says which are called at the default endpoint: only they get what else the environment has for it.
    """

    calls: Sequence[Call]
    keys: Sequence[str]
    are_default: Sequence[bool]
    headers: Sequence[Mapping[str, str]]

    def part(self, first: int, last: int) -> ModelAccess:
        """Return how to call some of the models."""
        return ModelAccess._make(values[first:last] for values in self)

    def connect(self, account: Account) -> Panel:
        """Return the panel, whose requests are sent through `account`.

        Raises:
            ImportError: without the package that calls endpoints.
            click.UsageError: if a variable of the environment names a proxy or certificates that cannot be used.
        """
        from rubric_lint.judge.endpoint import ClientError, Endpoint
        from rubric_lint.judge.run import Panel

        try:
            return Panel(
                [
                    Endpoint(call, key, account, headers=headers, takes_variables=is_default)
                    for call, key, is_default, headers in zip(*self, strict=True)
                ],
                account,
            )
        except ClientError as fault:
            raise click.UsageError(str(fault)) from None


def find_access(models: Sequence[NamedModel], asking: Mapping[str, Any], *, sends: bool = True) -> ModelAccess:
    """Return how to call each model; `asking` has the values of the options that say how to ask, by their names.

    Unless it `sends` requests, no key is needed.

    Raises:
        click.UsageError: if a model of one endpoint is named twice, or a key is missing or not used.
    """
    from rubric_lint.judge.call import Call

    check_call(asking)
    names = ("timeout", "retries", "response_format", "temperature", "seed", "max_tokens", "extra_body")
    fixed = {name: asking[name] for name in names if asking.get(name) is not None}
    calls = [Call(model.name, model.url or asking.get("base_url"), **fixed) for model in models]
    # In the name of a host, case does not matter.
    places = [(call.model, call.endpoint.casefold()) for call in calls]
    for model, place in zip(models, places, strict=True):
        if places.count(place) > 1:
            raise click.UsageError(
                f"--model names `{model.name}` twice; a panel needs different models. For several outputs of one model "
                "use --samples"
            )
    default = Call("", asking.get("base_url")).endpoint
    are_default = [call.endpoint == default for call in calls]
    literal, secret = asking.get("headers") or {}, asking.get("secret_headers") or {}
    takes_headers: Sequence[bool] = [False] * len(calls)
    if literal or secret:
        fault = "--header is for the default endpoint, but each model has its own; run them one by one"
        takes_headers = _find_shared(calls, are_default, fault)
    calls = [
        replace(call, headers=tuple(literal.items())) if takes else call
        for call, takes in zip(calls, takes_headers, strict=True)
    ]
    has_url = bool(asking.get("base_url")) or bool(_ACCESS & {name.lower() for name in {*literal, *secret}})
    keys = [""] * len(calls)
    if sends:
        keys = _find_keys(models, calls, are_default, asking.get("api_key_env", ()), has_base_url=has_url)
    return ModelAccess(calls, keys, are_default, [secret if takes else {} for takes in takes_headers])


def _find_shared(calls: Sequence[Call], are_default: Sequence[bool], fault: str) -> Sequence[bool]:
    """Return which models get what is for the default endpoint, or for the only one; no other endpoint gets it."""
    if any(are_default):
        return are_default
    if len({call.endpoint for call in calls}) > 1:
        raise click.UsageError(fault)
    return [True] * len(calls)


SEED = 1
"""The seed of the orders in which assessments ask for criteria: shuffled, an effect of the place is an instability."""


def make_plan(asking: Mapping[str, Any], **more: Any) -> JudgeOptions:
    """Return how each model judges each answer."""
    from rubric_lint.judge.asking import JudgeOptions

    names = ("samples", "max_attempts", "concurrency", "per_criterion", "shuffle")
    return JudgeOptions(**{name: asking[name] for name in names}, **more)


def _find_keys(
    models: Sequence[NamedModel],
    calls: Sequence[Call],
    are_default: Sequence[bool],
    variables: Sequence[str],
    *,
    has_base_url: bool,
) -> list[str]:
    """Return the key of each model; a placeholder where an endpoint needs none.

    A variable without a model belongs to the models without an endpoint of their own, or to the only endpoint. No other
    endpoint gets that key. Raise click.UsageError when a key is missing, cannot be sent, or would not be used.
    """
    from rubric_lint.judge.endpoint import NO_KEY

    common, own = _read_variables(models, calls, variables)
    if common:
        fault = "--api-key-env does not say which model its key is for; write --api-key-env MODEL=NAME"
        are_default = _find_shared(calls, are_default, fault)
    if common and all(place in own for place, takes_common in enumerate(are_default) if takes_common):
        raise click.UsageError("--api-key-env names a key that no model would use: each has one of its own")
    keys = []
    for place, takes_common in enumerate(are_default):
        shared = common if takes_common else None
        variable = own.get(place) or shared
        key = ""
        if variable or takes_common:
            is_needed = variable is not None or not (models[place].url or has_base_url)
            key = _read_key(variable or KEY, models[place].name, is_needed=is_needed)
        keys.append(key or NO_KEY)
    return keys


def _read_variables(
    models: Sequence[NamedModel], calls: Sequence[Call], variables: Sequence[str]
) -> tuple[str | None, dict[int, str]]:
    """Return the variable without a model, and those of models by place; raise click.UsageError if one is not clear."""
    from rubric_lint.scoring.panel import name_models

    common: str | None = None
    own: dict[int, str] = {}
    shown = name_models((call.model, call.endpoint) for call in calls)
    for given in variables:
        name, equals, variable = given.rpartition("=")
        is_known = name in {*shown, *(model.given for model in models), *(model.name for model in models)}
        if not equals or not (is_known or is_variable(variable)):  # a key, given by mistake, may contain a =
            if common is not None:
                raise click.UsageError("--api-key-env is given twice without a model; write --api-key-env MODEL=NAME")
            common = given
            continue
        # The error must not repeat the name, which may be a part of a key.
        places = [place for place, model in enumerate(models) if name in {model.given, shown[place]}]
        places = places or [place for place, model in enumerate(models) if name == model.name]
        if len(places) != 1:
            known = join_words([f"`{name}`" for name in shown])
            why = "stands for several models" if places else "names no model"
            raise click.UsageError(f"--api-key-env MODEL=NAME {why} of --model; write one of {known}")
        if own.setdefault(places[0], variable) != variable:
            raise click.UsageError(f"--api-key-env names two keys for `{shown[places[0]]}`")
    return common, own


def _read_key(variable: str, model: str, *, is_needed: bool) -> str:
    """Return the key of a model, or an empty string; raise click.UsageError if it is missing or cannot be sent."""
    advice = "use --api-key-env, or pass --base-url"
    try:
        return read_key(variable, is_needed=is_needed, option="--api-key-env", advice=advice)
    except ApiKeyError as fault:
        name, mark, _ = model.partition("@")  # what follows it may contain a key
        if not (name and mark):
            raise click.UsageError(str(fault)) from None
        raise click.UsageError(
            f"what follows `{name}@` in --model is not a URL; write {name}@https://HOST/PATH. If the @ belongs to the "
            f"model's name: {fault}"
        ) from None


def read_amount(value: str) -> Decimal:
    """Read an amount of money as an exact decimal."""
    try:
        amount = Decimal(value)
    except ArithmeticError:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0 or abs(amount.adjusted()) > 15:
        raise click.BadParameter(f"{value!r} is not an amount of money, such as 2.50")
    return amount


class BatchOptions(NamedTuple):
    """What to do instead of sending requests: write them to a file, read the results of some, or both."""

    requests: Path | None
    results: tuple[str, ...]
    form: str
    size: int | None


def read_batch(asking: dict[str, Any]) -> BatchOptions | None:
    """Read the options of batches; return None if requests are to be sent.

    Raises:
        click.UsageError: if requests are to be written to `-`, or to a file of another kind.
    """
    requests, results, form, size = (asking[f"batch_{name}"] for name in ("requests", "results", "format", "size"))
    if requests is None and not results:
        return None
    if requests is not None:
        require_file_name(requests, "--batch-requests")
        endings = {".json": "json"} if form == "anthropic" else JSON_LINES
        choose_by_ending(requests, endings, "jsonl", option="--batch-requests", advice="")
    if form == "anthropic" and asking.get("base_url") is None:
        from rubric_lint.judge.batches import ANTHROPIC_URL

        asking["base_url"] = ANTHROPIC_URL
    path = None if requests is None else Path(requests)
    return BatchOptions(path, results, form, size)


class AnswersFile:
    """The answers in a file, to be read several times; its name says of which kind it is if its first line does not.

    `label` is what messages call it, if it has no name.
    """

    def __init__(
        self,
        source: BinaryIO,
        rubrics: Mapping[str, ScoringRubric],
        mapping: Mapping[str, str] = MappingProxyType({}),
        name: str = "",
        label: str = "",
    ) -> None:
        from rubric_lint.scoring.records.mapping import select_side

        self._source = source
        self._rubrics = rubrics
        self._mapping = select_side(mapping, "")
        self._name = name
        self._label = name_input(label or name)

    def count_bytes(self) -> int:
        """Return the size of the file."""
        return self._source.seek(0, os.SEEK_END)

    def check(self, progress: Progress | None = None, **how: Any) -> int:
        """Read all answers as `check_answers` does and return their number; `progress` shows how far.

        Raises:
            UserError: when one is not valid.
        """
        from rubric_lint.judge.answers import AnswersError, check_answers

        try:
            return check_answers(self._read_bytes(progress), self._rubrics, self._mapping, name=self._name, **how)
        except AnswersError as wrong:
            raise UserError(*(f"{self._label}: {fault}" for fault in wrong.faults)) from None

    def read(self, progress: Progress | None = None) -> Iterator[Answer]:
        """Yield the answers, once `check` has accepted them."""
        from rubric_lint.judge.answers import read_answers

        return read_answers(self._read_bytes(progress), self._rubrics, self._mapping, name=self._name)

    def _read_bytes(self, progress: Progress | None) -> Iterator[bytes]:
        self._source.seek(0)
        for number, chunk in enumerate(iter(lambda: self._source.read(1 << 16), b""), 1):
            if progress:
                progress.done = (number << 16) // 1_000_000
                progress.advance(len(chunk))
            yield chunk


@contextmanager
def hold(answers: str) -> Iterator[BinaryIO]:
    """Yield the answers as a file that can be read several times; a pipe is copied to a temporary file.

    Raises:
        click.UsageError: when stdin is closed.
    """
    if answers == STDIN and sys.stdin is None:
        raise click.UsageError("stdin is closed")
    with open_input(answers) as stream:
        if answers != STDIN and stream.seekable():
            yield stream
            return
        with TemporaryFile() as kept:
            shutil.copyfileobj(stream, kept)
            yield kept
