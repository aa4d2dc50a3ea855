"""The threads that do the work on documents: long ones have their own, so that short ones never wait for them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_LENGTHS = (200_000, 2_000_000)  # what is as long takes about a quarter of a second, and a few


class WorkerThreads:
    """One thread for short texts, one for long ones and one for very long ones, which share the processor."""

    def __init__(self) -> None:
        self._lanes = [_Lane() for _ in range(len(_LENGTHS) + 1)]

    async def run(self, length: int, task: Callable[..., Answer], *arguments: Any) -> Answer:
        """Do something for a text of this length, after what is waiting in its lane."""
        lane = self._lanes[sum(length > limit for limit in _LENGTHS)]
        return await asyncio.get_running_loop().run_in_executor(lane, task, *arguments)


class _Lane(Executor):
    """A thread that does one task after the other. Unlike a pool's, it does not keep the process from ending."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Put a task at the end of the lane."""
        future: Future[Any] = Future()
        self._tasks.put((future, partial(task, *arguments, **options)))
        return future

    def _work(self) -> None:
        while True:
            future, task = self._tasks.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(task())
            except BaseException as fault:
                future.set_exception(fault)
            del future, task  # or the last result would be kept until the next task
