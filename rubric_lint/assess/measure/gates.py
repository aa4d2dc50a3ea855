"""Decide what labels say of a judge, on one criterion or by the verdict: the one measure of `agree` and `assess`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rubric_lint.assess.judged.outcomes import at_most, level_of_criterion
from rubric_lint.assess.measure.decision import (
    OF_INVALID,
    OF_LABELS,
    LabelDoubts,
    Reason,
    count_needed_units,
    decide_shares,
    format_open,
    format_target,
    format_unsettled,
    lacks_outputs,
)
from rubric_lint.assess.measure.groups import find_level
from rubric_lint.assess.measure.labelled import Cut, InapplicableAnswers, LabelledAnswers
from rubric_lint.assess.measure.shares import PeopleAgreement, Shares, measure_shares


@dataclass(frozen=True)
class GateStandard:
    """The share of bad answers to catch and of good ones to pass, and how sure that has to be at a look at the data.

    Looks and `judges` share the error, and so do the `criteria` of a rubric that of a bound against a judge; without
    them, it is the standard for verdicts.
    """

    target: Fraction
    look: int
    judges: int
    criteria: int | None = None

    @property
    def level(self) -> float:
        """The probability with which a bound that clears a judge may be wrong."""
        return find_level(self.look, max(self.judges, 1))

    @property
    def strict(self) -> float:
        """The probability with which a bound against a judge may be wrong."""
        if self.criteria is None:
            return self.level
        return level_of_criterion(self.criteria) / max(self.judges, 1) / self.look

    @property
    def following(self) -> "GateStandard":
        """The standard at the next look."""
        return replace(self, look=self.look + 1)


@dataclass(frozen=True)
class GateMeasure:
    """How a judge decides what the label decides: whether an answer is good or bad, as the `meets` of a measure says.

    `reasons` say what the shares show by the standard, `reason` the same in words. If nothing, `is_void`. The upper
    bounds of `strict` are those that speak against the judge. `needed` is the least number of units in all that decides
    with a chance of 4 in 5, if any does. Without a gate, labels have a `cut`. `inapplicable` counts the
    answers to which a conditional criterion does not apply.
    """

    shares: Shares
    strict: Shares
    standard: GateStandard
    reasons: tuple[Reason, ...]
    reason: str = ""
    needed: int | None = None
    are_questions: bool = False
    cut: Cut | None = None
    inapplicable: InapplicableAnswers | None = None

    @property
    def is_void(self) -> bool:
        """Whether labels say nothing about the judge."""
        return self.reasons[0] in _VOID

    @property
    def is_against(self) -> bool:
        """Whether the judge surely errs too often."""
        return not _AGAINST.isdisjoint(self.reasons)

    def to_json(self) -> dict[str, Any]:
        """Return the gate as in the JSON report."""
        shares = {"bad_caught": self.shares.bad_caught, "good_passed": self.shares.good_passed}
        decision = {"target": float(self.standard.target), "reasons": self.reasons, "reason": self.reason}
        return {**shares, **decision, "labels_needed": self.needed}


_VOID = frozenset(
    {
        Reason.NO_LABELS,
        Reason.BY_VERDICT,
        Reason.SEPARATE,
        Reason.LABELS_REFUSED,
        Reason.LABEL_SCALE,
        Reason.PEOPLE_DISAGREE,
    }
)
"""The reasons for which nothing is said about a judge."""

_AGAINST = frozenset({Reason.MISSES_BAD, Reason.FAILS_GOOD})


def measure_gate(labelled: LabelledAnswers, standard: GateStandard, void: Reason | None = None) -> GateMeasure:
    """Measure a judge by labelled answers, whose labels may be `void` for what is wrong with all of them."""
    shares = measure_shares(labelled.answers, standard.level)
    strict = shares
    if standard.strict != standard.level:
        strict = measure_shares(labelled.answers, standard.strict)
    gate = GateMeasure(shares, strict, standard, (Reason.NO_LABELS,))
    gate = replace(gate, are_questions=labelled.are_questions, cut=labelled.cut, inapplicable=labelled.inapplicable)
    if not shares.people.labelled:
        return gate
    if void is None and shares.people.disagree(standard.target):
        void = Reason.PEOPLE_DISAGREE
    if void is not None:
        return replace(gate, reasons=(void,))
    reasons = decide_shares(shares, standard.target, strict)
    needed = None
    if Reason.FEW_LABELS in reasons:
        # With more labels it is the next look at the data, whose bounds are wider.
        needed = count_needed_units(shares, standard.target, standard.following.level, standard.following.strict)
    return replace(gate, reasons=reasons, needed=needed)


def format_decision(
    gate: GateMeasure, people: PeopleAgreement, doubts: LabelDoubts, missing: str, *, is_invalid: bool, is_verdict: bool
) -> str:
    """Say what the shares show of a judge.

    Reasons are about the `people`; `missing` says how many answers lack outputs, of which some may be invalid.
    """
    if gate.reasons == (Reason.NO_LABELS,):
        return "no judged answer has a label that says it"
    if gate.reasons == (Reason.FEW_LABELS,):
        return _format_few(gate, missing, is_verdict=is_verdict)
    words: Mapping[Reason, str] = OF_LABELS | OF_INVALID if is_invalid else OF_LABELS
    bounds = {Reason.MISSES_BAD: gate.strict.bad_caught, Reason.FAILS_GOOD: gate.strict.good_passed}
    values = {"judge": "the judge", "target": format_target(gate.standard.target), **doubts.format_values(people)}
    parts = []
    for reason in gate.reasons:
        bound = f" ({at_most(bounds[reason].high, gate.standard.target)})" if reason in bounds else ""
        parts.append(words[reason].format_map(values) + bound)
    if Reason.LABEL_SCALE in gate.reasons and doubts.doubted:
        parts.append(f"say --label-scale {doubts.doubted.proposed} or, if that is wrong, {doubts.doubted.own}")
    return "; ".join(parts)


def _format_few(gate: GateMeasure, missing: str, *, is_verdict: bool) -> str:
    """Say what labels lack to decide."""
    shares, standard = gate.shares, gate.standard
    for share, kind in ((shares.bad_caught, "bad"), (shares.good_passed, "good")):
        if not share.n:
            return f"no labelled answer is {kind}, so nothing shows how the judge treats {kind} answers"
    if shares.open:
        return (
            f"not settled; {format_open(shares, is_verdict=is_verdict)}, so lower bounds count them against the judge"
        )
    if lacks_outputs(shares, standard.target, gate.needed):
        return f"not settled; {missing}, so lower bounds count them as wrong"
    if gate.needed is None:
        level, when = standard.following.level, f" at look {standard.following.look}"
        why = format_unsettled(shares, standard.target, level, when=when, are_questions=gate.are_questions)
        return f"not settled; {why}"
    more = gate.needed - shares.units
    what = f"labels of answers to {more:,} more questions" if gate.are_questions else f"{more:,} more labels"
    return f"not settled; if the judge goes on as so far, {what}, drawn at random, decide with a chance of 4 in 5"
