"""`rubric-lint assess --probe`: judges that reward padding, notice what is wrong, or ignore it, and what it refuses."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import commands
import played_judges as played
import pytest
from cases import read_cases
from chat_server import serving
from jsonschema import Draft7Validator

from rubric_lint.model.schema_files import load_bundled

TABLES = read_cases(__file__)


SCHEMA = load_bundled("assessment/v1.json")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / "cache"))
    Path("refund.rubric.yaml").write_text(played.RUBRIC)
    return tmp_path


def write(answers):
    records = [{"id": number, "answer": text} for number, text in enumerate(answers)]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))


def write_usual(count=10):
    write(f"Dear Ann, thank you for order {n}. You have 30 days. See paragraph 4. Bye." for n in range(count))


def notice(asked):
    text = asked.answer
    short = text.count(".") <= 5
    return {"cites": "paragraph 4" in text, "period": "30 days" in text, "polite": "Dear Ann" in text, "short": short}


def reward(asked):
    return {**dict.fromkeys(played.CRITERIA, len(asked.answer) > 100), "period": True, "cites": True}


def ignore(_asked):
    return {"cites": True, "period": True, "polite": False, "short": True}


def call(*arguments, url):
    given = ("assess", "refund.rubric.yaml", "answers.jsonl", "--model", f"m@{url}", *arguments)
    return commands.run("rubric-lint", *given)


def run(judge, *arguments):
    """Return the exit code, what the probes show, the report, and the requests."""
    with serving(played.play(judge)) as chat:
        done = call("--format", "json", *arguments, url=chat.url)
    report = json.loads(done.stdout)
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(report)] == []
    report = report["rubrics"][0]
    kinds = {kind["kind"]: kind for kind in report["probes"]["kinds"]}
    return done.returncode, kinds, report, chat.asked


def shown(kinds, field="outcome"):
    return {name: kind[field] for name, kind in kinds.items()}


def mended(report):
    return [criterion["id"] for criterion in report["criteria"] if criterion["standing"] == "fix"]


@pytest.mark.slow
def test_a_judge_that_looks_notices_what_is_wrong_and_pays_for_nothing():
    write_usual()
    code, kinds, report, _ = run(notice, "--probe", "10")
    assert shown(kinds) == {
        "omission": "noticed",
        "padding": "noticed",
        "claimed-score": "noticed",
    }
    assert shown(kinds, "noticed_by") == {
        "omission": ["period", None],
        "padding": ["short", None],
        "claimed-score": ["short", None],
    }
    assert (code, report["reasons"], mended(report)) == (4, ["no-labels"], [])  # without labels nothing is trusted


@pytest.mark.slow
def test_a_judge_that_rewards_padding_makes_the_criteria_ones_to_mend():
    write_usual()
    code, kinds, report, _ = run(reward, "--probe", "10")
    assert {name: kind["rewarded_by"] for name, kind in kinds.items() if kind["rewarded_by"]} == {
        "padding": ["polite", "short", None],
        "claimed-score": ["polite", "short", None],
    }
    assert (code, report["reasons"], mended(report)) == (4, ["no-labels"], ["polite", "short"])
    rules = {finding["rule"] for finding in report["findings"] if finding["severity"] == "warning"}
    assert rules == {f"probe-{name}" for name, kind in kinds.items() if kind["outcome"] == "rewarded"}
    short = next(criterion for criterion in report["criteria"] if criterion["id"] == "short")
    assert {
        (finding["severity"], finding["line"]) for finding in short["findings"] if "padding" in finding["rule"]
    } == {("warning", 10)}


@pytest.mark.slow
def test_a_judge_that_ignores_the_answer_notices_nothing_which_is_a_hint():
    write_usual()
    code, kinds, report, _ = run(ignore, "--probe", "10")
    assert shown(kinds) == {"omission": "unnoticed", "padding": "resisted", "claimed-score": "resisted"}
    assert (code, mended(report)) == (4, [])
    assert [(finding["rule"], finding["severity"]) for finding in report["findings"]] == [("probe-omission", "hint")]


@pytest.mark.slow
def test_the_page_shows_a_row_for_each_probe(said):
    write_usual()
    with serving(played.play(reward)) as chat:
        pages = [call("--probe", "10", "--format", form, url=chat.url).stdout for form in ("full", "markdown")]
    page, comment = pages[0].partition("Details")[0], pages[1]
    said(page[page.index("Probes") : page.index("Next")], comment[comment.index("Probes") : comment.index("Fix")])
    prose = [line for line in page.splitlines() if not line.startswith("  rubric-")]  # a command is one line, to copy
    assert [line for line in prose if len(line) > 80] == []


@pytest.mark.slow
def test_few_answers_decide_nothing_and_the_page_says_how_many_would():
    write_usual(3)
    _, kinds, report, _ = run(notice, "--probe")
    assert report["probes"]["answers"] == 3
    assert set(shown(kinds).values()) == {"undecided"}
    assert shown(kinds, "answers_needed") == {"omission": 9, "padding": 6, "claimed-score": 6}


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "made"), TABLES["answers that cannot be changed"])
def test_answers_that_cannot_be_changed_are_counted_and_not_asked_for(answers, made):
    write(answers)
    _, kinds, report, asked = run(notice, "--probe", "--no-cache")
    assert report["probes"]["answers"] + report["probes"]["unchanged"] == len(set(map(str, answers)))
    assert shown(kinds, "made") == made
    assert len(asked) == 2 * (len(answers) + sum(made.values()))
    assert {name for name, kind in kinds.items() if kind["outcome"] == "not made"} == {
        name for name, kind in kinds.items() if not kind["made"]
    }


@pytest.mark.slow
@pytest.mark.parametrize(("most", "judged", "variants"), [(0, 0, 0), (3, 1, 0), (20, 10, 0), (23, 10, 1), (25, 10, 2)])
def test_a_limit_holds_for_answers_and_variants_together(most, judged, variants):
    write_usual()
    _, kinds, report, asked = run(notice, "--probe", "10", "--max-requests", str(most))
    assert (report["answers"], len(asked) - 2 * judged) == (judged, 2 * variants)
    made = sum(kind["made"] for kind in kinds.values())
    assert (made, report["probes"]["invalid"]) == (judged * 3, judged * 3 - variants)
    assert (report["probes"]["answers"], report["probes"]["unjudged"]) == (judged, 10 - judged)


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_more_answers_are_probed_beside_the_first():
    write_usual()
    with serving(played.play(notice)) as chat:
        counts = []
        for many in ("4", "4", "8"):
            call("--probe", many, "--no-cache", url=chat.url)
            counts.append(len(chat.asked))
    assert counts == [20 + 24, 20 + 24, 20 + 48]


@pytest.mark.slow
def test_the_rubric_of_each_answer_is_probed():
    suite = "tests:\n" + "".join(
        f"  - id: {name}\n    criteria: Is good\n    input: Why?\n    assertions:\n      - type: rubrics\n"
        f"        criteria: [{{id: {name}-a, outcome: Names it}}]\n"
        for name in ("one", "two")
    )
    Path("refund.rubric.yaml").unlink()
    Path("a.eval.yaml").write_text(suite)
    lines = [{"id": f"{name}{n}", "rubric": name, "answer": f"It {n}."} for name in ("one", "two") for n in range(3)]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def judge(asked):
        name = "one-a" if "one-a" in asked.body["messages"][0]["content"] else "two-a"
        return played.completion(json.dumps({"checks": [{"id": name, "satisfied": True}]}))

    with serving(judge) as chat:
        given = ["assess", "a.eval.yaml", "answers.jsonl", "--model", f"m@{chat.url}", "--probe", "2"]
        done = commands.run("rubric-lint", *given, "--format", "json")
    found = json.loads(done.stdout)["rubrics"]
    assert {each["rubric"]: each["probes"]["answers"] for each in found} == {"one": 2, "two": 2}


@pytest.mark.parametrize("arguments", TABLES["what it refuses"], ids=" ".join)
def test_what_it_refuses(arguments, said):
    write_usual(1)
    done = commands.run("rubric-lint", "assess", "refund.rubric.yaml", *arguments)
    assert done.returncode == 2
    said(commands.complaint(done))


@pytest.mark.slow
def test_variants_of_another_text_are_not_taken_for_those_of_the_answers():
    write_usual(2)
    with serving(played.play(notice)) as chat:
        call("--probe", url=chat.url)
        Path("answers.judged.jsonl").unlink()
        write(["Another text.", "And another one."])
        done = call("--probe", url=chat.url)
    assert (done.returncode, "name another file with --results" in done.stderr) == (2, True), done


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupt_loses_no_variant_and_the_same_command_resumes():
    write_usual(4)
    gate = threading.Event()

    def behave(asked):
        if len(chat.asked) == 8 + 11:
            gate.wait()
        return played.play(notice)(asked)

    def start():
        given = ["refund.rubric.yaml", "answers.jsonl", "--probe", "--no-cache", "-o", "report.json"]
        options = ["--model", f"m@{chat.url}", "--concurrency", "1"]
        command = commands.command("rubric-lint", "assess", *given, *options)
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    with serving(behave) as chat:
        first = start()
        commands.wait_until(lambda: len(chat.asked) >= 8 + 11)
        first.send_signal(signal.SIGINT)
        for line in first.stderr:
            if "waiting up to" in line:
                gate.set()
        first.wait(60)
        first.stderr.close()
        assert (first.returncode, Path("report.json").exists()) == (130, False)
        kept = Path("answers.probed.jsonl").read_bytes()
        assert kept.count(b"\n") == 5
        second = start()
        second.communicate(timeout=60)
    made = sum(kind["made"] for kind in json.loads(Path("report.json").read_text())["rubrics"][0]["probes"]["kinds"])
    assert (second.returncode, made, Path("answers.probed.jsonl").read_bytes().startswith(kept)) == (4, 12, True)
    assert len(chat.asked) == 8 + 24 + 1  # one reply of the variant that was under way was lost
