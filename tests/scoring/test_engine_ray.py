"""`rubric-score --engine ray` on real clusters: the totals are those of one process, also when a worker is killed."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import read_cases
from disk import small
from engines import PYTHON, environment, needs_engines
from random_outputs import make_outputs

pytestmark = [pytest.mark.engines, needs_engines]

TABLES = read_cases(__file__)
ROOT = Path(__file__).parents[2]
PROGRAM = "from rubric_lint.cli.start import score\nscore()\n"
SEVERAL = """\
import shlex, sys
from rubric_lint.cli.start import score
for line in sys.stdin.read().splitlines():
    sys.argv = ["rubric-score", *shlex.split(line)]
    try:
        score()
    except SystemExit as end:
        print(f"[{line}]: {end.code}", file=sys.stderr)
"""
ARGUMENTS = ("summary.rubric.yaml", "outputs")
ENGINE = (*ARGUMENTS, "-o", "out", "--engine", "ray")

TOKEN = {"RAY_AUTH_MODE": "token"}
"""A cluster asks for the token that Ray keeps in the home of the test."""


@pytest.fixture
def work(tmp_path):
    """A folder with a rubric, the program and a folder of inputs."""
    shutil.copyfile(ROOT / "examples/summary.rubric.yaml", tmp_path / "summary.rubric.yaml")
    (tmp_path / "rubric-score").write_text(PROGRAM, "utf-8")
    (tmp_path / "outputs").mkdir()
    return tmp_path


def start(folder, *arguments, **more):
    """Start the command in a process group of its own, as a shell does."""
    return subprocess.Popen(
        [PYTHON, "rubric-score", *arguments],
        cwd=folder,
        env={**environment(folder), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    """The exit code, the output and what the command itself says; Ray has lines of its own about workers that die."""
    output, errors = process.communicate(timeout=240)
    assert "Traceback" not in errors, errors
    return process.returncode, output, [line for line in errors.splitlines() if line.startswith("rubric-score: ")]


def call(folder, *arguments, **more):
    return finish(start(folder, *arguments, **more))


def write_inputs(folder, files, rows):
    """Files of outputs; one has a column that the others lack."""
    texts = [record["output"] for record in make_outputs(1_000)]
    judge = json.dumps({"checks": [{"id": "accuracy", "score": 9}, {"id": "length", "score": 9}], "tone": "calm"})
    for number in range(files):
        columns = {
            "id": [f"r{number * rows + row}" for row in range(rows)],
            "output": pa.array([judge if row % 9 == 0 else texts[row % 1_000] for row in range(rows)], pa.string()),
            "seed": [number] * rows,
        }
        if number == 1:
            columns["rubric_hash"] = [None if row % 7 else "another" for row in range(rows)]
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=8_000)


def read_results(place):
    """The results in a file or a folder, and where errors are; only one process knows their lines and other columns."""
    table = pq.read_table(place, partitioning=None)
    return table.drop_columns("error"), [error and error["path"] for error in table["error"].to_pylist()]


def find_workers(process):
    """The workers of this run that score, below its process."""
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"MapBatches" in status.read_bytes() and is_below(int(status.parent.name), process.pid):
                yield int(status.parent.name)


def is_below(number, ancestor):
    while number > 1 and number != ancestor:
        number = int(Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return number == ancestor


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers in /proc")
def test_200_000_rows_with_a_killed_worker_have_the_results_and_totals_of_one_process(work):
    write_inputs(work / "outputs", 4, 50_000)
    run = start(work, *ENGINE, "--format", "json")
    killed = 0
    while run.poll() is None and not killed:
        for number in find_workers(run):
            time.sleep(0.2)  # it has begun
            os.kill(number, signal.SIGKILL)
            killed = number
            break
        time.sleep(0.005)
    code, output, said = finish(run)
    plain_code, plain, plain_said = call(work, *ARGUMENTS, "-o", "plain.parquet")
    assert (bool(killed), code, plain_code) == (True, 1, 1)
    assert [line for line in plain_said if "invalid: in" not in line][-2:] == said[-2:]
    _, listed, _ = call(work, *ARGUMENTS, "--format", "json")
    assert json.loads(output)["totals"] == json.loads(listed)["totals"]
    assert json.loads(output)["totals"]["outputs"] == 200_000
    (results, errors), (expected, expected_errors) = read_results(work / "out"), read_results(work / "plain.parquet")
    assert (results.equals(expected), errors == expected_errors) == (True, True)
    assert plain == ""


@pytest.mark.parametrize(
    "more",
    [
        ("--map", "id=seed", "--map", "answer=id"),
        ("--extract", "whole", "--extra-fields", "refuse", "--allow-invalid", "--fail-on", "never"),
    ],
    ids=" ".join,
)
def test_table_warnings_and_exit_code_are_those_without_the_engine(work, more):
    write_inputs(work / "outputs", 2, 2_000)
    code, output, said = call(work, *ENGINE, "--format", "table", *more)
    plain_code, plain, plain_said = call(work, *ARGUMENTS, "--format", "table", *more)
    tables = plain[plain.index("summary (score_ranges)") :].splitlines()
    assert output.splitlines() == [line for line in tables if not line.startswith("--format jsonl")]
    assert said == [line.partition(", the first")[0] for line in plain_said if "rubric_hash" in line]
    assert (code, len(said)) == (plain_code, 1)


def test_what_cannot_work_is_refused_before_a_cluster_starts(work, said):
    texts = ['{"score": 7}', "No.", None]
    for name, columns in {
        "a": {"output": texts},
        "text": {"text": texts},
        "number": {"output": [7]},
        "struct": {"output": [{"score": 7}]},
        "scored": {"output": texts, "score": [1.0] * 3},
        "empty": {"output": pa.array([], pa.string())},
    }.items():
        pq.write_table(pa.table(columns), work / f"{name}.parquet")
    (work / "program.py").write_text(SEVERAL, "utf-8")
    (work / "half.part").mkdir()
    lines = [f"summary.rubric.yaml {line}" for line in TABLES["what cannot work is refused"]]
    done = subprocess.run(
        [PYTHON, "program.py"],
        cwd=work,
        env={**environment(work), "RAY_ADDRESS": "127.0.0.1:1"},
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    said(done.stderr)
    assert (done.stdout, (work / "out").exists()) == ("", False)


def test_an_interrupted_run_leaves_nothing_that_could_be_taken_for_results(work):
    write_inputs(work / "outputs", 8, 8_000)
    run = start(work, *ENGINE)
    while run.poll() is None and not [*work.glob("out.part/*")]:
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    code, output, said = finish(run)
    assert (code, output, said) == (130, "", ["rubric-score: interrupted"])
    assert [*work.glob("out*")] == [work / "outputs"]


@pytest.fixture
def cluster(tmp_path):
    """The address of a cluster that another process has started."""
    program = (
        "import ray, sys\n"
        "context = ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
        "print(context.address_info['gcs_address'], flush=True)\n"
        "sys.stdin.read()\n"
    )
    host = subprocess.Popen(
        [PYTHON, "-c", program],
        env={**environment(tmp_path), **TOKEN},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield host.stdout.readline().strip()
    host.stdin.close()
    host.wait(60)
    host.stdout.close()


def test_a_cluster_is_used_by_its_address_and_outlives_the_run(work, cluster):
    write_inputs(work / "outputs", 2, 1_000)
    for output in ("out", "again"):
        code, _, said = call(work, *ARGUMENTS, "-o", output, "--engine", "ray", RAY_ADDRESS=cluster, **TOKEN)
        assert (code, said[-1].startswith("rubric-score: 2000 outputs: ")) == (1, True), said
    assert read_results(work / "out")[0].equals(read_results(work / "again")[0])


def test_a_cluster_that_is_not_there_is_reported(work):
    write_inputs(work / "outputs", 1, 10)
    code, output, said = call(work, *ENGINE, RAY_ADDRESS="127.0.0.1:1")
    assert (code, output, said[0].partition(" ray: ")[0]) == (2, "", "rubric-score: --engine")
    assert [*work.glob("out*")] == [work / "outputs"]


@pytest.fixture
def full_disk(work):
    with small(work / "small", "150k") as folder:
        yield folder


def test_a_full_disk_is_reported_and_leaves_nothing(work, full_disk):
    write_inputs(work / "outputs", 4, 10_000)
    code, output, said = call(work, *ARGUMENTS, "-o", "small/out", "--engine", "ray")
    assert (code, output, "No space left on device" in said[-1]) == (2, "", True)
    assert [*full_disk.iterdir()] == []
