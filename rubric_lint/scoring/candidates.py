"""Find the verdict in what a judge wrote: the one object that it gives, among those that it drafts or quotes.

The verdict may be the whole text, the content of a Markdown fence, or an object on its own lines. In
doubt there is none: a text that is refused costs one more request, a wrong verdict is believed.
"""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.scoring.blanks import BLANK, JSON_BLANK, mend_line_ends
from rubric_lint.scoring.chat_tokens import break_tokens
from rubric_lint.scoring.extract import OutputError, decode_with_flaws, line_of, refuse_flaws, shorten

if TYPE_CHECKING:
    from rubric_lint.scoring.words import Words

_MOST = 50
"""The most objects to look up in the judged answer. Each look-up scans the whole answer; no judge gives more."""


_BEGINS_JSON, _ENDS_JSON = '["-0123456789tfnNI', ']"0123456789elyN'
"""The characters that JSON other than an object begins and ends with, as Python reads it: `NaN`, `-Infinity`."""


class Extract(StrEnum):
    """How to find the verdict in raw text: by the rules above, or only if it is the whole text."""

    STANDARD = "standard"
    STRICT = "strict"


class _Given(NamedTuple):
    """A candidate for the verdict: the object, its text and its offset."""

    value: dict[str, Any]
    text: str
    start: int


def find_verdict(text: str, *, answer: str | None = None, extract: Extract = Extract.STANDARD) -> dict[str, Any]:
    """Return the one JSON object in a text that is the verdict. An object that `answer` contains is a quote.

    Raises:
        OutputError: if there is no such object, more than one, or one that is broken, cut off or part of something
            broken: part of a broken output could contain a score that the judge never gave.
    """
    text = mend_line_ends(text)
    is_strict = extract is Extract.STRICT
    body = text.strip(JSON_BLANK if is_strict else BLANK)
    if not body:
        raise OutputError("the text is empty; expected a JSON object")
    shown = squeeze(answer or "")
    words = None
    given = _read_whole(body, text, strict=is_strict)
    if not given:
        given, words = _read_rest(text, shown)
    own = given if not shown or len(given) > _MOST else [each for each in given if squeeze(each.text) not in shown]
    if len(own) == 1:
        refuse_flaws(own[0].value)
        if words:
            from rubric_lint.scoring.remarks import refuse_overruled  # noqa: PLC0415  (most texts need none of it)

            refuse_overruled(words, own[0].start, own[0].value)
        return own[0].value
    if own:
        lines = [line_of(text, each.start) for each in own[:5]]
        listed = ", ".join(map(str, lines)) + (", ..." if len(own) > 5 else "")
        raise OutputError(f"{len(own)} JSON objects, at lines {listed}; expected one", line=lines[1])
    line = line_of(text, given[0].start)
    raise OutputError(
        f"the JSON object at line {line} is quoted: the judged answer contains it word for word", line=line
    )


def unwrap(text: str, *, strict: bool) -> str:
    """Return the content of a text that is one fence (unless `strict`), else the text without surrounding blanks."""
    if strict:
        return text.strip(JSON_BLANK)
    body = text.strip(BLANK)
    if not body.endswith("```"):
        return body
    return body[8:-3] if body.startswith("```json\n") else body[4:-3] if body.startswith("```\n") else body


def _read_whole(body: str, text: str, *, strict: bool) -> list[_Given]:
    """Read the text as a single object."""
    if body[0] == "{":
        try:
            value, end = decode_with_flaws(body)
        except OutputError as fault:
            if strict or fault.offset is None:
                raise
        else:
            if end == len(body):
                return [_Given(value, body, text.index("{"))]
    else:
        _refuse_other_json(body)
    if strict:
        raise OutputError(f"--extract strict needs the whole text to be one JSON object: {shorten(body)}")
    return []


def _refuse_other_json(body: str) -> None:
    """Raise an error if the whole text is a JSON value other than an object."""
    if body[0] not in _BEGINS_JSON or body[-1] not in _ENDS_JSON:
        return
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return
    kind = {list: "a list", str: "a string", bool: str(value).lower(), type(None): "null"}
    raise OutputError(f"found {kind.get(type(value), f'the number {body[:20]}')}; expected a JSON object")


def _read_rest(text: str, shown: str) -> tuple[list[_Given], "Words"]:
    """Return the objects that a text gives, and the words around them; `shown` is quotable text without blanks."""
    from rubric_lint.scoring.prose import find_given  # noqa: PLC0415  (most texts need none of it)

    looks = iter(range(_MOST))
    found = find_given(text, lambda piece: bool(shown) and next(looks, None) is not None and squeeze(piece) in shown)
    return [_Given(each.value, text[each.start : each.end], each.start) for each in found.objects], found.words


def read_quotable(*texts: object) -> str:
    """Return everything that a judge may quote from its input: these texts, as they are and as a prompt shows them.

    Values that are not strings are ignored.
    """
    known = "\n".join([text for text in texts if isinstance(text, str)])
    if not known:
        return known
    broken = break_tokens(known)
    return known if broken == known else f"{known}\n{broken}"


def squeeze(text: str) -> str:
    """Remove all blanks from a text, so that quotes match whatever their line breaks."""
    return "".join(text.split())
