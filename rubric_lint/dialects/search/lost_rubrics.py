"""Report containers of rubrics that are misspelt or empty, so that their criteria would be lost."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.dialects.search.locate import Location, Search
from rubric_lint.dialects.search.renames import rename
from rubric_lint.finding import Problem
from rubric_lint.format.bands import looks_like_bands
from rubric_lint.format.recognition import FIELD, is_holder, is_ours
from rubric_lint.format.schema import schema_for
from rubric_lint.messages import describe, find_near
from rubric_lint.text.document import Document
from rubric_lint.text.path import Part, Path

_OF_AGENTV = "agentv-"
_REFERENCE = re.compile(r"\{\{|\$\{|://|\A\S+\Z")  # a template, an address, or a file name


class Meant(NamedTuple):
    """Whom a file is meant for: `in_suite`, it has rubrics of our format or of AgentV; `of_agentv`, of AgentV."""

    in_suite: bool
    of_agentv: bool


OURS, OF_AGENTV = "rubrics of ours", "rubrics of AgentV"


def find_meant(documents: Sequence[Document], locations: Sequence[Location], around: frozenset[str]) -> Meant:
    """Return whom a file with these rubrics is meant for; see `Source.around`."""
    of_agentv = OF_AGENTV in around or any(map(is_agentv, locations)) or any(map(is_agentv_suite, documents))
    return Meant(of_agentv or OURS in around or any(map(speaks_for_us, locations)), of_agentv)


def speaks_for_us(location: Location) -> bool:
    """Return whether a rubric shows that its file is meant for rubric-lint: it uses our format, or that of AgentV."""
    return location.view is None or is_agentv(location)


def is_agentv(location: Location) -> bool:
    """Return whether a rubric is written for AgentV since February 2026."""
    return location.view is not None and location.view.dialect.name.startswith(_OF_AGENTV)


def is_agentv_suite(document: Document) -> bool:
    """Return whether a document is a suite for AgentV 5 that may have a rubric, whatever its rubrics look like."""
    text = document.quick_text
    if not any(sign in text for sign in _OF_CURRENT) or "assert" not in text:
        return False
    from rubric_lint.dialects.search.agentv_suites import is_current  # noqa: PLC0415  (few files have the words)

    return is_current(document)


_OF_CURRENT = ("prompts", "default_test", "evaluate_options")


def find_lost(document: Document, found: Search, *, in_suite: bool, of_agentv: bool) -> Iterator[Problem]:
    """Find the containers of rubrics that nothing reads, in a file of rubrics.

    With `in_suite`, the file has rubrics, so its top level counts as a case. With `of_agentv`, some of them are
    AgentV's.
    """
    for path in found.leftovers:
        if is_place(path[:-1], in_suite=in_suite):
            yield from _find_leftover(document, path, of_agentv=of_agentv)
    if of_agentv:
        # Files with a rubric of AgentV have loaded the module already.
        from rubric_lint.dialects.search.lost_in_agentv import find_lost_in_agentv  # noqa: PLC0415

        views = [location.view for location in found.rubrics if location.view and is_agentv(location)]
        yield from find_lost_in_agentv(document, views, {location.path for location in found.rubrics})


def is_place(owner: Path, *, in_suite: bool) -> bool:
    """Return whether the mapping at `owner` may contain rubrics: a case, an evaluator, or the defaults."""
    return is_holder(owner) or (in_suite and owner in {(), ("defaults",)})


def _find_leftover(document: Document, path: Path, *, of_agentv: bool) -> Iterator[Problem]:
    owner, value = document.value(path[:-1]), document.value(path)
    key = str(path[-1])
    if key != FIELD:
        if FIELD not in owner and (_is_same(key) or _could_be_read(value, path[:-1])):
            message = f"`{key}` is not read; did you mean `{FIELD}`?"
            yield Problem(message, path, Part.KEY, repair=rename([(path, FIELD)]))
    elif not value and not isinstance(value, bool | int | float):
        message = f"`{FIELD}` {word_empty(value)}, so nothing is judged by it; list its criteria or remove it"
        yield Problem(message, path, Part.KEY)
    elif not isinstance(value, list | dict):
        if not (isinstance(value, str) and _REFERENCE.search(value)):
            found = describe(value, document.written_at(path))
            yield Problem(f"`{FIELD}` is {found}, expected a list of criteria", path)
    elif misspelt := list(find_misspelt(value, path, of_agentv=of_agentv)):
        yield Problem(word_misspelt(misspelt[0]), misspelt[0][0], Part.KEY, repair=rename(misspelt))


def word_empty(value: Any) -> str:
    """Describe an empty field: `is an empty list`."""
    if value is None:
        return "has no value"
    return f"is an empty {'list' if isinstance(value, list) else 'mapping' if isinstance(value, dict) else 'string'}"


def _is_same(key: str) -> bool:
    return key.lower() == FIELD


def _could_be_read(value: Any, owner: Path) -> bool:
    """Return whether a value would be a rubric under the right name."""
    if is_ours(value, owner):
        return True
    return isinstance(value, list) and any(isinstance(entry, dict) and "outcome" in entry for entry in value)


def find_misspelt(value: Any, path: Path, *, of_agentv: bool) -> Iterator[tuple[Path, str]]:
    """Find the misspelt fields without which a value of `rubrics` would be a rubric, each with the right name."""
    known = schema_for().entry_fields
    wanted = ("outcome", "score_ranges", "score_range", "min_score") if of_agentv else _telling(known)
    entries: Iterable[tuple[Path, Any]]
    entries = [(path, value)] if isinstance(value, dict) else [((*path, at), item) for at, item in enumerate(value)]
    for place, entry in entries:
        for key, content in entry.items() if isinstance(entry, dict) else ():
            if key == "score_range":
                target = "score_ranges" if looks_like_bands(content) else ""
            else:
                target = "" if key in known or key in wanted else next(iter(find_near(key, wanted)), "")
            if target and target not in entry:
                yield (*place, key), target


def word_misspelt(found: tuple[Path, str]) -> str:
    """Say that rubrics are not read because of a misspelt field."""
    path, target = found
    fault = "holds bands, not one range" if path[-1] == "score_range" else "is not a field"
    return f"`{FIELD}` is not read, as `{path[-1]}` {fault}; did you mean `{target}`?"


def _telling(known: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, field in known.items() if "x-distinctive" in field and "_" in name)
