"""A band whose one outcome earns two verdicts."""

from collections.abc import Iterator
from decimal import Decimal

from rubric_lint.finding import Place, Problem, Severity
from rubric_lint.rubric import Band, Rubric, Scale, Thresholds
from rubric_lint.rule import Rule
from rubric_lint.wording import join_words, list_scores


def check(rubric: Rubric) -> Iterator[Problem]:
    """Look for gates inside bands; where one scale alone makes the verdict, for thresholds too."""
    is_alone = len(rubric.scales) == 1 and len(rubric.criteria) <= 1
    for scale in rubric.scales:
        for band in filter(_is_sound, scale.bands):
            if scale.gate is not None and scale.gate in band.scores and scale.gate > band.scores[0]:
                yield _word_gate(band, scale, scale.gate)
            elif is_alone and len(band.scores) > 1:
                yield from _compare_verdicts(band, scale.gate, rubric.thresholds)


def _is_sound(band: Band) -> bool:
    return band.is_sound


def _word_gate(band: Band, scale: Scale, gate: int) -> Problem:
    failing = list_scores(score for score in band.scores if score < gate)
    message = f"the gate {gate} splits this band {band.written}: {failing} cannot pass, {gate} can, for one outcome"
    message += f"; start a band at {gate} or move the gate"
    return Problem(message, band.path, band.part, (Place("the gate", scale.gate_path),))


def _compare_verdicts(band: Band, gate: int | None, thresholds: Thresholds) -> Iterator[Problem]:
    verdicts: dict[str, list[int]] = {}
    for score in band.scores:
        verdicts.setdefault(_judge(score, gate, thresholds), []).append(score)
    if len(verdicts) > 1:
        told = join_words([f"{verdict} for {list_scores(scores)}" for verdict, scores in verdicts.items()])
        starts = join_words([str(scores[0]) for scores in list(verdicts.values())[1:]])
        message = f"the verdict of this band {band.written} is {told}, for one outcome; start a band at {starts}"
        yield Problem(message, band.path, band.part)


def _judge(score: int, gate: int | None, thresholds: Thresholds) -> str:
    share = Decimal(score) / 10
    if (gate is not None and score < gate) or share < thresholds.borderline_at:
        return "fail"
    return "pass" if share >= thresholds.pass_at else "borderline"


RULE = Rule("split-band", Severity.WARNING, check)
