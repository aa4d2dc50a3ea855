"""Check the columns of an Arrow table before it is scored, and name the types of columns for Spark."""

from collections.abc import Mapping, Sequence
from typing import Any

from rubric_lint.engines.batch.arrow import pa
from rubric_lint.engines.batch.items import refuse_repeated
from rubric_lint.messages import list_names
from rubric_lint.outputs.inputs.mapping import HELD

_SPARK = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date32[day]": "date",
}
"""The types that Spark has too, by the names of Arrow."""


def read_kept(keep: Any, results: Sequence[str]) -> dict[str, pa.DataType]:
    """Return the columns to keep by name; `results` are the columns of results.

    Raises:
        TypeError: if `keep` is not a schema or a mapping from names to types.
        ValueError: if a column would overwrite one of the results.
    """
    kept = {each.name: each.type for each in keep} if isinstance(keep, pa.Schema) else keep or {}
    if not isinstance(kept, Mapping) or not all(
        isinstance(name, str) and isinstance(kind, pa.DataType) for name, kind in kept.items()
    ):
        raise TypeError(f'keep is {keep!r}; expected column names with types, such as {{"model": pyarrow.string()}}')
    if taken := [name for name in kept if name in results and name != "id"]:
        raise ValueError(
            f"keep has {list_names(taken)}, which results have too; rename the column in the input, or remove it from "
            "keep"
        )
    return dict(kept)


def check_columns(columns: pa.Schema, kept: Mapping[str, Any]) -> None:
    """Refuse a table that cannot be scored as a whole; what is wrong in single rows is an error of the row.

    Raises:
        ValueError: if it has no column `output`, one of them twice, or lacks one of `kept`.
        TypeError: if a column has a type that cannot hold its values.
    """
    names = columns.names
    if HELD.isdisjoint(names):
        found = list_names(names) or "none"
        raise ValueError(
            f"the table has no column `output` (found: {found}); rename the column that has what the judge returned"
        )
    if missing := [name for name in kept if name not in names]:
        raise ValueError(f"the table has no column {list_names(missing)} to keep (found: {list_names(names)})")
    refuse_repeated(names, kept)
    for name, accepts, expected in (
        ("output", _is_output, "strings, binary or structs"),
        ("outputs", _is_list_of_outputs, "lists of strings, binary or structs"),
        ("rubric", _is_text, "strings"),
        ("rubric_hash", _is_text, "strings"),
    ):
        if name in names and not accepts(kind := columns.field(name).type):
            raise TypeError(f"column `{name}` has the type {kind}; expected {expected}")


def keep_column(table: pa.Table, name: str, kind: Any) -> pa.ChunkedArray:
    """Return a column of the input as this type.

    Raises:
        TypeError: if its values cannot have this type.
    """
    column = table[name]
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as fault:
        raise TypeError(f"column `{name}` has the type {column.type} and cannot be kept as {kind}: {fault}") from None


def _is_output(kind: Any) -> bool:
    return _is_text(kind) or pa.types.is_struct(_unwrap(kind))


def _is_list_of_outputs(kind: Any) -> bool:
    kind = _unwrap(kind)
    is_list = isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType) or "list_view" in str(kind)
    return pa.types.is_null(kind) or (is_list and _is_output(kind.value_type))


def _is_text(kind: Any) -> bool:
    """Return whether a column of this type can hold texts; one of only nulls can."""
    kind, types = _unwrap(kind), pa.types
    return (
        any(
            test(kind)
            for test in (types.is_null, types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
        )
        or types.is_fixed_size_binary(kind)
        or str(kind) in {"string_view", "binary_view"}
    )


def _unwrap(kind: Any) -> Any:
    """Return the type of the values in a column: that of a dictionary, of runs or of an extension."""
    while True:
        if isinstance(kind, pa.DictionaryType | pa.RunEndEncodedType):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def name_spark_type(field: pa.Field) -> str:
    """Return the type of a column as Spark writes it.

    Raises:
        TypeError: if Spark has no such type.
    """
    kind = field.type
    if str(kind) in _SPARK:
        return _SPARK[str(kind)]
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{each.name}`: {name_spark_type(each)}' for each in kind)}>"
    if pa.types.is_list(kind):
        return f"array<{name_spark_type(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{name_spark_type(kind.key_field)}, {name_spark_type(kind.item_field)}>"
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    raise TypeError(f"keep: Spark has no type for {kind} of `{field.name}`; keep it as another type")
