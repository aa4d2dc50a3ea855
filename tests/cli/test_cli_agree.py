"""`rubric-score agree` as it is run: what it compares, what it leaves out and why, and how it shows it."""

import json
import re
from functools import partial
from html.parser import HTMLParser
from itertools import chain

import commands
import pytest
from jsonschema import Draft7Validator
from raters import CHECK, LEVELS, SCORES, lines, read, record, records
from steps import steps

from rubric_lint.assess.agreement.analysis import analyse
from rubric_lint.assess.agreement.left_out import OTHER_ANSWER, OTHER_MEANING, SEVERAL_VERSIONS, TWICE
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.measure.bounds import lower_bound
from rubric_lint.assess.measure.decision import MeasureOptions
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.report.agreement import AgreementReport, as_text
from rubric_lint.report.terminal import width
from rubric_lint.scoring.loading import load_rubrics

SCHEMA = load_bundled("agreement/v1.json")
HUMAN = [10, 8, 7, 9, 2, 6, 3, 6, 10, 7, 5, 0]
JUDGE = [9, 8, 5, 10, 3, 7, 3, 6, 10, 9, 6, 1]

IDS = [f"a{number:03}" for number in range(12)]


@pytest.fixture
def run(tmp_path):
    """Calls `rubric-score agree` in the test's folder: exit code, output, and what it complains of."""
    (tmp_path / "r.yaml").write_text(SCORES, "utf-8")
    write(tmp_path, "judge", records("B", None, JUDGE))
    write(tmp_path, "human", records("B", "ana", HUMAN, chosen="random"))

    def call(*arguments, rubric="r.yaml", stdin="", code=None):
        done = commands.run("rubric-score", "agree", rubric, *arguments, cwd=tmp_path, stdin=stdin)
        complaints = [line.removeprefix("rubric-score: ") for line in done.stderr.splitlines()]
        assert code in {None, done.returncode}, complaints
        return done.returncode, done.stdout, complaints

    return call


def write(folder, name, entries):
    kept = [{key: value for key, value in entry.items() if value is not None} for entry in entries]
    (folder / f"{name}.jsonl").write_text(lines(kept), "utf-8")


def report(run, *arguments, code=0):
    told = json.loads(run(*arguments, "--format", "json", code=code)[1])
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(told)] == []
    return told


def test_a_judge_and_one_person_as_a_table(run, said):
    code, text, complaints = run("judge.jsonl", "--labels", "human.jsonl", "--worst", "2")
    assert (code, complaints) == (0, [])
    said(text)


def tables(columns, name="c"):
    def entries(*records):
        return [lines(records).replace('"id": "c"', f'"id": {json.dumps(name)}').encode()]

    reader = RatingReader(load_rubrics("r.yaml", SCORES.replace("id: c", f"id: {json.dumps(name)}")))
    for number, judge in enumerate(("gpt", "opus")):
        reader.read("results.jsonl", entries(*records("B", judge, JUDGE[number:] + JUDGE[:number])))
    labels = [*records("B", "ana", HUMAN), *records("B", "ben", [9, *HUMAN[1:-3]], IDS[:9])]
    reader.read("labels.jsonl", entries(*labels), labels=True)
    plan = MeasureOptions(worst=1)
    agreements = [analyse(each, plan) for each in reader.join()]
    return [*as_text(AgreementReport(agreements, [], reader.invalid, reader.left_out), columns)]


def test_the_tables_of_agreement(snapshot):
    snapshot("agreement.txt", "".join("\n".join([*tables(columns), "", ""]) for columns in (120, 80)))


def test_of_few_answers_only_counts_and_disagreements_are_shown(run, tmp_path):
    write(tmp_path, "human", records("B", "ana", HUMAN[:9]))
    write(tmp_path, "judge", records("B", None, JUDGE[:9]))
    _, out, _ = run("judge.jsonl", "--labels", "human.jsonl", "--worst", "1", "--report", "page.html")
    assert "  verdict      7 of 9      3 of 4       4 of 5\n" in out
    assert "Passed by judge: 4 of 9\n  by the labels: 4 of 9\n\n5 disagreements, the worst first\n" in out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Fewer than 10 answers" in page
    assert "more bad answers" not in page


@pytest.mark.slow
def test_of_few_answers_of_many_raters_only_counts_are_shown(run, tmp_path):
    for number in range(3):
        given = zip(IDS[:5], JUDGE[number:], strict=False)
        write(tmp_path, f"j{number}", [sampled(name, [each, 9]) for name, each in given])
    _, out, _ = run("j0.jsonl", "j1.jsonl", "j2.jsonl", "--labels", "human.jsonl")
    assert not re.search(r"kappa|alpha|mid-p|\[|rough:", out)
    assert out.count("Fewer than 10 answers") == 1


def test_what_is_left_out_is_said_within_a_very_narrow_terminal():
    shown = "\n".join(line for line in tables(40) if width(line) <= 40)
    for note in ("(some columns do not fit; a wider", "... and ", "--worst N"):
        assert note in shown


FIGURES = re.compile(r"[-+]?[0-9][0-9.,]*%?")


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_a_name_is_shortened_where_it_does_not_fit_and_no_figure_is(columns):
    long = "\u5e83" * 70
    shown = tables(columns, long)
    assert max(map(width, shown)) <= columns
    row = next(line for line in shown if line.startswith("  \u5e83"))
    plain = next(line for line in tables(columns) if line.startswith("  c "))
    assert FIGURES.findall(row) == FIGURES.findall(plain)
    assert row.split()[0].endswith("\u2026")


def test_the_json_report_follows_its_schema(run, tmp_path):
    samples = [[10, 9], [8, 8], [3, 8]] * 4
    write(tmp_path, "other", [sampled(f"a{number:03}", sample) for number, sample in enumerate(samples)])
    people = records("B", "ana", HUMAN) + records("B", "ben", JUDGE[::-1]) + records("B", "cleo", JUDGE)
    write(tmp_path, "human", people)
    told = report(run, "judge.jsonl", "other.jsonl", "--labels", "human.jsonl")
    (agreement,) = told["agreements"]
    assert [(comparison["between"], comparison["raters"]) for comparison in agreement["comparisons"]] == [
        ("label and judge", ["people", "judge"]),
        ("label and judge", ["people", "other"]),
        ("people", ["ana", "ben", "cleo"]),
        ("people", ["ana", "ben"]),
        ("people", ["ana", "cleo"]),
        ("people", ["ben", "cleo"]),
        ("judges", ["judge", "other"]),
    ]
    assert [sample["rater"] for sample in agreement["samples"]] == ["other"]
    assert agreement["samples"][0]["measures"][0]["flips"]["value"] == pytest.approx(1 / 3)  # of the gate
    assert agreement["disagreements"]["count"] == len(agreement["disagreements"]["worst"])


def sampled(name, scores):
    return {"id": name, "outputs": [record("B", name, score)["output"] for score in scores]}


@pytest.mark.parametrize(
    ("shape", "rubric", "kinds"),
    [
        ("A", CHECK, ["check", "verdict"]),
        ("B", SCORES, ["score", "band", "verdict"]),
        ("B", "rubrics:\n  - {id: c, score_ranges: {0: So}}\n", ["score", "verdict"]),  # all agree on one band
        ("C", LEVELS, ["level", "verdict"]),
    ],
)
def test_each_shape_has_its_scales(run, tmp_path, shape, rubric, kinds):
    (tmp_path / "r.yaml").write_text(rubric, "utf-8")
    write(tmp_path, "judge", records(shape, None, [1, 1, 1]))
    write(tmp_path, "human", records(shape, "ana", [1, 1, 1]))
    (agreement,) = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"]
    (comparison,) = agreement["comparisons"]
    assert [measure["scale"] for measure in comparison["measures"]] == kinds
    assert [
        measure["figures"]["bias"]["value"] for measure in comparison["measures"] if "bias" in measure["figures"]
    ] == [0]


def test_a_holistic_rubric(run, tmp_path):
    bands = [{"score_range": at, "expected_outcome": it} for at, it in (([0, 4], "Wrong"), ([5, 10], "Right"))]
    (tmp_path / "h.rubric.json").write_text(json.dumps({"rubrics": bands}), "utf-8")
    for name, scores in (("one", [1, 5, 9]), ("two", [2, 5, 4])):
        write(tmp_path, name, [{"id": at, "output": {"score": score}} for at, score in enumerate(scores)])
    told = report(lambda *more, **options: run(*more, rubric="h.rubric.json", **options), "one.jsonl", "two.jsonl")
    measures = told["agreements"][0]["comparisons"][0]["measures"]
    scales = [("overall", "score"), ("overall", "band"), (None, "verdict")]
    assert [(measure["criterion"], measure["scale"]) for measure in measures] == scales
    assert measures[1]["pair"]["confusion"] == [[1, 0], [1, 1]]


def test_records_are_joined_by_rubric_and_id_in_any_order(run, tmp_path):
    rubric = [{"id": "c", "score_ranges": {"0": "Wrong", "7": "Right"}}]
    (tmp_path / "r.yaml").write_text(json.dumps({"tests": [{"id": name, "rubrics": rubric} for name in "xy"]}), "utf-8")
    judged = [record("B", at, at, rubric=name) for name in "xy" for at in (1, 7)]
    write(tmp_path, "judge", judged)
    write(tmp_path, "human", [{**each, "rater": "ana"} for each in reversed(judged)])
    told = report(run, "judge.jsonl", "--labels", "human.jsonl")
    assert [(each["rubric"], each["answers"]) for each in told["agreements"]] == [(None, 4), ("x", 2), ("y", 2)]
    assert [each["comparisons"][0]["measures"][0]["pair"]["exact"]["x"] for each in told["agreements"]] == [4, 2, 2]


@pytest.mark.slow
def test_the_verdicts_of_many_rubrics_are_compared_together(run, tmp_path, said):
    ids = [f"case-{number:02}" for number in range(25)]
    rubric = [{"id": "c", "score_ranges": {"0": "Wrong", "7": "Right"}}]
    (tmp_path / "r.yaml").write_text(json.dumps({"tests": [{"id": name, "rubrics": rubric} for name in ids]}), "utf-8")
    judged = [record("B", 1, 9 if number % 2 else 1, rubric=name) for number, name in enumerate(ids)]
    write(tmp_path, "judge", judged)
    write(tmp_path, "human", [{**each, "rater": "ana"} for each in [record("B", 1, 1, rubric=ids[1]), *judged[2:]]])
    told = report(run, "judge.jsonl", "--labels", "human.jsonl")
    together = told["agreements"][0]
    assert (together["rubric"], together["answers"], together["disagreements"]["count"]) == (None, 25, 0)
    assert together["comparisons"][0]["measures"][0]["pair"]["confusion"] == [[12, 0, 1], [0, 0, 0], [0, 0, 11]]
    assert len(told["agreements"]) == 26
    code, text, complaints = run("judge.jsonl", "--labels", "human.jsonl", "--fail-below", "all:alpha=0.95")
    assert code == 1
    said(complaints, text.partition("\ncase-02 ")[0])
    assert re.findall(r"^case-(\d\d) ", text, re.MULTILINE) == [f"{number:02}" for number in range(20)]
    assert "\n5 more rubrics, each with 1 answer or fewer; --format json has all of them.\n" in text
    run("judge.jsonl", "--labels", "human.jsonl", "--report", "page.html", code=0)
    assert "5 more rubrics, each with 1 answer" in (tmp_path / "page.html").read_text("utf-8")


def test_disagreements_come_worst_first_with_both_reasons(run, tmp_path):
    def say(name, score, reason, **more):
        return {"id": name, **more, "output": {"checks": [{"id": "c", "score": score, "reasoning": reason}]}}

    write(tmp_path, "judge", [say("a", 9, "Fine."), say("b", 0, "Off."), say("c", 8, "Good."), say("d", 7, "Yes.")])
    labels = [say("a", 10, "All."), say("b", 7, "Most."), say("c", 6, "Name\n is wrong."), say("d", 2, "No.")]
    write(tmp_path, "human", [{**label, "rater": "ana"} for label in labels])
    listed = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["disagreements"]
    kinds = [(each["id"], each["kind"]) for each in listed["worst"]]
    assert kinds == [("c", "false pass"), ("d", "false pass"), ("b", "false fail"), ("a", "differs")]
    assert listed["worst"][0]["ratings"] == [
        {"rater": "ana", "value": 6, "verdict": "fail", "reason": "Name\n is wrong."},
        {"rater": "judge", "value": 8, "verdict": "pass", "reason": "Good."},
    ]
    text = run("judge.jsonl", "--labels", "human.jsonl", "--worst", "1")[1]
    assert "  false pass: c, c\n    ana 6 (fail): Name is wrong.\n    judge 8 (pass): Good.\n  ... and 3 more" in text


@pytest.mark.parametrize(
    ("labels", "options"),
    [("far", ()), ("human", ("--rater", "an")), ("human", ("--rater", "ana")), ("nobody", ()), ("same", ())],
    ids=["far", "unknown rater", "one rater", "nobody", "same"],
)
def test_nothing_is_computed_where_nothing_can_be_compared(run, tmp_path, labels, options, said):
    write(tmp_path, "far", records("B", "ana", [1, 2], ["x", "y"]))
    write(tmp_path, "same", records("B", "judge", HUMAN))
    write(tmp_path, "nobody", records("B", None, HUMAN))
    code, text, complaints = run("judge.jsonl", "--labels", f"{labels}.jsonl", *options)
    assert (code, text) == (2, "")
    said(complaints)


@pytest.mark.parametrize("field", ["answer", "question"])
def test_records_of_other_texts_under_one_id_are_left_out_and_named(run, tmp_path, field):
    judged = [{**record, field: f"Text {number}."} for number, record in enumerate(records("B", None, JUDGE))]
    again = [{**judged[0], field: "Another."}, {**judged[1], field: " Text 1 "}]
    write(tmp_path, "judge", [*judged, *again])
    left_out = report(run, "judge.jsonl", "--labels", "human.jsonl")["left_out"][0]
    assert left_out == {
        "reason": OTHER_ANSWER,
        "count": 2,
        "records": ["judge.jsonl:1 (a000)", "judge.jsonl:13 (a000)"],
    }


def test_records_of_several_versions_are_left_out_and_a_label_repeated_word_for_word_counts_once(run, tmp_path):
    judged = records("B", None, JUDGE)
    write(tmp_path, "judge", [*judged, {**judged[0], "rubric_hash": "0123456789abcdef"}])
    labels = records("B", "ana", HUMAN, chosen="random")
    write(tmp_path, "human", [*labels, *labels])
    found = report(run, "judge.jsonl", "--labels", "human.jsonl", "--any-version")
    assert [(each["reason"], each["count"]) for each in found["left_out"]][:1] == [(SEVERAL_VERSIONS, 2)]
    assert {rater["name"]: rater["answers"] for rater in found["agreements"][0]["raters"]} == {"ana": 12, "judge": 11}


def test_what_is_left_out_is_told_with_its_reason(run, tmp_path, said):
    odd = [
        {"output": {"checks": [{"id": "c", "score": 3}]}, "rater": "ana"},
        record("B", "a000", 3),
        record("B", "a001", 3, rater="ana", chosen="by hand"),
        record("B", "a002", 3, rater="ana", rubric_hash="0123456789abcdef"),
        *[record("B", "a003", score, rater="ana") for score in (3, 4)],
        record("B", "zzz", 3, rater="ana"),
        record("C", "a004", 3, rater="ana"),
        record("B", "a005", 11, rater="ana"),
        record("B", "a006", 3, rater="ana"),
    ]
    write(tmp_path, "human", odd)
    code, text, complaints = run("judge.jsonl", "--labels", "human.jsonl")
    assert code == 1
    said(text)
    assert next(line.split()[1] for line in text.splitlines() if line.startswith("  c ")) == "1"
    said(
        [
            complaint.rpartition(": ")[2] if "left out" in complaint else complaint.split(": ")[0]
            for complaint in complaints
        ]
    )
    assert [reason in told for reason, told in zip((OTHER_MEANING, TWICE), complaints[5:7], strict=True)] == [True] * 2
    assert run("judge.jsonl", "--labels", "human.jsonl", "--allow-invalid")[0] == 0
    told = report(run, "judge.jsonl", "--labels", "human.jsonl", "--any-version", code=1)
    assert told["agreements"][0]["raters"][0] == {"name": "ana", "role": "person", "answers": 3}
    assert [each["count"] for each in told["left_out"]] == [1, 1, 1, 2, 1]
    assert [each["line"] for each in told["invalid"]] == [8, 9]


def test_labels_that_join_nothing_are_listed_in_their_order_and_an_id_of_another_type_as_such(run, tmp_path, said):
    write(tmp_path, "judge", records("B", None, [*JUDGE[:9], 5], [*IDS[:9], 7]))
    write(tmp_path, "human", records("B", "ana", [*HUMAN[:9], 1, 2, 2, 3], [*IDS[:9], "z", 7, "7", "b"]))
    no_judge, other_type = run("judge.jsonl", "--labels", "human.jsonl", code=0)[2]
    said(no_judge, no_judge.rpartition(": ")[2], other_type)


@pytest.mark.slow
def test_only_labels_that_are_compared_decide_how_they_were_chosen(run, tmp_path):
    def chosen(*arguments):
        return report(run, "judge.jsonl", "--labels", "human.jsonl", *arguments)["agreements"][0]["chosen"]

    separate = {"rater": "ben", "chosen": "separate"}
    write(tmp_path, "human", [*records("B", "ana", HUMAN, chosen="random"), record("B", "far", 1, **separate)])
    assert chosen() == "random"
    write(tmp_path, "human", [*records("B", "ana", HUMAN, chosen="random"), record("B", "a001", 1, **separate)])
    assert chosen() is None
    assert chosen("--rater", "ana", "--rater", "judge") == "random"


def test_each_rubric_has_its_own_way_to_choose_labels(run, tmp_path):
    cases = [f"  - id: {name}\n    {SCORES.strip().replace(chr(10), chr(10) + '    ')}\n" for name in ("one", "two")]
    (tmp_path / "r.yaml").write_text("tests:\n" + "".join(cases), "utf-8")
    write(tmp_path, "judge", [record for name in ("one", "two") for record in records("B", None, JUDGE, rubric=name)])
    ways = {"one": "random", "two": "by-verdict"}
    labels = [record for name, way in ways.items() for record in records("B", "ana", HUMAN, rubric=name, chosen=way)]
    write(tmp_path, "human", labels)
    found = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"]
    assert [(each["rubric"], each["chosen"]) for each in found] == [(None, "by-verdict"), *ways.items()]


@pytest.mark.slow
def test_twice_the_rubrics_are_twice_the_work():
    def read(count):
        names = [f"case-{number}" for number in range(count)]
        tests = "".join(f"  - {{id: {name}, rubrics: [Is short]}}\n" for name in names)
        rubrics = load_rubrics("r.yaml", f"tests:\n{tests}")
        reader = RatingReader(rubrics)
        checks = {"output": {"checks": [{"id": "rubric-1", "satisfied": True}]}, "id": "a"}
        for rater, labels in (("judge", False), ("ana", True)):
            given = lines([{**checks, "rubric": name, "rater": rater} for name in names])
            reader.read(f"{rater}.jsonl", [given.encode()], labels=labels)
        return reader

    few, many = (steps(read(count).join) for count in (100, 200))
    assert many < 2.2 * few


@pytest.mark.slow
def test_twice_the_answers_are_twice_the_work_to_compare():
    def compare(count):
        people = (records("B", f"p{rater}", (HUMAN * count)[rater:]) for rater in range(3))
        (ratings,) = read(SCORES, records("B", "judge", JUDGE * count), [*chain(*people)]).join()
        return partial(analyse, ratings, MeasureOptions(worst=5))

    few, many = (steps(compare(count)) for count in (50, 100))
    assert many < 2.2 * few


def test_a_condition_that_is_not_met_fails_the_run(run):
    assert run("judge.jsonl", "--labels", "human.jsonl", "--fail-below", "alpha=0.8", code=0)[2] == []
    conditions = ("--fail-below", "c:exact=0.5", "--fail-below", "verdict:alpha=0.9")
    code, _, complaints = run("judge.jsonl", "--labels", "human.jsonl", *conditions)
    told = [
        "r: c: exact of ana and judge is 0.333, below 0.5",
        "r: verdict: alpha of ana and judge is 0.861, below 0.9",
    ]
    assert (code, complaints) == (1, told)


def test_a_condition_on_what_is_undefined_fails_and_says_so(run, tmp_path, said):
    write(tmp_path, "judge", records("B", None, [10] * 12))
    write(tmp_path, "human", records("B", "ana", [10] * 12))
    conditions = ("--fail-below", "c:alpha=0", "--fail-below", "c:bad-caught=0")
    code, _, complaints = run("judge.jsonl", "--labels", "human.jsonl", *conditions)
    told = ["r: c: alpha of ana and judge is undefined (no vari", "r: c: bad-caught of ana and judge is undefined (no"]
    assert (code, [complaint[:50] for complaint in complaints]) == (1, told)
    code, _, (complaint,) = run("judge.jsonl", "human.jsonl", "--fail-below", "bad-caught=0.5")
    assert code == 1
    said(complaint)


def test_results_of_rubric_score_are_read_too(run, tmp_path, said):
    done = commands.run("rubric-score", "r.yaml", "judge.jsonl", "--format", "jsonl", "-q", cwd=tmp_path)
    scored = done.stdout
    (tmp_path / "scored.jsonl").write_text(scored + '{"id": "x", "error": {"message": "not JSON"}}\n', "utf-8")
    told = report(run, "scored.jsonl", "--labels", "human.jsonl", code=1)
    plain = report(run, "judge.jsonl", "--labels", "human.jsonl")
    figures = [each["agreements"][0]["comparisons"][0]["measures"] for each in (told, plain)]
    assert figures[0] == figures[1]
    said(told["invalid"][0]["message"])


def test_raters_are_named_after_their_models_or_files(run, tmp_path):
    def names(*arguments):
        return [rater["name"] for rater in report(run, *arguments)["agreements"][0]["raters"]]

    models = [record("B", "a000", 3, judge={"model": model}) for model in ("m1", "m2")]
    write(tmp_path, "panel", models)
    write(tmp_path, "one", models[:1])
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "judge", records("B", None, JUDGE))
    assert names("panel.jsonl") == ["m1", "m2"]
    assert names("one.jsonl", "judge.jsonl") == ["m1", "judge"]
    assert names("one.jsonl", "panel.jsonl") == ["one", "panel/m1", "m2"]
    assert names("judge.jsonl", "sub/judge.jsonl") == ["judge.jsonl", "sub/judge.jsonl"]
    assert names("judge.jsonl", "human.jsonl", "panel.jsonl", "--rater", "m1", "--rater", "ana") == ["ana", "m1"]


def test_stdin_holds_results_or_labels(run, tmp_path):
    human = (tmp_path / "human.jsonl").read_text("utf-8")
    piped = run("judge.jsonl", "--labels", "-", stdin=human)
    assert piped == run("judge.jsonl", "--labels", "human.jsonl")
    assert run("judge.jsonl", "-", stdin=human, code=0)[1].splitlines()[2] == "Judges: judge and ana"
    ben = human.replace("ana", "ben")
    people = run("--labels", "human.jsonl", "--labels", "-", stdin=ben, code=0)[1]
    assert people.splitlines()[2] == "People: ana and ben"


def test_the_pass_rate_is_corrected_where_the_labels_say_how_they_were_chosen(run, tmp_path, said):
    write(tmp_path, "judge", records("B", None, JUDGE * 4))
    told = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["pass_rates"][0]
    assert told["judged"]["x"] == 20
    assert told["labels_alone"]["value"] == pytest.approx(4 / 12)
    assert (told["corrected"]["method"], told["corrected"]["value"]) == ("ppi", pytest.approx(15 / 36 - 1 / 12))
    write(tmp_path, "human", records("B", "ana", HUMAN))
    assert report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["chosen"] is None
    text = run("judge.jsonl", "--labels", "human.jsonl", "--chosen", "by-verdict")[1]
    said(text)


def test_with_labels_of_separate_answers_the_pass_rate_is_that_of_the_others(run, tmp_path, said):
    write(tmp_path, "judge", records("B", None, [0, *JUDGE, 10, 10, 10]))
    write(tmp_path, "human", records("B", "ana", HUMAN, IDS, chosen="separate"))
    rates = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["pass_rates"][0]
    assert (rates["judged"]["x"], rates["judged"]["n"]) == (3, 4)
    said(rates["corrected"]["reason"])
    write(tmp_path, "judge", records("B", None, JUDGE))
    rates = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["pass_rates"][0]
    assert (rates["judged"]["n"], rates["judged"]["value"]) == (0, None)
    said(rates["corrected"]["reason"])


def test_labels_chosen_by_the_verdict_of_one_judge_correct_no_other(run, tmp_path):
    write(tmp_path, "judge", [record for name in ("m1", "m2") for record in records("B", name, JUDGE * 4)])
    write(tmp_path, "human", records("B", "ana", HUMAN, chosen="by-verdict"))
    rates = report(run, "judge.jsonl", "--labels", "human.jsonl")["agreements"][0]["pass_rates"]
    assert {rate["corrected"]["value"] for rate in rates} == {None}
    assert all("--rater" in rate["corrected"]["reason"] for rate in rates)


def test_many_raters_are_compared_all_together_only(run, tmp_path):
    write(tmp_path, "human", [entry for number in range(7) for entry in records("B", f"p{number}", HUMAN[number:])])
    told = report(run, "--labels", "human.jsonl")["agreements"][0]
    assert [len(comparison["raters"]) for comparison in told["comparisons"]] == [7]


class Text(HTMLParser):
    """The text of a page, and its tags."""

    def __init__(self, page):
        super().__init__()
        self.words, self.tags = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.words += data.split()


def test_the_page_has_the_figures_the_ratings_and_the_disagreements(run, tmp_path):
    evil = "<script>alert(1)</script>"
    labels, judged = records("B", "ana", HUMAN), records("B", "gpt", JUDGE)
    labels[5]["id"] = judged[5]["id"] = evil
    labels[5]["output"]["checks"][0]["reasoning"] = evil
    write(tmp_path, "human", labels)
    write(tmp_path, "judge", [*judged, record("B", None, 1)])
    run("judge.jsonl", "--labels", "human.jsonl", "--report", "page.html", code=0)
    page = (tmp_path / "page.html").read_text("utf-8")
    text = Text(page.partition("</style>")[2])
    shown = " ".join(text.words)
    assert "accuracy" not in shown
    assert "gpt against the labels of ana" in shown
    assert "c 12 33.3% 0.935 rough [0.80, 0.98] 0.932 +0.33 rough [-0.35, 1.02]" in shown
    assert "c 5 of 6 [35.8%, 99.6%] 5 of 6 [35.8%, 99.6%]" in shown
    assert f"the judge meets it. {evil} c false pass" in shown
    assert "Invalid or not compared 1 record left out (no `id` to join by): judge.jsonl:13" in shown
    assert [tag for tag, _ in text.tags].count("details") == 3
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in text.tags}
    run("judge.jsonl", "--labels", "human.jsonl", "--report", "again.html", code=0)
    assert (tmp_path / "again.html").read_text("utf-8") == page


@pytest.mark.slow
def test_no_figure_is_rounded_to_what_it_is_not(run, tmp_path, said):
    (tmp_path / "r.yaml").write_text(CHECK, "utf-8")
    people = [0, 1] * 1200
    write(tmp_path, "human", records("A", "ana", people))
    write(tmp_path, "judge", records("A", None, [1, *people[1:]]))
    code, text, (complaint,) = run("judge.jsonl", "--labels", "human.jsonl", "--fail-below", "c:exact=0.9996")
    row = next(line.split() for line in text.splitlines() if line.startswith("  c "))
    assert code == 1
    said(row, complaint)


def test_each_group_of_answers_has_shares_of_its_own(run, tmp_path, said):
    judged = [
        {**record, "language": ("en", "de")[number % 2]} for number, record in enumerate(records("B", None, JUDGE))
    ]
    write(tmp_path, "judge", judged)
    asked = ("judge.jsonl", "--labels", "human.jsonl", "--by", "language")
    found = report(run, *asked)["agreements"][0]["groups"]
    shares = [
        (
            each["group"],
            each["labelled"],
            *(each[side][name] for side in ("bad_caught", "good_passed") for name in "xn"),
        )
        for each in found
    ]
    assert shares == [("de", 6, 2, 3, 3, 3), ("en", 6, 3, 3, 2, 3)]
    level = 0.025 / 2  # both groups share it
    assert found[0]["bad_caught"]["low"] == pytest.approx(lower_bound(2, 3, level))
    said(next(part for part in run(*asked)[1].split("\n\n") if "by group" in part))
    code, _, refused = run("judge.jsonl", "--by", "topic", "--labels", "human.jsonl")
    assert code == 2
    said(refused)


def test_a_field_without_a_usable_value_is_not_said_to_be_missing(run, tmp_path, said):
    write(tmp_path, "judge", [{**record, "tags": ["x"]} for record in records("B", None, JUDGE)])
    said(*run("judge.jsonl", "--by", "tags", "--labels", "human.jsonl", code=2)[2])


def test_labels_on_another_scale_are_read_as_it_says(run, tmp_path, said):
    """On a scale of 1 to 5, 4 is 7.5 of 10, of which the nearest score that is not higher is 7."""
    write(tmp_path, "human", records("B", "ana", [value // 2 or 1 for value in HUMAN], chosen="random"))
    asked = ("judge.jsonl", "--labels", "human.jsonl", "--label-scale", "1..5")
    measure = report(run, *asked)["agreements"][0]["comparisons"][0]["measures"][0]
    assert measure["pair"]["gate"]["bad_caught"]["n"] == sum(value // 2 < 4 for value in HUMAN)
    code, _, told = run("judge.jsonl", "--labels", "human.jsonl", "--label-scale", "2..5")
    assert code == 1
    said(told[0])


def test_a_file_without_records_leaves_no_page(run, tmp_path):
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    _, _, err = run("empty.jsonl", "--report", "page.html", code=2)
    assert "empty.jsonl: no records found" in err
    assert not (tmp_path / "page.html").exists()
