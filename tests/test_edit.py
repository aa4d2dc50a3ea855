"""Intents as edits: what is meant changes, every other character stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.edits.intents import (
    AddField,
    Fix,
    MoveField,
    NestField,
    RemoveField,
    RenameKey,
    Reorder,
    Repair,
    Replace,
    ReplaceValue,
    WrapText,
)
from rubric_lint.edits.lines import ObstacleError
from rubric_lint.edits.making import make_fix
from rubric_lint.lint.mending import find_sharing
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Edit, Source, Span


def read(text, name="a.yaml"):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents[0]


def plan(text, *intents, name="a.yaml"):
    return make_fix(find_sharing(read(text, name)), Repair("mend it", intents, safe=True))


def apply(text, *intents, name="a.yaml"):
    """The text after the edits; None where there is no fix."""
    try:
        fix = plan(text, *intents, name=name)
    except ObstacleError:
        return None
    for (start, end), new in reversed(fix.edits):
        text = text[:start] + new + text[end:]
    return text


def test_a_fix_is_sorted_edits_with_a_title():
    text = "a: 1\nb: true\n"
    intents = (ReplaceValue(("b",), "10"), RenameKey(("a",), "c"))
    fix = plan(text, *intents)
    assert (fix.title, fix.safe, fix.edits) == (
        "mend it",
        True,
        (Edit(Span(0, 1), "c"), Edit(Span(8, 12), "10")),
    )
    assert isinstance(fix, Fix)


RENAMES = {
    "plain": ("a:\n  old: x # c\n", "a:\n  new: x # c\n"),
    "double quotes": ('a: {"old": x}\n', 'a: {"new": x}\n'),
    "single quotes": ("a:\n  'old' : x\n", "a:\n  'new' : x\n"),
    "flow": ("a: {old: x, b: y}\n", "a: {new: x, b: y}\n"),
    "explicit": ("a:\n  ? old\n  : x\n", "a:\n  ? new\n  : x\n"),
    "CRLF": ("a:\r\n  old: x\r\n", "a:\r\n  new: x\r\n"),
    "after emoji": ("👍: 👩‍👩‍👧\na:\n  old: 👍\n", "👍: 👩‍👩‍👧\na:\n  new: 👍\n"),
    "at the end": ("a:\n  old:", "a:\n  new:"),
}


@pytest.mark.parametrize(("before", "after"), RENAMES.values(), ids=RENAMES)
def test_rename(before, after):
    assert apply(before, RenameKey(("a", "old"), "new")) == after


REPLACEMENTS = {
    "plain": ("a: true # c\n", "a: 10 # c\n"),
    "quoted": ('a: "true"\n', "a: 10\n"),
    "flow": ("{a: true, b: 1}\n", "{a: 10, b: 1}\n"),
    "a block text": ("a: |\n  true\n\nb: 1\n", "a: 10\n\nb: 1\n"),
    "no final newline": ("a: true", "a: 10"),
    "on the next line": ("a:\n  true\nb: 1\n", "a:\n  10\nb: 1\n"),
    "tagged": ("a: !!bool true\n", "a: 10\n"),
}


@pytest.mark.parametrize(("before", "after"), REPLACEMENTS.values(), ids=REPLACEMENTS)
def test_replace_value(before, after):
    assert apply(before, ReplaceValue(("a",), "10")) == after


REMOVALS = {
    "the first": ("a:\n  x: 1\n  y: 2\n", "a:\n  y: 2\n"),
    "the last": ("a:\n  y: 2\n  x: 1\n", "a:\n  y: 2\n"),
    "between": ("a:\n  y: 2\n  x: 1\n  z: 3\n", "a:\n  y: 2\n  z: 3\n"),
    "the only one": ("a:\n  x: 1\nb: 2\n", "a:\n  {}\nb: 2\n"),
    "no final newline": ("a:\n  y: 2\n  x: 1", "a:\n  y: 2\n"),
    "CRLF": ("a:\r\n  x: 1\r\n  y: 2\r\n", "a:\r\n  y: 2\r\n"),
    "CR": ("a:\r  x: 1\r  y: 2\r", "a:\r  y: 2\r"),
    "a comment behind": ("a:\n  x: 1 # c\n  y: 2\n", "a:\n  # c\n  y: 2\n"),
    "comments around": ("a:\n  # c\n  x: 1\n  # d\n  y: 2\n", "a:\n  # c\n  # d\n  y: 2\n"),
    "a block text": ("a:\n  x: |\n    t\n\n  y: 2\n", "a:\n\n  y: 2\n"),
    "a value below": ("a:\n  x:\n    - 1\n    - 2\n  y: 2\n", "a:\n  y: 2\n"),
    "no value": ("a:\n  x:\n  y: 2\n", "a:\n  y: 2\n"),
    "an explicit key": ("a:\n  ? x\n  : 1\n  y: 2\n", "a:\n  y: 2\n"),
    "flow, the first": ("a: {x: 1, y: 2}\n", "a: {y: 2}\n"),
    "flow, the last": ("a: {y: 2, x: 1}\n", "a: {y: 2}\n"),
    "flow, between": ("a: {y: 2, x: 1, z: 3}\n", "a: {y: 2, z: 3}\n"),
    "flow, the only one": ("a: {x: 1}\n", "a: {}\n"),
    "flow, quoted": ('a: {"x": "1", "y": 2}\n', 'a: {"y": 2}\n'),
    "flow, a trailing comma": ("a: {y: 2, x: 1,}\n", "a: {y: 2}\n"),
}


@pytest.mark.parametrize(("before", "after"), REMOVALS.values(), ids=REMOVALS)
def test_remove(before, after):
    actual = apply(before, RemoveField(("a", "x")))
    assert actual is not None
    assert read(actual).data == read(after).data
    assert unspaced(actual) == unspaced(after)


def unspaced(text):
    return [line.strip() for line in text.replace("\r", "\n").replace(",}", "}").split("\n") if line.strip()]


FLOW_ON_LINES = {  # C14
    "the first": ("a: {\n  x: 1,\n  y: 2\n}\n", "a: {\n  y: 2\n}\n"),
    "the last": ("a: {\n  y: 2,\n  x: 1\n}\n", "a: {\n  y: 2\n}\n"),
    "the only one": ("a: {\n  x: 1\n}\n", "a: {\n}\n"),
    "a comma before it": ("a: {\n  y: 1\n  ,x: 2\n}\n", "a: {\n  y: 1\n}\n"),
    "a comment behind it": ("a: {y: 1,\n x: 2 # c\n}\n", "a: {y: 1 # c\n}\n"),
    "a comment behind its comma": ("a: {y: 1,\n x: 2 , # c\n z: 3}\n", "a: {y: 1,\n # c\n z: 3}\n"),
    "a comment below it": ("a: {x: 1,\n# c\n y: 2}\n", "a: {\n# c\n y: 2}\n"),
    "CRLF": ("a: {\r\n  x: 1,\r\n  y: 2\r\n}\r\n", "a: {\r\n  y: 2\r\n}\r\n"),
    "blank lines": ("a: {y: 2,\n\n  x: 1\n\n}\n", "a: {y: 2\n\n}\n"),
    "the bracket behind it": ("a: {y: 2,\n x: 1}\n", "a: {y: 2}\n"),
}


@pytest.mark.parametrize(("before", "after"), FLOW_ON_LINES.values(), ids=FLOW_ON_LINES)
def test_remove_from_flow_style_on_several_lines(before, after):
    assert apply(before, RemoveField(("a", "x"))) == after


BESIDE_A_DASH = {
    "the first of several": ("- x: 1\n  y: 2\n- z\n", "- y: 2\n- z\n"),
    "the first, with a comment": ("- x: 1 # c\n  y: 2\n", "- # c\n  y: 2\n"),
    "a later one": ("- y: 2\n  x: 1\n- z\n", "- y: 2\n- z\n"),
    "the only one": ("- x: 1\n- z\n", "- {}\n- z\n"),
    "indented": ("  -   x: 1\n      y: 2\n", "  -   y: 2\n"),
    "a dash of its own": ("-\n  x: 1\n  y: 2\n", "-\n  y: 2\n"),
    "nested dashes": ("- - x: 1\n    y: 2\n", "- - y: 2\n"),
}


@pytest.mark.parametrize(("before", "after"), BESIDE_A_DASH.values(), ids=BESIDE_A_DASH)
def test_remove_beside_a_dash(before, after):
    path = (0, 0, "x") if before.startswith("- -") else (0, "x")
    assert apply(before, RemoveField(path)) == after


COMMENTS_INSIDE = {
    "behind the key": ("a:\n  x: # c\n    1\n  y: 2\n", "a:\n  # c\n  y: 2\n"),
    "on a line of its own": ("a:\n  x:\n    # c\n    1\n  y: 2\n", "a:\n    # c\n  y: 2\n"),
    "behind the key and the value": ("a:\n  x: # c\n    1 # d\n  y: 2\n", "a:\n  # c\n    # d\n  y: 2\n"),
    "of an explicit key": ("a:\n  ? x # c\n  : 1\n  y: 2\n", "a:\n  # c\n  y: 2\n"),
    "in the last field": ("a:\n  y: 2\n  x: # c\n    1\nb: 3\n", "a:\n  y: 2\n  # c\nb: 3\n"),
    "no final newline": ("a:\n  y: 2\n  x: # c\n    1", "a:\n  y: 2\n  # c\n"),
    "CRLF": ("a:\r\n  x: # c\r\n    1\r\n  y: 2\r\n", "a:\r\n  # c\r\n  y: 2\r\n"),
    "a blank line below": ("a:\n  x: # c\n    1\n\n  y: 2\n", "a:\n  # c\n\n  y: 2\n"),
}


@pytest.mark.parametrize(("before", "after"), COMMENTS_INSIDE.values(), ids=COMMENTS_INSIDE)
def test_remove_around_comments(before, after):
    assert apply(before, RemoveField(("a", "x"))) == after


def test_remove_around_comments_beside_a_dash():
    assert apply("- x: # c\n    1\n  y: 2\n", RemoveField((0, "x"))) == "- # c\n  y: 2\n"


JSON = [
    ('{"x": 1, "y": 2}', '{"y": 2}'),
    ('{"y": 2, "x": 1}', '{"y": 2}'),
    ('{\n  "x": 1,\n  "y": 2\n}', '{\n  "y": 2\n}'),
    ('{\n  "y": 2,\n  "x": 1\n}', '{\n  "y": 2\n}'),
    ('{"x": [1, {"a": "}"}]}', "{}"),
]


@pytest.mark.parametrize(("before", "after"), JSON)
def test_remove_from_json(before, after):
    assert apply(before, RemoveField(("x",)), name="a.json") == after


def test_text_that_has_no_path_can_be_replaced():
    assert apply("a: 1 # c\n", Replace(Span(4, 8), "")) == "a: 1\n"


TEXTS = {
    "into the quotes of the old one": ("a: 'x' # c\n", "abc", "a: 'abc' # c\n"),
    "with quotes of its own": ("a: 'x' # c\n", '"a b"', 'a: "a b" # c\n'),
}


@pytest.mark.parametrize(("before", "new", "after"), TEXTS.values(), ids=TEXTS)
def test_a_string_replaces_a_quoted_one(before, new, after):
    assert apply(before, ReplaceValue(("a",), new)) == after


TWICE = "`x` is written twice in this mapping; remove one"
OBSTACLES = {
    "a repeated key, its value": ("x: 1\nx: 2\n", ReplaceValue(("x",), "3")),
    "a repeated key, its name": ("x: 1\nx: 2\n", RenameKey(("x",), "y")),
    "a repeated key, removed": ("x: 1\nx: 2\n", RemoveField(("x",))),
    "a repeated key, nested": ("x: 1\nx: 2\n", NestField(("x",), "l", ("id", "k"), "t")),
    "a repeated key beside aliases": ("a: &a 1\nb: *a\nx: 1\nx: 2\n", RenameKey(("x",), "y")),
    "a repeated key that shares the value": ("p: {x: &t true}\nq: {x: 1, x: *t}\n", ReplaceValue(("p", "x"), "10")),
    "a key that is a text block with a comment": ("? | # c\n  x\n: 1\n", RenameKey(("x\n",), "y")),
    "a key that aliases repeat": ("&k x: 1\nb: {*k : 2}\n", RenameKey(("x",), "y")),
    "a pair at the end of a list": ("[y: 1, x: 2]\n", RemoveField((1, "x"))),
    "a comment in the only field": ("a:\n  x: # c\n    1\n", RemoveField(("a", "x"))),
    "a comment between brackets": ("a: {x: # c\n 1}\n", RemoveField(("a", "x"))),
}


@pytest.mark.parametrize(("text", "intent"), OBSTACLES.values(), ids=OBSTACLES)
def test_an_obstacle_says_what_is_in_the_way(text, intent, said):
    with pytest.raises(ObstacleError) as error:
        plan(text, intent)
    said(str(error.value))


SHARED = {
    "a field added": AddField(("rubrics", 0), "id", "x"),
    "an order": Reorder(("rubrics", 0), ("p",)),
    "a field wrapped": WrapText(("rubrics", 0, "p"), "t", ("id", "x"), ("weight", "1")),
}


@pytest.mark.parametrize("intent", SHARED.values(), ids=SHARED)
@pytest.mark.parametrize("outside", ["- &b {p: one}", "- {<<: &b {p: one}}"], ids=["alias", "merge"])
def test_a_mapping_that_is_used_outside_all_rubrics_stays(intent, outside):
    document = read(f"tests:\n{outside}\nrubrics:\n- *b\n")
    with pytest.raises(ObstacleError, match=r"^it is shared with `/tests/0` \(line 2\), which is outside all rubrics"):
        make_fix(find_sharing(document, [("rubrics",)]), Repair("mend it", (intent,), safe=True))


@pytest.mark.parametrize("intent", SHARED.values(), ids=SHARED)
def test_what_other_mappings_share_does_not_keep_one_from_its_fix(intent):
    document = read("tests:\n- &b {q: 1}\n- {<<: *b}\nrubrics:\n- {p: one}\n")
    repair = Repair("mend it", (intent,), safe=True)
    assert make_fix(find_sharing(document, [("rubrics",)]), repair).intents == (intent,)


def test_a_list_that_is_the_whole_document_may_share_values():
    document = read("- {x: &t true}\n- {x: *t}\n- {y: *t}\n")
    repair = Repair("mend it", (ReplaceValue((0, "x"), "10"),), safe=True)
    with pytest.raises(ObstacleError, match=r"^its value is shared with `/2/y` \(line 3\), which is outside all"):
        make_fix(find_sharing(document, [(0,), (1,)]), repair)


BLOCKED = {
    "a key that is an alias": ("&k old: 1\nb: {*k : 2}\n", RenameKey(("b", "old"), "new")),
    "a value that another field repeats": ("a: &a true\nb: *a\n", ReplaceValue(("a",), "10")),
}


@pytest.mark.parametrize(("text", "intent"), BLOCKED.values(), ids=BLOCKED)
def test_what_would_change_more_than_is_meant_is_not_done(text, intent):
    assert apply(text, intent) is None


FLOW_TEXT = st.sampled_from(["plain", "'single # no'", '"dou\\"ble"', "7", "👍 é", "[1, 2]", "{p: q}"])
TEXT = st.one_of(FLOW_TEXT, st.sampled_from(["~", ""]))
COMMENT = st.sampled_from(["", " # c", "  # d: 1"])
KEYS = st.lists(st.sampled_from(["x", "y", "z", '"q"', "'s t'"]), unique=True, min_size=1, max_size=4)


@st.composite
def block_mappings(draw):
    """The text of a mapping in block style, in a list and on its own, with comments and blank lines."""
    lines = []
    for key in draw(KEYS):
        lines += draw(st.sampled_from([[], ["# above"], [""]]))
        value = draw(
            st.one_of(TEXT, st.sampled_from(["|\n  one\n\n  two # no", ">-\n  one", "\n  - 1\n  - b: 2", "\n  b: 2"]))
        )
        is_long = "\n" in value
        separator = "" if value.startswith("\n") or not value else " "
        lines += f"{key}:{separator}{value}{'' if is_long else draw(COMMENT)}".split("\n")
    first = next(index for index, line in enumerate(lines) if line and not line.startswith("#"))
    head, lines = lines[:first], lines[first:]
    lead, indent = draw(
        st.sampled_from([("", ""), ("- ", "  "), ("top:\n  ", "  "), ("- - ", "    "), ("-\n  ", "  ")])
    )
    text = lead + "\n".join(indent + line if line else "" for line in lines)[len(indent) :]
    text = "".join(f"{line}\n" for line in head) + text
    text += draw(st.sampled_from(["\n", "", "\n# end\n", "\n\n"]))
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    path = {"": (), "- ": (0,), "top:\n  ": ("top",), "- - ": (0, 0), "-\n  ": (0,)}[lead]
    return text.replace("\n", line_end), path


@st.composite
def flow_mappings(draw):
    """The text of a mapping in flow style, as YAML and as JSON."""
    spaces = draw(st.sampled_from(["", " ", "\n  "]))
    keys = draw(KEYS)
    fields = [f"{key}: {draw(FLOW_TEXT)}" for key in keys]
    comma = draw(st.sampled_from(["", ","]))
    return f"top: {{{spaces}{f',{spaces or chr(32)}'.join(fields)}{comma}{spaces}}} # end\n", ("top",)


MAPPINGS = st.one_of(block_mappings(), flow_mappings())


def at(data, path):
    for step in path:
        data = data[step]
    return data


def comments(text):
    return [word for word in ("# above", "# c", "# d: 1", "# end") for _ in range(text.count(word))]


@pytest.mark.slow
@given(MAPPINGS, st.data())
def test_a_removal_takes_the_field_and_nothing_else(mapping, data):
    text, path = mapping
    before = read(text)
    key = data.draw(st.sampled_from(list(at(before.data, path))))
    after = apply(text, RemoveField((*path, key)))
    expected = read(text).data
    del at(expected, path)[key]
    assert read(after).data == expected
    assert comments(after) == comments(text)


@given(MAPPINGS, st.data())
def test_a_rename_changes_one_key(mapping, data):
    text, path = mapping
    key = data.draw(st.sampled_from(list(at(read(text).data, path))))
    after = apply(text, RenameKey((*path, key), "renamed"))
    fields = at(read(text).data, path)
    expected = [("renamed" if name == key else name, value) for name, value in fields.items()]
    assert list(at(read(after).data, path).items()) == expected
    assert len(after) == len(text) + len("renamed") - len(key)


@given(MAPPINGS, st.data())
def test_a_replacement_changes_one_value(mapping, data):
    text, path = mapping
    fields = at(read(text).data, path)
    scalars = [key for key, value in fields.items() if not isinstance(value, dict | list | None)]
    if not scalars:
        return
    key = data.draw(st.sampled_from(scalars))
    after = apply(text, ReplaceValue((*path, key), "10"))
    assert at(read(after).data, path) == {**fields, key: 10}
    assert comments(after) == comments(text)


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.one_of(st.text(max_size=3), st.integers(), st.lists(st.booleans())),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([None, 2]),
    st.data(),
)
def test_edits_of_json(fields, indent, data):
    key = data.draw(st.sampled_from(list(fields)))
    text = json.dumps({"top": fields}, indent=indent, ensure_ascii=data.draw(st.booleans()))
    removed = apply(text, RemoveField(("top", key)), name="a.json")
    renamed = apply(text, RenameKey(("top", key), "renamed"), name="a.json")
    assert json.loads(removed)["top"] == {name: value for name, value in fields.items() if name != key}
    assert list(json.loads(renamed)["top"]) == ["renamed" if name == key else name for name in fields]


def test_a_field_is_added_last_in_the_style_of_the_others():
    texts = {
        "- x: 1 # c\n": "- x: 1 # c\n  id: k\n",
        "- x: 1\r\n- y\r\n": "- x: 1\r\n  id: k\r\n- y\r\n",
        "- x: 1": "- x: 1\n  id: k",
        "- 'x': 1\n": "- 'x': 1\n  'id': k\n",
        "- x:\n    - 1\n    - 2\n\n- y\n": "- x:\n    - 1\n    - 2\n  id: k\n\n- y\n",
        "- ? x\n  : 1\n": "- ? x\n  : 1\n  id: k\n",
        "- {x: 1}\n": "- {x: 1, id: k}\n",
        "- {x: 1,\n   y: 2}\n": "- {x: 1,\n   y: 2,\n   id: k}\n",
        "- x: 1\n  y: |\n    t\n- z\n": "- x: 1\n  id: k\n  y: |\n    t\n- z\n",
        "- x: >-\n    t\n  y: |\n    u\n": "- id: k\n  x: >-\n    t\n  y: |\n    u\n",
        "- !!map\n  &k x: !!str |\n   t\n": "- !!map\n  id: k\n  &k x: !!str |\n   t\n",
        "- {}\n": None,
        "- {<<: {x: 1}}\n": None,
    }
    assert {text: apply(text, AddField((0,), "id", "k")) for text in texts} == texts
    before, after = '[{"x": 1, "y": 2}]', '[{"x": 1, "y": 2, "id": %s}]'
    added = [apply(before, AddField((0,), "id", value), name="a.json") for value in ("k", "10")]
    assert added == [after % '"k"', after % "10"]


def test_a_string_becomes_a_mapping_that_has_it():
    wrap = WrapText((0,), "t", ("id", "k"), ("weight", "1"))
    texts = {
        "- one # c\n": "- id: k\n  t: one # c\n  weight: 1\n",
        "- 'one'\n- two\n": "- id: k\n  t: 'one'\n  weight: 1\n- two\n",
        "- one\r\n- two\r\n": "- id: k\r\n  t: one\r\n  weight: 1\r\n- two\r\n",
        "- one": "- id: k\n  t: one\n  weight: 1",
        "-\n  one\n": "-\n  id: k\n  t: one\n  weight: 1\n",
        "- &x !!str one\n- *x\n": "- id: k\n  t: &x !!str one\n  weight: 1\n- *x\n",
        "[one, two]\n": "[{id: k, t: one, weight: 1}, two]\n",
        "- one\n  two\n": None,
        "- one\r  two\r": None,
        "- |\n  one\n": None,
        "- >\n  one\n": None,
    }
    assert {text: apply(text, wrap) for text in texts} == texts
    assert apply('["one"]', wrap, name="a.json") == '[{"id": "k", "t": "one", "weight": 1}]'


def test_a_field_in_a_flow_mapping_goes_with_its_comma_and_leaves_comments():
    texts = {
        "{x: , b: 1}\n": "{b: 1}\n",
        "{b: 1, x: }\n": "{b: 1}\n",
        "{b: 1,\n x: 2, # c\n d: 3}\n": "{b: 1,\n # c\n d: 3}\n",
        "{b: 1,\nx: 2 # c\n}\n": "{b: 1 # c\n}\n",
        "{x: 2, # c\n d: 3}\n": "{ # c\n d: 3}\n",
        "{b: 1, x: 2 # c\n , d: 3}\n": "{b: 1, # c\n d: 3}\n",
        "{\n  x: 1, # c\n  y: 2\n}\n": "{\n  # c\n  y: 2\n}\n",
        "{\nx: 1, # c\n y: 2}\n": "{\n# c\n y: 2}\n",
    }
    assert {text: apply(text, RemoveField(("x",))) for text in texts} == texts


@pytest.mark.parametrize("value", ["x y", '"x, y"', "'x'", "x:y"])
def test_a_value_that_every_style_reads_alike_moves_between_brackets(value):
    assert apply(f"a: {value}\nb: {{c: 1}}\n", MoveField(("a",), ("b",))) == f"b: {{c: 1, a: {value}}}\n"


@pytest.mark.parametrize("sign", ",[]{}#&*!|>%@`\"'")
def test_a_value_that_brackets_may_change_does_not_move_between_them(sign):
    with pytest.raises(ObstacleError, match="written in another style"):
        plan(f"a: x{sign}y\nb: {{c: 1}}\n", MoveField(("a",), ("b",)))
