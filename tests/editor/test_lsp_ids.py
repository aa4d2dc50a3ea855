"""Ids of criteria in an editor: where they are used, and what a rename changes in all files, or why it does not."""

import json
from pathlib import Path

import commands
import pytest
from asking import Asking, apply
from cases import read_cases
from editor import run, start, uri_of
from pygls.uris import to_fs_path

from rubric_lint.scoring.loading import read_rubrics

TABLES = read_cases(__file__)


RUBRIC = """\
# accuracy first
rubrics:
  - id: accuracy   # what counts
    expected_outcome: Names the right period
    required_min_score: 10
  - id: "tone é"
    expected_outcome: Stays friendly
"""
TESTS = TABLES["TESTS"]
SUITE = """\
tests:
  - id: accuracy
    rubrics:
      - {id: accuracy, expected_outcome: Another rubric}
"""


def make_record(folder, first="accuracy", **more):
    rubric = read_rubrics(folder / "refund.rubric.yaml")["refund"]
    checks = [{"id": first, "satisfied": False}, {"id": "tone é", "satisfied": True}]
    judge = {"model": "m", "rubric_hash": rubric.hash, "orders": [["tone é", first]]}
    return {"id": "wrong", "output": {"checks": checks}, "judge": judge, **more}


@pytest.fixture
def folder(tmp_path):
    files = {"refund.rubric.yaml": RUBRIC, "refund.rubric-test.yaml": TESTS, "suite.yaml": SUITE}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    records = [make_record(tmp_path), make_record(tmp_path, id="other", rubric="other")]
    write_records(tmp_path / "refund.judged.jsonl", records)
    return tmp_path


def write_records(path, records):
    path.write_text("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records), encoding="utf-8")


USES = [
    ("refund.rubric-test.yaml", 7, 15),
    ("refund.rubric-test.yaml", 9, 9),
    ("refund.rubric-test.yaml", 13, 28),
    ("refund.judged.jsonl", 1, 47),
]


def ask(folder, name, word, task, nth=0):
    async def session():
        async with start(folder) as editor:
            await task(Asking(editor, folder / name, word, nth))

    run(session())


@pytest.mark.slow
def test_an_id_is_found_in_tests_and_records_but_not_in_other_rubrics(folder):
    async def task(asking):
        assert await asking.references() == [("refund.rubric.yaml", 3, 9), *USES]
        assert await asking.references(declared=False) == USES
        assert await asking.definition() == [("refund.rubric.yaml", 3, 9)]
        assert await asking.highlights() == [(2, 8, "Write")]
        assert (await asking.prepare()).placeholder == "accuracy"

    ask(folder, "refund.rubric.yaml", "accuracy   #", task)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "word", "nth", "highlights"),
    [
        ("refund.rubric-test.yaml", "accuracy: missed", 0, [(6, 14), (8, 8), (12, 27)]),
        ("refund.rubric-test.yaml", "accuracy, satisfied", 0, [(6, 14), (8, 8), (12, 27)]),
        ("refund.judged.jsonl", 'accuracy", "satisfied', 0, [(0, 46), (1, 46)]),
    ],
)
def test_an_id_in_a_test_or_a_record_leads_to_its_criterion(folder, name, word, nth, highlights):
    async def task(asking):
        assert await asking.definition() == [("refund.rubric.yaml", 3, 9)]
        assert await asking.references() == [("refund.rubric.yaml", 3, 9), *USES]
        assert await asking.highlights() == [(*place, "Read") for place in highlights]

    ask(folder, name, word, task, nth)


TOLD = "the judge outputs in refund.judged.jsonl still have the old id, so they no longer count; judge again"


@pytest.mark.slow
async def test_a_rename_changes_the_rubric_and_its_tests_and_names_the_outputs_to_judge_again(folder):
    recorded = (folder / "refund.judged.jsonl").read_bytes()
    async with start(folder) as editor:
        edit = await Asking(editor, folder / "refund.rubric.yaml", "accuracy   #").rename("right period")
        told = [message.message for message in editor.client.messages]
        editor.client.messages.clear()
    assert told == [f"rubric-lint: {TOLD}"]
    assert {
        Path(to_fs_path(change.text_document.uri)).name: change.text_document.version
        for change in edit.document_changes
    } == {"refund.rubric.yaml": 1, "refund.rubric-test.yaml": None}
    apply(edit)
    assert (folder / "refund.rubric.yaml").read_text("utf-8") == RUBRIC.replace("id: accuracy", "id: right period")
    expected = TESTS.replace("{accuracy:", "{right period:").replace("  accuracy:", "  right period:")
    assert (folder / "refund.rubric-test.yaml").read_text("utf-8") == expected.replace(
        "id: accuracy", "id: right period"
    )
    assert (folder / "refund.judged.jsonl").read_bytes() == recorded


@pytest.mark.slow
def test_a_rename_begins_in_the_rubric_or_its_tests(folder, said):
    async def task(asking):
        said(await asking.refusal("tone"))

    ask(folder, "refund.judged.jsonl", 'tone é", "satisfied', task)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["right: period", 'a "b" c', "what's left", "[x", "a, b", "#1", "a\\nb", "*", "- a"])
def test_an_id_that_is_not_plain_is_quoted_wherever_it_is_written(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    (folder / "refund.judged.jsonl").unlink()
    change(folder, "refund.rubric-test.yaml", "accuracy: false", "'accuracy': false")

    async def task(asking):
        apply(await asking.rename(name))

    ask(folder, "refund.rubric.yaml", "accuracy   #", task)
    assert read_rubrics(folder / "refund.rubric.yaml")["refund"].criteria[0].id == name
    write_records(folder / "refund.judged.jsonl", [make_record(folder, name)])
    after = commands.run("rubric-test")
    assert (after.returncode, after.stdout) == (0, "2 tests passed.\n")


def change(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "wanted"),
    [
        ("", "", "", "tone é"),
        ("", "", "", " "),
        ("refund.rubric.yaml", '"tone é"', "accuracy", "x"),
        ("refund.rubric.yaml", "id: accuracy", "id: &a accuracy", "x"),
        ("refund.rubric-test.yaml", "tone é: true", "x: true", "x"),
        ("refund.rubric-test.yaml", "answer: Thirty", "answer: 'Thirty", "x"),
        (
            "refund.rubric-test.yaml",
            "{checks: [{id: accuracy, satisfied: true}, {id: tone é, satisfied: true}]}",
            "'accuracy: yes'",
            "x",
        ),
        ("", "", "", "a\x7fb"),
        ("", "", "", "a\ud83d"),
    ],
    ids=[
        "collides",
        "blank",
        "doubled",
        "anchored",
        "test collides",
        "broken test",
        "text",
        "control",
        "half a character",
    ],
)
def test_a_rename_that_cannot_be_proved_is_refused_with_the_reason(folder, name, old, new, wanted, said):
    if name:
        change(folder, name, old, new)

    async def task(asking):
        said(await asking.refusal(wanted))

    ask(folder, "refund.rubric.yaml", "accuracy", task, nth=1)


@pytest.mark.slow
def test_tests_that_cannot_be_read_refuse_a_rename(folder):
    (folder / "refund.rubric-test.yaml").write_bytes(b"rubric: refund.rubric.yaml # accuracy \xff\n")

    async def task(asking):
        assert (await asking.refusal("x")).startswith("refund.rubric-test.yaml: ")

    ask(folder, "refund.rubric.yaml", "accuracy", task, nth=1)


@pytest.mark.slow
def test_recordings_that_cannot_be_read_are_in_no_way_of_a_rename(folder):
    (folder / "refund.judged.jsonl").write_bytes(b'{"id": "accuracy \xff"}\n')

    async def task(asking):
        assert len((await asking.rename("x")).document_changes) == 2

    ask(folder, "refund.rubric.yaml", "accuracy", task, nth=1)


@pytest.mark.slow
def test_elsewhere_there_is_nothing_to_rename(folder):
    async def task(asking):
        assert await asking.refusal("x") == "put the cursor on the id of a criterion"
        assert (await asking.references(), await asking.definition(), await asking.highlights()) == ([], [], [])

    ask(folder, "refund.rubric.yaml", "expected_outcome", task)


@pytest.mark.slow
async def test_what_is_typed_counts_and_a_criterion_of_a_suite_is_one_of_its_case(folder):
    change(folder, "refund.rubric-test.yaml", "refund.rubric.yaml", "suite.yaml#accuracy")
    async with start(folder) as editor:
        typed = (folder / "refund.rubric-test.yaml").read_text("utf-8").replace("{accuracy: missed}", "{}")
        editor.open(uri_of(folder / "refund.rubric-test.yaml"), typed)
        asking = Asking(editor, folder / "suite.yaml", "accuracy", 1)
        uses = [("refund.rubric-test.yaml", 9, 9), ("refund.rubric-test.yaml", 13, 28), USES[-1]]
        assert await asking.references() == [("suite.yaml", 4, 14), *uses]


@pytest.mark.slow
def test_an_id_that_an_alias_repeats_is_found_once_and_not_renamed(folder, said):
    (folder / "suite.yaml").write_text(
        "tests:\n  - {id: a, rubrics: &r [{id: b, expected_outcome: Says so}]}\n  - {id: c, rubrics: *r}\n"
    )

    async def task(asking):
        assert await asking.definition() == [("suite.yaml", 2, 31)]
        assert await asking.references() == [("suite.yaml", 2, 31)]
        said(await asking.refusal("x"))

    ask(folder, "suite.yaml", "b, expected", task)
