"""Add what judge outputs show about rubrics to the results of a run over files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.left_out import InvalidRecord, LeftOut
from rubric_lint.assess.agreement.raters import explain_own_labels
from rubric_lint.assess.agreement.ratings import Ratings
from rubric_lint.assess.agreement.reading import RatingReader, UnusableRatingsError
from rubric_lint.assess.agreement.units import AnswerContext
from rubric_lint.assess.judged.outcomes import JudgedStatement, RubricTarget, Untested
from rubric_lint.assess.judged.rules import CriterionOutcome, apply_rules, sort_by_criterion
from rubric_lint.assess.judged.table import JudgedTable, build_table
from rubric_lint.assess.measure.decision import OF_LABELS, USUAL, LabelDoubts, MeasureOptions, Reason, find_doubts
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.assess.measure.shares import compare_people
from rubric_lint.lint.engine import FoundProblem, examine
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.lint.project.opening import open_stream, stat_path
from rubric_lint.lint.project.settings import SettingsFinder, shorten_path
from rubric_lint.lint.run.batch import FileOutcome
from rubric_lint.model.finding import RelatedPlace, Result
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules import JUDGED_RULES
from rubric_lint.scoring.grading import ScoringRubric
from rubric_lint.scoring.ids import Key
from rubric_lint.scoring.loading import DECIDING, LoadedRubric, RubricError, RubricPart, RubricPlaces, name_rubrics
from rubric_lint.scoring.output import read_judged_by
from rubric_lint.scoring.records.agentv_runs import find_graded
from rubric_lint.scoring.records.decoding import OutputError, decode_entry, place_in_output
from rubric_lint.scoring.records.entries import CHUNK, SkippedSheet
from rubric_lint.scoring.records.graders import NamedCriterion, find_by_texts, has_items
from rubric_lint.scoring.records.mapping import HUMAN, JUDGE, RequiredColumns, list_own_fields, select_side
from rubric_lint.scoring.records.streams import PLAIN, StreamOptions, read_entries
from rubric_lint.source.document import Document
from rubric_lint.source.source import Source, UndecodableError, stem_of

NO_RESULTS = "no results"
OTHER_VERSION = "judged by another version of the rubric, as `rubric_hash` says; judge again"
_MOST_KEPT = 1000

FileResult = tuple[File | Unreadable, FileOutcome]
RecordPaths = tuple[tuple[str, ...], tuple[str, ...]]
"""The files of results, and those of labels."""


@dataclass(frozen=True)
class RecordLine:
    """A record, the line where it begins, and its number in the file: a line of AgentV's runs has several."""

    line: int
    record: dict[str, Any]
    number: int

    @property
    def hash(self) -> str | None:
        """The hash of the rubric that the judge used."""
        return read_judged_by(self.record)


@dataclass(eq=False)
class RecordFile:
    """The records of a file, by the name of the rubric that they state; `invalid` ones are not even objects.

    `skipped` are the sheets of a workbook that are not read.
    """

    path: str
    lines: dict[str | None, list[RecordLine]] = field(default_factory=dict)
    invalid: list[InvalidRecord] = field(default_factory=list)
    skipped: list[SkippedSheet] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The name of the file up to the first dot, which is the name of a rubric file next to it."""
        return stem_of(self.path)


def read_records(
    path: str, mapping: Mapping[str, str] = MappingProxyType({}), wanted: RequiredColumns = PLAIN.wanted
) -> RecordFile:
    """Read a file of results or labels.

    `mapping` has the columns of fields, and `wanted` says which of them another file may have.

    Raises:
        OSError: if it cannot be read.
    """
    file = RecordFile(path)
    options = StreamOptions(mapping, path, wanted=wanted._replace(keeps_empty=True), skipped=file.skipped)
    with open_stream(path) as stream:
        for number, (line, content) in enumerate(read_entries(iter(partial(stream.read, CHUNK), b""), options)):
            try:
                record = decode_entry(content)
            except OutputError as fault:
                place = place_in_output(content, fault).path
                file.invalid.append(InvalidRecord(path, line, None, place, fault.message))
                continue
            name = record.get("rubric")
            owner = name if isinstance(name, str) else None
            file.lines.setdefault(owner, []).append(RecordLine(line, record, number))
    return file


@dataclass(frozen=True)
class RecordSources:
    """The files of results and of labels for a rubric, and which of them could not be read and why."""

    results: tuple[RecordFile, ...]
    labels: tuple[RecordFile, ...]
    unreadable: tuple[tuple[str, str], ...] = ()

    @property
    def files(self) -> tuple[RecordFile, ...]:
        """All files that were read."""
        return (*self.results, *self.labels)


RubricCriteria = tuple[tuple[str, tuple[NamedCriterion, ...]], ...]
"""The rubrics of a file: the name of each, and its criteria."""


def _find_rubrics(record: Mapping[str, Any], among: Mapping[str, Iterable[NamedCriterion]]) -> list[str]:
    """Return the names of the rubrics that a record of another grader may be of, by its criteria."""
    if "agentv" in record:
        ids = {name: {criterion for criterion, _ in criteria} for name, criteria in among.items()}
        return find_graded(record, ids)
    if has_items(record) or "promptfoo" in record:
        return find_by_texts(record, among)
    return []


class RecordCache:
    """Keeps files of records and reviews while the files, and the meanings of the rubrics, do not change."""

    def __init__(self, options: MeasureOptions = USUAL) -> None:
        self._options = options
        self._kept: dict[tuple[str, str], tuple[tuple[int, ...], RecordFile]] = {}
        self._reviews: dict[object, tuple[RecordSources, Review]] = {}

    def load(self, paths: RecordPaths) -> RecordSources:
        """Load files of results and labels; a file that cannot be read, or has no record, is listed with the reason."""
        unreadable = list[tuple[str, str]]()
        kinds: tuple[list[RecordFile], ...] = ([], [])
        for side, files, names in zip((JUDGE, HUMAN), kinds, paths, strict=True):
            for path in dict.fromkeys(names):
                try:
                    file = self._load_file(path, side, names)
                except OSError as fault:
                    unreadable.append((path, fault.strerror or str(fault)))
                    continue
                own = explain_own_labels(path, paths[0], self._options.mapping) if side == HUMAN else ""
                if own:
                    unreadable.append((path, own))
                elif file.lines:
                    files.append(file)
                else:
                    first = [f"line {record.line}: {record.message}" for record in file.invalid[:1]]
                    unreadable.append((path, "; ".join(["no records found", *first])))
        results, labels = map(tuple, kinds)
        return RecordSources(results, labels, tuple(unreadable))

    def _load_file(self, path: str, side: str, names: Sequence[str]) -> RecordFile:
        """Return the records of a file of one side, which are read again if the file has changed."""
        status = stat_path(path)
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        mapping = select_side(self._options.mapping, side)
        wanted = RequiredColumns(is_shared=True, own=list_own_fields(self._options.mapping, side, names))
        # Without a mapping results and labels are read alike, and a file that holds both is read once.
        own_side = side if mapping else ""
        key = path, own_side
        if key not in self._kept or self._kept[key][0] != stamp:
            self._kept[key] = stamp, read_records(path, mapping=mapping, wanted=wanted)
        return self._kept[key][1]

    def review(
        self, rubric: ScoringRubric, sources: RecordSources, among: RubricCriteria, *, takes_unnamed: bool
    ) -> "Review":
        """Review a rubric; with `takes_unnamed` records without a name and a hash are its own.

        They are as well if their file is named as the rubric is, such as `refund.judged.jsonl`. `among` are the rubrics
        of the file, which decide whose the records of another grader are.
        """
        key = (rubric.name, rubric.hash, takes_unnamed, among)
        if key not in self._reviews or self._reviews[key][0] != sources:
            if len(self._reviews) >= _MOST_KEPT:
                # The server of an editor reviews each version of a text, for as long as it runs.
                self._reviews.clear()
            review = _review(rubric, sources, dict(among), self._options, takes_unnamed=takes_unnamed)
            self._reviews[key] = sources, review
        return self._reviews[key][1]


@dataclass(frozen=True)
class Review:
    """The outcomes of all rules on the results of one rubric, and what they rest on.

    `labelled` answers have a label by one of `people`. `fault` says why nothing was tested, if so. `criteria` has what
    is untested once more, and what found nothing, by criterion. The labels were `chosen` in one way (None: unknown).
    `joined` has records under another name that can only be its own, each with its file. `ratings` are what was read,
    `doubts` may make their labels say nothing, and `passed_over` says what was not read. `notes` say what else to know
    of the records.
    """

    rubric: str
    hash: str = ""
    answers: int = 0
    judges: tuple[str, ...] = ()
    labelled: int = 0
    people: tuple[str, ...] = ()
    decisions: tuple[JudgedStatement, ...] = ()
    untested: tuple[Untested, ...] = ()
    invalid: tuple[InvalidRecord, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    fault: str = ""
    criteria: tuple[CriterionOutcome, ...] = ()
    table: JudgedTable | None = None
    chosen: LabelSelection | None = None
    joined: frozenset[tuple[str, int]] = frozenset()
    ratings: Ratings | None = None
    doubts: LabelDoubts = field(default_factory=LabelDoubts)
    passed_over: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self, file: str) -> dict[str, Any]:
        """Return the review as in the JSON report; `file` has the rubric."""
        names = ("answers", "judges", "labelled", "people", "untested", "left_out")
        about = {"file": file, "rubric": self.rubric, "rubric_hash": self.hash or None}
        fields = {name: getattr(self, name) for name in names}
        return {**about, **fields, "fault": self.fault or None}


def _review(
    rubric: ScoringRubric,
    sources: RecordSources,
    among: Mapping[str, Iterable[NamedCriterion]],
    options: MeasureOptions,
    *,
    takes_unnamed: bool,
) -> Review:
    reader = RatingReader(
        {rubric.name: rubric}, label_scales=options.label_scales, among=options.about, mapping=options.mapping
    )
    joined, others = _read_sources(reader, rubric, sources, among, takes_unnamed=takes_unnamed)
    fault = ""
    try:
        ratings = next(iter(reader.gather()), None)
    except UnusableRatingsError as error:
        ratings, fault = None, str(error)
    left_out = [others, *reader.left_out] if others.count else reader.left_out
    review = Review(
        rubric.name,
        rubric.hash,
        invalid=tuple(reader.invalid),
        left_out=tuple(left_out),
        joined=joined,
        passed_over=tuple(reader.passed_over.format_lines()),
        notes=tuple(reader.list_notes()),
    )
    if ratings is None or not ratings.judged:
        return replace(review, fault=fault or NO_RESULTS)
    contexts = dict[Key, AnswerContext]()
    for key in ratings.known:
        contexts[key] = options.about.get(key, AnswerContext()).or_else(ratings.about.get(key, AnswerContext()))
    ratings = ratings._replace(about=contexts)
    doubts = find_doubts(ratings, options.line, options.label_scales)
    table = build_table(ratings, rubric, options.runs, options.line)._replace(look=options.look)
    if ratings.has_joined_labels:
        table = table._replace(void=_find_void(table, doubts, options))
    outcomes = apply_rules(table)
    return replace(
        review,
        answers=len(ratings.judged),
        judges=tuple(ratings.judges),
        labelled=table.labelled,
        people=tuple(ratings.people),
        decisions=tuple(outcome for outcome in outcomes if isinstance(outcome, JudgedStatement)),
        untested=tuple(outcome for outcome in outcomes if isinstance(outcome, Untested)),
        criteria=sort_by_criterion(table, outcomes),
        table=table,
        chosen=ratings.chosen,
        ratings=ratings,
        doubts=doubts,
    )


def _read_sources(
    reader: RatingReader,
    rubric: ScoringRubric,
    sources: RecordSources,
    among: Mapping[str, Iterable[NamedCriterion]],
    *,
    takes_unnamed: bool,
) -> tuple[frozenset[tuple[str, int]], LeftOut]:
    """Have the reader read the records of a rubric; return those that only their criteria join, and those left out.

    The former are named by their file and number, the latter were judged by another version of the rubric.
    """
    joined = set[tuple[str, int]]()
    others = LeftOut(OTHER_VERSION)
    for files, are_labels in ((sources.results, False), (sources.labels, True)):
        for file in files:
            reader.leave_out_sheets(file.path, file.skipped)
            is_own = takes_unnamed or file.stem == rubric.name
            graded = _list_graded(file, rubric.name, among, is_own=is_own)
            joined |= {(file.path, line.number) for line in graded}
            unnamed = [line for line in file.lines.get(None, ()) if is_own or line.hash == rubric.hash]
            records = []
            for line in [*file.lines.get(rubric.name, ()), *unnamed, *graded]:
                if line.hash in (None, rubric.hash):
                    records.append((line.line, line.record))
                else:
                    others.add(f"{file.path}:{line.line}")
            reader.read_records(file.path, records, labels=are_labels)
    return frozenset(joined), others


def _list_graded(
    file: RecordFile, rubric: str, among: Mapping[str, Iterable[NamedCriterion]], *, is_own: bool
) -> list[RecordLine]:
    """Return the records under other names, or none, that by their criteria can only be of one rubric.

    Records without a name are passed over in a file that is the rubric's own, to which they belong anyway.
    """
    graded = []
    for name, lines in file.lines.items():
        if name not in among and (name or not is_own):
            graded += [line for line in lines if _find_rubrics(line.record, among) == [rubric]]
    return graded


def _find_void(table: JudgedTable, doubts: LabelDoubts, options: MeasureOptions) -> dict[str, tuple[Reason, str]]:
    """Return for each judge of which labels say nothing the reason, also in words, by the verdict of labels."""
    reasons = {}
    for judge, labelled in table.compared.items():
        people = compare_people(labelled[None].answers)
        void = doubts.find_void(people, options.target)
        if void is not None:
            reasons[judge] = void, OF_LABELS[void].format_map(doubts.format_values(people))
    return reasons


class JudgedFinder:
    """Finds problems in the rubrics of the file `name`; `reviews` has what each rubric's results show.

    `is_only`: no other rubric is meant by records that name none.
    """

    def __init__(self, cache: RecordCache, sources: RecordSources, name: str, *, is_only: bool) -> None:
        self._cache = cache
        self._sources = sources
        self._name = name
        self._is_only = is_only
        self.reviews: list[Review] = []

    def __call__(
        self, rubrics: Sequence[tuple[Document, Rubric]], found: Sequence[FoundProblem]
    ) -> Iterator[FoundProblem]:
        """Yield what judged data show of each rubric, unless the linter `found` errors in it that decide scores."""
        named = name_rubrics(self._name, rubrics)
        times = Counter(loaded.name for loaded in named)
        among: RubricCriteria = tuple(
            (loaded.name, tuple((entry.id, entry.outcome) for entry in loaded.rubric.entries)) for loaded in named
        )
        self.reviews = [self._review(loaded, found, times[loaded.name], among) for loaded in named]
        for loaded, review in zip(named, self.reviews, strict=True):
            places = RubricPlaces(loaded)
            for decision in review.decisions:
                problem = places.problem(_find_place(decision.target, places), decision.code, decision.values)
                if decision.other is not None:
                    other = places.problem(_find_place(decision.other, places))
                    problem = problem._replace(related=(RelatedPlace("the other criterion", other.path, other.part),))
                yield FoundProblem(decision.rule, problem, loaded.document, loaded.rubric)

    def _review(
        self, loaded: LoadedRubric, found: Sequence[FoundProblem], namesakes: int, among: RubricCriteria
    ) -> Review:
        if namesakes > 1:
            return Review(loaded.name, fault=f"{namesakes} rubrics of the file have this name; give each its own")
        errors = set()
        for item in found:
            # An error outside all rubrics may be about any.
            is_about = item.rubric is loaded.rubric or (item.rubric is None and item.document is loaded.document)
            if is_about and item.rule in DECIDING:
                errors.add(item.rule)
        if errors:
            return Review(loaded.name, fault=f"the rubric has errors ({', '.join(sorted(errors))}); fix them first")
        try:
            rubric = loaded.prepare()
        except RubricError as fault:
            return Review(loaded.name, fault=str(fault))
        return self._cache.review(rubric, self._sources, among, takes_unnamed=self._is_only)


def _find_place(target: RubricTarget, places: RubricPlaces) -> RubricPart:
    if target.criterion is None:
        return places.whole
    if target.answer is not None:
        return places.answer(target.criterion, target.answer)
    return places.gate(target.criterion) if target.is_gate else places.criterion(target.criterion)


class UnmatchedRecords(NamedTuple):
    """Records of a file that belong to no rubric of the run; `rubric` is the name that they state, if any."""

    file: str
    rubric: str | None
    records: int


@dataclass(frozen=True)
class ReviewedRubric:
    """The review of a rubric, its file, and its sources; `is_only` if nameless records are its own."""

    file: str
    review: Review
    sources: RecordSources
    is_only: bool


class JudgedRun:
    """Looks at rubrics with the results in `given`, or else with those that the settings of their files name.

    `reviewed` has the rubrics in order, `unreadable` the files of records that could not be read, with the reasons.
    """

    def __init__(self, finder: SettingsFinder, given: RecordPaths, cache: RecordCache) -> None:
        self._finder = finder
        self._given = given
        self._cache = cache
        self._sources: dict[RecordPaths, RecordSources] = {}
        self.reviewed: list[ReviewedRubric] = []
        self.unreadable: dict[str, str] = {}
        if given[0]:
            self._open(given)

    def judge_all(self, outcomes: Iterable[FileResult]) -> Iterator[FileResult]:
        """Yield the outcomes, with what results show about the rubrics in them.

        They wait for the last one: whether a record that names no rubric has only one to belong to is known then.
        """
        waiting = [(file, outcome, self._find_paths(file, outcome)) for file, outcome in outcomes]
        counts: Counter[RecordPaths] = Counter()
        for _, outcome, paths in waiting:
            if paths and isinstance(outcome, Result):
                counts[paths] += outcome.rubrics
        for file, outcome, paths in waiting:
            if paths and isinstance(file, File):
                yield file, self._judge(file, self._open(paths), is_only=counts[paths] == 1)
            else:
                yield file, outcome

    def _find_paths(self, file: File | Unreadable, outcome: FileOutcome) -> RecordPaths | None:
        """Return the files of records for a file, or None if it has no rubrics or no records."""
        if not isinstance(file, File) or not isinstance(outcome, Result) or not outcome.rubrics:
            return None
        if self._given[0]:
            return self._given
        settings = self._finder.find_nearest(file.name)
        if not settings.judged:
            return None
        return tuple(map(shorten_path, settings.judged)), tuple(map(shorten_path, settings.labels))

    def _open(self, paths: RecordPaths) -> RecordSources:
        if paths not in self._sources:
            self._sources[paths] = sources = self._cache.load(paths)
            self.unreadable.update(sources.unreadable)
        return self._sources[paths]

    def _judge(self, file: File, sources: RecordSources, *, is_only: bool) -> FileOutcome:
        data = read(file)
        if isinstance(data, Unreadable):
            return data
        finder = JudgedFinder(self._cache, sources, file.name, is_only=is_only)
        try:
            result = examine(Source.from_bytes(file.name, data), file.settings, find_more=finder).result
        except UndecodableError as fault:  # it has changed since it was linted
            return Unreadable(file.name, fault.message)
        except Exception as fault:
            return fault
        # Rules that do not run have nothing that they cannot decide.
        enabled = JUDGED_RULES if file.settings.enabled is None else file.settings.enabled
        for review in finder.reviews:
            untested = tuple(outcome for outcome in review.untested if outcome.rule in enabled)
            self.reviewed.append(ReviewedRubric(file.name, replace(review, untested=untested), sources, is_only))
        return result._replace(judged=list_tested(finder.reviews))

    @property
    def files(self) -> list[RecordFile]:
        """The files of records that were read, each once."""
        return list({file.path: file for sources in self._sources.values() for file in sources.files}.values())

    @property
    def invalid(self) -> list[InvalidRecord]:
        """The records that cannot be read or scored."""
        of_files = [invalid for file in self.files for invalid in file.invalid]
        return of_files + [invalid for reviewed in self.reviewed for invalid in reviewed.review.invalid]

    @property
    def unmatched(self) -> list[UnmatchedRecords]:
        """The records that no rubric of the run has a claim to."""
        unmatched = []
        for file in self.files:
            claims = [reviewed for reviewed in self.reviewed if file in reviewed.sources.files]
            names, hashes = {claim.review.rubric for claim in claims}, {claim.review.hash for claim in claims}
            takes_unnamed = any(claim.is_only or claim.review.rubric == file.stem for claim in claims)
            joined = {line for claim in claims for line in claim.review.joined}
            for name, lines in file.lines.items():
                free = [line for line in lines if (file.path, line.number) not in joined]
                if name is None:
                    count = 0 if takes_unnamed else sum(line.hash not in hashes for line in free)
                else:
                    count = 0 if name in names else len(free)
                if count:
                    unmatched.append(UnmatchedRecords(file.path, name, count))
        return unmatched

    def to_json(self) -> dict[str, Any]:
        """Return everything as in the JSON report."""
        return {
            "rubrics": [reviewed.review.to_json(reviewed.file) for reviewed in self.reviewed],
            "invalid": self.invalid,
            "unmatched": self.unmatched,
            "unreadable": [{"file": file, "reason": reason} for file, reason in self.unreadable.items()],
        }


def list_tested(reviews: Sequence[Review]) -> frozenset[str]:
    """Return the rules that had data enough for everything that they test in the rubrics of a file."""
    lacking = {untested.rule for review in reviews for untested in review.untested}
    return frozenset() if any(review.fault for review in reviews) else JUDGED_RULES - lacking
