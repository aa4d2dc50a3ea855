"""Find answers that belong together: those to one question, or with nearly one text."""

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

_NEAR_COPY = Fraction(4, 5)
"""The share of word triples from which two texts are near-copies (the index of Jaccard 1912)."""

QUESTION = "question"
"""The kind of a unit that is the answers to one question."""

TEXT = "text"
"""The kind of a unit that is the answers with nearly one text, without a question."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Chinese characters
)
"""The scripts that put no blanks between words: each character is compared as a word of others is.

Three characters of them hold one or two words. A text that differs in one is a near-copy from 29 characters on, as
another text is from 29 words on. Unicode, too, takes such characters for words: https://unicode.org/reports/tr29/.
"""

_WORD = re.compile(rf"(?!\d)[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W\d_])+")


EMPTY = "with an empty value in"
OTHER = "with a value that is no text or number in"
"""Why answers cannot be grouped by a field that they have."""


class AnswerContext(NamedTuple):
    """What records say of an answer besides judgements: its question, its text, and its other fields as JSON.

    An empty text of an answer is known, an empty question is none.
    `unusable` has why answers cannot be grouped by its other fields.
    """

    question: str | None = None
    answer: str | None = None
    fields: Mapping[str, str] = {}
    unusable: Mapping[str, str] = {}

    def or_else(self, other: "AnswerContext") -> "AnswerContext":
        """Return this context, completed by another one where it has nothing."""
        fields, unusable = {**other.fields, **self.fields}, {**other.unusable, **self.unusable}
        answer = self.answer or other.answer
        if answer is None:  # an empty text is known, and comes before none
            answer = self.answer
        return AnswerContext(self.question or other.question, answer, fields, unusable)


def read_context(record: Mapping[str, Any], known: frozenset[str]) -> AnswerContext:
    """Return the question, the text and the other fields of a record; `known` fields have a meaning of their own."""
    fields, unusable = dict[str, str](), dict[str, str]()
    for name, value in record.items():
        if name in known:
            continue
        nested = {name: value}
        if isinstance(value, dict):
            nested |= {f"{name}.{key}": field for key, field in value.items()}
        for key, field in nested.items():
            if field is None or field == "":
                unusable[key] = EMPTY
            elif isinstance(field, str | int | float):
                fields[key] = _format_value(field)
            else:
                unusable[key] = OTHER
    return AnswerContext(_as_text(record.get("question")) or None, _as_text(record.get("answer")), fields, unusable)


def _format_value(value: str | float) -> str:
    """Return a value as JSON writes it; a text that cannot be mistaken for another value needs no quotes."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1.0 and 1 are one number
    return json.dumps(value, ensure_ascii=False)


def _as_text(value: object) -> str | None:
    """Return the text of a question or an answer: that inside of messages and their parts, else the value as JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for name in ("content", "text"):
            if isinstance(value.get(name), str | list):
                return _as_text(value[name])
    if isinstance(value, list):
        return "\n".join(filter(None, map(_as_text, value)))
    if isinstance(value, int | float):
        return _format_value(value)
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def group_units(contexts: Sequence[AnswerContext]) -> list[Hashable]:
    """Return the unit of each answer: its question, or without one its text, of which near-copies are one.

    An answer of which neither is known is its own unit.
    """
    units: list[Hashable] = []
    texts: dict[str, list[int]] = defaultdict(list)
    for place, context in enumerate(contexts):
        if context.question is not None:
            units.append((QUESTION, _reduce(context.question)))
            continue
        units.append(("answer", place))
        if context.answer is not None:
            texts[context.answer].append(place)
    for leader, text in zip(_merge_copies(list(texts)), texts, strict=True):
        for place in texts[text]:
            units[place] = (TEXT, leader)
    return units


def count_copies(units: Sequence[Hashable]) -> int:
    """Return how many answers are near-copies of another one with the same unit."""
    texts = [unit for unit in units if isinstance(unit, tuple) and unit[0] == TEXT]
    return len(texts) - len(set(texts))


def _reduce(question: str) -> str:
    """Return the letters of a question without their case, which are equal for two ways to write one question.

    Where there are digits, all but blanks counts, from the first letter or digit to the last one: 12 + 7, 12 - 7 and
    1 + 27 are three questions. Answers are compared without digits, because a judge that reads one of two texts that
    differ in a number reads the other one alike.
    """
    text = "".join(unicodedata.normalize("NFKC", question).casefold().split())
    if any(map(str.isdecimal, text)):
        return _ENDS.sub("", text)
    # A question of signs alone, without a letter, is only like itself.
    return "".join(character for character in text if unicodedata.category(character)[0] in "LM") or question


_ENDS = re.compile(r"^[\W_]+|[\W_]+$")


def _merge_copies(texts: Sequence[str]) -> list[int]:
    """Return for each text the number of the first one of which it is a near-copy, or a near-copy of near-copies.

    Of two texts with enough common triples, each has one of its rarest among those of the other: only texts that share
    one of these are compared. Bayardo and others 2007, https://doi.org/10.1145/1242572.1242591.
    """
    sets = [_list_triples(text) for text in texts]
    times = Counter(triple for triples in sets for triple in triples)
    leaders = list(range(len(texts)))

    def find_leader(number: int) -> int:
        while leaders[number] != number:
            number = leaders[number]
        return number

    texts_with: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, triples in enumerate(sets):
        rarest = sorted(triples, key=lambda triple: (times[triple], triple))
        for triple in rarest[: len(triples) - math.ceil(_NEAR_COPY * len(triples)) + 1]:
            for other in texts_with[triple]:
                first, second = find_leader(number), find_leader(other)
                if first != second and len(triples & sets[other]) >= _NEAR_COPY * len(triples | sets[other]):
                    leaders[max(first, second)] = min(first, second)
            texts_with[triple].append(number)
    return [find_leader(number) for number in range(len(texts))]


def _list_triples(text: str) -> frozenset[tuple[str, ...]]:
    """Return the triples of neighboring words without digits; of a shorter text what there is, at least the text."""
    words = _WORD.findall(text.casefold())
    if len(words) < 3:
        return frozenset([tuple(words) or (text,)])
    return frozenset(zip(words, words[1:], words[2:], strict=False))
