"""Run `rubric-score`: score every entry of every stream in order, keeping only counts."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any, Self

from rubric_lint.lint.run.console import Progress
from rubric_lint.model.messages import Causes, counted
from rubric_lint.scoring.flat import require_judgements
from rubric_lint.scoring.grading import ScoringRubric, is_unscored
from rubric_lint.scoring.ids import make_id_key
from rubric_lint.scoring.output import MOST_GRADED, RecordResult
from rubric_lint.scoring.records.agentv_runs import AgentVDifferences
from rubric_lint.scoring.records.decoding import Content
from rubric_lint.scoring.records.entries import CHUNK, SkippedSheet
from rubric_lint.scoring.records.mapping import RequiredColumns
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ParseOptions
from rubric_lint.scoring.records.streams import StreamOptions, read_stream
from rubric_lint.scoring.results import ResultScorer
from rubric_lint.scoring.scorer import OtherVersionError, Scorer
from rubric_lint.scoring.totals import Totals

RecordPlace = tuple[int, int]
"""The start of a record: the number of its file and its 1-based line."""

_MOST_LINES = 1 << 40
"""More lines than a file has, so that the numbers of a file and of a line are one number."""


class RecordIds:
    """The ids of the records so far, and the first pairs of places of records that share one.

    An id is kept as a hash, and its place as one number: there may be millions.
    """

    def __init__(self) -> None:
        self.repeated = 0
        self.pairs: list[tuple[RecordPlace, RecordPlace]] = []
        self._places: dict[int, int] = {}

    def add(self, key: int, file: int, line: int) -> None:
        """Add the key of the record at a place."""
        place = file * _MOST_LINES + line
        first = self._places.setdefault(key, place)
        if first != place:
            self.repeated += 1
            if len(self.pairs) < _MOST_PLACES:
                self.pairs.append((divmod(first, _MOST_LINES), (file, line)))


_MOST_PLACES = 5
"""The most places that a warning lists."""


@dataclass(slots=True)
class OtherVersions:
    """How many entries of a file are by another version of a rubric, and the line of the first one."""

    first: int
    times: int = 0


def warn_of_other_rubric(count: int, first: str = "") -> str:
    """Return the warning that so many outputs were judged by a different rubric; `first` may say where one is."""
    outputs = counted(count, "output was", "outputs were")
    return f"warning: {outputs} judged by a rubric with a different meaning (`rubric_hash` differs){first}"


Observe = Callable[[RecordResult, Content], object]
"""Gets the result of each entry, and what the entry holds."""

Write = Callable[[list[RecordResult]], object]

_MOST_PENDING = 1_000
"""The number of results from which they are written."""


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


class ScoringRun:
    """A run that scores streams of outputs, writes a line for each result, and counts; `line` is the last entry's line.

    `causes` says why outputs are invalid.
    `several`: errors name their file. `mapping` has for each field the column that it has in the streams, or in other
    files if it `is_shared`. With `merges`, the streams hold results, which are checked and taken over.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        write: Write,
        progress: Progress,
        observe: Observe | None = None,
        *,
        several: bool = False,
        reading: ParseOptions = DEFAULT_OPTIONS,
        mapping: Mapping[str, str] | None = None,
        is_shared: bool = False,
        merges: bool = False,
    ) -> None:
        self._scorer = ResultScorer(rubrics) if merges else Scorer(rubrics, reading)
        self.totals = Totals(rubrics.values())
        self.causes = Causes()
        self.line = 0
        self._write = write
        self._progress = progress
        self._observe = observe
        self._several = several
        self._mapping = mapping or {}
        self._merges = merges
        self._required = RequiredColumns()
        if not merges:
            self._required = require_judgements(rubrics.values(), is_shared=is_shared)
        self._file: str | None = None
        self._entries = 0
        self._results: list[RecordResult] = []
        self._counts: dict[int, list[Any]] = {}  # each result, and how often it occurred: few are different objects
        self._ids = RecordIds()
        self._files: list[str] = []
        self._judged: dict[str, OtherVersions] = {}
        self._scored: dict[str, OtherVersions] = {}
        self._compared = AgentVDifferences()
        self._skipped: list[str] = []

    def run(self, name: str, stream: Any) -> int:
        """Score one buffered binary stream and return its number of entries.

        Raises:
            KeyboardInterrupt: on Ctrl-C, after everything so far is written and counted.
            InputError: if the stream lacks the columns that are asked for, or a library to read it is not installed.
        """
        before = self._entries
        self.line = 0
        self._files.append(name)
        self._file = name if self._several else None
        file = stream if stream.seekable() else None
        skipped: list[SkippedSheet] = []
        options = StreamOptions(self._mapping, name, file, self._required, self._merges, skipped)
        with Interruption() as interruption:
            try:
                for line, content in read_stream(self._chunks(stream, interruption), options):
                    self.line = line
                    self._take(self._scorer.score(content, line, self._file), content)
                    if interruption.asked:
                        raise KeyboardInterrupt
                    if len(self._results) >= _MOST_PENDING:
                        self._flush()
            finally:
                self._flush()
                self._count()
                self._skipped += [sheet.format_warning(name) for sheet in skipped]
        return self._entries - before

    def _chunks(self, stream: Any, interruption: Interruption) -> Iterator[bytes]:
        while True:
            # Before waiting for input, write all results so far.
            self._flush()
            with interruption.at_once():
                # `read` would wait for a whole chunk, while a judge writes into the pipe line by line.
                chunk = stream.read1(CHUNK)
            if not chunk:
                return
            self._progress.advance(len(chunk))
            yield chunk

    def _take(self, result: RecordResult, content: Content) -> None:
        record, rubric, scored = result.record, result.rubric, result.scored
        if rubric is not None and "id" in record:
            name = record["id"]
            key = name if type(name) is str else make_id_key(name)  # most are texts, which takes no call
            self._ids.add(hash((rubric, key)), len(self._files) - 1, result.line)
        self._results.append(result)
        if scored is None:
            message = result.error.message if result.error else ""
            if is_unscored(message):
                self.totals.unscored += 1
            else:
                self.totals.invalid += 1
                self.causes.add(message)
            if isinstance(result.error, OtherVersionError):
                self._scored.setdefault(self._files[-1], OtherVersions(result.line)).times += 1
        else:
            count = self._counts.get(id(scored))
            if count:
                count[1] += 1
            else:
                self._counts[id(scored)] = [scored, 1]
            if "agentv" in record:
                self._compared.add(record, float(scored.score), scored.gates_missed)
        for notes in result.notes:
            self.totals.reading.note(notes)
        if len(record) > 1 and ("judge" in record or "rubric_hash" in record) and result.has_other_meaning:
            self._judged.setdefault(self._files[-1], OtherVersions(result.line)).times += 1
        if self._observe is not None:
            self._observe(result, content)

    def _flush(self) -> None:
        """Write the results so far, and forget the combinations of answers if there are many."""
        self._scorer.forget()
        if len(self._counts) > MOST_GRADED:
            self._count()
        results, self._results = self._results, []
        self._progress.done += len(results)
        self._entries += len(results)
        if results:
            self._write(results)

    def _count(self) -> None:
        """Add what was counted since the last call to the totals."""
        for scored, times in self._counts.values():
            self.totals.take(scored, times)
        self._counts.clear()

    @property
    def repeated(self) -> int:
        """The number of records with the id of an earlier one."""
        return self._ids.repeated

    @property
    def compared(self) -> tuple[str, ...]:
        """The differences to what AgentV made of the outputs of its runs, in words."""
        return tuple(self._compared.format_lines())

    def warnings(self) -> Iterator[str]:
        """Yield warnings: repeated ids, outputs of a different rubric, and what AgentV takes otherwise."""
        repeated, pairs = self._ids.repeated, self._ids.pairs
        if repeated:
            listed = [f"{self._name(first)} and {self._name(second)}" for first, second in pairs]
            if repeated > len(pairs):
                listed.append(f"{repeated - len(pairs):,} more")
            again = counted(repeated, "record has", "records have")
            yield f"warning: {again} the id of an earlier one, and all are counted: {'; '.join(listed)}"
        if self._scored:
            count = sum(others.times for others in self._scored.values())
            results = counted(count, "result was", "results were")
            firsts = islice(self._scored.items(), _MOST_PLACES)
            listed = [f"{name} ({others.times:,}, the first in line {others.first:,})" for name, others in firsts]
            more = len(self._scored) - _MOST_PLACES
            if more > 0:
                listed.append(f"{more:,} more files")
            yield (
                f"warning: {results} scored by another version of the rubric (`rubric_hash` differs) and count as "
                f"invalid; score the outputs again: {'; '.join(listed)}"
            )
        if self._judged:
            file, first = next(iter(self._judged.items()))
            count = sum(others.times for others in self._judged.values())
            place = f"{file}:{first.first}" if self._several else f"line {first.first}"
            yield warn_of_other_rubric(count, f", the first at {place}")
        for message in [*self.compared, *self._skipped]:
            yield f"warning: {message}"

    def _name(self, place: RecordPlace) -> str:
        file, line = place
        return f"{self._files[file]}:{line}" if self._several else f"line {line}"
