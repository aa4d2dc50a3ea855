"""One yes-or-no criterion for a list of things."""

import re
from collections.abc import Iterator

from rubric_lint.finding import Problem, Severity
from rubric_lint.format.criterion import Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.rules.rule import Rule

_NUMBER = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|half|most)"
_BUNDLE = re.compile(
    rf"""\b(?P<said>(?:
          (?:at\s+least|a\s+minimum\s+of|no\s+fewer\s+than)\s+{_NUMBER}(?:\s+or\s+more)?(?:\s+\w+)?
        | {_NUMBER}\s+or\s+more | all | any | each | some | both | either | one
      )(?:\s+of)?\s+(?:the|these)\s+(?:[\w-]+\s+){{0,2}}?following)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ITEMS = re.compile(r"[,;]|\n|\s(?:and|or)\s|\(\d\)|\s[-*•]\s")
_FEWEST = 2


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find "all of the following" and the like, with a list behind it."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if text and criterion.shapes == (Shape.CHECKLIST,) and (found := _BUNDLE.search(text)):
            listed = text[found.end() :].strip()
            if len([item for item in _ITEMS.split(listed) if item and item.strip(" :.")]) >= _FEWEST:
                said = " ".join(found["said"].split())
                yield Problem("list", criterion.outcome_path, values={"said": said})


RULE = Rule(
    "bundled-list",
    Severity.WARNING,
    {"list": '"{said}" makes one answer out of several; write a criterion for each item, so that each counts'},
    check,
)
