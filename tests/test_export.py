"""What is written for each target: exact, readable by what reads it, without a word that the rubric does not say."""

import ast
import json
import tomllib
from decimal import Decimal

import pytest
from agentv_5 import faults
from exports import load, load_text, meaning, text_of, write
from hypothesis import given
from hypothesis import strategies as st
from random_rubrics import SHAPES, bands, rubrics, texts
from ruamel.yaml import YAML

from rubric_lint.dialects.export import TARGETS, load_target
from rubric_lint.dialects.export.target import ExportError
from rubric_lint.dialects.export.texts import to_json, to_yaml, write_decimal
from rubric_lint.lint.engine import lint
from rubric_lint.migrate.agentv_reading import read_suite
from rubric_lint.migrate.target import rewrite
from rubric_lint.project.settings import FileSettings
from rubric_lint.text.reading import read_documents
from rubric_lint.text.source import Source

FULL = """\
rubrics:
  - id: accuracy
    expected_outcome: Is it right?
    weight: 2.0
    required_min_score: 7
    score_ranges:
      - {score_range: [7, 10], expected_outcome: Right}
      - {score_range: [0, 6], expected_outcome: Wrong}
  - id: length
    score_ranges: {0: Too long, 6: Short}
"""
CHECKLIST = (
    "rubrics:\n  - Mentions the pivot\n  - {id: b, expected_outcome: States it, required_min_score: 10, weight: 0.50}\n"
)
HOLISTIC = """\
rubrics:
  - {score_range: [0, 4], expected_outcome: Wrong}
  - {score_range: [5, 10], expected_outcome: Right}
"""
LEVELS = """\
rubrics:
  - id: quality
    expected_outcome: How good it is
    required_min_level: 3
    levels:
      - {level: 5, name: Excellent, expected_outcome: With examples}
      - {level: 3, expected_outcome: Lacks depth}
      - {level: 1, expected_outcome: Off topic}
"""
BY_SHAPE = {"checklist": CHECKLIST, "score_ranges": FULL, "holistic": HOLISTIC, "levels": LEVELS}


def sample(shape):
    return load_text(BY_SHAPE[shape], "r.rubric.yaml")


def lost(export):
    return [(loss.path, loss.message) for loss in export.losses]


# What each target has a form for.
FORMS = {
    "rubric": {"checklist", "score_ranges", "holistic", "levels"},
    "markdown": {"checklist", "score_ranges", "holistic", "levels"},
    "csv": {"checklist", "score_ranges", "holistic", "levels"},
    "xlsx": {"checklist", "score_ranges", "holistic", "levels"},
    "deepeval": {"checklist", "score_ranges", "holistic"},
    "deepeval-json": {"score_ranges", "holistic"},
    "ragas": {"checklist", "levels"},
    "agentv-4": {"checklist", "score_ranges"},
    "agentv-5": {"checklist", "score_ranges"},
    "promptfoo": {"checklist", "score_ranges", "holistic", "levels"},
    "lightspeed": {"score_ranges", "holistic"},
    "verifiers": {"checklist", "score_ranges", "holistic", "levels"},
    "adk": {"checklist"},
    "harbor": {"checklist", "levels"},
    "pydantic-evals": {"checklist"},
    "requirement": {"checklist", "levels"},
    "trpc-agent": {"checklist"},
    "tolokaforge": {"checklist"},
    "autoevals": {"levels"},
    "agent-skills": {"checklist"},
}


def test_every_target_is_in_the_table():
    assert TARGETS == tuple(FORMS)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", BY_SHAPE)
def test_a_shape_is_written_or_refused_with_words(target, shape):
    if shape not in FORMS[target]:
        with pytest.raises(ExportError, match="a rubric is never converted to a different shape"):
            write(target, sample(shape))
        return
    text = text_of(target, write(target, sample(shape)).data)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_as_version_2():
    assert write("rubric", sample("score_ranges")).text == (
        "# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v2.schema.json\n"
        "rubrics:\n"
        "  - id: accuracy\n"
        "    expected_outcome: Is it right?\n"
        "    weight: 2.0\n"
        "    required_min_score: 7\n"
        "    score_ranges:\n"
        "      - score_range: [7, 10]\n"
        "        expected_outcome: Right\n"
        "      - score_range: [0, 6]\n"
        "        expected_outcome: Wrong\n"
        "  - id: length\n"
        "    score_ranges:\n"
        "      0: Too long\n"
        "      6: Short\n"
    )


def test_several_rubrics_are_a_suite():
    export = write("rubric", sample("checklist"), sample("holistic"))
    assert YAML(typ="safe").load(export.text) == {
        "tests": [
            {
                "id": "r1",
                "rubrics": [
                    "Mentions the pivot",
                    {"id": "b", "expected_outcome": "States it", "weight": 0.5, "required_min_score": 10},
                ],
            },
            {
                "id": "r2",
                "rubrics": [
                    {"score_range": [0, 4], "expected_outcome": "Wrong"},
                    {"score_range": [5, 10], "expected_outcome": "Right"},
                ],
            },
        ]
    }
    assert lint("suite.yaml", export.text.encode()).rubrics == 2


@given(rubrics)
def test_version_2_reads_as_it_was_written(entries):
    rubric = load(entries)
    text = write("rubric", rubric).text
    assert meaning(load_text(text, "r.rubric.yaml")) == meaning(rubric)
    assert not [each for each in lint("r.rubric.yaml", text.encode()).findings if each.rule == "ambiguous-scalar"]


@given(texts)
def test_a_text_stays_that_text_to_readers_of_yaml(text):
    written = to_yaml({"text": text, text: 1})
    for reader in (YAML(typ="safe"), YAML(typ="safe", pure=True), old_reader()):
        assert reader.load(written) == {"text": text, text: 1}


def old_reader():
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    return reader


@given(
    st.recursive(texts | st.integers() | st.booleans() | st.none(), lambda v: st.lists(v) | st.dictionaries(texts, v))
)
def test_json_is_what_it_was(data):
    assert json.loads(to_json(data)) == data


@pytest.mark.parametrize(
    ("written", "expected"),
    [("2.0", "2.0"), ("1e3", "1000.0"), ("0.10", "0.10"), ("1E-40", "1.0e-40"), ("12E+40", "1.2e+41"), ("7", "7.0")],
)
def test_a_decimal_is_a_number_to_every_reader(written, expected):
    assert write_decimal(Decimal(written)) == expected
    assert float(expected) == float(written) == json.loads(expected)
    assert old_reader().load(f"a: {expected}") == {"a": float(written)}


def test_for_deepeval():
    export = write("deepeval", sample("holistic"))
    tree = ast.parse(export.text)
    (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func.id == "GEval"]
    fields = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    assert fields == {
        "name": "'r'",
        "evaluation_steps": "['Judge the actual output by the rubric: choose the outcome that describes it best.']",
        "rubric": (
            "[Rubric(score_range=(0, 4), expected_outcome='Wrong'), "
            "Rubric(score_range=(5, 10), expected_outcome='Right')]"
        ),
        "evaluation_params": "PARAMS",
        "model": "model",
        "threshold": "0.8",
    }
    assert lost(export) == []


def test_criteria_are_metrics_for_deepeval_and_their_average_is_lost():
    export = write("deepeval", sample("score_ranges"))
    assert "name='accuracy'" in export.text
    assert "criteria='Is it right?'" in export.text
    assert "threshold=0.7" in export.text
    assert "threshold=0.0" in export.text
    message = (
        "the average, with the weights accuracy 2.0 and length 1 and the threshold 0.8: DeepEval judges each metric "
        "separately, so an answer that misses no gate passes"
    )
    assert lost(export) == [(("rubrics",), message)]


@pytest.mark.parametrize(("gate", "threshold"), [(None, "0.8"), (3, "0.8"), (9, "0.9")])
def test_the_metric_of_a_single_criterion_passes_when_the_rubric_does(gate, threshold):
    entry = {"id": "a", "score_ranges": [{"score_range": [0, 10], "expected_outcome": "x"}]}
    export = write("deepeval", load([entry if gate is None else {**entry, "required_min_score": gate}]))
    assert f"threshold={threshold}," in export.text
    assert lost(export) == []


GAPS = FileSettings(claimed=True, severities={"coverage": "warning"})


def test_bands_that_do_not_span_the_scale_are_refused_for_deepeval():
    rubric = load([{"score_range": [2, 10], "expected_outcome": "x"}], settings=GAPS)
    with pytest.raises(ExportError, match="would stretch that to"):
        write("deepeval", rubric)


def test_a_gap_between_bands_is_lost_for_deepeval():
    bands = [{"score_range": [0, 3], "expected_outcome": "x"}, {"score_range": [5, 10], "expected_outcome": "y"}]
    export = write("deepeval", load(bands, settings=GAPS))
    assert [message for _, message in lost(export)] == ["score 4, which no band covers: DeepEval accepts any score"]


def test_for_confident_ai():
    export = write("deepeval-json", sample("holistic"))
    assert json.loads(export.text) == {
        "name": "r",
        "evaluationParams": ["input", "actualOutput"],
        "multiTurn": False,
        "evaluationSteps": ["Judge the actual output by the rubric: choose the outcome that describes it best."],
        "rubric": [
            {"scoreRange": [0, 4], "expectedOutcome": "Wrong"},
            {"scoreRange": [5, 10], "expectedOutcome": "Right"},
        ],
    }
    assert lost(export) == [(("rubrics",), "the threshold of each metric (r 0.8): set it where the metric is used")]


def test_for_ragas():
    export = write("ragas", sample("levels"))
    assert json.loads(export.text) == {
        "score1_description": "Off topic",
        "score3_description": "Lacks depth",
        "score5_description": "With examples",
    }
    assert lost(export) == [
        (("rubrics", 0, "expected_outcome"), "what is judged: Ragas sees only the levels"),
        (("rubrics", 0, "required_min_level"), "the gate 3 of `quality`: Ragas returns a level, not a verdict"),
        (("rubrics", 0, "levels"), "the names of the levels, 5 Excellent: Ragas only numbers them"),
        (("rubrics", 0, "id"), "the name `quality`: a dictionary has no field for it; set it on the metric"),
    ]


CRITERIA_OF_AGENTV = [
    {
        "id": "accuracy",
        "outcome": "Is it right?",
        "weight": 2.0,
        "min_score": 0.7,
        "score_ranges": [{"score_range": [7, 10], "outcome": "Right"}, {"score_range": [0, 6], "outcome": "Wrong"}],
    },
    {
        "id": "length",
        "weight": 1,
        "score_ranges": [{"score_range": [0, 5], "outcome": "Too long"}, {"score_range": [6, 10], "outcome": "Short"}],
    },
]


@pytest.mark.parametrize(
    ("target", "expected", "asked"),
    [
        ("agentv-4", {"input": "", "assertions": [{"type": "rubrics", "criteria": CRITERIA_OF_AGENTV}]}, {}),
        (
            "agentv-5",
            {"vars": {"input": ""}, "assert": [{"type": "llm-rubric", "value": CRITERIA_OF_AGENTV}]},
            {"prompts": ["{{ input }}"]},
        ),
    ],
    ids=["agentv-4", "agentv-5"],
)
def test_for_agentv(target, expected, asked):
    export = write(target, sample("score_ranges"))
    assert YAML(typ="safe").load(export.text) == {**asked, "tests": [{"id": "r", **expected}]}
    assert lost(export) == []
    assert export.gaps == ("`input`, the question, of r: the file has none, so it is left empty",)


def test_for_agentv_it_is_said_whether_a_criterion_is_required():
    export = write("agentv-4", sample("checklist"))
    assert YAML(typ="safe").load(export.text)["tests"][0]["assertions"][0]["criteria"] == [
        {"id": "rubric-1", "outcome": "Mentions the pivot", "weight": 1, "required": False},
        {"id": "b", "outcome": "States it", "weight": 0.5, "required": True},
    ]


@pytest.mark.slow
@given(st.one_of(SHAPES["checklist"], SHAPES["score_ranges"]))
def test_what_is_exported_for_agentv_5_loads_there(entries):
    """AgentV 5 is not on npm: this asks its restated checks, our list of what it refuses, and our second reading."""
    rubric = load(entries)
    data = write("agentv-5", rubric).text.encode()
    fixed = rewrite("suite.yaml", data, "agentv-5")
    assert (fixed.is_changed, fixed.unmet, fixed.doubt) == (False, (), "")
    ((document,), _) = read_documents(Source("suite.yaml", data.decode()))
    assert list(faults(document.data)) == []
    (read,) = read_suite(document.data, "agentv-5")
    told = [(each.id, each.outcome, each.bands) for each in read]
    assert told == [
        (criterion.id, criterion.outcome, bands_of(criterion.scale) if criterion.scale else ())
        for criterion in rubric.criteria
    ]


def bands_of(scale):
    return tuple((band.scores[0], band.scores[-1], band.outcome) for band in scale.bands)


def test_thresholds_that_somebody_has_set_are_kept_or_lost():
    strict = FileSettings(claimed=True, pass_at=Decimal("0.90"), borderline_at=Decimal("0.5"))
    rubric = load(["a"], settings=strict)
    assert YAML(typ="safe").load(write("agentv-4", rubric).text)["tests"][0]["execution"] == {"threshold": 0.9}
    assert [message for _, message in lost(write("agentv-4", rubric))] == [
        "the threshold 0.5 of `borderline`: AgentV 4 has only pass and fail"
    ]
    assert [message for _, message in lost(write("agentv-5", rubric))] == [
        "the threshold 0.90 of `pass`, which AgentV 5 has no field for",
        "the threshold 0.5 of `borderline`: AgentV 5 has only pass and fail",
    ]


def test_for_promptfoo_the_threshold_is_explicit():
    export = write("promptfoo", sample("levels"))
    levels = [
        {"level": 5, "name": "Excellent", "expected_outcome": "With examples"},
        {"level": 3, "expected_outcome": "Lacks depth"},
        {"level": 1, "expected_outcome": "Off topic"},
    ]
    criterion = {"id": "quality", "expected_outcome": "How good it is", "required_min_level": 3, "levels": levels}
    ((assertion,),) = [test["assert"] for test in YAML(typ="safe").load(export.text)["tests"]]
    value = assertion.pop("value")
    assert assertion == {"type": "llm-rubric", "threshold": 0.8}
    head, _, rubric = value.partition("\n\n")
    assert head == (
        "Judge the output by this rubric, and give a score from 0 to 1. Choose for each criterion the level whose "
        "outcome describes the output best. A level is worth (level - lowest level) / (highest level - lowest level); "
        "the score is the weighted average of that. A criterion without `weight` has the weight 1. A criterion below "
        "its `required_min_score` or `required_min_level` fails the output, whatever the score."
    )
    assert YAML(typ="safe").load(rubric) == {"rubrics": [criterion]}
    assert lost(export) == [
        (
            ("rubrics", 0, "required_min_level"),
            "the gate 3 of `quality`: promptfoo tells the grader, but does not enforce it",
        )
    ]


def test_for_lightspeed():
    export = write("lightspeed", sample("holistic"))
    metric = {
        "criteria": "Judge the actual output by the rubric: choose the outcome that describes it best.",
        "evaluation_params": ["query", "response"],
        "rubrics": [
            {"score_range": [0, 4], "expected_outcome": "Wrong"},
            {"score_range": [5, 10], "expected_outcome": "Right"},
        ],
        "threshold": 0.8,
    }
    assert YAML(typ="safe").load(export.text) == {"metrics_metadata": {"turn_level": {"geval:r": metric}}}


def test_for_verifiers():
    assert json.loads(write("verifiers", sample("checklist")).text) == {
        "criteria": [
            {"name": "rubric-1", "text": "Mentions the pivot", "weight": 1},
            {"name": "b", "text": "States it", "weight": 0.5},
        ]
    }
    assert json.loads(write("verifiers", sample("levels")).text)["criteria"] == [
        {
            "name": "quality",
            "text": "How good it is\n1: Off topic\n3: Lacks depth\n5 (Excellent): With examples",
            "weight": 1,
            "choices": ["1", "3", "5"],
        }
    ]


def test_gates_that_verifiers_does_not_have_are_listed_by_criterion():
    gated = {"id": "a", "expected_outcome": "Cites it", "required_min_score": 10}
    assert lost(write("verifiers", load([gated]))) == [
        (("rubrics", 0, "required_min_score"), "the gate 10 of `a`: verifiers has rewards, not verdicts")
    ]


def test_levels_that_are_not_evenly_spaced_are_refused_for_verifiers():
    levels = [{"level": number, "expected_outcome": f"o{number}"} for number in (1, 2, 5)]
    with pytest.raises(ExportError, match="the scores would change"):
        write("verifiers", load([{"id": "a", "levels": levels}]))


def test_verifiers_reads_one_rubric_a_file():
    with pytest.raises(ExportError, match="choose one with --rubric"):
        write("verifiers", sample("checklist"), sample("checklist"))


@pytest.mark.parametrize("target", ["deepeval", "lightspeed"])
def test_two_metrics_of_one_name_are_refused(target):
    with pytest.raises(ExportError, match="two metrics would have the name `a/accuracy`"):
        load_target(target).write({"a": sample("score_ranges"), "a/accuracy": sample("holistic")})


def test_two_dictionaries_of_one_name_are_refused():
    levels = [{"level": number, "expected_outcome": f"o{number}"} for number in (1, 2)]
    named = {"a": load([{"id": "b/c", "levels": levels}]), "a/b": load([{"id": "c", "levels": levels}])}
    with pytest.raises(ExportError, match="two metrics would have the name `a/b/c`"):
        load_target("ragas").write(named)


def test_as_markdown():
    assert write("markdown", sample("score_ranges")).text == (
        "## r\n"
        "\n"
        "Each criterion gets a whole number from 0 to 10. The answer passes from a score of 0.8 and is borderline from "
        "0.6, unless a criterion stays below its minimum.\n"
        "\n"
        "| criterion | what is judged | weight | share | minimum |\n"
        "|---|---|---|---|---|\n"
        "| accuracy | Is it right? | 2.0 | 66.7% | 7 of 10 |\n"
        "| length |  | 1 | 33.3% |  |\n"
        "\n"
        "### accuracy\n"
        "\n"
        "| score | outcome |\n"
        "|---|---|\n"
        "| 0 to 6 | Wrong |\n"
        "| 7 to 10 | Right |\n"
        "\n"
        "### length\n"
        "\n"
        "| score | outcome |\n"
        "|---|---|\n"
        "| 0 to 5 | Too long |\n"
        "| 6 to 10 | Short |\n"
    )


def test_markup_in_a_text_is_shown_in_a_table_as_it_is():
    rubric = load([{"id": "snake_case_id", "expected_outcome": "a|b `c` *d* _e_ <f> [g](h) &amp; & \\i\nnext"}])
    row = write("markdown", rubric).text.splitlines()[6]
    assert row == (r"| snake_case_id | a\|b \`c\` \*d\* \_e\_ \<f> \[g\](h) \&amp; & \\i<br>next | 1 | 100% |  |")


@given(st.data(), st.sampled_from(TARGETS))
def test_what_lints_is_written_or_refused_and_never_a_fault(data, target):
    entries = data.draw(SHAPES[data.draw(st.sampled_from(sorted(FORMS[target])))])
    try:
        text = write(target, load(entries)).text
    except ExportError:
        assert target in {"verifiers", "ragas", "harbor", "tolokaforge", "autoevals"}
        return
    if target in {"deepeval-json", "ragas", "verifiers", "adk", "trpc-agent", "agent-skills"}:
        json.loads(text)
    elif target == "harbor":
        tomllib.loads(text)
    elif target == "deepeval":
        ast.parse(text)
    elif target != "markdown":
        YAML(typ="safe").load(text)


@given(bands())
def test_bands_are_those_of_the_rubric_whatever_their_order(entries):
    payload = json.loads(write("deepeval-json", load(entries)).text)
    ours = sorted((entry["score_range"], entry["expected_outcome"]) for entry in entries)
    assert [(band["scoreRange"], band["expectedOutcome"]) for band in payload["rubric"]] == ours
