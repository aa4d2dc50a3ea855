"""Choose example outputs of a rubric that show how its weights, gates and thresholds work, and score them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from rubric_lint.model.criterion import Mark, Shape
from rubric_lint.model.messages import join_words, shorten
from rubric_lint.scoring.form import write_check
from rubric_lint.scoring.grading import (
    Grade,
    JudgeOutput,
    NothingAppliesError,
    ScoringCriterion,
    ScoringRubric,
    Verdict,
)
from rubric_lint.scoring.show import ShownExample

_MOST_LISTED = 4
"""The most criteria whose answers a title lists."""

_MOST_TRIED = 100
"""The most criteria of a rubric whose levels are tried one by one: of more, hardly one decides alone."""


def make_examples(rubric: ScoringRubric) -> tuple[ShownExample, ...]:
    """Return example outputs, each with the score and verdict that rubric-score gives it; none twice."""
    examples: dict[tuple[Grade, ...], ShownExample] = {}
    # The answers to each criterion go from worst to best; a few lose points where they are met.
    criteria = tuple(replace(criterion, grades=criterion.from_worst) for criterion in rubric.criteria)
    for title, grades in _choose(replace(rubric, criteria=criteria)):
        if grades not in examples:
            answers = tuple(grade.answer for grade in grades)
            try:
                scored = rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
            except NothingAppliesError:
                continue  # it has no score to show
            checks = [write_check(criterion, answer) for criterion, answer in zip(criteria, answers, strict=True)]
            output = {criteria[0].field: answers[0]} if rubric.shape is Shape.HOLISTIC else {"checks": checks}
            examples[grades] = ShownExample(title, output, scored.score, scored.verdict)
    return tuple(examples.values())


def _is_reversed(criterion: ScoringCriterion) -> bool:
    """Return whether an answer gains by not meeting an ordered criterion, or by a lower score."""
    return criterion.grades[0].answer > criterion.grades[-1].answer


Example = tuple[str, tuple[Grade, ...]]
"""The title of an example, and the grade of each criterion in it."""


def _choose(rubric: ScoringRubric) -> Iterator[Example]:
    """Yield the examples of a rubric."""
    criteria = rubric.criteria
    if len(criteria) == 1:
        yield from _choose_for_one(rubric)
        return
    best = tuple(criterion.grades[-1] for criterion in criteria)
    worst = tuple(criterion.grades[0] for criterion in criteria)
    rest = "the rest at their highest"
    highest, lowest = "all criteria at their highest", "all criteria at their lowest"
    if any(map(_is_reversed, criteria)):
        rest = "the rest at their best"
        highest, lowest = "every criterion at its best", "every criterion at its worst"
    elif rubric.shape is Shape.CHECKLIST:
        highest, lowest = "all criteria met", "no criterion met"
    yield highest, best
    yield from _choose_thresholds(rubric)
    yield from _choose_misses(criteria, best, rest)
    if rubric.shape is Shape.LEVELS:
        step = _find_step(rubric, best)
        if step:
            at, grade = step
            yield f"{_name(criteria[at], grade)}; {rest}", _replace(best, at, grade)
    yield from _choose_not_applicable(criteria, best, rest)
    yield lowest, worst


def _choose_thresholds(rubric: ScoringRubric) -> Iterator[Example]:
    """Yield the answers that are each just high enough to pass, and for borderline."""
    criteria, (pass_at, borderline_at) = rubric.criteria, rubric.model.thresholds
    for verdict, name, threshold in (
        (Verdict.PASS, "to pass", pass_at),
        (Verdict.BORDERLINE, "for borderline", borderline_at),
    ):
        least = [_find_least(criterion, threshold) for criterion in criteria]
        enough = tuple(grade for grade in least if grade)
        if len(enough) == len(criteria) and rubric.weigh(enough).verdict is verdict:
            title = f"each just high enough {name}"
            if len(criteria) <= _MOST_LISTED:
                answers = [_name(criterion, grade) for criterion, grade in zip(criteria, enough, strict=True)]
                title = f"{title}: {', '.join(answers)}"
            yield title, enough


def _choose_misses(criteria: Sequence[ScoringCriterion], best: tuple[Grade, ...], rest: str) -> Iterator[Example]:
    """Yield the best answers but for one that misses its gate, and but for the costliest one without a gate."""
    below = {}
    for at, criterion in enumerate(criteria):
        missed = [grade for grade in criterion.grades if not grade.gate_met]
        if missed:
            below[at] = missed[-1]
    if below:  # the one that costs the fewest points shows best that a gate outweighs the score
        at = min(below, key=lambda at: criteria[at].share * (best[at].score - below[at].score))
        yield _format_miss(criteria[at], below[at], gate=True, rest=rest), _replace(best, at, below[at])
    free = [at for at, criterion in enumerate(criteria) if criterion.grades[0].gate_met and criterion.share]
    if free:
        at = max(free, key=lambda at: criteria[at].share)
        least = criteria[at].grades[0]
        yield _format_miss(criteria[at], least, gate=False, rest=rest), _replace(best, at, least)


def _choose_not_applicable(
    criteria: Sequence[ScoringCriterion], best: tuple[Grade, ...], rest: str
) -> Iterator[Example]:
    """Yield the best answers where nothing applies that has a condition."""
    conditional = [at for at, criterion in enumerate(criteria) if criterion.may_not_apply]
    if not conditional:
        return
    what = f"{len(conditional)} criteria with a condition"
    if len(conditional) <= _MOST_LISTED:
        what = join_words([shorten(criteria[at].id) for at in conditional])
    grades = best
    for at in conditional:
        grades = _replace(grades, at, criteria[at].all_grades[-1])
    yield f"{what} not applicable; {rest}", grades


def _find_step(rubric: ScoringRubric, best: tuple[Grade, ...]) -> tuple[int, Grade] | None:
    """Return the highest level between the ends of one criterion that alone prevents a pass, and whose it is."""
    steps: list[tuple[Fraction, int, Grade]] = []
    if len(rubric.criteria) > _MOST_TRIED:
        return None
    for at, criterion in enumerate(rubric.criteria):
        between = [grade for grade in criterion.grades[1:-1] if grade.gate_met]
        failing = [grade for grade in between if rubric.weigh(_replace(best, at, grade)).verdict is not Verdict.PASS]
        if failing:
            steps.append((failing[-1].score, at, failing[-1]))
    return max(steps, key=lambda step: (step[0], -step[1]))[1:] if steps else None


def _choose_for_one(rubric: ScoringRubric) -> Iterator[Example]:
    """Yield the highest and the lowest answer, and those at which the verdict or the gate changes."""
    (criterion,) = rubric.criteria
    grades = criterion.grades
    kinds = [(rubric.weigh([grade]).verdict, grade.gate_met) for grade in grades]
    last = len(grades) - 1
    for at in range(last, -1, -1):
        if at in (0, last) or kinds[at] != kinds[at - 1] or kinds[at] != kinds[at + 1]:
            answer = grades[at].answer
            title = f"score {answer}"
            if isinstance(answer, bool):
                title = "met" if answer else "not met"
            elif rubric.shape is Shape.LEVELS:
                title = f"level {answer}"
            yield title, (grades[at],)


def _find_least(criterion: ScoringCriterion, threshold: Mark) -> Grade | None:
    """Return the lowest grade that meets the gate and the threshold."""
    if criterion.share < 0:
        return criterion.grades[-1]
    enough = (grade for grade in criterion.grades if grade.gate_met and grade.score >= Fraction(threshold))
    return next(enough, None)


def _replace(grades: tuple[Grade, ...], at: int, grade: Grade) -> tuple[Grade, ...]:
    return (*grades[:at], grade, *grades[at + 1 :])


def _name(criterion: ScoringCriterion, grade: Grade) -> str:
    answer: object = grade.answer
    if isinstance(answer, bool):
        answer = "met" if answer else "not met"
    return f"{shorten(criterion.id)} {answer}"


def _format_miss(criterion: ScoringCriterion, grade: Grade, *, gate: bool, rest: str) -> str:
    is_reversed = _is_reversed(criterion)
    if criterion.is_failure:
        return f"{shorten(criterion.id)} found, which fails an answer; {rest}"
    if is_reversed and isinstance(grade.answer, bool):
        return f"{shorten(criterion.id)} met, which counts against an answer; the rest at their best"
    if isinstance(grade.answer, bool) and gate:
        return f"all but {shorten(criterion.id)}, which must be met"
    if isinstance(grade.answer, bool):
        return f"all but {shorten(criterion.id)}"
    what = _MISSES[is_reversed, gate]
    return f"{_name(criterion, grade)}, {what}; {rest}"


_MISSES = {
    (False, False): "its lowest",
    (False, True): "just below its gate",
    (True, False): "its worst",
    (True, True): "just above its gate",
}
"""What an answer to one criterion is, by whether lower scores are better, and whether it misses a gate."""
