import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import commands
import pytest
from accuracy_depth import RUBRIC, output
from lint_command import on_terminal

from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.entries import LIMIT


def record(name, accuracy, depth, **more):
    return json.dumps({"id": name, "output": output(accuracy, depth), **more}) + "\n"


GOOD = record("a", 10, 10)
MIDDLING = record("b", 7, 7)
BAD = record("c", 2, 10)
INVALID = record("d", 11, 10)
GOOD_RESULT = {
    "id": "a",
    "rubric": "r",
    "rubric_hash": load_rubrics("r.yaml", RUBRIC.encode())["r"].hash,
    "shape": "score_ranges",
    "score": 1.0,
    "verdict": "pass",
    "criteria": [
        {
            "id": "accuracy",
            "raw": 10,
            "score": 1.0,
            "weight": 2.0,
            "gate": 3,
            "gate_met": True,
            "outcome": "Fully correct",
        },
        {
            "id": "depth",
            "raw": 10,
            "score": 1.0,
            "weight": 1.0,
            "gate": None,
            "gate_met": True,
            "outcome": "All the details",
        },
    ],
}
INVALID_RESULT = {
    "id": "d",
    "rubric": "r",
    "error": {"line": 4, "path": "/checks/0/score", "message": "score 11 is outside 0..10"},
}
COUNTS = "rubric-score: invalid: score 11 is outside 0..10 (once)\n\
rubric-score: 4 outputs: 1 pass, 1 borderline, 1 fail, 1 invalid; mean score 0.722\n"


def command(*args):
    return commands.command("rubric-score", *args)


def start(*args, **streams):
    return subprocess.Popen(command(*args), env=os.environ | {"COLUMNS": "80"}, **streams)


def call(*args, stdin=""):
    """What a call prints on standard output and standard error, and its exit code."""
    return commands.call("rubric-score", *args, stdin=stdin, env=os.environ | {"COLUMNS": "80"})


def call_on_terminal(*args, **streams):
    """What a call writes to a terminal, and its exit code."""
    return on_terminal(command(*args), NO_COLOR="1", **streams)


def wait_until_read(pipe):
    """Until the other side has taken all that was written."""
    commands.wait_until(lambda: not int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder))


@pytest.fixture(autouse=True)
def folder(folder):
    Path("r.rubric.yaml").write_text(RUBRIC, "utf-8")
    Path("out.jsonl").write_text(GOOD + MIDDLING + BAD + INVALID, "utf-8")
    return folder


def results(out):
    return [json.loads(line) for line in out.splitlines()]


def test_standard_input_is_read():
    assert call("r.rubric.yaml", "-", "-q", stdin=GOOD) == (json.dumps(GOOD_RESULT) + "\n", "", 0)


def test_json_lines_and_json_hold_the_results_in_their_order_and_json_the_totals():
    lines, *told = call("r.rubric.yaml", "out.jsonl")
    out, *told_of_json = call("r.rubric.yaml", "out.jsonl", "--format", "json")
    found = json.loads(out)
    assert told == told_of_json == [COUNTS, 1]
    assert results(lines) == found["results"]
    assert (found["results"][0], found["results"][3]) == (GOOD_RESULT, INVALID_RESULT)
    assert [result.get("verdict") for result in found["results"]] == ["pass", "borderline", "fail", None]
    counts = {"outputs": 3, "pass": 1, "borderline": 1, "fail": 1, "mean": pytest.approx(13 / 18)}
    (rubric,) = found["totals"].pop("rubrics")
    assert found["totals"] == {**counts, "outputs": 4, "invalid": 1}
    accuracy, depth = rubric.pop("criteria")
    assert rubric == {"rubric": "r", "rubric_hash": GOOD_RESULT["rubric_hash"], **counts}
    answers = [{"raw": raw, "times": 1} for raw in (2, 7, 10)]
    spread = {"mean": pytest.approx(19 / 30), "spread": pytest.approx(0.32998316)}
    assert accuracy == {"id": "accuracy", **spread, "gate": 3, "gates_missed": 1, "answers": answers}
    assert (depth["gate"], depth["gates_missed"], depth["answers"][1]) == (None, None, {"raw": 10, "times": 2})


def test_the_table_holds_what_is_invalid_every_verdict_and_the_totals_in_order(said):
    said(call("r.rubric.yaml", "out.jsonl", "--format", "table"))
    said(call("r.rubric.yaml", "-", "--format", "table", stdin=BAD + GOOD)[0])


@pytest.mark.slow
@pytest.mark.parametrize("columns", [120, 40])
def test_the_table_lists_each_output_in_the_width_of_the_terminal(columns, said):
    hostile = record("\x1b[2J##[group]", 10, 10) + record({"a": 1}, 10, 10)
    bare = json.dumps(json.loads(record("", 2, 0))["output"])
    given = record("the planted answer that only looks accurate", 2, 10) + hostile + bare
    Path("few.jsonl").write_text(given, "utf-8")
    out, code = call_on_terminal("r.rubric.yaml", "few.jsonl", columns=columns)
    table = out.split("\n\n")[1]
    assert (max(map(len, table.splitlines())) <= columns, code) == (True, 1)
    said(table)


def test_the_verdicts_of_21_outputs_are_left_to_json_lines(said):
    for count, listed in ((20, 20), (21, 0)):
        out, _, _ = call("r.rubric.yaml", "-", "--format", "table", stdin=GOOD * count)
        assert out.count("  a       1.000  pass\n") == listed
    said(out)


def test_outputs_of_several_rubrics_are_listed_with_their_rubric():
    Path("suite.yaml").write_text("tests: [{id: x, rubrics: [Says so]}, {id: y, rubrics: [Says so too]}]", "utf-8")
    check = {"checks": [{"id": "rubric-1", "satisfied": True}]}
    given = "".join(json.dumps({"id": 1, "rubric": name, "output": check}) + "\n" for name in "xy")
    out, _, _ = call("suite.yaml", "-", "--format", "table", stdin=given)
    assert out.split("\n\n")[2] == "  output  score  verdict\n  1 (x)   1.000  pass\n  1 (y)   1.000  pass"


def test_a_table_tells_a_cause_a_few_times_and_sums_up_the_rest(said):
    out, _, code = call("r.rubric.yaml", "-", "--format", "table", stdin=INVALID * 500 + "{\n")
    lines = out.splitlines()
    invalid = '(id "d") /checks/0/score: score 11 is outside 0..10'
    assert (lines[:5], code) == ([f"line {number} {invalid}" for number in range(1, 6)], 1)
    said([line.partition(": ")[0] for line in lines[5:]])


def test_errors_of_one_cause_are_one_whatever_else_is_wrong(said):
    alone, both = INVALID, record("d", 11, 12)
    out, _, _ = call("r.rubric.yaml", "-", "--format", "table", stdin=alone * 3 + both * 3)
    said(out)


def test_records_of_one_id_are_counted_with_a_warning(said):
    out, err, code = call("r.rubric.yaml", "-", stdin=GOOD + MIDDLING + GOOD + INVALID + GOOD)
    assert (len(results(out)), code) == (5, 1)
    said(err)
    _, err, _ = call("r.rubric.yaml", "out.jsonl", "-", stdin=BAD)
    assert err.splitlines()[0].endswith(": out.jsonl:3 and -:1")


def test_outputs_that_were_judged_by_another_meaning_are_told(said):
    told = {"judge": {"rubric_hash": "0" * 16}}
    out, err, code = call("r.rubric.yaml", "-", "-q", stdin=GOOD + record("e", 9, 9, **told))
    assert (len(results(out)), code) == (2, 0)
    said(err)


def test_what_of_a_text_is_the_verdict_can_be_chosen():
    checks = json.dumps({"checks": [{"id": "accuracy", "score": 9}, {"id": "depth", "score": 9}]})
    texts = {"a": checks, "b": f"So:\n{checks}", "c": f"So:\n{checks}\nBye."}
    lines = "\n".join(json.dumps({"id": name, "output": text}) for name, text in texts.items())
    ways = {"whole": ["pass", None, None], "last": ["pass", "pass", None], "only": ["pass"] * 3}
    for options, verdicts in (*((("--extract", way), found) for way, found in ways.items()), ((), ways["last"])):
        out, _, _ = call("r.rubric.yaml", "-", *options, stdin=lines)
        assert [line.get("verdict") for line in results(out)] == verdicts


@pytest.mark.parametrize(
    ("outputs", "options", "code"),
    [
        (GOOD, [], 0),
        (MIDDLING, [], 0),
        (BAD, [], 1),
        (INVALID, [], 1),
        (GOOD, ["--fail-on", "borderline"], 0),
        (MIDDLING, ["--fail-on", "borderline"], 1),
        (BAD, ["--fail-on", "borderline"], 1),
        (BAD, ["--fail-on", "never"], 0),
        (INVALID, ["--fail-on", "never"], 1),
        (INVALID, ["--fail-on", "never", "--allow-invalid"], 0),
        (GOOD + INVALID, ["--allow-invalid"], 0),
        (BAD + INVALID, ["--allow-invalid"], 1),
    ],
)
def test_the_exit_code_says_how_it_went(outputs, options, code):
    assert call("r.rubric.yaml", "-", *options, stdin=outputs)[2] == code


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        (["--pass", "0.7"], "pass"),
        (["--pass", "0.71"], "borderline"),
        (["--borderline", "0.7"], "borderline"),
        (["--borderline", "0.70000000000000001"], "fail"),
        (["--pass", "1", "--borderline", "1"], "fail"),
    ],
)
def test_thresholds_can_be_set_exactly(options, verdict):
    assert results(call("r.rubric.yaml", "-", *options, stdin=MIDDLING)[0])[0]["verdict"] == verdict


def test_settings_are_those_of_the_rubrics_folder():
    Path("pyproject.toml").write_text("[tool.rubric-lint]\npass = 0.7\n", "utf-8")
    assert results(call("r.rubric.yaml", "-", stdin=MIDDLING)[0])[0]["verdict"] == "pass"
    assert results(call("r.rubric.yaml", "-", "--isolated", stdin=MIDDLING)[0])[0]["verdict"] == "borderline"


@pytest.mark.slow
def test_a_rubric_with_errors_is_refused_before_any_output_is_read(said):
    Path("bad.yaml").write_text("rubrics:\n  - {id: a, weight: 0, expected_outcome: Is short}\n", "utf-8")
    with start("bad.yaml", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.stdout.read(), process.stderr.read().decode()  # standard input stays open, and empty
        process.stdin.close()
    assert err.startswith("rubric-score: bad.yaml:1:1: weight: ")
    said(err)
    assert (out, process.returncode) == (b"", 2)


@pytest.mark.slow
def test_what_is_bad_costs_one_error_each_and_the_rest_is_scored(said):
    bad = [
        b'{"output": {"checks": [{"id": "accuracy", "score": NaN}]}}',
        b'{"output": {"checks": [{"id": "accuracy", "score": 1e400}]}}',
        b'{"id": "twice", "id": "twice", "output": {}}',
        b'{"id": "\xff"}',
        b'{"id": "long", "output": "' + b"x" * 2 * LIMIT + b'"}',
        b'{"output": {"checks": [{"id": "Accuracy", "score": 7}]}}',
        b'{"id": "other", "rubric": "other", "output": {}}',
        b'{"id": "half", "output": {"ch',
    ]
    good = GOOD.encode()
    out, err, code = call("r.rubric.yaml", "-", stdin=good + (b"\n" + good).join(bad))
    found = results(out)
    errors = [line["error"] for line in found[1::2]]
    said([error["message"] for error in errors])
    assert found[0::2] == [GOOD_RESULT] * 8
    assert [error["line"] for error in errors] == [2, 4, 6, 8, 10, 12, 14, 16]
    assert (err.splitlines()[-1].split(":")[1], code) == (" 16 outputs", 1)


def test_several_files_are_read_in_turn_and_errors_name_theirs(said):
    Path("more.json").write_text(f"[{GOOD},\n{INVALID}]", "utf-8")
    out, err, code = call("r.rubric.yaml", "out.jsonl", "more.json")
    found = results(out)
    assert [line["id"] for line in found] == ["a", "b", "c", "d", "a", "d"]
    assert found[5]["error"]["file"] == "more.json"
    said(err)
    assert code == 1


def test_an_empty_file_among_others_is_told(said):
    Path("empty.jsonl").touch()
    out, err, code = call("r.rubric.yaml", "empty.jsonl", "out.jsonl", "-q")
    assert (len(results(out)), code) == (4, 2)
    said(err)


@pytest.mark.slow
def test_more_answers_than_are_remembered_are_counted_all_the_same():
    criteria = "".join(f"  - {{id: c{number}, expected_outcome: States the fact {number}}}\n" for number in range(15))
    Path("many.yaml").write_text(f"rubrics:\n{criteria}", "utf-8")
    outputs = [
        {"checks": [{"id": f"c{place}", "satisfied": bool(number >> place & 1)} for place in range(15)]}
        for number in range(1 << 15)
    ]
    lines = "".join(json.dumps(output) + "\n" for output in outputs)
    out, err, _ = call("many.yaml", "-", stdin=lines)
    passing = sum(number.bit_count() >= 12 for number in range(1 << 15))
    borderline = sum(9 <= number.bit_count() < 12 for number in range(1 << 15))
    failing = (1 << 15) - passing - borderline
    counts = f"{1 << 15} outputs: {passing} pass, {borderline} borderline, {failing} fail, 0 invalid; mean score 0.500"
    assert (len(out.splitlines()), err) == (1 << 15, f"rubric-score: {counts}\n")


@pytest.mark.slow
def test_results_come_while_input_goes_on_and_an_interrupt_ends_it_cleanly(said):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("r.rubric.yaml", "-", **pipes) as process:
        process.stdin.write((GOOD + BAD + GOOD[:20]).encode())
        process.stdin.flush()
        first = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        rest, err = process.stdout.read(), process.stderr.read().decode()
    assert [json.loads(line)["id"] for line in first] == ["a", "c"]
    assert (rest, process.returncode) == (b"", 130)
    said(err)


@pytest.mark.slow
def test_an_interrupt_in_the_midst_of_work_leaves_whole_results_and_true_counts():
    Path("big.jsonl").write_text(GOOD * 400_000, "utf-8")
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with start("r.rubric.yaml", "big.jsonl", "--format", "json", **pipes) as process:
        begun = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, err = process.stdout.read(), process.stderr.read()
    assert (process.returncode, err.decode().partition(" at ")[0]) == (130, "rubric-score: interrupted")
    found = json.loads(begun + rest)
    count = len(found["results"])
    assert 0 < count < 400_000
    assert found["totals"]["outputs"] == found["totals"]["pass"] == count
    told = (
        f"rubric-score: interrupted at line {count} of big.jsonl, after {count} outputs: {count} pass, 0 borderline, "
    )
    assert err.decode().startswith(told)


@pytest.mark.slow
def test_an_interrupted_run_says_of_which_file_it_read_how_much_and_so_does_its_page(said):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("r.rubric.yaml", "out.jsonl", "-", "--report", "page.html", **pipes) as process:
        for _ in range(4):
            process.stdout.readline()
        process.stdin.write(b"\n\n")
        process.stdin.flush()
        wait_until_read(process.stdin)
        process.send_signal(signal.SIGINT)
        err = process.stderr.read().decode()
    assert process.returncode == 130
    said(err)
    assert "<title>out.jsonl and 1 more by r.rubric.yaml, interrupted</title>" in Path("page.html").read_text("utf-8")


@pytest.mark.slow
def test_a_long_run_shows_how_far_it_is_and_cleans_up():
    Path("big.jsonl").write_text(GOOD.replace('"id": "a", ', "") * 400_000, "utf-8")
    written, code = call_on_terminal("r.rubric.yaml", "big.jsonl", "-q", stdout=subprocess.DEVNULL)
    assert re.search(r"\rscoring \[#+-*\] \d+% [\d,]+ outputs, \d+ s left", written)
    assert (written.endswith(" \r"), code) == (True, 0)


@pytest.mark.slow
def test_a_page_for_people_is_written_beside_the_results():
    out, _, code = call("r.rubric.yaml", "out.jsonl", "--report", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert [result.get("verdict") for result in results(out)] == ["pass", "borderline", "fail", None]
    assert ("<title>out.jsonl by r.rubric.yaml" in page, code) == (True, 1)
    assert re.findall(r"https?://(?!www\.w3\.org)", page) == []
