"""Write the report that the problem matcher of the VS Code extension reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rubric_lint.report.text import Concise
from rubric_lint.report.visible import visible

if TYPE_CHECKING:
    from rubric_lint.finding import Finding, Result
    from rubric_lint.text.source import Source


class VSCode(Concise):
    """Write one line per finding: `file:line:column-line:column severity rule: message`.

    Columns count UTF-16 units, as the editor does, so a place after an emoji is right. Nothing is colored.
    """

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        for finding in result.findings:
            self._write(f"{_line(result.source, finding)}\n")


def _line(source: Source, finding: Finding) -> str:
    places = f"{_place(source, finding.span.start)}-{_place(source, finding.span.end)}"
    return f"{visible(source.name)}:{places} {finding.severity} {finding.rule}: {visible(finding.message)}"


def _place(source: Source, offset: int) -> str:
    line, column, _ = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return f"{line}:{column + sum(ord(character) > 0xFFFF for character in before)}"
