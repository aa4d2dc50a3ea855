"""Keep texts from becoming formulas when a spreadsheet opens a CSV file, in a way that is taken back on import."""

import re

# What spreadsheets take for the start of a formula, after white space too.
_FORMULA = re.compile(
    r"'*\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]"
)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet could take a text for a formula."""
    return _FORMULA.match(text) is not None


def armed(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet could take it for a formula."""
    return f"'{text}" if is_formula(text) else text


def is_armed(text: str) -> bool:
    """Return whether a text has such an apostrophe."""
    return text.startswith("'") and is_formula(text)


def disarmed(text: str) -> str:
    """Return a text without its apostrophe."""
    return text[1:]
