"""A record that says why it has no output keeps that reason in every command that reads records."""

import json
from pathlib import Path

import commands
import pytest

from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.streams import StreamOptions

RUBRIC = """\
rubrics:
  - {id: cause, expected_outcome: Names the cause of the fault}
"""
TWO = "tests:\n  - {id: one, rubrics: [Is short]}\n  - {id: two, rubrics: [Is kind]}\n"
GIVEN = {"checks": [{"id": "cause", "satisfied": True}]}
RECORDS = {
    "a text": {"error": "content filter"},
    "an object": {"error": {"message": "too many requests", "code": "429"}},
    "a list": {"error": ["one", "two"]},
    "null beside": {"output": None, "error": "timed out"},
    "blank beside": {"output": "", "error": "overloaded"},
    "its end": {"output": None, "finish_reason": "content_filter"},
    "a refusal": {"output": "", "refusal": "I cannot judge this."},
    "no output at all": {"finish_reason": "length"},
    "of a judge run": {"output": "", "judge": {"fault": "HTTP 500"}},
    "a column without a value": {"cause": None, "error": "quota exceeded"},
}
REASONS = [
    "content filter",
    "too many requests",
    '["one", "two"]',
    "timed out",
    "overloaded",
    "a content filter withheld the output",
    "the model refused: I cannot judge this.",
    "the output was cut off at the token limit",
    "HTTP 500",
    "quota exceeded",
]


@pytest.fixture(autouse=True)
def files(folder):
    """Records without an output, and one with it; labels and answers of all of them."""
    rows = [{"id": name, **record} for name, record in RECORDS.items()] + [{"id": "fine", "output": GIVEN}]
    texts = {
        "r.rubric.yaml": [RUBRIC],
        "two.yaml": [TWO],
        "out.jsonl": [f"{json.dumps(row)}\n" for row in rows],
        "labels.jsonl": [f'{{"id": "{row["id"]}", "rater": "ann", "cause": true}}\n' for row in rows],
        "answers.jsonl": [f'{{"id": "{row["id"]}", "answer": "So."}}\n' for row in rows],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(lines), "utf-8")


def find(text):
    """The reasons that stand in a text, in which JSON, CSV or HTML may have escaped quotes."""
    for escaped in ('\\\\\\"', '\\"', '""', "&quot;", "\\u0022"):
        text = text.replace(escaped, '"')
    words = " ".join(text.split())
    return [reason for reason in REASONS if reason in words]


@pytest.mark.parametrize(
    "command",
    [
        "score r.rubric.yaml out.jsonl --format table",
        "score r.rubric.yaml out.jsonl --format jsonl",
        "score r.rubric.yaml out.jsonl --format json",
        "score r.rubric.yaml out.jsonl --compact",
        "score r.rubric.yaml out.jsonl --compare out.jsonl --format json",
        "agree r.rubric.yaml out.jsonl --labels labels.jsonl",
        "agree r.rubric.yaml out.jsonl --labels labels.jsonl --format json",
        "assess r.rubric.yaml answers.jsonl --results out.jsonl --labels labels.jsonl --format json",
        "score two.yaml out.jsonl --compact",
        "diff r.rubric.yaml r.rubric.yaml --outputs out.jsonl --format json",
    ],
)
def test_each_command_repeats_the_reason(command):
    done = commands.run("rubric-lint", *command.split())
    assert find(done.stdout + done.stderr) == REASONS


@pytest.mark.parametrize("name", ["all.csv", "all.jsonl"])
def test_results_that_are_scored_again_keep_the_reason(name):
    commands.run("rubric-lint", "score", "r.rubric.yaml", "out.jsonl", "-o", name)
    assert find(Path(name).read_text("utf-8")) == REASONS
    again = commands.run("rubric-lint", "score", "r.rubric.yaml", name, "--compact")
    assert find(again.stdout) == REASONS
    assert "no score: no score" not in again.stdout


NOT_JUDGED = {
    "null": {"output": None},
    "an empty text": {"output": ""},
    "blanks": {"output": "  "},
    "no field": {"answer": "So."},
    "an empty list": {"outputs": []},
    "empty cells": {"cause": ""},
    "of another rubric": {"rubric": "old", "output": GIVEN},
}
FAULT = "of a judge run"
NOT_JUDGED.update({name: record for name, record in RECORDS.items() if name != FAULT})
INVALID = {
    FAULT: RECORDS[FAULT],
    "null in a list": {"outputs": [None]},
    "the last of several of a judge run": {"outputs": [GIVEN, ""], "judge": {"fault": "HTTP 500"}},
    "an object": {"output": {}},
    "a text": {"output": "I refuse."},
    "NaN": {"output": {"checks": [{"id": "cause", "satisfied": float("nan")}]}},
}


@pytest.mark.parametrize("form", ["jsonl", "csv", pytest.param("parquet", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("records", "count"), [(NOT_JUDGED, 0), (INVALID, 1)], ids=["not judged", "invalid"])
def test_a_record_is_an_invalid_output_or_none_at_all_also_as_a_result(records, count, form):
    rows = [{"id": name, **record} for name, record in records.items()] + [{"id": "fine", "output": GIVEN}]
    Path("out.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    commands.run("rubric-lint", "score", "r.rubric.yaml", "out.jsonl", "-o", f"all.{form}")
    for name in ("out.jsonl", f"all.{form}"):
        reader = RatingReader(load_rubrics("r.rubric.yaml", RUBRIC))
        with Path(name).open("rb") as file:
            reader.read(name, [file.read()], options=StreamOptions(name=name))
        assert [(record.id, record.outputs) for record in reader.invalid] == [(record, count) for record in records]


def test_a_result_without_an_output_keeps_the_texts_of_its_answer():
    """So `assess` knows as much of the answers from results as from the records."""
    texts = {"answer": "So.", "question": "Why?", "judge": {"model": "m"}}
    Path("out.jsonl").write_text(json.dumps({"id": "a", "cause": "", **texts, "error": "timed out"}), "utf-8")
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", "out.jsonl")
    assert {name: value for name, value in json.loads(done.stdout).items() if name not in {"id", "error"}} == texts


@pytest.mark.slow
def test_the_page_has_each_reason():
    commands.run("rubric-lint", "score", "r.rubric.yaml", "out.jsonl", "--report", "page.html", "-q")
    assert find(Path("page.html").read_text("utf-8")) == REASONS
