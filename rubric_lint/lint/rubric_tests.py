"""Check the form of files with rubric tests; `rubric-test` runs them."""

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from typing import Any

from rubric_lint.finding import Place, Problem
from rubric_lint.format.schema import RubricSchema, schema_of
from rubric_lint.messages import describe
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path


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
    told: set[Path] = set()
    if not schema.is_valid(data):
        from rubric_lint.format.schema_problems import find_violations  # noqa: PLC0415  (sound files need no words)

        for rule, problem in find_violations(schema, document, (), data):
            told.add(problem.path)
            yield rule, problem
    for path in _list_scores(document):
        # The fast validator finds NaN within any bounds.
        if path not in told and type(value := document.value(path)) is float and isnan(value):
            found, expected = document.written_at(path), "a number from 0 to 1"
            values = {"subject": "`score` is", "found": found, "expected": expected}
            yield "bounds", Problem("unexpected", path, values=values)
    for path in _list_names(document):
        # To JSON Schema 1.0 is an integer, but ids are compared as they are written: 1.0 is neither 1 nor "1.0".
        if path not in told and type(document.value(path)) is float:
            values = {"field": str(path[-1]), "found": document.written_at(path)}
            yield "schema", Problem("decimal-id", path, values=values)
    yield from _find_repeated_ids(document)
    for path, value in _list_ranges(document):
        low, high = (document.decimal((*path, step)) for step in (0, 1))
        if low > high:
            yield "bounds", Problem("empty-range", path, values={"range": value})


def _list_tests(document: Document) -> list[Any]:
    data = document.data
    tests = data.get("tests") if isinstance(data, dict) else None
    return tests if isinstance(tests, list) else []


def _find_repeated_ids(document: Document) -> Iterator[tuple[str, Problem]]:
    firsts: dict[tuple[type, Any], Path] = {}
    for number, test in enumerate(_list_tests(document)):
        name = test.get("id") if isinstance(test, dict) else None
        if not isinstance(name, str | int) or isinstance(name, bool):
            continue
        path: Path = ("tests", number, "id")
        first = firsts.setdefault((type(name), name), path)
        if first != path:
            yield "duplicate-id", Problem("test", path, values={"id": name}, related=(Place("the first one", first),))


def _list_names(document: Document) -> Iterator[Path]:
    """Yield the path of every id and group of a test."""
    for number, test in enumerate(_list_tests(document)):
        for field in ("id", "group"):
            if isinstance(test, dict) and field in test:
                yield "tests", number, field


def _list_scores(document: Document) -> Iterator[Path]:
    """Yield the path of every number that a test expects as its score or as a bound of it."""
    for number, test in enumerate(_list_tests(document)):
        expect = test.get("expect") if isinstance(test, dict) else None
        score = expect.get("score") if isinstance(expect, dict) else None
        path: Path = ("tests", number, "expect", "score")
        if isinstance(score, list):
            yield from ((*path, step) for step in range(len(score)))
        elif score is not None:
            yield path


def _list_ranges(document: Document) -> Iterator[tuple[Path, list[Any]]]:
    """Yield every range of two finite numbers in the expectations."""
    for number, test in enumerate(_list_tests(document)):
        expect = test.get("expect") if isinstance(test, dict) else None
        if not isinstance(expect, dict):
            continue
        path: Path = ("tests", number, "expect")
        found: dict[Path, Any] = {(*path, "score"): expect.get("score")}
        if isinstance(criteria := expect.get("criteria"), dict):
            found |= {(*path, "criteria", name): value for name, value in criteria.items()}
        for place, value in found.items():
            if (
                isinstance(value, list)
                and len(value) == 2
                and all(type(bound) is int or (type(bound) is float and isfinite(bound)) for bound in value)
            ):
                yield place, value
