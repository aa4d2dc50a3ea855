"""Offer values in files with rubric tests: verdicts, sides of gates, criteria and their answers, files and rubrics."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH118, PTH120

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lsprotocol import types

from rubric_lint.finding import Edit
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.analysis import State
from rubric_lint.lsp.cursor import Cursor, ValueCursor, find_value
from rubric_lint.lsp.tested_rubric import find_rubrics, list_criteria, names_criteria
from rubric_lint.project.settings import claim_by_name
from rubric_lint.scoring.testing.reading import is_test_file
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import read_plain
from rubric_lint.text.source import Source, Span

_MOST_FILES = 200
_PLAIN = re.compile(r"[\w./][\w./#-]*(?: [\w./#-]+)*")


class _Value(NamedTuple):
    """A value to offer; `card` explains it. `is_text`: it is a string, to be quoted if it does not read as one."""

    label: str
    card: str = ""
    kind: types.CompletionItemKind = types.CompletionItemKind.Value
    is_text: bool = True


def offer_in_tests(
    state: State, cursor: Cursor | None, source: Source, offset: int, *, is_served: bool
) -> Iterator[types.CompletionItem]:
    """Yield the ids of criteria where they are keys, else the values that fit at an offset.

    `is_served`: another server offers the values that the schema lists.
    """
    if cursor and cursor.steps is not None and names_criteria(cursor.steps):
        criteria = [each for each in list_criteria(state, cursor.data) if each.id not in cursor.mapping]
        is_gates = cursor.steps[-1] == "gates"
        values = [
            _Value(each.id, each.card, types.CompletionItemKind.Property)
            for each in criteria
            if each.has_gate or not is_gates
        ]
        yield from _make_items(state, cursor.word, values, after="" if cursor.has_value else ": ")
    elif found := find_value(source, offset):
        yield from _make_items(state, found.word, _list_values(state, found, is_served=is_served))


def _make_items(state: State, word: Span, values: Iterable[_Value], after: str = "") -> Iterator[types.CompletionItem]:
    is_quoted = state.text.body[word.start - 1 : word.start] in {'"', "'"}
    for number, value in enumerate(values):
        text = value.label if is_quoted or not value.is_text else write_scalar(value.label)
        yield types.CompletionItem(
            label=value.label,
            kind=value.kind,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, value.card) if value.card else None,
            sort_text=f"{number:03}",
            text_edit=state.text.edit(Edit(word, text + after)),
        )


def write_scalar(text: str) -> str:
    """Write a string as a YAML scalar that every reader reads as this string."""
    return text if _PLAIN.fullmatch(text) and read_plain(text) == (text, None) else json.dumps(text, ensure_ascii=False)


def _list_values(state: State, cursor: ValueCursor, *, is_served: bool) -> Iterator[_Value]:
    path, data = cursor.path, cursor.document.data
    if path == ("rubric",):
        yield from _list_rubrics(state, state.text.body[cursor.word.start : cursor.word.end])
    elif path == ("outputs",):
        yield from _list_files(state.name, state.text.body[cursor.word.start : cursor.word.end], (".jsonl",))
    elif len(path) > 3 and path[0] == "tests" and path[2] == "output" and path[-1] == "id":
        yield from (_Value(each.id, each.card) for each in list_criteria(state, data))
    elif names_criteria(path[:-1]) and path[-2] == "criteria":
        criterion = next((each for each in list_criteria(state, data) if each.id == path[-1]), None)
        for answer in criterion.answers if criterion else ():
            yield _Value(answer.written, answer.outcome, is_text=False)
    elif not is_served:
        yield from _list_words(cursor, path)


def _list_words(cursor: ValueCursor, path: Path) -> Iterator[_Value]:
    """Yield the words that the schema allows, in a list only those that it does not have yet."""
    schema = schema_of_tests().find(path)
    there = cursor.document.value(path[:-1]) if isinstance(path[-1], int) else []
    words = schema.get("enum") or schema.get("items", {}).get("enum", ())
    yield from (_Value(word, kind=types.CompletionItemKind.EnumMember) for word in words if word not in there)


def _list_rubrics(state: State, word: str) -> Iterator[_Value]:
    """Yield files with rubrics, or after a `#` the rubrics of the file before it."""
    path, sign, _ = word.partition("#")
    if sign:
        yield from (_Value(f"{path}#{loaded.name}") for loaded in find_rubrics(state, path))
        return
    found = [
        value for value in _list_files(state.name, word, (".yaml", ".yml", ".json")) if not is_test_file(value.label)
    ]
    yield from sorted(found, key=lambda value: (value.label.endswith("/"), not _is_rubric_file(state, value.label)))


def _is_rubric_file(state: State, name: str) -> bool:
    return (
        state.settings is not None and claim_by_name(name, state.settings._replace(is_rubric_file=False)).is_rubric_file
    )


def _list_files(name: str, word: str, suffixes: tuple[str, ...]) -> Iterator[_Value]:
    """Yield the files with these suffixes, then the folders, in the folder that a begun path leads to."""
    begun = word[: word.rfind("/") + 1]
    try:
        with os.scandir(os.path.join(os.path.dirname(name), begun)) as found:
            entries = sorted((each for each in found if not each.name.startswith(".")), key=lambda each: each.name)
    except (OSError, ValueError):
        return
    files = [each.name for each in entries if each.name.lower().endswith(suffixes) and each.is_file()]
    folders = [f"{each.name}/" for each in entries if each.is_dir()]
    for each in (*files[:_MOST_FILES], *folders[:_MOST_FILES]):
        kind = types.CompletionItemKind.Folder if each.endswith("/") else types.CompletionItemKind.File
        yield _Value(begun + each, kind=kind)
