"""The report for coding agents: what its lines say, whether an agent can apply them, and when it is chosen."""

import itertools
import json
import os
import re
from pathlib import Path

import commands
import pytest
from lint_command import BAD, COUNTED, DESCRIPTION, FIXABLE, OLD, OVERLAP, call, on_terminal

import rubric_lint
from rubric_lint.cli.output import AGENTS, CI, find_agent
from rubric_lint.lint.run.summary import Summary
from rubric_lint.report import REPORTERS, Style
from rubric_lint.source.source import Source

LINES = (
    OVERLAP[:-1]
    + ' [choice upper-keeps: end [0, 5] at 4: replace "5" at 4:26-4:27 with "4"]'
    + ' [choice lower-keeps: start [5, 7] at 6: replace "5" at 6:23-6:24 with "6"]\n'
    + DESCRIPTION[:-1]
    + " [safe fix: rename `description` to `expected_outcome`: "
    + 'replace "description" at 3:5-3:16 with "expected_outcome"]\n'
)
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(folder):
    (folder / "bad.yaml").write_text(BAD, "utf-8")
    (folder / "old.yaml").write_text(OLD, "utf-8")


def report(name, text):
    """The lines of a file, without the summary."""
    result = rubric_lint.lint_source(name, text)
    pieces = []
    reporter = REPORTERS["agent"](pieces.append, Style(quiet=True, color=True))
    reporter.add(result)
    reporter.end(Summary.of(result))
    return "".join(pieces)


def test_a_line_a_finding_with_its_edit_and_the_summary():
    assert call("--format=agent", "--color=always") == (
        LINES + COUNTED.replace("3 ", "2 ").replace("4 criteria", "3 criteria") + FIXABLE,
        "",
        1,
    )


EDIT = re.compile(
    r'(?:replace|delete) (?P<old>"(?:[^"\\]|\\.)*") at (?P<from>\d+:\d+)-(?P<to>\d+:\d+)'
    r'(?: with (?P<new>"(?:[^"\\]|\\.)*"))?'
    r'|insert (?P<added>"(?:[^"\\]|\\.)*") at (?P<at>\d+:\d+)'
)


def apply(text, line):
    """Make the edits that a line names, as an agent would that has only the line and the file."""
    source = Source("x", text)
    starts = [0, *itertools.accumulate(len(line) for line in source.text.splitlines(keepends=True))]

    def offset(place):
        row, column = map(int, place.split(":"))
        return starts[row - 1] + column - 1

    for edit in reversed([*EDIT.finditer(line.rpartition(" fix: ")[2])]):
        if edit["at"]:
            at = offset(edit["at"])
            text = text[:at] + json.loads(edit["added"]) + text[at:]
        else:
            start, end = offset(edit["from"]), offset(edit["to"])
            assert text[start:end] == json.loads(edit["old"])
            text = text[:start] + json.loads(edit["new"] or '""') + text[end:]
    return text


PAGES = sorted((ROOT / "rubric_lint/rules").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_edits_of_a_line_are_those_of_the_fix(page):
    for number, block in enumerate(
        re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ):
        result = rubric_lint.lint_source("a.yaml", block)
        lines = report("a.yaml", block).splitlines()
        assert len(lines) == len(result.findings), number
        for whole, finding in zip(lines, result.findings, strict=True):
            line, *choices = whole.split(" [choice ")
            assert [choice.partition(": ")[0] for choice in choices] == [choice.choice for choice in finding.choices]
            assert (" fix: " in line) == (finding.fix is not None)
            if finding.fix and "characters of edits;" not in line:
                expected = block
                for edit in reversed(finding.fix.edits):
                    expected = expected[: edit.span.start] + edit.text + expected[edit.span.end :]
                assert apply(block, line) == expected
                assert (" [safe fix: " in line) == finding.fix.safe


def test_edits_that_are_too_long_for_a_line_name_the_command_that_makes_them():
    long = "x" * 300
    text = f"rubrics:\n- id: a\n  score_ranges:\n  - score_range: [5, 10]\n    description: {long}\n"
    text += f"  - score_range: [0, 4]\n    expected_outcome: {long}\n"
    moved = [line for line in report("a.yaml", text).splitlines() if "characters of edits" in line]
    assert [line.partition(" [")[2] for line in moved if "order" in line] != []
    for line in moved:
        assert re.search(
            r": \d+ characters of edits; `rubric-lint fix a.yaml(?: --unsafe-fixes| --choose [a-z,-]+)?` makes them, ",
            line,
        )


@pytest.mark.parametrize("text", ["a\\nb", "a\\u202eb", "::error::x", "##[error]x", "a\\u2028b", 'say \\"hi\\"'])
def test_a_hostile_text_stays_in_its_line(text):
    source = f'rubrics:\n- id: "{text}"\n  description: "{text}"\n  "{text}": 1\n'
    lines = report("a\n::b.yaml", source).split("\n")
    assert all(line.startswith(r"a\n::b.yaml:") for line in lines[:-1])
    assert lines[-1] == ""
    assert "##[" not in "".join(lines)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", "\n".join(lines))


@pytest.mark.parametrize("variable", ["CLAUDECODE", "AGENT"])
def test_it_is_chosen_where_a_variable_names_an_agent(variable):
    assert call("-q", **{variable: "1"})[0] == LINES


@pytest.mark.parametrize(
    ("args", "environment", "begins"),
    [
        ([], {"CLAUDECODE": "0"}, "error overlap: "),
        ([], {"CLAUDECODE": ""}, "error overlap: "),
        (["--format=full"], {"CLAUDECODE": "1"}, "error overlap: "),
        (["--format=json"], {"CLAUDECODE": "1"}, '{"version": 1,'),
        (["--statistics"], {"CLAUDECODE": "1"}, "1 warning deprecated-description\n1 error   overlap"),
        (["--output=x"], {"CLAUDECODE": "1"}, "Found 1 error"),
        ([], {"CLAUDECODE": "1", "GITHUB_ACTIONS": "true"}, "::error file=bad.yaml,"),
        *[([], {"CLAUDECODE": "1", name: "true"}, "error overlap: ") for name in CI[2:3]],
        ([], {"CLAUDECODE": "1", "CI": "1"}, "error overlap: "),
    ],
)
def test_it_is_not_chosen_in_ci_or_where_another_is_asked_for(args, environment, begins):
    out = call(*args, **environment)[0]
    assert out.startswith(begins)
    assert " [safe fix: " not in out


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_it_is_not_chosen_on_a_terminal():
    written, _ = on_terminal(commands.command("rubric-lint", "-q", "bad.yaml"), CLAUDECODE="1")
    assert "\x1b[1mbad.yaml:6:22\x1b[0m" in written


def test_an_agent_that_names_itself_comes_before_the_general_variable():
    variables = {variable: agent.name for agent in AGENTS for variable in agent.variables}
    assert {variable: find_agent({variable: "1"}).name for variable in variables} == variables
    assert {find_agent({**dict.fromkeys(variables, "1"), name: "true"}) for name in CI} == {None}
    assert find_agent({"AI_AGENT": "x", "CURSOR_AGENT": "1"}).name == "cursor"
    assert find_agent({"AI_AGENT": "x"}).name == "any"
    assert find_agent({"CLAUDECODE": "1", "CI": "true"}) is None
    assert find_agent({}) is None
