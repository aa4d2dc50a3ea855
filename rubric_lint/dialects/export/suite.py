"""Read what a file says beside its rubrics: cases, their inputs and references, and their other assertions.

A suite of ours, of AgentV or of promptfoo has cases by its format. In other files, records with a question or a
reference are cases. What is in none is listed as lost.

The tables say which fields of cases and which assertions mean the same in AgentV 4, AgentV 5 and promptfoo. Sources:
AgentV 4.42.4 (the validator's known fields, its graders, and its own importer of promptfoo files), AgentV at 58f316ca2
(`validation/eval-validator.ts`, `graders/assertions.ts`, `latency.ts`, `cost.ts`), and promptfoo
(`src/assertions/contains.ts`, `regex.ts`, `json.ts`, `equals.ts`, `startsWith.ts`, `latency.ts`, `cost.ts`).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.dialects.export.fields import QUESTIONS, find_formula
from rubric_lint.dialects.export.target import CaseKey, ExportSource, ExportTarget, Part, Sources
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import case_lists
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, escape, is_template, unescape
from rubric_lint.text.path import Path

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"

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

_BY_AGENTV = frozenset({"metadata", "input_files", "conversation_id", "suite", "depends_on", "on_dependency_failure"})
_CASE_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {AGENTV_4: _BY_AGENTV, AGENTV_5: _BY_AGENTV | {"description"}, PROMPTFOO: frozenset({"description", "metadata"})}
)
_ABOUT_SUITES = frozenset(
    {"name", "description", "category", "version", "author", "tags", "license", "requires", "metadata"}
)
_SUITE_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        AGENTV_4: _ABOUT_SUITES | {"input_files", "target", "workspace", "governance", "preprocessors"},
        AGENTV_5: _ABOUT_SUITES
        | {"input_files", "governance", "providers", "target", "targets", "environment", "evaluate_options"},
        PROMPTFOO: frozenset({"description", "providers", "targets", "env", "tags", "evaluateOptions"}),
    }
)


def case_fields(source: str, target: str) -> frozenset[str]:
    """Return the fields of a case that another system has too, by the same names."""
    return _CASE_FIELDS[target] & (_CASE_FIELDS[source] if source == PROMPTFOO else _CASE_FIELDS[target])


def suite_fields(source: str, target: str) -> frozenset[str]:
    """Return the fields of a suite that the target has too, by the same names."""
    if source == target:
        return _SUITE_FIELDS[source]
    return (
        frozenset({"description"}) if PROMPTFOO in {source, target} else _ABOUT_SUITES | {"input_files", "governance"}
    )


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


class Use(NamedTuple):
    """A rubric of the file; its source is None if it is not written as a rubric, but stays an assertion."""

    name: str
    case: str
    document: Document
    rubric: Rubric
    source: ExportSource | None


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


def read_beside(documents: Iterable[Document], uses: Iterable[Use], target: ExportTarget) -> tuple[Suite, Sources]:
    """Return what the documents of a file, with rubrics or without, say beside their rubrics.

    Also return the sources of the rubrics that are written, with their cases and questions.
    """
    documents, uses = [each for each in documents if not each.kind.is_program and each.data is not None], list(uses)
    by_number: dict[int | None, list[Use]] = {document.number: [] for document in documents}
    for use in uses:
        by_number.setdefault(use.document.number, []).append(use)
    pairs = [(document, by_number[document.number]) for document in documents]
    dialects = {use.rubric.dialect for use in uses}
    if all(name in {"", "promptfoo"} or name.startswith("agentv") for name in dialects):
        templates = dialects & RENDERS
        system = PROMPTFOO if "promptfoo" in templates else AGENTV_5 if templates else AGENTV_4
        suite = _read_suite(pairs, system)
        if suite.cases:
            return suite, {use.name: use.source for use in uses if use.source}
    return _read_records(pairs, uses, target)


class _Taken:
    """The paths of what is written, or reported otherwise, and all paths above them."""

    def __init__(self, used: Iterable[Path]) -> None:
        self.used = set(used)
        self.above = {path[:length] for path in self.used for length in range(len(path))}

    def holds(self, path: Path) -> bool:
        """Return whether something at a path, or within, is taken."""
        return path in self.used or path in self.above

    def rest(self, part: Part) -> Iterator[Part]:
        """Find the largest parts of a value that hold nothing taken, without going into others."""
        if part.path in self.used:
            return
        if part.path not in self.above:
            yield part
            return
        for each in part.items():
            yield from self.rest(each)


# A suite of ours, of AgentV or of promptfoo.
def _read_suite(pairs: Iterable[tuple[Document, list[Use]]], system: str) -> Suite:
    fields: dict[str, Part] = {}
    others: list[Part] = []
    cases: list[SuiteCase] = []
    shared: set[Part] = set()
    for document, uses in pairs:
        rubrics = [use.rubric for use in uses if use.source]
        found, own = _read_document(document, rubrics, system)
        cases += found
        _sort_out(own, fields, others)
        for rubric in rubrics:
            if rubric.path[:1] in _SHARED and find_case(document, rubric.path) is None:
                shared.add(Part(rubric.path[:1], None, document.number))
    named = _name_cases(cases) if system == PROMPTFOO else cases
    return Suite(system, fields, tuple(others), tuple(named), tuple(sorted(shared, key=str)))


_SHARED = {(name,) for name in ("execution", "default_test", "defaultTest", *ASSERTION_LISTS)}
_OF_CASES = frozenset({"input", "input_messages", "vars", "criteria", "expected_output", *ASSERTION_LISTS})
_OTHER, _CHECK, _SET = "\0", "\0check", "\0set"  # names of what has no common name


def _sort_out(parts: Iterable[tuple[str, Part]], fields: dict[str, Part], others: list[Part]) -> None:
    """Add each part to the fields by its name; one without a name, or with that of another, to the others."""
    for name, part in parts:
        if name.startswith(_OTHER) or name in fields:
            others.append(part)
        else:
            fields[name] = part


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


def _lists_of_cases() -> frozenset[str]:
    return case_lists() - set(ASSERTION_LISTS) - {"rubrics"}


def _read_document(
    document: Document, rubrics: list[Rubric], system: str
) -> tuple[list[SuiteCase], list[tuple[str, Part]]]:
    """Return the cases of a document, and its own fields with their names."""
    taken = _Taken(path for rubric in rubrics for path in _find_assertions(rubric))
    whole = Part((), document.data, document.number)
    cases = {key[1] for rubric in rubrics if (key := find_case(document, rubric.path))}
    own: list[tuple[str, Part]] = []
    items: list[Part] = []
    if isinstance(whole.value, list):
        items = list(whole.items())
    elif not isinstance(whole.value, dict):
        own.append((_OTHER, whole))
    elif not rubrics and not _OF_CASES.isdisjoint(whole.value) and _lists_of_cases().isdisjoint(whole.value):
        cases = {()}  # a case by itself
    elif () not in cases:
        for part in whole.items():
            if part.path[0] in _lists_of_cases():
                items += part.items() if isinstance(part.value, list) else [part]
            elif part.path[0] != "$schema":
                own += _read_field(part, system, taken)
    for part in items:
        if isinstance(part.value, dict) and isinstance(part.path[-1], int):
            cases.add(part.path)
        else:
            own.append((_OTHER, part))
    ordered = sorted(cases, key=lambda path: document.span(path).start)
    return [_read_case(Part(path, document.value(path), document.number), system, taken) for path in ordered], own


def _find_assertions(rubric: Rubric) -> Iterator[Path]:
    """Find the paths of a rubric, and of the assertion that holds it."""
    view = rubric.view
    if view and view.around:
        yield from (view.place(entry.path) for entry in rubric.entries)
        return
    path = view.path if view else rubric.path
    yield path
    ends = (end for end in range(len(path) - 1, 1, -1) if isinstance(path[end - 1], int))
    if end := next((end for end in ends if path[end - 2] in ASSERTION_LISTS), 0):
        yield path[:end]


def _read_case(case: Part, system: str, taken: _Taken) -> SuiteCase:
    fields: dict[str, Part] = {}
    others: list[Part] = []
    parts = [each for part in case.items() for each in _read_field(part, system, taken)]
    checks, sets = (tuple(part for name, part in parts if name == kind) for kind in (_CHECK, _SET))
    _sort_out((each for each in parts if each[0] not in {_CHECK, _SET}), fields, others)
    key = case.number, case.path
    return SuiteCase(key, fields, checks, tuple(others), taken.holds(case.path), sets)


_HOLDERS = {("execution", AGENTV_4), ("defaultTest", PROMPTFOO)}


def _read_field(part: Part, system: str, taken: _Taken) -> Iterator[tuple[str, Part]]:
    """Read a field of a case or a suite: yield its parts by their common names."""
    name = str(part.path[-1])
    if part.path in taken.used:
        return
    if name in ASSERTION_LISTS:
        yield from _read_checks(part, taken)
    elif isinstance(part.value, dict) and (name, system) in _HOLDERS:
        for inner in part.items():
            own = str(inner.path[-1])
            if own in ASSERTION_LISTS:
                yield from _read_checks(inner, taken)
            elif inner.path not in taken.used:
                is_named = own == "threshold" or name == "execution"
                yield (own if own == "threshold" else f"execution.{own}") if is_named else _OTHER, inner
    elif name == "vars" and isinstance(part.value, dict):
        yield from ((f"vars.{inner.path[-1]}", inner) for inner in part.items())
    elif part.path in taken.above:
        yield from ((_OTHER, each) for each in taken.rest(part))
    else:
        yield (OLDER_WORDS.get(name, name) if system == AGENTV_4 and len(part.path) > 1 else name), part


def _read_checks(part: Part, taken: _Taken) -> Iterator[tuple[str, Part]]:
    """Read the assertions of a list that are not rubrics, or not of one."""
    if part.path in taken.used:
        return
    if not isinstance(part.value, list):
        yield _OTHER, part
        return
    for item in part.items():
        inner = next((name for name in ASSERTION_LISTS if isinstance(item.value, dict) and name in item.value), "")
        if item.path in taken.used:
            continue
        if item.path not in taken.above:
            yield _CHECK, item
        elif inner:
            yield _SET, item
            yield from _read_checks(item.inner(inner), taken)
        else:
            yield from ((_OTHER, each) for each in taken.rest(item))


def _name_cases(cases: list[SuiteCase]) -> list[SuiteCase]:
    """Name the cases of promptfoo by `metadata.id`, else by their descriptions, if these tell them apart."""
    read = [_read_name(case) for case in cases]
    names = [name for name, _ in read if name]
    return [named if name and names.count(name) == 1 else case for case, (name, named) in zip(cases, read, strict=True)]


def _read_name(case: SuiteCase) -> tuple[str, SuiteCase]:
    """Return the name of a case, and the case with that as its `id`."""
    fields = dict(case.fields)
    metadata, described = fields.get("metadata"), fields.get("description")
    if metadata and isinstance(metadata.value, dict) and isinstance(metadata.value.get("id"), str):
        rest = {name: value for name, value in metadata.value.items() if name != "id"}
        place = metadata.inner("id")
        fields["metadata"] = metadata._replace(value=rest)
        if not rest:
            del fields["metadata"]
    elif described and isinstance(described.value, str):
        place = fields.pop("description")
    else:
        return "", case
    name = place.value
    if is_template(name) or not name.strip() or not name.isprintable():
        return "", case
    return name, case._replace(fields={"id": place._replace(value=unescape(name)), **fields})


# Records of other systems.
_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(QUESTIONS, "input"),
        **dict.fromkeys(("expected_output", "reference_answer", "reference"), "expected_output"),
    }
)
"""The names that systems give to the question and the reference of a record, and AgentV's."""

_ABOUT = "metadata"
_NAMES = ("id", "name")
_Names = frozenset[tuple[str, bool]]
"""The names of rubrics and their parts, and whether only a field for names says them."""


def _read_records(
    pairs: Iterable[tuple[Document, list[Use]]], uses: list[Use], target: ExportTarget
) -> tuple[Suite, Sources]:
    """Return the records of a file as the cases of a suite, and the sources of its rubrics.

    Without a record that has a question or a reference, the suite has no cases. The record of a rubric is the innermost
    mapping around it that has one.
    """
    cases: list[SuiteCase] = []
    others: list[tuple[Part, bool]] = []
    places: dict[str, CaseKey] = {}
    for document, own in pairs:
        reading = _Reading(document, own)
        found, rest = reading.read()
        cases += found
        others += [(part, _is_name(part, reading.names)) for part in rest]
        places |= reading.places
    is_file = target.name == OURS and len(uses) == 1 and not cases
    is_named = "id" in target.shows or (target.has_cases and not is_file)
    kept = tuple(part for part, is_name in others if not (is_named and is_name))
    questions = {case.key: case.fields["input"].value for case in cases if "input" in case.fields}
    sources: dict[str, ExportSource] = {}
    for use in uses:
        if use.source:
            place = places.get(use.name)
            question = questions.get(place, use.source.question) if place else use.source.question
            sources[use.name] = use.source._replace(place=place, question=question)
    return Suite(AGENTV_4, {}, kept, tuple(cases)), sources


class _Reading:
    """Reads what one document says beside its rubrics."""

    def __init__(self, document: Document, uses: list[Use]) -> None:
        self.document = document
        self.uses = uses
        self.places: dict[str, CaseKey] = {}
        self.called: dict[Path, str] = {}
        self.names = frozenset(name for use in uses for name in _split(use))
        taken = _Taken(path for use in uses for path in _find_used(use))
        self.rest = [each for each in taken.rest(Part((), document.data, document.number)) if each.path != ("$schema",)]

    def read(self) -> tuple[list[SuiteCase], list[Part]]:
        """Return the records as cases, and what is in none."""
        is_record = {part.path[:-1] for part in self.rest if self._is_in_record(part)}
        for use in self.uses:
            ends = range(len(use.rubric.path) - 1, -1, -1)
            path = next((use.rubric.path[:end] for end in ends if use.rubric.path[:end] in is_record), None)
            if path is not None:
                self.places[use.name] = self.document.number, path
                self.called.setdefault(path, use.case or use.name)
        loose: dict[Path, list[Part]] = {path: [] for _, path in self.places.values()}
        lists = {path[:-1] for path in loose if path}
        cases: list[SuiteCase] = []
        others: list[Part] = []
        for part in self.rest:
            above = (part.path[:end] for end in range(len(part.path) - 1, -1, -1))
            own = next((path for path in above if path in loose), None)
            is_alone = isinstance(part.value, dict) and (not part.path or part.path[:-1] in lists)
            if own is not None:
                loose[own].append(part)
            elif is_alone and (case := self._case(part.path, [*part.items()])) and "input" in case.fields:
                cases.append(case)
            else:
                others.append(part)
        cases += [self._case(path, parts) for path, parts in loose.items()]
        return sorted(cases, key=lambda case: self.document.span(case.key[1]).start), others

    def _is_in_record(self, part: Part) -> bool:
        """Return whether a part is the question or the reference of a mapping that stands alone or in a list."""
        is_record = len(part.path) == 1 or (bool(part.path) and isinstance(part.path[-2], int))
        return is_record and _name_of(part) not in {"", _ABOUT}

    def _case(self, path: Path, parts: list[Part]) -> SuiteCase:
        """Return a record as a case; one without rubrics has its name in a field."""
        fields: dict[str, Part] = {}
        others: list[Part] = []
        called = self.called.get(path, "")
        for part in parts:
            name = _name_of(part) if part.path[:-1] == path else ""
            if not name and (_is_name(part, self.names) if called else part.path[-1] in _NAMES and _is_scalar(part)):
                name, part = "id", part._replace(value=str(part.value))  # noqa: PLW2901
            _sort_out([(name or _OTHER, part)], fields, others)
        return SuiteCase((self.document.number, path), fields, (), tuple(others), bool(called), called=called)


def _find_used(use: Use) -> Iterator[Path]:
    """Find the paths of what is written or reported otherwise: each field of a source is one of both by its schema."""
    rubric, view = use.rubric, use.rubric.view
    if view and view.around:  # the list holds more than the rubric
        yield from (view.place(entry.path) for entry in rubric.entries)
    else:
        yield rubric.path
    yield from (field.path for field in (use.source.fields if use.source else ()))
    if formula := find_formula(rubric):
        yield formula
    if view and view.threshold is not None and view.threshold_path:
        yield view.threshold_path
    if view and view.dialect.name == "shape":  # its table points to a scale beside the criteria, for example
        yield from (place for place in view.sources if place[: len(rubric.path)] != rubric.path)


def _name_of(part: Part) -> str:
    """Return which field of a case a field is, by AgentV's names; empty if it is none or not a text."""
    if part.path[-1] == _ABOUT:
        return _ABOUT if isinstance(part.value, dict) else ""
    name = _TEXTS.get(str(part.path[-1]), "")
    is_text = isinstance(part.value, str) and bool(part.value.strip())
    return name if (is_text or is_messages(part.value)) and not has_variable(part.value) else ""


def _split(use: Use) -> Iterator[tuple[str, bool]]:
    yield from ((part, True) for part in (use.name, *use.name.split("/")))
    if use.rubric.view and use.rubric.view.name:
        yield use.rubric.view.name, False


def _is_scalar(part: Part) -> bool:
    return isinstance(part.value, str | int) and not isinstance(part.value, bool)


def _is_name(part: Part, names: _Names) -> bool:
    """Return whether a field is what a rubric is named after."""
    if not part.path or not _is_scalar(part):
        return False
    return (part.value, False) in names or (part.path[-1] in _NAMES and (str(part.value), True) in names)


# The texts of a suite, written so that another system reads them as the source does.
_NAME = re.compile(r"(\{\{\s*[A-Za-z_]\w*\s*\}\})")
VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")


class LostTextError(Exception):
    """Refuses a text that would mean something else in the target, with the reason."""


def as_value(value: Any, *, from_template: bool, to_template: bool) -> Any:
    """Return a value so that the target uses it as the source does.

    Raises:
        LostTextError: if the source fills it in and the target does not, or the other way round.
    """
    if from_template == to_template:
        return value
    if to_template:
        if has_variable(value):
            raise LostTextError("an environment variable, which AgentV 4 fills in")
        return escape(value)
    if is_template(value):
        raise LostTextError("a template, which its system fills in")
    if has_variable(value):
        raise LostTextError("a text that AgentV 4 takes for an environment variable")
    return unescape(value)


def as_text(value: Any, source: str, target: str, known: Collection[str]) -> Any:
    """Return an input, a reference or a variable so that the target fills it in as the source does.

    AgentV 4 fills in the variables that a case has, by their names alone. promptfoo takes a list as several values, so
    messages are JSON.

    Raises:
        LostTextError: if it cannot.
    """
    from_template, to_template = source != AGENTV_4, target != AGENTV_4
    if target == PROMPTFOO and isinstance(value, list | dict):
        if not is_messages(value):
            raise LostTextError("a value that is neither text nor messages of texts, which AgentV fills in")
        value = json.dumps(value, ensure_ascii=False)
        return value if from_template else as_value(value, from_template=False, to_template=True)
    if not isinstance(value, str) or from_template == to_template:
        return as_value(value, from_template=from_template, to_template=to_template)
    pieces = _NAME.split(value)
    for place, piece in enumerate(pieces):
        if not (place % 2 and piece.strip("{} \t\n") in known):
            pieces[place] = as_value(piece, from_template=from_template, to_template=to_template)
    return "".join(pieces)


def check_value(value: Any, source: str, target: str) -> None:
    """Refuse an input or a variable that promptfoo takes for a file or for several values, and AgentV does not.

    Raises:
        LostTextError: if it is one.
    """
    if isinstance(value, str) and value.startswith("file://") and PROMPTFOO in {source, target}:
        raise LostTextError("a file, which promptfoo reads in its place")
    if source == PROMPTFOO and isinstance(value, list):
        raise LostTextError("a list, for which promptfoo runs the case once for each value")


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages with texts."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, dict) and each.keys() == {"role", "content"} and all(map(_is_text, each.values()))
            for each in value
        )
    )


def is_chat(value: Any) -> bool:
    """Return whether a value is messages as JSON, which promptfoo sends as a conversation."""
    if not isinstance(value, str) or not value.startswith("["):
        return False
    try:
        return is_messages(json.loads(value))
    except ValueError:
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def has_variable(value: Any) -> bool:
    """Return whether AgentV 4 would put an environment variable into a text of a value."""
    match value:
        case str():
            return VARIABLE.search(value) is not None
        case list():
            return any(map(has_variable, value))
        case dict():
            return any(map(has_variable, value.values()))
    return False
