import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import commands
import pytest
from once import make_once

from rubric_lint import __version__
from rubric_lint.formats.dialects import DIALECTS, load_dialect
from rubric_lint.model.schema_files import catalogue, load
from rubric_lint.rules import BY_NAME

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITE = """\
tests:
  - id: first
    rubrics:
      - id: accuracy
        score_ranges:
          - score_range: [0, 4]
            expected_outcome: Contradicts the source in its main point
          - score_range: [4, 10]
            expected_outcome: Agrees with the source in every statement
      - id: sources
        score_ranges: {0: Names no section for its statements, 5: Names the section that each statement comes from}
"""


OLD = """\
rubrics:
  - description: Names a source
"""
SUMMARY = "rubric-score: 1 output: 1 pass, 0 borderline, 0 fail, 0 invalid"
SHOW_DIALECT = """\
import json, sys
from rubric_lint.model.schema_files import load
from rubric_lint.formats.dialects import load_dialect
print(json.dumps(load(load_dialect(sys.argv[1]).schema)))
"""


def shared(tmp_path_factory, request):
    """A folder that the parallel workers of one run have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(request.config, "workerinput") else base


def files_under(*folders):
    """The files of the checkout that belong into a package, relative to its root."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def packages(tmp_path_factory, request):
    """The folder that holds the sdist, and the wheel that was built from that sdist alone."""

    def build(folder):
        subprocess.run(
            [sys.executable, "-m", "build", "--quiet", "--outdir", folder, ROOT], check=True, stdin=subprocess.DEVNULL
        )

    return make_once(shared(tmp_path_factory, request) / "packages", "", build)


@pytest.fixture(scope="module")
def programs(packages, tmp_path_factory, request):
    """The folder of programs of an environment that has the wheel and what it asks for, and nothing else."""

    def install(folder):
        venv.create(folder / "venv", with_pip=True)
        wheel = next(packages.glob("*.whl"))
        subprocess.run([folder / "venv/bin/python", "-m", "pip", "install", "--quiet", wheel], check=True)

    return make_once(shared(tmp_path_factory, request) / "installed", "", install) / "venv/bin"


def run(program, *arguments, folder):
    """Run a program far from the repository: what it knows, it knows from its installation."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return commands.run_process([program, *arguments], cwd=folder, env=environment, timeout=600)


def test_the_wheel_holds_the_package_and_the_schemas_and_no_more(packages):
    name = f"rubric_lint-{__version__}"
    metadata = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    with zipfile.ZipFile(packages / f"{name}-py3-none-any.whl") as wheel:
        held = set(wheel.namelist())
    assert held == {
        *files_under("rubric_lint"),
        *(f"rubric_lint/{path}" for path in files_under("schemas", "skills")),
        *(f"{name}.dist-info/{path}" for path in metadata),
    }


def test_every_rule_in_the_wheel_has_its_page(packages):
    with zipfile.ZipFile(packages / f"rubric_lint-{__version__}-py3-none-any.whl") as wheel:
        pages = {Path(name).stem for name in wheel.namelist() if re.fullmatch(r"rubric_lint/rules/\w+\.md", name)}
    assert pages == {name.replace("-", "_") for name in BY_NAME}


def test_the_sdist_holds_what_it_takes_to_build_and_test(packages):
    name = f"rubric_lint-{__version__}"
    with tarfile.open(packages / f"{name}.tar.gz") as sdist:
        held = {member.name.removeprefix(f"{name}/") for member in sdist.getmembers() if member.isfile()}
    assert held == {
        *files_under(
            *("rubric_lint", "schemas", "skills", "tests", "examples", "tools"),
            *("docs", ".ci"),
        ),
        *("CHANGELOG.md", "LICENSE", "Makefile", "README.md", "pyproject.toml"),
        *(".gitignore", ".pre-commit-hooks.yaml", "PKG-INFO"),
    }


def test_installed_it_lists_its_schemas_where_they_are(programs, tmp_path):
    listing = run(programs / "rubric-lint", "schema", folder=tmp_path)
    paths = [Path(line.split()[-1]) for line in listing.stdout.splitlines() if len(line.split()) > 2]
    assert (listing.returncode, listing.stderr) == (0, "")
    in_files = [entry for entry in catalogue() if entry.is_in_file]
    assert [path.read_text("utf-8") for path in paths] == [entry.path.read_text("utf-8") for entry in in_files]
    assert all(path.is_relative_to(programs.parent) for path in paths)


def test_installed_it_lints(programs, tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    report = run(programs / "rubric-lint", "--format", "json", "suite.yaml", folder=tmp_path)
    assert (report.returncode, report.stderr) == (1, "")
    found = [(finding["rule"], finding["path"]) for finding in json.loads(report.stdout)["findings"]]
    assert found == [("overlap", "/tests/0/rubrics/0/score_ranges/1/score_range")]


def test_installed_it_fixes(programs, tmp_path):
    file = tmp_path / "old.rubric.yaml"
    file.write_text(OLD, encoding="utf-8")
    diff = run(programs / "rubric-fix", "--diff", file.name, folder=tmp_path)
    shown = [line for line in diff.stdout.splitlines() if line.startswith(("+ ", "- "))]
    assert shown == ["-  - description: Names a source", "+  - expected_outcome: Names a source"]
    fixed = run(programs / "rubric-fix", file.name, folder=tmp_path)
    assert (diff.returncode, fixed.returncode, fixed.stderr) == (0, 0, "")
    assert file.read_text("utf-8") == OLD.replace("description", "expected_outcome")


def test_installed_it_scores(programs, tmp_path):
    (tmp_path / "a.rubric.yaml").write_text(OLD, encoding="utf-8")
    output = {"checks": [{"id": "rubric-1", "satisfied": True}]}
    (tmp_path / "outputs.jsonl").write_text(json.dumps(output), encoding="utf-8")
    scored = run(programs / "rubric-score", "a.rubric.yaml", "outputs.jsonl", folder=tmp_path)
    assert (scored.returncode, scored.stderr.partition(";")[0]) == (0, SUMMARY)
    result = json.loads(scored.stdout)
    assert (result["rubric"], result["score"], result["verdict"]) == ("a", 1.0, "pass")


@pytest.mark.parametrize("program", ["rubric-lint", "rubric-fix", "rubric-score"])
def test_installed_it_tells_its_version(programs, tmp_path, program):
    told = run(programs / program, "--version", folder=tmp_path)
    assert (told.stdout, told.stderr, told.returncode) == (f"rubric-lint {__version__}\n", "", 0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_installed_it_knows_the_words_of_other_systems(programs, tmp_path, dialect):
    known = run(programs / "python", "-c", SHOW_DIALECT, dialect, folder=tmp_path)
    assert (known.stderr, known.returncode) == ("", 0)
    assert json.loads(known.stdout) == load(load_dialect(dialect).schema)


CONSUMER = """\
import rubric_lint

result: rubric_lint.Result = rubric_lint.lint_source("a.yaml", "rubrics: []")
rules: list[str] = [finding.rule for finding in result.findings if finding.severity is rubric_lint.Severity.ERROR]
text: str = rubric_lint.fix_source("a.yaml", b"", rubric_lint.find_settings("a.yaml"), unsafe=True).text
verdicts: list[rubric_lint.Verdict] = [
    rubric_lint.score(rubric, {}).verdict for rubric in rubric_lint.load_rubrics("a.yaml", text).values()
]
"""


def check_types(programs, folder, program):
    (folder / "consumer.py").write_text(program, encoding="utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", programs / "python"]
    ran = run(*mypy, "--cache-dir", folder / "cache", "consumer.py", folder=folder)
    return ran.stdout.splitlines()


def test_installed_its_types_are_known(programs, tmp_path):
    assert check_types(programs, tmp_path, CONSUMER) == ["Success: no issues found in 1 source file"]
    (fault, _) = check_types(programs, tmp_path, f"{CONSUMER}reveal = result.findings[0].span.begin\n")
    assert fault == 'consumer.py:9: error: "Span" has no attribute "begin"  [attr-defined]'


def test_the_packages_can_be_uploaded(packages):
    files = sorted(path for path in packages.iterdir() if path.suffix in {".whl", ".gz"})
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout.count("PASSED"), len(files)) == (0, 2, 2), checked.stdout


def test_installed_it_explains_a_rule(programs, tmp_path):
    explained = run(programs / "rubric-lint", "explain", "overlap", folder=tmp_path)
    assert (explained.returncode, explained.stderr) == (0, "")
    rule = BY_NAME["overlap"]
    assert explained.stdout == f"{rule.page}\n{rule.url}\n"
