"""A reference scorer of version 3, written from the format's description alone; it shares nothing with the package.

It takes plain data (what a YAML or JSON reader makes of a rubric) and a judge's output, both valid: it checks nothing.
All numbers are exact fractions. A share is a score from 0 (worst) to 1 (best).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

YES_OR_NO = "satisfied"


class Leaf(NamedTuple):
    """What is asked about one criterion: the field of its check, the share of each number, and its gate as a share."""

    id: str
    field: str
    shares: Mapping[Fraction, Fraction]
    gate: Fraction | None
    may_not_apply: bool


class Node(NamedTuple):
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


def share_of(number: Any, scale: Sequence[Any] | None) -> Fraction:
    """The share of a number between worst and best, which are 0 and 1 without a scale."""
    worst, best = map(exact, scale or (0, 1))
    return (exact(number) - worst) / (best - worst)


def share_of_mark(mark: Any, scale: Sequence[Any] | None) -> Fraction:
    """The share of a mark: in units of the scale, `70%` or `26/30`."""
    if not isinstance(mark, str):
        return share_of(mark, scale)
    return Fraction(mark.rstrip("% ")) / (100 if mark.rstrip().endswith("%") else 1)


@cache
def shares_between(worst: Any, best: Any, parts: int) -> Mapping[Fraction, Fraction]:
    """The share of each number of a scale, in steps of 1 / `parts`."""
    low, high = sorted((int(worst * parts), int(best * parts)))
    return {number: share_of(number, (worst, best)) for at in range(low, high + 1) for number in [Fraction(at, parts)]}


def as_mapping(rubric: Any) -> Mapping[str, Any]:
    return {"criteria": rubric} if isinstance(rubric, list) else rubric


def tree(rubric: Any) -> Node:
    return _read_node(as_mapping(rubric), "", None, [], may_not_apply=False)


def _read_node(node: Mapping[str, Any], path: str, scale: Any, levels: Sequence[Any], *, may_not_apply: bool) -> Any:
    """Read a criterion or a node where a scale and a ladder hold; a scale of its own drops an inherited ladder."""
    if "scale" in node:
        scale, levels = node["scale"], []
    if "levels" in node:
        levels = [item["level"] if isinstance(item, Mapping) else item for item in node["levels"]]
    may_not_apply = may_not_apply or "applies_if" in node
    if "criteria" not in node:
        return _read_leaf(node, path, scale, levels, may_not_apply=may_not_apply)
    members = []
    for number, item in enumerate(node["criteria"], 1):
        entry = {"expected_outcome": item} if isinstance(item, str) else item
        unnamed = str(number) if path or "criteria" in entry else f"rubric-{number}"
        own = f"{path}/{entry.get('id', unnamed)}".lstrip("/")
        member = _read_node(entry, own, scale, levels, may_not_apply=may_not_apply)
        members.append((exact(entry.get("weight", 1)), member))
    gate = node.get("required_min_score")
    return Node(path, None if gate is None else share_of_mark(gate, scale), members)


def _read_leaf(entry: Mapping[str, Any], path: str, scale: Any, levels: Sequence[Any], *, may_not_apply: bool) -> Leaf:
    has_hundredths = any(isinstance(end, float) for end in scale or ())
    gate_scale = scale or (0, 10)
    if "score_ranges" in entry or "score_range" in entry:
        answer, shares = "score", shares_between(*gate_scale, 1)
    elif levels and not scale:
        gate_scale = min(levels, key=exact), max(levels, key=exact)
        answer, shares = "level", {exact(level): share_of(level, gate_scale) for level in levels}
    elif scale and (levels or has_hundredths or sorted(scale) != [0, 1]):
        answer, shares = "level", shares_between(*scale, 100 if has_hundredths else 1)
    else:  # yes and no are 1 and 0, whatever scale the gate has
        answer, shares = YES_OR_NO, shares_between(*(scale or (0, 1)), 1)
    usual = gate_scale[1] if entry.get("required") else None
    gate = entry.get("required_min_score", entry.get("required_min_level", usual))
    return Leaf(path, answer, shares, None if gate is None else share_of(gate, gate_scale), may_not_apply)


def failures(rubric: Any) -> list[str]:
    """The ids of the critical failures, each of which is asked as yes or no."""
    listed = enumerate(as_mapping(rubric).get("critical_failures", ()), 1)
    return [item.get("id", f"failure-{at}") if isinstance(item, Mapping) else f"failure-{at}" for at, item in listed]


def is_holistic(rubric: Any) -> bool:
    return all(isinstance(item, Mapping) and "score_range" in item for item in as_mapping(rubric)["criteria"])


def leaves(node: Node) -> Iterator[Leaf]:
    for _, member in node.members:
        yield from leaves(member) if isinstance(member, Node) else [member]


def _score_member(member: Leaf | Node, answers: Mapping[str, Any], result: Scored) -> Fraction | None:
    """The share of a criterion or a node, None if it does not apply; `result` learns of groups and missed gates."""
    found: Fraction | None
    if isinstance(member, Leaf):
        given = answers[member.id]
        if given.get("applicable") is False:
            return None
        found = member.shares[exact(given[member.field] * 1)]  # true and false are 1 and 0
    else:
        known = [(weight, _score_member(item, answers, result)) for weight, item in member.members]
        parts = [(weight, share) for weight, share in known if share is not None]
        possible = sum(weight for weight, _ in parts if weight > 0)
        earned = sum((weight * share for weight, share in parts), Fraction(0))
        found = max(earned / possible, Fraction(0)) if possible else None
        result.groups[member.id] = found
    if found is not None and member.gate is not None and found < member.gate:
        result.is_gate_missed = True
    return found


def score(rubric: Any, output: Mapping[str, Any]) -> Scored:
    """Score a valid output by a valid rubric."""
    whole, result = as_mapping(rubric), Scored()
    scale = whole.get("scale")
    if is_holistic(rubric):
        result.score = share_of(output["score"], scale or (0, 10))
    else:
        answers = {check["id"]: check for check in output["checks"]}
        result.score = _score_member(tree(rubric), answers, result)
        result.groups.pop("")
        result.is_gate_missed |= any(answers[item][YES_OR_NO] for item in failures(rubric))
    if result.score is None:
        return result
    usual = None if "pass_threshold" in whole else "0.6"
    borderline = whole.get("borderline_threshold", usual)
    result.verdict = "fail"
    if not result.is_gate_missed and result.score >= share_of_mark(whole.get("pass_threshold", "0.8"), scale):
        result.verdict = "pass"
    elif not result.is_gate_missed and borderline is not None and result.score >= share_of_mark(borderline, scale):
        result.verdict = "borderline"
    reached = [(share_of_mark(mark, scale), name) for name, mark in whole.get("grades", {}).items()]
    result.grade = max(((mark, name) for mark, name in reached if mark <= result.score), default=(None, None))[1]
    if scale:
        worst, best = map(exact, scale)
        result.units = worst + result.score * (best - worst)
    return result
