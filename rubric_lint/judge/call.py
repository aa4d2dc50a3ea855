"""Describe how a model is called: its endpoint and settings, the body of its requests, what must stay secret."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any
from urllib.parse import unquote, urlsplit

from rubric_lint.judge.prompt import Message

RESPONSE_FORMATS = ("json_schema", "json_object", "text")
"""How JSON is requested: constrained by the schema, constrained to JSON, or by the prompt alone."""

SCHEMA_IN_OBJECT = "json_object with schema"
"""How servers that do not know `json_schema`, such as llama-cpp-python, are asked for a schema all the same."""

DEFAULT_URL = "https://api.openai.com/v1"
"""The endpoint if no other is named."""

MAX_TOKENS = ("max_tokens", "max_completion_tokens")
"""The fields of a body that limit the output tokens: as most servers name it, and as it is named today."""

_NAMES_MAX_COMPLETION_TOKENS = ("api.openai.com", ".openai.azure.com")
"""The hosts whose reasoning models refuse `max_tokens`; servers of one's own often know no other name."""

SECRET_WORDS = ("key", "token", "secret", "password", "authorization", "credential")
"""What the name of a field with a secret contains."""

_NOT_SECRET = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens", "min_tokens", "stop_token_ids"})
"""The fields whose names contain such a word, and which hold no secret."""


@dataclass(frozen=True, slots=True)
class Call:
    """How to call an endpoint. `timeout`, in seconds, applies to each of the `retries` + 1 tries.

    `extra_body` has further fields of the body, `headers` further headers. Headers with secrets are not part of it.
    """

    model: str
    base_url: str | None = None
    timeout: float = 120.0
    retries: int = 5
    response_format: str = RESPONSE_FORMATS[0]
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def endpoint(self) -> str:
        """The address of the endpoint, without parts that may be secret."""
        url = urlsplit(self.base_url or DEFAULT_URL)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}".rstrip("/")

    def make_body(
        self, messages: Iterable[Message], schema: Mapping[str, Any], sample: int = 1, form: str = ""
    ) -> dict[str, Any]:
        """Return the body of a request: the instructions first, so that endpoints can cache what is always the same.

        `sample` is the number of the output, from 1. `form` is how JSON is requested, by default `response_format`.
        """
        body: dict[str, Any] = {"model": self.model, "messages": [message._asdict() for message in messages]}
        form = form or self.response_format
        if form == "json_schema":
            body["response_format"] = {"type": form, form: {"name": "judge_output", "strict": True, "schema": schema}}
        elif form == SCHEMA_IN_OBJECT:
            body["response_format"] = {"type": "json_object", "schema": schema}
        elif form == "json_object":
            body["response_format"] = {"type": form}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.seed is not None:
            body["seed"] = derive_seed(self.seed, sample)
        if self.max_tokens is not None:
            body[self.max_tokens_field] = self.max_tokens
        return {**body, **self.extra_body}

    @property
    def max_tokens_field(self) -> str:
        """The field of a body that limits the output tokens."""
        usual, new = MAX_TOKENS
        host = urlsplit(self.endpoint).hostname or ""
        return new if host.endswith(_NAMES_MAX_COMPLETION_TOKENS) else usual

    @property
    def most_output(self) -> int | None:
        """The most output tokens of a reply, None if neither `max_tokens` nor `extra_body` limits them."""
        # `extra_body` is any JSON, so that a limit in it may be `true`, which Python takes for 1.
        limits = [self.max_tokens, *(self.extra_body.get(name) for name in MAX_TOKENS)]
        return max((limit for limit in limits if type(limit) is int and limit > 0), default=None)

    def identify(self) -> list[Any]:
        """Return everything that affects the replies, as JSON. What is not set is left out, as before it existed."""
        more = {
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "extra_body": dict(self.extra_body) or None,
            "headers": sorted(map(list, self.headers)) or None,
        }
        identity: list[Any] = [self.model, self.endpoint, self.response_format, self.temperature]
        given = {name: value for name, value in more.items() if value is not None}
        if given:
            identity.append(given)
        return identity

    def describe(self) -> dict[str, Any]:
        """Return the settings for a record: the names of headers only, and no secrets in `extra_body`."""
        about: dict[str, Any] = {"response_format": self.response_format}
        for name in ("temperature", "seed", "max_tokens"):
            value = getattr(self, name)
            if value is not None:
                about[name] = value
        if self.extra_body:
            about["extra_body"] = _hide(self.extra_body, [])
        if self.headers:
            about["headers"] = sorted({name for name, _ in self.headers})
        return about

    def list_secrets(self) -> Iterator[str]:
        """Yield what no message may show: the values of headers, secret fields, and the user part of the address."""
        secrets = [value for _, value in self.headers]
        _hide(self.extra_body, secrets)
        yield from secrets
        url = urlsplit(self.base_url or "")
        yield from filter(None, (url.password, url.username, url.query))
        if url.username or url.password:  # as HTTP sends them
            yield base64.b64encode(f"{unquote(url.username or '')}:{unquote(url.password or '')}".encode()).decode()


def derive_seed(seed: int, sample: int) -> int:
    """Return the seed of a sample, counted from 1: equal requests with one seed would get equal replies.

    The first sample has the seed itself, each other one the first 31 bits of `hash_json` of the list of seed and
    sample, so that runs with neighboring seeds share none.
    """
    return seed if sample == 1 else int(hash_json([seed, sample])[:8], 16) >> 1


def hash_json(value: Any) -> str:
    """Return the SHA-256, in hexadecimal digits, of JSON in a form that does not depend on the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_secret(name: str) -> bool:
    return name not in _NOT_SECRET and any(word in name.lower() for word in SECRET_WORDS)


def _hide(value: Any, secrets: list[str]) -> Any:
    """Return JSON with `***` in the place of each string in a field with a secret; add these to `secrets`."""
    if isinstance(value, list):
        return [_hide(part, secrets) for part in value]
    if not isinstance(value, Mapping):
        return value
    hidden = {}
    for name, part in value.items():
        if _is_secret(name) and isinstance(part, str):
            secrets.append(part)
            hidden[name] = "***"
        else:
            hidden[name] = _hide(part, secrets)
    return hidden


_IPV4 = re.compile(r"\d+(?:\.\d+){3}", re.ASCII)


def is_url(url: str) -> bool:
    """Return whether requests can be sent to this base URL."""
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")  # what has no such form cannot be called
        if _IPV4.fullmatch(host):
            IPv4Address(host)
        return bool(parts.scheme in {"http", "https"} and host and (parts.port is None or parts.port > 0))
    except ValueError:
        return False
