"""`--engine ray` without a cluster: plans, folders that are refused, what a worker writes, and totals that add up."""

import json
import os

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from random_outputs import cases, load

from rubric_lint import Totals, load_rubrics, score_batch
from rubric_lint.arrow import map_batches
from rubric_lint.engines.cluster import Folder, FolderError, Worker, make_plan
from rubric_lint.outputs.verdict import DEFAULT_READING
from rubric_lint.scoring.totals import restore_totals, store_totals

TABLES = read_cases(__file__)


RUBRIC = "rubrics: [{score_range: [0, 4], expected_outcome: Long}, {score_range: [5, 10], expected_outcome: Short}]\n"
TEXTS = ['{"score": 7}', "No.", None, '{"score": 2}']


@pytest.fixture
def call(tmp_path):
    """Calls `rubric-score length.rubric.yaml` in the test's folder: exit code and what it complains of."""
    (tmp_path / "length.rubric.yaml").write_text(RUBRIC, "utf-8")
    write(tmp_path / "a.parquet", {"id": ["a", "b", "c", "d"], "output": TEXTS})

    def run(*arguments):
        done = commands.run("rubric-score", "length.rubric.yaml", *arguments, cwd=tmp_path)
        assert done.stdout == ""
        return done.returncode, done.stderr.replace("Usage: rubric-score", "")

    return run


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)


ENGINE = ("--engine", "ray", "-o", "out")


@pytest.mark.parametrize("arguments", TABLES["what cannot work is refused"], ids=" ".join)
def test_what_cannot_work_is_refused_before_anything_starts(call, tmp_path, arguments, said):
    write(tmp_path / "text.parquet", {"text": TEXTS})
    write(tmp_path / "number.parquet", {"output": [7]})
    write(tmp_path / "scored.parquet", {"output": TEXTS, "score": [1.0] * 4})
    write(tmp_path / "empty.parquet", {"output": pa.array([], pa.string())})
    code, complaint = call(*arguments)
    assert code == 2
    said(complaint)
    assert not (tmp_path / "out").exists()


def test_without_ray_it_is_said_what_to_install(call, said):
    code, complaint = call("a.parquet", *ENGINE)
    assert code == 2
    said(complaint)


def run_parts(folder, rubrics, *names, mapping=None):
    """Score all parts of some files as workers do, without a cluster."""

    score = map_batches(rubrics)
    plan = make_plan(map(str, names), score, rubrics, reading=DEFAULT_READING, mapping=mapping or {})
    with Folder(folder, plan) as kept:
        before = kept.prepare()
        work = Worker(score, str(folder), plan.key, plan.mapping)
        outcomes = [work({"part": json.dumps(part)}) for part in plan.parts if part.number not in before]
        return plan, before, outcomes


RUBRICS = load_rubrics("length.rubric.yaml", RUBRIC)


def test_a_worker_writes_the_results_of_a_part_with_its_totals(tmp_path):
    columns = {"name": ["a", "b", "c", "d"], "output": TEXTS, "rubric_hash": ["other", None, None, "other"]}
    write(tmp_path / "a.parquet", columns, row_group_size=2)
    plan, before, outcomes = run_parts(tmp_path / "out", RUBRICS, tmp_path / "a.parquet", mapping={"id": "name"})
    assert (before, [each["fault"] for each in outcomes]) == ({}, [""])
    (done,) = [json.loads(each["done"]) for each in outcomes]
    table = pa.table(columns).rename_columns(["id", "output", "rubric_hash"])
    batch = score_batch(RUBRICS, table)
    assert restore_totals(done.pop("totals"), RUBRICS) == batch.totals
    assert done == {"number": 0, "rows": 4, "judged_otherwise": 2, "first_otherwise": 0}
    rows = batch.to_arrow().to_pylist()
    for number, row in enumerate(rows, 1):
        if row["error"]:
            row["error"]["line"] = number
    assert pq.read_table(tmp_path / "out" / plan.parts[0].name).to_pylist() == rows
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["_rubric-score.json", "part-00000.parquet"]
    assert pq.read_table(tmp_path / "out").num_rows == 4  # engines read the folder as one table


def test_only_parts_that_are_not_done_are_scored_again(tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.parquet", {"id": [name, name], "output": TEXTS[:2]})
    names = [tmp_path / f"{name}.parquet" for name in "abc"]
    run_parts(tmp_path / "out", RUBRICS, *names)
    first, second, third = sorted((tmp_path / "out").glob("part-*"))
    whole = second.read_bytes()
    second.write_bytes(whole[:-20])
    third.unlink()
    (tmp_path / "out" / ".part-00001.parqu.0123.rubric-lint").write_bytes(b"half")
    changed = first.stat().st_mtime_ns
    _, before, outcomes = run_parts(tmp_path / "out", RUBRICS, *names)
    assert ([*before], [json.loads(each["done"])["number"] for each in outcomes]) == ([0], [1, 2])
    assert (second.read_bytes(), first.stat().st_mtime_ns) == (whole, changed)
    assert [*(tmp_path / "out").glob(".*")] == []


def test_row_groups_are_put_together_until_they_are_a_part(tmp_path):
    texts = pa.array(['{"score": 7}']).take(pa.array([0] * 600_000))
    write(tmp_path / "a.parquet", {"output": texts}, row_group_size=100_000)
    write(tmp_path / "b.parquet", {"output": texts[:10]}, row_group_size=3)

    names = [str(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    plan = make_plan(names, map_batches(RUBRICS), RUBRICS, reading=DEFAULT_READING, mapping={})
    assert [(each.first_group, each.groups, each.first_row, each.rows) for each in plan.parts] == [
        *((0, 3, 0, 300_000), (3, 3, 300_000, 300_000), (0, 4, 0, 10))
    ]


def change_rubric(_folder):
    return load_rubrics("length.rubric.yaml", RUBRIC.replace("[0, 4]", "[0, 3]").replace("[5,", "[4,"))


def change_input(folder):
    write(folder / "a.parquet", {"output": TEXTS[:1] * 3})
    return RUBRICS


@pytest.mark.parametrize(
    ("change", "names"),
    [(change_rubric, ["a"]), (change_input, ["a"]), (lambda _: RUBRICS, ["a", "b"]), (lambda _: RUBRICS, ["b"])],
    ids=["another rubric", "another input", "one more input", "an input for another"],
)
def test_a_folder_of_another_run_is_refused(tmp_path, change, names, said):
    for name in "ab":
        write(tmp_path / f"{name}.parquet", {"output": TEXTS})
    run_parts(tmp_path / "out", RUBRICS, tmp_path / "a.parquet")
    rubrics = change(tmp_path)
    with pytest.raises(FolderError) as refused:
        run_parts(tmp_path / "out", rubrics, *[tmp_path / f"{name}.parquet" for name in names])
    said(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="locks with flock")
def test_two_runs_do_not_write_one_folder(tmp_path, said):
    write(tmp_path / "a.parquet", {"output": TEXTS})
    plan = make_plan([str(tmp_path / "a.parquet")], map_batches(RUBRICS), RUBRICS, reading=DEFAULT_READING, mapping={})
    with Folder(tmp_path / "out", plan) as first, Folder(tmp_path / "out", plan) as second:
        first.prepare()
        with pytest.raises(FolderError) as refused:
            second.prepare()
    said(refused.value)


def test_a_worker_says_what_is_wrong_with_a_file(tmp_path, said):
    write(tmp_path / "a.parquet", {"output": TEXTS * 100}, compression=None, use_dictionary=False)

    path = tmp_path / "a.parquet"
    score = map_batches(RUBRICS)
    plan = make_plan([str(path)], score, RUBRICS, reading=DEFAULT_READING, mapping={})
    path.write_bytes(b"\xff" * 300 + path.read_bytes()[300:])
    work = Worker(score, str(tmp_path / "out"), plan.key, {})
    (part,) = plan.parts
    no_folder = work({"part": json.dumps(part)})
    (tmp_path / "out").mkdir()
    assert work({"part": json.dumps(part)})["fault"].startswith(f"{path}: cannot be read: ")
    path.unlink()
    no_file = work({"part": json.dumps(part)})
    said([each["fault"] for each in (no_folder, no_file)])
    assert [*(tmp_path / "out").iterdir()] == []


def test_a_part_that_kills_its_workers_is_given_up(tmp_path, said):
    write(tmp_path / "a.parquet", {"output": TEXTS})
    (tmp_path / "out").mkdir()
    score = map_batches(RUBRICS)
    (part,) = make_plan([str(tmp_path / "a.parquet")], score, RUBRICS, reading=DEFAULT_READING, mapping={}).parts
    for number in range(5):
        (tmp_path / f"out/.part-00000.parquet.{number}.rubric-lint").write_bytes(b"half")
    said(Worker(score, str(tmp_path / "out"), "", {})({"part": json.dumps(part)})["fault"])


@given(st.data())
def test_stored_totals_are_the_totals(data):
    totals = Totals([])
    rubrics = {}
    for _ in range(data.draw(st.integers(1, 3))):
        _, entries, output = data.draw(cases())
        rubric = load(entries)
        other = json.loads(json.dumps(output).replace("true", "false"))
        panel = {"panel": [{"model": "m"}, {"model": "n"}]}
        records = [{"output": output}, {"outputs": [output, other]}, {"output": "No."}, {"outputs": [output] * 2}]
        if data.draw(st.booleans()):
            records.append({"outputs": [output] * 2, "judge": panel})
        if rubrics.setdefault(rubric.name, rubric).hash == rubric.hash:
            totals = totals + score_batch(rubric, records).totals
    stored = json.loads(json.dumps(store_totals(totals)))
    restored = restore_totals(stored, rubrics)
    assert restored == totals
    assert (restored.to_json(), str(restored)) == (totals.to_json(), str(totals))
