"""`rubric-lint assess --history`: which wording in Git measured best, and what it says where nothing decides."""

import json
import re
import subprocess
from pathlib import Path

import commands
import pytest
from jsonschema import Draft7Validator

from rubric_lint.format.schema_files import load_bundled
from rubric_lint.scoring.loading import load_rubrics

SCHEMA = load_bundled("assessment/v1.json")
FILE = "refund.rubric.yaml"
VAGUE, CLEAR, THIRD = "States the period well", "States a period of 30 days", "Says until when returns are possible"


def git(*words, cwd="."):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def write(period, *, cites="Names the paragraph", file=FILE, more=""):
    Path(file).write_text(
        f"rubrics:\n  - {{id: cites, expected_outcome: {cites}, required_min_score: 10}}\n"
        f"  - {{id: period, expected_outcome: {period}, required_min_score: 10}}\n{more}"
    )


def commit(period, **more):
    """Commit a wording; return the short name of the commit as the page shows it."""
    write(period, **more)
    git("add", more.get("file", FILE))
    git("commit", "-qm", period)
    return git("rev-parse", "HEAD")


def record(name, wrong=(), flips=(), *, count=40, first=0, texts="Answer", judged_by=None, file=FILE):
    """Record what a judge says by the rubric as it is: of `period`, it is wrong on and flips on these answers."""
    (rubric,) = load_rubrics(file, Path(file).read_bytes()).values()
    lines = []
    for number in range(first, first + count):
        truth = number % 2 == 0
        given = truth ^ (number in wrong)
        outputs = [
            {"checks": [{"id": "cites", "satisfied": True}, {"id": "period", "satisfied": each}]}
            for each in (given, given ^ (number in flips))
        ]
        about = {"model": "m", **({} if judged_by == "" else {"rubric_hash": judged_by or rubric.hash})}
        lines.append({"id": number, "answer": f"{texts} {number}", "outputs": outputs, "judge": about})
    Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in lines))


@pytest.fixture(autouse=True)
def repository(folder):
    git("init", "-qb", "main")
    answers = [{"id": number, "answer": f"Answer {number}"} for number in range(40)]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in answers))
    rows = [f"{number},ann,yes,{'yes' if number % 2 == 0 else 'no'}" for number in range(40)]
    Path("labels.csv").write_text("\n".join(["id,rater,cites,period", *rows]))
    return folder


def assess(*arguments, form="json", file=FILE):
    given = ["assess", file, "answers.jsonl", "--history", "--format", form, *arguments]
    done = commands.run("rubric-lint", *given)
    return done.stdout


def trace(*arguments, file=FILE):
    """Return the history; of criteria, `period` alone."""
    report = json.loads(assess(*arguments, file=file))
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(report)] == []
    past = report["rubrics"][0]["history"]
    period = next((each for each in past["criteria"] if each["criterion"] == "period"), None)
    return past, period


def shown(period):
    return [
        (each["commit"], each["text"], each["answers"], each["right"]["x"], each["flips"]["x"])
        for each in period["wordings"]
    ]


LABELS = ("--labels", "labels.csv")


def test_the_wording_that_people_agree_with_more_measured_best():
    old = commit(VAGUE)
    record("old.judged.jsonl", wrong=range(15), flips=range(30, 35))
    new = commit(CLEAR)
    record("answers.judged.jsonl", wrong=[20])
    past, period = trace(*LABELS)
    assert (past["versions"], past["measured"], past["notes"]) == (2, 2, [])
    assert shown(period) == [(new, CLEAR, 40, 39, 0), (old, VAGUE, 40, 22, 5)]
    (versus,) = period["comparisons"]
    counts = {"first": 0, "second": 1, "by": "labels", "common": 40, "only_first": 18, "only_second": 1}
    assert versus == {**counts, "apart": [399 / 780, 384 / 780], "p": pytest.approx(20 / 2**18 - 19 / 2**19)}
    assert period["best"] == 0
    cites = past["criteria"][0]
    assert ([each["commit"] for each in cites["wordings"]], cites["comparisons"], cites["best"]) == ([old], [], None)


def test_without_labels_the_samples_decide():
    commit(VAGUE)
    record("old.judged.jsonl", flips=range(12))
    commit(CLEAR)
    record("answers.judged.jsonl", flips=[39])
    _, period = trace()
    (versus,) = period["comparisons"]
    assert (versus["by"], versus["only_first"], versus["only_second"], period["best"]) == ("samples", 12, 1, 0)


def test_a_wording_with_one_value_for_all_answers_is_not_best_because_its_samples_agree(said):
    commit(VAGUE)
    record("old.judged.jsonl", flips=range(12))
    commit(CLEAR)
    record("answers.judged.jsonl", wrong=range(1, 40, 2))
    _, period = trace()
    (versus,) = period["comparisons"]
    assert (versus["only_first"], versus["apart"][0], period["best"]) == (12, 0, None)
    said(re.sub(r"[0-9a-f]{10} \(\d{4}-\d\d-\d\d\)", "COMMIT (DATE)", assess(form="full")))


def test_a_difference_that_chance_explains_makes_no_wording_best():
    commit(VAGUE)
    record("old.judged.jsonl", wrong=range(4))
    commit(CLEAR)
    record("answers.judged.jsonl")
    _, period = trace(*LABELS)
    assert (period["comparisons"][0]["only_first"], period["best"]) == (4, None)


def test_three_wordings_share_the_error_and_the_best_one_beats_both():
    for number, (text, wrong) in enumerate([(VAGUE, 16), (THIRD, 12), (CLEAR, 0)]):
        commit(text)
        record(f"{number}.judged.jsonl", wrong=range(wrong))
    _, period = trace(*LABELS)
    assert [(each["first"], each["second"], each["only_first"]) for each in period["comparisons"]] == [
        (0, 1, 12),
        (0, 2, 16),
        (1, 2, 4),
    ]
    assert period["best"] == 0


@pytest.mark.parametrize("more", [{"first": 40}, {"texts": "Other"}])
def test_without_common_answers_nothing_can_be_said(more):
    commit(VAGUE)
    record("old.judged.jsonl", range(10), **more)
    commit(CLEAR)
    record("answers.judged.jsonl")
    _, period = trace()
    assert [each["common"] for each in period["comparisons"]] == [0]
    assert (len(period["wordings"]), period["best"]) == (2, None)
    assert "cannot say which wording is best: no common answers" in " ".join(assess(form="full").split())


def test_renames_are_followed_and_results_in_earlier_commits_count():
    old = commit(VAGUE, file="old.rubric.yaml")
    record("answers.judged.jsonl", wrong=range(15), file="old.rubric.yaml")
    git("add", "answers.judged.jsonl")
    git("commit", "-qm", "results")
    git("mv", "old.rubric.yaml", FILE)
    git("commit", "-qm", "rename")
    new = commit(CLEAR)
    record("answers.judged.jsonl")
    past, period = trace(*LABELS)
    assert [each["commit"] for each in period["wordings"]] == [new, old]
    assert (past["versions"], period["best"], past["notes"]) == (2, 0, [])


@pytest.mark.slow
def test_a_wording_that_comes_back_and_one_that_is_not_committed():
    first = commit(CLEAR)
    commit(VAGUE)
    record("old.judged.jsonl", wrong=range(12))
    commit(CLEAR, cites="Names the number")
    record("answers.judged.jsonl")
    write(THIRD)
    record("new.judged.jsonl", count=0)
    _, period = trace(*LABELS)
    assert [(each["commit"] == first, each["text"]) for each in period["wordings"]] == [(True, CLEAR), (False, VAGUE)]
    record("new.judged.jsonl")
    _, period = trace(*LABELS)
    assert [each["commit"] for each in period["wordings"]][:2] == [None, first]


def test_a_new_criterion_makes_another_version_with_the_same_wording():
    commit(CLEAR)
    record("old.judged.jsonl", count=10)
    commit(CLEAR, more="  - {id: polite, expected_outcome: Is polite}\n")
    past, period = trace()
    assert (past["versions"], past["measured"], len(period["wordings"])) == (2, 1, 1)


def test_results_of_no_version_and_without_a_hash_are_told_and_versions_with_errors_too():
    broken = commit(VAGUE, more="  - {id: period, expected_outcome: Twice}\n")
    commit(CLEAR)
    record("answers.judged.jsonl", judged_by="0123456789abcdef", count=3)
    record("bare.judged.jsonl", judged_by="", count=2)
    past, period = trace()
    assert (past["measured"], period) == (0, None)
    assert past["notes"] == [
        f"not read, as their rubrics have errors or are none: `{broken[:10]}`",
        "3 results are by a rubric that no version of the file has, with these settings (`answers.judged.jsonl`)",
        "2 results are without `rubric_hash`, so nothing says which version judged them (`bare.judged.jsonl`)",
    ]


def test_where_git_cannot_help_the_page_says_so(repository, tmp_path_factory, monkeypatch):
    write(CLEAR)
    past, _ = trace()
    assert (past["versions"], past["notes"]) == (
        1,
        ["no version of the rubric to compare with: this repository has no commits yet"],
    )
    git("commit", "-qm", "empty", "--allow-empty")
    past, _ = trace()
    assert past["notes"] == [f"no version of the rubric to compare with: Git does not track {FILE}"]
    commit(VAGUE)
    commit(CLEAR)
    elsewhere = tmp_path_factory.mktemp("shallow")
    git("clone", "-q", "--depth", "1", f"file://{repository}", str(elsewhere / "clone"))
    monkeypatch.chdir(elsewhere / "clone")
    Path("answers.jsonl").write_text('{"id": 1, "answer": "Yes"}\n')
    past, _ = trace()
    assert (past["versions"], past["notes"]) == (
        1,
        ["this clone is shallow, so older versions are missing; `git fetch --unshallow` fetches them"],
    )
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(elsewhere))
    (elsewhere / "plain").mkdir()
    monkeypatch.chdir(elsewhere / "plain")
    write(CLEAR)
    Path("answers.jsonl").write_text('{"id": 1, "answer": "Yes"}\n')
    (note,) = trace()[0]["notes"]
    assert note.startswith(f"no version of the rubric to compare with: it needs a Git repository around {FILE}")


@pytest.mark.slow
def test_the_page_and_the_comment(said):
    commit(VAGUE)
    record("old.judged.jsonl", wrong=range(15), flips=range(30, 35))
    commit(CLEAR)
    record("answers.judged.jsonl", wrong=[20])
    pages = [assess(*LABELS, form=form) for form in ("full", "markdown")]
    names = {name[:10]: f"{number}" * 10 for number, name in enumerate(git("log", "--format=%H").split())}
    days = git("log", "-1", "--format=%cs")
    for name, stand_in in names.items():
        pages = [page.replace(name, stand_in) for page in pages]
    pages = [page.replace(days, "2026-01-01") for page in pages]
    said(pages[0][pages[0].index("History") : pages[0].index("Next")], pages[1][pages[1].index("History") :])


def test_several_rubrics_of_a_file_have_histories_of_their_own():
    suite = "tests:\n" + "".join(
        f"  - id: {name}\n    criteria: Is good\n    input: Why?\n    assertions:\n      - type: rubrics\n"
        f"        criteria: [{{id: {name}-a, outcome: Names it}}]\n"
        for name in ("one", "two")
    )
    Path("a.eval.yaml").write_text(suite)
    git("add", ".")
    git("commit", "-qm", "a")
    Path("a.eval.yaml").write_text(suite.replace("two-a, outcome: Names it", "two-a, outcome: Names the cause"))
    Path("answers.jsonl").write_text('{"id": 1, "rubric": "one", "answer": "Yes"}\n')
    found = json.loads(assess(file="a.eval.yaml"))["rubrics"]
    assert {each["rubric"]: each["history"]["versions"] for each in found} == {"one": 1, "two": 2}
