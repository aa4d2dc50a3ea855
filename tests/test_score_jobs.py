"""Scoring with several processes: the same bytes as with one, and the same end when something ends it."""

import csv
import gzip
import io
import json
import multiprocessing
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rubric_lint.outputs.blocks import Block
from rubric_lint.outputs.verdict import DEFAULT_READING
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.run import PartScorer, Task, WorkerPool

RUBRIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Wrong}
  - {score_range: [5, 10], expected_outcome: Right}
"""
ROWS = 6_000
FIELDS = ("uid", "response", "notes")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and process groups")


def make_line(number):
    """A record of a kilobyte; some are raw texts, medians, invalid, repeated, or judged by another rubric."""
    record = {"id": f"a{number if number % 97 else 5}", "output": {"score": number % 12}, "notes": "ä" * 500}
    if number % 5 == 0:
        record["output"] = json.dumps(record["output"])
    if number % 7 == 0:
        record["outputs"] = [record.pop("output"), {"score": 3}]
    if number % 31 == 0:
        record["rubric_hash"] = "0"
    return json.dumps(record, ensure_ascii=False) + "\n"


LINES = [make_line(number) for number in range(ROWS)]


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    return folder


def call(*args, jobs):
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", *args, "--format", "jsonl", "--jobs", jobs)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.slow
def test_several_processes_write_the_same():
    Path("a.jsonl").write_text("".join(LINES), "utf-8")
    table = "id,output\n" + "".join(f'b{n % 800},"{{""score"": 7}}"\n' for n in range(900))
    Path("b.csv.gz").write_bytes(gzip.compress(table.encode()))
    one, two = (call("a.jsonl", "b.csv.gz", jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one[0].count("\n") == ROWS + 900


def write_as(kind, rows):
    """Rows of an id, a raw text and notes as a file of a kind."""
    if kind == "batch":
        replies = [(name, {"choices": [{"message": {"content": text}}], "notes": "x" * 900}) for name, text, _ in rows]
        results = [{"custom_id": name, "response": {"status_code": 200, "body": body}} for name, body in replies]
        return "".join(json.dumps(each) + "\n" for each in results).encode()
    if kind == "csv":
        text = io.StringIO()
        csv.writer(text).writerows([FIELDS, *rows])
        return text.getvalue().encode()
    records = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    if kind == "json":
        return json.dumps(records).encode()
    if kind == "parquet":
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(records), stream)
        return stream.getvalue()
    lines = "".join(json.dumps(each) + "\n" for each in records)
    return pa.compress(lines.encode(), codec="zstd", asbytes=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "jsonl.zst", "batch"])
def test_several_processes_write_the_same_of_every_kind(kind):
    rows = [(f"a{n % 8000}", f'So:\n\n{{"score": {n % 12}}}', f"{n}" * 200) for n in range(ROWS)]
    Path("a").write_bytes(write_as(kind, rows))
    mapping = [] if kind == "batch" else ["--map", "id=uid", "--map", "output=response"]
    one, two = (call("a", *mapping, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one[0].count("\n") == ROWS


def make_tasks():
    return [
        Task([Block(start + 1, "".join(LINES[start : start + 100]).encode(), has_lines=True)], "f")
        for start in range(0, 2_000, 100)
    ]


@pytest.mark.slow
@needs_posix
@pytest.mark.parametrize("killed", [1, 2])
def test_no_task_is_lost_when_processes_die(killed):
    rubrics = load_rubrics("r.yaml", RUBRIC.encode())
    open_scorer = partial(PartScorer, rubrics, DEFAULT_READING)
    alone = WorkerPool(open_scorer, 0)
    expected = [*(each for task in make_tasks() for each in alone.give(task)), *alone.drain()]
    before = {*multiprocessing.active_children()}
    crew = WorkerPool(open_scorer, 2)
    try:
        found = []
        for number, task in enumerate(make_tasks()):
            if number == 7:
                for process in [each for each in multiprocessing.active_children() if each not in before][:killed]:
                    process.kill()
                    process.join()
            found += crew.give(task)
        found += crew.drain()
    finally:
        crew.close()
    assert [(results.lines, totals) for results, totals in found] == [
        (results.lines, totals) for results, totals in expected
    ]
    assert {*multiprocessing.active_children()} <= before


def start(*args, **streams):
    command = commands.command("rubric-score", "r.rubric.yaml", *args, "--format", "jsonl", "--jobs", "2")
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, bufsize=0, **streams
    )


def read_first(process):
    """The first results, up to where it writes what other processes scored, and waits."""
    first = b""
    while len(first) < 6_500_000:
        first += process.stdout.read(1 << 16)
    return first


def wait_for_group(process):
    """Until no process of the group is left."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("a process was left behind")


@pytest.mark.slow
@needs_posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_signal_ends_all_processes_and_everything_written_is_counted(number, code):
    Path("a.jsonl").write_text("".join(LINES) * 2, "utf-8")
    process = start("a.jsonl")
    first = read_first(process)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    rest, told = process.communicate(timeout=60)
    written = (first + rest).decode().splitlines()
    expected = call("a.jsonl", jobs=1)[0].splitlines()
    assert process.returncode == code
    assert written == expected[: len(written)]
    assert len(written) < 2 * ROWS
    interrupted = [line for line in told.decode().splitlines() if "interrupted" in line]
    assert f"interrupted at line {len(written)} of a.jsonl, after {len(written)} outputs: " in interrupted[0]
    wait_for_group(process)


@pytest.mark.slow
@needs_posix
def test_a_reader_that_stops_ends_all_processes():
    Path("a.jsonl").write_text("".join(LINES) * 2, "utf-8")
    process = start("a.jsonl")
    read_first(process)
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE
    process.stderr.close()
    wait_for_group(process)


@pytest.mark.slow
@needs_posix
def test_results_are_written_before_more_input_is_waited_for():
    process = start("-", stdin=subprocess.PIPE)
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(process.stdin.write, "".join(LINES).encode())
        output = io.BufferedReader(process.stdout)
        found = [output.readline() for _ in LINES]
        writing.result()
    process.stdin.write(LINES[0].encode())
    process.stdin.close()
    out = output.read()
    output.close()
    process.stderr.close()
    process.wait(60)
    assert (len(found), out) == (ROWS, found[0])
    wait_for_group(process)
