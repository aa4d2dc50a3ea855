"""Write rubrics of any dialect as version 2 of our format."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.export.carrying import Carried
from rubric_lint.dialects.export.cases import Case, Member, group_cases
from rubric_lint.dialects.export.entries import as_entries
from rubric_lint.dialects.export.fields import find_holder
from rubric_lint.dialects.export.target import (
    NOWHERE,
    Export,
    ExportSource,
    ExportTarget,
    Loss,
    Rubrics,
    Sources,
    lost_name,
    lost_threshold,
)
from rubric_lint.dialects.export.texts import to_yaml
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema_files import newest


def write(rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
    """Write a rubric file, or for several rubrics or a suite a suite with its cases."""
    losses = tuple(loss for name, rubric in rubrics.items() for loss in lost_threshold(name, rubric))
    if len(rubrics) == 1 and suite is None:
        ((name, rubric),) = rubrics.items()
        losses += (*lost_name(name, rubric), *_lost_beside(name, rubric, sources.get(name, ExportSource())))
        return Export(_modeline("rubric") + to_yaml({"rubrics": as_entries(rubric)}), losses)
    cases = [dict(_case(case)) for case in group_cases(rubrics, sources, suite)]
    return Export(_modeline("suite") + to_yaml({**(suite.fields if suite else {}), "tests": cases}), losses)


def _case(case: Case) -> Iterator[tuple[str, Any]]:
    """Write a case: its own rubric, and an evaluator for each further one and for each other assertion.

    A rubric beside which an evaluator has a name or a weight stays in one.
    """
    yield "id", case.name
    yield from ((name, value) for name, value in case.carried.fields.items() if name != "id")
    plain = [each for each in case.members if not _beside(each.rubric, each.source)]
    own = next((each for each in plain if len(case.members) == 1 or not each.label), None)
    if own:
        yield "rubrics", as_entries(own.rubric)
    if others := [each for each in case.assertions() if each is not own]:
        yield "evaluators", [_evaluator(each) if isinstance(each, Member) else each for each in others]


def _evaluator(member: Member) -> dict[str, Any]:
    named = {"name": member.label} if member.label else {}
    return {**named, **_beside(member.rubric, member.source), "rubrics": as_entries(member.rubric)}


def _beside(rubric: Rubric, source: ExportSource) -> dict[str, Any]:
    """Return the fields of the evaluator that holds a rubric."""
    return source.extras(find_holder(rubric), _NAME)


def _lost_beside(name: str, rubric: Rubric, source: ExportSource) -> Iterator[Loss]:
    """Find the fields that an evaluator has and a rubric file has not."""
    holder = find_holder(rubric)
    for field in source.fields:
        if field.path[:-1] == holder and field.name_in(_NAME):
            yield Loss(name, field.path, f"`{field.path[-1]}` of an evaluator: a rubric file has no field for it")


_NAME = "rubric"


def _modeline(name: str) -> str:
    return f"# yaml-language-server: $schema={newest(name).bundled_id}\n"


TARGET = ExportTarget("rubric-lint", "version 2 of this format, as YAML", write, has_cases=True)
