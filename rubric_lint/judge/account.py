"""Write the record of a judged answer: its outputs, and how they were made."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rubric_lint.judge.answers import Answer
from rubric_lint.judge.asking import Asker, Plan, Sample
from rubric_lint.judge.endpoint import Exchange
from rubric_lint.judge.panel import Panel
from rubric_lint.judge.resuming import make_fingerprint
from rubric_lint.judge.samples import to_json
from rubric_lint.outputs.reply import Tokens
from rubric_lint.scoring.meaning import hash_told
from rubric_lint.scoring.scorer import count_votes, read_panel


class Judgement(NamedTuple):
    """The samples of each model, in the order of the panel; the last one taken is the only one that may be invalid."""

    samples: Sequence[Sequence[Sample]]

    @property
    def all(self) -> list[Sample]:
        """The samples of all models, in the order of the outputs."""
        return [sample for samples in self.samples for sample in samples]

    @property
    def is_valid(self) -> bool:
        """Whether no sample is invalid."""
        return all(sample.output for sample in self.all)


def make_record(answer: Answer, panel: Panel, plan: Plan, judgement: Judgement) -> dict[str, Any]:
    """Return the record of an answer: its own fields, the outputs to score, and how they were made.

    For an output that stayed invalid it has the model's last text, so that the scorer reports the error.
    """
    samples = judgement.all
    outputs = [
        sample.exchanges[-1].reply.text if sample.output is None else to_json(answer.rubric, sample.output)
        for sample in samples
    ]
    about = _describe(answer, panel, plan, judgement)
    if fault := find_fault(panel, judgement):
        about["fault"] = fault
    about["fingerprint"] = make_fingerprint(answer, [endpoint.call for endpoint in panel.endpoints], plan)
    held = {"output": outputs[0]} if plan.samples == 1 and panel.is_single else {"outputs": outputs}
    return {**answer.record, **held, "judge": about}


def find_fault(panel: Panel, judgement: Judgement) -> str | None:
    """Return why the output is invalid, with the model of a panel; None if it is valid."""
    for name, samples in zip(panel.names, judgement.samples, strict=True):
        for sample in samples:
            if sample.output is None:
                return sample.fault if panel.is_single else f"`{name}`: {sample.fault}"
    return None


def _describe(answer: Answer, panel: Panel, plan: Plan, judgement: Judgement) -> dict[str, Any]:
    """Describe models, settings, time and cost of a judgement."""
    call = panel.endpoints[0].call
    common = {
        **call.describe(),
        **({"per_criterion": True} if plan.per_criterion else {}),
        **({} if plan.shuffle is None else {"shuffle": plan.shuffle}),
        "rubric_hash": answer.rubric.hash,
        "criteria_hashes": hash_told(answer.rubric.model, answer.rubric.criteria),
    }
    pairs = list(zip(panel.endpoints, judgement.samples, strict=True))
    if panel.is_single:
        ((endpoint, samples),) = pairs
        votes = {"independent_votes_at_most": 1} if plan.samples > 1 else {}
        return {**_name(endpoint, samples), **votes, **common, **_account(samples, plan)}
    members = [
        {**_name(endpoint, samples), "outputs": len(samples), **(_account(samples, plan) if samples else {})}
        for endpoint, samples in pairs
    ]
    votes = {"independent_votes_at_most": count_votes(read_panel({"judge": {"panel": members}}))}
    return {"panel": members, **votes, **common, **_write_time(judgement.all[0].exchanges[0])}


def _name(endpoint: Asker, samples: Sequence[Sample]) -> dict[str, Any]:
    exchanges = [exchange for sample in samples for exchange in sample.exchanges]
    models = dict.fromkeys(exchange.reply.model for exchange in exchanges if exchange.reply.model)
    answered = {"answered_by": list(models)} if models else {}
    return {"model": endpoint.call.model, **answered, "endpoint": endpoint.name}


def _account(samples: Sequence[Sample], plan: Plan) -> dict[str, Any]:
    """Describe the time and cost of one model; `latency` has the seconds of each request, `attempts` is by output.

    Of a reply from the cache they are those of the request that it answered; `from_cache` counts such replies.
    """
    exchanges = [exchange for sample in samples for exchange in sample.exchanges]
    tokens = Tokens()
    for exchange in exchanges:
        tokens = tokens.plus(exchange.reply.tokens)
    return {
        **_write_time(exchanges[0]),
        **({"latency": latency} if (latency := _list_latency(exchanges)) else {}),
        "tokens": {name: count for name, count in tokens._asdict().items() if count is not None},
        **({"from_cache": cached} if (cached := sum(exchange.is_cached for exchange in exchanges)) else {}),
        "attempts": [_count_attempts(sample, plan) for sample in samples],
        **({} if plan.shuffle is None else {"orders": [list(sample.order) for sample in samples]}),
    }


def _count_attempts(sample: Sample, plan: Plan) -> int | dict[str, int]:
    if plan.per_criterion:
        return {each.rubric.criteria[0].id: len(each.exchanges) for each in sample.asked}
    return len(sample.exchanges)


def _list_latency(exchanges: Sequence[Exchange]) -> list[float]:
    return [round(exchange.seconds, 3) for exchange in exchanges if exchange.seconds is not None]


def _write_time(exchange: Exchange) -> dict[str, str]:
    """Return the time of a request in UTC as a field; none if it is unknown."""
    sent = exchange.sent
    return {"time": sent.isoformat(timespec="milliseconds").replace("+00:00", "Z")} if sent else {}
