"""Find the places in a rubric that a test is about: gates, bands, levels, criteria."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.finding import Place, Problem
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.scoring.grading import AnswerValue
from rubric_lint.scoring.loading import Loaded
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span


class Spot(NamedTuple):
    """A part of a rubric: its path in the words of version 2, and which part of the value there."""

    path: Path
    part: Part = Part.VALUE


class RubricPlaces:
    """The places of one rubric."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.rubric = loaded.rubric
        self._criteria = {criterion.id: criterion for criterion in self.rubric.criteria}

    @property
    def whole(self) -> Spot:
        """The place of the rubric: its field."""
        return Spot(self.rubric.path, Part.KEY)

    def criterion(self, name: str) -> Spot:
        """Return the place of a criterion; of the one scale for a holistic rubric."""
        criterion = self._criteria.get(name)
        return Spot(criterion.path, Part.HEAD) if criterion else self.whole

    def field(self, name: str, field: str) -> Spot:
        """Return the place of a field of a criterion, or of the criterion if it is not written."""
        criterion = self._criteria[name]
        path = criterion.path_of(field)
        return self.criterion(name) if path == criterion.path else Spot(path)

    def gate(self, name: str) -> Spot:
        """Return the place of the gate of a criterion, or of the criterion if the gate is not written."""
        criterion = self._criteria[name]
        field = str(criterion.gate_path[-1])
        return self.field(name, field)

    def answer(self, name: str, answer: AnswerValue) -> Spot:
        """Return the place of the band, the level or the outcome that an answer earns."""
        criterion = self._criteria.get(name)
        scale = criterion.scale if criterion else next(iter(self.rubric.scales), None)
        if scale and not isinstance(answer, bool):
            for band in scale.bands:
                if answer in band.scores:
                    return Spot(band.path, band.part)
        for level in (criterion.levels if criterion else None) or ():
            if level.number == answer:
                return Spot(level.number_path, level.part)
        return self.criterion(name)

    def span(self, spot: Spot) -> Span:
        """Return the span of a place in the file of the rubric; the part around it if it is not written."""
        problem = self.problem(spot)
        path, document = problem.path, self.loaded.document
        while path:
            try:
                return document.span(path, problem.part)
            except (KeyError, IndexError, TypeError):
                path = path[:-1]
        return document.span(path, Part.HEAD)

    def related(self, message: str, spot: Spot) -> Place:
        """Return a related place for a problem in another file."""
        return Place(message, (), span=self.span(spot), source=self.loaded.document.source)

    def problem(self, spot: Spot, code: str = "", values: Mapping[str, object] = MappingProxyType({})) -> Problem:
        """Return a problem at a place, with its path in the document."""
        problem = Problem(code, *spot, values)
        return self.rubric.view.translate(problem) if self.rubric.view else problem

    def list_criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria; none for a holistic rubric."""
        return () if self.rubric.shape is Shape.HOLISTIC else self.rubric.criteria
