"""Asks DeepEval, Ragas and verifiers themselves: a JSON request a line comes in, a JSON answer a line goes out.

Runs in the environment of `make agreement`, where these packages are and nothing of ours. No network is used: the judge
is a model that gives the answer it is told to give.
"""

import asyncio
import json
from pathlib import Path

from questions import original, serve


def fake_judge(score):
    from deepeval.models import DeepEvalBaseLLM

    class Judge(DeepEvalBaseLLM):
        def __init__(self):
            self.prompts = []

        def load_model(self):
            return self

        def generate(self, prompt, *_, **__):
            self.prompts.append(prompt)
            return json.dumps({"score": score, "reason": "", "steps": ["Judge"], "verdict": bool(score)})

        async def a_generate(self, prompt, *_, **__):
            return self.generate(prompt)

        def get_model_name(self):
            return "fake"

    return Judge()


def ragas_judge(**reply):
    """The list of what a judge of Ragas is asked, and the judge, which always gives this reply."""
    from langchain_core.outputs import Generation, LLMResult
    from ragas.llms import BaseRagasLLM

    prompts = []

    class Judge(BaseRagasLLM):
        def generate_text(self, prompt, *_, **__):
            prompts.append(prompt.to_string())
            return LLMResult(generations=[[Generation(text=json.dumps(reply))]])

        async def agenerate_text(self, prompt, *_, **__):
            return self.generate_text(prompt)

        def is_finished(self, _):
            return True

    return prompts, Judge()


def make_metrics(source, score):
    names = {}
    exec(compile(source, "exported", "exec"), names)  # noqa: S102 (it is what the user would run)
    return names["make_metrics"](fake_judge(score))


@original
def measure(source, score):
    """What the metrics of an exported module ask, and what they make of a judge that gives this score."""
    from deepeval.test_case import LLMTestCase

    measured = []
    for metric in make_metrics(source, score):
        metric.async_mode = False
        metric.measure(LLMTestCase(input="i", actual_output="o"), _show_indicator=False)
        questions = [node.criteria for node in metric.dag.root_nodes] if hasattr(metric, "dag") else []
        measured.append({
            "name": metric.name,
            "bands": [[list(band.score_range), band.expected_outcome] for band in getattr(metric, "rubric", ())],
            "asked": [item for item in questions if any(item in prompt for prompt in metric.model.prompts)],
            "score": metric.score,
            "passes": metric.is_successful(),
        })  # fmt: skip
    return measured


@original
def measure_written(source, score):
    """Whether DeepEval takes the one metric of a source, and what it makes of a judge that gives this score."""
    from deepeval.metrics import ConversationalGEval
    from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn

    try:
        (metric,) = make_metrics(source, score)
    except ValueError as refusal:
        return {"refused": str(refusal)}
    metric.async_mode = False
    turns = [Turn(role="user", content="i"), Turn(role="assistant", content="o")]
    is_talk = isinstance(metric, ConversationalGEval)
    case = ConversationalTestCase(turns=turns) if is_talk else LLMTestCase(input="i", actual_output="o")
    try:
        metric.measure(case, _show_indicator=False)
    except ZeroDivisionError:
        return {"divides": "by zero"}
    return {"score": metric.score, "passes": metric.is_successful()}


@original
def rubrics_score(rubrics, level):
    """What RubricsScore tells its judge, and what it returns for a judge that picks this level."""
    from ragas import SingleTurnSample
    from ragas.metrics import RubricsScore

    prompts, judge = ragas_judge(feedback="", score=level)
    metric = RubricsScore(name="n", rubrics=rubrics, llm=judge)
    score = asyncio.run(metric.single_turn_ascore(SingleTurnSample(user_input="i", response="o")))
    return {"told": prompts[0], "score": score}


@original
def judged(text, answers):
    """What rewardkit makes of a judge TOML and of raw answers; nothing if it is not installed."""
    import typing

    if not hasattr(typing, "override"):  # all that it needs of Python 3.12
        typing.override = lambda function: function
    try:
        from rewardkit.models import JudgeTomlConfig, Score
        from rewardkit.reward import aggregate_scores
        from rewardkit.runner import _build_judge_reward, _load_toml, _validate_toml
    except ImportError:
        return None
    path = Path("judge.toml").resolve()
    path.write_text(text, encoding="utf-8")
    try:
        config = _validate_toml(JudgeTomlConfig, _load_toml(path), path)
        made = _build_judge_reward(path, config, path.parent, path.parent)
    except ValueError as refusal:
        return {"refused": str(refusal)}
    scores = []
    for criterion, weight, raw in zip(made.criteria, made.weights, answers, strict=True):
        value = criterion.output_format.normalize(raw)
        value = 1 - value if criterion.negate else value
        scores.append(
            Score(name=criterion.name or "x", value=value, raw=raw, weight=weight, optional=criterion.optional)
        )
    return {"score": aggregate_scores(scores, made.aggregation, made.threshold)}


@original
def aspect_critics(definitions, is_met):
    """What the AspectCritic of each definition tells its judge, and what it makes of this answer."""
    from ragas import SingleTurnSample
    from ragas.metrics import AspectCritic

    prompts, judge = ragas_judge(reason="", verdict=int(is_met))
    sample = SingleTurnSample(user_input="i", response="o")
    metrics = [AspectCritic(name=name, definition=text, llm=judge) for name, text in definitions.items()]
    scores = {metric.name: asyncio.run(metric.single_turn_ascore(sample)) for metric in metrics}
    return {"told": prompts, "scores": scores}


@original
def reward(text, answers, name="rubric.json"):
    """What RubricJudge makes of a file of criteria and of the answers of a judge."""
    from verifiers.v1.judges.rubric import CriterionVerdict, load_criteria, score_verdicts

    path = Path(name)
    path.write_text(text, encoding="utf-8")
    try:
        criteria = load_criteria(path)
    except ValueError as refusal:
        return {"refused": str(refusal)}
    verdicts = [CriterionVerdict(name=name, reason="", verdict=verdict) for name, verdict in answers.items()]
    scores = score_verdicts(verdicts, criteria, "the criteria")
    total = sum(criterion.weight for criterion in criteria)
    return sum(criterion.weight * scores[criterion.name] for criterion in criteria) / total


serve()
