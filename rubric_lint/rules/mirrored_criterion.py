"""Two criteria of opposite signs of which one is the negation of the other."""

import re
from collections import defaultdict
from collections.abc import Iterator

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule

_NEGATED = re.compile(
    r"\b(?:does not|do not|did not|is not|are not|not|never|no|without|fail(?:s|ed|ing)? to|neglects? to|omits?|"
    r"omitting|lacks?|misses|forgets? to|refuses? to)\b"
)
_CONTRACTED = re.compile(r"n['’]t\b")  # noqa: RUF001 (an apostrophe of prose)
_WORD = re.compile(r"[^\W_]+")
_DROPPED = frozenset(
    "a an the any to of that this it its is are be in on for with and or does do did response answer model".split()  # noqa: SIM905
)
_ALIKE = 0.6
"""The share of the words of two outcomes, negations left out, that both have to have."""
_COMMON = 40
"""A word that more criteria have says nothing about a pair of them, and would make the search quadratic."""


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare each penalty with the criteria that give points."""
    gives = [each for each in rubric.criteria if each.outcome and each.weight and each.weight > 0]
    takes = [each for each in rubric.criteria if each.outcome and each.weight and each.weight < 0]
    words = {id(each): _read(each) for each in (*gives, *takes)}
    with_word: dict[str, list[Criterion]] = defaultdict(list)
    for criterion in gives:
        for word in words[id(criterion)][0]:
            with_word[word].append(criterion)
    for penalty in takes:
        own, negated = words[id(penalty)]
        near: dict[int, Criterion] = {}
        for word in own:
            if len(with_word[word]) <= _COMMON:
                near.update((id(each), each) for each in with_word[word])
        for criterion in near.values():
            others, other_negated = words[id(criterion)]
            if negated != other_negated and len(own & others) >= _ALIKE * len(own | others):
                place = Place("the other one", criterion.outcome_path)
                values = {"weight": penalty.weight, "other": criterion.label, "other_weight": criterion.weight}
                yield Problem("negation", penalty.outcome_path, values=values, related=(place,))
                break


def _read(criterion: Criterion) -> tuple[frozenset[str], bool]:
    """Return the stems of an outcome without negations, and whether it is negated."""
    text = _CONTRACTED.sub(" not", (criterion.outcome or "").casefold()).replace("cannot", "can not")
    rest, count = _NEGATED.subn(" ", text)
    stems = frozenset(_stem(word) for word in _WORD.findall(rest) if word not in _DROPPED)
    return stems, (count % 2 == 1) != criterion.is_negated


def _stem(word: str) -> str:
    """Strip the endings that a verb has in one sentence and loses in its negation."""
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word[: -len(ending)]
    return word.rstrip("e") if len(word) > 3 else word


RULE = Rule(
    "mirrored-criterion",
    Severity.WARNING,
    {
        "negation": (
            "it takes points ({weight}) for missing what {other} ({line}) gives points for ({other_weight}), so one "
            "miss costs both; keep one of them"
        )
    },
    check,
)
