"""Prepare the rubrics of a document for scoring, and find where the answers to their criteria are written."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.finding import Severity
from rubric_lint.format.bands import Band, read_key
from rubric_lint.format.criterion import Criterion, Level, Shape
from rubric_lint.lsp.server.analysis import Analysis, Located
from rubric_lint.scoring.grading import Grade, Prospect, Prospects, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.loading import Loaded, RubricError
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span


class Answered(NamedTuple):
    """An answer to a criterion that the document names: its grade, and what it leaves open."""

    grade: Grade
    prospect: Prospect

    @property
    def certainty(self) -> str:
        """What is certain about the verdict, whatever the other criteria get; empty if nothing is."""
        worst, best = self.prospect.worst, self.prospect.best
        if not self.grade.gate_met:
            return f"{Verdict.FAIL} (gate missed)"
        if self.prospect.is_certain:
            return str(best)
        if best is Verdict.BORDERLINE:
            return f"cannot {Verdict.PASS}"
        return f"cannot {Verdict.FAIL}" if worst is Verdict.BORDERLINE else ""


@dataclass(frozen=True, slots=True)
class Step:
    """A band or a level where it is written: its place and the answers in it.

    `low` and `high` are the first and the last of them. With `is_short`, it is a key of the short form, which leaves
    out the last.
    """

    place: Path
    part: Part
    answers: tuple[Answered, ...]
    is_short: bool

    @property
    def low(self) -> int:
        """The first answer."""
        return int(self.answers[0].grade.answer)

    @property
    def high(self) -> int:
        """The last answer."""
        return int(self.answers[-1].grade.answer)


@dataclass(frozen=True)
class Scored:
    """A criterion that can be scored, and what is written of it; `number` is its index in the rubric.

    `criterion` is None for the one scale of a holistic rubric.
    """

    located: Located
    rubric: ScoringRubric
    scoring: ScoringCriterion
    criterion: Criterion | None
    number: int
    prospects: Prospects

    @cached_property
    def answers(self) -> dict[int | bool, Answered]:
        """Each answer, with what it leaves open."""
        grades = self.scoring.grades
        return {grade.answer: Answered(grade, self.prospects.find(self.number, grade)) for grade in grades}

    @cached_property
    def extent(self) -> Span:
        """The place of the criterion: where it is listed, or else the whole rubric."""
        document, rubric = self.located
        found = self.located.find_written(self.criterion.path) if self.criterion else None
        return document.extent(found[0] if found and found[0] else rubric.path)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The bands or levels that the document has as such, in its units."""
        if self.criterion is not None and self.criterion.levels is not None:
            found = (self._read_level(level) for level in self.criterion.levels)
        else:
            scale = self.located.rubric.scales[0] if self.criterion is None else self.criterion.scale
            found = (self._read_band(band) for band in (scale.bands if scale else ()))
        return tuple(step for step in found if step)

    @property
    def has_all_steps(self) -> bool:
        """Whether the document has each answer in its bands or levels."""
        return sum(len(step.answers) for step in self.steps) == len(self.answers)

    def find_place(self, field: str) -> Path | None:
        """Return the place of a field of the criterion, if it is written there itself and not merged in."""
        criterion = self.criterion
        if criterion is None or criterion.fields is None or field not in criterion.fields:
            return None
        found = self.located.find_written((*criterion.path, field))
        return None if found is None or self.located.document.is_merged(found[0]) else found[0]

    @property
    def head(self) -> Span | None:
        """The start of the criterion, where it is listed."""
        found = self.criterion and self.located.find_written(self.criterion.path)
        return self.located.document.span(found[0], Part.ENTRY) if found else None

    def _read_band(self, band: Band) -> Step | None:
        if not band.is_sound:
            return None
        written = band.lower if band.part is Part.KEY else [band.lower, band.upper]
        return self._make(band.path, band.part, written, band.scores)

    def _read_level(self, level: Level) -> Step | None:
        if level.number is None:
            return None
        return self._make(level.number_path, level.part, level.number, [level.number])

    def _make(self, path: Path, part: Part, written: Any, answers: Iterable[int]) -> Step | None:
        """Return the step at a path, if the document has there exactly what is read."""
        if (found := self.located.find_written(path)) is None:
            return None
        place, is_key = found
        part = Part.KEY if is_key else part
        held = read_key(str(place[-1])) if part is Part.KEY else self.located.document.value(place)
        known = tuple(self.answers[each] for each in answers if each in self.answers)
        return Step(place, part, known, part is Part.KEY) if known and held == written else None


def is_sound(analysis: Analysis, located: Located) -> bool:
    """Return whether a rubric has no errors and its system can be scored; only odd weights can still prevent that."""
    document, rubric = located
    if rubric.view and rubric.view.unscorable:
        return False
    extent = document.span(rubric.path)  # of an alias, that of the definition, where the findings are
    findings = analysis.result.findings if analysis.result else ()
    if any(each.severity is Severity.ERROR and extent.start <= each.span.start < extent.end for each in findings):
        return False
    return rubric.schema.is_valid(document.value(rubric.path))


def score_criteria(analysis: Analysis, located: Located) -> Iterator[Scored]:
    """Yield the criteria of a rubric, prepared as for rubric-score; none if it has errors or cannot be scored."""
    document, rubric = located
    if not is_sound(analysis, located):
        return
    with suppress(RubricError):
        scoring = Loaded("", rubric, document).prepare()
        prospects = Prospects(scoring)
        models = [None] if rubric.shape is Shape.HOLISTIC else rubric.criteria
        for number, (criterion, model) in enumerate(zip(scoring.criteria, models, strict=True)):
            yield Scored(located, scoring, criterion, model, number, prospects)
