"""Read the entries of a stream of any kind, which its first bytes tell, in bounded memory."""

import codecs
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import BinaryIO, NamedTuple

from rubric_lint.outputs.blocks import CHUNK, LIMIT, Block, Entry, InputError, Part
from rubric_lint.outputs.extract import OutputError
from rubric_lint.outputs.inputs.kinds import EXPECTED, GZIP, PARQUET, ZSTD, find_dialect, name_other
from rubric_lint.outputs.json_text import BLANK, read_json

__all__ = [
    "CHUNK",
    "LIMIT",
    "Asked",
    "Block",
    "Entry",
    "InputError",
    "Part",
    "read_blocks",
    "read_entries",
    "read_parts",
]

_MAGIC_BYTES = 8


class Asked(NamedTuple):
    """How to read a stream: the columns of fields, its name, and itself as a file if it can be sought in.

    `needs_output`: a table without outputs is refused. `holds_results`: text tables are refused, as they do not keep a
    result as it is.
    """

    mapping: Mapping[str, str] = {}
    name: str = ""
    file: BinaryIO | None = None
    needs_output: bool = False
    holds_results: bool = False


PLAIN = Asked()
"""Reads our own fields, in any table."""


def read_entries(chunks: Iterable[bytes], asked: Asked = PLAIN) -> Iterator[Entry]:
    """Yield the entries of a stream: JSON, JSON Lines, a table, or results of a batch."""
    for block in read_blocks(chunks, asked):
        yield from block.split()


def read_blocks(chunks: Iterable[bytes], asked: Asked = PLAIN) -> Iterator[Block]:
    """Yield the same entries in blocks: of JSON Lines, all that each chunk completes.

    What `read_parts` raises an error for is one entry with an error.
    """
    try:
        for part in read_parts(chunks, asked):
            yield from part.blocks()
    except InputError as fault:
        yield Block(1, OutputError(str(fault)))


def read_parts(chunks: Iterable[bytes], asked: Asked = PLAIN) -> Iterator[Part]:
    """Yield the same entries in parts.

    A stream of another kind is one entry, an error that names it. If a packed stream is cut off, so is the last entry.

    Raises:
        InputError: if the stream does not have the columns that are asked for, or a library is not installed.
    """
    source = iter(chunks)
    head = next(source, b"")
    while len(head) < _MAGIC_BYTES and (more := next(source, b"")):
        head += more
    for kind in (GZIP, ZSTD):
        if head.startswith(kind):
            yield from _unpack(chain([head], source), kind, asked)
            return
    if head.startswith(PARQUET):
        from rubric_lint.outputs.inputs.parquet import read_parquet  # noqa: PLC0415  (loads pyarrow)

        yield from read_parquet(chain([head], source), asked.file, asked.mapping, needs_output=asked.needs_output)
        return
    yield from _read_text(head.removeprefix(codecs.BOM_UTF8), source, asked)


def _unpack(chunks: Iterable[bytes], kind: bytes, asked: Asked) -> Iterator[Part]:
    from rubric_lint.outputs.inputs.unpacking import Unpacked  # noqa: PLC0415  (most files are not packed)

    content = Unpacked(chunks, kind)
    yield from read_parts(content, asked._replace(file=None))
    if content.fault:
        yield Block(content.lines + 1, content.fault)


def _read_text(head: bytes, source: Iterator[bytes], asked: Asked) -> Iterator[Part]:
    while head.lstrip(BLANK).count(b"\n") < 2 and len(head) <= LIMIT and (more := next(source, b"")):
        head += more
    if kind := name_other(head):
        yield Block(1, OutputError(f"this is {kind}; {EXPECTED}"))
        return
    chunks = chain([head], source)
    if dialect := find_dialect(head, asked.mapping.values(), asked.name):
        if asked.holds_results:
            raise InputError(
                f"{dialect.called} does not keep results as they are; write them as .jsonl or .parquet, and merge these"
            )
        from rubric_lint.outputs.inputs.text_tables import read_table  # noqa: PLC0415  (most files are JSON)

        yield from read_table(chunks, dialect, asked.mapping, needs_output=asked.needs_output)
        return
    blocks: Iterator[Part] = read_json(head, chunks)
    if b'"custom_id"' in head:
        from rubric_lint.outputs.inputs.batch_entries import BatchEntries, is_batch_result  # noqa: PLC0415  (few are)

        if is_batch_result(head):
            blocks = map(BatchEntries, read_json(head, chunks))
    if asked.mapping:
        from rubric_lint.outputs.inputs.mapping import Mapped  # noqa: PLC0415  (few need it)

        blocks = map(partial(Mapped, mapping=asked.mapping), chain.from_iterable(part.blocks() for part in blocks))
    yield from blocks
