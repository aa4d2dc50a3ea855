"""What may decide a verdict in a home-made rubric is read, or told with the rubric not scored; never dropped."""

import math
from decimal import Decimal

import pytest
from found import codes
from lint_command import call

from rubric_lint.formats.home_made.format_table import FormatTable
from rubric_lint.formats.home_made.roles import Role, role_of
from rubric_lint.formats.home_made.unmapped import UnmappedSearch
from rubric_lint.lint.engine import examine_file
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

TWO = "criteria:\n- {id: a, weight: 2, text: Names it}\n- {id: b, weight: 1, text: Dates it"
ITEMS = "criteria: [{id: a, weight: 5, text: Names the year}, {id: b, weight: 3, text: Names the day}]"
TABLE = {"name": "ours", "files": ["x"], "criteria": "/criteria", "id": "id", "outcome": "text", "weight": "weight"}


def examine(text, settings=None):
    """The one rubric of a text with the result of the file."""
    examined = examine_file("evals/rubric.yaml", text.encode(), *([settings] if settings else []))
    ((_, rubric),) = examined.rubrics
    return rubric, examined.result


def table(**more):
    return FileSettings(shapes=(FormatTable.from_table({**TABLE, **more}),))


PASS_MARKS = [
    *("pass: 7", "pass_mark: 7", "passMark: 7", "passThreshold: 7", "min_pass: 7", "minimum_score: 7", "pass_at: 7"),
    *("cutoff: 7", "pass_grade: 7", "required_score: 7", "acceptance_threshold: 7", "pass_mark: 70%"),
    *("verdict: {pass_threshold: 7}", "aggregate: {method: mean, passing_mark: 7}", "thresholds: {pass: 7}"),
]


@pytest.mark.parametrize("mark", PASS_MARKS)
def test_a_pass_mark_is_read_by_the_words_of_its_key_and_its_value(mark):
    rubric, result = examine(f"scale: 0-10\n{mark}\n{ITEMS}")
    assert (rubric.view.threshold, rubric.view.refusal, result.unread) == (Decimal("0.7"), None, ())


def test_a_pass_mark_of_a_sum_that_the_file_says_is_a_part_of_it():
    rubric, _ = examine(f"scale: 0-10\nmax_total: 80\npass_mark: 60\n{ITEMS}")
    assert (rubric.view.threshold, rubric.view.refusal) == (Decimal("0.75"), None)


# By what is not read: the line and the words that name it, all of which keep the rubric from being scored.
UNMAPPED = {
    f"scale: 0-10\npass_score: 6\npass_mark: 7\n{ITEMS}": [(3, "`pass_mark` may be a pass mark")],
    f"scale: 0-10\ncutoff: 6\npass_mark: 7\n{ITEMS}": [
        (2, "`cutoff` may be a pass mark"),
        (3, "`pass_mark` may be a pass mark"),
    ],
    f"scale: 0-10\nfail_threshold: 5\n{ITEMS}": [(2, "`fail_threshold` may say which scores pass or fail")],
    f"scale: 0-10\nthresholds: {{pass: 7, borderline: 5}}\n{ITEMS}": [
        (2, "`borderline` may say which scores pass or fail")
    ],
    f"scale: 0-10\npass: {{overall: 7}}\n{ITEMS}": [(2, "`overall` may be a pass mark")],
    f"scale: 0-10\npass_thresholds: {{a: 7, b: 6}}\n{ITEMS}": [(2, "`pass_thresholds` may hold pass marks")],
    f"scale: 0-10\nlimits: {{pass_mark: 7, blocker_if_any_below: 3, blocker_if_rude_seen: true}}\n{ITEMS}": [
        (2, "`limits` may hold gates")
    ],
    f"scoring: {{scale: 0-10, thresholds: {{go: 7, no_go: 4}}}}\n{ITEMS}": [(1, "`thresholds` may hold pass marks")],
    f"scoring: {{scale: 0-10, hard_stop_below: 2}}\n{ITEMS}": [(1, "`hard_stop_below` may be a gate")],
    f"scale: 0-10\naccepted: {{overall_min: 7, dimension_mins: {{a: 6, b: 5}}}}\n{ITEMS}": [
        (2, "`dimension_mins` may hold gates")
    ],
    f"scale: 0-10\nrules: [{{name: length, condition: words > 1250, action: cap_points}}]\n{ITEMS}": [
        (2, "`rules` may hold what changes scores")
    ],
    f"scale: 0-10\nsevere_failures: {{a: {{when: It names no year}}, b: {{when: It names no day}}}}\n{ITEMS}": [
        (2, "`severe_failures` may hold what changes scores")
    ],
    f"scale: 0-10\ngate: {{a: 6}}\n{ITEMS}": [(2, "`gate` may hold gates")],
    f"scale: 0-10\ncritical_dimensions: [a]\n{ITEMS}": [(2, "`critical_dimensions` may hold gates")],
    f"scale: yes-no\npenalties:\n- {{id: c, weight: 2, text: Is rude}}\n{ITEMS}": [
        (2, "`penalties` may hold penalties")
    ],
    f"scale: yes-no\nbonus:\n- {{id: c, points: 2, text: Names a source}}\n{ITEMS}": [
        (2, "`bonus` may hold what changes scores")
    ],
    f"scale: 0-10\nshares: {{a: 7, b: 6}}\n{ITEMS}": [(2, "`shares` may hold weights")],
    f"scale: 0-10\naggregation: min\n{ITEMS}": [(2, "`aggregation: min` may be how scores combine")],
    f"scale: yes-no\n{TWO}, negate: true}}": [(4, "`negate` may be a penalty")],
    f"scale: 0-5\n{TWO}, penalty: 2}}": [(4, "`penalty` may be a penalty")],
    f"scale: 0-5\n{TWO}, floor_gate: 2}}": [(4, "`floor_gate` may be a gate")],
    f"scale: 0-5\n{TWO}, severity: veto}}": [(4, "`severity: veto` may be a gate")],
    f"scale: 0-5\n{TWO}, na_when: It has no date}}": [(4, "`na_when: It has no date` may leave a criterion out")],
    f"scale: 0-10\nverdict: {{approve: 9, revise: 7}}\n{ITEMS}": [(2, "`verdict` may hold pass marks or grades")],
    f"scale: 0-10\ndefaults: {{weight: 3}}\n{TWO}}}\n- {{id: c, text: Says why}}": [
        (2, "`weight` may say how much a criterion counts")
    ],
    f"scale: 0-10\nhandling: {{min: 1}}\nonly: [a]\nseverity: low\n{ITEMS}": [
        (2, "`min` may bear on the score"),
        (3, "`only` may hold what bears on the score"),
        (4, "`severity: low` may bear on the score"),
    ],
}


SCALE = "scale: 1-3"
FACTS = f"{SCALE}\n{ITEMS}"
# By the line that nobody reads, its first word: nothing is scored, whatever its key is called.
UNKNOWN_BESIDE = [
    *("non_negotiable: [a]", "only: [a]", "instant_fail: [a]", "skip: [b]", "weights: {a: 50}", "limits: {b: 2}"),
    *("verdicts: {a: fail}", "scoring: {limits: {a: 2}}", "minimum_per_criterion: 2", "minimum_per_criterion: 3"),
    *(
        "overall: min",
        "passing_grade: A",
        "logic: and",
        "negate: true",
        "enabled: false",
        "disabled: true",
        "good_enough: 2",
    ),
    *("instant_fail: [Insults the reader]", "rule: each of the criteria has to reach a score of 2", "target: 2"),
    *("overrides: {a: {weight: 5}}", "overrides: {a: {weight: 5}, b: {weight: 1}}", "spread: {a: [2, 3], b: [1, 3]}"),
    *("config: {min_score: 3}", "points_off: {typo: 1}", "clip: [2, 3]", "floor: [3]", "clamp: [0.2, 0.9]"),
    *("drop_lowest: 1", "min_passed: 1", "min_criteria_passed: 1", "threshold_count: 2"),
    *("scores: {1: 0, 2: 0.2, 3: 1}", "level_values: [0, 0.2, 1]", "conversion: {'1': 0, '2': 20, '3': 100}"),
]
UNKNOWN_INSIDE = [
    *("if_missing: fail", "on_fail: reject", "effect: subtract", "only_if: It cites at least one source"),
    *(
        "priority: P0",
        "score_map: {1: 0, 2: 0.2, 3: 1}",
        "levels: [{score: 1, points: 0, text: None}, {score: 3, text: All}]",
    ),
    *("levels: [{score: 1, text: None, fatal: true}, {score: 3, text: All}]",),
    *("levels: [{score: 1, text: None, verdict: fail}, {score: 3, text: All}]",),
    *("levels: {1: {text: None, points: 0}, 3: {text: All}}",),
]
HARMLESS_BESIDE = [
    *("notes: {a: Look at the dates}", "order: [b, a]", "tags: [x]", "version: 3", "author: ann", "date: 2026-11-28"),
    *("url: https://example.com/x", "model: gpt", "examples: 3", "research: [R4]", "background: A text of many words."),
    *("titles: {a: Dates}", "anchors: []", "weight: 2", "category: safety", "revision: 1", "version: 1"),
    *("min: 1", "lowest_level: 1", "metadata: {cases: 12}", "overrides: {a: {owner: ann}}"),
    *(
        "voting: {n: 3, model: gpt, top_p: 0.9}",
        "judge: {top_p: 1}",
        "difficulty: {easy: 1, hard: 2}",
        "drafts: {a: {lines: [1, 4], id: 1}}",
    ),
    *("allowed: [1, 2, 3]", "ends: [1, 3]"),
    *("output: {max_words: 200}", "sampling: {n: 3}", "years: [2025]", "difficulty: {easy: 1, hard: 2}"),
]
HARMLESS_INSIDE = [
    *("title: Dates", "examples: [a]", "max: 3", "owner: ann", "type: binary", "tags: [b]"),
    "levels: [{score: 1, points: 1, text: None}, {score: 3, points: 3, text: All, label: pass, example: It is}]",
]


def is_scored(text):
    """Whether a rubric is scored, and if not, that its place is that of a word of the text."""
    rubric, result = examine(text)
    if rubric.view.refusal:
        assert rubric.view.refusal[1] in [each.reason for each in result.unread]
    return rubric.view.refusal is None


def test_what_stands_beside_criteria_that_are_met_or_not_stops_the_score():
    assert not is_scored(f"scale: yes-no\nstretch: 3\n{ITEMS}")
    assert is_scored(f"scale: yes-no\n{ITEMS}")


def test_a_criterion_of_its_own_beside_the_others_stops_the_score():
    assert not is_scored(f"last: {{id: c, text: Names the hour}}\n{FACTS}")


def inside(field):
    return FACTS.replace("id: b", f"id: b, {field}")


@pytest.mark.parametrize("line", UNKNOWN_BESIDE)
def test_what_nobody_knows_beside_criteria_stops_the_score_by_its_structure(line):
    assert not is_scored(f"{line}\n{FACTS}")


@pytest.mark.parametrize("field", UNKNOWN_INSIDE)
def test_what_nobody_knows_in_a_criterion_or_a_level_stops_the_score(field):
    assert not is_scored(inside(field))


@pytest.mark.parametrize(
    "text", [*(f"{line}\n{FACTS}" for line in HARMLESS_BESIDE), *(inside(field) for field in HARMLESS_INSIDE)]
)
def test_what_says_what_a_rubric_is_and_not_how_it_counts_is_scored(text):
    assert is_scored(text)


@pytest.mark.parametrize(
    ("unused", "place"),
    [((), ("criteria", 1, "priority")), (("priority",), ("at_most",)), (("priority", "/at_most"), None)],
)
def test_a_table_says_which_keys_do_not_count(unused, place):
    text = inside("priority: P0, levels: [{score: 1, points: 0, text: None}, {score: 3, text: All}]")
    settings = table(scale=[1, 3], levels="levels", unused=["points", *unused])
    rubric, _ = examine(f"at_most: 2\n{text}", settings)
    assert (rubric.view.refusal and rubric.view.refusal[0]) == place


OURS = "rubrics: [{id: a, expected_outcome: Names the year}, {id: b, expected_outcome: Names the day}]"


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        *((line, True) for line in ("negate: true", "enabled: false", "weights: {a: 5}", "overall: min", "only: [a]")),
        *((line, True) for line in ("overrides: {a: {weight: 5}}", "drop_lowest: 1", "clip: [0, 5]", "floor: [3]")),
        *((line, True) for line in ("extends: base.rubric.yaml", "inherits: [base.rubric.yaml]", "min_passed: 2")),
        *((line, False) for line in ("order: [b, a]", "note: a", "enabled: true", "version: 1", "runs: 3")),
        *((line, False) for line in ("min_score: 0", "extends: null", "page_range: [1, 5]", "lines: [1, 2]")),
    ],
)
def test_what_nobody_knows_beside_our_rubrics_stops_the_score(line, stops):
    examined = examine_file("a.rubric.yaml", f"{line}\n{OURS}\n".encode())
    ((_, rubric),) = examined.rubrics
    assert (rubric.refusal and rubric.refusal[0]) == ((line.partition(":")[0],) if stops else None)


OF_CRITERIA = [
    *(
        "all_required: true",
        "all_must_pass: true",
        "required: [b]",
        "required: {b: true}",
        "gate: a",
        "weights: {a: 5}",
    ),
    *("overrides: {a: {weight: 5}}", "drop_lowest: 1", "clip: [0, 5]", "extends: base.rubric.yaml", "only: [a]"),
]
OF_TESTS = [
    *("required: true", "must_pass: true", "critical: true", "skip: true", "negate: true", "required: [name]"),
    *("min_score: 0", "pass_count: 2", "lines: [1, 2]", "metadata: {required: [b]}"),
]


@pytest.mark.parametrize(
    ("line", "stops"), [*((line, True) for line in OF_CRITERIA), *((line, False) for line in OF_TESTS)]
)
@pytest.mark.parametrize("start", ["id: q", "id: q, input: Q, execution: {target: x}"], ids=["plain", "run"])
def test_what_a_test_says_of_the_criteria_in_it_stops_the_score_and_what_it_says_of_itself_does_not(line, stops, start):
    examined = examine_file("a.eval.yaml", f"tests: [{{{start}, {line}, {OURS}}}]\n".encode())
    ((_, rubric),) = examined.rubrics
    place = ("tests", 0, line.partition(":")[0])
    assert (rubric.refusal and rubric.refusal[0]) == (place if stops else None)


@pytest.mark.parametrize("text", UNMAPPED)
def test_what_may_decide_and_is_not_read_is_told_and_nothing_is_scored(text):
    rubric, result = examine(text)
    assert [(each.line, each.reason.partition(", and is not read")[0]) for each in result.unread] == UNMAPPED[text]
    assert rubric.view.refusal[1] == result.unread[0].reason


def test_a_table_says_that_a_field_and_a_place_do_not_count():
    text = f"pass_mark: 7\nlimits: {{cutoff: 3}}\n{ITEMS.replace('id: b', 'id: b, gate: 2')}"
    said = [
        examine(text, table(scale=[0, 10], unused=unused)) for unused in ([], ["gate", "/pass_mark", "/limits/cutoff"])
    ]
    assert [len(result.unread) for _, result in said] == [3, 0]
    assert [bool(rubric.view.refusal) for rubric, _ in said] == [True, False]


ROLES = {
    Role.WEIGHT: [("importance", 3), ("weight", "high"), ("pts", "40%")],
    Role.NEGATIVE: [("penalty", 2), ("polarity", "avoid"), ("want", False), ("must_not", True), ("sign", "-")],
    Role.GATE: [("veto", True), ("at_least", 3), ("severity", "veto"), ("threshold", 3)],
    Role.LEFT_OUT: [("enabled", "no"), ("advisory", True), ("applicability", "some answers")],
    Role.VERDICT: [("fail_below", 3)],
    Role.CHANGE: [("bonus", 1)],
    Role.LEVELS: [("quality_levels", {"seed": "None", "tree": "All"})],
    Role.DIRECTION: [("direction", "down"), ("higher_is_better", False)],
    Role.HARMLESS: [("owner", "ann"), ("gate_rationale", 3), ("version", 2)],
    Role.OPEN: [
        ("requires_proof", True),
        ("sought", 2),
        ("when_type", "a"),
        ("priority", "P0"),
        ("score_type", "a"),
        ("veto", None),
        ("since_when", math.inf),
    ],
}
ROLES_AROUND = {
    Role.WEIGHT: [("weighted", False), ("weighting", "equal"), ("default_weight", 2)],
    Role.NEGATIVE: [("deductions", 5), ("penalties", ["Lies"])],
    Role.GATE: [("red_flags", "Lies"), ("gates", {"a": 4}), ("default_required", True)],
    Role.PASS: [("pass_mark", 7), ("minimum_score", "70%")],
    Role.VERDICT: [("borderline", 5), ("pass_mark", "half"), ("thresholds", [2.5, 4]), ("grades", {"A": 9, "B": 7})],
    Role.COMBINE: [("aggregation", "min"), ("final_score", "min(a, b)")],
    Role.CHANGE: [("cap", 80), ("bonus", "1 point for a source")],
    Role.SCALE: [("rating_scale", "1-5"), ("scale", {"min": 1, "max": 5})],
    Role.TOTAL: [("total_weight", 100)],
    Role.HARMLESS: [("model", "x"), ("latency_threshold", 300)],
    Role.OPEN: [("weight", 2), ("required_fields", ["score"]), ("aggregation", "mean"), ("hard", 3)],
}


@pytest.mark.parametrize(("roles", "is_around"), [(ROLES, False), (ROLES_AROUND, True)])
def test_one_function_says_what_a_key_may_be_from_its_words_and_its_value(roles, is_around):
    said = {role: [role_of(key, value, is_around=is_around) for key, value in pairs] for role, pairs in roles.items()}
    assert said == {role: [role] * len(pairs) for role, pairs in roles.items()}


NUMBERS = {(5, 30): True, (1, 2): False, (4, 9, 30): False, (1, 2, 5): True, (30, 9, 4): True, (7, 7): False}


@pytest.mark.parametrize("numbers", NUMBERS)
def test_unread_numbers_of_criteria_are_weights_unless_they_rise_as_lines_or_an_order_do(numbers):
    items = ", ".join(f"{{id: c{at}, at: {number}, text: Names it}}" for at, number in enumerate(numbers))
    (document,), _ = read_documents(Source.from_bytes("a.yaml", f"criteria: [{items}]".encode()))
    search = UnmappedSearch(document, FormatTable("", "/criteria"), ("criteria",))
    assert (Role.WEIGHT in [found.role for found in search.find_in_criteria()]) == NUMBERS[numbers]


def test_an_order_and_the_end_of_the_scale_bear_on_no_score():
    items = (
        "{id: a, order: 1, weight: 5, text: Names the year, max: 5}, {id: b, order: 2, weight: 3, text: Names the day}"
    )
    rubric, result = examine(f"scale: 0-5\ncriteria: [{items}]")
    assert (rubric.view.refusal, result.unread) == (None, ())


LEVELS = [
    "{1: Names no year, 5: Names the year}",
    "{1: {text: Names no year}, 5: {text: Names the year}}",
    "[{score: 5, text: Names the year}, {score: 1, text: Names no year}]",
]


def lay_out(key, levels):
    return examine(f"scale: 1-5\n{ITEMS.replace('id: b', f'id: b, note: [It], {key}: {levels}')}")


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("key", ["grading", "scoring", "rating_scale", "bands", "choices"])
def test_levels_of_criteria_are_read_under_any_key(key, levels):
    rubric, result = lay_out(key, levels)
    texts = {level.number: level.outcome for level in rubric.criteria[1].levels if level.outcome}
    assert (texts, rubric.view.refusal, result.unread) == ({1: "Names no year", 5: "Names the year"}, None, ())


def test_levels_with_words_have_no_scores_under_any_key():
    rubric, result = lay_out("grading", "{poor: Names no year, good: Names the year}")
    assert (rubric.view.refusal[0], [each.line for each in result.unread]) == (
        ("criteria", 1, "grading", "poor"),
        [2],
    )


PENALTIES = ["points: 2, type: penalty", "penalty: 2", "points: 2, kind: negative", "points: -2, is_penalty: true"]


@pytest.mark.parametrize("mark", PENALTIES)
def test_a_criterion_that_says_that_it_is_a_penalty_costs_its_points(mark):
    items = f"{{id: a, points: 4, text: Names it}}, {{id: b, points: 4, text: Dates it}}, {{id: c, {mark}, text: Lies}}"
    rubric, result = examine(f"scale: yes-no\ncriteria: [{items}]")
    assert ([criterion.weight for criterion in rubric.criteria], result.unread) == ([4, 4, -2], ())


FLAGS = ["gate", "is_gate", "hard_fail", "gating", "veto", "knockout", "isBlocking", "must_pass"]


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_a_gate_by_the_words_of_its_key(flag):
    rubric, result = examine(f"scale: yes-no\n{ITEMS.replace('id: b', f'id: b, {flag}: true')}")
    assert ([criterion.gate for criterion in rubric.criteria], result.unread) == ([None, 10], ())


def test_all_criteria_must_be_met_where_the_file_says_that_all_combine():
    rubric, result = examine(f"scale: yes-no\ncombine: all\n{ITEMS}")
    assert ([criterion.gate for criterion in rubric.criteria], result.unread) == ([10, 10], ())


HUNDRED = "criteria: [{id: a, weight: 40, text: Names the year}, {id: b, weight: 70, text: Names the day}]"
TOTALS = ["total", "total_weight", "total_points", "total_score", "weights_sum", "max_total", "sum", "totalWeight"]

# By what the file says: the codes of its findings.
WRONG = {
    f"total_score: 10\n{ITEMS.replace('weight', 'points')}": ["weight.total"],
    "total_score: 10\ncriteria: [{id: a, max_score: 5, text: Names it}, {id: b, max_score: 3, text: Dates it}]": [
        "weight.total"
    ],
    f"scale: 0-5\ntotal_weight: 100%\n{ITEMS}": ["weight.total"],
    f"weights_sum: 8.5\n{ITEMS}": ["weight.total"],
    **{f"{total}: 100\n{HUNDRED}": ["weight.total"] for total in TOTALS},
    **{f"scale: 1-5\n{total}: 100\n{HUNDRED}": ["weight.total"] for total in TOTALS},
    f"scale: 0-5\ntotal: 90\n{HUNDRED}": ["weight.total"],
    f"total: 100\n{HUNDRED.replace('70', '50')}": ["weight.total"],
    f"scale: 0-5\nfail_threshold: 17\n{ITEMS.replace('weight: ', 'weight: 0.')}": ["bounds.threshold"],
    f"max_score: 5\npass_mark: 12\n{ITEMS}": ["bounds.threshold"],
    f"scale: 1-5\npass_threshold: 1\n{ITEMS}": ["bounds.threshold"],
    **{
        f"scale: {scale}\n{ITEMS.replace('id: b', f'id: b, {gate}')}": ["bounds.threshold"]
        for scale, gate in [("1-5", "critical: 1"), ("2-4", "required: 2")]
    },
    f"scale: 1-5\n{ITEMS.replace('}]', '}, {id: c, weight: 1}]')}": ["empty-outcome.no-text"],
}


@pytest.mark.parametrize("text", WRONG)
def test_totals_thresholds_and_texts_that_cannot_be_are_found(text):
    assert codes(examine(text)[1].findings) == WRONG[text]


NO_GATES = [
    ("0-4", "min_score: 0"),
    ("1-5", "min_score: 1"),
    ("1-5", "min_score: 1, max_score: 5"),
    ("0-5", "critical: 0"),
    ("0-10", "min_score: 1"),
]
"""A scale, and gates on it that say nothing and are no errors."""


@pytest.mark.parametrize(("scale", "gate"), NO_GATES)
def test_a_gate_of_0_and_the_ends_of_the_scale_are_no_errors(scale, gate):
    rubric, result = examine(f"scale: {scale}\n{ITEMS.replace('id: ', f'{gate}, id: ')}")
    assert (rubric.view.refusal, codes(result.findings)) == (None, [])


@pytest.mark.parametrize(("scale", "flag"), [("0-4", "critical"), ("0-100", "must_pass"), ("-1-3", "required")])
def test_a_1_that_may_mean_yes_or_a_score_is_not_scored(scale, flag):
    low, _, high = scale.rpartition("-")
    items = ITEMS.replace("id: b", f"id: b, {flag}: 1")
    rubric, _ = examine(f"scale: [{low}, {high}]\n{items}")
    place, reason = rubric.view.refusal
    assert (place[-1], f"`{flag}: 1`" in reason, "`min_score`" in reason) == (flag, True, True)
    renamed = items.replace(f"{flag}: 1", "min_score: 1")
    rubric, result = examine(f"scale: [{low}, {high}]\n{renamed}")
    assert (rubric.view.refusal, codes(result.findings)) == (None, [])


STOPS = {  # by a field of a criterion: what it may do
    "sign: -1": "be a penalty",
    "sign: minus": "be a penalty",
    "sign: '-1'": "be a penalty",
    "type: bonus": "change scores",
    "kind: optional": "leave a criterion out",
    "good: low": "say which scores are better",
    "desired: lower": "say which scores are better",
    "direction: -1": "say which scores are better",
}


@pytest.mark.parametrize("field", STOPS)
def test_a_kind_and_a_sign_of_a_criterion_stop_its_score(field):
    rubric, _ = examine(f"scale: yes-no\n{ITEMS.replace('id: b', f'id: b, {field}')}")
    key = field.partition(":")[0]
    place, reason = rubric.view.refusal
    assert (place[-1], f"may {STOPS[field]}," in reason) == (key, True)


@pytest.mark.parametrize(
    "field", ["sign: 1", "sign: plus", "type: factual", "category: low", "good: high", "type: 2", "kind: style"]
)
def test_other_kinds_and_signs_stop_nothing(field):
    rubric, result = examine(f"scale: yes-no\n{ITEMS.replace('id: b', f'id: b, {field}')}")
    assert (rubric.view.refusal, result.unread) == (None, ())


MIXED = """\
scale: yes-no
criteria:
- Names every figure of it
- {text: Thanks the customer for it, weight: 3}
- Has at most five sentences
"""


def test_statements_next_to_a_mapping_are_criteria_too():
    rubric, result = examine(MIXED)
    texts = [(criterion.outcome, criterion.weight) for criterion in rubric.criteria]
    assert (texts, rubric.view.refusal, result.unread) == (
        [("Names every figure of it", 1), ("Thanks the customer for it", 3), ("Has at most five sentences", 1)],
        None,
        (),
    )


IN_MAP = """\
scale: yes-no
criteria:
  tone: Names every figure of it
  thanks: {text: Thanks the customer for it, weight: 3}
  length: {text: Has at most five sentences, weight: 1}
"""


@pytest.mark.parametrize("length", ["{text: Has at most five sentences, weight: 1}", "Has at most five sentences"])
def test_a_statement_in_a_map_of_mappings_may_be_a_criterion_too(length):
    text = IN_MAP.replace("{text: Has at most five sentences, weight: 1}", length)
    rubric, result = examine(text)
    assert (rubric.view.refusal[0], result.unread[0].line) == (("criteria", "tone"), 3)
    unused = table(scale="/scale", unused=["/criteria/tone", "/criteria/length"])
    assert examine(text, unused)[0].view.refusal is None


def test_a_note_in_a_map_of_mappings_is_no_criterion():
    rubric, result = examine(IN_MAP.replace("tone:", "note:"))
    assert ([criterion.id for criterion in rubric.criteria], result.unread) == (["thanks", "length"], ())


OF_SCORES = [
    *(f"scale: 1-5\ntotal: {total}\n{ITEMS}" for total in (5, 8, 10, 40)),
    f"total: 20\n{ITEMS}",
    f"scale: 0-5\ntotal_score: 100\n{ITEMS.replace('weight: ', 'weight: 0.').replace('0.3', '0.5')}",
    f"total_points: 110\n{HUNDRED}",
]


@pytest.mark.parametrize("text", OF_SCORES)
def test_a_total_that_may_be_one_of_scores_is_no_error(text):
    assert codes(examine(text)[1].findings) == []


def test_levels_of_few_criteria_and_a_scale_of_most_leave_the_rest_to_the_scale_of_the_file():
    own = "{id: a, weight: 2, text: Names it, levels: {1: No name, 5: A name}}, {id: b, weight: 1, text: Dates it}"
    own += ", {id: c, weight: 1, text: Says why}"
    rubric, result = examine(f"scale: 1-5\npass_threshold: 4\ncriteria: [{own}]")
    texts = [[level.outcome for level in criterion.levels if level.outcome] for criterion in rubric.criteria]
    assert (texts, codes(result.findings)) == ([["No name", "A name"], [], []], ["undescribed-scale.undescribed"])
    own = "{id: a, text: Names it}, {id: b, text: Dates it, scale: 0-10}, {id: c, text: Says why, scale: 0-10}"
    rubric, _ = examine(f"scale: 0-5\npass_threshold: 80%\ncriteria: [{own}]")
    assert [criterion.levels[-1].number for criterion in rubric.criteria] == [5, 10, 10]
    assert (rubric.view.threshold, rubric.view.refusal) == (Decimal("0.8"), None)


SUM = """\
pass_threshold: 3
criteria:
- {id: a, text: Names the year, scale: 0-2}
- {id: b, text: Names the day, scale: 0-2}
"""
WAYS_ON = {
    "the sum": {"combine": "share"},
    "the mean": {"combine": "mean", "pass": Decimal("1.5"), "unused": "/pass_threshold"},
}


@pytest.mark.parametrize("way", WAYS_ON)
def test_a_threshold_of_a_sum_has_a_way_on_by_a_table(way):
    table = {"name": "ours", "files": ["x"], "criteria": "/criteria", "id": "id", "outcome": "text", "scale": "scale"}
    settings = FileSettings(shapes=(FormatTable.from_table({"pass": "/pass_threshold", **table, **WAYS_ON[way]}),))
    assert examine(SUM)[0].refusal[1].endswith("; run `rubric-lint adopt evals/rubric.yaml`")
    rubric, _ = examine(SUM, settings)
    assert (rubric.view.threshold, rubric.refusal) == (Decimal("0.75"), None)


def test_a_changed_pass_mark_is_a_change_of_the_rubric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, mark in (("old.yaml", 6), ("new.yaml", 7)):
        (tmp_path / name).write_text(
            f"version: 1\nscale: 0-10\npass_mark: {mark}\n{ITEMS}\n".replace("criteria", "dimensions")
        )
    report, _, code = call("diff", "old.yaml", "new.yaml")
    assert ("0.6" in report and "0.7" in report, code) == (True, 1)
