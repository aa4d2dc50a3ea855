"""Do the same work for many items in several processes; the outcomes come in the order of the items."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import zip_longest
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from rubric_lint.lint.project.writing import holding

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_CHUNK = 16
_NUMBER = 4  # bytes
_MOST_CHUNKS = 1024  # as many numbers as fit into the smallest Linux pipe, one page
_CAN_FORK = sys.platform == "linux"


def share_out(
    items: list[Item], processes: int, work: Callable[[Item], Outcome | None]
) -> Iterator[tuple[Item, Outcome | None]]:
    """Yield each item with the outcome of its work; None if no worker did it."""
    size = max(_CHUNK, -(-len(items) // _MOST_CHUNKS))
    chunks = [items[at : at + size] for at in range(0, len(items), size)]
    workers = _Workers(chunks, work)
    try:
        workers.start(processes)
        for number, chunk in enumerate(chunks):
            yield from zip_longest(chunk, workers.receive(number))
    finally:
        workers.end()


class _Workers(Generic[Item, Outcome]):
    """Worker processes that share chunks of items."""

    def __init__(self, chunks: list[list[Item]], work: Callable[[Item], Outcome | None]) -> None:
        self._chunks = chunks
        self._work = work
        self._processes: list[Any] = []
        self._reached: dict[Any, int] = {}  # for the pipe of each worker: the number of the last chunk received
        self._received: dict[int, list[Outcome | None]] = {}

    def start(self, count: int) -> None:
        """Start `count` workers, or fewer if the system has no more processes or pipes."""
        context: Any = multiprocessing.get_context("fork" if _CAN_FORK else "spawn")
        # Ctrl+C is held back while workers start: a forked one inherits that until it ignores Ctrl+C.
        holding_back = holding(signal.SIGINT) if _CAN_FORK else nullcontext()
        with suppress(OSError), _deal(len(self._chunks), count) as deals, holding_back:
            for deal in deals:
                receiver, sender = context.Pipe(duplex=False)
                # A forked worker inherits the reading ends too; unless it closes them, writers miss that nobody reads.
                inherited = [*self._reached, receiver] if _CAN_FORK else []
                arguments = (self._chunks, deal, sender, inherited, self._work)
                process = context.Process(target=_work, args=arguments, daemon=True)
                process.start()
                sender.close()  # the worker has the other end now, so if it dies, the pipe ends here
                self._processes.append(process)
                self._reached[receiver] = -1

    def receive(self, number: int) -> list[Outcome | None]:
        """Wait for the outcomes of a chunk; there are none if no worker has it."""
        while number not in self._received:
            # A worker takes chunks in ascending order: one that is further on does not have this chunk.
            awaited = [receiver for receiver, last in self._reached.items() if last < number]
            if not awaited:
                break
            ready: list[Any] = wait(awaited)
            for receiver in ready:
                try:
                    self._reached[receiver], outcomes = receiver.recv()
                except (EOFError, OSError):
                    del self._reached[receiver]
                else:
                    self._received[self._reached[receiver]] = outcomes
        return self._received.pop(number, [])

    def end(self) -> None:
        """End the workers, done or not."""
        for process in self._processes:
            process.terminate()
            process.join()


_Deal = range | tuple[int, int]
"""The chunk numbers of one worker, or both ends of a pipe with all chunk numbers, first come, first served."""


@contextmanager
def _deal(count: int, processes: int) -> Iterator[list[_Deal]]:
    """Distribute the numbers below `count`; through an inherited pipe, a slow worker gets fewer."""
    if not _CAN_FORK:
        yield [range(number, count, processes) for number in range(processes)]
        return
    pipe = os.pipe()
    try:
        os.write(pipe[1], b"".join(number.to_bytes(_NUMBER) for number in range(count)))
        yield [pipe] * processes
    finally:
        for end in pipe:
            os.close(end)


def _draw_numbers(deal: _Deal) -> Iterator[int]:
    if isinstance(deal, range):
        yield from deal
        return
    reading, writing = deal
    os.close(writing)  # with no writer left, reading ends
    while number := os.read(reading, _NUMBER):
        yield int.from_bytes(number)


def _work(
    chunks: list[list[Item]], deal: _Deal, sender: Any, inherited: list[Any], work: Callable[[Item], Outcome | None]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent ends its workers with it
    for receiver in inherited:
        receiver.close()
    for number in _draw_numbers(deal):
        sender.send((number, [work(item) for item in chunks[number]]))
