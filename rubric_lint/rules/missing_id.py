"""A mapping criterion without an id."""

from collections.abc import Iterator

from rubric_lint.model.criterion import Shape
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import AddField, Repair
from rubric_lint.source.path import Part
from rubric_lint.source.scalar import write_scalar


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find mappings without an `id`; a misspelt `id` is a finding of another rule."""
    seen: set[int] = set()  # aliases of one mapping are reported once
    for criterion in rubric.criteria:
        fields = criterion.fields
        if (
            fields is None
            or criterion.is_text
            or "id" in fields
            or criterion.shapes[0] is Shape.HOLISTIC
            or id(fields) in seen
        ):
            continue
        seen.add(id(fields))
        # A single unknown field is a string with a colon in it, not a criterion.
        is_accident = len(fields) == 1 and not any(map(rubric.schema.knows, fields))
        if not is_accident and not any(rubric.schema.suggest(field, ["id"]) for field in fields):
            values = {"field": rubric.format_field("id"), "id": criterion.id}
            repair = None
            if not rubric.dialect:
                written = write_scalar(criterion.own_id)
                add = AddField(criterion.path, "id", written)
                title = f"write the id that it has now, `id: {written}`"
                repair = Repair(title, (add,), safe=False)
            yield Problem("missing", criterion.path, Part.HEAD, values, repair=repair)


RULE = Rule(
    "missing-id",
    Severity.WARNING,
    {"missing": "no {field}, so judge outputs must call it `{id}`, which changes when criteria move; add one"},
    check,
    fix="unsafe",
    marks=(Part.HEAD,),
)
