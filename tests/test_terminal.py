import sys

import pytest

from rubric_lint.cli.terminal import wants_color

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
@pytest.mark.parametrize(
    ("variables", "on_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": "0"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"CLICOLOR": "1"}, True, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"CLICOLOR": ""}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"CLICOLOR_FORCE": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "3"}, True, True),
        ({"FORCE_COLOR": "true"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "false"}, False, False),
        ({"FORCE_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
        ({"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, True, True),
        ({"FORCE_COLOR": "0", "CLICOLOR_FORCE": "1"}, False, False),
        ({"FORCE_COLOR": "1", "CLICOLOR": "0"}, True, True),
    ],
    ids=str,
)
def test_h10_variables_decide_about_colour_as_their_conventions_say(wants, variables, on_terminal, in_pipe):
    assert (wants(variables, on_terminal=True), wants(variables, on_terminal=False)) == (on_terminal, in_pipe)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}, {"FORCE_COLOR": "0"}], ids=str)
def test_the_option_outweighs_every_variable(wants, variables):
    asked = [wants(variables, on_terminal=True, choice=choice) for choice in ("always", "never")]
    assert asked == [True, False]
