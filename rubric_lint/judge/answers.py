"""Read the answers to judge: JSON Lines or JSON, each `{"id", "answer", "question"?, "reference"?, "rubric"?}`.

An answer, a question or a reference is a string or a conversation.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from rubric_lint.judge.conversation import is_conversation, write_conversation
from rubric_lint.judge.fields import Fields
from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.messages import find_near, list_names, point_to_known
from rubric_lint.outputs.decoding import OutputError, decode
from rubric_lint.outputs.mapping import RESERVED
from rubric_lint.outputs.streams import read_entries
from rubric_lint.scoring.grading import ScoringRubric

_FIELDS = Fields()

_TAKEN = (RESERVED - {"rubric"}) | {"output", "outputs", "judge"}
"""The fields that a judge run and the scorer write, and that answers therefore must not have."""

_MOST_FAULTS = 10
"""How many errors of a file are reported; one mistake often affects every line."""


class AnswersError(Exception):
    """A file of answers that cannot be judged; `faults` holds the messages, each with its line."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class _LineError(Exception):
    """An error in a line."""


class Answer(NamedTuple):
    """One answer: `key` is its id as JSON, which tells 1 from "1"; `record` has all its fields, for the results."""

    key: str
    rubric: ScoringRubric
    case: JudgedCase
    record: Mapping[str, Any]


def check_answers(chunks: Iterable[bytes], rubrics: Mapping[str, ScoringRubric], fields: Fields = _FIELDS) -> int:
    """Read all answers, before the first request costs money, and return their number.

    Raises:
        AnswersError: when an entry is not a valid answer, or an id is not unique.
    """
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, entry in read_entries(chunks):
        try:
            answer = _read_answer(entry, rubrics, fields)
        except _LineError as fault:
            faults.append(f"line {number}: {fault}")
        else:
            first = seen.setdefault(answer.key, number)
            if first != number:
                faults.append(f"line {number}: duplicate id {answer.key}, first used in line {first}; make ids unique")
        if len(faults) == _MOST_FAULTS:
            faults.append("stopped reading here; there may be more errors")
            break
    if not faults and not seen:
        faults.append(f"contains no answers; expected objects with `{fields.id}` and `{fields.answer}`")
    if faults:
        raise AnswersError(faults)
    return len(seen)


def read_answers(
    chunks: Iterable[bytes], rubrics: Mapping[str, ScoringRubric], fields: Fields = _FIELDS
) -> Iterator[Answer]:
    """Yield the answers, one by one, from bytes that `check_answers` accepted."""
    for _, entry in read_entries(chunks):
        yield _read_answer(entry, rubrics, fields)


def _read_answer(entry: bytes | OutputError, rubrics: Mapping[str, ScoringRubric], fields: Fields) -> Answer:
    """Return the answer of an entry.

    Raises:
        _LineError: when the entry is not a valid answer.
    """
    given = _decode(entry)
    if not isinstance(given, dict):
        raise _LineError(f'is not an object; expected {{"{fields.id}": ..., "{fields.answer}": ...}}')
    try:
        record = fields.rename(given)
    except OutputError as fault:
        raise _LineError(fault.message) from None
    key = record.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise _LineError(
            f"`{fields.id}` must be a string or an integer" if "id" in record else fields.word_missing("id", given)
        )
    for field in sorted(_TAKEN & record.keys()):
        raise _LineError(f"`{field}` is reserved for the results; rename this field")
    if fields.is_default:
        _refuse_misspelt(record)
    texts = {name: _text(record, name, fields, given) for name in JudgedCase._fields}
    record.update({name: text for name, text in texts.items() if text is not None})
    return Answer(json.dumps(key), _find_rubric(record, rubrics, fields), JudgedCase(**texts), record)


def _decode(entry: bytes | OutputError) -> Any:
    try:
        if isinstance(entry, OutputError):
            raise entry
        text = entry.decode().strip()
        value, end = decode(text)
    except UnicodeDecodeError as fault:
        raise _LineError(f"is not UTF-8 at byte {fault.start + 1}") from None
    except OutputError as fault:
        raise _LineError(f"{fault.path}: {fault.message}" if fault.path else fault.message) from None
    if end < len(text):
        raise _LineError(f"unexpected text after the JSON value, at column {end + 1}; expected one answer per line")
    return value


def _text(record: dict[str, Any], name: str, fields: Fields, given: dict[str, Any]) -> Any:
    """Return a text of the case, None for an optional one that is missing; a conversation is written as text."""
    value = record.get(name)
    if isinstance(value, str) or (value is None and name != "answer"):
        return value
    if name not in record:
        raise _LineError(fields.word_missing(name, given))
    place = getattr(fields, name)
    if is_conversation(value):
        try:
            return write_conversation(value)
        except OutputError as fault:
            pointer = place if place.startswith("/") else f"/{place}"
            raise _LineError(f"{pointer}{fault.path}: {fault.message}") from None
    raise _LineError(f"`{place}` must be a string, or a list of messages that each have a `role`")


def _refuse_misspelt(record: dict[str, Any]) -> None:
    """Reject a likely misspelling of `question` or `reference`, which the judge would not get."""
    for field, near in _find_misspelt(tuple(record)):
        raise _LineError(f"unknown field `{near}`; did you mean `{field}`? If not, rename it")


@lru_cache(maxsize=1000)
def _find_misspelt(fields: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return each missing optional field with a similar given one; cached, as most records have the same fields."""
    missing = (field for field in ("question", "reference") if field not in fields)
    return tuple((field, near[0]) for field in missing if (near := find_near(field, fields)))


def _find_rubric(record: dict[str, Any], rubrics: Mapping[str, ScoringRubric], fields: Fields) -> ScoringRubric:
    name = record.get("rubric")
    if name is None and len(rubrics) == 1:
        return next(iter(rubrics.values()))
    if name is None:
        raise _LineError(f"missing field `{fields.rubric}`: the file has {len(rubrics)} rubrics: {list_names(rubrics)}")
    if not isinstance(name, str) or name not in rubrics:
        shown = json.dumps(name, ensure_ascii=False)[:80]
        raise _LineError(f"no rubric is named {shown}; {point_to_known(str(name), rubrics)}")
    return rubrics[name]
