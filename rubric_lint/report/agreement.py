"""Write the agreement of raters: as tables for a terminal, and as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rubric_lint.agree.analysis import Agreement, Breach, Disagreement, Listed, Plan
from rubric_lint.agree.reading import Invalid, LeftOut
from rubric_lint.messages import visible_json
from rubric_lint.report.agreement_sections import LEGEND, choose_shown, describe, is_few, name_value, sections_of
from rubric_lint.report.columns import draw, shorten_name, wrap

VERSION = 1
"""The version of the JSON report, as `schemas/agreement/v1.json` describes it."""


class Findings(NamedTuple):
    """Everything that a run found: the agreement on each rubric, and what it does not rest on."""

    agreements: Sequence[Agreement]
    plan: Plan
    invalid: Sequence[Invalid]
    left_out: Sequence[LeftOut]
    breaches: Sequence[Breach]


def as_json(findings: Findings) -> str:
    """Return the JSON report."""
    draws = findings.plan.draws
    told = {
        "version": VERSION,
        "bootstrap": {"draws": draws.number, "seed": draws.seed},
        "agreements": [agreement.to_json() for agreement in findings.agreements],
        "breaches": [breach.to_json() for breach in findings.breaches],
        "invalid": [invalid._asdict() for invalid in findings.invalid],
        "left_out": [left_out.to_json() for left_out in findings.left_out],
    }
    return visible_json(json.dumps(told, ensure_ascii=False, indent=1)) + "\n"


def as_text(findings: Findings, columns: int, most: int = 10) -> Iterator[str]:
    """Yield the lines of the tables, each at most `columns` cells wide unless its figures alone need more.

    `most` disagreements are listed.
    """
    shown, left = choose_shown(findings.agreements)
    for number, agreement in enumerate(shown):
        yield from [""] if number else []
        yield from wrap(describe(agreement), columns)
        for title, table, notes in sections_of(agreement):
            yield ""
            yield from wrap(title, columns) if title else ()
            yield from draw(table, columns) if table else ()
            for note in notes:
                yield from wrap(note, columns, "  ")
        if agreement.rubric:
            yield ""
            yield from _tell_disagreements(agreement.disagreements, columns, most)
    has_figures = not all(is_few(comparison) for agreement in shown for comparison in agreement.comparisons)
    legend = (*left, *(LEGEND if has_figures else ()))
    yield from [""] if legend else []
    for line in legend:
        yield from wrap(line, columns)


def _tell_disagreements(listed: Listed, columns: int, most: int) -> Iterator[str]:
    if not listed.total:
        yield "No disagreement."
        return
    yield f"{listed.total:,} disagreement{'' if listed.total == 1 else 's'}, the worst first"
    worst = listed.worst[:most]
    for each in worst:
        yield from _tell_disagreement(each, columns)
    if listed.total > len(worst):
        more = f"... and {listed.total - len(worst):,} more; --worst N lists more, --format json all"
        yield from wrap(more, columns, "  ")


def _tell_disagreement(each: Disagreement, columns: int) -> Iterator[str]:
    told = each.to_json()
    yield f"  {told['kind']}: {shorten_name(told['id'], 24)}, {shorten_name(each.measure.name, 36)}"
    for rating in told["ratings"]:
        said = f": {' '.join(rating['reason'].split())}" if rating["reason"] else ""
        line = f"    {rating['rater']} {name_value(rating['value'])} ({rating['verdict']}){said}"
        yield shorten_name(line, columns)
