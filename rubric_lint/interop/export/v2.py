"""Rubrics as version 2 of our own format, whatever they were written in."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.catalogue import CURRENT, catalogue
from rubric_lint.interop.export.cases import Case, group_cases
from rubric_lint.interop.export.entries import as_entries
from rubric_lint.interop.export.fields import find_holder
from rubric_lint.interop.export.target import NOWHERE, Export, Loss, Rubrics, Sources, Target
from rubric_lint.interop.export.texts import to_yaml
from rubric_lint.rubric import Rubric


def write(rubrics: Rubrics, sources: Sources = NOWHERE) -> Export:
    """A rubric file, or for several rubrics a suite with its cases."""
    losses = tuple(loss for name, rubric in rubrics.items() for loss in _lost(name, rubric))
    if len(rubrics) == 1:
        ((name, rubric),) = rubrics.items()
        losses += tuple(_lost_name(name, rubric))
        return Export(_modeline("rubric") + to_yaml({"rubrics": as_entries(rubric)}), losses)
    cases = [dict(_case(case)) for case in group_cases(rubrics, sources)]
    return Export(_modeline("suite") + to_yaml({"tests": cases}), losses)


def _case(case: Case) -> Iterator[tuple[str, Any]]:
    """A case with its own rubric, and an evaluator for each that it has besides."""
    yield "id", case.name
    own = [member for member in case.members if len(case.members) == 1 or not member.label]
    if own:
        yield "rubrics", as_entries(own[0].rubric)
    if others := [member for member in case.members if member not in own]:
        yield "evaluators", [{"name": member.label, "rubrics": as_entries(member.rubric)} for member in others]


def _lost_name(name: str, rubric: Rubric) -> Iterator[Loss]:
    """The name that the key of a metric gives its rubric; a field that gives it is looked for by itself."""
    holder = find_holder(rubric)
    if rubric.view and holder and str(holder[-1]).endswith(f":{rubric.view.name}"):
        yield Loss(
            name,
            holder,
            f"the name `{rubric.view.name}`: a rubric file has no field for it",
        )


def _lost(name: str, rubric: Rubric) -> Iterator[Loss]:
    """The name and the threshold beside a rubric of another system; for ours the settings go on to hold."""
    if rubric.view and rubric.view.threshold is not None:
        pass_at = rubric.view.threshold
        place = (*(find_holder(rubric) or rubric.path), "threshold")
        yield Loss(name, place, f"the threshold {pass_at}, which is not part of a rubric: set `pass = {pass_at}`")


def _modeline(name: str) -> str:
    entry = next(entry for entry in catalogue() if entry[:2] == (name, CURRENT))
    return f"# yaml-language-server: $schema={entry.bundled_id}\n"


TARGET = Target("rubric-lint", "version 2 of this format, as YAML", write)
