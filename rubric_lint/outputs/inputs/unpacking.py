"""Unpack gzip and zstd while reading, and say where a packed file is cut off or damaged."""

import zlib
from collections.abc import Iterable, Iterator

from rubric_lint.outputs.blocks import CHUNK, InputError
from rubric_lint.outputs.extract import OutputError
from rubric_lint.outputs.inputs.kinds import GZIP

_EITHER = 31
"""The option of zlib for data with a gzip header."""

_PIECE = 1 << 12
"""The bytes of zstd to unpack at once: this much is lost before the place where a file is cut off."""


class Unpacked:
    """The content of a packed file in chunks; after the last one, `fault` says what is missing, if anything.

    `lines` counts the line ends so far.
    """

    def __init__(self, chunks: Iterable[bytes], kind: bytes) -> None:
        self.fault: OutputError | None = None
        self.lines = 0
        self._content = self._unzip(iter(chunks)) if kind == GZIP else self._unpack_zstd(iter(chunks))

    def __iter__(self) -> Iterator[bytes]:
        for content in self._content:
            self.lines += content.count(b"\n")
            yield content

    def _unzip(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the content of all members of a gzip file."""
        unpacker = zlib.decompressobj(_EITHER)
        is_begun = False
        for chunk in chunks:
            data = chunk
            while data:
                if not is_begun:
                    if not (data := data.lstrip(b"\0")):  # padding between members
                        break
                    is_begun = True
                try:
                    content = unpacker.decompress(data, CHUNK)
                except zlib.error as fault:
                    self.fault = OutputError(f"the gzip file is damaged ({fault}); nothing after this is read")
                    return
                if content:
                    yield content
                if unpacker.eof:
                    data, unpacker, is_begun = unpacker.unused_data, zlib.decompressobj(_EITHER), False
                else:
                    data = unpacker.unconsumed_tail
        while is_begun and (content := unpacker.decompress(b"", CHUNK)):
            yield content
        if is_begun and not unpacker.eof:
            self.fault = OutputError("the gzip file is cut off here; the rest is missing")

    def _unpack_zstd(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the content of all frames of a zstd file.

        Raises:
            InputError: without pyarrow.
        """
        try:
            import pyarrow as pa  # noqa: PLC0415  (its codec; the standard library has one only from Python 3.14 on)
        except ImportError:
            raise InputError("zstd needs pyarrow; install it with the extra `arrow`: rubric-lint[arrow]") from None
        stream = pa.input_stream(pa.PythonFile(_File(chunks), mode="r"), compression="zstd", buffer_size=None)
        pieces: list[bytes] = []
        while self.fault is None:
            try:
                piece = stream.read(_PIECE)
            except OSError as fault:
                piece = b""
                cut = "Truncated" in str(fault)
                told = "cut off here; the rest is missing" if cut else "damaged; nothing after this is read"
                self.fault = OutputError(f"the zstd file is {told}")
            pieces.append(piece)
            if not piece or len(pieces) == CHUNK // _PIECE:
                yield b"".join(pieces)
                pieces = []
            if not piece:
                return


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
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def close(self) -> None:
        """Do nothing; what opened the file closes it."""
