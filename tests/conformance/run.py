"""Run the conformance suite against any program: see README.md beside this file. Needs Python 3.11 and no packages."""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

CASES = Path(__file__).parent / "v1"
NEAR = 1e-9
"""How far a score in floating point may lie from the exact one."""

Json = dict[str, Any]


class Case(NamedTuple):
    """One test: its place in the suite, and what a program is asked and expected to answer."""

    kind: str
    file: str
    topic: str
    group: str
    test: str
    request: Json
    expected: Any


class Outcome(NamedTuple):
    """What came of one test: `agrees`, `differs`, `unsupported` or `no answer`, and the details."""

    case: Case
    status: str
    detail: str = ""


class Report(NamedTuple):
    """The name and version of a program, and what came of each test."""

    name: str
    version: str
    outcomes: list[Outcome]


def read_cases(folder: Path = CASES, kind: str = "") -> Iterator[Case]:
    """Yield all cases of a folder, those of one file after the other."""
    for path in sorted(folder.glob("*/*.json")):
        document = json.loads(path.read_text("utf-8"))
        if kind not in {"", document["kind"]}:
            continue
        for group in document["groups"]:
            for test in group["tests"]:
                if document["kind"] == "lint":
                    request = {"kind": "lint", "file": test["file"], "text": test["text"]}
                    expected: Any = test["findings"]
                else:
                    request = {"kind": "score", "rubric": group["rubric"], "output": test["output"]}
                    expected = test["expect"]
                place = (document["kind"], path.stem, document["topic"], group["description"], test["description"])
                yield Case(*place, request, expected)


def run(command: Sequence[str], cases: Sequence[Case], seconds: float = 600) -> Report:
    """Ask a program all cases at once and compare its answers, which may come in any order.

    Raises:
        SystemExit: when the program cannot be started, does not end in time, or does not say who it is.
    """
    requests: list[Json] = [{"id": 0, "kind": "hello", "protocol": 1}]
    requests += [{"id": number, **case.request} for number, case in enumerate(cases, 1)]
    data = "".join(json.dumps(request) + "\n" for request in requests)
    try:
        done = subprocess.run(
            command, input=data, stdout=subprocess.PIPE, encoding="utf-8", timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise SystemExit(f"{command[0]}: {fault}") from None
    answers: dict[int, Json] = {}
    for line in done.stdout.splitlines():
        try:
            answer = json.loads(line)
            answers[answer["id"]] = answer
        except (ValueError, TypeError, KeyError):
            raise SystemExit(f"{command[0]}: this line of its output is no answer: {line[:200]}") from None
    if not {"name", "version"} <= answers.get(0, {}).keys():
        raise SystemExit(f"{command[0]}: it did not answer `hello` with its name and version (exit {done.returncode})")
    outcomes = [compare(case, answers.get(number)) for number, case in enumerate(cases, 1)]
    return Report(answers[0]["name"], answers[0]["version"], outcomes)


def compare(case: Case, answer: Json | None) -> Outcome:
    """Compare an answer with what the case expects."""
    if answer is None:
        return Outcome(case, "no answer")
    if "unsupported" in answer:
        return Outcome(case, "unsupported", answer["unsupported"])
    faults = [*(_compare_findings if case.kind == "lint" else _compare_score)(case.expected, answer)]
    return Outcome(case, "differs", "; ".join(faults)) if faults else Outcome(case, "agrees")


def _compare_findings(expected: list[Json], answer: Json) -> Iterator[str]:
    if "accepts" in answer:
        accepts = all(each["severity"] != "error" for each in expected)
        if answer["accepts"] != accepts:
            yield "accepted" if answer["accepts"] else f"refused: {answer.get('reason', '')}"
        return
    wanted, given = (Counter(map(_as_text, each)) for each in (expected, answer["findings"]))
    if missed := [*(wanted - given).elements()]:
        yield "not found: " + ", ".join(missed)
    if wrong := [*(given - wanted).elements()]:
        yield "found: " + ", ".join(wrong)


def _as_text(finding: Json) -> str:
    return "{severity} {rule} at {start}..{end}".format_map(finding)


def _compare_score(expected: Json, answer: Json) -> Iterator[str]:
    if not answer["valid"]:
        if expected["valid"]:
            yield f"not valid: {answer.get('reason', '')}"
        return
    verdict = answer.get("verdict") or {None: "", True: "pass", False: "fail"}[answer.get("passes")]
    if not expected["valid"]:
        yield f"valid: {answer['score']} {verdict}".strip()
        return
    score, exact = answer["score"], Fraction(expected["score"])
    if Fraction(score) != exact if isinstance(score, str) else abs(score - exact) > NEAR:
        yield f"score {score}, not {exact}"
    # A program that says only whether an answer passes knows no borderline.
    wanted = "fail" if "passes" in answer and expected["verdict"] == "borderline" else expected["verdict"]
    if verdict and verdict != wanted:
        yield f"{verdict}, not {expected['verdict']}"
    if answer.get("missed", expected["missed"]) != expected["missed"]:
        yield f"gates missed: {answer['missed']}, not {expected['missed']}"


def main() -> int:
    """Run the suite from the command line; 1 says that something differs."""
    parser = argparse.ArgumentParser(description="Run the conformance suite against a program.")
    parser.add_argument("--kind", choices=("lint", "score"), default="", help="only these cases")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for the whole run (default 600)")
    parser.add_argument("command", nargs="+", help="the program and its arguments, after --")
    given = parser.parse_args()
    report = run(given.command, [*read_cases(kind=given.kind)], given.timeout)
    counts = Counter(outcome.status for outcome in report.outcomes)
    for case, status, detail in report.outcomes:
        if status in {"differs", "no answer"}:
            print(f"{case.kind}/{case.file}: {case.group}: {case.test}: {status}{detail and ': '}{detail}")
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"{report.name} {report.version}: {len(report.outcomes)} tests: {told}")
    return int(bool(counts["differs"] or counts["no answer"]))


if __name__ == "__main__":
    sys.exit(main())
