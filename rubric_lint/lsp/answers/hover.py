"""Describe the finding, the field and the criterion under the cursor."""

import re
from collections.abc import Iterator

from lsprotocol import types

from rubric_lint.format.criterion import SHAPE_FIELDS, Shape
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.answers.scores import describe_effects
from rubric_lint.lsp.complete.cards import list_criteria, names_criteria, word_criterion, word_rubric
from rubric_lint.lsp.complete.schemas import (
    SETTINGS,
    find_field,
    find_roots,
    find_subschemas,
    find_suite_field,
    is_settings_file,
    list_fields_at,
    list_rule_names,
)
from rubric_lint.lsp.complete.slots import follow
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.lsp.server.documents import OpenDocuments
from rubric_lint.project.settings import FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span


def make_hover(analysis: Analysis, offset: int, *, effects: bool = True) -> types.Hover | None:
    """Return the hover text: the finding's rule, the field and the criterion at an offset; None without any.

    With `effects`, it also says what an answer in a band does to the score and the verdict.
    """
    cards: list[str] = []
    spans: list[Span] = []
    for finding in analysis.find_at(Span(offset, offset)):
        rule = BY_NAME[finding.rule]
        why = [found["text"].strip() for found in _WHY.finditer(rule.page)][:1]
        more = f"`rubric-lint --explain {rule.name}` shows examples."
        cards.append("\n\n".join([f"**{rule.name}**: {rule.summary}", *why, more]))
        spans.append(finding.span)
    if found := analysis.locate(offset):
        for span, card in _describe(analysis, *found, offset, effects=effects):
            cards.append(card)
            spans.append(span)
    if not cards:
        return None
    whole = Span(max(span.start for span in spans), min(span.end for span in spans))
    text = analysis.state.text
    return types.Hover(
        types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(dict.fromkeys(cards))),
        text.range(whole) if whole.start <= offset <= whole.end else None,
    )


async def answer_hover(documents: OpenDocuments, params: types.HoverParams) -> types.Hover | None:
    """Return the hover text at a position."""
    if (found := await documents.analysis(params.text_document.uri)) is None:
        return None
    effects = (await documents.options_for(params.text_document.uri)).score_hover
    offset = found.state.text.offset(params.position)
    return await documents.run(lambda: make_hover(found, offset, effects=effects))


_WHY = re.compile(r"^## Why\n+(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def _describe(
    analysis: Analysis, document: Document, path: Path, offset: int, *, effects: bool
) -> Iterator[tuple[Span, str]]:
    settings, name = analysis.state.settings, analysis.state.name
    start, end = document.span(path, Part.KEY)
    is_key = isinstance(path[-1], str) and start <= offset <= end
    if is_settings_file(name):
        for root in find_roots(document, FileSettings(), path[:-1], name)[:1]:
            card = ""
            if (word := path[-1] if is_key else document.value(path)) in list_rule_names(root, path, is_key=is_key):
                card = f"**{word}**: {BY_NAME[str(word)].summary}"
            elif is_key:
                data = follow(document.data, root.path)
                subschemas = find_subschemas(SETTINGS, "", data, path[len(root.path) : -1])
                field = list_fields_at(subschemas, follow(document.data, path[:-1])).get(str(path[-1]))
                card = field.card if field else ""
            if card:
                yield document.span(path, Part.KEY if is_key else Part.VALUE), card
    elif settings and settings.is_test_file:
        if is_key and (field := find_field(schema_of_tests(), path, str(path[-1]))):
            yield document.span(path, Part.KEY), field.card
            if names_criteria(path[:-1]):
                cards = (each.card for each in list_criteria(analysis.state, document.data) if each.id == path[-1])
                yield from ((document.span(path, Part.KEY), card) for card in cards)
    else:
        yield from _describe_in_suite(analysis, document, path, offset, is_key=is_key, effects=effects)


def _describe_in_suite(
    analysis: Analysis, document: Document, path: Path, offset: int, *, is_key: bool, effects: bool
) -> Iterator[tuple[Span, str]]:
    mine = [each for each in analysis.rubrics if each.document is document]
    around = [each for each in mine if path[: len(each.rubric.path)] == each.rubric.path]
    # A rubric may be in a list that is a rubric itself.
    located = max(around, key=lambda each: len(each.rubric.path), default=None)
    if located is None:  # perhaps a field of the suite that leads to rubrics
        for each in [each for each in mine if each.rubric.path[: len(path)] == path][: int(is_key)]:
            view = each.rubric.view
            source = view.dialect.schema if view else f"{each.rubric.version}/suite.json"
            if field := find_suite_field(source, str(path[-1])):
                yield document.span(path, Part.KEY), field.card
        return
    rubric = located.rubric
    steps = path[len(rubric.path) :]
    if not steps and rubric.entries and is_key:
        yield document.span(path, Part.KEY), word_rubric(rubric)
    for criterion in rubric.entries:
        if span := _find_head(document, located.place(criterion.path), path, offset, is_key=is_key):
            yield span, word_rubric(rubric) if rubric.shape is Shape.HOLISTIC else word_criterion(rubric, criterion)
    if is_key and (field := find_field(rubric.schema, steps, str(path[-1]))):
        yield document.span(path, Part.KEY), field.card
    if effects:
        yield from describe_effects(analysis, located, path)


def _find_head(document: Document, criterion: Path, path: Path, offset: int, *, is_key: bool) -> Span | None:
    """Return the id, first key, scale or text that represents the criterion, if the offset is on it."""
    if path == criterion:
        span = document.span(path, Part.ENTRY)
        return span if span.start <= offset <= span.end else None
    if path[:-1] != criterion:
        return None
    if path[-1] == "id":
        return document.span(path)
    head = document.span(criterion, Part.HEAD)
    is_head = head.start <= offset <= head.end or path[-1] in SHAPE_FIELDS
    return document.span(path, Part.KEY) if is_head and is_key else None
