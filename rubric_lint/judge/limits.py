"""Count what an endpoint limits: tokens in a minute, and requests at once."""

import asyncio
from collections import deque

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
