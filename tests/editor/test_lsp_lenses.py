"""The lenses above rubrics and tests, and the commands behind them."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from cases import read_cases
from editor import start, uri_of
from embedded import Client
from lsprotocol import types
from typed import state_of

from rubric_lint.editor.answers.actions import Abilities, make_actions
from rubric_lint.editor.answers.commands import RUN_TESTS, SCORE_OUTPUTS, SHOW_PROMPT, make_lenses, plan_call
from rubric_lint.editor.server.analysis import analyse

TABLES = read_cases(__file__)


EXAMPLES = Path(__file__).parents[2] / "examples"

SUITE = TABLES["SUITE"]


@pytest.fixture
def folder(tmp_path):
    """A folder with an odd name, a rubric, its tests and its recorded outputs."""
    path = tmp_path / "rubrics é 😀 #1"
    path.mkdir()
    for name in ("refund.rubric.yaml", "refund.rubric-test.yaml", "refund.judged.jsonl"):
        shutil.copy(EXAMPLES / name, path)
    return path


def look(path, text=None):
    text = Path(path).read_text("utf-8") if text is None else text
    return analyse(replace(state_of(text, str(path)), uri=uri_of(path)))


def lenses(path, text=None):
    """The line, the title, the command and the rubric of each lens."""
    analysis = look(path, text)
    return [
        (lens.range.start.line, lens.command.title, lens.command.command, lens.command.arguments[1])
        for lens in make_lenses(analysis)
        if lens.command.arguments[0] == analysis.state.uri
    ]


def actions(path, place):
    """The actions at a range."""
    analysis = look(path)
    abilities = Abilities(versioned=True, lazy=True, confirms=True)
    return [*make_actions(analysis, analysis.state.text.span(place), None, abilities, asked=True)]


def test_a_rubric_with_tests_and_outputs_offers_all_three(folder):
    assert lenses(folder / "refund.rubric.yaml") == [
        (2, "Run 6 tests", RUN_TESTS, "refund"),
        (2, "Score recorded outputs", SCORE_OUTPUTS, ""),
        (2, "Show prompt", SHOW_PROMPT, ""),
    ]
    assert lenses(folder / "refund.rubric-test.yaml") == [(3, "Run 6 tests", RUN_TESTS, "")]


def test_each_rubric_of_a_suite_has_its_own_and_one_with_errors_has_none(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    test = "rubric: suite.yaml#two\ntests: [{id: a, answer: b, expect: {verdict: pass}}]\n"
    (tmp_path / "two.rubric-test.yaml").write_text(test, "utf-8")
    (tmp_path / "broken.rubric-test.yaml").write_text("rubric: [\n", "utf-8")
    (tmp_path / "other.rubric-test.yaml").write_text(test.replace("suite", "other"), "utf-8")
    assert lenses(tmp_path / "suite.yaml") == [
        (2, "Show prompt", SHOW_PROMPT, "one"),
        (6, "Run 1 test", RUN_TESTS, "two"),
        (6, "Show prompt", SHOW_PROMPT, "two"),
    ]


def test_what_is_not_on_disk_or_holds_no_rubric_has_none(tmp_path):
    assert lenses(tmp_path / "a.rubric.yaml", "rubrics: [Names the cause]") == []
    (tmp_path / "a.yaml").write_text("services: []\n", "utf-8")
    assert lenses(tmp_path / "a.yaml") == []


GOALS = """\
goals:
  criteria:
    - {id: tone, weight: 1, text: Thanks the reader}
    - {id: facts, weight: 1, text: Takes each number from the source}
"""


@pytest.mark.slow
async def test_a_format_that_is_not_read_can_be_described_in_the_settings_of_the_repository(tmp_path, said):
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "goals.yaml"
    path.write_text(GOALS, "utf-8")
    said(lenses(path))
    async with start(tmp_path) as editor:
        editor.open(uri_of(path), GOALS)
        (told,) = await editor.diagnostics(uri_of(path))
        key = types.Range(types.Position(1, 2), types.Position(1, 10))
        assert (told.range, told.severity, told.code) == (key, types.DiagnosticSeverity.Information, None)
        (action,) = actions(path, key)
        assert (told.message.split("`")[:2], action.diagnostics) == (["not checked: ", "criteria"], [told])
        assert actions(path, types.Range(types.Position(2, 0), types.Position(2, 0))) == []
        report = await run_command(editor, action.command.command, *action.command.arguments)
        said(report)
        assert await editor.end() == 0
    assert not (tmp_path / "rubric-lint.toml").exists()  # its scale is an open question


def test_the_commands_are_those_of_the_command_line(folder, said):
    rubric = str(folder / "refund.rubric.yaml")
    said([plan_call(command, rubric, "refund").line for command in (RUN_TESTS, SCORE_OUTPUTS, SHOW_PROMPT)])
    (folder / "refund.rubric-test.yaml").unlink()
    (folder / "refund.judged.jsonl").unlink()
    said(plan_call(RUN_TESTS, rubric, ""), plan_call(SCORE_OUTPUTS, rubric, ""))
    dashed = str(folder / "-v.rubric.yaml")
    said(plan_call(SHOW_PROMPT, dashed, "").line)


async def run_command(editor, name, *arguments):
    params = types.ExecuteCommandParams(command=name, arguments=list(arguments))
    return await editor.client.workspace_execute_command_async(params)


@pytest.mark.slow
async def test_a_command_shows_what_the_command_line_prints(folder, said):
    shown = []

    path = folder / "refund.rubric-test.yaml"
    uri = uri_of(path)
    async with start(
        folder, can={"window.show_document": types.ShowDocumentClientCapabilities(support=True)}
    ) as editor:

        def show(params):
            shown.append(Path(types_path(params.uri)))
            return types.ShowDocumentResult(success=shown[-1].is_file())

        editor.client.protocol.fm.features.pop(types.WINDOW_SHOW_DOCUMENT, None)
        editor.client.feature(types.WINDOW_SHOW_DOCUMENT)(show)
        editor.open(uri, path.read_text("utf-8"))
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        (lens,) = await editor.client.text_document_code_lens_async(params)
        report = await run_command(editor, lens.command.command, *lens.command.arguments)
        said(report)
        assert [each.name for each in shown] == ["refund tests.txt"]
        assert shown[0].read_text("utf-8") == report
        editor.replace(uri, 2, path.read_text("utf-8") + "# more\n")
        report = await run_command(editor, RUN_TESTS, uri, "")
        said(report)
        assert await editor.end() == 0
        assert not shown[0].exists()


def types_path(uri):
    from pygls.uris import to_fs_path  # noqa: PLC0415

    return to_fs_path(uri)


@pytest.mark.slow
async def test_an_editor_that_cannot_show_a_document_gets_the_report_in_its_log(tmp_path, said):
    path = tmp_path / "a.rubric.yaml"
    path.write_text("rubrics: [Names the cause]\n", "utf-8")
    async with start(tmp_path, can={"window.show_document": None}) as editor:
        uri = editor.open(path, path.read_text("utf-8"))
        report = await run_command(editor, SHOW_PROMPT, uri, "")
        said(report)
        assert "Names the cause" in report
        assert report in editor.logged
        said([message.message for message in editor.client.messages])
        assert await run_command(editor, RUN_TESTS, uri, "") is None
        assert await run_command(editor, RUN_TESTS, "file:///not-open.yaml") is None
        assert await run_command(editor, RUN_TESTS) is None
        assert len(editor.client.messages) == 4
        editor.client.messages.clear()
        assert await editor.end() == 0


@pytest.mark.slow
async def test_lenses_can_be_switched_off(folder):
    async with start(folder, settings={"": {"lenses": False}, folder: {"lenses": False}}) as editor:
        uri = editor.open(folder / "refund.rubric.yaml", (folder / "refund.rubric.yaml").read_text("utf-8"))
        await editor.diagnostics(uri)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        assert not await editor.client.text_document_code_lens_async(params)
        assert await editor.end() == 0


@pytest.mark.slow
def test_a_file_is_saved_if_only_its_mark_and_line_ends_are_not_those_of_the_editor(tmp_path):
    path = tmp_path / "a.rubric.yaml"
    path.write_bytes("\ufeffrubrics:\r\n  - Names the cause é\n".encode("utf-16-le"))

    async def session(text):
        client = Client()
        await client.start(tmp_path.as_uri())
        client.open(path.as_uri(), text)
        arguments = [path.as_uri(), ""]
        answer = await client.ask("workspace/executeCommand", {"command": SHOW_PROMPT, "arguments": arguments})
        await client.end()
        assert client.logged[1:] == []
        return "are not saved" in answer["result"]

    assert not asyncio.run(session("rubrics:\n  - Names the cause é\n"))
    assert asyncio.run(session("rubrics:\n  - Names the cause e\n"))


@pytest.mark.slow
async def test_a_program_ends_by_itself_even_if_it_does_more_after_it_has_printed(tmp_path, monkeypatch):
    path, marker = tmp_path / "a.rubric.yaml", tmp_path / "ended"
    path.write_text("rubrics: [Names the cause]\n", "utf-8")
    late = f"sys.stdout.flush(), os.close(1), os.close(2), time.sleep(0.2), open({str(marker)!r}, 'w').close()"
    (tmp_path / "sitecustomize.py").write_text(f"import atexit, os, sys, time\natexit.register(lambda: ({late}))\n")
    client = Client()
    await client.start(tmp_path.as_uri())
    client.open(path.as_uri(), path.read_text())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    arguments = [path.as_uri(), ""]
    answer = await client.ask("workspace/executeCommand", {"command": SHOW_PROMPT, "arguments": arguments})
    await client.end()
    assert ("Names the cause" in answer["result"], marker.exists()) == (True, True)
