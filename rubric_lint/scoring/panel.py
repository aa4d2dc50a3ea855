"""Read who judged an answer together: the models of a panel, and how many of their votes can be independent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rubric_lint.model.messages import counted, join_words
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.source.values import as_list, as_mapping


@dataclass(frozen=True, slots=True)
class PanelMember:
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


def read_panel(record: Mapping[str, Any]) -> tuple[PanelMember, ...]:
    """Return the models of the panel that judged a record, in the order of its outputs; empty without a panel."""
    panel = as_list(as_mapping(record.get("judge")).get("panel"))
    if not panel or not all(map(_is_member, panel)):
        return ()
    names = name_models((member["model"], str(member.get("endpoint", ""))) for member in panel)
    members = []
    for name, member in zip(names, panel, strict=True):
        models = [model for model in as_list(member.get("answered_by")) if isinstance(model, str)]
        members.append(PanelMember(name, member["outputs"], frozenset(models or [member["model"]])))
    return tuple(members)


def count_votes(panel: Iterable[PanelMember]) -> int:
    """Return how many different models a panel has: one that judges twice, as at two endpoints, has one vote."""
    groups: list[frozenset[str]] = []
    for member in panel:
        same = [group for group in groups if group & member.models]
        groups = [group for group in groups if group not in same] + [member.models.union(*same)]
    return len(groups)


def _is_member(member: Any) -> bool:
    match member:
        case {"model": str(), "outputs": count}:
            return type(count) is int and count >= 0
    return False


def refuse_missing_votes(panel: tuple[PanelMember, ...], outputs: int, path: str) -> None:
    """Refuse a record that does not have the outputs of each model of its panel.

    Raises:
        OutputError: naming the models without an output, or both numbers of outputs.
    """
    if not panel:
        return
    expected = sum(member.outputs for member in panel)
    if expected != outputs:
        have = f"the record has {counted(outputs, 'output')}, but its panel gave {expected}"
        raise OutputError(f"{have}; remove this record and judge its answer again", path)
    silent = [f"`{member.name}`" for member in panel if not member.outputs]
    if silent:
        raise OutputError(f"no output by {join_words(silent)}; remove this record and judge its answer again", path)
