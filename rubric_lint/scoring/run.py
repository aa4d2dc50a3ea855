"""Run `rubric-score`: score every entry of every stream in order, keeping only counts."""

import select
import signal
import sys
import threading
from array import array
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from json.encoder import encode_basestring as quote
from queue import SimpleQueue
from threading import Thread
from types import FrameType
from typing import Any, NamedTuple, Protocol, Self

from rubric_lint.outputs.agentv_runs import Compared, compare_there, word_compared
from rubric_lint.outputs.blocks import CHUNK, Block, Part
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.outputs.mapping import Wanted
from rubric_lint.outputs.streams import Asked, read_parts
from rubric_lint.outputs.verdict import DEFAULT_READING, Reading
from rubric_lint.project.writing import STOPS, holding
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


class Others(NamedTuple):
    """How many entries of a file are by another version of a rubric, and the line of the first one; 0 without any."""

    times: int = 0
    first: int = 0

    def add(self, later: "Others") -> Self:
        """Add what a later part of the file has."""
        return self._replace(times=self.times + later.times, first=self.first or later.first)


_NONE = Others()


def warn_of_repeated(ids: Ids, name: Callable[[RecordPlace], str]) -> Iterator[str]:
    """Yield a warning if ids are repeated; `name` names a place."""
    repeated, firsts = ids.repeated(_MOST_PLACES)
    if repeated:
        listed = [f"{name(first)} and {name(second)}" for first, second in firsts]
        listed += [f"{repeated - len(firsts):,} more"] if repeated > len(firsts) else []
        again = "1 record has" if repeated == 1 else f"{repeated:,} records have"
        yield f"warning: {again} the id of an earlier one, and all are counted: {'; '.join(listed)}"


def warn_of_other_rubric(count: int, place: str) -> str:
    """Return the warning that so many outputs, the first one at `place`, were judged by a different rubric."""
    told = "1 output was" if count == 1 else f"{count:,} outputs were"
    return f"warning: {told} judged by a rubric with a different meaning (`rubric_hash` differs), the first at {place}"


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


@dataclass(slots=True)
class Results:
    """The results of some entries of one file, in order.

    `keys` has the keys of ids on consecutive lines, each list with its first line. `line` is the last entry's line, 0
    without one. `judged` counts the outputs whose judge used a rubric with another meaning, `scored` the results by
    another version of the rubric. `compared` says how AgentV took outputs of its runs otherwise.
    """

    lines: list[str] = field(default_factory=list)
    keys: list[tuple[int, Sequence[int]]] = field(default_factory=list)
    line: int = 0
    judged: Others = _NONE
    scored: Others = _NONE
    compared: list[Compared] = field(default_factory=list)


class PartScorer:
    """A scorer of parts, which counts in `totals`; `file` is the file that errors name, `found` what is not taken.

    With `merges`, the entries are results, which it checks and takes over.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        reading: Reading,
        observer: Observer | None = None,
        *,
        merges: bool = False,
    ) -> None:
        self.file: str | None = None
        self.found = Results()
        self.totals = Totals(rubrics.values())
        self._rubrics = rubrics
        self._scorer = ResultScorer(rubrics) if merges else Scorer(rubrics, reading)
        self._observer = observer

    def score_task(self, task: "Task") -> "Counted":
        """Score a task of another process; return its results and totals."""
        self.totals = Totals(self._rubrics.values())
        self.file = task.file
        for part in task.parts:
            self.score(part)
        found = self.take()
        self.count()
        return found, self.totals

    def score(self, part: Part, is_stopped: Callable[[], bool] = lambda: False) -> bool:
        """Score a part; return False if it was stopped after an entry."""
        for entries in chain.from_iterable(map(self._scorer.scan, part.blocks())):
            if isinstance(entries, Run):
                self._take_run(entries)
            else:
                self._score(entries.text, entries.line)
            if is_stopped():
                return False
        return True

    def take(self) -> Results:
        """Return the results since the last call."""
        if self._scorer.is_full:
            self.count()
        taken, self.found = self.found, Results()
        return taken

    def count(self) -> None:
        """Add what is counted by answers to the totals."""
        for known in self._scorer.reset_counts():
            self.totals.count(known, known.count)
            if self._observer:
                self._observer.count(known)

    def _take_run(self, run: Run) -> None:
        found, line = run.found, run.line
        rubric = found[0][1].rubric.name
        self.found.line = line + len(found) - 1
        if self._observer:
            self._observer.list(found, line, self.file, run.lines)
        self.found.keys.append((line, array("q", [hash((rubric, name)) for name, _ in found])))  # as make_key
        self.found.lines += [f'{{"id": {quote(name)}, {known.text}}}' for name, known in found]
        for _, known in found:
            known.count += 1
        if self._observer:
            for place, (_, known) in enumerate(found):
                if known.may_be_wanted and self._is_wanted(known):
                    self._observer.keep(self._scorer.tell(run.lines[place], line + place, self.file))

    def _is_wanted(self, known: Known) -> bool:
        known.may_be_wanted = self._observer is not None and self._observer.wants(known)
        return known.may_be_wanted

    def _score(self, text: bytes | OutputError, line: int) -> None:
        self.found.line = line
        try:
            entry = self._scorer.score(text)
        except OutputError as fault:
            self._take(self._scorer.explain(text, fault, line, self.file), text)
            return
        for notes in entry.notes:
            self.totals.reading.note(notes)
        if entry.judged is None or entry.has_other_meaning:
            self._take(entry.tell(line, self.file), text)
            return
        self._remember(entry.key, entry.render())
        known = entry.judged.known
        known.count += 1
        if "agentv" in entry.value and entry.is_record:
            missed = [each.criterion.id for each in entry.result.criteria if not each.grade.gate_met]
            self.found.compared += compare_there(entry.value, float(entry.result.score), missed)
        if self._observer and isinstance(text, bytes):
            value = entry.value if entry.is_record else {}
            self._observer.list([(value.get("id"), known)], line, self.file, [text], value.get("judge"))
        if known.may_be_wanted and self._is_wanted(known) and self._observer:
            self._observer.keep(entry.tell(line, self.file))

    def _remember(self, key: int | None, result: str) -> None:
        if key is not None:
            self.found.keys.append((self.found.line, (key,)))
        self.found.lines.append(result)

    def _take(self, outcome: Outcome, text: bytes | OutputError) -> None:
        named = outcome.name if "id" in outcome.head else None
        self._remember(None if named is None else make_key(named, outcome.head["id"]), outcome.render())
        if outcome.has_other_meaning:
            self.found.judged = self.found.judged.add(Others(1, outcome.line))
        if isinstance(outcome.error, OtherVersionError):
            self.found.scored = self.found.scored.add(Others(1, outcome.line))
        if outcome.result:
            self.totals.take(outcome.result)
        else:
            self.totals.invalid += 1
        if self._observer:
            self._observer.add(outcome, text if isinstance(text, bytes) else b"")


_CAN_FORK = sys.platform == "linux"
_AHEAD = 2
"""The tasks that a worker has at once: the next one waits for it while it scores."""

Counted = tuple[Results, Totals]
"""The results of a task, and their totals."""


class Task(NamedTuple):
    """Some parts of one input, and the file that their errors name."""

    parts: Sequence[Part]
    file: str | None


class _Worker(NamedTuple):
    """A process, the ends of the pipes to it and from it, and its tasks, of which the first one comes next."""

    process: Any
    tasks: Any
    results: Any
    given: deque[int]


class WorkerPool:
    """Processes that score tasks, each with a scorer that `open_scorer` returns; use it as a context manager.

    If a process dies or cannot start, this one scores its tasks: no task is lost.
    """

    def __init__(self, open_scorer: Callable[[], PartScorer], jobs: int) -> None:
        self._open_scorer = open_scorer
        self._scorer = open_scorer()
        self._workers: list[_Worker] = []
        self._tasks: dict[int, Task] = {}
        self._done: dict[int, Counted] = {}
        self._next = self._last = 0
        self._most = jobs * _AHEAD
        try:
            self._start(jobs)
        except BaseException:
            self.close()
            raise

    def _start(self, jobs: int) -> None:
        import multiprocessing  # noqa: PLC0415  (small runs do without)

        context: Any = multiprocessing.get_context("fork" if _CAN_FORK else "spawn")
        # If the system has no more processes or pipes, those that there are, or this one, do the work. An interrupt is
        # held back meanwhile: a forked process inherits that until it ignores interrupts.
        with suppress(OSError), holding(*STOPS):
            for _ in range(jobs):
                given, tasks = context.Pipe(duplex=False)
                results, found = context.Pipe(duplex=False)
                # A forked process inherits the ends of this one, too; unless it closes them, it misses its end.
                ours = [end for each in self._workers for end in (each.tasks, each.results)] + [tasks, results]
                inherited = ours if _CAN_FORK else []
                process = context.Process(target=_work, args=(given, found, inherited, self._open_scorer), daemon=True)
                process.start()
                given.close()
                found.close()
                self._workers.append(_Worker(process, tasks, results, deque()))

    def give(self, task: Task) -> Iterator[Counted]:
        """Give a task; yield the results that come next and are there, and wait for some if too many are not."""
        self._tasks[self._last] = task
        while self._workers:  # the one that has the fewest gets it; if there is none, it stays here
            worker = min(self._workers, key=lambda each: len(each.given))
            try:
                with _outliving_pipes():
                    worker.tasks.send(task)
            except OSError:
                self._lose(worker)
            else:
                worker.given.append(self._last)
                break
        self._last += 1
        yield from self._take(self._most)

    def drain(self) -> Iterator[Counted]:
        """Yield the results of all tasks."""
        yield from self._take(0)

    def close(self) -> None:
        """End the processes; tasks that are not done are dropped."""
        for worker in [*self._workers]:
            self._lose(worker)

    def _lose(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.terminate()
        worker.process.join()
        worker.tasks.close()
        worker.results.close()

    def _take(self, most: int) -> Iterator[Counted]:
        """Yield the next results until at most so many tasks are left, and then those that are there."""
        while self._next < self._last:
            is_late = self._last - self._next > most
            self._receive(wait_for=self._next if is_late else None)
            if self._next not in self._done:
                if not is_late:
                    return
                if any(self._next in each.given for each in self._workers):
                    continue
                self._done[self._next] = self._scorer.score_task(self._tasks[self._next])
            del self._tasks[self._next]
            yield self._done.pop(self._next)
            self._next += 1

    def _receive(self, wait_for: int | None) -> None:
        """Receive the results that are there, and wait for any if the task `wait_for` is not done."""
        from multiprocessing.connection import wait  # noqa: PLC0415  (as in `_start`)

        awaited = {each.results: each for each in self._workers if each.given}
        patience = None if wait_for is not None and wait_for not in self._done else 0
        for ready in wait(awaited, patience) if awaited else ():
            worker = awaited[ready]
            try:
                found = worker.results.recv()
            except (EOFError, OSError):
                self._lose(worker)
                continue
            number = worker.given.popleft()
            if found is None:  # it crashed; here it crashes again, with a traceback
                found = self._scorer.score_task(self._tasks[number])
            self._done[number] = found


@contextmanager
def _outliving_pipes() -> Iterator[None]:
    """Let a write to a process that died raise OSError, instead of ending this process as a closed stdout does."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN) if hasattr(signal, "SIGPIPE") else None
    try:
        yield
    finally:
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, before)


def _work(given: Any, found: Any, inherited: Sequence[Any], open_scorer: Callable[[], PartScorer]) -> None:
    """Score tasks as they come, until there are no more or the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and ends this one with it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    for end in inherited:
        end.close()
    tasks: SimpleQueue[Task | None] = SimpleQueue()
    Thread(target=_receive, args=(given, tasks), daemon=True).start()
    scorer = open_scorer()
    with suppress(OSError):  # nobody reads: the other process ended
        while task := tasks.get():
            try:
                counted = scorer.score_task(task)
            except Exception:  # the other process meets it again, and reports it
                scorer = open_scorer()
                found.send(None)
            else:
                found.send(counted)


def _receive(given: Any, tasks: "SimpleQueue[Task | None]") -> None:
    """Receive tasks ahead of the scorer, so that the other process never waits while it sends one."""
    with suppress(EOFError, OSError):
        while True:
            tasks.put(given.recv())
    tasks.put(None)


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

    `several`: errors name their file. `mapping` has for each field the column that it has in the streams, or in other
    files if it `is_shared`. With several `jobs`, as many processes score long streams, unless there is an observer; the
    results are the same. Use it as a context manager then. With `merges`, the streams hold results, which are checked
    and taken over.
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
        jobs: int = 1,
        merges: bool = False,
    ) -> None:
        self._open_scorer = partial(PartScorer, dict(rubrics), reading, merges=merges)
        self._scorer = self._open_scorer(observer)
        self.totals = self._scorer.totals
        self.line = 0
        self._write = write
        self._progress = progress
        self._several = several
        self._mapping = mapping or {}
        self._merges = merges
        judgements = list_fields(rubrics.values())
        self._wanted = Wanted() if merges else Wanted(judgements=judgements, is_shared=is_shared)
        self._jobs = 1 if observer else jobs
        self._pool: WorkerPool | None = None
        self._gathered: list[Part] = []
        self._size = self._alone = 0
        self._entries = 0
        self._ids = Ids()
        self._files: list[str] = []
        self._judged: dict[int, Others] = {}
        self._scored: dict[int, Others] = {}
        self._compared: list[Compared] = []
        self._skipped: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.close()

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
        asked = Asked(self._mapping, name, file, self._wanted, holds_results=self._merges, skipped=[])
        with Interruption() as interruption:
            try:
                for part in read_parts(self._chunks(stream, interruption), asked):
                    self._take_part(part, interruption)
                self._complete(interruption)
            finally:
                self._flush()
                self._scorer.count()
                self._gathered = []
                self._skipped += [each.word(name) for each in asked.skipped or ()]
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
        if len(self._scorer.found.lines) >= _MOST_PENDING:
            self._flush()

    def _give(self, interruption: "Interruption") -> None:
        """Give what is gathered to the other processes, which start with the first task; take what they have done."""
        self._flush()
        if self._pool is None:
            self._pool = WorkerPool(self._open_scorer, self._jobs)
        gathered, self._gathered, self._size = self._gathered, [], 0
        self._collect(self._pool.give(Task(gathered, self._scorer.file)), interruption)

    def _complete(self, interruption: "Interruption") -> None:
        """Wait for the results of everything so far."""
        if self._gathered:
            self._give(interruption)
        if self._pool:
            self._collect(self._pool.drain(), interruption)

    def _collect(self, counted: Iterator[Counted], interruption: "Interruption") -> None:
        for results, totals in counted:
            self._take_results(results)
            self.totals.add(totals)
            if interruption.asked:
                raise KeyboardInterrupt

    def _chunks(self, stream: Any, interruption: "Interruption") -> Iterator[bytes]:
        while True:
            # Before waiting for input, write all results so far.
            self._flush()
            if (self._pool or self._gathered) and not _has_input(stream):
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

    @property
    def compared(self) -> tuple[str, ...]:
        """What AgentV made otherwise of the outputs of its runs."""
        return tuple(word_compared(self._compared))

    def warnings(self) -> Iterator[str]:
        """Yield warnings: repeated ids, outputs of a different rubric, and what AgentV takes otherwise."""
        yield from warn_of_repeated(self._ids, self._name)
        if self._scored:
            others = {self._files[file]: each for file, each in self._scored.items()}
            count = sum(each.times for each in others.values())
            told = "1 result was" if count == 1 else f"{count:,} results were"
            firsts = islice(others.items(), _MOST_PLACES)
            listed = [f"{name} ({each.times:,}, the first in line {each.first:,})" for name, each in firsts]
            listed += [f"{len(others) - _MOST_PLACES:,} more files"] if len(others) > _MOST_PLACES else []
            yield (
                f"warning: {told} scored by another version of the rubric (`rubric_hash` differs) and count as "
                f"invalid; score the outputs again: {'; '.join(listed)}"
            )
        if self._judged:
            file, first = next(iter(self._judged.items()))
            count = sum(each.times for each in self._judged.values())
            yield warn_of_other_rubric(count, self._name(RecordPlace(file, first.first)))
        yield from (f"warning: {told}" for told in (*self.compared, *self._skipped))

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if self._several else f"line {place.line}"

    def _flush(self) -> None:
        self._take_results(self._scorer.take())

    def _take_results(self, results: Results) -> None:
        file = len(self._files) - 1
        for line, keys in results.keys:
            self._ids.add(file, line, keys)
        self.line = results.line or self.line
        for counted, more in ((self._judged, results.judged), (self._scored, results.scored)):
            if more.times:
                counted[file] = counted.get(file, _NONE).add(more)
        self._compared += results.compared
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
