"""Read files of results and labels once, and hand out the records of each rubric."""

# Paths are str here, as in settings.py.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from rubric_lint.agree.reading import Invalid
from rubric_lint.outputs.decoding import OutputError, decode_entry
from rubric_lint.outputs.streams import CHUNK, read_entries
from rubric_lint.project.opening import open_stream, stat_path
from rubric_lint.scoring.scorer import read_judged_by
from rubric_lint.text.source import stem_of


class Line(NamedTuple):
    """A record that is an object: the line where it begins, its text, and the hash of the rubric that it names."""

    number: int
    text: bytes
    hash: str | None


@dataclass
class RecordFile:
    """The records of a file, by the name of the rubric that they state; `invalid` ones are not even objects.

    `taken` has the names, or hashes of nameless records, that a rubric of this run has claimed.
    """

    path: str
    records: int = 0
    lines: dict[str | None, list[Line]] = field(default_factory=dict)
    invalid: list[Invalid] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The name of the file up to the first dot, which is the name of a rubric file beside it."""
        return stem_of(self.path)

    def select(self, name: str, meaning: str, *, unnamed: bool) -> Iterator[Line]:
        """Yield the records of a rubric: those with its name; of nameless ones those with its hash.

        With `unnamed`, also nameless ones without a hash.
        """
        yield from self.lines.get(name, ())
        for line in self.lines.get(None, ()):
            if line.hash == meaning or (unnamed and line.hash is None):
                yield line


def read_records(path: str) -> RecordFile:
    """Read a file of results or labels.

    Raises:
        OSError: if it cannot be read.
    """
    found = RecordFile(path)
    with open_stream(path) as stream:
        for number, text in read_entries(iter(partial(stream.read, CHUNK), b"")):
            found.records += 1
            try:
                value = decode_entry(text).value
            except OutputError as fault:
                found.invalid.append(Invalid(path, number, None, fault.path, fault.message))
                continue
            name = value.get("rubric")
            line = Line(number, text if isinstance(text, bytes) else b"", read_judged_by(value))
            found.lines.setdefault(name if isinstance(name, str) else None, []).append(line)
    return found


class Shelf:
    """Keeps files of records, and reads each again only when it has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[int, ...], RecordFile]] = {}

    def take(self, path: str) -> RecordFile:
        """Return the records of a file.

        Raises:
            OSError: if it cannot be read.
        """
        status = stat_path(path)
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        kept = self._kept.get(path)
        if kept is None or kept[0] != stamp:
            kept = self._kept[path] = stamp, read_records(path)
        return kept[1]


class Sources(NamedTuple):
    """The files of results and of labels for a rubric, and which of them could not be read and why."""

    results: tuple[RecordFile, ...]
    labels: tuple[RecordFile, ...]
    unreadable: tuple[tuple[str, str], ...] = ()

    @property
    def files(self) -> tuple[RecordFile, ...]:
        """All files that were read."""
        return (*self.results, *self.labels)


def _word_empty(file: RecordFile) -> str:
    """Say why a file has no records, by its first line if it has any."""
    return "; ".join(["no records found", *(f"line {each.line}: {each.message}" for each in file.invalid[:1])])


def open_sources(shelf: Shelf, results: Sequence[str], labels: Sequence[str]) -> Sources:
    """Open files of results and labels; a file that cannot be read is listed with the reason."""
    unreadable = []
    opened: list[list[RecordFile]] = []
    for paths in (results, labels):
        files = []
        for path in dict.fromkeys(paths):
            try:
                file = shelf.take(path)
            except OSError as fault:
                unreadable.append((path, fault.strerror or str(fault)))
                continue
            if file.lines:
                files.append(file)
            else:
                unreadable.append((path, _word_empty(file)))
        opened.append(files)
    return Sources(tuple(opened[0]), tuple(opened[1]), tuple(unreadable))
