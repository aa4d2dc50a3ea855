"""Turn a schema into a strict and plain one for validators such as Ajv and check-jsonschema.

Such programs have only messages of their own, for each keyword that fails. So a mistake must fail one keyword, at its
own place. Schemas with alternatives (`oneOf`) would not do, because validators report the wrong one. What is valid
stays the same.
"""

from collections.abc import Collection, Mapping
from typing import Any

from rubric_lint.format.editor_schema import ALL_TYPES, KEYS

Schema = dict[str, Any]

_OURS = "x-"
_NOT_IN_DRAFT_7 = {"deprecated"}


def for_validators(schema: Schema) -> Schema:
    """Return a self-contained schema in strict draft 7, without keywords of ours."""
    plain: Schema = _convert(schema)
    return plain


def _convert(node: Any) -> Any:
    if isinstance(node, list):
        return [_convert(each) for each in node]
    if not isinstance(node, dict):
        return node
    changed: Schema = {}
    for key, value in node.items():
        if key in ("properties", "definitions"):
            changed[key] = {name: _convert(each) for name, each in value.items()}
        elif not (key.startswith(_OURS) or key in _NOT_IN_DRAFT_7):
            changed[key] = _convert(value)
    if "properties" in node and "allOf" in node:
        changed["allOf"] = _name_what_is_allowed(node["allOf"], changed["allOf"], node["properties"])
    return _split(changed) if isinstance(node.get("type"), list) else changed


def _name_what_is_allowed(authored: list[Schema], changed: list[Schema], names: Collection[str]) -> list[Schema]:
    """Let each condition that forbids fields name those that are allowed, so that the error says which ones these are.

    A plain `false` makes validators say only that it is false.
    """
    named = []
    for condition, each in zip(authored, changed, strict=True):
        branches = dict(each)
        for key in ("then", "else"):
            if forbidden := _forbidden(condition.get(key, {})):
                given = set(condition["if"]["required"]) if key == "then" else set()
                excluded = set().union(*(_exclude(other, given) for other in authored))
                allowed = [name for name in names if name not in forbidden | excluded]
                branches[key] = {"propertyNames": {"if": {"enum": sorted(forbidden)}, "then": {"enum": allowed}}}
        named.append(branches)
    return named


def _forbidden(branch: Mapping[str, Any]) -> set[str]:
    return {
        name for name, each in branch.get("properties", {}).items() if isinstance(each, dict) and each.get("not") == {}
    }


def _exclude(condition: Schema, given: set[str]) -> set[str]:
    """Return the fields that a condition forbids, or that would forbid one of the fields `given`."""
    wanted = set(condition["if"].get("required", ()))
    if not wanted:
        return set()
    clashing = wanted if _forbidden(condition.get("then", {})) & given else set()
    unmet = set() if wanted <= given else _forbidden(condition.get("else", {}))
    return clashing | unmet


def _split(node: Schema) -> Schema:
    """Split a schema of several types into one condition per type, as strict validators want one type per schema."""
    types = node["type"]
    shared = {"allOf"} if all("$ref" in each for each in node.get("allOf", ())) else set()
    keys_of = {name: [key for key in node if key in KEYS.get(name, set()) - shared] for name in types}
    branches = [
        {"if": {"type": name}, "then": {"type": name, **{key: node[key] for key in keys}}}
        for name, keys in keys_of.items()
        if keys
    ]
    spent = {"type", *(key for keys in keys_of.values() for key in keys)}
    rest = {key: value for key, value in node.items() if key not in spent}
    accepted = {} if set(types) >= ALL_TYPES else {"anyOf": [{"type": name} for name in types]}
    conditions = [*rest.get("allOf", ()), *branches]
    return {**rest, **accepted, **({"allOf": conditions} if conditions else {})}
