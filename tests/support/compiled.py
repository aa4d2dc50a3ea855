"""Which tests touch what is compiled: those that import a module of the package that can do without."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCKER = (ROOT / "tests/pure/sitecustomize.py").read_text("utf-8")
LIBRARIES = frozenset(ast.literal_eval(re.search(r"BLOCKED = (\(.+?\))", BLOCKER)[1]))
IMPORT = re.compile(r"^ *(?:from ([\w.]+) import|import ([\w.]+))", re.MULTILINE)


def imported(path):
    """Return the modules that a file imports, wherever it does."""
    return {before or after for before, after in IMPORT.findall(path.read_text("utf-8"))}


@cache
def choosing():
    """Return the modules of the package that use a compiled library where there is one."""
    files = (path for path in (ROOT / "rubric_lint").rglob("*.py") if not LIBRARIES.isdisjoint(roots(imported(path))))
    return frozenset(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files)


def roots(modules):
    return {module.partition(".")[0] for module in modules}


@cache
def touches(path):
    """Return whether the tests in a file are to run without what is compiled too."""
    return not choosing().isdisjoint(imported(path))
