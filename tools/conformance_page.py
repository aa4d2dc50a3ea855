"""Run the conformance suite against every program it has a driver for, and write the tables: `make conformance`."""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "tests/conformance"
sys.path.insert(0, str(SUITE))

from run import Case, Report, read_cases, run  # noqa: E402 (the suite's own runner, which is no package)

PAGE = SUITE / "README.md"
CACHE = ROOT / ".cache"
_TABLES = re.compile(r"(?<=<!-- tables -->\n).*?(?=<!-- end of tables -->)", re.DOTALL)

DRIVERS = {
    "rubric_lint": [sys.executable, "of_rubric_lint.py"],
    "agentv": ["node", "of_agentv.mjs", CACHE / "originals"],
    "deepeval": [CACHE / "agreement/bin/python", "of_deepeval.py"],
    "promptfoo": ["node", "of_promptfoo.mjs", CACHE / "originals"],
    "ragas": [CACHE / "agreement/bin/python", "of_ragas.py"],
    "verifiers": [CACHE / "agreement/bin/python", "of_verifiers.py"],
}
"""The command of each driver: a program, the file of the driver, and its arguments."""


REASONS = {
    "Rubrics in many notations": (
        "`agentv validate` looks at no rubric: AgentV finds these faults when it runs a test, and skips it",
        "an author should hear of them before a run",
    ),
    "Gates: a missed gate fails, whatever the average": (
        "the grader's own verdict is `fail`; the test passes by the average of its graders, which is compared here",
        "a gate that fails nothing is none",
    ),
    "Outputs that have no score": (
        "a missing check leaves the denominator, a repeated one counts twice, and unknown ids and fields are ignored",
        "a score over other criteria is the score of another rubric",
    ),
    "Weighted averages, exact": ("it adds floating-point numbers", "0.8 is 0.8"),
}
"""Why AgentV and rubric-lint differ, by topic: what AgentV does, and why rubric-lint does not."""


def ask(name: str) -> Report:
    """Run the suite with one of the drivers."""
    program, driver, *rest = DRIVERS[name]
    return run([str(program), str(SUITE / "drivers" / driver), *map(str, rest)], [*read_cases()])


def make_tables(reports: list[Report]) -> str:
    """Return the tables of the page: how often each program agrees, and each test in which one differs."""
    names = [f"{report.name} {report.version}" if report.name != "rubric-lint" else "rubric-lint" for report in reports]
    topics = dict.fromkeys(outcome.case.topic for outcome in reports[0].outcomes)
    counts = [_row("topic", "tests", *names), _row(*["---"] * (len(names) + 2))]
    for topic in topics:
        totals = [
            Counter(outcome.status for outcome in report.outcomes if outcome.case.topic == topic) for report in reports
        ]
        if any(total.keys() != {"unsupported"} for total in totals[1:]):
            counts.append(_row(topic, str(totals[0].total()), *map(_count, totals)))
    differing = [_row("test", "expected", *names[1:]), _row(*["---"] * (len(names) + 1))]
    for outcomes in zip(*(report.outcomes for report in reports[1:]), strict=True):
        case = outcomes[0].case
        if any(outcome.status == "differs" for outcome in outcomes):
            cells = [_shorten(outcome.status, outcome.detail) for outcome in outcomes]
            differing.append(_row(f"{case.group}: {case.test}", _expect(case), *cells))
    leads = (
        "How many tests a program agrees in, of those it has a form for. Topics only rubric-lint knows are left out.",
        "Each test in which a program differs. A tick says that it agrees, a dash that it has no form for the test.",
    )
    return "\n\n".join(["", leads[0], "\n".join(counts), leads[1], "\n".join(differing), ""])


def make_reasons(report: Report) -> str:
    """Return the table of the reasons for all differences of AgentV.

    Raises:
        KeyError: if it differs in a topic for which no reason is known.
    """
    counts = Counter(outcome.case.topic for outcome in report.outcomes if outcome.status == "differs")
    rows = [_row(topic, str(count), *REASONS[topic]) for topic, count in counts.items()]
    head = [_row("topic", "tests", "AgentV", "why rubric-lint does otherwise"), _row(*["---"] * 4)]
    return "\n\n".join(["Why AgentV differs:", "\n".join([*head, *rows]), ""])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _count(total: Counter[str]) -> str:
    asked = total["agrees"] + total["differs"] + total["no answer"]
    return f"{total['agrees']} of {asked}" if asked else "-"


def _expect(case: Case) -> str:
    if case.kind == "lint":
        return ", ".join(finding["rule"] for finding in case.expected) or "accepted"
    expected = case.expected
    return f"{expected['score']} {expected['verdict']}" if expected["valid"] else "no score"


def _shorten(status: str, detail: str) -> str:
    if status == "differs":
        return "no score" if detail.startswith("not valid:") else detail.removeprefix("valid: ")
    return {"agrees": "✓", "unsupported": "-"}.get(status, status)


def main() -> None:
    """Run all drivers and write the tables into the page."""
    reports = []
    for name in DRIVERS:
        reports.append(ask(name))
        counts = Counter(outcome.status for outcome in reports[-1].outcomes)
        print(
            f"{reports[-1].name} {reports[-1].version}:",
            ", ".join(f"{counts[status]} {status}" for status in sorted(counts)),
        )
    tables = make_tables(reports) + make_reasons(reports[[*DRIVERS].index("agentv")])
    PAGE.write_text(_TABLES.sub(lambda _: tables, PAGE.read_text("utf-8")), "utf-8")
    if any(outcome.status != "agrees" for outcome in reports[0].outcomes):
        raise SystemExit("rubric-lint does not agree with its own suite")


if __name__ == "__main__":
    main()
