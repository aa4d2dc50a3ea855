"""What DeepEval, Ragas, verifiers, promptfoo and AgentV themselves make of our exports, and of what we refuse.

`make agreement` installs them, each release pinned. No network: telemetry and update checks are off, and the judge is a
model that says what it is told to.
"""

import json
import os
import random
import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import commands
import pytest
from cases import read_cases
from exports import load, write
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_rubrics import SHAPES, bands
from restated_scores import CASES
from ruamel.yaml import YAML

from rubric_lint.convert.export.texts import to_yaml
from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.criterion import Shape
from rubric_lint.model.finding import Severity
from rubric_lint.scoring.grading import JudgeOutput, Verdict
from rubric_lint.scoring.loading import RubricError, load_rubrics, prepare

TABLES = read_cases(__file__)


pytestmark = pytest.mark.originals

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
QUIET = TABLES["QUIET"]


def installed(folder, program):
    if not any((CACHE / folder).glob("installed*")):
        pytest.skip("`make agreement` installs what this asks")
    return CACHE / folder / program


@pytest.fixture(scope="module")
def ask():
    """Asks DeepEval, Ragas and verifiers, which stay loaded."""
    yield from keep_asking("agreement")


@pytest.fixture(scope="module")
def ask_readers():
    """Asks Google ADK, pydantic-evals, rubric, autorubric, tolokaforge and autoevals."""
    yield from keep_asking("rubrics")


def keep_asking(folder):
    python = installed(folder, "bin/python")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | QUIET
    with subprocess.Popen(
        [python, Path(__file__).with_name("originals.py")],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:

        def question(name, *arguments):
            process.stdin.write(json.dumps({"ask": name, "with": arguments}) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer, f"{name} failed: run tests/formats/originals.py by hand"
            return json.loads(answer)

        yield question
        process.stdin.close()


law = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


# DeepEval

bounds = st.integers(-2, 12) | st.sampled_from([0.5, 2.5, 7.0])
any_bands = st.lists(st.tuples(bounds, bounds).map(list), min_size=1, max_size=5) | bands().map(
    lambda entries: [entry["score_range"] for entry in entries]
)


scales = st.one_of(SHAPES["holistic"], SHAPES["score_ranges"])


@law
@given(scales, st.integers(0, 10))
def test_deepeval_takes_our_metrics_with_our_bands_and_our_score(ask, entries, score):
    rubric = load(entries)
    measured = ask("measure", write("deepeval", rubric).text, score)
    named = ["r"] if rubric.shape is Shape.HOLISTIC else [criterion.id for criterion in rubric.criteria]
    assert [metric["name"] for metric in measured] == named
    for metric, scale, ours in zip(measured, rubric.scales, prepare(rubric, "r").criteria, strict=True):
        ranges = sorted(([band.scores[0], band.scores[-1]], band.outcome) for band in scale.bands)
        assert [tuple(band) for band in metric["bands"]] == ranges
        grade = ours.grade(score)
        assert metric["score"] == float(grade.score)


@law
@given(scales, st.integers(0, 10))
def test_in_deepeval_passes_what_passes_here_and_fails_what_misses_a_gate(ask, entries, score):
    rubric = load(entries)
    scoring = prepare(rubric, "r")
    count = len(scoring.criteria)
    ours = scoring.grade(JudgeOutput((score,) * count, (None,) * count))
    passes = all(metric["passes"] for metric in ask("measure", write("deepeval", rubric).text, score))
    if count == 1:
        assert passes == (ours.verdict is Verdict.PASS)
    else:
        assert passes == all(criterion.grade.gate_met for criterion in ours.criteria)


SOURCE = """\
from deepeval.metrics import ConversationalGEval, GEval
from deepeval.metrics.g_eval import Rubric as RubricBand
from deepeval.test_case import MultiTurnParams, SingleTurnParams


def make_metrics(model=None):
    params = [{params}]
    return [{metric}(
        name="n", evaluation_steps=["s"], evaluation_params=params, model=model, threshold={threshold}, rubric=(
{bands}    ))]
"""
CLASSES = {"GEval": "SingleTurnParams.ACTUAL_OUTPUT", "ConversationalGEval": "MultiTurnParams.CONTENT"}
UNCOVERED = FileSettings(severities={"coverage": Severity.WARNING})


@law
@given(any_bands, st.sampled_from(sorted(CLASSES)), st.integers(0, 10), st.sampled_from(["0", "0.5", "0.7", "1"]))
def test_what_deepeval_makes_of_python_we_make_of_it(ask, ranges, metric, score, threshold):
    bands = "".join(
        f"        RubricBand(score_range=({low}, {high}), expected_outcome='o{low}'),\n" for low, high in ranges
    )
    source = SOURCE.format(metric=metric, params=CLASSES[metric], threshold=threshold, bands=bands)
    theirs = ask("measure_written", source, score)
    errors = {finding.rule for finding in lint("m.py", source.encode()).findings if finding.severity == "error"}
    if theirs.keys() & {"refused", "divides"}:
        assert errors & {"bounds", "overlap", "coverage"}
    elif errors <= {"coverage"}:
        (ours,) = load_rubrics("m.py", source.encode(), UNCOVERED).values()
        grade = next((grade for grade in ours.criteria[0].grades if grade.answer == score), None)
        assume(grade is not None)
        verdict = ours.grade(JudgeOutput((score,), (None,))).verdict
        assert (theirs["score"], theirs["passes"]) == (float(grade.score), verdict is Verdict.PASS)


@law
@given(SHAPES["checklist"], st.booleans())
def test_deepeval_asks_our_checklist_and_passes_what_misses_no_gate(ask, entries, is_met):
    rubric = load(entries)
    answered = ask("measure", write("deepeval", rubric).text, int(is_met))
    assert [(metric["name"], metric["asked"]) for metric in answered] == [
        (criterion.id, [criterion.outcome]) for criterion in rubric.criteria
    ]
    scoring = prepare(rubric, "r")
    count = len(scoring.criteria)
    ours = scoring.grade(JudgeOutput((is_met,) * count, (None,) * count))
    assert [metric["score"] for metric in answered] == [float(criterion.grade.score) for criterion in ours.criteria]
    passes = all(metric["passes"] for metric in answered)
    if count == 1:
        assert passes == (ours.verdict is Verdict.PASS)
    else:
        assert passes == all(criterion.grade.gate_met for criterion in ours.criteria)


# Ragas


@law
@given(SHAPES["levels"], st.randoms())
def test_ragas_builds_the_metric_and_its_level_is_worth_what_the_document_says(ask, entries, chance):
    entry = chance.choice(entries)
    rubric = load([{**entry, "weight": "1"}])
    dictionary = json.loads(write("ragas", rubric).text)
    level = chance.choice(entry["levels"])["level"]
    answer = ask("rubrics_score", dictionary, level)
    numbers = sorted(level["level"] for level in entry["levels"])
    for each in entry["levels"]:
        assert f"score{each['level']}_description: {each['expected_outcome']}" in answer["told"]
    ours = prepare(rubric, "r").criteria[0].grade(level)
    assert answer["score"] == level
    assert float(ours.score) == (level - numbers[0]) / (numbers[-1] - numbers[0])


@law
@given(SHAPES["checklist"], st.booleans())
def test_ragas_asks_our_checklist(ask, entries, is_met):
    rubric = load(entries)
    answer = ask("aspect_critics", json.loads(write("ragas", rubric).text), is_met)
    assert answer["scores"] == {criterion.id: int(is_met) for criterion in rubric.criteria}
    for criterion, told in zip(rubric.criteria, answer["told"], strict=True):
        assert f"Criteria Definition: {criterion.outcome}" in told


# verifiers


names = st.sampled_from(["a", "b", "c", "d e", ""])
choices = st.lists(st.sampled_from(["no", "half", "yes", ""]), min_size=1, max_size=3)
entries = st.fixed_dictionaries(
    {"name": names, "text": st.sampled_from(["Names it", "Says why"])},
    optional={"weight": st.sampled_from([0, 1, 2.5, -1]), "choices": choices},
)


@law
@given(st.lists(entries, min_size=1, max_size=3), st.randoms())
def test_what_verifiers_makes_of_toml_we_make_of_it(ask, criteria, chance):
    text = "".join(
        "[[criteria]]\n" + "".join(f"{key} = {json.dumps(criterion[key])}\n" for key in criterion)
        for criterion in criteria
    )
    assume(any(criterion.keys() & {"weight", "choices"} for criterion in criteria))
    told = {criterion["name"]: chance.choice(criterion.get("choices", ["no", "yes"])) for criterion in criteria}
    theirs = ask("reward", text, told, "rubric.toml")
    errors = [finding for finding in lint("rubric.toml", text.encode()).findings if finding.severity == "error"]
    if isinstance(theirs, dict):
        assert errors
    elif not errors:
        (ours,) = load_rubrics("rubric.toml", text.encode()).values()
        has_levels = any("choices" in criterion for criterion in criteria)
        ranks = [criterion.get("choices", ["no", "yes"]).index(told[criterion["name"]]) for criterion in criteria]
        answers = tuple(rank if has_levels else bool(rank) for rank in ranks)
        score = ours.grade(JudgeOutput(answers, (None,) * len(answers))).score
        assert theirs == pytest.approx(float(score), abs=1e-12)


# Harbor


tables = st.fixed_dictionaries(
    {"description": st.sampled_from(["Names it", "Says why", "名", "Ends well"])},
    optional={
        "type": st.sampled_from(["binary", "likert", "rubric", "numeric"]),
        "name": st.sampled_from(["a", "b", "c d"]),
        "weight": st.sampled_from([0, 1, 2.5, -1]),
        "points": st.sampled_from([1, 3, 5]),
        "levels": st.sampled_from([["x"], ["Names none", "Names all"], ["Names none", "Names one", "Names all"]]),
        "min": st.sampled_from([0, 2]),
        "max": st.sampled_from([1, 4]),
        "negate": st.booleans(),
        "optional": st.booleans(),
        "wieght": st.just(1),
    },
)
means = st.sampled_from(["weighted-mean", "weighted_mean", "weighted-sum", "all-pass", "required-pass", "mean"])
scorings = st.fixed_dictionaries({}, optional={"aggregation": means})
KEYS = {"points": "likert", "levels": "rubric", "min": "numeric", "max": "numeric"}


@settings(law, max_examples=150)
@given(st.lists(tables, min_size=1, max_size=3), scorings, st.booleans(), st.randoms())
def test_what_harbor_makes_of_a_judge_file_we_make_of_it(ask, criteria, scoring, is_tidy, chance):
    if is_tidy:  # without what the original ignores in silence, and we do not
        criteria = [
            {key: criterion[key] for key in criterion if KEYS.get(key, criterion.get("type")) == criterion.get("type")}
            for criterion in criteria
        ]
    parts = [*(("[[criterion]]", criterion) for criterion in criteria), *([("[scoring]", scoring)] if scoring else [])]
    text = "".join(f"{head}\n" + "".join(f"{key} = {json.dumps(part[key])}\n" for key in part) for head, part in parts)
    ranks = [chance.randrange(size_of(criterion)) for criterion in criteria]
    theirs = ask("judged", text, [raw_of(criterion, rank) for criterion, rank in zip(criteria, ranks, strict=True)])
    if theirs is None:
        pytest.skip("rewardkit is not installed: it needs Python 3.12")
    result = lint("judge.toml", text.encode())
    assert result.rubrics == 1
    if "refused" in theirs:
        assert any(finding.severity == "error" for finding in result.findings)
        return
    try:
        (ours,) = load_rubrics("judge.toml", text.encode()).values()
    except RubricError:
        return
    answers = []
    for each, rank, criterion in zip(criteria, ranks, ours.criteria, strict=True):
        grades = criterion.grades
        answers.append(grades[len(grades) - 1 - rank if each.get("negate") else rank].answer)
    score = ours.grade(JudgeOutput(tuple(answers), (None,) * len(answers))).score
    assert theirs["score"] == pytest.approx(float(score), abs=1e-12)


def size_of(criterion):
    """How many answers a criterion has."""
    sizes = {"likert": criterion.get("points", 5), "rubric": len(criterion.get("levels", [0]))}
    return sizes.get(criterion.get("type"), 2)


def raw_of(criterion, rank):
    """The answer of this rank, as the judge gives it."""
    if criterion.get("type") in {"likert", "rubric", "numeric"}:
        return rank + (criterion["type"] == "likert")
    return ["no", "yes"][rank]


# Lists of criteria

ADK_ENTRIES = TABLES["ADK_ENTRIES"]


@pytest.mark.parametrize("entry", ADK_ENTRIES)
def test_what_adk_refuses_we_refuse(ask_readers, entry):
    sound = {"rubric_id": "sound", "rubric_content": {"text_property": "Names a source"}}
    config = {"criteria": {"m": {"threshold": 0.8, "rubrics": [sound, entry]}}}
    found = lint("eval_config.json", json.dumps(config).encode()).findings
    assert ask_readers("adk", entry) == (not found)


DATA_SETS = TABLES["DATA_SETS"]


@pytest.mark.parametrize(("judge", "is_sound"), DATA_SETS.items())
def test_what_pydantic_evals_refuses_we_refuse(ask_readers, judge, is_sound):
    text = f"name: d\ncases:\n  - name: a\n    inputs: x\n    evaluators:\n      - {judge}\n"
    found = lint("data.yaml", text.encode()).findings
    assert (ask_readers("pydantic_evals", text), not found) == (is_sound, is_sound)


def test_tolokaforge_refuses_the_id_that_we_refuse(ask_readers):
    criteria = [{"id": "not-safe", "description": "Names part 1", "weight": 1, "required": False}]
    found = lint("grading.json", json.dumps({"llm_judge": {"rubric": {"criteria": criteria}}}).encode()).findings
    assert (ask_readers("tolokaforge", {"criteria": criteria}, [True]), len(found)) == (None, 1)


def answer_by_chance(rubric, chance):
    """The rank of an answer to each criterion, from the worst to the best, and our result for these."""
    scoring = prepare(rubric, "r")
    ranked = [sorted(criterion.grades, key=lambda each: each.score) for criterion in scoring.criteria]
    ranks = [chance.randrange(len(grades)) for grades in ranked]
    answers = tuple(grades[rank].answer for grades, rank in zip(ranked, ranks, strict=True))
    return ranks, scoring.grade(JudgeOutput(answers, (None,) * len(answers)))


def answer_in_words(rubric, chance):
    """The answer to each criterion as a judge of a written scorer gives it, and our result for these."""
    ranks, ours = answer_by_chance(rubric, chance)
    ranked = [sorted(criterion.grades, key=lambda grade: grade.score) for criterion in prepare(rubric, "r").criteria]
    answers = [grades[rank].answer for grades, rank in zip(ranked, ranks, strict=True)]
    return [{True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer) for answer in answers], ours


def texts_of(rubric):
    """The texts of the criteria, or of the bands of a holistic scale."""
    scales = [band.outcome for scale in rubric.scales for band in scale.bands]
    levels = [level.outcome for criterion in rubric.criteria for level in criterion.levels or ()]
    return [*scales, *levels, *(criterion.outcome for criterion in rubric.criteria if criterion.outcome)]


@settings(law, max_examples=15)
@given(st.one_of(*SHAPES.values()), st.randoms())
def test_inspect_scores_our_scorer_as_we_do(ask_readers, entries, chance):
    rubric = load(entries)
    answers, ours = answer_in_words(rubric, chance)
    found = ask_readers("inspect_scores", write("inspect", rubric).text, answers)
    if found is None:
        pytest.skip("inspect-ai is not installed")
    *scores, told = found
    assert scores == [float(ours.score), float(ours.verdict is Verdict.PASS), str(ours.verdict)]
    assert all(any(text in each for each in told) for text in texts_of(rubric))


def test_inspect_gives_no_score_for_an_answer_that_the_rubric_does_not_have(ask_readers):
    rubric = load([{"id": name, "levels": {"0": f"No {name}", "7": f"All {name}"}} for name in "ab"])
    for answers in (["7.5", "7"], ["7", "yes"], ["5", "7"], ["7", ""]):
        found = ask_readers("inspect_scores", write("inspect", rubric).text, answers)
        if found is None:
            pytest.skip("inspect-ai is not installed")
        assert found[2] is None


RESTATED = TABLES["RESTATED"]
"""The dialects whose scores `restated_scores.py` restates, and the question that gives that of the original."""


def ask_score(ask, ask_readers, dialect, case, ranks):
    """The score of the original, and whether the answer passes."""
    question, told = RESTATED[dialect], case.replies(ranks)
    if dialect == "verifiers":
        return [ask(question, case.text, told, case.name), None]
    if dialect == "harbor":
        found = ask(question, case.text, told)
        if found is None:
            pytest.skip("rewardkit is not installed: it needs Python 3.12")
        return [found["score"], None]
    return ask_readers(question, case.text, told)


@pytest.mark.parametrize("dialect", sorted(RESTATED))
@law
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_the_restated_score_is_that_of_the_original(ask, ask_readers, dialect, data, chance):
    case = data.draw(CASES[dialect])
    assume(case.is_scored)
    ranks = [chance.randrange(count) for count in case.counts]
    score, passes = case.score(ranks)
    if dialect == "autoevals":  # levels go from 0 to 1 here, as the page says
        values = json.loads(case.text)["fact"]["choice_scores"].values()
        score = min(values) + float(score) * (max(values) - min(values))
    if dialect == "tolokaforge" and all(criterion.get("required") for criterion in read_criteria(case)):
        score = int(bool(passes) or all(ranks))  # 1 or 0 there, a share here, as the page says
    theirs = ask_score(ask, ask_readers, dialect, case, ranks)
    assert theirs[0] == pytest.approx(float(score), abs=1e-12)
    assert passes is None or theirs[1] == passes


def read_criteria(case):
    return json.loads(case.text)["llm_judge"]["rubric"]["criteria"]


# AgentV and promptfoo


def draw_some(strategy, count):
    """Random rubrics, the same every time; these programs take seconds a call, so they get many at once."""
    found = []

    @settings(max_examples=count, derandomize=True, database=None, deadline=None)
    @given(strategy)
    def collect(entries):
        found.append(entries)

    collect()
    return found[:count]


def run(program, *arguments, folder):
    environment = os.environ | QUIET | {"PROMPTFOO_CONFIG_DIR": str(folder / "config")}
    return commands.run_process(["node", program, *arguments], cwd=folder, env=environment, timeout=600)


@pytest.fixture
def agentv(tmp_path):
    """The program, in a folder that it takes for a project."""
    program = installed("originals", "node_modules/agentv/dist/cli.js")
    commands.run_git("init", "--quiet", tmp_path)
    (tmp_path / ".agentv").mkdir()
    (tmp_path / ".agentv/targets.yaml").write_text("targets:\n  - name: default\n    provider: mock\n", "utf-8")
    return lambda *arguments: run(program, *arguments, folder=tmp_path)


def test_agentv_validates_our_tests(agentv, tmp_path):
    drawn = draw_some(st.one_of(SHAPES["checklist"], SHAPES["score_ranges"]), 30)
    (tmp_path / "suite.eval.yaml").write_bytes(write("agentv-4", *map(load, drawn)).text.encode())
    done = agentv("validate", "suite.eval.yaml")
    assert (done.returncode, "Valid: 1" in done.stdout, done.stdout.count("⚠")) == (0, True, 0), done.stdout


def test_agentv_reads_the_criteria_that_we_wrote(agentv, tmp_path):
    drawn = [load(entries) for entries in draw_some(st.one_of(SHAPES["checklist"], SHAPES["score_ranges"]), 30)]
    (tmp_path / "suite.eval.yaml").write_bytes(write("agentv-4", *drawn).text.encode())
    done = agentv("pipeline", "input", "suite.eval.yaml", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    for number, rubric in enumerate(drawn, 1):
        (grader,) = (tmp_path / f"out/suite/r{number}/llm_graders").glob("*.json")
        read = json.loads(grader.read_text("utf-8"))["rubrics"]
        assert read == [as_agentv_reads(criterion) for criterion in rubric.criteria]


def test_agentv_reads_the_texts_among_assertions_as_one_rubric(agentv, tmp_path):
    entries = ["Mentions the pivot", {"type": "contains", "value": "pivot"}, " ", "Says why"]
    case = {"id": "one", "input": "Why?", "criteria": "Explains it", "assertions": entries}
    (tmp_path / "suite.eval.yaml").write_text(json.dumps({"tests": [case]}), "utf-8")
    done = agentv("pipeline", "input", "suite.eval.yaml", "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    (grader,) = (tmp_path / "out/suite/one/llm_graders").glob("*.json")
    entries.remove(" ")  # which it leaves out, with a warning
    (rubric,) = load_rubrics("suite.json", json.dumps({"tests": [case]}).encode()).values()
    expected = [as_agentv_reads(criterion) for criterion in rubric.model.entries]
    assert json.loads(grader.read_text("utf-8"))["rubrics"] == expected


def as_agentv_reads(criterion):
    """A criterion in the words of AgentV's graders, whose gates count to 10."""
    told = {"id": criterion.id, "weight": float(criterion.weight)}
    if criterion.outcome is not None:
        told["outcome"] = criterion.outcome
    if criterion.scale is None:
        return {**told, "required": bool(criterion.gate)}
    if criterion.gate:
        told["required_min_score"] = criterion.gate
    ranges = [{"score_range": [b.scores[0], b.scores[-1]], "outcome": b.outcome} for b in criterion.scale.bands]
    return {**told, "score_range": ranges}


GRADER = """\
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt) {
    require('fs').appendFileSync('told.jsonl', JSON.stringify(prompt) + '\\n');
    return { output: JSON.stringify({ score: 0.7, reason: 'told so' }) };
  }
};
"""


@pytest.fixture
def promptfoo(tmp_path):
    """Calls promptfoo with a configuration and a grader, and returns the results in the order of the tests."""
    program = installed("originals", "node_modules/promptfoo/dist/src/main.js")

    def evaluate(config, grader, *, valid=False):
        head = {"prompts": ["p"], "providers": ["echo"], **config}
        head["defaultTest"] = {"options": {"provider": "file://grader.cjs"}, **config.get("defaultTest", {})}
        (tmp_path / "grader.cjs").write_text(grader, "utf-8")
        (tmp_path / "promptfooconfig.yaml").write_text(json.dumps(head), "utf-8")
        if valid:
            done = run(program, "validate", "-c", "promptfooconfig.yaml", folder=tmp_path)
            assert (done.returncode, "Configuration is valid." in done.stdout) == (0, True), done.stdout + done.stderr
        options = ("--no-write", "--no-cache", "--no-progress-bar", "-j", "1", "-o", "out.json")
        done = run(program, "eval", *options, folder=tmp_path)
        assert (tmp_path / "out.json").exists(), done.stdout + done.stderr
        results = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]["results"]
        return sorted(results, key=lambda each: each["testIdx"])

    return evaluate


def test_promptfoo_validates_our_tests_and_holds_to_their_threshold(promptfoo):
    drawn = [load(entries) for entries in draw_some(st.one_of(*SHAPES.values()), 12)]
    lenient = FileSettings(claimed=True, pass_at=drawn[0].thresholds.borderline_at)
    drawn.append(load([{"score_range": [0, 10], "expected_outcome": "x"}], settings=lenient))
    results = promptfoo(YAML(typ="safe").load(write("promptfoo", *drawn).text), GRADER, valid=True)
    # The grader gives 0.7: too little for 0.8, enough for 0.6; without a threshold all would pass.
    assert [result["success"] for result in results] == [*[False] * 12, True]


def test_promptfoo_scores_a_checklist_that_we_write_as_we_do(promptfoo):
    """As we score the rubric, and as we score what we read of the file that we wrote."""
    chance = random.Random(7)  # noqa: S311 (the same checklists every time)
    drawn = []
    for is_gated in (False, False, False, True) * 10:
        met = [chance.random() < 0.7 for _ in range(chance.randint(2, 6))]
        entries = [
            {
                "expected_outcome": f"Names part {at} {'[yes]' if each else '[no]'}",
                "weight": chance.choice([0.1, 1, 2, 7]),
            }
            | ({"required_min_score": 10} if is_gated else {})
            for at, each in enumerate(met)
        ]
        drawn.append((load(entries), tuple(met)))
    written = write("promptfoo", *(rubric for rubric, _ in drawn))
    theirs = promptfoo(YAML(typ="safe").load(written.text), BY_MARK, valid=True)
    back = load_rubrics("promptfooconfig.yaml", written.text.encode())
    said = [(each["success"], pytest.approx(each["score"])) for each in theirs]
    for rubrics in ([prepare(rubric, "r") for rubric, _ in drawn], [*back.values()]):
        scored = [
            rubric.grade(JudgeOutput(met, (None,) * len(met))) for rubric, (_, met) in zip(rubrics, drawn, strict=True)
        ]
        assert [(each.verdict is Verdict.PASS, float(each.score)) for each in scored] == said
    assert {passes for passes, _ in said} == {True, False}


BY_SCORE = """\
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt) {
    const score = Number(/\\[is ([\\d.]+)\\]/.exec(prompt)[1]);
    return { output: JSON.stringify({ score, pass: score > 0.5, reason: 'told so' }) };
  }
};
"""


def test_promptfoo_scores_ranges_and_levels_that_we_write_as_we_do(promptfoo):
    """The grader gives each scale of its own the score that its text has."""
    chance = random.Random(7)  # noqa: S311 (the same rubrics every time)
    drawn = []
    for has_levels in (False, False, True) * 15:
        entries, answers = [], []
        for at in range(chance.randint(2, 5)):
            answers.append(chance.choice([1, 2, 3, 5] if has_levels else range(11)))
            worth = (answers[-1] - 1) / 4 if has_levels else answers[-1] / 10
            weight = chance.choice([0.1, 1, 2, 7])
            entry = {"id": f"c{at}", "expected_outcome": f"Part {at} [is {worth}]", "weight": weight}
            steps = {str(each): f"Names {each} parts" for each in ([1, 2, 3, 5] if has_levels else [0, 4, 9])}
            entries.append(entry | {"levels" if has_levels else "score_ranges": steps})
        drawn.append((load(entries), tuple(answers)))
    written = write("promptfoo", *(rubric for rubric, _ in drawn))
    assert all("`borderline`" in str(loss) for loss in written.losses)  # promptfoo has only pass and fail
    theirs = promptfoo(YAML(typ="safe").load(written.text), BY_SCORE, valid=True)
    scored = [prepare(rubric, "r").grade(JudgeOutput(answers, (None,) * len(answers))) for rubric, answers in drawn]
    assert [pytest.approx(float(each.score), abs=1e-12) for each in scored] == [each["score"] for each in theirs]
    # promptfoo compares in floating point, so only there it may fail what has exactly the score that passes.
    decided = [(ours, each) for ours, each in zip(scored, theirs, strict=True) if ours.score != Fraction(4, 5)]
    assert [ours.verdict is Verdict.PASS for ours, _ in decided] == [each["success"] for _, each in decided]
    assert {each["success"] for each in theirs} == {True, False}
    back = load_rubrics("promptfooconfig.yaml", written.text.encode())
    assert len(back) == sum(len(answers) for _, answers in drawn)  # each scale comes back as a rubric of its own


TEXTS = TABLES["TEXTS"]
SAYS = """\
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt) {
    const met = !prompt.includes(' is not');
    return { output: JSON.stringify({ pass: met, score: met ? 1 : 0, reason: 'told so' }) };
  }
};
"""


def test_promptfoo_counts_its_texts_as_we_do(promptfoo):
    theirs = [(each["success"], each["score"]) for each in promptfoo(YAML(typ="safe").load(TEXTS), SAYS)]
    sound = TEXTS.replace(", threshold: 7", "")
    ours = []
    for rubric in load_rubrics("promptfooconfig.yaml", sound.encode()).values():
        answers = tuple("not" not in (criterion.outcome or "") for criterion in rubric.criteria)
        scored = rubric.grade(JudgeOutput(answers, (None,) * len(answers)))
        ours.append((scored.verdict is Verdict.PASS, float(scored.score)))
    assert theirs[:4] == ours[:4] == [(True, 1.0), (False, 0.25), (True, 0.25), (True, 0.75)]
    assert theirs[4][0] is False  # a score of 1 is below 7
    rules = [found.rule for found in lint("promptfooconfig.yaml", TEXTS.encode()).findings]
    assert rules == ["negated-penalty", "duplicate-criterion", "schema"]


BY_MARK = """\
module.exports = class {
  id() { return 'grader'; }
  async callApi(prompt, { prompt: { label } }) {
    const met = !prompt.includes('[no]');
    if (label === 'model-graded-closedqa') return { output: met ? 'Y' : 'N' };
    const score = met ? (label.startsWith('g-eval') ? 10 : 1) : 0;
    return { output: JSON.stringify({ steps: ['a'], category: met ? 'C' : 'D', pass: met, score, reason: 'x' }) };
  }
};
"""


def test_promptfoo_counts_random_texts_as_restated(promptfoo):
    """Each text says whether its judge is to say yes; a set and a threshold of `defaultTest` are in the draw."""
    drawn = [case for case in draw_some(CASES["promptfoo"], 150) if case.is_scored]
    expected = {}
    for number, case in enumerate(drawn):
        config = json.loads(case.text)
        (test,) = config["tests"]
        ranks = [(number * 7 + at * 5) % 3 > 0 for at in range(len(case.counts))]
        held = test["assert"][0]["assert"] if test["assert"][0]["type"] == "assert-set" else test["assert"]
        for each, is_met in zip(held, ranks, strict=True):
            each["value"] += " [yes]" if is_met else " [no]"
            each["type"] = each["type"].replace("agent-rubric", "llm-rubric")  # it needs a provider with tools
        usual = config.get("defaultTest", {}).get("threshold")
        expected.setdefault(usual, []).append((test, case.score(ranks)))
    for usual, tests in expected.items():
        shared = {} if usual is None else {"defaultTest": {"threshold": usual}}
        results = promptfoo({"tests": [test for test, _ in tests], **shared}, BY_MARK)
        for (test, (score, passes)), theirs in zip(tests, results, strict=True):
            is_set = test["assert"][0]["type"] == "assert-set"
            found = theirs["gradingResult"]["componentResults"][0] if is_set else theirs
            said = found["pass" if is_set else "success"], found["score"]
            assert said == (passes, pytest.approx(float(score))), test


def test_promptfoo_ignores_not_before_types_that_it_never_turns(promptfoo):
    checks = [{"type": kind, "value": "It is [yes]"} for kind in ("not-factuality", "not-model-graded-closedqa")]
    config = {"prompts": ["p"], "providers": ["echo"], "tests": [{"vars": {"q": "x"}, "assert": checks}]}
    findings = lint("promptfooconfig.json", json.dumps(config).encode()).findings
    assert [finding.code for finding in findings] == ["schema.ignored-negation"] * 2
    (result,) = promptfoo(config, BY_MARK)
    assert (result["success"], result["score"]) == (True, 1)  # both are met


HOSTILE = [
    "{{ a }}", "{{ env.HOME | upper }}", "{{ env.SECRET }}", "{% if x %}", "{% endraw %}", "a #} b", "{#}",
    "{% raw %}{{ a }}{% endraw %}", "{# gone #}", "{{{ a }}}", "{{% a %}}", '{{ "{{" }}', "file://package.json",
    "{{ range.constructor('return 7')() }}", "a }} b {{ c", "<b> & \"q\" 'r' \\\\ x",
]  # fmt: skip


def test_promptfoo_tells_its_grader_every_text_as_it_is_written(promptfoo, tmp_path):
    rubrics = [load([{"id": "a", "expected_outcome": text}]) for text in HOSTILE]
    config = YAML(typ="safe").load(write("promptfoo", *rubrics).text)
    config["defaultTest"] = {"vars": {"a": "FILLED IN", "x": 1}}
    promptfoo({**config, "env": {"SECRET": "TOLD"}}, GRADER)
    told = [json.loads(line) for line in (tmp_path / "told.jsonl").read_text("utf-8").splitlines()]
    for text in HOSTILE:
        written = to_yaml({"rubrics": [{"id": "a", "expected_outcome": text}]})
        assert any(json.dumps(written, ensure_ascii=False)[1:-1] in prompt for prompt in told), text


SUITE = TABLES["SUITE"]


def convert_file(name, target, folder):
    done = commands.run("rubric-lint", "convert", name, "--to", target, cwd=folder)
    return YAML(typ="safe").load(done.stdout)


def test_promptfoo_asks_and_checks_what_a_suite_of_agentv_does(promptfoo, tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    results = promptfoo(convert_file("suite.yaml", "promptfoo", tmp_path), GRADER.replace("0.7", "1"))
    asked = {
        result["testIdx"]: (result["response"]["output"], result["success"], result["score"]) for result in results
    }
    messages = json.dumps([{"role": "user", "content": 'Hi "you" {{ x }}'}])
    assert asked == {0: ("Can I now have {{ other }} {% if x %} #} it?", True, 1), 1: (messages, True, 1)}


def test_agentv_loads_and_asks_what_a_suite_of_promptfoo_does(agentv, tmp_path):
    config = {
        "prompts": ["Summarise: {{article}}"],
        "tests": [
            {
                "description": "tower",
                "vars": {"article": "Finished in 1889."},
                "assert": [
                    {"type": "contains", "value": "1889"},
                    {"type": "not-icontains", "value": '{{ "{{" }}x}}'},
                    {"type": "llm-rubric", "value": "Names the year"},
                ],
            }
        ],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config), "utf-8")
    written = convert_file("promptfooconfig.json", "agentv-4", tmp_path)
    (tmp_path / "suite.eval.yaml").write_text(json.dumps(written), "utf-8")
    valid = agentv("validate", "suite.eval.yaml")
    assert (valid.returncode, "Valid: 1" in valid.stdout, valid.stdout.count("⚠")) == (0, True, 0), valid.stdout
    assert agentv("pipeline", "input", "suite.eval.yaml", "--out", "out").returncode == 0
    asked = json.loads((tmp_path / "out/suite/tower/input.json").read_text("utf-8"))
    assert asked["input"] == [{"role": "user", "content": "Summarise: Finished in 1889."}]
    graders = [
        json.loads(each.read_text("utf-8")) for each in (tmp_path / "out/suite/tower/code_graders").glob("*.json")
    ]
    assert sorted((grader["type"], grader["value"], grader.get("negate", False)) for grader in graders) == [
        ("contains", "1889", False),
        ("icontains", "{{x}}", True),
    ]


# lightspeed-evaluation is on no registry; its checks, as its models and their tests state them, are restated here.


def refusals_of_lightspeed(metric):
    """Why lightspeed-evaluation would refuse a metric, nothing for one that it takes."""
    bands = metric.get("rubrics") or []
    ranges = sorted(band["score_range"] for band in bands)
    known = {"criteria", "evaluation_params", "evaluation_steps", "rubrics", "threshold"}
    faults = {
        "extra field": metric.keys() - known,
        "criteria": not isinstance(metric.get("criteria"), str) or not metric["criteria"],
        "threshold": not 0 <= metric.get("threshold", 0.5) <= 1,
        "band": any(band.keys() != {"score_range", "expected_outcome"} for band in bands),
        "outcome": any(not band["expected_outcome"] for band in bands),
        "range": any(not 0 <= low <= high <= 10 for low, high in ranges),
        "overlap": any(before[1] >= after[0] for before, after in pairwise(ranges)),
    }
    return {name for name, fault in faults.items() if fault}


BAND = {"score_range": [0, 10], "expected_outcome": "All of it"}


@pytest.mark.parametrize(
    ("bands", "refusals", "rules"),
    [
        ([{**BAND, "score_range": [0, 5]}, {**BAND, "score_range": [4, 10]}], {"overlap"}, {"overlap"}),
        ([{**BAND, "score_range": [5, 1]}], {"range"}, {"bounds", "coverage"}),
        ([{**BAND, "score_range": [0, 11]}], {"range"}, {"bounds"}),
        ([{**BAND, "score_range": [-1, 10]}], {"range"}, {"bounds"}),
        ([{**BAND, "expected_outcome": ""}], {"outcome"}, {"empty-outcome"}),
        ([{**BAND, "weight": 1}], {"band"}, {"unknown-field"}),
        ([BAND], set(), set()),
    ],
)
def test_what_lightspeed_refuses_we_refuse(bands, refusals, rules):
    metric = {"criteria": "c", "rubrics": bands}
    assert refusals_of_lightspeed(metric) == refusals
    suite = {"metrics_metadata": {"turn_level": {"geval:m": metric}}}
    findings = lint("system.json", json.dumps(suite).encode()).findings
    assert {finding.rule for finding in findings if finding.severity == "error"} == rules
