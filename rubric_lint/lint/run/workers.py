"""Do the same work for many items in several processes; the outcomes come in the order of the items."""

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from itertools import zip_longest
from typing import Any, TypeVar

from rubric_lint.lint.project.writing import holding

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_CHUNK = 16
"""The number of items whose outcomes a worker sends at once."""

_CAN_FORK = sys.platform == "linux"


def share_out(
    items: list[Item], processes: int, work: Callable[[Item], Outcome | None]
) -> Iterator[tuple[Item, Outcome | None]]:
    """Yield each item with the outcome of its work; None if no worker did it.

    Chunks of items are dealt out in turn, so that each worker gets some of every folder.
    """
    chunks = [items[at : at + _CHUNK] for at in range(0, len(items), _CHUNK)]
    processes = min(processes, len(chunks))
    workers: list[tuple[Any, Any]] = []  # each process, and the pipe with its outcomes
    try:
        _start(workers, [chunks[number::processes] for number in range(processes)], work)
        for number, chunk in enumerate(chunks):
            started = number % processes < len(workers)
            outcomes = _receive(workers[number % processes][1]) if started else []
            yield from zip_longest(chunk, outcomes)
    finally:
        for process, _ in workers:
            process.terminate()
            process.join()


def _start(
    workers: list[tuple[Any, Any]], deals: list[list[list[Item]]], work: Callable[[Item], Outcome | None]
) -> None:
    """Start a worker for each deal of chunks, or fewer if the system has no more processes or pipes."""
    method = "fork" if _CAN_FORK else "spawn"
    context: Any = multiprocessing.get_context(method)
    interrupt_delay = holding(signal.SIGINT) if _CAN_FORK else nullcontext()
    # Ctrl+C is held back while workers start: a forked one inherits that until it ignores Ctrl+C.
    with suppress(OSError), interrupt_delay:
        for deal in deals:
            receiver, sender = context.Pipe(duplex=False)
            # A forked worker inherits the reading ends too; unless it closes them, writers miss that nobody reads.
            inherited = [*(pipe for _, pipe in workers), receiver] if _CAN_FORK else []
            process = context.Process(target=_work, args=(deal, sender, inherited, work), daemon=True)
            process.start()
            sender.close()  # the worker has the other end now, so if it dies, the pipe ends here
            workers.append((process, receiver))


def _receive(pipe: Any) -> list[Any]:
    """Return the outcomes of the next chunk of a worker; none if it has died."""
    try:
        outcomes: list[Any] = pipe.recv()
    except (EOFError, OSError):
        return []
    return outcomes


def _work(chunks: list[list[Item]], sender: Any, inherited: list[Any], work: Callable[[Item], Outcome | None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent ends its workers with it
    for receiver in inherited:
        receiver.close()
    for chunk in chunks:
        sender.send([work(item) for item in chunk])
