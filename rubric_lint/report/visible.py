"""Escape text for terminals and measure its width in cells."""

from itertools import accumulate
from unicodedata import category, east_asian_width

from rubric_lint.messages import is_obeyed, visible

__all__ = ("cut", "head", "is_obeyed", "shown", "tail", "visible", "width")

_JOINER = "\N{ZERO WIDTH JOINER}"
_EMOJI_STYLE = "\N{VARIATION SELECTOR-16}"
_SKIN_TONES = "\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}", "\N{EMOJI MODIFIER FITZPATRICK TYPE-6}"
_TAB = "    "
_CUT = "..."


def shown(line: str) -> str:
    """Return part of a line as a code frame prints it: escaped, with each tab as four spaces."""
    return visible(line.replace("\t", _TAB))


def width(text: str) -> int:
    """Return the width of visible `text` in terminal cells."""
    if text.isascii():
        return len(text)
    cells = last = 0
    joined = False
    for char in text:
        if joined or char == _JOINER:  # an emoji sequence is as wide as its first emoji
            joined = char == _JOINER
        elif char == _EMOJI_STYLE:
            cells += last == 1
            last = 2
        elif not (last == 2 and _SKIN_TONES[0] <= char <= _SKIN_TONES[1]) and (taken := _cells(char)):
            cells += taken
            last = taken
    return cells


def head(line: str, room: int) -> str:
    """Return the longest prefix of `line` that is at most `room` cells wide when shown."""
    if line.isascii() and line.isprintable():
        return line[: max(room, 0)]
    widths = accumulate(width(shown(char)) for char in line)
    return line[: sum(1 for taken in widths if taken <= room)]


def tail(line: str, room: int) -> str:
    """Return the longest suffix of `line` that is at most `room` cells wide when shown."""
    return head(line[::-1], room)[::-1]


def cut(text: str, room: int) -> str:
    """Return visible `text`, with `...` for what exceeds `room` cells."""
    return text if width(text) <= room else head(text, room - len(_CUT)).rstrip() + _CUT


def _cells(char: str) -> int:
    if (
        category(char) in {"Mn", "Me", "Cf"} or "\u1160" <= char <= "\u11ff"
    ):  # the latter combine with the Hangul before them
        return 0
    return 2 if east_asian_width(char) in "WF" else 1
