"""Explain errors of the YAML parser to the author of the text, at the place to look at."""

import re
from typing import NamedTuple

from ruamel.yaml.error import MarkedYAMLError

from rubric_lint.text.source import Span


class YamlFault(NamedTuple):
    """The message of a syntax error: what is wrong and what to do, and its span in the text."""

    message: str
    span: Span


# The parser's words, with what it was scanning, and our message; `{found}` is the character at the error.
_WORDS = (
    (
        r"expected <block end>",
        "this line belongs neither to the list or mapping above it nor to a new one; check its indentation",
    ),
    (
        r"mapping values are not allowed",
        "`: ` is not allowed here; quote the string that has it, or check the indentation",
    ),
    (
        r"mapping keys are not allowed",
        "`? ` is not allowed here; quote the string that has it, or check the indentation",
    ),
    (
        r"sequence entries are not allowed",
        "`- ` is not allowed here; put the list on a line of its own, or quote the string",
    ),
    (
        r"could not find expected ':'",
        "a key without its `:`; write the `:`, or quote the string, or check the indentation",
    ),
    (r"cannot start any token", 'a plain string cannot begin with "{found}"; put it in quotes'),
    (
        r"unknown escape character",
        "`\\{found}` is not an escape in double quotes; write `\\\\{found}`, or use single quotes",
    ),
    (
        r"double-quoted.*hexdecimal",
        "this escape needs more hexadecimal digits; write all of them, or use single quotes",
    ),
    (
        r"<document start>|after document end",
        "the document has ended before this; check the indentation, or start a new document with `---`",
    ),
    (
        r"scanning an (?:anchor|alias)",
        "`&` and `*` need a name directly after them; put a string that begins with one in quotes",
    ),
    (
        r"\btag\b|URI",
        "`!` begins a tag, and this is not one that YAML knows; put a string that begins with `!` in quotes",
    ),
    (
        r"directive|incompatible YAML",
        "a line that begins with `%` is a directive of YAML, and this is not a valid one; indent or quote the string",
    ),
    (
        r"block scalar",
        "after `|` or `>` only `-`, `+`, a digit or a comment is allowed, and the lines below must be indented alike",
    ),
    (
        r"expected ',' or",
        "a comma or the closing bracket is missing here; quote strings that contain brackets or commas",
    ),
    (r"expected the node content|unexpected ':'", "a value is missing before this; write it, or quote the string"),
)
_OTHERWISE = "this is not valid YAML; check the quotes, the brackets and the indentation here"
_QUOTES = {"'": "''", '"': '\\"'}


def describe_fault(fault: MarkedYAMLError, text: str, brackets: list[int], lines: int = 0) -> YamlFault:  # noqa: PLR0911 (one return a place)
    """Explain a parser's error at one place: where an unclosed quote or bracket opens, else where parsing stopped.

    `brackets` are the positions of the open brackets.
    """
    problem, opened = fault.problem or "", fault.context_mark
    mark = fault.problem_mark or opened
    at = min(mark.index, len(text)) if mark else 0
    is_at_end = at >= len(text.rstrip())
    if opened is not None and "quoted" in (fault.context or "") and (is_at_end or "document separator" in problem):
        return YamlFault("this quote is never closed", Span(opened.index, opened.index + 1))
    if brackets and is_at_end:
        return YamlFault(f"this `{text[brackets[-1]]}` is never closed", Span(brackets[-1], brackets[-1] + 1))
    if opened is not None and brackets and _is_left_open(fault):
        line = fault.problem_mark.line + 1 + lines
        message = f"this `{text[brackets[-1]]}` is not closed before line {line}, where something else begins"
        return YamlFault(message, Span(brackets[-1], brackets[-1] + 1))
    if opened is not None and "could not find expected ':'" in problem:
        at = opened.index  # where the key begins; the error shows only on the next line
    span, found = Span(at, min(at + 1, len(text))), text[at : at + 1]
    if found == "\t":
        return YamlFault("a tab cannot indent YAML; use spaces", span)
    if "expected <block end>" in problem and (quote := text[:at].rstrip()[-1:]) in _QUOTES:
        return YamlFault(f"text follows the closing quote; inside these quotes write {_QUOTES[quote]} for it", span)
    if found in ("]", "}") and ("<document start>" in problem or "<block end>" in problem):
        return YamlFault(f"this `{found}` closes nothing; remove it, or quote the string that has it", span)
    said = f"{fault.context or ''}: {problem}"
    words = next((words for sign, words in _WORDS if re.search(sign, said)), _OTHERWISE)
    return YamlFault(words.replace("{found}", found), span)


def _is_left_open(fault: MarkedYAMLError) -> bool:
    """Return whether parsing stopped lines below an open bracket, for lack of a comma or the closing bracket."""
    stopped, opened = fault.problem_mark, fault.context_mark
    return "expected ',' or" in (fault.problem or "") and bool(stopped and opened) and stopped.line > opened.line
