"""Read rubrics of Braintrust autoevals and OpenAI evals: a `prompt` that offers choices, and `choice_scores`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from rubric_lint.model.criterion import as_levels, read_number
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import shorten
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

_IN_PROMPT = frozenset(
    {"missing-id", "vague-outcome", "duplicate-outcome", "placeholder", "score-in-text", "not-self-contained"}
)
"""The rules that do not hold of choices: they are one unnamed criterion, and a prompt describes them in its own way."""

AUTOEVALS = Dialect(
    "autoevals",
    "Braintrust autoevals",
    "autoevals/v1.json",
    {"levels": "choice_scores", "expected_outcome": "prompt"},
    without=_IN_PROMPT,
)
_FROM_STRINGS = "from_strings"
_FROM_N = "from_n"
"""What `choice_strings` may begin with: then OpenAI evals number the choices."""
OPENAI_EVALS = replace(AUTOEVALS, name="openai-evals", title="OpenAI evals", schema="openai-evals/v1.json")


def find(document: Document) -> Iterator[View]:
    """Find the mappings with a `prompt` and numbers as `choice_scores`; those of OpenAI have `choice_strings` too.

    Quizzes look alike, but nothing is put into their questions, and nothing thinks before it answers.
    """
    for path, spec in document.mappings:
        choices, prompt = spec.get("choice_scores"), spec.get("prompt")
        if not isinstance(choices, dict) or not isinstance(prompt, str):
            continue
        is_judge = "choice_strings" in spec or "{{" in prompt or "use_cot" in spec
        if is_judge and any(isinstance(score, int | float) for score in choices.values()):
            yield _view(document, path, spec)


def _view(document: Document, path: Path, spec: Mapping[str, Any]) -> View:
    """Return the rubric of a specification: one criterion, with a level for each score."""
    prompt = spec["prompt"]
    draft = ViewBuilder(document, (*path, "choice_scores"))
    choices_by_score: dict[Decimal, list[str]] = {}
    for choice, score in spec["choice_scores"].items():
        if read_number(score) is not None:
            choices_by_score.setdefault(document.decimal((*draft.path, choice)), []).append(choice)
    numbers = as_levels(list(choices_by_score))
    draft.put((0,), draft.path)
    choices = [(numbers[score], names) for score, names in sorted(choices_by_score.items())]
    data = [{"levels": _make_choices(draft, prompt, choices)}]
    doubts = tuple(_find_unnamed(spec, draft.path))
    if "choice_strings" not in spec:
        return draft.finish(AUTOEVALS, data, name=read_text(spec, "name"), task=prompt, doubts=doubts)
    name = str(path[-1]) if path else ""
    problems = tuple(_find_hidden(spec, path))
    return draft.finish(OPENAI_EVALS, data, name=name, task=prompt, problems=problems, doubts=doubts)


def _find_unnamed(spec: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Find what has a score and is no choice: `pass_threshold: 0.5` among `A: 1` and `B: 0`.

    Where the prompt names none of the choices, it leaves them to the function that the judge calls.
    """
    scores, listed, prompt = spec["choice_scores"], spec.get("choice_strings"), spec["prompt"].casefold()
    if isinstance(listed, str | list) and not str(listed).startswith(_FROM_N):
        others, place = [choice for choice in scores if choice not in listed], "`choice_strings`"
    else:
        others, place = [choice for choice in scores if choice.casefold() not in prompt], "the prompt"
    if len(others) < len(scores):
        for choice in others:
            advice = "name it there, or remove it if it is no choice"
            yield (*path, choice), f"`{shorten(choice)}` has a score, and {place} does not name it; {advice}"


def find_unwritten_scores(document: Document) -> Iterator[Path]:
    """Find the `choice_scores` of OpenAI evals that are not written out: each choice is its own score."""
    for path, spec in document.mappings:
        if (
            spec.get("choice_scores") == _FROM_STRINGS
            and "choice_strings" in spec
            and isinstance(spec.get("prompt"), str)
        ):
            yield (*path, "choice_scores")


def _find_hidden(spec: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Problem]]:
    """Find answers that are never chosen: OpenAI evals take the first with which a line of the reply begins or ends.

    As `get_choice` in evals/elsuite/modelgraded/classify_utils.py does with its default `match_fn`.
    """
    listed = spec["choice_strings"]
    names = listed[:100] if isinstance(listed, list) else []
    for number, name in enumerate(names):
        if not isinstance(name, str):
            continue
        for earlier in names[:number]:
            is_other = isinstance(earlier, str) and earlier not in ("", name)
            if is_other and (name.startswith(earlier) or name.endswith(earlier)):
                values = {"choice": name, "earlier": earlier}
                yield "option-in-option", Problem("hidden", (*path, "choice_strings", number), values=values)
                break


def _make_choices(draft: ViewBuilder, prompt: str, choices: Sequence[tuple[int, list[str]]]) -> list[Mapping[str, Any]]:
    """Return a level for each number, with the choices that have it as a prompt describes them.

    A description is one as in `(A) The answer is a subset ...`, else the name.
    """
    outcomes: dict[str, str] = {}
    for _, names in choices:
        outcomes |= dict(zip(names, names, strict=True))
    missing = set(outcomes)
    longest = max(map(len, missing), default=0)
    for line in _LINE.finditer(prompt):
        for end in _CHOICE_END.finditer(prompt, line.start(1), line.end(1)):
            starts = [line.start(1)]
            if end[1] == ")" and prompt[line.start(1)] == "(":
                starts.append(line.start(1) + 1)
            for start in starts:
                choice = prompt[start : end.start()] if end.start() - start <= longest else ""
                if choice in missing:
                    outcomes[choice] = prompt[end.end() : line.end(1)].strip()
                    missing.remove(choice)
    levels = []
    for number, names in choices:
        outcome = " Or: ".join(outcomes[name] for name in names)
        level = {"level": number, "name": ", ".join(names), "expected_outcome": outcome}
        levels.append((level, (*draft.path, names[0])))
    return draft.make_levels((0,), draft.path, levels)


_LINE = re.compile(r"^[ \t]*+(\S.*)$", re.MULTILINE)
_CHOICE_END = re.compile(r"([.:)])[ \t]++(?=\S)")
