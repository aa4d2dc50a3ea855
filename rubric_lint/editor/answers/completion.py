"""Complete what no schema can say: ids of criteria in rubric tests, and names of rules in ignore comments."""

import json
import re
from collections.abc import Iterator, Mapping

from lsprotocol import types

from rubric_lint.editor.answers.cards import TestedCriterion, list_criteria, names_criteria
from rubric_lint.editor.server.analysis import State
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.scalar import write_scalar
from rubric_lint.source.source import Edit, Source, Span, kind_of

_RULES = re.compile(
    r"#\s*rubric-lint:\s*(?:ignore-file|ignore)\s*\[(?P<before>[^\]#]*,\s*|\s*)(?P<word>[\w-]*)\Z", re.IGNORECASE
)
_KIND = re.compile(r"#\s*rubric-lint:\s*(?P<word>[\w-]*)\Z", re.IGNORECASE)
_KINDS = {
    "ignore": "Silence rules for what is on this line or the next.",
    "ignore-file": "Silence rules in this file.",
}
_REST = re.compile(r"[\w-]*")

_STAND_IN = "rubric-lint-cursor"
_BEFORE = re.compile(r"""(?P<quote>["']?)[^\s"'\[\]{},:#]*\Z""")
_AFTER = re.compile(r"""[^\s"'\[\]{},:#]*(?P<quote>["']?)""")
_COLON = re.compile(r"[ \t]*:")


def complete(state: State, position: types.Position) -> list[types.CompletionItem]:
    """Return the completions at a position."""
    if state.settings is None:
        return []
    source, offset = Source(state.name, state.text.body), state.text.offset(position)
    items = list(_offer_in_comment(state, source, offset))
    if not items and state.settings.is_test_file:
        items = list(_offer_ids(state, source, offset))
    return items


async def answer_completion(
    documents: OpenDocuments, params: types.CompletionParams
) -> list[types.CompletionItem] | None:
    """Return the completions at a position."""
    state = await documents.state(params.text_document.uri)
    return await documents.run(complete, state, params.position) or None if state else None


def _offer_in_comment(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield what an ignore comment may hold at an offset: its kind, or the names of the rules that it lacks."""
    if kind_of(source.name).is_json:
        return
    line = source.line_span(source.position(offset).line)
    start = source.text.find("#", line.start, offset)
    if start < 0:
        return
    before, rest = source.text[start:offset], _REST.match(source.text, offset, line.end)
    end = rest.end() if rest else offset
    rules, kind = _RULES.search(before), _KIND.search(before)
    found = rules or kind
    if found is None or not _is_in_comment(source, start + found.start()):
        return
    cards: Mapping[str, str] = _KINDS
    if rules:
        closing = source.text.find("]", end, line.end)
        if closing < 0:
            closing = end
        others = source.text[end:closing]
        there = {*re.findall(r"[\w-]+", rules["before"]), *re.findall(r"[\w-]+", others)}
        cards = {name: BY_NAME[name].summary for name in sorted(BY_NAME.keys() - there)}
    for name, card in cards.items():
        yield types.CompletionItem(
            label=name,
            kind=types.CompletionItemKind.EnumMember,
            documentation=card,
            text_edit=state.text.edit(Edit(Span(start + found.start("word"), end), name)),
        )


def _is_in_comment(source: Source, offset: int) -> bool:
    """Return whether an offset is in a comment, and not in a string; a text that cannot be read is not asked."""
    documents, _ = read_documents(source)
    return not documents or any(start <= offset < end for start, end in documents[0].tree.comments)


def _offer_ids(state: State, source: Source, offset: int) -> Iterator[types.CompletionItem]:
    """Yield the ids of the tested criteria where a test names one: as a key of its expectations, or in its output."""
    line = source.line_span(source.position(offset).line)
    before = _BEFORE.search(source.text, line.start, offset)
    after = _AFTER.match(source.text, offset, line.end)
    if before is None or after is None:
        return
    is_quoted = before["quote"] == after["quote"]
    word = Span(before.start(), after.end()) if is_quoted else Span(before.end("quote"), after.start("quote"))
    stand_in = json.dumps(_STAND_IN) if kind_of(source.name).is_json else _STAND_IN
    has_colon = _COLON.match(source.text, word.end, line.end) is not None
    # In a list and in braces, both a value and a key can be typed.
    entries = [stand_in] if has_colon else [stand_in, f"{stand_in}: null"]
    for written in entries:
        text = source.text[: word.start] + written + source.text[word.end :]
        for document in read_documents(Source(source.name, text))[0][:1]:
            for path in document.extents:
                for criterion in _list_fitting(state, document, path):
                    colon = ": " if path[-1] == _STAND_IN and not has_colon else ""
                    yield _make_id(state, word, criterion, colon)


def _list_fitting(state: State, document: Document, path: Path) -> list[TestedCriterion]:
    """Return the criteria whose id may stand at a path of a test file, if the stand-in is there."""
    if path[-1] == _STAND_IN and names_criteria(path[:-1]):
        there = document.value(path[:-1])
        criteria = list_criteria(state, document.data)
        return [criterion for criterion in criteria if criterion.id not in there and criterion.fits(str(path[-2]))]
    is_in_output = path[:1] == ("tests",) and path[2:4] == ("output", "checks") and path[-1] == "id"
    if is_in_output and document.value(path) == _STAND_IN:
        return [criterion for criterion in list_criteria(state, document.data) if not criterion.is_group]
    return []


def _make_id(state: State, word: Span, criterion: TestedCriterion, colon: str) -> types.CompletionItem:
    is_json = kind_of(state.name).is_json
    written = json.dumps(criterion.id, ensure_ascii=False) if is_json else write_scalar(criterion.id)
    quote = state.text.body[word.start : min(word.start + 1, word.end)]
    is_quoted = quote in ('"', "'")  # an editor compares what is typed with the quotes that are a part of it
    filter_text = f"{quote}{criterion.id}{quote}" if is_quoted else None
    return types.CompletionItem(
        label=criterion.id,
        kind=types.CompletionItemKind.Reference,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, criterion.card),
        filter_text=filter_text,
        text_edit=state.text.edit(Edit(word, written + colon)),
    )
