"""The hash of what a rubric means: the same however it is written, another one as soon as it means something else."""

import copy
import json
import pickle
from decimal import Decimal

import pytest
from cases import read_cases
from exports import as_json
from hypothesis import assume, given
from hypothesis import strategies as st
from random_rubrics import rubrics

from rubric_lint import fix_source
from rubric_lint.assess.diff.rubric_diff import ChangeKind, compare_rubrics, pair_rubrics
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema_files import newest
from rubric_lint.scoring.loading import load_rubrics

TABLES = read_cases(__file__)


DEFAULTS = FileSettings()
CLAIMED = FileSettings(claimed=True, severities={})


def load(text, name="r.rubric.yaml", settings=CLAIMED):
    (rubric,) = load_rubrics(name, text.encode(), settings).values()
    return rubric


def load_entries(entries):
    return load(as_json(entries), "r.rubric.json")


RUBRIC = """\
rubrics:
  - id: a
    weight: 3
    required_min_score: 7
    expected_outcome: Names the pivot
    score_ranges:
      - {score_range: [0, 4], expected_outcome: Wrong}
      - {score_range: [5, 10], expected_outcome: Right in all}
  - id: b
    score_ranges: {0: Long, 5: Short}
"""


def test_the_hash_is_pinned_and_names_and_twice_all_weights_do_not_change_it():
    """Recorded results carry it, so it changes only together with the version in the canonical form."""
    other = RUBRIC.replace("weight: 3", "weight: 6").replace("id: b", "id: b\n    weight: 2")
    assert load(RUBRIC).hash == load(other, "other.rubric.yaml").hash == "2f06a9a81176eec8"


@pytest.mark.parametrize(("old", "new"), TABLES["the way it is written"])
def test_the_way_it_is_written_does_not_change_the_hash(old, new):
    assert old in RUBRIC
    assert load(RUBRIC.replace(old, new)).hash == load(RUBRIC).hash


@pytest.mark.parametrize(("old", "new"), TABLES["each change of meaning changes"])
def test_each_change_of_meaning_changes_the_hash(old, new):
    text = RUBRIC.replace(old, new).replace("[5, 10]", "[6, 10]" if "[0, 5]" in new else "[5, 10]")
    assert load(text).hash != load(RUBRIC).hash


@pytest.mark.parametrize(
    ("last", "hashes"), [(2, ["4c38e231857a22bb", "3a95d211b1e90882"]), (3, ["47a8ca8b6559f290", "af53d5da935b12db"])]
)
def test_which_end_of_a_ladder_is_the_best_is_part_of_the_pinned_hash(last, hashes):
    schema = newest("rubric", "v3").modeline
    levels = f"levels: {{1: Names it, {last}: Names both}}"
    ladders = [load(f"{schema}criteria: [{{id: a, scale: {scale}, {levels}}}]\n") for scale in ([1, last], [last, 1])]
    assert [[grade.score for grade in ladder.criteria[0].grades][:: last - 1] for ladder in ladders] == [[0, 1], [1, 0]]
    assert [ladder.hash for ladder in ladders] == hashes


def test_the_thresholds_are_part_of_the_meaning():
    hashes = {
        load(RUBRIC, settings=CLAIMED._replace(pass_at=Decimal(pass_at))).hash for pass_at in ("0.8", "0.80", "0.9")
    }
    assert len(hashes) == 2


def test_what_a_dialect_says_is_judged_is_part_of_the_meaning():
    metric = """\
metrics_metadata:
  turn_level:
    geval:m:
      criteria: {}
      rubrics: [{{score_range: [0, 4], expected_outcome: Wrong}}, {{score_range: [5, 10], expected_outcome: Right}}]
"""
    one, same, other = (
        load(metric.format(task), "system.yaml", DEFAULTS) for task in ("Names it", "'Names  it'", "Costs it")
    )
    assert (one.hash == same.hash, one.hash == other.hash) == (True, False)
    (change,) = compare_rubrics(pair_rubrics({"m": one}, {"m": other}))
    assert change[:5] == (ChangeKind.OUTCOME, one.name, None, {"outcome": "Names it"}, {"outcome": "Costs it"})


def as_written_before(entries):
    """The same rubric with the deprecated names."""
    old = copy.deepcopy(entries)
    for entry in old:
        for each in [entry, *(entry.get("score_ranges") or [])]:
            if "expected_outcome" in each:
                each["description"] = each.pop("expected_outcome")
        if "score_ranges" not in entry and "levels" not in entry and entry.pop("required_min_score", None):
            entry["required"] = True
    return old


@pytest.mark.slow
@given(rubrics, st.randoms())
def test_no_order_and_no_fix_changes_the_hash(entries, chance):
    expected = load_entries(entries).hash
    old = as_written_before(entries)
    chance.shuffle(old)
    for entry in old:
        for scale in ("score_ranges", "levels"):
            chance.shuffle(entry.get(scale, []))
    text = as_json(old)
    fixed = fix_source("r.rubric.json", text, CLAIMED).text
    assert [load(each, "r.rubric.json").hash for each in (text, fixed)] == [expected, expected]


def change_one_thing(draw, entries):
    """Entries that differ in one place, so that they mean something else or not."""
    changed = copy.deepcopy(entries)
    entry = draw(st.sampled_from(changed))
    scale = entry.get("score_ranges") or entry.get("levels") or [entry]
    part = draw(st.sampled_from([entry, *scale]))
    kind = draw(st.sampled_from(["outcome", "weight", "gate", "id", "name", "gone", "bound"]))
    if kind == "outcome" and "expected_outcome" in part:
        part["expected_outcome"] += draw(st.sampled_from(["!", " ", "\n", "\n!"]))
    elif kind == "weight" and "id" in entry:
        entry["weight"] = draw(st.sampled_from(["0", "1", "1.0", "2", "0.5"]))
    elif kind == "gate" and "id" in entry and "levels" not in entry:
        entry["required_min_score"] = draw(st.integers(0, 10))
    elif kind == "gate" and "levels" in entry:
        entry["required_min_level"] = draw(st.sampled_from(scale))["level"]
    elif kind == "id" and "id" in entry:
        entry["id"] += draw(st.sampled_from(["", "+"]))
    elif kind == "name" and "levels" in entry:
        draw(st.sampled_from(scale))["name"] = draw(st.sampled_from(["Top", "Low"]))
    elif kind == "gone" and "id" in entry and len(changed) > 1:
        changed.remove(entry)
    elif kind == "bound" and len(scale) > 1 and "levels" not in entry:
        move_bound(entry.get("score_ranges") or changed)
    assume(any(Decimal(each.get("weight", "1")) for each in changed))
    return changed


def move_bound(bands):
    """Move the end of the first band that has room by one."""
    bands.sort(key=lambda band: band["score_range"][0])
    lower, upper = bands[0]["score_range"], bands[1]["score_range"]
    step = 1 if upper[0] < upper[1] else -1
    if lower[0] <= lower[1] + step:
        lower[1] += step
        upper[0] += step


@given(rubrics, st.data())
def test_the_hash_differs_where_diff_tells_a_change_and_nowhere_else(entries, data):
    old, new = load_entries(entries), load_entries(change_one_thing(data.draw, entries))
    told = list(compare_rubrics(pair_rubrics({"r": old}, {"r": new})))
    assert (old.hash == new.hash) == (told == [])


@given(rubrics)
def test_rubrics_are_values(entries):
    one, same = load_entries(entries), load_entries(entries)
    assert (one, hash(one)) == (same, hash(same))
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301


def test_a_pickle_does_not_hold_the_file():
    task = "x" * 100_000
    metric = {"criteria": task, "rubrics": [{"score_range": [0, 10], "expected_outcome": "All of it"}]}
    rubric = load(json.dumps({"metrics_metadata": {"turn_level": {"geval:m": metric}}}), "system.json", DEFAULTS)
    assert (len(pickle.dumps(rubric)) < 5_000, len(repr(rubric)) < 200) == (True, True)
