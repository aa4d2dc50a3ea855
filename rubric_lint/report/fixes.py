"""Write what `rubric-fix` and `rubric-lint format` did or would do, as text, JSON or a diff."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from rubric_lint.lint.run.summary import format_hard_links, format_nothing_read, format_skipped, join_notes
from rubric_lint.model.messages import counted, is_obeyed, visible
from rubric_lint.report.line_diff import write_unified
from rubric_lint.report.terminal import dump, refer, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rubric_lint.lint.fix import Fixed
    from rubric_lint.lint.fix.run import FixOutcome, FixTotals


VERSION = 1
"""The version of the JSON report."""


def format_outcome(outcome: FixOutcome, *, is_dry: bool) -> Iterator[str]:
    """Yield the report lines of one file; none if there was nothing to fix."""
    fixed, name = outcome.fixed, visible(outcome.name)
    if outcome.is_changed:
        would_be, did_fix = ("would be ", "would fix") if is_dry else ("", "fixed")
        fixes = [applied for applied in fixed.applied if applied is not fixed.conversion]
        if fixed.conversion:
            yield f"{name}: {would_be}{visible(fixed.conversion.title)}"
        if fixes:
            yield f"{name}: {did_fix} {counted(len(fixes), 'finding')}"
        for (rule, title), count in sorted(Counter(fixes).items()):
            yield f"  {count:,} x {visible(title)} ({rule})"
    yield from format_troubles(outcome)


def format_troubles(outcome: FixOutcome) -> Iterator[str]:
    """Yield a line for each thing that could not be fixed in a file."""
    fixed, name = outcome.fixed, visible(outcome.name)
    if fixed.left_out and not fixed.doubt:
        yield f"{name}: some fixes were skipped; with them, {visible(fixed.left_out)}"
    yield from format_refusals(outcome, "left unchanged")
    for note in fixed.notes:
        yield f"{name}{write_place(fixed, note.at)}: {visible(note.message)}"
    if not (fixed.doubt or outcome.failure):
        seen = dict[str, str]()
        for finding, reason in fixed.left(**outcome.wish._asdict()):
            line, column, _ = fixed.result.source.position(finding.span.start)
            why = refer(visible(reason), f"the same reason as at {line}:{column}", seen)
            yield f"{name}:{line}:{column}: {finding.rule} not fixed: {why}"


def write_place(fixed: Fixed, at: int | None) -> str:
    """Return `:line:column` of an offset in the original text; empty if there is none."""
    if at is None:
        return ""
    line, column, _ = fixed.before.position(at)
    return f":{line}:{column}"


def as_data(outcome: FixOutcome) -> dict[str, Any]:
    """Return the entry of one file in the JSON report."""
    fixed = outcome.fixed
    kinds = sorted(Counter(fixed.applied).items()) if outcome.is_changed else []
    data = {
        "file": outcome.name.encode("utf-8", "replace").decode(),
        "changed": outcome.is_changed,
        "fixes": [{"rule": rule, "title": title, "count": count} for (rule, title), count in kinds],
        "left": [] if outcome.failure else _list_unfixed(outcome),
        "left_out": fixed.left_out or None,
    }
    if fixed.notes:
        data["notes"] = [{"message": note.message, **_describe_place(fixed, note.at)} for note in fixed.notes]
    data["error"] = fixed.doubt or outcome.failure or next((fault.message for fault in fixed.faults()), None)
    return {**data, **_describe_place(fixed, fixed.doubt_at), "other_links": outcome.others}


def _list_unfixed(outcome: FixOutcome) -> list[dict[str, Any]]:
    """Return the findings that are left in a file, with the reason why each was not fixed."""
    unfixed = []
    for finding, reason in outcome.fixed.left(**outcome.wish._asdict()):
        start = outcome.fixed.result.source.position(finding.span.start)._asdict()
        unfixed.append({"rule": finding.rule, "reason": reason, "path": finding.pointer, "start": start})
    return unfixed


def _describe_place(fixed: Fixed, at: int | None) -> dict[str, Any]:
    return {} if at is None else {"start": fixed.before.position(at)._asdict()}


def as_report(files: list[dict[str, Any]], totals: FixTotals) -> str:
    """Return the JSON report of a run; it lists only files with something to report."""
    counts: dict[str, Any] = {
        "files": totals.files,
        "changed": totals.changed,
        "fixes": totals.fixes.total(),
        "remaining": totals.remaining,
        "blocked": totals.blocked,
        "unsafe": totals.unsafe,
        "choices": totals.open,
        "unreadable": totals.unreadable + totals.broken,
        "faults": totals.faults,
    }
    if totals.suites:
        counts["suites"] = {kind.replace(" ", "_"): totals.suites[kind] for kind in sorted(totals.suites)}
    if totals.skipped.dead:
        counts["passed_over"] = len(totals.skipped.dead)
    if totals.skipped.outside:
        counts["outside"] = len(totals.skipped.outside)
    reported = [file for file in files if any(map(file.get, ("changed", "left", "left_out", "notes", "error")))]
    return dump({"version": VERSION, "summary": counts, "files": reported}, indent=1) + "\n"


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def write_diff(outcome: FixOutcome, *, color: bool) -> str:
    """Return the unified diff of one file, as `patch` and `git apply` read it; empty if nothing changes.

    A diff that contains commands for CI systems is escaped, in a form that is not a patch.
    """
    if not outcome.is_changed:
        return ""
    fixed = outcome.fixed
    old, new = (_quote(f"{side}/{outcome.name.lstrip('/')}") for side in "ab")
    # Programs that apply a diff treat a byte order mark as part of the first line.
    bom = fixed.before.bom.decode(fixed.before.encoding)
    before, after = (_LINE.findall(bom + text) for text in (fixed.before.text, fixed.text))
    lines = list(write_unified(before, after, old, new))
    if any(map(is_obeyed, lines)):
        head = f"# {visible(outcome.name)}: not a patch: the text contains commands for CI systems, shown escaped\n"
        return head + "".join(f"| {shown(line.rstrip(_LINE_ENDS))}\n" for line in lines)
    return "".join(_paint(line, color=color) for line in lines)


_LINE_ENDS = "\r\n"


def _quote(path: str) -> str:
    """Return a path as Git writes it in a diff: quoted if it contains invisible or special characters."""
    if visible(path) == path and not set('"\\') & set(path):
        return path
    quoted = ""
    for char in path:
        if visible(char) != char or char in '"\\#':
            quoted += "".join(f"\\{byte:03o}" for byte in os.fsencode(char))
        else:
            quoted += char
    return f'"{quoted}"'


_COLORS: dict[str, dict[str, Any]] = {"+": {"fg": "green"}, "-": {"fg": "red"}, "@": {"fg": "cyan"}}


def _paint(line: str, *, color: bool) -> str:
    text = line.rstrip("\r\n")
    end = line[len(text) :] or "\n\\ No newline at end of file\n"
    if not color:
        return text + end
    text = shown(text)  # for humans: a patch has no colors
    if line.startswith(("+++ ", "--- ")):
        text = click.style(text, bold=True)
    elif not line.startswith(" "):
        text = click.style(text, **_COLORS.get(line[:1], {}))
    return text + end


def format_refusals(outcome: FixOutcome, what: str) -> Iterator[str]:
    """Yield a line for each reason why a file is as it was, which `what` says, and for its hard links."""
    fixed, name = outcome.fixed, visible(outcome.name)
    if fixed.doubt:
        yield f"{name}{write_place(fixed, fixed.doubt_at)}: {what}: {visible(fixed.doubt)}"
    if outcome.failure:
        yield f"{name}: {what}: {visible(outcome.failure)}"
    if outcome.others:
        yield f"{name}: warning: {format_hard_links(outcome.others)}"


def count_foreign(outcome: FixOutcome) -> int:
    """Return the number of rubrics of other systems in a file."""
    from rubric_lint.lint.fix.formatting import Formatted  # noqa: PLC0415  (only `rubric-lint format` asks)

    return outcome.fixed.foreign if isinstance(outcome.fixed, Formatted) else 0


def format_totals(totals: FixTotals, foreign: int, *, is_dry: bool) -> str:
    """Return a summary of all files, which have `foreign` rubrics of other systems."""
    read, refused = counted(totals.files, "file"), totals.faults - totals.crashes
    more = [
        (refused, f"{counted(refused, 'file')} left unchanged because a part cannot be moved safely"),
        (foreign, f"{counted(foreign, 'rubric')} of other systems left unchanged"),
        *format_skipped(totals.skipped),
        *totals.format_unreadable(),
        (totals.crashes, f"{counted(totals.crashes, 'file')} left unchanged because rubric-lint crashed"),
    ]
    notes = join_notes(more)
    left_alone = refused + totals.unreadable + totals.broken + totals.crashes
    if not totals.files:
        text = format_nothing_read("read", totals.scope, has_notes=bool(notes))
    elif totals.changed and is_dry:
        text = f"Would format {totals.changed:,} of {read}."
    elif totals.changed:
        text = f"Formatted {totals.changed:,} of {read}."
    elif left_alone or foreign:
        text = f"Nothing formatted in {read}."
    elif totals.rubrics:
        text = f"Nothing to format in {read}."
    else:
        text = f"0 rubrics found in {read}, so there was nothing to format."
    if notes:
        text += f"\n{notes}."
    return text
