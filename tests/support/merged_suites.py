"""Rubrics whose criteria share fields by merge keys and aliases, with faults, comments and marks in odd places."""

import re

import yaml
from styles import Anchored, Raw, Styler, read_data

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


def list_comments(text):
    """The comments in order, found by the sign and the number that only a comment has."""
    return re.findall(r"# note \d+[^\r\n]*", text)


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
