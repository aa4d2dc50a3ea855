"""Write results as a table of Arrow."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rubric_lint.engines.batch.arrow import pa
from rubric_lint.engines.batch.rows import RowError, Rows
from rubric_lint.scoring.output import Known, Piece

_CRITERION = pa.struct([
    ("id", pa.string()),
    ("raw", pa.int64()),
    ("share", pa.float64()),
    ("score", pa.float64()),
    ("weight", pa.float64()),
    ("gate", pa.int64()),
    ("gate_met", pa.bool_()),
    ("outcome", pa.string()),
])  # fmt: skip
_ERROR = pa.struct([("message", pa.string()), ("path", pa.string()), ("line", pa.int64())])


def schema(id_type: Any = None) -> pa.Schema:
    """Return the schema of results; `id_type` is the type of the ids, strings by default."""
    return pa.schema([
        ("id", id_type or pa.string()),
        ("rubric", pa.string()),
        ("rubric_hash", pa.string()),
        ("points", pa.int64()),
        ("full", pa.int64()),
        ("score", pa.float64()),
        ("verdict", pa.string()),
        ("gates_missed", pa.list_(pa.string())),
        ("criteria", pa.list_(_CRITERION)),
        ("error", _ERROR),
    ])  # fmt: skip


def write_arrow(rows: Rows) -> pa.Table:
    """Return a table of results: what each kind has is written once, and taken for each row."""
    unique = [*dict.fromkeys(rows.kinds)]
    numbers = {kind: number for number, kind in enumerate(unique)}
    places = pa.array([*map(numbers.__getitem__, rows.kinds)], pa.int32())
    known = [kind if isinstance(kind, Known) else None for kind in unique]
    values = {
        "rubric": [kind.rubric.name if isinstance(kind, Known) else kind.rubric for kind in unique],
        "rubric_hash": [each and each.rubric.hash for each in known],
        "points": [each and each.points for each in known],
        "full": [each and each.full for each in known],
        "score": [each and each.score for each in known],
        "verdict": [each and str(each.verdict) for each in known],
        "gates_missed": [each and each.gates_missed for each in known],
    }
    form = schema(rows.id_type)
    columns = [
        write_ids(rows.ids, form.field("id").type),
        *(pa.array(column, form.field(name).type).take(places) for name, column in values.items()),
        _write_criteria(known, places),
        _write_errors(rows.errors, len(rows.kinds)),
    ]
    return pa.Table.from_arrays(columns, schema=form)


def write_ids(ids: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return a column of ids of this type, or of strings if it cannot hold them."""
    try:
        return pa.array(ids, kind)
    except (pa.ArrowInvalid, TypeError, UnicodeEncodeError):
        return pa.array([*map(_as_text, ids)], pa.string())


def _as_text(name: Any) -> str | None:
    if name is None or isinstance(name, str):
        text = name
    elif isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    else:
        text = json.dumps(name, ensure_ascii=False, default=str)
    return text and text.encode("utf-8", "backslashreplace").decode()


def _write_criteria(known: Sequence[Known | None], places: pa.Array) -> pa.Array:
    """Return the criteria: each answer to each criterion is written once."""
    numbers: dict[int, int] = {}
    pieces: list[Piece] = []
    listed: list[list[int] | None] = []
    for each in known:
        for piece in each.pieces if each else ():
            if id(piece) not in numbers:
                numbers[id(piece)] = len(pieces)
                pieces.append(piece)
        listed.append([numbers[id(piece)] for piece in each.pieces] if each else None)
    written = [piece.result.to_json() for piece in pieces]
    values = pa.array([{**each, "raw": int(each["raw"])} for each in written], _CRITERION)
    taken = pa.array(listed, pa.list_(pa.int32())).take(places)
    return pa.ListArray.from_arrays(taken.offsets, values.take(taken.values), mask=taken.is_null())


def _write_errors(errors: Mapping[int, RowError], rows: int) -> pa.Array:
    places: list[int | None] = [None] * rows
    for number, row in enumerate(errors):
        places[row] = number
    written = pa.array([error._asdict() for error in errors.values()], _ERROR)
    return written.take(pa.array(places, pa.int32()))
