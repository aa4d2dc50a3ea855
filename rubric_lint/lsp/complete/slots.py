"""Find the key or value that the user is typing in YAML, JSON or TOML, by reading the text with a stand-in there."""

import json
import math
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from rubric_lint.dialects.search.locate import find_claim_url
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, find_strings
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Kind, Source, Span, kind_of
from rubric_lint.text.tree import walk_mappings

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


@dataclass(frozen=True)
class Trial:
    """A way to read the text: what to replace by what, and what the slot is if that can be read.

    `word` is the part typed so far, and `text` what takes its place. `has_value`: a colon follows the key. `is_flow`:
    the place is in braces or brackets. `is_quoted`: quotes are around the word already. `tail` is the comma that what
    follows needs. `opening` is the brackets before the key, if that is the name of a TOML table. `needs_braces`: the
    key begins a mapping in brackets, and so must be written in braces. `comma` is where one is missing before the word.
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


def _list_keys(text: str, offset: int, start: int, end: int, kind: Kind) -> Iterator[Trial]:
    """Yield the ways to read a key at an offset of the line from `start` to `end`, the likeliest first."""
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


def _list_toml_keys(text: str, offset: int, start: int, end: int, kind: Kind) -> Iterator[Trial]:
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
            yield from _list_flow_keys(text, found, rest, start, kind, is_flow=is_flow)
    if rest and not rest["sign"] and not rest["quote"]:
        yield from _list_items(text, before, rest, start, kind)


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
    match_plain = _PLAIN_BEFORE.fullmatch if kind is Kind.YAML else _BARE_BEFORE.fullmatch
    before = _QUOTED_BEFORE.fullmatch(text, start, offset) or match_plain(text, start, offset)
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


_SHORT = 12
"""A list of so many items is kept whole; of a longer one, an item of a kind that is kept already says nothing new."""


def thin(value: Any, path: Path | None, *, is_key: bool) -> tuple[Any, Path]:
    """Return data with fewer items in its long lists, and the path that leads there to what `path` leads to.

    Each completion is tried with the linter, which takes as long as what is around it. With `is_key`, the path leads to
    a mapping; else to a value, and a list of such values stays whole.
    """
    step, rest = (path[0], path[1:]) if path else (None, None)
    shown = path or ()
    if isinstance(value, dict):
        fields = {}
        for key, child in value.items():
            fields[key], below = thin(child, rest if key == step else None, is_key=is_key)
            shown = (key, *below) if key == step else shown
        return fields, shown
    if isinstance(value, list):
        is_whole = len(value) <= _SHORT or (rest == () and not is_key)
        items: list[Any] = []
        for index in range(len(value)) if is_whole else _choose(value, step if isinstance(step, int) else 0):
            item, below = thin(value[index], rest if index == step else None, is_key=is_key)
            shown = (len(items), *below) if index == step else shown
            items.append(item)
        return items, shown
    return value, shown


def _choose(items: list[Any], around: int) -> list[int]:
    """Return the indexes of the items to keep: one, and others of a kind of their own, of which the nearest."""
    kept, seen = [min(around, len(items) - 1)], set[Any]()
    for index in sorted(range(len(items)), key=lambda index: abs(index - around)):
        kind = (type(items[index]), frozenset(name for _, mapping in walk_mappings(items[index]) for name in mapping))
        if index != kept[0] and kind not in seen and len(kept) <= _SHORT:
            seen.add(kind)
            kept.append(index)
    return sorted(kept)


_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may hold as it is, but YAML may not."""

_TRAILING_COMMA = re.compile(r"""("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[}\]])""")
_HUGE = 1_000  # bits; Python may refuse to write a larger number


@dataclass(frozen=True, kw_only=True)
class Slot(Trial):
    """A place for a key or a value; `path` leads to the mapping or to the value.

    `document` is what is around it, without what is typed; of a long one only what matters, so that `path` is not
    that of the whole. `origin` is the path in the text. `value` is the value that follows the key already, with or
    without a colon. `margin` counts the characters from the indentation of the line to the word. `opened` is what a
    TOML table of this name holds already, and `more` the names of the tables that may be opened once more.
    """

    document: Document
    path: Path
    origin: Path
    value: Any
    margin: int
    opened: Any = None
    more: frozenset[str] = frozenset()

    @property
    def holder(self) -> Path:
        """The path of the mapping or list in which the slot is."""
        return self.path if self.is_key else self.path[:-1]

    @property
    def is_before_value(self) -> bool:
        """Whether a value of the key is there, or a colon."""
        return self.has_value or self.value is not None

    @cached_property
    def mapping(self) -> dict[str, Any]:
        """The other fields of the mapping around the slot, or nothing if that is a list."""
        found = self.find(self.holder)
        return found if isinstance(found, dict) else {}

    def find(self, path: Path) -> Any:
        """Return the value at a path, or None if there is none."""
        return follow(self.document.data, path)


def find_slots(source: Source, offset: int) -> Iterator[Slot]:
    """Yield the slots that may be at an offset, the likeliest first: in a list both a key and a value can be typed."""
    text, kind = source.text, kind_of(source.name)
    if kind.is_program:
        return
    start, end = source.line_span(source.position(offset).line)
    list_keys = _list_toml_keys if kind is Kind.TOML else _list_keys
    for trial in chain.from_iterable(each(text, offset, start, end, kind) for each in (list_keys, _list_values)):
        if (read := _try(source, trial, start, end)) is None:
            continue
        whole, url, found, is_cut = read
        if trial.needs_braces and not (found and isinstance(found[-1], int)):
            continue
        data, path = thin(_without(whole), found, is_key=trial.is_key)
        may_have_value = trial.has_value or trial.text == f"{STAND_IN}: "  # without a colon, lines below may be one
        opened, more = None, frozenset[str]()
        if trial.opening and not is_cut:
            opened = follow(whole, (*found, STAND_IN))
            opened = _without(opened[-1] if isinstance(opened, list) else opened)
            before, after = text[: trial.word.start], trial.text.removeprefix(STAND_IN) + text[trial.word.end :]
            tables = (name for name, value in follow(data, path).items() if isinstance(value, dict | list))
            more = frozenset(name for name in tables if any(_read_toml(f"{before}{json.dumps(name)}{after}")))
        comment = f"# $schema: {url}\n" if url else ""
        yield Slot(
            **vars(trial),
            document=read_documents(Source(source.name, comment + write_data(data, kind)))[0][0],
            path=path,
            origin=found,
            value=_without(follow(whole, (*found, STAND_IN))) if may_have_value else None,
            margin=trial.word.start - offset + len(text[start:offset].lstrip(" ")),
            opened=opened,
            more=more,
        )


def _try(source: Source, trial: Trial, start: int, end: int) -> tuple[Any, str, Path, bool] | None:
    """Read a text in the way of a trial, if not as a whole then up to the end of the line from `start` to `end`.

    Return the data with the stand-in, the schema that the document declares, the path of the slot, and whether what
    follows the line of the slot cannot be read.
    """
    before = source.text[: trial.word.start]
    if trial.comma is not None:
        before = f"{before[: trial.comma]},{before[trial.comma :]}"
    text = before + trial.text + source.text[trial.word.end :]
    line_end = end + len(text) - len(source.text)
    is_line = not kind_of(source.name).is_json and not trial.is_flow
    for is_cut in (False, True) if is_line else (False,):
        if is_cut and any(_read(source, source.text[:start] + source.text[end:], start)):
            return None  # a key or a value on this line is what makes the text unreadable
        for data, url in _read(source, text[:line_end] if is_cut else text, start):
            if (found := _find_stand_in(data, is_key=trial.is_key)) is not None:
                return data, url, found, is_cut
    return None


def _find_stand_in(data: Any, *, is_key: bool) -> Path | None:
    """Return the path of the mapping that has the stand-in as a key, or of the value that is the stand-in."""
    if is_key:
        return next((path for path, mapping in walk_mappings(data) if STAND_IN in mapping), None)
    return next((path for path, text in find_strings((), data) if text == STAND_IN), None)


def _read(source: Source, text: str, start: int) -> Iterator[tuple[Any, str]]:
    """Yield the data of the documents of a text, and the schema that each declares in a comment.

    Of JSON Lines, only the line that starts at `start` is read.
    """
    kind = kind_of(source.name)
    if kind.is_json:  # this takes a tenth of the time for a document with places
        if kind is Kind.JSON_LINES:
            text = text[start:].partition("\n")[0]
        for readable in (text, _TRAILING_COMMA.sub(lambda found: found[1] or "", text)):
            with suppress(ValueError, RecursionError):
                yield json.loads(readable), ""
                return
        return
    if kind is Kind.TOML:
        yield from ((data, "") for data in _read_toml(text))
        return
    for document in read_documents(Source(source.name, text))[0]:
        yield document.data, find_claim_url(document) if kind is Kind.YAML else ""


def _read_toml(text: str) -> Iterator[Any]:
    """Yield the data of a text if that is TOML."""
    with suppress(ValueError, RecursionError):
        yield tomllib.loads(text)


def write_data(data: Any, kind: Kind) -> str:
    """Write data as TOML, or as JSON that every reader of this kind of file accepts."""
    if kind is Kind.TOML:
        return "".join(f"{_write_toml(name)} = {_write_toml(value)}\n" for name, value in data.items())
    text = json.dumps(data, ensure_ascii=False, indent=None if kind is Kind.JSON_LINES else 1, default=str)
    return _escape(text)


def _write_toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_write_toml(name)} = {_write_toml(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write_toml, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _escape(json.dumps(value, ensure_ascii=False, default=str))


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def follow(data: Any, path: Path) -> Any:
    """Return the value at a path of data, or None if there is none."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _without(value: Any) -> Any:
    """Return data without the stand-in and without numbers too large to be written."""
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if STAND_IN not in (key, each)}
    if isinstance(value, list):
        return [_without(each) for each in value if each != STAND_IN]
    if isinstance(value, int) and value.bit_length() > _HUGE:
        return 1 << _HUGE
    return value
