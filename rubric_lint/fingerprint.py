"""What a finding is known by from one run to the next, whatever becomes of the text around it."""

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

from rubric_lint.finding import Finding, Result
from rubric_lint.repository import repository_path
from rubric_lint.source import Source

VERSION = 1
"""Goes up when the fingerprint of a finding that has not changed becomes another one."""

# What a key is followed by says which of many like keys it is; the next item of a flow collection is another thing.
_CONTEXT = re.compile(r"[^\r\n,{}\[\]#]*")

# A message is words, which may become better ones, and numbers, which come from the text. Those that name a place
# change when the place moves, and code may hold one too: the generated id `rubric-2`.
_PLACE = re.compile(r"`[^`]*`|\b(?:line|column|entry|offset|criterion) \d+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def fingerprints(result: Result) -> tuple[str, ...]:
    """A name for each of `result.findings`, in their order, that no other finding of any file has.

    It stays when lines move, when other text changes, on another machine and from another folder of the repository. It
    changes with the file's path, the rule and the faulty text. Like findings in one file are told apart by their order.
    """
    return tuple(_fingerprint(result)) if result.findings else ()


def _fingerprint(result: Result) -> Iterator[str]:
    file = repository_path(result.source.name)
    seen: Counter[tuple[str, ...]] = Counter()
    for finding in result.findings:
        what = (file, finding.rule, *_describe(result.source, finding))
        text = "\0".join([str(VERSION), *what, str(seen[what])])
        seen[what] += 1
        yield blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _describe(source: Source, finding: Finding) -> tuple[str, str, str]:
    """The faulty text, what follows it, and the numbers that the rule made of it; indentation does not matter."""
    after = _CONTEXT.match(source.text, finding.span.end)
    numbers = _NUMBER.findall(_PLACE.sub("", finding.message))
    return _fold(source.slice(finding.span)), _fold(after[0] if after else ""), " ".join(numbers)


def _fold(text: str) -> str:
    return " ".join(text.split())
