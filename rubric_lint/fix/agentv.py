"""What AgentV 4 and 5 take: how the fields of a criterion are written there, and where its list stands."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.bands import HIGHEST
from rubric_lint.document import Document
from rubric_lint.finding import (
    AddField,
    Intent,
    NestField,
    Part,
    Path,
    RemoveField,
    RenameKey,
    ReplaceValue,
    WrapText,
)
from rubric_lint.rubric import Criterion, Rubric, Shape
from rubric_lint.schema import case_lists


@dataclass(frozen=True, slots=True)
class Target:
    """A version of AgentV: its name here, the dialects that its files may be read as, and its words.

    An assertion of the type `kind` in the list `assertions` has the criteria under `criteria`, its name under `label`.
    `reads_beside`: a list under `rubrics` in a case counts too, beside what else judges the case.
    """

    name: str
    title: str
    dialects: frozenset[str]
    kind: str
    assertions: str
    criteria: str
    label: str
    schema: str
    reads_beside: bool = False


TARGETS = {
    target.name: target
    for target in (
        Target(
            "agentv-4",
            "AgentV 4",
            frozenset({"agentv-a3", "agentv-a4", "agentv-a6"}),
            kind="rubrics",
            assertions="assertions",
            criteria="criteria",
            label="name",
            schema="agentv-a6.schema.json",
            reads_beside=True,
        ),
        Target(
            "agentv-5",
            "AgentV 5",
            frozenset({"agentv-a7"}),
            kind="llm-rubric",
            assertions="assert",
            criteria="value",
            label="metric",
            schema="agentv-a7.schema.json",
        ),
    )
}
"""The targets by name."""

_LISTS = ("assertions", "assert", "evaluators")
_RUBRIC_TYPES = frozenset({"rubric", "rubrics", "llm-rubric"})
_CASE_FIELDS = {"expected_outcome": "criteria", "input_messages": "input", "expected_messages": "expected_output"}
_OLD_CASES = ("evalcases", "eval_cases", "cases")
CASES = "tests"


class Unmet(NamedTuple):
    """What the target cannot say: the reason, and where that stands."""

    reason: str
    path: Path
    part: Part = Part.KEY


def convert_criteria(document: Document, rubric: Rubric, target: Target) -> Iterator[Intent | Unmet]:
    """What makes the fields of the criteria of a rubric those of the target."""
    if rubric.shape in (Shape.HOLISTIC, Shape.LEVELS):
        kind = "holistic scale" if rubric.shape is Shape.HOLISTIC else "levels"
        yield Unmet(f"{target.title} has no {kind}, only checklists and criteria with `score_ranges`", rubric.path)
        return
    for criterion in rubric.entries:
        path = rubric.view.place(criterion.path) if rubric.view else criterion.path
        fields = document.value(path)
        if not isinstance(fields, dict):
            if criterion.gate is None:
                yield WrapText(path, "outcome", ("id", criterion.id), ("required", "false"))
            continue
        yield from _rename_outcome(fields, path)
        bands = fields.get("score_ranges")
        for index, band in enumerate(bands if isinstance(bands, list) else ()):
            yield from _rename_outcome(band, (*path, "score_ranges", index))
        yield from (
            _gate_bands(criterion, fields, path) if "score_ranges" in fields else _gate_check(criterion, fields, path)
        )


def _rename_outcome(mapping: dict[str, Any], path: Path) -> Iterator[Intent]:
    for old in ("expected_outcome", "description", "criteria"):
        if old in mapping:
            yield RenameKey((*path, old), "outcome")


def _gate_check(criterion: Criterion, fields: dict[str, Any], path: Path) -> Iterator[Intent]:
    """A checklist criterion must be met unless it says `required: false`, so a missing gate is written out."""
    wanted = "true" if criterion.gate else "false"
    if "required_min_score" in fields:
        yield RenameKey((*path, "required_min_score"), "required")
        yield ReplaceValue((*path, "required_min_score"), wanted)
    elif "required" not in fields and not criterion.gate:
        yield AddField(path, "required", wanted)


def _gate_bands(criterion: Criterion, fields: dict[str, Any], path: Path) -> Iterator[Intent]:
    """The gate of bands is a share of 10; `required: true`, which AgentV 5 reads no more, is the whole of it."""
    if "min_score" in fields:
        for idle in fields.keys() & {"required_min_score", "required"}:
            yield RemoveField((*path, idle))
        return
    if "required_min_score" in fields:
        field = (*path, "required_min_score")
        if "required" in fields:
            yield RemoveField((*path, "required"))
    elif "required" in fields:
        field = (*path, "required")
    else:
        return
    if criterion.gate:
        yield RenameKey(field, "min_score")
        yield ReplaceValue(field, f"{Decimal(criterion.gate) / HIGHEST:f}")
    else:
        yield RemoveField(field)


def move_criteria(document: Document, path: Path, target: Target) -> Iterator[Intent | Unmet]:
    """What brings the list of criteria at `path` to where the target has it."""
    holder = path[-3] if len(path) > 2 else ""
    owner = document.value(path[:-1])
    if path[-1] in _LISTS:
        yield from _rename_list(document, path, target)  # texts among assertions stay there
    elif holder in _LISTS:
        yield from _rename_assertion(document, path, owner, target)
    elif holder in case_lists() and isinstance(path[-2], int):
        beside = [name for name in _LISTS if name in owner]
        execution = owner.get("execution")
        beside += ["execution"] if isinstance(execution, dict) and "evaluators" in execution else []
        if beside and target.reads_beside:
            return
        if beside:
            reason = f"the case has `{beside[0]}` too, which {target.title} would leave unread; join the two by hand"
            yield Unmet(reason, path)
        else:
            yield NestField(path, target.assertions, ("type", target.kind), target.criteria)
    else:
        yield Unmet(f"{target.title} has rubrics in the cases of a suite, and this one is in none", path)


def _rename_assertion(document: Document, path: Path, owner: Any, target: Target) -> Iterator[Intent | Unmet]:
    """An assertion stays where it is; its type, its list and its name are called as the target does."""
    kind = owner.get("type")
    if kind not in _RUBRIC_TYPES:
        yield Unmet(f"{target.title} takes criteria in assertions of the type `{target.kind}` only", path)
        return
    if kind != target.kind:
        yield ReplaceValue((*path[:-1], "type"), target.kind)
    if path[-1] != target.criteria:
        yield RenameKey(path, target.criteria)
    other = "metric" if target.label == "name" else "name"
    if other in owner and target.label not in owner:
        yield RenameKey((*path[:-1], other), target.label)
    yield from _rename_list(document, path[:-2], target)


def _rename_list(document: Document, path: Path, target: Target) -> Iterator[Intent | Unmet]:
    if path[-1] == target.assertions:
        return
    if target.assertions in document.value(path[:-1]):
        yield Unmet(f"the case has `{target.assertions}` too, which would leave this unread", path)
    else:
        yield RenameKey(path, target.assertions)


def rename_cases(document: Document, paths: list[Path]) -> Iterator[Intent]:
    """What calls the cases that hold rubrics, and their fields, as AgentV does since February 2026."""
    lists = {path[:at] for path in paths for at in range(1, len(path)) if path[at - 1] in (*_OLD_CASES, CASES)}
    for path in sorted(lists, key=str):
        parent, cases = document.value(path[:-1]), document.value(path)
        if len(path) == 1 and path[0] in _OLD_CASES and CASES not in parent:
            yield RenameKey(path, CASES)
        for index, case in enumerate(cases if isinstance(cases, list) else ()):
            for old, new in _CASE_FIELDS.items():
                if isinstance(case, dict) and old in case and new not in case:
                    yield RenameKey((*path, index, old), new)
