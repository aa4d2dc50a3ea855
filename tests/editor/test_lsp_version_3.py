"""Rubrics of version 3 in an editor: outline, cards, hints, ids in groups, and fixes at any depth."""

import json
from pathlib import Path

import pytest
from asking import Asking, apply
from editor import run, start, uri_of
from lsprotocol.types import Position
from typed import offer, shown, state_of

from rubric_lint.editor.answers.hover import make_hover
from rubric_lint.editor.answers.symbols import make_folds, make_outline
from rubric_lint.editor.server.analysis import analyse

RUBRIC = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/v3/rubric.json
scale: [1, 5]
pass_threshold: 4
borderline_threshold: 3
criteria:
  - {id: tone, expected_outcome: Its tone is friendly, weight: 2, required_min_score: 2}
  - {id: method, levels: {1: Names no source, 3: Names a source, 5: Quotes the source}}
  - id: code
    required_min_score: 3
    applies_if: The answer has code
    criteria:
      - {id: runs, expected_outcome: The program runs, scale: [0, 1], weight: 3}
      - {id: style, expected_outcome: It reads well, scale: [0.0, 1.0]}
critical_failures: [{id: forges, expected_outcome: Fabricates a source}]
"""
TESTS = """\
rubric: refund.rubric.yaml
tests:
  - id: a
    expect:
      gates: {code: met, tone: met}
      groups: {code: [0.5, 1]}
      criteria: {code/runs: true, forges: false}
"""
RECORD = {
    "id": "a",
    "output": {
        "checks": [
            {"id": "tone", "level": 4},
            {"id": "method", "level": 3},
            {"id": "code/runs", "satisfied": True},
            {"id": "code/style", "level": 0.25},
            {"id": "forges", "satisfied": False},
        ]
    },
}
NAME = "/refund.rubric.yaml"


def test_hints_of_groups_conditions_and_failures(said):
    said(shown(RUBRIC, NAME))


def test_the_outline_and_the_folds_follow_the_groups(said):
    analysis = analyse(state_of(RUBRIC, NAME))

    def walk(nodes, depth=0):
        for node in nodes:
            yield f"{'  ' * depth}{node['name']}: {node.get('detail', '')}, line {node['range']['start']['line'] + 1}"
            yield from walk(node["children"], depth + 1)

    folds = [(fold["startLine"] + 1, fold["endLine"] + 1) for fold in make_folds(analysis, None)]
    said("\n".join(walk(make_outline(analysis))), folds)


def test_cards_of_criteria_groups_levels_weights_and_failures(said):
    analysis = analyse(state_of(RUBRIC, NAME))
    for word in ("tone", "method", "1: Names", "code\n", "runs", "style", "weight: 3", "forges"):
        said(word.strip(), make_hover(analysis, RUBRIC.index(word)).contents.value)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "refund.rubric.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "refund.rubric-test.yaml").write_text(TESTS, "utf-8")
    (tmp_path / "refund.judged.jsonl").write_text(json.dumps(RECORD) + "\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gates: {¦}", ["tone", "forges", "code"]),
        ("groups: {¦}", ["code"]),
        ("criteria: {¦}", ["tone", "method", "code/runs", "code/style", "forges"]),
        ("criteria: {code/r¦}", ["tone", "method", "code/runs", "code/style", "forges"]),
    ],
)
def test_ids_of_criteria_and_groups_are_offered_in_tests(folder, text, expected):
    name = str(folder / "b.rubric-test.yaml")
    text = f"rubric: refund.rubric.yaml\ntests:\n  - id: a\n    expect:\n      {text}\n"
    assert list(offer(text, name=name)) == expected


RENAMED = [
    ("refund.rubric.yaml", "runs,", "works", [("{id: runs", "{id: works")], [("code/runs", "code/works")]),
    (
        "refund.rubric-test.yaml",
        "code/runs",
        "code/works",
        [("{id: runs", "{id: works")],
        [("code/runs", "code/works")],
    ),
    ("refund.rubric.yaml", "code\n", "program", [("id: code", "id: program")], [("{code", "{program")]),
    ("refund.rubric-test.yaml", "code: met", "program", [("id: code", "id: program")], [("{code", "{program")]),
    ("refund.rubric.yaml", "forges", "invents", [("id: forges", "id: invents")], [("forges", "invents")]),
]


def replace_all(text, changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.slow
@pytest.mark.parametrize(("file", "word", "name", "rubric", "tests"), RENAMED)
def test_criteria_and_groups_are_renamed_in_the_rubric_and_its_tests(folder, file, word, name, rubric, tests):
    async def ask():
        async with start(folder) as editor:
            asking = Asking(editor, folder / file, word)
            place = await asking.prepare()
            assert place.placeholder == word.strip().rstrip(",").removesuffix(": met")
            answers = await asking.rename(name), await asking.definition()
            (message,) = editor.client.messages
            assert "the judge outputs in refund.judged.jsonl still have the old id" in message.message
            editor.client.messages.clear()
            return answers

    edit, defined = run(ask())
    line = RUBRIC[: RUBRIC.index(rubric[0][0])].count("\n") + 1
    assert [place[:2] for place in defined] == [("refund.rubric.yaml", line)]
    apply(edit)
    assert (folder / "refund.rubric.yaml").read_text("utf-8") == replace_all(RUBRIC, rubric)
    assert (folder / "refund.rubric-test.yaml").read_text("utf-8") == replace_all(TESTS, tests)


@pytest.mark.slow
def test_the_uses_of_a_group_are_those_of_what_is_in_it(folder):
    async def ask():
        async with start(folder) as editor:
            return await Asking(editor, folder / "refund.rubric.yaml", "code\n").references()

    lines = [(file, line) for file, line, _ in run(ask())]
    assert lines == [
        ("refund.rubric.yaml", 8),
        *[("refund.rubric-test.yaml", line) for line in (5, 6, 7)],
        *[("refund.judged.jsonl", 1)] * 2,
    ]


@pytest.mark.slow
def test_a_fix_in_a_group_is_offered_and_made(folder):
    text = RUBRIC.replace("expected_outcome: It reads well", "description: It reads well")

    async def ask():
        async with start(folder) as editor:
            uri = editor.open(folder / "refund.rubric.yaml", text)
            found = await editor.found(uri)
            actions = await editor.actions(uri, start=(12, 30), end=(12, 30))
            return found, [await editor.resolve(action) for action in actions if action.is_preferred]

    found, actions = run(ask())
    assert ("deprecated-description", 12) in found
    (edit,) = (change for action in actions[:1] for change in action.edit.document_changes)
    (change,) = edit.edits
    assert (change.new_text, change.range.start) == ("expected_outcome", Position(12, 20))
    assert edit.text_document.uri == uri_of(Path(folder / "refund.rubric.yaml"))
