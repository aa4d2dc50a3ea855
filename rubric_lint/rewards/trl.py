"""Reward functions with the signature of TRL."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.messages import point_to_known
from rubric_lint.rewards.asking import Item
from rubric_lint.rewards.options import RewardError
from rubric_lint.rewards.rewarding import Rewarder, Settled
from rubric_lint.rewards.texts import name_group, text_of

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
        """Log to the trainer, and return the rewards."""
        if callable(log := columns.get("log_metric")):
            for name, value in self._list_metrics(settled).items():
                log(f"{self.__name__}/{name}", value)
        if callable(log := columns.get("log_extra")):
            log(f"{self.__name__}/invalid", settled.reasons)
        return settled.rewards

    def _list_metrics(self, settled: Settled) -> dict[str, float]:
        """Return the shares of invalid and skipped completions, and the mean score of each criterion if all have it."""
        valid = [each for each in settled.found if each]
        size = max(len(settled.rewards), 1)
        metrics = {"invalid": (len(settled.rewards) - len(valid)) / size, "skipped": settled.skipped / size}
        if valid and len(self.rubrics) == 1:
            for place, criterion in enumerate(valid[0].whole.rubric.criteria):
                scores = [each.whole.criteria[place].grade.score for each in valid]
                metrics[f"criteria/{criterion.id}"] = float(sum(scores, Fraction(0)) / len(scores))
        return metrics

    def _list_items(self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> list[Item]:
        size = len(completions)
        if len(prompts) != size:
            raise RewardError(f"{len(prompts)} prompts, but {size} completions; expected one prompt for each")
        questions = prompts if self._question is None else self._column(self._question, columns, size)
        references = [None] * size if self._reference is None else self._column(self._reference, columns, size)
        names = columns.get(self._rubric_field) if len(self.rubrics) > 1 else None
        names = [None] * size if names is None else names
        items = []
        for prompt, completion, question, reference, name in zip(
            prompts, completions, questions, references, names, strict=True
        ):
            rubric = self._find_rubric(name, "the column")
            case = JudgedCase(
                text_of(completion, "a completion"),
                self._read_question(question),
                None if reference is None else text_of(reference, f"a value of `{self._reference}`"),
            )
            items.append(Item(rubric, case, name_group(rubric.name, prompt, question, reference)))
        return items

    def _read_question(self, value: Any) -> str | None:
        """Return the question; without a judge, it only tells quotes of it apart, so it may be something else."""
        if self._outputs:
            return value if isinstance(value, str) else None
        return text_of(value, "a prompt")

    def _column(self, name: str, columns: Mapping[str, Any], size: int) -> Sequence[Any]:
        """Return a column of the dataset.

        Raises:
            RewardError: if there is none.
        """
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
