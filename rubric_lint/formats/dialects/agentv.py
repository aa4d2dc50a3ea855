"""Read rubrics of AgentV since February 2026: `outcome` replaces `expected_outcome`, and assertions hold the criteria.

Earlier releases use version 1 or version 2 of our format.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.releases import find_fields
from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    EVAL_FILES,
    ListPlace,
    find_cases,
    find_text_lists,
    find_typed,
    has_outcome,
    is_agentv_case,
    is_criterion,
    is_current,
    is_of_agentv,
    is_structured,
    is_whole_case,
    uses_old_words,
    uses_words,
)
from rubric_lint.formats.search.around import find_in_suite
from rubric_lint.model.recognition import FIELD, Around
from rubric_lint.model.schema import case_lists
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text, read_threshold
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

_WORDS = {"expected_outcome": "outcome"}
_WORDS_SINCE_A6 = {**_WORDS, "required_min_score": "min_score"}

# Releases since A5 of 30 March, which have no verdict `borderline`, run suites in the shapes of A3 and A4, too.
AGENTV_A3 = Dialect(
    "agentv-a3", "AgentV, February 2026", "agentv/a3.json", _WORDS, implicit_required=True, has_borderline=False
)
AGENTV_A4 = replace(AGENTV_A3, name="agentv-a4", title="AgentV, March 2026")
AGENTV_A6 = Dialect(
    "agentv-a6", "AgentV 4", "agentv/a6.json", _WORDS_SINCE_A6, implicit_required=True, top=1, has_borderline=False
)
AGENTV_A7 = replace(AGENTV_A6, name="agentv-a7", title="AgentV 5", schema="agentv/a7.json")

_FIELDS = find_fields("x-criteria")

CONTAINERS = {kind: field for kind, field in _FIELDS.items() if field != FIELD}
"""The types of assertions that hold criteria, each with the field that AgentV reads them from."""

_GRADERS = _FIELDS.keys() - CONTAINERS.keys()  # AgentV's alone, with their criteria in `rubrics`
_MISPLACED = ("rubrics", "criteria")  # where authors put criteria that belong in the `value` of the assertion
_NAMES = {name: name for name in ("id", "weight", "required", "required_min_score", "score_ranges")}
_OF_BANDS = {"score_range": "score_range", "outcome": "expected_outcome"}

_ALL_OF_THEM = "agentv/a3.json#/definitions/assertions"
_ONE = "agentv/a7.json#/definitions/entry"
_SCORED = "agentv/a7.json#/definitions/scored"
_TEXT = "agentv/a7.json#/definitions/text"
_TEXT_OF = find_fields("x-text")
_CRITERIA = frozenset({"rubrics", "criteria", "score_ranges"})


class _Criteria(NamedTuple):
    """A list of criteria, or a single one, and the dialect that its position suggests.

    `definition` is that of the value at `path`, if it is not a list.
    """

    path: Path
    entries: Any
    dialect: Dialect
    definition: str = ""


@dataclass
class _Lists:
    """The lists of criteria of a document.

    Weak ones count unless the document has rubrics in the words of version 2 (`has_old`). Placed ones have fields of
    other tools too, and count only if there are sure ones. `has_own_cases`: its cases can only be AgentV's.
    """

    has_own_cases: bool
    sure: list[_Criteria] = field(default_factory=list)
    weak: list[_Criteria] = field(default_factory=list)
    texts: list[_Criteria] = field(default_factory=list)
    placed: list[_Criteria] = field(default_factory=list)
    has_old: bool = False


def find(document: Document) -> Iterator[View]:
    """Find the lists of criteria, each with the pass mark of its test and what else is around it."""
    for view in _find(document):
        is_last = view.dialect.name == AGENTV_A7.name
        schema = AGENTV_A7.schema if is_last else AGENTV_A6.schema
        around = find_in_suite(document, view.path, schema, view=view)
        yield replace(view, **around._asdict()) if around != Around() else view


def _find(document: Document) -> Iterator[View]:
    """Find the lists of criteria; a single `min_score` or `operator` makes the whole file AgentV 4."""
    lists = _find_lists(document)
    counted = list(lists.sure)
    if not lists.has_old:  # in version 2, `min_score` is a typo
        counted += lists.weak
    before = AGENTV_A6 if any(map(_is_of_a6, counted)) else AGENTV_A4
    if not lists.has_old and (counted or lists.has_own_cases):
        counted += lists.texts  # where there are such criteria, strings are criteria of the same release
    has_criteria = bool(counted)
    if lists.sure and not lists.has_old:
        counted += lists.placed
    for criteria in counted:
        yield _view(document, criteria, before)
    is_last = any(criteria.dialect is AGENTV_A7 for criteria in lists.sure) or is_current(document)
    for assertions in find_text_lists(document, has_criteria=has_criteria):
        is_current_list = is_last or (not has_criteria and assertions.path[-1] == "assert")
        dialect = AGENTV_A7 if is_current_list else before
        yield _view_texts(document, assertions, dialect)
    yield from _find_scales(document, before)


def _is_of_a6(criteria: _Criteria) -> bool:
    """Return whether a list has a field that only AgentV 4 and 5 have."""
    entries = criteria.entries if isinstance(criteria.entries, list) else []
    return any(isinstance(entry, dict) and entry.keys() & {"min_score", "operator"} for entry in entries)


def _view(document: Document, criteria: _Criteria, before: Dialect) -> View:
    """Return the rubric of a list; `before` is the newest dialect before AgentV 5 of which the document has signs."""
    path, value, dialect, definition = criteria
    if before is AGENTV_A6 and dialect is not AGENTV_A7:
        dialect = AGENTV_A6
    draft = ViewBuilder(document, path)
    data: list[Any] = []
    entries = value if isinstance(value, list) else ()
    for index, entry in enumerate(entries):
        source = path if definition else (*path, index)
        is_mapping = isinstance(entry, dict)
        item = _read_criterion(draft, (index, source), entry, dialect, definition) if is_mapping else entry
        data.append(item)
    return draft.finish(dialect, data, definition=definition)


def find_assertions(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the assertions whose type holds criteria."""
    return ((path, mapping) for path, mapping, kind in find_typed(document) if kind in CONTAINERS)


def _find_scales(document: Document, before: Dialect) -> Iterator[View]:
    """Find the texts by which AgentV judges freely and into which their authors have written bands or levels.

    `before` is the dialect of the graders that AgentV 5 no longer has.
    """
    for path, mapping, kind in find_typed(document):
        field = _TEXT_OF.get(kind, "")
        text = mapping.get(field)
        if not isinstance(text, str) or "\n" not in text or not mapping.keys().isdisjoint(_CRITERIA):
            continue
        from rubric_lint.formats.search.scales_in_text import SHARE, find_scale, view_scale  # noqa: PLC0415  (few suites have any)

        scale = find_scale(text) if is_of_agentv(document, path) else None
        if scale:
            release = AGENTV_A7 if field == "value" else before
            dialect = replace(release, without=frozenset({"missing-id", "split-band"}))
            name = read_text(mapping, "metric") or read_text(mapping, "name")
            yield view_scale(document, (*path, field), scale, SHARE, dialect, name=name, more={"definition": _TEXT})


def _find_lists(document: Document) -> _Lists:
    """Find the lists of criteria in assertions, and those under `rubrics`."""
    loose = {path: case for path, case in find_cases(document) if len(path) <= 1}  # cases in a file of their own
    lists = _Lists(has_own_cases=document.part != "" or any(map(is_whole_case, loose.values())))
    for path, mapping in document.mappings:
        holder = path[-2] if len(path) > 1 else ""
        kind = read_text(mapping, "type") if holder in ASSERTION_LISTS else ""
        value = mapping.get("rubrics")
        if CONTAINERS.get(kind) == "value":
            lists.sure += _find_judged(document, path, mapping)
            continue
        if kind == "rubrics" and "criteria" in mapping:
            lists.sure.append(_Criteria((*path, "criteria"), mapping["criteria"], AGENTV_A4))
            continue
        if not isinstance(value, list):
            continue
        is_of_case = holder in case_lists() or path in loose
        criteria = _Criteria((*path, "rubrics"), value, AGENTV_A3)
        if uses_words(value, is_of_case=is_of_case, has_criteria=kind in _GRADERS):
            if kind == "rubrics":
                criteria = criteria._replace(dialect=AGENTV_A4)
            has_outcomes = any(map(has_outcome, value))
            alike = lists.sure if has_outcomes else lists.weak
            alike.append(criteria)
        elif value and is_of_case and all(isinstance(entry, str) for entry in value):
            lists.texts.append(criteria)
        elif uses_old_words(value):
            lists.has_old = True
        elif is_of_case and any(map(has_outcome, value)):
            is_sure = is_agentv_case(mapping) and any(map(_is_weighted, value))
            alike = lists.sure if is_sure else lists.placed
            alike.append(criteria)
    return lists


def _is_weighted(entry: Any) -> bool:
    return isinstance(entry, dict) and "outcome" in entry and not entry.keys().isdisjoint(_NAMES.keys() - {"id"})


def _find_judged(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[_Criteria]:
    """Find the criteria of an `llm-rubric` assertion: in `value`, or in a field that AgentV does not read."""
    value, place = assertion.get("value"), (*path, "value")
    is_case = is_of_agentv(document, path)
    if is_structured(value, is_case=is_case) or (is_case and _is_old_list(document, path, value)):
        yield _Criteria(place, value, AGENTV_A7)
    elif is_case and isinstance(value, dict) and is_criterion(value):
        yield _Criteria(place, [value], AGENTV_A7, _ONE)
    elif is_case and isinstance(value, str) and "score_ranges" in assertion:
        yield _Criteria(path, [assertion], AGENTV_A7, _SCORED)
    for name in _MISPLACED:
        entries = assertion.get(name)
        if isinstance(entries, list) and is_structured(entries, is_case=True):
            yield _Criteria((*path, name), entries, AGENTV_A7)


def _is_old_list(document: Document, path: Path, value: Any) -> bool:
    """Return whether a `value` lists criteria in the words of version 2, in a suite that can only be AgentV's."""
    if not isinstance(value, list) or not uses_old_words(value):
        return False
    is_named = document.source.name.lower().endswith(EVAL_FILES)
    return is_named or any(map(has_outcome, value)) or is_current(document) or is_agentv_case(document.value(path[:-2]))


def _view_texts(document: Document, assertions: ListPlace, dialect: Dialect) -> View:
    """Return one rubric of all strings in a list; in a turn, the criteria have other ids and need not be met."""
    draft = ViewBuilder(document, assertions.path)
    data: list[Any] = []
    for index, text in enumerate(assertions.value):
        if not isinstance(text, str):
            continue
        own, place = len(data), (*assertions.path, index)
        draft.put((own,), place)
        if assertions.is_turn:
            draft.put((own, "expected_outcome"), place)
            data.append({"id": f"criterion-{own + 1}", "expected_outcome": text, "required": False})
        else:
            data.append(text)
    return draft.finish(dialect, data, around=_ALL_OF_THEM)


def _read_criterion(
    draft: ViewBuilder, at: tuple[int, Path], entry: dict[str, Any], dialect: Dialect, definition: str
) -> dict[str, Any]:
    """Read one criterion in the words of version 2, with the gate as AgentV reads it; `at` are its index and its place.

    A `definition` says that it is not in a list: it is the assertion itself, or the mapping in its `value`.
    """
    index, source = at
    outcome = "outcome" if "outcome" in entry else "criteria"
    of_assertion: tuple[str, ...] = ()  # fields that do not belong to the criterion
    if definition == _SCORED:
        outcome, of_assertion = "value", ("id", "required")
    elif definition == _ONE and "criteria" in entry:
        outcome, of_assertion = "criteria", ("id",)
    names = {name: own for name, own in _NAMES.items() if name not in of_assertion} | {outcome: "expected_outcome"}
    found = draft.rename(entry, names, (index,), source)
    if of_assertion:
        found["id"] = "rubric-1"
    bands = entry.get("score_ranges")
    if isinstance(bands, list):
        found["score_ranges"] = draft.rename_items(bands, _OF_BANDS, (index, "score_ranges"), (*source, "score_ranges"))
    if dialect in (AGENTV_A6, AGENTV_A7):
        _read_gate(draft, at, entry, found, dialect)
    elif "score_ranges" not in entry:
        gate = entry.get("required_min_score")
        if gate == 0 and gate is not False:
            del found["required_min_score"]  # a gate of 0 makes no checklist criterion optional in AgentV
    return found


def _read_gate(
    draft: ViewBuilder, at: tuple[int, Path], entry: dict[str, Any], found: dict[str, Any], dialect: Dialect
) -> None:
    """Read the gate: since A6, `min_score` applies to bands only, and a checklist criterion has only `required`."""
    index, source = at
    if "score_ranges" not in entry:
        found.pop("required_min_score", None)
        return
    if dialect is AGENTV_A7:
        found.pop("required", None)
    owners = [draft.document.value(source[: len(source) - up]) for up in range(3)]
    if any(isinstance(owner, dict) and owner.get("type") == "agent-rubric" for owner in owners):
        return  # AgentV shows an agent no bands, and no gate holds on them
    gate = read_threshold(draft.document, (*source, "min_score"))
    if gate:
        # Scores are integers, so the gates 0.75 and 0.8 are the same.
        found["required_min_score"] = int((gate * 10).to_integral_value(ROUND_CEILING))
        draft.put((index, "required_min_score"), (*source, "min_score"))
