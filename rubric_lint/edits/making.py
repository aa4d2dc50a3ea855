"""Turn intents of a rule into edits that leave every other byte of the text alone."""

from collections.abc import Callable
from typing import Any

from rubric_lint.edits import fields, intents, items, splitting
from rubric_lint.edits.intents import Fix, Intent, RenameKey, Reorder, Repair
from rubric_lint.edits.lines import ObstacleError
from rubric_lint.edits.sharing import Sharing
from rubric_lint.text.document import Document
from rubric_lint.text.source import Edit, Kind, Span

NEVER_REWRITTEN = "Python is checked, never rewritten"


def make_fix(sharing: Sharing, repair: Repair) -> Fix:
    """Return the edits of a repair, sorted and disjoint.

    Raises:
        ObstacleError: if the repair is impossible, or would change other places through an anchor or a merge key.
    """
    if sharing.document.kind.is_program:
        raise ObstacleError(f"{NEVER_REWRITTEN}; change it by hand")
    is_renaming = all(isinstance(each, RenameKey) for each in repair.intents)
    if sharing.document.kind is Kind.TOML and not is_renaming:
        raise ObstacleError("in TOML only keys are renamed; change it by hand")
    wanted = list(dict.fromkeys(repair.intents))
    if sharing.document.may_borrow or sharing.document.duplicates:
        for intent in wanted:
            intent.check(sharing)
    wanted = [intent.complete(sharing) for intent in wanted]
    document, moves = sharing.document, [intent for intent in wanted if isinstance(intent, Reorder)]
    others = [intent for intent in wanted if not isinstance(intent, Reorder)]
    found: dict[Span, list[str]] = {}
    for span, text in dict.fromkeys(edit for intent in others for edit in _edit(intent, document)):
        found.setdefault(span, []).append(text)
    edits = [
        Edit(span, text)
        for span, texts in found.items()
        for text in (["".join(texts)] if span.start == span.end else texts)  # what is inserted at one place is one edit
    ]
    for intent in moves:
        edits = items.reorder(document.source.text, items.find_moves(document, intent.path, intent.steps), edits)
    return Fix(repair.title, tuple(sorted(edits)), repair.safe, tuple(wanted), repair.choice)


def _edit(intent: Intent, document: Document) -> list[Edit]:
    """Return the edits of the text for one intent; raise ObstacleError if the notation does not allow it."""
    edits = _MAKERS[type(intent)](document, *intent.values)
    return [edits] if isinstance(edits, Edit) else edits


_MAKERS: dict[type[Intent], Callable[..., Any]] = {
    intents.AddField: fields.add_field,
    intents.Arrange: lambda _document, _path: [],
    intents.Dissolve: fields.dissolve,
    intents.EscapeText: fields.escape_text,
    intents.InsertField: fields.insert_field,
    intents.InsertItems: items.insert_items,
    intents.JoinLists: items.join_lists,
    intents.MoveField: fields.move_field,
    intents.MoveItems: splitting.move_items,
    intents.NestField: fields.nest_field,
    intents.PutUnder: fields.put_under,
    intents.RemoveField: fields.remove_field,
    intents.RenameKey: fields.rename_key,
    intents.Replace: lambda _document, span, text: Edit(span, text),
    intents.ReplaceValue: fields.replace_value,
    intents.WrapText: fields.wrap_text,
    intents.WrapValue: fields.wrap_value,
}
"""What makes the edits of an intent, given the document and the fields of the intent."""
