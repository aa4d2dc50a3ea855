"""One yes-or-no criterion for two statements: "that ... and that ..."."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule

# "and that of the other" and "and that is why" are no second statement.
_CLAIMS = re.compile(
    r"\s*(?P<first>(?:[^\s.;:?!]+\s+){1,8}?that)\s+[^.;:?!\n]*?\s(?P<second>and\s+(?:[a-z]+ly\s+|also\s+)?that)\s+"
    r"(?!(?:of|in|on|for|from|is|was|are|can|may|will|should|would|has|have)\b)\w",
    re.IGNORECASE,
)


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find "that ... and that ..." in the first sentence of an outcome."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if not text or criterion.is_penalty or not criterion.is_check:
            continue
        found = _CLAIMS.match(text)
        if found:
            said = " ".join(found["first"].split())
            yield Problem("both", criterion.outcome_path, values={"first": said, "second": found["second"]})


RULE = Rule(
    "two-claims",
    Severity.HINT,
    {
        "both": (
            'it asks for two statements, "{first} ... {second} ...", and an answer may make one of them; write a '
            "criterion for each"
        )
    },
    check,
)
