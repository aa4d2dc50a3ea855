"""Find pairs of criteria of opposite signs of which one is the negation of the other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
    gives = [each for each in criteria if each.outcome and each.weight and each.weight > 0]
    takes = [each for each in criteria if each.outcome and each.weight and each.weight < 0]
    said = {id(each): _read(each) for each in (*gives, *takes)}
    with_word: dict[str, list[Criterion]] = defaultdict(list)
    for criterion in gives:
        for word in said[id(criterion)].stems:
            with_word[word].append(criterion)
    for penalty in takes:
        own = said[id(penalty)]
        near: dict[int, Criterion] = {}
        for word in own.stems:
            if len(with_word[word]) <= _COMMON:
                near.update((id(each), each) for each in with_word[word])
        for criterion in near.values():
            if _is_mirror(own, said[id(criterion)]):
                yield penalty, criterion
                break


class _Said(NamedTuple):
    """What an outcome says: the stems of its words without the negation, their first one, and its marks."""

    stems: frozenset[str]
    first: str
    marks: frozenset[str]
    is_negated: bool


def _is_mirror(one: _Said, other: _Said) -> bool:
    """Return whether two outcomes say the same but for a negation, their verbs, and words that only one of them has."""
    if one.is_negated == other.is_negated or one.marks != other.marks:
        return False
    if one.stems - other.stems - {one.first} and other.stems - one.stems - {other.first}:
        return False
    return len(one.stems & other.stems) >= _ALIKE * len(one.stems | other.stems)


def _read(criterion: Criterion) -> _Said:
    text = write_out_negations(criterion.outcome or "")
    folded = text.casefold()
    found = match_negation(folded)  # one further on is part of what is said
    rest = folded[found.end() :] if found else folded
    marks = frozenset(_MARKS.findall(text[len(folded) - len(rest) :] if len(text) == len(folded) else rest))
    if found and found["verb"]:
        rest = f"{found['verb']} {rest}"
    stems = [stem(word) for word in _WORD.findall(rest) if word not in _DROPPED]
    return _Said(frozenset(stems), next(iter(stems), ""), marks, bool(found) != criterion.is_negated)
