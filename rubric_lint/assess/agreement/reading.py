"""Read results and labels, and sort out what cannot be compared, each with its reason."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.analysis import LABEL
from rubric_lint.assess.agreement.label_scale import EVERYBODY, LabelScales, rescale
from rubric_lint.assess.agreement.left_out import (
    NO_ANSWER,
    NO_ID,
    NO_JUDGE,
    NO_OUTPUT,
    NO_RATER,
    NO_RESULT,
    NO_VERDICT,
    NO_ZEROS,
    NOTHING_APPLIES,
    OTHER_ANSWER,
    OTHER_MEANING,
    OTHER_RUBRIC,
    OTHER_TEXT,
    OTHER_TYPE,
    SEVERAL_VERSIONS,
    SKIPPED,
    TWICE,
    UNKNOWN_CHOICE,
    UNKNOWN_SHEET,
    WAYS,
    InvalidRecord,
    LeftOut,
)
from rubric_lint.assess.agreement.raters import RaterSource, find_source, name_raters, read_rater
from rubric_lint.assess.agreement.ratings import (
    Judgement,
    Judgements,
    Outputs,
    Ratings,
    combine_records,
    find_middle,
    known_reasons,
    sort_keys,
)
from rubric_lint.assess.agreement.units import AnswerContext, read_context
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.model.messages import counted, join_words, list_names, pluralize, point_to_known
from rubric_lint.scoring.flat import OF_TABLE, SheetRow, list_fields, read_sheet_row, require_judgements
from rubric_lint.scoring.grading import (
    NOT_APPLICABLE,
    AnswerValue,
    Grade,
    JudgeOutput,
    NothingAppliesError,
    Prospects,
    Scored,
    ScoringRubric,
    Verdict,
    combine_samples,
    is_unscored,
)
from rubric_lint.scoring.ids import Key, RecordId, find_id, make_id_key, name_key
from rubric_lint.scoring.output import JUDGEMENTS, RecordResult, read_judged_by
from rubric_lint.scoring.records.decoding import OutputError, decode_entry, place_in_output
from rubric_lint.scoring.records.entries import RawRecord, SkippedSheet
from rubric_lint.scoring.records.mapping import (
    CRITERIA,
    CRITERION,
    HUMAN,
    OUTPUT_FIELDS,
    OVERWRITING_FIELDS,
    RECORD_FIELDS,
    SHEET,
    fold_column,
    has_side,
)
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, ParseOptions
from rubric_lint.scoring.records.streams import PLAIN, StreamOptions, read_entries
from rubric_lint.scoring.scorer import Scorer, find_rubric, lacks_output
from rubric_lint.scoring.totals import ReadingTotals
from rubric_lint.source.source import stem_of
from rubric_lint.source.values import as_mapping

LABEL_FIELDS = frozenset({*RECORD_FIELDS, SHEET, "rater", "chosen", "verdict", "label"})
"""The fields of a label besides its criteria; a criterion with such a name has a column `criteria.NAME`."""

_FIRST_IDS = 3
"""The ids to show of results and of labels of which none is of the same answer."""


class UnusableRatingsError(Exception):
    """Results and labels from which nothing can be computed; the message says what is missing."""


class _RatedRecord(NamedTuple):
    """A record that counts: who judged which answer, and the judgement.

    `text` and `question` are those of the answer, if the record has them, and `version` the hash of its rubric.
    `invalid` is its number among the invalid records, if it is one.
    """

    source: RaterSource
    rubric: ScoringRubric
    key: Key
    file: str
    line: int
    judgement: Judgement
    chosen: LabelSelection | None = None
    is_of_sheet: bool = False
    text: str | None = None
    question: str | None = None
    version: str | None = None
    invalid: int | None = None

    def with_texts(self, record: Mapping[str, Any]) -> "_RatedRecord":
        """Return this with the texts of its answer in the record."""
        return self._replace(text=bare_text(record.get("answer")), question=bare_text(record.get("question")))

    @property
    def is_valid(self) -> bool:
        """Whether at least one of its outputs is valid."""
        return any(output is not None for output in self.judgement.recorded)

    @property
    def has_other_meaning(self) -> bool:
        """Whether who judged used a rubric with a different meaning than the current one."""
        return self.version not in {None, self.rubric.hash}

    @property
    def at(self) -> RecordId:
        """The rubric and the id by which it is joined."""
        return self.rubric.name, self.key

    @property
    def place(self) -> str:
        """The record as messages name it."""
        return f"{self.file}:{self.line} ({name_key(self.key)})"


_UNREAD = "?"
"""Stands for an output that cannot be read."""

_NO_ID = (None, "")


class RatingReader:
    """A reader of results and labels for the rubrics of a file."""

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        reading: ParseOptions = DEFAULT_OPTIONS,
        *,
        any_version: bool = False,
        label_scales: LabelScales = MappingProxyType({}),
        among: Collection[Key] = (),
        mapping: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Read for these rubrics; if answers are known by their ids `among`, a label of none of them is left out.

        `mapping` has the columns of fields, by the side that they are of; they do not group answers.
        """
        self._among = frozenset(among)
        self.invalid: list[InvalidRecord] = []
        self.passed_over = ReadingTotals()
        self._label_scales = label_scales
        self._about: dict[str, dict[Key, AnswerContext]] = {name: {} for name in rubrics}
        self._failed: dict[str, dict[RaterSource, dict[Key, Outputs]]] = {}
        known = {criterion.id for rubric in rubrics.values() for criterion in rubric.criteria}
        known |= list_fields(rubrics.values()) | OVERWRITING_FIELDS | LABEL_FIELDS
        self._known_fields = frozenset(known | {"checks", "reasoning", "overall_reasoning", *mapping.values()})
        self._of_people = {field.removeprefix(f"{HUMAN}.") for field in mapping if has_side([field], HUMAN)}
        self._files_of_results = set[str]()
        self._rubrics = rubrics
        self._scorer = Scorer(rubrics, reading)
        self._any_version = any_version
        self._left_out: dict[str, LeftOut] = {}
        self._results: list[_RatedRecord] = []
        self._judges: list[_RatedRecord] = []
        self._people: list[_RatedRecord] = []
        self._labels, self._refused = Counter[str](), Counter[str]()
        self._contradictions = 0
        self._repeated: set[tuple[str, Key]] = set()
        self._renewed: set[tuple[str, Key]] = set()
        self._kept_scales: dict[str, str] = {}

    def list_notes(self) -> Iterator[str]:
        """Yield how many labels contradict themselves, and how many answers have several records of one judge."""
        n = self._contradictions
        if n:
            labels = counted(n, "label has", "labels have")
            yield f"{labels} a verdict that the criteria in the same row do not come to: the verdict counts"
        for name, scale in self._kept_scales.items():
            yield f"Labels of `{name}` are read on its own scale, {scale}, which is narrower than --label-scale"
        n = len(self._repeated)
        if n:
            answers = counted(n, "answer has", "answers have")
            yield f"{answers} several records by one judge: each counts as a further judge output, in recorded order"
        n = len(self._renewed)
        if n:
            records = pluralize(n, "an invalid record is", "invalid records are")
            again = "if that was asked again, keep only the later record, as `judge --again` does"
            yield f"of {n:,} of them {records} before a valid one, and both count: {again}"

    @property
    def left_out(self) -> list[LeftOut]:
        """What is not compared, by reason."""
        return list(self._left_out.values())

    def read(self, file: str, chunks: Iterable[bytes], *, labels: bool = False, options: StreamOptions = PLAIN) -> int:
        """Read a file of results or labels as asked; return its number of records."""
        wanted = require_judgements(self._rubrics.values(), is_shared=True)
        wanted = wanted._replace(own=options.wanted.own, keeps_empty=options.wanted.keeps_empty)
        options = options._replace(name=options.name or file, wanted=wanted, skipped=[])
        count = self.read_records(file, read_entries(chunks, options), labels=labels)
        self.leave_out_sheets(file, options.skipped or ())
        return count

    def leave_out_sheets(self, file: str, sheets: Iterable[SkippedSheet]) -> None:
        """Say that sheets of a workbook are not read."""
        for sheet in sheets:
            left_out = self._left_out.setdefault(UNKNOWN_SHEET, LeftOut(UNKNOWN_SHEET, noun="sheet"))
            left_out.add(f"{file}, sheet `{sheet.name}` with {counted(sheet.rows, 'row')}")

    def read_records(self, file: str, entries: Iterable[RawRecord], *, labels: bool = False) -> int:
        """Read some entries of a file; return their number."""
        count = 0
        if not labels:
            self._files_of_results.add(file)
        for line, content in entries:
            count += 1
            record: Mapping[str, Any] = {}
            try:
                try:
                    record = decode_entry(content)
                except OutputError as fault:
                    readable = self._scorer.score(fault).record
                    # None of its outputs counts.
                    record = {name: _UNREAD if name in OUTPUT_FIELDS else value for name, value in readable.items()}
                    raise
                self._read(record, file, line, labels=labels)
            except OutputError as fault:
                path = place_in_output(content, fault).path
                invalid = InvalidRecord(file, line, record.get("id"), path, fault.message, is_label=labels)
                if not labels:
                    self.invalid.append(self._add_invalid_outputs(invalid, record))
                elif is_unscored(fault.message):
                    self._leave_out(NOTHING_APPLIES, f"{file}:{line} ({invalid.id})", "label")
                else:
                    self._refused[self._name_rubric(record)] += 1
                    self.invalid.append(invalid)
            if labels:
                self._labels[self._name_rubric(record)] += 1
        return count

    def _read(self, record: dict[str, Any], file: str, line: int, *, labels: bool) -> None:
        """Keep what a record says.

        Raises:
            OutputError: if it is not valid.
        """
        is_of_both = labels and bool(self._of_people) and file in self._files_of_results
        if is_of_both:
            record = self._drop_judge(record)
        label = self._read_label(record) if labels or ("verdict" in record and not record.get("error")) else None
        if is_of_both and label is None and not any(map(record.get, OUTPUT_FIELDS)):
            self._leave_out(SKIPPED, f"{file}:{line}")
            return
        if label and labels:
            self._add_label(record, *label, file, line)
            return
        if label and label[1].verdict and not any(answer is not None for answer in label[1].answers):
            rubric, flat = label  # a verdict without answers to the criteria, as graders of others give it
            if self._require_id(record, rubric, f"{file}:{line}", labels=labels):
                self._add_judged([self._rate(record, rubric, Judgement((flat.answers, flat.verdict)), file, line)])
            return
        result = self._scorer.score_record(record)
        if result.error:
            raise result.error
        result.line, result.file = line, file
        self._add_result(result, labels=labels)

    def _drop_judge(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record without the judgements that --map does not give to people."""
        judged = {*list_fields(self._rubrics.values()), *OF_TABLE, *OUTPUT_FIELDS, *JUDGEMENTS, CRITERIA}
        is_listed = CRITERIA in self._of_people
        return {
            name: value
            for name, value in record.items()
            if name in self._of_people or fold_column(name) not in judged or (is_listed and name.startswith(CRITERION))
        }

    def _name_rubric(self, record: Mapping[str, Any]) -> str:
        """Return the rubric that a record names, or the only one; of an unknown one nothing."""
        try:
            return find_rubric(record, self._rubrics).name
        except OutputError:
            return ""

    def _add_invalid_outputs(self, invalid: InvalidRecord, record: Mapping[str, Any]) -> InvalidRecord:
        """Keep that an answer has invalid outputs, and what the others come to; return how many of them count.

        What the record says of the answer is true all the same.
        """
        if invalid.id in _NO_ID:
            return replace(invalid, reason=NO_ID)
        source, key, number = find_source(record, invalid.file), make_id_key(invalid.id), len(self.invalid)
        try:
            rubric = find_rubric(record, self._rubrics)
        except OutputError:
            return replace(invalid, reason=OTHER_RUBRIC)
        version = read_judged_by(record)
        if version not in {None, rubric.hash} and not self._any_version:
            return replace(invalid, reason=OTHER_MEANING)
        self._add_context(record, rubric, key)
        if lacks_output(record, rubric):
            return replace(invalid, reason=NO_OUTPUT)
        outputs = list(self._list_outputs(record)) or [None]
        valid = [output for output in outputs if output is not None]
        judgement = _judge_samples(combine_samples(valid)) if valid else Judgement(((), None))
        signatures = tuple(None if output is None else _judge_samples(output).given for output in outputs)
        judgement = judgement._replace(outputs=signatures, **_describe_text(record))
        rated = _RatedRecord(
            source, rubric, key, invalid.file, invalid.line, judgement, version=version, invalid=number
        )
        self._results.append(rated.with_texts(record))
        return replace(invalid, outputs=outputs.count(None))

    def _leave_out_invalid(self, record: _RatedRecord, reason: str) -> None:
        """Say why the outputs of an invalid record do not count."""
        if record.invalid is not None:
            self.invalid[record.invalid] = replace(self.invalid[record.invalid], outputs=0, reason=reason)

    def _list_outputs(self, record: Mapping[str, Any]) -> Iterator[Scored | None]:
        """Yield what each of the outputs of an invalid record comes to, None for an invalid one."""
        outputs, about = record.get("outputs"), as_mapping(record.get("judge"))
        if not isinstance(outputs, list) or "output" in record or "panel" in about:
            return
        head = {name: value for name, value in record.items() if name not in {"outputs", "judge"}}
        for number, output in enumerate(outputs, 1):
            if number == len(outputs) and "fault" in about:  # the run ended with the output that it found invalid
                yield None
                continue
            yield self._scorer.score_record({**head, "output": output}).result

    def _read_label(self, record: dict[str, Any]) -> tuple[ScoringRubric, SheetRow] | None:
        """Return a label that has a field for each criterion or for the verdict, and may lack some; else None.

        Raises:
            OutputError: if its rubric is unknown, or a value is not allowed.
        """
        if not OUTPUT_FIELDS.isdisjoint(record) or "checks" in record or "criteria" in record:
            return None
        if "rubric" not in record and len(self._rubrics) > 1:
            return None
        rubric = find_rubric(record, self._rubrics)
        flat = read_sheet_row(record, rubric)
        return None if flat is None else (rubric, flat)

    def _add_label(self, record: dict[str, Any], rubric: ScoringRubric, flat: SheetRow, file: str, line: int) -> None:
        """Keep a label; it has the verdict that the person gave, or else the only one that the answers allow."""
        if not self._require_id(record, rubric, f"{file}:{line}", labels=True):
            return
        name, source = record["id"], find_source(record, file)
        flat = flat._replace(answers=self._rescale(flat.answers, rubric, source, file))
        own = _find_only_verdict(flat.answers, rubric)
        verdict = flat.verdict or own
        if own is not None and verdict is not own:
            self._contradictions += 1
        if verdict is None and None not in flat.answers:
            self._leave_out(NOTHING_APPLIES, f"{file}:{line} ({name})", "label")
            return
        judgement, key, text = Judgement((flat.answers, verdict)), make_id_key(name), bare_text(record.get("answer"))
        # An empty cell of a sheet is no empty answer.
        texts = {"question": record.get("question"), "answer": record.get("answer") or None}
        self._add_context(texts, rubric, key)
        # If not, it is a result that we wrote: without a rater it is of the judge.
        is_of_sheet = OF_TABLE.isdisjoint(record.keys() - flat.layout.used)
        rated = _RatedRecord(source, rubric, key, file, line, judgement, is_of_sheet=is_of_sheet, text=text)
        rated = rated._replace(version=read_judged_by(record))
        if verdict is None and not any(answer is not None for answer in flat.answers):
            self._leave_out(SKIPPED, rated.place)
        elif self._add_label_of_person(rated, record.get("chosen")) and verdict is None:
            self._leave_out(NO_VERDICT, rated.place, "label")

    def _add_result(self, result: RecordResult, *, labels: bool) -> None:
        """Keep a valid judge output, or a label in that form."""
        record, scored, file, line = result.record, result.scored, result.file or "", result.line
        if scored is None:
            return
        for notes in result.notes:
            self.passed_over.note(notes)
        if not self._require_id(record, scored.rubric, f"{file}:{line}", labels=labels):
            return
        if scored.samples:
            judgement = _judge_samples(scored)
        else:
            reasons = known_reasons(result.output.reasons)
            judgement = Judgement((scored.answers, scored.verdict), reasons)
        rated = self._rate(record, scored.rubric, judgement, file, line)
        if labels and self._label_scales:
            answers = self._rescale(judgement.given[0], scored.rubric, rated.source, file)
            output = JudgeOutput(tuple(answer for answer in answers if answer is not None), (None,) * len(answers))
            verdict = scored.rubric.grade(output).verdict
            rated = rated._replace(judgement=Judgement((answers, verdict), judgement.reasons))
        if labels:
            is_mapped = not OUTPUT_FIELDS.isdisjoint(self._of_people)
            rated = rated._replace(is_of_sheet=is_mapped)  # --map says that a person wrote it, as a column does
            self._add_label_of_person(rated, record.get("chosen"))
        else:
            self._add_judged(_split_panel(rated, result) or [rated])

    def _require_id(self, record: Mapping[str, Any], rubric: ScoringRubric, place: str, *, labels: bool) -> bool:
        """Return whether a record has an id; leave it out if it has none."""
        if record.get("id") not in _NO_ID:
            return True
        if labels:
            self._refuse(rubric, NO_ID, place)
        else:
            self._leave_out(NO_ID, place)
        return False

    def _add_judged(self, records: Sequence[_RatedRecord]) -> None:
        """Keep what one record says, of each model of a panel and of the panel."""
        if records[0].has_other_meaning and not self._any_version:
            self._leave_out(OTHER_MEANING, records[0].place)
        else:
            self._results += records

    def _rate(
        self, record: Mapping[str, Any], rubric: ScoringRubric, judgement: Judgement, file: str, line: int
    ) -> _RatedRecord:
        """Return a judgement with what its record says of the answer, which is kept."""
        source, key, version = find_source(record, file), make_id_key(record["id"]), read_judged_by(record)
        self._add_context(record, rubric, key)
        judgement = judgement._replace(**_describe_text(record))
        return _RatedRecord(source, rubric, key, file, line, judgement, version=version).with_texts(record)

    def _add_context(self, record: Mapping[str, Any], rubric: ScoringRubric, key: Key) -> None:
        """Keep what a record says of its answer; earlier records come first."""
        context, known = read_context(record, self._known_fields), self._about[rubric.name]
        known[key] = known[key].or_else(context) if key in known else context

    def _rescale(
        self, answers: Sequence[AnswerValue | None], rubric: ScoringRubric, source: RaterSource, file: str
    ) -> tuple[AnswerValue | None, ...]:
        """Return the scores or levels of a label on the scale of the rubric; a file may be named as its person.

        A criterion with a narrower scale keeps it: its labels would be refused on another one.

        Raises:
            OutputError: if one is outside the scale of the labels.
        """
        people = [source.rater] if source.rater else [file, stem_of(file)]
        people.append(EVERYBODY)
        scale = next((self._label_scales[person] for person in people if person in self._label_scales), None)
        if scale is None:
            return tuple(answers)
        rescaled: list[AnswerValue | None] = []
        for criterion, answer in zip(rubric.criteria, answers, strict=True):
            allowed = criterion.numbers
            if answer is None or answer == NOT_APPLICABLE or not allowed:
                rescaled.append(answer)
                continue
            if min(scale) < allowed[0] or max(scale) > allowed[-1]:
                self._kept_scales[criterion.id] = f"{allowed[0]}..{allowed[-1]}"
                rescaled.append(answer)
                continue
            try:
                is_turned = criterion.grades[0].score > criterion.grades[-1].score
                if is_turned:
                    allowed = allowed[::-1]
                rescaled.append(rescale(answer, scale, allowed))
            except ValueError as fault:
                raise OutputError(f"criterion `{criterion.id}`: {fault} of --label-scale") from None
        return tuple(rescaled)

    def _add_label_of_person(self, label: _RatedRecord, chosen: object) -> bool:
        """Keep the label of a person, or count it as left out; return whether it is kept.

        `chosen` says how the answer was chosen for labelling.
        """
        if label.has_other_meaning and not self._any_version:
            self._leave_out(OTHER_MEANING, label.place)
        elif label.source.rater is None and not label.is_of_sheet:
            self._refuse(label.rubric, NO_RATER, label.place)
        elif chosen and chosen not in WAYS:
            self._refuse(label.rubric, UNKNOWN_CHOICE, label.place)
        else:
            way = LabelSelection(str(chosen)) if chosen else None
            self._people.append(label._replace(chosen=way))
            return True
        return False

    def _refuse(self, rubric: ScoringRubric, reason: str, place: str, noun: str = "record") -> None:
        """Leave out a label for what is in it: those that people wrote with more care do not stand for these."""
        self._refused[rubric.name] += 1
        self._leave_out(reason, place, noun)

    def _leave_out(self, reason: str, place: str, noun: str = "record") -> None:
        self._left_out.setdefault(reason, LeftOut(reason, noun=noun)).add(place)

    def join(self, raters: Sequence[str] = (), chosen: LabelSelection | None = None) -> list[Ratings]:
        """Return the judgements by rubric and rater, of all raters or only of those named.

        `chosen` is how labels were chosen that do not say it themselves.

        Raises:
            UnusableRatingsError: if a rater is unknown, two have one name, or nothing can be compared.
        """
        of_rubrics = self.gather(raters, chosen)
        names = dict[str, None]()
        for ratings in of_rubrics:
            names |= dict.fromkeys(name for name, judgements in ratings.raters.items() if judgements)
            sides = list(ratings.raters.values())
            is_shared = len(set[Key]().union(*sides)) < sum(map(len, sides))
            if is_shared or any(len(judgement.samples) > 1 for side in sides for judgement in side.values()):
                return of_rubrics
        if not names:
            raise UnusableRatingsError("nothing to compare: no record is usable")
        if len(names) > 1:
            raise UnusableRatingsError(
                f"no answer has ratings of two of the raters {join_words([f'`{name}`' for name in names])}; they are "
                "joined by `rubric` and `id`, which have to be the same in all files"
            )
        only = f"only one rater, `{next(iter(names))}`; agreement needs two"
        if raters:
            raise UnusableRatingsError(f"{only}: name another with --rater, or leave --rater out")
        if self._people and not self._judges and self.invalid:
            raise UnusableRatingsError(f"{only}: no judge output could be used, as every one is invalid")
        if self._labels.total() and not self._people:
            raise UnusableRatingsError(f"{only}, and no label is usable: correct the labels")
        raise UnusableRatingsError(f"{only}: add --labels, results of another judge, or samples (`judge --samples 3`)")

    def gather(self, raters: Sequence[str] = (), chosen: LabelSelection | None = None) -> list[Ratings]:
        """Return the judgements as `join` does, also if nothing can be compared; count labels without a result.

        Raises:
            UnusableRatingsError: if a rater is unknown or two have one name.
        """
        self._settle_ids()
        self._settle_results()
        sources = [record.source for record in self._judges]
        sources += [source for failed in self._failed.values() for source in failed]
        judge_names = name_raters(sources)
        self._settle_labels({*judge_names.values(), LABEL})
        panels = {name for source, name in judge_names.items() if source.is_panel}
        judges = self._collect(self._judges, judge_names)
        for name, failed in self._failed.items():
            for source in failed:
                judges.setdefault((judge_names[source], name), {})
        people = self._collect(self._people, name_raters([record.source for record in self._people]))
        _check_names([name for name, _ in judges], [name for name, _ in people], raters)
        named_panel = next((name for name in raters if name in panels), None)
        if not people and named_panel is not None:
            raise UnusableRatingsError(f"the panel `{named_panel}` is compared only with people; add --labels")
        of_rubric: dict[str, tuple[dict[str, Judgements], dict[str, Judgements]]] = {}
        for place, side in enumerate((judges, people)):
            for (rater, name), given in side.items():
                if not raters or rater in raters:
                    of_rubric.setdefault(name, ({}, {}))[place][rater] = given
        labels: dict[str, list[_RatedRecord]] = {}
        for record in self._people:
            labels.setdefault(record.rubric.name, []).append(record)
        gathered = []
        for name, rubric in self._rubrics.items():
            if name not in of_rubric:
                continue
            judged, labelled = of_rubric[name]
            together = {rater: judgements for rater, judgements in judged.items() if rater in panels and labelled}
            single = {rater: judgements for rater, judgements in judged.items() if rater not in panels}
            of_judges = {judge_names[source]: failed for source, failed in self._failed[name].items()}
            # Labels that name no known rubric may be of this one.
            refused = self._refused[name] + self._refused[""], self._labels[name] + self._labels[""]
            ratings = Ratings(rubric, single, labelled, {}, together, self._about[name], of_judges, refused)
            ratings = ratings._replace(ways=_count_ways(ratings, labels.get(name, ()), chosen))
            gathered.append(ratings._replace(people=self._list_labels_without_result(ratings)))
        return gathered

    def _settle_ids(self) -> None:
        """Give the id of an answer one type in all files, that of the first file that has it; sheets have none.

        Of labels in a sheet, blanks around an id go unless another file has it so.
        """
        same: dict[str, dict[RecordId, RecordId]] = {}
        for record in [*self._results, *self._people]:
            same.setdefault(record.file, {})[record.at] = record.at
        sheets = {record.file for record in self._people if record.is_of_sheet}
        known = {(rubric, key) for rubric in self._rubrics for key in self._among}
        for file, ids in same.items():
            for rubric, key in ids:
                bare = key.strip() if isinstance(key, str) and file in sheets else key
                joined = find_id((rubric, key), known, ids) or find_id((rubric, bare), known, ids)
                ids[rubric, key] = joined or (rubric, bare)
            known.update(ids.values())
        for ids in same.values():
            for (rubric, key), (_, settled) in ids.items():
                contexts = self._about[rubric]
                if key != settled and (rubric, key) not in known and key in contexts:
                    contexts[settled] = contexts.get(settled, AnswerContext()).or_else(contexts[key])
        self._results = [record._replace(key=same[record.file][record.at][1]) for record in self._results]
        self._people = [record._replace(key=same[record.file][record.at][1]) for record in self._people]

    def _settle_results(self) -> None:
        """Join the records of one judge for one answer, whose outputs are further outputs of it, in recorded order.

        Invalid outputs that name no model are of the only judge of their file, or its panel. A judge with nothing but
        invalid outputs is one too. Nobody knows whose they are if there are several.
        """
        known = dict.fromkeys(record.source for record in self._results if record.is_valid)
        joined: dict[tuple[RaterSource, str, Key], list[_RatedRecord]] = {}
        for record in self._results:
            owner = record.source if record.is_valid else _find_owner(record.source, known)
            if owner is None:
                self._leave_out_invalid(record, NO_JUDGE)
            else:
                joined.setdefault((owner, record.rubric.name, record.key), []).append(record._replace(source=owner))
        self._judges, self._failed = [], {name: {} for name in self._rubrics}
        conflicts: dict[str, str] = {}
        for (source, rubric, key), records in joined.items():
            conflict = _find_conflict(records)
            if conflict:
                for record in records:
                    self._leave_out_invalid(record, conflict)
                conflicts.update((record.place, conflict) for record in records if record.invalid is None)
                continue
            if len(records) > 1:
                self._repeated.add((rubric, key))
                first = next((at for at, record in enumerate(records) if record.invalid is not None), len(records))
                if any(record.invalid is None for record in records[first:]):
                    self._renewed.add((rubric, key))
            judgement = combine_records([record.judgement for record in records], records[0].rubric)
            if records[0]._replace(judgement=judgement).is_valid:
                text = next((record.text for record in records if record.text is not None), None)
                self._judges.append(records[0]._replace(judgement=judgement, text=text))
            else:
                self._failed[rubric].setdefault(source, {})[key] = judgement.outputs
        for place, conflict in conflicts.items():  # a record of a panel has several judges
            self._leave_out(conflict, place)

    def _settle_labels(self, reserved: Collection[str]) -> None:
        """Give labels of sheets the rater whom their cells do not name, and leave out those of another text.

        A sheet in which no row names a rater is of one person, named as the file, with its ending if the name is
        `reserved`. The text is another one than the one that was judged under the id of the label.
        """
        named = {record.file for record in self._people if record.source.rater is not None}
        texts: dict[tuple[str, Key], set[str]] = {}
        for record in self._judges:
            if record.text is not None:
                texts.setdefault((record.rubric.name, record.key), set()).add(record.text)
        people = []
        for record in self._people:
            is_unnamed = record.is_of_sheet and record.source.rater is None
            judged = texts.get((record.rubric.name, record.key))
            if is_unnamed and record.file in named:
                self._refuse(record.rubric, NO_RATER, record.place)
            elif judged and record.text is not None and record.text not in judged:
                self._leave_out(OTHER_TEXT, record.place)
            elif is_unnamed:
                name = stem_of(record.file)
                rater = name if name and name not in reserved else record.file
                people.append(record._replace(source=RaterSource(rater)))
            else:
                people.append(record)
        self._people = people

    def _collect(
        self, records: Sequence[_RatedRecord], names: Mapping[RaterSource, str]
    ) -> dict[tuple[str, str], dict[Key, Judgement]]:
        """Return the judgements by rater and rubric, without those of ids to which one gave different labels."""
        owned = [((names[record.source], record.rubric.name), record) for record in records]
        firsts: dict[tuple[tuple[str, str], Key], _RatedRecord] = {}
        contradicted = set[tuple[tuple[str, str], Key]]()
        for owner, record in owned:
            first = firsts.setdefault((owner, record.key), record)
            if (record.judgement, record.chosen) != (first.judgement, first.chosen):
                contradicted.add((owner, record.key))
        collected: dict[tuple[str, str], dict[Key, Judgement]] = {}
        for owner, record in owned:
            judgements = collected.setdefault(owner, {})
            if (owner, record.key) in contradicted:
                self._refuse(record.rubric, TWICE, record.place, "label")
            else:
                judgements.setdefault(record.key, record.judgement)
        return {owner: judgements for owner, judgements in collected.items() if judgements}

    def _list_labels_without_result(self, ratings: Ratings) -> dict[str, Judgements]:
        """List labels without a result, and return the labels that count: those of answers that there are."""
        people = {rater: dict(judgements) for rater, judgements in ratings.people.items()}
        judged = ratings.judged.union(*ratings.failed.values())
        names = {name_key(key) for key in judged}
        missing = {
            name_key(make_id_key(record.id)) for record in self.invalid if record.reason in {NO_OUTPUT, OTHER_RUBRIC}
        }
        stripped = {name.lstrip("0") for name in names if name.startswith("0")}
        labelled = set().union(*ratings.people.values())
        no_result, joins_none = NO_RESULT, judged.isdisjoint(labelled)
        if joins_none:
            ids = f"labels have {_list_first(labelled)}, results {_list_first(judged)}"
            no_result = f"no label has the id of a result: {ids}; use one id for an answer"
        labelled_people = ratings.people if judged else {}
        for rater, judgements in labelled_people.items():
            for key in judgements:
                name, reason = name_key(key), no_result
                if key in judged or name in missing:
                    continue
                if name in names:
                    reason = OTHER_TYPE
                elif name in stripped:
                    reason = NO_ZEROS
                if self._among and key not in self._among and not joins_none:
                    del people[rater][key]
                    reason = NO_ANSWER if reason is no_result else reason
                self._leave_out(reason, f"{name} by {rater}", "label")
        return {rater: given for rater, given in people.items() if given}


def _list_first(keys: Collection[Key]) -> str:
    """Return the first ids as messages show them."""
    return list_names([name_key(key) for key in sort_keys(keys)[:_FIRST_IDS]])


def _check_names(judges: Sequence[str], people: Sequence[str], raters: Sequence[str]) -> None:
    """Refuse one name for two raters, and names of raters that do not exist.

    Raises:
        UnusableRatingsError: naming one.
    """
    known = dict.fromkeys([*judges, *people])
    both = {*judges} & {*people}
    if both or LABEL in known:
        name = min(both) if both else LABEL
        why = "both the results and the labels" if both else "the combined labels"
        raise UnusableRatingsError(f"`{name}` names {why}; give this rater another name")
    unknown = [name for name in raters if name not in known]
    if unknown:
        raise UnusableRatingsError(f"no rater is named `{unknown[0]}`; {point_to_known(unknown[0], known)}")


def _find_owner(source: RaterSource, known: Collection[RaterSource]) -> RaterSource | None:
    """Return the judge that gave invalid outputs, None if it may be one of several of its file."""
    if source.rater is not None or source.model is not None or source in known:
        return source
    of_file = [judge for judge in known if judge.file == source.file]
    owners = [judge for judge in of_file if judge.is_panel] or of_file or [source]
    return owners[0] if len(owners) == 1 else None


def _find_conflict(records: Sequence[_RatedRecord]) -> str | None:
    """Return the reason for which records of one judge with one id are not outputs for one answer, None without one."""
    texts = {record.text for record in records} - {None}
    questions = {record.question for record in records} - {None}
    if len(texts) > 1 or len(questions) > 1:
        return OTHER_ANSWER
    versions = {record.version or record.rubric.hash for record in records}
    return SEVERAL_VERSIONS if len(versions) > 1 else None


def _count_ways(
    ratings: Ratings, labels: Iterable[_RatedRecord], default: LabelSelection | None
) -> Counter[LabelSelection | None]:
    """Count the labels that are compared by how they were chosen."""
    judged = ratings.judged
    return Counter(
        record.chosen or default
        for record in labels
        if record.key in ratings.people.get(str(record.source.rater), ()) and (not judged or record.key in judged)
    )


def _describe_text(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a judgement that are of the text of the answer; none if the record does not have it."""
    answer = record.get("answer")
    if not isinstance(answer, str):
        return {}
    return {"length": len(answer), "text": hash((repr(record.get("question")), " ".join(answer.split())))}


def _find_only_verdict(answers: Sequence[AnswerValue | None], rubric: ScoringRubric) -> Verdict | None:
    """Return the verdict to which a label comes whatever its empty cells hold, None if they decide it."""
    known: dict[int, Grade] = {}
    for number, (criterion, answer) in enumerate(zip(rubric.criteria, answers, strict=True)):
        grade = None if answer is None else criterion.grade(answer)
        if grade is not None:
            known[number] = grade
    if not known:
        return None
    if rubric.varies:
        return _find_only_varying_verdict(known, rubric)
    prospect = Prospects(rubric, known).find(*next(iter(known.items())))
    return prospect.worst if prospect.is_certain else None


def _find_only_varying_verdict(known: Mapping[int, Grade], rubric: ScoringRubric) -> Verdict | None:
    """Return the only verdict of a label if the points of a criterion depend on which others apply; None without one.

    `known` has the grades of the criteria that the label answers, by their places. With empty cells only a fail is
    certain: a gate is missed whatever they hold, and the known criteria come to a score, so that there is a verdict.
    """
    left_out = Grade(NOT_APPLICABLE, Fraction(0), points=0, gate_met=True, outcome=None)
    try:
        verdict = rubric.weigh(known.get(number, left_out) for number in range(len(rubric.criteria))).verdict
    except NothingAppliesError:
        return None
    if len(known) == len(rubric.criteria):
        return verdict
    return None if all(grade.gate_met for grade in known.values()) else Verdict.FAIL


def bare_text(text: object) -> str | None:
    """Return the letters and digits of a text, which a spreadsheet keeps as they are; None if it has none."""
    if not isinstance(text, str):
        return None
    return "".join(filter(str.isalnum, text)) or None


def _split_panel(rated: _RatedRecord, result: RecordResult) -> list[_RatedRecord]:
    """Return the judgements of each model of a panel, and that of the panel; empty if one rater judged."""
    median = result.scored
    if median is None or not median.models or read_rater(result.record) is not None:
        return []
    of_model: dict[str, list[Scored]] = {}
    for model, sample in zip(median.models, median.samples, strict=True):
        of_model.setdefault(model, []).append(sample)
    whole = rated.judgement
    records = []
    for model, samples in of_model.items():
        judgement = _judge_samples(combine_samples(samples))._replace(length=whole.length, text=whole.text)
        records.append(rated._replace(source=replace(rated.source, model=model), judgement=judgement))
    panel = replace(rated.source, model=None, is_panel=True)
    records.append(rated._replace(source=panel, judgement=whole._replace(outputs=())))
    return records


def _judge_samples(result: Scored) -> Judgement:
    """Return the judgement of a scored output, with its samples if it has several."""
    reasons = tuple(criterion.reasoning for criterion in result.criteria)
    outputs = tuple((sample.answers, sample.verdict) for sample in result.samples)
    higher = find_middle(outputs, result.rubric.criteria, better=True) if outputs else None
    given = result.answers, result.verdict
    return Judgement(given, known_reasons(reasons), outputs, higher=higher)
