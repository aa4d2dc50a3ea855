"""Many files through the engine, in the order they are given; large runs by several processes."""

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from rubric_lint.files import File, Unreadable, read
from rubric_lint.lint import Result, lint
from rubric_lint.source import Source

WORTH_PROCESSES = 200 if sys.platform == "linux" else 2000
"""From how many files on several processes are faster than one; where they cannot be forked they start slowly."""

_CHUNK = 16

Outcome = Result | Unreadable | Exception
"""What became of a file; an exception is a fault of the tool."""


def lint_files(
    files: Iterable[File | Unreadable], *, processes: int | None = None
) -> Iterator[tuple[File | Unreadable, Outcome]]:
    """Read and lint each file, by as many processes as there are processors, or as `processes` says."""
    processes = processes or _count_processors()
    stream = iter(files)
    first = list(islice(stream, WORTH_PROCESSES)) if processes > 1 else []
    if len(first) < WORTH_PROCESSES:
        for file in chain(first, stream):
            yield file, _take(file)
        return
    yield from _share_out([*first, *stream], processes)


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _take(file: File | Unreadable) -> Outcome:
    if isinstance(file, Unreadable):
        return file
    data = read(file)
    return data if isinstance(data, Unreadable) else lint_bytes(file, data)


def lint_bytes(file: File, data: bytes) -> Result | Exception:
    """Lint what a file holds."""
    try:
        return lint(file.name, data, file.settings)
    except Exception as fault:
        return fault


def _share_out(files: list[File | Unreadable], processes: int) -> Iterator[tuple[File | Unreadable, Outcome]]:
    """Deal the files out in chunks, like cards, and take the results back in the same order."""
    import multiprocessing  # noqa: PLC0415  (small runs do without)

    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    chunks = [files[at : at + _CHUNK] for at in range(0, len(files), _CHUNK)]
    workers: list[Any] = []
    receivers: list[Any] = []
    for number in range(processes):
        receiver, sender = context.Pipe(duplex=False)
        # A forked worker has the reading ends too; while it holds one, a writer would never learn that nobody reads.
        inherited = [*receivers, receiver] if sys.platform == "linux" else []
        worker = context.Process(target=_work, args=(chunks[number::processes], sender, inherited), daemon=True)
        worker.start()
        sender.close()  # the worker has the other end now, so its death shows here as the end of the pipe
        workers.append(worker)
        receivers.append(receiver)
    try:
        for number, chunk in enumerate(chunks):
            yield from zip(chunk, _receive(receivers[number % processes], chunk), strict=True)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _receive(receiver: Any, chunk: list[File | Unreadable]) -> list[Outcome]:
    """The outcomes of a chunk; made here where a worker could not: faults cross no pipe with their tracebacks."""
    try:
        outcomes = receiver.recv()
    except (EOFError, OSError):
        outcomes = [None] * len(chunk)
    return [_take(file) if outcome is None else outcome for file, outcome in zip(chunk, outcomes, strict=True)]


def _work(chunks: list[list[File | Unreadable]], sender: Any, inherited: list[Any]) -> None:
    import signal  # noqa: PLC0415

    for receiver in inherited:
        receiver.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent to answer
    for chunk in chunks:
        sender.send([_pack(_take(file)) for file in chunk])


def _pack(outcome: Outcome) -> Outcome | None:
    if isinstance(outcome, Exception):
        return None
    if isinstance(outcome, Result) and not outcome.findings:
        return outcome._replace(source=Source(outcome.source.name, ""))  # nobody asks for the text of a clean file
    return outcome
