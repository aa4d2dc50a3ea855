"""`required` on a criterion."""

from collections.abc import Iterator

from rubric_lint.edits.intents import AddField, Intent, RenameKey, Repair, ReplaceValue, WrapText
from rubric_lint.finding import Problem, Severity
from rubric_lint.format.criterion import LOWEST, Criterion, Shape
from rubric_lint.format.repairs import find_deprecated
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find `required` on criteria that may have a score gate; elsewhere the field is misplaced, not deprecated."""
    replacement = rubric.replacements.get("required")
    if not (rubric.implicit_required or "required" in rubric.field_names):
        return
    for criterion in rubric.criteria:
        fields, shape = criterion.fields or {}, criterion.shapes[0]
        if replacement is None or shape not in _WITH_GATE:
            continue
        if rubric.implicit_required and shape is Shape.CHECKLIST and fields.get("required", False) is False:
            if replacement.name not in fields:
                yield _write_out(criterion, replacement.name, str(replacement.value_for(True)))  # noqa: FBT003 (a field's value)
        elif fields:
            for problem in find_deprecated(fields, criterion.path, "required", replacement):
                yield _warn_of_scale(problem) if shape is Shape.SCORE_RANGES and fields["required"] is True else problem


def _warn_of_scale(problem: Problem) -> Problem:
    """Say what `required: true` means on a scale, where authors mostly mean a lower gate."""
    return problem._replace(message=f"{problem.message}, which only the highest score meets; lower it if you mean less")


def _write_out(criterion: Criterion, name: str, gate: str) -> Problem:
    """Report a criterion whose gate comes from the setting, to be written in the criterion itself."""
    path = criterion.path
    if criterion.fields and "required" in criterion.fields:
        field = (*path, "required")
        message = f"`required: false` is deprecated; with the setting `implicit-required`, write `{name}: {LOWEST}`"
        intents: tuple[Intent, ...] = (RenameKey(field, name), ReplaceValue(field, str(LOWEST)))
        return Problem(message, field, Part.KEY, repair=Repair(f"write `{name}: {LOWEST}`", intents, safe=True))
    message = f"only the setting `implicit-required` makes this criterion required; write `{name}: {gate}`"
    title = f"write `{name}: {gate}`"
    if criterion.fields is None:  # the generated id must not change
        intents = (WrapText(path, "expected_outcome", ("id", criterion.id), (name, gate)),)
        return Problem(message, path, Part.ENTRY, repair=Repair(title, intents, safe=True))
    return Problem(message, path, Part.HEAD, repair=Repair(title, (AddField(path, name, gate),), safe=True))


_WITH_GATE = (Shape.CHECKLIST, Shape.SCORE_RANGES)

RULE = Rule("deprecated-required", Severity.WARNING, check, fix="safe", marks=(Part.KEY,))
