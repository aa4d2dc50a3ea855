"""Repeated levels, fewer than two, or a gate that is not a level."""

from collections.abc import Iterator

from rubric_lint.model.criterion import Level
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import join_words
from rubric_lint.model.rubric import Rubric
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare the levels of each criterion with each other and with the gate."""
    for criterion in rubric.criteria:
        if not criterion.levels:
            continue
        seen: dict[int, Level] = {}
        for level in criterion.levels:
            if level.number is None:
                continue
            first = seen.setdefault(level.number, level)
            if first is not level:
                place = RelatedPlace("the first one", first.number_path, first.part)
                yield Problem("repeated", level.number_path, level.part, {"level": level.number}, (place,))
        gate, is_all_clear = criterion.gate, len(seen) == len(criterion.levels)  # otherwise other findings come first
        is_on_levels = criterion.gate_path[-1] == "required_min_level"  # with `score_ranges`, and in v1, it is a score
        if gate is not None and is_on_levels and gate not in seen and is_all_clear:
            values = {"gate": gate, "levels": join_words([str(number) for number in sorted(seen)])}
            yield Problem("lost-gate", criterion.gate_path, values=values)
        is_numbered = all(level.number is not None for level in criterion.levels)
        if rubric.view and is_numbered and len(seen) == 1:  # the schemas of ours see to it
            yield Problem("one-level", criterion.path_of("levels"), values={"level": criterion.levels[0].number})


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
