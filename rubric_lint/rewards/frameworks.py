"""Reward functions with the signatures of TRL and of verifiers."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.messages import find_near, point_to_known
from rubric_lint.rewards.asking import Item, Judge
from rubric_lint.rewards.options import Options, RewardError
from rubric_lint.rewards.rewarding import Rewarder, Rubrics, Settled, name_group, text_of

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
        self,
        rubrics: Rubrics,
        judge: Judge | None,
        outputs: str | None,
        options: Options,
        view: View,
    ) -> None:
        if view not in {"last_reply", "full_trace"}:
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
