"""Two criteria, or two rubric tests, with one id."""

from collections.abc import Iterator

from rubric_lint.finding import OTHER_LINE, Place, Problem, Repair, ReplaceValue, Severity
from rubric_lint.format.criterion import Criterion
from rubric_lint.format.rubric import Rubric, fold_id
from rubric_lint.messages import shorten
from rubric_lint.rules.rule import Rule
from rubric_lint.text.path import Part, Path
from rubric_lint.text.scalar import write_numbered


def check(rubric: Rubric) -> Iterator[Problem]:
    """Compare all ids, written and generated."""
    seen: dict[str, Criterion] = {}
    for criterion in rubric.criteria:
        first = seen.setdefault(fold_id(criterion.id), criterion)
        if first is criterion:
            continue
        place = Place(
            "the first one" if first.has_own_id else f"gets the id `{shorten(first.id)}` from its place",
            *_path_of_id(first),
        )
        renames = tuple(_rename(rubric, first, criterion))
        same = sum(fold_id(each.id) == fold_id(criterion.id) for each in _until(rubric, criterion))
        choices = renames if same == 2 else renames[:1]  # a third one would share its id with the second
        yield Problem(
            _write_message(criterion, first),
            *_path_of_id(criterion),
            related=(place,),
            repair=renames[0]._replace(choice="") if len(renames) == 1 else None,
            choices=choices if len(renames) > 1 else (),
        )


_LATER, _EARLIER = "rename-later", "rename-earlier"


def _rename(rubric: Rubric, first: Criterion, second: Criterion) -> Iterator[Repair]:
    """Yield the repairs that give one of two criteria a new id; an id from the place, or from an anchor, stays."""
    taken = {fold_id(criterion.id) for criterion in rubric.criteria}
    for criterion, choice in ((second, _LATER), (first, _EARLIER)):
        if not criterion.has_own_id or criterion.borrows_id:
            continue
        number = max(2, sum(fold_id(each.id) == fold_id(criterion.id) for each in _until(rubric, criterion)))
        while fold_id(f"{criterion.id}-{number}") in taken:
            number += 1
        new = f"{criterion.id}-{number}"
        which = "the other" if criterion is first else "this"
        title = f"rename {which} id to `{shorten(new)}`"
        intents = (ReplaceValue(criterion.path_of("id"), write_numbered(criterion.id, number)),)
        yield Repair(title, intents, safe=False, choice=choice, is_local=True)


def _until(rubric: Rubric, criterion: Criterion) -> Iterator[Criterion]:
    """Yield the criteria up to one of them."""
    for each in rubric.criteria:
        yield each
        if each is criterion:
            return


def _write_message(criterion: Criterion, first: Criterion) -> str:
    if criterion.id != first.id:
        return f"its id differs from the one at line {OTHER_LINE} only in its Unicode form; rename one"
    name = "this id" if criterion.has_own_id else f"its generated id `{shorten(criterion.id)}`"
    generated = "" if first.has_own_id else ", where it is generated from the criterion's place"
    return (
        f"{name} is already used at line {OTHER_LINE}{generated}; "
        "judge outputs cannot tell the two criteria apart, so rename one"
    )


def _path_of_id(criterion: Criterion) -> tuple[Path, Part]:
    if criterion.has_own_id and not criterion.borrows_id:
        return criterion.path_of("id"), Part.ENTRY
    return criterion.path, Part.ENTRY


RULE = Rule(
    "duplicate-id",
    Severity.ERROR,
    check,
    fix="unsafe",
    marks=(Part.VALUE, Part.HEAD),
    choices={
        _LATER: "give the later criterion a new id",
        _EARLIER: "give the earlier criterion a new id",
    },
)
