"""Take as much of a long document as a completion needs: what is around the cursor, and one of each kind of item."""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rubric_lint.text.path import Path
from rubric_lint.text.tree import may_have_aliases

_SMALL = 8_000  # characters; a shorter text is read as a whole
_SHORT = 12
"""A list of so many items is kept whole; of a longer one, an item of a kind that is kept already says nothing new."""

_FAR = 2
"""How many more kinds of items are kept of a long list that is not near the cursor."""

_INNER = 2
"""How many lists around the cursor count as near: the criteria of a rubric, and the bands of a criterion."""

_FIELD = re.compile(r"(?<![\w$.-])[\w$.-]++(?=[\"']?:\s)")


class Window(NamedTuple):
    """A part of a text, and the offset in it.

    `shift` is how many characters more precede that offset in the whole. `place` is the number of the item around it
    among those that are left, or None if the offset is beside the list.
    """

    text: str
    offset: int
    shift: int
    place: int | None


def open_window(text: str, offset: int) -> Window | None:
    """Return the case or criterion around an offset with others of the same list, and all that is not in the list.

    Return None if the text is short, or is not a plain list in YAML.
    """
    starts = _find_items(text) if len(text) > _SMALL else None
    if starts is None:
        return None
    head, tail = text[: starts[0]], text[starts[-1] :]
    items = [text[start:end] for start, end in pairwise(starts)]
    last = len(items) - 1
    around = next((at for at in range(last + 1) if offset < starts[at + 1]), last)
    kept = _choose(items, around, _SHORT, lambda item: frozenset(_FIELD.findall(item)))
    above = head + "".join(items[at] for at in kept if at < around)
    shift = starts[around] - len(above) if offset >= starts[0] else 0
    if offset >= starts[-1]:
        shift = starts[-1] - len(head) - sum(len(items[at]) for at in kept)
    place = kept.index(around) if starts[0] <= offset < starts[-1] else None
    text = above + "".join(items[at] for at in kept if at >= around) + tail
    return Window(text, offset - shift, shift, place)


_TOP_LINE = re.compile(r"\n(?=[^\s#-])")
_FIRST_ITEM = re.compile(r"[^\r\n]*\r?\n(?: *(?:#[^\n]*)?\r?\n)*( *)- ")
_BEGIN = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?\r?\n)*+---")


def _find_items(text: str) -> list[int] | None:
    """Return where the items of the longest list at the top begin, by its indentation, and where it ends.

    Return None if there is no such list, or if its items may depend on each other or on another document.
    """
    begun = _BEGIN.match(text)
    if text.find("\n---", begun.end() if begun else 0) >= 0 or may_have_aliases(text):
        return None
    fields = [0, *(found.end() for found in _TOP_LINE.finditer(text)), len(text)]
    begin, end = max(pairwise(fields), key=lambda field: field[1] - field[0])
    first = _FIRST_ITEM.match(text, begin, end)
    if first is None:
        return None
    start = first.start(1)
    more = re.finditer(rf"\n(?= {{{len(first[1])}}}- )", text[start:end])
    return [start, *(start + found.end() for found in more), end]


def thin(data: Any, path: Path, *, is_key: bool) -> tuple[Any, Path]:
    """Return data with fewer items in its long lists, and the path that leads there to what `path` leads to.

    With `is_key`, that is a mapping; else it is a value, and a list of such values stays whole.
    """
    lists = [at for at, step in enumerate(path) if isinstance(step, int) and (is_key or at < len(path) - 1)]
    return _thin(data, path, 0, frozenset(lists[-_INNER:]))


def _thin(value: Any, path: Path | None, depth: int, near: frozenset[int]) -> tuple[Any, Path]:
    step = path[depth] if path is not None and depth < len(path) else None
    way: list[Path] = [path[depth:] if path is not None else ()]

    def below(key: str | int, child: Any, shown: str | int) -> Any:
        is_on_way = key == step and path is not None
        found, rest = _thin(child, path if is_on_way else None, depth + 1, near)
        if is_on_way:
            way[0] = (shown, *rest)
        return found

    if isinstance(value, dict):
        return {key: below(key, child, key) for key, child in value.items()}, way[0]
    if isinstance(value, list):
        kept: Sequence[int] = range(len(value))
        if step is None or depth in near or path is None or depth < len(path) - 1:
            around = step if isinstance(step, int) else 0
            kept = _choose(value, min(around, len(value) - 1), _SHORT if depth in near else _FAR, _sign)
        return [below(index, value[index], shown) for shown, index in enumerate(kept)], way[0]
    return value, way[0]


def _choose(items: Sequence[Any], around: int, most: int, sign: Callable[[Any], Hashable]) -> list[int]:
    """Return the indexes of the items to keep: all, or one and at most so many others.

    The others are each of a kind of its own, and those near that one come first.
    """
    if len(items) <= _SHORT:
        return list(range(len(items)))
    kept, seen = [around], set[Hashable]()
    for index in sorted(range(len(items)), key=lambda index: abs(index - around)):
        if len(kept) > most:
            break
        if index != around and (found := sign(items[index])) not in seen:
            seen.add(found)
            kept.append(index)
    return sorted(kept)


def _sign(item: Any) -> Hashable:
    """Return what two items of a list have in common if they are of the same kind: all names of fields in them."""
    return (type(item), frozenset(_list_names(item)))


def _list_names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for child in value.values():
            yield from _list_names(child)
    elif isinstance(value, list):
        for child in value:
            yield from _list_names(child)
