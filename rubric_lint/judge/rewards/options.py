"""The options of rewards, and their counts."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, Self, get_args

from rubric_lint.model.arguments import NONE, Kinds, require
from rubric_lint.model.messages import join_words

OnInvalid = Literal["skip", "none", "raise"]
Worth = Literal["score", "gated", "verdict"]


class RewardError(Exception):
    """A reward that cannot be given: an invalid judge output, many in a row, or data that lacks what a judge needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardOptions:
    """How rewards are made of judge outputs; `trl_reward` describes each field."""

    reward: Worth
    on_invalid: OnInvalid
    dropout: float
    seed: int
    samples: int
    attempts: int
    concurrency: int
    patience: int | None
    question: str | None
    reference: str | None
    rubric_field: str
    name: str | None

    @classmethod
    def choose(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the options that are among the arguments of a function."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            require(name, getattr(self, name), kinds)
        for name, ways in (("reward", get_args(Worth)), ("on_invalid", get_args(OnInvalid))):
            value = getattr(self, name)
            if value not in ways:
                raise ValueError(f"{name} is {value!r}; expected {join_words([repr(way) for way in ways], 'or')}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout!r}; expected a number of at least 0 and below 1")
        for name in ("samples", "attempts", "concurrency", "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value!r}; expected an integer of at least 1")


_KINDS: Mapping[str, Kinds] = {
    "dropout": float,
    **dict.fromkeys(("seed", "samples", "attempts", "concurrency"), int),
    "patience": (int, NONE),
    **dict.fromkeys(("question", "reference", "name"), (str, NONE)),
    "rubric_field": str,
}
"""The types of the options that are no names of ways."""


class RewardCounts(NamedTuple):
    """How many calls there were, and completions in them; `skipped` are valid, but in the group of an invalid one."""

    calls: int = 0
    completions: int = 0
    invalid: int = 0
    skipped: int = 0
