"""Write the HTML report of scores: one self-contained page with every answer, which needs no network."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from rubric_lint.agree.runs import OtherRun, read_answers
from rubric_lint.report.agreement import Findings
from rubric_lint.report.agreement_html import render_findings
from rubric_lint.report.agreement_sections import LEGEND
from rubric_lint.report.answer_rows import MOST_TEXT, AnswerRows, as_data
from rubric_lint.report.answers_html import (
    FirstRow,
    name_answer_of,
    name_row,
    render_invalid,
    render_rows,
    render_worst,
)
from rubric_lint.report.charts import BINS, name_answer
from rubric_lint.report.markup import as_html, close_page, render_page
from rubric_lint.report.overview_html import (
    Fact,
    Sources,
    choose_rubrics,
    format_score,
    label_criterion,
    list_facts,
    render_distribution,
    render_facts,
    render_figures,
    render_links,
    render_rubrics,
)
from rubric_lint.report.runs_html import render_comparison
from rubric_lint.scoring.grading import ScoringRubric, Verdict
from rubric_lint.scoring.output import Known
from rubric_lint.scoring.scorer import Outcome
from rubric_lint.scoring.totals import Totals

_RANKS = {Verdict.FAIL: 0, Verdict.BORDERLINE: 1}
_MOST_INVALID = 20
_MOST_FIRST = 20


class Extras(NamedTuple):
    """What a page may say besides the scores.

    `made` is its date, `repeated` the number of records with the id of an earlier one, `other` the name of the run that
    it is compared with, `agreement` what labels say.
    """

    made: date | None = None
    repeated: int = 0
    other: str = ""
    agreement: Findings | None = None


class HtmlReport:
    """A collector of outcomes.

    It keeps counts, the worst outcomes that do not pass, and the first ones; all are packed for the script of the page.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        other: OtherRun | None = None,
        *,
        worst: int = 10,
        text: int = MOST_TEXT,
    ) -> None:
        self._most = worst
        self._kept = 0
        self._bins: Counter[tuple[int, Verdict]] = Counter()
        # The best of the worst comes first, to be dropped next; the number orders equal ones.
        self._worst: list[tuple[int, Fraction, int, Outcome]] = []
        self._invalid: list[Outcome] = []
        self._first: list[FirstRow] = []
        self._sources = Sources()
        self._rubrics = rubrics
        self._other = other
        self._rows = AnswerRows([*rubrics.values()], other, text)

    def add(self, outcome: Outcome, text: bytes) -> None:
        """Add the outcome of one entry."""
        self._rows.add_outcome(outcome, text)
        self._sources.add(outcome.rest.get("judge"))
        result = outcome.result
        if len(self._first) < _MOST_FIRST:
            name = name_answer_of(outcome)
            if result:
                missed = [each.criterion.id for each in result.criteria if not each.grade.gate_met]
                self._first.append(FirstRow(name, result.verdict, format_score(result.score), missed))
            else:
                self._first.append(FirstRow(name, None, "", (), outcome.error.message if outcome.error else ""))
        if result:
            self._add(result.score, result.verdict, 1)
            self.keep(outcome)
        elif len(self._invalid) < _MOST_INVALID:
            self._invalid.append(outcome)

    def list(
        self, found: Sequence[tuple[Any, Known]], line: int, file: str | None, text: bytes, about: Any = None
    ) -> None:
        """List results that `count` counts."""
        self._rows.add_known(found, line, file, text)
        if about is not None:
            self._sources.add(about)
        if len(self._first) < _MOST_FIRST:
            for place, (name, known) in enumerate(found[: _MOST_FIRST - len(self._first)]):
                score = format_score(Fraction(known.points, known.rubric.full))
                self._first.append(
                    FirstRow(name_row(name, line + place, file), known.verdict, score, _find_missed(known))
                )

    def count(self, known: Known) -> None:
        """Count the results with these answers."""
        self._add(Fraction(known.points, known.rubric.full), known.verdict, known.count)

    def _add(self, score: Fraction, verdict: Verdict, times: int) -> None:
        self._bins[min(int(score * BINS), BINS - 1), verdict] += times

    def wants(self, known: Known) -> bool:
        """Return whether this result is among the worst so far; of equal ones the first counts."""
        verdict = known.verdict
        if verdict is Verdict.PASS:
            return False
        if len(self._worst) < self._most:
            return True
        rank, score, _, _ = self._worst[0]
        if -_RANKS[verdict] != rank:
            return -_RANKS[verdict] > rank
        return -known.points * score.denominator > score.numerator * known.rubric.full

    def keep(self, outcome: Outcome) -> None:
        """Keep a result that does not pass if it is among the worst."""
        result = outcome.result
        if result is None or result.verdict is Verdict.PASS:
            return
        self._kept += 1
        entry = (-_RANKS[result.verdict], -result.score, -self._kept, outcome)
        if len(self._worst) < self._most:
            heapq.heappush(self._worst, entry)
        elif entry > self._worst[0]:
            heapq.heapreplace(self._worst, entry)

    def close(self) -> None:
        """Remove the rows; a page that is written has removed them already."""
        self._rows.close()

    def write(self, write: Callable[[str], object], totals: Totals, title: str, extras: Extras) -> None:
        """Write the page; `totals` are those of the same outcomes. Call it once, after the last outcome."""
        only_there = self._rows.finish()
        if self._other:
            self._other.settle()
        note = f"{totals}. Spread is the standard deviation of the scores, each from 0 to 1."
        body = "\n".join(self._render_body(totals, extras, only_there))
        write(render_page("Scores by rubric", title, body, note, has_script=True))
        for part in self._rows.read():
            write(part)
        write(self._rows.describe_others())
        write(f'<script type="application/json" id="about">{as_data(self._describe(extras))}</script>\n')
        write(close_page(has_script=True))

    def _render_body(self, totals: Totals, extras: Extras, only_there: int) -> Iterator[str]:
        facts = [*list_facts(totals, self._sources, extras.made)]
        if self._other:
            facts.append(Fact("Compared with", extras.other))
        worst = [entry[-1] for entry in sorted(self._worst, reverse=True)]
        yield from render_facts(facts)
        yield from render_links([*self._list_parts(totals, extras, has_worst=bool(worst))])
        yield from render_figures(totals)
        yield from render_distribution(totals, self._bins)
        yield from render_rubrics(totals)
        if self._other:
            yield from render_comparison(self._other, extras.other, [*self._rubrics.values()], only_there)
        if extras.agreement:
            yield '<div id="agreement">'
            if self._other and not self._other.is_by_our_rubrics:
                yield (
                    '<p class="note part">Only this run is compared with the labels: the other one has results by '
                    "another version of the rubric.</p>"
                )
            yield from render_findings(extras.agreement)
            yield f'<p class="note part">{as_html(" ".join(LEGEND))}</p>'
            yield "</div>"
        yield from render_worst(worst, totals)
        yield from render_invalid(self._invalid, totals)
        yield from render_rows(self._first, self._rows.rows, self._rows.with_text, extras.repeated)

    def _list_parts(self, totals: Totals, extras: Extras, *, has_worst: bool) -> Iterator[tuple[str, str]]:
        shown = choose_rubrics(totals)
        places = {name: place for place, name in enumerate(totals.rubrics)}
        if shown:
            yield "distribution", "Distribution"
        for rubric in shown:
            named = f"Criteria of {rubric.rubric.name}" if len(shown) > 1 else "Criteria"
            yield f"rubric-{places[rubric.rubric.name]}", named
        if self._other:
            yield "comparison", "Comparison"
        if extras.agreement:
            yield "agreement", "Agreement"
        if has_worst:
            yield "worst", "Worst answers"
        if self._invalid:
            yield "invalid", "Invalid outputs"
        yield "answers", "Every answer"

    def _describe(self, extras: Extras) -> dict[str, Any]:
        """Return what the script needs besides the rows."""
        told: dict[str, Any] = {
            "rubrics": [_describe_rubric(rubric) for rubric in self._rubrics.values()],
            "files": self._rows.files,
            "rows": self._rows.rows,
        }
        if self._other:
            told["other"] = {
                "name": extras.other,
                "rubrics": [
                    [
                        {
                            "id": each.id,
                            "grades": [[name_answer(grade.answer), grade.gate_met] for grade in each.grades],
                        }
                        for each in rubric.criteria
                    ]
                    for rubric in self._other.known.rubrics
                ],
            }
        return told


def _find_missed(known: Known) -> Sequence[str]:
    found = []
    for criterion, answer in zip(known.rubric.criteria, read_answers(known), strict=True):
        grade = criterion.grade(answer)
        if grade and not grade.gate_met:
            found.append(criterion.id)
    return found


def _describe_rubric(rubric: ScoringRubric) -> dict[str, Any]:
    return {
        "name": rubric.name,
        "criteria": [
            {
                "id": each.id,
                "label": label_criterion(rubric, each),
                "outcome": each.outcome or "",
                "grades": [[name_answer(grade.answer), grade.gate_met, grade.outcome or ""] for grade in each.grades],
            }
            for each in rubric.criteria
        ],
    }
