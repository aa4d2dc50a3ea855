"""Make rewards of judge outputs: the functions with the signatures of TRL and of verifiers, and what they share."""

import hashlib
import json
import logging
import math
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Any, Literal, get_args

from rubric_lint.judge.answers import is_conversation, write_conversation
from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.judge.rewards.asking import Completion, Judge, JudgeCaller, read_output, run
from rubric_lint.judge.rewards.options import RewardCounts, RewardError, RewardOptions
from rubric_lint.model.arguments import NONE, require
from rubric_lint.model.messages import list_names, point_to_known
from rubric_lint.scoring.grading import JudgeOutput, Scored, ScoringRubric, Verdict, combine_samples
from rubric_lint.scoring.loading import read_rubrics
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.decoding import OutputError

Rubrics = ScoringRubric | Mapping[str, ScoringRubric] | str | os.PathLike[str]
"""A rubric, the rubrics of a file by name, or the path of the file."""

View = Literal["last_reply", "full_trace"]

_log = logging.getLogger("rubric_lint.rewards")
_counting = threading.Lock()
_RANGE = 2**64
_OF_VERDICT = {Verdict.PASS: Fraction(1), Verdict.BORDERLINE: Fraction(1, 2), Verdict.FAIL: Fraction(0)}

_OF_TRAINER = frozenset({"trainer_state", "log_extra", "log_metric", "environments"})
"""The arguments of TRL that are not columns."""


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


def choose_criteria(rubric: ScoringRubric, dropout: float, seed: int, step: int | None, group: str) -> list[int]:
    """Return the places of the criteria that count: each is dropped with the probability `dropout`.

    Each criterion gets a number from 0 to 1, made of the first 8 bytes of the SHA-256 of the JSON list of `seed`,
    `step`, `group` and its id. Those below `dropout` are dropped. If no other criterion can earn points, the one with
    the highest number of those that can is kept. A greater `dropout` never keeps a criterion that a smaller one drops.
    """
    places = range(len(rubric.criteria))
    if not dropout:
        return list(places)
    names = [json.dumps([seed, step, group, criterion.id]).encode() for criterion in rubric.criteria]
    numbers = [int.from_bytes(hashlib.sha256(name).digest()[:8]) for name in names]
    earning = [place for place in places if rubric.criteria[place].share > 0]
    rescued = max(earning, key=numbers.__getitem__)
    return [place for place in places if place == rescued or numbers[place] >= dropout * _RANGE]


def reduce_rubric(rubric: ScoringRubric, places: Sequence[int]) -> ScoringRubric:
    """Return a rubric of some criteria: its score is their weighted average, its thresholds the same parts of it."""
    criteria = tuple(rubric.criteria[place] for place in places)
    full = int(rubric.full * sum((criterion.share for criterion in criteria if criterion.share > 0), Fraction(0)))
    # Points are whole numbers: those from a threshold on begin at the next one.
    pass_from, borderline_from = (math.ceil(Fraction(threshold) * full) for threshold in rubric.model.thresholds)
    limits = replace(rubric, full=full, pass_from=pass_from, borderline_from=borderline_from)
    return replace(limits, criteria=criteria, tree=None)  # groups without a gate say nothing of the score


def compute_worth(scored: Scored, reward: str) -> Fraction:
    """Return the reward of a result by the option `reward`: of its score, its gates or its verdict."""
    if reward == "verdict":
        return _OF_VERDICT[scored.verdict]
    if reward == "gated":
        samples = scored.samples or (scored,)
        return median(Fraction(0) if sample.gates_missed else sample.score for sample in samples)
    return scored.score


@dataclass(slots=True)
class Rewarded:
    """A completion: its result by all criteria, its reward or None, and the ids of the dropped criteria."""

    result: RecordResult
    reward: float | None = None
    dropped: tuple[str, ...] = ()

    @property
    def is_invalid(self) -> bool:
        """Whether an output is invalid."""
        return self.result.error is not None

    @property
    def reason(self) -> str:
        """Why its output is invalid, or an empty string."""
        fault = self.result.error
        if fault is None:
            return ""
        return f"{fault.path}: {fault.message}" if fault.path else fault.message


def count(rewarded: Sequence[Rewarded]) -> RewardCounts:
    """Count the completions of one call."""
    invalid = sum(1 for completion in rewarded if completion.is_invalid)
    without = sum(1 for completion in rewarded if completion.reward is None)
    return RewardCounts(1, len(rewarded), invalid, without - invalid)


class Rewarder:
    """A reward function without the signature of a framework. It can be pickled, and threads may share it.

    `last` has the counts of the last call, `totals` those of all calls in this process.
    """

    noun = "completion"

    def __init__(self, rubrics: Rubrics, judge: Judge | None, outputs: str | None, options: RewardOptions) -> None:
        if (judge is None) == (outputs is None):
            raise ValueError(
                "pass either `judge`, a function that judges, or `outputs`, the name of the field with judge outputs"
            )
        require("outputs", outputs, (str, NONE))
        if outputs is not None and options.samples > 1:
            raise ValueError("`samples` needs a judge; the field `outputs` has as many outputs as it lists")
        if isinstance(rubrics, str | os.PathLike):
            rubrics = read_rubrics(rubrics)
        elif isinstance(rubrics, ScoringRubric):
            rubrics = {rubrics.name: rubrics}
        is_mapping = isinstance(rubrics, Mapping) and len(rubrics) > 0
        if not (is_mapping and all(isinstance(rubric, ScoringRubric) for rubric in rubrics.values())):
            raise TypeError(
                f"rubrics is a value of the type {type(rubrics).__name__}; expected a rubric, the rubrics that "
                "load_rubrics returns, or the path of a file"
            )
        if options.dropout and all(len(rubric.criteria) < 2 for rubric in rubrics.values()):
            raise ValueError(
                f"dropout is {options.dropout!r}, but no rubric has two criteria, so none can be dropped; expected 0"
            )
        if options.dropout:
            for rubric in rubrics.values():
                rubric.require_points("dropout")
        self.rubrics = dict(rubrics)
        self.options = options
        name = next(iter(self.rubrics)) if len(self.rubrics) == 1 else "rubric"
        self.__name__ = options.name or name
        self._caller = None if judge is None else JudgeCaller(judge, options)
        self._outputs = outputs or ""
        self.last = self.totals = RewardCounts()
        self._in_a_row = self._faulty = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.__name__!r}>"

    def _find_rubric(self, name: Any, what: str) -> ScoringRubric:
        """Return the rubric with a name, or the only one; raise RewardError if none of several has it."""
        if len(self.rubrics) == 1:
            return next(iter(self.rubrics.values()))
        if isinstance(name, str) and name in self.rubrics:
            return self.rubrics[name]
        found = "missing" if name is None else repr(str(name)[:80])
        expected = f"expected one of {list_names(self.rubrics)}"
        raise RewardError(f"{what} `{self.options.rubric_field}` is {found}; {expected}")

    async def _reward_all(self, items: Sequence[Completion], given: Sequence[Any], step: int | None) -> list[Rewarded]:
        """Reward each item by its outputs, from the judge or, without one, those that are `given`; count, and warn.

        Raises:
            RewardError: if an output is invalid and `on_invalid` is raise, or after too many calls without a valid one.
        """
        if self._caller:
            judged = await self._caller.ask(items)
        else:
            judged = [_read_field(item, value) for item, value in zip(items, given, strict=True)]
        rewarded = [self._reward(item, samples, step) for item, samples in zip(items, judged, strict=True)]
        if self.options.on_invalid == "skip":
            faulty = {item.group for item, completion in zip(items, rewarded, strict=True) if completion.is_invalid}
            for item, completion in zip(items, rewarded, strict=True):
                if item.group in faulty:
                    completion.reward = None
        self._count(rewarded)
        if self.options.on_invalid == "raise":
            for number, completion in enumerate(rewarded, 1):
                if completion.is_invalid:
                    where = f"{self.noun} {number} of {len(items)}"
                    raise RewardError(
                        f"{self.__name__}: invalid judge output for {where}: {completion.reason}"
                    ) from completion.result.error
        return rewarded

    def _reward(self, item: Completion, samples: Sequence[RecordResult], step: int | None) -> Rewarded:
        """Return the reward of a completion by the median of its samples; none if one of them is invalid."""
        for sample in samples:
            if sample.error:
                return Rewarded(sample)
        rubric = item.rubric
        scored = combine_samples([rubric.grade(sample.output) for sample in samples])
        kept = choose_criteria(rubric, self.options.dropout, self.options.seed, step, item.group)
        dropped = tuple(criterion.id for place, criterion in enumerate(rubric.criteria) if place not in kept)
        counted = scored
        if dropped:
            reduced = reduce_rubric(rubric, kept)
            graded = []
            for sample in samples:
                answers = tuple(sample.output.answers[place] for place in kept)
                graded.append(reduced.grade(JudgeOutput(answers, (None,) * len(answers))))
            counted = combine_samples(graded)
        return Rewarded(RecordResult(scored), float(compute_worth(counted, self.options.reward)), dropped)

    def _count(self, rewarded: Sequence[Rewarded]) -> None:
        """Count a call.

        Calls with invalid outputs are logged if there are 1, 2, 4, 8, ... of them, and if no output is valid. After
        `patience` calls in a row without a valid output, raise RewardError.
        """
        now = count(rewarded)
        reasons = [completion.reason for completion in rewarded if completion.is_invalid]
        is_lost = 0 < now.invalid == now.completions
        with _counting:
            self.last = now
            self.totals = totals = RewardCounts(*map(sum, zip(self.totals, now, strict=True)))
            if is_lost:
                self._in_a_row += 1
            else:
                self._in_a_row = 0
            if reasons:
                self._faulty += 1
            in_a_row, faulty = self._in_a_row, self._faulty
        if self.options.patience is not None and in_a_row >= self.options.patience:
            raise RewardError(
                f"{self.__name__}: {in_a_row} calls in a row without a valid judge output, so there is nothing to "
                f"learn from; the first reason of the last call: {reasons[0]}"
            )
        if is_lost or (reasons and faulty.bit_count() == 1):
            _log.warning(
                f"{self.__name__}: invalid judge output for {now.invalid} of {now.completions} {self.noun}s, "
                f"{now.skipped} more skipped; so far {totals.invalid} of {totals.completions}, {totals.skipped} more "
                f"skipped. The first reason: {reasons[0]}"
            )


def _read_field(item: Completion, value: Any) -> list[RecordResult]:
    """Read the outputs of a field: one, or a list of several."""
    results = []
    outputs = value if isinstance(value, list | tuple) and value else [value]
    for output in outputs:
        try:
            results.append(read_output(item, output))
        except OutputError as fault:
            results.append(RecordResult(error=fault))
    return results


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
        return run(self._rate(prompts, completions, columns))

    async def _rate(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[float | None]:
        items = self._list_items(prompts, completions, columns)
        given = self._column(self._outputs, columns, len(items)) if self._outputs else []
        step = getattr(columns.get("trainer_state"), "global_step", None)
        if not isinstance(step, int):
            step = None
        rewarded = await self._reward_all(items, given, step)
        self._log_to_trainer(rewarded, columns)
        return [completion.reward for completion in rewarded]

    def _log_to_trainer(self, rewarded: Sequence[Rewarded], columns: Mapping[str, Any]) -> None:
        """Log the shares of invalid and skipped completions, and the mean score of each criterion if all have it."""
        log_metric, log_extra = columns.get("log_metric"), columns.get("log_extra")
        if log_metric:
            counts = count(rewarded)
            log_metric(f"{self.__name__}/invalid", counts.invalid / max(counts.completions, 1))
            log_metric(f"{self.__name__}/skipped", counts.skipped / max(counts.completions, 1))
            results = [completion.result.scored for completion in rewarded if completion.result.scored]
            if results and len(self.rubrics) == 1:
                for of_criterion in zip(*(scored.criteria for scored in results), strict=True):
                    applying = [graded for graded in of_criterion if graded.applies]
                    if applying:
                        mean = sum((graded.grade.score for graded in applying), Fraction(0)) / len(applying)
                        log_metric(f"{self.__name__}/criteria/{applying[0].criterion.id}", float(mean))
        if log_extra:
            log_extra(f"{self.__name__}/invalid", [completion.reason for completion in rewarded])

    def _list_items(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[Completion]:
        size = len(completions)
        questions = prompts
        references: Sequence[Any] = [None] * size
        names: Sequence[Any] = [None] * size
        if self.options.question is not None:
            questions = self._column(self.options.question, columns, size)
        if self.options.reference is not None:
            references = self._column(self.options.reference, columns, size)
        if len(self.rubrics) > 1 and columns.get(self.options.rubric_field) is not None:
            names = self._column(self.options.rubric_field, columns, size)
        items = []
        for prompt, completion, question, reference, name in zip(
            prompts, completions, questions, references, names, strict=True
        ):
            rubric = self._find_rubric(name, "the column")
            answer = text_of(completion, "a completion")
            # Without a judge, the question only tells quotes of it apart, so it may be something else.
            asked = question if isinstance(question, str) else None
            if not self._outputs:
                asked = text_of(question, "a prompt")
            known = None if reference is None else text_of(reference, f"a value of `{self.options.reference}`")
            case = JudgedCase(answer, asked, known)
            items.append(Completion(rubric, case, name_group(rubric.name, prompt, question, reference)))
        return items

    def _column(self, name: str, columns: Mapping[str, Any], size: int) -> Sequence[Any]:
        """Return a column of the dataset; raise RewardError if there is none."""
        of_dataset = {key: column for key, column in columns.items() if key not in _OF_TRAINER}
        column = _get(of_dataset, name, "the dataset")
        if isinstance(column, str) or len(column) != size:
            raise RewardError(f"the column `{name}` does not have one value for each of {size} prompts")
        return column  # type: ignore[no-any-return]


class AsyncTrlReward(TrlReward):
    """A reward function for the trainers of TRL that is asynchronous, as its judge is; TRL runs several at once."""

    async def __call__(  # type: ignore[override]
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None = None,  # noqa: ARG002 (TRL passes it)
        **columns: Any,
    ) -> list[float | None]:
        """Return the reward of each completion as `TrlReward`."""
        return await self._rate(prompts, completions, columns)


class VerifiersReward(Rewarder):
    """A reward of verifiers: what `verifiers_reward` returns."""

    noun = "rollout"

    def __init__(
        self, rubrics: Rubrics, judge: Judge | None, outputs: str | None, options: RewardOptions, view: View
    ) -> None:
        if view not in get_args(View):
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
        name = getattr(task, self.options.rubric_field, None)
        rubric = self._find_rubric(name, "the field of the task")
        question, reference = task.prompt_text, None
        if self.options.question is not None:
            question = _get(task, self.options.question, "the task")
        if self.options.reference is not None:
            reference = _get(task, self.options.reference, "the task")
        answer = trace.transcript if self._view == "full_trace" else trace.last_reply
        asked = text_of(question, f"`{self.options.question}` of the task")
        known = None if reference is None else text_of(reference, f"`{self.options.reference}` of the task")
        case = JudgedCase(answer, asked, known)
        item = Completion(rubric, case, name_group(rubric.name, question, reference))
        given = [_get(trace.info, self._outputs, "trace.info")] if self._outputs else []
        (rewarded,) = await self._reward_all([item], given, None)
        scored = rewarded.result.scored
        if scored is None or rewarded.reward is None:
            raise RewardError(f"{self.__name__}: invalid judge output: {rewarded.reason}")
        for graded in scored.criteria:
            if graded.applies:
                trace.record_metric(f"{self.__name__}/{graded.criterion.id}", float(graded.grade.score))
        about = {**scored.to_json(), "reward": rewarded.reward, "dropped": list(rewarded.dropped)}
        trace.info.setdefault("rubric_lint", {})[self.__name__] = about
        return rewarded.reward


def _get(holder: Any, name: str, what: str) -> Any:
    """Return a field of a task, or of a mapping; raise RewardError if there is none."""
    fields = holder if isinstance(holder, Mapping) else vars(holder)
    if name in fields:
        return fields[name]
    if hasattr(holder, name):  # a property
        return getattr(holder, name)
    hint = f"; {point_to_known(name, fields)}" if fields else ""
    raise RewardError(f"{what} has no field `{name}`{hint}")
