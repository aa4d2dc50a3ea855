"""Find what a file that is not a suite says beside its rubrics: records with a question are cases, all else is lost."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rubric_lint.dialects.export.carrying import has_variable, is_messages
from rubric_lint.dialects.export.fields import QUESTIONS, lost_formula
from rubric_lint.dialects.export.suite import AGENTV_4, OURS, Suite, SuiteCase
from rubric_lint.dialects.export.target import CaseKey, ExportSource, ExportTarget, Part
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.document import Document
from rubric_lint.text.path import Path

_TEXTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(QUESTIONS, "input"),
        **dict.fromkeys(("expected_output", "reference_answer", "reference"), "expected_output"),
    }
)
"""The names that systems give to the question and the reference of a record, and AgentV's."""

_ABOUT = "metadata"
_NAMES = ("id", "name")
_SCHEMA = ("$schema",)
_Names = frozenset[tuple[str, bool]]
"""The names of rubrics and their parts, and whether only a field for names says them."""


class Use(NamedTuple):
    """A rubric that is written: its name, the name of its case, the rubric, its document and its source."""

    name: str
    case: str
    rubric: Rubric
    document: Document
    source: ExportSource


class Records(NamedTuple):
    """What a file says beside its rubrics: its records as the cases of a suite, and the case of each rubric by name.

    Without a record that has a question or a reference, the suite has no cases. A record's place in the suite is that
    of the innermost mapping around a rubric that has one.
    """

    suite: Suite
    places: Mapping[str, CaseKey]

    @property
    def questions(self) -> Mapping[str, Any]:
        """The question of each rubric that has one, by the name of the rubric."""
        questions = {case.key: case.fields["input"].value for case in self.suite.cases if "input" in case.fields}
        return {name: questions[key] for name, key in self.places.items() if key in questions}


def read_records(documents: Iterable[Document], uses: Iterable[Use], target: ExportTarget) -> Records:
    """Return what the documents of a file say beside its rubrics; nothing of programs."""
    by_number: dict[int | None, list[Use]] = {}
    uses = tuple(uses)
    for use in uses:
        by_number.setdefault(use.document.number, []).append(use)
    cases: list[SuiteCase] = []
    others: list[tuple[Part, bool]] = []
    places: dict[str, CaseKey] = {}
    for document in documents:
        if document.kind.is_program or document.data is None:
            continue
        reading = _Reading(document, by_number.get(document.number, []))
        found, rest = reading.read()
        cases += found
        others += [(part, _is_name(part, reading.names)) for part in rest]
        places |= reading.places
    is_named = "id" in target.shows or (target.has_cases and not (target.name == OURS and len(uses) == 1 and not cases))
    kept = [part for part, is_name in others if not (is_named and is_name)]
    return Records(Suite(AGENTV_4, {}, tuple(kept), tuple(cases)), places)


class _Reading:
    """Reads what one document says beside its rubrics."""

    def __init__(self, document: Document, uses: list[Use]) -> None:
        self.document = document
        self.uses = uses
        self.places: dict[str, CaseKey] = {}
        self.called: dict[Path, str] = {}
        self.names = frozenset(name for use in uses for name in _split(use))
        used = {path for use in uses for path in _find_used(use)}
        above = {path[:length] for path in used for length in range(len(path))}
        walked = _walk(Part((), document.data, document.number), used, above)
        self.rest = [part for part in walked if part.path != _SCHEMA]

    def read(self) -> tuple[list[SuiteCase], list[Part]]:
        """Return the records as cases, and what is in none."""
        fields = self._find_fields()
        for use in self.uses:
            if (path := self._find_record(use, fields)) is not None:
                self.places[use.name] = self.document.number, path
                self.called.setdefault(path, use.case or use.name)
        records = sorted({path for _, path in self.places.values()}, key=lambda path: self.document.span(path).start)
        lists = {path[:-1] for path in records if path}
        cases: list[SuiteCase] = []
        others: list[Part] = []
        loose: dict[Path, list[Part]] = {path: [] for path in records}
        for part in self.rest:
            above = (part.path[:end] for end in range(len(part.path) - 1, -1, -1))
            own = next((path for path in above if path in loose), None)
            is_alone = isinstance(part.value, dict) and (not part.path or part.path[:-1] in lists)
            if own is not None:
                loose[own].append(part)
            elif is_alone and (case := _read_alone(part)):
                cases.append(case)
            else:
                others.append(part)
        cases += [self._case(path, loose[path]) for path in records]
        return sorted(cases, key=lambda case: self.document.span(case.key[1]).start), others

    def _find_fields(self) -> dict[Path, Part]:
        """Return the records that have a question or a reference, each with one of them."""
        found: dict[Path, Part] = {}
        for part in self.rest:
            is_record = len(part.path) == 1 or (part.path and isinstance(part.path[-2], int))
            if is_record and _name_of(part) not in {"", _ABOUT}:
                found.setdefault(part.path[:-1], part)
        return found

    def _find_record(self, use: Use, fields: Mapping[Path, Part]) -> Path | None:
        path = use.rubric.path
        ends = range(len(path) - 1, -1, -1)
        return next((path[:end] for end in ends if path[:end] in fields), None)

    def _case(self, path: Path, parts: list[Part]) -> SuiteCase:
        fields: dict[str, Part] = {}
        others: list[Part] = []
        for part in parts:
            name = _name_of(part) if part.path[:-1] == path else ""
            name = "id" if not name and _is_name(part, self.names) else name
            if name and name not in fields:
                fields[name] = part._replace(value=str(part.value)) if name == "id" else part
            else:
                others.append(part)
        key, called = (self.document.number, path), self.called[path]
        return SuiteCase(key, fields, (), tuple(others), names_rubrics=True, called=called)


def _find_used(use: Use) -> Iterator[Path]:
    """Find the paths of what is written or reported otherwise: each field of a source is one of both by its schema."""
    rubric, view = use.rubric, use.rubric.view
    if view and view.around:  # the list holds more than the rubric
        yield from (view.place(entry.path) for entry in rubric.entries)
    else:
        yield rubric.path
    yield from (field.path for field in use.source.fields)
    yield from (path for path, _ in lost_formula(rubric, ""))
    if view and view.threshold is not None and view.threshold_path:
        yield view.threshold_path


def _walk(part: Part, used: set[Path], above: set[Path]) -> Iterator[Part]:
    """Find the largest parts of a value that hold nothing used, without going into others."""
    if part.path in used:
        return
    if part.path not in above:
        yield part
        return
    value: Any = part.value
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for step, each in inner:
        yield from _walk(Part((*part.path, step), each, part.number), used, above)


def _name_of(part: Part) -> str:
    """Return which field of a case a field is, by AgentV's names; empty if it is none or not a text."""
    if part.path[-1] == _ABOUT:
        return _ABOUT if isinstance(part.value, dict) else ""
    name = _TEXTS.get(str(part.path[-1]), "")
    is_text = isinstance(part.value, str) and bool(part.value.strip())
    return name if (is_text or is_messages(part.value)) and not has_variable(part.value) else ""


def _read_alone(part: Part) -> SuiteCase | None:
    """Return a record without rubrics as a case; None if it has no question."""
    fields: dict[str, Part] = {}
    others: list[Part] = []
    for key, value in part.value.items():
        inner = Part((*part.path, key), value, part.number)
        is_name = key in _NAMES and isinstance(value, str | int) and not isinstance(value, bool)
        name = _name_of(inner) or ("id" if is_name else "")
        if name and name not in fields:
            fields[name] = inner._replace(value=str(value)) if name == "id" else inner
        else:
            others.append(inner)
    if "input" not in fields:
        return None
    return SuiteCase((part.number, part.path), fields, (), tuple(others), names_rubrics=False)


def _split(use: Use) -> Iterator[tuple[str, bool]]:
    yield from ((part, True) for part in (use.name, *use.name.split("/")))
    if use.rubric.view and use.rubric.view.name:
        yield use.rubric.view.name, False


def _is_name(part: Part, names: _Names) -> bool:
    """Return whether a field is what a rubric is named after."""
    value = part.value
    if not part.path or isinstance(value, bool) or not isinstance(value, str | int):
        return False
    return (value, False) in names or (part.path[-1] in _NAMES and (str(value), True) in names)
