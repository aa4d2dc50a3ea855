"""Write the reports for humans: with code frames, with one line per finding, and with counts by rule."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.lint.run.summary import Reporter
from rubric_lint.model.messages import join_words, visible
from rubric_lint.report.terminal import Style, Write, head, refer, shown, tail, width, wrap
from rubric_lint.source.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.lint.run.summary import Summary
    from rubric_lint.model.finding import Finding, Result, Severity


class StyledReporter(Reporter):
    """Write results in a style, piece by piece."""

    def __init__(self, write: Write, look: Style) -> None:
        self._write = write
        self._look = look


class Concise(StyledReporter):
    """Write one line per finding: `file:line:column severity rule: message`."""

    def word(self, source: Source, finding: Finding) -> str:
        """Return the line of a finding."""
        head = _head(finding, self._look)
        return f"{self._look.paint('place', _place(source, finding.span))} {head} {visible(finding.message)}".rstrip()

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        if result.findings:
            self._write("".join(f"{self.word(result.source, finding)}\n" for finding in result.findings))

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        if not self._look.quiet:
            self._write(f"{summary}\n")


class Full(StyledReporter):
    """Write each finding: rule and message, below them its place, the code frame and the fix."""

    _gap = ""

    def add(self, result: Result) -> None:
        """Write the findings of one file."""
        if not result.findings:
            return
        blocks = []
        seen = dict[str, str]()
        for finding in result.findings:
            in_use = width(f"{finding.severity} {finding.rule}: ") if self._look.wraps else 0
            first, *more = self._look.wrap(visible(finding.message), in_use=in_use)
            lines = [f"{_head(finding, self._look)} {first}".rstrip(), *more]
            blocks.append("\n".join([*lines, *frame(result.source, finding, self._look, seen)]) + "\n")
        self._write(self._gap + "\n".join(blocks))
        self._gap = "\n"

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        if not self._look.quiet:
            rows = []
            for line in str(summary).split("\n"):
                rows += self._look.wrap(line)
            self._write(self._gap + "\n".join(rows) + "\n")


class Statistics(StyledReporter):
    """Write the number of findings per rule, most frequent first."""

    def __init__(self, write: Write, look: Style) -> None:
        super().__init__(write, look)
        self._counts: Counter[tuple[str, Severity]] = Counter()

    def add(self, result: Result) -> None:
        """Count the findings of one file."""
        self._counts.update((finding.rule, finding.severity) for finding in result.findings)

    def end(self, summary: Summary) -> None:
        """Write the counts, then the summary."""
        rows = sorted(self._counts.items(), key=lambda row: (-row[1], row[0]))
        digits = max((len(str(count)) for _, count in rows), default=0)
        for (rule, severity), count in rows:
            self._write(f"{count:>{digits}} {self._look.paint(severity, f'{severity:<7}')} {rule}\n")
        if self._look.quiet:
            return
        if rows:
            self._write("\n")
        self._write(f"{summary}\n")


def _head(finding: Finding, look: Style) -> str:
    return f"{look.paint(finding.severity, finding.severity)} {finding.rule}:"


def _place(source: Source, span: Span) -> str:
    line, column, _ = source.position(span.start)
    return f"{visible(source.name)}:{line}:{column}"


_CUT = "..."
_CONTEXT = 16  # cells left of a mark that is itself too long for a line


class _Mark(NamedTuple):
    """An underlined part of one line; the span ends at the line end at the latest."""

    line: int
    line_start: int
    span: Span
    primary: bool
    label: str


class _Excerpt(NamedTuple):
    """The part of a line that is shown: its span in the file, and the ellipses before and after it."""

    before: str
    span: Span
    after: str


def frame(source: Source, finding: Finding, style: Style, seen: dict[str, str]) -> Iterator[str]:
    """Yield the place of a finding and the rows of its code frame, as wide as the terminal without labels.

    Related places in other files follow below their own place. `seen` has the long choices of earlier findings, which
    are not repeated.
    """
    groups = {source.name: (source, [_mark(source, finding.span, primary=True)])}
    for place in finding.related:
        file = place.source or source
        groups.setdefault(file.name, (file, []))[1].append(_mark(file, place.span, label=place.message))
    last_line = max(mark.line for _, marks in groups.values() for mark in marks)
    gutter = _Gutter(style, digits=len(str(last_line)))
    for file, marks in groups.values():
        arrow, span = ("-->", finding.span) if file is source else (":::", min(marks).span)
        yield style.paint("gutter", f"   {'':{gutter.digits}}{arrow} ") + style.paint("place", _place(file, span))
        for _, in_line in groupby(sorted(marks), key=lambda mark: mark.line):
            yield from _frame_line(file.text, list(in_line), finding.severity, gutter)
    if finding.fix:
        kind = "fix" if finding.fix.safe else "unsafe fix"
        yield from gutter.note(f"= {kind}: {visible(finding.fix.title)}")
    if finding.choices:
        answers = [f"{visible(choice.title)} (--choose {choice.choice})" for choice in finding.choices]
        start = source.position(finding.span.start)
        reference = f"the same answers as at {start.line}:{start.column}"
        yield from gutter.note(f"= choose: {refer(join_words(answers, 'or'), reference, seen)}")


def _frame_line(text: str, marks: list[_Mark], severity: Severity, gutter: _Gutter) -> Iterator[str]:
    """Yield the rows of one line of a file: the line, in several excerpts if it is long, and its marks below."""
    for excerpt, group in _excerpts(text, marks, gutter.room):
        start, end = excerpt.span
        yield gutter.row(marks[0].line, excerpt.before + shown(text[start:end]) + excerpt.after)
        for mark in group:
            indent = width(excerpt.before + shown(text[start : mark.span.start]))
            marked = shown(text[mark.span.start : min(mark.span.end, end)])
            sign, role = ("^", severity) if mark.primary else ("-", "other")
            yield from gutter.mark(indent, sign * max(width(marked), 1), visible(mark.label), role)


class _Gutter(NamedTuple):
    """The look of the rows of a frame: `digits` is the width of line numbers."""

    style: Style
    digits: int

    @property
    def room(self) -> int:
        """The cells right of the gutter."""
        # Six cells are around the number: three blanks before it, then ` |` and a blank.
        return max(self.style.columns - self.digits - 6, 2 * _CONTEXT)

    def row(self, number: int | str, text: str) -> str:
        return f"{self.style.paint('gutter', f'   {number:>{self.digits}} |')} {text}".rstrip()

    def note(self, text: str) -> Iterator[str]:
        indent = " " * (self.digits + 4)
        for line in self.style.wrap(text, indent):
            yield indent + self.style.paint("fix", line.removeprefix(indent))

    def mark(self, indent: int, line: str, label: str, role: str) -> Iterator[str]:
        """Yield an underline and its label, next to it or, where a terminal would break the label, below it."""
        labelled = f"{line} {label}".rstrip()
        if not label or not self.style.wraps or indent + width(labelled) <= self.room:
            yield self.row("", " " * indent + self.style.paint(role, labelled))
            return
        yield self.row("", " " * indent + self.style.paint(role, line))
        start = " " * max(min(indent, self.room - width(label)), 0)
        for row in wrap(label, self.room, start):
            yield self.row("", self.style.paint(role, row))


def _mark(source: Source, span: Span, *, primary: bool = False, label: str = "") -> _Mark:
    line, column, start = source.position(span.start)
    # Search for the line end instead of calling `line_span`: a file may be one line of 100 MB.
    ends = [source.text.find(stop, start, span.end) for stop in "\r\n"]
    end = min((end for end in ends if end >= 0), default=span.end)
    return _Mark(line, start - column + 1, Span(start, end), primary, label)


def _excerpts(text: str, marks: list[_Mark], room: int) -> Iterator[tuple[_Excerpt, list[_Mark]]]:
    """Yield the marks of one line in groups that fit into one excerpt."""
    while marks:
        first, count, hull = marks[0], 1, marks[0].span
        for mark in marks[1:]:
            wider = Span(hull.start, max(hull.end, mark.span.end))
            # The width is measured only of what may fit: the line may be the whole file.
            if wider.end - wider.start > room or width(shown(text[wider.start : wider.end])) > room - 2 * len(_CUT):
                break
            count, hull = count + 1, wider
        yield _excerpt(text, first.line_start, hull, room), marks[:count]
        marks = marks[count:]


def _excerpt(text: str, line_start: int, hull: Span, room: int) -> _Excerpt:
    """Return as much of a line around `hull` as fits into `room` cells."""
    # One code point more than fits shows whether the line continues.
    left = text[max(line_start, hull.start - room - 1) : hull.start]
    rest = text[hull.start : min(hull.end, hull.start + room) + room + 1].split("\n", 1)[0].split("\r", 1)[0]
    whole_left = len(left) == hull.start - line_start
    if whole_left and width(shown(left + rest)) <= room:
        return _Excerpt("", Span(line_start, hull.start + len(rest)), "")
    spare = room - 2 * len(_CUT) - width(shown(text[hull.start : min(hull.end, hull.start + room)]))
    before = tail(left, max(spare // 2, _CONTEXT))
    cut_left = _CUT
    if whole_left and before == left:
        cut_left = ""
    after, cut_right = head(rest, room - len(cut_left) - len(_CUT) - width(shown(before))), _CUT
    if after == rest:  # the line ends here: give the remaining room to the other side
        before, cut_right = tail(left, room - len(_CUT) - width(shown(rest))), ""
    span = Span(hull.start - len(before), hull.start + len(after))
    return _Excerpt(cut_left, span, cut_right)
