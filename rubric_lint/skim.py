"""A YAML stream to its values alone, which is all it takes to see that nothing is wrong in it.

Where things stand is most of what `build` finds out, and nobody asks for it where there is nothing to report. What is
rare, or may be read in two ways, is left to `build` too. It pays where the C parser makes no events, in large runs.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from rubric_lint.build import BLOCK_STYLES, end_of_block
from rubric_lint.cparser import Parts, open_parts
from rubric_lint.document import Document
from rubric_lint.events import MAX_DEPTH, has_old_line_ends
from rubric_lint.scalar import SPECIAL_STARTS, is_short_decimal, read_plain
from rubric_lint.source import Source, Span


class CloserLookError(Exception):
    """What was asked can only be told of a text that `build` has read."""


_NONE: dict[Any, Any] = {}


class SkimmedDocument(Document):
    """A document of which only the values are known; who asks where they stand gets a `CloserLookError`."""

    def __init__(self, source: Source, data: Any, before: int, root: Span) -> None:
        self.source = source
        self.data = data
        self.preamble = Span(before, max(root.start, before))
        self._root = root
        self.number = None
        # `build` would find none either.
        self.duplicates = ()
        self._alias_sites = self._owners = self._ambiguous = _NONE

    def __getattr__(self, name: str) -> NoReturn:
        raise CloserLookError(name)

    def written(self, container: dict[str, Any] | list[Any], step: str | int) -> str:
        """What a number is written as, or what means the same: of floats only decimals of few digits get here."""
        return str(container[step])  # type: ignore[index]


def skim(source: Source) -> list[SkimmedDocument]:
    """All documents of a YAML stream, in a process where the C parser hands out parts.

    Raises:
        CloserLookError: for anchors, tags, aliases, keys that stand twice or are no texts, scalars that readers take
            differently, and what the C parser does not take for YAML.
    """
    if has_old_line_ends(source.text):
        raise CloserLookError
    try:
        return _skim(source, open_parts(source.text))
    except YAMLError:
        raise CloserLookError from None


def _skim(source: Source, next_event: Callable[[], Parts]) -> list[SkimmedDocument]:  # noqa: C901, PLR0912, PLR0915
    # One long function on purpose, as in `build`: it runs once an event.
    documents: list[SkimmedDocument] = []
    stack: list[tuple[Any, bool, bool]] = []
    container: Any = None
    is_map = is_flow = False
    key: str | None = None  # the key whose value comes next; None where a key comes next
    root: Any = None
    root_start = before = 0
    value: Any
    # `start`, `end` and `style` are those of the scalar, or of the collection in brackets, that ended last.
    while True:
        kind, parts = next_event()
        if kind is ScalarEvent:
            anchor, tag, _, value, start, end, style = parts
            if anchor is not None or tag is not None:
                raise CloserLookError
            if is_map and key is None:
                if value in container or value == "<<":
                    raise CloserLookError
                key = value
                continue
            if not style and value[:1] in SPECIAL_STARTS:
                text = value
                value, ambiguity = read_plain(text)
                if ambiguity is not None or (type(value) is float and not is_short_decimal(text)):
                    raise CloserLookError
            opened = start
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            anchor, tag, _, opened, _, in_brackets = parts
            if anchor is not None or tag is not None or (is_map and key is None) or len(stack) >= MAX_DEPTH:
                raise CloserLookError
            value = {} if kind is MappingStartEvent else []
        else:
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                if is_flow:
                    start, end = parts
                    style = ""
                container, is_map, is_flow = stack.pop()
            elif kind is DocumentEndEvent:
                stop = end.index
                if style in BLOCK_STYLES:
                    stop = end_of_block(source.text, start.index, stop)
                documents.append(SkimmedDocument(source, root, before, Span(root_start, stop)))
                before = parts[1].index
            elif kind is AliasEvent:
                raise CloserLookError
            elif kind is StreamEndEvent:
                if not documents:
                    raise CloserLookError
                return documents
            continue
        if is_map:
            container[key] = value
            key = None
        elif container is not None:
            container.append(value)
        else:
            root, root_start = value, opened.index
        if kind is not ScalarEvent:
            stack.append((container, is_map, is_flow))
            container, is_map, is_flow = value, kind is MappingStartEvent, in_brackets
