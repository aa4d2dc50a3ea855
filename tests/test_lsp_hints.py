"""The hints between the words of a rubric: shares, what is certain about verdicts, and ranges of keys."""

import asyncio
import re

import pytest
from editor import start, uri_of
from lsprotocol import types
from test_lsp import UNITS

from rubric_lint.lsp.answers.scores import make_hints
from rubric_lint.lsp.server.analysis import State, analyse
from rubric_lint.lsp.server.positions import Text
from rubric_lint.lsp.server.workspace import Options
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.text.source import Span


def shown(text, name="/a.yaml", within=None, encoding="utf-16", **options):
    """The text with its hints in guillemets, where an editor shows them."""
    settings = SettingsFinder(isolated=True).for_file(name)
    state = State("file:///a", name, "yaml", 1, Text.of(text, encoding), settings)
    place = within or Span(0, len(text))
    return insert(text, make_hints(analyse(state), place, Options(**options)), encoding)


def insert(text, hints, encoding="utf-16"):
    lines = text.split("\n")
    for hint in reversed(hints):
        line = lines[hint.position.line]
        units = [UNITS[encoding](line[:end]) for end in range(len(line) + 1)]
        at = units.index(hint.position.character)
        label = f"{' ' * bool(hint.padding_left)}«{hint.label}»{' ' * bool(hint.padding_right)}"
        lines[hint.position.line] = line[:at] + label + line[at:]
    return "\n".join(lines)


def plain(annotated):
    """The text without its hints."""
    return re.sub(r" «[^»]*»(?! )| «[^»]*»(?= #)|«[^»]*» ", "", annotated)


SHAPES = {
    "score ranges": """\
rubrics:
  - id: accuracy
    weight: 2.0 «66.7% of the score»
    required_min_score: 7
    score_ranges:
      - score_range: [0, 6] «fail (gate missed)»
        expected_outcome: States a wrong period
      - score_range: [7, 10] «scores 9 and 10 cannot fail»
        expected_outcome: States the right period
  - id: length «33.3% of the score»
    score_ranges: {0: Over 50 «band 0 to 5; scores 0 to 3 cannot pass», 6: Over 20 «band 6 to 9», 10: Under 20}
""",
    "holistic": """\
rubrics:
  - score_range: [0, 4] «fail»
    expected_outcome: States a wrong period
  - score_range: [5, 10] «score 5 fails, 6 and 7 are borderline, 8 to 10 pass»
    expected_outcome: States the right period
""",
    "levels": """\
rubrics:
  - id: quality
    required_min_level: 3
    levels:
      - {level: 5 «pass», name: Full, expected_outcome: Names every cause}
      - {level: 3 «fail», name: Main, expected_outcome: Names the main cause}
      - {level: 1 «fail (gate missed)», name: None, expected_outcome: Names no cause}
""",
    "short levels": """\
rubrics:
  - id: quality
    levels: {1: Names no cause «fail», 4: Names the main cause «borderline», 5: Names every cause «pass»}
""",
    "checklist": """\
rubrics:
  - «16.7% of the score» Names the cause
  - id: source
    weight: 3 «50% of the score»
    required_min_score: 10 «not met: fail (gate missed)»
    expected_outcome: Names a source
  - {«16.7% of the score» expected_outcome: Names the day}
  - id: "long" «16.7% of the score» # an id in quotes
    expected_outcome: >-
      Explains the cause
      in one sentence
""",
    "one text": "rubrics: [«not met: fail, met: pass» Names the cause]\n",
    "a block of text": """\
rubrics:
  - «50% of the score; not met: fail» |-
    Names the cause
    and the day
  - «50% of the score; not met: fail» Names a source
""",
    "the old format": """\
rubrics:
  - id: cause
    description: Names the cause
    required: true «not met: fail (gate missed), met: pass»
""",
}


@pytest.mark.parametrize("annotated", SHAPES.values(), ids=SHAPES)
def test_hints_say_shares_ranges_and_what_is_certain(annotated):
    assert shown(plain(annotated), "/a.rubric.yaml") == annotated


DIALECTS = {
    "points to lose": """\
rubrics:
  - {criterion: Names the dose, points: 5 «62.5% of the score; not met: fail», tags: []}
  - {criterion: Names a source, points: 3 «37.5% of the score; not met: cannot pass», tags: []}
  - {criterion: Invents a dose, points: -6 «-75% of the score; met: fail», tags: []}
""",
    "met by not doing it, no borderline": """\
tests:
  - assert:
      - {type: llm-rubric, value: Names the cause, weight: 3 «60% of the score; not met: fail (gate missed)»}
      - {type: not-llm-rubric, value: Blames the customer, weight: 2 «40% of the score; met: fail (gate missed)»}
""",
    "a threshold of its own": """\
metrics:
  - name: tone
    criteria: Judge the tone
    threshold: 0.5
    rubric:
      - {score_range: [0, 4] «fail», expected_outcome: Blames the customer}
      - {score_range: [5, 10] «pass», expected_outcome: Thanks the customer}
""",
}


@pytest.mark.parametrize("annotated", DIALECTS.values(), ids=DIALECTS)
def test_hints_in_files_of_other_systems_are_those_of_their_scores(annotated):
    assert shown(plain(annotated)) == annotated


def test_a_rubric_with_errors_has_no_hints_and_the_others_have_theirs():
    annotated = """\
tests:
  - id: one
    rubrics:
      - score_range: [0, 4]
        expected_outcome: States a wrong period
      - score_range: [4, 10]
        expected_outcome: States the right period
  - id: two
    rubrics:
      - score_range: [0, 7] «scores 0 to 5 fail, 6 and 7 are borderline»
        expected_outcome: States a wrong period
      - score_range: [8, 10] «pass»
        expected_outcome: States the right period
"""
    assert shown(plain(annotated)) == annotated


def test_a_text_that_cannot_be_read_has_no_hints():
    assert shown("rubrics: [a, {b\n") == "rubrics: [a, {b\n"
    assert shown("rubrics:\n  - id: a\n    weight: 0\n").count("«") == 0
    assert shown("") == ""


def test_where_uses_of_an_anchor_differ_it_says_what_all_have():
    annotated = """\
low: &low {score_range: [0, 4], expected_outcome: Names no cause at all}
all: &all {score_range: [5, 10], expected_outcome: Names the cause}
both: &both {weight: 3}
rubrics:
  - id: cause
    weight: &two 2 «28.6% of the score»
    required_min_score: 5
    score_ranges: [*low, *all]
  - id: day
    weight: *two «28.6% of the score»
    score_ranges: [*low, *all]
  - id: source «42.9% of the score»
    <<: *both
    score_ranges:
      0: Names none «band 0 to 4; score 0 fails, 1 to 4 cannot pass»
      5: Names one «band 5 to 10; score 5 cannot pass»
"""
    assert shown(plain(annotated)) == annotated


def test_what_is_certain_of_only_one_use_of_an_anchor_is_not_said():
    annotated = """\
high: &high {score_range: [5, 10], expected_outcome: Names the cause}
rubrics:
  - id: cause
    weight: 3 «75% of the score»
    required_min_score: 8
    score_ranges:
      - {score_range: [0, 4] «fail (gate missed)», expected_outcome: Names none}
      - *high
  - id: day
    weight: 1 «25% of the score»
    score_ranges:
      - {score_range: [0, 4] «scores 0 and 1 cannot pass», expected_outcome: Names none}
      - *high
"""
    assert shown(plain(annotated)) == annotated


def test_a_criterion_that_two_rubrics_share_says_no_share():
    annotated = """\
tests:
  - id: one
    rubrics:
      - &cause {id: cause, score_ranges: {0: Names no cause «band 0 to 5», 6: Names the cause «band 6 to 10»}}
      - {id: day «50% of the score», score_ranges: {0: A day «band 0 to 10; scores 0 and 1 fail, 2 to 5 cannot pass»}}
  - id: two
    rubrics: [*cause]
"""
    assert shown(plain(annotated)) == annotated


def test_an_alias_of_a_whole_rubric_says_it_once():
    annotated = """\
tests:
  - id: one
    rubrics: &r
      - score_range: [0, 7] «scores 0 to 5 fail, 6 and 7 are borderline»
        expected_outcome: States a wrong period
      - score_range: [8, 10] «pass»
        expected_outcome: States the right period
  - id: two
    rubrics: *r
"""
    assert shown(plain(annotated)) == annotated


HIGH, LOW = "scores 5 to 7 cannot pass, 8 to 10 cannot fail", "scores 0 and 1 cannot pass"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"share_hints": False}, ["band 0 to 4; fail", f"band 5 to 10; {HIGH}", f"band 0 to 10; {LOW}"]),
        (
            {"verdict_hints": False},
            ["75% of the score", "band 0 to 4", "band 5 to 10", "25% of the score", "band 0 to 10"],
        ),
        ({"range_hints": False}, ["75% of the score", "fail", HIGH, "25% of the score", LOW]),
        ({"share_hints": False, "verdict_hints": False, "range_hints": False}, []),
    ],
)
def test_each_kind_can_be_switched_off(options, expected):
    text = """\
rubrics:
  - {id: a, weight: 3, score_ranges: {0: Names no cause, 5: Names the cause}}
  - {id: b, score_ranges: {0: Names a source}}
"""
    found = shown(text, **options)
    assert [part.partition("»")[0] for part in found.split("«")[1:]] == expected


def test_a_hint_of_the_short_form_stands_behind_the_first_line_of_the_outcome():
    annotated = """\
rubrics:
  - id: cause
    score_ranges:
      0: |- «band 0 to 5»
        Names no cause
        at all
      6: Names the cause «band 6 to 9»
        in a word  # not in two
      10:
        Names the cause and why
"""
    assert shown(plain(annotated), verdict_hints=False) == annotated


def test_only_what_the_editor_shows_is_said():
    text = "tests:\n" + "".join(f"  - {{id: t{n}, rubrics: [Names the cause {n}]}}\n" for n in range(4))
    place = text.index("Names the cause 2")
    assert [
        n
        for n in range(4)
        if f"«not met: fail, met: pass» Names the cause {n}" in shown(text, within=Span(place, place))
    ] == [2]


def test_the_cases_of_a_suite_have_the_hints_that_they_have_alone():
    case = """\
  - id: {}
    rubrics:
      - id: cause 😀
        weight: 3 «75% of the score»
        score_ranges:
          0: Names none «band 0 to 4; fail»
          5: Names one «band 5 to 10; scores 5 to 7 cannot pass, 8 to 10 cannot fail»
      - id: day «25% of the score»
        score_ranges: {{0: Names a day «band 0 to 10; scores 0 and 1 cannot pass»}}
"""
    annotated = "# é\ntests:\n" + "".join(map(case.format, "abcd"))
    text = plain(annotated)
    assert shown(text) == annotated
    many = annotated + "".join(case.format(f"case-{number}") for number in range(60))
    assert shown(plain(many)) == many
    lines = text.splitlines(keepends=True)
    within = Span(len("".join(lines[:11])), len("".join(lines[:19])))
    assert shown(text, within=within) == "".join(
        [*lines[:11], *annotated.splitlines(keepends=True)[11:19], *lines[19:]]
    )


def test_criteria_of_one_rubric_are_never_taken_for_cases():
    annotated = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json
rubrics:
  - id: cause «25% of the score; not met: cannot pass»
    expected_outcome: Names the cause
  - id: day
    weight: 3 «75% of the score; not met: fail, met: cannot fail»
    expected_outcome: Names the day
"""
    text = plain(annotated)
    assert shown(text, "/a.yaml") == annotated
    place = Span(text.index("id: cause"), text.index("expected"))
    assert shown(text, "/a.yaml", within=place).splitlines()[2] == annotated.splitlines()[2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_places_are_those_that_the_editor_counts(encoding, line_end):
    annotated = """\
\ufeffrubrics:
  - {expected_outcome: Names the cause 😀 é, weight: 3 «75% of the score; not met: fail, met: cannot fail»}
  - {id: "é😀" «25% of the score; not met: cannot pass», expected_outcome: Names the day}
""".replace("\n", line_end)
    assert shown(plain(annotated), encoding=encoding) == annotated


def test_json_has_hints_too():
    annotated = """\
{"rubrics": [{"id": "a", "score_ranges": {
  "0": "Names no cause" «band 0 to 9; scores 0 to 5 fail, 6 and 7 are borderline, 8 and 9 pass»,
  "10": "Names it" «pass»}}]}
"""
    assert shown(plain(annotated), "/a.rubric.json") == annotated


def test_programs_have_hints_too():
    annotated = """\
from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric

tone = GEval(
    name="tone 😀",
    criteria="Judge the tone",
    rubric=[
        Rubric(score_range=(0, 4) «fail», expected_outcome="Blames the customer"),
        Rubric(score_range=(5, 10) «pass», expected_outcome="Thanks the customer"),
    ],
)
"""
    assert shown(plain(annotated), "/a.py") == annotated


@pytest.mark.parametrize("annotated", SHAPES.values(), ids=SHAPES)
def test_a_half_typed_text_has_only_hints_that_fit_into_it(annotated):
    text = plain(annotated)
    for end in range(0, len(text), 3):
        assert plain(shown(text[:end], "/a.rubric.yaml")) == text[:end]


TEXT = """\
rubrics:
  - {score_range: [0, 6], expected_outcome: Wrong period}
  - {score_range: [7, 10], expected_outcome: Right period}
"""


async def ask(editor, uri):
    params = types.InlayHintParams(
        types.TextDocumentIdentifier(uri), types.Range(types.Position(0, 0), types.Position(9, 0))
    )
    return [hint.label for hint in await editor.client.text_document_inlay_hint_async(params) or []]


async def test_hints_follow_the_text_and_the_settings(tmp_path):
    uri, settings = uri_of(tmp_path / "a.rubric.yaml"), tmp_path / "rubric-lint.toml"
    refreshed = []

    def adapt(capabilities):
        capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)

    async with start(tmp_path, adapt=adapt) as editor:
        editor.client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: refreshed.append(1))
        assert editor.result.capabilities.inlay_hint_provider
        editor.open(uri, TEXT)
        assert await ask(editor, uri) == [
            "scores 0 to 5 fail, 6 is borderline",
            "score 7 is borderline, 8 to 10 pass",
        ]
        editor.replace(uri, 2, TEXT.replace("6]", "5]").replace("[7", "[6"))
        assert await ask(editor, uri) == ["fail", "scores 6 and 7 are borderline, 8 to 10 pass"]
        settings.write_text("pass = 0.9\n", "utf-8")
        change = types.FileEvent(uri_of(settings), types.FileChangeType.Created)
        before = len(refreshed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert await ask(editor, uri) == ["fail", "scores 6 to 8 are borderline, 9 and 10 pass"]
        assert len(refreshed) > before
        editor.client.set_configuration({"rubric-lint": {"verdictHints": False}})
        editor.client.set_configuration({"rubric-lint": {"verdictHints": False}}, scope_uri=uri_of(tmp_path))
        before = len(refreshed)
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
        while len(refreshed) == before:
            await asyncio.sleep(0.01)
        assert await ask(editor, uri) == []
        assert await editor.end() == 0
