"""Read a file with rubric tests whose form is valid."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.paths import name_sibling, simplify
from rubric_lint.lint.project.settings import TEST_SUFFIXES
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError, stem_of

RECORDINGS = ".judged.jsonl"
"""What the name of the recorded outputs has instead of `.rubric-test.yaml`, if the file does not name them."""


@dataclass(frozen=True)
class RubricTest:
    """One test. `key` is its id as JSON, which tells 1 from "1"; `output` is its own judge output, or None.

    `texts` has what a judge is shown, as far as the test has it: `question`, `answer`, `reference`.
    """

    id: str | int
    path: Path
    texts: Mapping[str, str]
    group: str | int | None
    output: Mapping[str, Any] | str | None
    expect: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The id as JSON."""
        return json.dumps(self.id)

    def asking(self, question: str | None) -> "RubricTest":
        """Return the test with the question of its case, unless it has no answer or a question of its own."""
        if question is None or "answer" not in self.texts:
            return self
        return replace(self, texts={"question": question, **self.texts})

    def path_of(self, *steps: str | int) -> Path:
        """Return the path of a part of its expectations, such as `"gates", "accuracy"`."""
        return (*self.path, "expect", *steps)


@dataclass(frozen=True)
class RubricTests:
    """The tests of a file. `rubric` and `outputs` are paths; `rubric_name` is empty if the file does not say it.

    `mapping` has the fields of the recorded outputs, and where they are.
    """

    name: str
    document: Document
    rubric: str
    rubric_name: str
    outputs: str
    names_outputs: bool
    tests: tuple[RubricTest, ...]
    mapping: tuple[tuple[str, str], ...] = ()


def is_test_file(name: str) -> bool:
    """Return whether a file has rubric tests, by its name."""
    return name.lower().endswith(TEST_SUFFIXES)


def locate_outputs(name: str) -> str:
    """Return the path of the recorded outputs of a test file that does not name them."""
    suffix = next(suffix for suffix in TEST_SUFFIXES if name.lower().endswith(suffix))
    return name[: -len(suffix)] + RECORDINGS


def find_recordings(rubric: str) -> str:
    """Return the path that recorded outputs of a rubric file have next to it, if there are any."""
    return name_sibling(rubric, stem_of(rubric) + RECORDINGS)


def read_tests(name: str, document: Document) -> RubricTests:
    """Return the tests of a document that matches the schema; `name` is the path of its file."""
    data = document.data
    rubric, rubric_name = split_reference(name, data["rubric"])
    outputs = data.get("outputs")
    tests = []
    for number, test in enumerate(data["tests"]):
        texts = {field: test[field] for field in JudgedCase._fields if field in test}
        path = ("tests", number)
        tests.append(RubricTest(test["id"], path, texts, test.get("group"), test.get("output"), test["expect"]))
    recorded = locate_outputs(name) if outputs is None else _join_path(name, outputs)
    mapping = tuple(data.get("map", {}).items())
    return RubricTests(name, document, rubric, rubric_name, recorded, outputs is not None, tuple(tests), mapping)


def find_needed(name: str) -> list[str]:
    """Return the paths of the files that the tests of a file need, as far as it can be read."""
    try:
        source = Source.from_bytes(name, read_file(name, LIMIT))
    except (OSError, UndecodableError):
        return []
    documents, _ = read_documents(source)
    return list_needed(name, documents[0]) if documents else []


def list_needed(name: str, document: Document) -> list[str]:
    """Return the paths of the files that the tests of a document need, as far as it names them."""
    data = document.data if isinstance(document.data, dict) else {}
    rubric, outputs = data.get("rubric"), data.get("outputs")
    needed = [split_reference(name, rubric)[0]] if isinstance(rubric, str) else []
    recorded = _join_path(name, outputs) if isinstance(outputs, str) else locate_outputs(name)
    needed.append(recorded)
    return needed


def split_reference(name: str, reference: str) -> tuple[str, str]:
    """Return the path and the name of the rubric for `suite.yaml#case-id` in a test file.

    A file whose name has a `#` in it comes first.
    """
    path, _, rubric = reference.partition("#")
    whole = _join_path(name, reference)
    if not rubric or FilePath(whole).is_file():
        return whole, ""
    return _join_path(name, path), rubric


def _join_path(name: str, path: str) -> str:
    """Return a path that a test file names, which is relative to its folder."""
    return str(simplify(FilePath(name).parent / path))
