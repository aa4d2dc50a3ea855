"""Say what rubric-score makes of a rubric: shares, gates, and what each answer does to score and verdict."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

from lsprotocol import types

from rubric_lint.editor.answers.cards import escape, table
from rubric_lint.editor.server.analysis import Analysis, LocatedRubric
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.workspace import EditorOptions
from rubric_lint.model.criterion import Criterion, Mark, Shape, read_key
from rubric_lint.model.finding import Severity
from rubric_lint.model.messages import list_scores, percent, pluralize
from rubric_lint.model.rubric import Rubric
from rubric_lint.scoring.grading import Grade, Prospect, Prospects, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.loading import LoadedRubric, RubricError
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Span


@dataclass(frozen=True, slots=True)
class AnswerEffect:
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
class ScoredStep:
    """A band or a level where it is written: its place and the answers in it, from `low` to `high`.

    With `is_short`, it is a key of the short form, which leaves out the last.
    """

    place: Path
    part: Part
    answers: tuple[AnswerEffect, ...]
    low: int
    high: int
    is_short: bool


@dataclass(frozen=True)
class ScoredCriterion:
    """A criterion that can be scored, and what is written of it; `number` is its index in the rubric.

    `criterion` is None for the one scale of a holistic rubric.
    """

    located: LocatedRubric
    rubric: ScoringRubric
    scoring: ScoringCriterion
    criterion: Criterion | None
    number: int
    prospects: Prospects

    @cached_property
    def answers(self) -> dict[int | bool, AnswerEffect]:
        """Each answer, with what it leaves open."""
        grades = self.scoring.grades
        return {grade.answer: AnswerEffect(grade, self.prospects.find(self.number, grade)) for grade in grades}

    @cached_property
    def place(self) -> Path | None:
        """The path of the criterion where it is listed; None of the one scale of a holistic rubric."""
        found = self.criterion and self.located.rubric.find_written(self.criterion.path)
        return found[0] if found else None

    @cached_property
    def steps(self) -> tuple[ScoredStep, ...]:
        """The bands or levels that the document has as such, in its units."""
        found: list[ScoredStep | None] = []
        if self.criterion is not None and self.criterion.levels is not None:
            for level in self.criterion.levels:
                number = level.number
                if number is not None:
                    found.append(self._make_step(level.number_path, level.part, number, [number]))
            return tuple(filter(None, found))
        scale = self.located.rubric.scales[0] if self.criterion is None else self.criterion.scale
        if scale:
            for band in scale.bands:
                if band.is_sound:
                    written = band.lower if band.part is Part.KEY else [band.lower, band.upper]
                    found.append(self._make_step(band.path, band.part, written, band.scores))
        return tuple(filter(None, found))

    def find_place(self, field: str) -> Path | None:
        """Return the place of a field of the criterion, if it is written there itself and not merged in."""
        criterion = self.criterion
        if criterion is None or criterion.fields is None or field not in criterion.fields:
            return None
        found = self.located.rubric.find_written((*criterion.path, field))
        return None if found is None or self.located.document.is_merged(found[0]) else found[0]

    def _make_step(self, path: Path, part: Part, written: Any, answers: Iterable[int]) -> ScoredStep | None:
        """Return the step at a path, if the document has there exactly what is read."""
        found = self.located.rubric.find_written(path)
        if found is None:
            return None
        place, is_key = found
        part = Part.KEY if is_key else part
        written_there = read_key(str(place[-1])) if part is Part.KEY else self.located.document.value(place)
        known = tuple(self.answers[answer] for answer in answers if answer in self.answers)
        if not known or written_there != written:
            return None
        low, high = known[0].grade.answer, known[-1].grade.answer
        return ScoredStep(place, part, known, low, high, is_short=part is Part.KEY)


def is_sound(analysis: Analysis, located: LocatedRubric) -> bool:
    """Return whether a rubric has no errors and its system can be scored; only odd weights can still prevent that."""
    document, rubric = located
    if rubric.refusal:
        return False
    extent = document.span(rubric.path)  # of an alias, that of the definition, where the findings are
    findings = analysis.result.findings if analysis.result else ()
    if any(
        finding.severity is Severity.ERROR and extent.start <= finding.span.start < extent.end for finding in findings
    ):
        return False
    return rubric.schema.is_valid(rubric.read_value(document))


def score_criteria(analysis: Analysis, located: LocatedRubric) -> Iterator[ScoredCriterion]:
    """Yield the criteria of a rubric, prepared as for rubric-score; none if it has errors or cannot be scored."""
    document, rubric = located
    if not is_sound(analysis, located):
        return
    with suppress(RubricError):
        scoring = LoadedRubric("", rubric, document).prepare()
        prospects = Prospects(scoring)
        models = [None] if rubric.shape is Shape.HOLISTIC else rubric.criteria
        for number, (criterion, model) in enumerate(zip(scoring.criteria, models, strict=True)):
            yield ScoredCriterion(located, scoring, criterion, model, number, prospects)


_GATES = ("required_min_score", "required_min_level", "required")
_OPEN = "depends on the other criteria"


def describe_effects(analysis: Analysis, located: LocatedRubric, path: Path) -> Iterator[tuple[Span, str]]:
    """Yield the card of each use of the band, level, weight or gate at a path, and its place."""
    document = located.document
    for scored in score_criteria(analysis, located):
        place = scored.place or ()
        if path[: len(place)] != place and not document.may_borrow:
            continue  # what its answers leave open takes long to find
        for step in scored.steps:
            if path[: len(step.place)] == step.place:
                yield document.span(step.place, step.part), _format_step(scored, step)
            elif path == step.place[:-1] and document.is_alias(path):
                yield document.span(path, Part.ENTRY), _format_step(scored, step)
        if path == scored.find_place("weight"):
            yield _whole(document, path), _format_weight(scored)
        if scored.scoring.gate is not None and path in map(scored.find_place, _GATES):
            yield _whole(document, path), _format_gate(scored)


def _whole(document: Document, path: Path) -> Span:
    return Span(document.span(path, Part.KEY).start, document.extent(path).end)


def _format_step(scored: ScoredCriterion, step: ScoredStep) -> str:
    """Write a row for each answer of a band or level."""
    noun = _name_unit(scored)
    is_alone = len(scored.rubric.criteria) == 1
    # What an answer adds may depend on the others, and is no score of the rubric's own scale.
    has_points = not (scored.rubric.varies or scored.rubric.units)
    title = f"{noun.title()} {step.low}" if step.low == step.high else f"{noun.title()}s {step.low} to {step.high}"
    columns: dict[str, list[str]] = {noun: [], "adds": [], "leaves at most": [], "verdict": []}
    for answer in _choose_rows(step.answers):
        columns[noun].append(_format_answer(answer))
        columns["adds"].append(scored.rubric.write_score(answer.grade.score * scored.scoring.share))
        columns["leaves at most"].append(scored.rubric.write_score(answer.prospect.score))
        columns["verdict"].append(answer.certainty or _OPEN)
    if not has_points:
        del columns["adds"]
    if is_alone:
        del columns["leaves at most"]
    cells = table(tuple(columns), zip(*columns.values(), strict=True), {"adds", "leaves at most"})
    return "\n\n".join([f"**{title}**{_format_owner(scored)}", cells, _format_thresholds(scored)])


_MOST_ROWS = 11
"""The most answers of a band that have a row each."""


def _choose_rows(answers: Sequence[AnswerEffect]) -> Sequence[AnswerEffect]:
    """Return the answers to show: of more than a few those at which the verdict changes, and the ends."""
    if len(answers) <= _MOST_ROWS:
        return answers
    ends = {0, len(answers) - 1}
    for at, (one, other) in enumerate(pairwise(answers)):
        if one.certainty != other.certainty:
            ends |= {at, at + 1}
    return [answers[at] for at in sorted(ends)]


def _format_weight(scored: ScoredCriterion) -> str:
    """Say what a criterion is worth, and what its worst answer does."""
    worst = min(scored.answers.values(), key=lambda answer: answer.grade.score * scored.scoring.share)
    left = "at most " if len(scored.rubric.criteria) > 1 else ""
    verdict = f"is {worst.certainty}" if worst.certainty else _OPEN
    verdict = verdict.replace("is cannot ", "cannot be ", 1)
    share = f"{percent(scored.scoring.share)} of the score"
    if any(criterion.may_not_apply for criterion in scored.rubric.criteria):
        share += " if every criterion applies"
    score = scored.rubric.write_score(worst.prospect.score)
    return (
        f"**{escape(scored.scoring.id)}**: {share}. Its worst answer "
        f"({_format_answer(worst)}) leaves {left}{score}, and the verdict {verdict}.\n\n"
        f"{_format_thresholds(scored)}"
    )


def _format_gate(scored: ScoredCriterion) -> str:
    """Say which answers miss the gate of a criterion, and what follows."""
    missed = [answer for answer in scored.answers.values() if not answer.grade.gate_met]
    effect = "the verdict is fail"
    if len(scored.rubric.criteria) > 1:
        effect += ", whatever the other criteria get"
    if not missed:
        result = "no answer misses it"
    elif len(missed) == len(scored.answers):
        result = f"every answer misses it, so {effect}"
    elif scored.scoring.shape is Shape.CHECKLIST:
        result = f"if it is {_format_answer(missed[0])}, {effect}"
    elif sum(len(step.answers) for step in scored.steps) < len(scored.answers):
        result = f"if an answer misses it, {effect}"  # the document may count in other units
    else:
        answers = list_scores(answer.grade.answer for answer in missed)
        unit, miss = pluralize(len(missed), _name_unit(scored)), pluralize(len(missed), "misses", "miss")
        result = f"{unit} {answers} {miss} it, so {effect}"
    return f"**Gate**{_format_owner(scored)}: {result}."


def _name_unit(scored: ScoredCriterion) -> str:
    return "level" if scored.scoring.shape is Shape.LEVELS else "score"


def _format_answer(answered: AnswerEffect) -> str:
    answer = answered.grade.answer
    if isinstance(answer, bool):
        return "met" if answer else "not met"
    return str(answer)


def _format_owner(scored: ScoredCriterion) -> str:
    """Name the criterion, unless it is the one scale of a holistic rubric."""
    return f" of {escape(scored.scoring.id)}" if scored.criterion else ""


def _format_thresholds(scored: ScoredCriterion) -> str:
    passes, borderline = (_format_mark(scored.rubric.model, mark) for mark in scored.rubric.model.thresholds)
    return f"Pass from {passes}." if passes == borderline else f"Pass from {passes}, borderline from {borderline}."


def _format_mark(rubric: Rubric, mark: Mark) -> str:
    if rubric.view:
        return rubric.view.format_mark(mark)
    return f"{mark.normalize():f}" if isinstance(mark, Decimal) else str(mark)


@dataclass(frozen=True, slots=True)
class _HintPart:
    """A part of a hint at an offset, perhaps empty; with `is_before`, what it is about follows."""

    at: int
    text: str
    is_before: bool = False


def make_hints(analysis: Analysis, within: Span, options: EditorOptions) -> list[types.InlayHint]:
    """Return the hints in a part of the text. What two uses of one anchor would say differently is left out."""
    text = analysis.state.text
    found: dict[tuple[int, bool], list[list[str]]] = {}
    for located in analysis.rubrics:
        document, rubric = located
        if not document.may_borrow and not _meets(document.span(rubric.path), within):
            continue  # with anchors, its parts may be written elsewhere
        for scored in score_criteria(analysis, located):
            if not document.may_borrow and not _meets(document.extent(scored.place or rubric.path), within):
                continue
            parts = sorted(_find_parts(scored, options), key=lambda part: part.at)
            for (at, is_before), here in groupby(parts, lambda part: (part.at, part.is_before)):
                if within.start <= at <= within.end:
                    found.setdefault((at, is_before), []).append([part.text for part in here])
    hints = []
    for (at, is_before), uses in sorted(found.items()):
        if len({len(parts) for parts in uses}) > 1:
            continue
        # What all criteria that share the place say alike.
        agreed = [parts[0] for parts in zip(*uses, strict=True) if len(set(parts)) == 1]
        label = "; ".join(filter(None, agreed))
        if label:
            position = text.range(Span(at, at)).start
            hint = types.InlayHint(position, label, padding_left=not is_before, padding_right=is_before)
            hint.tooltip = _TOOLTIP
            hints.append(hint)
    return hints


async def answer_hints(documents: OpenDocuments, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Return the hints in a range, if the editor's settings ask for some."""
    options = await documents.options_for(params.text_document.uri)
    if not (options.share_hints or options.verdict_hints or options.range_hints):
        return None

    def make(analysis: Analysis) -> list[types.InlayHint]:
        return make_hints(analysis, analysis.state.text.span(params.range), options)

    return await documents.ask(params.text_document.uri, make) or None


def _meets(span: Span, within: Span) -> bool:
    return span.start <= within.end and within.start <= span.end


_TOOLTIP = (
    "Shares and verdicts are those of rubric-lint score. A share is that where every criterion applies. "
    "A verdict is certain whatever the other criteria get."
)


def _find_parts(scored: ScoredCriterion, options: EditorOptions) -> Iterator[_HintPart]:
    """Yield a part for all that a hint could be about, with an empty text where there is nothing to say."""
    if options.share_hints:
        has_share = len(scored.rubric.criteria) > 1 and not scored.scoring.is_failure
        share = f"{percent(scored.scoring.share)} of the score" if has_share else ""
        yield from _place_part(scored, ("weight", "id"), share)
    if scored.scoring.shape is Shape.CHECKLIST:
        if options.verdict_hints:
            places = ("required_min_score", "required", "weight", "id")
            words = {"not met": scored.answers[False].certainty, "met": scored.answers[True].certainty}
            if scored.scoring.is_failure:
                words = {"found": str(Verdict.FAIL)}
            text = ", ".join(f"{word}: {certainty}" for word, certainty in words.items() if certainty)
            yield from _place_part(scored, places, text)
        return
    for step in scored.steps:
        at = _end(scored, step)
        if options.range_hints:
            note = f"band {step.low} to {step.high}" if step.is_short and step.high > step.low else ""
            yield _HintPart(at, note)
        if options.verdict_hints:
            yield _HintPart(at, _format_verdicts(step))


_VERBS = {
    "fail": ("fails", "fail"),
    "pass": ("passes", "pass"),
    "borderline": ("is borderline", "are borderline"),
}


def _format_verdicts(step: ScoredStep) -> str:
    """Write what is certain about the verdict with the answers of a band or level; empty if nothing is."""
    groups: dict[str, list[int]] = {}
    for answer in step.answers:
        groups.setdefault(answer.certainty, []).append(answer.grade.answer)
    if len(groups) == 1:
        return next(iter(groups))
    parts = []
    for certainty, scores in groups.items():
        if certainty:  # as what some scores do: they fail, one of them fails
            verb, space, reason = certainty.partition(" ")
            verb = pluralize(len(scores), *_VERBS.get(verb, (verb, verb)))
            parts.append(f"{list_scores(scores)} {verb}{space}{reason}")
    first = next(scores for certainty, scores in groups.items() if certainty)
    unit = pluralize(len(first), "score")
    return f"{unit} {', '.join(parts)}"


def _place_part(scored: ScoredCriterion, fields: tuple[str, ...], text: str) -> Iterator[_HintPart]:
    """Yield a part after the first of some fields that is written on one line, else before the criterion."""
    document = scored.located.document
    for field in fields:
        place = scored.find_place(field)
        if place and "\n" not in document.source.slice(document.extent(place)):
            yield _HintPart(document.extent(place).end, text)
            return
    if scored.place is not None:
        yield _HintPart(document.span(scored.place, Part.ENTRY).start, text, is_before=True)


def _end(scored: ScoredCriterion, step: ScoredStep) -> int:
    """Return the end of what says a band or level; of an alias, not that of the definition.

    Of the short form it is the end of the outcome, or of the first line if that has several: directly behind the key, a
    hint would read as a part of it.
    """
    document = scored.located.document
    end = document.extent(step.place).end
    if not step.is_short:
        return end
    key = document.span(step.place, Part.KEY).end
    first, line_end, _ = document.source.slice(Span(key, end)).partition("\n")
    return key + len(first.rstrip()) if line_end else end
