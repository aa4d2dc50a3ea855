"""Find what stands around rubrics of our format: the threshold of their suite, and what may decide but is not read."""

from fractions import Fraction
from typing import Any

from rubric_lint.dialects.search.agentv_suites import PassMark, find_negation, find_pass_mark
from rubric_lint.dialects.search.locate import PLAIN_IN_SUITES, Around
from rubric_lint.format.view import read_threshold
from rubric_lint.messages import describe, shorten
from rubric_lint.shapes.doubts import find_doubts_around, find_doubts_in_holder
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.tree import parts_of

_SCHEMA = "agentv/a6.json"
"""Suites of our format are those of AgentV up to version 4."""

_KNOWN = frozenset({"threshold", "negate", "required", "min_score", "weight", "aggregator", "target"})
"""What is read elsewhere, or bears on other scores than that of a rubric: those of its test and its assertion."""

_SCALE = (Fraction(0), Fraction(10))
_MOVE = "move them to `rubrics` or to a file of their own, or remove them if they do not count"
_MARK_OF_SUITE = "write the mark as `threshold`, from 0 to 1, into `execution`, or remove it if it does not count"


def find_around(document: Document, path: Path) -> Around:
    """Return what stands around a rubric of our format."""
    if len(path) > 1:
        return find_in_suite(document, path, _SCHEMA)
    found = find_doubts_around(document, path, _list_scales(document.value(path)))
    doubts = [(doubt.place, doubt.word_without_table()) for doubt in found]
    if not document.may_borrow:  # an alias may repeat what another list holds in the criteria
        from rubric_lint.dialects.search.home_made import find_others  # noqa: PLC0415  (few files get here)

        others = [other for other in find_others(document, [path]) if len(other) == len(path)]
        names = [shorten(str(other[-1])) for other in others]
        reasons = [f"`{name}` may hold criteria too, and is not read; {_MOVE}" for name in names]
        doubts += zip(others, reasons, strict=True)
    return Around(doubts=tuple(doubts))


def _list_scales(criteria: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the scale of criteria that have bands, as AgentV and this format have them."""
    has_bands = any(isinstance(each, dict) and "score_ranges" in each for each in parts_of(criteria))
    return (_SCALE,) if has_bands else ()


def find_in_suite(document: Document, path: Path, schema: str) -> Around:
    """Return what stands around a rubric in a suite, of which a release of AgentV reads what its schema says."""
    turned = find_negation(document, path)
    doubts = [turned] if turned else []
    threshold, place = None, None
    mark = find_pass_mark(document, path, schema)
    if mark:
        threshold = None if mark.reason else read_threshold(document, mark.path)
        if threshold is None:
            doubts.append((mark.path, _word_mark(document, mark)))
        else:
            place = mark.path
    scales = _list_scales(document.value(path))
    for end in range(1, len(path) + 1):
        holder = document.value(path[: end - 1])
        if isinstance(holder, dict) and not holder.keys() <= PLAIN_IN_SUITES:
            found = find_doubts_in_holder(document, path[:end], scales, _KNOWN)
            doubts += [(doubt.place, doubt.word_without_table(_MARK_OF_SUITE)) for doubt in found]
    return Around(threshold, place, tuple(doubts))


def _word_mark(document: Document, mark: PassMark) -> str:
    if mark.reason:
        return f"{mark.field}: {mark.reason}"
    found = describe(document.value(mark.path), document.written_at(mark.path))
    return f"`{shorten(str(mark.path[-1]))}` is {found}, expected a number from 0 to 1"
