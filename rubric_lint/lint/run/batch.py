"""Lint many files in the given order, using several processes for large runs."""

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.formats.dialects import could_hold_rubrics
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.model.finding import Finding, Result
from rubric_lint.source.source import Source

if TYPE_CHECKING:
    from rubric_lint.lint.run.cache import Cache

WORTH_PROCESSES = 200 if sys.platform == "linux" else 2000
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
    from rubric_lint.lint.run.workers import share_out  # noqa: PLC0415  (small runs do without)

    work = partial(_lint_and_pack, cache=cache, edits=edits)
    for file, linted_elsewhere in share_out(list(stream), processes, work):
        linted = linted_elsewhere or _lint_file(file, cache, edits=edits)
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


def _lint_and_pack(file: FoundFile, cache: "Cache | None", *, edits: bool) -> _LintedFile | None:
    """Lint a file in a worker, without what nobody needs of it; None if it crashed, as pipes lose tracebacks."""
    linted = _lint_file(file, cache, edits=edits)
    outcome = linted.outcome
    if isinstance(outcome, Exception):
        return None
    if isinstance(outcome, Unreadable):
        return linted
    if not outcome.findings:  # nobody needs the text of a clean file
        outcome = outcome._replace(source=Source(outcome.source.name, ""))
    elif not edits:
        outcome = outcome._replace(findings=tuple(map(_leave_out_edits, outcome.findings)))
    return linted._replace(outcome=outcome)


def _leave_out_edits(finding: Finding) -> Finding:
    choices = tuple([choice.unmade() for choice in finding.choices])
    return finding._replace(fix=finding.fix and finding.fix.unmade(), choices=choices)
