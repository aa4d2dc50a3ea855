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

from rubric_lint.agree.changes import Effects, What, compare, pair_rubrics, score_both
from rubric_lint.project.settings import FileSettings
from rubric_lint.scoring.loading import load_rubrics, prepare


def scored(yaml, settings=FileSettings()):  # noqa: B008 (it never changes)
    return load_rubrics("r.rubric.yaml", yaml.encode(), settings)


def changes(old, new):
    """What differs, without the name of the only rubric."""
    found = compare(pair_rubrics(scored(old), scored(new)))
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
    found = [change.what for change in compare(pair_rubrics(scored(one + other), scored(new + other)))]
    assert found == [What.RUBRIC_RENAMED]


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


def share(weight, part):
    return {"weight": weight, "share": part}


def shares(**parts):
    return {"shares": [{"id": name, **part} for name, part in parts.items()]}


BOTH = shares(a=share(3, 0.75), b=share(1, 0.25))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("weight: 3", "weight: 1", [
            (What.SHARE, None, BOTH, shares(a=share(1, 0.5), b=share(1, 0.5)), ()),
        ]),
        ("the cost", "a price", [(What.OUTCOME, "b", {"outcome": "Names the cost"}, {"outcome": "Names a price"}, ())]),
        ("id: b", "id: c", [(What.RENAMED, "c", {"id": "b"}, {"id": "c"}, ())]),
        ("weight: 3", "weight: 3\n    required_min_score: 10", [(What.GATE, "a", {"gate": None}, {"gate": 10}, ())]),
        ("weight: 3", "weight: 3\n    required: true", [(What.GATE, "a", {"gate": None}, {"gate": 10}, ())]),
        ("  - id: b\n    expected_outcome: Names the cost\n", "", [
            (What.REMOVED, "b", {"outcome": "Names the cost", **share(1, 0.25), "gate": None}, None, ()),
            (What.SHARE, None, shares(a=share(3, 0.75)), shares(a=share(3, 1)), ()),
        ]),
        ("  - id: b", "  - Names the reader\n  - id: b", [
            (What.ADDED, "rubric-2", None, {"outcome": "Names the reader", **share(1, 0.2), "gate": None}, ()),
            (What.SHARE, None, BOTH, shares(a=share(3, 0.6), b=share(1, 0.2)), ()),
        ]),
    ],
)  # fmt: skip
def test_changes_of_criteria(old, new, expected):
    assert changes(CRITERIA, CRITERIA.replace(old, new)) == expected


def test_texts_go_by_what_they_say_not_by_their_place():
    old, new = "rubrics: [Names the pivot, Names the cost]", "rubrics: [Is short, Names the pivot, Names the cost]"
    assert [(what, name, old) for what, name, old, _, _ in changes(old, new) if what is not What.SHARE] == [
        (What.ADDED, "rubric-1", None),
        (What.MOVED, None, {"ids": ["rubric-1", "rubric-2"]}),
    ]


def test_one_criterion_more_is_one_change_and_one_of_all_shares():
    entries = [f"{{id: c{number}, expected_outcome: Says thing {number}}}" for number in range(21)]
    old, new = (f"rubrics: [{', '.join(entries[:count])}]" for count in (20, 21))
    assert [(what, name) for what, name, *_ in changes(old, new)] == [(What.ADDED, "c20"), (What.SHARE, None)]


def test_one_text_above_three_is_told_in_three_changes():
    texts = ["Is short", "Names the pivot", "Names the cost", "Names the day"]
    old, new = (f"rubrics: [{', '.join(each)}]" for each in (texts[1:], texts))
    assert [what for what, *_ in changes(old, new)] == [What.ADDED, What.MOVED, What.SHARE]


def test_a_text_that_is_reworded_in_its_place():
    assert changes("rubrics: [Names the pivot, Names the cost]", "rubrics: [Names the pivot, Names the price]") == [
        (What.OUTCOME, "rubric-2", {"outcome": "Names the cost"}, {"outcome": "Names the price"}, ())
    ]


BANDS = "rubrics: [{id: a, required_min_score: 7, score_ranges: {0: Wrong, 4: Partly right, 8: Right}}]"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (BANDS.replace("4:", "3:"), [(What.SCORES, "a", {"outcome": "Wrong"}, {"outcome": "Partly right"}, (3,))]),
        (BANDS.replace("8: R", "9: R"), [(What.SCORES, "a", {"outcome": "Right"}, {"outcome": "Partly right"}, (8,))]),
        (BANDS.replace("Partly right", "Half"), [
            (What.SCORES, "a", {"outcome": "Partly right"}, {"outcome": "Half"}, (4, 5, 6, 7)),
        ]),
        (BANDS.replace("4: Partly", "4: Partly right, 6: Partly"), []),
        (BANDS.replace("required_min_score: 7, ", ""), [(What.GATE, "a", {"gate": 7}, {"gate": None}, ())]),
    ],
    ids=["a wider band", "a narrower band", "another outcome", "a band in two halves", "no gate"],
)  # fmt: skip
def test_changes_of_bands(new, expected):
    assert changes(BANDS, new) == expected


def test_a_gap_is_a_change_of_what_may_be_given():
    lenient = FileSettings(severities={"coverage": "warning"})
    whole = "rubrics: [{score_range: [0, 4], expected_outcome: No}, {score_range: [5, 10], expected_outcome: It is so}]"
    old, new = scored(whole, lenient), scored(whole.replace("0, 4", "0, 3"), lenient)
    (change,) = compare(pair_rubrics(old, new))
    assert (change.what, change.criterion, change.old, change.new, change.scores) == (
        What.SCORES,
        None,
        {"outcome": "No"},
        None,
        (4,),
    )


LEVELS = "rubrics: [{id: a, levels: [{level: 1, expected_outcome: Bad}, {level: 2, expected_outcome: So so}, {level: 3, name: Top, expected_outcome: Good}]}]"  # noqa: E501


def level(outcome, score, name=None):
    return {"name": name, "outcome": outcome, "score": score}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (LEVELS.replace("name: Top, ", ""), [(What.LEVEL, "a", level("Good", 1, "Top"), level("Good", 1), (3,))]),
        (LEVELS.replace("level: 3", "level: 5"), [
            (What.LEVEL, "a", level("So so", 0.5), level("So so", 0.25), (2,)),
            (What.LEVEL, "a", level("Good", 1, "Top"), None, (3,)),
            (What.LEVEL, "a", None, level("Good", 1, "Top"), (5,)),
        ]),
    ],
)  # fmt: skip
def test_changes_of_levels(new, expected):
    assert changes(LEVELS, new) == expected


def test_another_shape_is_one_change():
    assert changes(CRITERIA, LEVELS) == [(What.SHAPE, None, {"shape": "checklist"}, {"shape": "levels"}, ())]


def test_another_threshold_is_a_change():
    old, new = scored(CRITERIA), scored(CRITERIA, FileSettings(pass_at=Decimal("0.9")))
    (change,) = compare(pair_rubrics(old, new))
    assert (change.what, change.old, change.new) == (
        What.THRESHOLDS,
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
    found = compare(pair_rubrics(load_rubrics("s.yaml", SUITE.encode()), load_rubrics("s.yaml", new.encode())))
    assert [(change.what, change.rubric, change.old, change.new) for change in found] == [
        (What.RUBRIC_ADDED, "four", None, {"shape": "checklist", "criteria": 1}),
        (What.RUBRIC_RENAMED, "deux", {"name": "two"}, {"name": "deux"}),
        (What.OUTCOME, "three", {"outcome": "Names the reader"}, {"outcome": "Names the writer"}),
        (What.RUBRIC_REMOVED, "one", {"shape": "checklist", "criteria": 1}, None),
    ]


@given(rubrics, st.randoms())
def test_a_rubric_is_no_other_than_itself_in_any_order(entries, chance):
    shuffled = list(entries)
    chance.shuffle(shuffled)
    old, new = ({"r": prepare(load(each), "r")} for each in (entries, shuffled))
    assert list(compare(pair_rubrics(old, new))) == []


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
    told = {change.what for change in compare(pair_rubrics(old, new))}
    assert (worth(entries) == worth(changed)) == told.isdisjoint({What.SHARE, What.GATE})


def test_effects_on_judge_outputs():
    old, new = scored(BANDS), scored(BANDS.replace("required_min_score: 7", "required_min_score: 9"))
    pairs = pair_rubrics(old, new)
    outputs = ({"id": f"x{score}", "output": {"checks": [{"id": "a", "score": score}]}} for score in (8, 9, 11))
    entries = [(line, json.dumps(output).encode()) for line, output in enumerate(outputs, 1)]
    effects = Effects()
    for effect in score_both(entries, pairs):
        effects.add(effect)
    assert effects.to_json() == {
        "outputs": 3,
        "verdicts": [
            {"old": "invalid", "new": "invalid", "outputs": 1},
            {"old": "pass", "new": "fail", "outputs": 1},
            {"old": "pass", "new": "pass", "outputs": 1},
        ],
        "changed": [
            {
                "line": 1,
                "id": "x8",
                "old": {"verdict": "pass", "score": 0.8},
                "new": {"verdict": "fail", "score": 0.8},
            }
        ],
    }


def test_the_only_rubric_of_a_file_keeps_its_name_for_outputs():
    old = {"draft": prepare(load_text(BANDS, "r.rubric.yaml"), "draft")}
    new = {"final": prepare(load_text(BANDS, "r.rubric.yaml"), "final")}
    entry = b'{"rubric": "draft", "output": {"checks": [{"id": "a", "score": 9}]}}'
    (effect,) = score_both([(1, entry)], pair_rubrics(old, new))
    assert effect.verdicts == ("pass", "pass")
