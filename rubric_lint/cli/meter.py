"""How far through its input a run is: a bar on a terminal, in bytes where their number is known."""

import shutil
import time
from typing import TextIO

_DELAY = 1.0
"""Seconds that a run may take before it shows how far it is."""

_INTERVAL = 0.1
_BAR = 30


class Meter:
    """A bar that appears when a run takes long; `clear` it before other output. `total`: all bytes, None if unknown."""

    def __init__(self, stream: TextIO, total: int | None) -> None:
        self.done = 0
        self._stream = stream
        self._total = total
        self._read = 0
        self._start = time.monotonic()
        self._due = self._start + _DELAY if stream.isatty() else float("inf")
        self._drawn = 0

    def advance(self, size: int) -> None:
        """So many bytes more are read; `done` says how many outputs are scored."""
        self._read += size
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _INTERVAL
            self._draw(now - self._start)

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def _draw(self, elapsed: float) -> None:
        text = f"{self.done:,} outputs, {self.done / elapsed:,.0f} a second"
        if self._total:
            share = min(self._read / self._total, 1)
            filled = int(_BAR * share)
            text += f" [{'#' * filled}{'-' * (_BAR - filled)}] {share:.0%}"
        # A row that fills the last cell wraps on some terminals, and what has wrapped cannot be cleared.
        bar = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + bar + " " * (self._drawn - len(bar)))
        self._stream.flush()
        self._drawn = max(self._drawn, len(bar))
