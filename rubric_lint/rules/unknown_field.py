"""A field that the format does not have."""

from rubric_lint.finding import Part, Severity
from rubric_lint.rule import Rule

RULE = Rule("unknown-field", Severity.ERROR, fix="unsafe", marks=(Part.KEY,))
