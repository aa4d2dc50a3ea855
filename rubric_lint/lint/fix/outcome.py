"""Define which fixes are wanted, and what became of a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rubric_lint.model.finding import LIST_CHOICES, Finding, Result
from rubric_lint.model.messages import join_words
from rubric_lint.model.schema_files import VERSION_3
from rubric_lint.rules import BY_NAME
from rubric_lint.source.edits.intents import Fix
from rubric_lint.source.source import Source


class FixSelection(NamedTuple):
    """Which fixes to apply besides the safe ones: the plain `unsafe` ones, and those that are named in `choices`.

    Where a finding has several of the named choices, the one that is named first is applied.
    """

    unsafe: bool = False
    choices: tuple[str, ...] = ()

    def pick(self, finding: Finding) -> Fix | None:
        """Return the fix of a finding that is to be applied."""
        if finding.choices and self.choices:
            wanted = self.choices
            chosen = [fix for fix in finding.choices if fix.choice in wanted or {*fix.choice.split(",")} <= {*wanted}]
            if len(chosen) == 1:
                return chosen[0]
            if chosen:  # of those that begin with the first name, the one that takes up most of the names
                return min(chosen, key=self._rank)
        return finding.fix if finding.fix and (self.unsafe or finding.fix.safe) else None

    def _rank(self, fix: Fix) -> tuple[int, int]:
        names = fix.choice.split(",")  # two go together, as in `upper-keeps,add-band`
        return min(self.choices.index(name) for name in names), -len(names)


SAFE = FixSelection()
"""Only the safe fixes."""


class Applied(NamedTuple):
    """An applied fix: its rule and its title."""

    rule: str
    title: str


class Left(NamedTuple):
    """A finding that a user may expect to be fixed but that stays, with the reason."""

    finding: Finding
    reason: str


class Note(NamedTuple):
    """What a user should know of a rewriting, with the offset in the original text that it is about, if any.

    For a release of AgentV it has the `code` of its message too, and the `values` in it.
    """

    message: str
    at: int | None = None
    code: str = ""
    values: Mapping[str, object] = {}


CONVERSIONS = ("agentv-", VERSION_3)
"""What the names of conversions begin with, which stand among those of the rules of fixes."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The outcome of fixing one file; with a `doubt`, the text is unchanged and nothing may be written.

    `original` are the bytes as read, `result` is the lint result after the fixes. `left_out` says why the file keeps
    naming the schema of an older version. `refused` has the reason for each finding, by its rule and its JSON Pointer,
    whose fix was tried and did not pass the proof.
    `unmet` is what a target cannot express or load, `is_suite` whether the file is a suite that a target could have.
    `notes` are assumptions of a rewriting. `doubt_at` is the offset of the cause of the doubt, if it is known.
    `is_kept_back`: it could be rewritten, but not all files that belong together can.
    """

    before: Source
    original: bytes
    result: Result
    applied: tuple[Applied, ...] = ()
    doubt: str = ""
    left_out: str = ""
    refused: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unmet: tuple[Left, ...] = ()
    notes: tuple[Note, ...] = ()
    doubt_at: int | None = None
    is_suite: bool = False
    is_kept_back: bool = False

    @property
    def is_changed(self) -> bool:
        """True if there is something to write."""
        return bool(self.applied)

    @property
    def conversion(self) -> Applied | None:
        """The conversion to a release of AgentV or to version 3, one of the applied fixes; None if there was none."""
        return next((applied for applied in self.applied if applied.rule.startswith(CONVERSIONS)), None)

    @property
    def text(self) -> str:
        """The text after the fixes."""
        return self.result.source.text if self.applied else self.before.text

    @property
    def data(self) -> bytes:
        """The bytes after the fixes; without any, the original bytes."""
        return self.before.to_bytes(self.text) if self.applied else self.original

    def faults(self) -> Iterator[Finding]:
        """Return the syntax errors of the file."""
        return (finding for finding in self.result.findings if finding.rule == "syntax")

    def left(self, *, unsafe: bool = False, choices: Sequence[str] = ()) -> Iterator[Left]:
        """Find the findings that a user may expect to be fixed, with the reason why they are not."""
        wish = FixSelection(unsafe, tuple(choices))
        yield from self.unmet
        for finding in self.result.findings:
            if wish.pick(finding):
                reason = self.doubt or self.refused.get((finding.rule, finding.pointer))
                yield Left(finding, reason or "it conflicts with another fix")
            elif finding.choices and (wish.unsafe or LIST_CHOICES in wish.choices):
                answers = [f"{fix.title} (--choose {fix.choice})" for fix in finding.choices]
                yield Left(finding, f"only you can choose: {join_words(answers, 'or')}")
            elif finding.fix or finding.choices:
                continue
            elif finding.obstacle or BY_NAME[finding.rule].fix == "safe":
                yield Left(finding, finding.obstacle or finding.message)
