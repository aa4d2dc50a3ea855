"""What editors show and offer in files with rubric tests."""

import pytest
from cases import read_cases
from typed import offer, state_of, take

from rubric_lint.editor.answers.hover import make_hover
from rubric_lint.editor.server.analysis import analyse

TABLES = read_cases(__file__)


NAME = "/a.rubric-test.yaml"
TESTS = """\
rubric: a.rubric.yaml
tests:
  - id: wrong
    answer: Within 60 days.
    expect:
      verdict: fial
      gates: {accuracy: missed}
"""


def test_the_form_is_checked_as_you_type():
    assert [(finding.rule, finding.message) for finding in analyse(state_of(TESTS, NAME)).findings] == [
        (
            "schema",
            '`verdict` is the string "fial", expected `pass`, `borderline`, `fail` or `unscored`, or a list of them',
        )
    ]


def test_fields_are_explained(said):
    analysis = analyse(state_of(TESTS.replace("fial", "fail"), NAME))
    for at in ("rubric:", "expect:", "gates:", "accuracy:"):
        said(make_hover(analysis, TESTS.index(at)).contents.value)


SUITE = TABLES["SUITE"]


@pytest.fixture
def beside(tmp_path):
    """Offers what fits at the `¦` of a test file beside a suite with four rubrics."""
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")

    def call(text, name="b.rubric-test.yaml"):
        """What is offered, and the text after the first of it is taken."""
        items = offer(text, name=str(tmp_path / name))
        return list(items), take(text, next(iter(items.values()))) if items else ""

    return call


FILE = "rubric: suite.yaml#{}\ntests:\n  - id: a\n    expect:\n      {}\n"
ONE, CHECKS = "refund", "checks"


@pytest.mark.parametrize(("rubric", "text", "expected"), TABLES["ids of the tested rubric"])
def test_ids_of_the_tested_rubric_are_offered_and_nothing_that_the_schema_says(beside, rubric, text, expected):
    assert beside(FILE.format(rubric, text))[0] == expected


@pytest.mark.parametrize(("text", "expected"), TABLES["what is taken replaces what"])
def test_what_is_taken_replaces_what_was_typed(beside, text, expected):
    assert beside(FILE.format(ONE, text))[1] == FILE.format(ONE, expected)


def test_an_id_that_is_no_plain_string_is_quoted(beside):
    assert beside(FILE.format(CHECKS, "gates: {¦}"))[1] == FILE.format(CHECKS, 'gates: {"yes": }')


@pytest.mark.parametrize("output", ["output: {checks: [{id: ¦}]}", "output:\n      checks:\n        - id: acc¦\n"])
def test_ids_are_offered_in_the_output_of_a_test(beside, output):
    text = f"rubric: suite.yaml#refund\ntests:\n  - id: a\n    {output}"
    offered, after = beside(text)
    assert (offered, after) == (["accuracy", "next-step"], text.replace("acc¦", "¦").replace("¦", "accuracy"))


@pytest.mark.parametrize(
    ("expect", "offered", "taken"),
    [
        ('{"gates": {¦}}', ["accuracy"], '{"gates": {"accuracy": }}'),
        ('{"gates": {"a¦"}}', ["accuracy"], '{"gates": {"accuracy": }}'),
        ('{"criteria": {"accuracy": 10, "n¦": 0}}', ["next-step"], '{"criteria": {"accuracy": 10, "next-step": 0}}'),
        ('{"verdict": "¦"}', [], ""),
    ],
)
def test_ids_are_offered_in_json_too(beside, expect, offered, taken):
    text = '{"rubric": "suite.yaml#refund", "tests": [{"id": "a", "expect": %s}]}'
    assert beside(text % expect, "b.rubric-test.json") == (offered, text % taken if taken else "")


@pytest.mark.parametrize(
    "text",
    ["¦", "\ufeffrubric: ¦", "rubric: &a ¦\r\n", "rubric: *a¦\n", "--- ¦\n--- \n", "[¦", "rubric: |\n  ¦\n", "é: 😀 ¦"],
)
def test_where_there_is_nothing_to_offer_nothing_is(beside, text):
    assert beside(text) == ([], "")


@pytest.mark.usefixtures("beside")
def test_criteria_are_explained(tmp_path, said):
    text = FILE.format(ONE, "gates: {accuracy: missed}")
    said(
        make_hover(analyse(state_of(text, str(tmp_path / "b.rubric-test.yaml"))), text.index("accuracy")).contents.value
    )


@pytest.mark.parametrize("text", ["rubrics:\n  - ¦\n", "¦", "rubrics:\n  - id: a\n    ¦\n"])
def test_fields_are_left_to_the_schemas(text):
    assert offer(text) == {}
