"""Comments: where they are, and the ones that tell this tool to be silent."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import ScalarEvent, StreamEndEvent

from rubric_lint.document import Document
from rubric_lint.events import open_c_parser, open_pure_parser
from rubric_lint.source import Source, Span

_COMMENT = re.compile(r"(?:(?<=[\s])|^)#[^\r\n]*", re.MULTILINE)


def find_comments(source: Source) -> Iterator[Span]:
    """The comments of a YAML file that parses, in order; a `#` inside a scalar is none."""
    scalars = _find_scalars(source.text)
    before = 0
    for start, end in [*scalars, Span(len(source.text), len(source.text))]:
        for found in _COMMENT.finditer(source.text, before, start):
            yield Span(*found.span())
        before = max(before, end)


def _find_scalars(text: str) -> list[Span]:
    """Where a `#` is no comment. A block scalar's header line is left out: it may end in one."""
    try:
        return _scan(text, open_c_parser(text) or open_pure_parser(text))
    except YAMLError:
        return _scan(text, open_pure_parser(text))


def _scan(text: str, next_event: Callable[[], Any]) -> list[Span]:
    scalars: list[Span] = []
    for event in takewhile(lambda event: type(event) is not StreamEndEvent, iter(next_event, None)):
        if type(event) is ScalarEvent:
            start, end = event.start_mark.index, event.end_mark.index
            if event.style in ("|", ">"):
                line_end = text.find("\n", start, end)
                start = end if line_end < 0 else line_end
            if start < end:
                scalars.append(Span(start, end))
    return scalars


class Name(NamedTuple):
    """A rule's name in an ignore comment, and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ignore:
    """A comment that begins with `# rubric-lint:`.

    `silences` is the stretch of text in which findings of the named rules are silenced. `names` is empty, and `fault`
    says why, for a comment that cannot be understood. `comment` is the whole comment.
    """

    comment: Span
    names: tuple[Name, ...]
    silences: Span
    fault: str | None = None


MARK = "rubric-lint:"
_IGNORE = re.compile(r"#\s*rubric-lint:\s*(?P<kind>ignore-file|ignore)\s*\[(?P<names>[^\]]*)\]")
_BEGINS = re.compile(r"#\s*rubric-lint:")
_NAME = re.compile(r"[^\s,]+")


def find_ignores(source: Source, documents: list[Document]) -> list[Ignore]:
    """The ignore comments of a file that was read into `documents`."""
    if MARK not in source.text or source.name.lower().endswith((".json", ".jsonl")):
        return []
    first_content = documents[0].preamble.end if documents else len(source.text)
    comments = list(find_comments(source))
    lines_alone = {source.position(start).line for start, _ in comments if _is_alone(source, start)}
    return [
        _read_ignore(source, documents, comment, lines_alone, first_content)
        for comment in comments
        if _BEGINS.match(source.text, *comment)
    ]


def _is_alone(source: Source, start: int) -> bool:
    line = source.line_span(source.position(start).line)
    return not source.text[line.start : start].strip()


def _read_ignore(
    source: Source, documents: list[Document], comment: Span, lines_alone: set[int], first_content: int
) -> Ignore:
    found = _IGNORE.match(source.text, *comment)
    names = tuple(
        Name(name[0], Span(*name.span()))
        for name in (_NAME.finditer(source.text, *found.span("names")) if found else ())
    )
    if found is None or not names:
        return Ignore(comment, (), comment, "not understood; write `# rubric-lint: ignore[name of the check]`")
    if found["kind"] == "ignore-file":
        if comment.start > first_content:
            return Ignore(comment, (), comment, "`ignore-file` must stand above the first content of the file")
        return Ignore(comment, names, Span(0, len(source.text) + 1))
    line = source.position(comment.start).line
    if line not in lines_alone:
        start, end = source.line_span(line)
        return Ignore(comment, names, Span(start, end + 1))
    while line in lines_alone:
        line += 1
    below = _find_entry(source, documents, line)
    return Ignore(comment, names, below or comment)


def _find_entry(source: Source, documents: list[Document], line: int) -> Span | None:
    """The outermost field or list item that begins on `line`; its dash may stand on a line of its own."""
    if line > source.line_count:
        return None
    begin, end = source.line_span(line)
    if not source.text[begin:end].strip():
        return None
    best: Span | None = None
    for document in documents:
        for _, span in document.entries():
            lead = source.text[begin : span.start] if span.start >= begin else "far"
            # Only what introduces an entry may stand between the line's start and the entry.
            if lead.strip("-?[{ \t\r\n") == "" and (best is None or (span.start, -span.end) < (best.start, -best.end)):
                best = span
    return Span(best.start, best.end + 1) if best else None
