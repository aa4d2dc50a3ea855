"""Read Parquet by batches of rows: each row becomes a record, with its number."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, BinaryIO

from rubric_lint.model.suggest import format_need
from rubric_lint.scoring.records.decoding import Content, OutputError, find_other_byte, list_values, read_constant
from rubric_lint.scoring.records.entries import InputError, RawRecord
from rubric_lint.scoring.records.mapping import (
    CRITERIA,
    INPUT_FIELDS,
    OUTPUT_FIELDS,
    RequiredColumns,
    map_entries,
    rename_columns,
    split_column,
)
from rubric_lint.scoring.records.text_tables import find_kept

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as fault:
    raise InputError(f"Parquet {format_need('arrow')}") from fault

_TEXTS = frozenset({*OUTPUT_FIELDS, *INPUT_FIELDS, "rubric", "rubric_hash", "judge"})
"""The fields that are read as texts; bytes of others, such as those of an image, are kept as escapes."""

_AT_ONCE = 2_000
"""The rows to read at once."""


def read_parquet(
    chunks: Iterable[bytes], file: BinaryIO | None, mapping: Mapping[str, str], wanted: RequiredColumns
) -> Iterator[RawRecord]:
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


def _read(file: Any, mapping: Mapping[str, str], wanted: RequiredColumns) -> Iterator[RawRecord]:
    number, rows = 1, 0
    try:
        opened = pq.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        rows = opened.metadata.num_rows
        names, nested = rename_columns(opened.schema_arrow.names, mapping, wanted)
        kept = find_kept(names, wanted)
        for batch in opened.iter_batches(_AT_ONCE, use_threads=False):
            entries = _read_rows(names, batch, number, kept, nested)
            if nested:
                entries = map_entries(entries, nested)
            yield from entries
            number += len(batch)
    except (pa.ArrowException, OSError) as fault:  # a part that is cut off has no footer, which comes last
        reason = str(fault).partition("\n")[0].rstrip(".")
        lost = f"{rows - number + 1:,} of its {rows:,} rows are not" if rows else "nothing of it is"
        yield number, OutputError(f"the Parquet file is cut off or damaged, and {lost} read: {reason}")


_Steps = list[str]

_WHOLE: list[_Steps] = [[]]
"""The place of a judge output that a column has."""


def _read_rows(
    names: Sequence[str], batch: pa.RecordBatch, first: int, kept: frozenset[str], nested: Mapping[str, str]
) -> Iterator[RawRecord]:
    """Yield rows as records, with their numbers from `first`; a null is an absent field, but an empty one in `kept`.

    `nested` has the places of fields inside columns; with any, each column may be needed as a text.
    """
    outputs: dict[str, list[_Steps]] = dict.fromkeys(OUTPUT_FIELDS, _WHOLE)
    for field in {*OUTPUT_FIELDS, CRITERIA} & {*nested}:
        name, *steps = split_column(nested[field])
        outputs[name] = [*outputs.get(name, ()), steps]
    columns: list[list[Any]] = []
    for column, name in zip(batch.columns, names, strict=True):
        values = list_values(column)
        if name in outputs:
            values = [_read_outputs(value, outputs[name]) for value in values]
        else:
            values = [_read_value(value, is_refused=False) for value in values]
        if name in kept:
            values = ["" if value is None else value for value in values]
        columns.append(values)
    for number, row in enumerate(zip(*columns, strict=True), first):
        yield number, _read_row(names, row, has_texts=bool(nested))


def _read_row(names: Sequence[str], row: Sequence[Any], *, has_texts: bool) -> Content:
    """Return a row as a record; bytes that are not UTF-8 are an error where a text is needed, and escapes elsewhere."""
    record = {name: value for name, value in zip(names, row, strict=True) if name and value is not None}
    others = [name for name, value in record.items() if _find_byte(value) is not None]
    for name in others:
        byte = _find_byte(record[name])
        if name in _TEXTS or has_texts:
            sound = {key: value for key, value in record.items() if key not in others}
            return OutputError(f"byte {byte:02x} in the column `{name}` is not UTF-8", record=sound)
        record[name] = _escape(record[name])
    return record


def _find_byte(value: Any) -> int | None:
    """Return the first byte that is not UTF-8, which is a lone surrogate, in a value of JSON."""
    return find_other_byte(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _escape(value: Any) -> Any:
    r"""Write the bytes of a value that are not UTF-8 as texts such as `\xff`."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {name: _escape(item) for name, item in value.items()}
    return list(map(_escape, value)) if isinstance(value, list) else value


def _read_outputs(value: Any, places: Sequence[_Steps]) -> Any:
    """Return a value that has judge outputs at some places as JSON has it; in them, NaN and infinity are errors."""
    is_container = isinstance(value, dict | list | tuple)
    if not places or not is_container or [] in places:
        return _read_value(value, is_refused=is_container and bool(places))
    items = value.items() if isinstance(value, dict) else enumerate(value)
    read = {name: _read_outputs(item, [place[1:] for place in places if place[0] == str(name)]) for name, item in items}
    if isinstance(value, dict):
        return {name: item for name, item in read.items() if item is not None}
    return list(read.values())


def _read_value(value: Any, *, is_refused: bool) -> Any:
    """Return a value as JSON has it: a struct has all fields, those that a row lacks as nulls.

    NaN and infinity are absent, as in log probabilities, or if `is_refused`, an error for the reader of the row.
    """
    if isinstance(value, float) and not isfinite(value):
        return read_constant(json.dumps(value)) if is_refused else None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, dict):
        items = {name: _read_value(item, is_refused=is_refused) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_read_value(item, is_refused=is_refused) for item in value]
    return str(value)
