"""Read rubrics of AgentV since February 2026: `outcome` replaces `expected_outcome`, and assertions hold the criteria.

Earlier releases use version 1 or version 2 of our format.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_CEILING
from typing import Any, NamedTuple

from rubric_lint.formats.agentv.releases import find_fields
from rubric_lint.formats.agentv.suites import (
    EVALUATORS,
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
    speaks,
    speaks_old,
)
from rubric_lint.formats.search.around import find_in_suite
from rubric_lint.model.recognition import FIELD, Around
from rubric_lint.model.schema import case_lists
from rubric_lint.model.view import Dialect, Draft, View, read_text, read_threshold
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path

_WORDS = {"expected_outcome": "outcome"}
_WORDS_SINCE_A6 = {**_WORDS, "required_min_score": "min_score"}

# A4 and A5 have the same shape; they differ only in how they compute verdicts.
AGENTV_A3 = Dialect("agentv-a3", "AgentV, February 2026", "agentv/a3.json", _WORDS, implicit_required=True)
AGENTV_A4 = Dialect("agentv-a4", "AgentV, March 2026", "agentv/a3.json", _WORDS, implicit_required=True)
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


class _Found(NamedTuple):
    """A list of criteria, or a single one, and the dialect that its position suggests.

    `definition` is that of the value at `path`, if it is not a list.
    """

    path: Path
    entries: Any
    dialect: Dialect
    definition: str = ""


def find(document: Document) -> Iterator[View]:
    """Find the lists of criteria, each with the pass mark of its test and what else stands around it."""
    for view in _find(document):
        is_last = view.dialect.name == AGENTV_A7.name
        around = find_in_suite(document, view.path, AGENTV_A7.schema if is_last else AGENTV_A6.schema)
        yield replace(view, **around._asdict()) if around != Around() else view


def _find(document: Document) -> Iterator[View]:
    """Find the lists of criteria; a single `min_score` or `operator` makes the whole file AgentV 4."""
    sure, weak, texts, placed, is_old, is_told = _find_lists(document)
    if is_old:  # in version 2, `min_score` is a typo
        weak, texts, placed = [], [], []
    elif not (sure or weak or is_told):
        texts = []  # beside these dialects, strings are criteria of the same release
    has_any = bool(sure or weak or texts)
    entries = [entry for each in (*sure, *weak) if isinstance(each.entries, list) for entry in each.entries]
    is_late = any(isinstance(entry, dict) and entry.keys() & {"min_score", "operator"} for entry in entries)
    found = [*sure, *weak, *texts, *(placed if sure else ())]
    for path, value, suggested, definition in found:
        dialect = AGENTV_A6 if is_late and suggested is not AGENTV_A7 else suggested
        draft = Draft(document, path)
        entries = value if isinstance(value, list) else []
        sources = [path] if definition else [(*path, index) for index in range(len(entries))]
        data = [
            _read_criterion(draft, (index, source), entry, dialect, definition) if isinstance(entry, dict) else entry
            for index, (source, entry) in enumerate(zip(sources, entries, strict=True))
        ]
        yield draft.finish(dialect, data, definition=definition)
    is_last = any(each.dialect is AGENTV_A7 for each in sure) or is_current(document)
    for place in find_text_lists(document, is_told=has_any):
        is_current_list = is_last or (not has_any and place.path[-1] == "assert")
        dialect = AGENTV_A7 if is_current_list else AGENTV_A6 if is_late else AGENTV_A4
        yield _view_texts(document, place.path, place.value, dialect, is_turn=place.is_turn)
    yield from _find_scales(document, AGENTV_A6 if is_late else AGENTV_A4)


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

        if is_of_agentv(document, path) and (scale := find_scale(text)):
            release = AGENTV_A7 if field == "value" else before
            dialect = replace(release, without=frozenset({"missing-id", "split-band"}))
            name = read_text(mapping, "metric") or read_text(mapping, "name")
            yield view_scale(document, (*path, field), scale, SHARE, dialect, name=name, more={"definition": _TEXT})


def _find_lists(
    document: Document,
) -> tuple[list[_Found], list[_Found], list[_Found], list[_Found], bool, bool]:
    """Return the lists of criteria: sure ones, weak ones, those of texts and placed ones.

    Weak ones count unless the file has old ones; placed ones have fields of other tools too, and count only beside sure
    ones. Also return whether there are rubrics in the words of version 2, and whether a file of cases is AgentV's.
    """
    sure, weak, texts, placed = list[_Found](), list[_Found](), list[_Found](), list[_Found]()
    loose = {path: case for path, case in find_cases(document) if len(path) <= 1}  # cases in a file of their own
    is_old = False
    is_told = document.part != "" or any(map(is_whole_case, loose.values()))
    for path, mapping in document.mappings:
        holder = path[-2] if len(path) > 1 else ""
        kind = mapping.get("type") if holder in EVALUATORS else None
        kind = kind if isinstance(kind, str) else None
        value = mapping.get("rubrics")
        if kind and CONTAINERS.get(kind) == "value":
            sure += _find_judged(document, path, mapping)
        elif kind == "rubrics" and "criteria" in mapping:
            sure.append(_Found((*path, "criteria"), mapping["criteria"], AGENTV_A4))
        elif not isinstance(value, list):
            continue
        elif speaks(value, is_free=holder in case_lists() or path in loose, has_criteria=kind in _GRADERS):
            each = _Found((*path, "rubrics"), value, AGENTV_A4 if kind == "rubrics" else AGENTV_A3)
            (sure if any(map(has_outcome, value)) else weak).append(each)
        elif value and (holder in case_lists() or path in loose) and all(isinstance(entry, str) for entry in value):
            texts.append(_Found((*path, "rubrics"), value, AGENTV_A3))
        elif (holder in case_lists() or path in loose) and any(map(has_outcome, value)) and not speaks_old(value):
            told = sure if is_agentv_case(mapping) and any(map(_is_weighted, value)) else placed
            told.append(_Found((*path, "rubrics"), value, AGENTV_A3))
        else:
            is_old = is_old or speaks_old(value)
    return sure, weak, texts, placed, is_old, is_told


def _is_weighted(entry: Any) -> bool:
    return isinstance(entry, dict) and "outcome" in entry and not entry.keys().isdisjoint(_NAMES.keys() - {"id"})


def _find_judged(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[_Found]:
    """Find the criteria of an `llm-rubric` assertion: in `value`, or in a field that AgentV does not read."""
    value, place = assertion.get("value"), (*path, "value")
    is_case = is_of_agentv(document, path)
    if is_structured(value, is_case=is_case) or (is_case and _is_old_list(document, path, value)):
        yield _Found(place, value, AGENTV_A7)
    elif is_case and isinstance(value, dict) and is_criterion(value):
        yield _Found(place, [value], AGENTV_A7, _ONE)
    elif is_case and isinstance(value, str) and "score_ranges" in assertion:
        yield _Found(path, [assertion], AGENTV_A7, _SCORED)
    for name in _MISPLACED:
        entries = assertion.get(name)
        if isinstance(entries, list) and is_structured(entries, is_case=True):
            yield _Found((*path, name), entries, AGENTV_A7)


def _is_old_list(document: Document, path: Path, value: Any) -> bool:
    """Return whether a `value` lists criteria in the words of version 2, in a suite that can only be AgentV's."""
    if not isinstance(value, list) or not speaks_old(value):
        return False
    owner = document.value(path[:-2])
    return any(map(has_outcome, value)) or is_current(document) or is_agentv_case(owner)


def _view_texts(document: Document, path: Path, assertions: list[Any], dialect: Dialect, *, is_turn: bool) -> View:
    """Return one rubric of all strings in a list; in a turn, the criteria have other ids and need not be met."""
    draft = Draft(document, path)
    places = [index for index, assertion in enumerate(assertions) if isinstance(assertion, str)]
    data: list[Any] = []
    for own, place in enumerate(places):
        draft.put((own,), (*path, place))
        text = assertions[place]
        if is_turn:
            draft.put((own, "expected_outcome"), (*path, place))
            data.append({"id": f"criterion-{own + 1}", "expected_outcome": text, "required": False})
        else:
            data.append(text)
    return draft.finish(dialect, data, around=_ALL_OF_THEM)


def _read_criterion(
    draft: Draft, at: tuple[int, Path], entry: dict[str, Any], dialect: Dialect, definition: str
) -> dict[str, Any]:
    """Read one criterion in the words of version 2, with the gate as AgentV reads it; `at` are its index and its place.

    A `definition` says that it is not in a list: it is the assertion itself, or the mapping in its `value`.
    """
    index, source = at
    is_scored, is_unnamed = definition == _SCORED, definition == _ONE and "criteria" in entry
    outcome = "value" if is_scored else "outcome" if "outcome" in entry and not is_unnamed else "criteria"
    names = {**_NAMES, outcome: "expected_outcome"}
    unread = ("id", "required") if is_scored else ("id",) if is_unnamed else ()  # which the assertion has for itself
    names = {name: own for name, own in names.items() if name not in unread}
    found: dict[str, Any] = {"id": "rubric-1"} if "id" in unread else {}
    draft.put((index,), source)
    for key, value in entry.items():
        if name := names.get(key):
            found[name] = value
            draft.put((index, name), (*source, key))
    if isinstance(bands := entry.get("score_ranges"), list):
        found["score_ranges"] = []
        for at_band, band in enumerate(bands):
            own, place = (index, "score_ranges", at_band), (*source, "score_ranges", at_band)
            draft.put(own, place)
            renamed = draft.rename(band, _OF_BANDS, own, place) if isinstance(band, dict) else band
            found["score_ranges"].append(renamed)
    if dialect in (AGENTV_A6, AGENTV_A7):
        _read_gate(draft, at, entry, found, dialect)
    elif "score_ranges" not in entry and (gate := entry.get("required_min_score")) == 0 and gate is not False:
        del found["required_min_score"]  # a gate of 0 makes no checklist criterion optional in AgentV
    return found


def _read_gate(
    draft: Draft, at: tuple[int, Path], entry: dict[str, Any], found: dict[str, Any], dialect: Dialect
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
