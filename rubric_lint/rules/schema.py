"""A value of the wrong type, a missing or misplaced field, or an empty list."""

from rubric_lint.finding import Part, Severity
from rubric_lint.rule import Rule

RULE = Rule("schema", Severity.ERROR, marks=(Part.VALUE, Part.KEY, Part.HEAD))
