"""Read judgements that have a field for each criterion, as sheets and flat objects do, or one for the verdict."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from rubric_lint.model.criterion import Hundredth, Shape
from rubric_lint.model.messages import find_near, list_names
from rubric_lint.scoring.form import APPLICABLE, describe_answer, write_check
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.records.decoding import OutputError, quote_start
from rubric_lint.scoring.records.mapping import (
    CRITERION,
    RECORD_FIELDS,
    RESULT_FIELDS,
    SHEET,
    RequiredColumns,
    fold_column,
)
from rubric_lint.source.path import pointer

_VERDICT_COLUMNS = ("verdict", "label")
_SCORE = "score"
_FLAGS = frozenset({"pass", "passed"})
"""The fields that say in yes or no whether an answer passes."""

_YES = frozenset({"yes", "y", "true", "1", "pass", "passed", "met"})
_NO = frozenset({"no", "n", "false", "0", "fail", "failed", "missed", "unmet", "not met"})
# Spreadsheets in many languages write 7,0; three zeros behind a comma may be thousands.
_WHOLE = re.compile(r"([-+]?[0-9]{1,9})(?:\.0*|,0{1,2})?")
_FRACTION = re.compile(r"[-+]?[0-9]*[.,][0-9]+")
_VALUE = re.compile(r"\s*(?:true|false|[-+]?[0-9]{1,9}(?:[.,][0-9]{1,9})?)\s*", re.IGNORECASE)
NOTHING = frozenset({"n/a", "na", "n.a.", "-", "--", "?", "none", "null", "unknown"})
"""What people write into a cell without a judgement."""

OF_TABLE = frozenset({"points", "full", "gates_missed"})
"""The columns of our own tables of results that follow from the others."""

_KNOWN = frozenset({*RECORD_FIELDS, *RESULT_FIELDS, *OF_TABLE, "error_path", "file", "line", SHEET, "rater", "chosen"})
"""The fields with a meaning of their own, which are never taken for a misspelt criterion."""


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """Where records with certain names of fields have a judgement: the `used` fields, and the `others`.

    Of the used ones, `criteria` have the answer to each criterion, and `verdict` has the verdict; None without one.
    `flags` are those of the others that say in yes or no whether an answer passes.
    """

    criteria: tuple[str | None, ...]
    verdict: str | None
    used: frozenset[str]
    others: tuple[str, ...]
    flags: tuple[str, ...]


class SheetRow(NamedTuple):
    """A judgement: the answer to each criterion and the verdict, each None if it is not given."""

    layout: SheetLayout
    answers: tuple[AnswerValue | None, ...]
    verdict: Verdict | None


def list_fields(rubrics: Iterable[ScoringRubric]) -> frozenset[str]:
    """Return the names that the columns of judgements may have, folded."""
    found = set(_VERDICT_COLUMNS)
    for rubric in rubrics:
        found.update(fold_column(criterion.id) for criterion in rubric.criteria)
        if len(rubric.criteria) == 1 and rubric.criteria[0].shape is not Shape.CHECKLIST:
            found.add(_SCORE)
    return frozenset(found)


def require_judgements(rubrics: Collection[ScoringRubric], *, is_shared: bool = False) -> RequiredColumns:
    """Return what a table must have to be scored by one of these rubrics."""
    fields = {criterion.field for rubric in rubrics for criterion in rubric.criteria}
    if any(criterion.may_not_apply for rubric in rubrics for criterion in rubric.criteria):
        fields.add(APPLICABLE)
    return RequiredColumns(judgements=list_fields(rubrics), answer_fields=frozenset(fields), is_shared=is_shared)


def is_judged(value: Mapping[str, Any], rubric: ScoringRubric) -> bool:
    """Return whether a record is a result, has a field for a criterion, or two of which only one may be it."""
    try:
        return isinstance(value.get("criteria"), list) or any(_find_columns(tuple(value), rubric)[0])
    except OutputError:
        return True


def read_sheet_row(value: Mapping[str, Any], rubric: ScoringRubric) -> SheetRow | None:
    """Return the judgement in the fields of a record; None if it has none of them.

    An empty text and null count as unanswered. A number and a word may be texts, as they are in tables.

    Raises:
        OutputError: if two fields are of one criterion, one seems misspelt, or a value is not allowed.
    """
    if isinstance(value.get("criteria"), list):  # a result
        return None
    names = tuple([name for name in value if isinstance(name, str)])
    try:
        layout = _lay_out(names, rubric)
    except _SharedError:  # in a table of several rubrics, the columns of the others are blank
        own = {criterion.id for criterion in rubric.criteria}
        filled = tuple(name for name in names if value[name] not in ("", None) or name.removeprefix(CRITERION) in own)
        layout = _lay_out(filled, rubric)
    if not layout.used:
        return None
    _refuse_compact(value, layout, rubric)
    answers: list[AnswerValue | None] = []
    for name, criterion in zip(layout.criteria, rubric.criteria, strict=True):
        answer = None if name is None else _read_answer(value, name, criterion)
        answers.append(answer)
    verdict = None if layout.verdict is None else _read_verdict(value, layout.verdict)
    # A verdict alone answers a checklist of one criterion, if only one of the two answers leads to that verdict.
    if layout.criteria == (None,) and rubric.criteria[0].shape is Shape.CHECKLIST:
        earning = [grade.answer for grade in rubric.criteria[0].grades if rubric.weigh([grade]).verdict is verdict]
        answers = [earning[0] if len(earning) == 1 else None]
    return SheetRow(layout, tuple(answers), verdict)


def _refuse_compact(value: Mapping[str, Any], layout: SheetLayout, rubric: ScoringRubric) -> None:
    """Refuse a score next to a verdict that may be a compact result, where 1 is the best and not nearly the worst.

    Raises:
        OutputError: unless the score is a whole number above 1, or the verdict follows from it.
    """
    (score, *others), criterion = layout.criteria, rubric.criteria[0]
    if others or not score or not layout.verdict:
        return
    if fold_column(score) != _SCORE or fold_column(criterion.id) == _SCORE:
        return
    text = read_cell(value[score])
    whole = _WHOLE.fullmatch(text)
    if not text or (whole and int(whole[1]) > 1):
        return
    grade = criterion.grade(int(whole[1])) if whole else None
    if grade is None or rubric.weigh([grade]).verdict is not _read_verdict(value, layout.verdict):
        meaning = "may be a result, 0 to 1"
        raise OutputError(f"`{score}` next to `{layout.verdict}` {meaning}; rename it to `{criterion.id}`")


# All rows of a table have the same names of fields.
@lru_cache(maxsize=1000)
def _lay_out(names: tuple[str, ...], rubric: ScoringRubric) -> SheetLayout:
    """Return where records with these fields have the judgement.

    Raises:
        _SharedError: if two fields are of one criterion.
        OutputError: if one seems misspelt.
    """
    criteria, verdict = _find_columns(names, rubric)
    used = frozenset(name for name in [*criteria, verdict] if name is not None)
    others = tuple(name for name in names if name not in used)
    if used:
        folded = {fold_column(name): name for name in others}
        for column, criterion in zip(criteria, rubric.criteria, strict=True):
            near = find_near(fold_column(criterion.id), folded.keys() - _KNOWN) if column is None else []
            if near:
                raise OutputError(
                    f"no column `{criterion.id}`; did you misspell it as `{folded[near[0]]}`? If not, rename that"
                )
    flags = tuple(name for name in others if name.lower() in _FLAGS)
    return SheetLayout(criteria, verdict, used, others, flags)


class _SharedError(OutputError):
    """Two fields may be that of one criterion."""


def read_whole(row: SheetRow, rubric: ScoringRubric) -> tuple[AnswerValue, ...]:
    """Return the answers of a judgement.

    Raises:
        OutputError: if it lacks one.
    """
    given = tuple([answer for answer in row.answers if answer is not None])
    if len(given) == len(row.answers):
        return given
    if row.verdict and not given:
        raise OutputError("a verdict alone is a label, which says nothing about the criteria; use it with --labels")
    missing = [criterion.id for criterion, answer in zip(rubric.criteria, row.answers, strict=True) if answer is None]
    raise OutputError(f"no value for {list_names(missing)}; an output needs one for each criterion")


def unfold(value: Mapping[str, Any], rubric: ScoringRubric) -> Mapping[str, Any]:
    """Return an object with a field for each criterion in the form of its shape; any other as it is.

    Raises:
        OutputError: as `read_sheet_row`, or if it lacks an answer.
    """
    row = read_sheet_row(value, rubric)
    if row is None or not (any(row.layout.criteria) or None not in row.answers):
        return value
    (column, *others), (criterion, *_) = row.layout.criteria, rubric.criteria
    if not others and column and fold_column(column) == _SCORE != fold_column(criterion.id):
        return value  # the score of a table, where case does not matter; in an object it does
    answers = read_whole(row, rubric)
    used = row.layout.used if row.layout.criteria == (None,) else {*row.layout.criteria}
    rest = {name: item for name, item in value.items() if name not in used}
    if rubric.shape is Shape.HOLISTIC:
        return {**rest, criterion.field: answers[0]}
    checks = [write_check(criterion, answer) for criterion, answer in zip(rubric.criteria, answers, strict=True)]
    return {**rest, "checks": checks}


def list_values(others: Mapping[str, Any]) -> list[str]:
    """Return the fields next to a judgement that hold a number or a boolean, which may contradict it."""
    return [name for name, item in others.items() if name not in _KNOWN and _is_value(item)]


def _is_value(item: Any) -> bool:
    return _VALUE.fullmatch(item) is not None if isinstance(item, str) else isinstance(item, int | float)


def find_other_flag(row: SheetRow, record: Mapping[str, Any], verdict: Verdict) -> str | None:
    """Return the first field next to a judgement that says in yes or no the opposite of its verdict."""
    opposite = {Verdict.PASS: _NO, Verdict.FAIL: _YES}.get(verdict, frozenset())
    return next((name for name in row.layout.flags if _read_word(read_cell(record[name])) in opposite), None)


def has_answer_fields(value: Mapping[str, Any], rubric: ScoringRubric) -> bool:
    """Return whether an object has an answer to each criterion in a field of its own."""
    try:
        return unfold(value, rubric) is not value
    except OutputError:
        return False


def list_check(name: str, check: Any) -> Any:
    """Return a check that stands under its id as one of a list of checks; what is not an object stays as it is.

    Raises:
        OutputError: if it has another id.
    """
    if not isinstance(check, Mapping):
        return check
    if check.get("id", name) != name:
        raise OutputError(f"`id` differs from the key `{name}`; remove one", pointer(("checks", name, "id")))
    return {"id": name, **check}


def _find_columns(names: tuple[str, ...], rubric: ScoringRubric) -> tuple[tuple[str | None, ...], str | None]:
    """Find the fields of a rubric by their exact names, or by their folded ones; two for one purpose are an error.

    Returns:
        The field with the answer to each criterion, and that with the verdict; None where there is none.
    """
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(fold_column(name), []).append(name)

    def find(wanted: str, exact: str | None, excluded: Collection[str | None] = ()) -> str | None:
        alike = [name for name in folded.get(fold_column(wanted), []) if name not in excluded and name != exact]
        if exact is not None:
            others = [name for name in alike if name not in _KNOWN and name not in _VERDICT_COLUMNS]
            alike = [exact, *others]
        if len(alike) > 1:
            raise _SharedError(f"{list_names(alike)} are both a column of `{wanted}`; remove one")
        return alike[0] if alike else None

    def find_exactly(*exact: str) -> str | None:
        return next((name for name in exact if name in names), None)

    # A criterion may be named as the column of the verdict is; its own column is `criteria.verdict` then.
    exact = [find_exactly(f"{CRITERION}{criterion.id}", criterion.id) for criterion in rubric.criteria]
    criteria = [find(criterion.id, name, exact) for criterion, name in zip(rubric.criteria, exact, strict=True)]
    shared = [name for name, times in Counter(criteria).items() if name and times > 1]
    if shared:
        ids = [criterion.id for criterion, name in zip(rubric.criteria, criteria, strict=True) if name == shared[0]]
        raise _SharedError(f"`{shared[0]}` may be the column of {list_names(ids)}; name one for each")
    of_criteria = {name for name in names if name.startswith(CRITERION)}.union(criteria)  # maybe of another rubric
    free = [name for name in _VERDICT_COLUMNS if name not in of_criteria]
    found = [find(name, find_exactly(name), of_criteria) for name in free]
    verdicts = [name for name in found if name]
    if len(verdicts) > 1:  # a label next to the verdict of the judge, which must not be compared with itself
        raise _SharedError(f"{list_names(verdicts)} are both a column of the verdict; remove or rename one")
    verdict = verdicts[0] if verdicts else None
    if criteria == [None] and rubric.criteria[0].shape is not Shape.CHECKLIST:
        criteria = [find(_SCORE, find_exactly(_SCORE, f"{CRITERION}{_SCORE}"))]
    return tuple(criteria), verdict


def read_cell(value: Any) -> str:
    """Return the text of a cell; pandas writes NaN where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value).strip()
    return "" if text.casefold() == "nan" else text


def _read_answer(record: Mapping[str, Any], name: str, criterion: ScoringCriterion) -> AnswerValue | None:
    _refuse_parts(record[name], name)
    text = read_cell(record[name])
    if not text:
        return None
    if criterion.may_not_apply and text.casefold() == str(NOT_APPLICABLE):
        return NOT_APPLICABLE
    if criterion.shape is Shape.CHECKLIST:
        word = _read_word(text)
        if word in _YES or word in _NO:
            return word in _YES
        raise _refuse(record, name, text, criterion)
    number = _read_number(text, has_hundredths=criterion.has_hundredths)
    grade = None if number is None else criterion.grade(number)
    if grade is None:
        raise _refuse(record, name, text, criterion)
    return grade.answer


def _read_number(text: str, *, has_hundredths: bool) -> int | None:
    """Return a whole number, or with `has_hundredths` one with two decimals; None for other texts."""
    whole = _WHOLE.fullmatch(text)
    if has_hundredths and _FRACTION.fullmatch(text):
        # Exactly: 100 times the double 0.29 is no whole number.
        exact = 100 * Decimal(text.replace(",", "."))
        return Hundredth.of(int(exact)) if exact == int(exact) else None
    return int(whole[1]) if whole else None


def _read_verdict(record: Mapping[str, Any], name: str) -> Verdict | None:
    _refuse_parts(record[name], name)
    text = read_cell(record[name])
    word = _read_word(text)
    if not word:
        return None
    if word == Verdict.BORDERLINE:
        return Verdict.BORDERLINE
    if word in _YES or word in _NO:
        return Verdict.PASS if word in _YES else Verdict.FAIL
    raise _refuse(record, name, text, None)


def _read_word(text: str) -> str:
    """Return a yes or a no to look up; pandas writes 1.0 in a column with empty cells."""
    whole = _WHOLE.fullmatch(text)
    return str(int(whole[1])) if whole else text.casefold()


def _refuse_parts(value: Any, name: str) -> None:
    if isinstance(value, Mapping | list):
        where = "put the objects of all criteria into one below `checks`"
        raise OutputError(
            f"`{name}` is {describe_answer(value)}, and alone it has to be a value; {where}", pointer((name,))
        )


def _refuse(record: Mapping[str, Any], name: str, text: str, criterion: ScoringCriterion | None) -> OutputError:
    """Return the error for a cell with an answer to a criterion, or with a verdict."""
    expected, has_hundredths = "pass, borderline or fail", False
    if criterion:
        expected, has_hundredths = criterion.word_allowed(), criterion.has_hundredths
    where = f"column `{name.removeprefix(CRITERION)}`"
    if SHEET in record:
        where = f"sheet `{record[SHEET]}`, {where}"
    why = ""
    if criterion and criterion.may_not_apply and not any(map(str.isdigit, text)):
        why = f"; write {NOT_APPLICABLE} if the criterion does not apply"
    elif text.casefold() in NOTHING:
        why = "; leave the cell empty if there is no judgement"
    elif text.endswith("%"):
        why = "; a percentage is not on this scale"
    elif _FRACTION.fullmatch(text):
        why = "; only hundredths count" if has_hundredths else "; only whole numbers count"
    shown = quote_start(text) if isinstance(record[name], str) else text
    return OutputError(f"{where}: {shown} is not allowed; expected {expected}{why}")
