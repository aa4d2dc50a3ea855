"""Convert suites of AgentV to a release as plain data; the writer puts the new data into the text.

What the release cannot have is found in the suite before it changes, by `find_blockers`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import getitem
from typing import Any

from rubric_lint.formats.agentv import suite_4 as agentv_4_suite
from rubric_lint.formats.agentv import suite_5 as checks
from rubric_lint.formats.agentv.parts import (
    OLD_CASES,
    Blocker,
    find_assertion_lists,
    find_assertions,
    find_suite_cases,
    find_unloaded,
    is_suite,
)
from rubric_lint.formats.agentv.releases import RELEASES, Release
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS, CASES, OLD_FIELDS
from rubric_lint.formats.agentv.unconvertible import find_unconvertible, names_in
from rubric_lint.model.criterion import HIGHEST, Criterion, Shape
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.suggest import suggest
from rubric_lint.source.document import Document
from rubric_lint.source.edits.alias_graph import AliasGraph
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.nunjucks import escape, find_environment, find_marks
from rubric_lint.source.patch import drop, in_brackets, like, plain, put, rename, track, written
from rubric_lint.source.patch.tracked import find_origin
from rubric_lint.source.path import Part, Path, find_strings
from rubric_lint.source.scalar import resolve
from rubric_lint.source.tree import AliasNode, items_of, walk_nodes

SCALE = "overall"
"""The id of the criterion that a holistic scale becomes."""
RELEASE_CHECKS = {"agentv-4": agentv_4_suite, "agentv-5": checks}
"""The module that knows what is of each release."""


def find_unread_parts(document: Document, target: Release) -> Iterator[Blocker]:
    """Find what a release refuses, skips or never reads of a suite, without converting it."""
    yield from (blocker for blocker in find_unloaded(document, target) if not blocker.is_note)
    yield from RELEASE_CHECKS[target.name].find_gaps(document)


def find_blockers(document: Document, rubrics: Sequence[Rubric], target: Release) -> Iterator[Blocker]:
    """Find what keeps a document from being converted, with its place; `rubrics` are those in the document."""
    newer = [rubric.path for rubric in rubrics if rubric.is_version_3]
    if newer:
        command = suggest("convert", document.source.name, to=target.name)
        yield Blocker("version-3", newer[0], values={"command": command})
        return
    cases = dict(find_suite_cases(document))
    for rubric in rubrics:
        yield from find_unconvertible(document, rubric, target, cases)
    read = {rubric.path for rubric in rubrics}
    for path, case in cases.items():
        place = (*path, "rubrics")
        if isinstance(case.get("rubrics"), list) and place not in read:
            yield Blocker("no-criteria", place)
    for _, owner, key, *_ in document.duplicates:
        yield Blocker("written-twice", (*owner, key), values={"field": key})
    yield from RELEASE_CHECKS[target.name].find_obstacles(document)


@dataclass(frozen=True)
class Converted:
    """The data of a document for a release.

    `blockers` are the parts that an alias repeats and that would change, and a field that would replace another.
    """

    document: Document
    data: Any
    blockers: tuple[Blocker, ...]


def convert(document: Document, rubrics: list[Rubric], target: Release) -> Converted:
    """Return the data of a suite, a file of cases or a template for a release.

    `rubrics` are those in the document, which must have no blockers.
    """
    data = track(document)
    shared = list(_find_shared(document, data))
    kind = _ToFive if target.name == "agentv-5" else _ToFour
    try:
        kind(document, data, target).run(rubrics)
    except _CollisionError as collision:
        return Converted(document, data, (collision.blocker,))
    changed = [path for path, value, before in shared if plain(value) != before]
    return Converted(document, data, tuple(_make_blocker(document, path) for path in changed))


def _find_shared(document: Document, data: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the collections that an alias repeats: the path, the tracked value, and the data before any change."""
    targets = {node.target for node in walk_nodes(document.root) if type(node) is AliasNode}
    for path in sorted((document.paths[target] for target in targets if target in document.paths), key=len):
        value = at_path(data, path)
        yield path, value, plain(value)


def _make_blocker(document: Document, path: Path) -> Blocker:
    """Return why a collection that an alias repeats is not changed."""
    try:
        AliasGraph(document).check_alone(path)
    except ObstacleError as obstacle:
        return Blocker("obstacle", path, Part.VALUE, {"reason": obstacle})
    raise AssertionError(path)


def at_path(data: Any, path: Path) -> Any:
    """Return the value at a path."""
    return reduce(getitem, path, data)


class _CollisionError(Exception):
    """There is a field already under the name that another one would get."""

    def __init__(self, mapping: dict[str, Any], field: str, name: str) -> None:
        super().__init__(field, name)
        origin = find_origin(mapping)
        path: Path = () if origin is None else origin.path
        if origin is not None and field in origin.values:
            path = (*origin.path, field)
        self.blocker = Blocker("field-taken", path, values={"field": name})


def name_anew(mapping: dict[str, Any], names: dict[str, str]) -> None:
    """Rename fields of a mapping, if they are there; each keeps its place.

    Raises:
        _CollisionError: if there is a field with the new name, as one of the two would be lost.
    """
    for old, new in names.items():
        if old in mapping and new in mapping and new != old:
            raise _CollisionError(mapping, old, new)
    rename(mapping, names)


def add(mapping: dict[str, Any], at: str | None, name: str, value: Any) -> None:
    """Put a field above the one with the name `at`, or at the end; raise _CollisionError if there is one already."""
    if name in mapping:
        raise _CollisionError(mapping, name, name)
    put(mapping, at, name, value)


class _Conversion(ABC):
    """The conversion of one document: its tracked data, and the parts of it before they move."""

    def __init__(self, document: Document, data: Any, target: Release) -> None:
        self.data = data
        self.target = target
        self.suite: dict[str, Any] = data if is_suite(document) else {}
        self.cases: list[dict[str, Any]] = [at_path(data, path) for path, _ in find_suite_cases(document)]
        self.has_cases = {path[0] for path, _ in find_suite_cases(document) if path}
        self.has_cases |= {name for name in OLD_CASES if isinstance(self.suite.get(name), str)}  # the name of a file
        tasks = checks.list_tasks(document)
        self.assertions: list[tuple[dict[str, Any], Any]] = [
            (at_path(data, path), checks.find_task(tasks, path)) for path, _ in find_assertions(document)
        ]

    def run(self, rubrics: list[Rubric]) -> None:
        """Convert criteria first, then the lists that hold them, then what is around."""
        places = [(rubric, at_path(self.data, rubric.path[:-1])) for rubric in rubrics]
        criteria = [(rubric, [self._find_criterion(rubric, entry) for entry in rubric.entries]) for rubric in rubrics]
        for rubric, owners in criteria:
            for entry, (owner, step) in zip(rubric.entries, owners, strict=True):
                convert_criterion(rubric, entry, owner, step, self.target)
        for rubric, owner in places:
            move_rubric(rubric, owner, self.target)
        self.convert_suite()
        name_anew(self.suite, {name: CASES for name in OLD_CASES if name in self.has_cases and CASES not in self.suite})

    @abstractmethod
    def convert_suite(self) -> None:
        """Convert what is around the criteria."""

    def _find_criterion(self, rubric: Rubric, entry: Criterion) -> tuple[Any, Any]:
        path = rubric.place(entry.path)
        return (at_path(self.data, path[:-1]), path[-1]) if path else ({}, "")


class _ToFour(_Conversion):
    """The conversion of a suite before AgentV 4."""

    def __init__(self, document: Document, data: Any, target: Release) -> None:
        super().__init__(document, data, target)
        self.owners = [
            at_path(data, path[:-1]) for path, _ in find_assertion_lists(document) if path[-2:-1] != ("execution",)
        ]

    def convert_suite(self) -> None:
        """Give tests, their first list of assertions, scripts and judges the names of AgentV 4."""
        for case in self.cases:
            rename_fields(case)
            quote_messages_of(case)
        for owner in self.owners:
            if "assertions" not in owner and {*ASSERTION_LISTS}.isdisjoint(names_in(owner, "execution")):
                first = next((name for name in ASSERTION_LISTS if name in owner), "")
                name_anew(owner, {first: "assertions"})
        for assertion, _ in self.assertions:
            if assertion["type"] in agentv_4_suite.SCRIPTS:
                assertion["type"] = like(assertion["type"], "code-grader")
                name_anew(assertion, {"script": "command"})
            elif assertion["type"] in agentv_4_suite.JUDGES:
                assertion["type"] = like(assertion["type"], "llm-grader")


class _ToFive(_Conversion):
    """The conversion of a suite before AgentV 5."""

    def __init__(self, document: Document, data: Any, target: Release) -> None:
        super().__init__(document, data, target)
        self.turns = [turn for case in self.cases for turn in mappings(case.get("turns"))]
        self.has_prompts = "prompts" in self.suite
        self.judged = {id(case) for case in self.cases if checks.is_judged(case)}
        self.variables = {
            id(case): set(case["vars"])
            for case in self.cases
            if checks.has_escapes(case) and isinstance(case.get("vars"), dict)
        }

    def convert_suite(self) -> None:
        self._convert_settings()
        for assertion, task in self.assertions:
            convert_assertion(assertion, task)
        for case in self.cases:
            self._convert_case(case, is_judged=id(case) in self.judged)
        for owner in [self.data, *self.turns, self.suite.get("default_test")]:
            name_list(owner)
        escape_environment(self.data, self.variables)
        has_input = any("input" in names_in(case, "vars") for case in self.cases)
        if self.suite and has_input:
            drop(self.suite, "input", "input_files")  # each test has them now
        if self.suite and has_input and not self.has_prompts:
            at = next(name for name in self.suite if name in self.has_cases)
            add(self.suite, at, "prompts", in_brackets(["{{ input }}"]))

    def _convert_settings(self) -> None:
        """Put the settings of a run where AgentV 5 has them."""
        suite = self.suite
        if isinstance(suite.get("execution"), dict):
            lift(suite, "execution")
        if isinstance(suite.get("experiment"), str) and "tags" not in suite:
            wrap(suite, "experiment", "tags")
        for name in ("target", "targets"):
            if name == "target" and isinstance(suite.get(name), str):
                suite[name] = in_brackets([suite[name]])
            name_anew(suite, {name: "providers"})
        trials: Any = suite.get("trials")
        # AgentV 5 repeats a test until one run passes, and has neither other strategies nor a limit of their cost.
        is_known = isinstance(trials, dict) and {"count"} <= trials.keys() <= {"count", "strategy"}
        if is_known and trials.get("strategy", "pass_at_k") == "pass_at_k":
            drop(trials, "strategy")
            name_anew(trials, {"count": "repeat"})
            name_anew(suite, {"trials": "evaluate_options"})
        options = {"workers": "max_concurrency", "budget_usd": "budget_usd"}
        for name, new in options.items():
            if name in suite and isinstance(suite.get("evaluate_options"), dict):
                add(suite["evaluate_options"], None, new, suite.pop(name))
            elif name in suite:
                wrap(suite, name, "evaluate_options", new)

    def _convert_case(self, case: dict[str, Any], *, is_judged: bool) -> None:
        lift_lists(case)
        rename_fields(case)
        shared: dict[str, Any] = {
            name: plain(self.suite[name]) for name in ("input", "input_files") if name in self.suite
        }
        messages = checks.gather_input(shared, case) if "input" in case else None
        if messages:
            case["input"] = messages
            drop(case, "input_files")
        quote_messages_of(case)
        self._escape_case(case)
        if is_judged and self.suite:
            name_anew(case, {"criteria": "description"})
        name_list(case)
        if "rubrics" in case:
            case["rubrics"] += case.pop("assert", [])
            name_anew(case, {"rubrics": "assert"})
        if self.suite:
            move_to_variables(case, "input")
            move_to_variables(case, "expected_output")

    def _escape_case(self, case: dict[str, Any]) -> None:
        """Escape the texts that AgentV 5 renders as templates and that are none in earlier releases."""
        if not self.suite:
            return
        has_escapes = checks.has_escapes(case)
        for name in checks.list_rendered(self.suite, case):
            if name == "execution":  # its lists are in the test now, and AgentV 5 renders nothing else in it
                continue
            for path, text in list(find_strings((name,), case[name])):
                if not checks.is_filled_alike(case, name, text):
                    replace_string(case, path, str(escape(text, has_escapes=has_escapes, marks="all")))


def move_rubric(rubric: Rubric, owner: Any, target: Release) -> None:
    """Put a list of criteria where the release reads it."""
    path = rubric.path
    if not path or (rubric.view and rubric.view.definition) or path[-1] in ASSERTION_LISTS:
        return
    field = str(path[-1])
    if rubric.shape is Shape.HOLISTIC and rubric.view is None:
        for band in mappings(owner[field]):
            name_outcome(band)
        owner[field] = [{"id": SCALE, "score_ranges": owner[field]}]
    if path[-3:-2] and path[-3] in ASSERTION_LISTS:
        kind = target.kinds[owner["type"]]
        if owner["type"] != kind:
            owner["type"] = like(owner["type"], kind)
        name_anew(owner, {field: target.name_field(kind)})
        return
    is_beside = not {*ASSERTION_LISTS}.isdisjoint([*owner, *names_in(owner, "execution")])
    if not (is_beside and target.reads_both):
        # Beside other assertions it keeps its name until the two lists are joined.
        owner[field] = [{"type": target.kind, target.criteria: owner[field]}]
        name = "rubrics" if is_beside else target.assertions
        name_anew(owner, {field: name})


def convert_criterion(rubric: Rubric, entry: Criterion, owner: Any, step: Any, target: Release) -> None:
    """Give a criterion the fields that AgentV has since version 4.7."""
    if rubric.shape is Shape.HOLISTIC or (rubric.view and rubric.view.definition):
        return
    fields = owner[step]
    if not isinstance(fields, dict):
        if entry.gate is None and not rubric.dialect:
            owner[step] = {"id": entry.id, "outcome": fields, "required": False}
        return
    name_outcome(fields)
    for band in mappings(fields.get("score_ranges")):
        name_outcome(band)
    if "score_ranges" in fields:
        # Where `required: true` is a gate already, nothing needs another form.
        is_read = target.has_full_gates and rubric.dialect in target.dialects
        if not is_read or "required_min_score" in fields:
            convert_gate_of_bands(entry, fields)
        return
    if "required_min_score" in fields and entry.gate_path[-1] != "required_min_score":
        drop(fields, "required_min_score")
    elif "required_min_score" in fields:
        fields["required_min_score"] = bool(entry.gate)
        drop(fields, "required")
        name_anew(fields, {"required_min_score": "required"})
    elif "required" not in fields and not entry.gate:
        fields["required"] = False


def name_outcome(fields: dict[str, Any]) -> None:
    """Name the text of a criterion or band as AgentV does."""
    name_anew(fields, dict.fromkeys(("expected_outcome", "description", "criteria"), "outcome"))


def convert_gate_of_bands(entry: Criterion, fields: dict[str, Any]) -> None:
    """Write the gate of bands as a share of 10; `required: true`, which AgentV 5 does not read, is 1."""
    old = [name for name in ("required", "required_min_score") if name in fields]
    kept = [] if "min_score" in fields or not entry.gate else old[-1:]
    drop(fields, *(name for name in old if name not in kept))
    for name in kept:
        fields[name] = resolve(f"{Decimal(entry.gate or 0) / HIGHEST:f}")
        name_anew(fields, {name: "min_score"})


def convert_assertion(assertion: dict[str, Any], task: Any) -> None:
    """Give an assertion the type and the fields of AgentV 5; `task` are the `criteria` of its test."""
    name_list(assertion)
    kind = convert_kind(assertion, str(assertion["type"]), task)
    assertion["type"] = like(assertion["type"], kind)
    name_anew(assertion, checks.LABELS)
    required = assertion.get("required")
    is_share = isinstance(required, int | float) and not isinstance(required, bool) and 0 < required <= 1
    if is_share and "min_score" not in assertion:
        add(assertion, "required", "min_score", plain(required))
        assertion["required"] = True


def convert_kind(assertion: dict[str, Any], kind: str, task: Any) -> str:
    """Give an assertion of AgentV 4 the fields of its successor, and return the type of that."""
    known = RELEASES["agentv-5"].types
    if kind == checks.COMPOSITE:
        weigh_members(assertion["assert"], assertion.pop("aggregator").get("weights", {}))
        return "assert-set"
    if kind in checks.SCRIPTS:
        name_anew(assertion, {"script": "command"})
        return "script"
    if kind in checks.JUDGES:
        if checks.needs_value(assertion):
            add(assertion, "type", "value", task)
        return checks.JUDGES[kind]
    if kind == checks.SKILL:
        name_anew(assertion, {"skill": "value"})
        return "skill-used" if assertion.pop("should_trigger", True) else "not-skill-used"
    trajectory = checks.read_trajectory(assertion) if kind in checks.TRAJECTORIES else None
    if trajectory is not None:
        kind, name, value = trajectory
        add(assertion, "mode", name, plain(value))
        drop(assertion, "minimums", "expected", "mode")
    is_old_spelling = kind not in known and kind.replace("_", "-") in known
    return kind.replace("_", "-") if is_old_spelling else kind


def weigh_members(members: list[dict[str, Any]], weights: dict[str, Any]) -> None:
    """Give each member of a composite the weight that the aggregator has for its name."""
    for member in members:
        name = member.get("name", member.get("metric"))
        if name in weights:
            add(member, "type", "weight", weights[name])


def lift_lists(case: dict[str, Any]) -> None:
    """Put the assertions of a test's `execution` one level up."""
    execution = case.get("execution")
    if not isinstance(execution, dict):
        return
    lists = [name for name in ASSERTION_LISTS if name in execution]
    if lists and len(lists) == len(execution):
        lift(case, "execution")
    else:
        for name in lists:
            add(case, None, name, execution.pop(name))


def move_to_variables(case: dict[str, Any], name: str) -> None:
    """Put a field of a test into its variables."""
    if name in case and case.get("vars"):
        add(case["vars"], None, name, case.pop(name))
    elif name in case:
        drop(case, "vars")
        wrap(case, name, "vars")


def lift(owner: dict[str, Any], name: str) -> None:
    """Put the fields of a mapping in its place."""
    inner = owner[name]
    for key, value in inner.items():
        add(owner, name, key, value)
    drop(owner, name)


def wrap(owner: dict[str, Any], name: str, outer: str, inner: str = "") -> None:
    """Put a field into a new mapping in its place."""
    add(owner, name, outer, {inner or name: owner[name]})
    drop(owner, name)


def replace_string(data: Any, path: Path, text: str) -> None:
    """Write another string at a path, in the place of the one that is there."""
    owner, step = at_path(data, path[:-1]), path[-1]
    if owner[step] != text:
        owner[step] = like(owner[step], text)


def escape_environment(value: Any, variables: dict[int, set[str]], names: frozenset[str] = frozenset()) -> None:
    """Write the variables of the environment as AgentV 5 does, except where a name is one of the test's own."""
    if not isinstance(value, dict | list):
        return
    names = names | variables.get(id(value), frozenset())
    for step, child in list(items_of(value)):
        if not isinstance(child, str):
            escape_environment(child, variables, names)
        elif find_marks(child, marks="env") and not find_environment(child) & names:
            replace_string(value, (step,), escape(child, marks="env"))


def name_list(owner: Any) -> None:
    """Name the list of assertions of a suite, a test, a turn or a set as AgentV 5 does."""
    if isinstance(owner, dict) and "assert" not in owner:
        name_anew(owner, {name: "assert" for name in ASSERTION_LISTS if isinstance(owner.get(name), list)})


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the mappings in a list; none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def rename_fields(case: dict[str, Any]) -> None:
    """Name the fields of a test as AgentV does since version 3."""
    name_anew(case, {old: new for old, new in OLD_FIELDS.items() if new not in case})


def quote_messages_of(case: dict[str, Any]) -> None:
    """Quote the texts of messages in a test that are numbers or booleans."""
    values = [case.get("input"), case.get("expected_output")]
    if isinstance(case.get("vars"), dict):
        values += case["vars"].values()
    for value in values:
        for message in mappings(value):
            if "role" in message and isinstance(message.get("content"), bool | int | float):
                message["content"] = like(message["content"], written(message["content"]))
