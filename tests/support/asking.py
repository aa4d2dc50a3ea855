"""An editor with an open file that asks at a place in it."""

import asyncio
from pathlib import Path

import pytest
from editor import TIMEOUT, apply_edits, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path


class Asking:
    """An editor with one open file that asks at a place in it."""

    def __init__(self, editor, path, word, nth=0):
        self.client, self.uri = editor.client, uri_of(path)
        text = Path(path).read_text("utf-8")
        at = -1
        for _ in range(nth + 1):
            at = text.index(word, at + 1)
        self.place = types.Position(text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1)
        editor.open(self.uri, text)

    @property
    def where(self):
        return {"text_document": types.TextDocumentIdentifier(self.uri), "position": self.place}

    async def _ask(self, request, params):
        return await asyncio.wait_for(request(params), TIMEOUT)

    async def references(self, *, declared=True):
        context = types.ReferenceContext(include_declaration=declared)
        params = types.ReferenceParams(context=context, **self.where)
        return show(await self._ask(self.client.text_document_references_async, params))

    async def definition(self):
        return show(await self._ask(self.client.text_document_definition_async, types.DefinitionParams(**self.where)))

    async def highlights(self):
        found = await self._ask(
            self.client.text_document_document_highlight_async, types.DocumentHighlightParams(**self.where)
        )
        return [(item.range.start.line, item.range.start.character, item.kind.name) for item in found or ()]

    async def prepare(self):
        return await self._ask(self.client.text_document_prepare_rename_async, types.PrepareRenameParams(**self.where))

    async def rename(self, name):
        params = types.RenameParams(new_name=name, **self.where)
        return await self._ask(self.client.text_document_rename_async, params)

    async def refusal(self, name):
        with pytest.raises(JsonRpcException) as refused:
            await self.rename(name)
        assert refused.value.code == -32803
        return str(refused.value).removeprefix("rubric-lint: ")


def show(locations):
    return [
        (Path(to_fs_path(item.uri)).name, item.range.start.line + 1, item.range.start.character + 1)
        for item in locations or ()
    ]


def apply(edit):
    """Write what a rename changes to the disk."""
    for change in edit.document_changes:
        path = Path(to_fs_path(change.text_document.uri))
        path.write_text(apply_edits(path.read_text("utf-8"), change.edits), encoding="utf-8")
