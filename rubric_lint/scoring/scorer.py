"""Score the entries of OUTPUTS."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rubric_lint.outputs.candidates import Extract, read_quotable
from rubric_lint.outputs.decoding import Decoded, count_texts, decode_entry
from rubric_lint.outputs.extract import OutputError
from rubric_lint.outputs.inputs.mapping import COVERING, HELD, SHOWN
from rubric_lint.outputs.streams import Block
from rubric_lint.scoring.explain import explain, explain_value
from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric
from rubric_lint.scoring.output import MOST_KNOWN, Answers, Judged, Known, Reader, Seen
from rubric_lint.scoring.panels import count_votes, name_outputs, read_panel, refuse_missing_votes
from rubric_lint.scoring.records import Entry, Outcome, find_rubric, refuse_what_is_no_output
from rubric_lint.scoring.samples import combine_samples

_PLAIN = frozenset({"id", "rubric", "output", *SHOWN})
"""The fields of a record that a glance is enough for."""


class Run(NamedTuple):
    """Consecutive entries: the line of the first one, their texts, and the id and the result of each."""

    line: int
    lines: Sequence[bytes]
    found: list[Seen]


class Unclear(NamedTuple):
    """An entry that needs a second look: its line, and its text or the error that prevents reading it."""

    line: int
    text: bytes | OutputError


class Scorer:
    """A scorer of entries for some rubrics."""

    def __init__(self, rubrics: Mapping[str, ScoringRubric], extract: Extract = Extract.LAST) -> None:
        self._rubrics = rubrics
        self._readers = {name: Reader(rubric) for name, rubric in rubrics.items()}
        self._only = next(iter(self._readers.values())) if len(rubrics) == 1 else None
        self._extract = extract

    def scan(self, block: Block) -> Iterator[Run | Unclear]:
        """Yield the entries of a block: runs of records that a glance scores, and each of the others, to `score`.

        Blank lines are skipped.
        """
        if isinstance(block.text, OutputError):
            yield Unclear(block.line, block.text)
            return
        for entries in self.scan_lines(block.text.split(b"\n") if block.has_lines else [block.text], block.line):
            if isinstance(entries, Run) or not (block.has_lines and _is_blank(entries.text)):
                yield entries

    def scan_lines(self, lines: Sequence[bytes], line: int = 1) -> Iterator[Run | Unclear]:
        """Yield the entries of lines as `scan`, blank ones too; `line` is the number of the first one."""
        found, others = self._only.glance(lines) if self._only else ([], range(len(lines)))
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
        return self._score(decode_entry(text))

    def score_value(self, value: dict[str, Any]) -> Entry:
        """Score an entry that is decoded.

        Raises:
            OutputError: if the entry is not valid; `explain_value` returns the details.
        """
        return self._score(Decoded(value, has_halves=False))

    def glance(self, entry: Any) -> Known | None:
        """Return the result of a decoded entry or a raw text that has just the fields of the expected form, or None."""
        reader = self._only
        if type(entry) is dict and "output" in entry:
            if not entry.keys() <= _PLAIN:
                return None
            if "rubric" in entry:
                named = entry["rubric"]
                reader = self._readers.get(named) if type(named) is str else None
            entry = entry["output"]
        if reader is None:
            return None
        return reader.glance_text(entry) if type(entry) is str else reader.glance_value(entry)

    @property
    def only(self) -> ScoringRubric | None:
        """The only rubric, or None if there are several."""
        return self._only.rubric if self._only else None

    def look_up(self, answers: Answers | None) -> Known | None:
        """Return the result of some answers by the only rubric; None if it does not allow them."""
        try:
            return self._only.find(answers) if self._only and answers else None
        except KeyError:
            return None

    def score_text(self, text: str) -> Known:
        """Score a raw text by the only rubric.

        Raises:
            OutputError: if it has no valid output, or there are several rubrics.
        """
        return find_rubric({}, self._readers).read(text, extract=self._extract).known

    def score_output(self, output: JudgeOutput) -> Known:
        """Score a read output by the only rubric.

        Raises:
            OutputError: if it is not an output for it, or there are several rubrics.
        """
        return find_rubric({}, self._readers).know(output)

    def _score(self, decoded: Decoded) -> Entry:
        value = decoded.value
        if not HELD.isdisjoint(value):
            return self._score_record(decoded)
        refuse_what_is_no_output(value)
        reader = find_rubric({}, self._readers)
        judged = reader.read_object(value, has_halves=decoded.has_halves)
        decoded.settle(judged.texts)
        return Entry(value, False, reader.rubric, judged)  # noqa: FBT003 (by name takes longer)

    def tell(self, text: bytes | OutputError, line: int, file: str | None = None) -> Outcome:
        """Score an entry and return its full outcome."""
        try:
            return self.score(text).tell(line, file)
        except OutputError as fault:
            return self.explain(text, fault, line, file)

    def explain(self, text: bytes | OutputError, fault: OutputError, line: int, file: str | None = None) -> Outcome:
        """Read an entry again that `score` rejected, and return its full outcome."""
        return explain(text, fault, self._rubrics, line, file)

    def explain_value(self, value: dict[str, Any], fault: OutputError) -> Outcome:
        """Return the full outcome of a decoded entry that `score_value` rejected."""
        return explain_value(value, fault, self._rubrics)

    def _score_record(self, decoded: Decoded) -> Entry:
        record = decoded.value
        texts = len(record)
        for name, item in record.items():
            if name in HELD:
                continue
            if name in COVERING:
                raise OutputError(f"the record's `{name}` would overwrite that of the result; rename it", f"/{name}")
            texts += 1 if type(item) is str else count_texts(item)
        reader = self._only if self._only and "rubric" not in record else find_rubric(record, self._readers)
        output = record.get("output")
        fault = _find_fault(record) if "judge" in record else None
        if fault and isinstance(output, str) and not output.strip():
            raise OutputError(f"no output: {fault}")
        if fault and record["judge"].get("per_criterion"):  # the text is of one request, and no output of this rubric
            raise OutputError(f"invalid when it was judged: {fault}")
        judged = samples = None
        if "outputs" in record:
            samples = self._score_samples(reader, decoded)
            texts += count_texts(record["outputs"])
        else:
            judged = self._read(reader, output, decoded)
            texts += judged.texts
            if not fault and "judge" in record:
                refuse_missing_votes(read_panel(record), 1, "/output")
        if fault:  # the judge run knew more, such as how strictly to read the output
            raise OutputError(f"invalid when it was judged: {fault}")
        decoded.settle(texts)
        return Entry(record, True, reader.rubric, judged, samples)  # noqa: FBT003 (by name takes longer)

    def _score_samples(self, reader: Reader, decoded: Decoded) -> Scored:
        """Return the median of the outputs of a record."""
        record = decoded.value
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
        models = name_outputs(panel, len(outputs))
        given: list[Scored] = []
        for number, output in enumerate(outputs, start=1):
            try:
                given.append(reader.rubric.grade(self._read(reader, output, decoded).output))
            except OutputError as fault:
                path = f"/outputs/{number - 1}{fault.path}"
                by = f" (by `{models[number - 1]}`)" if number <= len(models) else ""
                raise OutputError(f"output {number} of {len(outputs)}{by}: {fault.message}", path) from None
        if not _find_fault(record):
            refuse_missing_votes(panel, len(given), "/outputs")
        result = combine_samples(given)
        return replace(result, models=models, votes=count_votes(panel)) if len(models) == len(given) > 1 else result

    def _read(self, reader: Reader, output: Any, decoded: Decoded) -> Judged:
        if not isinstance(output, str):
            return reader.read_object(output, has_halves=decoded.has_halves)
        try:
            return reader.read(output, read_quotable(*map(decoded.value.get, SHOWN)), self._extract)
        except OutputError as fault:
            if not fault.path:
                raise OutputError(f"in the raw text: {fault.message}", line=fault.line) from None
            raise

    @property
    def is_full(self) -> bool:
        """Whether so many combinations of answers are stored that `take_counts` should be called."""
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

    def take_counts(self) -> Iterator[Known]:
        """Yield the counts since the last call, and reset them."""
        for reader in self._readers.values():
            for known in reader.known.values():
                if known.count:
                    yield known
            reader.known.clear()


def _is_blank(text: bytes | OutputError) -> bool:
    return isinstance(text, bytes) and (not text or text.isspace())


def _find_fault(record: Mapping[str, Any]) -> str | None:
    """Return the error that a record reports from the judge run, if any."""
    about = record.get("judge")
    fault = about.get("fault") if isinstance(about, dict) else None
    return fault if isinstance(fault, str) else None


def score_entry(
    text: bytes | OutputError,
    rubrics: Mapping[str, ScoringRubric],
    line: int,
    file: str | None = None,
    extract: Extract = Extract.LAST,
) -> Outcome:
    """Score one entry: a judge output, or a record that holds one."""
    return Scorer(rubrics, extract).tell(text, line, file)
