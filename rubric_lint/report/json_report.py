"""Write the JSON report, as `schemas/report/v1.json` describes it."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from rubric_lint.messages import whole
from rubric_lint.report.base import Style, Write
from rubric_lint.report.portable import dump
from rubric_lint.run.summary import Reporter

if TYPE_CHECKING:
    from rubric_lint.edits.intents import Fix
    from rubric_lint.finding import Finding, Result
    from rubric_lint.run.summary import Summary
    from rubric_lint.text.source import Source, Span

VERSION = 1
_COUNTS = ("files", "files_with_rubrics", "rubrics", "criteria", "errors", "warnings", "ignored")
_RARE_COUNTS = (
    "hints",
    *("known", "untouched", "unchanged_files", "passed_over", "outside"),
    *("other_kinds", "excluded_files", "excluded_folders", "unread", "near_misses", "tests", "passed", "failed"),
)


class Json(Reporter):
    """Write one JSON object with a line per finding, in ASCII, which every stdout encoding supports."""

    def __init__(self, write: Write, _look: Style) -> None:
        self._write = write
        self._findings: list[str] = []
        self._unread: list[tuple[tuple[bool, int], str]] = []

    def add(self, result: Result) -> None:
        """Keep the findings of one file as text, because the summary is written before them."""
        self._findings.extend(dump(_finding(result.source, finding)) for finding in result.findings)
        self._unread.extend((each.rank, dump(each.to_json(whole(result.source.name)))) for each in result.unread)

    def end(self, summary: Summary) -> None:
        """Write the object."""
        self._write(f'{{"version": {VERSION},\n "summary": {dump(count_all(summary))},\n')
        if summary.review:
            self._write(f' "review": {dump(dict(summary.review))},\n')
        self._write(' "findings": [')
        self._write_items(self._findings)
        if self._unread:
            self._write('],\n "unread": [')
            self._write_items([item for _, item in sorted(self._unread, key=itemgetter(0))])
        self._write("]}\n")

    def _write_items(self, items: list[str]) -> None:
        for number, item in enumerate(items):
            self._write(f"{',' if number else ''}\n  {item}")


def count_all(summary: Summary) -> dict[str, int]:
    """Return the counts of a run as reports have them: some of them only if they are not 0."""
    named = {name: getattr(summary, name) for name in (*_COUNTS, *_RARE_COUNTS)}
    return {name: count for name, count in named.items() if count or name in _COUNTS}


def _finding(source: Source, finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "code": finding.code,
        "severity": finding.severity.value,
        "message": whole(finding.message),
        "file": whole(source.name),
        **_span_data(source, finding.span),
        "path": whole(finding.pointer),
        "related": [
            {
                "message": whole(place.message),
                "file": whole((place.source or source).name),
                **_span_data(place.source or source, place.span),
            }
            for place in finding.related
        ],
        "fix": _fix_data(source, finding.fix) if finding.fix else None,
        **({"choices": [_choice_data(source, fix) for fix in finding.choices]} if finding.choices else {}),
    }


def _fix_data(source: Source, fix: Fix) -> dict[str, Any]:
    edits = [{**_span_data(source, edit.span), "text": whole(edit.text)} for edit in fix.edits]
    return {"title": whole(fix.title), "safe": fix.safe, "edits": edits}


def _choice_data(source: Source, fix: Fix) -> dict[str, Any]:
    return {"name": fix.choice, **_fix_data(source, fix)}


def _span_data(source: Source, span: Span) -> dict[str, dict[str, int]]:
    return {"start": source.position(span.start)._asdict(), "end": source.position(span.end)._asdict()}
