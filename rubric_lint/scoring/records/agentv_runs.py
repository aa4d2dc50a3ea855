"""Read the `index.jsonl` of a run of AgentV: what its graders gave each criterion, as records of judge outputs."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

_ID = re.compile(r"\[(?P<id>[^\]]+)\] ")
"""What the text of an assertion begins with if it is about a criterion."""


def convert_test(test: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the records of a test, one for each grader with criteria; None if it is something else.

    `agentv` has the score and the verdict of that grader there, the score of the whole test, and whether it passed.
    Without a grader, a record says so.
    """
    if not isinstance(test.get("test_id"), str) or "execution_status" not in test or "output" in test:
        return None
    name = test["test_id"]
    graders = list(_find_graders(test.get("scores")))
    records = []
    for path, grader in graders:
        checks = list(_list_checks(grader))
        if checks:
            # A test with one grader gives its rubric its name; of others, the suite may have left the name out.
            rubric = name if len(graders) == 1 else f"{name}/{path}"
            there = {"score": grader.get("score"), "verdict": grader.get("verdict"), **_sum_up(test)}
            record = {"id": name, "rubric": rubric, "output": {"checks": checks}, "target": test.get("target")}
            records.append({**record, "agentv": there})
    if not records:
        return [_make_fault_record(test, name, _explain_absence(test))]
    for path, grader in graders:
        if grader.get("verdict") == "skip":
            records.append(_make_fault_record(test, f"{name}/{path}", f"AgentV says: skipped `{path}`"))
    return records


def _explain_absence(test: Mapping[str, Any]) -> str:
    """Return why no grader of a test has criteria."""
    if test["execution_status"] in ("ok", "quality_failure"):
        return "the run has no grader with criteria for this test"
    error = f", {test['error']}" if isinstance(test.get("error"), str) else ""
    return f"AgentV says: {test['execution_status']}{error}"


def _make_fault_record(test: Mapping[str, Any], rubric: str, fault: str) -> dict[str, Any]:
    """Return the record of a grader without an output, with the reason."""
    return {"id": test["test_id"], "rubric": rubric, "output": "", "judge": {"fault": fault}, "agentv": _sum_up(test)}


def _sum_up(test: Mapping[str, Any]) -> dict[str, Any]:
    return {"test_score": test.get("score"), "passed": test["execution_status"] == "ok"}


_ROUNDED = 0.0006
"""How far a score that AgentV has rounded to three digits may be off."""
_MOST = 5


class AgentVDifferences:
    """What AgentV made otherwise of the outputs of its runs."""

    def __init__(self) -> None:
        self._passed: list[str] = []
        self._counted: list[str] = []

    def add(self, record: Mapping[str, Any], score: float, missed: Sequence[str]) -> None:
        """Compare AgentV with the output of a record, which has this score and these missed gates here."""
        there = record["agentv"] if isinstance(record["agentv"], dict) else {}
        name, theirs = str(record.get("id")), there.get("score")
        if isinstance(theirs, int | float) and abs(theirs - score) > _ROUNDED:
            self._counted.append(f"{name} ({theirs:g} there, {score:.3g} here)")
        if there.get("passed") is True and missed:
            self._passed.append(f"{name} (`{'`, `'.join(missed)}`)")

    def format_lines(self) -> Iterator[str]:
        """Say which tests passed without a gate, and which outputs count otherwise."""
        passed, counted = self._passed, self._counted
        if passed:
            tests = "1 grader missed a gate" if len(passed) == 1 else f"{len(passed):,} graders missed a gate"
            yield f"{tests}, and AgentV let the test pass: {_shorten(passed)}"
        if counted:
            outputs = "1 output has" if len(counted) == 1 else f"{len(counted):,} outputs have"
            reason = "AgentV counts replies in another form without weights"
            yield f"{outputs} another score in AgentV: {_shorten(counted)}; {reason}"


def _shorten(listed: Sequence[str]) -> str:
    shown = list(listed[:_MOST])
    if len(listed) > _MOST:
        shown.append(f"{len(listed) - _MOST:,} more")
    return "; ".join(shown)


def find_graded(record: Mapping[str, Any], rubrics: Mapping[str, Collection[str]]) -> list[str]:
    """Return the names of the rubrics of a test whose criteria a grader judged, given the ids of each rubric."""
    name, output = record.get("id"), record.get("output")
    checks = output.get("checks") if isinstance(output, dict) else None
    given = {check["id"] for check in checks or ()}
    found = [rubric for rubric in rubrics if rubric == name or rubric.startswith(f"{name}/")]
    found = [rubric for rubric in found if given and given.issubset(rubrics[rubric])]
    return [rubric for rubric in found if len(given) == len(rubrics[rubric])] or found


def _find_graders(scores: Any, above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Find the graders of a test and those inside others, which repeat what these say, each with its path of names."""
    if not isinstance(scores, list):
        return
    for grader in scores:
        if isinstance(grader, dict):
            path = f"{above}{grader.get('name')}"
            inner = list(_find_graders(grader.get("scores"), f"{path}/"))
            yield from inner or [(path, grader)]


def _list_checks(grader: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a grader gave each criterion; its raw scores have 0 to 10, its assertions whether one is met."""
    details = grader.get("details")
    raw = details.get("raw_scores") if isinstance(details, dict) else None
    assertions = grader.get("assertions")
    if not isinstance(assertions, list):
        return
    for assertion in assertions:
        text = assertion.get("text") if isinstance(assertion, dict) else None
        found = _ID.match(text) if isinstance(text, str) else None
        if found is None:
            continue
        own = found["id"]
        check: dict[str, Any] = {"id": own}
        if isinstance(raw, dict) and own in raw:
            check["score"] = raw[own]
        else:
            check["satisfied"] = assertion.get("passed")
        if isinstance(assertion.get("evidence"), str):
            check["reasoning"] = assertion["evidence"]
        yield check
