"""Text to data and places: values by YAML 1.2, and where each key and value stands."""

import io
import json
import math
from textwrap import dedent

import pytest
import ruamel.yaml
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.text.path import Part
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span

TABLES = read_cases(__file__)


def read(text, name="a.yaml"):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents


def read_one(text, name="a.yaml"):
    (document,) = read(dedent(text), name)
    return document


def slices(document, path):
    """The key, value, head and entry at a path, as they are written."""
    return [document.source.slice(document.span(path, part)) for part in Part]


SUITE = """\
    # cases
    plain: some words
    quoted "key": 'it''s'
    "double": "a\\tb"  # not this
    literal: |
      one

      two

    folded: >-
      one
      two
    # between
    block:
      - a: 1
        b: 2   # not this
      -
        - deep

      - - # not this
      - !own
    flow: {a: [1, 2], "b": , c}
    empty:
    last: ~
    """


@pytest.mark.parametrize(("path", "expected"), TABLES["places of keys and values"])
def test_places_of_keys_and_values(path, expected):
    document = read_one(SUITE)
    assert slices(document, tuple(path)) == expected


def test_the_root():
    document = read_one("# first\na: 1\nb: 2\n# last\n")
    assert slices(document, ()) == ["a: 1\nb: 2", "a: 1\nb: 2", "a", "a: 1\nb: 2"]


DATA = TABLES["DATA"]


@pytest.mark.parametrize(("text", "expected"), DATA.values(), ids=DATA)
def test_data(text, expected):
    assert read_one(text).data == expected


def test_an_alias_is_the_very_object_and_has_a_place_of_its_own():
    document = read_one("a: &x [1, 2]\nb: [*x]\n")
    assert document.data["b"][0] is document.data["a"]
    assert slices(document, ("b", 0)) == ["[1, 2]", "[1, 2]", "[1, 2]", "*x"]


def test_an_anchor_and_a_tag_are_no_part_of_a_value():
    document = read_one(
        "a: &x !!str text\nb: !own 'q'\nc: &y\nd: &z [1]\ne: &p !!map\n  f: 1\ng: !!seq # x\n  - 2\nh: !own # x\n  t\n"
    )
    expected = ["text", "'q'", "c", "[1]", "f: 1", "- 2", "t"]
    assert [slices(document, (key,))[1] for key in "abcdegh"] == expected


def test_merged_fields_stand_at_their_definition():
    document = read_one("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n")
    assert [slices(document, ("b", key))[:2] for key in "yx"] == [["y", "2"], ["x", "1"]]


SHARED = """\
a: &a {x: 1, z: &s t}
b: &b {y: 2}
list: &l [*a, *b]
c:
  <<: *l
  own: *s
  x: [*b, *s, p]
"""


def test_fields_from_a_list_of_merges_stand_at_their_definitions():
    document = read_one(SHARED)
    merged = [(key, document.written_at(("c", key)), document.is_merged(("c", key))) for key in ("y", "z", "x", "own")]
    assert merged == [("y", "2", True), ("z", "t", True), ("x", "[*b, *s, p]", False), ("own", "t", False)]
    assert [step for step, _ in document.merged_fields(("c",))] == ["z", "y"]


def test_ambiguous_scalars_are_found_before_anything_else_is_asked():
    document = read_one("a: [yes, 'no', ! on, {b: 0o7}]\n")
    assert [(path, found.text) for path, found in document.ambiguous_scalars(("a",))] == [
        (("a", 0), "yes"),
        (("a", 3, "b"), "0o7"),
    ]


def test_an_item_that_is_an_alias_extends_over_the_alias():
    document = read_one(SHARED)
    assert [document.source.slice(document.extent(("c", "x", index))) for index in range(3)] == ["*b", "*s", "p"]
    assert document.source.slice(document.extent(("c", "own"))) == "own: *s"


def test_siblings_are_the_fields_that_are_written_beside_one():
    document = read_one(SHARED)
    assert [document.source.slice(span) for span in document.siblings(("c", "own"))] == ["x: [*b, *s, p]"]
    assert [document.source.slice(span) for span in document.siblings(("c", "z"))] == ["x: 1"]


def test_a_value_is_shared_that_an_alias_may_repeat():
    document = read_one(SHARED)
    paths = [("a",), ("a", "x"), ("a", "z"), ("c", "own"), ("c", "x"), ("c", "x", 0), ("c", "x", 2)]
    assert [path for path in paths if document.is_shared(path)] == [("a", "z"), ("c", "own"), ("c", "x", 0)]
    assert [path for path in paths if document.is_alias(path)] == [("c", "own"), ("c", "x", 0)]
    assert [path for path in paths if document.is_flow(path)] == [("a", "x"), ("a", "z"), ("c", "x", 0), ("c", "x", 2)]


def test_every_repeated_key_is_kept_with_both_places():
    text = "a: 1\nb: {c: [x], c: 2, c: 3}\n'a': 4\n"
    document = read_one(text)
    found = [
        (pair.key, document.source.position(pair.first.start)[:2], document.source.position(pair.second.start)[:2])
        for pair in document.duplicates
    ]
    assert found == [("c", (2, 5), (2, 13)), ("c", (2, 13), (2, 19)), ("a", (1, 1), (3, 1))]
    assert [pair.shadowed for pair in document.duplicates] == [["x"], 2, 1]


def test_documents_are_numbered_where_there_are_several():
    text = "# one\n---\na: 1\n...\n# two\n---\nb: 2\n--- c\n"
    found = [(each.number, each.data, each.source.slice(each.preamble)) for each in read(text)]
    assert found == [(0, {"a": 1}, "# one\n---\n"), (1, {"b": 2}, "\n# two\n---\n"), (2, "c", "--- ")]
    assert [each.number for each in read("a: 1\n")] == [None]


def test_lines_of_json():
    text = '{"a": 1}\n\n[2]\n{"a": }\n"é"\r\n{"b": [3'
    documents, faults = read_documents(Source("a.jsonl", text))
    assert [(each.number, each.data) for each in documents] == [(0, {"a": 1}), (1, [2]), (3, "é")]
    assert [text[slice(*fault.span)] for fault in faults] == ["}", "["]


def test_a_line_of_json_has_no_preamble_but_its_own():
    """Else each line would be searched for a modeline with all the lines above it."""
    documents, _ = read_documents(Source("a.jsonl", "1\n22\n\n333\n"))
    assert [each.preamble for each in documents] == [(0, 0), (2, 2), (6, 6)]


def test_entries_are_all_that_is_written_in_order():
    document = read_one("a: &x\n  - b: 1\nc: *x\nd: {<<: {e: 2}, f: [3]}\n")
    found = [("/".join(map(str, path)), document.source.slice(span)) for path, span in document.entries()]
    assert found == [
        ("a", "a: &x\n  - b: 1"),
        ("c", "c: *x"),
        ("d", "d: {<<: {e: 2}, f: [3]}"),
        ("a/0", "b: 1"),
        ("a/0/b", "b: 1"),
        ("d/f", "f: [3]"),
        ("d/e", "e: 2"),
        ("d/f/0", "3"),
    ]


KEYS = st.text(alphabet="abc é👍'\"#:-{[", min_size=1, max_size=5)
TEXTS = st.text(alphabet="ab é👍'\"#:-{[\n\\\t", max_size=8)
SCALARS = st.one_of(TEXTS, st.integers(-20, 20), st.booleans(), st.none(), st.floats(-9, 9, width=16))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


def every_scalar(value, path=()):
    if isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from every_scalar(item, (*path, step))
    else:
        yield path, value


def assert_places(document, data):
    """Each scalar of the data stands where the document says, and each key."""
    assert (repr(document.data), document.duplicates) == (repr(data), ())
    for path, value in every_scalar(data):
        span = document.span(path)
        if value is not None:
            position = document.source.position(span.start)
            assert read_one_value(" " * (position.column - 1) + document.source.slice(span)) == value
        if path and isinstance(path[-1], str):
            assert read_one_value(document.source.slice(document.span(path, Part.KEY)), as_key=True) == path[-1]


def read_one_value(text, *, as_key=False):
    if as_key:
        return next(iter(read(f"{{{text}: }}")[0].data))
    return read(text)[0].data


@given(VALUES)
def test_json_means_what_it_means_to_python(data):
    for text in (json.dumps(data), json.dumps(data, indent=1, ensure_ascii=False)):
        assert_places(read(text, "a.json")[0], data)


@given(VALUES, st.sampled_from([None, False, True]))
def test_yaml_means_what_it_means_to_ruamel(data, style):
    out = io.StringIO()
    writer = ruamel.yaml.YAML(typ="safe", pure=True)
    writer.default_flow_style = style
    writer.allow_unicode = True
    writer.dump(data, out)
    try:
        read_by_ruamel = ruamel.yaml.YAML(typ="safe", pure=True).load(out.getvalue())
    except ruamel.yaml.YAMLError:
        return  # not all that it writes it can read
    document = read(out.getvalue())[0]
    assert document.data == read_by_ruamel or any(isinstance(value, float) for _, value in every_scalar(data))
    assert Span(0, 0) <= document.span(()) <= Span(len(out.getvalue()), len(out.getvalue()))


def test_numbers_that_are_none_are_still_numbers():
    data = read_one("[.nan, .inf, -.inf]").data
    assert (math.isnan(data[0]), data[1:]) == (True, [math.inf, -math.inf])
