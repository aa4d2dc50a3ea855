"""A container of rubrics that is misspelt or empty, so that a case has no rubric."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part

RULE = Rule("lost-rubric", Severity.ERROR, fix="unsafe", marks=(Part.KEY, Part.VALUE))
