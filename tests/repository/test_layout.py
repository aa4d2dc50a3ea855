"""The rooms of the package, and what each may import."""

import ast
import graphlib
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.repository

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "rubric_lint"

# The house, as docs/architecture.md shows it: a room imports from its own floor and from the floors below.
FLOORS = """
    __main__
    cli
    editor agents
    report api arrow rewards
    assess
    judge convert
    scoring
    lint
    formats
    rules
    model
    source version
"""
FLOOR = {room: number for number, row in enumerate(reversed(FLOORS.split("\n"))) for room in row.split()}

# What a rule may know: the model and the vocabulary.
KNOWN_TO_RULES = {
    *(
        "source.edits.intents",
        "model.finding",
        "model.messages",
        "rules.rule",
        "source.path",
        "source.source",
        "source.scalar",
    ),
    *(
        "model.criterion",
        "model.mirrors",
        "model.openings",
        "model.repairs",
        "model.rubric",
        "model.scale_repair",
        "model.triggers",
    ),
    "model.wording",
}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}
RULES = [name for name in MODULES if name.startswith("rules.")]


def imported_names(path):
    """Return the dotted names that a module imports, at its top or inside a function, with what it takes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide where they lead"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports_of():
    """Return the modules of the package that each module imports, as they are named in MODULES."""
    found = {}
    for module, path in MODULES.items():
        names = [name.removeprefix("rubric_lint.") for name in imported_names(path) if name.startswith("rubric_lint.")]
        found[module] = {name if name in MODULES else name.rpartition(".")[0] for name in names}
    return found


def room(module):
    return module.partition(".")[0]


def arrows():
    """Return the pairs of rooms of which the first imports the second."""
    pairs = {(room(module), room(imported)) for module, imports in imports_of().items() for imported in imports}
    return {(upper, lower) for upper, lower in pairs if upper != lower}


def test_every_module_is_in_a_room():
    assert {room(module) for module in MODULES} == FLOOR.keys()


def test_imports_go_down():
    assert {(upper, lower) for upper, lower in arrows() if FLOOR[lower] >= FLOOR[upper]} == set()


def test_the_page_shows_the_same_house():
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    drawn = page.split("<!-- floors -->\n```text\n")[1].split("```")[0]
    assert [line.split("  ")[0].split() for line in drawn.splitlines()] == [
        row.split() for row in FLOORS.split("\n") if row.strip() and row.strip() != "__main__"
    ]


def test_the_pages_name_only_files_that_exist():
    page = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("architecture.md", "development/flows.md"))
    there = [path.as_posix() for path in ROOT.glob("*/**/*.py") if ".venv" not in path.parts]
    named = set(re.findall(r"`([\w/]+\.py)`", page))
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in there)] == []


def test_no_imports_in_a_circle():
    assert set(graphlib.TopologicalSorter(imports_of()).static_order()) >= imports_of().keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_imports_only_the_model_and_the_vocabulary(rule):
    assert imports_of()[rule] <= KNOWN_TO_RULES


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_imports_no_library(rule):
    packages = {name.partition(".")[0] for name in imported_names(MODULES[rule])}
    assert packages <= sys.stdlib_module_names | {"rubric_lint"}


def test_there_are_at_most_twelve_floors():
    assert len(set(FLOOR.values())) <= 12


def test_no_room_has_more_than_a_quarter_of_the_lines():
    lines = Counter()
    for module, path in MODULES.items():
        lines[room(module)] += len(path.read_text("utf-8").splitlines())
    assert max(lines.values()) <= sum(lines.values()) / 4


def test_the_tests_are_in_the_rooms():
    folders = {path.parent.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert folders <= {"repository", *FLOOR}


def test_no_test_file_imports_another():
    names = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert [path.name for path in files if names & {name.partition(".")[0] for name in imported_names(path)}] == []
