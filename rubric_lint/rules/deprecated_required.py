"""`required` on a criterion."""

from collections.abc import Iterator

from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Criterion, Shape
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import list_never_missed_values
from rubric_lint.model.repairs import MESSAGES, find_deprecated
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import AddField, Intent, RenameKey, Repair, ReplaceValue, WrapText
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find `required` on criteria that may have a score gate; elsewhere the field is misplaced, not deprecated."""
    replacement = rubric.replacements.get("required")
    for criterion in rubric.criteria:
        fields, shape = criterion.fields or {}, criterion.shapes[0]
        if replacement is None or not (shape in _WITH_GATE or SPAN in fields):
            continue
        worst, best = fields.get(SPAN, (LOWEST, HIGHEST))
        if rubric.implicit_required and shape is Shape.CHECKLIST and fields.get("required", False) is False:
            if replacement.name not in fields:
                yield _write_out(criterion, replacement.name, worst, best)
        elif "required" in fields:
            for problem in find_deprecated(rubric, fields, criterion.path, "required", best):
                # On a scale, authors mostly mean a lower gate.
                is_high = shape is not Shape.CHECKLIST and fields["required"] is True
                ends = list_never_missed_values(best, "score", is_falling=worst < best)  # of the best end
                values = {**problem.values, **ends}
                yield problem._replace(code="replaced-on-scale", values=values) if is_high else problem


def _write_out(criterion: Criterion, name: str, worst: int, best: int) -> Problem:
    """Report a criterion whose gate comes from the setting, to be written in the criterion itself.

    `worst` and `best` are the ends of its scale.
    """
    path = criterion.path
    if criterion.fields and "required" in criterion.fields:
        field = (*path, "required")
        intents: tuple[Intent, ...] = (RenameKey(field, name), ReplaceValue(field, str(worst)))
        repair = Repair(f"write `{name}: {worst}`", intents, safe=True)
        return Problem("implicit-false", field, Part.KEY, {"name": name, "gate": worst}, repair=repair)
    gate = str(best)
    title, values = f"write `{name}: {gate}`", {"name": name, "gate": gate}
    if criterion.fields is None:  # the generated id must not change
        intents = (WrapText(path, "expected_outcome", ("id", criterion.id), (name, gate)),)
        return Problem("implicit", path, Part.ENTRY, values, repair=Repair(title, intents, safe=True))
    repair = Repair(title, (AddField(path, name, gate),), safe=True)
    return Problem("implicit", path, Part.HEAD, values, repair=repair)


_WITH_GATE = (Shape.CHECKLIST, Shape.SCORE_RANGES)

RULE = Rule(
    "deprecated-required",
    Severity.WARNING,
    {
        **MESSAGES,
        "replaced-on-scale": (
            f"{MESSAGES['replaced']}, which only the {{end}} score meets; {{change}} it if you mean less"
        ),
        "implicit": "only the setting `implicit-required` makes this criterion required; write `{name}: {gate}`",
        "implicit-false": (
            "`required: false` is deprecated; with the setting `implicit-required`, write `{name}: {gate}`"
        ),
    },
    check,
    fix="safe",
    marks=(Part.KEY,),
)
