"""Results that are kept from run to run: used only where nothing that they depend on has changed."""

import json
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from pathlib import Path

import commands
import pytest
from hypothesis import given
from styled_suites import json_suites, yaml_suites

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.lint.run.cache import Cache, cache_folder, clear, identify_tool
from rubric_lint.lint.run.summary import Summary
from rubric_lint.model.finding import Severity
from rubric_lint.source.source import Source

ROOT = Path(__file__).parents[2]
FAULTY = "rubrics:\n  - id: a\n    expected_outcome: ''\n"
CLEAN = f"{Summary(files=1, files_with_rubrics=1, rubrics=1, criteria=1)}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with one faulty file, whose cache is beside it."""
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.yaml").write_text(FAULTY)
    monkeypatch.chdir(work)
    return work


def run(*arguments, package=None):
    """Standard output of a run, without the summary where something is found."""
    command = ["rubric-lint", "--format", "concise", *arguments]
    if package is None:
        done = commands.run(*command)
    else:
        done = commands.run_process(commands.command(*command), env={**os.environ, "PYTHONPATH": str(package)})
    assert done.stderr == ""
    return re.sub(r"^Found .*\n(?:.* fixable .*\n)?", "", done.stdout, flags=re.MULTILINE)


def results():
    """The file in which the results are."""
    (found,) = [path for path in cache_folder().rglob("*") if path.is_file() and "." not in path.name]
    return found


def pretend_clean():
    """Make the cache say that every file it knows is clean, so that an answer from the cache can be told."""
    path = results()
    body = json.dumps({key: [1, 1, 0, 0, [], []] for key in json.loads(path.read_bytes().partition(b"\n")[2])}).encode()
    path.write_bytes(blake2b(body, digest_size=16).hexdigest().encode() + b"\n" + body)


def test_a_second_run_answers_from_the_cache():
    first = run("a.yaml")
    assert "empty-outcome" in first
    assert run("a.yaml") == first
    pretend_clean()
    assert run("a.yaml") == CLEAN
    assert run("a.yaml", "--no-cache") == first
    tag = results().with_name("CACHEDIR.TAG").read_bytes()  # which tells backups that it is a cache
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55")


def test_a_file_that_is_not_text_is_answered_from_the_cache_too(folder):
    (folder / "a.yaml").write_bytes(b'rubrics:\n  - expected_outcome: "\xe9"\n')
    first = run("a.yaml")
    assert "is not UTF-8" in first
    assert run("a.yaml") == first


def test_a_user_without_a_home_keeps_nothing(folder, monkeypatch, said):
    for name in ("RUBRIC_LINT_CACHE_DIR", "HOME", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it answers for a user that nobody knows
    assert cache_folder() is None
    with Cache.here() as cache:
        cache.put("key", lint("a.yaml", FAULTY.encode()))
    assert [path.name for path in folder.iterdir()] == ["a.yaml"]
    assert clear() == 0
    for command in ("dir", "clear"):
        done = commands.run("rubric-lint", "cache", command)
        assert done.returncode == 2
        said(done.stderr.splitlines()[-1])


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have no XDG folders")
def test_a_relative_folder_for_caches_is_ignored(tmp_path, monkeypatch):
    monkeypatch.delenv("RUBRIC_LINT_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache/rubric-lint"


def test_folders_of_modules_that_may_not_be_read_are_passed_by(tmp_path, monkeypatch):
    expected = identify_tool()
    list_folder = os.listdir

    def refuse(path):
        if path == str(tmp_path):
            raise PermissionError
        return list_folder(path)

    monkeypatch.setattr("os.listdir", refuse)  # to root every folder is readable
    monkeypatch.syspath_prepend(str(tmp_path))
    assert identify_tool() == expected


CHANGES = {
    "content": lambda folder: (folder / "a.yaml").write_text(FAULTY + "# a comment\n"),
    "settings": lambda folder: (folder / "rubric-lint.toml").write_text("[severity]\nempty-outcome = 'warning'\n"),
    "thresholds": lambda folder: (folder / "rubric-lint.toml").write_text("pass = 0.9\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_is_served_after_a_change_of(change, folder):
    run("a.yaml")
    pretend_clean()
    change(folder)
    changed = run("a.yaml")
    assert "empty-outcome" in changed
    assert changed == run("a.yaml", "--no-cache")


def test_nothing_is_served_for_another_set_of_rules_name_or_folder(folder, said):
    run("a.yaml")
    pretend_clean()
    assert "empty-outcome" in run("a.yaml", "--select", "empty-outcome")
    assert "empty-outcome" in run("a.yaml", "--ignore", "weight")
    said(run("a.yaml", "--ignore", "empty-outcome"))
    (folder / "a.yaml").rename(folder / "a.json")
    assert "syntax" in run("a.json")
    keys = [Cache(None).key(f"{folder}/a.json", b"{}", FileSettings()) for folder in ("docs", "evals")]
    assert len(set(keys)) == 2  # the name of a folder may say that a judge reads what is in it


@pytest.mark.slow
@pytest.mark.parametrize("file", ["rubric_lint/__init__.py", "rubric_lint/rules/rows.py", "schemas/v2/rubric.json"])
def test_nothing_is_served_after_a_change_of_the_tool(file, tmp_path):
    package = tmp_path / "package"
    for name in ("rubric_lint", "schemas"):
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    first = run("a.yaml", package=package)
    pretend_clean()
    assert run("a.yaml", package=package) == CLEAN
    with (package / file).open("a") as text:
        text.write("\n")
    assert run("a.yaml", package=package) == first


@pytest.mark.slow
def test_a_version_has_results_of_its_own(tmp_path):
    package = tmp_path / "package"
    for name in ("rubric_lint", "schemas"):
        shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    run("a.yaml", package=package)
    pretend_clean()
    init = package / "rubric_lint/version.py"
    init.write_text(re.sub(r'__version__ = ".*"', '__version__ = "99.0"', init.read_text()))
    assert "empty-outcome" in run("a.yaml", package=package)


DAMAGE = {
    "nothing": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "a flipped bit": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "something else": lambda _: b"\x80\x04 not ours\n{}",
    "no end of the first line": lambda data: data.replace(b"\n", b""),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_corrupt_cache_is_ignored_and_made_anew(damage):
    first = run("a.yaml")
    path = results()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert run("a.yaml") == first
    assert path.read_bytes() == whole


@pytest.mark.slow
def test_what_a_killed_run_left_in_the_cache_is_removed_by_the_next_one(folder):
    run("a.yaml")
    left = results().with_name(".a.0123456789abcdef.rubric-lint")
    left.write_bytes(b"half")
    (folder / "a.yaml").write_text(FAULTY + "# changed\n")
    run("a.yaml", package=ROOT)
    assert not left.exists()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    assert "empty-outcome" in run("a.yaml")


@pytest.mark.slow
def test_several_processes_at_once_leave_it_whole(folder):
    for number in range(20):
        (folder / f"{number}.yaml").write_text(FAULTY.replace("id: a", f"id: a{number}"))
    expected = {name: run(name, "--no-cache") for name in sorted(path.name for path in folder.iterdir())}
    with ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            found = pool.map(partial(run, package=ROOT), expected)  # a package names processes of their own
            assert dict(zip(expected, found, strict=True)) == expected
    left = results().parent
    assert {path.name for path in left.iterdir()} == {results().name, "CACHEDIR.TAG"}
    assert run(".") == run(".", "--no-cache")


@pytest.mark.slow
def test_large_runs_by_several_processes_are_kept_too(folder, said):
    for number in range(250):
        (folder / f"{number}.yaml").write_text(FAULTY.replace("id: a", f"id: a{number}"))
    fresh = run(".")
    assert len(json.loads(results().read_bytes().partition(b"\n")[2])) == 251
    assert run(".") == fresh
    pretend_clean()
    said(run("."))


@pytest.mark.slow
@given(yaml_suites() | json_suites())
def test_a_kept_result_is_the_result(suite):
    settings = FileSettings(severities={"missing-id": Severity.ERROR})
    result = lint(suite.name, suite.data, settings)
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder, "build", "here"))
        key = cache.key(suite.name, suite.data, settings)
        assert cache.get(key, suite.name, suite.data) is None
        cache.put(key, result)
        cache.save()
        kept = Cache(Path(folder, "build", "here")).get(key, suite.name, suite.data)
    findings = tuple(
        finding._replace(
            obstacle="",
            criterion=(),
            related=tuple(each._replace(path=()) for each in finding.related),
            fix=finding.fix and finding.fix.with_intents(()),
            choices=tuple(choice.with_intents(()) for choice in finding.choices),
        )
        for finding in result.findings
    )
    assert kept == result._replace(findings=findings, source=result.source if findings else Source(suite.name, ""))


def test_it_is_cleared_by_one_command():
    run("a.yaml")
    said = [commands.run("rubric-lint", "cache", word).stdout for word in ("dir", "clear")]
    assert said == [f"{cache_folder()}\n", f"Removed 1 file from {cache_folder()}.\n"]
    assert not cache_folder().exists()
    assert clear() == 0


def test_a_folder_that_is_no_cache_is_not_cleared(folder, monkeypatch):
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(folder))
    assert clear() == 0
    assert (folder / "a.yaml").exists()


def others(folder):
    """What a folder may hold beside a cache, and has held for long: files, folders, and what is named much as ours."""
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "letters").write_text("precious")
    (folder / "CACHEDIR.TAG").write_text("of another tool")
    (folder / f"rubric-lint-{'0123' * 8}").symlink_to("old")
    (folder / "rubric-lint-0123").mkdir()
    (folder / ("0123" * 8)).mkdir()
    names = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    for name in names:
        os.utime(folder / name, (0, 0), follow_symlinks=False)
    return names


def test_nothing_is_taken_away_that_stands_beside_the_cache():
    folder = cache_folder()
    before = others(folder)
    run("a.yaml")
    (ours,) = {path.name for path in folder.iterdir()} - {str(name) for name in before}
    assert ours.startswith("rubric-lint-")
    assert clear() == 1
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
    assert (folder / "CACHEDIR.TAG").read_text() == "of another tool"


def test_results_of_builds_that_write_no_more_are_dropped_in_time():
    run("a.yaml")
    ours = results().parent
    old = ours.with_name(f"rubric-lint-{'0123' * 8}")
    recent = ours.with_name(f"rubric-lint-{'4567' * 8}")
    for path in (old, recent):
        path.mkdir()
        (path / "results").write_text("")
    os.utime(old, (0, 0))
    shutil.rmtree(ours)
    run("a.yaml")
    assert (old.exists(), recent.exists()) == (False, True)
