"""Find rubrics in programs that are computed, so that they can only be reported as not checked."""

import re
from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects.deepeval import is_band, is_likely_band, is_metric, mentions_deepeval
from rubric_lint.dialects.ragas import Uses, find_uses, holds_levels
from rubric_lint.format.view import read_text
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.python_tree import COMPUTED, has_unpacked

_UNPACKED = re.compile(r"Rubric\(\s*\*\*")
_LEVEL = re.compile(r"score-?\d{1,4}_description")


def find_computed(document: Document, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    """Find the bands and dictionaries that are not in the rubrics at the paths `taken`, and computed parts of these."""
    for path in taken:
        value = document.value(path)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict) and not is_band(item):
                yield (*path, index), "a part of this list is computed; only its literal bands are checked"
    yield from _find_bands(document, taken)
    yield from _find_levels(document, taken)


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
        elif place not in taken and is_metric(mapping) and _is_unpacked(mapping.get("rubric")):
            yield place, "the fields of these bands are computed; only literal ones are checked"


def _find_levels(document: Document, taken: set[Path]) -> Iterator[tuple[Path, str]]:
    uses: Uses | None = None
    for path, mapping in document.mappings:
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
