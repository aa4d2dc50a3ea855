"""What the language server cannot do is an answer, and one that says why; it is never reported as a crash as well."""

import asyncio
import os

import pytest
from cases import read_cases
from editor import run
from embedded import EDITOR, Client

TABLES = read_cases(__file__)


FAULTY = "rubrics:\n  - id: a\n    expected_outcome: Says so\n    wieght: 2\n"
UNKNOWN = "criterion `a`: unknown field `wieght`; did you mean `weight`?"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.rubric.yaml"
    path.write_text(FAULTY)
    return path


async def begin(*paths, answers=None, capabilities=EDITOR):
    """A client in the folder of the first of some files, which are open."""
    client = Client(answers)
    await client.start(paths[0].parent.as_uri(), capabilities=capabilities)
    for path in paths:
        client.open(path.as_uri(), path.read_text())
    return client


@pytest.mark.spread(3)
@pytest.mark.parametrize(("method", "params", "code"), TABLES["a refusal is the answer"])
async def test_a_refusal_is_the_answer_and_nothing_else(file, method, params, code, said):
    client = await begin(file)
    place = {"line": params.get("line", 1), "character": params.get("character", 8)}
    answer = await client.ask(method, {"textDocument": {"uri": file.as_uri()}, "position": place, **params})
    error = answer["error"]
    await client.end()
    assert (error["code"], client.logged, client.told) == (code, [], [])
    said(error["message"])


@pytest.mark.parametrize(
    "settings",
    [{"debounce": "soon"}, {"configuration": "a\0b"}, {"configuration": "a\ud800"}, {"completion": "never"}],
    ids=["debounce", "null character", "half a surrogate pair", "a setting that is gone"],
)
async def test_a_setting_that_is_invalid_is_logged_once_until_it_changes(file, settings, said):
    given = [settings]

    configure = {"workspace/configuration": lambda params: given * len(params["items"])}
    client = await begin(file, answers=configure)
    changed = ("workspace/didChangeConfiguration", {"settings": None})
    messages = [[each["message"] for each in await client.diagnostics(file.as_uri())]]
    for value in (settings, {}, settings):
        given[:] = [value]
        client.notify(*changed)
        messages.append([each["message"] for each in await client.diagnostics(file.as_uri())])
    assert messages == [[UNKNOWN]] * 4
    said(client.logged)


def test_settings_that_name_no_possible_file_are_listed_with_the_reason(file, said):
    (file.parent / "rubric-lint.toml").write_text('judged = ["a\\u0000b"]\nbaseline = "c\\u0000d"\n')

    async def session():
        client = await begin(file)
        (notice,) = await client.diagnostics(file.as_uri())
        return notice["message"], client.logged

    said(run(session()))


@pytest.mark.parametrize(
    "uri",
    [
        "file:///a%00b.rubric.yaml",
        "file:///\ud800.rubric.yaml",
        "http://[::1",
        "untitled:Untitled-1",
        "vscode-vfs://github/o/r/a.rubric.yaml",
        "",
    ],
)
def test_a_document_that_is_no_file_is_checked_and_says_why_it_cannot_rename(file, uri):
    async def session():
        client = await begin(file)
        client.open(uri, FAULTY)
        assert [each["message"] for each in await client.diagnostics(uri)] == [UNKNOWN]
        assert (await client.at("definition", uri, 1, 8))["result"] is None
        assert (await client.at("hover", uri, 1, 8))["result"]["contents"]["value"].startswith("**a**: ")
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
        error = (await client.at("rename", uri, 1, 8, newName="b"))["error"]
        await client.end()
        return error["message"], client.logged

    message = "rubric-lint: save this document as a file first; ids are looked up in files"
    assert run(session()) == (message, [])


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode there")
def test_a_file_name_that_is_not_utf_8_hides_no_other_file(file):
    (file.parent / os.fsdecode(b"x\xff.rubric.yaml")).write_text(FAULTY)

    async def session():
        client = Client()
        await client.start(file.parent.as_uri())
        found = [await client.expect(lambda each: "publishDiagnostics" in each.get("method", "")) for _ in range(2)]
        symbols = (await client.ask("workspace/symbol", {"query": "a"}))["result"]
        other = f"{file.parent.as_uri()}/x%FF.rubric.yaml"
        client.open(other, FAULTY)
        renamed = (await client.at("rename", other, 1, 8, newName="b"))["result"]
        await client.end()
        return [
            sorted(each["params"]["uri"] for each in found),
            sorted(symbol["location"]["uri"] for symbol in symbols),
            [documentchange["textDocument"]["uri"] for documentchange in renamed["documentChanges"]],
            client.logged,
        ]

    both = [file.as_uri(), f"{file.parent.as_uri()}/x%FF.rubric.yaml"]
    assert run(session()) == [both, both, both[1:], []]


def test_an_editor_that_answers_nonsense_is_not_waited_for(file, said):
    async def session():
        client = await begin(file, answers={"workspace/configuration": lambda _: None})
        async with asyncio.timeout(5):
            messages = [each["message"] for each in await client.diagnostics(file.as_uri())]
        return messages, client.logged

    messages, logged = run(session())
    assert messages == [UNKNOWN]
    said(logged)


@pytest.mark.slow
async def test_an_editor_of_a_newer_protocol_is_served(file):
    newer = {
        "workspace": {**EDITOR["workspace"], "symbol": {"symbolKind": {"valueSet": [1, 99]}}},
        "textDocument": {
            "hover": {"contentFormat": ["html", "markdown"]},
            "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2, 3]}},
        },
    }

    client = await begin(file, capabilities=newer)
    (found,) = await client.diagnostics(file.as_uri())
    theirs = {"range": found["range"], "message": "theirs", "severity": 9, "tags": [1, 9]}
    place = {"textDocument": {"uri": file.as_uri()}, "range": found["range"]}
    actions = await client.ask(
        "textDocument/codeAction", {**place, "context": {"diagnostics": [theirs], "triggerKind": 9}}
    )
    own = {"title": "theirs", "diagnostics": [theirs], "edit": {}}
    assert (await client.ask("codeAction/resolve", own))["result"] == own
    unknown = [await client.ask("textDocument/nothing", *params) for params in ([None], [])]
    await client.end()
    assert (actions["result"][0]["title"], [each["error"]["code"] for each in unknown], client.logged) == (
        "Rename `wieght` to `weight` (unsafe)",
        [-32601, -32601],
        [],
    )
