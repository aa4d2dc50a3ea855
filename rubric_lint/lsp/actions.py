"""What can be done about findings: one fix, all fixes, an ignore comment."""

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from rubric_lint.finding import Edit, Finding, Fix
from rubric_lint.fix import fix, splice
from rubric_lint.fix.proof import Change, find_doubt
from rubric_lint.fix.silence import silence_one
from rubric_lint.lsp.analysis import Analysis, State
from rubric_lint.lsp.diagnostics import make_diagnostic
from rubric_lint.lsp.difference import find_edits
from rubric_lint.report.visible import visible
from rubric_lint.source import Source, Span

FIX_ALL = "source.fixAll.rubric-lint"
"""The kind of the action that makes all safe fixes, for editors that do so on saving."""

_QUICK = types.CodeActionKind.QuickFix.value

KINDS = [_QUICK, FIX_ALL]
"""The kinds of actions that there are."""


def make_actions(
    analysis: Analysis, place: Span, wanted: Sequence[str] | None, *, versioned: bool, asked: bool
) -> Iterator[types.CodeAction]:
    """The actions for the findings at a place. `wanted` are the kinds that the editor asks for, None all.

    `versioned`: the editor takes edits that name the version they are for. `asked`: a person asks, so that what takes
    time is worth it.
    """
    if _is_wanted(_QUICK, wanted):
        for finding in analysis.findings:
            if finding.fix and _touches(finding.span, place) and _is_sound(analysis, finding, finding.fix):
                yield _quick_fix(analysis.state, finding, finding.fix, versioned=versioned)
        yield from _ignore(analysis, place, versioned=versioned)
    if _is_wanted(FIX_ALL, wanted) and (wanted or asked):
        yield from _fix_all(analysis, versioned=versioned)


def _is_wanted(kind: str, wanted: Sequence[str] | None) -> bool:
    return wanted is None or any(f"{kind}.".startswith(f"{name}.") for name in wanted)


def _touches(span: Span, place: Span) -> bool:
    return span.start <= place.end and place.start <= span.end


def _is_sound(analysis: Analysis, finding: Finding, repair: Fix) -> bool:
    """Whether the fix on its own does what it says, which is proven as rubric-fix proves it."""
    old, settings = analysis.source, analysis.state.settings
    new = Source(old.name, splice(old.text, repair.edits))
    change = Change(finding.pointer, repair.intents, repair.edits, repair.safe)
    return settings is not None and not find_doubt(old, new, [change], settings)


def _quick_fix(state: State, finding: Finding, repair: Fix, *, versioned: bool) -> types.CodeAction:
    title = visible(repair.title[:1].upper() + repair.title[1:])
    return types.CodeAction(
        title=title if repair.safe else f"{title} (unsafe)",
        kind=_QUICK,
        diagnostics=[make_diagnostic(state, finding)],
        is_preferred=True if repair.safe else None,
        edit=_edit(state, repair.edits, versioned=versioned),
    )


_MOST_IGNORED = 10  # each is proven by linting the text with its comment


def _ignore(analysis: Analysis, place: Span, *, versioned: bool) -> Iterator[types.CodeAction]:
    """An ignore comment for each of the findings at a place, where one can stand."""
    if analysis.result is None or analysis.state.settings is None:
        return
    found = [finding for finding in analysis.findings if _touches(finding.span, place)]
    for finding in found[:_MOST_IGNORED]:
        if text := silence_one(analysis.result, finding, analysis.state.settings):
            edits = find_edits(analysis.source.text, text)
            yield types.CodeAction(
                title=f"Ignore {finding.rule} here",
                kind=_QUICK,
                diagnostics=[make_diagnostic(analysis.state, finding)],
                edit=_edit(analysis.state, edits, versioned=versioned),
            )


def _fix_all(analysis: Analysis, *, versioned: bool) -> Iterator[types.CodeAction]:
    """All safe fixes as rubric-fix makes them, those too that an earlier fix makes possible."""
    state = analysis.state
    if state.settings is None or analysis.result is None or not analysis.result.rubrics:
        return
    fixed = fix(state.name, state.text.body.encode(), state.settings)
    if fixed.is_changed:
        edits = find_edits(fixed.before.text, fixed.text)
        yield types.CodeAction(
            title="Make all safe fixes of rubric-lint",
            kind=FIX_ALL,
            edit=_edit(state, edits, versioned=versioned),
        )


def _edit(state: State, edits: Iterable[Edit], *, versioned: bool) -> types.WorkspaceEdit:
    changes = [state.text.edit(edit) for edit in edits]
    if not versioned:
        return types.WorkspaceEdit(changes={state.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=state.uri, version=state.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
