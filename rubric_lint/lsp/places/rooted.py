"""Find the schemas that describe a place in a document: those of its rubrics, its dialects and its settings."""

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple

from rubric_lint.dialects.search.agentv_suites import EVAL_FILES, find_cases, is_current, is_of_agentv, is_whole_case
from rubric_lint.dialects.search.locate import Location, find_claim, locate
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.schema import case_lists, schema_for
from rubric_lint.format.schema_files import CURRENT, Claim
from rubric_lint.format.view import Dialect
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.places.schema_walk import find_subschemas, load_once, open_names
from rubric_lint.lsp.places.slots import Slot, follow
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.project.settings import NAMES, FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import DATA

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


def list_rule_names(root: Root, path: Path, *, is_key: bool) -> list[str]:
    """Return the names of the rules if the settings take one at a path: as a value there, or as its last key."""
    if root.source != SETTINGS:
        return []
    steps = path[len(root.path) :]
    subschemas = (
        open_names(find_subschemas(SETTINGS, "", {}, steps[:-1]))
        if is_key
        else find_subschemas(SETTINGS, "", {}, steps)
    )
    rule = load_once(SETTINGS)["definitions"]["rule"]
    return sorted(BY_NAME) if any(subschema.node is rule for subschema in subschemas) else []


def is_settings_file(name: str) -> bool:
    """Return whether a file of this name holds settings."""
    return posixpath.basename(name.replace("\\", "/")) in NAMES


def find_table(name: str) -> Path:
    """Return the path of our table in a settings file."""
    return _TABLE if name.endswith(NAMES[1]) else ()


def find_roots(document: Document, settings: FileSettings, path: Path, name: str) -> list[Root]:
    """Return the schemas for the value at a path, the innermost first; none in the files of others.

    `name` is that of the file.
    """
    if is_settings_file(name):
        at = find_table(name)
        return [Root(SETTINGS, "", at)] if path[: len(at)] == at else []
    if settings.is_test_file:
        return [Root(schema_of_tests().source, schema_of_tests().whole, ())]
    claim = find_claim(document)
    if claim and not claim.is_known:
        return []
    return sorted(_find(document, settings, path, claim), key=lambda root: -len(root.path))


def _find(document: Document, settings: FileSettings, path: Path, claim: Claim | None) -> Iterator[Root]:
    located = locate(document, version=settings.version, claimed=settings.claimed, shapes=settings.shapes)
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
    yield from _find_ours(document, settings, claim, located)


def _find_ours(
    document: Document, settings: FileSettings, claim: Claim | None, located: list[Location]
) -> Iterator[Root]:
    """Yield the schema of a whole rubric file or suite of ours."""
    if document.kind not in DATA:
        return
    version = claim.version if claim else settings.version or CURRENT
    if settings.is_rubric_file or (claim and claim.name == "rubric"):
        yield Root(f"{version}/rubric.json", "", ())
    elif claim or any(place.view is None for place in located):
        yield Root(f"{version}/suite.json", "", ())


def recall_roots(before: Analysis, slot: Slot) -> Iterator[Root]:
    """Yield the schemas of the rubrics that an earlier state of the document had around a slot."""
    path = slot.origin
    for located in before.rubrics:
        rubric = located.rubric
        view = rubric.view
        place = view.path if view else rubric.path
        if path[: len(place)] == place:
            schema = view.schema if view else f"{rubric.version}/rubric.json"
            source, _, definition = schema.partition("#/definitions/")
            yield Root(source, definition or "rubrics", slot.path[: len(place)], is_rubric=True)


def expect_rubric(document: Document, settings: FileSettings, path: Path) -> Root | None:
    """Return the schema of a list around a path that will be a rubric: one belongs there, and it has too little yet."""
    claim = find_claim(document)
    if settings.is_test_file or document.kind not in DATA or (claim and not claim.is_known):
        return None
    schema = schema_for(claim.version if claim else settings.version or CURRENT)
    located = locate(document, version=settings.version, claimed=settings.claimed, shapes=settings.shapes)
    for at in range(len(path) - 1, 0, -1):
        if path[at - 1] == FIELD and isinstance(path[at], int):
            start = path[:at]
            is_there = any(place.path == start for place in located)
            if is_there or _may_be_ours(document.data, start, path, has_others=bool(located)):
                return Root(schema.source, schema.whole, start, is_rubric=True)
    return None


def _may_be_ours(data: Any, owner: Path, path: Path, *, has_others: bool) -> bool:
    """Return whether a still empty list will be a rubric: it is where a rubric belongs, with no unknown content."""
    is_expected = len(owner) == 1 or has_others or (len(owner) > 2 and owner[-3] in case_lists())
    entries, at = follow(data, owner), path[len(owner)]
    typed = follow(entries, (at,))
    others = [entry for index, entry in enumerate(entries or ()) if index != at or not isinstance(entry, dict)]
    is_plain = all(isinstance(entry, str) or entry is None for entry in others)
    fields = schema_for().entry_fields
    return is_expected and is_plain and (not isinstance(typed, dict) or fields.keys() >= typed.keys())


def _guess(document: Document) -> Dialect | None:
    """Return the dialect of a suite without criteria so far, judging by its cases and its name."""
    if document.kind not in DATA:
        return None
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
