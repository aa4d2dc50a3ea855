"""Parse YAML with the C parser of ruamel.yaml, to events or to node trees."""

import operator
import re
from collections.abc import Callable
from typing import Any

from ruamel.yaml.error import YAMLError
from ruamel.yaml.tag import Tag

from rubric_lint.text.deadline import check_time
from rubric_lint.text.tree import MAX_DEPTH, UNTAGGED, Root, node_end, too_deep

try:
    from _ruamel_yaml import CParser as _CParser
except ImportError:  # it is compiled, and not for every system

    class _CParser:  # type: ignore[no-redef]
        def __init__(self, _: str) -> None:
            raise YAMLError("the C parser is not installed")


def open_events(text: str) -> Callable[[], Any]:
    """Return a function that returns the next event of a YAML stream, or raises a YAMLError at a syntax error.

    Raises:
        YAMLError: if the C parser is not installed.
    """
    return _CParser(text).get_event  # type: ignore[no-any-return]


class _Composer(_CParser):  # type: ignore[misc]
    """A composer that builds nodes in C; its hooks do almost nothing, because they run for every node."""

    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = bool

    @staticmethod
    def resolve(*_: Any) -> Tag:
        return UNTAGGED


class _GuardedComposer(_Composer):
    """A composer that checks depth and time, for texts that may be too deep or take long."""

    depth = 0
    count = 0

    def descend_resolver(self, parent: Any, _: Any) -> None:  # type: ignore[override]
        self.depth += 1
        self.count += 1
        if not self.count & 1023:
            check_time()
        if self.depth > MAX_DEPTH + 1:
            raise too_deep(parent.start_mark.index)

    def ascend_resolver(self) -> None:  # type: ignore[override]
        self.depth -= 1


def compose(text: str) -> list[Root]:
    """Compose the documents of a YAML stream with the C parser.

    Raises:
        YAMLError: if the C parser cannot read the text, which may still be valid YAML.
        SyntaxFaultError: if the text is nested too deeply.
    """
    parser = (_Composer if _is_surely_shallow(text) else _GuardedComposer)(text)
    roots: list[Root] = []
    before = 0
    while parser.check_node():
        node = parser.get_node()
        if roots:
            before = _find_document_end(text, node_end(text, roots[-1].node))
        roots.append(Root(node, before))
    return roots or [Root(None, 0)]


_UNWATCHED = 300_000
"""The most characters of shallow text to read without checking the time; that takes a tenth of a second."""

_INDENT = 60
# What may precede a block collection on its line: the starts of the collections around it, at most two in a column.
_DEEP = rf"(?:[ \t]|[-?:](?=[ \t])){{{_INDENT}}}"
_DEEP_START = re.compile(_DEEP)
_DEEP_LINE = re.compile(rf"\n{_DEEP}")
_DEEP_ODD_LINE = re.compile(rf"[\r\x85\u2028\u2029]{_DEEP}")

_PLAIN = r"""(?>(?:[^\[\]{}"'#,:\r\n]|:(?![ ]))*)"""
_ITEM = rf"""(?:"[^"\\\r\n]*"|{_PLAIN})"""
# A flow collection on one line without others in it, as nearly all are. Text that only looks like one does no harm:
# matching it only removes opening brackets.
_INNERMOST = re.compile(rf"(?>[\[{{][ ]*){_ITEM}(?:(?>,[ ]*|:[ ]+){_ITEM})*[ ]*[\]}}]")


def _is_surely_shallow(text: str) -> bool:
    """Return whether a text certainly does not nest too deeply, judging by brackets, dashes and indents."""
    if sum(map(text.count, "[{-:?")) < MAX_DEPTH:
        return True
    if len(text) > _UNWATCHED or _DEEP_START.match(text) or _DEEP_LINE.search(text):
        return False
    if ("\r" in text or not text.isascii()) and _DEEP_ODD_LINE.search(text):
        return False
    brackets = text.count("[") + text.count("{")
    most = MAX_DEPTH - 2 * _INDENT - 2
    return brackets < most or brackets - len(_INNERMOST.findall(text)) < most - 1


_MARKER = re.compile(r"^(?:---|(\.\.\.))(?=\s|\Z)", re.MULTILINE)


def _find_document_end(text: str, content_end: int) -> int:
    """Return where a document ends that has a successor: after its `...`, else at the next `---`."""
    found = _MARKER.search(text, content_end)
    if found is None:
        return content_end
    return found.end() if found[1] else found.start()
