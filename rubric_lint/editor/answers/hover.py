"""Describe the finding, the field and the criterion under the cursor."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from lsprotocol import types

from rubric_lint.editor.answers.cards import (
    format_criterion,
    format_group,
    format_rubric,
    list_criteria,
    names_criteria,
)
from rubric_lint.editor.answers.scores import describe_effects
from rubric_lint.editor.server.analysis import Analysis
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.lint.project.settings import NAMES
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.model.criterion import SHAPE_FIELDS, Shape
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import find_below, resolve, schema_of
from rubric_lint.model.suggest import suggest
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Span

_SETTINGS = "config/v1.json"
_TABLE = ("tool", "rubric-lint")
_RULE = {"$ref": "#/definitions/rule"}
_TYPES = {"array": "list", "object": "mapping"}


def make_hover(analysis: Analysis, offset: int, *, effects: bool = True) -> types.Hover | None:
    """Return the hover text: the finding's rule, the field and the criterion at an offset; None without any.

    With `effects`, it also says what an answer in a band does to the score and the verdict.
    """
    cards: list[str] = []
    spans: list[Span] = []
    for finding in analysis.find_at(Span(offset, offset)):
        rule = BY_NAME[finding.rule]
        why = [found["text"].strip() for found in _WHY.finditer(rule.page)][:1]
        more = f"`{suggest('explain', rule.name)}` shows examples."
        cards.append("\n\n".join([f"**{rule.name}**: {rule.summary}", *why, more]))
        spans.append(finding.span)
    located = analysis.locate(offset)
    if located:
        for span, card in _describe(analysis, *located, offset, effects=effects):
            cards.append(card)
            spans.append(span)
    if not cards:
        return None
    whole = Span(max(span.start for span in spans), min(span.end for span in spans))
    text = analysis.state.text
    extent = text.range(whole) if whole.start <= offset <= whole.end else None
    return types.Hover(
        types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(dict.fromkeys(cards))),
        extent,
    )


async def answer_hover(documents: OpenDocuments, params: types.HoverParams) -> types.Hover | None:
    """Return the hover text at a position."""
    effects = (await documents.options_for(params.text_document.uri)).score_hover

    def make(analysis: Analysis) -> types.Hover | None:
        return make_hover(analysis, analysis.state.text.offset(params.position), effects=effects)

    return await documents.ask(params.text_document.uri, make)


_WHY = re.compile(r"^## Why\n+(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def _describe(
    analysis: Analysis, document: Document, path: Path, offset: int, *, effects: bool
) -> Iterator[tuple[Span, str]]:
    """Yield the cards of what is at a path, and their places: of settings, of a rubric test, or of a rubric."""
    settings, name = analysis.state.settings, PurePath(analysis.state.name).name
    start, end = document.span(path, Part.KEY)
    is_key = isinstance(path[-1], str) and start <= offset <= end
    if name in NAMES:
        table = _TABLE if name == NAMES[1] else ()
        is_ours = path[: len(table)] == table and len(path) > len(table)
        word = path[-1] if is_key else document.value(path)
        card = _format_setting(path[len(table) :], word, is_key=is_key) if is_ours else ""
        if card:
            part = Part.KEY if is_key else Part.VALUE
            yield document.span(path, part), card
    elif settings and settings.is_test_file:
        card = _format_field(str(path[-1]), schema_of_tests().find(path)) if is_key else ""
        if card:
            yield document.span(path, Part.KEY), card
            if names_criteria(path[:-1]):
                for criterion in list_criteria(analysis.state, document.data):
                    if criterion.id == path[-1]:
                        yield document.span(path, Part.KEY), criterion.card
    else:
        yield from _describe_in_suite(analysis, document, path, offset, is_key=is_key, effects=effects)


def _describe_in_suite(
    analysis: Analysis, document: Document, path: Path, offset: int, *, is_key: bool, effects: bool
) -> Iterator[tuple[Span, str]]:
    """Yield the cards of what is at a path of a document with rubrics, and their places."""
    rubrics = [located for located in analysis.rubrics if located.document is document]
    around = [located for located in rubrics if path[: len(located.rubric.path)] == located.rubric.path]
    # A rubric may be in a list that is a rubric itself.
    located = max(around, key=lambda located: len(located.rubric.path), default=None)
    if located is None:
        within = [located.rubric for located in rubrics if located.rubric.path[: len(path)] == path]
        if is_key and within:
            yield from _describe_part(document, path, within[0])
        return
    rubric = located.rubric
    steps = path[len(rubric.path) :]
    if not steps and rubric.entries and is_key:
        yield document.span(path, Part.KEY), format_rubric(rubric)
    for entry in rubric.entries:
        head = _find_head(document, rubric.place(entry.path), path, offset, is_key=is_key)
        if head:
            is_holistic = rubric.shape is Shape.HOLISTIC
            own_card = format_rubric(rubric) if is_holistic else format_criterion(rubric, entry)
            yield head, own_card
    for group in rubric.groups:
        head = _find_head(document, group.path, path, offset, is_key=is_key)
        if head:
            yield head, format_group(group)
    # Without steps, of the field that contains the rubric.
    card = _format_field(str(path[-1]), rubric.schema.find(steps)) if is_key else ""
    if card:
        yield document.span(path, Part.KEY), card
    if effects:
        yield from describe_effects(analysis, located, path)


def _describe_part(document: Document, path: Path, rubric: Rubric) -> Iterator[tuple[Span, str]]:
    """Yield the card of the field of a suite that leads to a rubric, if its schema describes it."""
    view = rubric.view
    source = view.dialect.schema if view and rubric.dialect else f"{rubric.version}/suite.json"
    joined = schema_of(source).joined
    field = joined["definitions"].get("part", {}).get("properties", {}).get(str(path[-1]), {})
    card = _format_field(str(path[-1]), {"description": resolve(joined, field).get("description", "")})
    if card:
        yield document.span(path, Part.KEY), card


def _format_setting(steps: Path, word: Any, *, is_key: bool) -> str:
    """Return the card of a rule that the settings name, or of a setting; empty for other values."""
    joined = schema_of(_SETTINGS).joined
    around = find_below(joined, joined, steps[:-1])
    place = "propertyNames" if is_key else "items"
    if isinstance(word, str) and word in BY_NAME and around.get(place) == _RULE:
        return f"**{word}**: {BY_NAME[word].summary}"
    return _format_field(str(word), find_below(joined, joined, steps)) if is_key else ""


def _format_field(name: str, schema: Mapping[str, Any]) -> str:
    """Return the values that a field takes, each fact in a few words, and its meaning, in Markdown."""
    if not schema.get("description"):
        return ""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    facts = [schema.get("x-expected") or " or ".join(_TYPES.get(kind, kind) for kind in kinds)]
    if "default" in schema:
        facts.append(f"default {schema['default']}")
    if "minimum" in schema and "x-expected" not in schema:
        facts.append(f"at least {schema['minimum']}")
    if "x-replaced-by" in schema:
        facts.append(f"deprecated, replaced by `{schema['x-replaced-by']}`")
    listed = "; ".join(filter(None, facts))
    head = f"**`{name}`**: {listed}" if listed else f"**`{name}`**"
    return f"{head}\n\n{schema['description']}"


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
