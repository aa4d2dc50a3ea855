"""Find where files with rubric tests and records of judge outputs write the ids of criteria."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from rubric_lint.lsp.places.tested_rubric import names_criteria
from rubric_lint.testing.recordings import HASHES, read_outputs
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span


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
