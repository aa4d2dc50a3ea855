"""Draw the charts of the HTML report as SVG that takes its colors from the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from rubric_lint.scoring.grading import Verdict
from rubric_lint.scoring.totals import CriterionTotals

BINS = 20
"""How many columns the histogram of scores has; each is 0.05 wide, and the last one includes 1."""

_STACK = (Verdict.FAIL, Verdict.BORDERLINE, Verdict.PASS)
_GAP = 0.1
"""The gap between columns, as a fraction of their width."""


def draw_histogram(counts: Mapping[tuple[int, Verdict], int], marks: Sequence[tuple[str, float]]) -> str:
    """Draw the number of answers per score, colored by verdict; `marks` are the thresholds with their labels.

    The SVG stretches to the available width; its labels are HTML, so that they keep their size.
    """
    columns = [[counts.get((place, verdict), 0) for verdict in _STACK] for place in range(BINS)]
    highest = max(map(sum, columns)) or 1
    bars = []
    for place, column in enumerate(columns):
        bottom = 100.0
        for verdict, count in zip(_STACK, column, strict=True):
            height = max(100 * count / highest, 0.8) if count else 0
            bottom -= height
            if count:
                title = f"<title>{_name_bin(place)}: {count:,} {verdict}</title>"
                bars.append(
                    f'<rect class="{verdict}" x="{place + _GAP / 2:.2f}" y="{max(bottom, 0):.2f}" '
                    f'width="{1 - _GAP:.2f}" height="{height:.2f}">{title}</rect>'
                )
    told = "; ".join(f"{_name_bin(place)}: {sum(column):,}" for place, column in enumerate(columns) if any(column))
    lines = "".join(
        f'<span class="mark" style="left:{score:.1%};top:{row * 1.3:g}rem"{_side(row, score)}>'
        f"<span>{escape(name)}</span></span>"
        for row, (name, score) in enumerate(marks)
    )
    ticks = "".join(f'<span style="left:{tick}0%">{tick / 10:g}</span>' for tick in range(0, 11, 2))
    return (
        f'<div class="histogram" role="img" aria-label="Answers by score. {told or "None"}.">'
        f'<div class="plot" style="padding-top:{len(marks) * 1.3 + 0.3:g}rem">{lines}'
        f'<span class="highest">{highest:,}</span>'
        f'<svg viewBox="0 0 {BINS} 100" preserveAspectRatio="none">{"".join(bars)}</svg></div>'
        f'<div class="ticks">{ticks}</div></div>'
    )


def _name_bin(place: int) -> str:
    return f"{place / BINS:.2f} to {(place + 1) / BINS:.2f}"


def _side(row: int, score: float) -> str:
    """Place the first label to the right of its line and the others to the left, unless they would not fit."""
    return ' data-side="left"' if score > (0.3 if row else 0.85) else ""


def _label(across: float, down: float, text: str, anchor: str) -> str:
    return f'<text x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{text}</text>'


def draw_answers(totals: CriterionTotals) -> str:
    """Draw how often a judge gave each possible answer, one column each; those that miss the gate are red."""
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
    """Return an answer as a word: yes, no or the number."""
    return ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)
