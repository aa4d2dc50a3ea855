"""What rules make of outcomes by their words: tables of faulty ones and of sound ones, in `outcomes/`."""

import json
import re
import time
from pathlib import Path

import pytest

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.rubric import is_template

TABLES = Path(__file__).parents[1] / "outcomes"
CLAIMED = FileSettings(claimed=True)
OTHER = "Names the author of the source in full"
LAST = "Names the author and the publisher of the source"


def read(name):
    return (TABLES / f"{name}.txt").read_text("utf-8").splitlines()


def found(*entries):
    """The rules that find something in a rubric."""
    result = lint("a.json", json.dumps({"rubrics": entries}).encode(), CLAIMED)
    return {finding.rule for finding in result.findings}


def rubric(where, text):
    """A rubric with one outcome at a place: the bounds of its band, its level, or a kind of rubric."""
    if where == "checklist":
        return {"id": "a", "expected_outcome": text}
    if where.startswith("level"):
        own = int(where.partition(" ")[2] or 1)
        return {"id": "a", "levels": {str(own): text, str(own + 4): OTHER, str(own + 7): LAST}}
    low, high = map(int, where.split("-")) if where != "bands" else (0, 5)
    rest = [(0, low - 1, OTHER), (high + 1, 10, LAST)]
    bands = [{"score_range": [first, last], "expected_outcome": it} for first, last, it in rest if first <= last]
    return {"id": "a", "score_ranges": [*bands, {"score_range": [low, high], "expected_outcome": text}]}


def split(line):
    where, _, text = line.partition(" | ")
    return where, text


@pytest.mark.slow
@pytest.mark.parametrize("where", ["bands", "level", "checklist"])
def test_labels_are_vague_and_short_outcomes_are_not(where):
    labels, sound = read("labels"), read("sound")
    vague = [text for text in (*labels, *sound) if "vague-outcome" in found(rubric(where, text))]
    assert (len(labels), len(sound), vague) == (133, 123, labels)


def test_what_may_be_an_answer_is_vague_in_a_scale_alone():
    for text in ("Limited", "Basic", "Complete", "3", "b"):
        flagged = [where for where in ("bands", "level", "checklist") if "vague-outcome" in found(rubric(where, text))]
        assert flagged == ["bands", "level"], text


def test_one_outcome_with_other_bands_or_levels_is_another_criterion():
    task = {"expected_outcome": "How well it names its sources"}
    scales = [{"score_ranges": {"0": OTHER, "5": LAST}}, {"score_ranges": {"0": OTHER, "6": LAST}}]
    scales += [{"levels": {"1": OTHER, "2": LAST}}, {"levels": {"1": OTHER, "3": LAST}}]
    for own, other in ((0, 1), (2, 3)):
        pairs = [(scales[own], scales[own]), (scales[own], scales[other])]
        flagged = ["duplicate-criterion" in found({**task, **one}, {**task, **two}) for one, two in pairs]
        assert flagged == [True, False]


def scales(line):
    """The same scale as bands (where it can be), as levels with outcomes, and as levels with names."""
    steps = [(int(number), text) for number, _, text in (step.partition(": ") for step in line.split("; "))]
    levels = [{"level": number, "expected_outcome": text} for number, text in steps]
    named = [{"level": number, "name": text, "expected_outcome": f"Cites {number} sources"} for number, text in steps]
    yield [{"id": "a", "levels": levels}]
    if all(re.fullmatch(r"[\w ]+", text) for _, text in steps):
        yield [{"id": "a", "levels": named}]
    if all(0 <= number <= 10 for number, _ in steps):
        yield [{"id": "a", "score_ranges": {str(number): text for number, text in steps}}]


def pair(line):
    """Two criteria with the outcomes of a line."""
    return [[{"id": f"c{number}", "expected_outcome": text} for number, text in enumerate(line.split(" || "))]]


def at_place(line):
    return [[rubric(*split(line))]]


RULES = {  # what makes the rubrics of a line
    "placeholder": lambda line: at_place(line if " | " in line else f"checklist | {line}"),
    "score-in-text": at_place,
    "not-self-contained": at_place,
    "duplicate-criterion": pair,
    "inverted-scale": scales,
}


@pytest.mark.parametrize("is_sound", [False, True], ids=["faulty", "sound"])
@pytest.mark.parametrize("rule", RULES)
def test_each_faulty_outcome_is_found_and_no_sound_one(rule, is_sound):
    lines = read(rule.replace("-", "_") + "_sound" * is_sound)
    assert len(lines) >= (40 if is_sound else 25)
    assert [line for line in lines for entries in RULES[rule](line) if (rule in found(*entries)) is is_sound] == []


@pytest.mark.slow
@pytest.mark.parametrize("where", ["bands", "level", "checklist"])
def test_an_outcome_is_empty_a_placeholder_or_vague_but_never_two_of_them(where):
    lines = [*read("labels"), *read("sound"), *read("placeholder"), *read("placeholder_sound"), "", " ", "<good>", "[]"]
    own = {"empty-outcome", "placeholder", "vague-outcome"}
    assert [text for text in lines if len(found(rubric(where, text)) & own) > 1] == []


@pytest.mark.parametrize(
    "template",
    [
        "{{low}}",
        "{{ good }}",
        "${HIGH}",
        "{low}",
        "$low",
        "%LOW%",
        "@@HIGH@@",
        "__LOW__",
        "{% if poor %}Poor{% endif %}",
    ],
)
def test_what_a_template_engine_replaces_is_left_alone(template):
    assert is_template(template)
    for where in ("bands", "level", "checklist"):
        assert found(rubric(where, template)) <= {"band-order", "split-band"}


def scales(line):
    """The same scale as bands (where it can be), as levels with outcomes, and as levels with names."""
    steps = [(int(number), text) for number, _, text in (step.partition(": ") for step in line.split("; "))]
    levels = [{"level": number, "expected_outcome": text} for number, text in steps]
    named = [{"level": number, "name": text, "expected_outcome": f"Cites {number} sources"} for number, text in steps]
    yield {"id": "a", "levels": levels}
    if all(re.fullmatch(r"[\w ]+", text) for _, text in steps):
        yield {"id": "a", "levels": named}
    if all(0 <= number <= 10 for number, _ in steps):
        yield {"id": "a", "score_ranges": {str(number): text for number, text in steps}}


PIECES = [
    *(
        "same as ",
        "the same as the ",
        "see ",
        "(",
        ". ",
        "; ",
        " - ",
        "- ",
        " ",
        "\t",
        "\n",
        "in the ",
        "of all ",
        "level ",
    ),
    *("everything a b ", "everything in level 1", "same a b from level ", "as above ", "ditto", "see level #"),
    *(
        "score ",
        "score of ",
        "give it a ",
        "1 to ",
        "1",
        "1 / ",
        "1/1",
        "10 out of ",
        "5 points ",
        "1.",
        "(1 to 2 ",
        "9/10",
    ),
    *(
        "todo: ",
        "to be ",
        "<",
        "<>",
        "[",
        "[todo",
        "insert ",
        "your a ",
        "...",
        "_",
        "{",
        "{%",
        "$a",
        "%(",
        "%a",
        "@",
        "__a",
    ),
    *(
        "not ",
        "meets all ",
        "no ",
        "very ",
        "good ",
        "a",
        "ä",
        "needs some ",
        "room for ",
        "n't ",
        "1 of ",
        "score: 1 ",
    ),
]


def spend(run):
    times = []
    for _ in range(3):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def check_all(size):
    for piece in PIECES:
        text = piece * (size // len(piece)) + "!"
        found(rubric("0-4", text), rubric("5-10", f"{OTHER} {text}"))
        found(rubric("level", text))
        found(rubric("checklist", text), rubric("checklist", f"{text}."))


@pytest.mark.slow
def test_four_times_as_long_outcomes_take_about_four_times_as_long():
    check_all(10)  # what is loaded once is not counted
    assert spend(lambda: check_all(8_000)) < 10 * spend(lambda: check_all(2_000))


@pytest.mark.parametrize(
    ("ranges", "is_found"),
    [
        ({"0": OTHER}, True),
        ([{"score_range": [0, 10], "expected_outcome": OTHER}], True),
        ([{"score_range": [0, 10], "expected_outcome": ""}], True),
        ({"score_range": [0, 10], "expected_outcome": OTHER}, True),
        ({"0": OTHER, "5": LAST}, False),
        ({"1": OTHER}, False),  # which is a gap
        ([{"score_range": [0, 12], "expected_outcome": OTHER}], False),
        ([{"score_range": [10, 0], "expected_outcome": OTHER}], False),
        ([{"score_range": [0, 9], "expected_outcome": OTHER}], False),
        (
            [{"score_range": [0, 10], "expected_outcome": OTHER}, {"score_range": [4, 5], "expected_outcome": LAST}],
            False,
        ),
    ],
)
def test_one_band_for_all_scores(ranges, is_found):
    entry = ranges if "score_range" in ranges else {"id": "a", "score_ranges": ranges}
    assert ("single-band" in found(entry)) is is_found


@pytest.mark.parametrize(
    ("rule", "faulty", "sound"), [("two-actions", 60, 74), ("bundled-list", 5, 13)], ids=["two-actions", "bundled-list"]
)
def test_a_yes_or_no_criterion_that_asks_for_several_things_is_found(rule, faulty, sound):
    name = rule.replace("-", "_")
    lines = [*read(name), *read(f"{name}_sound")]
    assert [text for text in lines if rule in found(rubric("checklist", text))] == lines[:faulty]
    assert [text for text in lines if rule in found(rubric("bands", text)) | found(rubric("level", text))] == []
    assert len(lines) == faulty + sound


# The weight and the outcome of two criteria, and what is found about the second.
PAIRS = [
    ((5, "States the dose"), (-5, "states the dose."), "cancelling-criterion"),
    ((5, "States the dose"), (5, "states the dose."), "duplicate-criterion"),
    ((-5, "States the dose"), (-3, "states the dose."), "duplicate-criterion"),
    ((5, "States the dose"), (0, "states the dose."), "duplicate-criterion"),
    ((5, "States the daily dose"), (-5, "Fails to state the daily dose"), "mirrored-criterion"),
    ((5, "States the daily dose"), (-2, "Does not state the daily dose of it"), "mirrored-criterion"),
    ((5, "Doesn't blame the customer"), (-5, "Blames the customer"), "mirrored-criterion"),
    (
        (5, "Tells guests to leave in cases of smoke"),
        (-5, "Fails to tell guests to leave in case of smoke"),
        "mirrored-criterion",
    ),
    ((5, "Name the price of the ticket"), (-5, "Omits the price of the ticket"), "mirrored-criterion"),
    (
        (5, "Identifies the class of the ticket"),
        (-5, "Does not identify the classes of the ticket"),
        "mirrored-criterion",
    ),
    ((5, "Names a source for each number"), (-5, "Gives numbers without a source"), ""),
    ((5, "States the daily dose"), (-5, "States a daily dose above 3 g"), ""),
    ((5, "States the daily dose"), (5, "Fails to state the daily dose"), ""),
    ((5, "Does not promise a refund"), (-5, "Does not say who pays"), ""),
    ((5, "Names a source for each number"), (-5, "Names no source for the numbers"), "mirrored-criterion"),
    ((5, "Deletes the old file"), (-5, "Deletes the old file without a question"), ""),
    ((5, "Links to the page of the policy"), (-5, "Links to a page of the policy that does not exist"), ""),
    ((5, "States that aspirin is not safe for children"), (-5, "States that aspirin is safe for children"), ""),
    ((5, "Recommends 5 mg of ramipril"), (-5, "Fails to recommend 10 mg of ramipril"), ""),
    ((5, "Mentions the price of plan A"), (-5, "Does not mention the price of plan B"), ""),
    ((5, "Plans a visit to a heart doctor in May"), (-5, "Does not plan a visit to an eye doctor in May"), ""),
]
RULES_OF_PAIRS = {"cancelling-criterion", "mirrored-criterion", "duplicate-criterion"}


@pytest.mark.parametrize(("first", "second", "rule"), PAIRS)
def test_a_penalty_for_what_another_criterion_gives_points_for_is_found(first, second, rule):
    entries = [(1, "Is signed by a doctor"), first, second]
    items = [{"name": f"c{at}", "weight": weight, "requirement": text} for at, (weight, text) in enumerate(entries)]
    findings = lint("a.json", json.dumps(items).encode()).findings
    assert [(finding.rule, finding.pointer) for finding in findings if finding.rule in RULES_OF_PAIRS] == (
        [(rule, "/2/requirement")] if rule else []
    )


def codes(*criteria):
    """The codes and pointers of what is found in criteria with a weight and a text."""
    items = [{"name": f"c{at}", "weight": weight, "requirement": text} for at, (weight, text) in enumerate(criteria)]
    return [(finding.code, finding.pointer) for finding in lint("a.json", json.dumps(items).encode()).findings]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Fails to name a source", "negated-penalty.negated"),
        ("The response does not name a source", "negated-penalty.negated"),
        ("Never asks for the age", "negated-penalty.negated"),
        ("1.2: Response does not name a source", "negated-penalty.negated"),
        ("Omits the price", "negated-penalty.negated"),
        ("Lacks a date", "negated-penalty.negated"),
        ("Misses a note about the toll", "negated-penalty.negated"),
        ("Forgets to name the ferry", "negated-penalty.negated"),
        ("Ignores the question", "negated-penalty.negated"),
        ("Names no source", "negated-penalty.negated"),
        ("Misses no deadline", ""),
        ("Lack of sleep is blamed", ""),
        ("Gives numbers and does not name a source", ""),
        ("Blames the customer", ""),
        ("Should ask where the user lives", "contradicting-sign.penalty"),
        ("The response should not invent a train number", "contradicting-sign.penalty"),
        ("It must name the price", "contradicting-sign.penalty"),
        ("Needs to be short", "contradicting-sign.penalty"),
        ("Avoids emoji in headings", "contradicting-sign.penalty"),
        ("Avoid emoji in headings", "contradicting-sign.penalty"),
        ("Refrains from slang", "contradicting-sign.penalty"),
        ("Do not name a train", "contradicting-sign.penalty"),
        ("Should ask for the age but fails to", ""),
        ("Should ask for the age, but it does not", ""),
        ("Should the user ask for a refund, promises one", ""),
        ("Should have asked for the age", ""),
        ("Avoids answering", ""),
        ("Avoids the question", ""),
        ("Must-have papers are lost", ""),
        ("Says that the user should wait", ""),
    ],
)
def test_a_penalty_that_is_negated_or_asks_for_what_is_good_is_found(text, code):
    assert codes((2, "Is signed"), (-1, text)) == ([(code, "/1/requirement")] if code else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Fails to name the price", "contradicting-sign.points"),
        ("The answer neglects to name the price", "contradicting-sign.points"),
        ("Does not blame the customer", ""),
        ("Omits the password", ""),
        ("Says that the import fails to load", ""),
    ],
)
def test_points_for_a_failure_contradict_their_sign(text, code):
    assert codes((2, "Is signed"), (1, text)) == ([(code, "/1/requirement")] if code else [])


def test_a_negated_penalty_that_mirrors_another_criterion_is_only_a_mirror():
    dose, mirror = (5, "States the daily dose"), (-3, "Does not state the daily dose")
    assert codes(dose, mirror) == [("mirrored-criterion.negation", "/1/requirement")]
    assert codes(dose, mirror, (-1, "Omits the price")) == [
        ("mirrored-criterion.negation", "/1/requirement"),
        ("negated-penalty.negated", "/2/requirement"),
    ]


def test_penalties_that_are_negated_get_one_hint_for_a_rubric(said):
    items = [(5, "Is signed"), (-1, "Omits the price"), (-1, "Blames the guest"), (-1, "Lacks a date")]
    found = lint(
        "a.json",
        json.dumps(
            [{"name": f"c{at}", "weight": weight, "requirement": text} for at, (weight, text) in enumerate(items)]
        ).encode(),
    ).findings
    assert [(finding.code, finding.severity, finding.pointer) for finding in found] == [
        ("negated-penalty.several", "hint", "/1/requirement")
    ]
    assert [finding.related[0].span.start > finding.span.start for finding in found] == [True]
    said([finding.message for finding in found])


NEGATED = ("Is signed", "Omits the price", "Blames the guest", "Lacks a date", "Fails to greet", "Lacks it", "Omits it")


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ((), ["negated-penalty.several"]),
        ((1,), []),
        ((3,), ["negated-penalty.several"]),
        ((1, 3, 4, 5, 6), []),
    ],
)
def test_a_comment_on_any_of_the_penalties_that_share_a_hint_is_in_use(ignored, expected):
    rows = [f"{{name: c{at}, weight: {-1 if at else 5}, requirement: {text}}}" for at, text in enumerate(NEGATED)]
    marks = ["  # rubric-lint: ignore[negated-penalty]" * (at in ignored) for at in range(len(rows))]
    text = "".join(f"- {row}{mark}\n" for row, mark in zip(rows, marks, strict=True))
    assert [finding.code for finding in lint("a.yaml", text.encode()).findings] == expected


def test_a_comment_is_unused_where_no_penalty_is_negated():
    text = "- {name: a, weight: -1, requirement: Blames the guest}  # rubric-lint: ignore[negated-penalty]\n"
    signed = "- {name: b, weight: 1, requirement: Is signed}\n"
    assert [finding.code for finding in lint("a.yaml", f"{signed}{text}".encode()).findings] == ["unused-ignore.idle"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Suggests waiting and recommends a hot bath", "two-actions.penalty"),
        ("States that the bath is hot and that the guest may wait", ""),
    ],
)
def test_a_penalty_for_two_actions_has_words_of_its_own(text, code):
    assert codes((2, "Is signed"), (-1, text)) == ([(code, "/1/requirement")] if code else [])


@pytest.mark.parametrize(
    ("points", "code"), [(-3, "vague-outcome.complaint"), (3, "vague-outcome.praise")], ids=["penalty", "points"]
)
def test_a_penalty_that_judges_does_not_praise(points, code):
    texts = {"Names the dose": 5, "Answer is too long with insufficient explanation.": points}
    rubrics = [{"criterion": text, "points": number, "tags": []} for text, number in texts.items()]
    found = lint("a.json", json.dumps({"prompt_id": "p", "rubrics": rubrics}).encode()).findings
    assert [(finding.code, finding.pointer) for finding in found] == [(code, "/rubrics/1/criterion")]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Asks for the age and recommends a doctor", 1),
        ("Name the leak and recommend a plumber", 1),
        ("The response should name the leak and recommend a plumber", 1),
        ("Lists the signs of a leak and advises calling a plumber if any of them appear", 0),
        ("Asks for the size of the garden and suggests seeds accordingly", 0),
        ("Names the pump and explains its parts", 0),
        ("Names the pump and explains these parts", 0),
        ("Does the response name the leak and recommend a plumber?", 0),
    ],
)
def test_no_split_is_offered_whose_second_half_points_to_the_first(text, count):
    (finding,) = lint(
        "a.json", json.dumps({"rubrics": [{"id": "a", "expected_outcome": text}]}).encode(), CLAIMED
    ).findings
    assert (finding.code, len(finding.choices)) == ("two-actions.both", count)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("States that the bridge is closed and that the ferry runs every hour", True),
        ("State clearly that the bridge is closed, and also that the ferry runs", True),
        ("The response should say that the bridge is closed and that the ferry runs", True),
        ("States that the bridge is closed. Says why, and that it opens soon", False),
        ("States that the price of the bridge and that of the ferry rise", False),
        ("States that the bridge is closed and the ferry runs", False),
        ("Mentions the toll on the bridge, and that the ferry is free", False),
    ],
)
def test_two_claims_are_hinted_at(text, is_found):
    found = lint("a.json", json.dumps({"rubrics": [text]}).encode(), CLAIMED).findings
    assert [(each.rule, each.severity) for each in found] == ([("two-claims", "hint")] if is_found else [])


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("dose", "dose-again", "duplicate-criterion.copied"),
        ("dose", "dose-2", "duplicate-criterion.counted-twice"),
        ("a", "b", "duplicate-criterion.counted-twice"),
    ],
)
def test_one_text_under_two_names_may_be_a_copy(first, second, code):
    rubrics = [{"id": name, "expected_outcome": "States the dose"} for name in (first, second)]
    found = lint("a.json", json.dumps({"rubrics": rubrics}).encode(), CLAIMED).findings
    assert [finding.code for finding in found] == [code]


@pytest.mark.parametrize(
    ("name", "text", "pointer"),
    [
        ("a.json", '[{"name": "a", "weight": -1, "requirement": "Never asks for the age"}]', "/0/requirement"),
        (
            "promptfooconfig.yaml",
            "tests: [{assert: [{type: not-llm-rubric, value: Never asks for the age}]}]",
            "/tests/0/assert/0/value",
        ),
    ],
)
def test_so_is_one_in_a_rubric_that_turns_its_answers_around(name, text, pointer):
    findings = lint(name, text.encode()).findings
    assert [(finding.rule, finding.pointer) for finding in findings] == [("negated-penalty", pointer)]
