"""Find the criterion that an id belongs to, and every use of that id in rubrics, rubric tests and judge outputs."""

# Paths are str here, as in project/files.py.
# ruff: noqa: PTH100, PTH110, PTH119

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.format.criterion import Criterion
from rubric_lint.lsp.complete.cards import names_criteria
from rubric_lint.lsp.server.library import Library, Reading, UnreadError
from rubric_lint.lsp.server.workspace import identify
from rubric_lint.scoring.loading import Loaded, RubricError, load_models, name_rubrics
from rubric_lint.scoring.meaning import hash_criteria
from rubric_lint.scoring.scorer import read_judged_by
from rubric_lint.testing.reading import find_recordings, is_test_file, list_needed, split_reference
from rubric_lint.testing.recordings import HASHES, read_outputs
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span, stem_of


class Site(NamedTuple):
    """A place where an id is written: the key or the value at `path`.

    `is_use`: it is more than how a judge was asked.
    """

    path: Path
    id: str
    part: Part = Part.VALUE
    is_use: bool = True

    def span(self, document: Document) -> Span:
        """Return its place, without quotes."""
        return inside_quotes(document, document.span(self.path, self.part))


def inside_quotes(document: Document, span: Span) -> Span:
    """Return a span without the quotes of its text, if it has any."""
    is_quoted = span.end - span.start > 1 and document.source.text[span.start] in "\"'"
    return Span(span.start + 1, span.end - 1) if is_quoted else span


def list_test_sites(data: Any) -> Iterator[Site]:
    """Yield the ids in the data of a file with rubric tests: in what it expects, and in its outputs."""
    tests = data.get("tests") if isinstance(data, dict) else None
    for number, test in enumerate(tests if isinstance(tests, list) else ()):
        if not isinstance(test, dict):
            continue
        expect = test.get("expect")
        for name, value in expect.items() if isinstance(expect, dict) else ():
            path: Path = ("tests", number, "expect", name)
            if names_criteria(path) and isinstance(value, dict):
                yield from (Site((*path, key), key, Part.KEY) for key in value)
        yield from _list_checks(test.get("output"), ("tests", number, "output"))


def list_records(data: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the records of a document with their paths: all of a list, or the document itself."""
    if isinstance(data, list):
        yield from (((number,), each) for number, each in enumerate(data) if isinstance(each, dict))
    elif isinstance(data, dict):
        yield (), data


def list_record_sites(record: dict[str, Any], path: Path) -> Iterator[Site]:
    """Yield the ids in a record: in its outputs or its result, and in what it says about its judge."""
    yield from _list_checks(record, path)
    if "outputs" in record:
        for number, output in enumerate(read_outputs(record)):
            yield from _list_checks(output, (*path, "outputs", number))
    elif "output" in record:
        yield from _list_checks(record["output"], (*path, "output"))
    yield from _list_items(record.get("criteria"), (*path, "criteria"))
    about = record.get("judge")
    if isinstance(about, dict):
        yield from _list_asked(about, (*path, "judge"))
        members = about.get("panel")
        for number, member in enumerate(members if isinstance(members, list) else ()):
            if isinstance(member, dict):
                yield from _list_asked(member, (*path, "judge", "panel", number))


def find_texts(record: dict[str, Any]) -> list[str]:
    """Return the outputs of a record that are texts, in which an id is not at a place of its own."""
    outputs = [record.get("output"), *(read_outputs(record) if "outputs" in record else ())]
    return [output for output in outputs if isinstance(output, str)]


def _list_checks(output: Any, path: Path) -> Iterator[Site]:
    if isinstance(output, dict):
        yield from _list_items(output.get("checks"), (*path, "checks"))


def _list_items(items: Any, path: Path) -> Iterator[Site]:
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            yield Site((*path, number, "id"), item["id"])


def _list_asked(about: dict[str, Any], path: Path) -> Iterator[Site]:
    """Yield the ids in the account of a judge: of the hashes, of the attempts, and in the orders of the requests."""
    hashes, attempts, orders = about.get(HASHES), about.get("attempts"), about.get("orders")
    for key in hashes if isinstance(hashes, dict) else ():
        yield Site((*path, HASHES, key), key, Part.KEY, is_use=False)
    for number, each in enumerate(attempts if isinstance(attempts, list) else ()):
        for key in each if isinstance(each, dict) else ():
            yield Site((*path, "attempts", number, key), key, Part.KEY, is_use=False)
    for number, each in enumerate(orders if isinstance(orders, list) else ()):
        for step, name in enumerate(each if isinstance(each, list) else ()):
            if isinstance(name, str):
                yield Site((*path, "orders", number, step), name, is_use=False)


class Target(NamedTuple):
    """A criterion. `place` is the path of its id in the document, None if the id is not written there."""

    reading: Reading
    loaded: Loaded
    criterion: Criterion
    place: Path | None

    @property
    def span(self) -> Span:
        """The id, or the criterion if it has none of its own."""
        document = self.loaded.document
        if self.place is not None:
            return Site(self.place, self.criterion.id).span(document)
        rubric = self.loaded.rubric
        path = rubric.view.place(self.criterion.path) if rubric.view else self.criterion.path
        return document.span(path, Part.ENTRY)


class Use(NamedTuple):
    """An id in a document of a file. `record` is the record that it is in, `at` the path of that."""

    reading: Reading
    document: Document
    site: Site
    record: dict[str, Any] | None = None
    at: Path = ()

    @property
    def span(self) -> Span:
        """Its place."""
        return self.site.span(self.document)


class Uses(NamedTuple):
    """The uses of an id outside its rubric, and what may hide others: each a file or a line with the reason."""

    found: list[Use]
    obstacles: list[str]


class Meaning(NamedTuple):
    """The hash of a rubric, and those of what its criteria say to a judge; empty if it has errors."""

    hash: str = ""
    criteria: Mapping[str, str] = MappingProxyType({})


class _Linked(NamedTuple):
    """A criterion whose ids are looked for in a file of records.

    `is_recorded`: a test names the file; None: only its records can say the rubric.
    """

    target: Target
    meaning: Meaning
    is_recorded: bool | None


_TEXT = "this output is a string, in which ids cannot be renamed"


def find_targets(library: Library, reading: Reading, offset: int) -> list[tuple[Target, Span]]:
    """Return the criteria whose id is at an offset of a file, each with the place of the id there."""
    if reading.settings.is_test_file:
        return [(target, span) for target, span in _find_in_tests(library, reading, offset)]
    own = [(target, target.span) for target in list_targets(reading) if target.place is not None]
    found = [(target, span) for target, span in own if span.start <= offset <= span.end]
    return found or list(_find_in_records(library, reading, offset))


def list_targets(reading: Reading, *, claimed: bool = False) -> list[Target]:
    """Return all criteria of a file. `claimed`: a test or a record says that it holds rubrics."""
    return [
        Target(reading, loaded, criterion, _find_place(loaded, criterion))
        for loaded in name_rubrics(reading.path, reading.build_rubrics(claimed=claimed))
        for criterion in loaded.rubric.criteria
    ]


def find_uses(library: Library, target: Target, also: str = "") -> Uses:
    """Find the uses of an id in all files that belong to its rubric; `also` is another file with records of it."""
    uses = Uses([], [])
    path, name = target.reading.path, target.criterion.id
    linked = {each: False for each in [*library.find_judged(path), find_recordings(path), also] if each}
    for file in library.list_once(filter(is_test_file, library.list_files(path))):
        try:
            if not library.may_hold(file, name) and not library.may_hold(file, os.path.basename(path)):
                continue
            reading = library.read(file)
        except UnreadError as fault:
            uses.obstacles.append(f"{os.path.basename(file)}: {fault}")
            continue
        if reading.faults and library.may_hold(file, name):
            uses.obstacles.append(f"{reading.name_line(reading.faults[0].span.start)}: {reading.faults[0].message}")
        for document in reading.documents[:1]:
            if _is_tested(target, file, document):
                linked |= dict.fromkeys(list_needed(file, document)[1:], True)
                _add_test(uses, reading, document, name)
    meaning = read_meaning(target.reading, target.loaded.name)
    recorded = {identify(file): is_recorded for file, is_recorded in sorted(linked.items(), key=lambda each: each[1])}
    for file in library.list_once([*linked, *_find_by_hash(library, path, meaning.hash)]):
        _add_records(uses, library, file, _Linked(target, meaning, recorded.get(identify(file))))
    return uses


def read_meaning(reading: Reading, name: str, data: str | None = None) -> Meaning:
    """Return the meaning of a rubric of a file, or of the same file with other `data`."""
    text = reading.source.text if data is None else data
    try:
        rubric = load_models(reading.path, text.encode(), reading.settings)[name].prepare()
    except (RubricError, KeyError):
        return Meaning()
    return Meaning(rubric.hash, hash_criteria(rubric.model, rubric.criteria))


def _find_place(loaded: Loaded, criterion: Criterion) -> Path | None:
    path = (*criterion.path, "id")
    try:
        place = loaded.rubric.view.place(path) if loaded.rubric.view else path
        is_there = criterion.has_own_id and bool(place) and loaded.document.value(place) == criterion.id
    except (KeyError, IndexError, TypeError):
        return None
    return place if is_there else None


def _is_tested(target: Target, file: str, document: Document) -> bool:
    """Return whether a file with tests tests the rubric of a target."""
    reference = document.data.get("rubric") if isinstance(document.data, dict) else None
    if not isinstance(reference, str):
        return False
    path, name = split_reference(file, reference)
    if identify(path) != identify(target.reading.path):
        return False
    names = {target.loaded.name} if name else {each.loaded.name for each in list_targets(target.reading)}
    return names == {name or target.loaded.name}


def _add_test(uses: Uses, reading: Reading, document: Document, name: str) -> None:
    uses.found.extend(Use(reading, document, site) for site in list_test_sites(document.data) if site.id == name)
    for number, test in enumerate(document.data.get("tests") or ()):
        if isinstance(test, dict) and any(name in text for text in find_texts(test)):
            place = reading.name_line(document.span(("tests", number, "output")).start)
            uses.obstacles.append(f"{place}: {_TEXT}")


def _find_by_hash(library: Library, path: str, meaning: str) -> Iterator[str]:
    """Yield the files with records that name the meaning of the rubric."""
    for file in library.list_files(path) if meaning else ():
        if file.lower().endswith((".jsonl", ".json")):
            with suppress(UnreadError):  # nothing says that such a file belongs to the rubric
                if library.holds(file, meaning):
                    yield file


def _add_records(uses: Uses, library: Library, file: str, rubric: _Linked) -> None:
    """Add the uses in a file of records."""
    name = rubric.target.criterion.id
    if not os.path.exists(file) and file not in library.files:
        return
    try:
        if not library.may_hold(file, name):
            return
        if not file.lower().endswith((".json", ".jsonl")):
            uses.obstacles.append(f"{os.path.basename(file)}: ids are renamed in JSON and JSON Lines only")
            return
        reading = library.read(file)
    except UnreadError as fault:
        uses.obstacles.append(f"{os.path.basename(file)}: {fault}")
        return
    uses.obstacles.extend(f"{reading.name_line(each.span.start)}: {each.message}" for each in reading.faults[:1])
    for document in reading.documents:
        for path, record in list_records(document.data):
            if not belongs(record, rubric.target.loaded, rubric.meaning.hash, file, is_recorded=rubric.is_recorded):
                continue
            if any(name in text for text in find_texts(record)):
                place = reading.name_line(document.span(path).start)
                uses.obstacles.append(f"{place}: {_TEXT}")
            sites = (site for site in list_record_sites(record, path) if site.id == name)
            uses.found.extend(Use(reading, document, site, record, path) for site in sites)


def belongs(record: dict[str, Any], loaded: Loaded, meaning: str, file: str, *, is_recorded: bool | None) -> bool:
    """Return whether a record is of a rubric: by the name that it gives, else by its hash or its file."""
    name, judged_by = record.get("rubric"), read_judged_by(record)
    if is_recorded is None:
        return bool(meaning) and judged_by == meaning and name in (None, loaded.name)
    if name is not None:
        return bool(name == loaded.name)
    return is_recorded or judged_by == meaning or (judged_by is None and stem_of(file) == stem_of(loaded.name))


def _find_in_tests(library: Library, reading: Reading, offset: int) -> Iterator[tuple[Target, Span]]:
    for document in reading.documents[:1]:
        for site in list_test_sites(document.data):
            span = site.span(document)
            if span.start <= offset <= span.end:
                for target in _find_tested(library, reading.path, document):
                    if target.criterion.id == site.id:
                        yield target, span


def _find_tested(library: Library, file: str, document: Document) -> list[Target]:
    """Return the criteria of the rubric that a file with tests names."""
    reference = document.data.get("rubric") if isinstance(document.data, dict) else None
    if not isinstance(reference, str):
        return []
    path, name = split_reference(file, reference)
    try:
        targets = list_targets(library.read(library.find(os.path.abspath(path))), claimed=True)
    except UnreadError:
        return []
    names = {target.loaded.name for target in targets}
    return [each for each in targets if each.loaded.name == name or (not name and len(names) == 1)]


def _find_in_records(library: Library, reading: Reading, offset: int) -> Iterator[tuple[Target, Span]]:
    """Yield the criteria of an id in a record: of the rubric whose tests name the file, or that the record is of."""
    for document in reading.documents:
        around = document.span(())
        if not around.start <= offset <= around.end:
            continue
        for path, record in list_records(document.data):
            for site in list_record_sites(record, path):
                span = site.span(document)
                if span.start <= offset <= span.end:
                    found = _find_judged(library, reading.path, record, site.id)
                    yield from ((target, span) for target in found)


def _find_judged(library: Library, file: str, record: dict[str, Any], name: str) -> list[Target]:
    files = library.list_once(library.list_files(file))
    found: list[Target] = []
    for path in files:
        try:
            if is_test_file(path) and (reading := library.read(path)).documents:
                document = reading.documents[0]
                if identify(file) in map(identify, list_needed(path, document)[1:]):
                    found += _find_tested(library, path, document)
        except UnreadError:
            continue
    if not found:
        found = [target for path in files for target in _list_candidates(library, path, file, record, name)]
    called = record.get("rubric")
    unique = {
        (each.reading.path, each.loaded.name, each.criterion.path): each
        for each in found
        if each.criterion.id == name and called in (None, each.loaded.name)
    }
    return list(unique.values())


def _list_candidates(library: Library, path: str, file: str, record: dict[str, Any], name: str) -> Iterator[Target]:
    """Yield the criteria with an id in a file whose rubrics a record may be of."""
    if path == file or is_test_file(path) or path.lower().endswith(".jsonl"):
        return
    try:
        if not library.may_hold(path, name):
            return
        reading = library.read(path)
    except UnreadError:
        return
    for target in list_targets(reading):
        if target.criterion.id == name:
            meaning = read_meaning(reading, target.loaded.name).hash
            if belongs(record, target.loaded, meaning, file, is_recorded=False):
                yield target
