"""Read a refused entry again, to report its id and rubric besides the error."""

from collections.abc import Mapping
from typing import Any

from rubric_lint.outputs.decoding import read_again
from rubric_lint.outputs.extract import OutputError, keys_twice, refuse_flaws
from rubric_lint.outputs.inputs.mapping import COVERING, HELD, RESERVED
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.records import Outcome, find_rubric


def explain(
    text: bytes | OutputError,
    fault: OutputError,
    rubrics: Mapping[str, ScoringRubric],
    line: int,
    file: str | None = None,
) -> Outcome:
    """Return the outcome of a refused entry: this error, or the first value that is not valid JSON."""
    try:
        entry, is_sound = read_again(text)
    except OutputError as found:
        return Outcome(line, file, error=found)
    return _explain(entry, fault, None if is_sound else _find_flaw(entry), rubrics, line=line, file=file)


def explain_value(entry: dict[str, Any], fault: OutputError, rubrics: Mapping[str, ScoringRubric]) -> Outcome:
    """Return the outcome of a refused entry that is decoded."""
    return _explain(entry, fault, _find_flaw(entry), rubrics)


def _explain(
    entry: dict[str, Any],
    fault: OutputError,
    flaw: OutputError | None,
    rubrics: Mapping[str, ScoringRubric],
    *,
    line: int = 0,
    file: str | None = None,
) -> Outcome:
    if HELD.isdisjoint(entry):
        head = {"id": entry["id"]} if "id" in entry and not flaw else {}
        return Outcome(line, file, head, error=flaw or fault)
    legible = {key: value for key, value in entry.items() if not flaw or _is_legible(entry, key)}
    head = {"id": legible["id"]} if "id" in legible else {}
    rest = {key: value for key, value in legible.items() if key not in {"id", *HELD, *RESERVED}}
    is_named = "rubric" in legible or "rubric" not in entry
    name = _name_rubric(legible, rubrics) if is_named and (flaw or COVERING.isdisjoint(entry)) else None
    return Outcome(line, file, head, name, rest, error=flaw or fault)


def _name_rubric(record: Mapping[str, Any], rubrics: Mapping[str, ScoringRubric]) -> str | None:
    """Return the name of the rubric of a record, or None if it is unknown."""
    try:
        return find_rubric(record, rubrics).name
    except OutputError:
        return None


def _find_flaw(entry: dict[str, Any]) -> OutputError | None:
    """Return the first error in the record that is not valid JSON; paths within the judge output start there."""
    try:
        refuse_flaws(entry)
    except OutputError as fault:
        if "output" not in keys_twice(entry) and f"{fault.path}/".startswith("/output/"):
            return OutputError(fault.message, fault.path.removeprefix("/output"))
        return fault
    return None


def _is_legible(entry: dict[str, Any], key: str) -> bool:
    try:
        refuse_flaws(entry[key])
    except OutputError:
        return False
    return key not in keys_twice(entry)
