"""Runs the core of the tests with every supported Python that this machine has, each against an installed wheel.

The core is what depends on Python itself: text and data, the linter, the fixer, the scorer, the public API. Arguments,
when given, go to pytest in place of these modules, such as `tests/lint/test_watch.py`. With `--this` first, only the
Python that runs this file is tested.

Which versions are supported is said once, by the classifiers in pyproject.toml. A version that is not here is named as
missing; the exit code is 1 when the tests of one fail.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDER = ROOT / ".cache" / "matrix"
CORE = (
    *("source", "document", "scalar", "comments", "locate", "bands", "rubric", "schema"),
    *("rules", "lint", "edit", "fix", "score", "config", "files", "api"),
)
PREFIX = "Programming Language :: Python :: 3."


class Outcome(NamedTuple):
    """What became of one version of Python; `passed` is None where it is missing."""

    version: str
    passed: bool | None
    text: str


def supported_versions() -> list[str]:
    """The versions that the package says it supports: `3.11`, ..."""
    classifiers = PROJECT["project"]["classifiers"]
    return ["3." + line.removeprefix(PREFIX) for line in classifiers if line.startswith(PREFIX)]


def candidates(version: str) -> Iterator[str]:
    """Where a Python of this version may be: this one, on the path, or below pyenv's folder."""
    yield sys.executable
    for folder in os.environ["PATH"].split(os.pathsep):
        yield f"{folder}/python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True))


def find_python(version: str) -> str | None:
    """A program that really runs and is of this version (pyenv's shims may stand for one that is not chosen)."""
    show = "import sys, venv, ensurepip; print('{}.{}'.format(*sys.version_info))"
    for path in candidates(version):
        if os.access(path, os.X_OK):
            shown = subprocess.run([path, "-c", show], capture_output=True, text=True, check=False)
            if shown.stdout.strip() == version:
                return path
    return None


def run_tests(version: str, python: str, arguments: list[str]) -> Outcome:
    """Install the package into an environment of this Python, from a wheel, and run the tests there."""
    here = FOLDER / version
    programs = here / ("Scripts" if os.name == "nt" else "bin")
    own = programs / "python"
    if not programs.exists():
        subprocess.run([python, "-m", "venv", here], check=True)
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip.append("--no-deps")  # a lock is whole
    subprocess.run([*pip, "--require-hashes", "--requirement", ROOT / ".ci" / "lock" / "core.txt"], check=True)
    subprocess.run([*pip, "--no-build-isolation", "--force-reinstall", ROOT], check=True)
    # The tests are those of the checkout; the package is the installed one, or the run would prove nothing.
    place = "import rubric_lint, sys; sys.exit(not rubric_lint.__file__.startswith(sys.prefix))"
    subprocess.run([own, "-P", "-c", place], cwd=ROOT, check=True)
    command = [programs / "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "-m", "not slow", *arguments]
    ran = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    return Outcome(version, ran.returncode == 0, f"{python}, pytest's exit code {ran.returncode}")


def main() -> int:
    """Run them all, then say which passed, which failed and which are missing."""
    this = sys.argv[1:2] == ["--this"]
    arguments = sys.argv[1 + this :] or [str(path) for name in CORE for path in ROOT.glob(f"tests/*/test_{name}.py")]
    running = "{}.{}".format(*sys.version_info)
    outcomes = []
    for version in [running] if this else supported_versions():
        python = sys.executable if this else find_python(version)
        print(f"\n== Python {version}: {python or 'missing'}", flush=True)
        if python is None:
            outcomes.append(Outcome(version, None, "neither on PATH nor below pyenv's folder"))
        else:
            outcomes.append(run_tests(version, python, arguments))
    print()
    words = {True: "passed", False: "FAILED", None: "missing"}
    for version, passed, text in outcomes:
        print(f"Python {version:<5} {words[passed]:<8} {text}")
    return int(any(outcome.passed is False for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
