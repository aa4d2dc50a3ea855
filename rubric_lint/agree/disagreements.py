"""List the ratings that differ, the worst first."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.ratings import Judgement, Judgements, Key, name_key, sort_keys
from rubric_lint.agree.scales import VERDICTS, Kind, Measure
from rubric_lint.scoring.grading import AnswerValue, Verdict


class Disagreement(NamedTuple):
    """Two ratings of one criterion that differ, with the reasons of both raters and the verdicts that they come to.

    `kind` is `false pass` if the first misses what the second meets, `false fail` for the reverse, else `differs`.
    """

    key: Key
    raters: tuple[str, str]
    measure: Measure
    values: tuple[AnswerValue, AnswerValue]
    kind: str
    verdicts: tuple[Verdict, Verdict]
    reasons: tuple[str | None, str | None]

    def to_json(self) -> dict[str, Any]:
        """Return the disagreement as in the JSON report."""
        return {
            "id": name_key(self.key),
            "criterion": self.measure.name,
            "kind": self.kind,
            "ratings": [
                {"rater": rater, "value": value, "verdict": str(verdict), "reason": reason}
                for rater, value, verdict, reason in zip(
                    self.raters, self.values, self.verdicts, self.reasons, strict=True
                )
            ],
        }


class Listed(NamedTuple):
    """The worst disagreements, and how many there are in all."""

    worst: list[Disagreement]
    total: int


_KINDS = ("false pass", "false fail", "differs")
_Rank = tuple[int, bool, float, int, int, int]


def list_disagreements(
    pairs: Sequence[tuple[Mapping[str, Judgements], bool]], measures: Sequence[Measure], most: int | None
) -> Listed:
    """List the disagreements of pairs of raters; the flag says whether the first one is the label.

    First come criteria that the label fails and the judge passes, then the reverse, then other differences. Within
    each kind come those that turn a fail into a pass, then the largest differences.
    """
    own = [measure for measure in measures if measure.place is not None and measure.scale.kind is not Kind.BAND]
    found: list[tuple[_Rank, Disagreement]] = []
    count = 0
    for number, (raters, has_label) in enumerate(pairs):
        for rank, disagreement in _find(raters, number, own, has_label=has_label):
            count += 1
            found.append((rank, disagreement))
        if most is not None and len(found) > 10 * most:
            found = heapq.nsmallest(most, found, key=lambda each: each[0])
    found.sort(key=lambda each: each[0])
    return Listed([disagreement for _, disagreement in found[:most]], count)


def _find(
    raters: Mapping[str, Judgements], pair: int, measures: Sequence[Measure], *, has_label: bool
) -> Iterator[tuple[_Rank, Disagreement]]:
    (first, one), (second, two) = raters.items()
    for order, key in enumerate(sort_keys(one.keys() & two.keys())):
        left, right = one[key], two[key]
        if left.given != right.given:
            for number, measure in enumerate(measures):
                if found := _compare(key, (first, second), (left, right), measure, has_label=has_label):
                    yield _rank(found, number, order, pair), found


def _compare(
    key: Key, raters: tuple[str, str], both: tuple[Judgement, Judgement], measure: Measure, *, has_label: bool
) -> Disagreement | None:
    place = measure.place or 0
    values = (both[0].given[0][place], both[1].given[0][place])
    if values[0] == values[1]:
        return None
    kind = "differs"
    if has_label and measure.meets:
        label, judge = (measure.meets[measure.positions[value]] for value in values)
        kind = kind if label is judge else "false pass" if judge else "false fail"
    verdicts = (both[0].given[1], both[1].given[1])
    return Disagreement(key, raters, measure, values, kind, verdicts, (both[0].reason(place), both[1].reason(place)))


def _rank(found: Disagreement, measure: int, order: int, pair: int) -> _Rank:
    scale = found.measure.scale.values
    distance = abs(found.values[0] - found.values[1]) / (scale[-1] - scale[0])
    label, judge = map(VERDICTS.index, found.verdicts)
    is_lenient = judge == len(VERDICTS) - 1 and label < judge
    return _KINDS.index(found.kind), not is_lenient, -distance, order, measure, pair
