"""Read judge outputs in the forms of graders of others by a rubric: by the texts of its criteria, or as a letter."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.model.criterion import Shape
from rubric_lint.model.messages import list_names
from rubric_lint.scoring.form import describe_answer
from rubric_lint.scoring.grading import AnswerValue, ScoringCriterion, ScoringRubric, Verdict
from rubric_lint.scoring.records.decoding import OutputError, line_of, quote_start
from rubric_lint.scoring.records.graders import EXPECTATIONS, fold, is_verdict, name_criterion
from rubric_lint.scoring.records.parse_options import Extract, ExtraFields, ParseOptions
from rubric_lint.scoring.records.thoughts import BLANK, blank_thoughts, strip_turn
from rubric_lint.source.path import Path, pointer


def is_foreign(value: Mapping[str, Any], rubric: ScoringRubric) -> bool:
    """Return whether an object is an output for a rubric in the form of a grader of others."""
    if any(criterion.id in value for criterion in rubric.criteria):
        return False
    is_letter = "grade" in value and value.keys() <= {"grade", "reasoning"}
    return isinstance(value.get(EXPECTATIONS), list) or is_letter or (len(rubric.criteria) == 1 and is_verdict(value))


def translate(value: Mapping[str, Any], rubric: ScoringRubric, reading: ParseOptions) -> Mapping[str, Any] | None:
    """Return an output in the form of a grader of others in that of the rubric's shape; None if it is another one.

    Raises:
        OutputError: if an item is about no criterion, or gives it no answer.
    """
    if not is_foreign(value, rubric):
        return None
    if EXPECTATIONS not in value and "grade" in value:
        return read_grade(value["grade"], value.get("reasoning"), rubric, reading)
    place: Path = (EXPECTATIONS,)
    items = value.get(EXPECTATIONS)
    if not isinstance(items, list):
        _refuse_other_verdict(value, rubric, reading)
        place = ()
        items = [{"passed": value["pass"], "score": value.get("score"), "evidence": value.get("reason")}]
    _refuse_other_summary(value, items)
    found: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(items):
        path: Path = (*place, number) if place else ()
        if not isinstance(item, Mapping):
            kind = describe_answer(item)
            raise OutputError(f"found {kind}, expected an object with `text` and `passed`", pointer(path))
        criterion = _find_criterion(item, rubric, path, is_only=len(items) == 1)
        if criterion.id in found:
            raise OutputError(f"a second item for `{criterion.id}`; expected one", pointer(path))
        reason = item.get("evidence")
        reasoning = {"reasoning": reason} if isinstance(reason, str) else {}
        found[criterion.id] = {criterion.field: _read_item(item, criterion, path), **reasoning}
    missing = [criterion.id for criterion in rubric.criteria if criterion.id not in found]
    if missing:
        raise OutputError(f"no item for {list_names(missing)}; expected one for each criterion", pointer(place))
    if rubric.shape is Shape.HOLISTIC:
        return found[rubric.criteria[0].id]
    return {"checks": [{"id": name, **check} for name, check in found.items()]}


def _refuse_other_verdict(value: Mapping[str, Any], rubric: ScoringRubric, reading: ParseOptions) -> None:
    """Refuse a `pass` that the score next to it does not come to by the rubric, unless fields may be passed over."""
    (criterion,) = rubric.criteria
    if criterion.shape is Shape.CHECKLIST or reading.extra_fields is ExtraFields.ACCEPT:
        return
    grade = criterion.grade(_read_item(value, criterion, ()))
    verdict = rubric.weigh([grade]).verdict if grade else None
    opposite = Verdict.FAIL if value["pass"] else Verdict.PASS
    if verdict is opposite:
        advice = f"{verdict} by the rubric; `score --extra-fields accept` passes over it"
        given = f"`pass` is {describe_answer(value['pass'])}, but the score {value['score']}"
        raise OutputError(f"{given} is a {advice}", "/pass")


def _refuse_other_summary(value: Mapping[str, Any], items: list[Any]) -> None:
    """Refuse items that the summary next to them does not count; raise OutputError with both counts."""
    summary = value.get("summary")
    if not isinstance(summary, Mapping):
        return
    passed = sum(isinstance(item, Mapping) and item.get("passed") is True for item in items)
    for name, count in {"passed": passed, "total": len(items)}.items():
        if isinstance(summary.get(name), int) and summary[name] != count:
            message = f"`{name}` is {summary[name]}, but the expectations come to {count}: one of both is wrong"
            raise OutputError(message, f"/summary/{name}")


def _find_criterion(item: Mapping[str, Any], rubric: ScoringRubric, path: Path, *, is_only: bool) -> ScoringCriterion:
    """Return the criterion that an item is about: by its text or `id`, or the only one if it has no text to compare.

    Raises:
        OutputError: if there is none or several, or text and id are of two.
    """
    texts = [text for text in (item.get("text"), item.get("rendered")) if isinstance(text, str)]
    known = _list_criteria(rubric)
    name = item.get("id")
    by_id = [criterion for criterion in known.get(fold(str(name)), ()) if criterion.id == name]
    by_text = next((known[text] for text in map(fold, texts) if text in known), [])
    if by_id and by_text and by_id[0] not in by_text:
        raise OutputError(f"the text is that of `{by_text[0].id}`, but the id is `{by_id[0].id}`", pointer(path))
    found = by_id or by_text
    if len(found) > 1:
        listed = list_names([criterion.id for criterion in found])
        raise OutputError(f"{listed} have the same text; give the item an `id`", pointer((*path, "text")))
    only = rubric.criteria[0]
    if not found and is_only and len(rubric.criteria) == 1 and not (texts and only.outcome):
        return only
    if not found and not texts:
        raise OutputError("the item has neither a text nor the id of a criterion", pointer(path))
    if not found:
        raise OutputError(f"no criterion of the rubric has the text {quote_start(texts[0])}", pointer(path))
    return found[0]


@lru_cache(maxsize=50)
def _list_criteria(rubric: ScoringRubric) -> dict[str, list[ScoringCriterion]]:
    """Return the criteria of a rubric by what may name them."""
    found: dict[str, list[ScoringCriterion]] = {}
    for criterion in rubric.criteria:
        for text in name_criterion(criterion.id, criterion.outcome):
            found.setdefault(text, []).append(criterion)
    return found


def _read_item(item: Mapping[str, Any], criterion: ScoringCriterion, path: Path) -> AnswerValue:
    """Return the answer of an item: whether it passed, or its score from 0 to 1 on the scale of the criterion.

    Raises:
        OutputError: if it has none that is allowed, or contradicts itself.
    """
    passed, score = item.get("passed"), item.get("score")
    given = None
    if isinstance(score, int):
        given = Fraction(score)
    elif isinstance(score, float) and math.isfinite(score):
        given = Fraction(str(score))
    if passed is not None and not isinstance(passed, bool):
        raise OutputError(f"`passed` is {describe_answer(passed)}, expected true or false", pointer((*path, "passed")))
    opposite = 0 if passed else 1
    if passed is not None and given == opposite:
        word = "passed" if passed else "failed"
        raise OutputError(f"the item {word}, but its score is {score}: unclear which one counts", pointer(path))
    if criterion.shape is Shape.CHECKLIST:
        if passed is None and given in (0, 1):
            return given == 1
        if passed is None:
            raise OutputError(f"the item for `{criterion.id}` has no `passed`, which is true or false", pointer(path))
        return passed
    if given is None or not 0 <= given <= 1:
        found = "no score" if score is None else f"the score {describe_answer(score)}"
        expected = "expected one from 0 to 1, as the criterion has a scale"
        raise OutputError(f"the item for `{criterion.id}` has {found}; {expected}", pointer(path))
    answers = [grade.answer for grade in criterion.grades if abs(grade.score - given) < _ROUNDED]
    if not answers:
        raise OutputError(f"the score {score} lies between two scores of `{criterion.id}`", pointer((*path, "score")))
    return answers[0]


_ROUNDED = Fraction(1, 10**6)
"""The difference up to which two scores are one: a decimal such as 0.6666667 is only near to a share of a scale."""


_GRADE = re.compile(r"\bGRADE[ \t*_`'\"]*:[\s*_`'\"$\[({]*([A-Za-z])(?![A-Za-z])", re.IGNORECASE)
_MARKS = " \t*_`'\"#>-"


def find_grade(text: str, reading: ParseOptions) -> tuple[str, str] | None:
    """Return the letter that a raw text gives, alone or as `GRADE: C`, and what is before it; None if it gives none.

    Raises:
        OutputError: if it gives several, or one where `extract` allows no verdict.
    """
    bare = text.strip(BLANK + _MARKS)
    if reading.grades and len(bare) == 1 and bare.isalpha():  # as a table has it in a column
        return bare.upper(), ""
    if not _GRADE.search(text):
        return None
    rest = blank_thoughts(text)
    begin, end = strip_turn(rest)
    marks = list(_GRADE.finditer(rest, begin, end))
    if not marks:
        return None
    letters = dict.fromkeys(mark[1].upper() for mark in marks)
    last = marks[-1]
    line = line_of(rest, last.start())
    if len(letters) > 1:
        raise OutputError(f"the grades {list_names(letters)} in one text; expected one", line=line)
    before = rest[begin : last.start()]
    after = rest[last.end() : end].strip(f"{BLANK}*_`'\"$])}}.")
    is_own_line = not before.rpartition("\n")[2].strip(_MARKS)
    if reading.extract is not Extract.ONLY and (after or not is_own_line):
        raise OutputError("the grade is not on a line of its own at the end of the text", line=line)
    if reading.extract is Extract.WHOLE and before.strip(BLANK + _MARKS):
        raise OutputError(f"expected a grade and nothing else, found {quote_start(rest[begin:end])}")
    return last[1].upper(), before.strip(BLANK + _MARKS)


def read_grade(letter: Any, reason: Any, rubric: ScoringRubric, reading: ParseOptions) -> Mapping[str, Any]:
    """Return an output for a letter grade in the form of the rubric's shape, as `grades` of the reading say.

    Raises:
        OutputError: if the letter has no value, or the rubric several criteria.
    """
    values = dict(reading.grades)
    shown = describe_answer(letter)
    if isinstance(letter, str):
        shown = f"`{letter}`"
    if len(rubric.criteria) > 1:
        raise OutputError(f"the grade {shown} is one judgement, but the rubric has {len(rubric.criteria)} criteria")
    # Inspect writes N where the model gave no answer.
    if letter == "N" and letter not in values:
        raise OutputError("no output: the judge gave no answer (grade `N`)")
    if not isinstance(letter, str) or letter not in values:
        problem = "is not in --grades" if values else "has no value"
        raise OutputError(f"the grade {shown} {problem}; say what letters are worth, such as --grades C=10,P=5,I=0")
    criterion = rubric.criteria[0]
    answer: dict[str, Any] = {criterion.field: values[letter]}
    if criterion.shape is Shape.CHECKLIST:
        answer = {criterion.field: bool(values[letter])}
    if isinstance(reason, str) and reason:
        answer["reasoning"] = reason
    if rubric.shape is Shape.HOLISTIC:
        return answer
    return {"checks": [{"id": criterion.id, **answer}]}
