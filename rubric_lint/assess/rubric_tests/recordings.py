"""Read recorded judge outputs, and find out which of them still count for the rubric as it is now."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from rubric_lint.lint.project.opening import open_stream
from rubric_lint.model.messages import join_words, pluralize
from rubric_lint.scoring.grading import AnswerValue, NothingAppliesError, Scored, ScoringRubric, is_unscored
from rubric_lint.scoring.meaning import hash_criteria
from rubric_lint.scoring.output import read_judged_by
from rubric_lint.scoring.records.decoding import OutputError, decode_entry
from rubric_lint.scoring.records.mapping import read_mapping
from rubric_lint.scoring.records.parse_options import WHOLE
from rubric_lint.scoring.records.streams import StreamOptions, read_entries
from rubric_lint.scoring.scorer import Scorer
from rubric_lint.source.values import as_mapping

HASHES = "criteria_hashes"
"""The field of a record's `judge` with the hashes of what the judge was told about each criterion."""

_TEXTS = ("question", "answer", "reference")


@dataclass(frozen=True)
class Recording:
    """A record of an output, and the line where it begins."""

    line: int
    record: Mapping[str, Any]


@dataclass(frozen=True)
class VerifiedRecording:
    """The result of a recording, or the `fault` that says why it does not count.

    If what the judge was told has changed since, `stale` lists the criteria that must be judged again. A valid output
    `is_unscored` if nothing in the rubric applies; `answers` has what its judge gave, if it is the only one.
    """

    result: Scored | None
    fault: str = ""
    stale: tuple[str, ...] = ()
    is_unscored: bool = False
    answers: tuple[AnswerValue, ...] = ()


@dataclass
class Recordings:
    """The records of a file by id as JSON. `others` are the ids recorded for other rubrics only, with their names.

    `twice` has the lines of records with the same id, `broken` the lines that cannot be read.
    """

    found: dict[str, Recording] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    twice: dict[str, list[int]] = field(default_factory=dict)
    broken: list[tuple[int, str]] = field(default_factory=list)
    all: list[Mapping[str, Any]] = field(default_factory=list)


def read_recordings(path: str, rubric_name: str, mapping: Iterable[tuple[str, str]] = ()) -> Recordings:
    """Read the recordings of the rubric with this name from a file; a record that names no rubric is one of them.

    `mapping` has the fields that have other names in the file.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if its name cannot be that of a file, or the mapping cannot be used.
    """
    recordings = Recordings()
    options = StreamOptions(read_mapping([f"{field}={column}" for field, column in mapping]), path)
    with open_stream(path) as stream:
        for line, content in read_entries(iter(partial(stream.read, 1 << 16), b""), options):
            try:
                record = decode_entry(content)
            except OutputError as fault:
                recordings.broken.append((line, fault.message))
                continue
            recordings.all.append(record)
            name = record.get("id")
            if not isinstance(name, str | int) or isinstance(name, bool):
                recordings.broken.append((line, "the record has no `id` that is a string or an integer"))
                continue
            key = json.dumps(name)
            if record.get("rubric", rubric_name) != rubric_name:
                recordings.others[key] = str(record["rubric"])
            elif key in recordings.found:
                recordings.twice.setdefault(key, [recordings.found[key].line]).append(line)
            else:
                recordings.found[key] = Recording(line, record)
    return recordings


class Verifier:
    """Scores recordings of one rubric, after it has made sure that they still count."""

    def __init__(self, rubric: ScoringRubric) -> None:
        self._rubric = rubric
        # `judge` records them, and accepts only replies that are a verdict as a whole.
        self._scorer = Scorer({rubric.name: rubric}, WHOLE)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The hash of what a judge is told about each criterion now."""
        return hash_criteria(self._rubric.model, self._rubric.criteria)

    def verify(self, recording: Recording, texts: Mapping[str, str] | None = None) -> VerifiedRecording:
        """Score a record, unless its judge was told something else or saw other texts than those of its test."""
        record, texts = recording.record, texts or {}
        # A record that has a judge and the answer has all that the judge saw: a text that only one of both has differs.
        is_whole = "answer" in texts and "answer" in record and "judge" in record
        known = [name for name in _TEXTS if is_whole or (name in texts and name in record)]
        changed = [name for name in known if record.get(name) != texts.get(name)]
        if changed:
            fault = f"its recorded output is for another {join_words(changed)}"
            return VerifiedRecording(None, fault, tuple(self.hashes))
        fresh, stale = self.select_fresh(record)
        if stale:
            return VerifiedRecording(None, _explain_stale(stale, self.hashes, read_hashes(record)), stale)
        scored = self._scorer.score_record(dict(fresh))
        if scored.error is not None and is_unscored(scored.error.message):
            answers = scored.error.answers if isinstance(scored.error, NothingAppliesError) else ()
            return VerifiedRecording(None, is_unscored=True, answers=answers)
        if scored.error is not None:
            path = f" at {scored.error.path}" if scored.error.path else ""
            return VerifiedRecording(
                None, f"its recorded output is invalid{path}: {scored.error.message}", tuple(self.hashes)
            )
        return VerifiedRecording(scored.result)

    def select_fresh(self, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """Return a record without the criteria that the rubric no longer has, and those that must be judged again.

        A record without a hash cannot be compared, and counts.
        """
        if read_judged_by(record) in (None, self._rubric.hash):
            return record, ()
        before = read_hashes(record)
        stale = tuple(name for name, now in self.hashes.items() if before.get(name) != now)
        removed = before.keys() - self.hashes.keys()
        outputs, given = read_outputs(record), read_checks(record)
        if given is None:
            hashes = tuple(self.hashes) if removed else stale
            return record, hashes
        fresh = []
        for output, checks in zip(outputs, given, strict=True):
            fresh.append({**output, "checks": [check for check in checks if name_check(check) not in removed]})
        return {**record, **put_outputs(record, fresh)}, stale


def read_hashes(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the hashes of what the judge was told about each criterion; empty if the record does not have them."""
    return as_mapping(as_mapping(record.get("judge")).get(HASHES))


def name_check(check: Any) -> str | None:
    """Return the id of a check, valid or not; None without one."""
    name = check.get("id") if isinstance(check, dict) else None
    return name if isinstance(name, str) else None


def read_outputs(record: Mapping[str, Any]) -> list[Any]:
    """Return the outputs of a record: several, or the only one."""
    outputs = record.get("outputs")
    return outputs if isinstance(outputs, list) else [record.get("output")]


def put_outputs(record: Mapping[str, Any], outputs: list[Any]) -> dict[str, Any]:
    """Return the field with the outputs in the form of that of a record: a list of several, or the only one."""
    return {"outputs": outputs} if "outputs" in record else {"output": outputs[0]}


def read_checks(record: Mapping[str, Any]) -> list[list[Any]] | None:
    """Return the checks of each recorded output, or None if one of them is not an object with checks."""
    checks_of_outputs = [output.get("checks") if isinstance(output, dict) else None for output in read_outputs(record)]
    lists = [checks for checks in checks_of_outputs if isinstance(checks, list)]
    return lists if len(lists) == len(checks_of_outputs) else None


def _explain_stale(stale: tuple[str, ...], hashes: Mapping[str, str], before: Mapping[str, Any]) -> str:
    if not before:
        return "its recorded output was made with another meaning of the rubric"
    new = [f"`{name}`" for name in stale if name not in before]
    changed = [f"`{name}`" for name in stale if name in before]
    if len(changed) == len(hashes):
        return "its recorded output was made with another meaning of the rubric: every criterion has changed"
    parts = []
    if changed:
        parts.append(f"{join_words(changed)} {pluralize(len(changed), 'has', 'have')} changed")
    if new:
        parts.append(f"{join_words(new)} {pluralize(len(new), 'is', 'are')} new")
    return f"its recorded output was made with another meaning of the rubric: {join_words(parts)}"
