"""Adapt a schema to the language servers of editors, so that they complete well and report clear messages.

These servers complete a field only from a schema in place, not behind a reference; show an `errorMessage` for types,
patterns, enums and unknown fields, but not for numbers and counts; hide what has `doNotSuggest`; and insert snippets.
Strict validators want one type per schema. What is valid stays the same.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.messages import expected_of

Schema = dict[str, Any]

KEYS = {
    "array": {"items", "minItems", "maxItems"},
    "object": {
        *("properties", "required", "additionalProperties", "propertyNames", "minProperties"),
        *("allOf", "if", "then", "else", "defaultSnippets"),
    },
    "string": {"pattern"},
    "number": {"minimum", "maximum"},
}
"""The keywords that say something about values of a type."""

ALL_TYPES = {"array", "boolean", "null", "number", "object", "string"}
"""Who names all of them accepts every value."""

COLON: Schema = {"anyOf": [True]}
"""A field whose type is behind a reference or a condition is completed with a colon only if it has alternatives."""

_SUBJECTS = {
    "items": "item of `{}`",
    "additionalProperties": "item of `{}`",
    "propertyNames": "key of `{}`",
}


def for_editors(schema: Schema) -> Schema:
    """Return a self-contained schema adapted to editors."""
    parts = schema.get("definitions", {})
    whole = {key: value for key, value in schema.items() if key != "definitions"}
    top = _convert(_inline(whole, parts), "", "this file")
    kept = {name: _convert(_inline(part, parts), name) for name, part in parts.items()}
    used = set(_references(top, kept))
    kept = {name: part for name, part in kept.items() if name in used}
    return {**top, "definitions": kept} if kept else top


def _references(node: Any, definitions: Mapping[str, Any], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names of the definitions that a schema needs, directly or through others."""
    if isinstance(node, dict) and isinstance(node.get("$ref"), str):
        name = node["$ref"].rpartition("/")[2]
        if name not in seen:
            yield name
            yield from _references(definitions[name], definitions, seen | {name})
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _references(child, definitions, seen)


def _inline(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Replace references by their definitions, except recursive ones."""
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    match node:
        case {"allOf": [{"$ref": str(reference)}], **own} | {"$ref": str(reference), **own}:
            name = reference.rpartition("/")[2]
            if name not in _references(definitions[name], definitions):
                return {**_inline(definitions[name], definitions), **own}
            return node | COLON if own else node
        case dict():
            return {key: _inline(value, definitions) for key, value in node.items()}
    return node


def _convert(node: Any, field: str, subject: str = "") -> Any:
    """Convert the schema of a value of `field`, which messages call `subject`."""
    if not isinstance(node, dict) or "$ref" in node:
        return node
    subject = subject or f"`{field}`"
    changed: Schema = {}
    for key, value in node.items():
        match key:
            case "properties":
                changed[key] = {name: _convert(each, name) for name, each in value.items()}
            case "items" | "additionalProperties" | "propertyNames":
                changed[key] = _convert(value, field, _SUBJECTS[key].format(field))
            case "allOf":
                changed[key] = [_convert(each, field, subject) for each in value]
            case "then" | "else":
                changed[key] = _give_reasons(_convert(value, field, subject))
            case "if":
                changed[key] = _hide(value)
            case _:
                changed |= _rename(key, value)
    return _split(changed, subject) if isinstance(node.get("type"), list) else _write_messages(changed, subject)


def _rename(key: str, value: Any) -> Schema:
    """Rename a keyword to what language servers call it."""
    match key:
        case "deprecated":
            return {"doNotSuggest": value}
        case "x-snippets":
            return {"defaultSnippets": value}
        case "description" if "`" in value:
            return {key: value, "markdownDescription": value}
        case _:
            return {key: value}


def _hide(node: Any) -> Any:
    """Hide the fields of a condition from completion."""
    if isinstance(node, list):
        return [_hide(each) for each in node]
    if not isinstance(node, dict):
        return node
    hidden = {key: _hide(value) for key, value in node.items()}
    for name, each in hidden.get("properties", {}).items():
        if isinstance(each, dict):
            hidden["properties"][name] = {**each, "doNotSuggest": True}
    return hidden


def _give_reasons(branch: Schema) -> Schema:
    """Give each field that is not allowed a message of its own."""
    reasons = {
        name: each["x-reason"]
        for name, each in branch.get("properties", {}).items()
        if isinstance(each, dict) and "x-reason" in each
    }
    if not reasons:
        return branch
    return {
        "allOf": [
            {"properties": {name: False}, "errorMessage": f"`{name}` is not allowed here: {reason}"}
            for name, reason in reasons.items()
        ]
    }


def _split(node: Schema, subject: str) -> Schema:
    """Split a schema into one branch per type; a value of another type, or not yet written, gets the first branch."""
    types = node["type"]
    shared = {"allOf"} if all("$ref" in each for each in node.get("allOf", ())) else set()
    keys_of = {name: [key for key in node if key in KEYS.get(name, set()) - shared] for name in types}
    takes_all = set(types) >= ALL_TYPES
    if takes_all:
        types = [name for name in types if keys_of[name]]
    first, *others = ({"type": name, **{key: node[key] for key in keys_of[name]}} for name in types)
    if takes_all:
        types = [types[0], "null"]
        split: Schema = {"if": {"type": types}, "then": {**first, "type": types}}
    else:
        split = _write_messages({**first, "x-expected": expected_of(node)}, subject)
    for branch in others:
        then = branch if takes_all else _write_messages(branch, subject)
        split = {"if": {"type": branch["type"]}, "then": then, "else": split}
    spent = {"type", *(key for keys in keys_of.values() for key in keys)}
    rest = {key: value for key, value in node.items() if key not in spent}
    return {**rest, **COLON, "allOf": [*rest.get("allOf", ()), split]}


def _write_messages(node: Schema, subject: str) -> Schema:
    """Add messages that name the field and the expected value."""
    if "type" not in node:
        return node
    message = f"{subject}: expected {expected_of(node)}"
    worded = {**node, "errorMessage": message}
    match node:
        case {"type": "object"}:
            return _take_apart(worded)
        case {"type": "array"}:
            limits = {key: worded.pop(key) for key in ("minItems", "maxItems") if key in node}
            if limits:
                exact = message if "maxItems" in limits else f"{message}, at least {limits['minItems']}"
                worded |= {"if": limits, "else": {"contains": False, "errorMessage": exact}}
            if "defaultSnippets" in node:
                worded["allOf"] = [{"items": worded.pop("items")}]  # else those of the items win
        case {"pattern": pattern}:
            worded["patternErrorMessage"] = f"{message} that says something" if pattern == r"\S" else message
        case {"type": "integer", "minimum": int(lowest), "maximum": int(highest)}:
            del worded["minimum"], worded["maximum"]
            worded["enum"] = [*range(lowest, highest + 1)]
        case {"minimum": lowest, "maximum": highest}:
            del worded["minimum"], worded["maximum"]
            otherwise = {"enum": [lowest, highest], "errorMessage": message}
            worded |= {"if": {"minimum": lowest, "maximum": highest}, "else": otherwise}
        case {"minimum": lowest}:
            del worded["minimum"]
            otherwise = {"enum": [lowest], "errorMessage": f"{message}, at least {lowest}"}
            worded |= {"if": {"minimum": lowest}, "else": otherwise}
    return worded


def _take_apart(node: Schema) -> Schema:
    """Limit a mapping's message to its type, so that missing and unknown fields have their own."""
    inner = {key: node[key] for key in node if key in KEYS["object"]}
    outer = {key: node[key] for key in node if key not in inner}
    if snippets := inner.pop("defaultSnippets", None):
        # Behind a condition they are offered once, not a second time with wrong indentation.
        own = {"type": "object", "errorMessage": node["errorMessage"], "defaultSnippets": snippets}
        outer |= {"if": True, "then": own}
    if names := inner.pop("propertyNames", None):
        # As a pattern, because the language server reads the key 0 as a number, which is not a name.
        inner["patternProperties"] = {names["pattern"]: inner.pop("additionalProperties")}
        inner |= {"additionalProperties": False, "errorMessage": names["errorMessage"]}
    required = inner.pop("required", None)  # beside `properties` it would be offered twice
    return {**outer, "allOf": [inner, *([{"required": required}] if required else [])]}
