"""Look at all results of a run once more, in their order: repeated ids, outputs judged by other rubrics, errors."""

import json
from collections.abc import Iterator, Mapping

from rubric_lint.engines.cluster.folder import Done, Folder
from rubric_lint.engines.cluster.plan import Part, Plan
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.ids import Ids, RecordPlace, make_key
from rubric_lint.scoring.run_warnings import warn_of_other_rubric, warn_of_repeated
from rubric_lint.scoring.stored_totals import restore_totals
from rubric_lint.scoring.totals import Totals

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
        totals = Totals(rubrics.values())
        for part in self._plan.parts:
            totals = totals + restore_totals(self._done[part.number].totals, rubrics)
        return totals

    def warnings(self) -> Iterator[str]:
        """Yield the warnings of `rubric-score` about the run as a whole."""
        if self._plan.rows > _MOST_IDS:
            yield (
                f"warning: repeated ids were not looked for: there are {self._plan.rows:,} outputs, and the ids of at "
                f"most {_MOST_IDS:,} are compared"
            )
        else:
            yield from warn_of_repeated(self._collect_ids(), self._name)
        others = [(part, done) for part in self._plan.parts if (done := self._done[part.number]).judged_otherwise]
        if others:
            part, done = others[0]
            place = RecordPlace(self._files.index(part.file), part.first_row + done.first_otherwise + 1)
            yield warn_of_other_rubric(sum(each.judged_otherwise for _, each in others), self._name(place))

    def _name(self, place: RecordPlace) -> str:
        return f"{self._files[place.file]}:{place.line}" if len(self._files) > 1 else f"line {place.line}"

    def _collect_ids(self) -> Ids:
        ids = Ids()
        for part in self._plan.parts:
            table = self._folder.read(part, ["id", "rubric"])
            keys = [
                None if name is None or rubric is None else make_key(rubric, name)
                for name, rubric in zip(table["id"].to_pylist(), table["rubric"].to_pylist(), strict=True)
            ]
            file, line = self._files.index(part.file), part.first_row + 1
            if None not in keys:
                ids.add(file, line, [key for key in keys if key is not None])
                continue
            for number, key in enumerate(keys, line):
                if key is not None:
                    ids.add(file, number, [key])
        return ids

    def results(self) -> Iterator[list[str]]:
        """Yield results as lines of JSON for a table: all if there are few, otherwise those of invalid outputs."""
        shown = 0
        has_several = len(self._files) > 1
        for part in self._plan.parts:
            if self._plan.rows > _FEW and not self._done[part.number].totals["invalid"]:
                continue
            columns = ["id", "rubric", "error", *(["score", "verdict", "criteria"] if self._plan.rows <= _FEW else [])]
            table = self._folder.read(part, columns)
            rows = table if self._plan.rows <= _FEW else table.filter(table["error"].is_valid())
            lines = [json.dumps(_write(row, part, has_several=has_several)) for row in rows.to_pylist()]
            yield lines[: _MOST_ERRORS - shown]
            shown += len(lines)
            if shown >= _MOST_ERRORS:
                return


def _write(row: dict[str, object], part: Part, *, has_several: bool) -> dict[str, object]:
    """Return a row as the command writes it."""
    error = row.pop("error")
    row = {name: value for name, value in row.items() if value is not None}
    if isinstance(error, dict):
        row["error"] = {"file": part.file, **error} if has_several else error
    return row
