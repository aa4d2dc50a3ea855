"""Two cases with one id, each with rubrics."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part

RULE = Rule("repeated-case", Severity.ERROR, marks=(Part.VALUE, Part.KEY, Part.HEAD))
