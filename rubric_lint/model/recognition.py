"""Recognise rubrics of our format by their shape, apart from what other tools mean by the same words."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

from rubric_lint.model.criterion import is_number, looks_like_bands, read_key
from rubric_lint.model.messages import find_near
from rubric_lint.model.schema import case_lists, schema_for, suite_fields, suite_lists
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path
from rubric_lint.source.tree import walk_mappings
from rubric_lint.source.values import as_mapping

FIELD = "rubrics"
"""The field that contains a rubric."""

CRITERIA = "criteria"
"""The field that contains the criteria of a rubric or a group of version 3."""

OF_WHOLE = frozenset({"scale", "pass_threshold", "borderline_threshold", "critical_failures"})
"""The fields of a rubric of version 3 that mean nothing else, and so are a slip around `rubrics`."""

PLAIN = frozenset({FIELD, "$schema", "name", "title", "description", "task", "version"})
"""What says nothing about scores around our rubrics."""

_ABOUT_RUNS = ("execution", "requires", "metadata", "governance")
KNOWN_IN_SUITES = frozenset(
    ("threshold", "negate", "required", "min_score", "weight", "aggregator", "target", *_ABOUT_RUNS)
)
"""What is read elsewhere, is about the run, or bears on other scores than that of a rubric."""

KNOWN_IN_GRADERS = KNOWN_IN_SUITES - {"threshold"}
"""The same of the assertion that has the criteria: a threshold there would be the pass mark of this rubric."""

KNOWN_IN_TESTS = KNOWN_IN_SUITES - {"min_score"}
"""The same of a test and of a suite, whose pass mark is their `threshold`."""

_PLAIN_IN_SUITES = (
    PLAIN
    | KNOWN_IN_TESTS
    | frozenset(
        """
    tests cases evalcases eval_cases assert assertions evaluators criteria rubrics id input inputs input_messages
    expected_output expected_messages expected_outcome question prompt vars prompts providers provider type metric
    tags context messages conversation_id conversations evals execution workspace category dataset
    """.split()  # noqa: SIM905 (it reads better)
    )
)
_PLAIN_IN_EXECUTION = frozenset(("target", "targets", "workers", "cache", "evaluators", "assert", "assertions"))

_OUTCOME = "outcome"


class Around(NamedTuple):
    """What stands around a rubric: the threshold of its suite with its place, and what may decide but is not read.

    Each of `doubts` is a place with the reason. With `is_gate`, only the assertion has the threshold, and the pass mark
    of the settings holds too: the higher one counts.
    """

    threshold: Decimal | None = None
    threshold_path: Path | None = None
    doubts: tuple[tuple[Path, str], ...] = ()
    is_gate: bool = False

    def without(self, places: Collection[Path]) -> "Around":
        """Return this without the doubts at some places, of which other findings are."""
        return self._replace(doubts=tuple(doubt for doubt in self.doubts if doubt[0] not in places))


NOTHING_AROUND = Around()


def has_own_words(text: str) -> bool:
    """Return whether a text contains a field name that no other tool uses."""
    if not any(word in text for word in _own_words()):
        return False
    return re.search(rf"\b(?:{'|'.join(_own_words())})\b", text) is not None


@cache
def _own_words() -> list[str]:
    return [name for name, when in schema_for().distinctive.items() if when == "always" and "_" in name]


def is_ours(value: Any, owner: Path) -> bool:
    """Return whether the value of a field `rubrics` in the mapping at `owner` is unmistakably a rubric."""
    if type(value) is list:
        if is_holder(owner) and any(type(entry) is str for entry in value):
            return True  # also if an item is not a string: `- States: it` is a mapping only by accident
        items = [entry for entry in value if type(entry) is dict]
        if any(map(_proves, items)):
            return True
        if any(map(_is_first_version, items)) and (is_holder(owner) or _are_judged(items, owner)):
            return True
        nested = chain.from_iterable(entry for entry in value if type(entry) is list)
        return any(type(item) is dict and _proves(item) for item in nested)
    if type(value) is dict:  # a forgotten dash, or criteria by name: wrong, but unmistakably meant as a rubric
        entries = (entry for entry in value.values() if type(entry) is dict)
        return _proves(value) or any(map(_has_own_field, entries))  # other formats have levels by name
    return False


def _proves(entry: Mapping[str, Any]) -> bool:
    """Return whether a criterion is ours wherever it is.

    Courses have ranges and numbered levels too, but with fields of their own, such as `title` or `points`.
    """
    if _has_own_field(entry):
        return True
    return has_distinctive_field(entry) and all(may_be_ours(field) or _OUTCOME in field for field in entry)


def _are_judged(entries: Iterable[Mapping[str, Any]], owner: Path) -> bool:
    """Return whether the descriptions of entries may say what is judged: some have more than one word.

    The sections of a newspaper and the categories of a shop have the same fields. Of the rubrics of a course, people
    judge by each.
    """
    texts = [entry["description"] for entry in entries if "description" in entry]
    are_words = all(
        isinstance(text, str) and len(text.split()) == 1 and text.lower() != text.upper() and not text.isupper()
        for text in texts
    )
    return not are_words and _OF_TEACHING.isdisjoint(owner)


_OF_TEACHING = frozenset({"assignments", "courses", "exams", "homeworks", "students"})


def _has_own_field(entry: Mapping[str, Any]) -> bool:
    telling = schema_for().distinctive
    return any(telling.get(field) == "always" for field in entry)


def holds_only_ours(value: Any) -> bool:
    """Return whether a value lists criteria with a field that only this format has, and none of another one."""
    return type(value) is list and any(
        type(entry) is dict and has_distinctive_field(entry) and all(map(may_be_ours, entry)) for entry in value
    )


def is_holder(path: Path) -> bool:
    """Return whether the mapping at `path` is a case or an evaluator of a suite."""
    return len(path) >= 2 and path[-2] in case_lists()


def repeat_in_cases(document: Document) -> Document:
    """Return the same document whose `mappings` have what aliases repeat at its places in cases; see `find_places`."""
    return document.with_mappings(find_places(document.data)) if document.has_aliases else document


def find_places(data: Any) -> list[tuple[Path, dict[str, Any]]]:
    """Return the mappings of data in order, each with its path: one that aliases repeat with that of each case.

    This is for evaluators and what leads to rubrics; all else is once, where it is first. What is only defined for
    cases, below a top-level field that suites do not have, is not there too.
    """
    leading = _find_leading(data)
    found: list[tuple[Path, dict[str, Any], int]] = []
    known, seen = set[int](), set[tuple[int, int, bool]]()
    stack: list[tuple[Path, Any, int]] = [((), data, 0)]
    while stack:
        path, value, case = stack.pop()
        if is_listed(path) or (is_holder(path) and path[-2] in suite_lists("cases")):
            case = id(value)
        is_held = is_holder(path) or (bool(path) and path[-1] in case_lists())
        # Once in each case: aliases of aliases would double it again and again.
        if (case, id(value), is_held) in seen or (id(value) in known and not is_held and id(value) not in leading):
            continue
        seen.add((case, id(value), is_held))
        known.add(id(value))
        if type(value) is dict:
            found.append((path, value, case))
        below = value.items() if type(value) is dict else enumerate(value)
        children = [((*path, step), child, case) for step, child in below if type(child) is dict or type(child) is list]
        stack += reversed(children)
    holders = {(case, id(mapping)) for path, mapping, case in found if is_holder(path)}
    used = {id(mapping) for _, mapping, case in found if case}
    return [
        (path, mapping)
        for path, mapping, case in found
        if (is_holder(path) or (case, id(mapping)) not in holders)
        and (case or id(mapping) not in used or path[0] in _OF_SUITES or path[0] in suite_fields())
    ]


_OF_SUITES = ("default_test", "defaultTest")


def _find_leading(data: Any) -> set[int]:
    """Return the collections, by their identity, that hold cases, evaluators or rubrics at any depth."""
    wanted = case_lists() | {FIELD}
    owners: dict[int, list[int]] = {}
    leading: set[int] = set()
    stack = [data]
    while stack:
        value = stack.pop()
        is_mapping = type(value) is dict
        if is_mapping and not wanted.isdisjoint(value):
            leading.add(id(value))
        children = value.values() if is_mapping else value
        for child in children:
            if type(child) is dict or type(child) is list:
                if id(child) not in owners:
                    stack.append(child)
                owners.setdefault(id(child), []).append(id(value))
    pending = list(leading)
    while pending:
        above = [owner for owner in owners.get(pending.pop(), ()) if owner not in leading]
        leading.update(above)
        pending += above
    return leading


def has_distinctive_field(entry: Mapping[str, Any]) -> bool:
    """Return whether a criterion has a field that only this format has."""
    return any(
        field in entry and _IS_DISTINCTIVE[when](entry[field]) for field, when in schema_for().distinctive.items()
    )


def _has_levels(value: Any) -> bool:
    """Return whether a value of `levels` has our levels; names and points alone are a course rubric's."""
    if type(value) is dict:
        return any(read_key(key) is not None and type(outcome) is str for key, outcome in value.items())
    return type(value) is list and any(
        type(level) is dict and (type(level.get("level")) is int or "expected_outcome" in level) for level in value
    )


# Whether the value of a field with this `x-distinctive` is proof.
_IS_DISTINCTIVE: dict[str, Callable[[Any], bool]] = {
    "always": lambda _: True,
    "list of numbers": lambda value: type(value) is list and bool(value) and all(map(is_number, value)),
    "levels": _has_levels,
}


def _is_first_version(entry: Mapping[str, Any]) -> bool:
    identifier = entry.get("id")
    if "description" not in entry or not (isinstance(identifier, str) or entry.keys() & {"weight", "required"}):
        return False
    return not is_number(identifier) and all(map(may_be_ours, entry))  # numbered entries come from a database


@lru_cache(maxsize=1 << 12)
def may_be_ours(field: str) -> bool:
    """Return whether a field is one of our criteria, or nearly."""
    known = schema_for().entry_fields
    gates: list[str] = known["required_min_score"]["x-synonyms"]
    return field in known or field in gates or len(find_near(field, known)) > 0


def is_foreign(data: Any, text: str, *, has_views: bool = False) -> bool:
    """Return whether a file named like a rubric file has the content of another tool.

    With `has_views`, it has rubrics of a dialect, so it is enough that most fields are not ours.
    """
    if has_own_words(text) or not isinstance(data, dict | list):
        return False
    entries = data.get(FIELD, data) if isinstance(data, dict) else data
    if entries is not data or isinstance(data, list):
        is_list = isinstance(entries, list) and bool(entries)
        return is_list and all(_is_foreign_entry(entry, is_doubtful=has_views) for entry in entries)
    is_known = any(find_near(key, (FIELD,)) or key in schema_for().entry_fields for key in data)
    return len(data) > 1 and not is_known and not any(FIELD in mapping for _, mapping in walk_mappings(data))


def is_description(data: Any) -> bool:
    """Return whether data is a JSON Schema, an OpenAPI document or a workflow, whose fields have any name."""
    if not isinstance(data, dict):
        return False
    jobs = data.get("jobs")
    is_workflow = isinstance(jobs, dict) and any(isinstance(job, dict) and "runs-on" in job for job in jobs.values())
    is_schema = "json-schema.org" in str(data.get("$schema", ""))
    return is_schema or "openapi" in data or "swagger" in data or is_workflow


def _is_foreign_entry(entry: Any, *, is_doubtful: bool) -> bool:
    """Return whether no field of an entry is nearly ours, or few are. A single field is a string with a colon in it."""
    if not isinstance(entry, dict) or len(entry) < 2 or has_distinctive_field(entry):
        return False
    known = sum(schema_for().knows(field) and not (field == "levels" and value) for field, value in entry.items())
    return 2 * known <= len(entry) and not _is_first_version(entry) if is_doubtful else known == 0


def is_place(owner: Path, *, in_suite: bool) -> bool:
    """Return whether the mapping at `owner` may contain rubrics: a case, an evaluator, or the defaults."""
    return is_holder(owner) or (in_suite and (owner in {(), ("defaults",)} or is_listed(owner)))


def is_listed(owner: Path) -> bool:
    """Return whether the mapping at `owner` is an entry of a file that is one list: in a suite of ours, a case."""
    return len(owner) == 1 and type(owner[0]) is int


def holds_texts(value: Any) -> bool:
    """Return whether a value in the place of a rubric lists strings that are criteria: no references to files."""
    return isinstance(value, list) and any(isinstance(entry, str) and not is_reference(entry) for entry in value)


_REFERENCE = r"\{\{|\$\{|://|\A\S*(?:[/$]|\.\S)\S*\Z"


def is_reference(text: str) -> bool:
    """Return whether a string in the place of a rubric is a template, an address or a path."""
    return re.search(_REFERENCE, text) is not None


def find_misspelt(value: Any, path: Path, *, of_agentv: bool) -> Iterator[tuple[Path, str]]:
    """Find the misspelt fields without which a value of `rubrics` would be a rubric, each with the right name."""
    known = schema_for().entry_fields
    wanted = tuple(name for name, field in known.items() if "x-distinctive" in field and "_" in name)
    if of_agentv:
        wanted = ("outcome", "score_ranges", "score_range", "min_score")
    if isinstance(value, dict):
        entries = [(path, value)]
    else:
        entries = [((*path, at), as_mapping(item)) for at, item in enumerate(value)]
    for place, entry in entries:
        for key, content in entry.items():
            targets = []
            if key == "score_range":
                targets = ["score_ranges"] if looks_like_bands(content) else []
            elif key not in known and key not in wanted:
                targets = find_near(key, wanted)
            if targets and targets[0] not in entry:
                yield (*place, key), targets[0]


def is_plain(mapping: Mapping[str, Any]) -> bool:
    """Return whether a suite, a test or an assertion says nothing that bears on the scores of the rubrics in it."""
    execution = mapping.get("execution")
    is_known = execution is None or (isinstance(execution, dict) and execution.keys() <= _PLAIN_IN_EXECUTION)
    names_criteria = isinstance(mapping.get("required"), list | dict)
    return is_known and not names_criteria and mapping.keys() <= _PLAIN_IN_SUITES
