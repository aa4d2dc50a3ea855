"""Times rubric-lint beside other tools, whole processes in turn on the same files, and holds it to its promises.

The exit code is 1 when a promise is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import generate
from contest import Contestant, Medians, Promise, Run, measure, note, table, verdicts

from tools import (
    AGENTV,
    AJV,
    CLIB,
    COLD,
    EVENTS,
    HASH,
    WARM,
    YAMLLINT,
    Suites,
    contestants,
    install,
    lint,
)  # fmt: skip

COUNTS = (100, 1_000, 10_000)
"""The numbers of files at which the cost of each, and the memory, are to be the same."""

SIZES = (1, 2, 4)
"""The sizes of a single file, in MB, in which the time is to be linear."""


# The fields of a case as AgentV 4 calls them: it accepts no others, and what it does not accept it does not read.
_AGENTV = {
    "\nevalcases:": "\ntests:",
    "\n    input_messages:": "\n    input:",
    "\n    expected_messages:": "\n    expected_output:",
    "\n    expected_outcome:": "\n    criteria:",
}


def as_agentv(text: str) -> str:
    """A suite with its cases in the words of AgentV 4."""
    for ours, theirs in _AGENTV.items():
        text = text.replace(ours, theirs)
    return text


def large_file(folder: Path, megabytes: int) -> Path:
    """One file of many suites, as documents one after the other."""
    path = folder / f"{megabytes}-mb.yaml"
    count = megabytes * 1_000_000 // generate.SIZE
    path.write_text("---\n".join(generate.suite(number) for number in range(count)), encoding="utf-8", newline="\n")
    return path


def growth(folder: Path, paths: Sequence[Path]) -> list[Contestant]:
    """This tool on more and more files, and on larger and larger ones."""
    field = []
    for count in COUNTS:
        part = folder / f"first-{count}"
        part.mkdir()
        for path in paths[:count]:
            os.link(path, part / path.name)
        field.append(lint(count, part))
    return field + [lint(-megabytes, large_file(folder, megabytes)) for megabytes in SIZES]


def promises(medians: Medians, count: int, grown: Medians) -> list[Promise]:
    """Each promise beside what was measured; those on tools that could not be had are left out."""
    cold, warm, cold_one, warm_one = (medians[tool, files].wall for files in (count, 1) for tool in (COLD, WARM))
    yamllint_one = medians[YAMLLINT, 1].wall
    held = [
        _at_most(f"cold, {count:,} files: at most 2.5 times the bare events", cold, medians[EVENTS, count], 2.5),
        *(
            _faster(f"cold, {count:,} files: {factor} times faster than {tool}", cold, medians[tool, count], factor)
            for tool, factor in ((CLIB, 10), (YAMLLINT, 30), (AGENTV, 10), (AJV, 1))
            if (tool, count) in medians
        ),
        _at_most(f"warm, {count:,} files: at most 3 times reading and hashing", warm, medians[HASH, count], 3),
    ]
    for state, wall in (("cold", cold_one), ("warm", warm_one)):
        figure = f"{100 * wall / yamllint_one:.0f}%"
        held.append(Promise(f"{state}, one small file: at most 70% of {YAMLLINT}", figure, wall <= 0.7 * yamllint_one))
    per_megabyte = [grown[COLD, -size].cpu / size for size in SIZES]
    per_file = [grown[COLD, files].cpu / files * 1_000 for files in COUNTS]
    peaks = [grown[COLD, files].peak for files in COUNTS]
    return [
        *held,
        Promise(
            "a file of 1, 2, 4 MB: linear in its size",
            ", ".join(f"{seconds:.2f}" for seconds in per_megabyte) + " s/MB",
            per_megabyte[-1] <= 1.1 * per_megabyte[0],
        ),
        Promise(
            "100, 1,000, 10,000 files: the same cost each",
            ", ".join(f"{milliseconds:.2f}" for milliseconds in per_file) + " ms of CPU",
            per_file[-1] <= 1.1 * per_file[1],
        ),
        Promise(
            "100, 1,000, 10,000 files: the same memory",
            ", ".join(f"{peak:.1f}" for peak in peaks) + " MB",
            peaks[-1] <= 1.1 * peaks[0],
        ),
    ]


def _at_most(text: str, wall: float, floor: Run, factor: float) -> Promise:
    return Promise(text, f"{wall / floor.wall:.2f} times", wall <= factor * floor.wall)


def _faster(text: str, wall: float, other: Run, factor: float) -> Promise:
    return Promise(text, f"{other.wall / wall:.1f} times", other.wall >= factor * wall)


def main() -> int:
    """Measure, print the tables, and return 1 when a promise is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    has_npm = install()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = generate.write(folder / "suites", options.files)
        subprocess.run(["git", "init", "--quiet", folder / "agentv"], check=True)  # AgentV asks for a repository
        for_agentv = [folder / "agentv" / f"{path.stem}.eval.yaml" for path in paths]
        for path, copy in zip(paths, for_agentv, strict=True):
            copy.write_text(as_agentv(path.read_text("utf-8")), encoding="utf-8", newline="\n")
        suites = Suites(folder / "suites", paths, for_agentv)
        medians = measure(contestants(suites, folder / "cache", has_npm=has_npm), options.rounds)
        grown = measure(growth(folder, generate.write(folder / "more", COUNTS[-1])), min(options.rounds, 3))
        note("")
    rows = [
        (tool, f"{files:,}", f"{run.wall:.3f}", f"{run.cpu:.3f}", f"{run.wall / medians[COLD, files].wall:.2f}")
        for (tool, files), run in medians.items()
    ]
    print(table(("medians of whole processes", "files", "wall, s", "CPU, s", "x rubric-lint"), *rows), end="\n\n")
    held = promises(medians, options.files, grown)
    print(verdicts(held))
    return 0 if all(promise.met for promise in held) else 1


if __name__ == "__main__":
    sys.exit(main())
