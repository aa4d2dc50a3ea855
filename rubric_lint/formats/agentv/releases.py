"""The releases of AgentV: what each reads of a suite and what it does not, by the table `x-loaded` in its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_lint.model.schema_files import load

_SCHEMAS = ("agentv/a6.json", "agentv/a7.json")
"""The schemas of the releases, the oldest first."""

_RUBRICS = "rubrics"
_NOT = "not-"
"""The start of the type of an assertion whose score is turned round."""

ListPath = tuple[str, ...]
"""Where a suite, its defaults, a test or a turn has a list of assertions: a field, or one in `execution`."""


class Unloaded(NamedTuple):
    """Why a release does not read a type of assertion, and the type that replaces it.

    A reserved type is refused with `not-` before it, too. To other releases it is a name like any other, and a program
    of the project may have it.
    """

    reason: str
    successor: str = ""
    is_reserved: bool = False


@dataclass(frozen=True, eq=False)
class Release:
    """A release of AgentV: its name in `--to`, the schema with its table, the dialects that it reads, and its words.

    A list of criteria is written as the field `criteria` of an assertion of the type `kind` in the list `assertions`.
    `criteria_fields` has the field for each type that holds criteria. `kinds` maps the types that have them in any
    release to those of this one. `lists` has the places of the lists of assertions by owner; the first one counts.
    If `reads_both`, the `rubrics` of a test count as well as its assertions; if `is_spelt_exactly`, the type `is_json`
    is not `is-json`; if it `has_full_gates`, `required: true` on bands without `min_score` asks for the highest score.
    Fields in `shown_by` are only in suites for this release or a later one.
    """

    name: str
    title: str
    table: str
    loaded: Mapping[str, Any]
    dialects: frozenset[str]
    kind: str
    assertions: str
    criteria: str
    criteria_fields: Mapping[str, str]
    kinds: Mapping[str, str]
    lists: Mapping[str, tuple[ListPath, ...]]
    types: Mapping[str, Mapping[str, Any]]
    unloaded: Mapping[str, Unloaded]
    reads_both: bool
    is_spelt_exactly: bool
    has_full_gates: bool
    shown_by: tuple[str, ...]

    def find_type(self, kind: str) -> Mapping[str, Any] | None:
        """Return the table of a type of assertion; None if the release does not read the type."""
        return self.types.get(kind) if kind in self.types or self.is_spelt_exactly else self.types.get(_spell(kind))

    def name_field(self, kind: str) -> str:
        """Return the field of the criteria in an assertion of a type that holds criteria."""
        fields = self.find_type(kind)
        if fields is None or "x-criteria" not in fields:
            raise KeyError(kind)
        return str(fields["x-criteria"])

    def list_replaced(self, successor: str) -> frozenset[str]:
        """Return the types of assertions that the release does not read and has another type for."""
        return frozenset(kind for kind, row in self.unloaded.items() if row.successor == successor)

    def find_unloaded(self, kind: str) -> Unloaded | None:
        """Return why the release does not read a type of assertion; None if it does, or if no release has the type."""
        if self.find_type(kind) is not None:
            return None
        plain = _spell(kind)
        positive = plain.removeprefix(_NOT)
        row, positive_row = self.unloaded.get(kind) or self.unloaded.get(plain), self.unloaded.get(positive)
        if row or (positive_row and positive_row.is_reserved):
            return row or positive_row
        if plain in self.types:
            return Unloaded(f"{self.title} refuses this spelling; write `{plain}`", plain)
        if positive in self.types:
            return Unloaded(self.loaded["negated"].format(type=positive))
        others = [release for release in RELEASES.values() if release is not self]
        if any(release.has(kind) or release.has(positive) for release in others):
            return Unloaded(f"{self.title} does not know this grader and scores it 0")
        return None

    def has(self, kind: str) -> bool:
        """Return whether the release reads a type of assertion, or replaces it by another."""
        row = self.unloaded.get(kind)
        return _spell(kind) in self.types or (row is not None and not row.is_reserved)


def _spell(kind: str) -> str:
    return kind.replace("_", "-")


def _read_release(schema: str) -> Release:
    """Read a release from its schema."""
    content = load(schema)
    loaded = content["x-loaded"]
    facts, types = loaded["release"], loaded["types"]
    lists = {owner: tuple(tuple(path.split(".")) for path in paths) for owner, paths in loaded["lists"].items()}
    criteria_fields = {kind: fields["x-criteria"] for kind, fields in types.items() if "x-criteria" in fields}
    kind = next(iter(criteria_fields))
    is_spelt_exactly = facts.get("is_spelt_exactly", False)
    unloaded: dict[str, Unloaded] = {}
    for row in loaded["unloaded"]:
        reason = Unloaded(row["reason"], row.get("successor", ""), row.get("is_reserved", False))
        unloaded |= dict.fromkeys(row["types"], reason)
    kinds = {kind: kind for kind in criteria_fields}
    if not is_spelt_exactly:
        kinds |= {kind.replace("-", "_"): kind.replace("-", "_") for kind in criteria_fields}
    kinds |= {kind: row.successor for kind, row in unloaded.items() if row.successor in criteria_fields}
    return Release(
        name=facts["name"],
        title=facts["title"],
        table=schema,
        loaded=loaded,
        dialects=frozenset(facts["dialects"]),
        kind=kind,
        assertions=lists["test"][0][-1],
        criteria=criteria_fields[kind],
        criteria_fields=criteria_fields,
        kinds=kinds,
        lists=lists,
        types=types,
        unloaded=unloaded,
        reads_both=loaded["test"]["properties"].get(_RUBRICS, {"not": {}}).get("not") != {},
        is_spelt_exactly=is_spelt_exactly,
        has_full_gates="x-idle" not in content["definitions"]["entry"]["properties"]["required"],
        shown_by=tuple(facts.get("shown_by", ())),
    )


RELEASES = {release.name: release for release in map(_read_release, _SCHEMAS)}
"""The releases by name, the oldest first."""

OLDEST, NEWEST = next(iter(RELEASES.values())), list(RELEASES.values())[-1]


def list_paths(owner: str) -> tuple[ListPath, ...]:
    """Return where any release reads the assertions of a suite, of its `default_test`, of a test or of a turn."""
    paths = [path for release in RELEASES.values() for path in release.lists.get(owner, ())]
    return tuple(dict.fromkeys(paths))


def list_names() -> tuple[str, ...]:
    """Return the names that a list of assertions has in any release."""
    return tuple(dict.fromkeys(path[-1] for owner in ("suite", "test") for path in list_paths(owner)))


def find_fields(keyword: str, *, but: str = "") -> dict[str, str]:
    """Return the types of assertions whose tables have a keyword, each with the field that it names.

    Types whose tables have the keyword `but` are left out.
    """
    found: dict[str, str] = {}
    for release in RELEASES.values():
        for kind, fields in release.types.items():
            if keyword in fields and not (but and but in fields):
                found[kind] = fields[keyword]
                if not release.is_spelt_exactly:
                    found[kind.replace("-", "_")] = fields[keyword]
    return found
