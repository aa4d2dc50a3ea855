"""Define the problems that rules yield (`Problem`) and the findings made of them (`Finding`)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Source, Span

if TYPE_CHECKING:
    from rubric_lint.text.nunjucks import Marks


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"
    """Never makes a run fail."""


class RenameKey(NamedTuple):
    """Intent: write the field at `path` under the key `name`."""

    path: Path
    name: str


class ReplaceValue(NamedTuple):
    """Intent: replace the scalar at `path` with `text`: a scalar, or a range such as `[0, 3]`."""

    path: Path
    text: str


class RemoveField(NamedTuple):
    """Intent: remove the field at `path`, keeping its comments.

    If it repeats the field `beside` it, it goes only if that is so in every mapping that has both from this text.
    """

    path: Path
    beside: str = ""


class AddField(NamedTuple):
    """Intent: add the missing field `name` with the scalar `text` to the mapping at `path`."""

    path: Path
    name: str
    text: str


class WrapText(NamedTuple):
    """Intent: replace the string at `path` with a mapping that has it in the field `name`, after or between others.

    `before` and `after` are the names and scalars of those fields.
    """

    path: Path
    name: str
    before: tuple[str, str]
    after: tuple[str, str] | None = None


class NestField(NamedTuple):
    """Intent: move the field at `path` to the key `inner` of a mapping, the only item of the list `name`.

    `before` is the name and the scalar of the field above it in that mapping.
    """

    path: Path
    name: str
    before: tuple[str, str]
    inner: str


class Reorder(NamedTuple):
    """Intent: put the items of the list, or the fields of the mapping, at `path` in the order of `steps`."""

    path: Path
    steps: tuple[str | int, ...]


class PutUnder(NamedTuple):
    """Intent: put the field at `path` into a new mapping, which takes its place under the key `name`.

    In that mapping its key is `inner`, or the one that it has.
    """

    path: Path
    name: str
    inner: str = ""


class Dissolve(NamedTuple):
    """Intent: replace the field at `path` with the fields of its value, a mapping."""

    path: Path


class MoveField(NamedTuple):
    """Intent: move the field at `path` to the end of the mapping at `to`."""

    path: Path
    to: Path


class JoinLists(NamedTuple):
    """Intent: move the items of the list at `path` to the end of the list at `to`, and remove the field at `path`."""

    path: Path
    to: Path


class InsertField(NamedTuple):
    """Intent: add the field `name` whose value is written as the JSON `text`, above the field at `path`."""

    path: Path
    name: str
    text: str


class WrapValue(NamedTuple):
    """Intent: make the scalar at `path` the only item of a list."""

    path: Path


class UnwrapValue(NamedTuple):
    """Intent: replace the list at `path` with its only item, a scalar."""

    path: Path


class EscapeText(NamedTuple):
    """Intent: write the string at `path` so that a renderer of Nunjucks templates gives it back unchanged.

    With `has_escapes`, what is escaped already stays as it is; else it is a text like any other. `marks` says what to
    replace.
    """

    path: Path
    has_escapes: bool = True
    marks: "Marks" = "templates"


class InsertItems(NamedTuple):
    """Intent: insert copies of the list item at `path` after it, or `before` it.

    Each copy is the item with other scalars: their paths in the item, and what is written there.
    """

    path: Path
    copies: tuple[tuple[tuple[Path, str], ...], ...]
    before: bool = False


class MoveItems(NamedTuple):
    """Intent: move the items `steps` of the list at `path` into a copy of `holder`, whose only items there they are.

    The holder is the list item that has the list, and the copy comes right after it; or it is the whole document, and
    the copy becomes the last document of the file, with the index `number`. `changes` are the other scalars of the
    copy: their paths in the holder, and what is written there. `make_fix` fills in `number` and `changes`.
    """

    path: Path
    steps: tuple[int, ...]
    holder: Path
    changes: tuple[tuple[Path, str], ...] = ()
    number: int = 0


class Replace(NamedTuple):
    """Intent: replace `span` with `text`, for places without a path, such as a comment."""

    span: Span
    text: str


Restructuring = (
    PutUnder | Dissolve | MoveField | JoinLists | InsertField | WrapValue | UnwrapValue | EscapeText | MoveItems
)
"""The intents that move whole parts of a document."""

Intent = (
    RenameKey
    | ReplaceValue
    | RemoveField
    | AddField
    | WrapText
    | NestField
    | Reorder
    | InsertItems
    | Replace
    | Restructuring
)


class Repair(NamedTuple):
    """A fix as a rule states it: what to do to which paths. `safe`: it cannot change the meaning of the rubric.

    `choice` is the name of this answer where several are possible. `is_local`: the fix is left out if other
    criteria share the text through anchors.
    """

    title: str
    intents: tuple[Intent, ...]
    safe: bool
    choice: str = ""
    is_local: bool = False


class Place(NamedTuple):
    """Another place that a problem refers to, and its description. `span`, if given, overrides `path`.

    `source` is the file that `span` is in, if not that of the problem.
    """

    message: str
    path: Path
    part: Part = Part.VALUE
    span: Span | None = None
    source: Source | None = None


class Problem(NamedTuple):
    """A problem that a rule found, in terms of the document. `span`, if given, is the place; `path` only names it.

    `code` is a key of the rule's `messages`, and `values` are what that text leaves open; `{line}` there is the line of
    the first place in `related`, which the engine knows, as it does the criterion's name, which it puts before the
    message. `repair` is the one plain answer, if there is one; `choices` are other answers, of which only an author can
    pick one. `keyword` is the keyword of the JSON Schema that is violated, if it is one; also `dependencies`, if a
    field needs another one beside it.
    """

    code: str
    path: Path
    part: Part = Part.VALUE
    values: Mapping[str, object] = {}
    related: tuple[Place, ...] = ()
    repair: Repair | None = None
    span: Span | None = None
    choices: tuple[Repair, ...] = ()
    keyword: str = ""


class Edit(NamedTuple):
    """Replace the text at `span` with `text`."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A fix in terms of the text: sorted, disjoint edits. `safe`: it cannot change what the rubric means.

    `intents` describe the same change of the data; the result of the edits is compared with it. `choice` is the name of
    this answer where several are possible.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool
    intents: tuple[Intent, ...] = ()
    choice: str = ""


class Related(NamedTuple):
    """Another place that a finding refers to, and its description. `source` is its file, if it is another one."""

    message: str
    span: Span
    source: Source | None = None


class Finding(NamedTuple):
    """An error, a warning or a hint at one place of one file. `pointer` is the JSON Pointer for reports.

    `fix` is the one plain fix, `choices` are fixes of which only an author can pick one. `obstacle` says why a known
    fix cannot be made in this text. `code` names the rule and the message, as in `overlap.shared-scores`, and `values`
    are what the message says of this place.
    """

    rule: str
    severity: Severity
    message: str
    span: Span
    pointer: str
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    obstacle: str = ""
    choices: tuple[Fix, ...] = ()
    code: str = ""
    values: Mapping[str, object] = {}


class Unread(NamedTuple):
    """A near miss, which is skipped: the reason with what to do about it, and its place.

    `is_known`: it certainly is a rubric, in an unsupported form; otherwise it may belong to another tool. `signs`
    counts what else makes a rubric likely; reports list the likeliest first.
    """

    reason: str
    line: int
    column: int
    is_known: bool
    signs: int = 0

    @property
    def rank(self) -> tuple[bool, int]:
        """The order in which to list near misses: the smallest is the likeliest rubric."""
        return not self.is_known, -self.signs

    def to_json(self, file: str) -> dict[str, str | int | bool]:
        """Return it as the JSON reports have it."""
        return {
            "file": file,
            "reason": self.reason,
            "line": self.line,
            "column": self.column,
            "is_known": self.is_known,
        }


class Result(NamedTuple):
    """The result for one file: findings ordered by place, and the numbers of rubrics, criteria and silenced findings.

    `unread` lists the near-rubrics. `is_stopped`: the time limit was reached before everything was linted; one of the
    findings says so. `tests` is the number of rubric tests in the file; if they were run, `passed` and `failed` say how
    many of them did, and `tested` has their ids. `judged` has the rules on judged data that had data enough for all
    that they test.
    """

    source: Source
    findings: tuple[Finding, ...]
    rubrics: int = 0
    criteria: int = 0
    ignored: int = 0
    unread: tuple[Unread, ...] = ()
    is_stopped: bool = False
    tests: int = 0
    passed: int = 0
    failed: int = 0
    judged: frozenset[str] = frozenset()
    tested: tuple[str, ...] = ()


def pointer(path: Path) -> str:
    """Return the JSON Pointer of a path (RFC 6901)."""
    plain = "/".join(map(str, path))
    if "~" not in plain and plain.count("/") == len(path) - 1:
        return "/" + plain
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
