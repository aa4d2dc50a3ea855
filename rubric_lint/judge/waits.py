"""Read how long an endpoint asks its callers to wait, in the forms that endpoints use."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

_MOST = 10_000
"""How many characters of a body are searched; error messages state the wait early."""

_RESET = re.compile(r"(?:rate|token)-?limit.*reset")
_STRUCTURED = re.compile(r"(?:^|[;,\s])(?:t|reset)=(?P<wait>\d{1,10})(?!\d)")
_USED_UP = re.compile(r"(?:^|[;,\s])(?:r|remaining)=0(?!\d)")
_NUMBERS = re.compile(r"[\d., ]{1,200}")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(ns|us|µs|ms|milliseconds?|seconds?|minutes?|hours?|days?|[smhd])\s*")
_DURATION = re.compile(f"(?:{_PART.pattern})+")
_IN_WORDS = re.compile(rf'(?:(?:try again|retry)\s+(?:in|after)\s+|"retryDelay":\s*")({_DURATION.pattern})')
_IN_FIELD = re.compile(
    r'"retry[_-]?after(?:_?(?P<ms>ms|milliseconds)|_?(?:s|secs|seconds))?"\s*:\s*"?(?P<wait>\d{1,10}(?:\.\d{1,10})?)\b',
    re.IGNORECASE,
)
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "mi": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SECONDS_SINCE_1970, _MILLISECONDS_SINCE_1970 = 1e9, 1e11
"""Numbers from here on are timestamps, not durations."""


class _Limit(NamedTuple):
    """One rate limit: the seconds until its reset, and whether it is used up."""

    wait: float
    is_used_up: bool


def read_wait(headers: Mapping[str, str], body: str = "") -> float | None:
    """Return the seconds that an endpoint asks to wait, or None if it does not say.

    Sources, in this order: `retry-after-ms`; `Retry-After` (RFC 9110, 10.2.3); of the `x-ratelimit-reset-*` headers
    and similar ones, the longest of the used-up limits, or the shortest if none is used up; the text of the body.
    Moments are compared with the clock of the endpoint if it sends a `Date`, as its clock and ours may differ.
    """
    lower = _lower(headers)
    now = _read_clock(lower)
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if _NUMBER.fullmatch(milliseconds := lower.get(name, "")):
            return float(milliseconds) / 1000
    if (wait := _read_longest(lower.get("retry-after", ""), now)) is not None:
        return wait
    limits = list(_read_limits(lower, now))
    if used_up := [limit.wait for limit in limits if limit.is_used_up]:
        return max(used_up)
    if limits:
        return min(limit.wait for limit in limits)
    if found := _IN_WORDS.search(body[:_MOST]):
        return _read_time(found[1], now)
    found = _IN_FIELD.search(body[:_MOST])
    return float(found["wait"]) / (1000 if found["ms"] else 1) if found else None


def read_used_up(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the reset of the limits that the headers say are used up; None if none is."""
    lower = _lower(headers)
    now = _read_clock(lower)
    return max((limit.wait for limit in _read_limits(lower, now) if limit.is_used_up), default=None)


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value.strip() for name, value in headers.items()}


def _read_clock(headers: Mapping[str, str]) -> float:
    """Return the time at the endpoint, in seconds since 1970; ours if it does not say its own."""
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(headers["date"]).timestamp() if "date" in headers else time.time()
    return time.time()


def _read_longest(text: str, now: float) -> float | None:
    """Return the time of a header; the longest if several headers of that name are joined by commas."""
    if (wait := _read_time(text, now)) is not None:
        return wait
    waits = [_read_time(each.strip(), now) for each in text[:_MOST].split(",")] if _NUMBERS.fullmatch(text) else []
    return max((wait for wait in waits if wait is not None), default=None)


def _read_limits(headers: Mapping[str, str], now: float) -> Iterator[_Limit]:
    for name, value in headers.items():
        if _RESET.search(name) and (wait := _read_time(value, now)) is not None:
            left = headers.get(name.replace("reset", "remaining"), "")
            yield _Limit(wait, bool(_NUMBER.fullmatch(left)) and not float(left))
        elif name == "ratelimit":  # draft-ietf-httpapi-ratelimit-headers: one item for each policy, or all in one
            for item in [value] if "reset=" in value else value.split(","):
                if found := _STRUCTURED.search(item):
                    yield _Limit(float(found["wait"]), bool(_USED_UP.search(item)))


def _read_time(text: str, now: float) -> float | None:
    """Return the seconds of a number, a duration such as `6m0.5s`, or a timestamp in one of three notations."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        if number >= _MILLISECONDS_SINCE_1970:
            number /= 1000
        return max(number - now, 0) if number >= _SECONDS_SINCE_1970 else number
    if _DURATION.fullmatch(text):
        return sum(float(size) * _size(unit) for size, unit in _PART.findall(text))
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError):
            moment = read(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(moment.timestamp() - now, 0)
    return None


def _size(unit: str) -> float:
    if unit in _UNITS:
        return _UNITS[unit]
    return _UNITS["mi"] if unit.startswith("milli") else _UNITS[unit[0]]
