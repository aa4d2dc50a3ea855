"""Find the rubrics of systems that a table in the folder above describes, such as `rar.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path as File
from typing import Any, NamedTuple

from rubric_lint.format.criterion import Asked
from rubric_lint.format.view import Dialect, View, find_lists, read_list, read_text, read_threshold
from rubric_lint.shapes.reading import read_shape
from rubric_lint.shapes.shape import Shape, dialect_of, expand
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

_FOLDER = File(__file__).parents[1]
_KINDS: Mapping[str, tuple[type, ...]] = {
    "any": (object,),
    "text": (str,),
    "number": (int, float),
    "list": (list,),
    "mapping": (dict,),
    "flag": (bool,),
}
"""The kinds of the fields by which a table recognizes a criterion."""


class Table(NamedTuple):
    """A table: the dialect, how to recognize its rubrics, and what else it says; CONTRIBUTING.md explains the keys.

    A table with a `shape` is read as those of the settings are; one without only renames fields.
    """

    dialect: Dialect
    found: Mapping[str, Any]
    view: Mapping[str, Any]
    shape: Shape | None


@cache
def load_table(name: str) -> Table:
    """Return the table of this name."""
    table = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"), parse_float=Decimal)
    facts = table["dialect"]
    shape = None
    if "shape" in table:
        shape = Shape.from_table({"name": facts["title"], **table["shape"]})
        facts = {**facts, "fields": {**dialect_of(shape).fields, **facts.get("fields", {})}, "has_deductions": True}
    if "asked" in facts:
        facts["asked"] = Asked(facts["asked"], 0)
    facts["without"] = frozenset(facts.get("without", ()))
    return Table(Dialect(**facts), table.get("found", {}), table.get("view", {}), shape)


def find(document: Document, name: str) -> Iterator[View]:
    """Find the rubrics of a table."""
    dialect, found, more, shape = load_table(name)
    if shape:
        for pointer in found.get("at", (shape.criteria,)):
            places = (path for path, _ in expand(document.data, pointer))
            if any(_is_rubric(document, path, found) for path in places):
                yield from read_shape(document, replace(shape, criteria=pointer), dialect)
        return
    for path, _, items in find_lists(document, found["under"], lambda item: _is_criterion(item, found)):
        if _is_rubric(document, path, found):
            yield read_list(document, path, dialect, items, **_read_more(document, path, more, items))


def _is_criterion(item: Any, found: Mapping[str, Any]) -> bool:
    """Return whether an entry has the fields of a criterion, and none that others have."""
    if not isinstance(item, dict) or not item.keys().isdisjoint(found.get("lacks", ())):
        return False
    for key, kind in found["entry"].items():
        is_flag = isinstance(item.get(key), bool) and kind not in ("any", "flag")
        if key not in item or is_flag or not isinstance(item[key], _KINDS[kind]):
            return False
    return True


def _is_rubric(document: Document, path: Path, found: Mapping[str, Any]) -> bool:
    """Return whether a list is a rubric, by its criteria and by what is around it."""
    items, holder = document.value(path), document.value(path[:-1]) if path else None
    mappings = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    if path[-2:-1] != tuple(found.get("in", path[-2:-1])) or not any(_is_criterion(item, found) for item in mappings):
        return False
    if any(not item.keys().isdisjoint(found.get("never", ())) for item in mappings):
        return False
    keys = holder.keys() if isinstance(holder, dict) else frozenset[str]()
    is_beside = "beside" not in found or not keys.isdisjoint(found["beside"])
    is_told = any(not item.keys().isdisjoint(found.get("or", ())) for item in mappings)
    patterns = found.get("matches", {}).items()
    return (is_beside or is_told) and all(
        any(re.match(pattern, read_text(item, key)) for item in mappings) for key, pattern in patterns
    )


def _read_more(document: Document, path: Path, more: Mapping[str, Any], items: list[Any]) -> dict[str, Any]:
    """Return what a table says about a rubric besides its criteria; `..` in a place is the mapping around it."""
    given = {key: _find_place(document, path, more[key]) for key in ("name", "task", "threshold") if key in more}
    read: dict[str, Any] = {
        key: read_text(document.value(given[key][:-1]), str(given[key][-1]))
        for key in ("name", "task")
        if given.get(key)
    }
    if "threshold" in more:
        place = given["threshold"]
        read["threshold"] = more.get("passes")
        if place:
            read["threshold"] = read_threshold(document, place, more.get("passes"))
            read |= (
                {"beside": more["beside"], "beside_at": place[:-1], "threshold_path": place} if "beside" in more else {}
            )
    if "hook" in more:
        module, function = more["hook"].split(":")
        read |= getattr(import_module(f"rubric_lint.dialects.{module}"), function)(document, path, items)
    return read


def _find_place(document: Document, path: Path, written: str) -> Path:
    """Return the path that is written from a list on, such as `../name`; empty if nothing holds it."""
    ups, _, name = written.rpartition("../")
    steps = len(ups.split("../")) if ups else 1
    holder = path[: len(path) - steps]
    is_held = steps <= len(path) and isinstance(document.value(holder), dict)
    return (*holder, name) if is_held else ()
