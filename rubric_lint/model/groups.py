"""Model the groups of a rubric of version 3: a tree of nodes whose leaves are its criteria."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from rubric_lint.model.criterion import Hundredth, as_integers, to_fraction
from rubric_lint.source.path import Path


@dataclass(frozen=True, slots=True)
class Group:
    """A node of a rubric: its root, whose id is empty, or a group.

    `id` is its path of ids, such as `code/style`, and `path` its place in the document. `weight` is that in the node
    around it. `gate` is the lowest share in 0..1 that passes; None without a gate. `applies_if` is its condition and
    `outcome` what it judges as a whole, each empty if it has none. `members` are groups, and criteria by their index
    in `View.data`. `units` are the worst and the best score of its scale, None without one.
    """

    id: str
    path: Path
    weight: Decimal
    gate: Fraction | None
    applies_if: str
    outcome: str
    members: tuple["Group | int", ...]
    units: tuple[int, int] | None = None

    @property
    def written_gate(self) -> str:
        """The gate as `format_gate` words it; empty without one."""
        return "" if self.gate is None else format_gate(self.gate, self.units)

    @property
    def groups(self) -> Iterator["Group"]:
        """The groups in it at any depth, in document order, without itself."""
        for member in self.members:
            if isinstance(member, Group):
                yield member
                yield from member.groups

    @property
    def leaves(self) -> Iterator[int]:
        """The indexes of the criteria in it at any depth, in document order."""
        for member in self.members:
            if isinstance(member, Group):
                yield from member.leaves
            else:
                yield member

    def share_out(self, weights: Sequence[Decimal | None]) -> Iterator[tuple[int, Fraction]]:
        """Yield the index of each criterion and its part in the score, by the weights in the nodes.

        What weighs nothing in a node, or has no weight, has the part 0.
        """
        return ((member, share) for member, share in self.share_all(weights) if not isinstance(member, Group))

    def share_all(
        self, weights: Sequence[Decimal | None], share: Fraction = Fraction(1)
    ) -> Iterator[tuple["Group | int", Fraction]]:
        """Yield each group and the index of each criterion with its part in the score, as `share_out` has it."""
        exact: list[Fraction] = []
        for member in self.members:
            weight = member.weight if isinstance(member, Group) else weights[member]
            exact.append(to_fraction(weight or Decimal(0)))
        total = sum(weight for weight in exact if weight > 0)
        for member, weight_of_member in zip(self.members, exact, strict=True):
            part = share * weight_of_member / total if total else Fraction(0)
            yield member, part
            if isinstance(member, Group):
                yield from member.share_all(weights, part)

    def flatten(self, weights: Sequence[Decimal | None]) -> list[Decimal | None]:
        """Return the weights of all criteria in one average that says the same, as the smallest integers."""
        whole = as_integers(dict(self.share_out(weights)))
        return [
            weight if weight is None or index not in whole else Decimal(whole[index])
            for index, weight in enumerate(weights)
        ]


def format_in_units(share: Fraction, units: tuple[int, int] | None) -> str:
    """Write a share in units of a scale, from its worst to its best score; without one as it is, from 0 to 1."""
    worst, best = map(Hundredth.fraction, units or (0, 1))
    exact = worst + (best - worst) * share
    rounded = Decimal(exact.numerator) / exact.denominator
    return f"{rounded.normalize():f}" if Fraction(rounded) == exact else str(exact)


def format_gate(gate: Fraction, units: tuple[int, int] | None) -> str:
    """Write the gate of a group in units of its scale: `>= 3.5`, or `<= 3` if lower scores are better."""
    sign = "<=" if units and units[0] > units[1] else ">="
    return f"{sign} {format_in_units(gate, units)}"
