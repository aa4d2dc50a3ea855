"""Read what a judge returned, as raw text or as an object, and look up the result for its answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from rubric_lint.arguments import require
from rubric_lint.format.criterion import Shape
from rubric_lint.outputs.decoding import QUOTE, OutputError, count_quotes, read_struct
from rubric_lint.outputs.verdict import DEFAULT_READING, Reading, find_verdict, unwrap
from rubric_lint.scoring.flat import is_flat, list_check, unfold
from rubric_lint.scoring.form import form_of, read_object
from rubric_lint.scoring.grading import (
    NO_NOTES,
    AnswerValue,
    CriterionResult,
    JudgeOutput,
    ReadingNotes,
    Scored,
    ScoringRubric,
    Verdict,
)
from rubric_lint.text.path import pointer, split_pointer

try:
    from msgspec import MsgspecError, convert, defstruct
    from msgspec import field as struct_field
    from msgspec.json import Decoder
except ImportError:  # it is compiled, and not for every system
    IS_INSTALLED = False
    REFUSALS: tuple[type[Exception], ...] = (ValueError,)
else:
    IS_INSTALLED = True
    REFUSALS = (MsgspecError, ValueError, TypeError, RecursionError)


class _Types:
    """The types of outputs of one shape that have exactly the fields of their form, as most do.

    `record` is a record of just a string `id` and such an output or raw text.
    """

    def __init__(self, shape: Shape) -> None:
        reason = (str, None)
        if shape is Shape.HOLISTIC:
            self.output = _define("Output", ("score", int), ("reasoning", *reason))
        else:
            answer = ("answer", bool if shape is Shape.CHECKLIST else int, struct_field(name=form_of(shape).field))
            check = _define("Check", ("id", str), answer, ("reasoning", *reason))
            self.output = _define("Output", ("checks", list[check]), ("overall_reasoning", *reason))  # type: ignore[valid-type]
        self.decode = Decoder(self.output).decode
        self.decode_record = Decoder(_define("Record", ("id", str), ("output", self.output | str))).decode


def _define(name: str, *fields: Any) -> Any:
    return defstruct(name, fields, forbid_unknown_fields=True, gc=False)


_types_of = cache(_Types)


JUDGEMENTS = ("checks", "score")
"""The fields of an output that hold its judgement."""

MOST_KNOWN = 20_000
"""The most combinations of answers to remember at once."""

Answers = tuple[AnswerValue, ...]
"""The answers of an output, in the rubric's order."""


class Piece(NamedTuple):
    """One answer to one criterion: its result, and that as JSON."""

    result: CriterionResult
    text: str


@dataclass(eq=False, slots=True)
class Known:
    """The result for some answers, and how often they occurred; the score is `points` out of `full`.

    `number` is for the run that this one is compared with, which numbers its results.
    """

    rubric: ScoringRubric
    points: int
    full: int
    verdict: Verdict
    pieces: Sequence[Piece]
    answers: Answers = field(init=False)
    count: int = 0
    number: int = -1
    may_be_wanted: bool = True
    _text: str | None = None

    def __post_init__(self) -> None:
        self.answers = tuple([piece.result.grade.answer for piece in self.pieces])

    @property
    def score(self) -> float:
        """The score, 0..1, rounded once."""
        return self.points / self.full

    @property
    def gates_missed(self) -> list[str]:
        """The ids of the criteria whose gates are missed."""
        return [piece.result.criterion.id for piece in self.pieces if not piece.result.grade.gate_met]

    @property
    def text(self) -> str:
        """The result as the inside of a JSON object."""
        if self._text is None:
            head = render(self.rubric.to_json())[1:-1]
            criteria = ", ".join([piece.text for piece in self.pieces])
            self._text = f'{head}, "score": {self.score!r}, "verdict": "{self.verdict}", "criteria": [{criteria}]'
        return self._text


def know_median(median: Scored) -> Known:
    """Return the result of several outputs for one answer, whose score may lie between two points."""
    points = median.score * median.rubric.full
    pieces = [Piece(each, "") for each in median.criteria]
    return Known(median.rubric, points.numerator, median.rubric.full * points.denominator, median.verdict, pieces)


Seen = tuple[str, Known]
"""The id and the result of a record."""


class Judged(NamedTuple):
    """A valid output: the result for its answers, and the output itself."""

    known: Known
    source: Any

    @property
    def notes(self) -> ReadingNotes:
        """What reading the output passed over; nothing in the expected form."""
        return self.source.notes if isinstance(self.source, JudgeOutput) else NO_NOTES

    @property
    def output(self) -> JudgeOutput:
        """The output in the form that a rubric grades."""
        source, answers = self.source, self.known.answers
        if isinstance(source, JudgeOutput):
            return source
        if hasattr(source, "score"):
            return JudgeOutput(answers, (source.reasoning,), source.reasoning)
        reasons = {check.id: check.reasoning for check in source.checks}
        return JudgeOutput(
            answers, tuple(reasons[each.id] for each in self.known.rubric.criteria), source.overall_reasoning
        )


def list_notes(judged: Judged) -> Sequence[ReadingNotes]:
    """Return what reading an output passed over, in a list that is empty for most."""
    return () if judged.notes is NO_NOTES else (judged.notes,)


class Reader:
    """A reader of outputs for one rubric."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self.rubric = rubric
        # Without msgspec the schema checks each output.
        self._types = _types_of(rubric.shape) if IS_INSTALLED else None
        self._ids = [criterion.id for criterion in rubric.criteria]
        results = [[CriterionResult(each, grade) for grade in each.grades] for each in rubric.criteria]
        self._pieces: list[dict[AnswerValue, Piece]] = [
            {result.grade.answer: Piece(result, render(result.to_json())) for result in each} for each in results
        ]
        self._is_holistic = rubric.shape is Shape.HOLISTIC
        self._is_checklist = rubric.shape is Shape.CHECKLIST
        self.known: dict[Answers, Known] = {}

    def read(
        self, output: str, answer: str | Callable[[], str] | None = None, reading: Reading = DEFAULT_READING
    ) -> Judged:
        """Read raw text; an object in prose that `answer` contains, or what this returns, is a quote.

        Raises:
            OutputError: if the text has no verdict, or it is not valid for this rubric.
        """
        if found := self._match(unwrap(output)):
            return found
        field = "score" if self._is_holistic else "checks"
        shown = answer() if callable(answer) else answer
        verdict = find_verdict(
            output, field, answer=shown, extract=reading.extract, is_verdict=lambda value: is_flat(value, self.rubric)
        )
        judged = self.read_object(verdict.value, reading)
        if not verdict.has_raw_controls:
            return judged
        notes = replace(judged.notes, has_raw_controls=True)
        return Judged(judged.known, replace(judged.output, notes=notes))

    def match_form(self, lines: Sequence[bytes]) -> tuple[list[Seen], list[int]]:
        """Read lines that are records of just a string `id` and an output of the expected form, as an object or text.

        Return the id and the result of each, and the places of the other lines, which need a second look.
        """
        if self._types is None:
            return [], [*range(len(lines))]
        decode, look_up, decode_output = self._types.decode_record, self._look_up, self._types.decode
        given: list[Seen] = []
        others: list[int] = []
        for place, line in enumerate(lines):
            try:
                record = decode(line)
                output = record.output
                # A repeated key adds strings, and every string that was read has its quotes.
                if type(output) is str:
                    inner = unwrap(output)
                    found = look_up(decode_output(inner))
                    is_sound = found and count_quotes(line) == 8 and count_quotes(inner) == 2 * found[1]
                else:
                    found = look_up(output)
                    quotes = 2 * found[1] + 6 if found else 0
                    is_sound = line.count(QUOTE) == quotes or count_quotes(line) == quotes
            except REFUSALS:
                is_sound = found = None
            if found and is_sound:
                given.append((record.id, found[0]))
            else:
                others.append(place)
        return given, others

    def _match(self, held: Any) -> Judged | None:
        """Read a text or an object that is just an output of the expected form; return None for any other."""
        if self._types is None:
            return None
        is_text = type(held) is str
        try:
            plain = self._types.decode(held) if is_text else convert(held, self._types.output)
        except REFUSALS:
            return None
        found = self._look_up(plain)
        return Judged(found[0], plain) if found and (not is_text or count_quotes(held) == 2 * found[1]) else None

    def match_output(self, output: Any) -> Known | None:
        """Return the result of a raw text or an object that is just an output of the expected form, or None."""
        found = self._match(unwrap(output) if type(output) is str else output)
        return found.known if found else None

    def read_object(self, value: Any, reading: Reading = DEFAULT_READING) -> Judged:
        """Read an object; one with a field for each criterion, or with such `checks`, is another notation for its form.

        Raises:
            OutputError: when it is not valid for this rubric.
        """
        if type(value) is not str and (found := self._match(value)):
            return found
        if isinstance(value, Mapping):
            checks = value.get("checks")
            if isinstance(checks, Mapping) and checks and not self._is_holistic:
                return self._read_keyed(value, checks, reading)
            if value.keys().isdisjoint(JUDGEMENTS):
                value = unfold(value, self.rubric)
        output = read_object(value, self.rubric, reading)
        return Judged(self.find(output.answers), output)

    def _read_keyed(self, value: Mapping[str, Any], checks: Mapping[str, Any], reading: Reading) -> Judged:
        """Read an object whose `checks` have the ids of criteria as keys; the place of an error has them too."""
        listed = [list_check(name, check) for name, check in checks.items()]
        try:
            output = read_object({**value, "checks": listed}, self.rubric, reading)
        except OutputError as fault:
            raise OutputError(fault.message, _name_key(fault.path, [*checks])) from None
        return Judged(self.find(output.answers), output)

    def _look_up(self, output: Any) -> tuple[Known, int] | None:
        """Return the result for an output of the expected types, and its number of strings; None if it is not valid."""
        try:
            if self._is_holistic:
                return self.find((output.score,)), 1 if output.reasoning is None else 3
            texts = 1 if output.overall_reasoning is None else 3
            ids = []
            answers = []
            for check in output.checks:
                ids.append(check.id)
                answers.append(check.answer)
                texts += 3 if check.reasoning is None else 5
            if ids != self._ids:
                if len(ids) != len(self._ids):
                    return None
                answers = [answers[ids.index(name)] for name in self._ids]
            return self.find(tuple(answers)), texts
        except (LookupError, ValueError):
            return None

    def know(self, output: JudgeOutput) -> Known:
        """Return the result for an output.

        Raises:
            OutputError: if it is not an output for this rubric.
        """
        named = f"not an output for the rubric `{self.rubric.name}`"
        if not len(output.answers) == len(output.reasons) == len(self._ids):
            given = f"{len(output.answers)} answers and {len(output.reasons)} reasons"
            raise OutputError(f"{named}: {given}; expected one of each for {len(self._ids)} criteria")
        try:
            found = self.find(tuple(output.answers))
        except (KeyError, TypeError):
            raise OutputError(f"{named}: an answer that the rubric does not allow") from None
        # For Python, True equals 1.
        if any(isinstance(each, int) and isinstance(each, bool) != self._is_checklist for each in output.answers):
            raise OutputError(f"{named}: expected {'true or false' if self._is_checklist else 'integers'} as answers")
        return found

    def look_up(self, answers: Answers | None) -> Known | None:
        """Return the result for some answers; None without any, or if one is not allowed."""
        try:
            return self.find(answers) if answers else None
        except KeyError:
            return None

    def find(self, answers: Answers) -> Known:
        """Return the result for some answers, in the rubric's order.

        Raises:
            KeyError: if an answer is not allowed.
        """
        found = self.known.get(answers)
        if found is None:
            pieces = tuple([graded[answer] for graded, answer in zip(self._pieces, answers, strict=True)])
            points, verdict = self.rubric.weigh([piece.result.grade for piece in pieces])
            found = self.known[answers] = Known(self.rubric, points, self.rubric.full, verdict, pieces)
        return found


def _name_key(path: str, names: Sequence[str]) -> str:
    """Return the place of an error among checks under their ids, by its place in a list of them."""
    steps = split_pointer(path)
    if steps[:1] != ("checks",) or len(steps) == 1:
        return path
    return pointer(("checks", names[int(steps[1])], *(step for step in steps[2:] if step != "id")))


@lru_cache(maxsize=50)
def reader_of(rubric: ScoringRubric) -> Reader:
    """Return the reader for a rubric: one for all copies of the rubric in this process."""
    require("rubric", rubric, ScoringRubric)  # here, where it costs nothing for each output
    return Reader(rubric)


def parse_output(
    rubric: ScoringRubric,
    output: Mapping[str, Any] | str,
    *,
    answer: str | None = None,
    extract: str = "last",
    extra_fields: str | None = None,
) -> JudgeOutput:
    """Read a judge output from raw text or an object, as `score` does.

    Raises:
        OutputError: if the text has no verdict, or it is not valid for this rubric.
        ValueError: if `extract` or `extra_fields` has another value.
    """
    if answer is not None:
        require("answer", answer, str)
    reading = Reading.of(extract, extra_fields)
    try:
        reader = reader_of(rubric)
    except TypeError:  # what cannot be looked up is no rubric
        require("rubric", rubric, ScoringRubric)
        raise
    if len(reader.known) > MOST_KNOWN:
        reader.known.clear()
    if isinstance(output, str):
        return reader.read(output, answer, reading).output
    if not reader.match_output(output):  # a row of a struct column has null fields, and numbers of NumPy
        output = read_struct(output) if isinstance(output, Mapping) else output
    return reader.read_object(output, reading).output


render = json.JSONEncoder(ensure_ascii=False).encode
