"""Documents of random data, and random changes of tracked data."""

from styles import Anchored, Raw, Styler

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
PROSE = ("Names the refund window, and why", "Gives a figure (with its unit)", "Says it in one line")


NUMBERS = ("1", "2.50", "-0", "1e3", "0x1F")
TEXTS = ("first line\n", "first line\n\n  more\n", "first line\nand another", "kept\n\n")


class DocumentWriter(Styler):
    """Writes a random document in styles of its own; with anchors, values repeat others."""

    def __init__(self, random, *, with_anchors=False):
        rates = {"comment_rate": random.choice((0, 0.1, 0.3)), "gap_rate": random.choice((0, 0, 0.3, 1))}
        super().__init__(random, **rates, styles="texts brackets")
        self.with_anchors, self.anchors = with_anchors, []

    def document(self):
        head = f"{self.comment()}\n" if self.chance(self.comment_rate) else ""
        if self.chance(0.8):
            return head + self.fields({name: self.make(3) for name in self.names()}, 0)
        return head + self.items([self.make(3) for _ in self.names()], 0)

    def names(self):
        return self.random.sample(NAMES, self.random.randint(1, 5))

    def make(self, depth):
        """A value of any kind."""
        if self.anchors and self.chance(0.1):
            return Raw(f"*{self.one_of(*self.anchors)}")
        kind = self.one_of("text", "text", "other", "mapping", "list") if depth else "text"
        value = self.one_of(*WORDS, *PROSE, *PROSE, *PROSE, *TEXTS)
        if kind == "other":
            value = self.one_of(None, *map(Raw, ("true", "false", *NUMBERS)))
        elif kind == "mapping":
            value = {name: self.make(depth - 1) for name in self.names()}
        elif kind == "list":
            value = [self.make(depth - 1) for _ in self.names()]
        if not self.with_anchors or self.chance(0.7):
            return value
        self.anchors.append(f"n{len(self.anchors)}")
        return Anchored(self.anchors[-1], value)


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
