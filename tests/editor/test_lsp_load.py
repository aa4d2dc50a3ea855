"""The language server with much to do: what waits for what, and what it keeps."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from editor import start, uri_of
from lsprotocol import types

from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.workspace import EditorOptions, build_workspace

LAUNCH = """
from rubric_lint.cli.commands import launch
from rubric_lint.cli.lint.lint import cli
launch(cli, "rubric-lint")
"""

COUNTING = f"""
import gc
from lsprotocol import types
from rubric_lint.editor.answers import hover

def count(*_, **_options):
    gc.unfreeze()  # or what the server keeps out of collections would not be counted
    gc.collect()
    return types.Hover(str(len(gc.get_objects())))

hover.make_hover = count
{LAUNCH}"""


@pytest.mark.slow
async def test_an_edit_leaves_nothing_behind(tmp_path):
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
                    await editor.ask("foldingRange", uri)  # or messages pile up on their way
            await editor.diagnostics(uri, versions[-1])
            return int((await editor.ask("hover", uri, 0, 0)).contents)

        other = tmp_path / "b.yaml"
        other.write_text("rubrics:\n  - id: b\n", "utf-8")
        editor.open(uri, "rubrics:\n  - id: a\n    expected_outcome: Says so\n")
        await editor.diagnostics(uri_of(other), None)  # what searches the folder is loaded then
        before = await count_after(range(2, 101))
        assert await count_after(range(101, 1101)) - before < 200


WEIGHING = f"""
import gc
import os
from pathlib import Path
from lsprotocol import types
from rubric_lint.editor.answers import hover

def weigh(*_, **_options):
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return types.Hover(str(pages * os.sysconf("SC_PAGE_SIZE")))

hover.make_hover = weigh
{LAUNCH}"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells how much memory is in use")
async def test_memory_is_flat_over_thousands_of_edits(tmp_path):
    """The editor asks for the outline, folds and lenses after every 20 edits. When written, it grew by 0.03 MB."""
    case = "  - id: case-{0}\n    rubrics:\n      - id: a\n        expected_outcome: Says so {0} {1}\n".format
    path = tmp_path / "suite.yaml"
    path.write_text("rubrics: []\n")
    uri, command = uri_of(path), (sys.executable, "-c", WEIGHING, "lsp")
    async with start(tmp_path, command=command) as editor:
        line = types.Position(1, 0)
        added = types.TextDocumentContentChangePartial(types.Range(line, line), "# more\n")
        removed = types.TextDocumentContentChangePartial(types.Range(line, types.Position(2, 0)), "")
        typed = [
            types.TextDocumentContentChangePartial(types.Range(types.Position(2, 14), types.Position(2, end)), text)
            for end, text in ((14, "x"), (15, ""))
        ]
        ask = types.TextDocumentIdentifier(uri)

        async def weigh_after(versions):
            for version in versions:
                changes = (added, typed[0], typed[1], removed)
                editor.change(uri, version, changes[version % 4])
                if version % 20 == 19:
                    await editor.ask("documentSymbol", uri)
                    await editor.ask("foldingRange", uri)
                    await editor.client.text_document_code_lens_async(types.CodeLensParams(ask))
                if version % 1000 == 999:
                    editor.published.clear()
            return int((await editor.ask("hover", uri, 0, 0)).contents)

        editor.open(uri, "tests:\n" + "".join(case(number, "word " * 60) for number in range(40)))
        before = await weigh_after(range(4, 2_004))
        after = await weigh_after(range(2_004, 6_004))
        assert after - before < 1_000_000


HANGING = f"""
import threading
from rubric_lint.lint import engine

def hang(rubric):
    if rubric.entries[0].id == "slow":
        threading.Event().wait()
    return iter(())

known = engine.checks_for
engine.checks_for = lambda signs: (*known(signs), ("overlap", hang))
{LAUNCH}"""


@pytest.mark.slow
async def test_a_long_document_delays_no_short_one(tmp_path):
    """The analysis of a document of 5 MB never ends here; what is short is answered all the same."""
    long, short = uri_of(tmp_path / "long.yaml"), uri_of(tmp_path / "short.yaml")
    text = "rubrics:\n  - id: a\n    description: Says so\n"
    async with start(tmp_path, command=(sys.executable, "-c", HANGING, "lsp")) as editor:
        editor.open(long, text.replace("a\n", "slow\n", 1) + f"# {'x' * 5_000_000}\n")
        for version in range(1, 4):
            if version == 1:
                editor.open(short, text)
            else:
                editor.replace(short, version, text)
            assert await editor.found(short, version) == [("deprecated-description", 2)]
            assert len(await editor.actions(short)) == 3
            assert await editor.ask("hover", short, 2, 6) is not None
        assert await editor.end() == 0


@pytest.mark.slow
async def test_documents_with_faults_are_all_answered_when_opened_at_once(tmp_path):
    """A short document that is opened after them is answered too."""
    fault = "  - id: case-{0}\n    rubrics:\n      - {{id: a, description: Says so, wieght: {0}}}\n".format

    many, short = [uri_of(tmp_path / f"{number}.yaml") for number in range(40)], uri_of(tmp_path / "short.yaml")
    text = "tests:\n" + "".join(map(fault, range(10)))
    async with start(tmp_path) as editor:
        for uri in many:
            editor.open(uri, text)
        editor.open(short, "rubrics:\n  - id: a\n    description: Says so\n")
        assert await editor.found(short, 1) == [("deprecated-description", 2)]
        for uri in many:
            assert len(await editor.found(uri, 1)) == 20
        assert await editor.end() == 0


class Loop(asyncio.SelectorEventLoop):
    """A loop with a clock that the test moves on, however long something takes."""

    now = 0.0

    def time(self):
        return self.now


class Documents(OpenDocuments):
    """Open documents that are analysed at once, so that what is published does not depend on threads."""

    async def run(self, task, *arguments):
        return task(*arguments)


class Client:
    """A connection that keeps what is published."""

    def __init__(self):
        self.versions = asyncio.Queue()
        self.protocol = SimpleNamespace(send_plain=self._note)
        self.workspace = SimpleNamespace(position_encoding="utf-16")

    def _note(self, _method, params):
        self.versions.put_nowait(params["version"])

    def watch(self, *_names):
        return []

    async def register(self, _registrations):
        pass


def test_many_quick_edits_are_one_run():
    """A pause of 150 ms ends a run of edits."""

    async def session(loop):
        client, uri = Client(), "file:///a.yaml"
        documents = Documents(client)
        documents.use(build_workspace([], {"": EditorOptions()}))
        item = types.TextDocumentItem(uri, "yaml", 1, "rubrics:\n  - a\n")
        documents.open(types.DidOpenTextDocumentParams(item))
        published = [await client.versions.get()]

        async def type_on(versions, *, pause):
            for version in versions:
                loop.now += pause
                for _ in range(20):  # whatever is to happen by now
                    await asyncio.sleep(0)
                end = types.Position(2, version - 2)
                place = types.Range(end, end)
                changes = [types.TextDocumentContentChangePartial(range=place, text="#")]
                changed = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
                documents.change(types.DidChangeTextDocumentParams(changed, changes))
                await asyncio.sleep(0)  # from here on the document waits

        async def stop_typing():
            loop.now += 0.151
            published.append(await client.versions.get())

        await type_on(range(2, 31), pause=0.002)
        await stop_typing()
        await type_on(range(31, 52), pause=0.149)
        await stop_typing()
        documents.end()
        assert (published, client.versions.qsize()) == ([1, 30, 51], 0)

    loop = Loop()
    try:
        loop.run_until_complete(session(loop))
    finally:
        loop.close()
