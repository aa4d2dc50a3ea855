"""A band whose one outcome earns two verdicts."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rubric_lint.model.criterion import Band, Scale
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import join_words, list_scores, pluralize
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.scale_repair import (
    ADD_BAND,
    SCALE_CHOICES,
    RefusedScaleError,
    ScaleRepair,
    Verdicts,
    find_extent,
    find_verdicts,
    plan_scale,
)
from rubric_lint.rules.rule import Rule
from rubric_lint.source.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find gates inside bands, and thresholds inside bands if a single scale decides the verdict."""
    for scale in rubric.scales:
        verdicts = find_verdicts(rubric, scale)
        cuts = verdicts.find_cuts(*rubric.find_ends(scale))
        if not cuts:
            continue
        split = []
        for band in scale.bands:
            scores = find_extent(band) or range(0)
            inside = [cut for cut in cuts if cut in scores[1:]]
            if inside:
                split.append((band, scores, inside))
        if split:
            yield from _check_scale(rubric, scale, verdicts, split)


_SplitBand = tuple[Band, range, list[int]]
"""A band, its scores, and those of them that come to another verdict than the score below."""


def _check_scale(rubric: Rubric, scale: Scale, verdicts: Verdicts, split: Sequence[_SplitBand]) -> Iterator[Problem]:
    """Report the bands that are split, unless the repair of the scale ends them at the gate or threshold anyway."""
    try:
        plan = plan_scale(rubric, scale)
    except RefusedScaleError as refused:
        shared = Counter(score for band in scale.bands for score in band.scores)
        for band, scores, starts in split:
            if band.is_sound and all(shared[score] == 1 for score in scores):
                problem = _describe(rubric, scale, verdicts, (band, scores, starts))
                yield ScaleRepair(obstacle=str(refused)).attach(problem)
        return
    for band, scores, inside in split:
        starts = [start for start in inside if start not in plan.settled]
        if starts:
            yield plan.part(starts).attach(_describe(rubric, scale, verdicts, (band, scores, starts)))


def _describe(rubric: Rubric, scale: Scale, verdicts: Verdicts, split: _SplitBand) -> Problem:
    band, scores_of_band, starts = split
    scores_by_verdict: dict[str, list[int]] = {}
    for score in scores_of_band:
        scores_by_verdict.setdefault(verdicts.of(score), []).append(score)
    is_alone = verdicts.pass_from is not None
    is_falling = verdicts.turns_at is not None  # the gate is the highest score that meets it
    edge = scale.gate
    if edge is not None and is_falling:
        edge += 1
    related: tuple[RelatedPlace, ...] = ()
    if edge in starts:
        related = (RelatedPlace("the gate", scale.gate_path),)
    gates = [start for start in starts if start == edge or not is_alone]
    thresholds = []
    for start in starts:
        if start not in gates:
            is_pass = verdicts.of(start) == "pass" or (is_falling and verdicts.of(start - 1) == "pass")
            thresholds.append(_name_threshold(rubric, is_pass=is_pass))
    values = {
        "gate": "",
        "thresholds": "",
        "split": pluralize(len(starts), "splits", "split"),
        "band": band.written,
        "verdicts": ", ".join(f"{list_scores(scores)}: {verdict}" for verdict, scores in scores_by_verdict.items()),
        "bands": pluralize(len(starts), "a band", "bands"),
        "starts": join_words([str(start) for start in starts]),
    }
    code = "thresholds"
    if gates:
        code = "gate-and-thresholds" if thresholds else "gate"
        gate = gates[0] - 1 if is_falling else gates[0]
        values["gate"] = rubric.format_gate(gate)
    if thresholds:
        noun = pluralize(len(thresholds), "threshold")
        values["thresholds"] = f"the {noun} {join_words(thresholds)}"
    return Problem(code, band.path, band.part, values, related)


def _name_threshold(rubric: Rubric, *, is_pass: bool) -> str:
    """Write a threshold with its value, as a rubric of version 3 has it, or else the settings."""
    field, setting, mark = "borderline_threshold", "borderline", rubric.thresholds.borderline_at
    if is_pass:
        field, setting, mark = "pass_threshold", "pass", rubric.thresholds.pass_at
    view = rubric.view
    if view and rubric.is_version_3:
        own = view.threshold if is_pass else view.borderline
        if own is not None:
            return f"`{field}: {view.document.written_at((*rubric.path, field))}`"
    return f"`{setting} = {mark}`"


RULE = Rule(
    "split-band",
    Severity.WARNING,
    {
        code: f"{cut} {{split}} this band {{band}}, which has one outcome ({{verdicts}}); start {{bands}} at {{starts}}"
        for code, cut in (
            ("gate", "gate {gate} ({line})"),
            ("thresholds", "{thresholds}"),
            ("gate-and-thresholds", "gate {gate} ({line}) and {thresholds}"),
        )
    },
    check,
    fix="unsafe",
    marks=(Part.VALUE, Part.KEY),
    choices={ADD_BAND: SCALE_CHOICES[ADD_BAND]},
)
