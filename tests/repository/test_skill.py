"""The skill for coding agents: what it names exists, its examples are clean, and it is installed where agents look."""

import itertools
import json
import re
import shlex
from pathlib import Path

import click
import commands
import pytest
from lint_command import call

import rubric_lint
from rubric_lint.cli.lint.lint import cli
from rubric_lint.rules import BY_NAME

pytestmark = pytest.mark.usefixtures("folder")

SKILL = Path(__file__).parents[2] / "skills/rubric-lint/SKILL.md"
TEXT = SKILL.read_text("utf-8")
COMMANDS = [line for line in re.findall(r"`([^`\n]+)`", TEXT) if line.startswith("rubric-lint ")]
YAML = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
INSTALLED = "rubric-lint/SKILL.md"


def fields():
    """The front matter, whose values are plain scalars."""
    head = TEXT.split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def test_the_front_matter_is_that_of_agent_skills():
    # https://agentskills.io/specification
    assert fields().keys() == {"name", "description", "license", "compatibility"}
    assert fields()["name"] == SKILL.parent.name == "rubric-lint"
    assert len(fields()["description"]) <= 1024
    assert len(fields()["compatibility"]) <= 500
    assert not re.search(r": | #", "".join(fields().values()))


def test_it_is_short():
    assert len(TEXT.splitlines()) < 200
    assert max(map(len, TEXT.split("```json")[0].splitlines()[4:])) <= 140


def find_command(words):
    """The command that words call, and what is left of them."""
    command, words = cli, words[1:]
    while isinstance(command, click.Group) and words:
        context = click.Context(command, **command.context_settings)
        found = command.get_command(context, words[0])
        if found is None:
            return getattr(command, "default", command), words
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_and_flag_is_in_the_help(line):
    called = shlex.split(line)
    command, words = find_command(called)
    help_text = commands.run(*called[: len(called) - len(words)], "--help", "--all").stdout
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    assert [flag for flag in flags if not re.search(rf"{re.escape(flag)}(?![\w-])", help_text)] == []
    values = dict(itertools.pairwise(words))
    for param in command.params:
        for flag in set(param.opts) & values.keys():
            if isinstance(param.type, click.Choice):
                assert values[flag] in param.type.choices
    assert command.name != "explain" or {*words} <= {*BY_NAME}


def test_all_commands_are_looked_at():
    assert len(COMMANDS) > 5
    assert {line.split()[0] for line in re.findall(r"^\s*\$? ?(rubric-\S+ .*)$", TEXT, re.MULTILINE)} == set()


@pytest.mark.parametrize("text", YAML)
def test_each_example_is_clean(text):
    result = rubric_lint.lint_source("example.rubric.yaml", text)
    assert (result.rubrics, result.findings) == (1, ())


def test_the_example_outputs_are_those_of_the_first_example():
    rubric = rubric_lint.load_rubrics("support.rubric.yaml", YAML[0])["support"]
    outputs = re.search(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[1]
    records = [json.loads(line) for line in outputs.splitlines()]
    verdicts = {record["id"]: str(rubric_lint.score(rubric, record["output"]).verdict) for record in records}
    assert verdicts == {"good": "pass", "no-period": "fail"}


def found(text):
    return [finding.rule for finding in rubric_lint.lint_source("a.rubric.yaml", text).findings]


def test_the_bad_wording_is_what_lint_finds_unless_a_comment_silences_it_and_the_good_is_not():
    rows = re.search(r"\| not \|.*\n\|.*\n((?:\|.*\n)+)", TEXT)[1].splitlines()
    for bad, good in (row.strip("| ").split(" | ") for row in rows):
        assert found(json.dumps({"rubrics": [bad, good]})) == ["vague-outcome"]
    comment = re.search(r"`(# rubric-lint: ignore\[.*?)`", TEXT)[1]
    text = "rubrics:\n{}  - id: a\n    expected_outcome: Good\n"
    assert (found(text.format("")), found(text.format(f"  {comment}\n"))) == (["vague-outcome"], [])


def test_it_is_printed_and_found():
    assert call("skill", "print") == (TEXT, "", 0)
    assert Path(call("skill", "path")[0].strip()).read_text("utf-8") == TEXT


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_it_is_installed_where_an_agent_looks(agent, said):
    place = Path(".claude/skills" if agent == "claude" else ".agents/skills", INSTALLED)
    assert call("skill", "install", "--agent", agent) == ("", f"Wrote {place}.\n", 0)
    assert place.read_text("utf-8") == TEXT
    out, told, code = call("skill", "install", "--agent", agent)
    assert (out, code) == ("", 0)
    said(told)


def test_the_agent_that_runs_it_is_known_and_others_share_a_folder():
    assert call("skill", "install", CLAUDECODE="1")[1] == f"Wrote .claude/skills/{INSTALLED}.\n"
    assert call("skill", "install", CLAUDECODE="0")[1] == f"Wrote .agents/skills/{INSTALLED}.\n"
    assert call("skill", "install", "--to", "here", CLAUDECODE="1")[1] == f"Wrote here/{INSTALLED}.\n"


def test_a_changed_skill_is_overwritten_only_when_asked(said):
    place = Path("here", INSTALLED)
    place.parent.mkdir(parents=True)
    place.write_text("mine", "utf-8")
    out, told, code = call("skill", "install", "--to", "here")
    said(told.splitlines()[-1])
    assert (out, code, place.read_text("utf-8")) == ("", 2, "mine")
    assert call("skill", "install", "--to", "here", "--force") == ("", f"Wrote {place}.\n", 0)
    assert place.read_text("utf-8") == TEXT


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--agent", "claude", "--to", "x"), "--agent cannot be combined with --to; each names a folder"),
        (("--to", ""), "--to is empty; name a file"),
        (("--to", "file"), "cannot write file/rubric-lint/SKILL.md: Not a directory"),
    ],
)
def test_wrong_use(given, told):
    Path("file").write_text("", "utf-8")
    assert call("skill", "install", *given)[1].splitlines()[-1] == f"Error: {told}"


def test_an_empty_agent_is_none():
    assert call("skill", "install", "--agent", "", CLAUDECODE="0")[1] == f"Wrote .agents/skills/{INSTALLED}.\n"
