"""The short form of `levels`, a map from level to outcome: the same as the list, wherever a rubric is read."""

import json
import re
from textwrap import dedent

import pytest
from cases import read_cases
from exports import load_text, write

from rubric_lint.assess.diff.rubric_diff import compare_rubrics, pair_rubrics
from rubric_lint.convert.export import TARGETS
from rubric_lint.convert.export.target import ExportError
from rubric_lint.editor.answers.symbols import make_outline
from rubric_lint.editor.server.analysis import State, analyse
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.judge.prompt import JudgedCase, write_prompt
from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring import OutputError, score
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

FAULTS = read_cases(__file__)["FAULTS"]

SHORT = """\
rubrics:
  - id: quality
    required_min_level: 3
    levels:
      1: Wrong in a main point
      "3": Right in the main points
      5: Right in all points, with a source for each
"""
LONG = """\
rubrics:
  - id: quality
    required_min_level: 3
    levels:
      - {level: 1, expected_outcome: Wrong in a main point}
      - {level: 3, expected_outcome: Right in the main points}
      - {level: 5, expected_outcome: "Right in all points, with a source for each"}
"""


def findings(text, name="a.yaml"):
    result = lint(name, dedent(text).encode(), FileSettings(claimed=True))
    return sorted((finding.rule, result.source.slice(finding.span)) for finding in result.findings)


def levels(text):
    """What is found in the levels of one criterion."""
    return findings(f"rubrics:\n  - id: a\n    levels: {text}\n")


def test_both_forms_are_sound_unless_the_gate_is_no_level_or_the_lowest():
    assert (findings(SHORT), findings(LONG)) == ([], [])
    assert findings(json.dumps(read_documents(Source("a.yaml", SHORT))[0][0].data), "a.json") == []
    for level, rule in ((2, "levels"), (1, "idle-gate")):
        text = SHORT.replace("required_min_level: 3", f"required_min_level: {level}")
        assert findings(text) == [(rule, str(level))]


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_found_at_its_key_or_its_outcome(text):
    assert [[*each] for each in levels(text)] == FAULTS[text]


def scored(text):
    return load_rubrics("r.rubric.yaml", text)["r"]


@pytest.mark.parametrize("level", [1, 3, 5])
def test_both_forms_score_alike(level):
    output = json.dumps({"checks": [{"id": "quality", "level": level}]})
    short, long = (score(scored(text), output) for text in (SHORT, LONG))
    assert (short.score, short.verdict, short.criteria) == (long.score, long.verdict, long.criteria)


def test_a_level_between_two_is_refused_in_both_forms():
    for text in (SHORT, LONG):
        with pytest.raises(OutputError, match="2"):
            score(scored(text), '{"checks": [{"id": "quality", "level": 2}]}')


def test_both_forms_mean_the_same_to_a_judge_and_to_a_comparison():
    short, long = scored(SHORT), scored(LONG)
    assert write_prompt(short, JudgedCase("Why?", "So.")) == write_prompt(long, JudgedCase("Why?", "So."))
    assert list(compare_rubrics(pair_rubrics({"r": short}, {"r": long}))) == []
    assert short.hash == long.hash


AS_LIST = re.compile(r"- level: (\d)\n +expected_outcome")


@pytest.mark.parametrize("target", TARGETS)
def test_both_forms_are_exported_alike(target):
    def export(text):
        try:
            return write(target, load_text(text, "r.rubric.yaml"))
        except ExportError as refusal:
            return refusal.message

    short, long = export(SHORT), export(LONG)
    if target in ("rubric", "promptfoo"):  # which keep the form
        assert short.text == AS_LIST.sub(r"\1", long.text)
    else:
        assert short == long


def test_the_outline_lists_each_level():
    state = State("file:///a.yaml", "a.yaml", "yaml", 1, DocumentText.of(SHORT), FileSettings())
    (rubric,) = make_outline(analyse(state))
    (criterion,) = rubric["children"]
    assert [(child["name"], child["detail"]) for child in criterion["children"]] == [
        ("1", "Wrong in a main point"),
        ("3", "Right in the main points"),
        ("5", "Right in all points, with a source for each"),
    ]
