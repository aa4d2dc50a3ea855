"""Columns of other libraries in, and a table of Arrow out: the same results as from JSON."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_outputs import FENCES, LENGTH, RUBRICS, cases, load, spell

from rubric_lint import score_batch, score_batches

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

YES = {"checks": [{"id": name, "satisfied": True} for name in ("year", "cost")]}
TEXTS = ['{"score": 7}', None, '```json\n{"score": 2}\n```', "It is short.", '{"score": 11}', '{"score": 6}']
RECORDS = [
    {"id": f"a{place}", "rubric": "length", "answer": "Short.", **({"output": text} if text else {})}
    for place, text in enumerate(TEXTS)
]


def rows(batch):
    return [row.to_json() for row in batch]


EXPECTED = rows(score_batch(RUBRICS, RECORDS))
TABLE = pa.Table.from_pylist(RECORDS)
TYPES = {
    "text": pa.string(),
    "large text": pa.large_string(),
    "text view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int8(), pa.string()),
    "binary": pa.binary(),
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_table_is_scored_by_its_columns(kind):
    columns = [TABLE.column(name).cast(TYPES[kind]) for name in ("rubric", "output")]
    table = pa.table({"id": TABLE["id"], "n": range(6), "rubric": columns[0], "output": columns[1]})
    table = pa.concat_tables([table.slice(0, 2), table.slice(2)]).append_column("answer", TABLE["answer"])
    batch = table.combine_chunks().to_batches()[0]
    for form in (table, batch, table.to_reader(), iter(table.to_batches()), Stream(table)):
        assert rows(score_batch(RUBRICS, form)) == EXPECTED
    parts = [*score_batches(RUBRICS, table, size=4)]
    assert ([len(part) for part in parts], [row for part in parts for row in rows(part)]) == ([4, 2], EXPECTED)


class Stream:
    """A table or column of another library, such as Polars."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


def test_a_column_of_structs_has_null_for_what_an_output_does_not_have(said):
    values = [{"score": 7}, {"score": None}, {"score": 6, "reasoning": "Fine."}, None]
    reasons = pa.array(values, pa.struct([("score", pa.int16()), ("reasoning", pa.string())]))
    table = pa.table({"id": range(4), "output": reasons})
    batch = score_batch(LENGTH, table)
    assert (batch.id, batch.points) == ([0, 1, 2, 3], [7, None, 6, None])
    said([error.message for error in batch.error if error])
    assert score_batch(LENGTH, reasons).points == score_batch(LENGTH, table["output"]).points == [7, None, 6, None]
    assert score_batch(LENGTH, pa.table({"score": [7, 11], "reasoning": [None, "No."]})).points == [7, None]
    several = pa.table({"outputs": [[{"score": 2}, {"score": 6}], None, [{"score": 7}]]})
    assert score_batch(LENGTH, several).score == [0.4, None, 0.7]


@pytest.mark.parametrize("kind", ["array", "chunks"])
def test_a_column_is_a_list_of_outputs(kind):
    texts = pa.array(TEXTS) if kind == "array" else pa.chunked_array([TEXTS[:2], TEXTS[2:]])
    assert rows(score_batch(LENGTH, texts)) == rows(score_batch(LENGTH, TEXTS))
    lines = [json.dumps({"id": "a", "output": {"score": each}}).encode() for each in (7, 11)]
    assert rows(score_batch(LENGTH, pa.array(lines))) == rows(score_batch(LENGTH, lines))


def test_numpy_and_pandas_hold_outputs_too():
    expected = rows(score_batch(LENGTH, TEXTS))
    assert rows(score_batch(LENGTH, np.array(TEXTS, object))) == expected
    assert rows(score_batch(LENGTH, pd.Series(TEXTS))) == expected
    assert rows(score_batch(LENGTH, pd.Series(TEXTS, dtype="string"))) == expected
    assert rows(score_batch(LENGTH, np.array(['{"score": 7}', '{"score": 6}'])))[0] == expected[0]
    frame = pd.DataFrame(RECORDS)
    assert frame["output"].isna().sum() == 1
    assert rows(score_batch(RUBRICS, frame)) == EXPECTED
    assert rows(score_batch(RUBRICS, (row for _, row in frame.iterrows()))) == EXPECTED
    assert rows(score_batch(RUBRICS, frame.itertuples(index=False))) == EXPECTED
    values = [{"checks": np.array([{"id": "year", "satisfied": np.True_}, {"id": "cost", "satisfied": False}])}]
    assert score_batch(RUBRICS["tower"], np.array(values, object)).points == [1]
    mixed = pd.DataFrame({"id": [1, pd.NA], "output": [{"score": np.int64(7)}, pd.NaT]})
    assert (score_batch(LENGTH, mixed).id, score_batch(LENGTH, mixed).points) == ([1, None], [7, None])


def test_a_conversation_in_a_column_is_what_an_output_may_quote():
    said = [{"role": "assistant", "content": [{"type": "text", "text": 'I deserve {"score": 10}'}]}]
    records = [{"answer": said, "output": f'It wants this:\n\n{{"score": {score}}}'} for score in (10, 9)]
    nested = [{**record, "answer": np.array(said, object)} for record in records]
    for form in (records, pa.Table.from_pylist(records), pd.DataFrame(records), nested):
        batch = score_batch(LENGTH, form)
        assert (batch.points, "word for word" in batch.error[0].message) == ([None, 9], True)


def test_bytes_that_are_no_text_are_an_invalid_output():
    (row,) = score_batch(LENGTH, pa.table({"output": [b'{"score": \xff}']}))
    assert row.error == ("byte ff at offset 10 is not UTF-8", "/output", None)


def test_the_table_of_results_has_the_columns_of_the_batch():
    batch = score_batch(RUBRICS, [*RECORDS, {"id": "y", "rubric": "tower", "output": YES}])
    table = batch.to_arrow()
    assert table.schema.names == [*batch.to_dict()]
    assert [str(table.schema.field(name).type) for name in ("id", "points", "full", "score", "verdict")] == [
        *("string", "int64", "int64", "double", "string")
    ]
    assert as_results(table) == rows(batch)
    assert [each["raw"] for each in table["criteria"].to_pylist()[-1]] == [1, 1]
    assert score_batch(RUBRICS, []).to_arrow().schema == table.schema
    assert score_batch(RUBRICS, RECORDS[1:2]).to_arrow().schema == table.schema


def as_results(table):
    """The rows of a table of results as those of a batch."""
    found = table.to_pylist()
    for row in found:
        for criterion in row["criteria"] or ():
            if criterion["share"] is None:
                del criterion["share"]
    return found


def test_ids_of_arrow_keep_their_type_and_others_become_text():
    table = pa.table({"id": pa.array([1, None], pa.uint8()), "output": ['{"score": 7}', "No."]})
    assert score_batch(LENGTH, table).to_arrow()["id"] == table["id"]
    ids = ["a", 1, None, [1, "ä"], "\ud800", b"\xff", {"b": None}]
    for output in ({"score": 7}, 'Good.\n{"score": 7}', None):
        records = [{"id": each, "output": output} for each in ids]
        assert score_batch(LENGTH, records).to_arrow()["id"].to_pylist() == [
            *("a", "1", None, '[1, "ä"]', "\\ud800", "\\xff", '{"b": null}')
        ]


@pytest.mark.slow
@settings(max_examples=25)
@given(cases(), st.randoms(use_true_random=False))
def test_an_arrow_table_gives_what_its_records_give(case, random):
    _, entries, output = case
    rubric = load(entries)
    texts = [random.choice(FENCES).format(spell(output, random, 0.03)) for _ in range(10)]
    records = [{"id": f"a{number}", "output": text} for number, text in enumerate(texts)]
    table = pa.table({"id": [record["id"] for record in records], "output": pa.array(texts, pa.string())})
    batch = score_batch(rubric, table)
    assert rows(batch) == rows(score_batch(rubric, records))
    assert [row["score"] for row in as_results(batch.to_arrow())] == batch.score
    expected = rows(batch)
    for criterion in (each for row in expected for each in row["criteria"] or ()):
        criterion["raw"] = int(criterion["raw"])
    assert as_results(batch.to_arrow()) == expected


FORM = pa.struct([
    ("overall_reasoning", pa.string()),
    ("checks", pa.list_(pa.struct([("reasoning", pa.large_string()), ("satisfied", pa.bool_()), ("id", pa.string())]))),
])  # fmt: skip
YEAR, COST = YES["checks"]
STRUCTS = [
    {"checks": [YEAR, COST]},
    {"checks": [YEAR, {**COST, "satisfied": False, "reasoning": "No."}], "overall_reasoning": "Half."},
    {"checks": [COST, {**YEAR, "satisfied": False}]},
    *({"checks": checks} for checks in ([YEAR], [YEAR, COST, COST], [YEAR, YEAR], [YEAR, None], [], None)),
    {"checks": [YEAR, {**COST, "id": "Cost"}]},
    {"checks": [YEAR, {**COST, "satisfied": None}]},
    None,
]


@pytest.mark.parametrize("names", [["id", "output"], ["output"], ["id", "output", "answer"]])
def test_structs_give_what_their_objects_give_whatever_they_lack(names):
    outputs = STRUCTS * 3
    columns = {"id": [*range(len(outputs))], "output": pa.array(outputs, FORM), "answer": ["It is."] * len(outputs)}
    table = pa.table({name: columns[name] for name in names})
    table = pa.concat_tables([table.slice(0, 5), table.slice(5)])
    expected = rows(score_batch(RUBRICS["tower"], table.to_pylist()))
    assert [row["points"] for row in expected[:4]] == [4, 1, 3, None]
    batches = [*score_batches(RUBRICS["tower"], table, size=7)]
    assert [row for part in batches for row in rows(part)] == expected
    assert rows(score_batch(RUBRICS["tower"], table)) == expected


@pytest.mark.parametrize(
    ("kind", "outputs"),
    [
        (pa.string_view(), TEXTS),
        (pa.struct({"score": pa.int64()}), [{"score": 7}, None, {"score": None}]),
        (pa.binary_view(), [b'{"score": 7}', None, b"x"]),
    ],
)
def test_a_series_is_a_list_of_outputs(kind, outputs):
    series = Stream(pa.chunked_array([pa.array(outputs, kind)]))
    series.dtype = kind
    assert rows(score_batch(LENGTH, series)) == rows(score_batch(LENGTH, outputs))


@pytest.mark.parametrize(
    ("make_list", "kind"),
    [
        (pa.list_, pa.string_view()),
        (pa.large_list, pa.dictionary(pa.int8(), pa.string())),
        (pa.list_view, pa.large_string()),
    ],
)
def test_structs_with_strings_and_lists_of_any_kind_are_scored(make_list, kind):
    checks = make_list(pa.struct({"id": kind, "satisfied": pa.bool_()}))
    column = pa.array([YES, None, {"checks": YES["checks"][:1]}], pa.struct({"checks": checks}))
    for rows in (column, column.slice(1), pa.chunked_array([column.slice(0, 1), column.slice(1)])):
        table = pa.table({"output": rows})
        given = [{"output": output} for output in rows.to_pylist()]
        assert [*score_batch(RUBRICS["tower"], table)] == [*score_batch(RUBRICS["tower"], given)]


@pytest.mark.parametrize(
    ("names", "told"), [(["output", "output", "id"], "output"), (["id", "output", "id"], "id"), (["a", "a", "b"], "a")]
)
def test_a_column_that_is_there_twice_is_refused(names, told, said):
    for table in (pa.table([["a"]] * 3, names=names), pd.DataFrame([["a"] * 3], columns=names)):
        with pytest.raises(ValueError, match=f"`{told}`") as refused:
            score_batch(LENGTH, table)
        said(refused.value)


def test_columns_that_are_not_read_may_have_any_name():
    columns = ["output", 0, 0, ("a", "b")]
    assert score_batch(LENGTH, pd.DataFrame([[{"score": 7}, 1, 2, 3]], columns=columns)).score == [0.7]
    assert score_batch(LENGTH, pd.DataFrame([[{"score": 7}]])).score == [None]


def test_structs_of_another_form_are_refused_as_their_objects_are():
    for outputs in ([{"score": True}], [{"score": 7.5}, {"score": 7.0}], [{"score": 7, "final": False}], [{"a": 1}]):
        table = pa.table({"output": outputs})
        assert rows(score_batch(LENGTH, table)) == rows(score_batch(LENGTH, table.to_pylist()))
        assert score_batch(LENGTH, table).error[0] is not None


def test_the_program_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    root = Path(__file__).parents[2]
    (program,) = re.findall(r"```python\n(.*?)```", (root / "docs/guides/scoring.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("summary.rubric.yaml").write_bytes((root / "examples/summary.rubric.yaml").read_bytes())
    lines = (root / "examples/summary.outputs.jsonl").read_text("utf-8").splitlines()
    records = [{**each, "output": json.dumps(each["output"])} for each in map(json.loads, lines)]
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.Table.from_pylist(records), "outputs.parquet")
    exec(program, {})  # noqa: S102
    assert capsys.readouterr().out.startswith("17 outputs: 9 pass, 2 borderline, 5 fail, 1 invalid; mean score 0.773")
    assert parquet.read_table("scores.parquet")["verdict"].to_pylist().count("pass") == 9


def test_strings_that_are_not_utf_8_are_invalid_outputs():
    def text(*values):
        return pa.array(values, pa.binary()).view(pa.string())

    table = pa.table({"id": text(b"a", b"b\xff"), "output": text(b'{"score": 7}\xff', b'{"score": 7}')})
    columns = score_batch({"length": LENGTH}, table).to_arrow().to_pydict()
    assert columns["id"] == ["a", "b\\udcff"]
    assert columns["score"] == [None, 0.7]
