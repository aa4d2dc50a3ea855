"""When requests may go: one pause for all of them when an endpoint limits its callers, and a rate that they keep."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds; the pause doubles with each refusal after it, where the endpoint does not say how long to wait."""

_GAP = 0.5
"""Seconds, at most, between the first requests after a pause, so that one refusal stops the others before they go."""

_PATIENCE = 1800.0
"""Seconds without any answer but refusals after which waiting longer is pointless."""


class Pace:
    """Lets the requests of a run go one by one; `rpm` is the highest number of them a minute, None for no limit."""

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
    """The seconds of all pauses so far."""

    watch: Callable[[float, str], object]
    """Hears of the first pause: how many seconds it takes, and why."""

    @property
    def left(self) -> float:
        """The seconds that are left of a pause."""
        return max(self._until - self._clock(), 0.0)

    async def wait_turn(self) -> int:
        """Wait until a request may go, and return the number of its wave, for `hold`."""
        while (left := self._next() - self._clock()) > 0:
            await self._sleep(left)
        self._last = self._clock()
        return self._wave

    def hold(self, wave: int, seconds: float | None, reason: str) -> bool:
        """Pause all requests because one of this wave was refused; False when there is no point in waiting longer.

        `seconds` is how long the endpoint asks to wait, None if it does not say.
        """
        now = self._clock()
        if self._refused_since is None:
            self._refused_since = now
            if not self.paused:
                self.watch(seconds or _FIRST_PAUSE, reason)
        elif now - self._refused_since > _PATIENCE:
            return False
        if wave == self._wave:  # else it was under way already when the pause began
            self._refusals += 1
            self._wave += 1
        pause = (seconds or min(_FIRST_PAUSE * 2.0 ** (self._refusals - 1), _LONGEST_PAUSE)) * _spread()
        self._recovery = min(pause, _GAP)
        until = max(self._until, now + pause)
        self.paused += until - max(self._until, now)
        self._until = until
        return True

    def go_on(self) -> None:
        """Take note that the endpoint answered a request."""
        self._refusals = 0
        self._recovery = 0.0
        self._refused_since = None

    def _next(self) -> float:
        return max(self._until, self._last + max(self._gap, self._recovery))


def _spread() -> float:
    """Return a factor that keeps several runs from coming back at the same moment."""
    return random.uniform(1, 1.1)  # noqa: S311 (spreads load, keeps no secret)
