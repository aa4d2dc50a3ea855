"""Limit the rate of requests and tokens, and pause all requests when the endpoint asks for it, in any form."""

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

_MINUTE = 60.0
_BYTES_PER_TOKEN = 3.0
_FIRST_OUTPUT = 500.0
"""What is assumed before the first reply: few bytes for a token and a long output, so that the limit holds."""

_WEIGHT = 0.2
"""How much the latest reply counts in the estimates."""


class TokenLimit:
    """Keep the tokens of the last 60 seconds within a limit; None for no limit.

    A request that needs more than the limit alone is sent when no other counts, because it could never be sent else.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._sent: deque[list[float]] = deque()
        self._used = 0.0

    def find_time(self, tokens: float, now: float) -> float:
        """Return the earliest time, in seconds of the clock, at which a request with these tokens may be sent."""
        if self._limit is None:
            return now
        while self._sent and self._sent[0][0] + _MINUTE <= now:
            self._used -= self._sent.popleft()[1]
        left, when = self._used, now
        for sent, counted in self._sent:
            if left + tokens <= self._limit:
                return when
            left -= counted
            when = sent + _MINUTE
        return when

    def take(self, tokens: float, now: float) -> list[float]:
        """Count a request; return its entry for `correct`."""
        entry = [now, tokens]
        if self._limit is not None:
            self._sent.append(entry)
            self._used += tokens
        return entry

    def correct(self, entry: list[float], tokens: float) -> None:
        """Replace the estimate of a request by what it used."""
        if any(each is entry for each in self._sent):
            self._used += tokens - entry[1]
        entry[1] = tokens


class TokenEstimate:
    """Estimate the tokens of a request from its bytes and from the replies so far."""

    def __init__(self) -> None:
        self._ratio = _BYTES_PER_TOKEN
        self._output = _FIRST_OUTPUT
        self._seen = False

    def guess(self, size: int, most_output: int | None) -> float:
        """Return the tokens that a request of `size` bytes needs, with at most `most_output` tokens in its reply."""
        output = self._output if most_output is None else min(self._output, most_output)
        return float(round(size / self._ratio + output))

    def learn(self, size: int, read: int | None, written: int | None) -> None:
        """Take the counts of a reply to a request of `size` bytes into account."""
        weight = _WEIGHT if self._seen else 1.0
        if read:
            self._ratio += weight * (size / read - self._ratio)
        if written is not None:
            self._output += weight * (written - self._output)
        self._seen = self._seen or bool(read)


class Room:
    """Limit the requests at once: half as many after a refusal, one more after as many replies as there are at once.

    `most` is the number that is never exceeded, None for no limit.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.limit = float(most or 0)
        self.inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether no further request may be sent now."""
        return self.most is not None and self.inside >= int(self.limit)

    async def wait(self) -> None:
        """Wait until a request ends or the limit grows."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        finally:
            if place in self._waiting:
                self._waiting.remove(place)

    def enter(self) -> None:
        """Count a request that is sent."""
        self.inside += 1

    def leave(self) -> None:
        """Count a request that has ended."""
        self.inside -= 1
        self._wake()

    def grow(self) -> None:
        """Allow more at once, because a request got its reply."""
        if self.most is not None:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self._wake()

    def shrink(self) -> None:
        """Allow half as many at once, because the endpoint refused one."""
        if self.most is not None:
            self.limit = max(1.0, self.limit / 2)

    def _wake(self) -> None:
        free = int(self.limit) - self.inside if self.most is not None else len(self._waiting)
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1


_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds; the pause doubles with each refusal if the endpoint does not say how long to wait."""

_GAP = 0.5
"""Maximum seconds between the first requests after a pause, so that one refusal stops the rest unsent."""

_PATIENCE = 1800.0
"""Seconds of nothing but refusals after which the run gives up."""


class Turn(NamedTuple):
    """A request that may be sent: the number of its wave, between two pauses, and its entry in the token limit."""

    wave: int
    entry: list[float]


class Pace:
    """Release the requests of a run one by one.

    `rpm` and `tpm` are the most requests and tokens per minute, `concurrency` the most requests at once; None for no
    limit.
    """

    def __init__(
        self,
        rpm: float | None = None,
        *,
        tpm: float | None = None,
        concurrency: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.paused = 0.0
        self.watch = lambda _seconds, _reason: None
        self.room = Room(concurrency)
        self._tokens = TokenLimit(tpm)
        self._gap = 60 / rpm if rpm else 0.0
        self._clock = clock
        self._sleep = sleep
        self._last = self._until = -float("inf")
        self._wave = 0
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since: float | None = None
        self._is_closed = False

    paused: float
    """The total seconds of all pauses so far."""

    watch: Callable[[float, str], object]
    """Called at the first pause with its seconds and the reason."""

    @property
    def left(self) -> float:
        """The remaining seconds of the current pause."""
        return max(self._until - self._clock(), 0.0)

    async def wait_turn(self, tokens: float = 0) -> Turn:
        """Wait until a request that needs this many tokens may be sent; end the turn with `leave`."""
        while True:
            if self._is_closed:
                await asyncio.Future()
            if (left := self._next(tokens) - self._clock()) > 0:
                await self._sleep(left)
            elif self.room.is_full:
                await self.room.wait()
            else:
                break
        self._last = self._clock()
        self.room.enter()
        return Turn(self._wave, self._tokens.take(tokens, self._last))

    def leave(self, turn: Turn, tokens: float | None = None) -> None:
        """End the turn of a request; `tokens` are those that it used, None if unknown."""
        self.room.leave()
        if tokens is not None:
            self._tokens.correct(turn.entry, tokens)

    def hold(self, turn: Turn, seconds: float | None, reason: str) -> bool:
        """Pause all requests because one of this wave was refused; return False to give up.

        `seconds` is how long the endpoint asks to wait, None if unknown.
        """
        now = self._clock()
        if self._refused_since is None:
            self._refused_since = now
            if not self.paused:
                self.watch(seconds or _FIRST_PAUSE, reason)
        elif now - self._refused_since > _PATIENCE:
            return False
        self._refusals += self.slow_down(turn)
        pause = (seconds or min(_FIRST_PAUSE * 2.0 ** (self._refusals - 1), _LONGEST_PAUSE)) * _spread()
        self._recovery = min(pause, _GAP)
        self._pause_until(now, now + pause)
        return True

    def slow_down(self, turn: Turn) -> bool:
        """Allow fewer requests at once and begin a new wave; return False if the wave of this one has ended already."""
        if turn.wave != self._wave:  # it was sent before the pause began
            return False
        self._wave += 1
        self.room.shrink()
        return True

    def rest(self, seconds: float) -> None:
        """Pause all requests because a reply says that a limit is used up."""
        now = self._clock()
        if seconds >= _FIRST_PAUSE and not self.paused:
            self.watch(seconds, "a reply says that it is used up")
        self._pause_until(now, now + seconds)

    def close(self) -> None:
        """Release no further request."""
        self._is_closed = True

    def go_on(self) -> None:
        """Reset the pauses, because the endpoint answered a request."""
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since = None
        self.room.grow()

    def _pause_until(self, now: float, until: float) -> None:
        until = max(self._until, until)
        self.paused += until - max(self._until, now)
        self._until = until

    def _next(self, tokens: float) -> float:
        spaced = max(self._until, self._last + max(self._gap, self._recovery))
        return max(spaced, self._tokens.find_time(tokens, self._clock()))


def _spread() -> float:
    """Return a random factor that keeps parallel runs from retrying at the same moment."""
    return random.uniform(1, 1.1)  # noqa: S311 (spreads load, keeps no secret)


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
