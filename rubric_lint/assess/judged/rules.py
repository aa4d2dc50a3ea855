"""The rules on judged data: what the values of a rubric show, alone and next to the labels of people."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from statistics import NormalDist
from typing import NamedTuple

from rubric_lint.assess.agreement.coefficients import correlate, rank
from rubric_lint.assess.judged.outcomes import (
    JudgedStatement,
    Outcomes,
    RubricTarget,
    Untested,
    at_least,
    at_most,
    corrected,
    count_in_a_row,
    level_of,
    level_of_criterion,
    name_answers,
    names_of,
    share_of,
)
from rubric_lint.assess.judged.table import JudgedColumn, JudgedTable
from rubric_lint.assess.measure.bounds import incomplete_beta, lower_bound, upper_bound, upper_tail
from rubric_lint.assess.measure.decision import TARGET, Reason
from rubric_lint.assess.measure.labelled import LabelledAnswers, count_units
from rubric_lint.assess.measure.shares import Shares, measure_shares
from rubric_lint.model.messages import counted, join_words, percent, pluralize
from rubric_lint.scoring.ids import name_key

_LEAST = 30
"""The fewest answers for a statement about samples, and for a correlation."""

_MOST_ALIKE = Fraction(4, 5)
"""The share of answers that may have the commonest value, or be in the commonest band."""

_MOST_UNSTABLE = 0.1
"""The share of pairs of samples that may differ."""

_SMALLEST_P = 0.0001
"""The smallest p value that is worth its digits."""

_LEAST_LENGTHS = 60
"""The fewest answers for a statement about lengths."""


def find_flat(table: JudgedTable) -> Outcomes:
    """Find criteria on which nearly all answers have one value, or are in one band; that no answer fails is right."""
    tests = len(table.columns)
    columns = [column for column in table.columns if not column.is_failure]
    # From fewer answers nothing follows, even if all of them are alike.
    needed = count_in_a_row(_MOST_ALIKE, share_of(tests))
    yield from _list_few("judged-flat", table, [(column, len(column.known)) for column in columns], needed)
    for column in columns:
        n = len(column.known)
        if n < needed:
            continue
        steps = [None if position is None else column.measure.step(position) for position in column.given]
        # Of two that are equally common the lower one, not the one that a set has first.
        usual = max(sorted({*map(column.measure.step, column.known)}), key=steps.count)
        alike = steps.count(usual)
        if upper_tail(alike, n, float(_MOST_ALIKE)) >= level_of(tests):
            continue
        code = "alike"
        share = f"all {n}" if alike == n else f"{alike} of {n}"
        values: dict[str, object] = {
            "share": f"{share} judged answers",
            "value": _name_step(column, usual),
            "bound": at_least(lower_bound(alike, n, level_of(tests))),
            "budget": corrected(tests),
        }
        labels = [(number, label) for number, label in enumerate(column.labels) if label is not None]
        differing = [
            number for number, label in labels if steps[number] == usual and column.measure.step(label) != steps[number]
        ]
        if differing and not table.void:
            code, look = "labels-differ", name_answers(table, differing)
            values |= {"differing": len(differing), "labelled": len(labels), "look": look}
        yield JudgedStatement("judged-flat", RubricTarget(column.name), code, values)


def _name_step(column: JudgedColumn, step: int) -> str:
    """Say what an answer got: a check, a band, a level or a score."""
    if column.is_check:
        return "met it" if step else "missed it"
    scale = (column.bands or column.measure).scale
    return f"got the {scale.kind} {scale.show(step)}"


def _list_few(
    rule: str, table: JudgedTable, counts: Iterable[tuple[JudgedColumn, int]], needed: int
) -> Iterator[Untested]:
    """Yield the criteria with fewer answers than a rule needs, those with equally many together."""
    few: dict[int, list[JudgedColumn]] = {}
    for column, n in counts:
        if n < needed:
            few.setdefault(n, []).append(column)
    for n, columns in few.items():
        where = "" if n == table.answers else " to which it applies"
        yield Untested(rule, names_of(columns), f"{counted(n, 'judged answer')}{where}", needed)


def find_unstable(table: JudgedTable) -> Outcomes:
    """Find gates and verdicts that change between samples of one answer.

    The number of answers that flip is the sum of their shares of differing pairs, rounded down, and its bound that of
    Clopper and Pearson.
    """
    gated = [column for column in table.columns if column.is_gated]
    level, sampled = level_of_criterion(len(table.columns)) / table.look, table.sampled
    if sampled < _LEAST:
        have = f"{sampled or 'no'} {pluralize(sampled, 'answer has', 'answers have')} several samples by one judge"
        unit, gates = "answers with samples", names_of(gated)
        yield Untested("judged-unstable", (*gates, "verdict"), have, _LEAST, unit, (*gates, None))
        return
    samples = join_words([str(size) for size in table.samples], "or")
    for place, rate in table.flips.items():
        sampled = table.sampled_of.get(place, table.sampled)
        if sampled < _LEAST and place is not None:
            column = table.columns[place]
            where = "to which it applies" if column.measure.may_not_apply else "that have a value for it"
            have = f"{sampled or 'no'} {pluralize(sampled, 'answer')} with several samples {where}"
            yield Untested("judged-unstable", (column.name,), have, _LEAST, "answers with samples")
            continue
        flipped = math.floor(rate * sampled)
        if upper_tail(flipped, sampled, _MOST_UNSTABLE) >= level:
            continue
        bound = at_least(lower_bound(flipped, sampled, level))
        values = {
            "rate": percent(rate),
            "bound": bound,
            "budget": corrected(3 * (len(table.columns) + 1) * table.look),
            "n": sampled,
            "samples": samples,
        }
        if place is None:
            yield JudgedStatement("judged-unstable", RubricTarget(), "verdict", values)
        else:
            column = table.columns[place]
            meets, names = column.measure.meets or (), column.measure.scale.names
            gate = next(at for at in range(1, len(meets)) if meets[at] is not meets[at - 1])
            advice = f"say what separates {names[gate - 1]} from {names[gate]}"
            if column.is_check:
                advice = "say what an answer must have to meet it"
            yield JudgedStatement(
                "judged-unstable", RubricTarget(column.name, is_gate=True), "gate", {**values, "advice": advice}
            )


def find_inverse(table: JudgedTable) -> Outcomes:
    """Find the criterion whose worth falls most clearly when that of the others rises."""
    columns, n, rule = table.columns, table.answers, "judged-inverse"
    if len(columns) < 3:
        if len(columns) == 2:
            yield Untested(rule, names_of(columns), "of two criteria the direction is unknown", 3, "criteria")
        return
    if n < _LEAST:
        yield Untested(rule, names_of(columns), counted(n, "judged answer"), _LEAST)
        return
    tests = len(columns)
    correlations = correlate_with_rest(columns)
    sizes = [size for _, size in correlations]
    yield from _list_few(rule, table, zip(columns, sizes, strict=True), _LEAST)
    # If only chance decides which rank goes with which, r has the variance 1/(n - 1). Of ranks with many ties the tail
    # is longer than that of Student's t (1.3% for 1% of 10 checks and 30 answers), and no longer than the normal one.
    quantile = NormalDist().inv_cdf(level_of(tests))
    tested = [(column, r, size) for column, (r, size) in zip(columns, correlations, strict=True) if size >= _LEAST]
    lowest, found = 0.0, -1
    for place, (_, r, size) in enumerate(tested):
        correlation = 1.0 if r is None else r
        score = correlation * math.sqrt(size - 1)
        if found < 0 or score < lowest:
            lowest, found = score, place
    if lowest < quantile:
        column, r, size = tested.pop(found)
        critical = quantile / math.sqrt(size - 1)
        advice = "check its direction" if column.is_check else "check its direction and the order of its values"
        values = {"r": f"{r:.2f}", "n": size, "chance": f"{critical:.2f}", "budget": corrected(tests)}
        code = "turned" if column.is_turned else "correlation"
        yield JudgedStatement(rule, RubricTarget(column.name), code, {**values, "advice": advice})
    for size in dict.fromkeys(size for _, _, size in tested):
        yield from _list_hidden([(column, r) for column, r, own in tested if own == size], size)


def _list_hidden(hidden: Iterable[tuple[JudgedColumn, float | None]], n: int) -> Iterator[Untested]:
    """Yield the criteria whose direction the answers hide, by their correlations."""
    constant, alone, blind, needed = list[str](), list[str](), list[str](), 0
    for column, r in hidden:
        off = len(column.known) - max(column.known.count(position) for position in set(column.known))
        if r is None and not off:
            constant.append(column.name)
        elif r is None:
            alone.append(column.name)
        elif 10 * off <= n:
            blind.append(column.name)
            # With k more answers off the commonest value, their share is above a tenth.
            needed = max(needed, (n - 10 * off) // 9 + 1)
    if constant:
        answers = "the only answer" if n == 1 else f"all {n} answers"
        unit = "answers with another value"
        yield Untested("judged-inverse", tuple(constant), f"judged alike in {answers}", n // 9 + 1, unit)
    if alone:
        reason = f"the mean of the other criteria is the same in all {n} answers"
        yield Untested("judged-inverse", tuple(alone), reason, n // 9 + 1, "answers with another mean")
    if blind:
        reason = f"one value in at least 90% of {n} answers, which hides the direction"
        yield Untested("judged-inverse", tuple(blind), reason, needed, "more answers with another value")


def correlate_with_rest(columns: Sequence[JudgedColumn]) -> list[tuple[float | None, int]]:
    """Return for each column the correlation of its worth with the mean of the others, and of how many answers.

    It is None if one of the two is constant. Criteria that do not apply to an answer are left out of its mean.
    Spearman's correlation of the item with the rest; Henrysson 1963, https://doi.org/10.1007/BF02289618.
    """
    unit = math.lcm(*(worth.denominator for column in columns for worth in column.worth))
    values: list[list[int | None]] = []
    for column in columns:
        worth = [int(share * unit) for share in column.worth]
        values.append([None if position is None else worth[position] for position in column.given])
    rows = [[value for value in row if value is not None] for row in zip(*values, strict=True)]
    whole = math.lcm(*({len(row) - 1 for row in rows} - {0, -1}))  # means as integers
    correlations = []
    for column_values in values:
        own, rest = list[int](), list[int]()
        for value, row in zip(column_values, rows, strict=True):
            if value is not None and len(row) > 1:
                own.append(value)
                rest.append((sum(row) - value) * (whole // (len(row) - 1)))
        r = correlate(rank(own), rank(rest)) if own else None
        correlations.append((r, len(own)))
    return correlations


def find_disagreement(table: JudgedTable) -> Outcomes:
    """Find criteria on which a judge surely catches too few bad answers, or passes too few good ones, or else verdicts.

    That is what `assess` says of a criterion: units and people are the same. Of several judges each is looked at by
    itself, and the worst one is reported. Verdicts are reported where no criterion is, which would say more.
    """
    level = level_of_criterion(len(table.columns)) / (max(len(table.compared), 1) * table.look)
    needed = next(n for n in count(1) if upper_bound(0, n, level) < TARGET)
    if not table.compared:
        yield _lack("no judged answer has a label", needed, _name_measured(table))
        return
    lacking = dict[str, list[str | None]]()
    compared = {judge: labelled for judge, labelled in table.compared.items() if judge not in table.void}
    if not compared:
        for reason, why in dict.fromkeys(table.void.values()):
            yield _lack(why, needed, _name_measured(table), unit=_OF_VOID[reason])
        return
    is_reported = False
    criteria = list[tuple[int | None, JudgedColumn | None]](enumerate(table.columns))
    for place, column in [*criteria, (None, None)]:
        labelled = {judge: answers[place].without_invalid() for judge, answers in compared.items() if place in answers}
        if column is None and (is_reported or not labelled or not table.labelled):
            break
        if column is not None and column.is_idle:
            continue
        outcome = _explain_missing(table, column) or _compare(table, labelled, column, level, needed)
        if isinstance(outcome, JudgedStatement):
            is_reported = True
            yield outcome
        elif outcome:
            criterion = column.name if column else None
            lacking.setdefault(outcome, []).append(criterion)
    for why, names in lacking.items():
        ids = tuple(name for name in names if name is not None)
        yield _lack(why, needed, ids, tuple(name or "verdict" for name in names))


def _explain_missing(table: JudgedTable, column: JudgedColumn | None) -> str:
    """Say that nothing is known of a criterion, and what labels or outputs have instead; empty if something is."""
    missing = explain_missing_labels(column) if column else ""
    if missing and table.bare:
        what = "label" if table.answers else "labelled answer"
        verb = "is" if table.answers else "has an output"
        if table.bare > 1:
            verb = "are" if table.answers else "have outputs"
        missing += f"; {counted(table.bare, what)} {verb} of the verdict alone"
    return missing


def _compare(
    table: JudgedTable,
    labelled: Mapping[str, LabelledAnswers],
    column: JudgedColumn | None,
    level: float,
    needed: int,
) -> JudgedStatement | str:
    """Return that the worst judge surely errs too often on a criterion or the verdict, or why nothing can be said.

    An empty text: nothing is found. Each bound may be wrong with the probability `level`, so that fewer bad, or good,
    units than are `needed` say nothing.
    """
    measured = {judge: measure_shares(answers.answers, level) for judge, answers in labelled.items()}
    if not measured:
        return ALIKE if column is None else explain_unmeasured(column)
    if any(shares.people.disagree(TARGET) for shares in measured.values()):
        return "people disagree with each other"
    name = min(measured, key=lambda judge: min(measured[judge].bad_caught.high, measured[judge].good_passed.high))
    worst, of = measured[name], labelled[name]
    if worst.is_below(TARGET):
        judge = f"`{name}`" if len(table.compared) > 1 else "the judge"
        gap = _describe_gap(worst, of, judge, column)
        budget = corrected(3 * (len(table.columns) + 1) * len(table.compared) * table.look)
        target, code = RubricTarget(), "verdict"
        if column is not None:
            target, code = RubricTarget(column.name, is_gate=column.is_gated and not column.is_check), "gaps"
        return JudgedStatement("judged-disagrees", target, code, {**gap, "budget": budget})
    if min(units for _, units in worst.asked) < needed:
        where = "" if all(answer.was_asked for answer in of.answers) else " with a valid output"
        if of.inapplicable and of.inapplicable.judge:
            where = " to which the judge says it applies"
        return f"fewer than {needed} bad or good answers{where} by the labels"
    return ""


ALIKE = "its labels are all alike, and it has no gate"
IN_ONE_BAND = "its labels are all in one band, and it has no gate"
IDLE = "its weight is 0, and it has no gate"


def explain_unmeasured(column: JudgedColumn) -> str:
    """Say why nothing tells good from bad on a criterion."""
    if column.is_idle:
        return IDLE
    return ALIKE if len({*column.labels} - {None}) == 1 else IN_ONE_BAND


def explain_missing_labels(column: JudgedColumn) -> str:
    """Say that no label, or no judge output, has a value for a criterion; empty if one has."""
    if not column.known:
        return "by the judge it applies to no answer" if column.given else "no judge output has a value for it"
    if any(label is not None for label in column.labels):
        return ""
    return "by people it applies to no judged answer" if column.left_out else "no label has a value for it"


_OF_VOID = {
    Reason.BY_VERDICT: "answers of each side, drawn at random and labelled,",
    Reason.SEPARATE: "answers of each side, drawn at random and labelled,",
    Reason.LABELS_REFUSED: "labelled answers on each side, with few labels refused,",
    Reason.LABEL_SCALE: "labelled answers on each side, on the scale of the rubric,",
    Reason.PEOPLE_DISAGREE: "labelled answers on each side on which people agree",
}
"""What there must be more of where labels say nothing."""


def _lack(
    reason: str,
    needed: int,
    criteria: tuple[str, ...],
    names: tuple[str, ...] = (),
    unit: str = "labelled answers on each side",
) -> Untested:
    """Return that labels cannot decide on some criteria, for a reason."""
    return Untested("judged-disagrees", names, reason, needed, unit, criteria)


def _describe_gap(shares: Shares, of: LabelledAnswers, judge: str, column: JudgedColumn | None) -> dict[str, object]:
    """Return the values of a message on the worse of the two shares of a judge, on a criterion or on the verdict."""
    is_bad = shares.bad_caught.high <= shares.good_passed.high
    side = 0 if is_bad else 1
    x, n = shares.asked[side]
    worse = shares.bad_caught if is_bad else shares.good_passed
    worse = worse._replace(x=x, n=n)
    did = "caught" if is_bad else "passed"
    units = count_units(n, is_bad=is_bad, are_questions=of.are_questions)
    gap = f"by the labels there are {units}, of which {judge} {did} {worse.shown}"
    advice = "say what is good enough to meet it"
    if column is None:
        advice = "label each criterion, or read these answers, to see which one is to blame"
    elif is_bad:
        advice = "say what an answer must have to meet it" if column.is_check else "sharpen the outcome below the gate"
    if of.cut is not None:
        gap = f"of {n:,} answers that people put {of.cut.describe(is_bad=is_bad)} {judge} put {worse.shown} there"
        advice = f"say what separates {of.cut.below} from {of.cut.start}"
    wrong = [f"`{name_key(of.keys[place])}`" for place in shares.differing if of.answers[place].side is not is_bad]
    return {
        "gap": gap,
        "gaps": f"{gap} ({percent(x / n)}, {at_most(worse.high, TARGET)})",
        "advice": advice,
        "look": f"; look at {join_words(wrong[:3])}" if wrong else "",
    }


def find_length(table: JudgedTable) -> Outcomes:
    """Find criteria, and a score, by which longer answers get other values, of answers that people judge alike.

    Without labels nothing is found: longer answers may be better.
    """
    rule, columns = "judged-length", table.columns
    concerned = name_lengthened(table)
    tests, names = len(concerned), tuple("score" if name is None else name for name in concerned)
    rows = enumerate(zip(*(column.labels for column in columns), strict=True))
    labelled = {number: row for number, row in rows if _is_whole(columns, number, row)}
    lengths = {number: table.lengths[number] if table.lengths else None for number in labelled}
    known = {number: row for number, row in labelled.items() if lengths[number] is not None}
    n = len(known)
    if n < _LEAST_LENGTHS:
        what = "a label" if len(labelled) == table.labelled else "a label of every criterion"
        have = f"{len(labelled) or 'no'} judged {pluralize(len(labelled), 'answer has', 'answers have')} {what}"
        if n < len(labelled):
            have += f", and {n or 'none'} of them a text in `answer`"
        yield Untested(rule, names, have, _LEAST_LENGTHS, "labelled answers with their text", concerned)
        return
    if len({lengths[number] for number in known}) == 1:
        yield Untested(rule, names, f"all {n} labelled answers are equally long", 2, "different lengths", concerned)
        return
    for place, name in enumerate(concerned):
        criterion = None if name is None else place
        numbers, judged, people = _pair_values(table, known, criterion)
        if len(numbers) < _LEAST_LENGTHS:
            answers = pluralize(len(numbers), "answer with its", "answers with their")
            have = f"{len(numbers) or 'no'} labelled {answers} text to which it applies"
            yield Untested(rule, (names[place],), have, _LEAST_LENGTHS, "labelled answers with their text", (name,))
            continue
        sizes = [lengths[number] or 0 for number in numbers]
        correlation = correlate_within(sizes, judged, people)
        if correlation is None or correlation.p > level_of(tests):
            continue
        r, p = correlation.r, correlation.p
        # First the answers on which the judge and people differ most, of these the longest.
        order = sorted(range(len(numbers)), key=lambda i: (-abs(Fraction(judged[i]) - people[i]), -sizes[i]))
        figures = {
            "turn": "higher" if r > 0 else "lower",
            "r": f"{r:.2f}",
            "n": len(numbers),
            "p": f"p = {p:.1g}" if p >= _SMALLEST_P else f"p < {_SMALLEST_P}",
            "budget": corrected(tests),
            "look": name_answers(table, [numbers[i] for i in order]),
        }
        code = "score" if name is None else "criterion"
        yield JudgedStatement(rule, RubricTarget(name), code, figures)


Number = int | Fraction


def _pair_values(
    table: JudgedTable, labelled: Mapping[int, Sequence[int | None]], place: int | None
) -> tuple[list[int], list[Number], list[Number]]:
    """Return the numbers of answers with both values of a criterion (None: of the score), the judge's and people's.

    `labelled` has the labels of all criteria by the number of the answer.
    """
    numbers, judged, people = list[int](), list[Number](), list[Number]()
    for number, labels in labelled.items():
        row = [column.given[number] for column in table.columns]
        by_judge: Number | None = table.weigh(row) if place is None else row[place]
        by_people: Number | None = table.weigh(labels) if place is None else labels[place]
        if by_judge is not None and by_people is not None:
            numbers.append(number)
            judged.append(by_judge)
            people.append(by_people)
    return numbers, judged, people


@dataclass(frozen=True)
class Correlation:
    """A correlation and its two-sided p value."""

    r: float
    p: float


def correlate_within(first: Sequence[Number], second: Sequence[Number], groups: Sequence[Number]) -> Correlation | None:
    """Return Spearman's correlation of two columns within groups; None if at most 30 values can be compared.

    Ranks are those among all values, less the mean of their group. If only chance decides which value of a group goes
    with which, the sum of products S has the mean 0 and the variance V = sum of the groups' Sxx Syy/(n - 1) over all
    exchanges within groups; S/sqrt(V) is compared with Student's t, as Spearman's correlation is. Stratified:
    van Elteren 1960.
    """
    members: dict[Number, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    ranks = rank(first), rank(second)
    joint = variance = spread_1 = spread_2 = 0.0
    freedom = 0
    for numbers in members.values():
        n = len(numbers)
        if n == 1:
            continue
        centered = []
        for side in ranks:
            mean = sum(side[number] for number in numbers) / n
            centered.append([side[number] - mean for number in numbers])
        one, two = centered
        square_1, square_2 = (sum(value * value for value in side) for side in centered)
        if not square_1 or not square_2:
            continue
        joint += sum(left * right for left, right in zip(one, two, strict=True))
        variance += square_1 * square_2 / (n - 1)
        spread_1 += square_1
        spread_2 += square_2
        freedom += n - 1
    if freedom <= _LEAST:
        return None
    # As Spearman's r = S/sqrt(V)/sqrt(freedom) of one group, with freedom = n - 1.
    # Rounding may leave it above 1, where the beta function ends.
    square = min(joint * joint / variance / freedom, 1.0)
    return Correlation(joint / math.sqrt(spread_1 * spread_2), incomplete_beta(1 - square, (freedom - 1) / 2, 0.5))


def name_lengthened(table: JudgedTable) -> tuple[str | None, ...]:
    """Return the criteria that length may influence and, if there are several, their score (None)."""
    names = names_of(table.columns)
    return (*names, None) if len(names) > 1 else names


def _is_whole(columns: Sequence[JudgedColumn], number: int, labels: Sequence[int | None]) -> bool:
    """Return whether people said something of every criterion of an answer, if only that it does not apply."""
    return all(label is not None or number in column.left_out for label, column in zip(labels, columns, strict=True))


@dataclass(frozen=True)
class JudgedRule:
    """A rule: the finder of its outcomes in a table, and the criteria that it can be about (None: the whole rubric)."""

    find: Callable[[JudgedTable], Outcomes]
    concerns: Callable[[JudgedTable], Iterable[str | None]]


class CriterionOutcome(NamedTuple):
    """The outcome of all rules for a criterion, or for the rubric as a whole (None).

    `untested` has what they could not decide, and `quiet` the rules that tested everything and found nothing. A rule
    that does not apply, such as `judged-inverse` to one of two criteria, is in none of them.
    """

    criterion: str | None
    quiet: tuple[str, ...]
    untested: tuple[Untested, ...]


def _name_graded(table: JudgedTable) -> tuple[str, ...]:
    return names_of(column for column in table.columns if not column.is_failure)


def _name_measured(table: JudgedTable) -> tuple[str, ...]:
    """Return the criteria on which an answer may be bad."""
    return names_of(column for column in table.columns if not column.is_idle)


def _name_gated(table: JudgedTable) -> tuple[str | None, ...]:
    return (*names_of(column for column in table.columns if column.is_gated), None)


def _name_several(table: JudgedTable) -> tuple[str, ...]:
    return names_of(table.columns) if len(table.columns) > 1 else ()


JUDGED_FINDERS: Mapping[str, JudgedRule] = {
    "judged-flat": JudgedRule(find_flat, _name_graded),
    "judged-unstable": JudgedRule(find_unstable, _name_gated),
    "judged-inverse": JudgedRule(find_inverse, _name_several),
    "judged-disagrees": JudgedRule(find_disagreement, _name_measured),
    "judged-length": JudgedRule(find_length, name_lengthened),
}
"""The rules on judged data."""


def apply_rules(table: JudgedTable) -> list[JudgedStatement | Untested]:
    """Return the outcomes of all rules on a table."""
    return [outcome for finder in JUDGED_FINDERS.values() for outcome in finder.find(table)]


def sort_by_criterion(
    table: JudgedTable, outcomes: Sequence[JudgedStatement | Untested]
) -> tuple[CriterionOutcome, ...]:
    """Return the outcomes of all rules for each criterion of a table in order, then for the rubric as a whole."""
    concerned = {rule: set(finder.concerns(table)) for rule, finder in JUDGED_FINDERS.items()}
    by_criterion = []
    for name in [*names_of(table.columns), None]:
        untested = tuple(outcome for outcome in outcomes if isinstance(outcome, Untested) and name in outcome.concerns)
        decided = {
            outcome.rule
            for outcome in outcomes
            if isinstance(outcome, JudgedStatement) and outcome.target.criterion == name
        }
        decided |= {outcome.rule for outcome in untested}
        quiet = tuple(rule for rule, names in concerned.items() if name in names and rule not in decided)
        by_criterion.append(CriterionOutcome(name, quiet, untested))
    return tuple(by_criterion)
