"""Write the query: header, steps, points and verdict."""

import re
from collections.abc import Iterator
from textwrap import indent

from rubric_lint.engines.sql.checking import Checker
from rubric_lint.engines.sql.dialects import DIALECTS, Dialect, choose
from rubric_lint.engines.sql.reading import Step, read_output
from rubric_lint.messages import visible
from rubric_lint.outputs.candidates import Extract
from rubric_lint.scoring.grading import ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import RubricError
from rubric_lint.version import __version__

_LARGEST = 2**63 - 1
"""The largest number of a column of 64-bit integers."""

_MOST = 10**18
"""An answer must be below this number, and above its negative: the query reads 18 digits."""


_MARKS = r"[\x60<]"
"""Back ticks, and what begins a tag."""


def compile_rubric(
    rubric: ScoringRubric,
    dialect: str,
    *,
    table: str = "outputs",
    extract: Extract = Extract.LAST,
    is_struct: bool = False,
    extra: tuple[str, ...] = (),
) -> str:
    """Return a query that scores the judge outputs of a table with the columns `id` and `output`.

    `dialect` is a name of `DIALECTS`. `output` is a raw text, or a struct if `is_struct`; `extra` are fields that the
    judge adds.

    Raises:
        RubricError: if the numbers of the rubric are too large.
        FieldError: if scoring does not ignore one of `extra`.
    """
    sql = DIALECTS[dialect]
    _refuse_large(rubric)
    checker = Checker(sql, rubric, extra, extract=extract, is_struct=is_struct)
    steps = [*read_output(sql, is_struct=is_struct), *checker.write(), *_grade(sql, rubric)]
    lines = [*_write_head(sql, rubric, is_struct=is_struct), "WITH"]
    source = sql.table(table)
    prefix = "graded" if table.lower().startswith("scoring") else "scoring"  # never the table itself
    for number, (what, columns) in enumerate(steps, start=1):
        listed = ["*" if number > 1 else sql.identifier("id")]
        listed += [f"{value} AS {name}" for name, value in columns.items()]
        lines += [f"-- {number}. {what}", f"{prefix}_{number} AS (", "  SELECT"]
        lines += [indent(",\n".join(listed), "    "), f"  FROM {source}", ")" if number == len(steps) else "),"]
        source = f"{prefix}_{number}"
    lines += ["SELECT", indent(",\n".join(_list_results(sql, rubric)), "  "), f"FROM {source}"]
    return "\n".join(lines) + "\n"


def _refuse_large(rubric: ScoringRubric) -> None:
    """Raise an error if 64-bit integers cannot hold every sum of points, or an answer has too many digits.

    Raises:
        RubricError: saying which.
    """
    points = [[grade.points for grade in each.grades] for each in rubric.criteria]
    largest = sum(max(*map(abs, each), max(each) - min(each)) for each in points)
    digits = len(str(max(largest, rubric.full)))
    if max(largest, 2 * rubric.full) > _LARGEST:
        raise RubricError(
            f"rubric `{rubric.name}`: the points of its answers have up to {digits} digits, more "
            "than a column of 64-bit integers holds; give its weights fewer digits"
        )
    for criterion in rubric.criteria:
        if any(abs(int(grade.answer)) >= _MOST for grade in criterion.grades):
            raise RubricError(f"rubric `{rubric.name}`: a level of `{criterion.id}` has more than 18 digits")


def _write_head(sql: Dialect, rubric: ScoringRubric, *, is_struct: bool) -> Iterator[str]:
    kind = "structs" if is_struct else "texts"
    name = re.sub(r"[^\w .,/()@+=-]", "?", visible(rubric.name))
    yield f"-- Scores judge outputs ({kind}) by the rubric {name}, version {rubric.hash}, in {sql.label}."
    yield f"-- Written by rubric-lint {__version__}; write it again when the rubric changes."
    yield "-- One row for each output: status is valid, invalid (error says why) or unread. The query cannot decide"
    yield "-- unread outputs; score them with rubric-score. The score is exactly points / full."


def _grade(sql: Dialect, rubric: ScoringRubric) -> Iterator[Step]:
    # In a fence, a text with these characters may hold more than the object.
    is_mixed = f"is_fence AND is_object AND {sql.matches('held', _MARKS)}"
    ways = [
        ("held IS NULL", "'invalid'"),
        (f"is_open OR error IS NOT NULL AND {is_mixed}", "'unread'"),
        ("error IS NOT NULL", "'invalid'"),
        ("doubt IS NOT NULL", "'unread'"),
    ]
    yield "Valid, invalid, or left to rubric-score", {"status": choose(ways, "'valid'")}
    numbers = [
        (f"answer_{place}", f"CASE WHEN status = 'valid' THEN {sql.at('numbers', sql.place('places', str(place)))} END")
        for place, _ in enumerate(rubric.criteria, start=1)
    ]
    yield "The answers, in the order of the rubric", dict(numbers)
    terms = " + ".join(_weigh(each, f"answer_{place}") for place, each in enumerate(rubric.criteria, start=1))
    points = f"CASE WHEN status = 'valid' THEN CAST(greatest({terms}, 0) AS BIGINT) END"
    yield "The points, at least 0", {"points": points}


def _weigh(criterion: ScoringCriterion, answer: str) -> str:
    """Return the points of an answer: as many for each integer above the lowest, if these are whole points.

    No step of the sum is larger than the points themselves, so that none overflows.
    """
    points = {int(grade.answer): grade.points for grade in criterion.grades}
    lowest, highest = min(points), max(points)
    slope, rest = divmod(points[highest] - points[lowest], max(highest - lowest, 1))
    if rest:
        cases = " ".join(f"WHEN {number} THEN {worth}" for number, worth in points.items())
        return f"CASE {answer} {cases} END"
    above = f"({answer} - {lowest})" if lowest > 0 else f"({answer} + {-lowest})" if lowest else answer
    return f"{slope} * {above}" + (f" + {points[lowest]}" if points[lowest] else "")


def _list_results(sql: Dialect, rubric: ScoringRubric) -> Iterator[str]:
    numbered = [*enumerate(rubric.criteria, start=1)]
    missed = [(each, _misses_gate(each, f"answer_{place}")) for place, each in numbered]
    gates = [f"CASE WHEN {test} THEN {sql.text(each.id)} END" for each, test in missed if test]
    no_gates = f"CAST({sql.array([])} AS {sql.list_type})"
    listed = sql.keep(sql.array(gates), "v", "n", "v IS NOT NULL") if gates else no_gates
    fails = [(" OR ".join(test for _, test in missed if test), "'fail'")] if gates else []
    verdict = choose(
        [
            ("status <> 'valid'", "NULL"),
            *fails,
            (f"points >= {rubric.pass_from}", "'pass'"),
            (f"points >= {rubric.borderline_from}", "'borderline'"),
        ],
        "'fail'",
    )
    criteria = sql.array(
        sql.struct(id=sql.text(each.id), raw=f"answer_{place}", gate_met=f"NOT ({test})" if test else "TRUE")
        for (place, each), (_, test) in zip(numbered, missed, strict=True)
    )
    yield sql.identifier("id")
    yield f"{sql.text(rubric.name)} AS rubric"
    yield f"'{rubric.hash}' AS rubric_hash"
    yield "points"
    yield f"CASE WHEN status = 'valid' THEN CAST({rubric.full} AS BIGINT) END AS {sql.identifier('full')}"
    yield f"CAST(points AS DOUBLE) / {rubric.full} AS score"
    yield f"{verdict} AS verdict"
    yield f"CASE WHEN status = 'valid' THEN {listed} END AS gates_missed"
    yield f"CASE WHEN status = 'valid' THEN {criteria} END AS criteria"
    yield "status"
    told = sql.text("a fence that may hold more than the object")
    yield f"CASE status WHEN 'invalid' THEN error WHEN 'unread' THEN COALESCE(doubt, {told}) END AS error"


def _misses_gate(criterion: ScoringCriterion, answer: str) -> str:
    """Return whether an answer misses the gate of a criterion; empty if no answer can."""
    missed = [int(grade.answer) for grade in criterion.grades if not grade.gate_met]
    if not missed:
        return ""
    if len(missed) > 2 and missed == [int(grade.answer) for grade in criterion.grades[: len(missed)]]:
        return f"{answer} <= {missed[-1]}"
    return f"{answer} IN ({', '.join(map(str, missed))})"
