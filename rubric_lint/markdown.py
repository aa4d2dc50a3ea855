"""Escape text for Markdown: nothing in it becomes markup, a link or a mention."""

import re
from collections.abc import Iterable, Iterator, Sequence

from rubric_lint.wording import visible

# Within a line; `_` or `#` inside a word, and `&` before something that is not an entity, are not markup.
_MARKUP = re.compile(
    r"[\\`*\[\]<|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?[A-Za-z0-9]+;)|(?<!\S)#|#(?!\S)|^(?:[-+>]|=+)(?=\s|$)"
)
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
# Forges turn these into links and mentions after they parse Markdown, whether or not a backslash precedes them.
_REFERENCE = re.compile(r"@(?=\w)|[#!](?=\d)|(?i:\bGH-)(?=\d)|:(?=//)|(?i:\bwww)(?=\.)")
_BREAK = "&#8203;"


def escape(text: str) -> str:
    """Return a text that Markdown shows unchanged, on one line, without mentions and links."""
    return "<br>".join(_escape_line(visible(" ".join(line.split()))) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    escaped = _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", line))
    return _REFERENCE.sub(rf"\g<0>{_BREAK}", escaped)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table whose cells show the texts unchanged."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
