"""Validation: a fast verdict on every rubric, and for what fails, problems at the right key in plain words."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from rubric_lint.catalogue import CURRENT, load, registry
from rubric_lint.deprecation import Replacement
from rubric_lint.document import Document
from rubric_lint.finding import Part, Path, Problem, RenameKey, Repair, ReplaceValue
from rubric_lint.near import find_near
from rubric_lint.wording import shorten

_FIRST_CLAUSE = re.compile(r"[^.:;]+")


class RubricSchema:
    """The schema of the rubrics of one version of the format, and the facts that it holds."""

    def __init__(self, version: str) -> None:
        self.version = version
        self.contents = load(f"{version}/rubric.json")

    @cached_property
    def entry_fields(self) -> Mapping[str, Any]:
        """The fields of a criterion, each with its subschema."""
        return self.contents["definitions"]["entry"]["properties"]  # type: ignore[no-any-return]

    @cached_property
    def distinctive(self) -> Mapping[str, str]:
        """The fields that only this format has; `list of numbers` where it takes such a value to tell."""
        return {name: field["x-distinctive"] for name, field in self.entry_fields.items() if "x-distinctive" in field}

    @cached_property
    def replacements(self) -> Mapping[str, Replacement]:
        """The deprecated fields, of criteria and bands alike."""
        return {
            name: Replacement(field["x-replaced-by"], field.get("x-replaced-values"))
            for name, field in self.entry_fields.items()
            if "x-replaced-by" in field
        }

    def is_valid(self, rubrics: Any) -> bool:
        """Whether a `rubrics` value has the right shape, types and bounds."""
        return self._fast("rubrics").is_valid(rubrics)  # type: ignore[no-any-return]

    def find_problems(self, document: Document, path: Path, rubrics: Any) -> Iterator[tuple[str, Problem]]:
        """What is wrong with the `rubrics` value at `path`: the name of the rule, and the problem."""
        if not isinstance(rubrics, list) or not rubrics:
            yield from self._find_slowly("rubrics", document, path, rubrics)
            return
        judge = self._fast("entry")
        for index, entry in enumerate(rubrics):
            if not judge.is_valid(entry):
                yield from self._find_slowly("entry", document, (*path, index), entry)

    @cache  # noqa: B019 (schemas are few and live as long as the process)
    def _fast(self, definition: str) -> Any:
        from jsonschema_rs import Draft7Validator  # noqa: PLC0415  (files without rubrics do without)

        local = {"$ref": f"#/definitions/{definition}", "definitions": self.contents["definitions"]}
        return Draft7Validator(local)

    @cache  # noqa: B019
    def _slow(self, definition: str) -> Any:
        from jsonschema import Draft7Validator  # noqa: PLC0415  (100 ms that a clean file does not need)

        return Draft7Validator({"$ref": f"{self.contents['$id']}#/definitions/{definition}"}, registry=registry())

    def _find_slowly(
        self, definition: str, document: Document, base: Path, value: Any
    ) -> Iterator[tuple[str, Problem]]:
        found: dict[tuple[Path, Part, str], tuple[str, Problem]] = {}
        for error in self._slow(definition).iter_errors(value):
            for rule, problem in self._word(error, document, base):
                # A wrong type also breaks bounds and patterns, so one word on a value is enough, and the type's is the
                # best; but each field that a mapping lacks is a fault of its own.
                key = (problem.path, problem.part, problem.message if error.validator == "required" else "")
                if key not in found or error.validator == "type":
                    found[key] = (rule, problem)
        yield from found.values()

    def _word(self, error: Any, document: Document, base: Path) -> Iterator[tuple[str, Problem]]:
        path = base + tuple(error.absolute_path)
        keyword = error.validator
        rules = error.schema.get("x-rule", {}) if isinstance(error.schema, dict) else {}
        if keyword == "additionalProperties":
            for name in error.instance:
                if name not in error.schema["properties"]:
                    yield self._word_unknown(error, (*path, name), name)
            return
        if keyword == "required":
            for name in _missing(error):
                yield "schema", Problem(self._word_missing(name, error, path), path, Part.HEAD)
            return
        if isinstance(error.schema, dict) and "x-reason" in error.schema:
            yield "schema", Problem(f"`{path[-1]}` cannot stand here: {error.schema['x-reason']}", path, Part.KEY)
            return
        is_key = "propertyNames" in error.absolute_schema_path
        if is_key:
            path = (*path, error.instance)
        rule = rules.get("null") if keyword == "type" and error.instance is None else None
        message = _word_value(error, document, path, is_key=is_key)
        yield rule or rules.get(keyword, "schema"), Problem(message, path, Part.KEY if is_key else Part.VALUE)

    def _word_missing(self, name: str, error: Any, path: Path) -> str:
        definition = "band" if path[-2:-1] == ("score_ranges",) else "entry"
        known = {**self.contents["definitions"].get(definition, {}).get("properties", {}), **error.schema["properties"]}
        field = (
            known[name]
            if isinstance(known[name], dict)
            else self.contents["definitions"][definition]["properties"][name]
        )
        clause = _FIRST_CLAUSE.match(field.get("description", ""))
        return f"missing field `{name}`" + (f": {clause[0][:1].lower()}{clause[0][1:]}" if clause else "")

    def _word_unknown(self, error: Any, path: Path, name: str) -> tuple[str, Problem]:
        known: Mapping[str, Any] = error.schema["properties"]
        near = find_near(name, known)
        if not near:
            current = [f"`{field}`" for field, schema in known.items() if not schema.get("deprecated")]
            return "unknown-field", Problem(
                f"unknown field `{shorten(name)}`; known here are {', '.join(current)}", path, Part.KEY
            )
        names = " or ".join(f"`{field}`" for field in near)
        message = f"unknown field `{shorten(name)}`; did you mean {names}?"
        if len(near) == 1 and near[0] in error.instance:
            message = f"unknown field `{name}`, like {names}, which is there too; remove one of them"
        return "unknown-field", Problem(message, path, Part.KEY, repair=self._rename(error.instance, path, name, near))

    def _rename(self, mapping: dict[str, Any], path: Path, name: str, near: list[str]) -> Repair | None:
        if len(near) != 1:
            return None
        target, value = near[0], mapping[name]
        intents: list[RenameKey | ReplaceValue] = []
        if replacement := self.replacements.get(target):
            if not replacement.covers(value) or replacement.value_for(value) is None:
                return None
            if (new := replacement.value_for(value)) != value:
                intents.append(ReplaceValue(path, str(new)))
            target = replacement.name
        if target in mapping:
            return None
        return Repair(f"rename `{name}` to `{target}`", (RenameKey(path, target), *intents), safe=False)


@cache
def schema_for(version: str = CURRENT) -> RubricSchema:
    """The schema of one version of the format."""
    return RubricSchema(version)


@cache
def case_lists(version: str = CURRENT) -> frozenset[str]:
    """The names of the lists of a suite whose entries, cases and evaluators, have rubrics of their own."""
    definitions = load(f"{version}/suite.json")["definitions"]
    holders = {f"#/definitions/{name}" for name, schema in definitions.items() if schema.get("x-holds-rubrics")}
    fields = definitions["part"]["properties"].items()
    return frozenset(name for name, schema in fields if schema.get("$ref") in holders)


def _missing(error: Any) -> list[str]:
    """The required fields that are not there, but for those that stand there misspelt, which is a finding already."""
    absent = [name for name in error.validator_value if name not in error.instance]
    return [name for name in absent if not any(find_near(key, [name]) for key in error.instance)]


_TYPES = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


def _word_value(error: Any, document: Document, path: Path, *, is_key: bool) -> str:
    schema = error.schema
    found = f"the key `{shorten(error.instance)}`" if is_key else describe(error.instance, document.written_at(path))
    names = [step for step in path[:-1] if isinstance(step, str)]
    if is_key or isinstance(path[-1], int):
        found = "an empty item" if error.instance is None else found
        subject = f"`{names[-1]}` has {found}" if names else f"found {found}"
    else:
        subject = f"`{path[-1]}` is {found}"
    match error.validator:
        case "pattern" if error.instance.strip() == "" and not is_key:
            blank = "blank" if " is " in subject else "a blank text"
            return f"{subject.removesuffix(found)}{blank}, expected a text that says something"
        case "minItems" | "minProperties" if not error.instance:
            expected = schema.get("x-expected") or f"at least {error.validator_value} items"
            kind = "mapping" if error.validator == "minProperties" else "list"
            return f"`{path[-1]}` is an empty {kind}, expected {expected}"
        case "minItems" | "maxItems":
            count = len(error.instance)
            expected = schema.get("x-expected") or f"at least {error.validator_value}"
            return f"`{path[-1]}` has {count} item{'' if count == 1 else 's'}, expected {expected}"
        case "minimum" if "x-expected" not in schema:
            return f"{subject}, expected at least {error.validator_value}"
        case _:
            return f"{subject}, expected {_expected(schema)}"


def _expected(schema: dict[str, Any]) -> str:
    if "x-expected" in schema:
        return str(schema["x-expected"])
    types = schema.get("type", [])
    return " or ".join(_TYPES[name] for name in ([types] if isinstance(types, str) else types))


def describe(value: Any, written: str) -> str:
    """A value in a few words, numbers as they are written."""
    match value:
        case None:
            return "empty"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return shorten(written or str(value))
        case str():
            return f'the text "{shorten(value)}"'
        case list():
            return "a list"
        case _:
            return "a mapping"
