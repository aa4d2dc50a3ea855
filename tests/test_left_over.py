"""What a file of another system says beside its rubrics goes to the target, or is listed with its place."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from rubric_lint.cli.lint.convert import convert
from rubric_lint.dialects import DIALECTS

SAMPLES = YAML(typ="safe").load((Path(__file__).parent / "data/left_over.yaml").read_text("utf-8"))
SUITES = {name for name in DIALECTS if name.startswith("agentv")} | {"promptfoo"}  # see test_carried_suites.py


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Writes a file, converts it, and returns the exit code, what was written, and the lines that were said."""
    monkeypatch.chdir(tmp_path)

    def converted(name, text, target, *options):
        Path(name).write_text(text, "utf-8")
        done = CliRunner().invoke(convert, [name, "--to", target, *options], standalone_mode=False)
        said = [line.removeprefix("rubric-lint: ").removeprefix(f"{name}:") for line in done.stderr.splitlines()]
        return done.return_value or 0, done.stdout, said

    return converted


def test_every_dialect_has_a_sample():
    assert set(DIALECTS) - SUITES <= SAMPLES.keys()


@pytest.mark.parametrize("target", ["rubric", "promptfoo", "agentv-5"])
@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_beside_the_rubrics_is_carried_or_listed(run, name, target):
    sample = SAMPLES[name]
    code, written, said = run(sample["file"], sample["text"], target)
    is_refused = any("is never converted to a different shape" in line for line in sample[target])
    assert (code, bool(written), said) == (int(is_refused), not is_refused, sample[target])


def cases(name):
    """The cases of a sample as a suite of each target has them, without their rubrics."""
    return {
        "pydantic-evals": [
            {"id": "capital", "input": "What is the capital of France?", "expected_output": "Paris"},
            {"id": "river", "input": "Which river crosses it?"},
        ],
        "rar": [
            {"id": "7", "input": "Which dose?", "expected_output": "5 mg"},
            {"id": "8", "input": "When?", "expected_output": "At noon"},
        ],
        "healthbench": [
            {"id": "p1", "input": [{"role": "user", "content": "Dose?"}]},
            {"id": "p2", "input": [{"role": "user", "content": "When?"}]},
        ],
        "requirement": [{"id": "r", "input": "Write an essay"}],
    }[name]


@pytest.mark.parametrize("name", ["pydantic-evals", "rar", "healthbench", "requirement"])
def test_questions_and_references_are_those_of_the_cases(run, name):
    sample = SAMPLES[name]
    ours = YAML(typ="safe").load(run(sample["file"], sample["text"], "rubric")[1])["tests"]
    known = [{key: case[key] for key in ("id", "input", "expected_output") if key in case} for case in ours]
    assert known == cases(name)
    theirs = YAML(typ="safe").load(run(sample["file"], sample["text"], "agentv-5")[1])["tests"]
    assert [{"id": case["id"], **case["vars"]} for case in theirs] == cases(name)
    assert all("assert" in case for case, own in zip(theirs, ours, strict=True) if "rubrics" in own)


def test_the_metadata_of_a_case_is_carried(run):
    sample = SAMPLES["pydantic-evals"]
    for target in ("rubric", "agentv-4", "agentv-5", "promptfoo"):
        first = YAML(typ="safe").load(run(sample["file"], sample["text"], target)[1])["tests"][0]
        assert first["metadata"] == {"difficulty": "easy"}


def test_the_question_goes_where_a_target_has_nothing_else_of_a_case(run):
    sample = SAMPLES["pydantic-evals"]
    code, written, said = run(sample["file"], sample["text"], "pydantic-evals")
    assert (code, YAML(typ="safe").load(written)["cases"][0]["inputs"]) == (0, "What is the capital of France?")
    assert [line for line in said if "inputs" in line and "4:" in line] == []


def test_a_text_that_agentv_would_fill_in_is_listed(run):
    row = {"question": "What is ${{ HOME }}?", "rubric": [{"title": "a", "description": "Essential: b", "weight": 1}]}
    _, written, said = run("rows.json", json.dumps(row), "agentv-4")
    assert (YAML(typ="safe").load(written)["tests"][0]["input"], "1:14: lost: `question`" in "".join(said)) == (
        "",
        True,
    )


def test_many_records_and_fields_are_counted(run):
    record = '{"prompt_id": "%d", "mark": 1, "rubrics": [{"criterion": "Names %d", "points": 5, "tags": []}]}\n'
    _, _, said = run("hb.jsonl", "".join(record % (number, number) for number in range(30)), "rubric")
    lines = ", ".join(map(str, range(2, 22)))
    assert f"1:28: lost: `mark`: rubric-lint has no field for it (also in lines {lines} and 9 more)" in said
    fields = "".join(f"field{number}: 1\n" for number in range(150))
    _, _, said = run("r.yaml", f"{fields}rubrics: [{{id: a, expected_outcome: Says why}}]\n", "rubric")
    assert (len(said), said[-1]) == (101, "101:11: lost: 50 more fields and items from here on, which are not listed")


def test_a_threshold_is_listed_once_for_confident_ai(run):
    sample = SAMPLES["deepeval-data"]
    _, _, said = run(sample["file"], sample["text"], "deepeval-json")
    told = "6:16: lost: the threshold of each metric (tone 0.7): set it where the metric is used"
    assert [line for line in said if "threshold" in line] == [told]


def test_what_is_left_over_is_a_loss_for_strict(run):
    code, written, said = run("r.yaml", "notes: [x]\nrubrics: [{id: a, expected_outcome: Why}]\n", "rubric", "--strict")
    assert (code, written, said) == (
        1,
        "",
        ["1:8: lost: `notes`: rubric-lint has no field for it", "nothing was written: --strict allows no losses"],
    )
