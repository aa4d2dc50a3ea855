"""Lint one state of a document, and find the rubrics in it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.engine import Examined, FindMore, build_rubrics, examine, find_shape_problems
from rubric_lint.lint.project.opening import LIMIT
from rubric_lint.lint.project.settings import FileSettings, SettingsError
from rubric_lint.model.finding import Finding, Result, Unread
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, Span

if TYPE_CHECKING:
    from rubric_lint.assess.judged.review import Review


@dataclass(frozen=True, slots=True)
class State:
    """A document at one moment.

    `name` is for messages and parsers, `path` that of a file. `settings` are None if rubric-lint ignores the document.
    `obstacle` says why they are unknown, and `obstacle_file` is the settings file to fix. `find_open` returns the text
    of another file if it is open.
    """

    uri: str
    name: str
    language: str
    version: int | None
    text: DocumentText
    settings: FileSettings | None = None
    path: str | None = None
    obstacle: str = ""
    obstacle_file: str = ""
    find_open: Callable[[str], str | None] = lambda _path: None

    def blocked(self, fault: SettingsError) -> "State":
        """Return this state with the error that makes its settings unknown."""
        return replace(self, obstacle=f"{fault.path}: {'; '.join(fault.faults)}", obstacle_file=fault.path)


class LocatedRubric(NamedTuple):
    """A rubric and its document."""

    document: Document
    rubric: Rubric


_WORD = re.compile(r"[\"']?[\w$./-]+[\"']?")


@dataclass(frozen=True)
class Analysis:
    """The `result` for a state, or None with a `notice` that says why it was not linted.

    `findings` are those to show, ordered by place: all that are not in a baseline. `unreadable` has the files of
    judge outputs that could not be read, each with the reason; `reviews` say what they show of each rubric.
    """

    state: State
    result: Result | None = None
    findings: tuple[Finding, ...] = ()
    examined: Examined | None = None
    notice: str = ""
    fault: Exception | None = None
    unreadable: Sequence[tuple[str, str]] = ()
    reviews: "Sequence[Review]" = ()

    def find_at(self, place: Span) -> list[Finding]:
        """Return the findings to show that touch a place."""
        return [
            finding for finding in self.findings if finding.span.start <= place.end and place.start <= finding.span.end
        ]

    def find_near_misses(self) -> Iterator[tuple[Span, Unread]]:
        """Find the near misses, each with the key or the text at its place."""
        if not self.result:
            return
        for unread in self.result.unread:
            line = self.source.line_span(unread.line)
            start = line.start + unread.column - 1
            word = _WORD.match(self.source.text, start, line.end)
            end = word.end() if word else line.end
            yield Span(start, end), unread

    def find_of(self, rule: str) -> list[Finding]:
        """Return the findings of a rule to show."""
        return [finding for finding in self.findings if finding.rule == rule]

    @property
    def source(self) -> Source:
        """The text as the engine reads it."""
        return Source(self.state.name, self.state.text.body)

    @cached_property
    def documents(self) -> list[Document]:
        """The readable documents, with or without rubrics."""
        if self.examined:
            return self.examined.documents
        return read_documents(self.source)[0] if self.state.settings else []

    @cached_property
    def rubrics(self) -> list[LocatedRubric]:
        """The rubrics, in order."""
        if self.examined:
            return [LocatedRubric(*found) for found in self.examined.rubrics]
        settings = self.state.settings
        if settings is None:
            return []
        return [
            LocatedRubric(document, rubric)
            for document in self.documents
            for rubric in build_rubrics(document, settings)
        ]

    @cached_property
    def shape_findings(self) -> set[tuple[str, Span]]:
        """The findings that come from the JSON Schema alone, by code and place."""
        return {
            (f"{rule}.{problem.code}", problem.span or document.span(problem.path, problem.part))
            for document, rubric in self.rubrics
            for rule, problem in find_shape_problems(document, rubric)
        }

    def locate(self, offset: int) -> tuple[Document, Path] | None:
        """Return the innermost field or list item that contains an offset."""
        for document in self.documents:
            found: Path = ()
            for path, (start, end) in document.extents.items():
                if start <= offset <= end and len(path) >= len(found):
                    found = path
            if found:
                return document, found
        return None


CRASHED = "rubric-lint crashed (a bug in rubric-lint, not in this file); the details are in its log"
"""The notice for a document whose analysis raised an error."""


def analyse(
    state: State, sift: Callable[[Result], Result] | None = None, find_more: FindMore | None = None
) -> Analysis:
    """Lint a state; `find_more` finds more than the rules do, and `sift` removes findings, such as those in a baseline.

    A `SettingsError` or a crash becomes a notice, because it must not stop the server.
    """
    if state.settings is None:
        return Analysis(state, notice=state.obstacle)
    data = state.text.body.encode()
    if len(data) > LIMIT:
        return Analysis(state, notice=f"the file has {len(data) / 1e6:.1f} MB, the limit is {LIMIT / 1e6:.0f} MB")
    source = Source(state.name, state.text.body)
    if not state.settings.is_named and not could_hold_rubrics(data, state.name):
        return Analysis(state, Result(source, ()))
    try:
        examined = examine(source, state.settings, find_more=find_more)
        shown = sift(examined.result) if sift else examined.result
    except SettingsError as fault:
        blocked = state.blocked(fault)
        return Analysis(blocked, notice=blocked.obstacle)
    except Exception as fault:
        return Analysis(state, notice=CRASHED, fault=fault)
    return Analysis(state, examined.result, shown.findings, examined)
