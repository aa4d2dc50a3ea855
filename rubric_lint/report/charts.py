"""The drawings of the HTML report, as SVG that takes its colours from the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from rubric_lint.scoring.grading import Verdict
from rubric_lint.scoring.totals import CriterionTotals

BINS = 20
"""How many columns the distribution of scores has; each is 0.05 wide, and 1 counts to the last one."""

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 760, 210, 44, 26, 24
_STACK = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)


def draw_histogram(counts: Mapping[tuple[int, Verdict], int], marks: Sequence[tuple[str, float]]) -> str:
    """How many answers have which score, coloured by verdict; `marks` are the thresholds, each with its label."""
    columns = [[counts.get((place, verdict), 0) for verdict in _STACK] for place in range(BINS)]
    highest = max(map(sum, columns)) or 1
    step = (_WIDTH - _LEFT - 8) / BINS
    room = _HEIGHT - _TOP - _BOTTOM
    floor = _HEIGHT - _BOTTOM
    parts = [_rule(_TOP), _rule(floor), _label(_LEFT - 8, _TOP + 4, f"{highest:,}", "end")]
    parts.append(_label(_LEFT - 8, floor + 4, "0", "end"))
    for place, column in enumerate(columns):
        bottom = float(floor)
        for verdict, count in zip(_STACK, column, strict=True):
            height = max(room * count / highest, 1.5) if count else 0
            bottom -= height
            if count:
                until = f"{place / BINS:.2f} to {(place + 1) / BINS:.2f}"
                parts.append(
                    f'<rect class="{verdict}" x="{_LEFT + place * step + 1.5:.1f}" y="{bottom:.1f}" '
                    f'width="{step - 3:.1f}" height="{height:.1f}"><title>{until}: {count:,} {verdict}</title></rect>'
                )
    parts += [
        _label(_LEFT + step * BINS * tick / 10, _HEIGHT - 6, f"{tick / 10:g}", "middle") for tick in range(0, 11, 2)
    ]
    for name, score in marks:
        across = _LEFT + step * BINS * score
        parts.append(f'<line class="mark" x1="{across:.1f}" x2="{across:.1f}" y1="{_TOP - 6}" y2="{floor}"/>')
        parts.append(_label(across, _TOP - 12, escape(name), "middle" if 0.08 < score < 0.92 else "end"))
    told = "; ".join(
        f"{place / BINS:.2f} to {(place + 1) / BINS:.2f}: {sum(column):,}"
        for place, column in enumerate(columns)
        if any(column)
    )
    return (
        f'<svg class="histogram" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'aria-label="Answers by score. {told or "None"}.">{"".join(parts)}</svg>'
    )


def _rule(height: float) -> str:
    return f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{height}" y2="{height}"/>'


def _label(across: float, down: float, text: str, anchor: str) -> str:
    return f'<text x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{text}</text>'


def draw_answers(totals: CriterionTotals) -> str:
    """How often a judge gave which answer, one column for each that may be given; those that miss the gate are red."""
    grades = totals.criterion.grades
    highest = max(totals.answers.values(), default=0) or 1
    step = min(18.0 if len(grades) > 2 else 34.0, 150 / len(grades))  # so that `no` and `yes` fit
    parts = []
    for place, grade in enumerate(grades):
        count = totals.answers[grade.answer]
        height = max(30 * count / highest, 2)
        kind = "none" if not count else "plain" if grade.gate_met else "fail"
        parts.append(
            f'<rect class="{kind}" x="{place * step:.1f}" y="{32 - height:.1f}" width="{step - 2:.1f}" '
            f'height="{height:.1f}" rx="1"><title>{name_answer(grade.answer)}: {count:,}</title></rect>'
        )
    width = step * len(grades)
    middles = Counter({0: step / 2 - 1, len(grades) - 1: width - step / 2 - 1})
    parts += [_label(at, 46, name_answer(grades[place].answer), "middle") for place, at in sorted(middles.items())]
    told = ", ".join(
        f"{name_answer(grade.answer)}: {totals.answers[grade.answer]:,}"
        for grade in grades
        if totals.answers[grade.answer]
    )
    return (
        f'<svg role="img" width="{width + 12:.0f}" height="50" viewBox="-6 0 {width + 12:.0f} 50" '
        f'aria-label="{told or "none"}">{"".join(parts)}</svg>'
    )


def name_answer(answer: bool | int) -> str:
    """An answer in a word."""
    return ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)
