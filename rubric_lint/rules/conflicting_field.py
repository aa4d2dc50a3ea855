"""A deprecated field next to the field that replaces it."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.model.criterion import LOWEST, Replacement, Shape
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import RemoveField, Repair
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find criteria and bands that have both fields."""
    if not rubric.outdated:
        return
    checklist = {criterion.path for criterion in rubric.criteria if criterion.shapes[0] is Shape.CHECKLIST}
    for path, fields, name in rubric.outdated:
        replacement = rubric.replacements[name]
        other = replacement.name
        if other in fields:
            place = (*path, name)
            related = (RelatedPlace(f"`{other}` is here", (*path, other), Part.KEY),)
            code, repair = "contradicts", None
            if _mean_the_same(fields[name], fields[other], replacement, is_checked=path in checklist):
                code, repair = "repeats", Repair(f"remove `{name}`", (RemoveField(place),), safe=True)
            yield Problem(code, place, Part.KEY, {"field": name, "other": other}, related, repair)


def _mean_the_same(old: Any, new: Any, replacement: Replacement, *, is_checked: bool) -> bool:
    """Return whether both mean one thing; if a criterion `is_checked`, all gates that a miss can miss do."""
    if not replacement.covers(old):
        return False
    expected = replacement.value_for(old)
    if is_checked and type(new) is type(expected) is int and LOWEST < new <= expected:
        return True
    if expected is None:  # an absent field means the same as the lowest gate: nothing is required
        return new is None or (new == 0 and new is not False)
    return bool(expected == new and type(expected) is type(new))


RULE = Rule(
    "conflicting-field",
    Severity.ERROR,
    {
        "repeats": "`{field}` repeats `{other}` ({line}); remove `{field}`",
        "contradicts": "`{field}` contradicts `{other}` ({line}); keep `{other}` with what you mean, remove `{field}`",
    },
    check,
    fix="safe",
    marks=(Part.KEY,),
)
