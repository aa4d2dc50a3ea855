"""Describe what a rewriting did, in a few words."""

from rubric_lint.finding import (
    AddField,
    Dissolve,
    EscapeText,
    InsertField,
    Intent,
    JoinLists,
    MoveField,
    NestField,
    PutUnder,
    RemoveField,
    RenameKey,
    ReplaceValue,
    UnwrapValue,
    WrapText,
    WrapValue,
)


def describe_intent(intent: Intent) -> str:  # noqa: C901, PLR0912 (one for each intent)
    """Describe an intent in a few words."""
    words = "rewrite"
    match intent:
        case RenameKey(path, name):
            words = f"rename `{path[-1]}` to `{name}`"
        case ReplaceValue(path, text):
            words = f"write `{text}`"
        case RemoveField(path):
            words = f"remove `{path[-1]}`"
        case AddField(_, name, text):
            words = f"write `{name}: {text}`"
        case WrapText(_, name, before, after):
            other = after or before
            words = f"write a text as `{name}` with `{other[0]}: {other[1]}`"
        case NestField(path, name, before, _):
            words = f"move `{path[-1]}` to `{name}`, as `{before[0]}: {before[1]}`"
        case PutUnder(path, name):
            words = f"move `{path[-1]}` into `{name}`"
        case Dissolve(path):
            words = f"move the fields of `{path[-1]}` one level up"
        case MoveField(path, to):
            words = f"move `{path[-1]}` into `{to[-1]}`" if isinstance(to[-1], str) else f"move `{path[-1]}` up"
        case JoinLists(path, to):
            words = f"join `{path[-1]}` and `{to[-1]}`"
        case InsertField(_, name, _):
            words = f"write `{name}`"
        case WrapValue(path) | UnwrapValue(path):
            words = f"write `{path[-1]}` {'in' if isinstance(intent, WrapValue) else 'without'} brackets"
        case EscapeText():
            words = "escape template marks"
        case _:
            pass
    return words
