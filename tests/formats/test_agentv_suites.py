"""`rubric-fix --to agentv-4` and `--to agentv-5` on whole suites: all of a suite is rewritten, or nothing."""

import json
import random
import re
import subprocess
from pathlib import Path

import commands
import pytest
from agentv_5 import faults
from cases import read_cases
from found import told
from hypothesis import given, settings
from hypothesis import strategies as st
from node import install_package
from random_suites import name_suite
from styled_suites import is_refused_style, yaml_suites

from rubric_lint.convert.release import rewrite
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.lint.engine import lint
from rubric_lint.source.nunjucks import escape, find_broken
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

ROOT = Path(__file__).parents[2]
GENERATIONS = sorted((ROOT / "tests/agentv").glob("*.eval.yaml"))
"""Suites of each generation of AgentV, from December 2025 to July 2026."""
FIVE, FOUR = "agentv-5", "agentv-4"


def rewritten(text, target, name="a.eval.yaml"):
    """The text after the rewriting, and the lines of what keeps it from being done, or of what the target skips."""
    fixed = rewrite(name, text.encode(), target)
    assert fixed.doubt == ""
    return fixed.text, [fixed.result.source.position(left.finding.span.start).line for left in fixed.unmet]


def tell(text, target, name="a.eval.yaml"):
    """What a rewriting says by codes and values, each with its place: what is left, notes, and why it is in doubt.

    The note that comes after all obstacles is left out.
    """
    fixed = rewrite(name, text.encode(), target)
    left = [
        (
            fixed.result.source.position(each.finding.span.start)[:2],
            told(each.finding) if each.finding.code else [each.reason],
        )
        for each in fixed.unmet
    ]
    notes = [
        (fixed.before.position(note.at)[:2] if note.at is not None else "", told(note))
        for note in fixed.notes
        if note.code != "agentv.whole"
    ]
    doubt = [(fixed.before.position(fixed.doubt_at)[:2], [fixed.doubt])] if fixed.doubt else []
    return [f"{place} {' '.join(parts)}".strip() for place, parts in [*left, *notes, *doubt]]


def data_of(text, name="a.yaml"):
    return [document.data for document in read_documents(Source(name, text))[0]]


SUITES = read_cases(__file__)["suites"]


SKIPPED = re.compile(r"agentv-\d\.(test-without|member-without-name|no-input)")


@pytest.mark.spread(8)
@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize("kind", SUITES)
def test_a_suite_is_rewritten_whole_or_what_is_in_the_way_is_told(kind, target, said):
    text = SUITES[kind]
    name = name_suite(text)
    fixed = rewrite(name, text.encode(), target)
    notes = tell(text, target, name)
    said([fixed.text, notes] if fixed.is_changed else " ".join(["It stays as it is.", *notes]))
    skipped = all(SKIPPED.fullmatch(left.finding.code) for left in fixed.unmet)
    assert (fixed.doubt, fixed.is_changed and not skipped) == ("", False)
    again = rewrite(name, fixed.data, target)
    assert (again.is_changed, again.doubt, len(again.unmet)) == (False, "", len(fixed.unmet))
    if target == FIVE and not fixed.unmet and name == "a.eval.yaml" and text[0] != "-":
        before, after = ({fault for suite in data_of(each) for fault in faults(suite)} for each in (text, fixed.text))
        assert len(after - before) == sum(note.code == "agentv.unknown-type" for note in fixed.notes)


RUBRIC = "    rubrics: [{id: a, outcome: Says why}]\n"
LATE = 'prompts: ["{{ input }}"]\ntests:\n  - id: one\n    vars: {input: x}\n    assert: [Says why]\n'
CASE = f"tests:\n  - id: one\n    input: x\n{RUBRIC}"


def case(more):
    """A suite of one test that has something more."""
    return f"{CASE}    {more}\n"


OBSTACLES = {
    FIVE: {
        "a field without a migration": "workspace: a\n" + CASE,
        "what anchors share": "base: &b {id: a, outcome: It}\n" + CASE,
        "the target of one test": case("execution: {target: other}"),
        "a target with settings": "target: {extends: x}\n" + CASE,
        "input beside prompts": "prompts: [y]\n" + CASE,
        "input for tests in another file": f"input: y\n{CASE}  - file://more.yaml\n",
        "files beside messages, which AgentV 4 skips": "input_files: [a.md]\n"
        + CASE.replace("input: x", "input: [{role: user, content: x}]"),
        "tests under two names": "evalcases: []\n" + CASE,
        "a suite that is not YAML": "tests:\n\t- id: one\n",
        "options that are there already": "execution: {workers: 2}\nevaluate_options: {max_concurrency: 3}\n" + CASE,
        "two descriptions": case("criteria: It\n    description: It"),
        "cases in other files": f"{CASE}  - file://more.yaml\n",
        "a template with variables": CASE.replace("input: x", "input: '{{ x | upper }}'\n    vars: {x: y}"),
        "a set of another kind": case("assertions: [{type: composite, assertions: []}]"),
        "graders without a migration": case("assertions:\n      - {type: tool_trajectory}"),
        "several skills": case("assertions:\n      - {type: skill-trigger, skill: [x]}"),
        "rubrics that are not a list": f"{CASE}  - {{id: two, input: y, rubrics: shared/it.yaml}}\n",
        "two lists": case("assertions: [{type: contains, value: x}]\n    evaluators: [{type: equals, value: x}]"),
        "what only AgentV 4 does with an assertion": case(
            "assertions:\n      - {type: llm-grader, prompt: p, preprocessors: []}"
        ),
        "what AgentV 4 ignores and AgentV 5 does not": case("assertions: [{type: rubrics, prompt: p, criteria: [It]}]"),
        "inputs that would be several tests, or none": case("expected_output: []").replace("input: x", "input: [x, y]"),
        "what AgentV 5 passes without a look": f"{CASE}  - {{id: two, input: x, criteria: It, assertions: []}}\n",
        "a threshold that AgentV 5 does not read": f"{LATE}    threshold: 0.9\n",
        "a grader that AgentV 5 skips": LATE.replace(
            "[Says why]", "[Says why, {type: llm-rubric}, {type: assert-set}]"
        ),
        "a list and a program that are none": case("assertions: [{type: code-grader}]\n    evaluators: none"),
        "a list of a suite that no release reads": "evaluators: [{type: contains, value: x}]\n" + CASE,
        "a place in a prompt that AgentV 5 leaves empty": case(
            "assertions: [{type: llm-grader, prompt: '{{ output }} {{ expected_output }}'}]"
        ),
        "such a place in a prompt of a suite": "assertions: [{type: llm-grader, prompt: 'By {{criteria}}'}]\n" + CASE,
        "variables by which AgentV 5 makes several tests, or none": case("vars: {a: [x, y], b: [], c: [{d: e}]}"),
        "a name that AgentV refuses": "name: Refunds Suite\n" + CASE,
        "an input that AgentV skips": CASE.replace("input: x", "input: 42"),
        "messages beside a variable of that name": case(
            "expected_messages: [{role: x, content: y}]\n    vars: {expected_output: z}"
        ),
        "a list beside the one that is read": case(
            "assertions: [{type: contains, value: x}]\n    execution: {evaluators: [Says why]}"
        ),
        "a list that AgentV never reads": case("execution: {assertions: [Says why]}"),
        "lists of a suite": f"assertions: [Says so]\nexecution: {{evaluators: [Says why]}}\n{CASE}",
        "a list that is a text": case("execution: {assert: ab}"),
        "a program in a prompt under its old name": case("assertions: [{type: llm-grader, prompt: {script: [a]}}]"),
        "an assertion without a type": case("assertions: [{name: a, value: x}]"),
        "a provider that is named twice": f"targets: [a, b, a]\n{CASE}",
        "options that AgentV 5 has not": f"execution: {{cache: true, fail_on_error: true}}\n{CASE}",
        "turns with templates, beside variables": case(
            "vars: {a: b}\n    turns: [{input: x, assertions: ['Says {{ z }}']}]"
        ),
        "a key written twice in what another one hides": CASE.replace(
            "input: x", "input: x\n    metadata: {a: 1, a: 2}"
        )
        + CASE,
        "a type that is a list": case("assertions: [{type: [x], rubrics: [{id: a, outcome: It}]}]"),
        "criteria that nothing shows": CASE.replace("outcome", "description: Names it, outcome"),
        "two texts of a criterion": CASE.replace("outcome", "criteria: Names it, outcome"),
        "a field that would replace another": case("assertions: [{type: skill-trigger, skill: a, value: b}]"),
        "trials with a limit of their cost": f"execution: {{trials: {{count: 2, cost_limit_usd: 3}}}}\n{CASE}",
        "two documents": f"{CASE}---\n{CASE}",
        "a judge of bands by an agent": case(
            "assertions: [{type: agent_judge, rubrics: [{id: a, outcome: It, score_ranges: {0: No, 5: Yes}}]}]"
        ).replace(RUBRIC, ""),
        "a trajectory without steps, beside variables": case(
            "vars: {a: b}\n    assertions: [{type: tool-trajectory, mode: exact}]"
        ).replace(RUBRIC, ""),
        "a name of the environment that only AgentV 5 knows": case("expected_output: Say {{ env.A }}"),
        "arguments of tools": case(
            "assertions: [{type: tool-trajectory, mode: in_order, expected: [{tool: s, args: {a: 1}}]}]"
        ),
        "a workspace of a test, and preprocessors of a suite": f"preprocessors: []\n{case('workspace: {path: a}')}",
    },
    FOUR: {
        "prompts of AgentV 5": LATE,
        "defaults of AgentV 5": f"default_test: {{threshold: 1}}\n{CASE}",
        "options of AgentV 5": f"evaluate_options: {{repeat: 2}}\n{CASE}",
        "criteria of AgentV 5, with an error": case(
            "assert: [{type: llm-rubric, value: [{id: a, outcome: It, weight: -1}]}]"
        ),
        "a grader and a label of AgentV 5": case(
            "assertions: [{type: skill-used, value: x}, {type: contains, value: x, metric: m}]"
        ),
        "a program without a command": case("assertions: [{type: code_judge}]"),
        "a list of a suite that no release reads": "evaluators: [{type: contains, value: x}]\n" + CASE,
        "a name that AgentV refuses": "name: a_b\n" + CASE,
        "an input that AgentV skips": CASE.replace("input: x", "input: 42"),
        "two documents": f"{CASE}---\n{CASE}",
        "files that AgentV 4 does not read": "tests: [./a.yaml, file://b.json, {id: one, input: x, criteria: It}]\n",
        "what a turn does not parse": case("turns: [{input: x, assertions: [{type: contains, value: y}]}]"),
        "scenarios alone": LATE.replace("tests:\n", "scenarios:\n- tests:\n"),
        "a grader of a later release": case("assertions: [{type: javascript}]"),
        "criteria in a list that it would not read": case("assertions: [Says why]\n    assert: [It]"),
        "errors": "tests:\n  - {id: one, input: x, rubrics: [{id: a, expected_outcome: It, weight: -1}]}\n",
    },
}


@pytest.mark.parametrize(("target", "kind"), [(target, kind) for target, kinds in OBSTACLES.items() for kind in kinds])
def test_what_a_release_cannot_have_is_told_with_its_place_and_nothing_is_written(target, kind, said):
    text = OBSTACLES[target][kind]
    written, lines = rewritten(text, target)
    assert (written, lines != []) == (text, True)
    said(" ".join(tell(text, target)))


@pytest.mark.parametrize("target", RELEASES)
@pytest.mark.parametrize("field", ["vars", "execution"])
@pytest.mark.parametrize("value", ["5", "yes", "x", "[a]", "null"])
def test_a_case_whose_mappings_are_none_is_looked_at(field, value, target):
    text = f"tests:\n  - {{id: one, {field}: {value}, criteria: Says it, rubrics: [Says why]}}\n"
    assert rewritten(text, target)[1] == [2]


def test_every_record_beside_a_row_of_agentv_is_looked_at():
    row = '{"id": "a", "input": "x", "assert": [{"type": "llm-rubric", "value": [{"id": "a", "outcome": "It"}]}]}\n'
    text = f'{row}{{"id": "b", "input": "x", "outcome": "y"}}\n'
    assert rewritten(text, FIVE, "rows.jsonl") == (text, [2])


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_the_byte_order_mark_stay(end):
    text, mark = SUITES["rubrics beside other graders"], b"\xef\xbb\xbf"
    after = rewritten(text, FIVE)[0].replace("\n", end).encode()
    assert rewrite("a.yaml", mark + text.replace("\n", end).encode(), FIVE).data == mark + after


def test_what_is_found_in_the_middle_of_the_steps_has_its_place_in_the_text():
    text = f"target: a\n{CASE}    expected_output:\n\t# a tab\n      - y\n"
    fixed = rewrite("a.yaml", text.encode(), FIVE)
    assert (fixed.text, fixed.is_changed) == (text, False)
    assert fixed.doubt or [left.finding.span.start for left in fixed.unmet] == [text.index("- y")]


def test_a_list_that_cannot_move_with_the_others_keeps_the_suite_as_it_is():
    entries = ["{id: a, outcome: Says why}", "{id: b, outcome: Says how, stranger: true, weight: 1}"]
    graders = "".join(f"      - {{type: llm-rubric, rubrics: [{entry}]}}\n" for entry in entries)
    text = (
        f'target: a\nprompts: ["{{{{ input }}}}"]\ntests:\n  - id: one\n    vars: {{input: x}}\n    assert:\n{graders}'
    )
    fixed = rewrite("a.eval.yaml", text.encode(), FIVE)
    assert (fixed.is_changed, bool(fixed.unmet or fixed.doubt)) == (False, True)


def test_a_doubt_has_the_place_of_its_cause(said):
    text = f"tests:\n  - id: one\n    expected_output: |+\n      a\n    input: x\n\n{RUBRIC}"
    (doubt,) = tell(text, FIVE)
    assert doubt.startswith("(3, 22)")
    said(doubt)


def test_options_of_a_run_come_together():
    text, left = rewritten(f"execution: {{trials: {{count: 3}}, workers: 2}}\n{CASE}", FIVE)
    assert (text.splitlines()[0], left) == ("evaluate_options: {repeat: 3, max_concurrency: 2}", [])


INPUTS = (
    "    input: required\n",
    "    input: |\n      many\n\n       lines   \n      # no comment\n",
    "    'input':   # why\n    - role: user\n      content: \"x # y\"\n    expected_output: [1, 2]\n",
    "    expected_output: >\n      a\n      b\n    input: {a: b}\n",
)


@st.composite
def whole_suites(draw):
    """Suites in all styles, whose cases have an input and perhaps an expected output."""
    suite = draw(yaml_suites(most=1))
    source = Source.from_bytes(suite.name, suite.data)
    end = "\r\n" if "\r\n" in source.text else "\n"
    given_input = draw(st.sampled_from(INPUTS)).replace("\n", end)
    text = source.text.replace(f"    description: required{end}", given_input)
    return suite.name, source.to_bytes(text), [*suite.comments, *re.findall("# why", text)]


@pytest.mark.slow
@settings(max_examples=25)
@given(whole_suites())
def test_a_suite_in_any_style_is_rewritten_whole_with_its_comments(suite):
    name, data, comments = suite
    fixed = rewrite(name, data, FIVE)
    if is_refused_style(fixed):
        return
    assert (fixed.is_changed, fixed.doubt, fixed.unmet) == (True, "", ())
    before, after = data_of(fixed.before.text, name), data_of(fixed.text, name)
    assert [fault for document in after for fault in faults(document)] == []
    for old, new in zip(before, after, strict=True):
        for case, now in zip(old["tests"], new["tests"], strict=True):
            moved = {key: case[key] for key in ("input", "expected_output") if key in case}
            assert (now["vars"], now["description"]) == (moved, case["expected_outcome"])
    assert [note for note in comments if note not in fixed.text] == []
    again = rewrite(name, fixed.data, FIVE)
    assert (again.is_changed, again.doubt, again.unmet) == (False, "", ())


@pytest.mark.slow
@pytest.mark.parametrize("path", GENERATIONS, ids=lambda path: path.name.partition(".")[0])
def test_a_suite_of_each_generation_is_loaded_by_agentv_5(path):
    text, lines = rewritten(path.read_text(encoding="utf-8"), FIVE)
    assert (lines, [fault for suite in data_of(text) for fault in faults(suite)]) == ([], [])
    assert rewritten(text, FIVE) == (text, [])


AGENTV = "agentv@4.42.4"
NUNJUCKS = "nunjucks@3.2.4"


@pytest.mark.originals
def test_a_suite_of_each_generation_before_agentv_5_is_loaded_by_agentv_4(tmp_path):
    program = install_package(AGENTV) / "dist/cli.js"
    commands.run_git("init", "--quiet", tmp_path)
    wanted = {}
    for path in GENERATIONS[:-1]:
        text, lines = rewritten(path.read_text(encoding="utf-8"), FOUR)
        assert lines == []
        (tmp_path / path.name).write_text(text, encoding="utf-8")
        wanted[path.name] = [case["id"] for case in data_of(text)[0]["tests"]]

    def run(*arguments):
        command = ["node", program, *arguments]
        return commands.run_process(command, cwd=tmp_path, timeout=120)

    done = run("validate", *wanted)
    assert ("Invalid: 0" in done.stdout, "Unknown assertion" in done.stdout) == (True, False)
    for name, cases in wanted.items():
        done = run("pipeline", "input", name, "--out", f"out-{name}")
        assert (done.returncode, "Skipping" in done.stderr + done.stdout) == (0, False)
        assert sorted(folder.parent.name for folder in tmp_path.glob(f"out-{name}/*/*/input.json")) == sorted(cases)


@pytest.mark.originals
def test_an_escaped_text_renders_as_it_was(tmp_path):
    installed = install_package(NUNJUCKS)
    texts = ["Names {{ name }}", "{% if x %}", "{# no #} {{", "a }} b %} c #}", "{{ '{{' }}", "{{{{", "{%- raw -%}"]
    assert ask_nunjucks(installed, [escape(text) for text in texts], tmp_path) == texts


def ask_nunjucks(installed, texts, folder):
    """What each text becomes; None if it cannot be rendered."""
    program = (
        f"const nunjucks = require({json.dumps(str(installed))}), texts = JSON.parse(require('fs').readFileSync(0));"
        "const render = (text) => { try { return nunjucks.renderString(text, {}) } catch { return null } };"
        "console.log(JSON.stringify(texts.map(render)))"
    )
    command, given_texts = ["node", "-e", program], json.dumps(texts)
    done = subprocess.run(
        command, input=given_texts, cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


TAGS = (
    "{% if x %}", "{% endif %}", "{% else %}", "{% elif z %}", "{{ a }}", "{{ }}", "{{- a -}}", "{{", "}}", "{%", "%}",
    "{#", "#}", "{# c #}", "{% raw %}{{ {% endraw %}", "{% for a in b %}", "{% endfor %}", "{% set a = 1 %}", "Says. ",
    "{% set a %}", "{% endset %}", "{{ 'x}}' }}", "{%- if y -%}", "{% foo %}", '{{ "{%" }}', '"', "%", "\n",
)  # fmt: skip


@pytest.mark.originals
def test_a_text_that_nunjucks_cannot_render_is_found(tmp_path):
    draw = random.Random(17)  # noqa: S311 (the same texts every time)
    texts = ["".join(draw.choices(TAGS, k=draw.randint(1, 4))) for _ in range(3000)]
    # Expressions are not read: a brace or a percent sign right after an opened tag begins one.
    texts = [text for text in texts if not re.search(r"\{\{\s*[{%\"-]", text)]
    wrong = {
        text
        for text, made in zip(texts, ask_nunjucks(install_package(NUNJUCKS), texts, tmp_path), strict=True)
        if made is None
    }
    assert {text for text in texts if find_broken(text)} == wrong


OF_OTHERS = """\
tests:
  - id: login
    input: {user: a}
    expected_output: {status: 200}
    assertions: [{type: status, value: 200}, {type: KIND, value: a}]
"""


def test_a_test_of_another_tool_stays_as_it_is():
    def is_rewritten(name, kind):
        return rewrite(name, OF_OTHERS.replace("KIND", kind).encode(), FIVE).is_changed

    given = [("a.yaml", "schema"), ("a.yaml", "contains"), ("a.eval.yaml", "schema")]
    assert [is_rewritten(*each) for each in given] == [False, True, True]
    untyped = "tests: [{id: a, input: x, assertions: [{kind: y}]}]\n"
    assert not rewrite("a.yaml", untyped.encode(), FIVE).is_suite


LABELS = """\
requires: {agentv: ">=4.40.0"}
metadata: {a: 1}
governance: {a: 1}
tests:
  - id: a
    input: x
    execution: {threshold: 0.9, skip_defaults: true}
    assertions: [{type: rubrics, criteria: [{id: a, outcome: Says why}]}]
"""


def test_what_is_about_a_run_is_no_doubt():
    result = lint("a.eval.yaml", LABELS.encode())
    assert (result.findings, result.unread) == ((), ())


def test_the_tests_of_another_suite_are_included_by_agentv_5_alone():
    text = "tests: [{include: other.eval.yaml, type: suite}, {id: a, vars: {input: x}, criteria: y}]\n"
    found = {
        name: rewrite("a.eval.yaml", f'prompts: ["{{{{ input }}}}"]\n{text}'.encode(), name).unmet
        for name in (FOUR, FIVE)
    }
    assert [bool(found[FOUR]), found[FIVE]] == [True, ()]
