"""Read graders of OpenAI, which are deprecated.

Labels of a `label_model` pass or fail; the prompt of a `score_model` may describe its scores.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from rubric_lint.dialects.autoevals import IN_PROMPT, make_choices
from rubric_lint.dialects.search.scales_in_text import find_scale
from rubric_lint.finding import Problem
from rubric_lint.format.criterion import is_number
from rubric_lint.format.view import Dialect, Draft, View, read_text, read_threshold
from rubric_lint.messages import write_number
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.python_tree import CALL, COMPUTED, has_unpacked
from rubric_lint.text.tree import parts_of

OPENAI_GRADERS = Dialect(
    "openai-graders",
    "OpenAI graders",
    "openai-graders/v1.json",
    {"levels": "labels", "expected_outcome": "input"},
    without=IN_PROMPT,
)

_FAILS, _PASSES = 0, 1


def find(document: Document) -> Iterator[View]:
    """Find the graders with labels or scores, also within a `multi`; other types compare texts or run programs."""
    for path, grader in document.mappings:
        kind = _read_type(grader)
        if not kind or (document.kind.is_program and _has_computed(grader)):
            continue  # what is computed may be anything
        if kind == "score_model" and isinstance(grader.get("input"), list):
            if (prompt := "\n\n".join(_read_prompt(grader["input"]))).strip():
                yield _view_scores(document, path, grader, prompt)
            continue
        labels, passing = grader.get("labels"), grader.get("passing_labels")
        if kind == "label_model" and isinstance(labels, list) and isinstance(passing, list):
            yield _view(document, (*path, "labels"), labels, passing, grader)


def _read_type(grader: Mapping[str, Any]) -> str:
    """Return the type of a grader by which a model judges, by its field or by the class that is called."""
    kind, called = grader.get("type"), grader.get(CALL)
    if kind is None and isinstance(called, str):
        return next((each for end, each in _CLASSES.items() if called.endswith(end)), "")
    return kind if kind in ("label_model", "score_model") else ""


_CLASSES = {"ScoreModelGrader": "score_model", "LabelModelGrader": "label_model", "OpenAILabelGrader": "label_model"}
"""The classes of OpenAI and of Azure, which has those without a type."""


def _has_computed(grader: Mapping[str, Any]) -> bool:
    """Return whether something in a program that decides what a grader means is not a literal."""
    names = ("input", "labels", "passing_labels", "range", "pass_threshold")
    return has_unpacked(grader) or _is_computed([grader.get(name) for name in names])


def _is_computed(value: Any) -> bool:
    """Return whether a part of a call or a literal in a program is not a literal."""
    if isinstance(value, dict) and (COMPUTED in value or has_unpacked(value)):
        return True
    return any((isinstance(part, dict) and CALL in part) or _is_computed(part) for part in parts_of(value))


def _view(document: Document, path: Path, labels: list[Any], passing: list[Any], grader: dict[str, Any]) -> View:
    """Return a rubric of one criterion with two levels: labels that fail, and labels that pass."""
    draft = Draft(document, path)
    prompt = "\n\n".join(_read_prompt(grader.get("input")))
    texts = [label for label in labels if isinstance(label, str)]
    winners = {label for label in passing if isinstance(label, str)}
    failing = [label for label in texts if label not in winners]
    choices = [(_FAILS, failing), (_PASSES, [label for label in texts if label in winners])]
    draft.put((0,), path)
    levels = make_choices(draft, prompt, [(number, each) for number, each in choices if each], labels.index)
    name, beside = read_text(grader, "name"), "openai-graders/v1.json#/definitions/entry"
    return draft.finish(OPENAI_GRADERS, [{"levels": levels}], name=name, task=prompt, beside=beside)


def _view_scores(document: Document, path: Path, grader: dict[str, Any], prompt: str) -> View:
    """Return the scale that a prompt describes, line by line; without one, the prompt is met or not."""
    place = (*path, "input")
    draft = Draft(document, place)
    scale = find_scale(prompt)
    data = scale.as_data(scale.task) if scale else [{"expected_outcome": prompt}]
    for index in range(len(data)):
        draft.put((index,), place)
    is_share = grader.get("range", [0, 1]) == [0, 1]
    threshold = read_threshold(document, (*path, "pass_threshold")) if is_share else None
    return draft.finish(
        OPENAI_GRADERS,
        data,
        name=read_text(grader, "name"),
        task=scale.task if scale else "",
        threshold=threshold,
        definition="openai-graders/v1.json#/definitions/prompt",
        beside="openai-graders/v1.json#/definitions/score",
        problems=tuple(_find_idle(path, grader)),
    )


def _find_idle(path: Path, grader: dict[str, Any]) -> Iterator[tuple[str, Problem]]:
    """Find a range that is not one, and a threshold outside the range: no score reaches it, or each one does."""
    bounds, passing = grader.get("range", [0, 1]), grader.get("pass_threshold")
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(is_number, bounds)):
        return
    lowest, highest = map(write_number, bounds)
    values = {"field": "range", "lowest": lowest, "highest": highest}
    if not all(-inf < bound < inf for bound in bounds):
        yield "bounds", Problem("infinite-range", (*path, "range"), values=values)
    elif not bounds[0] < bounds[1]:
        values["advice"] = "write the lowest score first"
        yield "bounds", Problem("falling-range", (*path, "range"), values=values)
    elif passing is not None and is_number(passing) and not bounds[0] <= passing <= bounds[1]:
        effect = "always passes" if passing < bounds[0] else "never passes"
        values |= {"field": "pass_threshold", "found": write_number(passing), "what": "grader", "effect": effect}
        yield "bounds", Problem("threshold", (*path, "pass_threshold"), values=values)


def _read_prompt(messages: Any) -> Iterator[str]:
    """Yield the texts of the messages that the judge is told."""
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield content
        elif isinstance(content, dict) and isinstance(content.get("text"), str):
            yield content["text"]


def find_computed(document: Document, _taken: set[Path]) -> Iterator[tuple[Path, str]]:
    """Find the graders of which a part is computed."""
    for path, mapping in document.mappings:
        if (kind := _read_type(mapping)) and _has_computed(mapping):
            yield path, f"a part of this `{kind}` is computed; only literal ones are checked"
