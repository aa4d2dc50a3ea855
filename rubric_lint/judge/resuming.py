"""Find out whether a results file can be resumed: compare what its answers were judged with."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import Plan
from rubric_lint.judge.call import Call
from rubric_lint.judge.journal import Journal
from rubric_lint.judge.prompt import JudgedCase, write_prompt
from rubric_lint.messages import join_words


class StaleError(Exception):
    """A results file with an answer that was judged under other conditions."""


class Earlier(NamedTuple):
    """The results of earlier runs: the answers `judged`, how many of them are `invalid`, and the ids of `others`."""

    judged: int
    invalid: int
    others: tuple[str, ...]


def check_journal(answers: Iterable[Answer], journal: Journal, calls: Sequence[Call], plan: Plan) -> Earlier:
    """Compare the answers with the journal; `others` are its ids, as JSON, that are not among the answers.

    Raises:
        StaleError: when an answer, or the rubric, models or settings that it was judged with, has changed.
    """
    if not journal.judged:
        return Earlier(0, 0, ())
    others = dict.fromkeys(journal.judged)
    judged = invalid = 0
    stale: list[Answer] = []
    for answer in answers:
        if fingerprint := journal.judged.get(answer.key):
            del others[answer.key]
            judged += 1
            invalid += answer.key in journal.invalid
            if fingerprint != make_fingerprint(answer, calls, plan):
                stale.append(answer)
    if stale:
        first = stale[0]
        which = f"answer {first.key} was"
        if len(stale) > 1:
            which = f"{len(stale)} answers ({first.key} is the first) were"
        changed = join_words(_find_changed(journal.find(first.key), first, calls, plan))
        raise StaleError(f"cannot resume: {which} judged with another {changed}; name another file with --output")
    return Earlier(judged, invalid, tuple(others))


def _find_changed(record: Mapping[str, Any], answer: Answer, calls: Sequence[Call], plan: Plan) -> list[str]:
    """Return what a record was judged with that has changed, as far as it says it."""
    about = record["judge"]
    panel = about.get("panel")
    members = [each for each in panel if isinstance(each, dict)] if isinstance(panel, list) and panel else [about]
    attempts = members[0].get("attempts") if members else None
    before = {
        "model": sorted(str(each.get("model")) for each in members),
        "endpoint": sorted({str(each.get("endpoint")) for each in members}),
        "response format": about.get("response_format"),
        "temperature": about.get("temperature"),
        "--seed": about.get("seed"),
        "--max-tokens": about.get("max_tokens"),
        "--extra-body": about.get("extra_body"),
        "--header": about.get("headers"),
        "number of samples": len(attempts) if isinstance(attempts, list) else 0,
        "--per-criterion": about.get("per_criterion", False),
        "--shuffle": about.get("shuffle"),
        "rubric": about.get("rubric_hash"),
        "text": [record.get(name) for name in JudgedCase._fields],
    }
    now = {
        "model": sorted(call.model for call in calls),
        "endpoint": sorted({call.endpoint for call in calls}),
        "response format": calls[0].response_format,
        "temperature": calls[0].temperature,
        "--seed": calls[0].seed,
        "--max-tokens": calls[0].max_tokens,
        "--extra-body": calls[0].describe().get("extra_body"),
        "--header": calls[0].describe().get("headers"),
        "number of samples": before["number of samples"] if "fault" in about else plan.samples,
        "--per-criterion": plan.per_criterion,
        "--shuffle": plan.shuffle,
        "rubric": answer.rubric.hash,
        "text": list(answer.case),
    }
    # Neither the names and the order of the criteria, nor the values of headers, nor --extract are in a record.
    unknown = "rubric, --header or --extract" if calls[0].headers else "rubric or --extract"
    return [name for name, value in now.items() if value != before[name]] or [unknown]


def make_fingerprint(answer: Answer, calls: Sequence[Call], plan: Plan) -> str:
    """Return a hash of everything that affects the requests and the reading of their outputs; models in any order."""
    models = sorted((call.identify() for call in calls), key=lambda each: each[:2])
    how = [models, plan.samples, plan.extract, plan.per_criterion, plan.shuffle]
    asked = [*how, answer.rubric.hash, *write_prompt(answer.rubric, answer.case)]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
