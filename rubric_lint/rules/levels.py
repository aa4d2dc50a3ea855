"""Repeated levels, fewer than two, or a gate that is not a level."""

from collections.abc import Iterator

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Criterion, Level
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the levels of each criterion with each other and with the gate."""
    for criterion in rubric.criteria:
        if criterion.levels:
            yield from _find_repeated(criterion)
            yield from _find_lost_gate(criterion)
            numbers = {level.number for level in criterion.levels}
            if rubric.view and len(numbers) == 1 and None not in numbers:  # the schemas of ours see to it
                yield Problem("one-level", criterion.path_of("levels"), values={"level": criterion.levels[0].number})


def _find_repeated(criterion: Criterion) -> Iterator[Problem]:
    seen: dict[int, Level] = {}
    for level in criterion.levels or ():
        if level.number is None:
            continue
        if first := seen.get(level.number):
            place = Place("the first one", first.number_path, first.part)
            yield Problem("repeated", level.number_path, level.part, {"level": level.number}, (place,))
        else:
            seen[level.number] = level


def _find_lost_gate(criterion: Criterion) -> Iterator[Problem]:
    numbers = [level.number for level in criterion.levels or ()]
    gate = criterion.gate
    is_clear = None not in numbers and len(set(numbers)) == len(numbers)  # otherwise these findings come first
    is_on_levels = criterion.gate_path[-1] == "required_min_level"  # with `score_ranges`, and in v1, it is a score
    if gate is None or not is_on_levels or gate in numbers or not is_clear:
        return
    known = join_words([str(number) for number in sorted(number for number in numbers if number is not None)])
    yield Problem("lost-gate", criterion.gate_path, values={"gate": gate, "levels": known})


RULE = Rule(
    "levels",
    Severity.ERROR,
    {
        **of_schema("empty", "items"),
        "repeated": "level {level} is already defined at {line}; give each level its own number",
        "overlap": "this range has {scores}, and so has the one at {line}; end one where the other starts",
        "lost-gate": "gate {gate} is not one of the levels {levels}; choose one of them",
        "one-level": "all answers are worth the same, level {level}; give two levels or more",
    },
    check,
    marks=(Part.VALUE, Part.KEY),
)
