"""Write HTML pages, each one self-contained file that needs no network: the report of scores, and that of agreement.

What others wrote is escaped wherever a template prints it. The answers are in the page as JSON, which
`templates/report.js` shows; `page_answers.py` chooses them if there are many. Figures always count every answer.
"""

import heapq
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from html import escape
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rubric_lint.assess.agreement.reading import LABEL_FIELDS
from rubric_lint.assess.diff.compare_runs import OtherRun
from rubric_lint.model.criterion import Shape
from rubric_lint.model.groups import format_gate
from rubric_lint.model.messages import counted, join_first, join_words, pluralize, visible
from rubric_lint.report.agreement import AgreementReport, describe_findings, format_legend
from rubric_lint.report.assessment import AssessmentReport, describe_assessments
from rubric_lint.report.page_answers import (
    BELOW,
    MOST_TEXT,
    PageAnswers,
    RecordTexts,
    format_more,
    name_id,
    name_row,
)
from rubric_lint.report.terminal import name_answer
from rubric_lint.scoring.grading import NOT_APPLICABLE, Scored, ScoringCriterion, ScoringRubric, Verdict, is_unscored
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.decoding import Content
from rubric_lint.scoring.records.mapping import CRITERION, fold_column
from rubric_lint.scoring.scorer import read_model
from rubric_lint.scoring.totals import CriterionTotals, RubricTotals, Totals
from rubric_lint.version import __version__

_LONGEST, _LONGEST_SAID = 4000, 100_000
"""The most characters to show of a name or message, and of a quoted text: question, answer, reference, reasons."""

_TEMPLATES = Path(__file__).parent / "templates"
_OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def as_html(text: str, most: int = _LONGEST) -> Markup:
    """Escape a foreign text for the page: shortened, with invisible characters shown and markup escaped."""
    shown = text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
    lines = shown.replace("\r\n", "\n").split("\n")
    # Line ends and tabs first: `visible` would write them as escapes.
    return Markup(escape("\n".join(visible(line.expandtabs(4)) for line in lines)))  # noqa: S704 (escaped here)


def keep_options(text: str) -> Markup:
    """Escape a text, and have each option of a command in it stand on one line: browsers break a line behind `--`."""
    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', str(as_html(text))))  # noqa: S704 (escaped before)


def format_score(score: Any) -> str:
    """Return a score with three digits."""
    return "none" if score is None else f"{float(score):.3f}"


def _escape_text(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return as_html(value)
    return value


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_escape_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=lambda count: f"{count:,}",
        options=keep_options,
        quoted=lambda text: as_html(text, _LONGEST_SAID),
        answer=name_answer,
        id=name_id,
        score=format_score,
        verdict_now=lambda verdict: f"{verdict} now",
    )
    environment.globals.update(
        label=label_criterion,
        not_applicable=NOT_APPLICABLE,
        name_gate=_name_gate,
        format_gate=format_gate,
        chart_answers=_chart_answers,
        name_record=name_record,
        find_texts=_find_texts,
        list_outline=list_outline,
        link_grades=_link_grades,
        format_more=format_more,
    )
    return environment


def _render(template: str, *, script: str = "", **values: Any) -> Iterator[str]:
    """Yield a self-contained page piece by piece. It may run only this script, which its hash allows."""
    digest = b64encode(sha256(script.encode()).digest()).decode() if script else ""
    policy = f"; script-src 'sha256-{digest}'" if script else ""
    values["policy"] = Markup(policy)  # noqa: S704 (a hash)
    found = _make_environment().get_template(template)
    return found.generate(version=__version__, script=Markup(script), **values)  # noqa: S704 (our own)


def render_agreement(findings: AgreementReport, title: str) -> str:
    """Render the page of agreement."""
    found, note = describe_findings(findings), " ".join(format_legend(findings.agreements))
    return "".join(
        _render("agreement.html", kind="Agreement of judges and people", title=title, note=note, agreement=found)
    )


_CODES = {Verdict.FAIL: 0, Verdict.BORDERLINE: 1, Verdict.PASS: 2}

BINS = 20
"""How many columns the histogram of scores has; each is 0.05 wide, and the last one includes 1."""

_MOST_INVALID = _MOST_FIRST = _MOST_RUBRICS = _MOST_NAMES = 20
_MOST_MODELS = _MOST_WORST = 10
_MOST_CRITERIA = 200
_MOST_COLUMNS = 25


class PageContent(NamedTuple):
    """What a page may say besides the scores.

    `made` is its date, `repeated` the number of records with the id of an earlier one, `other` the name of the run that
    it is compared with, `agreement` what labels say, `agentv` what AgentV made otherwise of its own run, `assessed`
    what `rubric-lint assess` says of the rubrics, or why it says nothing. `results` is the file with the results of all
    answers; without one, `command` writes it.
    """

    made: date | None = None
    repeated: int = 0
    agentv: tuple[str, ...] = ()
    other: str = ""
    agreement: AgreementReport | None = None
    assessed: AssessmentReport | str = ""
    results: str = ""
    command: str = ""


@dataclass(frozen=True)
class _Figure:
    """A number in large print with a note, the class of its card, and the answers that it counts and leads to."""

    name: str
    value: str
    note: str = ""
    kind: str = ""
    count: int = 0
    view: str = ""


class _Origin:
    """What the records say of how they were judged: the models, and the first and the last day."""

    def __init__(self) -> None:
        self.models: Counter[str] = Counter()
        self.first = self.last = ""

    def add(self, about: object) -> None:
        """Note what a record says of its judge."""
        model = read_model(about)
        time = about.get("time") if isinstance(about, Mapping) else None
        # One more than are named, for "and others": records may name any number of models.
        if model is not None and (model in self.models or len(self.models) <= _MOST_MODELS):
            self.models[model] += 1
        if isinstance(time, str):
            try:
                day = date.fromisoformat(time[:10]).isoformat()
            except ValueError:
                return
            self.first, self.last = min(self.first or day, day), max(self.last, day)


class HtmlReport:
    """A collector of results.

    It keeps counts, the worst results that do not pass, and the answers for the script of the page.
    """

    def __init__(
        self,
        rubrics: Mapping[str, ScoringRubric],
        other: OtherRun | None = None,
        other_texts: RecordTexts | None = None,
    ) -> None:
        self._kept = 0
        self._bins: Counter[tuple[int, Verdict]] = Counter()
        # The best of the worst comes first, to be dropped next; the number orders equal ones.
        self._worst: list[tuple[int, Fraction, int, RecordResult]] = []
        self._invalid: list[RecordResult] = []
        self._origin = _Origin()
        self._rubrics = rubrics
        self._other = other
        self._answers = PageAnswers(list(rubrics.values()), other, other_texts)

    def add(self, result: RecordResult, content: Content) -> None:
        """Add the result of one entry."""
        self._answers.add(result, content)
        self._origin.add(result.record.get("judge"))
        scored = result.scored
        if scored:
            column = min(scored.score.numerator * BINS // scored.score.denominator, BINS - 1)
            self._bins[column, scored.verdict] += 1
            self._keep(result, scored)
        elif len(self._invalid) < _MOST_INVALID and not (result.error and is_unscored(result.error.message)):
            self._invalid.append(result)

    def _keep(self, result: RecordResult, scored: Scored) -> None:
        """Keep a result that does not pass if it is among the worst; of equal ones the first counts."""
        if scored.verdict is Verdict.PASS:
            return
        self._kept += 1
        entry = (-_CODES[scored.verdict], -scored.score, -self._kept, result)
        if len(self._worst) < _MOST_WORST:
            heapq.heappush(self._worst, entry)
        elif entry > self._worst[0]:
            heapq.heapreplace(self._worst, entry)

    def close(self) -> None:
        """Remove the temporary files; a page that is written has removed them already."""
        self._answers.close()

    def write(self, write: Callable[[str], object], totals: Totals, title: str, extras: PageContent) -> None:
        """Write the page; `totals` are those of the same results. Call it once, after the last one."""
        self._answers.finish()
        if self._other:
            self._other.settle()
        data: dict[str, Any] = {"rubrics": [_describe_rubric(rubric) for rubric in self._rubrics.values()]}
        if self._other:
            data["other"] = extras.other
        page = _render(
            "scores.html",
            script=(_TEMPLATES / "report.js").read_text("utf-8"),
            kind="Scores by rubric",
            title=title,
            note=f"{totals}. SD is the standard deviation of the scores, each from 0 to 1.",
            totals=totals,
            extras=extras,
            other=self._other,
            comparison=self._describe_comparison(),
            answers=self._answers,
            most_text=MOST_TEXT >> 20,
            data=map(Markup, self._answers.write(data)),
            **self._describe_run(totals, extras),
        )
        for part in page:
            write(part)

    def _describe_run(self, totals: Totals, extras: PageContent) -> dict[str, Any]:
        """Return the values of the template that are about this run."""
        scored = [rubric for rubric in totals.rubrics.values() if rubric.scored]
        places = {name: place for place, name in enumerate(totals.rubrics)}
        lowest = scored
        if len(scored) > _MOST_RUBRICS:
            lowest = sorted(scored, key=lambda rubric: rubric.mean or 0)[:_MOST_RUBRICS]
        shown = [(places[rubric.rubric.name], rubric) for rubric in lowest]
        agreement: dict[str, Any] = {"agreement": {}, "legend": ""}
        if extras.agreement:
            legend = " ".join(format_legend(extras.agreement.agreements))
            agreement = {"agreement": describe_findings(extras.agreement), "legend": legend}
        worst = [entry[-1] for entry in sorted(self._worst, reverse=True)]
        gates = [criterion.gate for rubric in scored for criterion in rubric.rubric.criteria]
        sections: list[tuple[str, str, object]] = [
            ("assessment", "Assessment", extras.assessed),
            ("distribution", "Distribution", shown),
        ]
        for place, rubric in shown:
            title = f"Criteria of {rubric.rubric.name}" if len(shown) > 1 else "Criteria"
            sections.append((f"rubric-{place}", title, True))
        sections += [
            ("comparison", "Comparison", self._other),
            ("agreement", "Agreement", extras.agreement),
            ("worst", "Worst answers", worst),
            ("invalid", "Invalid outputs", self._invalid),
            ("answers", "Answers", True),
        ]
        return {
            "facts": list(_list_facts(totals, self._origin, extras, self._other)),
            "parts": [(anchor, title) for anchor, title, is_there in sections if is_there],
            "figures": list(_list_figures(totals)),
            "shares": _list_shares(totals),
            "distribution": _chart_scores(self._bins, totals),
            "has_gates": any(gate is not None for gate in gates),
            "shown": shown,
            "scored": len(scored),
            **agreement,
            "assessments_shown": [] if isinstance(extras.assessed, str) else describe_assessments(extras.assessed),
            "worst": worst,
            "invalid": self._invalid,
            "first": list(self._answers.list_first(_MOST_FIRST)),
        }

    def _describe_comparison(self) -> dict[str, Any] | None:
        """Return the values of the template that are about the other run."""
        other, rubrics = self._other, list(self._rubrics.values())
        if other is None:
            return None
        worse, better = other.count_flips()
        criteria = list(_compare_criteria(other, rubrics))
        if len(criteria) > _MOST_CRITERIA:
            criteria.sort(key=lambda row: -row["pair"].lower - row["pair"].higher)
        verdicts: list[Verdict | None] = list(Verdict)
        if any(None in pair for pair in other.verdicts):
            verdicts.append(None)
        flips = []
        for kind, count, answers in (("worse", worse, other.worse), ("better", better, other.better)):
            firsts = islice(answers, _MOST_FIRST)
            flips.append((kind, count, [flip for flip in firsts if flip.was.verdict is not flip.now.verdict]))
        alone = []
        for count, run, view in ((other.only_here, "this", "flip=here"), (other.only_there, "the other", "flip=there")):
            if count:
                alone.append((count, f"{counted(count, 'answer')} only in {run} run.", view))
        return {
            "versions": _format_versions(other, rubrics),
            "figures": _list_figures_of_both(other, worse, better),
            "verdicts": verdicts,
            "criteria": criteria,
            "most_criteria": _MOST_CRITERIA,
            "flips": flips,
            "lonely": list(_list_lonely_criteria(other, rubrics)),
            "not_compared": [f"{line[:1].upper()}{line[1:]}." for line in other.format_left_out(_MOST_NAMES)],
            "alone": alone,
        }


def _describe_rubric(rubric: ScoringRubric) -> dict[str, Any]:
    """Return the data of a rubric for the script."""
    # No score is between two thresholds that are equal.
    has_borderline = len({*rubric.model.thresholds}) > 1
    return {
        "name": rubric.name,
        "hash": rubric.hash,
        "verdicts": list(Verdict) if has_borderline else [Verdict.PASS, Verdict.FAIL],
        "criteria": [_describe_criterion(rubric, criterion) for criterion in rubric.criteria],
        "outline": list(list_outline(rubric)),
        "grades": _name_grades(rubric),
        "units": rubric.word_units,
    }


def _describe_criterion(rubric: ScoringRubric, criterion: ScoringCriterion) -> dict[str, Any]:
    """Return the data of a criterion for the script; `column` is its name in a sheet of labels."""
    is_field = fold_column(criterion.id) in LABEL_FIELDS
    data: dict[str, Any] = {
        "id": criterion.id,
        "column": f"{CRITERION}{criterion.id}" if is_field else criterion.id,
        "label": label_criterion(rubric, criterion),
        "outcome": criterion.outcome or "",
    }
    if criterion.is_failure:
        data["failure"] = True
    grades = criterion.all_grades
    data["grades"] = [[name_answer(grade.answer), grade.gate_met, grade.outcome or ""] for grade in grades]
    return data


def _list_figures_of_both(other: OtherRun, worse: int, better: int) -> list[_Figure]:
    """Return the numbers at the top of the comparison; none if no answer is valid in both runs."""
    both = other.both
    if not both:
        return []
    changed = float((other.sum_now - other.sum_was) / both)
    return [
        _Figure("Valid in both", f"{both:,}"),
        _Figure("Worse verdict", f"{worse:,}", count=worse, view="flip=worse"),
        _Figure("Better verdict", f"{better:,}", count=better, view="flip=better"),
        _Figure("Mean score", f"{changed:+.3f}", f"{format_score(other.sum_was / both)} before"),
    ]


def _list_lonely_criteria(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> Iterator[tuple[str, list[str], int]]:
    """Yield the criteria that only one of the runs has: which one, the first of them, and the number of the others."""
    ours = {criterion.id for rubric in rubrics for criterion in rubric.criteria}
    theirs = {criterion.id for rubric in other.rubrics for criterion in rubric.criteria}
    for where, names in (("this", ours - theirs), ("the other", theirs - ours)):
        if names and theirs:
            yield where, sorted(names)[:_MOST_NAMES], max(len(names) - _MOST_NAMES, 0)


def _list_shares(totals: Totals) -> list[tuple[str, int]]:
    """Return how many outputs have each verdict, are invalid, or have no score."""
    shares = [(str(verdict), totals.verdicts[verdict]) for verdict in Verdict]
    shares.append(("invalid", totals.invalid))
    if totals.unscored:
        shares.append(("unscored", totals.unscored))
    return shares


def _list_facts(
    totals: Totals, origin: _Origin, extras: PageContent, other: OtherRun | None
) -> Iterator[tuple[str, str]]:
    """Yield when the outputs were judged and by what, the rubric's hash and its thresholds, and how they were read."""
    if origin.first:
        end = "" if origin.first == origin.last else f" to {origin.last}"
        yield "Judged", f"{origin.first}{end}"
    if origin.models:
        named = list(origin.models)[:_MOST_MODELS]
        if len(origin.models) > _MOST_MODELS:
            named.append("others")
        yield pluralize(len(origin.models), "Model"), join_words(named)
    scored = [rubric for rubric in totals.rubrics.values() if rubric.scored]
    used = [rubric.rubric for rubric in scored or totals.rubrics.values()]
    if len(used) == 1:
        yield "Rubric", used[0].name
        yield "Rubric hash", used[0].hash
    else:
        yield "Rubrics", f"{len(used):,}; the criteria of each name its hash"
    thresholds = {_format_thresholds(rubric) for rubric in used}
    if len(thresholds) == 1:
        yield "Thresholds", thresholds.pop()
    elif thresholds:
        yield "Thresholds", "not the same for all rubrics"
    if len(used) == 1 and used[0].rubric_grades:
        grades = [f"{name} from {_in_units(used[0], minimum)}" for name, minimum in used[0].rubric_grades]
        yield "Grades", ", ".join(grades)
    if extras.made:
        yield "Page made", extras.made.isoformat()
    yield from (("AgentV", line) for line in extras.agentv)
    yield from (("Outputs", line) for line in totals.reading.format_lines())
    if other:
        yield "Compared with", extras.other


def _in_units(rubric: ScoringRubric, score: Fraction | Decimal) -> str:
    """Return a mark as the rubric has it: in units of its scale, if it has one."""
    in_units = rubric.in_units(Fraction(score))
    if isinstance(score, Decimal) and in_units is None:
        return str(score)
    return f"{float(in_units or score):.4g}"


def _format_thresholds(rubric: ScoringRubric) -> str:
    pass_at, borderline_at = rubric.model.thresholds
    text = f"pass from {_in_units(rubric, pass_at)}"
    if not (rubric.has_own_mark and pass_at == borderline_at):
        text += f", borderline from {_in_units(rubric, borderline_at)}"
    return f"{text}, of {rubric.word_units}" if rubric.units else text


def list_outline(rubric: ScoringRubric) -> Iterator[int | str]:
    """Yield the places of the criteria as readers look for them: critical failures, and the others by their groups.

    The id of a group comes before the criteria that stand in it directly.
    """
    yield from (place for place, criterion in enumerate(rubric.criteria) if criterion.is_failure)
    if rubric.tree is None:
        yield from (place for place, criterion in enumerate(rubric.criteria) if not criterion.is_failure)
        return
    for group in rubric.tree.list_groups():
        if group.id:
            yield group.id
        yield from (part for _, part in group.members if isinstance(part, int) and not rubric.criteria[part].is_failure)


def _name_grades(rubric: ScoringRubric) -> list[str]:
    """Return the grades that the page can name, from the best on; empty for a rubric without grades."""
    names = [name for name, _ in rubric.rubric_grades]
    return [*names, BELOW] if names else []


def _link_grades(totals: RubricTotals, place: int) -> list[tuple[str, int, str]]:
    """Return each grade of a rubric, how many answers have it, and the view with them."""
    counts = [(grade["grade"] or BELOW, grade["outputs"]) for grade in totals.list_grades()]
    return [(name, count, urlencode({"grade": name, "rubric": place})) for name, count in counts]


def _list_figures(totals: Totals) -> Iterator[_Figure]:
    """Yield the numbers at the top."""
    outputs = totals.outputs
    yield _Figure("Outputs", f"{outputs:,}")
    scored = [rubric for rubric in totals.rubrics.values() if rubric.scored]
    notes = []
    if len(scored) == 1:
        notes.append(scored[0].rubric.word_in_units(scored[0].mean or Fraction(0)))
    if totals.invalid:
        notes.append("of valid ones")
    yield _Figure("Mean score", format_score(totals.mean), "; ".join(filter(None, notes)))
    for verdict in Verdict:
        count = totals.verdicts[verdict]
        share = f"{_percent(count, outputs)} of all" if outputs else ""
        yield _Figure(verdict.capitalize(), f"{count:,}", share, str(verdict), count, f"verdict={verdict}")
    share = f"{_percent(totals.invalid, outputs)} of all" if totals.invalid and outputs else ""
    yield _Figure("Invalid", f"{totals.invalid:,}", share, "", totals.invalid, "verdict=invalid")
    if totals.unscored:
        yield _Figure("No score", f"{totals.unscored:,}", "nothing applies", "", totals.unscored, "verdict=unscored")
    sampled = sum(rubric.sampled for rubric in totals.rubrics.values())
    if sampled:
        stable = sum(rubric.stable for rubric in totals.rubrics.values())
        yield _Figure("Stable", _percent(stable, sampled), "answers with one verdict")


def _percent(count: int, whole: int) -> str:
    """Return a part in percent; never 0 or 100 unless the part is empty or whole."""
    percent = f"{count / whole:.0%}"
    return {"0%": "under 1%", "100%": "over 99%"}.get(percent, percent) if 0 < count < whole else percent


def _chart_scores(bins: Mapping[tuple[int, Verdict], int], totals: Totals) -> dict[str, Any]:
    """Return the histogram of scores by verdict, which stretches to the available width.

    The thresholds are marked if they are those of all rubrics: only one if no failing score can be borderline.
    """
    sums = [sum(bins.get((place, verdict), 0) for verdict in _CODES) for place in range(BINS)]
    names = [f"{place / BINS:.2f} to {(place + 1) / BINS:.2f}" for place in range(BINS)]
    labels = [f"{name}: {count:,}" for name, count in zip(names, sums, strict=True) if count]
    highest = max(sums) or 1
    bars = []
    for place, name in enumerate(names):
        x = f"{place + 0.05:.2f}"  # a tenth of the width is the gap between columns
        bottom = 100.0
        for verdict in _CODES:
            count = bins.get((place, verdict), 0)
            if count:
                # A single answer among thousands stays visible.
                height = max(100 * count / highest, 0.8)
                bottom -= height
                at = {"x": x, "y": f"{max(bottom, 0):.2f}", "height": f"{height:.2f}"}
                bars.append({"verdict": verdict, **at, "title": f"{name}: {count:,} {verdict}"})
    marks = _mark_thresholds(totals)
    return {
        "bins": BINS,
        "label": "; ".join(labels) or "None",
        "top": f"{len(marks) * 1.3 + 0.3:g}",
        "marks": marks,
        "highest": highest,
        "bars": bars,
    }


def _mark_thresholds(totals: Totals) -> list[dict[str, Any]]:
    """Return the lines in the histogram: the thresholds, if they are those of all rubrics."""
    thresholds = {tuple(rubric.rubric.model.thresholds) for rubric in totals.rubrics.values() if rubric.scored}
    if len(thresholds) != 1:
        return []
    pass_at, borderline_at = thresholds.pop()
    # The label is to the right of the first line and to the left of the second one, unless it would not fit.
    marks = [{"name": f"pass {pass_at}", "left": f"{float(pass_at):.1%}", "top": "0", "is_left": pass_at > 0.85}]
    if borderline_at < pass_at:
        left, is_left = f"{float(borderline_at):.1%}", borderline_at > 0.3
        marks.append({"name": f"borderline {borderline_at}", "left": left, "top": "1.3", "is_left": is_left})
    return marks


def _chart_answers(totals: CriterionTotals) -> dict[str, Any]:
    """Return how often a judge gave each possible answer; those that miss the gate are red.

    Each answer has a column. Of many answers, several that follow each other share one.
    """
    grades = totals.criterion.grades
    size = -(-len(grades) // _MOST_COLUMNS)
    columns = []
    for _, run in groupby(grades, key=lambda grade: grade.gate_met):
        alike = list(run)
        columns += [alike[start : start + size] for start in range(0, len(alike), size)]
    sums = [sum(totals.answers[grade.answer] for grade in column) for column in columns]
    highest = max(sums, default=0) or 1
    widest = 18.0 if len(columns) > 2 else 34.0
    step = min(widest, 150 / len(columns))  # so that `no` and `yes` fit
    bars, counts = [], []
    for place, (column, count) in enumerate(zip(columns, sums, strict=True)):
        # An answer that nobody gave has a stub, which shows that it is possible.
        height = max(30 * count / highest, 2)
        answers = dict.fromkeys(name_answer(grade.answer) for grade in (column[0], column[-1]))
        title = f"{' to '.join(answers)}: {count:,}"
        kind = "none"
        if count:
            kind = "plain" if column[0].gate_met else "fail"
            counts.append(title)
        at = {"x": f"{place * step:.1f}", "y": f"{32 - height:.1f}", "height": f"{height:.1f}"}
        bars.append({"kind": kind, "title": title, **at})
    width = step * len(columns)
    # A single column is both ends and has one label: the keys are the same.
    ends = {0: (grades[0], step / 2 - 1), len(columns) - 1: (grades[-1], width - step / 2 - 1)}
    return {
        "width": f"{width + 12:.0f}",
        "bar": f"{step - 2:.1f}",
        "label": ", ".join(counts) or "none",
        "bars": bars,
        "labels": [(f"{at:.1f}", name_answer(grade.answer)) for grade, at in ends.values()],
    }


def _name_gate(totals: CriterionTotals) -> str:
    """Describe the gate by the worst answer that meets it, or the only one of a check."""
    grades = totals.criterion.grades
    meeting = [grade for grade in grades if grade.gate_met]
    if not meeting:
        return "must be yes"
    worst = min(meeting, key=lambda grade: grade.score)
    if isinstance(worst.answer, bool) and len(meeting) < len(grades):
        return f"must be {name_answer(worst.answer)}"
    bound = "at most" if grades[0].score > grades[-1].score else "at least"
    return f"{bound} {name_answer(worst.answer)}"


def label_criterion(rubric: ScoringRubric, criterion: ScoringCriterion) -> str:
    """Return the name of a criterion for readers."""
    return "Whole answer" if rubric.shape is Shape.HOLISTIC else criterion.id


def _find_texts(rest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the texts in the record of an answer, with their titles."""
    texts = [(name.capitalize(), rest.get(name)) for name in ("question", "answer", "reference")]
    return [(name, text) for name, text in texts if isinstance(text, str) and text.strip()]


def name_record(record: RecordResult) -> str:
    """Return the name of an answer: its id, or its place."""
    return name_row(record.id, record.line, record.file)


def _format_versions(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> str:
    """Say by which version of the rubric the other run was scored."""
    ours = {rubric.hash for rubric in rubrics}
    theirs = dict.fromkeys(rubric.hash for rubric in other.rubrics)
    strange = [version for version in theirs if version and version not in ours]
    text = "Answers are joined by rubric and id. Before is the other run, now is this one."
    if not theirs:
        return f"{text} No record of the other run has a score, so nothing can be compared."
    if strange:
        hashes = join_first(strange, 3)
        return f"{text} The other run was scored by another version of the rubric: rubric hash {hashes}."
    if "" in theirs:
        return f"{text} The results of the other run do not say which version of the rubric they used."
    return f"{text} Both were scored by the same version of the rubric."


def _compare_criteria(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> Iterator[dict[str, Any]]:
    """Yield how the answers to each criterion differ, and its weight and gate between the versions of the rubric."""
    for place, rubric in enumerate(rubrics):
        for number, criterion in enumerate(rubric.criteria):
            pair = other.criteria.get((rubric.name, criterion.id))
            if pair is None:
                continue
            changes = []
            theirs = {
                # As floats, which is all that results keep of weights.
                (float(version.weight), version.gate)
                for version in other.find_criteria(rubric.name, criterion.id)
            }
            if len(theirs) == 1:
                weight, gate = theirs.pop()
                if weight != float(criterion.weight):
                    changes.append(f"weight {weight:g} to {float(criterion.weight):g}")
                if gate != criterion.gate:
                    before, now = ("none" if least is None else str(least) for least in (gate, criterion.gate))
                    changes.append(f"gate {before} to {now}")
            label = label_criterion(rubric, criterion)
            name = f"{rubric.name}: {label}" if len(rubrics) > 1 else label
            is_gated = bool(criterion.gate is not None or pair.missed_was)
            shown = {"pair": pair, "at": f"{place}.{number}", "name": name}
            yield {**shown, "versions": ", ".join(changes), "is_gated": is_gated}
