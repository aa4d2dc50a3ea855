"""Every rule, with its metadata.

A rule is a module, or a row of `rows`, and a page. `RULES` has them all in order, `BY_NAME` by name; `rule.Rule` says
what one is.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any, cast

from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import find_near
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.triggers import Trigger
from rubric_lint.rules.rows import JUDGED, ROWS
from rubric_lint.rules.rule import Rule


class _LateRule:
    """A rule whose module is imported when it is needed."""

    def __init__(self, name: str, trigger: Trigger) -> None:
        self.module = f"{__name__}.{name}"
        self.name = name.replace("_", "-")
        self.trigger = trigger

    def __getattr__(self, name: str) -> Any:
        rule: Rule = import_module(self.module).RULE
        self.__dict__.update(rule._asdict(), trigger=self.trigger)
        return getattr(rule, name)


_GROUPS: dict[str, dict[str, Trigger]] = {
    "Text and YAML": {
        "syntax": "any",
        "duplicate_key": "any",
        "ambiguous_scalar": "ambiguous",
        "unused_ignore": "any",
    },
    "Fields and ids": {
        "schema": "any",
        "unknown_field": "any",
        "lost_rubric": "any",
        "repeated_case": "any",
        "duplicate_id": "same ids",
        "missing_id": "no id",
        "mixing": "mixed",
        "conflicting_field": "old field",
        "deprecated_description": "old field",
        "deprecated_required": "old field",
    },
    "Bands and levels": {
        "bounds": "flawed scale",
        "overlap": "flawed scale",
        "coverage": "flawed scale",
        "band_order": "flawed scale",
        "single_band": "one band",
        "split_band": "threshold",
        "levels": "levels",
        "undescribed_scale": "levels",
        "inverted_scale": "graded",
        "option_in_option": "any",
    },
    "Weights and gates": {
        "weight": "odd weight",
        "idle_gate": "gate",
        "cancelling_criterion": "penalty",
        "mirrored_criterion": "penalty",
        "contradicting_sign": "signed",
        "negated_penalty": "penalty",
    },
    "Outcomes": {
        "empty_outcome": "any",
        "placeholder": "placeholder",
        "vague_outcome": "label",
        "duplicate_outcome": "any",
        "duplicate_criterion": "any",
        "two_actions": "conjunction",
        "two_claims": "conjunction",
        "bundled_list": "list",
        "score_in_text": "score in text",
        "not_self_contained": "pointer",
    },
    "Rubric tests": {
        "unmet_expectation": "any",
        "unrecorded_test": "any",
        "broken_test": "any",
        "untested": "any",
        "unnoticed_change": "any",
    },
    "Judged answers": {
        "judged_unstable": "any",
        "judged_disagrees": "any",
        "judged_flat": "any",
        "judged_inverse": "any",
        "judged_length": "any",
    },
}

GROUPS: dict[str, tuple[Rule, ...]] = {
    group: tuple(ROWS.get(name) or cast("Rule", _LateRule(name, trigger)) for name, trigger in triggers.items())
    for group, triggers in _GROUPS.items()
}
"""The rules by what they protect."""

RULES: tuple[Rule, ...] = tuple(chain.from_iterable(GROUPS.values()))
"""All rules."""

BY_NAME = {rule.name: rule for rule in RULES}
"""The rules by their names."""

_FORMER = dict.fromkeys(("judged-ceiling", "judged-constant", "judged-unused-band"), "judged-flat")
"""The rules that took the place of others, by the names of those."""


def find_near_rules(name: str) -> list[str]:
    """Return the names of rules that may be meant by another word, the nearest first."""
    return [_FORMER[name]] if name in _FORMER else find_near(name, BY_NAME)


@lru_cache(maxsize=1 << 10)
def checks_for(triggers: frozenset[Trigger]) -> tuple[tuple[str, Callable[[Rubric], Iterator[Problem]]], ...]:
    """Return the names of the rules that look at a rubric with these triggers, and their functions."""
    return tuple((rule.name, rule.check) for rule in RULES if rule.trigger in triggers and rule.check is not None)


JUDGED_RULES = frozenset(rule.name for rule in ROWS.values() if rule.command == JUDGED)
"""The names of the rules on judged data."""


def list_choices() -> tuple[str, ...]:
    """Return the names of fixes of which only an author can pick one."""
    return tuple(dict.fromkeys(name for rule in RULES for name in rule.choices))
