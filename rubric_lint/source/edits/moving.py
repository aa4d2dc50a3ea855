"""Refuse to move or sort fields and items where it is unclear what belongs to them, and name the copies."""

import re
from collections.abc import Collection, Sequence
from itertools import count

from rubric_lint.source.document import Document
from rubric_lint.source.edits.alias_graph import AliasGraph
from rubric_lint.source.edits.lines import ObstacleError, has_comment_below
from rubric_lint.source.path import Path
from rubric_lint.source.scalar import write_numbered
from rubric_lint.source.source import Kind
from rubric_lint.source.tree import AliasNode

CopyChanges = tuple[tuple[Path, str], ...]
"""The other scalars of a copy: their paths in it, and what is written there."""

LABELS = ("id", "name", "metric")
"""The fields of a list item that name it; a copy gets others, which no sibling has."""

_ANCHOR = re.compile(r"(?:!\S*\s+)?&([^\s,\[\]{}]+)")


def complete_move(aliases: AliasGraph, path: Path, steps: Sequence[int], holder: Path) -> tuple[CopyChanges, int]:
    """Return the other scalars that the copy of the holder needs, and the number of a new document.

    Raises:
        ObstacleError: if the holder cannot be copied.
    """
    document = aliases.document
    fields = document.value(holder)
    if not holder:
        if document.kind is not Kind.YAML:
            raise ObstacleError("only YAML holds several documents; move the criteria to a file of their own")
        others = [key for key, value in fields.items() if key != path[0] and isinstance(value, dict | list)]
        if others:
            raise ObstacleError(f"the file has `{others[0]}` too; move the criteria to a file of their own")
        aliases.check_apart(path, steps)
    elif any(other != path and other[: len(holder)] == holder for other in aliases.rubrics):
        raise ObstacleError("there is another rubric next to it; move the criteria by hand")
    _check_anchors(document, path, steps, holder)
    below = {step + 1 for step in steps} & {*range(len(document.value(path)))}
    _check_comments(aliases, path, {*steps} | below, "move")
    siblings = [item for item in document.value(holder[:-1]) if isinstance(item, dict)] if holder else [fields]
    changes = []
    for label in LABELS:
        name = fields.get(label)
        if isinstance(name, str):
            used = {item.get(label) for item in siblings}
            number = next(number for number in count(2) if f"{name}-{number}" not in used)
            changes.append(((label,), write_numbered(name, number)))
    document_number = 0 if holder else len(document.tree.roots)
    return tuple(changes), document_number


def _check_anchors(document: Document, path: Path, steps: Sequence[int], holder: Path) -> None:
    """Refuse anchors in what is moved or copied, and aliases in what moves to another document."""
    text, items = document.source.text, document.child(path).node.value
    kept = {id(item) for index, item in enumerate(items) if index not in steps}
    pending = [document.child(holder).node]
    while pending:
        node = pending.pop()
        if id(node) in kept:
            continue
        start = node.start_mark.index
        line = document.source.position(start).line
        if type(node) is AliasNode:
            if not holder:
                raise ObstacleError(
                    f"line {line} uses an alias, which no other document can; write out what it stands for"
                )
            continue
        anchor = _ANCHOR.match(text, start)
        if anchor:
            raise ObstacleError(f"line {line} has the anchor `&{anchor[1]}`, which cannot be moved; write it out")
        value = getattr(node, "value", None)
        if isinstance(value, list):
            for child in value:
                pending += child if isinstance(child, tuple) else [child]


def check_order(aliases: AliasGraph, path: Path, steps: Sequence[str | int]) -> None:
    """Refuse an order of the children of a collection that leaves some out, or moves comments that may be about others.

    Raises:
        ObstacleError: if it does.
    """
    value = aliases.document.value(path)
    old = list(value) if isinstance(value, dict) else list(range(len(value)))
    if len(old) != len(steps):
        raise ObstacleError("there is something else among them; sort them by hand")
    moved = [at for at, (one, other) in enumerate(zip(old, steps, strict=True)) if one != other]
    if moved:
        _check_comments(aliases, path, range(moved[0], moved[-1] + 1), "sort")


def _check_comments(aliases: AliasGraph, path: Path, moved: Collection[int], act: str) -> None:
    """Refuse to move children of a block if it is unclear which of them a comment is about."""
    document, layout = aliases.document, aliases.layouts.of(aliases.document.child(path).node)
    if layout.is_flow:  # comments between brackets have no place there, so none is written otherwise
        return
    text = document.source.text
    for at in moved:
        entry = layout.entries[at]
        lead = text[entry.lead : max(entry.lead, aliases.layouts.line_start(entry.start))]
        lines = lead.splitlines()
        if any(len(line) - len(line.lstrip()) != entry.column or not line.strip() for line in lines):
            reason = f"it is unclear which of them this comment is about; {act} them by hand"
            raise _refuse(document, entry.lead, reason)
        head = "" if at or path else _find_head_comment(document, entry.start)
        if (lead and not at) or head:
            reason = f"this comment may be about all of them; {act} them by hand"
            raise _refuse(document, entry.lead - len(head), reason)
    last = layout.entries[-1]
    if len(layout.entries) - 1 in moved and has_comment_below(document, last.end - 1, layout.column):
        reason = f"it is unclear whether the comment below is about this one; {act} them by hand"
        raise _refuse(document, last.start, reason)


def _find_head_comment(document: Document, start: int) -> str:
    """Return the text from the first comment right above the content of a document to it; empty without one.

    The line that names the schema is about the whole document, and so is what a blank line or `---` separates.
    """
    comments: list[str] = []
    for line in reversed(document.source.text[document.preamble.start : start].splitlines(keepends=True)):
        if not line.startswith("#") or "$schema" in line:
            break
        comments.append(line)
    return "".join(reversed(comments))


def _refuse(document: Document, at: int, reason: str) -> ObstacleError:
    return ObstacleError(f"line {document.source.position(at).line}: {reason}")
