"""Word the warnings about a run as a whole."""

from collections.abc import Callable, Iterator

from rubric_lint.scoring.ids import Ids, RecordPlace

_MOST_PLACES = 5
"""The most places that a warning lists."""


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
