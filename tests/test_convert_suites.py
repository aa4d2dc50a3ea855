"""`rubric-lint convert --to` and `rubric-fix --to` a release of AgentV: both commands give one answer."""

import re

import commands
import pytest
from cases import read_cases
from random_documents import Dice
from random_suites import SuiteWriter
from test_migrate_data import name_suite

SUITES = read_cases("agentv_suites")["suites"]
TARGETS = ("agentv-4", "agentv-5")


@pytest.fixture
def run(folder):
    """Writes a file, runs a command on it, and returns the exit code, the content, and what was said of the file."""

    def ran(program, name, text, *options):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        done = commands.run(*program.split(), *options, name)
        lines = [line.removeprefix("rubric-lint: ") for line in (*done.stdout.splitlines(), *done.stderr.splitlines())]
        said = [line for line in lines if line.startswith(f"{name}:") and not re.match(r"[^ ]+: fixed \d", line)]
        return done.returncode, path.read_bytes().decode() if "fix" in program else done.stdout, said

    return ran


def assert_one_answer(run, name, text, target):
    code, fixed, said = run("rubric-lint fix", name, text, "--to", target)
    converted = run("rubric-lint convert", name, text, "--to", target)
    if converted[1]:
        assert converted == (code, fixed, said)
    else:
        assert (converted[0], converted[2], code > 0) == (code, said, True)
    return converted


@pytest.mark.spread(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", SUITES)
def test_both_commands_give_one_answer(run, kind, target):
    assert_one_answer(run, name_suite(SUITES[kind]), SUITES[kind], target)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_both_commands_give_one_answer_for_random_suites(run, target):
    written = 0
    for seed in range(60):
        _, text, _ = assert_one_answer(run, *SuiteWriter(Dice(seed)).write(), target)
        written += text != ""
    assert written > 5
