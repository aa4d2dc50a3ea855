"""What holds for which dialect: every dialect and target is in the table, and the tests that it names are there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_lint.convert.export import TARGETS
from rubric_lint.formats.dialects import DIALECTS

ROOT = Path(__file__).parents[2]
CONVERT_PAGE = (ROOT / "docs/guides/convert.md").read_text("utf-8")
PAGE = (ROOT / "docs/development/interop.md").read_text("utf-8")
TABLE = PAGE.split("<!-- dialects -->\n")[1].split("\n<!-- /dialects -->")[0]
ROWS = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in TABLE.splitlines()[2:]]
COLUMNS = ("recognised", "linted", "imported", "exported", "agreement")
NAMED = re.compile(r"\[`(?P<test>test_\w+(?:\[.+?\])?)`\]\((?P<file>[^)]+)\)")


def names(cell):
    return set(re.findall(r"`([a-z0-9-]+)`", cell))


def test_every_dialect_and_every_target_is_in_the_table():
    listed = set().union(*(names(row[0]) for row in ROWS))
    assert listed == {*DIALECTS, *TARGETS, "agentv-a0", "agentv-a1", "agentv-a2"}


def test_every_cell_names_a_test_or_says_why_there_is_none():
    for row in ROWS:
        assert len(row) == 1 + len(COLUMNS)
        assert [cell for cell in row[1:] if not (NAMED.fullmatch(cell) or re.fullmatch("no: .+", cell))] == []


def test_what_is_read_is_recognised_linted_and_imported():
    for row in ROWS:
        if names(row[0]) & set(DIALECTS):
            assert all(map(NAMED.fullmatch, row[1:4]))


def test_what_is_written_is_exported():
    exported = set().union(*(names(row[0]) & set(TARGETS) for row in ROWS if NAMED.fullmatch(row[4])))
    assert exported == set(TARGETS)


@pytest.mark.slow
def test_the_tests_that_are_named_exist():
    named = {(found["file"].removeprefix("../../"), found["test"]) for found in NAMED.finditer(PAGE)}
    lost = {each for each in named if f"def {each[1].split('[')[0]}(" not in (ROOT / each[0]).read_text("utf-8")}
    cases = {f"{file}::{test}" for file, test in named if "[" in test}  # only a collection knows them
    files = sorted({case.partition("::")[0] for case in cases})
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    collected = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert lost | cases - set(collected.stdout.splitlines()) == set()


def test_every_target_is_described():
    described = CONVERT_PAGE.split("## What a target keeps")[1]
    heads = (line.split("|")[1] for line in described.splitlines() if line.startswith("| `"))
    assert set().union(*map(names, heads)) - {"--to"} == set(TARGETS)


def test_the_scores_of_every_dialect_are_held_against_something():
    held = PAGE.split("## What scores are held against\n")[1]
    assert [row for row in held.splitlines() if "nothing yet" in row] == []


def test_the_page_names_every_field_of_the_neutral_form():
    start = CONVERT_PAGE.index("### What is in it")
    section = CONVERT_PAGE[start : CONVERT_PAGE.index("### What is lost", start)]
    definitions = json.loads((ROOT / "schemas/show/v1.json").read_text("utf-8"))["definitions"]
    fields: set[str] = set()
    for name in ("rubric", "criterion", "band", "level", "group"):
        fields |= definitions[name]["properties"].keys()
    fields -= {"errors", "warnings", "level"}  # which `check` lists, and what the page calls the number of a level
    assert {field for field in fields if f"`{field}`" not in section} == set()
