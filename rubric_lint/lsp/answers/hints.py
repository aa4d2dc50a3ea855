"""Show what rubric-score makes of a rubric between its words: shares, the verdicts of bands, and ranges of keys."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from lsprotocol import types

from rubric_lint.format.criterion import Shape
from rubric_lint.lsp.places.scored_rubrics import Scored, Step, score_criteria
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.lsp.server.options import Options
from rubric_lint.messages import list_scores, percent
from rubric_lint.text.path import Part
from rubric_lint.text.source import Span


class _Piece(NamedTuple):
    """A part of a hint at an offset, perhaps empty; with `is_before`, what it is about follows."""

    at: int
    text: str
    is_before: bool = False


def make_hints(analysis: Analysis, within: Span, options: Options) -> list[types.InlayHint]:
    """Return the hints in a part of the text. What two uses of one anchor would say differently is left out."""
    text, found = analysis.state.text, dict[tuple[int, bool], list[list[str]]]()
    for located in analysis.rubrics:
        document, rubric = located
        if not document.may_borrow and not _meets(document.span(rubric.path), within):
            continue  # with anchors, its parts may be written elsewhere
        for scored in score_criteria(analysis, located):
            if not document.may_borrow and not _meets(scored.extent, within):
                continue
            pieces = sorted(_find_pieces(scored, options), key=lambda piece: piece.at)
            for (at, is_before), here in groupby(pieces, lambda piece: (piece.at, piece.is_before)):
                if within.start <= at <= within.end:
                    found.setdefault((at, is_before), []).append([piece.text for piece in here])
    hints = []
    for (at, is_before), said in sorted(found.items()):
        if label := "; ".join(filter(None, _agree(said))):
            position = text.range(Span(at, at)).start
            hint = types.InlayHint(position, label, padding_left=not is_before, padding_right=is_before)
            hint.tooltip = _TOOLTIP
            hints.append(hint)
    return hints


def _meets(span: Span, within: Span) -> bool:
    return span.start <= within.end and within.start <= span.end


def _agree(said: list[list[str]]) -> list[str]:
    """Return what all uses of one place say, part by part."""
    if len({len(texts) for texts in said}) > 1:
        return []  # it is not the same in all of them
    return [first for first, *others in zip(*said, strict=True) if all(text == first for text in others)]


_TOOLTIP = "Shares and verdicts are those of rubric-score. A verdict is certain whatever the other criteria get."


def _find_pieces(scored: Scored, options: Options) -> Iterator[_Piece]:
    """Yield a piece for all that a hint could be about, with an empty text where there is nothing to say."""
    if options.share_hints:
        share = f"{percent(scored.scoring.share)} of the score" if len(scored.rubric.criteria) > 1 else ""
        yield from _show(scored, ("weight", "id"), share)
    if scored.rubric.shape is Shape.CHECKLIST:
        if options.verdict_hints:
            places = ("required_min_score", "required", "weight", "id")
            yield from _show(scored, places, ", ".join(_word_answers(scored)))
        return
    for step in scored.steps:
        at = _end(scored, step)
        if options.range_hints:
            yield _Piece(at, f"band {step.low} to {step.high}" if step.is_short and step.high > step.low else "")
        if options.verdict_hints:
            yield _Piece(at, word_verdicts(step))


def _word_answers(scored: Scored) -> Iterator[str]:
    """Yield what is certain about the verdict if a checklist criterion is not met, and if it is."""
    for answer, word in ((False, "not met"), (True, "met")):
        if certainty := scored.answers[answer].certainty:
            yield f"{word}: {certainty}"


def word_verdicts(step: Step) -> str:
    """Write what is certain about the verdict with the answers of a band or level; empty if nothing is."""
    groups: dict[str, list[int]] = {}
    for answer in step.answers:
        groups.setdefault(answer.certainty, []).append(int(answer.grade.answer))
    if len(groups) == 1:
        return next(iter(groups))
    told = [f"{list_scores(scores)} {_conjugate(word, len(scores))}" for word, scores in groups.items() if word]
    is_one = len(next(scores for word, scores in groups.items() if word)) == 1
    return f"{'score' if is_one else 'scores'} {', '.join(told)}"


def _conjugate(certainty: str, count: int) -> str:
    """Write what is certain about the verdict as what some scores do: they fail, one of them fails."""
    verb, space, reason = certainty.partition(" ")
    one, several = _VERBS.get(verb, (verb, verb))
    return f"{one if count == 1 else several}{space}{reason}"


_VERBS = {
    "fail": ("fails", "fail"),
    "pass": ("passes", "pass"),
    "borderline": ("is borderline", "are borderline"),
}


def _show(scored: Scored, fields: tuple[str, ...], text: str) -> Iterator[_Piece]:
    """Yield a piece after the first of some fields that is written on one line, else before the criterion."""
    document = scored.located.document
    for field in fields:
        if (place := scored.find_place(field)) and "\n" not in document.source.slice(document.extent(place)):
            yield _Piece(document.extent(place).end, text)
            return
    if head := scored.head:
        yield _Piece(head.start, text, is_before=True)


def _end(scored: Scored, step: Step) -> int:
    """Return the end of what says a band or level; of an alias, not that of the definition.

    Of the short form it is the end of the outcome, or of the first line if that has several: directly behind the key, a
    hint would read as a part of it.
    """
    document = scored.located.document
    end = document.extent(step.place).end
    if step.is_short:
        key = document.span(step.place, Part.KEY).end
        first, line_end, _ = document.source.slice(Span(key, end)).partition("\n")
        return key + len(first.rstrip()) if line_end else end
    return end
