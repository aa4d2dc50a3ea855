"""Have a judge record the outputs that tests need, only for the criteria that have changed since."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from rubric_lint.assess.rubric_tests.recordings import (
    HASHES,
    name_check,
    put_outputs,
    read_checks,
    read_outputs,
    read_recordings,
)
from rubric_lint.assess.rubric_tests.running import TestedRubric, UnrecordedTest
from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import JudgeOptions
from rubric_lint.judge.journal import encode
from rubric_lint.judge.prompt import JudgedCase, keep_criteria
from rubric_lint.lint.project.writing import open_whole
from rubric_lint.model.messages import counted, join_words
from rubric_lint.scoring.panel import read_panel
from rubric_lint.scoring.records.mapping import OUTPUT_FIELDS

_SHOWN = JudgedCase._fields


class Recorder:
    """Records the outputs of one file for one rubric; the file is whole after each of them.

    `judged` is what `JudgeRun` asks of its results: nothing is judged before.
    """

    def __init__(self, path: str, tested: TestedRubric, needed: Sequence[UnrecordedTest]) -> None:
        self.path = path
        self.judged: Mapping[str, str] = {}
        self._tested = tested
        self._needed = {need.test.key: need for need in needed}
        # Read again: another rubric may have been recorded in the same file meanwhile.
        self._records: list[Mapping[str, Any]] = []
        with suppress(FileNotFoundError):
            self._records = read_recordings(path, tested.rubric.name).all

    def list_answers(self) -> Iterator[Answer]:
        """Yield the answer of each test, with a rubric of only the criteria that have to be judged.

        Those without a record come first, so that a run that a limit ends is not always spent on the same ones.
        """
        places = {json.dumps(record.get("id")): number for number, record in enumerate(self._records)}
        for need in sorted(self._needed.values(), key=lambda need: places.get(need.test.key, -1)):
            case = find_case(need)
            if case is not None:
                shown = {name: text for name, text in case._asdict().items() if text is not None}
                whole = self._tested.rubric
                rubric = keep_criteria(
                    whole, [criterion.id for criterion in whole.criteria if criterion.id in need.stale]
                )
                named = {"rubric": whole.name} if need.file.rubric_name else {}
                yield Answer(need.test.key, rubric, case, {"id": need.test.id, **named, **shown})

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record in the place of that before it, an invalid one at the end.

        Raises:
            OSError: if the file cannot be written.
        """
        need = self._needed[json.dumps(record["id"])]
        before = need.recording.record if need.recording else None
        is_invalid = read_checks(record) is None
        if len(need.stale) < len(self._tested.rubric.criteria) and before is not None:
            if is_invalid:
                return  # no valid output: what is recorded of the other criteria stays
            record = self._join(record, before, need)
        at = self._find_record(need.test.key)
        if at is not None and is_invalid:
            del self._records[at]
        if at is None or is_invalid:
            self._records.append(record)
        else:
            self._records[at] = record
        with open_whole(self.path) as stream:
            stream.writelines(encode(line).decode() + "\n" for line in self._records)

    def _find_record(self, key: str) -> int | None:
        """Return the place of the record of a test of this rubric; None without one."""
        name = self._tested.rubric.name
        for number, record in enumerate(self._records):
            if json.dumps(record.get("id")) == key and record.get("rubric", name) == name:
                return number
        return None

    def _join(self, record: Mapping[str, Any], before: Mapping[str, Any], need: UnrecordedTest) -> dict[str, Any]:
        """Return a record with the new checks and, of the criteria that have not changed, those of the one before."""
        rubric = self._tested.rubric
        valid = [criterion.id for criterion in rubric.criteria if criterion.id not in need.stale]
        outputs = []
        for kept, given in zip(read_checks(before) or [], read_checks(record) or [], strict=True):
            checks = {name_check(check): check for check in kept if name_check(check) in valid}
            checks.update((name_check(check), check) for check in given)
            outputs.append(
                {"checks": [checks[criterion.id] for criterion in rubric.criteria if criterion.id in checks]}
            )
        # It is there: only its hashes can say that a criterion has not changed.
        earlier = before["judge"]
        kept_before = earlier.get("kept")
        kept_now: dict[str, Any] = {"criteria": valid}
        panel = read_panel({"judge": earlier})
        if panel:
            kept_now["models"] = [member.name for member in panel]
        kept_now |= {name: earlier[name] for name in ("model", "time") if name in earlier}
        about = {
            **record["judge"],
            "rubric_hash": rubric.hash,
            HASHES: dict(self._tested.verifier.hashes),
            "kept": [*kept_before, kept_now] if isinstance(kept_before, list) else [kept_now],
        }
        fields = {name: value for name, value in before.items() if name not in OUTPUT_FIELDS}
        return {**fields, **record, **put_outputs(record, outputs), "judge": about}


def widen(need: UnrecordedTest, tested: TestedRubric, members: Sequence[str], samples: int) -> UnrecordedTest:
    """Return a need for every criterion if the other criteria were not judged by as many samples of these models.

    A single model may differ from the one before: the record says who judged what.
    """
    if need.recording is None:
        return need
    record = need.recording.record
    panel = [(member.name, member.outputs) for member in read_panel(record)]
    expected = [(name, samples) for name in members] if len(members) > 1 else []
    if panel == expected and len(read_outputs(record)) == len(members) * samples:
        return need
    return replace(need, stale=tuple(criterion.id for criterion in tested.rubric.criteria))


def find_case(need: UnrecordedTest) -> JudgedCase | None:
    """Return the case that a judge is shown: the texts of a test, or of its recording; None without an answer."""
    texts = dict(need.test.texts)
    if "answer" not in texts and need.recording:
        record = need.recording.record
        texts = {name: record[name] for name in _SHOWN if isinstance(record.get(name), str)} | texts
    return JudgedCase(**texts) if "answer" in texts else None


def group_by_file(tested: TestedRubric) -> Iterator[tuple[str, list[UnrecordedTest]]]:
    """Yield the files of recorded outputs and the tests that need one in each."""
    needed = sorted(tested.needed, key=lambda need: need.file.outputs)
    for path, group in groupby(needed, key=lambda need: need.file.outputs):
        yield path, list(group)


def describe_requests(needed: Sequence[UnrecordedTest], tested: TestedRubric, models: int, plan: JudgeOptions) -> str:
    """Say how many requests are made, and why."""
    count = sum(models * plan.count_requests(len(need.stale)) for need in needed)
    how = plan.describe(models)
    answers = f" ({how}) for {counted(len(needed), 'answer')}" if how else ""
    every = "every criterion" if len(tested.rubric.criteria) > 1 else "the criterion"
    whole = sum(len(need.stale) == len(tested.rubric.criteria) for need in needed)
    parts = [f"{whole} for {every}"] if whole else []
    changed = Counter(need.stale for need in needed if len(need.stale) < len(tested.rubric.criteria))
    parts += [f"{number} for {join_words([f'`{name}`' for name in names])} alone" for names, number in changed.items()]
    return f"{counted(count, 'request')}{answers}: {join_words(parts)}"
