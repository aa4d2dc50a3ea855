"""A reference scorer of version 3, written from the format's description alone; it shares nothing with the package.

It takes plain data (what a YAML or JSON reader makes of a rubric) and a judge's output, both valid: it checks nothing.
All numbers are exact fractions. A share is a score from 0 (worst) to 1 (best).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

YES_OR_NO = "satisfied"
Ends = tuple[Fraction, Fraction]
UNIT, TEN = (Fraction(0), Fraction(1)), (Fraction(0), Fraction(10))


@dataclass(frozen=True)
class Measure:
    """What holds in a node: the ends (worst, best) of its `scale`, its ladder, and whether hundredths may be given."""

    ends: Ends | None = None
    levels: tuple[Fraction, ...] = ()
    has_hundredths: bool = False

    def within(self, node: Mapping[str, Any]) -> "Measure":
        """The measure of a node in this one: a scale of its own drops an inherited ladder."""
        found = self
        if "scale" in node:
            worst, best = map(exact, node["scale"])
            found = Measure((worst, best), (), any(isinstance(end, float) for end in node["scale"]))
        return replace(found, levels=numbers_of(node["levels"])) if "levels" in node else found

    def share(self, number: Any, ends: Ends = UNIT) -> Fraction:
        """The share of a number on the scale; without a scale, on the given ends."""
        worst, best = self.ends or ends
        return Fraction(exact(number) - worst) / (best - worst)

    def mark(self, mark: Any) -> Fraction:
        """The share of a mark: in units of the scale (0 to 1 without one), `70%` or `26/30`."""
        if not isinstance(mark, str):
            return self.share(mark)
        return Fraction(mark.rstrip("% ")) / (100 if mark.rstrip().endswith("%") else 1)


@dataclass(frozen=True)
class Leaf:
    """What is asked about one criterion: the field of its check, every number it may be given, and its gate."""

    id: str
    field: str
    shares: Mapping[Fraction, Fraction]
    gate: Fraction | None
    may_not_apply: bool


@dataclass(frozen=True)
class Node:
    """A rubric or a group: its members, each with its weight."""

    id: str
    gate: Fraction | None
    members: list[tuple[Fraction, "Leaf | Node"]]


@dataclass
class Scored:
    """The score is None where nothing applies; `units` is the score on the rubric's own scale."""

    score: Fraction | None = None
    units: Fraction | None = None
    verdict: str | None = None
    grade: str | None = None
    groups: dict[str, Fraction | None] = field(default_factory=dict)
    is_gate_missed: bool = False


def exact(number: Any) -> Fraction:
    return Fraction(str(number))


def numbers_of(levels: Any) -> tuple[Fraction, ...]:
    return tuple(exact(item["level"] if isinstance(item, Mapping) else item) for item in levels)


def as_mapping(rubric: Any) -> Mapping[str, Any]:
    return {"criteria": rubric} if isinstance(rubric, list) else rubric


@cache
def answers_of(ends: Ends, parts: int) -> tuple[Fraction, ...]:
    """Every number of a scale, in steps of 1 / `parts`."""
    low, high = int(min(ends) * parts), int(max(ends) * parts)
    return tuple(Fraction(number, parts) for number in range(low, high + 1))


@cache
def shares_of(ends: Ends, numbers: tuple[Fraction, ...]) -> Mapping[Fraction, Fraction]:
    return {number: Measure(ends).share(number) for number in numbers}


def leaf_of(entry: Mapping[str, Any], path: str, measure: Measure, *, may_not_apply: bool) -> Leaf:
    """A criterion; yes or no and score ranges are of 0 to 10 where no scale holds, `levels` alone of their own ends."""
    if "score_ranges" in entry or "score_range" in entry:
        answer, ends = "score", measure.ends or TEN
        numbers = answers_of(ends, 1)
    elif measure.ends is None and measure.levels:
        answer, ends, numbers = "level", (min(measure.levels), max(measure.levels)), measure.levels
    elif measure.ends is None or (sorted(measure.ends) == [0, 1] and not (measure.levels or measure.has_hundredths)):
        answer, ends, numbers = YES_OR_NO, measure.ends or TEN, UNIT
    else:
        answer, ends = "level", measure.ends
        numbers = answers_of(ends, 100 if measure.has_hundredths else 1)
    own = replace(measure, ends=ends)
    usual = ends[1] if entry.get("required") else None
    gate = entry.get("required_min_score", entry.get("required_min_level", usual))
    lowest = None if gate is None else own.share(gate)
    spread = (
        UNIT if ends == TEN and answer == YES_OR_NO else ends
    )  # yes and no are 1 and 0, whatever scale the gate has
    return Leaf(path, answer, shares_of(spread, numbers), lowest, may_not_apply)


def node_of(node: Mapping[str, Any], path: str, measure: Measure, *, may_not_apply: bool) -> Node:
    measure, members = measure.within(node), []
    may_not_apply = may_not_apply or "applies_if" in node
    for number, item in enumerate(node["criteria"], 1):
        entry = {"expected_outcome": item} if isinstance(item, str) else item
        unnamed = str(number) if path or "criteria" in entry else f"rubric-{number}"
        own = f"{path}/{entry.get('id', unnamed)}".lstrip("/")
        if "criteria" in entry:
            made: Leaf | Node = node_of(entry, own, measure, may_not_apply=may_not_apply)
        else:
            is_conditional = may_not_apply or "applies_if" in entry
            made = leaf_of(entry, own, measure.within(entry), may_not_apply=is_conditional)
        members.append((exact(entry.get("weight", 1)), made))
    gate = node.get("required_min_score")
    return Node(path, None if gate is None else measure.mark(gate), members)


def tree(rubric: Any) -> Node:
    return node_of(as_mapping(rubric), "", Measure(), may_not_apply=False)


def failures(rubric: Any) -> list[str]:
    """The ids of the critical failures, each of which is asked as yes or no."""
    listed = enumerate(as_mapping(rubric).get("critical_failures", ()), 1)
    return [item.get("id", f"failure-{at}") if isinstance(item, Mapping) else f"failure-{at}" for at, item in listed]


def is_holistic(rubric: Any) -> bool:
    return all(isinstance(item, Mapping) and "score_range" in item for item in as_mapping(rubric)["criteria"])


def leaves(node: Node) -> Iterator[Leaf]:
    for _, member in node.members:
        yield from leaves(member) if isinstance(member, Node) else [member]


def share_of(member: Leaf | Node, answers: Mapping[str, Any], result: Scored) -> Fraction | None:
    """The share of a criterion or a node, None if it does not apply; `result` learns of groups and missed gates."""
    if isinstance(member, Leaf):
        given = answers[member.id]
        if given.get("applicable") is False:
            return None
        number = given[member.field]
        found: Fraction | None = member.shares[Fraction(number) if number in (True, False) else exact(number)]
    else:
        known = [(weight, share_of(item, answers, result)) for weight, item in member.members]
        parts = [(weight, share) for weight, share in known if share is not None]
        possible = sum((weight for weight, _ in parts if weight > 0), Fraction(0))
        earned = sum((weight * share for weight, share in parts), Fraction(0))
        found = max(earned / possible, Fraction(0)) if possible else None
        result.groups[member.id] = found
    if found is not None and member.gate is not None and found < member.gate:
        result.is_gate_missed = True
    return found


def score(rubric: Any, output: Mapping[str, Any]) -> Scored:
    """Score a valid output by a valid rubric."""
    whole, result = as_mapping(rubric), Scored()
    measure = Measure().within(whole)
    if is_holistic(rubric):
        result.score = measure.share(output["score"], TEN)
    else:
        answers = {check["id"]: check for check in output["checks"]}
        result.score = share_of(tree(rubric), answers, result)
        result.groups.pop("")
        result.is_gate_missed |= any(answers[item][YES_OR_NO] for item in failures(rubric))
    if result.score is None:
        return result
    passes = measure.mark(whole.get("pass_threshold", "0.8"))
    usual = None if "pass_threshold" in whole else "0.6"
    borderline = whole.get("borderline_threshold", usual)
    result.verdict = "fail"
    if not result.is_gate_missed and result.score >= passes:
        result.verdict = "pass"
    elif not result.is_gate_missed and borderline is not None and result.score >= measure.mark(borderline):
        result.verdict = "borderline"
    reached = [(measure.mark(mark), name) for name, mark in whole.get("grades", {}).items()]
    result.grade = max(((mark, name) for mark, name in reached if mark <= result.score), default=(None, None))[1]
    if measure.ends:
        worst, best = measure.ends
        result.units = worst + result.score * (best - worst)
    return result
