"""Limit the rate of requests and tokens, and pause all requests when the endpoint asks for it."""

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds; the pause doubles with each refusal if the endpoint does not say how long to wait."""

_GAP = 0.5
"""Maximum seconds between the first requests after a pause, so that one refusal stops the rest unsent."""

_PATIENCE = 1800.0
"""Seconds of nothing but refusals after which the run gives up."""

_MINUTE = 60.0
_BYTES_PER_TOKEN = 3.0
_FIRST_OUTPUT = 500.0
"""What is assumed before the first reply: few bytes for a token and a long output, so that the limit holds."""

_WEIGHT = 0.2
"""How much the latest reply counts in the estimates."""


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


@dataclass(slots=True)
class Turn:
    """A request that may be sent: the number of its wave, between two pauses, and the tokens that it counts for."""

    wave: int
    moment: float
    tokens: float


class Pace:
    """Release the requests of a run one by one.

    `rpm` and `tpm` are the most requests and tokens per minute, `concurrency` the most requests at once; None for no
    limit. At once are half as many after a refusal, one more after as many replies as there are at once.

    A request that needs more than `tpm` alone is sent when no other counts, because it could never be sent else.

    `paused` are the seconds of all pauses so far; at the first one `watch` is called with its seconds and the reason.
    `inside` requests have been sent and not yet answered, and there may be `limit` of them now.
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
        self.watch: Callable[[float, str], object] = lambda _seconds, _reason: None
        self.inside = 0
        self.limit = self._most = float("inf") if concurrency is None else float(concurrency)
        self._gap = 60 / rpm if rpm else 0.0
        self._tpm = float("inf") if tpm is None else tpm
        self._sent: deque[Turn] = deque()
        self._clock = clock
        self._sleep = sleep
        self._last = self._until = -float("inf")
        self._wave = 0
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since: float | None = None
        self._is_closed = False
        self._freed = asyncio.Event()

    @property
    def left(self) -> float:
        """The remaining seconds of the current pause."""
        return max(self._until - self._clock(), 0.0)

    async def wait_turn(self, tokens: float = 0) -> Turn:
        """Wait until a request that needs this many tokens may be sent; end the turn with `leave`."""
        while True:
            if self._is_closed:
                await asyncio.Future()
            if (left := self._find_time(tokens) - self._clock()) > 0:
                await self._sleep(left)
            elif self.inside + 1 > self.limit:
                await self._freed.wait()
            else:
                break
        self._last = self._clock()
        self.inside += 1
        turn = Turn(self._wave, self._last, tokens)
        if self._tpm < float("inf"):
            self._sent.append(turn)
        return turn

    def _find_time(self, tokens: float) -> float:
        """Return the earliest moment at which a request with these tokens may be sent."""
        now = when = self._clock()
        while self._sent and self._sent[0].moment + _MINUTE <= now:
            self._sent.popleft()
        used = sum(turn.tokens for turn in self._sent)
        for turn in self._sent:
            if used + tokens <= self._tpm:
                break
            used -= turn.tokens
            when = turn.moment + _MINUTE
        return max(when, self._until, self._last + max(self._gap, self._recovery))

    def leave(self, turn: Turn, tokens: float | None = None) -> None:
        """End the turn of a request; `tokens` are those that it used, None if unknown."""
        self.inside -= 1
        if tokens is not None:
            turn.tokens = tokens
        self._wake()

    def _wake(self) -> None:
        """Let all requests that wait for a free place look for one."""
        self._freed.set()
        self._freed = asyncio.Event()

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
        pause = seconds or min(_FIRST_PAUSE * 2.0 ** (self._refusals - 1), _LONGEST_PAUSE)
        pause *= random.uniform(1, 1.1)  # noqa: S311 (keeps parallel runs from retrying at the same moment)
        self._recovery = min(pause, _GAP)
        until = max(self._until, now + pause)
        self.paused += until - max(self._until, now)
        self._until = until
        return True

    def slow_down(self, turn: Turn) -> bool:
        """Allow half as many requests at once and begin a new wave; return False if that of this one has ended."""
        if turn.wave != self._wave:  # it was sent before the pause began
            return False
        self._wave += 1
        self.limit = max(1.0, self.limit / 2)
        return True

    def close(self) -> None:
        """Release no further request."""
        self._is_closed = True

    def go_on(self) -> None:
        """Reset the pauses, because the endpoint answered a request."""
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since = None
        self.limit = min(self._most, self.limit + 1 / self.limit)
        self._wake()


_SECONDS = re.compile(r"\d{1,15}(?:\.\d{1,15})?")


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait by `Retry-After` (RFC 9110, 10.2.3), or None if it does not.

    A date there is compared with the clock of the endpoint if it sends a `Date`, as its clock and ours may differ.
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    wait = lower.get("retry-after", "")
    if _SECONDS.fullmatch(wait):
        return float(wait)
    until, now = _read_date(wait), _read_date(lower.get("date", ""))
    if until is None:
        return None
    if now is None:
        now = time.time()
    return max(until - now, 0)


def _read_date(text: str) -> float | None:
    """Return a date of a header in seconds since 1970."""
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(text).timestamp()
    return None
