"""Report containers of rubrics that are misspelt or empty, so that their criteria would be lost."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.search.locate import Search, is_agentv
from rubric_lint.dialects.search.renames import rename
from rubric_lint.finding import Problem
from rubric_lint.format.recognition import (
    FIELD,
    find_misspelt,
    holds_criteria,
    holds_texts,
    is_listed,
    is_ours,
    is_place,
    is_reference,
)
from rubric_lint.messages import describe
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path


def find_lost(document: Document, found: Search, *, in_suite: bool, of_agentv: bool) -> Iterator[Problem]:
    """Find the containers of rubrics that nothing reads, in a file of rubrics.

    With `in_suite`, the file has rubrics, so its top level counts as a case. With `of_agentv`, some of them are
    AgentV's.
    """
    for path in found.leftovers:
        if is_place(path[:-1], in_suite=in_suite):
            yield from _find_leftover(document, path, of_agentv=of_agentv)
    if of_agentv:
        # Files with a rubric of AgentV have loaded the module already.
        from rubric_lint.dialects.search.lost_in_agentv import find_lost_in_agentv  # noqa: PLC0415

        views = [location.view for location in found.rubrics if location.view and is_agentv(location)]
        yield from find_lost_in_agentv(document, views, {location.path for location in found.rubrics})


def _find_leftover(document: Document, path: Path, *, of_agentv: bool) -> Iterator[Problem]:
    owner, value = document.value(path[:-1]), document.value(path)
    key = str(path[-1])
    if key != FIELD:
        is_case = document.number is not None or is_listed(path[:-1])
        is_read = _could_be_read(value, path[:-1]) or (is_case and holds_texts(value))
        if FIELD not in owner and (_is_same(key) or is_read):
            values = {"key": key, "wanted": FIELD}
            yield Problem("misnamed", path, Part.KEY, values, repair=rename([(path, FIELD)]))
    elif not value and not isinstance(value, bool | int | float):
        yield Problem("empty", path, Part.KEY, {"empty": word_empty(value)})
    elif not isinstance(value, list | dict):
        if not (isinstance(value, str) and is_reference(value)):
            yield Problem("not-a-list", path, values={"found": describe(value, document.written_at(path))})
    elif misspelt := list(find_misspelt(value, path, of_agentv=of_agentv)):
        yield describe_misspelt(misspelt[0])._replace(repair=rename(misspelt))
    elif holds_criteria(value) or (document.number is not None and holds_texts(value)):
        wanted = "outcome" if of_agentv else "expected_outcome"
        yield Problem("no-criteria", path, Part.KEY, {"wanted": wanted})


def word_empty(value: Any) -> str:
    """Describe an empty field: `is an empty list`."""
    if value is None:
        return "has no value"
    return f"is an empty {'list' if isinstance(value, list) else 'mapping' if isinstance(value, dict) else 'string'}"


def _is_same(key: str) -> bool:
    return key.lower() == FIELD


def _could_be_read(value: Any, owner: Path) -> bool:
    """Return whether a value would be a rubric under the right name."""
    if is_ours(value, owner):
        return True
    return isinstance(value, list) and any(isinstance(entry, dict) and "outcome" in entry for entry in value)


def describe_misspelt(found: tuple[Path, str]) -> Problem:
    """Return the problem of rubrics that are not read because of a misspelt field, given it and what it should be."""
    path, target = found
    code = "bands-as-range" if path[-1] == "score_range" else "misspelt-field"
    return Problem(code, path, Part.KEY, {"key": path[-1], "wanted": target})
