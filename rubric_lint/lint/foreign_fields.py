"""Check what other systems read around a rubric, and find misspelt fields that they drop without a word."""

from collections.abc import Iterator

from rubric_lint.finding import Problem
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import RubricSchema, schema_of
from rubric_lint.format.schema_problems import find_in
from rubric_lint.format.view import View
from rubric_lint.messages import find_near, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path


def find_around(document: Document, rubric: Rubric, view: View) -> Iterator[tuple[str, Problem]]:
    """Find what is wrong in the mapping that holds a rubric, and the misspelt fields there and in the criteria."""
    for place in dict.fromkeys(view.place(entry.path) for entry in rubric.entries):
        yield from _find_misspelt(rubric.schema, "entry", document, place, view)
    if not (reference := view.beside or view.dialect.beside):
        return
    schema, path = schema_of(reference), view.path[:-1] if view.beside_at is None else view.beside_at
    yield from find_in(schema, schema.whole, document, path, document.value(path))
    yield from _find_misspelt(schema, schema.whole, document, path, view)


def _find_misspelt(
    schema: RubricSchema, definition: str, document: Document, path: Path, view: View
) -> Iterator[tuple[str, Problem]]:
    """Find the fields of a mapping that are unknown, but like a known one; where unknown ones are errors, none."""
    value = document.value(path)
    if not isinstance(value, dict) or schema.definitions.get(definition, {}).get("additionalProperties") is False:
        return
    known = schema.fields_of(definition)
    for name in value:
        near = [] if name in known else find_near(name, known)
        if near and near[0] not in value:
            values = {"field": shorten(name), "system": view.dialect.title, "near": near[0]}
            yield "unknown-field", Problem("ignored", (*path, name), Part.KEY, values)
