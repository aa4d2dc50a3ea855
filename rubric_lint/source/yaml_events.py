"""Compose YAML from events: text with aliases, and text that the C parser refuses, which the pure parser decides.

The pure parser is that of ruamel.yaml, with the tabs of YAML 1.2 and the places that the C parser gives empty values.
Its errors are explained to the author of the text, at the place to look at.
"""

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser
from ruamel.yaml.scanner import Scanner
from ruamel.yaml.tokens import TagToken, ValueToken

from rubric_lint.source.deadline import check_time
from rubric_lint.source.source import Span
from rubric_lint.source.tree import MAX_DEPTH, UNTAGGED, AliasNode, Root, SyntaxFaultError, join_surrogates, too_deep

MAX_ALIASED = 1_000_000
"""The most values that the aliases of a document may expand to. An alias bomb expands to billions in a few lines."""


class _Anchor(NamedTuple):
    node: Any
    size: int
    is_open: bool = False


# One loop, because a call for each of millions of events would double the time.
def compose_events(next_event: Callable[[], Any]) -> list[Root]:  # noqa: C901, PLR0912, PLR0915
    """Compose the documents of a stream of events, with aliases as separate nodes.

    Raises:
        SyntaxFaultError: for an alias without an anchor, inside itself or too large, and for too deep nesting.
    """
    roots: list[Root] = []
    stack: list[tuple[Any, Any, Any, int]] = []
    node: Any = None  # the innermost collection that is open
    anchor: Any = None
    key: Any = None
    aliased = 0  # the number of values that its aliases expand to
    root: Any = None
    before = 0
    has_aliases = False
    anchors: dict[str, _Anchor] = {}
    count = 0
    while True:
        event = next_event()
        count += 1
        if not count & 1023:
            check_time()
        kind = type(event)
        if kind is ScalarEvent:
            tag = None if event.ctag is None else str(event.ctag)
            node_tag = UNTAGGED if tag is None or tag == "!" else tag
            child: Any = ScalarNode(
                node_tag,
                event.value,
                event.start_mark,
                event.end_mark,
                style=event.style or None,
            )
            if event.anchor is not None:
                anchors[event.anchor] = _Anchor(child, 1)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(stack) >= MAX_DEPTH:
                raise too_deep(event.start_mark.index)
            stack.append((node, anchor, key, aliased))
            collection = MappingNode if kind is MappingStartEvent else SequenceNode
            node = collection(UNTAGGED, [], event.start_mark, event.end_mark, flow_style=event.flow_style)
            anchor, key, aliased = event.anchor, None, 0
            if anchor is not None:
                anchors[anchor] = _Anchor(node, 0, is_open=True)
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            child = node
            child.end_mark = event.end_mark
            if anchor is not None:
                anchors[anchor] = _Anchor(child, len(child.value) + 1 + aliased)
            inner = aliased
            node, anchor, key, aliased = stack.pop()
            aliased += inner
            if aliased > MAX_ALIASED:
                start = child.start_mark.index
                raise _too_large("in this value", Span(start, start + 1))
        elif kind is AliasEvent:
            site = Span(event.start_mark.index, event.end_mark.index)
            found = _find_anchor(anchors, event.anchor, site, is_root=node is None)
            has_aliases = True
            child = AliasNode(found.node, event.start_mark, event.end_mark)
            if not (type(node) is MappingNode and key is None):
                aliased += found.size
                if aliased > MAX_ALIASED:
                    raise _too_large(f"up to `*{event.anchor}`", site)
        elif kind is DocumentStartEvent:
            anchors, has_aliases = {}, False
            continue
        elif kind is DocumentEndEvent:
            roots.append(Root(root, before, has_aliases))
            before = event.end_mark.index
            continue
        elif kind is StreamEndEvent:
            return roots or [Root(None, 0)]
        else:
            continue
        if node is None:
            root = child
        elif type(node) is SequenceNode:
            node.value.append(child)
        elif key is None:
            key = child
        else:
            node.value.append((key, child))
            key = None


def _find_anchor(anchors: dict[str, _Anchor], name: str, site: Span, *, is_root: bool) -> _Anchor:
    anchor = anchors.get(name)
    if anchor is None:
        raise SyntaxFaultError(f"alias `*{name}` has no anchor `&{name}` before it", site)
    if anchor.is_open:
        raise SyntaxFaultError(f"alias `*{name}` is inside the value that it repeats", site)
    if is_root:
        raise SyntaxFaultError(f"alias `*{name}` cannot be a whole document", site)
    return anchor


def _too_large(where: str, site: Span) -> SyntaxFaultError:
    return SyntaxFaultError(f"the aliases {where} stand for more than {MAX_ALIASED:,} values", site)


def compose_purely(text: str, fault: YAMLError) -> list[Root]:
    """Compose the documents of a text with the pure parser; `fault` is why the C parser refused it.

    Raises:
        SyntaxFaultError: if the text is not YAML.
    """
    if isinstance(fault, MarkedYAMLError) and fault.context_mark and "quoted scalar" in (fault.context or ""):
        # Every parser would read on to the end of the text to close the quote: within quotes, they differ only over the
        # meaning of backslashes in double quotes.
        opened = fault.context_mark.index
        is_open = "end of stream" in (fault.problem or "") and text[opened : opened + 1] in ("'", '"')
        if is_open and "\\" not in text[opened:]:
            try:
                compose_events(_parse_explaining(text[: opened + 1]).__next__)
            except SyntaxFaultError as shorter:
                if shorter.span.start == opened:  # otherwise the pure parser sees no quote there
                    raise
    return compose_events(_parse_explaining(text).__next__)


def _parse_explaining(text: str) -> Iterator[Any]:
    """Yield the events of a YAML stream; raise a SyntaxFaultError that explains what is wrong."""
    # Without this guard the pure scanner would end the text at a NUL.
    nul = text.find("\0")
    if nul >= 0:
        raise SyntaxFaultError("a NUL character is not allowed in YAML; is this a text file?", Span(nul, nul + 1))
    brackets: list[int] = []  # where the open collections begin, if with a bracket
    try:
        for event in parse(text):
            kind = type(event)
            if kind is ScalarEvent and event.style == '"':
                event.value = join_surrogates(event.value, event.start_mark.index)
            elif kind is SequenceStartEvent or kind is MappingStartEvent:
                brackets.append(event.end_mark.index - 1)
            elif kind is SequenceEndEvent or kind is MappingEndEvent:
                brackets.pop()
            yield event
    except (AssertionError, OverflowError, ValueError):
        # The scanner asserts versions, and calls chr() and int() with numbers of any size.
        beyond = (found for found in re.finditer(_LONG_ESCAPE, text) if int(found[1], 16) > sys.maxunicode)
        escape = next(beyond, None)
        if escape:
            message = "this escape is beyond the last character, U+10FFFF"
            raise SyntaxFaultError(message, Span(*escape.span())) from None
        at, message = max(text.find("%YAML"), 0), "the version in this directive is not known; write `%YAML 1.2`"
        raise SyntaxFaultError(message, Span(at, at + 5)) from None
    except MarkedYAMLError as fault:
        opened = [at for at in brackets if text[at : at + 1] in ("[", "{")]
        raise _describe_fault(fault, text, opened) from None
    except YAMLError as fault:
        at = min(getattr(fault, "position", 0), len(text) - 1)
        message = f"character U+{ord(text[at]):04X} is not allowed in YAML; write it as an escape in double quotes"
        raise SyntaxFaultError(message, Span(at, at + 1)) from None


_LONG_ESCAPE = r"\\U([0-9A-Fa-f]{8})"


_BLANK = " \t"
_BREAKS = "\r\n"
_END = "\0"


def parse(text: str) -> Iterator[Any]:
    """Yield the events of a YAML stream."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = _Scanner
    yaml.Parser = _Parser
    yield from yaml.parse(text)


class _Scanner(Scanner):
    """A scanner that treats tabs that do not indent as white space: between tokens, before comments and line ends."""

    def scan_to_next_token(self) -> None:
        super().scan_to_next_token()
        while self.reader.peek() == "\t" and self._indents_nothing():
            self._take_blanks()
            super().scan_to_next_token()

    def scan_plain_spaces(self, indent: int, start_mark: object) -> list[str]:  # noqa: ARG002 (the scanner's own)
        """Read the white space after a piece of a plain scalar, and return its meaning within the scalar."""
        blanks = self._take_blanks()
        if self.reader.peek() not in _BREAKS:
            return [blanks] if blanks else []
        breaks = []
        while self.reader.peek() in _BREAKS:
            breaks.append(self.scan_line_break())
            self.allow_simple_key = True
            if self.check_document_start() or self.check_document_end():
                return []
            while self.reader.peek() == " ":
                self.reader.forward()
            if self.reader.peek() == "\t" and (self.reader.column >= indent or self._indents_nothing()):
                self._take_blanks()
        return breaks[1:] or [" "]

    def _take_blanks(self) -> str:
        length = self._count_blanks()
        blanks: str = self.reader.prefix(length)
        self.reader.forward(length)
        return blanks

    def _count_blanks(self) -> int:
        length = 0
        while self.reader.peek(length) in _BLANK:
            length += 1
        return length

    def _indents_nothing(self) -> bool:
        """Return whether blanks here follow a token of this line, or precede only a comment."""
        reader = self.reader
        line = reader.buffer[reader.pointer - reader.column : reader.pointer]
        return bool(line.strip(_BLANK)) or reader.peek(self._count_blanks()) in f"#{_BREAKS}{_END}"


class _Parser(Parser):
    """A parser that places an empty value after its colon, or in brackets before the next token."""

    def parse_node(self, block: bool = False, indentless_sequence: bool = False) -> Any:
        """Parse a node; if its tag precedes its anchor, it starts at the tag."""
        start = self.scanner.peek_token().start_mark if self.scanner.check_token(TagToken) else None
        event = super().parse_node(block, indentless_sequence)
        if start is not None:
            event.start_mark = start
        return event

    def parse_block_mapping_value(self) -> Any:
        colon = self.scanner.peek_token()
        event = super().parse_block_mapping_value()
        return _move_empty(event, colon.end_mark) if isinstance(colon, ValueToken) else event

    def parse_flow_mapping_value(self) -> Any:
        return self._move_to_next(super().parse_flow_mapping_value())

    def parse_flow_sequence_entry_mapping_value(self) -> Any:
        return self._move_to_next(super().parse_flow_sequence_entry_mapping_value())

    def _move_to_next(self, event: Any) -> Any:
        return _move_empty(event, self.scanner.peek_token().start_mark) if _is_empty(event) else event


def _is_empty(event: Any) -> bool:
    return type(event) is ScalarEvent and event.start_mark is event.end_mark


def _move_empty(event: Any, mark: Any) -> Any:
    if _is_empty(event):
        event.start_mark = event.end_mark = mark
    return event


# The parser's words, with what it was scanning, and our message; `{found}` is the character at the error.
_WORDS = {
    r"expected <block end>": (
        "this line belongs neither to the list or mapping above it nor to a new one; check its indentation"
    ),
    r"mapping values are not allowed": (
        "`: ` is not allowed here; quote the string that has it, or check the indentation"
    ),
    r"mapping keys are not allowed": "`? ` is not allowed here; quote the string that has it, or check the indentation",
    r"sequence entries are not allowed": (
        "`- ` is not allowed here; put the list on a line of its own, or quote the string"
    ),
    r"could not find expected ':'": (
        "a key without its `:`; write the `:`, or quote the string, or check the indentation"
    ),
    r"cannot start any token": 'a plain string cannot begin with "{found}"; put it in quotes',
    r"unknown escape character": (
        "`\\{found}` is not an escape in double quotes; write `\\\\{found}`, or use single quotes"
    ),
    r"double-quoted.*hexdecimal": "this escape needs more hexadecimal digits; write all of them, or use single quotes",
    r"<document start>|after document end": (
        "the document has ended before this; check the indentation, or start a new document with `---`"
    ),
    r"scanning an (?:anchor|alias)": (
        "`&` and `*` need a name directly after them; put a string that begins with one in quotes"
    ),
    r"\btag\b|URI": (
        "`!` begins a tag, and this is not one that YAML knows; put a string that begins with `!` in quotes"
    ),
    r"directive|incompatible YAML": (
        "a line that begins with `%` is a directive of YAML, and this is not a valid one; indent or quote the string"
    ),
    r"block scalar": (
        "after `|` or `>` only `-`, `+`, a digit or a comment is allowed, and the lines below must be indented alike"
    ),
    r"expected ',' or": "a comma or the closing bracket is missing here; quote strings that contain brackets or commas",
    r"expected the node content|unexpected ':'": "a value is missing before this; write it, or quote the string",
}
_OTHERWISE = "this is not valid YAML; check the quotes, the brackets and the indentation here"
_QUOTES = {"'": "''", '"': '\\"'}


def _describe_fault(fault: MarkedYAMLError, text: str, brackets: list[int]) -> SyntaxFaultError:  # noqa: PLR0911 (one return a place)
    """Explain a parser's error at one place: where an unclosed quote or bracket opens, else where parsing stopped.

    `brackets` are the positions of the open brackets.
    """
    problem, opened = fault.problem or "", fault.context_mark
    mark = fault.problem_mark or opened
    at = min(mark.index, len(text)) if mark else 0
    is_at_end = at >= len(text.rstrip())
    if opened is not None and "quoted" in (fault.context or "") and (is_at_end or "document separator" in problem):
        return SyntaxFaultError("this quote is never closed", Span(opened.index, opened.index + 1))
    if brackets and is_at_end:
        return SyntaxFaultError(f"this `{text[brackets[-1]]}` is never closed", Span(brackets[-1], brackets[-1] + 1))
    if brackets and opened and fault.problem_mark and "expected ',' or" in problem and mark.line > opened.line:
        line = mark.line + 1
        message = f"this `{text[brackets[-1]]}` is not closed before line {line}, where something else begins"
        return SyntaxFaultError(message, Span(brackets[-1], brackets[-1] + 1))
    if opened is not None and "could not find expected ':'" in problem:
        at = opened.index  # where the key begins; the error shows only on the next line
    span, found = Span(at, min(at + 1, len(text))), text[at : at + 1]
    if found == "\t":
        return SyntaxFaultError("a tab cannot indent YAML; use spaces", span)
    quote = text[:at].rstrip()[-1:]
    if "expected <block end>" in problem and quote in _QUOTES:
        message = f"text follows the closing quote; inside these quotes write {_QUOTES[quote]} for it"
        return SyntaxFaultError(message, span)
    if found in ("]", "}") and ("<document start>" in problem or "<block end>" in problem):
        return SyntaxFaultError(f"this `{found}` closes nothing; remove it, or quote the string that has it", span)
    said = f"{fault.context or ''}: {problem}"
    words = next((words for sign, words in _WORDS.items() if re.search(sign, said)), _OTHERWISE)
    return SyntaxFaultError(words.replace("{found}", found), span)
