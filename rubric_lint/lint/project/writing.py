"""Write a file so that it always has either its old or its new content, complete."""

import os
import re
import signal
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from rubric_lint.lint.project.opening import LIMIT, RefusedFileError, read_file

STOPS = (signal.SIGINT, signal.SIGTERM)
"""The signals with which users and other programs stop this one."""


@contextmanager
def holding(*signals: int) -> Iterator[None]:
    """Hold `signals` back in this thread until the block ends; where the system cannot do that, do nothing."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False if another process has locked it."""
    try:
        import fcntl  # noqa: PLC0415  (missing on Windows, where files are not locked)
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class WriteError(Exception):
    """A file that was left unchanged, and the reason."""


@contextmanager
def open_whole(name: str, mode: str = "w") -> Iterator[Any]:
    """Yield a stream of text, or with "wb" of bytes, that replaces the file `name` when the block ends without error.

    A symbolic link stays one. A device or a pipe is written to directly and never replaced.

    Raises:
        WriteError: if the file cannot be opened for writing.
        OSError: if writing fails later; it names the file.
    """
    how: dict[str, Any] = {} if mode == "wb" else {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    with ExitStack() as cleaning:
        try:
            path = Path(name)
            before = _writable_mode(path)
            is_replaced = before is None or stat.S_ISREG(before)
            if is_replaced:
                path = path.resolve()
                with holding(*STOPS):
                    descriptor, temporary = cleaning.enter_context(create_temporary(path, 0o666))
            else:
                descriptor, temporary = os.open(path, os.O_WRONLY), path
        except (OSError, ValueError, RuntimeError) as fault:  # RuntimeError: circular links, before Python 3.13
            raise WriteError(_explain(Path(name), fault)) from None
        with naming(name):
            with os.fdopen(descriptor, mode, **how) as stream:
                yield stream
                stream.flush()
                if is_replaced:
                    if before is not None and os.chmod in os.supports_fd:
                        with suppress(OSError):  # a file system without modes
                            os.chmod(descriptor, stat.S_IMODE(before))  # noqa: PTH101 (Path.chmod takes no descriptor)
                    os.fsync(descriptor)
            if is_replaced:
                temporary.replace(path)


class PartFile:
    """A file that is written over a long time, under the name with `.part` behind it until `finish` renames it.

    So a file of the right name is always complete. A device or a pipe is written to directly.

    Raises:
        WriteError: if it cannot be opened for writing.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.part: str | None = None
        try:
            path = Path(name)
            mode = _writable_mode(path)
            if mode is None or stat.S_ISREG(mode):
                self._path = path.resolve()
                path = self._path.with_name(f"{self._path.name}.part")
                self.part = f"{name}.part"
            flags = os.O_WRONLY | getattr(os, "O_BINARY", 0)
            if self.part:
                flags |= os.O_CREAT | os.O_TRUNC
            self.stream: BinaryIO = os.fdopen(os.open(path, flags, 0o666), "wb")
        except (OSError, ValueError, RuntimeError) as fault:  # as in open_whole
            raise WriteError(_explain(Path(name), fault)) from None

    def finish(self) -> None:
        """Give the complete file its name.

        Raises:
            OSError: if the rest cannot be written; it names the file.
        """
        with naming(self.name):
            self.stream.flush()
            if self.part:
                os.fsync(self.stream.fileno())
            self.stream.close()
            if self.part:
                self._path.with_name(f"{self._path.name}.part").replace(self._path)
        self.part = None

    def leave(self) -> None:
        """Close the file as it is."""
        with suppress(OSError):
            self.stream.close()


def _writable_mode(path: Path) -> int | None:
    """Return the mode of the file at `path`, None without one; raise OSError if it is a folder or a read-only file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError
    return mode


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the file in an error, not the temporary file, which the user does not know."""
    try:
        yield
    except OSError as fault:
        fault.filename = name
        raise


def _explain(path: Path, fault: Exception) -> str:
    """Return why a file cannot be opened for writing, and what to do."""
    if isinstance(fault, FileNotFoundError):
        return f"the folder {path.parent} does not exist; create it first"
    if isinstance(fault, NotADirectoryError):
        return f"{path.parent} is not a folder"
    if isinstance(fault, IsADirectoryError):
        return "is a folder; name a file in it"
    if isinstance(fault, PermissionError):
        return "permission denied"
    return f"cannot be written: {getattr(fault, 'strerror', None) or fault}"


def write_file(file: Path, data: bytes) -> None:
    """Write `data` to a file, new or not; a symbolic link stays one.

    Raises:
        WriteError: if it cannot be written; it is unchanged then.
    """
    try:
        path = file.resolve()
        if path.is_file():
            replace_file(file, read_file(path, LIMIT), data)
            return
        if path.exists() and not path.is_dir():
            raise WriteError("is not a regular file; only regular files can be written")
        if path.is_dir():
            raise WriteError(_explain(file, IsADirectoryError()))
        if not path.parent.is_dir():
            raise WriteError(_explain(file, FileNotFoundError()))
        with _write_temporary(path, data, None) as temporary:
            temporary.replace(path)
    except (OSError, RuntimeError) as fault:  # as in replace_file
        raise _refuse(fault) from fault
    _sync_folder(path.parent)


def replace_file(file: Path, old: bytes, new: bytes) -> int:
    """Replace the content `old` of a file by `new`, with a second file that takes its place.

    Return how many further names (hard links) keep the old content.

    A symbolic link stays one, and its target is written. Owner, mode, access control list and extended attributes stay.

    Raises:
        WriteError: if the file cannot be written, or no longer contains `old`; it is unchanged then.
    """
    try:
        path, before = _check(file)
        with _write_temporary(path, new, before) as temporary:
            # As late as possible, so that changes of other programs are not lost.
            if not _holds(path, old) or _identity(path.stat()) != _identity(before):
                raise WriteError("was changed by another program meanwhile; run this again")
            temporary.replace(path)
    except (OSError, RuntimeError) as fault:  # RuntimeError: circular links, before Python 3.13
        raise _refuse(fault) from fault
    _sync_folder(path.parent)
    return before.st_nlink - 1


def check_writable(file: Path) -> None:
    """Check that a file can be replaced, before others that belong to it are.

    Raises:
        WriteError: if it is read-only or not a regular file.
    """
    try:
        _check(file)
    except (OSError, RuntimeError) as fault:
        raise _refuse(fault) from fault


def _check(file: Path) -> tuple[Path, os.stat_result]:
    """Return the path of a file that can be replaced, and its status."""
    path = file.resolve(strict=True)
    before = path.stat()
    if not stat.S_ISREG(before.st_mode):
        raise WriteError("is not a regular file; only regular files can be written")
    # The superuser may write everything, but a read-only file must stay unchanged.
    if not before.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        raise WriteError("is read-only; allow writing to it first")
    return path, before


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_file(path, len(data)) == data
    except RefusedFileError:  # it has grown, or is not a regular file any more
        return False


def _refuse(fault: OSError | RuntimeError) -> WriteError:
    return WriteError(f"cannot be written: {getattr(fault, 'strerror', None) or fault}")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


_TEMPORARY = re.compile(r"\..{1,20}\.[0-9a-f]{16}\.rubric-lint", re.DOTALL)
"""The names of our temporary files. The suffix hides those of killed processes from searches for rubrics."""

_LONGEST_WRITE = 3600
"""The most seconds that a file is being written, where the system has no locks that show it."""


@contextmanager
def create_temporary(path: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """Create an empty file in the folder of `path`, and delete it in the end unless it was renamed.

    Yield its descriptor, which the caller closes, and its path. It is locked as long as this process lives, so the next
    one that writes into the folder knows and removes what killed ones left there.
    """
    _remove_left_behind(path.parent)
    while True:
        temporary = path.with_name(f".{path.name[:20]}.{os.urandom(8).hex()}.rubric-lint")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if _is_locked(descriptor):
            break
        os.close(descriptor)  # another process took it for one that was left behind, and removes it
    try:
        with _holding_lock(descriptor):
            yield descriptor, temporary
    finally:
        temporary.unlink(missing_ok=True)


def _is_locked(descriptor: int) -> bool:
    try:
        return lock(descriptor) and os.fstat(descriptor).st_nlink > 0
    except OSError:  # a file system without locks, where nothing is removed
        return True


@contextmanager
def _holding_lock(descriptor: int) -> Iterator[None]:
    """Keep the lock of a file that the block closes before it renames it; Windows renames no open file."""
    if os.name == "nt":
        yield
        return
    keeper = os.dup(descriptor)
    try:
        yield
    finally:
        os.close(keeper)


@cache
def _remove_left_behind(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder, once in each run."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _TEMPORARY.fullmatch(path.name):
                _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    """Remove a regular file that no process has locked."""
    with suppress(OSError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return
        if os.name == "nt":
            if time.time() - status.st_mtime > _LONGEST_WRITE:
                path.unlink()
            return
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if lock(descriptor):
                path.unlink()
        finally:
            os.close(descriptor)


@contextmanager
def _write_temporary(path: Path, data: bytes, like: os.stat_result | None) -> Iterator[Path]:
    """Create a file in the same folder with `data`, synced to disk; delete it in the end unless it was renamed.

    Its permissions are those of the file at `path`, whose status is `like`, or those of a new file.
    """
    mode = 0o600 if like else 0o666
    # An interrupt would leave the file behind.
    with holding(*STOPS), create_temporary(path, mode) as (descriptor, temporary):
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if like:
                _copy_rights(descriptor, temporary, path, like)
            os.fsync(descriptor)
        yield temporary


def _copy_rights(descriptor: int, new: Path, old: Path, like: os.stat_result) -> None:
    """Give the new file the owner, mode, access control list and extended attributes of the old one.

    Raises:
        WriteError: if that is impossible, because the file would then be open to other users than before.
    """
    status = os.fstat(descriptor)
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(descriptor, like.st_uid, like.st_gid)
        except PermissionError:
            whom = "another user" if status.st_uid != like.st_uid else "a group that you are not in"
            raise WriteError(f"belongs to {whom}, and a new file would not; run this as its owner") from None
    new.chmod(stat.S_IMODE(like.st_mode))  # after the owner, because changing it clears special bits
    wanted, present = _read_attributes(old), _read_attributes(new)
    for name in sorted(wanted.keys() | present.keys()):  # after the mode, because changing it alters the list
        if wanted.get(name) == present.get(name):
            continue
        try:
            if name in wanted:
                os.setxattr(new, name, wanted[name])
            else:  # from a default of the folder
                os.removexattr(new, name)
        except OSError as fault:
            what = "access control list" if "posix_acl" in name else f"extended attribute {name}"
            raise WriteError(f"has another {what} than a new file gets: {fault.strerror}; change it by hand") from None


def _read_attributes(path: Path) -> dict[str, bytes]:
    """Return the extended attributes of a file; on Linux its access control list is one of them."""
    if not hasattr(os, "listxattr"):
        return {}
    with suppress(OSError):  # a file system without any
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return {}


def _sync_folder(folder: Path) -> None:
    """Sync the new name to disk; the content is there already, so a failure loses nothing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
