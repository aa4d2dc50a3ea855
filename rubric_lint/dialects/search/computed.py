"""Find rubrics in programs that are computed, so that they can only be reported as not checked."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.deepeval import (
    is_band,
    is_likely_band,
    is_metric,
    mentions_deepeval,
    read_words,
    word_other_metric,
)
from rubric_lint.dialects.openai_graders import has_computed, read_type
from rubric_lint.dialects.ragas import Uses, find_uses, holds_levels
from rubric_lint.format.view import read_text
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.python_tree import CALL, COMPUTED, has_unpacked

_UNPACKED = re.compile(r"Rubric\(\s*\*\*")
_NAMED = re.compile(r"[\w.]+")
_MADE = "partial"
_KEY = r"score(?:-?\d{1,4}|\{[^{}]*\}|%[ds])_description"
_ASSIGNED = re.compile(rf"(?<![\w.])(?P<name>[\w.]+)\[\s*[rf]?[\"']{_KEY}[\"']")
_COMPREHENSION = re.compile(rf"\{{\s*[rf]?[\"']{_KEY}[\"']")
_LEVEL = re.compile(r"score-?\d{1,4}_description")


def find_computed(document: Document, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    """Find the bands and dictionaries that are not in the rubrics at the paths `taken`, and computed parts of these."""
    for path in taken:
        value = document.value(path)
        for index, item in enumerate(value if isinstance(value, list) and any(map(is_band, value)) else ()):
            if isinstance(item, dict) and not is_band(item):
                yield (*path, index), "a part of this list is computed; only its literal bands are checked"
    yield from _find_bands(document, taken)
    yield from _find_levels(document, taken)
    for path, mapping in document.mappings:
        if (kind := read_type(mapping)) and has_computed(mapping):
            yield path, f"a part of this `{kind}` is computed; only literal ones are checked"


def _find_bands(document: Document, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    is_told = mentions_deepeval(document)
    for path, mapping in document.mappings:
        place = (*path, "rubric")
        if is_band(mapping):
            if path[:-1] not in taken:
                if is_likely_band(mapping, is_told=is_told):
                    yield path, "this band is computed, or not in a list; only literal bands in a list are checked"
            elif any(isinstance(field, dict) for field in _fields(mapping)):
                yield path, "a part of this band is computed; only its literal parts are checked"
        elif is_metric(mapping) and not mapping.get("rubric"):
            yield from _find_computed_words(document, path, is_read=path in taken)
        elif is_metric(mapping) and place not in taken and (reason := _word_bands(mapping.get("rubric"))):
            yield place, reason
        elif mapping.get(CALL) == _MADE and is_told and _makes_bands(mapping):
            yield path, f"bands that `{_MADE}` makes are computed; only literal bands in a list are checked"


def _find_computed_words(document: Document, path: Path, *, is_read: bool) -> Iterator[tuple[Path, str]]:
    """Find the metrics whose words are computed, or that are not DeepEval's."""
    call = document.value(path)
    field, words = read_words(call)
    if words is None:
        return
    if other := word_other_metric(document, call):
        yield path, other
    elif not is_read:
        yield (*path, field), f"`{field}` of this `{call[CALL]}` is computed; only literal texts are checked"
    elif isinstance(words, list) and any(isinstance(step, dict) for step in words):
        yield (*path, field), f"a part of `{field}` is computed; only its literal texts are checked"


def _word_bands(bands: Any) -> str:
    """Say why the bands of a metric are not checked; nothing of those that have a name, or that are told one by one."""
    if _is_unpacked(bands):
        return "the fields of these bands are computed; only literal ones are checked"
    is_list = isinstance(bands, list) and bool(bands) and not any(map(is_band, bands))
    is_call = isinstance(bands, dict) and CALL in bands and not any(map(_holds_band, bands.values()))
    text = read_text(bands, COMPUTED) if isinstance(bands, dict) else ""
    is_other = text != "" and not _NAMED.fullmatch(text) and "score_range" not in text
    is_computed = is_list or is_call or is_other
    return "these bands are computed; only literal bands in a list are checked" if is_computed else ""


def _holds_band(value: Any) -> bool:
    return is_band(value) or (isinstance(value, list) and any(map(is_band, value)))


def _makes_bands(call: dict[str, Any]) -> bool:
    """Return whether a call of `functools.partial` makes bands, with some of their fields."""
    made = call.get("0")
    is_class = isinstance(made, dict) and read_text(made, COMPUTED).endswith("Rubric")
    return is_class and not call.keys().isdisjoint(("score_range", "expected_outcome"))


def _find_assigned(document: Document) -> Iterator[tuple[Path, str]]:
    """Find the levels that are assigned key by key to a rubric; told at the first of each."""
    uses: Uses | None = None
    told: set[str] = set()
    for key in document.data if isinstance(document.data, dict) else ():
        found = _ASSIGNED.search(key)
        if found and found["name"] not in told:
            uses = uses or find_uses(document)
            if _is_rubric(found["name"], uses):
                told.add(found["name"])
                yield (key,), "levels that are assigned one by one are not checked; write one dictionary"


def _is_rubric(name: str, uses: Uses) -> bool:
    return "rubric" in name.lower() or name.rpartition(".")[2] in uses.variables


def _find_levels(document: Document, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    uses: Uses | None = None
    yield from _find_assigned(document)
    for path, mapping in document.mappings:
        if _COMPREHENSION.match(read_text(mapping, COMPUTED)):
            uses = uses or find_uses(document)
            if _is_rubric("".join(map(str, path)), uses):
                yield path, "the keys of these levels are computed; only literal ones are checked"
            continue
        if sum(_LEVEL.fullmatch(key) is not None for key in mapping) < 2:
            continue
        if path in taken:
            if has_unpacked(mapping):
                yield path, "a part of this dictionary of levels is computed; only its literal levels are checked"
            continue
        uses = uses or find_uses(document)
        if holds_levels(document, path, mapping, uses):
            yield path, "a part of this dictionary of levels is computed; only literal ones are checked"


def _is_unpacked(bands: Any) -> bool:
    """Return whether the fields of bands, which are a list or its source text, are put there by `**`."""
    if isinstance(bands, dict):
        return _UNPACKED.search(read_text(bands, COMPUTED)) is not None
    return isinstance(bands, list) and any(isinstance(band, dict) and has_unpacked(band) for band in bands)


def _fields(band: dict[str, Any]) -> Iterator[Any]:
    yield band["expected_outcome"]
    bounds = band["score_range"]
    yield from bounds if isinstance(bounds, list) else [bounds]
