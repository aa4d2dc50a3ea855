"""Say whether a table of the settings can describe criteria that are nearly read, or that another system reads."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rubric_lint.formats.home_made.candidate import Candidate, EvidenceKind, choose_likely
from rubric_lint.formats.home_made.format_table import YES_NO
from rubric_lint.formats.home_made.places import is_container
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.understand import Hints, understand_all
from rubric_lint.formats.home_made.vocabulary import SETS
from rubric_lint.model.criterion import USUAL_THRESHOLDS, Criterion
from rubric_lint.model.rubric import build_rubric
from rubric_lint.model.schema_files import CURRENT
from rubric_lint.model.view import View
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path


def find_describable(documents: Sequence[Document], hints: Hints) -> list[Candidate]:
    """Return the candidates that a table can describe, in documents of which the user says that they hold criteria.

    What looks like criteria comes before anything else; cases with what is expected of them are none.
    """
    return understand_all(documents, hints, _choose)


def _choose(candidates: Sequence[Candidate]) -> list[Candidate]:
    found = [candidate for candidate in candidates if not (candidate.is_apart or _asks_only(candidate))]
    with_text = [candidate for candidate in found if candidate.columns.has_text]
    sure = [candidate for candidate in with_text if candidate.is_rubric or candidate.is_near]
    return (
        sure
        or choose_likely(with_text)
        or [candidate for candidate in with_text if _is_marked(candidate)]
        or [candidate for candidate in found if EvidenceKind.NAME in candidate.evidence or candidate.is_near]
    )


def _is_marked(candidate: Candidate) -> bool:
    """Return whether a mark, a name or the form of the items says that they are criteria."""
    group = candidate.groups[0]
    is_named = EvidenceKind.NAME in candidate.evidence or is_container(group.key)
    return group.is_marked or candidate.are_texts or is_named


def _asks_only(candidate: Candidate) -> bool:
    """Return whether what is found has no text but what a case asks, and no name says that it is a rubric."""
    is_named = candidate.is_own or EvidenceKind.NAME in candidate.evidence or candidate.groups[0].is_marked
    asks = SETS["asks"]
    return not is_named and asks.issuperset(candidate.columns.names(Role.TEXT) or ("",))


def can_adopt(document: Document, path: Path) -> bool:
    """Return whether a table can describe what is at a path, or all that is below it: criteria with texts."""
    return path in _find_adoptable(document)


@lru_cache(maxsize=1)  # the near misses of a file are asked about one after the other
def _find_adoptable(document: Document) -> frozenset[Path]:
    """Return the places of criteria that a table can describe, and those above them."""
    found = find_describable([document], Hints(asks=True))
    adoptable: set[Path] = set()
    for candidate in found:
        for place in candidate.paths if candidate.columns.has_text else []:
            adoptable.update(place[:length] for length in range(len(place) + 1))
    return frozenset(adoptable)


def can_describe(view: View) -> bool:
    """Return whether a table can describe a rubric of another system, and loses nothing that decides its score.

    The bands of one score are no criteria, and a suite says more than a table can.
    """
    are_bands = any(isinstance(entry, dict) and "score_range" in entry for entry in view.data)
    if are_bands or view.dialect.name.startswith("agentv-"):
        return False
    other = _read_by_tables(view.document).get(view.path)
    return other is not None and keeps(view, other)


@lru_cache(maxsize=1)  # the rubrics of a file are asked about one after the other
def _read_by_tables(document: Document) -> Mapping[Path, View]:
    """Return the rubrics that the tables for a document read, by their place: criteria with texts and marks."""
    candidates = understand_all([document], Hints(YES_NO, asks=True))
    marked = [candidate for candidate in candidates if candidate.groups[0].is_marked]
    able: set[Path] = set()
    for candidate in marked:
        if candidate.columns.has_text:
            able.update(candidate.paths)
    return {view.path: view for candidate in marked for view in candidate.views if view.path in able}


def keeps(own: View, other: View) -> bool:
    """Return whether another reading has all criteria of a rubric, with their gates, signs, weights and levels."""
    if own.threshold not in (None, other.threshold):
        return False
    before, after = _list_criteria(own), _list_criteria(other)
    if len(before) != len(after) or len(before) != len(own.data):
        return False
    are_weighted = any(criterion.fields and "weight" in criterion.fields for criterion in before)
    if are_weighted and not all(map(_keeps_part, _find_parts(before), _find_parts(after))):
        return False
    return all(map(_keeps_criterion, before, after))


def _keeps_part(own: Fraction, other: Fraction) -> bool:
    """Return whether another reading has the part of a criterion, or takes as much off for a mark that is not read."""
    return own == other or (own > 0 and own == -other)


def _list_criteria(view: View) -> Sequence[Criterion]:
    return build_rubric(view.document, view.path, CURRENT, USUAL_THRESHOLDS, view=view).criteria


def _find_parts(criteria: Sequence[Criterion]) -> list[Fraction]:
    """Return the weight of each criterion as a part of all."""
    weights = [Fraction(0 if criterion.weight is None else criterion.weight) for criterion in criteria]
    total = sum(map(abs, weights)) or 1
    return [weight / total for weight in weights]


def _keeps_criterion(own: Criterion, other: Criterion) -> bool:
    """Return whether another reading of a criterion asks the same, with the same scores and the same gate."""
    if own.is_negated or own.outcome not in (None, other.outcome):
        return False
    if own.levels is None and own.scale is None:
        return own.gate is None or other.gate is not None
    return own.gate in (None, other.gate) and _list_scores(own) == _list_scores(other)


def _list_scores(criterion: Criterion) -> list[tuple[Any, ...]]:
    """Return the scores of a criterion with their texts."""
    bands = criterion.scale.bands if criterion.scale else ()
    scores: list[tuple[Any, ...]] = [(level.number, level.outcome or level.name) for level in criterion.levels or ()]
    scores += [(band.lower, band.upper, band.outcome) for band in bands]
    return scores
