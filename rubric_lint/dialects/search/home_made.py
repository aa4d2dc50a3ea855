"""Read home-made rubrics that no table describes, and report what nearly is one.

They are read where their structure and a second sign agree, and only what is wrong in any format is found in them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from rubric_lint.finding import Step
from rubric_lint.format.recognition import CONTAINERS
from rubric_lint.format.view import View, is_named_for_judges
from rubric_lint.messages import find_near as find_similar
from rubric_lint.messages import join_words, shorten
from rubric_lint.rules import RULES
from rubric_lint.shapes.doubts import find_doubts, holds_mappings
from rubric_lint.shapes.infer import (
    Criteria,
    Inferred,
    Signs,
    add_up,
    are_levels,
    find_criteria,
    find_expected,
    find_texts,
    infer,
    is_container,
    is_declared,
    is_own,
    list_words,
    words,
)
from rubric_lint.shapes.reading import read_shape
from rubric_lint.shapes.shape import YES_NO, Shape
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Kind
from rubric_lint.text.tree import parts_of

TITLE = "home-made rubrics"
"""What messages call the format."""

_HOLD = frozenset(
    {
        *("duplicate-id", "duplicate-criterion", "duplicate-outcome", "empty-outcome", "placeholder", "vague-outcome"),
        *("weight", "levels", "bounds", "band-order", "inverted-scale", "undescribed-scale"),
        *("cancelling-criterion", "mirrored-criterion"),
    }
)
"""The rules that hold in any format."""

_HOLD_FOR_ANSWERS = _HOLD | frozenset(
    {"contradicting-sign", "negated-penalty", "two-actions", "two-claims", "bundled-list"}
)
"""The rules that hold as well where the file says that criteria are met or not."""


def read_home(document: Document) -> list[View]:
    """Return the home-made rubrics of a document."""
    tables = _find_tables(document)
    found = [each for each in tables if each.is_certain]
    if not tables and is_own(document):  # its name and two marks do without a word for the container
        every = infer([document], TITLE, partial(find_criteria, anywhere=True))
        certain = [each for each in every if each.is_certain]
        found = [each for each in certain if all(len(_TWO & held.fields.keys()) > 1 for _, held, _ in each.criteria)]
    views: list[View] = []
    for each in found:
        unused: dict[Path, list[Path]] = {}  # fields of criteria, by the place of their list
        for _, place in each.unused:
            unused.setdefault(place[:-2], []).append(place)
        shape = each.shape
        for view in read_shape(document, shape):
            relaxed = _relax(view, _HOLD_FOR_ANSWERS if shape.scale == YES_NO else _HOLD)
            views.append(_tell_others(relaxed, shape, unused.get(view.path, ())))
    others = list(find_others(document, [view.path for view in views])) if views else []
    return [_doubt_others(view, others) for view in views] if others else views


_TWO = frozenset({"weight", "levels", "gate"})
"""The fields of criteria of which two show what they are."""

_OTHERS = CONTAINERS | {"rubrics"}


def find_others(document: Document, read: Sequence[Path]) -> Iterator[Path]:
    """Find what its name says holds criteria, apart from those at the paths `read`, above and below them."""
    for path, mapping in document.mappings:
        for key, value in mapping.items():
            place = (*path, key)
            is_related = any(place[: len(each)] == each or each[: len(place)] == place for each in read)
            if re.split(r"[\W_]+", key.lower())[-1] in _OTHERS and not is_related and _holds_criteria(value):
                yield place


def _holds_criteria(value: Any) -> bool:
    """Return whether a value holds mappings with texts, or lists of some: criteria, perhaps of several kinds."""
    parts = parts_of(value)
    inner = [each for part in parts if holds_mappings(part) for each in parts_of(part)]
    entries = [each for each in (*parts, *inner) if isinstance(each, dict)]
    has_texts = any(isinstance(text, str) and " " in text.strip() for entry in entries for text in entry.values())
    return has_texts and not are_levels(value)


@lru_cache(maxsize=1)  # what is read of a document and what is nearly read are asked one after the other
def _find_tables(document: Document) -> list[Inferred]:
    return [] if document.kind is Kind.JSON_LINES else infer([document], TITLE)


def _relax(view: View, rules: frozenset[str]) -> View:
    """Return a rubric to which only some rules apply."""
    without = frozenset({"schema", "unknown-field", *(rule.name for rule in RULES)}) - rules
    problems = []
    for rule, problem in view.problems:
        # Nobody says how scores combine, so a weight below 0 may be that of what is bad.
        is_told = (rule in rules and problem.code != "minimum") or problem.code == "no-text"
        if not is_told:
            continue
        if problem.code == "lacking":  # a slip if the criterion has the field under a misspelt name, else none
            entry = view.document.value(problem.path)
            names = entry if isinstance(entry, dict) else ()
            if not any(find_similar(key, [str(problem.values["field"])]) for key in names):
                continue
        # The other rule reports a criterion that says nothing among others that do.
        problems.append((rule if rule != "schema" else "empty-outcome", problem))
    dialect = replace(view.dialect, without=without, tells_others=False)
    return replace(view, dialect=dialect, problems=tuple(problems))


def _doubt_others(view: View, others: Iterable[Path]) -> View:
    """Return a rubric that tells of other criteria in its file which are not read: they may belong to it."""
    doubts = []
    for path in others:
        name = shorten(str(next((step for step in reversed(path) if isinstance(step, str)), "")))
        doubts.append((path, f"`{name}` may hold criteria too, and is not read; run `rubric-lint adopt FILE`"))
    return replace(view, doubts=(*view.doubts, *doubts)) if doubts else view


def _tell_others(view: View, shape: Shape, unused: Iterable[Path]) -> View:
    """Return a rubric that tells of the numbers, flags and levels of its criteria that are not read."""
    document = view.document
    doubts = find_doubts(document, replace(shape, unused=()), view.path, ())
    noted = {place for place, _ in view.doubts}
    plain = [doubt.place for doubt in doubts if not doubt.setting and doubt.place not in noted]
    places = [place for place in plain if not find_similar(str(place[-1]), shape.weight)]  # a slip, which is found
    for place in unused:
        value = document.value(place[:-1]).get(place[-1])
        places += [place] if are_levels(value) or list_words(value) else []
    if not places:
        return view
    names = join_words([f"`{shorten(str(place[-1]))}`" for place in places])
    return replace(view, unread=(*view.unread, (places[0], f"fields of its criteria are not read: {names}")))


class Near(NamedTuple):
    """What is nearly a home-made rubric: its places, the reason why it is not read, and the steps to have it read."""

    places: list[Path]
    reason: str
    steps: tuple[Step, ...]


def find_near(document: Document) -> Iterator[Near]:
    """Find what is nearly a home-made rubric."""
    if document.kind is Kind.JSON_LINES:
        return
    is_named = is_own(document)
    tables = _find_tables(document)
    is_read = any(each.is_certain for each in tables)
    if is_named and not any(map(_is_marked, tables)):
        every = infer([document], TITLE, partial(find_criteria, anywhere=True))
        tables = [*filter(_is_marked, every)] or tables
        tables = tables or [each for each in every if _is_listed(document, each.criteria[0][1])]
    if not tables and (is_named or is_named_for_judges(document)):
        placed = [(each, each.criteria[0][1].path) for each in infer([document], TITLE, find_texts)]
        placed = [(each, path) for each, path in placed if is_named or is_container(str(path[-1]))]
        tables = [each for each, path in placed if is_declared(document, path)]
    if not tables and is_named_for_judges(document):
        for each in infer([document], TITLE, find_expected):
            yield Near([criteria.path for _, criteria, _ in each.criteria], *_word(*each.criteria[0][1:]))
    for each in tables:
        _, found, signs = each.criteria[0]
        if not is_read and _is_near(found, signs, is_own=is_named or found.are_texts):
            yield Near([criteria.path for _, criteria, _ in each.criteria], *_word(found, signs))


def find_in_program(document: Document) -> Iterator[tuple[Path, str]]:
    """Find home-made criteria in the literals of a program, with what to do about them."""
    for each in infer([document], TITLE):
        _, found, signs = each.criteria[0]
        if found.has_text and found.is_scored and found.is_told and not signs.is_foreign and len(found.items) > 1:
            name = shorten(str(next((step for step in reversed(found.path) if isinstance(step, str)), "")))
            reason = (
                f"`{name}` holds criteria with weights, levels or gates, and home-made rubrics are read from YAML, "
                "JSON and TOML only; if a judge reads them, write them to such a file and run `adopt` on it"
            )
            yield found.path, reason


def find_beside(document: Document, taken: set[Path]) -> Iterator[Near]:
    """Find home-made rubrics beside others, at the paths `taken`: a file is read in one format."""
    for each in _find_tables(document):
        _, found, signs = each.criteria[0]
        is_other = len(found.path) == 1 and not any(path[:1] == found.path for path in taken)
        if is_other and found.has_text and found.is_scored and not signs.is_foreign:
            reason = "holds criteria beside rubrics of another format, so it is not read;"
            steps = (Step("move", "to a file of its own"),)
            yield Near([found.path], f"`{shorten(str(found.path[0]))}` {reason}", steps)


def _is_listed(document: Document, found: Criteria) -> bool:
    """Return whether a list at the top of a document holds several texts that a judge could check."""
    is_list = len(found.path) == 1 and isinstance(document.value(found.path), list)
    return is_list and found.has_text and len(found.items) > 1


def _is_marked(inferred: Inferred) -> bool:
    return inferred.criteria[0][1].is_marked


def _is_near(found: Criteria, signs: Signs, *, is_own: bool) -> bool:
    """Return whether criteria that are not read are worth a note; `is_own`: the file is named for a rubric."""
    is_told = not signs.beside.keys().isdisjoint(("pass", "scale", "lowest", "highest"))
    # Where a scale or a mark shows that criteria are scored, what is judged may stand under any key.
    has_text = found.has_text or (is_told and found.has_prose)
    has_two = len(_TWO & found.fields.keys()) > 1
    is_plain_field = signs.foreign_field in words().foreign["plain"] and found.is_told
    if signs.foreign or (signs.foreign_field and not is_plain_field):
        is_sure = signs.is_named or found.is_told or found.has_prose
        return found.is_scored and has_text and is_sure and (is_told or has_two)
    is_list = len(found.items) > 1 or is_told  # the scale of a single one shows that it is scored
    is_common = signs.is_common and not _has_deductions(found)
    is_plain = found.is_scored and has_text and is_list and not is_common
    return is_plain or (is_own and bool(found.path))


def _has_deductions(found: Criteria) -> bool:
    """Return whether the weights are whole and some are below 0: points come and go, coefficients have fractions."""
    weights = [item["weight"] for item in found.entries if "weight" in item]
    return all(type(weight) is int for weight in weights) and any(weight < 0 for weight in weights)


def _word(found: Criteria, signs: Signs) -> tuple[str, tuple[Step, ...]]:
    """Return why criteria are not read, and the steps to have them read."""
    key = shorten(str(next((step for step in reversed(found.path) if isinstance(step, str)), "")))
    start, adopt = f"`{key}` holds" if key else "this file holds", Step("run", "adopt")
    if not found.has_text and found.has_prose:
        return f"{start} criteria whose texts are under a key that is not read; if a judge reads them,", (adopt,)
    if not found.has_text:
        steps = (Step("rewrite", "add a `description` to each criterion"), adopt)
        return f"{start} criteria that do not say in words what is judged;", steps
    if found.are_texts:
        return f"{start} {len(found.items)} texts; if a judge takes each for a criterion,", (adopt,)
    told = {"outcome": "texts", "levels": "levels", "weight": "weights", "words": "words as weights", "gate": "gates"}
    fields = [f"{told[ours]} (`{shorten(names[0])}`)" for ours, names in found.fields.items() if ours in told]
    lack = "but nothing else shows that a judge reads them" if found.is_scored else "but no weights, levels or gates"
    if signs.is_foreign:
        lack = f"but `{shorten(signs.foreign or signs.foreign_field)}` is also in files that no judge reads"
    if found.is_scored and len(found.items) == 1:
        lack = "but only one"
    if found.is_scored and not found.is_told and signs.is_declared and not signs.is_foreign:
        lack = "but most of their texts have one or two words, as the names of prices and sections have"
    if any(add_up(entry[name]) for entry in found.entries for name in found.levels if name in entry):
        lack = "but the points in some lists repeat, so they are not levels"
    return f"{start} criteria with {join_words(fields)}, {lack}; if a judge reads them,", (adopt,)
