"""Write JUnit XML for systems that show test results, with one test case for each rubric test and any other file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from rubric_lint.finding import Severity
from rubric_lint.project.repository import repository_path
from rubric_lint.report.base import Style, Write
from rubric_lint.report.portable import Range
from rubric_lint.report.visible import visible
from rubric_lint.run.summary import Failure, NearMisses, Reporter, word_severities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rubric_lint.finding import Finding, Result
    from rubric_lint.run.summary import Summary

_OF_TEST = re.compile(r"/tests/(\d+)(?:/|$)")
"""The pointer of a finding in a rubric test, with the number of the test."""


class JUnit(Reporter):
    """Write one test suite; its head contains totals, so the cases are kept as text until the end."""

    def __init__(self, write: Write, _look: Style) -> None:
        self._write = write
        self._cases: list[str] = []
        self._failures = 0
        self._errors = 0

    def add(self, result: Result) -> None:
        """Keep the case of one file, or if its tests were run, of each test.

        What is wrong outside the tests is a case of the file besides.
        """
        name = repository_path(result.source.name)
        by_test: dict[int | None, list[Finding]] = {}
        for finding in result.findings:
            found = _OF_TEST.match(finding.pointer) if result.tested else None
            by_test.setdefault(int(found[1]) if found else None, []).append(finding)
        if None in by_test or not result.tested:
            self._add_case(result, name, "rubric-lint", by_test.get(None, ()), notes=_word_near_misses(name, result))
        for number, test in enumerate(result.tested):
            self._add_case(result, test, name, by_test.get(number, ()))

    def _add_case(
        self, result: Result, name: str, owner: str, findings: Sequence[Finding], notes: Sequence[str] = ()
    ) -> None:
        """Keep a case: passed, or one failure with all findings, because most readers show only one.

        Hints alone do not fail it; they are its output, and so are `notes` on what was not checked. A file with nothing
        else was skipped.
        """
        output = [_outcome("system-out", "", "", notes)] if notes else []
        if not findings:
            if notes and not result.rubrics:
                output.insert(0, f"<skipped message={_quote(notes[0])}/>")
            self._cases.append(_case(name, owner, "".join(output)))
            return
        file = visible(repository_path(result.source.name))
        lines = []
        for finding in findings:
            at = Range.of(result.source, finding.span)
            lines.append(f"{file}:{at.line}:{at.column} {finding.severity} {finding.rule}: {finding.message}")
        severities = [finding.severity for finding in findings]
        errors, warnings, hints = (severities.count(severity) for severity in Severity)
        if not errors and not warnings:
            self._cases.append(_case(name, owner, _outcome("system-out", "", "", [*lines, *notes])))
            return
        self._failures += 1
        kind, message = "error" if errors else "warning", word_severities(errors, warnings, hints)
        self._cases.append(_case(name, owner, "".join([_outcome("failure", kind, message, lines), *output])))

    def fail(self, failure: Failure) -> None:
        """Keep the case of a file that was not linted, as an error rather than a failure."""
        self._errors += 1
        kind = "fault" if failure.is_fault else "unreadable"
        told = _outcome("error", kind, failure.reason, [failure.reason])
        self._cases.append(_case(repository_path(failure.file), "rubric-lint", told))

    def end(self, _summary: Summary) -> None:
        """Write the document."""
        counts = f'name="rubric-lint" tests="{len(self._cases)}" failures="{self._failures}" errors="{self._errors}"'
        self._write(f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {counts}>\n<testsuite {counts}>\n')
        for case in self._cases:
            # ASCII is valid UTF-8, as declared, in every encoding of stdout.
            self._write(case.encode("ascii", "xmlcharrefreplace").decode())
        self._write("</testsuite>\n</testsuites>\n")


def _word_near_misses(name: str, result: Result) -> list[str]:
    """Return the lines on what looks like a rubric in a file but was not checked."""
    near = NearMisses()
    near.add(visible(name), result.unread)
    return [f"{each.place}: not checked: {each.reason}" for each in near]


def _case(name: str, owner: str, outcome: str = "") -> str:
    head = f"  <testcase classname={_quote(owner)} name={_quote(name)}"
    return f"{head}>\n    {outcome}\n  </testcase>\n" if outcome else f"{head}/>\n"


def _outcome(element: str, kind: str, message: str, lines: Iterable[str]) -> str:
    text = "\n".join(escape(_legal(line)) for line in lines)
    attributes = f" type={_quote(kind)} message={_quote(message)}" if kind else ""
    return f"<{element}{attributes}>{text}</{element}>"


def _quote(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    """Return the text without what XML forbids, including two noncharacters that `visible` keeps."""
    return visible(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")
