"""Files of other tools that look like a dialect: no rubric is found in them, and nothing is said about them."""

import pytest

from rubric_lint.lint.engine import lint

LOOK_ALIKES = {
    "Canvas": '[{"id": "_1", "description": "Style", "points": 5, "ratings": [{"id": "a", "points": 5}]}]',
    "a course": '{"prompt": "Essay", "rubric": [{"title": "Thesis", "description": "Clear", "weight": 25}]}',
    "a course with points": (
        '{"prompt": "x", "rubric": [{"title": "a", "description": "Essential", "weight": 1, "points": 2}]}'
    ),
    "an essay": '{"question": "Why?", "rubric": [{"title": "Style", "description": "Reads well", "weight": 0.5}]}',
    "a grader": '{"sections": [{"id": "a", "weight": 0.1, "leaves": [{"id": "b", "weight": 1, "check": "It is"}]}]}',
    "a job": '[{"requirement": "Five years of Go", "weight": 3, "candidate": "a"}]',
    "a job by criteria": '{"criteria": [{"requirement": "Five years of Go", "weight": 3, "met": true}]}',
    "a translation": '{"rubrics": {"rubricId": "Rubrik", "content": "Inhalt"}, "rubricId": "Rubrik"}',
    "a newspaper": '{"rubrics": [{"rubricId": "sport", "content": {"title": "Sport"}}]}',
    "settings without rubrics": '{"criteria": {"tool_trajectory_avg_score": {"threshold": 0.3}}}',
    "a standard": "criteria:\n  - {id: 1.1.1, name: Alt, description: Text, guidance: See it, level: A}\n",
    "annotations": '[{"id": 1, "title": "a bug", "annotations": {"type": "bug"}}]',
    "labels": "type: label_model\nlabels: [a, b]\n",
    "a pipeline": "steps:\n  - {type: factuality, value: x}\nassert: [it]\n",
    "a test plan": "tests:\n  - {name: a, assert: [{type: equals, value: g-eval}]}\n",
    "another LLMJudge": "llmJudge: {contains: x}\nevaluators: [{LLMJudge: It}]\n",
    "a data set": "cases: [{inputs: x}]\nevaluators: [Equals]\nllm: LLMJudge\n",
    "a project": '{"sub_tasks": [{"name": "a"}], "needs": ["requirements"]}',
    "a task tree": "tasks:\n  - {requirements: x, sub_tasks: [{requirements: y, sub_tasks: []}]}\n",
    "a tracker": '{"id": 1, "requirements": "It", "sub_tasks": [{"id": 2, "requirements": "Form", "sub_tasks": []}]}',
    "packages": '{"requirements": ["numpy"], "weight": 1, "sub_tasks": [{"requirements": ["scipy"], "weight": 1}]}',
    "annotated images": '[{"id": "a", "title": "Photo", "annotations": {"type": "image", "importance": 3}}]',
    "a newspaper with properties": '{"rubrics": [{"rubricId": "1", "content": {"property": {"title": "Sport"}}}]}',
    "a prompt": "prompt: x\nchoice_strings: [a, b]\n",
    "a prompt with scores from its answers": "prompt: x\nchoice_strings: [a, b]\nchoice_scores: from_strings\n",
    "a judge": "llm_judge: {model: x, criteria: [{id: a, description: b}]}\n",
    "metrics": '[{"criterion": {"rouge": {"rubrics": [{"id": "a", "content": {"text": "b"}}]}}}]',
    "bands": "rubric: [{score_range: [0, 4], expected_outcome: a}]\n",
}


@pytest.mark.parametrize("text", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
@pytest.mark.parametrize("name", ["rubrics.json", "a.yaml"])
def test_a_look_alike_is_left_alone(text, name):
    if name.endswith("json") and text[0] not in "[{":
        name = "b.yml"
    result = lint(name, text.encode())
    assert (result.rubrics, result.findings, [each for each in result.unread if each.is_known]) == (0, (), [])


SOURCES = {
    "a story": ("story.toml", '[[criterion]]\nid = "A"\ndescription = "Login works"\ndone = false\n'),
    "a story with a title": ("story.toml", 'title = "Login"\n[[criterion]]\nid = "A"\ndescription = "It works"\n'),
    "a test of loans": ("test_loans.py", 'CASES = [Case(score_range=(300, 580), expected_outcome="reject")]\n'),
    "a game": ("game.py", 'RUNS = [Run(score_range=(100, 200), expected_outcome="win")]\n'),
}


@pytest.mark.parametrize(("name", "text"), SOURCES.values(), ids=SOURCES)
def test_a_look_alike_in_toml_or_python_is_left_alone(name, text):
    result = lint(name, text.encode())
    assert (result.rubrics, result.findings, [each for each in result.unread if each.is_known]) == (0, (), [])


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("judge.toml", '[[criterion]]\ndescription = "Names the cause"\nwieght = 2\n', "unknown-field"),
        (
            "judge.toml",
            '[judge]\nmodel = "m"\n[[criterion]]\ndescription = "Names it"\ndone = false\n',
            "unknown-field",
        ),
        ("metrics.py", 'B = [Rubric(score_range=(0, 100), expected_outcome="Names the cause")]\n', "bounds"),
        (
            "metrics.py",
            'B = [Band(score_range=(0, 4), expected_outcome="a"), Band(score_range=(5, 20), expected_outcome="b")]\n',
            "bounds",
        ),
        ("r.yaml", "'rubric':\n- {'weight': 5, 'requirement': ' '}\n", "empty-outcome"),
        ("r.yaml", "rubric:\n- {weight : 5, requirement : ' '}\n", "empty-outcome"),
        (
            "r.yaml",
            "rubric:\n- {weight: -.inf, requirement: Names it}\n- {weight: 5, requirement: Says it}\n",
            "weight",
        ),
        (
            "rubrics.json",
            '[{"title": "Moves it", "annotations": {"type": "negativ verifier", "importance": "must have"}}]',
            "schema",
        ),
    ],
)
def test_a_rubric_with_a_mistake_is_still_recognized(name, text, rule):
    assert rule in {finding.rule for finding in lint(name, text.encode()).findings}


def test_a_file_as_the_only_value_is_said_to_be_unread():
    text = "providers: [x]\ntests:\n  - assert:\n      - {type: llm-rubric, value: file://r.md}\n"
    result = lint("promptfooconfig.yaml", text.encode())
    assert [each.reason for each in result.unread] == [
        "`value` of `llm-rubric` is a file or a variable, whose text is not read; write the text here"
    ]
