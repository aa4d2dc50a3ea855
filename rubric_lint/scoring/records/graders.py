"""Read what graders of others wrote, as records of judge outputs: Agent Skills, promptfoo, Inspect, AgentV, batches.

What a grader gave a text becomes an item of `expectations`, the form of Agent Skills: `{text, passed, evidence}`, with
a `score` from 0 to 1 if there is one. The criterion is found by the text when the rubric is known. A grader without a
result becomes a record that says why.
"""

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any, TypeAlias

from rubric_lint.model.messages import join_words
from rubric_lint.scoring.records.decoding import OutputError
from rubric_lint.scoring.records.mapping import OUTPUT_FIELDS
from rubric_lint.scoring.records.reply import find_reason, shorten_line
from rubric_lint.source.path import pointer
from rubric_lint.source.values import as_mapping

EXPECTATIONS = "expectations"
"""The field with what a grader gave each text."""

_OF_PROMPTFOO = (b'"gradingResult"', b'"promptIdx"', b'"evalId"')
_BEGINS_RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{')

NamedCriterion: TypeAlias = tuple[str, str | None]
"""The id of a criterion, and its text if it has one."""

Convert: TypeAlias = Callable[[dict[str, Any]], Iterable[dict[str, Any]] | None]


def find_converter(head: bytes, name: str) -> Convert | None:
    """Return the converter of the entries of a file into records, by its beginning; None if they are records.

    `name` is that of the file. The converter returns None for an entry that it does not know.
    """
    if b'"custom_id"' in head:
        from rubric_lint.scoring.records.reply import convert_result  # noqa: PLC0415  (few files need one of these)

        return convert_result
    if b'"execution_status"' in head:
        from rubric_lint.scoring.records.agentv_runs import convert_test  # noqa: PLC0415

        return convert_test
    if any(sign in head for sign in _OF_PROMPTFOO) or _BEGINS_RESULTS.match(head):
        return convert_promptfoo
    if b'"eval"' in head and b'"version"' in head:
        return convert_inspect
    if b'"expectations"' in head or b'"runs_per_configuration"' in head:
        return lambda entry: convert_skill_runs(entry, name)
    return None


def _make_fault_record(fault: str, **fields: Any) -> dict[str, Any]:
    """Return a record without an output that says why."""
    return {**fields, "output": "", "judge": {"fault": shorten_line(fault)}}


def convert_skill_runs(entry: Mapping[str, Any], name: str) -> list[dict[str, Any]] | None:
    """Return the records of a `grading.json`, or of each run in a `benchmark.json`; None if it is something else.

    A `grading.json` says nothing of its answer, so the `id` is its folder, from that of the eval on, nor of its judge.
    """
    runs = entry.get("runs")
    if isinstance(runs, list) and runs and all(isinstance(run, dict) and "eval_id" in run for run in runs):
        return list(map(_convert_run, runs))
    if not isinstance(entry.get(EXPECTATIONS), list) or not OUTPUT_FIELDS.isdisjoint(entry):
        return None
    folders = PurePath(name).parts[:-1]
    start = next((at for at, folder in enumerate(folders) if folder.startswith("eval-")), len(folders) - 1)
    record: dict[str, Any] = {"rater": GRADER}
    if folders:
        record["id"] = "/".join(folders[max(start, 0) :])
    return [record | _move(entry, _OF_GRADING)]


GRADER = "grader"
"""The judge of all files of Agent Skills, each of which has only one of its outputs."""

_OF_GRADING = (EXPECTATIONS, "summary")


def _convert_run(run: Mapping[str, Any]) -> dict[str, Any]:
    name, configuration, number = run.get("eval_id"), run.get("configuration"), run.get("run_number")
    output = {EXPECTATIONS: run.get(EXPECTATIONS)}
    counts = run.get("result")
    if isinstance(counts, dict):
        output["summary"] = counts
    record = {"id": f"{name}/{configuration}/{number}", "rubric": str(name), "configuration": configuration}
    return {**record, "output": output}


_JUDGED = ("llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "factuality")
_NOT = "not-"
_SOMETIMES_TURNED = ("not-model-graded-closedqa", "not-factuality")
_FAILURES = ("Could not extract JSON from", "llm-rubric produced malformed response", "No output", "API error")
"""How the reason of a component begins that failed in the grader itself; later versions mark it."""


def convert_promptfoo(entry: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the record of each result in a file of promptfoo, or of a line in one; None if it is something else."""
    results = entry.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    elif OUTPUT_FIELDS.isdisjoint(entry) and ("gradingResult" in entry or "promptIdx" in entry):
        results = [entry]
    if not isinstance(results, list) or not all(isinstance(result, dict) and "vars" in result for result in results):
        return None
    columns = {str(result.get("promptIdx")) for result in results}
    return [_convert_result(result, has_columns=len(columns) > 1) for result in results]


def _convert_result(result: Mapping[str, Any], *, has_columns: bool) -> dict[str, Any]:
    """Return the record of a result; if answers are of several providers or prompts, its `id` has them too."""
    test, response, grading = (_read_dict(result, name) for name in ("testCase", "response", "gradingResult"))
    model = result.get("provider")
    if isinstance(model, dict):
        model = model.get("label") or model.get("id")
    name = _read_dict(test, "metadata").get("id") or test.get("description") or f"tests/{result.get('testIdx')}"
    fields = {"id": f"{name}/{model}/{result.get('promptIdx')}" if has_columns else name, "provider": model}
    fields |= _keep_texts(question=_read_dict(result, "prompt").get("raw"), answer=response.get("output"))
    fields["promptfoo"] = {"test": result.get("testIdx"), "score": grading.get("score"), "passed": grading.get("pass")}
    error = result.get("error") or response.get("error")
    if result.get("failureReason") == _FAILED or not grading:
        return _make_fault_record(f"promptfoo says: {find_reason({'error': error}) or 'nothing was graded'}", **fields)
    components = grading.get("componentResults")
    judged = list(filter(_is_judged, components)) if isinstance(components, list) else []
    for component in judged:
        is_marked = bool(_read_dict(component, "metadata").get("graderError"))
        if is_marked or str(component.get("reason")).startswith(_FAILURES):
            return _make_fault_record(f"promptfoo says: the grader failed: {component.get('reason')}", **fields)
    for component in judged:
        kind = component["assertion"]["type"]
        if kind in _SOMETIMES_TURNED:
            return _make_fault_record(f"only some versions of promptfoo negate `{kind}`", **fields)
    if not judged:
        return _make_fault_record("promptfoo says: no assertion was graded by a model", **fields)
    return {**fields, "output": {EXPECTATIONS: list(map(_convert_component, judged))}}


_FAILED = 2
"""What `failureReason` is if something else than an assertion failed."""


def _read_dict(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object in a field, an empty one if it has none."""
    return as_mapping(owner.get(name))


def _keep_texts(**texts: Any) -> dict[str, str]:
    """Return those of some fields that are strings."""
    return {name: text for name, text in texts.items() if isinstance(text, str)}


def _is_judged(component: Any) -> bool:
    """Return whether a model judged a component; a set of assertions is followed by its members."""
    if not isinstance(component, dict):
        return False
    kind = _read_dict(component, "assertion").get("type")
    return isinstance(kind, str) and kind.removeprefix(_NOT) in _JUDGED and "componentResults" not in component


def _convert_component(component: Mapping[str, Any]) -> dict[str, Any]:
    """Return a component as an item about its text: after `not-` it passed if the text does not hold."""
    assertion = component["assertion"]
    passed, score = component.get("pass"), component.get("score")
    if assertion["type"].startswith(_NOT):
        if isinstance(passed, bool):
            passed = not passed
        if isinstance(score, int | float):
            score = 1 - score
    item = {"text": assertion.get("value"), "passed": passed, "score": score, "evidence": component.get("reason")}
    rendered = _read_dict(component, "metadata").get("renderedAssertionValue")
    return item | _keep_texts(id=assertion.get("metric"), rendered=rendered)


def convert_inspect(entry: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the record of each sample in a log of Inspect; None if it is something else."""
    samples = entry.get("samples")
    if not {"version", "eval", "status"} <= entry.keys() or not OUTPUT_FIELDS.isdisjoint(entry):
        return None
    if not isinstance(samples, list) or not samples:
        raise OutputError(f"the log of Inspect has no samples: {find_reason(entry) or entry['status']}")
    # Of one epoch, ids tell samples apart without it.
    several = any(isinstance(sample, dict) and sample.get("epoch") not in (None, 1) for sample in samples)
    return [_convert_sample(sample, has_epochs=several) for sample in samples if isinstance(sample, dict)]


def _convert_sample(sample: Mapping[str, Any], *, has_epochs: bool) -> dict[str, Any]:
    name, output, scores = sample.get("id"), sample.get("output"), sample.get("scores")
    fields = {"id": f"{name}/{sample.get('epoch')}" if has_epochs else name}
    fields |= _keep_texts(question=sample.get("input"), answer=_find_completion(output))
    if sample.get("error"):
        return _make_fault_record(f"Inspect says: {find_reason(sample)}", **fields)
    if not isinstance(scores, dict) or not scores:
        return _make_fault_record("Inspect says: no score", **fields)
    if len(scores) > 1:
        listed = join_words([f"`{scorer}`" for scorer in scores])
        return _make_fault_record(f"the log has the scorers {listed}; {_advise_scorer(scores)}", **fields)
    (score,) = scores.values()
    value, reason = (score.get("value"), score.get("explanation")) if isinstance(score, dict) else (score, None)
    if isinstance(value, dict):
        return {**fields, "output": value}
    if isinstance(value, int | float):
        return {**fields, "output": {EXPECTATIONS: [{"score": value, "evidence": reason}]}}
    return {**fields, "output": {"grade": value, "reasoning": reason}}


def _advise_scorer(scores: Mapping[str, Any]) -> str:
    """Return how to read one of several scorers: the first whose value can be a judge output."""
    for name, score in scores.items():
        if isinstance(score, dict) and isinstance(score.get("value"), str | dict):
            option = shlex.quote(f"output={pointer(('scores', name, 'value'))}")
            return f"name one with --map records=samples --map {option}"
    return "keep one of them in the log"


def _find_completion(output: Any) -> Any:
    """Return the text that the model wrote, which logs have as a field or only in the first choice."""
    match output:
        case {"completion": str() as text} if text:
            return text
        case {"choices": [{"message": {"content": content}}, *_]}:
            return content
    return None


def move_to_output(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a record that has what a grader of others gave in fields of its own with an `output`; None for another."""
    if isinstance(record.get(EXPECTATIONS), list):
        names: tuple[str, ...] = _OF_GRADING
    elif is_verdict(record):
        names = _OF_VERDICT
    else:
        return None
    return _move(record, names)


def _move(record: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a record with the fields of these names in an `output`."""
    rest = {name: value for name, value in record.items() if name not in names}
    return {**rest, "output": {name: record[name] for name in names if name in record}}


_OF_VERDICT = ("pass", "score", "reason")


def is_verdict(value: Mapping[str, Any]) -> bool:
    """Return whether an object is what promptfoo asks its judges for: `pass`, a `score` from 0 to 1, and a `reason`."""
    score = value.get("score")
    is_share = isinstance(score, int | float) and 0 <= score <= 1
    return isinstance(value.get("pass"), bool) and "reason" in value and (is_share or score is None)


def has_items(record: Mapping[str, Any]) -> bool:
    """Return whether the output of a record gives something to texts, and so tells its rubric by them."""
    output = record.get("output")
    return isinstance(output, Mapping) and isinstance(output.get(EXPECTATIONS), list)


def find_by_texts(record: Mapping[str, Any], rubrics: Mapping[str, Iterable[NamedCriterion]]) -> list[str]:
    """Return the names of the rubrics all of whose criteria, and no others, are those of the items of a record.

    The test of promptfoo decides among several, and alone if nothing was graded.
    """
    given = record["output"][EXPECTATIONS] if has_items(record) else []
    items = [{*list_texts(item)} for item in given if isinstance(item, Mapping)]
    found = []
    for name, criteria in rubrics.items():
        known: dict[str, set[int]] = {}
        for number, criterion in enumerate(criteria):
            for text in name_criterion(*criterion):
                known.setdefault(text, set()).add(number)
        places = [set[int]().union(*[known.get(text, ()) for text in texts]) for texts in items]
        missing = set[int]().union(*known.values()).difference(*places)
        if items and all(places) and not missing:
            found.append(name)
    own = name_test(record)
    candidates = found if items else rubrics
    return [own] if own in candidates else found


def name_test(record: Mapping[str, Any]) -> str:
    """Return how the rubric of a test of promptfoo is named, empty for another record."""
    about = record.get("promptfoo")
    return f"tests/{about.get('test')}" if isinstance(about, Mapping) else ""


def list_texts(item: Mapping[str, Any]) -> list[str]:
    """Return the names of the criterion in an item, folded: its id, and its text as it was written and filled in."""
    return [fold(text) for text in map(item.get, ("text", "rendered", "id")) if isinstance(text, str)]


@lru_cache(maxsize=10_000)
def name_criterion(name: str, outcome: str | None) -> tuple[str, ...]:
    """Return all names of a criterion, folded: its id, its text, both in one, and the facts in it."""
    texts = [name]
    if outcome:
        texts += [outcome, f"[{name}] {outcome}", outcome.removeprefix(_FACTS)]
    return tuple(dict.fromkeys(map(fold, texts)))


_FACTS = "Agrees with these facts: "
"""What begins the text of a criterion that promptfoo knows as facts."""


def fold(text: str) -> str:
    """Return a text as it is compared: without case, line breaks, and a full stop."""
    return " ".join(text.split()).rstrip(".").casefold()
