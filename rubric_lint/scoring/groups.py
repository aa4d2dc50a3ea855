"""Weigh the groups of a rubric: what does not apply is left out, so that the denominator depends on the answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple


class GroupMember(NamedTuple):
    """A part of a group with its weight among the others: a group, or a criterion by its place in the rubric."""

    weight: Fraction
    part: "ScoringGroup | int"


@dataclass(frozen=True, slots=True)
class ScoringGroup:
    """A node of a rubric as it is scored: its root (id "") or a group.

    `weight` is that in its parent as it is written, `gate` the lowest score in 0..1 that passes, None without a gate.
    `units` are the worst and the best score of its scale, None without one.
    """

    id: str
    weight: Fraction
    gate: Fraction | None
    members: tuple[GroupMember, ...]
    units: tuple[int, int] | None = None

    @property
    def earning(self) -> Fraction:
        """The sum of the weights above 0 of its members."""
        return sum((weight for weight, _ in self.members if weight > 0), Fraction(0))

    def list_groups(self) -> Iterator["ScoringGroup"]:
        """Yield it, and then all groups inside it, in the order of the file."""
        yield self
        for _, part in self.members:
            if isinstance(part, ScoringGroup):
                yield from part.list_groups()

    def list_shares(self, share: Fraction = Fraction(1)) -> Iterator[tuple[int, Fraction]]:
        """Yield the place of each criterion and its part of `share`, if all criteria apply."""
        earning = self.earning
        for weight, part in self.members:
            if isinstance(part, ScoringGroup):
                yield from part.list_shares(share * weight / earning)
            else:
                yield part, share * weight / earning

    def weigh(self, scores: Sequence[Fraction | None]) -> tuple["GroupResult", ...]:
        """Return the result of it, and then those of all groups inside it.

        `scores` are those of the criteria, None for one that does not apply.
        """
        earned = earning = Fraction(0)
        inside: tuple[GroupResult, ...] = ()
        for weight, part in self.members:
            if isinstance(part, ScoringGroup):
                results = part.weigh(scores)
                score = results[0].score
                inside += results
            else:
                score = scores[part]
            if score is not None:
                earned += weight * score
                # What only costs points is not among those that an answer can earn.
                earning += max(weight, Fraction(0))
        # An answer can lose more points than it earned, and no score is below 0.
        own = max(earned / earning, Fraction(0)) if earning else None
        return (GroupResult(self, own), *inside)

    def find_ranges(
        self, ranges: Sequence["ScoreBounds"], *, meet_gates: bool = False
    ) -> Iterator[tuple["ScoringGroup", "ScoreBounds"]]:
        """Yield the range of all groups inside it, and last its own; `ranges` are those of the criteria.

        With `meet_gates`, its gates are met, and only `high` is exact; that of a group with a weight above 0.
        """
        parts = []
        for weight, part in self.members:
            if isinstance(part, ScoringGroup):
                inside = tuple(part.find_ranges(ranges, meet_gates=meet_gates))
                yield from inside
                parts.append((weight, inside[-1][1]))
            else:
                parts.append((weight, ranges[part]))
        # A group has no score if nothing applies in which points can be earned, whatever else does.
        may_not_apply = all(bounds.may_not_apply for weight, bounds in parts if weight > 0)
        if any(bounds.high is None and not bounds.may_not_apply for _, bounds in parts):
            low = high = None  # no answer meets the gates
            may_not_apply = False
        else:
            low, high = _find_extreme(parts, min), _find_extreme(parts, max)
        if meet_gates and self.gate is not None and high is not None and high < self.gate:
            low = high = None
        yield self, ScoreBounds(low, high, may_not_apply)


def _find_extreme(parts: Sequence[tuple[Fraction, "ScoreBounds"]], choose: Callable[..., Fraction]) -> Fraction | None:
    """Return the lowest (`min`) or highest (`max`) score of a group; None if it has none.

    What may not apply counts only where it moves the score further: a mean is highest with its best parts alone.
    """
    earned = earning = Fraction(0)
    optional = []
    for weight, (low, high, may_not_apply) in parts:
        if low is None or high is None:
            continue
        score = choose(weight * low, weight * high)
        if not may_not_apply:
            earned += score
            earning += max(weight, Fraction(0))
        elif weight > 0:
            optional.append((score / weight, weight))
        else:
            # It only costs points: the lowest score has it, the highest one goes without.
            earned += choose(score, Fraction(0))
    means = [earned / earning] if earning else []
    # In this order the extreme mean is that of one of the beginnings, so that no other choice has to be tried.
    for score, weight in sorted(optional, reverse=choose is max):
        earned += score * weight
        earning += weight
        means.append(earned / earning)
    return max(choose(means), Fraction(0)) if means else None


class ScoreBounds(NamedTuple):
    """The lowest and the highest score of a part of a rubric if it applies, and whether it may not apply.

    Both scores are None if it cannot apply, or cannot have a score.
    """

    low: Fraction | None
    high: Fraction | None
    may_not_apply: bool


class GroupResult(NamedTuple):
    """The result of a group: its score in 0..1, None if nothing in it applies that an answer can earn."""

    group: ScoringGroup
    score: Fraction | None

    @property
    def gate_met(self) -> bool:
        """Whether the gate is met; that of a group that does not apply is."""
        return self.score is None or self.group.gate is None or self.score >= self.group.gate

    def to_json(self) -> dict[str, Any]:
        """Return the group as it appears in results."""
        return {
            "id": self.group.id,
            "score": None if self.score is None else float(self.score),
            "weight": float(self.group.weight),
            "gate": None if self.group.gate is None else float(self.group.gate),
            "gate_met": self.gate_met,
        }
