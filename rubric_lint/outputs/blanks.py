"""Define which characters count as blank around an object."""

import re

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


def blank(text: str) -> str:
    """Replace every character of a text with a space, keeping line ends."""
    return "\n".join([" " * len(line) for line in text.split("\n")])
