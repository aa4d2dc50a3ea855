"""Writes the lock files in `.ci/lock`: exact versions with hashes, for every supported Python and system.

pip and uv install them with `--require-hashes`. They name no index, so each machine uses its own. Versions that are
locked stay as they are while pyproject.toml allows them; `--upgrade` takes the newest of all.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".ci" / "lock"
HEADER = "# Made by `make lock` from pyproject.toml.\n"


class Lock(NamedTuple):
    """What a lock file holds: dependency groups, and the dependencies of the package if `package` is true.

    Locks that are not `alone` may be installed side by side, so they agree on their versions: `dev` decides.
    """

    groups: tuple[str, ...]
    package: bool = True
    alone: bool = False


LOCKS = {
    "dev": Lock(("dev", "build")),
    "core": Lock(("core", "build")),
    "run": Lock(("build",)),
    "site": Lock(("site",), package=False),
    "fuzz": Lock(("fuzz",), package=False),
    "agreement": Lock(("agreement",), alone=True),
    "rubrics": Lock(("rubrics",), package=False, alone=True),
    "engines": Lock(("engines",), alone=True),
    "real-judge": Lock(("real-judge",), package=False, alone=True),
    "real-judge-build": Lock(("real-judge-build",), package=False, alone=True),
}
UV = ("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes")
FORM = ("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--annotation-style", "line")


def write(name: str, options: list[str]) -> None:
    """Resolve one lock file with uv."""
    lock = LOCKS[name]
    file = FOLDER / f"{name}.txt"
    sources = [f"--group=pyproject.toml:{group}" for group in lock.groups]
    if lock.package:
        sources.append("pyproject.toml")
    if name != "dev" and not lock.alone:
        sources.append("--constraint=.ci/lock/dev.txt")
    command = [*UV, *FORM, *options, *sources, "--output-file", file.relative_to(ROOT)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    file.write_text(HEADER + file.read_text("utf-8"), "utf-8")


def main() -> int:
    """Write every lock file; arguments go to uv."""
    FOLDER.mkdir(exist_ok=True)
    for name in LOCKS:
        write(name, sys.argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
