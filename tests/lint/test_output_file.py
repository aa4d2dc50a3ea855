"""Where the report of a run goes: `--output`, and the format that fits GitHub Actions."""

import json
import os
import stat
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from lint_command import BAD, BROKEN_RULE, COUNTED, FIXABLE, OVERLAP, call, call_after, folder  # noqa: F401 (a fixture)

from rubric_lint.report import REPORTERS

IN_ACTIONS = {"GITHUB_ACTIONS": "true"}


def names():
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("form", REPORTERS)
def test_the_file_holds_what_standard_output_would(form):
    printed, _, _ = call("--format", form)
    assert call("--format", form, "--output", "a report.out") == (COUNTED + FIXABLE, "", 1)
    assert Path("a report.out").read_text("utf-8") == printed
    assert names() == ["a report.out", "bad.yaml", "good.yaml", "old.yaml"]


def test_quiet_leaves_standard_output_empty():
    assert call("--format=sarif", "--output=x.sarif", "-q") == ("", "", 1)
    assert json.loads(Path("x.sarif").read_text("utf-8"))["version"] == "2.1.0"


def test_an_earlier_report_among_the_files_is_replaced():
    first = [call(f"--format={form}", f"--output={form}.json", "-q") for form in ("json", "sarif", "gitlab")]
    again = [call(f"--format={form}", f"--output={form}.json", "-q") for form in ("json", "sarif", "gitlab")]
    assert first == again == [("", "", 1)] * 3


def test_a_file_is_never_in_colour_unless_that_is_asked_for():
    call("--output=plain", FORCE_COLOR="1")
    call("--output=colour", "--color=always")
    assert [b"\x1b[" in Path(name).read_bytes() for name in ("plain", "colour")] == [False, True]


def test_statistics_go_to_the_file_too():
    assert call("--statistics", "--output=x", "bad.yaml", "-q") == ("", "", 1)
    assert Path("x").read_text("utf-8") == "1 error   overlap\n"


def test_a_run_that_does_not_come_about_leaves_the_old_report():
    Path("x").write_text("old", "utf-8")
    Path("rubric-lint.toml").write_text("selct = []\n", "utf-8")
    assert call("--output=x", "--config=rubric-lint.toml")[2] == 2
    assert Path("x").read_text("utf-8") == "old"
    assert "rubric-lint.toml" in names()
    assert [name for name in names() if name.startswith(".")] == []


def test_mode_and_link_of_the_file_stay_and_a_new_one_has_the_mode_that_the_umask_leaves():
    Path("real").write_text("old", "utf-8")
    Path("real").chmod(0o644)
    Path("link").symlink_to("real")
    before = os.umask(0o027)
    try:
        call("--output=link", "--format=gitlab")
        call("--output=new")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("real", "new")] == [0o644, 0o640]
    assert (Path("link").is_symlink(), Path("real").read_text("utf-8")[:2]) == (True, "[\n")


@pytest.mark.slow
def test_what_is_no_regular_file_is_written_to_and_not_replaced():
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
    assert call("--output=pipe", "--format=concise", "-q", "bad.yaml") == ("", "", 1)
    assert reader.communicate(timeout=60)[0] == OVERLAP
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert call_after("", "--output=/dev/stdout", "--format=concise", "-q", "bad.yaml") == (OVERLAP, "", 1)


def test_a_dash_is_standard_output():
    assert call("--output=-", "bad.yaml") == call("bad.yaml")
    assert names() == ["bad.yaml", "good.yaml", "old.yaml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_names_the_file():
    output, errors, code = call("--output=/dev/full", "-q", "bad.yaml")
    assert ("", "rubric-lint: /dev/full: No space left on device\n", 2) == (output, errors, code)


@pytest.mark.parametrize(
    ("args", "environment", "begins"),
    [
        ([], IN_ACTIONS, "::error file=bad.yaml,"),
        ([], {"GITHUB_ACTIONS": "false"}, "error overlap: "),
        ([], {}, "error overlap: "),
        (["--format=full"], IN_ACTIONS, "error overlap: "),
        (["--format=json"], IN_ACTIONS, '{"version": 1,'),
        (["--output=x"], IN_ACTIONS, "Found 1 error"),
        (["--statistics"], IN_ACTIONS, "1 error   overlap"),
    ],
)
def test_annotations_are_chosen_inside_github_actions(args, environment, begins):
    assert call(*args, "bad.yaml", **environment)[0].startswith(begins)


def test_a_file_for_github_actions_is_for_people_unless_a_format_is_given():
    call("--output=x", "bad.yaml", **IN_ACTIONS)
    assert Path("x").read_text("utf-8").startswith("error overlap: ")


def test_what_cannot_be_read_stands_in_the_report_too():
    output, errors, code = call("gone.yaml", "good.yaml", "--format=junit")
    assert ("rubric-lint: gone.yaml: does not exist\n", 2) == (errors, code)
    assert '<testsuite name="rubric-lint" tests="2" failures="0" errors="1">' in output


@pytest.mark.slow
def test_a_fault_of_the_tool_stands_in_the_report_too():
    output, _, code = call_after(BROKEN_RULE, "--format=sarif", "bad.yaml", "good.yaml")
    told = json.loads(output)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in told]
    assert (3, {"fault"}) == (code, {each["descriptor"]["id"] for each in told})
    assert "bad.yaml" in places


@pytest.mark.slow
def test_xml_is_what_its_declaration_says_in_every_encoding_of_standard_output():
    Path("é👍.yaml").write_text(BAD, "utf-8")
    for encoding in ("ascii", "latin-1", "utf-8"):
        before = f"import sys; sys.stdout.reconfigure(encoding={encoding!r})\n"
        output, _, _ = call_after(before, "--format=junit", "é👍.yaml")
        names = [case.get("name") for case in ET.fromstring(output).iter("testcase")]  # noqa: S314 (our own)
        assert names == ["é👍.yaml"]


def test_paths_are_those_of_the_repository_wherever_it_is_called(tmp_path, monkeypatch):
    Path(".git").mkdir()
    Path("sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    for name in ("../bad.yaml", f"{tmp_path}/bad.yaml"):
        report = json.loads(call("--format=gitlab", name)[0])
        assert [each["location"]["path"] for each in report] == ["bad.yaml"]
