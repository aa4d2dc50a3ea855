"""Find criteria in suites of AgentV and promptfoo that nothing reads: findings in AgentV's, and near misses."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from rubric_lint.formats.agentv.parts import OLD_CASES, Blocker, find_unloaded, is_suite_of_agentv
from rubric_lint.formats.agentv.releases import NEWEST, OLDEST, Release, find_fields
from rubric_lint.formats.agentv.suites import (
    ASSERTION_LISTS,
    find_cases,
    find_mappings,
    find_owner,
    find_read,
    find_release,
    find_typed,
    is_current,
    is_of_agentv,
    is_turn,
    look_up,
    uses_words,
)
from rubric_lint.formats.dialects import JUDGED_TYPES
from rubric_lint.formats.dialects.agentv import CONTAINERS, find_assertions
from rubric_lint.model.finding import Problem
from rubric_lint.model.messages import describe, find_near, shorten
from rubric_lint.model.recognition import FIELD
from rubric_lint.model.repairs import rename_fields
from rubric_lint.model.view import View, read_text
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import EscapeText, Repair
from rubric_lint.source.nunjucks import find_broken, find_names
from rubric_lint.source.path import Part, Path, find_strings
from rubric_lint.source.tree import CALL
from rubric_lint.source.values import as_list, as_mapping


def find_faulty_templates(document: Document) -> Iterator[Problem]:
    """Find the texts of tests that AgentV 5 cannot render, and texts of criteria that ask for a missing variable.

    It renders the texts of a test as soon as the test has variables, and only those.
    """
    suite = document.data if isinstance(document.data, dict) else {}
    if isinstance(suite.get("default_test"), str):
        return
    shared = _read_variables(suite) | _read_variables(suite.get("default_test"))
    lists = NEWEST.lists["test"]
    for path, case in find_cases(document):
        variables = shared | _read_variables(case)
        if path[:1] == ("scenarios",) or not variables:
            continue
        steps = next((steps for steps in lists if look_up(case, steps) is not None), lists[0])
        judged = dict(_find_in_list((*path, *steps), look_up(case, steps)))
        rendered = dict(judged)
        for name in NEWEST.loaded["rendered"]:
            rendered.update(find_strings((*path, name), case.get(name)))
        rendered.update(find_strings((*path, "vars", "input"), look_up(case, ("vars", "input"))))
        for place, text in rendered.items():
            yield from _check_template(place, text, variables, is_judged=place in judged)


def _check_template(place: Path, text: str, variables: dict[str, Any], *, is_judged: bool) -> Iterator[Problem]:
    """Check a text of a test that AgentV 5 renders; if a model judges by it, all its variables must be there."""
    tag = find_broken(text)
    if tag:
        yield Problem("agentv-template", place, values={"tag": tag}, repair=_escape(place))
        return
    filled = {"env"} if place[-1] == "prompt" else _FILLED  # the others are gone before its judge sees a prompt
    missing = [name for name in find_names(text) if name not in variables and name not in filled]
    if is_judged and missing:
        yield Problem("agentv-variable", place, values={"name": missing[0]}, repair=_escape(place))
        return
    within = {match[1] for match in _WHOLE.finditer(text) if match[0] != text.strip()}
    objects = [name for name, value in variables.items() if name in within and _is_object(value)]
    if objects:
        yield Problem("agentv-object", place, values={"name": min(objects)})


_WHOLE = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")
"""A tag that is a variable, without a field of it or a filter."""

_FILLED = frozenset(NEWEST.loaded["filled"])
"""Names that AgentV or its judge may fill in, whatever the variables of a test are."""


def _escape(path: Path) -> Repair:
    return Repair("escape the text, so that the judge sees it as it is", (EscapeText(path),), safe=False)


def _read_variables(owner: Any) -> dict[str, Any]:
    variables = owner.get("vars") if isinstance(owner, dict) else None
    return {str(name): value for name, value in variables.items()} if isinstance(variables, dict) else {}


def _is_object(value: Any) -> bool:
    """Return whether a variable is no text where a template names it; of a list of strings, each makes a test."""
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and not isinstance(value[0], str))


def _find_in_list(path: Path, entries: Any) -> Iterator[tuple[Path, str]]:
    """Find the strings by which a model judges: those among assertions, and in the values of rubrics."""
    if not isinstance(entries, list):
        return
    for at, entry in enumerate(entries):
        place = (*path, at)
        if isinstance(entry, str):
            yield place, entry
            continue
        kind = str(entry.get("type")) if isinstance(entry, dict) else ""
        if kind in NEWEST.criteria_fields:
            for name in (NEWEST.criteria_fields[kind], "score_ranges", "prompt"):
                yield from find_strings((*place, name), entry.get(name))
        elif kind in _SETS:
            yield from _find_in_list((*place, _SETS[kind]), entry.get(_SETS[kind]))


_SETS = find_fields("x-members")
"""The types of assertions that hold others, each with the field of their list."""


def find_lost_in_agentv(document: Document, views: list[View], rubrics: set[Path]) -> list[Problem]:
    """Find what AgentV does not read of a suite, one problem a place: `views` are its rubrics, `rubrics` all paths."""
    release = find_release(document)
    is_last = release is NEWEST
    names = {view.dialect.name for view in views}
    found: list[Problem] = []
    for view in views:
        found += _find_misplaced(document, view.path, release)
    found += _find_empty(document, {path[:-1] for path in rubrics} | rubrics)
    found += _find_ignored(document)
    if is_last:
        refused = list(find_unloaded(document, release))
        found += _find_unread_types(document, release, refused, _CRITERIA_FIELDS, "agentv-5-type")
        found += _find_refused_lists(document, release, refused)
    if is_last or names & NEWEST.dialects:
        found += find_faulty_templates(document)
    found += _find_unread_lists(document, release, rubrics, views)
    if not is_last:
        if "agentv-a6" in names:
            unread = find_unloaded(document, release)
            found += _find_unread_types(document, release, unread, {FIELD}, "agentv-4-type")
        found += _find_skipped(document, release)
        found += _find_dropped(document, rubrics)
    found += _find_elsewhere(document, is_last=is_last)
    found += _find_in_turns(document)
    firsts: dict[Path, Problem] = {}
    for problem in found:
        firsts.setdefault(problem.path, problem)
    return list(firsts.values())


def _find_misplaced(document: Document, path: Path, release: Release) -> Iterator[Problem]:
    """Find criteria of an assertion in a field that AgentV does not read."""
    assertion, field = document.value(path[:-1]), path[-1]
    kind = assertion.get("type") if isinstance(assertion, dict) else None
    wanted = CONTAINERS.get(kind) if isinstance(kind, str) else None
    if field == FIELD and not isinstance(kind, str) and not release.reads_both and path[-3:-2] == ("tests",):
        values = {"list": release.assertions, "wanted": release.criteria, "type": release.kind}
        yield Problem("agentv-5-test", path, Part.KEY, {"release": release.title, **values})
    if wanted is None or field in {wanted, "assert", "assertions"}:
        return
    loss = "skips a test that has them in" if wanted == "value" else "never from"
    is_twice = wanted in assertion
    repair = None if is_twice else rename_fields([(path, wanted)])
    values = {"type": str(kind), "wanted": wanted, "loss": loss, "field": str(field)}
    code = "agentv-both-fields" if is_twice else "agentv-field"
    yield Problem(code, path, Part.KEY, values, repair=repair)


def _find_empty(document: Document, judges: set[Path]) -> Iterator[Problem]:
    """Find assertions whose type needs criteria but whose field for them is missing or empty; `judges` have some."""
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        wanted = CONTAINERS[kind]
        if path in judges or FIELD in assertion:
            continue
        if wanted in assertion:
            if assertion[wanted] in (None, [], ""):
                yield Problem("agentv-empty", (*path, wanted), Part.KEY, {"wanted": wanted, "type": kind})
            continue
        similar = [key for key in assertion if find_near(key, (wanted,))]
        if similar:
            place, values = (*path, similar[0]), {"key": similar[0], "wanted": wanted}
            yield Problem("misnamed", place, Part.KEY, values, repair=rename_fields([(place, wanted)]))
        elif wanted != "value":
            values = {"wanted": wanted, "type": kind}
            yield Problem("agentv-missing", (*path, "type"), values=values, keyword="dependencies")


def _find_ignored(document: Document) -> Iterator[Problem]:
    """Find forms of `value` that AgentV 5 takes for something other than what they say."""
    for path, assertion in find_assertions(document):
        value, place = assertion.get("value"), (*path, "value")
        if CONTAINERS[assertion["type"]] != "value" or not is_of_agentv(document, path):
            continue
        if isinstance(value, list):
            if value and all(isinstance(entry, dict) and entry.keys() == {"criteria"} for entry in value):
                names = [(*place, at, "criteria") for at in range(len(value))]
                repair = rename_fields([(name, "outcome") for name in names])
                yield Problem("agentv-criteria-alone", names[0], Part.KEY, repair=repair)
            if "score_ranges" in assertion:
                yield Problem("agentv-score-ranges", (*path, "score_ranges"), Part.KEY)
        elif isinstance(value, dict) and "id" in value and value.keys() & {"criteria", "rubrics"}:
            field = "criteria" if "criteria" in value else "rubrics"
            values = {"taken": field, "dropped": "`id` and `outcome`" if "outcome" in value else "`id`"}
            yield Problem("agentv-one-criterion", (*place, field), Part.KEY, values)


def _find_unread_types(
    document: Document, release: Release, blockers: Iterable[Blocker], fields: Collection[str], code: str
) -> Iterator[Problem]:
    """Find the assertions with criteria in one of some fields whose type has another name in a release."""
    for blocker in blockers:
        assertion = document.value(blocker.path[:-1])
        if blocker.path[-1] == "type" and any(isinstance(assertion.get(name), list) for name in fields):
            unloaded = release.find_unloaded(assertion["type"])
            if unloaded and unloaded.successor in release.criteria_fields:
                yield Problem(code, blocker.path, values={"type": assertion["type"], "reason": unloaded.reason})


def _find_refused_lists(document: Document, release: Release, blockers: Iterable[Blocker]) -> Iterator[Problem]:
    """Find the lists of assertions of a suite, a test or a turn whose names a release does not have."""
    wanted = release.assertions
    for blocker in blockers:
        path, name = blocker.path, blocker.path[-1]
        owner = document.value(path[:-1])
        is_of_turn = is_turn(path[:-1])
        is_of_owner = path[0] not in OLD_CASES and (is_of_turn or len(path) == 1 or "id" in owner)
        if name in ASSERTION_LISTS and is_of_owner and isinstance(owner[name], list) and owner[name]:
            advice = f"write `{wanted}`"
            repair = None if wanted in owner else rename_fields([(path, wanted)])
            if wanted in owner:
                line, _, _ = document.source.position(document.span((*path[:-1], wanted), Part.KEY).start)
                advice = f"join it with the `{wanted}` of line {line}"
            values = {"release": release.title, "list": name, "advice": advice}
            code = "agentv-5-turn" if is_of_turn else "agentv-5-list"
            yield Problem(code, path, Part.KEY, values, repair=repair)


_CRITERIA_FIELDS = frozenset(find_fields("x-criteria").values())


def _find_skipped(document: Document, release: Release) -> Iterator[Problem]:
    """Find the strings in a grader's list that AgentV 3 and 4 skip."""
    for path, assertion, kind in find_typed(document):
        known = release.find_type(kind) or {}
        if "x-skips-strings" not in known:
            continue
        field, members = known.get("x-criteria", ""), known.get("x-members", "")
        entries = assertion.get(field)
        if isinstance(entries, list) and any(isinstance(entry, dict) for entry in entries):
            for place in _find_texts((*path, field), entries):
                values = {"release": release.title, "field": field, "type": kind}
                yield Problem("agentv-4-string", place, Part.ENTRY, values)
        for place in _find_texts((*path, members), assertion.get(members)):
            values = {"release": release.title, "type": kind, "kind": release.kind, "criteria": release.criteria}
            yield Problem("agentv-4-composite", place, Part.ENTRY, values)


def _find_texts(path: Path, entries: Any) -> list[Path]:
    """Return the places of the strings in a list."""
    items = as_list(entries)
    return [(*path, at) for at, entry in enumerate(items) if isinstance(entry, str)]


def _find_dropped(document: Document, rubrics: set[Path]) -> Iterator[Problem]:
    """Find criteria among the `rubrics` of a test without the only text that AgentV reads there, `outcome`."""
    for path, case in find_cases(document):
        if (*path, FIELD) not in rubrics:
            continue
        for entry_path, entry in find_mappings((*path, FIELD), case.get(FIELD)):
            if "criteria" in entry and not entry.keys() & {"outcome", "score_ranges"}:
                place = (*entry_path, "criteria")
                yield Problem("agentv-4-dropped", place, Part.KEY, repair=rename_fields([(place, "outcome")]))


def _find_unread_lists(
    document: Document, release: Release, rubrics: set[Path], views: list[View]
) -> Iterator[Problem]:
    """Find the lists that a release does not read: some names in a suite, and all but the first list of a case."""
    read = {path[0] for path in release.lists["suite"]}
    of_suite = ASSERTION_LISTS if next(find_cases(document), None) else ()
    for name in of_suite:
        if name not in read and any(view.path[:1] == (name,) for view in views):
            values = {"list": name, "wanted": release.assertions}
            yield Problem("agentv-4-evaluators", (name,), Part.KEY, values)
    for path, case in find_cases(document):
        first = ""
        for steps in release.lists["test"]:
            value, place = look_up(case, steps), (*path, *steps)
            if value is None:
                continue
            holds_rubric = any(rubric[: len(place)] == place for rubric in rubrics)
            if first and (holds_rubric or _find_texts(place, value)):
                yield Problem("agentv-second-list", place, Part.KEY, {"first": first})
            first = first or steps[-1]


def _find_elsewhere(document: Document, *, is_last: bool) -> Iterator[Problem]:
    """Find criteria of a test in a field that AgentV does not read."""
    for path, case in find_cases(document):
        if FIELD in case:
            continue
        for name, value in case.items():
            if (
                isinstance(value, list)
                and name not in ASSERTION_LISTS
                and uses_words(value, is_of_case=False)
                and not find_near(name, (FIELD,))
            ):
                advice = "move it into `assert`, as `value` of an `llm-rubric`" if is_last else "rename it to `rubrics`"
                repair = None if is_last else rename_fields([((*path, name), FIELD)])
                values = {"field": name, "advice": advice}
                yield Problem("agentv-other-field", (*path, name), Part.KEY, values, repair=repair)


def _find_in_turns(document: Document) -> Iterator[Problem]:
    """Find assertions of a turn that AgentV does not parse: all but strings."""
    for path, case in find_cases(document):
        for turn_path, turn in find_mappings((*path, "turns"), case.get("turns")):
            for name in ("assertions", "assert"):
                for place, entry in find_mappings((*turn_path, name), turn.get(name)):
                    if isinstance(entry.get("type"), str):
                        yield Problem("agentv-turn", (*place, "type"))


# Near misses: known forms of assertions that are not read.
_LISTS = ("assertions", "assert")
_JUDGES = frozenset({*JUDGED_TYPES, *(f"not-{kind}" for kind in JUDGED_TYPES)})
_NOT_READ = {
    "select-best": "compares outputs with one another",
    **dict.fromkeys(("search-rubric", "pi", "model-graded-factuality"), "is not read"),
}
"""The types of promptfoo by which a model judges by a `value` that is never a rubric here, and why not."""

_MOVE = "put it in the `assert` of an entry of `tests`"
_ENTRY_FIELDS = frozenset({"outcome", "expected_outcome", "criteria", "score_ranges"})


def find_unread_assertions(document: Document, rubrics: set[Path], *, of_agentv: bool) -> Iterator[tuple[Path, str]]:
    """Find the rubrics of AgentV and promptfoo that are not among the paths `rubrics`, each with a message.

    With `of_agentv`, the file has rubrics of AgentV, so strings among its assertions are criteria anywhere.
    """
    for path, mapping in document.mappings:
        # promptfoo puts templates where a `$ref` names them.
        if len(path) > 1 and path[-2] in (*ASSERTION_LISTS, "assertionTemplates"):
            yield from _find_value(path, mapping, rubrics, of_agentv=is_of_agentv(document, path))
        for name in _LISTS:
            value = mapping.get(name)
            if (*path, name) not in rubrics and isinstance(value, list):
                yield from _find_strings_among(document, path, name, of_agentv=of_agentv)


_MODELS = ("score_model", "label_model")
"""The types of the graders of OpenAI by which a model judges."""


def find_graders(document: Document) -> Iterator[tuple[Path, str]]:
    """Find the graders of OpenAI by which a model judges, also in programs; they are not read."""
    for path, mapping in document.mappings:
        kind = mapping.get("type")
        if CALL not in mapping and kind not in _MODELS:
            continue
        called = read_text(mapping, CALL)
        is_of_scores = kind == "score_model" or called.endswith("ScoreModelGrader")
        is_of_labels = kind == "label_model" or called.endswith(("LabelModelGrader", "OpenAILabelGrader"))
        if (is_of_scores and "input" in mapping) or (is_of_labels and "passing_labels" in mapping):
            advice = f"describe the criteria below `{FIELD}` in a YAML file"
            yield path, f"OpenAI has deprecated its graders; {advice}"


def find_unloaded_parts(document: Document, dialects: frozenset[str]) -> Iterator[Blocker]:
    """Find what AgentV does not read of a suite whose rubrics are in these dialects, or that has none.

    Its release is AgentV 5 if the suite or one of its rubrics shows that, else AgentV 4.
    """
    is_agentv = any(name.startswith("agentv-") for name in dialects)
    if is_agentv or is_current(document) or (not dialects and is_suite_of_agentv(document)):
        is_new = not NEWEST.dialects.isdisjoint(dialects)
        if not dialects:
            is_new = any(kind in NEWEST.criteria_fields for *_, kind in find_typed(document))
            is_new = is_new or _has_fields_of(NEWEST, OLDEST, document)
        release = NEWEST if is_new else find_release(document)
        yield from find_unloaded(document, release)


def _has_fields_of(release: Release, other: Release, document: Document) -> bool:
    """Return whether a suite has fields that only one of two releases reads, and none that only the other reads."""
    own, others = find_read(release.loaded["suite"]), find_read(other.loaded["suite"])
    fields = document.data.keys() if isinstance(document.data, dict) else set()
    return not fields.isdisjoint(own - others) and fields.isdisjoint(others - own)


def _find_value(
    path: Path, assertion: dict[str, Any], rubrics: set[Path], *, of_agentv: bool
) -> Iterator[tuple[Path, str]]:
    kind, value = assertion.get("type"), assertion.get("value")
    place = (*path, "value")
    bare = kind.removeprefix("not-") if isinstance(kind, str) else ""
    if bare in _NOT_READ and value and not of_agentv:
        advice = "write what each output must meet in an `llm-rubric`"
        yield place, f"`value` of `{kind}` {_NOT_READ[bare]}, so it is not checked; {advice}"
    if not isinstance(kind, str) or kind not in _JUDGES or place in rubrics or path in rubrics:
        return
    reason = ""
    if isinstance(value, str):
        is_read = path[:-1] in rubrics and not of_agentv
        reason = _find_reason_of_text(assertion, is_read=is_read, of_agentv=of_agentv)
    elif isinstance(value, dict) and value.keys() & _ENTRY_FIELDS:
        reason = f"`value` of `{kind}` is one mapping, which only AgentV 5 reads; put a dash before it"
    elif isinstance(value, list) and any(isinstance(entry, dict) and "criteria" in entry for entry in value):
        reason = f"`value` of `{kind}` lists `criteria` alone, which AgentV does not read as criteria; write `outcome`"
    elif value and isinstance(value, list | dict):
        # A rubric in it that is read, or an empty list that is reported as one, is enough.
        parts = as_mapping(value)
        if not any((*place, name) in rubrics or parts[name] == [] for name in parts):
            reason = f"`value` of `{kind}` is {describe(value, '')}, which is not checked; write a string"
    if reason and is_turn(find_owner(path)):
        yield (*path, "type"), BY_NAME["lost-rubric"].write("agentv-turn", {})
    elif reason:
        yield place, reason


def _find_reason_of_text(assertion: dict[str, Any], *, is_read: bool, of_agentv: bool) -> str:
    """Return why the string in a `value` is not checked; empty if it `is_read` as one of the texts of promptfoo."""
    from rubric_lint.formats.dialects.promptfoo import is_filled_in  # noqa: PLC0415  (most files have no such assertions)

    kind = assertion["type"]
    if is_filled_in(assertion["value"]):
        return f"`value` of `{kind}` is a file or a variable, whose text is not read; write the text here"
    if is_read:
        return ""
    if "score_ranges" in assertion:
        where = "which only AgentV 5 reads, and this test is not AgentV's"
        return f"`{kind}` has `score_ranges` next to `value`, {where}; {_MOVE}"
    if of_agentv:
        where = "by which AgentV judges freely, and only lines for its levels or bands would be checked"
        return f"`value` of `{kind}` is a string {where}; list criteria, each with an `outcome`"
    where = "outside the `assert` of a suite for promptfoo, so it is not checked"
    return f"`value` of `{kind}` is a string {where}; {_MOVE}"


def find_misspelt_judges(document: Document) -> Iterator[tuple[Path, Part, str]]:
    """Find types that are nearly one of a judge, and lists of judges under a key that is nearly `assert`."""
    for path, mapping in document.mappings:
        kind = mapping.get("type")
        if len(path) > 1 and path[-2] in ASSERTION_LISTS and isinstance(kind, str) and "value" in mapping:
            bare = kind.removeprefix("not-")
            similar = [] if bare in JUDGED_TYPES else find_near(bare, JUDGED_TYPES)
            if similar:
                reason = f"the type `{shorten(kind)}` is not known, so its `value` is not checked"
                yield (*path, "type"), Part.VALUE, f"{reason}; did you mean `{similar[0]}`?"
        for key, value in mapping.items():
            is_list = isinstance(value, list) and key not in ASSERTION_LISTS and any(map(_is_judge, value))
            if is_list and find_near(key, ("assert",)):
                reason = f"`{shorten(key)}` is not read, so its assertions are not checked"
                yield (*path, key), Part.KEY, f"{reason}; did you mean `assert`?"


def _is_judge(entry: Any) -> bool:
    kind = entry.get("type") if isinstance(entry, dict) else None
    return isinstance(kind, str) and kind.removeprefix("not-") in JUDGED_TYPES


def _find_strings_among(document: Document, path: Path, name: str, *, of_agentv: bool) -> Iterator[tuple[Path, str]]:
    """Find the first string in a list of assertions at a path that is not read, with the reason."""
    owner, case_path = document.value(path), path[:-2] if is_turn(path) else path
    is_case = case_path[-2:-1] == ("tests",)
    has_id = is_case and "id" in document.value(case_path)
    for place in _find_texts((*path, name), owner[name])[:1]:
        if of_agentv:
            reason = "are checked only where AgentV reads them, in suites and their tests; move them there"
            if is_case and not has_id:
                reason = "are not read, as AgentV skips a test without an `id`; write one"
            elif is_turn(path) and len(owner.keys() & {*_LISTS}) > 1:
                reason = "are not read, as AgentV reads only one list of a turn; join its lists"
            yield place, f"strings in `{name}` {reason}"
        elif has_id:
            reason = "but nothing shows that this suite is for AgentV; if it is, name the file NAME.eval.yaml"
            yield place, f"strings in `{name}` are criteria to AgentV, {reason}"
