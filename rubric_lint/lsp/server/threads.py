"""Run work on documents in threads; long documents have their own, so that short ones never wait."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from itertools import count
from queue import PriorityQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from rubric_lint.lsp.server.garbage import Garbage

Answer = TypeVar("Answer")

_LENGTHS = (200_000, 2_000_000)  # texts of these lengths take about a quarter of a second, and a few seconds


_LONGEST_WAIT = 0.2  # seconds that work in the background waits for other work


class WorkerThreads:
    """Threads that share the processor: for short, long and very long texts, several files, and the background."""

    def __init__(self) -> None:
        garbage = Garbage()
        self._lanes = [_Lane(garbage) for _ in range(len(_LENGTHS) + 1)]
        self._across = _Lane(garbage)
        self._background = _Lane(garbage)
        self._running = 0

    async def run(self, length: int, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task for a text of this length, after those of texts in its lane that are not longer."""
        lane = self._lanes[sum(length > limit for limit in _LENGTHS)]
        self._running += 1
        try:
            call = _Task(length, partial(task, *arguments))
            return await asyncio.get_running_loop().run_in_executor(lane, call)
        finally:
            self._running -= 1

    async def run_across(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task for several files, some of which may be large."""
        return await asyncio.get_running_loop().run_in_executor(self._across, task, *arguments)

    async def run_behind(self, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run a task that nobody waits for: when no other is running, or after a while."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _LONGEST_WAIT
        while self._running and loop.time() < until:
            await asyncio.sleep(_LONGEST_WAIT / 20)
        return await loop.run_in_executor(self._background, task, *arguments)


@dataclass(frozen=True, slots=True)
class _Task(Generic[Answer]):
    """A task for a text of this length."""

    length: int
    call: Callable[[], Answer]

    def __call__(self) -> Answer:
        return self.call()


class _Lane(Executor):
    """A thread that runs one task after the other, those of short texts first; it never keeps the process alive.

    It starts with its first task. The loop of Pyodide, which has no threads, runs tasks itself and hands none on.
    """

    def __init__(self, garbage: Garbage) -> None:
        self._garbage = garbage
        self._tasks: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        self._numbers = count()
        self._thread: Thread | None = None

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Add a task to the lane."""
        if self._thread is None:
            self._thread = Thread(target=self._work, daemon=True)
            self._thread.start()
        future: Future[Any] = Future()
        length = task.length if isinstance(task, _Task) else 0
        self._tasks.put((length, next(self._numbers), future, partial(task, *arguments, **options)))
        return future

    def _work(self) -> None:
        while True:
            _, _, future, call = self._tasks.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                with self._garbage.postponed():
                    found = call()
                future.set_result(found)
                del found
            except BaseException as fault:
                future.set_exception(fault)
            del future, call  # do not keep the last result alive until the next task
