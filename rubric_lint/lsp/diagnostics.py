"""Findings as diagnostics."""

from functools import cache

from lsprotocol import types

from rubric_lint.finding import Finding, Severity
from rubric_lint.locate import find_claim
from rubric_lint.lsp.analysis import Analysis, State
from rubric_lint.lsp.options import When
from rubric_lint.lsp.workspace import uri_of
from rubric_lint.report.visible import visible
from rubric_lint.rules import BY_NAME
from rubric_lint.source import Span

SOURCE = "rubric-lint"
"""Who says it, as editors show it."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}
_TAGS = {
    "deprecated-description": types.DiagnosticTag.Deprecated,
    "deprecated-required": types.DiagnosticTag.Deprecated,
    "unused-ignore": types.DiagnosticTag.Unnecessary,
}


def make_diagnostics(analysis: Analysis, *, shape_errors: When, schema_server: bool) -> list[types.Diagnostic]:
    """Return the diagnostics of a document, without those that another server has, as far as that is wanted."""
    if analysis.notice:
        return [_word_notice(analysis)]
    return [
        make_diagnostic(analysis.state, finding)
        for finding in analysis.findings
        if not _is_left_out(analysis, finding, shape_errors, schema_server=schema_server)
    ]


def make_diagnostic(state: State, finding: Finding) -> types.Diagnostic:
    """One finding as a diagnostic."""
    text = state.text
    return types.Diagnostic(
        range=text.range(finding.span),
        message=visible(finding.message),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(_page_uri(finding.rule)),
        source=SOURCE,
        tags=[_TAGS[finding.rule]] if finding.rule in _TAGS else None,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(state.uri, text.range(place.span)), visible(place.message)
            )
            for place in finding.related
        ]
        or None,
    )


def _word_notice(analysis: Analysis) -> types.Diagnostic:
    """What stands at the top of a document that was not looked at: no findings must not mean no faults."""
    top = analysis.state.text.range(Span(0, 0))
    file = analysis.state.obstacle_file
    place = types.Location(uri_of(file), types.Range(types.Position(0, 0), types.Position(0, 0)))
    return types.Diagnostic(
        range=top,
        message=f"not checked: {visible(analysis.notice)}",
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
        related_information=[types.DiagnosticRelatedInformation(place, "these settings")] if file else None,
    )


def _is_left_out(analysis: Analysis, finding: Finding, shape_errors: When, *, schema_server: bool) -> bool:
    """Return whether another server says it, and no worse.

    That is a server for YAML with our schemas. It knows no near-matches and no fixes, so those stay, and it may read
    text in which it should have found a fault of syntax.
    """
    is_yaml = not analysis.state.name.lower().endswith((".json", ".jsonl"))
    if shape_errors == "always" or (shape_errors == "auto" and not (schema_server and is_yaml)):
        return False
    if finding.rule == "duplicate-key":
        spans = [finding.span, *(place.span for place in finding.related)]
        return is_yaml and len({analysis.source.slice(span) for span in spans}) == 1
    is_served = analysis.shape_findings.get((finding.rule, finding.span, finding.message))
    if shape_errors == "never":
        return is_served is not None
    return bool(is_served) and finding.rule != "unknown-field" and not finding.fix and not finding.obstacle


def has_schema(analysis: Analysis) -> bool:
    """Whether a schema server knows that the document follows our schema: by its name, or as it says so."""
    settings = analysis.state.settings
    return bool(settings and settings.is_rubric_file) or any(find_claim(document) for document in analysis.documents)


@cache
def _page_uri(rule: str) -> str:
    return uri_of(str(BY_NAME[rule].page_file))
