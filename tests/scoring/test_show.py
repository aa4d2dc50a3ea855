"""What `show_source` says of a file: its rubrics as they are read, example scores, near misses."""

import json
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from unittest.mock import ANY

import pytest
from click import unstyle
from dialect_samples import SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from random_3 import rubrics as random_rubrics_3
from random_rubrics import rubrics
from saying import INPUTS

from rubric_lint import FileSettings, RubricError, ScoringRubric, load_rubrics, score, show_source
from rubric_lint.convert.release import rewrite
from rubric_lint.formats.dialects import DIALECTS
from rubric_lint.lint.engine import DEFAULTS
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.report import Style
from rubric_lint.report.show import ShowText


@cache
def validator():
    schema = load_bundled("show/v1.json")
    return Draft7Validator({"$ref": "#/definitions/file", "definitions": schema["definitions"]})


def shown(name, text, settings=DEFAULTS):
    """The JSON form of what a file holds, which its schema allows."""
    described = show_source(name, text, settings).to_json()
    assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert [error.message for error in validator().iter_errors(described)] == []
    return described


SUITE = """\
tests:
  - id: refund
    rubrics:
      - id: accuracy
        expected_outcome: Whether the period is right
        weight: 2.0
        required_min_score: 7
        score_ranges: {7: Right, 0: Wrong}
      - id: tone
        score_ranges: {0: Blames the customer, 5: Helps}
"""


def test_a_suite_is_described_whole(said):
    said(json.dumps(shown("suite.yaml", SUITE), indent=1))


SUITE_OF_4 = """\
tests:
  - {id: a, input: Why?, assertions: [{type: rubrics, criteria: [Names the cause]}]}
"""


def test_releases_of_agentv_that_read_a_suite_whole_are_told():
    assert shown("a.yaml", SUITE_OF_4)["releases"] == [
        {"name": "agentv-4", "title": "AgentV 4", "loads": True, "unread": []},
        {
            "name": "agentv-5",
            "title": "AgentV 5",
            "loads": False,
            "unread": [{"line": 2, "column": column, "reason": ANY} for column in (6, 13, 26, 40)],
        },
    ]
    assert shown("a.yaml", "tests:\n  - {id: a, rubrics: [{id: b, expected_outcome: Names it}]}\n")["releases"] == []


TEST_OF_4 = '{"id": "a", "input": "Why?", "assertions": ["Names the cause"]%s}\n'


@pytest.mark.parametrize(
    ("name", "text", "loads"),
    [
        ("a.yaml", f"{SUITE_OF_4}---\n{SUITE_OF_4}", {"agentv-4": False, "agentv-5": False}),
        ("a.json", '{"tests": [' + TEST_OF_4 % "" + "]}", {}),
        ("a.jsonl", TEST_OF_4 % "", {"agentv-4": False, "agentv-5": False}),
        ("a.jsonl", TEST_OF_4 % ', "criteria": "Says why"', {"agentv-4": True, "agentv-5": False}),
    ],
)
def test_no_release_of_agentv_reads_files_of_several_documents_json_or_lines_without_grading(name, text, loads):
    assert {release["name"]: release["loads"] for release in shown(name, text)["releases"]} == loads


@pytest.mark.slow
@pytest.mark.parametrize("target", ["agentv-4", "agentv-5"])
@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "agentv").iterdir()), ids=lambda path: path.name)
def test_what_is_rewritten_for_a_release_is_read_whole_by_it(path, target):
    rewritten = rewrite(path.name, path.read_bytes(), target)
    releases = {
        release["name"]: release["loads"] for release in shown(path.name, rewritten.result.source.text)["releases"]
    }
    assert releases.get(target, False) == (not rewritten.unmet and not rewritten.doubt)


def test_a_level_that_alone_prevents_a_pass_is_an_example():
    def titles(weight):
        levels = "levels: {1: Names none, 2: Names one, 3: Names two}"
        text = f"rubrics:\n- {{id: a, weight: {weight}, {levels}}}\n- {{id: b, {levels}}}\n- {{id: c, {levels}}}\n"
        return [example["title"] for example in shown("a.rubric.yaml", text.encode())["rubrics"][0]["examples"]]

    assert [title for title in titles(1) if "2; the rest" in title] == []  # 5/6 passes
    (title,) = [title for title in titles(4) if "2; the rest" in title]
    assert title.startswith("a 2; ")


def draw(path, **look):
    """What a terminal of 80 columns shows of a file."""
    pieces = []
    shown(path.name, path.read_bytes())
    ShowText(pieces.append, Style(**{"columns": 80, **look})).add(show_source(path.name, path.read_bytes()))
    return "".join(pieces)


def test_a_threshold_without_an_end_is_drawn_as_a_fraction(tmp_path):
    path = tmp_path / "evals.rubric-scores.yaml"
    items = "{id: a, weight: 1, text: Names it}, {id: b, weight: 1, text: Dates it}"
    path.write_text(f"scale: 0-3\npass_threshold: 2\ncriteria: [{items}]\n", "utf-8")
    assert "levels (home-made rubrics); pass >= 2/3; 3 is read as the best\n" in draw(path)


BARE = "criteria: [{{id: a, weight: 1, text: Names it{}}}, {{id: b, weight: 1, text: Dates it{}}}]\n"
BEST = {
    "scale: 0-3\n" + BARE.format("", ""): ["3 is read as the best"],
    BARE.format(", scale: 0-3", ", scale: 1-5"): ["the highest score is read as the best"],
    "scale: {0: None, 1: Half, 2: All}\n" + BARE.format("", ""): [],
    "scale: yes-no\n" + BARE.format("", ""): [],
    BARE.format(", levels: {0: It names nothing, 1: It names it}", ", scale: 0-3"): [],
}


@pytest.mark.parametrize("text", BEST)
def test_the_score_that_is_read_as_the_best_is_said_where_only_numbers_say_it(tmp_path, text):
    path = tmp_path / "evals.rubric-scores.yaml"
    path.write_text(f"version: 1\npass_threshold: 2\n{text}", "utf-8")
    assert re.findall(r"; ([^;]+ is read as the best)", " ".join(draw(path).split())) == BEST[text]


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_every_dialect_shape_and_oddity_is_drawn_whole(path, snapshot):
    snapshot(f"show/{path.name}.txt", draw(path))


def test_every_dialect_is_among_them():
    formats = {rubric.dialect for path in INPUTS for rubric in show_source(path.name, path.read_bytes()).rubrics}
    sampled = {sample.dialect for sample in SAMPLES.values()}
    assert formats | sampled == {None, *DIALECTS}


@pytest.mark.slow
@pytest.mark.spread(3)
def test_colors_change_nothing_else():
    assert [path.name for path in INPUTS if unstyle(draw(path, color=True)) != draw(path)] == []


hundredths = st.integers(0, 100).map(lambda number: Decimal(number) / 100)


@pytest.mark.slow
@given(rubric=rubrics, thresholds=st.tuples(hundredths, hundredths), implicit=st.booleans())
def test_shares_gates_and_verdicts_are_those_of_the_scorer(rubric, thresholds, implicit):
    entries = [{**entry, "weight": float(entry["weight"])} if "weight" in entry else entry for entry in rubric]
    text = json.dumps({"rubrics": entries})
    settings = FileSettings(pass_at=max(thresholds), borderline_at=min(thresholds), implicit_required=implicit)
    described = shown("a.rubric.json", text, settings)
    loaded = load(text, settings)
    is_sound = isinstance(loaded, ScoringRubric)
    assert described["unscorable"] == ([] if is_sound else list(loaded))
    (one,) = described["rubrics"]
    assert bool(one["examples"]) == is_sound
    if is_sound:
        assert [(criterion["id"], criterion["share"], criterion["gate"]) for criterion in one["criteria"]] == [
            (criterion.id, str(criterion.share), criterion.gate) for criterion in loaded.criteria
        ]
    for example in one["examples"]:
        scored = score(loaded, example["output"])
        assert (example["score"], example["fraction"]) == (float(scored.score), str(scored.score))
        assert example["verdict"] == scored.verdict
        assert "just high enough to pass" not in example["title"] or scored.verdict == "pass"
        assert "below its gate" not in example["title"] or scored.verdict == "fail"


@pytest.mark.slow
@given(random_rubrics_3)
def test_every_rubric_of_version_3_is_shown_as_its_schema_says(rubric):
    document = {"$schema": SCHEMA_3, **(rubric if isinstance(rubric, dict) else {"rubrics": rubric})}
    text = json.dumps(document)
    (one,) = shown("a.rubric.json", text)["rubrics"]
    (loaded,) = load_rubrics("a.rubric.json", text).values()
    for example in one["examples"]:
        scored = score(loaded, example["output"])
        assert (example["fraction"], example["verdict"]) == (str(scored.score), scored.verdict)
        assert "to pass" not in example["title"] or scored.verdict == "pass"
        assert "for borderline" not in example["title"] or scored.verdict == "borderline"
        assert "True" not in example["title"]


SCHEMA_3 = "https://rubric-lint.github.io/schemas/rubric-v3.schema.json"
VERSION_3 = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
scale: [1, 5]
pass_threshold: 3.5
borderline_threshold: 3
grades: {A: 90%, F: 1}
criteria:
  - {id: accuracy, expected_outcome: Every figure is in the source, weight: 3, required_min_score: 4}
  - {id: method, expected_outcome: How the sample was drawn, levels: {1: Not said, 3: Said, 5: Said with reasons}}
  - id: code
    weight: 2
    required_min_score: 3
    applies_if: The reply has code
    criteria:
      - {id: runs, expected_outcome: The program runs, scale: [0, 1]}
  - {id: tone, expected_outcome: How calm it is, scale: [0.0, 1.0]}
critical_failures: [Fabricates a source]
"""


def test_a_rubric_of_version_3_is_drawn_in_the_units_of_its_file(tmp_path, snapshot):
    path = tmp_path / "reply.rubric.yaml"
    path.write_text(VERSION_3, "utf-8")
    snapshot("show/version_3.rubric.yaml.txt", draw(path).partition("\n")[2])


def load(text, settings):
    """The only rubric of a file as the scorer has it, or the reasons why there is none."""
    try:
        (rubric,) = load_rubrics("a.rubric.json", text, settings).values()
    except RubricError as refused:
        return refused.faults
    return rubric
