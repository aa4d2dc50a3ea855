"""Which files belong to a rubric in a search for an id and in a rename, however they write the id."""

import asyncio
import json
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from embedded import EDITOR, Client

RUBRIC = "rubrics:\n  - id: {id}\n    expected_outcome: Names the period\n"
TESTS = "rubric: a.rubric.yaml\ntests:\n  - id: t\n    answer: Thirty days\n    expect: {{criteria: {{{id}: true}}}}\n"


def write_records(name, count=1):
    checks = [{"id": name, "satisfied": True}]
    return "".join(json.dumps({"id": str(number), "output": {"checks": checks}}) + "\n" for number in range(count))


IN_RECORD = write_records("acc").index("acc")
REFUSED = "rubric-lint: judge outputs stay as they were recorded; rename the id in the rubric or in its tests"


async def ask(folder, name, line, character, opened=None):
    """The references of what is at a place, and the edits of a rename, both by file name.

    The file is opened in the folder `opened`, which leads to the same files.
    """
    client = Client()
    await client.start(folder.as_uri(), capabilities=EDITOR)
    uri = ((opened or folder) / name).as_uri()
    client.open(uri, (folder / name).read_text("utf-8"))
    found = (await client.at("references", uri, line, character, context={"includeDeclaration": True}))["result"]
    renamed = await client.at("rename", uri, line, character, newName="b")
    await client.end()
    assert client.logged == []
    changes = renamed.get("result", {}).get("documentChanges", ())
    edits = {
        name_of(change["textDocument"]["uri"]): [edit["newText"] for edit in change["edits"]] for change in changes
    }
    assert len(edits) == len(changes)
    places = [(name_of(each["uri"]), each["range"]["start"]["line"]) for each in found or ()]
    return places, edits or renamed["error"]["message"]


def name_of(uri):
    return Path(unquote(urlsplit(uri).path)).name


def fill(folder, **texts):
    for name, text in texts.items():
        path = folder / name.replace("__", "-").replace("_", ".")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize(
    ("name", "in_rubric", "in_tests", "edits"),
    [
        ('a"c', "'a\"c'", "'a\"c'", ("'b'", "b")),
        ("what's", "'what''s'", '"what\'s"', ("'b'", "b")),
        ("a\\c", "a\\c", "'a\\c'", ("b", "b")),
        ("acc", "acc", '"\\x61cc"', ("b", "b")),
        ("acc", "acc", '"\\U00000061cc"', ("b", "b")),
        ("right period", "right\n      period", "right period", ("b", "b")),
    ],
    ids=["quote", "apostrophe", "backslash", "escape", "long escape", "two lines"],
)
def test_a_use_is_found_however_it_is_written(tmp_path, name, in_rubric, in_tests, edits):
    fill(
        tmp_path,
        a_rubric_yaml=RUBRIC.format(id=in_rubric),
        a_rubric__test_yaml=TESTS.format(id=in_tests),
        a_judged_jsonl=write_records(name),
    )
    assert asyncio.run(ask(tmp_path, "a.rubric.yaml", 1, 9)) == (
        [("a.rubric.yaml", 1), ("a.rubric-test.yaml", 4), ("a.judged.jsonl", 0)],
        {"a.rubric.yaml": [edits[0]], "a.rubric-test.yaml": [edits[1]]},
    )


@pytest.mark.slow
def test_recorded_outputs_beside_a_rubric_belong_to_it_from_both_sides(tmp_path):
    fill(tmp_path, a_rubric_yaml=RUBRIC.format(id="acc"), a_judged_jsonl=write_records("acc", 2))
    places = [("a.rubric.yaml", 1), ("a.judged.jsonl", 0), ("a.judged.jsonl", 1)]
    assert asyncio.run(ask(tmp_path, "a.rubric.yaml", 1, 8)) == (places, {"a.rubric.yaml": ["b"]})
    assert asyncio.run(ask(tmp_path, "a.judged.jsonl", 1, IN_RECORD)) == (places, REFUSED)


def test_tests_that_name_no_rubric_of_several_belong_to_none(tmp_path):
    two = RUBRIC.format(id="acc") + "---\n" + RUBRIC.format(id="acc")
    fill(tmp_path, a_rubric_yaml=two, a_rubric__test_yaml=TESTS.format(id="acc"))
    assert asyncio.run(ask(tmp_path, "a.rubric.yaml", 5, 8)) == ([("a.rubric.yaml", 5)], {"a.rubric.yaml": ["b"]})


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_file_that_several_paths_lead_to_is_changed_once(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    fill(
        real,
        a_rubric_yaml=RUBRIC.format(id="acc"),
        a_rubric__test_yaml=TESTS.format(id="acc"),
        a_judged_jsonl=write_records("acc"),
    )
    places = [("a.rubric.yaml", 1), ("a.rubric-test.yaml", 4), ("a.judged.jsonl", 0)]
    edits = {"a.rubric.yaml": ["b"], "a.rubric-test.yaml": ["b"]}
    for place, renamed in (
        (("a.rubric.yaml", 1, 8), edits),
        (("a.rubric-test.yaml", 4, 24), edits),
        (("a.judged.jsonl", 0, IN_RECORD), REFUSED),
    ):
        for folder, opened in (real, link), (link, real):
            assert asyncio.run(ask(folder, *place, opened=opened)) == (places, renamed)


def test_a_rename_in_a_text_with_a_syntax_error_says_where_that_is(tmp_path):
    fill(tmp_path, a_rubric_yaml=RUBRIC.format(id="acc") + "  - id: [\n")
    reason = "rubric-lint: a.rubric.yaml:4: this `[` is never closed"
    assert asyncio.run(ask(tmp_path, "a.rubric.yaml", 1, 8)) == ([], reason)


def test_tests_of_a_file_that_cannot_exist_are_in_nobody_s_way(tmp_path):
    impossible = TESTS.format(id="acc").replace("a.rubric.yaml", '"a\\0b.yaml" # a.rubric.yaml')
    fill(tmp_path, a_rubric_yaml=RUBRIC.format(id="acc"), a_rubric__test_yaml=impossible)
    assert asyncio.run(ask(tmp_path, "a.rubric.yaml", 1, 8)) == ([("a.rubric.yaml", 1)], {"a.rubric.yaml": ["b"]})


async def test_a_test_is_explained_by_its_rubric_as_it_is_typed(tmp_path):
    fill(tmp_path, a_rubric_yaml=RUBRIC.format(id="acc"), a_rubric__test_yaml=TESTS.format(id="acc"))
    client = Client()
    await client.start(tmp_path.as_uri())
    rubric, tests = ((tmp_path / name).as_uri() for name in ("a.rubric.yaml", "a.rubric-test.yaml"))
    client.open(tests, TESTS.format(id="acc"))
    client.open(rubric, RUBRIC.format(id="acc"))
    cards = []
    for said in ("day", "hour"):
        changes = [{"text": RUBRIC.format(id="acc").replace("period", said)}]
        document = {"textDocument": {"uri": rubric, "version": 2}}
        client.notify("textDocument/didChange", {**document, "contentChanges": changes})
        cards.append((await client.at("hover", tests, 4, 24))["result"]["contents"]["value"].splitlines()[-1])
    client.notify("textDocument/didClose", {"textDocument": {"uri": rubric}})
    cards.append((await client.at("hover", tests, 4, 24))["result"]["contents"]["value"].splitlines()[-1])
    await client.end()
    assert (cards, client.logged) == (["Names the day", "Names the hour", "Names the period"], [])
