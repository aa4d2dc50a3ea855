"""Offer whole rubrics in an empty file, whole criteria in a list, and the names of rules in ignore comments."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lsprotocol import types

from rubric_lint.format.starter import RUBRICS
from rubric_lint.lsp.places.slots import Slot
from rubric_lint.lsp.server.analysis import State
from rubric_lint.rules import BY_NAME
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Kind, Source, Span, kind_of

_LIST = r"#\s*rubric-lint:\s*(?:ignore-file|ignore)\s*\[(?P<before>[^\]#]*,\s*|\s*)(?P<word>[\w-]*)\Z"
_KIND = r"#\s*rubric-lint:\s*(?P<word>[\w-]*)\Z"
_REST = re.compile(r"[\w-]*")
_COMMENTS = {
    "ignore": "Silence rules for what is on this line or the next.",
    "ignore-file": "Silence rules in this file.",
}


def offer_in_comment(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield what an ignore comment may hold at an offset: its kind, or the names of the rules that it lacks."""
    if kind_of(source.name).is_json:
        return
    line = source.line_span(source.position(offset).line)
    at = source.text.find("#", line.start, offset)
    if at < 0:
        return
    before, rest = source.text[at:offset], _REST.match(source.text, offset, line.end)
    end = rest.end() if rest else offset
    found = re.search(_LIST, before, re.IGNORECASE) or re.search(_KIND, before, re.IGNORECASE)
    if found is None or not is_in_comment(source, at + found.start()):
        return
    if "before" in found.re.groupindex:
        closing = source.text.find("]", end, line.end)
        others = source.text[end : closing if closing >= 0 else end]
        there = {*re.findall(r"[\w-]+", found["before"]), *re.findall(r"[\w-]+", others)}
        for name in sorted(BY_NAME.keys() - there):
            yield _make_item(state, Span(at + found.start("word"), end), name, BY_NAME[name].summary)
    else:
        for kind, card in _COMMENTS.items():
            yield _make_item(state, Span(at + found.start("word"), end), kind, card)


def is_in_comment(source: Source, offset: int) -> bool:
    """Return whether an offset is in a comment, and not in a string; a text that cannot be read is not asked."""
    documents, _ = read_documents(source)
    return not documents or any(start <= offset < end for start, end in documents[0].tree.comments)


def _make_item(state: State, span: Span, label: str, card: str) -> types.CompletionItem:
    return types.CompletionItem(
        label=label,
        kind=types.CompletionItemKind.EnumMember,
        documentation=card,
        text_edit=state.text.edit(Edit(span, label)),
    )


def offer_rubrics(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield a whole rubric of each shape, in a rubric file with nothing but comments."""
    settings, kind = state.settings, kind_of(source.name)
    is_empty = all(not line.strip() or line.lstrip()[0] == "#" for line in source.text.splitlines())
    start = source.line_span(source.position(offset).line).start
    if settings and settings.is_rubric_file and is_empty and kind in (Kind.YAML, Kind.JSON) and start == offset:
        for number, (shape, written) in enumerate(RUBRICS.items()):
            text = written if kind is Kind.YAML else _write_json(written)
            yield types.CompletionItem(
                label=f"rubric: {shape}",
                kind=types.CompletionItemKind.Snippet,
                detail="a whole rubric to start from",
                documentation=types.MarkupContent(types.MarkupKind.Markdown, f"```{kind.lower()}\n{text}```"),
                sort_text=f"~{number}",
                text_edit=state.text.edit(Edit(Span(offset, offset), text)),
                insert_text_format=types.InsertTextFormat.PlainText,
            )


def _write_json(text: str) -> str:
    """Write YAML as JSON, without its comments."""
    (document,) = read_documents(Source("", text))[0]
    return json.dumps(document.data, ensure_ascii=False, indent=2) + "\n"


def list_bodies(spots: list[Any], slot: Slot) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the whole mappings that the schema suggests for an empty one: label, description and fields."""
    if slot.mapping or slot.is_before_value:
        return
    known = set()
    for spot in spots:
        for snippet in spot.node.get("x-snippets", ()):
            if isinstance(snippet["body"], dict) and snippet["label"] not in known:
                known.add(snippet["label"])
                yield snippet["label"], snippet.get("description", ""), snippet["body"]
