"""Decide what the shares of a judge show, by the rules that `agree` and `assess` have in common."""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from rubric_lint.assess.agreement.label_scale import DoubtedLabels, LabelScales, find_doubted_labels
from rubric_lint.assess.agreement.ratings import Ratings
from rubric_lint.assess.agreement.scales import measures_of
from rubric_lint.assess.agreement.units import AnswerContext
from rubric_lint.assess.measure.labelled import LabelSkew, count_units, find_skew, list_judges
from rubric_lint.assess.measure.needed import (
    MOST_LABELS,
    UnitsSoFar,
    count_labels,
    find_least_units,
    find_rare,
    is_beyond,
)
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.assess.measure.shares import SLIPS, PeopleAgreement, Shares
from rubric_lint.model.messages import counted, pluralize
from rubric_lint.scoring.grading import Verdict
from rubric_lint.scoring.ids import Key

TARGET = Fraction(4, 5)
"""The share of bad answers that a judge should catch on a criterion, and of good ones that it should pass."""


class MeasureOptions(NamedTuple):
    """What to measure: the share of bad answers to catch and of good ones to pass, and which look at the data this is.

    Verdicts at or below the `line` stop an answer, and a verdict rests on so many outputs as `runs` says. `by` is the
    field by which answers are grouped. Labels are on `label_scales`, if somebody said it. `worst` is how many
    disagreements to list, None for all. `about` has what is known of answers besides their records, and `mapping` the
    columns of fields, by the side that they are of.
    """

    target: Fraction = TARGET
    look: int = 1
    line: Verdict = Verdict.FAIL
    runs: int = 1
    by: str = ""
    label_scales: LabelScales = MappingProxyType({})
    worst: int | None = None
    about: Mapping[Key, AnswerContext] = MappingProxyType({})
    mapping: Mapping[str, str] = MappingProxyType({})


USUAL = MeasureOptions()


class Reason(StrEnum):
    """Why the answer for a rubric is what it is."""

    ERRORS = "errors"
    MISSES_BAD = "misses-bad"
    FAILS_GOOD = "fails-good"
    BELOW_IN_GROUP = "below-in-group"
    NOT_JUDGED = "not-judged"
    INVALID = "invalid"
    UNUSABLE = "unusable"
    NO_LABELS = "no-labels"
    BY_VERDICT = "by-verdict"
    SEPARATE = "separate"
    LABELS_REFUSED = "labels-refused"
    LABEL_SCALE = "label-scale"
    PEOPLE_DISAGREE = "people-disagree"
    FEW_LABELS = "few-labels"
    SHARES_REACHED = "shares-reached"


OF_LABELS = {
    Reason.MISSES_BAD: "{judge} lets bad answers pass",
    Reason.FAILS_GOOD: "{judge} stops good answers",
    Reason.BY_VERDICT: "{labels} chosen by the judge's verdict, so {they} do not stand for all answers",
    Reason.SEPARATE: "{labels} not drawn from these answers (`separate`), so {they} do not stand for all of them",
    Reason.LABELS_REFUSED: "{refused} labels are refused for what is in them, and the others do not stand for these",
    Reason.LABEL_SCALE: "the labels of `{person}` seem to be on another scale than the rubric's",
    Reason.PEOPLE_DISAGREE: "your people disagree: of {shared} answers that several labelled, they agree on {alike}",
    Reason.SHARES_REACHED: "{judge} catches at least {target} of bad answers and passes at least {target} of good ones",
}
"""The reasons that labels give, in words."""

OF_INVALID = {
    Reason.MISSES_BAD: "{judge} catches too few bad answers",
    Reason.FAILS_GOOD: "{judge} passes too few good answers",
}
"""The same of a judge with invalid outputs, which neither let an answer pass nor stop it."""


_NOT_RANDOM = (LabelSelection.BY_VERDICT, LabelSelection.SEPARATE)
"""How labels may be chosen that do not stand for all answers."""


class LabelDoubts(NamedTuple):
    """What may make labels say nothing about a judge: how they were chosen, and their scale.

    `ways` counts labels by how they were chosen, and `refused` has how many of how many labels are refused for what is
    in them.
    """

    ways: Mapping[LabelSelection | None, int] = MappingProxyType({})
    skew: LabelSkew | None = None
    doubted: DoubtedLabels | None = None
    refused: tuple[int, int] = (0, 0)

    def find_void(self, people: PeopleAgreement, target: Fraction) -> Reason | None:
        """Return the reason for which labels of these people say nothing about a judge, None if they do."""
        if LabelSelection.BY_VERDICT in self.ways:
            return Reason.BY_VERDICT
        if LabelSelection.SEPARATE in self.ways:
            return Reason.SEPARATE
        # A word on how labels were drawn counts more than what chance hardly explains.
        if self.skew is not None and (None in self.ways or not self.ways):
            return Reason.BY_VERDICT
        refused, labels = self.refused
        # As many as may be slips are let pass; what more of them leaves are labels that were written with more care.
        if refused * SLIPS > labels:
            return Reason.LABELS_REFUSED
        if self.doubted:
            return Reason.LABEL_SCALE
        return Reason.PEOPLE_DISAGREE if people.disagree(target) else None

    def format_values(self, people: PeopleAgreement) -> dict[str, str]:
        """Return the values of the placeholders in `OF_LABELS`, but those that name the judge and the target."""
        labels, they, total = "the labels were", "they", sum(self.ways.values())
        way = next((selection for selection in _NOT_RANDOM if selection in self.ways), None)
        if way is not None and (count := self.ways[way]) < total:  # others were drawn at random, or do not say it
            labels = f"{count:,} of {total:,} labels {pluralize(count, 'was', 'were')}"
            they = "together they"
        refused, given = self.refused
        return {
            "person": self.doubted.person if self.doubted else "",
            "shared": f"{people.double:,}",
            "alike": f"{people.double - len(people.split):,}",
            "labels": labels,
            "they": they,
            "refused": f"{refused:,} of {given:,}",
        }

    def are_by_verdict_alone(self, people: PeopleAgreement, target: Fraction) -> bool:
        """Return whether labels were chosen by the verdict or elsewhere, and nothing else is wrong with them."""
        # As if the labels were drawn at random: is anything else wrong with them?
        others = self._replace(ways={LabelSelection.RANDOM: 1})
        return not self.ways.keys().isdisjoint(_NOT_RANDOM) and others.find_void(people, target) is None


def find_doubts(ratings: Ratings, line: Verdict, scales_known: Collection[str] = ()) -> LabelDoubts:
    """Return the doubts about labels; the scale of some people's labels is known, as somebody said it."""
    doubts = LabelDoubts(ratings.ways, refused=ratings.refused)
    if not ratings.has_joined_labels:
        return doubts
    doubted = None
    if ratings.rubric is not None:
        measures = list(measures_of(ratings.rubric))
        doubted = find_doubted_labels(ratings.people, list_judges(ratings), measures, scales_known)
    return doubts._replace(skew=find_skew(ratings, line), doubted=doubted)


def list_against(shares: Shares, target: Fraction) -> list[Reason]:
    """Return the reasons against a judge: one for each share that is surely below the target."""
    against = []
    if shares.bad_caught.high < target:
        against.append(Reason.MISSES_BAD)
    if shares.good_passed.high < target:
        against.append(Reason.FAILS_GOOD)
    return against


def decide_shares(shares: Shares, target: Fraction, strict: Shares | None = None) -> tuple[Reason, ...]:
    """Return the reasons that the shares of a judge give: against it, for it, or that labels are few.

    Of a criterion, `strict` has the bounds that all criteria of a rubric share: only these make it one to fix.
    """
    against = list_against(strict or shares, target)
    if against:
        return tuple(against)
    return (Reason.SHARES_REACHED,) if shares.reaches(target) else (Reason.FEW_LABELS,)


def count_needed_units(shares: Shares, target: Fraction, level: float, strict: float | None = None) -> int | None:
    """Return how many units in all, judged and labelled, decide with a chance of 4 in 5, None if no number can be said.

    Bounds may be wrong with the probability `level`, upper ones with `strict` if that is given.

    Labelled answers that the judge was not asked show nothing of it. If the others decided, where these were asked too,
    the number is not above that of the units at hand. Else lower bounds go on counting them, and ties, as wrong.
    """
    (bad_x, bad_n), (good_x, good_n) = shares.asked
    if not bad_n + good_n:
        return None
    may_slip = 2 * shares.people.double < shares.people.labelled
    if shares.unasked:
        bad, good = UnitsSoFar(bad_x, bad_n), UnitsSoFar(good_x, good_n)
        needed = count_labels(bad, good, target, level, strict, may_slip=may_slip)
        if needed is not None and needed <= shares.units:
            return needed
    (low_bad_x, low_bad_n), (low_good_x, low_good_n) = shares.lows
    bad = UnitsSoFar(bad_x, bad_n, low_bad_x - bad_x, low_bad_n - bad_n)
    good = UnitsSoFar(good_x, good_n, low_good_x - good_x, low_good_n - good_n)
    return count_labels(bad, good, target, level, strict, may_slip=may_slip, units=shares.units)


def lacks_outputs(shares: Shares, target: Fraction, needed: int | None) -> bool:
    """Return whether outputs are missing rather than labels.

    So many answers, or units of a class, have no valid output that the others cannot reach the target, or the labels at
    hand would decide.
    """
    if shares.unscored > (1 - target) * shares.people.labelled:
        return True
    for share, (_, asked_units) in zip((shares.bad_caught, shares.good_passed), shares.asked, strict=True):
        if asked_units < target * share.n:
            return True
    return shares.unasked > 0 and needed is not None and needed <= shares.units


def format_open(shares: Shares, *, is_verdict: bool) -> str:
    """Say on how many labelled answers people came to no verdict, or have no value for a criterion."""
    total = shares.people.labelled + shares.open
    lacking = "verdict by people, as empty cells decide it" if is_verdict else "value for it by people"
    return f"{shares.open:,} of {total:,} labelled answers have no {lacking}"


def format_wrong(shares: Shares, runs: int) -> Iterator[str]:
    """Yield how many labelled answers have no valid output, or too few for a run, and what that counts as."""
    invalid = shares.unscored - shares.unasked
    if invalid:
        lacking = "without a valid output" if runs == 1 else f"with fewer than {runs} valid judge outputs in each run"
        yield f"{counted(invalid, 'labelled answer')} {lacking}: they count as wrong."
    if shares.partly:
        what = "counts as a wrong one" if runs == 1 else "makes one of several runs wrong"
        yield f"{counted(shares.partly, 'labelled answer')} with an invalid output, which {what}."
    if shares.unasked:
        lacking = "any output" if runs == 1 else f"the {runs} outputs of a run"
        yield f"{counted(shares.unasked, 'labelled answer')} without {lacking}: lower bounds count them as wrong."


def format_slips(shares: Shares, person: str) -> str:
    """Say how many labels of the person who gave most of them may be slips."""
    slip = f"1 label in {SLIPS} may be a slip of `{person}`"
    return f"{slip}: upper bounds leave out up to {shares.slips:,} of each kind on which the judge differs."


def format_missing(shares: Shares, runs: int, *, is_verdict: bool, left_out: int = 0) -> str:
    """Say how many labelled answers have no output that counts, or too few for a run of several.

    Of so many as are `left_out` the judge says that the criterion does not apply.
    """
    valid = "" if is_verdict and shares.unscored == shares.unasked else "valid "
    lacking = f"no {valid}judge output" if runs == 1 else f"fewer than {runs} {valid}judge outputs"
    have = pluralize(shares.unscored, "has", "have")
    answers = counted(shares.people.labelled, "labelled answer")
    if left_out:
        lacking = f"no value by the judge, which says of {left_out:,} that the criterion does not apply"
    elif not is_verdict:  # an output may have the verdict alone
        lacking += " for it"
    return f"{shares.unscored:,} of {answers} {have} {lacking}"


def format_target(target: Fraction) -> str:
    """Write a target share: as a percentage if that is whole."""
    if target * 100 % 1:
        return f"{float(target):.10g}"
    return f"{float(target):.0%}"


def format_unsettled(
    shares: Shares, target: Fraction, level: float, judge: str = "the judge", when: str = "", *, are_questions: bool
) -> str:
    """Say why no number of labels can be named that decides; the bounds to come are wrong with probability `level`."""
    bad, good = shares.bad_caught.n, shares.good_passed.n
    least = find_least_units(target, level)
    if is_beyond(least):
        what = f"{format_target(target)} needs at least {least:,} bad and {least:,} good ones{when}"
        return f"even {MOST_LABELS} labels would probably not settle it: {what}"
    rare = find_rare(bad, good, least)
    if rare:
        how = f"even {MOST_LABELS} labels would probably hold too few"
        return f"{rare} answers are too rare among these: {how} to settle it"
    if max(bad, good) < least:
        units = "questions" if are_questions else "answers"
        return f"too few labelled {units} to say more; {least} bad and {least} good ones are the least{when}"
    if min(bad, good) < least:
        few = count_units(min(bad, good), is_bad=bad < good, are_questions=are_questions)
        are = pluralize(min(bad, good), "is", "are")
        return f"only {few} {are} labelled; {least} bad and {least} good ones are the least{when}"
    return f"{judge} is too near {format_target(target)}: even {MOST_LABELS} labels would probably not settle it"
