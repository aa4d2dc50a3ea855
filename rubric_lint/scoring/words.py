"""Leave the words of a text: what it says outside objects, fences and block quotes."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from rubric_lint.scoring.blanks import blank, blank_spans

Spans = Sequence[tuple[int, int]]


class Words(NamedTuple):
    """A text with spaces for its thoughts, objects, fences and block quotes, and dots for quotes in its lines.

    The lines within an object have four spaces each, so offsets differ from those of the whole text: `places` has the
    start of each object here by its start there, and `asides` the spans of objects, fences and block quotes here.
    """

    text: str
    asides: list[tuple[int, int]]
    places: dict[int, int]


_QUOTES = "`", '"', "“", "«"
_QUOTED = re.compile(r'`[^`\n]*`|"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»')


def dot_quotes(text: str) -> str:
    """Replace the quotes within the lines of a text with dots."""
    return _QUOTED.sub(_dot_quote, text) if any(mark in text for mark in _QUOTES) else text


def _dot_quote(found: re.Match[str]) -> str:
    """Return dots for a quote, unless it is a number and so probably a score."""
    return found[0] if found[0][1:-1].strip().isdigit() else "…" * len(found[0])


def leave_words(text: str, asides: Spans, objects: Spans) -> Words:
    """Return the words of a text; each object is within one of the `asides`, or apart from all of them."""
    spans = sorted([*asides, *objects])
    starts = {start for start, _ in objects}
    places: dict[int, int] = {}
    left: list[tuple[int, int]] = []
    pieces: list[str] = []
    length = done = reach = begin = 0
    for (start, end), (following, _) in zip(spans, [*spans[1:], (len(text), 0)], strict=True):
        if start >= reach:
            pieces.append(text[done:start])
            length += start - done
            begin = length
        reach = max(reach, end)
        done = min(reach, following)
        if start in starts:
            places[start] = length
            pieces.append(_blank_lines(text, start, done))
        else:
            pieces.append(blank(text[start:done]))
        length += len(pieces[-1])
        if done == reach:
            left.append((begin, length))
    pieces.append(text[done:])
    words = "".join(pieces)
    dotted = dot_quotes(words)
    if dotted != words:  # an object may be in quotes
        dotted = blank_spans(dotted, left)
    return Words(dotted, left, places)


def _blank_lines(text: str, start: int, end: int) -> str:
    """Replace a part of a text with spaces: as many as it has characters, but four for each line that is within it."""
    lines = text.count("\n", start, end)
    if not lines:
        return " " * (end - start)
    first, last = text.index("\n", start), text.rindex("\n", start, end)
    return " " * (first - start) + "\n" + "    \n" * (lines - 1) + " " * (end - last - 1)
