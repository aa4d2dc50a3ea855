"""Answer requests for code actions, and compute the edit of one that the user has selected."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from rubric_lint.lsp.answers.actions import KINDS, Abilities, Deferred, find_edit, make_actions
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.protocol import Connection, as_data

Handler = Callable[[Any], Awaitable[Any]]

_REFUSALS = {
    Deferred.FIX: "this fix of {} would change more than it says; change the text by hand",
    Deferred.IGNORE: "no ignore comment can be placed here to silence {}",
    Deferred.FIX_ALIKE: "the fixes of {} conflict with each other; apply them one by one",
}


class _Wish(NamedTuple):
    """What an action without an edit says about itself in its data."""

    kind: Deferred
    uri: str
    rule: str
    pointer: str
    choice: str
    title: str

    def fits(self, rule: str, pointer: str) -> bool:
        """Return whether the action is for a finding."""
        return rule == self.rule and (self.kind is Deferred.FIX_ALIKE or pointer == self.pointer)


class ActionRequests:
    """Answers for one client."""

    def __init__(self, connection: Connection, desk: OpenDocuments, guard: Callable[[Handler], Handler]) -> None:
        self._connection = connection
        self._desk = desk
        options = types.CodeActionOptions(KINDS, resolve_provider=True)
        connection.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(guard(self._act))
        connection.feature(types.CODE_ACTION_RESOLVE)(guard(self._resolve))

    async def _act(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        found = await self._desk.analysis(params.text_document.uri)
        if found is None:
            return None
        asked = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
        text, wanted = found.state.text, params.context.only
        place = text.span(params.range)
        return await self._desk.run(
            text, lambda: list(make_actions(found, place, wanted, self._abilities, asked=asked)) or None
        )

    async def _resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Compute the edit of an action that the user selected.

        Raises:
            JsonRpcInvalidParams: if the action is not one of ours.
        """
        if action.edit or action.data is None:
            return action  # Neovim also sends actions that already have their edit
        wish = _read_wish(as_data(action.data))
        found = await self._desk.analysis(wish.uri)
        alike = [each for each in found.findings if wish.fits(each.rule, each.pointer)] if found else []
        if not found or not alike:
            self._connection.tell(f"the text has changed, and {wish.rule} is no longer reported there")
            return action
        action.edit = await self._desk.run(
            found.state.text, find_edit, found, wish.kind, alike, (wish.choice, wish.title), self._abilities
        )
        if action.edit is None:
            self._connection.tell(_REFUSALS[wish.kind].format(wish.rule))
        return action

    @property
    def _abilities(self) -> Abilities:
        can = self._connection.can
        later = can("text_document.code_action.resolve_support.properties") or ()
        return Abilities(
            versioned=bool(can("workspace.workspace_edit.document_changes")),
            lazy="edit" in later and bool(can("text_document.code_action.data_support")),
            confirms=bool(can("workspace.workspace_edit.change_annotation_support")),
        )


def _read_wish(data: Any) -> _Wish:
    given = {"choice": "", "title": "", **data} if isinstance(data, Mapping) else {}
    texts: list[Any] = [given.get(name) for name in _Wish._fields[1:]]
    if given.get("action") not in list(Deferred) or not all(isinstance(each, str) for each in texts):
        raise JsonRpcInvalidParams(
            "codeAction/resolve: `data` is not that of an action from rubric-lint; expected one that "
            "textDocument/codeAction returned"
        )
    return _Wish(Deferred(given["action"]), *texts)
