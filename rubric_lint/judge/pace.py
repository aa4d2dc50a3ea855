"""Limit the rate of requests and tokens, and pause all requests when the endpoint asks for it."""

import asyncio
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime

from rubric_lint.judge.waiting import Waiting

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds; the pause doubles with each refusal if the endpoint does not say how long to wait."""

_PATIENCE = 1800.0
"""Seconds of nothing but refusals after which the run gives up."""

_MINUTE = 60.0


class Pace:
    """Release the requests to an endpoint one by one; several event loops and threads may share it.

    `rpm` and `tpm` are the most requests and tokens per minute, None for no limit. After each request, the next one
    waits for its share of a minute.

    `in_flight` requests have been sent and not yet answered. An endpoint that answers only a few at once refuses the
    others, and refused requests count too. So a refusal halves how many may be in flight, and as many replies as may be
    in flight allow one more.

    `paused` are the seconds of all pauses so far; at the first one `watch` is called with its seconds and the reason.
    """

    def __init__(
        self,
        rpm: float | None = None,
        tpm: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.paused = 0.0
        self.watch: Callable[[float, str], object] = lambda _seconds, _reason: None
        self.in_flight = 0
        self._most_in_flight = float("inf")
        self._gap = _MINUTE / rpm if rpm else 0.0
        self._token_gap = _MINUTE / tpm if tpm else 0.0
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.RLock()
        self._waiting = Waiting()
        self._next = self._until = self._pause_began = -float("inf")
        self._refusals = 0
        self._refused_since: float | None = None
        self._is_closed = False

    @property
    def pause_left(self) -> float:
        """The remaining seconds of the current pause."""
        return max(self._until - self._clock(), 0.0)

    async def wait_turn(self, tokens: float = 0) -> float:
        """Wait until a request with about this many tokens may be sent, and return the moment; end it with `leave`.

        Raises:
            CancelledError: if the pace is closed.
        """
        while True:
            place = None
            with self._lock:
                if self._is_closed:
                    raise asyncio.CancelledError
                now = self._clock()
                wait = max(self._next, self._until) - now
                if wait <= 0:
                    if self.in_flight + 1 <= self._most_in_flight:
                        self._next = now + max(self._gap, tokens * self._token_gap)
                        self.in_flight += 1
                        return now
                    place = self._waiting.join()
            # A pause may begin meanwhile, and another request may take the place.
            if place:
                await place
            else:
                await self._sleep(wait)

    def leave(self, more_tokens: float = 0) -> None:
        """End the turn of a request; it used `more_tokens` than were expected, fewer if negative."""
        with self._lock:
            self.in_flight -= 1
            self._next += more_tokens * self._token_gap
            self._waiting.wake()

    def pause(self, sent: float, seconds: float | None, reason: str) -> bool:
        """Pause all requests because the one that was sent at this moment was refused; return False to give up.

        `seconds` is how long the endpoint asks to wait, None if unknown.
        """
        with self._lock:
            now = self._clock()
            if self._refused_since is None:
                self._refused_since = now
                if not self.paused:
                    self.watch(seconds or _FIRST_PAUSE, reason)
            elif now - self._refused_since > _PATIENCE:
                return False
            if sent > self._pause_began:  # else it was in flight when the pause began, which says nothing new
                self._pause_began = now
                self._refusals += 1
                self._most_in_flight = max(min(self._most_in_flight, self.in_flight) / 2, 1.0)
            pause = seconds or min(_FIRST_PAUSE * 2.0 ** (self._refusals - 1), _LONGEST_PAUSE)
            pause *= random.uniform(1, 1.1)  # noqa: S311 (keeps parallel runs from retrying at the same moment)
            until = max(self._until, now + pause)
            self.paused += until - max(self._until, now)
            self._until = until
            return True

    def note_reply(self) -> None:
        """Begin anew with the shortest pause and allow more requests at once, because the endpoint answered one."""
        with self._lock:
            self._refusals = 0
            self._refused_since = None
            self._most_in_flight += 1 / self._most_in_flight
            self._waiting.wake()

    def close(self) -> None:
        """Release no further request; those that wait are canceled."""
        with self._lock:
            self._is_closed = True
            self._waiting.wake()


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
