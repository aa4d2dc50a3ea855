"""Find what may decide a verdict but is not read: points, gates and pass marks under names that a table lacks.

The words in a key say what it may be, and its value whether it does anything. A rubric with such a key is neither
scored nor converted until a table says what the key is.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from rubric_lint.format.criterion import USUAL_THRESHOLDS, is_number, read_number
from rubric_lint.format.recognition import CONTAINERS
from rubric_lint.messages import shorten
from rubric_lint.shapes.direction import (
    DIRECTIONS,
    HIGH_WORDS,
    LOW_WORDS,
    find_reversal,
    is_below_top,
    is_off,
    is_reversed,
)
from rubric_lint.shapes.scores import ENDS, Ends, is_amount
from rubric_lint.shapes.shape import Shape, expand, is_star, list_words, split_words, star_pattern
from rubric_lint.shapes.vocabulary import SETS
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.tree import parts_of

_WORDS = SETS
PENALTY = _WORDS["penalty"]
GATE = _WORDS["gate"]
_STOPS = GATE - {"hard", "blocker", "blockers", "blocking", "fatal", "ko", "gated", "gating"}
"""What is a gate whatever its value: the other words are also grades of severity or difficulty."""
_BONUS = _WORDS["bonus"]
_MUST = _WORDS["must"]
_MARK = _WORDS["mark"]
_LESS = _WORDS["less"]
_LEAST = _WORDS["least"]
_OF_SCORES = _WORDS["of_scores"]
_WAYS = _WORDS["ways"]
_MEANS = _WORDS["means"]
_OTHER_MEANS = _WORDS["other_means"]
_CALL = re.compile(r"\b(?:min|max|median|prod|product|gmean)\s?\(", re.IGNORECASE)
"""A formula that is no mean."""
_ALIKE = _WORDS["alike"]
"""Words which say that weights do not count."""
_CAPS = _WORDS["caps"]
_CHANGES = PENALTY | _BONUS | _CAPS
_PARTS = _WORDS["parts"]
_NOTES = _WORDS["notes"]
"""Words in a key that is about something else than a score."""
_COUNTS = _WORDS["counts"]
"""Words in the key of a number that says where or when, or how many."""
_AMOUNTS = _WORDS["amounts"]
"""Words in the key of a number of things, not of a score."""
_LADDERS = _WORDS["ladders"]
_KINDS = _WORDS["kinds"]
_WEIGHTS = _WORDS["weights"]
_DEFAULTS = _WORDS["defaults"]
_AVOIDED = _WORDS["avoided"]
"""Words in a field of a criterion which say that an answer is better without what it describes."""
_WANTED = _WORDS["wanted"]
_BAD = PENALTY | _AVOIDED
_NOT = _WORDS["not"]
_DONE = _WORDS["done"]
_COUNTED = _WORDS["counted"]
_LEFT_OUT = _WORDS["left_out"]
_GRADES = _WORDS["grades"]
_SUMS = _WORDS["sums"]
_OF_CRITERIA = _WORDS["of_criteria"]
_LOGIC = _WORDS["logic"]
"""Words in the key of a word that may say how scores combine: `logic: and`."""
_JOINS = _WORDS["joins"]
_CONDITIONS = _WORDS["conditions"]
"""Words in a key that holds for some answers only: `if_missing: fail`."""
_VERDICTS = _WORDS["verdicts"]
"""Words in a key whose text says when an answer passes, however long it is."""
_ENDS = _WORDS["ends"]
_LISTINGS = _WORDS["listings"]
"""Words in the key of a list that may name all criteria and say no more."""
_HARMLESS = _WORDS["harmless"]
"""Words in a key beside criteria, or of one, which says what they are, not how they count."""
_SEEN = _HARMLESS | _NOTES | _COUNTS | _WAYS | _KINDS | _WANTED | DIRECTIONS | _WORDS["seen"]
"""Words in a key whose values say, by rules of their own, whether they bear on a score."""
_OF_OUTPUTS = _WORDS["of_outputs"]
_INPUTS = _WORDS["inputs"]
"""Keys of what a case asks, which says nothing of its score."""
_RANGE = re.compile(r"[<>]?=?\d[\d.]*%?(?:(?:-|\u2013|to)\d[\d.]*%?|\+)?")
"""A score or a range of scores, in a text without its blanks."""


class Doubt(NamedTuple):
    """A key that is not read, with its place; `setting` of a table would say what it is, empty if nothing suggests one.

    `value` is its value. With `is_around`, the key stands beside criteria, not in one. `quote` are the words of a
    text that contradict what is read.
    """

    place: Path
    setting: str
    value: Any
    quote: str = ""
    is_around: bool = False

    @property
    def is_beside(self) -> bool:
        """Whether it holds more than one value, or criteria of its own."""
        return isinstance(self.value, list | dict)

    @property
    def is_of_case(self) -> bool:
        """Whether it may leave out a case in a list of cases, which bears on no score: `skip: true`."""
        return self.is_around and isinstance(self.value, bool) and self.setting == "number"

    @property
    def is_mark(self) -> bool:
        """Whether only its value marks a criterion, not that it is there: `polarity: avoid`, `expected: false`."""
        is_word = self.value is False or (isinstance(self.value, str) and not is_amount(self.value))
        return self.setting in ("gate", "negative") and is_word

    @property
    def name(self) -> str:
        """The key in its place that is no score."""
        steps = [step for step in self.place if isinstance(step, str) and not re.fullmatch(r"-?\d+", step)]
        return shorten(steps[-1]) if steps else ""

    @property
    def subject(self) -> str:
        """What it may be."""
        one, many = _NAMES[self.setting]
        said = f": {shorten(self.value)}" if isinstance(self.value, str) else ""
        return f"`{self.name}` may hold {many}" if self.is_beside else f"`{self.name}{said}` may {one}"

    @property
    def reason(self) -> str:
        """What is said of it where a table of the settings describes the criteria, or can."""
        name = self.name
        if self.quote:
            named = f"`{pointer(self.place)}`" if self.is_around else f"`{name}`"
            advice = f"run `rubric-lint adopt FILE`, or name {named} under `unused` in a table of the settings"
            return f"{self._word_quote()}; {advice}"
        if not self.setting:
            return f"the field `{name}` of the criteria is not read"
        return (
            f"{self.subject}, and is not read; in a table of the settings, which `rubric-lint adopt FILE` writes, "
            f"{self._advise()}"
        )

    def word_without_table(self, mark: str = "") -> str:
        """Say what it may be, and what to do where no table describes the criteria.

        `mark` is what to do about a mark, if the settings are not the place for it.
        """
        if self.quote:
            return f"{self._word_quote()}; turn the scale around, and remove it here"
        if self.setting in ("pass", "fail"):
            advice = mark or self._advise_settings()
        else:
            advice = _ADVICE_WITHOUT_TABLE.get(self.setting, _WITHOUT_TABLE)
        return f"{self.subject}, and is not read; {advice}"

    def _advise_settings(self) -> str:
        """Say how to write a mark into the settings."""
        mark = read_number(self.value)
        if mark is None or not 0 < mark <= 1 or not is_pass_mark(self.name):
            marks = "write its marks as `pass` and `borderline` into the settings of rubric-lint, each from 0 to 1"
            return f"{marks}, and remove it here, or remove it if it does not count"
        settings = f"`pass = {self.value}`"
        if mark < USUAL_THRESHOLDS.borderline_at:
            settings = f"{settings} and `borderline = {self.value}`"
        return f"write {settings} into the settings of rubric-lint, and remove it here"

    def _word_quote(self) -> str:
        return f'`{self.name}` says "{shorten(self.quote)}", but the highest score is read as the best'

    def _advise(self) -> str:
        """Say what to write into a table."""
        named = f"`{pointer(self.place)}`" if self.is_around else "it"  # a name there is one of a field of criteria
        without = f"name {named} under `unused` if it does not count"
        if self.setting in _ADVICE:
            how = _ADVICE[self.setting].format(named=named, without=without)
        elif self.is_beside:
            how = f"write it into the criteria, or {without}"
        elif self.setting == "fail":
            setting = "pass" if self.is_around else "gate"
            how = f"name {named} under `{setting}` if it is the lowest score that passes, or {without}"
        elif self.setting == "pass" and not is_amount(self.value):
            how = f"write it as a number and name {named} under `pass`, or {without}"
        elif self.is_around and self.setting != "pass":  # which is one of criteria
            how = without
        elif self.is_mark:
            key = self.name if re.fullmatch(r"[\w-]+", self.name, re.ASCII) else json.dumps(self.name)
            mark = f"`{self.setting} = {{ {key} = {shorten(json.dumps(self.value, ensure_ascii=False))} }}`"
            how = f"write {mark}, or {without}"
        else:
            how = f"name {named} under `{self.setting}`, or under `unused` if it does not count"
        return how


_ADVICE = {
    "number": "say what it is, or {without}",
    "levels": "name it under `levels`, with the score of each in `level-scores`, or {without}",
    "combine": (
        'write `combine` as "mean", "share" or "all" if that says the same, and name {named} under `unused`; no other '
        "way is scored"
    ),
    "direction": 'write `better = "lower"` if the lowest score is the best of each criterion, or {without}',
    "left-out": "{without}; if its criterion is left out, remove that criterion",
    "grades": "{without}",
    "named": "{without}, or write it into the criteria",
    "change": "{without}",
}
"""What to write into a table, by what a key may be, where no setting takes the key."""

_ADVICE_WITHOUT_TABLE = {
    "combine": "no other way than the usual one is scored; remove it if that is the one you mean",
    "direction": "give the best answer the highest score, and remove it",
    "left-out": "remove it, and its criterion too if that is left out",
}
_WITHOUT_TABLE = "write what it says into the criteria, or remove it if it does not count"

_NAMES = {
    "weight": ("say how much a criterion counts", "weights"),
    "negative": ("be a penalty", "penalties"),
    "bonus": ("be a bonus", "bonuses"),
    "gate": ("be a gate", "gates"),
    "pass": ("be a pass mark", "pass marks"),
    "fail": ("say which scores fail or are borderline", "which scores fail or are borderline"),
    "combine": ("be how scores combine", "how scores combine"),
    "left-out": ("leave its criterion out", ""),
    "direction": ("say which scores are better", "directions"),
    "grades": ("be a grade", "grade bands"),
    "change": ("change scores", "what changes scores"),
    "number": ("bear on the score", "what bears on the score"),
    "named": ("say which criteria count", "what bears on some criteria only"),
    "levels": ("", "levels without scores"),
}


def read_score(key: Any) -> Fraction | None:
    """Return the score that a key is; None if it is none."""
    return Fraction(key) if isinstance(key, str) and re.fullmatch(r"-?\d{1,6}(\.\d{1,6})?", key) else None


def is_pass_mark(key: str) -> bool:
    """Return whether a key beside criteria says which score passes: `pass_mark`, `cutoff`, `minimum_score`."""
    words = split_words(key)
    is_least = bool(words & _LEAST) and words <= _LEAST | _OF_SCORES and bool(words & _OF_SCORES)
    return bool(words & _MARK or is_least) and not words & (_LESS | PENALTY | GATE | _NOTES | _AMOUNTS)


def is_of_model(key: str, settings: Collection[str]) -> bool:
    """Return whether a key in some settings is about a model, not about scores: `judge: {model: x, threshold: 0.1}`."""
    return key == "threshold" and "model" in settings


def is_total(key: str) -> bool:
    """Return whether a key beside criteria says what their weights add up to: `total`, `total_score`, `weights_sum`."""
    words = split_words(key)
    return bool(words & {"total", "sum"}) and words <= {"total", "sum", "weight", "weights", "max", *_OF_SCORES}


def is_way(key: str) -> bool:
    """Return whether a key beside criteria says how their scores combine: `aggregation`."""
    return bool(split_words(key) & _WAYS)


def is_gate(key: str) -> bool:
    """Return whether a flag of a criterion says that it must be met: `hard_fail`, `is_gate`, `must_pass`."""
    words = split_words(key)
    is_must = _is_named(key, GATE | _MUST) or (words & {"pass", "fail"} and words & {"hard", "must", "auto", "instant"})
    return bool(is_must) and not _is_bad(words)


def says_penalty(key: str, value: Any) -> bool:
    """Return whether a field says that its criterion is a penalty: `type: penalty`, `kind: negative`."""
    return isinstance(value, str) and bool(split_words(key) & _KINDS) and value.strip().lower() in PENALTY


def says_sum(key: str, value: Any) -> bool:
    """Return whether a field says that scores are added up: `scoring: sum`."""
    is_way = bool(split_words(key) & (_WAYS | {"scoring", "method"}))
    return is_way and isinstance(value, str) and " " not in value.strip() and bool(split_words(value) & _SUMS)


Entry = tuple[Path, Mapping[str, Any]]


def find_doubts(
    document: Document, shape: Shape, path: Path, read: Collection[Path], scales: Collection[Ends] = ()
) -> Iterator[Doubt]:
    """Find what is not read of the criteria at a path and beside them; `read` are the places beside them that are.

    `scales` are those on which criteria are scored.
    """
    search = DoubtSearch(document, shape, read, scales)
    yield from search.find_in_criteria(list(_list_entries(document.value(path), path, shape.parts)))
    yield from search.find_beside(path, range(len(path)))


def find_unknown(
    document: Document, shape: Shape, path: Path, read: Collection[Path], scales: Collection[Ends]
) -> Iterator[Doubt]:
    """Find the numbers, flags and words in criteria and directly beside them that nobody has said not to count."""
    search = DoubtSearch(document, replace(shape, unused=()), read, scales)
    firsts: dict[str, Doubt] = {}
    for place, entry in _list_entries(document.value(path), path, shape.parts):
        for key, value in entry.items():
            own = (*place, key)
            if search.is_unread(own) and search.converts_scores(value):
                firsts.setdefault(key, Doubt(own, "change", value))
            elif search.is_unread(own) and _may_count(key, value, scales):
                firsts.setdefault(key, Doubt(own, "number", value))
    yield from firsts.values()
    holder = document.value(path[:-1]) if path else None
    for key, value in holder.items() if isinstance(holder, dict) else ():
        place = (*path[:-1], key)
        is_of_whole = key == "weight" and search.have_weights(path)  # among other rubrics
        if place != path and place not in read and not is_of_whole and _may_count(key, value, scales):
            yield Doubt(place, "number", value, is_around=True)


def _may_count(key: str, value: Any, scales: Collection[Ends]) -> bool:
    """Return whether a key that nobody knows holds a number, a flag or a word that may bear on a score."""
    words = split_words(key)
    if is_number(value):
        is_least = not words.isdisjoint(_LEAST)
        is_end = is_least or not words.isdisjoint(HIGH_WORDS | _ENDS)
        is_read = is_end and any(value == (low if is_least else high) for low, high in scales)
        return not (is_read or words & (_SEEN - _WANTED - {"target"}))
    if words & _SEEN or value is None or isinstance(value, list | dict):
        return False
    if isinstance(value, str):
        is_short = 0 < len(value.split()) < _FEW and not re.search(r"[/\\{}]", value)
        return is_short or bool(words & (_CONDITIONS | _VERDICTS) and value)
    return True


def find_in_level(
    place: Path, level: Mapping[str, Any], read: Collection[str], number: Fraction | None
) -> Iterator[Doubt]:
    """Find the numbers, flags and verdicts in a level that are not read; `number` is its score."""
    for key, value in level.items():
        words = split_words(key)
        flag = _as_flag(value)
        if key in read or words & (_NOTES | _COUNTS):
            continue
        if isinstance(flag, bool) or is_amount(value):
            exact = read_number(value)
            if exact is None or exact != number:
                yield Doubt((*place, key), "number", value)
        elif isinstance(value, str) and len(value.split()) < _FEW and split_words(value) & (_MARK | _LESS | GATE):
            yield Doubt((*place, key), "fail", value)


def find_doubts_around(document: Document, path: Path, scales: Collection[Ends]) -> list[Doubt]:
    """Return what may decide the score of a rubric of our format and stands beside it, where nothing is read.

    `scales` are those on which criteria are scored. What a mapping or a list says may be a part of the criteria, if
    aliases can repeat it there.
    """
    search = DoubtSearch(document, Shape("", pointer(path)), (), scales)
    found = [doubt for doubt in search.find_beside(path, [len(path) - 1]) if doubt.setting]
    if document.may_borrow:
        found = [doubt for doubt in found if len(doubt.place) == len(path) and not doubt.is_beside]
    return found


def find_doubts_in_holder(
    document: Document, path: Path, scales: tuple[Ends, ...], known: frozenset[str], *, is_grader: bool = False
) -> list[Doubt]:
    """Return what may decide the score of rubrics at or below a path, and stands in the suite or the test around it.

    `scales` are those on which criteria are scored, `known` the keys that are read. What a test as a whole must do
    bears on no rubric, nor do its inputs; with `is_grader`, the holder judges by this rubric alone. What a mapping or a
    list says may be a part of the criteria, as above.
    """
    if len(path) > 1:
        return _search_holder(document, path, scales, known, is_grader=is_grader)
    found, about = _find_at_top(document), (path, scales, known)
    if about not in found:
        found[about] = _search_holder(document, path, scales, known, is_grader=is_grader)
    return found[about]


@lru_cache(maxsize=1)  # the rubrics of a suite are asked about one after the other, and share what it says at the top
def _find_at_top(_document: Document) -> dict[tuple[Path, tuple[Ends, ...], frozenset[str]], list[Doubt]]:
    """Return what is known of the top of a document, to be added to."""
    return {}


def _search_holder(
    document: Document, path: Path, scales: tuple[Ends, ...], known: frozenset[str], *, is_grader: bool
) -> list[Doubt]:
    at = len(path) - 1
    may_borrow = document.may_borrow
    doubts = []
    for doubt in DoubtSearch(document, Shape("", pointer(path)), (), scales).find_beside(path, [at]):
        words = split_words(str(doubt.place[at]))
        is_direct = len(doubt.place) == len(path) and not doubt.quote
        may_bear = is_direct or words & _SETTINGS or (doubt.quote and words & _NOTES)
        is_read = not known.isdisjoint(map(str, doubt.place[at:])) or (may_borrow and doubt.is_beside)
        is_of_tests = doubt.is_of_case or (doubt.setting == "named" and path[-1] not in _HOLDERS)
        is_of_rubric = is_grader or _is_of_rubric(doubt)
        if doubt.setting and may_bear and not is_read and not is_of_tests and is_of_rubric:
            doubts.append(doubt)
    return doubts


def _is_of_rubric(doubt: Doubt) -> bool:
    """Return whether what a suite says may bear on a rubric, and not on a test as a whole or the order of tests."""
    words = split_words(doubt.name)
    if doubt.setting == "gate":
        return doubt.is_beside
    if doubt.setting == "direction" and not doubt.quote:
        said = split_words(str(doubt.value))
        return bool((words | said) & _OF_RANKS or (words & DIRECTIONS and said & LOW_WORDS))
    return words.isdisjoint(_OF_TESTS)


_HOLDERS = CONTAINERS | {"rubrics", "value"}
"""What holds criteria in a suite; other lists are of tests, which have ids too."""

_SETTINGS = _WORDS["settings"]
"""Words in the key of a mapping in a suite that says how to score; another one may be the input of a test."""

_OF_TESTS = _WORDS["of_tests"]
"""Words in the key of a share or a number of tests."""
_OF_RANKS = _WORDS["of_ranks"]
"""Words of a direction that is one of scores, not of tests or texts."""


_MOST = 100
"""No number above it is taken for a weight."""

_LAST = 10
"""Numbers that rise beyond it may be lines of a file."""

_WHOLES = (1, 100)
"""What weights add up to."""

_FEW = 4
"""A label of a score has fewer words."""


@lru_cache(maxsize=1 << 6)  # the rubrics of a file are asked about one after the other
def _list_beside(document: Document, criteria: str, path: Path) -> list[tuple[str, Any]]:
    """Return the fields of a mapping that hold no rubric of a table; `criteria` is its pointer to them."""
    holder = document.value(path)
    holding = _list_holding(document, criteria)
    items = holder.items() if isinstance(holder, dict) else ()
    return [(key, value) for key, value in items if (*path, key) not in holding]


@lru_cache(maxsize=1 << 3)
def _list_holding(document: Document, criteria: str) -> frozenset[Path]:
    """Return the paths to the rubrics of a table and to what holds them."""
    paths = (path for path, _ in expand(document.data, criteria))
    found = (path for path in paths if any(isinstance(part, str | dict) for part in parts_of(document.value(path))))
    return frozenset(path[:length] for path in found for length in range(len(path) + 1))


class DoubtSearch:
    """A search for what is not read of the criteria of a document; `read` are places beside them that are read."""

    def __init__(self, document: Document, shape: Shape, read: Collection[Path], scales: Collection[Ends]) -> None:
        self.document, self.shape, self.read, self.scales = document, shape, read, scales
        ends = shape.scale if isinstance(shape.scale, tuple) else (shape.scale,)
        marks = (name for name, _ in (*shape.gate, *shape.negative, *shape.sums))
        whole = (*shape.id, *shape.weight, *shape.levels, *shape.parts, *shape.unused)
        self.known = _first_steps(whole)
        """The fields of criteria in which there is nothing else to find."""
        self.used = _first_steps((*shape.outcome, *marks, *(end for end in ends if isinstance(end, str))))
        """The fields that are read, but may say more."""
        self.gates = {name for name, values in shape.gate if values is None}
        self.penalties = {name: values for name, values in shape.negative if name not in shape.unused}
        self.stars = [star_pattern(name) for name in shape.levels if is_star(name)]
        self.ids: dict[Path, set[str]] = {}
        self.unused = [name.split("/")[1:] for name in shape.unused if name.startswith("/")]
        """The steps of the places that are unused, each a key, an index or `*`."""

    def find_in_criteria(self, entries: Sequence[Entry]) -> Iterator[Doubt]:
        """Find the fields of criteria that are not read, each where it may decide first."""
        firsts: dict[str, Doubt] = {}
        shares = set(self._find_shares(entries))
        found_in = [list(self._find_in_entry(place, entry)) for place, entry in entries]
        say_lower = [any(doubt.setting == "direction" for doubt in doubts) for doubts in found_in]
        for (place, _), doubts in zip(entries, found_in, strict=True):
            for found in doubts:
                if found.setting == "direction" and self.shape.is_turned and all(say_lower):
                    continue  # the table says it too
                key = str(found.place[len(place)])
                doubt = found._replace(setting="weight") if not found.setting and key in shares else found
                if key not in firsts or (doubt.setting and not firsts[key].setting):
                    firsts[key] = doubt
        for key, doubt in firsts.items():
            is_order = doubt.setting in ("", "number") and _is_order([entry.get(key) for _, entry in entries])
            if not is_order and (doubt.setting not in ("weight", "left-out") or not _are_equal(key, entries)):
                yield doubt

    def _find_shares(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Find the unread fields whose values may be weights by what they are, where nothing else is the weight."""
        holders: dict[Path, list[Mapping[str, Any]]] = {}
        for place, entry in entries:
            holders.setdefault(place[:-1], []).append(entry)
        for held in holders.values() if self.shape.combine != "all" else ():
            keys = dict.fromkeys(key for entry in held for key in entry)
            read = [key for key in keys if key in self.known and split_words(key) & (_WEIGHTS | {"score", "max"})]
            if not read and not any(key in self.shape.weight for key in keys):
                unread = [key for key in keys if key not in self.known | self.used and not split_words(key) & _COUNTS]
                yield from (key for key in unread if _are_shares([entry[key] for entry in held if key in entry], held))

    def _find_in_entry(self, place: Path, entry: Mapping[str, Any]) -> Iterator[Doubt]:
        """Find the fields of a criterion that are a number, true or false, a telling word, or a text about scores."""
        has_weight = not entry.keys().isdisjoint(self.shape.weight)
        for key, value in entry.items():
            own = (*place, key)
            if key in self.gates and isinstance(value, str) and not (is_off(value) or is_amount(value)):
                yield Doubt(own, "gate", value)
            elif key in self.penalties and _is_unknown_mark(key, value, self.penalties[key]):
                yield Doubt(own, "negative", value)
            elif key in self.used:
                yield from self._find_reversals(own, value)
            elif self.is_unread(own):
                yield from self._find_in_field(own, value, entry, has_weight=has_weight)

    def is_unread(self, place: Path) -> bool:
        """Return whether nothing reads the field of a criterion at a place."""
        key = str(place[-1])
        is_level = any(re.search(star, key) for star in self.stars)
        return key not in self.known | self.used and place not in self.read and not is_level

    def _find_in_field(self, place: Path, value: Any, entry: Mapping[str, Any], *, has_weight: bool) -> Iterator[Doubt]:
        """Find what a field that is not read says."""
        key = str(place[-1])
        setting = _read_field(key, _as_flag(value), entry, has_weight=has_weight)
        if setting == "gate" and self.shape.combine == "all":
            return  # each criterion must be met
        if not setting and is_reversed(key, value, self.scales):
            setting = "direction"
        if not setting and self._may_be_best(key, value, entry):
            setting = "number"
        if not setting and self.converts_scores(value):
            setting = "change"
        if not setting and split_words(key) & _LADDERS and isinstance(value, dict | list) and len(value) > 1:
            setting = "levels"
        if setting:
            yield Doubt(place, setting, value)
        elif isinstance(value, bool | int | float) or is_amount(value):
            yield Doubt(place, "", value)
        else:
            yield from self._find_reversals(place, value)

    def _may_be_best(self, key: str, value: Any, holder: Mapping[str, Any]) -> bool:
        """Return whether a field of a scale or a criterion may say that another score than the highest is the best."""
        is_end = any(key in pair and all(end in holder for end in pair) for pair in ENDS)
        is_other = not split_words(key).isdisjoint(_COUNTS | _NOTES | _LEAST | {"worst"})
        return is_below_top(value, self.scales) and not (is_end or is_other)

    def _find_reversals(self, place: Path, value: Any) -> Iterator[Doubt]:
        """Find what says in words, in a value or in it, that lower scores are better, if there are scores at all."""
        if isinstance(value, str):
            yield from self._find_reversal(place, value, value)
        elif isinstance(value, list) and not holds_mappings(value):
            for at, text in enumerate(value):
                yield from self._find_reversal((*place, at), text, text)
        elif isinstance(value, dict) and not holds_mappings(value):
            is_scale = any(all(end in value for end in pair) for pair in ENDS)
            for key, text in value.items():
                if self._is_unused((*place, key)) or (*place, key) in self.read:
                    continue
                is_label = isinstance(text, str) and len(text.split()) < _FEW and re.fullmatch(r"-?\d+", key)
                if is_reversed(key, text, self.scales):
                    yield Doubt((*place, key), "direction", text)
                elif is_scale and self._may_be_best(key, text, value):
                    yield Doubt((*place, key), "number", text)
                else:
                    yield from self._find_reversal((*place, key), text, f"{key} = {text}" if is_label else text)

    def _find_reversal(self, place: Path, value: Any, text: Any) -> Iterator[Doubt]:
        quote = find_reversal(text, self.scales) if self.scales and isinstance(text, str) else ""
        if quote:
            yield Doubt(place, "direction", value, quote)

    def _is_unused(self, place: Path) -> bool:
        return any(
            len(steps) == len(place) and all(own in ("*", str(step)) for own, step in zip(steps, place, strict=True))
            for steps in self.unused
        )

    def find_beside(self, path: Path, depths: Iterable[int], *, in_settings: bool = True) -> Iterator[Doubt]:
        """Find what is said beside the criteria at a path, in the mappings at some depths above them.

        With `in_settings`, also what the mappings and the texts beside them say.
        """
        for depth in depths:
            for key, value in self._list_fields(path[:depth]):
                place = (*path[:depth], key)
                if place != path[: depth + 1] and key not in _INPUTS and not self._is_unused(place):
                    for doubt in self._find_in_key(place, value, path, in_settings=in_settings):
                        if doubt.setting == "direction" and self.shape.is_turned:
                            continue
                        is_default = doubt.setting == "weight" and split_words(doubt.name) & _DEFAULTS
                        if not (is_default and self.have_weights(path)):
                            yield doubt._replace(is_around=True)

    def _list_fields(self, path: Path) -> Iterable[tuple[str, Any]]:
        """Return the fields of what may be a mapping, without those that hold other rubrics of the table."""
        if "*" in self.shape.criteria:
            return _list_beside(self.document, self.shape.criteria, path)
        holder = self.document.value(path)
        return holder.items() if isinstance(holder, dict) else ()

    def _list_ids_at(self, path: Path) -> set[str]:
        """Return the ids of the criteria at a path; a file may have a mapping beside them in every line."""
        if path not in self.ids:
            self.ids[path] = _list_ids(self.document.value(path), self.shape)
        return self.ids[path]

    def have_weights(self, path: Path) -> bool:
        """Return whether all criteria at a path have a weight of their own."""
        entries = [entry for _, entry in _list_entries(self.document.value(path), path, self.shape.parts)]
        return bool(entries) and not any(entry.keys().isdisjoint(("weight", *self.shape.weight)) for entry in entries)

    def _find_in_key(self, place: Path, value: Any, path: Path, *, in_settings: bool) -> Iterator[Doubt]:
        """Find what a key beside criteria, or in settings there, says about their scores."""
        key = str(place[-1])
        if place in self.read:
            yield from self._find_reversals(place, value)
            return
        if is_reversed(key, value, self.scales if in_settings else ()):
            yield Doubt(place, "direction", value)
            return
        if in_settings:
            yield from self._find_reversals(place, value)
        is_known = isinstance(value, dict) and any((*place, inner) in self.read for inner in value)
        setting = "" if is_known else _read_beside(key, _as_flag(value), self.shape)
        if setting:
            yield Doubt(place, setting, value)
        elif in_settings and isinstance(value, dict | list):
            ids = self._list_ids_at(path)
            found = []
            if isinstance(value, dict) and not any(map(holds_mappings, value.values())):
                found = list(self._find_in_settings(place, value, ids))
            setting = found[0].setting if len(found) > 1 else ""
            if not found and not is_known:
                setting = self._read_structure(key, value, ids)
            yield from [Doubt(place, setting, value)] if setting else found

    def _read_structure(self, key: str, value: Any, ids: set[str]) -> str:
        """Return the setting that a list or a mapping may say by its items or keys, whatever it is called."""
        if setting := _read_weights(key, value, ids):
            return setting
        if self.converts_scores(value):
            return "change"
        return "named" if self._names_criteria(key, value, ids) else ""

    def converts_scores(self, value: Any) -> bool:
        """Return whether a value gives the scores of a scale other numbers: `{1: 0, 2: 0.2, 3: 1}`, `[0, 0.2, 1]`."""
        if isinstance(value, list):
            is_other = len(value) > 1 and all(map(is_number, value))
            return is_other and any(
                high - low == len(value) - 1 and value != [*range(int(low), int(high) + 1)] for low, high in self.scales
            )
        if not isinstance(value, dict) or len(value) < 2 or not all(map(is_amount, value.values())):
            return False
        scores = [read_score(key) for key in value]
        return any(all(score is not None and low <= score <= high for score in scores) for low, high in self.scales)

    def _names_criteria(self, key: str, value: Any, ids: Collection[str]) -> bool:
        """Return whether a list or a mapping picks out criteria by their ids: `only: [facts]`, `limits: {facts: 2}`."""
        words = split_words(key)
        if not value or not isinstance(value, list | dict) or words & _NOTES:
            return False
        if not all(isinstance(name, str) and name in ids for name in value):
            return False
        if isinstance(value, dict):
            return any(map(_is_setting, value.values()))
        return not words & _LISTINGS or len(set(value)) < len(ids)

    def _find_in_settings(self, place: Path, value: Mapping[str, Any], ids: set[str]) -> Iterator[Doubt]:
        """Find what a mapping beside criteria says about scores: `verdict: {pass_at: 7}`, `gates: {safety: 4}`."""
        words = split_words(str(place[-1]))
        for key, each in value.items():
            own = (*place, key)
            if own in self.read or self._is_unused(own):
                continue
            if is_of_model(key, value):
                continue
            if is_amount(each) and each and words & (_MARK | _LESS) and not split_words(key) & _NOTES:
                yield Doubt(own, "fail" if (words | split_words(key)) & _LESS else "pass", each)
            elif setting := _read_beside(key, _as_flag(each), self.shape) or self._read_structure(key, each, ids):
                yield Doubt(own, setting, each)
            elif isinstance(each, dict):
                yield from self._find_in_settings(own, each, ids)


def _is_setting(value: Any) -> bool:
    """Return whether what is said of a criterion by its id is a number, a flag or a verdict, not a text or a title."""
    if isinstance(value, str):
        is_verdict = bool(split_words(value) & (_MARK | _LESS | GATE | _MUST | _LEFT_OUT))
        return len(value.split()) < _FEW and (is_verdict or is_amount(value))
    return value is not None and not isinstance(value, list | dict)


_FLAGS = {**dict.fromkeys(("true", "yes", "on"), True), **dict.fromkeys(("false", "no", "off"), False)}


def _as_flag(value: Any) -> Any:
    """Return true or false for a word that says so, else the value."""
    return _FLAGS.get(value.strip().lower(), value) if isinstance(value, str) else value


def _are_shares(values: Sequence[Any], entries: Sequence[Any]) -> bool:
    """Return whether the values of a field of some criteria may be weights: no order, no lines of a file, no ids."""
    if len(values) < 2 or len(values) * 4 < len(entries) * 3 or not all(map(is_amount, values)):
        return False
    numbers = [float(str(value).strip().rstrip("%")) for value in values]
    if len({*numbers}) == 1 or max(numbers) > _MOST:
        return False
    if sum(numbers) in _WHOLES or any("%" in str(value) for value in values):
        return True
    if any(isinstance(value, str) and "." not in value for value in values):
        return False  # ids
    is_rising = len(numbers) > 2 and all(before < after for before, after in pairwise(numbers))
    return not _is_order(numbers) and not (is_rising and max(numbers) > _LAST and all(map(float.is_integer, numbers)))


def _first_steps(names: Iterable[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def _read_field(key: str, value: Any, entry: Mapping[str, Any], *, has_weight: bool) -> str:
    """Return the setting that may say what a field of a criterion is, empty if nothing suggests one."""
    words = split_words(key)
    if words & _NOTES:
        return ""
    said = split_words(value) if isinstance(value, str) and " " not in value.strip() else frozenset[str]()
    if words & _WEIGHTS and not has_weight and (is_amount(value) or said):
        return "weight"
    if _is_bad(said) or _is_bad_kind(key, value):
        return "negative"
    if value is False or (said and is_off(value)):
        return _read_off(words)
    if said and not is_amount(value):
        return _read_word(words, said)
    return _read_number_or_flag(key, value, is_scale=key.replace("min", "max") in entry and "min" in words)


def _read_off(words: frozenset[str]) -> str:
    """Return the setting that may say what a field of a criterion is that says no."""
    if words & _WANTED:
        return "negative"
    return "left-out" if words & _COUNTED else ""


def _read_word(words: frozenset[str], said: frozenset[str]) -> str:
    """Return the setting that may say what a field of a criterion is whose value is a word."""
    if said & GATE or (words & (GATE | _MARK) and "type" not in words):
        return "gate"
    return "combine" if words & _WAYS and said & _OTHER_MEANS else ""


def _is_unknown_mark(key: str, value: Any, values: Collection[Any] | None) -> bool:
    """Return whether nothing says if a value of a field that marks penalties marks one; `values` are those that do."""
    if values is None:
        return isinstance(value, str) and not (is_off(value) or is_amount(value) or _is_positive(value))
    if value is None or any(type(value) is type(known) and value == known for known in values):
        return False
    if isinstance(value, bool):
        return not any(isinstance(known, bool) for known in values)
    if not isinstance(value, str):
        return is_number(value)
    is_of_kinds = bool(split_words(key) & {"type", "kind", "category"}) and not split_words(value) & _BAD
    return not (is_of_kinds or _is_positive(value))


def _is_positive(text: str) -> bool:
    words = split_words(text)
    is_good = words & (_WANTED | HIGH_WORDS) and not words & (_BAD | _NOT)
    return bool(is_good) or text.strip() == "+"


def _is_bad(words: frozenset[str]) -> bool:
    """Return whether words say that an answer is better without what a criterion describes: `avoid`, `must_not`."""
    return bool(words & _BAD or (words & _NOT and words & (_DONE | _WANTED)))


def _is_bad_kind(key: str, value: Any) -> bool:
    """Return whether a field says that its criterion is a penalty: `polarity: "-"`, `kind: not allowed`."""
    if not isinstance(value, str) or not split_words(key) & (_KINDS | DIRECTIONS):
        return False
    is_sign = value.strip() in {"-", "\N{EN DASH}", "\N{MINUS SIGN}"}
    return is_sign or (len(value.split()) < _FEW and _is_bad(split_words(value)))


def _read_number_or_flag(key: str, value: Any, *, is_scale: bool) -> str:
    words = split_words(key)
    if not value or not (value is True or is_amount(value)):
        return ""
    if value is True and _is_named(key, _LEFT_OUT):
        return "left-out"
    if is_scale:
        return ""
    is_penalty = words & PENALTY or (value is True and _is_bad(words))
    if is_penalty:
        return "negative"
    return "fail" if words & _LESS - {"warning"} and value is not True else _read_gate(key)


def _are_equal(key: str, entries: Sequence[Entry]) -> bool:
    """Return whether a field has one value in all criteria, so that it gives none more weight than another."""
    return len({str(entry.get(key)) for _, entry in entries}) == 1


def _list_ids(holder: Any, shape: Shape) -> set[str]:
    if isinstance(holder, dict):
        return set(holder)
    entries = [entry for entry in holder if isinstance(entry, dict)] if isinstance(holder, list) else []
    return {str(entry[name]) for entry in entries for name in (*shape.id, *_IDS) if entry.get(name)}


_IDS = ("id", "name", "title", "label", "key")


def _read_weights(key: str, value: Any, ids: set[str]) -> str:
    """Return the setting of a mapping from criteria to numbers, empty if it is none."""
    words = split_words(key)
    is_named = bool(words & _WEIGHTS) and words <= _WEIGHTS | _OF_CRITERIA  # not those of cases
    is_held = isinstance(value, dict) and bool(value) and (ids >= value.keys() or is_named)
    return "weight" if is_held and all(map(is_amount, value.values())) else ""


def _list_entries(holder: Any, path: Path, parts: Collection[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    pairs = holder.items() if isinstance(holder, dict) else enumerate(holder if isinstance(holder, list) else ())
    for step, entry in pairs:
        if isinstance(entry, dict):
            yield (*path, step), entry
            for name in parts:
                yield from _list_entries(entry.get(name), (*path, step, name), parts)


def _read_gate(key: str) -> str:
    words = split_words(key)
    is_least = bool(words & _LEAST) and words <= _LEAST | _OF_SCORES | {"at"}
    return "gate" if _is_named(key, GATE | _MUST | _MARK | (_LESS - {"warning"})) or is_least else ""


def _is_order(values: Sequence[Any]) -> bool:
    """Return whether the values of a field are the places of its criteria in their list: 1, 2, 3."""
    rows = [[*range(1, len(values) + 1)], *([[*range(len(values))]] if len(values) > 2 else ())]
    return len(values) > 1 and values in rows


def holds_mappings(value: Any) -> bool:
    """Return whether a list or a mapping holds mappings, as what holds criteria does."""
    return any(isinstance(part, dict) for part in parts_of(value))


def _is_named(key: str, names: Collection[str]) -> bool:
    """Return whether a word of a key is one of some names, or two of them in a row: `deal_breaker`, `redFlags`."""
    words = list_words(key)
    return not {*words, *map("".join, pairwise(words))}.isdisjoint(names)


def _read_beside(key: str, value: Any, shape: Shape) -> str:
    """Return the setting that may say what a key beside criteria is, empty if nothing suggests one."""
    if split_words(key) & _NOTES:
        return ""
    if isinstance(value, bool):
        return _read_flag_beside(key, shape, is_true=value)
    if not value:
        return ""
    if isinstance(value, dict | list):
        return _read_several(key, value)
    if not is_amount(value):
        return _read_text_beside(key, str(value), is_all=shape.combine == "all")
    return _read_number_beside(key)


def _read_flag_beside(key: str, shape: Shape, *, is_true: bool) -> str:
    """Return the setting that may say what true or false beside criteria is."""
    words = split_words(key)
    if is_true and words & PENALTY:
        return "negative"
    if _is_named(key, _LEFT_OUT) if is_true else words & _COUNTED - {"weighted"}:
        return "number"
    if is_true:
        return "gate" if is_gate(key) and shape.combine != "all" else ""
    return "weight" if words & (_WEIGHTS | {"weighted"}) else ""


def _read_number_beside(key: str) -> str:
    """Return the setting that may say what a number beside criteria is."""
    words = split_words(key)
    own = words - _DEFAULTS
    if words & _CHANGES or _is_named(key, _STOPS):
        return "change" if words & _CHANGES else "gate"
    if own != words and own & (_WEIGHTS | _LEAST | _MUST):
        return "weight" if own & _WEIGHTS else "gate"
    if words & _LESS:
        return "fail"
    is_count = "passes" in words and words <= {"passes", "needed", *_LEAST}  # others count runs of a judge
    return "pass" if is_pass_mark(key) or is_count else ""


def _read_text_beside(key: str, text: str, *, is_all: bool) -> str:
    """Return the setting that may say what a text beside criteria is; with `is_all`, each criterion must be met."""
    words, said = split_words(key), split_words(text)
    if words & _WEIGHTS and said & _ALIKE and len(text.split()) < _FEW:
        return "weight"
    is_short = len(text.split()) < _FEW
    is_unlike = is_short and bool(said & _OTHER_MEANS and words & (_LOGIC | _OF_SCORES))
    is_unlike = is_unlike or (said <= _JOINS and bool(words & _LOGIC))
    is_formula = bool(words & {"final", *_OF_SCORES}) and _CALL.search(text) is not None
    if is_unlike or is_formula or (words & _WAYS and (said & _OTHER_MEANS or not said & _MEANS)):
        return "" if is_all else "combine"
    if words & _CHANGES and (re.search(r"\d", text) or said & _PARTS):
        return "change"
    if _is_named(key, _STOPS) and not is_off(text):
        return "gate"
    return "pass" if is_pass_mark(key) and _says_part(text) else ""


def _says_part(text: str) -> bool:
    """Return whether a short text says how much passes: `2/4`, `half`, `at least 2 points`."""
    is_short = len(text.split()) <= 2 * _FEW
    return is_short and (re.search(r"\d", text) is not None or bool(split_words(text) & _PARTS))


def _read_several(key: str, value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return the setting that may say what a list or a mapping beside criteria is."""
    words = split_words(key)
    if words & _DEFAULTS and isinstance(value, dict) and any(split_words(name) & (_WEIGHTS | _MUST) for name in value):
        return "weight"
    if words & _CAPS:
        return "change"
    if words & _CHANGES:
        return "negative" if words & PENALTY else "bonus"
    if is_gate(key) and not words & _OF_OUTPUTS:
        return "gate"
    if isinstance(value, list) and is_pass_mark(key) and all(is_amount(each) or _says_mark(each) for each in value):
        return "pass"
    may_grade = words & _GRADES or (isinstance(value, list) and words & _MARK)
    return "grades" if may_grade and _are_grades(value) else ""


def _says_mark(value: Any) -> bool:
    return isinstance(value, str) and _says_part(value)


def _are_grades(value: Any) -> bool:
    """Return whether a value says which scores get a grade: `{A: 9, B: 7}`, `{"9-10": A}`, `[{min: 9, label: A}]`."""
    if isinstance(value, list):
        return all(isinstance(each, dict) and any(map(_is_bound, each.values())) for each in value)
    pairs = value.items()
    return all(_is_bound(each) for _, each in pairs) or all(
        _is_range(key) and (isinstance(each, str) or _is_bound(each)) for key, each in pairs
    )


def _is_bound(value: Any) -> bool:
    """Return whether a value is a score, or a range of scores."""
    if isinstance(value, dict):  # what it is called may stand there as well
        return any(map(is_number, value.values())) and all(
            is_number(each) or isinstance(each, str) for each in value.values()
        )
    if isinstance(value, list):
        return bool(value) and all(map(is_number, value))
    return is_number(value) or (isinstance(value, str) and _is_range(value))


def _is_range(text: str) -> bool:
    return _RANGE.fullmatch("".join(text.split())) is not None
