"""Find the schemas that describe a place in a document: those of its rubrics, its dialects and its settings."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rubric_lint.dialects.search.agentv_suites import EVAL_FILES, find_cases, is_current, is_of_agentv, is_whole_case
from rubric_lint.dialects.search.locate import find_claim, locate
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import case_lists
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.format.view import Dialect
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.analysis import Analysis
from rubric_lint.lsp.slots import Slot
from rubric_lint.lsp.thinning import open_window
from rubric_lint.project.settings import FileSettings
from rubric_lint.project.settings_file import NAMES
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

SETTINGS = "config/v1.json"
"""The schema of the settings."""

_TABLE = ("tool", "rubric-lint")
_HOLDERS = frozenset({"defaultTest", "default_test", "turns", "assert", "assertions", "scenarios", "config"})


class Root(NamedTuple):
    """A schema, or a definition in it, and the path of the value that follows it. `is_rubric`: it is a rubric's."""

    source: str
    definition: str
    path: Path
    is_rubric: bool = False


_OF_RULES = frozenset({"select", "ignore", "severity", "per-file-ignores"})
"""The settings that name rules."""


def list_rule_names(root: Root, path: Path) -> list[str]:
    """Return the names of the rules if the settings take one at a path: as a key of `severity`, or in a list."""
    steps = path[len(root.path) :]
    if root.source != SETTINGS or len(steps) < 2 or steps[0] not in _OF_RULES:
        return []
    return sorted(BY_NAME) if steps[0] == "severity" or isinstance(steps[-1], int) else []


def is_settings_file(name: str) -> bool:
    """Return whether a file of this name holds settings."""
    return posixpath.basename(name.replace("\\", "/")) in NAMES


def find_roots(document: Document, settings: FileSettings, path: Path, name: str) -> list[Root]:
    """Return the schemas for the value at a path, the innermost first; none in the files of others.

    `name` is that of the file.
    """
    if is_settings_file(name):
        at = _TABLE if name.endswith(NAMES[1]) else ()
        return [Root(SETTINGS, "", at)] if path[: len(at)] == at else []
    if settings.is_test_file:
        return [Root(schema_of_tests().source, schema_of_tests().whole, ())]
    claim = find_claim(document)
    if claim and not claim.is_known:
        return []
    return sorted(_find(document, settings, path), key=lambda root: -len(root.path))


def _find(document: Document, settings: FileSettings, path: Path) -> Iterator[Root]:
    claim = find_claim(document)
    version = claim.version if claim else settings.version or CURRENT
    located = locate(document, version=settings.version, claimed=settings.claimed)
    sources: dict[str, None] = {}
    for place in located:
        is_inside = path[: len(place.path)] == place.path
        if place.view is None:
            if is_inside:
                yield Root(f"{place.version}/rubric.json", "rubrics", place.path, is_rubric=True)
            continue
        view = place.view
        sources.setdefault(view.dialect.schema.partition("#")[0])
        if is_inside:
            source, _, definition = view.schema.partition("#/definitions/")
            yield Root(source, definition or "rubrics", place.path, is_rubric=True)
        beside = view.beside or view.dialect.beside
        around = view.beside_at if view.beside_at is not None else place.path[:-1]
        if beside and path[: len(around)] == around:
            source, _, definition = beside.partition("#/definitions/")
            yield Root(source or view.dialect.schema, definition, around)
    if not sources and (guessed := _guess(document)):
        sources[guessed.schema] = None
    for source in sources:
        yield Root(source, "", ())
    if settings.is_rubric_file or (claim and claim.name == "rubric"):
        yield Root(f"{version}/rubric.json", "", ())
    elif claim or any(place.view is None for place in located):
        yield Root(f"{version}/suite.json", "", ())


def recall_roots(before: Analysis, slot: Slot) -> Iterator[Root]:
    """Yield the schemas of the rubrics that an earlier state of the document had around a slot."""
    path = slot.origin
    rubrics: Iterable[Rubric] = (located.rubric for located in before.rubrics)
    if slot.is_part:
        window = open_window(before.state.text.body, slot.word.start)
        if window is None or window.place is None or len(path) < 2:
            return
        path = (path[0], window.place, *path[2:])
        settings = before.state.settings or FileSettings()
        documents = read_documents(Source(before.state.name, window.text))[0]
        rubrics = (rubric for document in documents for rubric in build_rubrics(document, settings))
    for rubric in rubrics:
        view = rubric.view
        place = view.path if view else rubric.path
        if path[: len(place)] == place:
            schema = view.schema if view else f"{rubric.version}/rubric.json"
            source, _, definition = schema.partition("#/definitions/")
            yield Root(source, definition or "rubrics", slot.path[: len(place)], is_rubric=True)


def _guess(document: Document) -> Dialect | None:
    """Return the dialect of a suite without criteria so far, judging by its cases and its name."""
    from rubric_lint.dialects.agentv import A6, A7  # noqa: PLC0415  (few documents need it)

    cases = list(find_cases(document))
    if is_current(document):
        return A7
    is_named = document.source.name.lower().endswith(EVAL_FILES)
    is_told = is_named or any(is_whole_case(case) or is_of_agentv(document, path) for path, case in cases if path)
    return A6 if is_told else None


def may_hold(document: Document, path: Path, name: str) -> bool:
    """Return whether a suite may have a field at a path which it could have anywhere, such as `assert`.

    It may at the top, in a case, and where such a place of the document has the field already.
    """
    if not path:
        return True
    holder = path[-2] if len(path) > 1 and isinstance(path[-1], int) else path[-1]
    if holder in case_lists() or holder in _HOLDERS:
        return True
    pattern = generalise(path)
    return any(name in mapping and generalise(other) == pattern for other, mapping in document.mappings)


def generalise(path: Path) -> tuple[str, ...]:
    """Return a path with `*` for the index of each item."""
    return tuple("*" if isinstance(step, int) else step for step in path)
