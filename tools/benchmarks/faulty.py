"""Turns clean suites into faulty ones: the faults that a repository has on its first day.

About 14 findings in each 4 kB file: old fields, gates that split a band, and a misspelt key.
"""

import random
import re
from pathlib import Path

import generate

_OUTCOME = re.compile(r"(?m)^( {8,}(?:- )?)expected_outcome:")
_GATE = re.compile(r"required_min_score: ([3-9])\b")


def suite(number: int, seed: int = 0) -> str:
    """Return the text of faulty suite `number`: clean suite `number`, with faults."""
    rng = random.Random(f"faulty {seed}/{number}")  # noqa: S311 -- it must be repeatable, not secret
    text = _OUTCOME.sub(lambda found: found[1] + rng.choice(_NAMES), generate.suite(number, seed))
    text = text.replace("required_min_score: 10", "required: true")
    # A band begins at each gate of the clean suites, so one score higher is inside that band.
    text = _GATE.sub(lambda found: f"required_min_score: {int(found[1]) + 1}", text)
    return text.replace("        weight:", "        wieght:", 1)


_NAMES = ("description:", "description:", "description:", "expected_outcome:", "expected_outcome:")


def write(folder: Path, count: int, seed: int = 0) -> list[Path]:
    """Write `count` faulty suites into `folder` and return their paths in order."""
    return generate.write(folder, count, seed, suite)
