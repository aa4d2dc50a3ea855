"""The bands of one scale are repaired together: from the scores they are written for to the nearest sound scale."""

import json
import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.fix.new_findings import DataChange, find_added
from rubric_lint.lint.project.settings import FileSettings

OURS = FileSettings(claimed=True)
CALM = "  - {id: calm, score_ranges: {0: Names none, 5: Names all}}\n"
"""A second criterion: with it, no threshold decides the verdict of one scale."""


def write_list(*ranges, indent="      "):
    """Bands in list form."""
    return "".join(
        f"{indent}- score_range: [{low}, {high}]\n{indent}  expected_outcome: Names fact {number}\n"
        for number, (low, high) in enumerate(ranges)
    )


def one_of_two(*ranges, gate=None):
    """A rubric in which no threshold decides, but perhaps a gate."""
    required = "" if gate is None else f"    required_min_score: {gate}\n"
    return f"rubrics:\n  - id: a\n{required}    score_ranges:\n{write_list(*ranges)}{CALM}"


def read_bands(text):
    """The ranges of the first scale in a text, each with the number in its outcome; a new one has none."""
    found = re.findall(r"score_range: \[(\d+), (\d+)\]\s+expected_outcome: (?:Names fact (\d+)|TODO)", text)
    return [(int(low), int(high), number) for low, high, number in found]


def repair(text, *choices):
    """The bands after a run, which has to leave nothing to do for a second one."""
    fixed = fix("a.yaml", text.encode(), OURS, unsafe=True, choices=choices)
    again = fix("a.yaml", fixed.data, OURS, unsafe=True, choices=choices)
    assert (fixed.doubt, again.applied) == ("", ())
    return read_bands(fixed.text)


UNIQUE = {
    "swapped": ([(5, 0), (6, 10)], [(0, 5, "0"), (6, 10, "1")]),
    "swapped and in the wrong order": ([(10, 6), (5, 0)], [(0, 5, "1"), (6, 10, "0")]),
    "at the start of another": ([(0, 3), (0, 10)], [(0, 3, "0"), (4, 10, "1")]),
    "at the end of another": ([(0, 5), (6, 10), (8, 10)], [(0, 5, "0"), (6, 7, "1"), (8, 10, "2")]),
    "three that start alike": (
        [(0, 9), (0, 4), (0, 6), (10, 10)],
        [(0, 4, "1"), (5, 6, "2"), (7, 9, "0"), (10, 10, "3")],
    ),
    "small gaps at the ends": ([(3, 5), (6, 7)], [(0, 5, "0"), (6, 10, "1")]),
    "all at once": ([(8, 6), (10, 6), (4, 1)], None),
    "as many as there are scores": (
        [(n, min(n + 2, 10)) for n in range(11)],
        [(n, n, str(n)) for n in range(11)],
    ),
}


@pytest.mark.parametrize(("ranges", "expected"), UNIQUE.values(), ids=UNIQUE)
def test_the_nearest_scale_is_written_in_one_step(ranges, expected):
    text = one_of_two(*ranges)
    before = lint("a.yaml", text.encode(), OURS)
    fixed = fix("a.yaml", text.encode(), OURS, unsafe=True)
    if expected is None:  # two answers are equally near
        assert (fixed.applied, {finding.fix for finding in before.findings}) == ((), {None})
        return
    assert (repair(text), len(fixed.applied), fixed.result.findings) == (expected, len(before.findings), ())


CHOSEN = {
    "one shared score": ([(0, 3), (3, 10)], [(0, 2, "0"), (3, 10, "1")], [(0, 3, "0"), (4, 10, "1")]),
    "swapped, one shared score": ([(3, 0), (3, 10)], [(0, 2, "0"), (3, 10, "1")], [(0, 3, "0"), (4, 10, "1")]),
    "a chain": (
        [(0, 5), (3, 7), (4, 10)],
        [(0, 2, "0"), (3, 3, "1"), (4, 10, "2")],
        [(0, 5, "0"), (6, 7, "1"), (8, 10, "2")],
    ),
    "a gap beside it": (
        [(4, 7), (0, 2), (7, 10)],
        [(0, 2, "1"), (3, 6, "0"), (7, 10, "2")],
        [(0, 3, "1"), (4, 7, "0"), (8, 10, "2")],
    ),
}


@pytest.mark.parametrize(("ranges", "upper", "lower"), CHOSEN.values(), ids=CHOSEN)
def test_who_keeps_what_two_bands_share_is_a_choice_for_the_whole_scale(ranges, upper, lower):
    text = one_of_two(*ranges)
    assert repair(text) == read_bands(text)
    assert (repair(text, "upper-keeps"), repair(text, "lower-keeps")) == (upper, lower)
    names = {tuple(fix.choice for fix in finding.choices) for finding in lint("a.yaml", text.encode(), OURS).findings}
    assert {name[:2] for name in names} == {("upper-keeps", "lower-keeps")}


REFUSED = {
    "inside another": ([(0, 10), (4, 5)], "band [4, 5] lies inside [0, 10]"),
    "inside another, in the wrong order": ([(3, 0), (4, 5), (3, 10)], "band [4, 5] lies inside [3, 10]"),
    "one range twice": ([(0, 4), (5, 10), (5, 10)], "two bands have the range [5, 10]"),
    "more bands than scores": ([(n % 11, n % 11) for n in range(12)], "12 bands cannot share 11 scores"),
    "too much": ([(4, 5), (4, 6), (5, 6), (5, 7), (6, 7), (6, 6)], "lies inside"),
    "a bound that is none": ([(0, 5), (5, 12)], None),
    "one band for all": ([(10, 0)], "one band for all scores would tell no answers apart"),
}


@pytest.mark.parametrize(("ranges", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_repaired_stays_with_the_reason(ranges, reason):
    text = one_of_two(*ranges)
    every = ["upper-keeps", "widen-lower", "add-band"]
    fixed = fix("a.yaml", text.encode(), OURS, unsafe=True, choices=every)
    assert fixed.text == text
    reasons = [left.reason for left in fixed.left(unsafe=True, choices=every)]
    assert all(reason in found for found in reasons)
    assert bool(reasons) == (reason is not None)


GAPS = {
    "as wide as a third": ([(0, 3), (7, 10)], ["widen-lower", "widen-upper", "add-band"], None),
    "a wide gap at the bottom": ([(4, 6), (7, 10)], ["widen-upper", "add-band"], None),
    "a small one at the bottom": ([(3, 6), (7, 10)], ["add-band"], [(0, 6, "0"), (7, 10, "1")]),
    "a wide gap at the top": ([(0, 3), (4, 6)], ["widen-lower", "add-band"], None),
    "the only band": ([(3, 10)], ["add-band"], None),
}


@pytest.mark.parametrize(("ranges", "names", "plain"), GAPS.values(), ids=GAPS)
def test_no_band_goes_over_a_wide_gap_unasked(ranges, names, plain):
    text = one_of_two(*ranges)
    (finding,) = lint("a.yaml", text.encode(), OURS).findings
    assert [fix.choice for fix in finding.choices] == names
    assert repair(text) == (plain or read_bands(text))


PARTED = {
    "one score": ([(0, 5), (6, 10)], 5, [(0, 4), (5, 10)]),
    "as many as a third": ([(0, 3), (4, 9), (10, 10)], 7, [(0, 3), (4, 6), (7, 10)]),
    "more than a third": ([(0, 0), (1, 9), (10, 10)], 5, None),
    "nearly all": ([(0, 8), (9, 10)], 1, None),
}


@pytest.mark.parametrize(("ranges", "gate", "expected"), PARTED.values(), ids=PARTED)
def test_no_band_starts_far_from_its_scores_at_a_gate_unasked(ranges, gate, expected):
    text = one_of_two(*ranges, gate=gate)
    (finding,) = lint("a.yaml", text.encode(), OURS).findings
    assert (finding.fix is not None, [fix.choice for fix in finding.choices]) == (expected is not None, ["add-band"])
    assert [band[:2] for band in repair(text)] == (expected or ranges)


def test_the_short_form_starts_no_band_far_from_its_scores_unasked():
    text = "rubrics:\n  - {id: a, required_min_score: 1, score_ranges: {0: Names nothing, 9: Names all}}\n" + CALM
    assert not fix("a.yaml", text.encode(), OURS, unsafe=True).is_changed


ONE_MEANING = {
    "a gap": ([(0, 3), (4, 8), (10, 10)], 7, {"widen-lower", "widen-upper", "add-band"}),
    "a shared score": ([(0, 5), (5, 8), (9, 10)], 7, {"upper-keeps", "lower-keeps"}),
}


@pytest.mark.parametrize(("ranges", "gate", "names"), ONE_MEANING.values(), ids=ONE_MEANING)
def test_a_gate_gives_no_second_meaning_to_a_choice(ranges, gate, names):
    text = one_of_two(*ranges, gate=gate)
    findings = lint("a.yaml", text.encode(), OURS).findings
    assert "split-band" in {finding.rule for finding in findings}
    offered = {(choice.choice, choice.title) for finding in findings for choice in finding.choices}
    assert {name for name, _ in offered} == names
    assert len(offered) == len(names)
    for name, title in offered:
        applied = fix("a.yaml", text.encode(), OURS, choices=[name]).applied
        assert applied[0].title == title


def test_the_only_band_of_the_short_form_keeps_its_start():
    text = "rubrics:\n  - {id: a, score_ranges: {5: Names the log}}\n" + CALM
    assert not fix("a.yaml", text.encode(), OURS, unsafe=True).is_changed
    fixed = fix("a.yaml", text.encode(), OURS, choices=["add-band"])
    assert fixed.text == text.replace("{5:", "{0: TODO - say what earns scores 0 to 4, 5:")


@pytest.mark.parametrize(
    ("gate", "expected"), [(5, [(0, 4, "0"), (5, 10, "1")]), (4, [(0, 3, "0"), (4, 10, "1")]), (None, None)]
)
def test_a_gate_in_a_gap_decides_which_band_gets_what(gate, expected):
    text = one_of_two((0, 3), (6, 10), gate=gate)
    assert repair(text) == (expected or read_bands(text))


def test_a_widened_band_never_holds_a_gate():
    text = one_of_two((2, 5), (6, 10), gate=1)
    (finding,) = lint("a.yaml", text.encode(), OURS).findings
    assert (finding.fix, [fix.choice for fix in finding.choices]) == (None, ["add-band"])
    assert repair(text, "add-band") == [(0, 0, ""), (1, 1, ""), (2, 5, "0"), (6, 10, "1")]


def test_bands_move_with_their_comments_and_new_bounds_and_new_bands_come_between():
    text = f"""\
rubrics:
  - id: a
    score_ranges:
      - score_range: [10, 9]  # best
        expected_outcome: Names fact 0
      # half
      - score_range: [2, 4]
        expected_outcome: Names fact 1  # of it
      - {{score_range: [0, 2], expected_outcome: Names fact 2}}
{CALM}"""
    fixed = fix("a.yaml", text.encode(), OURS, choices=["lower-keeps", "add-band"])
    assert (
        fixed.text
        == f"""\
rubrics:
  - id: a
    score_ranges:
      - {{score_range: [0, 2], expected_outcome: Names fact 2}}
      # half
      - score_range: [3, 4]
        expected_outcome: Names fact 1  # of it
      - score_range: [5, 8]
        expected_outcome: TODO - say what earns scores 5 to 8
      - score_range: [9, 10]  # best
        expected_outcome: Names fact 0
{CALM}"""
    )


def test_the_new_band_of_an_unsorted_short_form_comes_first():
    text = f"rubrics:\n  - id: a\n    score_ranges:\n      8: Names two\n      # half\n      2: Names one\n{CALM}"
    added = '      "0": TODO - say what earns scores 0 and 1\n'
    fixed = fix("a.yaml", text.encode(), OURS, choices=["add-band"]).text.replace("      0:", '      "0":')
    sorted_bands = f"{added}      # half\n      2: Names one\n      8: Names two\n"
    assert fixed == f"rubrics:\n  - id: a\n    score_ranges:\n{sorted_bands}{CALM}"


def test_a_finding_that_another_one_makes_way_for_is_new():
    def findings(*ranges):
        return lint("a.yaml", one_of_two(*ranges).encode(), OURS).findings

    before, after = findings((3, 0), (4, 5), (3, 10)), findings((0, 3), (3, 10), (4, 5))
    new = find_added(before, after, [DataChange("", (), (), safe=False)])
    assert [finding.values["scores"] for finding in new] == ["score 3"]


# The laws, over scales of every kind.


def invent_ranges(chance, count):
    """The ranges of bands: of a sound scale, changed in some places, or any."""
    if chance.random() < 0.25:
        ranges = [sorted((chance.randint(0, 10), chance.randint(0, 10))) for _ in range(count)]
    else:
        starts = [0, *sorted(chance.sample(range(1, 11), min(count, 11) - 1))]
        ranges = [[start, following - 1] for start, following in zip(starts, [*starts[1:], 11], strict=True)]
        for band in ranges:
            change = chance.choice(["", "", "longer", "shorter", "later"])
            band[1] = {"longer": min(band[1] + 2, 10), "shorter": max(band[1] - 2, band[0])}.get(change, band[1])
            band[0] = min(band[0] + 3, band[1]) if change == "later" else band[0]
    ranges = [band[::-1] if chance.random() < 0.1 else band for band in ranges]
    if chance.random() < 0.3:
        chance.shuffle(ranges)
    if chance.random() < 0.05:
        ranges[0][0] = chance.choice([-1, 11, 5.5])
    return ranges


def invent_rubric(chance):
    """The name and the text of a file with one or two scales, with gates and thresholds or without."""
    count = chance.choice([1, 2, 3, 3, 4, 5, 7, 11, 12, 60])
    outcomes = iter(f"Names fact {number} of x" for number in range(1000))

    def write_bands():
        return [{"score_range": band, "expected_outcome": next(outcomes)} for band in invent_ranges(chance, count)]

    if chance.random() < 0.3:
        rubrics = write_bands()
    else:
        rubrics = []
        for number in range(chance.randint(1, 2)):
            criterion = {"id": f"c{number}"}
            if chance.random() < 0.4:
                criterion["required_min_score"] = chance.randint(1, 10)
            keys = chance.sample(range(11), chance.randint(1, 5))
            is_map = chance.random() < 0.3
            criterion["score_ranges"] = {str(key): next(outcomes) for key in keys} if is_map else write_bands()
            rubrics.append(criterion)
    if chance.random() < 0.3:
        return "a.json", json.dumps({"rubrics": rubrics}, indent=chance.choice([None, 2]))
    text = "rubrics:\n"
    for entry in rubrics:
        if "score_range" in entry:
            text += f"  - score_range: {entry['score_range']}  # n\n    expected_outcome: {entry['expected_outcome']}\n"
        else:
            fields = (f"    {key}: {json.dumps(value)}\n" for key, value in entry.items())
            text += f"  - {''.join(fields).lstrip()}"
    return "a.yaml", text


def list_subjects(result):
    """What the findings of a text are about: rule, criterion and values, for a split band the scores that split it."""
    subjects = Counter()
    for finding in result.findings:
        values = {name: value for name, value in finding.values.items() if name != "line"}
        texts = [repr(sorted(values.items()))]
        if finding.rule == "split-band":
            texts = re.findall(r"\d+", finding.values["starts"])
        subjects.update((finding.rule, finding.criterion[:1], text) for text in texts)
    return subjects


WISHES = [
    {"unsafe": unsafe, "choices": choices}
    for choices in ([], ["upper-keeps"], ["lower-keeps"], ["widen-lower"], ["widen-upper"], ["add-band"])
    for unsafe in (True, False)
] + [{"unsafe": True, "choices": ["upper-keeps", "add-band"]}, {"choices": ["add-band", "lower-keeps", "widen-upper"]}]


def check_printed(name, text, findings):
    """Each title that is printed for a choice is what the choice does, and all findings of a scale say the same."""
    titles, edits = {}, {}
    for finding in findings:
        for each in finding.choices:
            key = finding.criterion[:1], each.choice
            assert titles.setdefault(key, each.title) == each.title
            assert edits.setdefault(key, each.edits) == each.edits
    assert len({(key[0], *edit) for key, edit in edits.items()}) == len(titles)
    for choice in {choice for _, choice in titles}:
        fixed = fix(name, text.encode(), OURS, choices=choice.split(","))
        printed = Counter(
            (finding.rule, each.title) for finding in findings for each in finding.choices if each.choice == choice
        )
        assert printed <= Counter((each.rule, each.title) for each in fixed.applied)


def check_laws(name, text):
    before = lint(name, text.encode(), OURS)
    check_printed(name, text, before.findings)
    errors = sum(finding.severity == "error" for finding in before.findings)
    for wish in WISHES:
        fixed = fix(name, text.encode(), OURS, **wish)
        after = fixed.result
        assert (fixed.doubt, fixed.refused) == ("", {})
        assert len(fixed.applied) <= len(before.findings)
        assert sum(finding.severity == "error" for finding in after.findings) <= errors
        new = list_subjects(after).keys() - list_subjects(before).keys()
        assert {subject[0] for subject in new} <= {"placeholder"}
        assert fix(name, fixed.data, OURS, **wish).data == fixed.data
        outcomes = [sorted(re.findall(r"Names fact \d+ of x", each)) for each in (text, fixed.text)]
        assert outcomes[0] == outcomes[1]
        assert text.count("# n") == fixed.text.count("# n")


@pytest.mark.slow
@given(st.integers(0, 1 << 30))
def test_a_repair_never_makes_anything_worse(seed):
    check_laws(*invent_rubric(random.Random(seed)))  # noqa: S311 (a generator of files)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_repairs_never_make_anything_worse(part):
    for seed in range(part * 250, (part + 1) * 250):
        check_laws(*invent_rubric(random.Random(seed)))  # noqa: S311 (a generator of files)
