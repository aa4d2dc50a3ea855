"""Changes modules in small ways, one change at a time, and prints the changes that no test notices.

`python tools/mutants.py` tries the modules of the package changed since the merge base with origin/main (since the last
commit where there is none); `--base REV` names another base, and modules on the command line are tried instead. The
tests run once, to see which statements of the modules each test runs; a change is tried with the tests that run its
statement, those of the file with most of them first, and a change of what runs at import with all tests that run the
module. A result that a test helper caches counts for the first test that asks for it. `--most` takes a sample, the same
one for the same `--seed`. A change that no test notices is a missing test, or it changes nothing that anybody can see.

No file changes: each change has a process of its own, a copy of this one, in which the changed module takes the place
of the written one, also in the programs that its tests start. Exit code 1: a change was not noticed; 2: the tests fail,
or there is nothing to try them on.
"""

import argparse
import ast
import atexit
import contextlib
import importlib
import marshal
import math
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

import pytest

OPTIONS = ("-qx", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin")
HANGS, CRASH = "a hanging test", "loading the tests"
# What tests load, and no change can change: every copy has it from the start.
LOADED = ("hypothesis.strategies", "hypothesis.internal.conjecture.engine", "click", "jsonschema", "msgspec")
SLOWER, STARTING = 5, 60
"""Tests of a change that take this many times their seconds, and these to start, hang."""
MEMORY = 8 << 30
"""The fast tests in one process take 5 GB of addresses and use 1: threads and Arrow reserve what they do not need."""
FIRST = 8
"""How many of the tests that noticed other changes run before all others."""

# Python runs it first, as `sitecustomize`: what it finds goes before the module in its place.
HOOK = """
import builtins, importlib.machinery, importlib.util, marshal, mmap, os, sys
FOLDER, FILES = {folder!r}, {files!r}
class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        with open(os.path.join(FOLDER, name), "rb") as file:
            return marshal.load(file)
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in FILES:
            file = FILES[name]
            inside = [os.path.dirname(file)] if file.endswith("__init__.py") else None
            return importlib.util.spec_from_file_location(
                name, file, loader=Loader(name, file), submodule_search_locations=inside
            )
with open(os.path.join(FOLDER, "ran"), "r+b") as file:
    builtins.__ran__ = mmap.mmap(file.fileno(), 0)
sys.meta_path.insert(0, Finder)
"""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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


def walk(node: ast.AST, statement: int = 0, *, is_inside: bool = False) -> Iterator[tuple[ast.AST, int]]:
    """Yield the nodes that run, and the line of the statement of a function that runs each; 0 is the import.

    Types, decorators and checks that two iterables have one length are left out.
    """
    if is_inside and isinstance(node, ast.stmt):
        statement = node.lineno
    yield node, statement
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        is_body = is_inside or (name == "body" and isinstance(node, FUNCTIONS))
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not (isinstance(child, ast.keyword) and child.arg == "strict"):
                yield from walk(child, statement, is_inside=is_body)


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one."""
        return self.new if node is self.old else self.generic_visit(node)


@dataclass(frozen=True)
class Module:
    """A module: its file, where its statements begin among those of all modules, and how many lines it has."""

    file: str
    start: int
    lines: int

    @property
    def name(self) -> str:
        """The name that imports it."""
        return ".".join(Path(self.file).with_suffix("").parts).removesuffix(".__init__")

    def parse(self) -> ast.Module:
        """Return the module as it is written."""
        return ast.parse(Path(self.file).read_text("utf-8"))

    def compile(self, tree: ast.Module) -> CodeType:
        """Return what Python runs."""
        return compile(ast.fix_missing_locations(tree), str(Path(self.file).absolute()), "exec")

    def mark(self) -> CodeType:
        """Return the module with a note before each statement of its functions that it runs."""
        tree = self.parse()
        inside = {node for top in ast.walk(tree) if isinstance(top, FUNCTIONS) for node in ast.walk(top)}
        for node in inside:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    block[:] = [marked for statement in block for marked in self.note(statement)]
        return self.compile(tree)

    def note(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return a statement after the note that it runs; a docstring stays the first statement."""
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return [statement]
        note = ast.parse(f"__ran__[{self.start + statement.lineno}] = {ord('1')}").body[0]
        for node in ast.walk(note):
            ast.copy_location(node, statement)
        return [note, statement]


@dataclass(order=True)
class Change:
    """A change of a module: where, what is written there, what comes in its place, and which of the changes it is."""

    line: int
    column: int
    before: str
    after: str
    node: int
    place: int
    statement: int

    def make(self, module: Module) -> CodeType:
        """Return the whole changed module."""
        tree = module.parse()
        old = [node for node, _ in walk(tree)][self.node]
        new = ast.copy_location(list(changes_of(old))[self.place], old)
        Swap(old, new).visit(tree)
        return module.compile(tree)


def find_changes(module: Module) -> list[Change]:
    """Return every change of a module, in the order of their places."""
    changes = []
    for number, (node, statement) in enumerate(walk(module.parse())):
        spot = node.target if isinstance(node, ast.comprehension) else node
        line, column = getattr(spot, "lineno", 0), getattr(spot, "col_offset", 0)
        for place, new in enumerate(changes_of(node)):
            before, after = (ast.unparse(side).partition("\n")[0].strip() for side in (node, new))
            changes.append(Change(line, column, before, after, number, place, statement))
    return sorted(changes)


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


@dataclass(eq=False)
class Run:
    """A run of tests, with what Pytest says of them: the first that failed, and what each of them took and ran."""

    chosen: set[str] | None = None
    failed: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    ran: dict[str, int] = field(default_factory=dict)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests that are not chosen."""
        if self.chosen is not None:
            items[:] = [item for item in items if item.nodeid in self.chosen]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, pytest.CollectReport, object]:
        """Note what a file of tests runs when it is imported, which counts for each of its tests."""
        report = yield
        self.note(collector.nodeid)
        self.pytest_runtest_logreport(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, request: pytest.FixtureRequest) -> Generator[None, object, object]:
        """Note what a fixture runs that several tests have, which counts for each test of the file."""
        made = yield
        if request.scope != "function":
            self.note(request.node.nodeid)
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what a test runs, and its seconds."""
        start = time.monotonic()
        done = yield
        self.seconds[item.nodeid] = time.monotonic() - start
        self.note(item.nodeid)
        return done

    def pytest_runtest_logreport(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        """Note what fails first."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def note(self, node: str) -> None:
        """Note the statements that ran since the last note: a bit of a number for each."""
        digits = __ran__[:]  # type: ignore[name-defined]  # noqa: F821 (HOOK makes it)
        if statements := int(digits[::-1], 2):
            self.ran[node] = self.ran.get(node, 0) | statements
            __ran__[:] = b"0" * len(digits)  # type: ignore[name-defined]  # noqa: F821

    def find_tests(self, first: int, last: int) -> set[str]:
        """Return the tests that ran one of these statements."""
        wanted = (1 << last + 1) - (1 << first)
        nodes = {node for node, statements in self.ran.items() if statements & wanted}
        return {test for test in self.seconds if not nodes.isdisjoint(("", file_of(test), test))}


@dataclass
class Tests:
    """The tests that may run: options and places for Pytest, and how many statements the modules have."""

    options: list[str]
    places: list[str]
    statements: int

    def run(self, codes: dict[Module, CodeType], chosen: set[str] | None = None, limit: float = math.inf) -> Run:
        """Run tests on modules with other code, in a copy of this process, up to the first test that fails."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            done = Path(folder, "done")
            child = os.fork()
            if not child:
                with contextlib.suppress(BaseException):
                    run = Run(chosen)
                    atexit._clear()  # at its end, remove what the tests made, and nothing of the first process
                    be_changed(codes, Path(folder), self.statements)
                    nothing = os.open(os.devnull, os.O_RDWR)
                    os.dup2(nothing, 0)
                    for stream in (1, 2):
                        os.dup2(2 if chosen is None else nothing, stream)
                    places = self.places if chosen is None else sorted({*map(file_of, chosen)})
                    code = pytest.main([*self.options, f"--basetemp={folder}/tests", *places], plugins=[run])
                    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                        run.failed = run.failed or CRASH
                    done.write_bytes(pickle.dumps(run))
                    atexit._run_exitfuncs()
                os._exit(0)
            try:
                last = time.monotonic() + limit
                while not os.waitpid(child, os.WNOHANG)[0]:
                    if time.monotonic() > last:
                        return Run(failed=HANGS)
                    time.sleep(0.01)
                return pickle.loads(done.read_bytes()) if done.exists() else Run(failed=CRASH)  # noqa: S301 (ours)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)  # also the programs that tests started


def be_changed(codes: dict[Module, CodeType], folder: Path, statements: int) -> None:
    """Be a process in which modules have other code when they are imported, in a group of its own."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for module, code in codes.items():
        (folder / module.name).write_bytes(marshal.dumps(code))
    (folder / "ran").write_bytes(b"0" * statements)
    hook = HOOK.format(folder=str(folder), files={module.name: str(Path(module.file).absolute()) for module in codes})
    (folder / "sitecustomize.py").write_text(hook, "utf-8")
    os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{Path.cwd()}"
    exec(hook, {})  # noqa: S102 (as an interpreter does that starts with it)


def try_module(module: Module, tests: Tests, plain: Run, sample: random.Random, most: int) -> tuple[int, int]:
    """Try changes of a module, print what no test notices; return how many changes and how many of those."""
    made = find_changes(module)
    changes = sorted(sample.sample(made, min(most, len(made))))
    own = plain.find_tests(module.start, module.start + module.lines)
    noticing: list[str] = []  # what noticed the last changes is likely to notice the next one
    missed = hung = 0
    for change in changes:
        statement = module.start + change.statement
        chosen = plain.find_tests(statement, statement) if change.statement else own or {*plain.seconds}
        failed, passed = "", set[str]()
        # Most changes are noticed in the file with the most tests; to collect all files takes longer than these tests.
        nearest = dict(Counter(map(file_of, chosen)).most_common(1))
        for some in (chosen.intersection(noticing), {test for test in chosen if file_of(test) in nearest}, chosen):
            if not failed and (more := some - passed):
                limit = STARTING + SLOWER * sum(plain.seconds[test] for test in more)
                failed = tests.run({module: change.make(module)}, more, limit).failed
                passed |= more
        hung += failed == HANGS
        if failed in chosen:
            noticing = [failed, *(test for test in noticing if test != failed)][:FIRST]
        if not failed:
            missed += 1
            why = "" if chosen else "  (no test runs it)"
            print(f"{module.file}:{change.line}:{change.column + 1}: {change.before}  ->  {change.after}{why}")
    noticed = f"{len(changes) - missed} noticed (hanging: {hung}), {missed} not noticed"
    print(f"{module.file}: {len(made)} mutants, tried {len(changes)}: {noticed}; tests that run it: {len(own)}")
    return len(changes), missed


def git(*arguments: str) -> str:
    """Return what Git prints, nothing if it fails."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()  # noqa: S607


def main() -> int:
    """Try the changes and print those that no test notices; return the exit code."""
    parser = argparse.ArgumentParser(usage="%(prog)s [options] [module ...]", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", nargs="*", metavar="module", help="the file of a module")
    parser.add_argument("--base", help="try the modules that differ from this commit")
    parser.add_argument("--most", type=int, default=40, help="how many changes of each module to try (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: 0)")
    parser.add_argument("-m", dest="marked", default="", help="the tests to run, by marks (default: all)")
    parser.add_argument("--tests", nargs="+", default=[], metavar="file", help="files of tests, in place of all")
    given = parser.parse_args()
    files = given.files
    if not files:
        base = given.base or git("merge-base", "origin/main", "HEAD") or "HEAD~1"
        if not git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
            parser.error(f"{base} is not a commit; name one with --base, or name modules")
        files = git("diff", "--name-only", "--diff-filter=d", base, "--", "rubric_lint/*.py").splitlines()
        print(f"Modules of rubric_lint that differ from {base}: {len(files)}.")
    modules, statements = [], 1
    for file in files:
        if not Path(file).is_file():
            parser.error(f"{file} is not a file")
        modules.append(Module(file, statements, len(Path(file).read_text("utf-8").splitlines())))
        statements += modules[-1].lines + 1
    if not modules:
        return 0
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the tests that run, too
    sys.path.insert(0, str(Path.cwd()))
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # only what the tests need, in each copy
    for name in LOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    tests = Tests([*OPTIONS, "-m", given.marked], given.tests, statements)
    print(f"Running the tests once without a change ({given.marked or 'all of them'}).", file=sys.stderr, flush=True)
    plain = tests.run({module: module.mark() for module in modules})
    if plain.failed:
        parser.error(f"{plain.failed} fails without any change")
    if not plain.seconds:
        parser.error("no test to run: no file holds one with these marks")
    results = [try_module(module, tests, plain, random.Random(given.seed), given.most) for module in modules]  # noqa: S311
    tried, missed = (sum(numbers) for numbers in zip(*results, strict=True))
    print(f"Modules: {len(modules)}, mutants: {tried}, noticed: {tried - missed}, not: {missed}, seed: {given.seed}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
