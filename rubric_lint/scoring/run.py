"""Run `rubric-score`: score every entry of every stream in order, keeping only counts."""

import select
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from rubric_lint.outputs.blocks import Block, Part
from rubric_lint.outputs.candidates import Extract
from rubric_lint.outputs.streams import CHUNK, Asked, read_parts
from rubric_lint.run.console import Progress
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.ids import Ids, RecordPlace
from rubric_lint.scoring.part_scorer import Observer, PartScorer, Results
from rubric_lint.scoring.run_warnings import Others, warn_of_other_rubric, warn_of_other_version, warn_of_repeated
from rubric_lint.scoring.totals import Totals

if TYPE_CHECKING:
    from rubric_lint.scoring.sharing import Crew

Write = Callable[[list[str]], object]

_MOST_PENDING = 1_000
"""The number of results from which they are written."""

_WORTH_PROCESSES = 4_000_000
"""The bytes after which a run takes more processes: smaller ones end before those would have begun."""

_TASK = 1_000_000
"""The bytes of a task for a process."""

_PATIENCE = 0.2
"""The seconds to wait for more input before all results so far are completed and written."""


class Interruption:
    """Holds Ctrl-C back until a result is complete; a second one, or one while waiting for input, acts at once.

    Outside the main thread, which alone gets signals, it does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self.waiting = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let Ctrl-C act at once while the block waits for input."""
        self.waiting = True
        try:
            if self.asked:  # pressed since the last result; otherwise it would have to wait for input
                raise KeyboardInterrupt
            yield
        finally:
            self.waiting = False

    def _take(self, _signal: int, _frame: FrameType | None) -> None:
        if self.asked or self.waiting:
            raise KeyboardInterrupt
        self.asked = True


class Scoring:
    """A run that scores streams of outputs, writes a line for each result, and counts; `line` is the last entry's line.

    `several`: errors name their file. `mapping` has for each field the column that it has in the streams. With several
    `jobs`, as many processes score long streams, unless there is an observer; the results are the same. Use it as a
    context manager then. With `merges`, the streams hold results, which are checked and taken over.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        write: Write,
        progress: Progress,
        observer: Observer | None = None,
        *,
        several: bool = False,
        extract: Extract = Extract.LAST,
        mapping: Mapping[str, str] | None = None,
        jobs: int = 1,
        merges: bool = False,
    ) -> None:
        self.totals = Totals(rubrics.values())
        self.line = 0
        self._write = write
        self._progress = progress
        self._several = several
        self._mapping = mapping or {}
        self._setting = rubrics, extract, merges
        self._merges = merges
        self._scorer = PartScorer(rubrics, self.totals, extract, observer, merges=merges)
        self._jobs = 1 if observer else jobs
        self._crew: Crew | None = None
        self._gathered: list[Part] = []
        self._size = self._alone = 0
        self._entries = 0
        self._ids = Ids()
        self._files: list[str] = []
        self._judged: dict[int, Others] = {}
        self._scored: dict[int, Others] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._crew:
            self._crew.close()

    def run(self, name: str, stream: Any) -> int:
        """Score one buffered binary stream and return its number of entries.

        Raises:
            KeyboardInterrupt: on Ctrl-C, after everything so far is written and counted.
            InputError: if the stream lacks the columns that are asked for, or a library to read it is not installed.
        """
        before = self._entries
        self.line = 0
        self._files.append(name)
        self._scorer.file = name if self._several else None
        file = stream if stream.seekable() else None
        asked = Asked(self._mapping, name, file, needs_output=not self._merges, holds_results=self._merges)
        with Interruption() as interruption:
            try:
                for part in read_parts(self._chunks(stream, interruption), asked):
                    self._take_part(part, interruption)
                self._complete(interruption)
            finally:
                self._flush()
                self._scorer.count()
                self._gathered = []
        return self._entries - before

    def _take_part(self, part: Part, interruption: "Interruption") -> None:
        """Score a part here, or gather it for another process."""
        size = len(part.text) if isinstance(part, Block) and isinstance(part.text, bytes) else CHUNK
        if self._jobs > 1 and self._alone >= _WORTH_PROCESSES:
            self._gathered.append(part)
            self._size += size
            if self._size >= _TASK:
                self._give(interruption)
            return
        self._alone += size
        if not self._scorer.score(part, lambda: interruption.asked):
            raise KeyboardInterrupt
        if len(self._scorer.pending) >= _MOST_PENDING:
            self._flush()

    def _give(self, interruption: "Interruption") -> None:
        """Give what is gathered to the other processes, which start with the first task; take what they have done."""
        from rubric_lint.scoring.sharing import Crew, Task  # noqa: PLC0415  (few runs need it)

        self._flush()
        if self._crew is None:
            rubrics, extract, merges = self._setting
            self._crew = Crew(rubrics, extract, self._jobs, merges=merges)
        gathered, self._gathered, self._size = self._gathered, [], 0
        self._collect(self._crew.give(Task(gathered, self._scorer.file)), interruption)

    def _complete(self, interruption: "Interruption") -> None:
        """Wait for the results of everything so far."""
        if self._gathered:
            self._give(interruption)
        if self._crew:
            self._collect(self._crew.drain(), interruption)

    def _collect(self, counted: Iterator[tuple[Results, Totals]], interruption: "Interruption") -> None:
        for results, totals in counted:
            self._take_results(results)
            self.totals.add(totals)
            if interruption.asked:
                raise KeyboardInterrupt

    def _chunks(self, stream: Any, interruption: "Interruption") -> Iterator[bytes]:
        while True:
            # Before waiting for input, write all results so far.
            self._flush()
            if (self._crew or self._gathered) and not _has_input(stream):
                self._complete(interruption)
            with interruption.at_once():
                chunk = stream.read1(CHUNK)
            if not chunk:
                return
            self._progress.advance(len(chunk))
            yield chunk

    @property
    def repeated(self) -> int:
        """The number of records with the id of an earlier one."""
        return self._ids.repeated(0)[0]

    def warnings(self) -> Iterator[str]:
        """Yield warnings about the run: repeated ids, and outputs judged by a different rubric."""
        yield from warn_of_repeated(self._ids, self._name)
        if self._scored:
            yield warn_of_other_version({self._files[file]: each for file, each in self._scored.items()})
        if self._judged:
            file, first = next(iter(self._judged.items()))
            count = sum(each.times for each in self._judged.values())
            yield warn_of_other_rubric(count, self._name(RecordPlace(file, first.first)))

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if self._several else f"line {place.line}"

    def _flush(self) -> None:
        self._take_results(self._scorer.take())

    def _take_results(self, results: Results) -> None:
        """Write results, and remember the ids."""
        file = len(self._files) - 1
        for line, keys in results.keys:
            self._ids.add(file, line, keys)
        self.line = results.line or self.line
        for counted, more in ((self._judged, results.judged), (self._scored, results.scored)):
            if more.times:
                counted[file] = counted.get(file, Others()).add(more)
        self._progress.done += len(results.lines)
        self._entries += len(results.lines)
        if results.lines:
            self._write(results.lines)


def _has_input(stream: Any) -> bool:
    """Return whether a read would return soon; always for a file, and never for a pipe where that cannot be asked."""
    if stream.seekable():
        return True
    try:
        return bool(select.select([stream], [], [], _PATIENCE)[0])
    except (OSError, ValueError):
        return False
