"""Run `rubric-score`: score every entry of every stream in order, keeping only counts."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from json.encoder import encode_basestring as quote
from types import FrameType
from typing import Any, Protocol, Self

from rubric_lint.run.progress import Progress
from rubric_lint.scoring.candidates import Extract
from rubric_lint.scoring.extract import OutputError
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.ids import Ids, RecordPlace, make_key
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.records import Outcome
from rubric_lint.scoring.scorer import Run, Scorer
from rubric_lint.scoring.streams import CHUNK, Asked, read_parts
from rubric_lint.scoring.totals import Totals

Write = Callable[[list[str]], object]


class Observer(Protocol):
    """An observer of all results: most arrive as counts, and in full only those that it wants."""

    def add(self, outcome: Outcome, text: bytes) -> None:
        """Add the full outcome of one entry, whose text is `text`."""

    def wants(self, known: Known) -> bool:
        """Return whether to `keep` a full outcome with this result; after one no, it is always no."""

    def keep(self, outcome: Outcome) -> None:
        """Keep a full outcome; `count` counts it separately."""

    def count(self, known: Known) -> None:
        """Count the results with these answers."""

    def list(
        self, found: Sequence[tuple[Any, Known]], line: int, file: str | None, text: bytes, about: Any = None
    ) -> None:
        """List the results that `count` counts, in order: ids (None without one) and results from this line on.

        `text` has their entries, one on each line if there are several; `about` is what a record says of its judge.
        """


_MOST_PENDING = 1_000
"""The number of results from which they are written."""

_MOST_PLACES = 5
"""The most places that a warning lists."""


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

    `several`: errors name their file. `mapping` has for each field the column that it has in the streams.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        write: Write,
        progress: Progress,
        observer: Observer | None = None,
        *,
        several: bool = False,
        extract: Extract = Extract.STANDARD,
        mapping: Mapping[str, str] | None = None,
    ) -> None:
        self.totals = Totals(rubrics.values())
        self.line = 0
        self._write = write
        self._progress = progress
        self._observer = observer
        self._several = several
        self._mapping = mapping or {}
        self._scorer = Scorer(rubrics, extract)
        self._pending: list[str] = []
        self._entries = 0
        self._ids = Ids()
        self._files: list[str] = []
        self._judged_otherwise = 0
        self._first_otherwise: RecordPlace | None = None

    def run(self, name: str, stream: Any) -> int:
        """Score one buffered binary stream and return its number of entries.

        Raises:
            KeyboardInterrupt: on Ctrl-C, after everything so far is written and counted.
            InputError: if the stream lacks the columns that are asked for, or a library to read it is not installed.
        """
        before = self._entries
        self.line = 0
        self._files.append(name)
        asked = Asked(self._mapping, name, stream if stream.seekable() else None, needs_output=True)
        with Interruption() as interruption:
            try:
                for part in read_parts(self._chunks(stream, interruption), asked):
                    for entries in chain.from_iterable(map(self._scorer.scan, part.blocks())):
                        if isinstance(entries, Run):
                            self._take_run(entries)
                        else:
                            self._score(entries.text, entries.line)
                        if interruption.asked:
                            raise KeyboardInterrupt
                    if len(self._pending) >= _MOST_PENDING:
                        self._flush()
            finally:
                self._flush()
                self._count()
        return self._entries - before

    def _chunks(self, stream: Any, interruption: Interruption) -> Iterator[bytes]:
        while True:
            self._flush()  # before waiting for input, write all results so far
            with interruption.at_once():
                chunk = stream.read1(CHUNK)
            if not chunk:
                return
            self._progress.advance(len(chunk))
            yield chunk

    def _take_run(self, run: Run) -> None:
        """Count a run of records that a glance scored."""
        found, line = run.found, run.line
        rubric = found[0][1].rubric.name
        self.line = line + len(found) - 1
        if self._observer:
            self._observer.list(found, line, self._file, b"\n".join(run.lines))
        self._ids.add(len(self._files) - 1, line, [hash((rubric, name)) for name, _ in found])  # as make_key
        self._pending += [f'{{"id": {quote(name)}, {known.text}}}' for name, known in found]
        for _, known in found:
            known.count += 1
        if self._observer:
            for place, (_, known) in enumerate(found):
                if known.may_be_wanted and self._is_wanted(known):
                    self._observer.keep(self._scorer.tell(run.lines[place], line + place, self._file))

    def _is_wanted(self, known: Known) -> bool:
        known.may_be_wanted = self._observer is not None and self._observer.wants(known)
        return known.may_be_wanted

    def _score(self, text: bytes | OutputError, line: int) -> None:
        """Score and count an entry."""
        self.line = line
        try:
            entry = self._scorer.score(text)
        except OutputError as fault:
            self._take(self._scorer.explain(text, fault, line, self._file), text)
            return
        if entry.judged is None or entry.has_other_meaning:
            self._take(entry.tell(line, self._file), text)
            return
        self._remember(entry.key, entry.render())
        known = entry.judged.known
        known.count += 1
        if self._observer and isinstance(text, bytes):
            value = entry.value if entry.is_record else {}
            self._observer.list([(value.get("id"), known)], line, self._file, text, value.get("judge"))
        if known.may_be_wanted and self._is_wanted(known) and self._observer:
            self._observer.keep(entry.tell(line, self._file))

    def _remember(self, key: int | None, result: str) -> None:
        if key is not None:
            self._ids.add(len(self._files) - 1, self.line, [key])
        self._pending.append(result)

    def _take(self, outcome: Outcome, text: bytes | OutputError) -> None:
        """Count an outcome."""
        named = outcome.name if "id" in outcome.head else None
        self._remember(None if named is None else make_key(named, outcome.head["id"]), outcome.render())
        if outcome.has_other_meaning:
            self._first_otherwise = self._first_otherwise or RecordPlace(len(self._files) - 1, outcome.line)
            self._judged_otherwise += 1
        if outcome.result:
            self.totals.take(outcome.result)
        else:
            self.totals.invalid += 1
        if self._observer:
            self._observer.add(outcome, text if isinstance(text, bytes) else b"")

    @property
    def repeated(self) -> int:
        """The number of records with the id of an earlier one."""
        return self._ids.repeated(0)[0]

    def warnings(self) -> Iterator[str]:
        """Yield warnings about the run: repeated ids, and outputs judged by a different rubric."""
        repeated, firsts = self._ids.repeated(_MOST_PLACES)
        if repeated:
            listed = [f"{self._name(first)} and {self._name(second)}" for first, second in firsts]
            listed += [f"{repeated - len(firsts):,} more"] if repeated > len(firsts) else []
            again = "1 record has" if repeated == 1 else f"{repeated:,} records have"
            yield f"warning: {again} the id of an earlier one, and all are counted: {'; '.join(listed)}"
        if place := self._first_otherwise:
            count = self._judged_otherwise
            told = "1 output was" if count == 1 else f"{count:,} outputs were"
            yield (
                f"warning: {told} judged by a rubric with a different meaning (`rubric_hash` differs), the "
                f"first at {self._name(place)}"
            )

    @property
    def _file(self) -> str | None:
        return self._files[-1] if self._several else None

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if self._several else f"line {place.line}"

    def _flush(self) -> None:
        if self._scorer.is_full:
            self._count()
        lines, self._pending = self._pending, []
        self._progress.done += len(lines)
        self._entries += len(lines)
        if lines:
            self._write(lines)

    def _count(self) -> None:
        for known in self._scorer.take_counts():
            self.totals.count(known, known.count)
            if self._observer:
                self._observer.count(known)
