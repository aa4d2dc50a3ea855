"""Read scores, scales, levels and shares as people write them; the one parser of them for all home-made formats."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.formats.home_made.format_table import SHARE, YES_NO, list_words
from rubric_lint.formats.home_made.vocabulary import Fields, LevelWords
from rubric_lint.model.criterion import is_number, read_number
from rubric_lint.source.tree import parts_of

Ends = tuple[Fraction, Fraction]
"""The scores of a scale that are read as the worst and the best."""

ENDS = (("min", "max"), ("minimum", "maximum"), ("low", "high"), ("lowest", "highest"), ("from", "to"))
"""The keys of a mapping that are the ends of a scale."""

DASH = r"(?:-|\u2011|\u2013|\u2014|\u2026|\.\.\.?|to)"
"""What is between the ends of a range."""

RANGE = re.compile(rf"\s*(-?\d{{1,4}})\s*{DASH}\s*(-?\d{{1,4}})\s*")
_CALLED = r"levels? | lvl | scores? | grade | points? | pts? | rating | stars? | band | step | stage | value | anchor"
_NUMBERED = re.compile(
    rf"""\s* (?: (?: {_CALLED} | marks? | [lsgp] ) [\s_-]* )?
        ( -?\d{{1,4}} (?:\.\d{{1,4}})? )
        \s* (?: points? | pts? | stars? | marks? )?
        \s* (?P<name> [:)(=_\N{{EN DASH}}\N{{EM DASH}}] .* | -(?!\d) .* | \.\s .* )?""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""What a level is called by its score: `3`, `score_3`, `L3`, `3 stars`, `3: Good`; other words may hold any number.

The first rank or tier is the best one as often as the lowest score.
"""

_IN_TEXT = re.compile(r"(?<![\w.,/-])(-?\d{1,3})\s*=\s*[^\W\d_]")
"""A score in a text that says what it means: `1 = Nothing is named`."""

_SHORT = 200
"""A text about a scale has no more characters."""

_RANGE_IN_TEXT = re.compile(rf"(?<![\w.,/-])(\d{{1,3}})(?:\s*\([^()]*\))?\s*{DASH}\s*(\d{{1,3}})(?![\w/-]|[.,]\d)")
"""A range in a text, whose ends may be explained in brackets."""

_SCALES_OF_TWO = frozenset(
    {"binary", "boolean", "bool", "yes no", "yes or no", "pass fail", "pass or fail", "true false", "true or false"}
)


def read_score(word: str) -> Decimal | None:
    """Return the score that a level is called, the lowest one of a range; None if it is called otherwise."""
    found = RANGE.fullmatch(word) or _NUMBERED.fullmatch(word)
    return Decimal(found[1]) if found else None


def split_score(word: str) -> tuple[Decimal, str] | None:
    """Return the score that a level is called, and the name after it: `3`, `score 3`, `3: Good`, `3 (good)`."""
    found = _NUMBERED.fullmatch(word)
    if not found:
        return None
    name = found["name"] or ""
    return Decimal(found[1]), name.strip(" :)(=_-.\N{EN DASH}\N{EM DASH}")


def is_range(value: Any) -> bool:
    """Return whether a string is a range of scores: `4-7`, `1 to 3`."""
    return isinstance(value, str) and RANGE.fullmatch(value) is not None


def read_share(value: Any) -> Fraction | None:
    """Return the number that a string holds as a share of the whole: "40%", "0.4"."""
    found = re.fullmatch(SHARE, value) if isinstance(value, str) else None
    return Fraction(found[1]) if found else None


def read_percent(value: Any) -> Fraction | None:
    """Return the part that a string says in percent: 3/5 for "60%"."""
    share = read_share(value) if isinstance(value, str) and value.rstrip().endswith("%") else None
    return None if share is None else share / 100


def find_other_kind(weights: Sequence[Any]) -> int | None:
    """Return which weight is the first in percent next to plain numbers, or the other way round; None if all agree.

    Nobody knows of what whole each of them is a part.
    """
    are_percent = [read_percent(weight) is not None for weight in weights]
    return are_percent.index(not are_percent[0]) if len(set(are_percent)) > 1 else None


def is_amount(value: Any) -> bool:
    """Return whether a value is a number or a string that holds one as a share."""
    return is_number(value) or read_share(value) is not None


def read_ends(value: Any) -> Ends | str | None:
    """Return the ends of a scale as people write it: `[1, 5]`, `1-5`, `{min: 1, max: 5}`, `{1: ..., 5: ...}`."""
    match value:
        case str():
            return _read_ends_of_string(value)
        case [low, high] if _is_number(low) and _is_number(high):
            return Fraction(str(low)), Fraction(str(high))
        case dict():
            for low, high in ENDS:
                if _is_number(value.get(low)) and _is_number(value.get(high)):
                    return Fraction(str(value[low])), Fraction(str(value[high]))
    spans = _list_spans(value)
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def list_steps(value: Any) -> list[int]:
    """Return the scores of a scale that names more than its two ends, from the lowest: `[1, 3, 5]`; else none.

    They are whole numbers, and each one of a part such as `4-7` is a score.
    """
    spans = _list_spans(value)
    if len(spans) < 3:
        return []
    steps: set[int] = set()
    for low, high in {*spans}:
        steps.update(range(math.floor(low), math.floor(high) + 1))
    return sorted(steps)


def _list_spans(value: Any) -> list[Ends]:
    """Return the scores that a list, or the keys of a mapping, consists of, each a range; none if one is no score."""
    if not isinstance(value, list | dict):
        return []
    spans: list[Ends] = []
    for part in value:
        score = read_score(part) if isinstance(value, dict) else part
        if score is None or not (isinstance(score, Decimal) or _is_number(score)):
            return []
        found = RANGE.fullmatch(part) if isinstance(part, str) else None
        low = high = Fraction(str(score))
        if found:
            high = max(low, Fraction(found[2]))
        spans.append((low, high))
    return spans if len(spans) > 1 else []


def _is_number(value: Any) -> bool:
    return read_number(value) is not None


def read_scale_around(value: Any) -> Fraction | Ends | None:
    """Return the highest score, if the value of a key about a scale is a number, else the ends of the scale."""
    number = read_number(value)
    if number is not None:
        return Fraction(number)
    ends = read_ends(value)
    return (Fraction(0), Fraction(1)) if isinstance(ends, str) else ends


def _read_ends_of_string(value: str) -> Ends | str | None:
    if " ".join(list_words(value)) in _SCALES_OF_TWO:
        return YES_NO
    found = RANGE.fullmatch(value)
    if found:
        return Fraction(found[1]), Fraction(found[2])
    return read_ends_in_text(value) or _find_range(value)


def _find_range(text: str) -> Ends | None:
    """Return the only range in a short text about a scale: "Score from 1 (poor) to 5 (excellent)"."""
    found = _RANGE_IN_TEXT.findall(text) if len(text) <= _SHORT else []
    if len(found) != 1:
        return None
    low, high = found[0]
    return Fraction(low), Fraction(high)


@lru_cache(maxsize=1 << 10)  # criteria are asked about one key after the other
def read_ends_in_text(text: str) -> Ends | None:
    """Return the ends of the scale that a text explains: "1 = Nothing is named. 5 = All is named."."""
    scores = [int(found[1]) for found in _IN_TEXT.finditer(text)]
    if len(scores) < 2 or len({*scores}) < len(scores) or scores not in (sorted(scores), sorted(scores, reverse=True)):
        return None
    return Fraction(min(scores)), Fraction(max(scores))


@dataclass(frozen=True, slots=True)
class ParsedLevel:
    """A level: its score or its lowest one, None if it has a word for it, its name and its text."""

    score: Decimal | None
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ParsedLevels:
    """Levels in the order in which they are written; `score_key` is that of a list of mappings."""

    levels: tuple[ParsedLevel, ...]
    score_key: str = ""

    @property
    def words(self) -> list[str]:
        """The names of levels that have words in the place of scores."""
        return [level.name for level in self.levels if level.score is None]

    @property
    def is_described(self) -> bool:
        """Whether each level says in several words what it is."""
        return all(is_prose(level.text) for level in self.levels)

    @property
    def ends(self) -> Ends | None:
        """The lowest and the highest score; None if one of them is a word."""
        scores = [Fraction(level.score) for level in self.levels if level.score is not None]
        return (min(scores), max(scores)) if scores and not self.words else None


def read_levels(value: Any) -> ParsedLevels | None:
    """Return the levels that a value describes, a map from scores or words to texts or a list; None if it does not."""
    if isinstance(value, dict) and 1 < len(value) <= _MOST:
        return _read_map(value)
    if isinstance(value, list) and 1 < len(value) <= _MOST:
        return _read_list(value)
    return None


def is_row(value: Any) -> bool:
    """Return whether a mapping has a text for each of three or more whole scores in a row."""
    if not isinstance(value, dict) or not _LEAST_ROW <= len(value) <= _MOST_ROW:
        return False
    if not all(isinstance(key, str) and re.fullmatch(r"-?\d{1,2}", key) for key in value):
        return False
    scores = sorted(map(int, value))
    return scores[-1] - scores[0] == len(scores) - 1 and all(isinstance(text, str) and text for text in value.values())


def is_prose(value: Any) -> bool:
    """Return whether a value is a text of several words, in any script."""
    return isinstance(value, str) and (" " in value.strip() or not value.isascii())


def is_statement(value: Any) -> bool:
    """Return whether a value is a text of three words, or as much in a script without spaces."""
    return isinstance(value, str) and (len(value.split()) > 2 or (not value.isascii() and len(value) > 4))


def holds_mappings(value: Any) -> bool:
    """Return whether a list or a mapping holds mappings, as what holds criteria does."""
    return any(isinstance(part, dict) for part in parts_of(value))


def adds_up(value: Any) -> bool:
    """Return whether a list has points that repeat, so that it describes no levels, but what adds up."""
    return (
        isinstance(value, list)
        and all(isinstance(entry, dict) and is_number(entry.get("points")) and find_text(entry) for entry in value)
        and len({entry["points"] for entry in value}) < len(value)
    )


def find_text(level: Mapping[str, Any]) -> str:
    """Return the key of the text of a level; empty if it has none."""
    known = [name for name in LevelWords.text if isinstance(level.get(name), str)]
    prose = [name for name in known if is_prose(level[name])]
    other = [name for name, value in level.items() if is_prose(value) and name not in Fields.text]
    if not prose and len(other) == 1 and len(level) <= _FEW_KEYS:
        return other[0]
    return next(iter(prose + known), "")


_FEW_KEYS = 3
"""A level whose text is under an unknown key has no more keys."""

_LEAST_ROW, _MOST_ROW = 3, 11
"""The scores in a row that are a scale, whatever it is called."""

_MOST = 1001
"""No more levels are read."""


def _read_map(value: Mapping[str, Any]) -> ParsedLevels | None:
    texts = []
    for level in value.values():
        key = find_text(level) if isinstance(level, dict) else ""
        text = level[key] if key else level
        if not isinstance(text, str):
            return None
        texts.append(text)
    scores = [read_score(key) for key in value]
    are_plain = all(isinstance(text, str) for text in value.values()) or all(map(_is_plain, value))
    if None not in scores and are_plain:
        levels = [ParsedLevel(score, "", text) for score, text in zip(scores, texts, strict=True)]
        return ParsedLevels(tuple(levels)) if len({*scores}) > 1 else None
    if not all(map(is_prose, texts)) or not _are_ladder(list(value)):
        return None
    return ParsedLevels(tuple(ParsedLevel(None, name, text) for name, text in zip(value, texts, strict=True)))


def _is_plain(key: str) -> bool:
    """Return whether a key is a score or a range, and nothing more: the keys of mappings may be names with a number."""
    return RANGE.fullmatch(key) is not None or re.fullmatch(r"\s*-?\d{1,4}(\.\d{1,4})?\s*", key) is not None


def _read_list(value: Sequence[Any]) -> ParsedLevels | None:
    if all(isinstance(part, str) for part in value):
        return _read_strings(value)
    if not all(isinstance(level, dict) and _OF_CRITERIA.isdisjoint(level) for level in value):
        return None
    names = [_find_key(level, LevelWords.score, _has_score) for level in value]
    return _read_scored(value, names) if all(names) else _read_named(value)


_OF_CRITERIA = frozenset({"id", "weight", *Fields.parts})
"""Keys of criteria that no level has."""


def _find_key(level: Mapping[str, Any], names: Sequence[str], suits: Callable[[Any], bool]) -> str:
    """Return the first of some keys of a level whose value suits; empty if none does."""
    return next((name for name in names if suits(level.get(name))), "")


def _read_scored(value: Sequence[Mapping[str, Any]], names: Sequence[str]) -> ParsedLevels | None:
    """Read levels that are mappings with a score, whose keys are `names`."""
    scores = [_as_decimal(level[name]) for level, name in zip(value, names, strict=True)]
    repeats = len({*scores}) < len(scores)
    have_texts = all(map(find_text, value))
    if not have_texts or len({*scores}) < 2 or (repeats and "points" in names) or any(map(_holds_levels, value)):
        return None
    levels = [ParsedLevel(score, "", level[find_text(level)]) for level, score in zip(value, scores, strict=True)]
    return ParsedLevels(tuple(levels), names[0])


def _read_named(value: Sequence[Mapping[str, Any]]) -> ParsedLevels | None:
    """Read levels that are mappings with a name in the place of a score."""
    levels = []
    for level in value:
        name_key = _find_key(level, LevelWords.named, lambda name: isinstance(name, str))
        text_key = _find_key(level, LevelWords.text, is_prose)
        if not name_key or not text_key or not level[name_key]:
            return None
        levels.append(ParsedLevel(None, level[name_key], level[text_key]))
    return ParsedLevels(tuple(levels)) if _are_ladder([level.name for level in levels]) else None


def _read_strings(value: Sequence[str]) -> ParsedLevels | None:
    """Read levels that are strings which begin with their score: `["1: Poor", "2: Fair"]`."""
    found = [re.fullmatch(r"\s*(-?\d{1,3})\s*[:=]\s*(.+)", text, re.DOTALL) for text in value]
    levels = [ParsedLevel(Decimal(match[1]), "", match[2]) for match in found if match]
    is_row = len(levels) == len(value) and len({level.score for level in levels}) == len(levels)
    return ParsedLevels(tuple(levels)) if is_row else None


def _has_score(value: Any) -> bool:
    return is_number(value) or is_range(value) or _is_pair(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _as_decimal(value: Any) -> Decimal:
    if _is_pair(value):
        return Decimal(str(value[0]))
    if isinstance(value, str):
        return read_score(value) or Decimal(0)
    return Decimal(str(value))


def _holds_levels(entry: Mapping[str, Any]) -> bool:
    return any(read_levels(entry[name]) for name in Fields.levels if name in entry)


def fold(name: str) -> str:
    """Return the name of a level as the vocabulary writes it."""
    return name.strip().casefold().replace(" ", "_")


def _are_ladder(names: Sequence[str]) -> bool:
    """Return whether most of some words are known as names of levels: poor, fair, good."""
    known = [fold(name) in LevelWords.words for name in names]
    return 2 * sum(known) >= len(names)
