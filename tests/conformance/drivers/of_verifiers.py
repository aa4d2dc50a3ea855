"""Answer the conformance suite with the criteria and verdicts of `RubricJudge` in verifiers."""

import json
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

from protocol import refused, serve  # first, for it takes what the package prints
from verifiers.v1.judges.rubric import CriterionVerdict, load_criteria, score_verdicts

SCORES = [str(number) for number in range(11)]
WORDS = {True: "yes", False: "no"}
FIELDS = {"score_range": "score", "score_ranges": "score", "levels": "level"}


def write_criterion(entry):
    """Write a criterion in the words of verifiers: its answers from worst to best, evenly spaced."""
    written = {"name": entry["id"], "text": entry.get("expected_outcome", ""), "weight": entry.get("weight", 1)}
    if "score_ranges" in entry:
        written["choices"] = SCORES
    if "levels" in entry:
        written["choices"] = [str(level["level"]) for level in entry["levels"]]
    return written


def score(request):
    """Score the criteria; the reward is their weighted mean."""
    entries, output = request["rubric"], request["output"]
    if isinstance(output, str):
        return {"unsupported": "the judge answers in another form of JSON"}
    if all("score_range" in entry for entry in entries):
        criteria = [{"name": "case", "text": "", "choices": SCORES}]
        checks = [{"id": "case", **output}] if isinstance(output, dict) else []
    else:
        criteria = [write_criterion(entry) for entry in entries]
        checks = output.get("checks", [])
    if any("required_min_score" in entry for entry in entries):
        return {"unsupported": "there are rewards, no gates"}
    wanted = next((field for form, field in FIELDS.items() if form in entries[0]), "satisfied")
    words = [word(check, wanted) for check in checks]
    if None in words:
        return {"unsupported": "the judge answers with a word, and one for each criterion"}
    for entry in entries:
        numbers = [level["level"] for level in entry.get("levels", ())]
        if len({after - before for before, after in pairwise(numbers)}) > 1:
            return {"unsupported": "answers are evenly spaced"}
    Path("rubric.json").write_text(json.dumps(criteria), "utf-8")
    try:
        loaded = load_criteria(Path("rubric.json"))
        named = zip((check["id"] for check in checks), words, strict=True)
        verdicts = [CriterionVerdict(name=name, reason="", verdict=verdict) for name, verdict in named]
        scores = score_verdicts(verdicts, loaded, "the criteria")
    except Exception as fault:
        return refused(fault)
    total = sum(criterion.weight for criterion in loaded)
    return {"valid": True, "score": sum(criterion.weight * scores[criterion.name] for criterion in loaded) / total}


def word(check, wanted):
    """Return the answer of a check as the judge writes it, a text; None for what it could not write."""
    value = check.get(wanted)
    if check.keys() & {"satisfied", "score", "level"} != {wanted}:
        return None
    if isinstance(value, bool):
        return WORDS[value] if wanted == "satisfied" else None
    return str(value) if isinstance(value, int) and wanted != "satisfied" else None


def lint(_request):
    """Criteria of verifiers are files of another form."""
    return {"unsupported": "criteria are files of another form"}


serve("verifiers", version("verifiers"), lint=lint, score=score)
