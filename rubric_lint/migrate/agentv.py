"""Rewrite the fields and places of criteria as AgentV 4 and 5 need them."""

import json
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any

from rubric_lint.dialects.search.agentv_parts import (
    CASES,
    LISTS,
    OLD_CASES,
    Unmet,
    find_assertion_lists,
    find_assertions,
    find_suite_cases,
    find_unloaded,
    is_of_agentv,
    is_suite,
    is_template,
)
from rubric_lint.dialects.search.agentv_releases import RELEASES, Release
from rubric_lint.dialects.search.agentv_suites import OLD_FIELDS, find_mappings
from rubric_lint.edits.intents import (
    AddField,
    Intent,
    NestField,
    RemoveField,
    RenameKey,
    ReplaceValue,
    WrapText,
)
from rubric_lint.format.criterion import HIGHEST, Criterion, Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

__all__ = [
    "CASES",
    "LISTS",
    "OLD_CASES",
    "TARGETS",
    "Rewriting",
    "Unmet",
    "convert_criteria",
    "find_assertion_lists",
    "find_assertions",
    "find_custom",
    "find_other_files",
    "find_suite_cases",
    "find_unloaded",
    "is_foreign",
    "is_named",
    "is_of_agentv",
    "is_read_as_it_is",
    "is_suite",
    "is_template",
    "move_criteria",
    "names_in",
    "rename_cases",
]

Rewriting = Release
TARGETS = RELEASES
"""The targets by name."""


def names_in(owner: Mapping[str, Any], field: str) -> Collection[str]:
    """Return the names of the fields in a mapping that a field of its owner holds; none in any other value."""
    held = owner.get(field)
    return held.keys() if isinstance(held, dict) else ()


def is_named(case: dict[str, Any]) -> bool:
    """Return whether a test has the `id` without which AgentV skips it: a string that is not empty."""
    return isinstance(case.get("id"), str) and case["id"] != ""


def find_other_files(document: Document) -> Iterator[Unmet]:
    """Find the cases and assertions that are in other files, of which nothing is rewritten."""
    data = document.data
    if is_suite(document):
        for name in (CASES, *OLD_CASES):
            value = data.get(name)
            named = [((name, at), case) for at, case in enumerate(value)] if isinstance(value, list) else []
            for path, text in [((name,), value), *named]:
                if isinstance(text, str):
                    yield Unmet(f"the cases in `{text}` are not rewritten; run this on that file too", path, Part.VALUE)
        if isinstance(defaults := data.get("default_test"), str):
            told = f"the assertions in `{defaults}` are not rewritten; run this on that file too"
            yield Unmet(told, ("default_test",), Part.VALUE)
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if isinstance(template := assertion.get("include"), str):
                told = f"the assertions of the template `{template}` are not rewritten; run this on its file too"
                yield Unmet(told, (*place, "include"), Part.VALUE)


def is_foreign(rubric: Rubric) -> bool:
    """Return whether a rubric is neither a list of AgentV's criteria nor in our format."""
    if rubric.view and rubric.view.is_text:
        return True
    return rubric.dialect != "" and not rubric.dialect.startswith("agentv")


def is_read_as_it_is(document: Document, rubric: Rubric) -> bool:
    """Return whether a rubric stays as it is: strings mean the same in all systems, and AgentV's texts are prompts."""
    value = document.value(rubric.path)
    if isinstance(value, str) and rubric.dialect.startswith("agentv"):
        return True
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def find_custom(document: Document) -> Iterator[Unmet]:
    """Find the assertions of a type that no release has, which a program of the project may define."""
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        if not any(release.has(kind) or release.has(kind.replace("_", "-")) for release in RELEASES.values()):
            told = (
                f"no release of AgentV has `type: {shorten(kind)}`; it scores 0 unless `.agentv/assertions/` defines it"
            )
            yield Unmet(told, (*path, "type"), Part.VALUE)


def convert_criteria(document: Document, rubric: Rubric, target: Rewriting) -> Iterator[Intent | Unmet]:
    """Find the intents that change the fields of criteria to those of the target."""
    if is_foreign(rubric) and rubric.view:
        yield Unmet(f"a rubric of {rubric.view.dialect.title}, which {target.title} does not read", rubric.path)
        return
    if rubric.shape is Shape.LEVELS:
        yield Unmet(f"{target.title} has no levels, only checklists and criteria with `score_ranges`", rubric.path)
        return
    if rubric.shape is Shape.HOLISTIC:
        return  # looked at again as the bands of one criterion
    if rubric.view and rubric.view.definition:
        if rubric.dialect not in target.dialects:
            yield Unmet(f"{target.title} has no criterion outside a list; write a list of one", rubric.path)
        return
    for criterion in rubric.entries:
        path = rubric.view.place(criterion.path) if rubric.view else criterion.path
        fields = document.value(path)
        if not isinstance(fields, dict):
            if criterion.gate is None and not rubric.dialect:
                yield WrapText(path, "outcome", ("id", criterion.id), ("required", "false"))
            continue
        yield from _rename_outcome(fields, path)
        bands = fields.get("score_ranges")
        for index, band in enumerate(bands if isinstance(bands, list) else ()):
            yield from _rename_outcome(band, (*path, "score_ranges", index))
        gate = _gate_bands if "score_ranges" in fields else _gate_check
        yield from gate(criterion, fields, path)


def _rename_outcome(mapping: dict[str, Any], path: Path) -> Iterator[Intent]:
    for old in ("expected_outcome", "description", "criteria"):
        if old in mapping:
            yield RenameKey((*path, old), "outcome")


def _gate_check(criterion: Criterion, fields: dict[str, Any], path: Path) -> Iterator[Intent]:
    """Write whether a checklist criterion must be met; AgentV requires it unless it says otherwise."""
    wanted = "true" if criterion.gate else "false"
    if "required_min_score" in fields and criterion.gate_path[-1] != "required_min_score":
        yield RemoveField((*path, "required_min_score"))  # AgentV never read it on a checklist criterion
    elif "required_min_score" in fields:
        yield RenameKey((*path, "required_min_score"), "required")
        yield ReplaceValue((*path, "required_min_score"), wanted)
    elif "required" not in fields and not criterion.gate:
        yield AddField(path, "required", wanted)


def _gate_bands(criterion: Criterion, fields: dict[str, Any], path: Path) -> Iterator[Intent]:
    """Write the gate of bands as a share of 10; `required: true`, which AgentV 5 does not read, is 1."""
    old = [(*path, name) for name in ("required", "required_min_score") if name in fields]
    kept = [] if "min_score" in fields or not criterion.gate else old[-1:]
    yield from (RemoveField(field) for field in old if field not in kept)
    for field in kept:
        yield RenameKey(field, "min_score")
        yield ReplaceValue(field, f"{Decimal(criterion.gate or 0) / HIGHEST:f}")


def move_criteria(document: Document, rubric: Rubric, target: Rewriting) -> Iterator[Intent | Unmet]:
    """Find the intents that move a list of criteria to its place in the target."""
    path = rubric.path
    if rubric.view and rubric.view.definition:
        return  # read in the same place only
    owner = document.value(path[:-1])
    if path[-1:] and path[-1] in LISTS:
        yield from _find_lost_list(path, target)  # strings among assertions stay there
    elif path[-3:-2] and path[-3] in LISTS:
        yield from _rename_assertion(document, path, owner, target)
    elif path and any(path[:-1] == place for place, _ in find_suite_cases(document)):
        execution = owner.get("execution")
        beside = [name for name in LISTS if name in owner]
        beside += ["execution"] if isinstance(execution, dict) and execution.keys() & {*LISTS} else []
        if not (beside and target.reads_beside):
            # Beside other assertions it keeps its name until the two lists are joined.
            yield NestField(path, "rubrics" if beside else target.assertions, ("type", target.kind), target.criteria)
    else:
        yield Unmet(f"{target.title} reads rubrics only in the cases of `tests`; move this one to a case", path)


def _rename_assertion(document: Document, path: Path, owner: Any, target: Rewriting) -> Iterator[Intent | Unmet]:
    """Rename the type of an assertion and the field of its criteria to those of the target; it stays at its place."""
    kind = owner.get("type")
    wanted = target.kinds.get(kind) if isinstance(kind, str) else None
    if wanted is None:
        known = join_words([f"`{name}`" for name in dict.fromkeys(target.kinds.values())], "or")
        yield Unmet(f"{target.title} does not read criteria in `{kind}`; write {known}", path)
        return
    field = target.criteria if wanted in (target.kind, "agent-rubric") else "rubrics"
    if field == "rubrics" and any(isinstance(entry, str) for entry in document.value(path)):
        yield Unmet(f"{target.title} skips the strings in an assertion of the type `{wanted}`; write mappings", path)
        return
    if kind != wanted:
        yield ReplaceValue((*path[:-1], "type"), wanted)
    if path[-1] != field:
        yield RenameKey(path, field)
    yield from _find_lost_list(path[:-2], target)


def _find_lost_list(path: Path, target: Rewriting) -> Iterator[Unmet]:
    if path[-2:-1] == ("execution",) and path[-1] != "evaluators" and target.reads_beside:
        yield Unmet(f"{target.title} does not read `execution.{path[-1]}`; move it up", path)


def rename_cases(document: Document) -> Iterator[Intent]:
    """Rename the list of cases and their fields as AgentV since February 2026 does, and quote the texts of messages."""
    lists = {path[:1] for path, _ in find_suite_cases(document)}
    for name in OLD_CASES:
        if (name,) in lists and CASES not in document.data:
            yield RenameKey((name,), CASES)
    for path, case in find_suite_cases(document):
        for old, new in OLD_FIELDS.items():
            if old in case and new not in case:
                yield RenameKey((*path, old), new)
        given = case.get("vars")
        texts = [((*path, name), case.get(name)) for name in ("input", "expected_output", *OLD_FIELDS)]
        texts += [((*path, "vars", name), value) for name, value in (given if isinstance(given, dict) else {}).items()]
        for at, value in texts:
            for place, message in find_mappings(at, value):
                content = (*place, "content")
                if "role" in message and isinstance(message.get("content"), bool | int | float):
                    yield ReplaceValue(content, json.dumps(document.written_at(content)))
