"""The evals of Agent Skills: which cases have criteria, what is said of the others, and what a judge is shown."""

import json

import commands
import pytest
from cases import read_cases
from exports import load, write

from rubric_lint.judge.answers import read_answers
from rubric_lint.lint.engine import examine_file, lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring.loading import load_models, load_rubrics

TABLES = read_cases(__file__)


def evals(*cases, name="evals/evals.json", **more):
    """The bytes of a file of evals, by its name."""
    return name, json.dumps({"skill_name": "invoices", **more, "evals": list(cases)}).encode()


def case(number=1, **fields):
    return {"id": number, "prompt": "What do I owe?", "expected_output": "The total", **fields}


def criteria(name, data):
    """The ids and texts of the criteria of each case, by its name."""
    found = load_models(name, data, FileSettings())
    return {
        called: [(criterion.id, criterion.outcome) for criterion in found[called].rubric.criteria] for called in found
    }


def found(name, data):
    result = lint(name, data)
    return [each.reason for each in result.unread], [finding.code for finding in result.findings]


def test_each_case_is_a_rubric_in_whatever_form_its_criteria_are():
    file = evals(
        case(1, assertions=["Names it", {"text": "Says why"}]),
        case("late", name="x", expectations=[{"name": "days", "description": "Says how late it is"}]),
        case(3, expected_behavior=["Asks first", {"id": 7, "check": "Pays nothing"}]),
        case(4, assertions=["Names it"], expectations=["Says why"]),
    )
    assert criteria(*file) == {
        "1": [("rubric-1", "Names it"), ("rubric-2", "Says why")],
        "late": [("days", "Says how late it is")],
        "3": [("rubric-1", "Asks first"), ("7", "Pays nothing")],
        "4": [("rubric-1", "Names it"), ("rubric-2", "Says why")],
    }
    assert found(*file) == ([], [])
    text = b"skill_name: invoices\nevals:\n  - {id: 1, prompt: What do I owe?, assertions: [Names it, Says why]}\n"
    assert criteria("evals.yaml", text) == {"1": [("rubric-1", "Names it"), ("rubric-2", "Says why")]}


@pytest.mark.parametrize(("name", "data", "count"), TABLES["the folder says that other"])
def test_the_folder_says_that_other_lists_hold_cases_too(name, data, count):
    assert lint(name, json.dumps(data).encode()).rubrics == count


UNREAD = TABLES["UNREAD"]


@pytest.mark.parametrize("cases", UNREAD.values(), ids=UNREAD)
def test_what_holds_no_criteria_is_told(cases, said):
    reasons, codes = found(*evals(*cases))
    assert codes == []
    said(reasons)


def test_a_case_without_criteria_is_told_in_a_list_of_cases_too(said):
    cases = [{"id": "a", "prompt": "x", "assertions": ["Names the total"]}, {"id": "b", "prompt": "y"}]
    reasons, codes = found("evals/cases.json", json.dumps(cases).encode())
    assert codes == []
    said(reasons)


@pytest.mark.parametrize(
    ("field", "role"),
    [
        ({"weight": 3}, "say how much a criterion counts"),
        ({"points": 2}, "say how much a criterion counts"),
        ({"required": True}, "be a gate"),
        ({"optional": True}, "leave a criterion out"),
    ],
)
@pytest.mark.parametrize("first", ["Names the date", {"text": "Names the date"}], ids=["a text", "a mapping"])
def test_what_one_assertion_says_of_its_score_stops_the_score_next_to_texts_too(first, field, role):
    name, data = evals(case(assertions=[first, {"text": "Names the sum", **field}]))
    (reason,), _ = found(name, data)
    ((_, rubric),) = examine_file(name, data).rubrics
    (key,) = field
    assert reason.startswith(f"`{key}` may {role}, and is not read")
    assert rubric.refusal == (("evals", 0, "assertions", 1, key), reason)


OTHERS = {
    "results": evals(case(assertions=[{"text": "Names it", "passed": True, "evidence": "It does"}])),
    "triggers": evals({"id": 1, "prompt": "What do I owe?", "should_trigger": True}),
    "runs": evals({"id": 1, "prompt": "x", "runs": [{"expectations": [{"text": "Names it", "passed": False}]}]}),
    "names of code": ("evals/cases.json", b'[{"prompt": "x", "assertions": ["is_json", "no_errors"]}]'),
    "a grading": (
        "grading.json",
        b'{"expectations": [{"text": "Names it", "passed": true}], "summary": {"passed": 1}}',
    ),
    "another tool": ("config.json", b'{"evals": [{"prompt": "x", "assertions": ["is_json"], "expected_output": "y"}]}'),
    "another list": ("evals.json", b'{"evals": [{"query": "x", "expected_output": "y"}]}'),
}


@pytest.mark.parametrize("file", OTHERS.values(), ids=OTHERS)
def test_other_files_with_evals_are_left_alone(file):
    assert (lint(*file).rubrics, *found(*file)) == (0, [], [])


FAULTS = {
    "a blank text": ([case(assertions=[{"text": " "}])], ["empty-outcome.blank"]),
    "a number": ([case(assertions=["Names it", 7])], ["schema.unexpected"]),
    "one id twice": ([case(assertions=["Names it"]), case(assertions=["Says why"])], ["repeated-case.second-case"]),
    "an id in both lists": (
        [case(assertions=[{"id": "a", "text": "Names it"}], expectations=[{"id": "a", "text": "Says why"}])],
        ["duplicate-id.taken"],
    ),
    "a fault in the second list": ([case(assertions=["Names it"], expectations=[7])], ["schema.unexpected"]),
    "a text in place of the list": ([case(assertions=["Names it"], expectations=["x", ""])], ["empty-outcome.blank"]),
}


@pytest.mark.parametrize(("cases", "codes"), FAULTS.values(), ids=FAULTS)
def test_faults_are_found_as_in_other_rubrics(cases, codes):
    assert found(*evals(*cases)) == ([], codes)


def test_a_judge_is_shown_the_prompt_of_the_case_unless_the_answer_has_a_question(tmp_path):
    name, data = evals(case(assertions=["Names it"]), name="evals.json")
    lines = [b'{"id": 1, "answer": "120"}\n', b'{"id": 2, "answer": "120", "question": "How much?"}\n']
    answers = list(read_answers(lines, load_rubrics(name, data)))
    assert [(answer.case.question, answer.record["question"]) for answer in answers] == [
        ("What do I owe?", "What do I owe?"),
        ("How much?", "How much?"),
    ]
    path = tmp_path / name
    path.write_bytes(data)
    shown = [
        commands.run("rubric-lint", "prompt", path, "--answer", "120", *asked).stdout
        for asked in ([], ["--question", "?"])
    ]
    assert [("What do I owe?" in text, "\n?\n" in text) for text in shown] == [(True, False), (False, True)]


@pytest.mark.parametrize(("question", "code"), [("What do I owe?", 0), ("What did I owe?", 1)])
def test_a_recording_counts_for_a_test_only_if_the_judge_saw_the_prompt_of_the_case(
    tmp_path, monkeypatch, question, code
):
    monkeypatch.chdir(tmp_path)
    name, data = evals(case(assertions=["Names it"]), name="evals.json")
    (rubric,) = load_rubrics(name, data).values()
    checks = [{"id": "rubric-1", "reasoning": "It does.", "satisfied": True}]
    texts = {"answer": "120", "question": question}
    record = {"id": "a", **texts, "output": {"checks": checks}, "judge": {"rubric_hash": rubric.hash}}
    (tmp_path / name).write_bytes(data)
    (tmp_path / "owed.judged.jsonl").write_text(json.dumps(record))
    test = {"id": "a", "answer": "120", "expect": {"verdict": "pass"}}
    (tmp_path / "owed.rubric-test.yaml").write_text(json.dumps({"rubric": "evals.json#1", "tests": [test]}))
    done = commands.run("rubric-test", "owed.rubric-test.yaml")
    assert (done.returncode, "error unrecorded-test:" in done.stdout) == (code, bool(code))


def test_for_agent_skills(said):
    rubric = load([{"id": "due", "expected_outcome": "Names the due date", "weight": 2}, "Names the total"])
    export = write("agent-skills", rubric)
    assert json.loads(export.text) == {
        "skill_name": "",
        "evals": [
            {"id": "r", "prompt": "", "assertions": [{"id": "due", "text": "Names the due date"}, "Names the total"]}
        ],
    }
    said([loss.message for loss in export.losses])
