"""Say which records are not compared, or are invalid, each with its reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.model.messages import counted, join_words

NO_ID = "no `id` to join by"
NO_RATER = "no `rater`; say who judged in each label"
NO_JUDGE = "it names no model, and the file has outputs of several judges"
UNKNOWN_SHEET = "none of its columns is known"
SKIPPED = "nothing is entered, so the rater skipped the answer; the shares hold only if that was by chance"
NO_VERDICT = "of the verdict only, which the empty cells decide; fill them in"
NOTHING_APPLIES = "by it nothing in the rubric applies that earns points, so it has no verdict"
OTHER_MEANING = "judged by another version of the rubric, as `rubric_hash` says; judge again, or use --any-version"
TWICE = "one person gave the id different labels; keep one of them"
OTHER_ANSWER = "one judge has other texts in `answer` or `question` under the same id; give each answer its own id"
SEVERAL_VERSIONS = "one judge judged the id with several versions of the rubric; judge again with one"
NO_OUTPUT = "the record holds no judge output, so lower bounds count the answer as wrong"
OTHER_RUBRIC = "the record is of no rubric here, so lower bounds count the answer as wrong"
NO_RESULT = "no judge has a result for the id, so lower bounds count the answer as wrong"
NO_ANSWER = "ANSWERS has no answer with the id of the label"
OTHER_TEXT = "the label has another text in `answer` than the result with its id; label the judged answer"
NO_ZEROS = "results have the id with leading zeros, which spreadsheets drop; import that column as text"
OTHER_TYPE = 'a file has the id in two types, as 1 and "1", so every file has to have the right one; write them alike'
WAYS = tuple(map(str, LabelSelection))
"""What `chosen` may say of a label."""

UNKNOWN_CHOICE = f"unknown `chosen`; expected {join_words(WAYS, 'or')}"
REFUSALS = {
    NO_ID: "fill in `id`",
    NO_RATER: "fill in `rater`",
    UNKNOWN_CHOICE: f"write {join_words(WAYS, 'or')} in `chosen`",
    TWICE: "keep one label of a person for an answer",
}
"""What to correct in labels that are refused for what is in them, by the reason for which they are left out."""

_MOST_PLACES = 5
"""The most records that a message lists."""


@dataclass(slots=True)
class LeftOut:
    """Records, or what `noun` says, that are not compared for one reason: how many, and the first of them."""

    reason: str
    count: int = 0
    records: list[str] = field(default_factory=list)
    noun: str = "record"

    def add(self, record: str) -> None:
        """Count a record."""
        self.count += 1
        if len(self.records) < _MOST_PLACES:
            self.records.append(record)

    def __str__(self) -> str:
        more = [f"{self.count - len(self.records):,} more"] if self.count > len(self.records) else []
        return f"{counted(self.count, self.noun)} left out ({self.reason}): {join_words([*self.records, *more])}"

    def to_json(self) -> dict[str, Any]:
        """Return the records as in the JSON report."""
        return {"reason": self.reason, "count": self.count, "records": self.records}


@dataclass(frozen=True)
class InvalidRecord:
    """A record that cannot be read or scored: its place, its id if it has one, and why.

    So many `outputs` of a judge in it count as wrong ones. If none does, `reason` says why, unless it is a label.
    """

    file: str
    line: int
    id: Any
    path: str
    message: str
    is_label: bool = False
    outputs: int = 0
    reason: str = ""

    def __str__(self) -> str:
        name = "" if self.id is None else f" (id {self.id})"
        path = f" {self.path}" if self.path else ""
        reason = f" (left out: {self.reason})" if self.reason else ""
        return f"{self.file}:{self.line}{name}{path}: {self.message}{reason}"

    def to_json(self) -> dict[str, Any]:
        """Return the record as in the JSON report."""
        return {name: getattr(self, name) for name in ("file", "line", "id", "path", "message")}


def list_invalid(invalid: Sequence[InvalidRecord], most: int = 20) -> Iterator[str]:
    """Yield a line for each of the first invalid records, and one that counts the others."""
    yield from map(str, invalid[:most])
    if len(invalid) > most:
        yield f"... and {len(invalid) - most:,} more invalid records; --format json lists them all"
