"""Write rubrics as tables for readers, in GitHub Markdown."""

from collections.abc import Iterable, Iterator, Mapping

from rubric_lint.dialects.export.carrying import Carried
from rubric_lint.dialects.export.cases import group_cases
from rubric_lint.dialects.export.entries import bounds, shares, sort_levels
from rubric_lint.dialects.export.rows import as_sheet, texts_of, word_band
from rubric_lint.dialects.export.target import NOWHERE, Export, ExportTarget, Loss, Rubrics, Sources, shape_of
from rubric_lint.dialects.tables.markdown_file import CASE_TEXTS, unescape
from rubric_lint.dialects.tables.values import MUST_BE_MET
from rubric_lint.format.criterion import HIGHEST, Band, Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import escape, percent, table

_ASKED = {
    Shape.CHECKLIST: "Each criterion is met or not.",
    Shape.SCORE_RANGES: "Each criterion gets a whole number from 0 to 10.",
    Shape.HOLISTIC: "The answer as a whole gets a whole number from 0 to 10.",
    Shape.LEVELS: "Each criterion is at one of its levels.",
}


def write(rubrics: Rubrics, sources: Sources = NOWHERE, suite: Carried | None = None) -> Export:
    """Write a section for each rubric; `rubric-lint import` reads back what is not listed as lost."""
    texts: dict[str, Mapping[str, str]] = {}
    for case in group_cases(rubrics, sources, suite) if suite else ():
        texts |= {member.name: case.carried.fields for member in case.members}
    sections = (_section(name, rubric, texts.get(name, {})) for name, rubric in rubrics.items())
    text = "\n".join(line for section in sections for line in section)
    return Export(text, tuple(loss for name, rubric in rubrics.items() for loss in _lost(name, rubric)))


def _section(name: str, rubric: Rubric, texts: Mapping[str, str]) -> Iterator[str]:
    shape = shape_of(name, rubric)
    pass_at, borderline_at = rubric.thresholds
    yield f"## {escape(name)}"
    yield ""
    for field, text in texts.items():
        yield f"**{CASE_TEXTS[field]}:** {escape(text)}"
        yield ""
    verdict = f"The answer passes from a score of {pass_at}"
    verdict += f" and is borderline from {borderline_at}" if borderline_at < pass_at else ""
    gated = ", unless a criterion stays below its minimum" if any(each.gate for each in rubric.criteria) else ""
    yield f"{_ASKED[shape]} {verdict}{gated}."
    yield ""
    if shape is Shape.HOLISTIC:
        yield from table(("score", "outcome"), _band_rows(rubric.scales[0].bands))
        yield ""
        return
    rows = zip(rubric.criteria, map(percent, shares(rubric)), strict=True)
    heads = ("criterion", "what is judged", "weight", "share", "minimum")
    yield from table(heads, (_row(criterion, share) for criterion, share in rows))
    yield ""
    for criterion in rubric.criteria:
        yield from _details(criterion)


def _row(criterion: Criterion, share: str) -> tuple[str, ...]:
    gate = "" if criterion.gate is None else str(criterion.gate)
    if criterion.scale is None and criterion.levels is None:
        gate = MUST_BE_MET if criterion.gate else ""
    elif criterion.scale and gate:
        gate += f" of {HIGHEST}"
    return criterion.id, criterion.outcome or "", str(criterion.weight), share, gate


def _details(criterion: Criterion) -> Iterator[str]:
    if criterion.scale:
        yield f"### {escape(criterion.id)}"
        yield ""
        yield from table(("score", "outcome"), _band_rows(criterion.scale.bands))
        yield ""
    elif criterion.levels:
        yield f"### {escape(criterion.id)}"
        yield ""
        levels = reversed(sort_levels(criterion))
        rows = [(str(level.number), level.name or "", level.outcome or "") for level in levels]
        yield from table(("level", "name", "outcome"), rows)
        yield ""


def _band_rows(bands: Iterable[Band]) -> Iterator[tuple[str, str]]:
    for band in sorted(bands, key=bounds):
        yield word_band(band), band.outcome or ""


def _lost(name: str, rubric: Rubric) -> Iterator[Loss]:
    """Find what a table in Markdown shows otherwise than it is written."""
    for text, path in texts_of(as_sheet(name, rubric)):
        if unescape(escape(text)).strip() != text:
            message = "what Markdown cannot show: white space that it joins, invisible characters, orders to CI systems"
            yield Loss(name, path, message)
    for criterion in rubric.criteria:
        if not criterion.scale and not criterion.levels and criterion.gate not in {None, HIGHEST}:
            shown = (
                f"shown as `{MUST_BE_MET}`, which is {HIGHEST}" if criterion.gate else "not shown, as nothing misses it"
            )
            yield Loss(name, criterion.gate_path, f"the gate {criterion.gate} of `{criterion.id}`: {shown}")


TARGET = ExportTarget("Markdown", "tables for readers", write)
