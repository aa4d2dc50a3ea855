"""Write rubrics as tests for AgentV, releases 4 and 5."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.export.carrying import Carried, split_gate
from rubric_lint.dialects.export.cases import Case, Member, group_cases
from rubric_lint.dialects.export.entries import as_number, bounds
from rubric_lint.dialects.export.fields import find_holder
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportError,
    ExportSource,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_verdicts,
    require_shape,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.criterion import HIGHEST, USUAL_THRESHOLDS, Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.nunjucks import escape
from rubric_lint.text.path import Path


@dataclass(frozen=True, slots=True)
class _Release:
    """A release: its list of assertions, the type and the field that hold criteria, and the field for the name.

    With `is_template`, the strings of assertions are templates, and the question is a variable.
    """

    name: str
    title: str
    assertions: str
    kind: str
    criteria: str
    label: str
    is_template: bool

    def write(self, rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
        """Write tests with an assertion for each rubric and for each assertion of the suite."""
        losses: list[Loss] = []
        tests: list[dict[str, Any]] = []
        for case in group_cases(rubrics, sources, suite):
            for member in case.members:
                advice = "its rubrics have checklist criteria or score ranges"
                require_shape(member.name, member.rubric, self.title, _SHAPES, advice)
                self._refuse_variables(member)
                losses += lost_verdicts(member.name, member.rubric, self.title, keeps_pass=not self.is_template)
            tests.append(self._test(case, suite))
            losses += [] if self.is_template else _lost_thresholds(case)
        about: Mapping[str, Any] = {"prompts": _PROMPTS} if self.is_template else {}
        about = suite.fields if suite else about
        gaps = tuple(self._gaps_of_suite(suite, tests) if suite else self._gaps(rubrics, sources))
        return Export(to_yaml({**about, "tests": tests}), tuple(losses), gaps)

    def _gaps_of_suite(self, suite: Carried, tests: list[dict[str, Any]]) -> Iterator[str]:
        """Yield the tests whose input is not written; they get an empty one."""
        if self.is_template and suite.fields.get("prompts") != _PROMPTS:
            return
        empty = []
        for test in tests:
            holder = test.setdefault("vars", {}) if self.is_template else test
            if "input" not in holder:
                holder["input"] = ""
                empty.append(test["id"])
        if empty:
            yield f"`input`, the question, of {', '.join(empty)}: the file has none, so it is left empty"

    def _gaps(self, rubrics: Rubrics, sources: Sources) -> Iterator[str]:
        """Yield the rubrics whose question is not written, and why."""
        given = {name: sources.get(name, ExportSource()) for name in rubrics}
        unknown = [name for name, source in given.items() if not source.question]
        unread = [name for name, source in given.items() if source.question and not self._question(source)]
        if unknown:
            yield f"`input`, the question, of {', '.join(unknown)}: the file has none, so it is left empty"
        if unread:
            told = "not plain text, so it is left empty; copy it from the case"
            yield f"`input`, the question, of {', '.join(unread)}: {told}"

    def _question(self, source: ExportSource) -> str:
        """Return the question of a case as the release reads it; empty if it would read another one."""
        text = source.question
        if not isinstance(text, str) or (not self.is_template and _VARIABLE.search(text)):
            return ""
        return str(escape(text)) if self.is_template and not source.is_template else text

    def _test(self, case: Case, suite: Carried | None) -> dict[str, Any]:
        assertions = case.nested(lambda member: self._assertion(case, member))
        written = {"id": case.name, **case.carried.fields}
        if case.members and not case.members[0].source.place:
            question = self._question(case.members[0].source)
            written |= {"vars": {"input": question}} if self.is_template else {"input": question}
        execution = {} if self.is_template or not case.members else _threshold(case.members[0].rubric)
        of_suite = suite.fields.get("execution", {}).get("threshold") if suite else None
        if execution and str(execution["threshold"]) != str(of_suite):
            written["execution"] = {**execution, **written.get("execution", {})}
        return {**written, **({self.assertions: assertions} if assertions else {})}

    def _assertion(self, case: Case, member: Member) -> dict[str, Any]:
        source, rubric = member.source, member.rubric
        extras = source.extras(find_holder(rubric), self.name)
        if member.label and self.label not in extras:
            extras = {self.label: member.label, **extras}
        criteria = [
            {**dict(_criterion(each)), **source.extras(_place(rubric, each.path), self.name)}
            for each in rubric.criteria
        ]
        if self.is_template:
            extras = split_gate(extras)
            criteria = escape(criteria)
            extras = extras if source.is_template else escape(extras)
        return {"type": self.kind, **member.weight_beside(case, extras), **extras, self.criteria: criteria}

    def _refuse_variables(self, member: Member) -> None:
        """Refuse a string in which AgentV 4 would insert an environment variable: it has no escape for that."""
        for path, text in [] if self.is_template else _texts(member.rubric):
            if found := _VARIABLE.search(text):
                message = f"{self.title} inserts an environment variable for `{found[0]}`; reword the text"
                raise ExportError(member.name, path, message)


_PROMPTS = ["{{ input }}"]
_SHAPES = (Shape.CHECKLIST, Shape.SCORE_RANGES)
_VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")


def _place(rubric: Rubric, path: Path) -> Path:
    return rubric.view.place(path) if rubric.view else path


def _texts(rubric: Rubric) -> Iterator[tuple[Path, str]]:
    for criterion in rubric.criteria:
        yield criterion.path, criterion.id
        yield criterion.path, criterion.outcome or ""
        for band in criterion.scale.bands if criterion.scale else ():
            yield band.path, band.outcome or ""


def _lost_thresholds(case: Case) -> Iterator[Loss]:
    """Find the thresholds that are lost: a test has one, so rubrics of the case with another one lose it."""
    first = case.members[0].rubric.thresholds.pass_at if case.members else None
    for member in case.members[1:]:
        if (own := member.rubric.thresholds.pass_at) != first:
            yield Loss(member.name, member.rubric.path, f"the threshold {own}: the test has only one, {first}")


def _criterion(criterion: Criterion) -> Iterator[tuple[str, Any]]:
    yield "id", criterion.id
    if criterion.outcome is not None:
        yield "outcome", criterion.outcome
    if criterion.weight is not None:
        yield "weight", as_number(criterion.weight)
    # Nothing can miss a gate of 0, and AgentV requires `min_score` to be above 0.
    if criterion.scale is None:
        yield "required", bool(criterion.gate)
    else:
        if criterion.gate:
            yield "min_score", as_number(Decimal(criterion.gate) / HIGHEST)
        bands = criterion.scale.bands
        yield "score_ranges", [{"score_range": list(bounds(band)), "outcome": band.outcome} for band in bands]


def _threshold(rubric: Rubric) -> dict[str, Any]:
    pass_at = rubric.thresholds.pass_at
    return {} if pass_at == USUAL_THRESHOLDS.pass_at else {"threshold": as_number(pass_at)}


_4 = _Release("agentv-4", "AgentV 4", "assertions", "rubrics", "criteria", "name", is_template=False)
_5 = _Release("agentv-5", "AgentV 5", "assert", "llm-rubric", "value", "metric", is_template=True)
AGENTV_4 = ExportTarget(_4.title, "tests for AgentV 4.x, as YAML", _4.write, has_cases=True, shapes=_SHAPES)
AGENTV_5 = ExportTarget(_5.title, "tests for AgentV 5.1 and later, as YAML", _5.write, has_cases=True, shapes=_SHAPES)
