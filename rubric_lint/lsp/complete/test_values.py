"""Offer values in files with rubric tests: verdicts, sides of gates, criteria and their answers, files and rubrics."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH118, PTH120

import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.lsp.places.slots import Slot
from rubric_lint.lsp.places.tested_rubric import TestedCriterion, find_rubrics, list_criteria, names_criteria
from rubric_lint.lsp.server.analysis import State
from rubric_lint.project.settings import claim_by_name
from rubric_lint.testing.reading import is_test_file
from rubric_lint.text.path import Path
from rubric_lint.text.scalar import read_plain

_MOST_FILES = 200
_PLAIN = re.compile(r"[\w./](?:[\w./#-]|:(?=/))*(?: [\w./#-]+)*")


WORD = types.CompletionItemKind.EnumMember
"""The kind of the values that a schema lists."""


class Value(NamedTuple):
    """A value to offer; `card` explains it."""

    value: Any
    card: str = ""
    kind: types.CompletionItemKind = types.CompletionItemKind.Value


def write_scalar(text: str) -> str:
    """Write a string as a YAML scalar that every reader reads as this string."""
    return text if _PLAIN.fullmatch(text) and read_plain(text) == (text, None) else json.dumps(text, ensure_ascii=False)


def list_tested(state: State, data: Any, path: Path) -> list[TestedCriterion]:
    """Return the criteria that the keys of the mapping at a path may name, none if it is about something else."""
    if not names_criteria(path):
        return []
    is_gates = path[-1] == "gates"
    return [each for each in list_criteria(state, data) if each.has_gate or not is_gates]


def list_test_values(state: State, slot: Slot) -> Iterator[Value]:
    """Yield the values that a file with rubric tests may have in a slot, but for those that its schema lists."""
    path = slot.path
    typed = state.text.body[slot.word.start : slot.word.end]
    if path == ("rubric",):
        yield from _list_rubrics(state, typed)
    elif path == ("outputs",):
        yield from _list_files(state.name, typed, (".jsonl",))
    elif len(path) > 3 and path[0] == "tests" and path[2] == "output" and path[-1] == "id":
        yield from (Value(each.id, each.card) for each in list_criteria(state, slot.data))
    elif names_criteria(path[:-1]) and path[-2] == "criteria":
        criterion = next((each for each in list_criteria(state, slot.data) if each.id == path[-1]), None)
        yield from (Value(*answer) for answer in criterion.answers) if criterion else ()


def _list_rubrics(state: State, word: str) -> Iterator[Value]:
    """Yield files with rubrics, or after a `#` the rubrics of the file before it."""
    path, sign, _ = word.partition("#")
    if sign:
        yield from (Value(f"{path}#{loaded.name}") for loaded in find_rubrics(state, path))
        return
    found = [
        value for value in _list_files(state.name, word, (".yaml", ".yml", ".json")) if not is_test_file(value.value)
    ]
    yield from sorted(found, key=lambda value: (value.value.endswith("/"), not _is_rubric_file(state, value.value)))


def _is_rubric_file(state: State, name: str) -> bool:
    return (
        state.settings is not None and claim_by_name(name, state.settings._replace(is_rubric_file=False)).is_rubric_file
    )


def _list_files(name: str, word: str, suffixes: tuple[str, ...]) -> Iterator[Value]:
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
        yield Value(begun + each, kind=kind)
