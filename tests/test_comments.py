"""Where comments are, and which findings the ones to this tool silence."""

from textwrap import dedent

import pytest
from cases import read_cases

from rubric_lint.lint.engine import lint
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

TABLES = read_cases(__file__)

COMMENTS = TABLES["COMMENTS"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("text", "expected"), COMMENTS.values(), ids=COMMENTS)
def test_comments_are_found(text, expected, line_end):
    source = Source("a.yaml", text.replace("\n", line_end))
    assert [source.slice(span) for span in read_documents(source)[0][0].tree.comments] == expected


def check(text, settings=FileSettings()):  # noqa: B008 (frozen)
    """The rule and line of each finding, and how many were silenced."""
    result = lint("a.yaml", dedent(text).encode(), settings)
    found = [(finding.rule, result.source.position(finding.span.start).line) for finding in result.findings]
    return found, result.ignored


BANDS = """\
{0}
rubrics: {1}
  {2}
  - id: a {3}
    {4}
    score_ranges: {5}
      {6}
      - score_range: [0, 4] {7}
        expected_outcome: It is not said.
      {8}
      - score_range: [4, 9] {9}
        expected_outcome: It is said. {10}
  - id: b
    expected_outcome: It is said.
"""
OVERLAP, COVERAGE, MIXING, SPLIT = ("overlap", 11), ("coverage", 6), ("mixing", 13), ("split-band", 11)
ALL = [COVERAGE, OVERLAP, MIXING]


def place(**comments):
    """The text with a comment in some of its gaps."""
    gaps = {f"_{number}": "" for number in range(11)} | comments
    return BANDS.format(*gaps.values())


def test_what_there_is_to_silence():
    assert check(place()) == (ALL, 0)


IGNORES = TABLES["IGNORES"]


@pytest.mark.parametrize(("comments", "findings", "ignored"), IGNORES.values(), ids=IGNORES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_ignore_comments(comments, findings, ignored, line_end):
    assert check(place(**comments).replace("\n", line_end)) == ([*map(tuple, findings)], ignored)


def test_an_ignore_of_a_rule_that_does_not_run_is_not_unused():
    text = place(_9="# rubric-lint: ignore[bounds]")
    assert check(text, FileSettings(enabled=frozenset({"overlap", "unused-ignore"}))) == ([OVERLAP], 0)


@pytest.mark.parametrize(
    ("comment", "marked", "message"),
    [
        ("ignore[overlaps]", "overlaps", "unknown rule `overlaps`; did you mean `overlap`?"),
        ("ignore[everything]", "everything", "unknown rule `everything`; `rubric-lint --rules` lists the rules"),
    ],
)
def test_a_name_that_is_none_is_pointed_out(comment, marked, message):
    result = lint("a.yaml", place(_9=f"# rubric-lint: {comment}").encode())
    found = [(result.source.slice(each.span), each.message) for each in result.findings if each.rule == "unused-ignore"]
    assert found == [(marked, message)]


def test_a_comment_behind_the_last_line_of_a_value_silences_what_is_found_in_it():
    text = """\
        rubrics:
          - id: a
            expected_outcome: "
              "  # rubric-lint: ignore[empty-outcome]
        """
    assert check(text) == ([], 1)


def test_a_comment_below_a_block_text_does_not_silence_what_is_found_in_it():
    text = """\
        rubrics:
          - id: a
            expected_outcome: |
              Good
            weight: 1  # rubric-lint: ignore[vague-outcome]
        """
    assert check(text) == ([("vague-outcome", 3), ("unused-ignore", 5)], 0)


def test_a_file_that_claims_rubrics_and_has_none_may_have_ignores():
    text = """\
        # yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json
        # rubric-lint: ignore-file[schema]
        rubric: []
        """
    assert check(text) == ([], 1)


def test_a_syntax_fault_is_not_silenced_and_has_no_other_beside_it():
    assert check("# rubric-lint: ignore-file[overlap]\nrubrics:\n  - 'open\n") == ([("syntax", 3)], 0)


def test_files_without_rubrics_are_not_searched_for_ignores():
    assert check("# rubric-lint: ignore[overlap]\nrubrics: see below\n") == ([], 0)


def test_each_document_has_its_own_entries_but_one_file_above_them():
    text = """\
        # rubric-lint: ignore-file[missing-id]
        rubrics:
          # rubric-lint: ignore[empty-outcome]
          - expected_outcome: ""
        ---
        rubrics:
          - expected_outcome: ""
          # rubric-lint: ignore[empty-outcome]
          - expected_outcome: ""
        """
    assert check(text) == ([("empty-outcome", 7)], 5)


def test_thousands_of_comments_take_no_time_to_speak_of():
    criterion = "# rubric-lint: ignore[missing-id]\n- expected_outcome: It says {}.\n"
    text = "rubrics:\n" + "".join(map(criterion.format, range(2000)))
    assert check(text) == ([], 2000)


def test_a_tab_that_indents_nothing_hides_no_comment():
    text = "\t# a suite\nrubrics:\n  - id: a\n    expected_outcome: '' # rubric-lint: ignore[empty-outcome]\n"
    assert check(text) == ([], 1)


@pytest.mark.parametrize(("text", "told"), TABLES["a comment that is off by some lines hears where the finding is"])
def test_a_comment_that_is_off_by_some_lines_hears_where_the_finding_is(text, told):
    messages = [each.message for each in lint("a.yaml", text.encode()).findings if each.rule == "unused-ignore"]
    assert messages == [f"`vague-outcome` finds nothing here that this comment could silence; {told}"]
