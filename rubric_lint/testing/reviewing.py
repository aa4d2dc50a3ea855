"""Look at the rubrics that tests have run on: coverage, catch rate, changes that no test notices."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from rubric_lint.finding import Result
from rubric_lint.lint.engine import Found, Look, examine
from rubric_lint.project.files import File
from rubric_lint.testing import covering, mutation
from rubric_lint.testing.catching import count_catches
from rubric_lint.testing.mutation import Mutation
from rubric_lint.testing.running import Runner, Tested
from rubric_lint.text.document import Document

_UNTESTED, _UNNOTICED = "untested", "unnoticed-change"


def review(runner: Runner, *, coverage: bool, mutate: bool) -> Iterator[tuple[File, Result]]:
    """Yield for each file with tested rubrics what their tests do not reach, and the changes they do not notice.

    Nothing is computed for a rubric of which no test has a result.
    """
    rules = frozenset([*([_UNTESTED] if coverage else []), *([_UNNOTICED] if mutate else [])])
    files: dict[str, list[Tested]] = {}
    for (path, _), tested in runner.tested.items():
        if tested.ran:
            files.setdefault(path, []).append(tested)
    for path, rubrics in files.items():
        settings = rubrics[0].settings
        enabled = None if settings.enabled is None else settings.enabled | rules
        look = Look(partial(_look, runner, rubrics, rules), rules)
        source = rubrics[0].loaded.document.source
        result = examine(source, settings._replace(enabled=enabled), look=look).result
        yield File(path, settings), result


def _look(
    runner: Runner, rubrics: Sequence[Tested], rules: frozenset[str], documents: Sequence[Document]
) -> Iterator[Found]:
    for tested in rubrics:
        document = next(each for each in documents if each.number == tested.loaded.document.number)
        if _UNTESTED in rules:
            for problem in covering.find_untested(list(covering.list_targets(tested)), tested):
                yield Found(_UNTESTED, problem, document)
        if _UNNOTICED in rules:
            for problem in find_mutation(runner, tested).survivors:
                yield Found(_UNNOTICED, problem, document)


def find_mutation(runner: Runner, tested: Tested) -> Mutation:
    """Return what changes of a rubric come to; found once in a run."""
    key = (tested.path, tested.rubric.name)
    found: Mutation | None = runner.mutations.get(key)
    if found is None:
        found = runner.mutations[key] = mutation.mutate(tested)
    return found


def word_coverage(runner: Runner) -> Iterator[str]:
    """Yield the sentence on coverage."""
    targets = [target for tested in _list_ran(runner) for target in covering.list_targets(tested)]
    yield covering.summarize(targets) if targets else "Coverage: no test has a result."


def word_mutation(runner: Runner) -> Iterator[str]:
    """Yield the sentence on mutation, and the rubrics that could not be changed."""
    found = [(name, find_mutation(runner, tested)) for name, tested in _name_ran(runner)]
    if not found:
        yield "Mutation: no test has a result."
    if changed := [each for _, each in found if not each.refused]:
        yield mutation.summarize(changed)
    for name, each in found:
        if each.refused:
            yield f"Mutation: `{name}` was not changed: {each.refused}."


def word_catches(runner: Runner) -> Iterator[str]:
    """Yield a row for each criterion with planted answers, by rubric."""
    ran = _name_ran(runner)
    rows = [(f"{name}: " if len(ran) > 1 else "", each) for name, tested in ran for each in count_catches(tested)]
    yield "Catch rate:" if rows else "Catch rate: no test expects a bad answer to be caught."
    width = max((len(head + each.name) for head, each in rows), default=0)
    for head, each in rows:
        yield f"  {head + each.name:<{width}}  {each}"
    others = sum(tested.tests - len(tested.ran) for tested in runner.tested.values())
    if others:
        yield f"  not counted: {others} test{'' if others == 1 else 's'} without a result"


def list_figures(
    runner: Runner, *, coverage: bool, catch_rate: bool, mutate: bool
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield what was asked for as JSON, by name; each list has entries for each rubric with a result."""
    listers: dict[str, Callable[[Tested], Iterator[dict[str, Any]]]] = {
        "coverage": _count_targets,
        "mutation": partial(_count_changes, runner),
        "catch_rate": _count_caught,
    }
    for (name, lister), is_asked in zip(listers.items(), (coverage, mutate, catch_rate), strict=True):
        if is_asked:
            yield (
                name,
                [
                    {"file": tested.path, "rubric": tested.rubric.name, **entry}
                    for tested in _list_ran(runner)
                    for entry in lister(tested)
                ],
            )


def _count_targets(tested: Tested) -> Iterator[dict[str, Any]]:
    targets = list(covering.list_targets(tested))
    for kind in dict.fromkeys(target.kind for target in targets):
        reached = [target.is_reached for target in targets if target.kind == kind]
        yield {"kind": kind, "targets": len(reached), "reached": sum(reached)}


def _count_changes(runner: Runner, tested: Tested) -> Iterator[dict[str, Any]]:
    found = find_mutation(runner, tested)
    counts = {name: getattr(found, name) for name in ("made", "equivalent", "noticed", "failing")}
    yield {**counts, "reason": found.refused or None}


def _count_caught(tested: Tested) -> Iterator[dict[str, Any]]:
    for catch in count_catches(tested):
        yield {**catch._asdict(), "interval": list(catch.interval)}


def _name_ran(runner: Runner) -> list[tuple[str, Tested]]:
    """Return the rubrics with a result and their names, with the file where several have one name."""
    ran = _list_ran(runner)
    times = Counter(tested.rubric.name for tested in ran)
    return [
        (name if times[name] == 1 else f"{tested.path}#{name}", tested)
        for tested in ran
        if (name := tested.rubric.name)
    ]


def _list_ran(runner: Runner) -> list[Tested]:
    """Return the rubrics of which at least one test has a result."""
    return [tested for tested in runner.tested.values() if tested.ran]
