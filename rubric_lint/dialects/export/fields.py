"""Find which fields the judge sees and which targets write them, from the schemas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import case_lists
from rubric_lint.format.schema_files import CURRENT, load, registry
from rubric_lint.format.view import View
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, is_template
from rubric_lint.text.path import Path
from rubric_lint.text.source import Span
from rubric_lint.text.tree import Tree

EVERYWHERE = "all"
QUESTIONS = ("input", "inputs", "question", "prompt", "instruction")
"""The names that systems give to the question of a case."""

_SUITE = f"{CURRENT}/suite.json"
_CASES = "#/definitions/cases"


class FormatField(NamedTuple):
    """A field of a rubric, or beside it, with its place and what its schema says.

    `carried` has the targets that write it, with the target's name for it if they copy the value.
    """

    path: Path
    value: Any
    is_told: bool
    carried: Mapping[str, str] | frozenset[str] | None

    def is_carried(self, target: str) -> bool:
        """Return whether a target writes the field."""
        return self.carried is None or target in self.carried

    def name_in(self, target: str) -> str:
        """Return the name of the field in a target that copies its value, else an empty string."""
        return self.carried.get(target, "") if isinstance(self.carried, Mapping) else ""


def find_fields(document: Document, rubric: Rubric) -> Iterator[FormatField]:
    """Find every written field of a rubric, and those beside it, except values that equal their default."""
    view = rubric.view
    schema = rubric.schema

    def node(definition: str) -> _Node:
        return _Node({"$ref": f"{schema.contents['$id']}#/definitions/{definition}"}, registry().resolver())

    if view and view.around:  # the rubric is only some entries of the list
        for place in dict.fromkeys(view.place(entry.path) for entry in rubric.entries):
            yield from _walk(document.value(place), node("entry"), place)
    else:
        for field in _walk(document.value(rubric.path), node(schema.whole), rubric.path):
            is_read = view is None or not field.is_told or _is_read(view, field)
            yield field if is_read else field._replace(is_told=False, carried=frozenset())
    yield from find_beside(document, rubric)


def _is_read(view: View, field: FormatField) -> bool:
    """Return whether a text is in the view: PaperBench has parts that only hold others, for example."""
    return not isinstance(field.value, str) or field.value in {view.name, view.task} or view.reads(field.path)


def find_beside(document: Document, rubric: Rubric) -> Iterator[FormatField]:
    """Find the fields beside a rubric, in the evaluator or the metric that holds it."""
    holder = find_holder(rubric)
    if holder is None:
        return
    known: Mapping[str, Any] = load(_holder_schema(rubric))["x-beside-rubrics"]
    for name, value in document.value(holder).items():
        if (*holder, name) != rubric.path[: len(holder) + 1]:
            yield _field((*holder, name), value, known.get(name, {}))


def find_holder(rubric: Rubric) -> Path | None:
    """Return the path of the evaluator or metric that holds a rubric; None if the case itself holds it."""
    path = rubric.path
    if rubric.view and rubric.view.document.kind.is_program:
        return rubric.view.holder
    if rubric.view and rubric.view.around:
        return None
    if rubric.view and "x-beside-rubrics" in load(rubric.view.dialect.schema) and not _is_agentv(rubric):
        return path[:-1]
    lists = _lists_of_evaluators()
    ends = (end for end in range(len(path) - 1, 1, -1) if isinstance(path[end - 1], int) and path[end - 2] in lists)
    end = next(ends, 0)
    return path[:end] if end else None


def find_question(document: Document, rubric: Rubric) -> Any:
    """Return the question of the case that a rubric belongs to, or None if it has none."""
    path, lists = rubric.path, _lists_of_evaluators()
    if document.kind.is_program:
        return None
    items = (end for end in range(len(path) - 1, 0, -1) if isinstance(path[end - 1], int))
    end = next((end for end in items if end == 1 or path[end - 2] not in lists), 0)
    if not end and len(path) > 1:
        return None  # `defaults`, or evaluators of a whole suite
    case = document.value(path[:end])
    if not isinstance(case, dict):
        return None
    variables = case.get("vars")
    of_judge = {field.path for field in find_beside(document, rubric)}
    own = next((name for name in QUESTIONS if name in case and (*path[:end], name) not in of_judge), "")
    return case[own] if own else variables.get("input") if isinstance(variables, dict) else None


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
    """A schema, with the resolver for its references."""

    schema: Mapping[str, Any]
    resolver: Any

    def parts(self) -> Iterator["_Node"]:
        """Yield the schema and all schemas that it refers to."""
        yield self
        refers = [self.schema] if "$ref" in self.schema else []
        for each in [*refers, *self.schema.get("allOf", ())]:
            if "$ref" in each:
                found = self.resolver.lookup(each["$ref"])
                yield from _Node(found.contents, found.resolver).parts()

    def child(self, name: str) -> "_Node | None":
        """Return the schema of a field; None if the schema does not define it."""
        for part in self.parts():
            if name in part.schema.get("properties", {}):
                return _Node(part.schema["properties"][name], part.resolver)
            for pattern, schema in part.schema.get("patternProperties", {}).items():
                if re.search(pattern, name):
                    return _Node(schema, part.resolver)
        return None

    def rest(self, keyword: str) -> "_Node | None":
        """Return the schema of the items of a list, or of the values of a map."""
        for part in self.parts():
            if isinstance(part.schema.get(keyword), dict):
                return _Node(part.schema[keyword], part.resolver)
        return None


def _walk(value: Any, node: _Node, path: Path) -> Iterator[FormatField]:
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


def _field(path: Path, value: Any, schema: Mapping[str, Any]) -> FormatField:
    own = schema.get("x-reads-as", schema.get("x-replaced-by"))
    source = _format_fields()[own] if own else schema
    carried = source.get("x-carried-by", ())
    if isinstance(carried, str):
        return FormatField(path, value, bool(source.get("x-told-to-judge")), None)
    targets = carried if isinstance(carried, Mapping) else frozenset(carried)
    return FormatField(path, value, bool(source.get("x-told-to-judge")), targets)


@cache
def _format_fields() -> Mapping[str, Any]:
    return load(f"{CURRENT}/rubric.json")["definitions"]["entry"]["properties"]  # type: ignore[no-any-return]


def find_lost(rubric: Rubric, fields: Iterable[FormatField], target: str, title: str) -> Iterator[tuple[Path, str]]:
    """Find what a target does not write of a rubric, by the schemas: the places in the document, with messages.

    A template that another system fills in before a judge sees it is plain text in the target.
    """
    for field in fields:
        if not field.is_carried(target):
            told = ", which the judge sees" if field.is_told else ""
            yield field.path, f"`{field.path[-1]}`{told}: {title} has no field for it"
    if rubric.view and rubric.dialect in RENDERS:
        for entry in rubric.entries:
            place = rubric.view.place(entry.path)
            if is_template(rubric.view.document.value(place)):
                whose = rubric.view.dialect.title
                yield place, f"the template in `{entry.id}`, which {whose} fills in: {title} uses it as plain text"
    if formula := find_formula(rubric):
        yield formula, f"`{formula[-1]}`, which joins the scores of the graders: {title} has no field for it"


def find_formula(rubric: Rubric) -> Path | None:
    """Return the place of the formula that joins the score of a grader of OpenAI with those of others."""
    if rubric.dialect != "openai-graders" or "graders" not in rubric.path or not rubric.view:
        return None
    multi = rubric.path[: rubric.path.index("graders")]
    return (*multi, "calculate_output") if "calculate_output" in rubric.view.document.value(multi) else None


def find_comments(tree: Tree, within: Iterable[Span]) -> Iterator[Span]:
    """Find the comments of a file within the lines of some spans, except those that name a schema."""
    source = tree.source
    lines = {(source.position(start).line, source.position(end).line) for start, end in within}
    for comment in tree.comments:
        line = source.position(comment.start).line
        if "$schema" not in source.slice(comment) and any(first <= line <= last for first, last in lines):
            yield comment
