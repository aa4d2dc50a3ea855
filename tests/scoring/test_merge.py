"""`rubric-score merge`: the results of parts together are those of the whole, and what does not fit is told."""

import json
import re
from pathlib import Path

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accuracy_depth import RUBRIC, output
from cases import read_cases

from rubric_lint.arrow import map_batches
from rubric_lint.scoring.records.mapping import RESULT_FIELDS

TABLES = read_cases(__file__)

SUITE = """\
cases:
  - id: one
    rubrics: [{id: polite, outcome: Is polite}, {id: short, outcome: Has at most ten words, weight: 3}]
  - id: two
    rubrics:
      - {score_range: [0, 4], expected_outcome: Wrong}
      - {score_range: [5, 10], expected_outcome: Right}
"""
RECORDS = TABLES["RECORDS"]


@pytest.fixture(autouse=True)
def folder(folder, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    write("in.jsonl", RECORDS)
    return folder


def write(name, records):
    Path(name).write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")


def call(*args, rubric="r.rubric.yaml", given=""):
    """What is written to stdout and stderr, and the exit code."""
    command, names = (args[:1], args[1:]) if args[0] == "merge" else (("score",), args)
    done = commands.run("rubric-lint", *command, rubric, *names, stdin=given)
    return done.stdout, commands.complaint(done).replace("rubric-lint: ", ""), done.returncode


def split(*sizes, suffix=".jsonl", rubric="r.rubric.yaml", name="in.jsonl"):
    """Score parts of a file into a folder of shards, and return their names."""
    Path("shards").mkdir(exist_ok=True)
    lines = Path(name).read_text("utf-8").splitlines(keepends=True)
    shards = []
    for number, size in enumerate(sizes):
        part, lines = lines[:size], lines[size:]
        Path("part.jsonl").write_text("".join(part), "utf-8")
        shards.append(f"shards/{number}{suffix}")
        call("part.jsonl", "-o", shards[-1], rubric=rubric)
    return shards


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".ndjson.zst"])
def test_shards_merge_into_the_results_of_the_whole(suffix):
    split(3, 1, 3, suffix=suffix)
    out, err, code = call("in.jsonl", "--format", "jsonl")
    merged, told, merged_code = call("merge", "shards", "--format", "jsonl")
    whole, joined = (
        [{name: item for name, item in json.loads(line).items() if name != "error"} for line in text.splitlines()]
        for text in (out, merged)
    )
    assert (joined, told, merged_code) == (whole, err, code)
    errors = [json.loads(line)["error"] for line in merged.splitlines() if '"error"' in line]
    assert errors == [
        {"file": f"shards/1{suffix}", "line": 1, **errors[0]},
        {"file": f"shards/2{suffix}", "line": 3, **errors[1]},
    ]


def test_one_shard_is_written_as_it_is():
    split(7)
    out, _, _ = call("in.jsonl", "--format", "jsonl")
    assert call("merge", "shards/0.jsonl", "--format", "jsonl")[0] == out
    assert call("merge", "-", "--format", "jsonl", given=out)[0] == out


@pytest.mark.spread(15)
@pytest.mark.parametrize("head", [{"id": "a"}, {"id": 3}, {}])
@pytest.mark.parametrize("given", [{"output": output(10, 7)}, {"outputs": [output(10, 7)] * 2}, {"output": "none"}])
@pytest.mark.parametrize("count", range(8))
def test_what_a_record_carries_comes_out_of_scoring_and_of_merging(head, given, count):
    others = {"seed": 1, "note": "x", "judge": {"model": "m"}, "points": 3, "file": "f", "line": None, "": []}
    carried = dict([*others.items()][:count])
    for order in ({**head, **carried, **given}, {**given, **dict(reversed(carried.items())), **head}):
        write("in.jsonl", [order])
        scored = call("in.jsonl", "--format", "jsonl")[0]
        merged = call("merge", "-", "--format", "jsonl", given=scored)[0]
        for result in (json.loads(scored), json.loads(merged)):
            assert {name: item for name, item in result.items() if name not in RESULT_FIELDS} == {**head, **carried}


def test_totals_and_page_are_those_of_the_whole():
    split(3, 1, 3)
    for form in ("table", "json"):
        whole = call("in.jsonl", "--format", form)[0]
        merged = call("merge", "shards", "--format", form)[0]
        if form == "json":
            assert json.loads(merged)["totals"] == json.loads(whole)["totals"]
            assert json.loads(merged)["totals"]["rubrics"][0]["sampled"] == 2
        else:
            assert merged.partition("\n\n")[2] == whole.partition("\n\n")[2]
    call("in.jsonl", "--report", "whole.html", "-q")
    call("merge", "shards", "--report", "merged.html", "-q")
    pages = [Path(name).read_text("utf-8") for name in ("whole.html", "merged.html")]
    # In front of the worst answers and of the rows is what counts and measures.
    figures = [re.sub(r"<title>.*?</title>|<p class=.subtitle.*", "", page) for page in pages]
    cut = [text[text.index('id="distribution"') : text.index('id="worst"')] for text in figures]
    assert cut[0] == cut[1]


def test_merged_results_have_every_form_that_results_have():
    split(3, 4)
    whole = call("in.jsonl", "--format", "jsonl")[0]
    Path("whole.jsonl").write_text(whole, "utf-8")
    for name in ("m.csv", "m.parquet", "m.jsonl"):
        call("merge", "whole.jsonl", "-o", name)
        call("in.jsonl", "-o", f"w-{name}")
        if name.endswith(".parquet"):
            assert pq.read_table(name).equals(pq.read_table(f"w-{name}"))
        else:
            assert Path(name).read_bytes() == Path(f"w-{name}").read_bytes()
    assert call("merge", "whole.jsonl", "--compact", "-q") == call("in.jsonl", "--compact", "-q")


def test_parquet_shards_merge():
    write("in.jsonl", [record for record in RECORDS if "outputs" not in record])
    split(2, 3, suffix=".parquet")
    whole = [json.loads(line) for line in call("in.jsonl", "--format", "jsonl")[0].splitlines()]
    out, err, code = call("merge", "shards", "--format", "jsonl")
    own = {"notes", "judge", "verdict_of", "error"}
    kept = [{name: item for name, item in each.items() if name not in own} for each in whole]
    merged = [{name: item for name, item in json.loads(line).items() if name != "error"} for line in out.splitlines()]
    assert merged == kept
    assert (err, code) == call("in.jsonl", "--format", "jsonl")[1:]


def test_checklists_of_suites_merge_from_parquet():
    Path("s.yaml").write_text(SUITE, "utf-8")
    checks = [{"id": "polite", "satisfied": True}, {"id": "short", "satisfied": False}]
    records = [
        {"id": 1, "rubric": "one", "output": {"checks": checks}},
        {"id": 1, "rubric": "two", "output": {"score": 7}},
    ]
    write("s.jsonl", records)
    split(1, 1, suffix=".parquet", rubric="s.yaml", name="s.jsonl")
    lines = call("s.jsonl", "--format", "jsonl", rubric="s.yaml")[0].splitlines()
    merged = call("merge", "shards", "--format", "jsonl", rubric="s.yaml")
    assert [json.loads(line) for line in merged[0].splitlines()] == [{**json.loads(line), "id": "1"} for line in lines]
    assert merged[1:] == ("2 outputs: 0 pass, 1 borderline, 1 fail, 0 invalid; mean score 0.475\n", 1)


def test_results_of_another_version_are_told_by_file_and_never_counted(said):
    split(3)
    Path("old").mkdir()
    Path("old/r.rubric.yaml").write_text(RUBRIC.replace("required_min_score: 3", "required_min_score: 7"), "utf-8")
    call("in.jsonl", "-o", "shards/1.jsonl", rubric="old/r.rubric.yaml")
    out, err, code = call("merge", "shards", "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines if "id" in line] == ["a", "=b", 3, "a", "=b", 3, "ä", "c", "d"]
    old = json.loads(Path("shards/1.jsonl").read_text("utf-8").splitlines()[0])["rubric_hash"]
    error = lines[3]["error"]
    assert (error["file"], error["line"], error["path"]) == ("shards/1.jsonl", 1, "/rubric_hash")
    assert old in error["message"]
    assert lines[0]["rubric_hash"] in error["message"]
    assert (lines[3]["notes"], lines[3]["judge"], "score" in lines[3]) == ("kept\u2026", {"model": "m"}, False)
    assert code == 1
    said(err)


def test_ids_that_two_shards_have_are_told(said):
    split(3)
    Path("shards/1.jsonl").write_bytes(Path("shards/0.jsonl").read_bytes())
    said(call("merge", "shards", "--format", "jsonl")[1])


@pytest.mark.parametrize("suffix", TABLES["a shard that is cut off is told"])
def test_a_shard_that_is_cut_off_is_told(suffix, said):
    shards = split(3, 4, suffix=suffix)
    data = Path(shards[1]).read_bytes()
    Path(shards[1]).write_bytes(data[:-20])
    out, _, code = call("merge", "shards", "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines[:2]] == ["a", "=b"]
    said(re.sub(r"at column \d+", "at column N", lines[-1]["error"]["message"]))
    assert lines[-1]["error"]["file"] == shards[1]
    assert code == 1


@pytest.mark.parametrize("names", [["shards"], ["shards/0.jsonl", "shards/1.jsonl.part"], ["shards/*"]], ids=" ".join)
def test_what_a_run_did_not_complete_is_refused(names, said):
    split(3, 4)
    Path("shards/1.jsonl").rename("shards/1.jsonl.part")
    out, err, code = call("merge", *names, "-o", "all.jsonl")
    assert (out, code) == ("", 2)
    said(err)
    assert not Path("all.jsonl").exists()


def test_an_empty_shard_is_told():
    split(3)
    Path("shards/1.jsonl").write_text("", "utf-8")
    _, err, code = call("merge", "shards", "--format", "jsonl")
    assert (err.splitlines()[0], code) == ("shards/1.jsonl: no outputs found", 2)


def change(number, **fields):
    """Change a line of the results of the whole."""
    lines = [json.loads(line) for line in Path("whole.jsonl").read_text("utf-8").splitlines()]
    lines[number].update(fields)
    write("whole.jsonl", [{name: item for name, item in line.items() if item is not None} for line in lines])


@pytest.mark.parametrize(("number", "fields", "path"), TABLES["invalid results"])
def test_a_result_that_its_rubric_never_gave_is_invalid(number, fields, path, said):
    Path("whole.jsonl").write_text(call("in.jsonl", "--format", "jsonl")[0], "utf-8")
    change(number, **fields)
    out, err, code = call("merge", "whole.jsonl", "--format", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    error = lines[number]["error"]
    assert (error["line"], error["path"]) == (number + 1, path)
    said(error["message"])
    assert lines[number]["id"] == RECORDS[number]["id"]
    assert (len(lines), code, "7 outputs:" in err, "3 invalid" in err) == (7, 1, True, True)


@pytest.mark.parametrize("line", TABLES["what is not a result is told"])
def test_what_is_not_a_result_is_told(line, said):
    write("x.jsonl", [{}, line])
    found = [json.loads(line) for line in call("merge", "x.jsonl", "--format", "jsonl")[0].splitlines()]
    assert found[1]["error"]["line"] == 2
    said(found[1]["error"]["message"])


def test_tables_of_text_are_refused(said):
    split(3, suffix=".csv")
    out, err, code = call("merge", "shards/0.csv")
    assert (out, code) == ("", 2)
    said(err)


def test_weights_in_another_notation_are_the_same_version():
    split(7)
    out, err, code = call("merge", "shards", "--format", "jsonl")
    doubled = RUBRIC.replace("weight: 2.0", "weight: 4.0").replace("id: depth", "id: depth\n    weight: 2")
    Path("r.rubric.yaml").write_text(doubled, "utf-8")
    heavier = out.replace('"weight": 2.0', '"weight": 4.0').replace('"weight": 1.0', '"weight": 2.0')
    assert call("merge", "shards", "--format", "jsonl") == (heavier, err, code)


def test_thresholds_are_those_of_the_shards():
    Path("shards").mkdir()
    call("in.jsonl", "--pass", "0.95", "-o", "shards/a.jsonl")
    assert "another version of the rubric" in call("merge", "shards", "-q")[1]
    assert call("merge", "shards", "--pass", "0.95")[0] == call("in.jsonl", "--pass", "0.95")[0]


def test_a_folder_of_an_engine_is_merged_only_when_it_is_complete(said):
    table = pa.table({"id": ["a", "b"], "output": [json.dumps(output(number, 7)) for number in range(2)]})
    pq.write_table(table, "in.parquet")
    Path("out.part").mkdir()
    pq.write_table(map_batches("r.rubric.yaml")(table), "out.part/0.parquet")
    out, err, code = call("merge", "out.part")
    assert (out, code) == ("", 2)
    said(err)
    Path("out.part").rename("out")
    assert call("merge", "out", "--format", "jsonl") == call("in.parquet", "--format", "jsonl")
    Path("out/_rubric-score.json").write_text("{}", "utf-8")
    out, err, code = call("merge", "out")
    assert (out, code) == ("", 2)
    said(err)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_our_own_results_are_scored_again(ending):
    records = [record for record in RECORDS if "output" in record]
    write("one.jsonl", records)
    call("one.jsonl", "-o", f"results{ending}")
    first, again = (
        [json.loads(line) for line in call(name, "--format", "jsonl")[0].splitlines()]
        for name in ("one.jsonl", f"results{ending}")
    )
    kept = ("id", "score", "verdict", "criteria")
    assert [[each.get(name) for name in kept] for each in again] == [
        [each.get(name) for name in kept] for each in first
    ]
    assert [("error" in each) for each in again] == [("error" in each) for each in first]


def test_a_result_that_was_changed_is_refused(said):
    call("in.jsonl", "-o", "results.jsonl")
    first = json.loads(Path("results.jsonl").read_text("utf-8").splitlines()[0])
    write("changed.jsonl", [{**first, "score": 0.123}, {**first, "verdicts": {"pass": 3}}])
    said(call("changed.jsonl", "--format", "jsonl"))
