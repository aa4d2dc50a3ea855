"""Say what a key may be, from its words and its value: the one answer for criteria and for what stands around them."""

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rubric_lint.formats.home_made.direction import DIRECTIONS, HIGH_WORDS, LOW_WORDS, is_reversed
from rubric_lint.formats.home_made.format_table import list_words, split_words
from rubric_lint.formats.home_made.scores import Ends, is_amount, read_ends
from rubric_lint.formats.home_made.vocabulary import SETS, SurroundingWords
from rubric_lint.model.criterion import is_number, read_number


class Role(StrEnum):
    """What a key of criteria is, or one of what stands around them."""

    ID = "id"
    TEXT = "text"
    TEXTS = "texts"
    """Lists of texts, of which nobody says how they count."""
    WEIGHT = "weight"
    WEIGHT_WORDS = "weight in words"
    LEVELS = "levels"
    SCALE = "scale"
    LOWEST = "lowest score"
    HIGHEST = "highest score"
    GATE = "gate"
    NEGATIVE = "penalty"
    POSITIVE = "no penalty"
    POLARITY = "polarity"
    PARTS = "parts"
    CRITERIA = "criteria"
    PASS = "pass mark"  # noqa: S105  (no password)
    VERDICT = "verdict"
    """Which scores fail, are borderline or get a grade."""
    TOTAL = "total"
    PERCENT = "percent"
    COMBINE = "how scores combine"
    DIRECTION = "direction"
    LEFT_OUT = "left out"
    CHANGE = "change of scores"
    JUDGED_BY = "what decides instead of a judge"
    HARMLESS = "nothing of the score"
    OPEN = "not known"
    """What may bear on the score, though nothing says how."""


BEARING = frozenset(
    {Role.WEIGHT, Role.GATE, Role.NEGATIVE, Role.PASS, Role.VERDICT, Role.COMBINE, Role.DIRECTION}
    | {Role.LEFT_OUT, Role.CHANGE, Role.LEVELS, Role.CRITERIA, Role.JUDGED_BY}
)
"""What decides a score or a verdict, so that it stops the score wherever it is not read."""

FEW = 4
"""A label of a score has fewer words."""

_FLAGS = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off", "none", "never"), False)}
_LONGEST_FLAG = 7
"""The characters of the longest of them, with a blank on both sides."""

_RANGE = re.compile(r"[<>]?=?\d[\d.]*%?(?:(?:-|\u2013|to)\d[\d.]*%?|\+)?")
"""A score or a range of scores, in a text without its blanks."""


def role_of(key: str, value: Any, scales: Collection[Ends] = (), *, is_around: bool = False) -> Role:
    """Return the role that a key may have: HARMLESS if it says nothing of a score, OPEN if nothing says which.

    The key is one of a criterion or, with `is_around`, of what stands around criteria, which are scored on `scales`.
    """
    words = split_words(key)
    if words & SETS["notes"]:
        return Role.HARMLESS
    flag = as_flag(value)
    tests: RoleTests = ()
    if isinstance(flag, bool):
        tests = _read_flag(key, words, flag=flag, is_around=is_around)
    elif value and (not is_around or _may_have_role(key) or (isinstance(value, str) and _names_gate(value))):
        tests = _read_value(key, words, value, is_around=is_around)
    for role, holds in tests:
        if holds:
            return role
    if is_reversed(key, value, scales):
        return Role.DIRECTION
    if words & SETS["harmless"] and not words & _NOT_HARMLESS:
        is_mark = bool(words & SETS["mark"]) and is_number(value)  # `threshold_count: 2`
        return Role.OPEN if is_mark else Role.HARMLESS
    if scales and is_number(value) and _is_end(words, value, scales):
        return Role.HARMLESS
    return Role.OPEN


def as_flag(value: Any) -> Any:
    """Return true or false for a word that says so, else the value."""
    if not isinstance(value, str) or len(value) > _LONGEST_FLAG:
        return value
    return _FLAGS.get(value.strip().lower(), value)


def _names_gate(text: str) -> bool:
    """Return whether a text is a word that says what a gate is: `hard_gate`, `veto`."""
    return " " not in text and bool(split_words(text) & _STOPS)


_NOT_HARMLESS = SETS["bearing"] | SETS["conditions"]
"""Words of a key that bear on a score, whatever other word it has."""

_MAYBE_LEFT_OUT = SETS["applies"] | {"optional"}
"""Words of a flag of a criterion that it may not count."""

_STOPS = SETS["gate"] - SETS["severe"]
"""Words of gates that are not those of something severe too."""


def _is_end(words: frozenset[str], value: Any, scales: Collection[Ends]) -> bool:
    """Return whether a number only repeats an end of a scale: `max: 3`."""
    is_least = _is_least(words - SETS["scales"] - SETS["of_best"])
    is_end = is_least or not words.isdisjoint(HIGH_WORDS | SETS["best"])
    ends = (low if is_least else high for low, high in scales)
    return is_end and any(value == end for end in ends)


_ROLE_WORDS = frozenset({"scoring", "method", "passes", "sum"}).union(
    *(SETS[name] for name in ("weights", "changes", "penalty", "gate", "must", "mark", "less", "least", "of_scores")),
    *(SETS[name] for name in ("grades", "scales", "ways", "extends")),
)


@lru_cache(maxsize=1 << 10)  # what stands around criteria repeats its keys, and few of them have a role
def _may_have_role(key: str) -> bool:
    """Return whether a word of a key around criteria may give it a role."""
    return _is_named(key, _ROLE_WORDS)


RoleTests = tuple[tuple[Role, Any], ...]
"""Roles, each with whether a key may have it; the first one counts."""


def _read_flag(key: str, words: frozenset[str], *, flag: bool, is_around: bool) -> RoleTests:
    if not flag:
        return (
            (Role.WEIGHT, is_around and words & (SETS["weights"] | {"weighted"})),
            (Role.NEGATIVE, not is_around and words & SETS["wanted"]),
            (Role.LEFT_OUT, words & SETS["counted"] or (not is_around and words & SETS["applies"])),
            (Role.HARMLESS, is_around and is_gate(key)),
        )
    return (
        (Role.NEGATIVE, words & SETS["penalty"] or (not is_around and is_bad(words))),
        (Role.LEFT_OUT, _is_named(key, SETS["left_out"]) or (not is_around and words & _MAYBE_LEFT_OUT)),
        (Role.CHANGE, not is_around and words & SETS["changes"]),
        (Role.GATE, is_gate(key) or (words & SETS["gate"] and words & SETS["conditions"])),
    )


def _read_value(key: str, words: frozenset[str], value: Any, *, is_around: bool) -> RoleTests:
    """Say what a key may be whose value is no flag: a number, a text, or several values."""
    is_inside, is_several, is_number = not is_around, isinstance(value, list | dict), is_amount(value)
    is_text = isinstance(value, str) and not is_number
    is_word = is_text and " " not in value.strip()
    said = split_words(value) if is_text else frozenset[str]()
    is_part = is_several or _says_part(value)
    is_kind = is_inside and is_word and words & SETS["kinds"]  # `type: bonus` says what `bonus: true` does
    is_weight, is_default = words & SETS["weights"], words & SETS["defaults"]
    has_marks = is_around and is_pass_mark(key) and _have_parts(value)
    gates = SETS["gate"] | SETS["must"] | SETS["mark"]
    is_limit = is_inside and (_is_named(key, gates) or _is_least(words))
    is_gate_word = said & SETS["gate"] or (words & (SETS["gate"] | SETS["mark"]) and "type" not in words)
    is_stop = _is_named(key, _STOPS)
    return (
        (Role.LEFT_OUT, is_inside and words & SETS["applies"]),
        (Role.LEVELS, is_inside and is_several and words & SETS["ladders"] and len(value) > 1),
        (Role.SCALE, not is_number and words & SETS["scales"] and read_ends(value) is not None),
        (Role.HARMLESS, is_word and words & SETS["scales"] and said & SETS["scale_kinds"]),
        (Role.TOTAL, is_around and is_number and is_total(key)),
        (Role.WEIGHT, is_weight and is_number and (is_inside or is_default)),
        (Role.WEIGHT, is_weight and is_inside and is_word),
        (Role.WEIGHT, is_weight and said & SETS["alike"] and len(said) < FEW),
        (Role.NEGATIVE, is_inside and is_word and is_bad(said)),
        (Role.NEGATIVE, is_inside and not is_several and _is_bad_kind(words, value)),
        (Role.DIRECTION, is_inside and is_word and _is_of_good(words) and said & LOW_WORDS),
        (Role.CHANGE, is_part and words & SETS["changes"]),
        (Role.CHANGE, is_kind and said & SETS["changes"]),
        (Role.LEFT_OUT, is_kind and said & (SETS["left_out"] | _MAYBE_LEFT_OUT)),
        (Role.NEGATIVE, is_part and words & SETS["penalty"]),
        (Role.VERDICT, is_number and (words & SETS["less"] or (is_around and key == "passes"))),
        (Role.GATE, is_number and (is_limit or (is_default and words & (SETS["least"] | SETS["must"])))),
        (Role.GATE, is_inside and is_word and is_gate_word),
        (Role.GATE, is_several and is_gate(key) and not words & SETS["of_outputs"]),
        (Role.GATE, is_around and not is_several and is_stop),
        (Role.GATE, is_around and is_number and words & SETS["gate"] and words & (SETS["conditions"] | SETS["mark"])),
        (Role.GATE, is_around and is_number and words & SETS["gate"] and words & {"below", "under", "any", "stop"}),
        (Role.GATE, is_around and is_word and _names_gate(value)),
        (Role.PASS, has_marks and is_number),
        (Role.VERDICT, has_marks or ((is_around or is_several) and _are_grades(words, value))),
        (Role.COMBINE, is_text and _is_other_way(words, said)),
        (Role.CRITERIA, is_around and (is_text or is_several) and words & SETS["extends"]),
        (Role.JUDGED_BY, is_inside and is_word and words & SETS["of_judges"] and said & SETS["other_judges"]),
    )


# What the words of a key, or of a value, say.


def is_pass_mark(key: str) -> bool:
    """Return whether a key around criteria says which score passes: `pass_mark`, `cutoff`, `minimum_score`."""
    words = split_words(key)
    least = SETS["least"]
    is_least = bool(words & least) and words <= least | SETS["of_scores"] and bool(words & SETS["of_scores"])
    is_other = words & (SETS["less"] | SETS["penalty"] | SETS["gate"] | SETS["notes"] | SETS["amounts"])
    is_most = {"total"} < words and words & {"max", "maximum", "possible"}
    return bool(words & SETS["mark"] or is_least) and not is_other and not is_most


def _is_least(words: frozenset[str]) -> bool:
    """Return whether a number of a criterion is the lowest that passes by its key: `at_least`, `min_score`."""
    return bool(words & SETS["least"]) and words <= SETS["least"] | SETS["of_scores"] | {"at"}


def is_of_model(key: str, settings: Collection[str]) -> bool:
    """Return whether a key in some settings is about a model, not about scores: `judge: {model: x, threshold: 0.1}`."""
    return key == "threshold" and "model" in settings


def is_total(key: str) -> bool:
    """Return whether a key around criteria says what their weights add up to: `total`, `total_score`, `weights_sum`."""
    words = split_words(key)
    others = {"weight", "weights", "max", "maximum", "possible"}
    return bool(words & {"total", "sum"}) and words <= {"total", "sum", *others, *SETS["of_scores"]}


def says_scale(key: str, value: Any, *, is_around: bool = True) -> bool:
    """Return whether a key of a criterion or around criteria says on which scale they are scored, or the highest score.

    A range around criteria may be one of ages or pages.
    """
    words = split_words(key)
    if words.isdisjoint(_OF_SCALES):
        return False
    if role_of(key, value, is_around=True) is Role.SCALE:
        return not is_around or key in SurroundingWords.scale or "range" not in words
    is_highest = words & HIGH_WORDS and words & SETS["of_scores"] and words <= HIGH_WORDS | SETS["of_scores"]
    is_known = key in SurroundingWords.highest or (is_highest and key not in SurroundingWords.total)
    return is_amount(value) and bool(is_known) and not is_total(key)


_OF_SCALES = SETS["scales"] | HIGH_WORDS
"""Words of a key that may say a scale or its highest score."""


def is_way(key: str) -> bool:
    """Return whether a key around criteria says how their scores combine: `aggregation`."""
    return bool(split_words(key) & SETS["ways"])


def is_gate(key: str) -> bool:
    """Return whether a flag of a criterion says that it must be met: `hard_fail`, `is_gate`, `must_pass`."""
    words = split_words(key)
    asks = words & {"require", "requires"}  # for something else: `require_sources`
    known = SETS["gate"] if asks and words - asks - _OF_MUST else SETS["gate"] | SETS["must"]
    is_must = _is_named(key, known)
    is_must = is_must or bool(words & {"pass", "fail"} and words & {"hard", "must", "auto", "instant"})
    return is_must and not is_bad(words)


_OF_MUST = frozenset({"is", "be", "to", "have", "pass", "passed", "meet", "met", "hard", "absolute"})
"""Other words in the names of what must be met."""


def is_gate_flag(key: str) -> bool:
    """Return whether a key only says that a criterion must be met, and nothing of a score: `critical`, `must_pass`."""
    return is_gate(key) and split_words(key) <= SETS["gate"] | SETS["must"] | _OF_MUST


def is_bad(words: frozenset[str]) -> bool:
    """Return whether words say that an answer is better without what a criterion describes: `avoid`, `must_not`."""
    is_turned = words & SETS["not"] and words & (SETS["done"] | SETS["wanted"])
    return bool(words & (SETS["penalty"] | SETS["avoided"]) or is_turned)


def is_good(text: str) -> bool:
    """Return whether a text says that an answer is better with what a criterion describes: `include`, `+`."""
    words = split_words(text)
    is_wanted = words & (SETS["wanted"] | HIGH_WORDS) and not is_bad(words) and not words & SETS["not"]
    return bool(is_wanted) or text.strip() == "+"


def is_unwanted(text: str) -> bool:
    """Return whether a word says that an answer is better without something: `must_not`, `forbidden`."""
    words = split_words(text)
    return not words.isdisjoint(SETS["avoided"]) or words.issuperset(("must", "not"))


def says_penalty(key: str, value: Any) -> bool:
    """Return whether a field says that its criterion is a penalty: `type: penalty`, `kind: negative`."""
    is_kind = isinstance(value, str) and bool(split_words(key) & SETS["kinds"])
    return is_kind and value.strip().lower() in SETS["penalty"]


def says_sum(key: str, value: Any) -> bool:
    """Return whether a field says that scores are added up: `scoring: sum`."""
    is_word = isinstance(value, str) and " " not in value.strip()
    is_said = is_word and bool(split_words(key) & (SETS["ways"] | {"scoring", "method"}))
    return is_said and bool(split_words(value) & SETS["sums"])


def _is_named(key: str, names: Collection[str]) -> bool:
    """Return whether a word of a key is one of some names, or two of them in a row: `deal_breaker`, `redFlags`."""
    words = list_words(key)
    return not {*words, *map("".join, pairwise(words))}.isdisjoint(names)


def _is_bad_kind(words: frozenset[str], value: Any) -> bool:
    """Return whether a field says that its criterion is a penalty: `polarity: "-"`, `sign: -1`, `kind: not allowed`."""
    if not words & (SETS["kinds"] | DIRECTIONS):
        return False
    if not isinstance(value, str):
        number = read_number(value)
        return number is not None and number < 0 and words.isdisjoint(DIRECTIONS)
    is_sign = value.strip().lower() in {"-", "\N{EN DASH}", "\N{MINUS SIGN}", "minus", "-1"}
    return is_sign or (len(value.split()) < FEW and is_bad(split_words(value)))


def _is_of_good(words: frozenset[str]) -> bool:
    """Return whether the words of a key say which scores are good: `good`, `desired_score`."""
    return bool(words & SETS["wanted"]) and words <= SETS["wanted"] | SETS["of_best"]


def _is_other_way(words: frozenset[str], said: frozenset[str]) -> bool:
    """Return whether a text says that scores combine in another way than as a weighted mean: `aggregation: min`."""
    other = bool(said & SETS["other_means"])
    if words & SETS["ways"]:
        return other or not said & SETS["means"]
    return other and len(said) < FEW and bool(words & ({"scoring", "method"} | SETS["of_scores"]))


def _says_part(value: Any) -> bool:
    """Return whether a value says how much: `2/4`, `half`, `at least 2 points`."""
    if not isinstance(value, str):
        return is_amount(value)
    count = len(value.split())
    return count < FEW or (count <= 2 * FEW and re.search(r"\d", value) is not None)


def _have_parts(value: Any) -> bool:
    return all(map(_says_part, value)) if isinstance(value, list) else _says_part(value)


def _are_grades(words: frozenset[str], value: Any) -> bool:
    """Return whether a value says which scores get a grade: `{A: 9, B: 7}`, `{"9-10": A}`, `[{min: 9, label: A}]`."""
    if isinstance(value, list) and words & (SETS["grades"] | SETS["mark"]):
        return all(isinstance(part, dict) and any(map(_is_bound, part.values())) for part in value)
    if not (isinstance(value, dict) and words & SETS["grades"]):
        return False
    are_ranges = all(_is_range(key) and (isinstance(part, str) or _is_bound(part)) for key, part in value.items())
    return are_ranges or all(map(_is_bound, value.values()))


def _is_bound(value: Any) -> bool:
    """Return whether a value is a score, or a range of scores."""
    if isinstance(value, dict):  # what it is called may stand there as well
        parts = value.values()
        return any(map(is_number, parts)) and all(is_number(part) or isinstance(part, str) for part in parts)
    if isinstance(value, list):
        return bool(value) and all(map(is_number, value))
    return is_number(value) or (isinstance(value, str) and _is_range(value))


def _is_range(text: str) -> bool:
    return _RANGE.fullmatch("".join(text.split())) is not None
