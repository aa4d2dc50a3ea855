"""Write how a run of scores differs from another one, as text."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rubric_lint.messages import join_words
from rubric_lint.report.changes import MOST, word_result
from rubric_lint.report.scores import name_answer
from rubric_lint.report.visible import visible
from rubric_lint.run.summary import counted

_MOST_CRITERIA = 5
"""The most criteria to list of one answer."""


def word_comparison(found: Mapping[str, Any], other: str) -> Iterator[str]:
    """Yield the lines on a comparison as in the JSON report: counts, the answers that got worse, and the criteria."""
    counts = f"{found['worse']:,} worse, {found['better']:,} better, {found['same']:,} the same"
    means = "" if found["old_mean"] is None else f"; mean score {found['old_mean']:.3f} -> {found['new_mean']:.3f}"
    yield f"compared with {visible(other)}: {counted(found['answers'], 'answer')}: {counts}{means}"
    for answer in found["worse_answers"][:MOST]:
        name = answer["id"] if isinstance(answer["id"], str) else json.dumps(answer["id"], ensure_ascii=False)
        fell = [*map(_word_criterion, answer["criteria"][:_MOST_CRITERIA])]
        more = len(answer["criteria"]) - len(fell)
        told = join_words([*fell, f"{more} more"] if more else fell) or "no criterion is worse, the rubric differs"
        yield f"  worse: {visible(name)}: {word_result(answer['old'])} -> {word_result(answer['new'])} ({told})"
    if found["worse"] > MOST:
        yield f"  ... and {found['worse'] - MOST:,} more that got worse; --format json lists them"
    worse = sorted((each for each in found["criteria"] if each["worse"]), key=lambda each: -each["worse"])
    for each in worse[:MOST]:
        missed = "old_gates_missed", "new_gates_missed"
        mean = f"mean {each['old_mean']:.3f} -> {each['new_mean']:.3f}"
        gates = f", gate missed {each[missed[0]]} -> {each[missed[1]]}" if each[missed[0]] or each[missed[1]] else ""
        counts = f"worse in {counted(each['worse'], 'answer')}, better in {each['better']:,}"
        yield f"  criterion {visible(each['id'])}: {counts}; {mean}{gates}"
    if len(worse) > MOST:
        yield f"  ... and {len(worse) - MOST:,} more criteria; --format json lists them"
    lost = {
        "invalid now": found["invalid_now"],
        "invalid before": found["invalid_before"],
        "invalid in both runs": found["invalid_both"],
        "only in this run": found["only_now"],
        "only in the other run": found["only_before"],
    }
    if left := [f"{count:,} {where}" for where, count in lost.items() if count]:
        yield f"  not compared: {join_words(left)}"


def _word_criterion(each: Mapping[str, Any]) -> str:
    missed = ", gate missed" if each["gate_missed"] else ""
    return f"{visible(each['id'])} {name_answer(each['old'])} -> {name_answer(each['new'])}{missed}"
