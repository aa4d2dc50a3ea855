"""Read Parquet by batches of rows: each row becomes a record, with its number."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from json.encoder import encode_basestring as quote
from math import isfinite
from typing import Any, BinaryIO

from rubric_lint.scoring.blocks import Block, Entry, InputError, Part, join_entries
from rubric_lint.scoring.extract import OutputError
from rubric_lint.scoring.inputs.mapping import Mapped, rename_columns

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as fault:
    raise InputError("Parquet needs pyarrow; install it with the extra `arrow`: rubric-lint[arrow]") from fault

_AT_ONCE = 2_000
"""The rows of a part."""


class Rows:
    """A part of a Parquet file: some rows, the number of the first one, and what is left to map in each."""

    def __init__(self, names: list[str], batch: pa.RecordBatch, first: int, nested: Mapping[str, str]) -> None:
        self._names = names
        self._batch = batch
        self._first = first
        self._nested = nested

    def blocks(self) -> Iterator[Block]:
        """Yield the rows as records."""
        blocks = join_entries(self._write())
        if not self._nested:
            return blocks
        return (each for block in blocks for each in Mapped(block, self._nested).blocks())

    def _write(self) -> Iterator[Entry]:
        """Yield the rows as JSON; a null is an absent field."""
        heads = [f"{quote(name)}: " for name in self._names]
        columns = [
            [None if (text := _write_value(value)) is None else head + text for value in column.to_pylist()]
            for head, column in zip(heads, self._batch.columns, strict=True)
        ]
        for number, row in enumerate(zip(*columns, strict=True), self._first):
            text = ", ".join([cell for cell in row if cell is not None])
            try:
                yield number, f"{{{text}}}".encode()
            except UnicodeEncodeError as fault:
                byte = ord(fault.object[fault.start]) & 0xFF
                yield number, OutputError(f"byte {byte:02x} of a binary value is not UTF-8")


def read_parquet(
    chunks: Iterable[bytes], file: BinaryIO | None, mapping: Mapping[str, str], *, needs_output: bool
) -> Iterator[Part]:
    """Yield the rows of a Parquet file in parts; one that cannot be sought in is first copied to a temporary file.

    Raises:
        InputError: if it does not have the columns that are needed.
    """
    if file is not None:
        yield from _read(file, mapping, needs_output=needs_output)
        return
    with tempfile.TemporaryFile() as copy:
        for chunk in chunks:
            copy.write(chunk)
        yield from _read(copy, mapping, needs_output=needs_output)


def _read(file: Any, mapping: Mapping[str, str], *, needs_output: bool) -> Iterator[Part]:
    number = 1
    try:
        opened = pq.ParquetFile(file, pre_buffer=False)
        names, nested = rename_columns(opened.schema_arrow.names, mapping, needs_output=needs_output)
        for batch in opened.iter_batches(_AT_ONCE, use_threads=False):
            yield Rows(names, batch, number, nested)
            number += len(batch)
    except (pa.ArrowException, OSError) as fault:  # a part that is cut off has no footer, which comes last
        told = str(fault).partition("\n")[0].rstrip(".")
        rest = "nothing of it" if number == 1 else "nothing after this"
        yield Block(number, OutputError(f"the Parquet file is cut off or damaged, and {rest} is read: {told}"))


def _write_value(value: Any) -> str | None:
    """Return a value as JSON, or None for a null."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bytes):
        return quote(value.decode("utf-8", "surrogateescape"))
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return None
    return json.dumps(_simplify(value), ensure_ascii=False, default=str)


def _simplify(value: Any) -> Any:
    """Return a value of a struct or a list as plain JSON: a struct has all fields, those that a row lacks as nulls."""
    if isinstance(value, dict):
        return {name: _simplify(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [*map(_simplify, value)]
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
