"""Write the entries for SchemaStore, with which editors find the schema of a file by its name."""

import json
from typing import Any

from rubric_lint.format.schema_files import SchemaFile, catalogue, load

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
    current = max(entries, key=lambda entry: int(entry.version.removeprefix("v")))
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
