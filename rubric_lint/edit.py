"""Intents to edits: what a rule wants done to a path, as replacements of text that leave every other byte alone."""

from rubric_lint.document import Document
from rubric_lint.finding import Edit, Fix, Intent, Part, Path, RemoveField, RenameKey, Repair, Replace, ReplaceValue
from rubric_lint.source import Span


def make_fix(document: Document, repair: Repair) -> Fix | None:
    """The edits of a repair, sorted and disjoint; None where the text does not allow one of them.

    An intent on a value that an alias shares with other fields is not carried out, for it would change those too.
    """
    edits: list[Edit] = []
    for intent in repair.intents:
        edit = _make_edit(document, intent)
        if edit is None:
            return None
        edits.append(edit)
    return Fix(repair.title, tuple(sorted(edits)), repair.safe)


def _make_edit(document: Document, intent: Intent) -> Edit | None:
    match intent:
        case RenameKey(path, name):
            return _rename(document, path, name)
        case ReplaceValue(path, text):
            return _replace_value(document, path, text)
        case RemoveField(path):
            return _remove(document, path)
        case Replace(span, text):
            return Edit(span, text)


def _rename(document: Document, path: Path, name: str) -> Edit | None:
    span = document.span(path, Part.KEY)
    written = document.source.slice(span)
    if written.startswith("*"):
        return None
    if written[:1] in ('"', "'"):
        span = Span(span.start + 1, span.end - 1)
    return Edit(span, name)


def _replace_value(document: Document, path: Path, text: str) -> Edit | None:
    if document.is_shared(path):
        return None
    return Edit(document.span(path), text)


def _remove(document: Document, path: Path) -> Edit | None:  # noqa: PLR0911 (one return a layout)
    """Take a field away with what only it needs: its line in block style, one comma in flow style."""
    text = document.source.text
    start, end = document.extent(path)
    siblings = document.siblings(path)
    later = [span for span in siblings if span.start > start]
    earlier = [span for span in siblings if span.start < start]
    if document.is_flow(path):
        if later:
            return Edit(Span(start, later[0].start), "") if "#" not in text[end : later[0].start] else None
        if earlier:
            return Edit(Span(earlier[-1].end, end), "") if "#" not in text[earlier[-1].end : start] else None
        return Edit(Span(start, end), "")
    if not siblings:
        return Edit(Span(start, end), "{}")
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    line_end = _line_end(text, end)
    has_comment = bool(text[end:line_end].strip())
    if not text[line_start:start].strip():
        if has_comment:  # the comment keeps the line, and moves to where the field began
            return Edit(Span(start, end + _count_blanks(text, end)), "")
        return Edit(Span(line_start, _after_line_end(text, line_end)), "")
    # The field shares its line with the dash of its list item: what follows moves up to the dash.
    if has_comment:
        return Edit(Span(start, end + _count_blanks(text, end)), "")
    if later and not text[line_end : later[0].start].strip():
        return Edit(Span(start, later[0].start), "")
    return Edit(Span(start, end), "")


def _count_blanks(text: str, at: int) -> int:
    rest = text[at:]
    return len(rest) - len(rest.lstrip(" \t"))


def _line_end(text: str, at: int) -> int:
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    return min(ends, default=len(text))


def _after_line_end(text: str, at: int) -> int:
    return at + 2 if text.startswith("\r\n", at) else min(at + 1, len(text))
