"""Braintrust autoevals: a `prompt` that offers choices, and `choice_scores` that says what each is worth."""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from rubric_lint.document import Document
from rubric_lint.interop.view import Dialect, Draft, View, read_text, walk

AUTOEVALS = Dialect(
    "autoevals",
    "Braintrust autoevals",
    "autoevals/v1.json",
    {"levels": "choice_scores", "expected_outcome": "prompt"},
    # The choices make one criterion without a name; what they mean, the prompt says in a form that is its own.
    without=frozenset(
        {"missing-id", "vague-outcome", "duplicate-outcome", "placeholder", "score-in-text", "not-self-contained"}
    ),
)
DIALECTS = (AUTOEVALS,)


def find(document: Document) -> Iterator[View]:
    """Find the mappings with a `prompt` and numbers as `choice_scores`.

    The evals of OpenAI have these too, beside `choice_strings`, and mean something else by them.
    """
    for path, spec in walk(document.data):
        choices, prompt = spec.get("choice_scores"), spec.get("prompt")
        if not isinstance(choices, dict) or not isinstance(prompt, str) or "choice_strings" in spec:
            continue
        if any(isinstance(score, int | float) for score in choices.values()):
            yield _view(Draft(document, (*path, "choice_scores")), choices, prompt, spec)


def _view(draft: Draft, choices: dict[str, Any], prompt: str, spec: dict[str, Any]) -> View:
    """One criterion with a level for each score; choices of one score share theirs."""
    document, place = draft.document, draft.path
    worth: dict[Decimal, list[str]] = {}
    for choice, score in choices.items():
        if isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score):
            worth.setdefault(document.decimal((*place, choice)), []).append(choice)
    numbers = _as_levels(list(worth))
    levels = []
    for index, (score, names) in enumerate(sorted(worth.items())):
        own, key = (0, "levels", index), (*place, names[0])
        for field in ((), ("level",), ("expected_outcome",)):
            draft.put((*own, *field), key)
        outcome = " Or: ".join(_read_outcome(prompt, name) for name in names)
        level = {"level": numbers[score], "name": ", ".join(names), "expected_outcome": outcome}
        levels.append(level)
    draft.put((0,), place)
    draft.put((0, "levels"), place)
    data = [{"levels": levels}]
    return draft.finish(AUTOEVALS, data, name=read_text(spec, "name"), task=prompt)


def _as_levels(scores: list[Decimal]) -> dict[Decimal, int]:
    """The scores as the smallest integers in the same proportion."""
    if not scores:
        return {}
    digits = max(0, *(-int(score.as_tuple().exponent) for score in scores))
    whole = {score: int(score.scaleb(digits)) for score in scores}
    divisor = math.gcd(*whole.values()) or 1
    return {score: number // divisor for score, number in whole.items()}


def _read_outcome(prompt: str, choice: str) -> str:
    """What the prompt says of a choice, in lines such as `(A) The answer is a subset ...`; else its name."""
    found = re.search(
        rf"^[ \t]*(?:\({re.escape(choice)}\)|{re.escape(choice)}[.:)])[ \t]+(\S.*)$", prompt, re.MULTILINE
    )
    return found[1].strip() if found else choice
