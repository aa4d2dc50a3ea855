"""`rubric-lint show`: what it prints, what it reads, and its exit codes."""

import json
import os
from functools import cache

import pytest
from jsonschema import Draft7Validator
from lint_command import BROKEN_RULE, call_after

from rubric_lint import show_source
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.report import Style
from rubric_lint.report.show import ShowText

GOOD = "rubrics:\n  - id: a\n    expected_outcome: Names the total\n"
OTHER = "a: 1\n"
NEAR = "rubric:\n  - Names the total\n"

DRAWN = """\
{}:1:1 {}
  checklist (rubric-lint v2); pass >= 0.8, borderline >= 0.6

  criterion  weight  share       gate
  a               1  1     100%  -     Names the total

  verdict  score  for example
  pass     1.000  met
  fail     0.000  not met
"""
ONE = DRAWN.format("good.yaml", "good")


@pytest.fixture(autouse=True)
def folder(tmp_path):
    (tmp_path / ".git").mkdir()
    for name, text in (("good.yaml", GOOD), ("near.yaml", NEAR), ("other.yaml", OTHER)):
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def test_a_folder_shows_rubrics_and_near_misses(program, said):
    said(program("show"))


def test_a_named_file_is_always_explained(program, said):
    said(program("show", "other.yaml"))
    said(program("show", "other.yaml", "good.yaml"))


@pytest.mark.parametrize("form", ["full", "json"])
def test_exit_codes(program, folder, form):
    def code(*arguments):
        return program("show", "--format", form, *arguments)[0]

    (folder / "empty").mkdir()
    (folder / "bad.yaml").write_text("rubrics:\n  - {id: a, expected_outcome: '', wieght: 2}\n", "utf-8")
    calls = (("bad.yaml",), ("near.yaml",), ("empty",), ("x.yaml", "good.yaml"), ("--no",))
    assert [code(*names) for names in calls] == [0, 1, 1, 2, 2]


def test_stdin_is_read_under_a_name(program, folder, said):
    assert program("show", "-", stdin=GOOD)[1].startswith(DRAWN.format("<stdin>", "rubric"))
    assert program("show", "-", "--stdin-filename", "b/x.yaml", stdin=GOOD)[1].startswith(DRAWN.format("b/x.yaml", "x"))
    said(program("show", "-"))
    (folder / "rubric-lint.toml").write_text("pass = 0.9\n", "utf-8")
    assert "pass >= 0.9" in program("show", "-", stdin=GOOD)[1]
    assert program("show", "--stdin-filename", "x.yaml")[0] == 2


def test_settings_apply_as_in_lint(program, folder):
    (folder / "rubric-lint.toml").write_text('exclude = ["near.yaml"]\npass = 0.75\n', "utf-8")
    (folder / ".gitignore").write_text("other.yaml\n", "utf-8")
    (folder / "more.toml").write_text("pass = 1\nborderline = 1\n", "utf-8")
    summary = "\n1 rubric with 1 criterion in 1 file.\n"
    left_out = "1 file skipped by `exclude`.\n"
    shown = ONE.replace("pass >= 0.8", "pass >= 0.75")
    assert program("show") == (0, f"{shown}{summary}{left_out}", "")
    assert program("show", "near.yaml", "--force-exclude") == (1, f"0 files read.\n{left_out}", "")
    assert "pass >= 1\n" in program("show", "good.yaml", "--config", "more.toml")[1]
    assert program("show", "good.yaml", "--isolated") == (0, ONE + summary, "")
    (folder / "rubric-lint.toml").write_text("passed = 1\n", "utf-8")
    assert program("show", "good.yaml")[0] == 2
    assert program("show", "-", stdin=GOOD)[0] == 2


def test_files_that_cannot_be_read_are_reported(program, folder, said):
    (folder / "table.csv").write_text("a,b\n", "utf-8")
    said(program("show", "table.csv"))
    said(program("show", "gone.yaml"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "truncate"), reason="makes a sparse file")
def test_a_file_that_is_too_large_is_not_called_empty(program, folder, said):
    (folder / "large.yaml").write_bytes(b"a: 1\n")
    os.truncate(folder / "large.yaml", 60_000_000)
    said(program("show", "large.yaml"))


def test_scores_are_refused_as_rubric_score_refuses_them_whatever_rules_run(program, folder, said):
    (folder / "twice.yaml").write_text(f"{GOOD}  - id: a\n    expected_outcome: Names the date\n", "utf-8")
    (folder / "rubric-lint.toml").write_text('ignore = ["duplicate-id"]\n', "utf-8")
    code, out, _ = program("show", "twice.yaml")
    refused, reason, *rest = out.splitlines()[-4:]
    assert code == 0
    said(refused)
    assert reason.startswith("  twice.yaml:4:9: duplicate-id: criterion `a`: ")
    said(rest)


@cache
def validator():
    return Draft7Validator(load_bundled("show/v1.json"))


def test_the_json_report_is_what_the_library_returns(program, folder):
    code, out, err = program("show", "--format", "json", "good.yaml", "near.yaml", "other.yaml")
    report = json.loads(out)
    assert (code, err, [error.message for error in validator().iter_errors(report)]) == (0, "", [])
    names = ("good.yaml", "near.yaml", "other.yaml")
    assert report["files"] == [show_source(name, (folder / name).read_bytes()).to_json() for name in names]
    assert [name for name, count in report["summary"].items() if count == 1] == [
        *("files_with_rubrics", "rubrics", "criteria")
    ]


def test_the_json_report_without_rubrics_says_so_on_stderr(program, said):
    code, out, err = program("show", "--format", "json", "other.yaml")
    assert code == 1
    said(err, json.loads(out)["files"][0]["reason"])


@pytest.mark.slow
def test_a_crash_names_the_file_and_the_others_are_shown(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "bad.yaml").write_text(GOOD.replace("id: a", "id: accuracy"), "utf-8")
    out, err, code = call_after(BROKEN_RULE, "show", "bad.yaml", "good.yaml")
    summary = "1 rubric with 1 criterion in 1 file.\n1 file not linted because rubric-lint crashed.\n"
    assert (code, out) == (3, f"{ONE}\n{summary}")
    assert err.startswith("rubric-lint: bad.yaml: rubric-lint crashed, which is a bug: RuleError: rule broken: ")


CLOSE = """\
rubrics:
  - {id: a, expected_outcome: Names the total, weight: 0.200050}
  - {id: b, expected_outcome: Names the date, weight: 0.799949}
  - {id: c, expected_outcome: Names the place, weight: 0.000001, required_min_score: 10}
"""


def test_rounding_moves_no_figure_over_a_limit(program, folder, said):
    (folder / "a.yaml").write_text(CLOSE, "utf-8")
    (folder / "rubric-lint.toml").write_text("pass = 0.79995\nborderline = 0.2\n", "utf-8")
    said(program("show", "a.yaml"))


def test_a_narrow_terminal_and_wide_letters_cut_and_wrap(said):
    text = """\
rubrics:
  - id: 正確さ正確さ正確さ正確さ正確さ
    weight: 2
    expected_outcome: 要約は記事と一致する。数字も名前も日付もすべて正しい
  - {id: b, expected_outcome: Names the total and the day on which it was paid}
"""
    pieces = []
    ShowText(pieces.append, Style(columns=30)).add(show_source("a.yaml", text))
    said("".join(pieces))


def test_colors_are_asked_for(program):
    assert "\x1b[" in program("show", "good.yaml", "--color", "always")[1]
