"""What got worse between two runs of `rubric-score`, in text and JSON, and the limits that decide by intervals."""

import json

import commands
import pytest
from jsonschema import Draft7Validator

from rubric_lint.assess.diff.compare_runs import ONLY
from rubric_lint.model.schema_files import load

RUBRIC = """\
rubrics:
  - {id: accuracy, weight: 2, required_min_score: 5, score_ranges: {0: Contradicts the source., 5: Agrees with it.}}
  - {id: tone, score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}}
"""
OLDER = RUBRIC.replace("required_min_score: 5, ", "")
NEVER = "--fail-on=never"


def answer(name, accuracy, tone):
    return {"id": name, "output": {"checks": [{"id": "accuracy", "score": accuracy}, {"id": "tone", "score": tone}]}}


def many(good, bad=0, invalid=0, *, start=0):
    kinds = [(9, 9)] * good + [(9, 1)] * bad + [(11, 11)] * invalid
    return [answer(f"a{start + number}", *kind) for number, kind in enumerate(kinds)]


@pytest.fixture
def run(folder):
    def run(now, *args, was=None, rubric=RUBRIC):
        (folder / "r.rubric.yaml").write_text(rubric)  # one in JSON is YAML too
        for name, records in (("now", now), ("was", was)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records or ()))
        other = ["--compare", "was.jsonl"] if was else []
        found = commands.run("rubric-lint", "score", "r.rubric.yaml", "now.jsonl", *other, *args)
        return found.returncode, found.stdout, found.stderr

    return run


def read(found):
    report = json.loads(found[1])
    assert [*Draft7Validator(load("scores/v1.json")).iter_errors(report)] == []
    return report


WAS = [answer(*each) for each in zip("abcdef", (9, 9, 4, 9, 9, 11), (9, 9, 9, 9, 9, 1), strict=True)]
NOW = [answer(*each) for each in zip("abcdefg", (9, 8, 9, 4, 11, 11, 1), (9, 9, 9, 10, 9, 1, 1), strict=True)]


def test_the_json_report_says_which_answers_and_criteria_got_worse_and_by_how_much(run, said):
    said(json.dumps(read(run(NOW, NEVER, "--format", "json", was=WAS))["comparison"], indent=1))


def test_the_summary_says_the_same_in_a_table_and_beside_json_lines(run, said):
    summary = run(NOW, NEVER, "--format", "table", was=WAS)[1].partition("compared with ")[2]
    said(summary)
    _, _, told = run(NOW, NEVER, was=WAS)
    assert f"compared with {summary}" in told.replace("rubric-lint: ", "")
    assert "worse" not in run(NOW, NEVER, "-q", was=WAS)[2]


def test_records_that_cannot_be_joined_are_counted_and_named(run, said):
    nameless = {"output": answer("", 1, 1)["output"]}
    was = [*WAS, answer("a", 1, 1), answer("a", 2, 2), answer("b", 1, 1), nameless]
    now = [*NOW, answer("g", 1, 1), nameless, {"output": answer("", 11, 1)["output"]}]
    said(read(run(now, NEVER, "--format", "json", was=was))["comparison"]["left_out"])
    for options in ([], ["--format", "table"], ["-q"]):
        _, table, told = run(now, NEVER, *options, was=was)
        said([line for line in (table + told).splitlines() if "left out" in line])
    found = read(run(many(3), NEVER, "--format", "json", was=many(2)))["comparison"]["left_out"]
    assert found == [{"run": "now", "reason": ONLY, "count": 1, "records": ["a2 (line 3)"]}]


def test_the_same_results_as_floats_are_the_same(run):
    """Results have scores as floats, and ours are exact: 0.9 is not 9/10 to a fraction."""
    _, results, _ = run(WAS, NEVER)
    found = read(run(WAS, NEVER, "--format", "json", was=[json.loads(line) for line in results.splitlines()]))
    assert [found["comparison"][name] for name in ("worse", "better", "same")] == [0, 0, 5]


def test_an_answer_that_only_the_rubric_makes_worse_is_listed(run):
    _, results, _ = run([answer("a", 4, 10)], NEVER, rubric=OLDER)
    found = read(run([answer("a", 4, 10)], NEVER, "--format", "json", was=[json.loads(results)]))
    worse = found["comparison"]["worse_answers"]
    assert [(each["old"]["verdict"], each["new"]["verdict"], each["criteria"]) for each in worse] == [
        ("borderline", "fail", [{"id": "accuracy", "old": 4, "new": 4, "gate_missed": True}])
    ]


def test_a_criterion_that_costs_points_gets_worse_upward(run):
    texts = [("Names the height of the tower.", 5), ("Invents a date of construction.", -3)]
    criteria = [{"criterion": text, "points": points, "tags": []} for text, points in texts]
    prompt = [{"role": "user", "content": "Is the tower tall?"}]
    rubric = json.dumps({"prompt_id": "p1", "prompt": prompt, "rubrics": criteria})
    good, bad = (
        {
            "id": "x",
            "output": {"checks": [{"id": "rubric-1", "satisfied": True}, {"id": "rubric-2", "satisfied": each}]},
        }
        for each in (False, True)
    )
    found = read(run([bad], NEVER, "--format", "json", was=[good], rubric=rubric))["comparison"]
    assert [answer["criteria"] for answer in found["worse_answers"]] == [
        [{"id": "rubric-2", "old": False, "new": True, "gate_missed": False}]
    ]
    assert [(criterion["id"], criterion["worse"], criterion["better"]) for criterion in found["criteria"]] == [
        ("rubric-1", 0, 0),
        ("rubric-2", 1, 0),
    ]


@pytest.mark.slow
def test_the_answers_that_lost_most_come_first_and_the_others_are_counted(run):
    was = [answer(f"a{number}", 9, 9) for number in range(1100)]
    now = [answer(f"a{number}", 9, 8 if number != 1050 else 0) for number in range(1100)]
    found = read(run(now, NEVER, "--format", "json", was=was))["comparison"]
    assert [answer["id"] for answer in found["worse_answers"][:3]] == ["a1050", "a0", "a1"]
    assert (len(found["worse_answers"]), found["worse_answers_left_out"], found["worse"]) == (1000, 100, 1100)
    _, told, _ = run(now, NEVER, "--format", "table", was=was)
    assert told.count("  worse: ") == 20
    assert "  ... and 1,080 more that got worse; --format json lists them\n" in told


LIMITS = {
    "all pass, of few": (many(10), "--min-pass-share=.8", 0, ("undecided", 10, 10, 17)),
    "all pass, of enough": (many(17), "--min-pass-share=.8", 0, ("kept", 17, 17, None)),
    "too few pass": (many(5, 15), "--min-pass-share=.8", 1, ("broken", 5, 20, None)),
    "none is valid": (many(0, 0, 3), "--min-pass-share=.8 --allow-invalid", 1, ("broken", 0, 0, None)),
    "invalid ones are not in the share": (
        many(17, 0, 9),
        "--min-pass-share=.8 --allow-invalid",
        0,
        ("kept", 17, 17, None),
    ),
    "undecided under doubt": (many(10), "--min-pass-share=.8 --fail-under-doubt", 1, ("undecided", 10, 10, 17)),
    "one verdict fails, and that is asked for": (
        many(17, 1),
        "--min-pass-share=.2 --fail-on=borderline",
        1,
        ("kept", 17, 18, None),
    ),
    "few are invalid": (many(99, 0, 1), "--max-invalid-share=.1", 0, ("kept", 1, 100, None)),
    "many are invalid": (many(80, 0, 20), "--max-invalid-share=.1", 1, ("broken", 20, 100, None)),
    "some are invalid": (many(46, 0, 4), "--max-invalid-share=.1", 0, ("undecided", 4, 50, 875)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_share_is_decided_by_its_interval(run, name):
    now, args, code, expected = LIMITS[name]
    found = run(now, "--format", "json", *args.split())
    (limit,) = read(found)["limits"]
    assert (found[0], tuple(limit[each] for each in ("decision", "x", "n", "needed"))) == (code, expected)
    assert limit["option"] in found[2]


WORSE = {
    "nothing changed": (many(9), many(9), 0, ("kept", 0, 0)),
    "two got worse": (many(7, 2), many(9), 0, ("undecided", 2, 2)),
    "six got worse": (many(4, 6), many(10), 1, ("broken", 6, 6)),
    "six got better": (many(10), many(4, 6), 0, ("kept", 0, 6)),
    "as many got worse as better": (many(5, 5), [*many(0, 5), *many(5, start=5)], 0, ("undecided", 5, 10)),
    "nothing is compared": (many(9), many(9, start=100), 1, ("broken", 0, 0)),
}


@pytest.mark.parametrize("name", WORSE)
def test_a_run_is_worse_if_more_answers_got_worse_than_better(run, name):
    now, was, code, expected = WORSE[name]
    found = run(now, "--format", "json", "--fail-on-worse", was=was)
    (limit,) = read(found)["limits"]
    assert (found[0], (limit["decision"], limit["x"], limit["n"])) == (code, expected)
    in_doubt = run(now, "--fail-on-worse", "--fail-under-doubt", was=was)
    assert in_doubt[0] == int(expected[0] != "kept")


QUIET = {
    "kept": (many(17), None, "--min-pass-share=.8", []),
    "kept, with an invalid output": (many(99, 0, 1), None, "--max-invalid-share=.1", []),
    "undecided": (many(10), None, "--min-pass-share=.8", ["--min-pass-share"]),
    "broken": (many(5, 15), None, "--min-pass-share=.8", ["--min-pass-share"]),
    "invalid, undecided": (
        many(0, 0, 1),
        None,
        "--max-invalid-share=.1",
        ["invalid", "1 output", "--max-invalid-share"],
    ),
    "worse, undecided": (many(7, 2), many(9), "--fail-on-worse", ["--fail-on-worse"]),
    "worse, kept": (many(9), many(9), "--fail-on-worse", []),
}


@pytest.mark.parametrize("name", QUIET)
def test_a_quiet_run_names_each_limit_that_is_not_kept(run, name):
    now, was, option, expected = QUIET[name]
    more = {} if was is None else {"was": was}
    lines = run(now, option, "-q", **more)[2].splitlines()
    begins = [line.removeprefix("rubric-score: ").removeprefix("rubric-lint: ") for line in lines]
    assert len(begins) == len(expected)
    assert [line.startswith(word) for line, word in zip(begins, expected, strict=True)] == [True] * len(expected)


def test_invalid_outputs_are_counted_by_cause(run):
    records = [*many(1, 0, 3), {"id": "x", "output": "none"}, {"id": "y", "output": "nothing"}]
    found = run(records, NEVER, "--format", "json")
    assert [(each["message"][:18], each["outputs"]) for each in read(found)["invalid"]] == [
        ("score 11 is outsid", 3),
        ("in the raw text: n", 2),
    ]


def test_limits_are_told_with_the_value_the_interval_and_what_to_do(run, said):
    for now, args in (
        (many(5, 15), ["--min-pass-share=.8"]),
        (many(10), ["--min-pass-share=.8", "--fail-under-doubt"]),
        (many(99, 0, 1), ["--max-invalid-share=.1"]),
        (many(0, 0, 1), ["--min-pass-share=.8", "--allow-invalid"]),
    ):
        said(run(now, *args)[2])
    said(run(many(4, 6), "--fail-on-worse", "-q", was=many(10))[2])
    said(run(many(5, 5), "--fail-on-worse", "--fail-on=never", was=many(10, start=5))[2])
