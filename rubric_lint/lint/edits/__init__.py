"""Turn intents of a rule into edits that leave every other byte of the text alone."""

import json
import re
from collections.abc import Iterable, Iterator

from rubric_lint.finding import (
    AddField,
    Dissolve,
    Edit,
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
    Restructuring,
    UnwrapValue,
    WrapText,
    WrapValue,
    pointer,
)
from rubric_lint.lint.edits.insertion import NEARBY, add_field, wrap_text
from rubric_lint.lint.edits.items import insert_items
from rubric_lint.lint.edits.moving import dissolve, join_lists, move_field, put_under
from rubric_lint.lint.edits.nesting import nest_field
from rubric_lint.lint.edits.order import reorder
from rubric_lint.lint.edits.removal import ObstacleError, remove_field
from rubric_lint.lint.edits.rewriting_values import escape_text, insert_field, unwrap_value, wrap_value
from rubric_lint.lint.edits.sharing import Sharing, is_same
from rubric_lint.lint.edits.splitting import complete_move, move_items
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import read_scalar
from rubric_lint.text.source import Kind, Span

__all__ = ["NEVER_REWRITTEN", "ObstacleError", "Sharing", "make_fix"]


NEVER_REWRITTEN = "Python is checked, never rewritten"


def make_fix(sharing: Sharing, repair: Repair) -> Fix:
    """Return the edits of a repair, sorted and disjoint.

    A value that several fields share through anchors, aliases and merge keys is edited once for all of them, if all of
    them are inside the rubrics of `sharing`.

    Raises:
        ObstacleError: if the repair is impossible.
    """
    if sharing.document.kind.is_program:
        raise ObstacleError(f"{NEVER_REWRITTEN}; change it by hand")
    if sharing.document.kind is Kind.TOML and not all(isinstance(each, RenameKey) for each in repair.intents):
        raise ObstacleError("in TOML only keys are renamed; change it by hand")
    intents = tuple(dict.fromkeys(repair.intents))
    if repair.is_local and sharing.is_needed:
        for intent in intents:
            _check_alone(sharing, intent)
    if sharing.is_needed or sharing.document.duplicates:
        intents = tuple(dict.fromkeys(spread for intent in intents for spread in _spread(sharing, intent, repair)))
    intents = tuple(complete_move(sharing, each) if isinstance(each, MoveItems) else each for each in intents)
    edits = dict.fromkeys(edit for intent in intents for edit in _make_edits(sharing, intent))
    return Fix(repair.title, tuple(_sort(edits)), repair.safe, intents, repair.choice)


def _sort(edits: Iterable[Edit]) -> list[Edit]:
    """Sort edits by their places; what is inserted at one place stays in its order, as one edit."""
    found: dict[Span, list[str]] = {}
    for span, text in edits:
        found.setdefault(span, []).append(text)
    return [
        Edit(span, text)
        for span, texts in sorted(found.items())
        for text in (["".join(texts)] if span.start == span.end else texts)
    ]


def _check_alone(sharing: Sharing, intent: Intent) -> None:
    if not isinstance(intent, Replace) and (site := sharing.find_sharer(intent.path)) is not None:
        line = sharing.document.source.position(site).line
        raise ObstacleError(f"an anchor shares it with line {line}; write it out there, or change it by hand")


def _spread(sharing: Sharing, intent: Intent, repair: Repair) -> Iterator[Intent]:
    """Yield an intent, and if other fields share the value, the whole repair for each of them."""
    yield intent
    if not sharing.is_needed:
        if isinstance(intent, RenameKey | ReplaceValue | RemoveField | NestField):
            _check_key(sharing, intent.path)
        return
    match intent:
        case Replace():
            return
        case RenameKey(path) | ReplaceValue(path) | RemoveField(path) | NestField(path):
            _check_field(sharing, path)
        case AddField(path) | Reorder(path):
            _check_outsider(sharing, sharing.outsider_of(path))
        case WrapText(path):
            _check_outsider(sharing, sharing.outsider_of(path[:-1]))
    if isinstance(intent, RenameKey | RemoveField):
        _check_merging(sharing, intent, keeps_value=all(isinstance(each, RenameKey) for each in repair.intents))
    if isinstance(intent, ReplaceValue | RemoveField):
        for other in _check_sharers(sharing, intent):
            is_definition = sharing.is_definition(other)
            intents = [each for each in repair.intents if not is_definition or isinstance(each, ReplaceValue)]
            yield from (_turn_to(sharing, other, each) for each in intents)


def _turn_to(sharing: Sharing, path: Path, intent: Intent) -> Intent:
    """Return the same intent for another field."""
    match intent:
        case RenameKey(_, name):
            if name in sharing.locate(path)[0]:
                raise ObstacleError(f"its value is shared with {_name(sharing, path)}, beside `{name}`")
            return RenameKey(path, name)
        case ReplaceValue(_, text):
            return ReplaceValue(path, text)
        case RemoveField(_, beside):
            return RemoveField(path, beside)
        case _:
            return RemoveField(path)


def _check_field(sharing: Sharing, path: Path) -> None:
    _check_outsider(sharing, sharing.outsider(path))
    _check_key(sharing, path)


def _check_merging(sharing: Sharing, intent: RenameKey | RemoveField, *, keeps_value: bool) -> None:
    """Refuse what would change a mapping that merges the field in more than the field, or let a merged one count."""
    document, path = sharing.document, intent.path
    places = [path]
    if (hidden := document.shadowed(path)) is not None:
        owner = document.paths.get(hidden.owner)
        places += [] if owner is None else [(*owner, path[-1])]
        is_alike = owner is not None and (keeps_value or is_same(document.value(path), document.value(places[-1])))
        if not is_alike or not sharing.is_used(places[-1]):
            line = document.source.position(document.key_start(hidden)).line
            raise ObstacleError(
                f"the `{path[-1]}` of line {line} would take its place, by a merge key; change both by hand"
            )
    beside = intent.beside if isinstance(intent, RemoveField) else ""
    if beside and (odd := sharing.find_odd(path, beside)) is not None:
        line = document.source.position(document.span(odd, Part.ENTRY).start).line
        raise ObstacleError(f"line {line} shares it without the same `{beside}`; change it by hand")
    for place in places:
        if (
            isinstance(intent, RenameKey)
            and (rival := sharing.find_rival(place, intent.name)) is not None
            and rival != path[:-1]
        ):
            line = document.source.position(document.span(rival, Part.ENTRY).start).line
            raise ObstacleError(f"line {line} merges it beside its own `{intent.name}`; keep one of the two there")


def _check_key(sharing: Sharing, path: Path) -> None:
    if sharing.repeated and (field := sharing.field(path)) in sharing.repeated:
        raise ObstacleError(f"`{field[1]}` is written twice in this mapping; remove one")


def _check_outsider(sharing: Sharing, outsider: Path | None) -> None:
    if outsider is not None:
        raise ObstacleError(
            f"it is shared with {_name(sharing, outsider)}, which is outside all rubrics; change it by hand"
        )


def _check_sharers(sharing: Sharing, intent: ReplaceValue | RemoveField) -> list[Path]:
    """Return the fields that must change too, because they share the text of their value."""
    path = intent.path
    others = sharing.sharers(path)
    for other in others:
        if sharing.outsider(other):
            raise ObstacleError(
                f"its value is shared with {_name(sharing, other)}, which is outside all rubrics; change it by hand"
            )
    if isinstance(intent, RemoveField) and sharing.is_alias(path):
        return []
    for other in others:
        if other[-1] != path[-1] and not sharing.is_definition(other):
            raise ObstacleError(f"its value is shared with {_name(sharing, other)}; change it by hand")
        _check_field(sharing, other)
    return others


def _name(sharing: Sharing, path: Path) -> str:
    if not path:
        return "the whole document"
    position = sharing.document.source.position(sharing.document.span(path, Part.KEY).start)
    site = sharing.document.span(path, Part.ENTRY) if isinstance(path[-1], int) else None
    line = sharing.document.source.position(site.start).line if site else position.line
    return f"`{pointer(path)}` (line {line})"


def _make_edits(sharing: Sharing, intent: Intent) -> list[Edit]:  # noqa: PLR0911 (one for each intent)
    document = sharing.document
    match intent:
        case RenameKey(path, name):
            return [_rename(document, path, name)]
        case ReplaceValue(path, text):
            return [_replace_value(document, path, text)]
        case RemoveField(path):
            return remove_field(sharing, path)
        case AddField(path, name, text):
            return [add_field(sharing, path, name, text)]
        case WrapText(path, name, before, after):
            return wrap_text(document, path, name, before, after)
        case NestField(path, name, before, inner):
            return nest_field(document, path, name, before, inner)
        case Reorder(path, steps):
            return reorder(document, path, steps)
        case InsertItems(path, copies, before):
            return [insert_items(document, path, copies, before=before)]
        case Replace(span, text):
            return [Edit(span, text)]
        case _:
            return _restructure(document, intent)


def _restructure(document: Document, intent: Restructuring) -> list[Edit]:  # noqa: PLR0911 (one for each intent)
    match intent:
        case PutUnder(path, name, inner):
            return put_under(document, path, name, inner or str(path[-1]))
        case Dissolve(path):
            return dissolve(document, path)
        case MoveField(path, to):
            return move_field(document, path, to)
        case JoinLists(path, to):
            return join_lists(document, path, to)
        case InsertField(path, name, text):
            return insert_field(document, path, name, text)
        case WrapValue(path):
            return wrap_value(document, path)
        case UnwrapValue(path):
            return unwrap_value(document, path)
        case EscapeText():
            return escape_text(document, intent)
        case MoveItems():
            return move_items(document, intent)


_ANCHOR = re.compile(r"&([^\s,\[\]{}]+)[ \t]+(?:![^\s,\[\]{}]*[ \t]+)?$")


def _rename(document: Document, path: Path, name: str) -> Edit:
    """Rename a key; keep its quotes, or quote a name that is not plain."""
    text = document.source.text
    start, end = document.span(path, Part.KEY)
    written = text[start:end]
    if written.startswith("*"):
        raise ObstacleError(f"its key is the alias `{written}`; write the key out")
    if (anchor := _search_before(_ANCHOR, "&", text, start)) and f"*{anchor[1]}" in text:
        raise ObstacleError(f"its key has the anchor `&{anchor[1]}`, which aliases repeat; write the keys out")
    if written[:1] == '"':
        return Edit(Span(start + 1, end - 1), json.dumps(name, ensure_ascii=False)[1:-1])
    if written[:1] == "'":
        return Edit(Span(start + 1, end - 1), name.replace("'", "''"))
    if written[:1] in ("|", ">") and "#" in written.partition("\n")[0]:
        raise ObstacleError("its key is a text block with a comment; write the key on one line")
    return Edit(Span(start, end), name if _PLAIN_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False))


_PLAIN_KEY = re.compile(r"[\w./~][\w ./-]*")  # surely read as it is by YAML, in brackets too


def _search_before(pattern: re.Pattern[str], sign: str, text: str, end: int) -> re.Match[str] | None:
    """Return the match of a pattern that ends at `end`, if the sign that it needs is near."""
    begin = max(end - NEARBY, 0)
    return pattern.search(text, begin, end) if text.find(sign, begin, end) >= 0 else None


_COLON = re.compile(r"\s*:(?=[\s,\]}]|\Z)")


def _find_void(document: Document, path: Path) -> int | None:
    """Return where to write a value that is missing: after its colon or its dash; None if it is written.

    Raises:
        ObstacleError: if its field has no colon, or it has an anchor or a tag.
    """
    span, code = document.span(path), document.tree.code
    if isinstance(path[-1], int):
        return span.end if code[slice(*span)] == "-" else None
    if span != document.span(path, Part.KEY):
        return None
    colon = _COLON.match(code, span.end)
    if colon is None or document.is_shared(path):
        raise ObstacleError("its value is missing; write it by hand")
    return colon.end()


_TAG = re.compile(r"(?:^|(?<=[\s\[{,:]))!\S*[ \t]+(?P<anchor>(?:&\S+[ \t]+)?)$")


def _replace_value(document: Document, path: Path, text: str) -> Edit:
    """Replace a scalar: its tag goes, its anchor stays, and a string keeps its quotes."""
    start, end = document.span(path)
    if document.value(path) is None and (at := _find_void(document, path)) is not None:
        return Edit(Span(at, at), f" {text}")
    quote = document.source.text[start]
    if (quote in "\"'" or document.kind.is_json) and isinstance(read_scalar(text), str) and text[:1] != '"':
        quote = quote if quote in "\"'" else '"'
        text = f"{quote}{text}{quote}"
    if tag := _search_before(_TAG, "!", document.source.text, start):
        return Edit(Span(tag.start(), end), tag["anchor"] + text)
    return Edit(Span(start, end), text)
