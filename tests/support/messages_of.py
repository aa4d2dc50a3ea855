"""Read from the source which messages the package yields: an execution of its functions that follows literals only.

It knows strings, tuples and the keys of mappings; all else is unknown. Branches fork, loops run once or over a literal.
"""

import ast
import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[2] / "rubric_lint"
MAKERS = {"Problem": (0, 3), "problem": (1, 2), "Decision": (2, 3), "Target": (3, 4), "_report": (0, 1)}
"""What makes a problem, by the places of the code and the values among its arguments."""
OTHER = None


class Yielded(NamedTuple):
    """A message that is made somewhere: the module and function, the rule if it stands there, the code, the values.

    `has_related`: it comes with related places, of which the first is that of `{line}`.
    """

    module: str
    function: str
    line: int
    rule: str | None
    code: str | None
    values: frozenset[str] | None
    has_related: bool


@cache
def read_messages():
    """Return all that the package makes."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if re.search(r"import .*\b(Problem|Finding)\b|\bDecision\(|code: str\b", text):
            found |= _Module(path, ast.parse(text)).read()
    return found


class _Module:
    def __init__(self, path, tree):
        self.name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.found, self.returned, self.function = set(), {}, ""

    def read(self):
        for name in self.functions:
            self.run(name)
        return self.found

    def run(self, name):
        """Run a function once, and return what it returns."""
        if name not in self.returned:
            self.returned[name] = {OTHER}  # for a recursion
            node, before, returned = self.functions[name], self.function, set()
            self.function = name
            names = [each.arg for each in node.args.args]
            starts = [
                dict(zip(names, values, strict=False))
                for call in self.calls
                if isinstance(call.func, ast.Name) and call.func.id == name
                for values in product(*(self.value(each, {}) for each in call.args))
            ]
            self.block(node.body, starts or [{}], returned)
            self.function, self.returned[name] = before, returned or {OTHER}
        return self.returned[name]

    def literal(self, node):
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else OTHER

    def block(self, statements, envs, returned):
        for statement in statements:
            envs = [after for env in _distinct(envs) for after in self.step(statement, env, returned)]
        return _distinct(envs)

    def step(self, node, env, returned):  # noqa: C901, PLR0911 (one case a statement)
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                self.look(test, env)
                return [*self.block(body, [env], returned), *self.block(orelse, [env], returned)]
            case ast.For(target=target, iter=over, body=body):
                self.look(over, env)
                items = over.elts if isinstance(over, ast.Tuple | ast.List) else [over]
                values = {value for item in items for value in self.value(item, env)}
                is_literal = isinstance(over, ast.Tuple | ast.List)
                inner = [self.bind(target, value if is_literal else OTHER, env) for value in values]
                return [env, *self.block(body, inner, returned)]
            case ast.While(body=body) | ast.With(body=body):
                return [env, *self.block(body, [env], returned)]
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                envs = [env, *self.block([*body, *orelse], [env], returned)]
                envs += [after for handler in handlers for after in self.block(handler.body, [env], returned)]
                return self.block(final, envs, returned)
            case ast.Match(subject=subject, cases=cases):
                self.look(subject, env)
                return [env, *(after for case in cases for after in self.block(case.body, [env], returned))]
            case ast.Return(value=value):
                self.look(node, env)
                returned |= self.value(value, env) if value else {OTHER}
                return []
            case ast.Continue() | ast.Break() | ast.Raise():
                self.look(node, env)
                return []
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                self.look(node, env)
                return [self.bind(target, each, env) for each in self.value(value, env)]
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.look(node, env)
                more = self.value(value, env)
                return [{**env, name: _join(env.get(name), each)} for each in more]
            case ast.FunctionDef():
                return [env]
        self.look(node, env)
        return [env]

    def bind(self, target, value, env):
        match target:
            case ast.Name(id=name):
                return {**env, name: value}
            case ast.Tuple(elts=parts):
                whole = value if isinstance(value, tuple) and len(value) == len(parts) else (OTHER,) * len(parts)
                for part, each in zip(parts, whole, strict=True):
                    env = self.bind(part, each, env)
        return env

    def value(self, node, env):  # noqa: PLR0911 (one case an expression)
        """Return what an expression may be: strings, tuples, keys of mappings, or unknown."""
        match node:
            case ast.Constant(value=str(text)):
                return {text}
            case ast.Name(id=name):
                return {env.get(name)}
            case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
                return self.value(one, env) | self.value(other, env)
            case ast.Tuple(elts=parts):
                return set(product(*(self.value(part, env) for part in parts)))
            case ast.Dict(keys=keys, values=values):
                wholes = {frozenset()}
                for key, value in zip(keys, values, strict=True):
                    more = self.value(value, env) if key is None else {frozenset([self.literal(key)])}
                    wholes = {_join(whole, each) for whole in wholes for each in more}
                return wholes
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return self.run(name)
        return {OTHER}

    def look(self, node, env):
        """Note what is made in an expression."""
        for each in ast.walk(node):
            rule = OTHER
            if isinstance(each, ast.Tuple) and each.elts:
                rule, calls = self.literal(each.elts[0]), each.elts[1:]
            elif isinstance(each, ast.Call):
                named = isinstance(each.func, ast.Name) and each.func.id in {"Found", "Decision"} and each.args
                rule, calls = self.literal(each.args[0]) if named else OTHER, [*each.args[1:], each]
            else:
                continue
            if rule:
                for call in calls:
                    self.note(call, env, rule)
        for each in ast.walk(node):
            self.note(each, env, OTHER)

    def note(self, call, env, rule):
        if not isinstance(call, ast.Call):
            return
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        if name in MAKERS and (len(call.args) > MAKERS[name][0] or "code" in named):
            code_at, values_at = MAKERS[name]
            args = [arg for arg in call.args for _ in range(1 + isinstance(arg, ast.Starred))]  # a path and a part
            code = args[code_at] if len(args) > code_at else named["code"]
            values = args[values_at] if len(args) > values_at else named.get("values")
            held = self.value(values, env) if values else {frozenset()}
            has_related = len(args) > values_at + 1 or "related" in named
        elif name == "_replace" and "code" in named:
            code, held, has_related = named["code"], {OTHER}, True
        else:
            return
        for text, keys in product(self.value(code, env), held):
            known = keys if isinstance(keys, frozenset) and None not in keys else OTHER
            self.found.add(Yielded(self.name, self.function, call.lineno, rule, text, known, has_related))


def _join(one, other):
    return one | other if isinstance(one, frozenset) and isinstance(other, frozenset) else OTHER


def _distinct(envs):
    return list({frozenset(env.items()): env for env in envs}.values())
