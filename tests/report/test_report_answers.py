"""Every answer in the report of scores: what the script reads from the page, and the comparison of two runs."""

import json
import re
import shlex
from collections import Counter
from html import unescape
from itertools import pairwise
from pathlib import Path
from unicodedata import category
from unittest.mock import patch

import browser
import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st
from node import node
from report_page import START, lines, needs_node, part, read, runner
from report_pictures import CHROMIUM

from rubric_lint.assess.diff.compare_runs import OtherRun
from rubric_lint.model.messages import visible
from rubric_lint.report.html import HtmlReport, PageContent
from rubric_lint.report.page_answers import PageAnswers, RecordTexts
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.output import RecordResult, reader_of
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.scoring.totals import Totals

SUITE = """\
tests:
  - id: tower
    rubrics:
      - {id: accuracy, weight: 2, required_min_score: 5, score_ranges: {0: Contradicts the source., 5: Agrees with it.}}
      - {id: tone, score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}}
  - id: sorting
    rubrics: [Names the pivot]
"""
ONE = """\
rubrics:
  - {id: accuracy, weight: 2, required_min_score: 5, score_ranges: {0: Contradicts the source., 5: Agrees with it.}}
  - {id: tone, score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}}
"""
RUBRICS = load_rubrics("r.yaml", ONE.encode())
NASTY = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "right \u202eto left\u202c",
    "line\u2028end\u2029",
    "half \ud83d",
    "bell \x07 \x1b[31m",
    "مرحبا 👩‍🚀 \r\n",
    "x" * 10_000,
    "'\"&amp;",
)
needs_chromium = pytest.mark.skipif(not (CHROMIUM and node()), reason="there is no Chromium, or no Node.js")


@pytest.fixture
def run(folder, monkeypatch):
    return runner(folder, monkeypatch)


def tower(name, accuracy, tone, reason="Because.", **fields):
    checks = [{"id": "accuracy", "score": accuracy, "reasoning": reason}, {"id": "tone", "score": tone}]
    return {"id": name, "output": {"checks": checks}, **fields}


@pytest.mark.slow
@needs_node
def test_the_script_reads_every_answer_as_it_was_scored(run):
    records = [
        *(tower(f"a{number}", number % 11, number * 7 % 11, rubric="tower") for number in range(300)),
        {"id": 1234567890123456789, "rubric": "sorting", "output": {"checks": [{"id": "rubric-1", "satisfied": True}]}},
        {"rubric": "sorting", "output": {"checks": [{"id": "rubric-1", "satisfied": False}]}},
        tower("invalid", 11, 3, rubric="tower"),
        tower("sampled", 1, 3, rubric="tower") | {"outputs": [tower("", 4, 9)["output"], tower("", 9, 9)["output"]]},
        "no JSON",
    ]
    del records[-2]["output"]
    page, results, _ = run(SUITE, "one.jsonl", "two.jsonl", one=lines(*records), two=lines(*records[:3]))
    names = {number: str(result["id"]) for number, result in enumerate(results) if "id" in result}
    rows = read(page)["rows"]
    assert [row["name"] for row in rows] == [
        names.get(number, f"one.jsonl, line {number + 1}") for number in range(len(results))
    ]

    def expected(each):
        if "error" in each:
            return "invalid", "", [], [each["error"]["path"], each["error"]["message"]]
        missed = [criterion["id"] for criterion in each["criteria"] if not criterion["gate_met"]]
        return each["verdict"], f"{each['score']:.3f}", missed, None

    found = [(row["verdict"], row["score"], row["missed"], row["error"]) for row in rows]
    assert found == [*map(expected, results)]


@pytest.mark.slow
@needs_node
def test_the_records_of_every_answer_are_in_the_page_with_their_reasons(run):
    records = [tower(f"a{number}", 9, 9, f"Reason {number}.", question=f"Why {number}?") for number in range(2000)]
    records[7]["output"] = "It is <b>8</b> of 10."
    records[8] = {"id": "s", "outputs": [tower("", 4, 9, "No.")["output"], tower("", 9, 9, "Yes.")["output"]]}
    page, _, _ = run(ONE, "one.jsonl", one=lines(*records))
    seen = read(page, searches=["reason 1234.", "checks"])
    assert [json.loads(row["record"]) for row in seen["rows"]] == records
    assert seen["records"][1234] == {
        "texts": [["Question", "Why 1234?"]],
        "reasons": [["accuracy", ["Reason 1234."]]],
        "raw": [
            ["Output", json.dumps(records[1234]["output"], indent=2)],
            ["Record, as it was read", seen["rows"][1234]["record"]],
        ],
    }
    assert seen["records"][7]["texts"][1] == ["Output of the judge", "It is <b>8</b> of 10."]
    assert seen["records"][7]["raw"][0] == ["Output", "It is <b>8</b> of 10."]
    assert [name for name, _ in seen["records"][8]["raw"]] == ["Sample 1", "Sample 2", "Record, as it was read"]
    assert seen["records"][8]["reasons"] == [["accuracy", ["Sample 1 (4): No.", "Sample 2 (9): Yes."]]]
    assert seen["found"] == [[1234], []]


@pytest.mark.slow
@needs_node
def test_answers_are_filtered_sorted_and_searched(run):
    records = [tower("b", 9, 9), tower("a", 4, 10), tower("C", 7, 6, question="Wo?"), tower("d", 11, 1)]
    records += [tower("e", 4, 1), tower("f", 7, 7)]
    views = {
        "verdict=fail": ["a", "e"],
        "verdict=invalid": ["d"],
        "criterion=0.0&value=missed": ["a", "e"],
        "criterion=0.0&value=7": ["C", "f"],
        "criterion=0.1&sort=value": ["e", "C", "f", "b", "a"],
        "criterion=0.1&sort=value&desc=1": ["a", "b", "f", "C", "e"],
        "sort=score": ["e", "a", "C", "f", "b", "d"],
        "sort=score&desc=1": ["b", "f", "C", "a", "e", "d"],
        "sort=verdict": ["a", "e", "C", "f", "b", "d"],
        "sort=id": ["C", "a", "b", "d", "e", "f"],
        "desc=1": ["f", "e", "d", "C", "a", "b"],
        "q=D": ["d"],
        "q=wo": ["C"],
        "criterion=9.9": ["b", "a", "C", "d", "e", "f"],
        "verdict=none": ["b", "a", "C", "d", "e", "f"],
    }
    page, _, _ = run(ONE, "one.jsonl", one=lines(*records))
    assert dict(zip(views, read(page, views=[*views])["views"], strict=True)) == views


@pytest.mark.slow
@needs_node
def test_nothing_that_others_wrote_leaves_its_place(run):
    records = [tower(name, 1, 9, name, question=name, answer=name) for name in NASTY]
    records[4]["id"] = "half"  # a lone half is no id that can be printed
    evil = ONE.replace("accuracy", '"</script><u>"').replace("Contradicts", "</script><img src=x>")
    checks = [{"id": "</script><u>", "score": 1, "reasoning": NASTY[0]}, {"id": "tone", "score": 1}]
    page, _, _ = run(evil, "one.jsonl", one=lines(*(record | {"output": {"checks": checks}} for record in records)))
    written = page.read_text("utf-8")
    assert not re.search(r"<(img|u>|script>alert)", written)
    assert not re.search("[\u202a-\u202e\u2028\u2029\x07\x1b]", written)
    seen = read(page, texts=NASTY[:-1])
    assert [record["name"] for record in seen["rows"]] == [record["id"] for record in records]
    assert [record["texts"][0][1] for record in seen["records"]] == [*NASTY[:4], "half \ud83d", *NASTY[5:]]


@pytest.mark.slow
@needs_node
def test_the_script_shows_what_python_shows_of_unseen_characters(run):
    page, _, _ = run(ONE, "one.jsonl", one=lines(tower("a", 9, 9)))
    unseen = [char for char in map(chr, range(0x10000)) if category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    texts = [f"a{char}b" for char in [*unseen, "\U000e0001", "é", "👩‍🚀"] if char not in "\t\r\n"]
    assert read(page, texts=texts)["texts"] == [*map(visible, texts)]
    assert read(page, texts=["a\r\nb\tc\rd"])["texts"] == ["a\nb    c\\rd"]


@needs_node
@pytest.mark.parametrize("records", [[], [tower("a", 9, 9)], [tower("a", 11, 9), "no", tower("b", 1, 99)]])
def test_few_answers_or_none_are_no_trouble(run, records):
    page, results, _ = run(ONE, "one.jsonl", one=lines(*records) or "\n")
    assert len(read(page)["rows"]) == len(results) == len(records)
    assert f"Every answer ({len(records)})" in page.read_text("utf-8")


@pytest.mark.slow
@needs_node
def test_a_hundred_criteria_have_all_their_values(run):
    rubric = "rubrics:\n" + "".join(f"  - {{id: c{n}, expected_outcome: Cites {n} sources}}\n" for n in range(100))
    checks = [{"id": f"c{n}", "satisfied": n % 3 > 0} for n in range(100)]
    views = ["criterion=0.99&value=no", "criterion=0.98&value=no"]
    page, _, _ = run(rubric, "one.jsonl", one=lines({"id": "a", "output": {"checks": checks}}))
    assert read(page, views=views)["views"] == [["a"], []]


def test_without_the_script_the_first_answers_are_listed(run, said):
    records = [tower(f"a{number}", 9 - number % 9, 9) for number in range(30)]
    page, _, _ = run(ONE, "one.jsonl", one=lines(*records, records[0]))
    told = part(page, "answers")
    said(told)
    assert told.endswith("a18 pass 0.900 a19 pass 0.833")


def test_the_page_says_what_was_run(run):
    about = {"model": "m-1", "time": "2026-03-04T05:06:07.000Z"}
    records = [tower("a", 9, 9, judge=about), tower("b", 9, 9, judge={"model": "m-2", "time": "2026-03-06T00:00:00Z"})]
    page, results, _ = run(ONE, "one.jsonl", one=lines(*records, tower("c", 9, 9, judge={"model": 3, "time": "today"})))
    facts = re.search(r'<dl class="facts">(.*?)</dl>', page.read_text("utf-8"), re.DOTALL)[1]
    assert re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", facts) == [
        ("Judged", "2026-03-04 to 2026-03-06"),
        ("Models", "m-1 and m-2"),
        ("Rubric", "rubric"),
        ("Rubric hash", results[0]["rubric_hash"]),
        ("Thresholds", "pass from 0.8, borderline from 0.6"),
        ("Page made", "1970-01-01"),
    ]


def test_every_link_of_the_page_leads_to_a_part_of_it(run):
    page, _, _ = run(
        *(SUITE, "one.jsonl", "--compare", "two.jsonl"),
        one=lines(tower("a", 1, 1, rubric="tower"), tower("b", 11, 1, rubric="tower")),
        two=lines(tower("a", 9, 9, rubric="tower")),
    )
    text = page.read_text("utf-8")
    links = re.findall(r'href="#([^"?]*)"', text)
    assert links == ["assessment", "distribution", "rubric-0", "comparison", "worst", "invalid", "answers"]
    assert set(links) <= set(re.findall(r'id="([^"]*)"', text))


@needs_node
def test_the_texts_of_a_page_have_a_limit_and_it_is_said(tmp_path, said, monkeypatch):
    monkeypatch.setitem(PageAnswers.__init__.__kwdefaults__, "most_text", 1200)
    page, totals, scorer = HtmlReport(RUBRICS), Totals(RUBRICS.values()), Scorer(RUBRICS)
    for number, score in enumerate((9, 1, 9, 9)):
        text = json.dumps(tower(f"a{number}", score, 9, "x" * 300)).encode()
        page.add(scorer.score(text, number), text)
    said(part(write(tmp_path, page, totals), "answers").partition(" To filter")[0])
    assert [row["record"] is None for row in read(tmp_path / "page.html")["rows"]] == [False, False, True, True]


# Two runs


@pytest.mark.slow
@needs_node
def test_two_runs_are_joined_by_id_and_every_flip_is_counted(run, said):
    now = [tower("a", 9, 9), tower("b", 4, 9), tower("c", 9, 9), tower("d", 9, 9), tower("e", 9, 1), tower("f", 11, 1)]
    was = [tower("e", 9, 9), tower("c", 4, 9), tower("b", 9, 9), tower("a", 9, 9), tower("g", 1, 1), tower("f", 9, 9)]
    now += [tower("a", 1, 1), {"output": tower("", 1, 1)["output"]}]
    page, _, _ = run(ONE, "now.jsonl", "--compare", "was.jsonl", now=lines(*now), was=lines(*was, tower("e", 1, 1)))
    told = part(page, "comparison")
    for shown in (
        "Valid in both 4 Worse verdict 2 Better verdict 1 Mean score -0.067 0.817 before 2 pass only before and 1 only",
        "McNemar's mid-p is 0.625.",
        "accuracy 4 1 1 0.775 0.775 1 to 1 tone 4 1 0 0.900 0.700",
        "worse now (2) Answer Before Now Criteria with another value b pass 0.900 fail 0.567",
        "e pass 0.900 borderline 0.633 tone 9 to 1 Verdicts that are better now (1)",
    ):
        assert shown in told
    said(told[told.index("Not compared ") :])
    views = {
        "flip=worse": ["b", "e"],
        "flip=better": ["c"],
        "flip=any": ["b", "c", "e"],
        "flip=only-now": ["c"],
        "flip=only-before": ["b", "e"],
        "flip=here": ["d", "a", "line 8"],
        "flip=there": ["g"],
        "was=pass&verdict=invalid": ["f"],
        "criterion=0.1&value=lower": ["e"],
        "criterion=0.0&value=higher": ["c"],
        "sort=change": ["b", "e", "a", "c", "d", "f", "a", "line 8"],
    }
    seen = read(page, views=[*views])
    assert dict(zip(views, seen["views"], strict=True)) == views
    assert [row["changed"] for row in seen["rows"][:3]] == [[], [["accuracy", "9", "4"]], [["accuracy", "4", "9"]]]


@pytest.mark.slow
@needs_node
def test_results_of_another_version_of_the_rubric_are_compared_as_they_are(run, said):
    records = lines(tower("a", 6, 9), tower("b", 9, 9), tower("c", 4, 9))
    old = ONE.replace("required_min_score: 5, ", "").replace("weight: 2", "weight: 1").replace("tone", "style")
    _, results, _ = run(old, "one.jsonl", one=records.replace("tone", "style"))
    now = ONE.replace("required_min_score: 5", "required_min_score: 7")
    page, _, warnings = run(
        now, "one.jsonl", "--compare", "was.jsonl", one=records, was=lines(*results, {"error": {}, "id": "d"})
    )
    told = part(page, "comparison")
    said(told, warnings)
    assert [row["before"] for row in read(page)["rows"]] == ["0.750", "0.900", "0.650", ""]


@pytest.mark.parametrize(
    "change",
    [
        {"score": 2},
        {"score": True},
        {"verdict": "great"},
        {"criteria": {}},
        {"criteria": [{"id": "a"}]},
        {"rubric": 3},
        {"error": "no reply"},
    ],
    ids=str,
)
def test_what_only_looks_like_a_result_is_told(run, change, said):
    records = lines(tower("a", 6, 9))
    _, results, _ = run(ONE, "one.jsonl", one=records)
    page, _, told = run(ONE, "one.jsonl", "--compare", "was.jsonl", one=records, was=lines(results[0] | change))
    reason = next(line for line in told.splitlines() if "left out" in line).partition("left out ")[2]
    assert reason in part(page, "comparison")
    said(told)


def test_another_run_that_cannot_be_compared_is_told(run, said):
    records = lines(tower("a", 6, 9), tower("b", 6, 9))
    page, _, told = run(ONE, "one.jsonl", "--compare", "was.jsonl", one=records, was="<!doctype html>\n<html>\n")
    lonely, fault = told.splitlines()
    said(fault, part(page, "comparison"))
    _, _, told = run(ONE, "one.jsonl", "--compare", "was.jsonl", one=records, was=lines(tower("z", 6, 9)))
    assert (told.splitlines(), "nothing is compared" in lonely) == ([lonely], True)


def test_a_holistic_scale_has_one_name_on_the_whole_page(run, said):
    bands = {"[0, 4]": "Wrong.", "[5, 10]": "Right."}
    rubric = "rubrics:\n" + "".join(f"  - {{score_range: {at}, expected_outcome: {it}}}\n" for at, it in bands.items())
    now, was = (lines({"id": "a", "output": {"score": score}}) for score in (9, 3))
    page, _, _ = run(rubric, "now.jsonl", "--compare", "was.jsonl", now=now, was=was)
    told = part(page, "comparison")
    said(told)
    assert "overall" not in told


def test_all_but_the_first_disagreements_are_folded_up(run):
    judged = lines(*(tower(f"a{n:02}", 9, 9) for n in range(14)))
    labels = lines(*(tower(f"a{n:02}", 1, 9, rater="ana") for n in range(14)))
    text = run(ONE, "one.jsonl", "--labels", "labels.jsonl", one=judged, labels=labels)[0].read_text("utf-8")
    listed = text.partition("Disagreements (14)</h3>")[2].partition("<details>")
    folded = listed[2].partition("</details>")[0]
    assert (listed[0].count("<li"), folded.count("<li")) == (10, 4)
    assert "<summary>4 more disagreements</summary>" in folded
    levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_columns_of_labels_can_be_mapped_though_the_outputs_have_none_of_them(run, tmp_path):
    judged = lines(*(tower(f"a{n}", n, 9) for n in range(5)))
    rows = [f"a{n},{n},9\n" for n in range(5)]
    (tmp_path / "ann.csv").write_text("".join(["Nr,Note,tone\n", *rows]))
    mapped = ("--map", "id=Nr", "--map", "accuracy=Note")
    page, _, complaints = run(ONE, "one.jsonl", "--labels", "ann.csv", *mapped, one=judged)
    assert (complaints.strip(), "ann (person, 5)" in page.read_text("utf-8")) == ("", True)


@pytest.mark.slow
def test_labels_give_the_page_the_part_that_agree_writes(run, tmp_path):
    judged = lines(*(tower(f"a{n}", n % 11, 9) for n in range(12)))
    labels = lines(*(tower(f"a{n}", n * 3 % 11, 9, rater="ana") for n in range(12)))
    page, _, complaints = run(ONE, "one.jsonl", "--labels", "labels.jsonl", one=judged, labels=labels)
    assert complaints.strip() == ""
    command = ("agree", "rubric.yaml", "one.jsonl", "--labels", "labels.jsonl", "--report", "agree.html", "--isolated")
    commands.run("rubric-score", *command, cwd=tmp_path).check_returncode()
    alone = (tmp_path / "agree.html").read_text("utf-8").partition("</header>\n")[2].partition("\n<footer>")[0]
    assert alone in page.read_text("utf-8")
    assert '<a href="#agreement">Agreement</a>' in page.read_text("utf-8")


def test_the_same_input_gives_the_same_page(run):
    files = {"one": lines(tower("a", 9, 9), tower("b", 1, 1)), "two": lines(tower("b", 9, 9), tower("c", 1, 1))}
    first, second = (run(ONE, "one.jsonl", "--compare", "two.jsonl", **files)[0].read_bytes() for _ in range(2))
    assert first == second


# In a browser

SHOWN = """[...document.querySelectorAll("#tool tbody tr:not(.details)")].map(
    (row) => [...row.children].map((cell) => cell.textContent.trim()).filter(Boolean).join(" | "))"""
STATUS = 'document.querySelector("#tool [role=status]").textContent'
GISTS = '[...document.querySelectorAll("#tool .gist")].some((each) => each.textContent)'


def choose(name, value):
    kind = "input" if name == "q" else "change"
    return f"""(() => {{
        const field = document.querySelector(".controls").elements[{json.dumps(name)}];
        field.value = {json.dumps(value)};
        field.dispatchEvent(new Event("{kind}"));
    }})()"""


@pytest.mark.slow
@needs_chromium
def test_a_browser_shows_filters_sorts_searches_and_opens_every_answer(run, said):
    records = [tower(f"a{n}", n % 11, 9, f"Reason {n}.", question=f"Why {n}?") for n in range(100)]
    page, _, _ = run(
        *(ONE, "one.jsonl", "--compare", "two.jsonl"),
        one=lines(*records),
        two=lines(*(tower(f"a{n}", 9, 9) for n in range(50))),
    )
    address = page.as_uri()
    seen = browser.drive([
        {"size": [1200, 900], "open": address, "wait": GISTS, "run": SHOWN},
        {"run": "document.querySelector('[data-view*=missed] a').click()"},
        {"wait": f"{STATUS} === '46 answers of 100.' && {GISTS}", "run": f"[location.hash, {SHOWN}]"},
        {"run": choose("order", "value-")},
        {"wait": GISTS, "run": SHOWN},
        {"run": choose("q", "reason 12.")},
        {"wait": f"{STATUS} === '1 answer of 100.'", "run": "document.querySelector('.open').click()"},
        {"wait": "document.querySelector('.details .quote')", "run": "document.querySelector('.details').innerText"},
        {"run": "[location.hash, document.querySelector('.open').ariaExpanded]"},
        {"open": f"{address}#answers?flip=worse&sort=id", "wait": browser.READY, "run": STATUS},
        {"run": "document.querySelector('.open').focus()"},
        {"press": ["ArrowDown", "ArrowDown"], "run": "document.activeElement.textContent"},
        {"run": "history.pushState(null, '', location.pathname); dispatchEvent(new Event('hashchange'))"},
        {"wait": f"{STATUS} === '100 answers.'", "run": choose("verdict", "fail")},
        {"run": "location.hash = 'answers'"},
        {"wait": f"{STATUS} === '100 answers.'", "run": "document.querySelector('.controls').elements.verdict.value"},
        {"open": f"{address}#answers?sort=__proto__&criterion=7.7&rubric=x", "wait": browser.READY, "run": STATUS},
        {"open": address, "script": False, "run": "document.getElementById('needs-script').textContent"},
    ]).results  # fmt: skip
    first, _, missed, _, sorted_, _, _, opened, state, flips, _, focused, _, _, _, all_, odd, without = seen
    assert first[:2] == [
        "a0Why 0? | pass 0.900 | fail | 0.300 | accuracy 9 → 0 misses gate tone 9",
        "a1Why 1? | pass 0.900 | fail | 0.367 | accuracy 9 → 1 misses gate tone 9",
    ]
    assert missed[0] == "#answers?criterion=0.0&value=missed"
    assert missed[1][4:6] == [first[4], first[11]]
    assert sorted_[0] == "a4Why 4? | pass 0.900 | fail | 0.567 | accuracy 9 → 4 misses gate tone 9"
    said(opened)
    assert state == ["#answers?q=reason+12.&criterion=0.0&value=missed&sort=value&desc=1", "true"]
    assert flips.startswith("3")
    assert focused == "a11"
    assert (all_, odd) == ("", "0 answers of 100.")
    assert without.startswith("The first 20 are listed. To filter, sort and search them")


def press(text):
    """Press the button with this text."""
    return f"[...document.querySelectorAll('#tool button')].find((each) => each.textContent === {text!r}).click()"


NAMED = """\
tests:
  - id: tower
    rubrics:
      - {id: verdict, weight: 2, required_min_score: 5, score_ranges: {0: Contradicts the source., 5: Agrees with it.}}
      - {id: a b, score_ranges: {0: Insults the reader., 5: Addresses the reader politely.}}
  - id: sorting
    rubrics: [Names the pivot]
"""


@pytest.mark.slow
@needs_chromium
def test_the_labels_and_answers_that_a_browser_saves_are_read_back(run, tmp_path):
    def judged(name, first, second):
        checks = [{"id": "verdict", "score": first}, {"id": "a b", "score": second}]
        return {"id": name, "rubric": "tower", "answer": f"=A,\n{name}", "output": {"checks": checks}}

    names = 7, "7", '=q"u,o\n', 12345678901234567890, "half"
    records = [judged(name, 9 - number, 4 + number) for number, name in enumerate(names)]
    records += [{**judged(None, 1, 1), "id": None}, judged("invalid", 11, 1)]
    for name in ("s1", "s2"):
        records.append({"id": name, "rubric": "sorting", "output": {"checks": [{"id": "rubric-1", "satisfied": True}]}})
    del records[5]["id"]
    page, results, _ = run(NAMED, "one.jsonl", one=lines(*records))
    saved = tmp_path / "saved"
    seen = browser.drive([
        {"downloads": str(saved), "size": [1200, 900]},
        {"open": f"{page.as_uri()}#answers?sort=random&rubric=0", "wait": GISTS},
        {"run": "document.querySelectorAll('.open').forEach((each) => { each.focus(); each.dispatchEvent("
                "new KeyboardEvent('keydown', { key: 'a', bubbles: true })) })"},
        {"run": choose("order", "")},
        {"run": choose("rubric", "")},
        {"wait": GISTS, "run": "document.querySelectorAll('.open')[1].focus()"},
        {"press": ["d"]},
        {"wait": "document.activeElement.matches('.disagree')"},
        {"run": "document.activeElement.click()"},
        {"run": "(() => { const field = document.querySelector('.reasons select'); field.value = '3';"
                " field.dispatchEvent(new Event('change')) })()"},
        {"run": "document.querySelectorAll('.open')[7].click()"},
        {"wait": "document.querySelectorAll('.details .reasons').length === 2"},
        {"run": "[...document.querySelectorAll('.reasons .disagree')].at(-1).click()"},
        {"run": press("Save labels")},
        {"run": "document.querySelector('.files').innerText"},
        {"run": "document.activeElement.value = ' bo '; document.activeElement.dispatchEvent(new Event('input'))"},
        {"run": ";".join(map(press, ("Save labels", "CSV", "JSON Lines")))},
        {"run": "new Promise((done) => setTimeout(done, 1000))"},
        {"open": page.as_uri(), "wait": GISTS},
        {"run": "[...document.querySelectorAll('.every .labels')].map((each) => each.textContent)"},
    ])  # fmt: skip
    assert "Enter your name first" in seen.results[-5]
    assert seen.results[-1] == ["✓ agree", "✗ disagree", *["✓ agree"] * 3, "", "", "✗ disagree", ""]
    assert (seen.complaints, {each.partition("#")[0] for each in seen.requested}) == ([], {page.as_uri()})

    labels = [json.loads(line) for line in (saved / "labels.jsonl").read_text("utf-8").splitlines()]
    by_bo = {"rubric": "tower", "rater": "bo", "rubric_hash": results[0]["rubric_hash"]}
    agreed = [
        {"id": name, **by_bo, "criteria.verdict": 9 - at, "a b": 4 + at, "verdict": results[at]["verdict"]}
        for at, name in enumerate(names)
    ]
    agreed[1] |= {"criteria.verdict": 3, "verdict": "pass" if results[1]["verdict"] != "pass" else "borderline"}
    sorting = {
        "id": "s1",
        "rubric": "sorting",
        "rater": "bo",
        "rubric_hash": results[7]["rubric_hash"],
        "rubric-1": "no",
    }
    assert labels == [*agreed, sorting]
    command = [
        "rubric-score",
        "agree",
        "rubric.yaml",
        "one.jsonl",
        "--labels",
        "saved/labels.jsonl",
        "--format",
        "json",
        "--isolated",
        "--allow-invalid",
    ]
    done = commands.run(*command, cwd=tmp_path)
    done.check_returncode()
    _, tower, sorting = json.loads(done.stdout)["agreements"]
    assert [rater["answers"] for given in (tower, sorting) for rater in given["raters"] if rater["name"] == "bo"] == [
        5,
        1,
    ]
    assert [
        (each["id"], each["criterion"], each["ratings"][0]["value"])
        for agreement in (tower, sorting)
        for each in agreement["disagreements"]["worst"]
    ] == [("7", "verdict", 3), ("s1", "rubric-1", False)]
    assert [json.loads(line) for line in (saved / "answers.jsonl").read_text("utf-8").splitlines()] == records
    run(NAMED, "one.jsonl", "--compare", "saved/answers.csv", one=lines(*records))
    compared = part(page, "comparison")  # in CSV, 7 is "7" too, and the first one joins
    assert "Valid in both 6 Worse verdict 0 Better verdict 0 Mean score +0.000" in compared
    assert "Criteria only in" not in compared


WIDTHS = """(() => {
    const cut = [];
    for (const each of document.querySelectorAll("main *")) {
        if (each.closest("thead, select, .shares, svg, .histogram, .meter") || each.matches("option")) continue;
        const card = each.closest(".card, .figures div")?.getBoundingClientRect();
        const box = each.getBoundingClientRect();
        const isOut = card && box.width && (box.right > card.right + 1 || box.left < card.left - 1);
        if (isOut || getComputedStyle(each).textOverflow === "ellipsis") cut.push(each.outerHTML.slice(0, 200));
    }
    return [document.documentElement.scrollWidth, cut.slice(0, 5)];
})()"""


@pytest.mark.slow
@needs_chromium
def test_on_a_phone_nothing_is_wider_than_the_page_and_nothing_hostile_runs(run):
    records = [tower(name, 1, 9, name, question=name, answer=name * 3) for name in NASTY]
    records[4]["id"] = "half"
    long = ONE.replace("tone", "t" * 300).replace("Insults", "Insults" * 100)
    for record in records:
        record["output"]["checks"][1]["id"] = "t" * 300
    other = []
    for record in records:
        first, second = record["output"]["checks"]
        other.append({**record, "output": {"checks": [{**first, "score": 9}, second]}})
    page, _, _ = run(long, "one.jsonl", "--compare", "two.jsonl", one=lines(*records), two=lines(*other))
    seen = browser.drive([
        {"size": [400, 800], "open": page.as_uri(), "wait": browser.READY},
        {"run": "document.querySelectorAll('.open').forEach((each) => each.click())"},
        {"wait": f"document.querySelectorAll('.details .quote').length >= {3 * len(records)}", "run": WIDTHS},
        {"size": [1200, 800], "run": WIDTHS},
    ])  # fmt: skip
    assert seen.results[1:] == [[400, []], [1200, []]]
    assert (seen.requested, seen.complaints) == ([page.as_uri()], [])


# More answers than a page has


def write(folder, page, totals, **extras):
    """Write a page to a file, and return its path."""
    path = folder / "page.html"
    with path.open("w", encoding="utf-8") as file:
        page.write(file.write, totals, "a", PageContent(**extras))
    return path


def make_page(folder, scores, most=10, before=None, **extras):
    """Write a page of answers with these scores for accuracy, 11 is an invalid one; return its path.

    `before` has the records of another run.
    """
    texts = RecordTexts() if before else None
    other = OtherRun(RUBRICS, keep_text=texts.add) if texts else None
    if other:
        other.read([lines(*before).encode()])
    with patch.dict(PageAnswers.__init__.__kwdefaults__, most=most):
        page, totals, scorer = HtmlReport(RUBRICS, other, texts), Totals(RUBRICS.values()), Scorer(RUBRICS)
    for line, score in enumerate(scores, 1):
        text = json.dumps(tower(f"a{line}", score, 9)).encode()
        outcome = scorer.score(text, line)
        page.add(outcome, text)
        if outcome.result:
            totals.take(outcome.result)
        else:
            totals.invalid += 1
    return write(folder, page, totals, **extras)


@pytest.mark.slow
@needs_node
def test_of_many_answers_the_page_has_a_random_sample_and_those_that_readers_look_for(tmp_path, said):
    scores = [9] * 300
    scores[40], scores[50], scores[60:64], scores[200] = 11, 1, [7] * 4, 2
    path = make_page(tmp_path, scores, command="rubric-lint score r.yaml a.jsonl -o results.csv")
    rows = read(path)["rows"]
    said(part(path, "answers").partition(" Answer Verdict")[0])
    assert [row["line"] for row in rows] == sorted(row["line"] for row in rows)
    assert (len(rows), sum(row["sampled"] for row in rows)) == (10, 2)
    assert [(row["line"], row["verdict"]) for row in rows if row["verdict"] != "pass"] == [
        (41, "invalid"),
        (51, "fail"),
        *((line, "borderline") for line in range(61, 65)),
        (201, "fail"),
    ]
    assert [row["random"] for row in rows] == ["random" if row["sampled"] else "by-verdict" for row in rows]


verdict_scores = st.lists(st.sampled_from([9, 9, 9, 7, 1, 11]), max_size=60)


@given(verdict_scores)
def test_a_page_has_all_of_few_answers_and_of_many_those_of_most_interest(scores):
    answers = PageAnswers([*RUBRICS.values()], most=10)
    for line, score in enumerate(scores):
        text = json.dumps(tower(f"a{line}", score, 9)).encode()
        answers.add(Scorer(RUBRICS).score(text, line), text)
    answers.finish()
    data = json.loads("".join(answers.write({})).removeprefix(START).removesuffix("</script>\n"))
    lines = [answer["line"] for answer in data["answers"]]
    assert (data["rows"], lines) == (len(scores), sorted(set(lines)))
    assert len(lines) == min(len(scores), 10)
    assert [json.loads(answer["record"])["id"] for answer in data["answers"]] == [
        answer["id"] for answer in data["answers"]
    ]
    if len(scores) <= 10:
        assert answers.sampled == 0
        return
    interest = {9: 0, 7: 1, 1: 2, 11: 3}
    sampled = {answer["line"] for answer in data["answers"] if answer.get("sampled")}
    left_out = [interest[score] for line, score in enumerate(scores) if line not in lines]
    assert len(sampled) == 2
    assert max(left_out) <= min(interest[scores[line]] for line in lines if line not in sampled)


def test_every_answer_has_the_same_chance_to_be_in_the_random_sample():
    answers = PageAnswers([*RUBRICS.values()], most=500)
    known = reader_of(RUBRICS["r"]).grade((9, 9))
    for line in range(5000):
        answers.add(RecordResult(known, rubric="r", line=line), b"{}")
    answers.finish()
    data = json.loads("".join(answers.write({})).removeprefix(START).removesuffix("</script>\n"))
    sampled = [answer["line"] for answer in data["answers"] if answer.get("sampled")]
    tenths = Counter(line // 500 for line in sampled)
    assert len(sampled) == 100
    assert all(2 <= tenths[tenth] <= 20 for tenth in range(10))  # beyond this once in some 2,000 samples


@needs_node
@pytest.mark.parametrize("most", [10, 1000])
def test_a_figure_counts_the_answers_that_it_leads_to(tmp_path, most):
    before = [*(tower(f"a{line}", (line * 7) % 11, 9) for line in range(5, 60, 2)), tower("gone", 1, 1)]
    counted = read(make_page(tmp_path, [line % 12 for line in range(50)], most, before))["counted"]
    assert {view for view, *_ in counted} >= {"verdict=fail", "flip=worse", "flip=here", "flip=there"}
    if most > 50:
        assert [view for view, count, size in counted if count != size] == []
    else:
        assert [view for view, count, size in counted if size > min(count, most)] == []


@pytest.mark.slow
@needs_node
def test_changed_verdicts_come_before_all_others(tmp_path, said):
    before = [tower(f"a{line}", 9, 9) for line in range(1, 100)]
    scores = [9] * 90
    scores[10:20], scores[30:32], scores[50:55] = [8] * 10, [7, 1], [11] * 5
    path = make_page(tmp_path, scores, 20, before)
    found = [row["line"] for row in read(path)["rows"] if row["verdict"] not in {"pass", "absent"}]
    assert found == [31, 32, *range(51, 56)]
    said(part(path, "answers").partition(" To filter")[0])


@pytest.mark.parametrize(
    "arguments",
    [
        ["one.jsonl"],
        ["one.jsonl", "two.jsonl", "--pass", "0.9", "--extra-fields", "accept"],
        ["b c.jsonl", "--compare", "two.jsonl", "--fail-on", "never"],
        ["results.csv", "--map", "accuracy=Note", "--map", "tone=Ton"],
    ],
    ids=" ".join,
)
def test_the_page_names_the_command_that_writes_all_results(folder, monkeypatch, arguments):
    monkeypatch.setitem(PageAnswers.__init__.__kwdefaults__, "most", 10)
    monkeypatch.chdir(folder)
    records = lines(*(tower(f"a{n}", n % 11, 9) for n in range(12)))
    for name in ("one.jsonl", "two.jsonl", "b c.jsonl"):
        Path(name).write_text(records)
    Path("results.csv").write_text("".join(["id,Note,Ton\n", *(f"a{n},{n % 11},9\n" for n in range(12))]))
    Path("r.yaml").write_text(ONE)
    score = ["r.yaml", *arguments, "--report", "page.html", "--isolated"]
    commands.run("rubric-lint", "score", *score, "--format", "jsonl")
    command = re.search(r'<code dir="auto">(rubric-lint .*?)</code>', Path("page.html").read_text("utf-8"))[1]
    commands.run(*shlex.split(unescape(re.sub("<.*?>", "", command))))
    written = "all-results.csv" if "results.csv" in arguments else "results.csv"
    assert len(Path(written).read_text().splitlines()) == 1 + 12 * (1 + ("two.jsonl" in arguments[:2]))
    assert f'<code dir="auto">{written}</code>' in Path("page.html").read_text("utf-8")


@pytest.mark.slow
@needs_chromium
def test_a_browser_says_how_many_of_how_many_answers_are_in_the_page(tmp_path):
    path = make_page(tmp_path, [line % 10 for line in range(3000)], 1000)
    address = path.as_uri()
    last = "[...document.querySelectorAll('.open')].at(-1).textContent"
    seen = browser.drive([
        {"size": [1200, 900], "open": address, "wait": browser.READY, "run": STATUS},
        {"run": "document.querySelectorAll('.open').length"},
        {"run": "document.querySelector('[data-view=\"verdict=pass\"] a').title"},
        {"run": "document.querySelector('[data-view=\"verdict=fail\"] a').click()"},
        {"wait": f"{STATUS} !== '1,000 of 3,000 answers are in this page.'", "run": STATUS},
        {"run": choose("order", "random")},
        {"run": STATUS},
        {"run": choose("q", "a1")},
        {"run": STATUS},
        {"run": choose("q", "")},
        {"run": choose("verdict", "")},
        {"run": choose("order", "id-")},
        {"run": "setInterval(() => { document.querySelector('.rows').scrollTop = 1e9 }, 10) && 0"},
        {"wait": "document.querySelectorAll('.open').length === 1000", "run": last},
        {"run": choose("verdict", "fail")},
        {"run": "document.querySelector('.open').focus()"},
        {"press": ["a"]},
        {"run": "JSON.parse(Object.values(localStorage)[0]).labels[0][1].chosen"},
    ]).results  # fmt: skip
    sizes = [int(text.partition(" of ")[0].replace(",", "")) for text in (seen[2], seen[4])]
    first, rows, passes, _, fails, _, random, _, found, _, _, _, _, end, *_, label = seen
    assert (first, rows) == ("1,000 of 3,000 answers are in this page.", 100)
    assert passes == f"{sizes[0]} of 600 are in this page"
    assert fails == random == f"{sizes[1]} of 1,500 answers are in this page."
    assert found.endswith(" of the 1,000 in this page, which does not have all 3,000.")
    assert end < "a2"
    assert label == "by-verdict"
