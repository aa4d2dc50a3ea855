"""The cases of a suite, cut apart at their indent so that each can be read on its own."""

import re
from itertools import pairwise
from typing import Any, NamedTuple

from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.finding import OTHER_LINE
from rubric_lint.lint.engine import MARK
from rubric_lint.text.c_parser import compose
from rubric_lint.text.events import has_old_line_ends
from rubric_lint.text.tree import SyntaxFaultError, may_have_aliases, walk_nodes

_LEAST = 250
"""How many characters the cases must have on average; it takes more time to check shorter ones apart."""

_TOP_LINE = re.compile(r"\n(?=[^\s#-])")
_FIRST_CASE = re.compile(r"[^\r\n]*\r?\n(?: *(?:#[^\n]*)?\r?\n)*( *)- ")


class Cut(NamedTuple):
    """A suite as what precedes its list of cases, the cases, and what follows them; together they are the text."""

    head: str
    cases: tuple[str, ...]
    tail: str
    indent: int

    def excerpt(self, case: str) -> str:
        """Return the suite with one of its cases alone."""
        return f"{self.head}{case}{self.tail}"


def cut(text: str) -> Cut | None:
    """Cut a suite apart; None for a text whose parts may depend on each other, or are not worth it.

    Whether the parts are what they look like shows when they are composed: see `compose_case`.
    """
    if _may_depend(text):
        return None
    starts = [0, *(found.end() for found in _TOP_LINE.finditer(text)), len(text)]
    begin = max(range(len(starts) - 1), key=lambda at: starts[at + 1] - starts[at])
    end = starts[begin + 1]
    found = _FIRST_CASE.match(text, starts[begin], end)
    if found is None:
        return None
    first, indent = found.start(1), len(found[1])
    bounds = [each.end() for each in re.finditer(rf"\n(?= {{{indent}}}- )", text[first:end])]
    if (first + len(text) - end + _LEAST) * (len(bounds) + 1) > 2 * len(text):
        return None
    places = [first, *(first + bound for bound in bounds), end]
    cases = tuple(text[start:stop] for start, stop in pairwise(places))
    return Cut(text[:first], cases, text[end:], indent)


def _may_depend(text: str) -> bool:
    """Return whether something in a text may reach from one case into others, or from one document into the next."""
    return (
        any(sign in text for sign in ("\n---", "\n...", "\n%", OTHER_LINE))
        or text.startswith("%")
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
        or has_old_line_ends(text)
        or MARK in text.lower()
        or may_have_aliases(text)
    )


class Composed(NamedTuple):
    """The nodes of an excerpt, the key of the list in which the case stands, and how many items that has."""

    root: Any
    key: str
    items: int


def compose_case(parts: Cut, case: str) -> Composed | None:
    """Compose an excerpt; None where it cannot be read, or means something else without the cases around it.

    The parser must begin the list at the case, and what follows at its place. It is then in the same state before each
    case and after it, so that a text of such cases means what they mean one by one.
    """
    text = parts.excerpt(case)
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


_DOUBTFUL = re.compile(
    r"""
        \t | ["'\]}]\# | \\[^nt"\\] | (?:^|[\s\[{,:-])[!&*@`%]
        | (?:^|[ :-])[|>][-+0-9]*(?:\# | [ ]*(?:\#[^\n]*)?\r?(?:\Z | \n\s*(?:\n|\#|\Z)))
    """,
    re.MULTILINE | re.VERBOSE,
)
_DOUBTFUL_IN_BRACKETS = re.compile(r"""\?|\#|:(?![ \n])|[\s\[{,]-|\r""")


def is_plain(text: str, root: Any) -> bool:
    """Return whether the pure parser takes a text as the C parser does: it has nothing that they are at odds about."""
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
