"""Read the answers to judge: JSON Lines or JSON, each `{"id", "answer", "question"?, "reference"?, "rubric"?}`.

An answer, a question or a reference is a string or a conversation, a list of chat messages.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.model.messages import find_near
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.records.decoding import Content, OutputError, decode_entry, place_inside
from rubric_lint.scoring.records.mapping import RECORDS, RESULT_FIELDS, format_missing_field, pointer_of
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.scoring.scorer import find_rubric

FIELDS = ("id", "answer", "question", "reference", "rubric", RECORDS)
"""The fields of an answer, which `--map` may read from other ones."""

_INDENT = "    "

_HOLDING = frozenset({"content", "refusal", "tool_calls", "function_call"})
"""The fields of a message with what it says; one without any of them has another form."""

_UNREADABLE = frozenset({"audio", "images", "parts"})
"""The fields in which some write sound, images, or what belongs into `content`."""


def is_conversation(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    """Return whether a value is meant as a list of messages."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(message, Mapping) and "role" in message for message in value)


def write_conversation(messages: list[Mapping[str, Any]]) -> str:
    """Return the messages as a text: for each a line with its number and role, then its content, indented.

    Because of the indentation no content can look like the beginning of another message. Texts, refusals and calls of
    tools are written.

    Raises:
        OutputError: if a message has a role that is not a name, or content that cannot be written as text.
    """
    lines = []
    for number, message in enumerate(messages, 1):
        path = f"/{number - 1}"
        role, name = message["role"], message.get("name")
        if not isinstance(role, str) or not role.isidentifier():
            raise OutputError("the role of a message must be a word, such as user or assistant", f"{path}/role")
        for field in sorted(message.keys() & _UNREADABLE):
            if message[field]:
                raise OutputError(f"`{field}` of a message cannot be judged; only text and calls of tools can", path)
        if not isinstance(message.get("tool_calls"), list | None):
            raise OutputError("`tool_calls` must be a list of calls", f"{path}/tool_calls")
        if not message.keys() & _HOLDING:
            raise OutputError("the message has no `content`", path)
        named = f" ({json.dumps(name, ensure_ascii=False)})" if isinstance(name, str) else ""
        lines.append(f"[{number}] {role}{named}:")
        for text in _list_texts(message, path):
            lines += [f"{_INDENT}{line}" for line in text.splitlines() or [""]]
    return "\n".join(lines)


def _list_texts(message: Mapping[str, Any], path: str) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for number, part in enumerate(content):
            yield _read_part(part, f"{path}/content/{number}")
    elif content is not None:
        raise OutputError("the content of a message must be a string or a list of parts", f"{path}/content")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield f"refuses: {refusal}"
    for number, call in enumerate(message.get("tool_calls") or ()):
        yield _write_call(call, f"{path}/tool_calls/{number}")
    function = message.get("function_call")  # as endpoints wrote calls before `tool_calls`
    if function is not None:
        yield _write_call({"function": function}, f"{path}/function_call")


def _read_part(part: Any, path: str) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind in {"text", "input_text", "output_text"} and isinstance(part.get("text"), str):
        return str(part["text"])
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return f"refuses: {part['refusal']}"
    if kind == "tool_use":
        return f"calls {part.get('name')} with {json.dumps(part.get('input'), ensure_ascii=False)}"
    if kind == "tool_result":
        content = part.get("content")
        lines = ["returns:"]
        if isinstance(content, str):
            lines.append(content)
        elif isinstance(content, list):
            lines += [_read_part(inner_part, path) for inner_part in content]
        return "\n".join(lines)
    shown = json.dumps(kind, ensure_ascii=False)[:40]
    raise OutputError(f"a part of the type {shown} cannot be judged; only text and calls of tools can", path)


def _write_call(call: Any, path: str) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise OutputError("a call of a tool must have a `function` with a `name`", path)
    arguments = function.get("arguments")
    shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"calls {function['name']} with {shown}"


_RESERVED = (RESULT_FIELDS - {"rubric"}) | {"output", "outputs", "judge"}
"""The fields that a judge run and the scorer write, and that answers therefore must not have."""

_MOST_FAULTS = 10
"""How many errors of a file are reported; one mistake often affects every line."""


class AnswersError(Exception):
    """A file of answers that cannot be judged; `faults` holds the messages, each with its line."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class Answer(NamedTuple):
    """One answer: `key` is its id as JSON, which tells 1 from "1"; `record` has all its fields, for the results."""

    key: str
    rubric: ScoringRubric
    case: JudgedCase
    record: Mapping[str, Any]


def check_answers(
    chunks: Iterable[bytes],
    rubrics: Mapping[str, ScoringRubric],
    mapping: Mapping[str, str] = MappingProxyType({}),
    *,
    name: str = "",
    reserved: frozenset[str] = _RESERVED,
    may_repeat: bool = False,
) -> int:
    """Read all answers, before the first request costs money, and return their number.

    `mapping` has the columns of fields, and `name` is that of the file. No answer may have a field of `reserved`. Only
    if they `may_repeat`, as in results of several judges, one may occur twice.

    Raises:
        AnswersError: when an entry is not a valid answer, or an id is not unique.
    """
    faults: list[str] = []
    seen: dict[str, tuple[int, JudgedCase]] = {}
    for number, content in read_entries(chunks, StreamOptions(mapping, name)):
        try:
            answer = _read_answer(content, rubrics, mapping, reserved)
        except OutputError as fault:
            path = place_inside(content, fault).path
            where = f"{path}: " if path else ""
            faults.append(f"line {number}: {where}{fault.message}")
        else:
            first, case = seen.get(answer.key, (number, None))
            if case is None:
                seen[answer.key] = (number, answer.case)
            elif not may_repeat or case != answer.case:
                faults.append(f"line {number}: duplicate id {answer.key}, first used in line {first}; make ids unique")
        if len(faults) == _MOST_FAULTS:
            faults.append("stopped reading here; there may be more errors")
            break
    if not faults and not seen:
        fields = [f"`{mapping.get(field, field)}`" for field in ("id", "answer")]
        faults.append(f"contains no answers; expected objects with {' and '.join(fields)}")
    if faults:
        raise AnswersError(faults)
    return len(seen)


def read_answers(
    chunks: Iterable[bytes],
    rubrics: Mapping[str, ScoringRubric],
    mapping: Mapping[str, str] = MappingProxyType({}),
    *,
    name: str = "",
) -> Iterator[Answer]:
    """Yield the answers, one by one, from bytes that `check_answers` accepted."""
    for _, content in read_entries(chunks, StreamOptions(mapping, name)):
        yield _read_answer(content, rubrics, mapping, frozenset())


def _read_answer(
    content: Content, rubrics: Mapping[str, ScoringRubric], mapping: Mapping[str, str], reserved: frozenset[str]
) -> Answer:
    record = dict(decode_entry(content, 'such as {"id": ..., "answer": ...}'))
    key = record.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool):
        if "id" not in record:
            raise OutputError(_word_missing("id", record, mapping))
        name = mapping.get("id", "id")
        raise OutputError(f"`{name}` must be a string or an integer")
    for field in sorted(reserved & record.keys()):
        raise OutputError(f"`{field}` is reserved for the results; rename this field")
    is_checked = bool(mapping) or "judge" in record  # a result has the fields of an answer under our names
    if not is_checked:
        for field, near in _find_misspelt(tuple(record)):
            raise OutputError(f"unknown field `{near}`; did you mean `{field}`? If not, rename it")
    texts = {name: _text(record, name, mapping) for name in JudgedCase._fields}
    # `rubric: null` names none, like an empty cell of a table.
    rubric = find_rubric({field: value for field, value in record.items() if value is not None}, rubrics)
    if texts["question"] is None:
        texts["question"] = rubric.question
    record.update({name: text for name, text in texts.items() if text is not None})
    return Answer(json.dumps(key), rubric, JudgedCase(**texts), record)


def _word_missing(name: str, record: Mapping[str, Any], mapping: Mapping[str, str]) -> str:
    """Return the message for a field that a record does not have."""
    if name in mapping:
        return format_missing_field(name, mapping[name], record)
    near = find_near(name, record)
    if near:
        return f"missing field `{name}`; did you misspell it as `{near[0]}`?"
    return f"missing field `{name}`"


def _text(record: dict[str, Any], name: str, mapping: Mapping[str, str]) -> Any:
    """Return a text of the case, None for an optional one that is missing; a conversation is written as text."""
    value = record.get(name)
    if isinstance(value, str) or (value is None and name != "answer"):
        return value
    if name not in record:
        raise OutputError(_word_missing(name, record, mapping))
    place = mapping.get(name, name)
    if is_conversation(value):
        try:
            return write_conversation(value)
        except OutputError as fault:
            raise OutputError(fault.message, f"{pointer_of(place)}{fault.path}") from None
    raise OutputError(f"`{place}` must be a string, or a list of messages that each have a `role`")


# The records of a file have few different sets of fields.
@lru_cache(maxsize=1000)
def _find_misspelt(fields: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return each missing optional field with a similar given one, which a judge would not get."""
    found = []
    for field in ("question", "reference"):
        near = find_near(field, fields) if field not in fields else []
        if near:
            found.append((field, near[0]))
    return tuple(found)
