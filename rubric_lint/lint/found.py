"""Define what a look at a text finds: problems in documents, with the rules that report them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rubric_lint.dialects.search.locate import holds_rubrics
from rubric_lint.finding import Place, Problem
from rubric_lint.format.rubric import Rubric
from rubric_lint.text.document import Document


class Found(NamedTuple):
    """A problem that the rule of this name found in a document, and the rubric that it is in, if any."""

    rule: str
    problem: Problem
    document: Document
    rubric: Rubric | None = None


class Look(NamedTuple):
    """Another way to look at a text: `find` yields problems in its documents, which rules named in `rules` report."""

    find: Callable[[Sequence[Document]], Iterable[Found]]
    rules: frozenset[str]


Also = Callable[[Sequence[tuple[Document, Rubric]], Sequence[Found]], Iterable[Found]]
"""A function that finds more problems in the rubrics of a text, given those that the rules found."""


def find_duplicate_keys(document: Document, located: list[Rubric], *, is_ours: bool = False) -> Iterator[Found]:
    """Find keys that are written twice in one mapping, in a document that is ours or holds rubrics."""
    duplicates = document.duplicates
    if not duplicates or not (
        is_ours or located or any(holds_rubrics({duplicate.key: duplicate.shadowed}) for duplicate in duplicates)
    ):
        return
    holders = {rubric.path: rubric for rubric in reversed(located)}
    for _, owner, key, first, second, _ in duplicates:
        related = (Place("the first one", (), span=first),)
        problem = Problem("repeated", (*owner, key), values={"key": key}, span=second, related=related)
        above = (owner[:length] for length in range(len(owner) + 1))
        holder = next((holders[path] for path in above if path in holders), None)
        yield Found("duplicate-key", problem, document, holder)
