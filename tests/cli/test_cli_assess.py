"""`rubric-lint assess`: what it says of good, lenient and noisy judges, what it asks for, and what it refuses."""

import csv
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import commands
import played_judges as played
import pytest
from chat_server import Response, completion, serving

from rubric_lint.assess.agreement.left_out import NO_ANSWER
from rubric_lint.assess.agreement.reading import RatingReader
from rubric_lint.assess.measure.bounds import lower_bound
from rubric_lint.model.messages import Causes
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.scoring.loading import load_rubrics

SCHEMA = load_bundled("assessment/v1.json")
AGREEMENT = load_bundled("agreement/v1.json")

GOOD, LENIENT, NOISY = played.judge_well, played.judge_leniently, played.judge_noisily


@pytest.fixture(autouse=True)
def folder(folder, monkeypatch):
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(folder / "cache"))
    Path("refund.rubric.yaml").write_text(played.RUBRIC)
    return folder


def prepare(count, judge=None, *, labels=0, samples=2, **more):
    """Write answers, what a judge says of them, and labels of the first of them."""
    cases = played.draw_cases(count)
    Path("answers.jsonl").write_text(played.write_answers(cases))
    if labels:
        Path("labels.jsonl").write_text(played.write_labels(cases[:labels], **{"chosen": "random", **more}))
    if judge:
        Path("answers.judged.jsonl").write_text(played.record(cases, judge, samples))
    return cases


def run(*arguments, form="json"):
    """Return the exit code, the report (of JSON the first rubric), and what is said beside it."""
    code, report, told = played.call("assess", SCHEMA, "refund.rubric.yaml", "answers.jsonl", *arguments, form=form)
    return code, report["rubrics"][0] if isinstance(report, dict) else report, told


FRAME = re.compile(r"Bad are|Of \d|This is about|1 label in 20|keep ")


def list_own(page):
    """Return the sentences of the first screen below its heading, without those that stand on every one.

    `test_a_group_in_which_the_judge_fails_is_named_although_the_whole_is_trusted` has a screen whole, and
    `test_each_figure_on_the_page_is_one_of_the_report` is about the figures of the others.
    """
    blocks = page.partition("\nDetails")[0].split("\n\n")[1:]
    sentences = [word for block in blocks for word in re.split(r"(?<=\.) (?=[A-Z\d])", " ".join(block.split()))]
    return [sentence for sentence in sentences if not FRAME.match(sentence)]


def standings(report):
    return {criterion["id"]: criterion["standing"] for criterion in report["criteria"]}


def fired(report):
    return {
        criterion["id"]: [found["rule"] for found in criterion["findings"] if found["severity"] != "hint"]
        for criterion in report["criteria"]
    }


LABELS = ("--labels", "labels.jsonl")
FILES = ("refund.rubric.yaml", "answers.jsonl")
KEEP, FIX, UNKNOWN = "keep", "fix", "inconclusive"


@pytest.mark.parametrize(
    ("judge", "count", "labels", "code", "reasons", "standing"),
    [
        (GOOD, 5, 0, 4, ["no-labels"], UNKNOWN),
        (GOOD, 30, 0, 4, ["no-labels"], UNKNOWN),
        (GOOD, 5, 5, 4, ["few-labels"], UNKNOWN),
        (GOOD, 30, 30, 4, ["few-labels"], UNKNOWN),
        (LENIENT, 5, 5, 4, ["few-labels"], UNKNOWN),
        (LENIENT, 30, 30, 1, ["misses-bad"], None),
        (NOISY, 5, 5, 4, ["few-labels"], UNKNOWN),
        (NOISY, 30, 0, 4, ["no-labels"], None),
    ],
)
def test_few_answers_decide_little(judge, count, labels, code, reasons, standing):
    prepare(count, judge, labels=labels)
    done, report, _ = run(*(LABELS if labels else ()))
    assert (done, report["reasons"]) == (code, reasons)
    assert standing is None or set(standings(report).values()) == {standing}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "labels", "code", "reasons", "standing"),
    [
        (GOOD, 200, 0, ["shares-reached"], {KEEP}),
        (GOOD, 0, 4, ["no-labels"], {UNKNOWN}),
        (LENIENT, 200, 1, ["misses-bad"], {FIX}),
        (LENIENT, 0, 4, ["no-labels"], {UNKNOWN}),
        (NOISY, 200, 1, ["fails-good"], {FIX, UNKNOWN}),
    ],
)
def test_many_answers_decide(judge, labels, code, reasons, standing):
    prepare(200, judge, labels=labels)
    done, report, _ = run(*(LABELS if labels else ()))
    assert (done, report["reasons"], set(standings(report).values())) == (code, reasons, standing)


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "code"), [(GOOD, 0), (LENIENT, 1), (NOISY, 1)])
def test_a_model_judges_what_has_no_recording_and_a_second_run_asks_nothing(judge, code):
    prepare(120, labels=120)
    with serving(played.play(judge)) as chat:
        model = ("--model", f"m@{chat.url}", *LABELS)
        first = run(*model)
        asked = len(chat.asked)
        assert (first[0], asked, run(*model)[:2]) == (code, 240, first[:2])
        assert len(chat.asked) == asked
    assert run(*LABELS)[:2] == first[:2]  # without the model, what is recorded counts


@pytest.mark.slow
def test_a_limit_ends_the_run_and_what_was_judged_is_assessed():
    prepare(10)
    with serving(played.play(GOOD)) as chat:
        _, report, told = run("--model", f"m@{chat.url}", "--max-requests", "9")
    assert (len(chat.asked), report["answers"], "stopped at --max-requests 9" in told) == (8, 4, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "limit", "answer"),
    [("full", "9", None), ("markdown", "9", None), ("full", "2", "Nothing."), ("full", "0", None)],
)
def test_the_page_of_a_run_that_a_limit_ended_says_what_is_not_judged(form, limit, answer, said):
    prepare(10)
    with serving(completion(answer) if answer else played.play(GOOD)) as chat:
        options = ("--model", f"m@{chat.url}", "--max-requests", limit, "--concurrency", "1")
        page = run(*options, form=form)[1].replace(chat.url, "URL")
        said(list_own(page) if form == "full" else page)
        report = run(*options)[1]
    commands = [each["command"] for each in report["next"]]
    assert all(" labels " not in command for command in commands)
    assert all("--max-requests" in command for command in commands if command)


@pytest.mark.slow
def test_advice_to_judge_again_keeps_the_limits():
    prepare(3)
    Path("prices.toml").write_text("[models.m]\ninput = 1\noutput = 1\n")
    limits = "--prices prices.toml --max-requests 90 --max-cost 5 --max-tokens 90"
    with serving(completion("Nothing.")) as chat:
        _, report, _ = run("--model", "m", "--base-url", chat.url, *limits.split())
    assert [limits in each["command"] for each in report["next"]] == [True]


def test_a_limit_below_the_first_answer_leaves_nothing_judged():
    prepare(10)
    with serving(played.play(GOOD)) as chat:
        code, report, _ = run("--model", f"m@{chat.url}", "--max-requests", "0")
    assert (code, report["reasons"], len(chat.asked)) == (4, ["not-judged"], 0)


def test_errors_of_the_rubric_come_first_and_nothing_is_asked():
    prepare(5)
    Path("refund.rubric.yaml").write_text(f"{played.RUBRIC}    weight: -1\n")
    with serving(played.play(GOOD)) as chat:
        code, report, _ = run("--model", f"m@{chat.url}")
        assert (code, report["reasons"], len(chat.asked)) == (1, ["errors"], 0)
    assert standings(report) == {"cites": UNKNOWN, "period": UNKNOWN, "polite": UNKNOWN, "short": FIX}


def test_a_file_that_cannot_be_read_as_yaml_has_errors_too():
    prepare(5)
    Path("refund.rubric.yaml").write_text("rubrics: [")
    code, report, _ = run()
    assert (code, report["reasons"], report["criteria"]) == (1, ["errors"], [])
    assert [finding["rule"] for finding in report["findings"]] == ["syntax"]


def test_without_a_model_and_a_recording_it_says_what_to_do():
    prepare(5)
    code, report, _ = run()
    assert (code, report["reasons"], report["answers"]) == (4, ["not-judged"], 0)
    assert [each["command"] for each in report["next"]] == [
        "rubric-lint assess refund.rubric.yaml answers.jsonl --model MODEL"
    ]


STDIN_UNREAD = "rubric-lint: -: stdin is not read here; write it to a file and name that\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("-",), "without --model, ANSWERS cannot come from stdin; write them to a file and name it"),
        (
            ("-", "--results", "answers.judged.jsonl"),
            "without --model, ANSWERS cannot come from stdin; write them to a file and name it",
        ),
        (("answers.jsonl", "--results", "-"), STDIN_UNREAD),
        (("answers.jsonl", "--results", "-", "--model", "m", "--base-url", "http://127.0.0.1:9"), STDIN_UNREAD),
    ],
)
def test_judge_outputs_on_stdin_are_refused(arguments, complaint):
    prepare(3, GOOD, labels=3)
    Path("-").write_text("")  # a file of this name is not meant
    outputs = Path("answers.judged.jsonl").read_text()
    done = commands.run("rubric-lint", "assess", FILES[0], *arguments, *LABELS, stdin=outputs)
    assert (done.returncode, done.stdout, commands.complaint(done)) == (2, "", complaint)
    assert Path("-").read_text() == ""


def test_the_next_step_names_a_file_for_answers_of_stdin():
    prepare(3)
    write_lines("labels.jsonl", [{"id": "other", "output": {"checks": []}}])
    answers = Path("answers.jsonl").read_text()
    with serving(played.play(GOOD)) as chat:
        options = ("--model", f"m@{chat.url}", "--results", "results.jsonl", *LABELS, "--format", "json")
        done = commands.run("rubric-lint", "assess", FILES[0], "-", *options, stdin=answers)
    (step,) = json.loads(done.stdout)["rubrics"][0]["next"]
    assert step["command"] == f"rubric-lint assess {FILES[0]} FILE --results results.jsonl --labels labels.jsonl"


def test_the_command_after_a_sheet_names_a_file_for_answers_of_stdin():
    prepare(3)
    answers = Path("answers.jsonl").read_text()
    done = commands.run("rubric-lint", "labels", FILES[0], "-", "-o", "sheet.csv", stdin=answers)
    command = f"rubric-lint assess {FILES[0]} FILE --labels sheet.csv"
    assert (done.returncode, done.stderr.splitlines()[1:]) == (0, [f"  {command}"])


@pytest.mark.parametrize("kind", ["with a field for each criterion", "scored"])
def test_answers_that_hold_what_they_were_judged_need_no_results(kind):
    cases = prepare(30, labels=30)
    answers = map(json.loads, played.write_answers(cases).splitlines())
    judged = "".join(json.dumps({**answer, **met}) + "\n" for answer, met in zip(answers, cases, strict=True))
    if kind == "scored":
        judged = commands.run("rubric-lint", "score", FILES[0], "-", stdin=judged).stdout
    Path("answers.jsonl").write_text(judged)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["answers"], report["labelled"]) == (4, ["few-labels"], 30, 30)


def test_one_answer_and_a_judge_that_finds_everything_met():
    prepare(1, lambda _: dict.fromkeys(played.CRITERIA, True))
    code, page, _ = run(form="full")
    assert code == 4
    assert "UNDECIDED: no fault found in 1 answer" in page
    assert "1 answer can show a gross fault" in page


def test_a_judge_that_finds_everything_met_tells_nothing_apart(said):
    prepare(80, lambda _: dict.fromkeys(played.CRITERIA, True))
    code, report, _ = run()
    assert (code, report["reasons"], set(standings(report).values())) == (4, ["no-labels"], {UNKNOWN})
    assert {tuple(found["rule"] for found in criterion["findings"]) for criterion in report["criteria"]} == {
        ("judged-flat",)
    }
    said([line for line in run(form="full")[1].splitlines() if "alike" in line])


def test_labels_of_another_version_are_left_out_and_told():
    prepare(30, GOOD, labels=30, rubric_hash="sha256:0")
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["labelled"]) == (4, ["no-labels"], 0)
    assert [each["count"] for each in report["left_out"]] == [30]
    assert "another version of the rubric" in run(*LABELS, form="full")[1]


def test_labels_chosen_by_the_verdict_do_not_stand_for_all_answers():
    prepare(60, GOOD, labels=60, chosen="by-verdict")
    assert (run(*LABELS)[0], run(*LABELS)[1]["reasons"]) == (4, ["by-verdict"])


@pytest.mark.parametrize(
    ("wrong", "labelled", "more", "expected"),
    [
        (4, 30, {}, (0.462, 0.932, 0.824, 0.987)),
        (4, 4, {}, None),  # too few of one verdict
        (4, 30, {"raters": ("ann", "bob")}, None),  # bob says that all is good, so people disagree
        (4, 30, {"samples": 2}, None),  # nobody knows by which of two outputs the labels were chosen
    ],
)
def test_labels_chosen_by_the_verdict_bound_the_shares_and_decide_nothing(wrong, labelled, more, expected, said):
    """Of 100 answers the judge stops 30, and as many of both kinds as `labelled` says have a label."""
    stops = [number < 30 for number in range(100)]
    known = [*range(labelled), *range(30, 30 + labelled)]
    bad = [number < 30 - wrong or 30 <= number < 30 + wrong for number in range(100)]
    write_judged([(not stop,) * more.get("samples", 1) for stop in stops], [not stop for stop in bad])
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    labels = [{**labels[number], "chosen": "by-verdict"} for number in known]
    good = played.to_output(dict.fromkeys(played.CRITERIA, True))
    labels += [{**label, "rater": "bob", "output": good} for label in labels if "raters" in more]
    write_lines("labels.jsonl", labels)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"]) == (4, ["by-verdict"])
    found = report["by_verdict"]
    bounds = found and (*found["bad_caught"].values(), *found["good_passed"].values())
    assert bounds == (expected and pytest.approx(expected, abs=0.001))
    agree = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", *LABELS)
    assert ("it catches at least" in agree.stdout) == (expected is not None)
    if expected:
        said(list_own(run(*LABELS, form="full")[1]))
        said("".join(line for line in agree.stdout.splitlines(keepends=True) if "chosen by" in line))


@pytest.mark.slow
def test_random_labels_beside_those_chosen_by_the_verdict_do_not_make_a_rubric_trusted():
    cases = prepare(60, GOOD)
    lines = played.write_labels(cases, chosen="by-verdict").splitlines()
    lines[:2] = played.write_labels(cases[:2], chosen="random").splitlines()
    Path("labels.jsonl").write_text("\n".join(lines))
    assert (run(*LABELS)[0], run(*LABELS)[1]["reasons"]) == (4, ["by-verdict"])


def test_labels_of_the_verdict_alone_are_counted_where_they_are_and_where_more_would_decide():
    prepare(40, GOOD)
    rows = [f"a{number:03},{'pass' if number % 2 else 'fail'}" for number in range(40)]
    Path("labels.csv").write_text("\n".join(["ID,Label", *rows]))
    code, report, _ = run("--labels", "labels.csv")
    shares = report["bad_caught"]["n"] + report["good_passed"]["n"]
    page = run("--labels", "labels.csv", form="full")[1]
    assert (code, shares, "40 labelled by `labels`" in page) == (1, 40, True)


def test_labels_that_cannot_be_used_are_told_first_and_have_to_be_corrected(said):
    prepare(40, GOOD)
    rows = [f"a{number:03},ana,n/a" for number in range(40)]
    Path("labels.csv").write_text("\n".join(["id,rater,cites", *rows]))
    said(list_own(run("--labels", "labels.csv", form="full")[1]))
    Path("labels.csv").write_text("Our labels,\nid,cites\na000,yes")
    assert "the names of the columns are in row 2" in run("--labels", "labels.csv")[2]


def test_invalid_outputs_are_counted_by_cause(said):
    prepare(4, GOOD)
    path = Path("answers.judged.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for number in (0, 1):
        lines[number]["outputs"][0]["checks"].pop()
    lines[2]["outputs"][1] = "I refuse."
    write_lines(path, lines)
    code, page, _ = run(form="full")
    said(list_own(page))
    report = run()[1]
    assert (code, report["answers"], len(report["invalid"])) == (4, 4, 3)
    lines[0]["outputs"][1] = "I refuse."
    write_lines(path, lines)
    assert run()[1]["answers"] == 3


def refuse(number, **more):
    return {"id": f"a{number:03}", "output": "I refuse.", "judge": {"model": "m"}, **more}


_OF_TWO = [{**refuse(0), "output": played.to_output(dict.fromkeys(played.CRITERIA, True)), "judge": {"model": "k"}}]


@pytest.mark.parametrize(
    ("invalid", "labels", "counts"),
    [
        ([refuse(0), refuse(1)], "valid", [1, 1]),
        ([{"id": "a000", "outputs": ["I refuse."] * 3, "judge": {"model": "m"}}], "valid", [3]),
        ([refuse(0)], "none", [1]),
        ([refuse(0)], "refused", [1]),
        ([refuse(0, id=None), refuse(0, rubric_hash="sha256:0"), refuse(1)], "valid", [0, 0, 1]),
        ([refuse(0, judge=None), *_OF_TWO], "valid", [0]),
    ],
    ids=["all count", "several of an answer", "no labels", "refused labels", "not joined", "nobody's"],
)
def test_what_an_invalid_record_counts_as_is_said(invalid, labels, counts, said):
    write_judged([(True,)] * 4, [True] * 4)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text("utf-8").splitlines()]
    write_lines("answers.judged.jsonl", [*records, *invalid])
    if labels == "refused":
        Path("labels.jsonl").write_text('{"id": "a000", "rater": "ann", "cites": "n/a"}\n' * 2)
    page = run(*(LABELS if labels != "none" else ()), form="full")[1]
    said(
        [line for line in read_sentences(page).split(". ") if "nvalid" in line or "left out" in line or "wrong" in line]
    )
    reader = RatingReader(load_rubrics(FILES[0], played.RUBRIC))
    reader.read_records("j", enumerate(json.dumps(each).encode() for each in [*records, *invalid]))
    reader.gather()
    assert [each.outputs for each in reader.invalid] == counts


def test_a_file_of_answers_that_has_outputs_is_what_is_recorded_and_what_labels_are_drawn_from():
    prepare(5, GOOD)
    path = Path("answers.judged.jsonl").rename("answers.jsonl")
    report = run()[1]
    assert report["answers"] == 5
    command = shlex.split(report["next"][0]["command"])
    assert commands.run(*command).returncode == 0
    assert len(Path("labels.csv").read_text().splitlines()) == 6
    bare = [{**json.loads(line), "answer": None} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in bare))
    assert run()[1]["next"][0]["command"] == ""


def test_a_rubric_test_that_fails_makes_its_criterion_one_to_mend():
    prepare(30, GOOD)
    output = json.dumps(played.to_output(dict.fromkeys(played.CRITERIA, True)))
    Path("other-name.rubric-test.yaml").write_text(
        "rubric: refund.rubric.yaml\ntests:\n"
        f"  - {{id: t, answer: Hm., output: {output}, expect: {{criteria: {{period: false}}}}}}\n"
    )
    code, report, _ = run()
    assert (code, report["reasons"]) == (1, ["errors"])
    assert fired(report) == {"cites": [], "period": ["unmet-expectation"], "polite": [], "short": []}


def test_findings_that_comments_silence_are_said_to_be():
    prepare(80, lambda _: dict.fromkeys(played.CRITERIA, True))
    Path("refund.rubric.yaml").write_text("# rubric-lint: ignore-file[judged-flat]\n" + played.RUBRIC)
    pages = [run(form=form)[1].partition("Details")[0] for form in ("full", "markdown")]
    assert ["4 findings of the file are ignored" in page for page in pages] == [True, True]


def test_rules_that_settings_switch_off_are_said_to_be():
    prepare(5, GOOD)
    Path("rubric-lint.toml").write_text('ignore = ["judged-disagrees"]\n')
    pages = [run(form=form)[1].partition("Details")[0] for form in ("full", "markdown")]
    assert ["1 rule is switched off by the settings: `judged-disagrees`" in page for page in pages] == [True, True]


def test_a_warning_of_the_linter_makes_a_criterion_one_to_mend_and_a_hint_does_not():
    prepare(30, GOOD)
    text = played.RUBRIC.replace("Has at most five sentences", "TODO").replace("Thanks the customer by name", "Ok ok")
    Path("refund.rubric.yaml").write_text(text)
    _, report, _ = run()
    assert standings(report)["short"] == FIX


def test_the_first_screen_fits_a_terminal_even_of_many_criteria():
    many = "rubrics:\n" + "".join(
        f"  - id: criterion-with-a-long-name-{number}\n    expected_outcome: TODO\n" for number in range(40)
    )
    Path("refund.rubric.yaml").write_text(many)
    Path("answers.jsonl").write_text('{"id": "a", "answer": "Hm."}\n')
    first = run(form="full")[1].split("\nDetails\n")[0].splitlines()
    assert len(first) <= 30
    assert [line for line in first if len(line) > 80] == []


@pytest.mark.parametrize(
    ("name", "start"), [("a.json", "{"), ("a.md", "### "), ("a.txt", "refund.rubric.yaml:2: refund\n")]
)
def test_the_ending_of_the_file_chooses_the_format(name, start):
    prepare(5, GOOD)
    given = ["assess", "refund.rubric.yaml", "answers.jsonl", "-o", name]
    done = commands.run("rubric-lint", *given)
    assert done.returncode == 4
    assert Path(name).read_text("utf-8").startswith(start)
    assert done.stdout.startswith("refund: UNDECIDED: ")


def test_markdown_shows_names_as_they_are():
    text = played.RUBRIC.replace("id: short", 'id: "a|<b>*@ann"')
    Path("refund.rubric.yaml").write_text(text)
    Path("answers.jsonl").write_text('{"id": "a", "answer": "Hm."}\n')
    assert r"| inconclusive | a\|\<b\>\*@" + "\u200bann (line 10) | not judged yet |" in run(form="markdown")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-requests", "3"), "--max-requests requires --model"),
        (("--model", "m", "--results", "a", "--results", "b"), "--results: with --model, name one file"),
    ],
)
def test_options_that_clash(arguments, message):
    prepare(1)
    assert run(*arguments) == (2, None, message)


def test_an_output_that_a_run_left_invalid_is_not_hidden():
    prepare(2)
    with serving(lambda _: completion("I refuse.")) as chat:
        code, report, _ = run("--model", f"m@{chat.url}", "--max-attempts", "1")
    assert (code, report["reasons"], len(report["invalid"])) == (4, ["invalid"], 2)
    assert [each["command"] for each in report["next"]] == [
        "rubric-lint judge refund.rubric.yaml answers.jsonl --output again.jsonl --model MODEL --per-criterion"
    ]


def write_lines(name, records):
    Path(name).write_text("".join(f"{json.dumps(record)}\n" for record in records))


@pytest.mark.parametrize(
    ("texts", "refused", "raters", "reason"),
    [
        (60, (), ("ann",), "shares-reached"),
        (58, (), ("ann",), "shares-reached"),  # two repeated texts change nothing
        (5, (), ("ann",), "few-labels"),
        (60, range(0, 60, 10), ("ann",), "few-labels"),
        (60, (), ("ann", "bob"), "people-disagree"),
        (60, (), ("ann", "bob", "eve"), "people-disagree"),  # two of three agree on each answer, but not each two
    ],
)
def test_labels_that_show_less_than_their_number_make_no_rubric_trusted(texts, refused, raters, reason):
    """A judge that is right on each of 60 answers, of which people fail 24."""
    good = {number: number % 5 > 1 for number in range(60)}
    judged, labels = [], []
    for number, is_good in good.items():
        output = played.to_output(dict.fromkeys(played.CRITERIA, is_good))
        about = {"id": f"a{number}", "answer": f"Text {played.spell(number % texts)}{' ' * number}"}
        judged.append({**about, "output": "I refuse." if number in refused else output, "judge": {"model": "m"}})
        for rater in raters:
            given = played.to_output(dict.fromkeys(played.CRITERIA, True)) if rater == "bob" else output
            labels.append({"id": f"a{number}", "rater": rater, "chosen": "random", "output": given})
    write_lines("answers.jsonl", judged)
    write_lines("labels.jsonl", labels)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"]) == (0 if reason == "shares-reached" else 4, [reason])
    counts = {"unscored": len(refused), "tied": 24 if raters == ("ann", "bob") else 0}
    assert {name: report[name] for name in counts} == counts


@pytest.mark.parametrize(
    ("chosen", "labelled", "reason"),
    [
        (None, lambda number: number % 5 == 0 or number % 4 == 0, "by-verdict"),  # all that the judge fails, and some
        ("random", lambda number: number % 5 == 0 or number % 4 == 0, "shares-reached"),  # they say that it is chance
        (None, lambda number: number % 2 == 0, "shares-reached"),
        (None, lambda _: True, "shares-reached"),
    ],
)
def test_labels_that_seem_chosen_by_the_verdict_are_not_taken_for_random_ones(chosen, labelled, reason, said):
    """A judge that is right on each of 200 answers, of which people fail 40."""
    judged, labels = [], []
    for number in range(200):
        output = played.to_output(dict.fromkeys(played.CRITERIA, number % 5 > 0))
        judged.append(
            {"id": number, "answer": f"Text {played.spell(number)}", "output": output, "judge": {"model": "m"}}
        )
        how = {"chosen": chosen} if chosen else {}
        labels += [{"id": number, "rater": "ann", **how, "output": output}] if labelled(number) else []
    write_lines("answers.jsonl", judged)
    write_lines("labels.jsonl", labels)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"]) == (0 if reason == "shares-reached" else 4, [reason])
    if reason == "by-verdict":
        said(list_own(run(*LABELS, form="full")[1]))


def write_sixty(**of_label):
    """Write 60 answers, a judge that is right on each of them, and labels that say more; people fail 24."""
    outputs = [played.to_output(dict.fromkeys(played.CRITERIA, number % 5 > 1)) for number in range(60)]
    judged = [
        {"id": f"a{number}", "answer": f"Text {number} {played.spell(number)}", "output": output}
        for number, output in enumerate(outputs)
    ]
    write_lines("answers.jsonl", [{"id": each["id"], "answer": each["answer"]} for each in judged])
    write_lines("answers.judged.jsonl", judged)
    told = [{name: find(number) for name, find in of_label.items()} for number in range(60)]
    labels = [
        {
            "id": each["id"],
            "rater": "ann",
            "output": each["output"],
            **{name: value for name, value in more.items() if value},
        }
        for each, more in zip(judged, told, strict=True)
    ]
    write_lines("labels.jsonl", labels)


@pytest.mark.parametrize(
    ("way", "other", "chosen"),
    [
        ("by-verdict", None, "by-verdict"),
        ("by-verdict", "random", "by-verdict"),
        ("by-verdict", "separate", "by-verdict"),
        ("by-verdict", "by-verdict", "by-verdict"),
        ("separate", None, None),
        ("separate", "random", None),
        ("separate", "separate", "separate"),
    ],
)
def test_labels_of_which_one_was_not_drawn_at_random_never_make_a_rubric_trusted(way, other, chosen, said):
    write_sixty(chosen=lambda number: way if number == 7 else other)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["chosen"]) == (4, [way], chosen)
    assert report["by_verdict"].keys() == {"bad_caught", "good_passed", "stopped", "passed"}
    said(list_own(run(*LABELS, form="full")[1]))


@pytest.mark.slow
def test_a_judge_that_does_not_reply_where_people_fail_the_answer_is_not_trusted():
    """A filter of the endpoint refuses a quarter of the bad answers, and the judge is right on all others."""
    write_sixty(chosen=lambda _: "random")
    Path("answers.judged.jsonl").unlink()

    def behave(asked):
        number = int(asked.answer.split()[1])
        if number % 10 == 0:
            return Response({"error": {"message": "filtered"}}, status=400)
        return completion(json.dumps(played.to_output(dict.fromkeys(played.CRITERIA, number % 5 > 1))))

    with serving(behave) as chat:
        code, report, _ = run(*LABELS, "--model", f"m@{chat.url}")
    assert (code, report["reasons"], report["unscored"]) == (4, ["few-labels"], 6)
    assert [each["command"] for each in report["next"]][:1] == [
        f"rubric-lint assess refund.rubric.yaml answers.jsonl --labels labels.jsonl --model m@{chat.url} --format json"
    ]


def test_labels_of_another_text_than_the_one_that_was_judged_are_left_out(said):
    write_sixty(
        chosen=lambda _: "random",
        answer=lambda number: f"\u2018Text\r\n{number} {played.spell(number)}" if number % 2 else "Other",
    )
    code, report, _ = run(*LABELS)
    assert (code, report["labelled"], [each["count"] for each in report["left_out"]]) == (4, 30, [30])
    said(list_own(run(*LABELS, form="full")[1]))


def test_a_hidden_row_of_labels_is_told_on_the_first_screen():
    openpyxl = pytest.importorskip("openpyxl")
    write_sixty()
    book = openpyxl.Workbook()
    for row in (["id", "verdict"], ["a0", "fail"], ["a2", "pass"]):
        book.active.append(row)
    book.active.row_dimensions[3].hidden = True
    book.save("labels.xlsx")
    first = run("--labels", "labels.xlsx", form="full")[1].partition("\nDetails")[0]
    assert "sheet `Sheet`: the row is hidden" in " ".join(first.split())


def test_a_misspelt_column_of_a_criterion_is_told():
    write_sixty()
    Path("labels.csv").write_text("id,cites,Peroid [yes or no],polite,short\na1,yes,no,yes,yes\n")
    (invalid,) = run("--labels", "labels.csv")[1]["invalid"]
    assert "no column `period`; did you misspell it as `Peroid [yes or no]`?" in invalid["message"]


@pytest.mark.parametrize("results", [(), ("--results", "answers.judged.jsonl")])
def test_results_of_other_texts_than_the_answers_have_are_refused(results, said):
    write_sixty()
    write_lines("answers.jsonl", [{"id": f"a{number}", "answer": f"Text {number:02}"} for number in range(60)])
    code, _, told = run(*results)
    assert code == 2
    said(told)


def test_a_fault_of_the_rubric_as_a_whole_is_no_number_of_criteria():
    """A third of the answers change their verdict between two outputs, and no gate does."""
    whole, less, least = ({**dict.fromkeys(played.CRITERIA, True), **dict.fromkeys(names, False)} for names in _LACKS)
    pairs = [(whole, less), (whole, whole), (least, least)] * 20
    write_lines("answers.jsonl", [{"id": f"b{number}", "answer": played.spell(number)} for number in range(60)])
    outputs = [[played.to_output(each) for each in pair] for pair in pairs]
    write_lines(
        "answers.judged.jsonl", [{"id": f"b{number}", "outputs": output} for number, output in enumerate(outputs)]
    )
    page = run(form="full")[1]
    assert "UNDECIDED: the rubric as a whole to fix in 60 answers;" in page


_LACKS = (), ("polite",), ("polite", "short")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="waits at named pipes")
@pytest.mark.parametrize("point", ["answers", "requests", "labels"])
def test_a_stopped_run_loses_nothing_and_the_same_command_resumes_it(point, said):
    prepare(12, labels=12)
    waiting, results, gate = Path(f"{point}.jsonl"), Path("judged.jsonl"), threading.Event()
    pipe = []

    def behave(asked):
        if point == "requests" and len(chat.asked) > 6:
            gate.wait()
        return played.play(GOOD)(asked)

    def start():
        given = ["refund.rubric.yaml", "answers.jsonl", *LABELS, "--results", "judged.jsonl", "-o", "report.json"]
        options = ["--model", f"m@{chat.url}", "--concurrency", "1"]
        command = commands.command("rubric-lint", "assess", *given, *options)
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def is_read():
        """Open the pipe, which works once the run waits for it, and give it nothing."""
        with suppress(OSError):
            pipe.append(os.open(waiting, os.O_WRONLY | os.O_NONBLOCK))
        return pipe

    def is_half_judged():
        return len(chat.asked) == 7 and results.read_bytes().count(b"\n") == 3

    with serving(behave) as chat:
        if point != "requests":
            content = waiting.read_bytes()
            waiting.unlink()
            os.mkfifo(waiting)
        first = start()
        commands.wait_until(is_half_judged if point == "requests" else is_read)
        first.send_signal(signal.SIGINT)
        told = ""
        for line in first.stderr:
            told += line
            if "waiting up to" in line:
                gate.set()
        first.wait(60)
        first.stderr.close()
        said(*[line for line in told.splitlines() if line.startswith(("rubric-lint: ", "  rubric-lint "))])
        assert (first.returncode, Path("report.json").exists()) == (130, False)
        if pipe:
            os.close(pipe[0])
            waiting.unlink()
            waiting.write_bytes(content)
        kept = results.read_bytes() if results.exists() else b""
        assert kept.count(b"\n") == {"answers": 0, "requests": 3, "labels": 12}[point]
        second = start()
        second.communicate(timeout=60)
    assert (second.returncode, len(chat.asked)) == (4, 24)  # each answer twice, in both runs together
    assert results.read_bytes().startswith(kept)
    report = json.loads(Path("report.json").read_text("utf-8"))["rubrics"][0]
    assert (report["answers"], report["labelled"]) == (12, 12)


def test_a_suite_of_agentv_is_read_as_one():
    suite = "tests:\n  - id: tone\n    input: Why?\n    assertions:\n      - name: style\n        type: rubrics\n"
    Path("refund.rubric.yaml").rename("refund.yaml")
    Path("a.eval.yaml").write_text(f"{suite}        criteria: [{{id: cause, outcome: Names the cause}}]\n")
    Path("answers.jsonl").write_text('{"id": "a", "answer": "The pump leaks."}\n')
    given = ["assess", "a.eval.yaml", "answers.jsonl", "--format", "json"]
    done = commands.run("rubric-lint", *given)
    (rubric,) = json.loads(done.stdout)["rubrics"]
    assert (done.returncode, rubric["rubric"], standings(rubric)) == (4, "tone", {"cause": UNKNOWN})


def test_a_run_of_agentv_belongs_to_the_rubrics_that_its_graders_can_only_have_judged():
    suite = """\
tests:
  - id: leak
    input: Why?
    assertions:
      - {name: facts, type: rubrics, criteria: [{id: cause, outcome: Names the cause}]}
      - {type: rubrics, criteria: [{id: tone, outcome: Is kind}]}
      - {type: rubrics, name: said, criteria: [{id: day, outcome: Names the day}]}
      - {type: rubrics, name: said, criteria: [{id: day, outcome: Says which day}]}
  - {id: form, input: Why?, assertions: [{type: contains, value: x}, {type: rubrics, name: list, criteria: [It]}]}
"""
    tests = {"leak": {"facts": "cause", "rubrics": "tone", "said": "day"}, "form": {"list": "rubric-1", "none": "a"}}
    run_of_agentv = [
        {
            "test_id": name,
            "execution_status": "ok",
            "scores": [
                {"name": grader, "assertions": [{"text": f"[{criterion}] It", "passed": True}]}
                for grader, criterion in graders.items()
            ],
        }
        for name, graders in tests.items()
    ]
    Path("refund.rubric.yaml").unlink()
    Path("a.eval.yaml").write_text(suite)
    Path("answers.jsonl").write_text('{"id": "leak", "answer": "The pump leaks."}\n')
    Path("index.jsonl").write_text("".join(f"{json.dumps(test)}\n" for test in run_of_agentv))
    given = ["assess", "a.eval.yaml", "answers.jsonl", "--results", "index.jsonl", "--format", "json"]
    report = json.loads(commands.run("rubric-lint", *given).stdout)
    assert {rubric["rubric"]: rubric["answers"] for rubric in report["rubrics"]} == {
        "leak/facts": 1,
        "leak/assertions/1": 1,
        "leak/assertions/2": 0,
        "leak/assertions/3": 0,
        "form": 1,
    }
    assert [(each["rubric"], each["records"]) for each in report["unmatched"]] == [("leak/said", 1), ("form/none", 1)]


def follow(report, number):
    """Run the command of a step of what to do next, as it is printed."""
    words = shlex.split(report["next"][number]["command"])[1:]
    done = commands.run("rubric-lint", *words)
    assert done.returncode in {0, 4}, done.stderr
    return words


def fill_in(sheet, cases):
    """Label the answers of a sheet as people would."""
    with Path(sheet).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        met = cases[int(row["id"][1:])]
        row.update(
            {name: "yes" if met[name.partition(" ")[0]] else "no" for name in row if name.endswith("[yes or no]")}
        )
    with Path(sheet).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [row["id"] for row in rows]


@pytest.mark.slow
def test_following_the_advice_to_label_more_labels_others_that_are_judged_and_decides():
    cases = prepare(60, GOOD)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text("utf-8").splitlines()]
    write_lines("named.jsonl", records[:50])  # the last 10 have no result
    results = ("--results", "named.jsonl")
    code, report, _ = run(*results)
    assert code == 4
    drawn = commands.run("rubric-lint", "labels", *FILES, *results, "--sample", "20", "-o", "labels.csv")
    assert drawn.returncode == 0, drawn
    first = fill_in("labels.csv", cases)
    code, report, _ = run(*results, "--labels", "labels.csv")
    assert (code, report["reasons"], report["labelled"]) == (4, ["few-labels"], 20)
    follow(report, 0)
    second = fill_in("labels-2.csv", cases)
    assert {*first}.isdisjoint(second)
    assert {*first, *second} <= {record["id"] for record in records[:50]}
    words = shlex.split(report["next"][-1]["command"])[4:]
    code, report, _ = run(*words)
    assert (report["labelled"], report["look"]) == (20 + len(second), 2)


def test_with_few_judged_answers_left_these_are_labelled_before_more_are_collected(said):
    prepare(30, GOOD, labels=5)
    code, report, _ = run("--labels", "labels.jsonl")
    said(*(f"{each['text']}\n{each['command']}" for each in report["next"]))
    assert (code, report["labels_needed"]) == (4, None)  # far too few to say


@pytest.mark.slow
def test_two_judges_are_assessed_by_themselves_and_the_worst_decides(said):
    cases = prepare(200, GOOD, labels=200)
    Path("lenient.jsonl").write_text(played.record(cases, LENIENT, 2))
    results = ("--results", "answers.judged.jsonl", "--results", "lenient.jsonl", "--labels", "labels.jsonl")
    code, report, _ = run(*results)
    assert (code, report["answer"]) == (1, "not trusted")
    assert [each["judge"] for each in report["each_judge"]] == ["lenient", "answers"]
    assert report["bad_caught"] == report["each_judge"][0]["bad_caught"]
    assert report["each_judge"][1]["bad_caught"]["low"] > 0.8
    code, page, _ = run(*results, form="full")
    said(list_own(page))


def test_results_of_answers_that_are_not_given_are_left_out_and_told():
    prepare(60, GOOD)
    lines = Path("answers.jsonl").read_text("utf-8").splitlines(keepends=True)
    Path("answers.jsonl").write_text("".join(lines[:20]))
    _, report, _ = run()
    assert report["answers"] == 20
    assert [(each["reason"], each["count"]) for each in report["left_out"]] == [
        ("ANSWERS has no answer with the id of the result", 40)
    ]


@pytest.mark.parametrize(
    ("name", "rater"), [("answers.csv", "answers"), ("people.csv", "people.csv"), ("m.csv", "m.csv")]
)
def test_a_sheet_that_is_named_as_the_judge_or_as_all_people_is_read(name, rater):
    cases = prepare(20, GOOD)
    columns = "id,cites,period,polite,short,chosen\n"
    rows = (
        f"a{number:03},{','.join('yes' if met else 'no' for met in case.values())},random\n"
        for number, case in enumerate(cases)
    )
    Path(name).write_text(columns + "".join(rows))
    code, report, _ = run("--labels", name)
    assert (code, report["labelled"], report["people"]) == (4, 20, [rater])


def test_a_criterion_without_a_label_is_named_as_the_reason_for_no_verdict(said):
    cases = prepare(20, GOOD)
    rows = (
        f"a{number:03},{','.join('yes' if case[name] else 'no' for name in ('cites', 'period', 'polite'))},random\n"
        for number, case in enumerate(cases)
    )
    Path("labels.csv").write_text("id,cites,period,polite,chosen\n" + "".join(rows))
    code, page, _ = run("--labels", "labels.csv", form="full")
    assert code == 4
    said(list_own(page))


def test_causes_with_different_values_are_said_to_have_them():
    causes = Causes(["score 11 is outside 0..10", "score 12 is outside 0..10", "no JSON", "no JSON"])
    assert causes.word() == "score 11 is outside 0..10 (2 times, also with other names or values) and no JSON (2 times)"


def write_judged(judged, labels, *, answers=None):
    """Write verdicts of a judge and of people by number: each is whether all criteria are met."""
    outputs = [[played.to_output(dict.fromkeys(played.CRITERIA, met)) for met in each] for each in judged]
    about = [{"id": f"a{number:03}", "answer": f"It is {played.spell(number)}"} for number in range(len(judged))]
    about = [{**one, **more} for one, more in zip(about, answers or [{}] * len(judged), strict=True)]
    records = [{**one, "outputs": output, "judge": {"model": "m"}} for one, output in zip(about, outputs, strict=True)]
    write_lines("answers.jsonl", about)
    write_lines("answers.judged.jsonl", records)
    given = [
        {
            "id": one["id"],
            "rater": "ann",
            "chosen": "random",
            "output": played.to_output(dict.fromkeys(played.CRITERIA, met)),
        }
        for one, met in zip(about, labels, strict=True)
    ]
    write_lines("labels.jsonl", given)


@pytest.mark.slow
def test_the_shares_are_those_of_one_run_unless_a_verdict_rests_on_several(said):
    """Of 30 bad answers, 12 are caught by one of two outputs, of which the worse one counts in `score`."""
    write_judged([(False, True)] * 12 + [(False, False)] * 18 + [(True, True)] * 30, [False] * 30 + [True] * 30)
    code, report, _ = run(*LABELS)
    assert (code, report["bad_caught"]["x"], report["bad_caught"]["n"]) == (4, 24, 30)
    said(list_own(run(*LABELS, form="full")[1]))
    code, report, _ = run(*LABELS, "--runs", "2")
    assert (code, report["bad_caught"]["x"], report["answer"]) == (0, 30, "trusted")
    code, _, told = run(*LABELS, "--runs", "3")
    assert (code, "no answer has more than 2 judge outputs" in told) == (2, True)


FOUR = "rubrics:\n" + "".join(
    f"  - id: {name}\n    expected_outcome: {outcome}\n"
    for name, outcome in {
        "cites": "Names the paragraph of the policy that the answer rests on",
        "period": "States that returns are possible for 30 days",
        "polite": "Thanks the customer by name",
        "short": "Has at most five sentences",
    }.items()
)


@pytest.mark.slow
def test_score_agree_and_assess_draw_one_line_between_good_and_bad():
    """People find two of four checks unmet in 30 answers, of which the judge waives one."""
    Path("refund.rubric.yaml").write_text(FOUR)
    given = []
    for name, unmet in (("answers.judged.jsonl", ("cites",)), ("labels.jsonl", ("cites", "period"))):
        outputs = [
            {criterion: not (number < 30 and criterion in unmet) for criterion in played.CRITERIA}
            for number in range(60)
        ]
        given.append(outputs)
        more = {"rater": "ann", "chosen": "random"} if name == "labels.jsonl" else {}
        write_lines(
            name, [{"id": f"a{n}", **more, "output": played.to_output(output)} for n, output in enumerate(outputs)]
        )
    write_lines("answers.jsonl", [{"id": f"a{n}", "answer": f"It is {played.spell(n)}"} for n in range(60)])
    caught = []
    for line in ("fail", "borderline"):
        _, report, _ = run(*LABELS, "--fail-on", line)
        options = ["answers.judged.jsonl", *LABELS, "--fail-on", line, "--format", "json"]
        agree = commands.run("rubric-score", "agree", FILES[0], *options).stdout
        verdict = json.loads(agree)["agreements"][0]["comparisons"][0]["measures"][-1]["pair"]["gate"]
        scored = [FILES[0], "answers.judged.jsonl", "-q", "--fail-on", line]
        code = commands.run("rubric-score", *scored).returncode
        caught.append((report["bad_caught"]["x"], verdict["bad_caught"]["x"], verdict["bad_caught"]["n"], code))
    assert caught == [(0, 0, 30, 0), (30, 30, 30, 1)]


def write_people(people, judged, *, questions=0, chosen="random", name="met", unjudged=0):
    """Write outputs of a judge and labels of people by number.

    None is an output that is no verdict, "?" a label that is not allowed; so many of the first answers as `unjudged`
    says have no output.
    """
    about = [{"id": f"a{number:03}", "answer": f"It is {played.spell(number)}"} for number in range(len(judged))]
    if questions:
        about = [{**each, "question": f"What is {played.spell(at % questions)}?"} for at, each in enumerate(about)]

    def give(value):
        return {"score": value} if name == "score" else played.to_output(dict.fromkeys(played.CRITERIA, value))

    records = [
        {**one, "outputs": ["I refuse." if value is None else give(value) for value in each], "judge": {"model": "m"}}
        for one, each in zip(about, judged, strict=True)
    ]
    write_lines("answers.jsonl", about)
    write_lines("answers.judged.jsonl", records[unjudged:])
    how = {"chosen": chosen} if chosen else {}
    labels = [
        {"id": one["id"], "rater": person, **how, "output": "perhaps" if value == "?" else give(value)}
        for person, values in people.items()
        for one, value in zip(about, values, strict=True)
    ]
    write_lines("labels.jsonl", labels)


HALF = [False] * 30 + [True] * 30
ONCE = [(value,) for value in HALF]
SPLIT = [False] * 25 + [True] * 75


TWICE = [(False, at >= 24) for at in range(30)] + [(True, True)] * 30
NEAR = [(at >= 26,) for at in range(30)] + [(True,)] * 30


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("people", "judged", "more", "options", "caught", "reasons"),
    [
        ({"ann": [False] * 40 + [True] * 60, "bob": SPLIT}, [(each,) for each in SPLIT], {}, (), (25, 25),
         "shares-reached"),
        ({"ann": HALF, "bob": [not each for each in HALF]}, ONCE, {}, (), (0, 0), "people-disagree"),
        ({"ann": [at % 2 > 0 for at in range(120)]}, [(at % 2 > 0,) for at in range(120)], {"questions": 10}, (),
         (5, 5), "few-labels"),
        ({"ann": HALF}, TWICE, {}, (), (27, 30), "few-labels"),
        ({"ann": HALF}, TWICE, {}, ("--runs", "2"), (30, 30), "shares-reached"),
        ({"ann": HALF}, ONCE, {}, ("--look", "10"), (30, 30), "shares-reached"),
        ({"ann": [False] * 20 + [True] * 20}, [(at >= 20,) for at in range(40)], {}, ("--look", "10"), (20, 20),
         "few-labels"),
         ({"ann": HALF}, NEAR, {}, (), (26, 30), "few-labels"),
         ({"ann": HALF}, NEAR, {}, ("--target", "0.6"), (26, 30), "shares-reached"),
         ({"ann": HALF}, NEAR, {}, ("--target", "0.99"), (26, 30), "few-labels"),
         ({"ann": HALF}, [(False, at < 24) for at in range(30)] + [(True, True)] * 30, {}, (), (18, 30), "misses-bad"),
         ({"ann": HALF}, [(None,)] * 15 + ONCE[15:], {}, (), (15, 30), "misses-bad"),
         ({"ann": HALF}, [(False, None)] * 30 + [(True, True)] * 30, {}, (), (15, 30), "misses-bad"),
         ({"ann": HALF}, [(None, None, False)] * 6 + [(None,)] + ONCE[7:], {}, (), (25, 30), "few-labels"),
         ({"ann": HALF}, ONCE, {"unjudged": 15}, (), (15, 30), "few-labels"),
         ({"ann": ["?"] * 6 + HALF[6:]}, ONCE, {}, (), (24, 24), "labels-refused"),
         ({"ann": HALF}, ONCE, {"chosen": "by-verdict"}, (), (30, 30), "by-verdict"),
        ({"ann": [at % 5 + 1 for at in range(60)]}, [((2, 4, 5, 8, 10)[at % 5],) for at in range(60)],
         {"name": "score"}, (), (36, 60), "label-scale"),
    ],
    ids=["split", "reversed", "questions", "half-wrong", "two-runs", "look", "look-few", "near", "less", "more",
         "two-outputs", "refused", "partly", "mostly", "unjudged", "labels-refused", "by-verdict", "scale"],
)  # fmt: skip
def test_agree_and_assess_say_the_same_of_the_same_files(people, judged, more, options, caught, reasons):
    if more.get("name") == "score":
        Path("refund.rubric.yaml").write_text(SCALE)
    write_people(people, judged, **more)
    _, report, _ = run(*LABELS, *options)
    limit = ("--fail-below", "verdict:bad-caught=0.4", "--allow-invalid")
    asked = (FILES[0], "answers.judged.jsonl", *LABELS, *limit, *options, "--format", "json")
    found = commands.run("rubric-score", "agree", *asked)
    measures = json.loads(found.stdout)["agreements"][0]["comparisons"][0]["measures"]
    gates = {measure["criterion"]: measure["pair"]["gate"] for measure in measures if measure["pair"]["gate"]}
    verdict = gates.pop(None)
    fields = ("bad_caught", "good_passed", "reasons", "labels_needed")
    assert {name: verdict[name] for name in fields} == {name: report[name] for name in fields}
    assert (verdict["bad_caught"]["x"], verdict["bad_caught"]["n"], verdict["reasons"]) == (*caught, [reasons])
    of_criteria = {criterion["id"]: criterion for criterion in report["criteria"]}
    is_void = reasons in {"people-disagree", "labels-refused", "by-verdict", "label-scale"}
    for criterion, gate in gates.items():
        own = of_criteria[criterion]
        is_open = own["standing"] == UNKNOWN
        names = [*fields[:2], *(["labels_needed"] if is_open else [])]
        assert [gate[name] for name in names] == [own[name] for name in names], criterion
        assert gate["target"] == 0.8
        if not is_void:
            stands = {"shares-reached": KEEP, "few-labels": UNKNOWN, "misses-bad": FIX}
            assert own["standing"] == stands[gate["reasons"][0]], criterion
    assert found.returncode == int(is_void)


RANGES = """\
rubrics:
  - {{id: accuracy, required_min_score: 7, score_ranges: {{0: A name differs, 7: Every name is that of the article}}}}
  - {{id: length, {more}score_ranges: {{0: Longer than 80 words, 6: At most 80 words}}}}
"""


def measure_length(labels, judged, *options, more=""):
    """Return what `assess`, `agree` and `check` say of the criterion `length`, by values of people and of a judge."""
    Path("refund.rubric.yaml").write_text(RANGES.format(more=more))
    about = [{"id": f"a{at}", "question": f"What is {played.spell(at)}?"} for at in range(len(labels))]
    records = []
    for at, (one, value) in enumerate(zip(about, judged, strict=True)):
        checks = [{"id": "accuracy", "score": (3, 9)[at % 2]}, {"id": "length", "score": value}]
        records.append({**one, "answer": f"It is {played.spell(at)}", "output": {"checks": checks}})
    rows = [f"a{at},ann,random,{(3, 9)[at % 2]},{'' if label is None else label}" for at, label in enumerate(labels)]
    write_lines("answers.jsonl", [{**record, "output": None} for record in records])
    write_lines("answers.judged.jsonl", records)
    Path("labels.csv").write_text("\n".join(["id,rater,chosen,accuracy,length", *rows]), "utf-8")
    files = ("answers.judged.jsonl", "--labels", "labels.csv")
    _, report, _ = run(*files[1:], *options)
    own = next(criterion for criterion in report["criteria"] if criterion["id"] == "length")
    asked = ("agree", FILES[0], *files, *options, "--format", "json")
    measures = json.loads(commands.run("rubric-lint", *asked).stdout)["agreements"][0]["comparisons"][0]["measures"]
    gate = next(measure for measure in measures if (measure["criterion"], measure["scale"]) == ("length", "score"))[
        "pair"
    ]["gate"]
    checked = ("check", FILES[0], "--judged", *files, "--format", "json")
    found = json.loads(commands.run("rubric-lint", *checked).stdout)["findings"]
    warned = [each["message"] for each in found if each["rule"] == "judged-disagrees"]
    return own, gate, warned


LOW_HIGH = [0, 10] * 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "judged", "more", "standing", "caught", "passed"),
    [
        (LOW_HIGH, [3, 9] * 30, "", KEEP, 30, 30),
        (LOW_HIGH, [9] * 60, "", FIX, 0, 30),
        ([0, 3] * 30, [3, 9] * 30, "", UNKNOWN, None, None),
        ([3] * 60, [3, 9] * 30, "", UNKNOWN, None, None),
        (LOW_HIGH, [9] * 60, "weight: 0, ", UNKNOWN, None, None),
        (LOW_HIGH + [None] * 40, [3, 9] * 30 + [9, 3] * 20, "", UNKNOWN, 30, 30),
        (LOW_HIGH + [None] * 2, [3, 9] * 30 + [9, 3], "", KEEP, 30, 30),
    ],
    ids=["same-band", "missed", "one-band", "alike", "weight-0", "empty", "two-empty"],
)
def test_assess_agree_and_check_measure_a_criterion_without_a_gate_alike(
    labels, judged, more, standing, caught, passed, said
):
    """Scores of one band are on one side, and answers without a value count against the judge in lower bounds."""
    own, gate, warned = measure_length(labels, judged, more=more)
    fields = ("bad_caught", "good_passed")
    assert (own["standing"], bool(warned)) == (standing, standing is FIX)
    assert [own[name] for name in fields] == ([gate[name] for name in fields] if gate else [None, None])
    assert [own[name] and own[name]["x"] for name in fields] == [caught, passed]
    page = re.sub(r"\s+", " ", run("--labels", "labels.csv", form="full")[1].partition("\nDetails")[0])
    said(warned, page.partition(" Next:")[0].partition(" sees them. ")[2])


@pytest.mark.slow
def test_a_page_says_what_is_bad_without_a_gate(said):
    measure_length(LOW_HIGH, [3, 9] * 30)
    page = run("--labels", "labels.csv", form="full")[1]
    agree = commands.run("rubric-lint", "agree", FILES[0], "answers.judged.jsonl", "--labels", "labels.csv").stdout
    said([line for line in [*page.splitlines(), *agree.splitlines()] if "gate" in line])


@pytest.mark.parametrize(("look", "standing", "level"), [(1, KEEP, 0.025), (10, UNKNOWN, 0.0025)])
def test_looks_share_the_error_of_what_is_said_of_criteria(look, standing, level):
    """18 bad and 18 good answers reach 80% at the first look, and nothing at the last one."""
    own, gate, _ = measure_length([0, 10] * 18, [3, 9] * 18, "--look", str(look))
    low = lower_bound(18, 18, level)
    assert (own["standing"], own["bad_caught"]["low"], gate["good_passed"]["low"]) == (standing, low, low)


@pytest.mark.parametrize(("look", "standing"), [(1, FIX), (10, UNKNOWN)])
def test_looks_share_the_error_of_what_speaks_against_a_criterion(look, standing):
    """Of 30 bad answers 15 are caught."""
    missed = [9 if at < 30 and at % 2 == 0 else (3, 9)[at % 2] for at in range(60)]
    own, gate, _ = measure_length(LOW_HIGH, missed, "--look", str(look))
    assert (own["standing"], gate["reasons"]) == (standing, ["misses-bad" if standing is FIX else "few-labels"])


@pytest.mark.slow
def test_models_of_a_panel_share_the_error_as_judges_do_and_it_judges_once(said):
    met = [False, True] * 18
    write_judged([(each,) * 3 for each in met], met)
    panel = {"judge": {"panel": [{"model": name, "outputs": 1} for name in ("one", "two", "three")]}}
    records = [{**json.loads(line), **panel} for line in Path("answers.judged.jsonl").read_text().splitlines()]
    write_lines("answers.judged.jsonl", records)
    asked = ("agree", FILES[0], "answers.judged.jsonl", *LABELS)
    comparisons = json.loads(commands.run("rubric-lint", *asked, "--format", "json").stdout)["agreements"][0]
    lows = {}
    for comparison in comparisons["comparisons"]:
        if comparison["between"] == "label and judge":
            lows[comparison["raters"][1]] = {one["pair"]["gate"]["bad_caught"]["low"] for one in comparison["measures"]}
    member, whole = {lower_bound(18, 18, 0.025 / 3)}, {lower_bound(18, 18, 0.025)}
    assert lows == {"one": member, "two": member, "three": member, "panel": whole}
    assert run(*LABELS)[1]["bad_caught"]["low"] == whole.pop()
    found = commands.run("rubric-lint", *asked, "--runs", "2")
    assert found.returncode == 2
    said(found.stderr)


def test_agree_refuses_more_outputs_for_a_run_than_any_answer_has(said):
    write_people({"ann": HALF}, ONCE)
    asked = (FILES[0], "answers.judged.jsonl", *LABELS, "--runs", "2")
    found = commands.run("rubric-score", "agree", *asked)
    assert found.returncode == 2
    said(found.stderr)


@pytest.mark.slow
def test_a_group_in_which_the_judge_fails_is_named_although_the_whole_is_trusted(said):
    """251 bad answers, of which 41 are in another language; the judge catches 13 of these and 206 of the others."""
    judged = [(number >= 206,) for number in range(210)] + [(number >= 13,) for number in range(41)] + [(True,)] * 349
    languages = [{"language": "en"}] * 210 + [{"language": "de"}] * 41 + [{"language": "en"}] * 300
    languages += [{"language": "de"}] * 49
    write_judged(judged, [False] * 251 + [True] * 349, answers=languages)
    code, report, _ = run(*LABELS)
    assert (code, report["answer"]) == (0, "trusted")
    assert shlex.split(report["next"][-1]["command"])[-2:] == ["--by", "language"]
    code, report, _ = run(*LABELS, "--by", "language")
    assert (code, report["reasons"]) == (1, ["below-in-group"])
    groups = [(group["group"], group["bad_caught"]["x"], group["bad_caught"]["n"]) for group in report["groups"]]
    assert groups == [("en", 206, 210), ("de", 13, 41)]
    said(run(*LABELS, "--by", "language", form="full")[1].partition("\nDetails")[0])
    assert "no answer has the field `topic`" in run(*LABELS, "--by", "topic")[2]


def refuse_outputs(places):
    """Replace the outputs of some answers by one that is no judgement."""
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    for place in places:
        records[place]["outputs"] = ["I refuse."]
    write_lines("answers.judged.jsonl", records)
    return records


@pytest.mark.slow
@pytest.mark.parametrize("is_apart", [True, False])
def test_an_answer_with_an_invalid_output_stays_in_its_group(is_apart):
    met = [False] * 200 + [True] * 200
    languages = [{"language": "de" if number % 9 == 0 else "en"} for number in range(400)]
    write_judged([(each,) for each in met], met, answers=languages)
    records = refuse_outputs(range(0, 400, 9))
    if not is_apart:
        write_lines("answers.jsonl", [{**one, **more} for one, more in zip(records, languages, strict=True)])
    code, report, _ = run(*LABELS, "--by", "language")
    groups = [(group["group"], group["bad_caught"]["x"], group["bad_caught"]["n"]) for group in report["groups"]]
    assert (code, report["reasons"], groups) == (1, ["below-in-group"], [("en", 177, 177), ("de", 0, 23)])


def test_an_answer_with_an_invalid_output_stays_with_its_question():
    """Of 3 answers to each of 40 questions, one has an invalid output."""
    met = [False] * 60 + [True] * 60
    asked = [{"question": f"What is {played.spell(number // 3)}"} for number in range(120)]
    write_judged([(each,) for each in met], met, answers=asked)
    write_lines("answers.jsonl", refuse_outputs(range(0, 120, 3)))
    _, report, _ = run(*LABELS)
    assert [report[side]["n"] for side in ("bad_caught", "good_passed")] == [20, 20]
    assert report["bad_caught"]["x"] == pytest.approx(40 / 3)


@pytest.mark.slow
def test_near_copies_count_as_one_and_are_counted(said):
    """60 Chinese answers that differ in one character each, and arithmetic questions that differ in digits."""
    met = [False] * 30 + [True] * 30
    text = "我们在三十天内接受退货但是商品必须保持原样并且附上发票否则无法办理退款手续"
    answers = [{"answer": f"{text[:20]}{'不可' if met[n] else '可以'}{chr(0x5000 + n)}{text}"} for n in range(60)]
    write_judged([(each,) for each in met], met, answers=answers)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["near_copies"]) == (4, ["few-labels"], 58)
    assert [report[side]["n"] for side in ("bad_caught", "good_passed")] == [1, 1]
    said(list_own(run(*LABELS, form="full")[1]))
    asked = [{"question": f"What is {number} + 7?"} for number in range(60)]
    write_judged([(each,) for each in met], met, answers=asked)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["near_copies"]) == (0, ["shares-reached"], 0)


@pytest.mark.slow
def test_an_answer_with_fewer_outputs_than_a_run_is_not_wrong(said):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) * (2 + number % 2) for number, each in enumerate(met)], met)
    code, report, _ = run(*LABELS, "--runs", "3")
    assert (code, report["reasons"], report["unscored"]) == (4, ["few-labels"], 30)
    assert [report[side]["high"] for side in ("bad_caught", "good_passed")] == [1, 1]
    said(list_own(run(*LABELS, "--runs", "3", form="full")[1]))


@pytest.mark.parametrize(("runs", "caught"), [(1, 20 + 5), (2, 20)])
def test_an_invalid_output_is_a_run_that_is_not_right_and_others_of_its_answer_count(runs, caught):
    met = [False] * 30 + [True] * 30
    write_judged([(each, each) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    for record in records[:10]:
        record["outputs"][1] = "I refuse."
    write_lines("answers.judged.jsonl", records)
    _, report, _ = run(*LABELS, "--runs", str(runs))
    assert (report["bad_caught"]["x"], report["bad_caught"]["n"]) == (caught, 30)


def test_a_label_of_no_answer_is_left_out_and_an_id_with_blanks_is_trimmed():
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    names = [f"a{number:03}" for number in range(60)]
    verdicts = ["pass" if each else "fail" for each in met]
    rows = [f" {name} ,ann,{verdict}" for name, verdict in zip(names, verdicts, strict=True)]
    Path("labels.csv").write_text("\n".join(["id,rater,verdict", *rows, "zz9,ann,fail"]), "utf-8")
    _, report, _ = run("--labels", "labels.csv", "--results", "answers.judged.jsonl")
    assert [report[side]["n"] for side in ("bad_caught", "good_passed")] == [30, 30]
    assert report["unscored"] == 0
    page = run("--labels", "labels.csv", "--results", "answers.judged.jsonl", form="full")[1]
    assert f"1 label left out ({NO_ANSWER}): zz9 by ann" in " ".join(page.split())


def write_60(judged):
    """Write 60 labels, and as ANSWERS what `judged` makes of the records of a judge that is always right."""
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text("utf-8").splitlines()]
    Path("answers.judged.jsonl").unlink()
    Path("answers.jsonl").write_text("".join(f"{each}\n" for each in map(judged, range(60), records) if each))


ENDS = ("x", "n", "low", "high")


def compare_with_agree(report):
    """Compare the shares of a report with those that `agree` gives; return those of good answers."""
    _, found, _ = played.call("agree", AGREEMENT, *FILES, *LABELS, form="json")
    gate = found["agreements"][0]["comparisons"][0]["measures"][-1]["pair"]["gate"]
    sides = ("bad_caught", "good_passed")
    shares, others = ([[each[side][end] for end in ENDS] for side in sides] for each in (report, gate))
    assert shares == others
    return shares[1]


@pytest.mark.slow
def test_a_label_without_a_record_in_the_answers_is_one_without_judge_output(said):
    """A run that was cut off, and a record that was cut short, show nothing of the judge; `agree` says the same."""
    records = dict.fromkeys(range(40, 48)) | {48: '{"id": "a0'}
    write_60(lambda number, record: records.get(number, json.dumps(record)))
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["unscored"]) == (4, ["few-labels"], 9)
    x, n, _, high = compare_with_agree(report)
    assert (x, n, high) == (21, 30, 1)
    said(list_own(run(*LABELS, form="full")[1]))


@pytest.mark.slow
@pytest.mark.spread(4)
@pytest.mark.parametrize(
    ("instead", "is_missing"),
    [
        ({}, True),
        ({"output": None}, True),
        ({"output": ""}, True),
        ({"outputs": []}, True),
        ({"cites": "", "period": None}, True),
        ({"rubric": "old", "output": "I refuse."}, True),
        ({"error": "HTTP 429"}, True),
        ({"error": {"message": "HTTP 500"}, "output": None}, True),
        ({"output": "", "refusal": "I cannot judge this."}, True),
        ({"output": "", "judge": {"fault": "HTTP 500"}}, False),
        ({"output": "I refuse."}, False),
        ({"cites": "perhaps"}, False),
        ({"checks": []}, False),
    ],
)
def test_only_a_record_with_something_of_the_judge_counts_against_it_in_upper_bounds(instead, is_missing):
    def judge(number, record):
        bare = {name: record[name] for name in ("id", "answer", "judge")}
        return json.dumps({**bare, **instead} if number >= 40 else record)

    write_60(judge)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"]) == ((4, ["few-labels"]) if is_missing else (1, ["fails-good"]))
    x, n, _, high = compare_with_agree(report)
    assert (x, n, high == 1) == (10, 30, is_missing)
    for name in ("results.jsonl", "results.csv"):  # of `score`, which say the same
        commands.run("rubric-lint", "score", *FILES, "-o", name)
        found = run(*LABELS, "--results", name)[1]
        assert [found[side] for side in ("bad_caught", "good_passed")] == [
            report[side] for side in ("bad_caught", "good_passed")
        ]


@pytest.mark.parametrize("instead", [{}, {"output": None}, {"rubric": "old", "output": "I refuse."}])
def test_what_no_judge_said_is_to_be_judged_and_not_asked_again_in_another_way(said, instead):
    def judge(number, record):
        return json.dumps({"id": record["id"], "answer": record["answer"], **instead} if number >= 48 else record)

    write_60(judge)
    said(list_own(run(*LABELS, form="full")[1]))


def test_if_no_record_has_an_output_nothing_is_judged(said):
    write_60(lambda _, record: json.dumps({"id": record["id"], "answer": "?", "output": None}))
    code, report, _ = run(*LABELS, "--results", "answers.jsonl")
    assert (code, report["reasons"]) == (4, ["not-judged"])
    said(list_own(run(*LABELS, "--results", "answers.jsonl", form="full")[1]))


def test_empty_cells_are_filled_in_before_other_labels_are_asked_for(said):
    met = [False] * 15 + [True] * 15
    write_judged([(each,) for each in met], met)
    rows = [",".join([f"a{number:03}", "ann", *["yes" if each else "no"] * 4]) for number, each in enumerate(met)]
    rows[-6:] = [f"a{number:03},ann,yes,,," for number in range(24, 30)]
    header = ",".join(["id", "rater", *played.CRITERIA])
    Path("labels.csv").write_text("\n".join([header, *rows]), "utf-8")
    page = run("--labels", "labels.csv", form="full")[1]
    said(page.partition("\nNext")[2].partition("\nDetails")[0])


def test_lengths_are_those_of_the_answers_if_results_have_no_text():
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    reports = [run(*LABELS)[1]["criteria"]]
    write_lines(
        "answers.judged.jsonl",
        [{"id": record["id"], "outputs": record["outputs"], "judge": record["judge"]} for record in records],
    )
    reports.append(run(*LABELS)[1]["criteria"])
    assert reports[0] == reports[1]


def test_judge_outputs_without_the_field_output_are_invalid_and_not_passed_over():
    write_judged([(True,)] * 5, [True] * 5)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    Path("answers.judged.jsonl").unlink()
    write_lines(
        "answers.jsonl",
        [{"id": record["id"], "answer": record["answer"], **record["outputs"][0]} for record in records],
    )
    code, report, _ = run()
    assert (code, len(report["invalid"])) == (4, 5)


REFUSAL = "I refuse."


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("at", [0, 1, None], ids=["invalid-first", "invalid-second", "valid"])
def test_several_records_of_an_answer_are_its_outputs_as_those_of_one_record_are(runs, at):
    met = [False] * 30 + [True] * 30
    write_judged([(each, each) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    for record in records[:10] if at is not None else ():
        record["outputs"][at] = REFUSAL
    reports = []
    alone = [
        {**{name: value for name, value in record.items() if name != "outputs"}, "output": output}
        for record in records
        for output in record["outputs"]
    ]
    for written in (records, alone):
        write_lines("answers.judged.jsonl", written)
        _, report, _ = run(*LABELS, "--runs", str(runs))
        reports.append({key: report[key] for key in ("reasons", "bad_caught", "good_passed", "unscored")})
    assert reports[0] == reports[1]


@pytest.mark.parametrize("later", ["asked again", "invalid too", "another sample"])
def test_an_invalid_record_counts_beside_a_later_one_in_every_command(later, said):
    """Of 30 bad answers the judge catches all, but one of them has an invalid record before the one that does."""
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text("utf-8").splitlines()]
    again = {"asked again": records[:1], "invalid too": [refuse(0)], "another sample": []}[later]
    first = [refuse(0), *records[1:]] if again else [*records, refuse(0)]
    write_lines("answers.judged.jsonl", [*first, *again])
    files = (FILES[0], "answers.judged.jsonl")
    score = json.loads(commands.run("rubric-lint", "score", *files, "--format", "json").stdout)["totals"]
    agree = json.loads(commands.run("rubric-lint", "agree", *files, *LABELS, "--format", "json").stdout)
    _, report, _ = run(*LABELS)
    compared = agree["agreements"][0]["comparisons"][0]["measures"][-1]
    caught = [each["bad_caught"]["x"] for each in (compared["pair"]["gate"], report)]
    invalid = [score["invalid"], len(agree["invalid"]), len(report["invalid"])]
    wrong = 1 if later == "invalid too" else 0.5
    assert (score["outputs"], invalid, caught) == (61, [1 + (later == "invalid too")] * 3, [30 - wrong] * 2)
    notes = commands.run("rubric-lint", "agree", *files, *LABELS, "--allow-invalid").stderr.splitlines()
    said([line for line in notes if "record" in line])


def write_outputs(judge, extra=()):
    """Write 60 answers that people and a judge fail or pass alike, with the fields of each record, and more records."""
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    write_lines("answers.judged.jsonl", [*({**record, **judge} for record in records), *extra])
    return records


INVALID = {"outputs": ["I refuse.", "I refuse."]}


@pytest.mark.parametrize(
    ("judge", "more", "caught"),
    [
        ({"judge": {"model": "m"}}, {"judge": {"model": "n"}, **INVALID}, {"m": (30, 30), "n": (0, 30)}),
        ({"judge": "m"}, {"judge": "n", **INVALID}, {"m": (30, 30), "n": (0, 30)}),
        ({"judge": "m"}, {"judge": {"model": "m"}, **INVALID}, {"m": (10, 30)}),
        ({"judge": {"model": "m"}}, {"rater": "n", **INVALID}, {"m": (30, 30), "n": (0, 30)}),
        ({"judge": {"model": "m"}}, {"judge": {"model": "m"}, **INVALID}, {"m": (10, 30)}),
        ({"judge": {"model": "m"}}, {"error": "content filter"}, {"m": (30, 30)}),
        ({"judge": {}}, {"error": "content filter"}, {"answers": (30, 30)}),
        ({"judge": {"model": "m"}}, {"output": ""}, {"m": (30, 30)}),
        ({"judge": {}}, {"output": None}, {"answers": (30, 30)}),
    ],
    ids=[
        "other-model",
        "other-text",
        "same-text",
        "other-rater",
        "asked-again",
        "reason-without-a-model",
        "reason-no-models",
        "without-a-model",
        "no-models",
    ],
)
def test_a_judge_with_only_invalid_outputs_is_a_judge_and_no_other_record_makes_one(judge, more, caught):
    write_outputs(judge, [{"id": f"a{number:03}", **more} for number in range(60)])
    report = run(*LABELS)[1]
    found = {each["judge"]: (each["bad_caught"]["x"], each["bad_caught"]["n"]) for each in report["each_judge"]}
    assert (found, len(report["invalid"])) == (caught, 60)


@pytest.mark.parametrize(
    ("failed", "caught"),
    [
        ({"output": None}, 20),
        ({"error": "content filter"}, 20),
        ({"judge": {"panel": [{"model": "one", "outputs": 1}, {"model": "two", "outputs": 0}]}, "outputs": ["?"]}, 20),
        ({"judge": {"rubric_hash": "of another"}, "error": "content filter"}, 20),
    ],
    ids=["no-judge", "no-output", "panel", "other-version"],
)
def test_an_invalid_record_of_a_panel_counts_as_wrong(failed, caught):
    met = [False] * 30 + [True] * 30
    write_judged([(each, each) for each in met], met)
    panel = {"judge": {"panel": [{"model": name, "outputs": 1} for name in ("one", "two")]}}
    records = [{**json.loads(line), **panel} for line in Path("answers.judged.jsonl").read_text().splitlines()]
    records[:10] = [{"id": record["id"], **failed} for record in records[:10]]
    write_lines("answers.judged.jsonl", records)
    report = run(*LABELS)[1]
    is_unknown = "outputs" not in failed
    assert ([each["judge"] for each in report["each_judge"]], report["bad_caught"]["x"]) == (["panel"], caught)
    assert (report["bad_caught"]["high"] == 1) is is_unknown


def test_a_label_joins_an_invalid_output_whose_id_is_a_number():
    records = write_outputs({})
    write_lines("answers.judged.jsonl", [{**record, "id": at} for at, record in enumerate(records)])
    write_lines("answers.jsonl", [{"id": at, "answer": record["answer"]} for at, record in enumerate(records)])
    refuse_outputs(range(10))
    rows = [f"{at},{','.join(['yes' if at >= 30 else 'no'] * 4)}" for at in range(60)]
    Path("ann.csv").write_text("\n".join([f"id,{','.join(played.CRITERIA)}", *rows]))
    report = run("--labels", "ann.csv")[1]
    assert (report["bad_caught"]["x"], report["bad_caught"]["n"], report["left_out"]) == (20, 30, [])


@pytest.mark.slow
def test_a_judge_whose_every_second_output_is_invalid_is_said_to_fail_by_these(said):
    met = [False] * 30 + [True] * 30
    write_people({"ann": met}, [(each, None) for each in met])
    said(list_own(run(*LABELS, form="full")[1]))
    agreed = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", *LABELS).stdout
    said([line for line in agreed.splitlines() if line.lower().startswith("  verdict")])
    found = commands.run("rubric-lint", "check", FILES[0], "--judged", "answers.judged.jsonl", *LABELS)
    assert "judged-disagrees:" not in found.stdout.partition("not enough data for:")[0]


def test_answers_without_the_field_are_said_to_be_in_no_group(said):
    met = [False] * 30 + [True] * 30
    values = [True, 1, "1", "", True, 1.0, "1", ["x"]]
    fields = [{"new": values[number % 8]} for number in range(59)]
    write_judged([(each,) for each in met], met, answers=[*fields, {}])
    _, report, _ = run(*LABELS, "--by", "new")
    assert [(group["group"], group["labelled"]) for group in report["groups"]] == [('"1"', 15), ("1", 15), ("true", 15)]
    said(list_own(run(*LABELS, "--by", "new", form="full")[1]))
    agreed = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", *LABELS, "--by", "new").stdout
    said(next(part for part in agreed.split("\n\n") if "by group" in part))


REFUSED = [{"output": "perhaps"}, {"chosen": "randomly"}, {"rater": None}, {"rater": " "}, {"id": None}, {"id": ""}]


@pytest.mark.spread(3)
@pytest.mark.parametrize(
    ("wrong", "refused", "reasons"),
    [(REFUSED[0], 3, ["shares-reached"]), *((wrong, 4, ["labels-refused"]) for wrong in REFUSED)],
)
def test_labels_that_are_refused_for_what_is_in_them_are_a_selection(wrong, refused, reasons):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    lines = Path("labels.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records[:refused]:
        record.update(wrong)
    write_lines("labels.jsonl", records)
    assert run(*LABELS)[1]["reasons"] == reasons
    options = (FILES[0], "answers.judged.jsonl", *LABELS, "--format", "json")
    agreed = json.loads(commands.run("rubric-score", "agree", *options).stdout)["agreements"][0]["comparisons"][0]
    assert agreed["measures"][-1]["pair"]["gate"]["reasons"] == reasons


@pytest.mark.parametrize("flat", [False, True])
def test_the_next_step_says_what_to_correct_in_labels(said, flat):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    if flat:
        people = [{name: record[name] for name in ("id", "rater", "chosen")} for record in records]
        records = [{**person, "verdict": "pass" if at >= 30 else "fail"} for at, person in enumerate(people)]
    value = "verdict" if flat else "output"
    for record, wrong in zip(records, [{value: "perhaps"}, *REFUSED[1:3], {"id": ""}], strict=False):
        record.update(wrong)
    write_lines("labels.jsonl", [*records, {**records[50], value: records[10][value]}])
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"]) == (4, ["labels-refused"])
    said(list_own(run(*LABELS, form="full")[1]))


def test_rows_of_a_sheet_without_a_rater_are_refused_if_others_name_one():
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    rows = [f"a{at:03},{'ann' if at % 10 else ''},{'pass' if each else 'fail'}" for at, each in enumerate(met)]
    Path("labels.csv").write_text("\n".join(["id,rater,verdict", *rows]), "utf-8")
    assert run("--labels", "labels.csv")[1]["reasons"] == ["labels-refused"]


TWO = "a:\n  rubrics: [{id: policy, expected_outcome: Names the paragraph of the policy}]\n"
TWO += "b:\n  rubrics: [{id: policy, expected_outcome: Greets the customer by name}]\n"


@pytest.mark.parametrize("name", [None, "a", "old"])
def test_records_of_no_rubric_of_the_file_are_said_on_the_first_screen(said, name):
    Path("two.rubric.yaml").write_text(TWO)
    about = {} if name is None else {"rubric": name}
    write_lines("answers.jsonl", [{**about, "id": f"a{at}", "output": {"policy": True}} for at in range(5)])
    done = commands.run("rubric-lint", "assess", "two.rubric.yaml", "answers.jsonl")
    assert done.returncode == 4
    said(list_own(done.stdout))


DOUBTED = [
    ({"ann": HALF}, [(True,)] * 60, {"chosen": "by-verdict"}, "by-verdict"),
    ({"ann": HALF, "bob": [not each for each in HALF]}, [(True,)] * 60, {}, "people-disagree"),
    ({"ann": [at % 5 + 1 for at in range(60)]}, [((10, 10, 10, 8, 8)[at % 5],) for at in range(60)],
     {"name": "score"}, "label-scale"),
    ({"ann": ["?", "?", "?", "?", *HALF[4:]]}, [(True,)] * 60, {}, "labels-refused"),
]  # fmt: skip


@pytest.mark.parametrize(("people", "judged", "more", "reason"), DOUBTED, ids=[each[-1] for each in DOUBTED])
def test_judged_rules_say_nothing_from_labels_that_assess_doubts(people, judged, more, reason, said):
    if more.get("name") == "score":
        Path("refund.rubric.yaml").write_text(SCALE)
    write_people(people, judged, **more)
    options = (FILES[0], "--judged", "answers.judged.jsonl", *LABELS)
    found = commands.run("rubric-lint", "check", *options)
    assert run(*LABELS)[1]["reasons"] == [reason]
    assert " judged-disagrees: " not in found.stdout.partition("\nFound")[0]
    said([line for line in found.stdout.splitlines() if "judged-disagrees" in line])


def test_judged_rules_and_the_page_name_the_judge_that_fails_of_several(said):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    yes = played.to_output(dict.fromkeys(played.CRITERIA, True))
    lenient = [{**record, "outputs": [yes], "judge": {"model": "yes"}} for record in records]
    write_lines("answers.judged.jsonl", [*records, *lenient])
    options = (FILES[0], "--judged", "answers.judged.jsonl", *LABELS, "--format", "concise")
    said(commands.run("rubric-lint", "check", *options).stdout)
    said(list_own(run(*LABELS, form="full")[1]))


@pytest.mark.slow
def test_labels_whose_verdict_is_not_that_of_their_criteria_are_counted(said):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    rows = [[f"a{n:03}", "ann", "random", *[each] * 4, each or n < 4] for n, each in enumerate(met)]
    words = {True: "yes", False: "no"}
    lines = [",".join([*row[:3], *(words[each] for each in row[3:7]), "pass" if row[7] else "fail"]) for row in rows]
    head = f"id,rater,chosen,{','.join(played.CRITERIA)},verdict"
    Path("labels.csv").write_text("\n".join([head, *lines]))
    code, report, _ = run("--labels", "labels.csv")
    assert (code, report["good_passed"]["x"], report["good_passed"]["n"]) == (4, 30, 34)
    page = run("--labels", "labels.csv", form="full")[1]
    said(list_own(page))
    agree = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", "--labels", "labels.csv")
    said(agree.stderr)


@pytest.mark.parametrize(
    ("refused", "caught", "standing", "untested"),
    [
        (range(15), 30, UNKNOWN, False),  # all that is valid is right
        (range(12), 12, FIX, False),  # and none of it
        (range(30), 30, UNKNOWN, True),
    ],
)
def test_an_invalid_output_makes_no_criterion_one_to_fix(refused, caught, standing, untested):
    """The verdict counts it as wrong, as nobody can use it, but it says nothing of how a criterion is worded."""
    met = [False] * 30 + [True] * 30
    write_judged([(n >= caught,) for n in range(60)], met)
    refuse_outputs(refused)
    _, report, _ = run(*LABELS)
    assert (report["reasons"], set(standings(report).values())) == (["misses-bad"], {standing})
    lacking = [each["rule"] for each in report["criteria"][0]["untested"]]
    assert ("judged-disagrees" in lacking) == untested
    asked = ("--judged", "answers.judged.jsonl", *LABELS, "--select", "judged-disagrees", "--format", "json")
    checked = json.loads(commands.run("rubric-lint", "check", "refund.rubric.yaml", *asked).stdout)
    found = [finding["rule"] for finding in checked["findings"]]
    assert (found, fired(report)["cites"]) == (
        (["judged-disagrees"] * 4, ["judged-disagrees"]) if standing == FIX else ([], [])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judged", "refused", "needed"),
    [
        (range(20, 90), (), 80),
        (range(20, 40), (), None),  # only bad answers are judged
        (range(90), range(36, 42), 380),
        (range(90), range(30, 50), None),
    ],
)
def test_where_outputs_are_missing_the_page_does_not_blame_closeness_or_ask_for_labels(judged, refused, needed, said):
    met = [False] * 40 + [True] * 50
    write_judged([(each,) for each in met], met)
    records = refuse_outputs(refused)
    write_lines("answers.judged.jsonl", [records[number] for number in judged])
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["labels_needed"]) == (4, ["few-labels"], needed)
    said(list_own(run(*LABELS, form="full")[1]))


@pytest.mark.slow
def test_an_invalid_output_is_no_answer_on_which_people_and_the_judge_differ(said):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in [True, *met[1:]]], met)
    refuse_outputs([*range(1, 20), *range(30, 50)])
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["to_label_again"]) == (1, ["misses-bad", "fails-good"], ["a000"])
    said(list_own(run(*LABELS, form="full")[1]))


SCALE = """\
rubrics:
  - {score_range: [0, 5], expected_outcome: Names no cause}
  - {score_range: [6, 7], expected_outcome: Names a cause}
  - {score_range: [8, 10], expected_outcome: Names the cause and what to do}
"""


@pytest.mark.slow
def test_labels_that_seem_to_be_on_another_scale_say_nothing_until_somebody_says_which(said):
    Path("refund.rubric.yaml").write_text(SCALE)
    judged, labels = [], []
    for number in range(60):
        about = {"id": f"a{number}", "answer": f"It is {played.spell(number)}"}
        judged.append({**about, "output": {"score": (2, 4, 5, 8, 10)[number % 5]}})
        labels.append({"id": f"a{number}", "rater": "ann", "chosen": "random", "output": {"score": number % 5 + 1}})
    write_lines("answers.jsonl", judged)
    write_lines("labels.jsonl", labels)
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], report["label_scale"]) == (
        4,
        ["label-scale"],
        {"person": "ann", "seems": "shorter"},
    )
    said(list_own(run(*LABELS, form="full")[1]))
    words = shlex.split(report["next"][0]["command"])[4:]
    assert words[-2:] == ["--label-scale", "1..5"]
    code, report, _ = run(*words)
    assert (code, report["answer"], report["bad_caught"]["x"]) == (0, "trusted", 36)
    assert run(*LABELS, "--label-scale", "0..10")[1]["reasons"] != ["label-scale"]
    for scale, told in (("5", "not a scale"), ("0..100", "goes beyond 0..10")):
        code, _, message = run(*LABELS, "--label-scale", scale)
        assert (code, told in message) == (2, True)
    Path("refund.rubric.yaml").write_text(played.RUBRIC)
    assert "neither scores nor levels" in run(*LABELS, "--label-scale", "1..5")[2]


@pytest.mark.slow
def test_labels_of_one_of_two_people_on_another_scale_are_named_and_read_alone(said):
    Path("refund.rubric.yaml").write_text(SCALE)
    judged, labels = [], []
    for number in range(60):
        about, score = {"id": f"a{number}", "answer": f"It is {played.spell(number)}"}, (0, 4, 5, 8, 10)[number % 5]
        judged.append({**about, "output": {"score": score}})
        of_people = {"ann": score, "bob": (1, 2, 3, 4, 5)[number % 5]}
        labels += [{"id": f"a{number}", "rater": name, "output": {"score": of_people[name]}} for name in of_people]
    write_lines("answers.jsonl", judged)
    write_lines("labels.jsonl", [{**label, "chosen": "random"} for label in labels])
    _, report, _ = run(*LABELS)
    assert (report["reasons"], report["label_scale"]) == (["label-scale"], {"person": "bob", "seems": "shorter"})
    words = shlex.split(report["next"][0]["command"])[4:]
    assert words[-2:] == ["--label-scale", "bob=1..5"]
    _, report, _ = run(*words)
    assert (report["reasons"], report["bad_caught"]["n"], report["invalid"]) == (["shares-reached"], 36, [])
    said(list_own(run(*LABELS, form="full")[1]))
    for scales in (("ben=1..5",), ("bob=1..5", "bob=0..10"), ("bob=1-5",)):
        options = [word for scale in scales for word in ("--label-scale", scale)]
        code, _, message = run(*LABELS, *options)
        assert code == 2
        said(message)


LEVELS = """\
rubrics:
  - id: quality
    required_min_level: 3
    levels: {1: Wrong in a main point, 2: Wrong in a minor point, 3: Right in the main points, 4: Right in nearly all
      points, 5: Right in all points}
  - {id: tone, levels: {1: Insults the reader, 2: Is polite}}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("is_own", "bad"), [(False, 24), (True, 36)])
def test_a_scale_that_is_proposed_is_one_that_can_be_said(is_own, bad, said):
    """A criterion with a narrower scale keeps it."""
    Path("refund.rubric.yaml").write_text(LEVELS)
    judged, rows = [], ["id,rater,chosen,quality,tone"]
    for at in range(60):
        output = {"checks": [{"id": "quality", "level": 1 + at % 5}, {"id": "tone", "level": 1 + at % 2}]}
        judged.append({"id": f"a{at}", "question": f"What is {played.spell(at)}?", "answer": "x", "output": output})
        rows.append(f"a{at},ann,random,{(1, 1, 2, 3, 3)[at % 5]},{1 + at % 2}")
    write_lines("answers.jsonl", judged)
    Path("labels.csv").write_text("\n".join(rows), "utf-8")
    sheet = ("--labels", "labels.csv")
    _, report, _ = run(*sheet)
    words = shlex.split(report["next"][0]["command"])[4:]
    assert (report["reasons"], words[-1]) == (["label-scale"], "1..3")
    _, report, _ = run(*sheet, "--label-scale", "1..5" if is_own else words[-1])
    counts = {
        criterion["id"]: (criterion["bad_caught"]["x"], criterion["bad_caught"]["n"])
        for criterion in report["criteria"]
    }
    assert counts == {"quality": (24, bad), "tone": (30, 30)}
    said(read_sentences(run(*sheet, "--label-scale", "1..3", form="full")[1]))
    assert run(*sheet, "--label-scale", "0..5")[0] == 2


@pytest.mark.slow
def test_the_next_command_asks_for_the_same_again():
    prepare(60, GOOD, labels=20)
    _, report, _ = run(*LABELS, "--target", "0.9", "--fail-on", "borderline", "--runs", "2")
    command = shlex.split(report["next"][-1]["command"])
    drawn = report["next"][0]["command"]
    assert commands.run(*shlex.split(drawn)).returncode == 0
    asked = ["--target", "0.9", "--fail-on", "borderline", "--runs", "2"]
    assert command == ["rubric-lint", "assess", *FILES, *asked, *LABELS, "--labels", "labels.csv", "--look", "2"]


def test_ids_of_which_none_matches_are_said_with_the_first_of_both_sides(said):
    met = [False] * 30 + [True] * 30
    write_judged([(each,) for each in met], met)
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    write_lines("labels.jsonl", [{**label, "id": f"q-{label['id']}"} for label in labels])
    code, report, _ = run(*LABELS)
    assert (code, report["reasons"], [each["count"] for each in report["left_out"]]) == (4, ["no-labels"], [60])
    said(list_own(run(*LABELS, form="full")[1]))
    agree = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", *LABELS)
    assert agree.returncode == 2
    said(agree.stderr)
    answers = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    write_lines("others.jsonl", [{**answer, "id": f"n-{answer['id']}"} for answer in answers])
    found = commands.run("rubric-lint", "assess", FILES[0], "others.jsonl", "--results", "answers.judged.jsonl")
    assert found.returncode == 2
    said(found.stderr)


@pytest.mark.slow
def test_a_judge_that_does_not_tell_answers_apart_is_said_to_be_one_and_no_wording_is_blamed(said):
    """Each output is a matter of chance, whatever the answer."""
    prepare(60, lambda asked: dict.fromkeys(played.CRITERIA, False) | draw(asked), labels=48)
    code, report, _ = run(*LABELS)
    assert (code, report["not_told_apart"], set(standings(report).values())) == (1, 4, {UNKNOWN})
    page = run(*LABELS, form="full")[1]
    said(list_own(page))


def draw(asked):
    drawn = random.Random(f"{asked.answer} {asked.before}")  # noqa: S311 (chance is all that is wanted)
    return {name: drawn.random() < 0.5 for name in played.CRITERIA}


def test_outputs_that_are_all_invalid_are_said_by_cause_with_what_to_try(said):
    prepare(12, GOOD)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text("utf-8").splitlines()]
    for number, record in enumerate(records):
        del record["outputs"]
        record["output"] = "I refuse." if number < 3 else {"checks": [{"id": "cites", "satisfied": True}]}
    write_lines("answers.judged.jsonl", records)
    code, report, _ = run()
    assert (code, report["reasons"], len(report["invalid"])) == (4, ["invalid"], 12)
    said(list_own(run(form="full")[1]))


def read_sentences(page):
    """Return the sentences above the criteria, each in one line."""
    return re.sub(r"\s+", " ", page.partition("\n\n")[2].partition("\n\n")[0])


@pytest.mark.slow
@pytest.mark.parametrize("judge", [GOOD, LENIENT, NOISY])
@pytest.mark.parametrize("count", [40, 120])
def test_each_figure_on_the_page_is_one_of_the_report(judge, count):
    prepare(count, judge, labels=count)
    _, report, _ = run(*LABELS)
    text = read_sentences(run(*LABELS, form="full")[1])
    for side, words in (
        ("bad_caught", "bad answers the judge caught"),
        ("good_passed", "good answers the judge passed"),
    ):
        share = report[side]
        shown, bound, kind = re.search(
            rf"Of {share['n']} {words} ([0-9.,]+)[^:]*: at (least|most) ([0-9.]+)%", text
        ).group(1, 3, 2)
        assert float(shown) == pytest.approx(share["x"], abs=0.05)
        exact = share["low" if kind == "least" else "high"] * 100
        assert 0 <= (exact - float(bound)) * (1 if kind == "least" else -1) < 0.1
    needed = re.search(r"([0-9]+) more labels, drawn at random, decide", text)
    units = report["bad_caught"]["n"] + report["good_passed"]["n"]
    assert report["labels_needed"] == (units + int(needed[1]) if needed else None)
    if found := re.search(r"leave out up to ([0-9]+) of each kind", text):
        assert int(found[1]) == report["slips"]
    counts = [report["verdicts"][name] for name in ("fail", "borderline", "pass")]
    assert f"outputs are {counts[0]} fail, {counts[1]} borderline, {counts[2]} pass" in text
    assert sum(counts) == 2 * count


def follow_all(report):
    """Run the commands of the next steps that ask no model, as they stand, with no label filled in."""
    found = []
    for step in report["next"]:
        words = shlex.split(step["command"])
        if words and "MODEL" not in words:
            found.append((words[1], commands.run(*words).returncode))
    return found


def prepare_two_judges():
    Path("answers.judged.jsonl").rename("answers.jsonl")
    lines = Path("answers.jsonl").read_text()
    Path("answers.jsonl").write_text(lines + lines.replace('"model": "m"', '"model": "n"'))


def prepare_a_sheet_that_exists():
    Path("labels.csv").write_text("id\n")
    Path("labels-2.csv").write_text("id\n")


def prepare_records_without_ids():
    Path("answers.judged.jsonl").rename("answers.jsonl")
    write_lines("more.jsonl", [{"output": played.to_output(dict.fromkeys(played.CRITERIA, True))}])
    Path("answers.jsonl").write_text(Path("answers.jsonl").read_text() + Path("more.jsonl").read_text())


def prepare_names_of_ours():
    answers = [json.loads(line) for line in Path("answers.jsonl").read_text().splitlines()]
    write_lines("answers.jsonl", [{"id": answer["id"], "text": answer["answer"]} for answer in answers])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "options", "ran"),
    [
        (lambda: None, (), [("labels", 0), ("assess", 4)]),
        (lambda: None, LABELS, [("labels", 0), ("assess", 4)]),
        (prepare_two_judges, (), [("labels", 0), ("assess", 4)]),
        (prepare_a_sheet_that_exists, (), [("labels", 0), ("assess", 4)]),
        (prepare_records_without_ids, (), []),
        (prepare_names_of_ours, ("--map", "answer=text"), [("labels", 0), ("assess", 4)]),
    ],
    ids=["no labels", "few labels", "two judges", "a sheet", "no ids", "other names"],
)
def test_each_command_of_the_next_steps_runs(change, options, ran, said):
    prepare(60, GOOD, labels=20)
    change()
    report = run(*options)[1]
    assert follow_all(report) == ran
    if not ran:
        said([step["text"] for step in report["next"]])


LABELED_VERDICTS = "".join(f"a{at:03},ann,{'pass' if met else 'fail'},random\n" for at, met in enumerate(HALF))


def write_verdicts(text=LABELED_VERDICTS):
    """Write labels of the verdict alone."""
    Path("labels.csv").write_text(f"id,rater,verdict,chosen\n{text}")
    return "--labels", "labels.csv"


def list_lacks(report):
    """Return why each criterion is inconclusive, as the page says it."""
    return [line.strip() for line in report.partition("inconclusive")[2].partition("\n\n")[0].splitlines()]


def test_a_criterion_without_a_label_is_not_said_to_have_labels_that_are_alike(said):
    """No gate tells good from bad on `score`; `verdict` is all that people said."""
    Path("refund.rubric.yaml").write_text(SCALE)
    write_people({"ann": [9] * 60}, [(2 if at < 30 else 9,) for at in range(60)], name="score")
    said(list_lacks(run(*write_verdicts(), form="full")[1]))
    said(list_lacks(run(*LABELS, form="full")[1]))


@pytest.mark.parametrize("options", [("--target", "0.99"), ("--target", "0.9")])
@pytest.mark.parametrize("bad", [30, 2])
def test_a_class_is_too_rare_only_if_it_is_rarer_and_more_of_it_would_decide(bad, options, said):
    met = [at >= bad for at in range(60)]
    write_people({"ann": met}, [(value,) for value in met])
    said(list_own(run(*LABELS, *options, form="full")[1]))


@pytest.mark.parametrize("questions", [0, 60, 20])
def test_a_smaller_number_of_questions_is_said_to_be_one(questions, said):
    write_people({"ann": HALF}, [(each,) for each in HALF], questions=questions)
    sentences = read_sentences(run(*LABELS, form="full")[1]).split(". ")
    said(*(sentence for sentence in sentences if "60 labelled answers" in sentence))


THRICE = [(value, value, not value) for value in HALF]


@pytest.mark.slow
@pytest.mark.parametrize(("judged", "left"), [(THRICE, 60), ([(False, False, None)] * 30 + THRICE[30:], 30)])
def test_outputs_that_are_in_no_run_are_counted(judged, left, said):
    """The rest of a run with an invalid output is a run that is wrong."""
    write_people({"ann": HALF}, judged)
    asked = (*LABELS, "--runs", "2")
    agree = (FILES[0], "answers.judged.jsonl", *asked, "--allow-invalid")
    found = json.loads(commands.run("rubric-score", "agree", *agree, "--format", "json").stdout)["agreements"][0]
    assert (run(*asked)[1]["ungrouped_outputs"], found["runs"], found["ungrouped_outputs"]) == (left, 2, left)
    pages = run(*asked, form="full")[1], commands.run("rubric-score", "agree", *agree).stdout
    said(*(re.search(r"[\d,]+ judge outputs.*?counted\.", re.sub(r"\s+", " ", page)).group() for page in pages))


def test_labels_of_the_verdict_alone_are_counted_beside_findings(said):
    write_people({"ann": HALF}, [(True,)] * 60)
    asked = ("check", FILES[0], "--judged", "answers.judged.jsonl", *write_verdicts())
    done = commands.run("rubric-lint", *asked, "--select", "judged-disagrees,judged-length")
    said(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("bad", "spare", "options"), [(2, 0, ()), (55, 0, ()), (2, 200, ("--look", "2")), (10, 0, ())])
def test_answers_of_the_class_that_is_rare_are_what_is_asked_for(bad, spare, options, said):
    """Of 60 labelled answers; the judge is always right, and so many answers more are judged."""
    met = [at >= bad for at in range(60)]
    write_people({"ann": [*met, *[True] * spare]}, [(value,) for value in [*met, *[True] * spare]])
    write_lines(
        "labels.jsonl", [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()[:60]]
    )
    _, report, _ = run(*LABELS, *options)
    assert (report["reasons"], report["labels_needed"] is None) == (["few-labels"], bad != 10)
    page = run(*LABELS, *options, form="full")[1].partition("\nDetails")[0]
    said([read_sentences(page).partition(" Bad are")[0], *(step["text"] for step in report["next"])])


@pytest.mark.parametrize(("contradictions", "reasons"), [(1, "shares-reached"), (6, "labels-refused")])
def test_labels_on_which_a_person_is_not_sure_are_a_selection(contradictions, reasons):
    """The judge says the second of two labels that one person gave."""
    met = [not each if number < contradictions else each for number, each in enumerate(HALF)]
    write_people({"ann": met}, [(each,) for each in met])
    second = Path("labels.jsonl").read_text("utf-8")
    write_people({"ann": HALF}, [(each,) for each in met])
    Path("second.jsonl").write_text(second, "utf-8")
    _, report, _ = run(*LABELS, "--labels", "second.jsonl")
    assert (report["reasons"], report["left_out"][0]["count"]) == ([reasons], 2 * contradictions)


@pytest.mark.slow
@pytest.mark.parametrize(("empty", "reason"), [(24, "few-labels"), (1, "shares-reached")])
def test_answers_of_which_people_leave_the_deciding_cells_empty_count_against_the_judge(empty, reason, said):
    """The judge is right on 30 bad and 60 good answers, and passes others, of which people say only what is met."""
    met = [False] * 30 + [True] * (60 + empty)
    write_judged([(each,) for each in met], met)
    rows = [[f"a{at:03}", "ann", "random", *["yes" if each else "no"] * 4] for at, each in enumerate(met)]
    for row in rows[90:]:
        row[5:] = ["", ""]
    header = ["id", "rater", "chosen", *played.CRITERIA]
    Path("labels.csv").write_text("\n".join(",".join(row) for row in [header, *rows]), "utf-8")
    _, report, _ = run("--labels", "labels.csv")
    agree = ("agree", FILES[0], "answers.judged.jsonl", "--labels", "labels.csv", "--format", "json")
    measures = json.loads(commands.run("rubric-lint", *agree).stdout)["agreements"][0]["comparisons"][0]["measures"]
    gate = measures[-1]["pair"]["gate"]
    assert (report["reasons"], gate["reasons"], gate["bad_caught"]) == ([reason], [reason], report["bad_caught"])
    said(read_sentences(run("--labels", "labels.csv", form="full")[1]), gate["reason"])


@pytest.mark.slow
def test_answers_with_valid_outputs_are_not_said_to_have_none(said):
    """Of 60 answers each has two right outputs and an invalid one, and a run takes three."""
    write_people({"ann": HALF}, [(each, each, None) for each in HALF])
    agree = ("agree", FILES[0], "answers.judged.jsonl", *LABELS, "--runs", "3")
    page = read_sentences(run(*LABELS, "--runs", "3", form="full")[1])
    table = commands.run("rubric-lint", *agree).stdout
    said([line for line in [*page.split(". "), *table.splitlines()] if "valid" in line and "invalid" not in line])


def test_a_class_of_which_outputs_are_missing_is_not_said_to_be_near_the_target(said):
    """Each of 12 bad answers has one output, and each of 48 good ones has two."""
    met = [at >= 12 for at in range(60)]
    write_people({"ann": met}, [(each,) * (1 + each) for each in met])
    said(list_own(run(*LABELS, "--runs", "2", form="full")[1]))


@pytest.mark.parametrize("common", [0, 12])
def test_a_judge_that_differs_from_one_of_two_people_alone_is_not_blamed_before_they_label_the_same(common, said):
    reverse = [not each for each in HALF]
    ann = [each if at % 2 else None for at, each in enumerate(HALF)]
    bob = [None if at % 2 else each for at, each in enumerate(reverse)]
    for at in range(1, 2 * common, 2):
        bob[at] = HALF[at]
    write_judged([(each,) for each in HALF], HALF)
    records = [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    labels = []
    for rater, given in (("ann", ann), ("bob", bob)):
        for record, each in zip(records, given, strict=True):
            output = played.to_output(dict.fromkeys(played.CRITERIA, each))
            labels += [{**record, "rater": rater, "output": output}] if each is not None else []
    write_lines("labels.jsonl", labels)
    page = read_sentences(run(*LABELS, form="full")[1])
    said([line for line in page.split(". ") if "differs from" in line])


def test_where_nobody_knows_which_answers_belong_together_the_page_says_so(said):
    write_judged([(each,) for each in HALF], HALF)
    for name in ("answers.jsonl", "answers.judged.jsonl"):
        records = [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]
        for record in records[:50]:
            del record["answer"]
        write_lines(name, records)
    said([line for line in read_sentences(run(*LABELS, form="full")[1]).split(". ") if "known" in line])


@pytest.mark.parametrize("field", ["question", "prompt"])
def test_a_trusted_judge_is_not_said_to_rest_on_questions_that_nobody_gave(field, said):
    """Of 36 bad and 36 good answers, each two are to one question, whatever the field of it is called."""
    met = [at >= 36 for at in range(72)]
    write_judged([(each,) for each in met], met, answers=[{field: f"Why {played.spell(at // 2)}?"} for at in range(72)])
    _, report, _ = run(*LABELS)
    assert (report["reasons"], report["bad_caught"]["n"]) == (["shares-reached"], 18 if field == "question" else 36)
    said([line for line in read_sentences(run(*LABELS, form="full")[1]).split(". ") if "question" in line])


@pytest.mark.parametrize("ways", [["random"], ["separate"], ["random", "separate"], [None]])
def test_labels_that_are_not_said_to_be_random_are_not_taken_for_that(ways, said):
    write_people({"ann": HALF}, [(each,) for each in HALF])
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    write_lines("labels.jsonl", [{**label, "chosen": ways[at % len(ways)]} for at, label in enumerate(labels)])
    sentences = read_sentences(run(*LABELS, form="full")[1]).split(". ")
    said([line for line in sentences if "say that they were drawn" in line])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shared", "differing", "reason"),
    [(range(25), range(25), "people-disagree"), (range(12), range(12), None), (range(20), range(12), None)],
    ids=["surely", "where-the-judge-differs", "on-others-too"],
)
def test_the_page_says_on_how_many_answers_that_several_labelled_they_agree(shared, differing, reason, said):
    """The judge is right by bob and errs by ann; where ann and the judge agree, bob does too."""
    right = [at % 2 > 0 for at in range(100)]
    ann = [not each if at in differing else each for at, each in enumerate(right)]
    write_people({"ann": ann, "bob": right}, [(each,) for each in right])
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    known = [f"a{at:03}" for at in shared]
    write_lines("labels.jsonl", [label for label in labels if label["rater"] == "ann" or label["id"] in known])
    _, report, _ = run(*LABELS)
    assert (report["reasons"] == ["people-disagree"]) is (reason is not None)
    sentences = read_sentences(run(*LABELS, form="full")[1]).split(". ")
    said([line for line in sentences if re.search("several|they differ|second label", line, re.IGNORECASE)])


@pytest.mark.parametrize("bob", [HALF, [not each for each in HALF]], ids=["agree", "disagree"])
def test_answers_are_not_called_bad_or_good_by_labels_that_say_nothing(bob):
    write_people({"ann": HALF, "bob": bob}, [(each,) for each in HALF], questions=60)
    page = run(*LABELS, form="full")[1]
    assert ("with bad answers and" in " ".join(page.split())) is (bob is HALF)


def test_a_criterion_of_which_a_finding_is_ignored_is_not_said_to_need_labels(said):
    write_people({"ann": HALF}, [(True,)] * 60)
    Path("rubric-lint.toml").write_text('ignore = ["judged-disagrees"]\n')
    _, report, _ = run(*LABELS)
    assert {(criterion["standing"], criterion["labels_needed"]) for criterion in report["criteria"]} == {
        (UNKNOWN, None)
    }
    said(list_lacks(run(*LABELS, form="full")[1]))


@pytest.mark.slow
@pytest.mark.parametrize("third", [(), ("cid",)])
def test_where_people_disagree_nobody_is_blamed_and_the_command_shows_every_answer(third):
    """The judge says what bob says, so that no answer would be listed if bob were right."""
    people = {"ann": HALF, "bob": [True] * 25 + HALF[25:]} | dict.fromkeys(third, HALF)
    write_people(people, [(each,) for each in people["bob"]])
    _, report, _ = run(*LABELS)
    assert report["reasons"] == ["people-disagree"]
    words = shlex.split(report["next"][0]["command"])
    done = commands.run("rubric-score", *words[1:], "--format", "json")
    worst = json.loads(done.stdout)["agreements"][0]["disagreements"]["worst"]
    ids = [f"a{number:03}" for number in range(25)]
    assert list(dict.fromkeys(each["id"] for each in worst)) == ids
    assert {each["kind"] for each in worst} == {"differs"}
    said = {tuple((one["rater"], one["value"]) for one in each["ratings"]) for each in worst}
    assert said == {(("ann", False), ("bob", True), *((name, False) for name in third), ("m", True))}


def test_answers_on_which_people_are_tied_are_listed_first_and_others_as_before():
    people = {"ann": HALF, "bob": [True, *HALF[1:]]}
    write_people(people, [(each,) for each in (True, True, *HALF[2:])])
    done = commands.run("rubric-score", "agree", FILES[0], "answers.judged.jsonl", *LABELS, "--format", "json")
    worst = json.loads(done.stdout)["agreements"][0]["disagreements"]["worst"]
    shown = dict.fromkeys((each["id"], each["kind"], *(one["rater"] for one in each["ratings"])) for each in worst)
    assert list(shown) == [("a000", "differs", "ann", "bob", "m"), ("a001", "false pass", "people", "m")]


def test_agree_says_where_no_record_shows_which_answers_are_to_one_question(said):
    """Only the answers, which `agree` does not read, have questions."""
    write_people({"ann": HALF}, [(each,) for each in HALF], questions=10)
    asked = ("agree", FILES[0], "bare.jsonl", *LABELS)
    records = [json.loads(line) for line in Path("answers.judged.jsonl").read_text().splitlines()]
    write_lines("bare.jsonl", [{"id": record["id"], "outputs": record["outputs"]} for record in records])
    said(*commands.run("rubric-score", *asked).stdout.split("\n\n")[-1:])
