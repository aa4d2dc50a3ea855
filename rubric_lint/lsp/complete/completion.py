"""Complete fields, the URLs of schemas, and in files with rubric tests also values."""

import re
from collections.abc import Iterator

from lsprotocol import types

from rubric_lint.lsp.complete.candidates import list_urls
from rubric_lint.lsp.complete.offers import offer_by_schema
from rubric_lint.lsp.complete.proof import choose_best
from rubric_lint.lsp.complete.shapes import is_in_comment, offer_in_comment, offer_rubrics
from rubric_lint.lsp.places.rooted import is_settings_file
from rubric_lint.lsp.server.analysis import Analysis, State
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.source import Edit, Source, Span

_MODELINE = re.compile(
    r"""[ \t]*\#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]*["']?(?P<url>[^\s"']*)"""
)


def complete(
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
    if url := _find_modeline(source, offset):
        return [] if is_served else list(_offer_schemas(state, source, url))
    found = list(offer_by_schema(state, source, offset, snippets=snippets, is_served=is_served, before=before))
    return found if is_served else found + list(offer_rubrics(state, source, offset))


def _find_modeline(source: Source, offset: int) -> Span | None:
    line = source.line_span(source.position(offset).line)
    found = _MODELINE.match(source.text, line.start, line.end)
    is_there = (
        found and found.start("url") <= offset <= found.end("url") and is_in_comment(source, found.start("url") - 1)
    )
    return Span(*found.span("url")) if found and is_there else None


def _offer_schemas(state: State, source: Source, url: Span) -> Iterator[types.CompletionItem]:
    cards = dict(list_urls(state))
    for address in choose_best(source, url, cards, state.settings or FileSettings()):
        yield types.CompletionItem(
            label=address,
            kind=types.CompletionItemKind.Value,
            documentation=cards[address],
            text_edit=state.text.edit(Edit(url, address)),
        )
