"""The results file: one line for each answer that was judged, safe wherever a run is stopped."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rubric_lint.capped import LIMIT, open_stream


class JournalError(Exception):
    """A results file that this run cannot go on with, and why."""


class Journal:
    """A results file, open for the answers that it does not hold yet.

    Each line is on the disk before `append` returns. What a killed run left of its last line is completed where only
    the line end is missing, and else taken away. While one run has the file, no other one gets it.

    Raises:
        JournalError: when another run has the file, or it holds something else than the lines of a run.
        OSError: when it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            self._require_file()
            self._lock()
            self.judged = {}
            self.invalid = set()
            for key, fingerprint, is_valid in self._read():
                self.judged[key] = fingerprint
                if not is_valid:
                    self.invalid.add(key)
        except BaseException:
            os.close(self._file)
            raise

    judged: dict[str, str]
    """The id, as JSON, of each answer that was judged when the file was opened, and the fingerprint of its request."""

    invalid: set[str]
    """Those of them whose output stayed invalid."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one line."""
        self._write(encode(record) + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as fault:
            raise OSError(fault.errno, fault.strerror, str(self._path)) from None

    def _require_file(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise JournalError("is not a regular file; results go into one that can be read again")

    def _lock(self) -> None:
        try:
            import fcntl  # noqa: PLC0415  (Windows has none; there a second run is the user's to avoid)
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError("another run is writing to it") from None

    def _read(self) -> Iterator[tuple[str, str, bool]]:
        line = torn = b""
        with open_stream(str(self._path)) as lines:
            for number, line in enumerate(iter(partial(lines.readline, LIMIT), b""), start=1):
                try:
                    yield _identify(line)
                except ValueError:
                    if line.endswith(b"\n") or len(line) == LIMIT or not _is_torn(line):
                        message = f"line {number} is no result of a judge run; name another file with --output"
                        raise JournalError(message) from None
                    torn = line
        if torn:
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(torn))
        elif line and not line.endswith(b"\n"):
            self._write(b"\n")


def encode(record: Mapping[str, Any]) -> bytes:
    """A record as one line of JSON, in the letters of its languages where UTF-8 can say them."""
    try:
        return json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, which an escape in the answers can make
        return json.dumps(record).encode()


def _identify(line: bytes) -> tuple[str, str, bool]:
    record = json.loads(line)
    match record:
        case {"id": str() | int() as key, "judge": {"fingerprint": str(fingerprint)}}:
            return json.dumps(key), fingerprint, "fault" not in record["judge"]
    raise ValueError


def _is_torn(line: bytes) -> bool:
    """Whether a line is the beginning of an object: nothing else is ever taken away."""
    try:
        json.loads(line)
    except ValueError:
        return line == b"{" or line.startswith(b'{"')
    return False
