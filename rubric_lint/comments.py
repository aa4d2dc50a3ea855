"""Where the comments of a YAML file are."""

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from ruamel.yaml.events import ScalarEvent, StreamEndEvent

from rubric_lint.events import take_events
from rubric_lint.scalar import PROPERTIES
from rubric_lint.source import Source, Span

_COMMENT = re.compile(r"(?:(?<=[\s])|^)#[^\r\n]*", re.MULTILINE)
_LINE = re.compile(r"[^\r\n]*")


def find_comments(source: Source) -> Iterator[Span]:
    """The comments of a YAML file that parses, in order; a `#` inside a scalar is none."""
    scalars = find_scalars(source.text)
    before = 0
    for start, end in [*scalars, Span(len(source.text), len(source.text))]:
        for found in _COMMENT.finditer(source.text, before, start):
            yield Span(*found.span())
        before = max(before, end)


def find_scalars(text: str) -> list[Span]:
    """Where a `#` is no comment. A block scalar's header line is left out: it may end in one."""
    return take_events(text, lambda next_event: _scan(text, next_event))


def _scan(text: str, next_event: Callable[[], Any]) -> list[Span]:
    scalars: list[Span] = []
    for event in takewhile(lambda event: type(event) is not StreamEndEvent, iter(next_event, None)):
        if type(event) is ScalarEvent:
            start, end = event.start_mark.index, event.end_mark.index
            if properties := PROPERTIES.match(text, start, end):
                start = properties.end()
            if event.style in ("|", ">"):
                header = _LINE.match(text, start, end)
                start = header.end() if header else end
            if start < end:
                scalars.append(Span(start, end))
    return scalars
