"""Read a suite as AgentV does, from plain data and without our dialects, to prove a rewriting."""

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any, NamedTuple

from rubric_lint.format.criterion import HIGHEST
from rubric_lint.text.nunjucks import name_variables, unescape


class Read(NamedTuple):
    """A criterion as AgentV reads it; `gate` is the lowest score out of 10 that meets it, or None."""

    id: str
    outcome: str | None
    weight: float
    gate: int | None
    bands: tuple[tuple[int, int, str], ...] = ()


Rubric = tuple[Read, ...]


class _Release(NamedTuple):
    """The fields that a release reads: its lists of graders (only the first counts) and those of grader types."""

    lists: tuple[tuple[str, ...], ...]
    holders: Mapping[str, str]
    sets: Mapping[str, str]
    skips_strings: frozenset[str] = frozenset()
    has_case_rubrics: bool = False
    full_gate_of_bands: bool = False
    renders: bool = False


_OF_RUBRICS = ("rubric", "llm-grader", "llm_grader")
_RELEASES = {
    "agentv-4": _Release(
        lists=(("assertions",), ("assert",), ("execution", "evaluators"), ("evaluators",)),
        holders={"rubrics": "criteria", **dict.fromkeys(_OF_RUBRICS, "rubrics")},
        sets={"composite": "assertions"},
        skips_strings=frozenset(_OF_RUBRICS),
        has_case_rubrics=True,
        full_gate_of_bands=True,
    ),
    "agentv-5": _Release(
        lists=(("assert",), ("execution", "assert")),
        holders={"llm-rubric": "value", "agent-rubric": "value"},
        sets={"assert-set": "assert"},
        renders=True,
    ),
}


def read_suite(suite: Any, release: str) -> Iterator[Rubric]:
    """Read the criteria of a suite and of its tests, one rubric for each grader; also of a file of tests."""
    how = _RELEASES[release]
    for part, is_test in _find_parts(suite, how):
        if is_test and how.has_case_rubrics and isinstance(rubrics := part.get("rubrics"), list):
            yield _read_list(rubrics, how)
        yield from _read_graders(_choose(part, how), how)
        turns = part.get("turns")
        for turn in turns if isinstance(turns, list) else ():
            graders = turn.get(how.lists[0][0]) if isinstance(turn, dict) else None
            texts = [grader for grader in (graders if isinstance(graders, list) else ()) if isinstance(grader, str)]
            if texts:
                read = (Read(f"criterion-{place}", text, 1.0, None) for place, text in enumerate(texts, 1))
                yield tuple(_render(each, how) for each in read)


def _find_parts(suite: Any, how: _Release) -> Iterator[tuple[dict[str, Any], bool]]:
    """Find the mappings that have graders, each with whether it is a test."""
    if isinstance(suite, list):
        yield from ((test, True) for test in suite if isinstance(test, dict))
    if not isinstance(suite, dict):
        return
    yield suite, "tests" not in suite
    lists = [suite.get("tests")]
    if how.renders:
        if isinstance(defaults := suite.get("default_test"), dict):
            yield defaults, False
        scenarios = suite.get("scenarios")
        for scenario in scenarios if isinstance(scenarios, list) else ():
            lists += [scenario.get(name) for name in ("config", "tests")] if isinstance(scenario, dict) else []
    for tests in lists:
        yield from ((test, True) for test in (tests if isinstance(tests, list) else ()) if isinstance(test, dict))


def _choose(part: dict[str, Any], how: _Release) -> list[Any]:
    for keys in how.lists:
        value: Any = part
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list):
            return value
    return []


def _read_graders(graders: list[Any], how: _Release) -> Iterator[Rubric]:
    strings = [grader for grader in graders if isinstance(grader, str)]
    if strings:
        yield _read_list(strings, how)
    for grader in graders:
        kind = grader.get("type") if isinstance(grader, dict) else None
        if not isinstance(kind, str):
            continue
        if isinstance(inner := grader.get(how.sets.get(kind, "")), list):
            yield from _read_graders(inner, how)
        elif isinstance(entries := grader.get(how.holders.get(kind, "")), list):
            kept = [entry for entry in entries if kind not in how.skips_strings or isinstance(entry, dict)]
            yield _read_list(kept, how)
        elif how.renders and kind in how.holders:
            # The value is one criterion: a mapping, or a string with bands beside it.
            value = grader.get("value")
            if isinstance(value, dict) and value.keys() & {"outcome", "score_ranges", "criteria"}:
                unread = ("id", "outcome") if "criteria" in value else ()
                yield _read_list([{name: item for name, item in value.items() if name not in unread}], how)
            elif isinstance(value, str) and "score_ranges" in grader:
                names = ("weight", "min_score", "score_ranges")
                yield _read_list([{"outcome": value, **{name: grader[name] for name in names if name in grader}}], how)


def _read_list(entries: list[Any], how: _Release) -> Rubric:
    found = tuple(read for place, entry in enumerate(entries, 1) for read in _read_entry(entry, place, how))
    return tuple(_render(each, how) for each in found)


def _render(read: Read, how: _Release) -> Read:
    """Return a criterion as a judge sees it, with the variables of the environment in the words of one release.

    Rendering turns escapes into plain text.
    """
    plain = unescape if how.renders else str
    bands = tuple((lower, upper, name_variables(plain(outcome))) for lower, upper, outcome in read.bands)
    outcome = read.outcome and name_variables(plain(read.outcome))
    return read._replace(id=plain(read.id), outcome=outcome, bands=bands)


def _read_entry(entry: Any, place: int, how: _Release) -> Iterator[Read]:
    if isinstance(entry, str):
        yield Read(f"rubric-{place}", entry, 1.0, HIGHEST)
    elif isinstance(entry, dict):
        identity, weight = entry.get("id"), entry.get("weight")
        outcome = entry.get("outcome", entry.get("criteria"))
        bands = tuple(_read_bands(entry["score_ranges"])) if "score_ranges" in entry else ()
        if bands or isinstance(outcome, str):
            yield Read(
                identity if isinstance(identity, str) else f"rubric-{place}",
                outcome if isinstance(outcome, str) else None,
                float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else 1.0,
                _read_gate(entry, how) if bands else (None if entry.get("required") is False else HIGHEST),
                bands,
            )


def _read_gate(entry: dict[str, Any], how: _Release) -> int | None:
    share = entry.get("min_score")
    if isinstance(share, int | float) and not isinstance(share, bool):
        return int((Decimal(str(share)) * HIGHEST).to_integral_value(ROUND_CEILING))
    return HIGHEST if how.full_gate_of_bands and entry.get("required") is True else None


def _read_bands(ranges: Any) -> Iterator[tuple[int, int, str]]:
    if isinstance(ranges, list):
        for band in ranges:
            if isinstance(band, dict) and isinstance(bounds := band.get("score_range"), list) and "outcome" in band:
                yield int(bounds[0]), int(bounds[-1]), band["outcome"]
    elif isinstance(ranges, dict):
        starts = sorted((int(bound), outcome) for bound, outcome in ranges.items())
        ends = [start - 1 for start, _ in starts[1:]] + [HIGHEST]
        yield from ((start, end, outcome) for (start, outcome), end in zip(starts, ends, strict=True))
