"""An outcome that names a score outside its own band."""

import re
from collections.abc import Iterator
from decimal import Decimal

from rubric_lint.model.criterion import HIGHEST, LOWEST, SPAN, Criterion, JudgeQuestion
from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import OutcomeText, Rubric
from rubric_lint.rules.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find scores in the outcomes of bands, level numbers in those of levels, and scales that no judge is asked for."""
    yield from _find_other_scales(rubric)
    for outcome in rubric.outcomes:
        found = _find_score(outcome) if outcome.scores or outcome.level is not None else None
        if found is None:
            continue
        said, numbers = found
        lowest: Decimal | int
        highest: Decimal | int
        if outcome.level is not None:
            lowest = highest = Decimal(str(outcome.level))
        else:
            lowest, highest = outcome.scores[0], outcome.scores[-1]
        if not all(lowest <= number <= highest for number in numbers):
            code = "other-band" if outcome.level is None else "other-level"
            yield Problem(code, outcome.path, values={"said": said, "lowest": lowest, "highest": highest})


# A score meant for the judge is a clause of its own. Within a sentence, a number belongs to the answer: "lists 5
# points", "scores 3 goals", "the score of 3 to 1".
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_RANGE = rf"{_NUMBER}(?:\s?(?:-|–|—|to|or|and)\s?{_NUMBER})?"  # noqa: RUF001
_BEGIN = r"(?:^|[(\[]|[.:;!?]\s{1,3}|\s[-–—]\s|\b(?:so|then|thus|hence|therefore)\s(?=(?:give|assign|award)\s))"  # noqa: RUF001
_END = r"(?=\s?(?:$|[)\],;!?]|[.:](?!\d)|[-–—](?!\d)|(?:if|when|means)\b|for\s(?:an?|full|correct)\b))"  # noqa: RUF001
_GIVEN = r"(?:(?:give|assign|awards?|deserves|earns|gets|receives|merits|worth|use)\s(?:it\s)?)?(?:an?\s)?"
_OF_TEN = r"(?:\s?/\s?10(?![\d/])|\sout\sof\s10(?!\d))"
# Strings, which are compiled when they are needed: most outcomes have no digit.
_OF_BANDS = (
    rf"(?im){_BEGIN}{_GIVEN}(?P<said>scores?\s?(?:of|=|:)?\s?(?P<one>{_RANGE}){_OF_TEN}?"
    rf"|(?P<two>{_RANGE})(?:{_OF_TEN}|\s?(?:points?|pts?)(?!\w))){_END}"
)
_OF_LEVELS = rf"(?im){_BEGIN}{_GIVEN}(?P<said>(?:level|score)\s?(?:of|=|:)?\s?(?P<one>{_RANGE})){_END}"
_NUMBERS = re.compile(_NUMBER)
_DIGIT = re.compile(r"[0-9]")


def _find_score(outcome: OutcomeText) -> tuple[str, list[Decimal]] | None:
    """Return the first score or level that an outcome of a scale names, as written, and its numbers."""
    text = outcome.text
    if _DIGIT.search(text) is None:
        return None
    if outcome.scores:
        matches = re.finditer(_OF_BANDS, text)
    else:
        matches = re.finditer(_OF_LEVELS, text)
    for found in matches:
        groups = found.groupdict()
        numbers = [Decimal(number) for number in _NUMBERS.findall(groups["one"] or groups.get("two") or "")]
        if numbers == sorted(numbers):  # 3 to 1 is the score of a game
            return found["said"], numbers
    return None


# An order to the judge begins a clause. What an answer contains does not: "the score field must be from 0 to 100".
_NO_FIELD = r"(?!(?:field|column|property|key|value|must|should|is|are|has|be)\b)"
_END_NAMED = r"(?:\.0)?(?:\s?\([^()\d]{1,40}\))?"  # 1 (poor) to 10 (perfect), 0.0 to 1.0
_OTHER_SCALE = rf"""(?ix)(?:^|[.:;!?)]\s|\n|,\s(?=on\s))\s{{0,9}}(?:(?:[-*•]|please|then|and)\s){{0,2}}(?P<said>(?:
        (?:score|rate|grade|rank|judge|assess|evaluate)(?:\s{_NO_FIELD}[a-z'’-]{{1,20}}){{0,8}}?
      | (?:score|rate|grade|rank|judge|assess|evaluate|how)\b[^.:;!?\n]{{1,80}}?\son\san?\sscale
      | (?:give|assign)\s(?:it\s)?an?\s(?:score|rating|grade)
      | (?:on|using|with|use)\s(?:an?|the)(?:\sscale)?
      | (?:scores?|scale|scoring|rating)(?:\sscale)?
    )\s?(?:from|of|between|:)?\s?[(\[]?[01]{_END_NAMED}\s?(?:-|–|—|to|and|\.\.)\s?(?P<highest>[1-9]\d{{0,2}})(?:\.0)?)
    (?!\.?\d|[\w%/])"""  # noqa: RUF001


_TO_JUDGES = r"(?:give|assign|award)\s(?:it\s)?an?\s(?:score|rating|grade)\sof"
_OTHER_SCORE = rf"(?im){_BEGIN}(?P<said>{_TO_JUDGES}\s(?P<number>{_NUMBER}))(?![\w%/])"


def _find_other_scale(text: str, highest: int) -> str:
    """Find a request for a score that is not on a scale up to `highest`; empty if there is none."""
    if _DIGIT.search(text) is None:
        return ""
    scale = re.search(_OTHER_SCALE, text)
    if scale and int(scale["highest"]) != highest:
        return scale["said"]
    scores = re.finditer(_OTHER_SCORE, text)
    return next((score["said"] for score in scores if Decimal(score["number"]) > max(highest, 1)), "")


def _find_other_scales(rubric: Rubric) -> Iterator[Problem]:
    """Find outcomes that ask for a score on another scale than the one that their judge is asked for."""
    view = rubric.view
    system = view.dialect.title if view else "rubric-lint"
    for entry in rubric.entries:
        asked = entry.asked
        if asked is None:
            asked = view.dialect.asked if view and view.dialect.name else _find_own_question(entry)
        if asked is None:
            continue
        if asked.said:
            said = f"a score from {asked.said}"
        else:
            other = _find_other_scale(entry.outcome or "", asked.highest)
            if not other:
                continue
            said = f'"{" ".join(other.split())}"'
        values = {"said": said, "system": system, "asked": asked.words}
        yield Problem("other-scale", entry.outcome_path, values=values)


def _find_own_question(entry: Criterion) -> JudgeQuestion | None:
    """Return the question of our own judge about a criterion; None if its levels say it."""
    if entry.is_check:
        return JudgeQuestion("yes or no", 0)
    if entry.levels:
        numbers = [level.number for level in entry.levels if level.number is not None]
        is_of_scale = bool(numbers) and entry.fields is not None and SPAN in entry.fields
        if not is_of_scale:
            return None
        return JudgeQuestion(f"a number from {min(numbers)} to {max(numbers)}", int(max(numbers)))
    lowest, highest = sorted(entry.scale.ends) if entry.scale else (LOWEST, HIGHEST)
    return JudgeQuestion(f"a score from {lowest} to {highest}", highest)


RULE = Rule(
    "score-in-text",
    Severity.WARNING,
    {
        "other-band": (
            'the outcome says "{said}", but its band is [{lowest}, {highest}]; correct the outcome or the band'
        ),
        "other-level": 'the outcome says "{said}", but it belongs to level {lowest}; correct the outcome or the level',
        "other-scale": "the text asks for {said}, but {system} asks its judge for {asked}; write the text for that",
    },
    check,
)
