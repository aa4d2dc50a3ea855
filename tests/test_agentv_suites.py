"""`rubric-fix --to agentv-4` and `--to agentv-5` on whole suites: all of a suite is rewritten, or nothing."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from agentv_5 import faults
from hypothesis import given, settings
from hypothesis import strategies as st
from node import install_package
from styled_suites import yaml_suites

from rubric_lint.fix import Note
from rubric_lint.migrate.target import rewrite
from rubric_lint.text.nunjucks import escape, find_broken
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

ROOT = Path(__file__).parent.parent
GENERATIONS = sorted((ROOT / "tests/agentv").glob("*.eval.yaml"))
"""Suites of each generation of AgentV, from December 2025 to July 2026."""


def rewritten(text, target, name="a.eval.yaml"):
    """The text after the rewriting, and what keeps it from being done, with its line."""
    fixed = rewrite(name, text.encode(), target)
    position = fixed.result.source.position
    told = [(position(left.finding.span.start).line, left.reason) for left in fixed.unmet]
    assert fixed.doubt == ""
    return fixed.text, told


def data_of(text, name="a.yaml"):
    return [document.data for document in read_documents(Source(name, text))[0]]


# What stands below `tests:`, with what AgentV 5 has for it; `{opening}` is what comes above.
TO_FIVE = {
    "a message list with comments, and what is expected elsewhere": (
        """\
        target: default  # for all
        # The cases.
        tests:
          - id: one
            expected_output: |
              Yes.

                - indented
              # no comment
            # the question
            input:
            - role: user   # a person
              content: >-
                Why,
                then?
            rubrics: [Says why]
          - id: two
            input: "a: b"
            rubrics: [Says how]
            expected_output: {answer: 42}
        """,
        """\
        providers: [default]  # for all
        prompts: ["{{ input }}"]
        # The cases.
        tests:
          - id: one
            # the question
            vars:
              input:
              - role: user   # a person
                content: >-
                  Why,
                  then?
              expected_output: |
                Yes.

                  - indented
                # no comment
            assert:
            - type: llm-rubric
              value: [Says why]
          - id: two
            vars:
              input: "a: b"
              expected_output: {answer: 42}
            assert:
            - type: llm-rubric
              value: [Says how]
        """,
    ),
    "the settings of a run": (
        """\
        execution:
          # one at a time
          workers: 1
          target: default
          threshold: 0.9
        tests:
          - {id: one, input: x, assertions: [Says why]}
        """,
        """\
        # one at a time
        evaluate_options:
          max_concurrency: 1
        providers: [default]
        threshold: 0.9
        prompts: ["{{ input }}"]
        tests:
          - {id: one, vars: {input: x}, assert: [Says why]}
        """,
    ),
    "rubrics beside other graders": (
        """\
        tests:
          - id: one
            criteria: |
              Explains it.
            input: x
            rubrics:
              - Says why  # in words
            execution:
              evaluators:
                # A program.
                - name: syntax
                  type: code_judge
                  script: [python, check.py]
                - type: llm_judge
                  name: free
                  target: judge
          - id: two
            criteria: Answers
            input: y
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            description: |
              Explains it.
            vars:
              input: x
            assert:
            - type: llm-rubric
              value:
              - Says why  # in words
            # A program.
            - metric: syntax
              type: script
              command: [python, check.py]
            - value: "Explains it.\\n"
              type: llm-rubric
              metric: free
              provider: judge
          - id: two
            criteria: Answers
            vars:
              input: y
        """,
    ),
    "a suite that names AgentV 5 in part": (
        """\
        target: openai
        prompts: ["{{ input }}"]
        tests:
          - id: one
            expected_output: Hello!
            vars:
              input: Hi
            assert:
              - {type: llm-rubric, rubrics: [{id: a, outcome: Greets}]}
        """,
        """\
        providers: [openai]
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: Hi
              expected_output: Hello!
            assert:
              - {type: llm-rubric, value: [{id: a, outcome: Greets}]}
        """,
    ),
    "turns of a conversation": (
        """\
        tests:
          - id: one
            input: x
            criteria: It
            turns:
              - input: y
                assertions: [Says why]
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            criteria: It
            turns:
              - input: y
                assert: [Says why]
        """,
    ),
    "a set of assertions": (
        """\
        tests:
          - id: one
            input: x
            assertions:
              - name: all  # of it
                type: composite
                # no weights
                aggregator: {type: weighted_average}
                assertions:
                  - {name: a, type: contains, value: x}
                  - name: b
                    type: rubrics
                    criteria: [{id: a, outcome: Says why}]
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - metric: all  # of it
                type: assert-set
                # no weights
                assert:
                  - {metric: a, type: contains, value: x}
                  - metric: b
                    type: llm-rubric
                    value: [{id: a, outcome: Says why}]
        """,
    ),
    "texts that look like templates, and like escapes": (
        """\
        tests:
          - id: one
            input: 'a {{ b }}'
            assertions:
              - Says {{ "{{" }} and {% if
            expected_output: '{{ c }}'
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: 'a {{ "{{" }} b }}'
              expected_output: '{{ c }}'
            assert:
              - Says {{ "{{" }} "{{ "{{" }}" }} and {{ "{%" }} if
        """,
    ),
    "the threshold of a test, which stays in `execution`": (
        """\
        tests:
          - id: one
            input: x
            execution:
              threshold: 0.9
              evaluators:
              - {type: contains, value: x}
            rubrics:
            - Says why
          - id: two
            input: x
            assertions: [Says why]
            execution: {threshold: 0.5}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            execution:
              threshold: 0.9
            assert:
            - type: llm-rubric
              value:
              - Says why
            - {type: contains, value: x}
          - id: two
            vars:
              input: x
            assert: [Says why]
            execution: {threshold: 0.5}
        """,
    ),
    "gates of graders that are numbers": (
        """\
        tests:
          - id: one
            input: x
            assertions:
              - type: rubrics
                required: 0.7  # of it
                criteria: [Says why]
              - name: all
                type: composite
                required: 0.5
                aggregator: {type: weighted_average, weights: {a: 2.5}}
                assertions:
                  - {name: a, type: contains, value: x, required: 1.0}
              - {type: skill-trigger, skill: search, should_trigger: false}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - type: llm-rubric
                min_score: 0.7
                required: true  # of it
                value: [Says why]
              - metric: all
                type: assert-set
                min_score: 0.5
                required: true
                assert:
                  - {metric: a, weight: 2.5, type: contains, value: x, min_score: 1.0, required: true}
              - {type: not-skill-used, value: search}
        """,
    ),
    "variables of the environment": (
        """\
        description: ${{ ABOUT }}
        tests:
          - id: one
            input: Ask ${{ NAME }} {{ x }}
            metadata: {url: "${{ URL }}/a"}
            assertions:
              - Names ${{NAME}}
              - {type: code-grader, command: [python, "${{ DIR }}/a.py"]}
        """,
        """\
        description: "{{ env.ABOUT }}"
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: Ask {{ env.NAME }} {{ "{{" }} x }}
            metadata: {url: "{{ env.URL }}/a"}
            assert:
              - Names {{ env.NAME }}
              - {type: script, command: [python, "{{ env.DIR }}/a.py"]}
        """,
    ),
    "the prompt of a judge, and the judges of earlier releases": (
        """\
        experiment: trial
        tests:
          - id: one
            input: x
            vars: {y: z}
            assertions:
              - type: llm-grader
                prompt: Judge {{ output }}
                rubrics:
                  - {id: a, outcome: Says why}
              - {type: llm-grader, prompt: "Is {{ output }} polite?"}
              - type: agent_judge
                rubrics:
                  - {id: a, outcome: Says why}
              - {type: code, script: check.py}
        """,
        """\
        tags:
          experiment: trial
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars: {y: z, input: x}
            assert:
              - type: llm-rubric
                prompt: Judge {{ "{{" }} output }}
                value:
                  - {id: a, outcome: Says why}
              - {type: llm-rubric, prompt: "Is {{ \\"{{\\" }} output }} polite?"}
              - type: agent-rubric
                value:
                  - {id: a, outcome: Says why}
              - {type: script, command: check.py}
        """,
    ),
    "numbers as the texts of messages": (
        """\
        tests:
          - id: one
            input:
              - {role: user, content: 42}
              - role: user
                content: true
            expected_output: [{role: assistant, content: 1.50}, {content: 2}]
            assertions: [Says why]
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input:
                - {role: user, content: "42"}
                - role: user
                  content: "true"
              expected_output: [{role: assistant, content: "1.50"}, {content: 2}]
            assert: [Says why]
        """,
    ),
    "a suite without rubrics": (
        """\
        tests:
          - id: one
            input: x
            criteria: Answers
            expected_output: y
          - id: two
            input: x
            assertions:
              - {type: is_json}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
              expected_output: y
            criteria: Answers
          - id: two
            vars:
              input: x
            assert:
              - {type: is-json}
        """,
    ),
    "the input right after the dash": (
        """\
        tests:
        - input: |
            a
             b
          id: one
          rubrics:
          - {id: a, outcome: Says why}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
        - vars:
            input: |
              a
               b
          id: one
          assert:
          - type: llm-rubric
            value:
            - {id: a, outcome: Says why}
        """,
    ),
    "what the suite adds to each input": (
        """\
        input: [{role: system, content: Be kind}]  # always
        input_files: [a.md]
        execution: {trials: {count: 3}, workers: 2, budget_usd: 4}
        tests:
          - {id: one, input: "{{ x }}", assertions: [Says why]}
          - {id: two, input: y, input_files: [b.md], assertions: [Says why]}
          - id: three
            execution: {skip_defaults: true}
            input: |
              z
            assertions: [Says why]
        """,
        """\
        # always
        evaluate_options: {repeat: 3, max_concurrency: 2, budget_usd: 4}
        prompts: ["{{ input }}"]
        tests:
          - {id: one, vars: {input: [{"role": "system", "content": "Be kind"}, {"role": "user", "content": [{"type": "file", "value": "a.md"}, {"type": "text", "value": "{{ \\"{{\\" }} x }}"}]}]}, assert: [Says why]}
          - {id: two, vars: {input: [{"role": "system", "content": "Be kind"}, {"role": "user", "content": [{"type": "file", "value": "b.md"}, {"type": "text", "value": "y"}]}]}, assert: [Says why]}
          - id: three
            execution: {skip_defaults: true}
            vars:
              input: |
                z
            assert: [Says why]
        """,  # noqa: E501
    ),
    "a holistic scale": (
        """\
        tests:
          - id: one
            input: x
            rubrics:
              - {score_range: [0, 4], expected_outcome: Leaves out the period}
              - {score_range: [5, 10], expected_outcome: States the period}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
            - type: llm-rubric
              value:
              - id: overall
                score_ranges:
                - {score_range: [0, 4], outcome: Leaves out the period}
                - {score_range: [5, 10], outcome: States the period}
        """,
    ),
    "trajectories of tools": (
        """\
        tests:
          - id: one
            input: x
            assertions:
              - name: any
                type: tool-trajectory
                mode: any_order
                minimums: {search: 1, read: 2}  # both
              - {type: tool_trajectory, weight: 2, mode: exact, expected: [{tool: search}, {tool: read}]}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - metric: any
                type: assert-set
                assert: [{"type": "trajectory:tool-used", "value": {"name": "search", "min": 1}}, {"type": "trajectory:tool-used", "value": {"name": "read", "min": 2}}]
                # both
              - {type: trajectory:tool-sequence, weight: 2, value: {"mode": "exact", "steps": ["search", "read"]}}
        """,  # noqa: E501
    ),
    "a half-migrated suite, with a trajectory beside rubrics": (
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            input: x
            rubrics:
            - {id: a, outcome: Says why}
            assertions:
              - {name: z, type: tool-trajectory, mode: any_order, minimums: {search: 1}}
          - id: two
            vars: {input: y}
            assert: [Says how]
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
            - type: llm-rubric
              value:
              - {id: a, outcome: Says why}
            - {metric: z, type: assert-set, assert: [{"type": "trajectory:tool-used", "value": {"name": "search", "min": 1}}]}
          - id: two
            vars: {input: y}
            assert: [Says how]
        """,  # noqa: E501
    ),
    "rubrics beside strings that nothing marks as criteria": (
        """\
        tests:
          - id: one
            input: z
            rubrics:
            - {id: a, score_ranges: {0: Leaves out when, 5: Says when}}
            evaluators:
              - Says where
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: z
            assert:
            - type: llm-rubric
              value:
              - {id: a, score_ranges: {0: Leaves out when, 5: Says when}}
            - Says where
        """,
    ),
    "a set with a trajectory that has a weight": (
        """\
        tests:
          - id: one
            input: x
            assertions:
              - name: all
                type: composite
                aggregator: {type: weighted_average, weights: {a: 2}}
                assertions:
                  - {name: a, type: tool-trajectory, mode: any_order, minimums: {x: 1}}
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - metric: all
                type: assert-set
                assert:
                  - {metric: a, weight: 2, type: assert-set, assert: [{"type": "trajectory:tool-used", "value": {"name": "x", "min": 1}}]}
        """,  # noqa: E501
    ),
    "a judge for the tests of another file": (
        """\
        tests: cases.jsonl
        assertions:
          - {type: llm-grader, prompt: file://judge.md}
        """,
        """\
        tests: cases.jsonl
        assert:
          - {type: llm-rubric, prompt: file://judge.md}
        """,
    ),
    "graders of one name, and tests of one name": (
        """\
        tests:
          - id: one
            input: x
            assertions:
              - {name: a, type: rubrics, criteria: [{id: a, outcome: Says why}]}
              - {name: a, type: rubrics, criteria: [{id: b, outcome: Says how}]}
          - id: one
            input: y
            assertions: [Says when]
        """,
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - {metric: a, type: llm-rubric, value: [{id: a, outcome: Says why}]}
              - {metric: a, type: llm-rubric, value: [{id: b, outcome: Says how}]}
          - id: one
            vars:
              input: y
            assert: [Says when]
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), TO_FIVE.values(), ids=TO_FIVE)
def test_the_rest_of_a_suite_for_agentv_5(before, after):
    expected = dedent(after)
    assert rewritten(dedent(before), "agentv-5") == (expected, [])
    assert rewritten(expected, "agentv-5") == (expected, [])
    assert [fault for suite in data_of(expected) for fault in faults(suite)] == []


def test_json_lines_of_cases_keep_their_input_for_agentv_5():
    text = '{"id": "one", "input": "x", "criteria": "It", "assertions": ["Says why"]}\n'
    expected = text.replace("assertions", "assert")
    assert rewritten(text, "agentv-5", "cases.jsonl") == (expected, [])


def test_a_list_of_cases_keeps_its_input_for_agentv_5():
    text = "- id: one\n  input: x\n  rubrics:\n  - {id: a, outcome: Says why}\n"
    expected = "- id: one\n  input: x\n  assert:\n  - type: llm-rubric\n    value:\n    - {id: a, outcome: Says why}\n"
    assert rewritten(text, "agentv-5", "cases.yaml") == (expected, [])


def test_a_comment_beside_the_key_of_a_list_comes_along():
    text = f"{CASE}    evaluators:  # these\n      # first\n      - {{type: contains, value: x}}\n"
    moved = "      value: [{id: a, outcome: Says why}]\n    # these\n    # first\n    - {type: contains, value: x}\n"
    assert moved in rewritten(text, "agentv-5")[0]


def test_lists_of_a_suite_for_agentv_5_stay_there():
    text = LATE.replace("input: x", "input: [x, y], a: []")
    assert rewritten(text, "agentv-5") == (text, [])


def test_a_variable_in_an_input_is_filled_in_by_both_releases():
    text = LATE.replace("input: x", "input: 'Hi {{ a }}', a: y")
    assert "vars: {a: y}\n    assertions: [Says why]\n    input: 'Hi {{ a }}'" in rewritten(text, "agentv-4")[0]


@pytest.mark.parametrize(("share", "written"), [("1", "1"), ("0.5", "0.5")])
def test_a_gate_of_an_assertion_is_a_lowest_score(share, written):
    text = CASE.replace(RUBRIC, f"    assertions: [{{type: contains, value: x, required: {share}}}]\n")
    assert f"min_score: {written}, required: true" in rewritten(text, "agentv-5")[0]


ROW = '{"id": "a", "input": "x", "assert": [{"type": "llm-rubric", "value": [{"id": "a", "outcome": "It"}]}]}\n'


@pytest.mark.parametrize("first", ["", ROW], ids=["alone", "after a row with a rubric"])
def test_a_row_without_a_rubric_is_rewritten_like_the_others(first):
    old = '{"id": "b", "input": "x", "assertions": [{"type": "contains", "value": "x", "required": 0.5}]}\n'
    new = old.replace("assertions", "assert").replace('"required": 0.5', '"min_score": 0.5, "required": true')
    assert rewritten(first + old, "agentv-5", "rows.jsonl") == (first + new, [])
    assert rewritten(f"- {old}", "agentv-5", "rows.yaml") == (f"- {new}", [])


@pytest.mark.parametrize("head", ["", "tests:\n"], ids=["rows", "suite"])
def test_variables_do_not_hide_whose_a_test_is(head):
    text = f"{head}- {{id: b, input: x, vars: {{a: b}}, assertions: [{{type: tool-trajectory, mode: exact}}]}}\n"
    assert [line for line, _ in rewritten(text, "agentv-5", "a.yaml")[1]] == [1 + bool(head)]


def test_every_record_beside_a_row_of_agentv_is_looked_at():
    text = f'{ROW}{{"id": "b", "input": "x", "outcome": "y"}}\n'
    told = [(2, "`outcome` of a test: AgentV 5 refuses it; remove it or change it by hand")]
    assert rewritten(text, "agentv-5", "rows.jsonl") == (text, told)


@pytest.mark.parametrize(
    "rubric", ["", "  - {type: rubrics, criteria: [{id: a, outcome: It}]}\n"], ids=["bare", "rubric"]
)
def test_a_template_is_rewritten_whole(rubric):
    text = f"assertions:\n{rubric}  - {{type: code-grader, name: x, required: 0.5, command: [y]}}\n"
    rubric = rubric.replace("rubrics", "llm-rubric").replace("criteria", "value")
    new = f"assert:\n{rubric}  - {{type: script, metric: x, min_score: 0.5, required: true, command: [y]}}\n"
    assert rewritten(text, "agentv-5", ".agentv/templates/a.yaml") == (new, [])
    if rubric:
        assert rewritten(text, "agentv-5", "a.yaml") == (new, [])
    refused = (
        "assertions:\n  - {type: rubrics, criteria: [{id: a, outcome: It}]}\n  - {type: tool-trajectory, mode: exact}\n"
    )
    assert [line for line, _ in rewritten(refused, "agentv-5", "a.yaml")[1]] == [3]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_the_byte_order_mark_stay(end):
    before, after = (dedent(text).replace("\n", end).encode() for text in TO_FIVE["rubrics beside other graders"])
    mark = b"\xef\xbb\xbf"
    expected = after.replace(b'it.\\r\\n"', b'it.\\n"')
    assert rewrite("a.yaml", mark + before, "agentv-5").data == mark + expected


RUBRIC = "    rubrics: [{id: a, outcome: Says why}]\n"
LATE = 'prompts: ["{{ input }}"]\ntests:\n  - id: one\n    vars: {input: x}\n    assert: [Says why]\n'
CASE = f"tests:\n  - id: one\n    input: x\n{RUBRIC}"
OBSTACLES = {
    "a field without a migration": (
        f"workspace: a\n{CASE}",
        [(1, "`workspace` of a suite: AgentV 5 refuses it; `environment` has another form, so change it by hand")],
    ),
    "what anchors share": (
        f"base: &b {{id: a, outcome: It}}\n{CASE.replace('{id: a, outcome: Says why}', '*b')}",
        [(1, "`base` of a suite: AgentV 5 refuses it; remove it or change it by hand")],
    ),
    "the target of one test": (
        f"{CASE}    execution: {{target: other}}\n",
        [(5, "`execution.target` of a test: AgentV 5 refuses it; remove it or change it by hand")],
    ),
    "a target with settings": (
        f"target: {{extends: x}}\n{CASE}",
        [(1, "AgentV 5 reads `providers`, and only the name of a provider can be moved there")],
    ),
    "input beside prompts": (
        f"prompts: [y]\n{CASE}",
        [(4, "AgentV 5 refuses `input`, and the suite has `prompts` already; move it to `vars`")],
    ),
    "input for tests in another file": (
        f"input: y\n{CASE}  - file://more.yaml\n",
        [
            (1, "`input` of a suite goes into the input of each test, and some are in other files"),
            (6, "AgentV 5 would put `prompts` before these cases too; move them into a suite"),
        ],
    ),
    "files beside messages, which AgentV 4 skips": (
        f"input_files: [a.md]\n{CASE.replace('input: x', 'input: [{role: user, content: x}]')}",
        [
            (
                4,
                ("only an `input` that is one string takes files, and only messages go after the `input` of the suite"),
            )
        ],
    ),
    "tests under two names": (
        f"evalcases: []\n{CASE}",
        [(1, "AgentV reads only `tests` here; join it with `evalcases`")],
    ),
    "a suite that is not YAML": ("tests:\n\t- id: one\n", [(2, "a tab cannot indent YAML; use spaces")]),
    "options that are there already": (
        f"execution: {{workers: 2}}\nevaluate_options: {{max_concurrency: 3}}\n{CASE}",
        [(1, "write it as `max_concurrency` in `evaluate_options`, which is there")],
    ),
    "two descriptions": (
        f"{CASE}    criteria: It\n    description: It\n",
        [(5, "AgentV 5 refuses `criteria` beside `assert`, and `description` is there already")],
    ),
    "cases in other files": (
        f"{CASE}  - file://more.yaml\n",
        [(5, "AgentV 5 would put `prompts` before these cases too; move them into a suite")],
    ),
    "a template with variables": (
        CASE.replace("input: x", "input: '{{ x }}'\n    vars: {x: y}"),
        [
            (
                3,
                (
                    "AgentV 5 fills in `{{`, `{%` and `{#` here, and earlier releases only the names in `vars`; "
                    "write it by hand"
                ),
            )
        ],
    ),
    "a set of another kind": (
        f"{CASE}    assertions: [{{type: composite, assertions: []}}]\n",
        [
            (
                5,
                (
                    "AgentV 5 has `assert-set` for `composite`, only with the aggregator `weighted_average`; change it "
                    "by hand"
                ),
            ),
        ],
    ),
    "graders without a migration": (
        f"{CASE}    assertions:\n      - {{type: tool_trajectory}}\n",
        [
            (
                6,
                (
                    "`type: tool_trajectory`: AgentV 5 refuses this grader; its `trajectory:tool-used` and "
                    "`trajectory:tool-sequence` have no arguments, no times and no mode `subset` or `superset`"
                ),
            ),
        ],
    ),
    "several skills": (
        f"{CASE}    assertions:\n      - {{type: skill-trigger, skill: [x]}}\n",
        [(6, "AgentV 5 has `skill-used` with `value` for `skill-trigger`; write the name of one `skill`")],
    ),
    "rubrics that are not a list": (
        f"{CASE}  - {{id: two, input: y, rubrics: shared/it.yaml}}\n",
        [(5, "`rubrics` is not a list of criteria")],
    ),
    "two lists": (
        f"{CASE}    assertions: [{{type: contains, value: x}}]\n    evaluators: [{{type: equals, value: x}}]\n",
        [(6, "AgentV reads only `assertions` here; join it with `evaluators`")],
    ),
    "what only AgentV 4 does with an assertion": (
        f"{CASE}    assertions:\n      - {{type: llm-grader, prompt: p, preprocessors: []}}\n",
        [
            (
                6,
                (
                    "`preprocessors` of `llm-rubric`: AgentV 5 refuses the whole suite for it; `transform` has another "
                    "form, so change it by hand"
                ),
            )
        ],
    ),
    "what AgentV 4 ignores and AgentV 5 does not": (
        "tests:\n  - id: one\n    input: x\n    assertions: [{type: rubrics, prompt: p, criteria: [Says why]}]\n",
        [(4, "AgentV 4 ignores `prompt` of `rubrics`, and AgentV 5 would read it; remove it")],
    ),
    "inputs that would be several tests, or none": (
        f"{CASE.replace('input: x', 'input: [x, y]')}    expected_output: []\n",
        [
            (3, "in `vars`, AgentV 5 makes a test of each string in the list; write one string"),
            (5, "in `vars`, AgentV 5 makes no test if the list is empty; write one string"),
        ],
    ),
    "what AgentV 5 passes without a look": (
        (
            "tests:\n  - id: one\n    input: x\n    criteria: It\n    assertions: []\n"
            "  - id: two\n    input: x\n    assertions: [Says why]\n"
        ),
        [
            (
                5,
                ("`assert` of a test: AgentV 5 passes a test with an empty list, whatever the answer is; remove it"),
            )
        ],
    ),
    "a threshold that AgentV 5 does not read": (
        f"{LATE}    threshold: 0.9\n",
        [(6, "`threshold` of a test: AgentV 5 accepts it and never reads it; write it in `execution`")],
    ),
    "a grader that AgentV 5 skips": (
        LATE.replace("[Says why]", "[Says why, {type: llm-rubric}, {type: assert-set}]"),
        [
            (5, "`llm-rubric`: AgentV 5 skips it without `value`; write one"),
            (5, "`assert-set`: AgentV 5 skips it without `assert`; write one"),
        ],
    ),
    "a list and a program that are none": (
        f"{CASE}    assertions: [{{type: code-grader}}]\n    evaluators: none\n",
        [
            (5, "AgentV 5 has `script` with `command` for `code-grader`; write one"),
            (6, "`evaluators` is not a list of assertions"),
        ],
    ),
    "a list of a suite that no release reads": (
        f"evaluators: [{{type: contains, value: x}}]\n{CASE}",
        [(1, "AgentV reads no `evaluators` here; remove it, or write `assertions` or `assert`")],
    ),
    "a place in a prompt that AgentV 5 leaves empty": (
        f"{CASE}    assertions: [{{type: llm-grader, prompt: '{{{{ output }}}} {{{{ expected_output }}}}'}}]\n",
        [
            (
                5,
                (
                    "AgentV 5 puts nothing in place of `{{ expected_output }}` in the prompt of its judge; write what "
                    "it should read"
                ),
            )
        ],
    ),
    "a place in a prompt of a suite that AgentV 5 leaves empty": (
        f"assertions: [{{type: llm-grader, prompt: 'By {{{{criteria}}}}'}}]\n{CASE}",
        [
            (
                1,
                (
                    "AgentV 5 puts nothing in place of `{{criteria}}` in the prompt of its judge; write what it "
                    "should read"
                ),
            )
        ],
    ),
    "variables by which AgentV 5 makes several tests, or none": (
        f"{CASE}    vars: {{a: [x, y], b: [], c: [{{d: e}}]}}\n",
        [
            (5, "AgentV 5 makes a test of each string in the list, and AgentV 4 one test; write one string"),
            (5, "AgentV 5 makes no test, as the list is empty, and AgentV 4 one test; write one string"),
        ],
    ),
    "a name that AgentV refuses": (
        f"name: Refunds Suite\n{CASE}",
        [
            (
                1,
                (
                    '`name` of a suite: AgentV 5 does not read the string "Refunds Suite"; expected lower-case '
                    "letters, digits and hyphens, at most 64"
                ),
            )
        ],
    ),
    "an input that AgentV skips": (
        CASE.replace("input: x", "input: 42"),
        [(3, "AgentV skips a test with 42 as its input; write a string, or messages")],
    ),
    "two documents": (
        f"{CASE}---\n{CASE.replace('one', 'two')}",
        [(6, "AgentV 5 loads no file with several documents; write each to a file of its own")],
    ),
    "a judge of bands by an agent": (
        (
            "tests:\n  - id: one\n    input: x\n    evaluators:\n"
            "      - {type: agent_judge, rubrics: [{id: a, outcome: It, score_ranges: {0: No, 5: Yes}}]}\n"
        ),
        [
            (
                5,
                (
                    "`value` of `agent-rubric`: the judge of an `agent-rubric` sees no bands, and no gate holds on "
                    "them; write `llm-rubric`"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize(("text", "told"), OBSTACLES.values(), ids=OBSTACLES)
def test_what_has_no_migration_is_told_with_its_place_and_nothing_is_written(text, told):
    assert rewritten(text, "agentv-5") == (text, told)


def test_what_is_found_in_the_middle_of_the_steps_has_its_place_in_the_text():
    text = f"target: a\n{CASE}    expected_output:\n\t# a tab\n      - y\n"
    fixed = rewrite("a.yaml", text.encode(), "agentv-5")
    assert (fixed.text, fixed.is_changed) == (text, False)
    assert fixed.doubt or [left.finding.span.start for left in fixed.unmet] == [text.index("- y")]


def test_a_list_that_cannot_move_with_the_others_keeps_the_suite_as_it_is():
    entries = ["{id: a, outcome: Says why}", "{id: b, outcome: Says how, stranger: true, weight: 1}"]
    graders = "".join(f"      - {{type: llm-rubric, rubrics: [{entry}]}}\n" for entry in entries)
    text = (
        f'target: a\nprompts: ["{{{{ input }}}}"]\ntests:\n  - id: one\n    vars: {{input: x}}\n    assert:\n{graders}'
    )
    fixed = rewrite("a.eval.yaml", text.encode(), "agentv-5")
    assert (fixed.is_changed, bool(fixed.unmet or fixed.doubt)) == (False, True)


ALONE = "tests:\n  - {id: one, input: x, criteria: It}\n  - {id: two, input: x, assertions: [Says why]}\n"


def test_a_criterion_of_its_own_is_read_otherwise_by_the_other_release():
    (five,) = rewrite("a.eval.yaml", ALONE.encode(), "agentv-5").notes
    assert five.message == (
        "1 test has `criteria` alone: AgentV 4 gives a score from 0 to 1 for it, AgentV 5 asks whether it is met"
    )
    assert rewrite("a.eval.yaml", ALONE.encode(), "agentv-4").notes == ()
    late = LATE + "  - {id: two, vars: {input: x}, criteria: It}\n"
    assert [note.message[:29] for note in rewrite("a.eval.yaml", late.encode(), "agentv-4").notes] == [
        five.message[:29]
    ]


def test_the_path_of_a_prompt_is_told_as_each_release_takes_it_for_the_prompt():
    text = "tests:\n  - id: one\n    input: x\n    assertions:\n      - {type: llm-grader, prompt: prompts/a.md}\n"
    rewritings = [rewrite("a.eval.yaml", text.encode(), target) for target in ("agentv-4", "agentv-5")]
    reason = "AgentV takes this text as the prompt itself; if it is a file, write `file://` before its path"
    at = text.index("prompt:")
    assert [(each.is_changed, each.unmet, each.notes) for each in rewritings] == [
        (False, (), (Note(f"`prompt` of `llm-grader`: {reason}", at),)),
        (True, (), (Note(f"`prompt` of `llm-rubric`: {reason}", at),)),
    ]


def test_a_test_that_only_one_release_runs_is_told():
    text = f"{CASE}  - id: two\n    input: x\n    expected_output: y\n"
    assert rewritten(text, "agentv-5")[1] == [(9, "AgentV 5 skips a test without `criteria` and `assert`")]
    late = f"assert: [Says how]\n{LATE}  - id: two\n    vars: {{input: x}}\n"
    assert rewritten(late, "agentv-5")[1] == []
    reason = "AgentV 4 skips a test without `criteria` and `assertions` of its own"
    assert rewritten(late, "agentv-4")[1] == [(6, reason)]


def test_a_grader_of_no_release_stays_and_is_told():
    text = "evalcases:\n  - id: one\n    input: x\n    assertions: [Says why]\n"
    text += "  - id: two\n    input: x\n    assertions:\n      - {type: spelling, name: s}\n"
    told = "no release of AgentV has `type: spelling`; it scores 0 unless `.agentv/assertions/` defines it"
    assert placed(text, "agentv-4") == [(8, 16, told)]
    assert placed(text, "agentv-5") == [(8, 16, told)]


def placed(text, target, name="a.eval.yaml"):
    """The notes of a rewriting and the reason for its doubt, each with its line and column."""
    fixed = rewrite(name, text.encode(), target)
    told = [*fixed.notes, (fixed.doubt, fixed.doubt_at)] if fixed.doubt else fixed.notes
    return [(*fixed.before.position(at)[:2], message) for message, at in told if at is not None]


OUTSIDE = """\
tests: cases.jsonl
assertions:
  - include: common
  - {type: rubrics, criteria: [{id: a, outcome: Says why}]}
"""


def test_what_is_in_other_files_is_told_with_its_place():
    files = [
        (1, 8, "the cases in `cases.jsonl` are not rewritten; run this on that file too"),
        (3, 14, "the assertions of the template `common` are not rewritten; run this on its file too"),
    ]
    assert placed(OUTSIDE, "agentv-5") == files
    assert (
        placed(
            OUTSIDE.replace("- {type: rubrics, c", "- {type: llm_judge, c").replace("criteria", "rubrics"), "agentv-4"
        )
        == files
    )
    listed = CASE.replace("outcome", "expected_outcome") + "  - file://more.yaml\n"
    assert placed(listed, "agentv-4") == [
        (5, 5, "the cases in `file://more.yaml` are not rewritten; run this on that file too")
    ]


def test_a_doubt_has_the_place_of_its_cause():
    text = f"tests:\n  - id: one\n    input: |+\n      a\n\n{RUBRIC}    expected_output: |+\n      b\n\n\n"
    message = "the value at `/tests/0/vars/expected_output` would not be as intended"
    assert placed(text, "agentv-5") == [(7, 22, message)]


def test_empty_options_of_a_run_are_left_alone():
    text = f"evaluate_options:\n{LATE}"
    assert rewritten(text, "agentv-5") == (text, [])


@pytest.mark.parametrize("name", ["", "42", '""'])
def test_a_test_without_a_usable_id_is_told(name):
    text = f"{CASE}  - id: {name}\n    input: y\n{RUBRIC}"
    assert [reason for _, reason in rewritten(text, "agentv-4")[1]] == ["AgentV 4 skips a test without `id`"]
    assert [reason for _, reason in rewritten(text, "agentv-5")[1]] == ["AgentV 5 skips a test without `id`"]


def test_tests_that_no_release_runs_are_told():
    text = f"tests:\n  - id: one\n{RUBRIC}  - input: x\n{RUBRIC}"
    assert rewritten(text, "agentv-5")[1] == [
        (3, "the test has no `input`, which AgentV 5 needs in `vars`"),
        (7, "AgentV 5 skips a test without `id`"),
    ]
    assert [line for line, _ in rewritten(text, "agentv-4")[1]] == [2, 6]


TO_FOUR = {
    "variables, providers and settings": (
        """\
        prompts: ["{{ input }}"]  # the input
        providers: [default]
        threshold: 0.9
        tests:
          - id: one
            vars:
              input: x  # why
              # what is right
              expected_output: y
            assert:
              - Says why
              - {type: script, command: [a], metric: m}
          - id: two
            vars:
              other: z
              input:
                - {role: user, content: y}
            assert:
              - {type: llm-rubric, provider: p, value: [{id: a, outcome: Says how}]}
        """,
        """\
        # the input
        target: default
        execution:
          threshold: 0.9
        tests:
          - id: one
            input: x  # why
            # what is right
            expected_output: y
            assertions:
              - Says why
              - {type: code-grader, command: [a], name: m}
          - id: two
            vars:
              other: z
            assertions:
              - {type: rubrics, target: p, criteria: [{id: a, outcome: Says how}]}
            input:
              - {role: user, content: y}
        """,
    ),
    "a set of assertions": (
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - metric: all  # of it
                type: assert-set
                assert:
                  - {metric: a, type: contains, value: x}
                  - metric: b
                    type: llm-rubric
                    value: [{id: a, outcome: Says why}]
        """,
        """\
        tests:
          - id: one
            input: x
            assertions:
              - name: all  # of it
                aggregator: {"type": "weighted_average"}
                type: composite
                assertions:
                  - {name: a, type: contains, value: x}
                  - name: b
                    type: rubrics
                    criteria: [{id: a, outcome: Says why}]
        """,
    ),
    "skills": (
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars:
              input: x
            assert:
              - {type: skill-used, value: search}
              - {type: not-skill-used, value: search, weight: 2}
        """,
        """\
        tests:
          - id: one
            input: x
            assertions:
              - {type: skill-trigger, skill: search}
              - {should_trigger: false, type: skill-trigger, skill: search, weight: 2}
        """,
    ),
    "a judge with a prompt and settings": (
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars: {input: "${{ A }}"}
            assert:
              - {type: llm-rubric, prompt: Be strict, max_steps: 3, value: [{id: a, outcome: "Names {{ env.B }}"}]}
              - {type: agent_judge, rubrics: [{id: a, outcome: Says why}]}
              - {type: code, script: check.py}
        """,
        """\
        tests:
          - id: one
            input: "${{ A }}"
            assertions:
              - {type: llm-grader, prompt: Be strict, max_steps: 3, rubrics: [{id: a, outcome: "Names ${{ B }}"}]}
              - {type: llm-grader, rubrics: [{id: a, outcome: Says why}]}
              - {type: code-grader, command: check.py}
        """,
    ),
    "json": (
        (
            '{"prompts": ["{{input}}"], "evaluate_options": {"max_concurrency": 2}, "tests": [{"id": "one", '
            '"vars": {"input": "x"}, "assert": ["Says why"]}]}\n'
        ),
        '{"execution": {"workers": 2}, "tests": [{"id": "one", "input": "x", "assertions": ["Says why"]}]}\n',
    ),
    "options of a run": (
        """\
        prompts: ["{{ input }}"]
        threshold: 0.5
        evaluate_options: {repeat: 3, max_concurrency: 2, budget_usd: 4}
        tests:
          - {id: one, vars: {input: x}, assert: [Says why]}
        """,
        """\
        execution: {trials: {count: 3}, workers: 2, budget_usd: 4, threshold: 0.5}
        tests:
          - {id: one, input: x, assertions: [Says why]}
        """,
    ),
    "a holistic scale in JSON": (
        (
            '{"prompts": ["{{input}}"], "tests": [{"id": "one", "vars": {"input": "x"}, "rubrics": [{"score_range": '
            '[0, 4], "expected_outcome": "No"}, {"score_range": [5, 10], "expected_outcome": "It"}]}]}\n'
        ),
        (
            '{"tests": [{"id": "one", "input": "x", "assertions": [{"type": "rubrics", "criteria": [{"id": "overall", '
            '"score_ranges": [{"score_range": [0, 4], "outcome": "No"}, {"score_range": [5, 10], "outcome": "It"}]}]}'
            "]}]}\n"
        ),
    ),
}


@pytest.mark.parametrize(("before", "after"), TO_FOUR.values(), ids=TO_FOUR)
def test_the_rest_of_a_suite_for_agentv_4(before, after):
    name = "a.json" if before.startswith("{") else "a.yaml"
    expected = dedent(after)
    assert rewritten(dedent(before), "agentv-4", name) == (expected, [])
    assert rewritten(expected, "agentv-4", name) == (expected, [])


OBSTACLES_OF_FOUR = {
    "other prompts": (
        LATE.replace("{{ input }}", "Say {{ input }}"),
        [(1, "AgentV 4 has no `prompts`; each test has its own `input`, so only the prompt `{{ input }}` can go")],
    ),
    "defaults": (
        f"default_test: {{threshold: 1}}\n{LATE}",
        [(1, "`default_test` of a suite: AgentV 4 does not read it")],
    ),
    "a template": (
        LATE.replace("Says why", "'Says {{ x }}'").replace("input: x", "input: x, x: y"),
        [(5, "AgentV 5 fills in this template, and AgentV 4 does not; write the text")],
    ),
    "what only AgentV 5 does with an answer": (
        LATE.replace("[Says why]", "[{type: llm-rubric, transform: t, value: [{id: a, outcome: It}]}]"),
        [(5, "`transform` of `rubrics`: AgentV 4 does not read it")],
    ),
    "settings of one test": (
        f"{LATE}    run: {{threshold: 0.9}}\n",
        [(6, "`run` of a test: AgentV 4 does not read it")],
    ),
    "a list of a suite that no release reads": (
        f"evaluators: [{{type: contains, value: x}}]\n{CASE}",
        [(1, "AgentV reads no `evaluators` here; remove it, or write `assertions` or `assert`")],
    ),
    "variables by which AgentV 5 makes several tests, or none": (
        LATE.replace("input: x", "input: [], a: [x, y]"),
        [
            (4, "AgentV 5 makes no test, as the list is empty, and AgentV 4 one test; write one string"),
            (4, "AgentV 5 makes a test of each string in the list, and AgentV 4 one test; write one string"),
        ],
    ),
    "a name that AgentV refuses": (
        f"name: a_b\n{CASE}",
        [
            (
                1,
                (
                    '`name` of a suite: AgentV 4 does not read the string "a_b"; expected lower-case letters, digits '
                    "and hyphens, at most 64"
                ),
            )
        ],
    ),
    "an input that AgentV skips": (
        CASE.replace("input: x", "input: 42"),
        [(3, "`input` of a test: AgentV 4 does not read 42; expected a string, or a list of messages")],
    ),
    "two documents": (
        f"{CASE}---\n{CASE.replace('one', 'two')}",
        [(6, "AgentV 4 loads no file with several documents; write each to a file of its own")],
    ),
    "a name in an input that AgentV 4 cannot fill in": (
        LATE.replace("input: x", "input: '{{ a }} {{ b }}', a: y"),
        [(4, "AgentV 5 fills in this template, and AgentV 4 does not; write the text")],
    ),
    "scenarios alone": (
        LATE.replace("tests:\n", "scenarios:\n- tests:\n"),
        [(2, "`scenarios` of a suite: AgentV 4 does not read it")],
    ),
    "a threshold that no release reads": (
        f"{LATE}    threshold: 0.9\n",
        [(6, "`threshold` of a test: AgentV 4 ignores it; write it in `execution`")],
    ),
    "a grader of a later release": (
        LATE.replace("[Says why]", "[Says why, {type: select-best}]"),
        [(5, "`type: select-best`: AgentV 4 does not know this grader and scores it 0")],
    ),
    "a free rubric": (
        LATE.replace("[Says why]", "[Says why, {type: llm-rubric, value: Is polite}]"),
        [(5, "`type: llm-rubric`: AgentV 4 does not know this grader and scores it 0")],
    ),
    "a set with a threshold, a string and a weight": (
        LATE.replace(
            "[Says why]",
            "[Says why, {type: assert-set, threshold: 1, assert: [It, {metric: a, type: is-json, weight: 2}]}]",
        ),
        [
            (5, "AgentV 4 has `composite` for `assert-set`, without `threshold`"),
            (5, "AgentV 4 skips what has no `name` in a `composite`; give it a `metric`"),
            (5, "AgentV 4 does not count the `weight` of a member"),
        ],
    ),
    "a mapping": (
        LATE.replace("Says why", "{type: llm-rubric, value: {id: a, outcome: Says why}}"),
        [(5, "AgentV 4 has no criterion outside a list; write a list of one")],
    ),
}


@pytest.mark.parametrize(("text", "told"), OBSTACLES_OF_FOUR.values(), ids=OBSTACLES_OF_FOUR)
def test_what_agentv_4_cannot_have_is_told_and_nothing_is_written(text, told):
    assert rewritten(text, "agentv-4") == (text, told)


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
    fixed = rewrite(name, data, "agentv-5")
    assert (fixed.is_changed, fixed.doubt, fixed.unmet) == (True, "", ())
    before, after = data_of(fixed.before.text, name), data_of(fixed.text, name)
    assert [fault for document in after for fault in faults(document)] == []
    for old, new in zip(before, after, strict=True):
        for case, now in zip(old["tests"], new["tests"], strict=True):
            moved = {key: case[key] for key in ("input", "expected_output") if key in case}
            assert (now["vars"], now["description"]) == (moved, case["expected_outcome"])
    assert [note for note in comments if note not in fixed.text] == []
    again = rewrite(name, fixed.data, "agentv-5")
    assert (again.is_changed, again.doubt, again.unmet) == (False, "", ())


@pytest.mark.parametrize("path", GENERATIONS, ids=lambda path: path.name.partition(".")[0])
def test_a_suite_of_each_generation_is_loaded_by_agentv_5(path):
    text, told = rewritten(path.read_text(encoding="utf-8"), "agentv-5")
    assert (told, [fault for suite in data_of(text) for fault in faults(suite)]) == ([], [])
    assert rewritten(text, "agentv-5") == (text, [])


AGENTV = "agentv@4.42.4"
NUNJUCKS = "nunjucks@3.2.4"


def require_node():
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("AgentV runs on Node.js, and node or npm is missing")


@pytest.mark.slow
def test_a_suite_of_each_generation_is_loaded_by_agentv_4(tmp_path):
    require_node()
    program = install_package(AGENTV) / "dist/cli.js"
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    wanted = {}
    for path in GENERATIONS:
        text, told = rewritten(path.read_text(encoding="utf-8"), "agentv-4")
        assert told == []
        (tmp_path / path.name).write_text(text, encoding="utf-8")
        wanted[path.name] = [case["id"] for case in data_of(text)[0]["tests"]]

    def run(*arguments):
        command = ["node", program, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    done = run("validate", *wanted)
    assert ("Invalid: 0" in done.stdout, "Unknown assertion" in done.stdout) == (True, False)
    for name, cases in wanted.items():
        done = run("pipeline", "input", name, "--out", f"out-{name}")
        assert (done.returncode, "Skipping" in done.stderr + done.stdout) == (0, False)
        assert sorted(folder.parent.name for folder in tmp_path.glob(f"out-{name}/*/*/input.json")) == sorted(cases)


@pytest.mark.slow
def test_an_escaped_text_renders_as_it_was(tmp_path):
    require_node()
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


@pytest.mark.slow
def test_a_text_that_nunjucks_cannot_render_is_found(tmp_path):
    require_node()
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
