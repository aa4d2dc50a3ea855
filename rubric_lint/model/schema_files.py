"""Find and load the schema files, and resolve the references between them."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urljoin

from rubric_lint.model.messages import HOME

BASE = f"{HOME}schemas/"
"""The prefix of every `$id`."""

CURRENT = "v2"
"""The default version of a file."""

VERSION_3 = "v3"
"""The version whose rubrics have scales, groups and marks of their own."""


Form = Literal["editor", "completion", "strict"]
"""What a self-contained file is for: editors, completion and hover alone, or validators."""

FORMS: tuple[Form, ...] = get_args(Form)


class SchemaFile(NamedTuple):
    """One schema: `suite`, `v2`, the authored file below the schema folder, and the form of the self-contained file."""

    name: str
    version: str
    source: str
    form: Form = "editor"

    @property
    def bundled_name(self) -> str:
        """The name of the self-contained file."""
        form = "" if self.form == "editor" else f".{self.form}"
        return f"{self.name}-{self.version}{form}.schema.json"

    @property
    def bundled_id(self) -> str:
        """The `$id` of the self-contained file, which a modeline may name."""
        return BASE + self.bundled_name

    @property
    def modeline(self) -> str:
        """The first line of a YAML file that follows the schema, the same on every machine."""
        return f"# yaml-language-server: $schema={self.bundled_id}\n"

    @property
    def is_for_authors(self) -> bool:
        """True if users write such files, so that a modeline may name the schema."""
        return self.name in {"rubric", "rubric-test", "suite"}

    @property
    def forms(self) -> tuple["SchemaFile", ...]:
        """The forms that this schema has; those of files that nobody writes by hand have only the first one."""
        count = 1
        if self.is_for_authors:
            count = len(FORMS)
        elif self.name == "agentv":
            count = 2  # editors complete its suites, too
        return tuple(self._replace(form=form) for form in FORMS[:count])

    @property
    def is_in_file(self) -> bool:
        """True if the self-contained schema is in a file, as editors need it; `text` makes the others anew."""
        return self.is_for_authors or self.name == "config" or self.form == "completion"

    @property
    def path(self) -> Path:
        """The path of the self-contained file."""
        return schemas_root() / "bundled" / self.bundled_name

    @property
    def text(self) -> str:
        """The self-contained schema as JSON text."""
        if self.is_in_file:
            return self.path.read_text("utf-8")
        return to_text(join(self.source) | {"$id": self.bundled_id})


@cache
def schemas_root() -> Path:
    """Return the schema folder: inside the installed package, or next to it in a checkout."""
    here = Path(__file__).parents[1]
    packaged = here / "schemas"
    return packaged if packaged.is_dir() else here.parent / "schemas"


@cache
def catalogue() -> tuple[SchemaFile, ...]:
    """Return all schemas, for editors: of the format (`v2/suite.json`) and of other files (`report/v1.json`)."""
    root = schemas_root()
    entries = []
    for file in sorted(root.glob("*/*.json")):
        folder, stem = file.parent.name, file.stem
        if folder != "bundled":
            name, version = (stem, folder) if re.fullmatch(r"v\d+", folder) else (folder, stem)
            entries.append(SchemaFile(name, version, f"{folder}/{file.name}"))
    return tuple(sorted(entries))


def newest(name: str, version: str = CURRENT) -> SchemaFile:
    """Return the schema that a new file follows: in one version of the format, or the latest of a schema without it."""
    found = (entry for entry in catalogue() if entry.name == name)
    return max(found, key=lambda entry: (entry.version == version, entry))


def load(source: str) -> dict[str, Any]:
    """Return the authored schema `source`, such as `v2/rubric.json`, or an added one."""
    return _ADDED.get(source) or json.loads((schemas_root() / source).read_text("utf-8"))


_ADDED: dict[str, dict[str, Any]] = {}


def add_schema(source: str, schema: dict[str, Any]) -> str:
    """Add a schema that is in no file, for this process; return its source."""
    _ADDED[source] = schema
    return source


def load_bundled(source: str) -> dict[str, Any]:
    """Return the self-contained copy of the schema `source`, or the authored one if the copy is adapted to editors."""
    entry = next(entry for entry in catalogue() if entry.source == source)
    return load(source) if entry.is_for_authors else json.loads(entry.text)


def to_text(schema: dict[str, Any]) -> str:
    """Return a schema as JSON text, without the `x-` keywords, which only the linter reads."""
    return json.dumps(_strip(schema), indent=2, ensure_ascii=False) + "\n"


def _strip(node: Any) -> Any:
    if isinstance(node, list):
        return [_strip(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node == {"not": {}} or ("x-reason" in node and "not" in node):
        return False  # editors have the best message for a plain `false`
    return {key: _strip(value) for key, value in node.items() if not key.startswith("x-")}


def _part_at(schema: Any, pointer: str) -> Any:
    """Return the part of a schema at a JSON pointer without its first slash, such as `definitions/entry/allOf/0`."""
    for step in pointer.split("/"):
        key = int(step) if isinstance(schema, list) else step
        schema = schema[key]
    return schema


def join(source: str) -> dict[str, Any]:
    """Return an authored schema with the definitions of others that it refers to; all its references are local."""
    files = {source: load(source)}
    drawn: dict[str, Any] = {}

    def draw_in(node: Any, home: str) -> Any:
        if isinstance(node, list):
            return [draw_in(item, home) for item in node]
        if not isinstance(node, dict):
            return node
        own = {key: draw_in(value, home) for key, value in node.items() if key != "$ref" or not isinstance(value, str)}
        if "$ref" in own or "$ref" not in node:
            return own
        file, _, pointer = node["$ref"].partition("#/")
        there = urljoin(f"{BASE}{home}", file).removeprefix(BASE) if file else home
        files[there] = files.get(there) or load(there)
        root, _, name = pointer.partition("/")
        if root != "definitions" or "/" in name:  # a part of a definition stands where it is needed
            return draw_in(_part_at(files[there], pointer), there) | own
        if there != source and name not in drawn:
            drawn[name] = None  # reserves the name before its definition is drawn in
            drawn[name] = draw_in(files[there]["definitions"][name], there)
        return {"$ref": f"#/definitions/{name}", **own}

    joined: dict[str, Any] = draw_in(files[source], source)
    if drawn:
        joined["definitions"] = dict(sorted({**joined.get("definitions", {}), **drawn}.items()))
    return joined


_CLAIM = r"(?:^|/)(?P<name>rubric|suite)-(?P<version>v\d+)(?:\.(?:completion|strict))?\.schema\.json$"


class Claim(NamedTuple):
    """The name and version of the schema that a file names, known or not."""

    name: str
    version: str

    @property
    def is_known(self) -> bool:
        """True if this schema exists."""
        return any((entry.name, entry.version) == self for entry in catalogue())


def read_claim(url: str) -> Claim | None:
    """Return which of our schemas a URL or the path of a copy names; None if it is another schema."""
    url = url.partition("#")[0]
    if url.startswith(BASE):
        source = url.removeprefix(BASE).removesuffix(".json")
        found = re.fullmatch(r"(?P<version>v\d+)/(?P<name>rubric|suite)", source)
        if found:
            return Claim(found["name"], found["version"])
    elif re.match(r"(?!file:)[a-z][a-z0-9+.-]+:", url, re.IGNORECASE):
        return None
    found = re.search(_CLAIM, url)
    return Claim(found["name"], found["version"]) if found else None
