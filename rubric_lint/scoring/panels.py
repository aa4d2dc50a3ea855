"""Read which model of a panel gave which outputs of a record."""

from collections.abc import Iterable, Mapping
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from rubric_lint.messages import join_words
from rubric_lint.outputs.extract import OutputError


class Member(NamedTuple):
    """A model of a panel, by a name that no other of the panel has, and how many of the outputs are its own.

    `models` are the models that replied, or the one that was asked if no reply says it.
    """

    name: str
    outputs: int
    models: frozenset[str]


def name_models(models: Iterable[tuple[str, str]]) -> list[str]:
    """Return a name for each model and endpoint: that of the model, with the endpoint if another model has the same."""
    models = list(models)
    named = [model for model, _ in models]
    return [model if named.count(model) == 1 else f"{model}@{endpoint}" for model, endpoint in models]


def read_panel(record: Mapping[str, Any]) -> tuple[Member, ...]:
    """Return the models of the panel that judged a record, in the order of its outputs; empty without a panel."""
    about = record.get("judge")
    listed = about.get("panel") if isinstance(about, dict) else None
    if not isinstance(listed, list) or not all(map(_is_member, listed)):
        return ()
    names = name_models((each["model"], str(each.get("endpoint", ""))) for each in listed)
    return tuple(Member(name, each["outputs"], _find_models(each)) for name, each in zip(names, listed, strict=True))


def _find_models(listed: Mapping[str, Any]) -> frozenset[str]:
    answered = listed.get("answered_by")
    named = [each for each in answered if isinstance(each, str)] if isinstance(answered, list) else []
    return frozenset(named or [listed["model"]])


def count_votes(panel: Iterable[Member]) -> int:
    """Return how many different models a panel has: one that judges twice, as at two endpoints, has one vote."""
    groups: list[frozenset[str]] = []
    for member in panel:
        same = [group for group in groups if group & member.models]
        groups = [group for group in groups if group not in same] + [member.models.union(*same)]
    return len(groups)


def _is_member(listed: Any) -> bool:
    match listed:
        case {"model": str(), "outputs": int(count)}:
            return count is not True and count is not False and count >= 0
    return False


def name_outputs(panel: Iterable[Member], outputs: int) -> tuple[str, ...]:
    """Return the name of the model that gave each of the outputs, as far as the panel says it."""
    return tuple(
        islice(chain.from_iterable(repeat(member.name, min(member.outputs, outputs)) for member in panel), outputs)
    )


def refuse_missing_votes(panel: tuple[Member, ...], outputs: int, path: str) -> None:
    """Refuse a record that does not have the outputs of each model of its panel.

    Raises:
        OutputError: naming the models without an output, or both numbers of outputs.
    """
    if not panel:
        return
    told = sum(member.outputs for member in panel)
    if told != outputs:
        have = "1 output" if outputs == 1 else f"{outputs} outputs"
        raise OutputError(
            f"the record has {have}, but its panel gave {told}; remove this record and judge its answer again", path
        )
    if silent := [f"`{member.name}`" for member in panel if not member.outputs]:
        raise OutputError(f"no output by {join_words(silent)}; remove this record and judge its answer again", path)
