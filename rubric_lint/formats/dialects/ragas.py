"""Read rubrics of Ragas and Prometheus: dictionaries with a key such as `score1_description` for each level."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.python_tree import COMPUTED, NOT_LITERAL, has_unpacked
from rubric_lint.source.tree import CALL

RAGAS = Dialect(
    "ragas",
    "Ragas and Prometheus",
    "ragas/v1.json",
    {"levels": "scoreN_description", "expected_outcome": "scoreN_description"},
    without=frozenset({"missing-id"}),  # one dictionary is one criterion without a name
)

_KEY = re.compile(r"(?:orig_)?score(?P<level>-?[0-9]{1,4})(?P<suffix>_description)?")
_TASKS = ("criteria", "orig_criteria")


def find(document: Document) -> Iterator[View]:
    """Find the dictionaries with two levels or more."""
    find_used = cache(lambda: _find_used(document))
    for path, mapping in document.mappings:
        matches = [match for match in map(_KEY.fullmatch, mapping) if match]
        values = [mapping[match[0]] for match in matches]
        if len(matches) < 2 or not all(isinstance(value, str | None) for value in values) or not any(values):
            continue
        if document.kind.is_program and has_unpacked(mapping):
            continue
        if all(match["suffix"] for match in matches):
            is_rubric = _holds_levels(document, path, mapping, find_used)
        else:
            is_rubric = _is_plain_rubric(path, mapping, [match[0] for match in matches])
        if not is_rubric:
            continue
        draft = ViewBuilder(document, path)
        draft.put((0,), path)
        written: list[tuple[dict[str, Any], Path]] = []
        for match in matches:
            level = {"level": int(match["level"]), "expected_outcome": mapping[match[0]]}
            written.append((level, (*path, match[0])))
        levels = draft.make_levels((0,), path, written)
        for index, (_, place) in enumerate(written):
            draft.put((0, "levels", index, "level"), place, is_key=True)
        task = next((mapping[field] for field in _TASKS if isinstance(mapping.get(field), str)), "")
        # In a file with several dictionaries, the key of each is its name.
        name = path[-1] if path and isinstance(path[-1], str) else ""
        yield draft.finish(RAGAS, [{"levels": levels}], name=name, task=task)


def _find_used(document: Document) -> set[str]:
    """Return the names of the dictionaries that are rubrics by their use.

    In a program, calls get them as rubrics. In data, these are all there are, if they are several and hold only levels.
    """
    found: set[str] = set()
    if not document.kind.is_program:
        data = document.data if isinstance(document.data, dict) else {}
        return set(data) if len(data) > 1 and all(map(_has_only_levels, data.values())) else found
    for _, call in document.mappings:
        function = read_text(call, CALL).lower()
        if not function:
            continue
        for argument, value in call.items():
            if isinstance(value, dict) and COMPUTED in value and _WORD in f"{function} {argument.lower()}":
                found.add(value[COMPUTED])
    return found


def _holds_levels(document: Document, path: Path, mapping: dict[str, Any], find_used: Callable[[], set[str]]) -> bool:
    """Return whether a mapping with keys such as `score1_description` has levels, and not the scores of two sides.

    It does if it is a rubric by its name or is used as one, or has a task. In data, it does also if it has nothing
    else, and is the whole document, is one of several in it, or has more levels than a match has sides.
    """
    if any(_WORD in str(step).lower() for step in path) or not mapping.keys().isdisjoint(_TASKS):
        return True
    if document.kind.is_program:
        return len(path) == 1 and str(path[0]).partition("#")[0].rpartition(".")[2] in find_used()
    is_alone = not path or len(mapping) > 2 or (len(path) == 1 and path[0] in find_used())
    return is_alone and _has_only_levels(mapping)


def _has_only_levels(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(key.startswith("score") for key in value)


_WORD = "rubric"


def _is_plain_rubric(path: Path, mapping: dict[str, Any], keys: Iterable[str]) -> bool:
    """Return whether levels without the suffix are under a key that contains `rubric`, and are not those of a match."""
    has_only = mapping.keys() <= {*keys, *_TASKS}
    has_text = not all(mapping[key] is None or mapping[key].strip().isdecimal() for key in keys)
    return has_only and has_text and bool(path) and _WORD in str(path[-1]).lower()


_KEY_IN_CODE = r"score(?:-?\d{1,4}|\{[^{}]*\}|%[ds])_description"
_ASSIGNED = re.compile(rf"(?<![\w.])(?P<name>[\w.]+)\[\s*[rf]?[\"']{_KEY_IN_CODE}[\"']")
_COMPREHENSION = re.compile(rf"\{{\s*[rf]?[\"']{_KEY_IN_CODE}[\"']")
_LEVEL = re.compile(r"score-?\d{1,4}_description")


def find_computed(document: Document, rubrics: set[Path]) -> Iterator[tuple[Path, str]]:
    """Find the dictionaries of levels that are computed; `rubrics` are the paths of those that are read."""
    find_used = cache(lambda: _find_used(document))
    firsts: dict[str, Path] = {}  # the first level of each variable that gets its levels one by one
    keys = document.data if isinstance(document.data, dict) else ()
    for key in keys:
        found = _ASSIGNED.search(key)
        if found and _is_rubric(found["name"], find_used):
            firsts.setdefault(found["name"], (key,))
    places = list(firsts.values())
    for path, mapping in document.mappings:
        if _COMPREHENSION.match(read_text(mapping, COMPUTED)):
            is_rubric = _is_rubric("".join(map(str, path)), find_used)
        else:
            has_levels = sum(_LEVEL.fullmatch(key) is not None for key in mapping) > 1
            is_rubric = has_levels and path not in rubrics and _holds_levels(document, path, mapping, find_used)
        if is_rubric:
            places.append(path)
    yield from ((place, NOT_LITERAL) for place in places)


def _is_rubric(name: str, find_used: Callable[[], set[str]]) -> bool:
    return _WORD in name.lower() or name.rpartition(".")[2] in find_used()
