"""Limit the time for one file by checks between the steps of a run, which works on every system and in every thread."""

from collections.abc import Iterator
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

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


class Clock:
    """The time limit of one file: a `with` block ends when its time is up, and then `is_over` is true."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    def __enter__(self) -> None:
        self._known = _until.set(monotonic() + self._seconds)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        _until.reset(self._known)
        is_over = kind is not None and issubclass(kind, TimeUpError)
        self.is_over = self.is_over or is_over
        return is_over

    def take(self, items: list[Item]) -> Iterator[Item]:
        """Yield the items of a list until the time is up; the list forgets each, so that it is not kept for long."""
        items.reverse()
        while items:
            if monotonic() > _until.get():
                self.is_over = True
                return
            yield items.pop()

    @property
    def message(self) -> str:
        """The message for a file whose time is up."""
        return (
            f"linting this file was stopped after {self._seconds:g} seconds, so there may be more findings; "
            "split the file, or raise `time-limit` in the settings"
        )
