"""What `rubric-score` reads: every kind of file, packed or not, folders and patterns, batches, and `--map`."""

import csv
import gzip
import io
import json
import math
from pathlib import Path

import commands
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_lint.scoring.records.decoding import OutputError, decode_entry
from rubric_lint.scoring.records.entries import CHUNK, LIMIT
from rubric_lint.scoring.records.streams import StreamOptions, read_entries

RUBRIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Wrong}
  - {score_range: [5, 10], expected_outcome: Right}
"""
RUBRIC_OF_CHECKS = """\
rubrics:
  - id: r
    score_ranges:
      - {score_range: [0, 4], expected_outcome: Wrong}
      - {score_range: [5, 10], expected_outcome: Right}
"""
SCHEMA = {"id": pa.string(), "output": pa.string(), "answer": pa.string()}


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    return folder


def call(*args, stdin=b""):
    """The results, what is said on standard error, and the exit code."""
    done = commands.run("rubric-lint", "score", "r.rubric.yaml", *args, "--format", "jsonl", stdin=stdin)
    told = [line.removeprefix("rubric-lint: ") for line in done.stderr.splitlines()]
    return [json.loads(line) for line in done.stdout.splitlines()], told, done.returncode


def errors(results):
    """The lines and messages of invalid results."""
    return [(result["error"]["line"], result["error"]["message"]) for result in results if "error" in result]


def as_jsonl(rows):
    return "".join(json.dumps({key: item for key, item in row.items() if item is not None}) + "\n" for row in rows)


def as_csv(rows, delimiter=",", end="\n"):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow(SCHEMA)
    writer.writerows([[row.get(name) for name in SCHEMA] for row in rows])
    return stream.getvalue()


def as_parquet(rows, **more):
    stream = io.BytesIO()
    table = pa.table({name: [row.get(name) for row in rows] for name in SCHEMA}, pa.schema(SCHEMA))
    pq.write_table(table, stream, **more)
    return stream.getvalue()


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


def write_all(rows):
    """The same rows in every kind of file, by name."""
    texts = {
        "a.jsonl": as_jsonl(rows).encode(),
        "b.json": json.dumps([{key: item for key, item in row.items() if item is not None} for row in rows]).encode(),
        "c.csv": as_csv(rows).encode(),
        "d.tsv": b"\xef\xbb\xbf" + as_csv(rows, "\t", "\r\n").encode(),
        "e.csv": as_csv(rows, ";").encode(),
        "f.parquet": as_parquet(rows, row_group_size=3),
    }
    packed = {f"{name}.gz": gzip.compress(data) for name, data in texts.items()}
    return {**texts, **packed, **{f"{name}.zst": zstd(data) for name, data in texts.items()}}


def without_places(results):
    return [{**result, "error": {**result["error"], "line": 0}} if "error" in result else result for result in results]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=20)
OUTPUTS = st.one_of(
    st.integers(-1, 11).map(lambda number: f'{{"score": {number}}}'),
    st.integers(0, 10).map(lambda number: f'So:\n\n```json\n{{"score": {number}}}\n```\n'),
    TEXTS,
)
ROWS = st.lists(
    st.fixed_dictionaries({"id": TEXTS.filter(bool), "output": OUTPUTS, "answer": st.none() | TEXTS.filter(bool)}),
    min_size=1,
    max_size=8,
)


def read(data, name=""):
    """The entries as data, whatever their lines."""
    chunks = (data[start : start + CHUNK] for start in range(0, len(data), CHUNK))
    return [decode_entry(content) for _, content in read_entries(chunks, StreamOptions(name=name))]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_the_same_rows_are_read_from_every_kind_of_file(rows):
    expected = [{key: item for key, item in row.items() if item is not None} for row in rows]
    assert {name: read(data, name) for name, data in write_all(rows).items()} == dict.fromkeys(
        write_all(rows), expected
    )


@pytest.mark.slow
def test_every_kind_of_file_has_the_same_results():
    rows = [
        {"id": "a", "output": '{"score": 7}', "answer": "ä"},
        {"id": "b", "output": 'Thus:\n{"score": 2}', "answer": None},
        {"id": "c", "output": "none", "answer": None},
        {"id": "=d", "output": "", "answer": None},
    ]
    expected = call("-", stdin=as_jsonl(rows).encode())
    assert [each.get("score") for each in expected[0]] == [0.7, 0.2, None, None]
    for name, data in write_all(rows).items():
        Path(name).write_bytes(data)
        for results, told, code in (call(name), call("-", stdin=data)):
            assert (name, without_places(results), told, code) == (name, without_places(expected[0]), *expected[1:])


def test_lines_of_a_table_are_those_of_its_file(said):
    Path("a.csv").write_bytes(
        b'id,output\r\na,"{""score"": 7}"\r\n\r\n"b\nb","no\n\nverdict"\r\nc,none\r\n,,,\r\n , \r\nd\n'
    )
    results, _, code = call("a.csv")
    assert [result.get("id") for result in results] == ["a", "b\nb", "c", "d"]
    said(errors(results))
    assert code == 1


def test_a_row_with_too_many_or_too_few_cells_keeps_what_it_says_of_its_answer():
    Path("a.csv").write_text("id,rubric,score\na,r,9\nb,r\nc,r,9,x\n d \n,r,9,x\n", "utf-8")
    results, _, _ = call("a.csv")
    found = [(result.get("id"), result.get("error", {}).get("line")) for result in results]
    assert found == [("a", None), ("b", 3), ("c", 4), (" d ", 5), (None, 6)]
    Path("labels.csv").write_text("id,score\na,9\nb,9\nc,9\nd,9\n", "utf-8")
    done = commands.run("rubric-lint", "agree", "r.rubric.yaml", "a.csv", "--labels", "labels.csv", "--format", "json")
    found = [(each["line"], each["id"]) for each in json.loads(done.stdout)["invalid"]]
    assert found == [(3, "b"), (4, "c"), (5, " d "), (6, None)]


BROKEN = {
    "a quote that is never closed": (b'id,output\na,"{""score"": 7}"\nb,"{""score"": 7}\nc,1\n', 3, "never closed", 1),
    "text after a quote": (b'id,output\na,"{"score": 7}"\nb,"{""score"": 7}"\n', 2, "after the closing quote", 1),
    "latin-1": ('id,output\nä,"{""score"": 7}"\nb,"{""score"": 7}"\n'.encode("latin-1"), 2, "byte e4 is not UTF-8", 1),
    "latin-1 in a list": (
        '[{"score": 7},\n{"score": 7, "reasoning": "ä"}]'.encode("latin-1"),
        2,
        "byte e4 at column",
        1,
    ),
    "gzip cut off": (gzip.compress(b'{"score": 7}\n{"score": 8}\n')[:-4], 3, "cut off here", 2),
    "gzip cut off in a cell": (gzip.compress(b"id,score\na,7\nb,1")[:-8], 3, "cut off here", 1),
    "gzip with text behind it": (gzip.compress(b'{"score": 7}\n') + b"more", 2, "damaged; nothing after", 1),
    "a line cut off": (b'{"score": 7}\n{"sco', 2, "not JSON at column 2", 1),
}


@pytest.mark.parametrize(("data", "line", "message", "scored"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_told_with_its_line(data, line, message, scored):
    Path("a").write_bytes(data)
    results, told, code = call("a")
    ((found, said),) = errors(results)
    assert (found, message in said) == (line, True)
    assert (len(results) - 1, code, "1 invalid" in told[-1]) == (scored, 1, True)


@pytest.mark.slow
def test_a_zstd_file_that_is_cut_off_is_read_until_there(said):
    Path("a").write_bytes(zstd(b'{"score": 7}\n' * 50_000)[:-3])
    results, _, code = call("a")
    scored = sum("error" not in result for result in results)
    assert 30_000 < scored < 50_000
    assert code == 1
    said(errors(results)[-1])


def test_a_parquet_file_that_is_cut_off_is_one_invalid_output(said):
    data = as_parquet([{"id": "a", "output": '{"score": 7}', "answer": None}] * 10)
    Path("a.parquet").write_bytes(data[:-8])
    results, _, code = call("a.parquet")
    ((line, message),) = errors(results)
    assert (line, len(results), code) == (1, 1, 1)
    said(message)


def test_a_cell_may_hold_json_over_several_lines():
    outputs = json.dumps([{"score": 7}, {"score": 9}, {"score": 9}], indent=1)
    stream = io.StringIO()
    csv.writer(stream).writerows([["id", "outputs"], ["a", outputs]])
    Path("a.csv").write_text(stream.getvalue(), "utf-8")
    ((result,), _, code) = call("a.csv")
    assert (result["score"], result["verdicts"], code) == (0.9, {"pass": 2, "borderline": 1, "fail": 0}, 0)


@pytest.mark.slow
def test_a_row_that_is_too_long_costs_that_row_only(said):
    data = b'id,output\na,"' + (b"x" * 999 + b"\n") * (LIMIT // 1000 + 2) + b'"\nb,"{""score"": 7}"\n'
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    said([(line, str(held) if isinstance(held, OutputError) else held) for line, held in read_entries(chunks)])


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"id,output\n", b"\xef\xbb\xbfid,output\r\n", as_parquet([]), gzip.compress(b"", mtime=0)]
)
def test_a_file_without_outputs_is_an_error(data):
    Path("a").write_bytes(data)
    assert call("a") == ([], ["a: no outputs found", "0 outputs: 0 pass, 0 borderline, 0 fail, 0 invalid"], 2)


def test_values_of_parquet_keep_their_types(said):
    table = pa.table(
        {
            "id": [1, 2, 3],
            "output": pa.array([{"score": 7, "reasoning": None}, {"score": None, "reasoning": "x"}, None]),
            "weight": [0.5, float("nan"), None],
            "made": pa.array([0, None, None], pa.timestamp("s")),
        }
    )
    pq.write_table(table, "a.parquet")
    results, _, _ = call("a.parquet")
    assert results[0] | {"rubric_hash": 0, "criteria": 0} == {
        "id": 1, "rubric": "r", "rubric_hash": 0, "shape": "holistic", "score": 0.7, "verdict": "borderline",
        "criteria": 0, "weight": 0.5, "made": "1970-01-01 00:00:00",
    }  # fmt: skip
    said([(result["id"], result["error"]) for result in results[1:]])


@pytest.mark.parametrize("field", ["output", "outputs"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_in_a_struct_that_json_does_not_have_is_refused_as_in_json(field, value):
    Path("r.rubric.yaml").write_text(RUBRIC_OF_CHECKS, "utf-8")
    outputs = [{"checks": [{"id": "r", "score": score}]} for score in (value, 7.0)]
    forms = {"output": outputs, "outputs": [[output] for output in outputs]}
    rows = [{"id": name, field: form} for name, form in zip("ab", forms[field], strict=True)]
    Path("a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    pq.write_table(pa.Table.from_pylist(rows), "a.parquet")
    found = call("a.parquet")
    assert found == call("a.jsonl")
    assert [result.get("error", {}).get("message") for result in found[0]] == [f"{json.dumps(value)} is not JSON", None]


def test_a_number_that_json_does_not_have_in_another_column_refuses_no_row():
    rows = [{"id": "a", "output": {"score": 7}, "logprobs": [-0.5, -math.inf], "loss": {"mean": math.nan}}]
    pq.write_table(pa.Table.from_pylist(rows), "a.parquet")
    (result,), _, code = call("a.parquet")
    assert (result["score"], result["logprobs"], result["loss"], code) == (0.7, [-0.5, None], {}, 0)


def reply(text, **more):
    return {"model": "m", "choices": [{"message": {"content": text}, **more}]}


def response(name, body, status=200, error=None):
    return {"custom_id": name, "response": {"status_code": status, "body": body}, "error": error}


def result(name, kind, **more):
    return {"custom_id": name, "result": {"type": kind, **more}}


MESSAGE = {"model": "c", "content": [{"type": "text", "text": '{"score": 9}'}], "stop_reason": "end_turn"}
PARTS = [
    {"type": "reasoning", "summary": []},
    {"type": "message", "content": [{"type": "output_text", "text": '{"score": 3}'}]},
]
BAD_REQUEST = {"type": "error", "error": {"type": "invalid_request", "message": "no such model"}}
BATCHES = [
    response("a", reply('{"score": 7}')),
    response("b", {"error": {"message": "too long"}}, 400),
    {"custom_id": "c", "response": None, "error": {"code": "batch_expired", "message": "not done in time"}},
    response("d", reply('{"sco', finish_reason="length")),
    response("e", {"object": "response", "model": "m", "output": PARTS}),
    result("f", "succeeded", message=MESSAGE),
    result("g", "expired"),
    result("h", "errored", error=BAD_REQUEST),
    {"id": "i", "output": {"score": 5}},
]


DONE = {**PARTS[1], "role": "assistant", "status": "completed"}
RESPONSES = {
    "completed": {"status": "completed", "error": None, "incomplete_details": None, "output": [DONE]},
    "failed": {"status": "failed", "error": {"code": "server_error", "message": "no reply"}, "output": [DONE]},
    "failed, without a reason": {"status": "failed", "error": None, "output": [DONE]},
    "cancelled": {"status": "cancelled", "output": [DONE]},
    "incomplete": {"status": "incomplete", "incomplete_details": None, "output": [DONE]},
    "cut off": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [DONE]},
    "filtered": {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": [DONE]},
    "a part that is incomplete": {"status": "completed", "output": [{**DONE, "status": "incomplete"}]},
    "of a role that is a list": {"status": "completed", "error": [], "output": [{**DONE, "role": []}]},
    "of the user": {"status": "completed", "output": [{**DONE, "role": "user"}]},
}


def test_only_a_completed_response_of_the_model_is_scored(said):
    lines = [response(name, body) for name, body in RESPONSES.items()]
    results, _, code = call("-", stdin=as_jsonl(lines).encode())
    scored = {result["id"]: result["score"] for result in results if "score" in result}
    expected = {"completed": 0.3, "of a role that is a list": 0.3}
    assert (scored, len(results), code) == (expected, len(RESPONSES), 1)
    said({result["id"]: result["error"]["message"] for result in results if "error" in result})


@pytest.mark.parametrize("first", [0, 5, 2], ids=["OpenAI", "Anthropic", "expired"])
def test_results_of_batches_are_recognized(first, said):
    lines = [BATCHES[first], *BATCHES[:first], *BATCHES[first + 1 :]]
    results, told, code = call("-", stdin=as_jsonl(lines).encode())
    by_id = {result["id"]: result.get("score", result.get("error", {}).get("message")) for result in results}
    said(by_id)
    assert (len(results), code, "5 invalid" in told[-1]) == (9, 1, True)
    models = {result["id"]: result["judge"]["model"] for result in results if result["id"] in "aef"}
    assert models == {"a": "m", "e": "m", "f": "c"}


MAPPED = {
    "a.jsonl": (b'{"uid": 1, "judge": {"text": "{\\"score\\": 7}"}}\n', ["output=/judge/text"]),
    "b.jsonl": (b'{"uid": 1, "judge": {"text": {"score": 7}}}\n', ["output=judge.text"]),
    "c.csv": (b'uid,response\n1,"{""score"": 7}"\n', ["output=response"]),
    "d.csv": (b'uid,payload\n1,"{""out"": {""score"": 7}}"\n', ["output=payload.out"]),
    "e.jsonl": (b'{"uid": 1, "a.b": {"score": 7}}\n', ["output=a.b"]),
    "f.jsonl": (b'{"uid": 1, "choices": [0, {"score": 7}]}\n', ["output=/choices/1"]),
}


@pytest.mark.parametrize("name", MAPPED)
def test_columns_are_mapped_to_fields(name):
    data, options = MAPPED[name]
    Path(name).write_bytes(data)
    args = [arg for option in ("id=uid", *options) for arg in ("--map", option)]
    results, _, code = call(name, *args)
    assert [(str(result["id"]), result["score"], "uid" in result, code) for result in results] == [("1", 0.7, False, 0)]


@pytest.mark.parametrize(
    "options",
    [["output=respones"], ["output=x.y"], []],
    ids=["misspelt", "a field of a column", "none"],
)
def test_columns_that_are_not_there_are_refused(options, said):
    Path("a.csv").write_bytes(b"uid,response,id\n1,x,2\n")
    results, told, code = call("a.csv", *(arg for option in options for arg in ("--map", option)))
    assert (results, code) == ([], 2)
    said(told)


def test_records_without_a_mapped_field_are_invalid(said):
    lines = [{"uid": 1, "text": '{"score": 7}'}, {"uid": 2, "texts": 1}, {"uid": 3, "text": '{"score": 7}', "id": 4}, 5]
    results, _, code = call("-", "--map", "output=text", "--map", "id=uid", stdin=as_jsonl(lines[:3]).encode() + b"5\n")
    scores = [(result.get("id"), result.get("score")) for result in results]
    assert (scores, code) == ([(1, 0.7), (2, None), (3, 0.7), (None, None)], 1)
    said(errors(results))


def test_mapping_keeps_every_value_as_written():
    line = (
        b'{"t": {"score": 7.0000000000000000001}}\n{"t": {"score": 7, "score": 8}}\n{"t": {"score": 7}, "i": [1e9]}\n'
    )
    results, _, _ = call("-", "--map", "output=t", stdin=line)
    plain, _, _ = call("-", stdin=line.replace(b'"t"', b'"output"'))
    assert results == plain


def test_folders_and_patterns_are_searched_and_say_what_is_not_read(said):
    for name in ("d/b.jsonl", "d/a/z.csv.gz", "d/a/README.md", "d/_SUCCESS", "d/.x.jsonl", "e.jsonl", "[x].jsonl"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        row = [{"id": name, "output": '{"score": 7}'}]
        Path(name).write_bytes(gzip.compress(as_csv(row).encode()) if ".csv" in name else as_jsonl(row).encode())
    results, told, code = call("d")
    assert ([result["id"] for result in results], len(told), code) == (["d/a/z.csv.gz", "d/b.jsonl"], 2, 0)
    said(told[0])
    results, told, _ = call("**/*.jsonl", "d/b.jsonl", "[x].jsonl")
    assert [result["id"] for result in results] == ["[x].jsonl", "d/b.jsonl", "e.jsonl", "d/b.jsonl", "[x].jsonl"]
    assert [line[:19] for line in told] == ["warning: 2 records ", "5 outputs: 0 pass, "]


def test_bytes_that_are_not_text_cost_only_the_rows_that_need_them_as_text(said):
    texts = [b'{"score": 7}', b'{"score": \xff}', b'{"score": 3}']
    columns = {"id": [b"a", b"b", b"c\xfe"], "output": texts, "hash": [b'\x00\xff"', b"1", b"2"]}
    binary = pa.table({name: pa.array(values, pa.binary()) for name, values in columns.items()})
    # Writers that do not check have strings that are not UTF-8, also inside structs.
    strings = pa.table(
        {name: column.combine_chunks().view(pa.string()) for name, column in zip(columns, binary, strict=True)}
    )
    pq.write_table(binary, "binary.parquet")
    pq.write_table(strings, "strings.parquet")
    found = call("binary.parquet")
    assert found == call("strings.parquet")
    assert [(each.get("id"), each.get("score"), each.get("hash")) for each in found[0]] == [
        ("a", 0.7, '\0\\xff"'),
        ("b", None, None),
        ("c\\xfe", 0.3, "2"),
    ]
    said(errors(found[0]))
    inner = pa.StructArray.from_arrays([strings["output"].combine_chunks()], names=["text"])
    pq.write_table(pa.table({"id": ["a", "b", "c"], "judged": inner}), "structs.parquet")
    said(errors(call("structs.parquet", "--map", "output=judged.text")[0]))


def test_a_column_that_is_there_twice_is_refused(said):
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["{}"]), pa.array(["b"])], names=["id", "output", "id"])
    pq.write_table(twice, "a.parquet")
    Path("b.csv").write_text("id,output,id\na,{},b\n", "utf-8")
    results, told, code = call("a.parquet", "b.csv")
    assert (results, code) == ([], 2)
    said([line.split(";")[0] for line in told[:2]])


def test_a_header_that_is_not_utf_8_is_refused(said):
    Path("a.csv").write_bytes("id,score,größe\na,7,1\n".encode("latin-1"))
    results, told, code = call("a.csv")
    assert (results, code) == ([], 2)
    said(told[0])


def test_what_word_puts_between_lines_does_not_make_a_table_binary():
    Path("a.csv").write_bytes(b"id,score,note\na,7,one\x0btwo\nb,3,\0\n")
    assert [(each["id"], each["score"]) for each in call("a.csv")[0]] == [("a", 0.7), ("b", 0.3)]


CELLS_OF_CRITERIA = [
    "7",
    "",
    " ",
    "x",
    "7.5",
    "7,0",
    "1.0",
    "TRUE",
    "NaN",
    "-1",
    "11",
    " 5 ",
    "٣",
    "9" * 400,
    "05",
    "½",
    "null",
]


def as_workbook(header, rows):
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("column", ["score", "output"])
def test_a_cell_means_the_same_in_every_kind_of_table(column, said):
    cells = CELLS_OF_CRITERIA if column == "score" else ['{"score": 7}', "", " ", "{}", "null", "none"]
    header, rows = ["id", column], [[f"r{number}", cell] for number, cell in enumerate(cells)]
    stream = io.StringIO()
    csv.writer(stream).writerows([header, *rows])
    arrow = [[name, cell or None] for name, cell in rows]
    Path("a.csv").write_text(stream.getvalue(), "utf-8")
    Path("a.tsv").write_text(stream.getvalue().replace(",", "\t").replace("7\t0", "7,0"), "utf-8")
    Path("a.xlsx").write_bytes(as_workbook(header, rows))
    pq.write_table(pa.table(dict(zip(header, zip(*arrow, strict=True), strict=True))), "a.parquet")
    results = {name: without_places(call(name)[0]) for name in ("a.csv", "a.tsv", "a.parquet", "a.xlsx")}
    for each in results["a.xlsx"]:
        each.pop("sheet", None)
        if "error" in each:
            each["error"]["message"] = each["error"]["message"].removeprefix("sheet `Sheet`, ")
    assert results == dict.fromkeys(results, results["a.csv"])
    said(
        [
            f"{cell[:5]!r}: {each.get('score', each.get('error'))}"
            for cell, each in zip(cells, results["a.csv"], strict=True)
        ]
    )


def test_a_table_may_have_one_output_or_several_in_each_row():
    outputs = '[{""score"": 7}, {""score"": 7}]'
    Path("a.csv").write_text(f'id,output,outputs\na,"{{""score"": 3}}",\nb,,"{outputs}"\n', "utf-8")
    assert [each["score"] for each in call("a.csv")[0]] == [0.3, 0.7]


def test_a_time_that_python_does_not_have_is_read_as_text():
    table = pa.table({"id": ["a", "b"], "score": [7, 3], "day": pa.array([1, 10**9], pa.date32())})
    pq.write_table(table, "a.parquet")
    assert [(each["score"], each["day"][:10]) for each in call("a.parquet")[0]] == [
        (0.7, "1970-01-02"),
        (0.3, "<value out"),
    ]


def test_line_ends_of_old_macs_are_named(said):
    Path("a.csv").write_bytes(b"id,output\ra,1\r")
    said(call("a.csv")[1][0])
    Path("b.csv").write_bytes(b'id,output\na,"{""score"": 7}"\nb\r,1\n')
    ((line, message),) = errors(call("b.csv")[0])
    assert line == 3
    said(message)


def test_damage_in_parquet_with_checksums_is_told(said):
    rows = [{"id": f"a{number}", "output": '{"score": 7}', "answer": "x" * 50} for number in range(20)]
    layout = {"compression": "none", "use_dictionary": False, "write_statistics": False, "row_group_size": 10}
    data = as_parquet(rows, **layout, write_page_checksum=True)
    place = data.rindex(b'{"score": 7}')
    Path("a.parquet").write_bytes(data[:place] + b'{"score": 1}' + data[place + 12 :])
    results, _, code = call("a.parquet")
    assert ([result.get("score") for result in results], code) == ([None], 1)
    said(errors(results)[0][1])


def test_results_keep_the_name_of_a_part_if_an_input_cannot_be_read(said):
    Path("a.jsonl").write_text('{"score": 7}\n', "utf-8")
    Path("b.csv").write_text("id,text\n", "utf-8")
    args = ["r.rubric.yaml", "a.jsonl", "b.csv", "-o", "o.jsonl", "--report", "p.html"]
    done = commands.run("rubric-lint", "score", *args)
    assert done.returncode == 2
    said(done.stderr.splitlines()[-1])
    assert not Path("o.jsonl").exists()
    assert "without files that cannot be read" in Path("p.html").read_text("utf-8")


def test_a_column_of_labels_as_tags_stops_no_table():
    Path("a.csv").write_text("id,score,labels\na,7,late\n", "utf-8")
    assert [(each["score"], each["labels"]) for each in call("a.csv")[0]] == [(0.7, "late")]
