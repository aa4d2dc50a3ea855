"""Lint one state of a document, and find the rubrics in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from rubric_lint.dialects.search.byte_signs import could_hold_rubrics
from rubric_lint.finding import Finding, Result
from rubric_lint.format.rubric import Rubric
from rubric_lint.lint.engine import Examined, build_rubrics, examine, find_shape_problems, report_faults
from rubric_lint.lint.found import Also
from rubric_lint.lint.message_context import name_criterion
from rubric_lint.lsp.excerpts import Placed, join_cases
from rubric_lint.lsp.positions import Text
from rubric_lint.lsp.reuse import Memory
from rubric_lint.project.opening import LIMIT
from rubric_lint.project.settings import FileSettings
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span


def _find_none(_path: str) -> None:
    """Return None: no other file is open."""


@dataclass(frozen=True, slots=True)
class State:
    """A document at one moment.

    `settings` are None if rubric-lint ignores the document. `obstacle` says why the settings are unknown, and
    `obstacle_file` is the settings file to fix. Of an excerpt, `around` is what its source has. `find_open` returns the
    text of another file if it is open.
    """

    uri: str
    name: str
    language: str
    version: int | None
    text: Text
    settings: FileSettings | None
    obstacle: str = ""
    obstacle_file: str = ""
    around: frozenset[str] = frozenset()
    find_open: Callable[[str], str | None] = _find_none

    def under(self, settings: FileSettings | None) -> "State":
        """Return this state with its settings."""
        return replace(self, settings=settings)

    def blocked(self, fault: SettingsError) -> "State":
        """Return this state with the error that makes its settings unknown."""
        return replace(self, obstacle=f"{fault.path}: {'; '.join(fault.faults)}", obstacle_file=fault.path)


Named = tuple[str, Span, str]
"""The identity of a finding: its rule, its place and its message."""


class Located(NamedTuple):
    """A rubric and its document."""

    document: Document
    rubric: Rubric

    def place(self, path: Path) -> Path:
        """Return the path in the document for a path of the model."""
        return self.rubric.view.place(path) if self.rubric.view else path

    def find_written(self, path: Path) -> tuple[Path, bool] | None:
        """Return the path in the document, and whether the value is in the key there; None if it is not written."""
        return self.rubric.view.find_written(path) if self.rubric.view else (path, False)


@dataclass(frozen=True)
class Analysis:
    """The result for a state: for the `whole` text or for each of its `cases`; `notice` says why it was not linted.

    `shown` are the findings of the whole that are not in a baseline. `parts` are the cases of which other answers are
    made; with a baseline there are some, but no `cases`. `frame` is the last of them with all that is around the cases.
    `lacking` has the files of judge outputs that could not be read, each with the reason.
    """

    state: State
    whole: Result | None = None
    shown: tuple[Finding, ...] = ()
    examined: Examined | None = None
    notice: str = ""
    fault: Exception | None = None
    cases: Sequence[Placed] = ()
    parts: Sequence[Placed] = ()
    frame: Placed | None = None
    lacking: Sequence[tuple[str, str]] = ()

    @cached_property
    def result(self) -> Result | None:
        """The result for the text, or None if it was not linted."""
        return join_cases(self.source, self.cases) if self.cases else self.whole

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings to show, ordered by place."""
        return self.result.findings if self.cases and self.result else self.shown

    def find_at(self, place: Span) -> list[Finding]:
        """Return the findings to show that touch a place; of a suite, only its cases there are looked at."""
        near = (case for case in self.cases if case.touches(place)) if self.cases else ()
        found = chain.from_iterable(case.findings() for case in near) if self.cases else self.shown
        return [each for each in found if each.span.start <= place.end and place.start <= each.span.end]

    def find_of(self, rule: str) -> list[Finding]:
        """Return the findings of a rule to show."""
        if not self.cases:
            return [finding for finding in self.shown if finding.rule == rule]
        return [finding for case in self.cases for finding in case.findings(rule)]

    def part_at(self, offset: int) -> tuple["Analysis", int]:
        """Return the analysis of the case at an offset, and how far it is moved; of the whole if there is none."""
        place = Span(offset, offset)
        case = next((case for case in self.apart if case.touches(place)), None)
        return (self.take(case), case.offset) if case else (self, 0)

    @property
    def source(self) -> Source:
        """The text as the engine reads it."""
        return Source(self.state.name, self.state.text.body, around=self.state.around)

    @cached_property
    def documents(self) -> list[Document]:
        """The readable documents, with or without rubrics."""
        if self.examined:
            return self.examined.documents
        return read_documents(self.source)[0] if self.state.settings else []

    @cached_property
    def apart(self) -> Sequence[Placed]:
        """The cases, if no rubric reaches beyond one; else none. What they hold is what the whole text holds there."""
        return self.parts if all(case.excerpt.is_apart for case in self.parts) else ()

    def take(self, case: Placed) -> "Analysis":
        """Return the analysis of one of the cases in its excerpt."""
        text = Text.of(case.excerpt.source.text, self.state.text.pieces.encoding)
        found = tuple(map(case.word, case.excerpt.findings))
        state = replace(self.state, text=text, around=case.excerpt.source.around)
        return Analysis(state, Result(case.excerpt.source, found), found)

    @property
    def is_readable(self) -> bool:
        """Whether any document can be read."""
        return bool(self.parts or self.documents)

    @cached_property
    def frames(self) -> list[Document]:
        """The documents, perhaps with one of the cases alone: what is written around the cases."""
        return self.take(self.frame).documents if self.frame else self.documents

    @cached_property
    def rubrics(self) -> list[Located]:
        """The rubrics, in order."""
        if self.examined:
            return [Located(*each) for each in self.examined.rubrics]
        settings = self.state.settings
        if settings is None:
            return []
        return [
            Located(document, rubric) for document in self.documents for rubric in build_rubrics(document, settings)
        ]

    @cached_property
    def shape_findings(self) -> set[Named]:
        """The findings that come from the JSON Schema alone."""
        found = set()
        for document, rubric in self.rubrics:
            for rule, problem in find_shape_problems(document, rubric):
                span = problem.span or document.span(problem.path, problem.part)
                found.add((rule, span, name_criterion(problem, rubric) + problem.message))
        return found

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


def is_on_key(document: Document, path: Path, offset: int) -> bool:
    """Return whether an offset is on the key of the field at `path`."""
    start, end = document.span(path, Part.KEY)
    return isinstance(path[-1], str) and start <= offset <= end


CRASHED = "rubric-lint crashed (a bug in rubric-lint, not in this file); the details are in its log"
"""The notice for a document whose analysis raised an error."""

Sift = Callable[[Result], Result]
"""A function that removes findings, such as those in a baseline; it may raise `SettingsError`."""


def analyse(state: State, memory: Memory | None = None, sift: Sift | None = None, also: Also | None = None) -> Analysis:
    """Lint a state; `also` finds more than the rules do.

    A crash becomes a notice, because it must not stop the server.
    """
    if state.settings is None:
        return Analysis(state, notice=state.obstacle)
    data = state.text.body.encode()
    if len(data) > LIMIT:
        return Analysis(state, notice=f"the file has {len(data) / 1e6:.1f} MB, the limit is {LIMIT / 1e6:.0f} MB")
    source = Source(state.name, state.text.body)
    if not state.settings.claimed and not could_hold_rubrics(data, state.name):
        return Analysis(state, Result(source, ()))
    try:
        return _check(state, source, memory or Memory(), sift, also)
    except SettingsError as fault:
        blocked = state.blocked(fault)
        return Analysis(blocked, notice=blocked.obstacle)
    except Exception as fault:
        return Analysis(state, notice=CRASHED, fault=fault)


def _check(state: State, source: Source, memory: Memory, sift: Sift | None, also: Also | None) -> Analysis:
    """Lint a text case by case if possible, else as a whole."""
    settings = state.settings or FileSettings()
    if also is None and not settings.is_test_file and (suite := memory.examine(source, settings)):
        cases, frame = suite
        if sift is None:
            return Analysis(state, cases=cases, parts=cases, frame=frame)
        result = join_cases(source, cases)
        return Analysis(state, result, sift(result).findings, parts=cases, frame=frame)
    if fault := memory.find_fault(source, settings):
        examined = Examined(report_faults(source, [(fault.message, fault.span)], settings), [], [])
    else:
        examined = examine(source, settings, also=also)
    return Analysis(state, examined.result, (sift or _keep)(examined.result).findings, examined)


def _keep(result: Result) -> Result:
    return result
