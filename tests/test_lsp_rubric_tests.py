"""What editors show and offer in files with rubric tests."""

import pytest
from cases import read_cases
from typed import offer, state_of, take

from rubric_lint.lsp.answers.hover import make_hover
from rubric_lint.lsp.server.analysis import analyse

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
        ("schema", '`verdict` is the string "fial", expected `pass`, `borderline` or `fail`, or a list of them')
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¦\n", ["$schema", "description", "rubric", "outputs", "tests", "rubric tests"]),
        ("rubric: a.yaml\n¦\n", ["$schema", "description", "outputs", "tests"]),
        ("tests:\n  - id: a\n    ¦\n", ["question", "answer", "reference", "group", "output", "expect"]),
        ("tests:\n  - id: a\n    expect:\n      verdict: fail\n      ¦\n", ["score", "gates", "criteria"]),
        ("tests:\n  - id: a\n    expect: {¦}\n", ["verdict", "score", "gates", "criteria"]),
        ("tests:\n  - id: some ¦\n", []),
        ("# $schema: ¦\n", ["https://rubric-lint.github.io/schemas/rubric-test-v1.schema.json"]),
    ],
)
def test_the_fields_that_fit_are_offered(text, expected):
    assert list(offer(text, name=NAME)) == expected


def test_fields_are_explained(said):
    analysis = analyse(state_of(TESTS.replace("fial", "fail"), NAME))
    for at in ("rubric:", "expect:", "gates:", "accuracy:"):
        said(make_hover(analysis, TESTS.index(at)).contents.value)


SUITE = TABLES["SUITE"]


@pytest.fixture
def beside(tmp_path):
    """Offers what fits at the `¦` of a test file beside a suite with four rubrics."""
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    (tmp_path / "b.rubric.yaml").write_text("rubrics: [{id: a, weight: x", "utf-8")
    (tmp_path / "b.judged.jsonl").write_text("", "utf-8")
    (tmp_path / "more").mkdir()
    (tmp_path / "more/c.rubric.json").write_text("{}", "utf-8")

    def call(text, name="b.rubric-test.yaml", **options):
        """What is offered, and the text after the first of it is taken."""
        items = offer(text, name=str(tmp_path / name), **options)
        return list(items), take(text, next(iter(items.values()))) if items else ""

    return call


FILE = "rubric: suite.yaml#{}\ntests:\n  - id: a\n    expect:\n      {}\n"
ONE, TONE, CHECKS, WHOLE = "refund", "tone of voice", "checks", "whole"


@pytest.mark.parametrize(("rubric", "text", "expected"), TABLES["values and criteria of the"])
def test_values_and_criteria_of_the_tested_rubric_are_offered(beside, rubric, text, expected):
    assert beside(FILE.format(rubric, text))[0] == expected


@pytest.mark.parametrize(("text", "expected"), TABLES["what is taken replaces what"])
def test_what_is_taken_replaces_what_was_typed(beside, text, expected):
    assert beside(FILE.format(ONE, text))[1] == FILE.format(ONE, expected)


def test_an_id_that_is_no_plain_string_is_quoted(beside):
    assert beside(FILE.format(CHECKS, "gates: {¦}"))[1] == FILE.format(CHECKS, 'gates: {"yes": ${1|met,missed|}}')


@pytest.mark.parametrize(("text", "expected", "taken"), TABLES["files rubrics and ids are"])
def test_files_rubrics_and_ids_are_offered(beside, text, expected, taken):
    offered, after = beside(text)
    assert (offered, after if taken is not None else None) == (expected, taken)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("¦", []), ("verdict: ¦", []), ("gates: {accuracy: ¦}", []), ("criteria: {¦}", ["accuracy", "next-step"])],
)
def test_beside_a_schema_server_only_what_the_schema_cannot_say_is_offered(beside, text, expected):
    assert beside(FILE.format(ONE, text), is_served=True)[0] == expected


def test_values_are_offered_in_json_too(beside):
    text = '{"rubric": "suite.yaml#refund", "tests": [{"id": "a", "expect": {"verdict": "¦"}}]}'
    assert beside(text, "b.rubric-test.json") == (["pass", "borderline", "fail"], text.replace("¦", "pass"))


@pytest.mark.parametrize(
    "text",
    ["¦", "\ufeffrubric: ¦", "rubric: &a ¦\r\n", "rubric: *a¦\n", "--- ¦\n--- \n", "[¦", "rubric: |\n  ¦\n", "é: 😀 ¦"],
)
def test_nothing_ends_completion(beside, text):
    assert isinstance(beside(text)[0], list)


@pytest.mark.usefixtures("beside")
def test_criteria_are_explained(tmp_path, said):
    text = FILE.format(ONE, "gates: {accuracy: missed}")
    said(
        make_hover(analyse(state_of(text, str(tmp_path / "b.rubric-test.yaml"))), text.index("accuracy")).contents.value
    )
