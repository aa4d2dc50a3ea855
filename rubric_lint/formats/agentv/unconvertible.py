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
        yield Blocker("other-file", other.path, Part.VALUE, {"holds": other.holds, "file": other.text})


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
    for path, assertion in find_assertions(document):
        kind = assertion["type"]
        if not any(release.has(kind) or release.has(kind.replace("_", "-")) for release in RELEASES.values()):
            yield Blocker("unknown-type", (*path, "type"), Part.VALUE, {"type": shorten(kind)})


def find_unconvertible(
    document: Document, rubric: Rubric, target: Release, cases: Collection[Path]
) -> Iterator[Blocker]:
    """Find what keeps a rubric from being written for the target; `cases` are the paths of the tests."""
    path, view, values = rubric.path, rubric.view, {"release": target.title}
    if view and is_foreign(rubric):
        yield Blocker("other-system", path, values={**values, "system": view.dialect.title})
    elif rubric.shape is Shape.LEVELS:
        yield Blocker("levels", path, values=values)
    elif view and view.definition:  # read in the same place only
        if rubric.dialect not in target.dialects:
            yield Blocker("bare-criterion", path, values=values)
    elif path[-1:] and path[-1] in ASSERTION_LISTS:
        yield from _find_lost_list(path, target)  # strings among assertions stay there
    elif path[-3:-2] and path[-3] in ASSERTION_LISTS:
        yield from _find_unread_assertion(document, path, target)
    elif not path or path[:-1] not in cases:
        yield Blocker("outside-tests", path, values=values)


def _find_unread_assertion(document: Document, path: Path, target: Release) -> Iterator[Blocker]:
    """Find why the target does not read the criteria at a path, in an assertion."""
    kind = document.value(path[:-1]).get("type")
    successor = target.kinds.get(kind) if isinstance(kind, str) else None
    if successor is None:
        known = join_words([f"`{name}`" for name in dict.fromkeys(target.kinds.values())], "or")
        yield Blocker("unread-type", path, values={"release": target.title, "type": kind, "known": known})
    elif target.name_field(successor) == "rubrics" and any(isinstance(entry, str) for entry in document.value(path)):
        yield Blocker("unread-strings", path, values={"release": target.title, "type": successor})
    else:
        yield from _find_lost_list(path[:-2], target)


def _find_lost_list(path: Path, target: Release) -> Iterator[Blocker]:
    if path[-2:-1] == ("execution",) and path[-1] != "evaluators" and target.reads_both:
        yield Blocker("unread-execution", path, values={"release": target.title, "list": path[-1]})
