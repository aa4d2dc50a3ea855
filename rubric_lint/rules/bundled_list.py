"""One yes-or-no criterion for a list of things."""

import re
from collections.abc import Iterator

from rubric_lint.model.finding import Problem, Severity
from rubric_lint.model.repairs import SPLIT, split_outcome
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.wording import CONTRACTED, NEGATIONS
from rubric_lint.rules.rule import Rule

# Of "any of" and "one of", an item will do: they are alternatives, which one answer is enough for.
_NUMBER = r"(?:[2-9]|[1-9]\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|half|most)"
_BUNDLE = re.compile(
    rf"""\b(?P<said>(?:
          (?:at\s+least|a\s+minimum\s+of|no\s+fewer\s+than)\s+{_NUMBER}(?:\s+or\s+more)?(?:\s+\w+)?
        | {_NUMBER}\s+or\s+more | all | each | both
      )(?:\s+of)?\s+(?:the|these)\s+(?:[\w-]+\s+){{0,2}}?following)\b(?=[^.,;]{{0,60}}(?:[:(\n]|\s-{{1,2}}\s))""",
    re.VERBOSE | re.IGNORECASE,
)
_NEGATED = re.compile(rf"\b(?:{'|'.join(sorted(NEGATIONS))})\b|{CONTRACTED}", re.IGNORECASE)
_ITEMS = re.compile(r"[,;]|\n|\s(?:and|or)\s|\(\d\)|\s[-*•]\s")
_FEWEST = 2


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find "all of the following" and the like, with a list behind it."""
    for criterion in rubric.criteria:
        text = criterion.outcome
        if not text or not criterion.is_check:
            continue
        found = _BUNDLE.search(text)
        if found is None:
            continue
        items = [item for item in _ITEMS.split(text[found.end() :].strip()) if item and item.strip(" :.")]
        if len(items) >= _FEWEST:
            said = " ".join(found["said"].split())
            parts = () if criterion.is_penalty else tuple(_split_list(text, found))
            choices = tuple(split_outcome(rubric, criterion, parts)) if len(parts) > 1 else ()
            yield Problem("list", criterion.outcome_path, values={"said": said}, choices=choices)


def _split_list(text: str, found: re.Match[str]) -> Iterator[str]:
    """Yield an outcome for each item of "all of the following"; nothing unless the items are unmistakable.

    Each has the words before the list, so that it can be a criterion of its own.
    """
    lead, behind = text[: found.start()].rstrip(), text[found.end() :]
    opens = min((at for at in (behind.find(":"), behind.find("\n")) if at >= 0), default=-1)
    listed = behind[opens + 1 :].strip().removesuffix(".")
    is_whole = found["said"].split()[0].lower() in {"all", "each", "both"} and not _NEGATED.search(lead)
    if not is_whole or opens < 0 or not set(".:!?()").isdisjoint(listed):
        return
    if "\n" in listed:
        items = listed.split("\n")
    elif ";" in listed:
        items = [item.strip().removeprefix("and ") for item in listed.split(";")]
    else:  # an "and" that is not before the last item joins two items, or stands in one
        *first, last = listed.split(",")
        ends = last.strip().removeprefix("and ").split(" and ")
        expected = 1 if last.strip().startswith("and ") else 2
        has_one_end = len(ends) == expected
        if " and " in "".join(first) or "and " not in last or not has_one_end:
            return
        items = first + ends
    yield from (f"{lead} {item.strip(' -*•,')}".strip() for item in items if item.strip(" -*•,"))


RULE = Rule(
    "bundled-list",
    Severity.WARNING,
    {"list": '"{said}" makes one answer out of several; write a criterion for each item, so that each counts'},
    check,
    choices={SPLIT: "make a criterion of each item of a list that is to be met as a whole; a weight is shared"},
)
