"""Names or outcomes that fall in quality while the numbers rise."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from rubric_lint.model.criterion import SPAN
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import shorten
from rubric_lint.model.openings import find_negation, opening
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.wording import FAILING, FAILURE, FAILURES
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part, Path


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the order of grade words, and of failures, with the order of the numbers."""
    for scale in rubric.scales:
        sign, better = _find_direction(*scale.ends)
        steps = [
            _ScaleStep(sign * band.scores[0], f"band {band.written}", "", band.outcome or "", band.path, band.part)
            for band in scale.bands
            if band.scores
        ]
        yield from _compare("score", steps, better)
    for criterion in rubric.criteria:
        sign, better = _find_direction(*(criterion.fields or {}).get(SPAN, (0, 1)))
        steps = []
        for level in criterion.levels or ():
            if level.number is not None:
                label = f"level {level.number}"
                name, outcome = level.name or "", level.outcome or ""
                steps.append(_ScaleStep(sign * level.number, label, name, outcome, level.number_path, level.part))
        yield from _compare("level", steps, better)


def _find_direction(worst: int, best: int) -> tuple[int, str]:
    """Return the factor that makes better numbers higher, and which numbers of a scale are better."""
    if worst > best:
        return -1, "lower"
    return 1, "higher"


def find_fall(levels: Iterable[tuple[Decimal, str]]) -> tuple[str, str] | None:
    """Return the words of the lowest and the highest of some levels, if those only ever fall in quality."""
    steps = [
        _ScaleStep(number, "", text if _fold(text) in _RANKS else "", text, (), Part.VALUE) for number, text in levels
    ]
    fall = _find_fall(steps)
    return (fall[0].words, fall[1].words) if fall else None


@dataclass(frozen=True)
class _ScaleStep:
    """A band or level: its lowest number, its label in messages, its name and outcome, and its place."""

    number: Decimal | int
    label: str
    name: str
    outcome: str
    path: Path
    part: Part

    @cached_property
    def grade(self) -> str:
        """The words that grade it; empty if there are none."""
        words = self.name or _first(self.outcome)
        return words if words and _fold(words) in _RANKS else ""

    @property
    def words(self) -> str:
        """What it says: its grade, or else its whole outcome."""
        return self.grade or self.outcome


def _find_fall(steps: list[_ScaleStep]) -> tuple[_ScaleStep, _ScaleStep] | None:
    """Return the lowest and the highest step of a scale that falls in quality while its numbers rise.

    Its grades only ever fall, or the highest step is a failure and the lowest one none.
    """
    steps = sorted(steps, key=lambda step: step.number)
    graded = [step for step in steps if step.grade]
    ranks = [_RANKS[_fold(step.grade)] for step in graded]
    if len(ranks) > 1 and ranks == sorted(ranks, reverse=True) and ranks[0] - ranks[-1] > 1:
        lowest, highest = graded[0], graded[-1]
    elif len(ranks) > 1 or len(steps) < 2:
        return None
    else:
        lowest, highest = steps[0], steps[-1]
        if not _begins_with_failure(highest.outcome) or _has_failure(lowest.outcome):
            return None
    return (lowest, highest) if lowest.number < highest.number else None


def _compare(kind: str, steps: list[_ScaleStep], better: str) -> Iterator[Problem]:
    """Report a scale that falls in quality while its numbers go to the `better` ones, which are higher or lower."""
    fall = _find_fall(steps)
    if fall:
        lowest, highest = fall
        values = {
            "lowest": lowest.label,
            "word": shorten(lowest.words),
            "highest": highest.label,
            "other_word": shorten(highest.words),
            "kind": kind,
            "better": better,
            "extreme": "highest" if better == "higher" else "lowest",
        }
        place = RelatedPlace(f"the {values['extreme']} {kind}", highest.path, highest.part)
        yield Problem("falling", lowest.path, lowest.part, values, (place,))


# Strings, which are compiled when they are needed: few scales end in a failure.
_FAILS = opening(rf"(?=\w+s\b){FAILING}")
_FAILURE = rf"(?i)\b{FAILURE}\b"


def _begins_with_failure(outcome: str) -> bool:
    return any(map(outcome.casefold().__contains__, FAILURES)) and re.match(_FAILS, outcome) is not None


def _has_failure(outcome: str) -> bool:
    return re.search(_FAILURE, outcome) is not None or find_negation(outcome) != ""


# Ranks from 1 to 5 of words that are good or bad whatever is judged; `high` and `many` are not, as in many errors.
_ROWS = (
    """
    very poor, very bad, terrible, awful, unacceptable, worst, fail, failed, failing, failure, incorrect, wrong,
    totally wrong, completely wrong, entirely wrong, completely incorrect, entirely incorrect, factually
    incorrect, factually wrong, not correct, not acceptable, does not meet expectations, major errors, critical
    errors, serious errors, critical bugs, major bugs, irrelevant, off topic, unsatisfactory, inadequate,
    insufficient
    """,
    """
    poor, bad, weak, below average, needs improvement, needs work, mostly incorrect, mostly wrong, below
    expectations, partially meets expectations, limited, beginning, novice
    """,
    """
    fair, average, adequate, satisfactory, acceptable, ok, okay, mediocre, sufficient, partially correct, partly
    correct, partly right, partial, developing, competent, pass, passing, passed, minor errors, minor bugs, minor
    mistakes, some errors
    """,
    """
    good, strong, above average, mostly correct, mostly right, largely correct, proficient, meets expectations,
    very good, accomplished
    """,
    """
    excellent, outstanding, exceptional, perfect, superb, exemplary, best, ideal, expert, exceeds expectations,
    correct, right, fully correct, completely correct, entirely correct, factually correct, fully right,
    completely right, no errors, no mistakes, no bugs, error free, flawless, advanced
    """,
)
_RANKS = {phrase: rank for rank, row in enumerate(_ROWS, start=1) for phrase in " ".join(row.split()).split(", ")}
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
            '{lowest} says "{word}" and {highest} ({line}) says "{other_word}", but a {better} {kind} is better; turn '
            "the numbers around"
        ),
        "falling-choices": (
            'the first choice scores 0 and the last one 1, but they are "{first}" and "{last}"; write them from worst '
            "to best"
        ),
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)
