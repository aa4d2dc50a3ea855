"""Text to documents, by the parser that the name of the file asks for."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from rubric_lint.build import Builder
from rubric_lint.document import Document
from rubric_lint.events import SyntaxFaultError, open_json, take_events
from rubric_lint.skim import CloserLookError, SkimmedDocument, skim
from rubric_lint.source import Source

_JSON = (".json", ".jsonl")
AnyDocument = TypeVar("AnyDocument", bound=Document)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Nothing is garbage until a text is all read; looking for some in between costs several times the reading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def skim_documents(source: Source) -> list[SkimmedDocument]:
    """All documents of a YAML file, without their places.

    Raises:
        CloserLookError: when that is not enough to tell what they hold.
    """
    if source.name.lower().endswith(_JSON):
        raise CloserLookError
    with _without_collections():
        return _number(skim(source))


@_without_collections()
def read_documents(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """All documents of a file, by the suffix of its name, and the faults met; a faulty line of JSON Lines is one."""
    name = source.name.lower()
    try:
        if name.endswith(".jsonl"):
            return _read_lines(source)
        if name.endswith(".json"):
            return _number(Builder(source, is_yaml=False).build(open_json(source.text))), []
        return _number(take_events(source.text, lambda next_event: Builder(source).build(next_event))), []
    except SyntaxFaultError as fault:
        return [], [fault]


def _read_lines(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """The documents of JSON Lines. A line that is none keeps its number, so that those below it have theirs."""
    documents: list[Document] = []
    faults: list[SyntaxFaultError] = []
    number = 0
    for line in range(1, source.line_count + 1):
        start, end = source.line_span(line)
        if not source.text[start:end].strip():
            continue
        try:
            built = Builder(source, start, is_yaml=False).build(open_json(source.text, start, end))
            for document in built:
                document.number = number
            documents += built
        except SyntaxFaultError as fault:
            faults.append(fault)
        number += 1
    if number < 2:
        for document in documents:
            document.number = None
    return documents, faults


def _number(documents: list[AnyDocument]) -> list[AnyDocument]:
    if len(documents) > 1:
        for number, document in enumerate(documents):
            document.number = number
    return documents
