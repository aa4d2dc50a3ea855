"""The name of an output file chooses the format, and a name that stands for no format is refused before any work."""

import json
from pathlib import Path

import pytest

RUBRIC = "rubrics:\n  - {id: accuracy, expected_outcome: States the period}\n"
RESULT = '{"id": "a", "output": {"accuracy": true}}\n'
LABEL = '{"id": "a", "rater": "ann", "output": {"accuracy": true}}\n'
DIFF = ("diff", "a.rubric.yaml", "b.rubric.yaml")
AGREE = ("agree", "a.rubric.yaml", "r.jsonl", "--labels", "l.jsonl")


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "a.rubric.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "b.rubric.yaml").write_text(RUBRIC.replace("period", "date"), "utf-8")
    (tmp_path / "r.jsonl").write_text(RESULT, "utf-8")
    (tmp_path / "l.jsonl").write_text(LABEL, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("call", "endings"),
    [
        (("check", "a.rubric.yaml"), ".json, .sarif, .xml or .txt"),
        (("show", "a.rubric.yaml"), ".json or .txt"),
        (DIFF, ".json, .md or .txt"),
        (AGREE, ".json or .txt"),
        (("assess", "a.rubric.yaml", "r.jsonl"), ".json, .md, .markdown or .txt"),
        (("convert", "a.rubric.yaml"), ".yaml, .yml, .csv, .md or .xlsx"),
    ],
)
def test_an_unknown_ending_is_an_error_that_lists_the_endings(call, endings, program, files):
    before = sorted(files.iterdir())
    code, output, errors = program(*call, "-o", "x.foo")
    assert (code, output, f"unknown ending .foo; expected {endings}" in " ".join(errors.split())) == (2, "", True)
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("call", [("check", "a.rubric.yaml"), ("show", "a.rubric.yaml"), DIFF, AGREE])
def test_the_ending_chooses_the_format_and_an_option_overrules_it(call, program, files):
    program(*call, "-o", "x.json")
    assert json.loads((files / "x.json").read_text("utf-8"))
    printed = program(*call, "--format", "json")[1]
    assert json.loads(printed) == json.loads((files / "x.json").read_text("utf-8"))
    program(*call, "--format", "json", "-o", "x.foo")
    assert json.loads((files / "x.foo").read_text("utf-8")) == json.loads(printed)
    assert program(*call, "-o", "-")[1] == program(*call)[1]


@pytest.mark.parametrize(("call", "name"), [(("show", "."), "a.rubric.yaml"), (AGREE, "l.jsonl")])
def test_a_report_never_replaces_what_it_was_read_from(call, name, program, files):
    before = Path(files, name).read_bytes()
    code, _, errors = program(*call, "--format", "json", "-o", name)
    assert (code, "--output is the input file" in errors, Path(files, name).read_bytes()) == (2, True, before)


@pytest.mark.parametrize("call", [("score", "a.rubric.yaml", "r.jsonl"), AGREE])
def test_a_mapping_of_an_unknown_field_lists_the_fields(call, program):
    code, output, errors = program(*call, "--map", "zone=tone")
    told = " ".join(errors.split())
    assert (code, output, "unknown field `zone`" in told) == (2, "", True)
    assert ["`id`" in told, "`rater`" in told, "`accuracy`" in told] == [True, True, True]


def test_a_prompt_and_requests_are_written_to_a_file(program, files):
    (files / "answers.jsonl").write_text('{"id": "a", "answer": "Thirty days."}\n', "utf-8")
    one = ("prompt", "a.rubric.yaml", "--answer", "Thirty days.")
    many = ("prompt", "a.rubric.yaml", "--answers", "answers.jsonl", "--model", "m")
    for call, name, printed in (
        (one, "p.txt", one),
        (one, "p.json", (*one, "--format", "messages")),
        (many, "p.jsonl", many),
    ):
        assert program(*call, "-o", name) == (0, "", "")
        assert (files / name).read_text("utf-8") == program(*printed)[1] != ""
    assert program(*many, "-o", "p.json")[0] == 2
    assert program("prompt", "a.rubric.yaml", "-o", "p.txt")[0] == 2
    assert (files / "p.txt").read_text("utf-8") == program(*one)[1]
