"""Known findings: left out while they are there, told of when they are gone."""

import json
import os
from pathlib import Path

import commands
import pytest
from cases import read_cases
from lint_command import BAD, BROKEN, GOOD, OLD, call, folder  # noqa: F401 (a fixture)

WRONG = read_cases(__file__)["WRONG"]

NAMES = ["file", "rule", "fingerprint"]


def write(*args):
    out, err, code = call("--baseline=known.json", "--write-baseline", *args)
    assert code == 0, out + err
    return err


def lint(*args):
    """The rules that find something where, what is said on standard error, and the exit code."""
    out, notes, code = call("--format=concise", "--fail-on=warning", *args)
    found = [line.split(" error " if " error " in line else " warning ") for line in out.splitlines()]
    return [parts[1].partition(":")[0] for parts in found if len(parts) == 2 and ":" in parts[0]], notes, code


def known(name="known.json"):
    return [(finding["file"], finding["rule"]) for finding in json.loads(Path(name).read_text("utf-8"))["findings"]]


def test_the_file_has_a_line_for_each_finding_in_order(said):
    said(write())
    text = Path("known.json").read_text("utf-8")
    lines = [json.loads(line.rstrip(",")) for line in text.splitlines()[2:-1]]
    assert ([list(line) for line in lines], known()) == (
        [NAMES, NAMES],
        [("bad.yaml", "overlap"), ("old.yaml", "deprecated-description")],
    )
    said(write())
    assert Path("known.json").read_text("utf-8") == text


def test_known_findings_are_left_out_and_counted_and_new_ones_are_not(said):
    write()
    assert lint("--baseline=known.json") == ([], "", 0)
    out, _, _ = call("--baseline=known.json", "bad.yaml")
    said(out)
    summary = json.loads(call("--baseline=known.json", "--format=json")[0])["summary"]
    assert (summary["errors"], summary["warnings"], summary["known"]) == (0, 0, 2)
    Path("old.yaml").write_text("# moved\n\n" + OLD + "    weight: -1\n", "utf-8")
    assert lint("--baseline=known.json") == (["weight"], "", 1)


def test_a_finding_again_is_a_new_one():
    write()
    Path("old.yaml").write_text(OLD + "  - id: b\n    description: States the result.\n", "utf-8")
    assert lint("--baseline=known.json", "--ignore=duplicate-criterion") == (["deprecated-description"], "", 1)


def test_what_is_gone_is_told_until_it_is_taken_out(said):
    write()
    Path("bad.yaml").write_text(GOOD, "utf-8")
    Path("old.yaml").unlink()
    said(lint("--baseline=known.json"))
    said(write())
    assert json.loads(Path("known.json").read_text("utf-8")) == {"version": 1, "findings": []}
    assert lint("--baseline=known.json") == ([], "", 0)


@pytest.mark.parametrize(
    "args",
    [["good.yaml"], ["--select=overlap", "old.yaml"], ["--ignore=overlap", "bad.yaml"], ["broken.yaml"]],
    ids=["another file", "another rule", "a rule left out", "a file that cannot be read"],
)
def test_a_run_says_nothing_of_what_it_leaves_out(args):
    Path("broken.yaml").write_text(OLD, "utf-8")
    write()
    before = known()
    for name in ("bad.yaml", "old.yaml"):
        Path(name).write_text(GOOD, "utf-8")
    Path("broken.yaml").write_text(BROKEN, "utf-8")
    assert lint("--baseline=known.json", *args)[1] == ""
    call("--baseline=known.json", "--write-baseline", *args)
    assert set(before) <= set(known())


def test_it_is_the_same_from_every_folder(monkeypatch, tmp_path):
    Path("évals").mkdir()
    Path("évals/a b.yaml").write_text(OLD, "utf-8")
    write(".")
    assert ("évals/a b.yaml", "deprecated-description") in known()
    (tmp_path / "link").symlink_to(tmp_path)
    for place, baseline, path in (
        ("évals", "../known.json", ".."),
        ("/", str(tmp_path / "known.json"), str(tmp_path)),
        (tmp_path / "link" / "évals", str(tmp_path / "known.json"), str(tmp_path / "link" / "évals" / "a b.yaml")),
    ):
        monkeypatch.chdir(place)
        assert lint(f"--baseline={baseline}", path) == ([], "", 0)
        monkeypatch.chdir(tmp_path)


def test_the_settings_name_it_from_their_folder(monkeypatch, said):
    Path("rubric-lint.toml").write_text('baseline = "ci/known.json"\n', "utf-8")
    Path("ci").mkdir()
    Path("sub").mkdir()
    told = call("--write-baseline")[1]
    said(told)
    assert known("ci/known.json") == [("../bad.yaml", "overlap"), ("../old.yaml", "deprecated-description")]
    monkeypatch.chdir("sub")
    assert lint("..") == ([], "", 0)
    assert lint("--no-baseline", "..")[0] == ["overlap", "deprecated-description"]
    assert lint("--isolated", "..")[0] == ["overlap", "deprecated-description"]
    Path("../ci/known.json").unlink()
    out, err, code = call("..")
    assert (out, code) == ("", 2)
    said(err)


def test_standard_input_has_the_known_findings_of_its_name():
    write()
    assert call("--baseline=known.json", "-q", "-", "--stdin-filename=bad.yaml", stdin=BAD.encode()) == ("", "", 0)


def test_with_a_revision_both_count():
    commands.commit_all()
    write()
    Path("old.yaml").write_text(OLD + "    weight: -1\n", "utf-8")
    assert lint("--baseline=known.json", "--diff-base=HEAD") == (["weight"], "", 1)


BROKEN_FILES = {
    "no JSON": "{",
    "a merge": '{"version": 1, "findings": [\n<<<<<<< a\n=======\n>>>>>>> b\n]}',
    "a newer one": '{"version": 2, "all": []}',
    "another file": "[]",
    "a field too few": '{"version": 1, "findings": [{"file": "a", "rule": "overlap"}]}',
    "no text": b"\xff",
}


@pytest.mark.parametrize("text", BROKEN_FILES.values(), ids=BROKEN_FILES)
@pytest.mark.parametrize("more", [[], ["--write-baseline"]], ids=["reading", "writing"])
def test_a_broken_one_is_told_of(text, more, said):
    Path("known.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    out, err, code = call("--baseline=known.json", *more)
    assert (out, code, err.startswith("rubric-lint: known.json: the baseline")) == ("", 2, True)
    said(err)


@pytest.mark.parametrize("more", [[], ["--write-baseline"]], ids=["reading", "writing"])
def test_none_is_read_or_written_as_a_stream(more, said):
    before = sorted(Path().iterdir())
    out, err, code = call("--baseline=-", *more)
    assert (out, code) == ("", 2)
    said(err)
    assert sorted(Path().iterdir()) == before


def test_one_that_is_missing_or_cannot_be_written(said):
    said(call("--baseline=known.json"))
    Path("ci").mkdir()
    done = call("--baseline=ci")
    said(done)
    assert call("--baseline=ci", "--write-baseline") == done
    said(call("--baseline=no/known.json", "--write-baseline", "-q"))


def test_its_mode_and_a_link_to_it_stay():
    Path("real.json").write_text('{"version": 1, "findings": []}', "utf-8")
    Path("real.json").chmod(0o640)
    Path("known.json").symlink_to("real.json")
    write()
    assert (Path("known.json").is_symlink(), Path("real.json").stat().st_mode & 0o777) == (True, 0o640)
    assert len(known("real.json")) == 2
    Path("new.json").symlink_to("none.json")
    call("--baseline=new.json", "--write-baseline")
    assert (Path("new.json").is_symlink(), len(known("none.json"))) == (True, 2)


@pytest.mark.skipif(os.sep != "/", reason="names of bytes")
def test_a_name_that_is_no_utf_8():
    name = os.fsdecode(b"\xff.yaml")
    Path(name).write_text(OLD, "utf-8")
    write()
    assert (name, "deprecated-description") in known()
    assert lint("--baseline=known.json") == ([], "", 0)


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_wrong_use_is_explained(args, said):
    out, err, code = call(*args)
    assert (out, code) == ("", 2)
    said(err.splitlines()[-1])


@pytest.mark.parametrize("has_link", [False, True])
def test_settings_write_no_baseline_outside_of_the_repository(has_link, said):
    Path("in").mkdir()
    Path("in/a.yaml").write_text("rubrics:\n- id: a\n  expected_outcome: ''\n")
    if has_link:
        Path("in/known.json").symlink_to("../known.json")
    name = "known.json" if has_link else "../known.json"
    Path("in/rubric-lint.toml").write_text(f'baseline = "{name}"\n')
    said(call("--write-baseline", "in"))
    assert not Path("known.json").exists()
    Path(".git").mkdir()
    assert call("--write-baseline", "-q", "in")[2] == 0
    assert Path("known.json").exists()


@pytest.mark.parametrize("name", ["x.pdf", "x.csv", "x.YAML", "x.sarif", "x.md"])
def test_a_baseline_is_not_written_under_the_name_of_another_format(name):
    out, errors, code = call(f"--baseline={name}", "--write-baseline")
    assert (out, code, Path(name).exists()) == ("", 2, False)
    assert f"{name}: a baseline is JSON; end its name in .json" in errors
    Path("rubric-lint.toml").write_text(f'baseline = "{name}"\n', "utf-8")
    assert call("--write-baseline")[2] == 2


@pytest.mark.parametrize("name", ["x.json", "known", ".rubric-lint-baseline", "x.baseline"])
def test_a_baseline_may_have_a_name_that_no_other_format_has(name):
    assert call(f"--baseline={name}", "--write-baseline")[2] == 0
    assert json.loads(Path(name).read_text("utf-8"))["findings"]
