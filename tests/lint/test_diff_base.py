"""Only what has changed since a Git revision, in real repositories."""

import json
import os
import shutil
import sys
from pathlib import Path

import commands
import pytest
from cases import read_cases
from commands import run_git
from lint_command import call

from rubric_lint.lint.run.git import ChangedLines, read_changes

TABLES = read_cases(__file__)


CHANGES = TABLES["CHANGES"]

RUBRIC = TABLES["RUBRIC"]
# Faults that are there from the start, so that there is something to leave out.
OLD = [("split-band", 8), ("vague-outcome", 14), ("vague-outcome", 16)]


def write(name, text=RUBRIC):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def commit(message="change"):
    run_git("add", "-A")
    run_git("commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture(scope="module")
def first_commit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    run_git("init", "-q", "-b", "main", "--template=", cwd=folder)
    (folder / "a.yaml").write_text(RUBRIC, "utf-8")
    run_git("add", "-A", cwd=folder)
    run_git("commit", "-q", "-m", "first", cwd=folder)
    return folder


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch, first_commit):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "repository"
    shutil.copytree(first_commit, folder, symlinks=True)
    monkeypatch.chdir(folder)
    return folder


def lint(*args):
    """What is found, as (file, rule, line); more of the summary than counts that every run has; the exit code."""
    out, err, code = call("--format=json", *args)
    assert err == ""
    report = json.loads(out)
    common = {"files_with_rubrics", "rubrics", "criteria", "errors", "warnings"}
    found = [(finding["file"], finding["rule"], finding["start"]["line"]) for finding in report["findings"]]
    return found, {name: count for name, count in report["summary"].items() if count and name not in common}, code


def found(*args):
    return [(rule, line) for _, rule, line in lint("--diff-base=main", *args)[0]]


def replace(old, new, name="a.yaml"):
    text = Path(name).read_text("utf-8")
    assert text.count(old) == 1
    write(name, text.replace(old, new))


def test_there_is_something_to_leave_out():
    assert [(rule, line) for _, rule, line in lint()[0]] == OLD


def test_what_has_not_changed_is_not_even_read(said):
    write("b.json", '{"rubrics": null}')
    commit()
    assert lint("--diff-base=main") == ([], {"unchanged_files": 2}, 0)
    out, _, code = call("--diff-base", "main")
    assert code == 0
    said(out)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "expected"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("state", ["unsaved", "staged", "committed"])
def test_what_touches_a_change(old, new, expected, state):
    run_git("checkout", "-q", "-b", "branch")
    replace(old, new)
    if state == "staged":
        run_git("add", "-A")
    if state == "committed":
        commit()
    assert [[*each] for each in found()] == expected


@pytest.mark.slow
def test_the_summary_tells_what_was_left_out():
    write("same.yaml")
    commit()
    replace("outcome: Good", "outcome: Decent")
    out, _, code = call("--diff-base=HEAD", "--format=concise", "--fail-on=warning")
    notes = "2 findings on unchanged lines hidden; 1 unchanged file not read.\n"
    assert (out.splitlines(keepends=True)[-1], code) == (notes, 1)
    assert lint("--diff-base=HEAD") == (
        [("a.yaml", "vague-outcome", 14)],
        {"files": 1, "untouched": 2, "unchanged_files": 1},
        0,
    )


def test_what_others_changed_since_the_branch_left_does_not_count():
    run_git("checkout", "-q", "-b", "branch")
    write("mine.yaml", "rubrics:\n  - id: a\n    expected_outcome: Good\n")
    commit()
    run_git("checkout", "-q", "main")
    replace("outcome: Good", "outcome: Decent")
    commit()
    run_git("checkout", "-q", "branch")
    assert lint("--diff-base=main")[0] == [("mine.yaml", "vague-outcome", 3)]


def test_new_files_are_new_as_a_whole():
    write("untracked.rubric.yaml", "rubrics: null\n")
    write(".gitignore", "hidden.rubric.yaml\n")
    write("hidden.rubric.yaml", "rubrics: null\n")
    write("staged.rubric.yaml", "")
    run_git("add", "staged.rubric.yaml")
    found, _, code = lint("--diff-base=main", "--select=schema", ".", "hidden.rubric.yaml")
    expected = [(f"{name}.rubric.yaml", "schema", 1) for name in ("staged", "untracked", "hidden")]
    assert (found, code) == (expected, 1)


@pytest.mark.parametrize(
    "name", ["é ü.yaml", 'a"b\\c.yaml', "tab\there.yaml", "line\nend.yaml", "+++ b/x.yaml", "🙂.yaml"]
)
def test_names_of_all_kinds(name):
    write(f"some folder/{name}")
    commit()
    replace("outcome: Good", "outcome: Decent", f"some folder/{name}")
    assert lint("--diff-base=HEAD")[0] == [(f"some folder/{name}", "vague-outcome", 14)]


def test_a_renamed_file_is_changed_where_its_lines_are():
    run_git("mv", "a.yaml", "b.yaml")
    replace("outcome: Good", "outcome: Decent", "b.yaml")
    run_git("add", "-A")
    assert lint("--diff-base=main")[0] == [("b.yaml", "vague-outcome", 14)]
    run_git("mv", "b.yaml", "c.yaml")
    replace("outcome: Decent", "outcome: Good", "c.yaml")
    assert lint("--diff-base=main") == ([], {"unchanged_files": 1}, 0)


@pytest.mark.parametrize("line_end", ["\r\n", "\r"], ids=["CRLF", "CR"])
def test_other_line_ends(line_end):
    write("a.yaml", RUBRIC.replace("\n", line_end))
    commit()
    write("a.yaml", RUBRIC.replace("\n", line_end).replace("outcome: Good", "outcome: Decent"))
    # To Git a file without line feeds is one line.
    expected = [OLD[1]] if line_end == "\r\n" else OLD
    assert [(rule, line) for _, rule, line in lint("--diff-base=HEAD")[0]] == expected


def test_what_git_takes_for_binary_is_compared_all_the_same():
    write(".gitattributes", "*.yaml binary diff=odd\n")
    commit()
    run_git("config", "diff.odd.textconv", "wc")
    replace("outcome: Good", "outcome: Decent")
    assert lint("--diff-base=HEAD")[0] == [("a.yaml", "vague-outcome", 14)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.yaml", "sub folder/ü.yaml"])
def test_what_git_holds_another_text_of_is_reported_as_a_whole(name):
    """As with Git LFS, of which Git has pointers: the second line of those is what has changed."""
    run_git("config", "--global", "filter.lfs.clean", "echo version && cksum")
    run_git("config", "--global", "filter.lfs.smudge", "cat")
    write(".gitattributes", "*.yaml filter=lfs diff=lfs merge=lfs -text\n")
    write(name)
    write("b.yml")
    run_git("add", "--renormalize", ".")
    commit()
    assert lint("--diff-base=HEAD")[0] == []
    for changed in (name, "b.yml"):
        write(changed, RUBRIC.replace("outcome: Good", "outcome: Decent"))
    expected = [*((name, *each) for each in OLD), ("b.yml", *OLD[1])]
    assert sorted(lint("--diff-base=HEAD")[0]) == sorted(expected)
    commit()
    assert sorted(lint("--diff-base=HEAD^")[0]) == sorted(expected)


def test_utf_16_is_reported_as_a_whole():
    write("a.yaml", RUBRIC.encode("utf-16"))
    commit()
    write("a.yaml", RUBRIC.replace("outcome: Good", "outcome: Decent").encode("utf-16"))
    assert len(lint("--diff-base=HEAD")[0]) == len(OLD)


@pytest.mark.spread(3)
@pytest.mark.parametrize("settings", TABLES["no setting of the user"])
def test_no_setting_of_the_user_changes_what_is_found(settings, monkeypatch):
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "true")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u7")
    for setting in settings:
        run_git("config", *setting.split("="))
    replace("outcome: Good", "outcome: Decent")
    assert found() == [("vague-outcome", 14)]


@pytest.mark.slow
def test_it_is_the_same_from_a_subfolder_through_a_link_and_in_a_work_tree(tmp_path, monkeypatch):
    write("sub/b.yaml")
    commit()
    run_git("worktree", "add", "-q", "-b", "branch", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "link" / "sub")
    replace("outcome: Good", "outcome: Decent", "b.yaml")
    assert lint("--diff-base=main")[0] == [("b.yaml", "vague-outcome", 14)]
    for name in ("../sub/b.yaml", str(tmp_path / "tree/sub/b.yaml"), str(tmp_path / "link/sub/b.yaml")):
        assert lint("--diff-base=main", name, "../a.yaml")[0] == [(name, "vague-outcome", 14)]


def test_a_file_outside_the_repository_is_new_as_a_whole():
    write("../outside.yaml", RUBRIC)
    assert len(lint("--diff-base=main", "../outside.yaml")[0]) == len(OLD)


@pytest.mark.slow
def test_files_of_a_submodule_are_new_as_a_whole(tmp_path):
    other = tmp_path / "other"
    shutil.copytree(".", other)
    run_git("submodule", "add", "-q", f"file://{other}", "sub")
    commit()
    assert lint("--diff-base=HEAD")[0] == [("sub/a.yaml", *each) for each in OLD]
    os.chdir("sub")
    replace("outcome: Good", "outcome: Decent")
    assert lint("--diff-base=HEAD")[0] == [("a.yaml", "vague-outcome", 14)]


def test_many_hunks_are_read_line_by_line():
    write("b.yaml", "".join(f"{number}\n" for number in range(1, 31)))
    commit()
    lines = [f"{number}\n" for number in range(1, 31)]
    lines[0:1] = ["new\n", "1\n"]
    lines[5] = "--- a/x\n"
    lines[10:12] = []
    lines[20] = "+++ b/a.yaml\n"
    lines.append("@@ -1 +1 @@")
    write("b.yaml", "".join(lines))
    assert read_changes("HEAD").files == {"b.yaml": ChangedLines(((1, 1), (6, 6), (21, 21), (30, 30)), (10,))}


def refusal(*args):
    out, err, code = call(*args)
    assert (out, code) == ("", 2)
    return err.partition("Error: --diff-base: ")[2].rstrip("\n")


@pytest.mark.parametrize("revision", ["nix", "--all"], ids=["no revision", "an option"])
def test_an_unknown_revision(revision, said):
    said(refusal(f"--diff-base={revision}"))


@pytest.mark.slow
def test_a_branch_that_only_the_remote_has(tmp_path, said):
    run_git("clone", "-q", ".", str(tmp_path / "clone"))
    os.chdir(tmp_path / "clone")
    run_git("checkout", "-q", "-b", "mine")
    run_git("branch", "-q", "-D", "main")
    said(refusal("--diff-base=main"))
    assert lint("--diff-base=origin/main") == ([], {"unchanged_files": 1}, 0)


@pytest.mark.slow
def test_a_shallow_clone(tmp_path, said):
    run_git("checkout", "-q", "-b", "branch")
    commit()
    run_git("checkout", "-q", "main")
    commit()
    commit()
    run_git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{Path.cwd()}", str(tmp_path / "clone"))
    os.chdir(tmp_path / "clone")
    said(refusal("--diff-base=v1"), refusal("--diff-base=origin/branch"))


def test_histories_that_never_met(said):
    run_git("checkout", "-q", "--orphan", "other")
    commit()
    said(refusal("--diff-base=main"))


def test_nothing_is_committed(tmp_path, said):
    os.chdir(tmp_path)
    run_git("init", "-q", "fresh")
    os.chdir("fresh")
    said(refusal("--diff-base=main"))


def test_no_repository(tmp_path, said):
    os.chdir(tmp_path)
    said(refusal("--diff-base=main"))


def test_no_git(tmp_path, said):
    out, err, code = call("--diff-base=main", PATH=str(tmp_path))
    assert (out, code) == ("", 2)
    said(err.splitlines()[-1])


def test_standard_input_has_no_history():
    out, err, code = call("--diff-base=main", "-")
    told = "Error: --diff-base cannot be used with stdin; it compares files"
    assert (out, err.splitlines()[-1], code) == ("", told, 2)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_a_repository_cannot_have_git_start_programs(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()

    def program(name):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho > "{marks}/{name}"\ncat\n')
        path.chmod(0o755)
        return str(path)

    write(".gitattributes", "*.yaml filter=evil diff=evil\n*.yml filter=slow\n")
    write("c.yml")
    commit()
    write(".git/info/attributes", "*.yaml filter=evil diff=evil\n")
    for key, value in {
        "core.fsmonitor": program("fsmonitor"),
        "core.pager": program("pager"),
        "core.hooksPath": str(tmp_path),
        "core.sshCommand": program("ssh"),
        "filter.evil.clean": program("clean"),
        "filter.evil.smudge": program("smudge"),
        "filter.evil.required": "true",
        "filter.slow.process": program("process"),
        "filter.a.b c.clean": program("dotted"),
        "diff.evil.textconv": program("textconv"),
        "diff.evil.command": program("command"),
        "diff.external": program("external"),
        "remote.origin.url": "ext::" + program("remote"),
        "remote.origin.promisor": "true",
        "protocol.allow": "always",
    }.items():
        run_git("config", key, value)
    program("post-index-change")
    shutil.rmtree(marks)
    marks.mkdir()
    for name in ("a.yaml", "c.yml"):
        write(name, RUBRIC.replace("Excellent", "Excellent!"))
    changes = read_changes("HEAD")
    assert (sorted(changes.files), list(marks.iterdir())) == (["a.yaml", "c.yml"], [])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_git_is_never_taken_from_the_current_folder(monkeypatch):
    code = "from rubric_lint.lint.run.git import run_git; print(run_git('--version')[1][:11])"
    write("git", '#!/bin/sh\necho "mine"\n')
    Path("git").chmod(0o755)
    for start in ("", ".", "./"):
        monkeypatch.setenv("PATH", start + os.pathsep + os.environ["PATH"])
        assert commands.run_process([sys.executable, "-c", code], check=True).stdout.strip() == "b'git version'"
