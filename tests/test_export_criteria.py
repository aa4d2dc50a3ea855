"""Lists of criteria for other systems: what is written, what is refused or told as lost, and that scores stay."""

import json
import tomllib
from textwrap import dedent

import dialect_samples
import pytest
from exports import load, load_text, write
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_rubrics import SHAPES
from ruamel.yaml import YAML

from rubric_lint.dialects.export import load_target
from rubric_lint.dialects.export.sound import make_sound
from rubric_lint.dialects.export.target import ExportError
from rubric_lint.project.settings import FileSettings
from rubric_lint.scoring.grading import JudgeOutput, Verdict
from rubric_lint.scoring.loading import load_rubrics, prepare

CHECKLIST = """\
rubrics:
  - {id: unit, expected_outcome: Every amount has a currency}
  - {id: source, expected_outcome: Each claim names its source}
"""
WEIGHED = """\
rubrics:
  - {id: unit, expected_outcome: Every amount has a currency, weight: 0.50}
  - {id: source, expected_outcome: Each claim names its source, weight: 0, required_min_score: 10}
"""
LEVELS = """\
rubrics:
  - id: quality
    expected_outcome: How good it is
    levels:
      - {level: 3, name: Great, expected_outcome: With examples}
      - {level: 1, expected_outcome: Off topic}
      - {level: 2, expected_outcome: Lacks depth}
"""
THIRDS = "rubrics: [{id: a, levels: {0: None of it, 1: Some of it, 3: All of it}}]\n"


def written(target, text, name="r.rubric.yaml"):
    return write(target, load_text(text, name))


def lost(export):
    return [(loss.path, loss.message) for loss in export.losses]


def test_for_adk():
    export = written("adk", CHECKLIST)
    assert json.loads(export.text) == {
        "criteria": {
            "rubric_based_final_response_quality_v1": {
                "threshold": 0.8,
                "rubrics": [
                    {"rubric_id": "unit", "rubric_content": {"text_property": "Every amount has a currency"}},
                    {"rubric_id": "source", "rubric_content": {"text_property": "Each claim names its source"}},
                ],
            }
        }
    }
    assert (export.losses, export.gaps) == ((), ())


@pytest.mark.parametrize(("target", "title"), [("adk", "Google ADK"), ("trpc-agent", "tRPC-Agent")])
def test_a_judge_that_counts_each_criterion_once_has_neither_weights_nor_gates(target, title):
    assert lost(written(target, WEIGHED)) == [
        (("rubrics", 0, "weight"), f"the weight 0.50 of `unit`: {title} counts each criterion once"),
        (("rubrics", 1, "weight"), f"the weight 0 of `source`: {title} counts each criterion once"),
        (("rubrics", 1, "required_min_score"), f"the gate 10 of `source`: {title} has no gates"),
    ]


def test_for_trpc_agent():
    export = written("trpc-agent", CHECKLIST)
    (metric,) = json.loads(export.text)
    assert (metric["metricName"], metric["threshold"]) == ("llm_rubric_response", 0.8)
    assert metric["criterion"] == {
        "llmJudge": {
            "rubrics": [
                {"id": "unit", "content": {"text": "Every amount has a currency"}},
                {"id": "source", "content": {"text": "Each claim names its source"}},
            ]
        }
    }
    assert export.gaps == (
        "name the model that judges: `judgeModel` with `providerName` and `modelName`, beside `rubrics`",
    )


def test_for_pydantic_evals():
    export = written("pydantic-evals", CHECKLIST)
    judges = [
        {
            "LLMJudge": {
                "rubric": text,
                "include_input": True,
                "assertion": {"evaluation_name": name, "include_reason": True},
            }
        }
        for name, text in (("unit", "Every amount has a currency"), ("source", "Each claim names its source"))
    ]
    assert YAML(typ="safe").load(export.text) == {"name": "r", "cases": [], "evaluators": judges}
    assert export.gaps == ("add `cases`; the judges look at the output of each one",)
    assert lost(export) == [
        (
            ("rubrics",),
            (
                "the average, with the weights unit 1 and source 1: pydantic-evals reports each verdict, and counts "
                "each once"
            ),
        )
    ]


def test_for_pydantic_evals_a_case_has_its_own_judges(program, tmp_path):
    suite = "tests:\n  - {id: one, input: Why?, rubrics: [Says why]}\n  - {id: two, rubrics: [Says how]}\n"
    (tmp_path / "suite.yaml").write_text(suite, "utf-8")
    code, text, said = program("convert", "suite.yaml", "--to", "pydantic-evals")
    cases = YAML(typ="safe").load(text)["cases"]
    assert (code, [(case["name"], case["inputs"]) for case in cases]) == (0, [("one", "Why?"), ("two", "")])
    assert "to do: write the `inputs` of each case" in said


def test_for_harbor():
    export = written("harbor", WEIGHED)
    assert export.text == (
        '[[criterion]]\nname = "unit"\ndescription = "Every amount has a currency"\nweight = 0.50\n\n'
        '[[criterion]]\nname = "source"\ndescription = "Each claim names its source"\nweight = 0\n\n'
        '[scoring]\naggregation = "weighted-mean"\n'
    )
    assert lost(export) == [
        (("rubrics", 1, "required_min_score"), "the gate 10 of `source`: Harbor rewardkit has no gates")
    ]
    (table,) = tomllib.loads(written("harbor", LEVELS).text)["criterion"]
    assert table == {
        "name": "quality",
        "description": "How good it is",
        "weight": 1,
        "type": "rubric",
        "levels": ["Off topic", "Lacks depth", "With examples"],
    }


def test_for_requirement():
    export = written("requirement", WEIGHED)
    assert export.text == (
        "rubric:\n"
        "  - name: unit\n    weight: 0.50\n    requirement: Every amount has a currency\n"
        "  - name: source\n    weight: 0\n    requirement: Each claim names its source\n"
    )
    (entry,) = YAML(typ="safe").load(written("requirement", LEVELS).text)["rubric"]
    assert entry == {
        "name": "quality",
        "weight": 1,
        "requirement": "How good it is",
        "options": [
            {"label": "Off topic", "value": 0},
            {"label": "Lacks depth", "value": 0.5},
            {"label": "With examples", "value": 1},
        ],
    }


def test_for_requirement_a_value_that_no_decimal_is_is_rounded_and_told():
    export = written("requirement", THIRDS)
    assert "value: 0.33333333333333333\n" in export.text
    assert lost(export) == [
        (
            ("rubrics", 0, "levels", "1"),
            "the exact value 1/3 of the level 1: autorubric has decimals, so it is rounded to 17 digits",
        )
    ]


HEALTHBENCH = """\
{"rubrics": [
  {"criterion": "States the dose", "points": 5, "tags": []},
  {"criterion": "Names a wrong dose", "points": -3, "tags": []}]}
"""
NEGATED = "rubric: [{weight: -2, requirement: Blames the customer}, {weight: -1, requirement: Invents a source}]"


def convert_sound(target, text, name):
    rubric, losses = make_sound("r", load_text(text, name, FileSettings()), has_deductions=True)
    return write(target, rubric), [loss.message for loss in losses]


def test_for_requirement_points_to_lose_stay_points_to_lose():
    export, losses = convert_sound("requirement", HEALTHBENCH, "hb.json")
    entries = YAML(typ="safe").load(export.text)["rubric"]
    assert ([entry["weight"] for entry in entries], losses) == ([5, -3], [])


def test_for_requirement_what_must_not_be_met_costs_points_if_nothing_earns_them():
    export, losses = convert_sound("requirement", NEGATED, "r.yaml")
    entries = YAML(typ="safe").load(export.text)["rubric"]
    assert ([entry["weight"] for entry in entries], losses) == ([-2, -1], [])
    sample = dialect_samples.SAMPLES["promptfoo-texts"]
    export, losses = convert_sound("requirement", dedent(sample.text), sample.name)
    entries = YAML(typ="safe").load(export.text)["rubric"]
    assert [entry["requirement"] for entry in entries] == ["Names the cause", "Agrees with these facts: Paris"]
    (told,) = losses
    assert "an answer earns it by not meeting it" in told


def test_points_to_lose_are_lost_where_there_are_none(program, tmp_path):
    (tmp_path / "hb.json").write_text(HEALTHBENCH, "utf-8")
    for target, expected in (("requirement", 2), ("harbor", 1)):
        code, text, said = program("convert", "hb.json", "--to", target)
        assert (code, text.count("dose"), "its weight is -3" in said) == (0, expected, expected == 1)


def test_for_tolokaforge_a_gate_that_weighs_nothing_is_a_required_criterion():
    export = written("tolokaforge", WEIGHED)
    assert YAML(typ="safe").load(export.text) == {
        "combine": {"method": "weighted", "weights": {"llm_judge": 1}, "pass_threshold": 0.8},
        "llm_judge": {
            "rubric": {
                "criteria": [
                    {"id": "unit", "description": "Every amount has a currency", "weight": 0.5},
                    {"id": "source", "description": "Each claim names its source", "required": True},
                ]
            }
        },
    }
    assert lost(export) == []


def test_for_tolokaforge_other_gates_are_told():
    counted = WEIGHED.replace("weight: 0,", "weight: 2,")
    assert lost(written("tolokaforge", counted)) == [
        (
            ("rubrics", 1, "required_min_score"),
            (
                "the gate 10 of `source`: tolokaforge leaves a required criterion out of the average, and this one "
                "weighs 2"
            ),
        )
    ]
    gates = CHECKLIST.replace("}", ", required_min_score: 10}")
    assert lost(written("tolokaforge", gates)) == [
        (("rubrics",), "the share of the criteria that are met: tolokaforge gives 1 or 0 if all are required")
    ]


def test_for_tolokaforge_criteria_without_an_id_get_one_that_it_accepts():
    entries = YAML(typ="safe").load(written("tolokaforge", "rubrics: [Says why, Says how]\n").text)
    assert [each["id"] for each in entries["llm_judge"]["rubric"]["criteria"]] == ["rubric_1", "rubric_2"]


@pytest.mark.parametrize(("target", "own", "there"), [("tolokaforge", "a-b", "a_b"), ("harbor", "a b", "a_b")])
def test_an_id_that_the_target_refuses_is_changed_and_told(target, own, there):
    export = written(target, f"rubrics: [{{id: {own}, expected_outcome: Says why}}]\n")
    assert there in export.text
    title = load_target(target).title
    assert lost(export) == [(("rubrics", 0, "id"), f"the id `{own}`, which is `{there}` in {title}")]


def test_for_autoevals():
    export = written("autoevals", LEVELS)
    assert YAML(typ="safe").load(export.text) == {
        "prompt": "Choose the answer that describes the output best.\n\n(1) Off topic\n(2) Lacks depth\n"
        "(3) With examples\n\n[What is judged]\nHow good it is\n\n[Input]\n{{input}}\n\n[Output]\n{{output}}",
        "choice_scores": {"1": 0, "2": 0.5, "3": 1},
    }
    assert lost(export) == [
        (("rubrics", 0, "id"), "the name `quality`: a classifier is named where it is used"),
    ]


@pytest.mark.parametrize(
    ("target", "text", "message"),
    [
        (
            "harbor",
            "rubrics: [{id: a b, expected_outcome: x}, {id: a.b, expected_outcome: y}]",
            "Harbor rewardkit refuses the id `a_b`: expected 1 to 64 letters, digits, `_` or `-`, once in a file",
        ),
        ("harbor", THIRDS, "spaces its answers evenly, and the levels [0, 1, 3] are not"),
        (
            "harbor",
            json.dumps({"rubrics": [{"id": "a", "levels": {str(n): f"Names {n} parts" for n in range(11)}}]}),
            "`a` has 11 levels, and Harbor rewardkit takes at most 10",
        ),
        ("tolokaforge", "rubrics: [{id: 1st, expected_outcome: x}]", "tolokaforge refuses the id `1st`: expected a "),
        (
            "tolokaforge",
            "rubrics: [Says why, {id: rubric_1, expected_outcome: x}]",
            (
                "tolokaforge refuses the id `rubric_1`: expected a letter, then letters, digits or underscores, and "
                "neither `reasons` nor an ending such as `_justification`, once in a file; rename it"
            ),
        ),
        ("autoevals", "rubrics: [{id: a, levels: {0: No, 1: 'Says {{ x }}'}}]", "and has no escape for it"),
        (
            "autoevals",
            "rubrics: [{id: a, levels: {0: N, 1: Y}}, {id: b, levels: {0: N, 1: Y}}]",
            "autoevals asks for one choice, and there are 2 criteria; write a file for each",
        ),
    ],
)
def test_what_a_target_cannot_hold_is_refused(target, text, message):
    with pytest.raises(ExportError) as refused:
        written(target, text)
    assert message in refused.value.message


@pytest.mark.parametrize("target", ["adk", "harbor", "requirement", "trpc-agent", "tolokaforge", "autoevals"])
def test_a_file_holds_one_rubric(target):
    one = load_text(LEVELS if target == "autoevals" else CHECKLIST, "r.rubric.yaml")
    with pytest.raises(ExportError, match="reads one rubric per file; choose one with --rubric"):
        write(target, one, one)


# The file that each target is read from, the shapes, and which fields its form has.
FILES = {
    "adk": ("eval_config.json", ("checklist",), ()),
    "harbor": ("judge.toml", ("checklist", "levels"), ("weight",)),
    "pydantic-evals": ("data.yaml", ("checklist",), ()),
    "requirement": ("r.yaml", ("checklist", "levels"), ("weight",)),
    "trpc-agent": ("a.metrics.json", ("checklist",), ()),
    "agent-skills": ("evals.json", ("checklist",), ()),
    "tolokaforge": ("grading.yaml", ("checklist",), ("weight", "required_min_score")),
    "autoevals": ("scorer.yaml", ("levels",), ()),
}
FIELDS = {"weight", "required_min_score", "required_min_level"}


@pytest.mark.parametrize("target", FILES)
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture])
@given(data=st.data(), chance=st.randoms())
def test_what_is_written_is_read_again_with_the_same_scores(target, data, chance):
    file, shapes, fields = FILES[target]
    drawn = data.draw(SHAPES[data.draw(st.sampled_from(shapes))])[: 1 if target == "autoevals" else None]
    entries = [
        {**{name: entry[name] for name in entry if name in fields or name not in FIELDS}, "id": f"c{number}"}
        for number, entry in enumerate(drawn)
    ]
    assume(any(float(entry.get("weight", 1)) for entry in entries))
    rubric = load(entries)
    try:
        export = write(target, rubric)
    except ExportError:  # levels that it spaces evenly, or templates
        assume(False)  # noqa: FBT003
    (back,) = load_rubrics(file, export.text.encode()).values()
    ours = prepare(rubric, "r")
    ranks = [chance.randrange(len(criterion.grades)) for criterion in ours.criteria]
    (before, one), (after, other) = (grade(scoring, ranks) for scoring in (ours, back))
    loses_share = any("the share of the criteria that are met" in loss.message for loss in export.losses)
    if not loses_share:
        assert float(before) == pytest.approx(float(after), abs=1e-15)
        if not any("rounded" in loss.message for loss in export.losses):
            assert before == after
    is_same = target == "tolokaforge" and (loses_share or not export.losses)
    if is_same or target in {"adk", "trpc-agent", "agent-skills"}:
        assert one == other
    if target != "autoevals" and "levels" not in entries[0]:
        said = [criterion.outcome for criterion in back.criteria]
        assert said == [criterion.outcome for criterion in ours.criteria]
        assert [criterion.id for criterion in back.criteria] == [entry["id"] for entry in entries]


def grade(scoring, ranks):
    """The score and whether it passes, for the answer of each rank from the worst to the best."""
    ranked = [sorted(criterion.grades, key=lambda each: each.score) for criterion in scoring.criteria]
    answers = tuple(grades[rank].answer for grades, rank in zip(ranked, ranks, strict=True))
    result = scoring.grade(JudgeOutput(answers, (None,) * len(answers)))
    return result.score, result.verdict is Verdict.PASS
