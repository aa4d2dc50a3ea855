"""Limit the rate of requests, and pause all of them when the endpoint asks for it."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds; the pause doubles with each refusal if the endpoint does not say how long to wait."""

_GAP = 0.5
"""Maximum seconds between the first requests after a pause, so that one refusal stops the rest unsent."""

_PATIENCE = 1800.0
"""Seconds of nothing but refusals after which the run gives up."""


class Pace:
    """Release the requests of a run one by one; `rpm` is the maximum per minute, None for no limit."""

    def __init__(
        self,
        rpm: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.paused = 0.0
        self.watch = lambda _seconds, _reason: None
        self._gap = 60 / rpm if rpm else 0.0
        self._clock = clock
        self._sleep = sleep
        self._last = self._until = -float("inf")
        self._wave = 0
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since: float | None = None

    paused: float
    """The total seconds of all pauses so far."""

    watch: Callable[[float, str], object]
    """Called at the first pause with its seconds and the reason."""

    @property
    def left(self) -> float:
        """The remaining seconds of the current pause."""
        return max(self._until - self._clock(), 0.0)

    async def wait_turn(self) -> int:
        """Wait until a request may be sent and return the number of its wave, for `hold`."""
        while (left := self._next() - self._clock()) > 0:
            await self._sleep(left)
        self._last = self._clock()
        return self._wave

    def hold(self, wave: int, seconds: float | None, reason: str) -> bool:
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
        if wave == self._wave:  # else it was sent before the pause began
            self._refusals += 1
            self._wave += 1
        pause = (seconds or min(_FIRST_PAUSE * 2.0 ** (self._refusals - 1), _LONGEST_PAUSE)) * _spread()
        self._recovery = min(pause, _GAP)
        until = max(self._until, now + pause)
        self.paused += until - max(self._until, now)
        self._until = until
        return True

    def go_on(self) -> None:
        """Reset the pauses, because the endpoint answered a request."""
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since = None

    def _next(self) -> float:
        return max(self._until, self._last + max(self._gap, self._recovery))


def _spread() -> float:
    """Return a random factor that keeps parallel runs from retrying at the same moment."""
    return random.uniform(1, 1.1)  # noqa: S311 (spreads load, keeps no secret)
