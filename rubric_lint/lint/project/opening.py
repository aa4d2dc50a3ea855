"""Open every file that a user or a repository provides: only the right kind of file, and never without a size limit."""

# A name is opened as it was typed: `a.yaml/` is no file, and a Path would drop the `/`.
# ruff: noqa: PTH115, PTH116

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

STDIN = "-"
"""The path that means stdin."""

LIMIT = 50_000_000
"""The size limit in bytes of rubric files, baselines and caches."""

SMALL_LIMIT = 1_000_000
"""The size limit in bytes of files that are written by hand: settings, ignore files, texts for a judge."""

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# A file that was replaced by a pipe must not block; Windows must not translate line ends.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CHUNK = 1 << 16  # bytes to read at once from a stream
_LEAST = 1 << 13  # bytes to read at once from a file that claims to be empty, as in /proc


class RefusedFileError(OSError):
    """A file that is refused for its kind or its size; `strerror` says why, `size` is its size if too large, else 0."""

    def __init__(self, path: str | Path, reason: str, *, size: int = 0) -> None:
        code = errno.EFBIG if size else errno.EINVAL
        super().__init__(code, reason, str(path))
        self.size = size


def read_file(path: str | Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises:
        RefusedFileError: if it is larger, or not a regular file.
        OSError: if the system cannot read it.
    """
    _require(path, stat_path(path).st_mode, stat.S_ISREG, "not a regular file")
    descriptor = os.open(path, _READING)  # `open` would take twice as many system calls
    try:
        status = os.fstat(descriptor)
        _require(path, status.st_mode, stat.S_ISREG, "not a regular file")  # it may have been replaced meanwhile
        if status.st_size > limit:
            raise _too_large(path, status.st_size, limit)
        data = b"".join(_read_on(descriptor, max(status.st_size + 1, _LEAST), limit + 1))
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise _too_large(path, len(data), limit)
    return data


def read_head(path: str | Path, limit: int, chunk: int = 1 << 22) -> Iterator[bytes]:
    """Return the first `limit` bytes of a regular file in chunks.

    Raises:
        OSError: as in `read_file`.
    """
    _require(path, stat_path(path).st_mode, stat.S_ISREG, "not a regular file")
    descriptor = os.open(path, _READING)
    try:
        yield from _read_on(descriptor, chunk, limit)
    finally:
        os.close(descriptor)


@contextmanager
def open_stream(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file or a pipe, for a reader that limits what it keeps.

    Raises:
        RefusedFileError: if it is a folder, a device or a socket.
        OSError: if the system cannot open it.
    """
    _require(path, stat_path(path).st_mode, _is_streamed, "neither a file nor a pipe")
    with open(path, "rb") as stream:  # noqa: PTH123
        _require(path, os.fstat(stream.fileno()).st_mode, _is_streamed, "neither a file nor a pipe")
        yield stream


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """Open a file as `open_stream` does, or stdin for `-`.

    Raises:
        OSError: as `open_stream`.
        ValueError: if stdin is closed.
    """
    if name != STDIN:
        with open_stream(name) as stream:
            yield stream
    elif sys.stdin is None:
        raise ValueError("stdin is closed")
    else:
        yield sys.stdin.buffer


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file or of stdin; raise what `open_input` raises."""
    with open_input(name) as stream:
        yield from iter(partial(stream.read, _CHUNK), b"")


def name_input(name: str) -> str:
    """Return the name of a file in messages."""
    return "stdin" if name == STDIN else name


def stat_path(path: str | Path) -> os.stat_result:
    """Return the status of a file.

    Raises:
        RefusedFileError: if no file can have this path.
        OSError: if the system does not know.
    """
    try:
        return os.stat(path)
    except ValueError:
        raise RefusedFileError(path, "no path has a null character or half a surrogate pair") from None


def _is_streamed(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


def _require(path: str | Path, mode: int, accepts: Callable[[int], bool], otherwise: str) -> None:
    if not accepts(mode):
        kind = _KINDS.get(stat.S_IFMT(mode))
        reason = f"it is {kind}, {otherwise}" if kind else f"it is {otherwise}"
        raise RefusedFileError(path, reason)


def _too_large(path: str | Path, size: int, limit: int) -> RefusedFileError:
    reason = f"it has {size / 1e6:.1f} MB, and the limit is {limit / 1e6:.0f} MB"
    return RefusedFileError(path, reason, size=size)


def _read_on(descriptor: int, chunk: int, limit: int) -> Iterator[bytes]:
    while limit > 0:
        data = os.read(descriptor, min(chunk, limit))
        if not data:
            return
        limit -= len(data)
        yield data


def explain_os_error(name: str, fault: OSError | ValueError) -> str:
    """Say why the file `name` cannot be read."""
    if isinstance(fault, FileNotFoundError):
        with suppress(OSError):
            return f"is a link to {os.readlink(name)}, which does not exist"
        if "://" in name:
            return "is a URL, and only files are read; download it first"
        return "no file matches" if {*"*?["} & {*name} else "does not exist"
    if isinstance(fault, PermissionError):
        return "cannot be read: permission denied"
    if "\0" in name:  # each version of Python says this in its own words
        return "cannot be read: its name contains a null character"
    reason = fault.strerror if isinstance(fault, OSError) else None
    return f"cannot be read: {reason or fault}"
