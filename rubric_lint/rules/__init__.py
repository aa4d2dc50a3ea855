"""The rules, one module and one page each, in the order of their table."""

from rubric_lint.rule import Rule
from rubric_lint.rules import (
    ambiguous_scalar,
    band_order,
    bounds,
    conflicting_field,
    coverage,
    deprecated_description,
    deprecated_required,
    duplicate_id,
    duplicate_key,
    duplicate_outcome,
    empty_outcome,
    idle_gate,
    levels,
    lost_rubric,
    missing_id,
    mixing,
    overlap,
    schema,
    split_band,
    syntax,
    unknown_field,
    unused_ignore,
    vague_outcome,
    weight,
)

RULES: tuple[Rule, ...] = (
    syntax.RULE,
    duplicate_key.RULE,
    schema.RULE,
    unknown_field.RULE,
    bounds.RULE,
    overlap.RULE,
    coverage.RULE,
    empty_outcome.RULE,
    mixing.RULE,
    levels.RULE,
    lost_rubric.RULE,
    duplicate_id.RULE,
    weight.RULE,
    conflicting_field.RULE,
    missing_id.RULE,
    band_order.RULE,
    duplicate_outcome.RULE,
    vague_outcome.RULE,
    split_band.RULE,
    idle_gate.RULE,
    ambiguous_scalar.RULE,
    deprecated_description.RULE,
    deprecated_required.RULE,
    unused_ignore.RULE,
)
"""All rules."""

BY_NAME = {rule.name: rule for rule in RULES}
"""The rules by their names."""
