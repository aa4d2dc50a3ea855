"""The hooks, run by the real pre-commit and the real prek in real repositories."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from found import message
from once import make_once

from rubric_lint.lint.project.settings import Overrides
from rubric_lint.lint.run.summary import RunScope, Summary
from rubric_lint.source.source import SIGNED_SUFFIXES, SUFFIXES, kind_of

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PARTS = (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "rubric_lint", "schemas", "skills")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / ".pre-commit-hooks.yaml").exists(), reason="the hooks are not part of the sdist"),
    pytest.mark.skipif(not (BIN / "pre-commit").exists(), reason="pre-commit is installed for development only"),
]

OLD = """\
rubrics:
  - id: a
    description: States the result.   # of the trial
"""
GOOD = OLD.replace("description", "expected_outcome")
OVERLAP = """\
rubrics:
  - id: a
    score_ranges:
      - {score_range: [0, 5], expected_outcome: States no result}
      - {score_range: [5, 10], expected_outcome: States the result}
  - {id: b, score_ranges: {0: Names no source, 5: Names a source}}
"""
SHARED = message("overlap.shared-scores", scores="score 5", are="is", band="[5, 10]", other="[0, 5]", line="line 4")
FINDING = f"""\
error overlap: criterion `a`: {SHARED}
--> {{0}}:5:23
4 |       - {{{{score_range: [0, 5], expected_outcome: States no result}}}}
|                       ------ also covers 5
5 |       - {{{{score_range: [5, 10], expected_outcome: States the result}}}}
|                       ^^^^^^^
= choose: end [0, 5] at 4 (--choose upper-keeps) or start [5, 10] at 6 (--choose lower-keeps)
"""
ONE = Summary(files=1, files_with_rubrics=1, files_with_findings=1, rubrics=1, criteria=2, errors=1, choices=1)
HOOK = Overrides(force_exclude=True)  # the hooks name every file
FOUND_ONE = f"{ONE._replace(scope=RunScope(('suite.yaml',), overrides=HOOK))}\n"
FIXED = """\
{0}: fixed 1 finding
1 x rename `description` to `expected_outcome` (deprecated-description)
Fixed 1 finding in 1 of 2 files: 1 deprecated-description.
"""


PROGRAMS = tuple(suffix for suffix in SIGNED_SUFFIXES if kind_of(suffix).is_program)  # checked, never rewritten

NEVER_CHANGED = {"rubric-fix": PROGRAMS, "rubric-format": (*PROGRAMS, ".toml")}


def dotted(hook, verdict):
    return f"{hook}{'.' * (79 - len(hook) - len(verdict))}{verdict}\n"


PASSED = dotted("rubric-fix", "Passed") + dotted("rubric-lint", "Passed")
FIX_FAILED = dotted("rubric-fix", "Failed") + "- hook id: rubric-fix\n- files were modified by this hook\n"
LINT_FAILED = dotted("rubric-lint", "Failed") + "- hook id: rubric-lint\n- exit code: 1\n"


def git(*args, cwd=None):
    """Run git as nobody in particular, at no particular time, so that equal content has equal commits."""
    person = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": "2020-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    environment = {**os.environ, **person, **dates, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "init.defaultBranch=main", *args]
    return subprocess.run(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def content_key():
    """Changes when the package does."""
    files = sorted(path for part in PARTS for path in [ROOT / part, *(ROOT / part).rglob("*")])
    digest = hashlib.sha256(str(ROOT).encode())
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def hooks():
    """The repository that hooks are installed from; beside it the environments that are made of them."""

    def clone(folder):
        for old in folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
        repository = folder / "clone"
        repository.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, repository / part)
        for args in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "hooks"]):
            done = git(*args, cwd=repository)
            assert done.returncode == 0, done.stderr

    return make_once(ROOT / ".cache" / "hooks", content_key(), clone) / "clone"


@pytest.fixture(params=["pre-commit", "prek"])
def manager(request, hooks, repository, monkeypatch):  # noqa: ARG001 (the place comes first)
    """The program that runs hooks, in the repository."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(hooks.parent / "pre-commit"))
    monkeypatch.setenv("PREK_HOME", str(hooks.parent / "prek"))
    monkeypatch.setenv("PRE_COMMIT_COLOR", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    return request.param


@pytest.fixture
def repository(tmp_path, monkeypatch, hooks):
    """An empty repository with the three lines of the README."""
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    git("init", "-q")
    revision = git("rev-parse", "HEAD", cwd=hooks).stdout.strip()
    write(
        ".pre-commit-config.yaml",
        f"repos:\n  - repo: {hooks.as_uri()}\n    rev: {revision}\n"
        "    hooks: [{id: rubric-fix}, {id: rubric-lint}]\n",
    )
    return here


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def told(done):
    """What hooks say, the same for both programs: prek indents it, spaces it by itself and says what a hook is for."""
    preparation = ("[INFO]", "- description:", "- duration:")
    lines = (line.strip() for line in (done.stdout + done.stderr).splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(preparation))


def run(manager, *args):
    """The exit code of a run of hooks, and what it says."""
    done = commands.run_process([manager, *args])
    return done.returncode, told(done)


def commit(message="change"):
    """The same of a commit, without what Git says of one that it has made."""
    git("add", "--all")
    done = git("commit", "-qm", message)
    return done.returncode, told(done)


def test_they_take_the_files_that_a_search_finds():
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    patterns = dict(re.findall(r"(?s)- id: ([a-z-]+)\n.*?\n  files: (.*?)\n", hooks))
    assert list(patterns) == ["rubric-lint", "rubric-fix", "rubric-format", "rubric-test"]
    for hook, pattern in patterns.items():
        suffixes = [suffix for suffix in (*SUFFIXES, *SIGNED_SUFFIXES) if suffix not in NEVER_CHANGED.get(hook, ())]
        names = [*(f"a{suffix}" for suffix in suffixes), "A.YAML", "b.rubric.yml"]
        assert [bool(re.search(pattern, name)) for name in names] == [True] * len(names)
        assert not any(re.search(pattern, name) for name in ["yaml", "a.yaml.txt", "ajson", "a.pyc", "a.jsonnet"])
    for hook, others in NEVER_CHANGED.items():
        assert not any(re.search(patterns[hook], f"a{suffix}") for suffix in others)


def test_try_repo(manager, hooks):
    write("a.yaml", OVERLAP)
    write("b.yaml", GOOD)
    git("add", "--all")
    code, text = run(manager, "try-repo", str(hooks), "rubric-lint", "--all-files")
    again = RunScope((".pre-commit-config.yaml", "a.yaml", "b.yaml"), overrides=HOOK)
    counts = f"{ONE._replace(files=3, files_with_rubrics=2, rubrics=2, criteria=3, scope=again)}\n"
    assert (1, LINT_FAILED + FINDING.format("a.yaml") + counts) == (code, text[text.index(LINT_FAILED) :])


@pytest.mark.parametrize("hook", ["rubric-lint", "rubric-fix", "rubric-format", "rubric-test"])
def test_they_say_nothing_of_the_files_of_others(manager, hooks, hook):
    for name, text in (("a.yaml", "a: 1\n"), ("b.json", "{}\n"), ("c.py", "print(1)\n"), ("d.toml", "a = 1\n")):
        write(name, text)
    git("add", "--all")
    code, text = run(manager, "try-repo", str(hooks), hook, "--all-files", "--verbose")
    assert (code, re.findall(r"\b[a-d]\.(?:yaml|json|py|toml)\b", text)) == (0, [])


def test_a_commit_is_refused_fixed_and_accepted(manager):
    assert run(manager, "install")[0] == 0
    write("suite.yaml", OLD)
    assert (1, FIX_FAILED + FIXED.format("suite.yaml") + dotted("rubric-lint", "Passed")) == commit()
    assert GOOD == Path("suite.yaml").read_text("utf-8")
    assert git("rev-parse", "HEAD").returncode != 0
    assert (0, PASSED) == commit()
    write("suite.yaml", OVERLAP)
    refused = dotted("rubric-fix", "Passed") + LINT_FAILED + FINDING.format("suite.yaml") + FOUND_ONE
    assert (1, refused) == commit()
    write("suite.yaml", OVERLAP.replace("[5, 10]", "[6, 10]"))
    assert (0, PASSED) == commit()
    assert "" == git("status", "--porcelain").stdout


def test_nothing_else_is_looked_at(manager):
    assert run(manager, "install")[0] == 0
    write("notes.txt", OVERLAP)
    write("suite.yaml", "rubrics: {{ a template }}")
    code, text = commit()
    assert (0, PASSED) == (code, text)


def test_warnings_pass_without_a_word_and_settings_hold(manager):
    write("vague.yaml", GOOD.replace("States the result.", "Good"))
    write("generated/a.yaml", OVERLAP)
    write("drafts/a.yaml", OVERLAP)
    write(
        "pyproject.toml",
        '[tool.rubric-lint]\nexclude = ["generated/"]\n[tool.rubric-lint.per-file-ignores]\n"drafts/" = ["overlap"]\n',
    )
    git("add", "--all")
    assert (0, PASSED) == run(manager, "run", "--all-files")
    write("pyproject.toml", '[tool.rubric-lint.severity]\nvague-outcome = "error"\n')
    git("add", "--all")
    code, text = run(manager, "run", "--all-files")
    assert code == 1
    assert sorted(re.findall(r"error ([^:]+): .*\n *--> (\S+)", text)) == [
        ("overlap", "drafts/a.yaml:5:23"),
        ("overlap", "generated/a.yaml:5:23"),
        ("vague-outcome", "vague.yaml:3:23"),
    ]


@pytest.mark.parametrize(
    "name", ["with space.yaml", "ünïcode 😀.yml", "-dash.yaml", "quo'te\".json", "sub/--fix.jsonl", "$(x).yaml"]
)
def test_files_of_any_name(manager, name):
    value = '{"rubrics": [{"id": "a", "levels": [{"level": 1, "expected_outcome": "x"}]}]}\n'
    write(name, value)
    git("add", "--all")
    code, text = run(manager, "run", "--all-files")
    assert code == 1
    assert re.search(rf"error levels: .*\n *--> {re.escape(name)}:1:36\n", text)


def test_more_files_than_one_command_line_holds(manager):
    folder = "a-folder-with-a-rather-long-name/" * 4
    for number in range(2500):
        write(f"{folder}{number:04}.yaml", OVERLAP if number % 1000 == 500 else GOOD)
    git("add", "--all")
    code, text = run(manager, "run", "rubric-lint", "--all-files")
    assert code == 1
    assert sorted(re.findall(r"error overlap: .*\n *--> .*(\d{4})\.yaml:5:23", text)) == ["0500", "1500"]
    batches = [int(count.replace(",", "")) for count in re.findall(r"(?:of|No findings in) ([\d,]+) files", text)]
    # The configuration is a file as well. prek takes longer command lines.
    assert (len(batches) > 1 or manager == "prek", sum(batches)) == (True, 2501)


def test_a_merge_is_refused_until_its_rubrics_are_right(manager):
    assert run(manager, "install")[0] == 0
    for branch, text in (("main", GOOD), ("theirs", OVERLAP.replace("[5, 10]", "[6, 10]"))):
        git("checkout", "-q", "-B", branch)
        write("suite.yaml", text)
        assert (0, PASSED) == commit()
    git("checkout", "-q", "main")
    write("suite.yaml", GOOD.replace("the result", "the right result"))
    assert (0, PASSED) == commit()
    assert git("merge", "-q", "theirs").returncode == 1
    write("suite.yaml", OVERLAP)
    assert commit("merge")[0] == 1
    write("suite.yaml", OVERLAP.replace("[5, 10]", "[6, 10]"))
    assert (0, PASSED) == commit("merge")
    assert len(git("show", "-s", "--format=%P").stdout.split()) == 2


def test_formatting_stops_the_commit_where_it_changed_a_file(manager, hooks):
    write("a.yaml", GOOD.replace("- id: a\n    ", "- ").replace("# of the trial", "# of the trial\n    id: a"))
    git("add", "--all")
    call = ("try-repo", str(hooks), "rubric-format", "--all-files")
    code, text = run(manager, *call)
    assert (1, True) == (code, "a.yaml: formatted\nFormatted 1 of 2 files.\n" in text)
    assert Path("a.yaml").read_text("utf-8") == GOOD
    code, text = run(manager, *call)
    assert (0, dotted("rubric-format", "Passed")) == (code, text[text.index("rubric-format...") :])


def test_rubric_tests_run_when_the_rubric_changes(manager, hooks):
    rubric = "rubrics:\n  - {id: day, expected_outcome: Names the day, required_min_score: 10}\n"
    output = "output: {checks: [{id: day, satisfied: false}]}"
    write("a.rubric.yaml", rubric)
    write(
        "a.rubric-test.yaml", f"rubric: a.rubric.yaml\ntests:\n  - {{id: wrong, {output}, expect: {{verdict: fail}}}}\n"
    )
    git("add", "--all")
    call = ("try-repo", str(hooks), "rubric-test", "--files", "a.rubric.yaml")
    code, text = run(manager, *call)
    assert (0, dotted("rubric-test", "Passed")) == (code, text[text.index("rubric-test...") :])
    write("a.rubric.yaml", rubric.replace("day, expected", "days, expected"))
    code, text = run(manager, *call)
    assert (1, True) == (code, "broken-test" in text or "unrecorded-test" in text)
