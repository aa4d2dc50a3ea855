"""Limit the rate of requests, and pause all of them when the endpoint asks for it."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from rubric_lint.judge.limits import Room, TokenLimit

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
