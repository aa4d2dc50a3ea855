"""Find the schemas for a place in a document, and what they say about it: its fields and the listed values."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rubric_lint.dialects.search.agentv_suites import EVAL_FILES, find_cases, is_current, is_of_agentv, is_whole_case
from rubric_lint.dialects.search.locate import Location, find_claim, locate
from rubric_lint.format.recognition import FIELD
from rubric_lint.format.schema import RubricSchema, case_lists, python_validator, resolve, schema_for
from rubric_lint.format.schema_files import CURRENT, join
from rubric_lint.format.view import Dialect
from rubric_lint.lint.rubric_tests import schema_of_tests
from rubric_lint.lsp.complete.slots import Slot, follow
from rubric_lint.lsp.server.analysis import Analysis
from rubric_lint.project.settings import NAMES, FileSettings
from rubric_lint.rules import BY_NAME
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path
from rubric_lint.text.source import DATA

load = cache(join)
"""Return a schema whose references are all local, read once."""

_TYPES = {"array": "list", "object": "mapping"}
_DEEPEST = 40
_KEPT = ("allOf", "if", "then", "else", "$ref", "anyOf", "oneOf")


class FieldFacts(NamedTuple):
    """One field: its subschema with what it refers to drawn in, the outer words before the inner."""

    name: str
    schema: Mapping[str, Any]
    is_deprecated: bool = False

    @property
    def card(self) -> str:
        """The values that it takes, each fact in a few words, and its meaning, in Markdown."""
        types = self.schema.get("type", [])
        names = [types] if isinstance(types, str) else types
        facts = [self.schema.get("x-expected") or " or ".join(_TYPES.get(name, name) for name in names)]
        if "default" in self.schema:
            facts.append(f"default {self.schema['default']}")
        if "minimum" in self.schema and "x-expected" not in self.schema:
            facts.append(f"at least {self.schema['minimum']}")
        if replacement := self.schema.get("x-replaced-by"):
            facts.append(f"deprecated, replaced by `{replacement}`")
        told = "; ".join(filter(None, facts))
        return f"**`{self.name}`**{': ' if told else ''}{told}\n\n{self.schema.get('description', '')}"


def find_field(schema: RubricSchema, steps: Path, name: str) -> FieldFacts | None:
    """Return the field `name` at `steps` below a rubric; without steps, the field that contains the rubric."""
    node = schema.find(steps)
    return FieldFacts(name, node) if "description" in node else None


def find_suite_field(source: str, name: str) -> FieldFacts | None:
    """Return a field of a suite that may lead to rubrics, such as its list of cases, if a schema defines it."""
    contents = load(source)
    schema = contents["definitions"].get("part", {}).get("properties", {}).get(name)
    resolved = resolve(contents, schema) if schema else {}
    return FieldFacts(name, {"description": resolved["description"]}) if "description" in resolved else None


class Subschema(NamedTuple):
    """A subschema, and the schema that it is a part of. `is_asked`: it belongs to the question of an `if`."""

    home: Mapping[str, Any]
    node: Mapping[str, Any]
    is_asked: bool = False


def find_subschemas(source: str, definition: str, data: Any, steps: Path) -> list[Subschema]:
    """Return the subschemas for the value at `steps` below `data`, which follows a definition of a schema.

    Without a definition, it follows the whole schema.
    """
    home = load(source)
    start: Any = home["definitions"].get(definition) if definition else home
    subschemas = [Subschema(home, start)] if isinstance(start, dict) else []
    for step in steps:
        subschemas = [below for subschema in _open(subschemas, data) for below in _descend(subschema, step)]
        data = follow(data, (step,))
    return list(_open(subschemas, data))


def list_fields_at(subschemas: list[Subschema], data: Any) -> dict[str, FieldFacts]:
    """Return the fields that a mapping may have; `data` is the mapping."""
    found: dict[str, FieldFacts] = {}
    asserted = [each for each in subschemas if not each.is_asked]
    for name in (name for each in asserted for name in each.node.get("properties", {})):
        if name not in found:
            below = [
                each._replace(node=field)
                for each in asserted
                if isinstance(field := each.node.get("properties", {}).get(name), dict)
            ]
            said: dict[str, bool] = {}  # by schema, as one may still have what another has replaced
            for each in below:
                is_deprecated = any(part.node.get("deprecated") for part in _open([each], None))
                said[each.home["$id"]] = said.get(each.home["$id"], False) or is_deprecated
            facts = merge(list(_open(below, follow(data, (name,)))))
            found[name] = FieldFacts(name, facts, is_deprecated=bool(said) and all(said.values()))
    return found


def find_words(subschemas: list[Subschema]) -> list[Any]:
    """Return the values that the schema lists for a place, or on which it makes something depend."""
    found: list[Any] = []
    for _, node, _ in subschemas:
        words = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
        words += [True, False] if node.get("type") == "boolean" else []
        found += [word for word in words if not any(word is each or word == each for each in found)]
    return found


def merge(subschemas: list[Subschema]) -> Mapping[str, Any]:
    """Return one subschema with the keywords of all, those of the first winning."""
    merged: dict[str, Any] = {}
    for subschema in reversed(subschemas):
        if not subschema.is_asked:
            merged |= {keyword: value for keyword, value in subschema.node.items() if keyword not in _KEPT}
    return merged


def open_below(subschemas: list[Subschema], step: str | int, data: Any = None) -> list[Subschema]:
    """Return the subschemas for what is below a place."""
    return list(_open([below for subschema in subschemas for below in _descend(subschema, step)], data))


def _descend(subschema: Subschema, step: str | int) -> Iterator[Subschema]:
    node = subschema.node
    if isinstance(step, int):
        below = node.get("items")
    elif step in node.get("properties", {}):
        below = node["properties"][step]
    else:
        matching = (each for pattern, each in node.get("patternProperties", {}).items() if re.search(pattern, step))
        below = next(matching, node.get("additionalProperties"))
    if isinstance(below, dict):
        yield subschema._replace(node=below)


def _open(
    subschemas: list[Subschema], data: Any, seen: set[tuple[int, bool]] | None = None, depth: int = 0
) -> Iterator[Subschema]:
    """Yield subschemas, each once, with all that they refer to and that applies to the data."""
    seen = set() if seen is None else seen
    for subschema in subschemas:
        home, node, is_asked = subschema
        if (id(node), is_asked) in seen or depth > _DEEPEST:
            continue
        seen.add((id(node), is_asked))
        yield subschema
        name = node.get("$ref", "").rpartition("/")[2]
        inner = [home["definitions"][name]] if name else []
        inner += [each for keyword in ("allOf", "anyOf", "oneOf") for each in node.get(keyword, ())]
        below = [Subschema(home, each, is_asked) for each in inner if isinstance(each, dict)]
        if isinstance(condition := node.get("if"), dict):
            validator = python_validator()({**condition, "definitions": home["definitions"]})
            branch = node.get("then" if validator.is_valid(data) else "else")
            below.append(Subschema(home, condition, is_asked=True))
            below += [Subschema(home, branch, is_asked)] if isinstance(branch, dict) else []
        yield from _open(below, data, seen, depth + 1)


SETTINGS = "config/v1.json"
"""The schema of the settings."""

_TABLE = ("tool", "rubric-lint")
_HOLDERS = frozenset({"defaultTest", "default_test", "turns", "assert", "assertions", "scenarios", "config"})


class Root(NamedTuple):
    """A schema, or a definition in it, and the path of the value that follows it. `is_rubric`: it is a rubric's."""

    source: str
    definition: str
    path: Path
    is_rubric: bool = False


def list_rule_names(root: Root, path: Path, *, is_key: bool) -> list[str]:
    """Return the names of the rules if the settings take one at a path: as a value there, or as its last key."""
    if root.source != SETTINGS:
        return []
    steps = path[len(root.path) :]
    subschemas = find_subschemas(SETTINGS, "", {}, steps[:-1] if is_key else steps)
    if is_key:
        names = [each._replace(node=each.node["propertyNames"]) for each in subschemas if "propertyNames" in each.node]
        subschemas = list(_open(names, None))
    rule = load(SETTINGS)["definitions"]["rule"]
    return sorted(BY_NAME) if any(subschema.node is rule for subschema in subschemas) else []


def is_settings_file(name: str) -> bool:
    """Return whether a file of this name holds settings."""
    return posixpath.basename(name.replace("\\", "/")) in NAMES


def find_table(name: str) -> Path:
    """Return the path of our table in a settings file."""
    return _TABLE if name.endswith(NAMES[1]) else ()


def find_roots(document: Document, settings: FileSettings, path: Path, name: str) -> list[Root]:
    """Return the schemas for the value at a path, the innermost first; none in the files of others.

    `name` is that of the file.
    """
    if is_settings_file(name):
        at = find_table(name)
        return [Root(SETTINGS, "", at)] if path[: len(at)] == at else []
    if settings.is_test_file:
        return [Root(schema_of_tests().source, schema_of_tests().whole, ())]
    claim = find_claim(document)
    if claim and not claim.is_known:
        return []
    located = locate(document, version=settings.version, claimed=settings.claimed, shapes=settings.shapes)
    sources = dict.fromkeys(each.view.dialect.schema.partition("#")[0] for each in located if each.view)
    if document.kind in DATA:
        if not sources and (guessed := _guess(document)):
            sources[guessed.schema] = None
        version = claim.version if claim else settings.version or CURRENT
        if settings.is_rubric_file or (claim and claim.name == "rubric"):
            sources[f"{version}/rubric.json"] = None
        elif claim or any(place.view is None for place in located):
            sources[f"{version}/suite.json"] = None
    roots = [*_find_inner(located, path), *(Root(source, "", ()) for source in sources)]
    return sorted(roots, key=lambda root: -len(root.path))


def _find_inner(located: list[Location], path: Path) -> Iterator[Root]:
    """Yield the schemas of the rubrics around a path, and of what is beside them."""
    for place in located:
        view = place.view
        if path[: len(place.path)] == place.path:
            yield _root_of(view.schema if view else f"{place.version}/rubric.json", place.path)
        if view and (beside := view.beside or view.dialect.beside):
            around = view.beside_at if view.beside_at is not None else place.path[:-1]
            source, _, definition = beside.partition("#/definitions/")
            if path[: len(around)] == around:
                yield Root(source or view.dialect.schema, definition, around)


def _root_of(schema: str, path: Path) -> Root:
    source, _, definition = schema.partition("#/definitions/")
    return Root(source, definition or "rubrics", path, is_rubric=True)


def recall_roots(before: Analysis, slot: Slot) -> Iterator[Root]:
    """Yield the schemas of the rubrics that an earlier state of the document had around a slot."""
    path = slot.origin
    for located in before.rubrics:
        rubric = located.rubric
        view = rubric.view
        place = view.path if view else rubric.path
        if path[: len(place)] == place:
            yield _root_of(view.schema if view else f"{rubric.version}/rubric.json", slot.path[: len(place)])


def expect_rubric(document: Document, settings: FileSettings, path: Path) -> Root | None:
    """Return the schema of a list around a path that will be a rubric: one belongs there, and it has too little yet."""
    claim = find_claim(document)
    if settings.is_test_file or document.kind not in DATA or (claim and not claim.is_known):
        return None
    schema = schema_for(claim.version if claim else settings.version or CURRENT)
    located = locate(document, version=settings.version, claimed=settings.claimed, shapes=settings.shapes)
    for at in range(len(path) - 1, 0, -1):
        if path[at - 1] != FIELD or not isinstance(path[at], int):
            continue
        start = path[:at]
        is_ours = any(place.path == start for place in located)
        if not is_ours and (at == 1 or located or (at > 2 and start[-3] in case_lists())):  # a rubric belongs here
            entries, typed = follow(document.data, start) or [], follow(document.data, path[: at + 1])
            others = [each for index, each in enumerate(entries) if index != path[at] or not isinstance(each, dict)]
            is_plain = all(isinstance(each, str) or each is None for each in others)
            known = schema_for().entry_fields.keys()
            is_ours = is_plain and (not isinstance(typed, dict) or known >= typed.keys())
        if is_ours:
            return Root(schema.source, schema.whole, start, is_rubric=True)
    return None


def _guess(document: Document) -> Dialect | None:
    """Return the dialect of a suite without criteria so far, judging by its cases and its name."""
    from rubric_lint.dialects.agentv import AGENTV_A6, AGENTV_A7  # noqa: PLC0415  (few documents need it)

    cases = list(find_cases(document))
    if is_current(document):
        return AGENTV_A7
    is_named = document.source.name.lower().endswith(EVAL_FILES)
    is_told = is_named or any(is_whole_case(case) or is_of_agentv(document, path) for path, case in cases if path)
    return AGENTV_A6 if is_told else None


def may_hold(document: Document, path: Path, name: str) -> bool:
    """Return whether a suite may have a field at a path which it could have anywhere, such as `assert`.

    It may at the top, in a case, and where such a place of the document has the field already.
    """
    if not path:
        return True
    holder = path[-2] if len(path) > 1 and isinstance(path[-1], int) else path[-1]
    if holder in case_lists() or holder in _HOLDERS:
        return True
    pattern = _generalise(path)
    return any(name in mapping and _generalise(other) == pattern for other, mapping in document.mappings)


def _generalise(path: Path) -> tuple[str, ...]:
    return tuple("*" if isinstance(step, int) else step for step in path)
