"""Limit the time for one file by checks between the steps of a run, which works on every system and in every thread."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

TIME_LIMIT = 30.0
"""The default limit in seconds for each phase of linting a file."""

_until: ContextVar[float] = ContextVar("until", default=float("inf"))

Item = TypeVar("Item")


class TimeUpError(Exception):
    """The time for this file is up."""


def check_time() -> None:
    """Raise an error if the time is up.

    Raises:
        TimeUpError: if it is.
    """
    if monotonic() > _until.get():
        raise TimeUpError


def watch(next_event: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that does the same as `next_event` and checks the time now and then."""
    count = 0

    def next_watched() -> Any:
        nonlocal count
        count += 1
        if not count & 1023:
            check_time()
        return next_event()

    return next_watched


class Clock:
    """The time limit of one file; `is_over` is true once a phase has reached it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    @contextmanager
    def phase(self) -> Iterator[None]:
        """Run the block with a time limit, and end it when the time is up."""
        known = _until.set(monotonic() + self._seconds)
        try:
            yield
        except TimeUpError:
            self.is_over = True
        finally:
            _until.reset(known)

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items until the time is up."""
        for item in items:
            if monotonic() > _until.get():
                self.is_over = True
                return
            yield item

    @property
    def message(self) -> str:
        """The message for a file whose time is up."""
        return (
            f"linting this file was stopped after {self._seconds:g} seconds, so there may be more findings; "
            "split the file, or raise `time-limit` in the settings"
        )
