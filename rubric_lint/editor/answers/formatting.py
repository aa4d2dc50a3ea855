"""Format a document or a part of it, if the editor's settings ask for that."""

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.positions import find_edits
from rubric_lint.lint.fix import Fixed
from rubric_lint.lint.fix.formatting import format_file
from rubric_lint.model.messages import visible

Handler = Callable[[Any], Awaitable[Any]]

_WHOLE, _RANGE = types.TEXT_DOCUMENT_FORMATTING, types.TEXT_DOCUMENT_RANGE_FORMATTING
_CAPABILITIES = {_WHOLE: "formatting", _RANGE: "range_formatting"}


class Formatting:
    """Formatting on request. The editor learns that the server formats only if a folder's settings switch it on.

    An editor that cannot learn this later learns it at the start, from the settings in its initialization options.
    """

    def __init__(self, documents: OpenDocuments) -> None:
        self._connection = documents.connection
        self._documents = documents
        self._late: list[str] = []
        self._is_offered = False

    def register(self, guard: Callable[[Handler], Handler], *, is_on: bool) -> None:
        """Register for the requests of an editor that cannot learn of them later."""
        self._handler = guard(self._format)
        for method, name in _CAPABILITIES.items():
            if self._connection.can(f"text_document.{name}.dynamic_registration"):
                self._late.append(method)
            elif is_on:
                self._connection.feature(method)(self._handler)

    def start(self) -> None:
        """Handle the requests that the editor makes only after it has learnt of them."""
        for method in self._late:
            self._connection.feature(method)(self._handler)

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
        if not (await self._documents.options_for(uri)).formatting:
            return None
        state = await self._documents.state(uri)
        if state is None or (settings := state.settings) is None:
            return None
        name, text = state.name, state.text
        place = text.span(params.range) if isinstance(params, types.DocumentRangeFormattingParams) else None

        def find() -> tuple[Fixed, list[types.TextEdit]]:
            fixed = format_file(name, text.body.encode(), settings, within=place)
            edits = find_edits(fixed.before.text, fixed.text) if fixed.is_changed else []
            return fixed, [text.edit(edit) for edit in edits]

        fixed, edits = await self._documents.run(find)
        if fixed.doubt:
            line = "" if fixed.doubt_at is None else f":{fixed.before.position(fixed.doubt_at).line}"
            message = f"{visible(name)}{line}: not formatted: {visible(fixed.doubt)}"
            self._connection.log(message, types.MessageType.Warning)
        return edits or None
