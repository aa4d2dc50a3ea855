"""Word the warnings about a run as a whole."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Self

from rubric_lint.scoring.ids import Ids, RecordPlace

_MOST_PLACES = 5
"""The most places that a warning lists."""


class Others(NamedTuple):
    """How many entries of a file are by another version of a rubric, and the line of the first one; 0 without any."""

    times: int = 0
    first: int = 0

    def count_at(self, line: int) -> Self:
        """Count one more, in this line."""
        return self._replace(times=self.times + 1, first=self.first or line)

    def add(self, later: "Others") -> Self:
        """Add what a later part of the file has."""
        return self._replace(times=self.times + later.times, first=self.first or later.first)


def warn_of_repeated(ids: Ids, name: Callable[[RecordPlace], str]) -> Iterator[str]:
    """Yield a warning if ids are repeated; `name` names a place."""
    repeated, firsts = ids.repeated(_MOST_PLACES)
    if repeated:
        listed = [f"{name(first)} and {name(second)}" for first, second in firsts]
        listed += [f"{repeated - len(firsts):,} more"] if repeated > len(firsts) else []
        again = "1 record has" if repeated == 1 else f"{repeated:,} records have"
        yield f"warning: {again} the id of an earlier one, and all are counted: {'; '.join(listed)}"


def warn_of_other_rubric(count: int, place: str) -> str:
    """Return the warning that so many outputs, the first one at `place`, were judged by a different rubric."""
    told = "1 output was" if count == 1 else f"{count:,} outputs were"
    return f"warning: {told} judged by a rubric with a different meaning (`rubric_hash` differs), the first at {place}"


def warn_of_other_version(others: Mapping[str, Others]) -> str:
    """Return the warning that results, counted by the names of their files, are by another version of the rubric."""
    count = sum(each.times for each in others.values())
    told = "1 result was" if count == 1 else f"{count:,} results were"
    listed = [
        f"{name} ({each.times:,}, the first in line {each.first:,})" for name, each in [*others.items()][:_MOST_PLACES]
    ]
    listed += [f"{len(others) - _MOST_PLACES:,} more files"] if len(others) > _MOST_PLACES else []
    return (
        f"warning: {told} scored by another version of the rubric (`rubric_hash` differs) and count as invalid; score "
        f"the outputs again: {'; '.join(listed)}"
    )
