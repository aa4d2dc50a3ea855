"""An outcome that is a label and not an observable result."""

import re
from collections.abc import Iterator

from rubric_lint.finding import Path, Problem, Severity
from rubric_lint.rubric import Rubric
from rubric_lint.rule import Rule

# Words that grade and do not describe; a judge who reads only these has to invent the standard.
_GRADES = frozenset(
    """
    good bad poor fair great excellent outstanding exceptional superb perfect average mediocre adequate
    inadequate okay ok fine acceptable unacceptable satisfactory unsatisfactory sufficient insufficient
    decent weak strong terrible awful best worst better worse high medium low pass passes passed passing
    fail fails failed failing borderline proficient competent novice expert
    """.split()  # noqa: SIM905 (a paragraph reads better than fifty lines)
)
_PADDING = frozenset(
    """
    a an the is are it its this very quite rather really extremely mostly somewhat fairly pretty not too
    response answer output result quality performance work job score scores rating level
    """.split()  # noqa: SIM905 (a paragraph reads better than fifty lines)
)
_PHRASES = frozenset(
    {
        "needs improvement",
        "needs work",
        "meets expectations",
        "exceeds expectations",
        "below expectations",
        "n/a",
        "tbd",
        "todo",
        "yes",
        "no",
        "positive",
        "negative",
    }
)
_FIRST_WORDS = _GRADES | _PADDING | {phrase.split()[0] for phrase in _PHRASES}
_WORD = re.compile(r"[^\W_]+(?:['/][^\W_]+)*")
_LONGEST = 60


def check(rubric: Rubric) -> Iterator[Problem]:
    """Look at every outcome of the rubric."""
    for outcome, path, label in _short_outcomes(rubric):
        if _is_label(outcome, label):
            message = f'"{outcome.strip()}" is a label; say what an observer sees in an answer that earns it'
            yield Problem(message, path)


def _short_outcomes(rubric: Rubric) -> Iterator[tuple[str, Path, str | None]]:
    """Each outcome that is short enough for a label, its place, and the name of its level."""
    for scale in rubric.scales:
        for band in scale.bands:
            if (outcome := band.outcome) is not None and len(outcome) <= _LONGEST:
                yield outcome, band.outcome_path, None
    for criterion in rubric.criteria:
        for level in criterion.levels or ():
            if (outcome := level.outcome) is not None and len(outcome) <= _LONGEST:
                yield outcome, level.outcome_path, level.name
        outcome = criterion.outcome
        if outcome is None or len(outcome) > _LONGEST:
            continue
        if criterion.scale is None and criterion.levels is None:
            yield outcome, criterion.outcome_path, None


def _is_label(outcome: str, label: str | None) -> bool:
    folded = outcome.casefold()
    first = _WORD.search(folded)
    if first is None or (label is None and first[0] not in _FIRST_WORDS):
        return False
    words = _WORD.findall(folded)
    if " ".join(words) in _PHRASES or (label is not None and words == _WORD.findall(label.casefold())):
        return True
    telling = [word for word in words if word not in _PADDING]
    return bool(telling) and all(word in _GRADES for word in telling)


RULE = Rule("vague-outcome", Severity.WARNING, check)
