"""Complete fields, the URLs of schemas, and in files with rubric tests also values."""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from lsprotocol import types

from rubric_lint.finding import Edit
from rubric_lint.format.bands import HIGHEST, LOWEST, SCORES, as_integer
from rubric_lint.format.criterion import SHAPE_FIELDS
from rubric_lint.format.schema_files import catalogue, load
from rubric_lint.lsp.analysis import Analysis, State
from rubric_lint.lsp.cards import word_field
from rubric_lint.lsp.cursor import Cursor, find_cursor
from rubric_lint.lsp.fields import FieldFacts, list_fields, needed_fields
from rubric_lint.lsp.offers import offer_by_schema
from rubric_lint.lsp.rooted import is_settings_file
from rubric_lint.lsp.shapes import offer_in_comment, offer_rubrics
from rubric_lint.lsp.test_values import offer_in_tests
from rubric_lint.text.kinds import Kind, kind_of
from rubric_lint.text.source import Source, Span

_SCHEMA_VALUE = re.compile(
    r"""(?:[ \t]*\#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]* | ["']?\$schema["']?:[ \t]+)
        ["']?(?P<url>[^\s"']*)""",
    re.VERBOSE,
)


def complete(  # noqa: PLR0911 (one for each kind of place)
    state: State,
    position: types.Position,
    *,
    snippets: bool,
    is_served: bool = False,
    before: Analysis | None = None,
) -> list[types.CompletionItem]:
    """Return the completions at a position.

    `snippets`: the editor supports snippets with placeholders. `is_served`: another server completes what our schemas
    say, so only what they cannot say is offered. `before` is the last readable state of the document.
    """
    source, offset = Source(state.name, state.text.body), state.text.offset(position)
    if is_settings_file(state.name) and (state.settings or state.obstacle):  # also while the settings are invalid
        return list(offer_by_schema(state, source, offset, snippets=snippets))
    if state.settings is None:
        return []
    if items := list(offer_in_comment(state, source, offset)):
        return items
    if is_served and not state.settings.is_test_file:
        return []
    if url := _find_schema_value(source, offset):
        return [] if is_served else list(_offer_schemas(state, url))
    cursor = find_cursor(source, state.settings, offset) if kind_of(source.name) is Kind.YAML else None
    fields = list(_offer_fields(state, cursor, snippets=snippets)) if cursor else []
    if state.settings.is_test_file and not fields:
        fields = list(offer_in_tests(state, cursor, source, offset, is_served=is_served))
        if fields or is_served:
            return fields
    if state.settings.is_test_file and fields:
        return [] if is_served else fields
    if is_served:
        return []
    found = list(offer_by_schema(state, source, offset, snippets=snippets, before=before)) or fields
    return found + list(offer_rubrics(state, source, offset))


def _find_schema_value(source: Source, offset: int) -> Span | None:
    line = source.line_span(source.position(offset).line)
    found = _SCHEMA_VALUE.match(source.text, line.start, line.end)
    return Span(*found.span("url")) if found and found.start("url") <= offset <= found.end("url") else None


def _offer_schemas(state: State, url: Span) -> Iterator[types.CompletionItem]:
    is_tests = state.settings is not None and state.settings.is_test_file
    names = ("rubric-test",) if is_tests else ("rubric", "suite")
    entries = [entry for entry in catalogue() if entry.name in names]
    for entry in sorted(entries, key=lambda entry: (entry.name, -int(entry.version[1:]))):
        yield types.CompletionItem(
            label=entry.bundled_id,
            kind=types.CompletionItemKind.Value,
            documentation=str(load(entry.source)["description"]),
            text_edit=state.text.edit(Edit(url, entry.bundled_id)),
        )


def _offer_fields(state: State, cursor: Cursor, *, snippets: bool) -> Iterator[types.CompletionItem]:
    fields = [field for field in _list(cursor) if _fits(cursor, field)]
    if snippets and not cursor.has_value and not cursor.mapping and cursor.steps and "score_ranges" in cursor.steps:
        yield _offer_band(state, cursor, fields)
    for number, field in enumerate(fields):
        text = field.name if cursor.has_value else field.name + _Filler(cursor, snippets=snippets).fill(field)
        yield types.CompletionItem(
            label=field.name,
            kind=types.CompletionItemKind.Property,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, word_field(field)),
            sort_text=f"{number:02}",
            text_edit=state.text.edit(Edit(cursor.word, text)),
            insert_text_format=types.InsertTextFormat.Snippet if snippets else types.InsertTextFormat.PlainText,
        )


def _list(cursor: Cursor) -> list[FieldFacts]:
    if cursor.steps is not None:
        return list_fields(cursor.schema, cursor.steps)
    properties = cursor.schema.contents["properties"]
    return [FieldFacts(name, {"type": "string", "description": "", **schema}) for name, schema in properties.items()]


def _fits(cursor: Cursor, field: FieldFacts) -> bool:
    """Return whether a field is allowed next to the existing ones."""
    if field.is_deprecated or field.name in cursor.mapping:
        return False
    if cursor.steps is None or len(cursor.steps) != 1 or not cursor.schema.version:
        return True
    if field.name in SHAPE_FIELDS and not SHAPE_FIELDS.keys().isdisjoint(cursor.mapping):
        return False
    schema = cursor.schema
    return field.name in schema.fields_of_shape(frozenset(schema.entry_fields.keys() & cursor.mapping.keys()))


def _offer_band(state: State, cursor: Cursor, fields: list[FieldFacts]) -> types.CompletionItem:
    """Return a completion for a whole band that starts where the others end."""
    filler = _Filler(cursor, snippets=True)
    text = filler.join(field.name + filler.fill(field) for field in fields)
    return types.CompletionItem(
        label="band",
        kind=types.CompletionItemKind.Snippet,
        detail=" and ".join(field.name for field in fields),
        sort_text="00",
        text_edit=state.text.edit(Edit(cursor.word, text)),
        insert_text_format=types.InsertTextFormat.Snippet,
    )


class _Filler:
    """A writer of the text after a field name, with numbered stops if the editor supports snippets."""

    def __init__(self, cursor: Cursor, *, snippets: bool) -> None:
        self._cursor = cursor
        self._snippets = snippets
        self._stops = count(1)
        # Editors indent further lines like the line of the cursor, where the key may follow dashes.
        self._margin = " " * (cursor.column - cursor.indent)

    def join(self, fields: Iterable[str], margin: str = "") -> str:
        """Write fields one per line, or on one line in braces."""
        return (", " if self._cursor.is_flow else f"\n{self._margin}{margin}").join(fields)

    def fill(self, field: FieldFacts) -> str:
        """Write a colon and the value that the schema suggests."""
        types = field.schema.get("type")
        if types == "object":
            return ":"
        if "items" not in field.schema or (isinstance(types, list) and "object" not in types):
            return f": {self._stop(_suggest(field))}"
        if field.schema.get("maxItems") == 2:
            lowest = _next_score(self._cursor.siblings)
            return f": [{self._stop(lowest)}, {self._stop(HIGHEST)}]"
        if not self._snippets:
            return ":"
        inner = [
            needed.name + self.fill(needed)
            for needed in needed_fields(self._cursor.schema, (*(self._cursor.steps or ()), field.name, 0))
        ]
        if self._cursor.is_flow:
            return f": [{{{', '.join(inner)}}}]"
        return f":\n{self._margin}  - " + self.join(inner, "    ")

    def _stop(self, default: object) -> str:
        if not self._snippets:
            return str(default)
        return f"${{{next(self._stops)}:{default}}}" if default != "" else f"${next(self._stops)}"


def _suggest(field: FieldFacts) -> object:
    """Return the scalar that the schema suggests for a field: its only snippet, or its default."""
    bodies = [snippet["body"] for snippet in field.schema.get("x-snippets", ())]
    return bodies[0] if len(bodies) == 1 else field.schema.get("default", "")


def _next_score(bands: list[Any]) -> int:
    """Return the first score after the existing bands."""
    ranges = [band.get("score_range") for band in bands if isinstance(band, dict)]
    ends = [as_integer(bounds[1]) for bounds in ranges if isinstance(bounds, list) and len(bounds) == 2]
    last = max((end for end in ends if end is not None), default=LOWEST - 1)
    return last + 1 if last + 1 in SCORES else LOWEST
