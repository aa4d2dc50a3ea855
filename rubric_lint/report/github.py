"""Write GitHub Actions annotations: workflow commands on stdout that GitHub shows beside the code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rubric_lint.finding import Severity
from rubric_lint.project.repository import repository_path
from rubric_lint.report.base import Style, Write
from rubric_lint.report.portable import Range
from rubric_lint.report.visible import visible
from rubric_lint.run.summary import Failure, NearMisses, Reporter, counted

if TYPE_CHECKING:
    from rubric_lint.finding import Finding, Result
    from rubric_lint.run.summary import Summary

SHOWN = 10
"""How many errors, how many warnings and how many notices GitHub shows per step; the log contains all of them."""


_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


class GitHub(Reporter):
    """Write one workflow command per finding. The message begins with the place, because the log shows nothing else."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look
        self._counts: Counter[str] = Counter()
        self._near = NearMisses()

    def add(self, result: Result) -> None:
        """Write the findings of one file, and keep its near misses."""
        self._near.add(result.source.name, result.unread)
        if result.findings:
            path = repository_path(result.source.name)
            self._write("".join(self._annotate(path, result, finding) for finding in result.findings))

    def fail(self, failure: Failure) -> None:
        """Write an error for a file that was not linted."""
        path = repository_path(failure.file)
        self._write(self._command("error", f"{path}: {failure.reason}", file=path, title="rubric-lint"))

    def end(self, summary: Summary) -> None:
        """Write notices on near misses, how many findings GitHub does not show beside the code, and the summary."""
        for each in self._near:
            path, (_, line, column, *_) = repository_path(each.file), each.unread
            message = f"{path}:{line}:{column}: not checked: {each.reason}"
            place: dict[str, str | int] = {"file": path, "line": line, "col": column}
            self._write(self._command("notice", message, **place, title="rubric-lint: not checked"))
        hidden = [counted(count, kind) for kind, count in self._counts.items() if count > SHOWN]
        if hidden:
            message = (
                f"GitHub shows only {SHOWN} errors and {SHOWN} warnings per step beside the code. This step has "
                f"{' and '.join(hidden)}; see its log or a SARIF file for all of them"
            )
            self._write(self._command("notice", message, title="rubric-lint"))
        if not self._look.quiet:
            self._write(f"{summary}\n")

    def _annotate(self, path: str, result: Result, finding: Finding) -> str:
        at = Range.of(result.source, finding.span)
        place = {"line": at.line, "endLine": at.end_line}
        if at.line == at.end_line:  # GitHub supports columns only within one line
            place |= {"col": at.column, "endColumn": at.end_column}
        message = f"{path}:{at.line}:{at.column}: {finding.rule}: {finding.message}"
        kind = _KINDS[finding.severity]
        return self._command(kind, message, file=path, **place, title=f"rubric-lint: {finding.rule}")

    def _command(self, kind: str, message: str, **properties: str | int) -> str:
        self._counts[kind] += 1
        listed = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items())
        return f"::{kind} {listed}::{_escape(message)}\n"


def _escape(text: str) -> str:
    """Return the text on one line (`visible` escapes line ends), because a new line could start another command."""
    return visible(text).replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
