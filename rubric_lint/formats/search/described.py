"""Find the rubrics of systems that a table in the folder `dialects` beside this one describes, such as `rar.toml`."""

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
from rubric_lint.model.criterion import ASKED, HIGHEST, Asked
from rubric_lint.model.messages import find_near
from rubric_lint.model.view import Dialect, Draft, View, is_named_for_judges, read_text, read_threshold
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


class Table(NamedTuple):
    """A table: the dialect, how to recognize its rubrics, and what else it says; `table.json` describes the keys.

    A table with a `shape` is read as those of the settings are; one without only renames fields. `names` are our words
    by theirs.
    """

    dialect: Dialect
    names: Mapping[str, str]
    found: Mapping[str, Any]
    view: Mapping[str, Any]
    shape: FormatTable | None


@cache
def load_table(name: str) -> Table:
    """Return the table of this name."""
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"), parse_float=Decimal)
    facts = table["dialect"]
    shape = None
    if "shape" in table:
        shape = FormatTable.from_table({"name": facts["title"], **table["shape"]})
        facts = {**facts, "fields": {**dialect_of(shape).fields, **facts.get("fields", {})}, "has_deductions": True}
    if "asked" in facts:
        facts["asked"] = Asked(facts["asked"], 0)
    facts["without"] = frozenset(facts.get("without", ()))
    dialect, view = Dialect(**facts), table.get("view", {})
    marks = {name for field in view.get("gate", ()) for name in field.split("|")}
    names = {theirs: ours for theirs, ours in dialect.names.items() if theirs not in marks}
    for theirs, ours in view.get("names", {}).items():
        if names.setdefault(theirs, ours) != ours:
            raise ValueError(f"{name}.toml: `names` has `{theirs}` as `{ours}`, and `fields` as `{names[theirs]}`")
    return Table(dialect, names, table["found"], view, shape)


def find(document: Document, name: str, *, is_named: bool = False) -> Iterator[View]:
    """Find the rubrics of a table; `is_named`: as if the name of the file said that a judge reads it."""
    table = load_table(name)
    is_named = is_named or is_named_for_judges(document)
    places = [path for each in table.found.get("at", ()) for path, _ in expand(document.data, each)]
    for key in table.found.get("under", ()):
        places += [(*path, key) for path, mapping in document.mappings if key in mapping]
    for path in places:
        if _is_rubric(document, path, table.found, is_named=is_named):
            if table.shape:
                shape = replace(table.shape, criteria=pointer(path))
                refused = _word_refusal(document.value(path), table.view)
                for view in read_by_table(document, shape, table.dialect):
                    yield replace(view, unscorable=refused) if refused else view
            else:
                yield _read(document, path, table)


def _word_refusal(items: list[Any], view: Mapping[str, Any]) -> str:
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
    is_like = [_is_criterion(item, found, is_named=is_named) for item in mappings]
    is_each = all(is_like) and len(mappings) == len(items)
    if not (is_each if "every" in found else any(is_like)):
        return False
    has_never = "never" in found and any(not item.keys().isdisjoint(found["never"]) for item in mappings)
    holder = document.value(path[:-1]) if path else None
    keys = holder.keys() if isinstance(holder, dict) else frozenset[str]()
    is_beside = "beside" not in found or not keys.isdisjoint(found["beside"])
    is_told = any(not item.keys().isdisjoint(found.get("or", ())) for item in mappings)
    is_only = "only" not in found or keys <= set(found["only"])
    name = document.source.name
    is_file = path or "file" not in found or re.search(found["file"], name, re.IGNORECASE) is not None
    if not (is_only and is_file and (is_beside or is_told)) or has_never:
        return False
    patterns = found.get("matches", {}).items()
    return all(any(re.match(like, str(_look(item, key)[0])) for item in mappings) for key, like in patterns)


def _is_criterion(item: dict[str, Any], found: Mapping[str, Any], *, is_named: bool) -> bool:
    """Return whether an entry has the fields of one of the kinds of criteria, and none that others have."""
    if not item.keys().isdisjoint(found.get("lacks", ())):
        return False
    entries = found["entry"] if isinstance(found["entry"], list) else [found["entry"]]
    for entry in entries:
        if all(_fits(_look(item, key)[0], kind) for key, kind in entry.items()):
            names = {*entry, *found.get("or", ())}
            if is_named or "alone" not in found or all(key in names or find_near(key, names) for key in item):
                return True
    return False


def _fits(value: Any, kind: str | list[str]) -> bool:
    """Return whether a value is of a kind: its type, or a mapping with a key that is nearly one of some."""
    if isinstance(kind, list):
        return isinstance(value, dict) and (not value or any(find_near(key, kind) for key in value))
    is_flag = isinstance(value, bool) and kind not in ("any", "flag")
    return value is not _ABSENT and not is_flag and isinstance(value, _KINDS[kind])


def _look(item: Any, written: str) -> tuple[Any, Path]:
    """Return the first of some fields that a mapping has, and where; a name with dots leads into mappings: `a.b|c`."""
    for name in written.split("|"):
        value, steps = item, name.split(".")
        for step in steps:
            value = value.get(step, _ABSENT) if isinstance(value, dict) else _ABSENT
        if value is not _ABSENT:
            return value, tuple(steps)
    return _ABSENT, ()


def _are_like(steps: Sequence[Any], patterns: Sequence[str]) -> bool:
    """Return whether each of some values is a text like its pattern, in which `*` stands for anything."""
    pairs = zip(steps, patterns, strict=False)
    are_like = all(isinstance(step, str) and fnmatchcase(step, like) for step, like in pairs)
    return are_like and len(steps) == len(patterns)


def _find_mark(item: dict[str, Any], marks: Mapping[str, Any]) -> Path | None:
    """Return the place of a field with the value that marks a criterion, or a text like it; None if it has no mark."""
    for field, mark in marks.items():
        value, place = _look(item, field)
        if value is mark or (isinstance(mark, str) and _are_like([value], [mark])):
            return place
    return None


def _read(document: Document, path: Path, table: Table) -> View:
    draft, view, items = Draft(document, path), table.view, document.value(path)
    has_marks = not view.keys().isdisjoint(("skip", "negative", "gate"))
    data = _read_marked(draft, table, items) if has_marks else draft.rename_each(items, table.names)
    if "answers" in view and any(view["answers"] in item for item in items if isinstance(item, dict)):
        # Answers go from worst to best; where one criterion has some, yes and no are levels too.
        for index, entry in enumerate(data):
            written = items[index].get(view["answers"])
            place = (*path, index, view["answers"]) if view["answers"] in items[index] else (*path, index)
            answers = written if isinstance(written, list) else view["answers_otherwise"]
            levels = [
                ({"level": rank, "expected_outcome": answer}, (*place, rank) if answers is written else (*path, index))
                for rank, answer in enumerate(answers)
            ]
            entry["levels"] = draft.make_levels((index,), place, levels)
    given = {key: _find_place(document, path, view[key]) for key in ("name", "task", "threshold") if key in view}
    read: dict[str, Any] = {
        key: read_text(document.value(given[key][:-1]), str(given[key][-1]))
        for key in ("name", "task")
        if given.get(key)
    }
    if "named" in view:
        read["name"] = str(path[-2]).removeprefix(view["named"])
    if "around" in view:
        read["around"] = view["around"]
    read["threshold"] = otherwise = Decimal(view["passes"]) if "passes" in view else None
    if place := given.get("threshold", ()):
        read["threshold"] = read_threshold(document, place, otherwise)
        if "beside" in view and ("beside_in" not in view or _are_like(path[-3:-2], view["beside_in"])):
            read |= {"beside": view["beside"], "beside_at": place[:-1], "threshold_path": place}
    if "hook" in view:
        module, function = view["hook"].split(":")
        read |= getattr(import_module(f"rubric_lint.formats.dialects.{module}"), function)(document, path, data)
    if "without_gate" in view and not any(isinstance(each, dict) and "required_min_score" in each for each in data):
        read["unscorable"] = view["without_gate"]
    return draft.finish(table.dialect, data, **read)


def _read_marked(draft: Draft, table: Table, items: list[Any]) -> list[Any]:
    """Read criteria of which some are skipped, negative or gates."""
    view, data, gated = table.view, list[Any](), list[int]()
    asked, gates, weigh = table.dialect.asked, view.get("gate", {}), view.get("gates_weigh", True)
    for at, item in enumerate(items):
        own = len(data)
        if not isinstance(item, dict) or _find_mark(item, view.get("skip", {})):
            data += () if "skip" in view else (item,)
            continue
        entry = draft.rename(item, table.names, (own,), (*draft.path, at))
        data.append(entry)
        if "negative" in view and asked:
            mark = _find_mark(item, view["negative"])
            entry[ASKED] = asked._replace(is_negated=mark is not None, apart=str(mark is not None))
            if mark is not None:
                draft.put((own, ASKED), (*draft.path, at, *mark))
        gate = _find_mark(item, gates)
        if gate is None and view.get("is_gated") and all(_look(item, field)[0] is _ABSENT for field in gates):
            gate = ()
        if gate is not None:
            gated.append(own)
            entry["required_min_score"] = HIGHEST
            for field in ("required_min_score",) if weigh else ("required_min_score", "weight"):
                draft.put((own, field), (*draft.path, at, *gate), is_key=field == "weight")
    for own in () if weigh else gated:
        data[own]["weight"] = 0 if len(gated) < len(data) else 1
    return data


def _find_place(document: Document, path: Path, written: str) -> Path:
    """Return the path that is written from a list on, such as `../name`; empty if nothing holds it."""
    ups, (*inner, name) = written.count("../"), written.replace("../", "").split("/")
    holder = document.value(path[:-ups]) if ups <= len(path) else None
    for step in inner:
        holder = holder.get(step) if isinstance(holder, dict) else None
    return (*path[:-ups], *inner, name) if isinstance(holder, dict) else ()
