"""Classify the JSON objects in prose: on their own lines, in a fence, quoted, or within a line."""

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum, auto
from itertools import accumulate
from typing import Any, NamedTuple

from rubric_lint.scoring.blanks import BLANK, IN_LINE, blank_spans, ends_item, following, previous
from rubric_lint.scoring.extract import OutputError, decode_with_flaws, line_of, shorten
from rubric_lint.scoring.fences import Label, find_closing, names_score, read_label
from rubric_lint.scoring.thoughts import MOST_BROKEN, blank_thoughts
from rubric_lint.scoring.turns import may_have_tokens, refuse_other_turns, refuse_tool_calls, skip_end_tokens
from rubric_lint.scoring.words import Words, dot_quotes, leave_words


class Kind(Enum):
    """The context of an object in a text; only a `GIVEN` object may be a verdict."""

    GIVEN = auto()
    INLINE = auto()
    QUOTED = auto()
    TAGGED = auto()
    BLOCK_QUOTE = auto()
    FENCED = auto()
    LABELLED = auto()


class Object(NamedTuple):
    """An object in a text: its kind and place."""

    kind: Kind
    start: int
    end: int
    value: dict[str, Any]


class Given(NamedTuple):
    """The objects that a text gives, and the words around them."""

    objects: list[Object]
    words: Words


def find_given(text: str, is_quote: Callable[[str], bool]) -> Given:
    """Return the objects (at least one) that a text gives outside thoughts and quotes, and the words around them.

    Raises:
        OutputError: if there is none, if a thought never ends, or as `read_prose`.
    """
    rest = blank_thoughts(text)
    body = rest.strip(BLANK)
    if not body and "<|call|>" in text:
        raise OutputError(f"a tool call instead of a verdict: {shorten(text)}")
    if not body:
        raise OutputError("thoughts without an answer: nothing follows them")
    reader = _Reader(rest)
    reader.read()
    objects = reader.settle()
    turns = rest[: reader.end]
    spans = [(each.start, each.end) for each in objects]
    told = dot_quotes(blank_spans(turns, spans)) if may_have_tokens(turns, spans) else ""
    refuse_tool_calls(told)
    given = [each for each in objects if each.kind is Kind.GIVEN]
    if not given:
        raise _explain(body, objects, rest)
    refuse_other_turns(told)
    for each in objects:
        where = _RIVALS.get(each.kind)
        is_other = where and (each.kind is Kind.FENCED or each.value != given[0].value)
        if is_other and _is_verdict(each.value) and not is_quote(rest[each.start : each.end]):
            line = line_of(rest, each.start)
            lines = f"one at line {line_of(rest, given[0].start)}, one {where} line {line}"
            raise OutputError(f"2 JSON objects, {lines}; expected one", line=line)
    return Given(given, leave_words(turns, reader.asides, spans))


def _explain(body: str, objects: list[Object], rest: str) -> OutputError:
    """Explain why a text gives no verdict."""
    if objects:
        line = line_of(rest, objects[0].start)
        return OutputError(
            f"the JSON object at line {line} {_REASONS[objects[0].kind]}, so it is not the verdict", line=line
        )
    return OutputError(f"no JSON object in this text: {shorten(body)}")


_RIVALS = {Kind.INLINE: "in the middle of", Kind.FENCED: "in a fence beside other text at"}

_REASONS = {
    Kind.INLINE: "is in the middle of a line",
    Kind.QUOTED: "is in quotes or backticks",
    Kind.TAGGED: "is in tags",
    Kind.BLOCK_QUOTE: "is in a block quote",
    Kind.FENCED: "is in a fence beside other text",
    Kind.LABELLED: "is in a fence whose label does not name a verdict",
}


_TOKEN = re.compile(
    r"""
    ^[BLANKS]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})(?P<label>[^\n]*)
    | ^[ \t]*>(?P<block>[^\n]*)
    | (?P<escape>\\[{}"`])
    | (?P<open>\{) | (?P<close>\})
    | (?P<mark>`+|~~|["“”„«»「」『』])
    | (?P<comment><!--) | (?P<comment_end>-->)
    | <(?P<ending>/?)(?P<tag>[A-Za-z][\w:.-]*)(?:\s[^<>]*)?>
    | \[(?P<bracket_ending>/?)(?P<bracket>[A-Za-z][\w-]*)\]
    """.replace("BLANKS", IN_LINE.replace(" ", "\\ ")),
    re.VERBOSE | re.MULTILINE,
)
_IN_TOKEN = re.compile(r"""[\\{}"`~“”„«»「」『』<>\[-]""")
"""Each token has one of these characters, on the line where it begins."""

_BEGINS_OBJECT = re.compile(r'\{[ \t\r\n]*(?:\}|"(?!(?:[^"\\\n]|\\.){0,200}"[ \t\r\n]*[,}]))')
"""The start of a JSON object, but not of a set of strings as in mathematics or other languages."""

_BEGINS_VERDICT = re.compile(r'\{[ \t\r\n]*"(?:checks|score|level|satisfied|reasoning|overall_reasoning)"')
_VERDICT_FIELDS = frozenset({"checks", "score", "level", "satisfied"})
_ENDS_LINE = re.compile(rf"[{IN_LINE}]*+(?:[.\u3002][{IN_LINE}]*+)?(?:\n|\Z)")
_EMPHASIS = re.compile(r"(?<![*_])(?:\*{1,3}|_{1,3})\Z")
_RESEMBLES_OBJECT = re.compile(
    r"""
    \{\s* (?: ['\u2018\u2019\u201c\u201d`] [^'\u2018\u2019\u201c\u201d`{}\n]{1,200} ['\u2018\u2019\u201c\u201d`]
           | (?:checks|id|level|overall_reasoning|reasoning|satisfied|score)\b )
    \s*[:=]
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""An object in Python or JavaScript syntax; any other word before a colon may be mathematics."""

_MARKS = {"`": 0, '"': 1, "“": 2, "”": 2, "„": 2, "«": 3, "»": 3, "「": 4, "」": 4, "『": 5, "』": 5, "~": 6}
"""Quotes, backticks and strikethroughs by their partner: after an odd number of them one is open."""

_OPENERS, _CLOSERS = "\"'`“„‘‚«「『", "\"'`“”’‘»」』"  # noqa: RUF001 (quotes of many languages)
_LONE_TAGS = frozenset({"br", "hr", "img", "wbr", "input", "p", "li"})
"""Tags that have no closing tag."""

Marks = tuple[int, ...]


class _Draft(NamedTuple):
    """An object whose following text is not yet read: the marks and braces before it."""

    found: Object
    marks: Marks
    depth: int
    in_fence: bool


class _Reader:
    """A reader that scans a text once, from start to end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.end = skip_end_tokens(text)
        self._position = 0
        self._drafts: list[_Draft] = []
        self._marks = [0] * 7
        self._line_marks = [*self._marks]
        self._line_end = -1
        self._depth = 0
        self._unopened: int | None = None
        self._broken = 0
        self._open_tags: dict[str, list[int]] = {}
        self._lone_tags: set[int] = set()
        self._tagged: list[tuple[int, int]] = []
        self._block_end = -2
        self.asides: list[tuple[int, int]] = []

    def read(self) -> None:
        """Collect all objects, and the marks that may surround them."""
        while token := self._find_token():
            self._position = token.end()
            if token.start() > self._line_end:
                self._begin_line(token.start())
            kind = token.lastgroup
            if kind == "label":
                self._read_fence(token)
            elif kind == "block":
                self._read_block(token)
            elif kind == "open":
                self._read_brace(token.start())
            elif kind == "mark":
                self._marks[_MARKS[token["mark"][0]]] += 1
            elif kind == "close":
                self._leave_brace(token.start())
            elif kind != "escape":
                self._read_tag(token)

    def _find_token(self) -> re.Match[str] | None:
        """Return the next token. It is sought from the line of its first character on, which is found much faster."""
        text, position, end = self._text, self._position, self.end
        mark = _IN_TOKEN.search(text, position, end)
        line = text.rfind("\n", position, mark.start()) + 1 if mark else 0
        return _TOKEN.search(text, max(line, position), end) if mark else None

    def _begin_line(self, offset: int) -> None:
        """Record how many marks precede the line of an offset; the offset is the first relevant one in its line."""
        self._line_marks = [*self._marks]
        end = self._text.find("\n", offset)
        self._line_end = len(self._text) if end < 0 else end

    def _is_quoting(self) -> bool:
        """Return whether this line opens a quote or a backtick that is still open."""
        return any((count - before) % 2 for count, before in zip(self._marks, self._line_marks, strict=True))

    def _leave_brace(self, offset: int) -> None:
        if self._is_quoting():
            return
        self._depth -= 1
        if self._depth < 0:
            self._unopened, self._depth = offset, 0

    def _read_fence(self, opening: re.Match[str]) -> None:
        text, start = self._text, opening.end()
        label = read_label(opening["label"])
        closing = find_closing(text, opening["fence"], start, self.end)
        stop = closing.start() if closing else self.end
        self._position = closing.end() if closing else self.end
        self.asides.append((opening.start(), self._position))
        content = text[start:stop].rstrip()
        if not closing:
            content = content.removesuffix(opening["fence"])
        start += len(content) - len(content.lstrip(BLANK))
        end = opening.end() + len(content.rstrip(BLANK))
        if start >= end or text[start] != "{":
            if label is not Label.OTHER and names_score(text, start, end):
                self._keep(Kind.FENCED, start, end, {"checks": None}, in_fence=True)
            return
        self._refuse_other_language(start)
        if _BEGINS_OBJECT.match(text, start):
            value, after = decode_with_flaws(text, start)
            kind = Kind.GIVEN if after == end and label is Label.VERDICT else Kind.FENCED
            self._keep(Kind.LABELLED if label is Label.OTHER else kind, start, after, value, in_fence=True)

    def _read_block(self, line: re.Match[str]) -> None:
        self.asides.append(line.span())
        self._block_end = line.end() if line["block"].strip(BLANK) else -2
        if found := _BEGINS_VERDICT.search(self._text, line.start("block"), line.end()):
            self._keep(Kind.BLOCK_QUOTE, found.start(), line.end(), {"": None})

    def _read_brace(self, start: int) -> None:
        text = self._text
        emphasis = _EMPHASIS.search(text, max(0, start - 4), start)
        begins_line, line_end = self._begins_line(emphasis.start() if emphasis else start)
        if _BEGINS_OBJECT.match(text, start) and (begins_line or self._may_be_verdict(start)):
            try:
                value, end = decode_with_flaws(text, start)
            except OutputError:
                if begins_line:
                    raise
                self._broken += 1
            else:
                self._position = end
                behind = end + len(emphasis[0]) if emphasis and text.startswith(emphasis[0], end) else end
                is_even = not emphasis or behind > end
                is_alone = begins_line and is_even and _ENDS_LINE.match(text, behind, self.end)
                if is_alone or _is_verdict(value):
                    kind = Kind.GIVEN if is_alone else Kind.INLINE
                    self._keep(Kind.BLOCK_QUOTE if line_end == self._block_end else kind, start, end, value)
                return
        if not self._is_quoting():
            self._refuse_other_language(start)
            self._depth += 1

    def _begins_line(self, offset: int) -> tuple[bool, int]:
        """Return whether an offset begins its line, and where the line before it ends."""
        while offset and self._text[offset - 1] in IN_LINE:
            offset -= 1
        return not offset or self._text[offset - 1] == "\n", offset - 1

    def _may_be_verdict(self, start: int) -> bool:
        return self._broken < MOST_BROKEN and bool(_BEGINS_VERDICT.match(self._text, start))

    def _refuse_other_language(self, start: int) -> None:
        if _RESEMBLES_OBJECT.match(self._text, start):
            line = line_of(self._text, start)
            raise OutputError(f"the object at line {line} is not JSON: its keys are not in double quotes", line=line)

    def _read_tag(self, token: re.Match[str]) -> None:
        name = token["tag"] or (f"[{token['bracket']}" if token["bracket"] else "<!--")
        if name.lower() in _LONE_TAGS:
            return
        if token["ending"] or token["bracket_ending"] or token["comment_end"]:
            if opened := self._open_tags.get(name):
                self._tagged.append((opened.pop(), token.end()))
            return
        self._open_tags.setdefault(name, []).append(token.start())
        hides = name.lower() == "details" or _ENDS_LINE.match(self._text, token.end(), self.end)
        if hides and self._begins_line(token.start())[0]:
            self._lone_tags.add(token.start())

    def _keep(self, kind: Kind, start: int, end: int, value: Any, *, in_fence: bool = False) -> None:
        if value:
            self._drafts.append(_Draft(Object(kind, start, end, value), tuple(self._marks), self._depth, in_fence))

    def settle(self) -> list[Object]:
        """Classify each object, once the whole text is read.

        Raises:
            OutputError: if a possible verdict is inside something broken.
        """
        unclosed = [(start, self.end) for starts in self._open_tags.values() for start in starts]
        tagged = sorted([*self._tagged, *(span for span in unclosed if span[0] in self._lone_tags)])
        starts, ends = [start for start, _ in tagged], [*accumulate((end for _, end in tagged), max)]
        objects: list[Object] = []
        for draft in self._drafts:
            found = draft.found
            around = bisect_right(starts, found.start)
            if around and ends[around - 1] > found.start:
                found = found._replace(kind=Kind.TAGGED)
            elif self._is_in_marks(draft):
                found = found._replace(kind=Kind.QUOTED)
            elif found.kind is Kind.GIVEN:
                self._refuse_enclosed(draft)
            objects.append(found)
        return objects

    def _is_in_marks(self, draft: _Draft) -> bool:
        """Return whether a quote or a backtick opens before an object and closes after it."""
        if any(count % 2 and total > count for count, total in zip(draft.marks, self._marks, strict=True)):
            return True
        if draft.in_fence:
            return False
        before, after = previous(self._text, draft.found.start), following(self._text, draft.found.end)
        return before != "" and after != "" and before in _OPENERS and after in _CLOSERS

    def _refuse_enclosed(self, draft: _Draft) -> None:
        text, start = self._text, draft.found.start
        before, after = previous(text, start), following(text, draft.found.end)
        is_listed = before == "[" or after in ("]", ",") or (before == "," and ends_item(text, start))
        is_listed = is_listed and not draft.in_fence
        if is_listed or draft.depth:
            line = line_of(text, start)
            around = "a list that is" if is_listed else "braces that are"
            raise OutputError(f"the JSON object at line {line} is inside {around} not JSON", line=line)
        if self._unopened is not None:
            line = line_of(text, self._unopened)
            raise OutputError(f"a `}}` at line {line} closes nothing, so the JSON before it is broken", line=line)


def _is_verdict(value: dict[str, Any]) -> bool:
    """Return whether an object claims to be a whole verdict; a note about one criterion, with its id, does not."""
    return not _VERDICT_FIELDS.isdisjoint(value) and "id" not in value
