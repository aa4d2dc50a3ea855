"""Judges that a server plays: the answers say which criteria people find met, and each judge reads that in its way."""

# ruff: noqa: S311 (chance is all that is wanted)

import json
import random
import re

import commands
from chat_server import Asked, completion
from jsonschema import Draft7Validator


def call(command, schema, *arguments, form="json"):
    """Return the exit code, the report of a command (of JSON as a valid object), and what is said beside it."""
    done = commands.run("rubric-lint", command, *arguments, "--format", form)
    complaint = commands.complaint(done)
    if complaint != done.stderr:
        return done.returncode, None, complaint
    if form != "json" or not done.stdout:
        return done.returncode, done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert [error.message for error in Draft7Validator(schema).iter_errors(report)] == []
    return done.returncode, report, done.stderr


CRITERIA = ("cites", "period", "polite", "short")

RUBRIC = """\
rubrics:
  - id: cites
    expected_outcome: Names the paragraph of the policy that the answer rests on
    required_min_score: 10
  - id: period
    expected_outcome: States that returns are possible for 30 days
    required_min_score: 10
  - id: polite
    expected_outcome: Thanks the customer by name
  - id: short
    expected_outcome: Has at most five sentences
"""


def draw_cases(count, seed=7):
    """Return for each answer which criteria people find met: half of the answers fail a gate."""
    drawn = random.Random(seed)
    return [
        {name: drawn.random() < (0.7 if name in {"cites", "period"} else 0.75) for name in CRITERIA}
        for _ in range(count)
    ]


def spell(number):
    """Return a number as a word, as answers that differ in digits alone are near-copies."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def write_answers(cases):
    """Return the answers in JSON Lines; their lengths differ by chance alone."""
    drawn = random.Random(11)
    lines = []
    for number, met in enumerate(cases):
        said = " ".join(f"{name}={int(is_met)}" for name, is_met in met.items())
        filler = "".join(f" {spell(drawn.randrange(10**6))}" for _ in range(drawn.randrange(5, 60)))
        lines.append(json.dumps({"id": f"a{number:03}", "answer": f"Case {number}: {said}.{filler}"}))
    return "".join(f"{line}\n" for line in lines)


def write_labels(cases, **more):
    """Return labels by one person in JSON Lines."""
    return "".join(
        json.dumps({"id": f"a{number:03}", "rater": "ann", "output": to_output(met), **more}) + "\n"
        for number, met in enumerate(cases)
    )


def to_output(met):
    return {"checks": [{"id": name, "satisfied": bool(is_met)} for name, is_met in met.items()]}


def _read(asked):
    return {name: value == "1" for name, value in re.findall(r"(\w+)=([01])", asked.answer)}


def judge_well(asked):
    """Say what people say, but for one in fifty: the same in each sample."""
    drawn = random.Random(asked.answer)
    return {name: met ^ (drawn.random() < 0.02) for name, met in _read(asked).items()}


def judge_leniently(asked):
    """Find nearly everything met."""
    drawn = random.Random(asked.answer)
    return {name: met or drawn.random() < 0.85 for name, met in _read(asked).items()}


def judge_noisily(asked):
    """Say the opposite of what people say in a quarter of all cases, anew in each sample."""
    drawn = random.Random(f"{asked.answer}{asked.before}")
    return {name: met ^ (drawn.random() < 0.25) for name, met in _read(asked).items()}


def record(cases, judge, samples):
    """Return what a judge says of the answers, as a run would record it."""
    drawn = random.Random(13)
    lines = []
    for line in write_answers(cases).splitlines():
        record = json.loads(line)
        outputs = [to_output(judge(Asked({}, {}, record["answer"], number))) for number in range(samples)]
        about = {"model": "m", "shuffle": 1, "orders": [drawn.sample(CRITERIA, len(CRITERIA)) for _ in outputs]}
        lines.append(json.dumps({**record, "outputs": outputs, "judge": about}))
    return "".join(f"{line}\n" for line in lines)


def play(judge):
    """Return what a server does that plays a judge."""
    return lambda asked: completion(json.dumps(to_output(judge(asked))))
