import random
import re
from collections import Counter
from difflib import SequenceMatcher

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from styled_suites import json_suites, yaml_suites
from styles import NOTE, Anchored, Dice, Raw, Styler, as_json, read_data

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
                {"id": criterion.id, "satisfied": chance.random() < 0.7}
                if rubric.shape == "checklist"
                else {"id": criterion.id, "score": chance.choice([0, 3, 5, 9, 10, 10])}
                for criterion in rubric.criteria
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
        {(finding.rule, finding.severity) for finding in lint(suite.name, data).findings}
        for data in (suite.data, fixed.data)
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


# Rubrics whose criteria share fields by merge keys and aliases, with faults, comments and marks in odd places

FIELDS = {"description": "expected_outcome", "expected_outcom": "expected_outcome", "wieght": "weight"}
"""The names that a fix may write anew, with the new ones."""

OUTCOMES = (
    ["description"],
    ["description"],
    ["expected_outcome"],
    ["expected_outcom"],
    [],
    ["description", "expected_outcome"],
)
GATES = ({}, {}, {"required": True}, {"required": False}, {"required_min_score": 10}, {"required_min_score": 7})
MARK = "\ufeff"


def tell_all(text):
    """What the documents of a text mean; what is only there to be merged counts where it is merged."""
    return [
        {name: tell(value) if name in ("rubrics", "tests") else None for name, value in item.items()}
        for item in read_data("a.yaml", text.encode())
    ]


def list_shared(text):
    """The scalars of each value that an alias repeats, in order."""
    events = list(yaml.parse(text, yaml.SafeLoader))
    used = {event.anchor for event in events if isinstance(event, yaml.AliasEvent)}
    shared, depth_of = {}, {}
    depth = 0
    for event in events:
        depth -= isinstance(event, yaml.CollectionEndEvent)
        depth_of = {name: start for name, start in depth_of.items() if depth > start}
        if isinstance(event, yaml.CollectionStartEvent):
            if event.anchor in used:
                depth_of[event.anchor] = depth
            depth += 1
        for name in depth_of:
            shared.setdefault(name, []).append(getattr(event, "value", None) or getattr(event, "anchor", None))
    return shared


def tell(value):
    """What data means: each criterion by its outcomes, gates and weights, whichever name its fields have."""
    if isinstance(value, list):
        return [tell(item) for item in value]
    if not isinstance(value, dict):
        return value
    said = {}
    for name, item in value.items():
        if name in ("required", "required_min_score") and isinstance(item, bool | int):
            gate = {True: 10, False: 0}[item] if isinstance(item, bool) else item
            said.setdefault("gate", set()).update({gate} - {0})
        elif name in ("description", "expected_outcome", "expected_outcom"):
            said.setdefault("outcome", set()).add(item)
        elif name != "id" or not str(item).startswith("rubric-"):
            said[FIELDS.get(name, name)] = tell(item)
    if said.get("gate") == set():
        del said["gate"]
    elif "gate" in said and len(said["gate"]) > 1:  # all are checklists: `required` says the same as any gate
        said["gate"].discard(10)
    return said


def write_suite(random):
    """The text of a file, by a random generator."""
    by = _Merger(random)
    text = "---\n".join(by.fields(by.make_document(), 0) for _ in range(by.one_of(1, 1, 1, 1, 2)))
    text = text if by.chance(0.8) else text.rstrip("\n")
    return text.replace("\n", "\r\n") if by.chance(0.2) else text


class _Merger(Styler):
    """Makes documents whose criteria share fields, and writes them."""

    def __init__(self, random):
        super().__init__(random, styles="tags")
        self.number, self.anchors = 0, []

    def comment(self):
        return super().comment() + self.one_of("", "", MARK, "é")

    def beside(self):
        rule = self.one_of("weight", "deprecated-description")
        note = super().beside()
        return note.replace("# ", f"# rubric-lint: ignore[{rule}] # ", 1) if self.chance(0.15) else note

    def outcome(self):
        self.number += 1
        return self.one_of("Names source", "Cites it", f"Says{MARK} so", "Zitiert: é") + f" {self.number}"

    def make_criterion(self, *, has_id, merges=()):
        outcome = self.outcome()
        fields = {"id": f"c{self.number}x"} if has_id else {}
        fields |= {name: self.one_of(outcome, outcome, self.outcome()) for name in self.one_of(*OUTCOMES)}
        fields |= self.one_of(*GATES)
        fields |= self.maybe(0.1, {"required": True, "required_min_score": self.one_of(10, 10, 3)})
        fields |= self.maybe(0.3, {self.one_of("weight", "wieght"): self.one_of(2, 0.5, 3, -2, 0)})
        fields = self.shuffle(fields)
        if not merges:
            return fields
        merge = {"<<": merges[0] if len(merges) == 1 else merges}
        return fields | merge if self.chance(0.3) else merge | fields

    def anchored(self, criterion):
        self.number += 1
        self.anchors.append(Raw(f"*k{self.number}"))
        return Anchored(f"k{self.number}", criterion)

    def make_entry(self):
        kind, count = self.one_of("plain", "plain", "merge", "merge", "merge", "alias"), self.one_of(1, 1, 1, 2)
        if kind == "alias" and self.anchors:
            return self.one_of(*self.anchors)
        merges = self.random.sample(self.anchors, min(len(self.anchors), count)) if kind == "merge" else []
        criterion = self.make_criterion(has_id=self.chance(0.9), merges=merges)
        return self.anchored(criterion) if self.chance(0.3) else criterion

    def make_document(self):
        self.anchors, document = [], {}
        for _ in range(self.one_of(0, 1, 1, 2)):
            merges = [self.one_of(*self.anchors)] if self.anchors and self.chance(0.3) else []
            document[f"base{self.number}"] = self.anchored(self.make_criterion(has_id=False, merges=merges))
        lists = [[self.make_entry() for _ in range(self.random.randint(1, 5))] for _ in range(self.one_of(1, 1, 2))]
        if self.chance(0.3):
            return document | {"rubrics": lists[0]}
        return document | {"tests": [{"id": f"t{at}", "rubrics": entries} for at, entries in enumerate(lists)]}


HOWS = {"safe": {}, "unsafe": {"unsafe": True}, "chosen": {"unsafe": True, "choices": ["rename-later", "placeholder"]}}


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS.values(), ids=HOWS)
@pytest.mark.parametrize(
    "seeds", [range(20), pytest.param(range(20, 700), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_what_is_shared_stays_and_all_means_what_it_meant(seeds, how):
    changed = 0
    for seed in seeds:
        text = write_suite(Dice(seed))
        fixed = fix("a.rubric.yaml", text.encode(), OURS, **how)
        assert fixed.doubt == "", seed
        assert all(left.reason for left in fixed.left(**how)), seed
        assert NOTE.findall(fixed.text) == NOTE.findall(text), seed
        assert list_shared(fixed.text) == list_shared(text), seed
        assert fix("a.rubric.yaml", fixed.data, OURS, **how).data == fixed.data, seed
        if how:
            safe = fix("a.rubric.yaml", text.encode(), OURS)
            assert Counter(safe.applied) <= Counter(fixed.applied), seed
        if "choices" not in how:
            assert tell_all(fixed.text) == tell_all(text), seed
        changed += fixed.is_changed
    assert changed > len(seeds) * 0.5
