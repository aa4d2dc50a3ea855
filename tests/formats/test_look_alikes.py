"""Files of other tools that look like a dialect: no rubric is found in them, and nothing is said about them."""

import json
from io import StringIO
from pathlib import Path

import pytest
from cases import read_cases
from ruamel.yaml import YAML

from rubric_lint.lint.engine import lint

TABLES = read_cases(__file__)

LOOK_ALIKES = TABLES["LOOK_ALIKES"]


@pytest.mark.parametrize("text", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_a_look_alike_is_left_alone(text):
    result = lint("rubrics.json" if text[0] in "[{" else "a.yaml", text.encode())
    assert (result.rubrics, result.findings, [each for each in result.unread if each.is_known]) == (0, (), [])


OTHER_PURPOSES = YAML(typ="safe").load((Path(__file__).parents[1] / "data/look_alikes.yaml").read_text("utf-8"))


@pytest.mark.parametrize("sample", OTHER_PURPOSES.values(), ids=OTHER_PURPOSES)
def test_a_file_of_another_purpose_is_no_near_miss(sample):
    text = StringIO()
    YAML(typ="safe").dump(sample["data"], text)
    for ending, written in (("yaml", text.getvalue()), ("json", json.dumps(sample["data"], default=str))):
        result = lint(f"{sample['file']}.{ending}", written.encode())
        assert (result.rubrics, result.findings, result.unread) == (0, (), ())


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


@pytest.mark.parametrize(("name", "text", "rule"), TABLES["a rubric with a mistake is still recognized"])
def test_a_rubric_with_a_mistake_is_still_recognized(name, text, rule):
    assert rule in {finding.rule for finding in lint(name, text.encode()).findings}


def test_a_file_as_the_only_value_is_said_to_be_unread():
    text = "providers: [x]\ntests:\n  - assert:\n      - {type: llm-rubric, value: file://r.md}\n"
    result = lint("promptfooconfig.yaml", text.encode())
    assert [each.reason for each in result.unread] == [
        "`value` of `llm-rubric` is a file or a variable, whose text is not read; write the text here"
    ]


GUIDED = TABLES["GUIDED"]


@pytest.mark.parametrize(("name", "text", "rules", "told"), TABLES["a rubric with one more"])
def test_a_rubric_with_one_more_field_is_read_where_the_name_says_so(name, text, rules, told):
    result = lint(name, text.encode())
    assert ([finding.rule for finding in result.findings], result.rubrics) == (rules, 1)
    assert [(each.reason, each.is_known) for each in result.unread] == [(told, True)]
    elsewhere = lint("goals." + name.rpartition(".")[2], text.encode())
    assert (elsewhere.findings, elsewhere.rubrics, [each.is_known for each in elsewhere.unread if each.is_known]) == (
        (),
        0,
        [],
    )


def test_criteria_with_the_fields_of_harbor_check_and_others_are_told():
    (unread,) = lint("goals.toml", GUIDED.encode()).unread
    assert ("harbor check" in unread.reason, unread.is_known, unread.line) == (True, False, 1)


@pytest.mark.parametrize(("name", "text"), TABLES["translations and grades of courses"])
def test_translations_and_grades_of_courses_are_no_near_misses(name, text):
    assert lint(name, text.encode()).unread == ()


def test_a_metric_of_lightspeed_that_is_a_text_is_left_alone():
    text = "metrics: {'geval:x': just text, 'geval:y': {criteria: A?, rubrics: []}}\n"
    assert lint("a.yaml", text.encode()).findings == ()
