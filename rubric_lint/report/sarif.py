"""Write SARIF 2.1.0 for code scanning: one run with rule pages, fixes and fingerprints."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rubric_lint.finding import Severity
from rubric_lint.messages import HOME, whole
from rubric_lint.project.repository import find_root, repository_path
from rubric_lint.report.base import Style, Write
from rubric_lint.report.portable import Range, dump
from rubric_lint.rules import RULES
from rubric_lint.run.fingerprint import VERSION, fingerprints
from rubric_lint.run.summary import Failure, NearMisses, Noted, Reporter
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from rubric_lint.edits.intents import Fix
    from rubric_lint.finding import Finding, Related, Result
    from rubric_lint.rules.rule import Rule
    from rubric_lint.run.summary import Summary
    from rubric_lint.text.source import Source, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_ROOT = "%SRCROOT%"
"""The name that SARIF readers expect for the repository root, to which paths are relative."""

_INDEX = {rule.name: index for index, rule in enumerate(RULES)}
_LONGEST_SNIPPET = 1000

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
_PRIORITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "recommendation"}
"""The levels of SARIF, and those of GitHub's code scanning."""


class Sarif(Reporter):
    """Write one run piece by piece: the tool, then one line per result, then the invocation."""

    def __init__(self, write: Write, _look: Style) -> None:
        self._write = write
        self._before = ""
        self._notifications: list[dict[str, Any]] = []
        self._near = NearMisses()

    def add(self, result: Result) -> None:
        """Write the findings of one file, and keep its near misses."""
        self._near.add(result.source.name, result.unread)
        if not result.findings:
            return
        file = _file(result.source.name)
        for finding, fingerprint in zip(result.findings, fingerprints(result), strict=True):
            self._next()
            self._write(dump(_result(result.source, file, finding, fingerprint)))

    def fail(self, failure: Failure) -> None:
        """Keep a notification for a file that was not linted."""
        self._notifications.append(
            {
                "descriptor": {"id": "fault" if failure.is_fault else "unreadable"},
                "level": "error",
                "message": {"text": f"not linted: {whole(failure.reason)}"},
                "locations": [{"physicalLocation": {"artifactLocation": _file(failure.file)}}],
            }
        )

    def end(self, _summary: Summary) -> None:
        """Write the invocation and close the run."""
        if not self._before:
            self._write(_head())
        invocation: dict[str, Any] = {"executionSuccessful": not self._notifications}
        if notifications := [*self._notifications, *map(_note, self._near)]:
            invocation["toolExecutionNotifications"] = notifications
        self._write(f'\n  ],\n  "invocations": {dump([invocation])}\n}}]}}\n')

    def _next(self) -> None:
        self._write(self._before or _head())
        self._write("\n    ")
        self._before = ","


def _note(near: Noted) -> dict[str, Any]:
    """Return the notification on near misses."""
    region = {"startLine": near.unread.line, "startColumn": near.unread.column}
    return {
        "descriptor": {"id": "unread"},
        "level": "note",
        "message": {"text": f"not checked: {whole(near.reason)}"},
        "locations": [{"physicalLocation": {"artifactLocation": _file(near.file), "region": region}}],
    }


def _head() -> str:
    root = PurePath(find_root()).as_uri().rstrip("/") + "/"
    told = {
        "tool": {
            "driver": {
                "name": "rubric-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": HOME,
                "rules": [_rule(rule) for rule in RULES],
                "notifications": [
                    {"id": "unreadable", "shortDescription": {"text": "A file that could not be read."}},
                    {
                        "id": "fault",
                        "shortDescription": {"text": "A file on which the tool crashed."},
                    },
                    {"id": "unread", "shortDescription": {"text": "What looks like a rubric but was not checked."}},
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\r", "\n"],
        "originalUriBaseIds": {_ROOT: {"uri": root, "description": {"text": "The root of the repository."}}},
    }
    members = ",\n  ".join(f"{dump(name)}: {dump(value)}" for name, value in told.items())
    return f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{\n  {members},\n  "results": ['


def _rule(rule: Rule) -> dict[str, Any]:
    page = rule.page
    why = page.partition("## Why\n\n")[2].partition("\n\n")[0].replace("\n", " ")
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": why},
        "help": {"text": page, "markdown": page},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"problem.severity": _PRIORITIES[rule.severity], **({"fix": rule.fix} if rule.fix else {})},
    }


def _result(source: Source, file: dict[str, str], finding: Finding, fingerprint: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": whole(finding.message)},
        "locations": [_location(source, file, finding.span)],
        "partialFingerprints": {f"rubricLint/v{VERSION}": fingerprint},
        "properties": {"code": finding.code},
    }
    if finding.pointer:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": whole(finding.pointer)}]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": whole(place.message)}, **_locate(source, file, place)}
            for number, place in enumerate(finding.related, start=1)
        ]
    if fixes := [*([finding.fix] if finding.fix else []), *finding.choices]:
        result["fixes"] = [_fix_data(source, file, fix) for fix in fixes]
    return result


def _fix_data(source: Source, file: dict[str, str], fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(source, edit.span), "insertedContent": {"text": whole(edit.text)}}
        for edit in fix.edits
    ]
    return {
        "description": {"text": whole(fix.title)},
        "artifactChanges": [{"artifactLocation": file, "replacements": replacements}],
        "properties": {"safe": fix.safe, **({"choice": fix.choice} if fix.choice else {})},
    }


def _locate(source: Source, file: dict[str, str], place: Related) -> dict[str, Any]:
    """Return the location of a related place, which may be in another file."""
    if place.source is None:
        return _location(source, file, place.span)
    return _location(place.source, _file(place.source.name), place.span)


def _location(source: Source, file: dict[str, str], span: Span) -> dict[str, Any]:
    region: dict[str, Any] = _region(source, span)
    if span.end - span.start <= _LONGEST_SNIPPET:
        region["snippet"] = {"text": whole(source.slice(span))}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}


def _region(source: Source, span: Span) -> dict[str, int]:
    at = Range.of(source, span)
    return {
        "startLine": at.line,
        "startColumn": at.column,
        "endLine": at.end_line,
        "endColumn": at.end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _file(name: str) -> dict[str, str]:
    path = repository_path(name)
    if PurePath(path).is_absolute():
        return {"uri": PurePath(path).as_uri()}
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}
