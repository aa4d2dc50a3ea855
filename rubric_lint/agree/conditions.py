"""Hold the figures to limits, for CI."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.agree.analysis import Agreement
from rubric_lint.agree.comparison import Between, Compared, Comparison
from rubric_lint.agree.scales import Kind

STATISTICS = ("alpha", "kappa", "ac", "exact", "bad-caught", "good-passed")
"""The statistics that can have a limit."""


class Condition(NamedTuple):
    """The lowest acceptable value of a statistic, of one criterion (or `verdict`) or of all and the verdict.

    Of several rubrics, `all` is the verdicts of all rubrics together.
    """

    statistic: str
    limit: float
    where: str | None = None


class Breach(NamedTuple):
    """A value below its limit, or an undefined one with the reason."""

    condition: Condition
    rubric: str
    raters: tuple[str, ...]
    criterion: str
    value: float | None
    reason: str | None

    def __str__(self) -> str:
        """Return the breach in words."""
        about = f"{self.rubric}: {self.criterion}: {self.condition.statistic} of {' and '.join(self.raters)}"
        if self.value is None:
            return f"{about} is undefined ({self.reason}), so it does not reach {self.condition.limit:g}"
        digits = next(digits for digits in range(3, 18) if float(f"{self.value:.{digits}f}") < self.condition.limit)
        return f"{about} is {self.value:.{digits}f}, below {self.condition.limit:g}"

    def to_json(self) -> dict[str, Any]:
        """Return the breach as in the JSON report."""
        return {
            "rubric": self.rubric,
            "raters": list(self.raters),
            "criterion": self.criterion,
            "statistic": self.condition.statistic,
            "limit": self.condition.limit,
            "value": self.value,
            "reason": self.reason,
        }


def find_breaches(agreements: Sequence[Agreement], conditions: Sequence[Condition]) -> list[Breach]:
    """Return each value that breaks a condition.

    Where there are labels, only judges are held to it, against the labels; else all comparisons are. An undefined value
    breaks it, and so does a condition that no value can meet.
    """
    return [breach for condition in conditions for breach in _find(agreements, condition)]


def _find(agreements: Sequence[Agreement], condition: Condition) -> Iterator[Breach]:
    is_measured = False
    for agreement in agreements:
        for comparison in _choose(agreement.comparisons):
            for compared in comparison.measures:
                if compared.measure.scale.kind is Kind.BAND or condition.where not in {None, compared.measure.name}:
                    continue
                found = _measure(compared, condition.statistic)
                if found is None:
                    continue
                is_measured = True
                value, reason = found
                if value is None or value < condition.limit:
                    name = agreement.name
                    yield Breach(condition, name, comparison.raters, compared.measure.name, value, reason)
    if not is_measured:
        raters: tuple[str, ...] = tuple(name for agreement in agreements for name in agreement.raters)
        where = condition.where or "every criterion"
        yield Breach(condition, agreements[0].name, raters, where, None, "no comparison has this statistic")


def _choose(comparisons: Sequence[Comparison]) -> Sequence[Comparison]:
    with_labels = [comparison for comparison in comparisons if comparison.between is Between.LABEL]
    return with_labels or comparisons


def _measure(compared: Compared, statistic: str) -> tuple[float | None, str | None] | None:
    """Return a value and why it is undefined; None if the comparison does not have the statistic."""
    if statistic in {"alpha", "kappa", "ac"}:
        figure = compared.find(statistic)
        return (figure.value, figure.reason) if figure else None
    pair = compared.pair
    if pair is None or (statistic != "exact" and pair.gate is None):
        return None
    if statistic == "exact":
        return pair.exact.value, "no answer has two ratings"
    if pair.gate is None:
        return None
    share = pair.gate.bad_caught if statistic == "bad-caught" else pair.gate.good_passed
    return share.value, f"no {'bad' if statistic == 'bad-caught' else 'good'} answer by the labels"
