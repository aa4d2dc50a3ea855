"""What every message says besides what is wrong: which criterion it is about, and the line of the other place."""

import pytest
from cases import read_cases

from rubric_lint.lint.engine import lint

TABLES = read_cases(__file__)


TWO_PLACES = TABLES["TWO_PLACES"]


def messages(text, rule):
    result = lint("a.yaml", text.encode())
    return [finding.message for finding in result.findings if finding.rule == rule]


@pytest.mark.parametrize("rule", TWO_PLACES)
def test_a_message_about_two_places_names_the_other_line(rule, said):
    said(messages(TWO_PLACES[rule], rule))


@pytest.mark.parametrize(("entry", "name"), TABLES["a message names the criterion"])
def test_a_message_names_the_criterion_as_its_author_can_find_it(entry, name):
    (message,) = [each for each in messages(f"rubrics: [{entry}]", "schema") if "weight" in each]
    assert message.partition("`weight`")[0] == name


def test_a_key_that_is_there_twice_is_told_with_its_criterion():
    text = "rubrics:\n  - id: a\n    expected_outcome: It says who.\n    id: b\n"
    (message,) = messages(text, "duplicate-key")
    assert message.startswith("criterion `b`: duplicate key `id`, first at line 2; ")
    marked = "rubrics: [{id: '\ufdd0', expected_outcome: A}, {id: '\ufdd0', expected_outcome: B}]\n"  # as lines are
    assert len(messages(marked, "duplicate-id")) == 1
