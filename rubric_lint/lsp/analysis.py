"""What the engine makes of one state of a document: findings, and the rubrics in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rubric_lint.dialects.search.byte_signs import could_hold_rubrics
from rubric_lint.dialects.search.locate import find_claim
from rubric_lint.finding import Finding, Result
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema_files import CURRENT
from rubric_lint.lint.engine import Examined, build_rubrics, examine, find_shape_problems, report_faults
from rubric_lint.lint.message_context import name_criterion
from rubric_lint.lsp.positions import Text
from rubric_lint.lsp.reuse import Memory, Placed, join_cases
from rubric_lint.project.opening import LIMIT
from rubric_lint.project.settings import FileSettings
from rubric_lint.project.settings_file import SettingsError
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source, Span


@dataclass(frozen=True, slots=True)
class State:
    """A document at one moment.

    `settings` are None where it is no concern of ours. `obstacle` says why they are not known, and `obstacle_file` is
    the settings file to be mended.
    """

    uri: str
    name: str
    language: str
    version: int | None
    text: Text
    settings: FileSettings | None
    obstacle: str = ""
    obstacle_file: str = ""

    def under(self, settings: FileSettings | None) -> "State":
        """This state, with what holds for it."""
        return replace(self, settings=settings)

    def blocked(self, fault: SettingsError) -> "State":
        """This state, with what keeps its settings from being known."""
        return replace(self, obstacle=f"{fault.path}: {'; '.join(fault.faults)}", obstacle_file=fault.path)


Named = tuple[str, Span, str]
"""A finding by its rule, its place and its message."""


class Located(NamedTuple):
    """One rubric and the document that holds it."""

    document: Document
    rubric: Rubric

    def place(self, path: Path) -> Path:
        """Where in the document a path of the model leads."""
        return self.rubric.view.place(path) if self.rubric.view else path


@dataclass(frozen=True)
class Analysis:
    """What was found in a state: as a `whole`, or in each of its `cases`; `notice` says why, where it was not checked.

    `shown` are the findings of the whole that no baseline holds.
    """

    state: State
    whole: Result | None = None
    shown: tuple[Finding, ...] = ()
    examined: Examined | None = None
    notice: str = ""
    fault: Exception | None = None
    cases: Sequence[Placed] = ()

    @cached_property
    def result(self) -> Result | None:
        """What the text came to; None where it was not checked."""
        return join_cases(self.source, self.cases) if self.cases else self.whole

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings to show, in order of place."""
        return self.result.findings if self.cases and self.result else self.shown

    @property
    def source(self) -> Source:
        """The text as the engine reads it."""
        return Source(self.state.name, self.state.text.body)

    @cached_property
    def documents(self) -> list[Document]:
        """The documents that can be read, whether or not they hold rubrics."""
        if self.examined:
            return self.examined.documents
        return read_documents(self.source)[0] if self.state.settings else []

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
    def shape_findings(self) -> dict[Named, bool]:
        """The findings that come from the JSON Schema alone, and whether a schema server is sure to have each."""
        found = {}
        for located in self.rubrics:
            document, rubric = located
            for rule, problem in find_shape_problems(document, rubric):
                span = problem.span or document.span(problem.path, problem.part)
                message = name_criterion(problem, rubric) + problem.message
                found[rule, span, message] = self._is_served(located)
        return found

    def _is_served(self, located: Located) -> bool:
        """Return whether a schema server checks a rubric by the same schema: it goes by the name of the file.

        A file may also name a schema, but whether a server reads that, and can load it, nobody tells us.
        """
        document, rubric = located
        settings = self.state.settings
        is_named = settings is not None and settings.is_rubric_file and find_claim(document) is None
        return is_named and rubric.path == (FIELD,) and rubric.version == CURRENT and rubric.view is None

    def locate(self, offset: int) -> tuple[Document, Path] | None:
        """The innermost field or list item that holds an offset."""
        for document in self.documents:
            found: Path = ()
            for path, (start, end) in document.entries():
                if start <= offset <= end and len(path) >= len(found):
                    found = path
            if found:
                return document, found
        return None


def is_on_key(document: Document, path: Path, offset: int) -> bool:
    """Whether an offset is on the key of the field at `path`."""
    start, end = document.span(path, Part.KEY)
    return isinstance(path[-1], str) and start <= offset <= end


Sift = Callable[[Result], Result]
"""What leaves findings out; it may raise `SettingsError`."""


def analyse(state: State, memory: Memory | None = None, sift: Sift | None = None) -> Analysis:
    """Lint a state. A crash becomes a notice, because it must not stop the server."""
    if state.settings is None:
        return Analysis(state, notice=state.obstacle)
    data = state.text.body.encode()
    if len(data) > LIMIT:
        return Analysis(state, notice=f"the file has {len(data) / 1e6:.1f} MB, the limit is {LIMIT / 1e6:.0f} MB")
    source = Source(state.name, state.text.body)
    if not state.settings.claimed and not could_hold_rubrics(data):
        return Analysis(state, Result(source, ()))
    try:
        return _check(state, source, memory or Memory(), sift)
    except SettingsError as fault:
        blocked = state.blocked(fault)
        return Analysis(blocked, notice=blocked.obstacle)
    except Exception as fault:
        return Analysis(
            state,
            notice="rubric-lint crashed (a bug in rubric-lint, not in this file); the details are in its log",
            fault=fault,
        )


def _check(state: State, source: Source, memory: Memory, sift: Sift | None) -> Analysis:
    """Check a text case by case where that can be, else as a whole."""
    settings = state.settings or FileSettings()
    if cases := memory.examine(source, settings):
        if sift is None:
            return Analysis(state, cases=cases)
        result = join_cases(source, cases)
        return Analysis(state, result, sift(result).findings)
    if fault := memory.find_fault(source, settings):
        examined = Examined(report_faults(source, [(fault.message, fault.span)], settings), [], [])
    else:
        examined = examine(source, settings)
    return Analysis(state, examined.result, (sift or _keep)(examined.result).findings, examined)


def _keep(result: Result) -> Result:
    return result
