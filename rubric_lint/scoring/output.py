"""Read what a judge returned, as raw text or as an object, and look up the result for its answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, NoReturn

from rubric_lint.format.criterion import Shape
from rubric_lint.outputs.decoding import QUOTE, OutputError, count_quotes, count_texts, read_struct
from rubric_lint.outputs.verdict import Extract, find_verdict, unwrap
from rubric_lint.scoring.form import form_of, read_object
from rubric_lint.scoring.grading import (
    AnswerValue,
    CriterionResult,
    JudgeOutput,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
)

try:
    from msgspec import MsgspecError, convert, defstruct, field
    from msgspec.json import Decoder
except ImportError:  # it is compiled, and not for every system
    IS_INSTALLED = False
    REFUSALS: tuple[type[Exception], ...] = (ValueError,)
else:
    IS_INSTALLED = True
    REFUSALS = (MsgspecError, ValueError, TypeError, RecursionError)


def _refuse(_line: bytes) -> NoReturn:
    raise ValueError


class _Check(NamedTuple):
    id: str
    answer: bool | int
    reasoning: str | None = None


class _Output(NamedTuple):
    checks: list[_Check]
    overall_reasoning: str | None = None


class _Holistic(NamedTuple):
    score: int
    reasoning: str | None = None


class PlainTypes:
    """The types of the outputs of one shape.

    `decode_record` decodes a record of just a string `id` and an output or raw text, and raises one of `REFUSALS` for
    any other.
    """

    decode_record: Callable[[bytes], Any] = staticmethod(_refuse)

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.output = _define_output(shape) if IS_INSTALLED else None
        if IS_INSTALLED:
            self._decode_output = Decoder(self.output).decode
            self.decode_record = Decoder(_define("Record", ("id", str), ("output", self.output | str))).decode

    def convert(self, value: Any) -> Any:
        """Convert an object to an output; return None unless it has exactly these fields."""
        if not IS_INSTALLED:
            return _take_output(value, self._shape)
        try:
            return convert(value, self.output)
        except REFUSALS:
            return None

    def decode(self, text: str) -> Any:
        """Decode JSON as an output; return None unless it has exactly these fields."""
        if not IS_INSTALLED:
            return None
        try:
            return self._decode_output(text)
        except REFUSALS:
            return None


@cache
def types_of(shape: Shape) -> PlainTypes:
    """Return the types of the outputs of a shape."""
    return PlainTypes(shape)


def _take_output(value: Any, shape: Shape) -> Any:
    """Convert an object to an output as msgspec would; return None if a field or a type differs."""
    if shape is Shape.HOLISTIC:
        return _take(value, {"score": int}, "reasoning", _Holistic)
    output = _take(value, {"checks": list}, "overall_reasoning", _Output)
    if output is None:
        return None
    fields = {"id": str, form_of(shape).field: bool if shape is Shape.CHECKLIST else int}
    checks = [_take(check, fields, "reasoning", _Check) for check in output.checks]
    return None if None in checks else output._replace(checks=checks)


def _take(value: Any, fields: Mapping[str, type], reasoning: str, kind: Callable[..., Any]) -> Any:
    """Make a `kind` of the fields of a mapping and its optional reasoning; return None for any other value."""
    if type(value) is not dict or len(value) != len(fields) + (reasoning in value):
        return None
    taken = [value.get(name) for name in fields]
    if [type(each) for each in taken] != list(fields.values()):
        return None
    if reasoning not in value:
        return kind(*taken)
    return kind(*taken, value[reasoning]) if type(value[reasoning]) is str else None


def _define_output(shape: Shape) -> Any:
    reason = (str, None)
    if shape is Shape.HOLISTIC:
        return _define("Output", ("score", int), ("reasoning", *reason))
    kind = bool if shape is Shape.CHECKLIST else int
    check = _define("Check", ("id", str), ("answer", kind, field(name=form_of(shape).field)), ("reasoning", *reason))
    return _define("Output", ("checks", list[check]), ("overall_reasoning", *reason))  # type: ignore[valid-type]


def _define(name: str, *fields: Any) -> Any:
    return defstruct(name, fields, forbid_unknown_fields=True, gc=False)


MOST_KNOWN = 20_000
"""The most combinations of answers to remember at once."""

Answers = tuple[AnswerValue, ...]
"""The answers of an output, in the rubric's order."""


class Piece(NamedTuple):
    """One answer to one criterion: its result, and that as JSON."""

    result: CriterionResult
    text: str


class Known:
    """The result for some answers, and how often they occurred; the score is `points` out of `full`.

    `number` is for an observer, which may number the results.
    """

    __slots__ = (
        "_text",
        "answers",
        "count",
        "full",
        "may_be_wanted",
        "number",
        "pieces",
        "points",
        "rubric",
        "verdict",
    )

    def __init__(
        self, rubric: ScoringRubric, points: int, full: int, verdict: Verdict, pieces: Sequence[Piece]
    ) -> None:
        self.rubric = rubric
        self.points = points
        self.full = full
        self.verdict = verdict
        self.pieces = pieces
        self.answers: Answers = tuple([piece.result.grade.answer for piece in pieces])
        self.count = 0
        self.number = -1
        self.may_be_wanted = True
        self._text: str | None = None

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
    """A valid output: the result for its answers, the number of strings in its JSON, and the output itself."""

    known: Known
    texts: int
    source: Any

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


class Reader:
    """A reader of outputs for one rubric."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self.rubric = rubric
        self.types = types_of(rubric.shape)
        self._ids = [criterion.id for criterion in rubric.criteria]
        self._pieces = [_render_pieces(criterion) for criterion in rubric.criteria]
        self._is_holistic = rubric.shape is Shape.HOLISTIC
        self._is_checklist = rubric.shape is Shape.CHECKLIST
        self._field = "score" if self._is_holistic else "checks"
        self.known: dict[Answers, Known] = {}

    def read(self, output: str, answer: str | None = None, extract: Extract = Extract.LAST) -> Judged:
        """Read raw text; `answer` is the judged answer, if known: an object in prose that it contains is a quote.

        Raises:
            OutputError: if the text has no verdict, or it is not valid for this rubric.
        """
        if found := self._glance(unwrap(output)):
            return Judged(found[0], 1, found[1])
        value = find_verdict(output, self._field, answer=answer, extract=extract)
        judged = self._convert(value)
        return judged._replace(texts=1) if judged else self._read_checked(value, "")

    def glance(self, lines: Sequence[bytes]) -> tuple[list[Seen], list[int]]:
        """Read lines that are records of just a string `id` and an output of the expected form, as an object or text.

        Return the id and the result of each, and the places of the other lines, which need a second look.
        """
        decode, look_up, decode_output = self.types.decode_record, self.look_up, self.types.decode
        given: list[Seen] = []
        others: list[int] = []
        for place, line in enumerate(lines):
            try:
                record = decode(line)
            except REFUSALS:
                others.append(place)
                continue
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
            if found and is_sound:
                given.append((record.id, found[0]))
            else:
                others.append(place)
        return given, others

    def _glance(self, held: str) -> tuple[Known, Any] | None:
        plain = self.types.decode(held)
        found = self.look_up(plain) if plain else None
        return (found[0], plain) if found and count_quotes(held) == 2 * found[1] else None

    def glance_text(self, text: str) -> Known | None:
        """Return the result of a raw text that is just an output of the expected form, or None."""
        found = self._glance(unwrap(text))
        return found[0] if found else None

    def glance_value(self, value: Any) -> Known | None:
        """Return the result of an object that is an output of the expected form, or None."""
        found = self.look_up(self.types.convert(value))
        return found[0] if found else None

    def read_value(self, value: Any) -> Judged:
        """Read an object that may be a row of a struct column: without null fields, and with Python's numbers.

        Raises:
            OutputError: when it is not valid for this rubric.
        """
        if judged := self._convert(value):
            return judged
        return self.read_object(read_struct(value) if isinstance(value, Mapping) else value, has_halves=True)

    def _convert(self, value: Any) -> Judged | None:
        """Read an object of the expected form without half surrogate pairs; return None for any other."""
        plain = self.types.convert(value)
        found = self.look_up(plain)
        return Judged(*found, plain) if found and not _has_halves(plain) else None

    def read_object(self, value: Any, *, has_halves: bool) -> Judged:
        """Read an object; `has_halves` says whether it may contain half surrogate pairs.

        Raises:
            OutputError: when it is not valid for this rubric.
        """
        if not has_halves and (plain := self.types.convert(value)) and (found := self.look_up(plain)):
            return Judged(*found, plain)
        return self._read_checked(value, value)

    def _read_checked(self, value: Any, source: Any) -> Judged:
        """Read an object by the schema; `source` is the JSON value that it is, or the text that holds it."""
        output = read_object(value, self.rubric)
        return Judged(self.find(output.answers), count_texts(source), output)

    def look_up(self, output: Any) -> tuple[Known, int] | None:
        """Return the result for an output of exactly the expected form, and its number of strings; else None."""
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
        except (AttributeError, LookupError, ValueError):  # the first for None
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

    def find(self, answers: Answers) -> Known:
        """Return the result for some answers, in the rubric's order.

        Raises:
            KeyError: if an answer is not allowed.
        """
        found = self.known.get(answers)
        if found is None:
            found = self.known[answers] = self._learn(answers)
        return found

    def _learn(self, answers: Answers) -> Known:
        pieces = tuple([graded[answer] for graded, answer in zip(self._pieces, answers, strict=True)])
        points, verdict = self.rubric.weigh([piece.result.grade for piece in pieces])
        return Known(self.rubric, points, self.rubric.full, verdict, pieces)


@lru_cache(maxsize=50)
def reader_of(rubric: ScoringRubric) -> Reader:
    """Return the reader for a rubric: one for all copies of the rubric in this process."""
    return Reader(rubric)


def parse_output(
    rubric: ScoringRubric,
    output: Mapping[str, Any] | str,
    *,
    answer: str | None = None,
    extract: str = "last",
) -> JudgeOutput:
    """Read a judge output from raw text or an object, as `score` does.

    Raises:
        OutputError: if the text has no verdict, or it is not valid for this rubric.
        ValueError: if `extract` has another value.
    """
    how = Extract(extract)
    reader = reader_of(rubric)
    if len(reader.known) > MOST_KNOWN:
        reader.known.clear()
    if not isinstance(output, str):
        return reader.read_value(output).output
    return reader.read(output, answer, how).output


def _has_halves(output: Any) -> bool:
    """Return whether a reason in an output has half a surrogate pair, which only a Python string can have."""
    told = [output.reasoning] if hasattr(output, "score") else [output.overall_reasoning]
    told += [check.reasoning for check in getattr(output, "checks", ())]
    try:
        "".join([text for text in told if text]).encode()
    except UnicodeEncodeError:
        return True
    return False


render = json.JSONEncoder(ensure_ascii=False).encode


def _render_pieces(criterion: ScoringCriterion) -> dict[AnswerValue, Piece]:
    results = [CriterionResult(criterion, grade) for grade in criterion.grades]
    return {result.grade.answer: Piece(result, render(result.to_json())) for result in results}
