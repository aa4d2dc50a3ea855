"""Ignore comments: which findings they silence, and which of them silence nothing."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from rubric_lint.comments import find_comments
from rubric_lint.document import Document
from rubric_lint.finding import Edit, Finding, Fix, Severity
from rubric_lint.near import find_near
from rubric_lint.rules import BY_NAME
from rubric_lint.source import Source, Span


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

    def silences_finding(self, finding: Finding) -> bool:
        """Whether this comment stands for a finding of its rule in its stretch of text."""
        # A value of several lines ends where only its last line has room for a comment.
        start, end = finding.span
        is_inside = self.silences.start <= max(start, end - 1) and start < self.silences.end
        return is_inside and any(name.text == finding.rule for name in self.names)


_IGNORE = re.compile(r"#\s*rubric-lint:\s*(?P<kind>ignore-file|ignore)\s*\[(?P<names>[^\]]*)\]", re.IGNORECASE)
_BEGINS = re.compile(r"#\s*rubric-lint:", re.IGNORECASE)
_NAME = re.compile(r"[^\s,]+")


def find_ignores(source: Source, documents: list[Document]) -> list[Ignore]:
    """The ignore comments of a file that was read into `documents`."""
    if source.name.lower().endswith((".json", ".jsonl")):
        return []
    first_content = documents[0].preamble.end if documents else len(source.text)
    comments = list(find_comments(source))
    parts = [part for comment in comments for part in _split(source, comment)]
    if not parts:
        return []
    lines_alone = {source.position(start).line for start, _ in comments if is_alone(source, start)}
    entries = find_entries(source, documents)
    return [_read_ignore(source, entries, part, lines_alone, first_content) for part in parts]


def _split(source: Source, comment: Span) -> list[Span]:
    """The parts of a comment that speak to us; other tools' parts may stand before, between and behind them."""
    starts = [found.start() for found in _BEGINS.finditer(source.text, *comment)]
    return [Span(*part) for part in pairwise([*starts, comment.end])]


def is_alone(source: Source, start: int) -> bool:
    """Whether nothing stands before a comment on its line."""
    line = source.line_span(source.position(start).line)
    return not source.text[line.start : start].strip()


def _read_ignore(
    source: Source, entries: Mapping[int, Span], comment: Span, lines_alone: set[int], first_content: int
) -> Ignore:
    found = _IGNORE.match(source.text, *comment)
    names = tuple(
        Name(name[0], Span(*name.span()))
        for name in (_NAME.finditer(source.text, *found.span("names")) if found else ())
    )
    if found is None or not names:
        return Ignore(comment, (), comment, "to be understood, write `# rubric-lint: ignore[name of the check]`")
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
    return Ignore(comment, names, entries.get(line, comment))


def find_entries(source: Source, documents: list[Document]) -> dict[int, Span]:
    """The outermost field or list item that begins on each line; its dash may stand on a line of its own."""
    entries: dict[int, Span] = {}
    for document in documents:
        for _, (start, end) in document.entries():
            line, at = source.position(start).line, start
            # Only what introduces an entry may stand between the start of a line and the entry.
            while line and not source.text[(begin := source.line_span(line).start) : at].strip("-?[{ \t\r\n"):
                best = entries.get(line)
                if source.slice(source.line_span(line)).strip() and (
                    best is None or (start, -end - 1) < (best.start, -best.end)
                ):
                    entries[line] = Span(start, end + 1)
                line, at = line - 1, begin
    return entries


def apply_ignores(ignores: list[Ignore], findings: Iterable[Finding]) -> tuple[list[Finding], list[tuple[Ignore, str]]]:
    """The findings that no comment silences, and for each silenced one the comment and the rule's name."""
    kept: list[Finding] = []
    silenced: list[tuple[Ignore, str]] = []
    coming = sorted(ignores, key=lambda ignore: ignore.silences.start, reverse=True)
    current: list[Ignore] = []
    for finding in sorted(findings, key=lambda finding: finding.span.start):
        at, end = finding.span
        while coming and coming[-1].silences.start <= at:
            current.append(coming.pop())
        current = [ignore for ignore in current if at < ignore.silences.end]
        inside = takewhile(lambda ignore, end=end: ignore.silences.start < end, reversed(coming))  # type: ignore[misc]
        silencing = [ignore for ignore in chain(current, inside) if ignore.silences_finding(finding)]
        by = min(silencing, key=_comment, default=None)
        if by is None:
            kept.append(finding)
        else:
            silenced.append((by, finding.rule))
    return kept, silenced


def _comment(ignore: Ignore) -> Span:
    return ignore.comment


def find_unused(
    source: Source,
    ignores: Iterable[Ignore],
    silenced: Container[tuple[Ignore, str]],
    in_use: Container[str],
    severity: Severity,
) -> Iterator[Finding]:
    """The names in comments that silence nothing, of the rules `in_use`, and comments that cannot be understood."""
    for ignore in ignores:
        if ignore.fault:
            message = f"this comment silences nothing; {ignore.fault}"
            yield Finding("unused-ignore", severity, message, ignore.comment, "")
        idle = [name for name in ignore.names if _is_idle(name.text, ignore, silenced, in_use)]
        for name in ignore.names:
            if name in idle:
                message = f"`{name.text}` finds nothing here that this comment could silence; remove it"
                yield Finding("unused-ignore", severity, message, name.span, "", fix=_make_fix(source, ignore, idle))
            elif name.text not in BY_NAME:
                near = find_near(name.text, BY_NAME)
                hint = f"did you mean `{near[0]}`?" if near else "`rubric-lint --rules` lists the checks"
                yield Finding("unused-ignore", severity, f"there is no check `{name.text}`; {hint}", name.span, "")


def _is_idle(name: str, ignore: Ignore, silenced: Container[tuple[Ignore, str]], in_use: Container[str]) -> bool:
    """Whether a name stands in a comment for nothing; rules that do not run now may find something another time."""
    keeps_quiet = any(other.text == "unused-ignore" for other in ignore.names)
    return name in BY_NAME and name in in_use and not keeps_quiet and (ignore, name) not in silenced


def _make_fix(source: Source, ignore: Ignore, idle: list[Name]) -> Fix:
    """Take the idle names away, and the whole comment when no name is left."""
    needed = [name.text for name in ignore.names if name not in idle]
    if needed:
        names = Span(ignore.names[0].span.start, ignore.names[-1].span.end)
        return Fix("remove what the comment need not name", (Edit(names, ", ".join(needed)),), safe=True)
    text = source.text
    start, end = ignore.comment
    line = source.line_span(source.position(start).line)
    if text[line.start : start].strip():
        start = line.start + len(text[line.start : start].rstrip())
    else:  # a line of its own goes with its end
        start = line.start
        end += 2 if text.startswith("\r\n", end) else int(end < len(text))
    return Fix("remove the comment", (Edit(Span(start, end), ""),), safe=True)
