"""Text to data and places: values by YAML 1.2, and where each key and value stands."""

import io
import json
import math

import pytest
import ruamel.yaml
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.source.deadline import TimeUpError
from rubric_lint.source.path import Part
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span

TABLES = read_cases(__file__)


def read(text, name="a.yaml"):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents


def describe(source):
    """All that the documents of a file say, each place by the text that is there: key, value, head, entry and extent.

    `=` stands for the text of the place before.
    """

    def write(spans):
        found = [source.slice(span) for span in spans]
        return [text if text != before else "=" for text, before in zip(found, [None, *found], strict=False)]

    documents, faults = read_documents(source)
    yield from (f"fault at {source.slice(fault.span)!r}: {fault.message}" for fault in faults)
    for document in documents:
        yield f"document {document.number}, preamble {source.slice(document.preamble)!r}: {document.data!r}"
        yield f"  root: {write(document.span((), part) for part in Part)}"
        for path, _ in document.entries():
            value, flags = document.value(path), ("alias", "merged", "shared", "flow")
            told = [name for name in flags if getattr(document, f"is_{name}")(path)]
            if isinstance(value, int | float) and not isinstance(value, bool):
                told.append(f"decimal {document.decimal(path)}")
            parts = write([*(document.span(path, part) for part in Part), document.extent(path)])
            assert document.written_at(path) == source.slice(document.span(path))
            siblings = [source.slice(span) for span in document.siblings(path)]
            merged = [step for step, _ in document.merged_fields(path)]
            yield f"  {'/'.join(map(str, path))}: {' '.join(told)} {parts}, beside {siblings}, merges {merged}"
        yield from (f"  comment {source.slice(span)}" for span in document.tree.comments)
        yield from (f"  ambiguous {path}: {found.text}" for path, found in document.ambiguous_scalars(()))
        for pair in document.duplicates:
            places = [tuple(source.position(span.start)[:2]) for span in (pair.first, pair.second)]
            yield f"  repeated {pair.key} in {pair.owner} at {places}, shadowed {pair.shadowed!r}"


@pytest.mark.parametrize(("ending", "name"), [(ending, name) for ending in TABLES for name in TABLES[ending]])
def test_what_the_documents_of_a_text_say(ending, name, said):
    said([*describe(Source(f"a.{ending}", TABLES[ending][name]))])


def test_an_alias_is_the_very_object_that_its_anchor_names_and_many_brackets_are_not_many_levels():
    (document,) = read("a: &x [1, 2]\nb: [*x]\n")
    assert document.data["b"][0] is document.data["a"]
    (document,) = read(f"[{'[a], ' * 400}]\n")
    assert len(document.data) == 400


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
    data = read("[.nan, .inf, -.inf]")[0].data
    assert (math.isnan(data[0]), data[1:]) == (True, [math.inf, -math.inf])


def fault_of(text, name="a.yaml"):
    documents, (fault,) = read_documents(Source(name, text))
    assert documents == []
    return text[slice(*fault.span)], fault.message


def test_an_alias_bomb_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "stand for more than 1,000,000 values" in fault_of("\n".join(lines))[1]


def test_aliases_may_stand_for_a_million_values():
    listed = f"a: &a [{', '.join('x' * 999)}]\nb: "  # with the list itself a thousand
    (document,) = read(f"{listed}[{', '.join(['*a'] * 1000)}]\n")
    assert len(document.data["b"]) == 1000
    message = "the aliases up to `*a` stand for more than 1,000,000 values"
    assert fault_of(f"{listed}[{', '.join(['*a'] * 1001)}]\n") == ("*a", message)
    once = f"{listed}&b [{', '.join(['*a'] * 500)}]\nc: "
    assert len(read(f"{once}[*a, *a]\n")) == 1
    message = "the aliases in this value stand for more than 1,000,000 values"
    assert fault_of(f"{once}[*b]\n") == ("[", message)


DEEP = "nested more than 250 levels deep; a rubric needs fewer than ten"


@pytest.mark.parametrize(
    ("opens", "closes"), [("[", "]"), ("- ", ""), ("{a: ", "}"), ("? ", "")], ids=["list", "dash", "map", "question"]
)
@pytest.mark.parametrize("anchors", ["", "# &x\n--- # *x\n"], ids=["composed", "from events"])
def test_depth_ends_where_a_small_stack_would(opens, closes, anchors):
    assert len(read(f"{anchors}{opens * 250}a{closes * 250}\n")) == 1
    assert fault_of(f"{anchors}{opens * 251}a{closes * 251}\n") == (opens[0], DEEP)


def test_composing_a_large_text_looks_at_the_clock(monkeypatch):
    def stop():
        raise TimeUpError

    monkeypatch.setattr("rubric_lint.source.reading.check_time", stop)
    monkeypatch.setattr("rubric_lint.source.yaml_events.check_time", stop)  # where the pure parser reads
    with pytest.raises(TimeUpError):
        read("- a: b\n" * 60_000)


@pytest.mark.parametrize(
    "opening",
    [
        pytest.param("[", id="lists"),
        pytest.param("{a: ", id="mappings"),
        pytest.param("[[a], {b: c}, ", id="others-beside"),
        pytest.param("- ", id="dashes"),
        pytest.param("? ", id="questions"),
    ],
)
def test_however_it_is_written_deep_nesting_is_refused(opening):
    assert fault_of(opening * 300)[1] == DEEP


@pytest.mark.parametrize("end", ["\n", "\r"])
@pytest.mark.parametrize("key", ["a:", "-"])
def test_deep_indents_are_refused_at_whatever_ends_the_lines(end, key):
    assert fault_of(end.join(" " * level + key for level in range(300)))[1] == DEEP


def test_many_flat_brackets_and_dashes_are_no_deep_nesting():
    text = "".join(f'- a: [{n}, "b, [c"]\n  b: {{c: [d, e], "f": {{}}}}\n' for n in range(200))
    (document,) = read(text)
    assert document.data == [{"a": [n, "b, [c"], "b": {"c": ["d", "e"], "f": {}}} for n in range(200)]
