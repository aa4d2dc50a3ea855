"""What counts as a change in meaning, and what does not."""

import copy
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from exports import load, load_text
from hypothesis import assume, given
from hypothesis import strategies as st
from random_rubrics import rubrics

from rubric_lint.assess.diff.rubric_diff import ChangeKind, OutputEffects, compare_rubrics, pair_rubrics, score_both
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.messages import to_data
from rubric_lint.scoring.loading import load_rubrics, prepare

LENIENT = FileSettings(severities={"coverage": "warning"})


def scored(yaml, settings=LENIENT):
    return load_rubrics("r.rubric.yaml", yaml.encode(), settings)


def changes(old, new):
    """What differs, without the name of the only rubric."""
    found = compare_rubrics(pair_rubrics(scored(old), scored(new)))
    return [(change.what, change.criterion, change.old, change.new, change.scores) for change in found]


CRITERIA = """\
rubrics:
  - id: a
    expected_outcome: Names the pivot
    weight: 3
  - id: b
    expected_outcome: Names the cost
"""


def test_a_scale_under_another_name_is_the_same_in_any_order():
    bands = ["{score_range: [0, 4], expected_outcome: Wrong}", "{score_range: [5, 10], expected_outcome: Right}"]
    one, other = (f"tests:\n  - {{id: x, rubrics: [{bands[0]}, {bands[1]}]}}\n", "  - {id: y, rubrics: [It is so]}\n")
    new = f"tests:\n  - {{id: z, rubrics: [{bands[1]}, {bands[0]}]}}\n"
    found = [change.what for change in compare_rubrics(pair_rubrics(scored(one + other), scored(new + other)))]
    assert found == [ChangeKind.RUBRIC_RENAMED]


@pytest.mark.parametrize(
    "new",
    [
        CRITERIA.replace("weight: 3", "weight: 3.0  # a comment"),
        CRITERIA.replace("weight: 3", "weight: 6").replace("cost\n", "cost\n    weight: 2\n"),
        CRITERIA.replace("Names the pivot", ">\n      Names\n      the pivot"),
        CRITERIA.replace("expected_outcome", "description"),
        CRITERIA.replace("cost\n", "cost\n    required_min_score: 0\n"),
        "rubrics: [{id: b, expected_outcome: Names the cost}, {expected_outcome: Names the pivot, id: a, weight: 3}]",
    ],
    ids=["notation", "the same shares", "line breaks", "deprecated names", "a gate that nothing misses", "order"],
)
def test_no_change_in_meaning(new):
    assert changes(CRITERIA, new) == []


BANDS = "rubrics: [{id: a, required_min_score: 7, score_ranges: {0: Wrong, 4: Partly right, 8: Right}}]"
LEVELS = (
    "rubrics: [{id: a, levels: [{level: 1, expected_outcome: Bad}, {level: 2, expected_outcome: So so}, "
    "{level: 3, name: Top, expected_outcome: Good}]}]"
)
HOLISTIC = "rubrics: [{score_range: [0, 4], expected_outcome: No}, {score_range: [5, 10], expected_outcome: It is so}]"
TEXTS = "rubrics: [Names the pivot, Names the cost]"
CHANGED = {
    "a weight": (CRITERIA, "weight: 3", "weight: 1"),
    "a text": (CRITERIA, "the cost", "a price"),
    "an id": (CRITERIA, "id: b", "id: c"),
    "a gate": (CRITERIA, "weight: 3", "weight: 3\n    required_min_score: 10"),
    "an old gate": (CRITERIA, "weight: 3", "weight: 3\n    required: true"),
    "a criterion less": (CRITERIA, "  - id: b\n    expected_outcome: Names the cost\n", ""),
    "a criterion more": (CRITERIA, "  - id: b", "  - Names the reader\n  - id: b"),
    "a text above two": (TEXTS, "[", "[Is short, "),
    "a text above three": (TEXTS.replace("]", ", Names the day]"), "[", "[Is short, "),
    "a text in its place": (TEXTS, "the cost", "the price"),
    "a wider band": (BANDS, "4:", "3:"),
    "a narrower band": (BANDS, "8: R", "9: R"),
    "the outcome of a band": (BANDS, "Partly right", "Half"),
    "a band in two halves": (BANDS, "4: Partly", "4: Partly right, 6: Partly"),
    "no gate": (BANDS, "required_min_score: 7, ", ""),
    "a gap": (HOLISTIC, "0, 4", "0, 3"),
    "no name of a level": (LEVELS, "name: Top, ", ""),
    "the number of a level": (LEVELS, "level: 3", "level: 5"),
    "the shape": (CRITERIA, CRITERIA, LEVELS),
}


@pytest.mark.parametrize(("text", "old", "new"), CHANGED.values(), ids=CHANGED)
def test_a_change_is_told_with_what_was_and_what_is(text, old, new, said):
    found = changes(text, text.replace(old, new))
    said([json.dumps(each) for each in found] or "no change")


def test_one_criterion_more_is_one_change_and_one_of_all_shares():
    entries = [f"{{id: c{number}, expected_outcome: Says thing {number}}}" for number in range(21)]
    old, new = (f"rubrics: [{', '.join(entries[:count])}]" for count in (20, 21))
    assert [(what, name) for what, name, *_ in changes(old, new)] == [
        (ChangeKind.ADDED, "c20"),
        (ChangeKind.SHARE, None),
    ]


def test_another_threshold_is_a_change():
    old, new = scored(CRITERIA), scored(CRITERIA, FileSettings(pass_at=Decimal("0.9")))
    (change,) = compare_rubrics(pair_rubrics(old, new))
    assert (change.what, change.old, change.new) == (
        ChangeKind.THRESHOLDS,
        {"pass": 0.8, "borderline": 0.6},
        {"pass": 0.9, "borderline": 0.6},
    )


SUITE = """\
tests:
  - {id: one, rubrics: [Names the pivot]}
  - {id: two, rubrics: [Names the cost]}
  - {id: three, rubrics: [Names the reader]}
"""


def test_rubrics_of_a_suite_go_by_their_names_or_what_they_say():
    new = (
        SUITE.replace("id: two", "id: deux")
        .replace("Names the reader", "Names the writer")
        .replace("id: one", "id: four")
    )
    new = new.replace("pivot", "author")
    found = compare_rubrics(pair_rubrics(load_rubrics("s.yaml", SUITE.encode()), load_rubrics("s.yaml", new.encode())))
    assert [(change.what, change.rubric, change.old, change.new) for change in found] == [
        (ChangeKind.RUBRIC_ADDED, "four", None, {"shape": "checklist", "criteria": 1}),
        (ChangeKind.RUBRIC_RENAMED, "deux", {"name": "two"}, {"name": "deux"}),
        (ChangeKind.OUTCOME, "three", {"outcome": "Names the reader"}, {"outcome": "Names the writer"}),
        (ChangeKind.RUBRIC_REMOVED, "one", {"shape": "checklist", "criteria": 1}, None),
    ]


@pytest.mark.slow
@given(rubrics, st.randoms())
def test_a_rubric_is_no_other_than_itself_in_any_order(entries, chance):
    shuffled = list(entries)
    chance.shuffle(shuffled)
    old, new = ({"r": prepare(load(each), "r")} for each in (entries, shuffled))
    assert list(compare_rubrics(pair_rubrics(old, new))) == []


def change_one_thing(draw, entries):
    """Entries that differ in at most one field of one of them, which may change the meaning or not."""
    changed = copy.deepcopy(entries)
    entry = draw(st.sampled_from(changed))
    if "levels" in entry:
        entry["required_min_level"] = draw(st.sampled_from(entry["levels"]))["level"]
    elif "score_range" in entry:
        entry["expected_outcome"] += draw(st.sampled_from([" ", "\n", "!"]))
    elif draw(st.booleans()):
        entry["weight"] = draw(st.sampled_from(["1", "1.0", "2"]))
    else:
        entry["required_min_score"] = draw(st.sampled_from([0, 5, 10]))
    return changed


def worth(entries):
    """What each answer to each criterion comes to."""
    rubric = prepare(load(entries), "r")
    return {
        (criterion.id, grade.answer): (Fraction(grade.points, rubric.full), grade.gate_met)
        for criterion in rubric.criteria
        for grade in criterion.grades
    }


@given(rubrics, st.data())
def test_an_answer_is_worth_the_same_unless_a_change_is_told(entries, data):
    changed = change_one_thing(data.draw, entries)
    assume(any(Decimal(entry.get("weight", "1")) for entry in changed))
    old, new = ({"r": prepare(load(each), "r")} for each in (entries, changed))
    told = {change.what for change in compare_rubrics(pair_rubrics(old, new))}
    assert (worth(entries) == worth(changed)) == told.isdisjoint({ChangeKind.SHARE, ChangeKind.GATE})


def test_effects_on_judge_outputs(said):
    old, new = scored(BANDS), scored(BANDS.replace("required_min_score: 7", "required_min_score: 9"))
    pairs = pair_rubrics(old, new)
    outputs = ({"id": f"x{score}", "output": {"checks": [{"id": "a", "score": score}]}} for score in (8, 9, 11))
    entries = [(line, json.dumps(output).encode()) for line, output in enumerate(outputs, 1)]
    effects = OutputEffects()
    for effect in score_both(entries, pairs):
        effects.add(effect)
    said(json.dumps(to_data(effects), indent=1))


def test_the_only_rubric_of_a_file_keeps_its_name_for_outputs():
    old = {"draft": prepare(load_text(BANDS, "r.rubric.yaml"), "draft")}
    new = {"final": prepare(load_text(BANDS, "r.rubric.yaml"), "final")}
    entry = b'{"rubric": "draft", "output": {"checks": [{"id": "a", "score": 9}]}}'
    (effect,) = score_both([(1, entry)], pair_rubrics(old, new))
    assert [each.scored.verdict for each in effect] == ["pass", "pass"]
