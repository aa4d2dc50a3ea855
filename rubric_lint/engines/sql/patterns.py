"""Write the regular expressions that read JSON, for RE2 and for Java.

The query reads JSON with these and not with the functions of an engine: those accept what JSON does not allow, keep one
of two equal keys, and round numbers. A number is compared as it is written.
"""

from collections.abc import Iterable

DEPTH = 4
"""How many containers may be in each other: the output, its checks, a check, and a list in it."""

FENCE = r"\A```(?:json)?\n((?s:.*))```\z"
"""A whole text that is a Markdown fence of JSON or without a label; the content is captured."""

MARK = r"[\x60~<>&\x{25c1}\x{ff1c}]|THINK\]|\A(?:assistant)?(?:analysis|commentary)"
"""What begins or ends thoughts, a fence or a turn, each of which may have an object behind it."""

CONTROL_OR_MARK = rf"[\x00-\x1f]|{MARK}"
"""A control character, which a string of a model may hold as it is, or a mark."""

LINE_OR_MARK = rf"[\x{{85}}\x{{2028}}\x{{2029}}]|{CONTROL_OR_MARK}"
"""The end of a line, another control character, or a mark."""

NUMBER_OR_BOOL = "\\A[-0-9tfNI]"
"""The begin of a number, true or false, also as Python's JSON reader takes them."""

HUGE = r"[0-9]{100}|[0-9][eE][-+]?[0-9]{3}"
"""A number that may have too many digits for a judge output, or be too large for a double."""

CONSTANT = "NaN|Infinity"
"""What Python's JSON reader takes for a number but JSON does not allow."""

INTEGER = r"\A(-?(?:0|[1-9][0-9]{0,17}))(?:\.0+)?\z"
"""An integer of at most 18 digits, which may end in .0, as a whole text; the digits are captured."""


class Patterns:
    """The patterns that repeat, for an engine that runs them in linear time, or one that tries ways (`backtracks`)."""

    def __init__(self, *, backtracks: bool) -> None:
        # A possessive repetition never gives back what it took, so Java neither tries again nor nests calls.
        more, some = ("*+", "++") if backtracks else ("*", "+")
        blank = rf"[ \t\r\n]{more}"
        quoted = rf"\x22(?:[^\x22\\]{some}|\\.){more}\x22"

        def write_value(depth: int) -> str:
            nested = ""
            for _ in range(depth):
                inner = rf"[^\x22\[\]{{}}]{some}|{quoted}"
                nested = rf"[\[{{](?:{inner}{f'|{nested}' if nested else ''}){more}[\]}}]"
            return rf"{quoted}|{nested}|[^ \t\r\n\x22\[\]{{}},:]{some}"

        # A string exactly as JSON defines it, with the white space around it.
        plain = rf"[^\x22\\\x00-\x1f]{some}"
        self.string = rf"{blank}\x22(?:{plain}|\\(?:[\x22\\/bfnrt]|u[0-9a-fA-F]{{4}})){more}\x22{blank}"
        # A number, true, false or null, and what Python's JSON reader takes for a number, with white space around.
        number = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
        self.word = rf"{blank}(?:true|false|null|NaN|-?Infinity|{number}){blank}"
        # A list or an object of strings written as two quotes and of other values written as 0.
        value = r"(?:\x22\x22|0)"
        member = rf"\x22\x22:{value}"
        listed = rf"\[{blank}(?:{value}(?:,{value}){more})?\]"
        self.container = rf"{blank}(?:{listed}|\{{{blank}(?:{member}(?:,{member}){more})?\}}){blank}"
        # The others expect sound JSON of at most DEPTH containers: a key and its value, an item of a list, and a list
        # without an object in it, as a whole text.
        self.member = rf"{quoted}{blank}:{blank}(?:{write_value(DEPTH - 1)})"
        self.item = write_value(DEPTH - 2)
        self.flat_list = rf"\A\[(?:[^\x22{{}}]{some}|{quoted}){more}\]\z"


def match_string(text: str) -> str:
    """Return a pattern for a JSON string with this content, as a whole text, however its characters are escaped.

    Letters and digits of ASCII are expected as they are: no program escapes them.
    """
    parts = []
    for char in text:
        if is_plain(char):
            parts.append(char if char.isalnum() or char in "_ " else rf"\x{ord(char):02x}")
            continue
        units = char.encode("utf-16-be", "surrogatepass").hex()
        either_case = [f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in units]
        ways = ["".join(rf"\\u{''.join(either_case[at : at + 4])}" for at in range(0, len(units), 4))]
        if char not in '"\\' and char >= " ":
            ways.append(rf"\x{{{ord(char):x}}}")
        if char in _SHORT:
            ways.append(rf"\\{_SHORT[char]}".replace('"', r"\x22"))
        parts.append(f"(?:{'|'.join(ways)})")
    return rf"\A\x22{''.join(parts)}\x22\z"


def match_lines(names: Iterable[str]) -> str:
    """Return a pattern for a whole text of these names, in any number and order, one a line."""
    ways = "|".join(
        "".join(c if c.isascii() and (c.isalnum() or c == "_") else rf"\x{{{ord(c):x}}}" for c in name)
        for name in names
    )
    return rf"\A(?:(?:{ways})(?:\n|\z))*\z"


def is_plain(text: str) -> bool:
    """Return whether a JSON string with this content is written in one way: as it is."""
    return all(char.isascii() and (char.isalnum() or char in "_-. ") for char in text)


_SHORT = {'"': '"', "\\": r"\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
"""The letter of the short escape of a character, as a pattern."""
