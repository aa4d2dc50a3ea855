"""The configurations in docs/editors.md that are not scripts: our command, our settings, our schemas."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from rubric_lint.model.schema_files import catalogue

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/editors.md").read_text("utf-8")
FENCES = dict(re.findall(r"<!-- (\w+) -->\n```(?:json|toml)\n(.*?)```", PAGE, re.DOTALL))
SERVER = ["rubric-lint", "lsp"]


def test_the_page_has_a_configuration_for_each_of_them():
    assert set(FENCES) == {"helix", "zed", "jetbrains", "sublime"}
    rows = re.findall(r"^\| \[(.+?)\]\(#(.+?)\) \|.*\| (yes|no)", PAGE, re.MULTILINE)
    assert {anchor.partition("-")[0] for _, anchor, is_run in rows if is_run == "no"} == set(FENCES) - {"helix"}
    assert {name for name, _, _ in rows} <= set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    for name, _, is_run in rows:
        section = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
        says_not_run = re.search(r"have\s+not\s+run", section) is not None
        assert (name, says_not_run) == (name, is_run == "no")


def test_helix_starts_our_server_for_yaml_and_json():
    settings = tomllib.loads(FENCES["helix"])
    server = settings["language-server"]["rubric-lint"]
    assert [server["command"], *server["args"]] == SERVER
    assert {each["name"]: each["language-servers"][-1] for each in settings["language"]} == {
        "yaml": "rubric-lint",
        "json": "rubric-lint",
    }


def test_jetbrains_and_sublime_start_our_server():
    template = json.loads(FENCES["jetbrains"])
    assert template["programArgs"]["default"].split() == SERVER
    assert json.loads(FENCES["sublime"])["clients"]["rubric-lint"]["command"] == SERVER


def test_their_settings_are_ours():
    options = pytest.importorskip("rubric_lint.editor.server.workspace")
    listed = set(re.findall(r"^\| `rubric-lint\.(\w+)` \|", PAGE, re.MULTILINE))
    sublime = json.loads(FENCES["sublime"])["clients"]["rubric-lint"]["settings"]
    assert {name.removeprefix(f"{options.SECTION}.") for name in sublime} <= listed


def test_the_addresses_of_schemas_are_ours():
    named = set(re.findall(r"https://rubric-lint\.github\.io/schemas/[\w./-]+\.json", PAGE))
    assert named
    assert named <= {form.bundled_id for entry in catalogue() for form in entry.forms}
