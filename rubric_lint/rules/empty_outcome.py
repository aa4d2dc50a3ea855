"""An outcome that is empty or blank."""

from rubric_lint.finding import Severity
from rubric_lint.format.repairs import PLACEHOLDER
from rubric_lint.rules.rule import Rule

RULE = Rule(
    "empty-outcome",
    Severity.ERROR,
    choices={PLACEHOLDER: "write a placeholder, which is reported until you replace it"},
)
