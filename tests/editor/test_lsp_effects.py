"""What hover says of a band, a level, a weight and a gate: what an answer does to the score and the verdict."""

import pytest
from cases import read_cases
from typed import state_of

from rubric_lint.editor.answers.hover import make_hover
from rubric_lint.editor.server.analysis import analyse

SUITE = read_cases("lsp_text")["SUITE"]
CHECKLIST = """\
rubrics:
  - {id: cause, weight: 3, required_min_score: 10, expected_outcome: Names the cause}
  - {id: day, expected_outcome: Names the day}
"""
LEVELS = """\
rubrics:
  - id: quality
    required_min_level: 3
    levels: {1: Names no cause, 3: Names the main cause, 4: Names two causes, 5: Names every cause}
"""
POINTS = """\
rubrics:
  - {criterion: Names the dose, points: 5, tags: []}
  - {criterion: Names a source, points: 3, tags: []}
  - {criterion: Invents a dose, points: -6, tags: []}
"""
TONE = """\
metrics:
  - name: tone
    criteria: Judge the tone
    threshold: 0.5
    rubric:
      - {score_range: [0, 8], expected_outcome: Blames the customer}
      - {score_range: [9, 10], expected_outcome: Thanks the customer}
"""


def last_card(text, at, name=None, **options):
    """The last card for where `at` first stands."""
    name = name or ("/a.yaml" if text == TONE else "/a.rubric.yaml")
    made = make_hover(analyse(state_of(text, name)), text.index(at), **options)
    return made and made.contents.value.rpartition("---\n\n")[2]


ALIASED = """\
low: &low {score_range: [0, 0], expected_outcome: Names no cause}
rubrics:
  - id: one
    required_min_score: 1
    score_ranges: [*low, {score_range: [1, 10], expected_outcome: Names the cause}]
  - id: two
    weight: 0
    score_ranges: [*low , {score_range: [1, 10], expected_outcome: Names the day}]
"""
NEVER_MISSED = "rubrics:\n  - {id: a, required_min_score: 0, score_ranges: {0: Names no cause, 5: Names the cause}}\n"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (LEVELS, "1: Names"),
        (TONE, "[9, 10]"),
        (LEVELS, "3\n"),
        (LEVELS.replace("level: 3", "level: 4"), "4\n"),
        (CHECKLIST, "weight"),
        (CHECKLIST, "10, exp"),
        (POINTS, "-6"),
        (POINTS, "3, tags"),
        (ALIASED, "*low,"),
        (ALIASED, "*low ,"),
        (NEVER_MISSED, "0, score"),
    ],
)
def test_bands_levels_weights_and_gates_say_what_they_do(text, at, said):
    said(last_card(text, at))


def test_a_band_says_the_same_at_each_of_its_places(said):
    (card,) = {last_card(SUITE, at, "/a.yaml") for at in ("score_range: [7", "[7, 10]", "7, 10]")}
    said(card)


@pytest.mark.parametrize(
    ("text", "options"),
    [(CHECKLIST, {"effects": False}), (CHECKLIST.replace("day", "cause"), {})],
    ids=["switched off", "errors"],
)
def test_it_says_nothing_when_switched_off_or_when_the_rubric_has_errors(text, options):
    assert last_card(text, "3, req", **options) is None
