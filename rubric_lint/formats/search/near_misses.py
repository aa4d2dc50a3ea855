"""Find what looks like a rubric but is not read: lost criteria, which are findings, and near misses with a reason."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rubric_lint.formats.dialects import has_words_of_named
from rubric_lint.formats.home_made.scores import is_prose, read_levels
from rubric_lint.formats.home_made.vocabulary import Containers
from rubric_lint.formats.search.documents import is_prompt, may_ask_for_scores, may_hold_scale
from rubric_lint.formats.search.locate import (
    SUITE_OF_3,
    Search,
    count_signs,
    find_claim,
    has_home_next_to_it,
    has_signs_of_forms,
    has_signs_of_home,
    holds_criteria,
    is_agentv,
)
from rubric_lint.model.finding import ADOPT_IT, NearMissStep, Problem, Unread, UnreadPlace
from rubric_lint.model.messages import describe, find_near, join_words, pluralize, quote_names, shorten
from rubric_lint.model.recognition import (
    CRITERIA,
    FIELD,
    OF_WHOLE,
    find_misspelt,
    has_distinctive_field,
    has_own_words,
    holds_only_ours,
    holds_texts,
    is_description,
    is_holder,
    is_listed,
    is_ours,
    is_place,
    is_reference,
    may_be_ours,
    repeat_in_cases,
)
from rubric_lint.model.repairs import rename_fields
from rubric_lint.model.schema import schema_for, schema_of
from rubric_lint.model.schema_files import BASE, CURRENT, VERSION_3
from rubric_lint.model.version_3 import holds_rubric
from rubric_lint.model.view import OF_COURSES, View, is_named_for_judges
from rubric_lint.rules import BY_NAME
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, list_prefixes, part_of
from rubric_lint.source.source import DATA, Kind, kind_of
from rubric_lint.source.tree import parts_of
from rubric_lint.source.values import as_list


def find_lost(document: Document, found: Search, *, in_suite: bool, of_agentv: bool) -> Iterator[Problem]:
    """Find the containers of rubrics that nothing reads, in a file of rubrics.

    With `in_suite`, the file has rubrics, so its top level counts as a case. With `of_agentv`, some of them are
    AgentV's.
    """
    document, is_suite_of_3 = repeat_in_cases(document), find_claim(document) == SUITE_OF_3
    for path in found.leftovers:
        if path[-1] == CRITERIA and is_suite_of_3:
            yield Problem("outside", path, Part.KEY, {"whole": _format_whole(document.value(path[:-1]))})
        elif is_place(path[:-1], in_suite=in_suite):
            yield from _find_leftover(document, path, of_agentv=of_agentv)
    if of_agentv:
        # Files with a rubric of AgentV have loaded the module already.
        from rubric_lint.formats.search.lost_in_suites import find_lost_in_agentv  # noqa: PLC0415

        views = [location.view for location in found.rubrics if location.view and is_agentv(location)]
        yield from find_lost_in_agentv(document, views, {location.path for location in found.rubrics})


def _find_leftover(document: Document, path: Path, *, of_agentv: bool) -> Iterator[Problem]:
    owner, value = document.value(path[:-1]), document.value(path)
    key = str(path[-1])
    if key != FIELD:
        is_case = document.number is not None or is_listed(path[:-1])
        entries = as_list(value)
        is_read = is_ours(value, path[:-1]) or any(isinstance(entry, dict) and "outcome" in entry for entry in entries)
        is_read = is_read or (is_case and holds_texts(value))
        if FIELD not in owner and (key.lower() == FIELD or is_read):
            values = {"key": key, "wanted": FIELD}
            yield Problem("misnamed", path, Part.KEY, values, repair=rename_fields([(path, FIELD)]))
    elif not value and not isinstance(value, bool | int | float):
        yield Problem("empty", path, Part.KEY, {"empty": format_empty(value)})
    elif not isinstance(value, list | dict):
        if not (isinstance(value, str) and is_reference(value)):
            yield Problem("not-a-list", path, values={"found": describe(value, document.written_at(path))})
    else:
        yield from _find_no_criteria(document, path, of_agentv=of_agentv)


def _find_no_criteria(document: Document, path: Path, *, of_agentv: bool) -> Iterator[Problem]:
    """Find why the collection under `rubrics` is not read: a misspelt field, texts alone, or no criteria."""
    value = document.value(path)
    misspelt = list(find_misspelt(value, path, of_agentv=of_agentv))
    if misspelt:
        yield describe_misspelt(misspelt[0])._replace(repair=rename_fields(misspelt))
    elif holds_texts(value) and document.number is not None and not of_agentv:
        yield Problem("texts", path, Part.KEY, {"advice": str(_declare(document, path))})
    elif holds_criteria(value) or (document.number is not None and holds_texts(value)):
        wanted = "outcome" if of_agentv else "expected_outcome"
        yield Problem("no-criteria", path, Part.KEY, {"wanted": wanted})


def _format_whole(owner: Mapping[str, Any]) -> str:
    """Write the outline of the rubric whose fields a mapping has: `rubrics: {scale: ..., criteria: ...}`."""
    fields = [name for name in owner if name in OF_WHOLE or name in {CRITERIA, "grades", "levels"}]
    return f"{FIELD}: {{{', '.join(f'{name}: ...' for name in fields)}}}"


def format_empty(value: Any) -> str:
    """Describe an empty field: `is an empty list`."""
    if value is None:
        return "has no value"
    if isinstance(value, list):
        return "is an empty list"
    return "is an empty mapping" if isinstance(value, dict) else "is an empty string"


def describe_misspelt(found: tuple[Path, str]) -> Problem:
    """Return the problem of rubrics that are not read because of a misspelt field, given it and what it should be."""
    path, target = found
    code = "bands-as-range" if path[-1] == "score_range" else "misspelt-field"
    return Problem(code, path, Part.KEY, {"key": path[-1], "wanted": target})


def find_unread(document: Document, found: Search, lost: set[Path], *, in_suite: bool, of_agentv: bool) -> list[Unread]:
    """Find near-rubrics in a document; `lost` are the paths of those that are findings already.

    With `in_suite`, the file has rubrics in our format; with `of_agentv`, some of AgentV.
    """
    if is_description(document.data):
        return []
    document = repeat_in_cases(document)
    rubrics = {location.path for location in found.rubrics}
    of_others = [] if rubrics else _find_of_others(document, found)
    if of_others:
        return [_make_unread(document, miss) for miss in of_others]
    misses = [*_find_in_rubrics(document, found), *_find_unscorable(found)]
    home = [] if found.is_claimed or document.kind.is_program else _find_home(document, rubrics)
    for path in _find_leftovers(document, found, rubrics, lost, home):
        is_known = in_suite and is_place(path[:-1], in_suite=in_suite)
        if is_known or not _is_another_tools(document, path):
            is_alone = not (rubrics or in_suite or lost)
            miss = _find_reason(document, path, is_claimed=found.is_claimed, is_alone=is_alone, of_agentv=of_agentv)
            misses.append(miss._replace(is_known=is_known))
    misses += _find_unread_forms(document, found, rubrics, lost, of_agentv=of_agentv)
    misses += _find_by_dialects(document, found, has_others=bool(rubrics or misses))
    if rubrics or not lost:
        misses += home
    if not (rubrics or misses or lost or found.is_claimed):
        misses += _find_outside(document) if document.kind in DATA else _find_in_other_kinds(document)
        misses += _find_empty(document)
    by_reason = {(miss.path, miss.reason): miss for miss in misses}
    unread = [_make_unread(document, miss) for miss in by_reason.values()]
    if unread or rubrics or lost or found.is_claimed:
        return list(dict.fromkeys(unread))  # aliases repeat some
    return [*_find_prompts(document), *_find_texts_by_name(document)]


def _find_in_rubrics(document: Document, found: Search) -> Iterator[UnreadPlace]:
    """Find what is not read of the rubrics that are read."""
    for location in found.rubrics:
        places = location.around.doubts
        if location.view is not None:
            yield from _find_others(document, location.view)
            places = location.view.doubts + location.view.unread
        for path, reason in places:
            yield UnreadPlace(path, reason, part=part_of(path))


def _find_unscorable(found: Search) -> Iterator[UnreadPlace]:
    """Find the rubrics that are checked but cannot be scored, the first for each reason."""
    views = [location.view for location in found.rubrics if location.view]
    firsts = {view.unscorable: view.path for view in reversed(views) if view.unscorable}
    for reason, path in firsts.items():
        yield UnreadPlace(path, reason, part=part_of(path))


def _find_of_others(document: Document, found: Search) -> list[UnreadPlace]:
    """Find a file that is another tool's, and criteria of a system that are not read."""
    if found.is_foreign:
        return [_find_foreign(document)]
    if found.is_claimed or not has_words_of_named(document.quick_text):
        return []
    from rubric_lint.formats.search import named_misses  # noqa: PLC0415  (few files have the words)

    return list(named_misses.find_named(document))


def _find_empty(document: Document) -> Iterator[UnreadPlace]:
    """Find the containers of home-made criteria that are empty, in a file that is named for a rubric."""
    if not count_signs(document.source.name) or not has_home_next_to_it(document):
        return
    for key, value in document.data.items():
        if key in Containers.strong and value in (None, [], {}, ""):
            advice = "so nothing is judged by it; list its criteria or remove it"
            yield UnreadPlace((key,), f"`{key}` {format_empty(value)}, {advice}", is_known=False)


def _find_prompts(document: Document) -> Iterator[Unread]:
    """Find the strings with a scale of scores, or which ask for a score, in a file that is named for judges."""
    text = document.source.text
    if not (is_named_for_judges(document) and (may_hold_scale(text) or may_ask_for_scores(text))):
        return
    from rubric_lint.formats.search.scales_in_text import find_scale  # noqa: PLC0415  (few have prompts)

    for name, text, start in _find_strings(document):
        place = f"the text of `{shorten(name)}`" if name else "this text"
        if find_scale(f"Score:\n{text}"):  # an f-string may say so in another part
            problem, step = f"{place} has a scale of scores, which is not checked;", _AS_LEVELS
        elif is_prompt(text):
            problem, step = f"{place} is a prompt, in which no criteria are checked;", _AS_FILE
        else:
            continue
        miss = UnreadPlace((), problem, (NearMissStep("rewrite", step),), part=Part.HEAD, is_known=False)
        line, column, _ = document.source.position(start)
        yield Unread(miss.reason, line, column, is_known=False, signs=1, steps=miss.steps)


def _find_texts_by_name(document: Document) -> Iterator[Unread]:
    """Find the texts about an answer of which nothing says how they count, in a file that is named for judges."""
    text = document.quick_text
    if document.kind is Kind.JSON_LINES or not any(word in text for word in Containers.texts):
        return
    from rubric_lint.formats.home_made.places import find_texts_by_name  # noqa: PLC0415  (few files have the words)

    found = find_texts_by_name(document)
    if found:
        names = join_words([f"`{name}`" for name in sorted(found)])
        hold = pluralize(len(found), "holds", "hold")
        problem = f"{names} {hold} texts about an answer, and nothing says how each of them counts;"
        steps = (
            NearMissStep("rewrite", "write them as a list `criteria`, each with a `description`"),
            ADOPT_IT,
        )
        first = min(found.values(), key=lambda path: document.span(path, Part.KEY).start)
        yield _make_unread(document, UnreadPlace(first, problem, steps, is_known=False))


_AS_FILE = "write them to a rubric file, as `rubric-lint init -` does"
_AS_LEVELS = "write it as the `levels` of a criterion below `rubrics`"


def _find_strings(document: Document) -> Iterator[tuple[str, str, int]]:
    """Yield the strings: the key or the variable that has each, its text, and where it begins."""
    if document.kind.is_program:
        from rubric_lint.source.python_tree import find_texts  # noqa: PLC0415  (most files are data)

        yield from find_texts(document.source)
        return
    for path, mapping in document.mappings:
        for key, value in mapping.items():
            texts = value if isinstance(value, list) else [value]
            for index, text in enumerate(texts):
                if isinstance(text, str) and "\n" in text:
                    place = (*path, key, index) if isinstance(value, list) else (*path, key)
                    yield str(key), text, document.span(place, Part.VALUE).start


def _find_leftovers(
    document: Document, found: Search, rubrics: set[Path], lost: set[Path], home: list[UnreadPlace]
) -> Iterator[Path]:
    """Find the near-rubrics that no finding and no home-made rubric covers, and that are not read elsewhere or names.

    `rubrics` are the paths of the rubrics, `lost` those of what is a finding already.
    """
    if not found.leftovers:
        return
    covered = list_prefixes(lost)
    alike: set[tuple[int, Any]] = set()  # the table of a home-made rubric is for those too
    for near in home:
        places = [near.path, *near.others]
        covered |= list_prefixes(places)
        alike |= {(len(path), path[-1]) for path in places if path}
    for location in found.rubrics:
        if location.view:
            covered |= location.view.sources
    borrowed = {id(document.value(path)) for path in rubrics} if document.may_borrow else set()
    for path in found.leftovers:
        value = document.value(path)
        is_metadata = bool(rubrics) and _is_metadata(value)
        if path in covered or (len(path), path[-1]) in alike or _is_name(path, value) or is_metadata:
            continue
        if not (path[-1] == FIELD and isinstance(value, list | dict) and id(value) in borrowed):
            yield path  # an alias or a merge key would bring it to where it is read


def _find_home(document: Document, rubrics: set[Path]) -> list[UnreadPlace]:
    """Find what is nearly a home-made rubric, or is one next to the rubrics at some paths."""
    has_signs = has_home_next_to_it(document) if rubrics else has_signs_of_home(document)
    if not has_signs:
        return []
    from rubric_lint.formats.search import home_made  # noqa: PLC0415  (few files have the words)

    return home_made.find_next_to(document, rubrics) if rubrics else home_made.find_near_rubrics(document)


def _find_others(document: Document, view: View) -> Iterator[UnreadPlace]:
    """Find the fields of criteria that a dialect does not have, and that are not nearly fields of it."""
    if not view.dialect.reports_unread_fields:
        return
    schema, firsts = schema_of(view.schema), dict[str, Path]()
    known = schema.entry_fields
    patterns = "|".join(schema.definitions[schema.item].get("patternProperties", ())) or r"\Z."
    parts = {name for name, schema in known.items() if schema.get("$ref") == "#/definitions/rubrics"}
    reported = {path[-1] for path, _ in view.doubts + view.unread if path}
    for index in range(len(view.data)):
        place = view.place((*view.path, index))
        entry = document.value(place)
        is_criterion = parts.issuperset(step for step in place[len(view.path) + 1 : -1] if isinstance(step, str))
        names = entry if isinstance(entry, dict) and is_criterion else ()
        for name in names:
            is_known = name in known or name in reported or re.search(patterns, name) or find_near(name, known)
            if not is_known:
                firsts.setdefault(name, (*place, name))
    if firsts:
        reason = f"fields that {view.dialect.title} does not have are not read: {quote_names(firsts)}"
        yield UnreadPlace(next(iter(firsts.values())), reason)


def list_lost(document: Document, found: Search, lost: Iterable[Problem]) -> Iterator[Unread]:
    """Report the containers `lost` as near misses, without those whose rubrics are read all the same."""
    rubrics = {location.path for location in found.rubrics}
    above = list_prefixes(rubrics)
    for problem in lost:
        path = problem.path[:-1] if problem.path[-1] == "type" else problem.path
        if path not in above and not any(path[:length] in rubrics for length in range(len(path))):
            reason = _LOST.write(problem.code, problem.values)
            yield _make_unread(document, UnreadPlace(problem.path, reason, part=problem.part))


_LOST = BY_NAME["lost-rubric"]


def _is_another_tools(document: Document, path: Path) -> bool:
    """Return whether a value is a translation, or grades a course, whose criteria have both points and levels."""
    value = document.value(path)
    is_text_for_judges = isinstance(value, str) and "\n" in value and is_named_for_judges(document)
    if is_text_for_judges or read_levels(value) is not None:
        return False
    if isinstance(value, dict) or (isinstance(value, str) and not is_holder(path[:-1])):
        texts = value if isinstance(value, dict) and len(value) != 1 else document.value(path[:-1])
        plain = {key: text for key, text in texts.items() if isinstance(text, str)}
        return len(texts) > 1 and _are_texts(texts) and not has_distinctive_field(plain)
    items = value if isinstance(value, list) else ()
    return any(isinstance(item, dict) and len(item.keys() & OF_COURSES) > 1 for item in items)


def _are_texts(texts: dict[str, Any]) -> bool:
    """Return whether a mapping holds strings only, at any depth, as translations do."""
    return all(_are_texts(text) if isinstance(text, dict) else isinstance(text, str) for text in texts.values())


def _is_name(path: Path, value: Any) -> bool:
    """Return whether a value only names or refers to rubrics, as records of outputs do, so that it is no near miss.

    That is a name, a mapping of files, or, outside a case, a number or a list of single words, which may be anything,
    such as the sections of a newspaper: nothing shows that they judge an answer.
    """
    if isinstance(value, dict) and value:  # of rubrics that are files of their own
        return all(isinstance(part, str) and kind_of(part) in DATA and is_reference(part) for part in value.values())
    if isinstance(value, list) and value and not is_holder(path[:-1]):
        return all(isinstance(item, str) and item.replace("-", "_").isidentifier() for item in value)
    if isinstance(value, str):
        return path[-1] != FIELD and len(value.split()) == 1
    return isinstance(value, bool | int | float) and not is_holder(path[:-1])


def _is_metadata(value: Any) -> bool:
    """Return whether a value only says which rubric others are the criteria of: its id, its version, its purpose."""
    if not isinstance(value, dict) or _METADATA.isdisjoint(value) or any(key in value for key in Containers.strong):
        return False
    parts = value.values()
    return not any(isinstance(part, list | dict) or (isinstance(part, str) and "\n" in part) for part in parts)


_METADATA = frozenset({"id", "name", "title", "version"})


def _find_by_dialects(document: Document, found: Search, *, has_others: bool) -> Iterator[UnreadPlace]:
    """Find what only a dialect knows as a near miss; with `has_others`, the file has rubrics or other near misses."""
    is_of_skill = any(location.view and location.view.dialect.title == "Agent Skills" for location in found.rubrics)
    if is_of_skill or "evals" in document.quick_text:
        from rubric_lint.formats.dialects import agent_skills  # noqa: PLC0415  (few files have the word)

        for path, problem, step in agent_skills.find_unread_cases(document):
            yield UnreadPlace(path, f"{problem};", (NearMissStep("rewrite", step),), part=Part.HEAD, is_known=False)
    if "from_strings" in document.quick_text:
        from rubric_lint.formats.dialects import autoevals  # noqa: PLC0415  (few files have the word)

        problem = "the scores of OpenAI evals are read only if they are written out;"
        steps = (NearMissStep("rewrite", "write a mapping from each choice to its score"),)
        for path in autoevals.find_unwritten_scores(document):
            yield UnreadPlace(path, problem, steps, is_known=False)
    if not has_others and "guidance" in document.quick_text:
        from rubric_lint.formats.search import described  # noqa: PLC0415  (few files have the word)

        problem = "these criteria have the fields of harbor check and others; if a judge reads them,"
        steps = (NearMissStep("file-name", "rubric.toml"),)
        for view in described.find(document, "harbor_check", is_named=True):
            yield UnreadPlace(view.path, problem, steps, is_known=False)


def _make_unread(document: Document, miss: UnreadPlace) -> Unread:
    line, column, _ = document.source.position(document.span(miss.path, miss.part).start)
    signs = 0
    if not miss.is_known:
        signs = count_signs(document.source.name)
        if _has_parts_like_criteria(document.value(miss.path)):
            signs += 2
    return Unread(miss.reason, line, column, miss.is_known, signs, miss.steps)


def _has_parts_like_criteria(value: Any) -> bool:
    """Return whether a value has parts like criteria; those of a judge's output have its reasons too."""
    parts = parts_of(value)
    if any(isinstance(part, str) for part in parts):
        return isinstance(value, list)
    reasons = ("reasoning", "reason", "satisfied")
    return any(isinstance(part, dict) and part.keys().isdisjoint(reasons) for part in parts)


def _declare(document: Document, path: Path) -> NearMissStep:
    """Return the step after which the rubric at `path` is read, whatever its fields are."""
    is_whole = isinstance(document.data, dict) and path == (FIELD,) and FIELD not in document.data
    value = document.data if is_whole else document.value(path)
    version = VERSION_3 if holds_rubric(value) else CURRENT
    schema = "rubric" if len(path) == 1 else "suite"
    url = f"{BASE}{schema}-{version}.schema.json"
    if document.kind is Kind.YAML:
        return NearMissStep("comment", url)
    if isinstance(document.data, dict) and "$schema" not in document.data:
        step = "key" if document.number is None else "key-of-lines"
        return NearMissStep(step, url)
    return NearMissStep("setting", "versions")


def _advise(document: Document, path: Path, problem: str, *, is_alone: bool) -> UnreadPlace:
    """Return the way to have the value at `path` read: by a table of its format if that reads it, else as ours.

    `is_alone`: nothing else of the document is read, or else it can have no table. No key is renamed but one that
    nothing can read, because the author's program reads it.
    """
    value = document.value(path)
    if is_alone and _can_adopt(document, path):
        return UnreadPlace(path, f"{problem}; if it is a rubric,", (ADOPT_IT,))
    if path[-1] != FIELD and is_ours(value, path[:-1]):
        return UnreadPlace(path, f"{problem};", (NearMissStep("rename", FIELD),))
    if not is_alone and path[-1] != FIELD:
        return UnreadPlace(path, f"{problem}; if it is a rubric,", (NearMissStep("move", "to a file of its own"),))
    if path[-1] != FIELD or not (isinstance(value, list) or any(map(schema_for().knows, value))):
        lack, step = _find_lack(value)
        return UnreadPlace(
            path, f"`{shorten(str(path[-1]))}` is not read, as {lack};", (NearMissStep("rewrite", step),)
        )
    form = (
        []
        if isinstance(value, list) or holds_rubric(value)
        else [NearMissStep("rewrite", "put this criterion in a list")]
    )
    return UnreadPlace(path, f"{problem}; if it is a rubric,", (*form, _declare(document, path)))


def _can_adopt(document: Document, path: Path) -> bool:
    from rubric_lint.formats.search.describable import can_adopt  # noqa: PLC0415  (only near misses ask)

    return can_adopt(document, path)


def _find_lack(value: Any) -> tuple[str, str]:
    """Return the reason why a value is no list of criteria, and the step to make it one."""
    if read_levels(value) is not None:
        step = "write a list with one criterion that has an `id` and these as its `levels`"
        return "it describes scores, and not what gets them", step
    if isinstance(value, list) and any(map(_is_split, value)) and not all(isinstance(item, dict) for item in value):
        return "an item with `: ` in it is a mapping, and no text", "put the items that have `: ` in quotes"
    if _holds_prompt(value):
        return "it is a prompt, in which no criteria are checked", _AS_FILE
    step = "write a list of criteria, each with an `id` and a `description`"
    if _holds_prose(value):
        return "its form is none that criteria have", step
    return "nothing in it says in words what is judged", step


def _is_split(item: Any) -> bool:
    """Return whether an item is one text to its author, which YAML reads as a mapping because of a colon in it."""
    return isinstance(item, dict) and len(item) == 1 and all(isinstance(text, str) for text in item.values())


def _holds_prompt(value: Any) -> bool:
    """Return whether a value is a prompt that asks for a score, or holds one at any depth."""
    return (isinstance(value, str) and is_prompt(value)) or any(map(_holds_prompt, parts_of(value)))


def _holds_prose(value: Any) -> bool:
    """Return whether a value is a text of several words, or holds one at any depth."""
    return is_prose(value) or any(map(_holds_prose, parts_of(value)))


def _find_foreign(document: Document) -> UnreadPlace:
    """Return the near miss of a file that has the name of a rubric file and the content of another tool."""
    data = document.data
    names = [f"`{shorten(key)}`" for key in data][:3] if isinstance(data, dict) and FIELD not in data else []
    content = f"no `{FIELD}`, but {join_words(names)}" if names else f"`{FIELD}` whose fields are unknown"
    named = "the name is that of a rubric file, but the content is another tool's"
    return UnreadPlace(
        (), f"{named} ({content}); if it is for rubric-lint,", (_declare(document, (FIELD,)),), part=Part.HEAD
    )


def _find_reason(document: Document, path: Path, *, is_claimed: bool, is_alone: bool, of_agentv: bool) -> UnreadPlace:
    """Return why a near-rubric is not read."""
    value, key = document.value(path), str(path[-1])
    bands = ({"score_range", "expected_outcome"}, {"scoreRange", "expectedOutcome"})  # of DeepEval and Confident AI
    if isinstance(value, dict) and any(band <= value.keys() for band in bands):
        return UnreadPlace(
            path, f"`{key}` is one band, not a list of bands;", (NearMissStep("rewrite", "put it in a list"),)
        )
    if key != FIELD:
        return _find_reason_of_other_name(document, path, is_claimed=is_claimed, is_alone=is_alone)
    if value is None or value in ([], {}, ""):
        return UnreadPlace(path, f"`{FIELD}` {format_empty(value)}; list its criteria or remove it")
    if not isinstance(value, list | dict):
        found = describe(value, document.written_at(path))
        return UnreadPlace(
            path, f"`{FIELD}` is {found}, not a list of criteria; write one, as `rubric-lint init -` does"
        )
    misspelt = next(find_misspelt(value, path, of_agentv=of_agentv), None)
    if misspelt:
        lost = describe_misspelt(misspelt)
        return UnreadPlace(path, _LOST.write(lost.code, lost.values))
    problem = f"`{FIELD}` has no field that only rubrics have, such as `expected_outcome`"
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value) and not is_holder(path[:-1]):
        problem = f"`{FIELD}` is a list of strings outside the cases of a suite"
    return _advise(document, path, problem, is_alone=is_alone)


def _find_reason_of_other_name(document: Document, path: Path, *, is_claimed: bool, is_alone: bool) -> UnreadPlace:
    """Return why a near-rubric under a name that is not `rubrics` is not read."""
    value, key = document.value(path), str(path[-1])
    if isinstance(value, str) and value:
        advice = "write its criteria to a rubric file, as `rubric-lint init -` does"
        reason = f"`{shorten(key)}` is one text, which a judge reads as a whole, and only criteria are checked"
        return UnreadPlace(path, f"{reason}; {advice}")
    if not (isinstance(value, list | dict) and value):
        advice = f"write a list of criteria in a field `{FIELD}`, as `rubric-lint init -` does"
        return UnreadPlace(path, f"`{key}` is not read; {advice}")
    if is_claimed:
        return UnreadPlace(path, f"`{key}` is not read;", (NearMissStep("rename", FIELD),))
    return _advise(document, path, f"`{key}` is not read", is_alone=is_alone)


_OF_CASES = frozenset({"input", "input_messages"})


def _find_outside(document: Document) -> Iterator[UnreadPlace]:
    """Find the first criterion of our format that is not below `rubrics`."""
    if not has_own_words(document.written_at(())):
        return
    for path, mapping in document.mappings:
        if not (_OF_CASES.isdisjoint(mapping) and has_distinctive_field(mapping) and all(map(may_be_ours, mapping))):
            continue  # a case has an `expected_outcome` too, and fields of its own
        if all(isinstance(value, dict) for value in mapping.values()):
            continue  # the schema of a criterion
        siblings = document.value(path[:-1]) if path else None
        parts = siblings.values() if isinstance(siblings, dict) else ()
        is_map = bool(parts) and all(isinstance(part, dict) and has_distinctive_field(part) for part in parts)
        above = path[:-1] if is_map or isinstance(siblings, list) else path
        where = f"criteria are read only below `{FIELD}`, and these are elsewhere;"
        if _can_adopt(document, above):
            steps = (ADOPT_IT,)
            yield UnreadPlace(path, f"{where} if a judge reads them,", steps, part=Part.HEAD, is_known=False)
        else:
            yield UnreadPlace(path, f"{where} put them in a list below `{FIELD}`", part=Part.HEAD, is_known=False)
        return


def _find_in_other_kinds(document: Document) -> Iterator[UnreadPlace]:
    """Find the first criterion of our format in a kind of file from which it is not read.

    In a program, the name of its list must be that of rubrics: fields alone may be part of anything.
    """
    mappings = document.mappings if has_own_words(document.quick_text) else ()
    for path, mapping in mappings:
        is_named = not document.kind.is_program or any(str(step).lower() == FIELD for step in path[-2:-1])
        if is_named and holds_only_ours([mapping]):
            reason = (
                "criteria of this format are read from YAML, JSON and JSON Lines only; "
                f"move them to a YAML file, below `{FIELD}`"
            )
            yield UnreadPlace(path, reason, part=Part.HEAD, is_known=False)
            return
    if document.kind.is_program and is_named_for_judges(document) and has_signs_of_home(document):
        from rubric_lint.formats.search import home_made  # noqa: PLC0415  (few programs are named for judges)

        yield from home_made.find_in_program(document)


def _find_unread_forms(
    document: Document, search: Search, rubrics: set[Path], lost: set[Path], *, of_agentv: bool
) -> list[UnreadPlace]:
    """Find rubrics in known forms that are not linted, where no finding says what is wrong; see `find_unread`."""
    if not (document.kind.is_program or has_signs_of_forms(document) or "evaluators" in document.quick_text):
        return []
    from rubric_lint.formats.search import lost_in_suites  # noqa: PLC0415  (most files have no assertions)

    unread = list(lost_in_suites.find_graders(document))
    if document.kind.is_program:
        from rubric_lint.formats.dialects import deepeval, ragas  # noqa: PLC0415  (most files are data)

        unread += [*deepeval.find_computed(document, rubrics), *ragas.find_computed(document, rubrics)]
        return [UnreadPlace(path, reason, part=Part.VALUE) for path, reason in unread]
    unread += lost_in_suites.find_unread_assertions(document, rubrics, of_agentv=of_agentv)
    dialects = frozenset(location.view.dialect.name if location.view else "" for location in search.rubrics)
    unloaded = list(lost_in_suites.find_unloaded_parts(document, dialects))
    untyped = {blocker.path[:-1] for blocker in unloaded if blocker.path[-1:] == ("type",)}
    misses = [UnreadPlace(path, reason, part=Part.VALUE) for path, reason in unread if path[:-1] not in untyped]
    others = [blocker for blocker in unloaded if blocker.path not in rubrics]  # the rules on rubrics look at those
    misses += [UnreadPlace(blocker.path, blocker.reason, part=blocker.part) for blocker in others]
    if not of_agentv:
        for path, part, reason in lost_in_suites.find_misspelt_judges(document):
            misses.append(UnreadPlace(path, reason, part=part))
    reported = list_prefixes(lost) - {()}
    return [miss for miss in misses if not _is_reported(miss.path, lost, reported)]


def _is_reported(path: Path, lost: set[Path], reported: set[Path]) -> bool:
    """Return whether a finding has said what is wrong with a value, with its list, or with the criteria next to it."""
    return path in reported or path[:-1] in lost or (path[-1:] == ("type",) and path[:-1] in reported)
