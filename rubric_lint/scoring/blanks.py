"""What counts as blank beside an object: the one place that says so."""

import re

JSON_BLANK = " \t\r\n\ufeff"
"""What may surround a text that as a whole is an object: the blanks of JSON, and the byte order mark."""

IN_LINE = (
    " \t\v\f\r\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b"
    "\u200c\u200d\u200e\u200f\u202f\u205f\u2060\u3000\ufeff"
)
"""What nobody sees in a line: spaces of all widths, also of none, and the marks of direction that move nothing."""

BLANK = IN_LINE + "\n"

_LONE_CR = re.compile(r"\r(?!\n)")


def mend_line_ends(text: str) -> str:
    """Return a text whose lines all end with LF; its length stays, and so does its JSON: no string may hold a CR."""
    return _LONE_CR.sub("\n", text) if "\r" in text else text


def previous(text: str, offset: int, blanks: str = BLANK) -> str:
    """Return the last character before an offset that is not blank, or nothing."""
    while offset and text[offset - 1] in blanks:
        offset -= 1
    return text[offset - 1 : offset]


def following(text: str, offset: int) -> str:
    """Return the first character from an offset on that is not blank, or nothing."""
    while offset < len(text) and text[offset] in BLANK:
        offset += 1
    return text[offset : offset + 1]


def blank(text: str) -> str:
    """Return as many spaces as a text has characters; its line ends stay."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def blank_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with spaces in the place of these spans, which are in order."""
    pieces, done = [], 0
    for start, end in spans:
        if end > done:
            pieces += [text[done : max(start, done)], blank(text[max(start, done) : end])]
            done = end
    return "".join([*pieces, text[done:]])
