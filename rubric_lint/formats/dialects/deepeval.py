"""Read rubrics of DeepEval in Python: lists of bands, and metrics that describe in words alone what a judge scores."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from rubric_lint.formats.search.scales_in_text import find_reversed, find_scale
from rubric_lint.model.criterion import ASKED, HIGHEST, LOWEST, SCORES, JudgeQuestion, as_integer
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import describe, join_words, shorten, write_number
from rubric_lint.model.rubric import is_placeholder
from rubric_lint.model.view import Dialect, View, ViewBuilder, read_text, read_threshold
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path
from rubric_lint.source.python_tree import COMPUTED, NOT_LITERAL, has_unpacked
from rubric_lint.source.tree import CALL

DEEPEVAL = Dialect("deepeval", "DeepEval", "deepeval/v1.json")

# Of bands without their metric, nobody knows which scores pass.
_LOOSE = replace(DEEPEVAL, without=frozenset({"split-band"}))

# Words say what is judged, and the judge gives one score from 0 to 10 for all of it.
_IN_WORDS = replace(DEEPEVAL, without=frozenset({"split-band", "single-band", "not-self-contained"}))
_TEN = JudgeQuestion("a score from 0 to 10", HIGHEST)
_STEPS = "evaluation_steps"

_NAMES = {"score_range": "score_range", "expected_outcome": "expected_outcome"}
_METRIC = "GEval"
_WORDS = (_METRIC, "Rubric", "RUBRIC", "deepeval")
_CONVERSATIONAL = "ConversationalGEval"  # always divides by 10
_PASSES_AT = Decimal("0.5")


def find(document: Document) -> Iterator[View]:
    """Find the lists of literal bands, and the metrics without bands."""
    yield from _find_bands(document)
    named: dict[tuple[Path, str], Path] = {}
    for path, call in document.mappings:
        if not _is_metric(call) or call.get("rubric") or _format_other_metric(document, call):
            continue
        field, words = _read_words(call)
        if not isinstance(words, str) and (not isinstance(words, list) or any(map(_is_dict, words))):
            continue
        problems = [*find_idle_threshold(call, path), *_find_faulty_steps(call, path)]
        name = read_text(call, "name")
        if name.strip() and isinstance(document.value(path[:-1]), list):
            first = named.setdefault((path[:-1], name), path)
            if first != path:  # another metric of the same list has it
                related = (RelatedPlace("the first one", (*first, "name"), Part.ENTRY),)
                problem = Problem("metric", (*path, "name"), Part.ENTRY, {"name": shorten(name)}, related)
                problems.append(("duplicate-id", problem))
        yield _view_words(document, path, field, words, tuple(problems))


def _find_bands(document: Document) -> Iterator[View]:
    """Find the lists of literal bands, each with the metric that takes it."""
    lists: list[tuple[Path, list[Any]]] = []
    for path in dict.fromkeys(path[:-1] for path, call in document.mappings if _has_literal_range(call)):
        items = document.value(path)
        if isinstance(items, list) and not any(map(_is_computed, items)):
            lists.append((path, items))
    if not lists:
        return
    metrics: dict[str, Path] = {}  # by the names by which they are given their bands
    for path, call in document.mappings:
        bands = call.get("rubric")
        if _is_metric(call) and isinstance(bands, dict) and COMPUTED in bands:
            metrics[bands[COMPUTED].rpartition(".")[2]] = path
    names_deepeval = _mentions_deepeval(document)
    for path, items in lists:
        holder = _find_metric(document, path, metrics)
        if holder is not None or any(_is_likely_band(item, names_deepeval=names_deepeval) for item in items):
            yield _view(document, path, items, holder)


def _is_metric(call: Mapping[str, Any]) -> bool:
    """Return whether a call makes a metric that takes bands."""
    return read_text(call, CALL).endswith(_METRIC)


def _is_band(value: Any) -> bool:
    return isinstance(value, dict) and CALL in value and value.keys() >= _NAMES.keys()


def _has_literal_range(value: Any) -> bool:
    return _is_band(value) and isinstance(value["score_range"], list)


def _mentions_deepeval(document: Document) -> bool:
    """Return whether a program names DeepEval, its metric or its bands."""
    return any(word in document.quick_text for word in _WORDS)


def _is_likely_band(value: Any, *, names_deepeval: bool) -> bool:
    """Return whether a call makes a band of DeepEval: it is named `Rubric`, or its values are those of a band.

    Cases of tests have the same two arguments, but values that no judge is given, in programs that do not name
    DeepEval.
    """
    if not _is_band(value):
        return False
    name = read_text(value, CALL)
    if "Rubric" in name:
        return True
    bounds, outcome = value["score_range"], value["expected_outcome"]
    literal = [bound for bound in bounds if not isinstance(bound, dict)] if isinstance(bounds, list) else []
    if not all(as_integer(bound) in SCORES for bound in literal) or not isinstance(outcome, str | dict):
        return False
    return names_deepeval or "Band" in name


def _find_metric(document: Document, path: Path, metrics: Mapping[str, Path]) -> Path | None:
    """Return the path of the metric that takes the list at `path` as its bands, in the call or by its name."""
    if path[-1] == "rubric" and _is_metric(document.value(path[:-1])):
        return path[:-1]
    return metrics.get(_read_variable(path)) if len(path) == 1 else None


def _read_variable(path: Path) -> str:
    return str(path[0]).rpartition(".")[2].partition("#")[0]


def _view(document: Document, path: Path, items: list[Any], holder: Path | None) -> View:
    """Return a list of bands; `holder` is the metric that takes them."""
    draft = ViewBuilder(document, path)
    data = [_read_band(draft, index, item) for index, item in enumerate(items)]
    name = _read_variable(path)
    if holder is None:
        name = str(path[-1]) if isinstance(path[-1], str) and len(path) > 1 else name
        return draft.finish(_LOOSE, data, name=name, span=span_of(data))
    metric = document.value(holder)
    is_stretched = metric[CALL] != _CONVERSATIONAL
    is_strict = metric.get("strict_mode") is True
    threshold = Decimal(1) if is_strict else read_threshold(document, (*holder, "threshold"), _PASSES_AT)
    problems = tuple(find_idle_threshold(metric, holder))
    unscorable = _format_unscorable(metric)
    is_known = not problems and unscorable != _UNKNOWN
    dialect = DEEPEVAL if is_known else _LOOSE
    own_threshold = threshold if is_known else None
    span = span_of(data) if is_stretched else None
    return draft.finish(
        dialect,
        data,
        name=read_text(metric, "name") or name,
        task=read_text(metric, "criteria"),
        threshold=own_threshold,
        span=span,
        holder=holder,
        problems=problems,
        unscorable=unscorable,
    )


def _read_words(call: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the argument that tells a judge what to score, and its value; steps come before `criteria`."""
    field = _STEPS if call.get(_STEPS) is not None else "criteria"
    return field, call.get(field)


def _format_other_metric(document: Document, call: Mapping[str, Any]) -> str:
    """Say why a metric that has the name of DeepEval's is not read as one; empty if it is."""
    found = _IMPORTED.search(document.quick_text)
    name = read_text(call, CALL)
    if name not in _SCORING:
        scoring = join_words([f"`{metric}`" for metric in _SCORING])
        return f"`{name}` is not checked, as only {scoring} give a score"
    if "score_range" in call or found:
        whose = shorten(found[1]) if found else "pydantic-evals"
        return f"this `{name}` is that of {whose}; in Python, only that of DeepEval is checked"
    return ""


_SCORING = (_METRIC, _CONVERSATIONAL)
_IMPORTED = re.compile(r"(?m)^[ \t]*from[ \t]+(?!deepeval\b)([\w.]+)[ \t]+import[ \t][^\n]*\bGEval\b")


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _view_words(
    document: Document, path: Path, field: str, words: str | list[Any], problems: tuple[tuple[str, Problem], ...]
) -> View:
    """Return a metric without bands as one band of all scores, or as the bands that are written into its words."""
    call, place, draft = document.value(path), (*path, field), ViewBuilder(document, path)
    steps = words if isinstance(words, list) else [words]
    text = "\n".join(step for step in steps if isinstance(step, str))
    scale = find_scale(text)
    data: list[Any] = [{"score_range": [LOWEST, HIGHEST], "expected_outcome": text, ASKED: _TEN}]
    bands = scale.bands if scale else None
    if scale and bands:
        data = [{**band, ASKED: _TEN} for band in scale.as_data()]
    elif scale and scale.lines[-1].high != HIGHEST:
        data[0][ASKED] = _TEN._replace(said=f"{scale.lines[0].low} to {scale.lines[-1].high}")
    for index in range(len(data)):
        draft.put((index,), place)
        draft.put((index, "expected_outcome"), place)
    doubts = tuple(find_reversed(place, text, scale)) if scale else ()
    task = scale.task if scale and bands else ""
    return draft.finish(
        _IN_WORDS,
        data,
        doubts=doubts,
        name=read_text(call, "name") or _read_variable(path),
        task=task,
        threshold=read_threshold(document, (*path, "threshold"), _PASSES_AT),
        definition="deepeval/v1.json#/definitions/metric",
        problems=problems,
        unscorable=_format_unscorable(call),
    )


def _find_faulty_steps(call: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Problem]]:
    """Find steps that are placeholders, or that another one says already."""
    seen: dict[str, Path] = {}
    steps = call.get(_STEPS)
    if not isinstance(steps, list):
        return
    for index, step in enumerate(steps):
        place = (*path, _STEPS, index)
        said = " ".join(step.casefold().split()) if isinstance(step, str) else ""
        if is_placeholder(said):
            yield "placeholder", Problem("unfinished", place, values={"text": shorten(step.strip())})
        elif said and said in seen:
            yield "duplicate-outcome", Problem("step", place, related=(RelatedPlace("the same step", seen[said]),))
        elif said:
            seen[said] = place


def describe_metric(document: Document, path: Path, _bands: list[Any]) -> dict[str, Any]:
    """Return the problems of a metric with bands in data of Confident AI, which its table cannot find."""
    return {"problems": tuple(find_idle_threshold(document.value(path[:-1]), path[:-1]))}


def describe_own_metric(document: Document, path: Path, bands: list[Any]) -> dict[str, Any]:
    """Return the fields of the view of a metric with bands in data of DeepEval, which its table cannot have."""
    unscorable = STRICT if document.value(path[:-1]).get("strict_mode") is True else ""
    return {**describe_metric(document, path, bands), "span": span_of(bands), "unscorable": unscorable}


def find_idle_threshold(metric: Mapping[str, Any], holder: Path) -> Iterator[tuple[str, Problem]]:
    """Find a threshold that no score reaches, or that every score does, or that is not a number.

    DeepEval takes any number.
    """
    value, place = metric.get("threshold"), (*holder, "threshold")
    if isinstance(value, str | list | bool):
        values = {"subject": "`threshold` is", "found": describe(value, ""), "expected": "a number from 0 to 1"}
        yield "schema", Problem("unexpected", place, values=values)
    elif isinstance(value, int | float) and not 0 <= value <= 1:
        values = {"field": "threshold", "found": write_number(value), "lowest": "0", "highest": "1", "what": "metric"}
        effect = "always passes" if value < 0 else "never passes"
        yield "bounds", Problem("threshold", place, values={**values, "effect": effect})


STRICT = "`strict_mode` asks the judge for 0 or 1, without these bands"
_UNKNOWN = "its threshold or its mode is computed when the program runs; write literal values"


def _format_unscorable(call: Mapping[str, Any]) -> str:
    """Say why the score or the verdict of a metric is not known; empty if it is."""
    if call.get("strict_mode") is True:
        return STRICT
    is_known = not has_unpacked(call) and not any(map(_is_dict, (call.get("threshold"), call.get("strict_mode"))))
    return "" if is_known else _UNKNOWN


def _read_band(draft: ViewBuilder, index: int, item: Any) -> Any:
    """Return a band in our words, without other arguments that are computed."""
    if not isinstance(item, dict):
        return item
    band = draft.rename(item, _NAMES, (index,))
    return {"score_range": None, **{name: value for name, value in band.items() if not isinstance(value, dict)}}


def _is_computed(item: Any) -> bool:
    """Return whether an item of a list of bands is computed: as a whole, its range or its outcome."""
    if not isinstance(item, dict):
        return False
    if CALL not in item or item.keys().isdisjoint(_NAMES):
        return True
    outcome, bounds = item.get("expected_outcome"), item.get("score_range")
    values = bounds if isinstance(bounds, list) else [bounds]
    return _is_dict(outcome) or any(map(_is_dict, values))


def span_of(data: list[Any]) -> tuple[int, int] | None:
    """Return the lowest and the highest score of all bands; None if they are unknown, or the same."""
    bounds: list[int] = []
    for band in data:
        if not isinstance(band, dict):
            continue
        written = band.get("score_range")
        if not isinstance(written, list) or len(written) != 2:
            return None
        for value in written:
            bound = as_integer(value)
            if bound is None or bound not in SCORES:
                return None
            bounds.append(bound)
    if not bounds:
        return None
    lowest, highest = min(bounds), max(bounds)
    return (lowest, highest) if lowest < highest else None


def find_computed(document: Document, rubrics: set[Path]) -> Iterator[tuple[Path, str]]:
    """Find the bands and metrics that are computed or not DeepEval's; `rubrics` are the paths of what is read."""
    names_deepeval = _mentions_deepeval(document)
    for path, mapping in document.mappings:
        if _is_band(mapping):
            place = path[:-1] if isinstance(document.value(path[:-1]), list) else path
            if place not in rubrics and _is_likely_band(mapping, names_deepeval=names_deepeval):
                yield place, NOT_LITERAL
        elif _is_metric(mapping) and not mapping.get("rubric"):
            field, words = _read_words(mapping)
            reason = _format_other_metric(document, mapping)
            if words is not None and reason:
                yield path, reason
            elif words is not None and path not in rubrics:
                yield (*path, field), NOT_LITERAL
        elif _is_metric(mapping) and (*path, "rubric") not in rubrics and _are_computed(mapping["rubric"]):
            yield (*path, "rubric"), NOT_LITERAL


_NAMED = re.compile(r"[\w.]+")


def _are_computed(bands: Any) -> bool:
    """Return whether the bands of a metric, which are not read, are computed.

    Those that have a name, or that are bands in a call or a comprehension, are found where they are.
    """
    if not isinstance(bands, dict):
        return isinstance(bands, list)
    if CALL in bands:
        items: list[Any] = []
        for value in bands.values():
            items += value if isinstance(value, list) else [value]
        return not any(map(_is_band, items))
    text = read_text(bands, COMPUTED)
    return text != "" and not _NAMED.fullmatch(text) and "score_range" not in text
