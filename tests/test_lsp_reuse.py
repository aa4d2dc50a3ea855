"""What is kept of the cases of a suite from one edit to the next never shows: the report is that of the whole text."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import steps

from rubric_lint.finding import Severity
from rubric_lint.lint.engine import examine, lint
from rubric_lint.lsp.actions import Abilities, make_actions
from rubric_lint.lsp.analysis import Analysis, State, analyse
from rubric_lint.lsp.diagnostics import has_schema, write_diagnostics
from rubric_lint.lsp.hints import make_hints
from rubric_lint.lsp.hover import make_hover
from rubric_lint.lsp.lenses import make_lenses
from rubric_lint.lsp.links import make_links
from rubric_lint.lsp.options import Options
from rubric_lint.lsp.positions import Text
from rubric_lint.lsp.reuse import Memory
from rubric_lint.lsp.symbols import write_folds, write_outline
from rubric_lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.text.source import Source, Span

CASES = [
    """\
  - id: sound
    input: Explain to a first-year student how quicksort works, and what it costs in time and in space at worst.
    rubrics:
      - id: accuracy
        expected_outcome: Every statement about the cost agrees with the source that the question names 😀
""",
    """\
  - id: overlapping # a comment
    input: "How do I get there now: by bus, or on foot?"
    rubrics:
      - id: tone
        score_ranges:
          - {score_range: [0, 5], expected_outcome: Says nothing of the reason}
          - {score_range: [5, 10], expected_outcome: Says the reason and where it is from 😀}
      - {id: tone, description: Says so, required: true, wieght: 100%}
""",
    """\
  - id: block
    input: |
      Two lines of text, the second of which looks like
        - a list
      and is none.

    rubrics:
      # what follows is old
      - description: >-
          Names the figure
          and its page
        required: yes
        weight: -1
      - Names the figure
""",
    """\
  - id: 'twice'
    id: 'twice again'
    rubrics:
      - id: a
        levels:
          - {level: 1, expected_outcome: Says nothing}
          - {level: 1, expected_outcome: Says something}
        id: b
      - [wrong, "%d", '"line": 7']
      - expected_outcome: It is good, and the answer is complete, correct and appropriate
""",
    """\
  - id: without
    input: Summarise the leaflet so that a carer knows when to call a doctor, and whom to call when none is there.
    expected: nothing in particular is judged in this case, which is here because suites have such cases as well.
""",
    """\
  - id: lost
    input: What is nearly a rubric is one in a suite that has others, and may be nothing at all in one that has none.
    rubric:
      - id: a
        expected_outcome: Says so
    notes: this goes on for so long that it is worth while to check the case apart from those that are around it
""",
    """\
  - id: dialect
    assert:
      - type: llm-rubric
        value:
          - id: a
            outcome: Says so, and says why, and where it is from, so that everybody can see for themselves
            weight: 2
            required: true
""",
]
AGENTV = [
    """\
  - id: graded
    criteria: An answer about the refund that the user can act on at once, with a date and the name of a person
    input: Where is my money, and who can tell me when it is going to be on my account again?
    assertions:
      - type: rubrics
        criteria:
          - {id: date, outcome: Names the date, weight: 2, required: true}
          - {id: tone, outcome: Is polite, min_score: 0.7}
      - type: contains
        value: refund
""",
    """\
  - id: judged
    criteria: An answer about the refund that the user can act on at once
    input: Where is my money, and who can tell me when it is going to be on my account again {{ name }}?
    vars: {name: Ada}
    assert:
      - type: llm-rubric
        value:
          - {id: tone, outcome: "Is polite, and says {{ nam }}"}
          - id: tone
            score_ranges:
              - {score_range: [0, 5], outcome: Says nothing of the reason}
              - {score_range: [5, 10], outcome: Says the reason and where it is from}
      - Names the person who asked
""",
    """\
  - id: texts
    input: Who can tell me when the money is going to be on my account again, and what if it is not there by then?
    rubrics: [Names the person who asked, Names the date]
    evaluators:
      - {type: rubric, rubrics: [{id: a, criteria: Names the date}]}
""",
    """\
  - id: weak
    input: Who can tell me when the money is going to be on my account again, and what if it is not there by then?
    rubrics:
      - id: a
        operator: and
        score_ranges: [{score_range: [0, 10], say: Names the date and the person who asked}]
""",
    """\
  - id: prompted
    vars: {question: Who can tell me when the money is going to be on my account again, and what if it is not there}
    assert:
      - type: llm-rubric
        value: |
          Score the answer:
          1: it names no date
          2: it names a date
        threshold: 0.5
      - {type: g-eval, value: Says the reason}
""",
    """\
  - description: promptfoo
    vars: {question: Who can tell me when the money is going to be on my account again, and what if it is not there}
    assert:
      - {type: llm-rubric, value: Says the reason, weight: 2}
      - {type: llm-rubric, rubricPrompt: Is it so}
      - {type: not-factuality, value: The date is known}
""",
    """\
  - id: empty
    criteria: An answer about the refund that the user can act on at once, with a date and the name of a person
    input: Where is my money, and who can tell me when it is going to be on my account again?
    rubrcs: [{id: a, outcome: b}]
    assertions:
      - {type: rubrics, criteria: []}
      - {type: rubrics, criterias: [{outcome: Names the date}]}
      - {type: llm_judge, rubrics: [{outcome: Names the date}]}
      - {type: composite, assertions: [Names the date, {type: rubrics, criteria: [{outcome: Names the date}]}]}
""",
]
AGENTV_HEADS = [
    "tests:\n",
    "prompts: [a]\ntests:\n",
    "default_test: {vars: {a: 1}}\ntests:\n",
    "defaultTest: {}\ntests:\n",
]
HEADS = [
    "tests:\n",
    "evalcases:\n\n  # the first one\n",
    "description: A suite\nmetadata: {a: [1, 2]}\ncases:\n  - id: none\ntests:\n",
    "---\nid: &top yes\nrubrics: []\ntests:\n",
    "\ufefftests:\n",
]
TAILS = [
    "",
    "defaults:\n  weight: 1\n",
    "# the end\n\nversion: 2\n",
    "other:\n  rubrics:\n    - {id: a, description: b}\n",
]
PIECES = [
    "", "x", " ", "\n", "  ", "\n  - ", "- ", '"', "'", "[", "}", ": ", "# x\n", "#", "&a ", "*a", "😀", "\t", "|\n",
    "\n---\n", "\nkey: 1\n", "<<: ", "? ", "%", "\x85", "\r", "# rubric-lint: ignore[overlap]\n", "rubrics:\n",
    "criteria: ", "a: b\n", "  - id: new\n", "description", "ignore[", "\ufdd0", "@", "\0",
]  # fmt: skip
# Which share of the text to replace, how much of it, and by what; or which case to put at which place.
TYPED = st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(PIECES))
MOVED = st.tuples(st.floats(0, 1), st.sampled_from([*CASES, None]))
PLAIN = FileSettings()
CLAIMED = SettingsFinder(isolated=True).for_file("/a.rubric.yaml")
SETTINGS = [
    PLAIN,
    FileSettings(enabled=frozenset({"overlap", "schema", "syntax"}), severities={"overlap": Severity.ERROR}),
    FileSettings(implicit_required=True),
    CLAIMED,
]


def state_of(text, rules=PLAIN, name="/suite.yaml", encoding="utf-16"):
    return State(f"file://{name}", name, "yaml", 1, Text.of(text, encoding), rules)


def shown(analysis, *, schema_server=False):
    written = write_diagnostics(analysis, shape_errors="auto", schema_server=schema_server)
    return json.loads(written)


def assert_same(found, *, schema_server=False):
    """Hold an analysis against one that keeps nothing and cuts nothing."""
    state = found.state
    source = Source(state.name, state.text.body)
    examined = examine(source, state.settings)
    whole = Analysis(state, examined.result, examined.result.findings, examined)
    assert shown(found, schema_server=schema_server) == shown(whole, schema_server=schema_server)
    assert found.findings == whole.findings
    assert (found.result.rubrics, found.result.criteria) == (whole.result.rubrics, whole.result.criteria)


LAZY = Abilities(versioned=True, lazy=True, confirms=True)
EXAMPLE = str(Path(__file__).parents[1] / "examples" / "support-bot.yaml")


def answers(analysis, *, has_actions=True):
    """What an editor shows besides findings."""
    everything = Span(0, analysis.state.text.length)
    third = everything.end // 3
    thirds = [Span(0, 0), Span(third, third + 60), Span(2 * third, 2 * third + 60)] if has_actions else []
    return {
        "tree": json.loads(write_outline(analysis, is_tree=True)),
        "list": json.loads(write_outline(analysis, is_tree=False)),
        "folds": json.loads(write_folds(analysis, None)),
        "first folds": json.loads(write_folds(analysis, 3)),
        "lenses": make_lenses(analysis),
        "links": make_links(analysis, []),
        "hints": make_hints(analysis, everything, Options()),
        "hovers": [make_hover(analysis, round(share * everything.end / 7)) for share in range(8)],
        "actions": [list(make_actions(analysis, place, None, LAZY, asked=False)) for place in thirds],
        "has schema": has_schema(analysis),
        "is readable": analysis.is_readable,
    }


def assert_same_answers(found, *, has_actions=True):
    """Hold the answers that are made of cases against those that are made of the whole."""
    examined = examine(Source(found.state.name, found.state.text.body), found.state.settings)
    whole = Analysis(found.state, examined.result, examined.result.findings, examined)
    assert answers(found, has_actions=has_actions) == answers(whole, has_actions=has_actions)


def edit(text, step):
    """Make a step of an edit in a text."""
    if len(step) == 3:
        share, length, new = step
        at = round(share * len(text))
        return text[:at] + new + text[at + length :]
    share, case = step
    starts = [at for at in range(len(text)) if text.startswith("  - id: ", at) and text[at - 1 : at] in ("\n", "")]
    if not starts:
        return text
    place = round(share * (len(starts) - 1))
    if case is None:
        return text[: starts[place]] + text[starts[place + 1] if place + 1 < len(starts) else len(text) :]
    return text[: starts[place]] + case + text[starts[place] :]


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(CASES), min_size=2, max_size=6) | st.lists(st.sampled_from(CASES[:4]), min_size=2),
    st.sampled_from(TAILS),
    st.lists(TYPED | MOVED | st.just("undo"), max_size=12),
    st.sampled_from(["utf-8", "utf-16"]),
    st.sampled_from(SETTINGS),
    st.booleans(),
    st.booleans(),
)
def test_the_report_after_any_edits_is_that_of_the_text(
    head, cases, tail, steps, encoding, rules, has_crlf, schema_server
):
    memory, texts = Memory(), [head + "".join(cases) + tail]
    if has_crlf:
        texts = [texts[0].replace("\n", "\r\n")]
    for step in [None, *steps]:
        if step == "undo":
            texts = texts[:-1] or texts
        elif step:
            texts.append(edit(texts[-1], step))
        found = analyse(state_of(texts[-1], rules, EXAMPLE, encoding), memory)
        assert_same(found, schema_server=schema_server)
        assert_same_answers(found)


AGENTV_TYPED = st.tuples(
    st.floats(0, 1),
    st.integers(0, 9),
    st.sampled_from(["", "x", "outcome", "criteria", "id: ", "- ", "assert:\n", "input", "min_score: 1", "a: ", "\n"]),
)


def hold_through_edits(text, steps, settings=PLAIN, name=EXAMPLE):
    memory, texts = Memory(), [text]
    for step in [None, *steps]:
        texts += [edit(texts[-1], step)] if step else []
        found = analyse(state_of(texts[-1], settings, name), memory)
        assert_same(found)
        assert_same_answers(found)


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.sampled_from(AGENTV_HEADS),
    st.lists(st.sampled_from([*AGENTV, *CASES[:2]]), min_size=2, max_size=6),
    st.lists(AGENTV_TYPED | st.tuples(st.floats(0, 1), st.sampled_from([*AGENTV, *CASES, None])), max_size=8),
    st.sampled_from([EXAMPLE, EXAMPLE.replace(".yaml", ".eval.yaml")]),
)
def test_what_cases_show_of_their_suite_never_depends_on_what_was_kept(head, cases, steps, name):
    hold_through_edits(head + "".join(cases), steps, name=name)


@pytest.mark.parametrize("head", AGENTV_HEADS)
def test_a_case_is_read_as_the_other_cases_demand(head):
    hold_through_edits(head + "".join(AGENTV), [(0, None), (0.5, None)])


@pytest.mark.slow
@pytest.mark.parametrize("head", AGENTV_HEADS)
@pytest.mark.parametrize("first", range(len(AGENTV)))
def test_a_case_is_read_as_other_cases_demand_that_come_and_go(head, first):
    others = [case for number, case in enumerate(AGENTV) if number != first]
    steps = [(share, None) for share in (0, 0.5, 1, 0, 0, 0)]
    hold_through_edits(head + AGENTV[first] + "".join(others), [(0.9, AGENTV[first]), *steps, (0, AGENTV[first - 1])])


@pytest.mark.parametrize("case", AGENTV[:2])
def test_a_suite_of_agentv_is_checked_case_by_case(case):
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    text, memory = "tests:\n" + "".join(case.replace("id: ", f"id: x{number}", 1) for number in range(5)), Memory()
    for edited in (text, text.replace("id: x3", "id: y3"), text.replace("id: x0", "# first\n    id: y0")):
        found = analyse(state_of(edited), memory)
        assert found.cases
        assert_same(found)
        assert_same_answers(found)


FAULTS = [
    '"',
    "'",
    "[",
    "{a: ",
    "a: ",
    "@",
    "*none",
    "- ",
    "\t- ",
    "]",
    "%",
    "|x\n",
    "&",
    "x: |\n a\n  b\n",
    "\0",
    "\x01",
    '"\\q"',
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", ["  - id: ", "    input: ", "", "      - id: "])
def test_a_syntax_error_is_the_same_without_the_cases_above_it(fault, place):
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    text = "tests:\n" + "".join(CASES[:3] * 3) + CASES[0]
    memory = Memory()
    assert analyse(state_of(text), memory).cases
    at = text.index(CASES[1], len(text) // 2) + CASES[1].find(place) + len(place)
    for _ in range(2):
        assert_same(analyse(state_of(text[:at] + fault + text[at:]), memory))


@pytest.mark.parametrize("line", ["foo\n", " foo: bar\n", "foo: [\n", '"foo\n', "foo:\n- x\n- y: z: a\n", "%x\n"])
@pytest.mark.parametrize("case", [0, 1, 4, 10])
def test_a_syntax_error_between_cases_is_that_of_the_whole(line, case):
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    cases, memory = [*CASES[:3] * 3, CASES[0]], Memory()
    assert analyse(state_of("tests:\n" + "".join(cases)), memory).cases
    text = "tests:\n" + "".join(cases[:case]) + line + "".join(cases[case:])
    for edited in (text, text + "# more\n"):
        assert_same(analyse(state_of(edited), memory))


@pytest.mark.parametrize(
    "text", ['a: "b\nc: d\n', "- 'x\n- y\n", "[:'? }*a", 'a: ["b\n, c]\n', "a: b\nc: d 'e\nf: 'g\n"]
)
def test_an_open_quote_is_reported_alike_whatever_follows(text):
    def report(text):
        return [(found.message, found.span) for found in lint("a.rubric.yaml", text.encode(), CLAIMED).findings]

    assert report(text) == report(text + "\\\\\n")


MIXED = """\
  - name: {}
    type: rubric
    why: "How do I get there now: by bus, or on foot? And what does it cost, and who can tell me more about that now?"
    rubrics:
      - id: tone
        score_ranges:
          - {{score_range: [0, 5], expected_outcome: Says nothing of the reason}}
          - {{score_range: [6, 10], expected_outcome: Says the reason and where it is from}}
      - id: name
        expected_outcome: Names the driver
"""


@pytest.mark.parametrize("name", ["one-2", "one-3", "other"])
def test_a_copy_of_an_entry_gets_a_name_that_no_other_entry_has(name):
    memory = Memory()
    for text in ("evaluators:\n" + MIXED.format("one") + MIXED.format(other) for other in ("two", name)):
        found = analyse(state_of(text), memory)
        assert all(finding.choices for finding in found.findings)
        assert_same(found)


def make_suite(count):
    return "tests:\n" + "".join(
        case.replace("id: ", f"id: x{number}", 1) for number in range(count) for case in CASES[:4]
    )


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["more ", '"', "[", "a: "])
def test_an_edit_costs_a_small_part_of_the_whole(typed):
    text, memory = make_suite(6), Memory()
    analyse(state_of(text), memory)
    at = text.index("id: x4") + 4
    edited = state_of(text[:at] + typed + text[at:])
    analyse(edited)  # loads what words a syntax error
    assert 3 * steps(analyse, edited, memory) < steps(analyse, edited, Memory())


def test_cases_that_move_keep_what_was_found_in_them():
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    text, memory = make_suite(5), Memory()
    assert analyse(state_of(text), memory).cases
    moved = text.replace("tests:\n", "# first\ntests:\n") + CASES[1]
    for edited in (moved, moved.replace(CASES[0], "", 1), text):
        found = analyse(state_of(edited), memory)
        assert found.cases
        assert_same(found)


UNNAMED = """\
  - input: What does the leaflet say about taking two of them, and is it any different for children?
    rubrics:
      - id: doses
        expected_outcome: Says which dose is for whom, as in refund.rubric.yaml, and what to do after taking too much
    evaluators:
      - type: llm
        rubrics: [Names the leaflet, Names the page of it]
"""
TYPED_ON = [
    ("", ""),
    ("tests:\n", "tests:\n" + UNNAMED),
    (CASES[0], UNNAMED + CASES[0]),
    ("tests:\n", "description: More\nmetadata:\n  a: 1\ntests:\n"),
    ("id: accuracy", "id: more"),
    (CASES[1], ""),
    ("tests:\n", "# yaml-language-server: $schema=suite.schema.json\ntests:\n"),
    (CASES[5], ""),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_other_answers_after_edits_are_those_of_the_text(encoding):
    text, memory = "tests:\n" + "".join(CASES[:6]) + UNNAMED * 2 + "defaults:\n  weight:\n    - 1\n", Memory()
    for old, new in TYPED_ON:
        text = text.replace(old, new, 1)
        assert_same_answers(analyse(state_of(text, name=EXAMPLE, encoding=encoding), memory))


def test_other_answers_cost_a_small_part_of_the_whole():
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    text, memory = make_suite(12), Memory()
    before = analyse(state_of(text, name=EXAMPLE), memory)
    edited = state_of(text.replace("id: x7", "id: more"), name=EXAMPLE)
    for make in (partial(write_outline, is_tree=True), partial(write_folds, limit=None), make_lenses):
        make(before)
        assert 5 * steps(make, analyse(edited, memory)) < steps(make, analyse(edited, Memory()))


PARTS_AROUND = [
    "# a note\n",
    "# rubrics, judged by llm-rubric and min_score\n",
    "\n",
    "description: A suite\n",
    "description: >-\n  It asserts the criteria of evaluators,\n  # as each input demands\n\n",
    "description: 'A suite' # of mine\n",
    "description:\n",
    "description: 1\n",
    "name: a b\nid: c\n",
    "rubrics: suite.rubric.yaml\n",
    "rubrics: It is good\n",
    "rubric: It is good\n",
    "rubrics:\n- {id: a, expected_outcome: Says so}\n",
    "prompts: Say {{ nam }}\n",
    "prompts: [Say it, prompts/b.txt]\n",
    "vars: {nam: Ada}\n",
    "default_test: {vars: {name: Ada}}\n",
    "default_test: file://default.yaml\n",
    "default_test:\n  assert: [Names the date]\n",
    "defaultTest: {threshold: 0.5, options: {rubricPrompt: Is it so}}\n",
    "defaultTest: a b\n",
    "evaluate_options: {cache: 'no'}\n",
    "defaults:\n  rubrics: It is good\n",
    'metadata: {authors: [Ada, Bo], note: "rubricPrompt: it", deep: {er: [a]}}\n',
    "execution:\n  target: default\n  evaluators:\n    - {type: llm-rubric, value: a b}\n",
    "evaluators: [{type: llm_judge, rubrics: [{outcome: Says so}]}, a b]\n",
    "assert:\n  - type: llm-rubric\n    value: |\n      1: it names no date\n      2: it names a date\n",
    "assertions: [{type: contains, value: a}]\n",
    "criteria: An answer\ninput: What is it?\n",
    "expected_output: a b\n",
    "type: score_model\ninput: [{content: '1: no'}]\n",
    "prompt: (a) Yes {{output}}\nchoice_scores: {a: 1}\n",
    "scenarios: [{config: [{vars: {a: b}}], tests: [{id: a, assert: [Says so]}]}]\n",
    "providers: [a]\n",
    "cases:\n  - {id: a, rubric: Says so, notes: b}\n",
    "$schema: https://rubric-lint.github.io/schemas/v2/suite.json\n",
    "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/v1/suite.json\n",
    "# $schema: https://rubric-lint.github.io/schemas/v9/suite.json\n",
    "? a b\n: c d\n",
    "a: !!str b c\n",
    "a: &a b c\n",
]
FREE = PARTS_AROUND[:10] + [
    part for part in PARTS_AROUND if part.startswith(("prompts", "vars", "meta", "eval", "prov"))
]
AROUND = st.lists(st.sampled_from(FREE) | st.sampled_from(PARTS_AROUND), max_size=3)
# Put a part as one of those above (True) or below, take one away, or type in one.
CHANGES_AROUND = st.tuples(
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([*FREE, None]) | st.sampled_from([*PARTS_AROUND, None]) | TYPED,
)


def change_around(parts, at, change):
    """Make a change, and keep one part of each name."""
    at = min(at, len(parts))
    if isinstance(change, str):
        parts = [*parts[:at], change, *parts[at:]]
    elif change is None or at == len(parts):
        parts = [*parts[:at], *parts[at + 1 :]]
    else:
        parts = [*parts[:at], edit(parts[at], change), *parts[at + 1 :]]
    return list({part.partition(":")[0]: part for part in parts}.values())


def hold_through_changes_around(suite, changes, name, encoding, newline="\n"):
    """Type above and below the cases, and hold each report against that of the whole text."""
    (above, begin, cases, below), memory = suite, Memory()
    for is_above, at, change in [(True, 9, None), *changes]:
        above, below = (
            (change_around(above, at, change), below) if is_above else (above, change_around(below, at, change))
        )
        text = "".join([*above, begin, *cases, *below]).replace("\n", newline)
        found = analyse(state_of(text, name=name, encoding=encoding), memory)
        assert_same(found)
        assert_same_answers(found, has_actions=False)  # a fix is proved in its case, with what is around it as it is


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@settings(max_examples=60)
@given(
    st.tuples(
        AROUND,
        st.sampled_from(["tests:\n", "---\ntests:\n", "evalcases:\n\n  # the first one\n"]),
        st.lists(st.sampled_from([*AGENTV, *CASES]), min_size=2, max_size=5),
        AROUND,
    ),
    st.lists(CHANGES_AROUND, max_size=6),
    st.sampled_from([EXAMPLE, EXAMPLE.replace(".yaml", ".eval.yaml")]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_typed_around_cases_matters_to_them_as_in_the_whole(encoding, suite, changes, name, newline):
    hold_through_changes_around(suite, changes, name, encoding, newline)


def test_what_may_matter_to_cases_is_seen_around_them():
    memory, cases = Memory(), "tests:\n" + "".join([AGENTV[1], AGENTV[3], *CASES[:2]])
    for part in PARTS_AROUND:
        for text in (part + cases, cases + part):
            assert_same(analyse(state_of(text), memory))


TYPED_AROUND = [
    ("---\n", "# of mine\n\n---\n"),
    ("A suite", "A long suite # of mine"),
    ("author: Ada", "author: Ada and Bo"),
    ("tests:\n", "tests: # all of them\n\n"),
    ("  - one\n", "  # the first one\n  - two\n"),
]


@pytest.mark.parametrize("case", [CASES[0], AGENTV[1]])
def test_comments_and_texts_around_cases_cost_a_small_part_of_the_whole(case):
    pytest.importorskip("_ruamel_yaml")  # without the C parser a suite is checked as a whole
    cases = "".join(case.replace("id: ", f"id: x{number}", 1) for number in range(12))
    text, memory = f"---\ndescription: A suite\nmetadata:\n  author: Ada\ntests:\n{cases}targets:\n  - one\n", Memory()
    for old, new in TYPED_AROUND:
        assert len(analyse(state_of(text), memory).cases) == 12
        text = text.replace(old, new, 1)
    assert 4 * steps(analyse, state_of(text), memory) < steps(analyse, state_of(text), Memory())
    assert_same(analyse(state_of(text), memory))


def make_json_case(number):
    bands = [
        {"score_range": [0, 5], "expected_outcome": 'Says nothing of "it" \\ {"id": ['},
        {"score_range": [5 + number % 2, 10], "expected_outcome": "Says the reason 😀"},
    ]
    case = {
        "id": f"case-{number}",
        "input": "Explain to a first-year student how quicksort works, and what it costs in time and in space.",
        "rubrics": [
            {"id": "a", "weight": 2, "score_ranges": bands},
            {"id": "b", "wieght" if number % 3 else "weight": 1, "expected_outcome": "Names the source & its *text*"},
            "States the name",
        ][: 1 + number % 4],
    }
    return {key: value for key, value in case.items() if number % 5 or key != "id"}


def make_json(numbers, indent=2, newline="\n"):
    suite = {"description": "A suite", "tests": [make_json_case(number) for number in numbers], "a": {"b": [1, 2]}}
    return json.dumps(suite, indent=indent, ensure_ascii=False).replace("\n", newline)


JSON_PIECES = [
    "",
    "x",
    " ",
    "\n",
    '"',
    ",",
    "[",
    "]",
    "}",
    "{",
    ": ",
    "\\",
    "1",
    '"id": "b", ',
    "{},\n",
    "\x85",
    "null",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@settings(max_examples=10)
@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=8),
    st.sampled_from([0, 2, 4]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6), st.sampled_from(JSON_PIECES)) | st.just("undo"), max_size=6),
)
def test_the_report_of_json_after_any_edits_is_that_of_the_text(newline, numbers, indent, steps):
    memory, texts = Memory(), [make_json(numbers, indent, newline)]
    name = EXAMPLE.replace(".yaml", ".json")
    for step in [None, *steps]:
        if step == "undo":
            texts = texts[:-1] or texts
        elif step:
            texts.append(edit(texts[-1], step))
        found = analyse(state_of(texts[-1], name=name), memory)
        assert_same(found)
        assert_same_answers(found)


JSON_AROUND = [
    {"description": "A suite"},
    {"description": "It asserts the criteria of evaluators by llm-rubric", "name": ""},
    {"metadata": {"authors": ["Ada", "Bo"], "deep": {"er": ["a"]}}},
    {"prompts": "Say {{ it }}"},
    {"defaultTest": {"threshold": 0.5, "options": {"rubricPrompt": "Is it so"}}},
    {"rubrics": "suite.rubric.yaml"},
    {"rubrics": ["It is good"], "version": 2},
    {"evaluators": [{"type": "llm_judge", "rubrics": [{"outcome": "Says so"}]}]},
    {"$schema": "https://rubric-lint.github.io/schemas/v2/suite.json"},
    {"type": "score_model", "input": [{"content": "1: no"}]},
]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 30), min_size=3, max_size=8),
    st.lists(st.tuples(*2 * [st.lists(st.sampled_from(JSON_AROUND), max_size=2)]), min_size=2, max_size=6),
)
def test_what_is_typed_around_cases_in_json_matters_to_them_as_in_the_whole(encoding, numbers, arounds):
    memory, tests = Memory(), [make_json_case(number) for number in numbers]
    for above, below in arounds:
        suite = {key: value for each in (*above, {"tests": tests}, *below) for key, value in each.items()}
        text = json.dumps(suite, indent=2, ensure_ascii=False)
        found = analyse(state_of(text, name=EXAMPLE.replace(".yaml", ".json"), encoding=encoding), memory)
        assert_same(found)
        assert_same_answers(found, has_actions=False)


@pytest.mark.parametrize("numbers", [range(4), [0], range(9, 15)])
def test_a_suite_in_json_is_checked_case_by_case(numbers):
    memory, name = Memory(), EXAMPLE.replace(".yaml", ".json")
    assert analyse(state_of(make_json(range(12)), name=name), memory).cases
    for edited in (make_json([*range(12), *numbers]), make_json([*numbers, *range(12)])):
        found = analyse(state_of(edited, name=name), memory)
        assert found.cases
        assert_same(found)
        assert_same_answers(found)


def test_what_reaches_into_other_cases_is_checked_as_a_whole():
    sound = make_suite(3)
    for old, new in [
        ("id: x0", "id: &one x0"),
        ("input: Explain", "input: *one # "),
        ("# a comment", "# rubric-lint: ignore[overlap]"),
        ("expected_outcome", "outcome"),
    ]:
        sound = sound.replace(old, new, 1)
        assert_same(analyse(state_of(sound), Memory()))


def test_the_criteria_of_one_rubric_are_checked_together():
    criterion = (
        "  - id: same\n    expected_outcome: Every statement about the cost agrees with the source that it names {0}\n"
        "    weight: 2 # this is longer than most, so that each could be checked apart from the others {0}\n"
        "    score_ranges:\n      - {{score_range: [0, 5], expected_outcome: Says nothing of the reason {0}}}\n"
        "      - {{score_range: [6, 10], expected_outcome: Says the reason and where it is from {0}}}\n"
    )
    found = analyse(state_of("rubrics:\n" + "".join(map(criterion.format, range(4)))), Memory())
    assert_same(found)
    assert [each.rule for each in found.findings].count("duplicate-id") == 3
