"""Know the canonical order of a rubric: that of the fields in its schema, and bands by their lowest scores."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from operator import getitem
from typing import Any, NamedTuple

from rubric_lint.format.criterion import Scale, Shape
from rubric_lint.format.repairs import order_bands
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import schema_for
from rubric_lint.text.path import Path

ROOT: Path = ("rubrics",)
"""The path of the rubric in a file that holds nothing else."""


class Ordering(NamedTuple):
    """The children of the collection at `path` in canonical order; None: they have none, because of invalid ranges."""

    path: Path
    steps: tuple[str | int, ...] | None


@cache
def _ranks(version: str, *definitions: str) -> Mapping[str, tuple[int, bool]]:
    """Return the places of fields by the order in the schema; a deprecated field has that of its replacement."""
    schema = schema_for(version)
    fields: dict[str, Any] = {}
    for definition in definitions:
        found = schema.fields_of(definition) if definition else schema.contents["properties"]
        fields.update((name, field) for name, field in found.items() if name not in fields)
    places = {name: at for at, name in enumerate(fields)}
    return {
        name: (places[field.get("x-replaced-by", name)], "x-replaced-by" in field) for name, field in fields.items()
    }


def _order(mapping: Mapping[str, Any], path: Path, version: str, *definitions: str) -> Ordering:
    ranks = _ranks(version, *definitions)
    return Ordering(path, tuple(sorted(mapping, key=lambda name: ranks.get(str(name), (len(ranks), False)))))


def list_ranges(rubric: Rubric) -> Iterator[Path]:
    """Yield the path of each range that is written as a list."""
    for entry in rubric.entries:
        for band in entry.scale.bands if entry.scale is not None else ():
            if band.path[-1] == "score_range" and band.lower is not None and band.upper is not None:
                yield band.path


_LISTS = {"score_ranges": "band", "levels": "level"}
"""The fields of a criterion that may hold a list of mappings, with the definition of those in the schema."""


def _order_items(rubric: Rubric, _data: Any) -> Iterator[Ordering]:
    for entry in rubric.entries:
        for field, definition in _LISTS.items():
            items = entry.fields.get(field) if entry.fields is not None else None
            for index, child in enumerate(items if isinstance(items, list) else ()):
                if isinstance(child, dict):
                    yield _order(child, (*entry.path, field, index), rubric.version, definition)


def _sort_scales(rubric: Rubric, _data: Any) -> Iterator[Ordering]:
    return (_sort(scale) for scale in rubric.scales if scale.bands and scale.path != rubric.path)


def _order_entries(rubric: Rubric, _data: Any) -> Iterator[Ordering]:
    for entry in rubric.entries:
        if entry.fields is not None:
            definitions = [*(["band"] if entry.shapes[0] is Shape.HOLISTIC else []), rubric.schema.item]
            yield _order(entry.fields, entry.path, rubric.version, *definitions)


def _sort_entries(rubric: Rubric, data: Any) -> Iterator[Ordering]:
    for scale in rubric.scales:
        if scale.bands and scale.path == rubric.path and len(scale.bands) == len(reduce(getitem, rubric.path, data)):
            yield _sort(scale)


def _order_root(rubric: Rubric, data: Any) -> Iterator[Ordering]:
    if rubric.path == ROOT and data.keys() <= rubric.schema.contents["properties"].keys():
        yield _order(data, (), rubric.version, "")


ORDERINGS: tuple[Callable[[Rubric, Any], Iterator[Ordering]], ...] = (
    _order_items,
    _sort_scales,
    _order_entries,
    _sort_entries,
    _order_root,
)
"""What finds the canonical orders of the collections of a rubric, from the data of the whole document.

Innermost collections come first; none that one of them finds is inside another.
"""


def _sort(scale: Scale) -> Ordering:
    """Return the order of bands by their lowest scores; they need one only if those that are known do not ascend."""
    depth = len(scale.path)
    lowest = [band.lower for band in scale.bands if band.lower is not None]
    written = tuple(band.path[depth] for band in scale.bands)
    if lowest == sorted(lowest):
        return Ordering(scale.path, written)
    return Ordering(scale.path, order_bands(scale))
