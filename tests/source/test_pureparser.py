"""The pure parser has the same events at the same places as the C parser."""

import pytest
from hypothesis import given
from ruamel.yaml.events import StreamEndEvent
from styled_suites import yaml_suites

from rubric_lint.source.reading import open_events, read_documents
from rubric_lint.source.source import Source
from rubric_lint.source.yaml_events import parse

TEXTS = [
    "x: # c\n",
    "x:\n",
    "x:",
    "- # c\n- \n",
    "? a\n",
    "? a\n:\n",
    "a: &x # c\nb: *x\n",
    "a: !!str # c\n",
    "---\n...\n---\n",
    "{b: , c: }\n",
    "[a: , b: ]\n",
    "{a: b, c}: d\n",
    "[? a, ? b : ]\n",
    "a: [b, c,\n d]\n",
    "{b: # c\n , c: 1}\n",
    "a:\tb\n",
    "a: b\t# c\n",
    "a\t: b\n",
    "a: b\tc\n",
    "a: b\t\n",
    "a: b \t c\n  d\t\n",
    "a: 'b'\t# c\n",
    "[a,\tb\t]\t# c\n",
    "a: b\n \t c\n",
    "a:\r\n- b\r\n- c\r\n",
    "a: b\r\n\r\n  c\r\n",
    "a: b\n\n\n  c\n",
    "a: |  # c\n  x\n\n\nb: >-\n  z\n",
    "a: |+\n\n\n",
    'a: "b\\\n  c"\n',
    "a: b\n---\nc: d\n",
    "a: b\n... # c\n",
]


def take(next_event):
    events = []
    while type(event := next_event()) is not StreamEndEvent:
        value = getattr(event, "value", None), getattr(event, "style", None) or "", getattr(event, "anchor", None)
        events.append((type(event).__name__, event.start_mark.index, event.end_mark.index, *value))
    return events


@pytest.mark.parametrize("text", TEXTS)
def test_both_parsers_have_the_same_events(text):
    pytest.importorskip("_ruamel_yaml")
    assert take(parse(text).__next__) == take(open_events(text))


@pytest.mark.slow
@given(yaml_suites())
def test_suites_in_every_style_have_the_same_events(suite):
    pytest.importorskip("_ruamel_yaml")
    text = Source.from_bytes(suite.name, suite.data).text
    assert take(parse(text).__next__) == take(open_events(text))


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("-\ta\n-\t b\n", ["a", "b"]),
        ("\t\na: b\n \t# c\n", {"a": "b"}),
        ("a: b\n\t\n  c\n", {"a": "b\nc"}),
        ("a: |\n  -\tx\nb:\n-\t1\n", {"a": "-\tx\n", "b": [1]}),
    ],
    ids=["behind a dash", "on a blank line and before a comment", "inside of a text", "not those of a block text"],
)
def test_tabs_that_indent_nothing_are_white_space(text, data):
    (document,), faults = read_documents(Source("a.yaml", text))
    assert (document.data, faults) == (data, [])


@pytest.mark.parametrize("text", ["a:\n\tb: c\n", "a: b\n\tc: d\n", "\ta: b\n"])
def test_a_tab_that_would_indent_is_refused(text):
    _, (fault,) = read_documents(Source("a.yaml", text))
    assert fault.message == "a tab cannot indent YAML; use spaces"
