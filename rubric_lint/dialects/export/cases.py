"""Group rubrics by case, so that each case stays one test."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.dialects.export.carrying import Carried, CarriedCase
from rubric_lint.dialects.export.entries import as_number
from rubric_lint.dialects.export.suite import ASSERTION_LISTS
from rubric_lint.dialects.export.target import ExportSource, Rubrics, Sources
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.path import Path


class Member(NamedTuple):
    """A rubric of a case: its full name, its name within the case, and its source."""

    name: str
    label: str
    rubric: Rubric
    source: ExportSource

    @property
    def path(self) -> Path:
        """The place in the document of its first criterion."""
        view = self.rubric.view
        return view.place(self.rubric.entries[0].path) if view and self.rubric.entries else self.rubric.path

    def weight_beside(self, case: "Case", extras: Mapping[str, Any]) -> dict[str, Any]:
        """Return the weight of several texts beside other assertions: together they count as each does by itself."""
        is_joined = self.rubric.view is not None and bool(self.rubric.view.around)
        total = sum((criterion.weight or Decimal(0) for criterion in self.rubric.criteria), Decimal(0))
        if not is_joined or "weight" in extras or total == 1 or len(case.members) + len(case.carried.checks) == 1:
            return {}
        return {"weight": as_number(total)}


class Case(NamedTuple):
    """A case, its rubrics, and what else it says in the words of the target."""

    name: str
    members: tuple[Member, ...]
    carried: CarriedCase = CarriedCase("", {})
    start: int = 0

    def assertions(self) -> list[Member | Any]:
        """Return the rubrics and the other assertions in the order in which they are written."""
        return [content for _, content in self._parts()]

    def nested(self, write: Callable[[Member], Any]) -> list[Any]:
        """Return the assertions as `assertions`, with rubrics as `write` makes them, within the sets that hold them."""
        return self._within((), write)

    def is_in_set(self, member: Member) -> bool:
        """Return whether a set of assertions holds a rubric and is written."""
        return bool(self._holder(member.path))

    def _within(self, holder: Path, write: Callable[[Member], Any]) -> list[Any]:
        made = [
            (order_of(path[self.start :]), write(content) if isinstance(content, Member) else content)
            for path, content in self._parts()
            if self._holder(path) == holder
        ]
        for part in self.carried.sets:
            if self._holder(part.path) == holder:
                name = next(name for name in ASSERTION_LISTS if name in part.value)
                made.append((order_of(part.path[self.start :]), {**part.value, name: self._within(part.path, write)}))
        return [each for _, each in sorted(made, key=lambda part: part[0])]

    def _parts(self) -> list[tuple[Path, Member | Any]]:
        parts: list[tuple[Path, Member | Any]] = [(member.path, member) for member in self.members]
        parts += [(part.path, part.value) for part in self.carried.checks]
        return sorted(parts, key=lambda part: order_of(part[0][self.start :]))

    def _holder(self, path: Path) -> Path:
        """Return the path of the innermost set that holds an assertion; empty if none does."""
        holders = [part.path for part in self.carried.sets if len(part.path) < len(path)]
        return max((each for each in holders if path[: len(each)] == each), key=len, default=())


def order_of(path: Path) -> Path:
    """Return the indexes of an assertion, whose path begins in its case; -1 for the case's own rubrics."""
    if path and path[0] not in {*ASSERTION_LISTS, "execution"} and not isinstance(path[0], int):
        return (-1,)
    return tuple(step for step in path if isinstance(step, int)) or (-1,)


def group_cases(rubrics: Rubrics, sources: Sources, suite: Carried | None = None) -> Iterator[Case]:
    """Group rubrics by case, in the order of the file; a rubric without a case gets its own.

    With a suite, its cases without rubrics are among them.
    """
    carried = suite.cases if suite else {}
    groups: dict[Any, list[Member]] = {key: [] for key in carried}
    for name, rubric in rubrics.items():
        source = sources.get(name, ExportSource())
        key = source.place if source.place in carried else source.case or name
        groups.setdefault(key, []).append(Member(name, source.label, rubric, source))
    for key, members in groups.items():
        own = carried.get(key)
        called = own.name if own else key if len(members) > 1 else members[0].name
        yield Case(called, tuple(members), own or CarriedCase(called, {}), len(key[1]) if own else 0)
