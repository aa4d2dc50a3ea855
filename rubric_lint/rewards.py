"""Reward functions for reinforcement learning, made of rubrics: for the trainers of TRL, and for verifiers.

Neither package is imported, nor is it needed to import this module.
"""

import os
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rubric_lint.judge.rewards.options import OnInvalid, RewardCounts, RewardError, RewardOptions, Worth
from rubric_lint.model.arguments import NONE, takes

if TYPE_CHECKING:
    from rubric_lint.judge.rewards.asking import EndpointJudge, Judge
    from rubric_lint.judge.rewards.rewarding import Rubrics, TrlReward, VerifiersReward, View

__all__ = ["RewardCounts", "RewardError", "endpoint_judge", "trl_reward", "verifiers_reward"]


def trl_reward(
    rubrics: "Rubrics",
    judge: "Judge | None" = None,
    *,
    outputs: str | None = None,
    reward: Worth = "score",
    on_invalid: OnInvalid = "skip",
    dropout: float = 0.0,
    seed: int = 0,
    samples: int = 1,
    attempts: int = 3,
    concurrency: int = 8,
    patience: int | None = 5,
    question: str | None = None,
    reference: str | None = None,
    rubric_field: str = "rubric",
    name: str | None = None,
) -> "TrlReward":
    """Return a reward function for the trainers of TRL, such as `GRPOTrainer`. It can be pickled.

    `rubrics` is a rubric, the rubrics that `load_rubrics` returns, or the path of their file. With several, the column
    `rubric_field` names the rubric of each prompt. `judge` takes the messages of `write_prompt` as dictionaries, and
    with a parameter `schema` also the schema of `output_schema`, and returns the judge's output. If it is asynchronous,
    the reward function is too. Without a judge, `outputs` names a column with an output, or a list of outputs, for each
    completion, such as a rollout function returns.

    `reward` says what a completion gets: `score` is its score, `gated` the same, but 0 if a gate is missed, and
    `verdict` is 1 for pass, 0.5 for borderline and 0 for fail. `on_invalid` says what happens if an output is invalid:
    with `skip`, no completion of the same prompt gets a reward, with `none`, only this one does not, and `raise`
    raises. `dropout` is the probability with which each criterion does not count, the same ones for all completions of
    a prompt in a step; `seed` makes them. `samples` outputs are combined to their median, each from up to `attempts`
    replies until it is valid. At most `concurrency` replies are awaited at once. After `patience` calls in a row
    without a valid output, the function raises. A raw text, without thoughts, must be an object or a fence with one.

    `question` and `reference` name columns that the judge gets: by default the prompt is the question, and there is no
    reference. `name` is what the trainer logs, by default the name of the rubric.

    The function has counts: `last` of its last call and `totals` of all. In calls, a wrong column or name of a rubric
    raises a `RewardError`.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if both or neither of `judge` and `outputs` are given, or an option has another value.
        OSError: if the file cannot be read.
        RubricError: if the file has errors or no rubric.
        SettingsError: if the settings of the file are invalid.
    """
    options = RewardOptions.choose(locals())
    from rubric_lint.judge.rewards.asking import is_async  # noqa: PLC0415  (loads the scorer)
    from rubric_lint.judge.rewards.rewarding import AsyncTrlReward, TrlReward  # noqa: PLC0415

    kind = AsyncTrlReward if callable(judge) and is_async(judge) else TrlReward
    return kind(rubrics, judge, outputs, options)


def verifiers_reward(
    rubrics: "Rubrics",
    judge: "Judge | None" = None,
    *,
    outputs: str | None = None,
    reward: Worth = "score",
    on_invalid: OnInvalid = "skip",
    dropout: float = 0.0,
    seed: int = 0,
    samples: int = 1,
    attempts: int = 3,
    concurrency: int = 8,
    view: "View" = "last_reply",
    question: str | None = None,
    reference: str | None = None,
    rubric_field: str = "rubric",
    name: str | None = None,
) -> "VerifiersReward":
    """Return a reward for tasks of verifiers, an asynchronous function of `task` and `trace`. It can be pickled.

    The arguments are those of `trl_reward`, with these differences. `outputs` names the field of `trace.info` with the
    judge's output. `question`, `reference` and `rubric_field` name fields of the task; the question is the prompt by
    default. `view` says what is judged: `last_reply` or `full_trace`, the transcript. `dropout` drops the same criteria
    for all rollouts of a task.

    If an output is invalid, the function raises a `RewardError` with `skip` as with `raise`: verifiers fails this
    rollout with the reason, and goes on. verifiers would count `none` as 0, so it is refused.

    The criteria become metrics named `name/criterion`, and `trace.info["rubric_lint"][name]` has the result.

    Raises:
        TypeError: as `trl_reward`.
        ValueError: as `trl_reward`, if `on_invalid` is `none`, or `view` has another value.
        OSError: as `trl_reward`.
        RubricError: as `trl_reward`.
        SettingsError: as `trl_reward`.
    """
    # Without patience: each invalid output is an error of its rollout already.
    options = RewardOptions.choose({**locals(), "patience": None})
    from rubric_lint.judge.rewards.rewarding import VerifiersReward  # noqa: PLC0415  (loads the scorer)

    return VerifiersReward(rubrics, judge, outputs, options, view)


@takes(
    model=str,
    base_url=(str, NONE),
    api_key_env=(str, NONE),
    temperature=(float, NONE),
    max_tokens=(int, NONE),
    extra_body=(Mapping, NONE),
    timeout=float,
    retries=int,
    rpm=(float, NONE),
    tpm=(float, NONE),
    max_requests=(int, NONE),
)
def endpoint_judge(
    model: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    response_format: str = "json_schema",
    temperature: float | None = None,
    max_tokens: int | None = None,
    extra_body: Mapping[str, Any] | None = None,
    timeout: float = 120.0,
    retries: int = 5,
    rpm: float | None = None,
    tpm: float | None = None,
    max_requests: int | None = None,
    max_cost: float | Decimal | None = None,
    prices: str | os.PathLike[str] | None = None,
) -> "EndpointJudge":
    """Return a judge that asks an OpenAI-compatible endpoint as `rubric-score judge` does; it needs the extra `judge`.

    It is asynchronous, retries, pauses when the endpoint limits requests, and can be pickled without its key, which it
    reads from the variable `api_key_env`, by default OPENAI_API_KEY. An endpoint at `base_url` needs no key.
    `response_format` is `json_schema`, `json_object` or `text`. `timeout` is in seconds; `rpm` and `tpm` limit the
    requests and tokens per minute.

    The judge sends at most `max_requests` requests in a process, retries included, and they cost at most `max_cost` by
    the file `prices`; more completions are a `RewardError`. With `max_cost` and without `max_tokens`, a reply has at
    most 8192 tokens.

    Raises:
        ImportError: without the extra.
        OSError: if `prices` cannot be read.
        RewardError: if the variable with the key is not set.
        ValueError: for another `response_format`, a `base_url` that is not HTTP, a number that is too
            small, or `max_cost` without a price.
    """
    import openai  # noqa: F401, PLC0415  (missing, it is an error now, not at the first completion)

    from rubric_lint.judge.account import Account, RunLimit  # noqa: PLC0415
    from rubric_lint.judge.call import RESPONSE_FORMATS, Call, is_url  # noqa: PLC0415
    from rubric_lint.judge.rewards.asking import EndpointJudge  # noqa: PLC0415  (loads the scorer)
    from rubric_lint.judge.spending import PricesError, read_prices  # noqa: PLC0415

    if response_format not in RESPONSE_FORMATS:
        raise ValueError(f"response_format is {response_format!r}; expected one of {', '.join(RESPONSE_FORMATS)}")
    for name, number in {"temperature": temperature, "retries": retries, "max_requests": max_requests}.items():
        if number is not None and number < 0:
            raise ValueError(f"{name} is {number!r}; expected a number of at least 0")
    for name, number in {"max_tokens": max_tokens, "timeout": timeout, "rpm": rpm, "tpm": tpm}.items():
        if number is not None and number <= 0:
            raise ValueError(f"{name} is {number!r}; expected a number above 0")
    if base_url and not is_url(base_url):  # the address may contain a key
        raise ValueError("base_url must have the form http://HOST:PORT/PATH or https://HOST/PATH")
    try:
        table = None if prices is None else read_prices(os.fspath(prices))
    except PricesError as fault:
        raise ValueError(f"{os.fspath(prices or '')}: {fault}") from None
    if max_cost is not None and (table is None or model not in table.models):
        raise ValueError(f"max_cost needs the price of `{model}`; pass `prices`, the path of a table that has it")
    most_cost = None if max_cost is None else Decimal(str(max_cost))
    limit = RunLimit(max_requests, most_cost, table, rpm, tpm)
    call = Call(
        model,
        base_url,
        timeout,
        retries,
        response_format,
        temperature,
        max_tokens=max_tokens,
        extra_body=dict(extra_body or {}),
    )
    judge = EndpointJudge(call, api_key_env, Account(limit))
    judge.read_key()  # a missing key is an error at once, not at the first completion
    return judge
