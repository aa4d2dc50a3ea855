"""Rubrics as version 2 of our own format, whatever they were written in."""

from collections.abc import Iterator

from rubric_lint.catalogue import CURRENT, catalogue
from rubric_lint.interop.export.entries import as_entries
from rubric_lint.interop.export.target import Export, Loss, Rubrics, Target, task_of
from rubric_lint.interop.export.texts import to_yaml
from rubric_lint.rubric import Rubric
from rubric_lint.wording import shorten


def write(rubrics: Rubrics) -> Export:
    """A rubric file, or for several rubrics a suite with a case each."""
    losses = tuple(loss for name, rubric in rubrics.items() for loss in _lost(name, rubric))
    if len(rubrics) == 1:
        (rubric,) = rubrics.values()
        return Export(_modeline("rubric") + to_yaml({"rubrics": as_entries(rubric)}), losses)
    cases = [{"id": name, "rubrics": as_entries(rubric)} for name, rubric in rubrics.items()]
    return Export(_modeline("suite") + to_yaml({"tests": cases}), losses)


def _lost(name: str, rubric: Rubric) -> Iterator[Loss]:
    """What stands beside a rubric of another system; for ours the settings go on to hold."""
    if task := task_of(rubric):
        yield Loss(name, rubric.path, f'what is judged as a whole, "{shorten(task)}": a rubric has no field for it')
    if rubric.view and rubric.view.threshold is not None:
        pass_at = rubric.view.threshold
        yield Loss(name, rubric.path, f"the threshold {pass_at}, which is no part of a rubric: set `pass = {pass_at}`")


def _modeline(name: str) -> str:
    entry = next(entry for entry in catalogue() if entry[:2] == (name, CURRENT))
    return f"# yaml-language-server: $schema={entry.bundled_id}\n"


TARGET = Target("rubric-lint", "version 2 of this format, as YAML", write)
