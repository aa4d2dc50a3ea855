"""Two criteria with one outcome, or with outcomes that are equal but for a negation."""

import re
from collections.abc import Hashable, Iterator

from rubric_lint.finding import OTHER_LINE, Part, Place, Problem, Severity
from rubric_lint.rubric import Criterion, Rubric
from rubric_lint.rule import Rule


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare what is judged, and of criteria with bands or levels these too."""
    criteria = [criterion for criterion in rubric.criteria if criterion.outcome]
    if len(criteria) < 2:
        return
    seen: dict[Hashable, Criterion] = {}
    affirmed: dict[Hashable, Criterion] = {}
    negated: dict[Hashable, Criterion] = {}
    for criterion in criteria:
        words = _words(criterion.outcome or "")
        if not words:
            continue
        scale = _scale(criterion)
        first = seen.setdefault((words, scale), criterion)
        if first is not criterion:
            yield from _word(criterion, first, "says the same as that of {}, which then counts twice")
            continue
        count = sum(word in _NEGATIONS for word in words)
        own, others = (negated, affirmed) if count % 2 else (affirmed, negated)
        gist = (tuple(_stem(word) for word in words if word not in _DROPPED), scale)
        own.setdefault(gist, criterion)
        if opposite := others.get(gist):
            yield from _word(criterion, opposite, "is the opposite of that of {}, so no answer meets both")


def _word(criterion: Criterion, first: Criterion, relation: str) -> Iterator[Problem]:
    message = f"its outcome {relation.format(f'{first.label} (line {OTHER_LINE})')}; remove one of them"
    place = Place("the first one", first.outcome_path)
    if first.outcome is criterion.outcome:  # an alias brings it in, so both are written in one place
        yield Problem(message, criterion.path, Part.ENTRY, (Place("the first one", first.path, Part.ENTRY),))
    else:
        yield Problem(message, criterion.outcome_path, related=(place,))


def _scale(criterion: Criterion) -> Hashable:
    """Return what a criterion says beside its outcome."""
    bands = criterion.scale.bands if criterion.scale else ()
    said = tuple((band.lower, band.upper, band.outcome) for band in bands)
    return said, tuple((level.number, level.outcome) for level in criterion.levels or ())


_CONTRACTED = re.compile(r"n['’]t\b")  # noqa: RUF001 (an apostrophe of prose)
_NEGATIONS = frozenset(["not", "no", "never", "without"])
# What comes or goes with a negation, and says nothing by itself: does not mention, no source, with a greeting.
_DROPPED = _NEGATIONS | {"does", "do", "did", "a", "an", "the", "any", "with"}


def _words(outcome: str) -> tuple[str, ...]:
    folded = _CONTRACTED.sub(" not", outcome.casefold()) if "n" in outcome else outcome.casefold()
    return tuple(filter(None, (word.rstrip(".,;!") for word in folded.replace("cannot", "can not").split())))


def _stem(word: str) -> str:
    """Strip the ending that a verb loses behind `does not`."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


RULE = Rule("duplicate-criterion", Severity.WARNING, check, marks=(Part.VALUE, Part.HEAD))
