"""An editor with an open file that asks at a place in it."""

from pathlib import Path

import pytest
from editor import apply_edits, uri_of
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path


class Asking:
    """An editor with one open file that asks at a place in it."""

    def __init__(self, editor, path, word, nth=0):
        uri, text = uri_of(path), Path(path).read_text("utf-8")
        at = -1
        for _ in range(nth + 1):
            at = text.index(word, at + 1)
        self.place = text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
        self.editor, self.uri = editor, uri
        editor.open(uri, text)

    async def _ask(self, method, **more):
        return await self.editor.ask(method, self.uri, *self.place, **more)

    async def references(self, *, declared=True):
        return show(await self._ask("references", context=types.ReferenceContext(declared)))

    async def definition(self):
        return show(await self._ask("definition"))

    async def highlights(self):
        found = await self._ask("documentHighlight")
        return [(item.range.start.line, item.range.start.character, item.kind.name) for item in found or ()]

    async def prepare(self):
        return await self._ask("prepareRename")

    async def rename(self, name):
        return await self._ask("rename", new_name=name)

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
