"""Times one process of rubric-score beside the bare cost of parsing the same lines, and holds it to its promises.

Run it with the Python that rubric-lint is installed for. All times are CPU seconds of whole processes, user and system,
of which each runs on one core; the exit code is 1 when a promise is missed.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FEW = 10_000
"""The outputs beside which the memory for all is measured."""

OBJECTS_RATE, FENCED_RATE = 150_000, 100_000
"""The outputs a second and core that are promised, from JSON Lines to JSON Lines, also with a report."""

PROGRAM = "import sys; from rubric_lint.cli.start import score; score()"
PARSE = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"
RECODE = "import sys\nfrom msgspec import json\nfor line in open(sys.argv[1], 'rb'): json.encode(json.decode(line))"
LOOK = "import sys\nfor line in open(sys.argv[1], 'rb'): line.decode()"

RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 3
    score_ranges: {0: Wrong facts, 3: Several errors, 7: Small omissions, 9: Fully correct}
  - id: depth
    score_ranges: {0: No detail given, 3: Some detail, 6: Most details, 9: All the details}
  - id: style
    weight: 0.5
    score_ranges: {0: Unreadable, 3: Hard to follow, 6: Readable, 9: Clear and short}
"""
OBJECTS = "rubric-score, outputs as objects"
FENCED = "rubric-score, raw texts in fences"
REPORT = ", --report"
REASONS = (
    "States the year and the height, and both are right.",
    "Gives no example and no history beyond the bare dates.",
    "Uses clear sentences in a good order, without filler.",
    "Leaves out the second half of the question.",
)


class Run(NamedTuple):
    """One process: CPU seconds, and peak memory in MB."""

    cpu: float
    peak: float


def lines(count: int, form: str) -> Iterator[str]:
    """Records with outputs of three criteria; `form`: the output as an object, or as a raw text in a fence."""
    chance = random.Random(0)  # noqa: S311 (the same lines in every run)
    for number in range(count):
        checks = [
            {"id": name, "score": chance.randint(0, 10), "reasoning": chance.choice(REASONS)}
            for name in ("accuracy", "depth", "style")
        ]
        output = {"checks": checks, "overall_reasoning": "Right, but shallow."}
        text = f"```json\n{json.dumps(output, indent=2)}\n```"
        yield json.dumps({"id": f"answer-{number}", "output": output if form == "object" else text}) + "\n"


def write(path: Path, count: int, form: str) -> Path:
    """A file of such lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines(count, form))
    return path


def run(*arguments: str) -> Run:
    """Run a Python program to its end, its results written to a file as a user would have it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (
        tempfile.TemporaryFile() as results,
        subprocess.Popen(
            [sys.executable, "-c", *arguments], stdout=results, stderr=subprocess.DEVNULL, env=environment
        ) as process,
    ):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"exit code {process.returncode} from {arguments}")
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Run(usage.ru_utime + usage.ru_stime, kilobytes / 1024)


def table(*rows: tuple[str, ...]) -> str:
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
    parser.add_argument("--outputs", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rubric = folder / "judge.rubric.yaml"
        rubric.write_text(RUBRIC, "utf-8")
        files = {form: str(write(folder / form, options.outputs, form)) for form in ("object", "raw text")}
        score = (PROGRAM, str(rubric))
        field = {
            OBJECTS: (*score, files["object"], "--fail-on", "never"),
            FENCED: (*score, files["raw text"], "--fail-on", "never"),
            OBJECTS + REPORT: (*score, files["object"], "--fail-on", "never", "--report", str(folder / "a.html")),
            FENCED + REPORT: (*score, files["raw text"], "--fail-on", "never", "--report", str(folder / "b.html")),
            "floor: json.loads of each line (objects)": (PARSE, files["object"]),
            "floor: msgspec's decode and encode (objects)": (RECODE, files["object"]),
            "floor: reading and decoding each line": (LOOK, files["object"]),
        }
        runs: dict[str, list[Run]] = {name: [] for name in field}
        for _ in range(options.rounds):
            for name, arguments in field.items():
                runs[name].append(run(*arguments))
        few = run(*score, str(write(folder / "few", FEW, "object")), "--fail-on", "never").peak
    medians = {name: statistics.median(found.cpu for found in of_one) for name, of_one in runs.items()}
    many = max(found.peak for found in runs[OBJECTS])
    rates = {name: options.outputs / cpu for name, cpu in medians.items()}
    rows = [
        (name, f"{cpu:.2f}", f"{1e6 * cpu / options.outputs:.2f}", f"{rates[name]:,.0f}")
        for name, cpu in medians.items()
    ]
    print(table((f"{options.outputs:,} outputs of three criteria", "CPU, s", "µs each", "a second and core"), *rows))
    print(
        "\n"
        + table(("outputs", "peak memory, MB"), (f"{FEW:,}", f"{few:.1f}"), (f"{options.outputs:,}", f"{many:.1f}"))
    )
    promised = {OBJECTS: OBJECTS_RATE, FENCED: FENCED_RATE}
    promised |= {name + REPORT: rate for name, rate in promised.items()}
    promises = (
        *(
            (f"{name}: at least {least:,} a second and core", f"{rates[name]:,.0f}", rates[name] >= least)
            for name, least in promised.items()
        ),
        (f"memory at {options.outputs:,} at most a tenth more than at {FEW:,}", f"{many:.1f} MB", many <= 1.1 * few),
    )
    verdicts = ((text, figure, "met" if met else "MISSED") for text, figure, met in promises)
    print("\n" + table(("promise", "measured", ""), *verdicts))
    return 0 if all(met for _, _, met in promises) else 1


if __name__ == "__main__":
    sys.exit(main())
