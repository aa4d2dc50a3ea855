"""Where `rubric-score -o` writes: every kind of file, complete or named .part, and equal to what stdout says."""

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accuracy_depth import RUBRIC, output
from cases import read_cases
from hypothesis import example, given
from hypothesis import strategies as st

import rubric_lint

COMPACT = read_cases(__file__)["COMPACT"]

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and devices")
RECORDS = [
    {"id": "a", "output": output(10, 7), "notes": "kept"},
    {"id": "=b", "output": output(2, 10)},
    {"id": 3, "outputs": [output(7, 7), output(8, 8)]},
    {"id": "ä", "output": "none"},
    output(9, 9),
]
HOSTILE = [
    *("a\nb", "a\\nb", "a\r\nb", "a\rb", "a\tb", ' "a", b ', "\ufeffa", "a", "\u202ea", "\u2028"),
    *("=cmd|' /C calc'!A1", "'=1", "''=1", "-x7f", "@me", "+1", "\uff1d1", "::error::x", "##[error]"),
    *("7", "7.0", "true", "[1]"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    Path("in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    return folder


def call(*args):
    """What is written to stdout and stderr, and the exit code."""
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", "in.jsonl", *args)
    return done.stdout, commands.complaint(done), done.returncode


def unpack(name):
    data = Path(name).read_bytes()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    if name.endswith(".zst"):
        data = pa.input_stream(io.BytesIO(data), compression="zstd").read()
    return data.decode()


def test_files_of_json_lines_hold_what_stdout_shows():
    out, err, code = call("--format", "jsonl")
    for name in ("o.jsonl", "o.jsonl.gz", "o.ndjson.zst"):
        assert call("-o", name) == ("", err, code)
        assert unpack(name) == out
    assert not [*Path().glob("*.part")]


HALF = "\ud800"
HALVES = {
    "a key beside the score": {"id": "a", "output": {"checks": [], f"overall_score{HALF}": 3}},
    "the same in a text": {"id": "a", "output": json.dumps({"checks": [], f"overall_score{HALF}": 3})},
    "a key in a check": {"id": "a", "output": {"checks": [{"id": "accuracy", "score": 1, f"final_score{HALF}": 3}]}},
    "the id of a check": {"id": "a", "output": {"checks": [{"id": HALF, "score": 1}]}},
    "an id": {"id": HALF, "output": output(9, 9)},
    "an id of an invalid output": {"id": HALF, "output": HALF},
    "a list as an id": {"id": [HALF], "output": output(9, 9)},
    "a rubric": {"id": "a", "rubric": HALF, "output": output(9, 9)},
    "other fields": {"id": "a", f"n{HALF}": {HALF: [HALF]}, "output": output(9, 9)},
    "what the judge reports": {"id": "a", "output": output(9, 9), "judge": {"model": HALF, "fault": HALF}},
    "the answer": {"id": "a", "answer": HALF, "output": "So: " + json.dumps(output(9, 9))},
    "a number that is none, behind a key": {"id": "a", "output": {HALF: float("nan")}},
}


TWO_HALVES = (HALVES["an id"], HALVES["other fields"])


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("record", "name"),
    [
        *((record, "o.jsonl") for record in HALVES.values()),
        *((record, name) for record in TWO_HALVES for name in (None, "o.csv", "o.parquet")),
    ],
)
def test_half_a_surrogate_pair_costs_no_more_than_its_own_output(record, name):
    fine = {"id": "z", "output": output(9, 9)}
    Path("in.jsonl").write_text(f"{json.dumps(record)}\n{json.dumps(fine)}\n", "utf-8")
    out, _, code = call("--format", "jsonl") if name is None else call("-o", name)
    assert code in (0, 1)
    if name == "o.parquet":
        assert [row["verdict"] for row in pq.read_table(name).to_pylist()][1:] == ["pass"]
    else:
        text = unpack(name) if name else out
        assert (text.count("\n"), '"z"' in text or "\nz," in text) == (3 if name == "o.csv" else 2, True)


def test_compact_results_have_the_exact_score_and_no_more(said):
    call("-o", "o.jsonl.gz", "--compact")
    out, _, _ = call("--compact")
    assert unpack("o.jsonl.gz") == out
    results = [json.loads(line) for line in out.splitlines()]
    said(results[3]["error"].pop("message"))
    assert results == COMPACT


def test_a_table_has_a_row_for_each_result(said):
    _, err, code = call("-o", "o.csv")
    said(err)
    head, *rows = csv.reader(unpack("o.csv").splitlines())
    assert (code, "1 invalid" in err) == (1, True)
    assert head == [
        *("id", "rubric", "rubric_hash", "points", "full", "score", "verdict", "gates_missed"),
        *("criteria.accuracy", "criteria.depth", "error", "error_path", "file", "line"),
    ]
    assert [[row[0], *row[3:]] for row in rows] == [
        ["a", "27", "30", "0.9", "pass", "", "10", "7", "", "", "", ""],
        ["=b", "14", "30", str(14 / 30), "fail", "accuracy", "2", "10", "", "", "", ""],
        ["3", "45", "60", "0.75", "borderline", "", *rows[2][8:10], "", "", "", ""],
        ["ä", "", "", "", "", "", "", "", rows[3][10], "", "", "4"],
        ["", "27", "30", "0.9", "pass", "", "9", "9", "", "", "", ""],
    ]


def write_with_ids(names):
    """Score an answer for each id into three files, and return the ids that each file has."""
    records = [{"id": name, "output": output(10, place % 11)} for place, name in enumerate(names)]
    Path("in.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        call("-o", name, "-q")
    of_lines = [json.loads(line)["id"] for line in Path("o.jsonl").read_text("utf-8").split("\n")[:-1]]
    with Path("o.csv").open(encoding="utf-8", newline="") as file:
        return [row["id"] for row in csv.DictReader(file)], of_lines, pq.read_table("o.parquet")["id"].to_pylist()


@pytest.mark.slow
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, unique=True))
@example(names=["\x00", "\x1b[31m", *HOSTILE])
def test_ids_are_written_as_they_are(names):
    assert write_with_ids(names) == (names, names, names)


@pytest.mark.parametrize("results", ["in.jsonl", "o.jsonl"])
def test_results_join_by_ids_that_a_table_of_results_has(results):
    ids, _, _ = write_with_ids(HOSTILE)
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([
            ("id", "rater", "output"),
            *[(name, "p", json.dumps(output(10, 7))) for name in ids],
        ])  # fmt: skip
    asked = ["agree", "r.rubric.yaml", results, "--labels", "labels.csv", "--format", "json"]
    found = json.loads(commands.run("rubric-lint", *asked).stdout)
    assert (found["invalid"], found["left_out"]) == ([], [])
    assert found["agreements"][0]["answers"] == len(HOSTILE)


def score_again(name):
    """The scores and verdicts of a table of our results that is read as outputs."""
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", name, "--format", "jsonl", "-q")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    return [(result.get("score"), result.get("verdict")) for result in results]


@pytest.mark.parametrize("name", ["points", "full", "gates_missed", "error_path", "file", "line", "error", "verdict"])
def test_a_table_is_read_back_though_a_criterion_has_the_name_of_one_of_its_columns(name):
    rubric = {"rubrics": [{"id": each, "expected_outcome": f"Names the {each}"} for each in (name, "river")]}
    Path("r.rubric.yaml").write_text(json.dumps(rubric), "utf-8")
    checks = [{"id": name, "satisfied": True}, {"id": "river", "satisfied": False}]
    Path("in.jsonl").write_text(json.dumps({"id": "a", "output": {"checks": checks}}), "utf-8")
    call("-o", "out.csv")
    assert score_again("out.csv") == [(0.5, "fail")]


def test_a_table_that_is_read_back_says_again_why_an_output_was_invalid(said):
    call("-o", "out.csv")
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", "out.csv", "--format", "jsonl", "-q")
    results = {each.get("id"): each for each in map(json.loads, done.stdout.splitlines())}
    said(results["ä"]["error"]["message"])


def test_a_table_without_ids_is_read_back():
    Path("in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (output(9, 9), output(2, 9))), "utf-8")
    call("-o", "out.csv")
    first = [json.loads(line) for line in call("--format", "jsonl")[0].splitlines()]
    assert score_again("out.csv") == [(each["score"], each["verdict"]) for each in first]


def test_parquet_has_the_columns_of_score_batch():
    call("-o", "o.parquet")
    rubrics = rubric_lint.load_rubrics("r.rubric.yaml", RUBRIC.encode())
    expected = rubric_lint.score_batch(rubrics, Path("in.jsonl").read_bytes()).to_arrow().to_pylist()
    found = pq.read_table("o.parquet").to_pylist()
    for row in found:
        if row["error"]:
            assert row["error"].pop("file") is None
    assert found == expected


def run(*args, **streams):
    command = commands.command("rubric-score", "r.rubric.yaml", *args)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **streams)


@pytest.mark.slow
@needs_posix
def test_an_interrupted_run_leaves_the_file_that_was_there_and_a_part(said):
    Path("o.jsonl").write_text("old", "utf-8")
    process = run("-", "-o", "o.jsonl", stdin=subprocess.PIPE)
    process.stdin.write(Path("in.jsonl").read_bytes() * 100)
    process.stdin.flush()
    part, sizes = Path("o.jsonl.part"), [0]
    while sizes[-1] == 0 or sizes[-1] != sizes[-2]:  # until it has scored what came, and waits for more
        assert process.poll() is None
        time.sleep(0.3)
        sizes.append(part.stat().st_size if part.exists() else 0)
    process.send_signal(signal.SIGINT)
    process.wait(60)  # before its input ends, or a signal that comes late meets a run that is over
    _, told = process.communicate()
    lines = Path("o.jsonl.part").read_text("utf-8").splitlines()
    assert process.returncode == 130
    assert f"after {len(lines)} output" in told.decode()
    said(told.decode().splitlines()[-1])
    assert Path("o.jsonl").read_text("utf-8") == "old"


@pytest.mark.slow
@needs_posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["full.jsonl", "full.csv.gz", "full.parquet"])
def test_a_disk_that_fills_is_told(name, said):
    Path(f"{name}.part").symlink_to("/dev/full")
    process = run("in.jsonl", "-o", name)
    _, told = process.communicate(timeout=60)
    lines = told.decode().splitlines()
    assert (process.returncode, Path(name).exists()) == (2, False)
    said(lines)
    assert not [line for line in lines if "Traceback" in line or "ignored" in line]


@pytest.mark.slow
@needs_posix
def test_a_temporary_copy_that_does_not_fit_is_told(said, monkeypatch):
    import resource  # noqa: PLC0415  (only POSIX has it)

    pq.write_table(pa.table({"output": ["no"] * 5_000, "n": [*range(5_000)]}), "in.parquet")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # under the limit, Python keeps half of a compiled module

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    process = run("-", stdin=subprocess.PIPE, preexec_fn=limit)
    _, told = process.communicate(Path("in.parquet").read_bytes(), timeout=60)
    said(told.decode().splitlines()[0])
    assert process.returncode == 2
