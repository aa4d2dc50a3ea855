"""Render answers in an HTML report of scores: the worst in full, the invalid ones, and the first rows of all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.report.answer_rows import name_id
from rubric_lint.report.charts import name_answer
from rubric_lint.report.markup import as_html, open_table, quote, render_heads
from rubric_lint.report.overview_html import format_score, label_criterion
from rubric_lint.run.summary import counted
from rubric_lint.scoring.grading import CriterionResult, Scored, Verdict
from rubric_lint.scoring.scorer import Outcome
from rubric_lint.scoring.totals import Totals

_TEXTS = ("question", "answer", "reference")


class FirstRow(NamedTuple):
    """One of the first answers, for readers without the script; without a verdict it is invalid."""

    name: str
    verdict: Verdict | None
    score: str
    missed: Sequence[str]
    error: str = ""


def render_rows(first: Sequence[FirstRow], rows: int, with_text: int, repeated: int) -> Iterator[str]:
    """Yield the part with every answer: the first ones as a table, in whose place the script puts all of them."""
    yield f'<h2 id="answers">Every answer ({rows:,})</h2>'
    notes = []
    if repeated:
        again = "1 record has" if repeated == 1 else f"{repeated:,} records have"
        notes.append(f"{again} the id of an earlier one, and all are counted.")
    if with_text < rows:
        notes.append(
            f"The page has the questions, answers and reasons of the first {with_text:,}; the others are listed with "
            "their scores only."
        )
    if notes:
        yield f'<p class="note">{" ".join(notes)}</p>'
    shown = "All are" if rows <= len(first) else f"The first {len(first):,} are"
    yield (
        f'<p class="note" id="needs-script">{shown} listed. To filter, sort and search them, and to see each one with '
        "the judge&#x27;s reasons, allow JavaScript for this page.</p>"
    )
    yield '<div id="tool">'
    if first:
        yield f"{open_table('Answers')}{render_heads('Answer', 'Verdict', 'Score', 'Missed gates')}"
        for row in first:
            verdict = row.verdict or "invalid"
            missed = as_html(row.error or ", ".join(row.missed))
            yield (
                f'<tr><th scope="row" dir="auto">{as_html(row.name)}</th><td><span class="verdict {verdict}">{verdict}'
                f'</span></td><td class="number">{row.score}</td><td dir="auto">{missed}</td></tr>'
            )
        yield "</tbody></table></section>"
    yield "</div>"


def render_worst(worst: Sequence[Outcome], totals: Totals) -> Iterator[str]:
    """Yield the worst answers that do not pass, in full."""
    if not worst:
        if totals.verdicts[Verdict.PASS]:
            yield '<h2 id="worst">The worst answers</h2><p class="note">All valid outputs pass.</p>'
        return
    title = f"The worst {counted(len(worst), 'answer')}" if len(worst) > 1 else "The worst answer"
    yield f'<h2 id="worst">{title}</h2>'
    yield '<p class="note">Those that fail first, then by their score, with the reasons that the judge gave.</p>'
    yield '<ol class="answers">'
    for outcome in worst:
        if outcome.result:
            yield f'<li class="card">{render_answer(outcome, outcome.result)}</li>'
    yield "</ol>"


def render_invalid(invalid: Sequence[Outcome], totals: Totals) -> Iterator[str]:
    """Yield the first invalid outputs with their places and reasons."""
    if not invalid:
        return
    more = f", the first {len(invalid)}" if totals.invalid > len(invalid) else ""
    yield f'<h2 id="invalid">Invalid outputs ({totals.invalid:,}{more})</h2>'
    yield (
        '<p class="note">An invalid output has no score. It counts as an output, so it lowers the share of each '
        "verdict; means, spreads, the distribution and the criteria leave it out.</p>"
    )
    yield f"{open_table('Invalid outputs')}{render_heads('Output', 'Where', 'Why')}"
    for outcome in invalid:
        place = ", ".join(part for part in (outcome.file, f"line {outcome.line}") if part)
        message, path = (outcome.error.message, outcome.error.path) if outcome.error else ("", "")
        where = f"{as_html(place)}<br><code>{as_html(path)}</code>" if path else as_html(place)
        name = as_html(name_answer_of(outcome))
        yield f'<tr><th scope="row">{name}</th><td>{where}</td><td>{as_html(message)}</td></tr>'
    yield "</tbody></table></section>"


def render_answer(outcome: Outcome, result: Scored) -> str:
    """Render one answer with the judge's reasons."""
    head = (
        f'<div class="head"><h3 dir="auto">{as_html(name_answer_of(outcome))}</h3>'
        f'<span class="verdict {result.verdict}">{result.verdict}</span>'
        f'<span class="soft">{as_html(result.rubric.name)}</span>'
        f'<span class="number">{format_score(result.score)}</span></div>'
    )
    said = "".join(f"<dt>{name.capitalize()}</dt>{quote(text, 'dd')}" for name, text in _find_texts(outcome.rest))
    rows = "".join(
        _render_judgement(judged, label_criterion(result.rubric, judged.criterion)) for judged in result.criteria
    )
    overall = ""
    if result.reasoning and result.reasoning not in {criterion.reasoning for criterion in result.criteria}:
        overall = f'<dl class="said"><dt>Overall</dt>{quote(result.reasoning, "dd")}</dl>'
    listed = f'<dl class="said">{said}</dl>' if said else ""
    return f'{head}{listed}<table class="reasons"><tbody>{rows}</tbody></table>{overall}'


def _find_texts(rest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        if isinstance(text := rest.get(name), str) and text.strip():
            yield name, text


def _render_judgement(judged: CriterionResult, name: str) -> str:
    grade = judged.grade
    missed = "" if grade.gate_met else '<br><span class="missed">misses its gate</span>'
    outcome = as_html(grade.outcome or "")
    is_asked = isinstance(grade.answer, bool)  # the expected outcome does not describe a "no"
    about = f'<small dir="auto">{outcome}</small>' if is_asked and outcome else ""
    seen = "" if is_asked else f'<span class="soft" dir="auto">{outcome}</span>'
    reason = quote(judged.reasoning, "div") if judged.reasoning else ""
    return (
        f'<tr><th scope="row"><span dir="auto">{as_html(name)}</span>{about}</th>'
        f'<td class="given"><b>{name_answer(grade.answer)}</b>{missed}</td>'
        f"<td>{reason}{seen}</td></tr>"
    )


def name_answer_of(outcome: Outcome) -> str:
    """Return the name of an answer: its id, or its place."""
    return name_row(outcome.head.get("id"), outcome.line, outcome.file)


def name_row(given: Any, line: int, file: str | None) -> str:
    """Return an id, or the place of an answer without one."""
    if given is not None and (name := name_id(given)).strip():
        return name
    return f"{file + ', ' if file else ''}line {line}"
