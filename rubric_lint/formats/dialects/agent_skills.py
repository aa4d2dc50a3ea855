"""Read the evals of Agent Skills: cases with a `prompt`, and `assertions` that a judge passes or fails."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.model.criterion import JudgeQuestion
from rubric_lint.model.messages import find_near
from rubric_lint.model.view import Dialect, View, ViewBuilder, is_named_for_judges, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

AGENT_SKILLS = Dialect(
    "agent-skills",
    "Agent Skills",
    "agent-skills/v1.json",
    {"expected_outcome": "text"},
    without=frozenset({"missing-id"}),
    asked=JudgeQuestion("pass or fail", 0),
    reports_unread_fields=True,
    cases=frozenset({"evals", "scenarios"}),
)

_EVALS = "evals"
_HOLDERS = (_EVALS, "cases", "tests", "scenarios")
_LISTS = ("assertions", "expectations", "expected_behavior", "criteria", "checks", "scorers", "graders")
_OF_RUNS = frozenset({"should_trigger", "trials", "runs", "results"})
"""Fields of cases that say whether a skill is used, and of results."""
_TEXTS = ("text", "description", "check", "assertion", "expectation", "criterion", "statement")
_ALL_OF_THEM = "agent-skills/v1.json#/definitions/rubrics"
_BOTH = "agent-skills/v1.json#/definitions/case"


def find(document: Document) -> Iterator[View]:
    """Find the criteria of each case; those that say whether they `passed` are the results of a judge."""
    for path, case, is_sure in _find_cases(document):
        items = list(_list_items(path, case))
        if any(isinstance(item, dict) and isinstance(item.get("passed"), bool) for _, item in items):
            continue
        read = [(place, item) for place, item in items if not isinstance(item, dict) or _find_text(item)]
        if not any(_is_for_judge(item, is_sure=is_sure) for _, item in read):
            continue
        draft = ViewBuilder(document, read[0][0][:-1])
        data: list[Any] = []
        for index, (place, item) in enumerate(read):
            draft.put((index,), place)
            if not isinstance(item, dict):
                data.append(item)
                continue
            named = next((name for name in ("id", "name") if isinstance(item.get(name), str | int)), "")
            entry = draft.rename(item, {named: "id", _find_text(item): "expected_outcome"}, (index,), place)
            if named:
                entry = {**entry, "id": str(entry["id"])}
            data.append(entry)
        # The criteria may be in two lists: the view has the place of the first one.
        definition = _BOTH if any(place[:-1] != draft.path for place, _ in read) else ""
        around = _ALL_OF_THEM if definition or len(read) < len(items) else ""
        yield draft.finish(
            AGENT_SKILLS, data, around=around, holder_definition=definition, question=read_text(case, "prompt")
        )


def find_unread_cases(document: Document) -> Iterator[tuple[Path, str, str]]:
    """Find cases without criteria, and assertions that no judge can read; yield place, problem and advice."""
    items = {path: list(_list_items(path, case)) for path, case, _ in _find_cases(document)}
    judged = {path[:-1] for path in items if items[path]}
    cases = [path for path in items if path[-2:-1] == (_EVALS,) or path[:-1] in judged]
    bare = [path for path in cases if not items[path] and _OF_RUNS.isdisjoint(document.value(path))]
    misspelt: list[tuple[Path, str, str]] = []
    for path in bare:
        for key, value in document.value(path).items():
            near = find_near(key, _LISTS[:2]) if isinstance(value, list) and key not in _LISTS else []
            misspelt += [(path, key, name) for name in near[:1]]
    if misspelt:
        place, key, name = misspelt[0]
        many = f" ({len(misspelt)} times)" if len(misspelt) > 1 else ""
        yield (*place, key), f"`{key}` is not read{many}", f"rename it to `{name}`"
    elif bare:
        some = f"{len(bare)} of {len(cases)} cases" if len(bare) < len(cases) else "any case"
        advice = "list what a judge checks in `assertions`; an `expected_output` is not graded"
        yield bare[0], f"no criteria in {some}", advice
    coded: list[Path] = []
    for path in cases:
        coded += [place for place, item in items[path] if isinstance(item, dict) and not _find_text(item)]
    if coded:
        many = f"{len(coded)} assertions" if len(coded) > 1 else "an assertion"
        yield coded[0], f"no text for a judge in {many}", "write it in `text`, unless code is to check it"


def _find_cases(document: Document) -> Iterator[tuple[Path, dict[str, Any], bool]]:
    """Find the cases; yield path, case, and whether the file says that they are those of a skill."""
    is_named = is_named_for_judges(document)
    lists: list[tuple[Path, Any, bool]] = [((), document.data, False)]
    for path, mapping in document.mappings:
        is_sure = any(key.startswith("skill") for key in mapping)
        lists += [((*path, name), mapping[name], is_sure) for name in _HOLDERS if name in mapping]
    for path, cases, is_sure in lists:
        if not isinstance(cases, list) or not (is_named or is_sure):
            continue
        for at, case in enumerate(cases):
            if isinstance(case, dict) and "prompt" in case:
                yield (*path, at), case, is_sure


def _list_items(path: Path, case: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the items of the lists of criteria in a case, each with its place."""
    for name in _LISTS:
        if isinstance(case.get(name), list):
            for at, item in enumerate(case[name]):
                yield (*path, name, at), item


def _find_text(item: dict[str, Any]) -> str:
    """Return the name of the field that says what must be true; empty if there is none."""
    return next((name for name in _TEXTS if name in item), "")


def _is_for_judge(item: Any, *, is_sure: bool) -> bool:
    """Return whether an item is for a judge: unless it is sure, a single word such as `is_json` names code."""
    text = item.get(_find_text(item)) if isinstance(item, dict) else item
    return is_sure or (isinstance(text, str) and (len(text.split()) != 1 or not text.isascii()))
