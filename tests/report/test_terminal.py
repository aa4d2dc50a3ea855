import itertools
import os
import re
import sys

import commands
import pytest
from cases import read_cases

from rubric_lint.cli.output import wants_color
from rubric_lint.report.terminal import reflow
from rubric_lint.rules import RULES

TABLES = read_cases(__file__)

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")


class Output:
    """Stands for standard output."""

    def __init__(self, *, is_terminal):
        self.isatty = lambda: is_terminal


@pytest.fixture
def wants(monkeypatch):
    """Whether `auto` colours, with these variables and no others."""

    def ask(variables, *, on_terminal, choice="auto"):
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdout", Output(is_terminal=on_terminal))
        return wants_color(choice)

    return ask


# no-color.org, bixense.com/clicolors, force-color.org; for FORCE_COLOR=0 and false, Node.js
@pytest.mark.parametrize(("variables", "on_terminal", "in_pipe"), TABLES["variables"], ids=str)
def test_variables_decide_about_colour_as_their_conventions_say(wants, variables, on_terminal, in_pipe):
    assert (wants(variables, on_terminal=True), wants(variables, on_terminal=False)) == (on_terminal, in_pipe)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"FORCE_COLOR": "0"}], ids=str)
def test_the_option_outweighs_every_variable(wants, variables):
    asked = [wants(variables, on_terminal=True, choice=choice) for choice in ("always", "never")]
    assert asked == [True, False]


UNSET = None
VALUES = {
    "NO_COLOR": (UNSET, "", "0", "1"),
    "FORCE_COLOR": (UNSET, "", "0", "1", "false"),
    "CLICOLOR_FORCE": (UNSET, "", "0", "1"),
    "CLICOLOR": (UNSET, "", "0", "1"),
    "TERM": ("xterm", "dumb"),
}
DECIDING = [
    ("NO_COLOR", {"0", "1"}, False),  # no-color.org: "when present and not an empty string (regardless of its value)"
    ("FORCE_COLOR", {"0", "false"}, False),  # Node.js; force-color.org says that any value forces
    ("FORCE_COLOR", {"1"}, True),
    ("CLICOLOR_FORCE", {"1"}, True),  # bixense.com/clicolors: set; its first version and CMake except 0
]
"""What decides in a pipe and on a terminal alike, the strongest first. The rest decides only on a terminal."""


def test_every_combination_of_variables_follows_the_strongest(wants):
    wrong = []
    for values in itertools.product(*VALUES.values()):
        variables = {name: value for name, value in zip(VALUES, values, strict=True) if value is not UNSET}
        decided = [is_on for name, deciding, is_on in DECIDING if variables.get(name) in deciding]
        on_terminal = variables["TERM"] != "dumb" and variables.get("CLICOLOR") != "0"
        expected = (decided[0], decided[0]) if decided else (on_terminal, False)
        if (wants(variables, on_terminal=True), wants(variables, on_terminal=False)) != expected:
            wrong.append(variables)
    assert wrong == []


OLD = "rubrics:\n  - id: a\n    description: Names the window\n"
COLORED = TABLES["COLORED"]
"""Whether a call uses color when it is forced: help, usage errors and output for programs never do."""


@pytest.mark.parametrize("line", COLORED)
def test_the_variables_mean_the_same_to_every_program(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.yaml").write_text(OLD, "utf-8")
    (tmp_path / "new.yaml").write_text(OLD.replace("description: Names", "expected_outcome: States"), "utf-8")
    (tmp_path / "out.jsonl").write_text('{"checks": [{"id": "a", "satisfied": true}]}\n', "utf-8")
    program, *args = line.split()

    def is_colored(**variables):
        done = commands.run(program, *args, env={**os.environ, **variables})
        assert done.stdout + done.stderr
        return "\x1b[" in done.stdout + done.stderr

    asked = ({"FORCE_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}, {"FORCE_COLOR": "0", "CLICOLOR_FORCE": "1"})
    more = ({"FORCE_COLOR": "1", "NO_COLOR": "0"}, {"CLICOLOR_FORCE": "0"}, {})
    colored = COLORED[line]
    assert [is_colored(**each) for each in (*asked, *more)] == [colored, colored, False, False, False, False]


CODE = re.compile(r"(?ms)^```.*?^```$")


@pytest.mark.parametrize("room", [20, 40, 80, 200])
def test_a_page_is_broken_at_any_width_between_words_and_never_in_code(room):
    for rule in RULES:
        page = reflow(rule.page, room)
        assert (page.split(), CODE.findall(page)) == (rule.page.split(), CODE.findall(rule.page))
        prose = [line for line in CODE.sub("", page).splitlines() if not line.startswith(("#", "|"))]
        assert [line for line in prose if len(line) > room and " " in line.removeprefix("- ").strip()] == []
