"""Find what may decide a verdict but is not read: points, gates and pass marks under names that a table lacks.

The words in a key say what it may be, and its value whether it does anything. A rubric with such a key is not scored
until a table says what the key is.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.format.criterion import is_number
from rubric_lint.messages import shorten
from rubric_lint.shapes.shape import SHARE, Shape, is_star, star_pattern
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

PENALTY = frozenset(
    {
        *("penalty", "penalties", "penalize", "penalise", "penalized", "negative", "negatives", "negate", "negated"),
        *("deduct", "deducts", "deduction", "deductions", "demerit", "demerits", "malus"),
    }
)
GATE = frozenset(
    {
        *("gate", "gates", "gating", "gated", "veto", "vetoes", "vetos", "knockout", "knockouts", "ko", "hard"),
        *("blocker", "blockers", "blocking", "fatal", "dealbreaker", "dealbreakers", "disqualify", "disqualifies"),
        *("disqualifying", "disqualifier", "disqualifiers", "autofail"),
    }
)
_BONUS = frozenset({"bonus", "bonuses"})
_MUST = frozenset({"must", "required", "require", "requires", "mandatory", "critical", "essential"})
_MARK = frozenset({"pass", "passing", "threshold", "thresholds", "cutoff", "cutoffs", "acceptance", "accept"})
_LESS = frozenset({"fail", "fails", "failing", "borderline", "warn", "warning"})
_LEAST = frozenset({"min", "mins", "minimum", "minimums", "required", "lowest"})
_OF_SCORES = frozenset({"score", "scores", "grade", "mark", "marks", "total", "overall", "points", "rating", "average"})
_WAYS = frozenset({"combine", "combination", "aggregate", "aggregation", "aggregator"})
_MEANS = frozenset({"mean", "average", "avg", "weighted", "sum", "total"})
_KINDS = frozenset({"type", "kind", "polarity", "sign"})


class Doubt(NamedTuple):
    """A key that is not read, with its place; `setting` of a table would say what it is, empty if nothing suggests one.

    `value` is its value.
    """

    place: Path
    setting: str
    value: Any

    @property
    def is_beside(self) -> bool:
        """Whether it holds more than one value, or criteria of its own."""
        return isinstance(self.value, list | dict)

    @property
    def reason(self) -> str:
        """What is said of it."""
        name = shorten(str(self.place[-1]))
        said = f": {self.value}" if isinstance(self.value, str) else ""
        if not self.setting:
            return f"the field `{name}` of the criteria is not read"
        if self.is_beside:
            told = f"`{name}` may hold {_NAMES[self.setting][1]}, and is not read"
        else:
            told = f"`{name}{said}` may be {_NAMES[self.setting][0]}, and is not read"
        where = "" if self.is_beside else f"under `{self.setting}`, or "
        how = f"name it {where}under `unused` if it does not count"
        if self.is_beside:
            how = f"write it into the criteria, or {how}"
        return f"{told}; in a table of the settings, which `rubric-lint adopt FILE` writes, {how}"


_NAMES = {
    "weight": ("a weight", "weights"),
    "negative": ("a penalty", "penalties"),
    "bonus": ("a bonus", "bonuses"),
    "gate": ("a gate", "gates"),
    "pass": ("a pass mark", "pass marks"),
    "combine": ("how scores combine", "how scores combine"),
}


def split_words(key: str) -> set[str]:
    """Return the words of a key: `passMark`, `pass_mark`, `hard-fail`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
    return set(filter(None, re.split(r"[\W_]+", spaced)))


def is_pass_mark(key: str) -> bool:
    """Return whether a key beside criteria says which score passes: `pass_mark`, `cutoff`, `minimum_score`."""
    words = split_words(key)
    is_least = bool(words & _LEAST) and words <= _LEAST | _OF_SCORES and bool(words & _OF_SCORES)
    return bool(words & _MARK or is_least) and not words & (_LESS | PENALTY | GATE)


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
    return bool(words & (GATE | _MUST) or (words & {"pass", "fail"} and words & {"hard", "must", "auto"})) and not (
        words & PENALTY
    )


def says_penalty(key: str, value: Any) -> bool:
    """Return whether a field says that its criterion is a penalty: `type: penalty`, `kind: negative`."""
    return isinstance(value, str) and bool(split_words(key) & _KINDS) and value.strip().lower() in PENALTY


def find_doubts(document: Document, shape: Shape, path: Path, read: Collection[Path]) -> Iterator[Doubt]:
    """Find what is not read of the criteria at a path and beside them; `read` are the places beside them that are."""
    firsts: dict[str, Doubt] = {}
    for place, entry in _list_entries(document.value(path), path, shape.parts):
        for doubt in _find_of_entry(place, entry, shape):
            key = str(doubt.place[-1])
            if key not in firsts or (doubt.setting and not firsts[key].setting):
                firsts[key] = doubt
    yield from (each for each in firsts.values() if each.setting or not _is_count(document, path, each))
    above = {path[:length] for length in range(len(path) + 1)}
    ids = _list_ids(document.value(path), shape)
    for length in range(len(path)):
        holder = document.value(path[:length])
        for key, value in holder.items() if isinstance(holder, dict) else ():
            place = (*path[:length], key)
            if place in above or place in read or _is_unused(place, shape):
                continue
            if setting := _read_beside(key, value, shape):
                yield Doubt(place, setting, value)
            elif isinstance(value, dict) and not any(map(holds_mappings, value.values())):
                found = list(_find_in_settings(place, value, shape, read))
                setting = found[0].setting if len(found) > 1 else "" if found else _read_weights(value, ids)
                yield from [Doubt(place, setting, value)] if setting else found


def _list_ids(holder: Any, shape: Shape) -> set[str]:
    if isinstance(holder, dict):
        return set(holder)
    entries = [entry for entry in holder if isinstance(entry, dict)] if isinstance(holder, list) else []
    return {str(entry[name]) for entry in entries for name in shape.id if name in entry}


def _read_weights(value: Any, ids: set[str]) -> str:
    """Return the setting of a mapping from criteria to numbers, empty if it is none."""
    is_held = isinstance(value, dict) and len(value) > 1 and ids >= value.keys()
    return "weight" if is_held and all(map(is_number, value.values())) else ""


def _list_entries(holder: Any, path: Path, parts: Collection[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    pairs = holder.items() if isinstance(holder, dict) else enumerate(holder if isinstance(holder, list) else ())
    for step, entry in pairs:
        if isinstance(entry, dict):
            yield (*path, step), entry
            for name in parts:
                yield from _list_entries(entry.get(name), (*path, step, name), parts)


def _find_of_entry(place: Path, entry: Mapping[str, Any], shape: Shape) -> Iterator[Doubt]:
    """Find the fields of a criterion that are not read, and that are a number, true or false, or a telling word."""
    marks = (*shape.gate, *shape.negative, *shape.sums)
    ends = shape.scale if isinstance(shape.scale, tuple) else (shape.scale,)
    fields = (*shape.id, *shape.outcome, *shape.weight, *shape.levels, *shape.parts, *shape.unused)
    known = {name.split(".")[0] for name in (*fields, *(name for name, _ in marks), *map(str, ends))}
    stars = [star_pattern(name) for name in shape.levels if is_star(name)]
    for key, value in entry.items():
        if key in known or any(re.search(star, key) for star in stars):
            continue
        words = split_words(key)
        setting = ""
        if isinstance(value, str) and not re.search(SHARE, value):
            said = set() if " " in value.strip() else split_words(value)
            setting = "negative" if said & PENALTY else "gate" if said & GATE else ""
        elif value is False and "positive" in words:
            setting = "negative"
        elif value and isinstance(value, bool | int | float | str):
            is_scale = key.replace("min", "max") in entry and "min" in words
            setting = "negative" if words & PENALTY else _read_gate(words) if not is_scale else ""
        if setting == "gate" and shape.combine == "all":
            continue  # each criterion must be met
        if setting or isinstance(value, bool | int | float):
            yield Doubt((*place, key), setting, value)


def _read_gate(words: set[str]) -> str:
    is_least = bool(words & _LEAST) and words <= _LEAST | _OF_SCORES
    return "gate" if words & (GATE | _MUST | _MARK | (_LESS - {"warning"})) or is_least else ""


def _is_count(document: Document, path: Path, doubt: Doubt) -> bool:
    """Return whether a field counts the criteria: 1, 2, 3."""
    value = document.value(path)
    entries = value.values() if isinstance(value, dict) else value
    found = [entry.get(doubt.place[-1]) for entry in entries if isinstance(entry, dict)]
    return len(found) > 1 and found in ([*range(1, len(found) + 1)], [*range(len(found))])


def _is_unused(place: Path, shape: Shape) -> bool:
    pointers = [name.split("/")[1:] for name in shape.unused if name.startswith("/")]
    return any(
        len(steps) == len(place) and all(own in ("*", str(step)) for own, step in zip(steps, place, strict=True))
        for steps in pointers
    )


def holds_mappings(value: Any) -> bool:
    """Return whether a list or a mapping holds mappings, as what holds criteria does."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(each, dict) for each in parts)


def _find_in_settings(place: Path, value: Mapping[str, Any], shape: Shape, read: Collection[Path]) -> Iterator[Doubt]:
    """Find what a mapping beside criteria says about their scores: `verdict: {pass_at: 7}`, `gates: {safety: 4}`."""
    words = split_words(str(place[-1]))
    for key, each in value.items():
        if (*place, key) in read or _is_unused((*place, key), shape):
            continue
        is_score = (is_number(each) and bool(each)) or (isinstance(each, str) and re.search(SHARE, each) is not None)
        if is_score and words & (_MARK | _LESS):
            yield Doubt((*place, key), "pass", each)
        elif setting := _read_beside(key, each, shape):
            yield Doubt((*place, key), setting, each)


def _read_beside(key: str, value: Any, shape: Shape) -> str:
    """Return the setting that may say what a key beside criteria is, empty if nothing suggests one."""
    words = split_words(key)
    if isinstance(value, dict | list):
        is_list = holds_mappings(value) or all(isinstance(each, str) for each in value)
        is_held = bool(value) and (isinstance(value, dict) or is_list)
        points = "negative" if words & PENALTY else "bonus" if words & _BONUS else ""
        return (points or ("gate" if words & (GATE | _MUST) else "")) if is_held else ""
    if value is True:
        return "gate" if words & (GATE | _MUST) and shape.combine != "all" else ""
    if isinstance(value, str) and words & _WAYS:
        return "combine" if not (split_words(value) & _MEANS or shape.combine == "all") else ""
    is_score = (is_number(value) and bool(value)) or (isinstance(value, str) and re.search(SHARE, value) is not None)
    return "pass" if is_score and (is_pass_mark(key) or words & _LESS) else ""
