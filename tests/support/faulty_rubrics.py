"""Rubrics in which each criterion has one fault at most, written in every notation of YAML and JSON."""

import json
from typing import NamedTuple

from hypothesis import strategies as st


class Faulty(NamedTuple):
    """A file: its name, its bytes, the criteria that it holds, and its comments."""

    name: str
    data: bytes
    criteria: list
    comments: list


OUTCOMES = (
    "Cites nothing",
    "Cites a blog: one",
    'Quotes "it"',
    "Zitiert zwei 🙂",
    "Cites two, both primary",
    "Cites it all",
)


def bands(*ranges):
    """A list of bands, each with an outcome of its own."""
    return [
        {"score_range": list(item), "expected_outcome": outcome}
        for item, outcome in zip(ranges, OUTCOMES[: len(ranges)], strict=True)
    ]


SOUND = ((0, 3), (4, 6), (7, 10))
LISTS = {
    "sound": SOUND,
    "gap": ((0, 3), (6, 10)),
    "gaps": ((1, 3), (5, 6), (9, 9)),
    "gap at the end": ((0, 3), (4, 8)),
    "overlap": ((0, 5), (4, 10)),
    "overlaps": ((0, 5), (4, 7), (6, 10)),
    "overlap at an end": ((0, 3), (4, 10), (8, 10)),
    "overlap at a start": ((0, 3), (0, 10)),
    "swapped": ((3, 0), (4, 10)),
    "unsorted": ((4, 10), (0, 3)),
}
MAPS = {"sound": (0, 4, 8), "start": (2, 5, 8), "unsorted": (5, 0, 8)}


@st.composite
def criteria(draw):
    """The criteria of a rubric of score ranges, each with an id of its own but for one fault."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        criterion = {"id": f"c{number}"}
        match draw(st.sampled_from(["list", "list", "map", "gate", "empty", "number", "double", "none"])):
            case "list":
                criterion["score_ranges"] = bands(*LISTS[draw(st.sampled_from(sorted(LISTS)))])
            case "map":
                keys = MAPS[draw(st.sampled_from(sorted(MAPS)))]
                criterion["score_ranges"] = dict(zip(map(str, keys), OUTCOMES[:3], strict=True))
            case "gate":
                criterion["required_min_score"] = draw(st.sampled_from([5, 9]))
                in_list = draw(st.booleans())
                keys = dict(zip(("0", "4", "7"), OUTCOMES[:3], strict=True))
                criterion["score_ranges"] = bands(*SOUND) if in_list else keys
            case "empty":
                criterion["score_ranges"] = bands(*SOUND)
                criterion["score_ranges"][1]["expected_outcome"] = draw(st.sampled_from(["", " ", None]))
            case "number":
                criterion |= {"id": draw(st.sampled_from([7, 7.5, True])), "score_ranges": bands(*SOUND)}
            case "double":
                criterion |= {"id": "c0", "score_ranges": bands(*SOUND)}
            case "none":
                del criterion["id"]
                criterion["score_ranges"] = bands(*SOUND)
        found.append(criterion)
    return found


class Writer:
    """Writes data in block style, in ways that `draw` chooses; a comment is never written twice.

    If it `is_loose`, there are blank lines and comments between the items of lists too.
    """

    def __init__(self, draw, *, is_loose=False):
        self.draw = draw
        self.is_loose = is_loose
        self.comments = []

    def scalar(self, value):
        if isinstance(value, str):
            styles = [json.dumps(value, ensure_ascii=False), "'" + value.replace("'", "''") + "'"]
            plain = value.strip() and not any(sign in value for sign in ':"🙂#')
            return self.draw(st.sampled_from([*styles, value] if plain else styles))
        return "" if value is None and self.draw(st.booleans()) else json.dumps(value)

    def flow(self, value):
        match value:
            case dict():
                return "{" + ", ".join(f"{key}: {self.flow(item)}" for key, item in value.items()) + "}"
            case list():
                return "[" + ", ".join(map(self.flow, value)) + "]"
            case str():
                return json.dumps(value, ensure_ascii=False) if "," in value else self.scalar(value)
            case _:
                return json.dumps(value)

    def comment(self):
        if self.draw(st.integers(0, 4)):
            return ""
        self.comments.append(f"# note {len(self.comments)}")
        return f"  {self.comments[-1]}"

    def fields(self, mapping, indent):
        lines = []
        for key, value in mapping.items():
            if isinstance(value, list | dict) and key != "score_range" and self.draw(st.booleans()):
                inner = self.items(value, indent) if isinstance(value, list) else self.fields(value, indent + 2)
                lines.append(f"{key}:{self.comment()}\n{inner}")
            elif isinstance(value, list | dict):
                lines.append(f"{key}: {self.flow(value)}{self.comment()}\n")
            else:
                lines.append(f"{key}: {self.scalar(value)}".rstrip() + f"{self.comment()}\n")
        return "".join(f"{' ' * indent}{line}" for line in lines)

    def items(self, items, indent):
        text = ""
        for item in items:
            if self.is_loose:
                above = ["", "", "\n", f"{' ' * indent}{self.comment().strip()}\n"]
                text += self.draw(st.sampled_from(above)).replace(f"{' ' * indent}\n", "\n")
            if isinstance(item, dict) and self.draw(st.integers(0, 2)):
                text += f"{' ' * indent}- {self.fields(item, indent + 2).lstrip()}"
            else:
                text += f"{' ' * indent}- {self.flow(item)}{self.comment()}\n"
        return text


@st.composite
def faulty_rubrics(draw):
    """A file with a rubric in which each criterion has one fault at most."""
    whole = draw(criteria())
    form = draw(st.sampled_from(["yaml", "yaml", "yaml", "json", "jsonl"]))
    writer = Writer(draw)
    if form == "yaml":
        text = f"rubrics:\n{writer.items(whole, draw(st.sampled_from([0, 2, 4])))}"
        text = text if draw(st.booleans()) else text.removesuffix("\n")
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    else:
        indent = draw(st.sampled_from([None, 2, "\t"])) if form == "json" else None
        text = json.dumps({"rubrics": whole}, ensure_ascii=draw(st.booleans()), indent=indent)
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])) if form == "yaml" else "utf-8"
    return Faulty(f"a.rubric.{form}", text.encode(encoding), whole, writer.comments)


DEEP = 30_000
BOMB = "x: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"x{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 12)
)
MERGES = f"x: &a {{{', '.join(f'k{key}: 1' for key in range(5000))}}}\nrubrics:\n" + "  - <<: *a\n" * 5000
# Text that is not YAML, or is more than anybody can mean: the text at the fault, and its line.
SYNTAX = {
    "Latin-1": (b"rubrics:\n  - caf\xe9\n", "�", 2),
    "NUL": ("rubrics:\n  - a\0b\n", "\0", 2),
    "a control character": ("rubrics:\n  - a\x07b\n", "\x07", 2),
    "a tab before a dash": ("rubrics:\n\t- a\n", "\t", 2),
    "a tab before a key": ("rubrics:\n  - id: a\n\t  expected_outcome: b\n", "\t", 3),
    "an unclosed double quote": ('rubrics:\n  - "a\n  - b\n', '"', 2),
    "an unclosed single quote": ("rubrics:\n  - 'a\n  - b\n", "'", 2),
    "an unclosed bracket": ("rubrics:\n  - id: [a\n", "[", 2),
    "a bracket at the end": ("rubrics:\n  - id: [", "[", 2),
    "a bracket in a bracket": ("rubrics:\n  - id: [[a], {b: [c],\n", "{", 2),
    "an unclosed pair": ("rubrics: [a: b\n", "[", 1),
    "an anchored bracket": ("rubrics: &a [b,\n", "[", 1),
    "an unclosed brace": ("rubrics:\n  - {id: a\n", "{", 2),
    "an endless version": (f"%YAML 1.{'1' * 5000}\n---\nrubrics: [a]\n", "%YAML", 1),
    "a bracket that the next key leaves open": ("rubrics: [a, b\n  c: d\ne: f\n", "[", 1),
    "a bracket left open later": ("x: 1\n---\nrubrics: [a\nother: b\n", "[", 3),
    "a bracket closed by a brace": ("rubrics: [a}\n", "}", 1),
    "a bracket too many": ("rubrics: [a]]\n", "]", 1),
    "a bracket behind the document": ("{rubrics: [a]}\n]\n", "]", 2),
    "a bracket for a value": ("rubrics: ]\n", "]", 1),
    "a key without a colon": ("rubrics:\n  - id: a\n    expected\n    weight: 1\n", "e", 3),
    "a colon in a text": ("rubrics:\n  - id: a: b\n", ":", 2),
    "a backtick": ("rubrics:\n  - `a`\n", "`", 2),
    "an unknown escape": ('rubrics:\n  - "a\\d"\n', "d", 2),
    "half a surrogate pair": ('rubrics:\n  - "\\ud83d"\n', '"', 2),
    "an escape beyond Unicode": ('rubrics:\n  - "\\U00110000"\n', "\\U00110000", 2),
    "an escape beyond any integer of C": (
        'rubrics:\n  - "\\UFFFFFFFF"\n',
        "\\UFFFFFFFF",
        2,
    ),
    "open brackets": (f"rubrics: {'[' * DEEP}", "[", 1),
    "open braces": (f"rubrics: {'{' * DEEP}", "{", 1),
    "closed brackets": (f"rubrics: {'[' * DEEP}{']' * DEEP}", "[", 1),
    "nested mappings": (f"rubrics: {'{a: ' * DEEP}{'}' * DEEP}", "{", 1),
    "nested dashes": (f"rubrics:\n  {'- ' * DEEP}a\n", "-", 2),
    "nested question marks": (f"rubrics:\n  {'? ' * DEEP}a\n", "?", 2),
    "an anchor without a name": ("rubrics:\n  - &", "", 2),
    "an alias of nothing": ("rubrics:\n  - *a\n", "*a", 2),
    "an alias of everything": ("*a\n# expected_outcome\n", "*a", 1),
    "an alias inside its anchor": ("rubrics: &a\n  - *a\n", "*a", 2),
    "an alias bomb": (f"{BOMB}rubrics: *a11\n", "*a5", 7),
    "a merge-key bomb": (MERGES, "<", 202),
}
