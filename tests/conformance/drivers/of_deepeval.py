"""Answer the conformance suite with `GEval` of DeepEval; its judge is a model that returns the output of the case."""

import json
import os
import warnings
from importlib.metadata import version

from protocol import only_code, refused, serve  # first, for it takes what the package prints

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0", "DEEPEVAL_DISABLE_DOTENV": "1"}
warnings.simplefilter("ignore")

from deepeval.metrics import GEval
from deepeval.metrics.g_eval import Rubric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams


class Judge(DeepEvalBaseLLM):
    """A model that gives one answer."""

    def __init__(self, text):
        self.text = text

    def load_model(self):
        return self

    def generate(self, *_, **__):
        return self.text

    async def a_generate(self, *_, **__):
        return self.text

    def get_model_name(self):
        return "fixed"


def score(request):
    """Measure one scale: a holistic one, or that of the only criterion."""
    entries, output = request["rubric"], request["output"]
    if all("score_range" in entry for entry in entries):
        bands, text, gate = entries, output if isinstance(output, str) else json.dumps(output), None
    elif len(entries) > 1:
        return {"unsupported": "each criterion is a metric of its own; there is no average"}
    elif "score_ranges" not in entries[0]:
        return {"unsupported": "GEval has no levels and no checklist"}
    else:
        bands, gate = entries[0]["score_ranges"], entries[0].get("required_min_score")
        if isinstance(bands, dict):
            return {"unsupported": "bands are written with both bounds"}
        checks = output.get("checks") if isinstance(output, dict) else None
        if not checks or len(checks) > 1:
            return {"unsupported": "the judge of a metric gives one score"}
        text = json.dumps(checks[0])
    threshold = max(0.8, (gate or 0) / 10)
    try:
        metric = GEval(
            name="case",
            evaluation_steps=["Judge the answer."],
            evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
            rubric=[Rubric(**band) for band in bands],
            model=Judge(text.replace('"reasoning"', '"reason"') if '"reasoning"' in text else add_reason(text)),
            threshold=threshold,
            async_mode=False,
        )
        metric.measure(LLMTestCase(input="i", actual_output="o"), _show_indicator=False)
    except Exception as fault:
        return refused(fault)
    return {"valid": True, "score": metric.score, "passes": metric.is_successful()}


def add_reason(text):
    """Add the reason that GEval asks for to an object that gives none."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return json.dumps({**value, "reason": ""}) if isinstance(value, dict) else text


serve("DeepEval", version("deepeval"), lint=only_code, score=score)
