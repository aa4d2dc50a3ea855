"""A file that an option names, written whole or not at all."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

import click

from rubric_lint.cli.options import require_file_name


@contextmanager
def open_whole(name: str, option: str) -> Iterator[TextIO]:
    """What takes the text of a file that an option names; it is replaced at the end, and only if nothing is raised.

    Raises:
        click.UsageError: when the file cannot be written.
    """
    require_file_name(name, option)
    with ExitStack() as cleaning:
        try:
            mode = _mode(Path(name))
            if mode is not None and not stat.S_ISREG(mode):
                # A device or a pipe is written to; to replace it would be a disaster.
                path = beside = Path(name)
                descriptor = os.open(path, os.O_WRONLY)
            else:
                path = Path(name).resolve()  # a symbolic link stays one
                beside = path.with_name(f".{path.name[:100]}.{os.urandom(4).hex()}.rubric-lint")
                descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
                cleaning.callback(beside.unlink, missing_ok=True)
        except (OSError, ValueError, RuntimeError) as fault:  # RuntimeError: links in a circle, before Python 3.13
            raise click.UsageError(f"{option}: {name}: {_word(name, fault)}") from None
        with _named(name):
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                yield stream
                stream.flush()
                if beside is not path:
                    _finish(descriptor, mode)
            if beside is not path:
                beside.replace(path)


def _mode(path: Path) -> int | None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError
    if stat.S_ISREG(mode) and not os.access(path, os.W_OK):
        raise PermissionError
    return mode


def _finish(descriptor: int, mode: int | None) -> None:
    """Give the new file the mode of the old one, and have it on the disk before it takes its place."""
    if mode is not None and os.chmod in os.supports_fd:
        with suppress(OSError):  # a file system without modes
            os.chmod(descriptor, stat.S_IMODE(mode))
    os.fsync(descriptor)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Let a fault of the file name it, as nobody knows the one beside it."""
    try:
        yield
    except OSError as fault:
        fault.filename = name
        raise


def _word(name: str, fault: Exception) -> str:
    if isinstance(fault, FileNotFoundError):
        return f"the folder {Path(name).parent} does not exist; make it first"
    if isinstance(fault, NotADirectoryError):
        return f"{Path(name).parent} is no folder"
    if isinstance(fault, IsADirectoryError):
        return "is a folder; name a file in it"
    if isinstance(fault, PermissionError):
        return "may not be written: permission denied"
    return f"cannot be written: {getattr(fault, 'strerror', None) or fault}"
