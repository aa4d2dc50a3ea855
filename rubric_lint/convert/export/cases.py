"""Read the cases of a file: the suites of ours, of AgentV and of promptfoo, and the records of other systems.

A case is read into the fields that all of these have; what else it says is kept with them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from rubric_lint.convert.export.target import (
    QUESTIONS,
    CaseKey,
    ExportSource,
    ExportTarget,
    PlacedValue,
    Sources,
    find_evaluator,
)
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS, OLD_FIELDS
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import suite_lists
from rubric_lint.source.document import Document
from rubric_lint.source.nunjucks import RENDERS, is_template, unescape
from rubric_lint.source.path import Path
from rubric_lint.source.tree import parts_of
from rubric_lint.source.values import as_list

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"
TEMPLATES = frozenset({AGENTV_5, PROMPTFOO})
"""The systems whose strings are templates."""

TEXTS = ("input", "expected_output")
_OF_CASES = frozenset({"id", "description", *TEXTS, "metadata", "threshold"})
_OF_SUITES = frozenset({"description", "prompts", "threshold"})
"""The fields that a case and a suite have in all systems, by AgentV's names; `vars.` begins those of variables."""

_HOLDERS = {AGENTV_4: {"execution"}, AGENTV_5: {"execution", "run"}, PROMPTFOO: {"defaultTest"}}
_SHARED = frozenset({"rubrics", "defaults", "execution", "default_test", "defaultTest", *ASSERTION_LISTS})


class FileRubric(NamedTuple):
    """A rubric of the file; its source is None if it is not written as a rubric, but stays an assertion."""

    name: str
    case: str
    document: Document
    rubric: Rubric
    source: ExportSource | None


class Case(NamedTuple):
    """A case: its common fields, its assertions that are not rubrics, those that hold others, and what else it has.

    `called` is the name of a case without an `id`.
    """

    key: CaseKey
    fields: Mapping[str, PlacedValue]
    checks: tuple[PlacedValue, ...]
    others: tuple[PlacedValue, ...]
    names_rubrics: bool
    sets: tuple[PlacedValue, ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        """The name of the case: its `id`, or where it is."""
        own = self.fields.get("id")
        return str(own.value) if own else self.called or "/".join(map(str, self.key[1])) or str(self.key[0])

    @property
    def variables(self) -> dict[str, PlacedValue]:
        """The variables of the case by name."""
        return {name.removeprefix("vars."): part for name, part in self.fields.items() if name.startswith("vars.")}


class Suite(NamedTuple):
    """A suite: the system that runs it, its own fields, its cases in order, and fields with rubrics for every case.

    With `is_whole`, the file is a suite; else its cases are records of another system.
    """

    system: str
    fields: Mapping[str, PlacedValue]
    others: tuple[PlacedValue, ...]
    cases: tuple[Case, ...]
    shared: tuple[PlacedValue, ...] = ()
    is_whole: bool = False


def read_suite(
    documents: Iterable[Document], rubrics: Sequence[FileRubric], target: ExportTarget
) -> tuple[Suite, Sources]:
    """Read the cases of a file that has rubrics; also return the sources of these, with their cases and questions."""
    by_number: dict[int | None, list[FileRubric]] = {}
    for member in rubrics:
        by_number.setdefault(member.document.number, []).append(member)
    pairs = [
        (document, by_number.get(document.number, []))
        for document in documents
        if not document.kind.is_program and document.data is not None
    ]
    dialects = {member.rubric.dialect for member in rubrics}
    templates = dialects & RENDERS
    system = AGENTV_5 if templates else AGENTV_4
    if "promptfoo" in templates:
        system = PROMPTFOO
    places: dict[str, CaseKey | None] = {}
    suite = _read(pairs, system, places, is_whole=True)
    if not suite.cases or any(name and name != "promptfoo" and not name.startswith("agentv") for name in dialects):
        places = {}
        suite = _read(pairs, AGENTV_4, places, is_whole=False)
        is_file = target.name == OURS and len(rubrics) == 1 and not suite.cases
        if "id" in target.shows or (target.has_cases and not is_file):  # names of rubrics are written
            names = _list_names(rubrics)
            suite = suite._replace(others=tuple(part for part in suite.others if not _is_name(part, names)))
    questions = {case.key: case.fields["input"].value for case in suite.cases if "input" in case.fields}
    sources: dict[str, ExportSource] = {}
    for member in rubrics:
        if member.source:
            place = places.get(member.name)
            question = questions.get(place, member.source.question) if place else member.source.question
            sources[member.name] = member.source._replace(place=place, question=question)
    return suite, sources


def _read(
    pairs: Iterable[tuple[Document, list[FileRubric]]],
    system: str,
    places: dict[str, CaseKey | None],
    *,
    is_whole: bool,
) -> Suite:
    """Read documents, each with its rubrics, as a suite or as records; put the case of each rubric into `places`."""
    fields: dict[str, PlacedValue] = {}
    others: list[PlacedValue] = []
    cases: list[Case] = []
    written: list[FileRubric] = []
    for document, rubrics in pairs:
        of_document = [member for member in rubrics if member.source]
        if is_whole:
            found, own = _read_document(document, of_document, system, places)
        else:
            found, own = _read_records(document, rubrics, places)
        cases += found
        for name, part in own:
            _add_part(name, part, fields, others)
        written += of_document
    keys = {case.key for case in cases}
    shared = _find_shared([member for member in written if keys and places.get(member.name) not in keys])
    return Suite(system, fields, tuple(others), tuple(_name_cases(cases, system)), shared, is_whole)


class _WrittenPaths:
    """The paths of what is written, or reported otherwise, and all paths above them."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = set(paths)
        self.above = {path[:length] for path in self.paths for length in range(len(path))} - self.paths

    def rest(self, part: PlacedValue) -> Iterator[PlacedValue]:
        """Find the largest parts of a value that hold nothing written, without going into others."""
        if part.path in self.above:
            for inner in part.items():
                yield from self.rest(inner)
        elif part.path not in self.paths:
            yield part


def _add_part(name: str, part: PlacedValue, fields: dict[str, PlacedValue], others: list[PlacedValue]) -> None:
    """Add a part to the fields by its name; one without a name, or with that of another, to the others."""
    if not name or name in {_CHECK, _SET} or name in fields:
        others.append(part)
    else:
        fields[name] = part


def _find_shared(rubrics: list[FileRubric]) -> tuple[PlacedValue, ...]:
    """Find the fields next to lists of cases whose rubrics, which are in no case, count in every case."""
    lists = suite_lists("cases")
    shared: dict[tuple[int | None, Path], PlacedValue] = {}
    for member in rubrics:
        path, number = member.rubric.path, member.document.number
        holders = [(end, member.document.value(path[:end])) for end in range(len(path))]
        ends = (end for end, value in holders if isinstance(value, dict) and not lists.isdisjoint(value))
        place = path[: max(ends, default=0) + 1]
        if place and place[-1] in _SHARED:
            shared[number, place] = PlacedValue(place, None, number)
    return tuple(shared.values())


def _find_case(document: Document, path: Path) -> CaseKey | None:
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
    document: Document, rubrics: list[FileRubric], system: str, places: dict[str, CaseKey | None]
) -> tuple[list[Case], list[tuple[str, PlacedValue]]]:
    """Return the cases of a document of a suite, and its own fields with their names."""
    whole = PlacedValue((), document.data, document.number)
    keys = {member.name: _find_case(document, member.rubric.path) for member in rubrics}
    places |= keys
    cases = {key[1] for key in keys.values() if key}
    of_rubrics = _WrittenPaths(path for member in rubrics for path in _find_assertions(member.rubric))
    written = _WrittenPaths(of_rubrics.paths | cases)  # and no case counts as a field of a suite that holds its own
    own: list[tuple[str, PlacedValue]] = []
    items: list[PlacedValue] = []
    if isinstance(whole.value, list):
        items = list(whole.items())
    elif not isinstance(whole.value, dict):
        own.append(("", whole))
    elif not rubrics and not _ONLY_CASES.isdisjoint(whole.value) and suite_lists("cases").isdisjoint(whole.value):
        cases = {()}  # a case by itself
    elif () not in cases:
        for part in whole.items():
            if part.path[0] in suite_lists("cases"):
                items += part.items() if isinstance(part.value, list) else [part]
            elif part.path[0] != "$schema":
                own += _read_field(part, system, written, _OF_SUITES)
    found = {part.path for part in items if isinstance(part.value, dict) and isinstance(part.path[-1], int)}
    own += [("", part) for part in items if part.path not in cases | found]
    read: list[Case] = []
    for path in sorted(cases | found, key=lambda path: document.span(path).start):
        whole = PlacedValue(path, document.value(path), document.number)
        names_rubrics = path in of_rubrics.paths or path in of_rubrics.above
        read.append(_read_case(whole, system, written, names_rubrics=names_rubrics))
    return read, own


def _read_case(case: PlacedValue, system: str, written: _WrittenPaths, *, names_rubrics: bool) -> Case:
    fields: dict[str, PlacedValue] = {}
    checks: list[PlacedValue] = []
    others: list[PlacedValue] = []
    sets: list[PlacedValue] = []
    for item in sorted(case.items(), key=lambda item: item.path[-1] != "run"):  # its threshold counts before others
        for name, part in _read_field(item, system, written, _OF_CASES):
            if name == _CHECK:
                checks.append(part)
            elif name == _SET:
                sets.append(part)
            else:
                _add_part(name, part, fields, others)
    return Case((case.number, case.path), fields, tuple(checks), tuple(others), names_rubrics, tuple(sets))


_ONLY_CASES = frozenset({"input", "input_messages", "vars", "criteria", "expected_output", *ASSERTION_LISTS})
_CHECK, _SET = "\0check", "\0set"


def _list_places(rubric: Rubric) -> list[Path]:
    """Return the path of a rubric; those of its entries, if other parts share its list."""
    view = rubric.view
    return [view.place(entry.path) for entry in rubric.entries] if view and view.around else [rubric.path]


def _find_assertions(rubric: Rubric) -> Iterator[Path]:
    """Find the paths of a rubric, and of the assertion that holds it alone."""
    yield from _list_places(rubric)
    evaluator = find_evaluator(rubric.path)
    if evaluator and not (rubric.view and rubric.view.around):
        yield evaluator


def _read_field(
    part: PlacedValue, system: str, written: _WrittenPaths, known: Collection[str]
) -> Iterator[tuple[str, PlacedValue]]:
    """Read a field of a case or a suite: yield its parts by their common names, which are empty if they have none."""
    name = common = str(part.path[-1])
    if system == AGENTV_4:
        common = OLD_FIELDS.get(name, name)
    if part.path in written.paths:
        return
    if name in ASSERTION_LISTS:
        yield from _read_checks(part, written)
    elif isinstance(part.value, dict) and name in _HOLDERS[system]:
        for inner in part.items():
            if inner.path[-1] in ASSERTION_LISTS:
                yield from _read_checks(inner, written)
            elif inner.path not in written.paths:
                field = "threshold" if inner.path[-1] == "threshold" else ""
                yield field, inner
    elif name == "vars" and isinstance(part.value, dict):
        yield from ((f"vars.{inner.path[-1]}", inner) for inner in part.items())
    elif part.path in written.above:
        yield from (("", rest) for rest in written.rest(part))
    else:
        field = common if common in known else ""
        yield field, part


def _read_checks(part: PlacedValue, written: _WrittenPaths) -> Iterator[tuple[str, PlacedValue]]:
    """Read the assertions of a list that are not rubrics, or not of one."""
    if part.path in written.paths:
        return
    if not isinstance(part.value, list):
        yield "", part
        return
    for item in part.items():
        if item.path in written.paths:
            continue
        inner = next((name for name in ASSERTION_LISTS if isinstance(item.value, dict) and name in item.value), "")
        if item.path not in written.above:
            yield _CHECK, item
        elif inner:
            yield _SET, item
            yield from _read_checks(item.inner(inner), written)
        else:
            yield from (("", rest) for rest in written.rest(item))


def _name_cases(cases: list[Case], system: str) -> list[Case]:
    """Return the cases of promptfoo with names, if these tell them apart; else they are numbered."""
    named = [_name_case(case) for case in cases] if system == PROMPTFOO else cases
    names = [case.name for case in named if "id" in case.fields]
    return [new if names.count(new.name) == 1 else old for old, new in zip(cases, named, strict=True)]


def _name_case(case: Case) -> Case:
    """Return a case of promptfoo with its `metadata.id` or else its description as its `id`."""
    fields = dict(case.fields)
    metadata, place = fields.get("metadata"), fields.get("description")
    if metadata and isinstance(metadata.value, dict) and isinstance(metadata.value.get("id"), str):
        place = metadata.inner("id")
        rest = {name: value for name, value in metadata.value.items() if name != "id"}
        fields["metadata"] = metadata._replace(value=rest)
        if not rest:
            del fields["metadata"]
    else:
        fields.pop("description", None)
    name = place.value if place else None
    if not place or not isinstance(name, str) or is_template(name) or not name.strip() or not name.isprintable():
        return case
    return case._replace(fields={"id": place._replace(value=unescape(name)), **fields})


# Records of other systems: the names that these give to the question and the reference, and AgentV's.
_NAMES_OF_TEXTS = {
    **dict.fromkeys(QUESTIONS, "input"),
    **dict.fromkeys(("expected_output", "reference_answer", "reference"), "expected_output"),
}
_NAMES = ("id", "name")


def _read_records(
    document: Document, rubrics: list[FileRubric], places: dict[str, CaseKey | None]
) -> tuple[list[Case], list[tuple[str, PlacedValue]]]:
    """Return the records of a document as cases, and what is in none.

    A record is the document or an item of a list. A question or a reference shows one around a rubric; a question shows
    one next to it.
    """
    whole = PlacedValue((), document.data, document.number)
    used = {path for member in rubrics for path in _find_used(member)} | {("$schema",)}
    records: dict[Path, str] = {}
    for member in rubrics:
        for end in range(len(member.rubric.path) - 1, -1, -1):
            path = member.rubric.path[:end]
            record = PlacedValue(path, document.value(path), document.number)
            if (not path or isinstance(path[-1], int)) and _find_texts(record, used):
                places[member.name] = document.number, path
                records.setdefault(path, member.case or member.name)
                break
    lists, names = {path[:-1] for path in records if path}, _list_names(rubrics)
    own: list[tuple[str, PlacedValue]] = []
    for part in _WrittenPaths(used | records.keys()).rest(whole):
        is_alone = not part.path or part.path[:-1] in lists
        if is_alone and "input" in _find_texts(part, used):
            records[part.path] = ""
        else:
            own.append(("", part))
    cases = []
    for path in sorted(records, key=lambda path: document.span(path).start):
        fields: dict[str, PlacedValue] = {}
        rest: list[PlacedValue] = []
        title = records[path]
        within = _WrittenPaths(used | records.keys() - {path})
        record = PlacedValue(path, document.value(path), document.number)
        for part in chain.from_iterable(within.rest(item) for item in record.items()):
            name = _common_name(part) if part.path[:-1] == path else ""
            is_named = _is_name(part, names) if title else part.path[-1] in _NAMES and _is_scalar(part)
            if is_named and not name:
                _add_part("id", part._replace(value=str(part.value)), fields, rest)
            else:
                _add_part(name, part, fields, rest)
        cases.append(Case((document.number, path), fields, (), tuple(rest), bool(title), called=title))
    return cases, own


def _find_texts(part: PlacedValue, used: Collection[Path]) -> set[str]:
    """Return which of the question and the reference a mapping has, apart from what is used otherwise."""
    items = part.items() if isinstance(part.value, dict) else ()
    return {_common_name(item) for item in items if item.path not in used}.intersection(TEXTS)


def _find_used(member: FileRubric) -> Iterator[Path]:
    """Find the paths of what is written or reported otherwise: each field of a source is one of both by its schema."""
    rubric, view = member.rubric, member.rubric.view
    yield from _list_places(rubric)
    if member.source:
        yield from (field.path for field in member.source.fields)
    if view and view.threshold is not None and view.threshold_path:
        yield view.threshold_path
    if view and view.dialect.name == "shape":  # its table points to a scale next to the criteria, for example
        yield from (place for place in view.sources if place[: len(rubric.path)] != rubric.path)


def _common_name(part: PlacedValue) -> str:
    """Return which field of a case a field is, by AgentV's names; empty if it is none or not a text."""
    if part.path[-1] == "metadata":
        return "metadata" if isinstance(part.value, dict) else ""
    name = _NAMES_OF_TEXTS.get(str(part.path[-1]), "")
    is_text = isinstance(part.value, str) and bool(part.value.strip())
    return name if (is_text or is_messages(part.value)) and not has_variable(part.value) else ""


def _is_scalar(part: PlacedValue) -> bool:
    return isinstance(part.value, str | int) and not isinstance(part.value, bool)


def _list_names(rubrics: Iterable[FileRubric]) -> set[tuple[str, bool]]:
    """Return the names of rubrics and their parts, and whether only a field for names says them."""
    names = {(part, True) for member in rubrics for part in (member.name, *member.name.split("/"))}
    return names | {
        (member.rubric.view.name, False) for member in rubrics if member.rubric.view and member.rubric.view.name
    }


def _is_name(part: PlacedValue, names: Collection[tuple[str, bool]]) -> bool:
    """Return whether a field is what a rubric is named after."""
    if not part.path or not _is_scalar(part):
        return False
    return (part.value, False) in names or (part.path[-1] in _NAMES and (str(part.value), True) in names)


VARIABLE = re.compile(r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}")


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages of texts."""
    items = as_list(value)
    for item in items:
        is_message = isinstance(item, dict) and item.keys() == {"role", "content"}
        if not is_message or not all(isinstance(text, str) for text in item.values()):
            return False
    return bool(items)


def has_variable(value: Any) -> bool:
    """Return whether AgentV 4 would put an environment variable into a text of a value."""
    if isinstance(value, list | dict):
        return any(map(has_variable, parts_of(value)))
    return isinstance(value, str) and VARIABLE.search(value) is not None
