"""The conformance suite: its files, its runner, and who agrees with it."""

import json
import shutil
import sys
from collections import Counter

import pytest
from conformance_page import CACHE, DRIVERS, PAGE, SUITE, ask, make_reasons, make_tables
from jsonschema import Draft7Validator
from run import compare, read_cases, run

CASES = [*read_cases()]
SCHEMA = json.loads((SUITE / "v1/schema.json").read_text("utf-8"))
FILES = sorted((SUITE / "v1").glob("*/*.json"))


def faults(value, definition=""):
    schema = {**SCHEMA, "$ref": f"#/definitions/{definition}"} if definition else SCHEMA
    return [error.message for error in Draft7Validator(schema).iter_errors(value)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_cases_has_the_form_of_one(path):
    document = json.loads(path.read_text("utf-8"))
    assert (faults(document), document["kind"]) == ([], path.parent.name)


def test_no_two_tests_have_the_same_place():
    places = Counter((case.kind, case.file, case.group, case.test) for case in CASES)
    assert [place for place, count in places.items() if count > 1] == []


def test_a_finding_quotes_what_is_between_its_start_and_its_end():
    for case in CASES:
        if case.kind == "lint":
            for finding in case.expected:
                assert finding["at"] == case.request["text"][finding["start"] : finding["end"]], case


@pytest.mark.slow
def test_rubric_lint_agrees_in_every_test():
    report = ask("rubric_lint")
    assert [outcome for outcome in report.outcomes if outcome.status != "agrees"] == []
    assert (report.name, len(report.outcomes)) == ("rubric-lint", len(CASES))


def program(tmp_path, answers):
    """A program that says hello and gives these answers, whatever it is asked."""
    hello = {"id": 0, "name": "other", "version": "1"}
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in [hello, *answers]), "utf-8")
    return [sys.executable, "-c", f"import sys; sys.stdin.read(); print(open({str(path)!r}).read(), end='')"]


SHARED = next(case for case in CASES if case.test == "two bands share 3")
OVERLAP = SHARED._replace(expected=SHARED.expected[:1])
FINDING = {key: value for key, value in OVERLAP.expected[0].items() if key != "at"}
EXACT = next(case for case in CASES if case.test.startswith("4, 10, 10"))
MISSED = next(case for case in CASES if case.test.startswith("missed, and all else met"))
INVALID = next(case for case in CASES if case.test == "a check is missing")
SAID = {"valid": True, "verdict": "pass", "missed": []}


@pytest.mark.parametrize(
    ("case", "answer", "status", "detail"),
    [
        (OVERLAP, {"findings": [FINDING]}, "agrees", ""),
        (OVERLAP, {"findings": []}, "differs", "not found: error overlap at 139..145"),
        (OVERLAP, {"findings": [FINDING, FINDING]}, "differs", "found: error overlap at 139..145"),
        (
            OVERLAP,
            {"findings": [{**FINDING, "start": 140}]},
            "differs",
            "not found: error overlap at 139..145; found: error overlap at 140..145",
        ),
        (OVERLAP, {"accepts": False, "reason": "no"}, "agrees", ""),
        (OVERLAP, {"accepts": True}, "differs", "accepted"),
        (EXACT, {**SAID, "score": "4/5"}, "agrees", ""),
        (EXACT, {**SAID, "score": "0.8"}, "agrees", ""),
        (EXACT, {**SAID, "score": 0.8}, "agrees", ""),
        (EXACT, {**SAID, "score": 0.7999999999999999}, "agrees", ""),
        (EXACT, {**SAID, "score": "0.7999999999999999"}, "differs", "score 0.7999999999999999, not 4/5"),
        (EXACT, {"valid": True, "score": 0.81}, "differs", "score 0.81, not 4/5"),
        (EXACT, {**SAID, "score": "4/5", "verdict": "borderline"}, "differs", "borderline, not pass"),
        (EXACT, {"valid": True, "score": "4/5", "passes": True}, "agrees", ""),
        (EXACT, {"valid": True, "score": "4/5", "passes": False}, "differs", "fail, not pass"),
        (EXACT, {"valid": False, "reason": "no"}, "differs", "not valid: no"),
        (EXACT, {"unsupported": "no bands"}, "unsupported", "no bands"),
        (EXACT, None, "no answer", ""),
        (MISSED, {"valid": True, "score": 0.8, "passes": True}, "differs", "pass, not fail"),
        (
            MISSED,
            {"valid": True, "score": 0.8, "verdict": "fail", "missed": []},
            "differs",
            "gates missed: [], not ['period']",
        ),
        (INVALID, {"valid": False}, "agrees", ""),
        (INVALID, {"valid": True, "score": 0.5, "passes": False}, "differs", "valid: 0.5 fail"),
    ],
)
def test_an_answer_is_compared(case, answer, status, detail):
    assert compare(case, answer)[1:] == (status, detail)
    if answer:
        assert faults({"id": 1, **answer}, "answer") == []


def test_the_requests_have_the_form_of_requests():
    requests = [{"id": 0, "kind": "hello", "protocol": 1}, *({"id": 1, **case.request} for case in CASES)]
    assert [fault for request in requests for fault in faults(request, "request")] == []


def test_answers_may_come_in_any_order_and_missing_ones_are_told(tmp_path):
    answers = [{"id": 2, "findings": [FINDING]}, {"id": 1, "accepts": False}]
    report = run(program(tmp_path, answers), [OVERLAP, OVERLAP, OVERLAP])
    assert [outcome.status for outcome in report.outcomes] == ["agrees", "agrees", "no answer"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program"], "no-such-program: [Errno 2] No such file or directory: 'no-such-program'"),
        ([sys.executable, "-c", "print('hm')"], "this line of its output is no answer: hm"),
        ([sys.executable, "-c", "print('[1]')"], "this line of its output is no answer: [1]"),
        ([sys.executable, "-c", "exit(3)"], "it did not answer `hello` with its name and version (exit 3)"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "timed out after 0.5 seconds"),
    ],
)
def test_a_program_that_does_not_play_along_is_told(command, message):
    with pytest.raises(SystemExit, match=r".*") as told:
        run(command, [OVERLAP], seconds=0.5 if "time" in command[-1] else 60)
    assert str(told.value).endswith(message)


def test_the_tables_count_and_show_what_differs(tmp_path):
    ours = run(
        program(tmp_path, [{"id": 1, "accepts": False}, {"id": 2, "valid": True, "score": "4/5"}]), [OVERLAP, EXACT]
    )
    theirs = run(
        program(tmp_path, [{"id": 1, "accepts": True}, {"id": 2, "unsupported": "no | bands"}]), [OVERLAP, EXACT]
    )
    assert make_tables([ours._replace(name="rubric-lint"), theirs]).split("\n\n")[2::2] == [
        """\
| topic | tests | rubric-lint | other 1 |
| --- | --- | --- | --- |
| Rubrics in many notations | 1 | 1 of 1 | 0 of 1 |""",
        """\
| test | expected | other 1 |
| --- | --- | --- |
| overlap and coverage: two bands share 3 | overlap | accepted |""",
    ]


@pytest.mark.originals
def test_the_page_shows_what_the_other_programs_answer():
    if not shutil.which("node") or not all((CACHE / name).exists() for name in ("agreement", "originals")):
        pytest.skip("`make agreement` installs what this asks")
    reports = [ask(name) for name in DRIVERS]
    tables = make_tables(reports) + make_reasons(reports[[*DRIVERS].index("agentv")])
    assert tables in PAGE.read_text("utf-8"), "run `make conformance`"
