"""Find what says that lower scores are better, where scores are read as higher is better.

Only phrases about scores count: a criterion may well be about a lower price. The words are English.
"""

import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.scores import Ends
from rubric_lint.formats.home_made.vocabulary import SETS
from rubric_lint.model.criterion import is_number, read_number
from rubric_lint.model.messages import shorten

_LOW = r"low(?:er|est)?|small(?:er|est)?|few(?:er|est)|less"
_HIGH = r"high(?:er|est)?|larg(?:er|est)|bigg(?:er|est)|greater|more"
_SCORES = r"(?:scores?|values?|numbers?|ratings?|points|levels?|marks?)"
_BETTER = r"better|best|good|great|ideal|preferred|preferable|desirable"
_WORSE = r"worse|worst|bad|poor"
_GOOD = r"best|perfect|ideal|excellent|flawless|optimal|very good"
_BAD = r"worst|terrible|awful|unacceptable|very poor|very bad|poor|fails?|failing|failed|failure"
_NUMBER = r"(?<![\w.,])(-?\d{1,4})(?![\w%]|[.,]\d)"
# Between words of a text whose runs of blanks are one blank or one line break each: repeated, they would read it again.
_IS = r"(?:\s?(?:=|:|->|\N{RIGHTWARDS ARROW}|\()|\s(?:-|\N{EN DASH}|is|are|being|means?)(?=\s))\s?(?:the\s)?"
_ENDED = r"(?=\s?(?:\Z|[.,;:!?)\]/|&\n]|(?:and|score|level|possible)\b|to\s-?\d))"
"""What follows a word that says how good a score is: no object, as in "5: fails to name it"."""
_ANSWERS = r"(?:answers?|responses?|outputs?|repl(?:y|ies)|work|ones?)"
_ARE = r"(?:\s?=\s?|\s(?:is|are|means?|indicates?)\s)(?:the\s)?"

_PHRASES = re.compile(
    rf"""(?:
    # A clause of its own, or one that says what is lower: "Lower is better", "a lower score is better".
    (?: (?: (?:\A|[.;:,!?(\[\N{{EN DASH}}\N{{EM DASH}}\n-])\s? | \b(?:as|since|because|so|where|note\ that)\s )
        (?:the\s|a\s)? (?: (?:{_LOW}){_ARE}(?:{_BETTER}) | (?:{_HIGH}){_ARE}(?:{_WORSE}) )\b )
    # An answer that "notes that high scores are bad" is none of these.
    | \b(?<!(?:tes|ins|ons|ays)\ that\ )(?:{_LOW})\s{_SCORES}{_ARE}(?:{_BETTER})\b
    | \b(?<!(?:tes|ins|ons|ays)\ that\ )(?:{_HIGH})\s{_SCORES}{_ARE}(?:{_WORSE})\b
    | \bthe\s(?:lower|smaller|fewer)\b(?:\sthe\s{_SCORES})?,?\sthe\sbetter\b
    | \bthe\s(?:higher|larger|greater)\b(?:\sthe\s{_SCORES})?,?\sthe\sworse\b
    | \b(?:reverse|inverse|inverted|reversed)[\ -](?:scor(?:ed|ing)|scale|score)\b
    | \bscale\sis\s(?:inverted|reversed)\b
    )(?!\sthan\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = re.compile(rf"{_BETTER}|{_WORSE}|{_GOOD}|{_BAD}|revers|invers|invert", re.IGNORECASE)
_NUMBERED = re.compile(rf"{_NUMBER}{_IS}(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))\b{_ENDED}", re.IGNORECASE)
_FAILS = re.compile(rf"{_NUMBER}\sfails{_ENDED}", re.IGNORECASE)
_NAMED = re.compile(rf"\b(?:(?P<good>best|perfect)|(?P<bad>worst))(?:\sscore)?{_IS}{_NUMBER}", re.IGNORECASE)
_GIVEN = re.compile(
    rf"{_NUMBER}\s(?:goes\s)?(?:to|for|if)\s(?:the\s|an?\s)?(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))\s{_ANSWERS}\b",
    re.IGNORECASE,
)
_GETS = re.compile(
    rf"\b(?:(?P<good>{_GOOD})|(?P<bad>{_BAD}))\s{_ANSWERS}\s(?:get|score|receive|earn)s?\s(?:an?\s)?(?:scores?\sof\s)?"
    rf"{_NUMBER}",
    re.IGNORECASE,
)


def find_reversal(text: str, scales: Collection[Ends]) -> str:
    """Return the words of a text that say that a low score of one of some scales is good, or a high one bad."""
    if not _SIGNS.search(text):
        return ""
    text = "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))
    found = _PHRASES.search(text)
    if found:
        return found[0].strip(" \n.;:,!?([\N{EN DASH}\N{EM DASH}-")
    if not scales:
        return ""
    lowest, highest = min(low for low, _ in scales), max(high for _, high in scales)
    for pattern in (_NUMBERED, _FAILS, _NAMED, _GIVEN, _GETS):
        for found in pattern.finditer(text):
            number = next(Fraction(group) for group in found.groups() if group and re.fullmatch(r"-?\d+", group))
            is_good = bool(found.groupdict().get("good"))
            is_turned = number <= lowest if is_good else number >= highest
            if is_turned:
                return found[0]
    return ""


def format_fall(fall: tuple[str, str]) -> str:
    """Say that the words of the lowest and the highest level are those of the best and the worst."""
    best, worst = map(shorten, fall)
    return f'the lowest level says "{best}" and the highest "{worst}", but the highest score is read as the best'


LOW_WORDS, HIGH_WORDS, DIRECTIONS = SETS["low_words"], SETS["high_words"], SETS["directions"]
_OFF = frozenset({"", "no", "false", "none", "never", "off", "n"})


def is_off(value: Any) -> bool:
    """Return whether a value says no: false, null, 0, "no"."""
    return not value or (isinstance(value, str) and value.strip().lower() in _OFF)


def is_below_top(value: Any, scales: Collection[Ends]) -> bool:
    """Return whether a value is a score below the highest of one of some scales: it may be the best one.

    Without scales, criteria are met or not. A scale that ends before it begins stands for any.
    """
    if read_number(value) is None or value != int(value):
        return False
    ends = scales or [(Fraction(0), Fraction(1))]
    return any(low > high or low <= value < high for low, high in ends)


_TURNING = DIRECTIONS.union({"better"}, *(SETS[name] for name in ("turned", "best", "of_best", "aims")))
"""Words of a key that may say which scores are better."""


def is_reversed(key: str, value: Any, scales: Collection[Ends]) -> bool:
    """Return whether a field says, or may say, that lower is better: `direction: lower`, `higher_is_better: false`."""
    words = split_words(key)
    if words.isdisjoint(_TURNING) or isinstance(value, list | dict):
        return False
    said = split_words(value) if isinstance(value, str) and " " not in value.strip() else frozenset[str]()
    says_low = bool(said & LOW_WORDS)
    if words & SETS["turned"] and words <= SETS["turned"] | SETS["of_scales"]:
        reverses = not is_off(value)
    elif "better" in words and words & (HIGH_WORDS - {"better"}):
        reverses = is_off(value)
    elif "better" in words:
        reverses = says_low or (bool(words & LOW_WORDS) and not is_off(value))
    elif words <= SETS["best"] | SETS["of_best"]:
        reverses = _is_other_end(words, said, value, scales)
    elif words & DIRECTIONS and is_number(value):
        reverses = value <= 0
    elif words & DIRECTIONS:
        reverses = says_low or (bool(said) and not said & HIGH_WORDS)  # nobody here knows the word
    else:
        reverses = bool(words & SETS["aims"]) and says_low
    return reverses


def _is_other_end(words: Collection[str], said: frozenset[str], value: Any, scales: Collection[Ends]) -> bool:
    """Return whether what is called the best or the worst, a score or a word, is another one than that of a scale."""
    is_best = not SETS["best"].isdisjoint(words)
    if isinstance(value, str) and not re.fullmatch(r"\s*-?\d{1,6}\s*", value):
        others = LOW_WORDS if is_best else HIGH_WORDS
        return bool(said & others)
    score = int(value) if isinstance(value, str) else value
    if is_best:
        return is_below_top(score, scales)
    return "worst" in words and is_number(score) and any(score != low for low, _ in scales)
