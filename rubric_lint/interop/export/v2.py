"""Rubrics as version 2 of our own format, whatever they were written in."""

from rubric_lint.catalogue import CURRENT, catalogue
from rubric_lint.interop.export.entries import as_entries
from rubric_lint.interop.export.target import Export, Rubrics, Target
from rubric_lint.interop.export.texts import to_yaml


def write(rubrics: Rubrics) -> Export:
    """A rubric file, or for several rubrics a suite with a case each."""
    if len(rubrics) == 1:
        (rubric,) = rubrics.values()
        return Export(_modeline("rubric") + to_yaml({"rubrics": as_entries(rubric)}))
    cases = [{"id": name, "rubrics": as_entries(rubric)} for name, rubric in rubrics.items()]
    return Export(_modeline("suite") + to_yaml({"tests": cases}))


def _modeline(name: str) -> str:
    entry = next(entry for entry in catalogue() if entry[:2] == (name, CURRENT))
    return f"# yaml-language-server: $schema={entry.bundled_id}\n"


TARGET = Target("rubric-lint", "version 2 of this format, as YAML", write)
