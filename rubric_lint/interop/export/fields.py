"""What the schemas say of each field: whether a judge is told of it, and which targets carry it."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.catalogue import CURRENT, load, registry
from rubric_lint.document import Document
from rubric_lint.finding import Path
from rubric_lint.rubric import Rubric
from rubric_lint.schema import case_lists

EVERYWHERE = "all"
_SUITE = f"{CURRENT}/suite.json"
_CASES = "#/definitions/cases"


class Field(NamedTuple):
    """A field that a rubric has, or that stands beside it, where it is, and what its schema says.

    `carried` holds the targets that write it; where they write the value as it is, with its name there.
    """

    path: Path
    value: Any
    is_told: bool
    carried: Mapping[str, str] | frozenset[str] | None

    def is_carried(self, target: str) -> bool:
        """Return whether a target writes the field."""
        return self.carried is None or target in self.carried

    def name_in(self, target: str) -> str:
        """Return what a target that writes the value as it is calls the field, else nothing."""
        return self.carried.get(target, "") if isinstance(self.carried, Mapping) else ""


def find_fields(document: Document, rubric: Rubric) -> Iterator[Field]:
    """Find every field of a rubric as it is written, and those beside it; values equal to a default say nothing."""
    view = rubric.view
    if not (view and view.around):  # there the list holds more than the rubric, which is texts alone
        schema = rubric.schema
        top = _Node({"$ref": f"{schema.contents['$id']}#/definitions/{schema.whole}"}, registry().resolver())
        yield from _walk(document.value(rubric.path), top, rubric.path)
    yield from find_beside(document, rubric)


def find_beside(document: Document, rubric: Rubric) -> Iterator[Field]:
    """Find the fields beside a rubric, in the evaluator or the metric that holds it."""
    holder = find_holder(rubric)
    if holder is None:
        return
    known: Mapping[str, Any] = load(_holder_schema(rubric))["x-beside-rubrics"]
    for name, value in document.value(holder).items():
        if name != rubric.path[len(holder)]:
            yield _field((*holder, name), value, known.get(name, {}))


def find_holder(rubric: Rubric) -> Path | None:
    """Return the path of the evaluator or metric that holds a rubric; None for what is a case's own."""
    path = rubric.path
    if rubric.view and rubric.view.around:
        return None
    if rubric.view and "x-beside-rubrics" in load(rubric.view.dialect.schema) and not _is_agentv(rubric):
        return path[:-1]
    lists = _lists_of_evaluators()
    ends = (end for end in range(len(path) - 1, 1, -1) if isinstance(path[end - 1], int) and path[end - 2] in lists)
    end = next(ends, 0)
    return path[:end] if end else None


@cache
def _lists_of_evaluators() -> frozenset[str]:
    fields = load(_SUITE)["definitions"]["part"]["properties"]
    return frozenset(name for name in case_lists() if fields[name].get("$ref") != _CASES)


def _is_agentv(rubric: Rubric) -> bool:
    return rubric.dialect.startswith("agentv")


def _holder_schema(rubric: Rubric) -> str:
    own = rubric.view.dialect.schema if rubric.view else ""
    return own if own and "x-beside-rubrics" in load(own) else _SUITE


class _Node(NamedTuple):
    """A schema, and what resolves the references in it."""

    schema: Mapping[str, Any]
    resolver: Any

    def parts(self) -> Iterator["_Node"]:
        """The schema and all that it refers to."""
        yield self
        refers = [self.schema] if "$ref" in self.schema else []
        for each in [*refers, *self.schema.get("allOf", ())]:
            if "$ref" in each:
                found = self.resolver.lookup(each["$ref"])
                yield from _Node(found.contents, found.resolver).parts()

    def child(self, name: str) -> "_Node | None":
        """What is said of a field; None where it is not known."""
        for part in self.parts():
            if name in part.schema.get("properties", {}):
                return _Node(part.schema["properties"][name], part.resolver)
            for pattern, schema in part.schema.get("patternProperties", {}).items():
                if re.search(pattern, name):
                    return _Node(schema, part.resolver)
        return None

    def rest(self, keyword: str) -> "_Node | None":
        """What is said of the items of a list, or of the values of a map."""
        for part in self.parts():
            if isinstance(part.schema.get(keyword), dict):
                return _Node(part.schema[keyword], part.resolver)
        return None


def _walk(value: Any, node: _Node, path: Path) -> Iterator[Field]:
    if isinstance(value, list) and (items := node.rest("items")):
        for index, item in enumerate(value):
            yield from _walk(item, items, (*path, index))
    elif isinstance(value, dict) and not node.rest("additionalProperties"):
        for name, inner in value.items():
            child = node.child(name)
            if child is None:
                yield _field((*path, name), inner, {})
            elif "default" not in child.schema or inner != child.schema["default"]:
                yield _field((*path, name), inner, child.schema)
                yield from _walk(inner, child, (*path, name))


def _field(path: Path, value: Any, schema: Mapping[str, Any]) -> Field:
    own = schema.get("x-reads-as", schema.get("x-replaced-by"))
    source = _format_fields()[own] if own else schema
    carried = source.get("x-carried-by", ())
    if isinstance(carried, str):
        return Field(path, value, bool(source.get("x-told-to-judge")), None)
    targets = carried if isinstance(carried, Mapping) else frozenset(carried)
    return Field(path, value, bool(source.get("x-told-to-judge")), targets)


@cache
def _format_fields() -> Mapping[str, Any]:
    return load(f"{CURRENT}/rubric.json")["definitions"]["entry"]["properties"]  # type: ignore[no-any-return]
