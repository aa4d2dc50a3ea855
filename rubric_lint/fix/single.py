"""Prove fixes that are applied alone, as an editor applies them, by the same checks as those of a whole file."""

from collections.abc import Sequence

from rubric_lint.edits.intents import Fix
from rubric_lint.finding import Finding, Result
from rubric_lint.fix import find_new
from rubric_lint.fix.following import DataChange, move, name_findings
from rubric_lint.fix.proof import find_doubt
from rubric_lint.lint.engine import examine
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.source import splice


def find_trouble(result: Result, chosen: Sequence[tuple[Finding, Fix]], settings: FileSettings) -> str:
    """Return why fixes of findings of a text must not be applied to it together; empty if they may be.

    They may be if the data changes as they say and no other way, no comment is lost, their findings are gone, and no
    finding is new. `result` has all findings of the text.
    """
    old = result.source
    new = old._replace(text=splice(old.text, [edit for _, fix in chosen for edit in fix.edits]))
    changes = [DataChange(finding.pointer, fix.intents, fix.edits, fix.safe) for finding, fix in chosen]
    if doubt := find_doubt(old, new, changes, settings):
        return doubt
    after = examine(new, settings).result
    if doubt := find_new(result, after, move(name_findings(result.findings), changes), is_safe=not any_unsafe(chosen)):
        return doubt
    for finding, _ in chosen:
        first = name_findings([finding])
        names = {name for name in move(first, changes) if name[0] == finding.rule}
        then = sum(each in names or each in first for each in _name_all(result))
        if sum(each in names for each in _name_all(after)) >= then:
            return f"{finding.rule} would still be found"
    return ""


def any_unsafe(chosen: Sequence[tuple[Finding, Fix]]) -> bool:
    """Return whether one of some fixes may change what a rubric means."""
    return not all(fix.safe for _, fix in chosen)


def _name_all(result: Result) -> list[tuple[str, str]]:
    return [(finding.rule, finding.pointer) for finding in result.findings]
