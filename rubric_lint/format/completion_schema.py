"""Turn a schema into one for completion and hover alone, for editors in which our own server reports what is wrong.

The schema accepts every file: it keeps what editors offer and explain, and the conditions for that, but no constraint.
"""

from typing import Any

from rubric_lint.format.editor_schema import COLON, for_editors

Schema = dict[str, Any]

_CONSTRAINTS = {
    *("type", "enum", "pattern", "minimum", "maximum", "contains", "propertyNames", "required"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "errorMessage", "patternErrorMessage"),
}
_BY_NAME = {"properties", "patternProperties", "definitions"}
_ONE = {"items", "additionalProperties", "then", "else"}


def for_completion(schema: Schema) -> Schema:
    """Return a self-contained schema that offers and explains what that for editors does, and accepts every file."""
    return _relax(for_editors(schema))


def _relax(node: Any) -> Schema:
    """Return a schema without constraints, except in conditions, which only choose what is offered."""
    if not isinstance(node, dict):
        return {}
    relaxed = {key: _relax_part(key, value) for key, value in node.items() if key not in _CONSTRAINTS}
    if not (relaxed.get("then") or relaxed.get("else")):
        relaxed.pop("if", None)
    if "type" in node:
        relaxed |= COLON  # the key of a value without a type would be completed without one
        if values := node.get("enum", [True, False] if node["type"] == "boolean" else []):
            relaxed["examples"] = values
    if "examples" in relaxed.get("items", ()):  # else these would be offered for the whole list, too
        within = {"if": {"type": "array"}, "then": {"items": relaxed.pop("items")}}
        relaxed["allOf"] = [*relaxed.get("allOf", ()), within]
    return {key: value for key, value in relaxed.items() if value not in ({}, [])}


def _relax_part(key: str, value: Any) -> Any:
    """Return the value of a keyword without constraints; empty if it then says nothing."""
    if key in _BY_NAME:
        return {name: _relax(each) for name, each in value.items() if each is not False}
    if key in _ONE:
        return _drop_idle(_relax(value))
    if key == "allOf":
        return [each for each in map(_drop_idle, map(_relax, value)) if each]
    return value


def _drop_idle(node: Schema) -> Schema:
    return node if node.keys() - COLON.keys() else {}
