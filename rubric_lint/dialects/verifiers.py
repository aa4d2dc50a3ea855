"""Read rubrics of verifiers' `RubricJudge`: criteria with a `name` and a `text`, in TOML or JSON."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.finding import Problem
from rubric_lint.format.view import OF_FILES, Dialect, Draft, View, is_named_for_judges
from rubric_lint.messages import find_near, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import Kind

_NAMES = {"name": "id", "text": "expected_outcome", "weight": "weight"}

VERIFIERS = Dialect(
    "verifiers",
    "verifiers",
    "verifiers/v1.json",
    {**{name: key for key, name in _NAMES.items()}, "levels": "choices"},
    without=frozenset({"missing-id", "vague-outcome"}),  # the choices are words, and words are all they have
    has_borderline=False,
    tells_others=True,
)
DIALECTS = (VERIFIERS,)

_FIELDS = frozenset({*_NAMES, "choices"})
_NAMED = re.compile(r"(?:rubric|criteri|judge|grad(?:er|ing))[^/\\]*$", re.IGNORECASE)
_DEFAULT = ("no", "yes")


def find(document: Document) -> Iterator[View]:
    """Find the list of criteria: under `criteria` at the top of the file, or the whole file. The judge reads no YAML.

    Questions of surveys look the same, so a whole file says by its name that it is a rubric.
    """
    data = document.data
    path: Path = ("criteria",) if isinstance(data, dict) else ()
    items = data.get("criteria") if isinstance(data, dict) else data
    is_told = data.keys() <= OF_FILES if isinstance(data, dict) else _NAMED.search(document.source.name) is not None
    if (
        document.kind in (Kind.JSON, Kind.TOML)
        and is_told
        and isinstance(items, list)
        and _are_criteria(document, items)
    ):
        yield _view(Draft(document, path), items)


def _are_criteria(document: Document, items: list[Any]) -> bool:
    """Return whether all items are criteria, and one has more than a name and a text; menus and tables look alike."""
    if not items or not all(isinstance(item, dict) and item.keys() >= {"name", "text"} for item in items):
        return False
    known = all(key in _FIELDS or find_near(key, _FIELDS) for item in items for key in item)
    return (known or is_named_for_judges(document)) and any(item.keys() & {"choices", "weight"} for item in items)


def _view(draft: Draft, items: list[dict[str, Any]]) -> View:
    has_choices = any("choices" in item for item in items)  # then yes and no are levels too
    data = []
    for index, item in enumerate(items):
        entry = draft.rename(item, _NAMES, (index,))
        if has_choices:
            entry["levels"] = _levels(draft, index, item)
        data.append(entry)
    problems = (*_find_repeated(draft.path, items), *_find_reversed(draft.path, items))
    return draft.finish(VERIFIERS, data, problems=problems)


def _levels(draft: Draft, index: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the choices as levels by their rank."""
    source = (*draft.path, index)
    written = item.get("choices")
    choices = written if isinstance(written, list) else _DEFAULT
    draft.put((index, "levels"), (*source, "choices") if "choices" in item else source)
    levels = []
    for rank, choice in enumerate(choices):
        place = (*source, "choices", rank) if isinstance(written, list) else source
        for own in ((), ("level",), ("expected_outcome",)):
            draft.put((index, "levels", rank, *own), place)
        levels.append({"level": rank, "expected_outcome": choice})
    return levels


def _find_repeated(path: Path, items: list[dict[str, Any]]) -> Iterator[tuple[str, Problem]]:
    """Find choices that are there twice: verifiers refuses the file."""
    for index, item in enumerate(items):
        written = item.get("choices")
        choices = written if isinstance(written, list) else []
        for rank, choice in enumerate(choices):
            if isinstance(choice, str) and choice in choices[:rank]:
                values = {"choice": shorten(choice)}
                yield "schema", Problem("repeated-choice", (*path, index, "choices", rank), values=values)


_NEGATIVE = frozenset({"no", "none", "false", "fail", "failed", "never", "absent", "incorrect", "wrong"})
_POSITIVE = frozenset(
    {"yes", "full", "fully", "true", "pass", "passed", "all", "always", "present", "correct", "right"}
)


def _find_reversed(path: Path, items: list[dict[str, Any]]) -> Iterator[tuple[str, Problem]]:
    """Find choices from best to worst: the first one scores 0."""
    for index, item in enumerate(items):
        choices = item.get("choices")
        if not isinstance(choices, list) or len(choices) < 2 or not all(isinstance(each, str) for each in choices):
            continue
        first, last = choices[0], choices[-1]
        if first.strip().casefold() in _POSITIVE and last.strip().casefold() in _NEGATIVE:
            values = {"first": first, "last": last}
            yield "inverted-scale", Problem("falling-choices", (*path, index, "choices"), values=values)
