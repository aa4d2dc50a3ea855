"""The workflows, the action, the image and the files of a release, each followed step by step here."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import commands
import pytest
from ruamel.yaml import YAML

from rubric_lint import __version__

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))

pytestmark = [
    pytest.mark.repository,
    pytest.mark.skipif(not GITHUB.exists(), reason="the workflows are not part of the sdist"),
]

OVERLAP = """\
rubrics:
  - id: a
    score_ranges:
      - {score_range: [0, 5], expected_outcome: States no result}
      - {score_range: [5, 10], expected_outcome: States the result}
  - {id: b, score_ranges: {0: States no unit, 5: States the unit}}
"""
SOUND = "rubrics:\n  - {id: a, expected_outcome: States the result}\n"


def load_text(text):
    return YAML(typ="safe").load(text)


def load(path):
    return load_text(path.read_text("utf-8"))


def steps_of(document):
    """The steps of a workflow or of a composite action."""
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for job in jobs for step in job.get("steps", [])]


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_a_script_takes_nothing_from_outside_but_its_environment(path):
    assert [step["run"] for step in steps_of(load(path)) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_rights_but_those_of_its_jobs(path):
    workflow = load(path)
    assert workflow["permissions"] == {}
    assert all("permissions" in job for job in workflow["jobs"].values())


def test_an_action_is_pinned_to_one_commit_everywhere():
    pins = {}
    for path in [*WORKFLOWS, ACTION]:
        used = re.findall(r"uses: (?!\$/)(\S+)@(\S+)(.*)", path.read_text("utf-8"))
        for name, commit, comment in used:
            assert re.fullmatch(r"[0-9a-f]{40}", commit)
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)
            pins.setdefault(name, set()).add((commit, comment))
    assert {name: found for name, found in pins.items() if len(found) != 1} == {}


def test_what_a_release_publishes_is_built_once_and_waits_for_the_tests():
    jobs = load(GITHUB / "workflows/release.yml")["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "test": None,
        "build": None,
        "attest": ["build", "test"],
        "package-index": "attest",
        "markets": "package-index",
        "github-release": "package-index",
    }
    assert {name for name, job in jobs.items() if "environment" in job} == {"package-index", "markets"}
    assert "secrets." not in (GITHUB / "workflows/release.yml").read_text("utf-8")


def test_zizmor_finds_nothing():
    zizmor = Path(sys.executable).parent / "zizmor"
    if not zizmor.exists():
        pytest.skip("zizmor is installed for development only")
    command = [zizmor, "--offline", "--pedantic", "--strict-collection", "--no-progress", "--color=never", ROOT]
    done = commands.run_process(command)
    assert (done.returncode, done.stdout) == (0, "No findings to report. Good job!\n"), done.stdout + done.stderr


PAGES = [
    path
    for pattern in ("*.md", "docs/**/*.md", "skills/**/*.md", "vscode/*.md", "rubric_lint/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]
BLOCK = re.compile(r"^```yaml[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = [
    pytest.param(text, id=f"{page.relative_to(ROOT).as_posix()}-{number}")
    for page in PAGES
    for number, text in enumerate(BLOCK.findall(page.read_text("utf-8")))
    if re.search(r"^(?:jobs:| *-? ?uses: .*@)", text, re.MULTILINE)
]
"""The workflows that pages tell users to copy."""


def test_every_workflow_on_a_page_is_whole():
    assert len(WRITTEN) >= 3
    assert [each.id for each in WRITTEN if "jobs" not in load_text(each.values[0])] == []


def test_every_workflow_of_a_guide_runs_on_push_and_on_pull_requests():
    guides = {each.id: load_text(each.values[0]) for each in WRITTEN if each.id.startswith("docs/guides/")}
    assert {name for name, guide in guides.items() if set(guide["on"]) != {"push", "pull_request"}} == set()


@pytest.mark.parametrize("text", WRITTEN)
def test_zizmor_finds_nothing_in_a_workflow_on_a_page(text, tmp_path):
    zizmor = Path(sys.executable).parent / "zizmor"
    if not zizmor.exists():
        pytest.skip("zizmor is installed for development only")
    file = tmp_path / ".github/workflows/page.yml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    command = [zizmor, "--offline", "--strict-collection", "--no-progress", "--color=never", tmp_path]
    done = commands.run_process(command)
    assert (done.returncode, done.stdout.startswith("No findings to report.")) == (0, True), done.stdout + done.stderr


def packages(folder, tag):
    command = [sys.executable, folder / ".ci/packages.py", tag]
    done = commands.run_process(command)
    return done.returncode, done.stdout


def test_only_the_commit_of_a_version_is_released(tmp_path):
    for name in (".ci/packages.py", "rubric_lint/version.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    told = f"rubric_lint/version.py says {__version__}; tag v{__version__}, or `make version` first\n"
    (tmp_path / "vscode").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n", "utf-8")
    (tmp_path / "vscode/CHANGELOG.md").write_text(f"# Changelog\n\n## {__version__}\n\n- New.\n", "utf-8")
    assert packages(tmp_path, "v9.9.9") == (1, f"the tag is v9.9.9, but {told}")
    assert packages(tmp_path, __version__) == (1, f"the tag is {__version__}, but {told}")
    told = f"no section `## {__version__}` in CHANGELOG.md; write it first\n"
    assert packages(tmp_path, f"v{__version__}") == (1, told)


class Runner:
    """Runs the steps of action.yml as GitHub does, in a folder of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.temp = folder / "temp"
        self.work = folder / "work"
        self.may = "may-write"
        self.work.mkdir(parents=True)
        self.temp.mkdir()

    def value(self, expression, inputs):
        known = {"github.action_path": str(ROOT), "runner.temp": str(self.temp), "github.token": self.may}
        known |= {"github.repository": "o/r", "github.event.pull_request.number": "7"}
        defaults = {name: str(given.get("default", "")) for name, given in load(ACTION)["inputs"].items()}
        known |= {f"inputs.{name}": text for name, text in (defaults | inputs).items()}
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found[1]], expression)

    def run(self, step, **inputs):
        step = next(each for each in load(ACTION)["runs"]["steps"] if each["name"] == step)
        environment = {name: self.value(text, inputs) for name, text in step["env"].items()}
        outputs = self.folder / "outputs"
        environment |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_ACTIONS": "true"}
        environment |= {
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": f"{self.folder}/summary.md",
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = commands.run_process(command, cwd=self.work, env=environment)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def test_the_action_refuses_what_is_not_a_version(runner):
    told = "::error::the input `version` must be a version such as 1.2.3\n"
    for version in ("1.2.3; touch pwned", "$(touch pwned)", "--index-url=http://127.0.0.1", "1.2.3\ntouch pwned"):
        assert runner.run("Install rubric-lint", version=version) == (2, told, "")
        assert list(runner.work.iterdir()) == []


def test_the_action_says_which_python_it_needs(runner):
    old = runner.folder / "python"
    old.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    old.chmod(0o755)
    told = "::error::rubric-lint needs Python 3.11 or newer; use actions/setup-python before this step\n"
    assert runner.run("Install rubric-lint", python=str(old)) == (2, told, "")


def test_the_action_installs_itself_and_lints(runner):
    assert runner.run("Install rubric-lint", python=sys.executable)[:2] == (0, "")
    lint = "Check rubrics"
    (runner.work / "sound.yaml").write_text(SOUND, "utf-8")
    code, told, _ = runner.run(lint)
    assert (code, "1 rubric" in told) == (0, True)
    (runner.work / "a file.yaml").write_text(OVERLAP, "utf-8")
    code, told, _ = runner.run(lint)
    assert (code, told.count("::error file=a file.yaml,line=5")) == (1, 1)
    assert runner.run(lint, args="--ignore=overlap\n--quiet")[:2] == (0, "")
    code, told, _ = runner.run(lint, paths="sound.yaml\na file.yaml", sarif="true")
    report = runner.temp / "rubric-lint/report.sarif"
    assert (code, "::error" in told) == (1, False)
    assert (runner.folder / "outputs").read_text("utf-8") == f"sarif-file={report}\n"
    assert '"ruleId":"overlap"' in re.sub(r"\s", "", report.read_text("utf-8"))
    for hostile in ("$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "'; touch pwned #", "--fix"):
        code, _, told = runner.run(lint, paths=hostile)
        assert (code, hostile in told) == (2, True)
    assert sorted(path.name for path in runner.work.iterdir() if path.is_file()) == ["a file.yaml", "sound.yaml"]
    assert (runner.work / "a file.yaml").read_text("utf-8") == OVERLAP


GH = f"""\
#!{sys.executable}
import json, os, pathlib, sys

assert sys.argv[1] == "api"
file = pathlib.Path(__file__).with_name("comments.json")
comments = json.loads(file.read_text("utf-8")) if file.exists() else []
if "--jq" in sys.argv:  # what the filter of the action means
    assert sys.argv[sys.argv.index("--paginate") + 1] == "repos/o/r/issues/7/comments"
    print(*(each["id"] for each in comments if each["bot"] and each["body"].startswith("<!-- rubric-lint diff -->")))
    sys.exit()
if os.environ["GH_TOKEN"] != "may-write":
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
method, path, (name, _, source) = sys.argv[4], sys.argv[5], sys.argv[7].partition("=@")
body = pathlib.Path(source).read_text("utf-8")
assert sys.argv[2:4] == ["--silent", "--method"] and name == "body" and len(body) < 65536
if method == "PATCH":
    (own,) = (each for each in comments if path == f"repos/o/r/issues/comments/{{each['id']}}")
    own["body"] = body
else:
    assert (method, path) == ("POST", "repos/o/r/issues/7/comments")
    comments.append({{"id": 100 + len(comments), "bot": True, "body": body}})
file.write_text(json.dumps(comments), "utf-8")
"""
"""The program `gh`, with the comments of pull request 7 in a file."""


def test_the_action_keeps_one_comment_and_a_fork_gets_a_notice(runner):
    said, kept = "Say what the pull request changes", runner.folder / "comments.json"
    (runner.folder / "gh").write_text(GH, "utf-8")
    (runner.folder / "gh").chmod(0o755)
    (runner.temp / "rubric-lint/bin").mkdir(parents=True)
    (runner.temp / "rubric-lint/bin/rubric-lint").symlink_to(Path(sys.executable).parent / "rubric-lint")
    file = runner.work / "r.rubric.yaml"
    file.write_text(SOUND, "utf-8")
    commands.commit_all(runner.work)
    assert runner.run(said)[:2] == (0, "")
    assert not kept.exists()  # nothing changed, so nothing is said

    (runner.work / "new.rubric.yaml").write_text(SOUND, "utf-8")
    runner.may = "may-read"
    code, told, _ = runner.run(said)
    assert (code, told.startswith("::notice::the comment could not be written"), kept.exists()) == (0, True, False)
    assert "1 change in meaning" in (runner.folder / "summary.md").read_text("utf-8")

    runner.may = "may-write"
    heads = []
    for change in ("", "more.rubric.yaml", "undo"):
        if change == "undo":
            for name in ("new.rubric.yaml", "more.rubric.yaml"):
                (runner.work / name).unlink()
        elif change:
            (runner.work / change).write_text(SOUND, "utf-8")
        assert runner.run(said)[:2] == (0, "")
        (comment,) = json.loads(kept.read_text("utf-8"))
        heads.append(comment["body"].splitlines()[1].split(" since")[0])
    changed = ["### 1 change in meaning in 1 rubric", "### 2 changes in meaning in 2 rubrics"]
    assert heads == [*changed, "### No change in meaning"]

    entries = "".join(
        f"  - {{id: c{number}, expected_outcome: Names part {number} of {'it' * 40}}}\n" for number in range(800)
    )
    file.write_text(f"rubrics:\n{entries}", "utf-8")
    assert runner.run(said)[:2] == (0, "")
    (comment,) = json.loads(kept.read_text("utf-8"))
    assert comment["body"].endswith("|\n\nThe rest is in the summary of the run.\n")


def expand(text, base):
    """The value of text with a GitHub expression of the form `base && format(...)`, for a base branch or none."""
    form = r"\$\{\{ github\.base_ref && format\('(.*)\{0\}', github\.base_ref\) \}\}"
    return re.sub(form, lambda found: base and f"{found[1]}{base}", text)


@pytest.mark.parametrize(("base", "expected"), [("main", 0), ("", 1)], ids=["pull request", "push"])
def test_the_workflow_on_the_page_checks_what_a_pull_request_changes_and_all_of_a_push(runner, base, expected):
    (workflow,) = (load_text(each.values[0]) for each in WRITTEN if "--diff-base" in each.values[0])
    (step,) = (step for step in steps_of(workflow) if "args" in step.get("with", {}))
    (runner.work / "old.yaml").write_text(OVERLAP, "utf-8")
    commands.commit_all(runner.work)
    commands.run_git("update-ref", "refs/remotes/origin/main", "HEAD", cwd=runner.work)
    (runner.work / "new.yaml").write_text(SOUND, "utf-8")
    programs = runner.temp / "rubric-lint/bin"
    programs.mkdir(parents=True)
    (programs / "rubric-lint").symlink_to(Path(sys.executable).parent / "rubric-lint")
    code, told, _ = runner.run("Check rubrics", args=expand(step["with"]["args"], base))
    assert (code, told.count("::error file=old.yaml")) == (expected, expected)


class Image:
    """Follows a Dockerfile without a container: the folders that it names are moved into one that is thrown away."""

    MOVED = ("/src", "/opt", "/work")

    def __init__(self, folder):
        self.folder = folder
        self.place = ""
        self.environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self.options = {}

    def moved(self, text):
        return re.sub(rf"(?<![\w.])({'|'.join(self.MOVED)})\b", lambda found: f"{self.folder}{found[1]}", text)

    def path(self, text):
        return Path(self.moved(text if text.startswith("/") else f"{self.place}/{text}"))

    def copy(self, arguments):
        if arguments[0].startswith("--from="):
            assert arguments[1:] == ["/opt/rubric-lint", "/opt/rubric-lint"]
            return
        *sources, target = arguments
        for source in sources:
            to = self.path(target)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, to)

    def follow(self, dockerfile):
        text = re.sub(r"\\\n\s*", "", dockerfile)
        for line in filter(None, text.splitlines()):
            instruction, _, rest = line.partition(" ")
            match instruction:
                case "#" | "FROM" | "USER" | "ENTRYPOINT" | "CMD":
                    self.options[instruction] = rest
                case "WORKDIR":
                    self.place = rest
                    self.path(rest).mkdir(parents=True)
                case "ENV":
                    name, _, value = rest.partition("=")
                    self.environment[name] = self.moved(value).replace("$PATH", self.environment["PATH"])
                case "COPY":
                    self.copy(shlex.split(rest))
                case "RUN":
                    self.run(["sh", "-c", self.moved(rest)])
                case _:
                    raise AssertionError(line)

    def run(self, command):
        return commands.run_process(command, cwd=self.path("."), env=self.environment, check=True)


def test_the_steps_of_the_image_install_what_lints(tmp_path):
    image = Image(tmp_path)
    image.follow((ROOT / ".ci/Dockerfile").read_text("utf-8"))
    (tmp_path / "work/sound.yaml").write_text(SOUND, "utf-8")
    assert (image.options["USER"], image.options["ENTRYPOINT"], image.options["CMD"]) == (
        "65532:65532",
        '["rubric-lint"]',
        '["."]',
    )
    linted = image.run(["rubric-lint", "--isolated", "."])
    assert "No findings in 1 file" in linted.stdout
    assert image.run(["rubric-lint", "--version"]).stdout.startswith(f"rubric-lint {__version__}\n")
    assert not (tmp_path / "opt/rubric-lint/bin/pip").exists()


def test_the_image_is_given_the_files_that_it_copies():
    given = {line.removeprefix("!") for line in (ROOT / ".ci/Dockerfile.dockerignore").read_text("utf-8").splitlines()}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / ".ci/Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert {name for line in copied for name in line.split()} <= given
