"""Score the entries of OUTPUTS: judge outputs, and records that hold them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeVar, cast

from rubric_lint.messages import find_near, join_words, list_names, point_to_known
from rubric_lint.outputs.blocks import Block
from rubric_lint.outputs.decoding import OutputError, decode_entry, keys_twice, read_entry, refuse_flaws
from rubric_lint.outputs.mapping import COVERING, HELD, RESERVED, SHOWN, fold_column
from rubric_lint.outputs.reply import explain, shorten
from rubric_lint.outputs.verdict import DEFAULT_READING, ExtraFields, Reading, read_quotable
from rubric_lint.scoring.flat import (
    NOTHING,
    OF_TABLE,
    Flat,
    find_other_flag,
    list_values,
    read_cell,
    read_flat,
    read_whole,
    unfold,
)
from rubric_lint.scoring.form import form_of
from rubric_lint.scoring.grading import JudgeOutput, ReadingNotes, Scored, ScoringRubric, combine_samples
from rubric_lint.scoring.output import JUDGEMENTS, MOST_KNOWN, Judged, Known, Reader, Seen, list_notes, render
from rubric_lint.text.path import pointer


def make_key(rubric: str, name: object) -> int:
    """Return the key for the id of a record; records of different rubrics may share an id."""
    return hash((rubric, name if type(name) is str else (repr(name),)))


class Member(NamedTuple):
    """A model of a panel, by a name that no other of the panel has, and how many of the outputs are its own.

    `models` are the models that replied, or the one that was asked if no reply says it.
    """

    name: str
    outputs: int
    models: frozenset[str]


def name_models(models: Iterable[tuple[str, str]]) -> list[str]:
    """Return a name for each model and endpoint: that of the model, with the endpoint if another model has the same."""
    models = list(models)
    named = [model for model, _ in models]
    return [model if named.count(model) == 1 else f"{model}@{endpoint}" for model, endpoint in models]


def read_panel(record: Mapping[str, Any]) -> tuple[Member, ...]:
    """Return the models of the panel that judged a record, in the order of its outputs; empty without a panel."""
    about = record.get("judge")
    listed = about.get("panel") if isinstance(about, dict) else None
    if not isinstance(listed, list) or not all(map(_is_member, listed)):
        return ()
    names = name_models((each["model"], str(each.get("endpoint", ""))) for each in listed)
    members = []
    for name, each in zip(names, listed, strict=True):
        answered = each.get("answered_by")
        models = [model for model in answered if isinstance(model, str)] if isinstance(answered, list) else []
        members.append(Member(name, each["outputs"], frozenset(models or [each["model"]])))
    return tuple(members)


def count_votes(panel: Iterable[Member]) -> int:
    """Return how many different models a panel has: one that judges twice, as at two endpoints, has one vote."""
    groups: list[frozenset[str]] = []
    for member in panel:
        same = [group for group in groups if group & member.models]
        groups = [group for group in groups if group not in same] + [member.models.union(*same)]
    return len(groups)


def _is_member(listed: Any) -> bool:
    match listed:
        case {"model": str(), "outputs": int(count)}:
            return count is not True and count is not False and count >= 0
    return False


def refuse_missing_votes(panel: tuple[Member, ...], outputs: int, path: str) -> None:
    """Refuse a record that does not have the outputs of each model of its panel.

    Raises:
        OutputError: naming the models without an output, or both numbers of outputs.
    """
    if not panel:
        return
    told = sum(member.outputs for member in panel)
    if told != outputs:
        have = "1 output" if outputs == 1 else f"{outputs} outputs"
        raise OutputError(
            f"the record has {have}, but its panel gave {told}; remove this record and judge its answer again", path
        )
    if silent := [f"`{member.name}`" for member in panel if not member.outputs]:
        raise OutputError(f"no output by {join_words(silent)}; remove this record and judge its answer again", path)


_TAKEN = RESERVED | HELD | {"id"}
"""The fields of a record that are not copied to its result."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one entry: a result, or the error that says why there is none.

    `line` is where the entry begins, `file` its file, or None if there is only one. `head` is the record's `id`, if
    any, and `rest` its other fields; both are copied to the result. `has_other_meaning` says that the judge used a
    rubric with a different meaning than the current one. `place` is where an error was found, if not here.
    """

    line: int
    file: str | None = None
    head: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    result: Scored | None = None
    error: OutputError | None = None
    has_other_meaning: bool = False
    place: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the line of results for the entry."""
        found: dict[str, Any] = dict(self.head)
        if self.result:
            return {**found, **self.result.to_json(), **self.rest}
        if self.name is not None:
            found["rubric"] = self.name
        if self.error:
            place = self.place or {**({} if self.file is None else {"file": self.file}), "line": self.line}
            found["error"] = {**place, "path": self.error.path, "message": self.error.message}
        return {**found, **self.rest}

    def render(self) -> str:
        """Return the line of results as JSON text."""
        return render(self.to_json())


class OtherVersionError(OutputError):
    """A result by another version of its rubric."""


class Entry(NamedTuple):
    """A valid entry: the object, whether it is a record around an output, and the result.

    `judged` is None if the record has several outputs; `samples` is then their median, and `notes` are of all.
    """

    value: Mapping[str, Any]
    is_record: bool
    rubric: ScoringRubric
    judged: Judged | None
    samples: Scored | None = None
    notes: Sequence[ReadingNotes] = ()

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
        is_other = self.has_other_meaning
        return Outcome(line, file, head, self.rubric.name, self.rest, self.result, has_other_meaning=is_other)


def read_judged_by(record: Mapping[str, Any]) -> str | None:
    """Return the hash of the rubric that the judge used, if a record has it."""
    about = record.get("judge")
    named = record.get("rubric_hash", about.get("rubric_hash") if isinstance(about, dict) else None)
    return named if isinstance(named, str) else None


def read_model(about: object) -> str | None:
    """Return the model that `judge` of a record names: the text itself, or its `model`."""
    model = about.get("model") if isinstance(about, Mapping) else about
    return model if isinstance(model, str) and model.strip() else None


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
    if "agentv" in record:
        from rubric_lint.outputs.agentv_runs import find_graded  # noqa: PLC0415  (few are)

        if fault := _find_fault(record):
            raise OutputError(f"no output: {fault}")
        given: Mapping[str, Any] = {key: getattr(one, "rubric", one) for key, one in rubrics.items()}
        ids = {key: {each.id for each in rubric.criteria} for key, rubric in given.items()}
        found = find_graded(record, ids)
        if len(found) == 1:
            return rubrics[found[0]]
        if found:
            raise OutputError(
                f"the grader may be any of {list_names(found)}; give each a `name` in the suite", "/rubric"
            )
    raise OutputError(f"no rubric is named `{name}`; {point_to_known(name, rubrics)}", "/rubric")


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


_PLAIN = frozenset({"id", "rubric", "output", *SHOWN})
"""The fields of a record that is in the expected form."""


class Run(NamedTuple):
    """Consecutive entries: the line of the first one, their texts, and the id and the result of each."""

    line: int
    lines: Sequence[bytes]
    found: list[Seen]


class Unclear(NamedTuple):
    """An entry that needs a second look: its line, and its text or the error that prevents reading it."""

    line: int
    text: bytes | OutputError


def _score_flat(value: dict[str, Any], reader: Reader, reading: Reading) -> Entry | None:
    """Score a record or an object with a field for each criterion; None if it has none."""
    rubric = reader.rubric
    if value.keys().isdisjoint({"id", "rubric"}) and (output := unfold(value, rubric)) is not value:
        judged = reader.read_object(output, reading)
        return Entry(value, False, rubric, judged, None, list_notes(judged))  # noqa: FBT003 (by name takes longer)
    flat = read_flat(value, rubric)
    if flat is None:
        return None
    is_result = "points" in value and "full" in value
    if all(answer is None for answer in flat.answers):
        refuse_failed(value)
    if fault := _find_fault(value):
        raise OutputError(f"invalid when it was judged: {fault}")
    whole = read_whole(flat, rubric)
    known = reader.know(whole)
    others = {name: item for name, item in value.items() if name not in flat.columns.used}
    if not is_result or read_judged_by(value) in {None, rubric.hash}:
        _refuse_other_result(value, flat, known, is_result=is_result)
    if is_result:
        others = {name: item for name, item in others.items() if name not in COVERING and name not in OF_TABLE}
    form_of(rubric.shape).check_record(others, is_single=len(rubric.criteria) == 1)
    flag = None if reading.extra_fields is ExtraFields.ACCEPT else find_other_flag(others, known.verdict)
    if flag is not None:
        found = f"`{flag}` is {read_cell(others[flag])}, but the criteria come to {known.verdict}"
        advice = "remove the wrong one; `score --extra-fields accept` passes over it"
        raise OutputError(f"{found}: {advice}", pointer((flag,)))
    extra = list_values(others)
    if extra and reading.extra_fields is ExtraFields.REFUSE:
        raise OutputError(f"unknown field `{extra[0]}` is a number or a boolean", pointer((extra[0],)))
    notes = [ReadingNotes(tuple(extra))] if extra else []
    return Entry(others, "id" in value, rubric, Judged(known, whole), None, notes)


def _refuse_other_result(record: Mapping[str, Any], flat: Flat, known: Known, *, is_result: bool) -> None:
    """Refuse a verdict or a score that does not follow from the criteria beside it; a score may be out of 1, 10 or 100.

    Raises:
        OutputError: naming both.
    """
    of_samples = "a table keeps no samples, so if it had several, name the file that `judge` wrote"
    advice = of_samples if is_result else "remove the wrong one"
    is_judged = fold_column(flat.columns.verdict or "") == "verdict"  # a `label` is of a person
    if is_judged and flat.verdict not in {None, known.verdict}:
        raise OutputError(
            f"`verdict` is {flat.verdict}, but the criteria come to {known.verdict}: {advice}", "/verdict"
        )
    score = read_cell(record.get("score"))
    if not score or score.casefold() in NOTHING or "score" in flat.columns.used:
        return
    if not _may_be_rounded(score.replace(",", ".").rstrip("% "), known.score):
        raise OutputError(f"`score` is {score}, but the criteria come to {known.score!r}: {advice}", "/score")


def _may_be_rounded(text: str, score: float) -> bool:
    """Return whether a text is a score out of 1, 10 or 100, rounded to the digits it has, or to a tenth."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        return False
    exponent = found.as_tuple().exponent
    if not isinstance(exponent, int):  # not a number, or infinite
        return False
    step = 10.0 ** min(exponent, 0) / 2
    return any(math.isclose(found, score * full, abs_tol=min(step, full / 20) + 1e-9) for full in (1, 10, 100))


class Scorer:
    """A scorer of entries for some rubrics; `only` reads outputs for the only one, and is None if there are several."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], reading: Reading = DEFAULT_READING) -> None:
        self._rubrics = rubrics
        self._readers = {name: Reader(rubric) for name, rubric in rubrics.items()}
        self.only = next(iter(self._readers.values())) if len(rubrics) == 1 else None
        self._reading = reading

    def scan(self, block: Block) -> Iterator[Run | Unclear]:
        """Yield the entries of a block: runs of records in the expected form, and each of the others, to `score`.

        Blank lines are skipped.
        """
        if isinstance(block.text, OutputError):
            yield Unclear(block.line, block.text)
            return
        for entries in self.scan_lines(block.text.split(b"\n") if block.has_lines else [block.text], block.line):
            is_blank = not isinstance(entries, Run) and isinstance(entries.text, bytes) and not entries.text.strip()
            if not (is_blank and block.has_lines):
                yield entries

    def scan_lines(self, lines: Sequence[bytes], line: int = 1) -> Iterator[Run | Unclear]:
        """Yield the entries of lines as `scan`, blank ones too; `line` is the number of the first one."""
        found, others = self.only.match_form(lines) if self.only else ([], range(len(lines)))
        first = 0
        for number, place in enumerate([*others, len(lines)]):
            if first < place:
                yield Run(line + first, lines[first:place], found[first - number : place - number])
            first = place + 1
            if place < len(lines):
                yield Unclear(line + place, lines[place])

    def score(self, text: bytes | OutputError) -> Entry:
        """Score an entry: a judge output, or a record that holds one.

        Raises:
            OutputError: if the entry is not valid; `tell` returns the details.
        """
        return self.score_value(decode_entry(text))

    def score_value(self, value: dict[str, Any]) -> Entry:
        """Score an entry that is decoded.

        Raises:
            OutputError: if the entry is not valid; `explain_value` returns the details.
        """
        if not HELD.isdisjoint(value):
            return self._score_record(value)
        is_record = not value.keys().isdisjoint({"id", "rubric"})
        if (is_record and "checks" not in value) or not any(key in value for key in JUDGEMENTS):
            reader = find_rubric(value, self._readers) if "rubric" in value or self.only else None
            if reader and (entry := _score_flat(value, reader, self._reading)):
                return entry
        refuse_failed(value)
        if is_record:
            found = ", ".join([*map(str, value)][:6])
            advice = 'expected {"id": ..., "output": {...}}'
            if isinstance(value.get("criteria"), list):
                advice = "this is a result, which is scored already; score the file that it comes from"
            raise OutputError(f"the record has no field `output` (found: {found}); {advice}")
        if not any(key in value for key in JUDGEMENTS):
            near = [key for key in value if isinstance(key, str) and find_near(key, (*HELD, *JUDGEMENTS))]
            hint = f"; is it `{near[0]}`?" if near else ""
            raise OutputError(
                f"neither a judge output nor a record: no field `output`, `outputs`, `checks` or `score`{hint}"
            )
        reader = find_rubric({}, self._readers)
        judged = reader.read_object(value, self._reading)
        return Entry(value, False, reader.rubric, judged, None, list_notes(judged))  # noqa: FBT003 (as above)

    def match_form(self, entry: Any) -> Known | None:
        """Return the result of a decoded entry or a raw text that has just the fields of the expected form, or None."""
        reader = self.only
        if type(entry) is dict and "output" in entry:
            if not entry.keys() <= _PLAIN:
                return None
            if "rubric" in entry:
                named = entry["rubric"]
                reader = self._readers.get(named) if type(named) is str else None
            entry = entry["output"]
        if reader is None:
            return None
        return reader.match_output(entry)

    def score_bare(self, output: Any) -> Judged:
        """Score a raw text or a read output by the only rubric.

        Raises:
            OutputError: if it is not a valid output for it, or there are several rubrics.
        """
        if isinstance(output, str):
            return find_rubric({}, self._readers).read(output, reading=self._reading)
        if isinstance(output, JudgeOutput):
            return Judged(find_rubric({}, self._readers).know(output), output)
        found = "null" if output is None else f"a Python value of the type {type(output).__name__}"
        raise OutputError(f"found {found}; expected a judge output: a text, bytes of JSON or an object")

    def tell(self, text: bytes | OutputError, line: int, file: str | None = None) -> Outcome:
        """Score an entry and return its full outcome."""
        try:
            return self.score(text).tell(line, file)
        except OutputError as fault:
            return self.explain(text, fault, line, file)

    def explain(self, text: bytes | OutputError, fault: OutputError, line: int, file: str | None = None) -> Outcome:
        """Read an entry again that `score` rejected, and return its outcome: this error, or the first of its JSON."""
        try:
            return self.explain_value(read_entry(text), fault, line, file)
        except OutputError as found:
            return Outcome(line, file, error=found)

    def explain_value(
        self, entry: dict[str, Any], fault: OutputError, line: int = 0, file: str | None = None
    ) -> Outcome:
        """Return the full outcome of a decoded entry that `score_value` rejected."""
        flaw = _find_flaw(entry)
        if HELD.isdisjoint(entry):
            head = {"id": entry["id"]} if "id" in entry and not flaw else {}
            return Outcome(line, file, head, error=flaw or fault)
        legible = {key: value for key, value in entry.items() if not flaw or _is_legible(entry, key)}
        head = {"id": legible["id"]} if "id" in legible else {}
        rest = {key: value for key, value in legible.items() if key not in {"id", *HELD, *RESERVED}}
        is_named = "rubric" in legible or "rubric" not in entry
        name = None
        if is_named and (flaw or COVERING.isdisjoint(entry)):
            with suppress(OutputError):
                name = find_rubric(legible, self._rubrics).name
        return Outcome(line, file, head, name, rest, error=flaw or fault)

    def _score_record(self, record: dict[str, Any]) -> Entry:
        # An `error` that is null or empty says that there is none.
        if name := next((name for name in record if name in COVERING and (name != "error" or record[name])), None):
            if not any(map(record.get, HELD)):
                refuse_failed(record)
            raise OutputError(f"the record's `{name}` would overwrite that of the result; rename it", f"/{name}")
        reader = self.only if self.only and "rubric" not in record else find_rubric(record, self._readers)
        output = record.get("output")
        fault = _find_fault(record) if "judge" in record else None
        if fault and isinstance(output, str) and not output.strip():
            raise OutputError(f"no output: {fault}")
        if fault and record["judge"].get("per_criterion"):  # the text is of one request, and no output of this rubric
            raise OutputError(f"invalid when it was judged: {fault}")
        judged = samples = None
        notes: Sequence[ReadingNotes] = ()
        if "outputs" in record:
            samples, notes = self._score_samples(reader, record)
        else:
            judged = self._read(reader, output, record)
            notes = list_notes(judged)
            if not fault and "judge" in record:
                refuse_missing_votes(read_panel(record), 1, "/output")
        if fault:  # the judge run knew more, such as how strictly to read the output
            raise OutputError(f"invalid when it was judged: {fault}")
        return Entry(record, True, reader.rubric, judged, samples, notes)  # noqa: FBT003 (by name takes longer)

    def _score_samples(self, reader: Reader, record: Mapping[str, Any]) -> tuple[Scored, Sequence[ReadingNotes]]:
        """Return the median of the outputs of a record, and what reading them passed over."""
        if "output" in record:
            raise OutputError("`output` beside `outputs`: unclear which one counts; remove one", "/outputs")
        outputs = record["outputs"]
        if not isinstance(outputs, list):
            raise OutputError(
                "`outputs` must be a list of outputs for one answer; name a single one `output`", "/outputs"
            )
        if not outputs:
            raise OutputError("`outputs` is an empty list, so there is no output to score", "/outputs")
        panel = read_panel(record)
        # The name of the model that gave each of the outputs, as far as the panel says it.
        names = chain.from_iterable(repeat(member.name, min(member.outputs, len(outputs))) for member in panel)
        models = tuple(islice(names, len(outputs)))
        given: list[Scored] = []
        notes: list[ReadingNotes] = []
        for number, output in enumerate(outputs, start=1):
            try:
                judged = self._read(reader, output, record)
                given.append(reader.rubric.grade(judged.output))
                notes += list_notes(judged)
            except OutputError as fault:
                path = f"/outputs/{number - 1}{fault.path}"
                by = f" (by `{models[number - 1]}`)" if number <= len(models) else ""
                # A judge whose first output is invalid is not asked for more.
                which = f"output {number} of {len(outputs)}{by}: " if len(outputs) > 1 or by else ""
                raise OutputError(f"{which}{fault.message}", path) from None
        if not _find_fault(record):
            refuse_missing_votes(panel, len(given), "/outputs")
        result = combine_samples(given)
        if len(models) == len(given) > 1:
            result = replace(result, models=models, votes=count_votes(panel))
        return result, notes

    def _read(self, reader: Reader, output: Any, record: Mapping[str, Any]) -> Judged:
        if not isinstance(output, str):
            return reader.read_object(output, self._reading)
        try:
            return reader.read(output, lambda: read_quotable(*map(record.get, SHOWN)), self._reading)
        except OutputError as fault:
            if not fault.path:
                raise OutputError(f"in the raw text: {fault.message}", line=fault.line) from None
            raise

    @property
    def is_full(self) -> bool:
        """Whether so many combinations of answers are stored that `reset_counts` should be called."""
        return sum(len(reader.known) for reader in self._readers.values()) > MOST_KNOWN

    def forget(self) -> None:
        """Forget the combinations of answers if there are many; their counts are not used."""
        if self.is_full:
            for reader in self._readers.values():
                reader.known.clear()

    def reset_counts(self) -> Iterator[Known]:
        """Yield the counts since the last call, and reset them; the results stay known unless there are many."""
        for reader in self._readers.values():
            for known in reader.known.values():
                if known.count:
                    yield known
                    known.count = 0
        self.forget()


def refuse_failed(record: Mapping[str, Any]) -> None:
    """Refuse a record that says in `error` why it has no output.

    Raises:
        OutputError: with that reason.
    """
    error = record.get("error")
    if not error:
        return
    message = explain(error) or (error if isinstance(error, str) else json.dumps(error, default=str))
    raise OutputError(f"a result without a score: {shorten(message)}")


def _find_fault(record: Mapping[str, Any]) -> str | None:
    """Return the error that a record reports from the judge run, if any."""
    about = record.get("judge")
    fault = about.get("fault") if isinstance(about, dict) else None
    return fault if isinstance(fault, str) else None
