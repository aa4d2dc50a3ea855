"""A band whose one outcome earns two verdicts."""

from collections.abc import Iterable, Iterator
from math import ceil
from typing import NamedTuple

from rubric_lint.edits.intents import Repair
from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.format.criterion import Band, Scale, looks_like_levels
from rubric_lint.format.repairs import ADD_BAND, split, start_at
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words, list_scores
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part


def check(rubric: Rubric) -> Iterator[Problem]:
    """Find gates inside bands, and thresholds inside bands if a single scale decides the verdict."""
    if rubric.refusal:  # no score in a band decides anything
        return
    is_alone = len(rubric.scales) == 1 and len(rubric.criteria) <= 1 and not rubric.is_mixed
    bottom, top = rubric.span
    cuts = _Cuts(*(ceil(each * (top - bottom)) + bottom for each in rubric.thresholds)) if is_alone else None
    for scale in rubric.scales:
        lowest = [*(cuts or ()), *(() if scale.gate is None else [scale.gate])]
        # Levels that are written as bands are no bands.
        for band in scale.bands if lowest and not (not scale.is_whole and looks_like_levels(scale)) else ():
            # Bands that overlap or are out of bounds must change anyway.
            if (
                not set(lowest).isdisjoint(band.scores[1:])
                and band.is_sound
                and not any(other is not band and set(other.scores) & set(band.scores) for other in scale.bands)
            ):
                yield from _check_band(band, scale, cuts, rubric)


class _Cuts(NamedTuple):
    """The lowest scores of the verdicts `pass` and `borderline`."""

    pass_from: int
    borderline_from: int


def _check_band(band: Band, scale: Scale, cuts: _Cuts | None, rubric: Rubric) -> Iterator[Problem]:
    """Report a band that earns two verdicts; `cuts` is None if other criteria count too."""
    fates = _group(band.scores, scale, cuts)
    if len(fates) < 2:
        return
    starts = [scores[0] for scores in list(fates.values())[1:]]
    related = (Place("the gate", scale.gate_path),) if scale.gate in starts else ()
    is_one = len(starts) == 1
    gates = [start for start in starts if start == scale.gate or cuts is None]
    pass_at, borderline_at = rubric.thresholds
    named = [
        f"`pass = {pass_at}`" if cuts and start >= cuts.pass_from else f"`borderline = {borderline_at}`"
        for start in starts
        if start not in gates
    ]
    thresholds = f"the threshold{'s' if len(named) > 1 else ''} {join_words(named)}" if named else ""
    values = {
        "gate": rubric.word_gate(gates[0]) if gates else "",
        "thresholds": thresholds,
        "split": "splits" if is_one else "split",
        "band": band.written,
        "verdicts": ", ".join(f"{list_scores(scores)}: {fate}" for fate, scores in fates.items()),
        "bands": "a band" if is_one else "bands",
        "starts": join_words([str(start) for start in starts]),
    }
    code = "thresholds" if not gates else "gate-and-thresholds" if thresholds else "gate"
    repair = _repair(scale, band, starts[0], cuts) if is_one else None
    parted = split(scale, band, starts)
    choices = (parted,) if parted else ()
    yield Problem(code, band.path, band.part, values, related, repair, choices=choices)


def _group(scores: Iterable[int], scale: Scale, cuts: _Cuts | None) -> dict[str, list[int]]:
    fates: dict[str, list[int]] = {}
    for score in scores:
        fates.setdefault(_judge(score, scale.gate, cuts), []).append(score)
    return fates


def _repair(scale: Scale, band: Band, start: int, cuts: _Cuts | None) -> Repair | None:
    """Start the next band at `start`; None if there is none with an outcome, or if this would split it."""
    following = next((each for each in scale.bands if each.is_sound and each.scores[0] == band.scores[-1] + 1), None)
    if following is None or not (following.outcome or "").strip():  # the scores would get an outcome that says nothing
        return None
    is_whole = len(_group(following.scores, scale, cuts)) == 1
    if is_whole and len(_group([start, *following.scores], scale, cuts)) > 1:
        return None
    return start_at(scale, band, following, start)


def _judge(score: int, gate: int | None, cuts: _Cuts | None) -> str:
    if gate is not None and score < gate:
        return "gate missed" if cuts is None else "fail"
    if cuts is None:
        return "gate met"
    if score < cuts.borderline_from:
        return "fail"
    return "pass" if score >= cuts.pass_from else "borderline"


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
    choices={ADD_BAND: "start a new band at the gate or threshold, with a placeholder as its outcome"},
)
