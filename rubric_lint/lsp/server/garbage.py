"""Keep what the server keeps out of garbage collection, whose cost would grow with the open documents.

Documents and findings have no reference cycles, so they are freed without the collector. It looks for cycles now and
then: the less it finds, the later it looks again.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from rubric_lint.text.reading import without_collections

_SOONEST, _FIRST, _LATEST = 16, 64, 4096  # tasks until the next collection
_FEW, _MANY = 1_000, 20_000  # unreachable objects, found in one collection


class Garbage:
    """Decides after which tasks to collect garbage."""

    def __init__(self) -> None:
        self._interval = self._left = _FIRST
        self._lock = Lock()

    @contextmanager
    def postponed(self) -> Iterator[None]:
        """Run a task without collections; what it leaves behind is not looked at before the next one that is due."""
        with without_collections():
            try:
                yield
            finally:
                gc.freeze()
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._collect()

    def _collect(self) -> None:
        gc.unfreeze()
        found = gc.collect()
        gc.freeze()
        if found < _FEW:
            self._interval = min(2 * self._interval, _LATEST)
        elif found > _MANY:
            self._interval = max(self._interval // 2, _SOONEST)
        self._left = self._interval
