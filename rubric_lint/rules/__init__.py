"""The rules in the order of their table: each has a page and, unless it is one of `ROWS`, a module.

A module is imported when a rubric shows the sign that stands beside its name, or when more of the rule is asked for
than its name.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

from rubric_lint.finding import Problem
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.signs import Sign
from rubric_lint.rules.rows import JUDGED, ROWS
from rubric_lint.rules.rule import Rule


class _LateRule:
    """A rule whose module is imported when it is needed."""

    def __init__(self, name: str, sign: Sign) -> None:
        self.module = f"{__name__}.{name}"
        self.name = name.replace("_", "-")
        self.sign = sign

    def __getattr__(self, name: str) -> Any:
        rule: Rule = import_module(self.module).RULE
        self.__dict__.update(rule._asdict(), sign=self.sign)
        return getattr(rule, name)


_SIGNS: dict[str, Sign] = {
    "syntax": "any",
    "duplicate_key": "any",
    "schema": "any",
    "unknown_field": "any",
    "bounds": "flawed scale",
    "overlap": "flawed scale",
    "coverage": "flawed scale",
    "empty_outcome": "any",
    "mixing": "mixed",
    "levels": "levels",
    "lost_rubric": "any",
    "repeated_case": "any",
    "duplicate_id": "same ids",
    "weight": "odd weight",
    "conflicting_field": "old field",
    "missing_id": "no id",
    "band_order": "flawed scale",
    "duplicate_outcome": "like outcomes",
    "vague_outcome": "label",
    "undescribed_scale": "levels",
    "split_band": "threshold",
    "idle_gate": "gate",
    "ambiguous_scalar": "ambiguous",
    "deprecated_description": "old field",
    "deprecated_required": "old field",
    "unused_ignore": "any",
    "duplicate_criterion": "like criteria",
    "cancelling_criterion": "penalty",
    "mirrored_criterion": "penalty",
    "negated_penalty": "penalty",
    "two_actions": "conjunction",
    "option_in_option": "any",
    "bundled_list": "list",
    "inverted_scale": "graded",
    "single_band": "one band",
    "placeholder": "placeholder",
    "score_in_text": "score in text",
    "not_self_contained": "pointer",
    "unmet_expectation": "any",
    "unrecorded_test": "any",
    "broken_test": "any",
    "untested": "any",
    "unnoticed_change": "any",
    "judged_unstable": "any",
    "judged_inverse": "any",
    "judged_disagrees": "any",
    "judged_order": "any",
    "judged_length": "any",
    "judged_constant": "any",
    "judged_ceiling": "any",
    "judged_unused_band": "any",
    "judged_redundant": "any",
}

RULES: tuple[Rule, ...] = tuple(ROWS.get(name) or cast("Rule", _LateRule(name, sign)) for name, sign in _SIGNS.items())
"""All rules."""

BY_NAME = {rule.name: rule for rule in RULES}
"""The rules by their names."""


@lru_cache(maxsize=1 << 10)
def checks_for(signs: frozenset[Sign]) -> tuple[tuple[str, Callable[[Rubric], Iterator[Problem]]], ...]:
    """Return the names of the rules that look at a rubric with these signs, and their functions."""
    return tuple((rule.name, rule.check) for rule in RULES if rule.sign in signs and rule.check is not None)


JUDGED_RULES = frozenset(rule.name for rule in ROWS.values() if rule.command == JUDGED)
"""The names of the rules on judged data."""


def list_choices() -> tuple[str, ...]:
    """Return the names of fixes of which only an author can pick one."""
    return tuple(dict.fromkeys(name for rule in RULES for name in rule.choices))
