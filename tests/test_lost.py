"""The law of conversions: what a file says is in what is written, or is reported as lost, with its place."""

import json
import re
from pathlib import Path
from textwrap import dedent

import dialect_samples
import pytest
from click.testing import CliRunner
from exports import text_of

from rubric_lint.cli.lint.convert import convert
from rubric_lint.dialects.export import TARGETS

ROOT = Path(__file__).parent.parent

# Every field of a source on a line of its own, with a value that occurs nowhere else.
SAMPLES = {
    "checklist": (
        "r.rubric.yaml",
        """\
        rubrics:
          - id: mark-id
            expected_outcome: mark-outcome
            weight: 0.37
            required_min_score: 10
        """,
    ),
    "score_ranges": (
        "r.rubric.yaml",
        """\
        rubrics:
          - id: mark-id
            expected_outcome: mark-judged
            weight: 0.37
            required_min_score: 9
            score_ranges:
              - score_range: [0, 8]
                expected_outcome: mark-low
              - score_range: [9, 10]
                expected_outcome: mark-high
        """,
    ),
    "holistic": (
        "r.rubric.yaml",
        """\
        rubrics:
          - score_range: [0, 8]
            expected_outcome: mark-low
          - score_range: [9, 10]
            expected_outcome: mark-high
        """,
    ),
    "levels": (
        "r.rubric.yaml",
        """\
        rubrics:
          - id: mark-id
            expected_outcome: mark-judged
            weight: 0.37
            required_min_level: 22
            levels:
              - level: 11
                name: mark-worst
                expected_outcome: mark-low
              - level: 22
                name: mark-best
                expected_outcome: mark-high
        """,
    ),
    "version 1": (
        "suite.yaml",
        """\
        tests:
          - id: one
            rubrics:
              - id: mark-id
                description: mark-outcome
                weight: 0.37
                required: true
        """,
    ),
    "evaluator": (
        "suite.yaml",
        """\
        tests:
          - id: one
            evaluators:
              - name: mark-name
                type: llm_judge
                weight: 0.73
                mark_other: mark-value
                rubrics: [{id: a, expected_outcome: Says why, required_min_score: 10}]
        """,
    ),
    "agentv-a3": (
        "suite.yaml",
        """\
        tests:
          - id: one
            input: x
            rubrics:
              - id: mark-id
                outcome: mark-judged
                weight: 0.37
                required_min_score: 9
                score_ranges:
                  - score_range: [0, 8]
                    outcome: mark-low
                  - score_range: [9, 10]
                    outcome: mark-high
        """,
    ),
    "agentv-a6": (
        "suite.yaml",
        """\
        tests:
          - id: one
            input: x
            assertions:
              - type: rubrics
                name: mark-name
                weight: 0.73
                min_score: 0.61
                required: true
                target: mark-target
                prompt: mark-prompt
                mark_other: mark-value
                criteria:
                  - id: mark-id
                    outcome: mark-outcome
                    operator: contradiction
                    weight: 0.37
                    required: true
        """,
    ),
    "agentv-a6, bands": (
        "suite.yaml",
        """\
        tests:
          - id: one
            input: x
            assertions:
              - type: rubrics
                criteria:
                  - id: mark-id
                    criteria: mark-judged
                    min_score: 0.9
                    score_ranges:
                      - score_range: [0, 8]
                        outcome: mark-low
                      - score_range: [9, 10]
                        outcome: mark-high
        """,
    ),
    "agentv-a7": (
        "suite.yaml",
        """\
        prompts: ["{{ input }}"]
        tests:
          - id: one
            vars: {input: x}
            assert:
              - type: llm-rubric
                metric: mark-name
                provider: mark-provider
                weight: 0.73
                value:
                  - id: mark-id
                    outcome: mark-outcome
                    operator: contradiction
                    weight: 0.37
                    required: true
        """,
    ),
    "promptfoo": (
        "promptfooconfig.yaml",
        """\
        tests:
          - vars: {q: x}
            assert:
              - type: llm-rubric
                metric: mark-name
                weight: 0.73
                threshold: 0.91
                provider: mark-provider
                rubricPrompt: mark-prompt
                transform: mark-transform
                value:
                  - score_range: [0, 8]
                    expected_outcome: mark-low
                  - score_range: [9, 10]
                    expected_outcome: mark-high
        """,
    ),
    "lightspeed": (
        "system.yaml",
        """\
        metrics_metadata:
          turn_level:
            "geval:mark-name":
              criteria: mark-task
              evaluation_steps: [mark-step]
              evaluation_params: [mark-param]
              threshold: 0.91
              mark_other: mark-value
              rubrics:
                - score_range: [0, 8]
                  expected_outcome: mark-low
                - score_range: [9, 10]
                  expected_outcome: mark-high
        """,
    ),
    "confident-ai": (
        "metric.json",
        """\
        {
          "name": "mark-name",
          "criteria": "mark-task",
          "evaluationSteps": ["mark-step"],
          "evaluationParams": ["mark-param"],
          "multiTurn": true,
          "strictMode": true,
          "threshold": 0.91,
          "mark_other": "mark-value",
          "rubric": [
            {"scoreRange": [0, 8],
              "expectedOutcome": "mark-low"},
            {"scoreRange": [9, 10],
              "expectedOutcome": "mark-high"}
          ]
        }
        """,
    ),
    "deepeval": (
        "metrics.py",
        """\
        metric = GEval(
            name="mark-name",
            criteria="mark-task",
            evaluation_steps=["mark-step"],
            evaluation_params=["mark-param"],
            threshold=0.91,
            model="mark-model",
            rubric=[
                Rubric(score_range=(0, 8),
                    expected_outcome="mark-low"),
                Rubric(score_range=(9, 10),
                    expected_outcome="mark-high"),
            ],
        )
        """,
    ),
    "harbor": (
        "judge.toml",
        """\
        [judge]
        judge = "mark-judge"
        model = "mark-model"
        version = "mark-version"
        files = ["mark-files"]
        mode = "individual"
        timeout = 37
        reasoning_effort = "mark-effort"
        isolated = true
        cwd = "mark-cwd"
        reference = "mark-reference"
        atif_trajectory = "mark-trajectory"
        weight = 0.73
        prompt_template = "mark-template"
        guard = "flag"

        [[criterion]]
        name = "mark-id"
        description = "mark-outcome"
        id = "mark-identifier"
        weight = 0.37
        files = ["mark-file"]
        optional = true
        """,
    ),
    "harbor-check": (
        "check.toml",
        """\
        [[criteria]]
        name = "mark-id"
        description = "mark-outcome"
        guidance = "mark-guidance"
        """,
    ),
    "verifiers": (
        "rubric.toml",
        """\
        [[criteria]]
        name = "mark-id"
        text = "mark-judged"
        weight = 0.37
        choices = ["mark-low", "mark-high"]
        """,
    ),
    "healthbench": (
        "hb.json",
        """\
        {"rubrics": [
          {"criterion": "mark-outcome",
            "points": 37,
            "tags": ["mark-tag"]},
          {"criterion": "Harms", "points": -3, "tags": []}]}
        """,
    ),
    "ragas": (
        "rubrics.yaml",
        """\
        rubrics:
          criteria: mark-task
          score1_description: mark-low
          score2_description: mark-high
        """,
    ),
    "autoevals": (
        "scorer.yaml",
        """\
        name: mark-name
        prompt: mark-task
        model: mark-model
        use_cot: true
        temperature: 0.31
        choice_scores:
          mark-low: 0
          mark-high: 1
        """,
    ),
}
SAMPLES |= {
    "suite of AgentV 4": (
        "suite.yaml",
        """\
        name: mark-suite
        tags: [mark-tag]
        target: mark-target
        execution:
          threshold: 0.61
          mark_other: mark-execution
        tests:
          - id: mark-case
            input: mark-input
            expected_output: mark-reference
            criteria: mark-criteria
            conversation_id: mark-conversation
            metadata: {team: mark-team}
            vars:
              one: mark-variable
            mark_field: mark-unknown
            assertions:
              - {type: contains, value: mark-contained, weight: 0.37}
              - {type: equals, value: mark-equal}
              - {type: code-grader, command: mark-command}
              - type: rubrics
                criteria: [Says why]
          - id: mark-second
            input_files: [mark-file]
        """,
    ),
    "suite of AgentV 5": (
        "suite.yaml",
        """\
        description: mark-suite
        prompts: ["{{ input }}"]
        providers: mark-provider
        threshold: 0.61
        default_test: mark-default
        tests:
          - id: mark-case
            description: mark-described
            vars:
              input: mark-input
              expected_output: mark-reference
              other: mark-{{ template }}
            provider: mark-own
            assert:
              - {type: starts-with, value: mark-start}
              - type: assert-set
                metric: mark-set
                assert:
                  - type: llm-rubric
                    value: [{id: a, outcome: Says why}]
                  - {type: contains, value: mark-inner}
        """,
    ),
    "suite of promptfoo": (
        "promptfooconfig.yaml",
        """\
        description: mark-suite
        prompts: ["Ask: {{ question }}"]
        providers: mark-provider
        defaultTest:
          threshold: 0.61
          options: {prefix: mark-prefix}
        scenarios: mark-scenarios
        tests:
          - description: mark-described
            vars:
              question: mark-question
              file: file://mark-file
              several: [mark-first]
            options: {suffix: mark-suffix}
            metadata: {team: mark-team}
            assert:
              - {type: not-contains, value: mark-contained, metric: mark-metric, transform: mark-transform}
              - {type: javascript, value: mark-script}
              - {type: contains, value: "mark-{{ question }}"}
              - type: llm-rubric
                value: [Says why, {id: b, expected_outcome: Says how}]
          - mark-text: mark-value
        """,
    ),
}
SAMPLES |= {name: (each.name, each.lost) for name, each in dialect_samples.SAMPLES.items()}
FIELD = re.compile(r'^[\s{-]*"?(?P<name>[A-Za-z_]\w*)"?(?:: *| *= *)(?P<value>.+?)[\]},]*$')
MARK = re.compile(r"mark-\w+|\d\.\d\d|true|contradiction")


def marks(text):
    """The lines that say something, each with the words by which that can be found again."""
    for number, line in enumerate(text.splitlines(), 1):
        if (found := FIELD.match(line)) and (words := MARK.findall(found["value"])):
            yield number, found["name"], words


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_field_is_carried_or_reported_as_lost_with_its_place(tmp_path, monkeypatch, sample, target):
    name, text = SAMPLES[sample]
    text = dedent(text)
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text, "utf-8")
    done = CliRunner().invoke(convert, [name, "--to", target], standalone_mode=False)
    said = done.stderr
    if done.return_value:
        assert (done.return_value, done.stdout) == (1, "")
        assert re.search("a rubric is never converted to a different shape|spaces its answers evenly", said), said
        return
    written = text_of(target, done.stdout_bytes)
    for line, field, words in marks(text):
        is_reported = re.search(rf":{line}:\d+: lost: |also in lines? [\d, and]*\b{line}\b", said)
        assert is_reported or all(carries(written, word) for word in words), (line, field, said, written)


def carries(written, word):
    """Whether a text has what stands for a word of the source: a criterion that must be met is gated at 10."""
    forms = {"true": ("true", "True", "10", "must be met"), "mark-name": ("mark-name", "one")}
    return any(form in written for form in forms.get(word, (word,)))


def fields_of(schema):
    """The fields that a schema has for rubrics and what stands beside them, with their keywords."""
    for part in ("entry", "band", "level"):
        yield from schema["definitions"].get(part, {}).get("properties", {}).items()
    yield from schema.get("x-beside-rubrics", {}).items()


SOURCES = [
    *("v1/rubric", "v2/rubric", "v2/suite", "agentv/a3", "agentv/a6", "agentv/a7"),
    *("lightspeed/v1", "confident-ai/v1", "healthbench/v1", "autoevals/v1"),
    *dict.fromkeys(each.schema for each in dialect_samples.SAMPLES.values()),
]


@pytest.mark.parametrize("source", SOURCES)
def test_every_schema_says_what_carries_its_fields(source):
    schema = json.loads((ROOT / f"schemas/{source}.json").read_text("utf-8"))
    unsaid = {
        name
        for name, field in fields_of(schema)
        if not (
            "x-reads-as" in field or "x-replaced-by" in field or {"x-told-to-judge", "x-carried-by"} <= field.keys()
        )
    }
    assert unsaid == set()
    carried = [field["x-carried-by"] for _, field in fields_of(schema) if "x-carried-by" in field]
    assert {target for targets in carried if targets != "all" for target in targets} <= set(TARGETS)


@pytest.mark.parametrize("source", SOURCES)
def test_every_field_is_in_a_sample(source):
    schema = json.loads((ROOT / f"schemas/{source}.json").read_text("utf-8"))
    written = "".join(text for _, text in SAMPLES.values())
    assert [name for name, _ in fields_of(schema) if not re.search(rf'\b{name}"?:', written)] == []


COMMENTED = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json
# Who wrote this
rubrics:
  - id: a  # first
    expected_outcome: "Names the # of pages"
"""


@pytest.mark.slow
def test_comments_are_reported_as_lost(program, tmp_path):
    (tmp_path / "r.yaml").write_text(COMMENTED, "utf-8")
    code, _, said = program("convert", "r.yaml")
    told = "rubric-lint: r.yaml:2:1: lost: a comment: converted files have no comments (also in line 4)\n"
    assert (code, said) == (0, told)
    assert program("convert", "r.yaml", "--strict")[:2] == (1, "")
    (tmp_path / "r.yaml").write_text(COMMENTED + "    weight: 2  # twice\n", "utf-8")
    assert program("convert", "r.yaml")[2] == told.replace("line 4", "lines 4 and 6")


BOTH = """\
tests:
  - id: one
    input: x
    criteria: It
    assertions:
      - Says why
      - name: style
        type: rubrics
        criteria: [{id: a, outcome: Is short, operator: contradiction}]
"""


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5", "rubric", "promptfoo"])
def test_a_case_with_an_assertion_and_texts_stays_one_case(program, tmp_path, target):
    (tmp_path / "suite.yaml").write_text(BOTH, "utf-8")
    code, written, said = program("convert", "suite.yaml", "--to", target)
    assert (code, written.count("- id: one") + written.count("- description: one")) == (0, 1)
    assert "style" in written
    assert ("operator" in said) == (target in {"rubric", "promptfoo"})


def test_what_another_system_fills_in_is_reported(program, tmp_path):
    suite = 'tests: [{vars: {q: x}, assert: [{type: llm-rubric, value: ["Answers {{q}}", "Is short"]}]}]\n'
    (tmp_path / "promptfooconfig.yaml").write_text(suite, "utf-8")
    code, written, said = program("convert", "promptfooconfig.yaml")
    assert (code, "Answers {{q}}" in written) == (0, True)
    assert "lost: the template in `rubric-1`, which promptfoo fills in: rubric-lint uses it as plain text" in said


def test_an_escaped_text_is_not_a_template(program, tmp_path):
    (tmp_path / "r.rubric.yaml").write_text("rubrics: [{id: a, expected_outcome: 'Names {{ x }}'}]\n", "utf-8")
    _, written, _ = program("convert", "r.rubric.yaml", "--to", "agentv-5")
    (tmp_path / "suite.yaml").write_text(written, "utf-8")
    code, written, said = program("convert", "suite.yaml")
    assert (code, "lost" in said, "expected_outcome: Names {{ x }}\n" in written) == (0, False, True)


@pytest.mark.parametrize("text", ["Names ${{ HOME }}", "${{HOME}}"])
def test_agentv_4_would_put_a_variable_in_the_place_of_a_text(program, tmp_path, text):
    (tmp_path / "r.rubric.yaml").write_text(f"rubrics:\n  - {json.dumps(text)}\n", "utf-8")
    code, written, said = program("convert", "r.rubric.yaml", "--to", "agentv-4")
    assert (code, written) == (1, "")
    assert "r.rubric.yaml:2:5: AgentV 4 inserts an environment variable for" in said
    assert program("convert", "r.rubric.yaml", "--to", "agentv-5")[0] == 0


def test_what_is_written_names_every_criterion(program, tmp_path):
    (tmp_path / "r.rubric.yaml").write_text("rubrics: [Says why, {expected_outcome: Says how}]\n", "utf-8")
    assert program("convert", "r.rubric.yaml", "-o", "new.rubric.yaml")[0] == 0
    assert "missing-id" not in program("new.rubric.yaml")[1]
    assert "id: rubric-2" in (tmp_path / "new.rubric.yaml").read_text("utf-8")
