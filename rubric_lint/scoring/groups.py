"""Weigh the groups of a rubric: what does not apply is left out, so that the denominator depends on the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple


class Member(NamedTuple):
    """A part of a group with its weight among the others: a group, or a criterion by its place in the rubric."""

    weight: Fraction
    part: "ScoringGroup | int"


@dataclass(frozen=True, slots=True)
class ScoringGroup:
    """A node of a rubric as it is scored: its root (id "") or a group.

    `weight` is that in its parent as it is written, `gate` the lowest score in 0..1 that passes, None without a gate.
    """

    id: str
    weight: Fraction
    gate: Fraction | None
    members: tuple[Member, ...]

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
                earning += max(weight, Fraction(0))
        return GroupResult(self, max(earned / earning, Fraction(0)) if earning else None), *inside


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
