"""What an editor can go to from anywhere: cases and criteria of all files, and the files that a document names."""

import asyncio
from pathlib import Path

import pytest
from editor import TIMEOUT, start, uri_of
from lsprotocol import types
from pygls.uris import to_fs_path

from rubric_lint.model.schema_files import schemas_root

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
    return [f"search {query}:"] + [
        f"  {each.kind.name} {each.name} in {each.container_name}, "
        f"{Path(to_fs_path(each.location.uri)).name}:{each.location.range.start.line}"
        for each in found
    ]


@pytest.mark.slow
async def test_cases_and_criteria_of_all_files_are_found_as_they_are_now(folder, said):
    async with start(folder) as editor:
        for query in ("", "RePer", "ton", "nothing"):
            said(await search(editor, query))
        (folder / "sub dir/suite.yaml").write_text("# moved\n" + SUITE, encoding="utf-8")
        editor.open(uri_of(folder / "a.rubric.yaml"), RUBRIC.replace("accuracy", "typed"))
        said(await search(editor, ""))
        (folder / "sub dir/suite.yaml").unlink()
        said(await search(editor, ""))


async def links(editor, path):
    """The text, the target and the tooltip of each link."""
    uri, text = uri_of(path), path.read_text("utf-8")
    editor.open(uri, text)
    params = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
    found = await asyncio.wait_for(editor.client.text_document_document_link_async(params), TIMEOUT)
    lines = text.split("\n")
    return [f"links of {path.name}:"] + [
        f"  {lines[each.range.start.line][each.range.start.character : each.range.end.character]}: "
        f"{each.target.replace(schemas_root().as_uri(), 'SCHEMAS')} ({each.tooltip})"
        for each in found or ()
    ]


@pytest.mark.slow
async def test_a_document_links_to_its_schema_and_to_files_that_exist(folder, said):
    async with start(folder) as editor:
        # A path that is not there from the suite is looked for in the folder of the editor.
        for name in ("a.rubric.yaml", "sub dir/suite.yaml", "other.yaml"):
            said(await links(editor, folder / name))


@pytest.mark.slow
async def test_a_test_file_links_to_its_rubric_and_its_recordings_and_settings_to_what_they_name(folder, said):
    tests = 'rubric: "sub dir/suite.yaml#refund-period"\noutputs: out puts.jsonl\ntests: []\n'
    (folder / "a.rubric-test.yaml").write_text(tests)
    (folder / "out puts.jsonl").write_text("")
    (folder / "rubric-lint.toml").write_text('judged = ["docs/period.md", "none.jsonl"]\n')
    async with start(folder) as editor:
        for name in ("a.rubric-test.yaml", "rubric-lint.toml"):
            said(await links(editor, folder / name))
