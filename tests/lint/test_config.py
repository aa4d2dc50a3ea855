from decimal import Decimal
from pathlib import Path

import pytest
from cases import read_cases

from rubric_lint.lint.project.settings import (
    BORDERLINE_AT,
    PASS_AT,
    FileSettings,
    Overrides,
    SettingsError,
    SettingsFinder,
)
from rubric_lint.model.finding import Severity
from rubric_lint.model.schema_files import load
from rubric_lint.rules import BY_NAME

pytestmark = pytest.mark.usefixtures("folder")

TABLES = read_cases(__file__)

ALL = frozenset(BY_NAME)


def write(path, text):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def faults(name, text):
    write(name, text)
    with pytest.raises(SettingsError) as caught:
        SettingsFinder().for_file("suite.yaml")
    return [f"{caught.value.path}: {fault}" for fault in caught.value.faults]


OF_RUBRICS = FileSettings(claimed=True, is_rubric_file=True)
NAMED = dict.fromkeys(("a.rubric.yaml", "a.rubric.yml", "a.rubric.json", "A.RUBRIC.YAML"), OF_RUBRICS)
OTHERS = ("suite.yaml", "deep/er/suite.yaml", "a.rubric.jsonl", "rubric.yaml", "rubric.yaml/x.yaml")
V1 = FileSettings(version="v1", claimed=True)
READ = {
    "without settings only the name counts": ({}, {}, NAMED | dict.fromkeys(OTHERS, FileSettings())),
    "an ignored rule is taken from all": (
        {"rubric-lint.toml": 'ignore = ["overlap"]'}, {}, {"a.yaml": FileSettings(enabled=ALL - {"overlap"})}
    ),
    "the command line counts without settings too": (
        {},
        {"overrides": Overrides(select=frozenset({"mixing"}))},
        {"a.rubric.yaml": OF_RUBRICS._replace(enabled=frozenset({"mixing", "syntax"}))},
    ),
    "a file that is named holds everywhere from the current folder": (
        {
            "pyproject.toml": '[tool.rubric-lint]\nignore = ["overlap"]',
            "ci/strict.toml": 'versions = {"/evals/" = "v1"}',
        },
        {"file": "ci/strict.toml"},
        {"a.yaml": FileSettings(), "evals/a.yaml": V1},
    ),
    "isolated reads no settings": (
        {"rubric-lint.toml": "no TOML at all"}, {"isolated": True}, {"a.yaml": FileSettings()}
    ),
    "a byte order mark is no mistake": (
        {"rubric-lint.toml": b"\xef\xbb\xbfimplicit-required = true\r\n"},
        {},
        {"a.yaml": FileSettings(implicit_required=True)},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "options", "expected"), READ.values(), ids=READ)
def test_the_settings_of_files(files, options, expected):
    for name, text in files.items():
        write(name, text)
    finder = SettingsFinder(**options)
    assert {name: finder.for_file(name) for name in expected} == expected


def test_files_alike_share_their_settings():
    finder = SettingsFinder()
    assert finder.for_file("a.yaml") is finder.for_file("b.yaml")


EVERYTHING = """
[tool.rubric-lint]
select = ["overlap", "coverage", "weight", "mixing", "levels"]
ignore = ["weight"]
implicit-required = true
pass = 0.70
borderline = 0.1
severity.coverage = "warning"
severity.mixing = "off"

[tool.rubric-lint.per-file-ignores]
"drafts/" = ["coverage"]
"*.tmp.yaml" = ["overlap", "bounds"]

[tool.rubric-lint.versions]
"evals/" = "v1"
"evals/new/*.yaml" = "v2"
"evals/next/" = "v3"
"""


@pytest.mark.parametrize(
    ("file", "enabled", "version"),
    [
        ("a.yaml", {"overlap", "coverage", "levels"}, None),
        ("drafts/deep/a.yaml", {"overlap", "levels"}, None),
        ("a.tmp.yaml", {"coverage", "levels"}, None),
        ("drafts/a.tmp.yaml", {"levels"}, None),
        ("evals/a.yaml", {"overlap", "coverage", "levels"}, "v1"),
        ("evals/deep/a.yaml", {"overlap", "coverage", "levels"}, "v1"),
        ("evals/new/a.yaml", {"overlap", "coverage", "levels"}, "v2"),
        ("other/evals/a.yaml", {"overlap", "coverage", "levels"}, "v1"),
        ("evals/next/a.yaml", {"overlap", "coverage", "levels"}, "v3"),
    ],
)
def test_every_setting_reaches_the_file(file, enabled, version):
    write("pyproject.toml", EVERYTHING)
    assert SettingsFinder().for_file(str(file)) == FileSettings(
        enabled=frozenset(enabled) | {"syntax"},
        severities={"coverage": Severity.WARNING},
        version=version,
        claimed=version is not None,
        implicit_required=True,
        pass_at=Decimal("0.70"),
        borderline_at=Decimal("0.1"),
    )


def test_thresholds_are_the_decimals_that_are_written():
    write("rubric-lint.toml", "pass = 1\nborderline = 0.1000000000000000000000000001\n")
    settings = SettingsFinder().for_file("a.yaml")
    assert (str(settings.pass_at), str(settings.borderline_at)) == ("1", "0.1000000000000000000000000001")


@pytest.mark.parametrize(
    ("overrides", "enabled"),
    [
        (Overrides(), {"coverage", "overlap"}),
        (Overrides(select=frozenset({"mixing", "weight"})), {"mixing", "weight"}),
        (Overrides(ignore=frozenset({"overlap"})), {"coverage"}),
        (Overrides(frozenset({"mixing", "overlap"}), frozenset({"overlap"})), {"mixing"}),
    ],
)
def test_the_command_line_replaces_select_and_adds_to_ignore(overrides, enabled):
    write("rubric-lint.toml", 'select = ["coverage", "overlap"]\nignore = ["weight"]')
    assert SettingsFinder(overrides).for_file("a.yaml").enabled == enabled | {"syntax"}


def origins(*folders):
    finder = SettingsFinder()
    found = {folder: finder.for_folder(Path(folder)).origin for folder in folders}
    return {folder: origin and origin.relative_to(Path.cwd()).as_posix() for folder, origin in found.items()}


def test_the_nearest_settings_count_alone():
    write("pyproject.toml", "[tool.rubric-lint]\n")
    write("a/pyproject.toml", "[tool.black]\n")
    write("a/b/rubric-lint.toml", "")
    write("a/b/pyproject.toml", "[tool.rubric-lint]\n")
    write("c/pyproject.toml", "tool = 3")
    Path("d/rubric-lint.toml").mkdir(parents=True)
    expected = {
        "": "pyproject.toml",
        "a": "pyproject.toml",
        "a/b": "a/b/rubric-lint.toml",
        "a/b/c/d": "a/b/rubric-lint.toml",
        "a/b/..": "pyproject.toml",
        "c": "pyproject.toml",
        "d": "pyproject.toml",
    }
    assert origins(*expected) == expected


def test_settings_above_the_current_folder_count(monkeypatch, folder):
    write("rubric-lint.toml", 'versions = {"deep/*.yaml" = "v1"}')
    Path("deep").mkdir()
    monkeypatch.chdir("deep")
    finder = SettingsFinder()
    assert [finder.for_file("x.yaml"), finder.for_file(str(folder / "deep" / "x.yaml"))] == [V1, V1]


@pytest.mark.parametrize(
    ("name", "text"), [("missing.toml", None), ("pyproject.toml", "[tool.black]"), ("own.toml", "selct = []")]
)
def test_a_named_file_that_cannot_be_used_is_an_error_at_once(name, text, said):
    if text is not None:
        write(name, text)
    with pytest.raises(SettingsError) as caught:
        SettingsFinder(file=name)
    said(str(caught.value))


@pytest.mark.parametrize("text", TABLES["each mistake is named"])
def test_each_mistake_is_named(text, said):
    said(faults("rubric-lint.toml", text))


def test_all_mistakes_are_named_at_once(said):
    said(faults("pyproject.toml", "[tool.rubric-lint]\nselct = 1\npass = 2\nseverity.coverage = 'warn'\n"))


@pytest.mark.parametrize(
    "name",
    ["tool.rubric_lint", "tool.rubriclint", 'tool."rubric.lint"', "tool.Rubric-Lint", "rubric-lint", "rubriclint"],
)
@pytest.mark.parametrize("more", ["", "[tool.rubric-lint]\npass = 0.9\n"])
def test_a_table_with_our_settings_and_another_name_is_an_error(name, more):
    (fault,) = faults("pyproject.toml", f"[{name}]\nignore = []\n{more}")
    assert fault.removeprefix("pyproject.toml: ").startswith(f"[{name}]".replace(chr(34), "")), fault
    assert "[tool.rubric-lint]" in fault


@pytest.mark.parametrize(
    "text", ["[tool.rubric-kit]\nx = 1\n", "[tool.ruff]\nignore = []\n", "[tool]\nrubric_lint = 1\n"]
)
def test_a_table_of_another_tool_is_left_alone(text):
    write("pyproject.toml", text)
    assert origins("") == {"": None}


@pytest.mark.parametrize("text", ["[tool.rubric-lint\n", "a = 1\nb", b"a = 1\nb = '\xff'", "tool.rubric-lint = 3"])
def test_a_broken_pyproject_is_a_clear_error(text, said):
    said(faults("pyproject.toml", text))


@pytest.mark.parametrize("text", ["x = " + "[" * 50_000, "x = " + "9" * 5_000], ids=["brackets", "digits"])
def test_too_much_for_the_parser_is_a_clear_error(text):
    (fault,) = faults("pyproject.toml", text)
    assert fault.startswith("pyproject.toml: cannot be parsed: ")


def test_one_broken_file_spoils_only_what_is_beneath_it():
    write("a/rubric-lint.toml", "pass = 2")
    finder = SettingsFinder()
    for _ in range(2):
        with pytest.raises(SettingsError, match=r"^a/rubric-lint.toml: pass: 2 is outside 0..1$"):
            finder.for_file("a/deep/x.yaml")
    assert finder.for_file("b/x.yaml") == FileSettings()


def test_the_schema_states_the_same_thresholds():
    properties = load("config/v1.json")["properties"]
    written = [Decimal(str(properties[key]["default"])) for key in ("pass", "borderline")]
    assert written == [PASS_AT, BORDERLINE_AT]


def test_the_schema_describes_every_setting():
    schema = load("config/v1.json")
    described = [schema, *schema["properties"].values(), *schema["definitions"].values()]
    assert [part for part in described if not part.get("description")] == []
