"""What users read is in plain English, on pages, in editors and in help: none of the habits that were hard to read."""

import json
import re
import tomllib
from pathlib import Path

import click
import pytest
from cases import read_cases
from website.commands import list_commands

TABLES = read_cases(__file__)

pytestmark = pytest.mark.repository

ROOT = Path(__file__).parents[2]

HABITS = TABLES["HABITS"]
HABIT = re.compile("|".join(f"({habit})" for habit in HABITS), re.IGNORECASE)
PAGES = (
    *sorted(ROOT.glob("rubric_lint/rules/*.md")),
    *sorted(ROOT.glob("rubric_lint/formats/dialects/*.md")),
    *sorted(ROOT.glob(".github/*.md")),
    *sorted(page for page in ROOT.glob("docs/**/*.md") if page.name != "api.md"),  # it repeats docstrings
    *(ROOT / name for name in ("README.md", "vscode/README.md", "CONTRIBUTING.md") if (ROOT / name).exists()),
)


def prose_of(page):
    """A page without its fenced blocks and without what stands in backticks."""
    unfenced = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`...`", unfenced)


def strings_of(value, keys):
    """The strings under these keys, at any depth of JSON."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        if isinstance(each, str) and key in keys:
            yield each
        elif key == "enumDescriptions":
            yield from each
        else:
            yield from strings_of(each, keys)


def habits_in(text):
    """The habits in a text, each with what to write instead."""
    flat = " ".join(text.split())
    for found in HABIT.finditer(flat):
        number = next(place for place, group in enumerate(found.groups()) if group is not None)
        yield f"{flat[max(0, found.start() - 40) : found.end() + 40]!r}: write {[*HABITS.values()][number]!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_in_plain_english(page):
    assert list(habits_in(prose_of(page))) == []


def schemas():
    folders = [path for path in sorted((ROOT / "schemas").iterdir()) if path.name != "bundled"]
    # Judges read the descriptions of their outputs: other words there would give other verdicts.
    return [path for folder in folders for path in sorted(folder.glob("*.json")) if path.name != "judge-output.json"]


@pytest.mark.parametrize("path", schemas(), ids=lambda path: path.relative_to(ROOT / "schemas").as_posix())
def test_what_editors_show_of_a_schema_is_in_plain_english(path):
    texts = strings_of(json.loads(path.read_text("utf-8")), {"description", "x-expected"})
    assert [habit for text in texts for habit in habits_in(text)] == []


def test_what_vscode_shows_is_in_plain_english():
    manifest = ROOT / "vscode/package.json"
    if not manifest.exists():
        pytest.skip("the extension is not part of the sdist")
    texts = strings_of(json.loads(manifest.read_text("utf-8")), {"description", "markdownDescription", "title"})
    source = [path.read_text("utf-8") for path in sorted((ROOT / "vscode/src").glob("*.ts"))]
    shown = (text for code in source for text in re.findall(r'"([^"\n]* [^"\n]*)"|`([^`\n]* [^`\n]*)`', code))
    assert [habit for text in (*texts, *map("".join, shown)) for habit in habits_in(text)] == []


def test_what_the_package_says_of_itself_is_in_plain_english():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["description"]
    hooks = re.findall(r"description: (.+)", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [habit for text in (project, *hooks) for habit in habits_in(text)] == []


@pytest.mark.parametrize("entry", list_commands(), ids=lambda entry: entry.name)
def test_help_is_in_plain_english(entry):
    text = entry.command.get_help(click.Context(entry.command, info_name=entry.name, **entry.command.context_settings))
    assert list(habits_in(text)) == []


@pytest.mark.parametrize("sentence", TABLES["each habit is found"])
def test_each_habit_is_found(sentence):
    assert len(list(habits_in(sentence))) == 1


def test_plain_english_is_not_reported():
    text = (
        "There is no gate, and it is no longer needed. Nobody can tell what it was. Print plain text. It stands for 10."
    )
    assert list(habits_in(text)) == []
