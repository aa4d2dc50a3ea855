"""Read the text of a cell or a heading in Markdown: the inverse of `escape` in rubric_lint/messages.py."""

import re

CASE_TEXTS = {"input": "Input", "expected_output": "Expected output"}
"""What a document calls the texts of a case, by field."""

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_JOINT = "&#8203;"
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def unescape(text: str) -> str:
    """Return a text as Markdown shows it, except that emphasis, links and code stay as they are written.

    A backslash before punctuation goes, and `<br>` is a line end.
    """
    # A backslash protects what follows it, so both are read from left to right.
    pieces, at = [], 0
    for found in re.finditer(rf"{_ESCAPED.pattern}|{_BREAK.pattern}|{_JOINT}", text, re.IGNORECASE):
        pieces += [text[at : found.start()], found[1] or ("" if found[0] == _JOINT else "\n")]
        at = found.end()
    return "".join([*pieces, text[at:]])
