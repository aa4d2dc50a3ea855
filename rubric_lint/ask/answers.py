"""The answers to be judged: JSON Lines or JSON, each `{"id", "answer", "question"?, "reference"?, "rubric"?}`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from rubric_lint.judge import Case
from rubric_lint.near import find_near, point_to_known
from rubric_lint.scoring.extract import OutputError, decode
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.records import RESERVED
from rubric_lint.scoring.streams import read_entries
from rubric_lint.wording import list_names

_TAKEN = (RESERVED - {"rubric"}) | {"output", "outputs", "judge"}
"""The fields that a judge run and the scorer write, so that an answer cannot bring them along."""

_MOST_FAULTS = 10
"""How many faults of a file are told; one mistake often stands in every line."""


class AnswersError(Exception):
    """A file of answers that cannot be judged; `faults` says why, each with its line."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class _LineError(Exception):
    """What is wrong with a line."""


class Answer(NamedTuple):
    """One answer: `key` its id as JSON, which tells 1 from "1"; `record` all its fields, to be carried through."""

    key: str
    rubric: ScoringRubric
    case: Case
    record: Mapping[str, Any]


def check_answers(chunks: Iterable[bytes], rubrics: Mapping[str, ScoringRubric]) -> int:
    """How many answers there are; all of them are read before the first one costs a request.

    Raises:
        AnswersError: when an entry is no answer, or an id comes twice.
    """
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, entry in read_entries(chunks):
        try:
            answer = _read(entry, rubrics)
        except _LineError as fault:
            faults.append(f"line {number}: {fault}")
        else:
            first = seen.setdefault(answer.key, number)
            if first != number:
                faults.append(
                    f"line {number}: the id {answer.key} stands in line {first} already; each answer has its own"
                )
        if len(faults) == _MOST_FAULTS:
            faults.append("and perhaps more; nothing was read after that")
            break
    if not faults and not seen:
        faults.append("holds no answers; each is an object with `id` and `answer`")
    if faults:
        raise AnswersError(faults)
    return len(seen)


def read_answers(chunks: Iterable[bytes], rubrics: Mapping[str, ScoringRubric]) -> Iterator[Answer]:
    """The answers, one by one, of bytes that were checked."""
    for _, entry in read_entries(chunks):
        yield _read(entry, rubrics)


def _read(entry: bytes | OutputError, rubrics: Mapping[str, ScoringRubric]) -> Answer:
    """The answer that an entry holds; _LineError says what is wrong with it."""
    record = _decode(entry)
    if not isinstance(record, dict):
        raise _LineError('is no object, expected {"id": ..., "answer": ...}')
    key = record.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise _LineError("`id` is no text or integer" if "id" in record else _missing("id", record))
    for field in sorted(_TAKEN & record.keys()):
        raise _LineError(f"`{field}` is what a field of the results is called; give this one another name")
    _refuse_misspelt(record)
    case = Case(*(_text(record, field, needed=field == "answer") for field in Case._fields))
    return Answer(json.dumps(key), _find_rubric(record, rubrics), case, record)


def _decode(entry: bytes | OutputError) -> Any:
    try:
        if isinstance(entry, OutputError):
            raise entry
        text = entry.decode().strip()
        value, end = decode(text)
    except UnicodeDecodeError as fault:
        raise _LineError(f"is not UTF-8 from byte {fault.start + 1} on") from None
    except OutputError as fault:
        raise _LineError(f"{fault.path}: {fault.message}" if fault.path else fault.message) from None
    if end < len(text):
        raise _LineError(f"more text behind the JSON value, at column {end + 1}; expected one answer a line")
    return value


def _text(record: dict[str, Any], field: str, *, needed: bool) -> Any:
    value = record.get(field)
    if isinstance(value, str) or (value is None and not needed):
        return value
    raise _LineError(f"`{field}` is no text" if field in record else _missing(field, record))


def _refuse_misspelt(record: dict[str, Any]) -> None:
    """Refuse a field that was likely meant for `question` or `reference`, which the judge would then miss."""
    for field, near in _find_misspelt(tuple(record)):
        raise _LineError(f"the field `{near}` is not read; if it is no `{field}`, give it another name")


@lru_cache(maxsize=1000)
def _find_misspelt(fields: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the optional fields that are missing, each with a given one that is near; most records have the same."""
    missing = (field for field in ("question", "reference") if field not in fields)
    return tuple((field, near[0]) for field in missing if (near := find_near(field, fields)))


def _missing(field: str, record: dict[str, Any]) -> str:
    near = find_near(field, record)
    return f"missing field `{field}`" + (f"; did you mean it by `{near[0]}`?" if near else "")


def _find_rubric(record: dict[str, Any], rubrics: Mapping[str, ScoringRubric]) -> ScoringRubric:
    name = record.get("rubric")
    if name is None and len(rubrics) == 1:
        return next(iter(rubrics.values()))
    if name is None:
        raise _LineError(f"missing field `rubric`: the file has {len(rubrics)} rubrics: {list_names(rubrics)}")
    if not isinstance(name, str) or name not in rubrics:
        shown = json.dumps(name, ensure_ascii=False)[:80]
        raise _LineError(f"no rubric is named {shown}; {point_to_known(str(name), rubrics)}")
    return rubrics[name]
