"""Times rubric-lint beside other tools, whole processes in turn on the same files, and holds it to its promises.

All tools, this one as a wheel like the others, are installed into an environment of their own in `.cache/bench`. The
exit code is 1 when a promise is missed.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import generate

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "bench"
SCHEMA = ROOT / "schemas" / "bundled" / "suite-v2.schema.json"
OTHERS = ("check-jsonschema>=0.31,<1", "yamllint>=1.37,<2", "ruamel.yaml[oldlibyaml]>=0.18.15,<0.20")
MEMORY_AT = (100, 1_000, 5_000)

LINT, CHECK, YAMLLINT = "rubric-lint", "check-jsonschema with clib", "yamllint"
PROGRAMS = CACHE / "venv" / "bin"
PYTHON, RUBRIC_LINT = str(PROGRAMS / "python"), str(PROGRAMS / "rubric-lint")

# What any tool that reads these files has to do at least, in the interpreter that all of them run in.
HASH = """
import hashlib, pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    hashlib.sha256(path.read_bytes()).digest()
"""
EVENTS = """
import pathlib, sys
from _ruamel_yaml import CParser
for path in pathlib.Path(sys.argv[1]).iterdir():
    next_event = CParser(path.read_bytes()).get_event
    while next_event() is not None:
        pass
"""


class Run(NamedTuple):
    """One process: seconds on the clock, seconds of CPU in user and system mode, peak memory in MB."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command that is timed: which tool it runs, and on how many files."""

    tool: str
    files: int
    command: tuple[str, ...]

    def run(self) -> Run:
        """Run the command once; it must find nothing, as the files are clean."""
        start = time.perf_counter()
        with subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{self.tool}: exit code {process.returncode} from {' '.join(self.command)[:300]}")
        kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
        return Run(wall, usage.ru_utime + usage.ru_stime, kilobytes / 1024)


Medians = dict[tuple[str, int], Run]
"""The median run by tool and number of files."""


class Promise(NamedTuple):
    """What was promised, what was measured, and whether that keeps it."""

    text: str
    figure: str
    met: bool


def install() -> None:
    """Install the other tools, at the first call and when their list changes, and this one as it now is."""
    pip = (PYTHON, "-m", "pip", "install", "--quiet")
    stamp = CACHE / "installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(OTHERS):
        venv.create(CACHE / "venv", with_pip=True, clear=True)
        subprocess.run([*pip, *OTHERS], check=True)
        stamp.write_text("\n".join(OTHERS))
    subprocess.run([*pip, str(ROOT)], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(ROOT)], check=True)


def contestants(folder: Path, paths: Sequence[Path]) -> list[Contestant]:
    """Everything that is timed, on all files and on one; a floor is what no tool can undercut."""
    files, one, count = str(folder), str(paths[0]), len(paths)
    yamllint = str(PROGRAMS / "yamllint")
    check = (str(PROGRAMS / "check-jsonschema"), "--schemafile", str(SCHEMA))
    return [
        Contestant(LINT, count, (RUBRIC_LINT, files)),
        Contestant(CHECK, count, (*check, *map(str, paths))),
        Contestant(YAMLLINT, count, (yamllint, files)),
        Contestant("floor: the C parser's bare events", count, (PYTHON, "-c", EVENTS, files)),
        Contestant("floor: reading and hashing the bytes", count, (PYTHON, "-c", HASH, files)),
        Contestant(LINT, 1, (RUBRIC_LINT, one)),
        Contestant(CHECK, 1, (*check, one)),
        Contestant(YAMLLINT, 1, (yamllint, one)),
        Contestant("floor: python -c pass", 1, (PYTHON, "-c", "pass")),
    ]


def measure(field: Sequence[Contestant], rounds: int) -> Medians:
    """The medians over `rounds` in which the contestants take turns, after one round that is not counted."""
    runs: dict[Contestant, list[Run]] = {contestant: [] for contestant in field}
    for number in range(rounds + 1):
        for contestant in field:
            note(f"round {number} of {rounds}: {contestant.tool}, {contestant.files:,} files")
            run = contestant.run()
            if number:
                runs[contestant].append(run)
    return {
        (contestant.tool, contestant.files): Run(*map(statistics.median, zip(*of_one, strict=True)))
        for contestant, of_one in runs.items()
    }


def note(text: str) -> None:
    """Say on a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def memory(folder: Path, paths: Sequence[Path]) -> dict[int, float]:
    """The peak of rubric-lint's largest process in MB, by the number of files it reads."""
    peaks = {}
    for count in MEMORY_AT:
        part = folder / f"first-{count}"
        part.mkdir()
        for path in paths[:count]:
            os.link(path, part / path.name)
        note(f"memory at {count:,} files")
        peaks[count] = Contestant(LINT, count, (RUBRIC_LINT, str(part))).run().peak
    return peaks


def promises(medians: Medians, count: int, peaks: dict[int, float]) -> list[Promise]:
    """Each promise beside what was measured."""
    lint, check, yamllint = (medians[tool, count].wall for tool in (LINT, CHECK, YAMLLINT))
    lint_one, yamllint_one = (medians[tool, 1].wall for tool in (LINT, YAMLLINT))
    few, many = peaks[MEMORY_AT[0]], peaks[MEMORY_AT[-1]]
    return [
        Promise(f"at least 8 times faster than {CHECK}", f"{check / lint:.1f} times", check >= 8 * lint),
        Promise(f"at least 25 times faster than {YAMLLINT}", f"{yamllint / lint:.1f} times", yamllint >= 25 * lint),
        Promise(
            f"one file in less time than {YAMLLINT}",
            f"{1000 * lint_one:.0f} ms against {1000 * yamllint_one:.0f} ms",
            lint_one < yamllint_one,
        ),
        Promise(
            f"memory at {MEMORY_AT[-1]:,} files at most a tenth more than at {MEMORY_AT[0]}",
            f"{many:.1f} MB against {few:.1f} MB",
            many <= 1.1 * few,
        ),
    ]


def table(*rows: Sequence[str]) -> str:
    """A Markdown table whose first row is its head; all columns but the first are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = (
        "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |" for row in rows
    )
    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
    return "\n".join([head, rule, *body])


def main() -> int:
    """Measure, print the tables, and return 1 when a promise is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    install()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = generate.write(folder / "suites", options.files)
        field = contestants(folder / "suites", paths)
        medians = measure(field, options.rounds)
        peaks = memory(folder, generate.write(folder / "more", MEMORY_AT[-1]))
        note("")
    rows = [
        (tool, f"{files:,}", f"{run.wall:.3f}", f"{run.cpu:.3f}", f"{run.wall / medians[LINT, files].wall:.2f}")
        for (tool, files), run in medians.items()
    ]
    print(table(("medians of whole processes", "files", "wall, s", "CPU, s", "x rubric-lint"), *rows), end="\n\n")
    print(table(("rubric-lint reads", "peak memory, MB"), *((f"{n:,} files", f"{mb:.1f}") for n, mb in peaks.items())))
    held = promises(medians, options.files, peaks)
    verdicts = ((promise.text, promise.figure, "met" if promise.met else "MISSED") for promise in held)
    print("\n" + table(("promise", "measured", ""), *verdicts))
    return 0 if all(promise.met for promise in held) else 1


if __name__ == "__main__":
    sys.exit(main())
