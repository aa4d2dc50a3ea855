"""Where comments are, and which findings the ones to this tool silence."""

import pytest
from cases import read_cases

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)

COMMENTS = TABLES["COMMENTS"]
LINE_ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize(("text", "expected"), COMMENTS.values(), ids=COMMENTS)
def test_comments_are_found_with_any_line_ends(text, expected):
    for line_end in LINE_ENDS:
        source = Source("a.yaml", text.replace("\n", line_end))
        assert [source.slice(span) for span in read_documents(source)[0][0].tree.comments] == expected


def check(text, settings=FileSettings()):  # noqa: B008 (frozen)
    """The rule and line of each finding, and how many were silenced."""
    result = lint("a.yaml", text.encode(), settings)
    found = [(finding.rule, result.source.position(finding.span.start).line) for finding in result.findings]
    return found, result.ignored


BANDS = TABLES["BANDS"]
OVERLAP, COVERAGE, MIXING, SPLIT = ("overlap", 11), ("coverage", 6), ("mixing", 13), ("split-band", 11)
ALL = [COVERAGE, OVERLAP, MIXING]


def place(**comments):
    """The text with a comment in some of its gaps."""
    gaps = {f"_{number}": "" for number in range(11)} | comments
    return BANDS.format(*gaps.values())


def test_what_there_is_to_silence():
    assert check(place()) == (ALL, 0)


IGNORES, SILENCED = TABLES["IGNORES"], TABLES["silenced or not"]


@pytest.mark.parametrize(("comments", "findings", "ignored"), IGNORES.values(), ids=IGNORES)
def test_ignore_comments(comments, findings, ignored):
    found = [check(place(**comments).replace("\n", line_end)) for line_end in LINE_ENDS]
    assert found == [([*map(tuple, findings)], ignored)] * 3


def test_an_ignore_of_a_rule_that_does_not_run_is_not_unused():
    text = place(_9="# rubric-lint: ignore[bounds]")
    assert check(text, FileSettings(enabled=frozenset({"overlap", "unused-ignore"}))) == ([OVERLAP], 0)


@pytest.mark.parametrize(
    ("comment", "marked", "message"),
    [
        ("ignore[overlaps]", "overlaps", "unknown rule `overlaps`; did you mean `overlap`?"),
        ("ignore[everything]", "everything", "unknown rule `everything`; `rubric-lint explain` lists the rules"),
    ],
)
def test_a_name_that_is_none_is_pointed_out(comment, marked, message):
    result = lint("a.yaml", place(_9=f"# rubric-lint: {comment}").encode())
    found = [
        (result.source.slice(finding.span), finding.message)
        for finding in result.findings
        if finding.rule == "unused-ignore"
    ]
    assert found == [(marked, message)]


@pytest.mark.parametrize(("text", "findings", "ignored"), SILENCED.values(), ids=SILENCED)
def test_what_a_comment_silences(text, findings, ignored):
    assert check(text) == ([*map(tuple, findings)], ignored)


@pytest.mark.slow
def test_thousands_of_comments_take_no_time_to_speak_of():
    criterion = "# rubric-lint: ignore[missing-id]\n- expected_outcome: It says {}.\n"
    text = "rubrics:\n" + "".join(map(criterion.format, range(2000)))
    assert check(text) == ([], 2000)


@pytest.mark.parametrize(("text", "told"), TABLES["a comment that is off by some lines hears where the finding is"])
def test_a_comment_that_is_off_by_some_lines_hears_where_the_finding_is(text, told):
    found = [finding for finding in lint("a.yaml", text.encode()).findings if finding.rule == "unused-ignore"]
    code, line = told
    assert [(each.code, each.values["near"]) for each in found] == [(code, str(line))]
    assert [each.fix.safe for each in found] == [line is None]
