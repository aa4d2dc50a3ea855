"""What the VS Code extension repeats of the project is the same there; its own tests are run by `make test-editors`."""

import json
import re
from pathlib import Path

import pytest

import rubric_lint
from rubric_lint.formats.agentv.suites import EVAL_FILES
from rubric_lint.model.schema_files import catalogue, newest
from rubric_lint.source.source import SIGNED_SUFFIXES, SUFFIXES

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]

# What the extension reads itself and the server never sees.
CLIENT_ONLY = {"rubric-lint.path", "rubric-lint.interpreter", "rubric-lint.trace.server"}


def test_the_extension_has_the_version_of_the_package():
    assert rubric_lint.__version__ == MANIFEST["version"]


def test_the_extension_takes_a_server_of_this_version():
    oldest = re.search(r'OLDEST = "(.+)"', (EXTENSION / "src/tool.ts").read_text("utf-8"))
    numbers = [tuple(map(int, version.split("."))) for version in (oldest[1], rubric_lint.__version__)]
    assert numbers == sorted(numbers)


def test_its_settings_are_those_of_the_server_with_the_same_defaults():
    options = pytest.importorskip("rubric_lint.editor.server.workspace")
    fields = options.EditorOptions._field_defaults
    ours = {f"{options.SECTION}.{options.setting_name(field)}": default for field, default in fields.items()}
    theirs = {name: setting["default"] for name, setting in SETTINGS.items() if name not in CLIENT_ONLY}
    assert ours == theirs


def test_every_setting_is_in_its_readme():
    rows = re.findall(r"^\| `(rubric-lint\..+?)` \|", (EXTENSION / "README.md").read_text("utf-8"), re.MULTILINE)
    assert [*SETTINGS] == rows


def test_what_could_name_a_program_waits_for_trust():
    restricted = MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert {"rubric-lint.path", "rubric-lint.interpreter", "rubric-lint.configuration"} == {*restricted}


def test_it_shows_the_server_the_files_that_a_search_finds_and_starts_for_few_of_them():
    source = (EXTENSION / "src/documents.ts").read_text("utf-8")
    listed = re.search(r"^const SUFFIXES = (\[.+\]);$", source, re.MULTILINE)
    assert [f".{suffix}" for suffix in json.loads(listed[1])] == [*SUFFIXES, *SIGNED_SUFFIXES]
    assert MANIFEST["activationEvents"] == [
        "onLanguage:yaml",
        "onLanguage:json",
        "onLanguage:jsonl",
        "workspaceContains:rubric-lint.toml",
        "workspaceContains:**/*.rubric.yaml",
    ]


def test_it_ties_the_names_of_our_files_to_the_current_schemas_and_no_others():
    ties = [*MANIFEST["contributes"]["yamlValidation"], *MANIFEST["contributes"]["jsonValidation"]]
    # Our server reports what is wrong, so the other ones only complete and explain.
    current = {entry.name: newest(entry.name)._replace(form="completion").bundled_name for entry in catalogue()}
    names = [(name, suffix) for name in ("rubric", "rubric-test") for suffix in ("yaml", "yml", "json")]
    expected = {f"*.{name}.{suffix}": f"./dist/schemas/{current[name]}" for name, suffix in names}
    expected |= {f"*{ending}": f"./dist/schemas/{current['agentv']}" for ending in EVAL_FILES}
    assert expected == {pattern: tie["url"] for tie in ties for pattern in tie["fileMatch"]}
    assert all((ROOT / "schemas/bundled" / current[name]).is_file() for name in ("rubric", "rubric-test", "agentv"))


def test_its_lock_file_names_no_registry():
    assert "resolved" not in (EXTENSION / "package-lock.json").read_text("utf-8")
