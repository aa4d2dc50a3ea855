"""Diagnostics on request: of one document, and of all files of a folder, open or not."""

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import pytest
from editor import PULLING, TIMEOUT, start, uri_of
from lsprotocol import types

OVERLAP = """\
rubrics:
  - id: tone
    score_ranges:
      - {score_range: [0, 4], expected_outcome: Blames the customer}
      - {score_range: [4, 10], expected_outcome: Helps the customer}
"""
FINE = "rubrics:\n  - {id: tone, expected_outcome: Helps the customer}\n"
NAMELESS = "rubrics:\n  - expected_outcome: Says so\n"


class Asking:
    """An editor that asks for diagnostics, and keeps all that it is told while it does."""

    def __init__(self, editor):
        self.editor, self.client = editor, editor.client
        self.progress, self.refreshed = [], asyncio.Event()
        features = self.client.protocol.fm.features
        for name in (types.PROGRESS, types.WORKSPACE_DIAGNOSTIC_REFRESH):
            features.pop(name, None)
        self.client.feature(types.PROGRESS)(partial(self.progress.append))
        self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(lambda _: self.refreshed.set())

    async def document(self, uri, previous=None):
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), "rubric-lint", previous)
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), TIMEOUT)

    async def codes(self, uri):
        return [each.code for each in (await self.document(uri)).items]

    def workspace(self, previous=(), *, stream=None, work=None):
        previous = [types.PreviousResultId(uri, value) for uri, value in previous]
        params = types.WorkspaceDiagnosticParams(
            previous, "rubric-lint", partial_result_token=stream, work_done_token=work
        )
        return asyncio.ensure_future(asyncio.wait_for(self.client.workspace_diagnostic_async(params), TIMEOUT))

    def parts(self, stream):
        """The items of the partial results so far."""
        return [item for each in self.progress if each.token == stream for item in each.value["items"]]

    def note(self, path, kind=types.FileChangeType.Changed):
        event = types.FileEvent(uri_of(path), kind)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))


@contextlib.asynccontextmanager
async def asking(*folders, **options):
    async with start(*folders, can=PULLING, **options) as editor:
        yield Asking(editor)
        assert [each for each in editor.published if each.diagnostics] == [], "the findings are shown twice"


def codes(items):
    """What items say: for each file its rules, or that it is as before."""
    return {each.uri: [item.code for item in each.items] if each.kind == "full" else "unchanged" for each in items}


def raw_codes(items):
    return {each["uri"]: [item["code"] for item in each["items"]] for each in items}


@pytest.mark.slow
async def test_only_a_client_that_can_ask_again_is_not_sent_diagnostics(tmp_path):
    async with start(tmp_path, can={"text_document.diagnostic": types.DiagnosticClientCapabilities()}) as editor:
        assert editor.result.capabilities.diagnostic_provider is None
        uri = editor.open(tmp_path / "a.yaml", OVERLAP)
        assert await editor.found(uri) == [("overlap", 4)]
    async with asking(tmp_path) as asked:
        assert asked.editor.result.capabilities.diagnostic_provider == types.DiagnosticOptions(
            inter_file_dependencies=False, workspace_diagnostics=True, identifier="rubric-lint", work_done_progress=True
        )


@pytest.mark.slow
async def test_a_document_is_reported_when_asked_for_and_only_once(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(NAMELESS)
    uri = uri_of(path)
    async with asking(tmp_path) as asked, start(tmp_path) as told:
        told.open(uri, OVERLAP)
        asked.editor.open(uri, OVERLAP)
        first = await asked.document(uri)
        assert list(first.items) == list(await told.diagnostics(uri))
        again = await asked.document(uri, first.result_id)
        assert (again.kind, again.result_id) == ("unchanged", first.result_id)
        asked.editor.replace(uri, 2, f"# a comment\n{OVERLAP}")
        second = await asked.document(uri, first.result_id)
        assert [(each.code, each.range.start.line) for each in second.items] == [("overlap", 5)]
        asked.editor.close(uri)
        assert await asked.codes(uri) == ["missing-id"]  # as it is on the disk
        assert await asked.codes(uri_of(tmp_path / "none.yaml")) == []


@pytest.mark.slow
async def test_files_that_are_not_open_show_and_a_file_is_read_again_only_when_it_changes(tmp_path):
    names = {"a.yaml": OVERLAP, "b/b.yaml": NAMELESS, "b/c.yaml": FINE, "d.yaml": "key: value\n", "e.yaml": OVERLAP}
    for name, text in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "rubric-lint.toml").write_text('exclude = ["e.yaml"]\n')
    (tmp_path / "f.rubric.yaml").write_bytes(b"rubrics:\n  - \xff\n")
    (tmp_path / "link.rubric.yaml").symlink_to("nowhere")
    a, b, f = (uri_of(tmp_path / name) for name in ("a.yaml", "b/b.yaml", "f.rubric.yaml"))

    async with asking(tmp_path) as asked:
        first = (await asked.workspace(work="work")).items
        assert codes(first) == {a: ["overlap"], b: ["missing-id"], f: ["syntax"]}
        shown = [(each.value["kind"], each.value.get("percentage")) for each in asked.progress]
        assert (shown[0], shown[-2:]) == (("begin", 0), [("report", 100), ("end", None)])
        known = {each.uri: each.result_id for each in first}
        assert codes((await asked.workspace(known.items())).items) == dict.fromkeys((a, b, f), "unchanged")
        (tmp_path / "a.yaml").write_text(FINE)
        (tmp_path / "b/b.yaml").unlink()
        (tmp_path / "b/c.yaml").write_text(NAMELESS)
        third = (await asked.workspace(known.items())).items
        assert codes(third) == {a: [], b: [], uri_of(tmp_path / "b/c.yaml"): ["missing-id"], f: "unchanged"}


@pytest.mark.slow
async def test_an_open_document_counts_as_it_is_typed_and_as_it_is_saved_once_it_is_closed(tmp_path):
    path, uri = tmp_path / "a.yaml", uri_of(tmp_path / "a.yaml")
    path.write_text(OVERLAP)
    async with asking(tmp_path) as asked:
        (first,) = (await asked.workspace()).items
        asked.editor.open(uri, FINE)
        assert await asked.codes(uri) == []
        assert codes((await asked.workspace([(uri, first.result_id)])).items) == {uri: []}
        asked.editor.close(uri)
        assert codes((await asked.workspace([(uri, first.result_id)])).items) == {uri: ["overlap"]}


@pytest.mark.slow
async def test_findings_come_in_parts_and_a_request_waits_for_news(tmp_path):
    (tmp_path / "a.yaml").write_text(OVERLAP)
    (tmp_path / "b.yaml").write_text(FINE)
    a, b = uri_of(tmp_path / "a.yaml"), uri_of(tmp_path / "b.yaml")
    async with asking(tmp_path) as asked:
        assert list((await asked.workspace(stream="first")).items) == []
        assert raw_codes(asked.parts("first")) == {a: ["overlap"]}
        known = [(each["uri"], each["resultId"]) for each in asked.parts("first")]
        waiting = asked.workspace(known, stream="second")
        await asyncio.sleep(0.05)
        assert not waiting.done()
        (tmp_path / "b.yaml").write_text(NAMELESS)
        asked.note(tmp_path / "b.yaml")
        assert list((await waiting).items) == []
        assert raw_codes(asked.parts("second")) == {b: ["missing-id"]}
        known += [(each["uri"], each["resultId"]) for each in asked.parts("second")]
        waiting = asked.workspace(known, stream="third")
        assert await asked.editor.end() == 0


@pytest.mark.slow
async def test_changed_settings_are_applied_to_all_files(tmp_path):
    settings = tmp_path / "rubric-lint.toml"
    settings.write_text("")
    (tmp_path / "a.yaml").write_text(OVERLAP)
    (tmp_path / "b.yaml").write_text(OVERLAP)
    a, b = uri_of(tmp_path / "a.yaml"), uri_of(tmp_path / "b.yaml")

    async with asking(tmp_path) as asked:
        asked.editor.open(b, OVERLAP)
        assert await asked.codes(b) == ["overlap"]
        assert codes((await asked.workspace()).items) == {a: ["overlap"], b: ["overlap"]}
        asked.refreshed.clear()
        settings.write_text('ignore = ["overlap"]\n')
        asked.note(settings)
        await asyncio.wait_for(asked.refreshed.wait(), TIMEOUT)
        assert await asked.codes(b) == []
        assert codes((await asked.workspace()).items) == {}
        settings.write_text("ignore = 1\n")
        asked.note(settings)
        (item,) = (await asked.workspace()).items
        assert item.uri == uri_of(settings)
        assert item.items[0].message.startswith("not checked: ")


@pytest.mark.slow
async def test_the_setting_leaves_files_that_are_not_open_out(tmp_path):
    (tmp_path / "a.yaml").write_text(OVERLAP)
    async with asking(tmp_path, settings={tmp_path: {"unopenedFiles": False}}) as asked:
        assert list((await asked.workspace()).items) == []


@pytest.mark.slow
async def test_a_baseline_counts_for_files_that_are_not_open(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text('baseline = "known.json"\n')
    (tmp_path / "a.yaml").write_text(OVERLAP)
    async with asking(tmp_path) as asked:
        (before,) = (await asked.workspace()).items
        assert before.items[0].message.startswith("not checked: ")


@pytest.mark.slow
async def test_a_large_file_delays_no_small_one(tmp_path):
    """The small files are there before the analysis of the large one has ended, however it is called."""
    case = "  - id: case-{}\n    rubrics:\n      - {{id: a, expected_outcome: Says so, weight: -1}}\n"
    (tmp_path / "a.yaml").write_text("tests:\n" + "".join(case.format(number) for number in range(1000)))
    for number in range(100):
        (tmp_path / f"b{number}.yaml").write_text(NAMELESS)

    async with asking(tmp_path) as asked:
        await asked.workspace(stream="parts")
        items = asked.parts("parts")
        assert [Path(each["uri"]).name[0] for each in items] == ["b"] * 100 + ["a"]
        assert len(items[-1]["items"]) == 1000
