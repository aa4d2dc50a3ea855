"""Rewrite the fields and places of criteria as AgentV 4 and 5 need them, and find the parts of any suite."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_lint.dialects.search.agentv_suites import (
    EVAL_FILES,
    EVALUATORS,
    TEMPLATES,
    find_mappings,
    find_read,
    find_unread,
    is_current,
    load_table,
    load_tables,
)
from rubric_lint.format.criterion import Shape
from rubric_lint.format.rubric import Rubric
from rubric_lint.messages import join_words, shorten
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

CASES = "tests"
OLD_CASES = ("evalcases", "eval_cases", "cases")
LISTS = EVALUATORS


class Unmet(NamedTuple):
    """Something that the target cannot express: the reason, and the place. With `is_note`, it only has to be told."""

    reason: str
    path: Path
    part: Part = Part.KEY
    is_note: bool = False


def is_suite(document: Document) -> bool:
    """Return whether a document is a suite with its cases, not a file of cases for one."""
    return isinstance(document.data, dict) and any(name in document.data for name in (CASES, *OLD_CASES, "scenarios"))


def is_template(document: Document) -> bool:
    """Return whether a document has only a list of assertions, as a template that suites include."""
    is_row = document.source.name.lower().endswith(".jsonl")
    has_list = isinstance(document.data, dict) and bool(document.data.keys() & {*LISTS})
    return has_list and not (is_suite(document) or is_row)


def is_of_agentv(document: Document) -> bool:
    """Return whether a suite is AgentV's, whatever it is judged by: its name, its fields or a whole case show it.

    A template is by its folder, and a file of cases by a whole case with assertions.
    """
    if not is_suite(document):
        rows = [case for _, case in find_suite_cases(document)]
        is_row = any(case.keys() >= {"id", "input"} and case.keys() & {"rubrics", *LISTS} for case in rows)
        is_row = is_row or any("id" in case and case.keys() & _NOT_OF_PROMPTFOO for case in rows)
        return is_row or (is_template(document) and TEMPLATES in document.source.name.replace("\\", "/").lower())
    if "defaultTest" in document.data:
        return False
    is_old = any(isinstance(document.data.get(name), list) for name in OLD_CASES[:2])
    kinds = {str(assertion["type"]) for _, assertion in find_assertions(document)}
    known = {kind for table in load_tables() for kind in (*table["types"], *table["unloaded"])}
    is_whole = any(
        case.keys() >= {"id", "input"} and case.keys() & (_NOT_OF_PROMPTFOO if "vars" in case else _JUDGED)
        for _, case in find_suite_cases(document)
        if not kinds or known & {*kinds, *(kind.replace("_", "-") for kind in kinds)}  # else it is of another tool
    )
    return is_old or is_whole or document.source.name.lower().endswith(EVAL_FILES) or is_current(document)


_NOT_OF_PROMPTFOO = {"assertions", "evaluators"}
_JUDGED = {"criteria", "expected_output", *LISTS}


def names_in(owner: Mapping[str, Any], field: str) -> Collection[str]:
    """Return the names of the fields in a mapping that a field of its owner holds; none in any other value."""
    held = owner.get(field)
    return held.keys() if isinstance(held, dict) else ()


def is_named(case: dict[str, Any]) -> bool:
    """Return whether a test has the `id` without which AgentV skips it: a string that is not empty."""
    return isinstance(case.get("id"), str) and case["id"] != ""


def find_suite_cases(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the cases of a suite, or of a file of cases: a list of them, or one JSON Lines record each."""
    data = document.data
    if isinstance(data, list):
        yield from find_mappings((), data)
    elif is_suite(document):
        for name in (CASES, *OLD_CASES):
            yield from find_mappings((name,), data.get(name))
    elif isinstance(data, dict) and document.source.name.lower().endswith(".jsonl"):
        yield (), data


def find_assertion_lists(document: Document) -> Iterator[tuple[Path, list[Any]]]:
    """Find the lists of assertions of a suite or a template, of cases and their turns, and those of sets in them."""
    owners: list[tuple[Path, dict[str, Any]]] = []
    if is_suite(document) or is_template(document):
        owners.append(((), document.data))
    for path, case in find_suite_cases(document):
        owners += [(path, case), *find_mappings((*path, "turns"), case.get("turns"))]
    for path, owner in list(owners):
        for name in ("execution", "default_test"):
            if isinstance(inner := owner.get(name), dict):
                owners.append(((*path, name), inner))
    pending = [((*path, name), owner[name]) for path, owner in owners for name in LISTS if name in owner]
    while pending:
        path, value = pending.pop(0)
        if isinstance(value, list):
            yield path, value
            for place, member in find_mappings(path, value):
                pending += [((*place, name), member[name]) for name in LISTS if name in member]


def find_assertions(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find all assertions that are mappings with a type."""
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if isinstance(assertion.get("type"), str):
                yield place, assertion


def find_other_files(document: Document) -> Iterator[Unmet]:
    """Find the cases and assertions that are in other files, of which nothing is rewritten."""
    data = document.data
    if is_suite(document):
        for name in (CASES, *OLD_CASES):
            value = data.get(name)
            named = [((name, at), case) for at, case in enumerate(value)] if isinstance(value, list) else []
            for path, text in [((name,), value), *named]:
                if isinstance(text, str):
                    yield Unmet(f"the cases in `{text}` are not rewritten; run this on that file too", path, Part.VALUE)
        if isinstance(defaults := data.get("default_test"), str):
            told = f"the assertions in `{defaults}` are not rewritten; run this on that file too"
            yield Unmet(told, ("default_test",), Part.VALUE)
    for path, value in find_assertion_lists(document):
        for place, assertion in find_mappings(path, value):
            if isinstance(template := assertion.get("include"), str):
                told = f"the assertions of the template `{template}` are not rewritten; run this on its file too"
                yield Unmet(told, (*place, "include"), Part.VALUE)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A version of AgentV: its name here, the schema with the table of what it reads, its dialects and its words.

    An assertion of the type `kind` in the list `assertions` has its criteria in `criteria`.
    With `reads_beside`, a case's own `rubrics` count beside its assertions; with `is_spelt_exactly`, the type `is_json`
    is not `is-json`. `kinds` maps the types of assertions that
    may hold criteria to their new types; those that stay the same keep the field `rubrics`.
    """

    name: str
    title: str
    table: str
    dialects: frozenset[str]
    kind: str
    assertions: str
    criteria: str
    kinds: Mapping[str, str]
    reads_beside: bool = False
    is_spelt_exactly: bool = False

    def name_field(self, kind: str) -> str:
        """Return the field of the criteria in an assertion of a type."""
        return self.criteria if kind in (self.kind, "agent-rubric") else "rubrics"


TARGETS = {
    target.name: target
    for target in (
        Rewriting(
            "agentv-4",
            "AgentV 4",
            "agentv/a6.json",
            frozenset({"agentv-a3", "agentv-a4", "agentv-a6"}),
            kind="rubrics",
            assertions="assertions",
            criteria="criteria",
            kinds={
                **{kind: kind for kind in ("rubrics", "rubric", "llm-grader", "llm_grader")},
                **dict.fromkeys(("llm_judge", "agent_judge", "agent-judge"), "llm-grader"),
            },
            reads_beside=True,
        ),
        Rewriting(
            "agentv-5",
            "AgentV 5",
            "agentv/a7.json",
            frozenset({"agentv-a7"}),
            kind="llm-rubric",
            assertions="assert",
            criteria="value",
            kinds={
                **dict.fromkeys(("rubrics", "rubric", "llm-rubric", "llm-grader", "llm_grader"), "llm-rubric"),
                "llm_judge": "llm-rubric",
                **dict.fromkeys(("agent-rubric", "agent_judge", "agent-judge"), "agent-rubric"),
            },
            is_spelt_exactly=True,
        ),
    )
}
"""The targets by name."""


def is_foreign(rubric: Rubric) -> bool:
    """Return whether a rubric is neither a list of AgentV's criteria nor in our format."""
    if rubric.view and rubric.view.is_text:
        return True
    return rubric.dialect != "" and not rubric.dialect.startswith("agentv")


def is_read_as_it_is(document: Document, rubric: Rubric) -> bool:
    """Return whether a rubric stays as it is: strings mean the same in all systems, and AgentV's texts are prompts."""
    value = document.value(rubric.path)
    if isinstance(value, str) and rubric.dialect.startswith("agentv"):
        return True
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def find_unloaded(document: Document, target: Rewriting) -> Iterator[Unmet]:
    """Find what the target refuses, skips or never reads in a suite, by the table `x-loaded` in its schema.

    A field that only another release reads is lost; one that no release knows has no meaning in either.
    """
    table = load_table(target.table)
    others = [load_table(each.table) for each in TARGETS.values() if each.table != target.table]
    test = table["test"]
    parts: list[tuple[str, Path, dict[str, Any], Any, frozenset[str]]] = []
    if is_suite(document):
        parts.append(("a suite", (), document.data, table["suite"], find_read(*(each["suite"] for each in others))))
    else:
        test = {**test, "properties": {**test["properties"], **{name: {} for name in table.get("row", ())}}}
    of_tests = find_read(*(each["test"] for each in others))
    parts += [("a test", path, case, test, of_tests) for path, case in find_suite_cases(document)]
    for path, assertion in find_assertions(document):
        kind, plain = assertion["type"], assertion["type"].replace("_", "-")
        place = (*path, "type")
        known = table["types"].get(kind if target.is_spelt_exactly else plain)
        if known is not None:
            sources = (plain, *known.get("x-written-for", ()))
            lost = find_read(*(each["types"].get(source, {}) for source in sources for each in others))
            parts.append((f"`{kind}`", path, assertion, table["assertion"], frozenset()))
            parts.append((f"`{kind}`", path, assertion, known, lost - table["assertion"]["properties"].keys()))
        elif reason := table["unloaded"].get(kind, table["unloaded"].get(plain)):
            yield Unmet(f"`type: {kind}`: {reason}", place)
        elif plain in table["types"]:
            yield Unmet(f"`type: {kind}`: {target.title} refuses this spelling; write `{plain}`", place)
        elif any(plain in each["types"] or kind in each["unloaded"] for each in others):
            yield Unmet(f"`type: {kind}`: {target.title} does not know this grader and scores it 0", place)
    for what, path, value, schema, lost in parts:
        for name, reason, place, part, is_note in find_unread(value, schema, target.title, lost):
            yield Unmet(f"{name}{what}: {reason}", (*path, *place), part, is_note)


def find_custom(document: Document) -> Iterator[Unmet]:
    """Find the assertions of a type that no release has, which a program of the project may define."""
    tables = [load_table(each.table) for each in TARGETS.values()]
    for path, assertion in find_assertions(document):
        kinds = {assertion["type"], assertion["type"].replace("_", "-")}
        if not any(kinds & (table["types"].keys() | table["unloaded"].keys()) for table in tables):
            kind = shorten(assertion["type"])
            told = f"no release of AgentV has `type: {kind}`; it scores 0 unless `.agentv/assertions/` defines it"
            yield Unmet(told, (*path, "type"), Part.VALUE)


def find_unconvertible(
    document: Document, rubric: Rubric, target: Rewriting, cases: Collection[Path]
) -> Iterator[Unmet]:
    """Find what keeps a rubric from being written for the target; `cases` are the paths of the tests."""
    path, view = rubric.path, rubric.view
    if view and is_foreign(rubric):
        yield Unmet(f"a rubric of {view.dialect.title}, which {target.title} does not read", path)
    elif rubric.shape is Shape.LEVELS:
        yield Unmet(f"{target.title} has no levels, only checklists and criteria with `score_ranges`", path)
    elif view and view.definition and rubric.dialect not in target.dialects:
        yield Unmet(f"{target.title} has no criterion outside a list; write a list of one", path)
    if view and view.definition:
        return  # read in the same place only
    if path[-1:] and path[-1] in LISTS:
        yield from _find_lost_list(path, target)  # strings among assertions stay there
    elif path[-3:-2] and path[-3] in LISTS:
        yield from _find_unread_assertion(document, path, target)
    elif not path or path[:-1] not in cases:
        yield Unmet(f"{target.title} reads rubrics only in the cases of `tests`; move this one to a case", path)


def _find_unread_assertion(document: Document, path: Path, target: Rewriting) -> Iterator[Unmet]:
    """Find why the target does not read the criteria at a path, in an assertion."""
    kind = document.value(path[:-1]).get("type")
    wanted = target.kinds.get(kind) if isinstance(kind, str) else None
    if wanted is None:
        known = join_words([f"`{name}`" for name in dict.fromkeys(target.kinds.values())], "or")
        yield Unmet(f"{target.title} does not read criteria in `{kind}`; write {known}", path)
    elif target.name_field(wanted) == "rubrics" and any(isinstance(entry, str) for entry in document.value(path)):
        yield Unmet(f"{target.title} skips the strings in an assertion of the type `{wanted}`; write mappings", path)
    else:
        yield from _find_lost_list(path[:-2], target)


def _find_lost_list(path: Path, target: Rewriting) -> Iterator[Unmet]:
    if path[-2:-1] == ("execution",) and path[-1] != "evaluators" and target.reads_beside:
        yield Unmet(f"{target.title} does not read `execution.{path[-1]}`; move it up", path)
