"""Tell criteria of AgentV since February 2026 from those of earlier releases and of other systems."""

from typing import Any

from rubric_lint.format.schema import schema_of
from rubric_lint.messages import find_near

_OLD = frozenset({"expected_outcome", "description"})
_BESIDES = frozenset({"id", "weight", "required", "min_score", "required_min_score", "score_ranges", "operator"})


def is_structured(value: Any, *, is_case: bool) -> bool:
    """Return whether a value holds criteria; with `is_case`, AgentV reads it, and a string is a criterion."""
    if not isinstance(value, list) or speaks_old(value):
        return False
    if is_case and any(isinstance(entry, str) for entry in value):
        return True
    mappings = [entry for entry in value if isinstance(entry, dict)]
    if is_case and any(map(is_criterion, mappings)):
        return True
    return speaks(value, is_free=True)


def speaks(entries: list[Any], *, is_free: bool, has_criteria: bool = False) -> bool:
    """Return whether entries use the words of these dialects, and none those of earlier ones.

    With `is_free`, an `outcome` alone is enough, because of where the list is; with `has_criteria`, also `criteria`.
    """
    mappings = [entry for entry in entries if isinstance(entry, dict)]
    told = any(_is_entry(entry, is_free=is_free, has_criteria=has_criteria) for entry in mappings)
    return told and not speaks_old(entries)


def speaks_old(entries: list[Any]) -> bool:
    """Return whether an entry or a band uses the words of version 2."""
    mappings = [entry for entry in entries if isinstance(entry, dict)]
    bands = [band for entry in mappings for band in _bands(entry)]
    return any(_OLD & each.keys() for each in (*mappings, *bands))


def _is_entry(entry: dict[str, Any], *, is_free: bool, has_criteria: bool) -> bool:
    if "score_ranges" in entry and ("operator" in entry or _is_share(entry.get("min_score")) or has_outcome(entry)):
        return True
    known = schema_of("agentv/a6.json").entry_fields
    if not all(field in known or find_near(field, known) for field in entry):
        return False
    if has_criteria and isinstance(entry.get("criteria"), str):
        return True
    return "outcome" in entry and (is_free or bool(entry.keys() & _BESIDES))


def has_outcome(entry: Any) -> bool:
    """Return whether a criterion or one of its bands has the field `outcome`."""
    return isinstance(entry, dict) and ("outcome" in entry or any("outcome" in band for band in _bands(entry)))


def _has_criteria(entry: dict[str, Any]) -> bool:
    """Return whether a criterion has its text in `criteria`, and another field that confirms it."""
    return isinstance(entry.get("criteria"), str) and bool(entry.keys() & _BESIDES)


def is_criterion(entry: dict[str, Any]) -> bool:
    """Return whether AgentV 5 takes a mapping as one criterion."""
    return "outcome" in entry or "score_ranges" in entry or _has_criteria(entry)


def _is_share(value: Any) -> bool:
    """Return whether a `min_score` can be a gate of AgentV; a gate such as 7 is a typo in version 2."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def _bands(entry: dict[str, Any]) -> list[dict[str, Any]]:
    ranges = entry.get("score_ranges")
    return [band for band in ranges if isinstance(band, dict)] if isinstance(ranges, list) else []
