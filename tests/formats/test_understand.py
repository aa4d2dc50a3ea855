"""One function says what a file of a team holds; check, show, score and adopt ask it, and agree about every file."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from cases import read_cases
from lint_command import call

from rubric_lint.formats.home_made.assignments import TableDraft
from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.formats.home_made.reading import read_by_tables
from rubric_lint.formats.home_made.understand import Hints, understand
from rubric_lint.lint.engine import examine_file
from rubric_lint.scoring.loading import RubricError, load_examined
from rubric_lint.scoring.show.source import show
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TABLES = read_cases(__file__)
RUBRICS, LOOK_ALIKES = TABLES["RUBRICS"], TABLES["LOOK_ALIKES"]
"""By what a file holds: its name, its text, and what `check` does: read, report or silent."""


def look(name, text, **hints):
    documents, _ = read_documents(Source.from_bytes(name, text.encode()))
    return documents, understand(documents[0], Hints(**hints))


def decide(name, text):
    examined = examine_file(name, text.encode())
    if examined.result.unread:
        return "report"
    return "read" if examined.rubrics else "silent"


@pytest.mark.parametrize(("name", "text", "decision", "tables", "questions"), RUBRICS.values(), ids=RUBRICS)
def test_what_a_file_holds_is_decided_with_its_table_and_what_it_leaves_open(name, text, decision, tables, questions):
    _, found = look(name, text)
    drafts = [TableDraft(tuple(each.documents), {"name": "", **each.as_table()}, each) for each in found]
    asked = [question.reason for draft in drafts for question in draft.questions]
    assert (decide(name, text), [each.as_table() for each in found]) == (decision, tables)
    assert all(any(reason.startswith(words) for words in questions) for reason in asked)
    assert all(any(reason.startswith(words) for reason in asked) for words in questions)


@pytest.mark.parametrize(("name", "text", "decision"), LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_what_only_looks_like_a_rubric_is_never_read_and_seldom_told(name, text, decision):
    _, found = look(name, text)
    assert (decide(name, text), [each.is_rubric for each in found]) == (decision, [False] * len(found))


FILES = {**RUBRICS, **LOOK_ALIKES}


@pytest.mark.spread(3)
@pytest.mark.parametrize(("name", "text"), [file[:2] for file in FILES.values()], ids=FILES)
def test_check_show_and_score_say_the_same_of_a_file(name, text):
    _, found = look(name, text)
    read = [view.path for each in found if each.is_rubric for view in each.views]
    decision = decide(name, text)
    examined = examine_file(name, text.encode())
    shown = show(name, text.encode())
    assert {rubric.path for _, rubric in examined.rubrics} == {*read}
    assert {each.reason for each in shown.unread} == {each.reason for each in examined.result.unread}
    assert (len(shown.rubrics), bool(shown.unread)) == (len(read), decision == "report")
    refusals = [each.partition(" cannot be scored: ")[2] for each in shown.unscorable]
    assert {*filter(None, refusals)} <= {each.reason for each in shown.unread}
    assert all(rubric.examples for rubric in shown.rubrics) == (decision != "report" or not read)
    if read and decision == "report":
        with pytest.raises(RubricError):
            prepare(name, examined)
    elif read:
        assert len(prepare(name, examined)) == len(read)


def prepare(name, examined):
    return [loaded.prepare() for loaded in load_examined(name, examined).values()]


THRESHOLDS = """\
version: 1{scale}
criteria:
- {{id: names, weight: 2, description: The summary names each person of the call{first}}}
- {{id: length, weight: 1, threshold: 2, description: The length is that of the source within the threshold}}
- {{id: tone, weight: 1, description: The summary blames nobody for the delay}}
"""


@pytest.mark.parametrize(
    ("scale", "first", "gate"), [("", "", None), ("", ", threshold: 3", "threshold"), ("\nscale: 1-5", "", "threshold")]
)
def test_a_number_of_few_criteria_is_no_gate_because_of_a_scale_that_only_the_user_says(scale, first, gate):
    _, (found,) = look("evals/rubric.yaml", THRESHOLDS.format(scale=scale, first=first), scale=[1, 5])
    assert found.as_table().get("gate") == gate


def test_every_key_of_criteria_has_a_role():
    text = """\
    criteria:
      - {key: a, weight: 1, says: Names the year of it, on_fail: stop, owner: me, levels: {1: None is, 2: It is}}
      - {key: b, weight: 2, says: Names the day of it, must: true, ratio: 2, levels: {1: None is, 2: It is}}
    """
    _, (found,) = look("evals/rubric.yaml", text)
    assert {name: role.name for name, role in found.roles.items()} == {
        "key": "ID",
        "weight": "WEIGHT",
        "says": "TEXT",
        "must": "GATE",
        "levels": "LEVELS",
        "on_fail": "OPEN",
        "ratio": "OPEN",
        "owner": "HARMLESS",
    }


TOLD = {name: case for name, case in RUBRICS.items() if case[2] != "silent"}


@pytest.mark.spread(11)
@pytest.mark.parametrize(("name", "text"), [each[:2] for each in TOLD.values()], ids=TOLD)
@pytest.mark.usefixtures("folder")
def test_adopt_writes_a_table_that_reads_what_is_understood_or_says_what_is_missing(name, text):
    documents, found = look(name, text)
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, "utf-8")
    table, errors, code = call("adopt", name, "-o-")
    if code:
        assert (table, code) == ("", 1)
        assert "rubric-lint: nothing was written" in errors
        return
    shapes = [FormatTable.from_table(each) for each in tomllib.loads(table)["shape"]]
    read = {view.path for view in read_by_tables(documents[0], shapes)}
    assert {path for each in found for path in each.paths} <= read


COMMAND = re.compile(r"`(rubric-lint adopt [^`]*)`|^    (rubric-lint adopt .*)$", re.MULTILINE)

REWRITTEN = {
    "points by name and no texts",
    "marks by name and no texts",
    "scales by name and no texts",
    "lists of texts",
    "reviewers who each look at several things",
    "a list of maps of one key each",
    "levels alone under words",
    "levels under words of the criterion itself",
    "names and a scale",
    "names of a map of nothing",
    "names with letters and a scale of words",
    "names of what must hold, and when it is accepted",
}
"""Files whose criteria say in no words what is judged: these have to be written first."""


@pytest.mark.spread(13)
@pytest.mark.parametrize("title", TOLD)
@pytest.mark.usefixtures("folder")
def test_advice_that_is_followed_word_for_word_leads_to_a_table_that_scores_as_show_says(title):
    name, text, *_ = TOLD[title]
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, "utf-8")
    report, errors = (" ".join(pair) for pair in zip(call("check", name)[:2], call("show", name)[:2], strict=True))
    steps = 0
    while commands := [found[0] or found[1] for found in COMMAND.findall(report + errors)]:
        steps += 1
        report, errors, code = call(*shlex.split(commands[0])[1:])
        assert code == (0 if "Added the format" in report else 1)
        assert ("Added the format" in report) == Path("rubric-lint.toml").exists()
    if title in REWRITTEN:
        assert (steps, Path("rubric-lint.toml").exists()) == (1, False)
        return
    assert steps <= 4
    shown, _, code = call("show", "--format=json", name)
    (file,) = json.loads(shown)["files"]
    assert (code, file["unscorable"], file["unread"]) == (0, [], [])
    examples = [(rubric["name"], example) for rubric in file["rubrics"] for example in rubric["examples"]]
    records = [json.dumps({"rubric": rubric, "output": example["output"]}) for rubric, example in examples]
    results, _, _ = call("score", name, "-", "--format=jsonl", stdin="\n".join(records))
    scored = [json.loads(line) for line in results.splitlines()]
    said = [(example["score"], example["verdict"]) for _, example in examples]
    assert [(each["score"], each["verdict"]) for each in scored] == said
