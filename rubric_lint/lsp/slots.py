"""Find the key or value that the user is typing in YAML, JSON or TOML, by reading the text with a stand-in there."""

import re
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple

from rubric_lint.text.document import Document
from rubric_lint.text.kinds import Kind, kind_of
from rubric_lint.text.path import Path
from rubric_lint.text.plain_data import walk_mappings
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span

_STAND_IN = "rubric-lint-cursor"
_KEY_BEFORE = re.compile(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<word>(?:[\w$][\w$.-]*)?)")
_FLOW_KEY_BEFORE = re.compile(r"""(?:.*[{,\s])?(?P<quote>["']?)(?P<word>(?:[\w$][\w$.:-]*)?)""")
_KEY_AFTER = re.compile(r"""(?P<word>[\w$.-]*)(?P<quote>["']?)(?P<colon>[ \t]*:(?=[\s]|\Z)|[ \t]*=)?""")
_VALUE_BEFORE = re.compile(r"""(?:.*[\s\[{,:=])?(?P<quote>["']?)(?P<word>[^\s"'\[\]{},:=]*)""")
_VALUE_AFTER = re.compile(r"""(?P<word>[^\s"'\[\]{},]*)(?P<quote>["']?)""")


class Slot(NamedTuple):
    """A place for a key or a value: `word` is the part typed so far, `path` leads to the mapping or to the value.

    `has_value`: a colon follows the key. `is_flow`: the place is in braces or brackets. `is_quoted`: quotes are around
    the word already. `tail` is the comma that what follows needs. `column` is where the word begins, `indent` where its
    line does.
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

    @property
    def mapping(self) -> dict[str, Any]:
        """The other fields of the mapping around the slot, or nothing if that is a list."""
        path = self.path if self.is_key else self.path[:-1]
        found = self.document.value(path)
        if not isinstance(found, dict):
            return {}
        own = _STAND_IN if self.is_key else self.path[-1]
        return {key: value for key, value in found.items() if key != own}

    @property
    def data(self) -> Any:
        """The whole document without what is typed."""
        return _without(self.document.data)

    @property
    def rest(self) -> Document:
        """The same document with the data that it has without what is typed."""
        other = copy(self.document)
        other.data = self.data
        other.mappings = tuple(walk_mappings(other.data))
        return other


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
    start, end = source.line_span(source.position(offset).line)
    for trial in _list_trials(source, offset, start, end):
        text = source.text[: trial.word.start] + trial.text + source.text[trial.word.end :]
        line_end = end + len(text) - len(source.text)
        is_yaml = kind_of(source.name) is Kind.YAML
        for attempt in (text, text[:line_end]) if is_yaml and not trial.is_flow else (text,):
            for document in read_documents(Source(source.name, attempt))[0]:
                if (path := _find_stand_in(document, trial)) is not None:
                    before = source.text[start:offset]
                    return Slot(
                        word=trial.word,
                        document=document,
                        path=path,
                        is_key=trial.is_key,
                        has_value=trial.has_value,
                        is_flow=trial.is_flow,
                        is_quoted=trial.is_quoted,
                        tail=trial.tail,
                        column=trial.word.start - start,
                        indent=len(before) - len(before.lstrip(" ")),
                    )
    return None


def _find_stand_in(document: Document, trial: _Trial) -> Path | None:
    if trial.is_key:
        return next((path[:-1] for path, _ in document.entries() if path[-1] == _STAND_IN), None)
    inside = trial.word.start + 1
    around = (path for path, span in document.entries() if span[0] <= inside <= span[1])
    return next((path for path in around if document.value(path) == _STAND_IN), None)


def _list_trials(source: Source, offset: int, start: int, end: int) -> Iterator[_Trial]:
    """Yield the ways to read the text, the likeliest first."""
    text, kind = source.text, kind_of(source.name)
    before = text[start:offset]
    rest = _KEY_AFTER.match(text, offset, end)
    if rest is None or kind.is_program:
        return
    is_alone = rest["colon"] is not None or not text[rest.end() : end].strip()
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
    """Return data without the stand-in."""
    if isinstance(value, dict):
        return {key: _without(each) for key, each in value.items() if _STAND_IN not in (key, each)}
    if isinstance(value, list):
        return [_without(each) for each in value if each != _STAND_IN]
    return value
