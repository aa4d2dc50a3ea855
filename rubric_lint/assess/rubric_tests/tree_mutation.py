"""Change a rubric with conditions or groups, and decide exactly whether a change alters a verdict.

What such a criterion is worth depends on which others apply. So the scores that answers give before and after a change
are followed together, from the criteria up to the rubric: only the different pairs of scores of a part matter. Where a
gate is missed before and after, the verdict is fail both times.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, cast

from rubric_lint.assess.rubric_tests.changes import (
    UNSCORED,
    Mutant,
    Points,
    TooManySumsError,
    Witness,
    change_gate,
    change_thresholds,
    pair_grades,
    regate,
)
from rubric_lint.assess.rubric_tests.running import format_score
from rubric_lint.model.groups import Group
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.groups import GroupMember, ScoringGroup
from rubric_lint.scoring.loading import RubricPlaces

MOST_STATES = 30_000
"""The most pairs of scores of a part that are followed."""

_Answers = Any
"""The answers that lead somewhere: the index and the answer of a criterion, or a pair of such answers, or None."""


class _ScorePair(NamedTuple):
    """The scores of a part before and after a change, None if it does not apply, and whether its gates are met."""

    before: Fraction | None
    after: Fraction | None
    met_before: bool = True
    met_after: bool = True


class _GroupSums(NamedTuple):
    """The points that the members of a group earned and could earn, before and after a change, and their gates."""

    earned: Fraction
    earning: Fraction
    earned_after: Fraction
    earning_after: Fraction
    met_before: bool = True
    met_after: bool = True


class _ReachedScores:
    """The scores that answers reach which meet all gates, in ascending order."""

    least = 0

    def __init__(self, scores: Sequence[Fraction]) -> None:
        self._scores = scores

    def lowest(self, low: Points) -> Points | None:
        return next((score for score in self._scores if score >= low), None)

    def above(self, points: Points) -> Points | None:
        return next((score for score in self._scores if score > points), None)

    def highest(self, low: Points, stop: Points | None = None) -> Points | None:
        below = (score for score in reversed(self._scores) if score >= low and (stop is None or score < stop))
        return next(below, None)


_ZERO = Fraction(0)


class TreeEquivalence:
    """Decides for the mutants of one rubric; what a part comes to that no change touches is found once."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self._rubric = rubric
        self._root = _complete(rubric)
        self._known: dict[tuple[str, frozenset[int]], dict[_GroupSums, _Answers]] = {}

    def make_mutants(self, places: RubricPlaces) -> Iterator[Mutant]:
        """Make every change of the rubric: of its criteria and groups, then of the thresholds.

        Raises:
            TooManySumsError: if the scores are too many to find the next one.
        """
        rubric = self._rubric
        for index, criterion in enumerate(rubric.criteria):
            yield from change_gate(rubric, index, criterion, places)
        if rubric.tree:
            for group in rubric.tree.list_groups():
                yield from _change_group_gate(rubric, group, places, self)
                yield from _change_weights(rubric, group, places)
        if rubric.model.view and rubric.model.view.tree:
            yield from _drop_conditions(rubric, rubric.model.view.tree, places)
        yield from change_thresholds(rubric, places, _ReachedScores(self.list_scores()))

    def list_scores(self, group: ScoringGroup | None = None) -> list[Fraction]:
        """Return the scores of a group in ascending order, or of the rubric, where the gates inside are met.

        Raises:
            TooManySumsError: if there are too many.
        """
        part = replace(group, gate=None) if group else self._root
        states = self._follow(part, part, self._rubric.criteria)
        return sorted({state.before for state in states if state.before is not None})

    def find_witness(self, mutant: Mutant) -> Witness | None:
        """Return an answer whose verdict a mutant alters, of those the one with the highest score; None without one.

        Raises:
            TooManySumsError: if the answers give too many pairs of scores.
        """
        before, after = self._rubric, mutant.rubric
        best: tuple[Fraction, Witness] | None = None
        for state, answers in self._follow(self._root, _complete(after), after.criteria).items():
            old = _decide(before, state.before, gates_met=state.met_before)
            new = _decide(after, state.after, gates_met=state.met_after)
            score = Fraction(-1) if state.before is None else state.before
            if old != new and (best is None or score > best[0]):
                by_number = dict(_flatten(answers))
                named = {criterion.id: by_number[number] for number, criterion in enumerate(before.criteria)}
                best = score, Witness(named, old, new)
        return best[1] if best else None

    def _follow(
        self, before: ScoringGroup, after: ScoringGroup, criteria: Sequence[ScoringCriterion]
    ) -> dict[_ScorePair, _Answers]:
        """Return the pairs of scores of a group before and after a change, with answers that lead to them."""
        pairs = enumerate(zip(before.members, after.members, strict=True))
        changed = frozenset(at for at, (old, new) in pairs if self._differs(old, new, criteria))
        sums = self._add_unchanged(before, changed)
        for at in sorted(changed):
            sums = self._add(sums, before.members[at], after.members[at], criteria)
        states: dict[_ScorePair, _Answers] = {}
        for total, answers in sums.items():
            old, new = _divide(total.earned, total.earning), _divide(total.earned_after, total.earning_after)
            met_before = total.met_before and _meets(old, before.gate)
            met_after = total.met_after and _meets(new, after.gate)
            if met_before or met_after:
                states.setdefault(_ScorePair(old, new, met_before, met_after), answers)
        return states

    def _differs(self, before: GroupMember, after: GroupMember, criteria: Sequence[ScoringCriterion]) -> bool:
        places = [before.part] if isinstance(before.part, int) else [at for at, _ in before.part.list_shares()]
        return before != after or any(self._rubric.criteria[at] is not criteria[at] for at in places)

    def _add_unchanged(self, group: ScoringGroup, changed: Collection[int]) -> dict[_GroupSums, _Answers]:
        """Return the sums of the members of a group, without those that a change touches."""
        key = (group.id, frozenset(changed))
        if key not in self._known:
            sums: dict[_GroupSums, _Answers] = {_GroupSums(_ZERO, _ZERO, _ZERO, _ZERO): None}
            for at, member in enumerate(group.members):
                if at not in changed:
                    sums = self._add(sums, member, member, self._rubric.criteria)
            self._known[key] = sums
        return self._known[key]

    def _add(
        self,
        sums: dict[_GroupSums, _Answers],
        before: GroupMember,
        after: GroupMember,
        criteria: Sequence[ScoringCriterion],
    ) -> dict[_GroupSums, _Answers]:
        """Return the sums with one more member."""
        if isinstance(before.part, int):
            states = self._list_grades(before.part, criteria)
        else:
            states = self._follow(before.part, cast("ScoringGroup", after.part), criteria)
        totals: dict[_GroupSums, _Answers] = {}
        steps = []
        for state, answers in states.items():
            earned = earning = earned_after = earning_after = _ZERO
            if state.before is not None:
                # What only costs points is not among those that can be earned.
                earned, earning = before.weight * state.before, max(before.weight, _ZERO)
            if state.after is not None:
                earned_after, earning_after = after.weight * state.after, max(after.weight, _ZERO)
            steps.append((earned, earning, earned_after, earning_after, state, answers))
        for so_far, others in sums.items():
            for earned, earning, earned_after, earning_after, state, answers in steps:
                met_before, met_after = so_far.met_before and state.met_before, so_far.met_after and state.met_after
                if met_before or met_after:
                    total = _GroupSums(
                        so_far.earned + earned,
                        so_far.earning + earning,
                        so_far.earned_after + earned_after,
                        so_far.earning_after + earning_after,
                        met_before,
                        met_after,
                    )
                    totals.setdefault(total, (others, answers))
            if len(totals) > MOST_STATES:
                raise TooManySumsError
        return totals

    def _list_grades(self, number: int, criteria: Sequence[ScoringCriterion]) -> dict[_ScorePair, _Answers]:
        states: dict[_ScorePair, _Answers] = {}
        # The best answer first: of those with one pair of scores the first is kept, for a witness as good as can be.
        for before, after in reversed(list(pair_grades(self._rubric.criteria[number], criteria[number]))):
            if before.gate_met or after.gate_met:
                scores = [None if grade.answer == NOT_APPLICABLE else grade.score for grade in (before, after)]
                pair = _ScorePair(scores[0], scores[1], before.gate_met, after.gate_met)
                states.setdefault(pair, (number, before.answer))
        return states


def _decide(rubric: ScoringRubric, score: Fraction | None, *, gates_met: bool) -> str:
    """Return the verdict of a score; without one, that there is none."""
    return UNSCORED if score is None else rubric.decide(score, gates_met=gates_met)


def _divide(earned: Fraction, earning: Fraction) -> Fraction | None:
    """Return the score of a group in 0..1; None if nothing in it applies that earns points."""
    return max(earned / earning, _ZERO) if earning else None


def _meets(score: Fraction | None, gate: Fraction | None) -> bool:
    return score is None or gate is None or score >= gate


def _complete(rubric: ScoringRubric) -> ScoringGroup:
    """Return the root of a rubric with the criteria that weigh nothing in it, such as critical failures."""
    if rubric.tree is None:
        raise TypeError("a rubric without a tree")
    inside = {at for at, _ in rubric.tree.list_shares()}
    others = [GroupMember(_ZERO, at) for at in range(len(rubric.criteria)) if at not in inside]
    return replace(rubric.tree, members=rubric.tree.members + tuple(others))


def _flatten(answers: _Answers) -> Iterator[tuple[int, AnswerValue]]:
    waiting = [answers]
    while waiting:
        match waiting.pop():
            case (int(number), answer):
                yield number, answer
            case (first, second):
                waiting += (first, second)


def _change_group_gate(
    rubric: ScoringRubric, group: ScoringGroup, places: RubricPlaces, scores: TreeEquivalence
) -> Iterator[Mutant]:
    gate = group.gate
    if gate is None:
        return
    reached = scores.list_scores(group)
    met, missed = [score for score in reached if score >= gate], [score for score in reached if score < gate]
    if not missed:
        return
    # The least score that meets the gate is what it comes to already: the next one makes a difference.
    stricter, looser = met[1:2], missed[-1:]
    changes: list[tuple[str, Fraction | None]] = [
        (f"becomes {format_score(score)}", score) for score in stricter + looser
    ]
    changes.append(("is removed", None))
    for change, moved in changes:
        changed = _replace_group(rubric, replace(group, gate=moved))
        called = f"the gate {format_score(gate)} of the group `{group.id}`, in its scores from 0 to 1,"
        yield Mutant(f"{called} {change}", places.gate(group.id), changed)


def _change_weights(rubric: ScoringRubric, group: ScoringGroup, places: RubricPlaces) -> Iterator[Mutant]:
    for at, (weight, part) in enumerate(group.members):
        if isinstance(part, ScoringGroup):
            name, called = part.id, f"the group `{part.id}`"
            spot = places.criterion(name)
            inside = [place for place, _ in part.list_shares()]
            freed: ScoringGroup | int = _rebuild(part, lambda group: replace(group, gate=None))
        elif rubric.criteria[part].is_failure:
            continue
        else:
            name = rubric.criteria[part].id
            called, spot = f"`{name}`", places.field(name, "weight")
            inside, freed = [part], part
        if weight:
            for word, factor in (("doubled", Fraction(2)), ("halved", Fraction(1, 2))):
                changed = _replace_group(rubric, _reweigh_member(group, at, weight * factor, part))
                yield Mutant(f"the weight of {called} is {word}", spot, changed)
        if group.earning > max(weight, _ZERO):  # else nothing is left to divide by
            without = _replace_group(rubric, _reweigh_member(group, at, _ZERO, freed))
            for index in inside:
                without = regate(without, index, lambda _: True)
            yield Mutant(f"{called} is removed", places.criterion(name), without)


def _reweigh_member(group: ScoringGroup, at: int, weight: Fraction, part: ScoringGroup | int) -> ScoringGroup:
    members = list(group.members)
    members[at] = GroupMember(weight, part)
    return replace(group, members=tuple(members))


def _rebuild(group: ScoringGroup, change: Callable[[ScoringGroup], ScoringGroup]) -> ScoringGroup:
    """Return a group in which each group inside is changed, and then the whole."""
    members = [
        GroupMember(weight, _rebuild(part, change) if isinstance(part, ScoringGroup) else part)
        for weight, part in group.members
    ]
    return change(replace(group, members=tuple(members)))


def _replace_group(rubric: ScoringRubric, new: ScoringGroup) -> ScoringRubric:
    """Return a rubric with a group in the place of that with its id."""

    def choose(group: ScoringGroup) -> ScoringGroup:
        return new if group.id == new.id else group

    tree = rubric.tree and _rebuild(rubric.tree, choose)
    return replace(rubric, tree=tree)


def _drop_conditions(rubric: ScoringRubric, root: Group, places: RubricPlaces) -> Iterator[Mutant]:
    """Remove each condition: a criterion that did not apply is at its worst then, if it has no other condition.

    `owners` has what a condition is of, with the numbers of the criteria for which it holds.
    """
    owners: list[tuple[str, frozenset[int]]] = [
        (criterion.id, frozenset([index]))
        for index, criterion in enumerate(rubric.model.criteria)
        if criterion.applies_if
    ]
    owners += [(group.id, frozenset(group.leaves)) for group in root.groups if group.applies_if]
    times = Counter(index for _, inside in owners for index in inside)
    for name, inside in owners:
        freed = {index for index in inside if times[index] == 1}
        if freed:
            criteria = list(rubric.criteria)
            for index in freed:
                criteria[index] = replace(criteria[index], may_not_apply=False)
            changed = replace(rubric, criteria=tuple(criteria))
            yield Mutant(f"`applies_if` of `{name}` is removed", places.condition(name), changed)
