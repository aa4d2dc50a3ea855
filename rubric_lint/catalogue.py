"""The schema files: where they are, how they refer to each other, and the self-contained copies for editors."""

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from referencing import Registry

BASE = "https://rubric-lint.github.io/schemas/"
"""What every `$id` begins with."""

CURRENT = "v2"
"""The version of a file that does not say one."""


class Entry(NamedTuple):
    """One schema: `suite`, `v2`, the authored file below the schema folder, and the bundled file's name."""

    name: str
    version: str
    source: str

    @property
    def bundled_name(self) -> str:
        """The name of the self-contained file."""
        return f"{self.name}-{self.version}.schema.json"

    @property
    def bundled_id(self) -> str:
        """The `$id` of the self-contained file, which a modeline may name."""
        return BASE + self.bundled_name

    @property
    def is_for_authors(self) -> bool:
        """Whether people write files of it by hand, and a modeline may name it."""
        return self.name in {"rubric", "suite"}

    @property
    def path(self) -> Path:
        """The self-contained file."""
        return schemas_root() / "bundled" / self.bundled_name


@cache
def schemas_root() -> Path:
    """The schema folder: inside the installed package, or beside it in a checkout."""
    here = Path(__file__).parent
    packaged = here / "schemas"
    return packaged if packaged.is_dir() else here.parent / "schemas"


@cache
def catalogue() -> tuple[Entry, ...]:
    """All schemas: those of the format (`v2/suite.json`), and those of our own files (`report/v1.json`)."""
    root = schemas_root()
    entries = []
    for file in sorted(root.glob("*/*.json")):
        folder, stem = file.parent.name, file.stem
        if folder != "bundled":
            name, version = (stem, folder) if re.fullmatch(r"v\d+", folder) else (folder, stem)
            entries.append(Entry(name, version, f"{folder}/{file.name}"))
    return tuple(sorted(entries))


def load(source: str) -> dict[str, Any]:
    """The authored schema `source`, such as `v2/rubric.json`."""
    return json.loads((schemas_root() / source).read_text("utf-8"))  # type: ignore[no-any-return]


def load_bundled(source: str) -> dict[str, Any]:
    """The schema `source` with all that it refers to: its self-contained copy, unless it is one that editors word."""
    entry = next(entry for entry in catalogue() if entry.source == source)
    return load(source) if entry.is_for_authors else json.loads(entry.path.read_text("utf-8"))


@cache
def registry() -> "Registry[Any]":
    """All authored schemas by their `$id`, for references between them."""
    from referencing import Registry, Resource  # noqa: PLC0415  (30 ms that a clean file does not need)

    return Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in (load(entry.source) for entry in catalogue())
    )


_CLAIM = r"(?:^|/)(?P<name>rubric|suite)-(?P<version>v\d+)\.schema\.json$"


class Claim(NamedTuple):
    """What a file says of itself: the name and version of the schema that it follows, known or not."""

    name: str
    version: str

    @property
    def is_known(self) -> bool:
        """Whether there is such a schema."""
        return any((entry.name, entry.version) == self for entry in catalogue())


def read_claim(url: str) -> Claim | None:
    """Which of our schemas for authors a URL, or a path to a copy of the file, names; None for those of others."""
    url = url.partition("#")[0]
    if url.startswith(BASE):
        source = url.removeprefix(BASE).removesuffix(".json")
        if found := re.fullmatch(r"(?P<version>v\d+)/(?P<name>rubric|suite)", source):
            return Claim(found["name"], found["version"])
    elif re.match(r"(?!file:)[a-z][a-z0-9+.-]+:", url, re.IGNORECASE):
        return None
    found = re.search(_CLAIM, url)
    return Claim(found["name"], found["version"]) if found else None
