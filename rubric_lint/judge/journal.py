"""Append results to a file, one line per judged answer, such that a run can stop at any point and resume."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rubric_lint.project.opening import LIMIT, open_stream
from rubric_lint.project.writing import lock


class JournalError(Exception):
    """A results file that this run cannot resume, and why."""


class Journal:
    """A results file, opened to append the answers that it lacks.

    Each line that cost something is on disk before `append` returns. If a killed run left a partial last line, a
    missing line end is added and an incomplete record is removed. The file is locked for other runs.

    Raises:
        JournalError: when another run has locked the file, or it contains anything but results.
        OSError: when it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unsynced = False
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            self._require_file()
            self._lock()
            judged: dict[str, str] = {}
            self.judged = judged
            self.invalid = set()
            for key, fingerprint, is_valid in self._read():
                judged[key] = fingerprint
                if not is_valid:
                    self.invalid.add(key)
        except BaseException:
            os.close(self._file)
            raise

    judged: Mapping[str, str]
    """The answers judged when the file was opened: the id as JSON, and the fingerprint of the request."""

    invalid: set[str]
    """The ids of those whose output is invalid."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._unsynced:
                self._sync()
        finally:
            os.close(self._file)

    def find(self, key: str) -> Mapping[str, Any]:
        """Return the first record of an id, given as JSON; empty if there is none."""
        with open_stream(str(self._path)) as lines:
            for line in iter(partial(lines.readline, LIMIT), b""):
                with suppress(ValueError):
                    if _identify(line)[0] == key:
                        return dict(json.loads(line))
        return {}

    def append(self, record: Mapping[str, Any], *, is_costly: bool = True) -> None:
        """Append one line. One that can be made again at no cost may reach the disk later, at the latest at the end."""
        self._write(encode(record) + b"\n", waits=is_costly)

    def _write(self, data: bytes, *, waits: bool = True) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, str(self._path)) from None
        self._unsynced = True
        if waits:
            self._sync()

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, str(self._path)) from None
        self._unsynced = False

    def _require_file(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise JournalError("is not a regular file; results need a file that can be read again")

    def _lock(self) -> None:
        if not lock(self._file):
            raise JournalError("another run is writing to it")

    def _read(self) -> Iterator[tuple[str, str, bool]]:
        line = torn = b""
        with open_stream(str(self._path)) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LIMIT), b""), start=1):
                try:
                    yield _identify(line)
                except ValueError:
                    if line.endswith(b"\n") or len(line) == LIMIT or not _is_torn(line):
                        message = f"line {number} is not a result of a judge run; name another file with --output"
                        raise JournalError(message) from None
                    torn = line
        if torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(torn))
        elif line and not line.endswith(b"\n"):
            self._write(b"\n")


def encode(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON in UTF-8, with escapes only if it has lone surrogates."""
    try:
        return json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which an escape in the answers can create
        return json.dumps(record).encode()


def _identify(line: bytes) -> tuple[str, str, bool]:
    record = json.loads(line)
    match record:
        case {"id": str() | int() as key, "judge": {"fingerprint": str(fingerprint)}}:
            return json.dumps(key), fingerprint, "fault" not in record["judge"]
    raise ValueError


def _is_torn(line: bytes) -> bool:
    """Return whether a line is an incomplete object; nothing else is ever removed."""
    try:
        json.loads(line)
    except ValueError:
        return line == b"{" or line.startswith(b'{"')
    return False
