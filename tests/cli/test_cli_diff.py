"""`rubric-lint diff` as it is run: files and revisions, for people, pull requests and programs."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import commands
import pytest
from commands import run_git
from found import message
from jsonschema import Draft7Validator

from rubric_lint.model.messages import escape
from rubric_lint.model.schema_files import load_bundled

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("rubric-lint")
OLD = """\
rubrics:
  - id: accuracy
    weight: 3
    required_min_score: 7
    score_ranges: {0: Wrong in its claim, 7: Right in its claim}
  - id: length
    score_ranges: {0: Longer than 80 words, 6: At most 80 words}
"""
NEW = OLD.replace("weight: 3", "weight: 1").replace("_score: 7", "_score: 8").replace("id: length", "id: brevity")
OUTPUTS = """\
{"id": "x1", "output": {"checks": [{"id": "accuracy", "score": 7}, {"id": "length", "score": 10}]}}
{"id": "x2", "output": {"checks": [{"id": "accuracy", "score": 2}, {"id": "length", "score": 10}]}}
{"output": {"checks": [{"id": "accuracy", "score": 9}, {"id": "brevity", "score": 10}]}}
"""


@pytest.fixture
def run(program, tmp_path):
    (tmp_path / "old.yaml").write_text(OLD, "utf-8")
    (tmp_path / "new.yaml").write_text(NEW, "utf-8")
    (tmp_path / "outputs.jsonl").write_text(OUTPUTS, "utf-8")
    return partial(program, "diff")


def test_changes_as_text_of_files_and_of_standard_input(run, said):
    told = run("old.yaml", "new.yaml")
    said(told)
    assert run("old.yaml", "-", "--stdin-filename", "new.yaml", stdin=NEW)[:2] == told[:2]


def test_nothing_changed_in_meaning(run, tmp_path, said):
    (tmp_path / "new.yaml").write_text("# notes\n" + OLD.replace("weight: 3", "weight: 3.0"), "utf-8")
    said(run("old.yaml", "new.yaml"))


def test_what_becomes_of_verdicts(run, said):
    code, text, errors = run("old.yaml", "new.yaml", "--outputs", "outputs.jsonl")
    assert (code, errors) == (1, "")
    without = run("old.yaml", "new.yaml")[1]
    assert text.startswith(without)
    said(text.removeprefix(without))


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_outputs_that_are_invalid_by_both_versions_are_named_with_the_reasons(run, tmp_path, form, said):
    invalid = ['{"id": "y1", "output": "none"}', '{"id": "y2", "output": "nothing"}', '{"output": {"score": 7}}']
    (tmp_path / "outputs.jsonl").write_text("\n".join(invalid), "utf-8")
    _, text, _ = run("old.yaml", "new.yaml", "--format", form, "--outputs", "outputs.jsonl")
    said(json.loads(text)["outputs"]["left_out"] if form == "json" else text)


def test_a_rubric_that_did_not_change_changes_no_verdict(run, said):
    code, text, _ = run("old.yaml", "old.yaml", "--outputs", "outputs.jsonl")
    assert code == 0
    said(text)


def test_changes_for_a_pull_request(run, said):
    code, text, _ = run("old.yaml", "new.yaml", "--format", "markdown", "--outputs", "outputs.jsonl")
    assert code == 1
    said(text)


CLAIM = "# $schema: rubric-v2.schema.json\n"  # a list of strings alone may be anything

TEXTS_AND_MARKDOWN = {
    "Ask @team/core about #12, GH-3 and !4": r"Ask @&#8203;team/core about \#&#8203;12, GH-&#8203;3 and !&#8203;4",
    "See https://example.com or www.example.com": "See https:&#8203;//example.com or www&#8203;.example.com",
    "Mail a.b@example.com": "Mail a.b@&#8203;example.com",
    "<img src=x onerror=y> &lt; `code` *b* [a](b) | c": r"\<img src=x onerror=y> \&lt; \`code\` \*b\* \[a\](b) \| c",
    "# Not a heading #": r"\# Not a heading \#",
    "- not a list": r"\- not a list",
    "1. not a list": r"1\. not a list",
    "a snake_case C# word at 10:30": "a snake_case C\\# word at 10:30",
    "\u202eevil \x1b[31m": r"\\u202eevil \\x1b\[31m",
}


@pytest.mark.parametrize("text", TEXTS_AND_MARKDOWN)
def test_a_text_in_markdown_calls_nobody_and_links_nowhere(run, tmp_path, text):
    assert escape(text) == TEXTS_AND_MARKDOWN[text]
    (tmp_path / "old.yaml").write_text(CLAIM + "rubrics: [Names the pivot]", "utf-8")
    (tmp_path / "new.yaml").write_text(f"{CLAIM}rubrics: [{json.dumps(text)}]", "utf-8")
    written = run("old.yaml", "new.yaml", "--format", "markdown")[1]
    assert TEXTS_AND_MARKDOWN[text] in written


CLAIM_3 = CLAIM.replace("v2", "v3")
WHOLE = """rubrics:
  scale: [1, 5]
  grades: {A: 90%, B: 50%}
  criteria:
    - {id: dose, expected_outcome: States the dose, applies_if: A drug is named}
    - {id: code, expected_outcome: The code, required_min_score: 2, criteria: [Runs, Has no unused import]}
"""

SAMPLES = {
    "version 3": (
        CLAIM_3 + WHOLE,
        CLAIM_3
        + WHOLE.replace("[1, 5]", "[0, 5]").replace("90%", "95%").replace("A drug", "A pill").replace(": 2,", ": 3,"),
    ),
    "criteria": (OLD, NEW),
    "bands": (OLD, OLD.replace("6: At", "5: At")),
    "shape": (OLD, CLAIM + "rubrics: [Names the pivot]"),
    "checklist": (
        CLAIM + "rubrics: [Names the pivot]",
        CLAIM + "rubrics: [Names the cost, {id: b, expected_outcome: Names it}]",
    ),
    "levels": (
        "rubrics: [{id: a, levels: [{level: 1, expected_outcome: Off topic}, {level: 2, expected_outcome: On topic}]}]",
        "rubrics: [{id: a, levels: [{level: 1, expected_outcome: Off topic}, {level: 3, expected_outcome: On topic}]}]",
    ),
    "places": (CLAIM + "rubrics: [Names the pivot]", CLAIM + "rubrics: [Names the cost, Names the pivot]"),
    "fewer": (CLAIM + "rubrics: [Names the pivot, Names the cost]", CLAIM + "rubrics: [Names the pivot]"),
    "suite": (
        "tests: [{id: a, rubrics: [Names the pivot]}, {id: b, rubrics: [Names the cost]}]",
        "tests: [{id: c, rubrics: [Names the pivot]}, {id: d, rubrics: [Names the day]}]",
    ),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_json_report_follows_its_schema(run, tmp_path, sample):
    for name, text in zip(("old.yaml", "new.yaml"), SAMPLES[sample], strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    outputs = ("--outputs", "outputs.jsonl") if sample == "criteria" else ()
    code, text, said = run("old.yaml", "new.yaml", "--format", "json", *outputs)
    assert (code, said) == (1, "")
    schema = load_bundled("diff/v1.json")
    assert [error.message for error in Draft7Validator(schema).iter_errors(json.loads(text))] == []
    assert json.loads(text)["changes"]


def test_each_change_in_the_json_report_has_its_places(run):
    report = json.loads(run("old.yaml", "new.yaml", "--format", "json")[1])
    places = [(change["what"], change["old_place"], change["new_place"]) for change in report["changes"]]
    assert places[0] == (
        "gate",
        {"file": "old.yaml", "line": 4, "column": 25},
        {"file": "new.yaml", "line": 4, "column": 25},
    )
    assert all(old and new for _, old, new in places)


def test_every_kind_of_change_is_in_the_samples_but_that_of_settings(run, tmp_path):
    kinds = {"thresholds", "field"}  # of settings, and of a field that only a changed schema has
    for old, new in SAMPLES.values():
        (tmp_path / "old.yaml").write_text(old, "utf-8")
        (tmp_path / "new.yaml").write_text(new, "utf-8")
        report = json.loads(run("old.yaml", "new.yaml", "--format", "json")[1])
        kinds |= {change["what"] for change in report["changes"]}
    schema = json.loads((ROOT / "schemas/diff/v1.json").read_text("utf-8"))
    assert kinds == set(schema["definitions"]["change"]["properties"]["what"]["enum"])


GROUPS_3 = """\
criteria:
  - {id: a, weight: 3, criteria: [Names the cause, {id: b, expected_outcome: Names the fix, weight: 2}]}
  - Names the cost
"""
FAILURE_3 = "criteria: [Names the cause]\ncritical_failures: [{id: forged, expected_outcome: Forges a source}]\n"
SCALE_3 = "scale: [0.0, 1.0]\ncriteria: [Names the cause, {id: b, scale: [1, 5], levels: {1: Bad, 2: Poor}}]\n"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (
            GROUPS_3,
            GROUPS_3.replace("weight: 3", "weight: 1"),
            [
                "~ shares of 1 group and 3 criteria (old.yaml:3, new.yaml:3)",
                "- a 75% (weight 3), a/1 25% (weight 1), a/b 50% (weight 2) and rubric-2 25% (weight 1)",
                "+ a 50% (weight 1), a/1 16.7% (weight 1), a/b 33.3% (weight 2) and rubric-2 50% (weight 1)",
            ],
        ),
        (
            FAILURE_3,
            FAILURE_3.partition("critical")[0],
            ["- forged: critical failure: Forges a source (old.yaml:3)"],
        ),
        (
            SCALE_3,
            SCALE_3.replace("[0.0, 1.0]", "[0, 1]"),
            [
                *("~ scale of the whole (old.yaml:2, new.yaml:2)", "- 0.0 to 1.0", "+ 0 to 1"),
                *("~ shape (old.yaml:2, new.yaml:2)", "- levels", "+ mixed"),
            ],
        ),
        (
            SCALE_3,
            SCALE_3.replace("[0.0, 1.0]", "[0, 20]"),
            ["~ scale of the whole (old.yaml:2, new.yaml:2)", "- 0.0 to 1.0", "+ 0 to 20"],
        ),
        (
            SCALE_3,
            SCALE_3.replace("[1, 5]", "[1, 6]").replace("Poor", "Fair"),
            [
                *("~ b: scale (old.yaml:3, new.yaml:3)", "- from 1, the worst, to 5, the best"),
                *("+ from 1, the worst, to 6, the best", "~ b: level 2 (old.yaml:3, new.yaml:3)"),
                *("- Poor (worth 0.25)", "+ Fair (worth 0.2)"),
            ],
        ),
        (
            SCALE_3,
            SCALE_3.replace(", 2: Poor", ""),
            ["~ b: level 2 (old.yaml:3, new.yaml:3)", "- Poor (worth 0.25)", "+ not described (worth 0.25)"],
        ),
    ],
    ids=["weight of a group", "critical failure", "whole, to yes or no", "whole", "scale of one", "described"],
)
def test_a_change_of_version_3_is_told_once_in_the_words_of_the_file(run, tmp_path, old, new, lines):
    (tmp_path / "old.yaml").write_text(CLAIM_3 + old, "utf-8")
    (tmp_path / "new.yaml").write_text(CLAIM_3 + new, "utf-8")
    assert [line.strip() for line in run("old.yaml", "new.yaml")[1].splitlines()[1:-1]] == lines
    report = json.loads(run("old.yaml", "new.yaml", "--format", "json")[1])
    assert [*Draft7Validator(load_bundled("diff/v1.json")).iter_errors(report)] == []


def test_what_only_version_3_says_is_compared(run, tmp_path):
    for name, text in zip(("old.yaml", "new.yaml"), SAMPLES["version 3"], strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    changes = json.loads(run("old.yaml", "new.yaml", "--format", "json")[1])["changes"]
    found = [(change["what"], change["criterion"], change["old"], change["new"]) for change in changes]
    assert ("scale", None, {"ends": [1, 5]}, {"ends": [0, 5]}) in found
    ends = {"ends": [1, 5]}, {"ends": [0, 5]}
    grades = ({"grades": {"A": share, "B": 0.5}, **end} for share, end in zip((0.9, 0.95), ends, strict=True))
    assert ("grades", None, *grades) in found
    assert ("gate", "code", {"gate": 0.25, **ends[0]}, {"gate": 0.6, **ends[1]}) in found
    condition = [{"field": "applies_if", "text": text} for text in ("A drug is named", "A pill is named")]
    assert ("field", "dose", *condition) in found
    places = [change["new_place"]["line"] for change in changes if change["what"] == "gate"]
    assert places == [7]
    lines = [line.strip() for line in run("old.yaml", "new.yaml")[1].splitlines()]
    both = [("- A from 4.6, B from 3", "+ A from 4.75, B from 2.5"), ("- 2", "+ 3")]
    assert all((lines[lines.index(old) + 1]) == new for old, new in both)


def test_marks_of_version_3_are_compared_in_units_of_the_scale(run, tmp_path):
    for name, mark in (("old.yaml", "3.5"), ("new.yaml", "4")):
        text = f"{CLAIM_3}rubrics: {{scale: [1, 5], pass_threshold: {mark}, criteria: [Names the pivot]}}"
        (tmp_path / name).write_text(text, "utf-8")
    lines = [line.strip() for line in run("old.yaml", "new.yaml")[1].splitlines()]
    assert lines[2:4] == ["- pass from 3.5, borderline from 3.5", "+ pass from 4, borderline from 4"]


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "my suites"
    folder.mkdir()
    (folder / "r.yaml").write_text(OLD, "utf-8")
    commands.commit_all(tmp_path)
    (folder / "r.yaml").write_text(NEW, "utf-8")
    return folder


@pytest.mark.usefixtures("repository")
def test_a_revision_is_named_as_git_names_it(run):
    code, text, said = run("HEAD:my suites/r.yaml", "my suites/r.yaml")
    assert (code, said) == (1, "")
    assert text.splitlines()[-1] == "3 changes in 1 rubric from HEAD:my suites/r.yaml to my suites/r.yaml."


def test_a_revision_is_found_from_a_folder_too(repository):
    for name in ("HEAD:./r.yaml", "HEAD:my suites/r.yaml"):
        done = commands.run("rubric-lint", "diff", name, "r.yaml", cwd=repository)
        assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_standard_input_that_is_closed_holds_nothing(tmp_path):
    for arguments in (("-", "new.yaml"), ("old.yaml", "new.yaml", "--outputs", "-")):
        call = ["sh", "-c", '"$@" <&-', "sh", PROGRAM, "diff", *arguments]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.endswith(b" is closed\n")


def test_the_settings_of_the_file_hold_for_its_revision(run, repository):
    (repository / "rubric-lint.toml").write_text("pass = 0.9\n", "utf-8")
    assert "verdict" not in run("HEAD:my suites/r.yaml", "my suites/r.yaml")[1]
    assert "pass from 0.9" in run("old.yaml", "my suites/r.yaml")[1]


def test_one_rubric_of_a_suite(run, tmp_path):
    suite = "tests: [{id: a, rubrics: [Names the pivot]}, {id: b, rubrics: [Names the cost]}]"
    (tmp_path / "old.yaml").write_text(suite, "utf-8")
    (tmp_path / "new.yaml").write_text(suite.replace("pivot", "day"), "utf-8")
    assert run("old.yaml", "new.yaml", "--rubric", "a")[0] == 1
    assert run("old.yaml", "new.yaml", "--rubric", "b")[0] == 0


def test_texts_of_a_rubric_command_no_terminal(run, tmp_path, said):
    (tmp_path / "old.yaml").write_text(CLAIM + 'rubrics: ["Names \\e[31m the pivot"]', "utf-8")
    (tmp_path / "new.yaml").write_text(CLAIM + 'rubrics: ["Names \\e[32m\\nthe pivot"]', "utf-8")
    said(run("old.yaml", "new.yaml")[1].splitlines())


def test_an_old_file_with_errors_says_how_to_compare_all_the_same(run, tmp_path, repository):
    broken = OLD.replace("{0: Wrong", "{5: Nearly, 0: Wrong").replace("weight: 3", "weight: -3")
    (tmp_path / "broken.yaml").write_text(broken, "utf-8")
    line = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json"
    how = f"write `{line}` in the first line of the file"
    below = message("weight.below-zero", subject="`weight`", found="is -3", least=0, how=how)
    fault = f"3:13: weight: criterion `accuracy`: {below}"
    told = "rubric-lint: OLD has errors, so its scores are undefined: {} (`rubric-lint` says how), then "
    told += "compare again"
    code, text, said = run("broken.yaml", "new.yaml")
    assert (code, text) == (2, "")
    assert said.splitlines() == [f"rubric-lint: broken.yaml:{fault}", told.format("fix broken.yaml")]
    assert run("new.yaml", "broken.yaml")[2].splitlines() == [f"rubric-lint: broken.yaml:{fault}"]
    (repository / "r.yaml").write_text(broken, "utf-8")
    commands.run_git("add", ".", cwd=tmp_path)
    name = ":my suites/r.yaml"
    mend = f"save it with `git show '{name}' > FILE`, fix FILE"
    assert run(name, "new.yaml")[2].splitlines()[-1] == told.format(mend)


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_a_reader_that_stops_early_is_no_fault(tmp_path):
    command = ["sh", "-c", '"$0" diff old.yaml new.yaml | head -1', PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"rubric new\n", b"")


TESTED = """\
rubric: old.yaml
tests:
  - id: right
    answer: So.
    output: {checks: [{id: accuracy, score: 7}, {id: length, score: 10}]}
    expect: {verdict: pass}
"""


@pytest.fixture
def branch(program, folder):
    """Calls `diff` in a repository on a branch `change` of `main`."""
    for name, text in {"old.yaml": OLD, "gone.yaml": OLD, "old.rubric-test.yaml": TESTED, "o.jsonl": OUTPUTS}.items():
        (folder / name).write_text(text, "utf-8")
    commands.commit_all()
    run_git("checkout", "-qb", "change")
    return partial(program, "diff")


def test_a_branch_without_changes_changes_nothing(branch):
    assert branch() == (0, "No change in meaning since main.\n", "")


@pytest.mark.slow
def test_a_branch_is_one_comment(branch, said):
    Path("old.yaml").write_text(NEW, "utf-8")
    Path("new.yaml").write_text(OLD.replace("3", "3  # heavy"), "utf-8")
    Path("gone.yaml").unlink()
    Path("bad.rubric.yaml").write_text("rubrics: [\n", "utf-8")
    code, text, errors = branch("--format", "markdown", "--outputs", "o.jsonl", "--rubric", "old")
    assert (code, errors) == (1, "")
    said(text)
    code, text, errors = branch("--format", "markdown", "-o", "comment.md")
    assert (code, text, errors) == (1, "", "")
    said(Path("comment.md").read_text("utf-8"))
    report = json.loads(branch("--format", "json")[1])
    schema = load_bundled("diff/v1.json")
    assert list(Draft7Validator(schema).iter_errors(report)) == []
    assert [len(report[name]) for name in ("changes", "findings", "tests", "skipped")] == [5, 2, 1, 1]


def test_the_base_is_that_of_the_pull_request(branch, monkeypatch):
    run_git("update-ref", "refs/remotes/origin/release", "main")
    Path("old.yaml").write_text(NEW, "utf-8")
    run_git("commit", "-qam", "b")
    run_git("branch", "-f", "main")
    assert branch()[1].startswith("No change in meaning since main.")
    monkeypatch.setenv("GITHUB_BASE_REF", "release")
    assert "3 changes in meaning in 1 rubric since origin/release." in branch()[1].splitlines()


@pytest.mark.slow
def test_without_a_base_it_says_what_to_do(branch, said):
    run_git("branch", "-D", "main")
    said(branch("nosuch")[2].splitlines()[-1])
    code, text, errors = branch()
    assert (code, text) == (2, "")
    said(errors)
    Path("old.yaml").write_text(NEW, "utf-8")
    assert branch("HEAD")[0] == 1


def diff_in(folder, *arguments):
    """The output of `diff` in a folder, and the last line that it complains with."""
    done = commands.run("rubric-lint", "diff", *arguments, cwd=folder)
    return done.stdout, "".join(done.stderr.splitlines()[-1:])


@pytest.mark.usefixtures("branch")
def test_a_base_of_the_pull_request_that_is_not_here_is_no_other_base(monkeypatch, tmp_path, said):
    run_git("commit", "-q", "--allow-empty", "-m", "b")
    run_git("clone", "-q", "--depth=1", "--single-branch", f"file://{tmp_path}", "clone")
    assert diff_in("clone") == ("No change in meaning since origin/HEAD.\n", "")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    said(*diff_in("clone"))


@pytest.mark.slow
@pytest.mark.usefixtures("branch")
@pytest.mark.parametrize("is_detached", [False, True], ids=["branch", "detached"])
def test_renamed_and_deleted_files_in_a_clone_without_tags(is_detached, said):
    Path("kept.yaml").write_text(OLD.replace("id: length", "id: words"), "utf-8")
    run_git("add", ".")
    run_git("commit", "-qm", "b")
    run_git("tag", "v1")
    run_git("branch", "-f", "main")
    run_git("mv", "kept.yaml", "moved.yaml")
    Path("moved.yaml").write_text(NEW.replace("id: brevity", "id: words"), "utf-8")
    run_git("rm", "-q", "gone.yaml")
    run_git("commit", "-qam", "c")
    run_git("clone", "-q", "--no-tags", ".", "clone")
    if is_detached:
        run_git("-C", "clone", "checkout", "-q", "--detach")
    said(*(diff_in("clone", "origin/main", "--format", form)[0] for form in ("text", "markdown")))
    said(diff_in("clone", "v1")[1])


def test_where_nothing_could_be_compared_it_does_not_say_that_nothing_changes(branch):
    Path("old.yaml").write_text(OLD.replace("{0: Wrong", "{7: Wrong"), "utf-8")
    Path("old.rubric-test.yaml").unlink()
    code, text, _ = branch()
    assert (code, text.splitlines()[0]) == (1, "Unknown what changes in meaning since main (1 file not compared).")
