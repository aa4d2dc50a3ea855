"""Apply ignore comments: find the findings that they silence, and the comments that silence nothing."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from rubric_lint.model.finding import Finding, Severity
from rubric_lint.rules import BY_NAME, find_near_rules
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Edit, Source, Span, kind_of


@dataclass(frozen=True, slots=True)
class RuleName:
    """The name of a rule in an ignore comment, and its place."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Ignore:
    """A comment that begins with `# rubric-lint:`.

    `silences` is the range of text in which findings of the named rules are silenced. An invalid comment has no
    `names`, and `fault` says why. `comment` is the span of the comment.
    """

    comment: Span
    names: tuple[RuleName, ...]
    silences: Span
    fault: str | None = None


_IGNORE = re.compile(r"#\s*rubric-lint:\s*(?P<kind>ignore-file|ignore)\s*\[(?P<names>[^\]]*)\]", re.IGNORECASE)
_BEGINS = re.compile(r"#\s*rubric-lint:", re.IGNORECASE)
_NAME = re.compile(r"[^\s,]+")
_REMARK = re.compile(r"\][ \t]*(?:[-\u2013\u2014]+[ \t]+(?=[^ \t#])|.*?(?<![^ \t\]])(?=#))")
"""What stands between the names of an ignore comment and a remark: a dash, or all that is before a second `#`."""


def find_ignores(source: Source, documents: list[Document]) -> list[Ignore]:
    """Find the ignore comments of a file that was read into `documents`."""
    if kind_of(source.name).is_json:
        return []
    first_content = documents[0].preamble.end if documents else len(source.text)
    comments = documents[0].tree.comments if documents else []
    parts = []
    for comment in comments:  # parts for other tools may be before, between and after ours
        starts = [found.start() for found in _BEGINS.finditer(source.text, *comment)]
        parts += [Span(*part) for part in pairwise([*starts, comment.end])]
    if not parts:
        return []
    entries = EntriesByLine(source, documents)
    below: dict[int, int] = {}  # for each line that has only a comment the next one that has something else
    for start in [start for start, _ in reversed(comments) if is_alone(source, start)]:
        line = source.position(start).line
        below[line] = below.get(line + 1, line + 1)
    return [_read_ignore(source, entries, part, below, first_content) for part in parts]


def is_alone(source: Source, start: int) -> bool:
    """Return whether a comment is the first on its line."""
    line = source.line_span(source.position(start).line)
    return not source.text[line.start : start].strip()


def _read_ignore(
    source: Source, entries: "EntriesByLine", comment: Span, below: dict[int, int], first_content: int
) -> Ignore:
    found = _IGNORE.match(source.text, *comment)
    listed = _NAME.finditer(source.text, *found.span("names")) if found else ()
    names = tuple([RuleName(name[0], Span(*name.span())) for name in listed])
    if found is None or not names:
        return Ignore(comment, (), comment, "to be understood, write `# rubric-lint: ignore[name of the rule]`")
    if found["kind"] == "ignore-file":
        if comment.start > first_content:
            return Ignore(comment, (), comment, "`ignore-file` must stand above the first content of the file")
        return Ignore(comment, names, Span(0, len(source.text) + 1))
    line = source.position(comment.start).line
    if line not in below:
        start, end = source.line_span(line)
        return Ignore(comment, names, Span(start, end + 1))
    return Ignore(comment, names, entries.at(below[line]) or comment)


_SOLID = re.compile(r"[^-?\[{ \t\r\n]")
"""Text that is more than the introduction of an entry; between the start of a line and its entry there is only that."""


class EntriesByLine:
    """The outermost field or list item that begins on each line; its dash may be on a line before it."""

    def __init__(self, source: Source, documents: list[Document]) -> None:
        self._source = source
        self._ends: dict[int, int] = {}
        for document in documents:
            for _, (start, end) in document.entries():
                self._ends[start] = max(end, self._ends.get(start, end))
        self._starts = sorted(self._ends)

    def at(self, line: int) -> Span | None:
        """Return the entry of a line; None if the line is blank or continues an entry above it."""
        if line > self._source.line_count:
            return None
        text, (begin, stop) = self._source.text, self._source.line_span(line)
        number = bisect_left(self._starts, begin)
        if number == len(self._starts) or not text[begin:stop].strip():
            return None
        start = self._starts[number]
        return None if _SOLID.search(text, begin, start) else Span(start, self._ends[start] + 1)


def apply_ignores(ignores: list[Ignore], findings: Iterable[Finding]) -> tuple[list[Finding], list[tuple[Ignore, str]]]:
    """Return the findings that no comment silences, and for each silenced one the comment and the name of its rule."""
    kept: list[Finding] = []
    silenced: list[tuple[Ignore, str]] = []
    by_rule: dict[str, _SilencingComments] = {}
    for ignore in sorted(ignores, key=lambda ignore: ignore.silences.start):
        for rule in {name.text for name in ignore.names}:
            by_rule.setdefault(rule, _SilencingComments()).ignores.append(ignore)
    for finding in sorted(findings, key=lambda finding: finding.span.start):
        by = by_rule[finding.rule].find(finding.span) if finding.rule in by_rule else None
        if by is None:
            kept.append(finding)
        else:
            silenced.append((by, finding.rule))
    return kept, silenced


class _SilencingComments:
    """The comments for one rule, ordered by where they apply; call `find` in the order of findings."""

    def __init__(self) -> None:
        self.ignores: list[Ignore] = []
        self._reached = 0  # how many of them start at or before the last finding
        self._open: list[tuple[Span, int, int]] = []  # those that may still apply, as (comment, end, number), in a heap

    def find(self, span: Span) -> Ignore | None:
        """Return the first comment that silences a finding at `span`."""
        start, end = span
        while self._reached < len(self.ignores):
            ignore = self.ignores[self._reached]
            if ignore.silences.start > start:
                break
            heappush(self._open, (ignore.comment, ignore.silences.end, self._reached))
            self._reached += 1
        while self._open and self._open[0][1] <= start:
            heappop(self._open)
        found = [self.ignores[self._open[0][2]]] if self._open else []
        # In a value of several lines, only the last line has room for a comment.
        last = bisect_right(self.ignores, end - 1, self._reached, key=lambda ignore: ignore.silences.start)
        found += self.ignores[self._reached : last]
        return min(found, key=lambda ignore: ignore.comment, default=None)


def find_unused(
    source: Source,
    ignores: Iterable[Ignore],
    silenced: set[tuple[Ignore, str]],
    in_use: Container[str],
    severity: Severity,
    *,
    kept: Iterable[Finding] = (),
) -> Iterator[Finding]:
    """Find names of rules `in_use` in comments that silence nothing, and invalid comments.

    `kept` are the findings that no comment silences; the comment may be meant for one of them nearby.
    """
    lines: dict[str, list[int]] = {}
    for finding in sorted(kept, key=lambda finding: finding.span.start):
        lines.setdefault(finding.rule, []).append(source.position(finding.span.start).line)
    found = {*lines, *(name for _, name in silenced)}
    once = {name for name in found if BY_NAME[name].once}
    for ignore in ignores:
        if ignore.fault:
            yield _report("invalid", {"reason": ignore.fault}, severity, ignore.comment)
        by_text = {name.text: name for name in reversed(ignore.names)}  # each once, at its first place
        idle: set[str] = set()
        if "unused-ignore" not in by_text:
            checked = {text for text in by_text if text in BY_NAME and text in in_use} - once
            idle = {text for text in checked if (ignore, text) not in silenced}
        line = source.position(ignore.comment.start).line
        near_lines = {name: _find_near(line, lines.get(name, [])) for name in idle}
        # A comment that should move must not be gone before its author reads that.
        is_safe = not any(near_lines.values())
        can_fix = idle and not kind_of(source.name).is_program
        fix = _make_fix(source, ignore, idle, is_safe=is_safe) if can_fix else None
        for text, name in by_text.items():
            if text in idle:
                near_line = near_lines[text]
                code = "too-far" if near_line else "idle"
                values = {"rule": text, "near": str(near_line)}
                yield _report(code, values, severity, name.span)._replace(fix=fix)
            elif text not in BY_NAME:
                near = find_near_rules(text)
                hint = f"did you mean `{near[0]}`?" if near else "`rubric-lint explain` lists the rules"
                yield _report("unknown-rule", {"rule": text, "hint": hint}, severity, name.span)


def _report(code: str, values: dict[str, str], severity: Severity, span: Span) -> Finding:
    rule = BY_NAME["unused-ignore"]
    message = rule.write(code, values)
    return Finding(rule.name, severity, message, span, "", code=f"{rule.name}.{code}", values=values)


_FAR = 6
"""The distance in lines from which a finding is not near the comment that may have been meant for it."""


def _find_near(line: int, found: Sequence[int]) -> int | None:
    """Return the nearest of some sorted lines that is near a line, if any is."""
    at = bisect_right(found, line)
    near = [other for other in found[max(at - 1, 0) : at + 1] if abs(other - line) < _FAR]
    return min(near, key=lambda other: (abs(other - line), other), default=None)


def _make_fix(source: Source, ignore: Ignore, idle: set[str], *, is_safe: bool) -> Fix:
    """Remove the idle names, or the whole comment if no name is left; a remark of the author behind it stays."""
    needed = [name.text for name in ignore.names if name.text not in idle]
    if needed:
        names = Span(ignore.names[0].span.start, ignore.names[-1].span.end)
        return Fix("remove the unused names from the comment", (Edit(names, ", ".join(needed)),), safe=is_safe)
    text = source.text
    start, end = ignore.comment
    bracket = text.index("]", ignore.names[-1].span.end)
    remark = _REMARK.match(text, bracket, end)
    if remark and remark.end() < end:
        mark = "" if text[remark.end()] == "#" else "# "
        return Fix("remove the comment up to the remark", (Edit(Span(start, remark.end()), mark),), safe=is_safe)
    line = source.line_span(source.position(start).line)
    if text[line.start : start].strip():
        start = line.start + len(text[line.start : start].rstrip())
    else:  # a comment on a line of its own goes with its line end
        start = line.start
        end += 2 if text.startswith("\r\n", end) else int(end < len(text))
    return Fix("remove the comment", (Edit(Span(start, end), ""),), safe=is_safe)
