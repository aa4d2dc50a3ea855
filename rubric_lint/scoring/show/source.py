"""Describe the content of one file, or of many: read, describe and report each one before the next."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from rubric_lint.formats.agentv.convert import find_unread_parts
from rubric_lint.formats.agentv.parts import is_suite_of_agentv
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.lint.engine import DEFAULTS, Examined, examine_file
from rubric_lint.lint.project.files import File, Unreadable
from rubric_lint.lint.project.opening import LIMIT, stat_path
from rubric_lint.lint.project.settings import FileSettings, SettingsFinder
from rubric_lint.lint.run.console import Progress
from rubric_lint.lint.run.linting import FileRun
from rubric_lint.lint.run.summary import EMPTY, TESTS, UNKNOWN, Summary
from rubric_lint.model.criterion import HIGHEST, LOWEST, Band, Criterion, Level, Shape, read_number
from rubric_lint.model.finding import Finding, Result, Severity, Unread
from rubric_lint.model.messages import counted, join_words
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.suggest import name_in
from rubric_lint.scoring.grading import OVERALL, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import (
    LoadedRubric,
    RubricError,
    UnscorableError,
    load_examined,
    name_rubrics,
    refuse_other_kind,
    share_out,
    with_deciding,
)
from rubric_lint.scoring.meaning import read_task
from rubric_lint.scoring.show import Shown, ShownBand, ShownCriterion, ShownLevel, ShownRelease, ShownRubric
from rubric_lint.scoring.show.examples import make_examples
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.reading import read_documents, without_collections
from rubric_lint.source.source import DATA, Kind, Source, UndecodableError, kind_of

_UNREAD = frozenset({"lost-rubric", "syntax"})
"""The rules whose findings say that something is not read."""


@without_collections()
def show(name: str, data: bytes, settings: FileSettings = DEFAULTS) -> Shown:
    """Describe the rubrics of one file; the suffix of `name` selects YAML, JSON or JSON Lines.

    Raises:
        RuleError: if a rule crashes; no content of `data` should cause this.
    """
    examined = examine_file(name, data, settings)
    result = examined.result
    rubrics = examined.rubrics
    if result.is_stopped:  # what takes too long to lint is not described either
        rubrics = []
    scoring, unscorable = _prepare(name, data, examined, settings) if rubrics else ({}, ())
    counts = _count(result.findings, [document.pointer(rubric.path) for document, rubric in rubrics])
    shown = tuple(_describe(loaded, scoring.get(loaded.name), counts) for loaded in name_rubrics(name, rubrics))
    unread = _find_unread(result, is_empty=not shown)
    reason = ""
    if shown or unread or result.findings:
        pass
    elif not data.strip():
        reason = EMPTY
    elif result.tests:
        reason = name_in(TESTS, name)
    else:
        reason = UNKNOWN
    errors = sum(finding.severity is Severity.ERROR for finding in result.findings)
    releases = () if result.is_stopped else tuple(_list_releases(name, data, rubrics))
    return Shown(
        file=name,
        rubrics=shown,
        unread=unread,
        reason=reason,
        unscorable=unscorable,
        releases=releases,
        errors=errors,
        warnings=sum(finding.severity is Severity.WARNING for finding in result.findings),
        ignored=result.ignored,
    )


def summarize(shown: Shown) -> Summary:
    """Return the counts of one file."""
    return Summary(
        files=1,
        files_with_rubrics=int(bool(shown.rubrics)),
        rubrics=len(shown.rubrics),
        criteria=sum(len(rubric.criteria) for rubric in shown.rubrics),
        errors=shown.errors,
        warnings=shown.warnings,
        ignored=shown.ignored,
        unread=sum(miss.is_known for miss in shown.unread),
    )


def _list_releases(name: str, data: bytes, rubrics: Iterable[tuple[Document, Rubric]]) -> Iterator[ShownRelease]:
    """Yield the releases of AgentV, each with what it does not read of the file, if that is a suite for AgentV.

    Suites in our own format have the words of its early releases too, so only those without rubrics are known by them.
    """
    owners = {document: "agentv" in rubric.dialect for document, rubric in rubrics}
    # The words are looked for first: most files without rubrics need not be read a second time.
    if not owners and kind_of(name) in DATA and any(word in data for word in _OF_SUITES):
        with suppress(UndecodableError):
            documents, _ = read_documents(Source.from_bytes(name, data))
            owners = {document: is_suite_of_agentv(document) for document in documents}
    # AgentV takes `.json` for the `evals.json` of Agent Skills.
    if not any(owners.values()) or kind_of(name) is Kind.JSON:
        return
    for target in RELEASES.values():
        unread = set()
        for document, is_suite in owners.items():
            places = list(_find_refused(document, target.name))
            if is_suite:
                places += [(unmet.path, unmet.part, unmet.reason) for unmet in find_unread_parts(document, target)]
            for path, part, reason in places:
                line, column, _ = document.source.position(document.span(path, part).start)
                unread.add((line, column, reason))
        yield ShownRelease(target.name, target.title, tuple(sorted(unread)))


def _find_refused(document: Document, release: str) -> Iterator[tuple[Path, Part, str]]:
    """Yield what no release reads because of the kind of the file: further documents, and lines without grading."""
    if document.kind is Kind.YAML and document.number:
        yield (), Part.HEAD, "AgentV refuses a file of several documents; make a file of each"
    is_line = document.kind.is_json and release == "agentv-4" and isinstance(document.data, dict)
    if is_line and "assertions" in document.data and _GRADED.isdisjoint(document.data):
        yield ("assertions",), Part.KEY, "AgentV 4 skips a line without `criteria`, `expected_output` or `assert`"


_GRADED = frozenset({"criteria", "expected_output", "assert"})
_OF_SUITES = (b"tests", b"cases", b"scenarios", b"assert", b"evaluators")


def _find_unread(result: Result, *, is_empty: bool) -> tuple[Unread, ...]:
    """Return near misses, and findings that say that something is not read, in the order of the text."""
    rules = _UNREAD | {"schema"} if is_empty else _UNREAD
    lost = []
    for finding in result.findings:
        if finding.rule in rules:
            line, column, _ = result.source.position(finding.span.start)
            lost.append(Unread(finding.message, line, column, is_known=finding.rule == "lost-rubric"))
    return tuple(sorted([*result.unread, *lost], key=lambda miss: (miss.line, miss.column)))


def _count(findings: Iterable[Finding], places: Iterable[str]) -> dict[str, Counter[Severity]]:
    """Return how many findings of each severity the rubrics at some places have, by place."""
    counts: dict[str, Counter[Severity]] = {place: Counter() for place in places}
    for finding in findings:
        place = finding.pointer
        while place and place not in counts:
            place = place.rpartition("/")[0]
        if place:
            counts[place][finding.severity] += 1
    return counts


def _prepare(
    name: str, data: bytes, examined: Examined, settings: FileSettings
) -> tuple[dict[str, ScoringRubric], tuple[str, ...]]:
    """Return the rubrics ready for scoring, or the reasons why rubric-score refuses the file."""
    deciding = with_deciding(settings)
    if deciding is not settings:  # the settings ignore rules that scoring does not
        examined = examine_file(name, data, deciding)
    try:
        refuse_other_kind(name)
        return {called: loaded.prepare() for called, loaded in load_examined(name, examined).items()}, ()
    except RubricError as wrong:
        return {}, wrong.faults


def _describe(
    loaded: LoadedRubric, scoring: ScoringRubric | None, counts: Mapping[str, Mapping[Severity, int]]
) -> ShownRubric:
    rubric, document = loaded.rubric, loaded.document
    path, view, where = rubric.path, rubric.view, document.pointer(rubric.path)
    line, column = _locate(document, path)
    written: dict[str, Any] = {"format": f"rubric-lint {rubric.version}", "version": rubric.version}
    if view and rubric.dialect:
        written = {"format": view.dialect.title, "version": None}
    own: dict[str, Any] = {}
    if view and rubric.is_version_3:
        pass_at, borderline_at = rubric.thresholds
        own = {
            "scale": view.units,
            "marks": (view.format_mark(pass_at), view.format_mark(borderline_at)),
            "grades": tuple((name, share, view.format_mark(share)) for name, share in view.grades),
            "groups": rubric.groups,
        }
    shape = None if rubric.is_mixed else rubric.shape
    examples = make_examples(scoring) if scoring else ()
    return ShownRubric(
        name=loaded.name,
        line=line,
        column=column,
        path=where,
        dialect=rubric.dialect or None,
        shape=shape,
        task=read_task(rubric),
        thresholds=rubric.thresholds,
        criteria=tuple(_describe_criteria(loaded, scoring)),
        errors=counts[where][Severity.ERROR],
        warnings=counts[where][Severity.WARNING],
        examples=examples,
        **written,
        **own,
    )


def _locate(document: Document, path: Path) -> tuple[int, int]:
    """Return the line and column of a value, or of its key if it has one."""
    part = Part.KEY if path and isinstance(path[-1], str) else Part.ENTRY
    return document.source.position(document.span(path, part).start)[:2]


def _describe_criteria(loaded: LoadedRubric, scoring: ScoringRubric | None) -> Iterator[ShownCriterion]:
    rubric, document = loaded.rubric, loaded.document
    holistic = [entry for entry in rubric.entries if entry.shapes[0] is Shape.HOLISTIC]
    if holistic:
        line, column = _locate(document, rubric.path)
        bands = [band for entry in holistic if entry.scale for band in entry.scale.bands]
        share = None if rubric.is_mixed else Fraction(1)
        yield ShownCriterion(OVERALL, line, column, 1.0, share, None, None, _describe_bands(bands))
    graded: Sequence[ScoringCriterion | None] = [None] * len(rubric.criteria)
    if scoring and rubric.shape is not Shape.HOLISTIC:
        graded = scoring.criteria
    for criterion, share, grades in zip(rubric.criteria, _find_shares(rubric), graded, strict=True):
        line, column, _ = loaded.position(criterion.path)
        if criterion.weight is None:  # other systems have weights below 0
            weight = read_number((criterion.fields or {}).get("weight"))
        else:
            weight = float(criterion.weight)
        bands, ends = [], None
        if criterion.scale:
            bands = list(criterion.scale.bands)
            if criterion.scale.ends != (LOWEST, HIGHEST):
                ends = criterion.scale.ends
        own_weight = None if weight is None else float(weight)
        yield ShownCriterion(
            id=criterion.id,
            line=line,
            column=column,
            weight=own_weight,
            share=share,
            gate=criterion.gate,
            outcome=_format_outcome(criterion),
            bands=_describe_bands(bands),
            levels=_describe_levels(loaded, criterion.levels or (), grades),
            is_negated=criterion.is_negated,
            scale=ends,
            applies_if=criterion.applies_if,
            is_failure=criterion.is_failure,
        )


def _find_shares(rubric: Rubric) -> Sequence[Fraction | None]:
    """Return the share of each criterion; None for all if one of the weights is invalid."""
    weights = [criterion.weight for criterion in rubric.criteria if criterion.weight is not None]
    if len(weights) == len(rubric.criteria):
        if rubric.view and rubric.root:
            shares = dict(rubric.root.share_out(rubric.view.weights))
            return [shares.get(int(criterion.path[-1]), Fraction(0)) for criterion in rubric.criteria]
        if rubric.is_version_3 or not rubric.is_mixed:
            with suppress(UnscorableError):
                return share_out(weights)
    return [None] * len(rubric.criteria)


def _format_outcome(criterion: Criterion) -> str | None:
    words = [criterion.outcome] if criterion.outcome else []
    if criterion.is_failure:
        words.insert(0, "Critical failure")
    elif criterion.is_negated:
        words.insert(0, "Counts against")
    return ": ".join(words) or None


def _describe_bands(bands: Iterable[Band]) -> tuple[ShownBand, ...]:
    def find_start(band: Band) -> int:
        return band.scores.start if band.is_sound else HIGHEST + 1

    ordered = sorted(bands, key=find_start)
    shown = []
    for band in ordered:
        scores = (band.scores[0], band.scores[-1]) if band.is_sound else None
        shown.append(ShownBand(scores, band.outcome))
    return tuple(shown)


def _describe_levels(
    loaded: LoadedRubric, levels: Iterable[Level], scoring: ScoringCriterion | None
) -> tuple[ShownLevel, ...]:
    ordered = sorted(levels, key=lambda level: (level.number is None, level.number or 0))
    worth: dict[Any, Fraction] = {}
    if scoring:
        worth = {grade.answer: grade.score for grade in scoring.grades}
    shown, document = [], loaded.document
    for level in ordered:
        outcome = level.outcome
        if outcome is None:  # a number or another scalar is shown as it is written
            place = loaded.rubric.place(level.outcome_path)
            if isinstance(document.value(place), int | float):
                outcome = document.written_at(place)
        shown.append(ShownLevel(level.number, level.name, outcome, worth.get(level.number)))
    return tuple(shown)


class ShowRun(FileRun[Shown]):
    """Describes files and calls `report` for each that has something to tell, or that is named; see `FileRun`."""

    def __init__(self, report: Callable[[Shown], object], progress: Progress, **how: Any) -> None:
        super().__init__(progress, **how)
        self._report = report
        self._summary = Summary()

    def show_all(self, paths: Iterable[str], stdin_name: str, finder: SettingsFinder) -> Summary:
        """Describe everything at `paths`; `stdin_name` is the file name of stdin.

        Raises:
            SettingsError: if the settings for stdin are invalid.
        """
        self.run_over(paths, stdin_name, finder)
        others = Summary(unreadable=len(self.unreadable), faults=self.crashes)
        return self._summary.plus(others).plus(Summary.left_out(self.skipped))._replace(scope=self.scope)

    def format_progress(self) -> str:
        """Return how much an interrupted run has described."""
        done = join_words([counted(self._summary.files, "file"), counted(self._summary.rubrics, "rubric")])
        return f"after {done}; the other files were not read"

    def work(self, file: File, data: bytes) -> Shown:
        """Describe one file."""
        shown = show(file.name, data, file.settings)
        if shown.reason == UNKNOWN and file.group and not file.settings.part:
            shown = shown._replace(reason="its cases are in the files that it names")
        if shown.reason == EMPTY and not file.is_stdin:
            with suppress(OSError):
                if stat_path(file.name).st_size > LIMIT:  # only its head was read
                    return shown._replace(reason=f"{UNKNOWN} in its first {LIMIT / 1e6:.0f} MB")
        return shown

    def record(self, file: File | Unreadable, outcome: Shown) -> None:  # noqa: ARG002
        """Report one file."""
        shown = outcome
        if shown.rubrics or shown.unread or shown.errors or shown.warnings or shown.file in self.named:
            self._report(shown)
        self._summary = self._summary.plus(summarize(shown))
