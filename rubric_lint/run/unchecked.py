"""Collect what was not checked in a run and why, so that silence is not mistaken for success."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rubric_lint.finding import Result, Unread
from rubric_lint.run.summary import counted

_MOST = 10
"""How many lines of one kind are shown; the rest are counted."""

UNKNOWN = "no field of a known format found"
TESTS = "it holds rubric tests, which rubric-test runs"
EMPTY = "it is empty"
"""Reasons why a file without near misses has no rubrics."""

_LEAST = (True, 1)
"""A rank behind that of every near miss."""


class Noted(NamedTuple):
    """The near misses of one reason: the likeliest of them, its file, and how many more there are."""

    file: str
    unread: Unread
    more: int = 0

    @property
    def place(self) -> str:
        """The place of the likeliest: `FILE:LINE:COLUMN`."""
        return f"{self.file}:{self.unread.line}:{self.unread.column}"

    @property
    def reason(self) -> str:
        """The reason, and how many more places have it."""
        return self.unread.reason + (f" ({self.more} more like it)" if self.more else "")


class NearMisses:
    """Collect near misses by reason: memory depends on how many reasons there are, not on how many files."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, bool], Noted] = {}

    def add(self, file: str, unread: Iterable[Unread]) -> None:
        """Add the near misses of a file."""
        for each in unread:
            key = each.reason, each.is_known
            known = self._noted.get(key)
            if known is None:
                self._noted[key] = Noted(file, each)
            else:
                first = Noted(file, each) if each.rank < known.unread.rank else known
                self._noted[key] = first._replace(more=known.more + 1)

    def __iter__(self) -> Iterator[Noted]:
        """Yield them, the likeliest rubrics first."""
        yield from sorted(self._noted.values(), key=lambda each: each.unread.rank)


class Unchecked:
    """Collect what was not checked in a run.

    `named` are the files that the user named; each one without rubrics is explained. `bare` counts those.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = frozenset(named)
        self._explained: list[tuple[tuple[bool, int], str]] = []
        self._near = NearMisses()
        self.bare = 0

    def add(self, name: str, result: Result, reason: str = "") -> None:
        """Add the result of a file; `reason` says why it has no rubrics, if known."""
        is_bare = name in self._named and not (result.rubrics or result.tests)
        self.bare += is_bare
        if not is_bare or result.findings:
            self._near.add(name, result.unread)
            return
        near = NearMisses()
        near.add(name, result.unread)
        lines = [(each.unread.rank, f"{each.place}: no rubrics found: {each.reason}") for each in near]
        self._explained += lines or [(_LEAST, f"{name}: no rubrics found: {reason or UNKNOWN}")]

    def word(self) -> Iterator[str]:
        """Yield the messages on named files without rubrics, then on near misses; the likeliest rubrics come first."""
        explained = [line for _, line in sorted(self._explained, key=lambda each: each[0])]
        yield from _shorten(explained, "file without rubrics", "files without rubrics")
        near = list(self._near)
        yield from _shorten([f"{each.place}: not checked: {each.reason}" for each in near], "reason", "reasons")
        if len(near) > _MOST or any(each.more for each in near):
            yield "`rubric-lint show` lists all that was not checked"


def _shorten(lines: list[str], one: str, many: str) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"and {counted(len(lines) - _MOST, f'more {one}', f'more {many}')}"
