import random
import re
from collections import Counter
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st
from merged_suites import list_comments, list_shared, tell_all, write_suite
from styled_suites import json_suites, yaml_suites
from styles import NOTE, as_json, read_data

from rubric_lint.lint.engine import DEFAULTS, lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.scoring import score
from rubric_lint.scoring.loading import load_rubrics
from rubric_lint.source.source import Source

OURS = FileSettings(claimed=True)
SUITES = yaml_suites() | json_suites()
# All that a migration may take out of a text, token by token, and put in.
TAKEN = {"description", "required", "true", "false", "bool", "!", ":", ",", "?", '"', "'", ""}
PUT = {"expected_outcome", "required_min_score", "10"}


def list_left(fixed):
    """What is left though there is a fix; where a gate splits a band, that is a matter of choice."""
    return [(each.finding.message, each.reason) for each in fixed.left() if each.finding.rule != "split-band"]


def judge(name, data, seed, how=DEFAULTS):
    """The results of random judge outputs, which depend on ids, answers that are allowed, and the seed only."""
    results = []
    for rubric in load_rubrics(name, data, how).values():
        chance = random.Random(seed)  # noqa: S311 (a judge that throws dice)
        for _ in range(8):
            checks = [
                {"id": each.id, "satisfied": chance.random() < 0.7}
                if rubric.shape == "checklist"
                else {"id": each.id, "score": chance.choice([0, 3, 5, 9, 10, 10])}
                for each in rubric.criteria
            ]
            result = score(rubric, {"checks": checks})
            results.append((rubric.name, result.score, result.verdict))
    return results


@pytest.mark.slow
@given(SUITES, st.integers(0, 1 << 30))
def test_a_fix_replaces_what_is_deprecated_and_changes_nothing_else(suite, seed):
    fixed = fix(suite.name, suite.data)
    assert (fixed.doubt, list_left(fixed)) == ("", [])
    assert as_json(read_data(suite.name, fixed.data)) == as_json(suite.after)
    old, new = (re.findall(r"\w+|\s|[^\w\s]", text) for text in (fixed.before.text, fixed.text))
    taken, put = set(), set()
    for _, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if old[old_start:old_end] != new[new_start:new_end]:
            taken.update(token.strip() for token in old[old_start:old_end])
            put.update(new[new_start:new_end])
    assert (taken - TAKEN, put - PUT) == (set(), set())
    after = Source.from_bytes(suite.name, fixed.data)
    assert (after.encoding, after.bom) == (fixed.before.encoding, fixed.before.bom)
    pairs = after.text.count("\r\n")
    assert after.text.count("\r") == pairs
    assert "\r\n" not in fixed.before.text or after.text.count("\n") == pairs
    assert NOTE.findall(after.text) == suite.comments
    again = fix(suite.name, fixed.data)
    assert (again.applied, again.data) == ((), fixed.data)
    kinds = [
        {(each.rule, each.severity) for each in lint(suite.name, data).findings} for data in (suite.data, fixed.data)
    ]
    assert kinds[1] <= kinds[0]
    scores = judge(suite.name, suite.data, seed)
    assert judge(suite.name, fixed.data, seed) == scores != []


@pytest.mark.slow
@given(SUITES, st.integers(0, 1 << 30))
def test_implied_gates_are_written_out_so_that_the_setting_can_go(suite, seed):
    implicit = FileSettings(implicit_required=True)
    before = judge(suite.name, suite.data, seed, implicit)
    fixed = fix(suite.name, suite.data, implicit)
    assert (fixed.doubt, list_left(fixed)) == ("", [])
    assert [judge(suite.name, fixed.data, seed, how) for how in (implicit, DEFAULTS)] == [before, before]
    assert fix(suite.name, fixed.data, implicit).applied == ()


HOWS = {"safe": {}, "unsafe": {"unsafe": True}, "chosen": {"unsafe": True, "choices": ["rename-later", "placeholder"]}}


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS.values(), ids=HOWS)
@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 700), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_what_is_shared_stays_and_all_means_what_it_meant(seeds, how):
    changed = 0
    for seed in seeds:
        text = write_suite(random.Random(seed))  # noqa: S311 (a generator of files)
        fixed = fix("a.rubric.yaml", text.encode(), OURS, **how)
        assert fixed.doubt == "", seed
        assert all(left.reason for left in fixed.left(**how)), seed
        assert list_comments(fixed.text) == list_comments(text), seed
        assert list_shared(fixed.text) == list_shared(text), seed
        assert fix("a.rubric.yaml", fixed.data, OURS, **how).data == fixed.data, seed
        if how:
            safe = fix("a.rubric.yaml", text.encode(), OURS)
            assert Counter(safe.applied) <= Counter(fixed.applied), seed
        if "choices" not in how:
            assert tell_all(fixed.text) == tell_all(text), seed
        changed += fixed.is_changed
    assert changed > len(seeds) * 0.5
