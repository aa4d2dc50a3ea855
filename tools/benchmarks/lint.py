"""Times rubric-lint and other tools, whole processes in turn on the same files, and holds it to its promises.

There are three sets of files: clean ones, faulty ones, and long suites of several dialects; see `generate.py`.

The exit code is 1 when a promise is missed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import faulty
import generate
import long_suites
from contest import Contestant, Medians, Promise, Run, measure, note, table, verdicts

from tools import (
    AGENTV,
    AJV,
    CLIB,
    COLD,
    EVENTS,
    FAULTY,
    HASH,
    LONG,
    WARM,
    YAMLLINT,
    Suites,
    contestants,
    install,
    lint,
    others,
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
    # Each case with an id of its own, as rubric-lint has it; the suites share their topics.
    suites = (generate.suite(number).replace("\n  - id: ", f"\n  - id: {number}-") for number in range(count))
    path.write_text("---\n".join(suites), encoding="utf-8", newline="\n")
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


MEMORY = 30
"""How many MB of memory each MB of a large file may take."""


def promises(medians: Medians, count: int, grown: Medians) -> list[Promise]:
    """Each promise with what was measured; those on tools that could not be had are left out."""
    return [
        *_promises_of_processes(medians, count),
        *_promises_of_growth(grown, medians[COLD, 1].peak),
    ]


def _promises_of_processes(medians: Medians, count: int) -> list[Promise]:
    cold, warm, cold_one, warm_one = (medians[tool, files].wall for files in (count, 1) for tool in (COLD, WARM))
    yamllint_one = medians[YAMLLINT, 1].wall
    held = [
        _at_most(f"cold, {count:,} files: at most 6 times the bare events", cold, medians[EVENTS, count], 6),
        *(
            _faster(f"cold, {count:,} files: {factor} times faster than {tool}", cold, medians[tool, count], factor)
            for tool, factor in ((CLIB, 3), (YAMLLINT, 6), (AGENTV, 3), (AJV, 1))
            if (tool, count) in medians
        ),
        _faster(
            f"cold, {count:,} faulty files: 3 times faster than {YAMLLINT}",
            medians[COLD + FAULTY, count].wall,
            medians[YAMLLINT + FAULTY, count],
            3,
        ),
        _at_most(f"warm, {count:,} files: at most 4 times reading and hashing", warm, medians[HASH, count], 4),
    ]
    for state, wall in (("cold", cold_one), ("warm", warm_one)):
        figure = f"{100 * wall / yamllint_one:.0f}%"
        held.append(Promise(f"{state}, one small file: at most 150% of {YAMLLINT}", figure, wall <= 1.5 * yamllint_one))
    faulty_one = medians[COLD + FAULTY, 1].wall
    return [
        *held,
        _at_most("cold, one small faulty file: at most 1.3 times a clean one", faulty_one, medians[COLD, 1], 1.3),
    ]


def _promises_of_growth(grown: Medians, small: float) -> list[Promise]:
    """The promises on many files, and on large ones; `small` is the memory, in MB, of a run on one small file."""
    per_megabyte = [grown[COLD, -size].cpu / size for size in SIZES]
    per_file = [grown[COLD, files].cpu / files * 1_000 for files in COUNTS]
    peaks = [grown[COLD, files].peak for files in COUNTS]
    memory = (grown[COLD, -SIZES[-1]].peak - small) / SIZES[-1]
    return [
        Promise(
            "a file of 1, 2, 4 MB: linear in its size",
            ", ".join(f"{seconds:.2f}" for seconds in per_megabyte) + " s/MB",
            per_megabyte[-1] <= 1.1 * per_megabyte[0],
        ),
        Promise(
            f"a file of {SIZES[-1]} MB: at most {MEMORY} MB of memory for each MB",
            f"{memory:.1f} MB",
            memory <= MEMORY,
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


def _own(medians: Medians, tool: str, files: int) -> Run:
    """Return the cold run of this tool on the files that a tool has read."""
    of = next((each for each in (FAULTY, LONG) if tool.endswith(each)), "")
    return medians[COLD + of, files]


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
        field = contestants(suites, folder / "cache", has_npm=has_npm)
        field += others(FAULTY, faulty.write(folder / "faulty", options.files), folder / "faulty-cache")
        field += others(LONG, long_suites.write(folder / "long", options.files // 10), folder / "long-cache")
        medians = measure(field, options.rounds)
        grown = measure(growth(folder, generate.write(folder / "more", COUNTS[-1])), min(options.rounds, 3))
        note("")
    rows = [
        (tool, f"{files:,}", f"{run.wall:.3f}", f"{run.cpu:.3f}", f"{run.wall / _own(medians, tool, files).wall:.2f}")
        for (tool, files), run in medians.items()
    ]
    print(table(("medians of whole processes", "files", "wall, s", "CPU, s", "x rubric-lint"), *rows), end="\n\n")
    held = promises(medians, options.files, grown)
    print(verdicts(held))
    return 0 if all(promise.met for promise in held) else 1


if __name__ == "__main__":
    sys.exit(main())
