"""Bundle schemas into self-contained files for editors and other tools, without our own keywords."""

import json
import re
from typing import Any

from rubric_lint.format.completion_schema import for_completion
from rubric_lint.format.editor_schema import for_editors
from rubric_lint.format.schema_files import SchemaFile, load, registry
from rubric_lint.format.strict_schema import for_validators

_ADAPT = {"editor": for_editors, "completion": for_completion, "strict": for_validators}


def bundle(entry: SchemaFile) -> str:
    """Return a schema as self-contained JSON text; those of files that users write are adapted as their form says."""
    schema = load(entry.source)
    definitions: dict[str, Any] = {}
    resolver = registry().resolver(schema["$id"])
    bundled = _draw_in(schema, resolver, definitions)
    bundled["$id"] = entry.bundled_id
    if definitions:
        bundled["definitions"] = dict(sorted({**bundled.get("definitions", {}), **definitions}.items()))
    if entry.is_for_authors:
        bundled = _ADAPT[entry.form](bundled)
    return json.dumps(_strip(bundled), indent=2, ensure_ascii=False) + "\n"


def _draw_in(node: Any, resolver: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_draw_in(item, resolver, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        name = reference.rsplit("/", 1)[1]
        if name not in definitions:
            definitions[name] = None  # reserves the name before its definition is converted
            target = resolver.lookup(reference)
            definitions[name] = _draw_in(target.contents, target.resolver, definitions)
            _draw_in_local(target, definitions)
        return {"$ref": f"#/definitions/{name}"}
    return {key: _draw_in(value, resolver, definitions) for key, value in node.items()}


def _draw_in_local(target: Any, definitions: dict[str, Any]) -> None:
    """Include the definitions that a definition refers to in its own file."""
    for name in re.findall(r'"#/definitions/([^"]+)"', json.dumps(target.contents)):
        if name not in definitions:
            definitions[name] = None
            found = target.resolver.lookup(f"#/definitions/{name}")
            definitions[name] = _draw_in(found.contents, found.resolver, definitions)
            _draw_in_local(found, definitions)


def _strip(node: Any) -> Any:
    """Return a schema without the `x-` keywords, which only the linter reads."""
    if isinstance(node, list):
        return [_strip(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node == {"not": {}} or ("x-reason" in node and "not" in node):
        return False  # editors have the best message for a plain `false`
    return {key: _strip(value) for key, value in node.items() if not key.startswith("x-")}
