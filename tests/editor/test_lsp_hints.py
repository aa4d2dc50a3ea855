"""The hints between the words of a rubric: shares, what is certain about verdicts, and ranges of keys."""

import asyncio
import re

import pytest
from cases import read_cases
from editor import start, uri_of
from lsprotocol import types
from typed import shown

from rubric_lint.source.source import Span

TABLES = read_cases(__file__)
ANNOTATED = TABLES["annotated"]


def plain(annotated):
    """The text without its hints."""
    return re.sub(r" «[^»]*»(?! )| «[^»]*»(?= #)|«[^»]*» ", "", annotated)


@pytest.mark.parametrize("case", ANNOTATED.values(), ids=ANNOTATED)
def test_hints_say_shares_ranges_and_what_is_certain(case):
    name, annotated, *options = case
    assert shown(plain(annotated), f"/{name}", **dict(*options)) == annotated


@pytest.mark.parametrize("text", TABLES["unreadable"])
def test_a_text_that_cannot_be_read_has_no_hints(text):
    assert shown(text) == text


HIGH, LOW = "scores 5 to 7 cannot pass, 8 to 10 cannot fail", "scores 0 and 1 cannot pass"


@pytest.mark.parametrize(("options", "expected"), TABLES["each kind can be switched off"])
def test_each_kind_can_be_switched_off(options, expected):
    text = "rubrics:\n  - {id: a, weight: 3, score_ranges: {0: Names no cause, 5: Names the cause}}\n"
    found = shown(f"{text}  - {{id: b, score_ranges: {{0: Names a source}}}}\n", **options)
    assert re.findall("«([^»]*)»", found) == expected


def test_only_what_the_editor_shows_is_said():
    text = "tests:\n" + "".join(f"  - {{id: t{n}, rubrics: [Names the cause {n}]}}\n" for n in range(4))
    place = text.index("Names the cause 2")
    assert [
        n
        for n in range(4)
        if f"«not met: fail, met: pass» Names the cause {n}" in shown(text, within=Span(place, place))
    ] == [2]


def test_the_cases_of_a_suite_have_the_hints_that_they_have_alone():
    case = """\
  - id: {}
    rubrics:
      - id: cause 😀
        weight: 3 «75% of the score»
        score_ranges:
          0: Names none «band 0 to 4; fail»
          5: Names one «band 5 to 10; scores 5 to 7 cannot pass, 8 to 10 cannot fail»
      - id: day «25% of the score»
        score_ranges: {{0: Names a day «band 0 to 10; scores 0 and 1 cannot pass»}}
"""
    annotated = "# é\ntests:\n" + "".join(map(case.format, "abcd"))
    text = plain(annotated)
    assert shown(text) == annotated
    many = annotated + "".join(case.format(f"case-{number}") for number in range(60))
    assert shown(plain(many)) == many
    lines = text.splitlines(keepends=True)
    within = Span(len("".join(lines[:11])), len("".join(lines[:19])))
    assert shown(text, within=within) == "".join(
        [*lines[:11], *annotated.splitlines(keepends=True)[11:19], *lines[19:]]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_places_are_those_that_the_editor_counts(encoding, line_end):
    annotated = """\
\ufeffrubrics:
  - {expected_outcome: Names the cause 😀 é, weight: 3 «75% of the score; not met: fail, met: cannot fail»}
  - {id: "é😀" «25% of the score; not met: cannot pass», expected_outcome: Names the day}
""".replace("\n", line_end)
    assert shown(plain(annotated), encoding=encoding) == annotated


@pytest.mark.parametrize("case", [each for each in ANNOTATED.values() if each[0] == "a.rubric.yaml"])
def test_a_half_typed_text_has_only_hints_that_fit_into_it(case):
    text = plain(case[1])
    for end in range(0, len(text), 3):
        assert plain(shown(text[:end], "/a.rubric.yaml")) == text[:end]


TEXT = """\
rubrics:
  - {score_range: [0, 6], expected_outcome: Wrong period}
  - {score_range: [7, 10], expected_outcome: Right period}
"""


async def ask(editor, uri):
    params = types.InlayHintParams(
        types.TextDocumentIdentifier(uri), types.Range(types.Position(0, 0), types.Position(9, 0))
    )
    return [hint.label for hint in await editor.client.text_document_inlay_hint_async(params) or []]


@pytest.mark.slow
async def test_hints_follow_the_text_and_the_settings(tmp_path):
    uri, settings = uri_of(tmp_path / "a.rubric.yaml"), tmp_path / "rubric-lint.toml"
    refreshed = []

    async with start(
        tmp_path, can={"workspace.inlay_hint": types.InlayHintWorkspaceClientCapabilities(refresh_support=True)}
    ) as editor:
        editor.client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: refreshed.append(1))
        assert editor.result.capabilities.inlay_hint_provider
        editor.open(uri, TEXT)
        assert await ask(editor, uri) == ["scores 0 to 5 fail, 6 is borderline", "score 7 is borderline, 8 to 10 pass"]
        editor.replace(uri, 2, TEXT.replace("6]", "5]").replace("[7", "[6"))
        assert await ask(editor, uri) == ["fail", "scores 6 and 7 are borderline, 8 to 10 pass"]
        settings.write_text("pass = 0.9\n", "utf-8")
        change = types.FileEvent(uri_of(settings), types.FileChangeType.Created)
        before = len(refreshed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
        assert await ask(editor, uri) == ["fail", "scores 6 to 8 are borderline, 9 and 10 pass"]
        assert len(refreshed) > before
        editor.client.set_configuration({"rubric-lint": {"verdictHints": False}})
        editor.client.set_configuration({"rubric-lint": {"verdictHints": False}}, scope_uri=uri_of(tmp_path))
        before = len(refreshed)
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
        while len(refreshed) == before:
            await asyncio.sleep(0.01)
        assert await ask(editor, uri) == []
        assert await editor.end() == 0
