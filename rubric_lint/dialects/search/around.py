"""Find what stands around rubrics and may decide but is not read, and the threshold of their suite."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.dialects.search.agentv_suites import (
    PassMark,
    find_gate,
    find_grader,
    find_negation,
    find_pass_mark,
)
from rubric_lint.format.criterion import read_number
from rubric_lint.format.recognition import KNOWN_IN_GRADERS, KNOWN_IN_SUITES, Around, is_plain
from rubric_lint.format.schema import schema_of
from rubric_lint.format.view import View, read_threshold
from rubric_lint.messages import describe, shorten
from rubric_lint.rules.inverted_scale import find_fall
from rubric_lint.shapes.direction import word_fall
from rubric_lint.shapes.roles import is_pass_mark
from rubric_lint.shapes.scores import Ends
from rubric_lint.shapes.shape import Shape
from rubric_lint.shapes.unmapped import UnmappedSearch, find_around_in_suite, find_at_top_of_suite
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.tree import parts_of

_SCHEMA = "agentv/a6.json"
"""Suites of our format are those of AgentV up to version 4."""

_SCALE = (Fraction(0), Fraction(10))
_MOVE = "move them to `rubrics` or to a file of their own, or remove them if they do not count"
_MARK_OF_SUITE = "write the mark as `threshold`, from 0 to 1, into `execution`, or remove it if it does not count"

_SEVERAL_MARKS = (
    "the file has several marks, and the settings of rubric-lint hold one: write that as `pass` and `borderline` "
    "there, from 0 to 1, and remove all of them here"
)
_MARK_OF_GRADER = "write the mark as `min_score`, from 0 to 1, with `required: true`, or remove it if it does not count"


def find_around(document: Document, path: Path) -> Around:
    """Return what stands around a rubric of our format."""
    if len(path) > 1:
        return find_in_suite(document, path, _SCHEMA, KNOWN_IN_GRADERS - {"min_score"})
    search = UnmappedSearch(document, Shape("", pointer(path)), path, (), _list_scales(document.value(path)))
    found = list(search.find_around([len(path) - 1]))
    if document.may_borrow:  # then what a mapping or a list says may be a part of the criteria
        found = [key for key in found if len(key.place) == len(path) and not key.is_several]
    mark = _word_marks(document) if found else ""
    doubts = [(doubt.place, doubt.word_without_table(mark)) for doubt in found]
    if not document.may_borrow:  # an alias may repeat what another list holds in the criteria
        from rubric_lint.dialects.search.home_made import find_others  # noqa: PLC0415  (few files get here)

        others = [other for other in find_others(document, [path]) if len(other) == len(path)]
        names = [shorten(str(other[-1])) for other in others]
        reasons = [f"`{name}` may hold criteria too, and is not read; {_MOVE}" for name in names]
        doubts += zip(others, reasons, strict=True)
    return Around(doubts=tuple(doubts))


@lru_cache(maxsize=1)  # the rubrics of a file are asked about one after the other
def _word_marks(document: Document) -> str:
    """Say what to do about the pass marks of a file with several, of which the settings hold one; empty if it has one.

    What is said of one place would contradict what is said of another.
    """
    marks = {
        number
        for _, mapping in document.mappings
        for key, value in mapping.items()
        if is_pass_mark(key) and (number := read_number(value)) is not None
    }
    return _SEVERAL_MARKS if len(marks) > 1 else ""


def _list_scales(criteria: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the scale of criteria that have bands, as AgentV and this format have them."""
    has_bands = any(isinstance(each, dict) and "score_ranges" in each for each in parts_of(criteria))
    return (_SCALE,) if has_bands else ()


def find_in_suite(document: Document, path: Path, schema: str, known: frozenset[str] = KNOWN_IN_GRADERS) -> Around:
    """Return what stands around a rubric in a suite, of which a release of AgentV reads what its schema says.

    `known` are the fields of its assertion that are read or do nothing there.
    """
    turned = find_negation(document, path)
    doubts = [turned] if turned else []
    threshold, place, is_gate = None, None, False
    mark = find_pass_mark(document, path, schema)
    if mark:
        threshold = None if mark.reason else read_threshold(document, mark.path)
        if threshold is None:
            doubts.append((mark.path, _word_mark(document, mark)))
        else:
            place = mark.path
    scales = _list_scales(document.value(path))
    grader = find_grader(document, path)
    if grader is not None:
        gate = find_gate(document, grader)
        least = _read_gate(document, gate, schema) if gate else None
        if gate and least is None:
            doubts.append((gate, _word_gate(document, gate, schema)))
        elif least is not None and (threshold is None or least > threshold):
            is_gate = threshold is None
            threshold, place = least, gate  # an answer has to pass the test and its gate
        criteria = path if path != grader else (*grader, "value")
        found = find_around_in_suite(document, criteria, scales, known, is_grader=True)
        found = [doubt for doubt in found if doubt.place != gate]
        doubts += [(doubt.place, doubt.word_without_table(_MARK_OF_GRADER)) for doubt in found]
    for end in range(1, len(path) + 1):
        holder = document.value(path[: end - 1])
        if isinstance(holder, dict) and not is_plain(holder) and path[: end - 1] != grader:
            find = find_around_in_suite if end > 1 else find_at_top_of_suite
            found = list(find(document, path[:end], scales, KNOWN_IN_SUITES))
            doubts += [(doubt.place, doubt.word_without_table(_MARK_OF_SUITE)) for doubt in found]
    return Around(threshold, place, tuple(doubts), is_gate)


def _read_gate(document: Document, gate: Path, schema: str) -> Decimal | None:
    """Return the lowest score that passes a gate; None if the release does not read it."""
    is_read = gate[-1] == "min_score" or schema == _SCHEMA
    return read_threshold(document, gate) if is_read else None


def _word_gate(document: Document, gate: Path, schema: str) -> str:
    found = describe(document.value(gate), document.written_at(gate))
    if gate[-1] == "min_score":
        return f"`min_score` is {found}, expected a number from 0 to 1"
    if schema == _SCHEMA:
        return f"`required` is {found}, expected true, or a number from 0 to 1"
    return f"`required` is {found}, expected true or false; write a mark as `min_score`, with `required: true`"


def _word_mark(document: Document, mark: PassMark) -> str:
    if mark.reason:
        return f"{mark.field}: {mark.reason}"
    found = describe(document.value(mark.path), document.written_at(mark.path))
    return f"`{shorten(str(mark.path[-1]))}` is {found}, expected a number from 0 to 1"


def find_doubts_of_view(view: View) -> View:
    """Return a rubric of another system with what is not read of it and may decide its score.

    The fields that its schema has are known, wherever they are. Those that AgentV does not have are errors anyway.
    """
    document = view.document
    view = replace(view, doubts=(*view.doubts, *_find_falls(view)))
    if document.kind.is_program or view.is_text or view.dialect.name.startswith("agentv-"):
        return view
    schema = schema_of(view.schema)
    places = dict.fromkeys(view.place((*view.path, index)) for index in range(len(view.data)))
    # A mapping of levels is both the criterion and what is around them, as the root of a tree is.
    is_around = isinstance(document.value(view.path), dict)
    entries = [
        (place, entry)
        for place in places
        if isinstance(entry := document.value(place), dict) and not (is_around and place == view.path)
    ]
    # Criteria may lie deeper than the items of the list, such as in sections.
    schemas = [schema.find(place[len(view.path) :]) for place in places if place[: len(view.path)] == view.path]
    known = schema.entry_fields.keys() | {key for own in schemas for key in own.get("properties", ())}
    depths = range(len(view.path) + is_around) if view.data else ()
    around = schema_of(view.beside or view.dialect.beside or view.schema).names_around | schema.names_around
    if is_around:
        around |= known
    beside = {(*view.path[:depth], key): key in around for depth in depths for key in _list_keys(view, depth)}
    beside |= dict.fromkeys(view.sources & beside.keys(), True)
    if all(beside.values()) and all(entry.keys() <= known for _, entry in entries):
        return view
    patterns = {pattern for own in schemas for pattern in own.get("patternProperties", ())}
    if any(isinstance(own.get("additionalProperties"), dict) for own in schemas):
        patterns.add("")  # a choice or a level, by its name
    like = {key for _, entry in entries for key in entry if any(re.search(each, key) for each in patterns)}
    shape = Shape(view.dialect.title, pointer(view.path), unused=(*known, *like))
    read = {place for place, is_read in beside.items() if is_read}
    if view.threshold is not None:
        read.add(view.threshold_path or (*view.path[:-1], "threshold"))
    search = UnmappedSearch(document, shape, view.path, read | view.sources, _list_scales_of(view))
    found = list(search.find_in_criteria(entries))
    for depth in depths:
        # A mapping farther away may be of other criteria: another metric, or what holds for tests without a mark. Its
        # texts may be answers, or what these are about.
        is_near = depth >= len(view.path) - 1
        found += search.find_around([depth], in_settings=is_near)
    noted = {place for place, _ in view.doubts}
    found = [
        doubt
        for doubt in found
        if doubt.place not in noted and not (doubt.is_of_case and any(isinstance(step, int) for step in doubt.place))
    ]
    if not found:
        return view
    from rubric_lint.shapes.describing import can_describe  # noqa: PLC0415  (few rubrics have any)

    has_table = can_describe(view)
    own = f"write the mark as {view.dialect.title} reads it, or remove it if it does not count"
    mark = _word_marks(document) if view.dialect.has_borderline and view.threshold is None else own
    doubts = [(doubt.place, doubt.reason if has_table else doubt.word_without_table(mark)) for doubt in found]
    return replace(view, doubts=(*view.doubts, *doubts))


def _find_falls(view: View) -> Iterator[tuple[Path, str]]:
    """Find the levels of another system whose names or texts get worse while the numbers rise."""
    for index, criterion in enumerate([] if view.is_text else view.data):
        levels = parts_of(criterion.get("levels")) if isinstance(criterion, dict) else ()
        steps = {
            at: (Decimal(level["level"]), str(level.get("name") or level.get("expected_outcome") or ""))
            for at, level in enumerate(levels)
            if isinstance(level, dict) and type(level.get("level")) is int
        }
        fall = find_fall(steps.values())
        if fall:
            lowest = min(steps, key=lambda at: steps[at][0])
            place = view.place((*view.path, index, "levels", lowest, "level"))
            yield place, f"{word_fall(fall)}; turn the numbers around"


def _list_scales_of(view: View) -> list[Ends]:
    """Return the scales of the criteria that have bands, or levels whose numbers are those in the document."""
    bottom, top = (0, 10) if view.span is None else view.span
    scales: list[Ends] = []
    for index, criterion in enumerate(view.data):
        if not isinstance(criterion, dict):
            continue
        numbers = []
        for at, level in enumerate(parts_of(criterion.get("levels"))):
            number = level.get("level") if isinstance(level, dict) else None
            written = view.find_written((*view.path, index, "levels", at, "level"))
            if type(number) is int and written and (written[1] or view.document.value(written[0]) == number):
                numbers.append(number)
        if len(numbers) > 1:
            scales.append((Fraction(min(numbers)), Fraction(max(numbers))))
        elif not criterion.keys().isdisjoint(("score_ranges", "score_range")):
            scales.append((Fraction(bottom), Fraction(top)))
    return scales


def _list_keys(view: View, depth: int) -> Iterable[str]:
    holder = view.document.value(view.path[:depth])
    return holder if isinstance(holder, dict) else ()
