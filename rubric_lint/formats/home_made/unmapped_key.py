"""A key that bears on a score and that nothing reads, and what messages say of it."""

import re
from dataclasses import dataclass
from typing import Any

from rubric_lint.formats.home_made.roles import Role, is_pass_mark
from rubric_lint.model.criterion import USUAL_THRESHOLDS, read_number
from rubric_lint.model.finding import ADOPT_IT
from rubric_lint.model.messages import shorten
from rubric_lint.source.path import Path

ADOPT = str(ADOPT_IT)
"""How to say in a table what a file leaves open: the command tries on the file what it suggests."""


@dataclass(frozen=True)
class UnmappedKey:
    """A key that bears on a score and is not read, with its place, its value and what it may be.

    With `is_around`, it stands around criteria, not in one. `quote` are the words of a text that contradict what is
    read.
    """

    place: Path
    role: Role
    value: Any
    quote: str = ""
    is_around: bool = False

    @property
    def is_several(self) -> bool:
        """Whether it holds more than one value, or criteria of its own."""
        return isinstance(self.value, list | dict)

    @property
    def is_of_case(self) -> bool:
        """Whether it may leave out a case in a list of cases, which bears on no score: `skip: true`."""
        return self.is_around and self.role is Role.LEFT_OUT

    @property
    def name(self) -> str:
        """The key in its place that is no score."""
        steps = [step for step in self.place if isinstance(step, str) and not re.fullmatch(r"-?\d+", step)]
        return shorten(steps[-1]) if steps else ""

    @property
    def reason(self) -> str:
        """What is said of it where a table of the settings describes the criteria, or can."""
        if self.quote:
            return f"{self.subject}; {ADOPT}"
        return f"{self.subject}, and is not read; {ADOPT}{_IN_THE_FILE.get(self.role, '')}"

    def format_without_table(self, mark: str = "") -> str:
        """Say what it may be, and what to do where no table describes the criteria.

        `mark` is what to do about a mark, if the settings are not the place for it.
        """
        if self.quote:
            return f"{self.subject}; turn the scale around, and remove it here"
        advice = _ADVICE_WITHOUT_TABLE.get(self.role, _WITHOUT_TABLE)
        if self.role in (Role.PASS, Role.VERDICT):
            advice = mark or self._advise_settings()
        return f"{self.subject}, and is not read; {advice}"

    @property
    def subject(self) -> str:
        """What it may be, or what it says against what is read."""
        if self.quote:
            return f'`{self.name}` says "{shorten(self.quote)}", but the highest score is read as the best'
        one, several = _SUBJECTS[self.role]
        said = f": {shorten(self.value)}" if isinstance(self.value, str) else ""
        return f"`{self.name}` may hold {several}" if self.is_several else f"`{self.name}{said}` may {one}"

    def _advise_settings(self) -> str:
        """Say how to write a mark into the settings of rubric-lint."""
        mark = read_number(self.value)
        if mark is None or not 0 < mark <= 1 or not is_pass_mark(self.name):
            marks = "write its marks as `pass` and `borderline` into the settings of rubric-lint, each from 0 to 1"
            return f"{marks}, and remove it here, or remove it if it does not count"
        settings = f"`pass = {self.value}`"
        if mark < USUAL_THRESHOLDS.borderline_at:
            settings = f"{settings} and `borderline = {self.value}`"
        return f"write {settings} into the settings of rubric-lint, and remove it here"


_SUBJECTS = {
    Role.WEIGHT: ("say how much a criterion counts", "weights"),
    Role.NEGATIVE: ("be a penalty", "penalties"),
    Role.GATE: ("be a gate", "gates"),
    Role.PASS: ("be a pass mark", "pass marks"),
    Role.VERDICT: ("say which scores pass or fail", "pass marks or grades"),
    Role.COMBINE: ("be how scores combine", "how scores combine"),
    Role.LEFT_OUT: ("leave a criterion out", "what leaves criteria out"),
    Role.DIRECTION: ("say which scores are better", "which scores are better"),
    Role.CHANGE: ("change scores", "what changes scores"),
    Role.OPEN: ("bear on the score", "what bears on the score"),
    Role.SCALE: ("say the scale of scores", "the scale of scores"),
    Role.LEVELS: ("have levels", "levels without scores"),
    Role.CRITERIA: ("hold criteria too", "criteria too"),
    Role.JUDGED_BY: ("say that no judge decides about a criterion", "what decides instead of a judge"),
}
"""What a key may be, or hold if it holds several values."""

_IN_THE_FILE = {
    Role.COMBINE: '; no other way is scored than "mean", "share" and "all"',
    Role.LEFT_OUT: "; if a criterion is left out, remove that criterion",
    Role.JUDGED_BY: "; if code or a person decides about a criterion, move it to a list of its own",
}
"""What to do in the file where no table says what the key does."""

_ADVICE_WITHOUT_TABLE = {
    Role.COMBINE: "no other way than the usual one is scored; remove it if that is the one you mean",
    Role.DIRECTION: "give the best answer the highest score, and remove it",
    Role.LEFT_OUT: "remove it, and a criterion too if that is left out",
    Role.SCALE: "write what its scores mean into the criteria, or remove it if it does not count",
}
_WITHOUT_TABLE = "write what it says into the criteria, or remove it if it does not count"
