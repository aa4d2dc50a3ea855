"""What can be done about findings: one fix, all fixes, an ignore comment."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol import types

from rubric_lint.finding import Edit, Finding, Fix
from rubric_lint.fix import fix, splice
from rubric_lint.fix.proof import Change, find_doubt
from rubric_lint.fix.silence import can_be_silenced, silence_one
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


class Abilities(NamedTuple):
    """What an editor can do with actions: take edits that name the version they are for; ask for an edit later."""

    versioned: bool
    lazy: bool


def make_actions(
    analysis: Analysis, place: Span, wanted: Sequence[str] | None, abilities: Abilities, *, asked: bool
) -> Iterator[types.CodeAction]:
    """The actions for the findings at a place. `wanted` are the kinds that the editor asks for, None all.

    `asked`: a person asks, so that what takes time is worth it.
    """
    if _is_wanted(_QUICK, wanted):
        found = [finding for finding in analysis.findings if _touches(finding.span, place)]
        for finding in [finding for finding in found if finding.fix][:_MOST]:
            if finding.fix and _is_sound(analysis, finding, finding.fix):
                yield _quick_fix(analysis.state, finding, finding.fix, abilities)
        yield from _ignore(analysis, found[:_MOST], abilities)
    if _is_wanted(FIX_ALL, wanted) and (wanted or asked):
        yield from _fix_all(analysis, abilities)


_MOST = 10  # of fixes, and of comments: each is proven by reading the whole text


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


def _quick_fix(state: State, finding: Finding, repair: Fix, abilities: Abilities) -> types.CodeAction:
    title = visible(repair.title[:1].upper() + repair.title[1:])
    return types.CodeAction(
        title=title if repair.safe else f"{title} (unsafe)",
        kind=_QUICK,
        diagnostics=[make_diagnostic(state, finding)],
        is_preferred=True if repair.safe else None,
        edit=_edit(state, repair.edits, abilities),
    )


def _ignore(analysis: Analysis, found: Iterable[Finding], abilities: Abilities) -> Iterator[types.CodeAction]:
    """An ignore comment for each of the findings, where one can stand; for a lazy editor, where one may."""
    for finding in found:
        edit = None if abilities.lazy else find_comment(analysis, finding, abilities)
        if edit or (abilities.lazy and can_be_silenced(analysis.source.name, finding)):
            yield types.CodeAction(
                title=f"Ignore {finding.rule} here",
                kind=_QUICK,
                diagnostics=[make_diagnostic(analysis.state, finding)],
                edit=edit,
                data=None if edit else {"uri": analysis.state.uri, "rule": finding.rule, "pointer": finding.pointer},
            )


def find_comment(analysis: Analysis, finding: Finding, abilities: Abilities) -> types.WorkspaceEdit | None:
    """What writes an ignore comment for a finding; None where none can stand."""
    if analysis.result is None or analysis.state.settings is None:
        return None
    text = silence_one(analysis.result, finding, analysis.state.settings)
    return _edit(analysis.state, find_edits(analysis.source.text, text), abilities) if text else None


def _fix_all(analysis: Analysis, abilities: Abilities) -> Iterator[types.CodeAction]:
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
            edit=_edit(state, edits, abilities),
        )


def _edit(state: State, edits: Iterable[Edit], abilities: Abilities) -> types.WorkspaceEdit:
    changes = [state.text.edit(edit) for edit in edits]
    if not abilities.versioned:
        return types.WorkspaceEdit(changes={state.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=state.uri, version=state.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
