"""Find pairs of criteria of opposite signs of which one is the negation of the other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubric_lint.model.criterion import Criterion
from rubric_lint.model.openings import match_negation
from rubric_lint.model.wording import NEGATIONS, stem, write_out_negations

_WORD = re.compile(r"[^\W_]+")
_DROPPED = frozenset(
    "a an the any to of that this it its is are be in on for with and or does do did response answer model".split()  # noqa: SIM905
)
_MARKS = re.compile(rf"\d+|(?<=\s)[A-Z]\b|\b(?:{'|'.join(sorted(NEGATIONS))})\b")
"""What makes two outcomes different where their other words are the same: digits, single letters, negations."""
_ALIKE = 0.6
"""The share of the words of two outcomes, negations left out, that both have to have."""
_COMMON = 40
"""A word that more criteria have says nothing about a pair of them, and would make the search quadratic."""


def find_mirrors(criteria: Sequence[Criterion]) -> Iterator[tuple[Criterion, Criterion]]:
    """Find the penalties that mirror a criterion that gives points, each with the first such criterion."""
    rewards = [criterion for criterion in criteria if criterion.outcome and criterion.weight and criterion.weight > 0]
    penalties = [criterion for criterion in criteria if criterion.outcome and criterion.weight and criterion.weight < 0]
    if not rewards or not penalties:
        return
    parsed = {id(criterion): _parse_outcome(criterion) for criterion in rewards + penalties}
    with_word: dict[str, list[Criterion]] = defaultdict(list)
    for reward in rewards:
        for word in parsed[id(reward)].stems:
            with_word[word].append(reward)
    for penalty in penalties:
        own = parsed[id(penalty)]
        near: dict[int, Criterion] = {}
        for word in own.stems:
            if len(with_word[word]) <= _COMMON:
                near |= {id(reward): reward for reward in with_word[word]}
        for reward in near.values():
            if _is_mirror(own, parsed[id(reward)]):
                yield penalty, reward
                break


@dataclass(frozen=True, slots=True)
class _ParsedOutcome:
    """The content of an outcome: the stems of its words without the negation, their first one, and its marks."""

    stems: frozenset[str]
    first: str
    marks: frozenset[str]
    is_negated: bool


def _is_mirror(one: _ParsedOutcome, other: _ParsedOutcome) -> bool:
    """Return whether two outcomes say the same but for a negation, their verbs, and words that only one of them has."""
    if one.is_negated == other.is_negated or one.marks != other.marks:
        return False
    if one.stems - other.stems - {one.first} and other.stems - one.stems - {other.first}:
        return False
    return len(one.stems & other.stems) >= _ALIKE * len(one.stems | other.stems)


def _parse_outcome(criterion: Criterion) -> _ParsedOutcome:
    text = write_out_negations(criterion.outcome or "")
    folded = text.casefold()
    found = match_negation(folded)  # one further on is part of what is said
    rest = cased = folded
    if len(text) == len(folded):
        cased = text
    if found:
        rest, cased = folded[found.end() :], cased[found.end() :]
    marks = frozenset(_MARKS.findall(cased))
    if found and found["verb"]:
        rest = f"{found['verb']} {rest}"
    stems = [stem(word) for word in _WORD.findall(rest) if word not in _DROPPED]
    first = next(iter(stems), "")
    return _ParsedOutcome(frozenset(stems), first, marks, bool(found) != criterion.is_negated)
