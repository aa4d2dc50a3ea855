"""Write one line per finding for coding agents, with the exact edit of its fix."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rubric_lint.messages import visible, visible_json
from rubric_lint.report.base import Style, Write
from rubric_lint.run.summary import Reporter

if TYPE_CHECKING:
    from rubric_lint.edits.intents import Fix
    from rubric_lint.finding import Finding, Result
    from rubric_lint.run.summary import Summary
    from rubric_lint.text.source import Edit, Source

LONGEST = 400
"""The most characters that the edits of a fix, before and after, may have to be written in its line.

A larger fix moves or rewrites whole blocks; `rubric-fix` makes it more reliably than an agent that copies it.
"""


class Agent(Reporter):
    """Write `file:line:column severity rule: message`, then in brackets the fix, its edits and whether it is safe."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        if result.findings:
            self._write("".join(f"{_line(result.source, finding)}\n" for finding in result.findings))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        if not self._look.quiet:
            self._write(f"{summary}\n")


def _line(source: Source, finding: Finding) -> str:
    words = f"{finding.severity} {finding.rule}: {visible(finding.message)}"
    fix = f" [{_word(source, finding.fix)}]" if finding.fix else ""
    fix += "".join(f" [{_word(source, choice)}]" for choice in finding.choices)
    obstacle = f" [not fixable: {visible(finding.obstacle)}]" if finding.obstacle else ""
    return f"{visible(source.name)}:{_place(source, finding.span.start)} {words}{fix}{obstacle}"


def _word(source: Source, fix: Fix) -> str:
    """Return the title of a fix and its edits, or where they are if they are too long for a line."""
    kind = f"choice {fix.choice}" if fix.choice else "safe fix" if fix.safe else "unsafe fix"
    size = sum(edit.span.end - edit.span.start + len(edit.text) for edit in fix.edits)
    if size > LONGEST:
        command = "rubric-fix" if fix.safe else f"rubric-fix {_option(fix)}"
        edits = f"{size} characters of edits; `{command}` makes them, --format json shows them"
    else:
        edits = "; ".join(_word_edit(source, edit) for edit in fix.edits)
    return f"{kind}: {visible(fix.title)}: {edits}"


def _option(fix: Fix) -> str:
    return f"--choose {fix.choice}" if fix.choice else "--unsafe-fixes"


def _word_edit(source: Source, edit: Edit) -> str:
    """Return an edit in words; texts are JSON strings, and the end of a range is exclusive."""
    start, end = edit.span
    if start == end:
        return f"insert {_quote(edit.text)} at {_place(source, start)}"
    at = f"{_quote(source.text[start:end])} at {_place(source, start)}-{_place(source, end)}"
    return f"replace {at} with {_quote(edit.text)}" if edit.text else f"delete {at}"


def _place(source: Source, offset: int) -> str:
    line, column, _ = source.position(offset)
    return f"{line}:{column}"


def _quote(text: str) -> str:
    return visible_json(json.dumps(text, ensure_ascii=False))
