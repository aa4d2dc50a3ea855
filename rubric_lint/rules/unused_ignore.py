"""An ignore comment that silences nothing."""

from rubric_lint.finding import Severity
from rubric_lint.rules.rule import Rule

RULE = Rule("unused-ignore", Severity.WARNING, fix="safe")
