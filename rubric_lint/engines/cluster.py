"""Score Parquet files in parts on a cluster, such that a run can stop at any point and resume."""

import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from rubric_lint.engines import NEEDS_RAY
from rubric_lint.engines.arrow import MapBatches
from rubric_lint.engines.rows import READ
from rubric_lint.outputs.blocks import InputError
from rubric_lint.outputs.mapping import COVERING, Wanted, rename_columns
from rubric_lint.outputs.verdict import Reading
from rubric_lint.project.inputs import OF_ENGINE
from rubric_lint.project.opening import LIMIT, open_stream, read_file
from rubric_lint.project.writing import WriteError, lock, open_whole, write_file
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.run import Ids, RecordPlace, warn_of_other_rubric, warn_of_repeated
from rubric_lint.scoring.scorer import make_key
from rubric_lint.scoring.totals import Totals, restore_totals, store_totals

ROWS = 250_000
"""The rows from which a part has enough: a few seconds of work, which a worker that dies loses."""

_FORMAT = 1
"""The version of what a folder of results says about itself."""

_FOOTER = 1 << 16
"""The bytes at the end of a file that its fingerprint covers: places, sizes and bounds of all columns."""


class PlanError(Exception):
    """An input that cannot be divided into parts, or read to its end, and why."""


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
    reading: Reading
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
            "extract": self.reading.extract,
            "extra_fields": self.reading.extra_fields,
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
        named = {"extract": "--extract", "extra_fields": "--extra-fields", "map": "--map"}
        differing = [option for field, option in named.items() if mine[field] != other.get(field)]
        return f"it was made with another {differing[0]}" if differing else "another version of rubric-lint made it"


def make_plan(
    files: Iterable[str],
    score: MapBatches,
    rubrics: Mapping[str, ScoringRubric],
    *,
    reading: Reading,
    mapping: Mapping[str, str],
) -> Plan:
    """Return the plan for some Parquet files, after a look at their footers; `score` will score them.

    Raises:
        PlanError: if one cannot be read, or has columns that cannot be scored.
    """
    inputs: list[dict[str, Any]] = []
    parts: list[Part] = []
    for file in files:
        try:
            footer = pq.read_metadata(file)
        except (pa.ArrowException, OSError) as fault:
            told = (getattr(fault, "strerror", None) or str(fault)).partition("\n")[0].rstrip(".")
            raise PlanError(f"{file}: not a Parquet file that can be read: {told}") from None
        columns = footer.schema.to_arrow_schema()
        try:
            fields = name_fields(columns.names, mapping)
            score.check(pa.schema([each.with_name(fields[each.name]) for each in columns]))
        except (InputError, PlanError, TypeError, ValueError) as fault:
            raise PlanError(f"{file}: {fault}") from None
        status = Path(file).stat()
        with open_stream(file) as stream:
            stream.seek(max(0, status.st_size - _FOOTER))
            end = sha256(stream.read(_FOOTER)).hexdigest()[:16]
        known = {"size": status.st_size, "changed": status.st_mtime_ns, "end": end}
        inputs.append({"file": file, **known, "rows": footer.num_rows})
        first_group = first_row = rows = 0
        for group in range(1, footer.num_row_groups + 1):
            rows += footer.row_group(group - 1).num_rows
            if rows and (rows >= ROWS or group == footer.num_row_groups):
                parts.append(Part(len(parts), file, first_group, group - first_group, first_row, rows))
                first_group, first_row, rows = group, first_row + rows, 0
    if not parts:
        raise PlanError("no outputs found: the input has no rows")
    return Plan(inputs, parts, {name: rubric.hash for name, rubric in rubrics.items()}, reading, mapping)


def name_fields(columns: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the field that each column is read as.

    Raises:
        InputError: if a column of the mapping is not there, one is in the way, or there is none with outputs.
        PlanError: if a column of the mapping is a place inside another one, or would overwrite a field of the result.
    """
    names, nested = rename_columns([*columns], mapping, Wanted(needs_output=True))
    for field, column in nested.items():
        raise PlanError(f"--map {field}={column} is a place inside a column, which --engine does not enter")
    for name in names:
        if name in COVERING:
            raise PlanError(f"the column `{name}` would overwrite that of the result; rename it with --map NAME={name}")
    return dict(zip(columns, names, strict=True))


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


def find_progress(folder: Path) -> tuple[int, int] | None:
    """Return how many rows of a folder's inputs are scored and how many there are, or None if it cannot be told."""
    rows = 0
    try:
        of = sum(int(each["rows"]) for each in json.loads(read_file(str(folder / OF_ENGINE), LIMIT))["inputs"])
        for part in folder.glob("part-*.parquet"):
            with contextlib.suppress(pa.ArrowException):
                rows += pq.read_metadata(part).num_rows
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return rows, of


class Folder(AbstractContextManager["Folder"]):
    """A folder for the results of a plan, locked for other runs from `prepare` to the end of the block."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self._plan = plan
        self._lock = -1

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


_AT_ONCE = 65_536
"""The rows to score at once."""


_DEATHS = 5
"""The workers that may die while they score one part."""


class Worker:
    """A function that scores parts and writes their files into a folder; it can be pickled.

    `run` is the key of the plan. A call takes a part as a mapping and returns what it did as a mapping: a `Done`, or a
    `fault` in words. The same part always gives the same file, so a part that is scored twice counts once.
    """

    def __init__(self, score: MapBatches, folder: str, run: str, mapping: Mapping[str, str]) -> None:
        self.__name__ = "rubric_lint"  # Ray shows it
        self._score = score
        self._folder = folder
        self._run = run
        self._mapping = mapping
        self._home = Path.cwd()  # workers have another folder

    def __call__(self, row: Mapping[str, Any]) -> dict[str, str]:
        """Score a part, given as `{"part": JSON}`; return `done` as JSON or a `fault`, and the other one empty."""
        part = Part(*json.loads(row["part"]))
        file = str(self._home / part.file)
        place = Path(self._folder) / part.name
        if len([*place.parent.glob(f".{place.name}.*")]) >= _DEATHS:  # what each of them left half written
            fault = f"{part.file}: {_DEATHS} workers died while they scored {place.name}, perhaps for lack of memory"
            return {"done": "", "fault": fault}
        try:
            done = self._work(part, file, place)
        except (PlanError, WriteError) as fault:
            return {"done": "", "fault": f"{place if isinstance(fault, WriteError) else part.file}: {fault}"}
        except OSError as fault:
            return {"done": "", "fault": f"{place}: {fault.strerror or fault}"}
        return {"done": json.dumps(done._asdict()), "fault": ""}

    def _work(self, part: Part, file: str, place: Path) -> Done:
        totals = Totals([])
        rows = others = first_other = 0
        with (
            open_whole(str(place), "wb") as stream,
            pq.ParquetWriter(stream, self._score.schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for table in _read(file, part, self._mapping):
                results, batch = self._score.score(table)
                if batch.judged_otherwise:
                    first_other = first_other if others else rows + batch.judged_otherwise[0]
                    others += len(batch.judged_otherwise)
                column = results["error"].combine_chunks()
                if column.null_count < len(column):  # each error says in which row of the input it is
                    first = part.first_row + rows + 1
                    numbers = pa.array(range(first, first + len(column)), pa.int64())
                    fields = [column.field(0), column.field(1), numbers]
                    numbered = pa.StructArray.from_arrays(fields, fields=[*column.type], mask=column.is_null())
                    place = results.schema.get_field_index("error")
                    results = results.set_column(place, results.schema.field("error"), numbered)
                writer.write_table(results)
                rows += len(results)
                totals = totals + batch.totals
            if rows != part.rows:
                raise PlanError(f"has {rows} rows where its footer says {part.rows}; it changed while it was read")
            done = Done(part.number, rows, store_totals(totals), others, first_other)
            writer.add_key_value_metadata({KEY: json.dumps({"run": self._run, **done._asdict()})})
        return done


def _read(name: str, part: Part, mapping: Mapping[str, str]) -> Iterator[pa.Table]:
    """Yield the rows of a part in tables, only the columns that are read."""
    groups = range(part.first_group, part.first_group + part.groups)
    try:
        with pq.ParquetFile(name, pre_buffer=False, page_checksum_verification=True) as file:
            fields = name_fields(file.schema_arrow.names, mapping)
            columns = [column for column, field in fields.items() if field in READ]
            for batch in file.iter_batches(_AT_ONCE, row_groups=[*groups], columns=columns, use_threads=False):
                yield pa.table(batch).rename_columns([fields[name] for name in batch.schema.names])
    except (pa.ArrowException, OSError) as fault:
        told = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        told = "No such file or directory" if isinstance(fault, FileNotFoundError) else told.partition("\n")[0]
        raise PlanError(f"cannot be read: {told}") from None


_MOST_IDS = 20_000_000
"""The most rows whose ids are compared: they take nine bytes each, and a second for a million."""

_MOST_ERRORS = 100_000
"""The most invalid outputs that are described."""

_FEW = 20
"""The most outputs that a table lists one by one."""


class Review:
    """A look at the results of a plan, all of whose parts are done."""

    def __init__(self, plan: Plan, folder: Folder, done: Mapping[int, Done]) -> None:
        self._plan = plan
        self._folder = folder
        self._done = done
        self._files = [each["file"] for each in plan.inputs]

    def add_up(self, rubrics: Mapping[str, ScoringRubric]) -> Totals:
        """Return the totals of all parts."""
        parts = (restore_totals(self._done[part.number].totals, rubrics) for part in self._plan.parts)
        return sum(parts, Totals(rubrics.values()))

    def warnings(self) -> Iterator[str]:
        """Yield the warnings of `rubric-score` about the run as a whole."""
        if self._plan.rows > _MOST_IDS:
            yield (
                f"warning: repeated ids were not looked for: there are {self._plan.rows:,} outputs, and the ids of at "
                f"most {_MOST_IDS:,} are compared"
            )
        else:
            ids = Ids()
            for part in self._plan.parts:
                table = self._folder.read(part, ["id", "rubric"])
                file, line = self._files.index(part.file), part.first_row + 1
                named = zip(table["rubric"].to_pylist(), table["id"].to_pylist(), strict=True)
                keys = [None if None in each else make_key(*each) for each in named]
                known = [(number, key) for number, key in enumerate(keys, line) if key is not None]
                if len(known) == len(keys):
                    ids.add(file, line, [key for _, key in known])
                else:
                    for number, key in known:
                        ids.add(file, number, [key])
            yield from warn_of_repeated(ids, self._name)
        others = [(part, done) for part in self._plan.parts if (done := self._done[part.number]).judged_otherwise]
        if others:
            part, done = others[0]
            place = RecordPlace(self._files.index(part.file), part.first_row + done.first_otherwise + 1)
            yield warn_of_other_rubric(sum(each.judged_otherwise for _, each in others), self._name(place))

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if len(self._files) > 1 else f"line {place.line}"

    def results(self) -> Iterator[list[str]]:
        """Yield results as lines of JSON for a table: all if there are few, otherwise those of invalid outputs."""
        shown = 0
        are_few = self._plan.rows <= _FEW
        columns = ["id", "rubric", "error", *(["score", "verdict", "criteria"] if are_few else [])]
        for part in self._plan.parts:
            if not are_few and not self._done[part.number].totals["invalid"]:
                continue
            table = self._folder.read(part, columns)
            lines = []
            for row in (table if are_few else table.filter(table["error"].is_valid())).to_pylist():
                error = row.pop("error")
                written = {name: value for name, value in row.items() if value is not None}
                if error is not None:
                    written["error"] = {"file": part.file, **error} if len(self._files) > 1 else error
                lines.append(json.dumps(written))
            yield lines[: _MOST_ERRORS - shown]
            shown += len(lines)
            if shown >= _MOST_ERRORS:
                return


_REACHING = 3.0
_ANSWERING = 20.0
"""The seconds after which a cluster counts as absent: to accept a connection, and to answer."""

_ADVICE = "start it with `ray start --head`, or leave --address out to use this machine"


class EngineError(Exception):
    """A cluster that does not answer or gives up, and what to do."""


@contextmanager
def connect(address: str | None, jobs: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine with `jobs` workers (None: one for each core); leave it then.

    Raises:
        EngineError: if Ray is not installed, or the cluster does not answer.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing about the run leaves the cluster
    try:
        import ray  # noqa: PLC0415  (takes a second)
        import ray.data  # noqa: PLC0415
    except ImportError:
        raise EngineError(NEEDS_RAY) from None
    if address:
        _reach(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=jobs, include_dashboard=False, **quiet)
    except (ConnectionError, RuntimeError, ValueError, OSError) as fault:
        where = f"the cluster at {address}" if address else "a cluster on this machine"
        raise EngineError(f"{where} cannot be used: {_shorten(fault)}") from None
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what ends a run is said once, by the command
        with redirect_stdout(sys.stderr):  # where Ray says that a worker died; stdout is for the totals
            yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Look whether a cluster answers, for which Ray itself would try for minutes; raise EngineError if none does."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or "/" in address:
            raise EngineError(
                f"--address {address}: expected HOST:PORT of the head node, such as 10.0.0.1:6379, or auto"
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), _REACHING).close()
        except (OSError, OverflowError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise EngineError(f"no cluster answers at {address} ({reason}); {_ADVICE}") from None
    program = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR')"
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", program, address], capture_output=True, timeout=_ANSWERING, check=False
        )
        told, is_late = done.stderr, False
    except subprocess.TimeoutExpired as late:
        told, is_late = late.stderr or b"", True
    if b"Unauthenticated" in told:
        raise EngineError(
            f"the cluster at {address} asks for a token; set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as there"
        )
    if is_late:
        raise EngineError(f"what listens at {address} does not answer as a Ray cluster; {_ADVICE}")
    if done.returncode:
        last = told.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise EngineError(f"the cluster at {address} cannot be used: {last}")


def run_parts(parts: Sequence[Part], work: Worker) -> Iterator[Done | str]:
    """Yield what becomes of each part, in the order in which workers end: what was done, or why it cannot be.

    Ray hands the part of a worker that dies to another one, as often as that takes; `Worker` counts.

    Raises:
        EngineError: if the cluster gives up.
    """
    import ray  # noqa: PLC0415
    import ray.data  # noqa: PLC0415

    items = [{"part": json.dumps(part)} for part in parts]
    outcomes = ray.data.from_items(items, override_num_blocks=len(items)).map(work)
    try:
        for outcome in outcomes.iter_rows():
            yield outcome["fault"] or Done(**json.loads(outcome["done"]))
    except ray.exceptions.RayTaskError:
        raise  # a bug: whatever is wrong with an input comes back as a fault
    except ray.exceptions.RayError as fault:
        raise EngineError(f"the cluster gave up: {_shorten(fault)}") from None


def _shorten(fault: Exception) -> str:
    return str(fault).strip().partition("\n")[0].rstrip(".") or type(fault).__name__
