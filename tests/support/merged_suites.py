"""Rubrics whose criteria share fields by merge keys and aliases, with faults, comments and marks in odd places."""

import re

import yaml
from styled_suites import read_data

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
        {name: tell(value) if name in ("rubrics", "tests") else None for name, value in each.items()}
        for each in read_data("a.yaml", text.encode())
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
        return [tell(each) for each in value]
    if not isinstance(value, dict):
        return value
    told = {}
    for name, each in value.items():
        if name in ("required", "required_min_score") and isinstance(each, bool | int):
            gate = {True: 10, False: 0}[each] if isinstance(each, bool) else each
            told.setdefault("gate", set()).update({gate} - {0})
        elif name in ("description", "expected_outcome", "expected_outcom"):
            told.setdefault("outcome", set()).add(each)
        elif name != "id" or not str(each).startswith("rubric-"):
            told[FIELDS.get(name, name)] = tell(each)
    if told.get("gate") == set():
        del told["gate"]
    elif "gate" in told and len(told["gate"]) > 1:  # all are checklists: `required` says the same as any gate
        told["gate"].discard(10)
    return told


def write_suite(chance):
    """The text of a file; `chance` is a random generator."""
    return _Writer(chance).write()


class _Writer:
    def __init__(self, chance):
        self.chance = chance
        self.notes = 0
        self.number = 0
        self.anchors = []

    def flip(self, share=0.5):
        return self.chance.random() < share

    def write(self):
        documents = [self.document() for _ in range(1 if self.flip(0.8) else 2)]
        text = "---\n".join(documents)
        text = text.replace("\n", "\r\n") if self.flip(0.2) else text
        return text if self.flip(0.8) else text.rstrip("\r\n")

    def note(self, share=0.2):
        if not self.flip(share):
            return ""
        self.notes += 1
        return f"# note {self.notes} {self.chance.choice(['', '', MARK, 'é'])}"

    def comment(self, share=0.2):
        note = self.note(share)
        if note and self.flip(0.15):
            note = f"# rubric-lint: ignore[{self.chance.choice(['weight', 'deprecated-description'])}] {note}"
        return f"  {note}" if note else ""

    def outcome(self):
        self.number += 1
        text = self.chance.choice(["Names source", "Cites it", f"Says{MARK} so", "Zitiert: é"])
        return f"{text} {self.number}"

    def fields(self, *, own_id):
        fields = {"id": f"c{self.number}x"} if own_id else {}
        outcome = self.outcome()
        for name in self.chance.choice(OUTCOMES):
            fields[name] = outcome if self.flip(0.7) else self.outcome()
        fields |= self.chance.choice(GATES)
        if self.flip(0.1):
            fields |= {"required": True, "required_min_score": self.chance.choice([10, 10, 3])}
        if self.flip(0.3):
            fields[self.chance.choice(["weight", "wieght"])] = self.chance.choice([2, 0.5, 3, -2, 0])
        items = list(fields.items())
        self.chance.shuffle(items)
        return items

    def scalar(self, value):
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str):
            return str(value)
        quoted = '"' + value + '"'
        return self.chance.choice(
            [quoted, f"'{value}'", *([] if ":" in value or MARK in value else [value, f"!!str {value}"])]
        )

    def mapping(self, items, indent, merges=(), anchor=""):
        """A mapping behind a dash or a key, with its line end."""
        merged = f"*{merges[0]}" if len(merges) == 1 else f"[{', '.join(f'*{each}' for each in merges)}]"
        entries = [f"{key}: {self.scalar(value)}" for key, value in items]
        if merges:
            entries.insert(self.chance.choice([0, 0, len(entries)]), f"<<: {merged}")
        head = f"&{anchor} " if anchor else ""
        if self.flip() or not entries:
            return f"{head}{{{', '.join(entries)}}}{self.comment()}\n"
        pad = " " * indent
        lines = []
        for entry in entries:
            if note := self.note(0.1):
                lines.append(f"{pad}{note}\n")
            lines.append(f"{pad}{entry}{self.comment()}\n")
        if anchor or lines[0].lstrip().startswith("#"):
            return f"{head.strip()}{self.comment()}\n{''.join(lines)}"
        return "".join(lines).lstrip(" ")

    def entries(self, indent):
        text, pad = "", " " * indent
        for _ in range(self.chance.randint(1, 5)):
            if note := self.note(0.15):
                text += f"{pad}{note}\n"
            kind = self.chance.choice(["plain", "plain", "merge", "merge", "merge", "alias"])
            known = list(self.anchors)
            if kind == "alias" and known:
                text += f"{pad}- *{self.chance.choice(known)}{self.comment()}\n"
                continue
            merges = (
                self.chance.sample(known, min(len(known), self.chance.choice([1, 1, 1, 2]))) if kind == "merge" else []
            )
            items = self.fields(own_id=self.flip(0.9))
            anchor = self.anchor(0.3)
            text += f"{pad}- {self.mapping(items, indent + 2, merges, anchor)}"
            self.anchors += [anchor] if anchor else []
        return text

    def anchor(self, share):
        self.number += 1
        return f"k{self.number}" if self.flip(share) else ""

    def document(self):
        self.anchors = []
        text = f"{self.note(0.4)}\n"
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            anchor = self.anchor(1)
            merges = [self.chance.choice(self.anchors)] if self.anchors and self.flip(0.3) else []
            items = self.fields(own_id=False)
            text += f"base{self.number}: {self.mapping(items, 2, merges, anchor)}"
            self.anchors.append(anchor)
        if self.flip(0.3):
            return f"{text}rubrics:\n{self.entries(self.chance.choice([0, 2]))}"
        text += "tests:\n"
        for _ in range(self.chance.randint(1, 2)):
            self.number += 1
            text += f"  - id: t{self.number}\n    rubrics:{self.comment()}\n{self.entries(self.chance.choice([4, 6]))}"
        return text
