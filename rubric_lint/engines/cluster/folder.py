"""Keep the results of a run in a folder: a file for each part, whole or absent, and what run they belong to."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from rubric_lint.engines.cluster.plan import Part, Plan
from rubric_lint.project.inputs import OF_ENGINE
from rubric_lint.project.opening import LIMIT, read_file
from rubric_lint.project.writing import lock, write_file

KEY = b"rubric-score"
"""The key of the metadata in the footer of each part."""


class FolderError(Exception):
    """A folder that cannot take the results, and why."""


class Done(NamedTuple):
    """A part that is scored: its totals as `store_totals` stores them, and where judges used another rubric.

    `judged_otherwise` is how many outputs were, and `first_otherwise` the place of the first one in the part.
    """

    number: int
    rows: int
    totals: Mapping[str, Any]
    judged_otherwise: int = 0
    first_otherwise: int = 0


class Progress(NamedTuple):
    """How many rows of a folder's inputs are scored, and how many there are."""

    rows: int
    of: int


def find_progress(folder: Path) -> Progress | None:
    """Return how far the run of a folder has come, or None if it cannot be told."""
    rows = 0
    try:
        of = sum(int(each["rows"]) for each in json.loads(read_file(str(folder / OF_ENGINE), LIMIT))["inputs"])
        for part in folder.glob("part-*.parquet"):
            with contextlib.suppress(pa.ArrowException):
                rows += pq.read_metadata(part).num_rows
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return Progress(rows, of)


class Folder:
    """A folder for the results of a plan, locked for other runs from `prepare` to the end of the block."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self._plan = plan
        self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock >= 0:
            os.close(self._lock)

    def prepare(self) -> dict[int, Done]:
        """Make the folder, or look at what is in it; return the parts that are done, by number.

        Raises:
            FolderError: if it holds something else than parts of this plan.
            WriteError: if it cannot be written.
        """
        about = self.path / OF_ENGINE
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._take()
            present = {each.name for each in self.path.iterdir()}
        except OSError as fault:
            raise FolderError(f"cannot be a folder for results: {fault.strerror}") from None
        if present and OF_ENGINE not in present:
            raise FolderError("is not empty and holds no results of --engine; name a new folder")
        if not any(name.endswith(".parquet") for name in present):
            write_file(str(about), (json.dumps(self._plan.describe(), indent=1) + "\n").encode())
        try:
            described = json.loads(read_file(str(about), LIMIT))
            difference = self._plan.compare(described)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            difference = f"{OF_ENGINE} in it cannot be read"
        if difference:
            raise FolderError(f"holds the results of another run: {difference}; name a new folder, or delete this one")
        self.clean()
        return {part.number: done for part in self._plan.parts if (done := self.find(part))}

    def _take(self) -> None:
        if os.name == "posix":
            self._lock = os.open(self.path, os.O_RDONLY)
            if not lock(self._lock):
                raise FolderError("is in use by another run; wait for it to end")

    def find(self, part: Part) -> Done | None:
        """Return what a file says of the part in it; None if it is not there, not whole, or of another run."""
        try:
            footer = pq.read_metadata(self.path / part.name)
            about = json.loads(footer.metadata[KEY])
            if about.pop("run") == self._plan.key and about["rows"] == footer.num_rows == part.rows:
                return Done(**about)
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError):
            pass
        return None

    def clean(self) -> None:
        """Delete what killed workers left half written."""
        for each in self.path.glob(".part-*.rubric-lint"):
            with contextlib.suppress(OSError):
                each.unlink()

    def read(self, part: Part, columns: list[str]) -> pa.Table:
        """Return some columns of the results of a part."""
        return pq.read_table(self.path / part.name, columns=columns, partitioning=None)
