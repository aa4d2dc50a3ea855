"""The table that describes how a team writes its rubrics: where the criteria are, and what each field means."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

from rubric_lint.model.schema_files import BASE, add_schema
from rubric_lint.model.view import Dialect
from rubric_lint.source.path import Path, split_pointer
from rubric_lint.source.tree import items_of

Names = tuple[str, ...]
"""Names of a field, of which the first that an entry has counts: a key, keys with dots, or a pointer from the top."""

Marks = tuple[tuple[str, tuple[Any, ...] | None], ...]
"""Fields that mark a criterion, each with the values that do; None for a number, or true."""

NumberOrPointer = int | Decimal | str
"""A number, or where the file says it: a field of a criterion, or a pointer from the top."""

YES_NO = "yes-no"
"""The scale of criteria that are met or not."""


@dataclass(frozen=True, slots=True)
class FormatTable:
    """How a format writes rubrics; docs/settings.md explains each setting of the same name.

    `criteria` is the pointer to the criteria of each rubric; a `*` in another pointer stands for what the same one is
    there. `passes` is the setting `pass`. An empty `combine` is a mean that nobody asked for, and an empty `better` a
    scale on which nobody said that higher scores are better.
    """

    name: str
    criteria: str
    files: tuple[str, ...] = ()
    id: Names = ()
    outcome: Names = ()
    weight: Names = ()
    weights: tuple[tuple[str, Decimal], ...] = ()
    levels: Names = ()
    level_scores: tuple[tuple[str, Decimal], ...] = ()
    level_score: Names = ("score", "level", "points", "value", "rating")
    level_text: Names = ("description", "text", "rule", "criteria", "label", "outcome", "definition")
    gate: Marks = ()
    negative: Marks = ()
    sums: Marks = ()
    parts: Names = ()
    scale: tuple[NumberOrPointer, NumberOrPointer] | str | None = None
    passes: NumberOrPointer | None = None
    total: NumberOrPointer | None = None
    combine: str = ""
    better: str = ""
    rubric: str = ""
    task: str = ""
    unused: Names = ()

    @property
    def is_turned(self) -> bool:
        """Whether lower scores are better."""
        return self.better == "lower"

    @property
    def scale_names(self) -> Names:
        """The fields of a criterion, and the pointers, that say its scale."""
        scale = self.scale if isinstance(self.scale, tuple) else (self.scale,)
        return tuple(end for end in scale if isinstance(end, str) and end != YES_NO)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "FormatTable":
        """Return the table of valid settings of the same names."""
        fields = {key: _READERS[key](value) if key in _READERS else value for key, value in table.items()}
        fields = {key.replace("-", "_"): value for key, value in fields.items()}
        if "pass" in fields:
            fields["passes"] = fields.pop("pass")
        return cls(**fields)


@cache
def dialect_of(table: FormatTable) -> Dialect:
    """Return a table as a dialect: its fields in messages, its schema, and the rules that hold for it."""
    source = f"shape/{blake2b(repr(table).encode(), digest_size=8).hexdigest()}.json"
    fields = {"id": table.id, "expected_outcome": table.outcome, "weight": table.weight, "levels": table.levels}
    gates = tuple(name for name, _ in table.gate)
    fields |= {"required_min_score": gates, "required_min_level": gates}
    without = {"mixing", "not-self-contained", "score-in-text"}
    if not table.id:
        without.add("missing-id")
    if table.is_turned:
        without |= {"inverted-scale", "idle-gate"}
    return Dialect(
        "shape",
        table.name,
        add_schema(source, _write_schema(table, source)),
        {ours: theirs[0] for ours, theirs in fields.items() if theirs},
        without=frozenset(without),
        has_deductions=True,
        reports_unread_fields=True,
    )


def _as_names(value: str | list[str]) -> Names:
    return (value,) if isinstance(value, str) else tuple(value)


def _as_marks(value: Any) -> Marks:
    if not isinstance(value, dict):
        return tuple((name, None) for name in _as_names(value))
    marks: list[tuple[str, tuple[Any, ...] | None]] = []
    for name, marking in value.items():
        values = marking if isinstance(marking, list) else [marking]
        needed = None if values == [True] else tuple(values)
        marks.append((name, needed))
    return tuple(marks)


def _as_scores(words: Mapping[str, Any]) -> tuple[tuple[str, Decimal], ...]:
    return tuple((word, Decimal(str(number))) for word, number in words.items())


def _as_scale(scale: Any) -> Any:
    return tuple(scale) if isinstance(scale, list) else scale


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("files", "id", "outcome", "weight", "levels", "parts", "unused"), _as_names),
    **dict.fromkeys(("level-score", "level-text"), _as_names),
    **dict.fromkeys(("gate", "negative", "sums"), _as_marks),
    **dict.fromkeys(("weights", "level-scores"), _as_scores),
    "scale": _as_scale,
}
"""How a setting becomes the field of the same name, where its value changes."""


@lru_cache(maxsize=1 << 12)  # criteria repeat their keys
def split_words(key: str) -> frozenset[str]:
    """Return the words of a key: `passMark`, `pass_mark`, `hard-fail`."""
    return frozenset(list_words(key))


def list_words(key: str) -> tuple[str, ...]:
    """Return the words of a key in their order."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
    return tuple(filter(None, re.split(r"[\W_]+", spaced)))


def is_plain(name: str) -> bool:
    """Return whether a name is the key of a field: no pointer, no pattern, and no way through mappings."""
    return not name.startswith("/") and not set(name) & {"*", "."}


def first_steps(names: Iterable[str]) -> set[str]:
    """Return the keys of criteria that some names lead through: `content` of `content.text`."""
    return {name.partition(".")[0] for name in names}


def is_star(name: str) -> bool:
    """Return whether a name is the pattern of fields, in which `*` stands for a score: `score_*`."""
    return "*" in name and not name.startswith("/")


def star_pattern(name: str) -> str:
    """Return the regular expression of such fields, whose group is the score."""
    return f"^{re.escape(name)}$".replace(r"\*", r"(-?\d{1,4})")


SHARE = r"^\s*(\d{1,6}(?:\.\d{1,6})?)\s*%?\s*$"
"""A weight in a string, as people write a share of the whole: "40%", "0.4"."""


def _write_fields(table: FormatTable) -> dict[str, dict[str, Any]]:
    """Return the schemas of the fields of a criterion; a field with several uses has that of the last one here."""
    weight: dict[str, Any] = {"type": ["number", "string"]}
    if not table.weights:
        weight |= {"pattern": SHARE, "x-expected": "a number"}
    marks = [name for name, _ in table.negative + table.sums]
    gates = [name for name, _ in table.gate]
    outcome = {"allOf": [{"$ref": "../v2/rubric.json#/definitions/outcome"}]}
    parts = {"$ref": "#/definitions/rubrics"}
    uses: list[tuple[Iterable[str], str, dict[str, Any], str]] = [
        (table.scale_names, "The scale of the criterion.", {}, ""),
        (table.unused, "A field that rubric-lint does not need.", {}, ""),
        (marks, "A mark of a criterion.", {}, "weight"),
        (gates, "What must be met.", {}, "required_min_score"),
        (table.levels, "The texts of the scores.", {"additionalProperties": {}}, "levels"),
        (table.parts, "The parts of a criterion, which are judged one by one.", parts, ""),
        (table.weight, "How much the criterion counts.", weight, "weight"),
        (table.outcome, "What is judged.", outcome, "expected_outcome"),
        (table.id, "The name of the criterion.", {"type": ["string", "integer"]}, "id"),
    ]
    holders: dict[str, dict[str, Any]] = {}
    fields: dict[str, dict[str, Any]] = {}
    for names, description, schema, ours in uses:
        for name in names:
            if is_plain(name):
                fields[name] = {"description": description, **schema}
                if ours:
                    fields[name]["x-reads-as"] = ours
            elif "." in name and not name.startswith("/"):
                holders[name.partition(".")[0]] = {"description": "What holds fields of the criterion."}
    return holders | fields


def _write_schema(table: FormatTable, source: str) -> dict[str, Any]:
    """Return the schema of a list of criteria: types that our words need, under the names of the table."""
    fields = _write_fields(table)
    entry = {"$ref": "#/definitions/entry"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"{BASE}{source}",
        "title": f"Rubrics of {table.name}",
        "definitions": {
            "rubrics": {
                "description": "The criteria.",
                "x-expected": "a list of criteria, or a mapping of them",
                "type": ["array", "object"],
                "minItems": 1,
                "minProperties": 1,
                "items": entry,
                "additionalProperties": {"$ref": "#/definitions/named"},
            },
            "entry": {
                "description": "A criterion.",
                "x-expected": "a mapping or a string",
                "type": ["object", "string"],
                "properties": fields,
                "patternProperties": {star_pattern(name): {} for name in table.levels if is_star(name)},
            },
            "named": {"description": "A criterion, or what is said next to the criteria.", "properties": fields},
        },
    }


def find_contradictions(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find the settings of a valid table that contradict each other: the setting, and what is wrong."""
    if not table.keys() & {"outcome", "levels"}:
        yield "", "has neither `outcome` nor `levels`, so nothing says what a criterion asks for; name one of them"
    scale = table.get("scale")
    ends = [end for end in scale if not isinstance(end, str)] if isinstance(scale, list) else []
    if len(ends) < 2:
        ends = []
    elif ends[0] == ends[1]:
        yield "scale", f"goes from {ends[0]} to {ends[1]}, which is one score; write the lowest and the highest"
    elif ends[0] > ends[1]:
        yield "scale", f"goes from {ends[0]} to {ends[1]}; write the lowest score first"
    rising_ends = ends if ends and ends[0] < ends[1] else []
    yield from _find_in_marks(table, rising_ends)
    of_levels = dict.fromkeys(("level-score", "level-scores", "level-text", "sums"), "levels")
    for key, need in {"weights": "weight", **of_levels}.items():
        if key in table and need not in table:
            yield key, f"says how to read `{need}`, which is missing"
    yield from _find_shared(table)
    yield from _find_in_pointers(table)


def _find_in_pointers(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find pointers with more `*` than that to the criteria, and names where only a pointer can stand."""
    stars = table["criteria"].count("*")
    for key in ("rubric", "task", "scale", "gate", "pass", "total"):
        value = table.get(key)
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, str) and part.startswith("/") and part.count("*") > stars:
                yield key, f'"{part}" has more `*` than `criteria`, which has {stars}'
            elif isinstance(part, str) and key not in ("scale", "gate") and not part.startswith("/"):
                yield key, f'"{part}" is not a pointer from the top of the file, such as "/{part}"'


def _find_in_marks(table: Mapping[str, Any], ends: list[int]) -> Iterator[tuple[str, str]]:
    """Find a pass mark that is not on the scale, and points on a scale whose lower scores are better."""
    passes, combine, is_turned = table.get("pass"), table.get("combine", "mean"), table.get("better") == "lower"
    is_mean = combine == "mean" and not isinstance(passes, bool)
    if ends and is_mean and isinstance(passes, int | float | Decimal):
        low, high = ends
        if is_turned and not low <= passes < high:
            yield "pass", f"{passes} is not a score from {low} and below {high}, the `scale`"
        elif not is_turned and not low < passes <= high:
            yield "pass", f"{passes} is not a score above {low} and up to {high}, the `scale`"
    if is_turned and table.get("scale") == YES_NO:
        yield "better", '"lower" is for scores on a scale, and these criteria are met or not'
    if is_turned and combine == "share":
        yield "better", '"lower" does not go with `combine = "share"`, as an answer gets points for high scores'


def _find_shared(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find the fields that a table names twice, as the weight or the gate and as something else."""
    gates = table.get("gate", ())  # words that mean a gate may stand in any field
    fields = {**table, "gate": () if isinstance(gates, dict) else gates}
    for key, others in (("weight", ("outcome", "levels")), ("gate", ("outcome", "levels", "weight"))):
        known: dict[str, str] = {}
        for other in others:
            known |= dict.fromkeys(_as_names(fields.get(other, ())), other)
        for name in _as_names(fields.get(key, ())):
            if name in known:
                yield key, f'"{name}" is the `{known[name]}` already; name the field with the {key}'


def expand(data: Any, pointer: str) -> Iterator[tuple[Path, tuple[str | int, ...]]]:
    """Find the places that a pointer leads to, each with what its `*` stand for there."""
    found: list[tuple[Path, tuple[str | int, ...], Any]] = [((), (), data)]
    for step in split_pointer(pointer):
        holders, found = found, []
        for path, bound, holder in holders:
            for key, value in _children(holder, step):
                standing = (*bound, key) if step == "*" else bound
                found.append(((*path, key), standing, value))
    for path, bound, _ in found:
        yield path, bound


def _children(holder: Any, step: str) -> Iterator[tuple[str | int, Any]]:
    """Yield the parts of a mapping or a list that a step of a pointer leads to, each with its key or its index."""
    if step == "*":
        yield from items_of(holder)
    elif isinstance(holder, dict) and step in holder:
        yield step, holder[step]
    elif isinstance(holder, list) and re.fullmatch(r"\d+", step) and int(step) < len(holder):
        yield int(step), holder[int(step)]
