"""Tell the new findings of a text from those that it had before fixes, by rule, criterion and values."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import attrgetter
from typing import NamedTuple

from rubric_lint.model.finding import Finding, Result, Severity
from rubric_lint.model.messages import shorten
from rubric_lint.model.rubric import is_placeholder
from rubric_lint.source.edits.intents import Fix, Intent, MoveItems, RenameKey, WrapText
from rubric_lint.source.scalar import read_scalar
from rubric_lint.source.source import Edit


@dataclass(frozen=True, slots=True)
class DataChange:
    """The purpose of a fix: its intents on the document at `pointer`; without intents, its edits."""

    pointer: str
    intents: tuple[Intent, ...]
    edits: tuple[Edit, ...]
    safe: bool

    @property
    def adds_document(self) -> bool:
        """Whether it puts a new document at the end of the file."""
        return any(intent.adds_document for intent in self.intents)


def describe_change(finding: Finding, fix: Fix) -> DataChange:
    """Describe what the fix of a finding does."""
    return DataChange(finding.pointer, fix.intents, fix.edits, fix.safe)


def list_intents(changes: Iterable[DataChange]) -> list[Intent]:
    """List the intents of all changes, in their order."""
    return list(chain.from_iterable(change.intents for change in changes))


def list_edits(changes: Iterable[DataChange]) -> list[Edit]:
    """List the edits of all changes by their places; those at one place stay in their order."""
    return sorted(chain.from_iterable(change.edits for change in changes), key=attrgetter("span"))


class Identity(NamedTuple):
    """What a finding is about, wherever it is: its rule, the values of its message, and one sign of its criterion."""

    rule: str
    values: str
    criterion: str


Subjects = tuple[tuple[Identity, ...], ...]
"""What a finding is about, which may be several things, each with the signs of its criterion."""


def identify(finding: Finding, renames: Mapping[str, str]) -> Subjects:
    """Find the subjects of a finding.

    The values name fields by their new names. What they call another criterion, and its line, may change with an id or
    a place.
    """
    values = {name: _OTHER.sub("criterion", str(value)) for name, value in finding.values.items() if name != "line"}
    texts = [repr(sorted(values.items()))]
    if finding.rule == "split-band":  # whatever band it is in, and others that start there too
        texts = re.findall(r"\d+", values["starts"])
    if renames:
        texts = [_WORD.sub(lambda word: renames.get(word[0], word[0]), text) for text in texts]
    signs = finding.criterion or ("",)
    return tuple([tuple([Identity(finding.rule, text, sign) for sign in signs]) for text in texts])


_OTHER = re.compile(r"^(?:criterion (?:`.*`|\d+)|rubric-\d+)$")  # a label, or an id made from the place
_WORD = re.compile(r"\w+")


def list_renames(changes: Iterable[DataChange]) -> dict[str, str]:
    """Return the new names of the fields that changes rename."""
    intents = [intent for intent in list_intents(changes) if isinstance(intent, RenameKey)]
    return {str(intent.path[-1]): intent.name for intent in intents if intent.name.isidentifier()}


def find_added(before: Iterable[Finding], after: Iterable[Finding], changes: Sequence[DataChange]) -> Iterator[Finding]:
    """Find the findings that are new after some changes.

    A finding is the same as before if one sign of its criterion is: its place, its id or its text, of which a fix may
    change another. A placeholder that a fix writes is meant to be reported until it is replaced.
    """
    renames = list_renames(changes)
    left: Counter[Identity] = Counter()
    for finding in before:
        left.update(chain.from_iterable(identify(finding, renames)))
    written = set(chain.from_iterable(map(_list_placeholders, list_intents(changes))))
    for finding in after:
        if finding.rule == "placeholder" and finding.values["text"] in written:
            continue
        subjects = identify(finding, renames)
        is_known = all(any(left[identity] > 0 for identity in subject) for subject in subjects)
        if not is_known:
            yield finding
        left.subtract(chain.from_iterable(subjects))


def find_new(before: Result, after: Result, changes: Sequence[DataChange]) -> Iterator[Finding]:
    """Find the new findings after some changes.

    A text that is put where it belongs may be warned of, as it is read now, and so may what a field with a new name
    decides, or a scale in a rubric of its own, as it decides a verdict now.
    """
    intents = list_intents(changes)
    is_moved = any(isinstance(intent, MoveItems) for intent in intents)
    names = {*list_renames(changes).values(), *(intent.name for intent in intents if isinstance(intent, WrapText))}
    for finding in find_added(before.findings, after.findings, changes):
        steps = chain(finding.pointer.split("/"), *(place.path for place in finding.related))
        is_read_now = is_moved or not names.isdisjoint(steps)
        # The proof covers syntax errors; the old text may not have been recognised as a rubric, so they seem new.
        if finding.rule != "syntax" and not (is_read_now and finding.severity is not Severity.ERROR):
            yield finding


def format_new_finding(after: Result, finding: Finding) -> str:
    """Describe a new finding."""
    line = after.source.position(finding.span.start).line
    return f"line {line} would be a new finding, {finding.rule}: {finding.message}"


def _list_placeholders(intent: Intent) -> Iterator[str]:
    for _, text in intent.list_written():
        value = read_scalar(text)
        if isinstance(value, str) and is_placeholder(value):
            yield shorten(value.strip())


class Offsets:
    """Where the offsets of a text after some sorted edits come from."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._shifts = [0, *accumulate(len(new) - (end - start) for (start, end), new in edits)]
        self._starts = [edit.span.start + shift for edit, shift in zip(edits, self._shifts, strict=False)]

    def find_old(self, at: int, text: str = "") -> int:
        """Return the offset before the edits of an offset after them.

        In what an edit writes, that is where the edit begins, or the place in `text` from where the rest of the line
        moved.
        """
        number = bisect_right(self._starts, at)
        if number:
            (start, _), new = self._edits[number - 1]
            inside = at - self._starts[number - 1]
            if inside < len(new):
                rest = new[inside:].partition("\n")[0].strip()
                places = [text.find(rest, *span) for span, _ in self._edits] if rest else []
                return next((place for place in places if place >= 0), 0) or start
        return at - self._shifts[number]
