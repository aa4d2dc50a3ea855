"""The language server as an editor meets it: a real process, its messages, and what becomes of the text."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from difflib import unified_diff
from pathlib import Path

import commands
import pytest
from cases import read_cases
from editor import SERVER, TIMEOUT, apply_edits, start, units, uri_of
from faulty_rubrics import SYNTAX
from found import message
from lsprotocol import types

from rubric_lint import __version__
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix

ROOT = Path(__file__).parents[2]
ACTIONS = read_cases(__file__)["actions"]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))

FOUR = "criterion `tone`: " + message(
    "overlap.shared-scores", scores="score 4", are="is", band="[4, 10]", other="[0, 4]", line="line 4"
)
OVERLAP = """\
rubrics:
  - id: tone
    score_ranges:
      - score_range: [0, 4]
        expected_outcome: Blames the customer 😀
      - score_range: [4, 10]
        expected_outcome: Helps the customer
  - id: speed
    score_ranges: {0: Answers after a day, 5: Answers within a day}
"""

# An emoji before a fault on its line, and another one in it.
EMOJI = "rubrics:\n  - {expected_outcome: 😀 é says so, wieght😀: 1, required: true}\n"

LEGACY = """\
rubrics:
  - id: a
    description: Says so
    required: true
    weight: 1 # what matters
  - id: b
    description: Says why
    required: false
"""


def slice_of(text, place, encoding="utf-16"):
    """The text of a range that lies on one line."""
    line = re.split(r"\r\n|\r|\n", text)[place.start.line]
    starts = [units(line[:end], encoding) for end in range(len(line) + 1)]
    return line[starts.index(place.start.character) : starts.index(place.end.character)]


def apply(text, action, encoding="utf-16"):
    """The text after an action's edits, made as the protocol says."""
    (document,) = action.edit.document_changes
    return apply_edits(text, document.edits, encoding)


@pytest.fixture
def folder(tmp_path):
    """A folder whose name and path are odd."""
    path = tmp_path / "rubrics é 😀 #1"
    path.mkdir()
    return path


@pytest.mark.slow
async def test_it_says_who_it_is_and_what_it_can(folder):
    async with start(folder) as editor:
        can = editor.result.capabilities
        assert (editor.result.server_info.name, editor.result.server_info.version) == ("rubric-lint", __version__)
        assert can.text_document_sync.change == types.TextDocumentSyncKind.Incremental
        assert list(can.code_action_provider.code_action_kinds) == ["quickfix", "source.fixAll.rubric-lint"]
        assert all((can.hover_provider, can.document_symbol_provider, can.folding_range_provider))
        assert can.completion_provider.trigger_characters == (" ", "[", "{", '"')
        assert can.workspace.workspace_folders.supported
        assert await editor.end() == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
async def test_its_findings_are_those_of_the_command_line(editor, example):
    text = example.read_text("utf-8")
    editor.open(uri_of(example), text)
    found = await editor.diagnostics(uri_of(example))
    result = lint(str(example), example.read_bytes())
    positions = [result.source.position(finding.span.start) for finding in result.findings]
    assert [(each.code, each.message, each.range.start.line + 1, each.range.start.character + 1) for each in found] == [
        (finding.rule, finding.message, place.line, place.column)
        for finding, place in zip(result.findings, positions, strict=True)
    ]


async def test_a_diagnostic_says_all_that_there_is_to_say(editor, folder):
    uri = editor.open(folder / "a.yaml", OVERLAP)
    (found,) = await editor.diagnostics(uri)
    assert found == types.Diagnostic(
        range=types.Range(types.Position(5, 21), types.Position(5, 28)),
        severity=types.DiagnosticSeverity.Error,
        code="overlap",
        code_description=types.CodeDescription("https://rubric-lint.github.io/rules/overlap/"),
        source="rubric-lint",
        data={"code": "overlap.shared-scores"},
        message=FOUR,
        related_information=(
            types.DiagnosticRelatedInformation(
                types.Location(uri, types.Range(types.Position(3, 21), types.Position(3, 27))), "also covers 4"
            ),
        ),
    )


async def test_what_is_old_and_what_is_needless_is_marked_so(editor, folder):
    uri = editor.open(folder / "a.yaml", LEGACY.replace("Says why", "Says why # rubric-lint: ignore[overlap]"))
    found = await editor.diagnostics(uri)
    assert {(each.code, each.severity, each.tags) for each in found} == {
        ("deprecated-description", types.DiagnosticSeverity.Warning, (types.DiagnosticTag.Deprecated,)),
        ("deprecated-required", types.DiagnosticSeverity.Warning, (types.DiagnosticTag.Deprecated,)),
        ("unused-ignore", types.DiagnosticSeverity.Warning, (types.DiagnosticTag.Unnecessary,)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_places_are_counted_as_the_editor_counts(folder, encoding):
    async with start(folder, encodings=[encoding]) as editor:
        assert editor.result.capabilities.position_encoding == encoding
        uri = editor.open(folder / "a.yaml", EMOJI)
        found = await editor.diagnostics(uri)
        assert [(each.code, slice_of(EMOJI, each.range, encoding)) for each in found] == [
            ("missing-id", "expected_outcome"),
            ("unknown-field", "wieght😀"),
            ("deprecated-required", "required"),
        ]
        old, *_ = await editor.actions(
            uri, (1, found[2].range.start.character), (1, found[2].range.start.character), ["quickfix"]
        )
        assert apply(EMOJI, old, encoding) == EMOJI.replace("required: true", "required_min_score: 10")
        # Typed behind the emoji, in the units of the editor.
        at = found[1].range.end
        start_of_emoji = types.Position(1, at.character - units("😀", encoding))
        editor.change(uri, 2, types.TextDocumentContentChangePartial(range=types.Range(start_of_emoji, at), text=""))
        found = await editor.diagnostics(uri, 2)
        assert "criterion 1: unknown field `wieght`; did you mean `weight`?" in [each.message for each in found]


@pytest.mark.parametrize(("line_end", "mark"), [("\n", ""), ("\r\n", "\ufeff"), ("\r", "")], ids=["LF", "CRLF", "CR"])
async def test_fixing_all_gives_what_rubric_fix_writes(editor, folder, line_end, mark):
    text = mark + LEGACY.replace("\n", line_end)
    uri = editor.open(folder / "a.yaml", text)
    await editor.diagnostics(uri)
    (action,) = await editor.actions(uri, only=["source.fixAll.rubric-lint"])
    assert action.kind == "source.fixAll.rubric-lint"
    assert action.edit.document_changes[0].text_document.version == 1
    fixed = apply(text, action)
    assert fixed.encode() == fix("a.yaml", text.encode()).data
    assert fixed != text


@pytest.mark.slow
async def test_each_kind_of_action_is_given_to_who_asks_for_it(editor, folder):
    uri = editor.open(folder / "a.yaml", LEGACY + "    wieght: 2\n")
    of_all = "source.fixAll.rubric-lint"
    kinds = {
        ("quickfix",): ["quickfix"],
        ("source",): [of_all],
        ("source.fixAll",): [of_all],
        (of_all,): [of_all],
        ("source.fixAll.ruff",): [],
        ("source.organizeImports",): [],
        ("refactor",): [],
        None: ["quickfix", of_all],
    }
    given = {only: await editor.actions(uri, only=only and [*only]) for only in kinds}
    assert {only: sorted({action.kind for action in actions}) for only, actions in given.items()} == kinds


@pytest.mark.parametrize("case", ACTIONS.values(), ids=ACTIONS)
async def test_each_action_makes_of_the_text_what_it_says(editor, folder, case, said):
    text, (line, start, last, end), only = case
    uri = editor.open(folder / ("a.json" if text[0] == "{" else "a.yaml"), text)
    shown = []
    for action in await editor.actions(uri, (line, start), (last, end), only):
        later = "" if action.edit else ", later"
        whole = await editor.resolve(action)
        assert whole == (action if action.edit else await editor.resolve(whole))
        confirmed = [f"confirm: {each.label}" for each in (whole.edit.change_annotations or {}).values()]
        shown.append(f"{action.title} ({action.kind}{', preferred' if action.is_preferred else ''}{later})")
        after = apply(text, whole)
        shown += [*confirmed, *list(unified_diff(text.splitlines(), after.splitlines(), lineterm="", n=0))[2:]]
        assert ("\r\n" in after) == ("\r\n" in text)
    said(shown)


async def test_an_action_is_computed_for_the_text_as_it_is_when_it_is_chosen(editor, folder):
    uri, (text, place, only) = uri_of(folder / "a.yaml"), ACTIONS["one of three misspelt fields"]
    editor.open(uri, text)
    _, alike, _ = await editor.actions(uri, tuple(place[:2]), tuple(place[2:]), only)
    editor.replace(uri, 2, text.replace("weihgt", "weight"))
    assert len((await editor.resolve(alike)).edit.document_changes[0].edits) == 2


@pytest.mark.slow
async def test_a_fix_in_a_long_rubric_is_proved_when_it_is_selected(editor, folder, said):
    sound = "  - {id: a, expected_outcome: Says it, wieght: 2}\n"
    doubtful = "  - {idd: a, expected_outcome: Says that}\n"
    long = "".join(f"  - {{id: b{number}, expected_outcome: {'Says so ' * 90}{number}}}\n" for number in range(90))
    text = f"rubrics:\n{sound}{doubtful}{long}"
    uri = editor.open(folder / "a.yaml", text)
    sound, *_ = await editor.actions(uri, (1, 0), (1, 99), ["quickfix"])
    doubtful, *_ = await editor.actions(uri, (2, 0), (2, 99), ["quickfix"])
    titles = ["Rename `wieght` to `weight` (unsafe)", "Rename `idd` to `id` (unsafe)"]
    assert [each.title for each in (sound, doubtful)] == titles
    assert (sound.edit, doubtful.edit) == (None, None)
    sound = await editor.resolve(sound)
    assert apply(text, sound) == text.replace("wieght: 2", "weight: 2")
    assert [annotation.label for annotation in sound.edit.change_annotations.values()] == [
        "Rename `wieght` to `weight`"
    ]
    assert (await editor.resolve(doubtful)).edit is None
    said([message.message for message in editor.client.messages])
    editor.client.messages.clear()


@pytest.mark.slow
async def test_an_editor_that_cannot_ask_later_gets_the_comment_at_once(folder):
    async with start(folder, can={"text_document.code_action.resolve_support": None}) as editor:
        uri = editor.open(folder / "a.yaml", OVERLAP)
        *_, action = await editor.actions(uri, (5, 0), (5, 99))
        assert action.data is None
        assert apply(OVERLAP, action) == OVERLAP.replace("[4, 10]", "[4, 10]  # rubric-lint: ignore[overlap]")


@pytest.mark.slow
async def test_a_comment_is_for_the_text_as_it_is_when_it_is_chosen(folder, said):
    async with start(folder) as editor:
        uri = editor.open(folder / "a.yaml", OVERLAP)
        *_, action = await editor.actions(uri, (5, 0), (5, 99))
        text = "# one more line\n" + OVERLAP
        editor.replace(uri, 2, text)
        action = await editor.resolve(action)
        assert action.edit.document_changes[0].text_document.version == 2
        assert apply(text, action) == text.replace("[4, 10]", "[4, 10]  # rubric-lint: ignore[overlap]")
        editor.replace(uri, 3, OVERLAP.replace("[4, 10]", "[5, 10]"))
        action.edit = None
        assert (await editor.resolve(action)).edit is None
        said([message.message for message in editor.client.messages])
        editor.client.messages.clear()


@pytest.mark.slow
async def test_a_long_selection_is_answered_in_time(editor, folder, said):
    text = "rubrics:\n" + "".join(f"  - id: a{number}\n    description: Says {number}\n" for number in range(100))
    uri = editor.open(folder / "a.yaml", text)
    titles = Counter(action.title for action in await editor.actions(uri))
    said([f"{count} times: {title}" for title, count in titles.items()])


@pytest.mark.slow
async def test_edits_are_plain_for_an_editor_that_knows_no_versions(folder):
    async with start(folder, can={"workspace.workspace_edit.document_changes": None}) as editor:
        uri = editor.open(folder / "a.yaml", "rubrics:\n  - id: a\n    description: Says so\n")
        (action,) = await editor.actions(uri, only=["source.fixAll"])
        assert action.edit.document_changes is None
        assert [each.new_text for each in action.edit.changes[uri]] == ["expected_outcome"]


async def test_actions_are_for_the_text_as_it_is_now_not_as_it_was_linted(editor, folder):
    uri = editor.open(folder / "a.yaml", LEGACY)
    await editor.diagnostics(uri)
    text = "# one more line\n" + LEGACY
    editor.replace(uri, 2, text)
    (action,) = await editor.actions(uri, only=["source.fixAll"])
    assert action.edit.document_changes[0].text_document.version == 2
    assert apply(text, action).encode() == fix("a.yaml", text.encode()).data


@pytest.mark.slow
async def test_findings_follow_the_text(editor, folder):
    uri = editor.open(folder / "a.yaml", OVERLAP)
    assert await editor.found(uri) == [("overlap", 5)]
    place = types.Range(types.Position(5, 22), types.Position(5, 23))
    editor.change(uri, 2, types.TextDocumentContentChangePartial(range=place, text="5"))
    assert await editor.found(uri, 2) == []
    # Two changes in one message, each for the text that the one before left.
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    again = types.Range(types.Position(7, 22), types.Position(7, 23))
    editor.change(
        uri,
        3,
        types.TextDocumentContentChangePartial(range=top, text="x: '😀\u2028 still this line'\r\ny: \"\x85\"\n"),
        types.TextDocumentContentChangePartial(range=again, text="3"),
    )
    assert await editor.found(uri, 3) == [("overlap", 7)]


@pytest.mark.slow
async def test_a_closed_document_leaves_no_findings(editor, folder):
    uri = editor.open(folder / "a.yaml", OVERLAP)
    assert len(await editor.diagnostics(uri)) == 1
    waiting = asyncio.create_task(editor.next_diagnostics(uri))
    await asyncio.sleep(0)
    editor.replace(uri, 2, OVERLAP + "\n")
    editor.close(uri)
    assert list(await waiting) == []
    await asyncio.sleep(0.5)
    assert [each.version for each in editor.published if each.uri == uri][-1] is None


METRIC = (
    'GEval(name="a", criteria="c", rubric=[Rubric(score_range=(0, 4), expected_outcome="Blames the customer"), '
    'Rubric(score_range=(4, 10), expected_outcome="Thanks the customer")])\n'
)


@pytest.mark.parametrize(
    ("uri", "language", "text", "expected"),
    [
        ("untitled:Untitled-1", "yaml", OVERLAP, [("overlap", 5)]),
        ("untitled:Untitled-3", "json", '{"rubrics": [{"expected_outcome": "", "id": "a"}]}', [("empty-outcome", 0)]),
        ("untitled:a.jsonl", "jsonl", '{"rubrics": []}\n', [(None, 0)]),
        ("vscode-vfs://github/a/b.rubric.yaml", "yaml", "rubrics: []\n", [("schema", 0)]),
        ("untitled:Untitled-4", "python", METRIC, [("overlap", 0), ("split-band", 0)]),
        ("untitled:Untitled-5", "python", "print 'no rubric, and no Python 3'\n", []),
        ("untitled:Untitled-6", "toml", '[[criterion]]\ndescription = " "\n', [("empty-outcome", 1)]),
        ("untitled:Untitled-2", "plaintext", OVERLAP, [("overlap", 5)]),
        ("http://[::1/no-uri.yaml", "yaml", OVERLAP, [("overlap", 5)]),
    ],
)
async def test_what_is_no_file_is_checked_by_its_language(editor, uri, language, text, expected):
    editor.open(uri, text, language)
    assert await editor.found(uri) == expected


@pytest.mark.slow
async def test_each_folder_has_settings_of_its_own_and_what_is_in_none_has_its_file_s(tmp_path):
    one, two, outside = (tmp_path / name for name in ("one", "two", "outside"))
    for path in (one, two, outside, one / "inner", two / "drafts"):
        path.mkdir()
    (one / "rubric-lint.toml").write_text('ignore = ["missing-id"]\n')
    (two / "pyproject.toml").write_text(
        '[tool.rubric-lint]\nexclude = ["drafts/"]\n[tool.rubric-lint.severity]\nmissing-id = "error"\n'
    )
    (outside / "rubric-lint.toml").write_text('select = ["missing-id"]\n')
    text = "rubrics:\n  - expected_outcome: Says so\n    wieght: 1\n"

    async with start(one, two) as editor:
        expected = {
            one / "inner" / "a.yaml": [("unknown-field", 1)],
            two / "a.yaml": [("missing-id", 1), ("unknown-field", 1)],
            two / "drafts" / "a.yaml": [],
            outside / "a.yaml": [("missing-id", 2)],
        }
        for path in expected:
            editor.open(uri_of(path), text)
        assert {
            path: [(each.code, each.severity) for each in await editor.diagnostics(uri_of(path))] for path in expected
        } == expected


@pytest.mark.slow
async def test_settings_are_read_again_when_they_change(folder, said):
    async with start(folder) as editor:
        uri = editor.open(folder / "a.yaml", OVERLAP)
        assert await editor.found(uri) == [("overlap", 5)]
        assert [each.method for each in editor.registered] == [
            "workspace/didChangeWatchedFiles",  # by name, such as settings
            "workspace/didChangeWatchedFiles",  # by kind, for files that are not open
            "workspace/didChangeConfiguration",
        ]
        settings = folder / "rubric-lint.toml"

        async def after(text):
            settings.write_text(text)
            return await editor.touch(uri, settings)

        assert list(await after('ignore = ["overlap"]\n')) == []
        (broken,) = await after('ignor = ["overlap"]\n')
        said(broken.message)
        assert broken.related_information[0].location.uri == uri_of(settings)
        assert [each.code for each in await after("")] == ["overlap"]


@pytest.mark.slow
async def test_what_a_baseline_holds_is_left_out_as_on_the_command_line(folder, said):
    (folder / "rubric-lint.toml").write_text('baseline = "known.json"\n')
    path = folder / "a.yaml"
    path.write_text(OVERLAP)
    command = (sys.executable, "-m", "rubric_lint", "--write-baseline", ".")
    commands.run_process(command, cwd=folder, check=True)
    late = "  - id: late\n    expected_outcome: Says so\n    wieght: 1\n"

    uri, other = uri_of(path), uri_of(folder / "b.yaml")
    async with start(folder) as editor:
        editor.open(uri, OVERLAP)
        editor.open(other, OVERLAP)
        assert await editor.found(uri) == []
        assert await editor.found(other) == [("overlap", 5)]
        assert [each.title for each in await editor.actions(uri)] == []
        editor.replace(uri, 2, OVERLAP + late)
        assert await editor.found(uri, 2) == [("mixing", 9), ("unknown-field", 11)]
        # What the comment is proven by knows of no baseline.
        assert "Ignore unknown-field here" in [each.title for each in await editor.actions(uri, (11, 4), (11, 4))]
        (folder / "known.json").write_text("[")
        editor.replace(uri, 3, OVERLAP)
        (broken,) = await editor.diagnostics(uri, 3)
        said(broken.message)
        assert broken.related_information[0].location.uri == uri_of(folder / "known.json")


@pytest.mark.slow
@pytest.mark.parametrize("written", [None, "["], ids=["missing", "broken"])
async def test_a_baseline_that_cannot_be_read_shows_in_files_without_findings_too(folder, written, said):
    (folder / "rubric-lint.toml").write_text('baseline = "known.json"\n')
    known = folder / "known.json"
    if written:
        known.write_text(written)
    path, sound = folder / "a.yaml", "rubrics: [{id: a, expected_outcome: Names the period}]\n"
    path.write_text(sound)

    async with start(folder) as editor:
        uri = editor.open(path, sound)
        (wrong,) = await editor.diagnostics(uri)
        said(wrong.message)
        known.write_text('{"version": 1, "findings": []}')
        editor.replace(uri, 2, f"{sound}\n")
        assert await editor.found(uri, 2) == []
        known.unlink()
        editor.replace(uri, 3, sound)
        (wrong,) = await editor.diagnostics(uri, 3)
        said(wrong.message)


@pytest.mark.slow
async def test_a_baseline_and_settings_under_another_name_are_read_again_when_they_change(folder):
    known, strict = folder / "known [1].json", folder / "strict.toml"
    strict.write_text('baseline = "known [1].json"\n')
    path = folder / "a.yaml"
    path.write_text(OVERLAP)

    def remember(*options):
        command = (sys.executable, "-m", "rubric_lint", "--config", str(strict), *options, "--write-baseline", ".")
        commands.run_process(command, cwd=folder, check=True)

    async with start(folder, settings={folder: {"configuration": "strict.toml"}}) as editor:
        uri = editor.open(path, OVERLAP)
        (missing,) = await editor.diagnostics(uri)
        assert missing.message.startswith(f"not checked: {known}")
        while len(editor.registered) < 4:
            await asyncio.sleep(0.01)
        first, _, _, second = editor.registered
        assert [
            watcher["globPattern"] for each in (first, second) for watcher in each.register_options["watchers"]
        ] == ["**/rubric-lint.toml", "**/pyproject.toml", "**/strict.toml", "**/known ?1?.json"]
        remember()
        assert list(await editor.touch(uri, known)) == []
        strict.write_text("")
        assert [each.code for each in await editor.touch(uri, strict)] == ["overlap"]


@pytest.mark.slow
async def test_the_editor_s_own_settings_hold_and_are_read_again(folder, said):
    (folder / "strict.toml").write_text('select = ["vague-outcome"]\n')
    async with start(folder, settings={folder: {"configuration": "strict.toml", "debounce": "soon"}}) as editor:
        uri = editor.open(folder / "a.yaml", OVERLAP)
        assert await editor.found(uri) == []
        assert editor.logged == ["the setting rubric-lint.debounce is 'soon', expected an integer; using its default"]

        async def after(value):
            editor.client.set_configuration({"rubric-lint": value}, scope_uri=uri_of(folder))
            return [each.message for each in await editor.configure(uri)]

        assert await after({}) == [FOUR]
        assert await after({"enable": False}) == []
        said(await after({"configuration": "${workspaceFolder}/nothing.toml"}))


@pytest.mark.slow
async def test_an_editor_that_cannot_be_asked_for_settings_can_tell_them(folder):
    async with start(folder, can={"workspace.configuration": None}, options={"settings": {"enable": False}}) as editor:
        uri = editor.open(folder / "a.yaml", OVERLAP)
        assert await editor.found(uri) == []
        assert [each.code for each in await editor.configure(uri, {"rubric-lint": {"enable": True}})] == ["overlap"]


SHAPES = (
    "rubrics:\n  - expected_outcome: Says so\n    id: a\n    wieght: 1\n    weight: heavy\n"
    "  - id: a\n    expected_outcome: Says why\n"
)
ALL = ["unknown-field", "schema", "duplicate-id"]
MODELINE = "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json\n"
TWICE = "rubrics:\n  - id: a\n    score_ranges: {0: States a wrong one, 5: States one, %s: States the right one}\n"
TWICE += "  - {id: b, score_ranges: {0: States no source, 5: States one}}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "settings", "schema_server", "expected"),
    [
        ("a.rubric.yaml", SHAPES, {}, False, ALL),
        ("a.rubric.yaml", SHAPES, {}, True, ALL),
        ("a.rubric.yaml", SHAPES, {"shapeErrors": "always"}, True, ALL),
        ("a.rubric.yaml", SHAPES, {"shapeErrors": "never"}, True, ["duplicate-id"]),
        ("a.yaml", SHAPES, {"shapeErrors": "never"}, False, ["duplicate-id"]),
        ("b.yaml", MODELINE + SHAPES, {}, True, ALL),
        ("b.rubric.yaml", MODELINE + SHAPES, {}, True, ALL),
    ],
)
async def test_beside_a_schema_server_every_wrong_shape_is_shown(folder, name, text, settings, schema_server, expected):
    await check_what_is_shown(folder, name, text, settings, schema_server=schema_server, expected=expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.yaml", "rubrics:\n  - expected_outcome: [\n", ["syntax"]),
        ("a.rubric.yaml", "rubrics:\n  - expected_outcome: \x92\n", ["syntax"]),
        ("a.json", '{"rubrics": [{"expected_outcome": ""', ["syntax"]),
        ("a.rubric.yaml", TWICE % '"5"', ["duplicate-key"]),
        ("a.rubric.yaml", TWICE % 5, []),
        ("a.json", '{"rubrics": [{"id": "a", "id": "a", "expected_outcome": "Says so"}]}', ["duplicate-key"]),
    ],
    ids=["broken", "a control character", "broken JSON", "a key in quotes", "a key as it was", "a key in JSON"],
)
async def test_what_a_yaml_server_may_not_see_is_shown_beside_it(folder, name, text, expected):
    await check_what_is_shown(folder, name, text, {}, schema_server=True, expected=expected)


async def check_what_is_shown(folder, name, text, settings, *, schema_server, expected):
    async with start(folder, settings={folder: settings}, options={"schemaServer": schema_server}) as editor:
        uri = editor.open(folder / name, text)
        assert [each.code for each in await editor.diagnostics(uri)] == expected


@pytest.mark.slow
async def test_a_schema_server_may_come_later(editor, folder):
    uri = editor.open(folder / "a.rubric.yaml", TWICE % 5)
    assert [each.code for each in await editor.diagnostics(uri)] == ["duplicate-key"]
    notify = editor.client.protocol.notify
    assert list(await editor.after(uri, notify, "rubric-lint/schemaServer", {"active": True})) == []


@pytest.mark.slow
async def test_folders_come_and_go(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    async with start(one, settings={"": {}, two: {"enable": False}}) as editor:
        uri = editor.open(two / "a.yaml", OVERLAP)
        assert await editor.found(uri) == [("overlap", 5)]
        event = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder(uri_of(two), "two")], removed=[])
        params = types.DidChangeWorkspaceFoldersParams(event)
        assert list(await editor.after(uri, editor.client.workspace_did_change_workspace_folders, params)) == []


async def settle(editor, uri, version, text):
    """Have a text checked, and every question about it answered."""
    editor.replace(uri, version, text)
    await editor.diagnostics(uri, version)
    await editor.actions(uri)
    await editor.ask("documentSymbol", uri)
    await editor.ask("foldingRange", uri)
    lines = text.splitlines() or [""]
    await editor.ask("hover", uri, len(lines) - 1, len(lines[-1]))
    await editor.complete(uri, len(lines) - 1, len(lines[-1]))


@pytest.mark.slow
async def test_no_document_brings_it_down(editor, folder):
    """Every text that the engine has words for, and a quick life of each."""
    before = len(editor.logged)
    uri = editor.open(folder / "a.yaml", "")
    texts = [text.decode("latin-1") if isinstance(text, bytes) else text for text, *_ in SYNTAX.values()]
    for version, text in enumerate([*texts, "rubrics: [\ud83d]\n", "\0", "\ufeff", OVERLAP], start=2):
        if len(text) < 20_000:
            await settle(editor, uri, version, text)
    assert await editor.found(uri, version) == [("overlap", 5)]
    assert editor.logged[before:] == []


TYPED = """\
$schema: https://rubric-lint.github.io/schemas/rubric-v2.schema.json
tests:
  - id: a😀
    rubrics: &one
      - id: "x: y"
        weight: 2.0 # much
        score_ranges: {0: 'No', 5: >-
          Yes}
      - - *one
"""


@pytest.mark.slow
async def test_it_lives_through_every_half_typed_text(editor, folder):
    before = len(editor.logged)
    uri = editor.open(folder / "b.rubric.yaml", "")
    for end in range(1, len(TYPED) + 1, 3):
        await settle(editor, uri, end + 1, TYPED[:end])
    assert editor.logged[before:] == []


CRASH = """
from rubric_lint.lint import engine

def crash(rubric):
    if "boom" in rubric.entries[0].id:
        raise KeyError("boom")
    return iter(())

known = engine.checks_for
engine.checks_for = lambda signs: (*known(signs), ("overlap", crash))
from rubric_lint.cli.commands import launch
from rubric_lint.cli.lint.lint import cli
launch(cli, "rubric-lint")
"""


@pytest.mark.slow
async def test_a_rule_that_crashes_is_logged_and_the_other_documents_go_on(folder, said):
    bad, good = uri_of(folder / "bad.yaml"), uri_of(folder / "good.yaml")
    async with start(folder, command=(sys.executable, "-c", CRASH, "lsp")) as editor:
        editor.open(bad, OVERLAP.replace("tone", "boom"))
        (notice,) = await editor.diagnostics(bad)
        said(notice.message)
        first, *_ = editor.logged[0].splitlines()
        fault = f"rubric-lint {__version__} crashed: RuleError: rule overlap: KeyError: 'boom'"
        assert first.startswith(f"{bad}: {fault}")
        editor.open(good, OVERLAP.replace("[4, 10]", "[6, 10]"))
        assert await editor.found(good) == [("coverage", 2)]
        editor.replace(bad, 2, OVERLAP.replace("tone", "boomer"))
        await editor.diagnostics(bad, 2)
        assert len(editor.logged) == 1
        assert await editor.end() == 0


def frame(message):
    """A message as it is sent."""
    return b"Content-Length: %d\r\n\r\n%s" % (len(message), message)


def ask(server, message):
    """Send a message to a server that runs."""
    server.stdin.write(frame(message))
    server.stdin.flush()


def talk(*messages, end=b""):
    """Give a server these messages and close its input; what the process came to."""
    data = b"".join(map(frame, messages)) + end
    return subprocess.run(SERVER, input=data, capture_output=True, timeout=TIMEOUT, check=False)


def read_answers(done):
    """The messages that a server has sent."""
    return [json.loads(each) for each in re.findall(rb"^\{.*?\}(?=Content-Length|\Z)", done.stdout, re.MULTILINE)]


INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null}}'
INITIALIZED = b'{"jsonrpc":"2.0","method":"initialized","params":{}}'
SHUTDOWN = b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}'
EXIT = b'{"jsonrpc":"2.0","method":"exit"}'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("messages", "end", "code"),
    [
        ((INITIALIZE, SHUTDOWN, EXIT), b"", 0),
        ((INITIALIZE, INITIALIZED, SHUTDOWN, EXIT), b"", 0),
        ((INITIALIZE, EXIT), b"", 1),
        ((INITIALIZE,), b"", 1),
        ((INITIALIZE,), b"Content-Length: 100\r\n\r\n{", 1),
        ((), b"", 1),
        ((INITIALIZE, b"{not json", SHUTDOWN, EXIT), b"", 0),
    ],
    ids=[
        "in order",
        "while it starts",
        "without shutdown",
        "client gone",
        "client gone in a message",
        "never begun",
        "a broken message",
    ],
)
def test_how_it_ends_is_in_the_exit_code(messages, end, code):
    done = talk(*messages, end=end)
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False)
    assert [answer["error"] for answer in read_answers(done) if "error" in answer and answer.get("id")] == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGPIPE")
def test_a_client_that_stops_reading_ends_the_server_as_one_that_disconnects():
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        ask(server, INITIALIZE)
        assert server.stdout.read(16) == b"Content-Length: "
        server.stdout.close()
        ask(server, SHUTDOWN)
        assert (server.wait(TIMEOUT), server.stderr.read()) == (1, b"")


@pytest.mark.slow
def test_every_question_is_answered_also_a_faulty_one_and_one_after_the_end():
    hover = b'{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":%s}'
    place = b'{"textDocument":{"uri":"file:///a.yaml"},"position":{"line":%d,"character":0}}'
    questions = (hover % (3, b"{}"), hover % (4, place % -1), hover % (5, place % 0))
    done = talk(INITIALIZE, *questions, SHUTDOWN, hover % (6, place % 0), EXIT)
    answers = read_answers(done)
    codes = {answer["id"]: answer.get("error", {}).get("code") for answer in answers if "id" in answer}
    assert (done.returncode, codes) == (0, {1: None, 2: None, 3: -32602, 4: -32602, 5: None, 6: -32600})


@pytest.mark.slow
def test_what_comes_before_the_beginning_or_begins_anew_is_refused(said):
    hover = b'{"jsonrpc":"2.0","id":%d,"method":"textDocument/hover","params":%s}'
    place = b'{"textDocument":{"uri":"file:///a.yaml"},"position":{"line":0,"character":0}}'
    item = b'{"uri":"file:///a.yaml","languageId":"yaml","version":1,"text":"rubrics: []"}'
    early = b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":%s}}' % item
    again = INITIALIZE.replace(b'"id":1', b'"id":4')
    done = talk(early, hover % (3, place), INITIALIZE, again, hover % (5, place), SHUTDOWN, EXIT)
    answers = read_answers(done)
    assert [answer for answer in answers if "method" in answer] == []
    errors = {answer["id"]: answer["error"] for answer in answers if "error" in answer}
    assert {name: error["code"] for name, error in errors.items()} == {3: -32002, 4: -32600}
    assert {answer["id"] for answer in answers} == {1, 2, 3, 4, 5}
    said(errors[3]["message"], errors[4]["message"])


def test_without_the_extra_it_says_what_to_install(tmp_path, said):
    (tmp_path / "pygls").mkdir()
    (tmp_path / "pygls" / "__init__.py").write_text("raise ImportError\n")
    done = commands.run_process(SERVER, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    said(done.stderr)


async def test_a_fix_is_offered_for_a_case_in_the_middle_of_a_suite(editor, folder):
    case = "  - id: case-{0}\n    rubrics:\n      - {{id: a, expected_outcome: Says {0}}}\n"
    text = "tests:\n" + "".join(map(case.format, range(300)))
    text = text.replace("{id: a, expected_outcome: Says 290}", "{id: 5, expected_outcome: Says 290}")
    uri = editor.open(folder / "a.yaml", text)
    line = text[: text.index("id: 5")].count("\n")
    actions = await editor.actions(uri, (line, 13), (line, 14), ["quickfix"])
    assert [action.title for action in actions] == ['Write `"5"` (unsafe)', "Ignore schema here"]
    assert apply(text, actions[0]) == text.replace("id: 5", 'id: "5"')
