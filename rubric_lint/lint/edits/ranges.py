"""Write a range of scores as the documentation does: `[0, 6]`."""

import re

from rubric_lint.finding import Edit
from rubric_lint.lint.edits.removal import ObstacleError, line_end
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_COLON = re.compile(r"[ \t]*:\s*")
_BRACKETS = re.compile(r"\[\s*,\s*,?\s*\]")
_DASHES = re.compile(r"-\s*-\s*")


def write_range(document: Document, path: Path) -> list[Edit]:
    """Return the edits that write the list of two bounds at `path` in brackets; each bound stays as it is written.

    Raises:
        ObstacleError: if there is a comment, an anchor, a tag or an alias between the brackets or dashes.
    """
    text, code = document.source.text, document.tree.code
    start, end = document.span(path)
    bounds = [document.extent((*path, at)) for at in (0, 1)]
    new = "[{}, {}]".format(*(text[slice(*bound)] for bound in bounds))
    if text[start:end] == new:
        return []
    (first, second), (third, fourth) = bounds
    around = text[start:first] + text[second:third] + text[fourth:end]
    if document.is_flow((*path, 0)):
        if not _BRACKETS.fullmatch(around):
            raise ObstacleError("there is a comment, an anchor or a tag between its brackets; move it")
        return [Edit(Span(start, end), new)]
    key = document.span(path, Part.KEY)
    head = _COLON.fullmatch(text, key.end, start)
    if (
        head is None
        or not _DASHES.fullmatch(around)
        or code[end : line_end(text, end).start] != text[end : line_end(text, end).start]
    ):
        raise ObstacleError("there is a comment, an anchor or a tag beside its bounds; move it")
    if "\n" in new or "\r" in new or new.count(",") > 1 or document.is_alias(path):
        raise ObstacleError("its bounds are written in an unusual way; write them as plain numbers")
    return [Edit(Span(key.end, end), f": {new}")]
