"""Review the rubrics that tests have run on: coverage, catch rate, changes that no test notices."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from rubric_lint.assess.measure.intervals import Share
from rubric_lint.assess.rubric_tests import mutation
from rubric_lint.assess.rubric_tests.mutation import MutationResult
from rubric_lint.assess.rubric_tests.running import Runner, ScoredTest, TestedRubric, allows, read_gates, read_verdicts
from rubric_lint.lint.engine import FoundProblem, ProblemFinder, examine
from rubric_lint.lint.project.files import File
from rubric_lint.model.criterion import Shape
from rubric_lint.model.finding import Result
from rubric_lint.model.messages import counted, join_words, name_scores
from rubric_lint.scoring.grading import NOT_APPLICABLE, AnswerValue, ScoringCriterion, Verdict
from rubric_lint.scoring.loading import RubricPart
from rubric_lint.source.document import Document


@dataclass(frozen=True)
class CoverageTarget:
    """Something that a test can reach: its `kind`, its place, whether one does, and the message if none does."""

    kind: str
    spot: RubricPart
    is_reached: bool
    code: str
    values: Mapping[str, object]


def list_targets(tested: TestedRubric) -> Iterator[CoverageTarget]:
    """List the bands or levels of each criterion, both sides of its gate, then both sides of the gates of groups."""
    for number, criterion in enumerate(tested.rubric.criteria):
        reached = {ran.result.criteria[number].grade.answer for ran in tested.ran}
        reached |= {ran.answers[number] for ran in tested.unscored}
        yield from _list_answers(tested, criterion, reached)
        missed = {grade.answer for grade in criterion.grades if not grade.gate_met}
        # Both answers to a check are targets already, and they are the sides of its gate.
        if missed and criterion.shape is not Shape.CHECKLIST:
            spot = tested.places.gate(criterion.id)
            values = {"criterion": criterion.id}
            yield CoverageTarget("gate", spot, bool(reached & missed), "gate-missed", values)
            yield CoverageTarget("gate", spot, bool(reached - missed), "gate-met", values)
    for number, group in enumerate(tested.rubric.groups):
        if group.gate:
            sides = {ran.result.groups[number].gate_met for ran in tested.ran}
            for is_met, code in ((False, "gate-missed"), (True, "gate-met")):
                yield CoverageTarget(
                    "gate", tested.places.gate(group.id), is_met in sides, code, {"criterion": group.id}
                )


def _list_answers(
    tested: TestedRubric, criterion: ScoringCriterion, reached: set[AnswerValue]
) -> Iterator[CoverageTarget]:
    values: dict[str, object] = {"criterion": criterion.id}
    if criterion.may_not_apply:
        spot = tested.places.criterion(criterion.id)
        yield CoverageTarget("condition", spot, NOT_APPLICABLE in reached, "not-applicable", values)
    if criterion.shape is Shape.CHECKLIST:
        spot = tested.places.criterion(criterion.id)
        yield CoverageTarget("answer", spot, True in reached, "met", values)
        yield CoverageTarget("answer", spot, False in reached, "missed", values)
        return
    name = "" if criterion.shape is Shape.HOLISTIC else f" for `{criterion.id}`"
    for spot, answers in tested.list_bands(criterion).items():
        kind = "level" if criterion.shape is Shape.LEVELS and len(answers) == 1 else "band"
        scores = criterion.word_allowed() if answers == criterion.numbers else name_scores(answers)
        values = {"level": str(answers[0]), "scores": scores, "of_criterion": name}
        yield CoverageTarget(kind, spot, bool(reached.intersection(answers)), kind, values)


_NOUNS = {
    "band": "bands",
    "level": "levels",
    "answer": "answers to checks",
    "condition": "conditions",
    "gate": "sides of gates",
}


class CatchRate(NamedTuple):
    """How many bad answers were `planted` for a criterion, or for the verdict, and how many of them it caught.

    Variants of one text count as one, which is caught if all of them are.
    """

    criterion: str | None
    planted: int
    caught: int

    @property
    def name(self) -> str:
        """The name of the row; the verdict has no criterion."""
        return f"`{self.criterion}`" if self.criterion is not None else "verdict"

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of 95% for the share that is caught."""
        return Share(self.caught, self.planted).interval or (0.0, 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        share = self.caught / self.planted
        return f"{self.caught} of {self.planted} caught, {share:.0%} (95% interval {low:.0%} to {high:.0%})"


def count_catches(tested: TestedRubric) -> Iterator[CatchRate]:
    """Count for each criterion with planted answers, then for the verdict.

    An answer is planted for a criterion if its test expects the gate to be missed, or only values that miss the gate
    (without a gate: that are below the best band or level). It is planted for the verdict if its test expects a
    verdict other than pass. It is caught if what the test expects there came to be.
    """
    for number, criterion in enumerate(tested.rubric.criteria):
        bad = _find_bad(criterion, tested)
        outcomes = []
        for ran in tested.ran:
            gate = read_gates(ran.test).get(criterion.id)
            grade_given = ran.result.criteria[number].grade
            expected = ran.test.expect.get("criteria", {}).get(criterion.id)
            grades = criterion.all_grades
            allowed = {grade.answer for grade in grades if expected is None or allows(expected, grade.answer)}
            if gate is False or (expected is not None and allowed <= bad):
                is_caught = (gate is None or grade_given.gate_met is gate) and grade_given.answer in allowed
                outcomes.append((ran, is_caught))
        if outcomes:
            yield _count_caught(criterion.id, outcomes)
    outcomes = []
    for ran in tested.ran:
        verdicts = read_verdicts(ran.test)
        if verdicts and Verdict.PASS not in verdicts:
            outcomes.append((ran, ran.result.verdict in verdicts))
    if outcomes:
        yield _count_caught(None, outcomes)


def _count_caught(criterion: str | None, outcomes: Sequence[tuple[ScoredTest, bool]]) -> CatchRate:
    """Count the planted answers that are caught; each group of variants counts once."""
    groups: dict[object, bool] = {}
    for ran, is_hit in outcomes:
        group = ran.test.group
        key = ("test", ran.file.name, ran.test.key) if group is None else ("group", str(group))
        groups[key] = groups.get(key, True) and is_hit
    return CatchRate(criterion, len(groups), sum(groups.values()))


def _find_bad(criterion: ScoringCriterion, tested: TestedRubric) -> frozenset[AnswerValue]:
    """Return the values of bad answers: those that miss the gate, or are below the best band or level."""
    missed = frozenset(grade.answer for grade in criterion.grades if not grade.gate_met)
    if missed:
        return missed
    best = criterion.from_worst[-1].answer
    bands = tested.list_bands(criterion).values() or [[grade.answer] for grade in criterion.grades]
    below = [answers for answers in bands if best not in answers]
    return frozenset(answer for answers in below for answer in answers)


_UNTESTED, _UNNOTICED = "untested", "unnoticed-change"
_RULES = {"coverage": _UNTESTED, "mutation": _UNNOTICED}
"""The rules that report a figure's findings, by the name of the figure."""


def review(runner: Runner, figures: Collection[str]) -> Iterator[tuple[File, Result]]:
    """Yield for each file with tested rubrics what their tests do not reach, and the changes they do not notice.

    `figures` are names of `FIGURES`. Nothing is computed for a rubric of which no test has a result.
    """
    rules = frozenset(rule for name, rule in _RULES.items() if name in figures)
    if not rules:
        return
    files: dict[str, list[TestedRubric]] = {}
    for (path, _), tested in runner.tested.items():
        if tested.ran:
            files.setdefault(path, []).append(tested)
    for path, rubrics in files.items():
        settings = rubrics[0].settings
        enabled = None if settings.enabled is None else settings.enabled | rules
        look = ProblemFinder(partial(_look, rubrics, rules), rules)
        source = rubrics[0].loaded.document.source
        result = examine(source, settings._replace(enabled=enabled), problem_finder=look).result
        yield File(path, settings), result


def _look(
    rubrics: Sequence[TestedRubric], rules: frozenset[str], documents: Sequence[Document]
) -> Iterator[FoundProblem]:
    for tested in rubrics:
        document = next(parsed for parsed in documents if parsed.number == tested.loaded.document.number)
        if _UNTESTED in rules:
            for target in list_targets(tested):
                if not target.is_reached:
                    yield FoundProblem(
                        _UNTESTED, tested.places.problem(target.spot, target.code, target.values), document
                    )
        if _UNNOTICED in rules:
            for problem in find_mutation(tested).survivors:
                yield FoundProblem(_UNNOTICED, problem, document)


def find_mutation(tested: TestedRubric) -> MutationResult:
    """Return the result of mutating a rubric, which is computed once in a run."""
    result: MutationResult = tested.mutation or mutation.mutate(tested)
    tested.mutation = result
    return result


def _format_coverage(runner: Runner) -> Iterator[str]:
    """Yield the sentence on coverage."""
    targets = [target for tested in _list_ran(runner) for target in list_targets(tested)]
    if not targets:
        yield "Coverage: no test has a result."
        return
    total = Counter(target.kind for target in targets)
    reached = Counter(target.kind for target in targets if target.is_reached)
    parts = [f"{reached[kind]} of {total[kind]} {noun}" for kind, noun in _NOUNS.items() if total[kind]]
    yield f"Coverage: the tests reach {join_words(parts)}."


def _format_mutation(runner: Runner) -> Iterator[str]:
    """Yield the sentence on mutation, and the rubrics that could not be changed."""
    results = [(name, find_mutation(tested)) for name, tested in _name_ran(runner)]
    if not results:
        yield "Mutation: no test has a result."
    changed = [result for _, result in results if not result.refused]
    if changed:
        made = sum(result.made for result in changed)
        equivalent = sum(result.equivalent for result in changed)
        can_matter = made - equivalent
        if can_matter:
            noticed, failing = sum(result.noticed for result in changed), sum(result.failing for result in changed)
            others = f"; {equivalent} more cannot alter a verdict" if equivalent else ""
            left_out = f"; {counted(failing, 'failing test')} left out" if failing else ""
            share = f"{noticed} of {can_matter} changes ({100 * noticed / can_matter:.0f}%)"
            yield f"Mutation: the tests notice {share}{others}{left_out}."
        else:
            yield f"Mutation: {made} changes made, and none of them can alter a verdict."
    for name, result in results:
        if result.refused:
            yield f"Mutation: `{name}` was not changed: {result.refused}."


def _format_catches(runner: Runner) -> Iterator[str]:
    """Yield a row for each criterion with planted answers, by rubric."""
    ran = _name_ran(runner)
    rows = [(f"{name}: ", rate) for name, tested in ran for rate in count_catches(tested)]
    if len(ran) == 1:
        rows = [("", rate) for _, rate in rows]
    yield "Catch rate:" if rows else "Catch rate: no test expects a bad answer to be caught."
    width = max((len(head + rate.name) for head, rate in rows), default=0)
    for head, rate in rows:
        yield f"  {head + rate.name:<{width}}  {rate}"
    others = sum(tested.tests - len(tested.ran) for tested in runner.tested.values())
    if others:
        yield f"  not counted: {counted(others, 'test')} without a result"


def _count_targets(tested: TestedRubric) -> Iterator[dict[str, Any]]:
    targets = list(list_targets(tested))
    for kind in dict.fromkeys(target.kind for target in targets):
        reached = [target.is_reached for target in targets if target.kind == kind]
        yield {"kind": kind, "targets": len(reached), "reached": sum(reached)}


def _count_changes(tested: TestedRubric) -> Iterator[dict[str, Any]]:
    result = find_mutation(tested)
    counts = {name: getattr(result, name) for name in ("made", "equivalent", "noticed", "failing")}
    yield {**counts, "reason": result.refused or None}


def _list_catches(tested: TestedRubric) -> Iterator[dict[str, Any]]:
    for catch in count_catches(tested):
        yield {**catch._asdict(), "interval": list(catch.interval)}


FIGURES: Mapping[str, tuple[Callable[[Runner], Iterator[str]], Callable[[TestedRubric], Iterator[dict[str, Any]]]]] = {
    "coverage": (_format_coverage, _count_targets),
    "mutation": (_format_mutation, _count_changes),
    "catch_rate": (_format_catches, _list_catches),
}
"""What can be computed: how it is worded, and its entries in JSON for a rubric."""


def format_figures(runner: Runner, figures: Collection[str]) -> Iterator[str]:
    """Yield what was asked for in words."""
    for name in figures:
        yield from FIGURES[name][0](runner)


def list_figures(runner: Runner, figures: Collection[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield what was asked for as JSON, by name; each list has entries for each rubric with a result."""
    for name in figures:
        entries = ((tested, entry) for tested in _list_ran(runner) for entry in FIGURES[name][1](tested))
        yield name, [{"file": tested.path, "rubric": tested.rubric.name, **entry} for tested, entry in entries]


def _name_ran(runner: Runner) -> list[tuple[str, TestedRubric]]:
    """Return the rubrics with a result and their names, with the file where several have one name."""
    ran = _list_ran(runner)
    times = Counter(tested.rubric.name for tested in ran)
    named = []
    for tested in ran:
        name = tested.rubric.name
        if times[name] > 1:
            name = f"{tested.path}#{name}"
        named.append((name, tested))
    return named


def _list_ran(runner: Runner) -> list[TestedRubric]:
    """Return the rubrics of which at least one test has a result."""
    return [tested for tested in runner.tested.values() if tested.ran]
