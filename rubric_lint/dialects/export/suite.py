"""Carry what a file says beside its rubrics to a target: its cases, their texts, and their other assertions.

A suite of ours, of AgentV or of promptfoo has cases by its format. In other files, records with a question or a
reference are cases. What is in none, or what the target has no place for, is lost.

The tables say which fields of cases and which assertions mean the same in AgentV 4, AgentV 5 and promptfoo. Sources:
AgentV 4.42.4 (the validator's known fields, its graders, and its own importer of promptfoo files), AgentV at 58f316ca2
(`validation/eval-validator.ts`, `graders/assertions.ts`, `latency.ts`, `cost.ts`), and promptfoo
(`src/assertions/contains.ts`, `regex.ts`, `json.ts`, `equals.ts`, `startsWith.ts`, `latency.ts`, `cost.ts`).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rubric_lint.dialects.export.target import (
    QUESTIONS,
    Carried,
    CarriedCase,
    CaseKey,
    ExportSource,
    ExportTarget,
    Part,
    Sources,
    SuiteLoss,
    find_evaluator,
    find_mark,
    is_plain,
)
from rubric_lint.dialects.search.agentv_suites import EVALUATORS, OLD_FIELDS, find_unread, load_tables
from rubric_lint.dialects.tables.markdown_file import unescape as unescape_markdown
from rubric_lint.format.criterion import is_number
from rubric_lint.format.rubric import Rubric
from rubric_lint.format.schema import suite_lists
from rubric_lint.messages import escape as escape_markdown
from rubric_lint.text.document import Document
from rubric_lint.text.nunjucks import RENDERS, escape, is_template, unescape
from rubric_lint.text.path import Path

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"


_BY_AGENTV = frozenset({"metadata", "input_files", "conversation_id", "suite", "depends_on", "on_dependency_failure"})
_CASE_FIELDS = {
    AGENTV_4: _BY_AGENTV,
    AGENTV_5: _BY_AGENTV | {"description"},
    PROMPTFOO: frozenset({"description", "metadata"}),
}
_ABOUT_SUITES = frozenset(
    {"name", "description", "category", "version", "author", "tags", "license", "requires", "metadata"}
)
_SUITE_FIELDS = {
    AGENTV_4: _ABOUT_SUITES | {"input_files", "target", "workspace", "governance", "preprocessors"},
    AGENTV_5: _ABOUT_SUITES
    | {"input_files", "governance", "providers", "target", "targets", "environment", "evaluate_options"},
    PROMPTFOO: frozenset({"description", "providers", "targets", "env", "tags", "evaluateOptions"}),
}

# The assertions that mean the same everywhere, and the field that each needs, by AgentV's name; "" if none.
_SAME_CHECKS = {
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
_LISTS_OF_VALUES = frozenset({"contains-any", "contains-all", "icontains-any", "icontains-all"})
# Those of the same name that mean different things in AgentV and promptfoo.
_OTHER_CHECKS = frozenset({"equals", "starts-with", "ends-with"})
_DIFFERENCE = "AgentV ignores white space around both texts, and promptfoo compares them as they are"
# The names of fields of assertions that differ.
_FIELD_NAMES = {
    AGENTV_4: {"label": "name", "budget": "budget"},
    AGENTV_5: {"label": "metric", "budget": "budget"},
    PROMPTFOO: {"label": "metric", "budget": "threshold"},
}


class Use(NamedTuple):
    """A rubric of the file; its source is None if it is not written as a rubric, but stays an assertion."""

    name: str
    case: str
    document: Document
    rubric: Rubric
    source: ExportSource | None


class _Case(NamedTuple):
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
        own = self.fields.get("id")
        return str(own.value) if own else self.called or "/".join(map(str, self.key[1])) or str(self.key[0])


class _Suite(NamedTuple):
    """A suite: the system that runs it, its own fields, its cases in order, and fields with rubrics for every case."""

    system: str
    fields: Mapping[str, Part]
    others: tuple[Part, ...]
    cases: tuple[_Case, ...]
    shared: tuple[Part, ...] = ()

    @property
    def is_template(self) -> bool:
        """Whether its strings are templates."""
        return self.system in {AGENTV_5, PROMPTFOO}

    def prompt(self) -> Any:
        """Return the only prompt, `{{ input }}` if none is written in a suite without templates; else None."""
        if not self.is_template:
            return _PROMPT
        prompts = self.fields["prompts"].value if "prompts" in self.fields else None
        prompts = [prompts] if isinstance(prompts, str) else prompts
        return prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else None


_PROMPT = "{{ input }}"


def carry(documents: Iterable[Document], uses: Iterable[Use], target: ExportTarget) -> tuple[Carried, Sources]:
    """Return what the documents of a file say beside their rubrics in the words of a target, and what of it is lost.

    A target without cases gets the texts that it shows. Also return the sources of the rubrics that are written, with
    their cases and questions.
    """
    uses = list(uses)
    suite, sources = _read(documents, uses, target)
    carrier = _Carrier(suite, target, frozenset(_find_marks(uses)) if target.writes_mark else frozenset())
    read_case = carrier.carry_case if target.has_cases else carrier.show_case
    cases = {case.key: read_case(case) for case in suite.cases}
    fields: dict[str, Any] = {}
    for part in suite.others:
        carrier.lose(part)
    if target.has_cases:
        fields = carrier.carry_suite()
        for part in suite.shared:
            message = f"that the criteria in `{part.path[-1]}` count in every test"
            carrier.lose(part, f"{message}: {target.title} gets them as a test of their own")
    else:
        for name, part in suite.fields.items():
            if not (name == "prompts" and carrier.shows_texts):  # reported case by case
                carrier.lose(part)
    return Carried(fields, cases, tuple(carrier.losses)), sources


def _find_marks(uses: Iterable[Use]) -> Iterator[CaseKey]:
    """Find the places of the pass marks of rubrics, each with the number of its document."""
    for use in uses:
        mark = find_mark(use.rubric) if use.source else None
        if mark:
            yield use.document.number, mark


def _read(documents: Iterable[Document], uses: list[Use], target: ExportTarget) -> tuple[_Suite, Sources]:
    by_number: dict[int | None, list[Use]] = {}
    for use in uses:
        by_number.setdefault(use.document.number, []).append(use)
    pairs = [
        (document, by_number.get(document.number, []))
        for document in documents
        if not document.kind.is_program and document.data is not None
    ]
    dialects = {use.rubric.dialect for use in uses}
    if all(name in {"", "promptfoo"} or name.startswith("agentv") for name in dialects):
        templates = dialects & RENDERS
        system = PROMPTFOO if "promptfoo" in templates else AGENTV_5 if templates else AGENTV_4
        suite = _read_suite(pairs, system)
        if suite.cases:
            return suite, {use.name: use.source for use in uses if use.source}
    cases: list[_Case] = []
    others: list[tuple[Part, bool]] = []
    places: dict[str, CaseKey] = {}
    for document, own in pairs:
        # The names of rubrics and their parts, and whether only a field for names says them.
        names = {(part, True) for use in own for part in (use.name, *use.name.split("/"))}
        names |= {(use.rubric.view.name, False) for use in own if use.rubric.view and use.rubric.view.name}
        found, rest = _read_records_of(document, own, names, places)
        cases += found
        others += [(part, _is_name(part, names)) for part in rest]
    keys = {case.key for case in cases}
    shared = _find_shared(((use.document, use.rubric, places.get(use.name)) for use in uses if use.source), keys)
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
    return _Suite(AGENTV_4, {}, kept, tuple(cases), shared), sources


class _Taken:
    """The paths of what is written, or reported otherwise, and all paths above them."""

    def __init__(self, used: Iterable[Path]) -> None:
        self.used = set(used)
        self.above = {path[:length] for path in self.used for length in range(len(path))}

    def rest(self, part: Part) -> Iterator[Part]:
        """Find the largest parts of a value that hold nothing taken, without going into others."""
        if part.path in self.above and part.path not in self.used:
            for each in part.items():
                yield from self.rest(each)
        elif part.path not in self.used:
            yield part


# A suite of ours, of AgentV or of promptfoo.
_SHARED = frozenset({"rubrics", "defaults", "execution", "default_test", "defaultTest", *EVALUATORS})
_OF_CASES = frozenset({"input", "input_messages", "vars", "criteria", "expected_output", *EVALUATORS})
_HOLDERS = {("execution", AGENTV_4), ("run", AGENTV_5), ("execution", AGENTV_5), ("defaultTest", PROMPTFOO)}
_SETTINGS = ("execution", "run")
_OTHER, _CHECK, _SET = "\0", "\0check", "\0set"  # names of what has no common name


def _read_suite(pairs: Iterable[tuple[Document, list[Use]]], system: str) -> _Suite:
    fields: dict[str, Part] = {}
    others: list[Part] = []
    cases: list[_Case] = []
    owners: list[tuple[Document, Rubric, CaseKey | None]] = []
    for document, uses in pairs:
        rubrics = [use.rubric for use in uses if use.source]
        found, own = _read_document(document, rubrics, system)
        cases += found
        _sort_out(own, fields, others)
        owners += [(document, rubric, find_case(document, rubric.path)) for rubric in rubrics]
    shared = _find_shared(owners, {case.key for case in cases})
    if system == PROMPTFOO:  # cases are named by `metadata.id`, else by their descriptions, if these tell them apart
        read = [_read_name(case) for case in cases]
        names = [name for name, _ in read if name]
        pairs_of_cases = zip(cases, read, strict=True)
        cases = [named if names.count(name) == 1 else case for case, (name, named) in pairs_of_cases]
    return _Suite(system, fields, tuple(others), tuple(cases), shared)


def _sort_out(parts: Iterable[tuple[str, Part]], fields: dict[str, Part], others: list[Part]) -> None:
    """Add each part to the fields by its name; one without a name, or with that of another, to the others."""
    for name, part in parts:
        if name.startswith(_OTHER) or name in fields:
            others.append(part)
        else:
            fields[name] = part


def _find_shared(
    owners: Iterable[tuple[Document, Rubric, CaseKey | None]], cases: Collection[CaseKey]
) -> tuple[Part, ...]:
    """Find the fields beside lists of cases whose rubrics count in every case, from the rubrics and their cases."""
    lists = suite_lists("cases")
    shared: dict[tuple[int | None, Path], Part] = {}
    for document, rubric, case in owners:
        if cases and case not in cases:
            holders = [(end, document.value(rubric.path[:end])) for end in range(len(rubric.path))]
            beside = (end for end, value in holders if isinstance(value, dict) and not lists.isdisjoint(value))
            place = rubric.path[: max(beside, default=0) + 1]
            if place and place[-1] in _SHARED:
                shared[document.number, place] = Part(place, None, document.number)
    return tuple(shared.values())


def find_case(document: Document, path: Path) -> CaseKey | None:
    """Return the case that the path of a rubric is in; None if it is in none."""
    lists = suite_lists("cases")
    if isinstance(document.data, list) and path and isinstance(path[0], int):
        return document.number, path[:1]
    for end in range(len(path) - 1, 0, -1):
        if isinstance(path[end], int) and path[end - 1] in lists:
            return document.number, path[: end + 1]
    is_case = isinstance(document.data, dict) and document.number is not None and lists.isdisjoint(document.data)
    return (document.number, ()) if is_case else None


def _read_document(
    document: Document, rubrics: list[Rubric], system: str
) -> tuple[list[_Case], list[tuple[str, Part]]]:
    """Return the cases of a document, and its own fields with their names."""
    whole = Part((), document.data, document.number)
    cases = {key[1] for rubric in rubrics if (key := find_case(document, rubric.path))}
    of_rubrics = _Taken(path for rubric in rubrics for path in _find_assertions(rubric))
    taken = _Taken(of_rubrics.used | cases)  # and no case counts as a field of a suite that holds its own
    own: list[tuple[str, Part]] = []
    items: list[Part] = []
    if isinstance(whole.value, list):
        items = list(whole.items())
    elif not isinstance(whole.value, dict):
        own.append((_OTHER, whole))
    elif not rubrics and not _OF_CASES.isdisjoint(whole.value) and suite_lists("cases").isdisjoint(whole.value):
        cases = {()}  # a case by itself
    elif () not in cases:
        for part in whole.items():
            if part.path[0] in suite_lists("cases"):
                items += part.items() if isinstance(part.value, list) else [part]
            elif part.path[0] != "$schema":
                own += _read_field(part, system, taken)
    found = [part for part in items if isinstance(part.value, dict) and isinstance(part.path[-1], int)]
    cases |= {part.path for part in found}
    own += [(_OTHER, part) for part in items if part.path not in cases]
    read = []
    for path in sorted(cases, key=lambda path: document.span(path).start):
        fields: dict[str, Part] = {}
        others: list[Part] = []
        case = Part(path, document.value(path), document.number)
        items = sorted(case.items(), key=lambda part: part.path[-1] != "run")  # its threshold counts before others
        parts = [each for part in items for each in _read_field(part, system, taken)]
        checks, sets = (tuple(part for name, part in parts if name == kind) for kind in (_CHECK, _SET))
        _sort_out((each for each in parts if each[0] not in {_CHECK, _SET}), fields, others)
        is_named = path in of_rubrics.used or path in of_rubrics.above
        read.append(_Case((document.number, path), fields, checks, tuple(others), is_named, sets))
    return read, own


def _find_assertions(rubric: Rubric) -> Iterator[Path]:
    """Find the paths of a rubric, and of the assertion that holds it."""
    view = rubric.view
    if view and view.around:
        yield from (view.place(entry.path) for entry in rubric.entries)
        return
    path = view.path if view else rubric.path
    yield path
    if evaluator := find_evaluator(path):
        yield evaluator


def _name_setting(holder: str, name: str) -> str:
    """Return the common name of a field in a mapping of settings."""
    if name == "threshold":
        return name
    return f"{holder}.{name}" if holder in _SETTINGS else _OTHER


def _read_field(part: Part, system: str, taken: _Taken) -> Iterator[tuple[str, Part]]:
    """Read a field of a case or a suite: yield its parts by their common names."""
    name = str(part.path[-1])
    if part.path in taken.used:
        return
    if name in EVALUATORS:
        yield from _read_checks(part, taken)
    elif isinstance(part.value, dict) and (name, system) in _HOLDERS:
        for inner in part.items():
            own = str(inner.path[-1])
            if own in EVALUATORS:
                yield from _read_checks(inner, taken)
            elif inner.path not in taken.used:
                yield _name_setting(name, own), inner
    elif name == "vars" and isinstance(part.value, dict):
        yield from ((f"vars.{inner.path[-1]}", inner) for inner in part.items())
    elif part.path in taken.above:
        yield from ((_OTHER, each) for each in taken.rest(part))
    else:
        yield (OLD_FIELDS.get(name, name) if system == AGENTV_4 and len(part.path) > 1 else name), part


def _read_checks(part: Part, taken: _Taken) -> Iterator[tuple[str, Part]]:
    """Read the assertions of a list that are not rubrics, or not of one."""
    if part.path in taken.used:
        return
    if not isinstance(part.value, list):
        yield _OTHER, part
        return
    for item in part.items():
        inner = next((name for name in EVALUATORS if isinstance(item.value, dict) and name in item.value), "")
        if item.path in taken.used:
            continue
        if item.path not in taken.above:
            yield _CHECK, item
        elif inner:
            yield _SET, item
            yield from _read_checks(item.inner(inner), taken)
        else:
            yield from ((_OTHER, each) for each in taken.rest(item))


def _read_name(case: _Case) -> tuple[str, _Case]:
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


# Records of other systems: the names that these give to the question and the reference, and AgentV's.
_TEXTS = {
    **dict.fromkeys(QUESTIONS, "input"),
    **dict.fromkeys(("expected_output", "reference_answer", "reference"), "expected_output"),
}
_ABOUT = "metadata"
_NAMES = ("id", "name")


def _read_records_of(
    document: Document, uses: list[Use], names: set[tuple[str, bool]], places: dict[str, CaseKey]
) -> tuple[list[_Case], list[Part]]:
    """Return the records of a document as cases, and what is in none; put the record of each rubric into `places`."""
    taken = _Taken(path for use in uses for path in _find_used(use))
    rest = [each for each in taken.rest(Part((), document.data, document.number)) if each.path != ("$schema",)]
    # The question or the reference shows a record: a mapping that stands alone or in a list.
    told = [part for part in rest if len(part.path) == 1 or (part.path and isinstance(part.path[-2], int))]
    is_record = {part.path[:-1] for part in told if _name_of(part) not in {"", _ABOUT}}
    called: dict[Path, str] = {}
    for use in uses:
        ends = range(len(use.rubric.path) - 1, -1, -1)
        path = next((use.rubric.path[:end] for end in ends if use.rubric.path[:end] in is_record), None)
        if path is not None:
            places[use.name] = document.number, path
            called.setdefault(path, use.case or use.name)

    def read(path: Path, parts: Iterable[Part]) -> _Case:
        """Return a record as a case; one without rubrics has its name in a field."""
        fields: dict[str, Part] = {}
        others: list[Part] = []
        title = called.get(path, "")
        for part in parts:
            name = _name_of(part) if part.path[:-1] == path else ""
            if not name and (_is_name(part, names) if title else part.path[-1] in _NAMES and _is_scalar(part)):
                name, part = "id", part._replace(value=str(part.value))  # noqa: PLW2901
            _sort_out([(name or _OTHER, part)], fields, others)
        return _Case((document.number, path), fields, (), tuple(others), bool(title), called=title)

    loose: dict[Path, list[Part]] = {path: [] for path in called}
    lists = {path[:-1] for path in loose if path}
    cases: list[_Case] = []
    others: list[Part] = []
    for part in rest:
        above = (part.path[:end] for end in range(len(part.path) - 1, -1, -1))
        own = next((path for path in above if path in loose), None)
        is_alone = isinstance(part.value, dict) and (not part.path or part.path[:-1] in lists)
        if own is not None:
            loose[own].append(part)
        elif is_alone and "input" in (case := read(part.path, part.items())).fields:
            cases.append(case)
        else:
            others.append(part)
    cases += [read(path, parts) for path, parts in loose.items()]
    return sorted(cases, key=lambda case: document.span(case.key[1]).start), others


def _find_used(use: Use) -> Iterator[Path]:
    """Find the paths of what is written or reported otherwise: each field of a source is one of both by its schema."""
    rubric, view = use.rubric, use.rubric.view
    if view and view.around:  # the list holds more than the rubric
        yield from (view.place(entry.path) for entry in rubric.entries)
    else:
        yield rubric.path
    yield from (field.path for field in (use.source.fields if use.source else ()))
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
    return name if (is_text or _is_messages(part.value)) and not _has_variable(part.value) else ""


def _is_scalar(part: Part) -> bool:
    return isinstance(part.value, str | int) and not isinstance(part.value, bool)


def _is_name(part: Part, names: Collection[tuple[str, bool]]) -> bool:
    """Return whether a field is what a rubric is named after."""
    if not part.path or not _is_scalar(part):
        return False
    return (part.value, False) in names or (part.path[-1] in _NAMES and (str(part.value), True) in names)


# The texts of a suite, written so that another system reads them as the source does.
_NAME = re.compile(r"(\{\{\s*[A-Za-z_]\w*\s*\}\})")
_SIMPLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")
_FILE = "file://"
_NOT = "not-"
_FIELDS = ("input", "expected_output")
"""The texts of a case, by AgentV's names."""


class _LostTextError(Exception):
    """Refuses a text that would mean something else in the target, with the reason."""


class _LostError(Exception):
    """Says why a part is lost; without a message, the target has no field for it."""


def _as_value(value: Any, *, from_template: bool, to_template: bool) -> Any:
    """Return a value so that the target uses it as the source does; raise _LostTextError if it cannot."""
    if from_template == to_template:
        return value
    if to_template:
        if _has_variable(value):
            raise _LostTextError("an environment variable, which AgentV 4 fills in")
        return escape(value)
    if is_template(value):
        raise _LostTextError("a template, which its system fills in")
    if _has_variable(value):
        raise _LostTextError("a text that AgentV 4 takes for an environment variable")
    return unescape(value)


def _as_text(value: Any, source: str, target: str, known: Collection[str]) -> Any:
    """Return an input, a reference or a variable so that the target fills it in as the source does.

    AgentV 4 fills in the variables that a case has, by their names alone. promptfoo takes a list as several values, so
    messages are JSON.

    Raises:
        _LostTextError: if it cannot, as promptfoo takes it for a file or for several values, for example.
    """
    if isinstance(value, str) and value.startswith(_FILE) and PROMPTFOO in {source, target}:
        raise _LostTextError("a file, which promptfoo reads in its place")
    if source == PROMPTFOO and isinstance(value, list):
        raise _LostTextError("a list, for which promptfoo runs the case once for each value")
    from_template, to_template = source != AGENTV_4, target != AGENTV_4
    if target == PROMPTFOO and isinstance(value, list | dict):
        if not _is_messages(value):
            raise _LostTextError("a value that is neither text nor messages of texts, which AgentV fills in")
        value = json.dumps(value, ensure_ascii=False)
        return value if from_template else _as_value(value, from_template=False, to_template=True)
    if not isinstance(value, str) or from_template == to_template:
        return _as_value(value, from_template=from_template, to_template=to_template)
    pieces = _NAME.split(value)
    for place, piece in enumerate(pieces):
        if not (place % 2 and piece.strip("{} \t\n") in known):
            pieces[place] = _as_value(piece, from_template=from_template, to_template=to_template)
    return "".join(pieces)


def _is_messages(value: Any) -> bool:
    items = value if isinstance(value, list) else []
    mappings = [each for each in items if isinstance(each, dict) and each.keys() == {"role", "content"}]
    is_text = all(isinstance(text, str) for each in mappings for text in each.values())
    return bool(items) and len(mappings) == len(items) and is_text


def _has_variable(value: Any) -> bool:
    """Return whether AgentV 4 would put an environment variable into a text of a value."""
    if isinstance(value, list | dict):
        return any(map(_has_variable, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and VARIABLE.search(value) is not None


def split_gate(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion in which `required` is true or false, as AgentV 5 reads it, and the gate is `min_score`."""
    share = assertion.get("required")
    if not isinstance(share, int | float) or isinstance(share, bool):
        return {**assertion}
    return {"min_score": share, **assertion, "required": True}


def _find_difference(value: dict[str, Any], kind: str, source: str, target: str, title: str) -> str:
    """Return why the target has no assertion that means the same; empty if it has one."""
    is_agentv = PROMPTFOO not in {source, target}
    if kind in _OTHER_CHECKS and not is_agentv:
        return _DIFFERENCE
    if kind not in _SAME_CHECKS and kind not in _OTHER_CHECKS:
        return f"{title} has none that is known to mean the same"
    needs = _SAME_CHECKS.get(kind, "value")
    needs = _FIELD_NAMES[source].get(needs, needs)
    content = value.get(needs) if needs else None
    if needs in {"threshold", "budget"}:
        is_right = is_number(content) and content >= 0
    elif kind in _LISTS_OF_VALUES:
        is_right = isinstance(content, list) and bool(content) and all(isinstance(e, str) and e for e in content)
    elif needs:
        is_right = isinstance(content, str) and bool(content)
    else:
        is_right = "value" not in value and "schema" not in value
    if not is_right:
        return f"its `{needs or 'value'}` means something else in {title}, or nothing"
    texts = content if isinstance(content, list) else [content]
    if any(isinstance(text, str) and text.startswith(_FILE) for text in texts):
        return "promptfoo reads the file that it names, and AgentV does not"
    return "promptfoo has no flags for it" if kind == "regex" and "flags" in value and not is_agentv else ""


def _put(written: dict[str, Any], fields: dict[str, Any]) -> None:
    """Put fields into a case or suite; those below `execution` and `vars` go beside others there."""
    for name, value in fields.items():
        are_both = name in {"execution", "vars"} and isinstance(value, dict) and isinstance(written.get(name), dict)
        written[name] = {**written[name], **value} if are_both else value


class _Carrier:
    def __init__(self, suite: _Suite, target: ExportTarget, marks: frozenset[CaseKey]) -> None:
        self.suite = suite
        self.marks = marks
        """The places of pass marks that the target writes as those of the rubrics."""
        self.source = suite.system
        self.target = target.name
        self.title = target.title
        self.shows_id = "id" in target.shows and (self.source != PROMPTFOO or target.names_cases)
        self.shows_texts = "expected_output" in target.shows
        self.losses: list[SuiteLoss] = []
        self.has_sets = target.has_cases and self.target == self.source
        self.is_template = self.target in {AGENTV_5, PROMPTFOO}
        self.as_written = self.target in {OURS, self.source}

    def lose(self, part: Part, message: str = "") -> None:
        """Report a part as lost; without a message, the target has no field for it, unless it is a pass mark."""
        if not message and (part.number, part.path) in self.marks:
            return
        inner = list(part.items()) if not message and isinstance(part.value, dict) else []
        if any((each.number, each.path) in self.marks for each in inner):
            for each in inner:
                self.lose(each)
            return
        name = next((step for step in reversed(part.path) if isinstance(step, str)), "")
        if not part.path:
            message = f"a document without rubrics and cases: {self.title} has no place for it"
        elif not message:
            told = f"`{name}`" if isinstance(part.path[-1], str) else f"an item of `{name}`" if name else "an item"
            message = f"{told}: {self.title} has no field for it"
        self.losses.append((part.number, part.path, message))

    # Targets without cases

    def show_case(self, case: _Case) -> CarriedCase:
        """Return the texts of a case that a target without cases shows."""
        texts: dict[str, str] = {}
        shown = {"id"} if case.names_rubrics and self.shows_id else set[str]()
        for name, text, part, uses in self._read_texts(case) if self.shows_texts and case.names_rubrics else ():
            texts[name] = text
            shown |= uses
            if self.target == "markdown" and unescape_markdown(escape_markdown(text)) != text:
                self.lose(part, f"white space and invisible characters of `{name}`, which Markdown cannot show")
        prompts = self.suite.fields.get("prompts")
        if prompts and self.shows_texts and case.names_rubrics and "input" not in texts:
            self.lose(prompts, f"the prompt of `{case.name}`, which is not one plain text")
        for name, part in case.fields.items():
            if name not in shown:
                is_text = self.shows_texts and case.names_rubrics and part.path[-1] in _FIELDS
                self.lose(part, f"`{part.path[-1]}`: it is not one plain text" if is_text else "")
        for part in (*case.others, *case.checks):
            self.lose(part)
        self._lose_sets(case)
        return CarriedCase(case.name, texts)

    def _read_texts(self, case: _Case) -> Iterator[tuple[str, str, Part, set[str]]]:
        """Yield the texts of a case with variables filled in: the field, the text, its place, and what it holds.

        Those that are something else than texts are left out.
        """
        suite = self.suite
        fields = {name: part._replace(number=case.key[0]) for name, part in case.fields.items()}
        known = {name.removeprefix("vars."): part.value for name, part in fields.items() if name.startswith("vars.")}
        texts: dict[str, tuple[Any, Part, set[str]]] = {}
        if suite.is_template:
            part = suite.fields.get("prompts")
            own = next((name for name in ("vars.input", "input") if name in fields), "")
            if part:
                texts["input"] = (suite.prompt(), part, set())
            elif own:
                texts["input"] = (fields[own].value, fields[own], {own})
            if suite.system == AGENTV_5 and (reference := fields.get("vars.expected_output")):
                texts["expected_output"] = (reference.value, reference, {"vars.expected_output"})
        else:
            texts = {name: (part.value, part, {name}) for name in _FIELDS if (part := fields.get(name))}
        for name, (text, part, uses) in texts.items():
            try:
                filled, names = self._fill_in(text, known)
            except _LostTextError:
                continue
            if filled.strip():
                yield name, filled, part, uses | {f"vars.{each}" for each in names}

    def _fill_in(self, text: object, known: Mapping[str, object]) -> tuple[str, set[str]]:
        """Return a text with variables filled in, and their names; raise _LostTextError if it has more than names."""
        if not isinstance(text, str) or text.startswith(_FILE):
            raise _LostTextError("not a text")
        pieces, names = _SIMPLE.split(text), set()
        for at, piece in enumerate(pieces):
            value = known.get(piece) if at % 2 else piece
            is_text = isinstance(value, str) and not is_template(value) and not value.startswith(_FILE)
            if at % 2 == 0 or is_text:
                pieces[at] = _as_value(value, from_template=self.suite.is_template, to_template=False)
                names |= {piece} if at % 2 else set()
            elif self.source == AGENTV_4 and piece not in known:
                pieces[at] = f"{{{{ {piece} }}}}"  # AgentV 4 leaves it as it is
            else:
                raise _LostTextError("a variable without a text")
        return "".join(pieces), names

    def _lose_sets(self, case: _Case) -> None:
        """Report what changes in the score without the sets of assertions."""
        for part in case.sets:
            told = f"{self.title} counts each of them by itself, so the score may change"
            self.lose(part, f"the set of assertions: {told}")
            for inner in part.items():
                name, value = inner.path[-1], inner.value
                if name not in {"type", *EVALUATORS}:
                    shown = f" {value}" if isinstance(value, str | int | float) else ""
                    self.lose(inner, f"the {name}{shown} of the set of assertions: {self.title} has no sets")

    # Suites

    def carry_suite(self) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for name, part in self.suite.fields.items():
            try:
                _put(written, self._carry_suite_field(name, part.value))
            except _LostError as lost:
                self.lose(part, str(lost))
        return {"prompts": [_PROMPT], **written} if self.is_template and not self.suite.is_template else written

    def _carry_suite_field(self, name: str, value: Any) -> dict[str, Any]:
        if not is_plain(value):
            raise _LostError
        if name == "threshold":
            return self._threshold(value, is_suite=True)
        if name == "prompts":
            texts = value if isinstance(value, list) else [value]
            if not self.as_written and not all(isinstance(text, str) and not text.startswith(_FILE) for text in texts):
                raise _LostError(f"`prompts` with files or mappings: {self.title} reads only texts")
            if self.as_written or self.is_template:
                return {"prompts": value}
            if self._asks() is None:
                raise _LostError(f"`prompts`: {self.title} has one input for each case, without filters and tags")
            return {}  # AgentV 4 has them in the input of each case
        if name.startswith("execution.") and self.as_written:
            return {"execution": {name.partition(".")[2]: value}}
        is_of_promptfoo = PROMPTFOO in {self.source, self.target}
        known = frozenset({"description"}) if is_of_promptfoo else _ABOUT_SUITES | {"input_files", "governance"}
        if self.target == OURS or name in (_SUITE_FIELDS[self.source] if self.source == self.target else known):
            return self._copy(name, value)
        raise _LostError

    def carry_case(self, case: _Case) -> CarriedCase:
        """Return the fields and assertions of a case that the target has."""
        for part in case.others:
            self.lose(part)
        if not self.has_sets:
            self._lose_sets(case)
        written: dict[str, Any] = {}
        for name, part in case.fields.items():
            try:
                _put(written, self._carry_field(case, name, part))
            except _LostError as lost:
                self.lose(part, str(lost))
        self._carry_input(case, written)
        written |= self._carry_average(case)
        checks = []
        for part in case.checks:
            try:
                checks.append(part if self.as_written else part._replace(value=self._carry_check(part)))
            except _LostError as lost:
                self.lose(part, str(lost))
        return CarriedCase(case.name, written, tuple(checks), case.sets if self.has_sets else ())

    def _carry_field(self, case: _Case, name: str, part: Part) -> dict[str, Any]:
        holder, _, inner = name.partition(".")
        if not is_plain(part.value):
            raise _LostError
        if name == "id":
            return {"id": part.value}
        if name == "threshold":
            return self._threshold(part.value, is_suite=False)
        if self.as_written:
            is_inner = inner and holder in {"vars", *_SETTINGS}
            return {holder: {inner: part.value}} if is_inner else {name: part.value}
        if name in _FIELDS or (inner and holder == "vars"):
            known = {each.partition(".")[2] for each in case.fields if each.startswith("vars.")}
            try:
                value = _as_text(part.value, self.source, self.target, known)
            except _LostTextError as lost:
                raise _LostError(f"`{part.path[-1]}`: it is {lost}, and {self.title} does not") from None
            own = name.removeprefix("vars.")
            if self.is_template and own == "expected_output" and not self.suite.is_template:
                told = f"`{part.path[-1]}` is kept as a variable, which the judge of {self.title} sees only if a text "
                self.lose(part, f"{told}names it")
            is_field = own == name or (own == "expected_output" and self.source == AGENTV_5)
            return {own: value} if is_field and not self.is_template else {"vars": {own: value}}
        of_promptfoo = _CASE_FIELDS[PROMPTFOO] if self.source == PROMPTFOO else _CASE_FIELDS[self.target]
        if name in _CASE_FIELDS[self.target] & of_promptfoo:
            return self._copy(name, part.value)
        if name == "criteria":
            told = "which the judge of AgentV sees"
            raise _LostError(f"`criteria`, {told}: {self.title} has no field for it beside its assertions")
        raise _LostError

    def _copy(self, name: str, value: Any) -> dict[str, Any]:
        if name == "name" and self.target in {AGENTV_4, AGENTV_5}:
            of_names = {"properties": {name: load_tables()[0]["suite"]["properties"][name]}}
            for _, reason, *_ in find_unread({name: value}, of_names, self.title):
                raise _LostError(f"`{name}`: {reason}")
        try:
            return {name: self._turn(value)}
        except _LostTextError as lost:
            if self.target == OURS:
                return {name: value}
            raise _LostError(f"`{name}`: {lost}: {self.title} uses it as plain text") from None

    def _turn(self, value: Any) -> Any:
        return _as_value(value, from_template=self.suite.is_template, to_template=self.is_template)

    def _threshold(self, value: Any, *, is_suite: bool) -> dict[str, Any]:
        if self.target in {AGENTV_4, OURS} or (
            self.target == AGENTV_5 and not is_suite
        ):  # no AgentV reads a `threshold` of a test itself
            return {"execution": {"threshold": value}}
        return {"defaultTest": {"threshold": value}} if is_suite and self.target == PROMPTFOO else {"threshold": value}

    def _asks(self) -> str | None:
        """Return the one prompt if AgentV 4 can fill it in: it replaces names and knows nothing else."""
        prompt = self.suite.prompt()
        if not isinstance(prompt, str) or prompt.startswith(_FILE):
            return None
        return None if re.search(r"\{[{%#]", _SIMPLE.sub("", prompt)) else prompt

    def _carry_input(self, case: _Case, written: dict[str, Any]) -> None:
        """Write the prompt of a suite with templates as the input that AgentV 4 has."""
        if self.target != AGENTV_4 or not self.suite.is_template or (prompt := self._asks()) is None:
            return
        variables = written.get("vars", {})
        missing = sorted(set(_SIMPLE.findall(prompt)) - variables.keys())
        if prompt.strip() in {_PROMPT, "{{input}}"}:
            if "input" in variables:
                written["input"] = value = variables.pop("input")
                if isinstance(value, str) and value.startswith("["):  # promptfoo sends messages in JSON as such
                    try:
                        messages = json.loads(value)
                    except ValueError:
                        messages = None
                    written["input"] = messages if _is_messages(messages) else value
        elif missing:
            message = f"the prompt of `{case.name}`: the case has no text for {', '.join(missing)}"
            self.lose(self.suite.fields["prompts"]._replace(number=case.key[0]), message)
        else:
            written["input"] = prompt
        if not variables:
            written.pop("vars", None)

    def _carry_check(self, part: Part) -> dict[str, Any]:
        """Return an assertion in the words of the target, and report the fields that this does not have."""
        value = part.value
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise _LostError(f"an assertion without a type: {self.title} has no field for it")
        kind, is_negated = value["type"], value.get("negate") is True
        if self.source == PROMPTFOO and kind.startswith(_NOT):
            kind, is_negated = kind.removeprefix(_NOT), True
        if reason := _find_difference(value, kind, self.source, self.target, self.title):
            raise _LostError(f"the assertion `{value['type']}`: {reason}")
        ours, theirs = _FIELD_NAMES[self.source], _FIELD_NAMES[self.target]
        needs = _SAME_CHECKS.get(kind, "value")
        known = {ours["label"]: theirs["label"], "weight": "weight"}
        known = {ours.get(needs, needs): theirs.get(needs, needs), **known} if needs else known
        if PROMPTFOO not in {self.source, self.target}:
            known |= {"required": "required", "min_score": "min_score", "flags": "flags"}
        names = {"type", "negate"}
        written: dict[str, Any] = {"type": f"{_NOT}{kind}" if is_negated and self.target == PROMPTFOO else kind}
        for own, name in known.items():
            if own in value and is_plain(value[own]):
                names.add(own)
                try:
                    written[name] = self._turn(value[own])
                except _LostTextError as lost:
                    message = f"the assertion `{value['type']}`: it has {lost}, and {self.title} does not"
                    raise _LostError(message) from None
        if is_negated and self.target != PROMPTFOO:
            written["negate"] = True
        for name in value.keys() - names:
            self.lose(part.inner(name))
        return split_gate(written) if self.target == AGENTV_5 else written

    def _carry_average(self, case: _Case) -> dict[str, Any]:
        """Say how a test passes where the target would decide otherwise.

        AgentV passes a test by the average of its assertions, promptfoo by all of them unless there is a threshold.
        """
        if "threshold" in case.fields or "threshold" in self.suite.fields:
            return {}
        if self.target == PROMPTFOO and (self.source == AGENTV_5 or (self.source == AGENTV_4 and case.checks)):
            return {"threshold": 0.8}  # the average from which AgentV passes a test that says nothing else
        if self.source == PROMPTFOO and self.target in {AGENTV_4, AGENTV_5} and case.checks:
            message = f"that every assertion of `{case.name}` must pass: {self.title} takes their average"
            self.losses.append((*case.key, message))
        return {}
