"""Formatting in editors: offered only if the settings switch it on, with few edits, and refused with the reason."""

import asyncio

import pytest
from editor import apply_edits, run, start, uri_of
from lsprotocol import types

ONE = """\
  - weight: 2  # counts double
    id: {0} 😀
    score_ranges:
      - {{score_range: [7,10], expected_outcome: Names it}}
      - {{score_range: [0,6], expected_outcome: Names none}}
"""
TEXT = "# head\nrubrics:\n" + ONE.format("a") + ONE.format("b")
DONE = """\
  - id: {0} 😀
    weight: 2  # counts double
    score_ranges:
      - {{score_range: [0, 6], expected_outcome: Names none}}
      - {{score_range: [7, 10], expected_outcome: Names it}}
"""
METHODS = {types.TEXT_DOCUMENT_FORMATTING, types.TEXT_DOCUMENT_RANGE_FORMATTING}
HOW = types.FormattingOptions(tab_size=2, insert_spaces=True)


async def ask(editor, uri):
    params = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), HOW)
    return await editor.client.text_document_formatting_async(params)


async def ask_for(editor, uri, *lines):
    place = types.Range(*(types.Position(line, 0) for line in lines))
    params = types.DocumentRangeFormattingParams(types.TextDocumentIdentifier(uri), place, HOW)
    return await editor.client.text_document_range_formatting_async(params)


FEATURES = {
    "text_document.formatting": types.DocumentFormattingClientCapabilities,
    "text_document.range_formatting": types.DocumentRangeFormattingClientCapabilities,
}
LATE = {name: make(dynamic_registration=True) for name, make in FEATURES.items()}
EARLY = {name: make() for name, make in FEATURES.items()}


def is_offered(editor):
    can = editor.result.capabilities
    return bool(can.document_formatting_provider), bool(can.document_range_formatting_provider)


async def wait_for(condition):
    while not condition():
        await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_it_is_offered_as_long_as_the_settings_switch_it_on(tmp_path):
    async with start(tmp_path, can=LATE, settings={"": {}, tmp_path: {}}) as editor:
        ended = []
        editor.client.feature(types.CLIENT_UNREGISTER_CAPABILITY)(
            lambda params: ended.extend(each.method for each in params.unregisterations)
        )
        uri = editor.open(tmp_path / "a.rubric.yaml", TEXT)
        await editor.ask("documentSymbol", uri)
        assert is_offered(editor) == (False, False)
        assert not METHODS & {each.method for each in editor.registered}
        assert await ask(editor, uri) is None
        for value in (True, False):
            for scope in (None, uri_of(tmp_path)):
                editor.client.set_configuration({"rubric-lint": {"formatting": value}}, scope_uri=scope)
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
            if value:
                await wait_for(lambda: METHODS <= {each.method for each in editor.registered})
                assert apply_edits(TEXT, await ask(editor, uri)) == "# head\nrubrics:\n" + DONE.format(
                    "a"
                ) + DONE.format("b")
            else:
                await wait_for(lambda: METHODS <= {*ended})
                assert await ask(editor, uri) is None
        assert await editor.end() == 0


@pytest.mark.slow
def test_an_editor_that_cannot_learn_it_later_learns_it_from_its_first_settings(tmp_path):
    async def session(options, expected):
        async with start(tmp_path, can=EARLY, options=options) as editor:
            assert is_offered(editor) == (expected, expected)
            assert await editor.end() == 0

    run(session({"settings": {"formatting": True}}, expected=True))
    run(session({"settings": {}}, expected=False))


@pytest.mark.slow
async def test_a_range_formats_its_criteria_and_what_cannot_move_is_logged(tmp_path, said):
    on = {"formatting": True}
    async with start(tmp_path, can=LATE, settings={"": on, tmp_path: on}) as editor:
        uri = editor.open(tmp_path / "a.rubric.yaml", TEXT)
        await wait_for(lambda: METHODS <= {each.method for each in editor.registered})
        edits = await ask_for(editor, uri, 8, 9)
        assert apply_edits(TEXT, edits) == TEXT.replace(ONE.format("b"), DONE.format("b"))
        assert all(edit.range.start.line >= 7 for edit in edits)
        done = apply_edits(TEXT, await ask(editor, uri))
        editor.replace(uri, 2, done)
        assert await ask(editor, uri) is None
        editor.replace(uri, 3, "rubrics:\n  - {weight: 2,  # its share\n     id: a}\n")
        assert await ask(editor, uri) is None
        said([line.partition("a.rubric.yaml")[2] for line in editor.logged if "formatted" in line])
        editor.replace(uri, 4, "rubrics: [\n")
        assert await ask(editor, uri) is None
        assert await editor.end() == 0
