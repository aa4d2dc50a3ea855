"""Read Parquet by batches of rows: each row becomes a record, with its number."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring as quote
from math import isfinite
from typing import Any, BinaryIO

from rubric_lint.outputs.blocks import Block, Entry, InputError, join_entries
from rubric_lint.outputs.decoding import OutputError, list_values
from rubric_lint.outputs.mapping import HELD, SHOWN, Wanted, map_blocks, rename_columns
from rubric_lint.suggest import word_need

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as fault:
    raise InputError(f"Parquet {word_need('arrow')}") from fault

_TEXTS = frozenset({*HELD, *SHOWN, "rubric", "rubric_hash", "judge"})
"""The fields that are read as texts; bytes of others, such as those of an image, are kept as escapes."""

_ESCAPES = {0xDC00 + byte: f"\\\\x{byte:02x}" for byte in range(0x80, 0x100)}
"""How a byte that is not UTF-8, here a lone surrogate, is written in a string of JSON: as the text `\\xff`."""

_AT_ONCE = 2_000
"""The rows to read at once."""


def read_parquet(
    chunks: Iterable[bytes], file: BinaryIO | None, mapping: Mapping[str, str], wanted: Wanted
) -> Iterator[Block]:
    """Yield the rows of a Parquet file as records; one that cannot be sought in is first copied to a temporary file.

    Raises:
        InputError: if it does not have the columns that are needed.
    """
    if file is not None:
        yield from _read(file, mapping, wanted)
        return
    with tempfile.TemporaryFile() as copy:
        try:
            for chunk in chunks:
                copy.write(chunk)
            copy.flush()
        except OSError as fault:
            raise InputError(
                f"the temporary copy that Parquet needs here cannot be written ({fault.strerror}); name the file "
                "itself, not packed, or set TMPDIR to a folder with more space"
            ) from None
        yield from _read(copy, mapping, wanted)


def _read(file: Any, mapping: Mapping[str, str], wanted: Wanted) -> Iterator[Block]:
    number, rows = 1, 0
    try:
        opened = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        rows = opened.metadata.num_rows
        names, nested = rename_columns(opened.schema_arrow.names, mapping, wanted)
        for batch in opened.iter_batches(_AT_ONCE, use_threads=False):
            yield from map_blocks(join_entries(_write(names, batch, number, has_texts=bool(nested))), nested)
            number += len(batch)
    except (pa.ArrowException, OSError) as fault:  # a part that is cut off has no footer, which comes last
        told = str(fault).partition("\n")[0].rstrip(".")
        lost = f"{rows - number + 1:,} of its {rows:,} rows are not" if rows else "nothing of it is"
        yield Block(number, OutputError(f"the Parquet file is cut off or damaged, and {lost} read: {told}"))


def _write(names: Sequence[str], batch: pa.RecordBatch, first: int, *, has_texts: bool) -> Iterator[Entry]:
    """Yield rows as JSON, with their numbers from `first`; a null is an absent field."""
    heads = [f"{quote(name)}: " for name in names]
    columns = [
        [None if (text := _write_value(value)) is None else head + text for value in list_values(column)]
        for head, column in zip(heads, batch.columns, strict=True)
    ]
    for number, row in enumerate(zip(*columns, strict=True), first):
        text = ", ".join([cell for cell in row if cell is not None])
        try:
            yield number, f"{{{text}}}".encode()
        except UnicodeEncodeError:
            yield number, _write_bytes(names, row, has_texts=has_texts)


def _write_bytes(names: Sequence[str], row: Sequence[str | None], *, has_texts: bool) -> bytes | OutputError:
    """Write a row in which bytes are not UTF-8: an error where a text is needed, and escapes elsewhere.

    With `has_texts`, any column may be needed as a text.
    """
    cells = [(name, cell) for name, cell in zip(names, row, strict=True) if cell is not None]
    for name, cell in cells:
        lost = [ord(each) & 0xFF for each in cell if "\udc80" <= each <= "\udcff"]
        if lost and (name in _TEXTS or has_texts):
            return OutputError(f"byte {lost[0]:02x} in the column `{name}` is not UTF-8")
    text = ", ".join([cell for _, cell in cells]).translate(_ESCAPES)
    return f"{{{text}}}".encode()


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
