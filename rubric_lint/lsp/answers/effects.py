"""Write the cards of bands, levels, weights and gates: what an answer does to the score and the verdict."""

from collections.abc import Iterator
from fractions import Fraction

from rubric_lint.format.criterion import Shape
from rubric_lint.lsp.places.cards import escape, table
from rubric_lint.lsp.places.scored_rubrics import Answered, Scored, Step, score_criteria
from rubric_lint.lsp.server.analysis import Analysis, Located
from rubric_lint.messages import list_scores, percent
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path
from rubric_lint.text.source import Span

_GATES = ("required_min_score", "required_min_level", "required")
_OPEN = "depends on the other criteria"


def describe_effects(analysis: Analysis, located: Located, path: Path) -> Iterator[tuple[Span, str]]:
    """Yield the card of each use of the band, level, weight or gate at a path, and its place."""
    document = located.document
    for scored in score_criteria(analysis, located):
        for step in scored.steps:
            if path[: len(step.place)] == step.place:
                yield document.span(step.place, step.part), _word_step(scored, step)
            elif path == step.place[:-1] and document.is_alias(path):
                yield document.span(path, Part.ENTRY), _word_step(scored, step)
        if path == scored.find_place("weight"):
            yield _whole(document, path), _word_weight(scored)
        if scored.scoring.gate is not None and path in map(scored.find_place, _GATES):
            yield _whole(document, path), _word_gate(scored)


def _whole(document: Document, path: Path) -> Span:
    return Span(document.span(path, Part.KEY).start, document.extent(path).end)


def _word_step(scored: Scored, step: Step) -> str:
    """Write a row for each answer of a band or level."""
    noun = _noun(scored)
    is_alone = len(scored.rubric.criteria) == 1
    title = f"{noun.title()} {step.low}" if step.low == step.high else f"{noun.title()}s {step.low} to {step.high}"
    figures = ("adds",) if is_alone else ("adds", "leaves at most")
    head = (noun, *figures, "verdict")
    rows = []
    for each in step.answers:
        at_most = () if is_alone else (_write(scored, each.prospect.points),)
        rows.append((_name(each), _write(scored, each.grade.points), *at_most, each.certainty or _OPEN))
    return "\n\n".join([f"**{title}**{_of(scored)}", table(head, rows, figures), _word_thresholds(scored)])


def _word_weight(scored: Scored) -> str:
    """Say what a criterion is worth, and what its worst answer does."""
    worst = min(scored.answers.values(), key=lambda each: each.grade.points)
    left = "at most " if len(scored.rubric.criteria) > 1 else ""
    verdict = _word_certainty(worst.certainty) if worst.certainty else "depends on the other criteria"
    return (
        f"**{escape(scored.scoring.id)}**: {percent(scored.scoring.share)} of the score. Its worst answer "
        f"({_name(worst)}) leaves {left}{_write(scored, worst.prospect.points)}, and the verdict {verdict}.\n\n"
        f"{_word_thresholds(scored)}"
    )


def _word_certainty(certainty: str) -> str:
    return certainty.replace("cannot ", "cannot be ", 1) if certainty.startswith("cannot ") else f"is {certainty}"


def _word_gate(scored: Scored) -> str:
    """Say which answers miss the gate of a criterion, and what follows."""
    missed = [each for each in scored.answers.values() if not each.grade.gate_met]
    return f"**Gate**{_of(scored)}: {_word_missed(scored, missed)}."


def _word_missed(scored: Scored, missed: list[Answered]) -> str:
    if not missed:
        return "no answer misses it"
    effect = "the verdict is fail" + (", whatever the other criteria get" if len(scored.rubric.criteria) > 1 else "")
    if len(missed) == len(scored.answers):
        return f"every answer misses it, so {effect}"
    if scored.rubric.shape is Shape.CHECKLIST:
        return f"if it is {_name(missed[0])}, {effect}"
    if not scored.has_all_steps:  # the document may count in other units
        return f"if an answer misses it, {effect}"
    words = f"{_noun(scored)}{'s' * (len(missed) > 1)} {list_scores(int(each.grade.answer) for each in missed)}"
    return f"{words} {'miss' if len(missed) > 1 else 'misses'} it, so {effect}"


def _noun(scored: Scored) -> str:
    return "level" if scored.rubric.shape is Shape.LEVELS else "score"


def _name(answered: Answered) -> str:
    answer = answered.grade.answer
    return ("met" if answer else "not met") if isinstance(answer, bool) else str(answer)


def _of(scored: Scored) -> str:
    """Name the criterion, unless it is the one scale of a holistic rubric."""
    return f" of {escape(scored.scoring.id)}" if scored.criterion else ""


def _write(scored: Scored, points: int) -> str:
    return f"{float(Fraction(points, scored.rubric.full)):.4g}"


def _word_thresholds(scored: Scored) -> str:
    passes, borderline = (f"{threshold.normalize():f}" for threshold in scored.rubric.model.thresholds)
    return f"Pass from {passes}" + ("" if passes == borderline else f", borderline from {borderline}") + "."
