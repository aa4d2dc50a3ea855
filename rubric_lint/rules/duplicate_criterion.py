"""Two criteria with one outcome, or with outcomes that are equal but for a negation."""

from collections import Counter
from collections.abc import Hashable, Iterator

from rubric_lint.model.criterion import Criterion
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.rubric import Rubric, fold_outcome
from rubric_lint.model.wording import NEGATIONS, stem, write_out_negations
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the outcomes of criteria, and their bands and levels."""
    criteria = [criterion for criterion in rubric.criteria if criterion.outcome and not criterion.outcome.isspace()]
    if len(criteria) < 2:
        return
    texts = [fold_outcome(criterion.outcome or "") for criterion in criteria]
    others = criteria
    if len(set(texts)) < len(texts):
        others = []
        counts = Counter(texts)
        seen: dict[Hashable, Criterion] = {}
        for criterion, text in zip(criteria, texts, strict=True):
            first = seen.setdefault((text, _distinguish(criterion)), criterion) if counts[text] > 1 else criterion
            if first is criterion:
                others.append(criterion)
            else:
                is_copied = _names_another_thing(criterion, first)
                code = "copied" if is_copied else "counted-twice"
                yield _compare(code, criterion, first)
        yield from _find_turned(criteria, texts)
    yield from _find_opposites(others)


def _find_turned(criteria: list[Criterion], texts: list[str]) -> Iterator[Problem]:
    """Find one outcome in two criteria, of which one is earned by not meeting it."""
    seen: dict[tuple[str, bool], Criterion] = {}
    for criterion, text in zip(criteria, texts, strict=True):
        if criterion.weight and criterion.weight > 0:
            seen.setdefault((text, criterion.is_negated), criterion)
            opposite = seen.get((text, not criterion.is_negated))
            if opposite:
                yield _compare("turned", criterion, opposite)


def _find_opposites(criteria: list[Criterion]) -> Iterator[Problem]:
    affirmed: dict[Hashable, Criterion] = {}
    negated: dict[Hashable, Criterion] = {}
    ends = [stem((criterion.outcome or "").rsplit(None, 1)[-1].casefold().rstrip(".,;!")) for criterion in criteria]
    counts = Counter(ends)  # a negation leaves the last word as it is
    for criterion, end in zip(criteria, ends, strict=True):
        if counts[end] < 2:
            continue
        folded = write_out_negations((criterion.outcome or "").casefold())
        words = list(filter(None, (word.rstrip(".,;!") for word in folded.split())))
        is_negated = sum(word in NEGATIONS for word in words) % 2 == 1
        gist = (tuple(stem(word) for word in words if word not in _DROPPED), _distinguish(criterion))
        own, others = (negated, affirmed) if is_negated else (affirmed, negated)
        own.setdefault(gist, criterion)
        opposite = others.get(gist)
        if opposite and gist[0] and _counts_up(criterion) and _counts_up(opposite):
            yield _compare("opposites", criterion, opposite)


def _names_another_thing(criterion: Criterion, first: Criterion) -> bool:
    """Return whether both criteria have an id of words, and these words differ."""
    if not (criterion.has_own_id and first.has_own_id):
        return False
    own, other = _fold_letters(criterion.id), _fold_letters(first.id)
    return own != other and min(len(own), len(other)) >= _SHORTEST_NAME


def _fold_letters(identifier: str) -> str:
    return "".join(filter(str.isalpha, identifier.casefold()))


_SHORTEST_NAME = 3


def _counts_up(criterion: Criterion) -> bool:
    """Return whether an answer gains by meeting the criterion; points below 0 and negations reverse an outcome."""
    return criterion.weight is not None and criterion.weight >= 0 and not criterion.is_negated


def _compare(code: str, criterion: Criterion, first: Criterion) -> Problem:
    values = {"other": first.label}
    if first.outcome is criterion.outcome:  # the criterion is an alias, so both are written in the same place
        place = RelatedPlace("the first one", first.path, Part.ENTRY)
        return Problem(code, criterion.path, Part.ENTRY, values, (place,))
    place = RelatedPlace("the first one", first.outcome_path)
    return Problem(code, criterion.outcome_path, values=values, related=(place,))


def _distinguish(criterion: Criterion) -> Hashable:
    """Return a key of all that a criterion has besides its outcome: its bands and levels, and how a judge is asked."""
    bands = criterion.scale.bands if criterion.scale else ()
    outcomes = tuple((band.lower, band.upper, band.outcome) for band in bands)
    apart = criterion.asked.apart if criterion.asked else ""
    levels = tuple((level.number, level.outcome) for level in criterion.levels or ())
    return criterion.place_in_groups, criterion.is_penalty, outcomes, levels, apart


# Words that come or go with a negation: does not mention, no source, with a greeting.
_DROPPED = NEGATIONS | {"does", "do", "did", "a", "an", "the", "any", "with"}

RULE = Rule(
    "duplicate-criterion",
    Severity.WARNING,
    {
        "counted-twice": (
            "its outcome says the same as that of {other} ({line}), which then counts twice; remove one of them"
        ),
        "copied": (
            "its outcome says the same as that of {other} ({line}), but their names differ, so one may be a copied "
            "text; write what its name says, or remove one of them"
        ),
        "turned": (
            "its outcome is that of {other} ({line}), and one of the two is earned by not meeting it, so no answer "
            "earns both; remove one of them"
        ),
        "opposites": (
            "its outcome is the opposite of that of {other} ({line}), so no answer meets both; remove one of them"
        ),
    },
    check,
    marks=(Part.VALUE, Part.HEAD),
)
