"""Give the fields of records the names that scoring reads, as `--map FIELD=PATH` says."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.model.messages import find_near, list_names
from rubric_lint.scoring.records.decoding import NestedRecord, OutputError, decode_cell, decode_entry
from rubric_lint.scoring.records.entries import InputError, RawRecord
from rubric_lint.scoring.records.reply import NOT_JUDGED, find_reason
from rubric_lint.source.path import pointer, split_pointer

RESULT_FIELDS = frozenset({
    *("rubric", "rubric_hash", "shape", "score", "verdict", "criteria", "error"),
    *("verdicts", "stable", "independent_votes_at_most", "panel"),
})  # fmt: skip
"""The fields of a result; a record's own fields must not overwrite them."""

OVERWRITING_FIELDS = RESULT_FIELDS - {"rubric", "rubric_hash"}
"""The fields of a result that a record must not have. A record may have the others: they say how it was judged."""

OUTPUT_FIELDS = frozenset({"output", "outputs"})
"""The fields of a record with the judge's output or outputs for one answer."""

INPUT_FIELDS = ("answer", "question", "reference")
"""The fields of a record with the judge's input; an object in them is not a verdict."""

SHEET = "sheet"
"""The field of a record from a workbook with the name of its sheet."""

RECORD_FIELDS = ("id", "rubric", "output", "outputs", "answer", "question", "reference", "judge", "rubric_hash")
"""The fields of a record that have a meaning."""

_OPTIONAL = frozenset({*INPUT_FIELDS, "judge", "rubric_hash"})
_JUDGED = frozenset({"verdict", "label", "score"})
_OF_LABELS = frozenset({"id", "rubric", "rater", "chosen"})

CHECKS = "checks"
"""The field of a judge output with the list of answers to the criteria."""

CRITERION = "criteria."
"""What the name of a column may begin with to say that it is a criterion, as in our own tables of results."""


def fold_column(name: str) -> str:
    """Return the name of a column as it is compared: without case, and without a hint such as ` [0 to 10]`."""
    name = name.strip()
    bare = name.rpartition("[")[0].rstrip() if name.endswith("]") else ""
    return (bare or name).removeprefix(CRITERION).casefold()


MISSING = object()
"""Stands for what a record does not have."""


class MappingError(ValueError):
    """A mapping that cannot be used, and why."""


RECORDS, CRITERIA = "records", "criteria"
"""The fields of a mapping that stand for lists: of records inside an entry, and of criteria inside a record."""

_PAIRS = re.compile(r"\A(?P<place>[^\[\]]+)\[(?P<name>[^\[\]:]+):(?P<value>[^\[\]:]+)\]\Z")
"""Matches where a list has criteria, and the fields of its items with the name of one and its value."""

JUDGE, HUMAN = "judge", "human"
"""What a field may begin with, before a dot, to be that of one side alone: of results, or of labels."""

_SIDES = (JUDGE, HUMAN)


def _split_side(field: str) -> tuple[str, str]:
    """Return the side that a field is of, empty for both, and the name of the field."""
    side, mark, name = field.partition(".")
    return (side, name) if mark and side in _SIDES else ("", field)


def read_mapping(options: Collection[str]) -> dict[str, str]:
    """Return for each field the column that it has in the files, from texts `FIELD=PATH`.

    Raises:
        MappingError: when one is not of this form, or contradicts another.
    """
    found: dict[str, str] = {}
    for option in options:
        field, mark, column = option.partition("=")
        side, name = _split_side(field)
        if not mark or not name or not column:
            raise MappingError(f"{option!r} is not FIELD=PATH, such as output=response")
        if name == CRITERIA and not _PAIRS.fullmatch(column):
            raise MappingError(f"{option!r} is not {CRITERIA}=LIST[NAME:VALUE], such as criteria=ratings[aspect:stars]")
        if field in found:
            raise MappingError(f"the field `{field}` has two columns, `{found[field]}` and `{column}`")
        if not side and name in OVERWRITING_FIELDS - {CRITERIA}:
            advice = f"of labels, write {HUMAN}.{field}" if field == "verdict" else "leave it out"
            raise MappingError(f"the field `{field}` would overwrite that of the result; {advice}")
        is_known = name in RECORD_FIELDS or name in OVERWRITING_FIELDS or name == RECORDS
        near = [] if is_known else find_near(name, RECORD_FIELDS)
        if near:
            raise MappingError(f"unknown field `{field}`; did you mean `{near[0]}`?")
        found[field] = column
    return found


def select_side(mapping: Mapping[str, str], side: str) -> dict[str, str]:
    """Return the part of a mapping that is of results or of labels, or is of both.

    Columns that are not of this side become fields of the other one, which are left out: those that it names, and those
    with the name of a field that this side has elsewhere.
    """
    found: dict[str, str] = {}
    own: dict[str, str] = {}
    others: set[str] = set()
    for field, column in mapping.items():
        of, name = _split_side(field)
        if not of:
            found[field] = column
        elif of == side:
            own[name] = column
        elif side and column != name and find_first(column) == column:
            others.add(column)
    found.update(own)
    if not own:
        others -= {*RECORD_FIELDS, *OVERWRITING_FIELDS, *_JUDGED}  # in another file, such a column may be its own
    other = HUMAN if side == JUDGE else JUDGE
    found.update({f"{other}.{column}": column for column in sorted({*others, *own} - {*found.values()})})
    return found


def list_own_fields(mapping: Collection[str], side: str, files: Collection[str]) -> dict[str, str]:
    """Return the fields of one side alone as --map says them; none if several files have its records."""
    if len(files) != 1:
        return {}
    own = [field for field in mapping if _split_side(field)[0] == side]
    return {_split_side(field)[1]: field for field in own}


def has_side(mapping: Collection[str], side: str) -> bool:
    """Return whether a mapping has a field of results, or of labels, alone."""
    return any(_split_side(field)[0] == side for field in mapping)


def find_shared(mapping: Mapping[str, str]) -> str | None:
    """Return a field of labels that reads what is the judge's, if one file has both; None without one.

    Those of the judge are the columns that --map does not give to people; without an `output` that it names, also
    those with a name of ours.
    """
    shared = {*RECORD_FIELDS, RECORDS, *_OF_LABELS} - OUTPUT_FIELDS
    of_judge = {field: _list_steps(column) for field, column in select_side(mapping, JUDGE).items()}
    judged = {field: steps for field, steps in of_judge.items() if field not in shared and not _split_side(field)[0]}
    by_default = {} if OUTPUT_FIELDS & judged.keys() else {*OUTPUT_FIELDS, *OVERWRITING_FIELDS, CHECKS}
    for field, column in mapping.items():
        side, name = _split_side(field)
        if side != HUMAN or name in shared:
            continue
        steps = _list_steps(column)
        if any(steps[: len(other)] == other or other[: len(steps)] == steps for other in judged.values()):
            return field
        if by_default and (steps[0] in by_default or (column == name and name not in judged)):
            return field
    return None


def _list_steps(column: str) -> list[str]:
    """Return the steps to a column, or to the values of a list of criteria."""
    steps = split_column(column)
    pairs = _PAIRS.fullmatch(column)
    if pairs is None:
        return steps
    return [*steps, pairs["value"]]


def check_fields(mapping: Collection[str], criteria: Collection[str]) -> None:
    """Check that each field of a mapping is one that records have, or a criterion.

    Raises:
        MappingError: when one is not; it lists the fields.
    """
    known = dict.fromkeys([*RECORD_FIELDS, *sorted(_OF_LABELS.difference(RECORD_FIELDS)), *criteria])
    folded = {fold_column(name) for name in known}
    for field in mapping:
        side, name = _split_side(field)
        if fold_column(name) not in {*folded, RECORDS, CRITERIA} and not (side and name in _JUDGED - {"score"}):
            raise MappingError(f"unknown field `{field}`; the fields are {list_names(known, len(known))}")


class RequiredColumns(NamedTuple):
    """What a table must have: an output, or one of the `judgements`, the folded names of columns with judgements.

    `answer_fields` are the fields that items of `checks` have for the answers to the criteria, such as `score`.
    `is_shared`: the mapping is for several files, so a column that it names may be in another one. `keeps_empty`: which
    columns have judgements is not known yet. `own` has the fields that only one file can have, as --map says them.
    """

    needs_output: bool = False
    judgements: frozenset[str] = frozenset()
    answer_fields: frozenset[str] = frozenset()
    is_shared: bool = False
    keeps_empty: bool = False
    own: Mapping[str, str] = MappingProxyType({})

    def is_met_by(self, names: Collection[str]) -> bool:
        """Return whether a table with these columns has what is needed."""
        if not OUTPUT_FIELDS.isdisjoint(names):
            return True
        if self.keeps_empty:
            return "id" in map(str.casefold, names)
        return bool(self.find_judgements(names)) if self.judgements else not self.needs_output

    def find_judgements(self, names: Collection[str]) -> frozenset[str]:
        """Return the names of the columns with judgements, of a table without outputs."""
        if not OUTPUT_FIELDS.isdisjoint(names):
            return frozenset()
        if self.keeps_empty:
            return frozenset(names).difference(RECORD_FIELDS)
        return frozenset(name for name in names if fold_column(name) in self.judgements)


def rename_columns(
    header: list[str], mapping: Mapping[str, str], wanted: RequiredColumns
) -> tuple[list[str], dict[str, str]]:
    """Return the names that the columns of a table have as fields, and what is left to map in each row.

    A column without a name is not read, such as one whose field the mapping reads from another column.

    Raises:
        InputError: if a column is missing or occurs twice, or none has outputs.
    """
    twice = [name for name, times in Counter(header).items() if name and times > 1]
    if twice:
        raise InputError(f"the column `{twice[0]}` occurs twice; rename one")
    if wanted.is_shared:
        mapping = {
            field: column for field, column in mapping.items() if find_first(column) in header or field in wanted.own
        }
    places = {column: field for field, column in mapping.items() if column in header}
    nested = {field: column for field, column in mapping.items() if column not in header and not _split_side(field)[0]}
    for field, column in nested.items():
        if column == find_first(column) or find_first(column) not in header:
            near = find_near(column, header)
            hint = f"did you mean `{near[0]}`?" if near else _list(header)
            raise InputError(f"no column `{column}` (--map {wanted.own.get(field, field)}={column}); {hint}")
    entered = {*map(find_first, nested.values())}
    for column, field in list(places.items()):
        if field in entered:  # a column of this name is still needed, so both get their names row by row
            nested[field] = column
            del places[column]
    replaced = _find_replaced(header, mapping) - entered
    names = [places.get(name, "" if name in replaced else name) for name in header]
    if OUTPUT_FIELDS.isdisjoint({*names, *nested}):
        names = _restore_case(names, wanted)
    if CRITERIA not in nested and not wanted.is_met_by({*names, *nested}):
        raise InputError(_explain_lack(names, header, wanted))
    if OUTPUT_FIELDS.isdisjoint({*names, *nested}):
        _refuse_misspelt(names, wanted.judgements)
    nested.update({name: name for name in names if name in mapping and _split_side(name)[0]})
    return names, nested


def _find_replaced(names: Iterable[str], mapping: Mapping[str, str]) -> set[str]:
    """Return the columns that are not read, because a mapping reads the field of their name from another one."""
    judged = {fold_column(field) for field in mapping if field not in RECORD_FIELDS}
    others = {*names} - {*mapping.values()}
    return {name for name in others if name in mapping or fold_column(name) in judged}


def _explain_lack(names: Collection[str], header: Collection[str], wanted: RequiredColumns) -> str:
    """Return the message for a table without outputs, or without ids: what it lacks, and what to do."""
    if wanted.keeps_empty:
        return f"no column `id` ({_list(header)}); add one with the ids of the answers"
    if CHECKS in header:
        return f"no column `output` ({_list(header)}), and {_explain_checks(wanted)}"
    near = [name for name in names if find_near(name, OUTPUT_FIELDS)]
    option = shlex.quote(f"output={near[0]}") if near else "output=COLUMN"
    others = ", or give each criterion a column of its name" if wanted.judgements else ""
    return f"no column `output` ({_list(header)}); name the column with the judge's output with --map {option}{others}"


def _explain_checks(wanted: RequiredColumns) -> str:
    """Say how the list of a judge output that has a column of its own can be read, or why it cannot."""
    fields = sorted(wanted.answer_fields)
    advice = "write each judge output whole into a column `output`"
    if len(fields) == 1:
        advice = f"read its items with --map {shlex.quote(f'{CRITERIA}={CHECKS}[id:{fields[0]}]')}"
    elif fields:
        advice = f"its items answer in {list_names(fields)}, which --map cannot read; {advice}"
    return f"`{CHECKS}` is only the list of a judge output; {advice}"


def _restore_case(names: list[str], wanted: RequiredColumns) -> list[str]:
    """Write fields of labels such as `ID` in lower case: their case does not matter, as that of criteria."""
    if not wanted.judgements and not wanted.keeps_empty:
        return names
    folded = [name.casefold() for name in names]
    return [
        field if field in _OF_LABELS - wanted.judgements and folded.count(field) == 1 else name
        for name, field in zip(names, folded, strict=True)
    ]


_OTHER_CASE = re.compile(rb'"(?!(?:id|rubric|rater|chosen)")(?i:id|rubric|rater|chosen)"\s*:')
"""Matches a field of labels that is not in lower case, in JSON."""


def restore_case(entries: Iterable[RawRecord], head: bytes, wanted: RequiredColumns) -> Iterable[RawRecord]:
    """Return the entries of JSON with fields of labels in lower case, as tables have them; `head` tells if needed."""
    return _restore_entries(entries, wanted) if _OTHER_CASE.search(head) else entries


def _restore_entries(entries: Iterable[RawRecord], wanted: RequiredColumns) -> Iterator[RawRecord]:
    for line, content in entries:
        try:
            yield line, _restore_record(decode_entry(content), wanted)
        except OutputError as fault:
            fault.record = _restore_record(fault.record, wanted)
            yield line, fault


def _restore_record(record: Mapping[str, Any], wanted: RequiredColumns) -> NestedRecord:
    names = list(record) if not OUTPUT_FIELDS.isdisjoint(record) else _restore_case(list(record), wanted)
    found = NestedRecord(zip(names, record.values(), strict=True))
    found.inside = getattr(record, "inside", "")
    return found


def _refuse_misspelt(names: Collection[str], judgements: frozenset[str]) -> None:
    """Refuse a column that may be a misspelt one of a criterion that no column has; raise InputError naming both."""
    folded = {fold_column(name): name for name in names}
    for missing in sorted(judgements - {"label"} - folded.keys()):  # `labels` are often tags
        others = [name for name in folded if name not in judgements and name not in RECORD_FIELDS and name]
        near = find_near(missing, others)
        if near:
            raise InputError(f"no column `{missing}`; is it `{folded[near[0]]}`? Rename it to this, or to another name")


def _list(header: Collection[str]) -> str:
    if not header:
        return "there is none"
    verb = "is" if len(header) == 1 else "are"
    return f"there {verb} {list_names(header)}"


def map_entries(
    entries: Iterable[RawRecord], mapping: Mapping[str, str], *, is_shared: bool = False
) -> Iterator[RawRecord]:
    """Yield records with the names of a mapping; of a shared one, those that they have."""
    mapping = dict(mapping)
    if RECORDS in mapping:
        entries = _list_records(entries, mapping.pop(RECORDS), is_shared=is_shared)
    for line, content in entries:
        try:
            record = decode_entry(content)
        except OutputError as fault:
            fault.record = _rename_known(fault.record, mapping)
            yield line, _rename_place(fault, mapping)
            continue
        found: NestedRecord | OutputError
        try:
            found = NestedRecord(_rename(record, mapping, is_shared=is_shared))
            found.inside = getattr(content, "inside", "")
        except OutputError as fault:
            fault.record, fault.inside = _rename_known(record, mapping), getattr(content, "inside", "")
            found = _rename_place(fault, mapping)
        yield line, found


def _list_records(entries: Iterable[RawRecord], column: str, *, is_shared: bool) -> Iterator[RawRecord]:
    """Yield the items of the list of records in each entry; of several files, another one may have it."""
    for line, content in entries:
        try:
            record = decode_entry(content)
            found = _look_up(record, column)
        except OutputError as fault:
            yield line, fault
            continue
        if isinstance(found, list):
            for number, value in enumerate(found):
                item = NestedRecord(value) if isinstance(value, dict) else OutputError("expected an object, a record")
                item.inside = pointer((*split_pointer(pointer_of(column)), number))
                yield line, item
        elif is_shared and found is MISSING:
            yield line, content
        elif found is MISSING:
            yield line, OutputError(format_missing_field(RECORDS, column, record))
        else:
            yield line, OutputError(f"`{column}` must be a list of records (--map {RECORDS}={column})")


def _rename_place(fault: OutputError, mapping: Mapping[str, str]) -> OutputError:
    """Return an error with the name of the field that the first steps of its place lead to, if any.

    A list of criteria has none, so its column stays part of the place: also `output`, which is no judge output here.
    """
    for field, column in mapping.items():
        place = pointer_of(column)
        if f"{fault.path}/".startswith(f"{place}/"):
            fault.path = pointer((field,)) + fault.path.removeprefix(place)
            return fault
    if CRITERIA in mapping and find_first(mapping[CRITERIA]) == "output" and fault.path.startswith("/output/"):
        fault.inside += "/output"
    return fault


def _rename_known(record: Mapping[str, Any], mapping: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the fields that can be read of an invalid record, such as its id, under the names of a mapping."""
    mapped = {field: column for field, column in mapping.items() if field != CRITERIA and _has(record, column)}
    renamed = _rename(record, mapped, is_shared=True)
    # A field of ours that the mapping reads from another column, which is not here, would pass for that one.
    foreign = _find_replaced(record, mapping) - {*mapped}
    return {name: value for name, value in renamed.items() if name not in foreign}


def _rename(record: Mapping[str, Any], mapping: Mapping[str, str], *, is_shared: bool) -> dict[str, Any]:
    """Return the record with the names of a mapping; a field that was renamed loses its old name.

    A field whose name another one gets is not read. Of a mapping that `is_shared`, the record may lack any field.

    Raises:
        OutputError: if it lacks a field that is needed.
    """
    found: dict[str, Any] = {}
    used: dict[str, str] = {}
    for field, column in mapping.items():
        # What leads to the list of criteria, without the names of the fields in its items.
        place = _PAIRS.sub(r"\g<place>", column) if field == CRITERIA else column
        value = _look_up(record, place)
        if value is MISSING and is_shared:
            continue
        used[field] = column
        if _split_side(field)[0]:
            continue
        if value is MISSING:
            if field in OUTPUT_FIELDS and find_reason(record):
                found[field] = None
            elif field not in _OPTIONAL:
                missing = format_missing_field(field, column, record)
                reason = f"{NOT_JUDGED}: {missing}" if field in OUTPUT_FIELDS else missing
                raise OutputError(reason)
        elif field == CRITERIA:
            found.update(_read_criteria(value, column))
        else:
            found[field] = value
    moved = {column for column in used.values() if column in record}
    if CRITERIA in used:
        moved.add(find_first(used[CRITERIA]))
    moved |= _find_replaced(record, used)
    return {**found, **{name: value for name, value in record.items() if name not in moved}}


def split_column(column: str) -> list[str]:
    """Return the field that a column or a place inside one begins with, and the steps from there."""
    place = _PAIRS.sub(r"\g<place>", column)
    return _find_steps(place) or [place]


def find_first(column: str) -> str:
    """Return the field that a column or a place inside one begins with."""
    return split_column(column)[0]


def pointer_of(column: str) -> str:
    """Return the JSON Pointer to a column, or to a place inside one."""
    return pointer(tuple(_find_steps(column) or [column]))


def _read_criteria(value: Any, column: str) -> dict[str, Any]:
    """Return the values in a list of criteria, each under the name of the column that a criterion has.

    Raises:
        OutputError: unless each item has a name, which no other one has, and a value.
    """
    pairs = _PAIRS.fullmatch(column)
    first = find_first(column)
    items = decode_cell(value, pointer((first,))) if isinstance(value, str) else value
    if pairs is None or not isinstance(items, list):
        raise OutputError(f"expected a list of criteria (--map {CRITERIA}={column})", pointer_of(first))
    found: dict[str, Any] = {}
    for number, item in enumerate(items):
        given = item if isinstance(item, dict) else {}
        name, answer = given.get(pairs["name"]), given.get(pairs["value"])
        place = pointer((*split_pointer(pointer_of(pairs["place"])), number))
        if not isinstance(name, str) or pairs["value"] not in given:
            raise OutputError(f"expected an object with `{pairs['name']}` and `{pairs['value']}`", place)
        if f"{CRITERION}{name}" in found:
            raise OutputError(f"a second item for `{name}`; expected one", place)
        found[f"{CRITERION}{name}"] = answer
    return found


def format_missing_field(field: str, column: str, record: Mapping[str, Any]) -> str:
    """Return the message for a record without the column of a field."""
    near = find_near(column, record)
    known = f"did you mean `{near[0]}`?" if near else f"found: {', '.join(list(record)[:6])}"
    return f"no `{column}` in this record (--map {field}={column}); {known}"


def _find_steps(column: str) -> list[str] | None:
    """Return the steps of a place inside a field, a JSON Pointer or names with dots between; None for a plain name."""
    if column.startswith("/"):
        return list(split_pointer(column))
    return column.split(".") if "." in column else None


def _look_up(record: Mapping[str, Any], column: str) -> Any:
    """Return the value of a field or at a place inside one; a string with JSON, as in a cell, is entered.

    Raises:
        OutputError: if such a string has a value that JSON does not allow.
    """
    if column in record:
        return record[column]
    steps = _find_steps(column)
    if steps is None:
        return MISSING
    value: Any = record
    for number, step in enumerate(steps):
        if isinstance(value, str):
            value = decode_cell(value, pointer(tuple(steps[:number])))
        if isinstance(value, Mapping):
            value = value.get(step, MISSING)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def _has(record: Mapping[str, Any], column: str) -> bool:
    """Return whether a record has a field, or a place inside one that can be read."""
    try:
        return _look_up(record, column) is not MISSING
    except OutputError:
        return False
