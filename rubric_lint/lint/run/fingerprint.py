"""Identify a finding from one run to the next, whatever changes in the text around it."""

import re
from collections import Counter
from hashlib import blake2b

from rubric_lint.lint.project.repository import repository_path
from rubric_lint.model.finding import Finding, Result
from rubric_lint.source.source import Source

VERSION = 1
"""Must be raised when fingerprints of unchanged findings change."""

# The text after a key distinguishes equal keys; it ends before the next item of a flow collection.
_CONTEXT = re.compile(r"[^\r\n,{}\[\]#]*")

# The words of a message may change, but its numbers come from the text. Numbers of places change when the place moves,
# and code may contain one too: the generated id `rubric-2`.
_PLACE = re.compile(r"`[^`]*`|\b(?:line|column|entry|offset|criterion) \d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


_JUDGED = "judged-"


def fingerprints(result: Result) -> tuple[str, ...]:
    """Return a unique name for each of `result.findings`, in their order.

    It does not depend on lines, on other text, on the machine or on the current folder of the repository, but on the
    path of the file, the rule and the text of the finding. Their order distinguishes equal findings in one file.
    """
    if not result.findings:
        return ()
    file, names = repository_path(result.source.name), []
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in result.findings:
        what = (file, finding.rule, *_describe(result.source, finding))
        text = "\0".join([str(VERSION), *what, str(seen[what])])
        seen[what] += 1
        names.append(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest())
    return tuple(names)


def _describe(source: Source, finding: Finding) -> tuple[str, str, str]:
    """Return the text of the finding, the text after it, and the message's numbers; indentation does not matter.

    The numbers of a rule on judged data change with every new result; it has the texts of related places instead.
    """
    found = _CONTEXT.match(source.text, finding.span.end)
    after = found[0] if found else ""
    if finding.rule.startswith(_JUDGED):
        related = " ".join(_fold(source.slice(place.span)) for place in finding.related)
        return _fold(source.slice(finding.span)), _fold(after), related
    numbers = _NUMBER.findall(_PLACE.sub("", finding.message))
    return _fold(source.slice(finding.span)), _fold(after), " ".join(numbers)


def _fold(text: str) -> str:
    return " ".join(text.split())
