"""Lint many files in the given order, using several processes for large runs."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.model.finding import Result
from rubric_lint.source.source import Source

if TYPE_CHECKING:
    from rubric_lint.lint.run.cache import Cache

_CHUNK = 16
_NUMBER = 4  # bytes
_MOST_CHUNKS = 1024  # as many numbers as fit into the smallest Linux pipe, one page
_CAN_FORK = sys.platform == "linux"

WORTH_PROCESSES = 200 if _CAN_FORK else 2000
"""The number of files from which several processes are faster; without fork they start slowly."""

FoundFile = File | Unreadable

FileOutcome = Result | Unreadable | Exception
"""The outcome of linting a file; an exception is a crash."""


class _LintedFile(NamedTuple):
    """The outcome of a file, and its cache key if it is new."""

    outcome: FileOutcome
    key: str | None = None


def lint_files(
    files: Iterable[FoundFile], *, cache: "Cache | None" = None, processes: int | None = None, edits: bool = True
) -> Iterator[tuple[FoundFile, FileOutcome]]:
    """Read each file, and lint it unless `cache` knows the result.

    Large runs use as many processes as there are processors, or `processes`. Without `edits`, those of fixes may be
    left out, because no report shows them.
    """
    processes = processes or count_processors()
    stream = iter(files)
    first = list(islice(stream, WORTH_PROCESSES)) if processes > 1 else []
    # With a nearly empty cache, start the workers at once.
    to_lint = 0 if cache is not None and len(cache) >= len(first) else len(first)
    stream = chain(first, stream)
    while processes == 1 or to_lint < WORTH_PROCESSES:
        file = next(stream, None)
        if file is None:
            return
        linted = _lint_file(file, cache, edits=edits)
        to_lint += _store(linted, cache, edits=edits)
        yield file, linted.outcome
    rest = list(stream)
    for file, linted in _share_out(rest, processes, cache, edits=edits):
        _store(linted, cache, edits=edits)
        yield file, linted.outcome


def _store(linted: _LintedFile, cache: "Cache | None", *, edits: bool) -> bool:
    """Store a new outcome in the cache; return whether it was new."""
    outcome = linted.outcome
    if linted.key is not None and cache is not None and isinstance(outcome, Result) and not outcome.is_stopped:
        cache.put(linted.key, outcome, edits=edits)
    return linted.key is not None


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _lint_file(file: FoundFile, cache: "Cache | None", *, edits: bool) -> _LintedFile:
    if isinstance(file, Unreadable):
        return _LintedFile(file)
    data = read(file)
    if isinstance(data, Unreadable):
        return _LintedFile(data)
    if not file.settings.is_named and not could_hold_rubrics(data, file.name):
        return _LintedFile(Result(Source(file.name, ""), ()))
    if cache is None:
        return _LintedFile(lint_bytes(file, data), "")
    key = cache.key(file.name, data, file.settings)
    known = cache.get(key, file.name, data, edits=edits)
    return _LintedFile(lint_bytes(file, data), key) if known is None else _LintedFile(known)


def lint_bytes(file: File, data: bytes) -> Result | Exception:
    """Lint the content of a file."""
    from rubric_lint.lint.engine import lint  # noqa: PLC0415  (the engine is most of what there is to load)

    try:
        return lint(file.name, data, file.settings)
    except Exception as fault:
        return fault


def _share_out(
    files: list[FoundFile], processes: int, cache: "Cache | None", *, edits: bool
) -> Iterator[tuple[FoundFile, _LintedFile]]:
    """Lint the files in chunks with several processes, and yield the results in the order of the files."""
    import multiprocessing  # noqa: PLC0415  (small runs do without)
    import signal  # noqa: PLC0415
    from multiprocessing.connection import wait  # noqa: PLC0415

    from rubric_lint.lint.project.writing import holding  # noqa: PLC0415

    context: Any = multiprocessing.get_context("fork" if _CAN_FORK else "spawn")
    size = max(_CHUNK, -(-len(files) // _MOST_CHUNKS))
    chunks = [files[at : at + size] for at in range(0, len(files), size)]
    workers: list[Any] = []
    reached: dict[Any, int] = {}  # for the pipe of each worker: the number of the last chunk received
    received: dict[int, list[_LintedFile | None]] = {}
    # Ctrl+C is held back while workers start: a forked one inherits that until it ignores Ctrl+C.
    holding_back = holding(signal.SIGINT) if _CAN_FORK else nullcontext()
    try:
        # If the system has no more processes or pipes, the existing workers or this process do the work.
        with suppress(OSError), _deal(len(chunks), processes) as deals, holding_back:
            for deal in deals:
                receiver, sender = context.Pipe(duplex=False)
                # A forked worker inherits the reading ends too; unless it closes them, writers miss that nobody reads.
                inherited = [*reached, receiver] if _CAN_FORK else []
                worker = context.Process(
                    target=_work, args=(chunks, deal, sender, inherited, cache), kwargs={"edits": edits}, daemon=True
                )
                worker.start()
                sender.close()  # the worker has the other end now, so if it dies, the pipe ends here
                workers.append(worker)
                reached[receiver] = -1
        for number, chunk in enumerate(chunks):
            # A worker takes chunks in ascending order: one that is further on does not have this chunk.
            while number not in received and (
                awaited := [receiver for receiver, last in reached.items() if last < number]
            ):
                ready: list[Any] = wait(awaited)
                for receiver in ready:
                    try:
                        reached[receiver], found = receiver.recv()
                    except (EOFError, OSError):
                        del reached[receiver]
                    else:
                        received[reached[receiver]] = found
            for file, linted in zip_longest(chunk, received.pop(number, ())):
                # What crashed in a worker is linted here, because pipes lose tracebacks.
                yield file, _lint_file(file, cache, edits=edits) if linted is None else linted
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


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
    chunks: list[list[FoundFile]], deal: _Deal, sender: Any, inherited: list[Any], cache: "Cache | None", *, edits: bool
) -> None:
    import signal  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent ends its workers with it
    for receiver in inherited:
        receiver.close()
    for number in _draw_numbers(deal):
        sender.send((number, [_pack(_lint_file(file, cache, edits=edits), edits=edits) for file in chunks[number]]))


def _pack(linted: _LintedFile, *, edits: bool) -> _LintedFile | None:
    outcome = linted.outcome
    if isinstance(outcome, Exception):
        return None
    if isinstance(outcome, Result) and outcome.findings and not edits:
        findings = [
            finding._replace(
                fix=finding.fix and finding.fix.unmade(), choices=tuple(choice.unmade() for choice in finding.choices)
            )
            for finding in outcome.findings
        ]
        return linted._replace(outcome=outcome._replace(findings=tuple(findings)))
    if isinstance(outcome, Result) and not outcome.findings:  # nobody needs the text of a clean file
        return linted._replace(outcome=outcome._replace(source=Source(outcome.source.name, "")))
    return linted
