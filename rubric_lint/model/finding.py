"""Define the problems that rules yield (`Problem`) and the findings made of them (`Finding`)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from rubric_lint.source.edits.intents import Fix, Repair
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Source, Span

LIST_CHOICES = "?"
"""The name of a choice that asks to list the answers instead of applying one."""


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"
    """Never makes a run fail."""


class RelatedPlace(NamedTuple):
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
    pick one, and `obstacle` says why there is no repair where one may be expected. `keyword` is the keyword of the JSON
    Schema that is violated, if it is one; also `dependencies`, if a field needs another one with it.
    """

    code: str
    path: Path
    part: Part = Part.VALUE
    values: Mapping[str, object] = {}
    related: tuple[RelatedPlace, ...] = ()
    repair: Repair | None = None
    span: Span | None = None
    choices: tuple[Repair, ...] = ()
    keyword: str = ""
    obstacle: str = ""


class Related(NamedTuple):
    """Another place that a finding refers to, and its description. `source` is its file, if it is another one.

    `path` is the value there, if the linter found it in the file itself.
    """

    message: str
    span: Span
    source: Source | None = None
    path: Path = ()


class Finding(NamedTuple):
    """An error, a warning or a hint at one place of one file. `pointer` is the JSON Pointer for reports.

    `fix` is the one plain fix, `choices` are fixes of which only an author can pick one. `obstacle` says why a known
    fix cannot be made in this text. `code` names the rule and the message, as in `overlap.shared-scores`, and `values`
    are what the message says of this place. `criterion` are what identifies its criterion, of which a fix may change
    one: its JSON Pointer, its id and its text.
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
    criterion: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return hash(self[:-2])  # `values` have no hash, and the message has them


def list_fixes(finding: Finding) -> list[Fix]:
    """Return all fixes of a finding: the plain one, and those that only an author can pick."""
    plain = [finding.fix] if finding.fix else []
    return [*plain, *finding.choices]


_STEPS = {
    "rename": "rename it to `{}`",
    "rewrite": "{}",
    "move": "move it {}",
    "comment": "put the comment `# $schema: {}` at the top of the file",
    "key": 'add `"$schema": "{}"` at the top level',
    "key-of-lines": 'add `"$schema": "{}"` at the top level of each line',
    "setting": "name the file in the setting `{}`",
    "file-name": "name the file `{}`",
    "run": "run `rubric-lint {} FILE`",
}


class NearMissStep(NamedTuple):
    """One step of the way to get a near miss read: what to `do`, and with what; `str` puts it into words."""

    do: str
    what: str

    def __str__(self) -> str:
        return _STEPS[self.do].format(self.what)


ADOPT_IT = NearMissStep("run", "adopt")
"""The step for a home-made format: the command asks what the file leaves open, and writes the table."""


class UnreadPlace(NamedTuple):
    """A near miss at a path: the problem, the steps to have it read, and whether it is meant for us or looks so.

    `others` are the places of what the same reason holds for.
    """

    path: Path
    problem: str
    steps: tuple[NearMissStep, ...] = ()
    part: Part = Part.KEY
    is_known: bool = True
    others: Sequence[Path] = ()

    @property
    def reason(self) -> str:
        """The problem with what to do about it."""
        if not self.steps:
            return self.problem
        *others, last = map(str, self.steps)
        if not others:
            return f"{self.problem} {last}"
        joint = ", and " if any(step.do == "rewrite" for step in self.steps[:-1]) else " and "
        return f"{self.problem} {', '.join(others)}{joint}{last}"


class Unread(NamedTuple):
    """A near miss, which is skipped: the reason with what to do about it, and its place.

    `is_known`: it certainly is a rubric, in an unsupported form; otherwise it may belong to another tool. `signs`
    counts what else makes a rubric likely; reports list the likeliest first. `steps` say to a program what to do.
    """

    reason: str
    line: int
    column: int
    is_known: bool
    signs: int = 0
    steps: tuple[NearMissStep, ...] = ()

    @property
    def rank(self) -> tuple[bool, int]:
        """The order in which to list near misses: the smallest is the likeliest rubric."""
        return not self.is_known, -self.signs

    def to_json(self, file: str) -> dict[str, Any]:
        """Return it as the JSON reports have it."""
        data: dict[str, Any] = {
            "file": file,
            "reason": self.reason,
            "line": self.line,
            "column": self.column,
            "is_known": self.is_known,
        }
        if self.steps:
            data["steps"] = [step._asdict() for step in self.steps]
        return data


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
