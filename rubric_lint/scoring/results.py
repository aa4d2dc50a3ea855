"""Read results that `rubric-score` wrote: of other runs to compare, and of parts to merge."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.model.criterion import USUAL_THRESHOLDS, Hundredth, Shape
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.scoring.flat import OF_TABLE
from rubric_lint.scoring.grading import (
    NOT_APPLICABLE,
    AnswerValue,
    CriterionResult,
    Grade,
    JudgeOutput,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    find_middle_verdict,
)
from rubric_lint.scoring.output import MOST_GRADED, OutputReader, RecordResult
from rubric_lint.scoring.records.decoding import Content, OutputError, decode_entry
from rubric_lint.scoring.records.mapping import CRITERION, RESULT_FIELDS
from rubric_lint.scoring.scorer import OtherVersionError, Scorer, is_failed_result, refuse_failed
from rubric_lint.source.values import as_mapping, as_string

_VERDICTS = {str(verdict): verdict for verdict in Verdict}


def is_result(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is a line of results, with a score or with an error."""
    return {"score", "verdict", "criteria"} <= entry.keys() or (
        isinstance(entry.get("error"), dict) and "output" not in entry
    )


def read_result(entry: Mapping[str, Any]) -> Scored:
    """Return a line of results as it is written, checked; its rubric has just what the line says of it.

    Raises:
        OutputError: if it has no score, or is not as `rubric-score` writes it.
    """
    if "error" in entry:
        if not isinstance(entry["error"], dict):
            raise OutputError("`error` must be an object in a result", "/error")
        raise OutputError(f"no score: {entry['error'].get('message', 'no reason given')}")
    name, score, verdict = entry.get("rubric"), entry["score"], entry["verdict"]
    if not isinstance(name, str):
        raise OutputError("`rubric` must be a string in a result", "/rubric")
    if not _is_score(score):
        raise OutputError("`score` must be a number from 0 to 1 in a result", "/score")
    if not isinstance(verdict, str) or verdict not in _VERDICTS:
        raise OutputError("`verdict` must be pass, borderline or fail in a result", "/verdict")
    if not isinstance(entry["criteria"], list):
        raise OutputError("`criteria` must be a list in a result", "/criteria")
    is_table = "shape" not in entry
    criteria = tuple([_read_criterion(item, place, is_table=is_table) for place, item in enumerate(entry["criteria"])])
    if len({name for name, *_ in criteria}) < len(criteria):
        raise OutputError("`criteria` has an id more than once", "/criteria")
    rubric_hash = as_string(entry.get("rubric_hash")) or ""
    return _build(name, rubric_hash, score, _VERDICTS[verdict], criteria)


def _read_criterion(criterion: Any, place: int, *, is_table: bool) -> tuple[Any, ...]:
    """Return a criterion of a result as it is written; the type of the answer tells true from 1.

    One that does not apply has no score; a table has no answer either.
    """
    match criterion:
        case {"id": str(name), "weight": weight, "gate_met": bool(met)} if _is_number(weight):
            raw, score = criterion.get("raw"), criterion.get("score")
            if score is None and (raw == NOT_APPLICABLE or (is_table and raw is None)):
                raw, score = NOT_APPLICABLE, 0
            elif not (isinstance(raw, bool) or _is_number(raw)) or not _is_score(score):
                raw = None
            if raw is not None:
                gate, share = (number if _is_number(number) else None for number in map(criterion.get, _NUMBERS))
                return name, type(raw), raw, score, met, weight, gate, share
    needed = "`id`, `raw`, `score`, `weight` and `gate_met`"
    raise OutputError(f"a criterion of a result needs {needed}", f"/criteria/{place}")


_NUMBERS = ("gate", "share")


@lru_cache(maxsize=MOST_GRADED)
def _build(name: str, rubric_hash: str, score: float, verdict: Verdict, written: tuple[tuple[Any, ...], ...]) -> Scored:
    """Return a result as it is written; equal ones are one object, as runs count by identities."""
    described = tuple([(criterion, weight, gate) for criterion, _, _, _, _, weight, gate, _ in written])
    rubric = _describe(name, rubric_hash, described)
    criteria = []
    for criterion, (_, _, answer, worth, met, _, _, share) in zip(rubric.criteria, written, strict=True):
        grade = Grade(answer, Fraction(worth), 0, met, None)
        exact_share = None if share is None else Fraction(share)
        criteria.append(CriterionResult(criterion, grade, share=exact_share))
    return Scored(rubric, Fraction(score), verdict, tuple(criteria))


@lru_cache(maxsize=MOST_GRADED)
def _describe(name: str, rubric_hash: str, written: tuple[tuple[str, float, int | None], ...]) -> ScoringRubric:
    """Return a rubric with just what results say of it: the weights and the gates of its criteria, but no points."""
    criteria = tuple([
        # By its text: a decimal of the float itself has the digits of its binary form.
        ScoringCriterion(criterion, Decimal(str(weight)), Fraction(0), gate, None, ())
        for criterion, weight, gate in written
    ])  # fmt: skip
    return ScoringRubric(name, rubric_hash, _NO_MODEL, Shape.CHECKLIST, criteria, 1, 1, 1)


_NO_MODEL = Rubric((), CURRENT, (), USUAL_THRESHOLDS, implicit_required=False, replacements={}, ambiguous=())
"""The model of a rubric of which only results are at hand."""


def is_row(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is a row of a CSV file of results, with a score or with an error."""
    if isinstance(entry.get("error"), str) and "output" not in entry:
        return is_failed_result(entry)
    return {"rubric", "rubric_hash", "score", "verdict"} <= entry.keys()


def read_row(row: Mapping[str, Any], rubric: ScoringRubric | None) -> Scored:
    """Return a row of a CSV file of results as it is written, checked.

    The file lacks the scores of criteria. They are those of `rubric`, as far as it has the criterion and the answer.

    Raises:
        OutputError: if the row has no score, or is not as `rubric-score` writes it.
    """
    refuse_failed(row)
    criteria = rubric.criteria if rubric else ()
    names = [*_CELLS, *[f"{CRITERION}{criterion.id}" for criterion in criteria]]
    try:
        return _build_row(tuple([row.get(name) for name in names]), rubric)
    except (ValueError, TypeError, KeyError, ZeroDivisionError, OverflowError):
        raise OutputError("a row of results needs a `score` from 0 to 1 and a `verdict`") from None


_CELLS = ("rubric", "rubric_hash", "points", "full", "score", "verdict", "gates_missed")


@lru_cache(maxsize=MOST_GRADED)
def _build_row(cells: tuple[Any, ...], rubric: ScoringRubric | None) -> Scored:
    """Return a row of results as it is written; equal ones are one object."""
    name, rubric_hash, points, full, rounded, verdict, missed, *answers = cells
    # Exact, where `score` is rounded.
    if points and full:
        score = Fraction(int(points), int(full))
    else:
        score = Fraction(float(rounded))
    if not 0 <= score <= 1:
        raise ValueError
    gates_missed = (missed or "").split()
    if missed and missed.startswith("["):
        gates_missed = json.loads(missed)
    criteria = []
    graded = rubric.criteria if rubric else ()
    for criterion, text in zip(graded, answers, strict=True):
        if not text:
            continue
        grade = criterion.grade(_read_cell(text))
        if grade:
            criteria.append(CriterionResult(criterion, grade._replace(gate_met=criterion.id not in gates_missed)))
    return Scored(_describe(str(name), str(rubric_hash), ()), score, _VERDICTS[verdict], tuple(criteria))


def _read_cell(text: str) -> AnswerValue:
    if text in _WORDS:
        return _WORDS[text]
    return Hundredth.read(float(text)) or 0 if "." in text else int(text)


_WORDS: Mapping[str, AnswerValue] = {"true": True, "false": False, str(NOT_APPLICABLE): NOT_APPLICABLE}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_score(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


_YES_OR_NO = {0: False, 1: True}
"""The answers to a checklist criterion as tables have them."""

_CHANGED = "the result was changed after it was written, or cut"


class _KeptError(OutputError):
    """The error of an output that was invalid when it was scored."""


class ResultScorer(Scorer):
    """A scorer of results: it takes over each one that its rubric would give for the same answers, and no other.

    A result is written again from its answers, so a line that was changed cannot bring in anything else.
    """

    def score(self, content: Content, line: int = 0, file: str | None = None) -> RecordResult:
        """Take over the result that an entry holds."""
        try:
            entry = decode_entry(content)
        except OutputError as fault:
            return RecordResult(record=fault.record, line=line, file=file, error=fault.forget_frames())
        try:
            found = self._score(entry)
        except OutputError as fault:
            found = self._refuse(entry, fault)
            if isinstance(fault, _KeptError):
                fault.place = _read_place(entry["error"], has_others=file is not None)
        found.line, found.file = line, file
        return found

    def _score(self, value: dict[str, Any]) -> RecordResult:
        """Read a result.

        Raises:
            OutputError: if it has no score, if its rubric would not give it, or if it is not a result.
        """
        if not is_result(value):
            raise OutputError(_say_what_it_is(value))
        error = value.get("error")
        if isinstance(error, dict):
            message, path = as_string(error.get("message")), as_string(error.get("path"))
            if message is None:
                message = "invalid, without a reason"
            raise _KeptError(message, path or "")
        found = read_result(value)
        reader = self._find_reader(value)
        _check_version(found, reader.rubric)
        is_of_table = "shape" not in value
        own = RESULT_FIELDS | reader.rubric.own_fields
        if is_of_table:
            own |= OF_TABLE
        record = {name: item for name, item in value.items() if name not in own}
        known = reader.check_answers(_read_output(found, reader, is_of_table=is_of_table))
        if "verdicts" in value or any("share" in item for item in value["criteria"]):
            return RecordResult(_read_median(value, found, known), record=record, rubric=reader.rubric.name)
        _refuse_changed(value, found, known)
        return RecordResult(known, record=record, rubric=reader.rubric.name)

    def _refuse(self, record: Mapping[str, Any], fault: OutputError) -> RecordResult:
        """Return a result without a score, or another entry, as far as it is known."""
        if not is_result(record):
            return super()._refuse(record, fault)
        rubric = as_string(record.get("rubric"))
        kept = {field: item for field, item in record.items() if field not in RESULT_FIELDS}
        kept["output"] = ""  # the other fields are copied, as those of a record with an output
        return RecordResult(record=kept, rubric=rubric, error=fault.forget_frames())


def _read_output(found: Scored, reader: OutputReader, *, is_of_table: bool) -> JudgeOutput:
    """Return the output with the answers of a result.

    Raises:
        OutputError: if its criteria are not those of the rubric.
    """
    answers = {result.criterion.id: result.grade.answer for result in found.criteria}
    if answers.keys() != {*reader.ids}:
        raise OutputError(f"the criteria are not those of the rubric: {_CHANGED}", "/criteria")
    if is_of_table:
        for criterion in reader.rubric.criteria:
            if criterion.shape is Shape.CHECKLIST:
                answers[criterion.id] = _YES_OR_NO.get(answers[criterion.id], answers[criterion.id])
    return JudgeOutput(tuple([answers[name] for name in reader.ids]), (None,) * len(reader.ids))


def _refuse_changed(entry: Mapping[str, Any], found: Scored, known: Scored) -> None:
    """Refuse a result of one output that is not what its answers come to; raise OutputError naming both."""
    # A result holds the float next to the exact score.
    if float(found.score) != float(known.score):
        raise OutputError(
            f"`score` is {float(found.score)!r}, but the criteria come to {float(known.score)!r}: {_CHANGED}", "/score"
        )
    if found.verdict is not known.verdict:
        raise OutputError(
            f"`verdict` is {found.verdict}, but the criteria come to {known.verdict}: {_CHANGED}", "/verdict"
        )
    missed: set[Any] = {*found.gates_missed}
    if "groups" in known.rubric.own_fields:
        for group in entry.get("groups") or ():
            if isinstance(group, dict) and group.get("gate_met") is False:
                missed.add(group.get("id"))
    if missed != {*known.gates_missed}:
        raise OutputError(f"`gate_met` does not follow from `raw`: {_CHANGED}", "/criteria")


def _say_what_it_is(entry: Mapping[str, Any]) -> str:
    """Return why an entry is not a result that can be merged."""
    if "verdict" in entry and "score" in entry:
        return (
            "a compact result, which has no criteria and no `rubric_hash`; merge results that were written without "
            "--compact"
        )
    if "output" in entry or "outputs" in entry or "checks" in entry:
        return "a judge output, not a result; score it first, and merge the results"
    return f"not a result of rubric-lint score (found: {', '.join(list(entry)[:6]) or 'nothing'})"


def _read_place(error: Mapping[str, Any], *, has_others: bool) -> dict[str, Any] | None:
    """Return where an error was found when the output was scored; None if that is unknown.

    An error without a file is of the only one, so with other files around, its place is in this one.
    """
    place = {name: error[name] for name in ("file", "line") if name in error}
    is_known = "file" in place or not has_others
    return place if is_known and type(place.get("line")) is int and isinstance(place.get("file", ""), str) else None


def _check_version(found: Scored, rubric: ScoringRubric) -> None:
    """Check that a result is by this version of its rubric; raise an error if it is not, or does not say it."""
    version = found.rubric.hash
    if version == rubric.hash:
        return
    if not version:
        raise OutputError(
            "the result has no `rubric_hash`, so it may be of another version of the rubric", "/rubric_hash"
        )
    raise OtherVersionError(
        f"scored by another version of the rubric (`rubric_hash` {version}, now {rubric.hash}); score the output again",
        "/rubric_hash",
    )


def _read_median(entry: Mapping[str, Any], found: Scored, known: Scored) -> Scored:
    """Return the result of several outputs for one answer; tables do not keep how many there were."""
    rubric = known.rubric
    if rubric.cuts_mean:
        raise OutputError("a result of several outputs, which does not keep scores below 0; score the records together")
    if rubric.varies:
        raise OutputError(
            "a result of several outputs, which does not keep their exact scores; score the records together"
        )
    score = Fraction(round(found.score * 2 * rubric.full), 2 * rubric.full)  # it may lie between two points
    if float(score) != float(found.score):
        raise OutputError(f"`score` is {float(found.score)!r}, which this rubric never gives: {_CHANGED}", "/score")
    shares = {result.criterion.id: result.share for result in found.criteria}
    criteria = tuple([replace(result, share=shares[result.criterion.id]) for result in known.criteria])
    median = Scored(rubric, score, found.verdict, criteria)
    if "verdicts" not in entry:
        return median
    panel = entry.get("panel")
    members: list[Any] = panel if isinstance(panel, list) else [entry]
    samples: list[Scored] = []
    models: list[str] = []
    for member in members:
        verdicts = _list_verdicts(member)
        samples += [Scored(rubric, score, verdict, ()) for verdict in verdicts]
        if panel and isinstance(member.get("model"), str):
            models += [member["model"]] * len(verdicts)
    given = [sample.verdict for sample in samples]
    is_median = bool(given) and find_middle_verdict(given) is found.verdict
    if not is_median or Counter(given) != Counter(_list_verdicts(entry)):
        raise OutputError(f"`verdict` is not the median of `verdicts`: {_CHANGED}", "/verdicts")
    votes = entry.get("independent_votes_at_most")
    known_models = tuple(models) if len(models) == len(samples) else ()
    independent_votes = votes if type(votes) is int else 0
    return replace(
        median,
        samples=tuple(samples),
        models=known_models,
        votes=independent_votes,
    )


def _list_verdicts(member: Any) -> list[Verdict]:
    """Return every verdict as often as `verdicts` says; raise OutputError if that is not counts of verdicts."""
    counts = as_mapping(member).get("verdicts")
    refusal = OutputError("`verdicts` must count pass, borderline and fail in a result", "/verdicts")
    if not isinstance(counts, dict):
        raise refusal
    verdicts: list[Verdict] = []
    for name, count in counts.items():
        if name not in _VERDICTS or type(count) is not int or not 0 <= count <= _MOST_OUTPUTS:
            raise refusal
        verdicts += [_VERDICTS[name]] * count
    return verdicts


_MOST_OUTPUTS = 100_000
"""The most outputs for one answer: an entry of the largest size has fewer."""
