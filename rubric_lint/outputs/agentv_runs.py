"""Read the `index.jsonl` of a run of AgentV: what its graders gave each criterion, as records of judge outputs."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_ID = re.compile(r"\[(?P<id>[^\]]+)\] ")
"""What the text of an assertion begins with if it is about a criterion."""


def is_agentv_run(first: Mapping[str, Any]) -> bool:
    """Return whether the first entry of a file is a test in a run of AgentV."""
    return {"test_id", "execution_status"} <= first.keys() and "output" not in first


def convert_test(test: Mapping[str, Any]) -> Iterator[dict[str, Any]] | None:
    """Return the records of a test, one for each grader with criteria; None if it is something else.

    `agentv` has the score and the verdict of that grader there, and the score of the whole test. Without a grader, a
    record says so.
    """
    if not isinstance(test.get("test_id"), str) or "execution_status" not in test:
        return None
    return _make_records(test)


def _make_records(test: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    name, target = test["test_id"], test.get("target")
    every = [*_find_graders(test.get("scores"))]
    graders = [(grader, path, checks) for path, grader in every if (checks := [*_list_checks(grader)])]
    for grader, path, checks in graders:
        # A test with one grader gives its rubric its name; of others, the suite may have left the name out.
        rubric = name if len(every) == 1 else f"{name}/{path}"
        there = {"score": grader.get("score"), "verdict": grader.get("verdict"), "test_score": test.get("score")}
        yield {"id": name, "rubric": rubric, "output": {"checks": checks}, "target": target, "agentv": there}
    skipped = [path for path, grader in every if grader.get("verdict") == "skip"] if graders else []
    for path in skipped:
        yield _tell(test, f"{name}/{path}", f"AgentV says: skipped `{path}`")
    if not graders:
        told = f"AgentV says: {test['execution_status']}"
        if test["execution_status"] in ("ok", "quality_failure"):
            told = "the run has no grader with criteria for this test"
        elif isinstance(test.get("error"), str):
            told += f", {test['error']}"
        yield _tell(test, name, told)


def _tell(test: Mapping[str, Any], rubric: str, told: str) -> dict[str, Any]:
    """Return the record of a grader without an output, with the reason."""
    there = {"test_score": test.get("score")}
    return {"id": test["test_id"], "rubric": rubric, "output": "", "judge": {"fault": told}, "agentv": there}


def find_graded(record: Mapping[str, Any], rubrics: Mapping[str, Collection[str]]) -> list[str]:
    """Return the names of the rubrics of a test whose criteria a grader judged, given the ids of each rubric."""
    name, output = record.get("id"), record.get("output")
    checks = output.get("checks") if isinstance(output, dict) else None
    given = {check["id"] for check in checks or ()}
    found = [each for each in rubrics if each == name or each.startswith(f"{name}/")]
    found = [each for each in found if given and given.issubset(rubrics[each])]
    return [each for each in found if len(given) == len(rubrics[each])] or found


def _find_graders(scores: Any, above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Find the graders of a test and those inside others, which repeat what these say, each with its path of names."""
    for grader in scores if isinstance(scores, list) else ():
        if isinstance(grader, dict):
            path = f"{above}{grader.get('name')}"
            inner = [*_find_graders(grader.get("scores"), f"{path}/")]
            yield from inner or [(path, grader)]


def _list_checks(grader: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a grader gave each criterion; its raw scores have 0 to 10, its assertions whether one is met."""
    details = grader.get("details")
    raw = details.get("raw_scores") if isinstance(details, dict) else None
    assertions = grader.get("assertions")
    for assertion in assertions if isinstance(assertions, list) else ():
        text = assertion.get("text") if isinstance(assertion, dict) else None
        found = _ID.match(text) if isinstance(text, str) else None
        if found is None:
            continue
        own = found["id"]
        given = {"score": raw[own]} if isinstance(raw, dict) and own in raw else {"satisfied": assertion.get("passed")}
        reason = {"reasoning": assertion["evidence"]} if isinstance(assertion.get("evidence"), str) else {}
        yield {"id": own, **given, **reason}
