"""The rules in the order of their table: each has a page and, unless it is one of `ROWS`, a module."""

from importlib import import_module

from rubric_lint.rules.rows import JUDGED, ROWS
from rubric_lint.rules.rule import Rule

_NAMES = (
    "syntax",
    "duplicate_key",
    "schema",
    "unknown_field",
    "bounds",
    "overlap",
    "coverage",
    "empty_outcome",
    "mixing",
    "levels",
    "lost_rubric",
    "repeated_case",
    "duplicate_id",
    "weight",
    "conflicting_field",
    "missing_id",
    "band_order",
    "duplicate_outcome",
    "vague_outcome",
    "split_band",
    "idle_gate",
    "ambiguous_scalar",
    "deprecated_description",
    "deprecated_required",
    "unused_ignore",
    "duplicate_criterion",
    "inverted_scale",
    "single_band",
    "placeholder",
    "score_in_text",
    "not_self_contained",
    "unmet_expectation",
    "unrecorded_test",
    "broken_test",
    "untested",
    "unnoticed_change",
    "judged_unstable",
    "judged_inverse",
    "judged_disagrees",
    "judged_constant",
    "judged_unused_band",
    "judged_redundant",
)

RULES: tuple[Rule, ...] = tuple(ROWS.get(name) or import_module(f"{__name__}.{name}").RULE for name in _NAMES)
"""All rules."""

BY_NAME = {rule.name: rule for rule in RULES}
"""The rules by their names."""

CHOICES: tuple[str, ...] = tuple(dict.fromkeys(name for rule in RULES for name in rule.choices))
"""The names of fixes of which only an author can pick one."""

JUDGED_RULES = frozenset(rule.name for rule in RULES if rule.command == JUDGED)
"""The names of the rules on judged data."""
