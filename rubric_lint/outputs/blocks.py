"""Define blocks of entries: what every kind of input is read into."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from rubric_lint.outputs.extract import OutputError

LIMIT = 10_000_000
"""The most bytes in an entry; a judge output has a few hundred."""

CHUNK = 1 << 16
"""The number of bytes to read at a time: few enough for their lines and results to stay in the processor cache."""


Entry = tuple[int, bytes | OutputError]
"""The 1-based line on which an entry begins, and its text or the error that prevents reading it."""


class Block(NamedTuple):
    """One entry, or some lines of JSON Lines: the line where it begins, and its text."""

    line: int
    text: bytes | OutputError
    has_lines: bool = False

    def split(self) -> Iterator[Entry]:
        """Yield its entries; skip blank lines."""
        if isinstance(self.text, OutputError) or not self.has_lines:
            yield self.line, self.text
            return
        for line, text in enumerate(self.text.split(b"\n"), self.line):
            if text and not text.isspace():
                yield line, text if len(text) <= LIMIT else refuse_size()

    def blocks(self) -> "Iterator[Block]":
        """Yield the block itself."""
        yield self


class Part(Protocol):
    """A part of an input that turns into blocks independently of the others, in any process."""

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the part, in order."""


class InputError(ValueError):
    """An input that cannot be read as asked, and what to do."""


def refuse_size() -> OutputError:
    """Return the error for an entry that is too large."""
    return OutputError(f"more than {LIMIT / 1e6:.0f} MB, the limit for one entry")


def join_entries(entries: Iterable[Entry]) -> Iterator[Block]:
    """Yield entries, none with a line end in its text, in blocks of consecutive lines."""
    line = end = 0
    texts: list[bytes] = []
    for number, text in entries:
        is_lone = isinstance(text, OutputError) or len(text) > LIMIT
        if texts and (number != end or is_lone):
            yield Block(line, b"\n".join(texts), has_lines=True)
            texts = []
        if isinstance(text, OutputError):
            yield Block(number, text)
        elif len(text) > LIMIT:
            yield Block(number, refuse_size())
        else:
            line = line if texts else number
            end = number + 1
            texts.append(text)
    if texts:
        yield Block(line, b"\n".join(texts), has_lines=True)
