"""Recognize what a file holds by its first bytes."""

import codecs
import csv
from collections.abc import Collection
from typing import NamedTuple

from rubric_lint.outputs.json_text import BLANK

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PARQUET = b"PAR1"
"""The first bytes of the binary files that are read."""

_MAGIC = {
    codecs.BOM_UTF16_LE: "text in UTF-16",
    codecs.BOM_UTF16_BE: "text in UTF-16",
    b"{\0": "text in UTF-16",
    b"[\0": "text in UTF-16",
    b"\0{": "text in UTF-16",
    b"\0[": "text in UTF-16",
    b"ARROW1": "an Arrow file",
    b"PK\3\4": "a ZIP file or an Excel workbook",
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
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"%PDF-": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"version https://git-lfs": "a Git LFS pointer, which `git lfs pull` replaces by the file itself",
    b"<!DOCTYPE": "an HTML page",
    b"<!doctype": "an HTML page",
    b"<html": "an HTML page",
    b"<?xml": "XML",
    b'{"results": [\n': "output of rubric-score --format json, which is for programs (-o FILE.jsonl writes JSON Lines)",
}
EXPECTED = "expected JSON Lines, JSON or CSV in UTF-8, or Parquet, each also in gzip or zstd"
"""What is read instead of a file of another kind."""

_CELLS = frozenset({"id", "output", "outputs", "score", "answer", "rubric", "checks", "satisfied", "level"})
"""The column names that identify a table of judge outputs."""

_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
_LOOKED_AT = 64
"""The bytes that no text begins with, and how many bytes of a file are searched for them."""

_TAR = slice(257, 262)
_MOST = 100_000
"""The most characters of a header that are looked at."""


class Dialect(NamedTuple):
    """A text table: what separates its cells, and what that is called."""

    delimiter: str
    called: str


DIALECTS = (Dialect(",", "CSV"), Dialect("\t", "TSV"), Dialect(";", "CSV with semicolons"))
"""The text tables that are read."""


def name_other(head: bytes) -> str | None:
    """Return the name of a kind of file that is not read, or None."""
    if head[_TAR] == b"ustar":
        return "a tar archive"
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind or head.startswith((b"{", b"[")):
        return kind
    first = head[:_LOOKED_AT]
    if len(first) >= 4 and any(not any(first[start::2]) and all(first[1 - start :: 2]) for start in (0, 1)):
        return "text in UTF-16"
    is_binary = any(each in first for each in _CONTROLS)
    return "binary data" if is_binary and b"\n{" not in head else None


def find_dialect(head: bytes, columns: Collection[str], name: str) -> Dialect | None:
    """Return the dialect if this is a text table: its header has a known column or one of these, or its name says so.

    A text that begins as JSON never is one.
    """
    text = head.lstrip(BLANK)
    if not text or text.startswith((b"{", b"[")):
        return None
    first = text[:_MOST].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    known = _CELLS | {column.lower() for column in columns}
    found = [(len(known.intersection(_split(first, each))), len(_split(first, each)), each) for each in DIALECTS]
    matches, cells, dialect = max(found, key=lambda each: each[:2])
    if matches and (cells > 1 or matches == cells):
        return dialect
    base = name.lower().removesuffix(".gz").removesuffix(".zst")
    if base.endswith(".tsv"):
        return DIALECTS[1]
    return dialect if base.endswith(".csv") else None


def _split(header: str, dialect: Dialect) -> list[str]:
    try:
        cells = next(csv.reader([header], delimiter=dialect.delimiter), [])
    except csv.Error:
        return []
    return [cell.strip().lower() for cell in cells]
