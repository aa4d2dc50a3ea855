"""Rules about values that all answers have, or none: judged-constant and judged-unused-band."""

from collections.abc import Iterator
from fractions import Fraction

from rubric_lint.agree.judged.budget import at_most, bound_absent, corrected, count_needed
from rubric_lint.agree.judged.decision import Decision, Outcomes, Spot, Untested
from rubric_lint.agree.judged.table import Column, Table
from rubric_lint.agree.ratings import name_key
from rubric_lint.agree.scales import Kind, Measure
from rubric_lint.messages import join_words

CONSTANT, UNUSED = "judged-constant", "judged-unused-band"

_USUAL = Fraction(9, 10)
"""The share of answers that must differ for a value to be worth its place: a tenth."""

_MOST_SHOWN = 3


def find_constant(table: Table) -> Outcomes:
    """Find criteria to which every output gave the same check, side of the gate, band or level."""
    tests, n = len(table.columns), table.answers
    needed = count_needed(_USUAL, tests)
    alike = [(place, column) for place, column in enumerate(table.columns) if is_constant(column)]
    if n < needed:
        if alike:
            reason = f"judged alike in all {n} answers so far"
            yield Untested(CONSTANT, tuple(column.name for _, column in alike), reason, needed)
        return
    for _, column in alike:
        value, other, missing = _word_constant(column)
        code, values = "alike", {"value": value, "n": n, "missing": missing}
        if differing := _find_other_labels(column):
            labelled = len(column.labels) - column.labels.count(None)
            look = join_words([f"`{name_key(table.keys[number])}`" for number in differing[:_MOST_SHOWN]])
            code = "labels-differ"
            values |= {"differing": len(differing), "labelled": labelled, "look": look}
        else:
            bound = at_most(bound_absent(n, tests))
            values |= {"bound": bound, "otherwise": other, "budget": corrected(tests)}
        yield Decision(CONSTANT, Spot(column.name), code, values)


def is_constant(column: Column) -> bool:
    """Return whether all outputs give a criterion the same check, side of the gate, band or level."""
    return len({_classify(column, position) for position in column.used}) == 1


def _find_other_labels(column: Column) -> list[int]:
    """Return the numbers of the answers to which people gave something else than all outputs did."""
    value = _classify(column, min(column.used))
    return [at for at, label in enumerate(column.labels) if label is not None and _classify(column, label) != value]


def _classify(column: Column, position: int) -> int:
    if column.is_gated and column.measure.meets:
        return int(column.measure.meets[position])
    return _band_of(column, position) if column.bands else position


def _band_of(column: Column, position: int) -> int:
    """Return the number of the band of a value, or of its level."""
    if column.bands is None:
        return position
    return list(column.bands.positions.values())[position]


def _word_constant(column: Column) -> tuple[str, str, str]:
    """Return in words what all outputs gave, what the others would do, and what answers are missing."""
    position = min(column.used)
    meets = column.measure.meets
    if meets and (column.is_gated or column.is_check):
        what = "" if column.is_check else "the gate was "
        return (f"{what}met", "miss it", "miss it") if meets[position] else (f"{what}missed", "meet it", "meet it")
    kind = "level" if column.measure.scale.kind is Kind.LEVEL else "band" if column.bands else "score"
    name = _steps_of(column).scale.names[_band_of(column, position)]
    return f"{kind} {name} was given", "earn another one", "earn another one"


def find_unused(table: Table) -> Outcomes:
    """Find bands and levels that no output gave, except where `judged-constant` reports a single band in use."""
    stepped = [column for column in table.columns if _has_steps(column)]
    tests, n = sum(len(_steps_of(column).scale.names) for column in stepped), table.answers
    if not tests:
        return
    needed = count_needed(_USUAL, tests)
    if n < needed:
        missing = [f"{column.name} {name}" for column in stepped for _, name in _list_unused(column)]
        if missing:
            yield Untested(UNUSED, tuple(missing), f"given in none of {n} answers so far", needed)
        return
    bound, budget = at_most(bound_absent(n, tests)), corrected(tests)
    for column in stepped:
        if is_constant(column) and not column.is_gated:
            continue
        for number, name in _list_unused(column):
            step = f"{'level' if column.bands is None else 'the band'} {name}"
            values = {"step": step, "n": n, "bound": bound, "budget": budget}
            answer = next(
                answer
                for answer, position in column.measure.positions.items()
                if _band_of(column, position) == number and not isinstance(answer, str)
            )
            yield Decision(UNUSED, Spot(column.name, answer=answer), "unused", values)


def _has_steps(column: Column) -> bool:
    return column.bands is not None or column.measure.scale.kind is Kind.LEVEL


def _steps_of(column: Column) -> Measure:
    return column.bands or column.measure


def _list_unused(column: Column) -> Iterator[tuple[int, str]]:
    """Yield the number and the name of each band or level that no output gave."""
    used = {_band_of(column, position) for position in column.used}
    yield from ((number, name) for number, name in enumerate(_steps_of(column).scale.names) if number not in used)
