"""Say what can be done with a file that has neither judge outputs, nor labels, nor answers under the names we read."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from rubric_lint.cli.given import Given
from rubric_lint.cli.score.options import load
from rubric_lint.lint.project.opening import read_chunks
from rubric_lint.model.messages import UserError, shorten, visible
from rubric_lint.model.suggest import suggest
from rubric_lint.scoring.flat import is_judged
from rubric_lint.scoring.grading import ScoringRubric, Verdict
from rubric_lint.scoring.records.decoding import OutputError, decode_entry
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

_WORDS = {
    "answer": ("answer", "response", "reply", "completion", "generation", "prediction", "text", "output"),
    "question": ("question", "prompt", "query", "input", "instruction"),
    "reference": ("reference", "expected", "ideal", "target"),
}
"""Words in the names of fields with texts, those of each text from the surest on.

Nothing else shows which text is the answer, and to judge another one costs money.
"""

_OF_JUDGES = ("judge", "model", "grader", "llm", "auto")
"""Words in the names of fields with what a judge found; other judgements are taken for those of people."""

_USES = {
    "score": ("score what the judge returned", "what the judge returned (`--map output=FIELD`)"),
    "judge": ("have the answers judged", "answers to judge (`--map id=FIELD --map answer=FIELD`)"),
    "agree": (
        "compare the judge with people",
        "judge and people (`--map judge.verdict=FIELD --map human.verdict=FIELD`, or by criterion)",
    ),
}
"""What each command does with a file, and what it needs."""


def describe_files(given: Given, command: str) -> Iterator[str]:
    """Yield what can be done with each file of a call in which nothing can be used as the call says."""
    values = vars(given)
    rubric = values.get("rubric") or values.get("new") or next(iter(values.get("paths") or ()), "")
    if not Path(rubric).is_file():
        return
    rubrics: Mapping[str, ScoringRubric] = {}
    for file, side in _list_sides(values):
        path = Path(file)
        most = _MOST_BYTES_OF_WORKBOOK if path.suffix == ".xlsx" else _MOST_BYTES
        if not path.is_file() or path.stat().st_size > most:
            continue
        records = _read(file, select_side(given.mapping, side))
        known = _JUDGEMENTS if side else frozenset({"answer"})
        if command == "assess":
            known |= _JUDGEMENTS
        if not records or any(not known.isdisjoint(map(fold_column, record)) for record in records):
            continue
        try:
            rubrics = rubrics or load(rubric, given)
        except UserError:
            return
        if not side or not _are_judged(records, rubrics):
            yield from _describe(file, rubric, rubrics)


def _list_sides(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the files of records that a call names, each once, with the side that `--map` gives them."""
    sides = [(values.get("answers") or "", "")]
    for name in ("outputs", "results", "judged"):
        files = values.get(name) or ()
        names = [files] if isinstance(files, str) else files
        sides += [(file, JUDGE) for file in names]
    sides += [(file, HUMAN) for file in values.get("labels") or ()]
    return [(file, side) for file, side in dict.fromkeys(sides) if file]


def _are_judged(records: Sequence[Mapping[str, Any]], rubrics: Mapping[str, ScoringRubric]) -> bool:
    """Return whether a record has the judgements of a rubric in fields named after its criteria."""
    return any(is_judged(record, rubric) for record in records for rubric in rubrics.values())


def _read(file: str, mapping: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the first records of a file; none if they cannot be read, which the command has said."""
    entries = read_entries(read_chunks(file), StreamOptions(mapping, file))
    try:
        return [decode_entry(content) for _, content in islice(entries, _LOOKED_AT)]
    except OutputError:
        return []


@dataclass
class _RecordFields:
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
    fields = _RecordFields(dict(_list_values(records)))
    for scoring_rubric in rubrics.values():
        _find_judgements(fields, scoring_rubric)
    _find_texts(fields, len(records))
    possible, needed = [], []
    for command, mapping in _map(file, rubrics, fields, wrapper, records).items():
        use, need = _USES[command]
        if mapping is None:
            needed.append(need)
        else:
            pairs = [f"{name}={column}" for name, column in mapping.items() if name != column]
            options = {"model": "MODEL"} if command == "judge" else {}
            possible.append(f"  {use}: {suggest(command, rubric, file, map=pairs, **options)}")
    shown = [f"`{name}` ({_show(values[0])})" for name, values in islice(fields.values.items(), _MOST_FIELDS)]
    if len(fields.values) > len(shown):
        shown.append(f"{len(fields.values) - len(shown)} more")
    advice = " You can:" if possible else ""
    yield f"{visible(file)} has {', '.join(shown) or 'no fields'}.{advice}"
    yield from possible
    if needed:
        yield f"  Not recognized; name the fields if the file has them: {', '.join(needed)}."


def _map(
    file: str,
    rubrics: Mapping[str, ScoringRubric],
    fields: _RecordFields,
    wrapper: Mapping[str, str],
    records: Sequence[Mapping[str, Any]],
) -> dict[str, Mapping[str, str] | None]:
    """Return for each command the mapping with which it reads the file; None if it cannot."""
    texts = {**wrapper, **fields.found}
    base = {name: column for name, column in texts.items() if name in {RECORDS, "id"}}
    judged, labelled = fields.output or fields.sides[JUDGE], fields.sides[HUMAN]
    scored = {name: column for name, column in judged.items() if name != "verdict"}
    mappings: dict[str, Mapping[str, str] | None] = dict.fromkeys(_USES)
    if scored or (wrapper and _are_judged(records, rubrics)):
        mappings["score"] = {**base, **scored}
    if {"id", "answer"} <= texts.keys() and _are_answers(file, rubrics, texts):
        mappings["judge"] = texts
    if "id" in base and judged and labelled:
        of_judge = {f"{JUDGE}.{name}": column for name, column in judged.items()}
        of_people = {f"{HUMAN}.{name}": column for name, column in labelled.items()}
        mappings["agree"] = {**base, **of_judge, **of_people}
    return mappings


def _are_answers(file: str, rubrics: Mapping[str, ScoringRubric], mapping: Mapping[str, str]) -> bool:
    from rubric_lint.judge.answers import AnswersError, check_answers

    try:
        check_answers(read_chunks(file), rubrics, mapping, name=file)
    except AnswersError:
        return False
    return True


def _show(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return visible(shorten(text, 24))


def _unwrap(records: list[dict[str, Any]]) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the records in a list of the only object of a file, and the mapping that reads them."""
    if len(records) != 1:
        return {}, records
    for name, (value, *_) in _list_values(records):
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
        if inner and len(inner) == len(values) and name.count(".") < _DEPTH:
            for step, found in _list_values(inner):
                yield f"{name}.{step}", found


def _find_judgements(fields: _RecordFields, rubric: ScoringRubric) -> None:
    """Find what the judge returned, whole or by criterion, and judgements of people."""
    scorer = Scorer({rubric.name: rubric})
    ids = {fold_column(criterion.id): criterion.id for criterion in rubric.criteria}
    for name, values in fields.values.items():
        if _has_score(scorer, "output", values):
            fields.output = fields.output or {"output": name}
            continue
        cells = [_unpack(value) for value in values]
        if all(isinstance(cell, list) for cell in cells):
            pair = _find_pair(cells, ids)
            if _has_score(scorer, "outputs", cells):
                fields.output = fields.output or {"outputs": name}
            elif pair:
                fields.output = fields.output or {"criteria": f"{name}[{pair}]"}
        elif {str(cell).casefold() for cell in cells} <= {*map(str, Verdict), "passed", "failed"}:
            fields.sides[_find_side(name)].setdefault("verdict", name)
    _find_columns(fields, ids)


def _has_score(scorer: Scorer, field: str, values: Iterable[Any]) -> bool:
    return any(scorer.score_record({field: value}).scored for value in values)


def _unpack(value: Any) -> Any:
    """Return the list that a cell has as JSON, or else the value itself."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _find_columns(fields: _RecordFields, ids: Mapping[str, str]) -> None:
    """Find columns named after the criteria with one more word, such as `judge_accuracy` and `judge_tone`."""
    whole = f"{next(iter(fields.output.values()), '')}."
    by_name = {fold_column(name): name for name in reversed(fields.values)}
    for name in fields.values:
        folded = fold_column(name)
        if name.startswith(whole):
            continue
        affixes = {folded.removesuffix(key) for key in ids} | {folded.removeprefix(key) for key in ids}
        for affix in affixes - {"", folded}:
            columns = {id_: by_name.get(f"{affix}{key}") or by_name.get(f"{key}{affix}") for key, id_ in ids.items()}
            found = {id_: column for id_, column in columns.items() if column}
            if len(found) == len(ids):
                fields.sides[_find_side(affix)].update(found)


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
    return JUDGE if any(word in name.casefold() for word in _OF_JUDGES) else HUMAN


def _is_prose(value: Any) -> bool:
    """Return whether a value is a text of several words."""
    return isinstance(value, str) and " " in value.strip()


def _find_texts(fields: _RecordFields, records: int) -> None:
    """Find the id, a short value that is another one in each record, and the texts, by their names."""
    used = {*fields.output.values(), *fields.sides[JUDGE].values(), *fields.sides[HUMAN].values()}
    free = {name: values for name, values in fields.values.items() if name not in used}
    ids = [name for name, values in free.items() if _are_ids(values, records)]
    if ids:
        # A name that says so goes before the others.
        fields.found["id"] = next((name for name in ids if name.casefold().endswith("id")), ids[0])
    prose = {name for name, values in free.items() if all(isinstance(value, str) for value in values)}
    prose = {name for name in prose if any(map(_is_prose, free[name]))}
    for text, words in _WORDS.items():
        last_steps = {name: name.casefold().rpartition(".")[2] for name in free if name in prose}
        exact = [name for word in words for name, step in last_steps.items() if step == word]
        similar = [name for word in words for name, step in last_steps.items() if word in step]
        for name in (exact + similar)[:1]:
            fields.found[text] = name
            prose.discard(name)


def _are_ids(values: Sequence[Any], records: int) -> bool:
    """Return whether each of the records has a value that no other one has, and none of them is a text."""
    is_plain = all(type(value) in {str, int} and not _is_prose(value) for value in values)
    return is_plain and len({*values}) == len(values) == records
