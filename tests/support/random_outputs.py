"""Random rubrics of all shapes with outputs for them, and outputs that are nearly right, or nearly JSON."""

import json
import random

from exports import as_json
from hypothesis import strategies as st
from random_3 import random_output
from random_rubrics import SHAPES
from styles import chances

from rubric_lint.scoring.loading import load_rubrics


@st.composite
def cases(draw):
    """A shape, the entries of a rubric and an output for it."""
    shape = draw(st.sampled_from([*SHAPES]))
    entries = draw(SHAPES[shape])
    return shape, entries, random_output(draw(chances), entries)


def load(entries):
    """The rubric that some entries make, ready for scoring."""
    (rubric,) = load_rubrics("r.rubric.json", as_json(entries)).values()
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


def write_entry(output, random, rate, name="a", **fields):
    """An output as text, which may be hostile, by itself or in a record with this id and these fields."""
    for check in output.get("checks", [output]):
        check.pop("reasoning", None)
        check.update(random.choice([{}, {"reasoning": 'So "it" is.'}]))
    text = spell(output, random, rate)
    if random.random() < 0.3:
        return text
    text = text.replace("So ", random.choice(["So ", "<think> ", "</think> ", "```\\n"]))
    written = text if random.random() < 0.5 else json.dumps(random.choice(FENCES).format(text))
    answer = random.choice([{}, {}, {"answer": "Paris"}, {"answer": f"Say\n{text}."}])
    return spell({"id": name, "output": None} | fields | answer, random, rate).replace("null", written, 1)


def make_outputs(rows, *, seed=1):
    """Outputs of every shape, some of them invalid: records with ids that tell them apart."""
    chance = random.Random(seed)  # noqa: S311 (the same outputs every time)
    for number in range(rows):
        checks = [{"id": name, "score": chance.randint(0, 10)} for name in ("accuracy", "length")]
        text = chance.choice(FENCES).format(spell({"checks": checks}, chance, 0.02))
        yield {"id": f"r{number}", "output": text.encode("utf-8", "replace").decode() if number % 50 else None}


SUITE = """\
tests:
  - id: tower
    rubrics:
      - {id: year, expected_outcome: Names the year, required_min_score: 10}
      - {id: cost, expected_outcome: Names the cost, weight: 3}
  - id: length
    rubrics:
      - {score_range: [0, 4], expected_outcome: Too long}
      - {score_range: [5, 10], expected_outcome: Short}
"""


RUBRICS = load_rubrics("suite.yaml", SUITE)


TOWER, LENGTH = RUBRICS["tower"], RUBRICS["length"]
