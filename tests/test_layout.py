import ast
import graphlib
import statistics
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rubric_lint"

# A module imports from the rows above its own, and from its own row where no circle comes of it.
LAYERS = (
    (
        "capped",
        "write",
        "clock",
        "source",
        "near",
        "wording",
        "gitignore",
        "catalogue",
        "repository",
        "editor_schema",
        "bundle",
        "store",
        "nunjucks",
        "markdown",
        "template_tokens",
        "validator",
    ),
    ("signs", "thresholds"),
    ("finding", "outcomes"),
    (
        *("scalar", "tree", "cparser", "composer", "pureparser", "events", "yaml_faults"),
        *("plain", "document", "reading"),
    ),
    (
        "schema_faults",
        "schema",
        "violations",
        "deprecation",
        "bands",
        "mending",
        "criterion",
        "rubric",
        "recognition",
        "locate",
        "lost",
        "unread",
        "interop",
        "starter",
    ),
    ("rule",),
    ("rules", "naming"),
    ("settings_file", "config", "skipped", "files", "edit"),
    ("absence", "ignores", "lint", "cache", "batch", "fingerprint", "console", "progress", "summary", "reporter"),
    ("sieve", "unchecked", "linting", "watching"),
    ("fix",),
    ("scoring", "judge", "ask", "report", "compare", "lsp"),
    ("api",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}

# What a rule may know: the model and the vocabulary.
FOR_RULES = {
    "bands",
    "mending",
    "criterion",
    "rubric",
    "deprecation",
    "finding",
    "rule",
    "source",
    "scalar",
    "thresholds",
    "wording",
    "near",
    "outcomes",
}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__init__.py"
}
RULES = [name for name in MODULES if name.startswith("rules.")]


def imported_names(path):
    """Every dotted name that a module imports, at its top or inside a function, with the names it takes from it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide where they lead"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path):
    """The modules of the package that a module imports, as they are named in MODULES."""
    for name in imported_names(path):
        if name.startswith("rubric_lint."):
            module = name.removeprefix("rubric_lint.")
            yield module if module in MODULES else module.rpartition(".")[0]


@cache
def imports_of():
    """The modules of the package that each module imports."""
    return {name: {module for module in own_imports(path) if module} for name, path in MODULES.items()}


def layer(module):
    return module.partition(".")[0]


def test_every_module_has_a_layer():
    assert {layer(module) for module in MODULES} - RANK.keys() == set()


def test_imports_go_one_way():
    upward = {
        f"{module} imports {imported}"
        for module, imports in imports_of().items()
        for imported in imports
        if RANK.get(layer(imported), 0) > RANK.get(layer(module), 0)
    }
    assert upward == set()


def test_no_imports_in_a_circle():
    assert set(graphlib.TopologicalSorter(imports_of()).static_order()) >= imports_of().keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_imports_only_the_model_and_the_vocabulary(rule):
    assert imports_of()[rule] <= FOR_RULES


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_imports_no_library(rule):
    packages = {name.partition(".")[0] for name in imported_names(MODULES[rule])}
    assert packages <= sys.stdlib_module_names | {"rubric_lint"}


def test_modules_are_small():
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: count for name, count in lines.items() if count > 350} == {}
    assert statistics.median(lines.values()) <= 130
