"""`rubric-lint fix --to v3`: thresholds of the settings move into the file, and nothing else changes."""

import json
from decimal import Decimal
from pathlib import Path

import commands
import pytest
from exports import as_json
from hypothesis import given
from hypothesis import strategies as st
from random_rubrics import SHAPES

from rubric_lint.convert.raising import raise_file
from rubric_lint.lint.engine import DEFAULTS
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import newest
from rubric_lint.scoring.loading import load_rubrics

V1, V2, V3 = (newest("rubric", version).modeline for version in ("v1", "v2", "v3"))
SUITE = newest("suite", "v3").modeline
STRICT = FileSettings(claimed=True, pass_at=Decimal("0.9"), borderline_at=Decimal("0.5"))
LIST = """# what this is for
rubrics: # the list
  # first
  - id: dose   # why
    expected_outcome:   "States the dose"
    weight: 2.0

  - {id: tone, expected_outcome: Is polite}
# end
"""
MARKS = "pass_threshold: 0.9\nborderline_threshold: 0.5\n"


def raised(text, settings=STRICT, name="a.rubric.yaml"):
    fixed = raise_file(name, text.encode(), settings)
    assert not fixed.doubt
    return fixed.text


def test_a_list_becomes_a_mapping_and_nothing_else_changes():
    new = LIST.replace("rubrics:", f"{MARKS}criteria:")
    assert raised(V2 + LIST) == V3 + new
    assert raised(LIST) == V3 + new  # what names no schema names one now
    assert raised(V3 + new) == V3 + new
    assert raised((V2 + LIST).replace("\n", "\r\n")) == (V3 + new).replace("\n", "\r\n")


@pytest.mark.parametrize(("line_end", "mark"), [("\n", ""), ("\r\n", "\ufeff"), ("\r", "")])
def test_a_new_schema_line_ends_as_the_other_lines_do(line_end, mark):
    fixed = raise_file("a.rubric.yaml", (mark + LIST.replace("\n", line_end)).encode(), DEFAULTS)
    assert (fixed.doubt, fixed.data.decode()) == ("", mark + (V3 + LIST).replace("\n", line_end))


def test_without_thresholds_in_the_settings_only_the_schema_changes():
    assert raised(V2 + LIST, DEFAULTS) == V3 + LIST
    assert raised(V2 + LIST, STRICT._replace(borderline_at=STRICT.pass_at)) == V3 + LIST.replace(
        "rubrics:", "pass_threshold: 0.9\ncriteria:"
    )


def test_version_1_is_raised_in_one_run():
    old = "rubrics:\n  - {id: dose, description: States the dose, required: true}\n"
    new = "criteria:\n  - {id: dose, expected_outcome: States the dose, required_min_score: 10}\n"
    assert raised(V1 + old) == V3 + MARKS + new


def test_each_rubric_of_a_suite_gets_the_marks():
    suite = """tests:
  - id: one
    rubrics: # the list
      # first
      - Is polite   # why
  - id: two
    input: Hi
    evaluators:
      - {name: facts, rubrics: [Is it so]}
"""
    assert (
        raised(suite, name="suite.yaml")
        == SUITE
        + """tests:
  - id: one
    rubrics:
      pass_threshold: 0.9
      borderline_threshold: 0.5
      criteria: # the list
        # first
        - Is polite   # why
  - id: two
    input: Hi
    evaluators:
      - {name: facts, rubrics: {pass_threshold: 0.9, borderline_threshold: 0.5, criteria: [Is it so]}}
"""
    )


def test_a_file_in_json_names_the_schema_in_a_field():
    text = raised('{"rubrics": ["Is polite", "Is short"]}', name="a.rubric.json")
    assert json.loads(text) == {
        "$schema": newest("rubric", "v3").bundled_id,
        "pass_threshold": 0.9,
        "borderline_threshold": 0.5,
        "criteria": ["Is polite", "Is short"],
    }


@pytest.mark.parametrize(("first", "second"), [("", ""), (V2, ""), ("", V1), (V1, V2)])
def test_each_document_of_a_file_follows_version_3(first, second):
    one = "rubrics:\n  - {id: a, expected_outcome: It, weight: 2}\n"
    new = MARKS + one.replace("rubrics:", "criteria:")
    assert raised(f"{first}{one}---\n{second}{one}") == f"{V3}{new}---\n{V3 if second else ''}{new}"


def test_each_line_of_json_lines_names_the_schema():
    text = raised('{"id": "a", "rubrics": ["It"]}\n{"id": "b", "rubrics": ["Or that"]}\n', name="a.jsonl")
    marks = {"pass_threshold": 0.9, "borderline_threshold": 0.5}
    assert [json.loads(line) for line in text.splitlines()] == [
        {"$schema": newest("rubric", "v3").bundled_id, "id": name, "rubrics": {**marks, "criteria": [text]}}
        for name, text in (("a", "It"), ("b", "Or that"))
    ]


REFUSED = {
    "an error": ("a.rubric.yaml", "rubrics:\n  - {id: a, expected_outcome: It, weight: -1}\n", STRICT),
    "a file of cases": ("a.yaml", "- {id: a, rubrics: [It]}\n", STRICT._replace(part="cases")),
    "a list that is no rubric so far": (
        *("a.yaml", "defaults: {rubrics: [Is polite]}\ntests:\n  - {id: a, rubrics: [It]}\n"),
        FileSettings(pass_at=Decimal("0.9"), borderline_at=Decimal("0.5")),
    ),
    "an alias": ("a.yaml", "tests:\n  - {id: a, rubrics: &all [It]}\n  - {id: b, rubrics: *all}\n", STRICT),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_raised_stays_as_it_is_with_the_reason(case, said):
    name, text, settings = REFUSED[case]
    fixed = raise_file(name, text.encode(), settings)
    assert (fixed.text, fixed.applied) == (text, ())
    said(*(left.reason for left in fixed.unmet))


def test_rubrics_of_other_systems_stay_and_are_told_how_to_come_over(said):
    text = "tests: [{id: a, assertions: [{type: rubrics, criteria: [It]}]}]\n"
    fixed = raise_file("suite.yaml", text.encode(), FileSettings())
    assert (fixed.text, fixed.applied, fixed.unmet) == (text, (), ())
    said(*(note.message for note in fixed.notes))


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(set(SHAPES) - {"mixed"}))
@given(data=st.data())
def test_scores_are_the_same_with_the_settings_before_and_without_them_after(shape, data):
    marks = sorted(data.draw(st.tuples(*[st.decimals("0.01", "1", places=2)] * 2)))
    settings = FileSettings(claimed=True, severities={}, borderline_at=marks[0], pass_at=marks[1])
    text = as_json(data.draw(SHAPES[shape]))
    fixed = raise_file("r.rubric.json", text.encode(), settings)
    assert not fixed.doubt
    if fixed.unmet:
        assert fixed.text == text
        return
    ((before,), (after,)) = (
        load_rubrics("r.rubric.json", given_text, used).values()
        for given_text, used in ((text, settings), (fixed.text, FileSettings(claimed=True, severities={})))
    )
    assert (before.hash, before.criteria, before.full) == (after.hash, after.criteria, after.full)
    assert (before.pass_from, before.borderline_from) == (after.pass_from, after.borderline_from)
    assert after.model.version == "v3"
    assert json.loads(fixed.text).get("criteria", json.loads(fixed.text).get("rubrics")) == json.loads(text)["rubrics"]
    assert raise_file("r.rubric.json", fixed.data, settings).applied == ()


def test_the_command_shows_checks_and_writes(folder, said):
    assert folder == Path.cwd()
    Path("rubric-lint.toml").write_text("pass = 0.9\n", "utf-8")
    Path("a.rubric.yaml").write_text(V2 + LIST, "utf-8")
    Path("bad.rubric.yaml").write_text("rubrics:\n  - {id: a, weight: x, expected_outcome: It}\n", "utf-8")
    for options in (["--diff", "a.rubric.yaml"], ["--check", "a.rubric.yaml"], ["."], ["a.rubric.yaml"]):
        done = commands.run("rubric-lint", "fix", "--to", "v3", *options)
        said(f"fix --to v3 {' '.join(options)}: exit {done.returncode}", done.stdout, done.stderr)
    assert Path("a.rubric.yaml").read_text("utf-8").startswith(V3)
    for options in (["v2"], ["v3", "--unsaid", "optional"]):
        done = commands.run("rubric-lint", "fix", "--to", *options, "a.rubric.yaml")
        said(f"fix --to {' '.join(options)}: exit {done.returncode}", done.stdout, done.stderr)
