"""Write the schemas as self-contained files without our own keywords; `make renew` does.

Those of files that people write have three forms.

For editors: their language servers complete a field only from a schema in place, not behind a reference; show an
`errorMessage` for types, patterns, enums and unknown fields, but not for numbers and counts; hide what has
`doNotSuggest`; and insert snippets.

For completion and hover alone, where our own server reports what is wrong: the schema accepts every file. It keeps what
editors offer and explain, and the conditions for that, but no constraint.

For validators such as Ajv and check-jsonschema: strict and plain. Such programs have only messages of their own, for
each keyword that fails, so a mistake must fail one keyword, at its own place. Schemas with alternatives (`oneOf`) would
not do, because validators report the wrong one. Strict validators want one type per schema.

What is valid stays the same for editors and validators.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rubric_lint.model.messages import expected_of
from rubric_lint.model.schema_files import SchemaFile, catalogue, join, load, newest, schemas_root, to_text
from rubric_lint.rules import BY_NAME

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
    if node.get("pattern") not in (None, r"\S"):  # what is expected of a string is what is expected of any value
        others = [{**each, "x-expected": expected_of(node)} if "pattern" in each else each for each in others]
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
    required = inner.pop("required", None)  # next to `properties` it would be offered twice
    return {**outer, "allOf": [inner, *([{"required": required}] if required else [])]}


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


_OURS = "x-"
_NOT_IN_DRAFT_7 = {"deprecated"}


def for_validators(schema: Schema) -> Schema:
    """Return a self-contained schema in strict draft 7, without keywords of ours."""
    plain: Schema = _make_plain(schema)
    return plain


def _make_plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_make_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    changed: Schema = {}
    for key, value in node.items():
        if key in ("properties", "definitions"):
            changed[key] = {name: _make_plain(each) for name, each in value.items()}
        elif not (key.startswith(_OURS) or key in _NOT_IN_DRAFT_7):
            changed[key] = _make_plain(value)
    if "properties" in node and "allOf" in node:
        changed["allOf"] = _name_what_is_allowed(node["allOf"], changed["allOf"], node["properties"])
    return _split_types(changed) if isinstance(node.get("type"), list) else changed


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


def _split_types(node: Schema) -> Schema:
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


# Only names that nothing else has: many tools use suite.yaml, so suites need a modeline.
_FILES = {
    "rubric": ["*.rubric.yaml", "*.rubric.yml", "*.rubric.json"],
    "rubric-test": ["*.rubric-test.yaml", "*.rubric-test.yml", "*.rubric-test.json"],
    "suite": [],
}


def store_catalogue() -> str:
    """Return a catalogue in the format of SchemaStore, with the schemas of files that users write."""
    entries = [entry for entry in catalogue() if entry.is_for_authors]
    schemas = [_describe([entry for entry in entries if entry.name == name]) for name in _FILES]
    contents = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": schemas}
    return json.dumps(contents, indent=2, ensure_ascii=False) + "\n"


def _describe(entries: list[SchemaFile]) -> dict[str, Any]:
    current = newest(entries[0].name)
    files = _FILES[current.name]
    return {
        "name": f"rubric-lint {current.name}",
        "description": load(current.source)["description"].partition(". ")[0].removesuffix("."),
        **({"fileMatch": files} if files else {}),
        "url": _strict(current),
        "versions": {entry.version.removeprefix("v"): _strict(entry) for entry in entries},
    }


def _strict(entry: SchemaFile) -> str:
    """Return the address of a schema's strict form, the one that the checks of SchemaStore accept as it is."""
    return entry._replace(form="strict").bundled_id


def _name_loaded(schema: Schema) -> Schema:
    """Return a schema that also names what the owner of the format reads of a suite, if a table says that.

    The first type of assertion in the table is the one with criteria, so assertions are completed with its fields.
    """
    loaded = schema.get("x-loaded")
    if not loaded:
        return schema

    def name_fields(part: Mapping[str, Any]) -> Schema:
        return {name: dict(COLON) for name, each in part["properties"].items() if each.get("not") != {}}

    tests = {"items": {"type": "object", "properties": name_fields(loaded["test"])}, **COLON}
    kinds = {"type": {**COLON, "examples": [*loaded["types"]]}}
    first = next(iter(loaded["types"].values()))
    assertion = schema["definitions"]["assertion"]
    named = {"properties": {**name_fields(loaded["assertion"]), **name_fields(first), **kinds}}
    definitions = {**schema["definitions"], "assertion": assertion | named}
    return {**schema, "properties": {**name_fields(loaded["suite"]), "tests": tests}, "definitions": definitions}


_ADAPT = {"editor": for_editors, "completion": for_completion, "strict": for_validators}


def bundle(entry: SchemaFile) -> str:
    """Return a schema as self-contained JSON text, adapted as its form says if users write such files."""
    schema = join(entry.source) | {"$id": entry.bundled_id}
    if entry.form == "completion":
        schema = _name_loaded(schema)
    if entry.name == "config":
        schema["definitions"]["rule"]["examples"] = sorted(BY_NAME)
    if entry.is_for_authors or entry.form == "completion":
        schema = _ADAPT[entry.form](schema)
    return to_text(schema)


def main() -> None:
    """Write the files that editors need, and the catalogue, to the folder where `rubric-lint schema` finds them."""
    for entry in catalogue():
        for form in entry.forms:
            if form.is_in_file:
                form.path.write_bytes(bundle(form).encode())
    (schemas_root() / "bundled/catalog.json").write_bytes(store_catalogue().encode())


if __name__ == "__main__":
    main()
