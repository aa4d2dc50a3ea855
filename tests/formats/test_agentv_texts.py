"""Texts by which AgentV judges freely: those with levels or bands are linted and converted, and stay as they are."""

import commands
import pytest

from rubric_lint.convert.release import rewrite
from rubric_lint.formats.search.locate import search
from rubric_lint.lint.engine import lint
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TEXT = """\
          How deep is the answer?
          Score 1: Names no cause
          Score 3: Names a cause
          Score 5: Names every cause
"""
CURRENT = f"""\
prompts: ["{{{{ input }}}}"]
tests:
  - id: one
    vars: {{input: Why is it so}}
    assert:
      - type: llm-rubric
        metric: depth
        weight: 2
        value: |
{TEXT}      - {{type: llm-rubric, value: Is polite}}
      - Names the pivot
"""
SET = f"""\
prompts: ["{{{{ input }}}}"]
default_test:
  assert:
    - type: agent-rubric
      value: |
{TEXT}tests:
  - id: one
    vars: {{input: Why is it so}}
    assert:
      - type: assert-set
        assert:
          - type: llm-rubric
            value: "How deep is it?\\nScore 0: Not at all\\nScore 1: Deep"
"""
GRADER = f"""\
tests:
  - id: one
    input: Why?
    criteria: Explains it
    assertions:
      - type: llm-grader
        prompt: |
{TEXT}      - {{type: llm-grader, prompt: Is it polite?}}
"""


def located(text, name="suite.eval.yaml"):
    documents = read_documents(Source(name, text))[0]
    return [
        (rubric.view.dialect.name, rubric.path)
        for document in documents
        for rubric in search(document).rubrics
        if rubric.view
    ]


@pytest.fixture
def run(folder):
    def converted(text, target):
        (folder / "suite.eval.yaml").write_text(text, "utf-8")
        done = commands.run("rubric-lint", "convert", "suite.eval.yaml", "--to", target)
        lines = [line.removeprefix("rubric-lint: suite.eval.yaml:") for line in done.stderr.splitlines()]
        return done.returncode, done.stdout, lines

    return converted


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (CURRENT, [("agentv-a7", ("tests", 0, "assert")), ("agentv-a7", ("tests", 0, "assert", 0, "value"))]),
        (
            SET,
            [
                ("agentv-a7", ("default_test", "assert", 0, "value")),
                ("agentv-a7", ("tests", 0, "assert", 0, "assert", 0, "value")),
            ],
        ),
        (GRADER, [("agentv-a4", ("tests", 0, "assertions", 0, "prompt"))]),
        (CURRENT.replace("Score ", "Item "), [("agentv-a7", ("tests", 0, "assert"))]),
        (  # with `score_ranges`, the assertion is one criterion
            CURRENT.replace("        weight: 2", "        score_ranges: {0: Bad}"),
            [("agentv-a7", ("tests", 0, "assert")), ("agentv-a7", ("tests", 0, "assert", 0))],
        ),
    ],
)
def test_texts_with_a_scale_are_rubrics_of_their_own(text, places):
    assert located(text) == places
    text = CURRENT.replace("  - id: one\n    vars", "  - vars").replace("Names the pivot", "{type: contains, value: x}")
    assert {name for name, _ in located(text, "promptfooconfig.yaml")} == {"promptfoo"}


def test_a_finding_is_at_the_text_and_other_texts_are_told(said):
    result = lint("suite.eval.yaml", CURRENT.replace("Names a cause", "TODO").encode())
    at = result.source.position
    assert [(finding.code, *at(finding.span.start)[:2]) for finding in result.findings] == [
        ("placeholder.unfinished", 9, 16),
        ("score-in-text.other-scale", 9, 16),
    ]
    assert [(each.line, each.column) for each in result.unread] == [(14, 35)]
    said([finding.message for finding in result.findings], [finding.reason for finding in result.unread])


TARGETS = ("agentv-5", "rubric", "promptfoo", "deepeval")


@pytest.mark.parametrize(
    ("text", "target"),
    [*((CURRENT, target) for target in TARGETS), (SET, "agentv-5")],
    ids=[*TARGETS, "texts alone"],
)
def test_a_text_stays_as_it_is_where_it_can_and_becomes_levels_or_is_told_elsewhere(run, text, target, said):
    said(run(text, target))


@pytest.mark.parametrize(("text", "target"), [(CURRENT, "agentv-5"), (SET, "agentv-5"), (GRADER, "agentv-4")])
def test_rewriting_leaves_a_text_byte_for_byte(text, target):
    fixed = rewrite("suite.eval.yaml", text.encode(), target)
    assert (fixed.applied, fixed.doubt, fixed.unmet) == ((), "", ())


def test_a_suite_with_a_text_is_rewritten_around_it():
    old = GRADER.replace("      - {type: llm-grader, prompt: Is it polite?}", "      - {type: contains, value: x}")
    old = old.replace("assertions:", "evaluators:")
    fixed = rewrite("suite.eval.yaml", old.encode(), "agentv-4")
    assert TEXT in fixed.result.source.text
