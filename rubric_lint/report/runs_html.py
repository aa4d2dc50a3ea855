"""Render the comparison of two runs in an HTML report: how many verdicts flipped, which, and by which criteria."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rubric_lint.agree.runs import CriterionPair, Flip, OtherRun
from rubric_lint.messages import join_words
from rubric_lint.report.answer_rows import name_id
from rubric_lint.report.charts import name_answer
from rubric_lint.report.markup import as_html, open_table, render_heads
from rubric_lint.report.overview_html import format_score, label_criterion
from rubric_lint.scoring.grading import ScoringCriterion, ScoringRubric, Verdict

_MOST_FAULTS = 5
_MOST_NAMES = 20
_MOST_CRITERIA = 200


def render_comparison(other: OtherRun, label: str, rubrics: Sequence[ScoringRubric], only_there: int) -> Iterator[str]:
    """Yield the part of the page; `label` is the name of the other run, and `only_there` counts its further answers."""
    counts = other.counts
    worse, better = counts.flips()
    yield f'<h2 id="comparison">Compared with <span dir="auto">{as_html(label)}</span></h2>'
    both = counts.both
    yield f'<p class="note">{as_html(_describe(other, rubrics))}</p>'
    if both:
        changed = Fraction(counts.sum_now - counts.sum_was) / both
        figures = [
            ("Valid in both", f"{both:,}", "", ""),
            ("Worse verdict", f"{worse:,}", "", "flip=worse"),
            ("Better verdict", f"{better:,}", "", "flip=better"),
            ("Mean score", f"{float(changed):+.3f}", f"{_mean(counts.sum_was, both)} before", ""),
        ]
        yield f'<dl class="figures" style="--longest:{max(len(figure) for _, figure, _, _ in figures)}">'
        for name, figure, note, view in figures:
            shown = f'<span data-view="{view}">{figure}</span>' if view and figure != "0" else figure
            small = f"<small>{note}</small>" if note else ""
            yield f"<div><dt>{name}</dt><dd>{shown}{small}</dd></div>"
        yield "</dl>"
        yield f'<p class="note part">{_test(other)}</p>'
        yield from _render_verdicts(other)
        yield from _render_criteria(other, rubrics)
        yield from _render_flips(other, worse, better)
    yield from _render_rest(other, rubrics, only_there)


def _describe(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> str:
    """Say by which version of the rubric the other run was scored."""
    ours = {rubric.hash for rubric in rubrics}
    theirs = dict.fromkeys(each.hash for each in other.known.rubrics)
    strange = [each for each in theirs if each and each not in ours]
    told = "Answers are joined by rubric and id. Before is the other run, now is this one."
    if not theirs:
        return f"{told} No record of the other run has a score, so nothing can be compared."
    if strange:
        few = strange[:3] + ([f"{len(strange) - 3:,} more"] if len(strange) > 3 else [])
        return f"{told} The other run was scored by another version of the rubric: rubric hash {join_words(few)}."
    if "" in theirs:
        return f"{told} The results of the other run do not say which version of the rubric they used."
    return f"{told} Both were scored by the same version of the rubric."


def _test(other: OtherRun) -> str:
    passes = other.counts.passes()
    if passes.mid is None:
        return "No answer passes in only one of the runs."
    value = "under 0.001" if passes.mid < 0.001 else f"{passes.mid:.3f}"
    before, now = _link(passes.first, "flip=only-before"), _link(passes.second, "flip=only-now")
    return (
        f"{before} pass only before and {now} only now: McNemar&#x27;s mid-p is {value}. If both runs passed equally "
        "often, a difference as large as this one would have that probability. It does not say which run is right; "
        "labels do (--labels)."
    )


def _mean(total: Fraction, answers: int) -> str:
    return format_score(total / answers)


def _render_verdicts(other: OtherRun) -> Iterator[str]:
    """Yield the table of both verdicts."""
    names = [*Verdict, None]
    seen = other.counts.verdicts
    shown = [name for name in names if name or any(None in pair for pair in seen)]
    yield f'<div class="part">{open_table("Verdicts before and now", "criteria figures-table")}'
    yield render_heads("Before", *(f"{name or 'invalid'} now" for name in shown))
    for was in shown:
        cells = []
        for now in shown:
            count = seen[was, now]
            view = f' data-view="was={was or "invalid"}&amp;verdict={now or "invalid"}"' if count else ""
            cells.append(f'<td data-label="{now or "invalid"} now"><span{view}>{count:,}</span></td>')
        yield f'<tr><th scope="row">{was or "invalid"} before</th>{"".join(cells)}</tr>'
    yield "</tbody></table></section></div>"


def _render_criteria(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> Iterator[str]:
    """Yield how the answers to each criterion differ."""
    rows = []
    for place, rubric in enumerate(rubrics):
        for number, criterion in enumerate(rubric.criteria):
            if pair := other.criteria.get((rubric.name, criterion.id)):
                label = label_criterion(rubric, criterion)
                name = f"{rubric.name}: {label}" if len(rubrics) > 1 else label
                versions = ", ".join(_tell_versions(other, rubric, criterion))
                changed = f"<small>{versions}</small>" if versions else ""
                head = f'<th scope="row"><span dir="auto">{as_html(name)}</span>{changed}</th>'
                is_gated = criterion.gate is not None or pair.missed_was
                rows.append(
                    (pair, f"<tr>{head}{_render_pair(pair, f'{place}.{number}', is_gated=bool(is_gated))}</tr>")
                )
    if len(rows) > _MOST_CRITERIA:
        rows.sort(key=lambda row: -row[0].lower - row[0].higher)
        yield f'<p class="note part">The {_MOST_CRITERIA} of {len(rows):,} criteria whose values differ most often.</p>'
    if rows:
        yield f'<div class="part">{open_table("Criteria before and now", "criteria figures-table")}'
        yield render_heads("Criterion", "Answers", "Lower now", "Higher now", "Mean before", "Mean now", "Gate missed")
        yield from (row for _, row in rows[:_MOST_CRITERIA])
        yield "</tbody></table></section></div>"


def _render_pair(pair: CriterionPair, place: str, *, is_gated: bool) -> str:
    view = f"criterion={place}&amp;value="
    return (
        f'<td data-label="Answers">{pair.answers:,}</td>'
        f'<td data-label="Lower now">{_link(pair.lower, f"{view}lower")}</td>'
        f'<td data-label="Higher now">{_link(pair.higher, f"{view}higher")}</td>'
        f'<td data-label="Mean before">{_mean(pair.sum_was, pair.answers)}</td>'
        f'<td data-label="Mean now">{_mean(pair.sum_now, pair.answers)}</td>'
        f'<td data-label="Gate missed">{f"{pair.missed_was:,} to {pair.missed_now:,}" if is_gated else ""}</td>'
    )


def _tell_versions(other: OtherRun, rubric: ScoringRubric, criterion: ScoringCriterion) -> Iterator[str]:
    """Yield what differs in weight and gate between the versions of the rubric."""
    theirs = [each for each in other.find_criteria(rubric.name, criterion.id) if each.weight is not None]
    if len({(each.weight, each.gate) for each in theirs}) == 1:
        was = theirs[0]
        if was.weight != float(criterion.weight):
            yield f"weight {was.weight:g} to {float(criterion.weight):g}"
        if was.gate != criterion.gate:
            before, now = ("none" if gate is None else f"{gate}" for gate in (was.gate, criterion.gate))
            yield f"gate {before} to {now}"


def _tell_lonely(other: OtherRun, rubrics: Sequence[ScoringRubric]) -> Iterator[str]:
    """Yield the criteria that only one of the runs has."""
    ours = {each.id for rubric in rubrics for each in rubric.criteria}
    theirs = {each.id for rubric in other.known.rubrics for each in rubric.criteria}
    for where, names in (("this", ours - theirs), ("the other", theirs - ours)):
        if names and theirs:
            listed = join_words([f"<bdi>{as_html(name)}</bdi>" for name in sorted(names)[:_MOST_NAMES]])
            more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
            yield f"Criteria only in {where} run: {listed}{more}."


def _link(count: int, view: str) -> str:
    return f'<span data-view="{view}">{count:,}</span>' if count else "0"


def _render_flips(other: OtherRun, worse: int, better: int) -> Iterator[str]:
    for flips, total, kind in ((other.worse, worse, "worse"), (other.better, better, "better")):
        if not flips:
            continue
        first = "" if total == len(flips) else f", the first {len(flips)}"
        yield f'<h3 class="part" id="{kind}">Verdicts that are {kind} now ({total:,}{first})</h3>'
        yield open_table(f"Verdicts that are {kind} now", "flips")
        yield render_heads("Answer", "Before", "Now", "Criteria with another value")
        yield from (_render_flip(flip) for flip in flips)
        yield "</tbody></table></section>"


def _render_flip(flip: Flip) -> str:
    changed = ", ".join(
        f"<bdi>{as_html(label_criterion(flip.rubric, criterion))}</bdi> {name_answer(was)} to {name_answer(now)}"
        for criterion, was, now in flip.changed
    )
    score, verdict = flip.now
    return (
        f'<tr><th scope="row" dir="auto">{as_html(name_id(flip.id))}</th>'
        f'<td data-label="Before">{render_verdict(flip.was.verdict, float(flip.was.score))}</td>'
        f'<td data-label="Now">{render_verdict(verdict, score)}</td>'
        f'<td data-label="Changed"><div>{changed or "none: only the rubric differs"}</div></td></tr>'
    )


def render_verdict(verdict: Verdict, score: float) -> str:
    """Render a verdict with its score."""
    return f'<span class="verdict {verdict}">{verdict}</span> <span class="number">{score:.3f}</span>'


def _render_rest(other: OtherRun, rubrics: Sequence[ScoringRubric], only_there: int) -> Iterator[str]:
    """Yield what is not compared, with the reasons."""
    counts = other.counts
    told = [*_tell_lonely(other, rubrics)]
    if counts.only_here:
        told.append(f"{_count(counts.only_here, 'answer')} only in this run.")
    if only_there:
        told.append(f"{_count(only_there, 'answer')} only in the other run.")
    if counts.repeated or other.repeated:
        sides = [
            f"{count:,} in {where} run"
            for count, where in ((counts.repeated, "this"), (other.repeated, "the other"))
            if count
        ]
        told.append(f"Records with the id of an earlier one: {join_words(sides)}. The first of each id is compared.")
    if counts.without_id or other.without_id:
        count = counts.without_id + other.without_id
        told.append(f"{_count(count, 'record')} without an id, which cannot be joined.")
    if other.invalid:
        told.append(f"{_count(other.invalid, 'record')} of the other run without a score:")
    if not told:
        return
    items = "".join(f"<li>{line}</li>" for line in told)
    faults = "".join(f"<li>line {line:,}: {as_html(message)}</li>" for line, message in other.faults[:_MOST_FAULTS])
    more = other.invalid - min(len(other.faults), _MOST_FAULTS)
    faults += f"<li>and {more:,} more</li>" if faults and more > 0 else ""
    yield f'<h3 class="part" id="not-compared">Not compared</h3><ul class="soft">{items}{faults}</ul>'


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
