"""Read what a judge returned, as raw text or as an object, and grade its answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from json.encoder import encode_basestring as quote
from typing import Any

from rubric_lint.model.arguments import require
from rubric_lint.model.criterion import Shape
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.scoring.flat import has_answer_fields, list_check, unfold
from rubric_lint.scoring.form import APPLICABLE, form_of, read_object
from rubric_lint.scoring.graders import find_grade, is_foreign, read_grade, translate
from rubric_lint.scoring.grading import (
    NO_NOTES,
    NOT_APPLICABLE,
    AnswerValue,
    CriterionResult,
    JudgeOutput,
    NothingAppliesError,
    ReadingNotes,
    Scored,
    ScoringCriterion,
    ScoringRubric,
)
from rubric_lint.scoring.records.decoding import QUOTE, OutputError, count_quotes, read_struct
from rubric_lint.scoring.records.mapping import INPUT_FIELDS, OUTPUT_FIELDS, RESULT_FIELDS
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ParseOptions
from rubric_lint.scoring.records.verdict import find_verdict, unwrap
from rubric_lint.source.path import pointer, split_pointer

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


class _OutputTypes:
    """The types of outputs of a form that have exactly its fields, as most do.

    `record` is a record of just a string `id` and such an output or raw text.
    """

    def __init__(self, form: str) -> None:
        reasoning = ("reasoning", str, None)
        shape = Shape(form.rpartition("/")[2])
        if shape is Shape.HOLISTIC:
            self.output = _define("Output", ("score", int), reasoning)
        else:
            answers: list[tuple[Any, ...]]
            if shape is Shape.MIXED:
                answers = [(name, kind, None) for name, kind in _MIXED_ANSWERS.items()]
            else:
                kind = bool if shape is Shape.CHECKLIST else int
                answers = [("answer", kind, struct_field(name=form_of(form).field))]
            check = _define("Check", ("id", str), *answers, reasoning)
            self.output = _define("Output", ("checks", list[check]), ("overall_reasoning", str, None))  # type: ignore[valid-type]
        self.decode = Decoder(self.output).decode
        self.decode_record = Decoder(_define("Record", ("id", str), ("output", self.output | str))).decode


def _define(name: str, *fields: Any) -> Any:
    return defstruct(name, fields, forbid_unknown_fields=True, gc=False)


_MIXED_ANSWERS = {"satisfied": bool, "score": int | float, "level": int | float, APPLICABLE: bool}
"""The fields of a check that may have an answer of any shape, with their types."""

_types_of = cache(_OutputTypes)


JUDGEMENTS = ("checks", "score")
"""The fields of an output that hold its judgement."""

MOST_GRADED = 20_000
"""The most combinations of answers whose results are kept at once."""

Answers = tuple[AnswerValue, ...]
"""The answers of an output, in the rubric's order."""


@dataclass(slots=True)
class RecordResult:
    """What an entry of a file, or one output, comes to: a result, or the error that says why there is none.

    `line` is where the entry begins, `file` its file, or None if there is only one. `record` is the record around the
    output, or if it is invalid, what of it can be read; empty for an output alone. `scored` is the result for the
    answers, without the judge's reasons: all outputs with these answers share it. `source` is what was read, which has
    the reasons; None if there are none, or `scored` has them. `notes` say what reading passed over. `rubric` is the
    name of the rubric, if known.
    """

    scored: Scored | None = None
    source: Any = None
    record: Mapping[str, Any] = field(default_factory=dict)
    rubric: str | None = None
    line: int = 0
    file: str | None = None
    notes: Sequence[ReadingNotes] = ()
    error: OutputError | None = None

    @property
    def output(self) -> JudgeOutput:
        """The output of a valid entry, in the form that a rubric grades."""
        source: Any = self.source
        if isinstance(source, JudgeOutput):
            return source
        criteria = self.scored.criteria if self.scored else ()
        answers = self.scored.answers if self.scored else ()
        if source is None:
            return JudgeOutput(answers, (None,) * len(answers))
        if hasattr(source, "score"):
            return JudgeOutput(answers, (source.reasoning,), source.reasoning)
        reasons = {check.id: check.reasoning for check in source.checks}
        ordered = tuple([reasons[result.criterion.id] for result in criteria])
        return JudgeOutput(answers, ordered, source.overall_reasoning)

    @property
    def result(self) -> Scored | None:
        """The full result with the judge's reasons; None of an invalid entry."""
        if self.scored is None or self.source is None:
            return self.scored
        return self.scored.rubric.grade(self.output)

    @property
    def id(self) -> Any:
        """The id of the record; None without one."""
        return self.record.get("id")

    @property
    def rest(self) -> dict[str, Any]:
        """The fields of the record that are copied to its result."""
        if self.error and OUTPUT_FIELDS.isdisjoint(self.record):  # its other fields may be judgements
            return {name: self.record[name] for name in [*INPUT_FIELDS, "judge"] if name in self.record}
        rest = {name: value for name, value in self.record.items() if name not in _NOT_COPIED}
        if rest and self.scored:
            for name in self.scored.rubric.own_fields:
                rest.pop(name, None)  # the result states it, by this version of the rubric
        return rest

    @property
    def has_other_meaning(self) -> bool:
        """Whether the judge used a rubric with a different meaning than the current one."""
        scored, record = self.scored, self.record
        if scored is None or not ("judge" in record or "rubric_hash" in record):
            return False
        return read_judged_by(record) not in (None, scored.rubric.hash)

    def to_json(self) -> dict[str, Any]:
        """Return the line of results for the entry."""
        found = {"id": self.record["id"]} if "id" in self.record else {}
        result = self.result
        if result:
            return {**found, **result.to_json(), **self.rest}
        if self.rubric is not None:
            found["rubric"] = self.rubric
        error = self.describe_error()
        if error:
            found["error"] = error
        return {**found, **self.rest}

    def describe_error(self) -> dict[str, Any] | None:
        """Return the error as JSON, with its place; None of a valid entry."""
        if self.error is None:
            return None
        place = {"line": self.line} if self.file is None else {"file": self.file, "line": self.line}
        return {**(self.error.place or place), "path": self.error.path, "message": self.error.message}

    def render(self) -> str:
        """Return the line of results as JSON text."""
        record, scored = self.record, self.scored
        if scored is None or not scored.text:
            return render(self.to_json())
        if "id" not in record:
            rest = self.rest
            return f"{{{scored.text}, {render(rest)[1:-1]}}}" if rest else f"{{{scored.text}}}"
        name = record["id"]
        head = quote(name) if type(name) is str else render(name)
        rest = self.rest if len(record) > 1 else {}
        tail = f", {render(rest)[1:-1]}" if rest else ""
        return f'{{"id": {head}, {scored.text}{tail}}}'


def read_judged_by(record: Mapping[str, Any]) -> str | None:
    """Return the hash of the rubric that the judge used, if a record has it."""
    about = record.get("judge")
    of_judge = about.get("rubric_hash") if isinstance(about, dict) else None
    named = record.get("rubric_hash", of_judge)
    return named if isinstance(named, str) else None


_NOT_COPIED = RESULT_FIELDS | OUTPUT_FIELDS | {"id"}
"""The fields of a record that are not copied to its result."""


_MIXED = f"v3/{Shape.MIXED}"
_TYPED = frozenset({_MIXED, *(f"{CURRENT}/{shape}" for shape in Shape)})
"""The forms of outputs that have types."""


class OutputReader:
    """A reader of outputs for one rubric."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self.rubric = rubric
        # Without msgspec the schema checks each output.
        self._types = _types_of(rubric.form) if IS_INSTALLED and rubric.form in _TYPED else None
        self.ids = [criterion.id for criterion in rubric.criteria]
        self._criteria = {criterion.id: criterion for criterion in rubric.criteria}
        self._results = [_list_results(criterion) for criterion in rubric.criteria]
        self._head = render(rubric.to_json())[1:-1]
        self._is_mixed = rubric.form == _MIXED
        self._is_holistic = rubric.shape is Shape.HOLISTIC
        self.graded: dict[Answers, Scored] = {}

    def read(
        self, output: str, answer: str | Callable[[], str] | None = None, reading: ParseOptions = DEFAULT_OPTIONS
    ) -> RecordResult:
        """Read raw text; an object in prose that `answer` contains, or what this returns, is a quote.

        Raises:
            OutputError: if the text has no verdict, or it is not valid for this rubric.
        """
        found = self._match(unwrap(output))
        if found:
            return found
        letter = find_grade(output, reading) if reading.grades or "{" not in output else None
        if letter:
            return self.make_result(read_object(read_grade(*letter, self.rubric, reading), self.rubric, reading))
        field = "score" if self._is_holistic else "checks"
        shown = answer() if callable(answer) else answer
        verdict, has_raw_controls = find_verdict(
            output,
            field,
            answer=shown,
            extract=reading.extract,
            is_verdict=lambda value: has_answer_fields(value, self.rubric) or is_foreign(value, self.rubric),
        )
        result = self.read_object(verdict, reading)
        if has_raw_controls:
            notes = result.notes[0] if result.notes else NO_NOTES
            notes = replace(notes, has_raw_controls=True)
            result.source = replace(result.output, notes=notes)
            result.notes = (notes,)
        return result

    def match_record(self, text: bytes, line: int, file: str | None) -> RecordResult | None:
        """Read a record of just a string `id` and an output of the expected form, as an object or text; or None."""
        if self._types is None:
            return None
        try:
            record = self._types.decode_record(text)
            output = record.output
            # A repeated key adds strings, and every string that was read has its quotes.
            if type(output) is str:
                inner = unwrap(output)
                output = self._types.decode(inner)
                found = self._grade_typed(output)
                # Four strings are around the output: two keys, the id, and its text. An object has three of them.
                is_sound = found and count_quotes(text) == 8 and count_quotes(inner) == 2 * found[1]
            else:
                found = self._grade_typed(output)
                quotes = 2 * found[1] + 6 if found else 0
                is_sound = text.count(QUOTE) == quotes or count_quotes(text) == quotes
        except REFUSALS:
            return None
        if not found or not is_sound:
            return None
        return RecordResult(found[0], output, {"id": record.id}, self.rubric.name, line, file)

    def _match(self, output: Any) -> RecordResult | None:
        """Read a text or an object that is just an output of the expected form; return None for any other."""
        if self._types is None:
            return None
        is_text = type(output) is str
        try:
            plain = self._types.decode(output) if is_text else convert(output, self._types.output)
        except REFUSALS:
            return None
        found = self._grade_typed(plain)
        if found and (not is_text or count_quotes(output) == 2 * found[1]):
            return RecordResult(found[0], plain, rubric=self.rubric.name)
        return None

    def match_output(self, output: Any) -> Scored | None:
        """Return the result of a raw text or an object that is just an output of the expected form, or None."""
        value = unwrap(output) if type(output) is str else output
        found = self._match(value)
        return found.scored if found else None

    def read_object(self, value: Any, reading: ParseOptions = DEFAULT_OPTIONS) -> RecordResult:
        """Read an object; one with a field for each criterion, or with such `checks`, is another notation for its form.

        Raises:
            OutputError: when it is not valid for this rubric.
        """
        found = None if type(value) is str else self._match(value)
        if found:
            return found
        if isinstance(value, Mapping):
            checks = value.get("checks")
            if isinstance(checks, Mapping) and checks and not self._is_holistic:
                listed = [list_check(name, check) for name, check in checks.items()]
                try:
                    output = read_object({**value, "checks": listed}, self.rubric, reading)
                except OutputError as fault:
                    raise OutputError(fault.message, _name_key(fault.path, list(checks))) from None
                return self.make_result(output)
            value = translate(value, self.rubric, reading) or value
            if value.keys().isdisjoint(JUDGEMENTS):
                value = unfold(value, self.rubric)
        return self.make_result(read_object(value, self.rubric, reading))

    def make_result(self, output: JudgeOutput) -> RecordResult:
        """Return the result of an output whose answers are those of the rubric."""
        notes = () if output.notes == NO_NOTES else (output.notes,)
        return RecordResult(self.grade(output.answers), output, rubric=self.rubric.name, notes=notes)

    def _grade_typed(self, output: Any) -> tuple[Scored, int] | None:
        """Grade an output of the expected types.

        Returns:
            The result and the number of strings that the output has in JSON, without those of a repeated key; None if
            it is not valid.
        """
        try:
            if self._is_holistic:
                return self.grade((output.score,)), 1 if output.reasoning is None else 3
            if self._is_mixed:
                return self._grade_mixed(output)
            texts = 1 if output.overall_reasoning is None else 3
            ids = []
            answers = []
            for check in output.checks:
                ids.append(check.id)
                answers.append(check.answer)
                texts += 3 if check.reasoning is None else 5
            if ids != self.ids:
                if len(ids) != len(self.ids):
                    return None
                answers = [answers[ids.index(name)] for name in self.ids]
            return self.grade(tuple(answers)), texts
        except (LookupError, ValueError, NothingAppliesError):
            return None

    def _grade_mixed(self, output: Any) -> tuple[Scored, int] | None:
        """Grade an output whose checks have several fields, as `_grade_typed`.

        Raises:
            LookupError: if it has an unknown criterion.
        """
        texts = 1 if output.overall_reasoning is None else 3
        given: dict[str, AnswerValue] = {}
        for check in output.checks:
            criterion = self._criteria[check.id]
            answers = 3 - (check.satisfied, check.score, check.level).count(None)
            answer: Any = getattr(check, criterion.field)
            if check.applicable is False:
                if answers or not criterion.may_not_apply:
                    return None
                answer = NOT_APPLICABLE
            # A float that is a whole number may be written with more digits than it has.
            elif answers != 1 or answer is None or (type(answer) is float and answer.is_integer()):
                return None
            given[check.id] = answer
            of_applicable = 0 if check.applicable is None else 1
            of_reasoning = 0 if check.reasoning is None else 2
            texts += 2 + answers + of_applicable + of_reasoning
        if not len(given) == len(output.checks) == len(self.ids):
            return None
        return self.grade(tuple([given[name] for name in self.ids])), texts

    def check_answers(self, output: JudgeOutput) -> Scored:
        """Return the result of an output that a caller made.

        Raises:
            OutputError: if it is not an output for this rubric.
        """
        refusal = f"not an output for the rubric `{self.rubric.name}`"
        if not len(output.answers) == len(output.reasons) == len(self.ids):
            given = f"{len(output.answers)} answers and {len(output.reasons)} reasons"
            raise OutputError(f"{refusal}: {given}; expected one of each for {len(self.ids)} criteria")
        try:
            found = self.grade(tuple(output.answers))
        except (KeyError, TypeError):
            raise OutputError(f"{refusal}: an answer that the rubric does not allow") from None
        # For Python, True equals 1.
        for answer, criterion in zip(output.answers, self.rubric.criteria, strict=True):
            is_check = criterion.shape is Shape.CHECKLIST
            if isinstance(answer, int) and isinstance(answer, bool) != is_check:
                expected = "true or false" if is_check else "integers"
                raise OutputError(f"{refusal}: expected {expected} as answers")
        return found

    def grade(self, answers: Answers) -> Scored:
        """Return the result for some answers, in the rubric's order.

        Raises:
            KeyError: if an answer is not allowed.
            NothingAppliesError: if nothing applies.
        """
        found = self.graded.get(answers)
        if found is None:
            results = [of_answer[answer] for of_answer, answer in zip(self._results, answers, strict=True)]
            criteria = tuple([result for result, _ in results])
            weighed = self.rubric.weigh([result.grade for result in criteria])
            scored = Scored(self.rubric, weighed.score, weighed.verdict, criteria, groups=weighed.groups)
            texts = ", ".join([text for _, text in results])
            text = f'{self._head}, {render(scored.summarize())[1:-1]}, "criteria": [{texts}]'
            if scored.groups:
                text += f', "groups": {render([group.to_json() for group in scored.groups])}'
            found = self.graded[answers] = replace(scored, text=text)
        return found


def _list_results(criterion: ScoringCriterion) -> dict[AnswerValue, tuple[CriterionResult, str]]:
    """Return the result of a criterion for each answer, and the same as JSON text."""
    results = [CriterionResult(criterion, grade) for grade in criterion.all_grades]
    return {result.grade.answer: (result, render(result.to_json())) for result in results}


def _name_key(path: str, names: Sequence[str]) -> str:
    """Return the place of an error among checks under their ids, by its place in a list of them."""
    steps = split_pointer(path)
    if steps[:1] != ("checks",) or len(steps) == 1:
        return path
    inside = [step for step in steps[2:] if step != "id"]
    return pointer(("checks", names[int(steps[1])], *inside))


@lru_cache(maxsize=50)
def reader_of(rubric: ScoringRubric) -> OutputReader:
    """Return the reader for a rubric: one for all copies of the rubric in this process."""
    require("rubric", rubric, ScoringRubric)  # here, where it costs nothing for each output
    return OutputReader(rubric)


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
    reading = ParseOptions.of(extract, extra_fields)
    try:
        reader = reader_of(rubric)
    except TypeError:  # what cannot be looked up is no rubric
        require("rubric", rubric, ScoringRubric)
        raise
    if len(reader.graded) > MOST_GRADED:
        reader.graded.clear()
    if isinstance(output, str):
        return reader.read(output, answer, reading).output
    if not reader.match_output(output):  # a row of a struct column has null fields, and numbers of NumPy
        output = read_struct(output) if isinstance(output, Mapping) else output
    return reader.read_object(output, reading).output


render = json.JSONEncoder(ensure_ascii=False).encode
