"""A field that the format does not have."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part

RULE = Rule("unknown-field", Severity.ERROR, fix="unsafe", marks=(Part.KEY,))
