"""Write findings in the formats that programs read: JSON, SARIF, GitHub, GitLab, JUnit, coding agents and VS Code."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from hashlib import blake2b
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from rubric_lint.lint.project.repository import repository_path
from rubric_lint.lint.run import fingerprint
from rubric_lint.lint.run.summary import Failure, NearMisses, format_severities
from rubric_lint.model.finding import Severity, list_fixes
from rubric_lint.model.messages import HOME, counted, visible, visible_json, whole
from rubric_lint.model.suggest import suggest
from rubric_lint.report.terminal import Style, Write, dump
from rubric_lint.report.text import Concise, StyledReporter
from rubric_lint.rules import BY_NAME
from rubric_lint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rubric_lint.lint.run.summary import Summary
    from rubric_lint.model.finding import Finding, Result
    from rubric_lint.source.edits.intents import Fix
    from rubric_lint.source.source import Source, Span


def _range(source: Source, span: Span) -> tuple[int, int, int, int]:
    """Return the first line and column of a span, and the last: 1-based and in code points, the last one exclusive."""
    start, end = source.position(span.start), source.position(span.end)
    return start.line, start.column, end.line, end.column


VERSION = 1
"""The version of the JSON report, as `schemas/report/v1.json` describes it."""

_COUNTS = ("files", "files_with_rubrics", "rubrics", "criteria", "errors", "warnings", "ignored")
_RARE_COUNTS = (
    "hints",
    "known",
    "untouched",
    "unchanged_files",
    "passed_over",
    "outside",
    "other_kinds",
    "excluded_files",
    "excluded_folders",
    "unread",
    "near_misses",
    "tests",
    "passed",
    "failed",
)


class Json(StyledReporter):
    """Write one JSON object with a line per finding."""

    def __init__(self, write: Write, look: Style) -> None:
        super().__init__(write, look)
        self._findings: list[str] = []
        self._unread: list[tuple[tuple[bool, int], str]] = []

    def add(self, result: Result) -> None:
        """Keep the findings of one file as text, because the summary is written before them."""
        self._findings.extend(dump(_describe_finding(result.source, finding)) for finding in result.findings)
        self._unread.extend((unread.rank, dump(unread.to_json(whole(result.source.name)))) for unread in result.unread)

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
            if number:
                self._write(",")
            self._write(f"\n  {item}")


def count_all(summary: Summary) -> dict[str, int]:
    """Return the counts of a run as reports have them: some of them only if they are not 0."""
    named = {name: getattr(summary, name) for name in _COUNTS + _RARE_COUNTS}
    return {name: count for name, count in named.items() if count or name in _COUNTS}


def _describe_finding(source: Source, finding: Finding) -> dict[str, Any]:
    related = []
    for place in finding.related:
        file = place.source or source
        related.append({"message": whole(place.message), "file": whole(file.name), **_describe_span(file, place.span)})
    described = {
        "rule": finding.rule,
        "code": finding.code,
        "severity": finding.severity.value,
        "message": whole(finding.message),
        "file": whole(source.name),
        **_describe_span(source, finding.span),
        "path": whole(finding.pointer),
        "related": related,
        "fix": _describe_fix(source, finding.fix) if finding.fix else None,
    }
    if finding.choices:
        described["choices"] = [{"name": fix.choice, **_describe_fix(source, fix)} for fix in finding.choices]
    return described


def _describe_span(source: Source, span: Span) -> dict[str, Any]:
    return {"start": source.position(span.start)._asdict(), "end": source.position(span.end)._asdict()}


def _describe_fix(source: Source, fix: Fix) -> dict[str, Any]:
    edits = [{**_describe_span(source, edit.span), "text": whole(edit.text)} for edit in fix.edits]
    return {"title": whole(fix.title), "safe": fix.safe, "edits": edits}


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_ROOT = "%SRCROOT%"
"""The name that SARIF readers expect for the repository root, to which paths are relative.

A report does not say where that is: another machine has the repository elsewhere.
"""

_BEGIN = f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{{\n  "results": ['

_LONGEST_SNIPPET = 1000
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
_PRIORITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "recommendation"}
"""The levels of SARIF, and those of GitHub's code scanning."""


class Sarif(StyledReporter):
    """Write one run of SARIF 2.1.0 piece by piece: one line per result, then the tool with their rules."""

    _before = _BEGIN

    def __init__(self, write: Write, look: Style) -> None:
        super().__init__(write, look)
        self._rules: dict[str, int] = {}
        self._notifications: list[dict[str, Any]] = []
        self._near = NearMisses()

    def add(self, result: Result) -> None:
        """Write the findings of one file, and keep its near misses."""
        self._near.add(result.source.name, result.unread)
        if not result.findings:
            return
        file = _locate_file(result.source.name)
        for finding, mark in zip(result.findings, fingerprint.fingerprints(result), strict=True):
            index = self._rules.setdefault(finding.rule, len(self._rules))
            described = _describe_result(result.source, file, finding, mark) | {"ruleIndex": index}
            self._write(f"{self._before}\n    {dump(described)}")
            self._before = ","

    def fail(self, failure: Failure) -> None:
        """Keep a notification for a file that was not linted."""
        kind = "fault" if failure.is_fault else "unreadable"
        place = {"artifactLocation": _locate_file(failure.file)}
        self._notify(kind, "error", f"not linted: {whole(failure.reason)}", place)

    def _notify(self, kind: str, level: str, text: str, place: dict[str, Any]) -> None:
        about = {"descriptor": {"id": kind}, "level": level, "message": {"text": text}}
        self._notifications.append({**about, "locations": [{"physicalLocation": place}]})

    def end(self, _summary: Summary) -> None:
        """Write the tool, and the invocation with notifications on near misses; close the run."""
        if self._before == _BEGIN:
            self._write(_BEGIN)
        # Near misses are added afterwards: the run succeeds with them.
        invocation: dict[str, Any] = {"executionSuccessful": not self._notifications}
        for near_miss in self._near:
            region = {"startLine": near_miss.unread.line, "startColumn": near_miss.unread.column}
            place = {"artifactLocation": _locate_file(near_miss.file), "region": region}
            self._notify("unread", "note", f"not checked: {whole(near_miss.reason)}", place)
        if self._notifications:
            invocation["toolExecutionNotifications"] = self._notifications
        described = _describe_run(self._rules) | {"invocations": [invocation]}
        members = ",\n  ".join(f"{dump(name)}: {dump(value)}" for name, value in described.items())
        self._write(f"\n  ],\n  {members}\n}}]}}\n")


def _describe_run(names: Iterable[str]) -> dict[str, Any]:
    """Return the members of a run that follow its results: the tool with the rules of these names, and the notation."""
    rules = []
    for rule in map(BY_NAME.__getitem__, names):
        why = rule.page.partition("## Why\n\n")[2].partition("\n\n")[0].replace("\n", " ")
        properties = {"problem.severity": _PRIORITIES[rule.severity]}
        if rule.fix:
            properties["fix"] = rule.fix
        rules.append(
            {
                "id": rule.name,
                "shortDescription": {"text": rule.summary},
                "fullDescription": {"text": why},
                "help": {"text": rule.page, "markdown": rule.page},
                "helpUri": rule.url,
                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                "properties": properties,
            }
        )
    notifications = {
        "unreadable": "A file that could not be read.",
        "fault": "A file on which the tool crashed.",
        "unread": "What looks like a rubric but was not checked.",
    }
    driver = {
        "name": "rubric-lint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": rules,
        "notifications": [{"id": name, "shortDescription": {"text": text}} for name, text in notifications.items()],
    }
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\r", "\n"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
    }


def _describe_result(source: Source, file: dict[str, str], finding: Finding, mark: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": whole(finding.message)},
        "locations": [_locate(source, file, finding.span)],
        "partialFingerprints": {f"rubricLint/v{fingerprint.VERSION}": mark},
        "properties": {"code": finding.code},
    }
    if finding.pointer:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": whole(finding.pointer)}]
    related = []
    for number, place in enumerate(finding.related, start=1):
        other, other_file = source, file
        if place.source:
            other, other_file = place.source, _locate_file(place.source.name)
        message = {"text": whole(place.message)}
        related.append({"id": number, "message": message, **_locate(other, other_file, place.span)})
    if related:
        result["relatedLocations"] = related
    fixes = [_describe_sarif_fix(source, file, fix) for fix in list_fixes(finding)]
    if fixes:
        result["fixes"] = fixes
    return result


def _describe_sarif_fix(source: Source, file: dict[str, str], fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _describe_region(source, edit.span), "insertedContent": {"text": whole(edit.text)}}
        for edit in fix.edits
    ]
    properties: dict[str, Any] = {"safe": fix.safe}
    if fix.choice:
        properties["choice"] = fix.choice
    return {
        "description": {"text": whole(fix.title)},
        "artifactChanges": [{"artifactLocation": file, "replacements": replacements}],
        "properties": properties,
    }


def _locate(source: Source, file: dict[str, str], span: Span) -> dict[str, Any]:
    region: dict[str, Any] = _describe_region(source, span)
    if span.end - span.start <= _LONGEST_SNIPPET:
        region["snippet"] = {"text": whole(source.slice(span))}
    return {"physicalLocation": {"artifactLocation": file, "region": region}}


def _describe_region(source: Source, span: Span) -> dict[str, int]:
    start, end = source.position(span.start), source.position(span.end)
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _locate_file(name: str) -> dict[str, str]:
    path = repository_path(name)
    if PurePath(path).is_absolute():
        return {"uri": PurePath(path).as_uri()}
    # Bytes, as the name of a file need not be UTF-8.
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}


SHOWN = 10
"""How many errors, how many warnings and how many notices GitHub shows per step; the log contains all of them."""

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


class GitHub(StyledReporter):
    """Write GitHub Actions annotations: workflow commands on stdout that GitHub shows next to the code.

    Each message begins with the place, because the log shows nothing else.
    """

    def __init__(self, write: Write, look: Style) -> None:
        super().__init__(write, look)
        self._counts: Counter[str] = Counter()
        self._near = NearMisses()

    def add(self, result: Result) -> None:
        """Write the findings of one file, and keep its near misses."""
        self._near.add(result.source.name, result.unread)
        path = repository_path(result.source.name) if result.findings else ""
        for finding in result.findings:
            line, column, end_line, end_column = _range(result.source, finding.span)
            place = {"line": line, "endLine": end_line}
            if line == end_line:  # GitHub supports columns only within one line
                place |= {"col": column, "endColumn": end_column}
            message = f"{path}:{line}:{column}: {finding.rule}: {finding.message}"
            kind = _KINDS[finding.severity]
            self._write_command(kind, message, file=path, **place, title=f"rubric-lint: {finding.rule}")

    def fail(self, failure: Failure) -> None:
        """Write an error for a file that was not linted."""
        path = repository_path(failure.file)
        self._write_command("error", f"{path}: {failure.reason}", file=path, title="rubric-lint")

    def end(self, summary: Summary) -> None:
        """Write notices on near misses, how many findings GitHub does not show next to the code, and the summary."""
        for near_miss in self._near:
            path, (_, line, column, *_) = repository_path(near_miss.file), near_miss.unread
            message = f"{path}:{line}:{column}: not checked: {near_miss.reason}"
            place: dict[str, str | int] = {"file": path, "line": line, "col": column}
            self._write_command("notice", message, **place, title="rubric-lint: not checked")
        hidden = [counted(count, kind) for kind, count in self._counts.items() if count > SHOWN]
        if hidden:
            message = (
                f"GitHub shows only {SHOWN} errors and {SHOWN} warnings per step next to the code. This step has "
                f"{' and '.join(hidden)}; see its log or a SARIF file for all of them"
            )
            self._write_command("notice", message, title="rubric-lint")
        if not self._look.quiet:
            self._write(f"{summary}\n")

    def _write_command(self, kind: str, message: str, **properties: str | int) -> None:
        """Write a workflow command on one line (`visible` escapes line ends): a new line could start another one."""
        self._counts[kind] += 1
        listed = [
            f"{name}={visible(str(value)).replace('%', '%25').replace(':', '%3A').replace(',', '%2C')}"
            for name, value in properties.items()
        ]
        self._write(f"::{kind} {','.join(listed)}::{visible(message).replace('%', '%25')}\n")


_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.HINT: "info"}


class GitLab(StyledReporter):
    """Write GitLab's code quality report: one JSON list with an item per finding."""

    _before = "["

    def add(self, result: Result) -> None:
        """Write the findings of one file, then its near misses, one for each reason."""
        path = whole(repository_path(result.source.name)) if result.findings or result.unread else ""
        for finding, mark in zip(result.findings, fingerprint.fingerprints(result), strict=True):
            line, column, end_line, end_column = _range(result.source, finding.span)
            place = {
                "lines": {"begin": line, "end": end_line},
                "positions": {
                    "begin": {"line": line, "column": column},
                    "end": {"line": end_line, "column": end_column},
                },
            }
            severity = _SEVERITIES[finding.severity]
            self._add(finding.rule, finding.message, severity, mark, {"path": path, **place})
        near = NearMisses()
        near.add(path, result.unread)
        for near_miss in near:
            place = {"path": path, "lines": {"begin": near_miss.unread.line, "end": near_miss.unread.line}}
            mark = _mark_note("unread", path, near_miss.unread.reason)
            self._add("unread", f"not checked: {near_miss.reason}", "info", mark, place)

    def fail(self, failure: Failure) -> None:
        """Write an item for a file that was not linted."""
        name, severity = ("fault", "blocker") if failure.is_fault else ("unreadable", "critical")
        path = whole(repository_path(failure.file))
        mark = _mark_note(name, path, failure.reason)
        place = {"path": path, "lines": {"begin": 1, "end": 1}}
        self._add(name, f"not linted: {failure.reason}", severity, mark, place)

    def end(self, _summary: Summary) -> None:
        """Close the list."""
        end = "[]\n" if self._before == "[" else "\n]\n"
        self._write(end)

    def _add(self, name: str, text: str, severity: str, mark: str, place: dict[str, Any]) -> None:
        item = {
            "description": whole(text),
            "check_name": f"rubric-lint/{name}",
            "fingerprint": mark,
            "severity": severity,
            "location": place,
        }
        self._write(f"{self._before}\n  {dump(item)}")
        self._before = ","


def _mark_note(name: str, path: str, reason: str) -> str:
    """Return the fingerprint of what is no finding; it depends on the file and the reason, not on the line."""
    return blake2b(f"{name}\0{path}\0{whole(reason)}".encode(), digest_size=16).hexdigest()


_OF_TEST = re.compile(r"/tests/(\d+)(?:/|$)")
"""The pointer of a finding in a rubric test, with the number of the test."""


class JUnit(StyledReporter):
    """Write JUnit XML for systems that show test results, with one case for each rubric test and any other file.

    The head of the suite has totals, so the cases are kept as text until the end.
    """

    def __init__(self, write: Write, look: Style) -> None:
        super().__init__(write, look)
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
            test_number = int(found[1]) if found else None
            by_test.setdefault(test_number, []).append(finding)
        if None in by_test or not result.tested:
            near = NearMisses()
            near.add(visible(name), result.unread)
            notes = [f"{near_miss.place}: not checked: {near_miss.reason}" for near_miss in near]
            self._add_case(result, name, "rubric-lint", by_test.get(None, ()), notes)
        for number, test in enumerate(result.tested):
            self._add_case(result, test, name, by_test.get(number, ()))

    def _add_case(
        self, result: Result, name: str, owner: str, findings: Sequence[Finding], notes: Sequence[str] = ()
    ) -> None:
        """Keep a case: passed, or one failure with all findings, because most readers show only one.

        Hints alone do not fail it; they are its output, and so are `notes` on what was not checked. A file with nothing
        else was skipped.
        """
        output = ""
        if notes:
            output = _write_element("system-out", notes)
        if not findings and notes and not result.rubrics:
            output = f"<skipped message={_quote(notes[0])}/>{output}"
        if not findings:
            self._keep_case(name, owner, output)
            return
        file = visible(repository_path(result.source.name))
        lines = []
        for finding in findings:
            line, column, *_ = _range(result.source, finding.span)
            lines.append(f"{file}:{line}:{column} {finding.severity} {finding.rule}: {finding.message}")
        severities = [finding.severity for finding in findings]
        errors, warnings, hints = (severities.count(severity) for severity in Severity)
        if not errors and not warnings:
            self._keep_case(name, owner, _write_element("system-out", [*lines, *notes]))
            return
        self._failures += 1
        kind = "error" if errors else "warning"
        message = format_severities(errors, warnings, hints)
        self._keep_case(name, owner, _write_element("failure", lines, kind, message) + output)

    def fail(self, failure: Failure) -> None:
        """Keep the case of a file that was not linted, as an error rather than a failure."""
        self._errors += 1
        kind = "fault" if failure.is_fault else "unreadable"
        element = _write_element("error", [failure.reason], kind, failure.reason)
        self._keep_case(repository_path(failure.file), "rubric-lint", element)

    def _keep_case(self, name: str, owner: str, outcome: str) -> None:
        case = f"  <testcase classname={_quote(owner)} name={_quote(name)}"
        if outcome:
            case += f">\n    {outcome}\n  </testcase>\n"
        else:
            case += "/>\n"
        self._cases.append(case)

    def end(self, _summary: Summary) -> None:
        """Write the document."""
        counts = f'name="rubric-lint" tests="{len(self._cases)}" failures="{self._failures}" errors="{self._errors}"'
        self._write(f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {counts}>\n<testsuite {counts}>\n')
        for case in self._cases:
            # ASCII is valid UTF-8, as declared, in every encoding of stdout.
            self._write(case.encode("ascii", "xmlcharrefreplace").decode())
        self._write("</testsuite>\n</testsuites>\n")


def _write_element(element: str, lines: Iterable[str], kind: str = "", message: str = "") -> str:
    text = "\n".join(escape(_legal(line)) for line in lines)
    attributes = f" type={_quote(kind)} message={_quote(message)}" if kind else ""
    return f"<{element}{attributes}>{text}</{element}>"


def _quote(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    """Return the text without what XML forbids, including two noncharacters that `visible` keeps."""
    return visible(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")


LONGEST = 400
"""The most characters that the edits of a fix, before and after, may have to be written in its line.

A larger fix moves or rewrites whole blocks; `rubric-lint fix` makes it more reliably than an agent that copies it.
"""


class AgentLines(Concise):
    """Write one line per finding for coding agents, with the exact edit of its fix.

    `file:line:column severity rule: message`, then in brackets the fix, its edits and whether it is safe.
    """

    def word(self, source: Source, finding: Finding) -> str:
        """Return the line of a finding."""
        line, column, *_ = _range(source, finding.span)
        head = f"{visible(source.name)}:{line}:{column} {finding.severity} {finding.rule}: {visible(finding.message)}"
        fixes = [f" [{_format_fix(source, fix)}]" for fix in list_fixes(finding)]
        obstacle = f" [not fixable: {visible(finding.obstacle)}]" if finding.obstacle else ""
        return f"{head}{''.join(fixes)}{obstacle}"


def _format_fix(source: Source, fix: Fix) -> str:
    """Return the title of a fix and its edits, or where they are if they are too long for a line."""
    kind = "safe fix" if fix.safe else "unsafe fix"
    if fix.choice:
        kind = f"choice {fix.choice}"
    changes = []
    for edit in fix.edits:  # texts are JSON strings, and the end of a range is exclusive
        line, column, end_line, end_column = _range(source, edit.span)
        old, new = (visible_json(json.dumps(text, ensure_ascii=False)) for text in (source.slice(edit.span), edit.text))
        place = f"{line}:{column}-{end_line}:{end_column}"
        if edit.span.start == edit.span.end:
            changes.append(f"insert {new} at {line}:{column}")
        elif edit.text:
            changes.append(f"replace {old} at {place} with {new}")
        else:
            changes.append(f"delete {old} at {place}")
    edits = "; ".join(changes)
    size = sum(edit.span.end - edit.span.start + len(edit.text) for edit in fix.edits)
    if size > LONGEST:
        is_unsafe = not (fix.safe or fix.choice)
        command = suggest("fix", source.name, unsafe_fixes=is_unsafe, choose=fix.choice or None)
        edits = f"{size} characters of edits; `{command}` makes them, --format json shows them"
    return f"{kind}: {visible(fix.title)}: {edits}"


class VSCode(Concise):
    """Write one line per finding for the problem matcher of the VS Code extension, without color.

    `file:line:column-line:column severity rule: message`. Columns count UTF-16 units, as the editor does, so a place
    after an emoji is right.
    """

    def word(self, source: Source, finding: Finding) -> str:
        """Return the line of a finding."""
        places = []
        for offset in finding.span:
            line, column, _ = source.position(offset)
            before = source.text[offset - column + 1 : offset]
            places.append(f"{line}:{column + sum(ord(character) > 0xFFFF for character in before)}")
        place = f"{visible(source.name)}:{'-'.join(places)}"
        return f"{place} {finding.severity} {finding.rule}: {visible(finding.message)}"
