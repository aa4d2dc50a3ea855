"""Write an assertion that is not a rubric in the words of another system, if it means the same there."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.dialects.export.case_words import (
    AGENTV_5,
    FIELD_NAMES,
    LISTS_OF_VALUES,
    OTHER_CHECKS,
    PROMPTFOO,
    SAME_CHECKS,
)
from rubric_lint.dialects.export.target import is_plain
from rubric_lint.dialects.export.template_texts import LostTextError, as_value
from rubric_lint.text.path import Path

Told = list[tuple[Path, str]]
"""What is lost: paths in the assertion, with messages."""

_NOT = "not-"


def carry_check(value: Any, source: str, target: str, title: str) -> tuple[dict[str, Any] | None, Told]:
    """Return an assertion in the words of a target, and what is lost; None if the target has none like it."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None, [((), f"an assertion without a type: {title} has no field for it")]
    kind, is_negated = value["type"], value.get("negate") is True
    if source == PROMPTFOO and kind.startswith(_NOT):
        kind, is_negated = kind.removeprefix(_NOT), True
    if reason := _find_difference(value, kind, source, target, title):
        return None, [((), f"the assertion `{value['type']}`: {reason}")]
    told: Told = []
    names: set[str] = {"type", "negate"}
    written: dict[str, Any] = {"type": f"{_NOT}{kind}" if is_negated and target == PROMPTFOO else kind}
    for own, name, content in _rename(value, kind, source, target):
        names.add(own)
        try:
            to_template = target != "agentv-4"
            written[name] = as_value(content, from_template=source != "agentv-4", to_template=to_template)
        except LostTextError as lost:
            return None, [((), f"the assertion `{value['type']}`: it has {lost}, and {title} does not")]
    if is_negated and target != PROMPTFOO:
        written["negate"] = True
    if target == AGENTV_5:
        written = split_gate(written)
    told += [((name,), f"`{name}`: {title} has no field for it") for name in value if name not in names]
    return written, told


def split_gate(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion in which `required` is true or false, as AgentV 5 reads it, and the gate is `min_score`."""
    share = assertion.get("required")
    if not isinstance(share, int | float) or isinstance(share, bool):
        return {**assertion}
    return {"min_score": share, **assertion, "required": True}


def _find_difference(value: dict[str, Any], kind: str, source: str, target: str, title: str) -> str:
    """Return why the target has no assertion that means the same; empty if it has one."""
    is_agentv = PROMPTFOO not in {source, target}
    if kind in OTHER_CHECKS and not is_agentv:
        return OTHER_CHECKS[kind]
    if kind not in SAME_CHECKS and kind not in OTHER_CHECKS:
        return f"{title} has none that is known to mean the same"
    needs = SAME_CHECKS.get(kind, "value")
    needs = FIELD_NAMES[source].get(needs, needs)
    content = value.get(needs) if needs else None
    if needs in {"threshold", "budget"}:
        is_right = isinstance(content, int | float) and not isinstance(content, bool) and content >= 0
    elif kind in LISTS_OF_VALUES:
        is_right = isinstance(content, list) and bool(content) and all(isinstance(e, str) and e for e in content)
    elif needs:
        is_right = isinstance(content, str) and bool(content)
    else:
        is_right = "value" not in value and "schema" not in value
    if not is_right:
        return f"its `{needs or 'value'}` means something else in {title}, or nothing"
    texts = content if isinstance(content, list) else [content]
    if any(isinstance(text, str) and text.startswith("file://") for text in texts):
        return "promptfoo reads the file that it names, and AgentV does not"
    if kind == "regex" and "flags" in value and not is_agentv:
        return "promptfoo has no flags for it"
    return ""


def _known(kind: str, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Yield the fields that both have, by their names in the source, with those in the target."""
    ours, theirs = FIELD_NAMES[source], FIELD_NAMES[target]
    if needs := SAME_CHECKS.get(kind, "value"):
        yield ours.get(needs, needs), theirs.get(needs, needs)
    yield ours["label"], theirs["label"]
    yield "weight", "weight"
    if PROMPTFOO not in {source, target}:
        yield from (("required", "required"), ("min_score", "min_score"), ("flags", "flags"))


def _rename(value: dict[str, Any], kind: str, source: str, target: str) -> Iterator[tuple[str, str, Any]]:
    for own, theirs in _known(kind, source, target):
        if own in value and is_plain(value[own]):
            yield own, theirs, value[own]
