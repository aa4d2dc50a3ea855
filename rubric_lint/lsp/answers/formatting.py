"""Format a document or a part of it, if the editor's settings ask for that."""

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from rubric_lint.fix import Fixed
from rubric_lint.fix.formatting import format_file
from rubric_lint.lsp.server.analysis import State
from rubric_lint.lsp.server.open_documents import OpenDocuments
from rubric_lint.lsp.server.positions import find_edits
from rubric_lint.lsp.server.protocol import Connection
from rubric_lint.report.visible import visible
from rubric_lint.text.source import Span

Handler = Callable[[Any], Awaitable[Any]]

_WHOLE, _RANGE = types.TEXT_DOCUMENT_FORMATTING, types.TEXT_DOCUMENT_RANGE_FORMATTING
_CAPABILITIES = {_WHOLE: "formatting", _RANGE: "range_formatting"}


class Formatting:
    """Formatting on request. The editor learns that the server formats only if a folder's settings switch it on.

    An editor that cannot learn this later learns it at the start, from the settings in its initialization options.
    """

    def __init__(
        self, connection: Connection, desk: OpenDocuments, guard: Callable[[Handler], Handler], *, is_on: bool
    ) -> None:
        self._connection = connection
        self._desk = desk
        self._handlers = {_WHOLE: guard(self._format), _RANGE: guard(self._format)}
        self._late = [
            method
            for method, name in _CAPABILITIES.items()
            if connection.can(f"text_document.{name}.dynamic_registration")
        ]
        self._is_offered = False
        for method, handler in self._handlers.items():
            if is_on and method not in self._late:
                connection.feature(method)(handler)

    def start(self) -> None:
        """Handle the requests that the editor makes only after it has learnt of them."""
        for method in self._late:
            self._connection.feature(method)(self._handlers[method])

    async def offer(self, *, is_on: bool) -> None:
        """Tell the editor whether the server formats, if that has changed and the editor can learn it."""
        if is_on == self._is_offered or not self._late:
            return
        self._is_offered = is_on
        if is_on:
            options = types.TextDocumentRegistrationOptions()
            await self._connection.register([types.Registration(method, method, options) for method in self._late])
        else:
            ends = [types.Unregistration(method, method) for method in self._late]
            await self._connection.ask(types.CLIENT_UNREGISTER_CAPABILITY, types.UnregistrationParams(ends))

    async def _format(
        self, params: types.DocumentFormattingParams | types.DocumentRangeFormattingParams
    ) -> list[types.TextEdit] | None:
        """Return the edits, or None if nothing changes; the editor's log says why something is left unchanged."""
        uri = params.text_document.uri
        if not (await self._desk.options_for(uri)).formatting:
            return None
        state = await self._desk.state(uri)
        if state is None or state.settings is None:
            return None
        place = state.text.span(params.range) if isinstance(params, types.DocumentRangeFormattingParams) else None
        fixed, edits = await self._desk.run(state.text, _find, state, place)
        if fixed.doubt:
            line = "" if fixed.doubt_at is None else f":{fixed.before.position(fixed.doubt_at).line}"
            message = f"{visible(state.name)}{line}: not formatted: {visible(fixed.doubt)}"
            self._connection.log(message, types.MessageType.Warning)
        return edits or None


def _find(state: State, place: Span | None) -> tuple[Fixed, list[types.TextEdit]]:
    assert state.settings is not None  # noqa: S101 (the request was refused)
    fixed = format_file(state.name, state.text.body.encode(), state.settings, within=place)
    edits = find_edits(fixed.before.text, fixed.text) if fixed.is_changed else []
    return fixed, [state.text.edit(edit) for edit in edits]
