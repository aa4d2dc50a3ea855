"""Many files through the engine, in the order they are given; large runs by several processes."""

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.files import File, Unreadable, read
from rubric_lint.finding import Result
from rubric_lint.signs import could_hold_rubrics
from rubric_lint.source import Source

if TYPE_CHECKING:
    from rubric_lint.cache import Cache

WORTH_PROCESSES = 200 if sys.platform == "linux" else 2000
"""From how many files on several processes are faster than one; where they cannot be forked they start slowly."""

_CHUNK = 16

Outcome = Result | Unreadable | Exception
"""What became of a file; an exception is a fault of the tool."""


class _Taken(NamedTuple):
    """What became of a file, and the key to keep it under where it is new."""

    outcome: Outcome
    key: str | None = None


def lint_files(
    files: Iterable[File | Unreadable], *, cache: "Cache | None" = None, processes: int | None = None
) -> Iterator[tuple[File | Unreadable, Outcome]]:
    """Read each file, and lint it unless `cache` knows the result.

    What is much to lint is shared among as many processes as there are processors, or as `processes` says.
    """
    processes = processes or _count_processors()
    stream = iter(files)
    first = list(islice(stream, WORTH_PROCESSES)) if processes > 1 else []
    # Where little is known, much is to be linted: that needs no trying out.
    to_lint = 0 if cache is not None and len(cache) >= len(first) else len(first)
    stream = chain(first, stream)
    while processes == 1 or to_lint < WORTH_PROCESSES:
        if (file := next(stream, None)) is None:
            return
        taken = _take(file, cache)
        to_lint += _keep(taken, cache)
        yield file, taken.outcome
    rest = list(stream)
    for file, taken in _share_out(rest, processes, cache):
        _keep(taken, cache)
        yield file, taken.outcome


def _keep(taken: _Taken, cache: "Cache | None") -> bool:
    """Keep what is new, and say whether it is."""
    if taken.key is not None and cache is not None and isinstance(taken.outcome, Result):
        cache.put(taken.key, taken.outcome)
    return taken.key is not None


def _count_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _take(file: File | Unreadable, cache: "Cache | None") -> _Taken:
    if isinstance(file, Unreadable):
        return _Taken(file)
    data = read(file)
    if isinstance(data, Unreadable):
        return _Taken(data)
    if not file.settings.claimed and not could_hold_rubrics(data):
        return _Taken(Result(Source(file.name, ""), ()))
    if cache is None:
        return _Taken(lint_bytes(file, data), "")
    key = cache.key(file.name, data, file.settings)
    known = cache.get(key, file.name, data)
    return _Taken(lint_bytes(file, data), key) if known is None else _Taken(known)


def lint_bytes(file: File, data: bytes) -> Result | Exception:
    """Lint what a file holds."""
    from rubric_lint.lint import lint  # noqa: PLC0415  (the engine is most of what there is to load)

    try:
        return lint(file.name, data, file.settings)
    except Exception as fault:
        return fault


def _share_out(
    files: list[File | Unreadable], processes: int, cache: "Cache | None"
) -> Iterator[tuple[File | Unreadable, _Taken]]:
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
        worker = context.Process(target=_work, args=(chunks[number::processes], sender, inherited, cache), daemon=True)
        worker.start()
        sender.close()  # the worker has the other end now, so its death shows here as the end of the pipe
        workers.append(worker)
        receivers.append(receiver)
    try:
        for number, chunk in enumerate(chunks):
            yield from zip(chunk, _receive(receivers[number % processes], chunk, cache), strict=True)
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _receive(receiver: Any, chunk: list[File | Unreadable], cache: "Cache | None") -> list[_Taken]:
    """What became of a chunk; made here where a worker could not: faults cross no pipe with their tracebacks."""
    try:
        taken = receiver.recv()
    except (EOFError, OSError):
        taken = [None] * len(chunk)
    return [_take(file, cache) if found is None else found for file, found in zip(chunk, taken, strict=True)]


def _work(chunks: list[list[File | Unreadable]], sender: Any, inherited: list[Any], cache: "Cache | None") -> None:
    import signal  # noqa: PLC0415

    for receiver in inherited:
        receiver.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent to answer
    for chunk in chunks:
        sender.send([_pack(_take(file, cache)) for file in chunk])


def _pack(taken: _Taken) -> _Taken | None:
    outcome = taken.outcome
    if isinstance(outcome, Exception):
        return None
    if isinstance(outcome, Result) and not outcome.findings:
        # Nobody asks for the text of a clean file.
        return taken._replace(outcome=outcome._replace(source=Source(outcome.source.name, "")))
    return taken
