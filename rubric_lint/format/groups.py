"""Model the groups of a rubric of version 3: a tree of nodes whose leaves are its criteria."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from rubric_lint.text.path import Path


@dataclass(frozen=True, slots=True)
class Group:
    """A node of a rubric: its root, whose id is empty, or a group.

    `id` is its path of ids, such as `code/style`, and `path` its place in the document. `weight` is that in the node
    around it. `gate` is the lowest share in 0..1 that passes; None without a gate. `applies_if` is its condition and
    `outcome` what it judges as a whole, each empty if it has none. `members` are groups, and criteria by their index
    in `View.data`.
    """

    id: str
    path: Path
    weight: Decimal
    gate: Fraction | None
    applies_if: str
    outcome: str
    members: tuple["Group | int", ...]

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
