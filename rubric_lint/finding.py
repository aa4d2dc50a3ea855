"""The vocabulary: what rules yield (`Problem`) and what the engine makes of it (`Finding`)."""

from enum import StrEnum
from typing import NamedTuple

from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Source, Span


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    WARNING = "warning"


class RenameKey(NamedTuple):
    """Intent: write the field at `path` under the key `name`."""

    path: Path
    name: str


class ReplaceValue(NamedTuple):
    """Intent: put the scalar `text` in the place of the value at `path`."""

    path: Path
    text: str


class RemoveField(NamedTuple):
    """Intent: take the field at `path` away, its comments kept."""

    path: Path


class AddField(NamedTuple):
    """Intent: give the mapping at `path`, which lacks it, the field `name` with the scalar `text`."""

    path: Path
    name: str
    text: str


class WrapText(NamedTuple):
    """Intent: make the text at `path` the field `name` of a mapping in its place, between two other fields.

    `before` and `after` are the names and scalars of these.
    """

    path: Path
    name: str
    before: tuple[str, str]
    after: tuple[str, str]


class NestField(NamedTuple):
    """Intent: put the field at `path` under the key `inner` of a mapping that is alone in the list `name`.

    `before` is the name and the scalar of the field that the mapping has above it.
    """

    path: Path
    name: str
    before: tuple[str, str]
    inner: str


class Reorder(NamedTuple):
    """Intent: put the items of the list, or the fields of the mapping, at `path` in the order of `steps`."""

    path: Path
    steps: tuple[str | int, ...]


class Replace(NamedTuple):
    """Intent: put `text` in the place of `span`, for what has no path, such as a comment."""

    span: Span
    text: str


Intent = RenameKey | ReplaceValue | RemoveField | AddField | WrapText | NestField | Reorder | Replace


class Repair(NamedTuple):
    """A fix in the words of a rule: what to do to which paths. `safe`: it cannot change what the rubric means."""

    title: str
    intents: tuple[Intent, ...]
    safe: bool


OTHER_LINE = "\ufdd0"
"""Holds the place of a line number in a problem's message: the first one for that of `related[0]`, and so on.

Rules know paths, the engine knows lines. The character is one that Unicode keeps for a program's own use.
"""


class Place(NamedTuple):
    """Another place that a problem speaks of, and what stands there. `span`, when given, goes before `path`."""

    message: str
    path: Path
    part: Part = Part.VALUE
    span: Span | None = None


class Problem(NamedTuple):
    """What a rule found, in terms of the document. `span`, when given, is the place, and `path` only names it.

    `message` says what is wrong and what to do; the engine puts the criterion's name before it, and line numbers in the
    places of `OTHER_LINE`.
    """

    message: str
    path: Path
    part: Part = Part.VALUE
    related: tuple[Place, ...] = ()
    repair: Repair | None = None
    span: Span | None = None


class Edit(NamedTuple):
    """Replace the text at `span` with `text`."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A fix in terms of the text: sorted, disjoint edits. `safe`: it cannot change what the rubric means.

    `intents` say the same in terms of the data, which is what the outcome of the edits is held against.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool
    intents: tuple[Intent, ...] = ()


class Related(NamedTuple):
    """Another place that a finding speaks of, in the same file, and what stands there."""

    message: str
    span: Span


class Finding(NamedTuple):
    """One thing that is wrong at one place of one file. `pointer` is a JSON Pointer, as the report gives it.

    `obstacle` says what keeps a repair that the rule knows from being carried out in this text.
    """

    rule: str
    severity: Severity
    message: str
    span: Span
    pointer: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    obstacle: str = ""


class Unread(NamedTuple):
    """What looks like a rubric and is not read as one: the reason, and where it begins.

    `is_known`: it is one for certain, in a form that is not read; else it may be something of another tool.
    """

    reason: str
    line: int
    column: int
    is_known: bool


class Result(NamedTuple):
    """What one file came to: findings in order of place, and how many rubrics, criteria and silenced findings.

    `unread` is what looks like a rubric there and is not read as one. `is_stopped`: the time for the file was over
    before everything was checked, as one of the findings says.
    """

    source: Source
    findings: tuple[Finding, ...]
    rubrics: int = 0
    criteria: int = 0
    ignored: int = 0
    unread: tuple[Unread, ...] = ()
    is_stopped: bool = False


def pointer(path: Path) -> str:
    """Return the JSON Pointer of a path (RFC 6901)."""
    plain = "/".join(map(str, path))
    if "~" not in plain and plain.count("/") == len(path) - 1:
        return "/" + plain
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
