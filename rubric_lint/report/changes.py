"""Write the result of `rubric-lint diff` as text, Markdown or JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import click

from rubric_lint.assess.agreement.left_out import LeftOut
from rubric_lint.assess.diff.compare_runs import BEFORE, BOTH, NAMES_OF_RUNS, NOW
from rubric_lint.assess.diff.rubric_diff import INVALID, Change, ChangedValue, ChangeKind, OutputEffect, OutputEffects
from rubric_lint.model.finding import Finding
from rubric_lint.model.messages import (
    counted,
    escape,
    join_first,
    join_words,
    name_scores,
    percent,
    table,
    to_data,
    visible,
)
from rubric_lint.report.terminal import name_answer
from rubric_lint.scoring.grading import Verdict
from rubric_lint.source.source import Source

VERSION = 1
"""The version of the JSON report."""

MOST = 20
"""How many outputs the text and Markdown reports list; the JSON report lists all."""


class DiffReport(NamedTuple):
    """The names of both files, the changes, and the effects on judge outputs if there were any.

    Of a branch, also the findings on changed lines, the rubric tests that do not hold, and what was not compared, with
    the reason.
    """

    old: str
    new: str
    changes: tuple[Change, ...]
    effects: OutputEffects | None = None
    findings: tuple[tuple[Source, Finding], ...] = ()
    tests: tuple[tuple[Source, Finding], ...] = ()
    skipped: tuple[str, ...] = ()
    is_branch: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing changes in meaning, and nothing is wrong."""
        return not (self.changes or self.findings or self.tests or self.skipped)


def format_change(change: Change) -> tuple[str, str, str]:
    """Return the subject of a change and both sides in words; a missing side is empty."""
    subject, describe = _WORDS[change.what]
    if change.what is ChangeKind.SCORES:
        subject = name_scores(change.scores)
    elif change.what is ChangeKind.SHARE and change.new and len(change.new["shares"]) > 1:
        groups = sum("group" in share for share in change.new["shares"])
        in_groups = f"{counted(groups, 'group')} and " if groups else ""
        subject = f"shares of {in_groups}{counted(len(change.new['shares']) - groups, 'criterion', 'criteria')}"
    elif "critical_failure" in (change.new or change.old or {}):
        subject = "critical failure"
    elif change.what is ChangeKind.FIELD:
        subject = (change.new or change.old or {})["field"]
    elif change.what is ChangeKind.LEVEL:
        subject = f"level {change.scores[0]}"
    old, new = ("" if side is None else describe(side) for side in (change.old, change.new))
    return subject, old, new


def _outcome(side: ChangedValue) -> str:
    return side["outcome"] or "none"


def _shares(side: ChangedValue) -> str:
    """Describe the shares of several criteria: one figure if all are equal, else the first few."""
    shares = side["shares"]
    figures = [_share(share) for share in shares]
    if len(figures) > 1 and len(set(figures)) == 1:
        return f"{figures[0]} each"
    return join_first([f"{share['id']} {figure}" for share, figure in zip(shares, figures, strict=True)], _LISTED)


_LISTED = 5


def _share(side: ChangedValue) -> str:
    return f"{percent(Fraction(side['share']))} (weight {side['weight']:g})"


def _criterion(side: ChangedValue) -> str:
    if "critical_failure" in side:
        return str(side["outcome"])
    parts = [_share(side)]
    if side["outcome"]:
        parts.insert(0, str(side["outcome"]))
    if side["gate"] is not None:
        parts.append(f"gate {side['gate']}")
    return ", ".join(parts)


def _level(side: ChangedValue) -> str:
    named = f"{side['name']}: " if side["name"] else ""
    return f"{named}{side['outcome'] or 'not described'} (worth {side['score']:.3g})"


def _rubric(side: ChangedValue) -> str:
    return f"{side['shape'].replace('_', ' ')}, {counted(side['criteria'], 'criterion', 'criteria')}"


def _grades(side: ChangedValue) -> str:
    return ", ".join(f"{name} from {_mark(side, least)}" for name, least in side["grades"].items())


def _gate(side: ChangedValue) -> str:
    gate = side["gate"]
    if gate is None:
        return "none"
    return _mark(side, gate) if "ends" in side else str(gate)


def _mark(side: ChangedValue, mark: float) -> str:
    """Write a mark in units of the scale on which it is, if it is a share of one."""
    worst, best = side.get("ends", (0, 1))
    return f"{worst + mark * (best - worst):g}"


_WORDS: Mapping[ChangeKind, tuple[str, Callable[[ChangedValue], str]]] = {
    ChangeKind.RUBRIC_ADDED: ("rubric", _rubric),
    ChangeKind.RUBRIC_REMOVED: ("rubric", _rubric),
    ChangeKind.RUBRIC_RENAMED: ("name", lambda side: str(side["name"])),
    ChangeKind.SHAPE: ("shape", lambda side: str(side["shape"]).replace("_", " ")),
    ChangeKind.THRESHOLDS: (
        "verdict",
        lambda side: f"pass from {_mark(side, side['pass'])}, borderline from {_mark(side, side['borderline'])}",
    ),
    ChangeKind.SCALE: ("scale of the whole", lambda side: f"{side['ends'][0]} to {side['ends'][1]}"),
    ChangeKind.GRADES: ("grades", _grades),
    ChangeKind.ADDED: ("criterion", _criterion),
    ChangeKind.REMOVED: ("criterion", _criterion),
    ChangeKind.RENAMED: ("id", lambda side: str(side["id"])),
    ChangeKind.OUTCOME: ("outcome", _outcome),
    ChangeKind.FIELD: ("field", lambda side: str(side["text"])),
    ChangeKind.MOVED: ("ids made from places", lambda side: join_first(side["ids"], _LISTED)),
    ChangeKind.SHARE: ("share", _shares),
    ChangeKind.GATE: ("gate", _gate),
    ChangeKind.SCORES: ("scores", _outcome),
    ChangeKind.LEVEL: ("level", _level),
}


def as_text(comparison: DiffReport, *, color: bool = False) -> Iterator[str]:
    """Yield the lines of the text report."""
    for name, changes in groupby(comparison.changes, lambda change: change.rubric):
        yield _paint(f"rubric {visible(name or '')}", color, bold=True)
        for change in changes:
            yield from _list_change(change, color)
    yield _count(comparison)
    if comparison.effects:
        yield ""
        yield _summary(comparison.effects)
        for effect in comparison.effects.changed[:MOST]:
            name, old, new = _describe_effect(effect)
            yield f"  {name}: {old} -> {new}"
        if len(comparison.effects.changed) > MOST:
            yield f"  and {len(comparison.effects.changed) - MOST} more; --format json lists all"
        yield from (f"  {line}" for line in format_left_out(comparison.effects.count_to_json()["left_out"], _VERSIONS))
    for title, found in _list_findings(comparison):
        yield ""
        yield _paint(title, color, bold=True)
        for place, finding in found:
            yield f"  {place} {finding.severity} {finding.rule}: {visible(finding.message)}"
    if comparison.skipped:
        yield ""
        yield _paint("Not compared", color, bold=True)
        yield from (f"  {visible(line)}" for line in comparison.skipped)


def _list_change(change: Change, color: bool) -> Iterator[str]:
    """Yield the lines of a change: one for what is new or gone, both sides of anything else."""
    # Line ends first, which `visible` would write as escapes.
    subject, old, new = (visible(text.replace("\n", " ")) for text in format_change(change))
    if change.criterion:
        subject = f"{visible(change.criterion)}: {subject}"
    where = f" ({visible(_where(change))})" if any(change.places) else ""
    # Scores without a side are there in both versions, and not allowed in one.
    if change.old is None and change.what is not ChangeKind.SCORES:
        yield _paint(f"  + {subject}: {new}{where}", color, fg="green")
    elif change.new is None and change.what is not ChangeKind.SCORES:
        yield _paint(f"  - {subject}: {old}{where}", color, fg="red")
    else:
        yield f"  ~ {subject}{where}"
        yield _paint(f"      - {old or _NOT_ALLOWED}", color, fg="red")
        yield _paint(f"      + {new or _NOT_ALLOWED}", color, fg="green")


def _list_findings(comparison: DiffReport) -> Iterator[tuple[str, list[tuple[str, Finding]]]]:
    """Yield the title and the findings, with their places, of each section that has some."""
    sections = ("Findings on changed lines", comparison.findings), ("Tests that do not hold", comparison.tests)
    for title, found in sections:
        placed = []
        for source, finding in found:
            line = source.position(finding.span.start).line
            placed.append((f"{visible(source.name)}:{line}", finding))
        if placed:
            yield f"{title}: {len(placed)}", placed


def _where(change: Change) -> str:
    """Return the file and line of each side."""
    return ", ".join(dict.fromkeys(f"{place.file}:{place.line}" for place in change.places if place))


_NOT_ALLOWED = "not allowed"


def _paint(text: str, color: bool, **style: Any) -> str:
    return click.style(text, **style) if color else text


def _count(comparison: DiffReport) -> str:
    old, new = visible(comparison.old), visible(comparison.new)
    changes = counted(len(comparison.changes), "change")
    rubrics = counted(len({change.rubric for change in comparison.changes}), "rubric")
    if not comparison.is_branch:
        if comparison.changes:
            return f"{changes} in {rubrics} from {old} to {new}."
        return f"No change in meaning from {old} to {new}."
    skipped = ""
    if comparison.skipped:
        skipped = f" ({counted(len(comparison.skipped), 'file')} not compared)"
    if comparison.changes:
        return f"{changes} in meaning in {rubrics} since {old}{skipped}."
    if skipped:  # "no change" would be read as the answer
        return f"Unknown what changes in meaning since {old}{skipped}."
    return f"No change in meaning since {old}."


def _summary(effects: OutputEffects) -> str:
    """Return how many verdicts change, by old and new verdict."""
    sides = sorted(effects.verdicts, key=lambda sides: [_ORDER.index(side) for side in sides])
    moved = {sides: effects.verdicts[sides] for sides in sides if sides[0] != sides[1]}
    read = counted(effects.outputs, "output")
    if not moved:
        changed = len(effects.changed)
        if not changed:
            return f"{read}: no verdict changes."
        return f"{read}: no verdict changes, {counted(changed, 'score does', 'scores do')}."
    kinds = ", ".join(f"{old or INVALID} -> {new or INVALID} {count}" for (old, new), count in moved.items())
    return f"{read}: {counted(sum(moved.values()), 'verdict')} changed: {kinds}."


_ORDER = (*Verdict, None)


_VERSIONS = {BEFORE: "the old version", NOW: "the new version", BOTH: "both versions"}


def _describe_effect(effect: OutputEffect) -> tuple[str, str, str]:
    """Return the name of an output, and its result by the old and the new version with the reason for none."""
    data = effect.to_json()
    fault = effect.new.error or effect.old.error
    reason = f" ({visible(fault.message)})" if fault else ""
    return visible(effect.name), format_result(data["old"]), format_result(data["new"]) + reason


def format_result(data: Mapping[str, Any]) -> str:
    """Return the verdict and the score of a result as in the JSON report."""
    score = "" if data["score"] is None else f" {data['score']:.3f}"
    return f"{data['verdict']}{score}"


def as_markdown(comparison: DiffReport) -> Iterator[str]:
    """Yield the lines of a Markdown comment for a pull request; the first one marks it, so that it can be renewed."""
    if comparison.is_branch:
        yield MARK
    yield f"### {escape(_count(comparison))}"
    if comparison.changes:
        yield ""
        rows = (_row(change) for change in comparison.changes)
        yield from table(("rubric", "criterion", "what", "before", "after", "where"), rows)
    if comparison.effects:
        yield from _write_effects(comparison.effects, is_branch=comparison.is_branch)
    for title, found in _list_findings(comparison):
        yield from ["", f"**{title}**", ""]
        rows = ((place, str(finding.severity), finding.rule, finding.message) for place, finding in found[:MOST])
        yield from table(("place", "severity", "rule", "message"), rows)
        if len(found) > MOST:
            yield from ["", f"And {len(found) - MOST} more; `rubric-lint diff` lists them."]
    if comparison.skipped:
        yield from ["", "**Not compared**", ""]
        yield from (f"- {escape(line)}" for line in comparison.skipped)


def _write_effects(effects: OutputEffects, *, is_branch: bool) -> Iterator[str]:
    """Yield the lines of the comment on the effects on judge outputs."""
    yield ""
    yield escape(_summary(effects))
    changed = effects.changed
    if is_branch:  # where the score alone changes, nobody has to look
        described = [(effect, effect.to_json()) for effect in changed]
        changed = [effect for effect, data in described if data["old"]["verdict"] != data["new"]["verdict"]]
    if changed:
        yield ""
        yield from table(("output", "before", "after"), map(_describe_effect, changed[:MOST]))
    if len(changed) > MOST:
        yield ""
        yield f"And {len(changed) - MOST} more; `--format json` lists all."
    for line in format_left_out(effects.count_to_json()["left_out"], _VERSIONS):
        yield from ["", f"{escape(line)}."]


MARK = "<!-- rubric-lint diff -->"
"""The first line of the comment on a pull request, by which it is found again."""


def _row(change: Change) -> tuple[str, ...]:
    subject, old, new = format_change(change)
    if change.what is ChangeKind.SCORES:
        old, new = old or _NOT_ALLOWED, new or _NOT_ALLOWED
    return change.rubric or "", change.criterion or "", subject, old, new, _where(change)


def as_json(comparison: DiffReport) -> str:
    """Return the JSON report, as `schemas/diff/v1.json` describes it."""
    report: dict[str, Any] = {
        "version": VERSION,
        "old": _whole(comparison.old),
        "new": _whole(comparison.new),
        "changes": comparison.changes,
        "outputs": comparison.effects,
    }
    if comparison.is_branch:
        for name, found in (("findings", comparison.findings), ("tests", comparison.tests)):
            report[name] = []
            for source, finding in found:
                line, column, _ = source.position(finding.span.start)
                place = {"file": _whole(source.name), "line": line, "column": column}
                kind = {"severity": str(finding.severity), "rule": finding.rule}
                report[name].append({**place, **kind, "message": finding.message})
        report["skipped"] = [_whole(line) for line in comparison.skipped]
    return json.dumps(to_data(report), indent=1) + "\n"


def _whole(name: str) -> str:
    """Return a file name with undecodable bytes replaced."""
    return name.encode("utf-8", "replace").decode()


_MOST_CRITERIA = 5
"""The most criteria to list of one answer."""


def format_comparison(found: Mapping[str, Any], other: str) -> Iterator[str]:
    """Yield the lines on a comparison as in the JSON report: counts, the answers that got worse, and the criteria."""
    counts = f"{found['worse']:,} worse, {found['better']:,} better, {found['same']:,} the same"
    if found["old_mean"] is not None:
        counts += f"; mean score {found['old_mean']:.3f} -> {found['new_mean']:.3f}"
    yield f"compared with {visible(other)}: {counted(found['answers'], 'answer')}: {counts}"
    for answer in found["worse_answers"][:MOST]:
        name = answer["id"] if isinstance(answer["id"], str) else json.dumps(answer["id"], ensure_ascii=False)
        why = _format_worse(answer) or "no criterion is worse, the rubric differs"
        yield f"  worse: {visible(name)}: {format_result(answer['old'])} -> {format_result(answer['new'])} ({why})"
    if found["worse"] > MOST:
        yield f"  ... and {found['worse'] - MOST:,} more that got worse; --format json lists them"
    worse = [criterion for criterion in found["criteria"] if criterion["worse"]]
    worse.sort(key=itemgetter("worse"), reverse=True)
    for criterion in worse[:MOST]:
        before, now = criterion["old_gates_missed"], criterion["new_gates_missed"]
        mean = f"mean {criterion['old_mean']:.3f} -> {criterion['new_mean']:.3f}"
        if before or now:
            mean += f", gate missed {before} -> {now}"
        counts = f"worse in {counted(criterion['worse'], 'answer')}, better in {criterion['better']:,}"
        yield f"  criterion {visible(criterion['id'])}: {counts}; {mean}"
    if len(worse) > MOST:
        yield f"  ... and {len(worse) - MOST:,} more criteria; --format json lists them"
    yield from (f"  {line}" for line in format_left_out(found["left_out"], NAMES_OF_RUNS))


def _format_worse(answer: Mapping[str, Any]) -> str:
    """List the criteria that got worse in one answer, and the groups whose gate is missed now; empty if none did."""
    parts = []
    for criterion in answer["criteria"][:_MOST_CRITERIA]:
        part = f"{visible(criterion['id'])} {name_answer(criterion['old'])} -> {name_answer(criterion['new'])}"
        if criterion["gate_missed"]:
            part += ", gate missed"
        parts.append(part)
    more = len(answer["criteria"]) - len(parts)
    if more:
        parts.append(f"{more} more")
    parts += [f"gate of {visible(name)} missed" for name in answer.get("groups_missed", ())]
    return join_words(parts)


def format_left_out(left_out: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines on the records that are not compared, as in the JSON report; `names` are those of the runs."""
    for entry in left_out[:MOST]:
        reason = LeftOut(entry["reason"], entry["count"], entry["records"])
        yield f"not compared: {names[entry['run']]}: {visible(str(reason))}"
    if len(left_out) > MOST:
        yield f"not compared: {len(left_out) - MOST:,} more reasons; --format json lists them"
