"""Group rubrics by case, so that each case stays one test."""

from collections.abc import Iterator
from typing import NamedTuple

from rubric_lint.dialects.export.target import ExportSource, Rubrics, Sources
from rubric_lint.format.rubric import Rubric


class Member(NamedTuple):
    """A rubric of a case: its full name, its name within the case, and its source."""

    name: str
    label: str
    rubric: Rubric
    source: ExportSource


class Case(NamedTuple):
    """A case and its rubrics."""

    name: str
    members: tuple[Member, ...]


def group_cases(rubrics: Rubrics, sources: Sources) -> Iterator[Case]:
    """Group rubrics by case, in the order of the file; a rubric without a case gets its own."""
    cases: dict[str, list[Member]] = {}
    for name, rubric in rubrics.items():
        source = sources.get(name, ExportSource())
        cases.setdefault(source.case or name, []).append(Member(name, source.label, rubric, source))
    for called, members in cases.items():
        yield Case(called if len(members) > 1 else members[0].name, tuple(members))
