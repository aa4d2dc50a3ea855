"""Make rewards of judge outputs: the functions with the signatures of TRL and of verifiers, and what they share."""

import hashlib
import json
import logging
import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import median
from typing import Any, Literal, NamedTuple

from rubric_lint.arguments import NONE, require
from rubric_lint.judge.answers import is_conversation, write_conversation
from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.messages import find_near, list_names, point_to_known
from rubric_lint.outputs.decoding import OutputError
from rubric_lint.rewards.asking import Asker, Item, Judge, Read, read_output
from rubric_lint.rewards.options import Options, RewardCounts, RewardError
from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric, Verdict, combine_samples
from rubric_lint.scoring.loading import read_rubrics


def text_of(value: Any, what: str) -> str:
    """Return a string as it is, a single message as its text, and several messages as a conversation.

    Raises:
        RewardError: if it is something else, or has parts that cannot be judged; `what` describes it.
    """
    if isinstance(value, str):
        return value
    if not is_conversation(value):
        raise RewardError(f"{what} is of the type {type(value).__name__}; expected a string or a list of messages")
    if len(value) == 1 and isinstance(value[0].get("content"), str):
        (message,) = value
        if not (message.get("tool_calls") or message.get("refusal")):
            return str(message["content"])
    try:
        return write_conversation(value)
    except OutputError as fault:
        raise RewardError(f"{what} cannot be judged: {fault.path}: {fault.message}") from None


def name_group(*parts: Any) -> str:
    """Return a text that is the same for completions of one prompt: the JSON of its parts.

    Of what JSON cannot express, such as an image, only the type counts.
    """
    return json.dumps(parts, sort_keys=True, default=lambda value: type(value).__name__)


_log = logging.getLogger("rubric_lint.rewards")
_RANGE = 2**64


class KeptCriteria(NamedTuple):
    """What is kept of a rubric: a rubric of these criteria, their places, and the ids of the dropped ones."""

    rubric: ScoringRubric
    places: tuple[int, ...]
    dropped: tuple[str, ...]

    def grade(self, output: JudgeOutput) -> Scored:
        """Return the result of an output for the whole rubric by the criteria that are kept."""
        if not self.dropped:
            return self.rubric.grade(output)
        answers = tuple(output.answers[place] for place in self.places)
        reasons = tuple(output.reasons[place] for place in self.places)
        return self.rubric.grade(JudgeOutput(answers, reasons, output.reasoning))


def drop_criteria(rubric: ScoringRubric, dropout: float, seed: int, step: int | None, group: str) -> KeptCriteria:
    """Drop each criterion with the probability `dropout`, but keep one with a positive weight.

    Each criterion gets a number from 0 to 1, made of the first 8 bytes of the SHA-256 of the JSON list of `seed`,
    `step`, `group` and its id. Those below `dropout` are dropped. If no other criterion can earn points, the one with
    the highest number of those that can is kept. A greater `dropout` never keeps a criterion that a smaller one drops.
    """
    everything = tuple(range(len(rubric.criteria)))
    if not dropout:
        return KeptCriteria(rubric, everything, ())
    told = [json.dumps([seed, step, group, criterion.id]).encode() for criterion in rubric.criteria]
    numbers = [int.from_bytes(hashlib.sha256(each).digest()[:8]) for each in told]
    earning = [place for place in everything if rubric.criteria[place].share > 0]
    rescued = max(earning, key=numbers.__getitem__)
    kept = tuple(place for place in everything if place == rescued or numbers[place] >= dropout * _RANGE)
    dropped = tuple(rubric.criteria[place].id for place in everything if place not in kept)
    if dropped:  # the score is the weighted average of the others, and the thresholds are the same parts of it
        criteria = tuple(rubric.criteria[place] for place in kept)
        full = int(rubric.full * sum((each.share for each in criteria if each.share > 0), Fraction(0)))
        pass_from, borderline_from = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
        rubric = replace(rubric, criteria=criteria, full=full, pass_from=pass_from, borderline_from=borderline_from)
    return KeptCriteria(rubric, kept, dropped)


Rubrics = ScoringRubric | Mapping[str, ScoringRubric] | str | os.PathLike[str]
"""A rubric, the rubrics of a file by name, or the path of the file."""

_OF_VERDICT = {Verdict.PASS: Fraction(1), Verdict.BORDERLINE: Fraction(1, 2), Verdict.FAIL: Fraction(0)}


class Rewarded(NamedTuple):
    """A completion with a valid output: its reward, its result by all criteria, and what dropout made of it."""

    reward: float
    whole: Scored
    kept: KeptCriteria


class Settled(NamedTuple):
    """A call: for each completion its reward, or None; why its output is invalid, or ""; and its result, or None.

    `skipped` counts the valid ones without a reward.
    """

    rewards: list[float | None]
    reasons: list[str]
    found: list[Rewarded | None]
    skipped: int


class Rewarder:
    """A reward function without the signature of a framework. It can be pickled, and threads may share it.

    `last` has the counts of the last call, `totals` those of all calls in this process.
    """

    noun = "completions"

    def __init__(self, rubrics: Rubrics, judge: Judge | None, outputs: str | None, options: Options) -> None:
        if (judge is None) == (outputs is None):
            raise ValueError(
                "pass either `judge`, a function that judges, or `outputs`, the name of the field with judge outputs"
            )
        require("outputs", outputs, (str, NONE))
        if outputs is not None and options.samples > 1:
            raise ValueError("`samples` needs a judge; the field `outputs` has as many outputs as it lists")
        if isinstance(rubrics, ScoringRubric):
            self.rubrics = {rubrics.name: rubrics}
        elif isinstance(rubrics, str | os.PathLike):
            self.rubrics = read_rubrics(rubrics)
        elif (
            isinstance(rubrics, Mapping)
            and rubrics
            and all(isinstance(each, ScoringRubric) for each in rubrics.values())
        ):
            self.rubrics = dict(rubrics)
        else:
            raise TypeError(
                f"rubrics is a value of the type {type(rubrics).__name__}; expected a rubric, the rubrics that "
                "load_rubrics returns, or the path of a file"
            )
        if options.dropout and all(len(rubric.criteria) < 2 for rubric in self.rubrics.values()):
            raise ValueError(
                f"dropout is {options.dropout!r}, but no rubric has two criteria, so none can be dropped; expected 0"
            )
        self.options = options
        self.__name__ = options.name or (next(iter(self.rubrics)) if len(self.rubrics) == 1 else "rubric")
        self._asker = None if judge is None else Asker(judge, options)
        self._outputs = outputs or ""
        self.last = self.totals = RewardCounts()
        self._in_a_row = self._faulty = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__!r}>"

    def _find_rubric(self, name: Any, what: str) -> ScoringRubric:
        """Return the rubric with a name, or the only one; raise RewardError if none of several has it."""
        if len(self.rubrics) == 1:
            return next(iter(self.rubrics.values()))
        if isinstance(name, str) and name in self.rubrics:
            return self.rubrics[name]
        if name is None:
            raise RewardError(
                f"{what} `{self.options.rubric_field}` is missing: it names one of the {len(self.rubrics)} rubrics: "
                f"{list_names(self.rubrics)}"
            )
        raise RewardError(f"no rubric is named {str(name)[:80]!r}; {point_to_known(str(name), self.rubrics)}")

    def _take(self, items: Sequence[Item], given: Sequence[Any]) -> list[list[Read]]:
        """Return the outputs of each item: from the judge in threads, or without one those that are given."""
        if self._asker is None:
            return [*map(self._read, items, given)]
        return self._group(self._asker.ask([item for item in items for _ in range(self.options.samples)]))

    async def _take_async(self, items: Sequence[Item], given: Sequence[Any]) -> list[list[Read]]:
        """Return the outputs of each item as `_take`, without blocking the event loop."""
        if self._asker is None:
            return [*map(self._read, items, given)]
        return self._group(await self._asker.ask_async([item for item in items for _ in range(self.options.samples)]))

    def _group(self, read: Sequence[Read]) -> list[list[Read]]:
        """Return the outputs of each item, from those of items that are repeated for each sample."""
        size = self.options.samples
        return [list(read[start : start + size]) for start in range(0, len(read), size)]

    def _read(self, item: Item, given: Any) -> list[Read]:
        """Read the outputs of a field: one, or a list of several."""
        found: list[Read] = []
        for output in given if isinstance(given, list | tuple) and given else [given]:
            try:
                found.append(read_output(item, output))
            except OutputError as fault:
                found.append(fault)
        return found

    def _settle(self, items: Sequence[Item], read: Sequence[Sequence[Read]], step: int | None) -> Settled:
        """Make rewards of the outputs of each item, count them, and warn; see `_count`.

        With `on_invalid` raise, raise RewardError if an output is invalid.
        """
        faults = [next((each for each in outputs if isinstance(each, OutputError)), None) for outputs in read]
        found = [
            None if fault else self._reward(item, outputs, step)
            for item, outputs, fault in zip(items, read, faults, strict=True)
        ]
        faulty = {item.group for item, fault in zip(items, faults, strict=True) if fault}
        skips = self.options.on_invalid == "skip"
        rewards = [
            None if each is None or (skips and item.group in faulty) else each.reward
            for item, each in zip(items, found, strict=True)
        ]
        reasons = [_word(fault) for fault in faults]
        skipped = sum(each is not None and reward is None for each, reward in zip(found, rewards, strict=True))
        self._count(reasons, skipped)
        if self.options.on_invalid == "raise":
            for number, fault in enumerate(faults, 1):
                if fault:
                    place = f" {number} of {len(items)}" if len(items) > 1 else ""
                    noun = self.noun.removesuffix("s")
                    raise RewardError(
                        f"{self.__name__}: invalid judge output for {noun}{place}: {_word(fault)}"
                    ) from fault
        return Settled(rewards, reasons, found, skipped)

    def _count(self, reasons: list[str], skipped: int) -> None:
        """Count a call: the reason why each completion is invalid, empty if it is valid.

        Calls with invalid outputs are logged if there are 1, 2, 4, 8, ... of them, and if no output is valid. After
        `patience` calls in a row without a valid output, raise RewardError.
        """
        invalid = [reason for reason in reasons if reason]
        now = RewardCounts(1, len(reasons), len(invalid), skipped)
        with self._lock:
            self.last = now
            self.totals = totals = RewardCounts(*map(sum, zip(self.totals, now, strict=True)))
            is_lost = bool(invalid) and len(invalid) == len(reasons)
            self._in_a_row = self._in_a_row + 1 if is_lost else 0
            self._faulty += bool(invalid)
            in_a_row, faulty = self._in_a_row, self._faulty
        if not invalid:
            return
        share = f"{len(invalid)} of {len(reasons)} {self.noun}" if len(reasons) > 1 else f"a {self.noun[:-1]}"
        if self.options.patience is not None and in_a_row >= self.options.patience:
            raise RewardError(
                f"{self.__name__}: {in_a_row} calls in a row without a valid judge output, so there is nothing to "
                f"learn from; the first reason of the last call: {invalid[0]}"
            )
        if is_lost or faulty & (faulty - 1) == 0:
            others = f" ({skipped} more skipped with them)" if skipped else ""
            before = f" ({totals.skipped} more skipped)" if totals.skipped else ""
            _log.warning(
                "%s: invalid judge output for %s, without a reward%s; so far %d of %d%s. The first reason: %s",
                *(self.__name__, f"all {share}" if is_lost and len(reasons) > 1 else share, others),
                *(totals.invalid, totals.completions, before, invalid[0]),
            )

    def _reward(self, item: Item, outputs: Sequence[Read], step: int | None) -> Rewarded:
        """Return the reward of a completion whose outputs are all valid."""
        kept = drop_criteria(item.rubric, self.options.dropout, self.options.seed, step, item.group)
        valid = [output for output in outputs if not isinstance(output, OutputError)]
        whole = combine_samples([item.rubric.grade(output) for output in valid])
        graded = combine_samples([kept.grade(output) for output in valid]) if kept.dropped else whole
        worth = graded.score
        if self.options.reward == "verdict":
            worth = _OF_VERDICT[graded.verdict]
        elif self.options.reward == "gated":
            worth = median(
                sample.score if all(each.grade.gate_met for each in sample.criteria) else Fraction(0)
                for sample in graded.samples or (graded,)
            )
        return Rewarded(float(worth), whole, kept)


def _word(fault: OutputError | None) -> str:
    if fault is None:
        return ""
    return f"{fault.path}: {fault.message}" if fault.path else fault.message


_OF_TRAINER = frozenset({"trainer_state", "log_extra", "log_metric", "environments"})
"""The arguments that are not columns."""


class TrlReward(Rewarder):
    """A reward function for the trainers of TRL: what `trl_reward` returns for a judge that is not asynchronous."""

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None = None,  # noqa: ARG002 (TRL passes it)
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion, or None for one without a reward.

        Raises:
            RewardError: if a column is missing, if an output is invalid and `on_invalid` is raise, or after too many
                calls without a valid output.
        """
        items = self._list_items(prompts, completions, columns)
        given = self._column(self._outputs, columns, len(items)) if self._outputs else []
        return self._finish(self._settle(items, self._take(items, given), _find_step(columns)), columns)

    def _finish(self, settled: Settled, columns: Mapping[str, Any]) -> list[float | None]:
        """Log to the trainer, and return the rewards.

        Metrics are the shares of invalid and skipped completions, and the mean score of each criterion if all have it.
        """
        if callable(log := columns.get("log_metric")):
            valid = [each for each in settled.found if each]
            size = max(len(settled.rewards), 1)
            metrics = {"invalid": (len(settled.rewards) - len(valid)) / size, "skipped": settled.skipped / size}
            if valid and len(self.rubrics) == 1:
                for place, criterion in enumerate(valid[0].whole.rubric.criteria):
                    scores = [each.whole.criteria[place].grade.score for each in valid]
                    metrics[f"criteria/{criterion.id}"] = float(sum(scores, Fraction(0)) / len(scores))
            for name, value in metrics.items():
                log(f"{self.__name__}/{name}", value)
        if callable(log := columns.get("log_extra")):
            log(f"{self.__name__}/invalid", settled.reasons)
        return settled.rewards

    def _list_items(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> list[Item]:
        size = len(completions)
        if len(prompts) != size:
            raise RewardError(f"{len(prompts)} prompts, but {size} completions; expected one prompt for each")
        questions = prompts if self.options.question is None else self._column(self.options.question, columns, size)
        references = (
            [None] * size if self.options.reference is None else self._column(self.options.reference, columns, size)
        )
        names = columns.get(self.options.rubric_field) if len(self.rubrics) > 1 else None
        names = [None] * size if names is None else names
        items = []
        for prompt, completion, question, reference, name in zip(
            prompts, completions, questions, references, names, strict=True
        ):
            rubric = self._find_rubric(name, "the column")
            asked = question if isinstance(question, str) else None
            case = JudgedCase(
                text_of(completion, "a completion"),
                # Without a judge, the question only tells quotes of it apart, so it may be something else.
                asked if self._outputs else text_of(question, "a prompt"),
                None if reference is None else text_of(reference, f"a value of `{self.options.reference}`"),
            )
            items.append(Item(rubric, case, name_group(rubric.name, prompt, question, reference)))
        return items

    def _column(self, name: str, columns: Mapping[str, Any], size: int) -> Sequence[Any]:
        """Return a column of the dataset; raise RewardError if there is none."""
        column = columns.get(name)
        if name in _OF_TRAINER or column is None:
            known = [each for each in columns if each not in _OF_TRAINER]
            hint = f"; {point_to_known(name, known)}" if known else "; the trainer passed no columns but the prompts"
            raise RewardError(f"{self.__name__}: no column `{name}` in the dataset{hint}")
        if isinstance(column, str) or len(column) != size:
            raise RewardError(
                f"{self.__name__}: the column `{name}` does not have one value for each of {size} prompts"
            )
        return column  # type: ignore[no-any-return]


class AsyncTrlReward(TrlReward):
    """A reward function for the trainers of TRL that is asynchronous, as its judge is."""

    async def __call__(  # type: ignore[override]
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None = None,  # noqa: ARG002 (TRL passes it)
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion, or None for one without a reward.

        Raises:
            RewardError: as `TrlReward`.
        """
        items = self._list_items(prompts, completions, columns)
        return self._finish(self._settle(items, await self._take_async(items, []), _find_step(columns)), columns)


def _find_step(columns: Mapping[str, Any]) -> int | None:
    """Return the number of the training step, if the trainer says it."""
    step = getattr(columns.get("trainer_state"), "global_step", None)
    return step if isinstance(step, int) else None


View = Literal["last_reply", "full_trace"]


class VerifiersReward(Rewarder):
    """A reward of verifiers: what `verifiers_reward` returns."""

    noun = "rollouts"

    def __init__(
        self, rubrics: Rubrics, judge: Judge | None, outputs: str | None, options: Options, view: View
    ) -> None:
        if view not in ("last_reply", "full_trace"):
            raise ValueError(f"view is {view!r}; expected 'last_reply' or 'full_trace'")
        if options.on_invalid == "none":
            raise ValueError(
                "on_invalid is 'none', but verifiers adds up the rewards that are there, so a rollout without one "
                "would get 0; use 'skip', which fails the rollout with the reason"
            )
        super().__init__(rubrics, judge, outputs, options)
        self._view = view

    async def __call__(self, task: Any, trace: Any) -> float:
        """Return the reward of a rollout; record its criteria as metrics, and its result in `trace.info`.

        Raises:
            RewardError: if a field is missing or the output is invalid. verifiers then fails the rollout.
        """
        name = getattr(task, self.options.rubric_field, None) if len(self.rubrics) > 1 else None
        rubric = self._find_rubric(name, "the field of the task")
        question = task.prompt_text if self.options.question is None else _get(task, self.options.question, "the task")
        reference = None if self.options.reference is None else _get(task, self.options.reference, "the task")
        case = JudgedCase(
            trace.transcript if self._view == "full_trace" else trace.last_reply,
            text_of(question, f"`{self.options.question}` of the task"),
            None if reference is None else text_of(reference, f"`{self.options.reference}` of the task"),
        )
        item = Item(rubric, case, name_group(rubric.name, question, reference))
        given = [_get(trace.info, self._outputs, "trace.info")] if self._outputs else []
        settled = self._settle([item], await self._take_async([item], given), None)
        (found,) = settled.found
        if found is None:
            raise RewardError(f"{self.__name__}: invalid judge output: {settled.reasons[0]}")
        for each in found.whole.criteria:
            trace.record_metric(f"{self.__name__}/{each.criterion.id}", float(each.grade.score))
        about = {**found.whole.to_json(), "reward": found.reward, "dropped": [*found.kept.dropped]}
        trace.info.setdefault("rubric_lint", {})[self.__name__] = about
        return found.reward


def _get(holder: Any, name: str, what: str) -> Any:
    """Return a field of a task, or of a mapping; raise RewardError if there is none."""
    known = holder if isinstance(holder, dict) else vars(holder)
    if name not in known and not hasattr(holder, name):
        near = find_near(name, known)
        raise RewardError(f"{what} has no field `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    return holder[name] if isinstance(holder, dict) else getattr(holder, name)
