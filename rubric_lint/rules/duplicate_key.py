"""A key that is written twice in one mapping."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule

RULE = Rule("duplicate-key", Severity.ERROR)
