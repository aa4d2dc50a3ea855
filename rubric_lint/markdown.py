"""Markdown that shows texts as they are: nothing in them is markup, a link, or calls anybody."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rubric_lint.wording import visible

# Within a line; `_` inside a word, `#` inside one and `&` before no entity are not markup.
_MARKUP = re.compile(
    r"[\\`*\[\]<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?[A-Za-z0-9]+;)|(?<!\S)#|#(?!\S)|^(?:[-+>]|=+)(?=\s|$)"
)
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
# What a forge makes a link of, or tells somebody of, after Markdown is read; a backslash keeps none of it.
_REFERENCE = re.compile(r"@(?=\w)|[#!](?=\d)|(?i:\bGH-)(?=\d)|:(?=//)|(?i:\bwww)(?=\.)")
_BREAK = "&#8203;"


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line, without mentions and links."""
    return "<br>".join(_escape_line(visible(" ".join(line.split()))) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    escaped = _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", line))
    return _REFERENCE.sub(rf"\g<0>{_BREAK}", escaped)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table whose cells show the texts as they are."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
