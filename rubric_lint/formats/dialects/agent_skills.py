"""Read the evals of Agent Skills: cases with a `prompt`, and `assertions` that a judge passes or fails."""

from collections.abc import Iterator
from typing import Any

from rubric_lint.model.criterion import Asked
from rubric_lint.model.messages import find_near
from rubric_lint.model.view import Dialect, Draft, View, is_named_for_judges, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

AGENT_SKILLS = Dialect(
    "agent-skills",
    "Agent Skills",
    "agent-skills/v1.json",
    {"expected_outcome": "text"},
    without=frozenset({"missing-id"}),
    asked=Asked("pass or fail", 0),
    tells_others=True,
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
        lists = [(name, items) for name in _LISTS if isinstance(items := case.get(name), list)]
        read = [((*path, name, at), item) for name, items in lists for at, item in enumerate(items)]
        if any(isinstance(item, dict) and isinstance(item.get("passed"), bool) for _, item in read):
            continue
        told = [(place, item) for place, item in read if not isinstance(item, dict) or _find_text(item)]
        if any(_is_told(item, is_sure=is_sure) for _, item in told):
            draft = Draft(document, told[0][0][:-1])
            data: list[Any] = []
            for index, (place, item) in enumerate(told):
                draft.put((index,), place)
                if not isinstance(item, dict):
                    data.append(item)
                    continue
                named = next((name for name in ("id", "name") if isinstance(item.get(name), str | int)), "")
                entry = draft.rename(item, {named: "id", _find_text(item): "expected_outcome"}, (index,), place)
                data.append({**entry, "id": str(entry["id"])} if named else entry)
            # The criteria may be in two lists: the view has the place of the first one.
            beside = _BOTH if any(place[:-1] != draft.path for place, _ in told) else ""
            around = _ALL_OF_THEM if beside or len(told) < len(read) else ""
            prompt = read_text(case, "prompt")
            yield draft.finish(AGENT_SKILLS, data, around=around, beside=beside, question=prompt)


def find_unread(document: Document) -> Iterator[tuple[Path, str, str]]:
    """Find cases without criteria, and assertions that no judge can read; yield place, problem and advice."""
    every = [
        (path, case, any(isinstance(case.get(name), list) and case[name] for name in _LISTS))
        for path, case, _ in _find_cases(document)
    ]
    judged = {path[:-1] for path, _, has_list in every if has_list}
    cases = [each for each in every if each[0][-2:-1] == (_EVALS,) or each[0][:-1] in judged]
    bare = [path for path, case, has_list in cases if not has_list and _OF_RUNS.isdisjoint(case)]
    misspelt = [
        (*path, key, near[0])
        for path in bare
        for key, value in document.value(path).items()
        if isinstance(value, list) and key not in _LISTS and (near := find_near(key, _LISTS[:2]))
    ]
    if misspelt:
        *place, key, name = misspelt[0]
        many = f" ({len(misspelt)} times)" if len(misspelt) > 1 else ""
        yield (*place, key), f"`{key}` is not read{many}", f"rename it to `{name}`"
    elif bare:
        some = f"{len(bare)} of {len(cases)} cases" if len(bare) < len(cases) else "any case"
        yield (
            bare[0],
            f"no criteria in {some}",
            "list what a judge checks in `assertions`; an `expected_output` is not graded",
        )
    coded = [
        (*path, name, at)
        for path, case, _ in cases
        for name in _LISTS
        for at, item in enumerate(case[name] if isinstance(case.get(name), list) else ())
        if isinstance(item, dict) and not _find_text(item)
    ]
    if coded:
        many = f"{len(coded)} assertions" if len(coded) > 1 else "an assertion"
        yield coded[0], f"no text for a judge in {many}", "write it in `text`, unless code is to check it"


def _find_cases(document: Document) -> Iterator[tuple[Path, dict[str, Any], bool]]:
    """Find the cases; yield path, case, and whether the file says that they are those of a skill."""
    is_named = is_named_for_judges(document)
    held = [((*path, name), each[name], each) for path, each in document.mappings for name in _HOLDERS if name in each]
    for path, cases, holder in [((), document.data, {}), *held]:
        is_sure = any(name.startswith("skill") for name in holder)
        for at, case in enumerate(cases if isinstance(cases, list) and (is_named or is_sure) else ()):
            if isinstance(case, dict) and "prompt" in case:
                yield (*path, at), case, is_sure


def _find_text(item: dict[str, Any]) -> str:
    """Return the name of the field that says what must be true; empty if there is none."""
    return next((name for name in _TEXTS if name in item), "")


def _is_told(item: Any, *, is_sure: bool) -> bool:
    """Return whether an item is for a judge: unless it is sure, a single word such as `is_json` names code."""
    text = item.get(_find_text(item)) if isinstance(item, dict) else item
    return is_sure or (isinstance(text, str) and (len(text.split()) != 1 or not text.isascii()))
