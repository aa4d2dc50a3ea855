"""C2: the time of every regular expression in the package grows in proportion to the text.

The tests find the expressions in the source, so they try a new one without a list. They run each on texts that repeat
pieces of its own characters: an expression that reads text again from every place takes 16 times as long for 4 times
the text, one in proportion 4 times. The bound is halfway, and an expression fails only if every one of several rounds
exceeds it.
"""

import ast
import importlib
import pkgutil
import re
import time
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import rubric_lint

pytestmark = pytest.mark.repository

PACKAGE = Path(rubric_lint.__file__).parent
ANCHORED = {"match", "fullmatch"}
USES = ANCHORED | {"search", "finditer", "findall", "sub", "subn", "split"}
FROM_LOCALS = {  # files that build expressions at run time, each with the reason why they need no trial
    "lint/project/gitignore.py": "patterns of users, tried in test_gitignore.py",
    "formats/dialects/__init__.py": "two characters at a time",
    "formats/search/locate.py": "one of many words, after a run of one class at the start of a line",
    "formats/search/around.py": "the patterns of the schemas for names, one repetition each",
    "formats/search/described.py": "the patterns of built-in tables, at the start of a text",
    "formats/search/scales_in_text.py": "a run of blanks as long as that of a bullet, then one mark",
    "formats/home_made/assignments.py": "names of a table, with up to four digits for each star",
    "formats/home_made/columns.py": "names with up to four digits for a star",
    "formats/home_made/places.py": "the patterns of vocabulary.py, on the names of files",
    "formats/home_made/unmapped.py": "names of a table, with up to four digits for each star",
    "formats/home_made/scale_reading.py": "names of a table, up to four digits for each star",
    "formats/sheets/csv_file.py": "a run of characters that are none of three",
    "convert/export/target.py": "the patterns of the schemas for names, one repetition each",
    "formats/search/near_misses.py": "names of fields with a score, from their beginning to their end",
    "scoring/records/verdict.py": "the few letters of a field's name, one after the other",
    "source/source.py": "one byte order mark, repeated",
    "model/schema_problems.py": "the pattern of the schema for verdicts, three words",
    "model/schema.py": "the patterns of the schemas, one repetition each",
    "source/yaml_events.py": "words in the messages of parsers",
}
BOUNDED = {  # files whose expressions only ever read a few characters
    "source/edits/fields.py": "the 200 characters before a key or a value",
    "source/edits/lines.py": "the 200 characters before a value",
    "model/schema_problems.py": "the 200 characters before a value",
}


def paths():
    """Yield the name and the path of each module."""
    for info in pkgutil.walk_packages([str(PACKAGE)], "rubric_lint."):
        path = PACKAGE.joinpath(*info.name.split(".")[1:])
        path = path / "__init__.py" if info.ispkg else path.with_suffix(".py")
        if info.name != "rubric_lint.__main__":
            yield info.name, path


def uses_re(text):
    return "import re\n" in text


TRIED = [  # the files, not the expressions: to find those takes a second, which only the tests of them shall take
    relative
    for relative, path in ((path.relative_to(PACKAGE).as_posix(), path) for _, path in paths())
    if relative not in BOUNDED and uses_re(path.read_text("utf-8"))
]


@cache
def modules():
    return [
        (name, path.relative_to(PACKAGE).as_posix(), text, ast.parse(text))
        for name, path in paths()
        for text in [path.read_text("utf-8")]
    ]


def method(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def uses_of_names():
    """Return the methods called on each name, by module; public names, which other modules import, by ""."""
    uses = {}
    for name, _, _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in USES:
                scope = name if node.value.id.startswith("_") else ""
                uses.setdefault((scope, node.value.id), set()).add(node.attr)
    return uses


def calls_of_re(tree):
    """Yield each call of a function of `re` that takes an expression, and the name or methods that use the result."""
    compiled = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            compiled[node.value] = node.targets[0].id
        elif isinstance(node, ast.Attribute) and node.attr in USES:
            compiled[node.value] = {node.attr}  # re.compile(...).search
    for node in ast.walk(tree):
        is_one = isinstance(node, ast.Call) and method(node) in USES | {"compile"}
        if is_one and re.fullmatch(r"re\.\w+", ast.unparse(node.func)):
            yield node, compiled.get(node, USES) if method(node) == "compile" else {method(node)}


@cache
def find_patterns():
    """Return each expression with whether it is only matched at given places, and the files that build others."""
    uses, found, others = uses_of_names(), {}, set()
    for name, path, text, tree in modules():
        if not uses_re(text):
            continue
        try:
            module = vars(importlib.import_module(name))
        except ImportError:  # an extra that is not installed
            continue
        for call, how in calls_of_re(tree):
            try:
                pattern = eval(ast.unparse(call.args[0]), dict(module))  # noqa: S307
            except (NameError, AttributeError):
                others.add(path)
                continue
            flags = [
                part for part in [*call.args[1:], *(word.value for word in call.keywords)] if "re." in ast.unparse(part)
            ]
            flag = eval(ast.unparse(flags[0]), dict(module)) if flags else 0  # noqa: S307
            methods = uses.get((name if how.startswith("_") else "", how), USES) if isinstance(how, str) else how
            key = (path, pattern, int(flag))
            found[key] = found.get(key, True) and methods <= ANCHORED
    return found, others


def pieces(source):
    """Return the texts to repeat: pairs of the characters of an expression, and its words."""
    signs = sorted({char for char in source if not char.isalnum()} - set("()|^+*"))[:8]
    chars = [*signs, *" \t\na0", "\\"]
    words = re.findall(r"[A-Za-z_$-]{3,}:?", source)[:8]
    return [*map("".join, product(chars, repeat=2)), *words, *(word + sign for word in words for sign in "# :[")]


def run(regex, text, is_anchored):
    if is_anchored:
        regex.match(text)
        return
    for _ in regex.finditer(text):
        pass


def measure(regex, text, is_anchored):
    start = time.process_time()
    run(regex, text, is_anchored)
    return time.process_time() - start


SIZE, ROUNDS = 1_500, 5


def grows_too_fast(regex, few, many, is_anchored):
    """Return whether four times the text takes over nine times as long, in every round."""
    for _ in range(ROUNDS):
        short, long = (min(measure(regex, text, is_anchored) for _ in range(3)) for text in (few, many))
        if long < 0.01 or long <= 9 * short:
            return False
    return True


def find_slow(pattern, flags, is_anchored):
    """Yield the pieces that make the time of an expression grow faster than the text."""
    regex = re.compile(pattern, flags)
    source = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    firsts = ["", next((char for char in source if char not in "()|^+*?[]\\"), "a")]
    for piece, first, last in product(pieces(source), firsts, ["", "\x01"]):
        texts = [first + piece * (size // len(piece)) + last for size in (SIZE, 4 * SIZE)]
        few, many = (text.encode() if isinstance(pattern, bytes) else text for text in texts)
        once = measure(regex, few, is_anchored)
        is_doubtful = once > 0.001 and measure(regex, many, is_anchored) > 6 * once
        if is_doubtful and grows_too_fast(regex, few, many, is_anchored):
            yield first, piece, last


def test_every_expression_is_tried_or_known():
    patterns, others = find_patterns()
    assert others == set(FROM_LOCALS)
    assert len(patterns) > 60
    assert {path for path, *_ in patterns} <= {*TRIED, *BOUNDED}


@pytest.mark.parametrize("path", TRIED)
def test_the_time_of_an_expression_grows_no_faster_than_the_text(path):
    keys = [key for key in find_patterns()[0] if key[0] == path]
    found = {
        pattern: list(find_slow(pattern, flags, find_patterns()[0][path, pattern, flags])) for _, pattern, flags in keys
    }
    assert {pattern: slow[:3] for pattern, slow in found.items() if slow} == {}


def test_a_slow_expression_would_be_found():
    assert next(find_slow(r"[ \t]*\t[ \t]*(?=[\r\n#])", 0, is_anchored=False), None)
    assert next(find_slow(r'"(?:[^"\\]|\\.)*"', 0, is_anchored=False), None)
