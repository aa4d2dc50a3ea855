"""The function for data engines: every kind of batch, one schema, tables that are refused and rows that are not."""

import json
import pickle
import re
import sys

import commands
import pytest

from rubric_lint import RubricError, find_settings, load_rubrics, score_batch
from rubric_lint.arrow import map_batches

pa = pytest.importorskip("pyarrow")

SUITE = """\
tests:
  - id: tower
    rubrics: [{id: year, expected_outcome: Names the year, required_min_score: 10}]
  - id: length
    rubrics: [{score_range: [0, 4], expected_outcome: Too long}, {score_range: [5, 10], expected_outcome: Short}]
"""
RUBRICS = load_rubrics("suite.yaml", SUITE)
LENGTH = RUBRICS["length"]
TEXTS = ['{"score": 7}', None, '```json\n{"score": 2}\n```', "It is short.", '{"score": 11}', '{"score": 6}']
TABLE = pa.table({
    "id": [f"a{number}" for number in range(6)],
    "n": range(6),
    "rubric": ["length"] * 5 + ["tower"],
    "output": TEXTS,
})  # fmt: skip
EXPECTED = score_batch(RUBRICS, TABLE).to_arrow()
SCORE = map_batches(RUBRICS)


def struct_of(batch):
    return pa.StructArray.from_arrays(batch.columns, fields=[*batch.schema])


FORMS = {
    "table": lambda table: table,
    "chunks": lambda table: pa.concat_tables([table.slice(0, 2), table.slice(2)]),
    "batch": lambda table: table.to_batches()[0],
    "structs": lambda table: struct_of(table.to_batches()[0]),
    "iterator": lambda table: iter(table.to_batches(max_chunksize=4)),
    "reader": lambda table: table.to_reader(max_chunksize=4),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_of_any_form_has_the_results_of_its_rows(form):
    given = FORMS[form](TABLE)
    found = SCORE(given)
    if form in {"iterator", "reader"}:
        found = [*found]
        assert [len(each) for each in found] == [4, 2]
        found = pa.Table.from_batches(found)
    else:
        assert type(found) is type(given)
        found = pa.table(pa.RecordBatch.from_struct_array(found)) if form == "structs" else pa.table(found)
    assert found.equals(EXPECTED)
    assert found.schema == SCORE.schema == EXPECTED.schema


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_batch_has_the_same_schema(form):
    given = TABLE.slice(0, 0)
    empty = pa.RecordBatch.from_pylist([], schema=given.schema)
    found = SCORE(empty if form == "batch" else struct_of(empty) if form == "structs" else FORMS[form](given))
    if form == "structs":
        assert (len(found), found.type) == (0, pa.struct(SCORE.schema))
    elif form in {"iterator", "reader"}:
        assert [each for each in found if len(each) or each.schema != SCORE.schema] == []
    else:
        assert (len(found), found.schema) == (0, SCORE.schema)


KINDS = [
    *(pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary(), pa.large_binary()),
    pa.run_end_encoded(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_kind_of_strings_does_not_matter(kind):
    table = TABLE
    for name in ("id", "rubric", "output"):
        if name != "id" or "binary" not in str(kind):
            column = table[name].combine_chunks()
            coded = pa.compute.run_end_encode(column) if pa.types.is_run_end_encoded(kind) else column.cast(kind)
            table = table.set_column(table.schema.get_field_index(name), name, coded)
    assert SCORE(table).equals(EXPECTED)


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (pa.array([1, None], pa.uint8()), ["1", None]),
        (pa.array([0.5, None]), ["0.5", None]),
        (pa.array([{"a": 1}, None]), ['{"a": 1}', None]),
        (pa.nulls(2), [None, None]),
        (pa.array([b"\xff", b"a"]), ["\\xff", "a"]),
    ],
    ids=lambda value: str(value.type) if hasattr(value, "type") else "",
)
def test_ids_are_strings_in_every_batch(ids, written):
    score = map_batches(LENGTH)
    found = score(pa.table({"id": ids, "output": ['{"score": 7}', "No."]}))
    assert (found.schema, found["id"].to_pylist()) == (SCORE.schema, written)


def test_columns_are_kept_with_their_types_and_others_dropped():
    keep = {"n": pa.int16(), "id": pa.large_string()}
    for given in (keep, pa.schema([*keep.items()])):
        score = map_batches(RUBRICS, keep=given)
        found = score(TABLE)
        assert found.schema == score.schema
        assert [(field.name, field.type) for field in found.schema][-1] == ("n", pa.int16())
        assert (found["n"].to_pylist(), found["id"].to_pylist()) == ([*range(6)], TABLE["id"].to_pylist())
        assert found["id"].type == pa.large_string()
        assert found.drop(["n", "id"]).equals(EXPECTED.drop(["id"]))
    assert SCORE(TABLE.append_column("score", pa.array(TEXTS))).equals(EXPECTED)


@pytest.mark.parametrize(
    ("keep", "fault"),
    [
        ({"verdict": pa.string(), "n": pa.int64()}, ValueError),
        ({"rubric": pa.string()}, ValueError),
        (["n"], TypeError),
        ({"n": "int64"}, TypeError),
    ],
)
def test_columns_that_cannot_be_kept_are_refused_at_once(keep, fault, said):
    with pytest.raises(fault) as refused:
        map_batches(RUBRICS, keep=keep)
    said(refused.value)


@pytest.mark.parametrize(
    ("columns", "keep", "fault"),
    [
        ({"text": TEXTS, "id": TEXTS}, {}, ValueError),
        ({}, {}, ValueError),
        ({"output": [1, 2]}, {}, TypeError),
        ({"output": [["a"]]}, {}, TypeError),
        ({"outputs": ["a"]}, {}, TypeError),
        ({"output": ["a"], "rubric": [1]}, {}, TypeError),
        ({"output": ["a"]}, {"n": pa.int64()}, ValueError),
        ({"output": ["a"], "n": ["x"]}, {"n": pa.int8()}, TypeError),
        ({"output": ["a"], "n": [[1]]}, {"n": pa.int8()}, TypeError),
    ],
)
def test_a_wrong_table_is_refused_as_a_whole(columns, keep, fault, said):
    table = pa.table(columns)
    score = map_batches(LENGTH, keep=keep)
    with pytest.raises(fault) as refused:
        score(table)
    said(refused.value)
    with pytest.raises(fault, match=f"^{re.escape(str(refused.value))}$"):
        [*score(iter([pa.record_batch(columns)]))]


def test_a_column_that_is_there_twice_is_refused(said):
    table = pa.Table.from_arrays([pa.array(TEXTS), pa.array(TEXTS)], names=["output", "output"])
    with pytest.raises(ValueError, match="`output`") as refused:
        SCORE(table)
    said(refused.value)


@pytest.mark.parametrize(
    "given",
    [pa.nulls(2), pa.array([None, None], pa.string()), pa.array([None, None], pa.struct([("score", pa.int8())]))],
    ids=["null", "string", "struct"],
)
def test_nulls_are_rows_with_an_error(given, said):
    found = map_batches(LENGTH)(pa.table({"id": ["a", "b"], "output": given}))
    assert (found["rubric"].to_pylist(), found["score"].null_count) == (["length", "length"], 2)
    said([each["message"] for each in found["error"].to_pylist()])


@pytest.mark.parametrize(
    "batch",
    [{"output": TEXTS}, [1], pa.array(TEXTS), pa.array([None], pa.struct([("output", pa.string())]))],
    ids=["dict", "list", "strings", "nulls"],
)
def test_a_batch_of_another_kind_is_refused(batch, said):
    with pytest.raises(TypeError) as refused:
        SCORE(batch)
    said(refused.value)


def test_what_of_a_text_is_the_verdict_can_be_chosen():
    table = pa.table({"output": ['{"score": 7}', 'So:\n{"score": 2}', 'So: {"score": 6}']})
    found = [map_batches(LENGTH, extract=extract)(table)["points"].to_pylist() for extract in ("whole", "last", "only")]
    assert found == [[7, None, None], [7, 2, None], [7, 2, 6]]


def test_it_is_read_at_once_and_pickled_small(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, "utf-8")
    (tmp_path / "rubric-lint.toml").write_text("pass = 0.7\n", "utf-8")
    score = map_batches(path)
    path.unlink()
    sent = pickle.dumps(score)
    assert len(sent) < 4_000
    by_settings = map_batches(load_rubrics("suite.yaml", SUITE, find_settings(path)))
    for each in (score, pickle.loads(sent), by_settings):  # noqa: S301 (it was pickled here)
        assert each(TABLE)["verdict"].to_pylist() == ["pass", None, "fail", None, None, None]
    assert repr(score).startswith("<rubric_lint.arrow.map_batches: {'tower': <ScoringRubric 'tower': checklist, ")


def test_what_cannot_be_scored_is_refused_before_an_engine_starts(tmp_path):
    (tmp_path / "bad.yaml").write_text("rubrics: [{id: a, score_ranges: {0: ''}}]\n", "utf-8")
    with pytest.raises(FileNotFoundError):
        map_batches(tmp_path / "absent.yaml")
    with pytest.raises(RubricError, match=r"bad\.yaml"):
        map_batches(str(tmp_path / "bad.yaml"))
    with pytest.raises(TypeError, match="rubrics is an empty mapping"):
        map_batches({})


def test_the_schema_as_spark_writes_it(said):
    kinds = {
        "a`b": pa.timestamp("us", "UTC"),
        "c": pa.decimal128(9, 2),
        "d": pa.map_(pa.string(), pa.list_(pa.date32())),
    }
    score = map_batches(LENGTH, keep=kinds)
    assert score.spark_schema == (
        "`id` string, `rubric` string, `rubric_hash` string, `points` bigint, `full` bigint, `score` double, "
        "`verdict` string, `gates_missed` array<string>, `criteria` array<struct<`id`: string, `raw`: bigint, "
        "`share`: double, `score`: double, `weight`: double, `gate`: bigint, `gate_met`: boolean, "
        "`outcome`: string>>, `error` struct<`message`: string, `path`: string, `line`: bigint>, "
        "`a``b` timestamp, `c` decimal(9,2), `d` map<string, array<date>>"
    )
    with pytest.raises(TypeError) as refused:
        map_batches(LENGTH, keep={"n": pa.uint64()}).spark_schema  # noqa: B018
    said(refused.value)


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
import rubric_lint, rubric_lint.arrow
rubrics = rubric_lint.load_rubrics("s.yaml", "rubrics: [{id: a, expected_outcome: Names it}]")
try:
    USE
except ImportError as fault:
    print(fault)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "use", ["rubric_lint.arrow.map_batches(rubrics)", "rubric_lint.score_batch(rubrics, []).to_arrow()"]
)
def test_without_pyarrow_it_is_said_what_to_install(use, said):
    command = [sys.executable, "-c", WITHOUT_PYARROW.replace("USE", use)]
    ran = commands.run_process(command, check=True)
    said(ran.stdout)


def test_it_scores_json_as_the_command_does():
    lines = [json.dumps({"score": number % 12}).encode() for number in range(100)]
    found = map_batches(LENGTH)(pa.table({"output": pa.array(lines)}))
    assert found["points"].to_pylist() == score_batch(LENGTH, lines).points
