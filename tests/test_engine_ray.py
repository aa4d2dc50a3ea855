"""`rubric-score --engine ray` on real clusters: totals, resuming, Ctrl+C, workers that die, absent clusters."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from disk import small
from engines import PYTHON, environment, needs_engines
from random_outputs import make_outputs

pytestmark = [pytest.mark.engines, needs_engines]

ROOT = Path(__file__).parent.parent
PROGRAM = "from rubric_lint.cli.start import score\nscore()\n"
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
    own = [line for line in errors.splitlines() if line.startswith("rubric-score: ")]
    others = [line for line in errors.splitlines() if line not in own and "raylet" not in line and line.strip()]
    assert "Traceback" not in errors, errors
    return process.returncode, output, own, others


def call(folder, *arguments, **more):
    return finish(start(folder, *arguments, **more))[:3]


def write_inputs(folder, files, rows):
    """Files of outputs, each of them a part; some ids are there twice."""
    texts = [record["output"] for record in make_outputs(1_000)]
    for number in range(files):
        table = pa.table({
            "id": [f"r{number * rows + (row // 2 if row < 40 else row)}" for row in range(rows)],
            "output": pa.array([texts[row % 1_000] for row in range(rows)], pa.string()),
        })  # fmt: skip
        pq.write_table(table, folder / f"{number}.parquet")


def ids_of(folder):
    return Counter(pq.read_table(folder, columns=["id"])["id"].to_pylist())


def test_totals_table_and_exit_code_are_those_without_the_engine(work):
    write_inputs(work / "outputs", 3, 2_000)
    first = call(work, *ENGINE, "--format", "table")
    plain = call(work, *ARGUMENTS, "--format", "table")
    assert first == plain
    assert (
        first[0],
        "records have the id of an earlier one, and all are counted: outputs/0.parquet:" in "".join(first[2]),
    ) == (1, True)
    whole = {path.name: path.read_bytes() for path in (work / "out").iterdir()}
    assert sorted(whole) == ["_rubric-score.json", *(f"part-0000{number}.parquet" for number in range(3))]
    (work / "out/part-00001.parquet").write_bytes(whole["part-00001.parquet"][:-100])
    code, output, said = call(work, *ENGINE, "--format", "json", "--allow-invalid", "--fail-on", "never")
    code_of_plain, output_of_plain, _ = call(
        work, *ARGUMENTS, "--format", "json", "--allow-invalid", "--fail-on", "never"
    )
    assert code == code_of_plain == 0
    assert json.loads(output)["totals"] == json.loads(output_of_plain)["totals"]
    assert said[0] == "rubric-score: out: 2 of 3 parts are done (4,000 of 6,000 outputs) and are skipped"
    assert {path.name: path.read_bytes() for path in (work / "out").iterdir()} == whole
    rows = pq.read_table(work / "out").to_pylist()
    results = [json.loads(line) for line in call(work, *ARGUMENTS, "--format", "jsonl")[1].splitlines()]
    assert [(row["id"], row["score"], row["verdict"]) for row in rows] == [
        (each["id"], each.get("score"), each.get("verdict")) for each in results
    ]
    assert [(row["error"]["line"], row["error"]["path"]) for row in rows if row["error"]] == [
        (each["error"]["line"], each["error"]["path"]) for each in results if "error" in each
    ]


def workers_writing(process, folder):
    """The workers of this run that have a part open, below its process."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if is_below(int(status.parent.name), process.pid):
                files = [str(each.readlink()) for each in (status.parent / "fd").iterdir()]
                if any(each.startswith(f"{folder}/.part-") for each in files):
                    yield int(status.parent.name)


def is_below(number, ancestor):
    while number > 1 and number != ancestor:
        number = int(Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
    return number == ancestor


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds workers in /proc")
def test_a_run_that_is_interrupted_and_one_whose_worker_dies_lose_and_double_nothing(work):
    write_inputs(work / "outputs", 8, 8_000)
    run = start(work, *ENGINE)
    while run.poll() is None and not [*work.glob("out/part-*")]:
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGINT)
    code, output, said, _ = finish(run)
    assert (code, output) == (130, "")
    told = re.fullmatch(
        r"rubric-score: interrupted; (\d) of 8 parts are done; run this again to score the others", said[-1]
    )
    parts = sorted(path.name for path in work.glob("out/part-*"))
    assert told
    assert int(told[1]) >= 1
    assert [*work.glob("out/.part-*")] == []

    run = start(work, *ENGINE)
    killed = 0
    while run.poll() is None and not killed:
        for number in workers_writing(run, work / "out"):
            os.kill(number, signal.SIGKILL)
            killed = number
            break
        time.sleep(0.005)
    code, output, said, _ = finish(run)
    assert (bool(killed), code, output) == (True, 1, ""), said
    assert said[0].startswith(f"rubric-score: out: {len(parts)} of 8 parts are done ({len(parts) * 8_000:,} of 64,0")
    assert sorted(path.name for path in (work / "out").iterdir()) == [
        "_rubric-score.json",
        *(f"part-{number:05d}.parquet" for number in range(8)),
    ]
    assert ids_of(work / "out") == ids_of(work / "outputs")
    plain = call(work, *ARGUMENTS, "--format", "jsonl")[2]
    causes = [line for line in plain if line.startswith("rubric-score: invalid: ")]
    assert len(causes) == 1  # with --engine, the causes are in the column `error` alone
    plain.remove(causes[0])
    assert said[-len(plain) :] == plain


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
    told = f"the cluster at {cluster} asks for a token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as there"
    assert call(work, *ENGINE, "--address", cluster) == (2, "", [f"rubric-score: {told}"])
    for output in ("out", "again"):
        code, _, said = call(work, *ARGUMENTS, "-o", output, "--engine", "ray", "--address", cluster, **TOKEN)
        assert (code, said[-1].startswith("rubric-score: 2000 outputs: ")) == (1, True), said
    assert ids_of(work / "out") == ids_of(work / "again") == ids_of(work / "outputs")


def test_a_cluster_that_is_not_there_is_told_within_seconds(work):
    write_inputs(work / "outputs", 1, 10)
    started = time.monotonic()
    advice = "start it with `ray start --head`, or leave --address out to use this machine"
    assert call(work, *ENGINE, "--address", "127.0.0.1:1") == (
        *(2, "", [f"rubric-score: no cluster answers at 127.0.0.1:1 (Connection refused); {advice}"]),
    )
    assert time.monotonic() - started < 20
    code, output, said = call(
        work, *ENGINE, "--address", "auto"
    )  # another test may have a cluster that asks for a token
    assert (code, output, said[0].startswith("rubric-score: the cluster at auto ")) == (2, "", True)
    expected = "expected HOST:PORT of the head node, such as 10.0.0.1:6379, or auto"
    assert call(work, *ENGINE, "--address", "ray://x") == (2, "", [f"rubric-score: --address ray://x: {expected}"])
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        told = f"rubric-score: what listens at {address} does not answer as a Ray cluster; {advice}"
        assert call(work, *ENGINE, "--address", address) == (2, "", [told])


@pytest.fixture
def full_disk(work):
    with small(work / "small", "150k") as folder:
        yield folder


def test_a_full_disk_keeps_what_is_done(work, full_disk):
    write_inputs(work / "outputs", 4, 10_000)
    arguments = (*ARGUMENTS, "-o", "small/out", "--engine", "ray")
    code, output, said = call(work, *arguments)
    assert (code, output) == (2, "")
    assert re.fullmatch(
        rf"rubric-score: {re.escape(str(full_disk))}/out/part-0000\d\.parquet: No space left on device"
        r"(; \d of 4 parts are done; run this again to score the others)?",
        said[-1],
    ), said
    assert [*full_disk.glob("out/.part-*")] == []
    subprocess.run(["mount", "-o", "remount,size=50m", full_disk], check=True)
    assert call(work, *arguments)[0] == 1
    assert ids_of(full_disk / "out") == ids_of(work / "outputs")
