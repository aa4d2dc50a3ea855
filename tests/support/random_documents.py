"""Documents of random data in random styles, and random changes of tracked data."""

import json
from random import Random

from rubric_lint.source.patch import drop, duplicate, in_brackets, like, put, rename

WORDS = (
    "cites",
    "two sources",
    "état",
    "🙂 done",
    "a: b",
    "# no comment",
    "it's",
    '"quoted"',
    "yes",
    "12",
    "",
    "~",
    "[x]",
)
NAMES = ("id", "outcome", "weight", "tests", "criteria", "value", "note", "a b", "0", "x-y")
QUOTE = "'"
PROSE = ("Names the refund window, and why", "Gives a figure (with its unit)", "Says it in one line")


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


class DocumentWriter(Chances):
    """Writes a random document; `comments` are those that it has."""

    def __init__(self, random, *, with_anchors=False):
        super().__init__(random)
        self.comments = 0
        self.with_anchors = with_anchors
        self.anchors = []
        self.field_indent = random.choice((2, 2, 2, 4))
        self.item_indent = random.choice((2, 2, 0, 4))
        self.comment_rate = random.choice((0, 0.1, 0.3))
        self.gap_rate = random.choice((0, 0, 0.3, 1))

    def comment(self):
        self.comments += 1
        return f"# note {self.comments}" + self.random.choice(("", ": it's", " *x &y", ' "'))

    def rest(self):
        return self.random.choice((" ", "   ")) + self.comment() if self.chance(self.comment_rate) else ""

    def lead(self, column, *, is_first=False):
        lines = []
        if not is_first and self.chance(self.gap_rate):
            lines.append("")
        while self.chance(self.comment_rate / 2):
            lines.append(" " * column + self.comment())
        return lines

    def document(self):
        lines = [self.comment()] if self.chance(self.comment_rate) else []
        lines += self.mapping(0, 3) if self.chance(0.8) else self.items(0, 3)
        if self.chance(self.comment_rate):
            lines.append(self.comment())
        return "\n".join(lines) + self.random.choice(("\n", "\n", "\n", ""))

    def keys(self):
        return self.random.sample(NAMES, self.random.randint(1, 5))

    def key(self, name):
        return self.random.choice((name, name, name, json.dumps(name), f"'{name}'"))

    def mapping(self, column, depth):
        lines = []
        for number, name in enumerate(self.keys()):
            lines += self.lead(column, is_first=number == 0)
            lines += self.field(self.key(name), column, depth)
        return lines

    def field(self, key, column, depth):
        pad = " " * column
        anchor = self.anchor()
        kind = self.random.choice(("scalar", "scalar", "scalar", "flow", "mapping", "list", "alias"))
        if kind == "alias" and self.anchors and self.with_anchors:
            return [f"{pad}{key}: *{self.random.choice(self.anchors)}{self.rest()}"]
        if kind in ("mapping", "list") and depth:
            step = self.field_indent if kind == "mapping" else self.item_indent
            make = self.mapping if kind == "mapping" else self.items
            head = f"{pad}{key}:{anchor}{self.rest()}"
            tail = [" " * (column + 1) + self.comment()] if self.chance(self.comment_rate / 4) else []
            return [head, *make(column + step, depth - 1), *tail]
        if kind == "flow" and depth:
            return self.with_rest(f"{pad}{key}:{anchor} {self.flow(column, depth - 1)}")
        return self.scalar(f"{pad}{key}:{anchor}", column)

    def items(self, column, depth):
        lines = []
        for number in range(self.random.randint(1, 4)):
            lines += self.lead(column, is_first=number == 0)
            lines += self.item(column, depth)
        return lines

    def item(self, column, depth):
        pad = " " * column
        kind = self.random.choice(("scalar", "scalar", "flow", "mapping", "mapping", "list"))
        if kind in ("mapping", "list") and depth:
            make = self.mapping if kind == "mapping" else self.items
            if self.chance(0.1):
                return [f"{pad}-{self.rest()}", *make(column + 2, depth - 1)]
            gap = self.random.choice((1, 1, 1, 3))
            inner = make(column + 1 + gap, depth - 1)
            note = []
            if inner[0].lstrip().startswith("#"):
                note, inner = [pad + inner[0].lstrip()], inner[1:]
            return [*note, f"{pad}-{' ' * gap}{inner[0].lstrip()}", *inner[1:]]
        if kind == "flow" and depth:
            return self.with_rest(f"{pad}- {self.flow(column, depth - 1)}")
        return self.scalar(f"{pad}-", column)

    def with_rest(self, text):
        lines = text.split("\n")
        return [*lines[:-1], lines[-1] + self.rest()]

    def anchor(self):
        if not self.with_anchors or not self.chance(0.3):
            return ""
        self.anchors.append(f"n{len(self.anchors)}")
        return f" &{self.anchors[-1]}"

    def scalar(self, head, column):
        word = self.random.choice(WORDS + PROSE)
        pad = " " * (column + 2)
        sign = self.random.choice(("|", "|-", ">", ">-", "|+"))
        more = self.random.choice(((), ("", f"{pad}  more")))
        return self.random.choice(
            (
                [f"{head} {self.random.choice(PROSE)}{self.rest()}"],
                [f"{head} {self.random.choice(PROSE)}{self.rest()}"],
                [f"{head} '{word.replace(QUOTE, QUOTE * 2)}'{self.rest()}"],
                [f"{head} {json.dumps(word, ensure_ascii=self.chance(0.5))}{self.rest()}"],
                [f"{head} {self.random.choice(('1', '2.50', '-0', '1e3', '0x1F'))}{self.rest()}"],
                [f"{head} {sign}{self.rest()}", f"{pad}first line", *more],
                [f"{head} a plain text", f"{pad}over two lines{self.rest()}"],
                [f"{head}{self.random.choice(('', ' null', ' ~'))}{self.rest()}"],
                [f"{head} {self.random.choice(('true', 'false'))}{self.rest()}"],
            )
        )

    def flow(self, column, depth):
        is_list = self.chance(0.5)
        parts = []
        for name in self.random.sample(NAMES, self.random.randint(0, 3)):
            value = self.flow(column, depth - 1) if depth > 0 and self.chance(0.3) else self.flow_scalar()
            parts.append(value if is_list else f"{json.dumps(name) if self.chance(0.3) else name}: {value}")
        opening, closing = "[]" if is_list else "{}"
        blank = self.random.choice(("", "", " "))
        if parts and self.chance(0.3):
            pad = "\n" + " " * (column + 4)
            comment = f" {self.comment()}" if self.chance(self.comment_rate) else ""
            return f"{opening}{comment}{pad}" + f",{pad}".join(parts) + "\n" + " " * (column + 2) + closing
        return opening + blank + self.random.choice((", ", ", ", ",  ")).join(parts) + blank + closing

    def flow_scalar(self):
        word = self.random.choice(WORDS)
        return self.random.choice(("1", "2.5", "true", "word", "two words", json.dumps(word), "'it''s'"))


def write_json(random, data):
    """The data as JSON in a random layout."""
    layouts = ({}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")})
    return json.dumps(data, ensure_ascii=random.random() < 0.5, **random.choice(layouts))


def list_collections(value):
    """Every collection in some data once, from the outside in."""
    found, stack, seen = [], [value], set()
    while stack:
        value = stack.pop()
        if isinstance(value, dict | list) and id(value) not in seen:
            seen.add(id(value))
            found.append(value)
            stack += value.values() if isinstance(value, dict) else value
    return found


def new_value(random, depth=2):
    """New data of any kind."""
    names = random.sample(NAMES, random.randint(0, 3)) if depth else ()
    return random.choice(
        (
            random.choice(WORDS + PROSE),
            random.choice((3, -1, 2.5, 10**20, 1e-9, None, True, False)),
            random.choice(("one\ntwo", "one\ntwo\n", "\none", " one\ntwo", "one\n\n\ntwo\n", "tab\tand\nline")),
            in_brackets([0, random.choice((3, "x, y"))]),
            {name: new_value(random, depth - 1) for name in names},
            [new_value(random, depth - 1) for _ in names],
        )
    )


def change(random, data):
    """Change tracked data in place, in one way of many."""
    place, other = random.choices(list_collections(data), k=2)
    random.choice(CHANGES if place else CHANGES[:1])(random, place, other)


def holds(value, inner):
    return any(found is inner for found in list_collections(value))


def pick(random, place):
    return random.choice([*place] if isinstance(place, dict) else range(len(place)))


def insert(random, place, value):
    if isinstance(place, dict):
        put(place, random.choice([None, *place]), random.choice(NAMES), value)
    else:
        place.insert(random.randint(0, len(place)), value)


def add(random, place, _):
    insert(random, place, new_value(random))


def remove(random, place, _):
    step = pick(random, place)
    if isinstance(place, dict):
        drop(place, step)
    else:
        place.pop(step)


def replace(random, place, _):
    step = pick(random, place)
    place[step] = random.choice((new_value(random), like(place[step], random.choice(PROSE))))


def reorder(random, place, _):
    is_mapping = isinstance(place, dict)
    items = [*place.items()] if is_mapping else [*place]
    random.shuffle(items)
    place.clear()
    (place.update if is_mapping else place.extend)(items)


def move(random, place, other):
    step = pick(random, place)
    if other is not place and not holds(place[step], other):
        insert(random, other, place.pop(step))


def wrap(random, place, _):
    step = pick(random, place)
    value = place[step]
    place[step] = random.choice(([value], {"inner": value}, {"type": "new", "value": value}, [{"value": value}]))


def rename_or_copy(random, place, _):
    step = pick(random, place)
    if isinstance(place, dict):
        rename(place, {step: random.choice(NAMES)})
    else:
        place.insert(step + random.choice((0, 1)), duplicate(place[step]))


def make_anew(random, place, _):
    """Put new collections with the old values in the place of tracked ones."""
    for step, value in [*(place.items() if isinstance(place, dict) else enumerate(place))]:
        if isinstance(value, dict):
            place[step] = dict(value)
        elif isinstance(value, list):
            place[step] = [dict(item) if isinstance(item, dict) else item for item in value]
    remove(random, place, _)


def share(random, place, other):
    """Have one value in two places."""
    value = place[pick(random, place)]
    if isinstance(other, dict) and not holds(value, other):
        other["copy"] = value


CHANGES = (add, remove, replace, reorder, move, wrap, rename_or_copy, make_anew, share)


def list_scalars(value, path=()):
    """Every tracked scalar in some data, with its path."""
    if isinstance(value, dict | list):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_scalars(child, (*path, step))
    elif hasattr(value, "origin"):
        yield value, path
