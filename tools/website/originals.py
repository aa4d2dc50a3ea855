"""The table of dialects: their pages, the tests of their scores, what these are held against, and a finding of each."""

import re
import tomllib
from itertools import groupby

from rubric_lint.formats.dialects import FAMILIES
from website.sources import ROOT

_ASKED = {
    "adk": ("google-adk",),
    "agentv": ("agentv",),
    "autoevals": ("autoevals",),
    "deepeval": ("deepeval",),
    "harbor": ("harbor-rewardkit",),
    "promptfoo": ("promptfoo",),
    "pydantic_evals": ("pydantic-evals",),
    "ragas": ("ragas",),
    "requirement": ("rubric", "autorubric"),
    "tolokaforge": ("tolokaforge",),
    "verifiers": ("verifiers",),
}
"""The packages whose scores `tests/formats/test_agreement.py` asks for, by the module of the dialect."""

_RESTATED = {
    "agent_skills": "`pass_rate` of the standard",
    "confident_ai": "GEval of `deepeval`, for bands from 0 to 10",
    "deepeval_data": "GEval of `deepeval`",
    "harbor_check": "no score there: the average here",
    "ai_rubric": "not scored here",
    "healthbench": "`healthbench_eval.py` of simple-evals",
    "hermes": "the average that its documentation states",
    "lightspeed": "GEval of `deepeval`, for bands from 0 to 10",
    "openai_evals": "`modelgraded/classify_utils.py` of OpenAI's evals",
    "paperbench": "`judge/graded_task_node.py` of PaperBench",
    "rar": "the paper",
    "reward_lens": "the average that its documentation states",
    "task_rubrics": "no published scorer: the points that can be earned",
    "tessl": "the share of points that Tessl reports",
    "swe_atlas": "`evaluate_rubrics.py` of SWE-Atlas",
    "trpc_agent": "`responsescorer/rubricresponse` of trpc-agent-go",
}
"""What the scores of the others are restated from."""

UNHELD = "nothing yet"
"""What the table says of a dialect that neither list names."""

_CASE = re.compile(r'^    "(?P<name>[a-z-]+)": [a-z_]+\(', re.MULTILINE)
_FINDING = re.compile(r"^\w+ (?P<rule>[\w-]+): .*\n +--> (?P<place>example\.\w+:\d+:\d+)$", re.MULTILINE)
_PIN = re.compile(r"([\w-]+)==([\w.]+)")
_NPM_PIN = re.compile(r"([\w-]+)@([\d.]+)")


def list_originals() -> str:
    """Return the table, a row for each page."""
    pins = _read_pins()
    drawn = _CASE.findall((ROOT / "tests/formats/restated_scores.py").read_text("utf-8").partition("CASES:")[2])
    rows = [_describe(module, [*dialects], drawn, pins) for module, dialects in _group()]
    head = "| dialect | scores tested as | held against | a finding on its page |"
    return "\n".join([head, "|---|---|---|---|", *rows])


def _group() -> list[tuple[str, list[str]]]:
    families = sorted(FAMILIES, key=lambda family: family.module)
    return [
        (module, [name for family in group for name in family.dialects])
        for module, group in groupby(families, lambda family: family.module)
    ]


def _describe(module: str, dialects: list[str], drawn: list[str], pins: dict[str, str]) -> str:
    name = ", ".join(f"`{dialect}`" for dialect in dialects)
    is_ours = [each for each in drawn if _belongs(each, dialects)]
    cases = ", ".join(f"`{case}`" for case in is_ours) or "our own rubrics"
    file = "formats/test_restated_scores" if is_ours else "scoring/test_score_properties"
    asked = ", ".join(f"{each} {pins[each]}" for each in _ASKED.get(module, ()))
    page = f"../../rubric_lint/formats/dialects/{module}.md"
    found = _FINDING.search((ROOT / "docs/development" / page).read_text("utf-8"))
    finding = f"`{found['place']} {found['rule']}`" if found else ""
    against = f"the original: {asked}" if asked else _RESTATED.get(module, UNHELD)
    return f"| [{name}]({page}) | [{cases}](../../tests/{file}.py) | {against} | {finding} |"


def _belongs(case: str, dialects: list[str]) -> bool:
    """Return whether a case is of one of these dialects: the longest name that it begins with is its dialect."""
    known = [name for family in FAMILIES for name in family.dialects if f"{case}-".startswith(f"{name}-")]
    return max(known, key=len, default="") in dialects


def _read_pins() -> dict[str, str]:
    """Return the releases that `make agreement` installs."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    npm = re.search("^NPM_ORIGINALS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    found = _PIN.findall("\n".join(groups["agreement"] + groups["rubrics"]))
    return dict(found + _NPM_PIN.findall(npm[1] if npm else ""))
