"""Answer the conformance suite with `RubricsScore` of Ragas; its judge returns the level of the case."""

import asyncio
import json
import os
import warnings
from importlib.metadata import version

from protocol import only_code, refused, serve  # first, for it takes what the package prints

os.environ |= {"RAGAS_DO_NOT_TRACK": "true", "HF_HUB_OFFLINE": "1"}
warnings.simplefilter("ignore")

from langchain_core.outputs import Generation, LLMResult
from ragas import SingleTurnSample
from ragas.llms import BaseRagasLLM
from ragas.metrics import RubricsScore


class Judge(BaseRagasLLM):
    """A model that gives one answer."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def generate_text(self, *_, **__):
        return LLMResult(generations=[[Generation(text=self.text)]])

    async def agenerate_text(self, *_, **__):
        return self.generate_text()

    def is_finished(self, _):
        return True


def score(request):
    """Score the levels of the only criterion."""
    entries, output = request["rubric"], request["output"]
    if len(entries) > 1 or "levels" not in entries[0]:
        return {"unsupported": "a metric is one scale of levels"}
    (check,) = output["checks"]
    if "level" not in check:
        return {"unsupported": "the judge of a metric gives a level"}
    rubrics = {f"score{level['level']}_description": level["expected_outcome"] for level in entries[0]["levels"]}
    text = json.dumps({"feedback": "", "score": check["level"]})
    try:
        metric = RubricsScore(name="case", rubrics=rubrics, llm=Judge(text))
        level = asyncio.run(metric.single_turn_ascore(SingleTurnSample(user_input="i", response="o")))
    except Exception as fault:
        return refused(fault)
    return {"valid": True, "score": level}


serve("Ragas", version("ragas"), lint=only_code, score=score)
