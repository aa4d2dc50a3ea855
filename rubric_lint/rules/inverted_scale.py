"""Names or outcomes that fall in quality while the numbers rise."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import shorten
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part, Path


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the order of grade words with the order of the numbers."""
    for scale in rubric.scales:
        steps = [
            _Step(band.scores[0], rank, f"band {band.written}", word, band.path, band.part)
            for band in scale.bands
            if band.outcome and (word := _first(band.outcome)) and (rank := _RANKS.get(_fold(word))) and band.scores
        ]
        yield from _compare("score", steps)
    for criterion in rubric.criteria:
        steps = []
        for level in criterion.levels or ():
            word = level.name or _first(level.outcome or "")
            rank = _RANKS.get(_fold(word))
            if level.number is not None and rank:
                steps.append(_Step(level.number, rank, f"level {level.number}", word, level.number_path, level.part))
        yield from _compare("level", steps)


def find_fall(levels: Iterable[tuple[Decimal, str]]) -> tuple[str, str] | None:
    """Return the words of the lowest and the highest of some levels, if those only ever fall in quality."""
    steps = []
    for number, text in levels:
        word = text if _fold(text) in _RANKS else _first(text)
        if rank := _RANKS.get(_fold(word)):
            steps.append((number, rank, word))
    steps.sort(key=lambda step: step[0])
    is_fall = _falls([rank for _, rank, _ in steps])
    return (steps[0][2], steps[-1][2]) if is_fall and steps[0][0] < steps[-1][0] else None


def _falls(ranks: list[int]) -> bool:
    return len(ranks) > 1 and ranks == sorted(ranks, reverse=True) and ranks[0] - ranks[-1] > 1


class _Step(NamedTuple):
    """A band or level with a grade word: its lowest number, the rank of the word, and its place."""

    number: int
    rank: int
    called: str
    word: str
    path: Path
    part: Part


def _compare(kind: str, steps: list[_Step]) -> Iterator[Problem]:
    """Find a scale whose ranks only ever fall."""
    steps.sort(key=lambda step: step.number)
    if _falls([step.rank for step in steps]) and steps[0].number < steps[-1].number:
        lowest, highest = steps[0], steps[-1]
        values = {
            "lowest": lowest.called,
            "word": shorten(lowest.word),
            "highest": highest.called,
            "other_word": shorten(highest.word),
            "kind": kind,
        }
        place = Place(f"the highest {kind}", highest.path, highest.part)
        yield Problem("falling", lowest.path, lowest.part, values, (place,))


# Ranks from 1 to 5 of words that are good or bad whatever is judged; `high` and `many` are not, as in many errors.
_ROWS = (
    (
        *("very poor", "very bad", "terrible", "awful", "unacceptable", "worst"),
        *("fail", "failed", "failing", "failure"),
        *("incorrect", "wrong", "totally wrong", "completely wrong", "entirely wrong", "completely incorrect"),
        *("entirely incorrect", "factually incorrect", "factually wrong", "not correct", "not acceptable"),
        *("does not meet expectations", "major errors", "critical errors", "serious errors", "critical bugs"),
        *("major bugs", "irrelevant", "off topic", "unsatisfactory", "inadequate", "insufficient"),
    ),
    (
        *("poor", "bad", "weak", "below average", "needs improvement", "needs work", "mostly incorrect"),
        *("mostly wrong", "below expectations", "partially meets expectations", "limited", "beginning", "novice"),
    ),
    (
        *("fair", "average", "adequate", "satisfactory", "acceptable", "ok", "okay", "mediocre", "sufficient"),
        *("partially correct", "partly correct", "partly right", "partial", "developing", "competent", "pass"),
        *("passing", "passed", "minor errors", "minor bugs", "minor mistakes", "some errors"),
    ),
    (
        *("good", "strong", "above average", "mostly correct", "mostly right", "largely correct", "proficient"),
        *("meets expectations", "very good", "accomplished"),
    ),
    (
        *("excellent", "outstanding", "exceptional", "perfect", "superb", "exemplary", "best", "ideal", "expert"),
        *("exceeds expectations", "correct", "right", "fully correct", "completely correct", "entirely correct"),
        *("factually correct", "fully right", "completely right", "no errors", "no mistakes", "no bugs"),
        *("error free", "flawless", "advanced"),
    ),
)
_RANKS = {phrase: rank for rank, row in enumerate(_ROWS, start=1) for phrase in row}
_FIRST_WORDS = {phrase.split()[0] for phrase in _RANKS} | {"error-free"}
_ENDS = ".,;:!?()"
_CLAUSE = re.compile(r"\s{0,9}([^.,;:!?()–—\n]{1,40})")  # noqa: RUF001 (dashes of prose)


def _fold(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())


def _first(outcome: str) -> str:
    """Return the first clause of an outcome if it is short and begins like a grade."""
    words = outcome.split(None, 1)
    if not words or words[0].rstrip(_ENDS).casefold() not in _FIRST_WORDS:
        return ""
    found = _CLAUSE.match(outcome)
    return found[1].strip() if found else ""


RULE = Rule(
    "inverted-scale",
    Severity.WARNING,
    {
        "falling": (
            '{lowest} says "{word}" and {highest} ({line}) says "{other_word}", but a higher {kind} is better; turn '
            "the numbers round"
        ),
        "falling-choices": (
            'the first choice scores 0 and the last one 1, but they are "{first}" and "{last}"; write them from worst '
            "to best"
        ),
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)
