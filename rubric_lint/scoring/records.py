"""From the entries of OUTPUTS to results: the slow way, which finds words for everything that is wrong."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rubric_lint.near import find_near, point_to_known
from rubric_lint.scoring.candidates import Extract, read_quotable
from rubric_lint.scoring.extract import OutputError, decode_with_flaws, keys_twice, refuse_flaws
from rubric_lint.scoring.grading import Scored, ScoringRubric
from rubric_lint.scoring.output import read_output
from rubric_lint.scoring.samples import combine
from rubric_lint.wording import list_names

RESERVED = frozenset({"rubric", "rubric_hash", "shape", "score", "verdict", "verdicts", "stable", "criteria", "error"})
"""The fields of a result, which no field of a record may cover."""

_JUDGEMENTS = ("checks", "score")
_HELD = frozenset({"output", "outputs"})
"""The fields of a record that hold what a judge returned, once or several times for one answer."""

SHOWN = ("answer", "question", "reference")
"""The fields of a record that hold what the judge was shown; an object in them is no verdict."""

_UNNAMED = object()
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one entry: a result, or the error that says why there is none.

    `line` is where the entry begins, `file` what it came from, None where there is but one. `head` is the record's
    `id`, if it has one, and `rest` its other fields, both to be carried through. `judged_by` is the hash of the rubric
    that the judge was told, where the record says it.
    """

    line: int
    file: str | None = None
    head: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    result: Scored | None = None
    error: OutputError | None = None
    judged_by: str | None = None

    @property
    def has_other_meaning(self) -> bool:
        """Whether the judge was told another meaning of the rubric than the one that scores now."""
        return self.result is not None and self.judged_by not in (None, self.result.rubric.hash)

    def to_json(self) -> dict[str, Any]:
        """The line of results that stands for the entry."""
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
        """The same as JSON in one line."""
        return json.dumps(self.to_json(), ensure_ascii=False)


def score_entry(
    text: bytes | OutputError,
    rubrics: Mapping[str, ScoringRubric],
    line: int,
    file: str | None = None,
    extract: Extract = Extract.STANDARD,
) -> Outcome:
    """Score one entry: a judge output, or a record that holds one."""
    head: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    name: str | None = None
    try:
        entry = _read_entry(text)
        if _HELD.isdisjoint(entry):
            refuse_flaws(entry)
            head = {"id": entry["id"]} if "id" in entry else {}
            _refuse_what_is_no_output(entry)
            return Outcome(line, file, result=_score(entry, _find_rubric(_UNNAMED, rubrics)))
        flaw = _find_flaw(entry)
        legible = {key: value for key, value in entry.items() if not flaw or _is_legible(entry, key)}
        head = {"id": legible["id"]} if "id" in legible else {}
        others = {key: value for key, value in legible.items() if key not in {"id", "rubric", *_HELD}}
        rest = {key: value for key, value in others.items() if key not in RESERVED}
        if flaw:
            name = _name_rubric(entry, legible, rubrics)
            raise flaw
        _refuse_covered(key for key in others if key in RESERVED and key != "rubric_hash")
        rubric = _find_rubric(entry.get("rubric", _UNNAMED), rubrics)
        name = rubric.name
        result = _score_record(entry, rubric, extract)
        return Outcome(line, file, head, name, rest, result, judged_by=read_judged_by(entry))
    except OutputError as fault:
        return Outcome(line, file, head, name, rest, error=fault)


def read_judged_by(record: Mapping[str, Any]) -> str | None:
    """Return the hash of the rubric that a judge was told, as a record says it."""
    about = record.get("judge")
    named = record.get("rubric_hash", about.get("rubric_hash") if isinstance(about, dict) else None)
    return named if isinstance(named, str) else None


def _find_flaw(entry: dict[str, Any]) -> OutputError | None:
    """What the record has that is not JSON; a place within the judge output is told as from there."""
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


def _name_rubric(
    entry: Mapping[str, Any], legible: Mapping[str, Any], rubrics: Mapping[str, ScoringRubric]
) -> str | None:
    """The name of the rubric of a record with a flaw, where it can be told."""
    if "rubric" in entry and "rubric" not in legible:
        return None
    try:
        return _find_rubric(legible.get("rubric", _UNNAMED), rubrics).name
    except OutputError:
        return None


def _read_entry(text: bytes | OutputError) -> dict[str, Any]:
    if isinstance(text, OutputError):
        raise text
    try:
        decoded = text.decode()
    except UnicodeDecodeError as fault:
        column = len(text[: fault.start].decode()) + 1
        raise OutputError(f"byte {text[fault.start]:02x} at column {column} is not UTF-8") from None
    body = decoded.strip(_BLANK)
    value, end = decode_with_flaws(body)
    if end < len(body):
        raise OutputError(f"more text behind the JSON value, at column {end + 1}; expected one entry a line")
    if not isinstance(value, dict):
        raise OutputError("expected an object, a judge output or a record that holds one")
    return value


def _refuse_covered(names: Iterable[str]) -> None:
    for name in names:
        raise OutputError(f"the record's `{name}` would cover that of the result; give it another name", f"/{name}")


def _refuse_what_is_no_output(entry: Mapping[str, Any]) -> None:
    if "id" in entry or "rubric" in entry:
        found = ", ".join([*entry][:6])
        advice = 'expected {"id": ..., "output": {...}}'
        raise OutputError(f"the record has no field `output` (found: {found}); {advice}")
    if not any(key in entry for key in _JUDGEMENTS):
        near = [key for key in entry if find_near(key, (*_HELD, *_JUDGEMENTS))]
        hint = f"; is it `{near[0]}`?" if near else ""
        raise OutputError(
            f"neither a judge output nor a record: no field `output`, `outputs`, `checks` or `score`{hint}"
        )


def _find_rubric(name: Any, rubrics: Mapping[str, ScoringRubric]) -> ScoringRubric:
    if name is _UNNAMED and len(rubrics) == 1:
        return next(iter(rubrics.values()))
    if name is _UNNAMED:
        known = list_names(rubrics)
        raise OutputError(f"the record does not say which rubric; name it in `rubric`: {known}", "/rubric")
    if not isinstance(name, str):
        raise OutputError("`rubric` is no text; expected the name of a rubric", "/rubric")
    if name in rubrics:
        return rubrics[name]
    raise OutputError(f"no rubric is named `{name}`; {point_to_known(name, rubrics)}", "/rubric")


def _score_record(entry: Mapping[str, Any], rubric: ScoringRubric, extract: Extract) -> Scored:
    result = _score_held(entry, rubric, extract)
    match entry:
        case {"judge": {"fault": str() as fault}}:  # the judge run knew more, such as how strictly to read the text
            raise OutputError(f"invalid when it was judged: {fault}")
    return result


def _score_held(entry: Mapping[str, Any], rubric: ScoringRubric, extract: Extract) -> Scored:
    answer = read_quotable(*map(entry.get, SHOWN))
    match entry:
        case {"output": str() as output, "judge": {"fault": str() as fault}} if not output.strip():
            raise OutputError(f"no output: {fault}")
    if "outputs" not in entry:
        return _score(entry["output"], rubric, answer, extract)
    if "output" in entry:
        raise OutputError("`output` beside `outputs`: it is open which of them counts; leave one out", "/outputs")
    outputs = entry["outputs"]
    if not isinstance(outputs, list) or not outputs:
        raise OutputError("`outputs` must be a list of outputs for one answer; name a single one `output`", "/outputs")
    samples: list[Scored] = []
    for number, output in enumerate(outputs, start=1):
        try:
            samples.append(_score(output, rubric, answer, extract))
        except OutputError as fault:
            path = f"/outputs/{number - 1}{fault.path}"
            raise OutputError(f"output {number} of {len(outputs)}: {fault.message}", path) from None
    return combine(samples)


def _score(output: Any, rubric: ScoringRubric, answer: str = "", extract: Extract = Extract.STANDARD) -> Scored:
    try:
        return rubric.grade(read_output(output, rubric, answer=answer, extract=extract))
    except OutputError as fault:
        if isinstance(output, str) and not fault.path:
            raise OutputError(f"in the raw text: {fault.message}", line=fault.line) from None
        raise
