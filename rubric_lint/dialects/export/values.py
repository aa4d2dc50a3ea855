"""Write the texts of a suite so that another system reads them as the source does: templates and variables."""

import json
import re
from collections.abc import Collection
from typing import Any

from rubric_lint.text.nunjucks import escape, is_template, unescape

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"

_NAME = re.compile(r"(\{\{\s*[A-Za-z_]\w*\s*\}\})")
VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")


class LostTextError(Exception):
    """Refuses a text that would mean something else in the target, with the reason."""


def as_value(value: Any, *, from_template: bool, to_template: bool) -> Any:
    """Return a value so that the target uses it as the source does.

    Raises:
        LostTextError: if the source fills it in and the target does not, or the other way round.
    """
    if from_template == to_template:
        return value
    if to_template:
        if has_variable(value):
            raise LostTextError("an environment variable, which AgentV 4 fills in")
        return escape(value)
    if is_template(value):
        raise LostTextError("a template, which its system fills in")
    if has_variable(value):
        raise LostTextError("a text that AgentV 4 takes for an environment variable")
    return unescape(value)


def as_text(value: Any, source: str, target: str, known: Collection[str]) -> Any:
    """Return an input, a reference or a variable so that the target fills it in as the source does.

    AgentV 4 fills in the variables that a case has, by their names alone. promptfoo takes a list as several values, so
    messages are JSON.

    Raises:
        LostTextError: if it cannot.
    """
    from_template, to_template = source != AGENTV_4, target != AGENTV_4
    if target == PROMPTFOO and isinstance(value, list | dict):
        if not is_messages(value):
            raise LostTextError("a value that is neither text nor messages of texts, which AgentV fills in")
        value = json.dumps(value, ensure_ascii=False)
        return value if from_template else as_value(value, from_template=False, to_template=True)
    if not isinstance(value, str) or from_template == to_template:
        return as_value(value, from_template=from_template, to_template=to_template)
    pieces = _NAME.split(value)
    for place, piece in enumerate(pieces):
        if not (place % 2 and piece.strip("{} \t\n") in known):
            pieces[place] = as_value(piece, from_template=from_template, to_template=to_template)
    return "".join(pieces)


def check_value(value: Any, source: str, target: str) -> None:
    """Refuse an input or a variable that promptfoo takes for a file or for several values, and AgentV does not.

    Raises:
        LostTextError: if it is one.
    """
    if isinstance(value, str) and value.startswith("file://") and PROMPTFOO in {source, target}:
        raise LostTextError("a file, which promptfoo reads in its place")
    if source == PROMPTFOO and isinstance(value, list):
        raise LostTextError("a list, for which promptfoo runs the case once for each value")


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages with texts."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, dict) and each.keys() == {"role", "content"} and all(map(_is_text, each.values()))
            for each in value
        )
    )


def is_chat(value: Any) -> bool:
    """Return whether a value is messages as JSON, which promptfoo sends as a conversation."""
    if not isinstance(value, str) or not value.startswith("["):
        return False
    try:
        return is_messages(json.loads(value))
    except ValueError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def has_variable(value: Any) -> bool:
    """Return whether AgentV 4 would put an environment variable into a text of a value."""
    match value:
        case str():
            return VARIABLE.search(value) is not None
        case list():
            return any(map(has_variable, value))
        case dict():
            return any(map(has_variable, value.values()))
    return False
