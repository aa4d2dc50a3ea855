"""Changes a module in small ways, one at a time, and says which changes its tests do not notice.

`python tools/mutants.py rubric_lint/bands.py tests/test_bands.py` tries every change; `--most 60` tries 60 of them,
always the same. A change that goes unnoticed is a missing test, or changes nothing that anybody can see. No file is
changed: a test, or a program that it starts, gets the changed module when it imports the module.
"""

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Named so that Python runs it first; what it finds goes before the module in its place.
HOOK = """
import importlib.util, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {name!r}:
            return importlib.util.spec_from_file_location(name, {file!r})
sys.meta_path.insert(0, Finder)
"""

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
CALCULATED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}


def changes_of(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901 (one case for each kind of change)
    """Yield what may stand in the place of a node."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARED:
            yield ast.Compare(node.left, [COMPARED[type(operator)]()], node.comparators)
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
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break() | ast.Raise():
            yield ast.Pass()
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line of each change, what stood there, what stands there now, and the whole changed module."""
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for place in range(len(list(changes_of(node)))):
            copy = deepcopy(tree)
            old = list(ast.walk(copy))[number]
            new = ast.copy_location(list(changes_of(old))[place], old)
            Swap(old, new).visit(copy)
            before, after = (ast.unparse(each).partition("\n")[0] for each in (node, new))
            yield getattr(node, "lineno", 0), before, after, ast.unparse(ast.fix_missing_locations(copy))


class Swap(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one."""
        return self.new if node is self.old else self.generic_visit(node)


def is_noticed(name: str, text: str, tests: list[str]) -> bool:
    """Run the tests on a changed module."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "changed.py")
        file.write_text(text, "utf-8")
        Path(folder, "sitecustomize.py").write_text(HOOK.format(name=name, file=str(file)), "utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        try:
            ran = subprocess.run(
                command, cwd=ROOT, env={**os.environ, "PYTHONPATH": folder}, timeout=300, check=False, **streams
            )
        except subprocess.TimeoutExpired:
            return True
        return ran.returncode != 0


def main() -> int:
    """Try the changes and print those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--most", type=int, default=10**9)
    chosen = parser.parse_args()
    name = ".".join(chosen.module.resolve().relative_to(ROOT).with_suffix("").parts)
    tree = ast.parse(chosen.module.read_text("utf-8"))
    if is_noticed(name, ast.unparse(tree), chosen.tests):
        print("The tests fail on the module as it is.")
        return 2
    made = [each for each in mutants(tree) if each[3] != ast.unparse(tree)]
    tried = sorted(random.Random(0).sample(made, min(chosen.most, len(made))))  # noqa: S311 (a choice, no secret)
    missed = 0
    for line, before, after, text in tried:
        if not is_noticed(name, text, chosen.tests):
            missed += 1
            print(f"{chosen.module}:{line}: {before}  ->  {after}", flush=True)
    print(f"{len(tried)} of {len(made)} changes tried, {missed} not noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
