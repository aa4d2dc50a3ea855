"""Find what a document links to: its schema, the rubric and outputs of its tests, and files that it names."""

import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from rubric_lint.assess.rubric_tests.reading import list_needed
from rubric_lint.editor.answers.cards import find_rubrics, read_reference
from rubric_lint.editor.answers.ids import inside_quotes
from rubric_lint.editor.server.analysis import Analysis
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.workspace import uri_of
from rubric_lint.formats.search.locate import find_claim, find_claim_span
from rubric_lint.lint.project.paths import is_file, make_absolute
from rubric_lint.lint.project.settings import NAMES
from rubric_lint.model.schema_files import catalogue
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part
from rubric_lint.source.source import Span

_MOST = 500  # paths to look for on the disk
_PATH = re.compile(
    r"(?<![\w.@/\\:-])(?:file://)?(?P<path>(?:\.{1,2}/|/)?[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z][A-Za-z0-9]{0,9})(?![\w/])"
)


_Link = tuple[Span, str, str]
"""A place, the address that it leads to, and the tooltip."""


def make_links(analysis: Analysis, roots: list[Path]) -> list[types.DocumentLink]:
    """Return the links of a document. A path is relative to the document, or to one of the folders `roots`."""
    state = analysis.state
    if state.settings is None or analysis.result is None:
        return []
    is_test, is_settings = state.settings.is_test_file, Path(state.name).name in NAMES[:1]
    if not (is_test or is_settings or analysis.result.rubrics):
        return []
    links: list[_Link] = []
    for document in analysis.documents:
        links += _link_schema(document)
    if is_test and analysis.documents:
        links += _link_needed(analysis, analysis.documents[0])
    linked = [span for span, *_ in links]
    known: dict[str, Path | None] = {}  # what looks like a path, and the file that is there
    for found in _PATH.finditer(analysis.source.text):
        path, place = found["path"], Span(*found.span("path"))
        if path not in known:
            if len(known) == _MOST:
                break
            candidates = (make_absolute(root / path) for root in (Path(state.name).parent, *roots))
            known[path] = next(filter(is_file, candidates), None)
        file = known[path]
        if file and not any(place.start < other.end and other.start < place.end for other in linked):
            links.append((place, uri_of(file), "Open the file"))
    return [
        types.DocumentLink(state.text.range(span), target=target, tooltip=tooltip)
        for span, target, tooltip in sorted(links)
    ]


async def answer_links(documents: OpenDocuments, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """Return the links of a document."""
    roots = [Path(folder.path) for folder in documents.workspace.folders if folder.path]
    return await documents.ask(params.text_document.uri, make_links, roots)


def _link_schema(document: Document) -> Iterator[_Link]:
    """Link the schema that a document names to the copy in the package, which needs no network."""
    claim, span = find_claim(document), find_claim_span(document)
    for entry in catalogue():
        if span and (entry.name, entry.version) == claim:
            yield (inside_quotes(document, span), uri_of(entry.path), "Open the JSON Schema")


def _link_needed(analysis: Analysis, document: Document) -> Iterator[_Link]:
    """Link the rubric and the recorded outputs that a file with tests names."""
    state = analysis.state
    reference = read_reference(state.name, document.data)
    if reference and is_file(reference[0]):
        path, name = reference
        target = uri_of(path)
        rubrics = [loaded for loaded in find_rubrics(state, path) if name and loaded.name == name]
        if rubrics:
            document_of_rubric = rubrics[0].document
            start = document_of_rubric.span(rubrics[0].rubric.path, Part.KEY).start
            target += f"#L{document_of_rubric.source.position(start).line}"
        yield (inside_quotes(document, document.span(("rubric",))), target, "Open the rubric")
    if isinstance(document.data, dict) and isinstance(document.data.get("outputs"), str):
        path = list_needed(state.name, document)[-1]
        if is_file(path):
            yield (inside_quotes(document, document.span(("outputs",))), uri_of(path), "Open the recorded outputs")
