"""Give the fields of records the names that scoring reads, as `--map FIELD=COLUMN` says."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from json.encoder import encode_basestring_ascii as quote
from typing import NamedTuple

from rubric_lint.messages import find_near, list_names
from rubric_lint.outputs.blocks import Block, Entry, InputError, join_entries
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.text.path import split_pointer

RESERVED = frozenset({
    *("rubric", "rubric_hash", "shape", "score", "verdict", "criteria", "error"),
    *("verdicts", "stable", "independent_votes_at_most", "panel"),
})  # fmt: skip
"""The fields of a result; a record's own fields must not overwrite them."""

COVERING = RESERVED - {"rubric", "rubric_hash"}
"""The fields of a result that a record must not have. A record may have the others: they say how it was judged."""

HELD = frozenset({"output", "outputs"})
"""The fields of a record with the judge's output or outputs for one answer."""

SHOWN = ("answer", "question", "reference")
"""The fields of a record with the judge's input; an object in them is not a verdict."""

SHEET = "sheet"
"""The field of a record from a workbook with the name of its sheet."""

FIELDS = ("id", "rubric", *sorted(HELD), *SHOWN, "judge", "rubric_hash")
"""The fields of a record that have a meaning."""

_OPTIONAL = frozenset({*SHOWN, "judge", "rubric_hash"})
_OF_LABELS = frozenset({"id", "rubric", "rater", "chosen"})
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"
_Object = dict[str, str]


CRITERION = "criteria."
"""What the name of a column may begin with to say that it is a criterion, as in our own tables of results."""


def fold_column(name: str) -> str:
    """Return the name of a column as it is compared: without case, and without a hint such as ` [0 to 10]`."""
    name = name.strip()
    bare = name.rpartition("[")[0].rstrip() if name.endswith("]") else ""
    return (bare or name).removeprefix(CRITERION).casefold()


class MappingError(ValueError):
    """A mapping that cannot be used, and why."""


def read_mapping(options: Collection[str]) -> dict[str, str]:
    """Return for each field the column that it has in the files, from texts `FIELD=COLUMN`.

    Raises:
        MappingError: when one is not of this form, or contradicts another.
    """
    found: dict[str, str] = {}
    for option in options:
        field, mark, column = option.partition("=")
        if not mark or not field or not column:
            raise MappingError(f"{option!r} is not FIELD=COLUMN, such as output=response")
        if field in found:
            raise MappingError(f"the field `{field}` has two columns, `{found[field]}` and `{column}`")
        if field in COVERING:
            raise MappingError(f"the field `{field}` would overwrite that of the result; choose another name")
        if field not in FIELDS and (near := find_near(field, FIELDS)):
            raise MappingError(f"unknown field `{field}`; did you mean `{near[0]}`?")
        found[field] = column
    return found


def check_fields(mapping: Collection[str], criteria: Collection[str]) -> None:
    """Check that each field of a mapping is one that records have, or a criterion.

    Raises:
        MappingError: when one is not; it lists the fields.
    """
    known = dict.fromkeys((*FIELDS, *sorted(_OF_LABELS - {*FIELDS}), *criteria))
    folded = {fold_column(each) for each in known}
    for field in mapping:
        if fold_column(field) not in folded:
            raise MappingError(f"unknown field `{field}`; the fields are {list_names(known, len(known))}")


class Wanted(NamedTuple):
    """What a table must have: an output, or one of the `judgements`, the folded names of columns with judgements.

    `is_shared`: the mapping is for several files, so a column that it names may be in another one. `keeps_empty`: which
    columns have judgements is not known yet.
    """

    needs_output: bool = False
    judgements: frozenset[str] = frozenset()
    is_shared: bool = False
    keeps_empty: bool = False

    def is_met_by(self, names: Collection[str]) -> bool:
        """Return whether a table with these columns has what is needed."""
        if not HELD.isdisjoint(names):
            return True
        if self.keeps_empty:
            return "id" in map(str.casefold, names)
        return bool(self.find_judgements(names)) if self.judgements else not self.needs_output

    def find_judgements(self, names: Collection[str]) -> frozenset[str]:
        """Return the names of the columns with judgements, of a table without outputs."""
        if not HELD.isdisjoint(names):
            return frozenset()
        if self.keeps_empty:
            return frozenset(names).difference(FIELDS)
        return frozenset(name for name in names if fold_column(name) in self.judgements)


def rename_columns(header: list[str], mapping: Mapping[str, str], wanted: Wanted) -> tuple[list[str], _Object]:
    """Return the names that the columns of a table have as fields, and what is left to map in each row.

    Raises:
        InputError: if a column is missing or occurs twice, if another has the name of its field, or none has outputs.
    """
    if twice := [name for name, times in Counter(header).items() if name and times > 1]:
        raise InputError(f"the column `{twice[0]}` occurs twice; rename one")
    if wanted.is_shared:
        mapping = {field: column for field, column in mapping.items() if (_find_steps(column) or [column])[0] in header}
    places = {column: field for field, column in mapping.items() if column in header}
    nested = {field: column for field, column in mapping.items() if column not in header}
    for field, column in nested.items():
        if (steps := _find_steps(column)) is None or steps[0] not in header:
            known = f"did you mean `{near[0]}`?" if (near := find_near(column, header)) else _list(header)
            raise InputError(f"no column `{column}` (--map {field}={column}); {known}")
    for name in header:
        if name in mapping and name not in places:
            raise InputError(
                f"the column `{name}` is not read, because --map {name}={mapping[name]} names another; give it another "
                f"name with --map NAME={name}"
            )
    names = [places.get(name, name) for name in header]
    if HELD.isdisjoint({*names, *nested}):
        names = _restore_case(names, wanted)
    if not wanted.is_met_by({*names, *nested}):
        raise InputError(_word_lack(names, header, wanted))
    if HELD.isdisjoint({*names, *nested}):
        _refuse_misspelt(names, wanted.judgements)
    return names, nested


def _word_lack(names: Collection[str], header: Collection[str], wanted: Wanted) -> str:
    if wanted.keeps_empty:
        return f"no column `id` ({_list(header)}); add one with the ids of the answers"
    near = [name for name in names if find_near(name, HELD)]
    hint = f"--map output={near[0] if near else 'COLUMN'}"
    others = ", or give each criterion a column of its name" if wanted.judgements else ""
    return f"no column `output` ({_list(header)}); name the column with the judge's output with {hint}{others}"


def _restore_case(names: list[str], wanted: Wanted) -> list[str]:
    """Write fields of labels such as `ID` in lower case: their case does not matter, as that of criteria."""
    if not wanted.judgements and not wanted.keeps_empty:
        return names
    folded = [name.casefold() for name in names]
    return [
        field if field in _OF_LABELS - wanted.judgements and folded.count(field) == 1 else name
        for name, field in zip(names, folded, strict=True)
    ]


def _refuse_misspelt(names: Collection[str], judgements: frozenset[str]) -> None:
    """Refuse a column that may be a misspelt one of a criterion that no column has; raise InputError naming both."""
    folded = {fold_column(name): name for name in names}
    for missing in sorted(judgements - folded.keys()):
        others = [name for name in folded if name not in judgements and name not in FIELDS and name]
        if near := find_near(missing, others):
            raise InputError(f"no column `{missing}`; is it `{folded[near[0]]}`? Rename that column")


def _list(header: Collection[str]) -> str:
    return f"there {'is' if len(header) == 1 else 'are'} {list_names(header)}" if header else "there is none"


def map_blocks(blocks: Iterable[Block], mapping: Mapping[str, str], *, is_shared: bool = False) -> Iterator[Block]:
    """Yield records with the names of a mapping, which may be empty; of a shared one, those that they have."""
    if not mapping:
        yield from blocks
        return
    for block in blocks:
        yield from join_entries(_rename(line, text, mapping, is_shared=is_shared) for line, text in block.split())


def _rename(line: int, text: bytes | OutputError, mapping: Mapping[str, str], *, is_shared: bool) -> Entry:
    if isinstance(text, OutputError):
        return line, text
    try:
        record = _split_object(text.decode().strip(_BLANK))
    except ValueError:  # the scorer says what is wrong with it
        return line, text
    if is_shared:
        mapping = {
            field: column
            for field, column in mapping.items()
            if column in record or _look_up(record, column) is not None
        }
    try:
        renamed = _rename_fields(record, mapping)
    except OutputError as fault:
        return line, fault
    return line, ("{" + ", ".join([f"{quote(name)}: {value}" for name, value in renamed.items()]) + "}").encode()


def _rename_fields(record: _Object, mapping: Mapping[str, str]) -> _Object:
    """Return the record with the names of a mapping; a field that was renamed loses its old name."""
    found: _Object = {}
    for field, column in mapping.items():
        value = record.get(column) if column in record else _look_up(record, column)
        if value is not None:
            found[field] = value
        elif field not in _OPTIONAL:
            near = find_near(column, record)
            known = f"did you mean `{near[0]}`?" if near else f"found: {', '.join([*record][:6])}"
            raise OutputError(f"no `{column}` in this record (--map {field}={column}); {known}")
    moved = {column for column in mapping.values() if column in record}
    kept = {name: value for name, value in record.items() if name not in moved}
    for name in mapping:
        if name in kept:
            raise OutputError(
                f"`{name}` is not read, because --map {name}={mapping[name]} names another field; give it another name "
                f"with --map NAME={name}"
            )
    return {**found, **kept}


def _find_steps(column: str) -> list[str] | None:
    """Return the steps of a place inside a field, a JSON Pointer or names with dots between; None for a plain name."""
    if column.startswith("/"):
        return [*split_pointer(column)]
    return column.split(".") if "." in column else None


def _look_up(record: _Object, column: str) -> str | None:
    """Return the JSON at a place inside a record, or None; a string with JSON in it, as in a cell, is entered too."""
    steps = _find_steps(column) or []
    value = record.get(steps[0]) if steps else None
    for step in steps[1:]:
        if value is None:
            return None
        if value.startswith('"'):
            value = json.loads(value).strip(_BLANK)
        try:
            if value.startswith("["):
                items = json.loads(value)
                value = json.dumps(items[int(step)]) if step.isdigit() and int(step) < len(items) else None
            else:
                value = _split_object(value).get(step)
        except ValueError:
            return None
    return value


def _split_object(text: str) -> _Object:
    """Return the fields of a JSON object as written; raise ValueError if it is none, or has a key twice."""
    found: _Object = {}
    at = _skip(text, 1)
    if not text.startswith("{"):
        raise ValueError
    if text.startswith("}", at):
        return found
    while True:
        key, end = _decode(text, at)
        at = _skip(text, end)
        if not isinstance(key, str) or key in found or not text.startswith(":", at):
            raise ValueError
        start = _skip(text, at + 1)
        _, end = _decode(text, start)
        found[key] = text[start:end]
        at = _skip(text, end)
        if text.startswith("}", at):
            if _skip(text, at + 1) < len(text):
                raise ValueError
            return found
        if not text.startswith(",", at):
            raise ValueError
        at = _skip(text, at + 1)


def _decode(text: str, at: int) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise ValueError from None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
