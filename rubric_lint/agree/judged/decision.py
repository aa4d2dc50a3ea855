"""What a rule on judged data comes to: a statement about a place in the rubric, or why there cannot be one yet."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.scoring.grading import AnswerValue


class Spot(NamedTuple):
    """A place in a rubric: all of it (without a criterion), a criterion, its gate, or what one answer earns."""

    criterion: str | None = None
    is_gate: bool = False
    answer: AnswerValue | None = None


class Decision(NamedTuple):
    """A statement that a rule makes: one of its messages, with its values. `other` is another place it is about."""

    rule: str
    spot: Spot
    code: str
    values: Mapping[str, object]
    other: Spot | None = None


class Untested(NamedTuple):
    """What a rule cannot decide with the data at hand: of which criteria, why, and how much would do."""

    rule: str
    names: tuple[str, ...]
    reason: str
    needed: int
    unit: str = "answers"

    def to_json(self) -> dict[str, Any]:
        """Return it as in the JSON report."""
        return {
            "rule": self.rule,
            "of": list(self.names),
            "reason": self.reason,
            "needed": self.needed,
            "unit": self.unit,
        }


Outcomes = Iterator[Decision | Untested]
