"""Find what keeps the rubrics of a suite from being written for a release of AgentV, and what is in other files."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rubric_lint.formats.agentv.files import find_named
from rubric_lint.formats.agentv.parts import Blocker, find_assertions
from rubric_lint.formats.agentv.releases import RELEASES, Release
from rubric_lint.formats.agentv.suites import ASSERTION_LISTS
from rubric_lint.model.criterion import Shape
from rubric_lint.model.messages import join_words, shorten
from rubric_lint.model.rubric import Rubric
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path


def names_in(owner: Mapping[str, Any], field: str) -> Collection[str]:
    """Return the names of the fields in a mapping that a field of its owner holds; none in any other value."""
    value = owner.get(field)
    return value.keys() if isinstance(value, dict) else ()


def is_named(case: dict[str, Any]) -> bool:
    """Return whether a test has the `id` without which AgentV skips it: a string that is not empty."""
    return isinstance(case.get("id"), str) and case["id"] != ""


def find_unconverted_files(document: Document) -> Iterator[Blocker]:
    """Find the cases and assertions that are in other files, of which nothing is rewritten."""
    for other in find_named(document):
        reason = f"the {other.holds} in `{other.text}` are not rewritten; run this on that file too"
        yield Blocker(reason, other.path, Part.VALUE)


def is_foreign(rubric: Rubric) -> bool:
    """Return whether a rubric is neither a list of AgentV's criteria nor in our format."""
    if rubric.view and rubric.view.is_text:
        return True
    return rubric.dialect != "" and not rubric.dialect.startswith("agentv")


def is_read_as_it_is(document: Document, rubric: Rubric) -> bool:
    """Return whether a rubric stays as it is: strings mean the same in all systems, and AgentV's texts are prompts."""
    value = document.value(rubric.path)
    if isinstance(value, str) and rubric.dialect.startswith("agentv"):
        return True
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def find_custom(document: Document) -> Iterator[Blocker]:
    """Find the assertions of a type that no release has, which a program of the project may define."""
    advice = "it scores 0 unless `.agentv/assertions/` defines it"
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        if not any(release.has(kind) or release.has(kind.replace("_", "-")) for release in RELEASES.values()):
            yield Blocker(f"no release of AgentV has `type: {shorten(kind)}`; {advice}", (*path, "type"), Part.VALUE)


def find_unconvertible(
    document: Document, rubric: Rubric, target: Release, cases: Collection[Path]
) -> Iterator[Blocker]:
    """Find what keeps a rubric from being written for the target; `cases` are the paths of the tests."""
    path, view = rubric.path, rubric.view
    if view and is_foreign(rubric):
        yield Blocker(f"a rubric of {view.dialect.title}, which {target.title} does not read", path)
    elif rubric.shape is Shape.LEVELS:
        yield Blocker(f"{target.title} has no levels, only checklists and criteria with `score_ranges`", path)
    elif view and view.definition:  # read in the same place only
        if rubric.dialect not in target.dialects:
            yield Blocker(f"{target.title} has no criterion outside a list; write a list of one", path)
    elif path[-1:] and path[-1] in ASSERTION_LISTS:
        yield from _find_lost_list(path, target)  # strings among assertions stay there
    elif path[-3:-2] and path[-3] in ASSERTION_LISTS:
        yield from _find_unread_assertion(document, path, target)
    elif not path or path[:-1] not in cases:
        yield Blocker(f"{target.title} reads rubrics only in the cases of `tests`; move this one to a case", path)


def _find_unread_assertion(document: Document, path: Path, target: Release) -> Iterator[Blocker]:
    """Find why the target does not read the criteria at a path, in an assertion."""
    kind = document.value(path[:-1]).get("type")
    successor = target.kinds.get(kind) if isinstance(kind, str) else None
    if successor is None:
        known = join_words([f"`{name}`" for name in dict.fromkeys(target.kinds.values())], "or")
        yield Blocker(f"{target.title} does not read criteria in `{kind}`; write {known}", path)
    elif target.name_field(successor) == "rubrics" and any(isinstance(entry, str) for entry in document.value(path)):
        reason = f"skips the strings in an assertion of the type `{successor}`; write mappings"
        yield Blocker(f"{target.title} {reason}", path)
    else:
        yield from _find_lost_list(path[:-2], target)


def _find_lost_list(path: Path, target: Release) -> Iterator[Blocker]:
    if path[-2:-1] == ("execution",) and path[-1] != "evaluators" and target.reads_both:
        yield Blocker(f"{target.title} does not read `execution.{path[-1]}`; move it up", path)
