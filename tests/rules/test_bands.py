"""Bounds, overlap and coverage against a count by hand: from the definitions, over 0..10, without the code's model."""

import json
import re
from math import ceil, floor, inf
from random import Random

import pytest
from found import marked
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import newest

ALL = range(11)
ONLY = FileSettings(enabled=frozenset({"bounds", "overlap", "coverage"}))
UNREADABLE = ("null", '"7"', "true", ".inf", ".nan", "1e400", "[3]")

INTEGERS = [str(bound) for bound in range(-2, 13)]
FLOATS = [str(half / 2) for half in range(-4, 25)]
KINDS = {
    "integers": INTEGERS,
    "scores": [str(score) for score in ALL],
    "floats": FLOATS,
    "anything": [*INTEGERS, *FLOATS, *UNREADABLE],
}


def repeatable(name):
    return Random(name)  # noqa: S311 (no secret comes of it)


def invent_bands(random, bounds):
    """Up to six bands; often with sorted bounds within 0..10, which chance alone would seldom give."""
    bands = [(random.choice(bounds), random.choice(bounds)) for _ in range(random.randint(0, 6))]
    if random.random() < 0.4:
        bands = [tuple(sorted(band, key=lambda bound: number(bound) or 0)) for band in bands]
    return bands


def number(written):
    """The finite number that a bound is written as; None where it is none."""
    value = float(written) if re.fullmatch(r"-?[0-9.e]+", written) else inf
    return value if abs(value) < inf else None


def is_score(written):
    value = number(written)
    return value is not None and value in ALL


def certain(band):
    """The scores that lie between the bounds; none where one is wrong."""
    low, high = map(number, band)
    return {score for score in ALL if all(map(is_score, band)) and low <= score <= high}


def meant(band):
    """The scores that a generous reader lets the band cover; a bound that is out of range may be any."""
    low, high = (bound if bound is not None and 0 <= bound <= 10 else None for bound in map(number, band))
    if low is not None and high is not None:
        low, high = sorted((low, high))
    low, high = 0 if low is None else low, 10 if high is None else high
    return {score for score in ALL if floor(low) <= score <= ceil(high)}


def expected_findings(bands, ranges, owner):
    """What the definitions say of a list of bands; `ranges` are the places of their `score_range` values."""
    expected = set()
    for number_, band in enumerate(bands):
        faulty = [side for side, bound in enumerate(band) if not is_score(bound)]
        expected |= {("bounds", f"{ranges(number_)}/{side}", ()) for side in faulty}
        if not faulty and number(band[0]) > number(band[1]):
            expected.add(("bounds", ranges(number_), ()))
        told = set()
        own = sorted(certain(band))
        lower = [
            each
            for each in enumerate(bands)
            if (held := sorted(certain(each[1])))
            and own
            and ((held[0], held[-1], each[0]) < (own[0], own[-1], number_))
        ]
        for _, earlier in sorted(lower, key=lambda each: (min(certain(each[1])), max(certain(each[1])), each[0])):
            shared = certain(band) & certain(earlier)
            if not shared <= told:
                expected.add(("overlap", ranges(number_), tuple(sorted(shared))))
            told |= shared
    if bands and (gap := set(ALL).difference(*map(meant, bands))):
        expected.add(("coverage", owner, tuple(sorted(gap))))
    return expected


def named_scores(finding):
    """The scores that a finding of overlap or coverage is about; other findings have none."""
    if "scores" not in finding.values:
        return ()
    text = re.sub("^scores? ", "", finding.values["scores"])
    runs = [list(map(int, run.split(" to "))) for run in re.split(r", | and ", text)]
    return tuple(score for run in runs for score in range(run[0], run[-1] + 1))


def findings_of(text, name="a.yaml"):
    return lint(name, text.encode(), ONLY).findings


def reported(text, name="a.yaml"):
    found = [(finding.rule, finding.pointer, named_scores(finding)) for finding in findings_of(text, name)]
    assert len(found) == len(set(found))
    return set(found)


def write_bands(bands, indent):
    return "".join(
        f"{indent}- score_range: [{low}, {high}]\n{indent}  expected_outcome: Outcome {number_}\n"
        for number_, (low, high) in enumerate(bands)
    )


def write_criterion(bands):
    ranges = f"\n{write_bands(bands, '      ')}" if bands else " []\n"
    return f"  - id: a\n    score_ranges:{ranges}"


def by_criterion(findings):
    found = {}
    for rule, pointer, scores in findings:
        found.setdefault(pointer.split("/")[2], set()).add((rule, pointer, scores))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("bounds", KINDS.values(), ids=KINDS)
def test_the_bands_of_a_criterion(bounds):
    random = repeatable(f"criterion {len(bounds)}")
    for _ in range(20):
        rubric = [invent_bands(random, bounds) for _ in range(20)]
        expected = set()
        for index, bands in enumerate(rubric):
            owner = f"/rubrics/{index}/score_ranges"
            expected |= expected_findings(bands, f"{owner}/{{}}/score_range".format, owner)
        actual = reported("rubrics:\n" + "".join(map(write_criterion, rubric)))
        assert by_criterion(actual) == by_criterion(expected)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", KINDS.values(), ids=KINDS)
def test_the_bands_of_a_holistic_rubric(bounds):
    random = repeatable(f"holistic {len(bounds)}")
    for _ in range(100):
        bands = invent_bands(random, bounds)
        text = f"# $schema: rubric-v2.schema.json\nrubrics:\n{write_bands(bands, '  ')}"
        assert (bands, reported(text)) == (
            bands,
            expected_findings(bands, "/rubrics/{}/score_range".format, "/rubrics"),
        )


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [KINDS["integers"], KINDS["scores"]], ids=["integers", "scores"])
def test_bands_in_json(bounds):
    random = repeatable(f"json {len(bounds)}")
    for _ in range(20):
        rubric = [invent_bands(random, bounds) for _ in range(20)]
        expected, criteria = set(), []
        for index, bands in enumerate(rubric):
            owner = f"/rubrics/{index}/score_ranges"
            expected |= expected_findings(bands, f"{owner}/{{}}/score_range".format, owner)
            ranges = [{"score_range": [*map(int, band)], "expected_outcome": "Seen"} for band in bands]
            criteria.append({"id": "a", "score_ranges": ranges})
        actual = reported(json.dumps({"rubrics": criteria}), "a.json")
        assert by_criterion(actual) == by_criterion(expected)


KEY = st.sampled_from([*INTEGERS, *INTEGERS, *INTEGERS, *["1.5", "2.0", "x", "0x3", "null", "+1", "07", "1e0"]])


@given(st.lists(KEY, min_size=1, max_size=6, unique=True), st.booleans(), st.booleans())
def test_the_map_form(keys, is_flow, is_quoted):
    quote = '"' if is_quoted else ""
    entries = [f"{quote}{key}{quote}: Outcome {key}" for key in keys]
    block = "".join(f"\n      {entry}" for entry in entries) + "\n"
    text = f"rubrics:\n  - id: a\n    score_ranges: {'{' + ', '.join(entries) + '}' if is_flow else block}"
    owner = "/rubrics/0/score_ranges"
    scores = {key: int(float(key)) for key in keys if key in {*map(str, ALL), "2.0"}}
    expected = {("bounds", f"{owner}/{key}", ()) for key in keys if key not in scores}
    # A key that is no score may have been meant for any.
    if len(scores) == len(keys) and (gap := set(range(min(scores.values())))):
        expected.add(("coverage", owner, tuple(sorted(gap))))
    if {"2", "2.0"} <= scores.keys():
        last = max(keys.index("2"), keys.index("2.0"))
        expected.add(("overlap", f"{owner}/{keys[last]}", ()))
    assert reported(text) == expected


@pytest.mark.parametrize(
    ("bands", "expected"),
    [
        ([(0, 4), (3, 6), (6, 10)], [("scores 3 and 4", "[3, 6]", "[0, 4]"), ("score 6", "[6, 10]", "[3, 6]")]),
        ([(0, 10), (2, 8), (3, 5)], [("scores 2 to 8", "[2, 8]", "[0, 10]"), ("scores 3 to 5", "[3, 5]", "[0, 10]")]),
        ([(0, 4), (5, 10), (3, 7)], [("scores 5 to 7", "[5, 10]", "[3, 7]"), ("scores 3 and 4", "[3, 7]", "[0, 4]")]),
    ],
)
def test_an_overlap_is_told_once_with_its_scores_and_both_bands(bands, expected):
    found = findings_of("rubrics:\n" + write_criterion(bands))
    assert [tuple(each.values[name] for name in ("scores", "band", "other")) for each in found] == expected
    assert {each.code for each in found} == {"overlap.shared-scores"}


@pytest.mark.parametrize(("bands", "gap"), [([(1, 2), (4, 4), (8, 9)], (0, 3, 5, 6, 7, 10)), ([(0, 9)], (10,))])
def test_a_gap_is_told_with_its_scores(bands, gap):
    (found,) = findings_of("rubrics:\n" + write_criterion(bands))
    assert (found.code, named_scores(found)) == ("coverage.gap", gap)


def test_an_overlap_names_the_other_place():
    text = "rubrics:\n" + write_criterion([(0, 4), (5, 6), (4, 10)])
    (low, high) = findings_of(text)
    places = [(text[place.span.start : place.span.end], place.message) for place in (*low.related, *high.related)]
    assert [text[found.span.start : found.span.end] for found in (low, high)] == ["[5, 6]", "[4, 10]"]
    assert places == [("[4, 10]", "also covers 5 and 6"), ("[0, 4]", "also covers 4")]


@pytest.mark.parametrize(
    ("bands", "expected"),
    [
        ([(0, 5), (6, 7), (-8, 10)], [("bounds", "/rubrics/0/score_ranges/2/score_range/0")]),
        ([(0, 5), (6, 12)], [("bounds", "/rubrics/0/score_ranges/1/score_range/1")]),
        ([(0, 5), (12, 10), (6, 7)], [("bounds", "/rubrics/0/score_ranges/1/score_range/0")]),
        (
            [('"0"', 0), (1, 6), (8, 10)],
            [("coverage", "/rubrics/0/score_ranges"), ("bounds", "/rubrics/0/score_ranges/0/score_range/0")],
        ),
    ],
)
def test_a_wrong_bound_is_one_finding_and_hides_no_other(bands, expected):
    result = lint("a.yaml", ("rubrics:\n" + write_criterion(bands)).encode())
    found = [(finding.rule, finding.pointer) for finding in result.findings if finding.rule != "split-band"]
    assert found == expected


A10 = """\
rubrics:
  - score_range: [0, 3]
    expected_outcome: It is not said
  - score_range: [4, 7]
    expected_outcome: It is hinted at
  - id: b
    score_ranges: {0: It is early, 5: It is late}
"""


def test_each_scale_of_a_mixed_rubric_is_checked_by_itself():
    found = [(finding.code, finding.pointer) for finding in lint("a.yaml", A10.encode()).findings]
    assert found == [("coverage.gap", "/rubrics"), ("mixing.two-shapes", "/rubrics/2")]


@pytest.mark.parametrize("item", ["[5, 10]", "", "7"])
def test_an_item_of_a_holistic_rubric_that_is_no_mapping_may_be_any_band(item):
    text = f"rubrics:\n  - {{score_range: [0, 4], expected_outcome: Names another city}}\n  - {item}\n"
    found = [(finding.rule, finding.pointer) for finding in lint("a.yaml", text.encode()).findings]
    assert found == [("schema", "/rubrics/1")]


@pytest.mark.parametrize("empty", ["[]", "{}"])
def test_a_scale_without_bands_has_no_gap(empty):
    text = f"rubrics:\n  - {{id: b, score_ranges: {empty}}}\n" + write_criterion([(0, 4), (5, 10)])
    found = [(finding.rule, finding.pointer) for finding in lint("a.yaml", text.encode()).findings]
    assert found == [("schema", "/rubrics/0/score_ranges")]


def test_a_stray_band_among_criteria_is_mixing_alone():
    text = "rubrics:\n" + write_criterion([(0, 4), (5, 10)]) + write_bands([(3, 6)], "  ")
    assert [finding.rule for finding in lint("a.yaml", text.encode()).findings] == ["mixing"]


def test_an_integer_may_be_written_with_a_point_in_a_value_and_in_a_key():
    long = "rubrics:\n" + write_criterion([(0, 4.0), (5.0, 10)])
    short = "rubrics:\n  - {id: a, score_ranges: {0: Outcome 0, 5.0: Outcome 1}}\n"
    assert [findings_of(text) for text in (long, short)] == [(), ()]


REPEATED, WRONG = "overlap.repeated-key", "bounds.unexpected"


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("{0: No, 5: Half, 5.0: All}", [(REPEATED, "5.0")]),
        ("{0: No, 0.0: Half, 5: All}", [(REPEATED, "0.0")]),
        ("{5.0: No, 0: Half, 5: All, 5.00: More}", [(REPEATED, "5"), (REPEATED, "5.00")]),
        ("{0: No, 5: Half, '5': All}", [("duplicate-key.repeated", "'5'")]),
        *((f"{{0: No, 5: Half, {key}: All}}", [(WRONG, key)]) for key in ("05", "+5", "5e0", "0x5", "5_0")),
    ],
)
def test_one_score_in_two_notations_is_a_repeated_key_and_no_overlap(keys, found):
    text = f"rubrics: [{{id: a, score_ranges: {keys}}}]\n"
    rules = FileSettings(enabled=frozenset({"overlap", "duplicate-key", "bounds"}))
    assert marked(lint("a.yaml", text.encode(), rules)) == found


LEVELS = "score_ranges: [{score_range: [1, 1], TEXT: Names one}, {score_range: [2, 2], TEXT: Names both}]"
OURS = LEVELS.replace("TEXT", "expected_outcome")
OF_AGENTV = LEVELS.replace("TEXT", "outcome")
OTHER = "{id: b, score_ranges: {0: Names none, 5: Names all}}"
AS_BANDS = {
    "of version 2": (f"rubrics: [{{id: a, {OURS}}}]\n", "levels-as-bands", ["as-levels"]),
    "of version 2 beside bands": (f"rubrics: [{{id: a, {OURS}}}, {OTHER}]\n", "levels-among-bands", []),
    "of version 3 beside bands": (
        f"{newest('suite', 'v3').modeline}rubrics: [{{id: a, {OURS}}}, {OTHER}]\n",
        "levels-as-bands",
        ["as-levels"],
    ),
    "of AgentV, which has no levels": (
        f"tests: [{{id: one, vars: {{input: x}}, assert: [{{type: llm-rubric, value: [{{id: a, {OF_AGENTV}}}]}}]}}]\n",
        "gap",
        [],
    ),
}


@pytest.mark.parametrize(("text", "code", "choices"), AS_BANDS.values(), ids=AS_BANDS)
def test_bands_that_look_like_levels_are_offered_as_levels_where_the_rubric_can_have_them(text, code, choices):
    result = lint("a.eval.yaml", text.encode(), ONLY)
    assert marked(result) == [(f"coverage.{code}", "score_ranges")]
    assert [fix.choice for fix in result.findings[0].choices] == choices
