"""Divide whatever holds judge outputs into portions to score."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from rubric_lint.engines.batch.items import Items, Plain, gather, refuse_repeated
from rubric_lint.outputs.streams import CHUNK, Block, read_blocks

_MOST = 65_536
"""The most rows in a portion."""


Portion = Block | Items | Plain


def divide(outputs: Any, size: int = _MOST) -> Iterator[Portion]:
    """Yield the outputs in portions of at most `size` rows, or in blocks of JSON Lines or JSON.

    Raises:
        TypeError: if it is not something that holds outputs.
    """
    if isinstance(outputs, bytes | bytearray | memoryview):
        whole = bytes(outputs)
        return read_blocks(whole[start : start + CHUNK] for start in range(0, len(whole), CHUNK))
    if hasattr(outputs, "read"):
        return read_blocks(_read(outputs))
    if isinstance(outputs, str | Mapping) or not (_is_table(outputs) or hasattr(outputs, "__iter__")):
        kind = type(outputs).__name__
        raise TypeError(f"outputs is a single value of the type {kind}; expected several, such as a list of them")
    return _divide_table(outputs, size) if _is_table(outputs) else _divide_items(outputs, size)


def _read(file: Any) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read)
    while chunk := read(CHUNK):
        if not isinstance(chunk, bytes):
            raise TypeError("outputs is a file opened as text; open it in binary mode ('rb')")
        yield chunk


def _is_table(outputs: Any) -> bool:
    """Return whether it has columns, or is a column of Arrow."""
    return _is_frame(outputs) or any(hasattr(outputs, f"__arrow_c_{kind}__") for kind in ("stream", "array"))


def _is_frame(outputs: Any) -> bool:
    """Return whether it is a data frame of pandas, whose columns may hold any Python values."""
    return hasattr(outputs, "columns") and hasattr(outputs, "iloc")


def _divide_table(table: Any, size: int) -> Iterator[Items | Plain]:
    if hasattr(table, "iloc"):  # of pandas, which has columns that Arrow cannot hold
        if _is_frame(table):
            refuse_repeated([*table.columns])
        for start in range(0, len(table), size):
            part = table.iloc[start : start + size]
            if _is_frame(part):
                yield gather({name: part.iloc[:, place].tolist() for place, name in enumerate(part.columns)}, len(part))
            else:
                yield Items(part.tolist())
        return
    from rubric_lint.engines.batch.arrow_reading import read_arrow  # noqa: PLC0415  (loads pyarrow)

    yield from read_arrow(table, size)


def _divide_items(outputs: Iterable[Any], size: int) -> Iterator[Items | Plain]:
    rest = iter(outputs.tolist() if hasattr(outputs, "tolist") else outputs)
    while items := [*islice(rest, size)]:
        if not any(map(_is_batch, items)):
            yield Items(items)
            continue
        for item in items:
            if _is_batch(item):
                yield from _divide_table(item, size)
            else:
                yield Items([item])


def _is_batch(item: Any) -> bool:
    """Return whether an item of an iterable has many rows, as a record batch of Arrow."""
    return hasattr(item, "num_rows") and hasattr(item, "schema")
