"""Scores and verdicts of AgentV 4 itself, whose judge is its mock provider, beside those of rubric-score."""

import json
import os
import random
import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import commands
import pytest
from node import install_package

from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring import OutputError, RubricError, load_rubrics, score

pytestmark = pytest.mark.originals

AGENTV = "agentv@4.42.4"
QUIET = {"AGENTV_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
SIZE = int(os.environ.get("AGENTV_SCORES", "240"))
"""How many rubrics are drawn, each with a reply of a judge."""


class Case(NamedTuple):
    """A test of a suite with one rubric, what its judge replies, and what is odd about the reply."""

    test: dict
    reply: str
    habit: str = ""


def make_bands(draw):
    """Bands over 0 to 10, as a list or as a mapping of their starts."""
    starts = [0, *sorted(draw.sample(range(1, 11), draw.randint(0, 4)))]
    if draw.random() < 0.5:
        return {str(start): f"Names {start} of them" for start in starts}
    ends = [start - 1 for start in starts[1:]] + [10]
    ranges = [{"score_range": [a, b], "outcome": f"Names {a} to {b}"} for a, b in zip(starts, ends, strict=True)]
    draw.shuffle(ranges)
    return ranges


def make_criterion(draw, number, kind, *, is_inline):
    """A criterion with its id and its fields in some of the forms that AgentV 4 reads."""
    entry = {}
    if draw.random() < 0.7:
        entry["id"] = f"c{number}"
    word = "outcome" if is_inline else draw.choice(["outcome", "outcome", "criteria"])
    if kind == "checklist" or draw.random() < 0.5:
        entry[word] = f"Names {number}"
    if draw.random() < 0.5:
        entry["weight"] = draw.choice([0.1, 0.25, 0.5, 1, 1.5, 2, 3, 7, 0])
    if kind == "score_ranges":
        entry["score_ranges"] = make_bands(draw)
    gates = {"required": [True, False], "min_score": [0.1, 0.5, 0.7, 0.75, 0.8, 1], "required_min_score": [0, 3, 7, 10]}
    for name in draw.sample(sorted(gates), draw.choice([0, 1, 1, 2])):
        entry[name] = draw.choice(gates[name])
    if draw.random() < 0.2:
        entry["operator"] = draw.choice(["correctness", "contradiction"])
    return entry


def make_rubric(draw):
    """A test with one rubric in one of the places that AgentV 4 reads; the ids of its criteria, and whether scored."""
    kind = draw.choice(["checklist", "score_ranges"])
    place = draw.choice(["rubrics", "rubrics", "llm-grader", "rubric", "case", "texts"])
    count = draw.randint(1, 4)
    if place == "texts":
        texts = [f"Names {number}" for number in range(count)]
        return {"assertions": texts}, [f"rubric-{number + 1}" for number in range(count)], False
    entries = [make_criterion(draw, number, kind, is_inline=place == "case") for number in range(count)]
    if not sum(entry.get("weight", 1) for entry in entries):
        entries[0]["weight"] = 1
    if place == "case" and draw.random() < 0.3 and kind == "checklist":
        entries[-1] = f"Names {count}"
    ids = [
        entry.get("id", f"rubric-{number}") if isinstance(entry, dict) else f"rubric-{number}"
        for number, entry in enumerate(entries, 1)
    ]
    if place == "case":
        return {"criteria": "Names some", "rubrics": entries}, ids, kind == "score_ranges"
    field = "criteria" if place == "rubrics" else "rubrics"
    return {"assertions": [{"name": "graded", "type": place, field: entries}]}, ids, kind == "score_ranges"


# What may be odd about the checks of a reply: what becomes of them, with the name of their answer and a wrong one.
OF_CHECKS = {
    "missing": lambda checks, _, __: checks[1:],
    "unknown": lambda checks, _, __: [*checks, {**checks[0], "id": "stranger"}],
    "repeated": lambda checks, _, __: [*checks, checks[0]],
    "empty": lambda _, __, ___: [],
    "high": lambda checks, name, _: [{**checks[0], name: 11}, *checks[1:]],
    "low": lambda checks, name, _: [{**checks[0], name: -1}, *checks[1:]],
    "fraction": lambda checks, name, _: [{**checks[0], name: 7.5}, *checks[1:]],
    "number as text": lambda checks, name, _: [{**checks[0], name: "7"}, *checks[1:]],
    "word": lambda checks, name, _: [{**checks[0], name: "true"}, *checks[1:]],
    "null": lambda checks, name, _: [{**checks[0], name: None}, *checks[1:]],
    "other answer": lambda checks, _, other: [{"id": checks[0]["id"], **other, "reasoning": "So."}, *checks[1:]],
    "no reasoning": lambda checks, name, _: [{"id": check["id"], name: check[name]} for check in checks],
    "extra": lambda checks, _, __: [{**check, "weight": 3} for check in checks],
}
# What may be odd about its text, which has at least one check and a score of 10.
OF_TEXT = {
    "no overall": lambda text: text.replace(', "overall_reasoning": "As said."', ""),
    "whole float": lambda text: text.replace('"score": 10,', '"score": 10.0,'),
    "exponent": lambda text: text.replace('"score": 10,', '"score": 1e1,'),
    "two answers": lambda text: re.sub('("score"|"satisfied"): ', r"\g<0>null, \g<0>", text, count=1),
    "fenced": "```json\n%s\n```".__mod__,
    "prose": "Here is what I found.\n\n%s\n\nThat is all.".__mod__,
    "braces": "I was asked for {checks}.\n\n%s".__mod__,
    "no checks": lambda _: '{"score": 0.9, "reasoning": "Good."}',
    "broken": lambda text: text[:-3],
}
HABITS = (*OF_CHECKS, *OF_TEXT)


def make_reply(draw, ids, *, is_scored):
    """What a judge replies: one answer a criterion, or that with one odd habit, which is returned too."""
    name, other = ("score", {"satisfied": True}) if is_scored else ("satisfied", {"score": 7})
    scores = (0, 3, 7, 8, 10, 10, draw.randint(0, 10))
    checks = [
        {"id": each, name: draw.choice(scores) if is_scored else draw.random() < 0.75, "reasoning": "So it is."}
        for each in draw.sample(ids, len(ids))
    ]
    habit = draw.choice(["", *HABITS]) if draw.random() < 0.6 else ""
    checks = OF_CHECKS.get(habit, lambda checks, _, __: checks)(checks, name, other)
    text = json.dumps({"checks": checks, "overall_reasoning": "As said."})
    return OF_TEXT.get(habit, str)(text), habit


def draw_cases(size):
    draw = random.Random(4424)  # noqa: S311 (the same cases every time)
    for number in range(size):
        test, ids, is_scored = make_rubric(draw)
        reply, habit = make_reply(draw, ids, is_scored=is_scored)
        yield Case({"id": f"t{number}", "input": "Name some.", **test}, reply, habit)


def ask_agentv(folder, cases):
    """The results of AgentV for a suite of the cases, by the ids of the tests."""
    program = install_package(AGENTV) / "dist/cli.js"
    targets, tests = [{"name": "default", "provider": "mock", "response": "Some."}], []
    for number, case in enumerate(cases):
        judge = f"judge-{number}"
        targets.append({"name": judge, "provider": "mock", "response": case.reply})
        targets.append({"name": f"asked-{number}", "provider": "mock", "response": "Some.", "grader_target": judge})
        tests.append({**case.test, "execution": {"targets": [f"asked-{number}"]}})
    commands.run_git("init", "--quiet", folder)
    (folder / ".agentv").mkdir()
    (folder / ".agentv/targets.yaml").write_text(json.dumps({"targets": targets}), "utf-8")
    suite = {"execution": {"targets": [f"asked-{number}" for number in range(len(cases))]}, "tests": tests}
    (folder / "score.eval.yaml").write_text(json.dumps(suite), "utf-8")
    command = ["node", program, "eval", "score.eval.yaml", "--output", "out", "--workers", "8"]
    done = commands.run_process(command, cwd=folder, env=os.environ | QUIET, timeout=600)
    lines = (folder / "out/index.jsonl").read_text("utf-8").splitlines()
    results = {result["test_id"]: result for result in map(json.loads, lines)}
    assert results.keys() == {case.test["id"] for case in cases}, done.stdout + done.stderr
    return results


def read_result(result):
    """The score and the verdict of the one grader of a test; None if it was skipped."""
    (graded,) = result["scores"]
    return None if graded["verdict"] == "skip" else (graded["score"], graded["verdict"])


def ask_ourselves(case):
    """The score and the verdict of rubric-score; None if the reply is invalid, and the rules that find fault."""
    try:
        (rubric,) = load_rubrics("score.eval.yaml", json.dumps({"tests": [case.test]}), WITHOUT_BORDERLINE).values()
        scored = score(rubric, case.reply, extract="only")
    except OutputError:
        return None
    except RubricError as fault:
        return sorted({fault.split(": ")[1] for fault in fault.faults})
    return scored.score, str(scored.verdict)


WITHOUT_BORDERLINE = FileSettings(borderline_at=Decimal("0.8"))
"""As the page of the dialect says for files of the releases before 4.7, in which the verdict was there."""

ONLY_AGENTV_SCORES = {"empty", "extra", "missing", "repeated", "two answers", "unknown"}
ONLY_WE_SCORE = {"braces", "no overall", "no reasoning"}
"""What a reply may be that one of the two takes; docs/development/interop.md says so of each, with the reason."""


def find_difference(case, theirs, ours):
    """What rubric-score makes of a case otherwise than AgentV, without what the page states; None if nothing is."""
    if isinstance(ours, list):
        # The two words for a gate are a finding where nothing marks the file as one of AgentV 4.
        return None if ours == ["conflicting-field"] else "refused"
    if theirs is None or ours is None:
        allowed = {(True, True): {*HABITS}, (True, False): ONLY_WE_SCORE, (False, True): ONLY_AGENTV_SCORES}
        return None if case.habit in allowed[theirs is None, ours is None] else "valid for one"
    is_rounded = ours[0] == Fraction(8, 10) and theirs[0] < 0.8
    if abs(theirs[0] - ours[0]) > 1e-9:
        return "score"
    return None if theirs[1] == ours[1] or is_rounded else "verdict"


def test_agentv_scores_random_rubrics_and_replies_as_we_do(tmp_path):
    cases = list(draw_cases(SIZE))
    results = ask_agentv(tmp_path, cases)
    compared = [(case, read_result(results[case.test["id"]]), ask_ourselves(case)) for case in cases]
    differences = [(find_difference(*each), *each) for each in compared]
    assert [difference for difference in differences if difference[0]] == []
    both = [case for case, theirs, ours in compared if isinstance(theirs, tuple) and isinstance(ours, tuple)]
    assert len(both) > SIZE / 4


BANDS = {"0": "Names none", "8": "Names all"}
MET = {"satisfied": True, "reasoning": "So it is."}
REFUSED = {
    "bands beside a checklist": (
        [{"id": "a", "score_ranges": BANDS}, {"id": "b", "outcome": "Names it"}],
        {"a": {"score": 8}, "b": {"score": 7}},
        ["mixing"],
        (0.75, "fail"),
    ),
    "one id for two": (
        [{"id": "a", "outcome": "Names it", "weight": 3}, {"id": "a", "outcome": "Says why"}],
        {"a": MET},
        ["duplicate-id"],
        (1, "pass"),
    ),
    "no weight at all": ([{"id": "a", "outcome": "Names it", "weight": 0}], {"a": MET}, ["weight"], (0, "fail")),
    "a weight below zero": (
        [{"id": "a", "outcome": "Names it", "weight": -1}, {"id": "b", "outcome": "Says why", "weight": 2}],
        {"a": {**MET, "satisfied": False}, "b": MET},
        ["weight"],
        (1, "fail"),
    ),
}


def test_what_agentv_scores_and_we_refuse_is_an_error_in_the_rubric(tmp_path):
    cases = []
    for number, (criteria, answers, _, _) in enumerate(REFUSED.values()):
        checks = [{"id": name, **answer} for name, answer in answers.items()]
        grader = {"type": "rubrics", "name": "graded", "criteria": criteria}
        test = {"id": f"t{number}", "input": "Name some.", "assertions": [grader]}
        cases.append(Case(test, json.dumps({"checks": checks, "overall_reasoning": "As said."})))
    results = ask_agentv(tmp_path, cases)
    found = [(ask_ourselves(case), read_result(results[case.test["id"]])) for case in cases]
    assert dict(zip(REFUSED, found, strict=True)) == {name: each[2:] for name, each in REFUSED.items()}


def test_a_missed_gate_fails_the_grader_of_agentv_but_not_its_test(tmp_path):
    texts = [f"Names {number}" for number in range(5)]
    checks = [{"id": f"rubric-{number + 1}", **MET, "satisfied": number > 0} for number in range(5)]
    case = Case(
        {"id": "t", "input": "Name some.", "assertions": texts}, json.dumps({"checks": checks, "overall_reasoning": ""})
    )
    result = ask_agentv(tmp_path, [case])["t"]
    assert (read_result(result), result["execution_status"]) == ((0.8, "fail"), "ok")
    assert ask_ourselves(case) == (Fraction(8, 10), "fail")
