"""Offer code actions for findings: one fix, all fixes, or an ignore comment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from rubric_lint.editor.answers.commands import ADOPT, CAN_RUN
from rubric_lint.editor.server.analysis import Analysis, State
from rubric_lint.editor.server.diagnostics import make_diagnostic
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.positions import find_edits
from rubric_lint.editor.server.protocol import as_data
from rubric_lint.lint.fix import FixSelection, any_unsafe, choose, find_trouble, fix
from rubric_lint.lint.fix.silence import can_be_silenced, silence_one
from rubric_lint.model.finding import ADOPT_IT, Finding, list_fixes
from rubric_lint.model.messages import join_words, visible
from rubric_lint.rules import BY_NAME
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Span

FIX_ALL = "source.fixAll.rubric-lint"
"""The kind of the action that makes all safe fixes, for editors that fix on save."""

ADOPT_TITLE = "Describe this format in the settings"
_QUICK = types.CodeActionKind.QuickFix.value

KINDS = [_QUICK, FIX_ALL]
"""All kinds of actions."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The editor's capabilities for actions.

    `versioned`: edits may name a document version. `lazy`: the editor can request an edit later. `confirms`: the editor
    can show an edit for confirmation before applying it.
    """

    versioned: bool
    lazy: bool
    confirms: bool


class Deferred(StrEnum):
    """An action whose edit is computed only when the user selects it."""

    FIX = "fix"
    IGNORE = "ignore"
    FIX_ALIKE = "fix-alike"


_MOST, _FEW = 10, 2
"""Limits for fixes and comments, because proving each one reads the whole text; in a long one only a few are proved."""

_LONG = 60_000
"""The most characters of a text whose fixes are proved before the user selects one."""

_CONFIRMED = "unsafe"


def make_actions(
    analysis: Analysis, place: Span, wanted: Sequence[str] | None, abilities: Abilities, *, asked: bool
) -> Iterator[types.CodeAction]:
    """Make the actions for the findings at a place. `wanted` are the kinds that the editor requests, None for all.

    `asked`: the user requested the actions, so slow ones are worth computing.
    """
    if _is_wanted(_QUICK, wanted):
        yield from _make_quick(analysis, place, abilities)
    if _is_wanted(FIX_ALL, wanted) and (wanted or asked):
        state = analysis.state
        if state.settings and analysis.result and analysis.result.rubrics:
            # Also those that an earlier fix makes possible, as in rubric-fix.
            fixed = fix(state.name, state.text.body.encode(), state.settings)
            if fixed.is_changed:
                edit = _edit(state, find_edits(fixed.before.text, fixed.text), abilities)
                yield types.CodeAction(title="Make all safe fixes of rubric-lint", kind=FIX_ALL, edit=edit)


def _is_wanted(kind: str, wanted: Sequence[str] | None) -> bool:
    return wanted is None or any(f"{kind}.".startswith(f"{name}.") for name in wanted)


def _make_quick(analysis: Analysis, place: Span, abilities: Abilities) -> Iterator[types.CodeAction]:
    """Yield the actions that fix one finding or all of its rule, silence it, or describe the format of a near miss."""
    state, found = analysis.state, analysis.find_at(place)
    fixes = [(finding, repair) for finding in found for repair in list_fixes(finding)]
    is_long = len(state.text.content) > _LONG
    is_later = is_long and abilities.lazy  # the fix is proved when the user selects it
    most = _FEW if is_long and not abilities.lazy else _MOST
    for finding, repair in fixes[:most]:
        title = _title(repair) if repair.safe else f"{_title(repair)} (unsafe)"
        yield from _act(analysis, Deferred.FIX, title, finding, abilities, is_later=is_later, repair=repair)
    firsts = {(finding.rule, repair.choice): finding for finding, repair in reversed(fixes)}
    for (rule, choice), first in reversed(firsts.items()):
        alike = _choose_alike(analysis, rule, choice)
        if len(alike) > 1:
            title = f"Fix all {len(alike)} findings of {rule} in this file"
            if choice:
                title += f": {join_words([BY_NAME[rule].choices[name] for name in choice.split(',')])}"
            if any_unsafe(alike):
                title += " (unsafe)"
            yield from _act(analysis, Deferred.FIX_ALIKE, title, first, abilities, choice=choice)
    for finding in found[:_MOST]:  # for a lazy editor, a comment may be placed; for others, one can be
        if not abilities.lazy or can_be_silenced(analysis.source.name, finding):
            yield from _act(analysis, Deferred.IGNORE, f"Ignore {finding.rule} here", finding, abilities)
    near_misses = analysis.find_near_misses() if CAN_RUN else ()
    for span, near_miss in near_misses:
        if span.start <= place.end and place.start <= span.end and ADOPT_IT in near_miss.steps:
            command = types.Command(title=ADOPT_TITLE, command=ADOPT, arguments=[state.uri, ""])
            diagnostics = [make_diagnostic(state, (span, near_miss))]
            yield types.CodeAction(title=ADOPT_TITLE, kind=_QUICK, diagnostics=diagnostics, command=command)


def _act(
    analysis: Analysis,
    kind: Deferred,
    title: str,
    finding: Finding,
    abilities: Abilities,
    *,
    is_later: bool | None = None,
    choice: str = "",
    repair: Fix | None = None,
) -> Iterator[types.CodeAction]:
    """Yield an action with its edit, if there is one; with `is_later`, with data by which it is found again.

    For a lazy editor an edit comes later unless something else is said.
    """
    state = analysis.state
    choice = repair.choice if repair else choice
    is_later = abilities.lazy if is_later is None else is_later
    wanted_title = repair.title if repair else ""
    selected = (choice, wanted_title)
    edit = None if is_later else find_edit(analysis, kind, [finding], selected, abilities)
    if edit is None and not is_later:
        return
    data = {"action": kind.value, "uri": state.uri, "rule": finding.rule, "pointer": finding.pointer}
    if choice:
        data["choice"] = choice
    if repair:
        data["title"] = repair.title
    is_preferred = True if repair and repair.safe else None
    own_data = None if edit else data
    yield types.CodeAction(
        title=title,
        kind=_QUICK,
        diagnostics=[make_diagnostic(state, finding)],
        is_preferred=is_preferred,
        edit=edit,
        data=own_data,
    )


def find_edit(
    analysis: Analysis, kind: Deferred, found: Sequence[Finding], repair: tuple[str, str], abilities: Abilities
) -> types.WorkspaceEdit | None:
    """Compute the edit of a deferred action for one of some findings; return None if it no longer applies.

    `repair` is the choice and the title of the fix that is meant.
    """
    state, result, rule = analysis.state, analysis.result, found[0].rule
    if kind is Deferred.FIX_ALIKE:
        alike = _choose_alike(analysis, rule, repair[0])
        if not alike or not _is_sound(analysis, alike):
            return None
        label = f"Unsafe fixes of {rule}" if any_unsafe(alike) else ""
        return _edit(state, [edit for _, fix in alike for edit in fix.edits], abilities, confirm=label)
    if kind is Deferred.FIX:
        for finding in found:
            for fix in list_fixes(finding):
                if (fix.choice, fix.title) == repair and _is_sound(analysis, [(finding, fix)]):
                    confirm = "" if fix.safe else _title(fix)
                    return _edit(state, fix.edits, abilities, confirm=confirm)
        return None
    if result is None or state.settings is None:
        return None
    text = silence_one(result, found[0], state.settings)
    return _edit(state, find_edits(analysis.source.text, text), abilities) if text else None


def _is_sound(analysis: Analysis, chosen: Sequence[tuple[Finding, Fix]]) -> bool:
    """Return whether these fixes together change only what they claim, proven as by rubric-fix."""
    result, settings = analysis.result, analysis.state.settings
    return result is not None and settings is not None and not find_trouble(result, chosen, settings)


def _choose_alike(analysis: Analysis, rule: str, choice: str) -> list[tuple[Finding, Fix]]:
    """Return the compatible fixes of a rule by one choice, or the plain ones."""
    choices = (choice,) if choice else ()
    chosen = choose(analysis.find_of(rule), FixSelection(not choice, choices))
    return [(finding, repair) for finding, repair in chosen if repair.choice == choice]


def _title(repair: Fix) -> str:
    return visible(repair.title[:1].upper() + repair.title[1:])


def _edit(state: State, edits: Iterable[Edit], abilities: Abilities, *, confirm: str = "") -> types.WorkspaceEdit:
    """Convert edits for the editor; with `confirm` (a title), it shows them first if it can."""
    changes = [state.text.edit(edit) for edit in edits]
    if not abilities.versioned:
        return types.WorkspaceEdit(changes={state.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=state.uri, version=state.version)
    if not confirm or not abilities.confirms:
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
    annotated = [types.AnnotatedTextEdit(_CONFIRMED, change.range, change.new_text) for change in changes]
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(document, annotated)],
        change_annotations={_CONFIRMED: types.ChangeAnnotation(confirm, needs_confirmation=True)},
    )


_REFUSALS = {
    Deferred.FIX: "this fix of {} would change more than it says; change the text by hand",
    Deferred.IGNORE: "no ignore comment can be placed here to silence {}",
    Deferred.FIX_ALIKE: "the fixes of {} conflict with each other; apply them one by one",
}


async def answer_actions(documents: OpenDocuments, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Return the actions for the findings in a range."""
    asked = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
    abilities = _read_abilities(documents)

    def make(analysis: Analysis) -> list[types.CodeAction]:
        place = analysis.state.text.span(params.range)
        return list(make_actions(analysis, place, params.context.only, abilities, asked=asked))

    return await documents.ask(params.text_document.uri, make) or None


async def resolve_action(documents: OpenDocuments, action: types.CodeAction) -> types.CodeAction:
    """Compute the edit of an action that the user selected.

    Raises:
        JsonRpcInvalidParams: if the action is not one of ours.
    """
    if action.edit or action.data is None:
        return action  # Neovim also sends actions that already have their edit
    given = as_data(action.data)
    given = {"choice": "", "title": "", **given} if isinstance(given, Mapping) else {}  # both are optional
    texts: list[Any] = [given.get(name) for name in ("uri", "rule", "pointer", "choice", "title")]
    if given.get("action") not in list(Deferred) or not all(isinstance(text, str) for text in texts):
        raise JsonRpcInvalidParams(
            "codeAction/resolve: `data` is not that of an action from rubric-lint; expected one that "
            "textDocument/codeAction returned"
        )
    kind = Deferred(given["action"])
    uri, rule, pointer, choice, title = texts
    found = await documents.analysis(uri)
    findings = found.find_of(rule) if found else []
    if kind is not Deferred.FIX_ALIKE:
        findings = [finding for finding in findings if finding.pointer == pointer]
    if not found or not findings:
        documents.connection.show_message(f"the text has changed, and {rule} is no longer reported there")
        return action
    abilities = _read_abilities(documents)
    action.edit = await documents.run(find_edit, found, kind, findings, (choice, title), abilities)
    if action.edit is None:
        documents.connection.show_message(_REFUSALS[kind].format(rule))
    return action


def _read_abilities(documents: OpenDocuments) -> Abilities:
    can = documents.connection.can
    later = can("text_document.code_action.resolve_support.properties") or ()
    return Abilities(
        versioned=bool(can("workspace.workspace_edit.document_changes")),
        lazy="edit" in later and bool(can("text_document.code_action.data_support")),
        confirms=bool(can("workspace.workspace_edit.change_annotation_support")),
    )
