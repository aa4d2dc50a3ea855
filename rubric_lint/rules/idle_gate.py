"""A gate that is never missed, or a checklist gate that works like the full score."""

from collections.abc import Iterator

from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Shape
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.messages import list_never_missed_values
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare each written gate with the lowest value that a judge can give."""
    yield from _find_unread(rubric)
    for criterion in rubric.criteria:
        gate = criterion.gate
        if gate is None or criterion.fields is None or criterion.gate_path[-1] not in criterion.fields:
            continue
        shape = criterion.shapes[0]
        lowest = criterion.scale.ends[0] if criterion.scale else LOWEST
        if rubric.is_version_3 and criterion.weight is not None and criterion.weight < 0:
            values = {"field": rubric.place(criterion.gate_path)[-1], "weight": criterion.weight}
            yield Problem("of-penalty", criterion.gate_path, Part.KEY, values)
        elif shape is Shape.CHECKLIST and LOWEST < gate < HIGHEST:
            values = {"full": rubric.format_gate(HIGHEST), "gate": rubric.format_gate(gate)}
            yield Problem("checklist", criterion.gate_path, values=values)
        elif shape is Shape.CHECKLIST and rubric.implicit_required:
            continue  # there, a gate of 0 says that the criterion is not required
        elif shape is Shape.LEVELS:
            numbers = [level.number for level in criterion.levels or () if level.number is not None]
            worst, best = criterion.fields.get(SPAN, (0, 1))
            worst_level = max(numbers, default=None) if worst > best else min(numbers, default=None)
            if gate == worst_level:
                values = list_never_missed_values(gate, "level", is_falling=worst > best)
                yield Problem("never-missed", criterion.gate_path, values=values)
        elif gate == lowest:
            worst, best = criterion.fields.get(SPAN, (LOWEST, HIGHEST))
            written = str(worst) if rubric.is_version_3 else rubric.format_gate(gate)
            values = list_never_missed_values(written, "score", is_falling=worst > best)
            yield Problem("never-missed", criterion.gate_path, values=values)


def _find_unread(rubric: Rubric) -> Iterator[Problem]:
    """Find gates that the system does not read, because of a field that is there or missing next to them."""
    if rubric.view is None or not rubric.dialect or rubric.is_mixed:
        return
    fields = rubric.schema.idle
    if not fields:
        return
    for criterion in rubric.criteria:
        written = rubric.view.document.value(rubric.view.place(criterion.path))
        if not isinstance(written, dict):
            continue
        for name, idle in fields.items():
            if name not in written or written[name] != idle.get("value", written[name]):
                continue
            if all(field in written for field in idle.get("with", ())) and idle.get("without") not in written:
                when = f"without `{idle.get('without')}`"
                if idle.get("with"):
                    fields_with_it = " and ".join(f"`{field}`" for field in idle["with"])
                    when = f"next to {fields_with_it}"
                system = rubric.view.dialect.title
                values = {"system": system, "field": name, "when": when, "advice": idle["instead"]}
                yield Problem("not-read", (*criterion.path, name), Part.KEY, values)


RULE = Rule(
    "idle-gate",
    Severity.WARNING,
    {
        "checklist": "a checklist criterion scores {full} or 0, so gate {gate} works like {full}; write {full}",
        "never-missed": "gate {gate} is never missed, as it is the {end} {kind}; remove it or {change} it",
        "of-penalty": (
            "the weight is {weight}, so with this gate an answer fails if it does not show what costs points; to fail "
            "answers that show it, move it to `critical_failures`; else remove `{field}`"
        ),
        "low-mark": (
            "`{field}` is {found}, and the scale goes up to {highest}, so nearly every answer is above it; if you mean "
            "a share, write {share}"
        ),
        "idle-borderline": (
            "`borderline_threshold` is the same mark as `pass_threshold` ({line}), so no answer is borderline; write a "
            "{lower} one, or remove it"
        ),
        "not-read": "{system} does not read `{field}` {when}; {advice}",
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)
