"""AgentV since February 2026: `outcome` in place of `expected_outcome`, and assertions that hold the criteria.

What came before is version 1 and version 2 of the format itself.
"""

from collections.abc import Iterator
from decimal import ROUND_CEILING
from typing import Any, NamedTuple

from rubric_lint.document import Document
from rubric_lint.finding import Path
from rubric_lint.interop.view import Dialect, Draft, Loss, View, read_threshold, walk
from rubric_lint.near import find_near
from rubric_lint.schema import case_lists, schema_of

_WORDS = {"expected_outcome": "outcome"}
_WORDS_SINCE_A6 = {**_WORDS, "required_min_score": "min_score"}

# What verdicts come to, the shape does not tell: A4 and A5 differ in that alone.
A3 = Dialect("agentv-a3", "AgentV, February 2026", "agentv/a3.json", _WORDS, implicit_required=True)
A4 = Dialect("agentv-a4", "AgentV, March 2026", "agentv/a3.json", _WORDS, implicit_required=True)
A6 = Dialect(
    "agentv-a6", "AgentV 4", "agentv/a6.json", _WORDS_SINCE_A6, implicit_required=True, top=1, has_borderline=False
)
A7 = Dialect(
    "agentv-a7", "AgentV 5", "agentv/a7.json", _WORDS_SINCE_A6, implicit_required=True, top=1, has_borderline=False
)
DIALECTS = (A3, A4, A6, A7)

_EVALUATORS = ("assert", "assertions", "evaluators")
_OLD = frozenset({"expected_outcome", "description"})
_BESIDES = frozenset({"id", "weight", "required", "min_score", "required_min_score", "score_ranges", "operator"})
_OF_CASES = frozenset({"criteria", "input", "expected_output"})
_NAMES = {name: name for name in ("id", "weight", "required", "required_min_score", "score_ranges")}

# Of texts among assertions, which all versions since A4 read alike.
_ASSERTIONS = ("assertions", "assert")  # where there are both, AgentV reads the first alone
_ALL_OF_THEM = "agentv/a3.json#/definitions/assertions"
_CASES = "tests"
_ONLY_CASES_HAVE = frozenset({"id", "input", "criteria"})
_FILE_NAMES = (".eval.yaml", ".eval.yml")


class _Found(NamedTuple):
    """A list of criteria, and the dialect that its place speaks for."""

    path: Path
    entries: Any
    dialect: Dialect


def find(document: Document) -> Iterator[View]:
    """Find the lists of criteria; one `min_score` or `operator` makes a file one of AgentV 4."""
    found = list(_find(document))
    entries = [entry for each in found if isinstance(each.entries, list) for entry in each.entries]
    is_late = any(isinstance(entry, dict) and entry.keys() & {"min_score", "operator"} for entry in entries)
    for path, value, dialect in found:
        yield _view(document, path, value, A6 if is_late and dialect is not A7 else dialect)
    for path, value in _find_texts(document, is_told=bool(found)):
        is_last = any(each.dialect is A7 for each in found) or (not found and path[-1] == "assert")
        yield _view_texts(document, path, value, A7 if is_last else A6 if is_late else A4)


def _find(document: Document) -> Iterator[_Found]:
    for path, mapping in walk(document.data):
        holder = path[-2] if len(path) > 1 else ""
        kind = mapping.get("type") if holder in _EVALUATORS else None
        if kind == "llm-rubric":
            is_case = _is_case(document.value(path[:-2]))
            if _is_structured(value := mapping.get("value"), is_case=is_case):
                yield _Found((*path, "value"), value, A7)
        elif kind == "rubrics" and "criteria" in mapping:
            yield _Found((*path, "criteria"), mapping["criteria"], A4)
        elif isinstance(value := mapping.get("rubrics"), list) and _speaks(value, is_free=holder in case_lists()):
            yield _Found((*path, "rubrics"), value, A4 if kind == "rubrics" else A3)


def _find_texts(document: Document, *, is_told: bool) -> Iterator[tuple[Path, list[Any]]]:
    """The lists of assertions with plain texts among them, of a suite and of its cases.

    Other tools have such lists too. So something else must tell that the file is one of AgentV: criteria in its words
    (`is_told`), the name of the file, or a case.
    """
    suite = document.data
    cases = suite.get(_CASES) if isinstance(suite, dict) else None
    if not isinstance(cases, list):
        return
    is_named = document.source.name.lower().endswith(_FILE_NAMES)
    if not (is_told or is_named or any(_is_case(case) and case.keys() >= _ONLY_CASES_HAVE for case in cases)):
        return
    parts = [((_CASES, index), case) for index, case in enumerate(cases) if isinstance(case, dict) and "id" in case]
    for path, part in [((), suite), *parts]:
        name = next((name for name in _ASSERTIONS if name in part), "")
        value = part.get(name)
        if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
            yield (*path, name), value


def _is_case(case: Any) -> bool:
    """Whether a case is one of AgentV: promptfoo has the same assertions, below `vars`."""
    return isinstance(case, dict) and bool(case.keys() & _OF_CASES) and "vars" not in case


def _is_structured(value: Any, *, is_case: bool) -> bool:
    if not isinstance(value, list):
        return False
    if value and all(isinstance(entry, str) for entry in value):
        return is_case
    has_bands = any(isinstance(entry, dict) and "score_ranges" in entry for entry in value)
    return _speaks(value, is_free=True) or (is_case and has_bands and not _speaks_old(value))


def _speaks(entries: list[Any], *, is_free: bool) -> bool:
    """Whether entries are in the words of these dialects, and none in those before.

    `is_free`: where they stand, a lone `outcome` is enough.
    """
    mappings = [entry for entry in entries if isinstance(entry, dict)]
    return not _speaks_old(entries) and any(_is_entry(entry, is_free=is_free) for entry in mappings)


def _speaks_old(entries: list[Any]) -> bool:
    mappings = [entry for entry in entries if isinstance(entry, dict)]
    bands = [band for entry in mappings for band in _bands(entry)]
    return any(_OLD & each.keys() for each in (*mappings, *bands))


def _is_entry(entry: dict[str, Any], *, is_free: bool) -> bool:
    if "score_ranges" in entry and ("min_score" in entry or any("outcome" in band for band in _bands(entry))):
        return True
    known = schema_of(A6.schema).entry_fields
    is_known = all(field in known or find_near(field, known) for field in entry)
    return "outcome" in entry and is_known and (is_free or bool(entry.keys() & _BESIDES))


def _bands(entry: dict[str, Any]) -> list[dict[str, Any]]:
    ranges = entry.get("score_ranges")
    return [band for band in ranges if isinstance(band, dict)] if isinstance(ranges, list) else []


def _view(document: Document, path: Path, value: Any, dialect: Dialect) -> View:
    draft = Draft(document, path)
    entries = value if isinstance(value, list) else []
    data = [
        _read(draft, index, entry, dialect) if isinstance(entry, dict) else entry for index, entry in enumerate(entries)
    ]
    losses = tuple(
        Loss(f"operator: {entry['operator']}", (*path, index, "operator"))
        for index, entry in enumerate(entries)
        if isinstance(entry, dict) and entry.get("operator") == "contradiction"
    )
    return draft.finish(dialect, data, losses=losses)


def _view_texts(document: Document, path: Path, assertions: list[Any], dialect: Dialect) -> View:
    """All texts of a list of assertions, which are one rubric; the other assertions are none of its criteria."""
    draft = Draft(document, path)
    places = [index for index, assertion in enumerate(assertions) if isinstance(assertion, str)]
    for own, place in enumerate(places):
        draft.put((own,), (*path, place))
    return draft.finish(dialect, [assertions[place] for place in places], around=_ALL_OF_THEM)


def _read(draft: Draft, index: int, entry: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """One criterion in the words of v2, with the gate that AgentV reads there."""
    outcome = "outcome" if "outcome" in entry else "criteria"
    found = draft.rename(entry, {**_NAMES, outcome: "expected_outcome"}, (index,))
    if isinstance(bands := entry.get("score_ranges"), list):
        names = {"score_range": "score_range", "outcome": "expected_outcome"}
        found["score_ranges"] = draft.rename_each(bands, names, (index, "score_ranges"))
    if dialect in (A6, A7):
        _read_gate(draft, index, entry, found, dialect)
    return found


def _read_gate(draft: Draft, index: int, entry: dict[str, Any], found: dict[str, Any], dialect: Dialect) -> None:
    """Since A6 `min_score` goes first on bands, and a checklist criterion has no gate but `required`."""
    if "score_ranges" not in entry:
        found.pop("required_min_score", None)
        return
    if dialect is A7:
        found.pop("required", None)
    gate = read_threshold(draft.document, entry, "min_score")
    if gate:
        # Scores are integers, so 0.75 lets through what 0.8 does.
        found["required_min_score"] = int((gate * 10).to_integral_value(ROUND_CEILING))
        draft.put((index, "required_min_score"), (*draft.path, index, "min_score"))
