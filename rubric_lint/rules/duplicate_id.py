"""Two criteria with one id."""

from collections.abc import Iterator

from rubric_lint.finding import Part, Path, Place, Problem, Severity
from rubric_lint.rubric import Criterion, Rubric, fold_id
from rubric_lint.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare all ids, written and generated."""
    seen: dict[str, Criterion] = {}
    for criterion in rubric.criteria:
        first = seen.setdefault(fold_id(criterion.id), criterion)
        if first is criterion:
            continue
        how = "" if criterion.has_own_id else ", generated from its place,"
        message = (
            f"the id `{criterion.id}`{how} is taken; a judge output cannot tell the two criteria apart, rename one"
        )
        if criterion.id != first.id:
            message = f"the id `{criterion.id}` differs from an earlier one only in its Unicode form; rename one"
        generated = "" if first.has_own_id else f"gets the id `{first.id}` from its place"
        yield Problem(message, *_place(criterion), related=(Place(generated or "the first one", *_place(first)),))


def _place(criterion: Criterion) -> tuple[Path, Part]:
    if criterion.has_own_id and not criterion.borrows_id:
        return (*criterion.path, "id"), Part.ENTRY
    return criterion.path, Part.ENTRY


RULE = Rule("duplicate-id", Severity.ERROR, check)
