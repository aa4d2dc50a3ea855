"""Turn intents of a rule into edits that leave every other byte of the text alone."""

from rubric_lint.edits import fields, items, splitting
from rubric_lint.edits.intents import (
    AddField,
    Dissolve,
    EscapeText,
    Fix,
    InsertField,
    InsertItems,
    Intent,
    JoinLists,
    MoveField,
    MoveItems,
    NestField,
    PutUnder,
    RemoveField,
    RenameKey,
    Reorder,
    Repair,
    Replace,
    ReplaceValue,
    UnwrapValue,
    WrapText,
    WrapValue,
)
from rubric_lint.edits.lines import ObstacleError
from rubric_lint.edits.sharing import Sharing
from rubric_lint.text.source import Edit, Kind, Span

NEVER_REWRITTEN = "Python is checked, never rewritten"


def make_fix(sharing: Sharing, repair: Repair) -> Fix:
    """Return the edits of a repair, sorted and disjoint.

    A value that several fields share through anchors, aliases and merge keys is edited once for all of them, if all of
    them are inside the rubrics of `sharing`.

    Raises:
        ObstacleError: if the repair is impossible.
    """
    is_renaming = all(isinstance(each, RenameKey) for each in repair.intents)
    if sharing.document.kind.is_program:
        raise ObstacleError(f"{NEVER_REWRITTEN}; change it by hand")
    if sharing.document.kind is Kind.TOML and not is_renaming:
        raise ObstacleError("in TOML only keys are renamed; change it by hand")
    intents = list(dict.fromkeys(repair.intents))
    if repair.is_local and sharing.is_needed:
        for intent in intents:
            if (place := intent.place) is not None:
                sharing.check_alone(place)
    if sharing.is_needed or sharing.document.duplicates:
        spread: list[Intent] = []
        for intent in intents:
            intent.check(sharing, is_renaming=is_renaming)
            spread.append(intent)
            for other in intent.find_sharers(sharing):
                is_definition = sharing.is_definition(other)
                whole = [each for each in repair.intents if not is_definition or isinstance(each, ReplaceValue)]
                spread += [each.turn_to(other, sharing) for each in whole]
        intents = list(dict.fromkeys(spread))
    intents = [intent.complete(sharing) for intent in intents]
    found: dict[Span, list[str]] = {}
    for span, text in dict.fromkeys(edit for intent in intents for edit in _edit(intent, sharing)):
        found.setdefault(span, []).append(text)
    edits = tuple(
        Edit(span, text)
        for span, texts in sorted(found.items())
        for text in (["".join(texts)] if span.start == span.end else texts)  # what is inserted at one place is one edit
    )
    return Fix(repair.title, edits, repair.safe, tuple(intents), repair.choice)


def _edit(intent: Intent, sharing: Sharing) -> list[Edit]:  # noqa: C901, PLR0911, PLR0912 (one case for each intent)
    """Return the edits of the text for one intent; raise ObstacleError if the notation does not allow it."""
    document = sharing.document
    match intent:
        case RenameKey(path, name):
            return [fields.rename_key(document, path, name)]
        case ReplaceValue(path, text):
            return [fields.replace_value(document, path, text)]
        case RemoveField(path):
            return fields.remove_field(sharing, path)
        case AddField(path, name, text):
            return [fields.add_field(document, path, name, text)]
        case InsertField(path, name, text):
            return fields.insert_field(document, path, name, text)
        case WrapText(path, name, before, after):
            return fields.wrap_text(document, path, name, before, after)
        case NestField(path, name, before, inner):
            return fields.nest_field(document, path, name, before, inner)
        case PutUnder(path, name, inner):
            return fields.put_under(document, path, name, inner or str(path[-1]))
        case Dissolve(path):
            return fields.dissolve(document, path)
        case MoveField(path, to):
            return fields.move_field(document, path, to)
        case WrapValue(path):
            return fields.wrap_value(document, path)
        case UnwrapValue(path):
            return fields.unwrap_value(document, path)
        case EscapeText(path, has_escapes, marks):
            return fields.escape_text(document, path, has_escapes=has_escapes, marks=marks)
        case JoinLists(path, to):
            return items.join_lists(document, path, to)
        case Reorder(path, steps):
            return items.reorder(document, path, steps)
        case InsertItems(path, copies, is_before):
            return [items.insert_items(document, path, copies, before=is_before)]
        case MoveItems(path, steps, holder, changes):
            return splitting.move_items(document, path, steps, holder, changes)
        case Replace(span, text):
            return [Edit(span, text)]
    raise NotImplementedError(intent)
