"""Write the reports for humans: with code frames, with one line per finding, and with counts by rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rubric_lint.report.base import Style, Write
from rubric_lint.report.frame import frame
from rubric_lint.report.visible import visible, width
from rubric_lint.run.summary import Reporter

if TYPE_CHECKING:
    from rubric_lint.finding import Finding, Result, Severity
    from rubric_lint.run.summary import Summary
    from rubric_lint.text.source import Source


class Concise(Reporter):
    """Write one line per finding: `file:line:column severity rule: message`."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        if result.findings:
            look = self._look._replace(wraps=False)
            self._write("".join(f"{_lines(result.source, finding, look)[0]}\n" for finding in result.findings))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        if not self._look.quiet:
            self._write(f"{summary}\n")


class Full(Reporter):
    """Write each finding with its code frame and its fix."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look
        self._gap = ""

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        if not result.findings:
            return
        blocks = []
        for finding in result.findings:
            rows = frame(result.source, finding, self._look)
            blocks.append("\n".join([*_lines(result.source, finding, self._look), *rows]) + "\n")
        self._write(self._gap + "\n".join(blocks))
        self._gap = "\n"

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        if not self._look.quiet:
            told = [line for each in str(summary).split("\n") for line in self._look.wrap(each)]
            self._write(self._gap + "\n".join(told) + "\n")


class Statistics(Reporter):
    """Write the number of findings per rule, most frequent first."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look
        self._counts: Counter[tuple[str, Severity]] = Counter()

    def add(self, result: Result) -> None:
        """Count the findings of one file."""
        self._counts.update((finding.rule, finding.severity) for finding in result.findings)

    def end(self, summary: Summary) -> None:
        """Write the counts, then the summary."""
        rows = sorted(self._counts.items(), key=lambda row: (-row[1], row[0]))
        digits = max((len(str(count)) for _, count in rows), default=0)
        for (rule, severity), count in rows:
            self._write(f"{count:>{digits}} {self._look.paint(severity, f'{severity:<7}')} {rule}\n")
        if not self._look.quiet:
            self._write(f"\n{summary}\n" if rows else f"{summary}\n")


def _lines(source: Source, finding: Finding, look: Style) -> list[str]:
    line, column, _ = source.position(finding.span.start)
    place = f"{visible(source.name)}:{line}:{column}"
    taken = width(f"{place} {finding.severity} {finding.rule}: ") if look.wraps else 0
    first, *more = look.wrap(visible(finding.message), taken=taken)
    severity = look.paint(finding.severity, finding.severity)
    return [f"{look.paint('place', place)} {severity} {finding.rule}: {first}".rstrip(), *more]
