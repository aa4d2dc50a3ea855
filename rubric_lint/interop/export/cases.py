"""Rubrics by the case that they belong to: what was one case stays one."""

from collections.abc import Iterator
from typing import NamedTuple

from rubric_lint.interop.export.target import Rubrics, Source, Sources
from rubric_lint.rubric import Rubric


class Member(NamedTuple):
    """A rubric of a case: its full name, what it is called within the case, and where it comes from."""

    name: str
    label: str
    rubric: Rubric
    source: Source


class Case(NamedTuple):
    """A case, and the rubrics that judge it."""

    name: str
    members: tuple[Member, ...]


def group_cases(rubrics: Rubrics, sources: Sources) -> Iterator[Case]:
    """Put the rubrics of one case together, in the order of the file; a rubric of no case is a case of its own."""
    cases: dict[str, list[Member]] = {}
    for name, rubric in rubrics.items():
        source = sources.get(name, Source())
        cases.setdefault(source.case or name, []).append(Member(name, source.label, rubric, source))
    for called, members in cases.items():
        yield Case(called if len(members) > 1 else members[0].name, tuple(members))
