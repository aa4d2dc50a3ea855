"""Read what a suite says beside its rubrics: its cases, their inputs and references, and their other assertions.

The tables say which fields of cases and which assertions mean the same in AgentV 4, AgentV 5 and promptfoo. Sources:
AgentV 4.42.4 (the validator's known fields, its graders, and its own importer of promptfoo files), AgentV at 58f316ca2
(`validation/eval-validator.ts`, `graders/assertions.ts`, `latency.ts`, `cost.ts`), and promptfoo
(`src/assertions/contains.ts`, `regex.ts`, `json.ts`, `equals.ts`, `startsWith.ts`, `latency.ts`, `cost.ts`).
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.dialects.export.target import CaseKey, Part
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import case_lists
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, is_template, unescape
from rubric_lint.text.path import Path

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"

MARKDOWN = "markdown"

OLDER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "input_messages": "input",
        "expected_messages": "expected_output",
        "expected_outcome": "criteria",
    }
)
"""The fields of cases before AgentV 3, and their names since then."""

ASSERTION_LISTS = ("assertions", "assert", "evaluators")
"""The fields of a case that hold assertions; each also below `execution`."""

_SHARED_BY_AGENTV = frozenset(
    {
        "metadata",
        "input_files",
        "conversation_id",
        "suite",
        "depends_on",
        "on_dependency_failure",
    }
)
CASE_FIELDS: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        (AGENTV_4, AGENTV_4): _SHARED_BY_AGENTV | {"criteria", "vars", "workspace"},
        (AGENTV_4, AGENTV_5): _SHARED_BY_AGENTV | {"description"},
        (AGENTV_4, PROMPTFOO): frozenset({"description", "metadata"}),
        (AGENTV_5, AGENTV_4): _SHARED_BY_AGENTV,
        (AGENTV_5, AGENTV_5): _SHARED_BY_AGENTV | {"description", "provider", "providers", "environment", "options"},
        (AGENTV_5, PROMPTFOO): frozenset({"description", "metadata"}),
        (PROMPTFOO, AGENTV_4): frozenset({"metadata"}),
        (PROMPTFOO, AGENTV_5): frozenset({"description", "metadata"}),
        (PROMPTFOO, PROMPTFOO): frozenset({"description", "metadata", "options", "provider", "providers"}),
    }
)
"""The fields of a case, by source and target, that are copied with their names."""

_ABOUT = frozenset({"name", "description", "category", "version", "author", "tags", "license", "requires", "metadata"})
SUITE_FIELDS: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        (AGENTV_4, AGENTV_4): _ABOUT | {"input_files", "target", "workspace", "governance", "preprocessors"},
        (AGENTV_4, AGENTV_5): _ABOUT | {"input_files", "governance"},
        (AGENTV_4, PROMPTFOO): frozenset({"description"}),
        (AGENTV_5, AGENTV_4): _ABOUT | {"input_files", "governance"},
        (AGENTV_5, AGENTV_5): _ABOUT
        | {"input_files", "governance", "providers", "target", "targets", "environment", "evaluate_options"},
        (AGENTV_5, PROMPTFOO): frozenset({"description"}),
        (PROMPTFOO, AGENTV_4): frozenset({"description"}),
        (PROMPTFOO, AGENTV_5): frozenset({"description"}),
        (PROMPTFOO, PROMPTFOO): frozenset({"description", "providers", "targets", "env", "tags", "evaluateOptions"}),
    }
)
"""The fields of a suite, by source and target, that are copied with their names."""

SAME_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "contains": "value",
        "icontains": "value",
        "contains-any": "value",
        "contains-all": "value",
        "icontains-any": "value",
        "icontains-all": "value",
        "regex": "value",
        "is-json": "",
        "latency": "threshold",
        "cost": "budget",
    }
)
"""The assertions that mean the same everywhere, and the field that each needs, by AgentV's name; "" if none."""

LISTS_OF_VALUES = frozenset({"contains-any", "contains-all", "icontains-any", "icontains-all"})
"""The assertions whose value is a list of strings."""

OTHER_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "equals": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
        "starts-with": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
        "ends-with": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
    }
)
"""The assertions of the same name that mean different things in AgentV and promptfoo, with the difference."""

FIELD_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        AGENTV_4: {"label": "name", "budget": "budget"},
        AGENTV_5: {"label": "metric", "budget": "budget"},
        PROMPTFOO: {"label": "metric", "budget": "threshold"},
    }
)
"""The names of fields of assertions that differ."""

USUAL_THRESHOLD = 0.8
"""The average from which AgentV passes a test that says nothing else."""


class SuiteCase(NamedTuple):
    """A case: its fields by AgentV's names, and the assertions that are not rubrics.

    `sets` are the assertions that hold others, which may be rubrics, outer ones first. A field that is not in `fields`
    has no common name: it is in `others`. `called` is the name of a case without an `id`.
    """

    key: CaseKey
    fields: Mapping[str, Part]
    checks: tuple[Part, ...]
    others: tuple[Part, ...]
    names_rubrics: bool
    sets: tuple[Part, ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        """The name of the case, or its place."""
        own = self.fields.get("id")
        return str(own.value) if own else self.called or "/".join(map(str, self.key[1])) or str(self.key[0])


class Suite(NamedTuple):
    """A suite: the system that runs it, its own fields, and its cases in their order.

    `shared` are its fields with rubrics that count in every case.
    """

    system: str
    fields: Mapping[str, Part]
    others: tuple[Part, ...]
    cases: tuple[SuiteCase, ...]
    shared: tuple[Part, ...] = ()

    @property
    def is_template(self) -> bool:
        """Whether its strings are templates."""
        return self.system in {AGENTV_5, PROMPTFOO}

    def prompt(self) -> Any:
        """Return the only prompt, `{{ input }}` if none is written in a suite without templates; else None."""
        if not self.is_template:
            return "{{ input }}"
        prompts = self.fields["prompts"].value if "prompts" in self.fields else None
        prompts = [prompts] if isinstance(prompts, str) else prompts
        return prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else None


class _Found(NamedTuple):
    """A document and its rubrics."""

    document: Document
    rubrics: tuple[Rubric, ...]


def find_case(document: Document, path: Path) -> CaseKey | None:
    """Return the case that the path of a rubric is in; None if it is in none."""
    lists = _lists_of_cases()
    if isinstance(document.data, list) and path and isinstance(path[0], int):
        return document.number, path[:1]
    for end in range(len(path) - 1, 0, -1):
        if isinstance(path[end], int) and path[end - 1] in lists:
            return document.number, path[: end + 1]
    is_case = isinstance(document.data, dict) and document.number is not None
    return (document.number, ()) if is_case else None


def read_suite(documents: Iterable[Document], found: Iterable[tuple[Document, Rubric, bool]]) -> Suite | None:
    """Return what the documents of a file say beside their rubrics; None if they are no suite of ours or of AgentV's.

    promptfoo's files are suites too. `documents` are all of the file, with rubrics or without. A rubric that is not
    written as one, as its flag says, is an assertion like others.
    """
    read = {document.number: _Found(document, ()) for document in documents}
    dialects: set[str] = set()
    for document, rubric, is_written in found:
        known = read[document.number]
        read[document.number] = known._replace(rubrics=(*known.rubrics, rubric)) if is_written else known
        dialects.add(rubric.dialect)
    if not all(name in {"", "promptfoo"} or name.startswith("agentv") for name in dialects):
        return None
    templates = dialects & RENDERS
    system = PROMPTFOO if "promptfoo" in templates else AGENTV_5 if templates else AGENTV_4
    parts = [_read_document(each, system) for each in read.values()]
    cases = tuple(case for _, cases in parts for case in cases)
    if system == PROMPTFOO:
        cases = _name_cases(cases)
    if not cases:
        return None
    fields: dict[str, Part] = {}
    others: list[Part] = []
    for each, (own, _) in zip(read.values(), parts, strict=True):
        for name, written in own.items():
            part = written._replace(number=each.document.number)
            if name in fields or name.startswith("\0"):
                others.append(part)
            else:
                fields[name] = part
    shared = {
        Part(rubric.path[:1], None, each.document.number)
        for each in read.values()
        for rubric in each.rubrics
        if rubric.path[:1] in _SHARED and find_case(each.document, rubric.path) is None
    }
    return Suite(system, fields, tuple(others), cases, tuple(sorted(shared, key=str)))


_SHARED = {(name,) for name in ("execution", "default_test", "defaultTest", *ASSERTION_LISTS)}


def _name_cases(cases: tuple[SuiteCase, ...]) -> tuple[SuiteCase, ...]:
    """Name the cases of promptfoo by `metadata.id`, else by their descriptions, if these tell them apart."""
    read = [_read_name(case) for case in cases]
    names = [name for name, _ in read if name]
    return tuple(
        named if name and names.count(name) == 1 else case for case, (name, named) in zip(cases, read, strict=True)
    )


def _read_name(case: SuiteCase) -> tuple[str, SuiteCase]:
    """Return the name of a case, and the case with that as its `id`."""
    fields = dict(case.fields)
    metadata, described = fields.get("metadata"), fields.get("description")
    if metadata and isinstance(metadata.value, dict) and isinstance(metadata.value.get("id"), str):
        rest = {name: value for name, value in metadata.value.items() if name != "id"}
        name, place = metadata.value["id"], Part((*metadata.path, "id"), metadata.value["id"])
        fields["metadata"] = metadata._replace(value=rest)
        if not rest:
            del fields["metadata"]
    elif described and isinstance(described.value, str):
        name, place = described.value, fields.pop("description")
    else:
        return "", case
    if is_template(name) or not name.strip() or not name.isprintable():
        return "", case
    return name, case._replace(fields={"id": place._replace(value=unescape(name)), **fields})


def _read_document(found: _Found, system: str) -> tuple[dict[str, Part], list[SuiteCase]]:
    document, data = found.document, found.document.data
    taken = set(_find_taken(found))
    keys = {key for rubric in found.rubrics if (key := find_case(document, rubric.path))}
    if document.kind.is_program or data is None:
        return {}, []
    own: dict[str, Part] = {}
    if isinstance(data, list):
        keys |= {(document.number, (index,)) for index, case in enumerate(data) if isinstance(case, dict)}
        own |= {f"\0{index}": Part((index,), case) for index, case in enumerate(data) if not isinstance(case, dict)}
    elif not isinstance(data, dict):
        own["\0"] = Part((), data)
    elif not found.rubrics and _is_case(data):
        keys = {(document.number, ())}
    elif (document.number, ()) not in keys:
        inner, own = _read_whole(data, system, taken)
        keys |= {(document.number, path) for path in inner}
    cases = [_read_case(document, key, system, taken) for key in sorted(keys, key=lambda key: _order(document, key))]
    return own, cases


def _read_whole(data: dict[str, Any], system: str, taken: set[Path]) -> tuple[set[Path], dict[str, Part]]:
    """Return the paths of the cases in a suite, and its own fields."""
    keys: set[Path] = set()
    own: dict[str, Part] = {}
    lists = _lists_of_cases()
    for name in lists & data.keys():
        if isinstance(data[name], list):
            for index, case in enumerate(data[name]):
                if isinstance(case, dict):
                    keys.add((name, index))
                else:
                    own[f"\0{name}/{index}"] = Part((name, index), case)
        else:
            own[f"\0{name}"] = Part((name,), data[name])
    for index, (name, part) in enumerate(_read_fields(data, (), system, taken, lists | {"$schema"})):
        own[f"\0{index}" if name.startswith("\0") or name in own else name] = part
    return keys, own


def _is_case(data: dict[str, Any]) -> bool:
    """Return whether a document without rubrics is a case by itself: it has an input or assertions, and no cases."""
    return data.keys().isdisjoint(_lists_of_cases()) and not data.keys().isdisjoint(_OF_CASES)


_OF_CASES = frozenset({"input", "input_messages", "vars", "criteria", "expected_output", *ASSERTION_LISTS})


def _order(document: Document, key: CaseKey) -> int:
    return document.span(key[1]).start


def _read_case(document: Document, key: CaseKey, system: str, taken: set[Path]) -> SuiteCase:
    fields: dict[str, Part] = {}
    others: list[Part] = []
    checks: list[Part] = []
    sets: list[Part] = []
    for name, part in _read_fields(document.value(key[1]), key[1], system, taken, frozenset()):
        if name == "\0check":
            checks.append(part)
        elif name == "\0set":
            sets.append(part)
        elif name.startswith("\0") or name in fields:
            others.append(part)
        else:
            fields[name] = part
    return SuiteCase(key, fields, tuple(checks), tuple(others), _holds(key[1], taken), tuple(sets))


def _read_fields(
    mapping: dict[str, Any], path: Path, system: str, taken: set[Path], known: frozenset[str]
) -> Iterator[tuple[str, Part]]:
    """Read the fields of a case or a suite: those without a common name begin with a NUL."""
    for name, value in mapping.items():
        part = Part((*path, name), value)
        if name in known or part.path in taken:
            continue
        if name in ASSERTION_LISTS:
            yield from _read_checks(part, taken)
        elif isinstance(value, dict) and (name, system) in _HOLDERS:
            yield from _read_holder(part, "execution." if name == "execution" else "\0", taken)
        elif name == "vars" and isinstance(value, dict):
            yield from ((f"vars.{inner}", Part((*part.path, inner), each)) for inner, each in value.items())
        elif _holds(part.path, taken):
            yield from (("\0inner", each) for each in _rest(part, taken))
        else:
            yield (OLDER_WORDS.get(name, name) if system == AGENTV_4 and path else name), part


_HOLDERS = {("execution", AGENTV_4), ("defaultTest", PROMPTFOO)}


def _read_holder(holder: Part, prefix: str, taken: set[Path]) -> Iterator[tuple[str, Part]]:
    """Read a mapping that holds assertions and the threshold beside other fields."""
    for name, value in holder.value.items():
        part = Part((*holder.path, name), value)
        if name in ASSERTION_LISTS:
            yield from _read_checks(part, taken)
        elif part.path not in taken:
            yield ("threshold" if name == "threshold" else f"{prefix}{name}"), part


def _holds(path: Path, taken: set[Path]) -> bool:
    return any(each[: len(path)] == path for each in taken)


def _rest(part: Part, taken: set[Path]) -> Iterator[Part]:
    """Find what is beside the rubrics somewhere below a field."""
    inner = part.value.items() if isinstance(part.value, dict) else enumerate(part.value)
    for step, value in inner:
        place = Part((*part.path, step), value)
        if place.path in taken:
            continue
        if _holds(place.path, taken):
            yield from _rest(place, taken)
        else:
            yield place


def _read_checks(part: Part, taken: set[Path]) -> Iterator[tuple[str, Part]]:
    """Read the assertions of a list that are not rubrics, or not of one."""
    if part.path in taken:
        return
    if not isinstance(part.value, list):
        yield "\0list", part
        return
    for index, item in enumerate(part.value):
        place = (*part.path, index)
        if place in taken:
            continue
        inner = next((name for name in ASSERTION_LISTS if isinstance(item, dict) and name in item), "")
        if _holds(place, taken) and inner:
            yield "\0set", Part(place, item)
            yield from _read_checks(Part((*place, inner), item[inner]), taken)
        elif _holds(place, taken):
            yield from (("\0inner", each) for each in _rest(Part(place, item), taken))
        else:
            yield "\0check", Part(place, item)


def _find_taken(found: _Found) -> Iterator[Path]:
    """Find the paths of what the rubrics are, with the assertions that hold them."""
    for rubric in found.rubrics:
        view = rubric.view
        if view and view.around:
            yield from (view.place(entry.path) for entry in rubric.entries)
            continue
        path = view.path if view else rubric.path
        yield path
        ends = (end for end in range(len(path) - 1, 1, -1) if isinstance(path[end - 1], int))
        end = next((end for end in ends if path[end - 2] in ASSERTION_LISTS), 0)
        if end:
            yield path[:end]


def _lists_of_cases() -> frozenset[str]:
    return case_lists() - set(ASSERTION_LISTS) - {"rubrics"}
