"""Run the tests of files on recorded outputs, and turn what they do not meet into findings."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from rubric_lint.assess.rubric_tests.changes import UNSCORED
from rubric_lint.assess.rubric_tests.reading import RubricTest, RubricTests, read_tests
from rubric_lint.assess.rubric_tests.recordings import (
    Recording,
    Recordings,
    VerifiedRecording,
    Verifier,
    read_recordings,
)
from rubric_lint.lint.engine import FoundProblem, ProblemFinder, check_test_files, examine, report_faults
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.lint.project.settings import FileSettings, SettingsError, SettingsFinder
from rubric_lint.lint.rubric_tests import count_tests
from rubric_lint.model.criterion import Hundredth, Shape
from rubric_lint.model.finding import Problem, RelatedPlace, Result
from rubric_lint.model.messages import join_words, list_names, pluralize, point_to_known, shorten
from rubric_lint.scoring.grading import (
    NOT_APPLICABLE,
    AnswerValue,
    CriterionResult,
    Grade,
    Scored,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
    Weighed,
)
from rubric_lint.scoring.groups import GroupResult
from rubric_lint.scoring.loading import LoadedRubric, RubricError, RubricPart, RubricPlaces, load_models
from rubric_lint.scoring.output import read_judged_by
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Source, UndecodableError

_LONGEST = 100
"""The most characters of a judge's reason in a message."""

_MOST_PLACES = 5
"""The most criteria that a finding on a verdict or a score refers to, the heaviest first."""


def read_verdicts(test: RubricTest) -> frozenset[str] | None:
    """Return the verdicts that a test expects, or None if it does not say."""
    expected = test.expect.get("verdict")
    if expected is None:
        return None
    if isinstance(expected, str):
        return frozenset([expected])
    return frozenset(expected)


_Range = tuple[Decimal, Decimal]


def _read_range(test: RubricTest, document: Document, *steps: str) -> _Range | None:
    """Return the lowest and the highest number that a test expects, exactly as written; None if it does not say."""
    path = test.path_of(*steps)
    expected: Any = test.expect
    for step in steps:
        expected = expected.get(step, {})
    if isinstance(expected, list):
        return document.decimal((*path, 0)), document.decimal((*path, 1))
    if not isinstance(expected, int | float):
        return None
    number = document.decimal(path)
    return number, number


def _read_grades(test: RubricTest) -> list[str]:
    """Return the grades that a test allows; empty if it does not say."""
    expected = test.expect.get("rubric_grade", [])
    return [expected] if isinstance(expected, str) else expected


def read_gates(test: RubricTest) -> dict[str, bool]:
    """Return the gates that a test expects: whether each is met."""
    return {name: state == "met" for name, state in test.expect.get("gates", {}).items()}


def allows(expected: Any, answer: AnswerValue) -> bool:
    """Return whether an expectation on a criterion allows what the judge gave."""
    if any(isinstance(side, bool | str) for side in (expected, answer)):
        return bool(expected is answer or expected == answer == NOT_APPLICABLE)
    low, high = expected if isinstance(expected, list) else (expected, expected)
    return bool(low <= answer <= high)


def find_impossible(test: RubricTest, rubric: ScoringRubric, document: Document) -> Iterator[Problem]:
    """Find expectations that no output can meet, such as one on an unknown criterion."""
    yield from _find_impossible_parts(test, rubric)
    known = [name for name, _ in rubric.rubric_grades]
    for name in _read_grades(test):
        if name not in known:
            yield _report_unknown("grade", name, known, test.path_of("rubric_grade"), Part.VALUE)
    scores = _read_range(test, document, "rubric_score")
    if scores is None:
        return
    reason = "it has no `scale`; expect `score`, from 0 to 1"
    if rubric.units:
        low, high = sorted(map(Hundredth.fraction, rubric.units))
        if low <= scores[1] and scores[0] <= high:
            return
        reason = f"its scores go from {rubric.word_units}"
    yield Problem("impossible-score", test.path_of("rubric_score"), values={"reason": reason})


def _find_impossible_parts(test: RubricTest, rubric: ScoringRubric) -> Iterator[Problem]:
    """Find expectations on gates, criteria and groups that no output can meet."""
    criteria = {criterion.id: criterion for criterion in rubric.criteria}
    groups = {group.id: group for group in rubric.groups}
    for name, state in test.expect.get("gates", {}).items():
        path = test.path_of("gates", name)
        gated = criteria.get(name) or groups.get(name)
        if gated is None:
            kind = "criterion or group" if groups else "criterion"
            yield _report_unknown(kind, name, [*criteria, *groups], path)
        elif gated.gate is None:
            yield Problem("no-gate", path, values={"criterion": name})
        elif name in criteria and not any(grade.gate_met is (state == "met") for grade in criteria[name].all_grades):
            when = "never" if state == "met" else "always"
            yield Problem("constant-gate", path, values={"criterion": name, "when": when})
    for name, expected in test.expect.get("criteria", {}).items():
        path = test.path_of("criteria", name)
        criterion = criteria.get(name)
        if criterion is None:
            yield _report_unknown("criterion", name, criteria, path)
        elif not any(allows(expected, grade.answer) for grade in criterion.all_grades):
            takes = "true or false" if criterion.shape is Shape.CHECKLIST else criterion.word_allowed()
            takes += f", or {NOT_APPLICABLE}" if criterion.may_not_apply else ""
            yield Problem("impossible-answer", path, values={"criterion": name, "takes": takes})
    for name in test.expect.get("groups", {}):
        if name not in groups:
            yield _report_unknown("group", name, groups, test.path_of("groups", name))


def _report_unknown(kind: str, name: str, known: Collection[str], path: Path, part: Part = Part.KEY) -> Problem:
    hint = point_to_known(name, known) if known else "it has none"
    return Problem("unknown-criterion", path, part, {"kind": kind, "criterion": name, "hint": hint})


def find_unmet(test: RubricTest, document: Document, result: Scored, places: RubricPlaces) -> Iterator[Problem]:
    """Find the expectations of a test that its result does not meet, each with the places in the rubric."""
    verdicts = read_verdicts(test)
    if verdicts is not None and result.verdict not in verdicts:
        expected = [verdict for verdict in [*Verdict, UNSCORED] if verdict in verdicts]
        values = {
            "expected": join_words(expected, "or"),
            "verdict": result.verdict,
            "explanation": _explain_verdict(result),
        }
        related = tuple(_relate_verdict(result, places))
        yield Problem("verdict", test.path_of("verdict"), values=values, related=related)
    for name, score in (("score", result.score), ("rubric_score", result.rubric_score)):
        scores = _read_range(test, document, name)
        if scores is not None and score is not None and not scores[0] <= score <= scores[1]:
            heaviest = _sort_by_share(result.criteria)[:_MOST_PLACES]
            earned = tuple(_relate_answer(judged, places) for judged in heaviest)
            values = {"expected": _format_range(scores), "score": format_score(score)}
            yield Problem("score", test.path_of(name), values=values, related=earned)
    grades = _read_grades(test)
    if grades and result.rubric_grade not in grades:
        values = {"expected": join_words(grades, "or"), "grade": result.rubric_grade or "below all grades"}
        values["score"] = format_score(result.score)
        yield Problem("grade", test.path_of("rubric_grade"), values=values)
    yield from _find_unmet_parts(test, document, result, places)


def _find_unmet_parts(test: RubricTest, document: Document, result: Scored, places: RubricPlaces) -> Iterator[Problem]:
    """Find the expectations on gates, groups and criteria that a result does not meet."""
    judged_by_id = {judged.criterion.id: judged for judged in result.criteria}
    groups = {group.group.id: group for group in result.groups}
    for name, is_met in read_gates(test).items():
        values = {"criterion": name, "expected": "met" if is_met else "missed"}
        gate = places.related("the gate", places.gate(name))
        if name in judged_by_id and judged_by_id[name].grade.gate_met is not is_met:
            values["given"] = _format_answer(judged_by_id[name])
            related = (gate, _relate_answer(judged_by_id[name], places))
            yield Problem("gate", test.path_of("gates", name), values=values, related=related)
        elif name not in judged_by_id and groups[name].gate_met is not is_met:
            values["given"] = _format_group(groups[name])
            yield Problem("gate-of-group", test.path_of("gates", name), values=values, related=(gate,))
    for name, expected in test.expect.get("groups", {}).items():
        if not _allows_group(_read_range(test, document, "groups", name), groups[name].score):
            values = {"expected": _format_expected(expected), "criterion": name, "given": _format_group(groups[name])}
            group = (places.related("the group", places.criterion(name)),)
            yield Problem("group", test.path_of("groups", name), values=values, related=group)
    for name, expected in test.expect.get("criteria", {}).items():
        judged = judged_by_id[name]
        if not allows(expected, judged.grade.answer):
            values = {"expected": _format_expected(expected), "criterion": name, "given": _format_answer(judged)}
            answer = (_relate_answer(judged, places),)
            yield Problem("criterion", test.path_of("criteria", name), values=values, related=answer)


def _format_expected(expected: Any) -> str:
    """Write an expectation on a criterion or a group: a range as `3 to 5`."""
    return f"{expected[0]} to {expected[1]}" if isinstance(expected, list) else str(expected).lower()


def _format_range(scores: _Range) -> str:
    return str(scores[0]) if scores[0] == scores[1] else f"{scores[0]} to {scores[1]}"


def _format_group(group: GroupResult) -> str:
    return str(NOT_APPLICABLE) if group.score is None else format_score(group.score)


def _allows_group(expected: _Range | None, score: Fraction | None) -> bool:
    """Return whether an expectation on a group, `n/a` if it is None, allows its score."""
    if expected is None or score is None:
        return expected is None and score is None
    return bool(expected[0] <= score <= expected[1])


def find_unscored(test: RubricTest) -> Iterator[Problem]:
    """Find what a test expects of an answer without a score, other than that it has none."""
    if UNSCORED not in (read_verdicts(test) or ()) or len(test.expect) > 1:
        yield Problem("unscored", test.path_of(), Part.KEY)


Check = Callable[[ScoringRubric, Weighed, Sequence[Grade]], bool]
"""Returns whether a result meets expectations: its rubric, what it comes to, and the grades of the criteria."""


def make_check(test: RubricTest, document: Document, rubric: ScoringRubric) -> Check | None:
    """Return the check of the expectations that depend on the rubric, or None if a test has none.

    What the judge gave does not depend on weights, gates and thresholds, so expectations on criteria are left out.
    """
    verdicts, gates, names = read_verdicts(test), read_gates(test), _read_grades(test)
    scores, in_units = (_read_range(test, document, field) for field in ("score", "rubric_score"))
    groups = {name: _read_range(test, document, "groups", name) for name in test.expect.get("groups", {})}
    if verdicts is None and not (scores or in_units or names or gates or groups):
        return None
    wanted = [
        (number, gates[criterion.id]) for number, criterion in enumerate(rubric.criteria) if criterion.id in gates
    ]

    def meets_group(group: GroupResult) -> bool:
        name = group.group.id
        if name in gates and group.gate_met is not gates[name]:
            return False
        return name not in groups or _allows_group(groups[name], group.score)

    def check(rubric: ScoringRubric, weighed: Weighed, grades: Sequence[Grade]) -> bool:
        if verdicts is not None and weighed.verdict not in verdicts:
            return False
        if scores and not scores[0] <= weighed.score <= scores[1]:
            return False
        if in_units and not in_units[0] <= (rubric.in_units(weighed.score) or 0) <= in_units[1]:
            return False
        if names and rubric.name_score(weighed.score) not in names:
            return False
        if not all(meets_group(group) for group in weighed.groups):
            return False
        return all(grades[number].gate_met is is_met for number, is_met in wanted)

    return check


def format_score(score: Fraction) -> str:
    """Write a score with four digits, and exactly if that is short and differs."""
    shown = f"{float(score):.4g}"
    exact = str(score)
    return shown if Fraction(shown) == score or len(exact) > 9 else f"{shown} ({exact})"


def _explain_verdict(result: Scored) -> str:
    """Say what decides a verdict: the score, and the gates that are missed."""
    missed = [f"`{name}`" for name in result.gates_missed]
    score = f"score {format_score(result.score)}"
    if missed:
        return f"{score}, and the {pluralize(len(missed), 'gate')} of {join_words(missed)} missed"
    rubric = result.rubric
    has_gates = any(criterion.gate is not None for criterion in rubric.criteria)
    has_gates = has_gates or any(group.gate is not None for group in rubric.groups)
    return f"{score}, and no gate is missed" if has_gates else score


def _relate_verdict(result: Scored, places: RubricPlaces) -> Iterator[RelatedPlace]:
    """Yield the places that decide a verdict: the gates that are missed, then the answers, the heaviest first."""
    missed = [judged for judged in result.criteria if not judged.grade.gate_met]
    for name in result.gates_missed[:_MOST_PLACES]:
        yield places.related("the gate that is missed", places.gate(name))
    for judged in _sort_by_share(missed or result.criteria)[:_MOST_PLACES]:
        yield _relate_answer(judged, places)


def _sort_by_share(results: Iterable[CriterionResult]) -> list[CriterionResult]:
    return sorted(results, key=lambda judged: -judged.criterion.share)


def _relate_answer(judged: CriterionResult, places: RubricPlaces) -> RelatedPlace:
    """Return the place of what describes an answer to a criterion."""
    answer = judged.grade.answer
    label = f"given {answer}"
    if isinstance(answer, bool):
        label = "judged as met" if answer else "judged as not met"
    if answer == NOT_APPLICABLE:
        label = "judged as not applicable"
    return places.related(label, places.answer(judged.criterion.id, answer))


def _format_answer(judged: CriterionResult) -> str:
    """Write the answer to a criterion, with the judge's reason if there is one."""
    reason = " ".join((judged.reasoning or "").split())
    answer = format_given(judged.grade.answer)
    return f'{answer}: "{shorten(reason, _LONGEST)}"' if reason else answer


def format_given(answer: AnswerValue) -> str:
    """Write what a judge gives."""
    return str(answer).lower() if isinstance(answer, bool) else str(answer)


OF_TESTS = frozenset({"unmet-expectation", "unrecorded-test", "broken-test"})
"""The rules that every run of tests applies, whatever the settings select."""

OF_FORM = frozenset({"syntax", "schema", "unknown-field", "bounds", "duplicate-id", "duplicate-key"})


@dataclass(frozen=True)
class ScoredTest:
    """A test that was scored, and whether all its expectations were met."""

    test: RubricTest
    file: RubricTests
    result: Scored
    passed: bool


@dataclass(frozen=True)
class UnscoredTest:
    """A test whose only output has no score, as nothing in the rubric applies: what its judge gave each criterion."""

    test: RubricTest
    file: RubricTests
    answers: tuple[AnswerValue, ...]


@dataclass(frozen=True)
class UnrecordedTest:
    """A test without an output that counts: the recording to bring up to date, if any, and the criteria to judge."""

    test: RubricTest
    file: RubricTests
    recording: Recording | None
    stale: tuple[str, ...]


@dataclass
class TestedRubric:
    """A rubric, and its tests in all files of the run: those that have run, and those that need an output."""

    loaded: LoadedRubric
    rubric: ScoringRubric
    places: RubricPlaces
    settings: FileSettings
    verifier: Verifier
    ran: list[ScoredTest] = field(default_factory=list)
    unscored: list[UnscoredTest] = field(default_factory=list)
    needed: list[UnrecordedTest] = field(default_factory=list)
    tests: int = 0
    mutation: Any = None

    @property
    def path(self) -> str:
        """The file of the rubric."""
        return self.loaded.document.source.name

    def list_bands(self, criterion: ScoringCriterion) -> dict[RubricPart, list[int]]:
        """Return the scores of each band, or each level, by its place; none for a check.

        A score that nothing describes belongs to what is described below it.
        """
        bands: dict[RubricPart, list[int]] = {}
        spot: RubricPart | None = None
        for grade in criterion.grades:
            if isinstance(grade.answer, bool):
                continue
            if grade.outcome or spot is None:
                spot = self.places.answer(criterion.id, grade.answer)
            bands.setdefault(spot, []).append(grade.answer)
        return bands


class Runner:
    """Runs test files; `tested` has the rubrics that they test, by file and name.

    Of each file of recorded outputs, `idle` counts those that no test uses, and `unhashed` those that do not say which
    meaning of the rubric the judge saw.
    """

    def __init__(self, finder: SettingsFinder) -> None:
        self._finder = finder
        self._loaded: dict[str, dict[str, LoadedRubric] | RubricError] = {}
        self.tested: dict[tuple[str, str], TestedRubric] = {}
        self.recordings: dict[tuple[str, str, tuple[tuple[str, str], ...]], Recordings] = {}
        self._used: dict[str, set[str]] = {}
        self.idle: dict[str, int] = {}
        self.unhashed: dict[str, int] = {}

    def run(self, file: File) -> Result | Unreadable:
        """Run the tests of a file."""
        data = read(file, may_be_stdin=False)
        if isinstance(data, Unreadable):
            return data
        enabled = file.settings.enabled
        if enabled is not None:
            enabled |= OF_TESTS | OF_FORM
        settings = file.settings._replace(enabled=enabled)
        try:
            source = Source.from_bytes(file.name, data)
        except UndecodableError as fault:
            return report_faults(fault.source, [fault], settings)
        failed: set[object] = set()
        tested: list[str] = []
        look = ProblemFinder(partial(self._look, file.name, failed, tested), OF_TESTS | OF_FORM)
        examined = examine(source, settings, problem_finder=look)
        tests = count_tests(examined.documents)
        if any(finding.rule in OF_FORM for finding in examined.result.findings):
            return examined.result._replace(failed=tests)
        return examined.result._replace(passed=tests - len(failed), failed=len(failed), tested=tuple(tested))

    def _look(
        self, name: str, failed: set[object], names: list[str], documents: Sequence[Document]
    ) -> Iterator[FoundProblem]:
        """Find the problems of a file; add the ids of the tests that fail to `failed`, of all that run to `names`."""
        problems = list(check_test_files(documents))
        yield from problems
        if problems or not documents:
            return
        document = documents[0]
        file = read_tests(name, document)
        tested = self.open_rubric(file.rubric, file.rubric_name)
        if isinstance(tested, str):
            failed.update(test.key for test in file.tests)
            yield FoundProblem("broken-test", Problem("untestable", ("rubric",), values={"reason": tested}), document)
            return
        recordings = self._open_recordings(file, tested)
        if isinstance(recordings, Problem):
            failed.update(test.key for test in file.tests)
            yield FoundProblem("broken-test", recordings, document)
            return
        if recordings is not None:
            used = self._used.setdefault(file.outputs, set())
            used |= {test.key for test in file.tests if test.output is None}
            self.idle[file.outputs] = len(recordings.found.keys() - used)
            records = [recordings.found[key].record for key in sorted(used & recordings.found.keys())]
            unknown = sum(read_judged_by(record) is None for record in records)
            if unknown:
                self.unhashed[file.outputs] = unknown
        for case in file.tests:
            test = case.asking(tested.rubric.question)
            names.append(str(test.id))
            for rule, problem in self._run_test(test, file, tested, recordings):
                failed.add(test.key)
                yield FoundProblem(rule, problem._replace(values={"test": test.id, **problem.values}), document)

    def _run_test(
        self, test: RubricTest, file: RubricTests, tested: TestedRubric, recordings: Recordings | None
    ) -> Iterator[tuple[str, Problem]]:
        """Run one test; yield each problem with its rule."""
        tested.tests += 1
        impossible = list(find_impossible(test, tested.rubric, file.document))
        if impossible:
            yield from (("broken-test", problem) for problem in impossible)
            return
        recording: Recording | None = None
        if test.output is not None:
            recording = Recording(1, {"id": test.id, "output": test.output, **test.texts})
        elif recordings and test.key in recordings.twice:
            lines = join_words([str(line) for line in recordings.twice[test.key]])
            values = {"file": file.outputs, "lines": lines}
            yield "broken-test", Problem("two-outputs", (*test.path, "id"), values=values)
            return
        elif recordings:
            recording = recordings.found.get(test.key)
        if recording is None:
            tested.needed.append(UnrecordedTest(test, file, None, tuple(tested.verifier.hashes)))
            values = {"reason": self._explain_absence(test, file, recordings)}
            yield "unrecorded-test", Problem("missing", (*test.path, "id"), values=values)
            return
        verified: VerifiedRecording = tested.verifier.verify(recording, test.texts)
        if verified.is_unscored:
            if verified.answers:
                tested.unscored.append(UnscoredTest(test, file, verified.answers))
            yield from (("unmet-expectation", problem) for problem in find_unscored(test))
            return
        if verified.result is None:
            if test.output is None:
                tested.needed.append(UnrecordedTest(test, file, recording, verified.stale))
            code, step = ("invalid", "id") if test.output is None else ("invalid-output", "output")
            yield "unrecorded-test", Problem(code, (*test.path, step), values={"reason": verified.fault})
            return
        unmet = list(find_unmet(test, file.document, verified.result, tested.places))
        tested.ran.append(ScoredTest(test, file, verified.result, not unmet))
        yield from (("unmet-expectation", problem) for problem in unmet)

    def _explain_absence(self, test: RubricTest, file: RubricTests, recordings: Recordings | None) -> str:
        if recordings is None:
            return f"{file.outputs} does not exist; record it with --record, or add `output`"
        other = recordings.others.get(test.key)
        if other:
            return f"in {file.outputs} that id is recorded only for the rubric `{other}`"
        other_type: str | int | None = str(test.id) if isinstance(test.id, int) else None
        if isinstance(test.id, str) and len(test.id) < 20 and test.id.isascii() and test.id.isdecimal():
            other_type = int(test.id)
        unclaimed = recordings.found.keys() - {case.key for case in file.tests} - self._used[file.outputs]
        if other_type is not None and json.dumps(other_type) in unclaimed:
            kind = "a string; put this id in quotes" if isinstance(test.id, int) else "a number; remove the quotes"
            return f"{file.outputs} has the id {json.dumps(other_type)}, which is {kind}"
        names = [str(recordings.found[key].record["id"]) for key in sorted(unclaimed)]
        near = point_to_known(str(test.id), names) if names else "it has none"
        hint = near if near.startswith("did you") else "record it with --record, or add `output`"
        return f"{file.outputs} has none with the id `{test.id}`; {hint}"

    def open_rubric(self, path: str, name: str) -> TestedRubric | str:
        """Return a rubric to test, the only one of its file if `name` is empty; or why it cannot be tested."""
        try:
            models = self._load(path)
        except RubricError as fault:
            first, *more = fault.faults
            others = f" (and {len(more)} more)" if more else ""
            return f"the rubric cannot be tested: {first}{others}"
        if not name and len(models) > 1:
            return f"{path} has {len(models)} rubrics; name one after a `#`: {list_names(models)}"
        name = name or next(iter(models))
        if name not in models:
            return f"{path} has no rubric `{name}`; {point_to_known(name, models)}"
        key = (path, name)
        if key not in self.tested:
            loaded = models[name]
            try:
                rubric = loaded.prepare()
            except RubricError as fault:
                return f"the rubric cannot be tested: {fault}"
            settings = self._finder.for_file(path)
            self.tested[key] = TestedRubric(loaded, rubric, RubricPlaces(loaded), settings, Verifier(rubric))
        return self.tested[key]

    def _load(self, path: str) -> dict[str, LoadedRubric]:
        """Return the rubrics of a file by name; raise RubricError if it cannot be read or has errors."""
        if path not in self._loaded:
            try:
                settings = self._finder.for_file(path)
                data = read(File(path, settings._replace(claimed=True)), may_be_stdin=False)
                if isinstance(data, Unreadable):
                    raise RubricError(f"{data.path}: {data.reason}")  # noqa: TRY301 (kept with the others)
                self._loaded[path] = load_models(path, data, settings)
            except SettingsError as fault:
                self._loaded[path] = RubricError(*fault.lines)
            except RubricError as fault:
                self._loaded[path] = fault
        loaded = self._loaded[path]
        if isinstance(loaded, RubricError):
            # Each test of the file raises it again, and its traceback would grow with each.
            raise loaded.with_traceback(None)
        return loaded

    def _open_recordings(self, file: RubricTests, tested: TestedRubric) -> Recordings | Problem | None:
        """Return the recordings for a file, None if there are none, or the problem in reading them."""
        if not file.names_outputs and all(test.output is not None for test in file.tests):
            return None
        key = (file.outputs, tested.rubric.name, file.mapping)
        path = ("outputs",) if file.names_outputs else ()
        if key not in self.recordings:
            try:
                recordings = read_recordings(*key)
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as fault:
                reason = getattr(fault, "strerror", None) or fault
                return Problem("unreadable-outputs", path, values={"file": file.outputs, "reason": reason})
            self.recordings[key] = recordings
        recordings = self.recordings[key]
        if recordings.broken:
            line, fault_text = recordings.broken[0]
            more = f" ({len(recordings.broken) - 1} more like it)" if len(recordings.broken) > 1 else ""
            values = {"file": file.outputs, "at": line, "reason": f"{fault_text}{more}"}
            return Problem("faulty-outputs", path, values=values)
        return recordings
