"""Two criteria, or two rubric tests, with one id."""

from collections.abc import Iterator
from dataclasses import dataclass

from rubric_lint.model.criterion import Criterion
from rubric_lint.model.finding import Problem, RelatedPlace, Severity
from rubric_lint.model.messages import shorten
from rubric_lint.model.rubric import Rubric, fold_id
from rubric_lint.rules.rule import Rule
from rubric_lint.source.edits.intents import Repair, ReplaceValue
from rubric_lint.source.path import Part, Path
from rubric_lint.source.scalar import write_numbered


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare all ids, written and generated."""
    ids = [fold_id(criterion.id) for criterion in rubric.criteria]
    if len(rubric.ids) == len(ids):
        return
    seen: dict[str, _SameId] = {}
    for identifier, criterion in zip(ids, rubric.criteria, strict=True):
        if identifier not in seen:
            seen[identifier] = _SameId(criterion, criterion)
            continue
        same = seen[identifier]
        first = same.first
        origin, what = "", "the first one"
        if not first.has_own_id:
            origin = ", where it is generated from the criterion's place"
            what = f"gets the id `{shorten(first.id)}` from its place"
        related = (RelatedPlace(what, *_path_of_id(first)),)
        renames = tuple(_rename(rubric, same, criterion))
        same.last = criterion
        code = "taken" if criterion.has_own_id else "generated-taken"
        if criterion.id != first.id:
            code = "unicode-form"
        values = {"id": shorten(criterion.id), "origin": origin}
        problem = Problem(code, *_path_of_id(criterion), values, related=related)
        if len(renames) == 1:
            yield problem._replace(repair=renames[0]._replace(choice=""))
        else:
            yield problem._replace(choices=renames)


@dataclass(slots=True)
class _SameId:
    """The first and, so far, the last criterion with an id, and the lowest number that a new id may end in."""

    first: Criterion
    last: Criterion
    number: int = 2


_LATER, _EARLIER = "rename-later", "rename-earlier"


def _rename(rubric: Rubric, same: _SameId, criterion: Criterion) -> Iterator[Repair]:
    """Yield the repairs that give a criterion, or the one before it with the same id, a new id.

    Each finding has a number of its own, so that the repairs of all can be applied at once. An id from the place, or
    from an anchor, stays.
    """
    number = rubric.find_free(criterion.id, same.number)
    same.number = number + 1
    other = "the other id" if same.last is same.first else "the id of the previous one"
    for renamed, choice, what in ((criterion, _LATER, "this id"), (same.last, _EARLIER, other)):
        if renamed.has_own_id and not renamed.borrows_id:
            title = f"rename {what} to `{shorten(f'{renamed.own_id}-{number}')}`"
            intents = (ReplaceValue(renamed.path_of("id"), write_numbered(renamed.own_id, number)),)
            yield Repair(title, intents, safe=False, choice=choice)


def _path_of_id(criterion: Criterion) -> tuple[Path, Part]:
    if criterion.has_own_id and not criterion.borrows_id:
        return criterion.path_of("id"), Part.ENTRY
    return criterion.path, Part.ENTRY


RULE = Rule(
    "duplicate-id",
    Severity.ERROR,
    {
        "taken": (
            "this id is already used at {line}{origin}; judge outputs cannot tell the two criteria apart, so rename one"
        ),
        "generated-taken": (
            "its generated id `{id}` is already used at {line}{origin}; judge outputs cannot tell the two criteria "
            "apart, so rename one"
        ),
        "unicode-form": "its id differs from the one at {line} only in its Unicode form; rename one",
        "group": "a second `{id}` in this list, after the one at {line}; ids in groups are paths, so rename one",
        "harbor-name": (
            "Harbor names this criterion `{name}`, like that at {line}, and {effect}: it makes names from the first 40 "
            "characters; write a `name`"
        ),
        "metric": (
            "a second metric named `{name}` in this list, after the one at {line}; results cannot tell them apart, so "
            "rename one"
        ),
        "test": "a second test with the id `{id}`, after the one at {line}; give each its own",
    },
    check,
    fix="unsafe",
    marks=(Part.VALUE, Part.HEAD),
    choices={_LATER: "give the later criterion a new id", _EARLIER: "give the earlier criterion a new id"},
)
