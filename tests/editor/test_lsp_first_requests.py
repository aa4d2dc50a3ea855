"""What an editor asks for directly after it has opened a file is answered as later, whatever is known by then."""

import asyncio
import json

import pytest
from cases import read_cases
from embedded import Client

TABLES = read_cases(__file__)


RUBRIC = """\
rubrics:
  - id: tone
    weight: 2
    expected_outcome: Is good
    wieght: 1
  - id: sound
    score_ranges: {0: Says nothing of it, 5: Names the fault}
    expected_outcome:
"""
SOUND = """\
rubrics:
  - expected_outcome: Names the period of thirty days
    id: period
  - expected_outcome: Names the day on which it starts
    id: day
"""
TESTS = "rubric: b.rubric.yaml\ntests:\n  - {id: a, answer: Thirty, expect: {criteria: {period: true}}}\n"
SETTINGS = {"configuration": "strict.toml", "formatting": True, "rangeHints": False}
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
REQUESTS = TABLES["REQUESTS"]
EDITOR = {
    "workspace": {"configuration": True, "diagnostics": {"refreshSupport": True}},
    "textDocument": {"diagnostic": {}},
}


def ask(client, uri, place):
    known = {"textDocument": {"uri": uri}, "position": place}
    return [client.request(method, {**known, **more}) for method, more in REQUESTS]


async def session(folder):
    is_known = asyncio.Event()

    async def configure(params):
        await is_known.wait()
        return [SETTINGS for _ in params["items"]]

    client = Client({"workspace/configuration": configure})
    await client.start(folder.as_uri(), capabilities=EDITOR, options=SETTINGS)
    asked = []
    for name, text, place in (
        ("a.rubric.yaml", RUBRIC, {"line": 1, "character": 8}),
        ("b.rubric.yaml", SOUND, {"line": 2, "character": 8}),
        ("b.rubric-test.yaml", TESTS, {"line": 2, "character": 50}),
    ):
        (folder / name).write_text(text)
        uri = (folder / name).as_uri()
        client.open(uri, text)
        asked.append((uri, place, ask(client, uri, place)))
    await asyncio.sleep(0.1)
    assert not any(request.done() for _, _, requests in asked for request in requests[:1])
    is_known.set()
    for uri, place, requests in asked:
        first = [without_ids(await request) for request in requests]
        later = [without_ids(await each) for each in ask(client, uri, place)]
        yield dict(zip((method for method, _ in REQUESTS), zip(first, later, strict=True), strict=True))
    await client.end()
    assert client.logged == []


def without_ids(answer):
    """The answer, without the number of its request."""
    return {name: value for name, value in answer.items() if name != "id"}


@pytest.mark.slow
def test_requests_that_come_with_the_file_are_answered_as_later(tmp_path):
    (tmp_path / "strict.toml").write_text('ignore = ["unknown-field"]\n')

    async def collect():
        return [each async for each in session(tmp_path)]

    found = asyncio.run(asyncio.wait_for(collect(), 60))
    for answers in found:
        for first, later in answers.values():
            assert first == later
    answered = {method for answers in found for method, (first, _) in answers.items() if first.get("result")}
    assert answered == {method for method, _ in REQUESTS}
    titles = json.dumps(found[0]["textDocument/codeAction"])
    assert "unknown-field" not in titles
    assert "vague-outcome" in titles


@pytest.mark.slow
def test_settings_that_come_late_do_not_replace_newer_ones(tmp_path):
    asked = []

    async def configure(params):
        asked.append(asyncio.get_running_loop().create_future())
        return [await asked[-1] for _ in params["items"]]

    async def session():
        client = Client({"workspace/configuration": configure})
        await client.start(tmp_path.as_uri())
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.open("file:///a.rubric.yaml", RUBRIC)
        while len(asked) < 2:
            await asyncio.sleep(0.01)
        asked[1].set_result({"enable": False})
        assert await client.diagnostics("file:///a.rubric.yaml") == []
        asked[0].set_result({"enable": True})
        await asyncio.sleep(0.05)
        place = {"textDocument": {"uri": "file:///a.rubric.yaml"}, "range": WHOLE}
        actions = await client.ask("textDocument/codeAction", {**place, "context": {"diagnostics": []}})
        await client.end()
        return actions["result"]

    assert asyncio.run(asyncio.wait_for(session(), 60)) is None
