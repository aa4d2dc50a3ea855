"""C14: where the reach of an ignore comment begins and ends, to the character."""

import pytest

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.ignore_comments import apply_ignores, find_ignores
from rubric_lint.model.finding import Finding, Severity
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span


def is_silenced(text, start, end, name="a.yaml"):
    """Whether a finding of `weight` at a span is silenced."""
    source = Source(name, text)
    ignores = find_ignores(source, read_documents(source)[0])
    finding = Finding("weight", Severity.ERROR, "", Span(start, end), "")
    kept, silenced = apply_ignores(ignores, [finding])
    assert len(kept) + len(silenced) == 1
    return not kept


def reach(text, length):
    """From where to where a finding of so many characters may begin, to be silenced by the one comment in a text."""
    found = [start for start in range(len(text) + 1 - length) if is_silenced(text, start, start + length)]
    assert found == list(range(found[0], found[-1] + 1))
    return found[0], found[-1]


REMARKS = {
    "of its own": ("id: a  # rubric-lint: ignore[weight] # see the ticket", "id: a  # see the ticket"),
    "behind a dash": ("id: a # rubric-lint: ignore[weight] - from the course", "id: a # from the course"),
    "behind a reason": ("id: a # rubric-lint: ignore[weight] as agreed  #why", "id: a #why"),
    "of another tool above": ("id: a # noqa # rubric-lint: ignore[weight] # x - y", "id: a # noqa # x - y"),
    "before another ignore comment": (
        "id: a # rubric-lint: ignore[weight] # x # rubric-lint: ignore[levels] # y",
        "id: a # x # y",
    ),
    "none, only a reason": ("id: a # rubric-lint: ignore[weight] as agreed", "id: a"),
    "none, only a dash": ("id: a # rubric-lint: ignore[weight] -", "id: a"),
}


@pytest.mark.parametrize(("before", "after"), REMARKS.values(), ids=REMARKS)
def test_a_remark_of_the_author_stays_when_an_unused_ignore_comment_goes(before, after):
    for end in ("\n", "\r\n"):
        text = f"rubrics:\n- {before}\n  expected_outcome: Names it\n".replace("\n", end)
        assert fix("a.rubric.yaml", text.encode()).text == text.replace(before, after)


def test_a_remark_alone_on_its_line_stays_there():
    text = "rubrics:\n# rubric-lint: ignore[weight] # about a\n- id: a\n  expected_outcome: Names it\n"
    assert fix("a.rubric.yaml", text.encode()).text == text.replace("rubric-lint: ignore[weight] # ", "")


COMMENT = "# rubric-lint: ignore[weight]"
REACH = {  # a text, and where what the comment silences begins and ends
    "its line, behind something": (
        f"rubrics:\n- id: a\n  weight: -1 {COMMENT}\n- id: b\n",
        "  weight",
        "\n- id: b",
    ),
    "the entry below": (f"rubrics:\n- id: x\n{COMMENT}\n- id: a\n  weight:\n- id: b\n", "id: a", "\n- id: b"),
    "an entry whose dash is alone": (
        f"rubrics:\n{COMMENT}\n-\n\n  id: a\n  weight: 1\n- id: b\n",
        "id: a",
        "\n- id: b",
    ),
    "the outermost entry of a line": (
        f"rubrics:\n{COMMENT}\n- - id: a\n  - id: b\n- id: c\n",
        "- id: a",
        "\n- id: c",
    ),
    "an entry on the last line without a line end": (f"rubrics:\n{COMMENT}\n- id: a", "id", None),
    "the whole file": ("# rubric-lint: ignore-file[weight]\nrubrics:\n- id: a\n", "", None),
}


@pytest.mark.parametrize(("text", "first", "last"), REACH.values(), ids=REACH)
def test_a_comment_reaches_from_the_beginning_of_something_to_its_end(text, first, last):
    begin, end = text.index(first), text.index(last) if last else len(text)
    for length in (0, 1, 5):
        assert reach(text, length) == (max(begin - max(length - 1, 0), 0), min(end, len(text) - length))


@pytest.mark.parametrize(
    "text",
    [
        "rubrics:\n- id: a\n  weight: 1\n# rubric-lint: ignore[weight]\n",
        "rubrics:\n- id: a\n  weight: 1\n# rubric-lint: ignore[weight]",
        "rubrics:\n- id: a\n# rubric-lint: ignore[weight]\n\n\n",
        "rubrics:\n- id: |\n   a\n# rubric-lint: ignore[weight]\n  \n",
        "x: [1,\n# rubric-lint: ignore[weight]\n]\nrubrics:\n- id: a\n",
        "rubrics:\n- id: a\n# rubric-lint: ignore[weight]\n...\n",
    ],
)
def test_above_nothing_it_reaches_nothing_but_itself(text):
    start = text.index("# rubric-lint")
    assert reach(text, 1) == (start, text.index("]", start))


def test_of_several_comments_that_reach_a_finding_the_first_one_silences_it():
    text = (
        "# rubric-lint: ignore-file[bounds]\n# rubric-lint: ignore-file[weight, weight]\nrubrics:\n"
        "# rubric-lint: ignore[weight]\n- id: a\n  weight: 1 # rubric-lint: ignore[weight] "
        "# rubric-lint: ignore[bounds]\n"
    )
    source = Source("a.yaml", text)
    ignores = find_ignores(source, read_documents(source)[0])
    at = text.index("weight: 1")
    spans = [Span(at, at + 1), Span(0, 1), Span(at - 9, at + 8), Span(text.index("rubrics"), len(text))]
    findings = [
        Finding(rule, Severity.ERROR, "", span, "") for span in spans for rule in ("weight", "bounds", "overlap")
    ]
    kept, silenced = apply_ignores(ignores, findings)
    assert [finding.rule for finding in kept] == ["overlap"] * 4
    assert {(ignores.index(ignore), rule) for ignore, rule in silenced} == {(0, "bounds"), (1, "weight")}
    inner, silenced = apply_ignores(ignores[2:], findings)
    assert [(finding.rule, finding.span.start) for finding in inner if finding.rule != "overlap"] == [
        ("weight", 0),
        ("bounds", 0),
    ]
    assert [ignores.index(ignore) for ignore, rule in silenced if rule == "weight"] == [2, 2, 2]
    assert [ignores.index(ignore) for ignore, rule in silenced if rule == "bounds"] == [4, 4, 4]


def test_a_comment_that_has_ended_silences_nothing_below():
    text = "".join(f"- id: c{number} # rubric-lint: ignore[weight]\n" for number in range(3)) + "- id: d\n"
    starts = [at for at in range(len(text)) if text.startswith("id:", at)]
    assert [is_silenced(text, at, at + 2) for at in starts] == [True, True, True, False]
    findings = [Finding("weight", Severity.ERROR, "", Span(at, at + 2), "") for at in starts]
    source = Source("a.yaml", text)
    ignores = find_ignores(source, read_documents(source)[0])
    kept, silenced = apply_ignores(ignores, findings)
    assert (len(kept), [ignores.index(ignore) for ignore, _ in silenced]) == (1, [0, 1, 2])


def test_json_has_no_comments():
    source = Source("A.JSON", '{"rubrics": ["# rubric-lint: ignore[weight]"]}')
    assert find_ignores(source, read_documents(source)[0]) == []


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_an_unused_comment_is_removed_with_its_line_end_and_no_more(end):
    text = f"rubrics:\n- {{id: a, expected_outcome: Says why}}\n# rubric-lint: ignore[weight]{end}"
    fixes = [finding.fix for finding in lint("a.yaml", text.encode()).findings]
    assert len(fixes) == 1
    start = text.index("# rubric")
    assert [edit.span for edit in fixes[0].edits] == [(start, len(text) - (end == "\n\n"))]


def name_nearest(above, below):
    """The line that a comment which silences nothing names, with findings so many lines above and below it."""
    lines = ["rubrics:", "- expected_outcome: It is said", *["  # or"] * 20]
    lines[9:11] = "- expected_outcome: It is done", "  id: a # rubric-lint: ignore[weight]"
    lines[10 - above] = lines[10 + below] = "  weight: -1"
    findings = lint("a.yaml", "\n".join(lines).encode()).findings
    (unused,) = [finding for finding in findings if finding.rule == "unused-ignore"]
    return int(unused.values["near"]) - 11 if unused.code == "unused-ignore.too-far" else None


def test_a_comment_that_silences_nothing_names_the_nearest_finding_up_to_five_lines_away():
    places = {(2, 5): -2, (5, 2): 2, (4, 6): -4, (6, 5): 5, (3, 3): -3, (6, 6): None}
    assert {place: name_nearest(*place) for place in places} == places
