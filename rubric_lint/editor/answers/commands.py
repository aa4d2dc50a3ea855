"""Offer code lenses above rubrics and tests, and run their commands as the command line does."""

import asyncio
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lsprotocol import types

from rubric_lint.assess.rubric_tests.reading import find_recordings, is_test_file, list_needed
from rubric_lint.editor.answers.cards import read_reference
from rubric_lint.editor.answers.scores import is_sound
from rubric_lint.editor.server.analysis import Analysis, State
from rubric_lint.editor.server.documents import OpenDocuments
from rubric_lint.editor.server.workspace import expand, uri_of
from rubric_lint.lint.case_names import find_names
from rubric_lint.lint.project.opening import LIMIT, read_file
from rubric_lint.lint.project.paths import is_file, relate, simplify
from rubric_lint.lint.project.repository import find_root
from rubric_lint.model.finding import ADOPT_IT
from rubric_lint.model.messages import counted
from rubric_lint.model.suggest import suggest
from rubric_lint.source.path import Part
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError, stem_of

# The commands of the lenses. Each takes the URI of the file and the name of a rubric, empty for all of them.
RUN_TESTS = "rubric-lint.runTests"
SCORE_OUTPUTS = "rubric-lint.scoreOutputs"
SHOW_PROMPT = "rubric-lint.showPrompt"
ADOPT = "rubric-lint.adopt"

NAMES = (RUN_TESTS, SCORE_OUTPUTS, SHOW_PROMPT, ADOPT)
"""The commands that the server runs for the editor."""

CAN_RUN = sys.platform != "emscripten"
"""Whether commands can run here: in a browser, and where an editor has the server built in, no program can."""

_MOST_FILES = 200


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file with rubric tests: the file and the name of the rubric that it names, its outputs, the number of tests."""

    path: str
    rubric: str
    name: str
    outputs: str
    number: int


def make_lenses(analysis: Analysis) -> list[types.CodeLens]:
    """Return the lenses of a file on disk: over its tests, or over each rubric without errors."""
    path, settings = analysis.state.name, analysis.state.settings
    if settings is None or not is_file(path):
        return []
    if settings.is_test_file:
        document = next(iter(analysis.documents), None)
        tests = document.data.get("tests") if document and isinstance(document.data, dict) else None
        if not document or not isinstance(tests, list) or not tests:
            return []
        start = analysis.state.text.range(document.span(("tests",), Part.KEY)).start
        return [_make(analysis.state, start, f"Run {counted(len(tests), 'test')}", RUN_TESTS)]
    lenses = [*_make_for_rubrics(analysis, path), *_make_for_criteria(analysis)]
    # Over the first criteria in a home-made format that a table in the settings would have read.
    unread = analysis.result.unread if analysis.result else ()
    for near_miss in unread:
        if ADOPT_IT in near_miss.steps:
            start = types.Position(near_miss.line - 1, 0)
            lenses.append(_make(analysis.state, start, "Not checked: describe this format in the settings", ADOPT))
            break
    return lenses


async def answer_lenses(documents: OpenDocuments, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """Return the lenses of a document, if the editor's settings ask for them."""
    uri = params.text_document.uri
    options = await documents.options_for(uri)
    if not CAN_RUN or not options.lenses:
        return None
    return await documents.ask(uri, make_lenses) or None


def _make_for_rubrics(analysis: Analysis, path: str) -> Iterator[types.CodeLens]:
    names = find_names(path, analysis.rubrics)
    files = find_test_files(path) if analysis.rubrics else []
    outputs = find_outputs(path, files)
    for located, (name, *_) in zip(analysis.rubrics, names, strict=True):
        if not is_sound(analysis, located):
            continue
        document, at = located.document, located.rubric.path
        part = Part.KEY if at and isinstance(at[-1], str) else Part.ENTRY
        add = partial(_make, analysis.state, analysis.state.text.range(document.span(at, part)).start)
        count = sum(file.number for file in files if not file.name or file.name == name)
        if count:
            yield add(f"Run {counted(count, 'test')}", RUN_TESTS, name)
        if outputs:
            yield add("Score recorded outputs", SCORE_OUTPUTS, "")
            outputs = []  # the command scores those of all rubrics of the file
        shown = name if len(analysis.rubrics) > 1 else ""
        yield add("Show prompt", SHOW_PROMPT, shown)


def _make_for_criteria(analysis: Analysis) -> Iterator[types.CodeLens]:
    """Yield above each criterion with recorded outputs whether to keep or fix it, or what would decide that."""
    if not any(review.answers for review in analysis.reviews):
        return
    # The statistics take a while to load, and few projects name judge outputs.
    from rubric_lint.assess.assess import Standing, assess, sort_findings  # noqa: PLC0415
    from rubric_lint.assess.measure.decision import USUAL  # noqa: PLC0415
    from rubric_lint.report.trust import format_lack  # noqa: PLC0415
    from rubric_lint.scoring.loading import LoadedRubric  # noqa: PLC0415

    pairs = zip(analysis.reviews, analysis.rubrics, strict=True)
    named = [LoadedRubric(review.rubric, located.rubric, located.document) for review, located in pairs]
    evidence = sort_findings(analysis.source, analysis.findings, named)
    for loaded, findings, review in zip(named, evidence, analysis.reviews, strict=True):
        assessed = assess(loaded, findings, review, USUAL)
        if not assessed.review.answers:
            continue
        for criterion in assessed.criteria:
            lack = f": {format_lack(criterion, assessed)}" if criterion.standing is Standing.INCONCLUSIVE else ""
            start = types.Position(criterion.line - 1, 0)
            title = f"{criterion.standing}{lack}".capitalize()
            yield types.CodeLens(types.Range(start, start), types.Command(title=title, command=""))


def _make(state: State, start: types.Position, title: str, command: str, name: str = "") -> types.CodeLens:
    place = types.Range(start, start)
    return types.CodeLens(place, types.Command(title=title, command=command, arguments=[state.uri, name]))


def find_test_files(path: str) -> list[TestFile]:
    """Return the test files in the folder of a file that test its rubrics, in the order of their names."""
    found = []
    try:
        others = sorted((other for other in Path(path).parent.iterdir() if is_test_file(other.name)), key=str)
        for other in others[:_MOST_FILES]:
            status = other.stat()
            file = _read_test_file(str(other), status.st_mtime_ns, status.st_size)
            if file and Path(file.rubric) == simplify(path):
                found.append(file)
    except OSError:
        return found
    return found


def find_outputs(path: str, files: list[TestFile]) -> list[str]:
    """Return the files with recorded outputs of the rubrics of a file: next to it, or named by its tests."""
    named = dict.fromkeys([find_recordings(path), *(file.outputs for file in files)])
    return list(filter(is_file, named))


def _read_source(path: str) -> Source:
    return Source.from_bytes(path, read_file(path, LIMIT))


@lru_cache(maxsize=_MOST_FILES)
def _read_test_file(path: str, _changed: int, _size: int) -> TestFile | None:
    """Read what a test file tests; None if it cannot be read."""
    try:
        documents, _ = read_documents(_read_source(path))
    except (OSError, UndecodableError):
        return None
    data: Any = documents[0].data if documents else None
    reference = read_reference(path, data)
    if reference is None or not isinstance(data.get("tests"), list):
        return None
    return TestFile(path, *reference, list_needed(path, documents[0])[-1], len(data["tests"]))


_LONGEST = 120.0  # seconds
_MOST = 4_000_000  # bytes to show
_START = "import sys; sys.argv[0] = 'rubric-{0}'; from rubric_lint.cli.start import {0}; {0}()"


class ProgramCall(NamedTuple):
    """A call of a program, `test`, `score` or `lint`, and what to call the report of what it prints.

    `folder` is where to run it, if not next to the file.
    """

    program: str
    arguments: tuple[str, ...]
    title: str
    folder: Path | None = None

    @property
    def line(self) -> str:
        """The call as it is written on the command line."""
        return shlex.join([f"rubric-{self.program}", *self.arguments])


def plan_call(command: str, path: str, name: str) -> ProgramCall | str:
    """Return the call for a command on a file and the rubric with this name, or why there is none."""
    folder, stem = Path(path).parent, stem_of(path)
    if command == RUN_TESTS:
        files = [file.path for file in find_test_files(path) if name in ("", file.name) or not file.name]
        if is_test_file(path):
            files = [path]
        if not files:
            reference = f"{path}#{name}" if name else path
            init = suggest("test init", reference)
            return f"no file in {folder} tests this rubric; `{init}` writes one"
        return ProgramCall("test", tuple(_shorten(files, folder)), f"{stem} tests")
    if command == SCORE_OUTPUTS:
        outputs = find_outputs(path, find_test_files(path))
        if not outputs:
            return f"{folder} has no recorded outputs of this rubric"
        return ProgramCall("score", ("--format", "table", *_shorten([path, *outputs], folder)), f"{stem} scores")
    if command == ADOPT:  # new settings are for the whole repository
        root = find_root(folder)
        return ProgramCall("lint", ("adopt", *_shorten([path], root)), f"{stem} format", root)
    arguments = ["prompt", *_shorten([path], folder)]
    if name:
        arguments.append(f"--rubric={name}")
    return ProgramCall("score", (*arguments, "--answer", "(the answer)"), f"{stem} prompt")


def _shorten(paths: Sequence[str], folder: Path) -> list[str]:
    """Return paths as the command line would name them in a folder, never like an option."""
    names = [str(relate(path, folder)) for path in paths]
    return [f".{os.sep}{name}" if name.startswith("-") else name for name in names]


class Commands:
    """Runs commands in processes of their own, and shows each report as a document of the editor."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._connection = documents.connection
        self._documents = documents
        self._reports: TemporaryDirectory[str] | None = None
        self._running: set[asyncio.subprocess.Process] = set()
        self._is_over = False

    async def run(self, command: str, arguments: Sequence[Any]) -> str | None:
        """Run a command on the URI of an open file and the name of a rubric; return the report, which is shown too."""
        uri, name = [*map(str, arguments), "", ""][:2]
        state = await self._documents.state(uri)
        if state is None or not is_file(state.name):
            self._connection.show_message("this command needs a file on disk that is open in the editor")
            return None
        if not CAN_RUN:
            self._connection.show_message("this command runs a program, which needs an installed rubric-lint")
            return None
        call = plan_call(command, state.name, name)
        if isinstance(call, str):
            self._connection.show_message(call)
            return None
        folder = self._documents.workspace.folder_of(state.path)
        settings = folder.options.configuration
        if settings:
            call = call._replace(arguments=(*call.arguments, "--config", expand(settings, folder.path)))
        printed = await self._call(call, call.folder or Path(state.name).parent)
        if self._is_over:
            return None
        try:
            saved = (await self._documents.run(_read_source, state.name)).text
        except (OSError, UndecodableError):
            is_saved = False
        else:  # apart from line ends, which editors make alike
            is_saved = state.text.body.splitlines() == saved.splitlines()
        file = Path(state.name).name
        note = "" if is_saved else f"{file} has changes that are not saved; this is about the file on disk.\n\n"
        report = f"$ {call.line}\n\n{note}{printed}"
        await self._show(call.title, report)
        return report

    def end(self) -> None:
        """End what runs, and remove the reports."""
        self._is_over = True
        for process in self._running:
            with suppress(ProcessLookupError):  # it has just ended
                process.kill()
        if self._reports:
            self._reports.cleanup()

    async def _call(self, call: ProgramCall, folder: Path) -> str:
        """Return the output of a call, and how the call ended if something else ended it."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-c",
            _START.format(call.program),
            *call.arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": "120"},
        )
        self._running.add(process)
        printed, end = b"", ""
        try:
            async with asyncio.timeout(_LONGEST):
                while process.stdout and len(printed) <= _MOST and (chunk := await process.stdout.read(1 << 16)):
                    printed += chunk
                if len(printed) <= _MOST:
                    await process.wait()
        except TimeoutError:
            printed, end = b"", f"stopped after {_LONGEST:.0f} seconds; run it in a terminal instead\n"
        finally:
            self._running.discard(process)
            if process.returncode is None:
                process.kill()
            await process.wait()
        if len(printed) > _MOST:
            printed, end = printed[:_MOST], "\n...\nthe rest is left out; run it in a terminal instead\n"
        return printed.decode("utf-8", "replace") + end

    async def _show(self, title: str, report: str) -> None:
        """Open a report in the editor, or write it to the log of an editor that cannot open it."""
        if not self._connection.can("window.show_document.support"):
            self._connection.log(report, types.MessageType.Info)
            self._connection.show_message("the report is in the log of the language server")
            return
        if self._reports is None:
            self._reports = TemporaryDirectory(prefix="rubric-lint-")
        path = Path(self._reports.name, f"{title}.txt")
        path.write_text(report, "utf-8", newline="\n")
        params = types.ShowDocumentParams(uri_of(path), take_focus=True)
        await self._connection.ask(types.WINDOW_SHOW_DOCUMENT, params)
