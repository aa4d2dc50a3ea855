"""How long one file may take: asked between the steps of a check, so on every system, in every process and thread."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

TIME_LIMIT = 30.0
"""How many seconds each phase of the check of a file may take, unless the settings say otherwise."""

_until: ContextVar[float] = ContextVar("until", default=float("inf"))

Item = TypeVar("Item")


class TimeUpError(Exception):
    """The time for this file is over."""


def check_time() -> None:
    """Go on if there is time left.

    Raises:
        TimeUpError: when there is none.
    """
    if monotonic() > _until.get():
        raise TimeUpError


def watch(next_event: Callable[[], Any]) -> Callable[[], Any]:
    """Return what does the same as `next_event`, and looks at the clock now and then."""
    count = 0

    def next_watched() -> Any:
        nonlocal count
        count += 1
        if not count & 1023:
            check_time()
        return next_event()

    return next_watched


class Clock:
    """The time that one file has; `is_over` once a phase has used it up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    @contextmanager
    def phase(self) -> Iterator[None]:
        """Give what is done here its time, and go on behind it when that is over."""
        known = _until.set(monotonic() + self._seconds)
        try:
            yield
        except TimeUpError:
            self.is_over = True
        finally:
            _until.reset(known)

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items as long as there is time."""
        for item in items:
            if monotonic() > _until.get():
                self.is_over = True
                return
            yield item

    @property
    def message(self) -> str:
        """What to say of a file whose time is over."""
        return (
            f"the check of this file was stopped after {self._seconds:g} seconds, so there may be more findings; "
            "split the file, or raise `time-limit` in the settings"
        )
