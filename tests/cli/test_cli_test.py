"""`rubric-test`: tests of rubrics on recorded judge outputs."""

# ruff: noqa: E501 (findings are compared whole, one a line)

import json
import re
from pathlib import Path

import commands
import pytest
from cases import read_cases
from chat_server import completion, serving
from jsonschema import Draft7Validator

from rubric_lint.cli.test.test import NO_TESTS
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import load_bundled, newest
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.meaning import hash_criteria

TABLES = read_cases(__file__)


RUBRIC = """\
rubrics:
  - id: accuracy
    weight: 2.0
    required_min_score: 7
    score_ranges:
      - {score_range: [0, 6], expected_outcome: States a period that the policy does not have}
      - {score_range: [7, 10], expected_outcome: States the period of the policy}
  - id: tone
    score_ranges: {0: Blames the customer, 5: Names what went wrong}
"""
WRONG = """\
  - id: wrong
    answer: Within 60 days.
    expect: {verdict: fail, gates: {accuracy: missed}, criteria: {accuracy: [0, 6]}}
"""
RIGHT = """\
  - id: right
    answer: Within 30 days.
    expect: {verdict: pass, score: [0.9, 1]}
"""
HEAD = "rubric: refund.rubric.yaml\ntests:\n"
TESTS = "refund.rubric-test.yaml"
pytestmark = pytest.mark.usefixtures("folder")


def output(accuracy, tone=10):
    return {"checks": [{"id": "accuracy", "score": accuracy}, {"id": "tone", "score": tone}]}


def write(name, text):
    Path(name).write_text(text, "utf-8")


def record(name="refund.judged.jsonl", **records):
    lines = [
        {"id": key, **record} if "output" in record else {"id": key, "output": record}
        for key, record in records.items()
    ]
    write(name, "".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def folder(folder):
    write("refund.rubric.yaml", RUBRIC)
    write("refund.rubric-test.yaml", HEAD + WRONG + RIGHT)
    record(wrong=output(2), right=output(10))
    return folder


def run(*arguments):
    """Run `rubric-test`: exit code, standard output, standard error."""
    done = commands.run("rubric-test", *arguments)
    return done.returncode, done.stdout, commands.complaint(done)


def report(*arguments):
    """The JSON report of a run."""
    return json.loads(run("--format", "json", *arguments)[1])


def findings(*arguments):
    """The findings of a run: line and code, and the messages one after another."""
    found = report(*arguments)["findings"]
    return [f"{each['start']['line']} {each['code']}" for each in found], "\n".join(each["message"] for each in found)


# running


def test_tests_pass_on_recorded_outputs_until_a_rubric_is_weakened_by_hand(said):
    said(run())
    write("refund.rubric.yaml", RUBRIC.replace("required_min_score: 7", "required_min_score: 1"))
    said(run()[:2])


def test_every_kind_of_expectation(said):
    record(wrong=output(8, 2), right=output(9, 5))
    codes, told = findings()
    assert codes == [
        *(f"5 unmet-expectation.{code}" for code in ("verdict", "gate", "criterion")),
        *(f"8 unmet-expectation.{code}" for code in ("verdict", "score")),
    ]
    assert told.count("borderline: score 0.") == 2
    said(told)


@pytest.mark.parametrize(
    ("score", "passes"),
    [
        ("0.8", True),
        ("[0.8, 1]", True),
        ("[0.5, 0.8]", True),
        ("[0.80000000000000001, 1]", False),
        ("[0, 0.79]", False),
    ],
)
def test_a_score_is_compared_exactly(score, passes):
    write("refund.rubric-test.yaml", HEAD + f"  - {{id: a, expect: {{score: {score}}}}}\n")
    record(a=output(7, 10))
    assert run()[0] == (0 if passes else 1)


CHECKED = ("- Names the day", {"checks": [{"id": "rubric-1", "satisfied": True}]})
LEVELS = ("- {id: a, levels: {1: Names no day, 3: Names the day}}", {"checks": [{"id": "a", "level": 3}]})
BANDS = "- {score_range: [0, 4], expected_outcome: Wrong}\n  - {score_range: [5, 10], expected_outcome: Right}"


@pytest.mark.parametrize(
    ("shape", "expected", "passes"),
    [
        (CHECKED, "rubric-1: true", True),
        (CHECKED, "rubric-1: false", False),
        (LEVELS, "a: [2, 4]", True),
        (LEVELS, "a: 1", False),
        ((BANDS, {"score": 7}), "overall: [5, 10]", True),
    ],
)
def test_each_shape_has_its_values(shape, expected, passes):
    rubric, given = shape
    write("refund.rubric.yaml", f"rubrics:\n  {rubric}\n")
    write("refund.rubric-test.yaml", HEAD + f"  - {{id: a, expect: {{criteria: {{{expected}}}}}}}\n")
    record(a=given)
    assert run()[0] == (0 if passes else 1)


VERSION_3 = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/v3/rubric.json
scale: [1, 5]
pass_threshold: 4
borderline_threshold: 3
grades: {A: 4.5, B: 3, C: 1}
criteria:
  - {id: tone, expected_outcome: Its tone is friendly, weight: 2, required_min_score: 2}
  - id: code
    required_min_score: 3
    applies_if: The answer has code
    criteria:
      - {id: runs, expected_outcome: The program runs, scale: [0, 1], weight: 3}
      - {id: style, expected_outcome: It reads well, scale: [0.0, 1.0]}
critical_failures: [Fabricates a source]
"""


def output_3(tone, runs=None, style=None, *, fabricates=False):
    """An output for it; None for what does not apply."""
    given = {"code/runs": ("satisfied", runs), "code/style": ("level", style)}
    parts = [
        {"id": name, **({"applicable": False} if value is None else {key: value})}
        for name, (key, value) in given.items()
    ]
    checks = [{"id": "tone", "level": tone}, *parts, {"id": "failure-1", "satisfied": fabricates}]
    return {"checks": checks}


@pytest.mark.parametrize(("expected", "codes"), TABLES["EXPECTED_3"].items(), ids=TABLES["EXPECTED_3"])
def test_expectations_on_a_rubric_of_version_3(expected, codes):
    write("refund.rubric.yaml", VERSION_3)
    write("refund.rubric-test.yaml", HEAD + f"  - {{id: a, expect: {{{expected}}}}}\n")
    record(a=output_3(4, runs=True, style=0.25))  # 3.25 / 4 in the group, (2 * 3/4 + 13/16) / 3 = 37/48
    assert [code.partition(" ")[2] for code in findings()[0]] == codes


def test_expectations_where_a_part_does_not_apply_or_a_failure_is_found(said):
    write("refund.rubric.yaml", VERSION_3)
    tests = (
        "  - {id: a, expect: {verdict: pass, groups: {code: n/a}, gates: {code: met}, criteria: {code/runs: n/a}}}\n"
        "  - {id: b, expect: {verdict: pass, groups: {code: 1}, criteria: {code/runs: true, code/style: 0.5}}}\n"
        "  - {id: c, expect: {verdict: fail, criteria: {failure-1: true, tone: 5}, rubric_grade: A, rubric_score: 5}}\n"
        "  - {id: d, expect: {verdict: pass, gates: {code: met}, groups: {code: [0.5, 1]}, rubric_grade: [A, B]}}\n"
    )
    write("refund.rubric-test.yaml", HEAD + tests)
    record(a=output_3(5), b=output_3(5), c=output_3(5, fabricates=True), d=output_3(2, runs=False, style=0.99))
    said(findings()[1])


def test_an_answer_to_which_nothing_applies_is_unscored(said):
    conditional = "{id: a, expected_outcome: Names the dose, applies_if: There is one}"
    write("refund.rubric.yaml", VERSION_3.splitlines()[0] + f"\ncriteria: [{conditional}]\n")
    tests = (
        "  - {id: a, expect: {verdict: unscored}}\n"
        "  - {id: b, expect: {verdict: [pass, unscored]}}\n"
        "  - {id: c, expect: {verdict: pass}}\n"
        "  - {id: d, expect: {verdict: unscored, score: 0}}\n"
        "  - {id: e, expect: {criteria: {a: n/a}}}\n"
    )
    write("refund.rubric-test.yaml", HEAD + tests)
    record(**{name: {"checks": [{"id": "a", "applicable": False}]} for name in "abcde"})
    codes, told = findings()
    assert codes == [f"{line} unmet-expectation.unscored" for line in (5, 6, 7)]
    said(told)


def test_the_median_of_several_outputs_counts():
    write("refund.rubric-test.yaml", HEAD + "  - {id: a, expect: {verdict: borderline, criteria: {accuracy: 7}}}\n")
    samples = [output(7, 6), output(2), output(10)]
    write("refund.judged.jsonl", json.dumps({"id": "a", "outputs": samples}) + "\n")
    assert run("--mutate")[0] == 0


def test_a_test_may_have_its_own_output_as_text():
    write(TESTS, HEAD + WRONG + f"    output: 'I think: {json.dumps(output(3))}'\n" + RIGHT)
    assert findings()[0] == ["6 unrecorded-test.invalid-output"]
    write(TESTS, HEAD + WRONG + f"    output: |\n      {json.dumps(output(3))}\n" + RIGHT)
    assert run()[0] == 0


def test_comments_silence_findings(said):
    record(wrong=output(2), right=output(8))
    ignore = "    expect: {verdict: pass, score: [0.9, 1]}  # rubric-lint: ignore[unmet-expectation, broken-test]\n"
    write("refund.rubric-test.yaml", HEAD + WRONG + RIGHT.replace(RIGHT.splitlines(keepends=True)[-1], ignore))
    code, out, _ = run("--format", "concise")
    assert code == 0
    said(out)


@pytest.mark.parametrize("form", ["full", "concise", "json", "sarif", "github", "gitlab", "junit", "agent", "vscode"])
def test_every_format_reports_findings_with_their_rule(form):
    record(wrong=output(2), right=output(8))
    code, out, _ = run("--format", form)
    assert code == 1
    assert "unmet-expectation" in out
    if form == "sarif":
        result = json.loads(out)["runs"][0]["results"][0]
        places = [related["physicalLocation"]["artifactLocation"]["uri"] for related in result["relatedLocations"]]
        assert {place.rpartition("/")[2] for place in places} == {"refund.rubric.yaml"}
    if form == "json":
        summary = json.loads(out)["summary"]
        assert [each["file"] for each in json.loads(out)["findings"][0]["related"]] == ["refund.rubric.yaml"] * 2
        assert [summary[name] for name in ("tests", "passed", "failed")] == [2, 1, 1]


def test_selected_rules_do_not_turn_tests_off():
    write("rubric-lint.toml", 'select = ["overlap"]\n')
    record(wrong=output(8), right=output(10))
    assert run()[0] == 1


# recordings that do not count


def stamp(text=RUBRIC):
    rubric = load_rubrics("refund.rubric.yaml", text)["refund"]
    return {"rubric_hash": rubric.hash, "criteria_hashes": hash_criteria(rubric.model, rubric.criteria)}


def judged(**records):
    record(**{name: {"output": given, "judge": stamp()} for name, given in records.items()})


@pytest.mark.parametrize(("before", "after", "told"), TABLES["only what a judge is told makes a recording stale"])
def test_only_what_a_judge_is_told_makes_a_recording_stale(before, after, told):
    judged(wrong=output(2), right=output(10))
    write("refund.rubric.yaml", RUBRIC.replace(before, after))
    codes, said = findings()
    assert codes == (["3 unrecorded-test.invalid", "6 unrecorded-test.invalid"] if told else [])
    assert said.count(told or "its recorded") == len(codes)
    assert told or run() == (0, "2 tests passed.\n", "")


@pytest.mark.parametrize("check", ["text", 3, None, {}, {"id": []}, {"id": {"a": 1}, "score": 3}])
def test_odd_checks_in_a_stale_recording_are_an_invalid_output(check):
    write(TESTS, HEAD + RIGHT)
    about = {**stamp(), "rubric_hash": "0123456789abcdef"}
    record(right={"output": {"checks": [check, *output(10)["checks"]]}, "judge": about})
    (code,), _ = findings()
    assert code == "3 unrecorded-test.invalid"


def test_a_recording_of_another_answer_does_not_count():
    record(wrong={"output": output(2), "answer": "Within 50 days."}, right=output(10))
    assert findings()[0] == ["3 unrecorded-test.invalid"]


@pytest.mark.parametrize(("texts", "shown", "changed"), TABLES["a judge must have seen exactly the texts of the test"])
def test_a_judge_must_have_seen_exactly_the_texts_of_the_test(texts, shown, changed):
    fields = texts.strip("{}").replace(", ", "\n    ")
    write(TESTS, f"{HEAD}  - id: right\n    {fields}\n    expect: {{verdict: pass}}\n")
    record(right={"output": output(10), "judge": stamp(), **shown})
    codes, told = findings()
    assert (codes, f"for another {changed};" in told) == (
        (["3 unrecorded-test.invalid"], True) if changed else ([], False)
    )


# bad input


# What is wrong: the file, its text and the codes of the findings.
BROKEN = TABLES["BROKEN"]
NAMES = {"test": TESTS, "rubric": "refund.rubric.yaml", "judged": "refund.judged.jsonl"}


@pytest.mark.parametrize("score", [".nan", "[.nan, 1]", "[0, .NaN]", "[-.inf, 1]", ".inf"])
def test_a_score_that_is_not_finite_is_out_of_bounds(score):
    write(TESTS, f"{HEAD}  - {{id: right, expect: {{score: {score}}}}}\n")
    (code,), told = findings()
    word = next(each for each in (".nan", ".NaN", "-.inf", ".inf") if each in score)
    assert (code, f" {word}," in told) == ("3 bounds.unexpected", True)


@pytest.mark.parametrize(("kind", "text", "codes"), BROKEN.values(), ids=BROKEN)
def test_bad_input_says_what_is_missing_and_computes_nothing(kind, text, codes, said):
    Path(NAMES[kind]).unlink() if text is None else write(NAMES[kind], text)
    found, told = findings("--coverage", "--mutate", TESTS)
    assert found[: len(codes)] == codes
    code, out, _ = run("--coverage", "--mutate")
    assert (code, "untested" in out) == (1, False)
    figures = [line for line in out.splitlines() if line.startswith(("Coverage", "Mutation"))]
    assert len(figures) == 2
    said(told, [line for line in figures if not line.endswith(": no test has a result.")])


@pytest.mark.parametrize("tested", ["'accuracy-0-2'", "'7'", "none"], ids=["similar", "string", "none"])
def test_the_recorded_id_of_another_test_is_not_suggested(tested, said):
    other = WRONG.replace("id: wrong", f"id: {tested}")
    missing = [RIGHT.replace("id: right", f"id: {name}") for name in ("accuracy-10", "7")]
    write(TESTS, HEAD + other + "".join(missing))
    record(**{"accuracy-0-2": output(2), "7": output(10)})
    codes, told = findings()
    assert sorted(codes)[-2:] == ["6 unrecorded-test.missing", "9 unrecorded-test.missing"]
    said(told)


@pytest.mark.parametrize(("own", "recorded"), [("7", "7"), ("'7'", 7)], ids=["number", "string"])
def test_an_id_of_another_type_is_recognized(own, recorded, said):
    write(TESTS, HEAD + f"  - {{id: {own}, expect: {{verdict: pass}}}}\n")
    write("refund.judged.jsonl", json.dumps({"id": recorded, "output": output(10)}))
    codes, told = findings()
    assert codes == ["3 unrecorded-test.missing"]
    said(told)


def test_tests_may_be_json():
    tests = {"rubric": "refund.rubric.yaml", "tests": [{"id": "wrong", "expect": {"score": [0, 0.5]}}]}
    write("more.rubric-test.json", json.dumps(tests))
    Path("refund.judged.jsonl").rename("more.judged.jsonl")
    assert run("more.rubric-test.json")[:2] == (0, "1 test passed.\n")


def test_anchors_and_merge_keys_are_read():
    write(
        "refund.rubric-test.yaml",
        HEAD
        + "  - &base\n    id: right\n    expect: {verdict: pass}\n  - {<<: *base, id: wrong, expect: {verdict: fail}}\n",
    )
    assert run()[0] == 0


def test_a_folder_without_tests_is_an_error():
    Path("refund.rubric-test.yaml").unlink()
    assert run()[::2] == (2, f"rubric-test: {NO_TESTS}\n")
    assert run("--force-exclude")[::2] == (0, "")


def test_a_hook_may_name_only_excluded_files(said):
    write("rubric-lint.toml", 'exclude = ["refund*"]\n')
    said(run("--force-exclude", TESTS))
    assert run("--force-exclude", ".")[0] == 0
    assert run()[0] == 2


# coverage, catch rate, mutation


def test_coverage_says_what_no_test_reaches(said):
    record(wrong=output(2), right=output(10))
    code, out, _ = run("--coverage", "--format", "concise")
    assert code == 0
    said(out)
    assert run("--coverage", "--fail-on", "warning")[0] == 1


def test_the_tests_of_all_files_count_together():
    write("more.rubric-test.yaml", HEAD + "  - {id: rude, expect: {verdict: fail}}\n")
    record("more.judged.jsonl", rude=output(3, 1))
    assert "reach 4 of 4 bands" in run("--coverage")[1]


def test_variants_of_one_text_count_as_one_planted_answer():
    tests = [
        f"  - {{id: w{number}, group: {group}, expect: {{gates: {{accuracy: missed}}}}}}\n"
        for number, group in enumerate("aab")
    ]
    write("refund.rubric-test.yaml", HEAD + "".join(tests) + RIGHT)
    record(w0=output(2), w1=output(8), w2=output(3), right=output(10))
    assert run("--catch-rate", "-q", "--format", "concise")[1].splitlines()[-2:] == [
        "Catch rate:",
        "  `accuracy`  1 of 2 caught, 50% (95% interval 1% to 99%)",
    ]


def test_what_does_not_apply_is_no_planted_answer_and_a_failure_is():
    write("refund.rubric.yaml", VERSION_3)
    expected = ("{criteria: {code/runs: n/a}}", "{criteria: {failure-1: true}}", "{criteria: {code/runs: false}}")
    tests = "".join(f"  - {{id: {name}, expect: {each}}}\n" for name, each in zip("abc", expected, strict=True))
    write("refund.rubric-test.yaml", HEAD + tests)
    record(a=output_3(5), b=output_3(5, fabricates=True), c=output_3(5, runs=False, style=1))
    rows = [line.split()[:5] for line in run("--catch-rate")[1].splitlines()[2:]]
    assert rows == [[name, "1", "of", "1", "caught,"] for name in ("`code/runs`", "`failure-1`")]


def test_twenty_of_twenty_caught_mean_at_least_83_percent():
    write(
        "refund.rubric-test.yaml", HEAD + "".join(f"  - {{id: w{n}, expect: {{verdict: fail}}}}\n" for n in range(20))
    )
    record(**{f"w{number}": output(1) for number in range(20)})
    assert "verdict  20 of 20 caught, 100% (95% interval 83% to 100%)" in run("--catch-rate")[1]


def test_mutation_reports_changes_that_no_test_notices_with_an_answer(said):
    said(run("--mutate")[1])


@pytest.mark.slow
def test_mutation_and_coverage_of_a_rubric_of_version_3(said):
    write("refund.rubric.yaml", VERSION_3)
    tests = (
        "  - {id: a, expect: {verdict: pass, groups: {code: n/a}}}\n"
        "  - {id: b, expect: {verdict: borderline, rubric_grade: B}}\n"
        "  - {id: c, expect: {verdict: fail, gates: {code: missed}}}\n"
    )
    write("refund.rubric-test.yaml", HEAD + tests)
    record(a=output_3(5), b=output_3(3, runs=True, style=0.5), c=output_3(5, runs=False, style=1))
    code, told, _ = run("--mutate", "--coverage", "--format", "concise")
    assert code == 0
    said(told)


@pytest.mark.parametrize("form", [lambda output: output, json.dumps], ids=["object", "text"])
def test_a_test_without_a_score_reaches_and_notices_a_condition(form):
    conditional = "{id: a, expected_outcome: Names the dose, required_min_score: 1, applies_if: There is one}"
    write("refund.rubric.yaml", VERSION_3.splitlines()[0] + f"\ncriteria: [{conditional}]\n")
    scored = "  - {id: a, expect: {verdict: pass}}\n  - {id: b, expect: {verdict: [fail, unscored]}}\n"
    checks = [{"satisfied": True}, {"satisfied": False}, {"applicable": False}]
    outputs = {name: {"checks": [{"id": "a", **check}]} for name, check in zip("abc", checks, strict=True)}
    record(**{name: form(output) for name, output in outputs.items()})
    condition = ["untested.not-applicable", "unnoticed-change.survives"]
    for test, missing in (("", condition), ("  - {id: c, expect: {verdict: unscored}}\n", [])):
        write("refund.rubric-test.yaml", HEAD + scored + test)
        codes, _ = findings("--mutate", "--coverage")
        assert sorted(code.partition(" ")[2] for code in codes) == sorted(missing)


def test_a_weight_in_a_group_changes_as_it_would_in_the_file():
    rubric = (
        VERSION_3.splitlines()[0]
        + """
pass_threshold: 0.5
criteria:
  - {id: g, criteria: [{id: a, expected_outcome: States the dose}, {id: b, expected_outcome: States the unit}]}
  - {id: c, expected_outcome: Names a source}
"""
    )
    write("refund.rubric.yaml", rubric)
    write("refund.rubric-test.yaml", HEAD + "  - {id: a, expect: {verdict: fail, groups: {g: 0.5}}}\n")
    given = {"g/a": True, "g/b": False, "c": False}
    record(a={"checks": [{"id": name, "satisfied": answer} for name, answer in given.items()]})
    told = findings("--mutate")[1]
    # The weight of the group stays 1: with `a` doubled, the score is 1/3 and never 1/2.
    assert "the weight of `g/a` is doubled" not in told
    assert "the weight of `c` is doubled" in told


def test_failing_tests_that_notice_no_change_are_counted(said):
    write("refund.rubric-test.yaml", HEAD + WRONG.replace("verdict: fail", "verdict: pass") + RIGHT)
    codes, _ = findings("--mutate")
    assert {code.split()[1] for code in codes} == {"unmet-expectation.verdict", "unnoticed-change.survives-passing"}
    said(run("--mutate", "--format", "concise")[1].splitlines()[-1])
    assert [each["failing"] for each in report("--mutate")["review"]["mutation"]] == [1]


def test_what_the_judge_gave_notices_no_change(said):
    write("refund.rubric-test.yaml", HEAD + "  - {id: wrong, expect: {criteria: {accuracy: 2}}}\n")
    said(run("--mutate", "--format", "concise")[1])


def test_the_junit_report_has_a_case_for_each_test():
    write(TESTS, HEAD + WRONG.replace("verdict: fail", "verdict: pass") + RIGHT)
    cases = r'<testcase classname="(.+?)" name="(.+?)"(/?)>'
    out = run("--format", "junit")[1]
    assert re.findall(cases, out) == [(TESTS, "wrong", ""), (TESTS, "right", "/")]
    Path("refund.rubric.yaml").unlink()
    assert re.findall(cases, run("--format", "junit")[1]) == [("rubric-lint", TESTS, "")]


def test_the_json_report_has_the_figures():
    found = report("--coverage", "--mutate", "--catch-rate")
    Draft7Validator(load_bundled("report/v1.json")).validate(found)
    low, rubric = pytest.approx(0.025, abs=1e-4), {"file": "refund.rubric.yaml", "rubric": "refund"}
    assert found["review"] == {
        "coverage": [
            {**rubric, "kind": "band", "targets": 4, "reached": 3},
            {**rubric, "kind": "gate", "targets": 2, "reached": 2},
        ],
        "mutation": [{**rubric, "made": 14, "equivalent": 0, "noticed": 2, "failing": 0, "reason": None}],
        "catch_rate": [
            {**rubric, "criterion": "accuracy", "planted": 1, "caught": 1, "interval": [low, 1]},
            {**rubric, "criterion": None, "planted": 1, "caught": 1, "interval": [low, 1]},
        ],
    }
    assert "review" not in report()


def test_rubrics_of_one_name_in_two_files_count_each(said):
    Path("more").mkdir()
    write("more/refund.rubric.yaml", RUBRIC)
    write("more/refund.rubric-test.yaml", HEAD + WRONG)
    record("more/refund.judged.jsonl", wrong=output(9))
    _, out, _ = run("--coverage", "--mutate", "--catch-rate", "--format", "concise")
    said(out)
    review = report("--mutate")["review"]["mutation"]
    files = [(each["file"], each["made"], each["noticed"]) for each in review]
    assert files == [("more/refund.rubric.yaml", 14, 0), ("refund.rubric.yaml", 14, 2)]


@pytest.mark.slow
def test_weights_too_fine_to_change_are_named_in_each_report(said):
    weights = "".join(
        f"  - {{id: c{n}, weight: {10**40 + 3**n}.{n}1, score_ranges: {{0: Leaves out {n}, 5: Names {n}}}}}\n"
        for n in range(9)
    )
    write("refund.rubric.yaml", "rubrics:\n" + weights)
    write("refund.rubric-test.yaml", HEAD + "  - {id: wrong, expect: {verdict: fail}}\n")
    record(wrong={"checks": [{"id": f"c{n}", "score": 1} for n in range(9)]})
    said(run("--mutate")[1])
    (mutation,) = report("--mutate")["review"]["mutation"]
    said(mutation["reason"])


def test_ignored_changes_are_not_reported():
    write("refund.rubric.yaml", RUBRIC.replace("score: 7", "score: 7  # rubric-lint: ignore[unnoticed-change]"))
    out = run("--mutate", "--format", "concise")[1]
    assert "the gate 7" not in out
    assert "findings ignored" in out


# record


def reply(asked):
    """Score the criteria that the prompt names: 9 each."""
    names = re.findall(r'(?m)^## Criterion "([^"]+)"', asked.body["messages"][0]["content"])
    return completion(json.dumps({"checks": [{"id": name, "reasoning": "So.", "score": 9} for name in names]}))


FIVE = "rubrics:\n" + "".join(
    f"  - {{id: c{number}, score_ranges: {{0: Names no day {number}, 5: Names day {number}}}}}\n" for number in range(5)
)


@pytest.mark.slow
def test_record_asks_for_what_is_missing_and_after_an_edit_only_for_that(said):
    write("refund.rubric.yaml", FIVE)
    tests = "".join(f"  - {{id: t{n}, answer: Day {n}., expect: {{verdict: pass}}}}\n" for n in range(4))
    write("refund.rubric-test.yaml", HEAD + tests)
    Path("refund.judged.jsonl").unlink()
    with serving(reply) as chat:
        call = ("--record", "--model", "m", "--base-url", chat.url)
        code, out, err = run(*call)
        assert (code, out) == (0, "4 tests passed.\n")
        said(err)
        assert len(chat.asked) == 4

        assert run(*call)[2].splitlines()[0].startswith("Nothing to record")
        assert len(chat.asked) == 4

        write(
            "refund.rubric.yaml",
            FIVE.replace("Names no day 3", "Leaves out day 3").replace("id: c1,", "id: c1, weight: 3,"),
        )
        code, out, err = run(*call)
        assert (code, out) == (0, "4 tests passed.\n")
        said(err)
        assert len(chat.asked) == 8
        prompts = [asked.body["messages"][0]["content"] for asked in chat.asked[4:]]
        assert [re.findall(r'(?m)^## Criterion "([^"]+)"', prompt) for prompt in prompts] == [["c3"]] * 4
    records = [json.loads(line) for line in Path("refund.judged.jsonl").read_text("utf-8").splitlines()]
    rubric = load_rubrics("refund.rubric.yaml", Path("refund.rubric.yaml").read_bytes())["refund"]
    assert sorted(record["id"] for record in records) == ["t0", "t1", "t2", "t3"]
    for record in records:
        assert [check["id"] for check in record["output"]["checks"]] == ["c0", "c1", "c2", "c3", "c4"]
        assert record["judge"]["rubric_hash"] == rubric.hash
        assert [kept["criteria"] for kept in record["judge"]["kept"]] == [["c0", "c1", "c2", "c4"]]


def test_a_limit_ends_the_recording_and_the_same_command_goes_on(said):
    write("refund.rubric.yaml", FIVE)
    write(
        "refund.rubric-test.yaml",
        HEAD + "".join(f"  - {{id: t{n}, answer: Day {n}., expect: {{verdict: pass}}}}\n" for n in range(4)),
    )
    Path("refund.judged.jsonl").unlink()
    with serving(reply) as chat:
        call = ("--record", "--model", "m", "--base-url", chat.url, "--max-requests", "3")
        for asked in (3, 4):
            said(run(*call)[2])
            assert len(chat.asked) == asked


@pytest.mark.slow
def test_with_a_limit_each_test_is_recorded_before_any_is_asked_for_again():
    write("refund.rubric.yaml", FIVE)
    write(
        "refund.rubric-test.yaml",
        HEAD + "".join(f"  - {{id: t{n}, answer: Day {n}., expect: {{verdict: pass}}}}\n" for n in range(4)),
    )
    Path("refund.judged.jsonl").unlink()
    with serving(completion("Nothing.")) as chat:
        call = ("--record", "--model", "m", "--base-url", chat.url, "--max-requests", "2", "--max-attempts", "1")
        for _ in range(3):
            run(*call, "--concurrency", "1")
    assert [asked.answer for asked in chat.asked] == [f"Day {n}." for n in (0, 1, 2, 3, 0, 1)]


def test_record_sends_what_the_options_say():
    write("refund.rubric.yaml", FIVE)
    write("refund.rubric-test.yaml", HEAD + "  - {id: t0, answer: Day 0., expect: {verdict: pass}}\n")
    Path("refund.judged.jsonl").unlink()
    with serving(reply) as chat:
        options = ["--seed", "7", "--max-tokens", "300", "--extra-body", '{"top_p": 0.5}', "--header", "x-team=blue"]
        assert run("--record", "--model", "m", "--base-url", chat.url, *options)[0] == 0
    (asked,) = chat.asked
    assert [asked.body[name] for name in ("seed", "max_tokens", "top_p")] == [7, 300, 0.5]
    assert asked.headers["x-team"] == "blue"


def test_record_keeps_other_records_and_says_what_it_cannot_judge(said):
    write("refund.rubric-test.yaml", HEAD + WRONG.replace("    answer: Within 60 days.\n", "") + RIGHT)
    record(other=output(3))
    with serving(reply) as chat:
        code, _, err = run("--record", "--model", "m", "--base-url", chat.url)
    assert code == 1
    said(err)
    assert [json.loads(line)["id"] for line in Path("refund.judged.jsonl").read_text("utf-8").splitlines()] == [
        "other",
        "right",
    ]


@pytest.mark.parametrize(("answer", "is_asked"), TABLES["record pays for no answer that is still to be written"])
def test_record_pays_for_no_answer_that_is_still_to_be_written(answer, is_asked):
    Path("refund.judged.jsonl").unlink()
    write("refund.rubric-test.yaml", HEAD + WRONG.replace("Within 60 days.", json.dumps(answer)) + RIGHT)
    with serving(reply) as chat:
        _, _, err = run("--record", "--model", "m", "--base-url", chat.url)
    assert len(chat.asked) == 1 + is_asked
    assert (f"{TESTS}: not recorded, as the `answer` is a placeholder" in err) is not is_asked


def test_two_rubrics_of_a_suite_may_share_a_file_of_outputs():
    write("suite.yaml", "tests:\n  - {id: a, rubrics: [Names the day]}\n  - {id: b, rubrics: [Names the year]}\n")
    for name in "ab":
        head = f"rubric: suite.yaml#{name}\noutputs: all.jsonl\ntests:\n"
        write(f"{name}.rubric-test.yaml", head + "  - {id: t, answer: May 1999, expect: {verdict: pass}}\n")
    checks = completion('{"checks": [{"id": "rubric-1", "reasoning": "So.", "satisfied": true}]}')
    with serving(checks) as chat:
        code, out, _ = run(
            "--record", "--model", "m", "--base-url", chat.url, "a.rubric-test.yaml", "b.rubric-test.yaml"
        )
        assert (code, out, len(chat.asked)) == (0, "2 tests passed.\n", 2)
    records = [json.loads(line) for line in Path("all.jsonl").read_text("utf-8").splitlines()]
    assert [(record["id"], record["rubric"]) for record in records] == [("t", "a"), ("t", "b")]


def test_an_output_that_stays_invalid_leaves_the_test_without_one(said):
    Path("refund.judged.jsonl").unlink()
    with serving(completion("I cannot judge this.")) as chat:
        code, out, err = run("--record", "--model", "m", "--base-url", chat.url, "--max-attempts", "1")
    assert (code, out.count("unrecorded-test")) == (1, 2)
    said(err.splitlines()[-1])


def test_a_verdict_alone_and_a_name_for_the_id_say_what_is_meant():
    entries = ["  - name: a # first\n    expect: pass # yes\n", '  - {"name": "b", "expect": "fail"}\n']
    data = ("rubric: a.rubric.yaml\ntests:\n" + "".join(entries)).encode()
    assert [(found.rule, found.pointer) for found in lint(TESTS, data, FileSettings(is_test_file=True)).findings] == [
        ("unknown-field", "/tests/0/name"),
        ("schema", "/tests/0/expect"),
        ("unknown-field", "/tests/1/name"),
        ("schema", "/tests/1/expect"),
    ]
    assert fix(TESTS, data, FileSettings(is_test_file=True), unsafe=True).text == (
        "rubric: a.rubric.yaml\ntests:\n  - id: a # first\n    expect:\n      verdict: pass # yes\n"
        '  - {"id": "b", "expect": {"verdict": "fail"}}\n'
    )


def test_init_writes_tests_of_recorded_outputs_that_pass_and_reach_each_band(said):
    Path(TESTS).unlink()
    record("all.jsonl", a=output(10), b=output(9), c=output(2), d=output(7, 3), e=output(6, 8))
    code, _, err = run("init", "refund.rubric.yaml", "all.jsonl")
    assert (code, err) == (0, f"Wrote 3 tests to {TESTS}. Run them:\n  rubric-lint test {TESTS}\n")
    schema, *lines = Path(TESTS).read_text("utf-8").splitlines()
    assert f"{schema}\n" == newest("rubric-test").modeline
    assert lines[:4] == ["rubric: refund.rubric.yaml", "outputs: all.jsonl", "tests:", "  - id: a"]
    said(run("--coverage")[:2])


def test_init_of_a_rubric_of_version_3_writes_tests_that_pass(said):
    write("refund.rubric.yaml", VERSION_3)
    given = {"a": output_3(5), "b": output_3(3, runs=True, style=0.5), "c": output_3(1, runs=False, style=1)}
    write(
        "refund.judged.jsonl", "".join(json.dumps({"id": name, "output": each}) + "\n" for name, each in given.items())
    )
    Path(TESTS).unlink()
    done = commands.run("rubric-lint", "test", "init", "refund.rubric.yaml", "refund.judged.jsonl")
    assert (done.returncode, run()[0]) == (0, 0)
    Path("refund.judged.jsonl").unlink()
    started = Path(TESTS).read_text("utf-8")
    Path(TESTS).unlink()
    assert commands.run("rubric-lint", "test", "init", "refund.rubric.yaml").returncode == 0
    said(started, Path(TESTS).read_text("utf-8"), commands.complaint(done))


def test_init_says_what_no_output_reaches(said):
    said(run("init", "refund.rubric.yaml", "refund.judged.jsonl", "--output", "-")[2])


def test_init_without_outputs_writes_an_outline_to_fill_in():
    code, out, err = run("init", "refund.rubric.yaml", "--output", "-")
    assert (code, err) == (0, "")
    write(TESTS, out)
    _, told = findings()
    names = ["accuracy-0-6", "accuracy-7-10", "tone-0-4", "tone-5-10"]
    assert re.findall(r"(?m)^test `([\w-]+)`", told) == names


def test_init_of_one_rubric_of_a_suite():
    write("suite.yaml", "tests:\n  - {id: a, rubrics: [Names the day]}\n  - {id: b, rubrics: [Names the year]}\n")
    assert run("init", "suite.yaml#a")[0] == 0
    assert Path("suite.a.rubric-test.yaml").read_text("utf-8").splitlines()[1] == "rubric: suite.yaml#a"


# the linter


def call_linter(*arguments):
    return commands.run("rubric-lint", *arguments)


def test_the_linter_checks_the_form_of_test_files_and_counts_the_tests(said):
    sound = call_linter("--no-cache", TESTS)
    said(call_linter("--isolated", "--no-cache").stdout, sound.stdout, [call_linter().stdout for _ in range(2)])
    assert sound.stderr == ""
    write(TESTS, HEAD + RIGHT.replace("verdict", "verdct"))
    said(call_linter("--no-cache", TESTS).stdout)


def test_the_linter_neither_takes_rules_that_it_never_reports_nor_calls_comments_on_them_unused():
    assert call_linter("--no-cache", "--select", "untested,overlap").returncode == 0
    write("refund.rubric.yaml", RUBRIC.replace("score: 7", "score: 7  # rubric-lint: ignore[unnoticed-change]"))
    assert "unused-ignore" not in call_linter("--no-cache").stdout
