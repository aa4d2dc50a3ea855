"""What graders of others wrote is read as they write it: Agent Skills, promptfoo, Inspect, `{pass, score, reason}`."""

import io
import json
import shlex
import zipfile
from pathlib import Path

import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.entries import CHUNK, LIMIT, InputError
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ParseOptions
from rubric_lint.scoring.records.streams import StreamOptions, read_entries, read_stream
from rubric_lint.scoring.scorer import Scorer

CHECKLIST = """\
rubrics:
  - {id: total, expected_outcome: Names the total of 120 EUR}
  - {id: due, expected_outcome: "Names the due\\n  date."}
  - {id: tone, expected_outcome: Is polite, weight: 2}
"""
HOLISTIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Wrong or off topic}
  - {score_range: [5, 10], expected_outcome: Right in all}
"""
ONE = """\
rubrics:
  - {id: year, expected_outcome: Names the year}
"""
LEVELS = """\
rubrics:
  - id: tone
    levels: {1: Rude, 2: Neutral, 3: Kind}
"""
SUITES = {"checklist": CHECKLIST, "holistic": HOLISTIC, "one": ONE, "levels": LEVELS}
EVALS = json.dumps(
    {
        "skill_name": "invoices",
        "evals": [
            {"id": 1, "prompt": "What do I owe?", "expectations": ["Names the total", "Names the due date"]},
            {"id": 2, "prompt": "Is it late?", "expectations": ["Says that it is late"]},
        ],
    }
)


def show(found):
    """The id, and the rubric, score and verdict or else the place and the reason, of a result."""
    if found.error:
        return found.id, found.error.path, found.error.message
    return found.id, found.scored.rubric.name, round(float(found.scored.score), 3), str(found.scored.verdict)


def score(suite, text, *, name="out.json", reading=DEFAULT_OPTIONS, file="a.rubric.yaml"):
    scorer = Scorer(load_rubrics(file, suite.encode()), reading)
    data = text if isinstance(text, str) else json.dumps(text, indent=2)
    return [show(scorer.score(entry, line)) for line, entry in read_entries([data.encode()], StreamOptions(name=name))]


def item(text, *, passed, **more):
    return {"text": text, "passed": passed, "evidence": "seen", **more}


TOTAL = item("Names the total of 120 EUR", passed=True)
DUE = item("names the due date", passed=False)
TONE = item("tone", passed=True)


# Agent Skills


def grading(*items, **more):
    return {"expectations": list(items), **more, "timing": {"total_duration_seconds": 191.0}}


def test_a_grading_is_joined_by_its_texts_and_named_by_its_folders():
    summary = {"passed": 2, "failed": 1, "total": 3, "pass_rate": 0.67}
    name = "skill-workspace/iteration-1/eval-totals/with_skill/run-2/grading.json"
    expected = [("eval-totals/with_skill/run-2", "a", 0.75, "borderline")]
    assert score(CHECKLIST, grading(DUE, TONE, TOTAL, summary=summary), name=name) == expected
    ((name, *_),) = score(CHECKLIST, grading(DUE, TONE, TOTAL), name="judged/grading.json")
    assert name == "judged"
    ((name, *_),) = score(CHECKLIST, {**grading(DUE, TONE, TOTAL), "id": 7}, name="judged/grading.json")
    assert name == 7


@pytest.mark.parametrize(
    "output",
    [
        grading(TOTAL, DUE),
        grading(TOTAL, DUE, TONE, item("Is short", passed=True)),
        grading(TOTAL, DUE, TONE, item("Is polite.", passed=False)),
        grading(TOTAL, DUE, item("Is polite", passed=None)),
        grading(TOTAL, DUE, item("Is polite", passed="yes")),
        grading(TOTAL, DUE, item("Is polite", passed=True, id="due")),
        grading(TOTAL, DUE, item("Is polite", passed=True, score=0)),
        grading(TOTAL, DUE, {"passed": True}),
        grading(TOTAL, DUE, "Is polite"),
        grading(TOTAL, DUE, TONE, summary={"passed": 3, "failed": 0, "total": 3}),
        grading(TOTAL, DUE, TONE, summary={"passed": 2, "failed": 0, "total": 4}),
        grading(),
    ],
)
def test_a_grading_that_does_not_fit_the_rubric_is_invalid(output, said):
    ((_, *where), *more) = score(CHECKLIST, output)
    assert not more
    assert len(where) == 2
    said(" ".join(where))


def test_items_of_one_text_need_the_id_of_their_criterion(said):
    suite = "rubrics:\n  - {id: a, expected_outcome: Is short}\n  - {id: b, expected_outcome: Is short}\n"
    ((_, place, message),) = score(suite, grading(item("Is short", passed=True), item("b", passed=True)))
    assert place == "/expectations/0/text"
    said(message)
    items = [item("Is short", passed=True, id="a"), item("Is short", passed=False, id="b")]
    assert score(suite, grading(*items)) == [(None, "a", 0.5, "fail")]


def test_a_benchmark_names_the_eval_of_each_run():
    texts = {1: ["Names the total", "Names the due date"], 2: ["Says that it is late"]}
    runs = [
        {
            "eval_id": number,
            "configuration": kind,
            "run_number": 1,
            "result": {"pass_rate": 1.0, "passed": len(texts[number]), "failed": 0, "total": len(texts[number])},
            "expectations": [item(text, passed=True) for text in texts[number]],
        }
        for kind in ("with_skill", "without_skill")
        for number in texts
    ]
    runs[2]["expectations"].pop()
    file = {"metadata": {"skill_name": "invoices", "runs_per_configuration": 1}, "runs": runs, "run_summary": {}}
    *valid, (name, place, _), last = score(EVALS, file, file="evals.json")
    assert [*valid, last] == [
        ("1/with_skill/1", "1", 1.0, "pass"),
        ("2/with_skill/1", "2", 1.0, "pass"),
        ("2/without_skill/1", "2", 1.0, "pass"),
    ]
    assert (name, place) == ("1/without_skill/1", "/summary/passed")


def test_of_several_evals_the_texts_tell_which(said):
    late, total = item("Says that it is late", passed=False), item("Names the total", passed=True)
    assert score(EVALS, grading(late), file="evals.json") == [(None, "2", 0.0, "fail")]
    ((_, place, message),) = score(EVALS, grading(late, total), file="evals.json")
    assert place == "/rubric"
    twice = EVALS.replace('"id": 2', '"id": 3, "prompt": "P", "expectations": ["Says that it is late"]}, {"id": 2')
    ((_, place, again),) = score(twice, grading(late), file="evals.json")
    assert place == "/rubric"
    said(message, again)


# promptfoo

CONFIG = """\
prompts: ["Summarize: {{article}}"]
providers: [openai:gpt-5-mini, openai:gpt-5]
tests:
  - description: tower
    vars: {article: The tower was finished in 1889.}
    assert:
      - {type: llm-rubric, value: Names the year}
      - {type: not-llm-rubric, value: Is rude}
      - {type: contains, value: "1889"}
  - vars: {article: It leaks.}
    assert:
      - {type: llm-rubric, value: "Names the cause of {{article}}"}
"""


def component(kind, value, mark, reason="Because.", *, passed=None, **more):
    passed = mark > 0 if passed is None else passed
    return {"pass": passed, "score": mark, "reason": reason, "assertion": {"type": kind, "value": value}, **more}


YEAR, RUDE = component("llm-rubric", "Names the year", 1), component("not-llm-rubric", "Is rude", 0)
CONTAINS = component("contains", "1889", 1)


def result(*parts, test=0, column=0, **more):
    """A result as version 3 of the file has it."""
    passed = all(part["pass"] for part in parts)
    graded = {"pass": passed, "score": 0.5, "reason": "", "componentResults": list(parts), "assertion": None}
    case = {"vars": {"article": "A"}, "assert": [], "metadata": {}} | ({} if test else {"description": "tower"})
    return {
        "id": "b7df157c",
        "testIdx": test,
        "promptIdx": column,
        "provider": {"id": ("openai:gpt-5-mini", "openai:gpt-5")[column], "label": ""},
        "prompt": {"raw": "Summarize: A", "label": "Summarize: {{article}}"},
        "vars": {"article": "A"},
        "response": {"output": "It was finished.", "cached": False},
        "testCase": case,
        "success": passed,
        "score": 0.5,
        "failureReason": 0 if passed else 1,
        "gradingResult": graded,
        "namedScores": {},
        **({} if passed else {"error": "Because."}),
        **more,
    }


def whole(*results):
    summary = {"version": 3, "timestamp": "2026-10-01T20:08:11.168Z", "prompts": [], "results": list(results)}
    return {"evalId": "eval-WJi", "results": {**summary, "stats": {}}, "config": {}, "shareableUrl": None}


def test_results_of_promptfoo_are_records():
    ((_, record),) = read_entries([json.dumps(whole(result(YEAR, RUDE, CONTAINS))).encode()])
    assert record == {
        "id": "tower",
        "provider": "openai:gpt-5-mini",
        "question": "Summarize: A",
        "answer": "It was finished.",
        "promptfoo": {"test": 0, "score": 0.5, "passed": False},
        "output": {
            "expectations": [
                {"text": "Names the year", "passed": True, "score": 1, "evidence": "Because."},
                {"text": "Is rude", "passed": True, "score": 1, "evidence": "Because."},
            ]
        },
    }


def test_results_of_promptfoo_are_scored_by_the_assertions_of_their_test():
    cause = component("llm-rubric", "Names the cause of {{article}}", 0.8)
    polite = component("not-llm-rubric", "Is rude", 1)
    expected = [
        ("tower/openai:gpt-5-mini/0", "tests/0", 0.5, "fail"),
        ("tower/openai:gpt-5/1", "tests/0", 1.0, "pass"),
        ("tests/1/openai:gpt-5-mini/0", "tests/1", 1.0, "pass"),
    ]
    results = [result(YEAR, RUDE, CONTAINS), result(YEAR, polite, CONTAINS, column=1), result(cause, test=1)]
    assert score(CONFIG, whole(*results), file="promptfooconfig.yaml") == expected
    lines = "".join(json.dumps(result) + "\n" for result in results)  # promptfoo eval -o results.jsonl
    assert [row[1:] for row in score(CONFIG, lines, file="promptfooconfig.yaml")] == [row[1:] for row in expected]


def test_a_file_of_version_2_and_a_set_of_assertions_are_read_too():
    both = component("assert-set", "", 1, componentResults=[YEAR])
    both["assertion"] = None
    old = result(both, YEAR)
    for name in ("testIdx", "promptIdx", "failureReason", "id"):
        del old[name]
    file = {"results": {"version": 2, "timestamp": "", "results": [old], "stats": {}, "table": {}}, "config": {}}
    assert score(ONE, file) == [("tower", "a", 1.0, "pass")]


@pytest.mark.parametrize(
    "failed",
    [
        result(YEAR, failureReason=2, gradingResult=None, error="API error: 429 Too Many Requests", response={}),
        result(YEAR, gradingResult=None, error=None, success=False, failureReason=1),
        result(component("llm-rubric", "Names the year", 0, "HTTP 503", metadata={"graderError": True})),
        result(component("llm-rubric", "Names the year", 0, "Could not extract JSON from llm-rubric response")),
        result(component("not-factuality", "Names the year", 0)),
        result(CONTAINS),
        result(component("llm-rubric", "Names the day", 1)),
        result(component("llm-rubric", "Names the year", 0, passed=True)),
    ],
)
def test_a_result_of_promptfoo_without_a_judgement_says_why(failed, said):
    ((name, _, message),) = score(ONE, whole(failed))
    assert name == "tower"
    said(message)


def test_a_result_without_a_judgement_says_why_also_among_several_rubrics():
    failed = result(YEAR, failureReason=2, gradingResult=None, error="429", response={})
    ((*_, message),) = score(CONFIG, whole(failed), file="promptfooconfig.yaml")
    assert message.endswith("429")


def test_a_rendered_text_and_a_metric_name_a_criterion():
    rendered = component("llm-rubric", "Names {{x}}", 1, metadata={"renderedAssertionValue": "Names the year"})
    assert score(ONE, whole(result(rendered))) == [("tower", "a", 1.0, "pass")]
    named = component("llm-rubric", "Is the year there?", 1)
    named["assertion"]["metric"] = "year"
    assert score(ONE, whole(result(named))) == [("tower", "a", 1.0, "pass")]


# One judgement


@pytest.mark.parametrize(
    ("suite", "output", "expected"),
    [
        ("holistic", {"pass": True, "score": 0.8, "reason": "So."}, 0.8),
        ("holistic", {"pass": True, "score": 1, "reason": "So."}, 1.0),
        ("holistic", {"pass": False, "score": 0, "reason": "So."}, 0.0),
        ("holistic", 'So:\n\n{"reason": "So.", "pass": false, "score": 0.3}', 0.3),
        ("levels", {"pass": False, "score": 0.5, "reason": "So."}, 0.5),
        ("one", {"pass": True, "score": 0.9, "reason": "So."}, 1.0),
        ("one", {"pass": False, "reason": "So."}, 0.0),
        ("one", '```json\n{"pass": true, "score": 1, "reason": "So."}\n```', 1.0),
    ],
)
def test_pass_score_and_reason_are_one_judgement(suite, output, expected):
    ((_, _, found, _),) = score(SUITES[suite], {"id": "a", "output": output})
    assert found == expected
    if isinstance(output, dict):
        assert [row[2] for row in score(SUITES[suite], {"id": "a", **output})] == [expected]
        assert [row[2] for row in score(SUITES[suite], output)] == [expected]


@pytest.mark.parametrize(
    ("suite", "output"),
    [
        ("holistic", {"pass": True, "score": 0.85, "reason": "So."}),
        ("holistic", {"pass": True, "score": 0, "reason": "So."}),
        ("holistic", {"pass": False, "score": 0.9, "reason": "So."}),
        ("holistic", {"pass": True, "score": 7, "reason": "So."}),
        ("holistic", {"pass": True, "reason": "So."}),
        ("levels", {"pass": True, "score": 0.7, "reason": "So."}),
        ("one", {"pass": True, "score": 0, "reason": "So."}),
        ("checklist", {"pass": True, "score": 1, "reason": "So."}),
    ],
)
def test_a_judgement_that_the_rubric_cannot_use_is_invalid(suite, output, said):
    ((_, place, message),) = score(SUITES[suite], {"id": "a", "output": output})
    said(f"{place} {message}")


def test_a_pass_that_contradicts_the_score_may_be_passed_over():
    output = {"pass": False, "score": 0.9, "reason": "So."}
    assert score(HOLISTIC, output, reading=ParseOptions.of("last", "accept"))[0][2] == 0.9


@pytest.mark.parametrize("name", ["pass", "reason", "grade", "expectations"])
def test_a_criterion_of_such_a_name_is_meant_first(name):
    suite = LEVELS.replace("tone", name)
    assert score(suite, {"id": "a", "output": {name: 2}}) == [("a", "a", 0.5, "fail")]
    assert score(suite, {"id": "a", "output": {"checks": [{"id": name, "level": 2}]}}) == [("a", "a", 0.5, "fail")]


@given(st.permutations(["total", "due", "tone"]), st.lists(st.booleans(), min_size=3, max_size=3), st.booleans())
def test_a_grading_scores_as_the_checks_that_say_the_same(order, met, by_id):
    texts = {"total": "Names the total of 120 EUR", "due": "NAMES the due date", "tone": " Is  polite"}
    answers = dict(zip(order, met, strict=True))
    items = [item(texts[name], passed=answers[name], **({"id": name} if by_id else {})) for name in order]
    checks = [{"id": name, "satisfied": answers[name]} for name in order]
    own = score(CHECKLIST, {"id": 1, "output": {"checks": checks}})
    assert score(CHECKLIST, {"id": 1, "output": grading(*items)}) == own
    assert score(CHECKLIST, {"id": 1, **grading(*items)}) == own
    assert score(CHECKLIST, {"id": 1, "output": f"So:\n\n{json.dumps(grading(*items))}"}) == own


# Letters

TEN = (("C", 10), ("P", 5), ("I", 0))


@pytest.mark.parametrize(
    ("suite", "text", "grades", "expected"),
    [
        ("holistic", "Step by step.\n\nGRADE: C", TEN, 1.0),
        ("holistic", "Step by step.\n\n**GRADE: P**\n", TEN, 0.5),
        ("holistic", "<think>GRADE: C</think>\ngrade: i.", TEN, 0.0),
        ("holistic", 'A set {"x"}.\nGRADE: $C$', TEN, 1.0),
        ("levels", "GRADE: P", (("C", 3), ("P", 2), ("I", 1)), 0.5),
        ("one", "GRADE: C", (("C", 1), ("I", 0)), 1.0),
        ("holistic", " p\n", TEN, 0.5),
    ],
)
def test_a_letter_is_worth_what_the_table_says(suite, text, grades, expected):
    ((_, _, found, _),) = score(SUITES[suite], {"id": "a", "output": text}, reading=ParseOptions(grades=grades))
    assert found == expected


@pytest.mark.parametrize(
    ("suite", "text", "reading"),
    [
        ("holistic", "GRADE: C", ParseOptions()),
        ("holistic", "GRADE: N", ParseOptions(grades=TEN)),
        ("holistic", "GRADE: X", ParseOptions(grades=TEN)),
        ("holistic", "I choose from GRADE: C and GRADE: I.\n\nGRADE: C", ParseOptions(grades=TEN)),
        ("holistic", "My verdict is GRADE: C", ParseOptions(grades=TEN)),
        ("holistic", "GRADE: C\n\nBut it lacks a source.", ParseOptions(grades=TEN)),
        ("holistic", "Well.\n\nGRADE: C", ParseOptions.of("whole", None, TEN)),
        ("checklist", "GRADE: C", ParseOptions(grades=TEN)),
    ],
)
def test_a_letter_that_is_not_clear_is_invalid(suite, text, reading, said):
    ((_, _, message),) = score(SUITES[suite], {"id": "a", "output": text}, reading=reading)
    said(message)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "value", ["C", "C=", "CC=3", "C=1,C=2", "C=11", "=3"], ids=["no value", "empty", "two", "twice", "outside", "none"]
)
def test_a_table_of_grades_is_checked_before_anything_is_read(value, said):
    Path("h.rubric.yaml").write_text(HOLISTIC, "utf-8")
    done = commands.run("rubric-lint", "score", "h.rubric.yaml", "no.jsonl", "--grades", value)
    assert done.returncode == 2
    said(done.stderr.splitlines()[-1])


@pytest.mark.usefixtures("folder")
def test_letters_need_a_rubric_with_one_criterion(said):
    Path("c.rubric.yaml").write_text(CHECKLIST, "utf-8")
    done = commands.run("rubric-lint", "agree", "c.rubric.yaml", "no.jsonl", "--grades", "C=1")
    assert done.returncode == 2
    said(done.stderr.splitlines()[-1])


# Inspect


def log(*samples, **more):
    return {"version": 2, "status": "success", "eval": {"task": "qa"}, "plan": {}, "samples": list(samples), **more}


def sample(name, value, explanation=None, *, epoch=1, **more):
    choices = [{"message": {"role": "assistant", "content": "Paris."}, "stop_reason": "stop"}]
    scores = {"model_graded_qa": {"value": value, "answer": "Paris.", "explanation": explanation}}
    output = {"model": "m", "choices": choices}
    return {"id": name, "epoch": epoch, "input": "Where?", "target": "P", "output": output, "scores": scores, **more}


def test_a_log_of_inspect_is_read_by_its_letters():
    ((_, record), *_) = read_entries([json.dumps(log(sample(1, "C", "Right.\n\nGRADE: C"))).encode()])
    output = {"grade": "C", "reasoning": "Right.\n\nGRADE: C"}
    assert record == {"id": 1, "question": "Where?", "answer": "Paris.", "output": output}
    file = log(sample(1, "C", "GRADE: C"), sample("b", "P"), sample("c", "I"))
    found = score(HOLISTIC, file, reading=ParseOptions(grades=TEN))
    assert [(row[0], row[2]) for row in found] == [(1, 1.0), ("b", 0.5), ("c", 0.0)]


def test_numbers_and_epochs_of_a_log_are_read_and_what_has_no_score_says_why(said):
    both = {"a": {"value": "C"}, "b": {"value": "I"}}
    file = log(
        sample(1, 0.7),
        sample(1, value=True, epoch=2),
        sample(2, {"overall": 3}),
        sample(3, "C", error={"message": "limit exceeded", "traceback": "..."}, scores=None),
        sample(4, "C", scores={}),
        sample(5, "C", scores=both),
        sample(6, "N"),
    )
    *valid, third, fourth, fifth, sixth = score(HOLISTIC, file, reading=ParseOptions(grades=TEN))
    assert [(row[0], row[2]) for row in valid] == [("1/1", 0.7), ("1/2", 1.0), ("2/1", 0.3)]
    said(*(row[2] for row in (third, fourth, fifth, sixth)))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": {"value": "C", "explanation": "It is."}, "b": {"value": "I"}}, 1.0),
        ({"a": {"value": 0.5}, "it's in/b": {"value": "I"}}, 0.0),
        ({"a": {"value": {"score": 8}}, "b": {"value": "I"}}, 0.8),
    ],
    ids=["letters", "a number first", "an object"],
)
def test_the_option_that_names_one_of_several_scorers_reads_it(scores, expected):
    Path("h.rubric.yaml").write_text(HOLISTIC, "utf-8")
    Path("log.json").write_text(json.dumps(log(sample(1, "C", scores=scores))), "utf-8")
    command = ["score", "h.rubric.yaml", "log.json", "--grades", "C=10,P=5,I=0", "--format", "jsonl"]
    message = json.loads(commands.run("rubric-lint", *command).stdout)["error"]["message"]
    options = shlex.split(message.partition(" with ")[2])
    result = json.loads(commands.run("rubric-lint", *command, *options).stdout)
    assert (result["id"], result["score"]) == (1, expected)


def test_no_option_is_named_for_scorers_with_numbers_alone(said):
    ((_, _, message),) = score(HOLISTIC, log(sample(1, "C", scores={"a": {"value": 0.5}, "b": {"value": 1}})))
    said(message)


@pytest.mark.slow
@pytest.mark.parametrize("indent", [None, 2], ids=["in one line", "indented"])
@pytest.mark.parametrize("name", ["promptfoo", "Inspect", "Agent Skills"])
def test_a_file_of_a_grader_may_be_larger_than_an_entry(name, indent):
    long = "x" * LIMIT
    run = {"eval_id": 1, "configuration": "c", "run_number": 1, "expectations": [item("Is short", passed=True)]}
    file = {
        "promptfoo": whole(result(YEAR, response={"output": long}), result(YEAR, test=1)),
        "Inspect": log(sample(1, "C", long), sample(2, "I")),
        "Agent Skills": {"metadata": {"runs_per_configuration": 1}, "runs": [run, run], "notes": [long]},
    }[name]
    text = json.dumps(file, indent=indent).encode()
    chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
    assert [(line, "output" in record) for line, record in read_entries(chunks)] == [(1, True), (1, True)]


def test_a_log_without_samples_says_so(said):
    file = {**log(), "samples": None, "status": "error", "error": {"message": "no key"}}
    ((_, _, message),) = score(HOLISTIC, file)
    said(message)


@pytest.mark.parametrize(("name", "inner"), [("run.eval", "header.json"), ("", "_journal/start.json")])
def test_a_log_in_a_zip_says_how_to_write_it_as_json(name, inner, said):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(inner, "{}")
    with pytest.raises(InputError) as refused:
        [*read_stream([stream.getvalue()], StreamOptions(name=name))]
    said(refused.value)
    ((_, fault),) = read_entries([stream.getvalue()], StreamOptions(name=name))
    assert isinstance(fault, OutputError)


# Every command


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("score r.rubric.yaml runs --compact", '"points": 3, "full": 4'),
        ("score r.rubric.yaml runs --format json --compare {grading}", '"old_mean": 0.75, "new_mean": 0.75'),
        ("agree r.rubric.yaml {grading} --labels labels.csv --format json", '"answers": 1'),
        ("assess r.rubric.yaml answers.jsonl --results {grading} --labels labels.csv", "`grader`"),
        ("diff r.rubric.yaml r.rubric.yaml --outputs {grading} --format json", '"outputs": 1'),
        ("check r.rubric.yaml --judged {grading}", "`grader`"),
    ],
)
def test_each_command_reads_a_grading(folder, command, shown):
    inner = folder / "runs" / "eval-1" / "with_skill"
    inner.mkdir(parents=True)
    (inner / "grading.json").write_text(json.dumps(grading(TOTAL, DUE, TONE)), "utf-8")
    (folder / "r.rubric.yaml").write_text(CHECKLIST, "utf-8")
    (folder / "labels.csv").write_text("id,total,due,tone\neval-1/with_skill,yes,no,yes\n", "utf-8")
    (folder / "answers.jsonl").write_text('{"id": "eval-1/with_skill", "answer": "120 EUR"}\n', "utf-8")
    named = command.format(grading="runs/eval-1/with_skill/grading.json")
    done = commands.run("rubric-lint", *named.split())
    assert shown in done.stdout
    assert "invalid: " not in done.stderr


@pytest.fixture
def skill(folder):
    """The evals of a skill with two rubrics, and a folder with the grading of an answer for each."""
    rows = {1: ["Names the total", "Names the due date"], 2: ["Says that it is late"]}
    for number, texts in rows.items():
        inner = folder / f"eval-{number}"
        inner.mkdir()
        (inner / "grading.json").write_text(json.dumps(grading(*(item(text, passed=True) for text in texts))), "utf-8")
    answers = "".join(f'{{"id": "eval-{number}", "rubric": "{number}", "answer": "So."}}\n' for number in rows)
    for name, text in {"evals.json": EVALS, "answers.jsonl": answers}.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "labels.csv").write_text("id,rubric,verdict\neval-1,1,pass\neval-2,2,fail\n", "utf-8")


@pytest.mark.usefixtures("skill")
@pytest.mark.parametrize(
    "command", ["assess evals.json answers.jsonl --results", "agree evals.json --labels labels.csv"]
)
def test_the_files_of_several_evals_are_outputs_of_one_judge(command):
    files = ["eval-1/grading.json", "--results", "eval-2/grading.json"]
    files = [name for name in files if name != "--results" or "assess" in command]
    done = commands.run("rubric-lint", *command.split(), *files, "--format", "json")
    found = json.loads(done.stdout)
    rubrics = found.get("rubrics") or found["agreements"]
    counts = {rubric["rubric"]: rubric["answers"] for rubric in rubrics}
    assert (counts["1"], counts["2"]) == (1, 1)
    assert '"grader"' in done.stdout


@pytest.mark.usefixtures("folder")
def test_results_of_several_tests_are_assessed_by_their_texts():
    failed = result(YEAR, test=1, failureReason=2, gradingResult=None, error="429", response={"output": "So."})
    Path("promptfooconfig.yaml").write_text(CONFIG, "utf-8")
    Path("results.json").write_text(json.dumps(whole(result(YEAR, RUDE, CONTAINS), failed)), "utf-8")
    files = ["promptfooconfig.yaml", "results.json", "--results", "results.json"]
    found = json.loads(commands.run("rubric-lint", "assess", *files, "--format", "json").stdout)
    assert [(rubric["rubric"], rubric["answers"]) for rubric in found["rubrics"]] == [("tests/0", 1), ("tests/1", 0)]
    assert found["unmatched"] == []


ANY = st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["C", "tone", "Names the year", "GRADE: C", ""])
WILD = st.recursive(
    ANY, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "score", "type"]), inner)
)
FILES = [
    whole(result(YEAR, RUDE, CONTAINS)),
    grading(TOTAL, DUE, TONE, summary={"passed": 2, "total": 3}),
    log(sample(1, "C", "Right.")),
    {"runs": [{"eval_id": 1, "configuration": "a", "run_number": 1, "expectations": [TOTAL, DUE, TONE]}]},
]


def list_paths(value, path=()):
    yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from list_paths(value[key], (*path, key))


def replace_at(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replace_at(value[path[0]], path[1:], new)
    return copy


@pytest.mark.slow
@given(st.data(), st.sampled_from(FILES), st.sampled_from(list(SUITES)))
def test_whatever_a_file_holds_it_has_results_or_reasons(data, file, suite):
    path = data.draw(st.sampled_from([*list_paths(file)][1:]))
    damaged = replace_at(file, path, data.draw(WILD))
    assert all(len(row) in (3, 4) for row in score(SUITES[suite], damaged, reading=ParseOptions(grades=TEN)))
