"""Data written as YAML and JSON in random styles, and read again by readers that know nothing of places."""

import json
import re
from random import Random
from typing import NamedTuple

from hypothesis import strategies as st
from ruamel.yaml import YAML

from rubric_lint.source.source import Source

chances = st.randoms(use_true_random=False)
NOTE = re.compile(r"# note \d+[^\r\n]*")
PLAIN = re.compile(r"(?!(?:yes|no|on|off|true|false|null|y|n)$)[^\W\d_][^:#\n\t\ufeff]*(?<! )")


class Dice(Random):
    """Chance that is the same for the same seed."""


class Chances:
    """Somebody who writes by chance."""

    def __init__(self, random):
        self.random = random

    def chance(self, rate=0.5):
        return self.random.random() < rate

    def one_of(self, *choices):
        return self.random.choice(choices)

    def maybe(self, rate, fields):
        return fields if self.chance(rate) else {}

    def shuffle(self, fields):
        return dict(self.random.sample([*fields.items()], len(fields)))


class Raw(str):
    """Text of YAML that is written as it is."""

    __slots__ = ()


class Anchored(NamedTuple):
    """A value with an anchor."""

    name: str
    value: object


class Styler(Chances):
    """Writes data as YAML in random styles, with `comments` and blank lines as often as their rates say.

    The rarer `styles` are only written if they are named: `texts` in lines of their own, `brackets` over several lines,
    `tags`, and `keys` after a question mark.
    """

    def __init__(self, random, *, comment_rate=0.2, gap_rate=0.0, styles=""):
        super().__init__(random)
        self.comment_rate, self.gap_rate = comment_rate, gap_rate
        self.styles = styles.split()
        self.field_step, self.item_step = self.one_of(2, 2, 2, 4), self.one_of(0, 2, 2, 4)
        self.comments = []
        self.keeps_blank_lines = False

    def comment(self):
        self.comments.append(f"# note {len(self.comments)}" + self.one_of("", ": it's", " *x &y", ' "'))
        return self.comments[-1]

    def beside(self, rate=1.0):
        return self.one_of(" ", "   ") + self.comment() if self.chance(self.comment_rate * rate) else ""

    def above(self, column):
        """What stands above an entry; a text that keeps its blank lines would get those below it."""
        text = "\n" if self.chance(self.gap_rate) and not self.keeps_blank_lines else ""
        return text + (f"{' ' * column}{self.comment()}\n" if self.chance(self.comment_rate / 2) else "")

    def key(self, name):
        if not isinstance(name, str) or name == "<<":
            return str(name)
        quoted = (json.dumps(name), f"'{name}'")
        return self.one_of(*quoted, name, name, name) if PLAIN.fullmatch(name) else self.one_of(*quoted)

    def fields(self, mapping, column):
        """The lines of a mapping in block style."""
        text, pad = "", " " * column
        for number, (name, value) in enumerate(mapping.items()):
            text += (self.above(column) if number else "") + pad
            if "keys" in self.styles and self.chance(0.1):
                text += f"? {self.key(name)}{self.beside()}\n{pad}:{self.value(value, column, least=2)}"
            else:
                text += f"{self.key(name)}:{self.value(value, column)}"
        return text

    def items(self, items, column):
        """The lines of a list in block style."""
        text, pad = "", " " * column
        for number, item in enumerate(items):
            text += (self.above(column) if number else "") + pad + "-"
            if isinstance(item, dict) and item and self.chance(0.7):
                gap = self.one_of(1, 1, 1, 3)
                text += " " * gap + self.fields(item, column + 1 + gap).lstrip(" ")
            else:
                text += self.value(item, column, least=2)
        return text

    def value(self, value, column, *, least=0):
        """What follows a key or a dash in this column; a list in block style is at least so much deeper."""
        anchor = ""
        if isinstance(value, Anchored):
            anchor, value = f" &{value.name}", value.value
        if not isinstance(value, dict | list):
            return anchor + self.scalar(value, column)
        if not value or self.chance(0.4):
            return f"{anchor} {self.flow(value, column)}{self.beside()}\n"
        head = f"{anchor}{self.beside()}\n"
        if isinstance(value, dict):
            return head + self.fields(value, column + self.field_step)
        return head + self.items(value, column + max(least, self.item_step))

    def flow(self, value, column):
        is_list = isinstance(value, list)
        opening, closing = "[]" if is_list else "{}"
        is_wide = "brackets" in self.styles and value and self.chance(0.3)
        pad = "\n" + " " * (column + 4)
        blank = pad if is_wide else self.one_of("", "", " ")
        text = opening + (self.beside() if is_wide else "") + blank
        for number, (name, item) in enumerate(enumerate(value) if is_list else value.items()):
            if number:
                text += "," + (self.beside() + pad if is_wide else self.one_of(" ", " ", "  "))
            text += ("" if is_list else f"{self.key(name)}: ") + self.inline(item, column)
        return text + ("\n" + " " * (column + 2) if is_wide else blank) + closing

    def inline(self, value, column):
        """A value between brackets."""
        if isinstance(value, Anchored):
            return f"&{value.name} {self.inline(value.value, column)}"
        return self.flow(value, column) if isinstance(value, dict | list) else self.word(value, in_flow=True)

    def word(self, value, *, in_flow=False):
        """A scalar on one line."""
        if isinstance(value, Raw):
            return value
        if value is None:
            return "null" if in_flow else self.one_of("null", "~", "")
        has_tag = "tags" in self.styles and self.chance(0.2)
        if not isinstance(value, str):
            return f"{'!!bool ' if has_tag and isinstance(value, bool) else ''}{json.dumps(value)}"
        is_escaped = self.chance() and max(value, default="") < "\U00010000"  # half of a pair is no character in YAML
        styles = [json.dumps(value, ensure_ascii=is_escaped)]
        if value.isprintable():
            styles.append("'" + value.replace("'", "''") + "'")
        if PLAIN.fullmatch(value) and not (in_flow and re.search(r"[,\[\]{}]", value)):
            styles += [value, value, f"!!str {value}" if has_tag else value]
        return self.one_of(*styles)

    def scalar(self, value, column):
        """A scalar behind a key or a dash, in lines of its own if it can have them."""
        self.keeps_blank_lines = False
        pad = "\n" + " " * (column + 2)
        is_text = isinstance(value, str) and value[:1].strip() and not isinstance(value, Raw)
        if "texts" not in self.styles or not is_text or "\ufeff" in value or "\t" in value or self.chance():
            return f" {self.word(value)}".rstrip() + f"{self.beside()}\n"
        body = value.rstrip("\n")
        end = value[len(body) :]
        lines = re.sub(r"\n(?=[^\n])", pad, body)
        sign = {"": "|-", "\n": self.one_of("|", "|+")}.get(end, "|+")
        self.keeps_blank_lines = end != ""
        if end or "\n" in body:
            return f" {sign}{self.beside()}{pad}{lines}" + (end or "\n")
        if PLAIN.fullmatch(value) and "  " not in value and self.chance():
            return f"{self.one_of(pad, ' ')}{value.replace(' ', pad, 1)}{self.beside()}\n"
        return f" {self.one_of('|-', '>-')}{self.beside()}{pad}{value}\n"

    def finish(self, text):
        """The bytes of a file, with or without the last line end, in an encoding."""
        text = text if self.keeps_blank_lines or self.chance() else text.removesuffix("\n")
        return text.replace("\n", self.one_of("\n", "\n", "\r\n")).encode(self.one_of("utf-8", "utf-8-sig", "utf-16"))


def write_json(random, data, *, is_line=False):
    """The data as JSON in a random layout, or in a line."""
    layouts = ({}, {"separators": (",", ":")}, *([] if is_line else ({"indent": 2}, {"indent": 4}, {"indent": "\t"})))
    return json.dumps(data, ensure_ascii=random.random() < 0.5, **random.choice(layouts))


def read_data(name, data):
    """The data of all documents."""
    text = Source.from_bytes(name, data).text
    if name.endswith((".json", ".jsonl")):
        return [json.loads(line) for line in (text.splitlines() if name.endswith("l") else [text])]
    return list(YAML(typ="safe", pure=True).load_all(text))


def as_json(data):
    """Data as JSON would have it."""
    return json.loads(json.dumps(data))
