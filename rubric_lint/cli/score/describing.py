"""Say what can be done with a file that has neither judge outputs, nor labels, nor answers under the names we read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rubric_lint.cli.options import Given
from rubric_lint.cli.score.options import load
from rubric_lint.lint.project.opening import open_stream
from rubric_lint.model.messages import UserError, shorten, visible
from rubric_lint.model.suggest import suggest
from rubric_lint.scoring.flat import is_judged
from rubric_lint.scoring.grading import ScoringRubric, Verdict
from rubric_lint.scoring.records.decoding import OutputError, decode_entry
from rubric_lint.scoring.records.entries import CHUNK
from rubric_lint.scoring.records.mapping import HUMAN, JUDGE, OUTPUT_FIELDS, RECORDS, fold_column, select_side
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.scoring.scorer import Scorer

_LOOKED_AT = 20
"""The records of a file that are looked at."""

_MOST_BYTES, _MOST_BYTES_OF_WORKBOOK = 5_000_000, 200_000
"""The size up to which a file is read again; a workbook is read to its end."""

_MOST_FIELDS = 6
_DEPTH = 2
_JUDGEMENTS = OUTPUT_FIELDS | {"checks", "criteria", "score", "error", "verdict", "label"}

_NAMES = {
    "id": ("id", "key", "uid", "case", "name", "number", "index"),
    "answer": ("answer", "response", "reply", "completion", "generation", "prediction", "text", "output"),
    "question": ("question", "prompt", "query", "input", "instruction"),
    "reference": ("reference", "expected", "ideal", "target"),
}
"""Words that names of fields have in the files of others; those of `answer` from the surest on."""

_SIDES = {
    JUDGE: ("judge", "model", "grader", "llm", "auto"),
    HUMAN: ("human", "people", "person", "review", "expert", "annot", "gold", "truth", "label"),
}


def describe_files(given: Given, command: str) -> Iterator[str]:
    """Yield what can be done with each file of a call in which nothing can be used as the call says."""
    values = vars(given)
    rubric = values.get("rubric") or values.get("new") or next(iter(values.get("paths") or ()), "")
    answers = values.get("answers") or ""
    asked: list[tuple[str, str]] = [(answers, "")] if answers else []
    for name in ("outputs", "results", "judged"):
        files = values.get(name) or ()
        asked += [(file, JUDGE) for file in ([files] if isinstance(files, str) else files)]
    asked += [(file, HUMAN) for file in values.get("labels") or ()]
    rubrics: Mapping[str, ScoringRubric] = {}
    for file, side in dict.fromkeys(asked) if Path(rubric).is_file() else ():
        path = Path(file)
        most = _MOST_BYTES_OF_WORKBOOK if path.suffix == ".xlsx" else _MOST_BYTES
        if not path.is_file() or path.stat().st_size > most:
            continue
        records = _read(file, select_side(given.mapping, side))
        if not records:
            continue
        wanted = _JUDGEMENTS if side else frozenset({"answer"})
        if command == "assess":
            wanted |= _JUDGEMENTS
        if any(not wanted.isdisjoint(map(fold_column, record)) for record in records):
            continue
        try:
            rubrics = rubrics or load(rubric, given)
        except UserError:
            return
        if side and any(is_judged(record, one) for record in records for one in rubrics.values()):
            continue
        yield from _describe(file, rubric, rubrics)


def _read(file: str, mapping: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the first records of a file; none if they cannot be read, which the command has said."""
    with open_stream(file) as stream:
        entries = read_entries(iter(partial(stream.read, CHUNK), b""), StreamOptions(mapping, file))
        try:
            return [decode_entry(content) for _, content in islice(entries, _LOOKED_AT)]
        except OutputError:
            return []


@dataclass
class _Fields:
    """The places in records with values, and what they can be: a field of ours, or judgements of a side."""

    values: dict[str, list[Any]]
    found: dict[str, str] = field(default_factory=dict)
    output: dict[str, str] = field(default_factory=dict)
    sides: dict[str, dict[str, str]] = field(default_factory=lambda: {JUDGE: {}, HUMAN: {}})


def _describe(file: str, rubric: str, rubrics: Mapping[str, ScoringRubric]) -> Iterator[str]:
    wrapper, records = _unwrap(_read(file, {}))
    if len(records) == 1 and not wrapper and _are_by_id(records[0]):
        yield f"{visible(file)} has {len(records[0]):,} objects by their ids; write them as a list, each with its `id`."
        return
    fields = _Fields(dict(_list_values(records)))
    for one in rubrics.values():
        _find_judgements(fields, one)
    _find_texts(fields, len(records))
    base, texts = dict(wrapper), dict[str, str]()
    for name, column in fields.found.items():
        (base if name == "id" else texts)[name] = column
    judged, labelled = fields.output or fields.sides[JUDGE], fields.sides[HUMAN]
    command = partial(_suggest, rubric, file)
    possible, unknown = [], []
    scored = {name: column for name, column in judged.items() if name != "verdict"}
    if scored or (wrapper and any(is_judged(record, one) for record in records for one in rubrics.values())):
        possible.append(f"score what the judge returned: {command('score', {**base, **scored})}")
    else:
        unknown.append("what the judge returned (`--map output=FIELD`)")
    mapping = {**base, **texts}
    if "id" in base and "answer" in texts and _are_answers(file, rubrics, mapping):
        possible.append(f"have the answers judged: {command('judge', mapping, model='MODEL')}")
    else:
        unknown.append("answers to judge (`--map id=FIELD --map answer=FIELD`)")
    if "id" in base and judged and labelled:
        sides = {f"{JUDGE}.{name}": column for name, column in judged.items()}
        sides |= {f"{HUMAN}.{name}": column for name, column in labelled.items()}
        possible.append(f"compare the judge with people: {command('agree', {**base, **sides})}")
    else:
        unknown.append("judge and people (`--map judge.verdict=FIELD --map human.verdict=FIELD`, or by criterion)")
    shown = [f"`{name}` ({_show(values[0])})" for name, values in islice(fields.values.items(), _MOST_FIELDS)]
    if len(fields.values) > len(shown):
        shown.append(f"{len(fields.values) - len(shown)} more")
    yield f"{visible(file)} has {', '.join(shown)}.{' You can:' if possible else ''}"
    yield from (f"  {line}" for line in possible)
    if unknown:
        yield f"  Not recognized; name the fields if the file has them: {', '.join(unknown)}."


def _suggest(rubric: str, file: str, command: str, mapping: Mapping[str, str], **options: str) -> str:
    pairs = [f"{name}={column}" for name, column in mapping.items() if name != column]
    return suggest(command, rubric, file, map=pairs, **options)


def _are_answers(file: str, rubrics: Mapping[str, ScoringRubric], mapping: Mapping[str, str]) -> bool:
    from rubric_lint.judge.answers import AnswersError, check_answers

    with open_stream(file) as stream:
        try:
            check_answers(iter(partial(stream.read, CHUNK), b""), rubrics, mapping, name=file)
        except AnswersError:
            return False
    return True


def _show(value: Any) -> str:
    return visible(shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), 24))


def _unwrap(records: list[dict[str, Any]]) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the records in a list of the only object of a file, and the mapping that reads them."""
    for name, (value, *_) in _list_values(records) if len(records) == 1 else ():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return {RECORDS: name}, value[:_LOOKED_AT]
    return {}, records


def _are_by_id(record: Mapping[str, Any]) -> bool:
    """Return whether an object holds several others that have the same fields."""
    keys = [frozenset(value) if isinstance(value, dict) else None for value in record.values()]
    return len(keys) > 1 and None not in keys and len({*keys}) == 1


def _list_values(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield each place in records, at most so deep, with its values that are not empty."""
    for name in dict.fromkeys(name for record in records for name in record):
        values = [record[name] for record in records if record.get(name) not in (None, "")]
        if values:
            yield name, values
        inner = [value for value in values if isinstance(value, dict)]
        if inner and len(inner) == len(values):
            for step, found in _list_values(inner) if name.count(".") < _DEPTH else ():
                yield f"{name}.{step}", found


def _find_judgements(fields: _Fields, rubric: ScoringRubric) -> None:
    """Find what the judge returned, whole or by criterion, and judgements of people."""
    scorer = Scorer({rubric.name: rubric})
    ids = {fold_column(criterion.id): criterion.id for criterion in rubric.criteria}
    for name, values in fields.values.items():
        if any(scorer.score_record({"output": value}).scored for value in values):
            fields.output = fields.output or {"output": name}
            continue
        values = [*map(_unpack, values)]  # noqa: PLW2901
        if all(isinstance(value, list) for value in values):
            if any(scorer.score_record({"outputs": value}).scored for value in values):
                fields.output = fields.output or {"outputs": name}
            elif pair := _find_pair(values, ids):
                fields.output = fields.output or {"criteria": f"{name}[{pair}]"}
        elif {str(value).casefold() for value in values} <= {*map(str, Verdict), "passed", "failed"}:
            fields.sides[_find_side(name)].setdefault("verdict", name)
    _find_columns(fields, ids)


def _unpack(value: Any) -> Any:
    """Return the list that a cell has as JSON, or else the value itself."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _find_columns(fields: _Fields, ids: Mapping[str, str]) -> None:
    """Find columns named after the criteria with one more word, such as `judge_accuracy` and `judge_tone`."""
    whole = f"{next(iter(fields.output.values()), '')}."
    for name in fields.values:
        folded = fold_column(name)
        if name.startswith(whole):
            continue
        for affix in {folded.removesuffix(criterion) for criterion in ids} | {
            folded.removeprefix(criterion) for criterion in ids
        }:
            columns = {
                ids[criterion]: _find_name(fields, (f"{affix}{criterion}", f"{criterion}{affix}")) for criterion in ids
            }
            if affix and affix != folded and all(columns.values()):
                fields.sides[_find_side(affix)].update(columns)


def _find_name(fields: _Fields, wanted: Sequence[str]) -> str:
    return next((name for name in fields.values if fold_column(name) in wanted), "")


def _find_pair(values: Sequence[list[Any]], ids: Mapping[str, str]) -> str:
    """Return the keys of the name and of the value in a list of criteria, with a colon between; empty if it is none."""
    items = [item for value in values for item in value if isinstance(item, dict)]
    for item in items[:1]:
        keys = [key for key, value in item.items() if isinstance(value, str) and fold_column(value) in ids]
        others = [key for key, value in item.items() if isinstance(value, bool | int)]
        if keys and others:
            return f"{keys[0]}:{others[0]}"
    return ""


def _find_side(name: str) -> str:
    words = name.casefold()
    return JUDGE if any(word in words for word in _SIDES[JUDGE]) else HUMAN


def _is_prose(value: Any) -> bool:
    """Return whether a value is a text of several words."""
    return isinstance(value, str) and " " in value.strip()


def _find_texts(fields: _Fields, records: int) -> None:
    """Find the fields of answers: an id also as the first field with another short value in each record.

    An answer is found by its name alone: to judge another text costs money.
    """
    used = {*fields.output.values(), *fields.sides[JUDGE].values(), *fields.sides[HUMAN].values()}
    free = {name: values for name, values in fields.values.items() if name not in used}
    for ours, words in _NAMES.items():
        kinds = (str, int) if ours == "id" else (str,)
        fitting = [name for name, values in free.items() if all(type(value) in kinds for value in values)]
        if ours == "id":
            fitting = [name for name in fitting if len({*free[name]}) == len(free[name]) == records]
        else:
            fitting = [name for name in fitting if any(_is_prose(value) for value in free[name])]
        named = [name for word in words for name in fitting if name.casefold().rpartition(".")[2] == word]
        named += [name for word in words for name in fitting if word in name.casefold().rpartition(".")[2]]
        if ours == "id" and not named:
            named = [name for name in fitting if not any(_is_prose(value) for value in free[name])]
        if named:
            fields.found[ours] = named[0]
            del free[named[0]]
