"""Rubrics whose criteria share fields by merge keys and aliases, with faults, comments and marks in odd places."""

import re

import yaml
from random_documents import Chances
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
    return _Writer(random).write()


class _Writer(Chances):
    def __init__(self, random):
        super().__init__(random)
        self.notes = 0
        self.number = 0
        self.anchors = []

    def write(self):
        documents = [self.document() for _ in range(1 if self.chance(0.8) else 2)]
        text = "---\n".join(documents)
        text = text.replace("\n", "\r\n") if self.chance(0.2) else text
        return text if self.chance(0.8) else text.rstrip("\r\n")

    def note(self, share=0.2):
        if not self.chance(share):
            return ""
        self.notes += 1
        return f"# note {self.notes} {self.random.choice(['', '', MARK, 'é'])}"

    def comment(self, share=0.2):
        note = self.note(share)
        if note and self.chance(0.15):
            note = f"# rubric-lint: ignore[{self.random.choice(['weight', 'deprecated-description'])}] {note}"
        return f"  {note}" if note else ""

    def outcome(self):
        self.number += 1
        text = self.random.choice(["Names source", "Cites it", f"Says{MARK} so", "Zitiert: é"])
        return f"{text} {self.number}"

    def fields(self, *, own_id):
        fields = {"id": f"c{self.number}x"} if own_id else {}
        outcome = self.outcome()
        for name in self.random.choice(OUTCOMES):
            fields[name] = outcome if self.chance(0.7) else self.outcome()
        fields |= self.random.choice(GATES)
        if self.chance(0.1):
            fields |= {"required": True, "required_min_score": self.random.choice([10, 10, 3])}
        if self.chance(0.3):
            fields[self.random.choice(["weight", "wieght"])] = self.random.choice([2, 0.5, 3, -2, 0])
        items = list(fields.items())
        self.random.shuffle(items)
        return items

    def scalar(self, value):
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str):
            return str(value)
        quoted = '"' + value + '"'
        return self.random.choice(
            [quoted, f"'{value}'", *([] if ":" in value or MARK in value else [value, f"!!str {value}"])]
        )

    def mapping(self, items, indent, merges=(), anchor=""):
        """A mapping behind a dash or a key, with its line end."""
        merged = f"*{merges[0]}" if len(merges) == 1 else f"[{', '.join(f'*{item}' for item in merges)}]"
        entries = [f"{key}: {self.scalar(value)}" for key, value in items]
        if merges:
            entries.insert(self.random.choice([0, 0, len(entries)]), f"<<: {merged}")
        head = f"&{anchor} " if anchor else ""
        if self.chance() or not entries:
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
        for _ in range(self.random.randint(1, 5)):
            if note := self.note(0.15):
                text += f"{pad}{note}\n"
            kind = self.random.choice(["plain", "plain", "merge", "merge", "merge", "alias"])
            known = list(self.anchors)
            if kind == "alias" and known:
                text += f"{pad}- *{self.random.choice(known)}{self.comment()}\n"
                continue
            merges = (
                self.random.sample(known, min(len(known), self.random.choice([1, 1, 1, 2]))) if kind == "merge" else []
            )
            items = self.fields(own_id=self.chance(0.9))
            anchor = self.anchor(0.3)
            text += f"{pad}- {self.mapping(items, indent + 2, merges, anchor)}"
            self.anchors += [anchor] if anchor else []
        return text

    def anchor(self, share):
        self.number += 1
        return f"k{self.number}" if self.chance(share) else ""

    def document(self):
        self.anchors = []
        text = f"{self.note(0.4)}\n"
        for _ in range(self.random.choice([0, 1, 1, 2])):
            anchor = self.anchor(1)
            merges = [self.random.choice(self.anchors)] if self.anchors and self.chance(0.3) else []
            items = self.fields(own_id=False)
            text += f"base{self.number}: {self.mapping(items, 2, merges, anchor)}"
            self.anchors.append(anchor)
        if self.chance(0.3):
            return f"{text}rubrics:\n{self.entries(self.random.choice([0, 2]))}"
        text += "tests:\n"
        for _ in range(self.random.randint(1, 2)):
            self.number += 1
            text += f"  - id: t{self.number}\n    rubrics:{self.comment()}\n{self.entries(self.random.choice([4, 6]))}"
        return text
