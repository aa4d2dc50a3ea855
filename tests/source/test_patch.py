"""Changed data are written back: whatever stays keeps its text and comments, or nothing is written."""

import re
from collections import Counter
from functools import reduce
from operator import getitem

import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from styles import Anchored, Dice, Raw, Styler, write_json

from rubric_lint.source import patch
from rubric_lint.source.patch import (
    RefusedChange,
    drop,
    duplicate,
    edits_between,
    in_brackets,
    like,
    plain,
    put,
    rename,
    track,
)
from rubric_lint.source.path import pointer
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span, splice

CASES = read_cases(__file__)
SEEDS = st.integers(0, 1 << 30)


def read(name, text):
    documents, faults = read_documents(Source(name, text))
    assert faults == []
    return documents


def write(document, value):
    return patch.write([(document, value)])


def run(document, source):
    """What comes of a change, which is Python, to the data of a document."""
    scope = {**vars(patch), "data": track(document)}
    exec(source, scope)  # noqa: S102 (the changes of the table)
    return write(document, scope["data"])


def list_comments(document):
    return Counter(document.source.slice(span) for span in document.tree.comments)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *(pytest.param("a.yaml", case, id=label) for label, case in CASES["written"].items()),
        *(pytest.param("a.json", case, id=label) for label, case in CASES["written JSON"].items()),
    ],
)
def test_changes(name, case):
    (document,) = read(name, case["text"])
    assert run(document, case["change"]) == case["after"]
    (written,) = read(name, case["after"])
    assert list_comments(written) == list_comments(document)
    assert write(written, plain(written.data)) == case["after"]


def test_refusals(said):
    refusals = {}
    for label, case in CASES["refused"].items():
        (document,) = read("a.yaml", case["text"])
        refusals[label] = run(document, case["change"])
    assert {label: [*refusal.path] for label, refusal in refusals.items()} == {
        label: case["path"] for label, case in CASES["refused"].items()
    }
    lines = {label: refusal.document.source.position(refusal.span.start).line for label, refusal in refusals.items()}
    said("\n".join(f"{label}, line {lines[label]}: {refusal.reason}" for label, refusal in refusals.items()))


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "a = 1\n"), ("a.py", 'a = {"rubrics": [{"id": "a"}]}\n')], ids=["TOML", "Python"]
)
def test_only_yaml_and_json_are_rewritten(name, text, said):
    (document,) = read(name, text)
    said(str(write(document, {"a": 1})))


def test_values_of_another_document_are_new_ones():
    (one,), (other,) = read("a.yaml", "a: [1, 'x']  # one\n"), read("b.yaml", "b:\n  - two # 2\n")
    data = track(one)
    data["b"] = track(other)["b"]
    assert write(one, data) == "a: [1, 'x']  # one\nb:\n  - two\n"


def test_documents_of_one_file_are_written_together():
    text = "# one\na: 1\n---\nb: 2 # two\n...\n---\n# three\nc: 3\n"
    first, second, third = read("a.yaml", text)
    data = [track(document) for document in (first, second, third)]
    data[0]["d"] = [data[0].pop("a")]
    data[2]["c"] = "x"
    changed = "# one\nd:\n  - 1\n---\nb: 2 # two\n...\n---\n# three\nc: x\n"
    assert patch.write([(first, data[0]), (third, data[2])]) == changed
    assert write(first, data[0]) == changed.replace("c: x", "c: 3")
    data[1]["b"] = {"e": 1}
    assert write(second, data[1]) == text.replace("b: 2 # two", "b: # two\n  e: 1")


def test_lines_of_json_stay_lines():
    text = '{"a": {"b": 1}}\n\nnot JSON\n{"c": [1,2]}\n'
    documents, _ = read_documents(Source("a.jsonl", text))
    data = track(documents[1])
    data["d"] = {"e": [data["c"].pop()]}
    assert write(documents[1], data) == text.replace('{"c": [1,2]}', '{"c": [1], "d": {"e": [2]}}')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_and_line_ends(encoding):
    source = Source.from_bytes("a.yaml", "# é\r\na:\r\n  - 🙂 # x\r\nb: 1\r\n".encode(encoding))
    ((document,), _) = read_documents(source)
    data = track(document)
    data["c"] = {"d": data.pop("a"), "e": "one\ntwo"}
    after = "# é\r\nb: 1\r\nc:\r\n  d:\r\n    - 🙂 # x\r\n  e: |-\r\n    one\r\n    two\r\n"
    assert source.to_bytes(write(document, data)) == after.encode(encoding)


def test_edits_touch_only_what_changes():
    (document,) = read("a.yaml", "a: 1 # x\nb:\n  - c: 1\n  - d: 2\ne: 3\n")
    data = track(document)
    data["b"][1]["d"] = 4
    data["e"] = {"f": data["e"]}
    edits = edits_between(document, data)
    assert [(document.source.slice(edit.span), edit.text) for edit in edits] == [("2", "4"), ("e", "e:\n  f")]


def test_some_items_of_a_list_change_without_the_others():
    text = "a:\n  - b: 1  # one\n\n  - b: 2  # two\n\n  - b: 3\nc: [1, [2, 3], 4]\n"
    (document,) = read("a.yaml", text)
    items = track(document, ("a",), range(1, 2))
    items.insert(0, duplicate(items[0]))
    items[0]["b"] = 5
    assert splice(text, edits_between(document, items)) == text.replace("  - b: 2", "  - b: 5\n\n  - b: 2")
    items = track(document, ("c",), range(1, 3))
    items[0].pop()
    items.append(5)
    assert splice(text, edits_between(document, items)) == text.replace("[2, 3], 4", "[2], 4, 5")


def test_a_changed_copy_of_a_document_comes_to_the_end_of_the_file():
    text = "# head\na: 1  # one\nb:\n  - x  # of x\n  - y\n---\nc: 3"
    document, _ = read("a.yaml", text)
    data = track(document)
    copy = duplicate(data)
    copy["a"], copy["b"][:] = 2, [data["b"].pop(0)]
    first, last = edits_between(document, data, added=[copy])
    assert (document.source.slice(first.span), first.text) == ("  - x  # of x\n", "")
    assert (last.span, last.text) == (Span(len(text), len(text)), "\n---\na: 2\nb:\n  - x  # of x")


def test_a_new_document_that_copies_none_comes_to_the_end_of_the_file():
    text = "a: 1\n"
    (document,) = read("a.yaml", text)
    data = track(document)
    data["a"] = 2
    assert splice(text, edits_between(document, data, added=[{"b": [3]}])) == "a: 2\n---\n{b: [3]}\n"


@pytest.mark.parametrize("deep", ["[" * 240 + "]" * 240, "\n" + "".join(" " * at + "a:\n" for at in range(1, 240))])
def test_what_is_deep_may_stay(deep):
    (document,) = read("a.yaml", f"a: {deep}\nb: 1\n")
    data = track(document)
    data["b"] = {"c": data.pop("a")}
    assert plain(read("a.yaml", write(document, data))[0].data) == plain(data)


# Documents of random data, and random changes of tracked data

WORDS = (
    "cites",
    "two sources",
    "état",
    "🙂 done",
    "a: b",
    "# no comment",
    "it's",
    '"quoted"',
    "yes",
    "12",
    "",
    "~",
    "[x]",
)
NAMES = ("id", "outcome", "weight", "tests", "criteria", "value", "note", "a b", "0", "x-y")
PROSE = ("Names the refund window, and why", "Gives a figure (with its unit)", "Says it in one line")


NUMBERS = ("1", "2.50", "-0", "1e3", "0x1F")
TEXTS = ("first line\n", "first line\n\n  more\n", "first line\nand another", "kept\n\n")


class DocumentWriter(Styler):
    """Writes a random document in styles of its own; with anchors, values repeat others."""

    def __init__(self, random, *, with_anchors=False):
        rates = {"comment_rate": random.choice((0, 0.1, 0.3)), "gap_rate": random.choice((0, 0, 0.3, 1))}
        super().__init__(random, **rates, styles="texts brackets")
        self.with_anchors, self.anchors = with_anchors, []

    def document(self):
        head = f"{self.comment()}\n" if self.chance(self.comment_rate) else ""
        if self.chance(0.8):
            return head + self.fields({name: self.make(3) for name in self.names()}, 0)
        return head + self.items([self.make(3) for _ in self.names()], 0)

    def names(self):
        return self.random.sample(NAMES, self.random.randint(1, 5))

    def make(self, depth):
        """A value of any kind."""
        if self.anchors and self.chance(0.1):
            return Raw(f"*{self.one_of(*self.anchors)}")
        kind = self.one_of("text", "text", "other", "mapping", "list") if depth else "text"
        value = self.one_of(*WORDS, *PROSE, *PROSE, *PROSE, *TEXTS)
        if kind == "other":
            value = self.one_of(None, *map(Raw, ("true", "false", *NUMBERS)))
        elif kind == "mapping":
            value = {name: self.make(depth - 1) for name in self.names()}
        elif kind == "list":
            value = [self.make(depth - 1) for _ in self.names()]
        if not self.with_anchors or self.chance(0.7):
            return value
        self.anchors.append(f"n{len(self.anchors)}")
        return Anchored(self.anchors[-1], value)


def list_collections(value):
    """Every collection in some data once, from the outside in."""
    found, stack, seen = [], [value], set()
    while stack:
        value = stack.pop()
        if isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            found.append(value)
            stack += value.values() if isinstance(value, dict) else value
    return found


def new_value(random, depth=2):
    """New data of any kind."""
    names = random.sample(NAMES, random.randint(0, 3)) if depth else ()
    return random.choice(
        (
            random.choice(WORDS + PROSE),
            random.choice((3, -1, 2.5, 10**20, 1e-9, None, True, False)),
            random.choice(("one\ntwo", "one\ntwo\n", "\none", " one\ntwo", "one\n\n\ntwo\n", "tab\tand\nline")),
            in_brackets([0, random.choice((3, "x, y"))]),
            {name: new_value(random, depth - 1) for name in names},
            [new_value(random, depth - 1) for _ in names],
        )
    )


def change(random, data):
    """Change tracked data in place, in one way of many."""
    place, other = random.choices(list_collections(data), k=2)
    random.choice(CHANGES if place else CHANGES[:1])(random, place, other)


def holds(value, inner):
    return any(found is inner for found in list_collections(value))


def pick(random, place):
    return random.choice([*place] if isinstance(place, dict) else range(len(place)))


def insert(random, place, value):
    if isinstance(place, dict):
        put(place, random.choice([None, *place]), random.choice(NAMES), value)
    else:
        place.insert(random.randint(0, len(place)), value)


def add(random, place, _):
    insert(random, place, new_value(random))


def remove(random, place, _):
    step = pick(random, place)
    if isinstance(place, dict):
        drop(place, step)
    else:
        place.pop(step)


def replace(random, place, _):
    step = pick(random, place)
    place[step] = random.choice((new_value(random), like(place[step], random.choice(PROSE))))


def reorder(random, place, _):
    is_mapping = isinstance(place, dict)
    items = [*place.items()] if is_mapping else [*place]
    random.shuffle(items)
    place.clear()
    (place.update if is_mapping else place.extend)(items)


def move(random, place, other):
    step = pick(random, place)
    if other is not place and not holds(place[step], other):
        insert(random, other, place.pop(step))


def wrap(random, place, _):
    step = pick(random, place)
    value = place[step]
    place[step] = random.choice(([value], {"inner": value}, {"type": "new", "value": value}, [{"value": value}]))


def rename_or_copy(random, place, _):
    step = pick(random, place)
    if isinstance(place, dict):
        rename(place, {step: random.choice(NAMES)})
    else:
        place.insert(step + random.choice((0, 1)), duplicate(place[step]))


def make_anew(random, place, _):
    """Put new collections with the old values in the place of tracked ones."""
    for step, value in [*(place.items() if isinstance(place, dict) else enumerate(place))]:
        if isinstance(value, dict):
            place[step] = dict(value)
        elif isinstance(value, list):
            place[step] = [dict(item) if isinstance(item, dict) else item for item in value]
    remove(random, place, _)


def share(random, place, other):
    """Have one value in two places."""
    value = place[pick(random, place)]
    if isinstance(other, dict) and not holds(value, other):
        other["copy"] = value


CHANGES = (add, remove, replace, reorder, move, wrap, rename_or_copy, make_anew, share)


def list_scalars(value, path=()):
    """Every tracked scalar in some data, with its path."""
    if isinstance(value, dict | list):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_scalars(child, (*path, step))
    elif hasattr(value, "origin"):
        yield value, path


def change_some(random, document):
    data = track(document)
    for _ in range(random.choice((1, 1, 2, 4))):
        change(random, data)
    return data


def write_document(random):
    text = DocumentWriter(random, with_anchors=random.random() < 0.3).document()
    documents, _ = read_documents(Source("a.yaml", text))
    if documents and random.random() < 0.2:
        return "a.json", write_json(random, documents[0].data)
    return "a.yaml", text.replace("\n", random.choice(("\n", "\n", "\r\n")))


@given(SEEDS)
def test_what_is_not_changed_is_not_touched(seed):
    name, text = write_document(Dice(seed))
    for document in read_documents(Source(name, text))[0]:
        assert write(document, track(document)) == text
        assert write(document, plain(document.data)) == text
        assert edits_between(document, track(document)) == []


def check_part(random):
    """A part that changes on its own is written as it is with the whole document."""
    name, text = write_document(random)
    documents, _ = read_documents(Source(name, text))
    if not documents or documents[0].has_aliases:
        return None
    (document,) = documents
    paths = [
        path
        for path, child in document.entries()
        if document.value(path) and isinstance(document.value(path), dict | list)
    ]
    if not paths:
        return None
    path, seed = random.choice(paths), random.randrange(1 << 30)
    whole, part = track(document), track(document, path)
    change(Dice(seed), part)
    change(Dice(seed), reduce(getitem, path, whole))
    one, other = edits_between(document, part), edits_between(document, whole)
    if isinstance(one, RefusedChange) or isinstance(other, RefusedChange):
        return None
    assert splice(text, one) == splice(text, other)
    return one


@given(SEEDS)
def test_random_changes_of_parts(seed):
    check_part(Dice(seed))


def check_law(random):
    """The laws of one random change; returns what was written."""
    name, text = write_document(random)
    documents, _ = read_documents(Source(name, text))
    if not documents:
        return None
    (document,) = documents
    data = change_some(random, document)
    wanted = plain(data)
    written = write(document, data)
    if isinstance(written, RefusedChange):
        assert written.reason
        return written
    (after,) = read(name, written)
    assert after.data == wanted
    assert splice(text, edits_between(document, data)) == written
    assert list_comments(after) == list_comments(document)
    assert ("\r\n" in text) >= ("\r" in written)
    assert write(after, track(after)) == written
    if not after.has_aliases:
        assert write(after, wanted) == written
    for value, path in list_scalars(data):
        is_moved = value.origin.document is document and not value.origin.is_copy  # a copy has no comments
        if is_moved and value == document.value(value.origin.path) and is_block(after, path):
            assert squeeze(after.written_at(path)) == squeeze(document.written_at(value.origin.path)), pointer(path)
    return written


def is_block(document, path):
    """Whether nothing around a value is in brackets, where texts may need quotes."""
    return not any(document.child(path[:end]).owner.flow_style for end in range(1, len(path) + 1))


def squeeze(text):
    return re.sub(r"\s+", " ", text)


@given(SEEDS)
def test_random_changes(seed):
    check_law(Dice(seed))


@pytest.mark.slow
def test_many_random_changes():
    results = [check_law(Dice(seed)) for seed in range(1000)]
    refused = sum(isinstance(result, RefusedChange) for result in results)
    assert refused < len(results) / 10
