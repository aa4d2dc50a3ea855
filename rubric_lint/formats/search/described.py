"""Find the rubrics of systems that a table in the folder `dialects` describes, such as `rar.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path as File
from typing import Any, NamedTuple

from rubric_lint.formats.home_made.format_table import FormatTable, dialect_of, expand
from rubric_lint.formats.home_made.reading import read_by_table
from rubric_lint.formats.home_made.rubric_fields import find_field
from rubric_lint.model.criterion import ASKED, HIGHEST, JudgeQuestion
from rubric_lint.model.messages import find_near
from rubric_lint.model.view import Dialect, View, ViewBuilder, is_named_for_judges, read_text, read_threshold
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer

_FOLDER = File(__file__).parents[1] / "dialects"
_KINDS: Mapping[str, tuple[type, ...]] = {
    "any": (object,),
    "text": (str,),
    "number": (int, float),
    "list": (list,),
    "mapping": (dict,),
    "flag": (bool,),
}
"""The kinds of the fields by which a table recognizes a criterion."""

_ABSENT = object()


class DialectTable(NamedTuple):
    """A table: the dialect, how to recognize its rubrics, and how to read them; `table.json` describes the keys.

    A table with a `shape` is read as those of the settings are; one without only renames fields. `names` are our words
    by theirs.
    """

    dialect: Dialect
    names: Mapping[str, str]
    found: Mapping[str, Any]
    view: Mapping[str, Any]
    shape: FormatTable | None


@cache
def load_table(name: str) -> DialectTable:
    """Return the table of this name."""
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"), parse_float=Decimal)
    facts = table["dialect"]
    shape = None
    if "shape" in table:
        shape = FormatTable.from_table({"name": facts["title"], **table["shape"]})
        facts = {**facts, "fields": {**dialect_of(shape).fields, **facts.get("fields", {})}, "has_deductions": True}
    if "asked" in facts:
        facts["asked"] = JudgeQuestion(facts["asked"], 0)
    facts["without"] = frozenset(facts.get("without", ()))
    dialect, view = Dialect(**facts), table.get("view", {})
    marks = "|".join(view.get("gate", ())).split("|")
    names = {theirs: ours for theirs, ours in dialect.names.items() if theirs not in marks}
    for theirs, ours in view.get("names", {}).items():
        if names.setdefault(theirs, ours) != ours:
            raise ValueError(f"{name}.toml: `names` has `{theirs}` as `{ours}`, and `fields` as `{names[theirs]}`")
    return DialectTable(dialect, names, table["found"], view, shape)


def find(document: Document, name: str, *, is_named: bool = False) -> Iterator[View]:
    """Find the rubrics of a table; `is_named`: as if the name of the file said that a judge reads it."""
    table = load_table(name)
    is_named = is_named or is_named_for_judges(document)
    places: list[Path] = []
    for at in table.found.get("at", ()):
        places += [path for path, _ in expand(document.data, at)]
    for key in table.found.get("under", ()):
        places += [(*path, key) for path, mapping in document.mappings if key in mapping]
    for path in places:
        if not _is_rubric(document, path, table.found, is_named=is_named):
            continue
        if not table.shape:
            yield _read(document, path, table)
            continue
        refusal = _find_refusal(document.value(path), table.view)
        for view in read_by_table(document, replace(table.shape, criteria=pointer(path)), table.dialect):
            yield replace(view, unscorable=refusal) if refusal else view


def _find_refusal(items: list[Any], view: Mapping[str, Any]) -> str:
    """Return why a rubric is not scored: its system combines scores otherwise, with some mark or always."""
    marks = view.get("refuses", {})
    is_marked = any(isinstance(item, dict) and _find_mark(item, marks) for item in items)
    return str(view["refused"]) if "refused" in view and (is_marked or not marks) else ""


def _is_rubric(document: Document, path: Path, found: Mapping[str, Any], *, is_named: bool) -> bool:
    """Return whether a list is a rubric, by its criteria and by what is around it."""
    above = found.get("in", ())
    if above and not _are_like(path[-1 - len(above) : -1], above):
        return False
    items = document.value(path)
    if not isinstance(items, list) or not items:
        return False
    if "entry" not in found:
        return True
    mappings = [item for item in items if isinstance(item, dict)]
    are_criteria = [_is_criterion(item, found, is_named=is_named) for item in mappings]
    if "every" in found and not (all(are_criteria) and len(mappings) == len(items)):
        return False
    return any(are_criteria) and _fits_around(document, path, mappings, found) and _match(mappings, found)


def _match(items: list[dict[str, Any]], found: Mapping[str, Any]) -> bool:
    """Return whether some item has a field that begins as each of the patterns of a table says."""
    for key, pattern in found.get("matches", {}).items():
        if not any(re.match(pattern, str(_find_field(item, key)[0])) for item in items):
            return False
    return True


def _fits_around(document: Document, path: Path, items: list[dict[str, Any]], found: Mapping[str, Any]) -> bool:
    """Return whether a list has the fields around it, and the file the name, that a table asks for."""
    if _have_any(items, found.get("never", ())):
        return False
    holder = document.value(path[:-1]) if path else None
    keys = holder.keys() if isinstance(holder, dict) else frozenset[str]()
    has_sibling = "siblings" not in found or not keys.isdisjoint(found["siblings"])
    if not has_sibling and not _have_any(items, found.get("or", ())):
        return False
    if "only" in found and not keys <= set(found["only"]):
        return False
    return bool(path) or "file" not in found or bool(re.search(found["file"], document.source.name, re.IGNORECASE))


def _have_any(items: list[dict[str, Any]], fields: Sequence[str]) -> bool:
    return any(not item.keys().isdisjoint(fields) for item in items)


def _is_criterion(item: dict[str, Any], found: Mapping[str, Any], *, is_named: bool) -> bool:
    """Return whether an entry has the fields of one of the kinds of criteria, and none that others have."""
    if not item.keys().isdisjoint(found.get("lacks", ())):
        return False
    entries = found["entry"] if isinstance(found["entry"], list) else [found["entry"]]
    for entry in entries:
        if all(_is_of_kind(_find_field(item, key)[0], kind) for key, kind in entry.items()):
            names = {*entry, *found.get("or", ())}
            if is_named or "alone" not in found or all(key in names or find_near(key, names) for key in item):
                return True
    return False


def _is_of_kind(value: Any, kind: str | list[str]) -> bool:
    """Return whether a value is of a kind: its type, or a mapping with a key that is nearly one of some."""
    if isinstance(kind, list):
        return isinstance(value, dict) and (not value or any(find_near(key, kind) for key in value))
    is_flag = isinstance(value, bool) and kind not in ("any", "flag")
    return value is not _ABSENT and not is_flag and isinstance(value, _KINDS[kind])


def _find_field(item: Any, written: str) -> tuple[Any, Path]:
    """Return the first of some fields that a mapping has, and where; a name with dots leads into mappings: `a.b|c`."""
    for name in written.split("|"):
        found = find_field(item, (), name)
        if found:
            return found
    return _ABSENT, ()


def _are_like(steps: Sequence[Any], patterns: Sequence[str]) -> bool:
    """Return whether each of some values is a text like its pattern, in which `*` stands for anything."""
    pairs = zip(steps, patterns, strict=False)
    are_like = all(isinstance(step, str) and fnmatchcase(step, like) for step, like in pairs)
    return are_like and len(steps) == len(patterns)


def _find_mark(item: dict[str, Any], marks: Mapping[str, Any]) -> Path | None:
    """Return the place of a field with the value that marks a criterion, or a text like it; None if it has no mark."""
    for field, mark in marks.items():
        value, place = _find_field(item, field)
        if value is mark or (isinstance(mark, str) and _are_like([value], [mark])):
            return place
    return None


def _read(document: Document, path: Path, table: DialectTable) -> View:
    """Return the rubric of a list by a table without a shape."""
    draft, view, items = ViewBuilder(document, path), table.view, document.value(path)
    has_marks = not view.keys().isdisjoint(("skip", "negative", "gate"))
    data = _read_marked(draft, table, items) if has_marks else draft.rename_items(items, table.names)
    if "answers" in view and _have_any([item for item in items if isinstance(item, dict)], [view["answers"]]):
        _add_answers(draft, data, items, view)
    fields: dict[str, Any] = {}
    for key in ("name", "task"):
        place = _find_place(document, path, view[key]) if key in view else ()
        if place:
            fields[key] = read_text(document.value(place[:-1]), str(place[-1]))
    if "named" in view:
        fields["name"] = str(path[-2]).removeprefix(view["named"])
    if "around" in view:
        fields["around"] = view["around"]
    fields |= _read_threshold(document, path, view)
    if "hook" in view:
        module, function = view["hook"].split(":")
        fields |= getattr(import_module(f"rubric_lint.formats.dialects.{module}"), function)(document, path, data)
    if "without_gate" in view:
        has_gate = any(isinstance(entry, dict) and "required_min_score" in entry for entry in data)
        if not has_gate:
            fields["unscorable"] = view["without_gate"]
    return draft.finish(table.dialect, data, **fields)


def _add_answers(draft: ViewBuilder, data: list[Any], items: list[Any], view: Mapping[str, Any]) -> None:
    """Add the answers of criteria as levels, from the worst on; where one has some, yes and no are levels too."""
    name = view["answers"]
    for index, entry in enumerate(data):
        own = (*draft.path, index)
        answers = items[index].get(name)
        levels: list[tuple[dict[str, Any], Path]] = []
        if isinstance(answers, list):
            for rank, answer in enumerate(answers):
                levels.append(({"level": rank, "expected_outcome": answer}, (*own, name, rank)))
        else:
            for rank, answer in enumerate(view["answers_otherwise"]):
                levels.append(({"level": rank, "expected_outcome": answer}, own))
        place = (*own, name) if name in items[index] else own
        entry["levels"] = draft.make_levels((index,), place, levels)


def _read_threshold(document: Document, path: Path, view: Mapping[str, Any]) -> dict[str, Any]:
    """Return the threshold of a rubric, and its place if the table knows the mapping that has it."""
    otherwise = Decimal(view["passes"]) if "passes" in view else None
    place = _find_place(document, path, view["threshold"]) if "threshold" in view else ()
    if not place:
        return {"threshold": otherwise}
    fields: dict[str, Any] = {"threshold": read_threshold(document, place, otherwise)}
    if "holder_definition" in view and ("holder_in" not in view or _are_like(path[-3:-2], view["holder_in"])):
        fields |= {"holder_definition": view["holder_definition"], "holder_path": place[:-1], "threshold_path": place}
    return fields


def _read_marked(draft: ViewBuilder, table: DialectTable, items: list[Any]) -> list[Any]:
    """Read criteria of which some are skipped, negative or gates."""
    view, asked = table.view, table.dialect.asked
    weigh = view.get("gates_weigh", True)
    data: list[Any] = []
    gated: list[int] = []
    for at, item in enumerate(items):
        own, place = len(data), (*draft.path, at)
        if not isinstance(item, dict) or _find_mark(item, view.get("skip", {})):
            if "skip" not in view:
                data.append(item)
            continue
        entry = draft.rename(item, table.names, (own,), place)
        data.append(entry)
        if "negative" in view and asked:
            mark = _find_mark(item, view["negative"])
            entry[ASKED] = asked._replace(is_negated=mark is not None, apart=str(mark is not None))
            if mark is not None:
                draft.put((own, ASKED), (*place, *mark))
        gate = _find_gate(item, view)
        if gate is not None:
            gated.append(own)
            entry["required_min_score"] = HIGHEST
            draft.put((own, "required_min_score"), (*place, *gate))
            if not weigh:
                draft.put((own, "weight"), (*place, *gate), is_key=True)
    if not weigh:
        for own in gated:
            data[own]["weight"] = 0 if len(gated) < len(data) else 1
    return data


def _find_gate(item: dict[str, Any], view: Mapping[str, Any]) -> Path | None:
    """Return the place of the field that makes a criterion a gate, empty if it is one without a field; else None."""
    gates = view.get("gate", {})
    if view.get("is_gated") and all(_find_field(item, field)[0] is _ABSENT for field in gates):
        return ()
    return _find_mark(item, gates)


def _find_place(document: Document, path: Path, written: str) -> Path:
    """Return the path that is written from a list on, such as `../name`; empty if nothing holds it."""
    ups = written.count("../")
    *inner, name = written.replace("../", "").split("/")
    holder = document.value(path[:-ups]) if ups <= len(path) else None
    for step in inner:
        holder = holder.get(step) if isinstance(holder, dict) else None
    return (*path[:-ups], *inner, name) if isinstance(holder, dict) else ()
