"""Share the parts of an input out to several processes, and return their results in order."""

import signal
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from rubric_lint.outputs.blocks import Part
from rubric_lint.outputs.candidates import Extract
from rubric_lint.project.writing import STOPS, holding
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.part_scorer import PartScorer, Results
from rubric_lint.scoring.totals import Totals

_CAN_FORK = sys.platform == "linux"
_AHEAD = 2
"""The tasks that a worker has at once: the next one waits for it while it scores."""

Counted = tuple[Results, Totals]
"""The results of a task, and their totals."""


class Task(NamedTuple):
    """Some parts of one input, and the file that their errors name."""

    parts: Sequence[Part]
    file: str | None


class _Setting(NamedTuple):
    """How tasks are scored: by these rubrics, in raw texts as `extract` says; with `merges`, they hold results."""

    rubrics: Mapping[str, ScoringRubric]
    extract: Extract
    merges: bool


class _Worker:
    """A process, the ends of the pipes to it and from it, and its tasks, of which the first one comes next."""

    def __init__(self, process: Any, tasks: Any, results: Any) -> None:
        self.process = process
        self.tasks = tasks
        self.results = results
        self.given: deque[int] = deque()


class Crew:
    """Processes that score tasks; use it as a context manager.

    If a process dies or cannot start, this one scores its tasks: no task is lost.
    """

    def __init__(
        self, rubrics: Mapping[str, ScoringRubric], extract: Extract, jobs: int, *, merges: bool = False
    ) -> None:
        self._setting = _Setting(dict(rubrics), extract, merges)
        self._scorer = _TaskScorer(self._setting)
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
                process = context.Process(target=_work, args=(given, found, inherited, self._setting), daemon=True)
                process.start()
                given.close()
                found.close()
                self._workers.append(_Worker(process, tasks, results))

    def give(self, task: Task) -> Iterator[Counted]:
        """Give a task; yield the results that come next and are there, and wait for some if too many are not."""
        self._tasks[self._last] = task
        self._hand_out(self._last)
        self._last += 1
        yield from self._take(self._most)

    def drain(self) -> Iterator[Counted]:
        """Yield the results of all tasks."""
        yield from self._take(0)

    def close(self) -> None:
        """End the processes; tasks that are not done are dropped."""
        for worker in self._workers:
            worker.process.terminate()
            worker.process.join()
            worker.tasks.close()
            worker.results.close()
        self._workers = []

    def _hand_out(self, number: int) -> None:
        """Give a task to the process that has the fewest; if there is none, it stays here."""
        while self._workers:
            worker = min(self._workers, key=lambda each: len(each.given))
            try:
                with _outliving_pipes():
                    worker.tasks.send(self._tasks[number])
            except OSError:
                self._lose(worker)
            else:
                worker.given.append(number)
                return

    def _lose(self, worker: _Worker) -> None:
        """Go on without a process that died."""
        self._workers.remove(worker)
        worker.process.terminate()
        worker.process.join()

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
                self._done[self._next] = self._scorer.score(self._tasks[self._next])
            del self._tasks[self._next]
            yield self._done.pop(self._next)
            self._next += 1

    def _receive(self, wait_for: int | None) -> None:
        """Receive the results that are there, and wait for any if the task `wait_for` is not done."""
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
                found = self._scorer.score(self._tasks[number])
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


class _TaskScorer:
    """A scorer of tasks."""

    def __init__(self, setting: _Setting) -> None:
        self._rubrics = setting.rubrics
        self._scorer = PartScorer(setting.rubrics, Totals(()), setting.extract, merges=setting.merges)

    def score(self, task: Task) -> Counted:
        """Score a task."""
        totals = self._scorer.totals = Totals(self._rubrics.values())
        self._scorer.file = task.file
        for part in task.parts:
            self._scorer.score(part)
        found = self._scorer.take()
        self._scorer.count()
        return found, totals


def _work(given: Any, found: Any, inherited: Sequence[Any], setting: _Setting) -> None:
    """Score tasks as they come, until there are no more or the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and ends this one with it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    for end in inherited:
        end.close()
    tasks: SimpleQueue[Task | None] = SimpleQueue()
    Thread(target=_receive, args=(given, tasks), daemon=True).start()
    scorer = _TaskScorer(setting)
    with suppress(OSError):  # nobody reads: the other process ended
        while task := tasks.get():
            try:
                counted = scorer.score(task)
            except Exception:  # the other process meets it again, and reports it
                scorer = _TaskScorer(setting)
                found.send(None)
            else:
                found.send(counted)


def _receive(given: Any, tasks: "SimpleQueue[Task | None]") -> None:
    """Receive tasks ahead of the scorer, so that the other process never waits while it sends one."""
    with suppress(EOFError, OSError):
        while True:
            tasks.put(given.recv())
    tasks.put(None)
