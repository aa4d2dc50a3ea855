"""Write the agreement of raters: as tables for a terminal, as JSON, and as an HTML page."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.assess.agreement.analysis import LABEL, Agreement, Breach, DisagreementList, PassRate
from rubric_lint.assess.agreement.comparison import (
    FIRM,
    LEAST,
    LEAST_OFF,
    Between,
    Contest,
    Figure,
    RaterComparison,
    SampleFlips,
    ScaleComparison,
    count_answers,
)
from rubric_lint.assess.agreement.left_out import InvalidRecord, LeftOut, list_invalid
from rubric_lint.assess.agreement.scales import Measure, ScaleKind
from rubric_lint.assess.measure.bounds import BoundedShare
from rubric_lint.assess.measure.decision import Reason, format_slips, format_wrong
from rubric_lint.assess.measure.gates import GateMeasure
from rubric_lint.assess.measure.groups import JudgeShares
from rubric_lint.assess.measure.intervals import Share
from rubric_lint.assess.measure.labelled import format_ungrouped_outputs
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.assess.measure.shares import Shares
from rubric_lint.model.messages import counted, join_words, render_report
from rubric_lint.report.terminal import TextColumn, draw, name_answer, shorten_name, wrap

VERSION = 1
"""The version of the JSON report, as `schemas/agreement/v1.json` describes it."""


_UNITS = "95%: answers to one question count as one, as do near-copies, but not in pass rates."
_NO_UNITS = (
    "95%: no record has a question or the text of its answer, so each answer counts by itself; `assess` "
    "reads them from the answers, and counts answers to one question as one."
)
"""The same, where nobody knows which answers are to one question."""

_LEGEND = (
    "alpha and kappa: equal or not on checks; elsewhere, near misses count as partial agreement (squared distances).",
    "{units}",
    f"rough: fewer than {FIRM} of these, or fewer than {LEAST_OFF} off the commonest value.",
    "bad caught and good passed: by the same rules as in assess; several judges share the 5%.",
)
"""What the figures of all sections are."""


def format_legend(agreements: Sequence[Agreement]) -> list[str]:
    """Return the lines that explain the figures of all sections."""
    units = _UNITS if any(agreement.has_texts for agreement in agreements) else _NO_UNITS
    return [line.format(units=units) for line in _LEGEND]


class Section(NamedTuple):
    """A part of the report: its title, empty for one that goes on with the last; a table, and notes below it."""

    title: str
    columns: Sequence[TextColumn] = ()
    notes: Sequence[str] = ()


_MOST_SHOWN = 20
"""The most rubrics to show in full."""


def choose_shown(agreements: Sequence[Agreement]) -> tuple[Sequence[Agreement], Sequence[str]]:
    """Return the rubrics to show, those with the most answers if there are many, and what to say of the others."""
    # Of several rubrics the first agreement is that on all of them together.
    if len(agreements) <= _MOST_SHOWN + 1:
        return agreements, ()
    together, *others = agreements
    shown = sorted(others, key=lambda agreement: -agreement.answers)[:_MOST_SHOWN]
    most = count_answers(shown[-1].answers)
    left = f"{len(others) - _MOST_SHOWN:,} more rubrics, each with {most} or fewer; --format json has all of them."
    return (together, *shown), (left,)


def describe(agreement: Agreement) -> str:
    """Describe a rubric, the number of its answers, and who rated them."""
    raters = join_words([f"{shorten_name(name)} ({role}, {n:,})" for name, role, n in agreement.raters])
    kind: str = agreement.rubric.shape if agreement.rubric else "verdicts"
    name = shorten_name(agreement.name)
    return f"{name} ({kind}): {count_answers(agreement.answers)}, rated by {raters}"


def sections_of(agreement: Agreement) -> Iterator[Section]:
    """Yield the sections of a report, without the disagreements; of few answers only counts."""
    few = [comparison for comparison in agreement.comparisons if is_few(comparison)]
    for comparison in agreement.comparisons:
        if is_few(comparison):
            notes = (_FEW,) if comparison is few[-1] else ()
            yield _count(comparison, notes)
            continue
        yield _compare(comparison, agreement.chosen)
        gated = [compared for compared in comparison.measures if compared.pair and compared.pair.gate]
        if gated:
            yield _count_caught(gated, agreement.runs)
    if agreement.groups or agreement.ungrouped:
        yield _show_groups(agreement.groups, agreement.ungrouped)
    if agreement.ungrouped_outputs:
        yield Section("", notes=(format_ungrouped_outputs(agreement.ungrouped_outputs, agreement.runs),))
    for rate in agreement.pass_rates:
        yield _show_rates(rate)
    for judges, contests in agreement.contests:
        yield _show_contests(judges, contests)
    for rater, flips in agreement.samples:
        yield _show_flips(rater, flips)


def is_few(comparison: RaterComparison) -> bool:
    """Return whether there are so few answers that only counts of them mean something."""
    return all(compared.answers < LEAST for compared in comparison.measures)


def _format_left_out(comparison: RaterComparison) -> Iterator[str]:
    """Yield of each conditional criterion to how many answers it does not apply; such ratings are compared nowhere."""
    for compared in comparison.measures:
        left_out = compared.not_applicable
        if not left_out or not left_out.every + left_out.some:
            continue
        parts = []
        if left_out.every:
            parts.append(f"{left_out.every:,} by all")
        alone = "alone" if len(comparison.raters) == 2 else "and not by all"
        for rater, n in zip(comparison.raters, left_out.by, strict=True):
            if n:
                parts.append(f"{n:,} by {shorten_name(rater, 30)} {alone}")
        name = shorten_name(compared.measure.name)
        yield f"{name} does not apply to some answers, which are not compared: {join_words(parts)}."


def _count(comparison: RaterComparison, notes: Sequence[str]) -> Section:
    """Return the counts of a comparison: ratings that are the same, and bad and good answers that a judge tells."""
    measures = comparison.measures
    pairs = [compared.pair for compared in measures if compared.pair]
    columns = [TextColumn("criterion", [_name(compared.measure) for compared in measures])]
    if pairs:
        columns.append(TextColumn("agree", [_counted_share(pair.exact) for pair in pairs]))
    else:
        columns.append(TextColumn("n", [f"{compared.answers:,}" for compared in measures]))
    gates = [pair.gate for pair in pairs]
    if any(gates):
        columns += [
            TextColumn("bad caught", [_bounded(gate.shares.bad_caught) if gate else "" for gate in gates]),
            TextColumn("good passed", [_bounded(gate.shares.good_passed) if gate else "" for gate in gates]),
        ]
    return Section(_title(comparison), columns, [*_format_left_out(comparison), *notes])


_FEW = f"Fewer than {LEAST} answers show no more than counts; {LEAST} give rough figures, {FIRM} firm ones."


def _title(comparison: RaterComparison) -> str:
    raters = [shorten_name(name, 30) for name in comparison.raters]
    if comparison.between is not Between.LABEL:
        return f"{comparison.between.capitalize()}: {join_words(raters)}"
    title = f"{raters[1]} against the labels of {raters[0]}"
    return f"{title} (the median of each answer)" if comparison.raters[0] == LABEL else title


def _compare(comparison: RaterComparison, chosen: LabelSelection | None) -> Section:
    measures = comparison.measures
    figures = [(compared.measure, list(compared.figures.values())) for compared in measures]
    notes = [*_explain(figures), *_format_left_out(comparison)]
    if comparison.between is Between.LABEL and chosen is LabelSelection.BY_VERDICT:
        notes.append("Labels were chosen by the judge's verdict, so no figure here holds for all answers.")
    is_pair = any(compared.pair for compared in measures)
    alphas = [compared.alpha for compared in measures]
    names = [_name(compared.measure) for compared in measures]
    found = [TextColumn("criterion", names), TextColumn("n", [f"{compared.answers:,}" for compared in measures])]
    if is_pair:
        found.append(
            TextColumn("agree", [_percent(compared.pair.exact) if compared.pair else "" for compared in measures])
        )
    found.append(TextColumn("alpha", list(map(_value, alphas)), intervals=list(map(_interval, alphas))))
    if is_pair:
        found.append(TextColumn("kappa", [_value(compared.kappa) for compared in measures], 2))
    if any("bias" in compared.figures for compared in measures):
        biases = [compared.figures.get("bias") for compared in measures]
        found.append(TextColumn("bias", list(map(_signed, biases)), 0, list(map(_interval, biases)), 1))
    return Section(_title(comparison), found, notes)


def _count_caught(measures: Sequence[ScaleComparison], runs: int) -> Section:
    """Return how many bad answers a judge catches and good ones it passes, by each criterion and by the verdict."""
    gates = [compared.pair.gate for compared in measures if compared.pair and compared.pair.gate]
    names = [compared.measure.name for compared in measures]
    bounded = [None if gate.is_void else gate.shares for gate in gates]
    columns = [TextColumn("criterion", names), *_list_share_columns([gate.shares for gate in gates], bounded)]
    reasons: dict[str, list[str]] = {}
    for name, gate in zip(names, gates, strict=True):
        for note in [gate.reason, *_format_gate(gate)]:
            reasons.setdefault(note, []).append(shorten_name(name))
    notes = [f"{join_words(several)}: {reason}" for reason, several in reasons.items()]
    return Section("", columns, [*notes, *_format_labels(gates[-1].shares, runs)])


def _format_gate(gate: GateMeasure) -> Iterator[str]:
    """Yield what is bad without a gate, and of how many answers nobody knows whether they are."""
    if gate.is_void:
        return
    if gate.cut:
        yield f"without a gate, labels {gate.cut.describe(is_bad=True)} are bad"
    if gate.inapplicable and gate.inapplicable.judge:
        count = count_answers(gate.inapplicable.judge)
        yield f"by the judge alone it does not apply to {count}, which lower bounds count against the judge"
    shares = gate.shares
    # The reason says it already where labels are few, unless that is that one class has none.
    is_said = gate.reasons == (Reason.FEW_LABELS,) and shares.bad_caught.n > 0 and shares.good_passed.n > 0
    if shares.open and not is_said:
        lacking = f"{count_answers(shares.open)} without a value by people"
        yield f"{lacking}, which lower bounds count against the judge"


def _format_labels(shares: Shares, runs: int) -> Iterator[str]:
    """Yield how labels count in the shares of the verdict."""
    people = shares.people
    if people.tied:
        yield f"Verdict: people are tied on {count_answers(people.tied)}, which count as neither bad nor good."
    for note in format_wrong(shares, runs):
        yield f"Verdict: {note}"
    if shares.slips:
        yield f"Verdict: {format_slips(shares, shorten_name(people.main))}"


def _list_share_columns(several: Sequence[Shares], bounded: Sequence[Shares | None]) -> list[TextColumn]:
    """Return the columns of bad answers caught and good ones passed; only those that are `bounded` have an interval."""
    of_bad = [_bounds(shares.bad_caught) if shares else "" for shares in bounded]
    of_good = [_bounds(shares.good_passed) if shares else "" for shares in bounded]
    return [
        TextColumn("bad caught", [_bounded(shares.bad_caught) for shares in several], 0, of_bad, 1),
        TextColumn("good passed", [_bounded(shares.good_passed) for shares in several], 0, of_good, 2),
    ]


def _show_groups(groups: Sequence[JudgeShares], ungrouped: str) -> Section:
    """Return how judges treat the answers of each group, by the verdict."""
    shares = [group.shares for group in groups]
    columns = [
        TextColumn("group", [str(group.group) for group in groups]),
        TextColumn("judge", [shorten_name(group.judge, 20) for group in groups]),
        *_list_share_columns(shares, shares),
    ]
    title = "Verdicts by group; all groups share 5%"
    shown = columns if groups else ()
    notes = [ungrouped] if ungrouped else ()
    return Section(title, shown, notes)


def _bounded(share: BoundedShare) -> str:
    return f"{share.shown} of {share.n:,}" if share.n else "none"


def _bounds(share: BoundedShare) -> str:
    """Return the bounds, rounded outward: no bound is said to be closer than it is."""
    low, high = math.floor(1000 * share.low) / 10, math.ceil(1000 * share.high) / 10
    return f"[{low:.1f}%, {high:.1f}%]" if share.n else ""


def _explain(figures: Iterable[tuple[Measure, Sequence[Figure]]]) -> Iterator[str]:
    """Yield what figures leave open: each reason once, with the criteria and statistics unless it is all of them."""
    reasons: dict[str, dict[str, list[str]]] = {}
    total = 0
    for measure, several in figures:
        total += len(several)
        name = shorten_name(measure.name)
        if measure.scale.kind is ScaleKind.BAND:
            name = f"same band of {name}"
        for figure in several:
            if figure.reason:
                reasons.setdefault(figure.reason, {}).setdefault(name, []).append(_STATISTICS[figure.statistic])
    for reason, places in reasons.items():
        sentence = f"{reason[0].upper()}{reason[1:]}"
        if sum(map(len, places.values())) < total:
            sentence += ": " + "; ".join(f"{measure} ({', '.join(names)})" for measure, names in places.items())
        yield f"{sentence}."


_STATISTICS = {
    "kappa": "kappa",
    "kappa_quadratic": "kappa",
    "alpha_nominal": "alpha",
    "alpha_interval": "alpha",
    "bias": "bias",
    "nearer": "nearer",
}


def _show_rates(rate: PassRate) -> Section:
    judge, labels = shorten_name(rate.judge), rate.labels_alone
    if rate.judged.n < LEAST:
        notes = []
        if labels:
            notes.append(f"by the labels: {_counted_share(labels)}")
        return Section(f"Passed by {judge}: {_counted_share(rate.judged)}", notes=notes)
    title = f"Pass rate by {judge}: {_percent(rate.judged)} of {count_answers(rate.judged.n)}"
    alone = f"- ({rate.labels_reason})"
    if labels:
        bounds = f"[{labels.interval[0]:.1%}, {labels.interval[1]:.1%}]" if labels.interval else ""
        alone = f"{_percent(labels)} {bounds} of {count_answers(labels.n)}"
    value, low, high, method, reason = rate.corrected
    corrected = f"- ({reason})"
    if value is not None:
        corrected = f"{value:.1%}"
        if low is not None and high is not None:
            corrected += f" [{low:.1%}, {high:.1%}]"
        how = _METHODS[method or ""]
        if reason:
            how += f"; {reason}"
        corrected += f" ({how})"
    return Section(title, notes=[f"labels alone: {alone}", f"corrected: {corrected}"])


_METHODS = {
    "ppi": "labels of a random subset",
    "by-verdict": "labels chosen by verdict",
}


def _show_contests(judges: Sequence[str], contests: Sequence[Contest]) -> Section:
    one, two = (shorten_name(judge, 20) for judge in judges)
    title = f"Which is right, {one} or {two}, on {count_answers(contests[0].answers)} with a label"
    differences = [contest.nearer for contest in contests]
    columns = [
        TextColumn("criterion", [_name(contest.measure) for contest in contests]),
        TextColumn("only first", [f"{contest.first_right:,}" for contest in contests]),
        TextColumn("only second", [f"{contest.second_right:,}" for contest in contests]),
    ]
    if contests[0].answers < LEAST:
        return Section(title, columns)
    columns += [
        TextColumn("mid-p", [_number(contest.mid_p) for contest in contests]),
        TextColumn("first nearer by", list(map(_signed, differences)), 0, list(map(_interval, differences)), 1),
    ]
    notes = list(_explain((contest.measure, [contest.nearer]) for contest in contests))
    if any(contest.mid_p is None for contest in contests):
        notes.append("No mid-p where no answer is right by only one of them.")
    return Section(title, columns, notes)


def _show_flips(rater: str, several: Sequence[SampleFlips]) -> Section:
    title = f"Samples of {shorten_name(rater, 20)}: how often two differ, in {count_answers(several[0].answers)}"
    figures = [of_criterion.flips for of_criterion in several]
    intervals = list(map(_interval, figures)) if several[0].answers >= LEAST else []
    names = TextColumn("criterion", [_name(of_criterion.measure) for of_criterion in several])
    flips = TextColumn("flips", [_number(figure.value, "{:.1%}") for figure in figures], intervals=intervals)
    return Section(title, [names, flips])


def _name(measure: Measure) -> str:
    """Return the name of a row; bands stand below their criterion."""
    return "  same band" if measure.scale.kind is ScaleKind.BAND else measure.name


def _number(value: float | None, form: str = "{:.3f}") -> str:
    """Write a coefficient, a share or a probability; one that only rounds to 0 or 1 is written as `<0.001` or so."""
    if value is None:
        return "-"
    text, least = form.format(value), 0.001  # the last digit, in percent too
    if 0 < value < 1 and text == form.format(0):
        return f"<{form.format(least)}"
    if value < 1 and text == form.format(1):
        return f">{form.format(1 - least)}"
    return text


def _value(figure: Figure | None) -> str:
    return "" if figure is None else _number(figure.value)


def _signed(figure: Figure | None) -> str:
    """Write a difference in points, which may be above 1."""
    if figure is None:
        return ""
    return "-" if figure.value is None else f"{figure.value:+.2f}"


def _interval(figure: Figure | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return ""
    interval = f"[{figure.low:.2f}, {figure.high:.2f}]"
    return f"rough {interval}" if figure.rough else interval


def _percent(share: Share) -> str:
    return _number(share.value, "{:.1%}")


def _counted_share(share: Share) -> str:
    return f"{share.x:,} of {share.n:,}" if share.n else "none"


class AgreementReport(NamedTuple):
    """Everything that a run found: the agreement on each rubric, and what it does not rest on."""

    agreements: Sequence[Agreement]
    breaches: Sequence[Breach]
    invalid: Sequence[InvalidRecord]
    left_out: Sequence[LeftOut]


def as_json(findings: AgreementReport) -> str:
    """Return the JSON report."""
    return render_report({"version": VERSION, **findings._asdict()})


def as_text(findings: AgreementReport, columns: int, most: int = 10) -> Iterator[str]:
    """Yield the lines of the tables, each at most `columns` cells wide unless its figures alone need more.

    `most` disagreements are listed.
    """
    shown, left = choose_shown(findings.agreements)
    for number, agreement in enumerate(shown):
        if number:
            yield ""
        yield from wrap(describe(agreement), columns)
        for section in sections_of(agreement):
            yield ""
            yield from _write_section(section, columns)
        if agreement.rubric:
            yield ""
            yield from _show_disagreements(agreement.disagreements, columns, most)
    legend = list(left)
    if not all(is_few(comparison) for agreement in shown for comparison in agreement.comparisons):
        legend += format_legend(shown)
    if legend:
        yield ""
    for line in legend:
        yield from wrap(line, columns)


def _write_section(section: Section, columns: int) -> Iterator[str]:
    if section.title:
        yield from wrap(section.title, columns)
    if section.columns:
        yield from draw(section.columns, columns)
    for note in section.notes:
        yield from wrap(note, columns, "  ")


def _show_disagreements(listed: DisagreementList, columns: int, most: int) -> Iterator[str]:
    if not listed.total:
        yield "No disagreement."
        return
    yield f"{counted(listed.total, 'disagreement')}, the worst first"
    worst = listed.worst[:most]
    for disagreement in worst:
        yield f"  {disagreement.kind}: {shorten_name(disagreement.id, 24)}, {shorten_name(disagreement.criterion, 36)}"
        for rater, value, verdict, reason in disagreement.ratings:
            said = f": {' '.join(reason.split())}" if reason else ""
            yield shorten_name(f"    {rater} {name_answer(value)} ({verdict}){said}", columns)
    if listed.total > len(worst):
        more = f"... and {listed.total - len(worst):,} more; --worst N lists more, --format json all"
        yield from wrap(more, columns, "  ")


def describe_findings(findings: AgreementReport) -> dict[str, Any]:
    """Return the values of the template: the rubrics to show, and what the agreement does not rest on."""
    shown, left = choose_shown(findings.agreements)
    return {
        "shown": shown,
        "left": left,
        "describe": describe,
        "sections": sections_of,
        "not_compared": [*list_invalid(findings.invalid), *map(str, findings.left_out)],
    }
