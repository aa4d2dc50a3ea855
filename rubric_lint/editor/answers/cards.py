"""Write the cards of criteria and rubrics in Markdown, also of the rubric that a test file names."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rubric_lint.assess.rubric_tests.reading import split_reference
from rubric_lint.editor.server.analysis import State
from rubric_lint.lint.engine import build_rubrics
from rubric_lint.lint.project.files import File, Unreadable, read
from rubric_lint.model.criterion import SPAN, Band, Criterion, Shape
from rubric_lint.model.groups import Group
from rubric_lint.model.messages import escape as escape_markdown
from rubric_lint.model.messages import percent, shorten
from rubric_lint.model.rubric import Rubric
from rubric_lint.scoring.grading import OVERALL
from rubric_lint.scoring.loading import LoadedRubric, UnscorableError, name_rubrics, share_out
from rubric_lint.source.path import Path
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source, UndecodableError


def format_criterion(rubric: Rubric, criterion: Criterion) -> str:
    """Write the card of a criterion: its name, share, gate, and bands or levels."""
    worth = f"weight {_format_share(rubric, criterion)}; gate: {_format_gate(criterion)}"
    if criterion.is_failure:
        worth = "a critical failure"
    lines = [f"**{escape(criterion.id)}**: {worth}"]
    if criterion.applies_if:
        lines.append(f"applies if: {escape(criterion.applies_if)}")
    if criterion.levels is not None:
        described = [level for level in criterion.levels if level.name or level.outcome]
        if len(described) < len(criterion.levels) and SPAN in (criterion.fields or {}):
            worst, best = (criterion.fields or {})[SPAN]
            lines.append(f"{escape(criterion.outcome)}\n\nscale: from {worst}, the worst, to {best}, the best".strip())
        rows = []
        for level in sorted(described, key=lambda level: -(level.number or 0)):
            name = f" {escape(level.name)}" if level.name else ""
            rows.append((_format_number(level.number) + name, escape(level.outcome)))
        if rows:
            lines.append(table(("level", "outcome"), rows))
    elif criterion.scale:
        lines.append(_tabulate_bands(criterion.scale.bands))
    elif criterion.outcome:
        lines.append(escape(criterion.outcome))
    return "\n\n".join(lines)


def format_group(group: Group) -> str:
    """Write the card of a group: its weight, gate, condition and what it judges."""
    gate = "none" if group.gate is None else f"at {percent(group.gate)} of its score"
    lines = [f"**{escape(group.id)}**: a group; weight {_format_number(float(group.weight))}; gate: {gate}"]
    if group.applies_if:
        lines.append(f"applies if: {escape(group.applies_if)}")
    if group.outcome:
        lines.append(escape(group.outcome))
    return "\n\n".join(lines)


def format_rubric(rubric: Rubric) -> str:
    """Write the card of a rubric: its bands if it is holistic, else its criteria."""
    if rubric.shape is Shape.HOLISTIC:
        return "**holistic scale**\n\n" + "\n\n".join(_tabulate_bands(scale.bands) for scale in rubric.scales)
    rows = [(escape(entry.id), _format_share(rubric, entry), _format_gate(entry)) for entry in rubric.entries]
    return f"**{(rubric.shape or '').replace('_', ' ')}**\n\n" + table(("criterion", "weight", "gate"), rows)


def _tabulate_bands(bands: Iterable[Band]) -> str:
    rows = [(f"{_format_number(band.lower)} to {_format_number(band.upper)}", escape(band.outcome)) for band in bands]
    return table(("scores", "outcome"), rows)


def _format_share(rubric: Rubric, criterion: Criterion) -> str:
    weights = [entry.weight for entry in rubric.entries if entry.weight is not None]
    if criterion.weight is None:
        return "unknown"
    weight = _format_number(float(criterion.weight))
    if rubric.view and rubric.root:
        shares = dict(rubric.root.share_out(rubric.view.weights))
        share = shares.get(int(criterion.path[-1]), Fraction(0))
        return f"{weight} in its group, {percent(share)} of the rubric"
    if len(weights) < len(rubric.entries):
        return weight
    try:
        share = share_out(weights)[rubric.entries.index(criterion)]
    except UnscorableError:
        return weight
    total = sum(weight for weight in weights if weight > 0)
    return f"{weight} of {_format_number(float(total))}, {percent(share)}"


def _format_gate(criterion: Criterion) -> str:
    if criterion.gate is None:
        return "none"
    if criterion.levels is not None:
        return f"at level {criterion.gate}"
    check = "must not be met" if criterion.is_negated else "must be met"
    return check if criterion.is_check else f"at {criterion.gate}"


def _format_number(number: float | None) -> str:
    if number is None:
        return "?"
    return f"{number:g}" if isinstance(number, float) else str(number)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], centred: Collection[str] = ()) -> str:
    """Write a Markdown table, with the columns of these heads centred."""
    lines = [head, tuple(":-:" if name in centred else "---" for name in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def escape(text: str | None) -> str:
    """Escape text of a file for Markdown, on one line and shortened."""
    return escape_markdown(shorten(" ".join((text or "").split()), 200))


@dataclass(frozen=True, slots=True)
class TestedCriterion:
    """A criterion or a group of a tested rubric: its id, its card, and whether it has a gate."""

    id: str
    card: str
    has_gate: bool
    is_group: bool = False

    def fits(self, field: str) -> bool:
        """Return whether an expectation may name it: in `gates`, `groups` or `criteria`."""
        return self.has_gate if field == "gates" else self.is_group is (field == "groups")


def names_criteria(path: Path) -> bool:
    """Return whether the keys of the mapping at a path of a test file are ids of criteria."""
    return len(path) == 4 and path[0] == "tests" and path[2] == "expect" and path[3] in {"gates", "groups", "criteria"}


def read_reference(name: str, data: Any) -> tuple[str, str] | None:
    """Return the path and the name of the rubric that the data of a test file refers to, if it does."""
    reference = data.get("rubric") if isinstance(data, dict) else None
    return split_reference(name, reference) if isinstance(reference, str) else None


def find_rubrics(state: State, path: str) -> list[LoadedRubric]:
    """Return the rubrics of a file that a test file refers to, as typed if it is open; none if it cannot be read."""
    if state.settings is None:
        return []
    settings = state.settings._replace(claimed=True, is_test_file=False)
    text = state.find_open(path)
    data = read(File(path, settings)) if text is None else text.encode()
    if isinstance(data, Unreadable):
        return []
    try:
        documents, _ = read_documents(Source.from_bytes(path, data))
    except UndecodableError:
        return []
    return name_rubrics(
        path, [(document, rubric) for document in documents for rubric in build_rubrics(document, settings)]
    )


def list_criteria(state: State, data: Any) -> list[TestedCriterion]:
    """Return the criteria of the rubric that the data of a test file names; none if there is no such rubric."""
    reference = read_reference(state.name, data)
    if reference is None:
        return []
    path, name = reference
    rubrics = find_rubrics(state, path)
    if name or len(rubrics) > 1:
        rubrics = [loaded for loaded in rubrics if loaded.name == name]
    if not rubrics:
        return []
    rubric = rubrics[0].rubric
    if rubric.shape is Shape.HOLISTIC:
        return [TestedCriterion(OVERALL, format_rubric(rubric), has_gate=False)]
    criteria = [
        TestedCriterion(criterion.id, format_criterion(rubric, criterion), criterion.gate is not None)
        for criterion in rubric.criteria
    ]
    groups = [
        TestedCriterion(group.id, format_group(group), group.gate is not None, is_group=True) for group in rubric.groups
    ]
    return criteria + groups
