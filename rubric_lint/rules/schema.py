"""A value of the wrong type, a missing or misplaced field, or an empty list."""

from rubric_lint.finding import Severity
from rubric_lint.format.repairs import FIRST_HIGHEST, FIRST_LOWEST
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part

RULE = Rule(
    "schema",
    Severity.ERROR,
    fix="unsafe",
    marks=(Part.VALUE, Part.KEY, Part.HEAD),
    choices={
        FIRST_LOWEST: "number the names of levels, the first of them 1",
        FIRST_HIGHEST: "number the names of levels, the last of them 1",
    },
)
