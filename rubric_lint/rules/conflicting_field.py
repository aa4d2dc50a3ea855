"""A deprecated field beside the field that replaces it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.edits.intents import RemoveField, Repair
from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Replacement
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part, Path


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find criteria and bands that have both fields."""
    for path, fields, name in rubric.outdated:
        if (replacement := rubric.replacements[name]).name in fields:
            yield _compare(fields, path, name, replacement)


def _compare(mapping: Mapping[str, Any], path: Path, field: str, replacement: Replacement) -> Problem:
    name = replacement.name
    related = (Place(f"`{name}` is here", (*path, name), Part.KEY),)
    values = {"field": field, "other": name}
    if _say_the_same(mapping[field], mapping[name], replacement):
        repair = Repair(f"remove `{field}`", (RemoveField((*path, field), beside=name),), safe=True)
        return Problem("repeats", (*path, field), Part.KEY, values, related, repair)
    return Problem("contradicts", (*path, field), Part.KEY, values, related)


def _say_the_same(old: Any, new: Any, replacement: Replacement) -> bool:
    if not replacement.covers(old):
        return False
    meant = replacement.value_for(old)
    # An absent field means the same as the lowest gate: nothing is required.
    return bool(meant == new and type(meant) is type(new)) or (meant is None and new == 0 and new is not False)


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
