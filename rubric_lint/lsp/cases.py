"""Split a suite into its cases by indentation, so that each can be read on its own."""

import re
from itertools import pairwise
from typing import Any, NamedTuple

from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.finding import OTHER_LINE
from rubric_lint.lint.engine import MARK
from rubric_lint.text.c_parser import compose
from rubric_lint.text.composer import compose_events
from rubric_lint.text.events import has_old_line_ends, open_json
from rubric_lint.text.kinds import Kind
from rubric_lint.text.tree import SyntaxFaultError, may_have_aliases, walk_nodes

_LEAST = 250
"""The average case length, in characters, from which linting cases separately is faster."""

_TOP_LINE = re.compile(r"\n(?=[^\s#-])")
_FIRST_CASE = re.compile(r"[^\r\n]*\r?\n(?: *(?:#[^\n]*)?\r?\n)*( *)- ")


class Cut(NamedTuple):
    """A suite as the text before its list of cases, the cases, and the text after them."""

    head: str
    cases: tuple[str, ...]
    tail: str
    indent: int
    kind: Kind = Kind.YAML

    def excerpt(self, case: str) -> str:
        """Return the suite with only one of its cases; in JSON, the comma after it becomes a space."""
        if self.kind is Kind.JSON and (written := case.rstrip()).endswith(","):
            case = f"{written[:-1]} {case[len(written) :]}"
        return f"{self.head}{case}{self.tail}"


def cut(text: str, least: int = _LEAST) -> Cut | None:
    """Split a suite; return None if its parts may depend on each other or splitting is not worth it.

    `least` is the average length of a case, in characters, from which it is. `compose_case` verifies that the parts are
    what they look like.
    """
    if _may_depend(text):
        return None
    starts = [0, *(found.end() for found in _TOP_LINE.finditer(text)), len(text)]
    begin = max(range(len(starts) - 1), key=lambda at: starts[at + 1] - starts[at])
    end = starts[begin + 1]
    found = _FIRST_CASE.match(text, starts[begin], end)
    if found is None:
        return None
    cases = _split(text, found, "- ", end, least)
    return None if cases is None else Cut(text[: found.start(1)], cases, text[end:], len(found[1]))


def _split(text: str, found: re.Match[str], mark: str, end: int, least: int) -> tuple[str, ...] | None:
    """Return the cases that begin with `mark` in the column of the first one, which `found`; None if not worth it."""
    first, indent = found.start(1), len(found[1])
    bounds = [each.end() for each in re.finditer(rf"\n(?= {{{indent}}}{re.escape(mark)})", text[first:end])]
    if (first + len(text) - end + least) * (len(bounds) + 1) > 2 * len(text):
        return None
    places = [first, *(first + bound for bound in bounds), end]
    return tuple(text[start:stop] for start, stop in pairwise(places))


_TOP_LINE_OF_JSON = re.compile(r'\n *(?=")')
_FIRST_CASE_OF_JSON = re.compile(r'"[^"\\\n]*": ?\[\r?\n( *)(?=\{)')


def cut_json(text: str) -> Cut | None:
    """Split a suite in JSON that has each key, and each case, on a line of its own; see `cut`."""
    found = _TOP_LINE_OF_JSON.search(text)
    if found is None or _may_depend(text):
        return None
    top = found.group()
    keys = [each.end() for each in re.finditer(rf'{top}(?=")', text)]
    starts = [*keys, len(text)]
    begin = max(range(len(keys)), key=lambda at: starts[at + 1] - starts[at])
    opened = _FIRST_CASE_OF_JSON.match(text, starts[begin])
    end = text.rfind(f"{top}]", starts[begin], starts[begin + 1]) + 1
    if opened is None or opened.end() >= end:
        return None
    cases = _split(text, opened, "{", end, _LEAST)
    if cases is None or [case.rstrip()[-1:] for case in cases] != [*"," * (len(cases) - 1), "}"]:
        return None
    return Cut(text[: opened.start(1)], cases, text[end:], len(opened[1]), Kind.JSON)


def _may_depend(text: str) -> bool:
    """Return whether a text contains anything that may affect other cases or the next document."""
    begun = _BEGIN.match(text)
    return (
        text.find("\n---", begun.end() if begun else 0) >= 0
        or any(sign in text for sign in ("\n...", "\n%", OTHER_LINE))
        or text.startswith("%")
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
        or has_old_line_ends(text)
        or MARK in text.lower()
        or may_have_aliases(text)
    )


_BEGIN = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?\r?\n)*+---")


class Composed(NamedTuple):
    """The nodes of an excerpt, the key of its list of cases, and the number of items in that list."""

    root: Any
    key: str
    items: int


def compose_case(parts: Cut, case: str) -> Composed | None:
    """Compose an excerpt; return None if it cannot be read or depends on the cases around it.

    The parser must begin the list at the case, and the rest at its place. It is then in the same state before and after
    each case, so the whole text means the same as its cases one by one.
    """
    text = parts.excerpt(case)
    if parts.kind is Kind.JSON:
        return _compose_json(parts, text)
    try:
        roots = compose(text)
    except (YAMLError, SyntaxFaultError):
        return None
    root, first, end = roots[0].node, len(parts.head) + parts.indent, len(parts.head) + len(case)
    if len(roots) > 1 or type(root) is not MappingNode or root.flow_style:
        return None
    for index, (key, value) in enumerate(root.value):
        if value.start_mark.index >= first:
            rest = root.value[index + 1 :]
            is_apart = rest[0][0].start_mark.index == end if rest else not parts.tail
            is_list = type(value) is SequenceNode and not value.flow_style and value.start_mark.index == first
            return Composed(root, key.value, len(value.value)) if is_list and is_apart else None
    return None


def _compose_json(parts: Cut, text: str) -> Composed | None:
    """Compose an excerpt in JSON, where no line begins in a string: a list that is where it seems to be is whole."""
    try:
        (root, *_), *others = compose_events(open_json(text))
    except SyntaxFaultError:
        return None
    if others or type(root) is not MappingNode:
        return None
    first, last = parts.head.rindex("["), text.index("]", len(text) - len(parts.tail))
    for key, value in root.value:
        if type(value) is SequenceNode and (value.start_mark.index, value.end_mark.index) == (first, last + 1):
            return Composed(root, key.value, len(value.value))
    return None


_DOUBTFUL = re.compile(
    r"""
        \t | ["'\]}]\# | \\[^nt"\\] | (?:^|[\s\[{,:-])[!&*@`%]
        | (?:^|[ :-])[|>][-+0-9]*(?:\# | [ ]*(?:\#[^\n]*)?\r?(?:\Z | \n\s*(?:\n|\#|\Z)))
    """,
    re.MULTILINE | re.VERBOSE,
)
_DOUBTFUL_IN_BRACKETS = re.compile(r"""\?|\#|:(?![ \n])|[\s\[{,]-|\r""")


def is_plain(text: str, root: Any) -> bool:
    """Return whether the pure parser reads a text as the C parser does: it has nothing on which they differ."""
    if _DOUBTFUL.search(text) or not text.translate(_BREAKS).isprintable():
        return False
    nodes = list(walk_nodes(root))
    for node in nodes:
        if type(node) is ScalarNode and node.style in ("'", '"'):
            start, end = node.start_mark.index + 1, node.end_mark.index - 1
            text = f"{text[:start]}{'x' * (end - start)}{text[end:]}"
    brackets = (node for node in nodes if type(node) is not ScalarNode and node.flow_style)
    return not any(_DOUBTFUL_IN_BRACKETS.search(text, node.start_mark.index, node.end_mark.index) for node in brackets)


_BREAKS = str.maketrans("\r\n", "  ")
