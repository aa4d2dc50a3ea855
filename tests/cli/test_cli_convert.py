"""`rubric-lint convert` as it is run: what is written where, what is said, and how it ends."""

import json
from functools import partial

import pytest
from jsonschema import Draft7Validator

from rubric_lint.convert.export import TARGETS
from rubric_lint.model.schema_files import load_bundled

RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 7
    score_ranges: {0: Wrong in its claim, 7: Right in its claim}
"""
LEVELS = """\
rubrics:
  - id: quality
    required_min_level: 2
    levels:
      - {level: 1, expected_outcome: Off topic}
      - {level: 2, expected_outcome: To the point}
"""
SUITE = """\
tests:
  - id: first
    rubrics: [Mentions the pivot]
  - id: second
    rubrics: [Names the cost]
"""
OVERLAPPING = """\
rubrics:
  - {score_range: [0, 5], expected_outcome: Wrong in all}
  - {score_range: [5, 10], expected_outcome: Right in all}
"""
MODELINE = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json\n"


@pytest.fixture
def run(program, tmp_path):
    (tmp_path / "r.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "l.yaml").write_text(LEVELS, "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    return partial(program, "convert")


@pytest.mark.parametrize("target", sorted(set(TARGETS) - {"xlsx"}))
def test_a_rubric_from_stdin_has_the_name_rubric_in_each_target(run, target):
    code, text, said = run("-", "--to", target, stdin=RUBRIC)
    named = run("-", "--to", target, "--stdin-filename", "rubric.yaml", stdin=RUBRIC)
    assert (code, text.replace("<stdin>", "rubric.yaml"), said.replace("<stdin>", "rubric.yaml")) == named


def test_strict_writes_nothing_when_something_would_be_lost(run, tmp_path):
    code, text, said = run("l.yaml", "--to", "ragas", "--strict", "-o", "out.json")
    assert (code, text) == (1, "")
    assert [line.split(": ")[1:3] for line in said.splitlines()[:2]] == [
        ["l.yaml:2:9", "lost"],
        ["l.yaml:3:25", "lost"],
    ]
    assert not (tmp_path / "out.json").exists()


def test_strict_writes_what_loses_nothing(run):
    assert run("l.yaml", "--strict")[0] == 0


def test_a_shape_that_the_target_lacks_is_refused(run, said):
    code, text, errors = run("l.yaml", "--to", "deepeval")
    assert (code, text) == (1, "")
    said(errors)


def test_a_rubric_with_errors_is_refused(run, tmp_path):
    (tmp_path / "bad.yaml").write_text(RUBRIC.replace("7: Right", "11: Right"), "utf-8")
    code, text, said = run("bad.yaml")
    assert (code, text) == (2, "")
    assert said.startswith("rubric-lint: bad.yaml:5:43: bounds: ")


def test_a_fault_that_a_comment_silences_is_refused(run, tmp_path, said):
    (tmp_path / "r.yaml").write_text(f"# rubric-lint: ignore-file[overlap]\n{OVERLAPPING}", "utf-8")
    code, text, errors = run("r.yaml", "--to", "deepeval")
    assert (code, text) == (1, "")
    said(errors)


def test_one_rubric_of_a_suite(run, said):
    assert run("suite.yaml", "--rubric", "second") == (0, MODELINE + "rubrics:\n  - Names the cost\n", "")
    code, text, errors = run("suite.yaml", "--rubric", "secnd")
    assert (code, text) == (2, "")
    said(errors)


def test_standard_input_is_of_the_kind_that_its_name_says(run):
    called = run("-", "--stdin-filename", "x.rubric.json", stdin='{"rubrics": ["Mentions the pivot"]}')
    assert called == (0, MODELINE + "rubrics:\n  - Mentions the pivot\n", "")


def test_a_file_is_written_whole_with_the_mode_of_the_one_before(run, tmp_path):
    out = tmp_path / "ausgabe für alle.yaml"
    assert run("r.yaml", "-o", out.name) == (0, "", "")
    assert out.read_text("utf-8").startswith(MODELINE)
    out.write_text("old", "utf-8")
    out.chmod(0o640)
    assert run("l.yaml", "-o", out.name) == (0, "", "")
    assert "quality" in out.read_text("utf-8")
    assert out.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_a_new_file_has_the_mode_of_any_new_file(run, tmp_path):
    run("r.yaml", "-o", "out.yaml")
    (tmp_path / "plain").touch()
    assert (tmp_path / "out.yaml").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_odd_file_comes_out_as_what_it_says(run, tmp_path):
    text = "\ufeffrubrics:\r\n  - &a {id: \N{GRINNING FACE}, expected_outcome: 'a: #b'}\r\n  - {<<: *a, id: 'yes'}\r\n"
    (tmp_path / "odd.yaml").write_bytes(text.encode())
    written = """\
rubrics:
  - id: \N{GRINNING FACE}
    expected_outcome: 'a: #b'
  - id: "yes"
    expected_outcome: 'a: #b'
"""
    assert run("odd.yaml") == (0, MODELINE + written, "")


def test_half_a_character_is_refused(run, said):
    code, text, errors = run("-", "--stdin-filename", "x.json", "--to", "markdown", stdin='{"rubrics": ["a \\ud800"]}')
    assert (code, text) == (2, "")
    said(errors)


POINTS = """\
{"rubrics": [
  {"criterion": "States the dose", "points": 5, "tags": []},
  {"criterion": "Names a wrong dose", "points": -3, "tags": []}]}
"""
NEUTRAL = {
    "levels": ("l.yaml", LEVELS),
    "a suite": ("suite.yaml", SUITE),
    "points to lose": ("hb.json", POINTS),
    "a negated text": ("p.yaml", "tests: [{assert: [{type: not-llm-rubric, value: Blames the user}]}]\n"),
}


@pytest.mark.parametrize("sample", NEUTRAL)
def test_json_is_what_show_says_of_every_rubric(program, tmp_path, sample):
    name, text = NEUTRAL[sample]
    (tmp_path / name).write_text(text, "utf-8")
    code, written, _ = program("convert", name, "--to", "json")
    assert (code, written) == (0, program("show", name, "--format", "json")[1])
    Draft7Validator(load_bundled("show/v1.json")).validate(json.loads(written))


def test_json_of_one_rubric_of_a_suite(run):
    code, written, lost = run("suite.yaml", "--to", "json", "--rubric", "second")
    document = json.loads(written)
    assert (code, lost, document["summary"]["rubrics"]) == (0, "", 1)
    assert [rubric["name"] for rubric in document["files"][0]["rubrics"]] == ["second"]


AROUND = """\
# Ours
tests:
  - id: first
    input: How much?
    evaluators: [{name: cost, weight: 2, rubrics: [Names the cost]}]
"""


def test_json_reports_what_it_has_no_place_for(run, tmp_path, said):
    (tmp_path / "suite.yaml").write_text(AROUND, "utf-8")
    said(run("suite.yaml", "--to", "json")[2])
    assert run("suite.yaml", "--to", "json", "--strict")[:2] == (1, "")


def test_another_system_is_told_of_json(run, said):
    code, text, errors = run("r.yaml", "--to", "verifiers")
    assert (code, text) == (2, "")
    said(errors)


GATED = """\
threshold: 0.5
prompts: ["{{ input }}"]
tests:
- id: t
  vars: {input: Why?}
  assert:
  - {type: llm-rubric, required: true, min_score: 0.9, value: [{id: a, outcome: Names the day, required: false}]}
"""
OF_RUNS = """\
prompts: ["{{ input }}"]
tests:
- id: t
  vars: {input: Why?}
  run: {threshold: 0.6}
  assert: [{type: llm-rubric, value: [{outcome: Names the day, required: false}]}]
"""


def lost(said):
    return [line.partition("lost: ")[2].split(":")[0] for line in said.splitlines() if "lost: " in line]


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("execution: {threshold: 0.5}\ntests: [{id: t, rubrics: [{outcome: Names it, weight: 1}]}]\n", "json", []),
        (GATED, "json", ["`threshold`", "`prompts`", "`input`"]),
        (GATED, "promptfoo", []),
        (OF_RUNS, "json", ["`prompts`", "`input`"]),
        (OF_RUNS, "promptfoo", []),
    ],
)
def test_a_pass_mark_that_is_written_is_not_lost(run, tmp_path, text, target, expected):
    (tmp_path / "s.eval.yaml").write_text(text, "utf-8")
    assert lost(run("s.eval.yaml", "--to", target)[2]) == expected


@pytest.mark.parametrize("target", ["agentv-4", "agentv-5"])
def test_a_gate_of_an_assertion_is_no_threshold_of_its_test(run, tmp_path, target):
    (tmp_path / "s.eval.yaml").write_text(GATED, "utf-8")
    text = run("s.eval.yaml", "--to", target, "--rubric", "t")[1]
    assert (text.count("min_score: 0.9"), text.count("threshold")) == (1, 0)


@pytest.mark.parametrize(
    ("target", "name", "expected"),
    [
        ("json", "z.csv", "expected .json"),
        ("rubric", "z.json", "expected .yaml or .yml"),
        ("deepeval", "z.yaml", "expected .py"),
        ("agentv-5", "z.md", "expected .yaml or .yml"),
        ("csv", "z.xlsx", "expected .csv"),
    ],
)
def test_a_file_is_not_written_under_the_ending_of_another_format(run, tmp_path, target, name, expected):
    code, text, said = run("r.yaml", "--to", target, "-o", name)
    assert (code, text) == (2, "")
    assert f"--output: {name}: unknown ending .{name.partition('.')[2]}; {expected} for --to {target}" in said
    assert not (tmp_path / name).exists()
