"""The environment of `make engines`, where Ray, Spark and the others are, and how programs run there."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import commands
import pytest

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".cache/engines"
PYTHON = HOME / "bin/python"
QUIET = {
    "DAFT_PROGRESS_BAR": "0",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "PYTHONPATH": str(ROOT),
    "RAY_USAGE_STATS_ENABLED": "0",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
JAVAS = [*(f"java-{version}-openjdk" for version in (17, 21)), *(f"temurin-{version}-jdk" for version in (17, 21))]

needs_engines = pytest.mark.skipif(not (HOME / "installed").exists(), reason="`make engines` installs what this runs")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of programs: the packages are on the path as after activating them, `folder` is home."""
    kept = {name: os.environ[name] for name in ("LC_ALL", "TZ", "TERM") if name in os.environ}
    path = os.pathsep.join([str(PYTHON.parent), os.environ["PATH"]])
    own = {"HOME": str(folder), "HF_HOME": str(folder / "hf"), "RAY_TMPDIR": _make_short(folder)}
    return {**kept, **QUIET, **own, "PATH": path}


@cache
def _make_short(_home: Path) -> str:
    """Return a folder of its own for the clusters of a test; the names of sockets in it must be short."""
    made = tempfile.mkdtemp(prefix="ray-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def find_java() -> str:
    """Return the folder of a Java that Spark runs on; skip the test without one."""
    for name in JAVAS:
        for folder in sorted(Path("/usr/lib/jvm").glob(f"{name}*")):
            if (folder / "bin/java").exists():
                return str(folder)
    pytest.skip("Spark needs Java 17 or 21 (apt-get install openjdk-17-jre-headless)")


def run(*arguments: str | Path, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run Python of the environment in a folder, with `more` in its environment."""
    return commands.run_process([PYTHON, *arguments], cwd=folder, env={**environment(folder), **more}, timeout=600)
