"""Name the rubrics of a file as records name them, and find those that share a name."""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import shorten
from rubric_lint.model.rubric import Rubric
from rubric_lint.model.schema import suite_lists
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import DATA, stem_of


def find_repeated(
    rubrics: Sequence[tuple[Document, Rubric]], lost: Container[tuple[Document, Path]]
) -> Iterator[tuple[Problem, Document]]:
    """Find the rubrics of a file whose names other rubrics have, so that no record says which of them it is for.

    Those at the places `lost` are findings already.
    """
    if len(rubrics) < 2 or rubrics[0][0].kind not in DATA:  # rubric-score reads no other files
        return
    owners = [_read_owner(*pair) for pair in rubrics]
    names = {owner.name for owner in owners}
    if len(names) == len(owners) and "" not in names:
        return  # each has a case of its own
    firsts: dict[str, int] = {}
    cases: dict[str, int] = {}
    reported: set[tuple[int | None, Path]] = set()
    for at, (name, *_) in enumerate(find_names(rubrics[0][0].source.name, rubrics)):
        (document, rubric), own = rubrics[at], owners[at]
        first = firsts.setdefault(name, at)
        first_case = cases.setdefault(own.name, at) if own.field else at
        if (document, rubric.path) in lost or own.key in reported:
            continue
        other = owners[first_case]
        if own.key != other.key:  # also if one has several rubrics, whose names differ from that of the other
            reported.add(own.key)
            related = _relate(rubrics[first_case][0], other.name_path, Part.ENTRY)
            values = {"field": own.field, "name": shorten(own.name)}
            yield Problem("second-case", *_own_place(document, own.name_path, Part.ENTRY), values, related), document
        elif first != at:
            earlier_document, earlier = rubrics[first]
            related = _relate(earlier_document, earlier.path, Part.KEY)
            place = _own_place(document, rubric.path, Part.KEY)
            yield Problem("second-rubric", *place, {"name": shorten(name)}, related), document


def _relate(document: Document, path: Path, part: Part) -> tuple[RelatedPlace]:
    return (RelatedPlace("the first one", (), span=document.span(*_own_place(document, path, part))),)


def _own_place(document: Document, path: Path, part: Part) -> tuple[Path, Part]:
    """Return a part of a field, or the mapping with the field if an alias or a merge key brings it there."""
    is_borrowed = bool(path) and (document.is_merged(path) or document.is_alias(path[:-1]))
    return (path[:-1], Part.ENTRY) if is_borrowed else (path, part)


def find_names(file: str, rubrics: Sequence[tuple[Document, Rubric]]) -> list[tuple[str, str, str]]:
    """Return the names of the rubrics of a file; if its case has several, also those of the case and the evaluator.

    What nobody named has the last part of its place as its name, and all of it where another rubric has that name.
    """
    stem = stem_of(file)
    owners = [_read_owner(*pair) for pair in rubrics]
    graders = Counter((owner.key, owner.inner) for owner in owners if owner.inner)
    if len(graders) < graders.total():  # other systems run several graders of one name: their places name them here
        for at, ((_, rubric), owner) in enumerate(zip(rubrics, owners, strict=True)):
            if rubric.view is not None and graders[owner.key, owner.inner] > 1:
                owners[at] = owner._replace(inner=owner.places)
    named = _join(owners, rubrics, stem)
    count = Counter(name for name, *_ in named)
    if len(count) < len(named):
        alike = [count[name] > 1 for name, *_ in named]
        named = _join(_tell_apart(owners, rubrics, alike), rubrics, stem)
    return named


def _tell_apart(
    owners: Sequence["_Owner"], rubrics: Sequence[tuple[Document, Rubric]], alike: Sequence[bool]
) -> list["_Owner"]:
    """Name those that are `alike`, and others of their cases, after all of their places if nobody named them."""
    keys = {owner.key for owner, is_alike in zip(owners, alike, strict=True) if is_alike}
    named_cases = {(owner.key, owner.name) for owner in owners}
    cases = Counter(name for _, name in named_cases)
    within = Counter((owner.key, owner.inner) for owner in owners)
    renamed = []
    for owner, (_, rubric), is_alike in zip(owners, rubrics, alike, strict=True):
        number, place = owner.key
        name, inner = owner.name, owner.inner
        if owner.key in keys and name and not owner.field and cases[name] > 1:
            whole = place if number is None else (number, *place)
            name = "/".join(map(str, whole))
        if is_alike and inner == owner.places and (not name or within[owner.key, inner] > 1):
            inner = tuple(map(str, rubric.path[len(place) :]))
        renamed.append(owner._replace(name=name, inner=inner))
    return renamed


def _join(
    owners: Sequence["_Owner"], rubrics: Sequence[tuple[Document, Rubric]], stem: str
) -> list[tuple[str, str, str]]:
    """Return the names that `find_names` returns, of rubrics with some owners."""
    count = Counter(owner.key for owner in owners)
    keys: dict[str, set[Any]] = {}
    for owner in owners:
        keys.setdefault(owner.name, set()).add(owner.key)
    named = []
    for (_, rubric), owner in zip(rubrics, owners, strict=True):
        inner = owner.inner if count[owner.key] > 1 or not owner.name else ()
        view = rubric.view
        own = [view.name] if view and view.name and view.name not in inner else []
        otherwise = stem
        if len(rubrics) > 1 and view is not None:
            otherwise = "/".join(map(str, rubric.path)) or stem
        parts = [owner.name, *inner] if owner.name else [*inner, *own]
        name = "/".join(parts) or otherwise
        is_one_of_several = bool(owner.name) and count[owner.key] > 1
        case = owner.name if is_one_of_several and len(keys[owner.name]) == 1 else ""
        evaluator = "/".join(owner.inner) if case else ""
        named.append((name, case, evaluator))
    return named


_DEFAULTS = ("defaults", "defaultTest", "default_test")


class _Owner(NamedTuple):
    """The owner of a rubric: a key unique to the case, the name of the case, and the names of the evaluators in it.

    `field` is where the case has its name; empty if it is named after its place. `places` are those of the evaluators.
    """

    key: tuple[int | None, Path]
    name: str
    inner: tuple[str, ...]
    field: str
    places: tuple[str, ...]

    @property
    def name_path(self) -> Path:
        """The path at which the case has its name."""
        return (*self.key[1], self.field)


def _read_owner(document: Document, rubric: Rubric) -> _Owner:
    value, path, number = document.data, rubric.path, document.number
    own_lists = rubric.view.dialect.cases if rubric.view else frozenset[str]()
    lists = suite_lists("cases") | own_lists
    # With several documents in a file, each document is a case.
    name, named = ("", "") if number is None else _label(value, _OF_CASES, str(number))
    key: Path = ()
    inner: list[str] = []
    places: list[str] = []
    is_assertion = len(path) > 2 and path[-2] in suite_lists("evaluators")  # one that is a rubric itself
    steps = path if is_assertion else path[:-1]
    for depth, step in enumerate(steps, start=1):
        value = value[step]
        if isinstance(step, str):
            if step in _DEFAULTS and depth == 1:
                name, named, key = step, "", path[:depth]
            continue
        field = path[depth - 2] if depth > 1 else ""
        place = f"{field}/{step}" if field else str(step)
        if field in lists or depth == 1:
            (name, named), key, inner = _label(value, _OF_CASES, place), path[:depth], []
            places = []
        else:
            inner.append(_label(value, ("name", "id"), place)[0])
            places.append(place)
    return _Owner((number, key), name, tuple(inner), named, tuple(places))


_OF_CASES = ("id", "name")


def _label(value: Any, fields: tuple[str, ...], otherwise: str) -> tuple[str, str]:
    """Return the name that a value has and the field that holds it; `otherwise` without one."""
    for field in fields:
        label = value.get(field) if isinstance(value, dict) else None
        if isinstance(label, str | int) and not isinstance(label, bool) and str(label):
            return str(label), field
    return otherwise, ""
