"""Write the agreement of raters as an HTML page, or as sections of one."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rubric_lint.agree.analysis import Agreement, Disagreement, Listed
from rubric_lint.agree.comparison import Compared, Comparison
from rubric_lint.agree.reading import list_invalid
from rubric_lint.agree.scales import Kind
from rubric_lint.report.agreement import Findings
from rubric_lint.report.agreement_sections import (
    INTERVAL,
    LEGEND,
    Section,
    choose_shown,
    describe,
    name_value,
    sections_of,
)
from rubric_lint.report.columns import Column
from rubric_lint.report.markup import as_html, close_page, open_table, quote, render_heads, render_page

_MOST_OPEN = 10
"""The most disagreements on a rubric to show at once; the others are folded up."""


def render_agreement(findings: Findings, title: str) -> str:
    """Render the page."""
    body = "\n".join(render_findings(findings))
    return render_page("Agreement of judges and people", title, body, " ".join(LEGEND)) + close_page()


def render_findings(findings: Findings) -> Iterator[str]:
    """Yield the sections for each rubric, and what the figures do not rest on."""
    shown, left = choose_shown(findings.agreements)
    for agreement in shown:
        yield from render_sections(agreement)
    yield from (f'<p class="note">{as_html(line)}</p>' for line in left)
    yield from _tell_records(findings)


def render_sections(agreement: Agreement) -> Iterator[str]:
    """Yield the sections for one rubric: the figures, the tables of ratings, and the disagreements."""
    yield f'<h2>Agreement on <span dir="auto">{as_html(agreement.name)}</span></h2>'
    about = f" Rubric hash {agreement.rubric.hash}." if agreement.rubric else ""
    yield f'<p class="note">{as_html(describe(agreement))}.{about}</p>'
    for section in sections_of(agreement):
        yield from _render_section(section)
    for comparison in agreement.comparisons:
        yield from _render_ratings(comparison)
    if agreement.rubric:
        yield from _render_disagreements(agreement.disagreements)


def _render_section(section: Section) -> Iterator[str]:
    title, columns, notes = section
    if title:
        yield f'<h3 class="part">{as_html(title)}</h3>'
    if columns:
        names, *others = columns
        figures = list(_fold(others))
        yield f'<div class="part">{open_table(title or "Gates", "criteria figures-table")}'
        yield render_heads(names.name, *(name for name, _ in figures))
        for name, *cells in zip(names.cells, *(cells for _, cells in figures), strict=True):
            rest = "".join(
                f'<td data-label="{label}">{cell}</td>' for (label, _), cell in zip(figures, cells, strict=True)
            )
            yield f'<tr><th scope="row" dir="auto">{as_html(name.strip())}</th>{rest}</tr>'
        yield "</tbody></table></section></div>"
    if notes:
        yield '<ul class="soft">' + "".join(f"<li>{as_html(note)}</li>" for note in notes) + "</ul>"


def _fold(columns: Sequence[Column]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the cells of each column, with its interval, the next column, below the figure."""
    for column, following in zip_longest(columns, columns[1:]):
        if column.name != INTERVAL:
            intervals = following.cells if following and following.name == INTERVAL else [""] * len(column.cells)
            yield (
                as_html(column.name),
                [
                    f"{as_html(cell)}<small>{as_html(interval)}</small>" if interval else as_html(cell)
                    for cell, interval in zip(column.cells, intervals, strict=True)
                ],
            )


def _render_ratings(comparison: Comparison) -> Iterator[str]:
    """Yield the tables of both ratings of a pair, folded up."""
    for compared in comparison.measures:
        if compared.pair and compared.answers:
            what = "the bands of " if compared.measure.scale.kind is Kind.BAND else ""
            name = f"{what}{compared.measure.name}: {comparison.raters[0]} in rows, {comparison.raters[1]} in columns"
            yield f"<details><summary>Ratings of {as_html(name)}</summary>"
            yield from _render_table(compared, name)
            yield "</details>"


def _render_table(compared: Compared, name: str) -> Iterator[str]:
    names: Sequence[str] = compared.measure.scale.names
    yield f"{open_table(name, 'ratings figures-table')}{render_heads('', *map(as_html, names))}"
    for value, row in zip(names, compared.pair.confusion if compared.pair else (), strict=True):
        cells = "".join(f"<td>{count:,}</td>" for count in row)
        yield f'<tr><th scope="row">{as_html(value)}</th>{cells}</tr>'
    yield "</tbody></table></section>"


def _render_disagreements(listed: Listed) -> Iterator[str]:
    worst = listed.worst
    if not listed.total:
        yield '<h3 class="part">Disagreements</h3><p>None.</p>'
        return
    shown = f"{listed.total:,}" if len(worst) == listed.total else f"the worst {len(worst):,} of {listed.total:,}"
    yield f'<h3 class="part">Disagreements ({shown})</h3>'
    yield '<p class="note">False passes first: the label misses the gate, and the judge meets it.</p>'
    first, rest = worst[:_MOST_OPEN], worst[_MOST_OPEN:]
    yield from _list_disagreements(first, 1)
    if rest:
        yield f"<details><summary>{len(rest):,} more {'disagreement' if len(rest) == 1 else 'disagreements'}</summary>"
        yield from _list_disagreements(rest, _MOST_OPEN + 1)
        yield "</details>"


def _list_disagreements(listed: Sequence[Disagreement], start: int) -> Iterator[str]:
    yield f'<ol class="answers" start="{start}">'
    yield from map(_render_disagreement, listed)
    yield "</ol>"


def _render_disagreement(each: Disagreement) -> str:
    told = each.to_json()
    rows = []
    for rating in told["ratings"]:
        reason = quote(rating["reason"], "div") if rating["reason"] else ""
        rows.append(
            f'<tr><th scope="row" dir="auto">{as_html(rating["rater"])}</th><td class="given">'
            f"<b>{name_value(rating['value'])}</b> "
            f'<span class="verdict {rating["verdict"]}">{rating["verdict"]}</span></td><td>{reason}</td></tr>'
        )
    head = (
        f'<div class="head"><h4 dir="auto">{as_html(told["id"])}</h4>'
        f'<span dir="auto">{as_html(told["criterion"])}</span>'
        f'<span class="soft">{told["kind"]}</span></div>'
    )
    return f'<li class="card">{head}<table class="reasons"><tbody>{"".join(rows)}</tbody></table></li>'


def _tell_records(findings: Findings) -> Iterator[str]:
    """Yield what the figures do not rest on."""
    told = [*list_invalid(findings.invalid), *map(str, findings.left_out)]
    if told:
        yield "<h2>Not compared</h2><ul>" + "".join(f"<li>{as_html(line)}</li>" for line in told) + "</ul>"
