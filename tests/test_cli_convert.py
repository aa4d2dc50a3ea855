"""`rubric-lint convert` as it is run: what is written where, what is said, and how it ends."""

from functools import partial

import pytest
from ruamel.yaml import YAML

RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 7
    score_ranges: {0: Wrong in its claim, 7: Right in its claim}
"""
WRITTEN = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 7
    score_ranges:
      0: Wrong in its claim
      7: Right in its claim
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


def test_without_a_target_it_writes_version_2(run):
    assert run("r.yaml") == (0, MODELINE + WRITTEN, "")


def test_what_is_lost_is_said_with_its_place(run):
    code, text, said = run("l.yaml", "--to", "ragas")
    assert code == 0
    assert said == (
        "rubric-lint: l.yaml:3:25: lost: the gate 2 of `quality`: Ragas returns a level, not a verdict\n"
        "rubric-lint: l.yaml:2:9: lost: the name `quality`: a dictionary has no field for it; set it on the metric\n"
    )
    assert text == '{\n  "score1_description": "Off topic",\n  "score2_description": "To the point"\n}\n'


def test_strict_writes_nothing_when_something_would_be_lost(run, tmp_path):
    said = (
        "rubric-lint: l.yaml:3:25: lost: the gate 2 of `quality`: Ragas returns a level, not a verdict\n"
        "rubric-lint: l.yaml:2:9: lost: the name `quality`: a dictionary has no field for it; set it on the metric\n"
        "rubric-lint: nothing was written: --strict allows no losses\n"
    )
    assert run("l.yaml", "--to", "ragas", "--strict", "-o", "out.json") == (1, "", said)
    assert not (tmp_path / "out.json").exists()


QUESTIONS = """\
tests:
  - id: text
    input: How far is {{it}}?
    rubrics: [Names the distance]
  - id: turns
    input: [{role: user, content: How far?}]
    assertions:
      - {name: far, type: rubrics, rubrics: [Names the road]}
  - id: two
    input: How long?
    assertions:
      - {name: long, type: rubrics, rubrics: [Names the hours]}
      - {name: late, type: rubrics, rubrics: [Names the hour]}
  - id: none
    rubrics: [Names the day]
"""


TURNS = [{"role": "user", "content": "How far?"}]


@pytest.mark.parametrize(
    ("target", "read", "questions"),
    [
        ("agentv-4", lambda test: test["input"], ["How far is {{it}}?", TURNS, "How long?", ""]),
        ("agentv-5", lambda test: test["vars"]["input"], ['How far is {{ "{{" }}it}}?', TURNS, "How long?", ""]),
    ],
)
def test_the_question_of_a_case_goes_along_to_agentv(run, tmp_path, target, read, questions):
    (tmp_path / "q.yaml").write_text(QUESTIONS, "utf-8")
    code, text, said = run("q.yaml", "--to", target)
    assert (code, [read(test) for test in YAML(typ="safe").load(text)["tests"]]) == (0, questions)
    assert [line for line in said.splitlines() if "input" in line] == [
        "rubric-lint: to do: `input`, the question, of none: the file has none, so it is left empty"
    ]


def test_strict_writes_what_loses_nothing(run):
    assert run("l.yaml", "--strict")[0] == 0


def test_a_shape_that_the_target_lacks_is_refused(run):
    said = (
        "rubric-lint: l.yaml:2:3: a rubric of levels has no counterpart in DeepEval: its metrics give one score from 0 "
        "to 10; a rubric is never converted to a different shape; use --to rubric, markdown, csv, xlsx, ragas, "
        "promptfoo, verifiers, harbor, requirement or autoevals\n"
    )
    assert run("l.yaml", "--to", "deepeval") == (1, "", said)


def test_a_rubric_with_errors_is_refused(run, tmp_path):
    (tmp_path / "bad.yaml").write_text(RUBRIC.replace("7: Right", "11: Right"), "utf-8")
    code, text, said = run("bad.yaml")
    assert (code, text) == (2, "")
    assert said.startswith("rubric-lint: bad.yaml:5:43: bounds: ")


def test_a_fault_that_a_comment_silences_is_refused(run, tmp_path):
    (tmp_path / "r.yaml").write_text(f"# rubric-lint: ignore-file[overlap]\n{OVERLAPPING}", "utf-8")
    assert run("r.yaml", "--to", "deepeval") == (
        1,
        "",
        "rubric-lint: r.yaml:4:19: score 5 is in two bands, which a comment or a setting silences; fix that first\n",
    )


def test_one_rubric_of_a_suite(run):
    code, text, said = run("suite.yaml", "--rubric", "second")
    assert (code, text, said) == (0, MODELINE + "rubrics:\n  - Names the cost\n", "")


def test_a_rubric_that_the_suite_lacks(run):
    code, text, said = run("suite.yaml", "--rubric", "secnd")
    assert (code, text) == (2, "")
    assert said.endswith("Error: no rubric is named `secnd`; did you mean `second`?\n")


def test_standard_input_is_of_the_kind_that_its_name_says(run):
    code, text, said = run("-", "--stdin-filename", "x.rubric.json", stdin='{"rubrics": ["Mentions the pivot"]}')
    assert (code, text, said) == (0, MODELINE + "rubrics:\n  - Mentions the pivot\n", "")


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


def test_half_a_character_is_refused(run):
    code, text, said = run("-", "--stdin-filename", "x.json", "--to", "markdown", stdin='{"rubrics": ["a \\ud800"]}')
    assert (code, text) == (2, "")
    assert said.startswith("rubric-lint: x.json:1:14: syntax: an escape in this string is half a surrogate pair")


HEALTHBENCH = (
    '{"rubrics": [{"criterion": "Says so", "points": 5, "tags": ["a"]}, {"criterion": "Harms", "points": -3}]}\n'
)


def test_what_a_dialect_says_and_ours_cannot_is_said(run, tmp_path):
    (tmp_path / "hb.jsonl").write_text(HEALTHBENCH, "utf-8")
    code, text, said = run("hb.jsonl")
    assert (code, text) == (0, MODELINE + "rubrics:\n  - id: rubric-1\n    expected_outcome: Says so\n    weight: 5\n")
    assert said.splitlines() == [
        "rubric-lint: hb.jsonl:1:68: lost: the criterion `rubric-2`: its weight is -3; a weight must be at least 0",
        "rubric-lint: hb.jsonl:1:60: lost: `tags`: rubric-lint has no field for it",
    ]
    assert run("hb.jsonl", "--strict")[:2] == (1, "")


LIGHTSPEED = """\
metrics_metadata:
  turn_level:
    "geval:tech":
      criteria: Technically right
      rubrics:
        - {score_range: [0, 3], expected_outcome: Wrong in its claim}
        - {score_range: [4, 10], expected_outcome: Right in its claim}
      threshold: 0.70
"""


def test_what_stands_beside_a_rubric_is_said_where_there_is_no_field_for_it(run, tmp_path):
    (tmp_path / "ls.yaml").write_text(LIGHTSPEED, "utf-8")
    code, _, said = run("ls.yaml")
    assert code == 0
    assert said == (
        "rubric-lint: ls.yaml:8:18: lost: the threshold 0.70, which is not part of a rubric: set `pass = 0.70`\n"
        "rubric-lint: ls.yaml:3:5: lost: the name `tech`: a rubric file has no field for it\n"
        "rubric-lint: ls.yaml:4:17: lost: `criteria`, which the judge sees: rubric-lint has no field for it\n"
    )
    code, text, said = run("ls.yaml", "--to", "lightspeed", "--strict")
    assert (code, said) == (0, "")
    assert "criteria: Technically right\n" in text
    assert text.endswith("threshold: 0.70\n")


def test_the_formula_of_several_graders_is_lost_once(program, tmp_path):
    grader = '{"type": "score_model", "name": "%s", "input": [{"role": "user", "content": "Names %s"}]}'
    graders = ", ".join(f'"{name}": {grader % (name, name)}' for name in "ab")
    (tmp_path / "g.json").write_text(
        f'{{"type": "multi",\n"calculate_output": "0.5 * a + 0.5 * b",\n"graders": {{{graders}}}}}', "utf-8"
    )
    code, text, said = program("convert", "g.json")
    told = (
        "g.json:2:21: lost: `calculate_output`, which joins the scores of the graders: rubric-lint has no field for it"
    )
    assert (code, text.count("Names"), said.count("calculate_output"), told in said) == (0, 2, 1, True), said
    assert "`calculate_output`, which joins their scores, is not read" in program("g.json")[2]


def test_a_case_of_another_system_has_an_input_for_agentv(run, tmp_path):
    text = "cases:\n  - name: one\n    evaluators: [{LLMJudge: Names the cause}]\n"
    (tmp_path / "data.yaml").write_text(text, "utf-8")
    code, written, said = run("data.yaml", "--to", "agentv-4")
    assert (code, YAML(typ="safe").load(written)["tests"][0]["input"]) == (0, "")
    assert "to do: `input`, the question, of one: the file has none" in said
    (tmp_path / "data.yaml").write_text(f"{text}    inputs: Why?\n", "utf-8")
    code, written, said = run("data.yaml", "--to", "agentv-4", "--strict")
    assert (code, YAML(typ="safe").load(written)["tests"][0]["input"], said) == (0, "Why?", "")
