"""Find what stands around rubrics of our format: the threshold of their suite, and what may decide but is not read."""

from decimal import Decimal
from fractions import Fraction

from rubric_lint.dialects.search.agentv_suites import PassMark, find_negation, find_pass_mark
from rubric_lint.format.criterion import USUAL_THRESHOLDS, read_number
from rubric_lint.format.view import read_threshold
from rubric_lint.messages import describe, shorten
from rubric_lint.shapes.doubts import Doubt, find_doubts_around, is_pass_mark
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.tree import parts_of

_SCHEMA = "agentv/a6.json"
"""Suites of our format are those of AgentV up to version 4."""

_SCALE = (Fraction(0), Fraction(10))
_MOVE = "move them to `rubrics` or to a file of their own, or remove them if they do not count"

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
    entries = document.value(path)
    scales = (_SCALE,) if any(isinstance(each, dict) and "score_ranges" in each for each in parts_of(entries)) else ()
    doubts = [(each.place, _word(each)) for each in find_doubts_around(document, path, scales)]
    if not document.may_borrow:  # an alias may repeat what another list holds in the criteria
        from rubric_lint.dialects.search.home_made import find_others  # noqa: PLC0415  (few files get here)

        others = [other for other in find_others(document, [path]) if len(other) == len(path)]
        names = [shorten(str(other[-1])) for other in others]
        reasons = [f"`{name}` may hold criteria too, and is not read; {_MOVE}" for name in names]
        doubts += zip(others, reasons, strict=True)
    return None, tuple(doubts)


def _word(doubt: Doubt) -> str:
    """Say what a key beside criteria may be, and what to do about it."""
    if doubt.quote:
        says = f'`{doubt.name}` says "{shorten(doubt.quote)}", but 10 is read as the best score'
        return f"{says}; turn the bands around, and remove it here"
    return f"{doubt.subject}, and is not read; {_advise(doubt)}"


def _advise(doubt: Doubt) -> str:
    if doubt.setting != "pass":
        return "write what it says into the criteria, or remove it if it does not count"
    mark = read_number(doubt.value)
    if mark is None or not 0 < mark <= 1 or not is_pass_mark(doubt.name):
        marks = "write its marks as `pass` and `borderline` into the settings of rubric-lint, each from 0 to 1"
        return f"{marks}, and remove it here, or remove it if it does not count"
    settings = f"`pass = {doubt.value}`"
    if mark < USUAL_THRESHOLDS.borderline_at:
        settings = f"{settings} and `borderline = {doubt.value}`"
    return f"write {settings} into the settings of rubric-lint, and remove it here"


def _word_mark(document: Document, mark: PassMark) -> str:
    if mark.reason:
        return f"{mark.field} may be a pass mark, and is not read; write it in `execution`"
    found = describe(document.value(mark.path), document.written_at(mark.path))
    return f"`{shorten(str(mark.path[-1]))}` is {found}, expected a number from 0 to 1"
