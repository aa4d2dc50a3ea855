"""Compose node trees from the events of a YAML or JSON parser."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.text.source import Span
from rubric_lint.text.tree import MAX_DEPTH, UNTAGGED, AliasNode, Root, SyntaxFaultError, too_deep

MAX_ALIASED = 1_000_000
"""The most values that the aliases of a document may expand to. An alias bomb expands to billions in a few lines."""


class _Anchor(NamedTuple):
    node: Any
    size: int
    is_open: bool = False


def compose_events(next_event: Callable[[], Any]) -> list[Root]:  # noqa: C901, PLR0912, PLR0915
    """Compose the documents of a stream of events, with aliases as separate nodes.

    Raises:
        SyntaxFaultError: for an alias without an anchor, inside itself or too large, and for too deep nesting.
    """
    roots: list[Root] = []
    stack: list[tuple[Any, Any, Any, int]] = []
    node: Any = None  # the innermost collection that is open
    anchor: Any = None
    key: Any = None
    aliased = 0  # the number of values that its aliases expand to
    root: Any = None
    before = 0
    has_aliases = False
    anchors: dict[str, _Anchor] = {}
    while True:
        event = next_event()
        kind = type(event)
        if kind is ScalarEvent:
            tag = None if event.ctag is None else str(event.ctag)
            child: Any = ScalarNode(
                UNTAGGED if tag is None or tag == "!" else tag,
                event.value,
                event.start_mark,
                event.end_mark,
                style=event.style or None,
            )
            if event.anchor is not None:
                anchors[event.anchor] = _Anchor(child, 1)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(stack) >= MAX_DEPTH:
                raise too_deep(event.start_mark.index)
            stack.append((node, anchor, key, aliased))
            node = (MappingNode if kind is MappingStartEvent else SequenceNode)(
                UNTAGGED, [], event.start_mark, event.end_mark, flow_style=event.flow_style
            )
            anchor, key, aliased = event.anchor, None, 0
            if anchor is not None:
                anchors[anchor] = _Anchor(node, 0, is_open=True)
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            child = node
            child.end_mark = event.end_mark
            if anchor is not None:
                anchors[anchor] = _Anchor(child, len(child.value) + 1 + aliased)
            inner = aliased
            node, anchor, key, aliased = stack.pop()
            aliased += inner
            if aliased > MAX_ALIASED:
                start = child.start_mark.index
                raise _too_large("in this value", Span(start, start + 1))
        elif kind is AliasEvent:
            site = Span(event.start_mark.index, event.end_mark.index)
            found = _find_anchor(anchors, event.anchor, site, is_root=node is None)
            has_aliases = True
            child = AliasNode(found.node, event.start_mark, event.end_mark)
            if not (type(node) is MappingNode and key is None):
                aliased += found.size
                if aliased > MAX_ALIASED:
                    raise _too_large(f"up to `*{event.anchor}`", site)
        elif kind is DocumentStartEvent:
            anchors, has_aliases = {}, False
            continue
        elif kind is DocumentEndEvent:
            roots.append(Root(root, before, has_aliases))
            before = event.end_mark.index
            continue
        elif kind is StreamEndEvent:
            return roots or [Root(None, 0)]
        else:
            continue
        if node is None:
            root = child
        elif type(node) is SequenceNode:
            node.value.append(child)
        elif key is None:
            key = child
        else:
            node.value.append((key, child))
            key = None


def _find_anchor(anchors: dict[str, _Anchor], name: str, site: Span, *, is_root: bool) -> _Anchor:
    anchor = anchors.get(name)
    if anchor is None:
        raise SyntaxFaultError(f"alias `*{name}` has no anchor `&{name}` before it", site)
    if anchor.is_open:
        raise SyntaxFaultError(f"alias `*{name}` is inside the value that it repeats", site)
    if is_root:
        raise SyntaxFaultError(f"alias `*{name}` cannot be a whole document", site)
    return anchor


def _too_large(where: str, site: Span) -> SyntaxFaultError:
    return SyntaxFaultError(f"the aliases {where} stand for more than {MAX_ALIASED:,} values", site)
