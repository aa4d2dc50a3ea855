"""How far a run is, on a terminal only, and never in the way of what it found."""

import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

_DELAY = 1.0
"""Seconds that a run may take before it shows how far it is."""

_INTERVAL = 0.1
_BAR = 30

Item = TypeVar("Item")


class Progress:
    """A bar on a terminal that appears when a run takes long; `clear` it before other output.

    click's bar leaves an empty line behind and cannot be taken away for a finding.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due = time.monotonic() + _DELAY
        self._drawn = 0

    @property
    def is_shown(self) -> bool:
        """Whether anybody would see the bar: only a terminal is worth counting the files for beforehand."""
        return self._stream.isatty()

    def over(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """The items, `total` of them, while the bar shows how many are done."""
        if not self.is_shown:
            yield from items
            return
        try:
            for done, item in enumerate(items):
                now = time.monotonic()
                if now >= self._due:
                    self._due = now + _INTERVAL
                    self._draw(done, total)
                yield item
        finally:
            self.clear()

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def _draw(self, done: int, total: int) -> None:
        filled = _BAR * done // total
        # A row that fills the last cell wraps on some terminals, and what has wrapped cannot be cleared.
        import shutil  # noqa: PLC0415  (few runs draw)

        room = shutil.get_terminal_size().columns - 1
        bar = f"{done}/{total} files [{'#' * filled}{'-' * (_BAR - filled)}]"[:room]
        self._stream.write("\r" + bar)
        self._stream.flush()
        self._drawn = len(bar)
