"""The schema of the settings in the language server Tombi, which completes and explains TOML without a network."""

import sys
from itertools import count
from pathlib import Path

import pytest
from stdio_server import StdioServer

from rubric_lint.model.schema_files import newest
from rubric_lint.rules import BY_NAME

pytestmark = pytest.mark.slow

FIRST_LINE = f"#:schema {newest('config').path.as_uri()}\n"
NUMBERS = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    command = [Path(sys.executable).with_name("tombi"), "lsp", "--offline"]
    running = StdioServer(command, tmp_path_factory.mktemp("settings"), {})
    yield running
    running.close()


def at(server, method, text):
    """What the server says of the `|` in a file of settings."""
    before, _, after = (FIRST_LINE + text).partition("|")
    folder = server.folder / str(next(NUMBERS))
    folder.mkdir()
    uri = (folder / "rubric-lint.toml").as_uri()
    server.show(uri, before + after, "toml")
    return server.look(method, uri, before.count("\n"), len(before) - before.rfind("\n") - 1)


SHAPE = ["name", "files", "criteria", "id", "outcome", "weight", "weights", "levels", "gate", "scale", "combine"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|", ["select", "ignore", "severity", "per-file-ignores", "pass", "borderline", "shape"]),
        ("pa|\n", ["pass"]),
        ("ignore = [|]\n", [f'"{name}"' for name in BY_NAME]),
        ("[severity]\ncoverage = |\n", ['"error"', '"warning"', '"hint"', '"off"']),
        ("[[shape]]\n|\n", SHAPE),
        ("[[shape]]\ncombine = |\n", ['"mean"', '"share"', '"all"']),
    ],
)
def test_settings_are_completed(server, text, expected):
    offered = at(server, "completion", text)
    labels = {item["label"] for item in (offered["items"] if isinstance(offered, dict) else offered)}
    assert set(expected) - labels == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pa|ss = 0.7\n", "The lowest score that passes."),
        ("ig|nore = []\n", "Rules to skip, even if `select` names them."),
        ("[[shape]]\nname = 'x'\nto|tal = 10\n", "What the weights must add up to, or a pointer to it."),
    ],
)
def test_settings_are_explained(server, text, expected):
    assert expected in at(server, "hover", text)["contents"]["value"]
