"""Write messages and crash reports to stderr."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, TypeVar

import click

from rubric_lint.model.messages import visible
from rubric_lint.version import __version__

DEBUG = "RUBRIC_LINT_DEBUG"
"""The environment variable that enables the traceback of a crash."""


def complain(message: str) -> None:
    """Write a message to stderr, prefixed with the name of the running command."""
    context = click.get_current_context(silent=True)
    name = context.find_root().info_name if context else None
    name = name or Path(sys.argv[0]).name
    if not name.startswith("rubric-"):
        name = "rubric-lint"
    text = f"{name}: {visible(message)}"
    if sys.stderr is not None and sys.stderr.isatty():
        text = _wrap(text)
    click.echo(text, err=True)


def _wrap(text: str) -> str:
    """Return a message for the terminal of stderr, broken between words; stdout may be another one, or a file."""
    import textwrap  # noqa: PLC0415  (only terminals need it)

    given = os.environ.get("COLUMNS", "")
    room = 0
    with suppress(OSError, ValueError):
        room = int(given) if given.isdecimal() else os.get_terminal_size(sys.stderr.fileno()).columns
    if not 0 < room < len(text):  # some terminals do not know their width
        return text
    return textwrap.fill(text, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def report_crash(fault: Exception, file: str = "") -> None:
    """Report a crash on stderr: the exception, its place, and what to include in a bug report."""
    import traceback  # noqa: PLC0415  (only a crash needs it)

    python = ".".join(map(str, sys.version_info[:3]))
    subject = f"{file}: " if file else ""
    complain(f"{subject}rubric-lint crashed, which is a bug: {type(fault).__name__}: {fault}{_find_line(fault)}")
    which = ", the file" if file else ""
    versions = f"rubric-lint {__version__}, Python {python}, {sys.platform}"
    hint = f"please report it with this line{which} and: {versions}"
    if not os.environ.get(DEBUG):
        hint += f" ({DEBUG}=1 shows the traceback)"
    complain(hint)
    if os.environ.get(DEBUG):
        lines = "".join(traceback.format_exception(fault)).splitlines()
        click.echo("\n".join(map(visible, lines)), err=True)


def _find_line(fault: Exception) -> str:
    """Return the innermost line of this package in the traceback; a rule's module has the rule's name."""
    package = Path(__file__).parents[2]
    found = ""
    frames = (fault.__cause__ or fault).__traceback__
    while frames is not None:
        file = Path(frames.tb_frame.f_code.co_filename)
        if file.is_relative_to(package):
            found = f" ({file.relative_to(package.parent).as_posix()}, line {frames.tb_lineno})"
        frames = frames.tb_next
    return found


_DELAY = 1.0
"""Seconds before a run shows its bar."""

_INTERVAL = 0.1
_MANY = 5_000
_BAR = 30

Item = TypeVar("Item")


class Progress:
    """A progress bar that appears when a run takes long; call `clear` before other output.

    `doing` and `noun` are words such as "scoring" and "outputs". `done` counts the finished items. `total` counts
    items, or bytes if you call `advance`; None if unknown. click's own bar leaves an empty line behind and
    cannot make room for a finding.
    """

    def __init__(self, stream: TextIO, doing: str = "linting", noun: str = "files", total: int | None = None) -> None:
        self.done = 0
        self.total = total
        self._stream = stream
        self._words = doing, noun
        self._bytes: int | None = None
        self._start = time.monotonic()
        self._due = self._start + _DELAY if stream.isatty() else float("inf")
        self._drawn = 0
        self._widest = 0

    @property
    def is_shown(self) -> bool:
        """True if the bar is visible; only then are items worth counting beforehand."""
        return self._stream.isatty()

    def count(self, items: Iterable[Item]) -> Iterable[Item]:
        """Take the number of items as the total, if the bar is visible; return the items."""
        if not self.is_shown:
            return items
        counted = list(items)
        self.total = len(counted)
        return counted

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and show how many of them are done."""
        try:
            for self.done, item in enumerate(items):
                if self.done:  # the first item alone does not show how long the others take
                    self.show()
                yield item
        finally:
            self.clear()

    def advance(self, size: int) -> None:
        """Count `size` more bytes as read."""
        self._bytes = (self._bytes or 0) + size
        self.show()

    def show(self, note: str = "") -> None:
        """Draw the bar if it is due; `note` says what the run waits for."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _INTERVAL
            self._draw(self._describe(now - self._start, note))

    def show_phase(self, note: str, done: int, total: int) -> None:
        """Draw the bar at once if the run takes long or has many items: the phase that begins may draw nothing."""
        self.done, self.total = done, total or None
        if self.is_shown and total >= _MANY:
            self._due = time.monotonic()
        self.show(note)

    def clear(self) -> None:
        """Erase the bar."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    @contextmanager
    def reporting_interrupt(self, format_progress: Callable[[], str]) -> Iterator[None]:
        """On Ctrl+C, print `interrupted` with `format_progress()` and exit with 130.

        Raises:
            click.Abort: on Ctrl+C.
        """
        try:
            yield
        except KeyboardInterrupt:
            self._drawn = self._widest  # the terminal drops what it has not shown at Ctrl+C, so a bar may be left
            self.clear()
            complain(f"interrupted {format_progress()}")
            raise click.Abort from None

    def _describe(self, elapsed: float, note: str) -> str:
        doing, noun = self._words
        if not self.total:
            return f"{doing} {self.done:,} {noun}, {self.done / elapsed:,.0f} per second"
        done = self.done if self._bytes is None else self._bytes
        share = min(done / self.total, 1)
        filled = int(_BAR * share)
        of = f" of {self.total:,}" if self._bytes is None else ""
        if not note and share:
            note = f"{_name_time(elapsed * (1 - share) / share)} left"
        if note:
            note = f", {note}"
        bar = "#" * filled + "-" * (_BAR - filled)
        return f"{doing} [{bar}] {share:.0%} {self.done:,}{of} {noun}{note}"

    def _draw(self, text: str) -> None:
        # A row that fills the last cell wraps on some terminals, and a wrapped row cannot be cleared.
        import shutil  # noqa: PLC0415  (few runs draw)

        bar = text[: shutil.get_terminal_size().columns - 1]
        shorter = self._drawn - len(bar)
        self._drawn = max(self._drawn, len(bar))  # first: an interrupt while the bar is written must clear it
        self._widest = max(self._widest, self._drawn)
        self._stream.write("\r" + bar + " " * shorter)
        self._stream.flush()


def _name_time(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
