"""Check the form of files with rubric tests; `rubric-test` runs them."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import describe
from rubric_lint.model.schema import RubricSchema, schema_of
from rubric_lint.model.schema_problems import find_violations
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.values import as_list, as_mapping


def schema_of_tests() -> RubricSchema:
    """Return the schema of files with rubric tests."""
    return schema_of("rubric-test/v1.json#/definitions/file")


def count_tests(documents: Sequence[Document]) -> int:
    """Return the number of tests in a file, valid or not."""
    return sum(len(_list_tests(document)) for document in documents)


def check_tests(documents: Sequence[Document]) -> Iterator[tuple[str, Problem, Document]]:
    """Find what is wrong in the form of a file with rubric tests: the rule, the problem, and its document."""
    for document in documents[1:]:
        yield "schema", Problem("second-document", (), Part.HEAD), document
    for document in documents[:1]:
        yield from ((rule, problem, document) for rule, problem in _check(document))


def _check(document: Document) -> Iterator[tuple[str, Problem]]:
    schema, data = schema_of_tests(), document.data
    if not isinstance(data, dict):
        found = describe(data, document.written_at(()))
        subject = "the file is" if data is None else "found"
        expected = "a mapping with `rubric` and `tests`"
        yield "schema", Problem("unexpected", (), values={"subject": subject, "found": found, "expected": expected})
        return
    reported: set[Path] = set()
    if not schema.is_valid(data):
        for rule, problem in find_violations(schema, document, (), data):
            reported.add(problem.path)
            yield rule, problem
    firsts: dict[tuple[type, Any], Path] = {}
    for number, test in enumerate(_list_tests(document)):
        if isinstance(test, dict):
            yield from _check_ids(document, ("tests", number), test, firsts, reported)
            expect = test.get("expect")
            if isinstance(expect, dict):
                yield from _check_scores(document, ("tests", number, "expect"), expect, reported)


def _check_ids(
    document: Document, path: Path, test: dict[str, Any], firsts: dict[tuple[type, Any], Path], reported: set[Path]
) -> Iterator[tuple[str, Problem]]:
    """Report an id or a group that is a decimal, and an id that an earlier test has.

    `firsts` keeps the place of the first test with each id; `reported` are the places that the schema reports anyway.
    """
    for field in ("id", "group"):
        place: Path = (*path, field)
        # To JSON Schema 1.0 is an integer, but ids are compared as they are written: 1.0 is neither 1 nor "1.0".
        if place not in reported and type(test.get(field)) is float:
            values = {"field": field, "found": document.written_at(place)}
            yield "schema", Problem("decimal-id", place, values=values)
    name, place = test.get("id"), (*path, "id")
    if isinstance(name, str | int) and not isinstance(name, bool):
        first = firsts.setdefault((type(name), name), place)
        if first != place:
            yield (
                "duplicate-id",
                Problem("test", place, values={"id": name}, related=(RelatedPlace("the first one", first),)),
            )


def _check_scores(
    document: Document, path: Path, expect: dict[str, Any], reported: set[Path]
) -> Iterator[tuple[str, Problem]]:
    parts: dict[Path, Any] = {(field,): expect[field] for field in ("score", "rubric_score") if field in expect}
    for field in ("groups", "criteria"):
        named = expect.get(field)
        if isinstance(named, dict):
            parts |= {(field, name): value for name, value in named.items()}
    for steps, value in parts.items():
        place = path + steps
        numbers: dict[Path, Any] = {place: value}
        if isinstance(value, list):
            numbers = {(*place, at): bound for at, bound in enumerate(value)}
        for at, number in numbers.items():
            # The fast validator finds NaN within any bounds.
            if at not in reported and type(number) is float and not isfinite(number):
                expected = "a number from 0 to 1" if steps[0] in ("score", "groups") else "a finite number"
                values = {"subject": f"`{steps[-1]}` is", "found": document.written_at(at), "expected": expected}
                yield "bounds", Problem("unexpected", at, values=values)
        ends = as_list(value)
        if len(ends) == 2 and all(type(end) is int or (type(end) is float and isfinite(end)) for end in ends):
            low, high = (document.decimal((*place, step)) for step in (0, 1))
            if low > high:
                yield "bounds", Problem("empty-range", place, values={"range": value})


def _list_tests(document: Document) -> list[Any]:
    return as_list(as_mapping(document.data).get("tests"))
