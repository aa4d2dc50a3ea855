"""Offer above rubrics and tests what other commands do with them: run tests, score outputs, show the prompt."""

# Paths are str, see project/settings.py.
# ruff: noqa: PTH113, PTH116, PTH118, PTH120

import os
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from lsprotocol import types

from rubric_lint.lint.case_names import RubricSite, find_names
from rubric_lint.lsp.places.scored_rubrics import is_sound
from rubric_lint.lsp.server.analysis import Analysis, State
from rubric_lint.project.opening import LIMIT, read_file
from rubric_lint.run.summary import counted
from rubric_lint.testing.reading import find_recordings, is_test_file, list_needed, split_reference
from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, UndecodableError

RUN_TESTS, SCORE_OUTPUTS, SHOW_PROMPT = (f"rubric-lint.{name}" for name in ("runTests", "scoreOutputs", "showPrompt"))
"""The commands of the lenses. Each takes the URI of the file and the name of a rubric, empty for all of them."""

_MOST_FILES = 200


class TestFile(NamedTuple):
    """A file with rubric tests: the file and the name of the rubric that it names, its outputs, the number of tests."""

    path: str
    rubric: str
    name: str
    outputs: str
    number: int


def make_lenses(analysis: Analysis) -> list[types.CodeLens]:
    """Return the lenses of a file on disk: over its tests, or over each rubric without errors."""
    path, settings = analysis.state.name, analysis.state.settings
    if settings is None or not os.path.isfile(path):
        return []
    return list(_make_for_tests(analysis) if settings.is_test_file else _make_for_rubrics(analysis, path))


def _make_for_tests(analysis: Analysis) -> Iterator[types.CodeLens]:
    for document in analysis.documents[:1]:
        tests = document.data.get("tests") if isinstance(document.data, dict) else None
        if isinstance(tests, list) and tests:
            start = analysis.state.text.range(document.span(("tests",), Part.KEY)).start
            add = partial(_make, analysis.state, start)
            yield add(f"Run {counted(len(tests), 'test')}", RUN_TESTS)


class _Place(NamedTuple):
    """A rubric to offer something above: what its name depends on, where it begins, and whether it can be scored."""

    site: RubricSite
    start: types.Position
    is_sound: bool


def _make_for_rubrics(analysis: Analysis, path: str) -> Iterator[types.CodeLens]:
    places = _find_places(analysis)
    files = find_test_files(path) if places else []
    outputs = find_outputs(path, files)
    for place, (name, *_) in zip(places, find_names(path, [place.site for place in places]), strict=True):
        if not place.is_sound:
            continue
        add = partial(_make, analysis.state, place.start)
        if count := sum(file.number for file in files if not file.name or file.name == name):
            yield add(f"Run {counted(count, 'test')}", RUN_TESTS, name)
        if outputs:
            yield add("Score recorded outputs", SCORE_OUTPUTS, "")
            outputs = []  # the command scores those of all rubrics of the file
        yield add("Show prompt", SHOW_PROMPT, name if len(places) > 1 else "")


def _find_places(analysis: Analysis) -> list[_Place]:
    found = []
    for located in analysis.rubrics:
        document, rubric = located
        way = rubric.path
        part = Part.KEY if way and isinstance(way[-1], str) else Part.ENTRY
        start = analysis.state.text.range(document.span(way, part)).start
        found.append(_Place(RubricSite.of(document, rubric), start, is_sound(analysis, located)))
    return found


def _make(state: State, start: types.Position, title: str, command: str, name: str = "") -> types.CodeLens:
    place = types.Range(start, start)
    return types.CodeLens(place, types.Command(title=title, command=command, arguments=[state.uri, name]))


def find_test_files(path: str) -> list[TestFile]:
    """Return the test files in the folder of a file that test its rubrics, in the order of their names."""
    found = []
    try:
        with os.scandir(os.path.dirname(path) or ".") as entries:
            names = sorted(entry.name for entry in entries if is_test_file(entry.name))
        for name in names[:_MOST_FILES]:
            other = os.path.join(os.path.dirname(path), name)
            status = os.stat(other)
            file = _read_test_file(other, status.st_mtime_ns, status.st_size)
            if file and os.path.normcase(file.rubric) == os.path.normcase(os.path.normpath(path)):
                found.append(file)
    except OSError:
        return found
    return found


def find_outputs(path: str, files: list[TestFile]) -> list[str]:
    """Return the files with recorded outputs of the rubrics of a file: beside it, or named by its tests."""
    return [
        each
        for each in dict.fromkeys([find_recordings(path), *(file.outputs for file in files)])
        if os.path.isfile(each)
    ]


@lru_cache(maxsize=_MOST_FILES)
def _read_test_file(path: str, _changed: int, _size: int) -> TestFile | None:
    """Read what a test file tests; None if it cannot be read."""
    try:
        documents, _ = read_documents(Source.from_bytes(path, read_file(path, LIMIT)))
    except (OSError, UndecodableError):
        return None
    data = documents[0].data if documents else None
    if not isinstance(data, dict) or not isinstance(data.get("rubric"), str) or not isinstance(data.get("tests"), list):
        return None
    rubric, name = split_reference(path, data["rubric"])
    return TestFile(path, rubric, name, list_needed(path, documents[0])[-1], len(data["tests"]))
