"""Answer about paths what pathlib does not, or only in some versions of Python.

A name is text that a user typed or a file has. Messages show it as it is, and `a.yaml/` is no file; a Path drops `/`.
"""

# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH114, PTH115, PTH118, PTH120, PTH122

import os
from collections.abc import Iterable
from pathlib import Path


def make_absolute(name: str | Path) -> Path:
    """Return the absolute path without `..`: `Path.absolute` keeps `..`, and `Path.resolve` follows links."""
    return Path(os.path.abspath(name))


def find_ending(name: str) -> str:
    """Return the ending of a name: `.json`; and `.` of `a.`, of which `Path.suffix` is empty before Python 3.14."""
    return os.path.splitext(name)[1]


def name_sibling(name: str, other: str) -> str:
    """Return the name of another file in the folder of one, with the `./` that it may have: a Path has none."""
    return os.path.join(os.path.dirname(name), other)


def simplify(name: str | Path) -> Path:
    """Return the path without `..`, relative if it was; pathlib cannot do that without the file system."""
    return Path(os.path.normpath(name))


def relate(name: str | Path, folder: str | Path) -> Path:
    """Return the path from a folder, with `..` if need be: `Path.relative_to` can do that from Python 3.12 on."""
    return Path(os.path.relpath(name, folder))


def follow_links(name: str | Path) -> Path:
    """Return the absolute path without links; a circle of them stays: before Python 3.13, `Path.resolve` raises."""
    return Path(os.path.realpath(name))


def trace_links(names: Iterable[str | Path]) -> set[Path]:
    """Return the paths of files, and of each folder and link on the way to them, none with a link above it.

    A circle of links is followed once.
    """
    found: set[Path] = set()
    seen: set[Path] = set()
    pending = [make_absolute(name) for name in names]
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        place = follow_links(path.parent) / path.name
        found.add(place)
        pending.append(path.parent)
        if is_link(place):
            pending += [make_absolute(place.parent / os.readlink(place)), follow_links(place)]
    return found


def is_same(name: str | Path, other: str | Path) -> bool:
    """Return whether two names lead to one path, which need not exist; `Path.samefile` needs files."""
    return follow_links(name) == follow_links(other)


# Where nobody may look, or for a name that is too long, the methods of Path raise before Python 3.14.


def exists(name: str | Path) -> bool:
    """Return whether a file or folder is there, at the end of links."""
    return os.path.exists(name)


def is_there(name: str | Path) -> bool:
    """Return whether anything is there, also a broken link."""
    return os.path.lexists(name)


def is_link(name: str | Path) -> bool:
    """Return whether a link is there, wherever it leads."""
    return os.path.islink(name)


def is_file(name: str | Path) -> bool:
    """Return whether a regular file is there, at the end of links."""
    return os.path.isfile(name)


def is_folder(name: str | Path) -> bool:
    """Return whether a folder is there, at the end of links."""
    return os.path.isdir(name)
