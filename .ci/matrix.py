"""Runs the tests with every supported Python that this machine has, each against the installed wheel.

Which versions are supported is said once, by the classifiers in pyproject.toml. A version that is not here is named as
missing; the exit code is 1 when the tests of one fail, or when no version at all is here.

Arguments are handed on to pytest.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDER = ROOT / ".cache" / "matrix"
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
    """Where a Python of this version may be: this one, on the path, below pyenv's folder, or where uv knows one."""
    yield sys.executable
    for folder in os.environ["PATH"].split(os.pathsep):
        yield f"{folder}/python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True))
    if uv := shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent)):
        command = [uv, "python", "find", "--no-python-downloads", "--no-project", version]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        yield found.stdout.strip()


def find_python(version: str) -> str | None:
    """A program that really runs and is of this version (pyenv's shims may stand for one that is not chosen)."""
    show = "import sys, venv, ensurepip; print('{}.{}'.format(*sys.version_info))"
    for path in candidates(version):
        if os.access(path, os.X_OK):
            shown = subprocess.run([path, "-c", show], capture_output=True, text=True, check=False)
            if shown.stdout.strip() == version:
                return path
    return None


def build_wheel() -> Path:
    """The wheel of this checkout."""
    folder = FOLDER / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--quiet", "--outdir", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


def run_tests(version: str, python: str, wheel: Path, arguments: list[str]) -> Outcome:
    """Install the wheel into an environment of this Python and run the tests there."""
    here = FOLDER / version
    own = here / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", here], check=True)
        subprocess.run([own, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1"], check=True)
    pip = [own, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--group", f"{ROOT / 'pyproject.toml'}:test", wheel], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)
    # The tests are those of the checkout; the package is the installed one, or the run would prove nothing.
    place = "import rubric_lint, sys; sys.exit(not rubric_lint.__file__.startswith(sys.prefix))"
    subprocess.run([own, "-P", "-c", place], cwd=ROOT, check=True)
    command = [here / "bin" / "pytest", "-n", "auto", "-p", "no:cacheprovider", *arguments]
    ran = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    return Outcome(version, ran.returncode == 0, f"{python}, pytest's exit code {ran.returncode}")


def main() -> int:
    """Run them all, then say which passed, which failed and which are missing."""
    wheel = build_wheel()
    outcomes = []
    for version in supported_versions():
        python = find_python(version)
        print(f"\n== Python {version}: {python or 'missing'}", flush=True)
        if python is None:
            where = "not on PATH, not below ~/.pyenv/versions, not known to uv"
            outcomes.append(Outcome(version, None, where))
        else:
            outcomes.append(run_tests(version, python, wheel, sys.argv[1:] or ["-m", "not slow", "-q"]))
    print()
    words = {True: "passed", False: "FAILED", None: "missing"}
    for version, passed, text in outcomes:
        print(f"Python {version:<5} {words[passed]:<8} {text}")
    verdicts = [outcome.passed for outcome in outcomes]
    return int(False in verdicts or True not in verdicts)


if __name__ == "__main__":
    sys.exit(main())
