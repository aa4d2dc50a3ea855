"""One table for each dialect: what it looks like, what it means, and how each field of it is found again.

A dialect that is added brings one entry. `tests/test_interop.py`, `tests/test_round_trips.py` and `tests/test_lost.py`
take theirs from here.
"""

from decimal import Decimal
from typing import Any, NamedTuple

from rubric_lint.format.criterion import Shape


class Sample(NamedTuple):
    """A sound rubric of a dialect.

    `path` is where it is, `criteria` what it means: id, outcome, weight, gate, bands and levels of each. `lost` has
    each field of the dialect on a line of its own, with a value that occurs nowhere else (see `tests/test_lost.py`);
    `schema` is the schema whose fields these are, `dialect` the name of the dialect if it is not that of the sample.
    """

    text: str
    name: str
    path: tuple[Any, ...]
    shape: Shape
    criteria: list[tuple[Any, ...]]
    lost: str
    schema: str
    dialect: str = ""


def item(number: int, outcome: str, weight: Any = 1, gate: int | None = None, called: str = "") -> tuple[Any, ...]:
    """A criterion of a checklist."""
    return (called or f"rubric-{number}", outcome, Decimal(str(weight)), gate, None, [])


SAMPLES: dict[str, Sample] = {
    "promptfoo-texts": Sample(
        text="""\
            tests:
              - vars: {q: Why?}
                assert:
                  - {type: llm-rubric, value: Names the cause, threshold: 0.7}
                  - {type: contains, value: cause}
                  - {type: not-llm-rubric, value: Blames the customer, weight: 2}
                  - {type: factuality, value: Paris}
            """,
        name="promptfooconfig.yaml",
        path=("tests", 0, "assert"),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Names the cause", 1, 10),
            item(2, "Blames the customer", 2, 10),
            item(3, "Agrees with these facts: Paris", 1, 10),
        ],
        lost="""\
            tests:
              - vars: {q: x}
                assert:
                  - type: llm-rubric
                    value: mark-outcome
                    weight: 0.37
                    threshold: 0.91
                    metric: mark-metric
                    provider: mark-provider
                    rubricPrompt: mark-prompt
                    transform: mark-transform
                    contextTransform: mark-context
                    config: mark-config
            """,
        schema="promptfoo/v1",
        dialect="promptfoo",
    ),
    "adk": Sample(
        text="""\
            {"criteria": {"rubric_based_final_response_quality_v1": {"threshold": 0.8, "rubrics": [
              {"rubric_id": "unit", "rubric_content": {"text_property": "Every amount has a currency."}},
              {"rubric_id": "source", "rubric_content": {"text_property": "Each claim names its source."}}]}}}
            """,
        name="eval_config.json",
        path=("criteria", "rubric_based_final_response_quality_v1", "rubrics"),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Every amount has a currency.", called="unit"),
            item(2, "Each claim names its source.", called="source"),
        ],
        lost="""\
            {"criteria": {"m": {
              "threshold": 0.91,
              "judge_model_options": "mark-options",
              "judgeModelOptions": "mark-settings",
              "rubrics": [{
                "rubricId": "mark-two",
                "rubricContent": {
                  "textProperty": "mark-second"}},
                {
                "rubricId": "mark-three",
                "importance": "mark-importance",
                "content": {
                  "property": {
                    "description": "mark-third"}}},
                {
                "rubric_id": "mark-id",
                "rubric_content": {
                  "text_property": "mark-outcome"},
                "description": "mark-description",
                "type": "mark-type"}]}}}
            """,
        schema="adk/v1",
    ),
    "agent-skills": Sample(
        text="""\
            {"skill_name": "invoices", "evals": [
              {"id": 1, "prompt": "What do I owe?", "expected_output": "The total", "assertions": [
                "Names the total with its currency",
                {"id": "due", "text": "Names the due date"},
                {"name": "late", "description": "Says how late the invoice is"},
                {"type": "contains", "value": "EUR"}]}]}
            """,
        name="evals.json",
        path=("evals", 0, "assertions"),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Names the total with its currency"),
            item(2, "Names the due date", called="due"),
            item(3, "Says how late the invoice is", called="late"),
        ],
        lost="""\
            {"skill_name": "mark-skill", "evals": [
              {"id": "mark-case",
               "prompt": "mark-prompt",
               "expected_output": "mark-output",
               "files": ["mark-file"],
               "expectations": [
                 {
                 "id": "mark-id",
                 "text": "mark-outcome",
                 "type": "mark-type",
                 "tags": "mark-tags",
                 "severity": "mark-severity"},
                 {
                 "name": "mark-name",
                 "description": "mark-description"},
                 {
                 "name": "mark-one",
                 "check": "mark-check"},
                 {
                 "name": "mark-two",
                 "assertion": "mark-assertion"},
                 {
                 "name": "mark-three",
                 "expectation": "mark-expectation"},
                 {
                 "name": "mark-four",
                 "criterion": "mark-criterion"},
                 {
                 "name": "mark-five",
                 "statement": "mark-statement"}]}]}
            """,
        schema="agent-skills/v1",
    ),
    "pydantic-evals": Sample(
        text="""\
            cases:
              - name: one
                inputs: Why?
                evaluators:
                  - IsInstance: str
                  - LLMJudge: Names the cause
                  - LLMJudge: {rubric: Answers the question, include_input: true}
                  - name: LLMJudge
                    arguments: {rubric: Is short, assertion: {evaluation_name: length}}
                  - {name: LLMJudge, arguments: [Is polite]}
            """,
        name="data.yaml",
        path=("cases", 0, "evaluators"),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Names the cause"),
            item(2, "Answers the question"),
            item(3, "Is short", called="length"),
            item(4, "Is polite"),
        ],
        lost="""\
            cases:
              - name: one
                evaluators:
                  - LLMJudge:
                      rubric: mark-outcome
                      model: mark-model
                      include_input: true
                      include_expected_output: true
                      model_settings: mark-settings
                      score: mark-score
                      assertion:
                        evaluation_name: mark-id
                        mark: mark-assertion
                  - name: LLMJudge
                    arguments:
                      rubric: mark-second
                      model: mark-other
                      assertion:
                        evaluation_name: mark-name
                  - GEval: {criteria: Is short, evaluation_steps: [Count]}
            """,
        schema="pydantic-evals/v1",
    ),
    "deepeval-data": Sample(
        text="""\
            metrics:
              - name: tone
                criteria: Judge the tone
                rubric:
                  - {score_range: [0, 4], expected_outcome: Blames the customer}
                  - {score_range: [5, 10], expected_outcome: Thanks the customer}
            """,
        name="metrics.yaml",
        path=("metrics", 0, "rubric"),
        shape=Shape.HOLISTIC,
        criteria=[
            ("rubric-1", "Blames the customer", Decimal(1), None, [(0, 4, "Blames the customer")], []),
            ("rubric-2", "Thanks the customer", Decimal(1), None, [(5, 10, "Thanks the customer")], []),
        ],
        lost="""\
            metrics:
              - name: mark-name
                criteria: mark-task
                evaluation_steps: [mark-step]
                evaluation_params: [mark-param]
                threshold: 0.91
                strict_mode: false
                mark_other: mark-value
                rubric:
                  - score_range: [0, 8]
                    expected_outcome: mark-low
                  - score_range: [9, 10]
                    expected_outcome: mark-high
            """,
        schema="deepeval-data/v1",
    ),
    "rar": Sample(
        text="""\
            {"question": "Which dose?", "rubric": [
              {"title": "Unit", "description": "Essential: names the unit", "weight": 5},
              {"title": "Harm", "description": "Pitfall: names a wrong dose", "weight": -2}]}
            """,
        name="rows.json",
        path=("rubric",),
        shape=Shape.CHECKLIST,
        criteria=[item(1, "Essential: names the unit", 5), item(2, "Pitfall: names a wrong dose", -2)],
        lost="""\
            {"question": "q",
             "rubric": [{
                "title": "mark-title",
                "description": "Essential: mark-outcome",
                "weight": 37}]}
            """,
        schema="rar/v1",
    ),
    "swe-atlas": Sample(
        text="""\
            [
              {"id": "a", "title": "1: Maintainability",
               "annotations": {"type": "high level intent", "importance": "must have"}},
              {"id": "b", "title": "1.1: Moves the parser into a module",
               "annotations": {"type": "positive hli verifier", "importance": "must have"}},
              {"id": "c", "title": "1.2: Changes the public interface",
               "annotations": {"type": "negative hli verifier", "importance": "nice to have"}}]
            """,
        name="rubrics.json",
        path=(),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "1.1: Moves the parser into a module", 1, 10, called="b"),
            item(2, "1.2: Changes the public interface", called="c"),
        ],
        lost="""\
            [{
              "id": "mark-id",
              "title": "mark-outcome",
              "annotations": {
                "type": "positive verifier mark-type",
                "importance": "must have"}}]
            """,
        schema="swe-atlas/v1",
    ),
    "requirement": Sample(
        text="""\
            rubric:
              - {name: source, weight: 5, requirement: Names a source}
              - {weight: -2, requirement: Invents a source}
            """,
        name="r.yaml",
        path=("rubric",),
        shape=Shape.CHECKLIST,
        criteria=[item(1, "Names a source", 5, called="source"), item(2, "Invents a source", -2)],
        lost="""\
            rubric:
              - name: mark-id
                requirement: mark-judged
                weight: 37
                scale_type: mark-scale
                aggregation: mark-aggregation
                options:
                  - label: mark-low
                    value: 0
                  - label: mark-high
                    value: 1
                    na: false
            """,
        schema="requirement/v1",
    ),
    "trpc-agent": Sample(
        text="""\
            [{"metricName": "m", "threshold": 0.5, "criterion": {"llmJudge": {"rubrics": [
              {"id": "unit", "content": {"text": "Every amount has a currency."}}]}}}]
            """,
        name="a.metrics.json",
        path=(0, "criterion", "llmJudge", "rubrics"),
        shape=Shape.CHECKLIST,
        criteria=[item(1, "Every amount has a currency.", called="unit")],
        lost="""\
            [{"threshold": 0.5, "criterion": {"llmJudge": {"rubrics": [{
              "id": "mark-id",
              "content": {
                "text": "mark-outcome"},
              "description": "mark-description",
              "type": "mark-type"}]}}}]
            """,
        schema="trpc-agent/v1",
    ),
    "paperbench": Sample(
        text="""\
            {"id": "root", "requirements": "The paper is reproduced", "weight": 1, "sub_tasks": [
              {"id": "a", "requirements": "The code runs", "weight": 1, "sub_tasks": [],
               "task_category": "Code Execution"},
              {"id": "b", "requirements": "The tables are there", "weight": 3, "sub_tasks": [
                {"id": "c", "requirements": "Table 1 is there", "weight": 1, "sub_tasks": [],
                 "task_category": "Result Match"},
                {"id": "d", "requirements": "Table 2 is there", "weight": 2, "sub_tasks": [],
                 "task_category": "Result Match"}]}]}
            """,
        name="rubric.json",
        path=(),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "The code runs", 1, called="a"),
            item(2, "Table 1 is there", 1, called="c"),
            item(3, "Table 2 is there", 2, called="d"),
        ],
        lost="""\
            {"id": "root", "requirements": "It runs", "weight": 1, "sub_tasks": [{
              "id": "mark-id",
              "requirements": "mark-outcome",
              "weight": 1,
              "sub_tasks": [],
              "task_category": "mark-category",
              "finegrained_task_category": "mark-fine"}]}
            """,
        schema="paperbench/v1",
    ),
    "tessl": Sample(
        text="""\
            {"context": "Whether the agent reads the policy", "type": "weighted_checklist", "checklist": [
              {"name": "Period", "description": "Names the refund period", "max_score": 30},
              {"name": "Source", "description": "Quotes the policy", "max_score": 12.5}]}
            """,
        name="criteria.json",
        path=("checklist",),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Names the refund period", 30, called="Period"),
            item(2, "Quotes the policy", 12.5, called="Source"),
        ],
        lost="""\
            {"context": "mark-context", "type": "weighted_checklist", "checklist": [
              {
              "name": "mark-id",
              "description": "mark-outcome",
              "category": "mark-category",
              "max_score": 0.37}]}
            """,
        schema="tessl/v1",
    ),
    "task-rubrics": Sample(
        text="""\
            [{"number": "R1", "criterion": "Names the total", "is_positive": true, "score": 5},
             {"number": "R2", "criterion": "Names the total of last year", "is_positive": false, "score": -3},
             {"number": "R3", "criterion": "Asks first", "is_positive": true, "score": 1, "hard_gate": true}]
            """,
        name="rubric.json",
        path=(),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "Names the total", 5, called="R1"),
            item(2, "Names the total of last year", -3, called="R2"),
            item(3, "Asks first", 1, 10, called="R3"),
        ],
        lost="""\
            {"rubric": [
              {
              "number": "mark-id",
              "criterion": "mark-outcome",
              "type": "mark-type",
              "evaluation_target": "mark-target",
              "importance": "mark-importance",
              "rationale": "mark-rationale",
              "hard_gate": true,
              "score": 0.37},
              {
              "id": "mark-second",
              "must": "mark-must",
              "weight": 0.91},
              {"is_positive": false, "id": "trap", "must": "Names the total of last year", "weight": 1}]}
            """,
        schema="task-rubrics/v1",
    ),
    "tolokaforge": Sample(
        text="""\
            combine: {pass_threshold: 0.5}
            llm_judge:
              rubric:
                criteria:
                  - {id: refund, description: The refund is booked, required: true}
                  - {id: tone, description: Thanks the customer, weight: 2}
            """,
        name="grading.yaml",
        path=("llm_judge", "rubric", "criteria"),
        shape=Shape.CHECKLIST,
        criteria=[
            item(1, "The refund is booked", 0, 10, called="refund"),
            item(2, "Thanks the customer", 2, called="tone"),
        ],
        lost="""\
            llm_judge:
              rubric:
                reference: mark-reference
                criteria:
                  - id: mark_id
                    description: mark-outcome
                    weight: 0.37
                    kind: graded
                    required: false
                    expected: mark-expected
                  - id: b
                    description: Names it
                    required: true
            """,
        schema="tolokaforge/v1",
    ),
    "openai-evals": Sample(
        text="""\
            fact:
              prompt: |
                (A) The answer is a subset.
                (B) The answer differs.
              choice_strings: AB
              choice_scores: {A: 1, B: 0}
            """,
        name="fact.yaml",
        path=("fact", "choice_scores"),
        shape=Shape.LEVELS,
        criteria=[
            (
                "rubric-1",
                None,
                Decimal(1),
                None,
                None,
                [(0, "B", "The answer differs."), (1, "A", "The answer is a subset.")],
            )
        ],
        lost="""\
            mark-name:
              prompt: mark-task
              choice_strings: [mark-low, mark-high]
              eval_type: mark-type
              input_outputs: mark-input
              choice_scores:
                mark-low: 0
                mark-high: 1
            """,
        schema="openai-evals/v1",
    ),
    "openai-graders": Sample(
        text="""\
            {"type": "label_model", "name": "tone", "model": "m", "labels": ["rude", "kind", "warm"],
             "passing_labels": ["kind", "warm"],
             "input": [{"role": "developer", "content": "rude: Blames the customer"}]}
            """,
        name="grader.json",
        path=("labels",),
        shape=Shape.LEVELS,
        criteria=[
            (
                *("rubric-1", None, Decimal(1), None, None),
                [(0, "rude", "Blames the customer"), (1, "kind, warm", "kind Or: warm")],
            )
        ],
        lost="""\
            {"type": "label_model",
             "name": "mark-name",
             "model": "mark-model",
             "input": [{"content": "mark-input"}],
             "labels": ["mark-low", "mark-high"],
             "passing_labels": ["mark-high"]}
            """,
        schema="openai-graders/v1",
    ),
    "openai-scores": Sample(
        text="""\
            {"type": "multi", "calculate_output": "depth", "graders": {"depth": {
              "type": "score_model", "name": "depth", "model": "m", "range": [1, 5], "input": [{"role": "user",
              "content": "How deep is it?\\nScore 1: Names no cause\\nScore 5: Names every cause"}]}}}
            """,
        name="grader.json",
        path=("graders", "depth", "input"),
        shape=Shape.LEVELS,
        criteria=[
            (
                *("rubric-1", "How deep is it?", Decimal(1), None, None),
                [(1, None, "Names no cause"), (5, None, "Names every cause")],
            )
        ],
        lost="""\
            {"type": "score_model",
             "name": "mark-name",
             "model": "mark-model",
             "range": [0, 1],
             "pass_threshold": 0.91,
             "sampling_params": "mark-sampling",
             "input": [{
               "content": "mark-outcome"}]}
            """,
        schema="openai-graders/v1",
        dialect="openai-graders",
    ),
}
