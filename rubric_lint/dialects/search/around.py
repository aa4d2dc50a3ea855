"""Find what stands around rubrics of our format: the threshold of their suite, and what may decide but is not read."""

from decimal import Decimal

from rubric_lint.dialects.search.agentv_suites import PassMark, find_negation, find_pass_mark
from rubric_lint.format.view import read_threshold
from rubric_lint.messages import describe, shorten
from rubric_lint.shapes.doubts import Doubt, find_doubts_around
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

_SCHEMA = "agentv/a6.json"
"""Suites of our format are those of AgentV up to version 4."""

_Doubts = tuple[tuple[Path, str], ...]


def find_around(document: Document, path: Path) -> tuple[Decimal | None, _Doubts]:
    """Return the threshold of the test or the suite of a rubric, and what may decide its verdict but is not read."""
    turned = find_negation(document, path)
    if turned:
        return None, (turned,)
    mark = find_pass_mark(document, path, _SCHEMA) if len(path) > 1 else None
    if mark:
        threshold = None if mark.reason else read_threshold(document, mark.path)
        return threshold, () if threshold is not None else ((mark.path, _word_mark(document, mark)),)
    if len(path) > 1:
        return None, ()
    doubts = find_doubts_around(document, path)
    return None, tuple((each.place, f"{each.subject}, and is not read; {_advise(each)}") for each in doubts)


def _advise(doubt: Doubt) -> str:
    if doubt.setting == "pass":
        return "write it as `pass` into the settings of rubric-lint, from 0 to 1, and remove it here"
    return "write what it says into the criteria, or remove it if it does not count"


def _word_mark(document: Document, mark: PassMark) -> str:
    if mark.reason:
        return f"{mark.field} may be a pass mark, and is not read; write it in `execution`"
    found = describe(document.value(mark.path), document.written_at(mark.path))
    return f"`{shorten(str(mark.path[-1]))}` is {found}, expected a number from 0 to 1"
