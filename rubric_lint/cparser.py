"""The C parser of ruamel.yaml: its events, and the node trees that it composes itself."""

import operator
import re
from collections.abc import Callable
from typing import Any

from ruamel.yaml.error import YAMLError
from ruamel.yaml.tag import Tag

from rubric_lint.clock import check_time
from rubric_lint.tree import MAX_DEPTH, UNTAGGED, Root, node_end, too_deep

try:
    from _ruamel_yaml import CParser as _CParser
except ImportError:  # it is compiled, and not for every system

    class _CParser:  # type: ignore[no-redef]
        def __init__(self, _: str) -> None:
            raise YAMLError("the C parser is not installed")


def open_events(text: str) -> Callable[[], Any]:
    """Return what gives the next event of a YAML stream, and raises a YAMLError where the parser cannot go on.

    Raises:
        YAMLError: where the C parser is not installed.
    """
    return _CParser(text).get_event  # type: ignore[no-any-return]


class _Composer(_CParser):  # type: ignore[misc]
    """Composes nodes in C; the hooks do next to nothing, for they are called for every node."""

    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = bool

    @staticmethod
    def resolve(*_: Any) -> Tag:
        return UNTAGGED


class _GuardedComposer(_Composer):
    """Refuses to nest too deeply, and looks at the clock, where a text has enough brackets and dashes for either."""

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
    """Return the documents of a YAML stream as the C parser composes them.

    Raises:
        YAMLError: where the C parser cannot read the text, which may be YAML all the same.
        SyntaxFaultError: for what is nested too deeply.
    """
    kind = _Composer if sum(map(text.count, "[{-:?")) < MAX_DEPTH else _GuardedComposer
    parser = kind(text)
    roots: list[Root] = []
    before = 0
    while parser.check_node():
        node = parser.get_node()
        if roots:
            before = _find_document_end(text, node_end(text, roots[-1].node))
        roots.append(Root(node, before))
    return roots or [Root(None, 0)]


_MARKER = re.compile(r"^(?:---|(\.\.\.))(?=\s|\Z)", re.MULTILINE)


def _find_document_end(text: str, content_end: int) -> int:
    """Return where a document ends that another one follows: behind its `...`, else at the `---` of the next."""
    found = _MARKER.search(text, content_end)
    if found is None:
        return content_end
    return found.end() if found[1] else found.start()
