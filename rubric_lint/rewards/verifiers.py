"""Reward functions with the signature of verifiers."""

from typing import Any, Literal

from rubric_lint.judge.prompt import JudgedCase
from rubric_lint.messages import find_near
from rubric_lint.rewards.asking import Item, Judge
from rubric_lint.rewards.options import Options, RewardError
from rubric_lint.rewards.rewarding import Rewarded, Rewarder, Rubrics
from rubric_lint.rewards.texts import name_group, text_of

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
        *,
        view: View,
        question: str | None,
        reference: str | None,
        rubric_field: str,
        name: str | None,
    ) -> None:
        if view not in {"last_reply", "full_trace"}:
            raise ValueError(f"view is {view!r}; expected 'last_reply' or 'full_trace'")
        if options.on_invalid == "none":
            raise ValueError(
                "on_invalid is 'none', but verifiers adds up the rewards that are there, so a rollout without one "
                "would get 0; use 'skip', which fails the rollout with the reason"
            )
        super().__init__(
            rubrics,
            judge,
            outputs,
            options,
            question=question,
            reference=reference,
            rubric_field=rubric_field,
            name=name,
        )
        self._view = view

    async def __call__(self, task: Any, trace: Any) -> float:
        """Return the reward of a rollout; record its criteria as metrics, and its result in `trace.info`.

        Raises:
            RewardError: if a field is missing or the output is invalid. verifiers then fails the rollout.
        """
        item = self._make_item(task, trace)
        given = [_get(trace.info, self._outputs, "trace.info")] if self._outputs else []
        settled = self._settle([item], await self._take_async([item], given), None)
        (found,) = settled.found
        if found is None:
            raise RewardError(f"{self.__name__}: invalid judge output: {settled.reasons[0]}")
        self._record(found, trace)
        return found.reward

    def _record(self, found: Rewarded, trace: Any) -> None:
        for each in found.whole.criteria:
            trace.record_metric(f"{self.__name__}/{each.criterion.id}", float(each.grade.score))
        about = {**found.whole.to_json(), "reward": found.reward, "dropped": [*found.kept.dropped]}
        trace.info.setdefault("rubric_lint", {})[self.__name__] = about

    def _make_item(self, task: Any, trace: Any) -> Item:
        name = getattr(task, self._rubric_field, None) if len(self.rubrics) > 1 else None
        rubric = self._find_rubric(name, "the field of the task")
        question = task.prompt_text if self._question is None else _get(task, self._question, "the task")
        reference = None if self._reference is None else _get(task, self._reference, "the task")
        case = JudgedCase(
            trace.transcript if self._view == "full_trace" else trace.last_reply,
            text_of(question, f"`{self._question}` of the task"),
            None if reference is None else text_of(reference, f"`{self._reference}` of the task"),
        )
        return Item(rubric, case, name_group(rubric.name, question, reference))


def _get(holder: Any, name: str, what: str) -> Any:
    """Return a field of a task, or of a mapping.

    Raises:
        RewardError: if there is none.
    """
    known = holder if isinstance(holder, dict) else vars(holder)
    if name not in known and not hasattr(holder, name):
        near = find_near(name, known)
        raise RewardError(f"{what} has no field `{name}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    return holder[name] if isinstance(holder, dict) else getattr(holder, name)
