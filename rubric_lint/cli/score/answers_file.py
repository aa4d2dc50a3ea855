"""Hold the answers that a command reads several times: to check them, to count the requests, and to judge them."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, nullcontext
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

import click

from rubric_lint.project.opening import open_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rubric_lint.judge.answers import Answer, Fields
    from rubric_lint.run.progress import Progress
    from rubric_lint.scoring.grading import ScoringRubric

STDIN = "-"
"""The name of stdin as a file of answers."""


class AnswersFile:
    """The answers in a file, to be read several times."""

    def __init__(self, source: BinaryIO, rubrics: Mapping[str, ScoringRubric], fields: Fields) -> None:
        self._source = source
        self._rubrics = rubrics
        self._fields = fields

    def count_bytes(self) -> int:
        """Return the size of the file."""
        return os.fstat(self._source.fileno()).st_size

    def check(self, progress: Progress | None = None) -> int:
        """Read all answers and return their number; `progress` shows how far.

        Raises:
            AnswersError: when one is not valid.
        """
        from rubric_lint.judge.answers import check_answers  # noqa: PLC0415

        return check_answers(self._read_bytes(progress), self._rubrics, self._fields)

    def read(self, progress: Progress | None = None) -> Iterator[Answer]:
        """Yield the answers, once `check` has accepted them."""
        from rubric_lint.judge.answers import read_answers  # noqa: PLC0415

        return read_answers(self._read_bytes(progress), self._rubrics, self._fields)

    def _read_bytes(self, progress: Progress | None) -> Iterator[bytes]:
        self._source.seek(0)
        for number, chunk in enumerate(iter(lambda: self._source.read(1 << 16), b""), 1):
            if progress:
                progress.done = (number << 16) // 1_000_000
                progress.advance(len(chunk))
            yield chunk


@contextmanager
def hold(answers: str) -> Iterator[BinaryIO]:
    """Yield the answers as a file that can be read several times; a pipe is copied to a temporary file.

    Raises:
        click.UsageError: when stdin is closed.
    """
    if answers == STDIN and sys.stdin is None:
        raise click.UsageError("stdin is closed")
    with nullcontext(sys.stdin.buffer) if answers == STDIN else open_stream(answers) as stream:
        if answers != STDIN and stream.seekable():
            yield stream
            return
        with TemporaryFile() as kept:
            shutil.copyfileobj(stream, kept)
            yield kept
