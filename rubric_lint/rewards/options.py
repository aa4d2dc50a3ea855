"""The options of rewards, and their counts."""

import logging
import threading
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from rubric_lint.messages import join_words

OnInvalid = Literal["skip", "none", "raise"]
Worth = Literal["score", "gated", "verdict"]


class RewardError(Exception):
    """A reward that cannot be given: an invalid judge output, many in a row, or data that lacks what a judge needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How rewards are made of judge outputs; `trl_reward` describes each field."""

    reward: Worth = "score"
    on_invalid: OnInvalid = "skip"
    dropout: float = 0.0
    seed: int = 0
    samples: int = 1
    attempts: int = 3
    concurrency: int = 8
    patience: int | None = 5
    question: str | None = None
    reference: str | None = None
    rubric_field: str = "rubric"
    name: str | None = None

    def __post_init__(self) -> None:
        for name, ways in (("reward", get_args(Worth)), ("on_invalid", get_args(OnInvalid))):
            if (value := getattr(self, name)) not in ways:
                raise ValueError(f"{name} is {value!r}; expected {join_words([repr(each) for each in ways], 'or')}")
        is_number = isinstance(self.dropout, int | float) and not isinstance(self.dropout, bool)
        if not (is_number and 0 <= self.dropout < 1):
            raise ValueError(f"dropout is {self.dropout!r}; expected a number of at least 0 and below 1")
        if type(self.seed) is not int:
            raise ValueError(f"seed is {self.seed!r}; expected an integer")
        for name in ("samples", "attempts", "concurrency", "patience"):
            value = getattr(self, name)
            if not (name == "patience" and value is None) and (type(value) is not int or value < 1):
                raise ValueError(f"{name} is {value!r}; expected an integer of at least 1")


_log = logging.getLogger("rubric_lint.rewards")


class RewardCounts(NamedTuple):
    """How many calls there were, and completions in them; `skipped` are valid, but in the group of an invalid one."""

    calls: int = 0
    completions: int = 0
    invalid: int = 0
    skipped: int = 0


class Counter:
    """Count the calls of a reward; threads may share it."""

    def __init__(self, name: str, noun: str, patience: int | None) -> None:
        self.last = RewardCounts()
        self.totals = RewardCounts()
        self._name = name
        self._noun = noun
        self._patience = patience
        self._in_a_row = 0
        self._faulty = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def count(self, reasons: list[str], skipped: int) -> None:
        """Count a call: the reason why each completion is invalid, empty if it is valid.

        Calls with invalid outputs are logged if there are 1, 2, 4, 8, ... of them, and if no output is valid.

        Raises:
            RewardError: after `patience` calls in a row without a valid output.
        """
        invalid = [reason for reason in reasons if reason]
        now = RewardCounts(1, len(reasons), len(invalid), skipped)
        with self._lock:
            self.last = now
            self.totals = totals = RewardCounts(*map(sum, zip(self.totals, now, strict=True)))
            is_lost = bool(invalid) and len(invalid) == len(reasons)
            self._in_a_row = self._in_a_row + 1 if is_lost else 0
            self._faulty += bool(invalid)
            in_a_row, faulty = self._in_a_row, self._faulty
        if not invalid:
            return
        share = f"{len(invalid)} of {len(reasons)} {self._noun}" if len(reasons) > 1 else f"a {self._noun[:-1]}"
        if self._patience is not None and in_a_row >= self._patience:
            raise RewardError(
                f"{self._name}: {in_a_row} calls in a row without a valid judge output, so there is nothing to learn "
                f"from; the first reason of the last call: {invalid[0]}"
            )
        if is_lost or faulty & (faulty - 1) == 0:
            others = f" ({skipped} more skipped with them)" if skipped else ""
            before = f" ({totals.skipped} more skipped)" if totals.skipped else ""
            _log.warning(
                "%s: invalid judge output for %s, without a reward%s; so far %d of %d%s. The first reason: %s",
                *(self._name, f"all {share}" if is_lost and len(reasons) > 1 else share, others),
                *(totals.invalid, totals.completions, before, invalid[0]),
            )
