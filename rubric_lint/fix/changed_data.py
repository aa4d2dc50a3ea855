"""List which values of a file a fix added, removed and changed, for readers of the proof."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.fix import Fixed
from rubric_lint.text.path import Path, pointer
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source


def list_changed_data(fixed: Fixed) -> dict[str, list[str]]:
    """Return the JSON Pointers of the scalars that were added, removed and changed, each list sorted.

    A renamed field counts as one removed and one added. In a file of several documents, a pointer begins with the
    number of its document.
    """
    before, after = dict(_scalars(fixed.before)), dict(_scalars(fixed.result.source if fixed.applied else fixed.before))
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(name for name in before.keys() & after.keys() if before[name] != after[name]),
    }


def _scalars(source: Source) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each scalar's pointer, and its type and value, which tell `1` from `true` and from `1.0`."""
    for document in read_documents(source)[0]:
        stack: list[tuple[Path, Any]] = [(() if document.number is None else (document.number,), document.data)]
        seen: set[int] = set()  # a value that aliases share is listed where it is written
        while stack:
            path, value = stack.pop()
            if not isinstance(value, dict | list):
                yield pointer(path), (type(value).__name__, repr(value))
            elif id(value) not in seen:
                seen.add(id(value))
                items = value.items() if isinstance(value, dict) else enumerate(value)
                stack += reversed([((*path, step), item) for step, item in items])
