"""Find what may decide a verdict but is not read: points, gates and pass marks under names that a table lacks.

The words in a key say what it may be, and its value whether it does anything. A rubric with such a key is neither
scored nor converted until a table says what the key is.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rubric_lint.format.criterion import is_number
from rubric_lint.format.schema import schema_of
from rubric_lint.format.view import View
from rubric_lint.messages import shorten
from rubric_lint.shapes.direction import Ends, find_reversal, is_off, is_reversed
from rubric_lint.shapes.shape import SHARE, Shape, is_star, split_words, star_pattern
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer

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
_WEIGHTS = frozenset({"weight", "weights", "weighting", "weightage", "importance", "points", "pts", "multiplier"})
_AVOIDED = frozenset(
    {
        *("avoid", "avoided", "avoidance", "exclude", "excluded", "bad", "forbidden", "forbid", "prohibited", "undesired"),
        *("undesirable", "unwanted", "disallowed", "unacceptable", "harmful"),
    }
)
"""Words in a field of a criterion which say that an answer is better without what it describes."""
_WANTED = frozenset({"positive", "should", "allowed", "desirable", "desired", "wanted", "good", "acceptable", "include"})
_EXPECTED = frozenset({"expected", "desired", "correct", "ideal", "wanted"})
_COUNTED = frozenset({"enabled", "active", "counted", "counts"})
_LEFT_OUT = frozenset({"disabled", "skip", "skipped", "ignore", "ignored", "deprecated", "excluded"})
_GRADES = frozenset(
    {
        *("grade", "grades", "grading", "band", "bands", "tier", "tiers", "verdict", "verdicts", "cutoffs", "boundaries"),
        *("interpretation", "interpretations", "classification", "decision", "decisions"),
    }
)
_SUMS = frozenset({"sum", "summed", "total", "additive", "cumulative"})
_OF_CRITERIA = frozenset({"criteria", "criterion", "dimension", "dimensions", "rubric", "score", "scores", "scoring"})
_OF_OUTPUTS = frozenset({"field", "fields", "key", "keys", "column", "columns", "inputs", "files", "tools"})
_RANGE = re.compile(r"\s*[<>]?=?\s*\d[\d.]*\s*%?\s*(?:(?:-|\u2013|to)\s*\d[\d.]*\s*%?|\+)?\s*")


class Doubt(NamedTuple):
    """A key that is not read, with its place; `setting` of a table would say what it is, empty if nothing suggests one.

    `value` is its value. `quote` are the words of a text that contradict what is read.
    """

    place: Path
    setting: str
    value: Any
    quote: str = ""

    @property
    def is_beside(self) -> bool:
        """Whether it holds more than one value, or criteria of its own."""
        return isinstance(self.value, list | dict)

    @property
    def reason(self) -> str:
        """What is said of it."""
        steps = [step for step in self.place if isinstance(step, str) and not re.fullmatch(r"-?\d+", step)]
        name = shorten(steps[-1]) if steps else ""
        if self.quote:
            says = f'`{name}` says "{shorten(self.quote)}", but the highest score is read as the best'
            return f"{says}; turn the scale around, or name `{name}` under `unused` in a table of the settings"
        said = f": {shorten(self.value)}" if isinstance(self.value, str) else ""
        if not self.setting:
            return f"the field `{name}` of the criteria is not read"
        one, many = _NAMES[self.setting]
        found = f"`{name}` may hold {many}" if self.is_beside else f"`{name}{said}` may be {one}"
        if self.setting == "direction":
            found = f"`{name}{said}` may say which scores are better"
        if self.setting in _WITHOUT_SETTING:
            how = "name it under `unused` if it does not count"
        elif self.is_beside:
            how = "write it into the criteria, or name it under `unused` if it does not count"
        else:
            how = f"name it under `{self.setting}`, or under `unused` if it does not count"
        return f"{found}, and is not read; in a table of the settings, which `rubric-lint adopt FILE` writes, {how}"


_NAMES = {
    "weight": ("a weight", "weights"),
    "negative": ("a penalty", "penalties"),
    "bonus": ("a bonus", "bonuses"),
    "gate": ("a gate", "gates"),
    "pass": ("a pass mark", "pass marks"),
    "combine": ("how scores combine", "how scores combine"),
    "direction": ("a direction", "directions"),
    "grades": ("a grade", "grade bands"),
}
_WITHOUT_SETTING = frozenset({"direction", "grades"})


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


def says_sum(key: str, value: Any) -> bool:
    """Return whether a field says that scores are added up: `scoring: sum`."""
    is_way = bool(split_words(key) & (_WAYS | {"scoring", "method"}))
    return is_way and isinstance(value, str) and " " not in value.strip() and bool(split_words(value) & _SUMS)


Entry = tuple[Path, Mapping[str, Any]]


def find_doubts(
    document: Document,
    shape: Shape,
    path: Path,
    read: Collection[Path],
    *,
    scales: Collection[Ends] = (),
    entries: Sequence[Entry] | None = None,
    depths: Collection[int] | None = None,
) -> Iterator[Doubt]:
    """Find what is not read of the criteria at a path and beside them; `read` are the places beside them that are.

    `scales` are those on which criteria are scored. `entries` are the criteria, if those at the path are not all, and
    `depths` says how deep the mappings lie that hold something beside them; by default all on the path.
    """
    if entries is None:
        entries = list(_list_entries(document.value(path), path, shape.parts))
    firsts: dict[str, Doubt] = {}
    for place, entry in entries:
        for doubt in _find_of_entry(place, entry, shape, scales):
            key = str(doubt.place[len(place)])
            if key not in firsts or (doubt.setting and not firsts[key].setting):
                firsts[key] = doubt
    for key, doubt in firsts.items():
        if doubt.setting == "weight" and _are_equal(key, entries):
            continue
        if doubt.setting or not _is_count(document, path, doubt):
            yield doubt
    above = {path[:length] for length in range(len(path) + 1)}
    ids = _list_ids(document.value(path), shape)
    for length in range(len(path)) if depths is None else sorted(depths):
        holder = document.value(path[:length])
        for key, value in holder.items() if isinstance(holder, dict) else ():
            place = (*path[:length], key)
            if place not in above and not _is_unused(place, shape):
                yield from _find_beside(place, value, shape, read, ids, scales)


def _find_beside(
    place: Path, value: Any, shape: Shape, read: Collection[Path], ids: set[str], scales: Collection[Ends]
) -> Iterator[Doubt]:
    """Find what a key beside criteria, or in settings there, says about their scores."""
    is_settings = isinstance(value, dict) and not any(map(holds_mappings, value.values()))
    yield from _find_reversals(place, value, shape, scales, is_read=place in read)
    if place in read:
        return
    is_known = isinstance(value, dict) and any((*place, key) in read for key in value)
    if not is_known and (setting := _read_beside(str(place[-1]), value, shape)):
        yield Doubt(place, setting, value)
    elif is_settings:
        found = list(_find_in_settings(place, value, shape, read))
        setting = found[0].setting if len(found) > 1 else "" if found else _read_weights(str(place[-1]), value, ids)
        yield from [Doubt(place, setting, value)] if setting else found


def _find_reversals(
    place: Path, value: Any, shape: Shape, scales: Collection[Ends], *, is_read: bool = False
) -> Iterator[Doubt]:
    """Find what says that lower scores are better: a field and its value, or a text, if there is a scale at all."""
    key = str(place[-1])
    if not is_read and is_reversed(key, value, scales):
        yield Doubt(place, "direction", value)
    elif isinstance(value, str) and scales and (quote := find_reversal(value, scales)):
        yield Doubt(place, "direction", value, quote)
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        for at, text in enumerate(value):
            if scales and (quote := find_reversal(text, scales)):
                yield Doubt((*place, at), "direction", text, quote)
    elif isinstance(value, dict) and not holds_mappings(value):
        for inner, each in value.items():
            is_label = isinstance(each, str) and len(each.split()) < _FEW and re.fullmatch(r"-?\d+", inner)
            label = f"{inner} = {each}" if is_label else ""
            if _is_unused((*place, inner), shape):
                continue
            if is_reversed(inner, each, scales):
                yield Doubt((*place, inner), "direction", each)
            elif isinstance(each, str) and scales and (quote := find_reversal(label or each, scales)):
                yield Doubt((*place, inner), "direction", each, quote)


_FEW = 4
"""A label of a score has fewer words."""


_THRESHOLD = "threshold"
"""The name of what each system with a pass mark of its own reads, in the mapping around its criteria."""


def find_doubts_of_view(view: View) -> View:
    """Return a rubric of a system with what is not read of it and may decide its score."""
    if view.document.kind.is_program or view.is_text:
        return view
    document, schema = view.document, schema_of(view.schema)
    places = dict.fromkeys(view.place((*view.path, index)) for index in range(len(view.data)))
    entries = [(place, entry) for place in places if isinstance(entry := document.value(place), dict)]
    if not entries:
        return view
    patterns = schema.definitions[schema.item].get("patternProperties", ())
    others = {key for _, entry in entries for key in entry if any(re.search(each, key) for each in patterns)}
    shape = Shape(view.dialect.title, pointer(view.path), unused=(*schema.entry_fields, *others))
    holder = document.value(view.path[:-1]) if view.path else {}
    above = (*view.path[:-1],)
    known = {*schema.names, *schema_of(view.beside or view.dialect.beside or view.schema).names, _THRESHOLD}
    read = {(*above, key) for key in holder if key in known} if isinstance(holder, dict) else set[Path]()
    # What AgentV reads of a suite is known for each of its releases.
    depths = [len(above)] if view.path and not view.dialect.name.startswith("agentv-") else []
    found = find_doubts(document, shape, view.path, read | view.sources, entries=entries, depths=depths)
    doubts = tuple((doubt.place, doubt.reason) for doubt in found if doubt.setting)
    return replace(view, doubts=(*view.doubts, *doubts)) if doubts else view


def _are_equal(key: str, entries: Sequence[Entry]) -> bool:
    """Return whether a field has one value in all criteria, so that it gives none more weight than another."""
    return len({str(entry.get(key)) for _, entry in entries}) == 1


def _list_ids(holder: Any, shape: Shape) -> set[str]:
    if isinstance(holder, dict):
        return set(holder)
    entries = [entry for entry in holder if isinstance(entry, dict)] if isinstance(holder, list) else []
    return {str(entry[name]) for entry in entries for name in shape.id if name in entry}


def _read_weights(key: str, value: Any, ids: set[str]) -> str:
    """Return the setting of a mapping from criteria to numbers, empty if it is none."""
    words = split_words(key)
    is_named = bool(words & _WEIGHTS) and words <= _WEIGHTS | _OF_CRITERIA  # not those of cases
    is_held = isinstance(value, dict) and len(value) > 1 and (ids >= value.keys() or is_named)
    return "weight" if is_held and all(map(_is_amount, value.values())) else ""


def _is_amount(value: Any) -> bool:
    return is_number(value) or (isinstance(value, str) and re.search(SHARE, value) is not None)


def _list_entries(holder: Any, path: Path, parts: Collection[str]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    pairs = holder.items() if isinstance(holder, dict) else enumerate(holder if isinstance(holder, list) else ())
    for step, entry in pairs:
        if isinstance(entry, dict):
            yield (*path, step), entry
            for name in parts:
                yield from _list_entries(entry.get(name), (*path, step, name), parts)


def _find_of_entry(
    place: Path, entry: Mapping[str, Any], shape: Shape, scales: Collection[Ends]
) -> Iterator[Doubt]:
    """Find the fields of a criterion that are not read, and that are a number, true or false, or a telling word."""
    marks = (*shape.gate, *shape.negative, *shape.sums)
    ends = shape.scale if isinstance(shape.scale, tuple) else (shape.scale,)
    texts = {name.split(".")[0] for name in (*shape.outcome, *(end for end in ends if isinstance(end, str)))}
    held = {name.split(".")[0] for name in (*shape.id, *shape.weight, *shape.levels, *shape.parts)}
    marked = {name.split(".")[0] for name, _ in marks}
    unused = {name.split(".")[0] for name in shape.unused}
    stars = [star_pattern(name) for name in shape.levels if is_star(name)]
    has_weight = not entry.keys().isdisjoint(shape.weight)
    gates = {name for name, values in shape.gate if values is None}
    for key, value in entry.items():
        if key in gates and isinstance(value, str) and not (is_off(value) or re.search(SHARE, value)):
            yield Doubt((*place, key), "gate", value)
            continue
        if key in unused or key in held or any(re.search(star, key) for star in stars):
            continue
        is_read = key in texts or key in marked
        if not is_read:
            setting = _read_field(key, value, entry, has_weight=has_weight)
            if setting == "gate" and shape.combine == "all":
                continue  # each criterion must be met
            if setting:
                yield Doubt((*place, key), setting, value)
                continue
        reversals = list(_find_reversals((*place, key), value, shape, scales, is_read=is_read))
        yield from reversals
        if not (is_read or reversals) and isinstance(value, bool | int | float):
            yield Doubt((*place, key), "", value)


def _read_field(key: str, value: Any, entry: Mapping[str, Any], *, has_weight: bool) -> str:
    """Return the setting that may say what a field of a criterion is, empty if nothing suggests one."""
    words = split_words(key)
    said = split_words(value) if isinstance(value, str) and " " not in value.strip() else set[str]()
    is_share = isinstance(value, str) and re.search(SHARE, value) is not None
    if words & _WEIGHTS and not has_weight and (is_number(value) or is_share or said):
        return "weight"
    if said & PENALTY or said & _AVOIDED:
        return "negative"
    if value is False or (isinstance(value, str) and value and is_off(value)):
        return "negative" if words & (_WANTED | _EXPECTED) else "weight" if words & _COUNTED else ""
    if isinstance(value, str) and not is_share:
        is_gate = said & GATE or (said and words & (GATE | _MARK) and "type" not in words)
        return "gate" if is_gate else ""
    if value and isinstance(value, bool | int | float | str):
        if words & _LEFT_OUT and value is True:
            return "weight"
        is_scale = key.replace("min", "max") in entry and "min" in words
        return "negative" if words & PENALTY else _read_gate(words) if not is_scale else ""
    return ""


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
        elif isinstance(each, dict):
            yield from _find_in_settings((*place, key), each, shape, read)


def _read_beside(key: str, value: Any, shape: Shape) -> str:
    """Return the setting that may say what a key beside criteria is, empty if nothing suggests one."""
    words = split_words(key)
    if isinstance(value, dict | list):
        is_list = holds_mappings(value) or all(isinstance(each, str) for each in value)
        is_held = bool(value) and (isinstance(value, dict) or is_list)
        points = "negative" if words & PENALTY else "bonus" if words & _BONUS else ""
        is_gate = words & (GATE | _MUST) and not words & _OF_OUTPUTS
        setting = points or ("gate" if is_gate else "")
        return (setting or ("grades" if words & _GRADES and _are_grades(value) else "")) if is_held else ""
    if value is True:
        return "gate" if words & (GATE | _MUST) and shape.combine != "all" else ""
    if isinstance(value, str) and words & _WAYS:
        return "combine" if not (split_words(value) & _MEANS or shape.combine == "all") else ""
    is_score = (is_number(value) and bool(value)) or (isinstance(value, str) and re.search(SHARE, value) is not None)
    return "pass" if is_score and (is_pass_mark(key) or words & _LESS) else ""


def _are_grades(value: Any) -> bool:
    """Return whether a value says which scores get a grade: `{A: 9, B: 7}`, `{"9-10": A}`, `[{min: 9, label: A}]`."""
    if isinstance(value, list):
        return all(isinstance(each, dict) and any(map(_is_bound, each.values())) for each in value)
    pairs = value.items()
    return all(_is_bound(each) for _, each in pairs) or all(
        _RANGE.fullmatch(key) and (isinstance(each, str) or _is_bound(each)) for key, each in pairs
    )


def _is_bound(value: Any) -> bool:
    """Return whether a value is a score, or a range of scores."""
    if isinstance(value, dict | list):
        return bool(value) and all(map(is_number, value.values() if isinstance(value, dict) else value))
    return is_number(value) or (isinstance(value, str) and _RANGE.fullmatch(value) is not None)
