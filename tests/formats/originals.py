"""Asks the systems whose formats we read and write: a line of JSON in, a line of JSON out.

Runs in an environment of `make agreement`, where some of the packages are and nothing of ours. No network is used: the
judge is a model that gives the answer it is told to give.
"""

import asyncio
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

# What the packages print must not be read as an answer.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
os.chdir(tempfile.mkdtemp())
warnings.simplefilter("ignore")

ORIGINALS = {}


def original(function):
    """Let requests ask for a function by its name."""
    ORIGINALS[function.__name__] = function
    return function


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


@original
def adk(entry):
    """Whether ADK takes an entry of a rubric."""
    from google.adk.evaluation.eval_rubrics import Rubric

    try:
        Rubric.model_validate(entry)
    except ValueError:
        return False
    return True


@original
def pydantic_evals(text):
    """Whether pydantic-evals loads a data set."""
    from pydantic_evals import Dataset

    try:
        Dataset[str, str, None].from_text(text, fmt="yaml")
    except Exception:  # a group of errors
        return False
    return True


@original
def adk_score(text, yes):
    """The score of ADK for a metric of evaluation settings whose entries are judged so, and whether it passes."""
    from google.adk.evaluation.eval_case import Invocation
    from google.adk.evaluation.eval_metrics import RubricsBasedCriterion
    from google.adk.evaluation.eval_rubrics import RubricScore
    from google.adk.evaluation.evaluator import PerInvocationResult
    from google.adk.evaluation.rubric_based_evaluator import (
        MajorityVotePerInvocationResultsAggregator,
        MeanInvocationResultsSummarizer,
    )
    from google.genai.types import Content

    (metric,) = json.loads(text)["criteria"].values()
    criterion = RubricsBasedCriterion.model_validate(metric)
    scores = [
        RubricScore(rubric_id=item.rubric_id, score=float(met))
        for item, met in zip(criterion.rubrics, yes, strict=True)
    ]
    sample = PerInvocationResult(actual_invocation=Invocation(user_content=Content()), rubric_scores=scores)
    turn = MajorityVotePerInvocationResultsAggregator().aggregate([sample], criterion.threshold)
    found = MeanInvocationResultsSummarizer().summarize([turn], criterion.threshold)
    return [found.overall_score, found.overall_eval_status.name == "PASSED"]


@original
def pydantic_evals_score(text, met):
    """The average that pydantic-evals reports for a data set with one case whose judges say so."""
    from pydantic_evals import Dataset
    from pydantic_evals.evaluators import LLMJudge, llm_as_a_judge

    data = Dataset[str, str, None].from_text(text, fmt="json", default_name="d")
    evaluators = [*data.evaluators, *data.cases[0].evaluators]
    for number, judge in enumerate(item for item in evaluators if isinstance(item, LLMJudge)):
        judge.rubric = str(number)

    async def say(*said, **_):
        is_met = met[int(next(item for item in said[::-1] if isinstance(item, str) and item.isdigit()))]
        return llm_as_a_judge.GradingOutput(reason="", pass_=bool(is_met), score=0.5)

    for name in ("_judge_output", "_judge_input_output"):
        setattr(llm_as_a_judge, name, say)
    report = data.evaluate_sync(str, progress=False)
    assertions = report.cases[0].assertions.values()
    judged = [item.value for item in assertions if item.source.name == "LLMJudge"]
    return [sum(judged) / len(judged), None]


@original
def rubric(data, met):
    """What the package rubric makes of criteria of which some are met."""
    from rubric import Rubric
    from rubric.autograders.per_criterion_grader import PerCriterionGrader
    from rubric.types import CriterionReport

    criteria = Rubric.from_dict(data).rubric
    reports = [
        CriterionReport(
            weight=item.weight, requirement=item.requirement, verdict="MET" if is_met else "UNMET", reason=""
        )
        for item, is_met in zip(criteria, met, strict=True)
    ]
    return asyncio.run(PerCriterionGrader(generate_fn=None).aggregate(reports)).score


@original
def requirement_score(text, values):
    """The score of autorubric, with the values of the options that are chosen, and that of rubric if it has none."""
    from autorubric import Rubric
    from autorubric.scoring import score_reports
    from autorubric.types import CannotAssessConfig, CriterionReport, CriterionVerdict, MultiChoiceVerdict

    data = json.loads(text)
    criteria = Rubric.from_dict(data).rubric
    reports = []
    for item, value in zip(criteria, values, strict=True):
        said = {"verdict": CriterionVerdict.MET if value else CriterionVerdict.UNMET}
        if item.options:
            at = next(at for at, option in enumerate(item.options) if option.value == value)
            said = {"multi_choice_verdict": MultiChoiceVerdict(selected_index=at, selected_label="", value=value)}
        reports.append(CriterionReport(**dict(item), **said, reason=""))
    theirs = score_reports(reports, CannotAssessConfig())
    is_of_both = "criteria" not in data and text.count('"weight"') == len(criteria)
    if is_of_both and not any(item.options for item in criteria):
        others = rubric(data, values)
        if abs(others - theirs) > 1e-12:
            return {"autorubric": theirs, "rubric": others}
    return [theirs, None]


@original
def tolokaforge_score(text, met):
    """The score of tolokaforge for a grading file, and whether the answer passes."""
    from tolokaforge.core.models.task_config import GradingCombineConfig

    data = json.loads(text)
    found = tolokaforge(data["llm_judge"]["rubric"], [bool(item) for item in met])
    if found is None:
        return None
    passes_from = GradingCombineConfig.model_fields["pass_threshold"].default
    passes_from = data.get("combine", {}).get("pass_threshold", passes_from)
    return [found[0], not found[1] and found[0] >= passes_from]


@original
def autoevals_score(text, choice):
    """The score of autoevals for a judge that makes this choice."""
    from autoevals import LLMClassifier

    ((name, spec),) = json.loads(text).items()
    classifier = LLMClassifier(name, spec["prompt"], spec["choice_scores"])
    arguments = json.dumps({"choice": choice, "reasons": ""})
    call = {"function": {"name": "select_choice", "arguments": arguments}}
    said = {"choices": [{"message": {"tool_calls": [call]}}]}
    return [classifier._postprocess_response(said).score, None]


@original
def tolokaforge(rubric, met):
    """The score of tolokaforge and whether a gate failed; None if it refuses the rubric."""
    from tolokaforge.core.grading.rubric import SubmitReportValidationError, aggregate_rubric
    from tolokaforge.runner.models import CriterionResult, Rubric

    try:
        read = Rubric.model_validate(rubric)
        results = [
            CriterionResult(id=item.id, met=is_met, score=float(is_met), justification="")
            for item, is_met in zip(read.criteria, met, strict=True)
        ]
        found = aggregate_rubric(read, results)
    except (ValueError, SubmitReportValidationError):
        return None
    return [found.score, found.gate_failed]


@original
def inspect_scores(source, answers):
    """What Inspect reports for an exported scorer and a judge that gives these answers in turn; None if it is not here.

    The average, whether it passes, the verdict, and what the judge was told.
    """
    try:
        import inspect_ai
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ModelOutput, ModelUsage, get_model
    except ImportError:
        return None

    def saying(*texts):
        outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
        for item in outputs:
            item.usage = ModelUsage()  # else it loads a tokenizer to count
        return get_model("mockllm/model", custom_outputs=outputs, memoize=False)

    names = {}
    exec(compile(source, "exported", "exec"), names)  # noqa: S102 (it is what the user would run)
    task = inspect_ai.Task(dataset=[Sample(input="The input", target="The reference")], scorer=names["rubric"]())
    roles = {"grader": saying(*(f"GRADE: none yet.\nGRADE: {answer}" for answer in answers))}
    judged = saying("The output")
    (log,) = inspect_ai.eval(task, model=judged, model_roles=roles, display="none", log_dir="logs", log_format="json")
    assert log.status == "success", log.error
    metrics = {item.name: item.metrics["mean"].value for item in log.results.scores}
    (score,) = log.samples[0].scores.values()
    kept = log.samples[0].attachments
    asked = [item.input[0].text for item in log.samples[0].events if item.event == "model" and item.role == "grader"]
    said = [kept.get(item.removeprefix("attachment://"), item) for item in asked]
    return [metrics.get("score"), metrics.get("passed"), score.metadata.get("verdict"), said]


def serve():
    """Answer until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(ORIGINALS[request["ask"]](*request["with"])), file=ANSWERS, flush=True)


serve()
