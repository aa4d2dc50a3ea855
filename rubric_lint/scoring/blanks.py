"""Define which characters count as blank around an object."""

import re

JSON_BLANK = " \t\r\n\ufeff"
"""The characters allowed around a text that is one object: JSON white space and the byte order mark."""

IN_LINE = (
    " \t\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b"
    "\u200c\u200d\u200e\u200f\u202f\u205f\u2060\u3000\ufeff"
)
"""Characters that are invisible in a line: spaces of any width (zero too) and direction marks."""

BLANK = IN_LINE + "\n"

_LONE_CR = re.compile(r"\r(?!\n)")


def mend_line_ends(text: str) -> str:
    """Replace every line end with LF, keeping the length of the text and the meaning of its JSON."""
    return _LONE_CR.sub("\n", text) if "\r" in text else text


def previous(text: str, offset: int, blanks: str = BLANK) -> str:
    """Return the last non-blank character before an offset, or an empty string."""
    while offset and text[offset - 1] in blanks:
        offset -= 1
    return text[offset - 1 : offset]


def following(text: str, offset: int) -> str:
    """Return the first non-blank character at or after an offset, or an empty string."""
    while offset < len(text) and text[offset] in BLANK:
        offset += 1
    return text[offset : offset + 1]


def ends_item(text: str, offset: int) -> bool:
    """Return whether the comma before an offset follows another object or list."""
    while text[offset - 1] != ",":
        offset -= 1
    return previous(text, offset - 1) in ("}", "]")


def blank(text: str) -> str:
    """Replace every character of a text with a space, keeping line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])


def blank_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Replace these spans of a text with spaces; the spans must be in order."""
    pieces, done = [], 0
    for start, end in spans:
        if end > done:
            pieces += [text[done : max(start, done)], blank(text[max(start, done) : end])]
            done = end
    return "".join([*pieces, text[done:]])
