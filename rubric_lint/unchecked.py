"""Says on stderr what was not checked and why, so that nobody takes silence for success."""

from collections.abc import Iterable, Iterator

from rubric_lint.finding import Result, Unread
from rubric_lint.summary import Summary, counted

_MOST = 10
"""How many lines of one kind are shown; the rest is counted."""


class Unchecked:
    """Gathers what was not checked in a run.

    `named`: the files that the user named. Of those each is explained that holds no rubrics; of files that were found
    in folders only what is a rubric for certain, or, in a run that finds none, what nearly is one.
    """

    def __init__(self, named: Iterable[str]) -> None:
        self._named = frozenset(named)
        self._empty: list[str] = []
        self._places: dict[tuple[str, bool], tuple[str, int]] = {}

    def add(self, name: str, result: Result, reason: str = "") -> None:
        """Take the result of a file; `reason` says why it holds no rubrics, where that is known."""
        is_bare = not result.rubrics and not result.findings
        if name in self._named and is_bare:
            self._empty += list(_word_file(name, result.unread, reason))
            return
        for each in result.unread:
            key = (each.reason, each.is_known)
            first, count = self._places.get(key, (_place(name, each), 0))
            self._places[key] = first, count + 1

    def word(self, summary: Summary, *, quiet: bool, says_summary: bool) -> Iterator[str]:
        """Say what was not checked. `quiet`: only of named files; `says_summary`: the report says the rest."""
        is_empty = not (summary.rubrics or summary.findings or summary.unchanged_files)
        if is_empty and not says_summary and not quiet:
            yield f"0 rubrics found in {counted(summary.files, 'file')}"
        yield from _shorten(self._empty, "file that holds no rubrics", "files that hold no rubrics")
        if not quiet:
            lines = [
                f"{first}: not checked: {reason}" + (f" ({count - 1} more like it)" if count > 1 else "")
                for (reason, is_known), (first, count) in self._places.items()
                if is_known or not summary.rubrics
            ]
            yield from _shorten(lines, "reason", "reasons")


def _word_file(name: str, unread: tuple[Unread, ...], reason: str) -> Iterator[str]:
    if not unread:
        reason = reason or "no field of a known format is in it"
        yield f"{name}: holds no rubrics: {reason}"
    reasons: dict[str, list[Unread]] = {}
    for each in unread:
        reasons.setdefault(each.reason, []).append(each)
    for text, places in reasons.items():
        more = f" ({len(places) - 1} more like it)" if len(places) > 1 else ""
        yield f"{_place(name, places[0])}: holds no rubrics: {text}{more}"


def _place(name: str, unread: Unread) -> str:
    return f"{name}:{unread.line}:{unread.column}"


def _shorten(lines: list[str], one: str, many: str) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"and {counted(len(lines) - _MOST, f'more {one}', f'more {many}')}"
