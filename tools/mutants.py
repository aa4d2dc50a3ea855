"""Changes modules in small ways, one change at a time, and prints the changes that no test notices.

`python tools/mutants.py` tries the modules of `mutants.toml`, each with the tests that it names there, and ends with a
table. Name modules to try these only; `--most 60` tries 60 changes of each, always the same ones; `--again FILE` tries
only the changes that an earlier output lists. A change that no test notices is a missing test, or it changes nothing
that anybody can see. No file changes: each change has a process of its own, a copy of this one, in which the changed
module takes the place of the written one, also in the programs that its tests start.
"""

import argparse
import ast
import contextlib
import gc
import importlib
import os
import random
import resource
import signal
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PLAN = Path(__file__).with_suffix(".toml")

# What the tests load, and no change can change: every copy has it from the start.
OTHERS = (
    *("hypothesis.strategies", "hypothesis.internal.conjecture.engine", "click", "jsonschema"),
    *("jsonschema_rs", "msgspec", "ruamel.yaml", "rich.console", "markdown_it"),
)

LONGEST = 120
"""How many seconds the tests of one change may take, and how many times the seconds of processor time."""
SLOWER = 5
MEMORY = 4 << 30

# Named so that Python runs it first; what it finds goes before the module in its place.
HOOK = """
import importlib.machinery, importlib.util, sys
class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        with open({changed!r}, "rb") as file:
            return compile(file.read(), {file!r}, "exec")
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            return importlib.util.spec_from_file_location(
                name, {file!r}, loader=Loader(name, {file!r}), submodule_search_locations={inside!r}
            )
sys.meta_path.insert(0, Finder)
"""

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
CALCULATED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def changes_of(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901, PLR0912 (one case for each kind of change)
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in COMPARED:
                    swapped = [*node.ops[:place], COMPARED[type(operator)](), *node.ops[place + 1 :]]
                    yield ast.Compare(node.left, swapped, node.comparators)
        case ast.BoolOp(values=[first, *others]):
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield first
            yield others[-1]
        case ast.BinOp() if type(node.op) in CALCULATED:
            yield ast.BinOp(node.left, CALCULATED[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in CALLED:
            yield ast.Call(ast.Name(CALLED[name], ast.Load()), node.args, node.keywords)
        case ast.comprehension(ifs=[_, *_]):
            yield ast.comprehension(node.target, node.iter, [], node.is_async)
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break() | ast.Raise():
            yield ast.Pass()
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: no types, no decorators, and no check that two iterables have one length."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not (isinstance(child, ast.keyword) and child.arg == "strict"):
                yield from walk(child)


class Change(NamedTuple):
    """A change of a module: where, what is written there, what comes in its place, and which of the changes it is."""

    module: str
    line: int
    column: int
    before: str
    after: str
    node: int
    place: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column}: {self.before}  ->  {self.after}"

    def make(self) -> str:
        """Return the whole changed module."""
        tree = ast.parse((ROOT / self.module).read_text("utf-8"))
        old = list(walk(tree))[self.node]
        new = ast.copy_location(list(changes_of(old))[self.place], old)
        Swap(old, new).visit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one."""
        return self.new if node is self.old else self.generic_visit(node)


def find_changes(module: str) -> list[Change]:
    """Return every change of a module, in the order of their places."""
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    changes = []
    for number, node in enumerate(walk(tree)):
        spot = node.target if isinstance(node, ast.comprehension) else node
        line, column = getattr(spot, "lineno", 0), getattr(spot, "col_offset", 0)
        for place, new in enumerate(changes_of(node)):
            before, after = (ast.unparse(each).partition("\n")[0].strip() for each in (node, new))
            changes.append(Change(module, line, column, before, after, number, place))
    return sorted(changes)


class Outcome(NamedTuple):
    """What became of the tests of a change: the first one that failed, or why they did not end; empty if none did."""

    failed: str
    seconds: float


NOT_NOTICED = Outcome("", 0)
FIRST = 8
"""How many of the tests that noticed other changes run before all others."""


class Noting:
    """Tells a stream which test fails first; Pytest calls it."""

    def __init__(self, stream: int) -> None:
        self.stream = stream

    def pytest_runtest_logreport(self, report) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Note a test that fails."""
        if report.failed:
            os.write(self.stream, report.nodeid.partition("[")[0].encode() + b"\n")


def run_tests(module: str, text: str, tests: list[str], limit: float) -> Outcome:
    """Run tests on a changed module, in a copy of this process."""
    with tempfile.TemporaryDirectory() as folder:
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            code = 1
            with contextlib.suppress(BaseException):
                be_changed(module, text, Path(folder), limit)
                code = start_tests(tests, tell)
            os._exit(code)
        os.close(tell)
        with os.fdopen(told, "rb") as stream:
            named = stream.readline().decode().strip()
        _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    failed = "" if code == 0 else "time" if -code in (signal.SIGXCPU, signal.SIGALRM) else named or "import"
    return Outcome(failed, used.ru_utime + used.ru_stime)


def be_changed(module: str, text: str, folder: Path, limit: float) -> None:
    """Be a process, with limits, in which the module is changed when it is imported."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(LONGEST)
    path = Path(module)
    inside = [str(ROOT / path.parent)] if path.name == "__init__.py" else None
    name = ".".join((path.parent if inside else path.with_suffix("")).parts)
    changed = folder / "changed.py"
    changed.write_text(text, "utf-8")
    hook = HOOK.format(name=name, file=str(ROOT / path), changed=str(changed), inside=inside)
    (folder / "sitecustomize.py").write_text(hook, "utf-8")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{ROOT}"
    exec(hook, {})  # noqa: S102 (as an interpreter does that starts with it)


def start_tests(tests: list[str], tell: int) -> int:
    """Run tests up to the first one that fails, with nothing to read from and to write to."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    # How long something takes while other programs run says nothing of a change.
    given = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "-k", "not time", *tests]
    return int(pytest.main(given, plugins=[Noting(tell)]))


def try_module(module: str, tests: list[str], most: int, again: str | None) -> tuple[int, int, int, int]:
    """Try the changes of a module and print those that no test notices; return how many there are, and of which."""
    changes = made = find_changes(module)
    if again is not None:
        changes = [each for each in made if f"{each}\n" in again]
    elif most < len(made):
        changes = sorted(random.Random(0).sample(made, most))  # noqa: S311 (a choice, no secret)
    if not changes:
        return len(made), 0, 0, 0
    plain = run_tests(module, (ROOT / module).read_text("utf-8"), tests, LONGEST)
    if plain.failed:
        sys.exit(f"The tests fail on {module} as it is: {plain.failed}")
    noticing: list[str] = []  # what noticed the last changes is likely to notice the next one
    missed = timeouts = 0
    for change in changes:
        text, limit, found = change.make(), plain.seconds * SLOWER + 2, NOT_NOTICED
        if noticing:
            found = run_tests(module, text, noticing[:FIRST], limit)
        if not found.failed:
            found = run_tests(module, text, tests, limit)
        timeouts += found.failed == "time"
        if not found.failed:
            missed += 1
            print(change, flush=True)
        elif "::" in found.failed:
            noticing = [found.failed, *(each for each in noticing if each != found.failed)]
    return len(made), len(changes), timeouts, missed


def main() -> int:
    """Try the changes and print those that no test notices, then a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="module")
    parser.add_argument("--tests", nargs="+", metavar="file", help="the tests to run, in place of those of the plan")
    parser.add_argument("--most", type=int, help="how many changes of each module to try")
    parser.add_argument("--again", type=Path, metavar="FILE", help="an earlier output: try what it lists")
    chosen = parser.parse_args()
    os.chdir(ROOT)
    plan = tomllib.loads(PLAN.read_text("utf-8"))
    again = chosen.again.read_text("utf-8") if chosen.again else None
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tools")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in OTHERS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # what is loaded stays shared
    table = []
    for module in chosen.modules or plan:
        planned = plan.get(module, {})
        tests = chosen.tests or [f"tests/test_{name}.py" for name in planned["tests"]]
        most = chosen.most or planned.get("most", 10**9)
        table.append((module, *try_module(module, tests, most, again)))
        print(f"# {module}: {table[-1][2]} tried, {table[-1][4]} not noticed", flush=True)
    print(f"\n{'module':40}{'possible':>10}{'tried':>8}{'noticed':>9}{'by time':>9}{'missed':>8}")
    table.append(("all", *(sum(row[column] for row in table) for column in range(1, 5))))
    for module, made, tried, timeouts, missed in table:
        print(f"{module:40}{made:10}{tried:8}{tried - missed:9}{timeouts:9}{missed:8}")
    return int(table[-1][4] > 0)


if __name__ == "__main__":
    sys.exit(main())
