"""Run `rubric-score`: score every entry of every stream in order, keeping only counts."""

import signal
import threading
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring as quote
from types import FrameType
from typing import Any, NamedTuple, Protocol, Self

from rubric_lint.outputs.agentv_runs import Compared, compare_there, word_compared
from rubric_lint.outputs.blocks import CHUNK, Block
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.mapping import Wanted
from rubric_lint.outputs.streams import Asked, read_stream
from rubric_lint.outputs.verdict import DEFAULT_READING, Reading
from rubric_lint.run.console import Progress
from rubric_lint.scoring.flat import list_fields
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.results import ResultScorer
from rubric_lint.scoring.scorer import OtherVersionError, Outcome, Run, Scorer, make_key
from rubric_lint.scoring.totals import Totals

_BUCKETS = 256
_LAST = _BUCKETS - 1


class RecordPlace(NamedTuple):
    """The start of a record: the number of its file and its 1-based line."""

    file: int
    line: int


class Ids:
    """A set of 64-bit hashes of ids, with their buckets in order; it stores places only where lines are skipped.

    A dictionary would need ten times the memory, and there may be millions of records.
    """

    def __init__(self) -> None:
        self._hashes = [array("q") for _ in range(_BUCKETS)]
        self._order = array("B")
        self._jumps = array("Q")
        self._expected = (0, 0)

    def add(self, file: int, line: int, keys: Sequence[int]) -> None:
        """Add the keys of records on consecutive lines, the first of which is `line`."""
        if (file, line) != self._expected:
            self._jumps.extend((len(self._order), file, line))
        self._expected = (file, line + len(keys))
        hashes = self._hashes
        for key in keys:
            hashes[key & _LAST].append(key)
        self._order.extend([key & _LAST for key in keys])

    def repeated(self, most: int) -> tuple[int, list[tuple[RecordPlace, RecordPlace]]]:
        """Return how many records repeat an id, and the first few as pairs: the earlier place, then the repeat."""
        count = sum(len(hashes) - len(set(hashes)) for hashes in self._hashes)
        pairs = islice(self._find(), most) if count else ()
        return count, [(self._place(first), self._place(second)) for first, second in pairs]

    def _find(self) -> Iterator[tuple[int, int]]:
        """Yield the records that repeat an id, in order, as pairs of numbers: the first record with it, then this."""
        twice: set[int] = set()
        for hashes in self._hashes:
            twice.update(key for key, times in Counter(hashes).items() if times > 1)
        rest = [*map(iter, self._hashes)]
        firsts: dict[int, int] = {}
        for number, bucket in enumerate(self._order):
            key = next(rest[bucket])
            if key in twice and firsts.setdefault(key, number) != number:
                yield firsts[key], number

    def _place(self, number: int) -> RecordPlace:
        jumps = self._jumps
        at = 3 * bisect_right(range(len(jumps) // 3), number, key=lambda jump: jumps[3 * jump]) - 3
        start, file, line = jumps[at : at + 3]
        return RecordPlace(file, line + number - start)


_MOST_PLACES = 5
"""The most places that a warning lists."""


@dataclass(slots=True)
class Others:
    """How many entries of a file are by another version of a rubric, and the line of the first one."""

    first: int
    times: int = 0


def warn_of_other_rubric(count: int, first: str = "") -> str:
    """Return the warning that so many outputs were judged by a different rubric; `first` may say where one is."""
    outputs = "1 output was" if count == 1 else f"{count:,} outputs were"
    return f"warning: {outputs} judged by a rubric with a different meaning (`rubric_hash` differs){first}"


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
        self, found: Sequence[tuple[Any, Known]], line: int, file: str | None, texts: Sequence[bytes], about: Any = None
    ) -> None:
        """List the results that `count` counts, in order: ids (None without one) and results from this line on.

        `texts` are their entries; `about` is what a record says of its judge.
        """


Write = Callable[[list[str]], object]

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


class Scoring:
    """A run that scores streams of outputs, writes a line for each result, and counts; `line` is the last entry's line.

    `several`: errors name their file. `mapping` has for each field the column that it has in the streams, or in other
    files if it `is_shared`. With `merges`, the streams hold results, which are checked and taken over.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        write: Write,
        progress: Progress,
        observer: Observer | None = None,
        *,
        several: bool = False,
        reading: Reading = DEFAULT_READING,
        mapping: Mapping[str, str] | None = None,
        is_shared: bool = False,
        merges: bool = False,
    ) -> None:
        self._scorer = ResultScorer(rubrics) if merges else Scorer(rubrics, reading)
        self.totals = Totals(rubrics.values())
        self.line = 0
        self._write = write
        self._progress = progress
        self._observer = observer
        self._several = several
        self._mapping = mapping or {}
        self._merges = merges
        judgements = list_fields(rubrics.values())
        self._wanted = Wanted() if merges else Wanted(judgements=judgements, is_shared=is_shared)
        self._file: str | None = None
        self._entries = 0
        self._lines: list[str] = []
        self._ids = Ids()
        self._files: list[str] = []
        self._judged: dict[str, Others] = {}
        self._scored: dict[str, Others] = {}
        self._compared: list[Compared] = []
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
        asked = Asked(self._mapping, name, file, self._wanted, holds_results=self._merges, skipped=[])
        with Interruption() as interruption:
            try:
                for block in read_stream(self._chunks(stream, interruption), asked):
                    self._score_block(block, interruption)
            finally:
                self._flush()
                self._count()
                self._skipped += [each.word(name) for each in asked.skipped or ()]
        return self._entries - before

    def _chunks(self, stream: Any, interruption: Interruption) -> Iterator[bytes]:
        while True:
            # Before waiting for input, write all results so far.
            self._flush()
            with interruption.at_once():
                chunk = stream.read1(CHUNK)
            if not chunk:
                return
            self._progress.advance(len(chunk))
            yield chunk

    def _score_block(self, block: Block, interruption: Interruption) -> None:
        for entries in self._scorer.scan(block):
            if isinstance(entries, Run):
                self._take_run(entries)
            else:
                self._score(entries.text, entries.line)
            if interruption.asked:
                raise KeyboardInterrupt
        if len(self._lines) >= _MOST_PENDING:
            self._flush()

    def _take_run(self, run: Run) -> None:
        found, line = run.found, run.line
        rubric = found[0][1].rubric.name
        self.line = line + len(found) - 1
        if self._observer:
            self._observer.list(found, line, self._file, run.lines)
        self._ids.add(len(self._files) - 1, line, [hash((rubric, name)) for name, _ in found])  # as make_key
        self._lines += [f'{{"id": {quote(name)}, {known.text}}}' for name, known in found]
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
        self.line = line
        try:
            entry = self._scorer.score(text)
        except OutputError as fault:
            self._take(self._scorer.explain(text, fault, line, self._file), text)
            return
        for notes in entry.notes:
            self.totals.reading.note(notes)
        if entry.judged is None or entry.has_other_meaning:
            self._take(entry.tell(line, self._file), text)
            return
        self._remember(entry.key, entry.render())
        known = entry.judged.known
        known.count += 1
        if "agentv" in entry.value and entry.is_record:
            missed = [each.criterion.id for each in entry.result.criteria if not each.grade.gate_met]
            self._compared += compare_there(entry.value, float(entry.result.score), missed)
        if self._observer and isinstance(text, bytes):
            value = entry.value if entry.is_record else {}
            self._observer.list([(value.get("id"), known)], line, self._file, [text], value.get("judge"))
        if known.may_be_wanted and self._is_wanted(known) and self._observer:
            self._observer.keep(entry.tell(line, self._file))

    def _remember(self, key: int | None, result: str) -> None:
        if key is not None:
            self._ids.add(len(self._files) - 1, self.line, (key,))
        self._lines.append(result)

    def _take(self, outcome: Outcome, text: bytes | OutputError) -> None:
        named = outcome.name if "id" in outcome.head else None
        self._remember(None if named is None else make_key(named, outcome.head["id"]), outcome.render())
        if outcome.has_other_meaning:
            self._judged.setdefault(self._files[-1], Others(outcome.line)).times += 1
        if isinstance(outcome.error, OtherVersionError):
            self._scored.setdefault(self._files[-1], Others(outcome.line)).times += 1
        if outcome.result:
            self.totals.take(outcome.result)
        else:
            self.totals.invalid += 1
        if self._observer:
            self._observer.add(outcome, text if isinstance(text, bytes) else b"")

    def _flush(self) -> None:
        """Write the results so far, and forget the combinations of answers if there are many."""
        if self._scorer.is_full:
            self._count()
        lines, self._lines = self._lines, []
        self._progress.done += len(lines)
        self._entries += len(lines)
        if lines:
            self._write(lines)

    def _count(self) -> None:
        """Add what is counted by answers to the totals."""
        for known in self._scorer.reset_counts():
            self.totals.count(known, known.count)
            if self._observer:
                self._observer.count(known)

    @property
    def repeated(self) -> int:
        """The number of records with the id of an earlier one."""
        return self._ids.repeated(0)[0]

    @property
    def compared(self) -> tuple[str, ...]:
        """What AgentV made otherwise of the outputs of its runs."""
        return tuple(word_compared(self._compared))

    def warnings(self) -> Iterator[str]:
        """Yield warnings: repeated ids, outputs of a different rubric, and what AgentV takes otherwise."""
        repeated, pairs = self._ids.repeated(_MOST_PLACES)
        if repeated:
            listed = [f"{self._name(first)} and {self._name(second)}" for first, second in pairs]
            listed += [f"{repeated - len(pairs):,} more"] if repeated > len(pairs) else []
            again = "1 record has" if repeated == 1 else f"{repeated:,} records have"
            yield f"warning: {again} the id of an earlier one, and all are counted: {'; '.join(listed)}"
        if self._scored:
            count = sum(each.times for each in self._scored.values())
            told = "1 result was" if count == 1 else f"{count:,} results were"
            firsts = islice(self._scored.items(), _MOST_PLACES)
            listed = [f"{name} ({each.times:,}, the first in line {each.first:,})" for name, each in firsts]
            more = len(self._scored) - _MOST_PLACES
            listed += [f"{more:,} more files"] if more > 0 else []
            yield (
                f"warning: {told} scored by another version of the rubric (`rubric_hash` differs) and count as "
                f"invalid; score the outputs again: {'; '.join(listed)}"
            )
        if self._judged:
            file, first = next(iter(self._judged.items()))
            count = sum(each.times for each in self._judged.values())
            place = f"{file}:{first.first}" if self._several else f"line {first.first}"
            yield warn_of_other_rubric(count, f", the first at {place}")
        yield from (f"warning: {told}" for told in (*self.compared, *self._skipped))

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if self._several else f"line {place.line}"
