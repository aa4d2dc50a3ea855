"""A rubric, answers to judge with it, and `rubric-score` judging them by a server of the test."""

import json
import os
import subprocess

import commands
import pytest
from chat_server import completion, without_scores

KEY = "sk-secret-0123456789"


RUBRIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Contradicts the source.}
  - {score_range: [5, 10], expected_outcome: Agrees with the source in every statement.}
"""


SUITE = """\
tests:
  - {id: first, rubrics: [Names the year]}
  - {id: second, rubrics: [Names the place]}
"""


SCORED = completion('{"reasoning": "Right.", "score": 8}')


@pytest.fixture
def folder(folder, monkeypatch):
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(folder / "cache"))
    (folder / "a.rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    write_answers(folder, 3)
    return folder


def write_answers(folder, count):
    lines = (json.dumps({"id": f"a{number}", "answer": f"Answer {number}."}) + "\n" for number in range(count))
    (folder / "answers.jsonl").write_text("".join(lines), encoding="utf-8")


def run(*arguments, text="", **environment):
    """Run `rubric-score`: exit code, standard output, standard error."""
    done = commands.run("rubric-score", *arguments, stdin=text, env={**os.environ, **environment})
    return done.returncode, done.stdout, without_scores(commands.complaint(done))


def judge(server, *arguments, model="judge-1", **environment):
    options = ["--model", model, "--base-url", server.url, *arguments]
    return run("judge", "a.rubric.yaml", "answers.jsonl", *options, **{"OPENAI_API_KEY": KEY, **environment})


def ids(path):
    return sorted(json.loads(line)["id"] for line in path.read_text("utf-8").splitlines())


def start(server, *arguments, answers="answers.jsonl", output=("--output", "results.jsonl"), code="", **streams):
    """Start a run; `code` is what the program does before."""
    options = ["--model", "judge-1", "--base-url", server.url, "--concurrency", "3", *output]
    command = commands.command("rubric-score", "judge", "a.rubric.yaml", answers, *options, *arguments, before=code)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen(command, env={**os.environ, "OPENAI_API_KEY": KEY}, text=True, **pipes)
