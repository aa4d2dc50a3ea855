"""Score the entries of OUTPUTS: judge outputs, and records that hold them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import chain, islice, repeat
from typing import Any

from rubric_lint.model.criterion import Shape
from rubric_lint.model.messages import find_near, list_names, point_to_known
from rubric_lint.scoring.flat import (
    NOTHING,
    OF_TABLE,
    SheetRow,
    find_other_flag,
    is_judged,
    list_fields,
    list_values,
    read_cell,
    read_sheet_row,
    read_whole,
    unfold,
)
from rubric_lint.scoring.form import form_of, write_check
from rubric_lint.scoring.grading import (
    NOT_APPLICABLE,
    JudgeOutput,
    NothingAppliesError,
    ReadingNotes,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    combine_samples,
)
from rubric_lint.scoring.output import (
    JUDGEMENTS,
    MOST_GRADED,
    OutputReader,
    RecordResult,
    read_judged_by,
)
from rubric_lint.scoring.panel import count_votes, read_panel, refuse_missing_votes
from rubric_lint.scoring.records.decoding import Content, OutputError, decode_entry, place_in_output
from rubric_lint.scoring.records.graders import find_by_texts, has_items, move_to_output, name_test
from rubric_lint.scoring.records.mapping import (
    INPUT_FIELDS,
    OUTPUT_FIELDS,
    OVERWRITING_FIELDS,
    RESULT_FIELDS,
    fold_column,
)
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ExtraFields, ParseOptions
from rubric_lint.scoring.records.quotes import read_quotable
from rubric_lint.scoring.records.reply import NOT_JUDGED, find_reason
from rubric_lint.source.path import pointer
from rubric_lint.source.values import as_mapping, as_string


class OtherVersionError(OutputError):
    """A result by another version of its rubric."""


def read_model(about: object) -> str | None:
    """Return the model that `judge` of a record names: the text itself, or its `model`."""
    model = about.get("model") if isinstance(about, Mapping) else about
    return model if isinstance(model, str) and model.strip() else None


def find_rubric(record: Mapping[str, Any], rubrics: Mapping[str, ScoringRubric]) -> ScoringRubric:
    """Return the rubric that a record names, or the only one.

    Raises:
        OutputError: if the record does not name one of several rubrics.
    """
    if "rubric" not in record:
        if len(rubrics) == 1:
            return next(iter(rubrics.values()))
        if has_items(record):
            return rubrics[_find_by_items(record, rubrics)]
        known = list_names(rubrics)
        raise OutputError(f"the record does not say which rubric; name it in `rubric`: {known}", "/rubric")
    name = record["rubric"]
    if not isinstance(name, str):
        raise OutputError("`rubric` must be a string: the name of a rubric", "/rubric")
    if name in rubrics:
        return rubrics[name]
    if "agentv" in record:
        from rubric_lint.scoring.records.agentv_runs import find_graded  # noqa: PLC0415  (few are)

        ids = {key: {criterion.id for criterion in rubric.criteria} for key, rubric in rubrics.items()}
        found = find_graded(record, ids)
        if len(found) == 1:
            return rubrics[found[0]]
        if found:
            raise OutputError(
                f"the grader may be any of {list_names(found)}; give each a `name` in the suite", "/rubric"
            )
    raise OutputError(f"{_OF_NO_RUBRIC} `{name}`; {point_to_known(name, rubrics)}", "/rubric")


def _find_by_items(record: Mapping[str, Any], rubrics: Mapping[str, ScoringRubric]) -> str:
    """Return the name of the rubric whose criteria have the texts of a record.

    Raises:
        OutputError: if there is none or several.
    """
    named: list[str] = []
    for keys in ({name_test(record)} & rubrics.keys(), rubrics):  # most are of their test, and there may be thousands
        if not named:
            texts = {key: [(criterion.id, criterion.outcome) for criterion in rubrics[key].criteria] for key in keys}
            named = find_by_texts(record, texts)
    if len(named) == 1:
        return named[0]
    message = "the texts in the record are not those of all criteria of one rubric"
    if named:
        message = "the texts in the record are those of several rubrics"
    raise OutputError(f"{message}; name the rubric in `rubric`: {list_names(named or rubrics)}", "/rubric")


def _read_check(written: Mapping[str, Any], criterion: ScoringCriterion | None, *, is_table: bool) -> dict[str, Any]:
    """Return the check with the answer that a result has for a criterion; Parquet has 1 and 0, and null for `n/a`."""
    raw: Any = written.get("raw")
    if criterion is None:  # which is refused later
        return {"id": written.get("id"), "satisfied": raw}
    if is_table and criterion.shape is Shape.CHECKLIST and raw in (0, 1):
        raw = bool(raw)
    not_applying = None if is_table else NOT_APPLICABLE
    if criterion.may_not_apply and raw == not_applying:
        raw = NOT_APPLICABLE
    return write_check(criterion, raw)


_OF_VERSION_3 = frozenset({"rubric_score", "rubric_grade"})


_OF_RECORD = frozenset({"id", "rubric", *OUTPUT_FIELDS})
"""The fields by which an entry is a record around a judge output, also where the output is missing."""

_PLAIN = frozenset({"id", "rubric", "output", *INPUT_FIELDS})
"""The fields of a record that is in the expected form."""


def _score_row(value: dict[str, Any], reader: OutputReader, reading: ParseOptions) -> RecordResult | None:
    """Score a record or an object with a field for each criterion; None if it has none."""
    rubric = reader.rubric
    if value.keys().isdisjoint({"id", "rubric"}):
        output = unfold(value, rubric)
        if output is not value:
            return reader.read_object(output, reading)
    row = read_sheet_row(value, rubric)
    if row is None:
        return None
    is_result = "points" in value and "full" in value
    _refuse_unjudged(value, row, is_result=is_result)
    known = reader.grade(read_whole(row, rubric))
    layout = row.layout
    others = {name: value[name] for name in layout.others}
    if not is_result or read_judged_by(value) in {None, rubric.hash}:
        _refuse_other_result(value, row, known, is_result=is_result)
    if is_result:
        own = OVERWRITING_FIELDS | OF_TABLE | _OF_VERSION_3
        others = {name: item for name, item in others.items() if name not in own}
    form_of(rubric.form).check_record(others, is_single=len(rubric.criteria) == 1)
    flag = None if reading.extra_fields is ExtraFields.ACCEPT else find_other_flag(row, value, known.verdict)
    if flag is not None:
        found = f"`{flag}` is {read_cell(value[flag])}, but the criteria come to {known.verdict}"
        advice = "remove the wrong one; `score --extra-fields accept` passes over it"
        raise OutputError(f"{found}: {advice}", pointer((flag,)))
    extra = list_values(others)
    if extra and reading.extra_fields is ExtraFields.REFUSE:
        raise OutputError(f"unknown field `{extra[0]}` is a number or a boolean", pointer((extra[0],)))
    notes = [ReadingNotes(tuple(extra))] if extra else []
    record = others if "id" in value else {}
    return RecordResult(known, None, record, rubric.name, notes=notes)


def _refuse_unjudged(record: Mapping[str, Any], row: SheetRow, *, is_result: bool) -> None:
    """Refuse a record without answers that says why, and one that was invalid when it was judged.

    Raises:
        OutputError: with the reason.
    """
    if all(answer is None for answer in row.answers):
        refuse_failed(record)
        if is_result and row.verdict:
            raise OutputError(
                "a compact result, which has no criteria; name results that were written without --compact"
            )
    fault = _find_fault(record)
    if fault:
        raise OutputError(f"invalid when it was judged: {fault}")


def _refuse_other_result(record: Mapping[str, Any], row: SheetRow, known: Scored, *, is_result: bool) -> None:
    """Refuse a verdict or a score that does not follow from its criteria; a score may be out of 1, 10 or 100.

    Raises:
        OutputError: naming both.
    """
    of_samples = "a table keeps no samples, so if it had several, name the file that `judge` wrote"
    advice = of_samples if is_result else "remove the wrong one"
    column = row.layout.verdict
    is_judged = column is not None and fold_column(column) == "verdict"  # a `label` is of a person
    if is_judged and row.verdict not in {None, known.verdict}:
        raise OutputError(f"`verdict` is {row.verdict}, but the criteria come to {known.verdict}: {advice}", "/verdict")
    score = read_cell(record.get("score"))
    if not score or score.casefold() in NOTHING or "score" in row.layout.used:
        return
    if not _may_be_rounded(score.replace(",", ".").rstrip("% "), float(known.score)):
        raise OutputError(f"`score` is {score}, but the criteria come to {float(known.score)!r}: {advice}", "/score")


def _may_be_rounded(text: str, score: float) -> bool:
    """Return whether a text is a score out of 1, 10 or 100, rounded to the digits it has, or to a tenth."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        return False
    exponent = found.as_tuple().exponent
    if not isinstance(exponent, int):  # not a number, or infinite
        return False
    step = 10.0 ** min(exponent, 0) / 2
    return any(math.isclose(found, score * full, abs_tol=min(step, full / 20) + 1e-9) for full in (1, 10, 100))


class Scorer:
    """A scorer of entries for some rubrics; `only` reads outputs for the only one, and is None if there are several."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], reading: ParseOptions = DEFAULT_OPTIONS) -> None:
        self._rubrics = rubrics
        self._readers = {rubric.name: OutputReader(rubric) for rubric in rubrics.values()}
        self.only = next(iter(self._readers.values())) if len(rubrics) == 1 else None
        self._reading = reading

    def score(self, content: Content, line: int = 0, file: str | None = None) -> RecordResult:
        """Score the content of an entry: a judge output, or a record that holds one; `line` is where it begins."""
        if self.only and type(content) is bytes:
            matched = self.only.match_record(content, line, file)
            if matched:
                return matched
        try:
            found = self.score_record(decode_entry(content))
        except OutputError as fault:
            found = self._refuse_unread(fault)
        if found.error:
            place_in_output(content, found.error)
        found.line, found.file = line, file
        return found

    def score_record(self, record: dict[str, Any]) -> RecordResult:
        """Score a judge output, or a record that holds one, that is decoded."""
        try:
            return self._score(record)
        except OutputError as fault:
            rubric = self._rubrics.get(self._name_rubric(record) or "")
            if "rater" in record or not rubric or find_reason(record) or not lacks_output(record, rubric):
                return self._refuse(record, fault)
            return self._refuse(record, OutputError(f"{NOT_JUDGED}: {fault.message}", fault.path, fault.line))

    def _score(self, value: dict[str, Any]) -> RecordResult:  # noqa: C901 (a case for each form)
        """Score a decoded entry by its form: a record, a result, a row with a field for each criterion, or an output.

        Raises:
            OutputError: if it is not valid.
        """
        if not OUTPUT_FIELDS.isdisjoint(value):
            return self._score_outputs(value)
        if isinstance(value.get("criteria"), list) and {"score", "verdict"} <= value.keys():
            return self._score_again(value)
        reader = self._find_reader(value) if "rubric" in value or self.only else None
        if reader is None or value.keys().isdisjoint(reader.ids):  # a field of a criterion would be its judgement
            record = move_to_output(value)
            if record:
                return self._score_outputs(record)
        is_record = not value.keys().isdisjoint(_OF_RECORD)
        has_judgement = any(key in value for key in JUDGEMENTS)
        if reader and ((is_record and "checks" not in value) or not has_judgement):
            result = _score_row(value, reader, self._reading)
            if result:
                return result
        refuse_failed(value)
        if "rubric" not in value:
            # In a table of several rubrics, the columns of the others are blank.
            filled = [name for name, item in value.items() if isinstance(name, str) and item not in ("", None)]
            if not self._criteria.isdisjoint(map(fold_column, filled)):
                self._find_reader(value)  # refuses a judgement that may be of any of several rubrics
        if is_record:
            names = ", ".join(list(map(str, value))[:6])
            raise OutputError(
                f'the record has no field `output` (found: {names}); expected {{"id": ..., "output": {{...}}}}'
            )
        if not has_judgement:
            near = [key for key in value if isinstance(key, str) and find_near(key, [*OUTPUT_FIELDS, *JUDGEMENTS])]
            hint = f"; is it `{near[0]}`?" if near else ""
            raise OutputError(f"the object has no field `output`, `outputs`, `checks` or `score`{hint}")
        return self._find_reader({}).read_object(value, self._reading)

    def _find_reader(self, record: Mapping[str, Any]) -> OutputReader:
        """Return the reader for the rubric that a record names, or for the only rubric; raise OutputError for none."""
        if self.only and "rubric" not in record:
            return self.only
        return self._readers[find_rubric(record, self._rubrics).name]

    @cached_property
    def _criteria(self) -> frozenset[str]:
        """The names that columns of judgements may have, as they are compared."""
        return frozenset(fold_column(name) for reader in self._readers.values() for name in reader.ids)

    def _score_again(self, value: dict[str, Any]) -> RecordResult:
        """Score the answers of a result that `score` wrote, as its rubric may have changed."""
        refuse_failed(value)
        if "verdicts" in value:
            raise OutputError("a result of several samples, which it does not keep; name the file that `judge` wrote")
        rubric = self._find_reader(value).rubric
        results = [item if isinstance(item, Mapping) else {} for item in value["criteria"]]
        output: dict[str, Any]
        if rubric.shape is Shape.HOLISTIC:
            output = {rubric.criteria[0].field: results[0].get("raw") if results else None}
        else:
            known = {criterion.id: criterion for criterion in rubric.criteria}
            is_table = "shape" not in value
            checks = [_read_check(result, known.get(str(result.get("id"))), is_table=is_table) for result in results]
            output = {"checks": checks}
        value = {name: item for name, item in value.items() if name not in rubric.own_fields | _OF_VERSION_3}
        groups = value.get("groups")
        if isinstance(groups, list) and any(isinstance(group, dict) and "gate_met" in group for group in groups):
            value.pop("groups")  # results of groups, of whichever version of the rubric
        dropped = RESULT_FIELDS - {"rubric", "rubric_hash"}
        if "shape" not in value:
            dropped |= OF_TABLE
        kept = {name: item for name, item in value.items() if name not in dropped}
        found = self._score_outputs({**kept, "output": output})
        scored = found.scored
        if scored and read_judged_by(value) == scored.rubric.hash and value["score"] != float(scored.score):
            raise OutputError(
                f"`score` is {value['score']}, but the criteria come to {float(scored.score)!r}: the result was "
                "changed after it was written",
                "/score",
            )
        return found

    def _refuse_unread(self, fault: OutputError) -> RecordResult:
        """Return the result of an entry that could not be read."""
        record = fault.record
        _, field, *_ = [*fault.path.split("/"), ""]
        if field in OUTPUT_FIELDS:
            record = {**record, field: ""}
        found = RecordResult(record=record, error=fault.forget_frames())
        if not OUTPUT_FIELDS.isdisjoint(record) and field != "rubric":
            found.rubric = self._name_rubric(record)
        return found

    def _refuse(self, record: Mapping[str, Any], fault: OutputError) -> RecordResult:
        """Return the result of an entry that is not valid, with what is known of it."""
        found = RecordResult(record=record, error=fault.forget_frames())
        if not _OF_RECORD.isdisjoint(record) and OVERWRITING_FIELDS.isdisjoint(record):
            found.rubric = self._name_rubric(record)
        return found

    def _name_rubric(self, record: Mapping[str, Any]) -> str | None:
        try:
            return find_rubric(record, self._rubrics).name
        except OutputError:
            return None

    def match_form(self, entry: Any) -> Scored | None:
        """Return the result of a decoded entry or a raw text that has just the fields of the expected form, or None."""
        reader = self.only
        if type(entry) is dict and "output" in entry:
            if not entry.keys() <= _PLAIN:
                return None
            if "rubric" in entry:
                named = entry["rubric"]
                reader = self._readers.get(named) if type(named) is str else None
            entry = entry["output"]
        if reader is None:
            return None
        return reader.match_output(entry)

    def score_output(self, output: Any) -> RecordResult:
        """Score a raw text or a read output by the only rubric."""
        try:
            reader = self._find_reader({})
            if isinstance(output, str):
                return reader.read(output, reading=self._reading)
            if isinstance(output, JudgeOutput):
                return RecordResult(reader.check_answers(output), output, rubric=reader.rubric.name)
        except OutputError as fault:
            error = fault.forget_frames()
        else:
            found = "null" if output is None else f"a Python value of the type {type(output).__name__}"
            error = OutputError(f"found {found}; expected a judge output: a text, bytes of JSON or an object")
        name = self.only.rubric.name if self.only else None
        return RecordResult(rubric=name, error=error)

    def _score_outputs(self, record: dict[str, Any]) -> RecordResult:
        """Score a record with one or several outputs."""
        for name, value in record.items():
            if name not in OVERWRITING_FIELDS or (name == "error" and not value):
                continue  # an `error` that is null or empty says that there is none
            if not any(map(record.get, OUTPUT_FIELDS)):
                refuse_failed(record)
            raise OutputError(f"the record's `{name}` would overwrite that of the result; rename it", f"/{name}")
        output = record.get("output")
        fault = _find_fault(record) if "judge" in record else None
        if "outputs" not in record and (output is None or (isinstance(output, str) and not output.strip())):
            if fault:
                raise OutputError(f"no output: {fault}")
            refuse_failed(record)
        reader = self._find_reader(record)
        if fault and record["judge"].get("per_criterion"):  # the text is of one request, and no output of this rubric
            raise OutputError(f"invalid when it was judged: {fault}")
        if "outputs" in record:
            found = self._score_samples(reader, record)
        else:
            found = self._read(reader, output, record)
            if not fault and "judge" in record:
                refuse_missing_votes(read_panel(record), 1, "/output")
        if fault:  # the judge run knew more, such as how strictly to read the output
            raise OutputError(f"invalid when it was judged: {fault}")
        found.record = record
        return found

    def _score_samples(self, reader: OutputReader, record: Mapping[str, Any]) -> RecordResult:
        """Return the median of the outputs of a record."""
        if "output" in record:
            raise OutputError("`output` next to `outputs`: unclear which one counts; remove one", "/outputs")
        outputs = record["outputs"]
        if not isinstance(outputs, list):
            raise OutputError(
                "`outputs` must be a list of outputs for one answer; name a single one `output`", "/outputs"
            )
        if not outputs:
            raise OutputError("`outputs` is an empty list", "/outputs")
        panel = read_panel(record)
        # The name of the model that gave each of the outputs, as far as the panel says it.
        names = chain.from_iterable(repeat(member.name, min(member.outputs, len(outputs))) for member in panel)
        models = tuple(islice(names, len(outputs)))
        given: list[Scored] = []
        notes: list[ReadingNotes] = []
        for number, output in enumerate(outputs, start=1):
            try:
                found = self._read(reader, output, record)
                given.append(reader.rubric.grade(found.output))
                notes += found.notes
            except OutputError as fault:
                path = f"/outputs/{number - 1}{fault.path}"
                by = f" (by `{models[number - 1]}`)" if number <= len(models) else ""
                # A judge whose first output is invalid is not asked for more.
                if len(outputs) == 1 and not by:
                    raise OutputError(fault.message, path) from None
                raise OutputError(f"output {number} of {len(outputs)}{by}: {fault.message}", path) from None
        if not _find_fault(record):
            refuse_missing_votes(panel, len(given), "/outputs")
        result = combine_samples(given)
        # Votes are counted only if the panel says of every output which model gave it.
        if len(models) == len(given) > 1:
            result = replace(result, models=models, votes=count_votes(panel))
        return RecordResult(result, rubric=reader.rubric.name, notes=notes)

    def _read(self, reader: OutputReader, output: Any, record: Mapping[str, Any]) -> RecordResult:
        if not isinstance(output, str):
            return reader.read_object(output, self._reading)
        try:
            return reader.read(output, lambda: read_quotable(*map(record.get, INPUT_FIELDS)), self._reading)
        except OutputError as fault:
            if not fault.path and not isinstance(fault, NothingAppliesError):
                raise OutputError(f"in the raw text: {fault.message}", line=fault.line) from None
            raise

    def forget(self) -> None:
        """Forget the combinations of answers if there are many."""
        if sum(len(reader.graded) for reader in self._readers.values()) > MOST_GRADED:
            for reader in self._readers.values():
                reader.graded.clear()


def refuse_failed(record: Mapping[str, Any]) -> None:
    """Refuse a record that says why it has no output, or a result that says why it has no score.

    Raises:
        OutputError: with that reason.
    """
    reason = find_reason(record)
    if not reason:
        return
    if not is_failed_result(record):
        raise OutputError(f"{NOT_JUDGED}: {reason}")
    if reason.startswith(NOT_JUDGED):
        raise OutputError(reason)
    raise OutputError(f"{_NO_SCORE}{reason.removeprefix(_NO_SCORE)}")


def is_failed_result(record: Mapping[str, Any]) -> bool:
    """Return whether the `error` of a record is that of a result that `score` wrote: it has a place.

    JSON has the place inside the error, a table in columns of its own.
    """
    error = record.get("error")
    if isinstance(error, Mapping):
        return "path" in error
    return "line" in record or "error_path" in record


def lacks_output(record: Mapping[str, Any], rubric: ScoringRubric) -> bool:
    """Return whether an invalid record holds nothing of a judge, so that nobody knows what it finds.

    It may say why, as after an error of the endpoint. An empty cell, null and an empty text are the same, as tables do
    not tell them apart.
    """
    reason = find_reason(record) if is_failed_result(record) else _find_fault(record)
    if reason:
        return reason.removeprefix(_NO_SCORE).startswith((NOT_JUDGED, _OF_NO_RUBRIC))
    given = {}
    for name, value in record.items():
        is_blank = value is None or (isinstance(value, str) and not value.strip())
        if isinstance(name, str) and not is_blank and (name not in OUTPUT_FIELDS or value != []):
            given[name] = value
    fields = OUTPUT_FIELDS.union(JUDGEMENTS, list_fields([rubric]))
    return fields.isdisjoint(map(fold_column, given)) and not is_judged(given, rubric)


_NO_SCORE, _OF_NO_RUBRIC = "no score: ", "no rubric is named"


def _find_fault(record: Mapping[str, Any]) -> str | None:
    """Return the error that a record reports from the judge run, if any."""
    return as_string(as_mapping(record.get("judge")).get("fault"))
