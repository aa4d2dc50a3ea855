"""Turn intents of a rule into edits that leave every other byte of the text alone."""

from collections.abc import Iterable

from rubric_lint.edits.intents import Fix, Intent, RenameKey, Repair, ReplaceValue
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
    edits = dict.fromkeys(edit for intent in intents for edit in intent.edit(sharing))
    return Fix(repair.title, tuple(_sort(edits)), repair.safe, tuple(intents), repair.choice)


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
