"""Describe the finding, the field and the criterion under the cursor."""

import re
from collections.abc import Iterator

from lsprotocol import types

from rubric_lint.finding import Finding
from rubric_lint.format.criterion import SHAPE_FIELDS, Shape
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.answers.scores import describe_effects
from rubric_lint.lsp.places.cards import list_criteria, names_criteria, word_criterion, word_field, word_rubric
from rubric_lint.lsp.places.rooted import SETTINGS, find_roots, is_settings_file, list_rule_names
from rubric_lint.lsp.places.schema_walk import find_field, find_subschemas, find_suite_field, list_fields_at
from rubric_lint.lsp.places.slots import follow
from rubric_lint.lsp.server.analysis import Analysis, Located, is_on_key
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
        cards.append(explain(finding))
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


def explain(finding: Finding) -> str:
    """Return the explanation of a rule from its page."""
    rule = BY_NAME[finding.rule]
    why = _WHY.search(rule.page)
    paragraphs = [f"**{rule.name}**: {rule.summary}"]
    if why:
        paragraphs.append(why["text"].strip())
    paragraphs.append(f"`rubric-lint --explain {rule.name}` shows examples.")
    return "\n\n".join(paragraphs)


def _describe_setting(document: Document, path: Path, name: str, *, is_key: bool) -> str:
    """Return the card of a setting or of a rule that it names; an empty string for anything else."""
    roots = find_roots(document, FileSettings(), path[:-1], name)
    if not roots:
        return ""
    if (word := path[-1] if is_key else document.value(path)) in list_rule_names(roots[0], path, is_key=is_key):
        return f"**{word}**: {BY_NAME[str(word)].summary}"
    holder = follow(document.data, path[:-1])
    subschemas = find_subschemas(SETTINGS, "", follow(document.data, roots[0].path), path[len(roots[0].path) : -1])
    field = list_fields_at(subschemas, holder).get(str(path[-1]))
    return word_field(field) if field and is_key else ""


def _describe(
    analysis: Analysis, document: Document, path: Path, offset: int, *, effects: bool
) -> Iterator[tuple[Span, str]]:
    is_key = is_on_key(document, path, offset)
    if is_settings_file(analysis.state.name):
        if card := _describe_setting(document, path, analysis.state.name, is_key=is_key):
            yield document.span(path, Part.KEY if is_key else Part.VALUE), card
    elif analysis.state.settings and analysis.state.settings.is_test_file:
        if is_key and (field := find_field(schema_of_tests(), path, str(path[-1]))):
            yield document.span(path, Part.KEY), word_field(field)
            if names_criteria(path[:-1]):
                cards = (each.card for each in list_criteria(analysis.state, document.data) if each.id == path[-1])
                yield from ((document.span(path, Part.KEY), card) for card in cards)
    else:
        yield from _describe_in_suite(analysis, document, path, offset, effects=effects)


def _describe_in_suite(
    analysis: Analysis, document: Document, path: Path, offset: int, *, effects: bool
) -> Iterator[tuple[Span, str]]:
    located = _find_rubric(analysis, document, path)
    if located is None:
        yield from _describe_suite_field(analysis, document, path, offset)
        return
    rubric = located.rubric
    steps = path[len(rubric.path) :]
    if not steps and rubric.entries and is_on_key(document, path, offset):
        yield document.span(path, Part.KEY), word_rubric(rubric)
    for criterion in rubric.entries:
        if span := _find_head(document, located.place(criterion.path), path, offset):
            yield span, word_rubric(rubric) if rubric.shape is Shape.HOLISTIC else word_criterion(rubric, criterion)
    if is_on_key(document, path, offset) and (field := find_field(located.rubric.schema, steps, str(path[-1]))):
        yield document.span(path, Part.KEY), word_field(field)
    if effects:
        yield from describe_effects(analysis, located, path)


def _find_rubric(analysis: Analysis, document: Document, path: Path) -> Located | None:
    """Return the innermost rubric around a place; a rubric may be in a list that is a rubric itself."""
    around = [
        located
        for located in analysis.rubrics
        if located.document is document and path[: len(located.rubric.path)] == located.rubric.path
    ]
    return max(around, key=lambda located: len(located.rubric.path), default=None)


def _describe_suite_field(
    analysis: Analysis, document: Document, path: Path, offset: int
) -> Iterator[tuple[Span, str]]:
    """Yield the card of a suite field that leads to rubrics."""
    inside = [each for each in analysis.rubrics if each.document is document and each.rubric.path[: len(path)] == path]
    if not inside or not is_on_key(document, path, offset):
        return
    rubric = inside[0].rubric
    source = rubric.view.dialect.schema if rubric.view else f"{rubric.version}/suite.json"
    if field := find_suite_field(source, str(path[-1])):
        yield document.span(path, Part.KEY), word_field(field)


def _find_head(document: Document, criterion: Path, path: Path, offset: int) -> Span | None:
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
    return document.span(path, Part.KEY) if is_head and is_on_key(document, path, offset) else None
