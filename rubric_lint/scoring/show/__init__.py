"""Describe what a file holds: its rubrics as they are read, what answers to them score, and what is nearly a rubric."""

from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.model.criterion import Shape, Thresholds
from rubric_lint.model.finding import Unread
from rubric_lint.model.groups import Group
from rubric_lint.model.messages import fields_to_data, make_whole, to_data
from rubric_lint.scoring.grading import Verdict


class ShownBand(NamedTuple):
    """A band: its lowest and highest score, None if the range is invalid, and its outcome."""

    scores: tuple[int, int] | None
    outcome: str | None


class ShownLevel(NamedTuple):
    """A level: its number, None if it is invalid, its name and its outcome; `score` is what it is worth, in 0..1."""

    level: int | None
    name: str | None
    outcome: str | None
    score: Fraction | None


class ShownCriterion(NamedTuple):
    """A criterion with its place; a value that is invalid is None.

    `share` is its exact part in the average, None if not all weights are valid. `gate` is the lowest score or level
    that passes, as in results. `outcome` is what is judged; `is_negated` if it must not be met. Bands and levels are in
    ascending order. `scale` are the worst and the best score of the bands, None if these are 0 and 10.
    """

    id: str
    line: int
    column: int
    weight: float | None
    share: Fraction | None
    gate: int | None
    outcome: str | None
    bands: tuple[ShownBand, ...] = ()
    levels: tuple[ShownLevel, ...] = ()
    is_negated: bool = False
    applies_if: str = ""
    is_failure: bool = False
    scale: tuple[int, int] | None = None

    @property
    def is_turned(self) -> bool:
        """Whether its lower scores or levels are worth more."""
        if self.scale:
            return self.scale[0] > self.scale[1]
        scores = [level.score for level in self.levels if level.score is not None]
        return bool(scores) and scores[0] > scores[-1]

    def to_json(self) -> dict[str, Any]:
        """Return the criterion as it appears in reports."""
        found: dict[str, Any] = {
            "id": self.id,
            "line": self.line,
            "column": self.column,
            "weight": self.weight,
            "share": None if self.share is None else str(self.share),
            "percent": None if self.share is None else round(float(self.share * 100), 1),
            "gate": self.gate,
            "outcome": self.outcome,
            "bands": to_data(self.bands),
            "levels": to_data(self.levels),
        }
        if self.scale:
            found["scale"] = list(self.scale)
        if self.applies_if:
            found["applies_if"] = self.applies_if
        if self.is_failure:
            found["critical_failure"] = True
        return found


class ShownExample(NamedTuple):
    """An example: a judge output, described by `title`, with its exact score and its verdict."""

    title: str
    output: dict[str, Any]
    score: Fraction
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Return the example as it appears in reports."""
        head = {"title": self.title, "output": self.output, "score": float(self.score)}
        return {**head, "fraction": str(self.score), "verdict": str(self.verdict)}


class ShownRubric(NamedTuple):
    """A rubric as it is read.

    `name` is the name that records use. `format` says in words how the rubric is written; `dialect` is the name of
    another system's format, else `version` is that of ours. `path` is a JSON Pointer. `shape` is None without
    criteria, or if shapes are mixed. `task` is what is judged as a whole, if the rubric says it. `errors` and
    `warnings` count the findings in it. `examples` are empty if the file cannot be scored. Only version 3 has `scale`,
    the worst and the best score of the rubric, `grades`, each with the lowest share that earns it, and `groups`.
    `marks` are the thresholds in units of it.
    """

    name: str
    line: int
    column: int
    path: str
    format: str
    dialect: str | None
    version: str | None
    shape: Shape | None
    task: str | None
    thresholds: Thresholds
    criteria: tuple[ShownCriterion, ...]
    errors: int
    warnings: int
    examples: tuple[ShownExample, ...]
    scale: tuple[int, int] | None = None
    marks: tuple[str, str] | None = None
    grades: tuple[tuple[str, Fraction, str], ...] = ()
    groups: tuple[Group, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the rubric as it appears in reports."""
        pass_at, borderline_at = map(float, self.thresholds)
        found = {name: value for name, value in self._asdict().items() if name not in _OF_VERSION_3}
        found["thresholds"] = {"pass": pass_at, "borderline": borderline_at}
        if self.scale:
            found["scale"] = self.scale
        if self.grades:
            found["grades"] = [{"grade": name, "score": share} for name, share, _ in self.grades]
        if self.groups:
            found["groups"] = list(map(_describe_group, self.groups))
        return fields_to_data(found)


def _describe_group(group: Group) -> dict[str, Any]:
    """Return a group as it appears in reports; `gate` is the lowest share that passes."""
    return {
        "id": group.id,
        "weight": float(group.weight),
        "gate": group.gate,
        "outcome": group.outcome or None,
        "applies_if": group.applies_if or None,
    }


_OF_VERSION_3 = frozenset({"scale", "marks", "grades", "groups"})


class ShownRelease(NamedTuple):
    """A release of AgentV, and what of a suite it does not read: line, column and reason of each place."""

    name: str
    title: str
    unread: tuple[tuple[int, int, str], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the release as it appears in reports."""
        places = [{"line": line, "column": column, "reason": reason} for line, column, reason in self.unread]
        return {"name": self.name, "title": self.title, "loads": not places, "unread": places}


class Shown(NamedTuple):
    """What a file holds.

    `unread` lists what is nearly a rubric or cannot be parsed, each with the reason; a finding may say the same.
    `reason` says why the file has no rubrics; empty if it has some, or if `unread` or the findings say it. `unscorable`
    lists why rubric-score refuses the file, so that its rubrics have no examples. `releases` are those of AgentV, if
    the file is a suite for it. `errors`, `warnings` and `ignored` count findings.
    """

    file: str
    rubrics: tuple[ShownRubric, ...] = ()
    unread: tuple[Unread, ...] = ()
    reason: str = ""
    unscorable: tuple[str, ...] = ()
    releases: tuple[ShownRelease, ...] = ()
    errors: int = 0
    warnings: int = 0
    ignored: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON; `schemas/show/v1.json` describes it."""
        described = {
            "file": self.file,
            "reason": self.reason or None,
            "errors": self.errors,
            "warnings": self.warnings,
            "rubrics": [rubric.to_json() for rubric in self.rubrics],
            "unscorable": list(self.unscorable),
            "releases": [release.to_json() for release in self.releases],
            "unread": [unread.to_json(self.file) for unread in self.unread],
        }
        return {name: make_whole(value) for name, value in described.items()}
