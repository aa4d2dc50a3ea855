"""Random rubrics of all shapes with outputs for them, and outputs that are nearly right, or nearly JSON."""

import json
from fractions import Fraction

from hypothesis import strategies as st

from rubric_lint.scoring.loading import load_rubrics

WEIGHTS = st.one_of(st.integers(0, 20).map(str), st.decimals(0, 5, places=3).map(str), st.just("1e-7"))
IDS = st.lists(st.text("abcxyzäß-_.", min_size=1, max_size=8), min_size=1, max_size=5, unique=True)


@st.composite
def bands(draw):
    """Bands that cover 0..10."""
    starts = sorted({0, *draw(st.lists(st.integers(1, 10), max_size=3))})
    ends = [start - 1 for start in starts[1:]] + [10]
    return [
        {"score_range": [start, end], "expected_outcome": f"Shows the result number {start}"}
        for start, end in zip(starts, ends, strict=True)
    ]


@st.composite
def criteria(draw, shape):
    """The criteria of a rubric, with weights as text."""
    found = []
    for name in draw(IDS):
        criterion = {"id": name, "weight": draw(WEIGHTS)}
        if shape == "levels":
            levels = draw(st.lists(st.integers(-3, 9), min_size=2, max_size=5, unique=True))
            criterion["levels"] = [{"level": n, "expected_outcome": f"Shows the result number {n}"} for n in levels]
            gates = st.sampled_from(levels)
        elif shape == "score_ranges":
            criterion["score_ranges"], gates = draw(bands()), st.integers(0, 10)
        else:
            criterion["expected_outcome"], gates = f"Shows the result {name}", st.integers(0, 10)
        if draw(st.booleans()):
            criterion["required_min_level" if shape == "levels" else "required_min_score"] = draw(gates)
        found.append(criterion)
    if all(Fraction(criterion["weight"]) == 0 for criterion in found):
        found[0]["weight"] = "1"
    return found


@st.composite
def cases(draw):
    """A shape, the entries of a rubric and an output for it."""
    shape = draw(st.sampled_from(["checklist", "score_ranges", "levels", "holistic"]))
    if shape == "holistic":
        return shape, draw(bands()), {"score": draw(st.integers(0, 10))}
    entries = draw(criteria(shape))
    checks = []
    for criterion in entries:
        if shape == "levels":
            answer = {"level": draw(st.sampled_from([level["level"] for level in criterion["levels"]]))}
        elif shape == "score_ranges":
            answer = {"score": draw(st.integers(0, 10))}
        else:
            answer = {"satisfied": draw(st.booleans())}
        checks.append({"id": criterion["id"], **answer})
    return shape, entries, {"checks": checks}


def load(entries):
    """The rubric; weights stand in the file as they are written here."""
    text = json.dumps({"rubrics": entries}, ensure_ascii=False)
    for entry in entries:
        if "weight" in entry:
            text = text.replace(f'"weight": "{entry["weight"]}"', f'"weight": {entry["weight"]}')
    (rubric,) = load_rubrics("r.rubric.json", text.encode()).values()
    return rubric


ODD = [
    *("0", "7", "-0", "7.0", "7.5", "10", "11", "1e1", "4.99999999999999999", "9007199254740993.0", "1e400", "NaN"),
    *("true", "false", "null", '""', '"a"', '"x"', '"\\ud800"', '"\\u0000"', "[]", "{}", "[[]]", '{"a": 1, "a": 1}'),
    *("9" * 300, "9" * 301, "-" + "9" * 300, "9" * 5000, '"7"', "-Infinity", "'x'", "", "\x01", '"\x01"', '"ä"'),
]
"""What may stand where something else is expected."""

FIELDS = ["id", "rubric", "output", "checks", "score", "satisfied", "reasoning", "overall_reasoning", "error", "x", "ä"]


def spell(value, random, rate):
    """A value as text, in which something may be odd, there twice, missing or in another place."""

    def happens(share=1.0):
        return random.random() < rate * share

    if happens():
        return random.choice(ODD)
    if isinstance(value, int) and happens(2):
        return random.choice(["true", "false", "0", "1", f"{int(value)}.0"])
    if isinstance(value, list):
        items = [spell(item, random, rate) for item in value]
        return f"[{', '.join(items + items[: happens()])}]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=random.random() < 0.5)
    pairs = [(json.dumps(name), spell(item, random, rate)) for name, item in value.items()]
    if happens():
        pairs.insert(random.randrange(4), (json.dumps(random.choice(FIELDS)), random.choice(ODD)))
    if happens():
        pairs.append(random.choice(pairs))
    if happens(3):
        random.shuffle(pairs)
    if happens(0.5):
        return f"[{', '.join(f'[{name}, {item}]' for name, item in pairs)}]"
    blank = random.choice(["", " ", "\t", "\r"]) if happens(3) else " "
    return f"{{{blank}{f',{blank}'.join(f'{name}:{blank}{item}' for name, item in pairs)}}}"


FENCES = [
    *("{}", "{}", " {}\n", "```json\n{}\n```", "```\n{}```", "```json{}", "So: {}", "{} {{}}", "```json```{}```"),
    *("```json\r\n{}\r\n```\r\n", "```\n\ufeff{}\n```", "`{}`", "```\n{}\n```\n```", "```json\n{0}\n```\n{0}"),
    *("<think>{}</think>", "<think>no</think>{}", "{}</think>", "<think>{}", "</think>\n```\n{}\n```", "```json\n{}"),
]
"""What models write around their JSON."""
