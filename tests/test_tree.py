"""What the C parser does not tell of its nodes, or leaves out: aliases, tags, ends of documents, depth, decimals."""

from decimal import Decimal

import pytest

from rubric_lint.text.deadline import TimeUpError
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

TOO_DEEP = "nested more than 250 levels deep; a rubric needs fewer than ten"


def read(text, name="a.yaml"):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents


def fault_of(text, name="a.yaml"):
    documents, (fault,) = read_documents(Source(name, text))
    assert documents == []
    return text[slice(*fault.span)], fault.message


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: &x 1\nb: *x\n", {"a": 1, "b": 1}),
        ('{"a":&x 1,"b":*x }\n', {"a": 1, "b": 1}),
        ("- &x a\n- &x b\n- *x\n", ["a", "b", "b"]),
        ("a: '*x & *y'\nb: a&b *c\n", {"a": "*x & *y", "b": "a&b *c"}),
        ("&x a: *x\n", {"a": "a"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}\n", {"a": {"b": 1}, "c": {"d": 2, "b": 1}}),
    ],
)
def test_aliases_are_what_their_anchors_name(text, data):
    (document,) = read(text)
    assert document.data == data


def test_an_alias_is_the_object_that_its_anchor_names():
    (document,) = read("a: &x {b: [1]}\nc: *x\n")
    assert document.data["a"] is document.data["c"]
    assert (document.is_alias(("a",)), document.is_alias(("c",))) == (False, True)


def test_each_document_knows_of_its_own_aliases():
    first, second = read("a: &x 1\nb: *x\n---\na: 1\n")
    assert (first.has_aliases, second.has_aliases) == (True, False)


@pytest.mark.parametrize(
    ("text", "written", "message"),
    [
        ("a: *x\n", "*x", "alias `*x` has no anchor `&x` before it"),
        ("a: &x\n  b: *x\n", "*x", "alias `*x` is inside the value that it repeats"),
        ("a: &x 1\n---\nb: *x\n", "*x", "alias `*x` has no anchor `&x` before it"),
        ("a: *x\nb: [\n", "*x", "alias `*x` has no anchor `&x` before it"),
    ],
)
def test_an_alias_of_nothing_is_named(text, written, message):
    assert fault_of(text) == (written, message)


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


@pytest.mark.parametrize(
    ("written", "value"),
    [("! 12", "12"), ("12", 12), ("!!int 12", 12), ("!!str 12", "12"), ("!mine 12", "12"), ("! yes", "yes")],
)
def test_a_tag_says_what_a_scalar_is(written, value):
    (document,) = read(f"a: {written}\n")
    assert document.data == {"a": value}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("&x 12", 12), ("&x ! 12", "12"), ("! &x 12", "12"), ("&x !!str 12", "12"), ("&x !!int '12'", 12)),
        *(("&x # !\n  12", 12), ("&x # a\n  # b\n  ! 12", "12"), ("&x!\n  12", 12)),
    ],
)
def test_a_tag_says_so_beside_an_anchor_too(written, value):
    (document,) = read(f"a: {written}\n")
    assert document.data == {"a": value}
    name = "x!" if "x!" in written else "x"
    (document,) = read(f"a: {written}\nb: *{name}\n")
    assert document.data == {"a": value, "b": value}


DEEP = "nested more than 250 levels deep; a rubric needs fewer than ten"


@pytest.mark.parametrize(
    ("opens", "closes"), [("[", "]"), ("- ", ""), ("{a: ", "}"), ("? ", "")], ids=["list", "dash", "map", "question"]
)
@pytest.mark.parametrize("anchors", ["", "# &x\n--- # *x\n"], ids=["composed", "from events"])
def test_depth_ends_where_a_small_stack_would(opens, closes, anchors):
    assert len(read(f"{anchors}{opens * 250}a{closes * 250}\n")) == 1
    assert fault_of(f"{anchors}{opens * 251}a{closes * 251}\n") == (opens[0], DEEP)


def test_many_brackets_are_not_many_levels():
    (document,) = read(f"[{'[a], ' * 400}]\n")
    assert len(document.data) == 400


NUMBERS = ["0.70", "1.0", "1e3", "0.1234567890123456789", "7", "0.5"]


@pytest.mark.parametrize(
    ("written", "name"),
    [*((each, "a.yaml") for each in [*NUMBERS, "+2.50", "0x1F"]), *((each, "a.json") for each in NUMBERS)],
)
def test_a_number_is_exactly_as_written(written, name):
    (document,) = read(f'{{"a": {written}}}', name)
    expected = Decimal(int(written, 0)) if "x" in written else Decimal(written)
    assert str(document.decimal(("a",))) == str(expected).removeprefix("+")


def test_plain_merge_keys_may_repeat_and_others_may_not():
    (document,) = read("a: &x {b: 1}\nc:\n  <<: *x\n  <<: {d: 2}\n  '<<': 3\n  '<<': 4\n")
    assert document.data["c"] == {"<<": 4, "b": 1, "d": 2}
    assert [(found.key, found.owner) for found in document.duplicates] == [("<<", ("c",))]


def test_what_a_merge_key_cannot_merge_is_a_value():
    (document,) = read("a: &x {b: 1}\nc: {<<: []}\nd: {<<: [*x, 1]}\n")
    assert document.data == {"a": {"b": 1}, "c": {"<<": []}, "d": {"<<": [{"b": 1}, 1]}}


def test_a_collection_as_a_key_is_named_as_it_is_written():
    (document,) = read("? &x [a]\n: 1\n? *x\n: 2\n")
    assert document.data == {"[a]": 1, "*x": 2}


def test_the_anchor_of_a_first_key_is_not_that_of_its_mapping():
    (document,) = read("a:\n  &k b: 1\n  c: 2\nd: &l {e: *k}\n")
    assert [document.written_at((key,)) for key in "ad"] == ["&k b: 1\n  c: 2", "{e: *k}"]


def test_a_document_begins_behind_the_one_before_it():
    text = "# a\na: 1\n# still a\n--- # b\nb: 2\n...\n# c\n---\nc: 3\n"
    preambles = [document.source.slice(document.preamble) for document in read(text)]
    assert preambles == ["# a\n", "--- # b\n", "\n# c\n---\n"]


def test_comments_are_what_no_scalar_holds():
    text = "a: 'b # c' # d\ne: | # f\n  # g\nh: i#j\n# k\nl: \"m\n  # n\" # o\n"
    (document,) = read(text)
    assert [text[slice(*span)] for span in document.tree.comments] == ["# d", "# f", "# k", "# o"]


def test_json_lines_have_no_comments_not_even_in_the_lines_of_others():
    documents = read('{"a": 1}\n{"b": "c # d"}\n', "a.jsonl")
    assert [document.tree.comments for document in documents] == [[], []]


def test_composing_a_large_text_looks_at_the_clock(monkeypatch):
    def stop():
        raise TimeUpError

    monkeypatch.setattr("rubric_lint.text.reading.check_time", stop)
    monkeypatch.setattr("rubric_lint.text.yaml_events.check_time", stop)  # where the pure parser reads
    with pytest.raises(TimeUpError):
        read("- a: b\n" * 60_000)


@pytest.mark.parametrize(
    "opening",
    [
        pytest.param("[", id="lists"),
        pytest.param("{a: ", id="mappings"),
        pytest.param('["a, [b", ', id="brackets-in-quotes"),
        pytest.param('[a"b, [c"d], ', id="quotes-inside-texts"),
        pytest.param("['[a]', ", id="single-quotes"),
        pytest.param("[[a], {b: c}, ", id="others-beside"),
        pytest.param('{"a": ["b"], "c": ', id="json"),
        pytest.param("[a, # b]\n ", id="comments"),
        pytest.param("- ", id="dashes"),
        pytest.param("? ", id="questions"),
    ],
)
def test_however_it_is_written_deep_nesting_is_refused(opening):
    assert fault_of(opening * 300)[1] == TOO_DEEP


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("key", ["a:", "-", "?"])
def test_deep_indents_are_refused_at_whatever_ends_the_lines(end, key):
    assert fault_of(end.join(" " * level + key for level in range(300)))[1] == TOO_DEEP


def test_many_flat_brackets_and_dashes_are_no_deep_nesting():
    text = "".join(f'- a: [{n}, "b, [c"]\n  b: {{c: [d, e], "f": {{}}}}\n' for n in range(200))
    (document,) = read(text)
    assert document.data == [{"a": [n, "b, [c"], "b": {"c": ["d", "e"], "f": {}}} for n in range(200)]
