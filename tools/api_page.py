"""The list of public names in `docs/api.md`, made of the code.

`make renew` writes it.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rubric_lint
import rubric_lint.arrow
import rubric_lint.rewards

PAGE = Path(__file__).parent.parent / "docs/api.md"
MARKS = ("<!-- names -->\n", "<!-- /names -->\n")


def list_names() -> str:
    """A section for each public name: its signature, and what it does."""
    values = [(name, getattr(rubric_lint, name)) for name in rubric_lint.__all__ if name != "__version__"]
    for room, module in (("arrow", rubric_lint.arrow), ("rewards", rubric_lint.rewards)):
        values += [(f"{room}.{name}", getattr(module, name)) for name in module.__all__]
    functions = [pair for pair in values if inspect.isfunction(pair[1])]
    faults = [pair for pair in values if pair not in functions and issubclass(pair[1], Exception)]
    types = [pair for pair in values if pair not in functions and pair not in faults]
    chapters = (("Functions", functions), ("Types", types), ("Exceptions", faults))
    return "\n".join(f"## {title}\n\n{''.join(_section(*pair) for pair in pairs)}" for title, pairs in chapters)


def renew(page: str) -> str:
    """The page with the list as it is now."""
    before, rest = page.split(MARKS[0])
    return f"{before}{MARKS[0]}\n{list_names()}\n{MARKS[1]}{rest.split(MARKS[1])[1]}"


def _section(name: str, value: Any) -> str:
    if inspect.isfunction(value):
        code = _sign(*_definition(value))
    else:
        code = ":\n".join(filter(None, [_class_line(value), "\n".join(_members(value))]))
    return f"### `{name}`\n\n```python\n{code}\n```\n\n{_reflow(inspect.getdoc(value) or '')}\n\n"


def _definition(value: Any) -> tuple[Any, str]:
    # Read from the source, as Python's versions print one and the same annotation in different ways.
    source = textwrap.dedent(inspect.getsource(value))
    (node,) = ast.parse(source).body
    return node, source


def _sign(node: ast.FunctionDef, source: str) -> str:
    """What stands between `def` and the colon, on one line."""
    head = "".join(source.splitlines(keepends=True)[node.lineno - 1 : node.body[0].lineno - 1])
    line = " ".join(head.removesuffix(":\n").split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return line.removeprefix("def ").replace("(self, ", "(").replace("(cls, ", "(").replace("(self)", "()")


def _class_line(value: type) -> str:
    kind = next((base.__name__ for base in value.__mro__[1:] if base.__name__ in {"StrEnum", "Exception"}), "")
    return f"class {value.__name__}({kind})" if kind else f"class {value.__name__}"


def _members(value: type) -> Iterator[str]:
    """The fields with their types, then what can be asked of it."""
    found = [_definition(base) for base in reversed(value.__mro__) if base.__module__.startswith("rubric_lint.")]
    members = [(member, source) for node, source in found for member in node.body]
    for member, source in members:
        match member:
            case ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]) if name[0] != "_":
                yield f"    {ast.get_source_segment(source, member)}".partition("  #")[0]
            case ast.FunctionDef(name="__init__") if issubclass(value, Exception):
                yield from (f"    {each}" for each in _attributes(member))
    for member, source in members:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            ways = {ast.unparse(each) for each in member.decorator_list}
            does = f"  # {(ast.get_docstring(member) or '').splitlines()[0]}"
            if ways & {"property", "cached_property"}:
                assert member.returns
                yield f"    {member.name}: {ast.unparse(member.returns)}{does}"
            else:
                yield f"    {_sign(member, source)}{does}"


def _attributes(initial: ast.FunctionDef) -> Iterator[str]:
    """What an exception tells in addition to its text: the attributes that are set when it is made."""
    arguments = [*initial.args.args, *initial.args.kwonlyargs, *([initial.args.vararg] if initial.args.vararg else [])]
    types = {argument.arg: ast.unparse(argument.annotation) for argument in arguments if argument.annotation}
    for node in ast.walk(initial):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.attr
            many = initial.args.vararg is not None and name == initial.args.vararg.arg
            yield f"{name}: tuple[{types[name]}, ...]" if many else f"{name}: {types[name]}"


def _reflow(text: str) -> str:
    """What a docstring says first and what is raised, as Markdown; `help` says the rest."""
    before, found, raised = text.partition("\nRaises:\n")
    before = before.split("\n\n", 1)[0].rstrip()
    items = "".join(f"- raises {line}\n" for line in textwrap.dedent(raised).splitlines())
    return (before + "\n\n" * bool(found) + items).strip()
