"""Locate the rubrics in a document, with their format and version."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_lint.formats.dialects import AGENTV, find_families, find_views
from rubric_lint.formats.home_made.vocabulary import Containers
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import find_near
from rubric_lint.model.recognition import (
    CRITERIA,
    FIELD,
    OF_WHOLE,
    PLAIN,
    Around,
    find_misspelt,
    find_places,
    has_own_words,
    holds_only_ours,
    holds_texts,
    is_foreign,
    is_holder,
    is_listed,
    is_ours,
    is_place,
    is_plain,
)
from rubric_lint.model.schema import case_lists, schema_for
from rubric_lint.model.schema_files import CURRENT, VERSION_3, Claim, read_claim
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path, list_prefixes
from rubric_lint.source.source import DATA, Kind, Source, Span, kind_of
from rubric_lint.source.tree import walk_mappings

if TYPE_CHECKING:
    from rubric_lint.formats.dialects import Family
    from rubric_lint.formats.home_made.format_table import FormatTable
    from rubric_lint.model.view import View

_MODELINE = re.compile(
    r"(?:^|(?<=\r))[ \t]*#[ \t]*(?:yaml-language-server:[ \t]*)?\$schema[ \t]*[:=][ \t]*(?P<url>\S+)", re.MULTILINE
)
_TOP_LEVEL_KEY = r"""(?m)^(?:[ \t]*\{\s*)?["']?rubrics["']?[ \t]*:"""
_NESTED_KEY = r"""(?m)^[ \t-]*["']?rubrics["']?[ \t]*:"""
_TEMPLATE_SIGNS = ("{{", "{%", "<%")
_TEMPLATE = r"""\{\{-?\s*[\w.$#/"'(]|\{%|<%"""


_LITERALS = r"""\bscore_range\s*=\s*[\[(][\s\S]*\bexpected_outcome\s*=|["']score-?\d+_description\\?["']\s*:"""
_TABLES = (
    r"(?m)^[ \t]*\[\[criterion\]\][\s\S]*^[ \t]*description[ \t]*="
    r"|^[ \t]*\[\[criteria\]\][\s\S]*^[ \t]*(?:text|guidance)[ \t]*="
)
_TEMPLATE_BLOCK = r"\{%[-+ ]|<%"


def mentions_rubrics(source: Source) -> bool:
    """Return whether text that cannot be parsed seems to contain rubrics.

    It does if it names our schema, uses words that only our format has, or (unless it is a template) has `rubrics` at
    the top level or in a suite. A `rubrics` elsewhere does not count: other tools have it too. A program does if it has
    a literal of DeepEval or Ragas, TOML if it has tables of Harbor or verifiers.
    """
    # Search for plain words first: patterns take a hundred times as long, and know one line end only.
    text = source.text.replace("\r", "\n")
    kind = kind_of(source.name)
    if kind not in DATA:
        signs = _LITERALS if kind.is_program else _TABLES
        return re.search(signs, text) is not None and re.search(_TEMPLATE_BLOCK, text) is None
    if "$schema" in text and any(read_claim(found["url"]) for found in _MODELINE.finditer(text)):
        return True
    if has_own_words(text):
        return True
    if FIELD not in text or (any(sign in text for sign in _TEMPLATE_SIGNS) and re.search(_TEMPLATE, text)):
        return False
    return bool((re.search(_NESTED_KEY, text) and _suite_words().search(text)) or re.search(_TOP_LEVEL_KEY, text))


@cache
def _suite_words() -> re.Pattern[str]:
    return re.compile(rf"""^[ \t-]*["']?(?:{"|".join(sorted(case_lists()))})["']?[ \t]*:""", re.MULTILINE)


def find_claim(document: Document) -> Claim | None:
    """Return the schema that a document declares, in a comment above its content or in a top-level `$schema`.

    One that declares none has that of the comment above the first document, which is for the whole file.
    """
    modeline = _choose_ours(_find_modelines(document))
    if modeline:
        return read_claim(modeline["url"])
    data = document.data
    if isinstance(data, dict) and "$schema" in data:
        url = data["$schema"]
        return read_claim(url) if isinstance(url, str) else None
    url = _find_url_above_all(document)
    return read_claim(url) if url else None


SUITE_OF_3 = Claim("suite", VERSION_3)
"""What a suite of version 3 declares."""


def find_claim_span(document: Document) -> Span | None:
    """Return where a document itself declares it: the URL in the comment, or the value of `$schema`."""
    modeline = _choose_ours(_find_modelines(document))
    if modeline:
        return Span(*modeline.span("url"))
    is_by_key = isinstance(document.data, dict) and "$schema" in document.data and find_claim(document)
    return document.span(("$schema",)) if is_by_key else None


def _find_modelines(document: Document) -> Iterator[re.Match[str]]:
    start, end = document.preamble
    text = document.source.text
    return _MODELINE.finditer(text, start, end) if "$schema" in text[start:end] else iter(())


def _choose_ours(modelines: Iterable[re.Match[str]]) -> re.Match[str] | None:
    return next((found for found in modelines if read_claim(found["url"])), None)


def _find_url_above_all(document: Document) -> str:
    """Return the URL in our schema comment above the first document, for a later one that has no schema comment."""
    if not document.number or document.kind is not Kind.YAML or any(_find_modelines(document)):
        return ""
    return _find_url(document.tree.head)


@lru_cache(maxsize=16)  # every document of a file asks for the same head
def _find_url(head: str) -> str:
    found = _choose_ours(_MODELINE.finditer(head))
    return found["url"] if found else ""


class Location(NamedTuple):
    """A rubric: its path and version, for a dialect its view, and for our format what is around it."""

    path: Path
    version: str
    view: "View | None" = None
    around: Around = Around()


class Search(NamedTuple):
    """The rubrics of a document in document order, and the paths of near-rubrics.

    `leftovers`: fields `rubrics` whose value is not read as a rubric, and fields with similar names. `is_claimed`: the
    document declares our schema; `is_foreign`: only its name says so, and its content is that of another tool.
    """

    rubrics: list[Location]
    leftovers: list[Path]
    is_claimed: bool = False
    is_foreign: bool = False


def may_be_missed(document: Document, found: Search) -> bool:
    """Return whether a document may hold more that looks like a rubric; most have none of the signs."""
    return (
        bool(found.leftovers)
        or not found.rubrics
        or any(location.view or location.around.doubts for location in found.rubrics)
        or has_signs_of_forms(document)
        or has_home_next_to_it(document)
    )


def has_signs_of_forms(document: Document) -> bool:
    """Return whether a document has words of the known forms of rubrics that are not linted."""
    text = document.quick_text
    return any(map(text.__contains__, _SIGNS_OF_FORMS))


def has_home_next_to_it(document: Document) -> bool:
    """Return whether a document that has rubrics may have home-made ones next to them."""
    return isinstance(document.data, dict) and any(key in Containers.strong for key in document.data if key != FIELD)


_SIGNS_OF_FORMS = ("assert", "llm-rubric", "agent-rubric", "label_model", "score_model")


def count_signs(name: str) -> int:
    """Return how much the name of a file says that it holds a rubric."""
    return int(FIELD.removesuffix("s") in name.lower())


def find_intended_tools(documents: Mapping[Document, Iterable[Location]]) -> tuple[bool, bool]:
    """Return whether a file with these documents, each with its rubrics, has some of our format or AgentV's.

    Also return whether it is for AgentV.
    """
    located: list[tuple[Document, Location]] = []
    for document, locations in documents.items():
        located += [(document, location) for location in locations]
    if any(is_agentv(location) for _, location in located) or any(map(is_agentv_suite, documents)):
        return True, True
    plain = [(document, location.path) for document, location in located if location.view is None]
    return any(is_ours(document.value(path), path[:-1]) for document, path in plain), False


def is_agentv(location: Location) -> bool:
    """Return whether a rubric is written for AgentV since February 2026."""
    return location.view is not None and location.view.dialect.name.startswith("agentv-")


def is_agentv_suite(document: Document) -> bool:
    """Return whether a document is a suite for AgentV 5, or a part of one, that may have a rubric of any look."""
    if document.part:
        return True
    text = document.quick_text
    if "assert" not in text or not any(sign in text for sign in ("prompts", "default_test", "evaluate_options")):
        return False
    claim = find_claim(document)
    if claim and claim.version == VERSION_3:  # which AgentV does not read
        return False
    from rubric_lint.formats.agentv.suites import is_current  # noqa: PLC0415  (few files have the words)

    return is_current(document)


def search(
    document: Document,
    *,
    version: str | None = None,
    claimed: bool = False,
    shapes: "Sequence[FormatTable]" = (),
    part: str = "",
) -> Search:
    """Find the rubrics of a document; also those of dialects, unless the file declares our schema.

    `version` is from the settings; a schema declared in the file overrides it. `claimed`: the file name or the settings
    say that its rubrics are in our format, whatever their shape. `shapes`: the tables that describe its rubrics, which
    then are all that it has. `part`: what a suite of AgentV needs the file for.
    """
    document.part = part  # dialects ask the document
    if shapes and not document.kind.is_program:
        from rubric_lint.formats.home_made.reading import read_by_tables  # noqa: PLC0415  (few settings describe a format)

        return Search(_in_order(document, read_by_tables(document, shapes)), [])
    if document.kind not in DATA:
        views = _find_views(document, find_families(document.quick_text, document.kind))
        return Search(views or _find_home(document), [])
    claim = find_claim(document)
    if claim and not claim.is_known:
        return Search([], [], is_claimed=True)  # the meaning of its fields is unknown
    follows = claim.version if claim else version or CURRENT
    is_only_named = claimed and claim is None and version is None
    is_other = is_only_named and _is_others(document)
    is_claimed = (claimed and not is_other) or claim is not None
    families = [] if is_claimed else find_families(document.quick_text, document.kind)
    if part and not is_claimed:
        families = [AGENTV, *(family for family in families if family is not AGENTV)]
    found: dict[Path, None] = {}
    if document.has_aliases:
        mappings: Iterable[tuple[Path, dict[str, Any]]] = find_places(document.data)
    else:  # a dialect needs all mappings anyway
        mappings = document.mappings if families else walk_mappings(document.data, without=found)
    leftovers = _find(mappings, found, is_claimed=is_claimed, is_suite_of_3=claim == SUITE_OF_3)
    rubrics = [Location(path, follows) for path in found]
    views = _find_views(document, families) if families else []
    if views:
        rubrics, leftovers = _add_views(document, rubrics, leftovers, views)
    if leftovers and not is_claimed and find_intended_tools({document: rubrics}) == (True, False):
        rubrics, leftovers = _add_placed(document, rubrics, leftovers, follows)
    if follows == VERSION_3:
        is_whole = claim.name == "rubric" if claim else claimed or version == VERSION_3
        rubrics = _read_version_3(document, rubrics, leftovers, may_be_whole=is_whole, is_claimed=claim is not None)
        above = _list_ways(rubrics)
        is_one = bool(rubrics) and not rubrics[0].path  # the whole document
        leftovers = [] if is_one else [path for path in leftovers if path not in above]
    if not (rubrics or is_claimed or part):
        rubrics = _find_home(document)
        above = _list_ways(rubrics)
        leftovers = [path for path in leftovers if path not in above]
    rubrics = [_add_around(document, location, claim) for location in rubrics]
    return Search(rubrics, leftovers, is_claimed=is_claimed, is_foreign=is_other)


def _add_views(
    document: Document, rubrics: list[Location], leftovers: list[Path], views: list[Location]
) -> tuple[list[Location], list[Path]]:
    """Return the rubrics with those of dialects, which replace ours, and the leftovers that lead to none of them."""
    viewed = {view.path for view in views}
    above = _list_ways(views)
    inside = {id(document.value(path)) for path in above} if document.has_aliases else set()
    leftovers = [path for path in leftovers if path not in above and id(document.value(path)) not in inside]
    return _sort(document, [location for location in rubrics if location.path not in viewed] + views), leftovers


def _add_placed(
    document: Document, rubrics: list[Location], leftovers: list[Path], version: str
) -> tuple[list[Location], list[Path]]:
    """Return the rubrics with the leftovers of which their place says that they are ours, and the other leftovers."""
    above = _list_ways(rubrics) - {location.path for location in rubrics}
    placed = [path for path in leftovers if path not in above and _is_placed(document, path)]
    leftovers = [path for path in leftovers if list_prefixes([path]).isdisjoint(placed)]
    return _sort(document, rubrics + [Location(path, version) for path in placed]), leftovers


def _add_around(document: Document, location: Location, claim: Claim | None) -> Location:
    """Return a rubric with what is around it, if it is of our format; the schema reports what is an error there."""
    if location.view:
        return location
    errors = {(name,) for name in OF_WHOLE} if claim and claim.name == "rubric" else set()
    return location._replace(around=_look_around(document, location.path).without(errors))


def _list_ways(locations: Iterable[Location]) -> set[Path]:
    """Return the paths from the top to rubrics, with those of the rubrics."""
    return list_prefixes(location.path for location in locations)


def _sort(document: Document, locations: Iterable[Location]) -> list[Location]:
    return sorted(locations, key=lambda location: document.span(location.path).start)


def _read_version_3(
    document: Document, rubrics: list[Location], leftovers: list[Path], *, may_be_whole: bool, is_claimed: bool
) -> list[Location]:
    """Return the rubrics of a file of version 3, each with its view; the whole document may be one.

    If it has `criteria` and declares the schema, whatever `rubrics` in it are is an error. What was left over because
    it is a mapping is a rubric, as in version 2 it is not.
    """
    from rubric_lint.model.schema_problems import find_misplaced  # noqa: PLC0415  (few files follow version 3)
    from rubric_lint.model.version_3 import holds_rubric, is_node, read_rubric  # noqa: PLC0415  (as above)

    is_sure = is_claimed and isinstance(document.data, dict) and CRITERIA in document.data
    if may_be_whole and (is_sure or not rubrics) and is_node(document.data, is_claimed=is_claimed):
        return [Location((), VERSION_3, read_rubric(document, ()))]
    more = [path for path in leftovers if path[-1] == FIELD and holds_rubric(document.value(path))]
    schema = schema_for(VERSION_3)
    paths = {*more, *(location.path for location in rubrics)}
    covered = set(paths)
    if (FIELD,) in paths:
        covered |= {(name,) for name in schema.joined["properties"]}
    for path in paths:
        covered |= {problem.path for problem in find_misplaced(schema, document, path, in_suite=True)}
    found = [location for location in rubrics if location.view]
    more += [location.path for location in rubrics if location.view is None]
    found += [_view_version_3(document, path, covered) for path in more]
    return _sort(document, found)


def _view_version_3(document: Document, path: Path, covered: Collection[Path]) -> Location:
    """Return a rubric of version 3 in a file: without a mark of its own, it has that of what is around it.

    `covered` are the places of which, and within which, nothing is a doubt: rubrics, and what is an error next to them.
    """
    from rubric_lint.model.version_3 import read_rubric  # noqa: PLC0415  (as above)

    view, around = read_rubric(document, path), _look_around(document, path)
    at = around.threshold_path or ()
    if view.threshold is not None and any(isinstance(step, int) for step in at):
        # that of a whole suite is for the rubrics without one
        other = RelatedPlace("the other one", at, Part.KEY)
        values = {"field": "pass_threshold", "other": at[-1]}
        problem = Problem("two-marks", (*path, "pass_threshold"), Part.KEY, values, (other,))
        view = replace(view, problems=(*view.problems, ("bounds", problem)))
    if view.threshold is None and around.threshold is not None:
        view = replace(view, threshold=around.threshold, threshold_path=around.threshold_path, is_gate=around.is_gate)
    doubts = []
    for place, reason in around.doubts:
        if not any(place[: length + 1] in covered for length in range(len(place))):
            doubts.append((place, reason))
    return Location(path, VERSION_3, replace(view, doubts=tuple(doubts)))


def has_signs_of_home(document: Document) -> bool:
    """Return whether a document has words of home-made criteria."""
    from rubric_lint.formats.home_made.places import may_hold_criteria  # noqa: PLC0415  (few files get here)

    return may_hold_criteria(document)


def _find_home(document: Document) -> list[Location]:
    if document.kind.is_program or not has_signs_of_home(document):
        return []
    from rubric_lint.formats.search.home_made import read_home  # noqa: PLC0415  (few files have the words)

    return _in_order(document, read_home(document))


_TEXTS = frozenset({"title", "description", "task"})
"""What may say that low scores are the best, where criteria have some."""

_OF_SUITES = ("threshold", "negate", "not-")
"""What may bear on the scores of a rubric in a suite, in it or farther away."""

_GATES = frozenset({"required", "min_score"})


def _look_around(document: Document, path: Path) -> Around:
    """Return the threshold and the doubts of what is around a rubric of our format at a path."""
    if path != (FIELD,):
        may_be_more = any(map(document.mentions, _OF_SUITES)) or _has_more(document, path)
    else:
        plain = PLAIN - _TEXTS if document.mentions("score_ranges") else PLAIN
        may_be_more = not document.data.keys() <= plain
    if not may_be_more:
        return Around()
    from rubric_lint.formats.search import around  # noqa: PLC0415  (few files have any)

    return around.find_around(document, path)


def _has_more(document: Document, path: Path) -> bool:
    """Return whether a mapping around a rubric has a key that is not a plain one, or is an assertion with a gate."""
    value = document.data
    for step in path:
        if type(value) is dict and not (is_plain(value) and _GATES.isdisjoint(value)):
            return True
        value = value[step]
    return False


def _is_others(document: Document) -> bool:
    """Return whether the content of a file named like a rubric file is another tool's, or a rubric of a dialect."""
    data, text = document.data, document.written_at(())
    if is_foreign(data, text) or not is_foreign(data, text, has_views=True):
        return is_foreign(data, text)
    return bool(_find_views(document, find_families(document.quick_text, document.kind)))


def _is_placed(document: Document, path: Path) -> bool:
    """Return whether a `rubrics` in a suite of ours is where our rubrics are, so that it is one, whatever it holds."""
    value = document.value(path)
    is_placed = path[-1] == FIELD and is_place(path[:-1], in_suite=True)
    holds_any = holds_criteria(value) or (is_listed(path[:-1]) and holds_texts(value))
    return is_placed and holds_any and not any(find_misspelt(value, path, of_agentv=False))


def holds_criteria(value: Any) -> bool:
    """Return whether a value in the place of a rubric is meant as one: not a reference, and not settings."""
    if isinstance(value, dict):
        from rubric_lint.formats.home_made.scores import read_levels  # noqa: PLC0415  (few rubrics are mappings)

        is_known = any(isinstance(part, dict | list) or schema_for().knows(key) for key, part in value.items())
        return is_known or read_levels(value) is not None
    return isinstance(value, list) and not all(isinstance(entry, str) for entry in value)


def _find_views(document: Document, families: "Iterable[Family]") -> list[Location]:
    views = find_views(document, families)
    if not views:
        return []
    from rubric_lint.formats.search.around import find_doubts_of_views  # noqa: PLC0415  (few have rubrics of others)

    return _in_order(document, find_doubts_of_views(views))


def _in_order(document: Document, views: "Iterable[View]") -> list[Location]:
    return _sort(document, [Location(view.path, CURRENT, view) for view in views])


def _find(
    mappings: Iterable[tuple[Path, Mapping[str, Any]]],
    found: dict[Path, None],
    *,
    is_claimed: bool,
    is_suite_of_3: bool = False,
) -> list[Path]:
    """Add to `found` the fields that contain rubrics; return those of near-rubrics, in document order.

    With `is_suite_of_3`, the document declares the schema of suites of version 3, so `criteria` are of a rubric, too.
    """
    leftovers: list[Path] = []
    ours: dict[tuple[int, bool], bool] = {}  # a list may be shared thousands of times
    last: Path = (None,)  # type: ignore[assignment]  # below the last rubric nothing is another one
    for path, mapping in mappings:
        if path[: len(last)] == last:
            continue
        for key in mapping:
            if key[:1] in ("r", "R") and _resembles(key):
                is_found = key == FIELD
                if is_found and not is_claimed:
                    like = (id(mapping[FIELD]), is_holder(path))
                    if like not in ours:
                        ours[like] = is_ours(mapping[FIELD], path)
                    is_found = ours[like]
                if is_found:
                    last = (*path, FIELD)
                    found[last] = None
                else:
                    leftovers.append((*path, key))
        if is_suite_of_3 and FIELD not in mapping and is_place(path, in_suite=True) and _has_criteria(mapping):
            leftovers.append((*path, CRITERIA))
        elif FIELD not in mapping and is_holder(path):
            leftovers += [
                (*path, key)
                for key, value in mapping.items()
                if type(value) is list and holds_only_ours(value) and key not in case_lists() and not _resembles(key)
            ]
    return leftovers


def _has_criteria(mapping: Mapping[str, Any]) -> bool:
    """Return whether a case has the criteria of a rubric; a grader of another type may have others."""
    value = mapping.get(CRITERIA)
    return (holds_texts(value) or holds_only_ours(value)) and mapping.get("type", FIELD) == FIELD


@lru_cache(maxsize=1 << 10)
def _resembles(key: str) -> bool:
    return key == FIELD or bool(find_near(key, (FIELD,)))


def holds_rubrics(value: Any) -> bool:
    """Return whether data contains rubrics of our format, by their shape."""
    found: dict[Path, None] = {}
    _find(walk_mappings(value), found, is_claimed=False)
    return bool(found)
