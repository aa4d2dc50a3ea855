"""Gather what a judge may quote from its input, so that a quoted object is not taken for its verdict."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import NoneType

from rubric_lint.scoring.records.chat_tokens import break_tokens


def read_quotable(*texts: object) -> str:
    """Return everything that a judge may quote from its input: these texts, as they are and as a prompt shows them.

    Of a conversation, and of any other value, these are all strings in it, and the value as JSON.
    """
    known = "\n".join(_list_texts(texts))
    if not known:
        return known
    broken = break_tokens(known)
    return known if broken == known else f"{known}\n{broken}"


def _list_texts(given: tuple[object, ...]) -> Iterator[str]:
    """Yield the strings in some values, what is in those that are JSON, and the other values as JSON."""
    pending = list(given)
    for value in given:
        if not isinstance(value, str | NoneType):
            with suppress(ValueError, TypeError, RecursionError):
                yield json.dumps(
                    value, ensure_ascii=False, default=lambda item: getattr(item, "tolist", item.__str__)()
                )
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
            if "\\" in value and value.lstrip()[:1] in ("[", "{"):  # its strings are escaped
                with suppress(ValueError, RecursionError):
                    pending.append(json.loads(value))
        elif isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif hasattr(value, "tolist"):  # an array of NumPy
            pending.append(value.tolist())


def squeeze(text: str) -> str:
    """Remove all blanks from a text, so that quotes match whatever their line breaks."""
    return "".join(text.split())
