"""Write GitLab's code quality report: one JSON list with an item per finding."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from rubric_lint.finding import Severity
from rubric_lint.messages import whole
from rubric_lint.project.repository import repository_path
from rubric_lint.report.base import Style, Write
from rubric_lint.report.portable import Range, dump
from rubric_lint.run.fingerprint import fingerprints
from rubric_lint.run.summary import Failure, NearMisses, Reporter

if TYPE_CHECKING:
    from rubric_lint.finding import Finding, Result
    from rubric_lint.run.summary import Summary

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.HINT: "info"}


class GitLab(Reporter):
    """Write the list item by item."""

    def __init__(self, write: Write, _look: Style) -> None:
        self._write = write
        self._before = "["

    def add(self, result: Result) -> None:
        """Write the findings of one file, then its near misses, one for each reason."""
        path = whole(repository_path(result.source.name)) if result.findings or result.unread else ""
        for finding, fingerprint in zip(result.findings, fingerprints(result), strict=True):
            self._add(_item(path, result, finding, fingerprint))
        near = NearMisses()
        near.add(path, result.unread)
        for each in near:
            line = each.unread.line
            text = f"not checked: {each.reason}"
            self._add(_note(path, "unread", each.unread.reason, text=text, severity="info", line=line))

    def fail(self, failure: Failure) -> None:
        """Write an item for a file that was not linted."""
        path = whole(repository_path(failure.file))
        name = "fault" if failure.is_fault else "unreadable"
        severity = "blocker" if failure.is_fault else "critical"
        self._add(_note(path, name, failure.reason, text=f"not linted: {failure.reason}", severity=severity))

    def end(self, _summary: Summary) -> None:
        """Close the list."""
        self._write("[]\n" if self._before == "[" else "\n]\n")

    def _add(self, item: dict[str, Any]) -> None:
        self._write(f"{self._before}\n  {dump(item)}")
        self._before = ","


def _note(path: str, name: str, reason: str, *, text: str, severity: str, line: int = 1) -> dict[str, Any]:
    """Return an item for what is no finding; its fingerprint depends on the file and the reason, not on the line."""
    return {
        "description": whole(text),
        "check_name": f"rubric-lint/{name}",
        "fingerprint": blake2b(f"{name}\0{path}\0{whole(reason)}".encode(), digest_size=16).hexdigest(),
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line, "end": line}},
    }


def _item(path: str, result: Result, finding: Finding, fingerprint: str) -> dict[str, Any]:
    at = Range.of(result.source, finding.span)
    return {
        "description": whole(finding.message),
        "check_name": f"rubric-lint/{finding.rule}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": path,
            "lines": {"begin": at.line, "end": at.end_line},
            "positions": {
                "begin": {"line": at.line, "column": at.column},
                "end": {"line": at.end_line, "column": at.end_column},
            },
        },
    }
