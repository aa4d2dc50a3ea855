import re

import pytest

from rubric_lint.lint.engine import Result
from rubric_lint.lint.run.summary import Summary
from rubric_lint.model.finding import Finding, Related, Severity
from rubric_lint.model.messages import visible
from rubric_lint.report import REPORTERS, Statistics, Style
from rubric_lint.report.terminal import head, tail, width
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Source, Span


def spans(text, *needles):
    """Where each needle stands, each search starting at the end of the one before."""
    found, at = [], 0
    for needle in needles:
        start = text.index(needle, at)
        at = start + len(needle)
        found.append(Span(start, at))
    return found


def finding(span, message="something is wrong", rule="schema", severity=Severity.ERROR, *, related=(), fix=None):
    return Finding(rule, severity, message, span, "", tuple(related), fix)


def result(text, *findings, name="suite.yaml", ignored=0):
    return Result(Source(name, text), findings, rubrics=1, criteria=2, ignored=ignored)


def render(reporter, *results, **look):
    pieces = []
    report = reporter(pieces.append, Style(**look))
    summary = Summary()
    for result in results:
        report.add(result)
        summary = summary.plus(Summary.of(result))
    report.end(summary)
    return "".join(pieces)


def full(text, *findings, **look):
    """The full report of one file without its summary."""
    return render(REPORTERS["full"], result(text, *findings), quiet=True, **look)


BANDS = """\
rubrics:
  - id: accuracy
    score_ranges:
      - score_range: [0, 4]
        expected_outcome: Wrong.
      - score_range: [3, 6]
        expected_outcome: Partly right.
"""
FIRST, SECOND = spans(BANDS, "[0, 4]", "[3, 6]")
OVERLAP = finding(
    SECOND,
    "scores 3 and 4 are in this band [3, 6] and in [0, 4]",
    "overlap",
    related=[Related("also covers 3 and 4", FIRST)],
)
OLD = "rubrics:\n  - description: x\n"
(DESCRIPTION,) = spans(OLD, "description")
RENAME = finding(
    DESCRIPTION,
    "`description` is the old name of `expected_outcome`",
    "deprecated-description",
    Severity.WARNING,
    fix=Fix("rename `description` to `expected_outcome`", (Edit(DESCRIPTION, "expected_outcome"),), safe=True),
)


def test_concise_and_statistics(said):
    order = finding(FIRST, "bands are not in order", "band-order", Severity.WARNING)
    wrapped = render(REPORTERS["concise"], result(BANDS, LONG), quiet=True, columns=60, wraps=True)
    said(
        render(REPORTERS["concise"], result(BANDS, OVERLAP), result(OLD, RENAME, name="old.yaml")),
        wrapped,
        render(Statistics, result(BANDS, *[OVERLAP] * 10, order, order), result(OLD, RENAME, RENAME)),
        render(Statistics, result(BANDS)),
    )


@pytest.mark.parametrize("reporter", [*REPORTERS.values(), Statistics])
def test_quiet_leaves_the_summary_out(reporter):
    assert "Found" not in render(reporter, result(BANDS, OVERLAP), quiet=True)
    if reporter in (REPORTERS["full"], REPORTERS["concise"], REPORTERS["github"], Statistics):
        assert render(reporter, result(BANDS), quiet=True) == ""


SAME_LINE = "rubrics: [{id: a}, {id: a}, {id: a}]\n"
NINES = "a: 1\n" * 120
WIDE = f"[{'{id: aaaa}, ' * 20}{{idd: b}}{', {id: cccc}' * 20}]"
APART = f"[{{id: a}}{', {id: b}' * 40}, {{id: a}}]"
EXCERPTS = {  # the text, the places and what is said of each, and the columns
    "several places in one line": (SAME_LINE, spans(SAME_LINE, *["{id: a}"] * 3), ("the first", "", "the third"), None),
    "line numbers of different length": (
        NINES,
        [Span(5 * line, 5 * line + 1) for line in (8, 98, 109)],
        ("here", "and here", ""),
        None,
    ),
    "a long line is cut around the place": (WIDE, spans(WIDE, "idd"), ("",), 72),
    "places far apart in a long line": (APART, spans(APART, "{id: a}", "{id: a}"), ("the first", ""), 52),
}


@pytest.mark.parametrize(("text", "places", "labels", "columns"), EXCERPTS.values(), ids=EXCERPTS)
def test_an_excerpt_shows_all_places(text, places, labels, columns, said):
    labelled = dict(zip(labels, places, strict=True))
    related = [Related(label, place) for label, place in labelled.items() if label]
    look = {"columns": columns} if columns else {}
    said(full(text, finding(labelled[""], related=related[::-1]), **look))


MARKED = {  # the text before the place, in it and after it, the place, the line and the mark
    "empty file": ("", "", "", "1:1", "   1 |", "     | ^"),
    "last, empty line": ("a:\n", "", "", "2:1", "   2 |", "     | ^"),
    "end of a line": ("a:", "", "\nb: 1\n", "1:3", "   1 | a:", "     |   ^"),
    "end of the file": ("a: [", "", "", "1:5", "   1 | a: [", "     |     ^"),
    **{
        f"several lines, {name}": (
            f"a: |{end}  ",
            f"one two{end}  three",
            end,
            "2:3",
            "   2 |   one two",
            "     |   ^^^^^^^",
        )
        for name, end in (("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r"))
    },
    "leading tab": ("\tid: ", "a", "", "1:6", "   1 |     id: a", "     |         ^"),
    "tab": ("id: ", "a\tb", "", "1:5", "   1 | id: a    b", "     |     ^^^^^^"),
    "CJK": ("结果: ", "好的", "", "1:5", "   1 | 结果: 好的", "     |       ^^^^"),
    "combining": ("e\u0301: ", "e\u0301a", "", "1:5", "   1 | e\u0301: e\u0301a", "     |    ^^"),
    "emoji": ("👍🏽 👩‍👩‍👧 ❤️: ", "x", "", "1:14", "   1 | 👍🏽 👩‍👩‍👧 ❤️: x", "     |           ^"),
    "Hangul": ("각: ", "x", "", "1:4", "   1 | 각: x", "     |     ^"),
    "escape": ("\x1b[31m: ", "x", "", "1:8", "   1 | \\x1b[31m: x", "     |           ^"),
    "bidirectional": ("a: ", "\u202ex", "", "1:4", "   1 | a: \\u202ex", "     |    ^^^^^^^"),
}


@pytest.mark.parametrize(("before", "marked", "after", "place", "line", "mark"), MARKED.values(), ids=MARKED)
def test_the_mark_is_under_the_text_to_the_end_of_its_first_line(before, marked, after, place, line, mark):
    span = Span(len(before), len(before + marked))
    expected = f"error schema: something is wrong\n    --> suite.yaml:{place}\n{line}\n{mark}\n"
    assert expected == full(before + marked + after, finding(span))


def test_no_row_is_wider_than_asked_for():
    text = "界\t" * 4000
    for at in (0, 1, 10, 3999, 7998):
        rows = full(text, finding(Span(at, at + 1)), columns=80).splitlines()[2:]
        assert [width(row) <= 80 for row in rows] == [True, True]


def test_one_long_line_is_not_read_whole_for_each_finding():
    text = "[" + "{id: 1}," * 500_000 + "]"
    findings = [finding(Span(8 * at + 2, 8 * at + 4)) for at in range(0, 500_000, 500)]
    assert len(full(text, *findings).splitlines()) - 999 == 4000


def test_a_file_cannot_write_escapes_to_the_terminal():
    evil = "\x1b]0;owned\x07\x9b31m\r\n\u2028\u202e\x7f"
    span = Span(0, len(evil))
    fix = Fix(evil, (), safe=True)
    bad = result(evil, finding(span, evil, related=[Related(evil, span)], fix=fix), name=f"{evil}.yaml")
    for reporter in (*REPORTERS.values(), Statistics):
        assert re.findall(r"[^\n -~]", render(reporter, bad)) == []


def test_colour_changes_nothing_but_colour():
    files = [result(BANDS, OVERLAP), result(OLD, RENAME, name="old.yaml")]
    for reporter in (*REPORTERS.values(), Statistics):
        plain = render(reporter, *files)
        assert plain == re.sub(r"\x1b\[[0-9;]*m", "", render(reporter, *files, color=True))
        assert "\x1b" not in plain
    lines = render(REPORTERS["full"], files[1], color=True, quiet=True).splitlines()
    assert lines == [
        "\x1b[33m\x1b[1mwarning\x1b[0m deprecated-description: `description` is the old name of `expected_outcome`",
        "\x1b[34m    --> \x1b[0m\x1b[1mold.yaml:2:5\x1b[0m",
        "\x1b[34m   2 |\x1b[0m   - description: x",
        "\x1b[34m     |\x1b[0m     \x1b[33m\x1b[1m^^^^^^^^^^^\x1b[0m",
        "     \x1b[32m= fix: rename `description` to `expected_outcome`\x1b[0m",
    ]


@pytest.mark.parametrize(
    "summary",
    [
        Summary(),
        Summary(unreadable=1),
        Summary(files=1),
        Summary(files=5, files_with_rubrics=2, rubrics=5, criteria=14),
        Summary(files=1, unread=2, other_kinds=1, excluded_files=2, excluded_folders=1),
        Summary(5, 2, 2, 5, 14, 3, 1, ignored=2, safe_fixes=2, unsafe_fixes=1, unreadable=2, faults=1),
    ],
)
def test_summary(summary, said):
    said(str(summary))


def test_width_and_cuts_count_cells():
    cells = {"abc": 3, "é": 1, "e\u0301": 1, "界": 2, "ｱ": 1, "👍": 2, "👍🏽": 2, "🇩🇪": 2, "1️⃣": 2, "👩‍👩‍👧x": 3}
    assert {text: width(text) for text in cells} == cells
    assert (head("界\t界", 6), tail("界\t界", 7), head("界", 1), tail("abc", 3)) == ("界\t", "\t界", "", "abc")
    seen = "Añ 界 👩‍👩‍👧 क्‍ष می‌خواهم\xa0"
    assert seen == visible(seen)


LONG = OVERLAP._replace(
    message=f"{OVERLAP.message}; a long sentence that says in many words what the author is to do about it"
)


@pytest.mark.parametrize("columns", [60, 81])
def test_a_terminal_gets_lines_that_end_between_words(columns):
    fix = Fix("a longer title of a fix that says what it does to the rubric", (Edit(SECOND, "[5, 6]"),), safe=True)
    wrapped = full(BANDS, LONG._replace(fix=fix), columns=columns, wraps=True)
    assert max(map(width, wrapped.splitlines())) <= columns
    plain = full(BANDS, LONG._replace(fix=fix), columns=columns)
    words = [[word for word in text.split() if word != "|"] for text in (wrapped, plain)]
    assert words[0] == words[1]
    assert plain.splitlines()[0].endswith(LONG.message)


def test_a_label_without_room_beside_its_mark_goes_below_it():
    far = f"rubrics: {' ' * 30}[0, 4]\n"
    (mark,) = spans(far, "[0, 4]")
    about = finding(mark, related=[Related("a label that is longer than the rest of the line", mark)])
    beside, below = (full(far, about, columns=80, wraps=wraps).splitlines() for wraps in (False, True))
    assert any("------ a label" in row for row in beside)
    row = next(row for row in below if "a label that is longer than the rest of the line" in row)
    assert "-" not in row
    assert width(row) <= 80
