"""Find values that look like rubrics but are not read, each with the reason, so that nothing is skipped silently."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.dialects import find_unread_forms
from rubric_lint.dialects.search.locate import Search
from rubric_lint.dialects.search.lost_rubrics import word_empty, word_misspelt
from rubric_lint.finding import Unread
from rubric_lint.format.recognition import FIELD, find_misspelt, has_own_words, is_holder, is_place, tells
from rubric_lint.format.schema import schema_of
from rubric_lint.format.view import OF_COURSES, View
from rubric_lint.messages import describe, find_near, join_words, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.kinds import DATA
from rubric_lint.text.path import Part, Path


def find_unread(document: Document, found: Search, lost: set[Path], *, is_ours: bool, of_agentv: bool) -> list[Unread]:
    """Find near-rubrics in a document; `lost` are the paths of those that are findings already.

    With `is_ours`, the file has rubrics in our format; with `of_agentv`, some of AgentV.
    """
    taken = {location.path for location in found.rubrics}
    if found.is_foreign and not taken:
        return [_make_unread(document, (), Part.HEAD, _word_foreign(document.data), is_known=True)]
    noticed = [each for location in found.rubrics if location.view for each in _find_others(document, location.view)]
    told = {place[:length] for place in lost for length in range(1, len(place) + 1)}
    for path in found.leftovers:
        is_known = is_ours and is_place(path[:-1], in_suite=is_ours)
        if path not in told and (is_known or not _is_another_tools(document, path)):
            reason = _word_leftover(document, path, of_agentv=of_agentv)
            noticed.append((path, Part.KEY, reason, is_known))
    forms = find_unread_forms(document, taken, of_agentv=of_agentv)
    noticed += [(path, part, reason, True) for path, part, reason in forms if path not in told]
    if not taken and not noticed and _GUIDED in document.quick_text:
        from rubric_lint.dialects import harbor_check  # noqa: PLC0415  (few files have the word)

        views = harbor_check.find(document, is_named=True)
        noticed += [(view.path, Part.KEY, _NOT_NAMED, False) for view in views]
    if document.kind in DATA and not taken and not noticed and not lost and not found.is_claimed:
        noticed += _find_outside(document)
    return [_make_unread(document, path, part, reason, is_known=known) for path, part, reason, known in noticed]


def _find_others(document: Document, view: View) -> Iterator[tuple[Path, Part, str, bool]]:
    """Find the fields of criteria that a dialect does not have, and that are not nearly fields of it."""
    known, value, firsts = schema_of(view.schema).entry_fields, document.value(view.path), dict[str, Path]()
    for index, entry in enumerate(value if view.dialect.tells_others and isinstance(value, list) else ()):
        for name in entry if isinstance(entry, dict) else ():
            if name not in known and not find_near(name, known):
                firsts.setdefault(name, (*view.path, index, name))
    if firsts:
        names = join_words([f"`{shorten(name)}`" for name in firsts])
        reason = f"fields that {view.dialect.title} does not have are not read: {names}"
        yield next(iter(firsts.values())), Part.KEY, reason, True


_GUIDED = "guidance"
_NOT_NAMED = (
    "these criteria have the fields of harbor check and others; "
    "if a judge reads them, name the file for it, such as `rubric.toml`"
)


def _is_another_tools(document: Document, path: Path) -> bool:
    """Return whether a value is a translation, or grades a course, whose criteria have both points and levels."""
    value = document.value(path)
    if isinstance(value, dict) or (isinstance(value, str) and not is_holder(path[:-1])):
        texts = value if isinstance(value, dict) else document.value(path[:-1])
        return len(texts) > 1 and all(isinstance(text, str) for text in texts.values()) and not tells(texts)
    return isinstance(value, list) and any(
        isinstance(item, dict) and len(item.keys() & OF_COURSES) > 1 for item in value
    )


def _make_unread(document: Document, path: Path, part: Part, reason: str, *, is_known: bool) -> Unread:
    line, column, _ = document.source.position(document.span(path, part).start)
    return Unread(reason, line, column, is_known)


def _word_foreign(data: Any) -> str:
    names = [f"`{shorten(key)}`" for key in data][:3] if isinstance(data, dict) and FIELD not in data else []
    content = f"no `{FIELD}`, but {join_words(names)}" if names else f"`{FIELD}` whose fields are unknown"
    return f"the name is that of a rubric file, but the content is another tool's ({content})"


_BANDS = ({"score_range", "expected_outcome"}, {"scoreRange", "expectedOutcome"})
"""The fields of a band in DeepEval and Confident AI."""


def _word_leftover(document: Document, path: Path, *, of_agentv: bool) -> str:  # noqa: PLR0911 (one return a reason)
    value, key = document.value(path), str(path[-1])
    if isinstance(value, dict) and any(band <= value.keys() for band in _BANDS):
        return f"`{key}` is one band, not a list of bands; put it in a list"
    if key != FIELD:
        return f"`{key}` is not read; rubrics are in a field `{FIELD}`"
    if value is None or value in ([], {}, ""):
        return f"`{FIELD}` {word_empty(value)}"
    if not isinstance(value, list | dict):
        return f"`{FIELD}` is {describe(value, document.written_at(path))}, not a list of criteria"
    if misspelt := next(find_misspelt(value, path, of_agentv=of_agentv), None):
        return word_misspelt(misspelt)
    claim = "if it is a rubric, name the schema in the file, or name the file NAME.rubric.yaml"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value) and not is_holder(path[:-1]):
        return f"`{FIELD}` is a list of strings outside the cases of a suite; {claim}"
    return f"`{FIELD}` has no field that only rubrics have, such as `expected_outcome`; {claim}"


def _find_outside(document: Document) -> Iterator[tuple[Path, Part, str, bool]]:
    """Find the first criterion of our format that is not below `rubrics`."""
    if not has_own_words(document.written_at(())):
        return
    for path, mapping in document.mappings:
        if tells(mapping):
            yield path, Part.HEAD, f"criteria are read only below `{FIELD}`, and these are elsewhere", False
            return
