"""Score judge outputs with the old and the new rubric."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rubric_lint.agree.compare.rubrics import RubricPair, Rubrics
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.scoring.scorer import Outcome, Scorer

INVALID = "invalid"
"""Replaces the verdict of an output that has no score."""


class Effect(NamedTuple):
    """The outcomes of one judge output in both versions."""

    old: Outcome
    new: Outcome

    @property
    def verdicts(self) -> tuple[str, str]:
        """The old and the new verdict."""
        return _verdict(self.old), _verdict(self.new)

    @property
    def is_changed(self) -> bool:
        """True if the verdict or the score differs."""
        return self.verdicts[0] != self.verdicts[1] or _score(self.old) != _score(self.new)

    def to_json(self) -> dict[str, Any]:
        """Return the effect as in the JSON report."""
        return {
            "line": self.new.line,
            "id": self.new.head.get("id"),
            "old": _as_record(self.old),
            "new": _as_record(self.new),
        }


class Effects:
    """The effects on a stream of judge outputs; unchanged ones are only counted."""

    def __init__(self) -> None:
        self.outputs = 0
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.changed: list[Effect] = []

    def add(self, effect: Effect) -> None:
        """Count one output."""
        self.outputs += 1
        self.verdicts[effect.verdicts] += 1
        if effect.is_changed:
            self.changed.append(effect)

    def to_json(self) -> dict[str, Any]:
        """Return the effects as in the JSON report."""
        verdicts = [{"old": old, "new": new, "outputs": count} for (old, new), count in sorted(self.verdicts.items())]
        return {"outputs": self.outputs, "verdicts": verdicts, "changed": [each.to_json() for each in self.changed]}


def score_both(entries: Iterable[tuple[int, bytes | OutputError]], pairs: list[RubricPair]) -> Iterator[Effect]:
    """Score each entry of a file of judge outputs with both versions.

    A file's only rubric may be named after the file, so outputs can refer to it by its old name in both versions.
    """
    only = pairs[0].old.name if len(pairs) == 1 and pairs[0].old else None
    was: Rubrics = {only or pair.old.name: pair.old for pair in pairs if pair.old}
    now: Rubrics = {only or pair.new.name: pair.new for pair in pairs if pair.new}
    old, new = Scorer(was), Scorer(now)
    for line, text in entries:
        yield Effect(old.tell(text, line), new.tell(text, line))


def _verdict(outcome: Outcome) -> str:
    return str(outcome.result.verdict) if outcome.result else INVALID


def _score(outcome: Outcome) -> Any:
    return outcome.result and outcome.result.score


def _as_record(outcome: Outcome) -> dict[str, Any]:
    if outcome.result:
        return {"verdict": str(outcome.result.verdict), "score": float(outcome.result.score)}
    fault = outcome.error
    return {"verdict": INVALID, "score": None, "error": fault and {"path": fault.path, "message": fault.message}}
