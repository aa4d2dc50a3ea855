"""Read rubrics that are written as text into the strings of YAML, JSON and Python: prompts with a scale of scores."""

from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

from rubric_lint.dialects.search.scales_in_text import count_steps
from rubric_lint.dialects.tables.cells import Table, TableError
from rubric_lint.dialects.tables.outline import read_outline
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part
from rubric_lint.text.python_tree import find_texts
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Position, Source, kind_of
from rubric_lint.text.tree import SyntaxFaultError

_FEWEST = 3
"""The fewest steps of a scale in a prompt: two numbered lines may be anything."""


class Prompt(NamedTuple):
    """A string with a scale: the key or the variable that has it, its place, and its rubrics as tables."""

    name: str
    at: Position
    tables: list[Table]


class _Text(Source):
    """The text of a string, all of which is where the string is, or line by line if it stands so in the file."""

    outer: Source
    at: int
    is_verbatim: bool

    def position(self, offset: int) -> Position:
        return self.outer.position(self.at + (offset if self.is_verbatim else 0))


def read_prompts(source: Source) -> list[Prompt]:
    """Return the prompts of a file with at least one scale each; none if the file cannot be read."""
    try:
        if (kind := kind_of(source.name)).is_program:
            return list(_read(source, find_texts(source, kind)))
        return [prompt for document in read_documents(source)[0] for prompt in find_prompts(document)]
    except SyntaxFaultError:
        return []


def find_prompts(document: Document) -> Iterator[Prompt]:
    """Find the prompts of a document of YAML or JSON, or of the program that it stands for."""
    source, kind = document.source, document.kind
    return _read(source, find_texts(source, kind) if kind.is_program else _find_in_data(document))


def _read(source: Source, strings: Iterator[tuple[str, str, int]]) -> Iterator[Prompt]:
    for name, text, start in strings:
        if "\n" not in text or count_steps(text) < _FEWEST:
            continue
        told = dedent(text)
        inner = _Text(source.name, told)
        inner.outer = source
        found = source.text.find(text, start, start + len(text) + 4)
        inner.is_verbatim = told == text and found >= 0
        inner.at = found if inner.is_verbatim else start
        try:
            tables = [table for table in read_outline(inner, None, {}, name) or () if table.parts]
        except TableError:
            continue
        if tables:
            yield Prompt(name, source.position(start), tables)


def _find_in_data(document: Document) -> Iterator[tuple[str, str, int]]:
    """Yield the strings of several lines: the key, the text, and where it begins."""
    for path, mapping in document.mappings:
        for key, value in mapping.items():
            for index, text in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(text, str) and "\n" in text:
                    place = (*path, key, index) if isinstance(value, list) else (*path, key)
                    yield str(key), text, document.span(place, Part.VALUE).start
