"""A container of rubrics that is misspelt or empty, so that a case has no rubric."""

from rubric_lint.finding import Part, Severity
from rubric_lint.rule import Rule

RULE = Rule("lost-rubric", Severity.ERROR, fix="unsafe", marks=(Part.KEY, Part.VALUE))
