"""Complete fields, the URLs of schemas, and in files with rubric tests also values."""

import re
from collections.abc import Iterator

from lsprotocol import types

from rubric_lint.finding import Edit
from rubric_lint.format.schema_files import catalogue, load
from rubric_lint.lsp.analysis import Analysis, State
from rubric_lint.lsp.cursor import find_cursor
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
    if state.settings.is_test_file:
        cursor = find_cursor(source, state.settings, offset) if kind_of(source.name) is Kind.YAML else None
        if items := list(offer_in_tests(state, cursor, source, offset, is_served=is_served)):
            return items
    if is_served:
        return []
    found = list(offer_by_schema(state, source, offset, snippets=snippets, before=before))
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
