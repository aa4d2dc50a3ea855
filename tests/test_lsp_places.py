"""What an editor can go to from anywhere: cases and criteria of all files, and the files that a document names."""

import asyncio
from pathlib import Path, PurePosixPath

import pytest
from editor import TIMEOUT, start, uri_of
from lsprotocol import types
from pygls.uris import to_fs_path

from rubric_lint.format.schema_files import schemas_root

RUBRIC = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json
rubrics:
  - id: accuracy
    expected_outcome: Names the period, see docs/period.md and docs/none.md
"""
SUITE = """\
tests:
  - id: refund-period
    input: file://docs/period.md
    rubrics:
      - {id: Ton 😀, expected_outcome: Friendly}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    files = {
        "a.rubric.yaml": RUBRIC,
        "sub dir/suite.yaml": SUITE,
        "docs/period.md": "",
        "other.yaml": "key: accuracy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


async def search(editor, query):
    params = types.WorkspaceSymbolParams(query)
    found = await asyncio.wait_for(editor.client.workspace_symbol_async(params), TIMEOUT)
    return [
        (
            each.name,
            each.kind.name,
            each.container_name,
            Path(to_fs_path(each.location.uri)).name,
            each.location.range.start.line,
        )
        for each in found
    ]


ACCURACY = ("accuracy", "Field", None, "a.rubric.yaml", 2)
CASE = ("refund-period", "Object", None, "suite.yaml", 1)
TONE = ("Ton 😀", "Field", "refund-period", "suite.yaml", 4)


async def test_cases_and_criteria_of_all_files_are_found_as_they_are_now(folder):
    async with start(folder) as editor:
        assert await search(editor, "") == [ACCURACY, CASE, TONE]
        assert await search(editor, "RePer") == [CASE]
        assert await search(editor, "ton") == [TONE]
        assert await search(editor, "nothing") == []
        (folder / "sub dir/suite.yaml").write_text("# moved\n" + SUITE, encoding="utf-8")
        editor.open(uri_of(folder / "a.rubric.yaml"), RUBRIC.replace("accuracy", "typed"))
        moved = [(*each[:-1], each[-1] + 1) for each in (CASE, TONE)]
        assert await search(editor, "") == [("typed", *ACCURACY[1:]), *moved]
        (folder / "sub dir/suite.yaml").unlink()
        assert await search(editor, "") == [("typed", *ACCURACY[1:])]


async def links(editor, path):
    uri, text = uri_of(path), path.read_text("utf-8")
    editor.open(uri, text)
    params = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
    found = await asyncio.wait_for(editor.client.text_document_document_link_async(params), TIMEOUT)
    lines = text.split("\n")
    return [
        (
            lines[each.range.start.line][each.range.start.character : each.range.end.character],
            *each.target.partition("#")[::2],
            each.tooltip,
        )
        for each in found or ()
    ]


async def test_a_document_links_to_its_schema_and_to_files_that_exist(folder):
    schema = schemas_root() / "bundled/rubric-v2.schema.json"
    period = uri_of(folder / "docs/period.md")
    async with start(folder) as editor:
        assert await links(editor, folder / "a.rubric.yaml") == [
            (
                "https://rubric-lint.github.io/schemas/rubric-v2.schema.json",
                uri_of(schema),
                "",
                "Open the JSON Schema",
            ),
            ("docs/period.md", period, "", "Open the file"),
        ]
        # A path that is not there from the suite is looked for in the folder of the editor.
        assert await links(editor, folder / "sub dir/suite.yaml") == [("docs/period.md", period, "", "Open the file")]
        assert await links(editor, folder / "other.yaml") == []


async def test_a_test_file_links_to_its_rubric_and_its_recordings_and_settings_to_what_they_name(folder):
    tests = 'rubric: "sub dir/suite.yaml#refund-period"\noutputs: out puts.jsonl\ntests: []\n'
    (folder / "a.rubric-test.yaml").write_text(tests)
    (folder / "out puts.jsonl").write_text("")
    (folder / "rubric-lint.toml").write_text('judged = ["docs/period.md", "none.jsonl"]\n')
    async with start(folder) as editor:
        assert await links(editor, folder / "a.rubric-test.yaml") == [
            ("sub dir/suite.yaml#refund-period", uri_of(folder / "sub dir/suite.yaml"), "L4", "Open the rubric"),
            ("out puts.jsonl", uri_of(folder / "out puts.jsonl"), "", "Open the recorded outputs"),
        ]
        found = await links(editor, folder / "rubric-lint.toml")
        assert [(text, PurePosixPath(target).name) for text, target, *_ in found] == [("docs/period.md", "period.md")]
