"""Understand what a document holds of home-made rubrics: the criteria, the role of each key, and what is not known.

`understand` is the one function that says so; checks, `show`, `adopt`, scores and near misses ask it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rubric_lint.formats.home_made.candidate import Candidate, EvidenceKind, choose_likely
from rubric_lint.formats.home_made.columns import CriteriaColumns, ParsedValues, is_answered, look, read_columns
from rubric_lint.formats.home_made.format_table import expand, list_words
from rubric_lint.formats.home_made.places import (
    CriteriaGroup,
    cluster,
    find_amounts,
    find_expected,
    find_groups,
    find_main_texts,
    find_names,
    find_text_groups,
    is_case,
    is_container,
    is_for_judges,
    is_line,
    is_named,
    is_of_other_tool,
    is_strong,
    is_under_criteria,
    last_word,
)
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.scores import is_prose, read_levels
from rubric_lint.formats.home_made.surroundings import Surroundings, find_surroundings
from rubric_lint.formats.home_made.table_writer import StatedScale, TableWriter, join_paths
from rubric_lint.formats.home_made.vocabulary import SETS, Containers, SurroundingWords
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer
from rubric_lint.source.tree import parts_of

_NAMES = frozenset({"criteria", "dimensions", "rubrics", "rubric"})
_KINDS_OF_CHECKS = frozenset({"check", "checks", "deterministic", "automatic", "automated"})


@dataclass(frozen=True)
class Hints:
    """What the user says of a document: with `asks`, that it holds criteria, and the scale that it does not state."""

    scale: StatedScale | None = None
    asks: bool = False


def understand(document: Document, hints: Hints = Hints()) -> list[Candidate]:
    """Return the candidates for home-made rubrics in a document, the most criteria first.

    What is left alone is not among them, unless the user says that the document holds criteria.
    """
    return understand_all([document], hints)


def understand_all(
    documents: Sequence[Document],
    hints: Hints = Hints(),
    choose: Callable[[Sequence[Candidate]], Sequence[Candidate]] | None = None,
) -> list[Candidate]:
    """Return the candidates in documents of one format, those of one form together; see `understand`.

    Where the user says that they hold criteria, `choose` returns those to look at.
    """
    parsed = ParsedValues()
    every: list[CriteriaGroup] = []
    chosen: list[CriteriaGroup] = []
    for document in documents:
        is_left_out = is_of_other_tool(document) or (is_line(document) and not is_case(document))
        if hints.asks or not is_left_out:
            groups = find_groups(document, parsed, is_asked=hints.asks)
            every += groups
            chosen += _choose_groups(document, parsed, groups, is_asked=hints.asks)
    builder = _CandidateBuilder(parsed, hints)
    candidates = builder.build_all(chosen)
    if not hints.asks:
        near = [candidate for candidate in candidates if candidate.is_rubric or candidate.is_near]
        candidates = near or builder.find_likely(every) or builder.find_names(documents)
        parts = [_find_whole(candidate, candidates) for candidate in candidates]
        whole = [candidate for candidate, part in zip(candidates, parts, strict=True) if not part]
        candidates = list(_add_siblings(parsed, whole, every, filter(None, parts)))
    elif choose:
        candidates = list(_add_siblings(parsed, choose(candidates), every))
    return sorted(candidates, key=lambda candidate: -candidate.count)


def _add_siblings(
    parsed: ParsedValues,
    candidates: Sequence[Candidate],
    groups: Sequence[CriteriaGroup],
    parts: Iterable[Path] = (),
) -> Iterator[Candidate]:
    """Yield candidates with the places of their siblings, which may hold criteria too.

    `parts` are places of what may be a part of them.
    """
    parts = list(parts)
    for candidate in candidates:
        paths: list[Path] = []
        read: list[Path] = []
        for other in candidates:
            if other.document is candidate.document:
                paths += other.paths
                for nearby in other.surroundings:
                    read += nearby.places.values()
        siblings = _find_siblings(candidate.document, parsed, [*paths, *read])
        found = dict.fromkeys([*siblings, *parts])
        in_document = [group for group in groups if group.document is candidate.document]
        found |= dict.fromkeys(_find_alike(candidate, in_document, {*paths, *found}))
        yield replace(candidate, siblings=list(found))


def _choose_groups(
    document: Document, parsed: ParsedValues, groups: Sequence[CriteriaGroup], *, is_asked: bool
) -> Sequence[CriteriaGroup]:
    """Return the groups that may be criteria: scored ones, else those with their name, else texts, else any."""
    marked = [group for group in groups if group.is_marked and group.columns.has(Role.TEXT, Role.TEXTS, Role.LEVELS)]
    named = [group for group in groups if is_strong(group.key)]
    if not (is_asked or is_named(document, "own")):  # then only a name or the texts of levels show what they are
        marked = [
            group
            for group in marked
            if not group.path
            or group.columns.has(Role.LEVELS)
            or is_under_criteria(group.path)
            or is_container(group.key)
        ]
        return marked or named or _choose_texts(document, parsed, is_asked=is_asked)
    marked = [group for group in marked if is_under_criteria(group.path)] or marked
    texts = [] if marked or named else _choose_texts(document, parsed, is_asked=is_asked)
    chosen = marked or named or _find_around(groups, texts) or texts
    return chosen or groups or find_amounts(document)[:1] or find_names(document, parsed)


def _find_around(groups: Sequence[CriteriaGroup], texts: Sequence[CriteriaGroup]) -> list[CriteriaGroup]:
    """Return the groups one of whose items holds texts with no name of criteria: they are those of the item."""
    paths = [group.path for group in texts if not is_strong(group.key)]
    return [group for group in groups if any(group.path == path[: len(group.path)] for path in paths)]


def _is_in_level(path: Path) -> bool:
    """Return whether a path leads into an item of a list of levels or grades, whose texts it holds."""
    levels = SETS["ladders"] | SETS["grades"]
    for name, step in pairwise(path):
        if isinstance(step, int) and isinstance(name, str) and last_word(name) in levels:
            return True
    return False


def _choose_texts(document: Document, parsed: ParsedValues, *, is_asked: bool) -> list[CriteriaGroup]:
    """Return the groups of texts that may be criteria, or none; the first of these that finds any decides.

    What the cases of a file for judges expect; groups with a name of criteria; in files for judges, also the largest
    list next to a setting of a scale, a file whose every key holds texts, or the statements that a file consists of.
    A file that is not for judges is looked at only if a user asks about it.
    """
    is_judged = is_for_judges(document)
    if not (is_judged or is_asked):
        return []
    expected = find_expected(document) if is_judged else []
    if expected:
        return expected
    every = [
        group
        for group in find_text_groups(document)
        if not (parsed.levels(document.value(group.path)) or _is_in_level(group.path))
    ]
    known = [group for group in every if is_strong(group.key)]
    if known or not is_judged:
        return known if any(len(group.items) > 1 for group in known) else []
    settings = {*SurroundingWords.scale, *SurroundingWords.passes}
    long = [group for group in every if len(group.items) > 2]  # one or two texts may be anything
    marked = [group for group in long if group.path and not settings.isdisjoint(document.value(group.path[:-1]))]
    if marked:
        return sorted(marked, key=lambda group: -len(group.items))[:1]
    # A file named for rubrics in which each top-level key holds texts: each key is a part of the rubric.
    parts = [group for group in every if len(group.path) == 1] if is_named(document, "own") else []
    return parts if 1 < len(parts) == len(document.data) else find_main_texts(document, long)


def _find_whole(candidate: Candidate, others: Sequence[Candidate]) -> Path:
    """Return the sibling of other candidates that holds some criteria, which may be a part of those; else no path."""
    path = candidate.paths[0]
    for other in others:
        holder = other.paths[0][:-1]
        if len(holder) < len(path) - 1 and path[: len(holder)] == holder:
            return path[: len(holder) + 1]
    return ()


def _find_alike(candidate: Candidate, groups: Sequence[CriteriaGroup], known: Collection[Path]) -> Iterator[Path]:
    """Find siblings of criteria whose items have the same keys, at least that of the text and one more."""
    texts = {*candidate.columns.names(Role.TEXT)}
    keys = {key for entry in candidate.columns.entries for key in entry}
    holder = candidate.paths[0][:-1]
    for group in groups:
        entries = group.columns.entries
        shared = keys.intersection(*entries) if entries else set()
        place = group.path[: len(holder) + 1]
        is_known = any(group.path[:length] in known for length in range(len(group.path) + 1))
        if group.path[: len(holder)] == holder and not is_known and shared & texts and len(shared) > 1:
            yield place


def _find_siblings(document: Document, parsed: ParsedValues, paths: Sequence[Path]) -> Iterator[Path]:
    """Find what holds criteria or checks by its name, apart from those at some paths, above and below them."""
    known = {*paths}
    above = {path[:length] for path in paths for length in range(len(path))}
    for path, mapping in document.mappings:
        if any(path[:length] in known for length in range(len(path) + 1)):
            continue
        for key, value in mapping.items():
            place = (*path, key)
            is_named = last_word(key) in _NAMES or not _KINDS_OF_CHECKS.isdisjoint(list_words(key))
            is_other = is_named and place not in known and place not in above
            if is_other and not parsed.levels(value) and _holds_criteria(value):
                yield place


def is_like_criteria(key: str, value: Any) -> bool:
    """Return whether a value holds criteria by its key and by what is in it, and no levels."""
    return is_strong(key) and read_levels(value) is None and _holds_criteria(value)


def _holds_criteria(value: Any) -> bool:
    """Return whether a value holds mappings with texts, or lists of some: criteria, perhaps of several kinds."""
    for part in parts_of(value):
        entries = [entry for entry in (part, *parts_of(part)) if isinstance(entry, dict)]
        if any(is_prose(text) for entry in entries for text in entry.values()):
            return True
    return False


class _CandidateBuilder:
    """Makes candidates of groups, with what stands around them and the table that describes them."""

    def __init__(self, parsed: ParsedValues, hints: Hints) -> None:
        self.parsed, self.hints = parsed, hints

    def build_all(self, groups: Sequence[CriteriaGroup]) -> list[Candidate]:
        """Return the candidates of groups of any form."""
        candidates = []
        for alike in cluster(groups):
            candidates += self.build(alike)
        return candidates

    def build(self, groups: Sequence[CriteriaGroup]) -> list[Candidate]:
        """Return a candidate for groups of one form, or one for each if no pointer leads to them alone."""
        at = join_paths(group.path for group in groups)
        are_expected = groups[0].are_texts and len({group.key for group in groups}) == 1
        is_exact = are_expected or self._leads_to(groups, at)
        if len(groups) > 1 and not is_exact:
            return [self._build([group], group.path) for group in groups]
        return [self._build(groups, at)]

    def find_likely(self, groups: Sequence[CriteriaGroup]) -> list[Candidate]:
        """Find the most items of a file that is named for a rubric; see `Candidate.is_likely`."""
        own = [group for group in groups if is_named(group.document, "rubric")]
        return choose_likely(self.build_all(own))

    def find_names(self, documents: Sequence[Document]) -> list[Candidate]:
        """Find the names of criteria, in files that are named for a rubric."""
        candidates = []
        for document in documents:
            if is_named(document, "own") and is_named(document, "judged"):
                for group in find_names(document, self.parsed):
                    candidates += self.build([group])
        return [candidate for candidate in candidates if candidate.is_near]

    @staticmethod
    def _leads_to(groups: Sequence[CriteriaGroup], at: Path) -> bool:
        """Return whether a path with `*` leads to some groups, and to nothing else that could be read."""
        expected = {(group.document, group.path) for group in groups}
        others: list[Any] = []
        for document in {group.document for group in groups}:
            for path, _ in expand(document.data, pointer(at)):
                if (document, path) not in expected:
                    others += parts_of(document.value(path))
        are_texts = all(isinstance(part, str) for part in others)  # criteria of other cases
        has_mappings = any(isinstance(part, dict) for part in others)
        return not has_mappings and (not others or (is_strong(groups[0].key) and are_texts))

    def _build(self, groups: Sequence[CriteriaGroup], at: Path) -> Candidate:
        columns = groups[0].columns
        if len(groups) > 1:
            entries = [entry for group in groups for entry in group.items.values()]
            if groups[0].are_texts:
                columns = replace(columns, entries=entries)
            else:
                is_map = all(group.is_map for group in groups)
                parts = columns.names(Role.PARTS)
                columns = read_columns(self.parsed, entries, is_map=is_map, parts=parts) or columns
        surroundings = [find_surroundings(self.parsed, group) for group in groups]
        writer = TableWriter(self.parsed, groups, columns, at, self.hints.scale)
        evidence = frozenset(self._find_evidence(groups[0], columns, surroundings[0]))
        return Candidate(groups, at, columns, surroundings, evidence, writer.write(surroundings))

    def _find_evidence(
        self, group: CriteriaGroup, columns: CriteriaColumns, surroundings: Surroundings
    ) -> Iterator[EvidenceKind]:
        is_list = isinstance(group.document.data, list)
        are_alike = columns.has(Role.LEVELS) and len(group.items) == len(group.document.value(group.path))
        is_whole = not group.path and (is_list or are_alike)
        is_file = is_whole and is_named(group.document, "own")
        are_parts = any(map(is_strong, columns.names(Role.PARTS)))
        if is_file or are_parts or is_under_criteria(group.path):
            yield EvidenceKind.NAME
        last = group.path[-1] if group.path else 0
        is_common = isinstance(last, int) or last_word(last) in Containers.common
        kinds = ("judged", "described") if columns.has(Role.LEVELS) else ("judged",)
        if any(is_named(group.document, kind, by_folder=not is_common) for kind in kinds):
            yield EvidenceKind.FILE
        if surroundings.is_declared:
            yield EvidenceKind.DECLARED
        if columns.are_statements:
            yield EvidenceKind.TEXTS
        if self._are_levels_described(columns):
            yield EvidenceKind.LEVELS
        marks = (Role.GATE, Role.NEGATIVE, Role.POSITIVE, Role.POLARITY, Role.PARTS, Role.SCALE)
        if is_answered(columns) or columns.has(*marks):
            yield EvidenceKind.MARKS

    def _are_levels_described(self, columns: CriteriaColumns) -> bool:
        described = 0
        for entry in columns.entries:
            levels = [self.parsed.levels(look(entry, name)) for name in columns.names(Role.LEVELS)]
            described += any(found is not None and found.is_described for found in levels)
        return 2 * described > len(columns.entries)
