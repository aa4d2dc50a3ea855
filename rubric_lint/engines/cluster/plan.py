"""Divide Parquet files into parts, and say by which of them a folder of results was made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from rubric_lint.engines.batch.arrow_mapping import MapBatches
from rubric_lint.outputs.blocks import InputError
from rubric_lint.outputs.inputs.mapping import COVERING, rename_columns
from rubric_lint.project.opening import open_stream
from rubric_lint.scoring.grading import ScoringRubric

ROWS = 250_000
"""The rows from which a part has enough: a few seconds of work, which a worker that dies loses."""

_FORMAT = 1
"""The version of what a folder of results says about itself."""

_FOOTER = 1 << 16
"""The bytes at the end of a file that its fingerprint covers: places, sizes and bounds of all columns."""


class PlanError(Exception):
    """An input that cannot be divided into parts, and why."""


class Part(NamedTuple):
    """Consecutive row groups of one input: the number of the part, and the place of its first row, from 0."""

    number: int
    file: str
    first_group: int
    groups: int
    first_row: int
    rows: int

    @property
    def name(self) -> str:
        """The name of the file with its results."""
        return f"part-{self.number:05d}.parquet"


class Plan(NamedTuple):
    """What is scored, by what, in which parts. `key` is equal for plans with the same results."""

    inputs: Sequence[Mapping[str, Any]]
    parts: Sequence[Part]
    rubrics: Mapping[str, str]
    extract: str
    mapping: Mapping[str, str]

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def key(self) -> str:
        """A hash of everything that the results depend on."""
        return sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """Return the plan as JSON, without the parts, which follow from the inputs."""
        return {
            "format": _FORMAT,
            "rows_of_parts": ROWS,
            "inputs": [*self.inputs],
            "rubrics": dict(self.rubrics),
            "extract": self.extract,
            "map": dict(self.mapping),
        }

    def compare(self, other: Mapping[str, Any]) -> str | None:
        """Return what differs in the plan of the same folder before, or None."""
        mine = self.describe()
        if mine == other:
            return None
        before = {each["file"]: each for each in other.get("inputs", ())}
        for each in self.inputs:
            name = each["file"]
            if name not in before:
                return f"{name} was not an input then"
            if each != before.pop(name):
                return f"{name} has changed since"
        if before:
            return f"{next(iter(before))} was an input then, and is not now"
        if mine["rubrics"] != other.get("rubrics"):
            return "its results are by another rubric or another meaning of it (`rubric_hash` differs)"
        named = {"extract": "--extract", "map": "--map"}
        differing = [option for field, option in named.items() if mine[field] != other.get(field)]
        return f"it was made with another {differing[0]}" if differing else "another version of rubric-score made it"


def make_plan(
    files: Iterable[str],
    score: MapBatches,
    rubrics: Mapping[str, ScoringRubric],
    *,
    extract: str,
    mapping: Mapping[str, str],
) -> Plan:
    """Return the plan for some Parquet files, after a look at their footers; `score` will score them.

    Raises:
        PlanError: if one cannot be read, or has columns that cannot be scored.
    """
    inputs: list[dict[str, Any]] = []
    parts: list[Part] = []
    for file in files:
        footer = _read_footer(file)
        _check_columns(file, footer.schema.to_arrow_schema(), mapping, score)
        inputs.append({"file": file, **_identify(file), "rows": footer.num_rows})
        parts += _divide(file, [footer.row_group(number).num_rows for number in range(footer.num_row_groups)], parts)
    if not parts:
        raise PlanError("no outputs found: the input has no rows")
    return Plan(inputs, parts, {name: rubric.hash for name, rubric in rubrics.items()}, extract, mapping)


def name_fields(columns: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the field that each column is read as.

    Raises:
        InputError: if a column of the mapping is not there, one is in the way, or there is none with outputs.
        PlanError: if a column of the mapping is a place inside another one, or would overwrite a field of the result.
    """
    names, nested = rename_columns([*columns], mapping, needs_output=True)
    for field, column in nested.items():
        raise PlanError(f"--map {field}={column} is a place inside a column, which --engine does not enter")
    for name in names:
        if name in COVERING:
            raise PlanError(f"the column `{name}` would overwrite that of the result; rename it with --map NAME={name}")
    return dict(zip(columns, names, strict=True))


def _check_columns(file: str, columns: pa.Schema, mapping: Mapping[str, str], score: MapBatches) -> None:
    try:
        fields = name_fields(columns.names, mapping)
        score.check(pa.schema([each.with_name(fields[each.name]) for each in columns]))
    except (InputError, PlanError, TypeError, ValueError) as fault:
        raise PlanError(f"{file}: {fault}") from None


def _read_footer(file: str) -> Any:
    try:
        return pq.read_metadata(file)
    except (pa.ArrowException, OSError) as fault:
        told = (getattr(fault, "strerror", None) or str(fault)).partition("\n")[0].rstrip(".")
        raise PlanError(f"{file}: not a Parquet file that can be read: {told}") from None


def _identify(file: str) -> dict[str, Any]:
    """Return what tells the content of a file from that of another: its size, its time and a hash of its end."""
    status = Path(file).stat()
    with open_stream(file) as stream:
        stream.seek(max(0, status.st_size - _FOOTER))
        end = stream.read(_FOOTER)
    return {"size": status.st_size, "changed": status.st_mtime_ns, "end": sha256(end).hexdigest()[:16]}


def _divide(file: str, groups: Sequence[int], before: Sequence[Part]) -> list[Part]:
    """Return the parts of a file: row groups, together until they have enough rows."""
    parts: list[Part] = []
    first_group = first_row = rows = 0
    for group, size in enumerate(groups):
        rows += size
        if rows and (rows >= ROWS or group == len(groups) - 1):
            number = len(before) + len(parts)
            parts.append(Part(number, file, first_group, group + 1 - first_group, first_row, rows))
            first_group, first_row, rows = group + 1, first_row + rows, 0
    return parts
