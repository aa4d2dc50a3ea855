"""Suites in all the styles that YAML and JSON have, each with the data that it means before and after `rubric-fix`."""

import json
import re
from dataclasses import dataclass, field

from hypothesis import strategies as st
from ruamel.yaml import YAML

from rubric_lint.source.source import Source

_REFUSED = re.compile("the key `.*` is not written as `|the comment `.*` would be lost")


def is_refused_style(fixed):
    """Whether a suite is not converted because of keys after a question mark, or comments between brackets."""
    is_rare = re.search(r"^\s*(- *)?\? |\{[\r\n]", fixed.before.text, re.MULTILINE)
    return bool(is_rare) and any(_REFUSED.match(left.reason) for left in fixed.unmet)


WORDS = ("cites", "two", "sources", "the", "limits", "état", "🙂 done", "names", "a figure")
RANGES = {"0": "Contradicts the source", "4": "Mentions the source once", "8": "Quotes it with its page"}


@dataclass
class Suite:
    """A file, the data of its documents as it should be after the fixes, and the comments that it holds."""

    name: str
    data: bytes
    after: list
    comments: list = field(default_factory=list)


class Writer:
    """Writes one document with styles that `draw` chooses."""

    def __init__(self, draw):
        self.draw = draw
        self.comments = []
        self.with_ranges = self.flip()
        self.number = 0

    def flip(self):
        return self.draw(st.booleans())

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def comment(self, *, alone=False):
        if self.draw(st.integers(0, 3)):
            return ""
        text = f"# note, {{{len(self.comments)}}}: x" + self.one_of("", " 'it", " *a")
        self.comments.append(text)
        return text if alone else f" {text}"

    def criterion(self, number):
        """The fields of a criterion, in the order in which they stand."""
        outcome = " ".join(self.draw(st.lists(st.sampled_from(WORDS), min_size=2, max_size=4))) + f" {number}"
        fields = {"id": f"c{number}", self.one_of("description", "description", "expected_outcome"): outcome}
        if self.flip():
            fields["weight"] = self.one_of(2, 0.5, 3)
        match self.one_of("true", "true", "false", "false", "none", "gate"):
            case "true":
                fields["required"] = True
            case "false":
                fields["required"] = False
            case "gate":
                fields["required_min_score"] = 10
        if self.with_ranges:
            fields["score_ranges"] = RANGES
        return dict(self.draw(st.permutations(list(fields.items()))))

    def key(self, name, *, flow=False):
        return self.one_of(name, name, f'"{name}"', f"'{name}'", *([] if flow else [f"? {name}"]))

    def scalar(self, value, indent, *, flow=False):
        """A value as it is written behind its key, and whether a comment may follow."""
        if isinstance(value, bool):
            return self.one_of("", "", "!!bool ") + json.dumps(value), True
        if isinstance(value, int | float):
            return json.dumps(value), True
        if isinstance(value, dict):
            return "{" + ", ".join(f"{bound}: {text}" for bound, text in value.items()) + "}", True
        lines = [] if flow or " " not in value else ["|", "|-", ">-", "|+", "plain lines"]
        style = self.one_of("plain", "single", "double", "tag", *lines)
        pad = " " * (indent + 2)
        written = {
            "plain": value,
            "tag": f"!!str {value}",
            "single": f"'{value}'",
            "double": json.dumps(value, ensure_ascii=False),
            "plain lines": f"\n{pad}{value}",
        }
        if style in written:
            return written[style], True
        return f"{style}{self.comment()}\n{pad}{value}", False

    def flow(self, fields, indent):
        lines = self.flip()
        pad = "\n" + " " * (indent + 3)
        text = "{" + (self.comment() if lines else "") + (pad if lines else self.one_of("", " "))
        for place, (name, value) in enumerate(fields.items()):
            is_last = place == len(fields) - 1
            text += f"{self.key(name, flow=True)}: {self.scalar(value, indent, flow=True)[0]}"
            text += self.one_of("", ",") if is_last else ","
            if lines:
                text += self.comment() + pad
            else:
                text += " "
        return text + "}"

    def block(self, fields, indent):
        """Fields one below the other; the first stands behind the dash."""
        pad = " " * indent
        text = ""
        if self.draw(st.integers(0, 4)) == 0:
            text += self.comment() + "\n" + pad
        for place, (name, value) in enumerate(fields.items()):
            if place:
                text += pad
                if note := self.comment(alone=True):
                    text += f"{note}\n{pad}"
            key = self.key(name)
            is_explicit = key.startswith("?")
            if is_explicit:
                text += f"{key}{self.comment()}\n{pad}"
            written, may_follow = self.scalar(value, indent)
            if is_explicit:
                text += f": {written}"
            else:
                text += f"{key}:{self.comment()}\n{pad}  {written}" if self._breaks(value) else f"{key}: {written}"
            if may_follow:
                text += self.comment()
            # A text block that keeps its blank lines would get those below a field that is removed.
            blank = "\n" if may_follow and name != "required" else ""
            text += "\n" + self.one_of("", "", blank)
        return text.removesuffix("\n")

    def _breaks(self, value):
        return isinstance(value, bool) and self.draw(st.integers(0, 5)) == 0

    def rubrics(self, indent, start):
        """The entries of a `rubrics` list, and the data that they come to after the fixes."""
        text, after = "", []
        pad = " " * indent
        for number in range(start, start + self.draw(st.integers(1, 4))):
            if note := self.comment(alone=True):
                text += f"{pad}{note}\n"
            fields = self.criterion(number)
            anchor = ""
            if self.draw(st.integers(0, 2)) == 0:
                anchor = f"&k{number}"
            if self.flip():
                text += f"{pad}- {anchor + ' ' if anchor else ''}{self.flow(fields, indent)}{self.comment()}\n"
            elif anchor:
                text += f"{pad}- {anchor}\n{pad}  {self.block(fields, indent + 2)}\n"
            else:
                text += f"{pad}- {self.block(fields, indent + 2)}\n"
            after.append(migrate(fields))
        return text, after

    def document(self):
        text, cases = "", []
        if note := self.comment(alone=True):
            text += f"{note}\n"
        text += "description: &top A suite # of its own\ntests:\n"
        self.comments.append("# of its own")
        for _ in range(self.draw(st.integers(1, 2))):
            number = self.number = self.number + 1
            text += (
                f"  - id: case-{number}\n    description: required\n    expected_outcome: description\n    rubrics:\n"
            )
            entries, after = self.rubrics(self.one_of(4, 6), number * 10)
            text += entries
            case = {"id": f"case-{number}", "description": "required", "expected_outcome": "description"}
            cases.append({**case, "rubrics": after})
        return text, {"description": "A suite", "tests": cases}


def migrate(fields):
    """What a criterion is to become: worked out here a second time, from docs/format.md, section 2."""
    migrated = {}
    for name, value in fields.items():
        if name == "description":
            migrated["expected_outcome"] = value
        elif name == "required":
            migrated |= {"required_min_score": 10} if value else {}
        else:
            migrated[name] = value
    return migrated


@st.composite
def yaml_suites(draw, most=2):
    writer = Writer(draw)
    texts, after = zip(*(writer.document() for _ in range(draw(st.integers(1, most)))), strict=True)
    text = "---\n".join(texts)
    if writer.flip():
        text = text.removesuffix("\n")
    text = text.replace("\n", writer.one_of("\n", "\n", "\r\n"))
    encoding = writer.one_of("utf-8", "utf-8", "utf-8-sig", "utf-16")
    return Suite("suite.yaml", text.encode(encoding), list(after), writer.comments)


@st.composite
def json_suites(draw):
    writer = Writer(draw)
    documents = []
    for place in range(draw(st.integers(1, 3))):
        criteria = [writer.criterion(number) for number in range(draw(st.integers(1, 4)))]
        documents.append({"description": "A suite", "tests": [{"id": f"case-{place}", "rubrics": criteria}]})
    indent = writer.one_of(None, 2, "\t")
    separators = writer.one_of((",", ":"), (", ", ": "))
    ascii_only = writer.flip()
    is_lines = writer.flip()
    if is_lines:
        text = "\n".join(json.dumps(item, ensure_ascii=ascii_only, separators=separators) for item in documents)
    else:
        documents = documents[:1]
        text = json.dumps(documents[0], ensure_ascii=ascii_only, indent=indent, separators=separators)
    after = [
        {**item, "tests": [{**case, "rubrics": list(map(migrate, case["rubrics"]))} for case in item["tests"]]}
        for item in documents
    ]
    text = text + writer.one_of("", "\n")
    return Suite("suite.jsonl" if is_lines else "suite.json", text.encode(), after)


def read_data(name, data):
    """The data of all documents, by readers that know nothing of places."""
    text = Source.from_bytes(name, data).text
    if name.endswith((".json", ".jsonl")):
        return [json.loads(line) for line in (text.splitlines() if name.endswith("l") else [text])]
    return list(YAML(typ="safe", pure=True).load_all(text))
