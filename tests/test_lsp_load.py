"""The language server at work for long: what it keeps."""

import asyncio
import sys

import pytest
from editor import start, uri_of
from lsprotocol import types

LAUNCH = """
from rubric_lint.cli.exits import launch
from rubric_lint.cli.lint import cli
launch(cli, "rubric-lint")
"""

COUNTING = f"""
import gc
from lsprotocol import types
from rubric_lint.lsp import server

def count(*_):
    gc.collect()
    return types.Hover(str(len(gc.get_objects())))

server.make_hover = count
{LAUNCH}"""


def run(session):
    """Run a test that is a coroutine, with an end."""
    asyncio.run(asyncio.wait_for(session, 120))


@pytest.mark.slow
def test_c12_an_edit_leaves_nothing_behind(tmp_path):
    async def session():
        uri = uri_of(tmp_path / "a.yaml")
        async with start(tmp_path, command=(sys.executable, "-c", COUNTING, "lsp")) as editor:
            client, document = editor.client, types.TextDocumentIdentifier(uri)

            async def count_after(versions):
                top = types.Position(1, 0)
                added = types.TextDocumentContentChangePartial(types.Range(top, top), "# more\n")
                removed = types.TextDocumentContentChangePartial(types.Range(top, types.Position(2, 0)), "")
                for version in versions:
                    editor.change(uri, version, removed if version % 2 else added)
                    client.text_document_did_save(types.DidSaveTextDocumentParams(document))
                    if version % 50 == 0:
                        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
                        await editor.folds(uri)  # or messages pile up on their way
                await editor.diagnostics(uri, versions[-1])
                return int((await editor.hover(uri, 0, 0)).contents)

            editor.open(uri, "rubrics:\n  - id: a\n    expected_outcome: Says so\n")
            before = await count_after(range(2, 101))
            assert await count_after(range(101, 1101)) - before < 200

    run(session())
