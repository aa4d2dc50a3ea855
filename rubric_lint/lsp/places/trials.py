"""List the ways to read a text with a stand-in for what is typed, as a key or as a value."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rubric_lint.text.source import Kind, Source, Span, kind_of

STAND_IN = "rubric-lint-cursor"
_KEY_BEFORE = re.compile(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<word>(?:[\w$][\w$.-]*)?)")
_FLOW_KEY_BEFORE = re.compile(r"""(?:.*[{,\s])?(?P<quote>["']?)(?P<word>(?:[\w$](?:[\w$.:-]*[\w$.-])?)?)""")
_KEY_AFTER = re.compile(r"""(?P<word>[\w$.-]*)(?P<quote>["']?)(?P<sign>[ \t]*:(?=[\s]|\Z))?""")
_NOTHING = re.compile(r"[ \t\r]*(?:(?<![^ \t])\#.*)?")
_ITEM_BEFORE = re.compile(r"""(?:.*[\[,}])?[ \t]*(?P<word>[\w$.-]*)""")
_QUOTED_BEFORE = re.compile(r"""(?:.*[\s\[{,:=])?(?P<quote>["'])(?P<word>[^\s"'\[\]{},]*)""")
_BARE_BEFORE = re.compile(r"""(?:.*[\s\[{,:=])?(?P<quote>)(?P<word>[^\s"'\[\]{},:=]*)""")
_PLAIN_BEFORE = re.compile(r"""(?:.*[\s\[{,])?(?P<quote>)(?P<word>[^\s"'\[\]{},]*)""")
_VALUE_AFTER = re.compile(r"""(?P<word>[^\s"'\[\]{},]*)(?P<quote>["']?)""")

_PARTS = r"""(?:(?:"[^"\r\n]*"|'[^'\r\n]*'|[\w-]+)[ \t]*\.[ \t]*)*"""
_TABLE_BEFORE = re.compile(rf"""[ \t]*(?P<opening>\[\[?)[ \t]*{_PARTS}(?P<word>[\w-]*)""")
_TABLE_AFTER = re.compile(r"[\w-]*[ \t]*(?P<closing>\]{0,2})")
_TOML_KEY_BEFORE = re.compile(rf"""(?P<lead>[ \t]*|.*[{{,][ \t]*){_PARTS}(?P<quote>["']?)(?P<word>[\w-]*)""")
_TOML_KEY_AFTER = re.compile(r"""(?P<word>[\w-]*)(?P<quote>["']?)(?P<sign>[ \t]*=)?""")


class Trial(NamedTuple):
    """A way to read the text: what to replace by what, and what the slot is if that can be read.

    `opening` is the brackets before the key, if that is the name of a table. `needs_braces`: the key begins a mapping
    in brackets, and so must be written in braces. `comma` is where one is missing before the word, or None.
    """

    word: Span
    text: str
    is_key: bool
    has_value: bool = False
    is_flow: bool = False
    is_quoted: bool = False
    tail: str = ""
    opening: str = ""
    needs_braces: bool = False
    comma: int | None = None

    @property
    def may_have_value(self) -> bool:
        """Whether lines below may be the value of a key without a colon."""
        return self.text == f"{STAND_IN}: "


def list_trials(source: Source, offset: int, start: int, end: int) -> Iterator[Trial]:
    """Yield the ways to read the text at an offset of the line from `start` to `end`, the likeliest first."""
    kind = kind_of(source.name)
    if kind.is_program:
        return
    if kind is Kind.TOML:
        yield from _list_toml_keys(source.text, offset, start, end)
    else:
        yield from _list_keys(source.text, offset, start, end, kind)
    yield from _list_values(source.text, offset, start, end, kind)


def _list_keys(text: str, offset: int, start: int, end: int, kind: Kind) -> Iterator[Trial]:
    before, rest = text[start:offset], _KEY_AFTER.match(text, offset, end)
    if rest is None:
        return
    has_value = rest["sign"] is not None
    is_alone = has_value or _NOTHING.fullmatch(text, rest.end(), end) is not None
    if not kind.is_json and is_alone and not rest["quote"] and (found := _KEY_BEFORE.fullmatch(before)):
        word = Span(start + found.start("word"), rest.end("word"))
        yield Trial(word, STAND_IN + ("" if has_value else ": "), is_key=True, has_value=has_value)
    elif not has_value and not rest["quote"]:
        yield from _list_items(text, before, rest, start, kind)
    if found := _FLOW_KEY_BEFORE.fullmatch(before):
        yield from _list_flow_keys(text, found, rest, start, kind)


def _list_toml_keys(text: str, offset: int, start: int, end: int) -> Iterator[Trial]:
    """Yield the name of a table in brackets, or a key of a table."""
    before, rest = text[start:offset], _TABLE_AFTER.match(text, offset, end)
    found = _TABLE_BEFORE.fullmatch(before)
    if found and rest and _NOTHING.fullmatch(text, rest.end(), end):
        word = Span(start + found.start("word"), rest.end())
        yield Trial(word, STAND_IN + "]" * len(found["opening"]), is_key=True, opening=found["opening"])
    rest, found = _TOML_KEY_AFTER.match(text, offset, end), _TOML_KEY_BEFORE.fullmatch(before)
    if found and rest:
        is_flow = found["lead"].strip() != ""
        if is_flow or rest["sign"] or _NOTHING.fullmatch(text, rest.end(), end):
            yield from _list_flow_keys(text, found, rest, start, Kind.TOML, is_flow=is_flow)
    if rest and not rest["sign"] and not rest["quote"]:
        yield from _list_items(text, before, rest, start, Kind.TOML)


def _list_items(text: str, before: str, rest: re.Match[str], start: int, kind: Kind) -> Iterator[Trial]:
    """Yield a key that begins a mapping in brackets."""
    if found := _ITEM_BEFORE.fullmatch(before):
        word, tail = Span(start + found.start("word"), rest.end("word")), _find_tail(text, rest.end())
        field = f'"{STAND_IN}": null' if kind.is_json else f"{STAND_IN} = 0" if kind is Kind.TOML else f"{STAND_IN}: "
        comma = _find_missing_comma(text, word.start, kind)
        yield Trial(word, f"{{{field}}}{tail}", is_key=True, is_flow=True, tail=tail, needs_braces=True, comma=comma)


def _list_flow_keys(
    text: str, found: re.Match[str], rest: re.Match[str], start: int, kind: Kind, *, is_flow: bool = True
) -> Iterator[Trial]:
    """Yield a key in braces, or one that may have quotes."""
    if found["quote"] != rest["quote"]:
        return
    word = Span(start + found.start("word"), rest.end("word"))
    has_value = rest["sign"] is not None
    is_quoted = bool(found["quote"])
    tail = "" if has_value or not is_flow else _find_tail(text, rest.end())
    if is_quoted and not has_value:  # what stands between a key and its value follows the quote that is there
        word = Span(word.start - 1, rest.end("quote"))
        is_quoted = False
    name = f'"{STAND_IN}"' if kind.is_json and not is_quoted else STAND_IN
    value = "" if has_value else ": null" if kind.is_json else " = 0" if kind is Kind.TOML else ": "
    yield Trial(
        word,
        name + value + tail,
        is_key=True,
        has_value=has_value,
        is_flow=is_flow,
        is_quoted=is_quoted,
        tail=tail,
        comma=_find_missing_comma(text, word.start - is_quoted, kind),
    )


def _list_values(text: str, offset: int, start: int, end: int, kind: Kind) -> Iterator[Trial]:
    before = _QUOTED_BEFORE.fullmatch(text, start, offset)
    if before is None and kind is Kind.YAML:
        before = _PLAIN_BEFORE.fullmatch(text, start, offset)
    elif before is None:
        before = _BARE_BEFORE.fullmatch(text, start, offset)
    after = _VALUE_AFTER.match(text, offset, end)
    if before is None or after is None or before["quote"] != after["quote"]:
        return
    word = Span(before.start("word"), after.end("word"))
    is_quoted, has_commas = bool(before["quote"]), kind.is_json or kind is Kind.TOML
    tails = [""] if is_quoted or not has_commas else [_find_tail(text, after.end())]
    if kind is Kind.TOML:
        tails.insert(0, "")  # another line may follow instead
    name = f'"{STAND_IN}"' if has_commas and not is_quoted else STAND_IN
    for tail in dict.fromkeys(tails):
        yield Trial(word, name + tail, is_key=False, is_flow=kind.is_json, is_quoted=is_quoted, tail=tail)


def _find_missing_comma(text: str, at: int, kind: Kind) -> int | None:
    """Return where the comma belongs that is missing before a field or an item of JSON; None if none is missing."""
    start = max(at - 2000, 0)
    before = text[start:at].rstrip()
    return start + len(before) if kind.is_json and before and before[-1] not in "{[,:" else None


def _find_tail(text: str, at: int) -> str:
    """Return the comma that must come before what follows in braces or brackets."""
    following = text[at : at + 2000].lstrip()
    return "" if following[:1] in {"", ",", "}", "]"} else ", "
