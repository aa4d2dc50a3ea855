"""`--show-files` and `--show-settings` say what a run reads, and by which settings."""

import json
import os
from functools import partial
from pathlib import Path

import commands
import pytest

from rubric_lint.rules import BY_NAME

RUBRIC = "rubrics:\n- id: a\n  expected_outcome: Names the refund window\n"
SETTINGS = """\
exclude = ["old/", "draft.yaml"]
ignore = ["coverage"]
pass = 0.7
[severity]
mixing = "off"
[per-file-ignores]
"sub/" = ["levels"]
[versions]
"sub/" = "v1"
"""


call = partial(commands.call, "rubric-lint")


@pytest.fixture(autouse=True)
def folder(folder):
    commands.run_git("init", "-q")
    for name in (
        "a.yaml",
        "draft.yaml",
        "build/b.yaml",
        "old/c.yaml",
        "sub/d.json",
        "sub/e.txt",
        "README.md",
        "venv/f.yaml",
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(RUBRIC, "utf-8")
    Path(".gitignore").write_text("build/\n")
    Path("rubric-lint.toml").write_text(SETTINGS)
    if os.name != "nt":
        Path("gone.yaml").symlink_to("nowhere")
        Path("folder").symlink_to("sub")
        Path("folder.yaml").symlink_to("sub")
    return folder


def test_the_files_that_would_be_read_are_on_stdout_and_the_others_with_their_reason_on_stderr(said):
    out, left_out, code = call("--show-files")
    assert (out, code) == ("a.yaml\nsub/d.json\n", 0)
    said(left_out)
    out, errors, code = call("--show-files", "--format", "json")
    report = json.loads(out)
    assert (report["files"], report["unreadable"], errors, code) == (["a.yaml", "sub/d.json"], [], "", 0)
    assert "".join("left out: {path}: {reason}\n".format(**each) for each in report["left_out"]) == left_out


def test_named_files_are_read_whatever_the_settings_unless_the_call_says_otherwise(said):
    said(call("--show-files", "draft.yaml", "README.md", "nope.yaml"))
    said(call("--show-files", "--force-exclude", "draft.yaml", "old"))


def test_the_files_are_those_that_a_run_reads():
    out, _, _ = call("--show-files")
    assert f"{len(out.splitlines())} files" in call("--no-cache")[0]


def test_files_that_have_not_changed_are_left_out():
    commands.commit_all()
    Path("a.yaml").write_text(RUBRIC + "# more\n")
    out, told, code = call("--show-files", "--diff-base", "HEAD")
    assert (out, "left out: sub/d.json: unchanged\n" in told, code) == ("a.yaml\n", True, 0)


def test_the_settings_of_a_file_and_where_each_comes_from(said):
    shown, *told = call("--show-settings", "sub/d.json", "--ignore", "overlap")
    assert told == ["", 0]
    said(shown.replace(f"{len(BY_NAME) - 4} of {len(BY_NAME)} rules", "all but 4 rules"))


def test_the_settings_as_json():
    out, told, code = call("--show-settings", "--isolated", "--select", "overlap", "--format", "json")
    (found,) = json.loads(out)
    assert (found["path"], found["settings_file"], found["version"], told, code) == (".", None, None, "", 0)
    assert found["settings"]["select"] == {"value": ["overlap"], "sources": ["--select"]}
    assert found["settings"]["pass"] == {"value": 0.8, "sources": ["default"]}
    assert found["rules"]["on"] == ["syntax", "overlap"]


def test_each_value_is_that_of_the_schema_or_of_the_file():
    schema = json.loads((Path(__file__).parents[2] / "schemas/config/v1.json").read_text("utf-8"))["properties"]
    (found,) = json.loads(call("--show-settings", "--isolated", "--format", "json")[0])
    assert {name: setting["value"] for name, setting in found["settings"].items()} == {
        name: each.get("default") for name, each in schema.items()
    }


def test_broken_settings_are_named(said):
    Path("rubric-lint.toml").write_text("pas = 1\n")
    out, errors, code = call("--show-settings")
    assert (out, code) == ("", 2)
    said(errors)
