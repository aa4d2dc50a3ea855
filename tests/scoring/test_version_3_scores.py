"""Scores of version 3: what an answer comes to by every way that outputs are read, and by an independent scorer."""

import csv
import json
from dataclasses import replace
from fractions import Fraction
from random import Random

import commands
import pytest
from chat_server import completion, serving
from exports import as_json
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import KEY
from random_3 import cases, random_output, random_rubric
from random_outputs import cases as cases_2
from random_outputs import load as load_2
from random_outputs import spell
from reference_3 import score as score_3
from rubric_3 import BEST, LEFT_OUT, NO_CODE, NOTHING, REPLY, SCHEMA, load, of

from rubric_lint.arrow import map_batches
from rubric_lint.judge.prompt import JudgedCase, as_text, keep_criteria, output_schema, write_prompt
from rubric_lint.scoring import OutputError, load_rubrics, score, score_samples
from rubric_lint.scoring.grading import NOT_APPLICABLE, NothingAppliesError, RubricError, is_unscored
from rubric_lint.scoring.output import OutputReader, reader_of
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals

RUBRIC = load(REPLY)


def read(rubric, given):
    """The score, the verdict, the grade and the units of an output; None if nothing applies."""
    try:
        found = score(rubric, given)
    except NothingAppliesError:
        return None
    return found.score, str(found.verdict), found.rubric_grade, found.rubric_score


# Laws


@pytest.mark.slow
@given(cases())
@settings(max_examples=5 * settings().max_examples)
def test_an_answer_comes_to_what_the_reference_says(case):
    rubric, given = case
    expected = score_3(rubric, given)
    found = read(load(rubric), given)
    assert found == (
        None if expected.score is None else (expected.score, expected.verdict, expected.grade, expected.units)
    )


@pytest.mark.spread(3)
@pytest.mark.parametrize("seed", range(20))
def test_groups_and_texts_come_to_what_the_reference_says(seed):
    dice = Random(seed)  # noqa: S311
    plain = random_rubric(dice)
    rubric = load(plain)
    for _ in range(5):
        given = random_output(dice, plain)
        expected = score_3(plain, given)
        if expected.score is None:
            with pytest.raises(NothingAppliesError):
                score(rubric, json.dumps(given))
            continue
        found = reader_of(rubric).read(json.dumps(given)).scored
        assert {group.group.id: group.score for group in found.groups} == expected.groups
        assert json.loads(f"{{{found.text}}}") == found.to_json()


@pytest.mark.slow
@given(cases_2(), st.data())
@settings(max_examples=5 * settings().max_examples)
def test_a_rubric_of_version_2_has_the_same_results_in_version_3(case, data):
    _, entries, given = case
    older = load_2(entries)
    (newer,) = load_rubrics("r.rubric.json", json.dumps({"$schema": SCHEMA, **json.loads(as_json(entries))})).values()
    assert newer.hash == older.hash
    assert newer.form == older.form
    assert score(newer, given).to_json() == score(older, given).to_json()
    order = data.draw(st.permutations([criterion.id for criterion in older.criteria]))
    case = JudgedCase("An answer")
    assert as_text(write_prompt(keep_criteria(newer, order), case)) == as_text(
        write_prompt(keep_criteria(older, order), case)
    )
    assert output_schema(newer) == output_schema(older)


@pytest.mark.spread(3)
@pytest.mark.parametrize("seed", [21, 0, 1, 58, *range(2, 18)])
def test_outputs_of_the_very_form_are_read_as_any_other(seed):
    dice = Random(seed)  # noqa: S311
    plain = random_rubric(dice)
    quick, slow = OutputReader(load(plain)), OutputReader(load(plain))
    slow._types = None
    for rate in (0, 0, 0.02, 0.05):
        text = spell(random_output(dice, plain), dice, rate)
        assert tell(quick, text) == tell(slow, text)


def tell(reader, text):
    """What a reader makes of a text, and of what it holds."""
    found = []
    for read in (lambda: reader.read(text), lambda: reader.read_object(json.loads(text))):
        try:
            found.append(read().result.to_json())
        except OutputError as fault:
            found.append((fault.message, fault.path))
        except ValueError:  # not JSON
            found.append(None)
    return found


# One answer


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ({}, (Fraction(1), "pass", "A", 5)),
        ({"polite": LEFT_OUT}, (Fraction(1), "pass", "A", 5)),
        ({"accuracy": {"level": 4}}, (Fraction(29, 32), "pass", "A", Fraction(37, 8))),
        ({"accuracy": {"level": 3}}, (Fraction(13, 16), "fail", "C", Fraction(17, 4))),
        ({"failure-1": {"satisfied": True}}, (Fraction(1), "fail", "A", 5)),
        ({"code/style": {"level": 0.85}}, (Fraction(157, 160), "pass", "A", Fraction(197, 40))),
        ({"code/harm": {"satisfied": True}}, (Fraction(7, 8), "pass", "C", Fraction(9, 2))),
        ({"code/harm": {"satisfied": True}, "code/1": {"level": 1}}, (Fraction(3, 4), "fail", "C", 4)),
        (NO_CODE, (Fraction(1), "pass", "A", 5)),
        (NO_CODE | {"flow": {"score": 0}, "polite": LEFT_OUT}, (Fraction(4, 5), "pass", "C", Fraction(21, 5))),
        ({"accuracy": {"level": 5, "applicable": True}}, (Fraction(1), "pass", "A", 5)),
        (
            {**NO_CODE, "accuracy": {"level": 1}, "method": {"level": 1}, "flow": {"score": 0}, "polite": LEFT_OUT},
            (Fraction(0), "fail", None, 1),
        ),
    ],
)
def test_what_answers_come_to(checks, expected):
    assert read(RUBRIC, of(checks)) == expected


RANKED = {
    "scale": [1, 5],
    "pass_threshold": 3.5,
    "borderline_threshold": 3,
    "criteria": [
        {"id": "accuracy", "expected_outcome": "Every figure is in the source", "weight": 3, "required_min_score": 4},
        {"id": "method", "expected_outcome": "The sample", "levels": {1: "Not said", 3: "Said", 5: "With reasons"}},
        {"id": "points", "expected_outcome": "Defines the term", "scale": [0, 5], "weight": 5},
        {"id": "rank", "scale": [3, 1], "levels": {1: "A known document", 2: "In part", 3: "None"}},
    ],
}
LADDER = {"levels": {0: "Absent", 1: "A faint hint", 2: "Clearly present"}, "criteria": ["Empathy", "Praise"]}
LOSSES = {
    "criteria": [
        {"id": "dose", "expected_outcome": "States the dose", "weight": 5},
        {"id": "harm", "expected_outcome": "Names a wrong dose", "weight": -5},
        {"id": "figures", "expected_outcome": "Figures match", "applies_if": "The summary states a figure"},
        {"id": "flow", "scale": [0, 100], "score_ranges": {0: "Jumps", 50: "Follows"}},
    ],
    "critical_failures": ["Fabricates a source"],
}
GROUPS = {
    "pass_threshold": "100%",
    "grades": {"A": "90%", "C": "50%", "F": 0},
    "criteria": [
        {"id": "code", "weight": 0.35, "required_min_score": 0.5, "criteria": ["The file exists", "The program runs"]},
        {"id": "style", "weight": 0.65, "criteria": ["No unused imports", "Types are right"]},
    ],
}


def output(**answers):
    """An output from ids (`__` is a slash, `_` a hyphen) and a field with its value each."""
    return {
        "checks": [
            {"id": name.replace("__", "/").replace("_", "-"), field: value} for name, (field, value) in answers.items()
        ]
    }


def losses(*, harm=False, figures=("satisfied", True), flow=100, failure=False):
    return output(
        dose=("satisfied", True),
        harm=("satisfied", harm),
        figures=figures,
        flow=("score", flow),
        failure_1=("satisfied", failure),
    )


def groups(*answers):
    names = ("code__1", "code__2", "style__1", "style__2")
    return output(**{name: ("satisfied", bool(answer)) for name, answer in zip(names, answers, strict=True)})


def reply(accuracy, method, points, rank):
    return output(
        accuracy=("level", accuracy), method=("level", method), points=("level", points), rank=("level", rank)
    )


@pytest.mark.parametrize(
    ("rubric", "given", "expected"),
    [
        (RANKED, reply(5, 5, 5, 1), ("1", "pass", None)),
        (RANKED, reply(4, 2, 3, 3), ("11/20", "borderline", None)),  # (3 * 3/4 + 1/4 + 5 * 3/5 + 0) / 10
        (RANKED, reply(3, 5, 5, 1), ("17/20", "fail", None)),
        (LADDER, output(rubric_1=("level", 2), rubric_2=("level", 1)), ("3/4", "borderline", None)),
        (LOSSES, losses(), ("1", "pass", None)),
        (LOSSES, losses(harm=True), ("2/7", "fail", None)),
        (LOSSES, losses(figures=("applicable", False), flow=50), ("11/12", "pass", None)),
        (LOSSES, losses(failure=True), ("1", "fail", None)),
        (GROUPS, groups(1, 1, 1, 1), ("1", "pass", "A")),
        (GROUPS, groups(1, 0, 1, 1), ("33/40", "fail", "C")),
        (GROUPS, groups(0, 0, 1, 1), ("13/20", "fail", "C")),
    ],
)
def test_a_sum_done_by_hand(rubric, given, expected):
    assert read(load(rubric), given)[:3] == (Fraction(expected[0]), *expected[1:])


@pytest.mark.parametrize(
    ("checks", "path", "message"),
    [
        ({"accuracy": {"level": 4.5}}, "0/level", 'level 4.5 of "accuracy" is not allowed: the levels are 1 to 5'),
        ({"accuracy": {"level": 6}}, "0/level", 'level 6 of "accuracy" is not allowed: the levels are 1 to 5'),
        (
            {"accuracy": {"score": 5}},
            "0/score",
            '`score` is not the answer to "accuracy"; expected `level` with 1 to 5',
        ),
        ({"accuracy": {}}, "0", "missing field `level`; expected `level` with 1 to 5"),
        ({"accuracy": {"level": "5"}}, "0/level", '`level` is the string "5", expected a number'),
        ({"accuracy": {"level": True}}, "0/level", "`level` is true, expected a number"),
        (
            {"accuracy": LEFT_OUT},
            "0/applicable",
            '"accuracy" always applies: the rubric states no condition for it; expected `level` with 1 to 5',
        ),
        (
            {"polite": {"satisfied": True, **LEFT_OUT}},
            "2/satisfied",
            "`satisfied` next to `applicable: false`: unclear which one counts; remove one",
        ),
        (
            {"polite": {"applicable": True}},
            "2",
            "missing field `satisfied`; expected `satisfied` with true or false, or `applicable: false`",
        ),
        ({"polite": {"satisfied": 1}}, "2/satisfied", "`satisfied` is 1, expected true or false"),
        ({"polite": {"applicable": "no"}}, "2/applicable", '`applicable` is the string "no", expected true or false'),
        ({"flow": {"score": 101}}, "3/score", 'score 101 of "flow" is not allowed: the bands cover 0 to 100'),
        (
            {"code/style": {"level": 0.855}},
            "5/level",
            'level 0.855 of "code/style" is not allowed: the levels are 0.0 to 1.0, with at most two decimals',
        ),
        ({"accuracy": {"level": 5, "satisfied": True}}, "0/satisfied", '`satisfied` is not the answer to "accuracy"'),
        (
            {"polite": {"satisfied": True, "Satisfied": False}},
            "2/Satisfied",
            "`Satisfied` next to the answer: unclear which one counts; remove one",
        ),
    ],
)
def test_an_answer_in_another_form_is_an_error(checks, path, message):
    with pytest.raises(OutputError) as caught:
        score(RUBRIC, of(checks))
    assert (caught.value.path, caught.value.message[: len(message)]) == (f"/checks/{path}", message)


@pytest.mark.parametrize("number", ["9007199254740993.5", "0.99999999999999999999", "1e-400", "1.00000000000000000001"])
def test_a_number_that_a_float_would_round_to_an_answer_is_none(number):
    text = json.dumps(of({"code/style": {"level": 0.25}})).replace("0.25", number)
    for entry in (text, json.dumps({"id": 1, "output": "TEXT"}).replace('"TEXT"', text)):
        found = Scorer({"reply": RUBRIC}).score(entry.encode(), 1)
        assert (found.scored, found.error and found.error.path) == (None, "/checks/5/level")
    with pytest.raises(OutputError, match=r"is not allowed: the levels are 0\.0 to 1\.0, with at most two decimals"):
        reader_of(RUBRIC).read(text)


def test_errors_of_all_checks_are_counted():
    faulty = {"accuracy": {"level": 9}, "method": {"score": 1}, "flow": LEFT_OUT, "code/harm": {"level": 1}}
    with pytest.raises(OutputError, match=r"\(and 3 more errors\)$"):
        score(RUBRIC, of(faulty))


def test_a_result_says_what_does_not_apply_and_what_groups_come_to():
    found = score(RUBRIC, of(NO_CODE | {"method": {"level": 3}})).to_json()
    assert [(criterion["id"], criterion["raw"], criterion["score"]) for criterion in found["criteria"][3:6]] == [
        ("flow", 100, 1.0),
        ("code/1", "n/a", None),
        ("code/style", "n/a", None),
    ]
    assert found["groups"] == [{"id": "code", "score": None, "weight": 2.0, "gate": 0.25, "gate_met": True}]
    assert (found["rubric_score"], found["rubric_grade"], found["shape"]) == (4.666666666666667, "A", "mixed")
    missed = score(RUBRIC, of({"code/harm": {"satisfied": True}, "code/1": {"level": 1}}))
    assert missed.gates_missed == ("code",)


def test_groups_that_only_weigh_have_results_too():
    rubric = load(
        {"criteria": ["One", {"id": "g", "weight": 3, "criteria": ["Two", {"id": "h", "criteria": ["Three"]}]}]}
    )
    met = {"rubric-1": True, "g/1": True, "g/h/1": False}
    found = score(rubric, {"checks": [{"id": name, "satisfied": value} for name, value in met.items()]})
    assert (rubric.varies, rubric.form, found.score) == (False, "v2/checklist", Fraction(5, 8))
    assert [(group.group.id, group.score) for group in found.groups] == [("g", Fraction(1, 2)), ("g/h", Fraction(0))]


def test_a_weight_is_that_of_the_file_and_only_the_share_is_computed():
    rubric = {
        "criteria": [{"id": "code", "weight": 0.7, "criteria": ["One", {"id": "two", "expected_outcome": "Two"}]}]
    }
    rubric["criteria"][0]["criteria"][1]["weight"] = 2
    rubric["criteria"].append({"id": "style", "weight": 0.3, "criteria": ["Three", "Four"]})
    whole = load(rubric)
    rubric["criteria"][0]["required_min_score"] = 0.5
    for found in (whole, load(rubric)):
        weights = [(str(criterion.weight), criterion.share) for criterion in found.criteria]
        assert weights == [
            ("1", Fraction(7, 30)),
            ("2", Fraction(14, 30)),
            ("1", Fraction(3, 20)),
            ("1", Fraction(3, 20)),
        ]
    assert (whole.full, whole.hash) == (60, "b853687136dcae21")
    given = {"checks": [{"id": criterion.id, "satisfied": True} for criterion in whole.criteria]}
    assert [criterion["weight"] for criterion in score(whole, given).to_json()["criteria"]] == [1, 2, 1, 1]


def test_an_output_to_which_nothing_applies_is_counted_and_no_error_of_the_judge(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({"$schema": SCHEMA, "rubrics": NOTHING}), "utf-8")
    left_out = {"checks": [{"id": "rubric-1", "applicable": False}]}
    records = [{"id": 1, "output": left_out}, {"id": 2, "output": {"checks": [{"id": "rubric-1", "satisfied": True}]}}]
    records.append({"id": 3, "outputs": [records[1]["output"], left_out]})
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    done = commands.run("rubric-score", "r.json", "o.jsonl", "--format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    reason = "no score: no criterion that earns points applies to this answer"
    errors = [result.get("error", {}).get("message") for result in report["results"]]
    assert errors == [reason, None, f"output 2 of 2: {reason}"]
    counts = {name: report["totals"][name] for name in ("outputs", "invalid", "unscored", "pass")}
    assert (done.returncode, counts) == (0, {"outputs": 3, "invalid": 0, "unscored": 2, "pass": 1})
    assert "2 without a score, as nothing applies" in done.stderr
    (tmp_path / "again.jsonl").write_text("".join(json.dumps(result) + "\n" for result in report["results"]), "utf-8")
    again = commands.run("rubric-score", "r.json", "again.jsonl", "--format", "json", cwd=tmp_path)
    assert json.loads(again.stdout)["totals"]["unscored"] == 2


# Several outputs of one answer


def test_a_criterion_does_not_apply_if_more_than_half_of_the_outputs_say_so():
    applies, left_out = {"polite": {"satisfied": True}}, {"polite": LEFT_OUT} | NO_CODE
    for outputs, answer, share in (
        ((applies, left_out), True, Fraction(1, 2)),
        ((applies, left_out, left_out), NOT_APPLICABLE, Fraction(2, 3)),
        (({"polite": {"satisfied": False}}, applies, left_out), False, Fraction(1, 3)),
    ):
        found = score_samples(RUBRIC, [of(output) for output in outputs])
        polite = found.criteria[2]
        assert (polite.grade.answer, polite.share) == (answer, share)
    assert score_samples(RUBRIC, [of(applies), of(left_out), of(left_out)]).groups[0].score is None
    two = score_samples(RUBRIC, [of({"code/1": {"level": 1}}), of({}), of(left_out)])
    assert two.groups[0].score == Fraction(3, 4)


# Every way to write and to read


RECORDS = [
    {"id": "a", "output": of({"code/style": {"level": 0.85}, "polite": LEFT_OUT})},
    {"id": "b", "output": of(NO_CODE | {"accuracy": {"level": 3}})},
    {"id": "c", "output": of({"code/harm": {"satisfied": True}, "code/1": {"level": 1}})},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reply.json").write_text(json.dumps({"$schema": SCHEMA, "rubrics": REPLY}), "utf-8")
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS), "utf-8")
    return tmp_path


def run(folder, *arguments):
    done = commands.run("rubric-score", "reply.json", *arguments, "--format", "json", "--fail-on", "never", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EXPECTED = [("a", 0.9785714285714285, "pass"), ("b", 0.75, "fail"), ("c", 0.75, "fail")]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_results_are_written_and_read_again(folder, suffix):
    first = run(folder, "o.jsonl")
    assert [(result["id"], result["score"], result["verdict"]) for result in first["results"]] == EXPECTED
    done = commands.run(
        "rubric-score", "reply.json", "o.jsonl", "-q", "-o", f"r.{suffix}", "--fail-on", "never", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    again = run(folder, f"r.{suffix}")
    assert again == first
    compared = run(folder, "o.jsonl", "--compare", f"r.{suffix}")["comparison"]
    assert [compared[name] for name in ("answers", "worse", "better", "same")] == [3, 0, 0, 3]


def test_a_table_says_what_does_not_apply(folder):
    commands.run("rubric-score", "reply.json", "o.jsonl", "-q", "-o", "r.csv", cwd=folder)
    rows = [*csv.DictReader((folder / "r.csv").read_text("utf-8").splitlines())]
    names = ("criteria.polite", "criteria.code/style", "rubric_grade", "gates_missed")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("n/a", "0.85", "A", ""),
        ("true", "n/a", "C", "accuracy"),
        ("true", "1.0", "C", "code"),
    ]


@pytest.mark.parametrize(
    ("name", "cell", "error"),
    [
        ("polite", "N/A", None),
        ("polite", "no", None),
        ("code/style", "0,5", None),
        ("code/style", "1", None),
        ("polite", "", "no value for `polite`; an output needs one for each criterion"),
        ("polite", "?", "expected yes or no; write n/a if the criterion does not apply"),
        ("polite", "Not applicable", "expected yes or no; write n/a if the criterion does not apply"),
        ("code/style", "0.99999999999999999999", "with at most two decimals; only hundredths count"),
        ("accuracy", "n/a", "expected 1 to 5; leave the cell empty if there is no judgement"),
        ("code/style", "0.555", "expected 0.0 to 1.0, with at most two decimals; only hundredths count"),
        ("accuracy", "4.5", "expected 1 to 5; only whole numbers count"),
    ],
)
def test_a_blank_cell_is_missing_and_another_word_is_refused(folder, name, cell, error):
    cells = {key: next(iter(check.values())) for key, check in BEST.items()}
    (folder / "one.json").write_text(json.dumps([{"id": "x", **cells, name: cell}]), "utf-8")
    done = commands.run("rubric-score", "reply.json", "one.json", "--format", "json", cwd=folder)
    (result,) = json.loads(done.stdout)["results"]
    message = result.get("error", {}).get("message")
    assert message is None if error is None else message.endswith(error)


def test_a_changed_result_is_not_taken_over(folder):
    results = run(folder, "o.jsonl")["results"]
    results[0]["score"] = 1.0
    (folder / "changed.json").write_text(json.dumps(results), "utf-8")
    done = commands.run("rubric-score", "reply.json", "changed.json", "--format", "json", cwd=folder)
    assert "the result was changed after it was written" in json.loads(done.stdout)["results"][0]["error"]["message"]


def test_arrow_has_null_for_what_does_not_apply():
    pa = pytest.importorskip("pyarrow")
    scorer = map_batches(RUBRIC)
    table = pa.table({name: [record[name] for record in RECORDS] for name in ("id", "output")})
    found = scorer(table)
    assert found.schema == scorer.schema
    rows = found.to_pylist()
    assert [(row["id"], row["score"], row["verdict"]) for row in rows] == EXPECTED
    assert [(row["points"], row["full"], row["rubric_grade"]) for row in rows] == [
        (137, 140, "A"),
        (3, 4, "C"),
        (3, 4, "C"),
    ]
    assert [[criterion["raw"] for criterion in row["criteria"]][4:6] for row in rows] == [
        [5, 0.85],
        [None, None],
        [1, 1],
    ]
    assert [row["groups"][0]["score"] for row in rows] == [0.925, None, 0.0]


def test_totals_leave_out_what_does_not_apply_and_count_grades():
    totals = Totals([RUBRIC])
    for record in RECORDS:
        totals.take(score(RUBRIC, record["output"]))
    (found,) = totals.to_json()["rubrics"]
    style = next(criterion for criterion in found["criteria"] if criterion["id"] == "code/style")
    assert (style["mean"], style["answers"]) == (
        0.925,
        [{"raw": 0.85, "times": 1}, {"raw": 1.0, "times": 1}, {"raw": "n/a", "times": 1}],
    )
    assert found["rubric_grades"] == [
        {"grade": "A", "outputs": 1}, {"grade": "C", "outputs": 2}, {"grade": "F", "outputs": 0},
    ]  # fmt: skip
    assert found["rubric_mean"] == pytest.approx(1 + 4 * found["mean"])
    assert totals + Totals([RUBRIC]) == totals


# The judge


def test_a_prompt_tells_scales_conditions_groups_and_failures_and_hides_what_they_are_worth():
    prompt = as_text(write_prompt(RUBRIC, JudgedCase("An answer")))
    for text in (
        "What is judged as a whole: A reply to a customer",
        '## Criterion "method"\n\nWhat is judged: The sample\nScale: from 1, the worst, to 5, the best\n- 1: Not said',
        '## Criterion "polite"\n\nMet when: Greets back\nApplies if: The customer greets\n',
        "Scale: from 0, the worst, to 100, the best\n- 0 to 49: Jumps\n- 50 to 100: Follows",
        '## Group "code"\n\nWhat is judged: The code\nApplies if: There is code\n\n### Criterion "code/1"',
        "Scale: from 0.0, the worst, to 1.0, the best, with at most two decimals",
        '## Critical failure "failure-1"\n\nTrue if: Fabricates a source',
        '- `level` of "code/style": a number, 0.0 to 1.0, with at most two decimals.',
        '- `satisfied` of "polite": true or false.',
        "give `applicable: false` in the place of a judgement",
    ):
        assert text in prompt
    other = {**REPLY, "pass_threshold": 4, "borderline_threshold": 2, "grades": {"A": "80%"}}
    criteria = json.loads(
        json.dumps(REPLY["criteria"]).replace('"weight": 3', '"weight": 7').replace('score": 4', 'score": 2')
    )
    assert as_text(write_prompt(load({**other, "criteria": criteria}), JudgedCase("An answer"))) == prompt


def test_the_schema_of_outputs_has_a_form_for_what_does_not_apply():
    checks = output_schema(RUBRIC)["properties"]["checks"]["properties"]
    assert checks["accuracy"]["properties"]["level"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    assert checks["failure-1"]["properties"]["satisfied"] == {"type": "boolean"}
    assert [sorted(each["properties"]) for each in checks["code/style"]["anyOf"]] == [
        ["level", "reasoning"], ["applicable", "reasoning"],
    ]  # fmt: skip
    assert checks["code/style"]["anyOf"][0]["properties"]["level"] == {"type": "number"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--per-criterion",), ("--samples", "2", "--shuffle", "1")])
def test_a_reply_that_says_that_a_criterion_does_not_apply_is_judged_and_scored(folder, options):
    (folder / "answers.jsonl").write_text(json.dumps({"id": "a", "answer": "Thanks."}) + "\n", "utf-8")
    reply = BEST | NO_CODE | {"polite": LEFT_OUT, "method": {"level": 3}}

    def behave(asked):
        prompt = asked.body["messages"][0]["content"]
        checks = {name: {"reasoning": "So.", **check} for name, check in reply.items() if f'"{name}":' in prompt}
        return completion(json.dumps({"checks": checks, "overall_reasoning": "Fine."}))

    with serving(behave) as server:
        arguments = ["judge", "reply.json", "answers.jsonl", "--model", "m", "--base-url", server.url, "-o", "j.jsonl"]
        done = commands.run(
            "rubric-score", *arguments, *options, cwd=folder, env={**commands.os.environ, "OPENAI_API_KEY": KEY}
        )
    assert done.returncode == 0, done.stderr
    (result,) = run(folder, "j.jsonl")["results"]
    assert (result["score"], result["verdict"]) == (0.9, "pass")
    raw = {criterion["id"]: criterion["raw"] for criterion in result["criteria"]}
    assert (raw["polite"], raw["code/harm"], raw["method"]) == ("n/a", "n/a", 3)


def test_a_reply_that_nothing_applies_is_kept_and_not_asked_for_again(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({"$schema": SCHEMA, "rubrics": NOTHING}), "utf-8")
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": "a", "answer": "Thanks."}) + "\n", "utf-8")
    reply = {"checks": {"rubric-1": {"reasoning": "No figure.", "applicable": False}}, "overall_reasoning": "None."}
    with serving(completion(json.dumps(reply))) as server:
        arguments = ["judge", "r.json", "answers.jsonl", "--model", "m", "--base-url", server.url, "-o", "j.jsonl"]
        environment = {**commands.os.environ, "OPENAI_API_KEY": KEY}
        done = commands.run("rubric-score", *arguments, cwd=tmp_path, env=environment)
        assert (done.returncode, len(server.asked)) == (0, 1), done.stderr
    assert "1 output: 0 pass, 0 borderline, 0 fail, 0 invalid, 1 without a score, as nothing applies" in done.stderr
    (record,) = map(json.loads, (tmp_path / "j.jsonl").read_text("utf-8").splitlines())
    assert record["output"]["checks"] == [{"id": "rubric-1", "reasoning": "No figure.", "applicable": False}]


def test_an_output_to_which_nothing_applies_names_the_critical_failures_that_are_found():
    rubric = load(NOTHING | {"critical_failures": ["Invents a figure", {"id": "rude", "expected_outcome": "Is rude"}]})

    def read_error(*found):
        checks = [{"id": name, "satisfied": name in found} for name in ("failure-1", "rude")]
        output = {"checks": [*checks, {"id": "rubric-1", **LEFT_OUT}]}
        return Scorer({"r": rubric}).score_record({"output": output}).error

    found = [read_error(), read_error("failure-1"), read_error("failure-1", "rude")]
    starts = ["", "critical failure `failure-1` found, but ", "critical failure `failure-1` and `rude` found, but "]
    assert [each.message for each in found] == [start + NothingAppliesError.REASON for start in starts]
    assert all(is_unscored(each.message) for each in found)


# Meaning, and what needs constant points


@pytest.mark.parametrize(
    "change",
    [
        {"scale": [1, 6]},
        {"grades": {"A": "95%", "C": "50%", "F": "10%"}},
        {"critical_failures": ["Invents a source"]},
        {"pass_threshold": 4},
        {"expected_outcome": "A letter"},
    ],
)
def test_what_changes_the_meaning_changes_the_hash(change):
    assert load({**REPLY, **change}).hash != RUBRIC.hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"There is code"', '"There is a file"'),
        ('"The customer greets"', '"The customer asks"'),
        ('"required_min_score": 2', '"required_min_score": 3'),
        ('"weight": -1', '"weight": -2'),
        ('"expected_outcome": "The code"', '"expected_outcome": "The file"'),
        ('"scale": [0, 100]', '"scale": [100, 0]'),
        ('"scale": [0.0, 1.0]', '"scale": [0.0, 2.0]'),
        ('"weight": 2', '"weight": 4'),
    ],
)
def test_conditions_scales_and_groups_are_a_part_of_the_hash(old, new):
    text = json.dumps(REPLY)
    assert old in text
    assert load(json.loads(text.replace(old, new))).hash != RUBRIC.hash


def test_the_words_of_marks_and_of_weights_are_no_part_of_the_hash():
    rubric = {**REPLY, "pass_threshold": "62.5%", "borderline_threshold": "50%"}
    assert load(rubric).hash == RUBRIC.hash


def test_what_needs_constant_points_says_that_they_vary():
    with pytest.raises(RubricError, match="dropout needs constant weights"):
        RUBRIC.require_points("dropout")
    replace(RUBRIC, varies=False).require_points("dropout")


@pytest.mark.slow
def test_labels_are_compared_and_pages_show_what_does_not_apply(folder):
    (folder / "labels.jsonl").write_text(json.dumps({"id": "a", "verdict": "pass"}) + "\n", "utf-8")
    done = commands.run("rubric-score", "agree", "reply.json", "o.jsonl", "--labels", "labels.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Passed by o: 1 of 3\n  by the labels: 1 of 1\n" in done.stdout
    done = commands.run("rubric-score", "reply.json", "o.jsonl", "-q", "--report", "page.html", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "n/a" in (folder / "page.html").read_text("utf-8")


def test_agreement_on_hundredths_is_measured_by_their_distances(folder):
    rubric = {"criteria": [{"id": "tone", "expected_outcome": "Tone", "scale": [0.0, 1.0]}, "Is right"]}
    (folder / "tone.json").write_text(json.dumps({"$schema": SCHEMA, "rubrics": rubric}), "utf-8")
    rows = [(number, {"tone": number / 100, "rubric-2": True}) for number in range(20)]
    for name, more in (("judged", 0), ("labels", 0.1)):
        lines = [{"id": number, **row, "tone": round(row["tone"] + more, 2)} for number, row in rows]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    arguments = ["agree", "tone.json", "judged.jsonl", "--labels", "labels.jsonl", "--format", "json"]
    report = json.loads(commands.run("rubric-score", *arguments, cwd=folder).stdout)
    (tone, *_) = report["agreements"][0]["comparisons"][0]["measures"]
    assert (tone["answers"], len(tone["values"])) == (20, 101)
    assert tone["figures"]["bias"]["value"] == pytest.approx(-0.1)


def test_an_option_that_the_file_overrides_says_so(folder):
    done = commands.run("rubric-score", "reply.json", "o.jsonl", "-q", "--pass", "0.99", cwd=folder)
    assert "warning: --pass has no effect on `reply`, whose `pass_threshold` holds" in done.stderr
    assert "--pass" not in commands.run("rubric-score", "reply.json", "o.jsonl", "-q", cwd=folder).stderr
