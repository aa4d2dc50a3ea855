"""Read the `index.jsonl` of a run of AgentV: what its graders gave each criterion, as records of judge outputs."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rubric_lint.outputs.blocks import Block, Entry, join_entries
from rubric_lint.outputs.decoding import OutputError, read_entry, refuse_flaws

_ID = re.compile(r"\[(?P<id>[^\]]+)\] ")
"""What the text of an assertion begins with if it is about a criterion."""


def is_agentv_run(head: bytes) -> bool:
    """Return whether the first line of a file is a test in a run of AgentV."""
    try:
        found = json.loads(head.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"test_id", "execution_status"} <= found.keys() and "output" not in found


class RunEntries:
    """A part whose entries are tests of a run; others stay as they are."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def blocks(self) -> Iterator[Block]:
        """Yield the records."""
        return join_entries(record for entry in self._block.split() for record in _read(*entry))


def _read(line: int, text: bytes | OutputError) -> Iterator[Entry]:
    """Yield a record for each grader with criteria; without one, a record that says so.

    `agentv` has the score and the verdict of that grader there, and the score of the whole test.
    """
    if isinstance(text, OutputError):
        yield line, text
        return
    try:
        test = read_entry(text)
        refuse_flaws(test)
    except OutputError:  # the scorer says what is wrong with it
        yield line, text
        return
    if not isinstance(test.get("test_id"), str) or "execution_status" not in test:
        yield line, text
        return
    name, target = test["test_id"], test.get("target")
    every = [*_find_graders(test.get("scores"))]
    graders = [(grader, path, checks) for path, grader in every if (checks := [*_list_checks(grader)])]
    for grader, path, checks in graders:
        # A test with one grader gives its rubric its name; of others, the suite may have left the name out.
        rubric = name if len(every) == 1 else f"{name}/{path}"
        there = {"score": grader.get("score"), "verdict": grader.get("verdict"), "test_score": test.get("score")}
        record = {"id": name, "rubric": rubric, "output": {"checks": checks}, "target": target, "agentv": there}
        yield line, json.dumps(record).encode()
    skipped = [path for path, grader in every if grader.get("verdict") == "skip"] if graders else []
    for path in skipped:
        yield line, _tell(test, f"{name}/{path}", f"AgentV says: skipped `{path}`")
    if not graders:
        told = f"AgentV says: {test['execution_status']}"
        if test["execution_status"] in ("ok", "quality_failure"):
            told = "the run has no grader with criteria for this test"
        elif isinstance(test.get("error"), str):
            told += f", {test['error']}"
        yield line, _tell(test, name, told)


def _tell(test: dict[str, Any], rubric: str, told: str) -> bytes:
    """Return the record of a grader without an output, with the reason."""
    there = {"test_score": test.get("score")}
    record = {"id": test["test_id"], "rubric": rubric, "output": "", "judge": {"fault": told}, "agentv": there}
    return json.dumps(record).encode()


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
