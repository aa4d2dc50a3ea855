"""Any value may stand anywhere in a rubric of another system: nothing raises, and findings keep to the text."""

from pathlib import Path

import pytest
from dialect_samples import SAMPLES
from pages import read_pages

from rubric_lint.lint.engine import lint
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import DATA, Kind, Source, kind_of

HUGE = "1" + "0" * 400
ABSURD = (HUGE, f"-{HUGE}", "1e999", "1e-99999999", "0.1234567890123456789012345", "null", "true", "[]", "{}", '" "')
ONLY_YAML = (".inf", "-.inf", ".nan", '!!float "0.1234567890123456789"', "!!binary aGk=")


def read_samples():
    for name, sample in SAMPLES.items():
        yield name, sample.file, sample.text
        if sample.fields:
            yield f"{name} (all fields)", sample.file, sample.fields
    for page in read_pages(FOLDER):
        for example in page.accepted:
            if kind_of(example.name) in DATA:
                yield example.label, example.name, example.text


FOLDER = Path(__file__).parents[2] / "rubric_lint" / "formats" / "dialects"
TEXTS = {name: (file, text) for name, file, text in read_samples()}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_no_value_makes_the_engine_raise(name):
    file, text = TEXTS[name]
    values = (*ABSURD, *ONLY_YAML) if kind_of(file) is Kind.YAML else ABSURD
    documents, _ = read_documents(Source(file, text))
    places = {
        document.span(path)
        for document in documents
        for path, _ in document.entries()
        if path and not isinstance(document.value(path), dict | list)
    }
    for number, (start, end) in enumerate(sorted(places)):
        for value in values[number % 4 :: 4]:  # each value at every fourth place, to be quick
            written = f"{text[:start]}{value}{text[end:]}"
            result = lint(file, written.encode())
            assert all(finding.span.end <= len(written) for finding in result.findings), (value, text[start:end])
