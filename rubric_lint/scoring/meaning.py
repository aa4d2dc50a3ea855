"""Compute the meaning of a rubric, independent of how it is written, for the hash and `rubric-lint diff`.

Comments, order, notation, line breaks, deprecated names and the rubric's own name mean nothing. Weights count as shares
of the average, so doubling all of them changes nothing. A gate that no score can miss is no gate.
"""

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Criterion, Hundredth, Shape
from rubric_lint.model.groups import Group
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import CURRENT, load
from rubric_lint.model.view import OWN
from rubric_lint.scoring.grading import OVERALL, ScoringCriterion
from rubric_lint.scoring.groups import ScoringGroup
from rubric_lint.source.path import Path

HASH_LENGTH = 16
"""The number of hexadecimal digits in a hash."""

_VERSION = 1
"""The version of the canonical form. Change it with the form, so that hashes of different versions never match."""

Words = tuple[str, ...] | None
"""The words of a text, or None without a text."""


def words(text: str | None) -> Words:
    """Return the words of a text; line breaks and other white space do not change its meaning."""
    return None if text is None else tuple(text.split())


def read_outcomes(criterion: ScoringCriterion) -> dict[int, str | None]:
    """Return the outcome of each score or level; empty for a checklist criterion."""
    return {grade.answer: grade.outcome for grade in criterion.grades if not isinstance(grade.answer, bool)}


def read_scores(criterion: ScoringCriterion) -> tuple[tuple[int, Words], ...]:
    """Return each score and the words of its outcome, in ascending order."""
    return tuple((score, words(outcome)) for score, outcome in read_outcomes(criterion).items())


def read_levels(criterion: Criterion) -> tuple[tuple[int, str | None, Words], ...]:
    """Return the number, the name and the words of each level, in ascending order."""
    levels = ((level.number or 0, level.name, words(level.outcome)) for level in criterion.levels or ())
    return tuple(sorted(levels, key=lambda level: level[0]))


class JudgeField(NamedTuple):
    """The text of a field that a judge is told as it is: of an entry, or of a band or level, which `where` names.

    `path` is the path of the entry, the band or the level.
    """

    where: str
    name: str
    text: str
    path: Path


_IN_FORM = {
    "entry": {"id", "expected_outcome", "score_ranges", "score_range", "levels"},
    "band": {"score_range", "expected_outcome"},
    "level": {"level", "name", "expected_outcome"},
}
"""The fields that a judge is told in a form of their own."""


@cache
def _list_names(kind: str) -> tuple[str, ...]:
    """Return the names of the other fields of an entry, a band or a level that a judge sees, as the schema says."""
    fields = load(f"{CURRENT}/rubric.json")["definitions"][kind]["properties"]
    return tuple(name for name, field in fields.items() if field.get("x-shown-to-judge") and name not in _IN_FORM[kind])


def list_written_fields(entry: Criterion) -> tuple[JudgeField, ...]:
    """Return the fields of an entry that a judge sees as they are written, in the order of the schema."""
    fields = entry.fields or {}
    band = json.dumps(fields["score_range"], default=str) if "score_range" in fields else ""
    found = _list_fields("entry", fields, band, entry.path)
    for name, kind, key in (("score_ranges", "band", "score_range"), ("levels", "level", "level")):
        items = fields.get(name)
        if not isinstance(items, list):
            continue
        for index, item in enumerate(items):
            if isinstance(item, dict):
                found += _list_fields(kind, item, json.dumps(item.get(key), default=str), (*entry.path, name, index))
    return tuple(found)


def list_judge_fields(rubric: Rubric, entry: Criterion) -> tuple[JudgeField, ...]:
    """Return the fields of an entry that a judge sees, with those of version 3: its condition and its scale."""
    written = list_written_fields(entry)
    if rubric.view is None or rubric.view.dialect is not OWN:
        return written
    own = {"applies_if": entry.applies_if, "scale": format_scale(entry)}
    return written + tuple(JudgeField("", name, text, entry.path) for name, text in own.items() if text)


def format_scale(entry: Criterion) -> str:
    """Return the scale of a criterion of version 3 in words; empty if it has none, or the usual one of bands."""
    ends = (entry.fields or {}).get(SPAN)
    if ends is None or not (entry.scale or entry.levels) or (entry.scale and ends == (LOWEST, HIGHEST)):
        return ""
    return format_ends(ends)


def format_ends(ends: tuple[Any, Any]) -> str:
    """Return the worst and the best score of a scale in words."""
    hundredths = ", with at most two decimals" if isinstance(ends[0], Hundredth) else ""
    return f"from {ends[0]}, the worst, to {ends[1]}, the best{hundredths}"


def read_groups(rubric: Rubric) -> dict[str, tuple[Group, ...]]:
    """Return the groups around each criterion that is in some, by its id, from the outermost group on."""
    ids = rubric.view.ids if rubric.view else ()
    around: dict[str, tuple[Group, ...]] = {}
    for group in rubric.groups:
        for leaf in group.leaves:
            around[ids[leaf]] = (*around.get(ids[leaf], ()), group)
    return around


def list_group_fields(group: Group) -> tuple[JudgeField, ...]:
    """Return the fields of a group that a judge sees."""
    texts = {"expected_outcome": group.outcome, "applies_if": group.applies_if}
    return tuple(JudgeField(group.id, name, text, group.path) for name, text in texts.items() if text)


def _list_fields(kind: str, fields: Mapping[str, Any], where: str, path: Path) -> list[JudgeField]:
    found = []
    for name in _list_names(kind):
        value = fields.get(name)
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            found.append(JudgeField(where, name, text, path))
    return found


def list_field_words(fields: Sequence[JudgeField]) -> list[tuple[str, str, Words]]:
    """Return the place, the name and the words of each field, whatever their order."""
    return sorted((field.where, field.name, words(field.text)) for field in fields)


def read_task(rubric: Rubric) -> str | None:
    """Return the task of the whole rubric, if its dialect states it."""
    return rubric.view.task or None if rubric.view else None


def read_gate(criterion: Criterion, scoring: ScoringCriterion) -> int | None:
    """Return the gate if it can be missed; on a checklist all such gates mean the same."""
    if all(grade.gate_met for grade in scoring.grades):
        return None
    return criterion.gate if criterion.scale or criterion.levels else 10


def list_visible(criterion: Criterion, scoring: ScoringCriterion, fields: Sequence[JudgeField]) -> Hashable:
    """Return everything that a judge sees of a criterion except its id; `fields` are those of `list_judge_fields`."""
    texts = tuple(list_field_words(fields))
    return words(criterion.outcome), read_scores(scoring), read_levels(criterion), texts


def hash_meaning(rubric: Rubric, criteria: Sequence[ScoringCriterion], tree: ScoringGroup | None = None) -> str:
    """Return the canonical hash of the meaning of a rubric; `criteria` are its criteria as they are scored.

    `tree` has its groups, if the shares of the criteria do not say what the groups do.
    """
    return _hash(_describe(rubric, criteria) | describe_whole(rubric, criteria, tree))


def describe_whole(
    rubric: Rubric, criteria: Sequence[ScoringCriterion], tree: ScoringGroup | None = None
) -> dict[str, Any]:
    """Return the fields of a whole rubric that only version 3 has; empty for one that does without them."""
    view, found = rubric.view, dict[str, Any]()
    if view and view.units:
        found["units"] = [str(end) for end in view.units]
    if view and view.grades:
        found["grades"] = [[name, str(minimum)] for name, minimum in view.grades]
    if tree:
        found["tree"] = _describe_group(tree, criteria)
    return found


def _describe_group(group: ScoringGroup, criteria: Sequence[ScoringCriterion]) -> list[Any]:
    """Return the id and the gate of a group, and its members with their parts of it, in the order of their ids."""
    earning = group.earning
    members = []
    for weight, part in group.members:
        described = _describe_group(part, criteria) if isinstance(part, ScoringGroup) else criteria[part].id
        members.append([str(weight / earning), described])
    return [group.id, None if group.gate is None else str(group.gate), sorted(members, key=str)]


def hash_criteria(rubric: Rubric, criteria: Sequence[ScoringCriterion]) -> dict[str, str]:
    """Return a hash of what a judge is told about each criterion, by its id.

    Weights, gates and thresholds do not change it: a judge does not see them, so its outputs stay valid.
    """
    described = _describe(rubric, criteria)
    whole = {name: described[name] for name in ("shape", "task")}
    if rubric.shape is Shape.HOLISTIC:
        if "told" in described:
            whole["told"] = described["told"]
        return {OVERALL: _hash([whole, described["scores"]])}
    hashes = {}
    for criterion in described["criteria"]:
        seen = {name: value for name, value in criterion.items() if name not in _HIDDEN}
        hashes[criterion["id"]] = _hash([whole, seen])
    return hashes


_HIDDEN = frozenset({"share", "gate", "turned"})
"""What describes a criterion and a judge does not see."""


def _hash(described: Any) -> str:
    canonical = json.dumps([_VERSION, described], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:HASH_LENGTH]


def _describe(rubric: Rubric, criteria: Sequence[ScoringCriterion]) -> dict[str, Any]:
    shapes = {criterion.shape for criterion in criteria}
    shape = shapes.pop() if len(shapes) == 1 else Shape.MIXED
    described: dict[str, Any] = {
        "shape": str(shape),
        "thresholds": [str(Fraction(threshold)) for threshold in rubric.thresholds],
        "task": words(read_task(rubric)),
    }
    if rubric.shape is Shape.HOLISTIC:
        described["scores"] = read_scores(criteria[0])
        fields = [field for entry in rubric.entries for field in list_written_fields(entry)]
        _add_fields(described, fields)
        return described
    around = read_groups(rubric)
    listed: list[dict[str, Any]] = []
    for criterion, scoring in zip(rubric.criteria, criteria, strict=True):
        levels = read_levels(criterion)
        found: dict[str, Any] = {
            "id": criterion.id,
            "outcome": words(criterion.outcome),
            "scores": None if levels else read_scores(scoring),
            "levels": levels,
            "share": str(scoring.share),
            "gate": read_gate(criterion, scoring),
        }
        if levels and scoring.grades[0].score > scoring.grades[-1].score:
            found["turned"] = True
        if scoring.is_failure:
            found["failure"] = True
        fields = list(list_judge_fields(rubric, criterion))
        for group in around.get(criterion.id, ()):
            fields += list_group_fields(group)
        _add_fields(found, fields)
        listed.append(found)
    described["criteria"] = sorted(listed, key=lambda item: str(item["id"]))
    return described


def _add_fields(described: dict[str, Any], fields: Sequence[JudgeField]) -> None:
    """Add the fields that a judge sees, if there are any: a rubric without such fields keeps its hash."""
    if fields:
        described["told"] = list_field_words(fields)
