"""Find the key or value that the user is typing in YAML, JSON or TOML, by reading the text with a stand-in there."""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from rubric_lint.dialects.search.locate import find_claim_url
from rubric_lint.lsp.places.thinning import open_window, thin
from rubric_lint.lsp.places.trials import STAND_IN, Trial, list_trials
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Kind, Source, Span, kind_of

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON may hold as it is, but YAML may not."""

_TRAILING_COMMA = re.compile(r"""("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[}\]])""")
_HUGE = 1_000  # bits; Python may refuse to write a larger number


@dataclass(frozen=True)
class Slot:
    """A place for a key or a value: `word` is the part typed so far, `path` leads to the mapping or to the value.

    `document` is what is around it, without what is typed; of a long one only what matters, so that `path` is not
    that of the whole. `origin` is the path in what was read, which `is_part` of a text if that is long. `has_value`:
    a colon follows the key. `is_flow`: the place is in braces or brackets. `is_quoted`: quotes are around the word
    already. `needs_braces`: the key needs braces around it and its value. `comma` is where one is missing before it.
    `value` is the value that follows the key already, with or without a colon. `tail` is the comma that what follows
    needs. `column` is where the word begins, `indent` where its line does. `opening` is the brackets before the name
    of a TOML table, `opened` what that table holds already, and `more` the names of the tables that may be opened
    once more.
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
    value: Any = None
    needs_braces: bool = False
    comma: int | None = None
    opening: str = ""
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

    @property
    def data(self) -> Any:
        """What is around the slot, without what is typed."""
        return self.document.data

    def find(self, path: Path) -> Any:
        """Return the value at a path, or None if there is none."""
        return follow(self.data, path)


def find_slots(source: Source, offset: int) -> Iterator[Slot]:
    """Yield the slots that may be at an offset, the likeliest first: in a list both a key and a value can be typed."""
    if kind_of(source.name) is Kind.YAML and (window := open_window(source.text, offset)):
        is_found = False
        for found in _find_slots(Source(source.name, window.text), window.offset):
            is_found = True
            word = Span(found.word.start + window.shift, found.word.end + window.shift)
            yield replace(found, word=word, is_part=True)
        if is_found or read_documents(Source(source.name, window.text))[0]:
            return  # what is around the offset can be read, so there is no slot in the whole text either
    yield from _find_slots(source, offset)


def _find_slots(source: Source, offset: int) -> Iterator[Slot]:
    start, end = source.line_span(source.position(offset).line)
    before = source.text[start:offset]
    for trial in list_trials(source, offset, start, end):
        if (read := _try(source, trial, start, end)) is None:
            continue
        whole, url, found, is_cut = read
        if trial.needs_braces and not (found and isinstance(found[-1], int)):
            continue
        data, path = thin(_without(whole), found, is_key=trial.is_key)
        slot = Slot(
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
            value=_without(follow(whole, (*found, STAND_IN))) if trial.has_value or trial.may_have_value else None,
            needs_braces=trial.needs_braces,
            comma=trial.comma,
        )
        yield _open_table(slot, trial, source.text, None if is_cut else follow(whole, found)) if trial.opening else slot


class _Read(NamedTuple):
    """The data of a document with a stand-in, the schema that it declares, and the path of the slot.

    `is_cut`: what follows the line of the slot cannot be read.
    """

    data: Any
    url: str
    found: Path
    is_cut: bool


def _try(source: Source, trial: Trial, start: int, end: int) -> _Read | None:
    """Read a text in the way of a trial, if not as a whole then up to the end of the line from `start` to `end`."""
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
                return _Read(data, url, found, is_cut)
    return None


def _open_table(slot: Slot, trial: Trial, text: str, holder: Any) -> Slot:
    """Return a slot for the name of a table, with what follows the header if the `holder` of that could be read."""
    if holder is None:
        return replace(slot, opening=trial.opening)
    opened = holder[STAND_IN]
    before, after = text[: trial.word.start], trial.text.removeprefix(STAND_IN) + text[trial.word.end :]
    tables = (name for name, value in slot.mapping.items() if isinstance(value, dict | list))
    more = frozenset(name for name in tables if any(_read_toml(f"{before}{json.dumps(name)}{after}")))
    opened = _without(opened[-1] if isinstance(opened, list) else opened)
    return replace(slot, opening=trial.opening, opened=opened, more=more)


def _find_stand_in(data: Any, *, is_key: bool) -> Path | None:
    """Return the path of the mapping that has the stand-in as a key, or of the value that is the stand-in."""
    fields: Iterable[tuple[str | int, Any]] = ()
    if isinstance(data, dict):
        if is_key and STAND_IN in data:
            return ()
        fields = data.items()
    elif isinstance(data, list):
        fields = enumerate(data)
    elif not is_key and data == STAND_IN:
        return ()
    for step, value in fields:
        if (isinstance(value, dict | list) or value == STAND_IN) and (
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


def _write(name: str, data: Any, url: str) -> Document:
    """Return a document with data, which declares a schema if there is a `url`."""
    text = write_data(data, kind_of(name))
    comment = f"# $schema: {url}\n" if url else ""
    return read_documents(Source(name, comment + text))[0][0]


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
