"""Write the cards of fields, criteria and rubrics, in Markdown."""

from collections.abc import Collection, Iterable

from rubric_lint.format.bands import Band
from rubric_lint.format.criterion import Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.lsp.places.fields import FieldFacts
from rubric_lint.messages import escape as escape_markdown
from rubric_lint.messages import percent, shorten
from rubric_lint.scoring.loading import UnscorableError, share_out


def word_field(field: FieldFacts) -> str:
    """Write the card of a field."""
    facts = "; ".join(fact for fact in field.facts if fact)
    return f"**`{field.name}`**{': ' if facts else ''}{facts}\n\n{field.description}"


def word_criterion(rubric: Rubric, criterion: Criterion) -> str:
    """Write the card of a criterion: its name, share, gate, and bands or levels."""
    lines = [f"**{escape(criterion.id)}**: weight {_word_share(rubric, criterion)}; gate: {_word_gate(criterion)}"]
    if criterion.levels is not None:
        rows = [
            (_show(level.number) + (f" {escape(level.name)}" if level.name else ""), escape(level.outcome))
            for level in sorted(criterion.levels, key=lambda level: -(level.number or 0))
        ]
        lines.append(table(("level", "outcome"), rows))
    elif criterion.scale:
        lines.append(_tabulate_bands(criterion.scale.bands))
    elif criterion.outcome:
        lines.append(escape(criterion.outcome))
    return "\n\n".join(lines)


def word_rubric(rubric: Rubric) -> str:
    """Write the card of a rubric: its bands if it is holistic, else its criteria."""
    if rubric.shape is Shape.HOLISTIC:
        return "**holistic scale**\n\n" + "\n\n".join(_tabulate_bands(scale.bands) for scale in rubric.scales)
    rows = [(escape(entry.id), _word_share(rubric, entry), _word_gate(entry)) for entry in rubric.entries]
    return f"**{(rubric.shape or '').replace('_', ' ')}**\n\n" + table(("criterion", "weight", "gate"), rows)


def _tabulate_bands(bands: Iterable[Band]) -> str:
    rows = [(f"{_show(band.lower)} to {_show(band.upper)}", escape(band.outcome)) for band in bands]
    return table(("scores", "outcome"), rows)


def _word_share(rubric: Rubric, criterion: Criterion) -> str:
    weights = [entry.weight for entry in rubric.entries if entry.weight is not None]
    if criterion.weight is None:
        return "unknown"
    weight = _show(float(criterion.weight))
    if len(weights) < len(rubric.entries):
        return weight
    try:
        share = share_out(weights)[rubric.entries.index(criterion)]
    except UnscorableError:
        return weight
    total = sum(each for each in weights if each > 0)
    return f"{weight} of {_show(float(total))}, {percent(share)}"


def _word_gate(criterion: Criterion) -> str:
    if criterion.gate is None:
        return "none"
    if criterion.levels is not None:
        return f"at level {criterion.gate}"
    return "must be met" if criterion.shapes == (Shape.CHECKLIST,) else f"at {criterion.gate}"


def _show(number: float | None) -> str:
    return "?" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], centred: Collection[str] = ()) -> str:
    """Write a Markdown table, with the columns of these heads centred."""
    lines = [head, tuple(":-:" if each in centred else "---" for each in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_LONGEST = 200


def escape(text: str | None) -> str:
    """Escape text of a file for Markdown, on one line and shortened."""
    return escape_markdown(shorten(" ".join((text or "").split()), _LONGEST))
