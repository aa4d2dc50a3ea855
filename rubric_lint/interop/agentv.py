"""AgentV since February 2026: `outcome` in place of `expected_outcome`, and assertions that hold the criteria.

What came before is version 1 and version 2 of the format itself.
"""

from collections.abc import Iterator
from decimal import ROUND_CEILING
from typing import Any, NamedTuple

from rubric_lint.document import Document
from rubric_lint.finding import Path
from rubric_lint.interop.view import Dialect, Draft, View, read_threshold, walk
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

CONTAINERS = {"rubrics": "criteria", "llm-rubric": "value", "agent-rubric": "value"}
"""The types of assertions that hold criteria, each with the field that AgentV reads them from."""

_EVALUATORS = ("assert", "assertions", "evaluators")
_MISPLACED = ("rubrics", "criteria")  # where authors put the criteria of an assertion that has them in `value`
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

# What tells a suite of AgentV from one of promptfoo, and AgentV 5 from what came before: `vars` and `assert` do not.
_OF_PROMPTFOO = "defaultTest"
_OF_A7 = ("default_test", "evaluate_options")


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
    is_last = any(each.dialect is A7 for each in found) or is_current(document)
    for path, value in _find_texts(document, is_told=bool(found)):
        is_current_list = is_last or (not found and path[-1] == "assert")
        yield _view_texts(document, path, value, A7 if is_current_list else A6 if is_late else A4)


def is_current(document: Document) -> bool:
    """Return whether the suite is written for AgentV 5: its prompts, and what it calls its defaults, say so."""
    suite = document.data
    if not isinstance(suite, dict) or _OF_PROMPTFOO in suite:
        return False
    return any(name in suite for name in _OF_A7) or (
        "prompts" in suite and any("id" in case and "input" not in case for case in _cases(document))
    )


def find_assertions(document: Document) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Find the assertions of the types that hold criteria."""
    for path, mapping in walk(document.data):
        kind = mapping.get("type")
        if len(path) > 1 and path[-2] in _EVALUATORS and isinstance(kind, str) and kind in CONTAINERS:
            yield path, mapping


def _cases(document: Document) -> list[dict[str, Any]]:
    cases = document.data.get(_CASES) if isinstance(document.data, dict) else None
    return [case for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []


def _find(document: Document) -> Iterator[_Found]:
    weak: list[_Found] = []
    is_old = False  # whether the document has rubrics in the words of version 2
    for path, mapping in walk(document.data):
        holder = path[-2] if len(path) > 1 else ""
        kind = mapping.get("type") if holder in _EVALUATORS else None
        value = mapping.get("rubrics")
        if isinstance(kind, str) and CONTAINERS.get(kind) == "value":
            yield from _find_judged(document, path, mapping)
        elif kind == "rubrics" and "criteria" in mapping:
            yield _Found((*path, "criteria"), mapping["criteria"], A4)
        elif not isinstance(value, list):
            continue
        elif _speaks(value, is_free=holder in case_lists()):
            each = _Found((*path, "rubrics"), value, A4 if kind == "rubrics" else A3)
            if any(map(_has_outcome, value)):
                yield each
            else:
                weak.append(each)
        else:
            is_old = is_old or _speaks_old(value)
    if not is_old:  # there, `min_score` is a slip
        yield from weak


def _find_judged(document: Document, path: Path, assertion: dict[str, Any]) -> Iterator[_Found]:
    """Find the criteria of an assertion `llm-rubric`: in `value`, or where AgentV does not expect them."""
    if _is_structured(value := assertion.get("value"), is_case=_is_of_agentv(document, path)):
        yield _Found((*path, "value"), value, A7)
    for name in _MISPLACED:
        entries = assertion.get(name)
        if isinstance(entries, list) and _is_structured(entries, is_case=True):
            yield _Found((*path, name), entries, A7)


def _find_texts(document: Document, *, is_told: bool) -> Iterator[tuple[Path, list[Any]]]:
    """The lists of assertions with plain texts among them, of a suite and of its cases.

    Other tools have such lists too. So something else must tell that the file is one of AgentV: criteria in its words
    (`is_told`), the name of the file, a case, or what only suites of AgentV 5 have.
    """
    suite = document.data
    cases = suite.get(_CASES) if isinstance(suite, dict) else None
    if not isinstance(cases, list):
        return
    is_named = document.source.name.lower().endswith(_FILE_NAMES)
    has_case = any(_is_case(case) and case.keys() >= _ONLY_CASES_HAVE for case in cases)
    if not (is_told or is_named or has_case or is_current(document)):
        return
    parts = [((_CASES, index), case) for index, case in enumerate(cases) if isinstance(case, dict) and "id" in case]
    for path, part in [((), suite), *parts]:
        name = next((name for name in _ASSERTIONS if name in part), "")
        value = part.get(name)
        if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
            yield (*path, name), value


def _is_case(case: Any) -> bool:
    """Return whether a case has fields that only AgentV knows."""
    return isinstance(case, dict) and bool(case.keys() & _OF_CASES) and "vars" not in case


def _is_of_agentv(document: Document, path: Path) -> bool:
    """Return whether the assertion at `path` is one of AgentV: promptfoo has the same, in cases without an `id`."""
    suite = document.data
    if isinstance(suite, dict) and _OF_PROMPTFOO in suite:
        return False
    while len(path) > 1 and path[-2] in _EVALUATORS:  # an assertion may be in a set of others
        path = path[:-2]
    path = path[:-1] if path[-1:] == ("execution",) else path
    owner = document.value(path)
    if path[-1:] == ("default_test",) or _is_case(owner):
        return True
    if path:
        return isinstance(owner, dict) and isinstance(owner.get("id"), str | int)
    return is_current(document) or any(_is_case(case) for case in _cases(document))


def _is_structured(value: Any, *, is_case: bool) -> bool:
    """Return whether a value holds criteria; `is_case`: AgentV reads it, and takes a text for a criterion."""
    if not isinstance(value, list) or _speaks_old(value):
        return False
    if is_case and any(isinstance(entry, str) for entry in value):
        return True
    mappings = [entry for entry in value if isinstance(entry, dict)]
    if is_case and any("score_ranges" in entry or _has_criteria(entry) for entry in mappings):
        return True
    return _speaks(value, is_free=True)


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
    if "score_ranges" in entry and (_is_share(entry.get("min_score")) or _has_outcome(entry)):
        return True
    known = schema_of(A6.schema).entry_fields
    is_known = all(field in known or find_near(field, known) for field in entry)
    return "outcome" in entry and is_known and (is_free or bool(entry.keys() & _BESIDES))


def _has_outcome(entry: Any) -> bool:
    """Return whether a criterion has the word `outcome`, itself or in its bands."""
    return isinstance(entry, dict) and ("outcome" in entry or any("outcome" in band for band in _bands(entry)))


def _has_criteria(entry: dict[str, Any]) -> bool:
    """Return whether a criterion has its text in `criteria`, which takes another field to tell."""
    return isinstance(entry.get("criteria"), str) and bool(entry.keys() & _BESIDES)


def _is_share(value: Any) -> bool:
    """Return whether a `min_score` can be a gate of AgentV; a gate such as 7 is a slip of version 2."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def _bands(entry: dict[str, Any]) -> list[dict[str, Any]]:
    ranges = entry.get("score_ranges")
    return [band for band in ranges if isinstance(band, dict)] if isinstance(ranges, list) else []


def _view(document: Document, path: Path, value: Any, dialect: Dialect) -> View:
    draft = Draft(document, path)
    entries = value if isinstance(value, list) else []
    data = [
        _read(draft, index, entry, dialect) if isinstance(entry, dict) else entry for index, entry in enumerate(entries)
    ]
    return draft.finish(dialect, data)


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
    gate = read_threshold(draft.document, (*draft.path, index, "min_score"))
    if gate:
        # Scores are integers, so 0.75 lets through what 0.8 does.
        found["required_min_score"] = int((gate * 10).to_integral_value(ROUND_CEILING))
        draft.put((index, "required_min_score"), (*draft.path, index, "min_score"))
