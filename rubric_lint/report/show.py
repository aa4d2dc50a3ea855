"""Write what files hold, for humans and for programs."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from rubric_lint.lint.project.paths import is_there
from rubric_lint.lint.run.summary import Summary, format_nothing_read
from rubric_lint.model.criterion import Hundredth, Shape, Thresholds, to_fraction
from rubric_lint.model.finding import Unread
from rubric_lint.model.messages import counted, join_words, percent, visible
from rubric_lint.model.schema_files import VERSION_3
from rubric_lint.model.suggest import suggest
from rubric_lint.report.machine import count_all
from rubric_lint.report.terminal import VERDICT_ROLES, Style, Write, cut, dump, width
from rubric_lint.scoring.show import Shown, ShownBand, ShownCriterion, ShownLevel, ShownRelease, ShownRubric

VERSION = 1
_LEAST = 20
"""The width of the last column, in cells, on narrow terminals."""

_MOST_REASONS = 3
"""How many reasons why a file cannot be scored are listed."""


class ShowJson:
    """A writer of one object with all files, in ASCII, which every stdout encoding supports."""

    def __init__(self, write: Write, _look: Style) -> None:
        self._write = write
        self._files: list[str] = []

    def add(self, shown: Shown) -> None:
        """Keep one file as text, because the summary is written before the files."""
        self._files.append(dump(shown.to_json()))

    def end(self, summary: Summary) -> None:
        """Write the object."""
        files = ",".join(f"\n  {file}" for file in self._files)
        self._write(f'{{"version": {VERSION},\n "summary": {dump(count_all(summary))},\n "files": [{files}]}}\n')


class ShowText:
    """A writer of a block for each rubric, with a table of its criteria and one of its example scores."""

    def __init__(self, write: Write, look: Style, *, advice: str = "for details, run") -> None:
        """`advice` leads to the command that lists what is wrong; empty if none does."""
        self._write = write
        self._look = look
        self._advice = advice
        self._gap = ""

    def add(self, shown: Shown) -> None:
        """Write the rubrics of one file, then what is not read, and what is wrong."""
        blocks = [list(self._draw(shown.file, rubric)) for rubric in shown.rubrics]
        notes = list(self._note(shown))
        if notes:
            blocks.append(notes)
        self._write(self._gap + "\n\n".join("\n".join(block) for block in blocks) + "\n")
        self._gap = "\n"

    def end(self, summary: Summary) -> None:
        """Write the summary."""
        lines = []
        for line in format_summary(summary).split("\n"):
            lines += self._look.wrap(line)
        self._write(self._gap + "\n".join(lines) + "\n")

    def _draw(self, file: str, rubric: ShownRubric) -> Iterator[str]:
        place = self._look.paint("place", f"{visible(file)}:{rubric.line}:{rubric.column}")
        yield f"{place} {visible(rubric.name)}"
        shape = "mixed shapes" if rubric.criteria else "no criteria"
        if rubric.shape:
            shape = rubric.shape.replace("_", " ")
        thresholds = _format_thresholds(rubric)
        yield from self._wrap("  ", f"{shape} ({rubric.format}); {thresholds}{_format_best(rubric)}")
        faults = self._count(rubric.errors, rubric.warnings)
        if faults:
            yield f"  {faults}"
        if rubric.task:
            yield f"  judges: {self._clip(rubric.task, 10)}"
        if rubric.grades:
            grades = ", ".join(f"{name} {_sign(rubric)} {mark}" for name, _, mark in rubric.grades)
            yield from self._wrap("  ", f"grades: {grades}")
        yield from self._list_groups(rubric)
        if rubric.criteria:
            yield ""
            yield from self._tabulate(rubric)
        if rubric.examples:
            yield ""
            yield from self._list_examples(rubric)

    def _list_examples(self, rubric: ShownRubric) -> Iterator[str]:
        """Yield a row for each example of a judge output: its verdict, its score and what it is."""
        scores = [_format_score(example.score, rubric.thresholds, rubric.scale) for example in rubric.examples]
        room = max(map(len, ["verdict", *(example.verdict for example in rubric.examples)]))
        most = max(map(len, scores))
        yield self._look.paint("gutter", f"  {'verdict':<{room}}  {'score':<{most}}  for example")
        for example, score in zip(rubric.examples, scores, strict=True):
            verdict = self._look.paint(VERDICT_ROLES[example.verdict], f"{example.verdict:<{room}}")
            lines = self._wrap(" " * (room + most + 6), example.title)
            yield f"  {verdict}  {score:<{most}}  {lines[0].lstrip()}"
            yield from lines[1:]

    def _list_groups(self, rubric: ShownRubric) -> Iterator[str]:
        """Yield a line for each group: its weight in the node around it, its gate and its condition."""
        for group in rubric.groups:
            line = f"group {group.id} (weight {float(group.weight):.12g}"
            if group.written_gate:
                line += f", gate {group.written_gate}"
            if group.applies_if:
                line += f", applies if: {group.applies_if}"
            line += ")"
            if group.outcome:
                line += f": {group.outcome}"
            yield from self._wrap("  ", line)

    def _tabulate(self, rubric: ShownRubric) -> Iterator[str]:
        criteria = rubric.criteria
        if rubric.shape is Shape.HOLISTIC:
            yield from self._list_steps("  ", criteria[0])
            return
        room = max(self._look.columns // 3, _LEAST)
        table = [("criterion", "weight", "share", "", "gate")]
        for criterion in criteria:
            name = cut(visible(" ".join(criterion.id.split())), room)
            weight = "?" if criterion.weight is None else f"{criterion.weight:.12g}"
            share, in_percent = "?", ""
            if criterion.share is not None:
                share, in_percent = str(criterion.share), percent(criterion.share)
            table.append((name, weight, share, in_percent, _format_gate(criterion)))
        widths = [max(map(width, column)) for column in zip(*table, strict=True)]
        lines = [_align(row, widths) for row in table]
        yield self._look.paint("gutter", f"  {lines[0].rstrip()}")
        outcomes = [visible(" ".join((criterion.outcome or "").split())) for criterion in criteria]
        room = self._look.columns - width(lines[0]) - 4
        is_beside = all(width(outcome) <= room for outcome in outcomes)
        for line, outcome, criterion in zip(lines[1:], outcomes, criteria, strict=True):
            if is_beside:
                yield f"  {line}  {outcome}".rstrip()
            else:
                yield f"  {line}".rstrip()
            if outcome and not is_beside:
                yield f"    {self._clip(outcome, 4)}"
            if criterion.applies_if:
                yield f"    {self._clip(f'applies if: {criterion.applies_if}', 4)}"
            yield from self._list_steps("    ", criterion, is_long=rubric.version == VERSION_3)

    def _list_steps(self, indent: str, criterion: ShownCriterion, *, is_long: bool = False) -> Iterator[str]:
        """Yield a row for each band or level, the lowest first; of a long scale, for its ends and what is described."""
        steps: Sequence[ShownBand | ShownLevel] = criterion.bands or criterion.levels
        if is_long or len(steps) > _MOST_STEPS:
            steps = [step for step in steps if step in (steps[0], steps[-1]) or step.outcome]
        heads = [_head_step(step) for step in steps]
        room = max(map(len, heads), default=0)
        for step, start in zip(steps, heads, strict=True):
            name = f"{step.name}: " if isinstance(step, ShownLevel) and step.name else ""
            painted = self._look.paint("other", f"{start:>{room}}")
            lead = width(indent) + room + 2
            yield f"{indent}{painted}  {self._clip(name + (step.outcome or '-'), lead)}"

    def _note(self, shown: Shown) -> Iterator[str]:
        """Yield what is not read, what is wrong and what cannot be scored."""
        file = visible(shown.file)
        start = f"{self._look.paint('place', file)}:"
        if shown.reason:
            yield from self._look.wrap(f"{start} no rubrics: {shown.reason}")
        reasons: dict[str, list[Unread]] = {}
        for unread in shown.unread:
            reasons.setdefault(unread.reason, []).append(unread)
        for reason, places in reasons.items():
            more = f" ({len(places) - 1} more like it)" if len(places) > 1 else ""
            place = self._look.paint("place", f"{file}:{places[0].line}:{places[0].column}")
            yield from self._look.wrap(f"{place}: not read: {visible(reason)}{more}")
        faults = self._count(shown.errors, shown.warnings)
        if faults:
            is_known = shown.file == "<stdin>" or is_there(shown.file)  # not if stdin only has its name
            if self._advice and is_known:
                faults += f"; {self._advice} `{suggest('check', shown.file)}`"
            yield from self._look.wrap(f"{start} {faults}")
        for release in shown.releases:
            yield from self._wrap("", f"{file}: {release.title} {_format_release(release)}")
        if shown.unscorable and shown.errors:
            yield from self._look.wrap(
                f"{start} no example scores: `score` refuses this file until the errors are fixed"
            )
        elif shown.unscorable:
            yield from self._look.wrap(f"{start} no example scores: `score` refuses this file")
            # What is not read is said above.
            others = [reason for reason in shown.unscorable if not reason.endswith(tuple(reasons))]
            for reason in others[:_MOST_REASONS]:
                yield from self._look.wrap(visible(reason), "  ")

    def _count(self, errors: int, warnings: int) -> str:
        counts = ((errors, "error"), (warnings, "warning"))
        return join_words([self._look.paint(noun, counted(count, noun)) for count, noun in counts if count])

    def _wrap(self, indent: str, text: str) -> list[str]:
        room = max(self._look.columns, len(indent) + _LEAST)
        lines = textwrap.wrap(
            visible(text), room, initial_indent=indent, subsequent_indent=indent, break_long_words=False
        )
        return lines or [indent]

    def _clip(self, text: str, lead: int) -> str:
        return cut(visible(" ".join(text.split())), max(self._look.columns - lead, _LEAST))


def format_summary(summary: Summary) -> str:
    """Return the last line of a report, and a second one on anything that was skipped."""
    counts = f"{counted(summary.rubrics, 'rubric')} with {counted(summary.criteria, 'criterion', 'criteria')}"
    where = counted(summary.files, "file")
    if summary.files > summary.files_with_rubrics > 0:
        where = f"{summary.files_with_rubrics} of {where}"
    found = f"{counts} in {where}." if summary.rubrics else f"0 rubrics found in {where}."
    # The report lists what is not read, and findings belong to rubric-lint.
    notes = summary._replace(ignored=0, unread=0, near_misses=0).format_notes()
    text = found if summary.files else format_nothing_read("read", summary.scope, has_notes=bool(notes))
    return text + notes


def _format_thresholds(rubric: ShownRubric) -> str:
    """Say from which score on an answer passes or is borderline, as the rubric writes it."""
    pass_at, borderline_at = rubric.thresholds
    upper: object = pass_at
    lower: object = borderline_at
    if rubric.marks:
        upper, lower = rubric.marks
    elif len(str(pass_at)) > _MOST_DIGITS:  # 2 of 3 has no end as a decimal
        upper = Fraction(pass_at).limit_denominator(1000)
    text = f"pass {_sign(rubric)} {upper}"
    if borderline_at < pass_at:
        text += f", borderline {_sign(rubric)} {lower}"
    if rubric.scale:
        text += f", on the scale from {rubric.scale[0]} to {rubric.scale[1]}"
    return text


def _sign(rubric: ShownRubric) -> str:
    worst, best = rubric.scale or (0, 1)
    return "<=" if worst > best else ">="


def _format_gate(criterion: ShownCriterion) -> str:
    if criterion.gate is None:
        return "-"
    if criterion.bands or criterion.levels:
        sign = "<=" if criterion.is_turned else ">="
        return f"{sign} {criterion.gate}"
    if not criterion.gate:
        return "never missed"
    return "must not be met" if criterion.is_negated else "must be met"


def _format_best(rubric: ShownRubric) -> str:
    """Say which score is read as the best, where only numbers say it."""
    if rubric.dialect != "shape" or any(criterion.is_turned for criterion in rubric.criteria):
        return ""
    levels = [level for criterion in rubric.criteria for level in criterion.levels]
    if not levels or any(level.name or level.outcome for level in levels):
        return ""
    scales = [criterion.levels for criterion in rubric.criteria if criterion.levels]
    highest = {max(level.level or 0 for level in scale) for scale in scales}
    best = highest.pop() if len(highest) == 1 else "the highest score"
    return f"; {best} is read as the best"


_MOST_DIGITS = 18
"""The most characters of a threshold that somebody wrote; a longer one comes of a division."""

_MOST_STEPS = 11
"""The most bands or levels that are all listed: those of a scale from 0 to 10."""


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return the cells side by side; the weight and the percentage are aligned on the right."""
    name, weight, share, percent, gate = row
    of_name, of_weight, of_share, of_percent, of_gate = (
        " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)
    )
    return f"{name}{of_name}  {of_weight}{weight}  {share}{of_share} {of_percent}{percent}  {gate}{of_gate}"


def _format_score(score: Fraction, thresholds: Thresholds, scale: tuple[int, int] | None) -> str:
    """Return a score in units of a scale with three decimals, or with as many as show its side of each threshold."""
    worst, best = map(Hundredth.fraction, scale or (0, 1))
    exact = worst + (best - worst) * score
    limits = [worst, best, *(worst + (best - worst) * to_fraction(mark) for mark in thresholds)]
    digits = 3
    while any(_compare(round(exact, digits), limit) != _compare(exact, limit) for limit in limits):
        digits += 1
    return f"{float(round(exact, digits)):.{digits}f}"


def _compare(score: Fraction, limit: Fraction) -> int:
    return (score > limit) - (score < limit)


def _format_release(release: ShownRelease) -> str:
    """Say whether a release of AgentV reads a file whole, and what it does not read first."""
    if not release.unread:
        return "reads it whole"
    line, _, reason = release.unread[0]
    first = f"line {line}"
    if len(release.unread) > 1:
        first = f"{len(release.unread)} places, the first in line {line}"
    return f"does not read it whole: {first}: {reason}"


def _head_step(step: ShownBand | ShownLevel) -> str:
    if isinstance(step, ShownLevel) and step.level is not None:
        head = str(step.level)
        if step.score is not None:
            head += f" = {float(step.score):.2f}"
        return head
    if isinstance(step, ShownLevel) or step.scores is None:
        return "?"
    lowest, highest = step.scores
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


SHOW_FORMATS: Mapping[str, type[ShowText] | type[ShowJson]] = {"full": ShowText, "json": ShowJson}
"""The formats of `rubric-lint show`."""
