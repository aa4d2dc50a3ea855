"""The options of rewards."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

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

    def __post_init__(self) -> None:
        _refuse_other("reward", self.reward, get_args(Worth))
        _refuse_other("on_invalid", self.on_invalid, get_args(OnInvalid))
        if not (_is_number(self.dropout) and 0 <= self.dropout < 1):
            raise ValueError(f"dropout is {self.dropout!r}; expected a number of at least 0 and below 1")
        if type(self.seed) is not int:
            raise ValueError(f"seed is {self.seed!r}; expected an integer")
        for name in ("samples", "attempts", "concurrency", "patience"):
            value = getattr(self, name)
            if not (name == "patience" and value is None) and (type(value) is not int or value < 1):
                raise ValueError(f"{name} is {value!r}; expected an integer of at least 1")


def _refuse_other(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} is {value!r}; expected {join_words([repr(each) for each in known], 'or')}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
