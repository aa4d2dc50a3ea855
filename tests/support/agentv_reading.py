"""Read a suite as a release of AgentV does, from plain data by the table of the release.

Our dialects read what authors meant, with places and faults; this reads what a judge of the release is shown. A test
compares the two.
"""

from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from typing import Any

from rubric_lint.convert.release import AgentVCriterion
from rubric_lint.formats.agentv.releases import RELEASES, ListPath, Release
from rubric_lint.formats.agentv.suites import look_up
from rubric_lint.model.criterion import HIGHEST
from rubric_lint.source.nunjucks import name_variables, unescape

Rubric = tuple[AgentVCriterion, ...]


def read_suite(suite: Any, release: str) -> Iterator[Rubric]:
    """Read the criteria of a suite and of its tests, one rubric for each grader; also of a file of tests."""
    how = RELEASES[release]
    for part, owner in _find_parts(suite, how):
        if owner == "test" and how.reads_both and isinstance(rubrics := part.get("rubrics"), list):
            yield _read_list(rubrics, how)
        yield from _read_graders(_choose(part, how.lists.get(owner, ())), how)
        turns = part.get("turns")
        for turn in turns if isinstance(turns, list) else ():
            graders = _choose(turn, how.lists["turn"])
            texts = [grader for grader in graders if isinstance(grader, str)]
            if texts:
                read = (AgentVCriterion(f"criterion-{place}", text, 1.0, None) for place, text in enumerate(texts, 1))
                yield tuple(_render(item, how) for item in read)


def _find_parts(suite: Any, how: Release) -> Iterator[tuple[dict[str, Any], str]]:
    """Find the mappings that have graders, each with what it is: a suite, its `default_test` or a test."""
    if isinstance(suite, list):
        yield from ((test, "test") for test in suite if isinstance(test, dict))
    if not isinstance(suite, dict):
        return
    yield suite, "suite" if "tests" in suite else "test"
    lists = [suite.get("tests")]
    if "default_test" in how.lists and isinstance(defaults := suite.get("default_test"), dict):
        yield defaults, "default_test"
    scenarios = suite.get("scenarios") if "scenarios" in how.loaded["suite"]["properties"] else None
    for scenario in scenarios if isinstance(scenarios, list) else ():
        lists += [scenario.get(name) for name in ("config", "tests")] if isinstance(scenario, dict) else []
    for tests in lists:
        yield from ((test, "test") for test in (tests if isinstance(tests, list) else ()) if isinstance(test, dict))


def _choose(part: Any, paths: tuple[ListPath, ...]) -> list[Any]:
    """Return the first list of a part that is there; its other lists are not read."""
    lists = [value for path in paths if isinstance(value := look_up(part, path), list)]
    return lists[0] if lists else []


def _read_graders(graders: list[Any], how: Release) -> Iterator[Rubric]:
    strings = [grader for grader in graders if isinstance(grader, str)]
    if strings:
        yield _read_list(strings, how)
    for grader in graders:
        kind = grader.get("type") if isinstance(grader, dict) else None
        fields = how.find_type(kind) if isinstance(kind, str) else None
        if fields is None:
            continue
        skips_strings = fields.get("x-skips-strings", False)
        if isinstance(inner := grader.get(fields.get("x-members", "")), list):
            yield from _read_graders(_skip_strings(inner) if skips_strings else inner, how)
        elif isinstance(entries := grader.get(fields.get("x-criteria", "")), list):
            yield _read_list(_skip_strings(entries) if skips_strings else entries, how)
        elif fields.get("x-criteria") == "value":
            # The value is one criterion: a mapping, or a string with bands beside it.
            value = grader.get("value")
            if isinstance(value, dict) and value.keys() & {"outcome", "score_ranges", "criteria"}:
                unread = ("id", "outcome") if "criteria" in value else ()
                yield _read_list([{name: item for name, item in value.items() if name not in unread}], how)
            elif isinstance(value, str) and "score_ranges" in grader:
                names = ("weight", "min_score", "score_ranges")
                yield _read_list([{"outcome": value, **{name: grader[name] for name in names if name in grader}}], how)


def _skip_strings(entries: list[Any]) -> list[Any]:
    return [entry for entry in entries if not isinstance(entry, str)]


def _read_list(entries: list[Any], how: Release) -> Rubric:
    found = tuple(read for place, entry in enumerate(entries, 1) for read in _read_entry(entry, place, how))
    return tuple(_render(item, how) for item in found)


def _render(read: AgentVCriterion, how: Release) -> AgentVCriterion:
    """Return a criterion as a judge sees it, with the variables of the environment in the words of one release.

    Rendering turns escapes into plain text.
    """
    plain = unescape if "rendered" in how.loaded else str
    bands = tuple((lower, upper, name_variables(plain(outcome))) for lower, upper, outcome in read.bands)
    outcome = read.outcome and name_variables(plain(read.outcome))
    return read._replace(id=plain(read.id), outcome=outcome, bands=bands)


def _read_entry(entry: Any, place: int, how: Release) -> Iterator[AgentVCriterion]:
    if isinstance(entry, str):
        yield AgentVCriterion(f"rubric-{place}", entry, 1.0, HIGHEST)
    elif isinstance(entry, dict):
        identity, weight = entry.get("id"), entry.get("weight")
        outcome = entry.get("outcome", entry.get("criteria"))
        bands = tuple(_read_bands(entry["score_ranges"])) if "score_ranges" in entry else ()
        gate = _read_gate(entry, how)
        if not bands:
            gate = None if entry.get("required") is False else HIGHEST
        if bands or isinstance(outcome, str):
            yield AgentVCriterion(
                identity if isinstance(identity, str) else f"rubric-{place}",
                outcome if isinstance(outcome, str) else None,
                float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 1.0,
                gate,
                bands,
            )


def _read_gate(entry: dict[str, Any], how: Release) -> int | None:
    share = entry.get("min_score")
    if isinstance(share, int | float) and not isinstance(share, bool):
        return int((Decimal(str(share)) * HIGHEST).to_integral_value(ROUND_CEILING))
    return HIGHEST if how.has_full_gates and entry.get("required") is True else None


def _read_bands(ranges: Any) -> Iterator[tuple[int, int, str]]:
    if isinstance(ranges, list):
        for band in ranges:
            if isinstance(band, dict) and isinstance(bounds := band.get("score_range"), list) and "outcome" in band:
                yield int(bounds[0]), int(bounds[-1]), band["outcome"]
    elif isinstance(ranges, dict):
        starts = sorted((int(bound), outcome) for bound, outcome in ranges.items())
        ends = [start - 1 for start, _ in starts[1:]] + [HIGHEST]
        yield from ((start, end, outcome) for (start, outcome), end in zip(starts, ends, strict=True))
