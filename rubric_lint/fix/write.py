"""Writing a file so that at every moment it is the old one or the new one, whole."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rubric_lint.capped import LIMIT, RefusedError, read_file


class WriteError(Exception):
    """A file that was left as it was, and why."""


class Written:
    """What became of a write: `others` is the number of other names (hard links) that keep the old content."""

    __slots__ = ("others",)

    def __init__(self, others: int) -> None:
        self.others = others


def write_file(name: str, data: bytes) -> None:
    """Have the file `name` hold `data`, whether there is one by now or not; a symbolic link stays one.

    Raises:
        WriteError: when it may not or cannot be written. It is as it was then.
    """
    try:
        path = Path(name).resolve()
        if path.is_file():
            replace_file(name, read_file(str(path), LIMIT), data)
            return
        if path.exists():
            raise WriteError("is no regular file, and only such are written")
        with _write_beside(path, data, None) as beside:
            beside.replace(path)
    except (OSError, RuntimeError) as fault:  # as in replace_file
        raise _refuse(fault) from fault
    _sync_folder(path.parent)


def replace_file(name: str, old: bytes, new: bytes) -> Written:
    """Put `new` in the place of `old` in the file `name`, by way of a second file that takes the place of the first.

    A symbolic link stays one, and what it leads to is written. Owner, mode, access control list and extended attributes
    are kept.

    Raises:
        WriteError: when the file may not or cannot be written, or no longer holds `old`. It is as it was then.
    """
    try:
        path = Path(name).resolve(strict=True)
        before = path.stat()
        _check(path, before)
        with _write_beside(path, new, before) as beside:
            # As late as possible, so that what somebody else has just written is not lost.
            if not _holds(path, old) or _identity(path.stat()) != _identity(before):
                raise WriteError("has been changed by another program meanwhile; run this again")
            beside.replace(path)
    except (OSError, RuntimeError) as fault:  # RuntimeError: links in a circle, before Python 3.13
        raise _refuse(fault) from fault
    _sync_folder(path.parent)
    return Written(before.st_nlink - 1)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_file(str(path), len(data)) == data
    except RefusedError:  # it has grown, or is not a regular file any more
        return False


def _refuse(fault: OSError | RuntimeError) -> WriteError:
    return WriteError(f"cannot be written: {getattr(fault, 'strerror', None) or fault}")


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise WriteError("is no regular file, and only such are written")
    # The superuser may write everything; what is marked as read-only is to stay as it is nevertheless.
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        raise WriteError("is read-only; allow writing to it first")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextlib.contextmanager
def _write_beside(path: Path, data: bytes, like: os.stat_result | None) -> Iterator[Path]:
    """A file in the same folder that holds `data`, is on the disk, and is gone in the end if nobody has renamed it.

    Who may do what with it is as it is with the file at `path`, whose status is `like`, or as with any new file.
    """
    # The suffix keeps what a killed process leaves behind out of every search for rubrics.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".rubric-fix", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if like:
                _copy_rights(descriptor, beside, path, like)
            else:
                beside.chmod(0o666 & ~_umask())
            os.fsync(descriptor)
        yield beside
    finally:
        beside.unlink(missing_ok=True)


def _copy_rights(descriptor: int, new: Path, old: Path, like: os.stat_result) -> None:
    """Give the new file the owner, mode, access control list and extended attributes of the old one.

    Raises:
        WriteError: when it cannot have them, as somebody could read or write it then who may not, or the reverse.
    """
    status = os.fstat(descriptor)
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(descriptor, like.st_uid, like.st_gid)
        except PermissionError:
            whom = "another user" if status.st_uid != like.st_uid else "a group that you are not in"
            raise WriteError(f"belongs to {whom}, and would not any more; run this as its owner") from None
    new.chmod(stat.S_IMODE(like.st_mode))  # after the owner, a change of which takes special bits away
    wanted, present = _read_attributes(old), _read_attributes(new)
    for name in sorted(wanted.keys() | present.keys()):  # after the mode, a change of which alters the list
        if wanted.get(name) == present.get(name):
            continue
        try:
            if name in wanted:
                os.setxattr(new, name, wanted[name])
            else:  # by a default of the folder
                os.removexattr(new, name)
        except OSError as fault:
            what = "access control list" if "posix_acl" in name else f"extended attribute {name}"
            raise WriteError(f"has another {what} than a new file gets: {fault.strerror}; change it by hand") from None


def _read_attributes(path: Path) -> dict[str, bytes]:
    """Return the extended attributes of a file; on Linux its access control list is one of them."""
    if not hasattr(os, "listxattr"):
        return {}
    with contextlib.suppress(OSError):  # a file system without any
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return {}


def _umask() -> int:
    mask = os.umask(0)  # there is no other way to read it
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too; the content is there, so nothing is lost where a system cannot do this."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
