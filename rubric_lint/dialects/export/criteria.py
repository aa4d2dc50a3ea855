"""Write lists of criteria for systems whose judges say yes or no, or choose one of some answers, for each."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

from rubric_lint.dialects.export.entries import shares, sort_levels
from rubric_lint.dialects.export.target import ExportError, Loss, Rubrics
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import shorten

BY_ITS_ANSWERS = "Choose the answer that describes the output best."
"""The instruction of a criterion that does not say what is judged, where one is needed."""

_DIGITS = 17


def choose_only(rubrics: Rubrics, title: str) -> tuple[str, Rubric]:
    """Return the name of the only rubric, and the rubric.

    Raises:
        ExportError: if there are several, which a file of the target cannot hold.
    """
    if len(rubrics) > 1:
        name, rubric = list(rubrics.items())[1]
        raise ExportError(name, rubric.path, f"{title} reads one rubric per file; choose one with --rubric")
    ((name, rubric),) = rubrics.items()
    return name, rubric


def make_ids(
    name: str, rubric: Rubric, title: str, field: Mapping[str, Any], allowed: str
) -> tuple[list[str], list[Loss]]:
    """Return an id for each criterion that the schema `field` of a target accepts, and the losses of changed ones.

    ASCII letters and digits stay, and so do the characters in `allowed`; others become underscores.

    Raises:
        ExportError: if an id is still not accepted, or becomes that of another criterion.
    """
    found: list[str] = []
    losses: list[Loss] = []
    for criterion in rubric.criteria:
        own = "".join(char if (char.isascii() and char.isalnum()) or char in allowed else "_" for char in criterion.id)
        place = criterion.path_of("id")
        if own in found or not re.fullmatch(field["pattern"], own):
            expected = f"expected {field['x-expected']}, once in a file"
            raise ExportError(name, place, f"{title} refuses the id `{shorten(own)}`: {expected}; rename it")
        if own != criterion.id and criterion.has_own_id:
            losses.append(Loss(name, place, f"the id `{shorten(criterion.id)}`, which is `{own}` in {title}"))
        found.append(own)
    return found, losses


def require_even(name: str, criterion: Criterion, title: str) -> list[int]:
    """Return the levels of a criterion in ascending order.

    Raises:
        ExportError: if they are not evenly spaced, as the answers of the target are.
    """
    numbers = [level.number or 0 for level in sort_levels(criterion)]
    if len({after - before for before, after in pairwise(numbers)}) > 1:
        message = f"{title} spaces its answers evenly, and the levels {numbers} are not: the scores would change"
        raise ExportError(name, criterion.path_of("levels"), message)
    return numbers


def level_worths(name: str, criterion: Criterion, title: str) -> tuple[list[Decimal], list[Loss]]:
    """Return what each level is worth from 0 to 1, in ascending order, and the losses of those that are rounded."""
    levels = sort_levels(criterion)
    numbers = [level.number or 0 for level in levels]
    lowest, span = numbers[0], numbers[-1] - numbers[0]
    worths: list[Decimal] = []
    losses: list[Loss] = []
    for level, number in zip(levels, numbers, strict=True):
        worth = round(Decimal(number - lowest) / span, _DIGITS).normalize()
        if worth * span != number - lowest:
            message = f"the exact value {number - lowest}/{span} of the level {number}: {title} has decimals"
            losses.append(Loss(name, level.number_path, f"{message}, so it is rounded to {_DIGITS} digits"))
        worths.append(worth + 0)
    return worths, losses


def lost_gates(name: str, rubric: Rubric, title: str) -> Iterator[Loss]:
    """Find the gates of criteria that a target has no field for."""
    for criterion in rubric.criteria:
        if criterion.gate:
            message = f"the gate {criterion.gate} of `{criterion.id}`: {title} has no gates"
            yield Loss(name, criterion.gate_path, message)


def lost_weights(name: str, rubric: Rubric, title: str) -> Iterator[Loss]:
    """Find weights that differ, for a target that counts each criterion once."""
    if len(set(shares(rubric))) > 1:
        for criterion in rubric.criteria:
            message = f"the weight {criterion.weight} of `{criterion.id}`: {title} counts each criterion once"
            yield Loss(name, criterion.path_of("weight"), message)
