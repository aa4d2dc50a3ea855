"""Write a rubric as a judge file of Harbor's rewardkit, in TOML: a `[[criterion]]` table for each criterion."""

from decimal import Decimal
from typing import Any

from rubric_lint.dialects.export.criteria import BY_ITS_ANSWERS, choose_only, lost_gates, make_ids, require_even
from rubric_lint.dialects.export.entries import as_number, sort_levels
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportTarget,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_toml
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.schema import schema_of

_TITLE = "Harbor rewardkit"
_SHAPES = (
    Shape.CHECKLIST,
    Shape.LEVELS,
)
_SCHEMA = "harbor/v1.json"
_GAP = 'name the judge and what it reads in `[judge]`, such as judge = "claude-code" and files = ["/app/answer.md"]'


def write(rubrics: Rubrics, _sources: Sources = NOWHERE) -> Export:
    """Write the criteria with their weighted average; the judge is Harbor's default until one is named."""
    name, rubric = choose_only(rubrics, _TITLE)
    advice = "its judge says yes or no, or chooses a level"
    require_shape(name, rubric, _TITLE, _SHAPES, advice)
    ids, losses = make_ids(name, rubric, _TITLE, schema_of(_SCHEMA).entry_fields["name"], "_-")
    tables = [_table(name, criterion, called) for criterion, called in zip(rubric.criteria, ids, strict=True)]
    losses += [*lost_gates(name, rubric, _TITLE), *lost_verdicts(name, rubric, _TITLE)]
    scoring = {"aggregation": "weighted-mean"}
    text = to_toml([*(("[[criterion]]", table) for table in tables), ("[scoring]", scoring)])
    return Export(text, tuple(losses), (_GAP,))


def _table(name: str, criterion: Criterion, called: str) -> dict[str, Any]:
    weight = criterion.weight if criterion.weight is not None else Decimal(1)
    table: dict[str, Any] = {
        "name": called,
        "description": criterion.outcome or BY_ITS_ANSWERS,
        "weight": as_number(weight),
    }
    if criterion.levels:
        require_even(name, criterion, _TITLE)
        most = schema_of(_SCHEMA).entry_fields["levels"]["maxItems"]
        if len(criterion.levels) > most:
            message = f"`{criterion.id}` has {len(criterion.levels)} levels, and {_TITLE} takes at most {most}"
            raise ExportError(name, criterion.path_of("levels"), message)
        table |= {"type": "rubric", "levels": [level.outcome for level in sort_levels(criterion)]}
    return table


TARGET = ExportTarget(_TITLE, "a judge file, as TOML", write, shapes=_SHAPES)
