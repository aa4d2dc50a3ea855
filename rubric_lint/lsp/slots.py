"""Find the key or value that the user is typing in YAML, JSON or TOML, by reading the text with a stand-in there."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.dialects.search.locate import find_claim_url
from rubric_lint.lsp.thinning import open_window, thin
from rubric_lint.text.document import Document
from rubric_lint.text.kinds import DATA, Kind, kind_of
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span

_STAND_IN = "rubric-lint-cursor"
_KEY_BEFORE = re.compile(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<word>(?:[\w$][\w$.-]*)?)")
_FLOW_KEY_BEFORE = re.compile(r"""(?:.*[{,\s])?(?P<quote>["']?)(?P<word>(?:[\w$][\w$.:-]*)?)""")
_KEY_AFTER = re.compile(r"""(?P<word>[\w$.-]*)(?P<quote>["']?)(?P<colon>[ \t]*:(?=[\s]|\Z)|[ \t]*=)?""")
_NOTHING = re.compile(r"[ \t\r]*(?:(?<![^ \t])\#.*)?")
_VALUE_BEFORE = re.compile(r"""(?:.*[\s\[{,:=])?(?P<quote>["']?)(?P<word>[^\s"'\[\]{},:=]*)""")
_VALUE_AFTER = re.compile(r"""(?P<word>[^\s"'\[\]{},]*)(?P<quote>["']?)""")
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may hold as it is, but YAML may not."""

_HUGE = 1_000  # bits; Python may refuse to write a larger number


@dataclass(frozen=True)
class Slot:
    """A place for a key or a value: `word` is the part typed so far, `path` leads to the mapping or to the value.

    `document` is what is around it, without what is typed; of a long one only what matters, so that `path` is not that
    of the whole. `origin` is the path in what was read, which `is_part` of a text if that is long. `has_value`: a
    colon follows the key. `is_flow`: the place is in braces or brackets. `is_quoted`: quotes are around the word
    already. `tail` is the comma that what follows needs. `column` is where the word begins, `indent` where its line
    does.
    """

    word: Span
    document: Document
    path: Path
    is_key: bool
    has_value: bool
    is_flow: bool
    is_quoted: bool
    tail: str
    column: int
    indent: int
    origin: Path
    is_part: bool = False

    @property
    def holder(self) -> Path:
        """The path of the mapping or list in which the slot is."""
        return self.path if self.is_key else self.path[:-1]

    @cached_property
    def mapping(self) -> dict[str, Any]:
        """The other fields of the mapping around the slot, or nothing if that is a list."""
        found = self.find(self.holder)
        return found if isinstance(found, dict) else {}

    @property
    def data(self) -> Any:
        """What is around the slot, without what is typed."""
        return self.document.data

    def find(self, path: Path) -> Any:
        """Return the value at a path, or None if there is none."""
        return follow(self.data, path)


class _Trial(NamedTuple):
    """A way to read the text: what to replace by what, and what the slot is if that can be read."""

    word: Span
    text: str
    is_key: bool
    has_value: bool = False
    is_flow: bool = False
    is_quoted: bool = False
    tail: str = ""


def find_slot(source: Source, offset: int) -> Slot | None:
    """Return the slot at an offset, or None if neither a key nor a value can be typed there."""
    if kind_of(source.name) is Kind.YAML and (window := open_window(source.text, offset)):
        found = _find_slot(Source(source.name, window.text), window.offset)
        if found:
            word = Span(found.word.start + window.shift, found.word.end + window.shift)
            return replace(found, word=word, is_part=True)
    return _find_slot(source, offset)


def _find_slot(source: Source, offset: int) -> Slot | None:
    start, end = source.line_span(source.position(offset).line)
    before = source.text[start:offset]
    for trial in _list_trials(source, offset, start, end):
        text = source.text[: trial.word.start] + trial.text + source.text[trial.word.end :]
        line_end = end + len(text) - len(source.text)
        is_yaml = kind_of(source.name) is Kind.YAML
        for attempt in (text, text[:line_end]) if is_yaml and not trial.is_flow else (text,):
            for whole, url in _read(source, attempt, start):
                if (found := _find_stand_in(whole, is_key=trial.is_key)) is not None:
                    data, path = thin(_without(whole), found, is_key=trial.is_key)
                    return Slot(
                        word=trial.word,
                        document=_write(source.name, data, url),
                        path=path,
                        is_key=trial.is_key,
                        has_value=trial.has_value,
                        is_flow=trial.is_flow,
                        is_quoted=trial.is_quoted,
                        tail=trial.tail,
                        column=trial.word.start - start,
                        indent=len(before) - len(before.lstrip(" ")),
                        origin=found,
                    )
    return None


def _find_stand_in(data: Any, *, is_key: bool) -> Path | None:
    """Return the path of the mapping that has the stand-in as a key, or of the value that is the stand-in."""
    fields: Iterable[tuple[str | int, Any]] = ()
    if isinstance(data, dict):
        if is_key and _STAND_IN in data:
            return ()
        fields = data.items()
    elif isinstance(data, list):
        fields = enumerate(data)
    elif not is_key and data == _STAND_IN:
        return ()
    for step, value in fields:
        if (isinstance(value, dict | list) or value == _STAND_IN) and (
            found := _find_stand_in(value, is_key=is_key)
        ) is not None:
            return (step, *found)
    return None


def _read(source: Source, text: str, start: int) -> Iterator[tuple[Any, str]]:
    """Yield the data of the documents of a text, and the schema that each declares in a comment.

    Of JSON Lines, only the line that starts at `start` is read.
    """
    kind = kind_of(source.name)
    if kind.is_json:  # this takes a tenth of the time for a document with places
        if kind is Kind.JSON_LINES:
            text = text[start:].partition("\n")[0]
        with suppress(ValueError, RecursionError):
            yield json.loads(text), ""
        return
    for document in read_documents(Source(source.name, text))[0]:
        yield document.data, find_claim_url(document) if kind is Kind.YAML else ""


def _write(name: str, data: Any, url: str) -> Document:
    """Return a document with data, which declares a schema if there is a `url`."""
    kind = kind_of(name)
    text = write_data(data, kind)
    comment = f"# $schema: {url}\n" if url else ""
    return read_documents(Source(name if kind in DATA else f"{name}.json", comment + text))[0][0]


def write_data(data: Any, kind: Kind) -> str:
    """Write data as JSON that every reader of this kind of file accepts."""
    text = json.dumps(data, ensure_ascii=False, indent=None if kind is Kind.JSON_LINES else 1, default=str)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def follow(data: Any, path: Path) -> Any:
    """Return the value at a path of data, or None if there is none."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _list_trials(source: Source, offset: int, start: int, end: int) -> Iterator[_Trial]:
    """Yield the ways to read the text, the likeliest first."""
    text, kind = source.text, kind_of(source.name)
    before = text[start:offset]
    rest = _KEY_AFTER.match(text, offset, end)
    if rest is None or kind.is_program:
        return
    is_alone = rest["colon"] is not None or _NOTHING.fullmatch(text, rest.end(), end) is not None
    sign = "= 0" if kind is Kind.TOML else ":"
    if not kind.is_json and is_alone and not rest["quote"] and (found := _KEY_BEFORE.fullmatch(before)):
        word = Span(start + found.start("word"), rest.end("word"))
        has_value = rest["colon"] is not None
        yield _Trial(word, _STAND_IN + ("" if has_value else f"{sign} "), is_key=True, has_value=has_value)
    if kind is not Kind.TOML and (found := _FLOW_KEY_BEFORE.fullmatch(before)):
        yield from _list_flow_keys(source, found, rest, start)
    value, after = _VALUE_BEFORE.fullmatch(before), _VALUE_AFTER.match(text, offset, end)
    if value and after and bool(value["quote"]) == bool(after["quote"]):
        word = Span(start + value.start("word"), after.end("word"))
        is_bare = (kind.is_json or kind is Kind.TOML) and not value["quote"]
        tail = _find_tail(text, after.end()) if kind.is_json else ""
        yield _Trial(
            word,
            f'"{_STAND_IN}"{tail}' if is_bare else _STAND_IN,
            is_key=False,
            is_flow=kind.is_json,
            is_quoted=bool(value["quote"]),
            tail="" if value["quote"] else tail,
        )


def _list_flow_keys(source: Source, found: re.Match[str], rest: re.Match[str], start: int) -> Iterator[_Trial]:
    text, is_json = source.text, kind_of(source.name).is_json
    if bool(found["quote"]) != bool(rest["quote"]):
        return
    word = Span(start + found.start("word"), rest.end("word"))
    has_value = rest["colon"] is not None
    is_quoted = bool(found["quote"])
    tail = "" if has_value else _find_tail(text, rest.end())
    if is_quoted and not has_value:  # the colon and the value follow the quote that is there
        word = Span(word.start - 1, rest.end("quote"))
        is_quoted = False
    name = f'"{_STAND_IN}"' if is_json and not is_quoted else _STAND_IN
    value = "" if has_value else ": null" if is_json else ": "
    yield _Trial(
        word, name + value + tail, is_key=True, has_value=has_value, is_flow=True, is_quoted=is_quoted, tail=tail
    )


def _find_tail(text: str, at: int) -> str:
    """Return the comma that must come before what follows in braces or brackets."""
    following = text[at : at + 2000].lstrip()
    return "" if following[:1] in {"", ",", "}", "]"} else ", "


def _without(value: Any) -> Any:
    """Return data without the stand-in and without numbers too large to be written."""
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if _STAND_IN not in (key, each)}
    if isinstance(value, list):
        return [_without(each) for each in value if each != _STAND_IN]
    if isinstance(value, int) and value.bit_length() > _HUGE:
        return 1 << _HUGE
    return value
