"""Read the entries of a stream of any kind, which its first bytes tell, in bounded memory."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from rubric_lint.model.suggest import format_need
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.entries import (
    BLANK,
    CHUNK,
    LIMIT,
    InputError,
    RawRecord,
    SkippedSheet,
    convert_entries,
    read_json,
)
from rubric_lint.scoring.records.graders import find_converter
from rubric_lint.scoring.records.mapping import RECORDS, RequiredColumns, find_first, map_entries, restore_case
from rubric_lint.scoring.records.text_tables import find_dialect, read_table

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PARQUET = b"PAR1"
ZIP = b"PK\3\4"
"""The first bytes of the binary files that are read."""

_UTF16 = "text in UTF-16, which you can save as UTF-8"
_MAGIC = {
    codecs.BOM_UTF16_LE: _UTF16,
    codecs.BOM_UTF16_BE: _UTF16,
    b"{\0": _UTF16,
    b"[\0": _UTF16,
    b"\0{": _UTF16,
    b"\0[": _UTF16,
    b"ARROW1": "an Arrow file",
    ZIP: "a ZIP file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\0": "an xz file",
    b"SQLite format 3\0": "an SQLite database",
    b"PARE": "an encrypted Parquet file",
    b"FEA1": "a Feather file",
    b"Obj\1": "an Avro file",
    b"\x93NUMPY": "a NumPy file",
    b"\x89HDF": "an HDF5 file",
    b"\x80\4\x95": "a Python pickle",
    b"\x04\x22\x4d\x18": "an lz4 file",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "an old Office document (.xls), which you can save as .xlsx",
    b"%PDF-": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"version https://git-lfs": "a Git LFS pointer, which `git lfs pull` replaces by the file itself",
    b"<!DOCTYPE": "an HTML page",
    b"<!doctype": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "XML",
    b'{"results": [\n': "output of rubric-lint score --format json, for programs (-o FILE.jsonl writes JSON Lines)",
}
EXPECTED = "expected JSON Lines, JSON or CSV in UTF-8, or Parquet, each also in gzip or zstd, or an Excel workbook"
"""What is read instead of a file of another kind."""

_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
_LOOKED_AT = 64
"""The bytes that no text begins with, and how many bytes of the first line are searched for them."""

_OF_INSPECT = b"_journal/"
"""What the name of the first file in a log of Inspect begins with."""

_TAR = slice(257, 262)


def name_other(head: bytes) -> str | None:
    """Return the name of a kind of file that is not read, or None."""
    if head[_TAR] == b"ustar":
        return "a tar archive"
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind or head.startswith((b"{", b"[")):
        return kind
    first = head.partition(b"\n")[0][:_LOOKED_AT]
    if len(first) >= 4 and (_is_padded(first[::2], first[1::2]) or _is_padded(first[1::2], first[::2])):
        return _UTF16
    is_binary = any(byte in first for byte in _CONTROLS)
    return "binary data" if is_binary and b"\n{" not in head else None


def _is_padded(padding: bytes, letters: bytes) -> bool:
    """Return whether every other byte is 0, as of letters in UTF-16."""
    return not any(padding) and all(letters)


_PIECE = 1 << 12
"""The bytes to unpack at once: this much is lost before the place where a file is cut off."""


class Unpacked:
    """The content of a packed file in chunks; after the last one, `fault` says what is missing, if anything.

    `lines` counts the line ends so far.

    Raises:
        InputError: if it is zstd, and pyarrow is not installed.
    """

    def __init__(self, chunks: Iterable[bytes], kind: bytes) -> None:
        self.fault: OutputError | None = None
        self.lines = 0
        self._name = "gzip" if kind == GZIP else "zstd"
        file: Any = _File(iter(chunks))
        # `read` would lose what it has when it meets the fault.
        self._read = gzip.GzipFile(fileobj=file).read1 if kind == GZIP else _open_zstd(file).read

    def __iter__(self) -> Iterator[bytes]:
        pieces: list[bytes] = []
        while self.fault is None:
            piece = b""
            try:
                piece = self._read(_PIECE)
            except (OSError, EOFError, zlib.error) as fault:
                is_cut = isinstance(fault, EOFError) or "Truncated" in str(fault)
                end = "cut off here; the rest is missing" if is_cut else "damaged; nothing after this is read"
                self.fault = OutputError(f"the {self._name} file is {end}")
            pieces.append(piece)
            if not piece or len(pieces) == CHUNK // _PIECE:
                content = b"".join(pieces)
                if self.fault and b"\n" in content:  # a row that is cut off may look complete
                    content = content[: content.rindex(b"\n") + 1]
                self.lines += content.count(b"\n")
                yield content
                pieces = []
            if not piece:
                return


def _open_zstd(file: "_File") -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415  (its codec; the standard library has one only from Python 3.14 on)
    except ImportError:
        raise InputError(f"zstd {format_need('arrow')}") from None
    return pa.input_stream(pa.PythonFile(file, mode="r"), compression="zstd", buffer_size=None)


class _File:
    """A file that gives the bytes of some chunks, as Arrow reads files."""

    closed = False

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, and none only at the end."""
        if not self._rest:
            self._rest = next(self._chunks, b"")
        first, self._rest = self._rest[:size], self._rest[size:]
        return first

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing; what opened the file closes it."""


_MAGIC_BYTES = 8


class StreamOptions(NamedTuple):
    """How to read a stream: the columns of fields, its name, and itself as a file if it can be sought in.

    `wanted` is what a table must have. `holds_results`: text tables are refused, as they do not keep a result as it is.
    `skipped` gets the sheets of a workbook that have rows and no column that is known.
    """

    mapping: Mapping[str, str] = {}
    name: str = ""
    file: BinaryIO | None = None
    wanted: RequiredColumns = RequiredColumns()
    holds_results: bool = False
    skipped: list[SkippedSheet] | None = None


PLAIN = StreamOptions()
"""Reads our own fields, in any table."""


def read_entries(chunks: Iterable[bytes], options: StreamOptions = PLAIN) -> Iterator[RawRecord]:
    """Yield the entries of a stream as `read_stream`; what that raises an error for is one entry with an error."""
    try:
        yield from read_stream(chunks, options)
    except InputError as fault:
        yield 1, OutputError(str(fault))


_MOST_PACKED = 8
"""The most layers of packing: each of them is a generator inside another one, and their depth is limited."""


def read_stream(chunks: Iterable[bytes], options: StreamOptions = PLAIN, packed: int = 0) -> Iterator[RawRecord]:
    """Yield the entries of a stream: JSON, JSON Lines, a table, or results of a batch.

    A stream of another kind is one entry, an error that names it. If a packed stream is cut off, so is the last entry.
    `packed` counts how often the stream was packed.

    Raises:
        InputError: if the stream does not have the columns that are asked for, or a library is not installed.
    """
    source = iter(chunks)
    head = _extend(b"", source, lambda head: len(head) >= _MAGIC_BYTES)
    for kind in (GZIP, ZSTD):
        if head.startswith(kind):
            if packed == _MOST_PACKED:
                raise InputError(f"packed more than {_MOST_PACKED} times; unpack it")
            content = Unpacked(chain([head], source), kind)
            yield from read_stream(content, options._replace(file=None), packed + 1)
            if content.fault:
                yield content.lines + 1, content.fault
            return
    if head.startswith(PARQUET):
        from rubric_lint.scoring.records.parquet import read_parquet  # noqa: PLC0415  (loads pyarrow)

        yield from read_parquet(chain([head], source), options.file, options.mapping, options.wanted)
        return
    if head.startswith(ZIP):
        from rubric_lint.scoring.records.workbook import read_workbook  # noqa: PLC0415  (few are)

        if options.name.endswith(".eval") or _OF_INSPECT in head[:_LOOKED_AT]:
            raise InputError(
                "this is a log of Inspect as a ZIP file; write it as JSON, with `inspect log convert --to json`, and "
                "read that"
            )
        _refuse_results("Excel", options)
        yield from read_workbook(chain([head], source), options.mapping, options.wanted, options.skipped)
        return
    yield from _read_text(head.removeprefix(codecs.BOM_UTF8), source, options)


def _extend(head: bytes, chunks: Iterator[bytes], is_enough: Callable[[bytes], bool]) -> bytes:
    """Return the beginning of a stream with as many more chunks as are needed, or with all of them."""
    while not is_enough(head):
        chunk = next(chunks, b"")
        if not chunk:
            break
        head += chunk
    return head


def _refuse_results(called: str, options: StreamOptions) -> None:
    """Refuse a table from which results are asked; raise InputError saying what does."""
    if options.holds_results:
        raise InputError(
            f"{called} does not keep results as they are; write them as .jsonl or .parquet, and merge these"
        )


def _read_text(head: bytes, source: Iterator[bytes], options: StreamOptions) -> Iterator[RawRecord]:
    # The second line tells JSON Lines from an object over several lines.
    head = _extend(head, source, lambda head: head.lstrip(BLANK).count(b"\n") >= 2 or len(head) > LIMIT)
    kind = name_other(head)
    if kind and not (RECORDS in options.mapping and head.startswith(b"{")):
        yield 1, OutputError(f"this is {kind}; {EXPECTED}")
        return
    chunks = chain([head], source)
    columns = list(map(find_first, options.mapping.values()))
    dialect = find_dialect(head, columns, options.name, options.wanted.judgements)
    if dialect:
        _refuse_results(dialect.called, options)
        yield from read_table(chunks, dialect, options.mapping, options.wanted)
        return
    is_mapped = RECORDS in options.mapping
    convert = None if is_mapped else find_converter(head, options.name)
    # What a grader wrote may be one object around all its records, on one line.
    entries = read_json(head, chunks, is_wrapped=is_mapped or convert is not None)
    if convert:
        entries = convert_entries(entries, convert)
    if options.mapping:
        entries = map_entries(entries, options.mapping, is_shared=options.wanted.is_shared)
    yield from restore_case(entries, head, options.wanted)
