"""Read the fields of records in OUTPUTS, and describe the outcome of each record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

from rubric_lint.messages import find_near, list_names, point_to_known
from rubric_lint.outputs.extract import OutputError
from rubric_lint.outputs.inputs.mapping import HELD, RESERVED
from rubric_lint.scoring.grading import Scored, ScoringRubric
from rubric_lint.scoring.ids import make_key
from rubric_lint.scoring.output import Judged, render

_JUDGEMENTS = ("checks", "score")
_TAKEN = RESERVED | HELD | {"id"}
"""The fields of a record that are not copied to its result."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one entry: a result, or the error that says why there is none.

    `line` is where the entry begins, `file` its file, or None if there is only one. `head` is the record's `id`, if
    any, and `rest` its other fields; both are copied to the result. `judged_by` is the hash of the rubric that the
    judge used, if the record says it. `text` is the line of results, if there is one.
    """

    line: int
    file: str | None = None
    head: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    result: Scored | None = None
    error: OutputError | None = None
    judged_by: str | None = None
    text: str | None = None

    @property
    def has_other_meaning(self) -> bool:
        """Whether the judge used a rubric with a different meaning than the current one."""
        return self.result is not None and self.judged_by not in (None, self.result.rubric.hash)

    def to_json(self) -> dict[str, Any]:
        """Return the line of results for the entry."""
        found: dict[str, Any] = dict(self.head)
        if self.result:
            return {**found, **self.result.to_json(), **self.rest}
        if self.name is not None:
            found["rubric"] = self.name
        place = {"line": self.line} if self.file is None else {"file": self.file, "line": self.line}
        if self.error:
            found["error"] = {**place, "path": self.error.path, "message": self.error.message}
        return {**found, **self.rest}

    def render(self) -> str:
        """Return the line of results as JSON text."""
        return render(self.to_json()) if self.text is None else self.text


class OtherVersionError(OutputError):
    """A result by another version of its rubric."""


class Entry(NamedTuple):
    """A valid entry: the object, whether it is a record around an output, and the result.

    `judged` is None if the record has several outputs; `samples` is then their median.
    """

    value: Mapping[str, Any]
    is_record: bool
    rubric: ScoringRubric
    judged: Judged | None
    samples: Scored | None = None

    def render(self) -> str:
        """Return the line of results for the entry as JSON text."""
        value, judged = self.value, self.judged
        text = judged.known.text if judged else render(self.result.to_json())[1:-1]
        if not self.is_record:
            return f"{{{text}}}"
        head = f'"id": {render(value["id"])}, ' if "id" in value else ""
        rest = self.rest
        return f"{{{head}{text}, {render(rest)[1:-1]}}}" if rest else f"{{{head}{text}}}"

    @property
    def result(self) -> Scored:
        """The full result."""
        return self.rubric.grade(self.judged.output) if self.judged else cast("Scored", self.samples)

    @property
    def key(self) -> int | None:
        """The key for its id, or None without one."""
        return make_key(self.rubric.name, self.value["id"]) if self.is_record and "id" in self.value else None

    @property
    def rest(self) -> dict[str, Any]:
        """The fields that are copied to the result."""
        return {key: value for key, value in self.value.items() if key not in _TAKEN} if self.is_record else {}

    @property
    def has_other_meaning(self) -> bool:
        """Whether the judge used a rubric with a different meaning than the current one."""
        value = self.value
        is_told = self.is_record and ("judge" in value or "rubric_hash" in value)
        return is_told and read_judged_by(value) not in (None, self.rubric.hash)

    def tell(self, line: int, file: str | None = None) -> Outcome:
        """Return the full outcome of the entry."""
        value = self.value
        if not self.is_record:
            return Outcome(line, file, result=self.result)
        head = {"id": value["id"]} if "id" in value else {}
        return Outcome(line, file, head, self.rubric.name, self.rest, self.result, judged_by=read_judged_by(value))


def read_judged_by(record: Mapping[str, Any]) -> str | None:
    """Return the hash of the rubric that the judge used, if a record has it."""
    about = record.get("judge")
    named = record.get("rubric_hash", about.get("rubric_hash") if isinstance(about, dict) else None)
    return named if isinstance(named, str) else None


def refuse_what_is_no_output(entry: Mapping[str, Any]) -> None:
    """Raise an error for an object that neither contains an output nor looks like one.

    Raises:
        OutputError: listing the fields that it has.
    """
    if "id" in entry or "rubric" in entry:
        found = ", ".join([*map(str, entry)][:6])
        advice = 'expected {"id": ..., "output": {...}}'
        raise OutputError(f"the record has no field `output` (found: {found}); {advice}")
    if not any(key in entry for key in _JUDGEMENTS):
        near = [key for key in entry if isinstance(key, str) and find_near(key, (*HELD, *_JUDGEMENTS))]
        hint = f"; is it `{near[0]}`?" if near else ""
        raise OutputError(
            f"neither a judge output nor a record: no field `output`, `outputs`, `checks` or `score`{hint}"
        )


Named = TypeVar("Named")


def find_rubric(record: Mapping[str, Any], rubrics: Mapping[str, Named]) -> Named:
    """Return the value for the rubric that a record names, or for the only rubric.

    Raises:
        OutputError: if the record does not name one of several rubrics.
    """
    if "rubric" not in record:
        if len(rubrics) == 1:
            return next(iter(rubrics.values()))
        known = list_names(rubrics)
        raise OutputError(f"the record does not say which rubric; name it in `rubric`: {known}", "/rubric")
    name = record["rubric"]
    if not isinstance(name, str):
        raise OutputError("`rubric` must be a string: the name of a rubric", "/rubric")
    if name in rubrics:
        return rubrics[name]
    raise OutputError(f"no rubric is named `{name}`; {point_to_known(name, rubrics)}", "/rubric")
