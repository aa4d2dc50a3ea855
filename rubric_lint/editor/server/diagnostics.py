"""Convert findings to diagnostics."""

from functools import cache
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter

from rubric_lint.editor.server.analysis import Analysis, State
from rubric_lint.editor.server.workspace import When, uri_of
from rubric_lint.model.finding import Finding, Severity, Unread
from rubric_lint.model.messages import visible
from rubric_lint.rules import BY_NAME
from rubric_lint.source.source import Kind, Span, kind_of

_converter = cache(get_converter)

SOURCE = "rubric-lint"
"""The source of the diagnostics, as editors show it."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    # Visual Studio Code shows hints of servers nearly nowhere: three dots, and not among the problems.
    Severity.HINT: types.DiagnosticSeverity.Information,
}
_TAGS = {
    "deprecated-description": types.DiagnosticTag.Deprecated,
    "deprecated-required": types.DiagnosticTag.Deprecated,
    "unused-ignore": types.DiagnosticTag.Unnecessary,
}


def write_diagnostics(analysis: Analysis, *, shape_errors: When, schema_server: bool) -> list[dict[str, Any]]:
    """Return the diagnostics of a document, leaving out those of another server if the settings say so."""
    state = analysis.state
    if analysis.notice:  # at the top, so that a document that was not linted does not look clean
        notice = _write_unchecked(state, Span(0, 0), analysis.notice, types.DiagnosticSeverity.Error)
        if state.obstacle_file:
            start = {"line": 0, "character": 0}
            location = {"uri": uri_of(state.obstacle_file), "range": {"start": start, "end": start}}
            notice["relatedInformation"] = [{"location": location, "message": "these settings"}]
        return [notice]
    found = [
        _write_finding(state, finding)
        for finding in analysis.findings
        if not _is_left_out(analysis, finding, shape_errors, schema_server=schema_server)
    ]
    return [*found, *(_write_unchecked(state, span, unread.reason) for span, unread in analysis.find_near_misses())]


def _write_unchecked(
    state: State,
    span: Span,
    reason: str,
    severity: types.DiagnosticSeverity = types.DiagnosticSeverity.Information,
) -> dict[str, Any]:
    """Return the diagnostic of what was not checked, which is not a finding; by its severity that of a near miss."""
    return {
        "range": state.text.write_range(span),
        "message": f"not checked: {visible(reason)}",
        "severity": severity.value,
        "source": SOURCE,
    }


def _write_finding(state: State, finding: Finding) -> dict[str, Any]:
    """Return the diagnostic of a finding as the protocol has it; a long file may have thousands."""
    rule = BY_NAME[finding.rule]
    found: dict[str, Any] = {
        "range": state.text.write_range(finding.span),
        "message": visible(finding.message),
        "severity": _SEVERITIES[finding.severity].value,
        "code": finding.rule,
        "codeDescription": {"href": rule.url},
        "source": SOURCE,
        "data": {"code": finding.code},  # `code` is the rule, which editors show and link to its page
    }
    if finding.rule in _TAGS:
        found["tags"] = [_TAGS[finding.rule].value]
    if finding.related:
        found["relatedInformation"] = [
            {
                "location": {"uri": state.uri, "range": state.text.write_range(place.span)},
                "message": visible(place.message),
            }
            for place in finding.related
        ]
    return found


def make_diagnostic(state: State, finding: Finding | tuple[Span, Unread]) -> types.Diagnostic:
    """Convert a finding, or a near miss with its place, to a diagnostic."""
    if isinstance(finding, Finding):
        written = _write_finding(state, finding)
    else:
        written = _write_unchecked(state, finding[0], finding[1].reason)
    found: types.Diagnostic = _converter().structure(written, types.Diagnostic)
    return found


def _is_left_out(analysis: Analysis, finding: Finding, shape_errors: When, *, schema_server: bool) -> bool:
    """Return whether the settings hide a finding, or a YAML server that runs with ours is sure to report the same.

    With `auto`, only its parser reports something, because our schema for it has no constraints.
    """
    is_yaml = kind_of(analysis.state.name) is Kind.YAML
    if shape_errors == "always" or (shape_errors == "auto" and not (schema_server and is_yaml)):
        return False
    if finding.rule == "duplicate-key":  # the other parser compares keys as they are written
        spans = [finding.span, *(place.span for place in finding.related)]
        return is_yaml and len({analysis.source.slice(span) for span in spans}) == 1
    return shape_errors == "never" and (finding.code, finding.span) in analysis.shape_findings
