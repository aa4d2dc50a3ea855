"""A key that bears on a score and that nothing reads, and what messages say of it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from rubric_lint.formats.home_made.direction import HIGH_WORDS
from rubric_lint.formats.home_made.format_table import split_words
from rubric_lint.formats.home_made.roles import Role, is_pass_mark
from rubric_lint.formats.home_made.scores import is_amount
from rubric_lint.model.criterion import USUAL_THRESHOLDS, read_number
from rubric_lint.model.messages import shorten
from rubric_lint.source.path import Path, pointer


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
        named = f"`{pointer(self.place)}`" if self.is_around else f"`{self.name}`"  # a name is that of a field
        if self.quote:
            advice = f"run `rubric-lint adopt FILE`, or name {named} under `unused` in a table of the settings"
            return f"{self.subject}; {advice}"
        table = "in a table of the settings, which `rubric-lint adopt FILE` writes,"
        return f"{self.subject}, and is not read; {table} {self._advise(named if self.is_around else 'it')}"

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

    @property
    def _marks(self) -> list[str]:
        """The keys of its numbers, each of which may be a mark."""
        if not isinstance(self.value, dict):
            return []
        return [key for key, value in self.value.items() if is_amount(value)]

    def _advise(self, named: str) -> str:
        """Say what to write into a table."""
        without = f"name {named} under `unused` if it does not count"
        is_number = is_amount(self.value)
        if self._may_be_shared_gate:
            under_pass = "" if self.role is Role.GATE else "under `pass` if the score of all must, "
            advice = f"name {named} under `gate` if each criterion must reach it, {under_pass}or {without}"
        elif self.role in _ADVICE and not (self.role is Role.OPEN and self.is_several):
            advice = _ADVICE[self.role].format(named=named, without=without)
        elif self.role is Role.VERDICT and not is_number:
            advice = f"name {named} under `unused`, and if it says which score passes, write that one under `pass`"
        elif self.role is Role.VERDICT:
            setting = "pass" if self.is_around else "gate"
            advice = f"name {named} under `{setting}` if it is the lowest score that passes, or {without}"
        elif self.is_around and self.role is Role.PASS and self._marks:
            first = pointer((*self.place, self._marks[0]))
            advice = f"name its number that an answer must reach under `pass`, such as `{first}`, or {without}"
        elif self.is_several:
            advice = f"write it into the criteria, or {without}"
        elif self.is_around and self.role is not Role.PASS:  # no setting for a whole rubric takes it
            advice = without
        elif self.role in (Role.GATE, Role.NEGATIVE) and self._is_word:  # only the value marks a criterion
            key = self.name if re.fullmatch(r"[\w-]+", self.name, re.ASCII) else json.dumps(self.name)
            value = shorten(json.dumps(self.value, ensure_ascii=False))
            advice = f"write `{_SETTINGS[self.role]} = {{ {key} = {value} }}`, or {without}"
        else:
            advice = f"name {named} under `{_SETTINGS[self.role]}`, or under `unused` if it does not count"
        return advice

    @property
    def _may_be_shared_gate(self) -> bool:
        """Whether it is a number around criteria that may be what each of them must reach."""
        is_number = self.is_around and is_amount(self.value)
        return is_number and self.role in (Role.GATE, Role.OPEN) and not split_words(self.name) & HIGH_WORDS

    @property
    def _is_word(self) -> bool:
        return self.value is False or (isinstance(self.value, str) and not is_amount(self.value))

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

_SETTINGS = {Role.WEIGHT: "weight", Role.NEGATIVE: "negative", Role.GATE: "gate", Role.PASS: "pass"}
"""The setting of a table that takes the key."""

_ADVICE = {
    Role.OPEN: "say what it is, or {without}",
    Role.LEVELS: "name it under `levels`, with the score of each in `level-scores`, or {without}",
    Role.COMBINE: (
        'write `combine` as "mean", "share" or "all" if that says the same, and name {named} under `unused`; no other '
        "way is scored"
    ),
    Role.DIRECTION: 'write `better = "lower"` if the lowest score is the best of each criterion, or {without}',
    Role.LEFT_OUT: "{without}; if a criterion is left out, remove that criterion",
    Role.CHANGE: "{without}",
    Role.JUDGED_BY: "{without}; if code or a person decides about a criterion, move it to a list of its own",
}
"""What to write into a table where no setting takes the key."""

_ADVICE_WITHOUT_TABLE = {
    Role.COMBINE: "no other way than the usual one is scored; remove it if that is the one you mean",
    Role.DIRECTION: "give the best answer the highest score, and remove it",
    Role.LEFT_OUT: "remove it, and a criterion too if that is left out",
    Role.SCALE: "write the scores as the `levels` of each criterion, or remove it if it does not count",
}
_WITHOUT_TABLE = "write what it says into the criteria, or remove it if it does not count"
