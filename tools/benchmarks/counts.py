"""Counts what linting and scoring take, for `test_speed.py`, and keeps the figures in `tests/data/speed.json`.

Only the package itself is counted, so another version of a library changes nothing:

- `calls`: the calls of its functions, and those that it makes of functions written in C;
- `lines`: the lines that it runs, which finds a loop without calls;
- `memory`: the most memory, in bytes, that Python takes for it at once.

The figures are those of texts that were read before, so that what is loaded once does not count.
`modules` are the modules of the package that linting one file loads. The same code gives the same figures on every
machine, if the minor version of Python is the same: others compile code differently.
"""

import argparse
import csv
import gc
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import faulty
import generate
import long_suites
import outputs

import rubric_lint
from rubric_lint.lint.engine import lint
from rubric_lint.lint.run.console import Progress
from rubric_lint.report.scores import JsonLinesText
from rubric_lint.scoring.run import ScoringRun

KEPT = Path(__file__).parents[2] / "tests" / "data" / "speed.json"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
PACKAGE = str(Path(rubric_lint.__file__).parent) + os.sep

SETS = {"clean": (generate.suite, 4), "faulty": (faulty.suite, 4), "long": (long_suites.suite, 3)}
"""What makes the suites of each set, and how many are counted."""

RECORDS = 10
"""The outputs of a judge that are scored."""

READ = 1_000
"""The records of a file that are read, scored and written."""

TOLERANCE = 0.02
"""How far a figure may be from the one that is kept."""

Figures = dict[str, dict[str, int]]

_LINT = """
import atexit, sys
ours = lambda: sum(name.partition(".")[0] == "rubric_lint" for name in sys.modules)
atexit.register(lambda: print(ours(), file=sys.stderr))
from rubric_lint.cli.start import lint
lint()
"""


def is_comparable() -> bool:
    """Return whether the compiled libraries are here: without them, other code runs."""
    return all(importlib.util.find_spec(name) for name in ("_ruamel_yaml", "jsonschema_rs", "msgspec", "pyarrow"))


def count(run: Callable[[], object]) -> dict[str, int]:
    """Count what something takes; it runs three times, so it must not remember what it did."""
    return {"calls": _count_calls(run), "lines": _count_lines(run), "memory": _measure(run)}


def _count_calls(run: Callable[[], object]) -> int:
    calls = 0

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def _count_lines(run: Callable[[], object]) -> int:
    lines = 0

    def note_line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return note_line

    def note(frame: FrameType, _event: str, _argument: Any) -> Any:
        return note_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    sys.settrace(note)
    try:
        run()
    finally:
        sys.settrace(None)
    return lines


def _measure(run: Callable[[], object]) -> int:
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def count_modules() -> int:
    """Count the modules of the package that are loaded to lint one clean file, without a cache of results."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.yaml"
        path.write_text(generate.suite(0, 0), "utf-8")
        command = [sys.executable, "-c", _LINT, "--no-cache", str(path)]
        ran = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(ran.stderr.split()[-1])


def count_all() -> Figures:
    """Return all figures."""
    found: Figures = {"start": {"modules": count_modules()}}
    for name, (make, files) in SETS.items():
        texts = [make(number, 0).encode() for number in range(1, files + 1)]

        def run(texts: list[bytes] = texts) -> None:
            for text in texts:
                lint("suite.yaml", text)

        run()
        found[name] = count(run)
    (rubric,) = rubric_lint.load_rubrics("a.yaml", outputs.RUBRIC.encode()).values()
    first, *others = (json.loads(line)["output"] for line in outputs.lines(RECORDS + 1))
    rubric_lint.score(rubric, first)
    found["score"] = count(lambda: [rubric_lint.score(rubric, text) for text in others])
    for name, data in _write_files().items():

        def score_file(name: str = name, data: bytes = data) -> None:
            write = JsonLinesText(lambda _: None, compact=False).add
            ScoringRun({"a": rubric}, write, Progress(io.StringIO())).run(name, io.BufferedReader(io.BytesIO(data)))

        score_file()
        found[name] = count(score_file)
    return found


def _write_files() -> dict[str, bytes]:
    """Return the same records, as `judge` writes them, in files of several kinds, by their names."""
    import pyarrow as pa  # noqa: PLC0415  (the tests of this module need no Arrow)
    import pyarrow.parquet as pq  # noqa: PLC0415

    about = {"question": "When was it built, and how tall is it?", "answer": "In 1889; it is 330 metres tall."}
    judge = {"model": "a-model", "latency": [1.25], "tokens": {"input": 612, "output": 74}}
    records = [{**json.loads(line), **about, "judge": judge} for line in outputs.lines(READ)]
    lines, table, columns = io.StringIO(), io.StringIO(), io.BytesIO()
    writer = csv.DictWriter(table, [*records[0]])
    writer.writeheader()
    for record in records:
        output = json.loads(record["output"].strip("`").removeprefix("json"))
        lines.write(json.dumps({**record, "output": output}) + "\n")
        writer.writerow({**record, "judge": json.dumps(judge)})
    pq.write_table(pa.Table.from_pylist(records), columns)
    return {
        "records.jsonl": lines.getvalue().encode(),
        "records.csv": table.getvalue().encode(),
        "records.parquet": columns.getvalue(),
    }


def compare(now: Figures, kept: Figures) -> list[str]:
    """Name the figures that are not those that are kept, or nearly."""
    if {name: each.keys() for name, each in now.items()} != {name: each.keys() for name, each in kept.items()}:
        return ["other figures are counted now"]
    figures = [(name, kind, figure, kept[name][kind]) for name, each in now.items() for kind, figure in each.items()]
    return [
        f"{name}: {figure:,} {kind}, {abs(figure / was - 1):.1%} {'more' if figure > was else 'fewer'} "
        f"than the {was:,} in {KEPT.name}"
        for name, kind, figure, was in figures
        if abs(figure - was) > TOLERANCE * was
    ]


def main() -> None:
    """Print the figures of this Python, or keep them instead of those that were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep them in {KEPT.name}")
    options = parser.parse_args()
    if not is_comparable():
        sys.exit("The compiled libraries are not here, so other code would be counted; run make to install them.")
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets decides how far some searches go
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    text = json.dumps({"python": VERSION, "figures": count_all()}, indent=2) + "\n"
    if options.write:
        KEPT.write_text(text, "utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
