"""Make the fixes of a file, one by one."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from rubric_lint.formats.search.locate import find_claim, find_claim_span
from rubric_lint.model.finding import Problem
from rubric_lint.model.recognition import is_ours
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema_files import BASE, CURRENT
from rubric_lint.source.document import Document
from rubric_lint.source.edits.alias_graph import AliasGraph
from rubric_lint.source.edits.intents import Fix, Repair
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.path import Path

Fixes = tuple[Fix | None, str, tuple[Fix, ...]]
"""The plain fix of a finding, what is in the way of all fixes, and the choices."""

_COMMENT = f"# $schema: {BASE}rubric-{CURRENT}.schema.json"


def build_alias_graph(document: Document, rubrics: Collection[Path] = (), *, is_claimed: bool = False) -> AliasGraph:
    """Build the graph of what a document uses in several places, given the paths of its rubrics.

    `is_claimed`: the name of the file or the settings say that its rubrics are ours.
    """

    def check_apart(path: Path, steps: Sequence[int]) -> None:
        claim = find_claim(document)
        if claim and document.number and find_claim_span(document) and "$schema" not in document.data:
            raise ObstacleError(
                "the schema comment above them is for this document alone; put it in the first line of the file"
            )
        items = document.value(path)
        if claim or is_claimed:
            return
        for is_moved in (True, False):
            if not is_ours([item for index, item in enumerate(items) if (index in steps) is is_moved], ()):
                what = "the strings" if is_moved else "the strings that are left"
                raise ObstacleError(
                    f"in a document without other criteria, {what} would not be read as a rubric; first write "
                    f"`{_COMMENT}` in the first line of the file"
                )

    return AliasGraph(document, rubrics, check_apart)


class FixBuilder:
    """Makes fixes; who shares what is worked out once for each document, given the rubrics of them all.

    `is_claimed`: the name of the file or the settings say that its rubrics are ours.
    """

    def __init__(self, rubrics: Iterable[tuple[Document, Rubric]], *, is_claimed: bool) -> None:
        self._paths: dict[Document, list[Path]] = {}
        for document, rubric in rubrics:
            self._paths.setdefault(document, []).append(rubric.path)
        self._is_claimed = is_claimed
        self._graphs: dict[Document, AliasGraph] = {}
        self._fixes: dict[tuple[Document, Repair], Fix | ObstacleError] = {}

    def build(self, document: Document, problem: Problem) -> Fixes:
        """Return the plain fix of a problem and its choices, or what is in the way of all of them."""
        aliases = self._graphs.get(document)
        if aliases is None:
            paths = self._paths.get(document, ())
            aliases = self._graphs[document] = build_alias_graph(document, paths, is_claimed=self._is_claimed)
        plain, obstacle, choices = None, "", list[Fix]()
        for repair in (problem.repair, *problem.choices):
            if repair is None:
                continue
            fix = self._find_fix(aliases, repair)
            if isinstance(fix, ObstacleError):
                obstacle = obstacle or str(fix)
                continue
            if repair is problem.repair:
                plain = fix
            else:
                choices.append(fix)
        reason = "" if plain or choices else obstacle
        return plain, reason, tuple(choices)

    def _find_fix(self, aliases: AliasGraph, repair: Repair) -> Fix | ObstacleError:
        """Return the fix of a repair, which several findings of one scale may have, or why it cannot be made.

        The edits of a fix that surely can be made are left for later, as few reports show them.
        """
        key = (aliases.document, repair)
        if key in self._fixes:
            return self._fixes[key]
        fix: Fix | ObstacleError
        is_sure = aliases.is_plain and all(intent.is_sure(aliases) for intent in repair.intents)
        if is_sure and _is_usual(aliases, repair):
            fix = Fix(repair.title, None, repair.safe, choice=repair.choice, make=partial(_make_fix, aliases, repair))
        else:
            try:
                fix = _make_fix(aliases, repair)
            except ObstacleError as obstacle:
                fix = obstacle
        self._fixes[key] = fix
        return fix


def _is_usual(aliases: AliasGraph, repair: Repair) -> bool:
    if aliases.is_usual or not any(intent.is_structural for intent in repair.intents):
        return True
    from rubric_lint.source.edits.making import is_usual  # noqa: PLC0415  (most files need it for no fix)

    return is_usual(aliases, repair.intents)


def _make_fix(aliases: AliasGraph, repair: Repair) -> Fix:
    from rubric_lint.source.edits.making import make_fix  # noqa: PLC0415  (most fixes are only offered)

    return make_fix(aliases, repair)
