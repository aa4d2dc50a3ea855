"""A value of the wrong type, a missing or misplaced field, or an empty list."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part

RULE = Rule("schema", Severity.ERROR, fix="unsafe", marks=(Part.VALUE, Part.KEY, Part.HEAD))
