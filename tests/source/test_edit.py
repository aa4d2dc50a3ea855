"""Intents as edits: what is meant changes, every other character stays."""

import json

import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.lint.fix_builder import build_alias_graph
from rubric_lint.source.edits.intents import (
    AddField,
    Fix,
    InsertField,
    RemoveField,
    RenameKey,
    Reorder,
    Repair,
    Replace,
    ReplaceValue,
    WrapText,
)
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.edits.making import make_fix
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Edit, Source, Span


def read(text, name="a.yaml"):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents[0]


def plan(text, *intents, name="a.yaml"):
    return make_fix(build_alias_graph(read(text, name)), Repair("mend it", intents, safe=True))


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
    assert (fix.title, fix.safe, fix.edits) == ("mend it", True, (Edit(Span(0, 1), "c"), Edit(Span(8, 12), "10")))
    assert (isinstance(fix, Fix), fix.intents) == (True, intents)


INTENTS = {
    "add": AddField,
    "remove": RemoveField,
    "rename": RenameKey,
    "replace": ReplaceValue,
    "wrap": lambda path: WrapText(path, "t", ("id", "k"), ("weight", "1")),
}
CASES = [
    pytest.param(intent, before, after, id=f"{intent}-{name}")
    for intent, cases in read_cases(__file__).items()
    for name, (before, after) in cases.items()
]


@pytest.mark.parametrize(("intent", "before", "after"), CASES)
def test_an_intent_changes_what_is_meant_and_no_other_character(intent, before, after):
    kind, pointer, *new = intent.removesuffix(" from JSON").split()
    path = tuple(int(part) if part.isdigit() else part for part in pointer[1:].split("/"))
    name = "a.json" if intent.endswith("JSON") else "a.yaml"
    assert apply(before, INTENTS[kind](path, *new), name=name) == after


def test_a_string_replaces_a_quoted_one_and_a_text_without_a_path_can_be_replaced():
    assert apply("a: 'x' # c\n", ReplaceValue(("a",), "abc")) == "a: 'abc' # c\n"  # into the quotes of the old one
    assert apply("a: 'x' # c\n", ReplaceValue(("a",), '"a b"')) == 'a: "a b" # c\n'  # with quotes of its own
    assert apply("a: 1 # c\n", Replace(Span(4, 8), "")) == "a: 1\n"


OBSTACLES = {
    "a repeated key, its value": ("x: 1\nx: 2\n", ReplaceValue(("x",), "3")),
    "a repeated key, its name": ("x: 1\nx: 2\n", RenameKey(("x",), "y")),
    "a repeated key, removed": ("x: 1\nx: 2\n", RemoveField(("x",))),
    "a repeated key beside aliases": ("a: &a 1\nb: *a\nx: 1\nx: 2\n", RenameKey(("x",), "y")),
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
@pytest.mark.parametrize(
    "text",
    [
        "x: &b {p: one}\nrubrics:\n- *b\n",
        "rubrics:\n- &b {p: one}\n- *b\n",
        "rubrics:\n- &b {p: one}\n- {<<: *b, p: two}\n",
        "rubrics: &b\n- {p: one}\nx: *b\n",
    ],
    ids=["an alias", "an anchor", "merged", "in a list"],
)
def test_a_mapping_that_is_used_elsewhere_stays(intent, text, said):
    with pytest.raises(ObstacleError) as error:
        plan(text, intent)
    said(str(error.value))


@pytest.mark.parametrize("intent", SHARED.values(), ids=SHARED)
def test_what_other_mappings_share_does_not_keep_one_from_its_fix(intent):
    assert plan("tests:\n- &b {q: 1}\n- {<<: *b}\nrubrics:\n- {p: one}\n", intent).intents == (intent,)


IN_PLACE = {
    "the key of an alias": ("x: &a 1\ny: *a\n", RenameKey(("y",), "z"), "x: &a 1\nz: *a\n"),
    "the key of an anchor": ("x: &a 1\ny: *a\n", RenameKey(("x",), "z"), "z: &a 1\ny: *a\n"),
    "an alias, removed": ("x: &a 1\ny: *a\n", RemoveField(("y",)), "x: &a 1\n"),
    "an anchor, removed": ("x: &a 1\ny: *a\n", RemoveField(("x",)), None),
    "the value of an anchor": ("x: &a 1\ny: *a\n", ReplaceValue(("x",), "2"), None),
    "the value of an alias": ("x: &a 1\ny: *a\n", ReplaceValue(("y",), "2"), None),
    "what overrides a field, renamed": ("x: &a {p: 1}\ny: {<<: *a, p: 2}\n", RenameKey(("y", "p"), "q"), None),
    "what overrides a field, replaced": (
        "x: &a {p: 1}\ny: {<<: *a, p: 2}\n",
        ReplaceValue(("y", "p"), "3"),
        "x: &a {p: 1}\ny: {<<: *a, p: 3}\n",
    ),
    "a merged field": ("x: &a {p: 1}\ny: {<<: *a}\n", RenameKey(("y", "p"), "q"), None),
}


@pytest.mark.parametrize(("before", "intent", "after"), IN_PLACE.values(), ids=IN_PLACE)
def test_only_what_stays_in_its_place_is_changed(before, intent, after):
    assert apply(before, intent) == after


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


@given(MAPPINGS, st.data())
def test_an_intent_changes_one_field_of_any_mapping(mapping, data):
    text, path = mapping
    fields = at(read(text).data, path)
    key = data.draw(st.sampled_from(list(fields)))
    removed = apply(text, RemoveField((*path, key)))
    assert at(read(removed).data, path) == {name: value for name, value in fields.items() if name != key}
    renamed = apply(text, RenameKey((*path, key), "renamed"))
    expected = [("renamed" if name == key else name, value) for name, value in fields.items()]
    assert list(at(read(renamed).data, path).items()) == expected
    assert len(renamed) == len(text) + len("renamed") - len(key)
    made = [removed, renamed]
    if not isinstance(fields[key], dict | list | None):
        made.append(apply(text, ReplaceValue((*path, key), "10")))
        assert at(read(made[-1]).data, path) == {**fields, key: 10}
    assert [comments(each) for each in made] == [comments(text)] * len(made)


@pytest.mark.slow
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


INSERTED = {
    "a comment above": ("b: 2\n# of a\n# too\na: 1\n", "b: 2\nn: 3\n# of a\n# too\na: 1\n"),
    "the comment of the file": ("# of the file\na: 1\n", "# of the file\nn: 3\na: 1\n"),
    "a text that looks like a comment": ("b: |\n  x\n  # y\na: 1\n", "b: |\n  x\n  # y\nn: 3\na: 1\n"),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("before", "after"), INSERTED.values(), ids=INSERTED)
def test_a_field_is_inserted_above_the_comments_of_the_one_below(before, after, line_end):
    before, after = (text.replace("\n", line_end) for text in (before, after))
    assert apply(before, InsertField(("a",), "n", "3")) == after


def test_a_plus_in_the_name_of_an_anchor_keeps_no_blank_lines():
    text = "more:\n  inner:\n    text: &x+ |\n      word\n\nlast: 1\n"
    added = "more:\n  inner:\n    text: &x+ |\n      word\n  weight: 2\n\nlast: 1\n"
    assert apply(text, AddField(("more",), "weight", "2")) == added
