"""Times whole processes in turn, and prints what came of it."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

SLOW = 10.0
"""From how many seconds on the clock a contestant runs once only after its first run."""

QUICK = 0.4
"""Up to how many seconds on the clock of its first run a contestant is a quick one."""

QUICK_ROUNDS = 5
"""How many times as often as the others the quick contestants run."""


class Run(NamedTuple):
    """One process: seconds on the clock, seconds of CPU in user and system mode, peak memory in MB."""

    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True, slots=True)
class Contestant:
    """A command that is timed: which tool it runs, on how many files, variables set for it, and how it must exit."""

    tool: str
    files: int
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    exit_code: int = 0

    def run(self) -> Run:
        """Run the command once; any exit code but the expected one ends the benchmark."""
        environment = {**os.environ, **dict(self.environment)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody compiles a program anew for each run
        start = time.perf_counter()
        with subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment
        ) as process:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != self.exit_code:
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


def measure(field: Sequence[Contestant], rounds: int) -> Medians:
    """The medians over `rounds` in which the contestants take turns, after one round that is not counted.

    Slow contestants take part in the first counted round only. Quick ones go on among themselves for QUICK_ROUNDS times
    as many rounds: a moment in which the machine is busy is as long as all of their run.
    """
    runs: dict[Contestant, list[Run]] = {contestant: [] for contestant in field}
    walls: dict[Contestant, float] = {}
    for number in range(QUICK_ROUNDS * rounds + 1):
        for contestant in field:
            wall = walls.get(contestant, 0)
            if (number > 1 and wall > SLOW) or (number > rounds and wall > QUICK):
                continue
            note(f"round {number}: {contestant.tool}, {contestant.files:,} files")
            run = contestant.run()
            if number:
                runs[contestant].append(run)
            else:
                walls[contestant] = run.wall
    return {
        (contestant.tool, contestant.files): Run(*map(statistics.median, zip(*of_one, strict=True)))
        for contestant, of_one in runs.items()
    }


def note(text: str) -> None:
    """Say on a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def table(*rows: Sequence[str]) -> str:
    """A Markdown table whose first row is its head; all columns but the first are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *body = (
        "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |" for row in rows
    )
    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
    return "\n".join([head, rule, *body])


def verdicts(promises: Sequence[Promise]) -> str:
    """Each promise with what was measured."""
    rows = ((promise.text, promise.figure, "met" if promise.met else "MISSED") for promise in promises)
    return table(("promise", "measured", ""), *rows)
