"""Collect the results of many outputs: for each row, its id and which of the known results it has."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.engines.batch.items import Items, Plain, is_null
from rubric_lint.engines.batch.portions import Portion
from rubric_lint.engines.batch.rows import Invalid, Kind, RowError, Rows
from rubric_lint.engines.batch.scored import ScoredBatch
from rubric_lint.outputs.extract import OutputError
from rubric_lint.outputs.streams import Block
from rubric_lint.outputs.struct import read_struct
from rubric_lint.scoring.grading import JudgeOutput, ScoringRubric
from rubric_lint.scoring.output import Known, know_median
from rubric_lint.scoring.records import Entry, Outcome
from rubric_lint.scoring.scorer import Run, Scorer


class Collector:
    """A collector of rows; its length is the number of those not yet taken."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], scorer: Scorer) -> None:
        self._rubrics = rubrics
        self._only = next(iter(rubrics)) if len(rubrics) == 1 else None
        self._scorer = scorer
        self._rows = Rows()
        self._invalid: dict[str | None, Invalid] = {}

    def __len__(self) -> int:
        return len(self._rows.kinds)

    def add(self, portion: Portion) -> None:
        """Score a portion of outputs."""
        self._scorer.forget()
        if isinstance(portion, Block):
            for entries in self._scorer.scan(portion):
                if isinstance(entries, Run):
                    self._add_run(entries)
                else:
                    self._add_entry(entries.text, entries.line)
            return
        self._rows.id_type = portion.id_type
        if not isinstance(portion, Items):
            self._add_plain(portion)
            return
        items = portion.items
        if all(type(item) is bytes for item in items):
            for entries in self._scorer.scan_lines(items):
                if isinstance(entries, Run):
                    self._add_run(entries)
                else:
                    self._add_entry(entries.text)
            return
        for item in items:
            self._add_item(item)

    def take(self, rows: int) -> ScoredBatch:
        """Return the first rows, and forget them."""
        return ScoredBatch(self._rubrics, self._rows.take(rows))

    def _add_run(self, run: Run) -> None:
        self._rows.ids += [name for name, _ in run.found]
        self._rows.kinds += [known for _, known in run.found]

    def _add(self, name: Any, kind: Kind) -> None:
        self._rows.ids.append(name)
        self._rows.kinds.append(kind)

    def _add_plain(self, portion: Plain) -> None:
        """Add records by their columns, and what needs a second look one by one."""
        found = portion.glance(self._scorer)
        others = [place for place, known in enumerate(found) if known is None]
        done = 0
        for place, record in zip(others, portion.gather(others), strict=True):
            self._rows.ids += portion.ids[done:place]
            self._rows.kinds += [known for known in found[done:place] if known]
            self._add_value(record)
            done = place + 1
        self._rows.ids += portion.ids[done:]
        self._rows.kinds += [known for known in found[done:] if known]

    def _add_entry(self, text: bytes | OutputError, line: int | None = None) -> None:
        """Add one entry of JSON; `line` is where it begins, if it is in a file."""
        try:
            self._add_scored(self._scorer.score(text))
        except OutputError as fault:
            self._refuse(self._scorer.explain(text, fault, line or 0), line)

    def _add_item(self, item: Any) -> None:
        """Add an output of any form."""
        if known := self._scorer.glance(item):
            self._add(item.get("id") if type(item) is dict else None, known)
            return
        item = _simplify(item)
        if isinstance(item, bytes):
            self._add_entry(item)
            return
        if isinstance(item, dict):
            self._add_value(item)
            return
        try:
            self._add(None, self._score_item(item))
        except OutputError as fault:
            self._refuse(Outcome(0, name=self._only, error=fault))

    def _score_item(self, item: Any) -> Known:
        if isinstance(item, str):
            return self._scorer.score_text(item)
        if isinstance(item, JudgeOutput):
            return self._scorer.score_output(item)
        found = "null" if item is None else f"a Python value of the type {type(item).__name__}"
        raise OutputError(f"found {found}; expected a judge output: a text, bytes of JSON or an object")

    def _add_value(self, value: dict[str, Any]) -> None:
        """Add a decoded entry."""
        try:
            value = read_struct({name: item for name, item in value.items() if not is_null(item)})
        except OutputError as fault:  # the rest is not read again: it may hold itself
            flat = {name: None if isinstance(item, list | dict) else item for name, item in value.items()}
            self._refuse(self._scorer.explain_value(flat, fault))
            return
        try:
            for name, item in value.items():
                if name != "id" and isinstance(item, bytes):
                    value[name] = _decode(item, name)
            self._add_scored(self._scorer.score_value(value))
        except OutputError as fault:
            self._refuse(self._scorer.explain_value(value, fault))

    def _add_scored(self, entry: Entry) -> None:
        row = len(self)
        if entry.has_other_meaning:
            self._rows.judged_otherwise.append(row)
        if entry.judged:
            known = entry.judged.known
        else:
            known = know_median(entry.result)
            self._rows.medians[row] = entry.result
        self._add(entry.value.get("id") if entry.is_record else None, known)

    def _refuse(self, outcome: Outcome, line: int | None = None) -> None:
        """Add the row of an invalid output."""
        fault = outcome.error or OutputError("invalid")
        self._rows.errors[len(self._rows.kinds)] = RowError(fault.message, fault.path, line)
        invalid = self._invalid.setdefault(outcome.name, Invalid(outcome.name))
        self._add(outcome.head.get("id"), invalid)


def _simplify(item: Any) -> Any:
    """Convert an item of other libraries to a plain one: a row to a dictionary, a scalar to its value."""
    if isinstance(item, Mapping):
        return item if type(item) is dict else dict(item)
    for name in ("as_py", "to_dict", "_asdict", "model_dump"):  # of Arrow, pandas, a named tuple, pydantic
        if callable(convert := getattr(item, name, None)):
            return convert()
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    return None if is_null(item) else item


def _decode(text: bytes, name: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as fault:
        raise OutputError(f"byte {text[fault.start]:02x} at offset {fault.start} is not UTF-8", f"/{name}") from None
